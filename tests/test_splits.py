"""Ways to share a model out: what each holds, what is kept more than once, and the best first."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB
from kvviz.resolve import resolve
from kvviz.scenario import ENGINES, Scenario
from kvviz.sizing import size
from kvviz.splits import Split, splits
from kvviz.text import LANGUAGES


def ways(**asked: object) -> tuple[Split, ...]:
    resolved = resolve(Scenario(**asked))  # type: ignore[arg-type]
    sizing = resolved.size()
    return splits(sizing, weights=resolved.weights)


def by_label(**asked: object) -> dict[str, Split]:
    return {way.label("en"): way for way in ways(**asked)}


def test_four_h100_as_one_engine_two_or_four() -> None:
    # 256 KiB a token, 4,096 tokens: 1 GiB a request on one GPU, and its part of 8 heads on more
    found = by_label(model="Qwen/Qwen3-32B", gpus=4)
    assert {label: way.sizing.request_bytes for label, way in found.items() if way.pp == 1} == {
        "TP 4": GIB // 4,
        "2 × TP 2": GIB // 2,
        "4 × TP 1": GIB,
    }
    fit = {label: way.sizing.max_sequences_counted or 0 for label, way in found.items()}
    # Weights of 61 GiB are once, twice and four times there.
    assert fit["TP 4"] > fit["2 × TP 2"] > fit["4 × TP 1"] > 0
    assert {way.copies for way in found.values()} == {1}
    assert next(iter(found)) == "TP 4"


def test_deepseek_r1_on_8_gpus() -> None:
    # 61 x 576 x 2 B x 4,096 tokens; DCP 8 keeps an eighth of them (512) on each GPU
    found = by_label(model="deepseek-ai/DeepSeek-R1", gpu="h200", gpus=8)
    copied, own, shared = found["TP 8"], found["attention DP 8"], found["TP 8 · DCP 8"]
    assert copied.sizing.request_bytes == own.sizing.request_bytes == 70_272 * 4_096
    assert shared.sizing.request_bytes == 70_272 * 512
    assert (copied.copies, own.copies, shared.copies) == (8, 1, 1)
    fit = [way.sizing.max_sequences_counted or 0 for way in (copied, own, shared)]
    # Eight times the tokens of the same pool; attention DP has the pool beside attention's weights on every GPU.
    assert fit[2] == pytest.approx(8 * fit[0], abs=8)
    assert 5 * fit[0] < fit[1] < fit[2]
    assert next(iter(found)) == "TP 8 · DCP 8"


def test_more_gpus_than_kv_heads_keep_copies_which_dcp_shares_out() -> None:
    found = by_label(model="meta-llama/Llama-3.1-70B-Instruct", gpus=16)
    assert found["TP 16"].copies == 2
    assert found["TP 16 · DCP 2"].copies == 1
    assert found["TP 16"].sizing.request_bytes == found["2 × TP 8"].sizing.request_bytes
    assert not any(way.dcp > 2 for way in found.values())


def test_layers_are_shared_out_where_the_engine_shares_no_heads() -> None:
    found = by_label(model="Qwen/Qwen3-32B", gpus=4, engine="llama.cpp")
    assert set(found) == {"PP 4", "2 × PP 2", "4 × TP 1"}


def test_nothing_where_the_engine_does_not_run_the_model() -> None:
    assert ways(model="facebook/bart-large-cnn", gpus=2) == ()


def test_without_a_gpu_by_how_little_a_request_takes() -> None:
    found = ways(model="deepseek-ai/DeepSeek-R1", gpu="", gpus=8)
    taken = [(way.sizing.request_bytes or 0) / way.engines for way in found]
    assert taken == sorted(taken)


@settings(max_examples=40)
@given(
    model=st.sampled_from(
        ["Qwen/Qwen3-32B", "deepseek-ai/DeepSeek-V3.2", "openai/gpt-oss-120b", "Qwen/Qwen3-Next-80B-A3B-Instruct"]
    ),
    engine=st.sampled_from(ENGINES),
    gpus=st.sampled_from([1, 2, 3, 4, 6, 8, 16, 24]),
)
def test_each_is_a_scenario_of_its_own_and_the_best_comes_first(model: str, engine: str, gpus: int) -> None:
    try:
        found = ways(model=model, engine=engine, gpus=gpus, gpu="h200")
    except KvvizError:
        return  # the split that is asked for by default is refused
    fit = [(way.sizing.max_sequences_counted or 0) if way.sizing.starts else 0 for way in found]
    assert fit == sorted(fit, reverse=True)
    for lang in LANGUAGES:
        assert len({way.label(lang) for way in found}) == len(found)
    for way in found[:6]:
        assert way.tp * way.pp * way.engines * (way.attention_dp if engine == "vllm" else 1) == gpus
        resolved = resolve(way.scenario)
        assert size(resolved.architecture, way.scenario, weights=resolved.weights) == way.sizing
