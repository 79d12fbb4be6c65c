"""A log's settings, its measured terms and its pool as a scenario, for Sizing."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Final

from kvviz.budgets import Budget
from kvviz.core.cache import ChunkedAttention, LatentAttention, SlidingWindow
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.units import GIB
from kvviz.devices import device, hidden_bytes, usable_bytes
from kvviz.engine_log import EngineLog
from kvviz.engines.llama_cpp import CELL_PAD
from kvviz.engines.vllm import VllmPlan
from kvviz.log_check import layers, settings_of, vllm
from kvviz.log_check.model import Check, Settings
from kvviz.planning import Plan
from kvviz.scenario import ENGINES_WITH, Scenario, Value, kv_dtypes, under_engine
from kvviz.sizing import Sizing

_ENGINES: Final = {"ik_llama.cpp": "llama.cpp", "ollama": "llama.cpp"}
_TERMS: Final = ("weights_gib", "activations_gib", "non_torch_gib", "graphs_gib")
_SAME_GPU: Final = 0.01
"""Share by which drivers' reports of one GPU's memory were seen to differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What Sizing is asked in the log's place."""

    scenario: Scenario
    missing: tuple[str, ...]
    """What of the log is not in it, by name: no setting holds it, or the log does not say it."""
    pool_bytes: int | None
    """Memory for the cache on one GPU, as in the log; None where it is not in the scenario."""


def scenario_of(checked: Check, base: Scenario, *, ask: Callable[[Scenario], Sizing], has_model: bool) -> Taken:
    """``base`` as the log's engine was started, and with what it measured: its concurrency is then the log's.

    ``has_model``: ``base`` asks about the log's model. What no log says, the output's length and the requests, stays.
    """
    log, under = checked.log, checked.settings or settings_of(checked.log, {})
    scenario = under_engine(base, _ENGINES.get(log.engine, log.engine))
    missing = [] if has_model else ["model" if checked.model else "no_model"]
    groups: tuple[tuple[str, dict[str, Value]], ...] = (
        ("settings", dict.fromkeys(_TERMS)),  # figures of another start
        ("split", _split(log, under, scenario.engine)),
        ("settings", _settings(checked, under, scenario.engine)),
        ("length", _lengths(log, under, scenario)),
        ("terms", dict(checked.measured)),
        ("gpu", {"gpu": gpu} if (gpu := _gpu(log, scenario.gpu)) is not None else {}),
    )
    for name, changes in groups:
        try:
            scenario = scenario.with_changes(**changes)
        except ScenarioError:  # what cannot be in a scenario stays as it was
            missing.append(name)
    missing += _unheld(checked, under, scenario)
    pool_bytes = None
    if has_model and checked.settings is not None:
        try:
            sizing = ask(scenario)
        except KvvizError:
            missing.append("settings")
        else:
            if sizing.plan is None:
                missing.append("plan")
            elif scenario.engine != "llama.cpp":  # whose log has the cells of its slots, not what would be left
                wanted, budget = _pool_bytes(checked, sizing.plan, under), sizing.budget
                terms = _rest(checked, budget, wanted) if wanted and budget else None
                if terms is not None:
                    scenario, pool_bytes = scenario.with_changes(**terms), wanted
                else:
                    missing.append("no_pool" if not wanted else "pool" if budget else "no_budget")
    return Taken(scenario=scenario, missing=tuple(dict.fromkeys(missing)), pool_bytes=pool_bytes)


def _split(log: EngineLog, under: Settings, engine: str) -> dict[str, Value]:
    """GPUs and how they are shared out; all at once, as they depend on one another."""
    if engine == "llama.cpp":
        devices = [name for name in log.per_device_mib or () if not name.upper().startswith("CPU")]
        return {"gpus": max(1, len(devices)), "dp": None}
    sizes: dict[str, Value] = {"gpus": under.tp * under.pp * (log.dp or 1), "tp": under.tp, "pp": under.pp, "dp": None}
    return {**sizes, "dcp": under.dcp} if engine == "vllm" else sizes


def _settings(checked: Check, under: Settings, engine: str) -> dict[str, Value]:
    """All others that the prediction rests on; what it does not is the engine's default."""
    log, known = checked.log, checked.architecture
    limited = known is not None and layers.has(known, SlidingWindow, ChunkedAttention)
    step = log.max_num_batched_tokens
    if engine == "llama.cpp":
        step = under.ubatch_tokens if log.n_ubatch or "ubatch_tokens" in checked.assumed else None
    elif limited or "batched_tokens" in checked.assumed:  # what a window reserves depends on it
        step = under.batched_tokens
    settings: dict[str, Value] = {
        "attention_dp": "off",
        "memory_fraction": log.utilization or log.mem_fraction_static or log.fraction_of_free,
        "batched_tokens": step if engine != "sglang" else None,
        "in_flight_tokens": None,
        "block_tokens": under.block_tokens,
        "prefix_caching": "on" if under.prefix_caching else "off",
        "full_windows": "on" if under.full_windows and limited else "off",
        "draft_layers": under.draft_layers,
        "v_dtype": under.v_dtype if under.v_dtype != under.kv_dtype else "same",
        "unified": "on" if under.unified and under.slots > 1 else "off",
    }
    held = {name: value for name, value in settings.items() if engine in ENGINES_WITH[name]}
    if under.kv_dtype in kv_dtypes(engine):
        held["kv_dtype"] = under.kv_dtype
    if engine == "llama.cpp":
        held |= {"users": None, "sequences": under.slots}
        if known is not None and under.latent == "expanded" and layers.has(known, LatentAttention):
            held["engine_version"] = "expanded-mla"
    elif checked.settings is not None:
        held["engine_version"] = under.version
    return held


