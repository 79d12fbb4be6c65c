"""The command that starts what was sized: it can be pasted, and says what the scenario says."""

import argparse
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvviz.catalogue import load
from kvviz.core.errors import KvvizError
from kvviz.launch import PLACEHOLDER, Launch, launch, vllm_command
from kvviz.levers import levers
from kvviz.links import pack_config
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size
from kvviz.text import LANGUAGES
from kvviz.verdict import verdict


def sized(**changes: object) -> Sizing:
    return resolve(Scenario(**changes)).size()  # type: ignore[arg-type]


def launched(**changes: object) -> Launch:
    found = launch(sized(**changes))
    assert found is not None
    return found


def read(command: str) -> argparse.Namespace:
    """As vLLM reads it, with its names and defaults."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("model")
    parser.add_argument("--revision")
    parser.add_argument("--max-model-len", type=int)
    parser.add_argument("--gpu-memory-utilization", type=float, default=0.92)
    parser.add_argument("--tensor-parallel-size", type=int, default=1)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--kv-cache-dtype", default="auto")
    parser.add_argument("--block-size", type=int)
    parser.add_argument("--max-num-batched-tokens", type=int)
    parser.add_argument("--max-num-seqs", type=int)
    parser.add_argument("--no-async-scheduling", action="store_true")
    program, verb, *arguments = shlex.split(command)
    assert (program, verb) == ("vllm", "serve")
    return parser.parse_args(arguments)


def notes(of: Launch) -> str:
    return "\n".join(note("en") for note in of.notes)


@pytest.mark.parametrize(
    ("changes", "flags"),
    [
        ({}, ""),
        ({"kv_dtype": "fp8"}, " --kv-cache-dtype fp8"),
        ({"kv_dtype": "bf16"}, " --kv-cache-dtype bfloat16"),
        ({"kv_dtype": "int8_per_token_head"}, " --kv-cache-dtype int8_per_token_head"),
        ({"kv_dtype": "fp32"}, " --dtype float32"),
        ({"gpus": 4}, " --tensor-parallel-size 4"),
        ({"gpus": 4, "tp": 2}, " --tensor-parallel-size 2"),
        ({"gpus": 4, "tp": 1}, ""),
        ({"memory_fraction": 0.85}, " --gpu-memory-utilization 0.85"),
        ({"block_tokens": 32}, " --block-size 32"),
        ({"batched_tokens": 2_048}, " --max-num-batched-tokens 2048"),
        ({"batched_tokens": 8_192}, ""),
        ({"batched_tokens": 2_048, "in_flight_tokens": 2_048}, " --max-num-batched-tokens 2048 --no-async-scheduling"),
        ({"sequences": 2_000}, " --max-num-seqs 2000"),
        ({"sequences": 2_000, "gpus": 2, "tp": 1}, ""),
        ({"sequences": 20_000}, " --max-num-seqs 8192"),
        ({"sequences": 300, "gpu": "a100-80gb"}, " --max-num-seqs 300"),
        ({"users": 8_000}, " --max-num-seqs 2000"),
    ],
)
def test_only_what_vllm_would_not_do_by_itself(changes: dict[str, object], flags: str) -> None:
    expected = f"vllm serve Qwen/Qwen3-32B-FP8 --max-model-len 4096{flags}"
    assert launched(**changes).command == expected


def test_the_longest_request_it_is_started_for() -> None:
    assert read(launched(max_model_len=8_192).command).max_model_len == 8_192
    assert read(launched(passages=4).command).max_model_len == 4_096 + 4 * 512


@settings(max_examples=60, deadline=None)
@given(
    gpus=st.sampled_from([1, 2, 4, 8]),
    tp=st.sampled_from([None, 1, 2]),
    input_tokens=st.integers(1, 30_000),
    kv_dtype=st.sampled_from(["auto", "bf16", "fp16", "fp8", "nvfp4", "int4_per_token_head"]),
    memory_fraction=st.sampled_from([0.5, 0.85, 0.92, 0.955]),
    block_tokens=st.sampled_from([None, 16, 64]),
    batched_tokens=st.sampled_from([None, 2_048, 8_192, 16_384]),
    sequences=st.integers(1, 4_000),
)
def test_read_back_it_is_the_scenario(
    gpus: int,
    tp: int | None,
    input_tokens: int,
    kv_dtype: str,
    memory_fraction: float,
    block_tokens: int | None,
    batched_tokens: int | None,
    sequences: int,
) -> None:
    changes: dict[str, object] = {
        "gpus": gpus,
        "tp": tp if tp is None or gpus % tp == 0 else None,
        "input": input_tokens,
        "kv_dtype": kv_dtype,
        "memory_fraction": memory_fraction,
        "block_tokens": block_tokens,
        "batched_tokens": batched_tokens,
        "sequences": sequences,
    }
    try:
        sizing = sized(**changes)
    except KvvizError:  # no such setting for this cache type
        return
    flags, plan = read(vllm_command(sizing)), sizing.plan
    assert plan is not None
    assert flags.model == sizing.scenario.model
    assert flags.max_model_len == sizing.tokens
    assert flags.gpu_memory_utilization == memory_fraction
    assert flags.tensor_parallel_size == plan.tp
    assert {"bfloat16": "bf16", "float16": "fp16"}.get(flags.kv_cache_dtype, flags.kv_cache_dtype) == kv_dtype
    assert flags.block_size == block_tokens
    assert (flags.max_num_batched_tokens or 8_192) == (batched_tokens or 8_192)
    assert 2 * (flags.max_num_batched_tokens or 8_192) == plan.in_flight_tokens
    assert (flags.max_num_batched_tokens or 8_192) >= (flags.max_num_seqs or 1_024)


class TestNames:
    config = pack_config(load("Qwen/Qwen3-8B").config)

    def test_a_pasted_config_has_no_name_vllm_knows(self) -> None:
        found = launched(model="my model; rm -rf (x)".replace(";", ""), config=self.config, weights_gib=16.0)
        assert read(found.command).model == PLACEHOLDER
        assert PLACEHOLDER in notes(found)

    def test_nor_has_one_that_looks_like_an_id(self) -> None:
        assert read(launched(model="Qwen/Qwen3-8B", config=self.config).command).model == PLACEHOLDER

    def test_a_pinned_commit_is_the_hubs(self) -> None:
        commit = "0123456789abcdef0123456789abcdef01234567"
        sizing = sized()
        pinned = size(sizing.architecture, sizing.scenario.with_changes(revision=commit), weights=None)
        flags = read(vllm_command(pinned))
        assert (flags.model, flags.revision) == ("Qwen/Qwen3-32B-FP8", commit)

    def test_the_revision_of_a_bundled_file_is_not(self) -> None:
        assert sized().scenario.revision.startswith("sha256:")
        assert read(launched().command).revision is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"weight_dtype": "int4"}, "assumes int4 weights"),
        ({"weights_gib": 20.0}, "as you typed it"),
        ({"gpus": 4, "tp": 2}, "2 engines: run it once for each, on 2 GPUs"),
        ({"gpus": 2, "tp": 1, "gpu": "mi300x"}, "HIP_VISIBLE_DEVICES"),
        ({"max_model_len": 400_000}, "would stop at start"),
        ({"input": 50_000}, "more than the 40,960"),
        ({"sequences": 2_000}, "default of 1,024 requests"),
        ({"in_flight_tokens": 12_345}, "have no flag"),
        ({"kv_dtype": "fp32"}, "runs in fp32"),
    ],
)
def test_what_to_know_before_running_it(changes: dict[str, object], said: str) -> None:
    found = launched(**changes)
    assert said in notes(found)
    assert all("{" not in note(lang) for note in found.notes for lang in LANGUAGES)


@pytest.mark.parametrize(
    ("changes", "flags", "groups"),
    [
        ({"dp": 8}, "--data-parallel-size 8", "attention on each GPU apart"),
        ({"pp": 2, "dp": 4}, "--pipeline-parallel-size 2 --data-parallel-size 4", "attention in 4 groups of 2"),
        ({"tp": 2}, "--tensor-parallel-size 2 --data-parallel-size 4", "attention in 4 groups of 2"),
    ],
)
def test_attention_data_parallel_is_one_start(changes: dict[str, object], flags: str, groups: str) -> None:
    sizing = sized(model="deepseek-ai/DeepSeek-R1", gpu="h200", gpus=8, attention_dp="on", **changes)
    found = launch(sizing)
    assert found is not None
    assert found.command == f"vllm serve deepseek-ai/DeepSeek-R1 --max-model-len 4096 {flags} --enable-expert-parallel"
    assert "run it once" not in notes(found)
    assert groups in verdict(sizing, "en").rest
    many = sized(model="deepseek-ai/DeepSeek-R1", gpu="h200", gpus=8, attention_dp="on", sequences=20_000, **changes)
    assert any("data-parallel group" in note.message("en") for note in many.notes)
    weights = resolve(many.scenario).weights
    more = [lever for lever in levers(many, weigh=lambda _: weights) if lever.code == "gpus"]
    assert more
    assert not [lever for lever in more if "engines" in lever.label("en") or "engines" in lever.cost("en")]
    for lang in LANGUAGES:
        said = [verdict(many, lang).rest, *(note.message(lang) for note in many.notes)]
        assert not any("engines of" in one or "one engine" in one or "エンジン 8 個" in one for one in said)


def test_engines_without_it_are_started_apart() -> None:
    found = launched(gpus=2, tp=1)
    assert "2 engines: run it once for each, on one GPU of its own" in notes(found)
    assert "--data-parallel-size" not in found.command


def test_nothing_to_know() -> None:
    assert launched().notes == ()
    assert launched(in_flight_tokens=16_384).notes == ()


def test_no_command_for_what_vllm_does_not_run() -> None:
    assert launch(sized(kv_dtype="q8_0")) is None


def test_without_a_gpu_the_lengths_are_known() -> None:
    assert launched(gpu="").command == "vllm serve Qwen/Qwen3-32B-FP8 --max-model-len 4096"


def test_sglang_is_told_a_type_that_is_not_its_own() -> None:
    sparse = {"model": "deepseek-ai/DeepSeek-V3.2", "engine": "sglang", "gpu": "b200", "gpus": 8}
    assert "--kv-cache-dtype fp8_e4m3" in launched(**sparse).command
    assert "--kv-cache-dtype bfloat16" in launched(**sparse, kv_dtype="bf16").command
    assert "--kv-cache-dtype" not in launched(**{**sparse, "gpu": "h200"}).command


def test_sglang_is_told_to_run_more_than_it_does_by_itself() -> None:
    small = {"model": "Qwen/Qwen3-0.6B", "engine": "sglang", "gpu": "h200", "input": 60, "output": 4}
    assert "--max-running-requests" not in launched(**small, sequences=4_096).command
    assert "--max-running-requests 5000" in launched(**small, sequences=5_000).command
    assert "--max-running-requests 5000" in launched(**small, sequences=10_000, gpus=2, tp=1).command
