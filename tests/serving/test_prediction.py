"""What is predicted beside what is reported: equal where it must be, told where it cannot be known."""

from dataclasses import replace
from typing import Any

import pytest

from kvviz.catalogue import load
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB
from kvviz.scenario import Scenario, Value
from kvviz.serving import Line, Prediction, Rank, Reading, predict
from kvviz.serving.reading import Identity
from kvviz.sizing import size
from kvviz.text import Message, Text
from kvviz.text import serving as text
from kvviz.weights import typed_weights

QWEN = "Qwen/Qwen3-32B"


def vllm(
    model: str = QWEN,
    *,
    blocks: int,
    tokens: int | None,
    length: int = 40_960,
    **more: Any,  # noqa: ANN401 - fields of any kind
) -> Reading:
    identity = Identity(version=more.pop("version", "0.33.0"), max_model_len=length)
    fields = {"block_tokens": 16, "kv_dtype": "auto", "memory_fraction": 0.92, "prefix_caching": True} | more
    return Reading(
        kind="vllm",
        identity=identity,
        models=(model,),
        ranks=(Rank(name="", capacity_tokens=tokens),),
        blocks=blocks,
        **fields,
    )


def predicted(reading: Reading, model: str = QWEN, *, on_gpu: bool = False, **asked: Value) -> Prediction:
    scenario = Scenario(model=model).with_changes(**asked)
    weights = typed_weights(61.0) if on_gpu else None
    return predict(reading, load(model).architecture, scenario, weights=weights, on_gpu=on_gpu)


def lines(of: Prediction) -> dict[str, Line]:
    return {line.name: line for line in of.lines}


def said(of: Prediction) -> list[Text]:
    return [note.text for note in of.notes if isinstance(note, Message)]


def test_vllm_with_one_kind_of_layers() -> None:
    of = predicted(vllm(blocks=8_580, tokens=137_280))
    found = lines(of)
    assert (of.dtype, of.engine, of.gpus) == ("bf16 (auto)", "vLLM 0.33", 1)
    assert found["tokens_from_blocks"].difference == 0
    assert found["block_tokens"].difference == 0
    # 64 layers x K and V x 8 heads x 128 x 2 bytes x 16 tokens
    assert found["bytes_per_block"].predicted == 64 * 2 * 8 * 128 * 2 * 16
    assert found["pool_bytes"].predicted == 8_580 * 64 * 2 * 8 * 128 * 2 * 16
    assert found["requests"].predicted == 137_280 // 4_096
    assert found["blocks"] == Line(name="blocks", reported=8_580)  # the GPU is not known
    assert text.TOKENS_DIFFER not in said(of)


def test_a_capacity_that_does_not_follow_is_said() -> None:
    assert text.TOKENS_DIFFER in said(predicted(vllm(blocks=8_580, tokens=137_281)))


def test_fp8_halves_the_bytes() -> None:
    full, half = (predicted(vllm(blocks=100, tokens=1_600, kv_dtype=of)) for of in ("auto", "fp8_e4m3"))
    assert lines(full)["pool_bytes"].predicted == 2 * (lines(half)["pool_bytes"].predicted or 0)
    assert half.dtype == "fp8"
    unknown = predicted(vllm(blocks=100, tokens=1_600, kv_dtype="int3_new"))
    assert unknown.dtype == "bf16 (int3_new)"
    assert text.DTYPE_UNKNOWN in said(unknown)


@pytest.mark.parametrize("model", ["google/gemma-3-27b-it", "openai/gpt-oss-120b", "Qwen/Qwen3-Next-80B-A3B-Instruct"])
def test_hybrids_are_not_blocks_times_block_size(model: str) -> None:
    length = 32_768
    plan: Any = size(load(model).architecture, Scenario(model=model, gpu="", kv_dtype="auto"), weights=None).plan
    reported = plan.start_log(5_000, length)[1]
    smallest = min(group.block_tokens for group in plan.groups)
    of = predicted(vllm(model, blocks=5_000, tokens=reported, length=length, block_tokens=smallest), model)
    assert lines(of)["tokens_from_blocks"].difference == 0
    assert lines(of)["block_tokens"].difference == 0
    assert reported != 5_000 * smallest
    assert text.SEVERAL_GROUPS in said(of)


def test_on_the_gpu_of_the_scenario_the_pool_is_predicted() -> None:
    asked = Scenario(model=QWEN, gpus=2)
    budget = size(
        load(QWEN).architecture,
        asked.with_changes(memory_fraction=0.9, max_model_len=40_960),
        weights=typed_weights(61.0),
    ).budget
    assert budget is not None
    reported = vllm(blocks=budget.pool_blocks - 100, tokens=None, memory_fraction=0.9)
    of = predicted(reported, on_gpu=True, gpus=2)
    assert lines(of)["blocks"] == Line(name="blocks", reported=budget.pool_blocks - 100, predicted=budget.pool_blocks)
    assert lines(of)["bytes_per_block_gpu"].predicted == 64 * 2 * 8 * 128 * 16  # half of the heads
    assert text.FEWER_BLOCKS in said(of)
    more = predicted(vllm(blocks=budget.pool_blocks + 100, tokens=None, memory_fraction=0.9), on_gpu=True, gpus=2)
    assert text.MORE_BLOCKS in said(more)
    asked_bytes = predicted(vllm(blocks=5_000, tokens=None, pool_bytes=10 * GIB), on_gpu=True, gpus=2)
    assert lines(asked_bytes)["blocks"].predicted == 10 * GIB // (64 * 2 * 8 * 128 * 16)


