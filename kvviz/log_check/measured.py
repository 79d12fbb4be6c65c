"""A log's settings and measured terms as a scenario, for Sizing."""

from kvviz.core.errors import ScenarioError
from kvviz.log_check.model import Check
from kvviz.scenario import ENGINES_WITH, MAX_TOKENS, Scenario, under_engine

_ENGINES = {"ik_llama.cpp": "llama.cpp", "ollama": "llama.cpp"}


def scenario_of(checked: Check, base: Scenario, *, model: str | None = None) -> Scenario:
    """``base`` with what the engine measured and was started with. ``model``: the session's name of the log's model."""
    log = checked.log
    engine = _ENGINES.get(log.engine, log.engine)
    scenario = under_engine(base, engine)
    if model is not None:
        scenario = scenario.with_changes(model=model)
    gpus = (log.tp or 1) * (log.pp or 1) * (log.dp or 1)
    length = log.max_model_len
    settings = {
        "tp": log.tp,
        "pp": log.pp,
        "memory_fraction": log.utilization or log.mem_fraction_static,
        "batched_tokens": log.max_num_batched_tokens,
    }
    changes = {name: value for name, value in settings.items() if value is not None and engine in ENGINES_WITH[name]}
    split = {"gpus": gpus, "dp": None}
    longest = {"input": max(1, length - scenario.output), "passages": 0, "max_model_len": length} if length else {}
    if length and (length <= scenario.output or length > MAX_TOKENS):
        longest = {}
    for group in ({**split, **changes}, longest, dict(checked.measured)):
        try:
            scenario = scenario.with_changes(**group)
        except ScenarioError:  # what cannot be in a scenario stays as it was
            continue
    return scenario
