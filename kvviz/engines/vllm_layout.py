"""How vLLM 0.33 lays out the caches of one GPU: layers -> specs -> groups that share one pool of blocks.

Rules: ``v1/core/kv_cache_planning.py:346-605`` (pages made equal, groups), ``v1/kv_cache_interface.py:580-1230`` (what
one request is counted as), ``platforms/interface.py:940-1140`` (attention and state pages made equal),
``mamba_utils.py:154-330`` (states under tensor parallelism).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Literal, assert_never

from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    STATE_VALUE_BYTES,
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    LayerCache,
    RecurrentState,
    SlidingWindow,
    token_bytes,
)
from kvviz.core.dtypes import KvDtype
from kvviz.engines.vllm_models import stored_caches

Kind = Literal["full", "latent", "indexer", "window", "chunk", "state", "cross"]

DEFAULT_BLOCK_TOKENS = 16

_FUSED_PREFILL = frozenset({"hopper", "blackwell", "blackwell-rtx"})
"""Generations with FlashInfer's DeltaNet prefill and with FlashKDA (``qwen_gdn_linear_attn.py:148-174``,
``kimi_k3/nvidia/kda.py:486-530``)."""
_DELTA_CHECKPOINT_TOKENS = 64
_LATENT_HYBRID_ALIGN_TOKENS = 128
KEEPS_EVERY_TOKEN = frozenset({"full", "latent", "indexer"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Layers that share one block table. Every block of the pool can serve any group, one at a time."""

    kind: Kind
    """Of its layers; of the one with the largest page where they differ."""
    layers: int
    """Caches in the group (a layer's indexer keys count apart from its latent)."""
    block_tokens: int
    page_bytes: int
    """One block in one layer; the largest where layers differ."""
    block_bytes: int
    """One block over all layers of the group; the pool's blocks are as large as the largest group's."""
    limit_tokens: int = 0
    """Window, chunk or encoder length; 0 where there is none."""
    states_counted: int = 0
    """State blocks one request is counted as; 0 for other kinds."""

    def request_blocks(self, tokens: int, in_flight_tokens: int) -> int:
        """Blocks one request of at most ``tokens`` tokens is counted as (``kv_cache_interface.py:864-1230``)."""
        match self.kind:
            case "full" | "latent" | "indexer":
                return _blocks(tokens, self.block_tokens)
            case "window":  # what is scheduled but not settled is still held, and a window may begin inside a block
                return _blocks(min(self.limit_tokens - 1 + in_flight_tokens, tokens), self.block_tokens) + 1
            case "chunk":
                return _blocks(min(self.limit_tokens + in_flight_tokens, tokens), self.block_tokens)
            case "state":
                return self.states_counted
            case "cross":
                return _blocks(self.limit_tokens, self.block_tokens)
            case _:
                assert_never(self.kind)

    def held_blocks(self, tokens: int) -> int:
        """Blocks a request of ``tokens`` tokens occupies while it decodes.

        A window of W tokens touches at most ``ceil((W - 1) / block) + 1`` blocks, a request never more than
        ``ceil(tokens / block)``; one state is live, the others are for steps in flight and prefill checkpoints
        (``v1/core/single_type_kv_cache_manager.py:690-720``).
        """
        all_blocks = _blocks(tokens, self.block_tokens)
        match self.kind:
            case "full" | "latent" | "indexer":
                return all_blocks
            case "window":
                return min(all_blocks, _blocks(self.limit_tokens - 1, self.block_tokens) + 1)
            case "chunk":
                return min(all_blocks, _blocks(self.limit_tokens, self.block_tokens))
            case "state":
                return 1
            case "cross":
                return _blocks(self.limit_tokens, self.block_tokens)
            case _:
                assert_never(self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One cache of one layer on one GPU. Layers with equal specs share groups."""

    kind: Kind
    shape: tuple[int, ...]
    """Heads and widths: layers of one group agree in them, not only in the page they make."""
    block_tokens: int
    page_bytes: int
    limit_tokens: int = 0
    states_counted: int = 0


def kernel_block_tokens(architecture: Architecture, kv_dtype: KvDtype, generation: str) -> int:
    """Tokens a block must be a multiple of: what the attention backend that vLLM picks needs (``cuda.py:86-178``).

    The smallest size the backend takes where 16 is none of them (``v1/attention/backend.py:155-163``).
    """
    caches = stored_caches(architecture)
    if indexers := [c for c in caches if isinstance(c, IndexerKeys)]:
        return 64 if any(c.packed for c in indexers) else 128
    if any(isinstance(c, LatentAttention) for c in caches):
        if generation == "hopper":  # FlashMLA, and FlashAttention's MLA before it
            return 64 if kv_dtype.quantised else 16
        if generation == "blackwell":  # FlashInfer MLA takes 32 and 64 (mla/flashinfer_mla.py:204-205)
            return 32
    return DEFAULT_BLOCK_TOKENS


def specs(
    architecture: Architecture,
    *,
    kv_dtype: KvDtype,
    tp: int,
    block_tokens: int,
    kernel_tokens: int,
    prefix_caching: bool,
    generation: str,
) -> tuple[tuple[Spec, ...], int]:
    """The caches of one of ``tp`` GPUs, state pages already padded, and the block size in tokens they ended with."""
    caches = stored_caches(architecture)
    states = [c for c in caches if isinstance(c, RecurrentState)]
    attention = [c for c in caches if not isinstance(c, RecurrentState)]
    # Models without attention have prefix caching off by default: one state a request.
    counted = _states_counted(states, generation) if prefix_caching and attention else 1
    page_of_state = [_state_page_bytes(s, tp) for s in states]
    block, padded = block_tokens, 0
    if states and attention:
        per_token = max(_gpu_token_bytes(c, kv_dtype, tp) for c in attention if not isinstance(c, IndexerKeys))
        latent = any(isinstance(c, LatentAttention) for c in attention)
        align = max(kernel_tokens, block_tokens, _LATENT_HYBRID_ALIGN_TOKENS if latent else 0)
        if prefix_caching:
            align = lcm(align, _checkpoint_tokens(states, generation))
        needed = align * _ceil(Fraction(max(page_of_state)) / (align * per_token))
        block = max(block, kernel_tokens * _blocks(needed, kernel_tokens))
        padded = _ceil(block * per_token)
    made: list[Spec] = []
    for cache in caches:
        if isinstance(cache, RecurrentState):
            page = max(_state_page_bytes(cache, tp), padded)
            made.append(Spec(kind="state", shape=(), block_tokens=block, page_bytes=page, states_counted=counted))
        else:
            made.append(_attention_spec(cache, kv_dtype, tp, block))
    return tuple(made), block


def full_length(of: Sequence[Spec]) -> tuple[Spec, ...]:
    """The same caches with every window and chunk at full length, as without the hybrid cache manager."""
    return tuple(replace(s, kind="full", limit_tokens=0) if s.kind in ("window", "chunk") else s for s in of)


def groups(of: Sequence[Spec]) -> tuple[Group, ...] | None:
    """How layers are put into groups; the pool's block is as large as the largest group's.

    None where pages can neither be made equal nor go without (``kv_cache_planning.py:346-408, 831-870``).
    """
    if _keeps_alike(of):
        return (_group(of),)
    paged = _equal_pages(of)
    if paged is None:  # latent pages take no padding: windows, but not chunks, beside them are kept at full length
        kept = full_length(of)
        return (_group(kept),) if _keeps_alike(kept) and all(s.kind != "chunk" for s in of) else None
    buckets: dict[Spec, int] = {}
    for spec in paged:
        buckets[spec] = buckets.get(spec, 0) + 1
    fewest, most = min(buckets.values()), max(buckets.values())
    size = most if 2 * most < 3 * fewest else fewest
    made: list[Group] = []
    for spec, layers in buckets.items():
        count = _blocks(layers, size)
        made += [_group([spec] * ((layers - i + count - 1) // count)) for i in range(count)]
    return tuple(made)


def _keeps_alike(of: Sequence[Spec]) -> bool:
    """True where one block table serves all layers: each needs the same slots, whatever their widths."""
    first = of[0]
    if any(s.block_tokens != first.block_tokens for s in of):
        return False
    if first.kind in KEEPS_EVERY_TOKEN:
        return all(s.kind in KEEPS_EVERY_TOKEN for s in of)
    alike = all(s.kind == first.kind and s.limit_tokens == first.limit_tokens for s in of)
    return alike and (first.kind != "state" or all(s.page_bytes == first.page_bytes for s in of))


def _equal_pages(of: Sequence[Spec]) -> tuple[Spec, ...] | None:
    """Pages of one size: larger blocks where the sizes divide, padding where they do not; None where neither can be."""
    largest = max(s.page_bytes for s in of)
    made: list[Spec] = []
    for spec in of:
        if spec.kind == "state" or spec.page_bytes == largest:
            made.append(replace(spec, page_bytes=largest))
        elif largest % spec.page_bytes == 0:
            block = spec.block_tokens * (largest // spec.page_bytes)
            made.append(replace(spec, page_bytes=largest, block_tokens=block))
        elif spec.kind in ("latent", "indexer"):
            return None
        else:
            made.append(replace(spec, page_bytes=largest))
    return tuple(made)


def _group(of: Sequence[Spec]) -> Group:
    widest = max(of, key=lambda s: s.page_bytes)
    return Group(
        kind=widest.kind,
        layers=len(of),
        block_tokens=widest.block_tokens,
        page_bytes=widest.page_bytes,
        block_bytes=sum(s.page_bytes for s in of),
        limit_tokens=widest.limit_tokens,
        states_counted=widest.states_counted,
    )


def _attention_spec(cache: LayerCache, kv_dtype: KvDtype, tp: int, block_tokens: int) -> Spec:
    kind: Kind = "full"
    limit = 0
    match cache:
        case FullAttention() | SlidingWindow() | ChunkedAttention() | CrossAttention():
            shape: tuple[int, ...] = (gpu_heads(cache.kv_heads, tp), cache.key_dim, cache.value_dim)
            if isinstance(cache, SlidingWindow):
                kind, limit = "window", cache.window_tokens
            elif isinstance(cache, ChunkedAttention):
                kind, limit = "chunk", cache.chunk_tokens
            elif isinstance(cache, CrossAttention):
                kind, limit = "cross", cache.encoder_tokens
        case LatentAttention():
            kind, shape = "latent", (1, cache.latent_dim, cache.rope_dim)
        case IndexerKeys():
            kind, shape = "indexer", (1, cache.key_dim)
        case RecurrentState() | CompressedAttention():
            raise AssertionError(cache)
        case _:
            assert_never(cache)
    page_bytes = _ceil(block_tokens * _gpu_token_bytes(cache, kv_dtype, tp))
    return Spec(kind=kind, shape=shape, block_tokens=block_tokens, page_bytes=page_bytes, limit_tokens=limit)


def _gpu_token_bytes(cache: LayerCache, kv_dtype: KvDtype, tp: int) -> Fraction:
    """Bytes one token takes in one layer of one GPU; latents and indexer keys are one head and copied whole."""
    if isinstance(cache, FullAttention | SlidingWindow | ChunkedAttention | CrossAttention):
        return token_bytes(cache, kv_dtype, heads=gpu_heads(cache.kv_heads, tp))
    return token_bytes(cache, kv_dtype)


def gpu_heads(kv_heads: int, tp: int) -> int:
    """KV heads one of ``tp`` GPUs stores: split down to one a GPU, then copied (``config/model.py:1663-1683``)."""
    return max(1, kv_heads // tp)


def _state_page_bytes(state: RecurrentState, tp: int) -> int:
    groups = state.conv_groups
    if groups % tp:  # each GPU needs the group its heads read: groups are copied up to one a GPU
        groups = max(groups, tp)
    channels = state.conv_channels + groups * state.conv_channels_per_group
    conv = channels // tp * state.conv_columns * STATE_VALUE_BYTES[state.conv_dtype]
    return conv + state.heads // tp * state.values_per_head * STATE_VALUE_BYTES[state.recurrent_dtype]


def _exports_checkpoints(state: RecurrentState, generation: str) -> bool:
    if state.mixer == "mamba2":
        return True
    fused = generation in _FUSED_PREFILL
    return fused and (state.mixer == "gated_delta" or (state.mixer == "kda" and state.flash_kda))


def _states_counted(states: Sequence[RecurrentState], generation: str) -> int:
    """The live state and the one being written, and one a prefill leaves at a block boundary where it can."""
    return 2 + (bool(states) and all(_exports_checkpoints(s, generation) for s in states))


def _checkpoint_tokens(states: Sequence[RecurrentState], generation: str) -> int:
    if not all(_exports_checkpoints(s, generation) for s in states):
        return 1
    return _DELTA_CHECKPOINT_TOKENS if any(s.mixer == "gated_delta" for s in states) else 1


def _blocks(tokens: int, block_tokens: int) -> int:
    return -(-tokens // block_tokens)


def _ceil(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