def test_data_parallel_engines_share_out_the_blocks() -> None:
    ranks = tuple(Rank(name=str(n), capacity_tokens=137_280) for n in range(2))
    even = predicted(replace(vllm(blocks=17_160, tokens=None), ranks=ranks))
    assert lines(even)["blocks"].reported == 8_580
    assert lines(even)["tokens_from_blocks"].difference == 0
    odd = predicted(replace(vllm(blocks=17_161, tokens=None), ranks=ranks))
    assert lines(odd)["blocks"].reported is None
    assert text.BLOCKS_UNEQUAL in said(odd)


@pytest.mark.parametrize(
    ("version", "old", "rules"), [(None, True, "V0"), ("0.10.0", False, "0.20"), ("0.33.1", False, "0.33")]
)
def test_the_rules_follow_the_version(version: str | None, old: bool, rules: str) -> None:
    model = "meta-llama/Llama-3.1-8B-Instruct"
    of = predicted(vllm(model, blocks=100, tokens=None, version=version, old_rules=old), model)
    assert of.engine == f"vLLM {rules}"


@pytest.mark.parametrize(
    ("version", "told"),
    [("0.8.5", "vLLM 0.20"), ("0.11.0", "vLLM 0.20"), ("0.29.1", "vLLM 0.33"), ("0.33.1", None), ("0.20.2", None)],
)
def test_rules_of_another_release_are_explained(version: str, told: str | None) -> None:
    of = predicted(vllm(blocks=100, tokens=None, version=version))
    (note,) = [n for n in of.notes if isinstance(n, Message) and n.text == text.RULES_NEAREST] or [None]
    assert (note is None) is (told is None)
    if note is not None and told is not None:
        assert f"vLLM {version}" in str(note)
        assert told in str(note)


def test_no_request_is_given_the_null_block() -> None:
    fit = [lines(predicted(vllm(blocks=n, tokens=n * 16)))["requests"].predicted for n in (512, 513)]
    assert fit == [1, 2]  # 256 blocks each


def test_every_figure_is_compared_or_stands_alone() -> None:
    of = predicted(vllm(blocks=8_580, tokens=137_280))
    assert {line.name for line in of.compared} == {"block_tokens", "tokens_from_blocks"}
    assert {line.name for line in of.alone} == {"blocks", "bytes_per_block", "pool_bytes", "requests"}
    assert all(line.difference is not None for line in of.compared)


def test_a_request_longer_than_the_engine_takes() -> None:
    of = predicted(vllm(blocks=8_580, tokens=8_580 * 16, length=2_048))
    assert "requests" not in lines(of)
    assert text.LONGER_THAN_ALLOWED in said(of)
    assert lines(of)["tokens_from_blocks"].difference == 0


def test_where_the_rules_do_not_reach_there_is_one_line() -> None:
    model = "deepseek-ai/DeepSeek-V4-Flash"
    with pytest.raises(KvvizError):
        predicted(vllm(model, blocks=20_377, tokens=1_179_770, kv_dtype="fp8_ds_mla", block_tokens=4), model)


def sglang(tokens: int, *, pool_bytes: int | None, tp: int | None = 2) -> Reading:
    return Reading(
        kind="sglang",
        identity=Identity(version="0.5.23", max_model_len=40_960, tp=tp, pp=1, dp=1),
        models=(QWEN,),
        ranks=(Rank(name="", capacity_tokens=tokens, pool_bytes=pool_bytes),),
        block_tokens=1,
        kv_dtype="auto",
        memory_fraction=0.88,
    )


def test_sglang_bytes_of_the_pool() -> None:
    each = 64 * 2 * 8 * 128  # half of the heads, 2 bytes
    of = predicted(sglang(120_000, pool_bytes=each * 120_001))
    assert of.gpus == 2
    assert lines(of)["bytes_per_token_gpu"].predicted == each
    assert lines(of)["pool_bytes_gpu"].difference == 0  # one page more than the capacity is laid out
    assert lines(of)["requests"].predicted == 120_000 // 4_096
    assert lines(of)["tokens"].predicted is None
    other = predicted(sglang(120_000, pool_bytes=each * 60_000))
    assert text.BYTES_DIFFER in said(other)
    unknown = predicted(sglang(120_000, pool_bytes=each * 120_001, tp=None))
    assert lines(unknown)["pool_bytes"] == Line(name="pool_bytes", predicted=2 * each * 120_001)


def test_sglang_on_the_gpu_of_the_scenario() -> None:
    of = predicted(sglang(120_000, pool_bytes=None), on_gpu=True)
    assert of.gpus == 2  # the engine's own, not the scenario's one
    assert (lines(of)["tokens"].predicted or 0) > 120_000
    assert text.FEWER_BLOCKS in said(of)


def test_llama_cpp() -> None:
    model = "HuggingFaceTB/SmolLM2-135M-Instruct"

    def slots(count: int | None) -> Prediction:
        reading = Reading(
            kind="llama.cpp",
            identity=Identity(slots=count, slot_tokens=2_048),
            models=(model,),
            ranks=(Rank(name="", capacity_tokens=2_048 if count == 1 else None),),
        )
        return predicted(reading, model, input=1_000, output=24)

    one_slot = 30 * 2 * 3 * 64 * 2 * 2_048
    assert lines(slots(1))["pool_bytes"].predicted == one_slot
    assert lines(slots(1))["requests"].predicted == 1
    assert text.DTYPE_ASSUMED in said(slots(1))
    four = lines(slots(4))
    assert (four["shared_pool_bytes"].predicted, four["own_pools_bytes"].predicted) == (one_slot, 4 * one_slot)
    assert "requests" not in four
    assert [line.name for line in slots(None).lines] == ["tokens"]
