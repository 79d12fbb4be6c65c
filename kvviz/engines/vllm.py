"""What vLLM sets aside for a model's cache on the GPUs of one engine: 0.33, and two older states of its rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, lcm
from typing import Final

from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    Layer,
    LayerCache,
    RecurrentState,
    SlidingWindow,
)
from kvviz.core.dtypes import KV_DTYPES, KvDtype
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.identity import ByIdentity
from kvviz.core.parallel import pipeline
from kvviz.core.units import GIB
from kvviz.devices import Device
from kvviz.engines.vllm_kernels import WITHOUT_BF16, WITHOUT_NATIVE_FP8, has_kernel
from kvviz.engines.vllm_layout import (
    DEFAULT_BLOCK_TOKENS,
    KEEPS_EVERY_TOKEN,
    RULES,
    Group,
    Members,
    assign,
    backends,
    full_length,
    group_of,
    kernel_block_tokens,
    specs,
    stage_block_bytes,
    state_page_bytes,
    without_hybrid_manager,
)
from kvviz.engines.vllm_models import (
    V0,
    VERSION,
    class_of,
    engine_of,
    not_run,
    runs_in_stages,
    stored_caches,
    stored_layer,
)
from kvviz.text import Message
from kvviz.text import engine as text

__all__ = [
    "CONCURRENT_BATCHES",
    "DEFAULT_BLOCK_TOKENS",
    "DEFAULT_IN_FLIGHT_TOKENS",
    "DEFAULT_MEMORY_FRACTION",
    "SWAP_BYTES",
    "VERSION",
    "VERSIONS",
    "Group",
    "Stage",
    "VllmPlan",
    "backends",
    "check_blocks",
    "check_dcp",
    "check_tp",
    "concurrent_batches",
    "dcp_sizes",
    "default_batched_sequences",
    "default_batched_tokens",
    "default_dtype",
    "default_memory_fraction",
    "needs_expert_parallel",
    "not_run",
    "offers",
    "plan",
    "runs_in",
    "runs_on",
    "stored_caches",
    "stored_dtype",
    "tp_sizes",
    "usable_dtypes",
]

DEFAULT_MEMORY_FRACTION: Final[Mapping[str, float]] = {VERSION: 0.92, "0.20": 0.90, V0: 0.90}
"""By version (0.33: ``config/cache.py:215``)."""
VERSIONS: Final = tuple(DEFAULT_MEMORY_FRACTION)
"""Versions there are rules for. ``v0``: the engine before 0.8, which kept every attention layer at full length."""
SWAP_BYTES: Final = 4 * GIB
"""``--swap-space`` of V0 where it is not given: each GPU's blocks in the computer's memory ("# CPU blocks") are this
over the bytes of a block."""
CONCURRENT_BATCHES = 2
"""Of 0.33 on one pipeline stage."""
DEFAULT_IN_FLIGHT_TOKENS = 16_384
"""Without a GPU: what an 80 GB Hopper server ends up with, 2 x 8,192."""
MAX_TP = 64
"""Largest tensor-parallel size that is suggested."""
_V0_KERNEL_TOKENS: Final = 8
"""Smallest ``--block-size`` of V0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One pipeline stage: ``tp`` GPUs, which are alike."""

    first_layer: int
    """Its first entry of ``Architecture.layers``."""
    layers: int
    """Entries of the model it has; draft layers, all on the last stage, are not counted."""
    pool_block_bytes: int
    """One block of the pool on each of its GPUs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmPlan:
    """The pool's blocks and what a request takes of them.

    A block has the same number on every GPU, and as many bytes as that GPU's own layers need: the GPUs of a stage are
    alike, stages may differ. What is said of "one GPU" is about one of the fullest stage.
    """

    version: str
    """One of ``VERSIONS``."""
    tp: int
    """GPUs that share each layer's heads."""
    pp: int
    """Pipeline stages, ``tp`` GPUs each."""
    dcp: int
    """GPUs of a stage that share each request's tokens (decode context parallelism); 1: none do."""
    kv_dtype: KvDtype
    """What is stored: the chosen type, or the layout this engine turns it into."""
    block_tokens: int
    """Tokens per block as vLLM configures it; a group whose pages are smaller has larger blocks."""
    pool_block_bytes: int
    """One block of the pool on one GPU, which any group can use: as large as the largest group needs."""
    groups: tuple[Group, ...]
    """Groups are formed over the layers of all stages; each GPU has its stage's layers of every group."""
    stages: tuple[Stage, ...]
    in_flight_tokens: int
    prefix_caching: bool
    full_length_groups: tuple[Group, ...]
    """The groups there would be with every window and chunk at full length."""
    full_length_block_bytes: int
    """One block of the pool on one GPU with those."""
    state_slot_bytes: int
    """States that V0 kept outside the pool, per request and GPU, for as many requests as may run at once
    (``--max-num-seqs``); 0 elsewhere, where states have pages in the pool."""

    @property
    def gpus(self) -> int:
        """GPUs of one engine."""
        return self.tp * self.pp

    def request_blocks(self, tokens: int) -> int:
        """Pool blocks one request is counted as where ``tokens`` is the longest length."""
        return sum(g.request_blocks(tokens, self.in_flight_tokens) for g in self.groups)

    def request_bytes(self, tokens: int) -> int:
        """Bytes of those blocks: the pool divided by this is vLLM's maximum concurrency."""
        return self.request_blocks(tokens) * self.pool_block_bytes

    def held_blocks(self, tokens: int) -> int:
        """Pool blocks a request of ``tokens`` tokens occupies while it decodes."""
        return sum(g.held_blocks(tokens) for g in self.groups)

    def held_bytes(self, tokens: int) -> int:
        """Bytes of those blocks."""
        return self.held_blocks(tokens) * self.pool_block_bytes

    def shared_blocks(self, tokens: int) -> int:
        """Pool blocks that requests which begin with the same ``tokens`` tokens have in common, by prefix caching.

        Only of groups that keep every token: such a block stays in the table of every request to its end. Blocks that
        a window or chunk has left are given back, and a state is written on by each request: those are not counted as
        shared. Hits are full blocks, and end where blocks of all groups end (``v1/core/kv_cache_utils.py:860-863``).
        Encoder-decoder models have no prefix caching (``config/model.py:2286-2288``).
        """
        if tokens <= 0 or not self.prefix_caching or any(g.kind == "cross" for g in self.groups):
            return 0
        hit = tokens - tokens % lcm(*(g.span_tokens for g in self.groups))
        return sum(hit // g.span_tokens for g in self.groups if g.kind in KEEPS_EVERY_TOKEN)

    def shared_bytes(self, tokens: int) -> int:
        """Bytes of those blocks on one GPU."""
        return self.shared_blocks(tokens) * self.pool_block_bytes

    def request_bytes_windows_ignored(self, tokens: int) -> int:
        """``request_bytes`` with every attention layer at full length (``--disable-hybrid-kv-cache-manager``)."""
        blocks = sum(g.request_blocks(tokens, self.in_flight_tokens) for g in self.full_length_groups)
        return blocks * self.full_length_block_bytes

    def per_gpu_request_bytes(self, tokens: int) -> tuple[int, ...]:
        """What a request is counted as on each GPU of the engine, stage by stage."""
        blocks = self.request_blocks(tokens)
        return tuple(blocks * stage.pool_block_bytes for stage in self.stages for _ in range(self.tp))

    def need_bytes(self, requests: int, tokens: int, shared_tokens: int = 0) -> int:
        """The pool one GPU needs for so many requests of ``tokens`` at once that begin with the same tokens."""
        if not requests:
            return 0
        shared = self._shared(tokens, shared_tokens)
        return (shared + requests * (self.request_blocks(tokens) - shared)) * self.pool_block_bytes

    def fit(self, pool_bytes: int, tokens: int, shared_tokens: int = 0) -> int:
        """Most requests of ``tokens`` at once in so many bytes on one GPU: those that requests can be given, without
        the null block.

        "Maximum concurrency" in the log divides all blocks of the pool (``start_log``), the null block too.
        """
        return self._fit(pool_bytes, self.request_blocks(tokens), self._shared(tokens, shared_tokens))

    def fit_held(self, pool_bytes: int, tokens: int, shared_tokens: int = 0) -> int:
        """The same where every request is in steady decode."""
        return self._fit(pool_bytes, self.held_blocks(tokens), self._shared(tokens, shared_tokens))

    def _fit(self, pool_bytes: int, request: int, shared: int) -> int:
        return max(0, (pool_bytes // self.pool_block_bytes - shared) // (request - shared))

    def _shared(self, tokens: int, shared_tokens: int) -> int:
        """Blocks of a request that others have too: its last token is computed again."""
        return self.shared_blocks(min(shared_tokens, tokens - 1))

    def blocks_of_ranks(self, available_bytes: Sequence[int]) -> int:
        """Blocks of the pool where each GPU, stage by stage, has so much for it: the smallest decides for all
        (``kv_cache_planning.py:1575-1600``)."""
        blocks = [stage.pool_block_bytes for stage in self.stages for _ in range(self.tp)]
        return min(max(0, available // block) for available, block in zip(available_bytes, blocks, strict=True))

    def start_log(self, pool_blocks: int, longest_tokens: int) -> tuple[float, int]:
        """What the engine logs of its pool at start: "Maximum concurrency", and "GPU KV cache size" in tokens.

        In floats, as it computes them (``v1/core/kv_cache_utils.py:1061-1154``), so that the last digit agrees too.
        Up to 0.20 the tokens were those of one group's equal share of the blocks; V0 had one group.
        """
        if self.version == V0:
            size = pool_blocks * self.block_tokens
            return size / longest_tokens, size
        concurrency = pool_blocks / self.request_blocks(longest_tokens)
        if self.version == VERSION:
            return concurrency, int(concurrency * longest_tokens)
        finest = min(g.block_tokens for g in self.groups)
        return concurrency, pool_blocks // len(self.groups) * finest * self.dcp

    def longest_request(self, pool_blocks: int) -> int | None:
        """Longest request that a pool of ``pool_blocks`` blocks can be started with; None where no length is too long.

        The null block is not for it (``kv_cache_planning.py:1533-1560``). 0: not even one token.
        """
        return _longest(self, pool_blocks - self.null_blocks)

    @property
    def null_blocks(self) -> int:
        """Blocks of the pool that no request is ever given: one that stands for what a table leaves out, taken from the
        free ones at start (``v1/core/block_pool.py:186-192``). V0 had none.
        """
        return int(self.version != V0)

    def longest_in(self, pool_bytes: int) -> int | None:
        """Longest request in so many bytes on one GPU that requests can be given, as in ``fit``."""
        return _longest(self, pool_bytes // self.pool_block_bytes)


@lru_cache(maxsize=1024)
def _longest(of: VllmPlan, blocks: int) -> int | None:
    if of.request_blocks(1) > blocks:
        return 0
    low, high = 1, max(2, blocks * max(g.span_tokens for g in of.groups) + 1)
    if of.request_blocks(high) <= blocks:  # only what stops growing: windows, chunks, states
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if of.request_blocks(middle) <= blocks else (low, middle)
    return low


def plan(
    architecture: Architecture,
    *,
    kv_dtype: KvDtype,
    tp: int = 1,
    pp: int = 1,
    dcp: int = 1,
    block_tokens: int | None = None,
    in_flight_tokens: int = DEFAULT_IN_FLIGHT_TOKENS,
    prefix_caching: bool = True,
    full_windows: bool = False,
    draft_layers: int = 0,
    draft_tokens: int = 0,
    version: str = VERSION,
    backend: str | None = None,
    gpu_generation: str = "hopper",
) -> VllmPlan:
    """The plan of one engine on ``tp`` x ``pp`` GPUs; engines side by side have a plan each.

    ``in_flight_tokens``: ``concurrent_batches`` times ``--max-num-batched-tokens``. ``full_windows``: the hybrid cache
    manager is off. ``draft_layers``: layers of an MTP or EAGLE draft, assumed to be like the model's last layer that
    keeps every token (a hybrid's draft has no states) and to lie on the last stage; chunks are kept at full length
    beside it. ``draft_tokens``: tokens it proposes at once, for which states are kept apart; windows that drafts of
    several layers extend by a few tokens are not. ``backend``: an attention backend for dense latents other than the
    one vLLM takes.

    Raises ScenarioError for settings that cannot be, and KvvizError where vLLM runs no such model: ``not_run`` knows
    most of those beforehand.
    """
    if version not in VERSIONS:
        values: dict[str, object] = {"version": version, "versions": ", ".join(VERSIONS)}
        raise ScenarioError(Message(text.UNKNOWN_VERSION, values), field="engine_version")
    if not offers(kv_dtype):
        values = {"dtype": kv_dtype.name, "engines": ", ".join(sorted(kv_dtype.engines))}
        raise KvvizError(Message(text.DTYPE_OF_ANOTHER_ENGINE, values), code="kv-dtype-of-another-engine")
    if missing := not_run(architecture, version):
        raise KvvizError(missing.message, code=missing.code)
    return _plan(
        ByIdentity(architecture),
        kv_dtype,
        tp,
        pp,
        dcp,
        block_tokens,
        in_flight_tokens,
        prefix_caching,
        full_windows,
        draft_layers,
        draft_tokens,
        version,
        backend,
        gpu_generation,
    )


@lru_cache(maxsize=1024)
def _plan(
    key: ByIdentity[Architecture],
    kv_dtype: KvDtype,
    tp: int,
    pp: int,
    dcp: int,
    block_tokens: int | None,
    in_flight_tokens: int,
    prefix_caching: bool,
    full_windows: bool,
    draft_layers: int,
    draft_tokens: int,
    version: str,
    backend: str | None,
    generation: str,
) -> VllmPlan:
    architecture = key.value
    check_tp(architecture, tp)
    check_dcp(architecture, tp, dcp, version=version)
    stored = stored_dtype(architecture, kv_dtype, generation)
    if backend is not None and backend not in (known := backends(architecture, stored, generation)):
        values = {"backend": backend, "choices": ", ".join(known) or "-"}
        raise ScenarioError(Message(text.BACKEND_NOT_HERE, values), field="backend")
    kernel = _V0_KERNEL_TOKENS if version == V0 else kernel_block_tokens(architecture, stored, generation, backend)
    if block_tokens is not None and block_tokens % kernel:
        raise ScenarioError(
            Message(text.BLOCK_NOT_MULTIPLE, {"block": block_tokens, "kernel": kernel}), field="block_tokens"
        )
    cut = pipeline(architecture, pp, remainder="middle")
    layers = [stored_layer(layer) for layer in architecture.layers]
    apart = 0
    if version == V0:  # states lay in tensors of their own
        states = [sum(state_page_bytes(c, tp) for c in layer if isinstance(c, RecurrentState)) for layer in layers]
        apart = max(sum(states[part.start : part.stop]) for part in cut)
        layers = [tuple(c for c in layer if not isinstance(c, RecurrentState)) for layer in layers]
    if pp > 1:
        _check_stages(architecture, layers, pp)
    drafts = _draft_layer(layers) * draft_layers if draft_layers else ()
    caches = [cache for layer in layers for cache in layer] + list(drafts)
    stage_of = [stage for stage, part in enumerate(cut) for index in part for _ in layers[index]]
    stage_of += [pp - 1] * len(drafts)
    rules = RULES.get(version, RULES[VERSION])
    made, block = specs(
        caches,
        kv_dtype=stored,
        tp=tp,
        block_tokens=block_tokens or max(DEFAULT_BLOCK_TOKENS, kernel),
        kernel_tokens=kernel,
        prefix_caching=prefix_caching,
        generation=generation,
        rules=rules,
        draft_tokens=draft_tokens,
    )
    whole = full_length(made)
    if version == V0:
        made = whole
    elif full_windows or (drafts and any(isinstance(c, ChunkedAttention) for c in caches)):
        # Chunks beside a draft switch the hybrid manager off (config/vllm.py:2235-2244).
        kept = without_hybrid_manager(made)
        if kept is None:
            field = "full_windows" if full_windows else "draft_layers"
            raise ScenarioError(Message(text.NEEDS_HYBRID_MANAGER), field=field)
        made = kept
    members, whole_members = assign(made, rules), assign(whole, rules)
    if members is None or whole_members is None:
        raise KvvizError(Message(text.PAGES_DIFFER, {"engine": engine_of(version)}), code="vllm-not-run")
    block_bytes = stage_block_bytes(members, stage_of)
    return VllmPlan(
        version=version,
        tp=tp,
        pp=pp,
        dcp=dcp,
        kv_dtype=stored,
        block_tokens=block,
        pool_block_bytes=max(block_bytes),
        groups=_groups(members, dcp),
        stages=tuple(
            Stage(first_layer=part.start, layers=len(part), pool_block_bytes=size)
            for part, size in zip(cut, block_bytes, strict=True)
        ),
        in_flight_tokens=in_flight_tokens,
        prefix_caching=prefix_caching,
        full_length_groups=_groups(whole_members, dcp),
        full_length_block_bytes=max(stage_block_bytes(whole_members, stage_of)),
        state_slot_bytes=apart,
    )


def _groups(members: tuple[Members, ...], dcp: int) -> tuple[Group, ...]:
    return tuple(group_of(group, token_ranks=dcp) for group in members)


def _draft_layer(layers: Sequence[Layer]) -> Layer:
    """What a draft layer stores: the attention of the last layer that keeps every token, or else that has any."""
    attention = [tuple(c for c in layer if not isinstance(c, RecurrentState | CrossAttention)) for layer in layers]
    growing = [layer for layer in attention if any(isinstance(c, FullAttention | LatentAttention) for c in layer)]
    for layer in reversed(growing or [layer for layer in attention if layer]):
        return layer
    raise ScenarioError(Message(text.NO_DRAFT_LAYER), field="draft_layers")


def _check_stages(architecture: Architecture, layers: Sequence[Layer], pp: int) -> None:
    """Raise a ScenarioError that lists the sizes that work where vLLM has no pipeline of ``pp`` stages."""
    if not runs_in_stages(architecture):
        raise ScenarioError(Message(text.PP_NOT_SUPPORTED, {"model": class_of(architecture)}), field="pp")

    def works(stages: int) -> bool:
        cut = pipeline(architecture, stages, remainder="middle")
        return all(any(layers[index] for index in part) for part in cut)

    if not works(pp):
        sizes = ", ".join(str(stages) for stages in range(1, pp) if works(stages))
        raise ScenarioError(Message(text.PP_EMPTY_STAGE, {"pp": pp, "sizes": sizes}), field="pp")


def default_memory_fraction(version: str = VERSION) -> float:
    """``--gpu-memory-utilization`` where it is not given."""
    return DEFAULT_MEMORY_FRACTION[version]


def concurrent_batches(pp: int = 1, *, version: str = VERSION) -> int:
    """Steps that are scheduled before the first of them is settled; windows are counted with the tokens of them all.

    Asynchronous scheduling and the V2 model runner are on by default (``config/vllm.py:588-609``); up to 0.20 a
    request was counted with the tokens of one step.
    """
    return pp + 1 if version == VERSION else 1


def check_dcp(architecture: Architecture, tp: int, dcp: int, *, version: str = VERSION) -> None:
    """Raise a ScenarioError that names the rule, and the sizes that work, where ``dcp`` does not.

    ``config/parallel.py:595-602``, ``config/model.py:1578-1606``, ``v1/kv_cache_interface.py:946-950``.
    """
    if dcp == 1:
        return
    caches = set(stored_caches(architecture))
    values: dict[str, object] = {"dcp": dcp, "tp": tp}
    if version == V0:
        sentence = text.DCP_OLD
    elif any(isinstance(c, SlidingWindow | ChunkedAttention) for c in caches):
        sentence = text.DCP_WINDOWS
    elif not any(isinstance(c, FullAttention | LatentAttention) for c in caches):
        sentence = text.DCP_NOTHING_TO_SPLIT
    elif dcp in (sizes := dcp_sizes(architecture, tp)):
        return
    else:
        values["sizes"] = ", ".join(str(s) for s in sizes)
        sentence = text.DCP_LATENT
        if heads := _kv_heads(caches):
            sentence = text.DCP_HEADS
            values |= {"heads": heads, "copies": max(1, tp // heads)}
    raise ScenarioError(Message(sentence, values), field="dcp")


def dcp_sizes(architecture: Architecture, tp: int) -> tuple[int, ...]:
    """Decode-context-parallel sizes that vLLM 0.33 takes beside ``tp``: latents any that divides it, heads as many as
    there are copies of each."""
    caches = set(stored_caches(architecture))
    if any(isinstance(c, SlidingWindow | ChunkedAttention) for c in caches):
        return (1,)
    divisors = [dcp for dcp in range(1, tp + 1) if tp % dcp == 0]
    if heads := _kv_heads(caches):
        queries = (architecture.attention_heads or heads) // heads
        divisors = [dcp for dcp in divisors if dcp <= max(1, tp // heads) and queries % dcp == 0]
    elif not any(isinstance(c, LatentAttention) for c in caches):
        return (1,)
    return tuple(divisors)


def _kv_heads(caches: set[LayerCache]) -> int:
    """KV heads that decode context parallelism goes by; 0 for latents, and where there are none."""
    if any(isinstance(c, LatentAttention) for c in caches):
        return 0
    return max((c.kv_heads for c in caches if isinstance(c, FullAttention)), default=0)


def offers(kv_dtype: KvDtype) -> bool:
    """Whether vLLM has such a cache at all: no rule here speaks of another engine's type."""
    return "vllm" in kv_dtype.engines


def default_dtype(architecture: Architecture, generation: str) -> KvDtype | None:
    """The cache type vLLM itself sets where none is given; None where it follows the model.

    GLM 5 on data-centre Blackwell (``model_executor/models/config.py:89-142``).
    """
    if class_of(architecture) == "GlmMoeDsaForCausalLM" and generation == "blackwell":
        return KV_DTYPES["fp8"]
    return None


_UNSTABLE_IN_FP16 = frozenset({"gemma2", "gemma3", "gemma3_text", "glm4"})
"""Model types that vLLM does not run in fp16 (``config/model.py:2398-2410``)."""


def runs_in(architecture: Architecture, generation: str) -> str:
    """The type vLLM computes in where none is given: the model's own, or else the first that GPU and model can have.

    fp32 checkpoints are run in that first one too (``config/model.py:2423-2464``, ``platforms/cuda.py:257-265``).
    """
    no_bf16 = generation in WITHOUT_BF16
    no_fp16 = architecture.model_type in _UNSTABLE_IN_FP16
    allowed = [t for t, no in (("bf16", no_bf16), ("fp16", no_fp16), ("fp32", False)) if not no]
    return architecture.dtype if architecture.dtype in allowed and architecture.dtype != "fp32" else allowed[0]


def stored_dtype(architecture: Architecture, kv_dtype: KvDtype, generation: str) -> KvDtype:
    """The layout ``kv_dtype`` becomes: sparse MLA kernels read fp8 in a packed record of their own.

    FlashMLA's sparse kernel does so with any fp8 setting, consumer Blackwell even by default; data-centre Blackwell's
    FlashInfer kernel reads plain fp8 (``mla_attention.py:358-377``). Raises ScenarioError for a type that this cache
    has no form of.
    """
    return _stored_dtype(ByIdentity(architecture), kv_dtype, generation)


@lru_cache(maxsize=1024)
def _stored_dtype(key: ByIdentity[Architecture], kv_dtype: KvDtype, generation: str) -> KvDtype:
    kinds = _kinds(key)
    if refused := _refusal(kinds, kv_dtype, generation):
        choices = ", ".join(usable_dtypes(key.value, generation))
        values = {"dtype": kv_dtype.name, "choices": choices, **refused.values}
        raise ScenarioError(Message(refused.text, values), field="kv_dtype")
    if not kinds.sparse or kv_dtype.packing != "plain" or generation in _PLAIN_SPARSE_FP8:
        return kv_dtype
    packed = kv_dtype.name == "fp8" or (generation == "blackwell-rtx" and not kv_dtype.quantised)
    return KV_DTYPES["fp8_ds_mla"] if packed else kv_dtype


def usable_dtypes(architecture: Architecture, generation: str) -> tuple[str, ...]:
    """Names of the cache types vLLM has a form of, and a kernel for, with this model on a GPU of this generation."""
    kinds = _kinds(ByIdentity(architecture))
    return tuple(d.name for d in KV_DTYPES.values() if offers(d) and not _refusal(kinds, d, generation))


_PLAIN_SPARSE_FP8 = frozenset({"blackwell", "cdna3"})
"""Generations whose first sparse kernel for fp8 reads it plain: FlashInfer's and AITER's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kinds:
    """What a cache type must have a form for."""

    latent: bool
    sparse: bool
    """Latents with packed indexer keys beside them."""
    dims: frozenset[int]
    """Widths of keys and values of ordinary heads."""
    caches: frozenset[LayerCache]
    """What a kernel must read."""


@lru_cache(maxsize=1024)
def _kinds(key: ByIdentity[Architecture]) -> _Kinds:
    caches = set(stored_caches(key.value))
    heads = [c for c in caches if isinstance(c, FullAttention | SlidingWindow | ChunkedAttention | CrossAttention)]
    latent = any(isinstance(c, LatentAttention) for c in caches)
    return _Kinds(
        latent=latent,
        sparse=latent and any(isinstance(c, IndexerKeys) and c.packed for c in caches),
        dims=frozenset(dim for c in heads for dim in (c.key_dim, c.value_dim)),
        caches=frozenset(caches),
    )


def _refusal(kinds: _Kinds, kv_dtype: KvDtype, generation: str) -> Message | None:
    """Why vLLM has no such cache for layers of these kinds; None where it has one."""
    if kv_dtype.packing != "plain":
        if not kinds.sparse:
            return Message(text.DTYPE_ONLY_FOR_SPARSE)
        # mla/flashmla_sparse.py:250-254; AITER's sparse kernel lists no packed record
        if generation == "cdna3" or (kv_dtype.packing == "nvfp4_ds_mla" and generation != "blackwell"):
            return Message(text.DTYPE_NOT_ON_GPU)
    # Plain nvfp4 is refused for every MLA model (config/vllm.py:3422-3439).
    elif kinds.latent and (kv_dtype.vector_scale_bytes or kv_dtype.block_values > 1):
        return Message(text.DTYPE_NOT_FOR_LATENT)
    if uneven := [dim for dim in kinds.dims if dim % kv_dtype.block_values]:
        return Message(text.DTYPE_DOES_NOT_DIVIDE, {"values": kv_dtype.block_values, "dim": min(uneven)})
    if not has_kernel(kinds.caches, kv_dtype.name, generation):
        return Message(text.DTYPE_NOT_ON_GPU)
    return None


def check_tp(architecture: Architecture, tp: int) -> None:
    """Raise a ScenarioError that lists the sizes that work where ``tp`` does not."""
    if not runs_on(architecture, tp):
        sizes = ", ".join(str(s) for s in tp_sizes(architecture))
        raise ScenarioError(Message(text.TP_DOES_NOT_DIVIDE, {"tp": tp, "sizes": sizes}), field="tp")


def runs_on(architecture: Architecture, tp: int) -> bool:
    """True where the heads can be split over ``tp`` GPUs: query heads divide, KV heads divide or are divided."""
    return _runs_on(ByIdentity(architecture), tp)


@lru_cache(maxsize=4096)
def _runs_on(key: ByIdentity[Architecture], tp: int) -> bool:
    architecture = key.value
    if architecture.attention_heads is not None and architecture.attention_heads % tp:
        return False
    for cache in set(stored_caches(architecture)):
        match cache:
            case FullAttention() | SlidingWindow() | ChunkedAttention() | CrossAttention():
                if cache.kv_heads % tp and tp % cache.kv_heads:
                    return False
            case RecurrentState():
                groups_split = not cache.conv_groups % tp or tp > cache.conv_groups
                if cache.heads % tp or cache.conv_channels % tp or not groups_split:
                    return False
            case _:
                pass
    return True


def tp_sizes(architecture: Architecture, limit: int = MAX_TP) -> tuple[int, ...]:
    """Tensor-parallel sizes up to ``limit`` that the heads allow."""
    return tuple(tp for tp in range(1, limit + 1) if runs_on(architecture, tp))


def default_batched_tokens(device: Device) -> int:
    """``--max-num-batched-tokens`` of a server where it is not given (``engine/arg_utils.py:2966-3000``)."""
    if device.memory_bytes >= 160 * GIB:
        return 16_384
    return 8_192 if _is_large(device) else 2_048


def default_batched_sequences(device: Device) -> int:
    """``--max-num-seqs`` where it is not given (same place)."""
    return 1_024 if _is_large(device) else 256


def _is_large(device: Device) -> bool:
    return device.memory_bytes >= 160 * GIB or (device.memory_bytes >= 70 * GIB and "a100" not in device.name.lower())


_FINEST_BLOCK = 32
"""Blocks of experts are divided no further than this (``fused_moe/oracle/fp8.py:291-320``)."""


def check_blocks(architecture: Architecture, tp: int, generation: str, *, field: str = "tp") -> None:
    """Raise a ScenarioError that lists the sizes that work where block-quantised weights cannot be cut for ``tp``."""
    if _blocks_hold(architecture, tp, generation):
        return
    sizes = ", ".join(str(s) for s in tp_sizes(architecture) if _blocks_hold(architecture, s, generation))
    blocks = architecture.weight_blocks
    side = blocks.columns if blocks else 0
    raise ScenarioError(Message(text.BLOCKS_CUT, {"tp": tp, "block": side, "sizes": sizes or "-"}), field=field)


def needs_expert_parallel(architecture: Architecture, tp: int, generation: str) -> bool:
    """Whether vLLM starts on ``tp`` GPUs only with its experts kept whole (``--enable-expert-parallel``)."""
    blocks = architecture.weight_blocks
    return blocks is not None and not _experts_hold(architecture, tp, generation, whole=False)


def _blocks_hold(architecture: Architecture, tp: int, generation: str) -> bool:
    """``down_proj`` takes whole blocks only; what is merged may end in a part of one (``linear.py:562-587``).

    fp8: ``quantization/utils/fp8_utils.py:1317-1327``; AWQ: ``auto_awq.py:813-824``; compressed-tensors in groups:
    ``distributed/utils.py:137-152``. GPTQ has kernels that go without.
    """
    blocks = architecture.weight_blocks
    if blocks is None:
        return True
    whole = tp == 1 or all(width % tp == 0 and width // tp % blocks.columns == 0 for width in blocks.widths)
    return whole and any(_experts_hold(architecture, tp, generation, whole=w) for w in (False, True))


def _experts_hold(architecture: Architecture, tp: int, generation: str, *, whole: bool) -> bool:
    """Whether every GPU's share of an expert has whole blocks, or blocks that can be divided.

    Only Triton's kernel reads divided blocks, which needs native fp8 (``experts/triton_moe.py:155-182``), and only
    checkpoints in fp8's own format are divided (``compressed_tensors_moe_w8a8_fp8.py:130-141``).
    """
    blocks = architecture.weight_blocks
    if blocks is None or blocks.expert_width is None:
        return True
    share, rest = (blocks.expert_width, 0) if whole else divmod(blocks.expert_width, tp)
    if rest:
        return False
    if share % blocks.rows == 0 and (tp == 1 or share % blocks.columns == 0):
        return True
    finer = gcd(blocks.rows, blocks.columns, share, architecture.hidden_size or 0)
    return blocks.divisible and generation not in WITHOUT_NATIVE_FP8 and finer >= _FINEST_BLOCK
