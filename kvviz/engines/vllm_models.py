"""Which models vLLM has no plan for, and why; what it stores of the others.

Classes it once ran, with the last version that did: ``model_executor/models/registry.py:841-895``. What is neither here
nor of a kind below runs by a model file of its own or by vLLM's Transformers backend.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from kvviz.core.architecture import Architecture, Note
from kvviz.core.cache import (
    CompressedAttention,
    CrossAttention,
    FullAttention,
    LatentAttention,
    Layer,
    LayerCache,
    RecurrentState,
    state_bytes,
)
from kvviz.core.identity import ByIdentity
from kvviz.text import Message, Text
from kvviz.text import engine as text

VERSION: Final = "0.33"
V0: Final = "v0"
"""The engine of vLLM before 0.8, in its last form."""

_LAST_VERSION: Final[Mapping[str, str]] = {
    "AquilaForCausalLM": "0.24",
    "AquilaModel": "0.24",
    "ArcticForCausalLM": "0.28",
    "BaichuanForCausalLM": "0.23",
    "BambaForCausalLM": "0.23",
    "ChameleonForConditionalGeneration": "0.28",
    "Dots1ForCausalLM": "0.23",
    "FuyuForCausalLM": "0.25",
    "Grok1ForCausalLM": "0.24",
    "Grok1ModelForCausalLM": "0.24",
    "InternLMForCausalLM": "0.23",
    "JAISLMHeadModel": "0.22",
    "MiniMaxForCausalLM": "0.23",
    "MiniMaxM1ForCausalLM": "0.23",
    "MiniMaxText01ForCausalLM": "0.23",
    "MllamaForConditionalGeneration": "0.10.2",
    "MotifForCausalLM": "0.10.2",
    "MptForCausalLM": "0.28",
    "OuroForCausalLM": "0.26",
    "PersimmonForCausalLM": "0.25",
    "Phi3SmallForCausalLM": "0.9.2",
    "Phi4FlashForCausalLM": "0.10.2",
    "Phi4MultimodalForCausalLM": "0.12",
    "Plamo2ForCausalLM": "0.26",
    "QWenLMHeadModel": "0.23",
    "RWForCausalLM": "0.28",
    "StableLMEpochForCausalLM": "0.28",
    "TeleChatForCausalLM": "0.25",
    "XverseForCausalLM": "0.23",
}
_NEVER: Final = (
    "CodeGenForCausalLM",
    "GPTNeoForCausalLM",
    "LongcatCausalLM",
    "OpenELMForCausalLM",
    "YuanForCausalLM",
)
"""Classes of no version: remote code that was never ported, or no support for vLLM's attention in Transformers."""
_NO_PIPELINE: Final = frozenset(
    {
        "AriaForConditionalGeneration",
        "Gemma3nForCausalLM",
        "Gemma3nForConditionalGeneration",
        "IQuestLoopCoderForCausalLM",
        "Idefics3ForConditionalGeneration",
        "Mamba2ForCausalLM",
        "NemotronH_Nano_VL_V2",
        "Phi4MMForCausalLM",
        "SmolVLMForConditionalGeneration",
        "WhisperForConditionalGeneration",
        "Zamba2ForCausalLM",
    }
)
_MODEL_TYPES: Final[Mapping[str, str]] = {
    "baichuan": "BaichuanForCausalLM",
    "bamba": "BambaForCausalLM",
    "grok-1": "Grok1ForCausalLM",
    "glm_moe_dsa": "GlmMoeDsaForCausalLM",
    "internlm": "InternLMForCausalLM",
    "minimax_m1": "MiniMaxM1ForCausalLM",
    "minimax_text_01": "MiniMaxText01ForCausalLM",
    "mllama": "MllamaForConditionalGeneration",
    "mllama_text_model": "MllamaForConditionalGeneration",
    "mpt": "MptForCausalLM",
    "openelm": "OpenELMForCausalLM",
    "phi4flash": "Phi4FlashForCausalLM",
    "phi3small": "Phi3SmallForCausalLM",
    "plamo2": "Plamo2ForCausalLM",
    "qwen": "QWenLMHeadModel",
    "whisper": "WhisperForConditionalGeneration",
}
"""The class where a file names none."""
_REMOTE_ONLY: Final = frozenset({"phi-msft"})
"""Model types of remote code whose class name vLLM gives to the Transformers model of another type."""

