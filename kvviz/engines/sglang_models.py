"""What SGLang 0.5.23 knows by the name of a model's class: windows, states, images, and what it does not run."""

from collections.abc import Mapping
from typing import Final

from kvviz.core.architecture import ENTERED_TYPE, Architecture, Note
from kvviz.core.cache import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    Layer,
    RecurrentState,
    SlidingWindow,
)
from kvviz.core.units import GIB
from kvviz.text import Message
from kvviz.text import sglang as text

VERSION: Final = "0.5.23"

_WINDOWED: Final = frozenset(
    {
        "BeamForCausalLM",
        "DiffusionGemmaForBlockDiffusion",
        "EmbeddingGemma2Model",
        "Gemma4ForCausalLM",
        "Gemma4ForConditionalGeneration",
        "Gemma4UnifiedForConditionalGeneration",
        "GptOssForCausalLM",
        "GraniteMoeSWAForCausalLM",
        "GraniteSWAForCausalLM",
        "IQuestQ1ForCausalLM",
        "InklingForConditionalGeneration",
        "LagunaForCausalLM",
        "Llama4ForConditionalGeneration",
        "MellumForCausalLM",
        "MiMoV2FlashForCausalLM",
        "MiMoV2ForCausalLM",
        "MuseGlimmerForCausalLM",
        "MuseGlimmerForConditionalGeneration",
        "MuseSparkForConditionalGeneration",
        "Step3p5ForCausalLM",
        "Step3p7ForConditionalGeneration",
        "UnlimitedOCRForCausalLM",
    }
)
"""Classes whose windows have a pool of their own; every other class keeps them at full length
(``configs/model_config.py:74-97, 2651-2697``, ``configs/muse_spark.py:115``) unless its file says ``is_hybrid_swa``."""

_TWO_EXTRA_STATES: Final = frozenset(
    {
        "BailingMoeV2_5ForCausalLM",
        "BailingMoeV3ForCausalLM",
        "BailingMoeV3VLForConditionalGeneration",
        "FalconH1ForCausalLM",
        "Glm5NextForConditionalGeneration",
        "GraniteMoeHybridForCausalLM",
        "InklingForConditionalGeneration",
        "InternS2PreviewForConditionalGeneration",
        "KimiK3ForConditionalGeneration",
        "KimiLinearForCausalLM",
        "MiniCPMV4_6ForConditionalGeneration",
        "MiniCPMV4_7ForConditionalGeneration",
        "NemotronHForCausalLM",
        "NemotronHPuzzleForCausalLM",
        "NemotronH_Omni_Reasoning_V3",
        "Qwen3NextForCausalLM",
        "Qwen3_5ForCausalLM",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForCausalLM",
        "Qwen3_5MoeForConditionalGeneration",
        "Qwen4ExpForConditionalGeneration",
    }
)
"""Classes that track states for the radix cache in two more slots a request while scheduling overlaps, which is the
default (``arg_groups/overrides.py:403-487``, ``mem_cache/allocation_sizing.py:11-20``)."""

_STATES: Final = _TWO_EXTRA_STATES | {
    "FalconMambaForCausalLM",
    "GigaChat35ForCausalLM",
    "InternS2MobiusForConditionalGeneration",
    "JetNemotronForCausalLM",
    "JetVLMForConditionalGeneration",
    "Lfm2ForCausalLM",
    "Lfm2MoeForCausalLM",
    "Lfm2VlForConditionalGeneration",
    "Mamba2ForCausalLM",
    "MambaForCausalLM",
    "MiniCPMSALAForCausalLM",
    "KimiK3LinearForCausalLM",
    "NemotronH_Nano_Omni_Reasoning_V3",
    "NemotronH_Nano_VL_V2",
    "ZayaForCausalLM",
}
"""Classes with a pool of states (``configs/hybrid_arch.py``)."""

