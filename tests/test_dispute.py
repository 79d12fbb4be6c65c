"""A dispute: what an answer rests on, and the way from one scenario to another, whose steps add up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.dispute import Dispute, assumptions, bytes_of, differing, dispute, pool_of
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES


def sized(scenario: Scenario) -> Sizing:
    return resolve(scenario).size()


def between(a: Scenario, b: Scenario) -> Dispute:
    return dispute(a, b, sized)


A = Scenario()


def test_nothing_differs_between_a_scenario_and_itself() -> None:
    made = between(A, A)
    assert made.steps == ()
    assert made.requests_more == 0


def test_one_setting_is_one_step_with_its_numbers() -> None:
    made = between(A, A.with_changes(kv_dtype="fp8"))
    (step,) = made.steps
    assert [c.field for c in step.changes] == ["kv_dtype"]
    assert (step.before, step.after) == (sized(A), sized(A.with_changes(kv_dtype="fp8")))
    assert (bytes_of(step.before), bytes_of(step.after)) == (2**30, 2**29)
    before, after = step.before.max_sequences_counted or 0, step.after.max_sequences_counted or 0
    assert before > 0
    assert after in (2 * before, 2 * before + 1)
    assert step.requests_more == after - before


def test_settings_change_in_a_fixed_sensible_order() -> None:
    b = A.with_changes(model="meta-llama/Llama-3.1-8B-Instruct", kv_dtype="fp8", gpu="h200", output=8192, sequences=7)
    made = between(A, b)
    assert [c.field for step in made.steps for c in step.changes] == ["model", "kv_dtype", "gpu", "output", "sequences"]
    back = between(b, A)
    assert [c.field for step in back.steps for c in step.changes] == ["model", "kv_dtype", "gpu", "output", "sequences"]
    assert back.requests_more == -(made.requests_more or 0)


def test_what_cannot_be_run_yet_waits_for_its_turn() -> None:
    """tp 8 on one GPU is no scenario; on eight it is."""
    made = between(A, A.with_changes(gpus=8, tp=4))
    assert [[c.field for c in step.changes] for step in made.steps] == [["gpus"], ["tp"]]


def test_settings_that_work_only_together_are_one_step() -> None:
    made = between(A.with_changes(gpus=4, tp=4), A.with_changes(gpus=1, tp=1))
    assert [[c.field for c in step.changes] for step in made.steps] == [["tp"], ["gpus"]]
    made = between(A.with_changes(gpus=4, pp=4, tp=1), A.with_changes(gpus=2, pp=2, tp=1, dcp=1))
    assert [[c.field for c in step.changes] for step in made.steps] == [["pp"], ["gpus"]]
    made = between(A.with_changes(gpus=2, pp=2, tp=1), A.with_changes(gpus=3, pp=3, tp=1))
    assert [[c.field for c in step.changes] for step in made.steps] == [["gpus", "pp"]]


def test_an_engine_changes_together_with_the_settings_only_it_has() -> None:
    llama = A.with_changes(engine="llama.cpp", kv_dtype="q8_0", v_dtype="q4_0", unified="on")
    made = between(llama, A)
    grouped = [{c.field for c in step.changes} for step in made.steps]
    assert sum(map(len, grouped)) == 4
    assert made.requests_more == (made.b.max_sequences_counted or 0) - (made.a.max_sequences_counted or 0)
    assert sum(step.requests_more or 0 for step in made.steps) == made.requests_more


def test_without_a_gpu_only_bytes_are_compared() -> None:
    made = between(A.with_changes(gpu=""), A.with_changes(gpu="", kv_dtype="fp8"))
    assert made.requests_more is None
    assert sum(step.bytes_more for step in made.steps) == -(2**29)


def test_a_setting_that_changes_nothing_is_a_step_without_effect() -> None:
    made = between(A, A.with_changes(passage_tokens=1024))
    assert [step.counts for step in made.steps] == [False]


def test_more_requests_asked_for_change_the_verdict() -> None:
    made = between(A, A.with_changes(sequences=10))
    assert [step.counts for step in made.steps] == [True]


_MODELS = (
    "Qwen/Qwen3-32B-FP8",
    "meta-llama/Llama-3.1-8B-Instruct",
    "google/gemma-3-27b-it",
    "deepseek-ai/DeepSeek-V2-Lite-Chat",
    "Qwen/Qwen3-Next-80B-A3B-Instruct",
)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A scenario that can be run."""
    choose = {
        "model": st.sampled_from(_MODELS),
        "gpu": st.sampled_from(("h100-80gb", "h200", "a100-80gb", "")),
        "gpus": st.sampled_from((1, 2, 4, 8)),
        "tp": st.sampled_from((None, 1, 2, 4, 8)),
        "pp": st.sampled_from((1, 2, 4)),
        "input": st.sampled_from((512, 3072, 30_000)),
        "output": st.sampled_from((1, 1024)),
        "sequences": st.sampled_from((1, 50, 333)),
        "kv_dtype": st.sampled_from(("auto", "fp8", "q8_0", "fp32")),
        "weight_dtype": st.sampled_from(("auto", "fp8", "int4")),
        "engine": st.sampled_from(("vllm", "sglang", "llama.cpp", "transformers")),
        "block_tokens": st.sampled_from((None, 16, 64)),
        "prefix_caching": st.sampled_from(("on", "off")),
        "unified": st.sampled_from(("on", "off")),
        "headroom": st.sampled_from((0.0, 0.2)),
        "max_model_len": st.sampled_from((None, 40_000)),
    }
    scenario = Scenario()
    for field in draw(st.permutations(sorted(choose))):
        asked = draw(choose[field])
        try:
            changed = scenario.with_changes(**{field: asked})
            sized(changed)
        except KvvizError:
            continue
        scenario = changed
    return scenario