_LAST = {name.lower(): version for name, version in _LAST_VERSION.items()}
_UNKNOWN = frozenset(name.lower() for name in _NEVER)


def class_of(architecture: Architecture) -> str:
    """The model's class: as the file names it, else by its model type; empty where neither says."""
    return architecture.class_name or _MODEL_TYPES.get(architecture.model_type, "")


def stored_caches(architecture: Architecture) -> tuple[LayerCache, ...]:
    """What vLLM keeps of each layer, in order: expanded latents as heads, and no state of 0 bytes."""
    return _stored_caches(ByIdentity(architecture))


@lru_cache(maxsize=1024)
def _stored_caches(key: ByIdentity[Architecture]) -> tuple[LayerCache, ...]:
    return tuple(cache for layer in key.value.layers for cache in stored_layer(layer))


def stored_layer(layer: Layer) -> Layer:
    """What vLLM keeps of one layer."""
    made: list[LayerCache] = []
    for cache in layer:
        if isinstance(cache, LatentAttention) and cache.expanded_heads:  # values as wide as keys (minicpm3.py:126-175)
            width = cache.expanded_key_dim
            made.append(FullAttention(kv_heads=cache.expanded_heads, key_dim=width, value_dim=width))
        elif not isinstance(cache, RecurrentState) or state_bytes(cache):
            made.append(cache)
    return tuple(made)


def not_run(architecture: Architecture, version: str = VERSION) -> Note | None:
    """Why that vLLM sets nothing aside for ``architecture`` that kvviz could tell; None where there is a plan.

    Which models an older version did not yet run is not known here.
    """
    return _not_run(ByIdentity(architecture), version)


@lru_cache(maxsize=1024)
def _not_run(key: ByIdentity[Architecture], version: str) -> Note | None:
    architecture = key.value
    caches = stored_caches(architecture)
    class_name = class_of(architecture)
    names = {"model": class_name or architecture.model_type, "engine": engine_of(version)}
    if any(isinstance(c, CompressedAttention) for c in caches):
        return _note("vllm-not-worked-out", text.NOT_WORKED_OUT, names)
    last = _LAST.get(class_name.lower())
    if last and version != V0 and _order(last) < _order(version):
        return _note("vllm-removed", text.REMOVED, names, version=last)
    cross = any(isinstance(c, CrossAttention) for c in caches)
    if version == V0 and caches and (cross or all(isinstance(c, RecurrentState) for c in caches)):
        return _note("vllm-not-worked-out", text.V0_NOT_WORKED_OUT, names)
    if cross and not class_name.startswith("Whisper"):
        return _note("vllm-not-run", text.ENCODER_DECODER, names)
    own_kernels = any(isinstance(c, RecurrentState) and c.mixer in ("rwkv", "local_filter") for c in caches)
    if own_kernels or class_name.lower() in _UNKNOWN or architecture.model_type in _REMOTE_ONLY:
        return _note("vllm-not-run", text.NEVER, names)
    if not caches:
        return _note("no-cache", text.NO_CACHE, names)
    return None


def runs_in_stages(architecture: Architecture) -> bool:
    """Whether vLLM 0.33 has pipeline parallelism for this class (``model_executor/models``, ``SupportsPP``)."""
    return class_of(architecture) not in _NO_PIPELINE


def engine_of(version: str) -> str:
    """The version as one writes it behind the engine's name."""
    return version.upper() if version == V0 else version


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _note(code: str, sentence: Text, names: Mapping[str, str], **values: str) -> Note:
    return Note(code=code, message=Message(sentence, {**names, **values}))