_STATE_TYPE_IN_FILE: Final = frozenset(
    {
        "FalconH1ForCausalLM",
        "GigaChat35ForCausalLM",
        "InternS2MobiusForConditionalGeneration",
        "InternS2PreviewForConditionalGeneration",
        "JetNemotronForCausalLM",
        "JetVLMForConditionalGeneration",
        "MiniCPMV4_6ForConditionalGeneration",
        "MiniCPMV4_7ForConditionalGeneration",
        "NemotronHForCausalLM",
        "NemotronHPuzzleForCausalLM",
        "NemotronH_Nano_Omni_Reasoning_V3",
        "NemotronH_Nano_VL_V2",
        "NemotronH_Omni_Reasoning_V3",
        "Qwen3NextForCausalLM",
        "Qwen3_5ForCausalLM",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForCausalLM",
        "Qwen3_5MoeForConditionalGeneration",
        "Qwen4ExpForConditionalGeneration",
        "ZayaForCausalLM",
    }
)
"""Classes whose recurrent states are of the type in ``mamba_ssm_dtype``; all others', and those of files without it,
are float32 (``configs/mamba_utils.py:47-112``; who hands over its file: ``mamba2_state_dtype(self)`` in ``configs/``).
"""
_STATE_VALUE_BYTES: Final[Mapping[str, int]] = {"float32": 4, "bfloat16": 2, "float16": 2}
"""The words it knows; another is warned of, and float32."""

_FP8_BY_DEFAULT: Final = frozenset({"MuseSparkForConditionalGeneration"})
"""Classes with an fp8 cache where no type is given, on any GPU (``arg_groups/overrides.py:307-320``)."""

_MEDIA: Final = frozenset(
    {
        "BailingMM2NativeForConditionalGeneration",
        "BailingMMNativeForConditionalGeneration",
        "BailingMoeV3VLForConditionalGeneration",
        "CLIPModel",
        "Cohere2VisionForConditionalGeneration",
        "Cosmos3EdgeForConditionalGeneration",
        "DeepseekOCRForCausalLM",
        "DeepseekVL2ForCausalLM",
        "DiffusionGemmaForBlockDiffusion",
        "Dots3NoteForCausalLM",
        "DotsOCRForCausalLM",
        "DotsVLMForCausalLM",
        "EmbeddingGemma2Model",
        "Ernie4_5_VLMoeForConditionalGeneration",
        "Gemma3ForConditionalGeneration",
        "Gemma3nForConditionalGeneration",
        "Gemma4ForConditionalGeneration",
        "Gemma4UnifiedForConditionalGeneration",
        "Glm4vForConditionalGeneration",
        "Glm4vMoeForConditionalGeneration",
        "Glm5NextForConditionalGeneration",
        "GlmAsrForConditionalGeneration",
        "GlmImageForConditionalGeneration",
        "GlmOcrForConditionalGeneration",
        "Grok1AForCausalLM",
        "Grok1VForCausalLM",
        "InternS1ForConditionalGeneration",
        "InternS1ProForConditionalGeneration",
        "InternS2MobiusForConditionalGeneration",
        "InternS2PreviewForConditionalGeneration",
        "InternVLChatModel",
        "JetVLMForConditionalGeneration",
        "KimiK25ForConditionalGeneration",
        "KimiVLForConditionalGeneration",
        "Lfm2VlForConditionalGeneration",
        "LightOnOCRForConditionalGeneration",
        "Llama4ForConditionalGeneration",
        "LlavaForConditionalGeneration",
        "LlavaLlamaForCausalLM",
        "LlavaMistralForCausalLM",
        "LlavaQwenForCausalLM",
        "LlavaVidForCausalLM",
        "LocateAnythingForConditionalGeneration",
        "MiDashengLMModel",
        "MiMoV2ASRForCausalLM",
        "MiMoV2ForCausalLM",
        "MiniCPMO",
        "MiniCPMV",
        "MiniMaxM3SparseForConditionalGeneration",
        "Mistral3ForConditionalGeneration",
        "MllamaForConditionalGeneration",
        "MossVLForConditionalGeneration",
        "MultiModalityCausalLM",
        "MuseGlimmerForConditionalGeneration",
        "MuseSparkForConditionalGeneration",
        "NVILAForConditionalGeneration",
        "NVILALiteForConditionalGeneration",
        "NemotronH_Nano_Omni_Reasoning_V3",
        "NemotronH_Nano_VL_V2",
        "NemotronH_Omni_Reasoning_V3",
        "POINTSV15ChatModel",
        "PaddleOCRVLForConditionalGeneration",
        "Phi4MMForCausalLM",
        "PixtralForConditionalGeneration",
        "Qwen2AudioForConditionalGeneration",
        "Qwen2VLForConditionalGeneration",
        "Qwen2_5_VLForConditionalGeneration",
        "Qwen3ASRForConditionalGeneration",
        "Qwen3OmniMoeForConditionalGeneration",
        "Qwen3VLForConditionalGeneration",
        "Qwen3VLMoeForConditionalGeneration",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForConditionalGeneration",
        "Qwen4ExpForConditionalGeneration",
        "Sarashina2VisionForCausalLM",
        "Step3VLForConditionalGeneration",
        "Step3p7ForConditionalGeneration",
        "StepVLForConditionalGeneration",
        "UnlimitedOCRForCausalLM",
        "VoxtralForConditionalGeneration",
        "WhisperForConditionalGeneration",
    }
)
"""Classes that take images or sound (``configs/model_config.py:2391-2473``); so do those whose language part stands in
an object of its own (``:808-827``)."""
_MEDIA_PARTS: Final = frozenset({"thinker_config", "llm_config", "language_config", "text_config"})
"""Such objects (``utils/hf_transformers/common.py:582-606``)."""
_MEDIA_OFF: Final = frozenset(
    {
        "Gemma3ForConditionalGeneration",
        "InklingForConditionalGeneration",
        "Llama4ForConditionalGeneration",
        "Step3VLForConditionalGeneration",
    }
)
"""Classes that take text alone unless ``--enable-multimodal`` is given (``configs/model_config.py:690-708``)."""
_MEDIA_WHERE_DESCRIBED: Final = frozenset({"MiMoV2ForCausalLM"})
"""Classes that take both where the file describes encoders of both (``configs/model_config.py:709-719``)."""
_PREFILL_GRAPHS: Final = frozenset(
    {
        "InternS2MobiusForConditionalGeneration",
        "KimiK25ForConditionalGeneration",
        "KimiK3ForConditionalGeneration",
        "MiniMaxM3SparseForConditionalGeneration",
        "MuseGlimmerForConditionalGeneration",
        "MuseSparkForConditionalGeneration",
        "PaddleOCRVLForConditionalGeneration",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForConditionalGeneration",
        "Qwen4ExpForConditionalGeneration",
    }
)
"""Classes with graphs of prefill although they take images (``configs/model_config.py:2501-2516``)."""
_IMAGES_IN_GPU: Final = frozenset({"Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration"})
"""Classes whose images travel through GPU memory on large Hopper GPUs
(``arg_groups/model_overrides/qwen3_vl.py:20-31, 79-121``)."""
_DEPTH_UNREAD: Final = frozenset({"Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration"})
"""Classes whose config is SGLang's own, which does not take ``depth`` for a number of layers as Transformers' classes
do (``configs/qwen3_vl.py:4-41``)."""
_VISION: Final[Mapping[str, tuple[int, int]]] = {
    "Glm4vForConditionalGeneration": (24, 1_536),
    "Glm4vMoeForConditionalGeneration": (24, 1_536),
    "Qwen2VLForConditionalGeneration": (32, 3_584),
    "Qwen2_5_VLForConditionalGeneration": (32, 3_584),
    "Qwen3VLForConditionalGeneration": (27, 1_152),
    "Qwen3VLMoeForConditionalGeneration": (27, 1_152),
    "Qwen3_5ForConditionalGeneration": (24, 1_152),
    "Qwen3_5MoeForConditionalGeneration": (24, 1_152),
}
"""Layers and width of an encoder that a file leaves to its class (``models/*/configuration_*.py`` of Transformers)."""

