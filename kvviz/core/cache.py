"""What one layer keeps for one sequence: a closed union of frozen specs, and the arithmetic over it.

Content is piecewise linear in the sequence length: ``state + growing·n + windowed·min(n, limit)``. Nothing here knows
an engine; what one sets aside for the same layer is in ``kvviz.engines``.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal, assert_never

from kvviz.core.dtypes import KvDtype

StateDtype = Literal["model", "fp32"]
"""``model``: the model's own 16-bit type (vLLM turns fp32 checkpoints into bf16)."""

STATE_VALUE_BYTES: Final[Mapping[StateDtype, int]] = {"model": 2, "fp32": 4}
"""Bytes of one value of a state."""

INDEXER_SCALE_BLOCK = 128
"""Values of an indexer key that share one fp32 scale (vLLM ``models/deepseek_v2.py:731-736``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FullAttention:
    """Keys and values of every token."""

    kv_heads: int
    key_dim: int
    value_dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SlidingWindow:
    """Keys and values of the last ``window_tokens`` tokens."""

    kv_heads: int
    key_dim: int
    value_dim: int
    window_tokens: int
    limits: bool = True
    """False where the window is at least the model's maximum length: content is then that of full attention, though
    vLLM still builds a window spec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkedAttention:
    """Keys and values of the current chunk of ``chunk_tokens`` (Llama 4)."""

    kv_heads: int
    key_dim: int
    value_dim: int
    chunk_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """One compressed vector per token for all heads (MLA): the value is a slice of it, so it is stored once."""

    latent_dim: int
    rope_dim: int
    heads: int = 0
    """Query heads, which an engine stores that expands every latent (older llama.cpp, transformers 4); 0: not said."""
    head_key_dim: int = 0
    """Width of one head's expanded key."""
    head_value_dim: int = 0
    """Width of one head's expanded value."""
    expanded_heads: int = 0
    """Heads an engine stores when it expands the latent (vLLM: MiniCPM3); 0 where it stores the latent."""
    expanded_key_dim: int = 0
    """Width of each of them, for the key and for the value, which is padded to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexerKeys:
    """One small key per token that chooses what sparse attention reads; one head, never split."""

    key_dim: int
    packed: bool = True
    """True: fp8 with one fp32 scale per 128 values whatever the KV type (DeepSeek V3.2, GLM 5); False: the KV type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurrentState:
    """A fixed state per sequence: convolution columns and a recurrent matrix (Mamba, DeltaNet, KDA, linear, RWKV)."""

    mixer: Literal["mamba1", "mamba2", "gated_delta", "kda", "linear", "short_conv", "rwkv", "local_filter"]
    conv_channels: int = 0
    """Convolution channels that are split evenly over tensor-parallel ranks."""
    conv_groups: int = 0
    """Mamba-2 B/C groups; padded up to a multiple of the ranks."""
    conv_channels_per_group: int = 0
    conv_columns: int = 0
    """Past inputs kept per channel: kernel - 1."""
    heads: int = 0
    """Recurrent heads, split over ranks."""
    values_per_head: int = 0
    conv_dtype: StateDtype = "model"
    recurrent_dtype: StateDtype = "model"
    flash_kda: bool = False
    """KDA with a bounded gate, for which vLLM picks its fused kernel on Hopper and newer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossAttention:
    """Keys and values of an encoder's output or an image: fixed per request, nothing per generated token."""

    kv_heads: int
    key_dim: int
    value_dim: int
    encoder_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedAttention:
    """A DeepSeek-V4 layer: a sliding window, and with ``ratio`` > 0 one record per ``ratio`` tokens besides."""

    head_dim: int
    rope_dim: int
    window_tokens: int
    ratio: int
    """Tokens per compressed record; 0: window only."""
    index_key_dim: int = 0
    """Indexer key beside each compressed record; 0 where the layer has none."""

    @property
    def packed_record_bytes(self) -> int:
        """fp8 values, rotary part in bf16, one scale byte per 64 values padded to 8 (vLLM flashmla_sparse.py:89-97)."""
        plain = self.head_dim - self.rope_dim
        scales = -(-(plain // 64) // 8) * 8
        return plain + 2 * self.rope_dim + scales

    @property
    def state_bytes(self) -> int:
        """fp32 compressor states (vLLM ``models/deepseek_v4/compressor.py:143-197``)."""
        if not self.ratio:
            return 0
        overlap = 2 if self.ratio == 4 else 1  # ratio-4 records overlap their neighbours: twice the tokens and widths
        return overlap * self.ratio * 2 * overlap * (self.head_dim + self.index_key_dim) * 4


LayerCache = (
    FullAttention
    | SlidingWindow
    | ChunkedAttention
    | LatentAttention
    | IndexerKeys
    | RecurrentState
    | CrossAttention
    | CompressedAttention
)

Layer = tuple[LayerCache, ...]
"""All that one layer stores; empty where it stores nothing (an MLP, or a layer that reads another layer's cache)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """Bytes per token that stop growing at a limit."""

    kind: Literal["window", "chunk"]
    limit_tokens: int
    bytes_per_token: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Bytes of one sequence's state as a function of its length."""

    growing_bytes_per_token: Fraction
    limited: tuple[Limit, ...]
    """One entry per (kind, limit), sorted by limit."""
    state_bytes: int
    cross_bytes: Fraction

    def bytes_at(self, tokens: int) -> Fraction:
        """Bytes of one sequence of ``tokens`` tokens; exact, so a fraction for packed layouts."""
        limited = sum((m.bytes_per_token * min(tokens, m.limit_tokens) for m in self.limited), Fraction(0))
        return self.growing_bytes_per_token * tokens + limited + self.state_bytes + self.cross_bytes


def token_bytes(cache: LayerCache, dtype: KvDtype, *, heads: int | None = None) -> Fraction:
    """Bytes of one token in one layer, within the layer's limit; 0 where nothing is kept by the token.

    ``heads``: KV heads that are counted where a cache has any; None: all.
    """
    match cache:
        case FullAttention() | SlidingWindow() | ChunkedAttention() | CrossAttention():
            counted = cache.kv_heads if heads is None else heads
            return counted * (dtype.vector_bytes(cache.key_dim) + dtype.values.vector_bytes(cache.value_dim))
        case LatentAttention():
            return dtype.latent_bytes(cache.latent_dim, cache.rope_dim)
        case IndexerKeys():
            return Fraction(indexer_key_bytes(cache.key_dim)) if cache.packed else dtype.vector_bytes(cache.key_dim)
        case RecurrentState() | CompressedAttention():
            return Fraction(0)
        case _:
            assert_never(cache)


def record_bytes(cache: CompressedAttention, dtype: KvDtype) -> tuple[Fraction, Fraction]:
    """Bytes of one record and of the indexer key beside it: packed, or where an engine does not pack them, values."""
    if dtype.packs_records:
        key = indexer_key_bytes(cache.index_key_dim) if cache.index_key_dim else 0
        return Fraction(cache.packed_record_bytes), Fraction(key)
    return dtype.vector_bytes(cache.head_dim), dtype.vector_bytes(cache.index_key_dim)


def growing_bytes_per_token(cache: LayerCache, dtype: KvDtype) -> Fraction:
    """Bytes each further token adds without end (0 for windows and states)."""
    match cache:
        case FullAttention() | LatentAttention() | IndexerKeys():
            return token_bytes(cache, dtype)
        case SlidingWindow():
            return Fraction(0) if cache.limits else token_bytes(cache, dtype)
        case CompressedAttention():
            if not cache.ratio:
                return Fraction(0)
            return sum(record_bytes(cache, dtype), Fraction(0)) / cache.ratio
        case ChunkedAttention() | RecurrentState() | CrossAttention():
            return Fraction(0)
        case _:
            assert_never(cache)


def limit_of(cache: LayerCache, dtype: KvDtype) -> Limit | None:
    """The part of ``cache`` that saturates, if it has one."""
    match cache:
        case SlidingWindow() if cache.limits:
            return Limit(kind="window", limit_tokens=cache.window_tokens, bytes_per_token=token_bytes(cache, dtype))
        case ChunkedAttention():
            return Limit(kind="chunk", limit_tokens=cache.chunk_tokens, bytes_per_token=token_bytes(cache, dtype))
        case CompressedAttention():
            record, _ = record_bytes(cache, dtype)
            return Limit(kind="window", limit_tokens=cache.window_tokens, bytes_per_token=record)
        case _:
            return None


def state_bytes(cache: LayerCache) -> int:
    """Bytes of a recurrent, convolution or compressor state, whole model on one GPU."""
    match cache:
        case RecurrentState():
            conv, recurrent = state_values(cache)
            return conv * STATE_VALUE_BYTES[cache.conv_dtype] + recurrent * STATE_VALUE_BYTES[cache.recurrent_dtype]
        case CompressedAttention():
            return cache.state_bytes
        case _:
            return 0


def state_values(state: RecurrentState) -> tuple[int, int]:
    """Convolution and recurrent values of one sequence."""
    channels = state.conv_channels + state.conv_groups * state.conv_channels_per_group
    return channels * state.conv_columns, state.heads * state.values_per_head


def cross_bytes(cache: LayerCache, dtype: KvDtype) -> Fraction:
    """Bytes of an encoder's or image's keys and values, fixed per request."""
    return cache.encoder_tokens * token_bytes(cache, dtype) if isinstance(cache, CrossAttention) else Fraction(0)


def content(layers: tuple[Layer, ...], dtype: KvDtype) -> Content:
    """The content of one sequence over ``layers``, before any split over GPUs."""
    caches = Counter(cache for layer in layers for cache in layer)  # many layers, few kinds
    limits: dict[tuple[int, Literal["window", "chunk"]], Fraction] = {}
    for cache, count in caches.items():
        if limit := limit_of(cache, dtype):
            key = (limit.limit_tokens, limit.kind)
            limits[key] = limits.get(key, Fraction(0)) + count * limit.bytes_per_token
    return Content(
        growing_bytes_per_token=sum((n * growing_bytes_per_token(c, dtype) for c, n in caches.items()), Fraction(0)),
        limited=tuple(
            Limit(kind=kind, limit_tokens=tokens, bytes_per_token=per_token)
            for (tokens, kind), per_token in sorted(limits.items())
        ),
        state_bytes=sum(n * state_bytes(c) for c, n in caches.items()),
        cross_bytes=sum((n * cross_bytes(c, dtype) for c, n in caches.items()), Fraction(0)),
    )


def kv_heads_of(cache: LayerCache) -> int:
    """Heads whose keys and values are stored; 0 where a cache is none of heads."""
    if isinstance(cache, FullAttention | SlidingWindow | ChunkedAttention | CrossAttention):
        return cache.kv_heads
    return 0


def with_kv_heads(layers: tuple[Layer, ...], change: Callable[[int], int]) -> tuple[Layer, ...]:
    """The same layers with other KV heads: what sharing decides when a model is made."""
    changed: dict[LayerCache, LayerCache] = {}
    for cache in {cache for layer in layers for cache in layer}:
        if isinstance(cache, FullAttention | SlidingWindow | ChunkedAttention | CrossAttention):
            changed[cache] = replace(cache, kv_heads=change(cache.kv_heads))
    return tuple(tuple(changed.get(cache, cache) for cache in layer) for layer in layers)


def layer_bytes(layer: Layer, tokens: int, dtype: KvDtype) -> Fraction:
    """Bytes one layer keeps for one sequence of ``tokens`` tokens."""
    return content((layer,), dtype).bytes_at(tokens)


def letter(layer: Layer) -> str:
    """One letter for the kind of layer, as in ``kvviz size --json``.

    f full, l latent, F and L the same with indexer keys, w window, c chunk, s state, b state and full attention, x
    cross only, X full and cross, H and h compressed with ratio 4 and with another ratio, ``.`` nothing stored.
    """
    kinds = {type(cache) for cache in layer}
    compressed = next((c for c in layer if isinstance(c, CompressedAttention)), None)
    if compressed is not None:
        return {0: "w", 4: "H"}.get(compressed.ratio, "h")
    if LatentAttention in kinds:
        return "L" if IndexerKeys in kinds else "l"
    full = FullAttention in kinds or any(isinstance(c, SlidingWindow) and not c.limits for c in layer)
    if full:
        if RecurrentState in kinds:
            return "b"
        if CrossAttention in kinds:
            return "X"
        return "F" if IndexerKeys in kinds else "f"
    for kind, code in ((SlidingWindow, "w"), (ChunkedAttention, "c"), (RecurrentState, "s"), (CrossAttention, "x")):
        if kind in kinds:
            return code
    return "."


def indexer_key_bytes(key_dim: int) -> int:
    """fp8 key and its fp32 scales: 132 bytes for 128 values."""
    return key_dim + 4 * (-(-key_dim // INDEXER_SCALE_BLOCK))
