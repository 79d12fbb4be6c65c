"""llama.cpp's figures as predicted, and ollama's: cells of all slots, states, cross attention."""

from dataclasses import replace
from typing import Final

from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    CompressedAttention,
    FullAttention,
    LatentAttention,
    RecurrentState,
    SlidingWindow,
)
from kvviz.core.dtypes import ALIASES, KV_DTYPES
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB, MIB
from kvviz.engine_log import EngineLog
from kvviz.engines import llama_cpp
from kvviz.engines.llama_cpp import LlamaCppPlan
from kvviz.log_check import layers
from kvviz.log_check.model import Expected, Prediction, Settings
from kvviz.scenario import MAX_TOKENS, Scenario
from kvviz.sizing import size

_HALF_A_STEP: Final = MIB / 200 + 1
"""MiB are printed with two decimals, and read as whole bytes."""


def plan_of(architecture: Architecture, settings: Settings) -> LlamaCppPlan:
    """The cells of a server with these settings."""
    v_dtype = settings.v_dtype if settings.v_dtype != settings.kv_dtype else "same"
    sized = None
    if settings.latent != "latent+values" and llama_cpp.not_run(architecture) is None:
        scenario = Scenario(
            engine="llama.cpp",
            engine_version="expanded-mla" if settings.latent == "expanded" else "auto",
            gpu="",
            input=min(settings.context_tokens or 1, MAX_TOKENS),
            output=0,
            kv_dtype=settings.kv_dtype,
            v_dtype=v_dtype,
            unified="on" if settings.unified else "off",
            full_windows="on" if settings.full_windows else "off",
            batched_tokens=settings.ubatch_tokens,
        )
        sizing = size(architecture, scenario, weights=None)
        if sizing.plan_missing is not None:
            raise KvvizError(sizing.plan_missing.message, code=sizing.plan_missing.code)
        sized = sizing.plan
    if not isinstance(sized, LlamaCppPlan):  # a build of its own, or one between two versions
        k, v = (None if d in ("auto", "same") else KV_DTYPES[d] for d in (settings.kv_dtype, v_dtype))
        sized = llama_cpp.plan(
            architecture,
            kv_dtype=k or llama_cpp.DEFAULT_DTYPE,
            v_dtype=v,
            unified=settings.unified,
            ubatch_tokens=settings.ubatch_tokens,
            swa_full=settings.full_windows,
            latent=settings.latent,
            forks=True,
        )
    return replace(sized, pad_tokens=settings.pad_tokens, rollback_states=settings.rollback_states)


def predict(log: EngineLog, architecture: Architecture, settings: Settings) -> Prediction:
    """The figures of one server, over all its devices."""
    plan = plan_of(architecture, settings)
    figures: dict[str, Expected] = {}
    slots, cells = settings.slots, settings.context_tokens
    states = plan.allocated_state_bytes(slots)
    if states:
        figures["state_bytes_total"] = Expected(states, 3 * _HALF_A_STEP)
        figures["state_bytes_per_slot"] = Expected(states / slots, 3 * _HALF_A_STEP)
    own = _numbers(architecture)
    figures |= {name: Expected(value, telling=False) for name, value in own.items()}
    if cells and len(own) > 1:
        _add_caches(figures, log, architecture, plan, settings, cells)
    return Prediction(figures=figures, rules=_rules(log, architecture, plan, settings))


def _add_caches(
    figures: dict[str, Expected],
    log: EngineLog,
    architecture: Architecture,
    plan: LlamaCppPlan,
    settings: Settings,
    cells: int,
) -> None:
    slots = settings.slots
    tolerance = _tolerance(log)
    total = plan.allocated_bytes(cells, slots)
    states = plan.allocated_state_bytes(slots)
    cache = total - states
    full = _without_windows(plan).allocated_bytes(cells, slots)
    fixed = sum(share.fixed_bytes for share in (*plan.shares, plan.host))
    figures["kv_bytes_total"] = Expected(cache, tolerance)
    if full == cache:
        figures["bytes_per_token"] = Expected(cache / cells, tolerance / cells)
    elif fixed:
        figures["bytes_per_token"] = Expected((cache - fixed) / cells, tolerance / cells)
        figures["self_attention_bytes"] = Expected(cache - fixed, tolerance)
        figures["cross_attention_bytes"] = Expected(fixed, tolerance)
    else:
        # Indexers have a line of their own, here they are part of their layers.
        figures["full_bytes"] = Expected(full, tolerance, telling=log.indexer_bytes is None)
        figures["full_cells"] = Expected(plan.context_tokens(1, cells), telling=False)
        figures["window_bytes"] = Expected(cache - full, tolerance)
        row = sum(b for share in plan.shares for _, b in share.windows)
        streams = 1 if plan.unified else slots
        if row:
            figures["window_cells"] = Expected((cache - full) / row / streams)
    if not fixed and not layers.has(architecture, CompressedAttention):
        keys = _keys(architecture, settings, cells)
        figures["k_bytes"] = Expected(keys, tolerance)
        figures["v_bytes"] = Expected(cache - keys, tolerance)
    if log.context_bytes_total is not None:
        figures["context_bytes_total"] = Expected(total, 4 * MIB)


