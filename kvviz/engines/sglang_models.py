"""What SGLang 0.5.23 knows by the name of a model's class: windows, states, and what it does not run."""

from typing import Final

from kvviz.core.architecture import Architecture, Note
from kvviz.core.cache import (
    CompressedAttention,
    CrossAttention,
    FullAttention,
    Layer,
    RecurrentState,
)
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
        "Step3p5ForCausalLM",
        "Step3p7ForConditionalGeneration",
        "UnlimitedOCRForCausalLM",
    }
)
"""Classes whose windows have a pool of their own; every other class keeps them at full length
(``configs/model_config.py:74-97, 2651-2697``). A file may also ask for it with ``is_hybrid_swa``, which is not read."""

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
    "NemotronH_Nano_VL_V2",
    "ZayaForCausalLM",
}
"""Classes with a pool of states (``configs/hybrid_arch.py``)."""


def keeps_windows(architecture: Architecture) -> bool:
    """Whether windows and chunks have a pool of their own."""
    return architecture.class_name in _WINDOWED


def tracking_slots(architecture: Architecture) -> int:
    """Slots beside its own that a running request's state takes for the radix cache."""
    return 2 if architecture.class_name in _TWO_EXTRA_STATES else 0


def not_run(architecture: Architecture) -> Note | None:
    """Why there is no plan for a model: not every class was looked up, so silence is no promise that it runs."""
    caches = {cache for layer in architecture.layers for cache in layer}
    values = {"model": architecture.class_name or architecture.model_type, "version": VERSION}
    if not caches:
        return Note(code="sglang-no-cache", message=Message(text.NO_CACHE, values))
    if any(isinstance(c, CompressedAttention | CrossAttention) for c in caches):
        return Note(code="sglang-not-worked-out", message=Message(text.NOT_WORKED_OUT, values))
    # A file that names no class is not refused for it.
    if any(isinstance(c, RecurrentState) for c in caches) and architecture.class_name not in _STATES | {""}:
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
