"""What a KV cache type setting comes to for one model, and why."""

from kvviz.core.architecture.model import Architecture
from kvviz.core.cache import CompressedAttention
from kvviz.core.dtypes import ALIASES, KV_DTYPES, KvDtype
from kvviz.text import Message
from kvviz.text import engine as text


def resolve_kv_dtype(architecture: Architecture, setting: str) -> tuple[KvDtype, Message]:
    """``setting`` as a cache type: ``auto`` follows the checkpoint's cache scheme, else the model's own type.

    vLLM 0.33: ``utils/torch_utils.py:443-516``, ``attention.py:281-291``. Weight types play no part.
    """
    if any(isinstance(cache, CompressedAttention) for layer in architecture.layers for cache in layer):
        return KV_DTYPES[architecture.dtype], Message(text.DTYPE_PACKED)
    if setting != "auto":
        return KV_DTYPES[ALIASES.get(setting, setting)], Message(text.DTYPE_CHOSEN)
    if scheme := architecture.kv_scheme:
        return KV_DTYPES[scheme.dtype], Message(text.DTYPE_FROM_SCHEME, {"path": scheme.path})
    if architecture.dtype == "fp32":
        return KV_DTYPES["bf16"], Message(text.DTYPE_FROM_FP32)
    if not architecture.dtype_where:
        return KV_DTYPES[architecture.dtype], Message(text.DTYPE_NOT_GIVEN)
    return KV_DTYPES[architecture.dtype], Message(text.DTYPE_FROM_MODEL, {"path": architecture.dtype_where})
