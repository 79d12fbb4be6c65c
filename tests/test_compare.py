"""Comparing: the factors' product is exactly the ratio, a cell says what the Sizing page would, nothing is invented."""

from fractions import Fraction
from functools import partial
from math import prod

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kvviz import catalogue
from kvviz.compare import (
    COUNTS,
    GPUS,
    MODELS,
    MOST_COUNTS,
    MOST_GPUS,
    MOST_MODELS,
    Difference,
    Factor,
    as_types,
    cell,
    compare,
    difference,
    every_model,
    matrix,
    under_engines,
)
from kvviz.core.errors import KvvizError
from kvviz.links import SET_SCENARIOS
from kvviz.resolve import resolve
from kvviz.scenario import ENGINES, Scenario
from kvviz.sizing import Sizing
from kvviz.text import Text
from kvviz.text import compare as text

QWEN_7B, QWEN_25_7B = "Qwen/Qwen-7B-Chat", "Qwen/Qwen2.5-7B-Instruct"
R1, LLAMA_70B, LLAMA_8B = "deepseek-ai/DeepSeek-R1", "meta-llama/Llama-3.1-70B-Instruct", MODELS[0]
GEMMA, NEXT, QWEN_32B = "google/gemma-3-27b-it", "Qwen/Qwen3-Next-80B-A3B-Instruct", "Qwen/Qwen3-32B"
CODESTRAL = "mistralai/Mamba-Codestral-7B-v0.1"


def ask(scenario: Scenario) -> Sizing:
    return resolve(scenario).size()


ANSWER = partial(cell, ask=ask)


def answered(model: str, **settings: str | int) -> Sizing:
    return ask(Scenario(model=model, **settings))


def why(one: Sizing, other: Sizing) -> Difference:
    found = difference(one, other)
    assert found is not None
    return found


def factor(found: Difference, what: Text) -> Factor:
    return next(f for f in found.factors if f.what is what)


def differing(found: Difference) -> dict[Text, Fraction]:
    return {f.what: f.ratio for f in found.factors if f.ratio != 1}


def test_the_same_family_a_generation_later() -> None:
    """32 layers of 32 KV heads against 28 of 4: 9.14 times as much."""
    found = why(answered(QWEN_7B), answered(QWEN_25_7B))
    assert found.ratio == Fraction(64, 7) == Fraction(524_288, 57_344)
    assert differing(found) == {text.KV_HEADS: 8, text.LAYERS_STORING: Fraction(8, 7)}


def test_latents_against_heads() -> None:
    """70,272 B a token against 327,680 B: latents of 512 + 64 against 8 heads of 128 + 128."""
    one, other = answered(R1, gpu="", input=1, output=0), answered(LLAMA_70B, gpu="", input=1, output=0)
    found = why(one, other)
    assert one.content_bytes == 70_272
    assert other.content_bytes == 327_680
    assert factor(found, text.LAYERS_STORING).ratio == Fraction(61, 80)
    assert (factor(found, text.VALUES).one, factor(found, text.VALUES).other) == (576, 2048)
    assert factor(found, text.VALUE_BYTES).ratio == 1


def test_windows_keep_a_share() -> None:
    """Gemma 3 27B at 128K: 11,173,625,856 B, where 62 full layers of 16 x 256 values would keep 66.6 GB."""
    found = why(answered(GEMMA, input=131_072, output=0, sequences=1), answered(QWEN_32B, input=131_072, output=0))
    assert factor(found, text.KEPT).one == Fraction(11_173_625_856, 62 * 16 * 256 * 2 * 131_072)
    assert factor(found, text.KEPT).other == 1
    assert factor(found, text.KV_HEADS).one == 16


def test_a_state_comes_on_top() -> None:
    found = why(answered(NEXT), answered(QWEN_32B))
    assert factor(found, text.LAYERS_STORING).one == 12
    assert factor(found, text.FIXED).one == Fraction(140_181_504, 24_576 * 4096)
    assert factor(found, text.FIXED).other == 1


def test_a_model_of_states_alone_has_no_tokens_to_speak_of() -> None:
    found = why(answered(LLAMA_8B, gpu=""), answered(CODESTRAL, gpu=""))
    assert factor(found, text.LAYERS_ANY).one == 32
    assert factor(found, text.LAYERS_ANY).other == 64
    assert factor(found, text.BYTES_IN_LAYER).other == Fraction(138_149_888, 64)
    assert all(f.what is not text.KV_HEADS for f in found.factors)