def _lengths(log: EngineLog, under: Settings, scenario: Scenario) -> dict[str, Value]:
    """One longest request as long as the log's, and nothing asked besides that makes more or fewer of them fit."""
    cells = under.context_tokens
    length = cells // under.slots if scenario.engine == "llama.cpp" and cells else under.length_tokens
    alone: dict[str, Value] = {"shared_tokens": 0, "typical": 1.0, "headroom": 0.0}
    if not length:
        return alone
    output = scenario.output if scenario.output < length else 0
    return {
        **alone,
        "input": length - output,
        "output": output,
        "passages": 0,
        "max_model_len": None if scenario.engine == "llama.cpp" else length,
    }


def _gpu(log: EngineLog, asked: str) -> str | None:
    """A GPU with the memory that the log states; None: it states none, or the one asked for has it."""
    if log.total_bytes is None:
        return None
    if asked:
        least, most = usable_bytes(device(asked)).value_bytes, device(asked).memory_bytes
        if least * (1 - _SAME_GPU) <= log.total_bytes <= most * (1 + _SAME_GPU):
            return None
    # A program sees less than the driver reports, which is what Sizing is told.
    hidden = hidden_bytes(device("own-1gib")).value_bytes
    return f"own-{(log.total_bytes + hidden) / GIB:.2f}gib"


def _unheld(checked: Check, under: Settings, scenario: Scenario) -> list[str]:
    """What no setting holds, or the log does not say."""
    log, engine = checked.log, scenario.engine
    types = {name for name in (log.element, log.element_k, log.element_v) if name}
    own_latent = {"vllm": "latent", "llama.cpp": "latent+values"}
    found = {
        "kv_dtype": scenario.kv_dtype != under.kv_dtype or (bool(types) and under.kv_dtype == "auto"),
        "v_dtype": engine != "llama.cpp" and under.v_dtype not in ("same", under.kv_dtype),
        "full_windows": under.full_windows and engine == "sglang",
        "draft_tokens": under.draft_tokens > 0,
        "latent": under.latent == "latent+values" or (under.latent == "expanded" and engine in own_latent
                                                      and engine != "llama.cpp"),
        "depth": under.depth is not None,
        "kernels": bool(under.gpu),
        "rollback_states": under.rollback_states > 0,
        "pad_tokens": engine == "llama.cpp" and under.pad_tokens != CELL_PAD,
        "no_length": not (under.context_tokens if engine == "llama.cpp" else under.length_tokens),
        "no_gpu": log.total_bytes is None,
    }  # fmt: skip
    return [name for name, is_so in found.items() if is_so]


def _pool_bytes(checked: Check, plan: Plan | None, under: Settings) -> int | None:
    """What the log's engine had for its cache on one GPU, as exactly as its figures say."""
    log = checked.log
    if isinstance(plan, VllmPlan):
        exact = checked.verdict in ("agrees", "explained")
        blocks = vllm.pool_blocks(log, plan, under.dp, exact=exact)
        return None if not blocks else ceil((blocks + 0.5) * plan.pool_block_bytes)
    for name in ("pools_bytes_per_gpu", "kv_bytes_per_gpu"):
        if name in checked.predicted and (log.kv_tokens or log.full_pool_tokens):
            return ceil(checked.predicted[name])
    return log.kv_bytes_per_gpu


def _rest(checked: Check, budget: Budget, pool_bytes: int) -> dict[str, Value] | None:
    """Terms that leave so much for the cache: those the log prints first, the last one takes what is left of the GPU.

    None where the weights leave less. Graphs come last where all are printed: older versions made them of what their
    fraction left.
    """
    rest = budget.requested_bytes - budget.weights.value_bytes - pool_bytes
    if rest < 0:
        return None
    said = [name for name in ("activations_gib", "non_torch_gib", "graphs_gib") if name in checked.measured]
    unsaid = [name for name in ("activations_gib", "graphs_gib", "non_torch_gib") if name not in said]
    known = {
        "activations_gib": budget.activations.value_bytes,
        "graphs_gib": budget.graphs.value_bytes,
        "non_torch_gib": budget.non_torch.value_bytes,
    }
    *first, last = [*said, *unsaid]
    terms: dict[str, Value] = {}
    for name in first:
        part = min(known[name], rest)
        if part < known[name]:
            terms[name] = round(part / GIB, 4)
        rest -= part
    return {**terms, last: round(rest / GIB, 4)}