@given(scenarios(), scenarios())
def test_the_steps_add_up_exactly(a: Scenario, b: Scenario) -> None:
    made = between(a, b)
    assert made.a.scenario.model == a.model
    assert made.b == sized(b)
    changed = [c.field for step in made.steps for c in step.changes]
    assert sorted(changed) == sorted(c.field for c in differing(a, b))
    at = made.a
    for step in made.steps:
        assert step.before == at
        at = step.after
    assert at == made.b
    assert sum(step.bytes_more for step in made.steps) == bytes_of(made.b) - bytes_of(made.a)
    if made.requests_more is not None:
        assert all(step.requests_more is not None for step in made.steps)
        assert sum(step.requests_more or 0 for step in made.steps) == made.requests_more
    if pool_of(made.a) is not None and pool_of(made.b) is not None:
        assert sum(step.pool_more for step in made.steps) == (pool_of(made.b) or 0) - (pool_of(made.a) or 0)


def test_a_scenario_that_cannot_be_run_is_an_error() -> None:
    with pytest.raises(ScenarioError):
        between(A, A.with_changes(gpus=3))


def test_every_assumption_has_its_badge() -> None:
    asked = A.with_changes(gpu="h200", activations_gib=2.0)
    badges = {a.label("en"): a.badge for a in assumptions(sized(asked))}
    assert badges["GPU"] == "changed"
    assert badges["Measured activations (GiB)"] == "changed"
    assert badges["Input tokens"] == "default"
    assert badges["Engine"] == "default"
    assert badges["CUDA graphs"] == "estimate"
    assert "Activations" not in badges  # typed, so no estimate
    assert next(iter(badges.values())) == "changed"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_differs_from_the_default_says_what_that_is(lang: str) -> None:
    changed = next(a for a in assumptions(sized(A.with_changes(gpu="h200"))) if a.badge == "changed")
    assert changed.source is not None
    assert "H100" in changed.source("ja" if lang == "ja" else "en")


def test_every_estimate_of_the_budget_is_an_assumption() -> None:
    for scenario in (A, A.with_changes(gpu="h200"), A.with_changes(gpu="m3-max-48gb", engine="llama.cpp")):
        sizing = sized(scenario)
        budget = sizing.budget
        assert budget is not None
        terms = (budget.hidden, budget.weights, budget.activations, budget.graphs, budget.non_torch)
        sources = [str(one.source) for one in assumptions(sizing) if one.badge == "estimate"]
        assert sources == [str(term.source) for term in terms if term.basis != "exact"]
        assert budget.hidden.basis != "exact"


def test_a_fraction_left_to_the_engine_is_given() -> None:
    (said,) = [one.value for one in assumptions(sized(A)) if one.label("en") == "Memory fraction"]
    assert "0.92" in (said if isinstance(said, str) else said("en"))