@pytest.mark.parametrize(
    ("model", "gpus", "share"),
    [(LLAMA_8B, 4, Fraction(1, 4)), (LLAMA_8B, 16, Fraction(1, 8)), (R1, 8, Fraction(1))],
    ids=["split", "heads copied", "latent copied"],
)
def test_what_one_gpu_has_of_a_request(model: str, gpus: int, share: Fraction) -> None:
    found = why(answered(model, gpu="h200", gpus=gpus), answered(QWEN_32B))
    assert factor(found, text.GPU_SHARE).one == share
    assert factor(found, text.GPU_SHARE).other == 1


def test_the_cache_type_is_bytes_per_value() -> None:
    found = why(answered(QWEN_32B, kv_dtype="bf16"), answered(QWEN_32B, kv_dtype="fp8"))
    assert differing(found) == {text.VALUE_BYTES: 2}
    found = why(answered(QWEN_32B, engine="llama.cpp"), answered(QWEN_32B, engine="llama.cpp", kv_dtype="q8_0"))
    assert differing(found) == {text.VALUE_BYTES: Fraction(64, 34)}


def test_twice_the_context_is_twice_the_tokens() -> None:
    found = why(answered(QWEN_32B, input=8192, output=0), answered(QWEN_32B, input=4096, output=0))
    assert differing(found) == {text.CONTEXT: 2}


def test_content_is_compared_where_an_engine_has_no_plan() -> None:
    no_plan = answered(QWEN_7B)
    assert no_plan.plan is None
    found = why(no_plan, answered(QWEN_25_7B, gpus=4))
    assert not found.reserved
    assert found.one_bytes == 2_147_483_648
    assert found.other_bytes == 234_881_024


SETTINGS = st.fixed_dictionaries(
    {
        "model": st.sampled_from(catalogue.models()),
        "engine": st.sampled_from(ENGINES),
        "gpu": st.sampled_from(["", "h100-80gb", "mi300x"]),
        "gpus": st.sampled_from([1, 2, 4, 8, 16]),
        "input": st.integers(0, 200_000),
        "output": st.integers(1, 4096),
        "kv_dtype": st.sampled_from(["auto", "fp8", "q8_0", "int8_per_token_head"]),
    }
)


def sized_or_none(settings: dict[str, str | int]) -> Sizing | None:
    try:
        return ask(Scenario(**settings))
    except KvvizError:
        return None


@given(SETTINGS, SETTINGS)
def test_the_product_is_exactly_the_ratio(first: dict[str, str | int], second: dict[str, str | int]) -> None:
    one, other = sized_or_none(first), sized_or_none(second)
    assume(one is not None and other is not None)
    assert one is not None
    assert other is not None
    found = difference(one, other)
    assume(found is not None)
    assert found is not None
    assert prod((f.ratio for f in found.factors), start=Fraction(1)) == found.ratio
    if found.reserved:
        assert (found.one_bytes, found.other_bytes) == (one.request_bytes, other.request_bytes)
    else:
        assert found.one_bytes == one.content.bytes_at(one.tokens)
    back = difference(other, one)
    assert back is not None
    assert back.ratio == 1 / found.ratio


@pytest.mark.parametrize("model", catalogue.models())
def test_every_model_has_factors(model: str) -> None:
    one, other = answered(model), answered(QWEN_32B)
    found = difference(one, other)
    if found is None:
        assert not one.content_bytes
    else:
        assert prod((f.ratio for f in found.factors), start=Fraction(1)) == found.ratio
        assert all(f.one > 0 and f.other > 0 for f in found.factors)


def test_a_cell_says_what_the_sizing_page_would() -> None:
    base = Scenario(input=3000, output=500, sequences=20)
    rows = matrix(base, ANSWER, models=(base.model, *MODELS), gpus=GPUS, counts=COUNTS)
    assert [row[0].scenario.model for row in rows] == [base.model, *MODELS]
    assert all(len(row) == len(GPUS) * len(COUNTS) for row in rows)
    for row in rows:
        for found in row:
            sizing = ask(found.scenario)
            assert found.scenario.requests == 20
            assert found.scenario.tokens == 3500
            if found.fit is not None:
                assert (found.fit, found.outcome) == (sizing.max_sequences_counted, sizing.fits)
            else:
                assert found.outcome == "weights"
                assert sizing.budget is not None
                assert sizing.budget.available_bytes <= 0


