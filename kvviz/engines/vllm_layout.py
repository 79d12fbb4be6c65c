"""How vLLM lays out the caches of one GPU: layers -> specs -> groups that share one pool of blocks.

Rules: ``v1/core/kv_cache_planning.py:346-605`` (pages made equal, groups), ``v1/kv_cache_interface.py:580-1230`` (what
one request is counted as), ``platforms/interface.py:940-1140`` (attention and state pages made equal),
``mamba_utils.py:154-330`` (states under tensor parallelism); all of 0.33.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Final, Literal, assert_never

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
from kvviz.engines.vllm_models import VERSION, stored_caches

Kind = Literal["full", "latent", "indexer", "window", "chunk", "state", "cross"]

DEFAULT_BLOCK_TOKENS = 16

_FUSED_PREFILL = frozenset({"hopper", "blackwell", "blackwell-rtx"})
"""Generations with FlashInfer's DeltaNet prefill and with FlashKDA (``qwen_gdn_linear_attn.py:148-174``,
``kimi_k3/nvidia/kda.py:486-530``)."""
_DELTA_CHECKPOINT_TOKENS = 64
_TAKEN_BACK = frozenset({"mamba2", "gated_delta", "kda"})
KEEPS_EVERY_TOKEN = frozenset({"full", "latent", "indexer"})

BACKENDS: Final[Mapping[str, tuple[int, frozenset[str] | None]]] = {
    "FLASH_ATTN_MLA": (16, frozenset({"hopper"})),
    "FLASHMLA": (64, frozenset({"hopper"})),
    "FLASHINFER_MLA": (32, frozenset({"blackwell"})),
    "CUTLASS_MLA": (128, frozenset({"blackwell"})),
    "TRITON_MLA": (16, None),
}
"""Attention backends of dense latents, as ``--attention-backend`` spells them: the smallest block in tokens, and the
generations it runs on (None: all). ``v1/attention/backends/mla``: flashattn_mla.py:49-70, flashmla.py:57-97,
flashinfer_mla.py:204-221, cutlass_mla.py:49-70, triton_mla.py:114-140."""
_FLASHINFER_NOPE_DIMS: Final = frozenset({64, 128, 192})
"""Widths of a head's part without rotation that FlashInfer's latent kernel takes (``flashinfer_mla.py:228-250``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What differs between versions of the planner."""

    latent_align_tokens: int
    """Blocks of hybrids with latents are a multiple of this (0.33: ``platforms/interface.py:1075-1085``)."""
    prefill_checkpoints: bool
    """Whether a prefill may leave a state of its own at a block boundary."""
    pads_pages: bool
    """Whether attention pages that do not divide the largest are padded, and windows beside latents can be kept at
    full length."""


RULES: Final[Mapping[str, Rules]] = {
    VERSION: Rules(latent_align_tokens=128, prefill_checkpoints=True, pads_pages=True),
    "0.20": Rules(latent_align_tokens=64, prefill_checkpoints=False, pads_pages=False),
}
"""0.20: ``v1/core/kv_cache_utils.py`` and ``v1/kv_cache_interface.py`` at 001cabc1be16, and public start-up logs."""


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
    states_held: int = 0
    """State blocks one request occupies while it decodes: one, and one for each token that is speculated on."""
    token_ranks: int = 1
    """GPUs over which decode context parallelism spreads the tokens; each keeps its share of every request."""

    @property
    def span_tokens(self) -> int:
        """Tokens of a request that one block stands for, over the GPUs that share them out."""
        return self.block_tokens * self.token_ranks

    def request_blocks(self, tokens: int, in_flight_tokens: int) -> int:
        """Blocks one request of at most ``tokens`` tokens is counted as (``kv_cache_interface.py:864-1230``)."""
        match self.kind:
            case "full" | "latent" | "indexer":
                return _blocks(tokens, self.span_tokens)
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
        all_blocks = _blocks(tokens, self.span_tokens)
        match self.kind:
            case "full" | "latent" | "indexer":
                return all_blocks
            case "window":
                return min(all_blocks, _blocks(self.limit_tokens - 1, self.block_tokens) + 1)
            case "chunk":
                return min(all_blocks, _blocks(self.limit_tokens, self.block_tokens))
            case "state":
                return self.states_held
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
    states_held: int = 0


Members = tuple[tuple[int, Spec], ...]
"""A group's caches: where each stands in the sequence of specs, and its spec with the page it ended with."""


def kernel_block_tokens(
    architecture: Architecture, kv_dtype: KvDtype, generation: str, backend: str | None = None
) -> int:
    """Tokens a block must be a multiple of: what the attention backend that vLLM picks needs (``cuda.py:86-178``).

    The smallest size the backend takes where 16 is none of them (``v1/attention/backend.py:155-163``). ``backend``:
    one of ``backends`` that is asked for.
    """
    caches = stored_caches(architecture)
    if indexers := [c for c in caches if isinstance(c, IndexerKeys)]:
        return 64 if any(c.packed for c in indexers) else 128
    picked = backend or next(iter(backends(architecture, kv_dtype, generation)), None)
    return BACKENDS[picked][0] if picked else DEFAULT_BLOCK_TOKENS


def backends(architecture: Architecture, kv_dtype: KvDtype, generation: str) -> tuple[str, ...]:
    """Backends that run this model's dense latents on such a GPU, the one vLLM takes first; none without latents."""
    caches = stored_caches(architecture)
    latents = [c for c in caches if isinstance(c, LatentAttention)]
    if not latents or any(isinstance(c, IndexerKeys) for c in caches):
        return ()
    order = ("FLASHINFER_MLA", "CUTLASS_MLA", "FLASH_ATTN_MLA", "FLASHMLA", "TRITON_MLA")
    nope_dims = {c.head_key_dim - c.rope_dim for c in latents if c.head_key_dim}
    refused = {name for name in order if (on := BACKENDS[name][1]) is not None and generation not in on}
    if not nope_dims <= _FLASHINFER_NOPE_DIMS:
        refused.add("FLASHINFER_MLA")
    if kv_dtype.quantised:  # flashattn_mla.py:42-46
        refused.add("FLASH_ATTN_MLA")
    return tuple(name for name in order if name not in refused)


def specs(
    caches: Sequence[LayerCache],
    *,
    kv_dtype: KvDtype,
    tp: int,
    block_tokens: int,
    kernel_tokens: int,
    prefix_caching: bool,
    generation: str,
    rules: Rules,
    draft_tokens: int = 0,
) -> tuple[tuple[Spec, ...], int]:
    """``caches`` on one of ``tp`` GPUs, state pages already padded, and the block size in tokens they ended with.

    ``draft_tokens``: tokens that are speculated on at once; a state must be taken back to before any of them.
    """
    states = [c for c in caches if isinstance(c, RecurrentState)]
    attention = [c for c in caches if not isinstance(c, RecurrentState)]
    # Models without attention have prefix caching off by default: one state a request.
    checkpoints = rules.prefill_checkpoints and all(_exports_checkpoints(s, generation) for s in states)
    # The live state; the one being written, and one a prefill leaves at a block boundary where it can.
    counted = 1 + (1 + checkpoints if prefix_caching and attention else 0) + draft_tokens
    page_of_state = [state_page_bytes(s, tp, draft_tokens) for s in states]
    block, padded = block_tokens, 0
    if states and attention:
        per_token = max(_gpu_token_bytes(c, kv_dtype, tp) for c in attention if not isinstance(c, IndexerKeys))
        latent = any(isinstance(c, LatentAttention) for c in attention)
        align = max(kernel_tokens, block_tokens, rules.latent_align_tokens if latent else 0)
        if prefix_caching and checkpoints and any(s.mixer == "gated_delta" for s in states):
            align = lcm(align, _DELTA_CHECKPOINT_TOKENS)
        needed = align * _ceil(Fraction(max(page_of_state)) / (align * per_token))
        block = max(block, kernel_tokens * _blocks(needed, kernel_tokens))
        padded = _ceil(block * per_token)
    made: list[Spec] = []
    for cache in caches:
        if isinstance(cache, RecurrentState):
            page = max(state_page_bytes(cache, tp, draft_tokens), padded)
            counts = {"states_counted": counted, "states_held": 1 + draft_tokens}
            made.append(Spec(kind="state", shape=(), block_tokens=block, page_bytes=page, **counts))
        else:
            made.append(_attention_spec(cache, kv_dtype, tp, block))
    return tuple(made), block


def full_length(of: Sequence[Spec]) -> tuple[Spec, ...]:
    """The same caches with every window and chunk at full length."""
    return tuple(replace(s, kind="full", limit_tokens=0) if s.kind in ("window", "chunk") else s for s in of)


def without_hybrid_manager(of: Sequence[Spec]) -> tuple[Spec, ...] | None:
    """The same caches with ``--disable-hybrid-kv-cache-manager``; None where vLLM does not start with it.

    Windows and chunks beside layers that keep every token are kept at full length, if they are of one length; what is
    of one kind stays as it is (``kv_cache_planning.py:744-878``, ``kv_cache_interface.py:650-660``).
    """
    if _keeps_alike(of):
        return tuple(of)
    kept = full_length(of)
    beside = any(s.kind in KEEPS_EVERY_TOKEN for s in of)
    lengths = [len({s.limit_tokens for s in of if s.kind == kind}) for kind in ("window", "chunk")]
    refused = any(s.kind == "full" for s in of) and max(lengths) > 1
    return kept if beside and not refused and _keeps_alike(kept) else None


def assign(of: Sequence[Spec], rules: Rules) -> tuple[Members, ...] | None:
    """How caches are put into groups.

    None where pages can neither be made equal nor go without (``kv_cache_planning.py:346-408, 831-870``).
    """
    if _keeps_alike(of):
        return (tuple(enumerate(of)),)
    paged = _equal_pages(of, rules)
    if paged is None:  # latent pages take no padding: windows, but not chunks, beside them are kept at full length
        kept = full_length(of)
        fall_back = rules.pads_pages and _keeps_alike(kept) and all(s.kind != "chunk" for s in of)
        return (tuple(enumerate(kept)),) if fall_back else None
    buckets: dict[Spec, list[int]] = {}
    for index, spec in enumerate(paged):
        buckets.setdefault(spec, []).append(index)
    fewest, most = min(map(len, buckets.values())), max(map(len, buckets.values()))
    size = most if 2 * most < 3 * fewest else fewest
    made: list[Members] = []
    for spec, indexes in buckets.items():
        count = _blocks(len(indexes), size)  # every count-th layer, so that pipeline stages have equal shares
        made += [tuple((index, spec) for index in indexes[i::count]) for i in range(count)]
    return tuple(made)


def group_of(members: Members, token_ranks: int = 1) -> Group:
    """The group that these caches are, over all stages."""
    of = [spec for _, spec in members]
    widest = max(of, key=lambda s: s.page_bytes)
    return Group(
        kind=widest.kind,
        layers=len(of),
        block_tokens=widest.block_tokens,
        page_bytes=widest.page_bytes,
        block_bytes=sum(s.page_bytes for s in of),
        limit_tokens=widest.limit_tokens,
        states_counted=widest.states_counted,
        states_held=widest.states_held,
        token_ranks=token_ranks if widest.kind in KEEPS_EVERY_TOKEN else 1,
    )


def stage_block_bytes(groups: Sequence[Members], stages: Sequence[int]) -> tuple[int, ...]:
    """One block of the pool on each stage, as large as the group needs that has most there.

    ``stages``: the stage of each cache. A stage keeps its own layers of every group
    (``kv_cache_planning.py:574-605, 1413-1458``).
    """

    def of(stage: int) -> int:
        return max(sum(spec.page_bytes for index, spec in group if stages[index] == stage) for group in groups)

    return tuple(of(stage) for stage in range(max(stages) + 1))


def _keeps_alike(of: Sequence[Spec]) -> bool:
    """True where one block table serves all layers: each needs the same slots, whatever their widths."""
    first = of[0]
    if any(s.block_tokens != first.block_tokens for s in of):
        return False
    if first.kind in KEEPS_EVERY_TOKEN:
        return all(s.kind in KEEPS_EVERY_TOKEN for s in of)
    alike = all(s.kind == first.kind and s.limit_tokens == first.limit_tokens for s in of)
    return alike and (first.kind != "state" or all(s.page_bytes == first.page_bytes for s in of))


def _equal_pages(of: Sequence[Spec], rules: Rules) -> tuple[Spec, ...] | None:
    """Pages of one size: larger blocks where the sizes divide, padding where they do not; None where neither can be."""
    largest = max(s.page_bytes for s in of)
    made: list[Spec] = []
    for spec in of:
        if spec.kind == "state" or spec.page_bytes == largest:
            made.append(replace(spec, page_bytes=largest))
        elif largest % spec.page_bytes == 0:
            block = spec.block_tokens * (largest // spec.page_bytes)
            made.append(replace(spec, page_bytes=largest, block_tokens=block))
        elif spec.kind in ("latent", "indexer") or not rules.pads_pages:
            return None
        else:
            made.append(replace(spec, page_bytes=largest))
    return tuple(made)


@lru_cache(maxsize=4096)
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


def state_page_bytes(state: RecurrentState, tp: int, draft_tokens: int = 0) -> int:
    """One state on one GPU; convolutions that can be taken back keep a column for each token speculated on."""
    groups = state.conv_groups
    if groups % tp:  # each GPU needs the group its heads read: groups are copied up to one a GPU
        groups = max(groups, tp)
    channels = state.conv_channels + groups * state.conv_channels_per_group
    columns = state.conv_columns + (draft_tokens if state.mixer in _TAKEN_BACK else 0)
    conv = channels // tp * columns * STATE_VALUE_BYTES[state.conv_dtype]
    return conv + state.heads // tp * state.values_per_head * STATE_VALUE_BYTES[state.recurrent_dtype]


def _exports_checkpoints(state: RecurrentState, generation: str) -> bool:
    if state.mixer == "mamba2":
        return True
    fused = generation in _FUSED_PREFILL
    return fused and (state.mixer == "gated_delta" or (state.mixer == "kda" and state.flash_kda))


def _blocks(tokens: int, block_tokens: int) -> int:
    return -(-tokens // block_tokens)


def _ceil(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
