"""What SGLang 0.5.23 sets aside: pools of tokens, one cell a token, beside pools for windows and for states.

Paths are those below ``sglang/srt`` of the 0.5.23 wheel. A rank's pool holds the requests of its data-parallel
attention group; every rank of the engine gets as many tokens as the poorest one.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Final

from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    FullAttention,
    IndexerKeys,
    Layer,
    LayerCache,
    RecurrentState,
    SlidingWindow,
    token_bytes,
)
from kvviz.core.dtypes import KV_DTYPES, KvDtype
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.identity import ByIdentity
from kvviz.core.parallel import pipeline
from kvviz.core.search import longest
from kvviz.engines.sglang_models import (
    VERSION,
    allocated_layers,
    class_note,
    class_of,
    default_dtype_name,
    is_sparse,
    keeps_windows,
    not_run,
    state_value_bytes,
    tracking_slots,
)
from kvviz.text import Message
from kvviz.text import sglang as text

__all__ = [
    "FULL_MEMORY_RATIO",
    "MAX_TP",
    "VERSION",
    "WINDOW_TOKENS_RATIO",
    "SglangPlan",
    "Stage",
    "class_note",
    "default_dtype",
    "default_page_tokens",
    "launch",
    "not_run",
    "offers",
    "plan",
    "request_table_bytes",
    "stored_dtype",
    "tp_sizes",
    "usable_dtypes",
]

WINDOW_TOKENS_RATIO: Final = Fraction(4, 5)
"""Tokens of the window pool for each of the full pool: ``--swa-full-tokens-ratio``."""
FULL_MEMORY_RATIO: Final = Fraction(9, 10)
"""Memory for states over memory for tokens: ``--mamba-full-memory-ratio``."""
MAX_TP: Final = 64
_EVICTION_TOKENS: Final = 128
"""Tokens that leave a window at a time: ``SGLANG_SWA_EVICTION_INTERVAL`` (``environ.py:730``)."""
_RADIX_SLOTS: Final = 3
"""State slots a running request is counted with, with a radix cache (``mem_cache/kv_cache_configurator.py:227``)."""
_CONV_BYTES: Final = 2
"""Convolution states are bf16 (``configs/mamba_utils.py:68``)."""
_RECORD: Final = KV_DTYPES["fp8_ds_mla"]
"""A latent in fp8 with its scales and a bf16 rotary part: 656 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One pipeline stage's share, on each of its GPUs."""

    layers: int
    full_bytes: int
    """Bytes of one token in the layers that keep every token, draft layers included."""
    window_bytes: int
    """Bytes of one token in the layers of the window pool."""
    state_bytes: int
    """Bytes of one state slot in this stage's own layers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SglangPlan:
    """The pools of an engine and what a request takes of them."""

    kv_dtype: KvDtype
    """What is stored: the chosen type, or the layout this engine turns it into."""
    tp: int
    pp: int
    dp_attention: int
    """Groups with a pool and requests of their own, each of tp / dp_attention GPUs a stage; 1 without."""
    page_tokens: int
    stages: tuple[Stage, ...]
    window_tokens: int
    """Longest window with a pool of its own; 0 where there is none."""
    window_ratio: Fraction
    full_memory_ratio: Fraction
    radix_cache: bool
    """Requests that begin with the same tokens keep them once."""
    slots_per_request: int
    """State slots a running request is counted with; 0 without states."""
    held_slots: int
    """State slots it writes to while it runs."""

    @property
    def gpus(self) -> int:
        """GPUs of one engine."""
        return self.tp * self.pp

    @property
    def slot_bytes(self) -> int:
        """One state slot as every rank is charged for it: that of the stage with most states.

        ``mem_cache/kv_cache_configurator.py:3184-3213``
        """
        return max(s.state_bytes for s in self.stages)

    def cell_bytes(self, stage: Stage) -> Fraction:
        """Bytes of one token of ``max_total_num_tokens``: window layers count with their share of tokens.

        A stage of windows alone has no full pool to relate to (``model_executor/pool_configurator.py:776-794``).
        """
        if not stage.full_bytes:
            return Fraction(stage.window_bytes)
        return stage.full_bytes + self.window_ratio * stage.window_bytes

    def pool_tokens(self, pool_bytes: int) -> int | None:
        """``max_total_num_tokens`` of a pool on each GPU; None where no layer keeps tokens.

        SGLang then shares out as many tokens as its context is long (``model_executor/pool_configurator.py:240-252``).
        """
        rest = pool_bytes
        if self.slots_per_request:
            rest -= (max(0, self.state_slots(pool_bytes)) + 1) * self.slot_bytes
        cells = [cell for stage in self.stages if (cell := self.cell_bytes(stage))]
        return min((max(0, self._pages_down(floor(rest / cell))) for cell in cells), default=None)

    def state_slots(self, pool_bytes: int) -> int:
        """``max_mamba_cache_size``: slots for states, one more being padding; 0 where there are none."""
        if not self.slots_per_request:
            return 0
        share = self.full_memory_ratio / (1 + self.full_memory_ratio)
        return max(0, floor(pool_bytes * share / self.slot_bytes) - 1)

    def running_cap(self, pool_bytes: int, *, context_tokens: int, max_running_requests: int | None = None) -> int:
        """Most requests the engine runs at once whatever their length; more wait.

        ``context_tokens``: the longest request it is started for (``mem_cache/kv_cache_configurator.py:3118-3160``).
        """
        known = self.pool_tokens(pool_bytes)
        tokens = context_tokens if known is None else known
        if max_running_requests is not None:
            asked = max(1, max_running_requests // self.dp_attention)
        else:
            asked = max(min(tokens * 512 // context_tokens, 4_096), 2_048)
        caps = [asked, tokens // 2]
        if self.slots_per_request:
            caps.append(self.state_slots(pool_bytes) // self.slots_per_request)
        return min(caps) * self.dp_attention

    def request_tokens(self, tokens: int) -> int:
        """Tokens of the full pool that one request of ``tokens`` takes with it, whole pages.

        Where the window pool runs out first, those for whose sake it is large enough.
        """
        return self._tokens_for(1, tokens)

    def request_bytes(self, tokens: int) -> int:
        """Bytes of those tokens and of the state slots counted, on the fullest GPU."""
        return max(self._request(tokens, stage) for stage in self.stages)

    def held_bytes(self, tokens: int) -> int:
        """Bytes a request of ``tokens`` tokens occupies while it decodes, on the fullest GPU."""
        full, window = self._pages_up(tokens), self._window_held(tokens)
        return max(s.full_bytes * full + s.window_bytes * window + s.state_bytes * self.held_slots for s in self.stages)

    def per_gpu_request_bytes(self, tokens: int) -> tuple[int, ...]:
        """``request_bytes`` on each GPU, pipeline-major; a request lives in one data-parallel group only."""
        group = self.tp // self.dp_attention
        return tuple(
            self._request(tokens, stage) if rank < group else 0 for stage in self.stages for rank in range(self.tp)
        )

    def shared_bytes(self, tokens: int) -> int:
        """What the radix cache keeps once of the same first tokens, on the fullest GPU: whole pages."""
        return ceil(self._shared(tokens) * max(self.cell_bytes(stage) for stage in self.stages))

    def _shared(self, tokens: int) -> int:
        """Tokens of the full pool; windows and states are each request's own."""
        return self._pages_down(tokens) if self.radix_cache and any(s.full_bytes for s in self.stages) else 0

    def need_bytes(self, requests: int, tokens: int, shared_tokens: int = 0) -> int:
        """Pool on each GPU from which on so many requests of ``tokens`` tokens run at once."""
        of_group = -(-requests // self.dp_attention)
        needed = self._tokens_for(of_group, tokens, shared_tokens)
        if not self.slots_per_request:
            return max(ceil(needed * self.cell_bytes(stage)) for stage in self.stages)
        slots = self._slots_pool(of_group * self.slots_per_request)
        return max(slots, *(self._beside_states(ceil(needed * self.cell_bytes(s))) for s in self.stages))

    def fit(self, pool_bytes: int, tokens: int, shared_tokens: int = 0) -> int:
        """Most requests of ``tokens`` tokens in pools of so many bytes on each GPU; ``running_cap`` is apart."""
        limits = []
        available = self.pool_tokens(pool_bytes)
        if available is not None:
            if any(s.full_bytes for s in self.stages):
                once = self._shared(shared_tokens)
                limits.append(max(0, available - once) // (self._pages_up(tokens) - once))
                window = self._pages_down(floor(available * self.window_ratio))
            else:
                window = available
            if self.window_tokens:
                limits.append(window // self._window_held(tokens))
        if self.slots_per_request:
            limits.append(self.state_slots(pool_bytes) // self.slots_per_request)
        return min(limits) * self.dp_attention

    def fit_held(self, pool_bytes: int, tokens: int, shared_tokens: int = 0) -> int:
        """The same in steady decode: nothing more is counted at admission."""
        return self.fit(pool_bytes, tokens, shared_tokens)

    def longest_in(self, pool_bytes: int) -> int | None:
        """Longest request the pools can serve; None where no length is too long, 0 where none fits."""
        return longest(lambda tokens: self.fit(pool_bytes, tokens) > 0)

    def _request(self, tokens: int, stage: Stage) -> int:
        slots = self.slots_per_request * self.slot_bytes
        return ceil(self.request_tokens(tokens) * self.cell_bytes(stage)) + slots

    def _tokens_for(self, requests: int, tokens: int, shared_tokens: int = 0) -> int:
        """Least tokens of the pool with which ``requests`` of ``tokens`` fit in the full and in the window pool."""
        window = requests * self._window_held(tokens)
        if not any(s.full_bytes for s in self.stages):
            return window
        once = self._shared(shared_tokens) if requests else 0
        full = once + requests * (self._pages_up(tokens) - once)
        return max(full, self._pages_up(ceil(window / self.window_ratio)))

    def _window_held(self, tokens: int) -> int:
        """Tokens of the window pool a request holds: those not yet evicted, and the page it writes to.

        ``model_executor/pool_configurator.py:905-934``
        """
        if not self.window_tokens:
            return 0
        return self._pages_up(min(tokens, self.window_tokens + _EVICTION_TOKENS + 2 * self.page_tokens))

    def _slots_pool(self, slots: int) -> int:
        """Least pool with so many state slots."""
        return ceil((slots + 1) * self.slot_bytes * (1 + self.full_memory_ratio) / self.full_memory_ratio)

    def _beside_states(self, cells_bytes: int) -> int:
        """Least pool from which on ``cells_bytes`` are left for tokens.

        States come out of the pool in whole slots, so what is left drops a little each time one more fits.
        """
        if not cells_bytes:
            return 0
        slots = floor(cells_bytes * self.full_memory_ratio / self.slot_bytes) + 1
        while slots > 0 and self._slots_pool(slots) - (slots + 1) * self.slot_bytes >= cells_bytes:
            slots -= 1
        return min(self._slots_pool(slots + 1), (slots + 1) * self.slot_bytes + cells_bytes)

    def _pages_up(self, tokens: int) -> int:
        return -(-tokens // self.page_tokens) * self.page_tokens

    def _pages_down(self, tokens: int) -> int:
        return tokens // self.page_tokens * self.page_tokens


def plan(
    architecture: Architecture,
    *,
    kv_dtype: KvDtype,
    tp: int = 1,
    pp: int = 1,
    dp_attention: int = 1,
    page_tokens: int | None = None,
    window_ratio: Fraction = WINDOW_TOKENS_RATIO,
    full_memory_ratio: Fraction = FULL_MEMORY_RATIO,
    radix_cache: bool = True,
    draft_layers: int = 0,
    generation: str = "hopper",
) -> SglangPlan:
    """The plan of an engine on ``tp`` x ``pp`` GPUs.

    ``draft_layers``: layers of an EAGLE or MTP draft of the target's own kind. Raises ScenarioError for settings that
    cannot be, and KvvizError where ``not_run``.
    """
    if missing := not_run(architecture):
        raise KvvizError(missing.message, code=missing.code)
    return _plan(
        ByIdentity(architecture),
        kv_dtype,
        tp,
        pp,
        dp_attention,
        page_tokens,
        window_ratio,
        full_memory_ratio,
        radix_cache,
        draft_layers,
        generation,
    )


@lru_cache(maxsize=1024)
def _plan(
    key: ByIdentity[Architecture],
    kv_dtype: KvDtype,
    tp: int,
    pp: int,
    dp: int,
    page_tokens: int | None,
    window_ratio: Fraction,
    full_memory_ratio: Fraction,
    radix_cache: bool,
    draft_layers: int,
    generation: str,
) -> SglangPlan:
    architecture = key.value
    if dp < 1 or tp % dp:
        sizes = ", ".join(str(d) for d in range(1, tp + 1) if tp % d == 0)
        raise ScenarioError(Message(text.DP_DOES_NOT_DIVIDE, {"dp": dp, "tp": tp, "sizes": sizes}), field="dp")
    if not _runs_on(architecture, tp // dp):
        sizes = ", ".join(str(size * dp) for size in tp_sizes(architecture) if size * dp <= MAX_TP)
        raise ScenarioError(Message(text.TP_DOES_NOT_DIVIDE, {"tp": tp, "sizes": sizes}), field="tp")
    layers = allocated_layers(architecture)
    if not 1 <= pp <= len(layers):
        raise ScenarioError(Message(text.PP_TOO_LARGE, {"pp": pp, "layers": len(layers)}), field="pp")
    for name, ratio, most in (
        ("swa-full-tokens-ratio", window_ratio, 1),
        ("mamba-full-memory-ratio", full_memory_ratio, 100),
    ):
        if not 0 < ratio <= most:
            values = {"name": name, "most": most, "value": float(ratio)}
            raise ScenarioError(Message(text.FRACTION_OUT_OF_RANGE, values), field=name.replace("-", "_"))
    stored = stored_dtype(architecture, kv_dtype, generation)
    page = default_page_tokens(architecture, generation) if page_tokens is None else page_tokens
    if page < 1:
        raise ScenarioError(Message(text.PAGE_TOO_SMALL, {"page": page}), field="page_tokens")
    windowed = keeps_windows(architecture)
    share = _Share(
        dtype=stored,
        tp=tp // dp,
        windowed=windowed,
        state_value_bytes=state_value_bytes(architecture),
        draft_layers=draft_layers,
    )
    states = any(isinstance(c, RecurrentState) for layer in layers for c in layer)
    tracking = tracking_slots(architecture) if radix_cache else 0
    return SglangPlan(
        kv_dtype=stored,
        tp=tp,
        pp=pp,
        dp_attention=dp,
        page_tokens=page,
        stages=tuple(
            share.stage(layers[part.start : part.stop]) for part in pipeline(architecture, pp, remainder="last")
        ),
        window_tokens=max((_limit(c) for layer in layers for c in layer), default=0) if windowed else 0,
        window_ratio=window_ratio,
        full_memory_ratio=full_memory_ratio,
        radix_cache=radix_cache,
        slots_per_request=(_RADIX_SLOTS if radix_cache else 1) + tracking if states else 0,
        held_slots=1 + tracking if states else 0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    """How one GPU of a stage splits and stores layers."""

    dtype: KvDtype
    tp: int
    windowed: bool
    state_value_bytes: int
    draft_layers: int

    def stage(self, layers: tuple[Layer, ...]) -> Stage:
        full = windows = states = indexers = indexed = 0
        for cache in (cache for layer in layers for cache in layer):
            match cache:
                case RecurrentState():
                    states += self._state_bytes(cache)
                case SlidingWindow() | ChunkedAttention() if self.windowed:
                    windows += self._token_bytes(cache)
                case IndexerKeys() if cache.packed:
                    indexed = self._token_bytes(cache)
                    indexers += indexed
                case _:
                    full += self._token_bytes(cache)
        keeping = sum(
            any(not isinstance(c, RecurrentState) and not (self.windowed and _limit(c)) for c in layer)
            for layer in layers
        )
        if keeping and self.draft_layers:
            # A draft's layers are the target's own kind, and all of them have an indexer where the target has any
            # (model_executor/pool_configurator.py:257-318, 714-748).
            full += full * self.draft_layers // keeping + indexed * self.draft_layers
        return Stage(layers=len(layers), full_bytes=full + indexers, window_bytes=windows, state_bytes=states)

    def _token_bytes(self, cache: LayerCache) -> int:
        match cache:
            case FullAttention() | SlidingWindow() | ChunkedAttention():
                return int(token_bytes(cache, self.dtype, heads=max(1, cache.kv_heads // self.tp)))
            case _:  # latents and indexer keys: one head, copied to every GPU
                return int(token_bytes(cache, self.dtype))

    def _state_bytes(self, state: RecurrentState) -> int:
        """Groups that do not divide are made as many as there are GPUs (``configs/mamba_utils.py:26-37, 130-190``)."""
        groups = state.conv_groups
        if groups % self.tp:
            groups = self.tp
        channels = (state.conv_channels + groups * state.conv_channels_per_group) // self.tp
        recurrent = state.heads // self.tp * state.values_per_head
        return channels * state.conv_columns * _CONV_BYTES + recurrent * self.state_value_bytes


def _limit(cache: LayerCache) -> int:
    match cache:
        case SlidingWindow():
            return cache.window_tokens
        case ChunkedAttention():
            return cache.chunk_tokens
        case _:
            return 0


def offers(kv_dtype: KvDtype) -> bool:
    """Whether SGLang has such a cache at all."""
    return "sglang" in kv_dtype.engines


def usable_dtypes(architecture: Architecture) -> tuple[str, ...]:
    """Names of the cache types SGLang has a form of for this model: sparse latents are bf16 or fp8 only.

    ``arg_groups/overrides.py:489-545``
    """
    sparse = is_sparse(architecture)
    return tuple(d.name for d in KV_DTYPES.values() if offers(d) and not (sparse and d.name == "fp16"))


def default_dtype(architecture: Architecture, generation: str) -> KvDtype | None:
    """The cache type SGLang itself sets where none is given; None: it goes by the checkpoint and the model."""
    name = default_dtype_name(architecture, generation)
    return KV_DTYPES[name] if name else None


def stored_dtype(architecture: Architecture, kv_dtype: KvDtype, generation: str) -> KvDtype:
    """The layout ``kv_dtype`` becomes: on Hopper, sparse latents in fp8 are records with scales of their own.

    Blackwell's TensorRT-LLM kernel and AMD's read plain fp8 (``mem_cache/kv_cache_configurator.py:3412-3473``); GLM has
    another kernel on consumer Blackwell (``arg_groups/overrides.py:630-720``).
    """
    if kv_dtype == _RECORD and is_sparse(architecture):
        return kv_dtype
    choices = usable_dtypes(architecture)
    if kv_dtype.name not in choices:
        values = {"dtype": kv_dtype.name, "choices": ", ".join(choices)}
        raise ScenarioError(Message(text.DTYPE_OF_ANOTHER_ENGINE, values), field="kv_dtype")
    if kv_dtype.name != "fp8" or not is_sparse(architecture) or generation in ("blackwell", "cdna3"):
        return kv_dtype
    plain = generation == "blackwell-rtx" and class_of(architecture) != "GlmMoeDsaForCausalLM"
    return kv_dtype if plain else _RECORD


def default_page_tokens(architecture: Architecture, generation: str) -> int:
    """Tokens of a page where ``--page-size`` is not given: what the kernel of this model and GPU needs, else 1.

    ``arg_groups/overrides.py:1146-1197, 1340-1362``, ``model_overrides/minimax_m3.py:97``
    """
    caches = {cache for layer in architecture.layers for cache in layer}
    if any(isinstance(c, IndexerKeys) for c in caches):
        return 64 if is_sparse(architecture) else 128
    heads = [c for c in caches if isinstance(c, FullAttention | SlidingWindow | ChunkedAttention)]
    if not heads or generation != "blackwell":
        return 1
    return 128 if any(c.key_dim != c.value_dim for c in heads) else 64


def tp_sizes(architecture: Architecture, limit: int = MAX_TP) -> tuple[int, ...]:
    """Sizes of an attention group up to ``limit`` that the heads allow."""
    return tuple(tp for tp in range(1, limit + 1) if _runs_on(architecture, tp))


def _runs_on(architecture: Architecture, tp: int) -> bool:
    if tp < 1 or (architecture.attention_heads is not None and architecture.attention_heads % tp):
        return False
    for cache in {cache for layer in architecture.layers for cache in layer}:
        match cache:
            case FullAttention() | SlidingWindow() | ChunkedAttention():
                if cache.kv_heads % tp and tp % cache.kv_heads:
                    return False
            case RecurrentState():
                groups_split = not cache.conv_groups % tp or tp > cache.conv_groups
                if cache.heads % tp or cache.conv_channels % tp or not groups_split:
                    return False
            case _:
                pass
    return True


def request_table_bytes(running: int, context_tokens: int) -> int:
    """The table of each request's token slots, outside the pools: int32, one row more for padding, 4 columns more.

    ``running``: requests of one data-parallel group (``mem_cache/memory_pool.py:376-410``).
    """
    return (running + 1) * (context_tokens + 4) * 4


def launch(
    of: SglangPlan,
    *,
    model: str,
    context_tokens: int,
    memory_fraction: float | None = None,
    max_running_requests: int | None = None,
    default_page: int = 1,
    says_dtype: bool = False,
) -> tuple[str, ...]:
    """The server as words of a command; what is the engine's own default is left out.

    ``says_dtype``: name a 16-bit cache type too, which is the model's own without.
    """
    words = ["python", "-m", "sglang.launch_server", "--model-path", model, "--context-length", f"{context_tokens}"]

    def flag(name: str, value: object, default: object) -> None:
        if value != default:
            words.extend((name, f"{value}"))

    flag("--tp-size", of.tp, 1)
    flag("--pp-size", of.pp, 1)
    if of.dp_attention > 1:
        words.extend(("--dp-size", f"{of.dp_attention}", "--enable-dp-attention"))
    if says_dtype or of.kv_dtype.quantised:
        flag("--kv-cache-dtype", _CACHE_FLAGS.get(of.kv_dtype.name), None)
    flag("--page-size", of.page_tokens, default_page)
    flag("--mem-fraction-static", memory_fraction, None)
    flag("--max-running-requests", max_running_requests, None)
    if of.window_tokens:
        flag("--swa-full-tokens-ratio", float(of.window_ratio), float(WINDOW_TOKENS_RATIO))
    if of.slots_per_request:
        flag("--mamba-full-memory-ratio", float(of.full_memory_ratio), float(FULL_MEMORY_RATIO))
    if of.slots_per_request == 1:
        words.append("--disable-radix-cache")
    return tuple(words)


_CACHE_FLAGS: Final = {"fp8": "fp8_e4m3", "fp8_ds_mla": "fp8_e4m3", "bf16": "bfloat16"}
