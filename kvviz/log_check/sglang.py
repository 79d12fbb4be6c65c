"""SGLang's figures as predicted: bytes of a token in each pool, and what the pools come to."""

from math import ceil
from typing import Final

from kvviz.core.architecture import Architecture
from kvviz.core.cache import ChunkedAttention, FullAttention, LatentAttention, SlidingWindow
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB
from kvviz.engine_log import EngineLog
from kvviz.engines import sglang
from kvviz.engines.sglang import SglangPlan
from kvviz.log_check import layers
from kvviz.log_check.model import Expected, Prediction, Settings
from kvviz.scenario import MAX_TOKENS, Scenario
from kvviz.sizing import size
from kvviz.text import Message
from kvviz.text import log_check as text

_STEP: Final = GIB / 100 + 2
"""K and V are printed apart, in GB of 2^30 with two decimals."""
_PAGE: Final = 256
"""Tokens that a pool may have more than its line says."""
_DIFFERENCE: Final = 0.02
"""Share by which a difference of free memory is off: other things are allocated in between."""
_ROWS: Final = 2_049
"""Rows of the request table where the log does not say how many run at once."""


def plan_of(architecture: Architecture, settings: Settings) -> SglangPlan:
    """The pools under these settings."""
    known = layers.at_full_length(architecture) if settings.full_windows else architecture
    scenario = Scenario(
        engine="sglang",
        gpu=settings.gpu,
        gpus=settings.tp * settings.pp,
        tp=settings.tp,
        pp=settings.pp,
        input=min(settings.length_tokens or 1, MAX_TOKENS),
        output=0,
        kv_dtype=settings.kv_dtype,
        weight_dtype="bf16",
        block_tokens=settings.block_tokens,
        draft_layers=settings.draft_layers,
    )
    sizing = size(known, scenario, weights=None)
    if sizing.plan_missing is not None:
        raise KvvizError(sizing.plan_missing.message, code=sizing.plan_missing.code)
    if not isinstance(sizing.plan, SglangPlan):
        raise KvvizError(Message(text.NOTHING_TO_PREDICT), code="log-check")
    return sizing.plan


def predict(log: EngineLog, architecture: Architecture, settings: Settings) -> Prediction:
    """The figures of one rank."""
    plan = plan_of(architecture, settings)
    figures: dict[str, Expected] = {}
    full, window = (max(s.full_bytes for s in plan.stages), max(s.window_bytes for s in plan.stages))
    two = log.window_pool_tokens is not None
    tokens = log.kv_tokens // settings.dp if log.kv_tokens else None
    if two:
        _add_two(figures, log, full, window)
    else:
        rate = full + window
        if rate:
            figures["bytes_per_token"] = Expected(rate, _rate_tolerance(rate, log.kv_bytes_per_gpu, tokens))
        if tokens and rate:
            figures["kv_bytes_per_gpu"] = Expected(rate * tokens, _STEP + rate * _PAGE)
            _add_halves(figures, architecture, rate * tokens, rate * _PAGE)
            _add_free(figures, log, rate * tokens)
    if log.state_slots is not None and plan.slots_per_request:
        size_bytes = (log.state_slots + 1) * plan.slot_bytes
        figures["state_bytes_per_gpu"] = Expected(size_bytes, _STEP + plan.slot_bytes)
    return Prediction(
        figures=figures, rules=_rules(architecture, settings, two=two and plan.window_tokens > 0, figures=figures)
    )


def _rate_tolerance(rate: int, pool: int | None, tokens: int | None) -> float:
    return rate * (_STEP / pool + _PAGE / tokens) if pool and tokens else 0.0


def _add_two(figures: dict[str, Expected], log: EngineLog, full: int, window: int) -> None:
    for name, rate, tokens, pool in (
        ("full", full, log.full_pool_tokens, log.full_pool_bytes_per_gpu),
        ("window", window, log.window_pool_tokens, log.window_pool_bytes_per_gpu),
    ):
        figures[f"{name}_bytes_per_token"] = Expected(rate, _rate_tolerance(rate, pool, tokens))
        if tokens:
            figures[f"{name}_pool_bytes_per_gpu"] = Expected(rate * tokens, _STEP + rate * _PAGE)
    if log.full_pool_tokens and log.window_pool_tokens:
        both = full * log.full_pool_tokens + window * log.window_pool_tokens
        figures["pools_bytes_per_gpu"] = Expected(both, _STEP + (full + window) * _PAGE)


def _add_halves(figures: dict[str, Expected], architecture: Architecture, pool: int, page: int) -> None:
    heads = {(c.key_dim, c.value_dim) for c in layers.caches(architecture) if isinstance(c, FullAttention)}
    if len(heads) == 1 and not layers.has(architecture, LatentAttention, SlidingWindow, ChunkedAttention):
        ((key, value),) = heads
        figures["k_bytes_per_gpu"] = Expected(pool * key / (key + value), _STEP / 2 + page)
        figures["v_bytes_per_gpu"] = Expected(pool * value / (key + value), _STEP / 2 + page)


def _add_free(figures: dict[str, Expected], log: EngineLog, pool: int) -> None:
    """What is left after the pool and the table of requests, where no size of the pool is printed."""
    before = log.free_after_load_bytes_per_gpu
    if before is None or log.free_after_pools_bytes_per_gpu is None or log.kv_bytes_per_gpu is not None:
        return
    rows = log.max_running_requests or _ROWS
    table = sglang.request_table_bytes(rows - 1, log.max_model_len) if log.max_model_len else 0
    figures["free_after_pools_bytes_per_gpu"] = Expected(before - pool - table, ceil(_DIFFERENCE * pool) + _STEP)


def _rules(
    architecture: Architecture, settings: Settings, *, two: bool, figures: dict[str, Expected]
) -> tuple[str, ...]:
    found: list[str] = []
    if two:
        found.append("sglang_swa_pool")
    elif layers.has(architecture, SlidingWindow, ChunkedAttention):
        found.append("windows_ignored")
    if layers.has(architecture, LatentAttention):
        found.append("mla_latent")
    heads = [c.kv_heads for c in layers.caches(architecture) if isinstance(c, FullAttention | SlidingWindow)]
    if heads and settings.tp > min(heads):
        found.append("replicated_heads")
    if layers.is_encoder(architecture):
        found.append("encoder_cache_allocated")
    if "free_after_pools_bytes_per_gpu" in figures:
        found.append("free_memory_difference")
    return tuple(found)
