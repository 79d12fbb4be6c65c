"""Which models llama.cpp does not run, and which of their windows it knows of.

An architecture that it has is known by the names in ``src/llama-arch.cpp``; a window it keeps, by ``swa_type`` in
``src/models/*.cpp``. Everything else is kept at full length: Mistral 0.1, and Phi 3, where it is switched off
(``src/models/phi3.cpp:15-23``).
"""

from typing import Final

from kvviz.core.architecture import Architecture, Note
from kvviz.core.cache import CrossAttention, RecurrentState
from kvviz.text import Message, Text
from kvviz.text import llama_cpp as text

_WINDOWED: Final = (
    "afmoe",
    "cohere2",
    "deepseekv4",
    "dots3note",
    "exaone4",
    "exaonemoe",
    "gemma2",
    "gemma3",
    "gemma4",
    "gptoss",
    "granitemoeswa",
    "graniteswa",
    "laguna",
    "lfm2",
    "llama4",
    "maple",
    "mellum",
    "mimov2",
    "museglimmer",
    "olmo2",
    "olmo3",
    "plamo3",
    "smallthinker",
    "spark25",
    "step3p5",
    "step3p7",
)
"""How model types and class names of windowed architectures begin."""
_MISSING: Final = ("internlmforcausallm", "longcat", "phi4flash", "zamba")
"""How those begin that it has no architecture for."""
_MISSING_TYPES: Final = frozenset({"internlm", "rwkv", "rwkv5"})
_T5: Final = ("t5", "mt5", "umt5")


def keeps_windows(architecture: Architecture) -> bool:
    """Whether a window or chunk of this model limits its cells."""
    return any(name.startswith(_WINDOWED) for name in _names(architecture))


def keeps_cross(architecture: Architecture) -> bool:
    """False for T5, whose cross keys and values are computed anew from the encoder's output in each step."""
    return not architecture.model_type.startswith(_T5)


def not_run(architecture: Architecture) -> Note | None:
    """Why llama.cpp cannot run ``architecture``, where that is known."""
    caches = [cache for layer in architecture.layers for cache in layer]
    name = architecture.class_name or architecture.model_type
    if architecture.model_type.startswith("mllama"):
        return _note("llama-cpp-fork", text.ONLY_A_FORK, name)
    if any(isinstance(c, CrossAttention) for c in caches) and keeps_cross(architecture):
        return _note("llama-cpp-not-run", text.ENCODER_DECODER, name)
    missing = any(n.startswith(_MISSING) for n in _names(architecture)) or architecture.model_type in _MISSING_TYPES
    if missing or any(isinstance(c, RecurrentState) and c.mixer == "local_filter" for c in caches):
        return _note("llama-cpp-not-run", text.NOT_IN_ENGINE, name)
    return None if caches else _note("no-cache", text.NO_CACHE, name)


def _names(architecture: Architecture) -> tuple[str, ...]:
    names = (architecture.model_type, architecture.class_name)
    return tuple(name.lower().replace("_", "").replace("-", "").replace(".", "") for name in names)


def _note(code: str, sentence: Text, name: str) -> Note:
    return Note(code=code, message=Message(sentence, {"model": name}))