_MODEL_TYPES: Final[Mapping[str, str]] = {
    "bailing_hybrid": "BailingMoeV2_5ForCausalLM",
    "beam": "BeamForCausalLM",
    "deepseek_v32": "DeepseekV32ForCausalLM",
    "falcon_h1": "FalconH1ForCausalLM",
    "falcon_mamba": "FalconMambaForCausalLM",
    "gemma4_text": "Gemma4ForCausalLM",
    "gemma4_unified_text": "Gemma4UnifiedForConditionalGeneration",
    "glm4v_text": "Glm4vForConditionalGeneration",
    "glm_moe_dsa": "GlmMoeDsaForCausalLM",
    "gpt_oss": "GptOssForCausalLM",
    "granite_swa": "GraniteSWAForCausalLM",
    "granitemoe_swa": "GraniteMoeSWAForCausalLM",
    "granitemoehybrid": "GraniteMoeHybridForCausalLM",
    "kimi_linear": "KimiLinearForCausalLM",
    "laguna": "LagunaForCausalLM",
    "lfm2": "Lfm2ForCausalLM",
    "lfm2_moe": "Lfm2MoeForCausalLM",
    "llama4_text": "Llama4ForCausalLM",
    "longcat_flash": "LongcatFlashForCausalLM",
    "mamba": "MambaForCausalLM",
    "mamba2": "Mamba2ForCausalLM",
    "mellum": "MellumForCausalLM",
    "mimo_v2": "MiMoV2ForCausalLM",
    "mimo_v2_flash": "MiMoV2FlashForCausalLM",
    "minicpmo": "MiniCPMO",
    "minicpmv": "MiniCPMV",
    "muse_glimmer_text": "MuseGlimmerForCausalLM",
    "muse_spark_text": "MuseSparkForConditionalGeneration",
    "nemotron_h": "NemotronHForCausalLM",
    "qwen2_5_vl_text": "Qwen2_5_VLForConditionalGeneration",
    "qwen2_vl_text": "Qwen2VLForConditionalGeneration",
    "qwen3_5_moe_text": "Qwen3_5MoeForCausalLM",
    "qwen3_5_text": "Qwen3_5ForCausalLM",
    "qwen3_next": "Qwen3NextForCausalLM",
    "step3p5": "Step3p5ForCausalLM",
    "step3p7": "Step3p7ForConditionalGeneration",
}
"""SGLang's class for a model type, as its own files and Transformers' give it."""
_NESTED: Final[Mapping[str, str]] = {
    "gemma3_text": "Gemma3ForConditionalGeneration",
    "gemma4_text": "Gemma4ForConditionalGeneration",
    "glm4v_moe_text": "Glm4vMoeForConditionalGeneration",
    "kimi_k2": "KimiK25ForConditionalGeneration",
    "kimi_linear": "KimiK3ForConditionalGeneration",
    "llama4_text": "Llama4ForConditionalGeneration",
    "qwen3_5_moe_text": "Qwen3_5MoeForConditionalGeneration",
    "qwen3_5_text": "Qwen3_5ForConditionalGeneration",
    "qwen3_vl_moe_text": "Qwen3VLMoeForConditionalGeneration",
    "qwen3_vl_text": "Qwen3VLForConditionalGeneration",
}
"""The same where it is the type of a language part in an object of its own."""
_KNOWN: Final = _WINDOWED | _STATES | _MEDIA | _MEDIA_OFF | {"Llama4ForCausalLM"}
"""Classes that are taken at their word: those of the lists, and the ones SGLang has beside them for the same types."""


