"""What a layer keeps while tokens arrive: which of them, and how many bytes, by the core's own functions."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from kvviz import catalogue
from kvviz.core.cache import (
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    Layer,
    LayerCache,
    RecurrentState,
    SlidingWindow,
    content,
    cross_bytes,
    growing_bytes_per_token,
    layer_bytes,
    letter,
    limit_of,
    state_bytes,
)
from kvviz.core.dtypes import KV_DTYPES, KvDtype
from kvviz.sizing import Sizing

PartKind = Literal["growing", "window", "chunk", "state", "cross"]

EXAMPLE_TOKENS: Final = 32
EXAMPLE_LIMIT: Final = 8
"""Tokens of the example's window, chunk and encoder."""
MOST_STEPS: Final = 48
MOST_LANES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one cache of a layer keeps after some tokens."""

    kind: PartKind
    cache: LayerCache
    kept: range
    """The tokens it still has, counted from 0; none where it keeps no token by itself."""
    part_bytes: Fraction
    """For one sequence. A chunk's is that of its fullest moment: the space is set aside from then on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Layers of one kind."""

    layer: Layer
    letter: str
    layers: int
    """How many; 0 where the layer is an example."""
    like: str = ""
    """A bundled model that has such layers; empty where it is the model itself."""
    like_tokens: int = 0
    """The limit that its layers have; 0 without one."""

    def parts(self, tokens: int, dtype: KvDtype) -> tuple[Part, ...]:
        """What one layer keeps after ``tokens`` tokens."""
        return tuple(part for cache in self.layer for part in parts(cache, tokens, dtype))

    def bytes_at(self, tokens: int, dtype: KvDtype) -> Fraction:
        """Bytes of one layer after ``tokens`` tokens."""
        return layer_bytes(self.layer, tokens, dtype)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """Layers side by side, filled by the same tokens."""

    lanes: tuple[Lane, ...]
    dtype: KvDtype
    steps: tuple[int, ...]
    """Tokens that have arrived by each step, from 0 on."""
    layers: tuple[Layer, ...]
    """All layers of the model; empty for the example."""
    left_out: int
    """Kinds of layers that are not shown."""

    def model_bytes(self, tokens: int) -> Fraction:
        """Bytes of all layers after ``tokens`` tokens."""
        return content(self.layers, self.dtype).bytes_at(tokens)


def parts(cache: LayerCache, tokens: int, dtype: KvDtype) -> tuple[Part, ...]:
    """What one cache keeps after ``tokens`` tokens: its growing, its limited and its fixed part."""
    found: list[Part] = []

    def part(kind: PartKind, kept: range, count: Fraction) -> None:
        found.append(Part(kind=kind, cache=cache, kept=kept, part_bytes=count))

    if growing := growing_bytes_per_token(cache, dtype):
        part("growing", range(tokens), growing * tokens)
    if limit := limit_of(cache, dtype):
        most = limit.limit_tokens
        # A chunk ends as a whole; of a window the oldest token leaves with each new one.
        first = max(0, tokens - most) if limit.kind == "window" else max(0, tokens - 1) // most * most
        part(limit.kind, range(first, tokens), limit.bytes_per_token * min(tokens, most))
    if state := state_bytes(cache):
        part("state", range(0), Fraction(state))
    if cross := cross_bytes(cache, dtype):
        part("cross", range(0), cross)
    return tuple(found)


def of_model(sizing: Sizing) -> Filling:
    """The kinds of layers that a model has, at the scenario's length, the most frequent first."""
    counts = Counter(layer for layer in sizing.architecture.layers if layer)
    lanes = [Lane(layer=layer, letter=letter(layer), layers=count) for layer, count in counts.most_common()]
    many = max(1, min(MOST_STEPS, sizing.tokens))
    return Filling(
        lanes=tuple(lanes[:MOST_LANES]),
        dtype=sizing.kv_dtype,
        steps=tuple(sizing.tokens * step // many for step in range(many + 1)),
        layers=sizing.architecture.layers,
        left_out=max(0, len(lanes) - MOST_LANES),
    )


_LIKE: Final[Mapping[str, str]] = {
    "f": "meta-llama/Llama-3.1-8B-Instruct",
    "l": "deepseek-ai/DeepSeek-V3",
    "w": "google/gemma-3-27b-it",
    "c": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "s": "Qwen/Qwen3-Next-80B-A3B-Instruct",
    "x": "meta-llama/Llama-3.2-11B-Vision-Instruct",
}
"""A bundled model with layers of each kind."""


def example() -> Filling:
    """One layer of every kind beside each other, as wide as real ones, with limits that a page can show."""
    found: dict[str, Layer] = {}
    for code, model in _LIKE.items():
        found[code] = next(layer for layer in catalogue.load(model).architecture.layers if letter(layer) == code)
    full = next(cache for cache in found["f"] if isinstance(cache, FullAttention))
    lanes = []
    for code, layer in found.items():
        (cache,) = layer
        shown, limit = _shortened(cache, full)
        lanes.append(Lane(layer=(shown,), letter=code, layers=0, like=_LIKE[code], like_tokens=limit))
    return Filling(
        lanes=tuple(lanes),
        dtype=KV_DTYPES["bf16"],
        steps=tuple(range(EXAMPLE_TOKENS + 1)),
        layers=(),
        left_out=0,
    )


def _shortened(cache: LayerCache, full: FullAttention) -> tuple[LayerCache, int]:
    """``cache`` with the heads of ``full`` and a limit of a few tokens, and the limit it has."""
    kv_heads, key_dim, value_dim = full.kv_heads, full.key_dim, full.value_dim
    match cache:
        case SlidingWindow():
            window = SlidingWindow(kv_heads=kv_heads, key_dim=key_dim, value_dim=value_dim, window_tokens=EXAMPLE_LIMIT)
            return window, cache.window_tokens
        case ChunkedAttention():
            chunk = ChunkedAttention(
                kv_heads=kv_heads, key_dim=key_dim, value_dim=value_dim, chunk_tokens=EXAMPLE_LIMIT
            )
            return chunk, cache.chunk_tokens
        case CrossAttention():
            cross = CrossAttention(
                kv_heads=kv_heads, key_dim=key_dim, value_dim=value_dim, encoder_tokens=EXAMPLE_LIMIT
            )
            return cross, cache.encoder_tokens
        case _:
            return cache, 0


def breaks_even_tokens(filling: Filling) -> int | None:
    """Tokens from which on a layer with a fixed state alone takes no more than one that keeps every token."""
    states = [lane for lane in filling.lanes if all(isinstance(cache, RecurrentState) for cache in lane.layer)]
    grows = [lane for lane in filling.lanes if lane.letter == "f"]
    if not states or not grows:
        return None
    token = grows[0].bytes_at(1, filling.dtype) - grows[0].bytes_at(0, filling.dtype)
    return int(-(-states[0].bytes_at(0, filling.dtype) // token)) if token else None
