"""What a KV cache type setting comes to for one model, and why."""

from fractions import Fraction

from kvviz.core.architecture.fields import shown
from kvviz.core.architecture.model import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    LayerCache,
    SlidingWindow,
)
from kvviz.core.dtypes import ALIASES, KV_DTYPES, KvDtype
from kvviz.core.errors import ScenarioError
from kvviz.text import Message
from kvviz.text import config as texts
from kvviz.text import engine as engine_texts

_PACKED = KvDtype(
    name="packed fp8",
    value_bytes=Fraction(1),
    packs_records=True,
    engines=frozenset({"vllm", "sglang"}),
    quantised=True,
)
"""What compressed caches are stored in by the engines that pack them, whatever the setting."""


def resolve_kv_dtype(architecture: Architecture, setting: str, *, engine: str = "vllm") -> tuple[KvDtype, Message]:
    """``setting`` as a cache type, and why. ``auto`` follows the checkpoint's cache scheme, else the model's own type.

    vLLM 0.33: ``utils/torch_utils.py:443-516``, ``attention.py:281-291``; SGLang follows ``kv_cache_quant_algo`` only,
    llama.cpp keeps f16 and transformers the model's type. Weight types play no part. How an engine then lays the type
    out (packed records of sparse latent caches) is the engine's own rule.

    Whether ``engine`` offers the type is for its own module to say. Raises ScenarioError for a name nobody knows, and
    for a type whose blocks do not divide a token's rows.
    """
    compressed = any(isinstance(cache, CompressedAttention) for layer in architecture.layers for cache in layer)
    if compressed and engine in _PACKED.engines:
        return _PACKED, Message(engine_texts.DTYPE_PACKED)
    if setting != "auto":
        chosen = _named(setting)
        rows = {row for layer in architecture.layers for cache in layer for row in _rows(cache)}
        if wrong := [row for row in rows if row % chosen.row_values]:
            values = {"dtype": chosen.name, "values": chosen.row_values, "row": min(wrong)}
            raise ScenarioError(Message(engine_texts.ROW_DOES_NOT_DIVIDE, values), field="kv_dtype")
        return chosen, Message(engine_texts.DTYPE_CHOSEN)
    if engine == "llama.cpp":
        return KV_DTYPES["fp16"], Message(texts.DTYPE_F16)
    scheme = architecture.kv_scheme
    if scheme is not None and _follows(engine, scheme.path):
        return KV_DTYPES[scheme.dtype], Message(engine_texts.DTYPE_FROM_SCHEME, {"path": scheme.path})
    if engine == "transformers" and architecture.dtype == "fp32":
        return KV_DTYPES["fp32"], Message(engine_texts.DTYPE_FROM_MODEL, {"path": architecture.dtype_where})
    if architecture.dtype == "fp32":
        return KV_DTYPES["bf16"], Message(engine_texts.DTYPE_FROM_FP32, {"dtype": "bf16"})
    if not architecture.dtype_where:
        return KV_DTYPES[architecture.dtype], Message(engine_texts.DTYPE_NOT_GIVEN)
    return KV_DTYPES[architecture.dtype], Message(engine_texts.DTYPE_FROM_MODEL, {"path": architecture.dtype_where})


def _named(setting: str) -> KvDtype:
    dtype = KV_DTYPES.get(ALIASES.get(setting, setting))
    if dtype is None:
        values = {"name": shown(setting), "choices": ", ".join(("auto", *KV_DTYPES))}
        raise ScenarioError(Message(texts.DTYPE_UNKNOWN, values), field="kv_dtype")
    return dtype


def _rows(cache: LayerCache) -> tuple[int, ...]:
    """Values of one token in a row: the keys of all heads, and their values (llama.cpp ``llama-kv-cache.cpp:233``)."""
    match cache:
        case FullAttention() | SlidingWindow() | ChunkedAttention() | CrossAttention():
            return cache.kv_heads * cache.key_dim, cache.kv_heads * cache.value_dim
        case LatentAttention():
            return (cache.latent_dim + cache.rope_dim,)
        case IndexerKeys() if not cache.packed:
            return (cache.key_dim,)
        case CompressedAttention():
            return cache.head_dim, cache.index_key_dim
        case _:
            return ()


def _follows(engine: str, path: str) -> bool:
    """Whether ``engine`` reads the cache type from the field at ``path``."""
    if engine == "sglang":
        return path.endswith("kv_cache_quant_algo")
    return engine in ("vllm", "tensorrt-llm")