def _keys(architecture: Architecture, settings: Settings, cells: int) -> int:
    """The keys' part: with ``latent+values`` the latent, with ``expanded`` all heads' keys."""
    known = layers.expanded(architecture) if settings.latent == "expanded" else architecture
    only = replace(settings, latent="latent", v_dtype="same")
    plan = plan_of(layers.keys_only(known), only)
    return plan.allocated_bytes(cells, settings.slots)


def _without_windows(plan: LlamaCppPlan) -> LlamaCppPlan:
    def bare(share: llama_cpp.Share) -> llama_cpp.Share:
        return replace(share, windows=(), own_windows=(), state_bytes=0, fixed_bytes=0)

    return replace(plan, shares=tuple(map(bare, plan.shares)), host=bare(plan.host))


def _tolerance(log: EngineLog) -> float:
    """By what is printed: a line for the whole cache, or one for each device, or ollama's one decimal."""
    if log.form in ("allocation by device", "estimate before loading"):
        devices = len(log.per_device_mib or ()) or 1
        return devices * (GIB if (log.kv_bytes_total or 0) >= GIB else MIB) / 20 + 1
    lines = len(log.per_device_mib or ()) if log.form.startswith("buffers only") else 1
    caches = 2 if log.window_bytes is not None or log.indexer_bytes is not None else 1
    return max(1, lines) * caches * _HALF_A_STEP


def _numbers(architecture: Architecture) -> dict[str, float]:
    """Sizes of the model's own that llama.cpp prints from the file."""
    keeping = [layer for layer in architecture.layers if any(not isinstance(c, RecurrentState) for c in layer)]
    out: dict[str, float] = {"layers": len(architecture.layers)}
    if keeping:
        out["kv_layers"] = len(keeping)
    heads = {c for layer in keeping for c in layer if isinstance(c, FullAttention | SlidingWindow | ChunkedAttention)}
    if heads and not layers.has(architecture, LatentAttention):
        for name, values in (
            ("kv_heads", {c.kv_heads for c in heads}),
            ("head_dim", {c.key_dim for c in heads}),
            ("value_dim", {c.value_dim for c in heads}),
        ):
            if len(values) == 1:
                out[name] = values.pop()
    return out


def _rules(log: EngineLog, architecture: Architecture, plan: LlamaCppPlan, settings: Settings) -> tuple[str, ...]:
    found: list[str] = []
    if layers.has(architecture, SlidingWindow, ChunkedAttention):
        kept = any(share.windows for share in plan.shares) and not plan.swa_full
        if not kept:
            found.append("swa_full" if log.window_bytes is not None else "windows_ignored")
        else:
            found.append("iswa_cells" if plan.unified or settings.slots == 1 else "split_slots")
    elif not plan.unified and settings.slots > 1:
        found.append("split_slots")
    if layers.has(architecture, RecurrentState):
        attention = log.kv_bytes_total is not None or log.state_bytes_total is None
        if log.state_bytes_total is not None:
            found.append("kv_plus_recurrent_f32" if attention else "recurrent_f32")
    if layers.has(architecture, LatentAttention):
        found.append(
            {"latent": "mla_latent", "latent+values": "mla_latent_plus_v_copy", "expanded": "mla_expanded"}[
                plan_latent(architecture, settings)
            ]
        )
    if layers.has(architecture, CompressedAttention):
        found.append("k_row_only")
    if any(share.fixed_bytes for share in plan.shares):
        found.append("cross_cache_f32")
    if ALIASES.get(settings.kv_dtype, settings.kv_dtype) == "fp32" and not layers.has(architecture, RecurrentState):
        found.append("f32_cache")
    if layers.is_encoder(architecture):
        found.append("encoder_cache_allocated")
    return tuple(found)


def plan_latent(architecture: Architecture, settings: Settings) -> str:
    """How latents are kept; some models' always as heads."""
    always = any(isinstance(c, LatentAttention) and c.expanded_heads for c in layers.caches(architecture))
    return "expanded" if always else settings.latent
