"""What vLLM 0.33 sets aside for a model's cache on one GPU of a tensor-parallel engine."""

from dataclasses import dataclass
from functools import lru_cache
from math import gcd, lcm

from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    LayerCache,
    RecurrentState,
    SlidingWindow,
)
from kvviz.core.dtypes import KV_DTYPES, KvDtype
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.identity import ByIdentity
from kvviz.core.units import GIB
from kvviz.devices import Device
from kvviz.engines.vllm_kernels import WITHOUT_BF16, WITHOUT_NATIVE_FP8, has_kernel
from kvviz.engines.vllm_layout import (
    DEFAULT_BLOCK_TOKENS,
    KEEPS_EVERY_TOKEN,
    Group,
    full_length,
    groups,
    kernel_block_tokens,
    specs,
)
from kvviz.engines.vllm_models import class_of, not_run, stored_caches
from kvviz.text import Message
from kvviz.text import engine as text

__all__ = [
    "CONCURRENT_BATCHES",
    "DEFAULT_BLOCK_TOKENS",
    "DEFAULT_IN_FLIGHT_TOKENS",
    "VERSION",
    "Group",
    "VllmPlan",
    "check_blocks",
    "check_tp",
    "default_batched_sequences",
    "default_batched_tokens",
    "default_dtype",
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

VERSION = "0.33"
CONCURRENT_BATCHES = 2
"""Asynchronous scheduling is on by default and one pipeline stage runs (``config/vllm.py:588-609``)."""
DEFAULT_IN_FLIGHT_TOKENS = 16_384
"""Without a GPU: what an 80 GB Hopper server ends up with, 2 x 8,192."""
MAX_TP = 64
"""Largest tensor-parallel size that is suggested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmPlan:
    """The pool's blocks and what a request takes of them, on one GPU. Every GPU of the engine has the same plan."""

    tp: int
    """GPUs one engine runs on. Pipeline, data and decode-context parallelism would make plans that differ by rank."""
    kv_dtype: KvDtype
    """What is stored: the chosen type, or the layout this engine turns it into."""
    block_tokens: int
    """Tokens per block as vLLM configures it; a group whose pages are smaller has larger blocks."""
    pool_block_bytes: int
    """One block of the pool, which any group can use: as large as the largest group needs."""
    groups: tuple[Group, ...]
    in_flight_tokens: int
    full_length_groups: tuple[Group, ...]
    """The groups there would be with every window and chunk at full length."""

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
        if any(g.kind == "cross" for g in self.groups):
            return 0
        hit = tokens - tokens % lcm(*(g.block_tokens for g in self.groups))
        return sum(hit // g.block_tokens for g in self.groups if g.kind in KEEPS_EVERY_TOKEN)

    def request_bytes_windows_ignored(self, tokens: int) -> int:
        """``request_bytes`` with every attention layer at full length (``--disable-hybrid-kv-cache-manager``)."""
        blocks = sum(g.request_blocks(tokens, self.in_flight_tokens) for g in self.full_length_groups)
        return blocks * max(g.block_bytes for g in self.full_length_groups)

    def per_gpu_request_bytes(self, tokens: int) -> tuple[int, ...]:
        """``request_bytes`` of each GPU of the engine."""
        return (self.request_bytes(tokens),) * self.tp

    def start_log(self, pool_blocks: int, longest_tokens: int) -> tuple[float, int]:
        """What the engine logs of its pool at start: "Maximum concurrency", and "GPU KV cache size" in tokens.

        In floats, as it computes them (``v1/core/kv_cache_utils.py:1061-1154``), so that the last digit agrees too.
        """
        concurrency = pool_blocks / self.request_blocks(longest_tokens)
        return concurrency, int(concurrency * longest_tokens)

    def longest_request(self, pool_blocks: int) -> int | None:
        """Longest request that ``pool_blocks`` blocks can be started with; None where no length is too long.

        One block stays behind as the null block (``kv_cache_planning.py:1533-1560``). 0: not even one token.
        """
        return _longest(self, pool_blocks - 1)


@lru_cache(maxsize=1024)
def _longest(of: VllmPlan, blocks: int) -> int | None:
    if of.request_blocks(1) > blocks:
        return 0
    low, high = 1, max(2, blocks * max(g.block_tokens for g in of.groups) + 1)
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
    block_tokens: int | None = None,
    in_flight_tokens: int = DEFAULT_IN_FLIGHT_TOKENS,
    prefix_caching: bool = True,
    gpu_generation: str = "hopper",
) -> VllmPlan:
    """The plan of one GPU out of ``tp``.

    Raises ScenarioError for settings that cannot be, and KvvizError where vLLM runs no such model: ``not_run`` knows
    most of those beforehand.
    """
    if not offers(kv_dtype):
        values = {"dtype": kv_dtype.name, "engines": ", ".join(sorted(kv_dtype.engines))}
        raise KvvizError(Message(text.DTYPE_OF_ANOTHER_ENGINE, values), code="kv-dtype-of-another-engine")
    if missing := not_run(architecture):
        raise KvvizError(missing.message, code=missing.code)
    return _plan(ByIdentity(architecture), kv_dtype, tp, block_tokens, in_flight_tokens, prefix_caching, gpu_generation)


@lru_cache(maxsize=1024)
def _plan(
    key: ByIdentity[Architecture],
    kv_dtype: KvDtype,
    tp: int,
    block_tokens: int | None,
    in_flight_tokens: int,
    prefix_caching: bool,
    generation: str,
) -> VllmPlan:
    architecture = key.value
    check_tp(architecture, tp)
    stored = stored_dtype(architecture, kv_dtype, generation)
    kernel = kernel_block_tokens(architecture, stored, generation)
    if block_tokens is not None and block_tokens % kernel:
        raise ScenarioError(
            Message(text.BLOCK_NOT_MULTIPLE, {"block": block_tokens, "kernel": kernel}), field="block_tokens"
        )
    made, block = specs(
        architecture,
        kv_dtype=stored,
        tp=tp,
        block_tokens=block_tokens or max(DEFAULT_BLOCK_TOKENS, kernel),
        kernel_tokens=kernel,
        prefix_caching=prefix_caching,
        generation=generation,
    )
    made_groups, full_length_groups = groups(made), groups(full_length(made))
    if made_groups is None or full_length_groups is None:
        raise KvvizError(Message(text.PAGES_DIFFER), code="vllm-not-run")
    return VllmPlan(
        tp=tp,
        kv_dtype=stored,
        block_tokens=block,
        pool_block_bytes=max(g.block_bytes for g in made_groups),
        groups=made_groups,
        in_flight_tokens=in_flight_tokens,
        full_length_groups=full_length_groups,
    )


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
