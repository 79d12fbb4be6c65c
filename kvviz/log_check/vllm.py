"""vLLM's figures as predicted: what one block takes, how many the pool has, and what it prints of them."""

from dataclasses import dataclass
from math import ceil, floor
from typing import Final

from kvviz.core.architecture import Architecture
from kvviz.core.cache import ChunkedAttention, CrossAttention, FullAttention, LatentAttention, SlidingWindow
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB
from kvviz.devices import device
from kvviz.engine_log import EngineLog
from kvviz.engines import vllm
from kvviz.engines.vllm import VllmPlan
from kvviz.log_check import layers
from kvviz.log_check.model import Expected, Prediction, Settings
from kvviz.planning import generation_of
from kvviz.scenario import MAX_TOKENS, Scenario
from kvviz.sizing import size
from kvviz.text import Message
from kvviz.text import log_check as text

HALF_A_STEP: Final = GIB / 200 + 1
"""GiB are printed with two decimals, and read as whole bytes."""
_CONCURRENCY: Final = 0.00501
_RANKS_APART: Final = 0.015
"""Share that ranks were seen to differ by, at most."""


@dataclass(frozen=True, slots=True)
class _Pool:
    """Blocks of the pool that the printed memory leaves possible."""

    least: int
    most: int

    def nearest(self, wanted: int | None) -> int:
        """Of them the one next to what other figures say; else the middle."""
        return (self.least + self.most) // 2 if wanted is None else min(max(wanted, self.least), self.most)


def plan_of(architecture: Architecture, settings: Settings) -> VllmPlan:
    """What vLLM sets aside under these settings. KvvizError where it does not run the model so."""
    known = architecture
    if settings.latent == "expanded":
        known = layers.expanded(known)
    if settings.depth is not None:
        known = layers.as_deep_as(known, settings.depth)
    version = settings.version
    in_flight = settings.batched_tokens * vllm.concurrent_batches(
        settings.pp, version=vllm.VERSION if version == "auto" else version
    )
    scenario = Scenario(
        engine="vllm",
        engine_version=version,
        gpu=settings.gpu,
        gpus=settings.tp * settings.pp,
        tp=settings.tp,
        pp=settings.pp,
        dcp=settings.dcp,
        input=min(settings.length_tokens or 1, MAX_TOKENS),
        output=0,
        kv_dtype=settings.kv_dtype,
        weight_dtype="bf16",  # how weights are cut is not asked here
        block_tokens=settings.block_tokens,
        in_flight_tokens=min(in_flight, MAX_TOKENS),
        prefix_caching="on" if settings.prefix_caching else "off",
        full_windows="on" if settings.full_windows else "off",
        draft_layers=settings.draft_layers,
    )
    sizing = size(known, scenario, weights=None)
    plan = sizing.plan
    if sizing.plan_missing is not None:
        raise KvvizError(sizing.plan_missing.message, code=sizing.plan_missing.code)
    if not isinstance(plan, VllmPlan):
        raise KvvizError(Message(text.NOTHING_TO_PREDICT), code="log-check")
    if settings.draft_tokens:
        plan = vllm.plan(
            known,
            kv_dtype=sizing.kv_dtype,
            tp=settings.tp,
            pp=settings.pp,
            dcp=settings.dcp,
            block_tokens=settings.block_tokens,
            in_flight_tokens=in_flight,
            prefix_caching=settings.prefix_caching,
            full_windows=settings.full_windows,
            draft_layers=settings.draft_layers,
            draft_tokens=settings.draft_tokens,
            version=plan.version,
            gpu_generation=generation_of(device(settings.gpu) if settings.gpu else None),
        )
    return plan