@pytest.mark.parametrize(
    ("model", "gpu", "gpus", "outcome"),
    [
        ("openai-community/gpt2", "h100-80gb", 8, "split"),  # 12 heads
        ("facebook/bart-large-cnn", "h100-80gb", 1, "no-plan"),
        (R1, "h100-80gb", 1, "weights"),
        (LLAMA_8B, "", 1, "no-gpu"),
        ("nobody/nothing", "h100-80gb", 1, "impossible"),
    ],
)
def test_a_cell_that_cannot_be_says_why(model: str, gpu: str, gpus: int, outcome: str) -> None:
    ((found,),) = matrix(Scenario(), ANSWER, models=[model], gpus=[gpu], counts=[gpus])
    assert found.outcome == outcome
    assert found.fit is None
    assert found.why is not None or outcome in text.LONG_WHY
    assert outcome in text.SHORT_WHY


def test_weights_that_nobody_counted_are_not_taken_for_nothing() -> None:
    unknown = next(m for m in catalogue.models() if (s := answered(m)).plan is not None and s.budget is None)
    ((found,),) = matrix(Scenario(), ANSWER, models=[unknown], gpus=["h100-80gb"], counts=[1])
    assert found.outcome == "unknown-weights"


def test_a_type_another_model_cannot_have_is_told() -> None:
    base = Scenario(engine="llama.cpp", kv_dtype="q8_0")
    rows = matrix(base, ANSWER, models=["openai-community/gpt2"], gpus=["h200"], counts=[1])
    assert rows[0][0].fit is not None
    sparse = Scenario(model="deepseek-ai/DeepSeek-V3.2", kv_dtype="fp8_ds_mla", gpu="h200", gpus=8)
    ((found,),) = matrix(sparse, ANSWER, models=[LLAMA_8B], gpus=["h200"], counts=[1])
    assert found.fit is None
    assert found.why is not None


def test_what_was_measured_stays_with_its_model_and_a_split_with_its_gpus() -> None:
    base = Scenario(weights_gib=31.0, gpus=4, tp=2)
    (own, other) = matrix(base, ANSWER, models=[base.model, LLAMA_8B], gpus=[base.gpu], counts=[4, 2])
    assert own[0].scenario.weights_gib == 31.0
    assert own[0].scenario.tp == 2
    assert own[1].scenario.tp is None
    assert other[0].scenario.weights_gib is None
    assert other[0].scenario.tp is None


def test_the_matrix_is_bounded() -> None:
    rows = matrix(Scenario(), ANSWER, models=catalogue.models(), gpus=[*GPUS, "b200", "l4", "t4"], counts=range(1, 20))
    assert len(rows) == MOST_MODELS
    assert {len(row) for row in rows} == {MOST_GPUS * MOST_COUNTS}


def test_every_engine_is_asked_the_same() -> None:
    base = Scenario(kv_dtype="fp8_per_token_head", block_tokens=32, dcp=1, input=2000)
    asked = under_engines(base)
    assert len(asked) <= SET_SCENARIOS
    assert asked[0] == base
    assert {one.engine for one in asked} == set(ENGINES)
    assert all(one.sizing is not None for one in compare(asked, ask))
    assert {(one.model, one.gpu, one.tokens, one.requests) for one in asked} == {(base.model, base.gpu, 3024, 50)}


@pytest.mark.parametrize(
    ("engine", "types"),
    [
        ("vllm", ["bf16", "fp8"]),
        ("sglang", ["bf16", "fp8"]),
        ("llama.cpp", ["fp16", "q8_0"]),
        ("transformers", ["bf16"]),
    ],
)
def test_the_same_in_a_full_and_in_a_smaller_type(engine: str, types: list[str]) -> None:
    made = as_types(answered(QWEN_32B, engine=engine))
    assert [one.kv_dtype for one in made] == types
    sizes = [ask(one).content_bytes for one in made]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)


def test_a_scenario_without_an_answer_keeps_its_place() -> None:
    good, bad = Scenario(), Scenario(model=LLAMA_8B, gpus=3)
    one, other = compare([good, bad], ask)
    assert (one.number, other.number) == (1, 2)
    assert one.sizing is not None
    assert one.problem is None
    assert other.sizing is None
    assert isinstance(other.problem, KvvizError)


def test_every_model_is_a_point_with_its_own_content() -> None:
    points = {point.model: point for point in every_model()}
    assert len(points) > 100
    assert points[LLAMA_8B].content.bytes_at(4096) == 536_870_912
    assert points[LLAMA_8B].parameters == 8_030_261_248
    assert points[GEMMA].content.bytes_at(131_072) == 11_173_625_856
    kinds = {LLAMA_8B: "full", GEMMA: "windows", R1: "latent", NEXT: "states", CODESTRAL: "fixed"}
    assert {model: points[model].kind for model in kinds} == kinds