def class_of(architecture: Architecture) -> str:
    """The class SGLang runs a model as: the file's, else that of its model type; empty where neither is known.

    A name that SGLang does not have is no other model: copies of a file give one of their own.
    """
    if architecture.class_name in _KNOWN:
        return architecture.class_name
    nested = _NESTED.get(architecture.model_type) if architecture.part else None
    return nested or _MODEL_TYPES.get(architecture.model_type) or architecture.class_name


def keeps_windows(architecture: Architecture) -> bool:
    """Whether windows and chunks have a pool of their own."""
    return architecture.window_pool or class_of(architecture) in _WINDOWED


def tracking_slots(architecture: Architecture) -> int:
    """Slots beside its own that a running request's state takes for the radix cache."""
    return 2 if class_of(architecture) in _TWO_EXTRA_STATES else 0


def state_value_bytes(architecture: Architecture) -> int:
    """Bytes of one value of a recurrent state, where ``--mamba-ssm-dtype`` is not given."""
    follows = class_of(architecture) in _STATE_TYPE_IN_FILE
    return _STATE_VALUE_BYTES.get(architecture.state_dtype, 4) if follows else 4


def is_sparse(architecture: Architecture) -> bool:
    """Latents with packed indexer keys beside them."""
    caches = {cache for layer in architecture.layers for cache in layer}
    return any(isinstance(c, LatentAttention) for c in caches) and any(
        isinstance(c, IndexerKeys) and c.packed for c in caches
    )


def default_dtype_name(architecture: Architecture, generation: str) -> str | None:
    """The cache type that SGLang sets where none is given, whatever the checkpoint asks for; None: it sets none.

    Sparse latents are fp8 on Blackwell (compute capability 10 and up) and bf16 elsewhere
    (``arg_groups/overrides.py:489-546``).
    """
    if class_of(architecture) in _FP8_BY_DEFAULT:
        return "fp8"
    if is_sparse(architecture):
        return "fp8" if generation.startswith("blackwell") else "bf16"
    return None


