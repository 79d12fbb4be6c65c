"""What TensorRT-LLM sets aside for a cache: blocks of every layer, in one pool for each length of window.

Read least widely of all engines: of its PyTorch backend, ``tensorrt_llm/_torch/pyexecutor/_util.py`` at 0004396720 and
``resource_manager.py`` at 001541bad8; nothing was run.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil
from typing import Final

from kvviz.core.architecture import Architecture, Note
from kvviz.core.cache import (
    STATE_VALUE_BYTES,
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    Layer,
    LayerCache,
    RecurrentState,
    SlidingWindow,
    token_bytes,
)
from kvviz.core.dtypes import KV_DTYPES, KvDtype
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.identity import ByIdentity
from kvviz.core.search import longest
from kvviz.core.units import GIB, MIB
from kvviz.estimate import Estimate
from kvviz.text import Message
from kvviz.text import tensorrt_llm as text

__all__ = [
    "DEFAULT_BLOCK_TOKENS",
    "DEFAULT_FRACTION",
    "VERSION",
    "Memory",
    "Stage",
    "TensorRtLlmPlan",
    "launch",
    "not_run",
    "offers",
    "plan",
    "pool",
    "tp_sizes",
    "usable_dtypes",
]

VERSION: Final = "0004396720"
DEFAULT_BLOCK_TOKENS: Final = 32
DEFAULT_FRACTION: Final = Fraction(9, 10)
"""``free_gpu_memory_fraction`` (``resource_manager.py``, ``calculate_max_num_blocks``)."""
MAX_TP: Final = 64
"""Largest tensor-parallel size that is suggested."""
_EXTRA_WINDOW_BLOCKS: Final = 1
"""``kSWAExtraBlock`` of ``kvCacheManager.h``: a window that moves may begin inside a block."""
_RUNTIME_BYTES: Final = round((79.10 - 70.48) * GIB) - 6_695 * MIB
"""docs/source/reference/memory.md of TensorRT-LLM."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What one pipeline stage stores on each of its GPUs."""

    pools: tuple[tuple[int | None, Fraction], ...]
    """(window in tokens, None for every token; bytes a token): a pool each, as they share out the memory equally."""
    state_bytes: int
    """Recurrent and convolution states of one request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorRtLlmPlan:
    """Blocks of one engine; all its GPUs have as many as the one with the fewest."""

    kv_dtype: KvDtype
    tp: int
    pp: int
    attention_dp: bool
    """Every GPU of a stage has its own requests and all heads: attention as with tensor parallel 1."""
    block_tokens: int
    windows: bool
    """Windows have pools of their own; otherwise they are kept at full length."""
    window_pattern: tuple[int | None, ...]
    """The window of each layer that keeps tokens, for ``max_attention_window``."""
    stages: tuple[Stage, ...]

    @property
    def gpus(self) -> int:
        """GPUs of one engine."""
        return self.tp * self.pp

    def blocks(self, window: int | None, tokens: int) -> int:
        """Blocks a request of ``tokens`` has in the pool of a window."""
        if window is None or tokens <= window:
            return -(-tokens // self.block_tokens)
        return -(-window // self.block_tokens) + _EXTRA_WINDOW_BLOCKS

    def request_bytes(self, tokens: int) -> int:
        """What a request of ``tokens`` takes on the fullest GPU, in whole blocks and its states."""
        return max(self._taken(stage, tokens) for stage in self.stages)

    def held_bytes(self, tokens: int) -> int:
        """The same: nothing is counted for tokens in flight."""
        return self.request_bytes(tokens)

    def per_gpu_request_bytes(self, tokens: int) -> tuple[int, ...]:
        """``request_bytes`` of each GPU, stage by stage; with attention DP a request is on one GPU of each stage."""
        taken = [self._taken(stage, tokens) for stage in self.stages]
        rest = 0 if self.attention_dp else 1
        return tuple(b if rank == 0 else b * rest for b in taken for rank in range(self.tp))

    def _taken(self, stage: Stage, tokens: int) -> int:
        blocks = sum(self.blocks(window, tokens) * self._block_bytes(each) for window, each in stage.pools)
        return blocks + stage.state_bytes

    def _block_bytes(self, bytes_per_token: Fraction) -> int:
        return ceil(bytes_per_token * self.block_tokens)

    def shared_bytes(self, tokens: int) -> int:
        """Whole blocks of the same first tokens, kept once, on the fullest GPU; windows are not shared."""
        return max(self._shared(stage, tokens) for stage in self.stages)

    def _shared(self, stage: Stage, tokens: int) -> int:
        blocks = tokens // self.block_tokens
        return sum(blocks * self._block_bytes(each) for window, each in stage.pools if window is None)

    def need_bytes(self, requests: int, tokens: int, shared_tokens: int = 0) -> int:
        """The pool a GPU needs for so many requests: every window's part is as large as the largest must be."""
        each = -(-requests // self._replicas)
        return max(self._need(stage, each, tokens, shared_tokens) for stage in self.stages)

    @property
    def _replicas(self) -> int:
        return self.tp if self.attention_dp else 1

    def _need(self, stage: Stage, requests: int, tokens: int, shared_tokens: int) -> int:
        parts = []
        for window, each in stage.pools:
            once = shared_tokens // self.block_tokens if window is None and requests else 0
            blocks = once + requests * (self.blocks(window, tokens) - once)
            parts.append(blocks * self._block_bytes(each))
        return requests * stage.state_bytes + len(parts) * max(parts, default=0)

    def fit(self, pool_bytes: int, tokens: int, shared_tokens: int = 0) -> int:
        """Most requests of ``tokens`` at once with a pool of so many bytes on each GPU."""
        replicas = self._replicas

        def need(each: int) -> int:
            return self.need_bytes(each * replicas, tokens, shared_tokens)

        if need(1) <= 0 or need(1) > pool_bytes:
            return 0
        more = need(2) - need(1)  # the largest part may be another one for many requests than for few
        low, high = 1, 2 + (pool_bytes - need(1)) // max(1, more)
        while need(high) <= pool_bytes:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if need(middle) <= pool_bytes else (low, middle)
        return low * replicas

    def fit_held(self, pool_bytes: int, tokens: int, shared_tokens: int = 0) -> int:
        """The same in steady decode: nothing more is counted at admission."""
        return self.fit(pool_bytes, tokens, shared_tokens)

    def longest_in(self, pool_bytes: int) -> int | None:
        """Longest request the pool holds; None where no length is too long, 0 where not one token fits."""
        return longest(lambda tokens: self.need_bytes(1, tokens) <= pool_bytes)

    def pool_blocks(self, pool_bytes: int, *, rounded_up: bool = False) -> tuple[tuple[int | None, int], ...]:
        """(window, blocks) that the GPU with the fewest makes of it, states apart: the log's primary pool.

        ``rounded_up``: as the older TensorRT backend did.
        """
        made: dict[int | None, int] = {}
        for stage in self.stages:
            for window, each in stage.pools:
                part = Fraction(pool_bytes, len(stage.pools)) / (each * self.block_tokens)
                blocks = ceil(part) if rounded_up else int(part)
                made[window] = min(blocks, made.get(window, blocks))
        return tuple(made.items())


def plan(
    architecture: Architecture,
    *,
    kv_dtype: KvDtype = KV_DTYPES["bf16"],
    tp: int = 1,
    pp: int = 1,
    attention_dp: bool = False,
    block_tokens: int = DEFAULT_BLOCK_TOKENS,
    windows: bool = True,
) -> TensorRtLlmPlan:
    """The blocks of one engine on ``tp x pp`` GPUs.

    ``windows``: ``max_attention_window`` is set as the model has it; where it is not set, the engine keeps every layer
    at full length. Chunks are always kept at full length. KvvizError for models that ``not_run`` names, ScenarioError
    for settings that cannot be.
    """
    if missing := not_run(architecture):
        raise KvvizError(missing.message, code=missing.code)
    return _plan(ByIdentity(architecture), kv_dtype, tp, pp, attention_dp, block_tokens, windows)


@lru_cache(maxsize=1024)
def _plan(
    key: ByIdentity[Architecture],
    kv_dtype: KvDtype,
    tp: int,
    pp: int,
    attention_dp: bool,
    block_tokens: int,
    windows: bool,
) -> TensorRtLlmPlan:
    architecture = key.value
    layers = architecture.layers
    _check_dtype(architecture, kv_dtype)
    if not _splits(architecture, tp) and not attention_dp:
        sizes = ", ".join(str(size) for size in tp_sizes(architecture))
        raise ScenarioError(Message(text.TP_DOES_NOT_DIVIDE, {"tp": tp, "sizes": sizes}), field="tp")
    if not 1 <= pp <= len(layers):
        raise ScenarioError(Message(text.TOO_MANY_STAGES, {"pp": pp, "layers": len(layers)}), field="pp")
    split = 1 if attention_dp else tp
    return TensorRtLlmPlan(
        kv_dtype=kv_dtype,
        tp=tp,
        pp=pp,
        attention_dp=attention_dp,
        block_tokens=block_tokens,
        windows=windows,
        window_pattern=tuple(_window(layer, windows) for layer in layers if _keeps_tokens(layer)),
        stages=tuple(_stage(part, kv_dtype, split, windows) for part in _parts(layers, pp)),
    )


def _parts(layers: tuple[Layer, ...], pp: int) -> Iterable[tuple[Layer, ...]]:
    """Each stage's layers: the first stages get one more where they do not divide (``mapping.py``, ``pp_layers``)."""
    each, more = divmod(len(layers), pp)
    ends = [stage * each + min(stage, more) for stage in range(pp + 1)]
    return (layers[first:last] for first, last in pairwise(ends))


def _stage(layers: tuple[Layer, ...], dtype: KvDtype, tp: int, windows: bool) -> Stage:
    pools: dict[int | None, Fraction] = {}
    state = 0
    for layer in layers:
        for cache in layer:
            if isinstance(cache, RecurrentState):
                state += _state_bytes(cache, tp)
            else:
                window = _window(layer, windows)
                pools[window] = pools.get(window, Fraction(0)) + _token_bytes(cache, dtype, tp)
    ordered = sorted(pools.items(), key=lambda item: (item[0] is None, item[0] or 0))
    return Stage(pools=tuple(ordered), state_bytes=state)


def _window(layer: Layer, windows: bool) -> int | None:
    limits = [c.window_tokens for c in layer if isinstance(c, SlidingWindow) and c.limits]
    return limits[0] if limits and windows else None


def _keeps_tokens(layer: Layer) -> bool:
    return any(not isinstance(cache, RecurrentState) for cache in layer)


def _token_bytes(cache: LayerCache, dtype: KvDtype, tp: int) -> Fraction:
    """Heads are rounded up; a latent and an indexer key are whole on each GPU (``get_cache_size_per_token``)."""
    match cache:
        case FullAttention() | SlidingWindow() | ChunkedAttention():
            return token_bytes(cache, dtype, heads=-(-cache.kv_heads // tp))
        case _:
            return token_bytes(cache, dtype)


def _state_bytes(state: RecurrentState, tp: int) -> int:
    """Channels and heads are divided, groups padded to one a GPU, as the model's own types have it."""
    groups = -(-state.conv_groups // tp)
    channels = state.conv_channels // tp + groups * state.conv_channels_per_group
    conv = channels * state.conv_columns * STATE_VALUE_BYTES[state.conv_dtype]
    return conv + state.heads // tp * state.values_per_head * STATE_VALUE_BYTES[state.recurrent_dtype]


def _splits(architecture: Architecture, tp: int) -> bool:
    if architecture.attention_heads is not None and architecture.attention_heads % tp:
        return False
    states = {c for layer in architecture.layers for c in layer if isinstance(c, RecurrentState)}
    return not any(s.heads % tp or s.conv_channels % tp for s in states)


def tp_sizes(architecture: Architecture, limit: int = MAX_TP) -> tuple[int, ...]:
    """Tensor-parallel sizes up to ``limit`` that query heads and states allow; KV heads need not divide."""
    return tuple(tp for tp in range(1, limit + 1) if _splits(architecture, tp))


def not_run(architecture: Architecture) -> Note | None:
    """Why there is no plan: kinds of cache whose rules were not read."""
    caches = [cache for layer in architecture.layers for cache in layer]
    name = architecture.class_name or architecture.model_type
    unread = any(
        isinstance(c, CompressedAttention | CrossAttention)
        or (isinstance(c, RecurrentState) and c.mixer in ("rwkv", "local_filter"))
        for c in caches
    )
    if unread:
        return Note(code="tensorrt-llm-not-worked-out", message=Message(text.NOT_WORKED_OUT, {"model": name}))
    return None if caches else Note(code="no-cache", message=Message(text.NO_CACHE, {"model": name}))


def offers(kv_dtype: KvDtype) -> bool:
    """Whether it has such a cache at all."""
    return "tensorrt-llm" in kv_dtype.engines


def usable_dtypes(architecture: Architecture) -> tuple[str, ...]:
    """Names of the cache types this model can have; not every GPU has kernels for nvfp4 and fp8."""
    dims = _dims(architecture)
    return tuple(d.name for d in KV_DTYPES.values() if offers(d) and not any(dim % d.block_values for dim in dims))


def _dims(architecture: Architecture) -> set[int]:
    dims: set[int] = set()
    for cache in {c for layer in architecture.layers for c in layer}:
        match cache:
            case FullAttention() | SlidingWindow() | ChunkedAttention():
                dims |= {cache.key_dim, cache.value_dim}
            case LatentAttention():
                dims.add(cache.latent_dim + cache.rope_dim)
            case IndexerKeys(packed=False):
                dims.add(cache.key_dim)
            case _:
                pass
    return dims


def _check_dtype(architecture: Architecture, dtype: KvDtype) -> None:
    choices = ", ".join(usable_dtypes(architecture))
    if not offers(dtype):
        values: dict[str, object] = {"dtype": dtype.name, "choices": choices}
        raise ScenarioError(Message(text.DTYPE_OF_ANOTHER_ENGINE, values), field="kv_dtype")
    if uneven := [dim for dim in _dims(architecture) if dim % dtype.block_values]:
        values = {"dtype": dtype.name, "values": dtype.block_values, "dim": min(uneven), "choices": choices}
        raise ScenarioError(Message(text.DTYPE_DOES_NOT_DIVIDE, values), field="kv_dtype")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One GPU's memory, from what the driver reports to the pool. Bytes."""

    device_bytes: int
    weights_bytes: int
    """Weights of this rank."""
    runtime: Estimate
    """Everything else that a trial run leaves in use."""
    free_bytes: int
    """What is free after it; at least 0."""
    pool: Estimate
    """The fraction of that which becomes the pool."""


def pool(
    *,
    device_bytes: int,
    weights_bytes: int,
    fraction: Fraction | float = DEFAULT_FRACTION,
    free_bytes: int | None = None,
) -> Memory:
    """A fraction of what is free, unlike vLLM's of the total (``_util.py``, ``_cal_max_memory``).

    ``free_bytes``: what a log says was available.
    """
    if not 0 < fraction < 1:
        raise ScenarioError(Message(text.FRACTION_OUT_OF_RANGE, {"fraction": float(fraction)}), field="memory_fraction")
    if free_bytes is None:
        runtime = Estimate(value_bytes=_RUNTIME_BYTES, basis="assumed", source=Message(text.RUNTIME))
        free = max(0, device_bytes - weights_bytes - runtime.value_bytes)
    else:
        left = device_bytes - weights_bytes - free_bytes
        runtime = Estimate(value_bytes=left, basis="measured", source=Message(text.ENTERED))
        free = free_bytes
    exact = Fraction(str(fraction)) if isinstance(fraction, float) else fraction
    source = Message(text.FRACTION, {"fraction": float(fraction)})
    made = Estimate(value_bytes=int(exact * free), basis=runtime.basis, source=source)
    return Memory(device_bytes=device_bytes, weights_bytes=weights_bytes, runtime=runtime, free_bytes=free, pool=made)


def launch(
    of: TensorRtLlmPlan,
    *,
    model: str,
    requests: int,
    tokens: int,
    fraction: Fraction | float = DEFAULT_FRACTION,
    config_path: str = "./kv_cache.yaml",
) -> tuple[tuple[str, ...], str]:
    """``trtllm-serve`` and the text of the file it reads, empty where nothing needs one."""
    arguments = ["trtllm-serve", "serve", model, "--max_seq_len", f"{tokens}", "--max_batch_size", f"{requests}"]
    if of.tp > 1:
        arguments += ["--tp_size", f"{of.tp}"]
    if of.pp > 1:
        arguments += ["--pp_size", f"{of.pp}"]
    if fraction != DEFAULT_FRACTION:
        arguments += ["--kv_cache_free_gpu_memory_fraction", f"{float(fraction)}"]
    cache: list[str] = []
    if of.kv_dtype.quantised:
        cache.append(f"  dtype: {of.kv_dtype.name}")
    if of.block_tokens != DEFAULT_BLOCK_TOKENS:
        cache.append(f"  tokens_per_block: {of.block_tokens}")
    if any(window is not None for window in of.window_pattern):
        pattern = _shortest([tokens if window is None else window for window in of.window_pattern])
        cache.append(f"  max_attention_window: {json.dumps(pattern)}")
    lines = ["kv_cache_config:", *cache] if cache else []
    if of.attention_dp:
        lines.insert(0, "enable_attention_dp: true")
    if lines:
        arguments += ["--extra_llm_api_options", config_path]
    return tuple(arguments), "".join(f"{line}\n" for line in lines)


def _shortest(pattern: list[int]) -> list[int]:
    """The shortest beginning whose repetition is the whole: the engine repeats it over the layers."""
    for length in range(1, len(pattern)):
        if all(value == pattern[i % length] for i, value in enumerate(pattern)):
            return pattern[:length]
    return pattern
