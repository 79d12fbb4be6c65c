"""TensorRT-LLM's figures as predicted: blocks of a fraction of the free memory, and what they take."""

from math import ceil
from typing import Final

from kvviz.core.architecture import Architecture
from kvviz.core.cache import ChunkedAttention, FullAttention, LatentAttention, SlidingWindow
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB
from kvviz.engine_log import EngineLog
from kvviz.engines import tensorrt_llm
from kvviz.engines.tensorrt_llm import TensorRtLlmPlan
from kvviz.log_check import layers
from kvviz.log_check.model import Expected, Prediction, Settings
from kvviz.scenario import MAX_TOKENS, Scenario
from kvviz.sizing import size
from kvviz.text import Message
from kvviz.text import log_check as text

_HALF_A_STEP: Final = GIB / 200 + 1


def plan_of(architecture: Architecture, settings: Settings) -> TensorRtLlmPlan:
    """The blocks under these settings."""
    scenario = Scenario(
        engine="tensorrt-llm",
        gpu="",
        gpus=settings.tp * settings.pp,
        tp=settings.tp,
        pp=settings.pp,
        input=min(settings.length_tokens or 1, MAX_TOKENS),
        output=0,
        kv_dtype=settings.kv_dtype,
        weight_dtype="bf16",
        block_tokens=settings.block_tokens,
        full_windows="on" if settings.full_windows else "off",
    )
    sizing = size(architecture, scenario, weights=None)
    if sizing.plan_missing is not None:
        raise KvvizError(sizing.plan_missing.message, code=sizing.plan_missing.code)
    if not isinstance(sizing.plan, TensorRtLlmPlan):
        raise KvvizError(Message(text.NOTHING_TO_PREDICT), code="log-check")
    return sizing.plan


def predict(log: EngineLog, architecture: Architecture, settings: Settings) -> Prediction:
    """The figures of one rank."""
    plan = plan_of(architecture, settings)
    figures: dict[str, Expected] = {}
    pools = [pools for stage in plan.stages if (pools := stage.pools)]
    one = all(len(p) == 1 for p in pools)
    if one:
        rate = max(float(each) for p in pools for _, each in p)
        tokens = log.kv_tokens
        pool = log.kv_bytes_per_gpu
        exact = log.form == "bytes and tokens"
        half = 1.0 if exact else _HALF_A_STEP
        figures["bytes_per_token"] = Expected(rate, rate * half / pool if pool else 0.0)
        if tokens:
            up = ceil(tokens / plan.block_tokens) * plan.block_tokens
            figures["kv_bytes_per_gpu"] = Expected(rate * tokens, half + rate * (up - tokens))
        if log.free_bytes and log.blocks is not None:
            share = log.fraction_of_free or float(tensorrt_llm.DEFAULT_FRACTION)
            low, high = (
                share * (log.free_bytes + d) / (rate * plan.block_tokens) for d in (-_HALF_A_STEP, _HALF_A_STEP)
            )
            # Rounded up by the older backend, down by the newer.
            figures["blocks"] = Expected(min(max(log.blocks, int(low)), ceil(high)))
            figures["kv_tokens"] = Expected(figures["blocks"].value * plan.block_tokens)
    return Prediction(figures=figures, rules=_rules(architecture, settings, figures))


def _rules(architecture: Architecture, settings: Settings, figures: dict[str, Expected]) -> tuple[str, ...]:
    found: list[str] = []
    if settings.full_windows and layers.has(architecture, SlidingWindow):
        found.append("windows_ignored")
    if layers.has(architecture, LatentAttention):
        found.append("mla_latent")
    heads = [c.kv_heads for c in layers.caches(architecture) if isinstance(c, FullAttention | ChunkedAttention)]
    if heads and settings.tp > min(heads):
        found.append("replicated_heads")
    if "blocks" in figures:
        found.append("free_memory_fraction")
    return tuple(found)
