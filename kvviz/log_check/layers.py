"""Layers as an engine may have taken them: windows at full length, latents expanded, an encoder's depth."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    LatentAttention,
    LayerCache,
    RecurrentState,
    SlidingWindow,
)
from kvviz.engine_log import EngineLog

_ENCODER: Final = re.compile(r"bert|roberta|encoder", re.IGNORECASE)
_COUNTS: Final = {
    "layers": ("num_hidden_layers", "n_layer", "num_layers"),
    "heads": ("num_attention_heads", "n_head", "num_heads"),
    "width": ("hidden_size", "n_embd", "d_model"),
}
_MOST: Final = 100_000
_KEPT_WHOLE: Final = frozenset({"old", "oldest"})
"""How forms of llama.cpp's builds begin that kept every layer at full length."""


def each_cache(architecture: Architecture, change: Callable[[LayerCache], LayerCache | None]) -> Architecture:
    """The same model with every cache changed; None takes one away."""
    layers = tuple(tuple(c for c in map(change, layer) if c is not None) for layer in architecture.layers)
    return replace(architecture, layers=layers)


def caches(architecture: Architecture) -> set[LayerCache]:
    """The kinds of cache a model has."""
    return {cache for layer in architecture.layers for cache in layer}


def has(architecture: Architecture, *kinds: type) -> bool:
    """Whether any layer has such a cache."""
    return any(isinstance(cache, kinds) for cache in caches(architecture))


def at_full_length(architecture: Architecture) -> Architecture:
    """Windows and chunks keep every token."""

    def full(cache: LayerCache) -> LayerCache:
        if isinstance(cache, SlidingWindow | ChunkedAttention):
            return FullAttention(kv_heads=cache.kv_heads, key_dim=cache.key_dim, value_dim=cache.value_dim)
        return cache

    return each_cache(architecture, full)


def expanded(architecture: Architecture) -> Architecture:
    """Every latent kept as the keys and values of all heads."""

    def heads(cache: LayerCache) -> LayerCache:
        if isinstance(cache, LatentAttention) and cache.heads:
            return FullAttention(kv_heads=cache.heads, key_dim=cache.head_key_dim, value_dim=cache.head_value_dim)
        return cache

    return each_cache(architecture, heads)


def keys_only(architecture: Architecture) -> Architecture:
    """Without values, states and cross attention."""

    def keys(cache: LayerCache) -> LayerCache | None:
        match cache:
            case FullAttention() | SlidingWindow() | ChunkedAttention():
                return replace(cache, value_dim=0)
            case RecurrentState() | CrossAttention():
                return None
            case _:
                return cache

    return each_cache(architecture, keys)


def as_deep_as(architecture: Architecture, depth: int) -> Architecture:
    """Self attention of as many layers as the encoder has."""
    own = next(tuple(c for c in layer if isinstance(c, FullAttention)) for layer in architecture.layers)
    return replace(architecture, layers=(own,) * depth)


def is_encoder(architecture: Architecture) -> bool:
    """Whether nothing is decoded with this model, so that no cache is of use to it."""
    return bool(_ENCODER.search(f"{architecture.model_type} {architecture.class_name}"))


def plain(layers: int, *, kv_heads: int, key_dim: int, value_dim: int, model_type: str = "") -> Architecture:
    """A model of equal layers that keep every token."""
    cache = FullAttention(kv_heads=kv_heads, key_dim=key_dim, value_dim=value_dim)
    return Architecture(
        model_type=model_type,
        class_name="",
        layers=((cache,),) * layers,
        dtype="bf16",
        dtype_where="",
        max_context_tokens=None,
        hidden_size=None,
        vocab_size=None,
        attention_heads=None,
        kv_scheme=None,
        facts=(),
        notes=(),
    )


def encoder_of(config: Mapping[str, object]) -> Architecture | None:
    """The layers of a BERT-like encoder: it has no cache of its own, but some engines make it one."""
    kind = str(config.get("model_type", ""))
    if not _ENCODER.search(kind):
        return None
    found: dict[str, int] = {}
    for name, fields in _COUNTS.items():
        values = [v for f in fields if type(v := config.get(f)) is int and 0 < v < _MOST]
        if not values:
            return None
        found[name] = values[0]
    dim = found["width"] // found["heads"]
    return plain(found["layers"], kv_heads=found["heads"], key_dim=dim, value_dim=dim, model_type=kind)


def of_log(log: EngineLog) -> Architecture | None:
    """The layers a log itself describes, where it describes all of them and they are alike.

    llama.cpp prints what it reads from the file. Windows and states come in patterns it does not print.
    """
    if not (log.layers and log.kv_heads and log.head_dim):
        return None
    windows = log.window_bytes is not None or (log.window_tokens and log.form.partition(",")[0] not in _KEPT_WHOLE)
    if windows or log.state_bytes_total or log.cross_attention_bytes or log.indexer_bytes:
        return None
    layers = min(log.layers, log.kv_layers or log.layers)
    return plain(
        layers,
        kv_heads=log.kv_heads,
        key_dim=log.head_dim,
        value_dim=log.value_dim if log.value_dim is not None else log.head_dim,
        model_type=log.model_type or "",
    )