def predict(log: EngineLog, architecture: Architecture, settings: Settings) -> Prediction:
    """The figures of one engine, or of several side by side."""
    plan = plan_of(architecture, settings)
    figures: dict[str, Expected] = {}
    apart = _RANKS_APART if _by_smallest(settings) else 0.0
    rate = bytes_per_token(plan)
    if rate is not None:
        figures["bytes_per_token"] = Expected(rate, _rate_tolerance(log, rate) + apart * rate)
    if len(plan.groups) > 1 or any(g.kind == "state" for g in plan.groups):
        figures["block_tokens"] = Expected(plan.block_tokens, telling=log.padding_layers is not None)
    if log.cpu_blocks is not None:
        figures["cpu_blocks"] = Expected((log.swap_bytes or vllm.SWAP_BYTES) // plan.pool_block_bytes)
    _add_pool(figures, log, plan, settings, apart)
    _add_refusal(figures, log, plan, settings)
    return Prediction(figures=figures, rules=_rules(log, architecture, plan, settings, figures))


def _by_smallest(settings: Settings) -> bool:
    return settings.smallest_rank and settings.tp * settings.pp > 1


def bytes_per_token(plan: VllmPlan) -> float | None:
    """What each further token takes on the fullest GPU; None where it is not one number for all lengths."""
    (group, *others) = plan.groups
    if others or group.kind in ("window", "chunk", "state", "cross"):
        return None
    return plan.pool_block_bytes / group.span_tokens


def _rate_tolerance(log: EngineLog, rate: float) -> float:
    """A rate is read as the roundest number in a range: of the pool's print, and of one block more or less."""
    pool = log.available_kv_bytes_per_gpu or log.needed_bytes or log.available_kv_bytes
    tokens = log.kv_tokens or log.tokens_line or log.needed_for_tokens or log.estimated_max_len
    if log.cpu_blocks and not log.available_kv_bytes_per_gpu:
        return rate / log.cpu_blocks
    return rate * (HALF_A_STEP / pool + 64 / max(tokens, 64)) if pool and tokens else 0.0


def _pool(log: EngineLog, plan: VllmPlan) -> _Pool | None:
    printed = log.available_kv_bytes_per_gpu or log.available_kv_bytes
    if printed is None:
        return None
    block = plan.pool_block_bytes
    return _Pool(*(floor(max(0, printed + step) / block) for step in (-HALF_A_STEP, HALF_A_STEP)))


def _add_pool(figures: dict[str, Expected], log: EngineLog, plan: VllmPlan, settings: Settings, apart: float) -> None:
    pool, engines = _pool(log, plan), settings.dp
    wanted = _blocks_said(log, plan, engines)
    if pool is None and wanted is None:
        return
    blocks = pool.nearest(wanted) if pool is not None else wanted or 0
    # Where the smallest rank decides, up to so many tokens fewer than this rank's memory would hold.
    if apart and pool is not None and wanted is not None and pool.least * (1 - apart) <= wanted <= pool.least:
        blocks = wanted
    length = log.max_model_len or None
    known = pool is not None  # else the blocks are those that the tokens come to, which proves nothing
    if known:
        figures["gpu_blocks"] = Expected(blocks)
    tokens = engines * plan.start_log(blocks, length or plan.block_tokens)[1]
    if length or plan.version != vllm.VERSION or len(plan.groups) == 1:
        figures["tokens_line"] = Expected(tokens, telling=known)
    if len(plan.groups) == 1 or log.tokens_line_is_capacity:
        figures["kv_tokens"] = Expected(tokens, telling=known)
    if length is not None:
        each = plan.start_log(blocks, length)[0]
        figures["max_concurrency"] = Expected(engines * each, engines * _CONCURRENCY)
        if log.capacity_tokens_at_max_len is not None:
            figures["capacity_tokens_at_max_len"] = Expected(
                round(engines * each * length), engines * _CONCURRENCY * length
            )


def pool_blocks(log: EngineLog, plan: VllmPlan, engines: int, *, exact: bool) -> int | None:
    """Blocks of one engine's pool; ``exact``: as its other figures say, whatever memory was printed beside them."""
    pool, wanted = _pool(log, plan), _blocks_said(log, plan, engines)
    return wanted if pool is None or (exact and wanted is not None) else pool.nearest(wanted)


def _blocks_said(log: EngineLog, plan: VllmPlan, engines: int) -> int | None:
    """Blocks that the printed blocks, tokens or concurrency come to in this plan."""
    if log.gpu_blocks is not None:
        return log.gpu_blocks
    line = log.tokens_line if log.tokens_line is not None else log.kv_tokens
    length = log.max_model_len or None
    by_concurrency = None
    if log.max_concurrency is not None and length is not None:
        by_concurrency = round(log.max_concurrency / engines * plan.request_blocks(length))
    if line is None:
        return by_concurrency
    line //= engines
    if plan.version == vllm.VERSION:
        if length is None:
            return line // plan.block_tokens if len(plan.groups) == 1 else None
        near = ceil(line * plan.request_blocks(length) / length)
        return next((b for b in (near, near - 1, near + 1) if plan.start_log(b, length)[1] == line), near)
    finest = min(g.block_tokens for g in plan.groups) * plan.dcp
    least = line // finest * len(plan.groups)
    most = least + len(plan.groups) - 1
    return least if by_concurrency is None else min(max(by_concurrency, least), most)


def _add_refusal(figures: dict[str, Expected], log: EngineLog, plan: VllmPlan, settings: Settings) -> None:
    if log.needed_bytes is not None and log.needed_for_tokens is not None:
        blocks = plan.request_blocks(log.needed_for_tokens)
        each = [stage.pool_block_bytes for stage in plan.stages]
        figures["needed_bytes"] = Expected(blocks * (sum(each) if settings.stages_added else max(each)), HALF_A_STEP)
    longest = log.estimated_max_len
    pool = _pool(log, plan)
    if longest is not None and pool is not None and log.form != "V0 refusal":
        least, most = plan.longest_request(pool.least), plan.longest_request(pool.most + 1)
        if least is not None and most is not None:
            figures["estimated_max_len"] = Expected(min(max(longest, least - plan.block_tokens), most))


def _rules(
    log: EngineLog,
    architecture: Architecture,
    plan: VllmPlan,
    settings: Settings,
    figures: dict[str, Expected],
) -> tuple[str, ...]:
    found: list[str] = []
    limited = layers.has(architecture, SlidingWindow, ChunkedAttention)
    several = len(plan.groups) > 1
    if limited and (settings.full_windows or settings.version == vllm.VERSIONS[-1]):
        found.append("windows_ignored")
    elif limited and not several and plan.groups[0].kind == "window":
        found.append("window_plus_one_block")
    heads = [c.kv_heads for c in layers.caches(architecture) if isinstance(c, FullAttention | SlidingWindow)]
    if heads and settings.tp > min(heads):
        found.append("replicated_heads")
    if layers.has(architecture, LatentAttention):
        found.append("mla_expanded" if settings.latent == "expanded" else "mla_latent")
    if several and log.tokens_line is not None:
        new = plan.version == vllm.VERSION
        found.append("concurrency_times_len" if new else "tokens_line_is_groups")
    if settings.depth is not None:
        found.append("encoder_depth")
    elif layers.has(architecture, CrossAttention) is False and layers.is_encoder(architecture):
        found.append("encoder_cache_allocated")
    if settings.stages_added:
        found.append("pp_whole_model_need")
    if _by_smallest(settings):
        found.append("min_over_ranks")
    if "cpu_blocks" in figures and "gpu_blocks" not in figures:
        found.append("cpu_swap_blocks")
    pool = log.available_kv_bytes_per_gpu or log.available_kv_bytes
    if pool is None and "max_concurrency" in figures and log.max_concurrency is not None and not several:
        found.append("tokens_over_length")
    return tuple(found)