def takes_media(architecture: Architecture) -> bool:
    """Whether the engine takes images or sound and keeps room for them."""
    name = class_of(architecture)
    if architecture.text_only or name in _MEDIA_OFF:
        return False
    if name in _MEDIA_WHERE_DESCRIBED:
        return {"vision_config", "audio_config"} <= set(architecture.media)
    return name in _MEDIA or architecture.part in _MEDIA_PARTS


def prefill_graphs(architecture: Architecture) -> bool:
    """Whether graphs of prefill are made: not for most models that take images (``cuda_graph_hook.py:229-239``)."""
    return not takes_media(architecture) or class_of(architecture) in _PREFILL_GRAPHS


def images_in_gpu(architecture: Architecture, generation: str, device_bytes: int) -> bool:
    """Whether images travel through GPU memory: on one machine of large Hopper GPUs."""
    large = generation == "hopper" and device_bytes >= 60 * GIB
    return large and takes_media(architecture) and class_of(architecture) in _IMAGES_IN_GPU


def vision_size(architecture: Architecture) -> tuple[int, int] | None:
    """Layers and width of the encoder of images as ``arg_groups/memory_hook.py:432-446`` reads them; None without one.

    What a file leaves to a class that is not in the table counts as left out.
    """
    name, vision = class_of(architecture), architecture.vision
    if not takes_media(architecture) or (vision is None and name not in _VISION):
        return None
    layers, width = _VISION.get(name, (24, 1_024))
    if vision is None:
        return layers, width
    depth = None if name in _DEPTH_UNREAD else vision.depth
    return vision.layers or depth or layers, vision.width or width


def class_note(architecture: Architecture) -> Note | None:
    """What a class was needed for that the file does not name in SGLang's words."""
    caches = {cache for layer in architecture.layers for cache in layer}
    windows = any(isinstance(c, SlidingWindow | ChunkedAttention) for c in caches)
    states = any(isinstance(c, RecurrentState) for c in caches)
    name = class_of(architecture)
    if not (windows or states) or name == architecture.class_name != "":
        return None
    if not name:
        # All types with rules of their own are in the table, so that any other type is told by that.
        known = not _described(architecture)
        return None if known else Note(code="sglang-class-unknown", message=Message(text.CLASS_UNKNOWN))
    values = {"version": VERSION, "class": name, "type": architecture.model_type}
    return Note(code="sglang-class-by-type", message=Message(text.CLASS_BY_TYPE, values))


def _described(architecture: Architecture) -> bool:
    """Whether a person or a log describes the layers, which no name is known of."""
    return not architecture.class_name and architecture.model_type in ("", ENTERED_TYPE)


def not_run(architecture: Architecture) -> Note | None:
    """Why there is no plan for a model: not every class was looked up, so silence is no promise that it runs."""
    caches = {cache for layer in architecture.layers for cache in layer}
    values = {"model": architecture.class_name or architecture.model_type, "version": VERSION}
    if not caches:
        return Note(code="sglang-no-cache", message=Message(text.NO_CACHE, values))
    if any(isinstance(c, CompressedAttention | CrossAttention) for c in caches):
        return Note(code="sglang-not-worked-out", message=Message(text.NOT_WORKED_OUT, values))
    states = any(isinstance(c, RecurrentState) for c in caches)
    if states and class_of(architecture) not in _STATES and not _described(architecture):
        return Note(code="sglang-not-run", message=Message(text.STATES_NOT_RUN, values))
    # configs/model_config.py:1661-1667
    heads = {c.kv_heads for c in caches if isinstance(c, FullAttention)}
    if architecture.model_type == "nemotron-nas" and len(heads) > 1:
        return Note(code="sglang-not-run", message=Message(text.HEADS_DIFFER, values))
    return None


def allocated_layers(architecture: Architecture) -> tuple[Layer, ...]:
    """What each layer has buffers for: without states, every layer, also one that reads another's cache.

    The cell is a layer's bytes times the number of layers (``model_executor/pool_configurator.py:221-233, 490-500``):
    nothing takes off layers that share a cache (Gemma 3n and 4) or have no attention (Nemotron-NAS). Such a layer is
    given what the pattern of the others has in its place.
    """
    layers = architecture.layers
    stored = [layer for layer in layers if layer]
    if len(stored) == len(layers) or any(isinstance(c, RecurrentState) for layer in stored for c in layer):
        return layers
    period = next(p for p in range(1, len(stored) + 1) if all(s == stored[i % p] for i, s in enumerate(stored)))
    return tuple(layer or stored[i % period] for i, layer in enumerate(layers))
