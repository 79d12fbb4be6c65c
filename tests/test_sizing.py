"""The answer: what fits, what each engine and GPU gets, and what is said about it."""

from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.core.architecture import Architecture, KvScheme
from kvviz.core.cache import ChunkedAttention, FullAttention, LatentAttention
from kvviz.core.errors import ScenarioError
from kvviz.core.units import GIB, MIB
from kvviz.devices import device, devices
from kvviz.engines import vllm_memory
from kvviz.estimate import Estimate
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size
from kvviz.text import Message, Text
from tests.engines import models as m

FP8_WEIGHTS = 34_300_000_000


def weights(value_bytes: int = FP8_WEIGHTS) -> Estimate:
    return Estimate(value_bytes=value_bytes, basis="exact", source=Message(Text("Counted.", "数えた値です。")))


def sized(
    architecture: Architecture = m.QWEN3_32B, *, weights_bytes: int | None = FP8_WEIGHTS, **settings: object
) -> Sizing:
    given_weights = None if weights_bytes is None else weights(weights_bytes)
    return size(architecture, Scenario(**settings), weights=given_weights)


def codes(sizing: Sizing) -> list[str]:
    return [note.code for note in sizing.notes]


class TestWorkedExample:
    """A 32B model with FP8 weights on one H100, 3,072 + 1,024 tokens, 50 at once."""

    answer = sized()

    def test_content_is_one_gib_a_request(self) -> None:
        assert self.answer.content_bytes == self.answer.request_bytes == self.answer.held_bytes == GIB

    def test_the_budget_adds_up(self) -> None:
        budget = self.answer.budget
        assert budget is not None
        assert budget.device_bytes == 81_559 * MIB
        assert budget.requested_bytes == ceil(81_559 * MIB * 0.92)
        assert budget.outside_bytes + budget.requested_bytes == budget.device_bytes
        terms = (budget.weights, budget.activations, budget.graphs, budget.non_torch)
        assert budget.available_bytes == budget.requested_bytes - sum(t.value_bytes for t in terms)
        assert budget.pool_blocks == budget.available_bytes // 4_194_304
        assert budget.pool_bytes == budget.pool_blocks * 4_194_304

    def test_fewer_than_fifty_fit(self) -> None:
        answer = self.answer
        assert answer.budget is not None
        assert answer.max_sequences_counted == answer.max_sequences_held == answer.budget.pool_bytes // GIB == 35
        assert answer.fits == "no"
        assert answer.short_bytes == 50 * GIB - answer.budget.pool_bytes

    def test_the_longest_single_request(self) -> None:
        answer = self.answer
        assert answer.budget is not None
        assert answer.max_tokens == (answer.budget.pool_blocks - 1) * 16


@pytest.mark.parametrize(("sequences", "fits"), [(1, "yes"), (35, "yes"), (36, "no")])
def test_the_verdict_goes_by_the_count(sequences: int, fits: str) -> None:
    assert sized(sequences=sequences).fits == fits


def test_windows_fit_held_before_they_fit_counted() -> None:
    answer = sized(m.GEMMA3_27B, weights_bytes=28 * 10**9, input=3_072, output=1_024, sequences=40)
    assert answer.max_sequences_counted is not None
    assert answer.max_sequences_held is not None
    assert answer.max_sequences_counted < 40 <= answer.max_sequences_held
    assert answer.fits == "held-only"
    assert "windows-reserve" in codes(answer)


def test_measured_starts_had_the_room_the_budget_says() -> None:
    """Five starts of vLLM 0.11 on H100 at fraction 0.9: weights as measured, the cache left over as predicted."""
    for start in vllm_memory.starts():
        model = replace(m.LLAMA31_70B, vocab_size=start.vocab, hidden_size=start.hidden)
        budget = sized(
            model, weights_bytes=round(start.weights_bytes) * start.tp, gpus=start.tp, memory_fraction=0.9
        ).budget
        assert budget is not None
        assert budget.available_bytes == pytest.approx(start.kv_available_bytes, abs=0.05 * GIB)


class TestSeveralGpus:
    def test_all_gpus_make_one_engine(self) -> None:
        one, two = sized(), sized(gpus=2)
        assert two.plan is not None
        assert (two.plan.tp, two.engines) == (2, 1)
        assert two.request_bytes == GIB // 2
        assert two.max_sequences_counted > 2 * one.max_sequences_counted

    def test_smaller_engines_stand_side_by_side(self) -> None:
        one, two = sized(), sized(gpus=2, tp=1)
        assert two.engines == 2
        assert two.max_sequences_counted == 2 * one.max_sequences_counted
        assert two.max_tokens == one.max_tokens
        assert two.short_bytes == 25 * GIB - two.budget.pool_bytes

    def test_weights_are_split_and_say_so(self) -> None:
        budget = sized(gpus=4).budget
        assert budget is not None
        assert budget.weights.value_bytes == -(-FP8_WEIGHTS // 4)
        assert budget.weights.basis == "assumed"
        assert budget.weights.source("en") == "Counted. Assumed to be split evenly over 4 GPUs."

    def test_a_number_of_gpus_the_heads_forbid(self) -> None:
        with pytest.raises(ScenarioError, match="use 1, 2, 4, 8, 16, 32, 64 GPUs") as caught:
            sized(gpus=3)
        assert caught.value.field == "gpus"
        assert sized(gpus=3, tp=1).engines == 3

    def test_a_size_the_heads_forbid(self) -> None:
        with pytest.raises(ScenarioError) as caught:
            sized(gpus=6, tp=3)
        assert caught.value.field == "tp"


class TestWithoutABudget:
    def test_no_gpu(self) -> None:
        answer = sized(gpu="")
        assert answer.plan is not None
        assert answer.plan.in_flight_tokens == 16_384
        assert answer.request_bytes == GIB
        nothing = (answer.budget, answer.max_sequences_counted, answer.max_sequences_held, answer.max_tokens)
        assert (*nothing, answer.fits, answer.short_bytes) == (None,) * 6

    def test_no_weights(self) -> None:
        answer = sized(weights_bytes=None)
        assert answer.budget is None
        assert answer.fits is None
        assert codes(answer) == ["weights-unknown"]

    def test_no_plan(self) -> None:
        answer = sized(replace(m.QWEN3_32B, class_name="BaichuanForCausalLM"))
        assert answer.plan is None
        assert answer.plan_missing is not None
        assert answer.plan_missing.code == "vllm-removed"
        assert (answer.content_bytes, answer.request_bytes, answer.budget) == (GIB, None, None)

    def test_layers_no_pool_can_hold(self) -> None:
        mixed = m.architecture(
            (LatentAttention(latent_dim=512, rope_dim=64),),
            (FullAttention(kv_heads=4, key_dim=96, value_dim=96),),
            (ChunkedAttention(kv_heads=4, key_dim=96, value_dim=96, chunk_tokens=8_192),),
        )
        answer = sized(mixed)
        assert answer.plan is None
        assert answer.plan_missing is not None
        assert answer.content_bytes == 4_096 * (1_152 + 2 * 1_536)

    def test_an_unknown_gpu(self) -> None:
        with pytest.raises(ScenarioError) as caught:
            sized(gpu="rtx-9090")
        assert caught.value.field == "gpu"


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32", "fp8", "int8", "int4"])
def test_changing_the_weight_type_changes_no_byte_of_the_cache(dtype: str) -> None:
    def cache(answer: Sizing) -> tuple[object, ...]:
        assert answer.plan is not None
        return (
            answer.content,
            answer.content_bytes,
            answer.request_bytes,
            answer.held_bytes,
            answer.plan.pool_block_bytes,
        )

    assert cache(sized(weight_dtype=dtype, weights_bytes=FP8_WEIGHTS * 2)) == cache(sized())


class TestNotes:
    def test_none_on_the_worked_example(self) -> None:
        assert codes(sized()) == []

    @pytest.mark.parametrize(
        ("code", "answer"),
        [
            ("context-beyond-model", sized(input=40_000, output=1_000)),
            ("startup-fails", sized(max_model_len=1_000_000)),
            ("weights-do-not-fit", sized(weights_bytes=80 * 10**9)),
            ("no-room-for-cache", sized(weights_bytes=75 * 10**9)),
            ("weights-are-not-cache", sized(weight_dtype="fp8")),
            ("kv-heads-copied", sized(m.LLAMA31_70B, gpus=16)),
            ("latent-copied", sized(m.DEEPSEEK_R1, gpus=8)),
            ("stored-as", sized(m.DEEPSEEK_V32, gpus=8, kv_dtype="fp8")),
            ("windows-reserve", sized(m.GEMMA3_27B)),
            ("coarse-blocks", sized(m.QWEN3_NEXT)),
        ],
    )
    def test_what_must_be_said(self, code: str, answer: Sizing) -> None:
        assert code in codes(answer)
        for note in answer.notes:
            assert "{" not in note.message("en") + note.message("ja")

    def test_the_files_own_scheme_decides_auto_only(self) -> None:
        scheme = replace(m.QWEN3_32B, kv_scheme=KvScheme(dtype="fp8", path="$.kv_cache_scheme"))
        auto, bf16 = sized(scheme), sized(scheme, kv_dtype="bf16")
        assert (auto.kv_dtype.name, auto.request_bytes) == ("fp8", GIB // 2)
        assert (bf16.kv_dtype.name, bf16.request_bytes) == ("bf16", GIB)
        assert "$.kv_cache_scheme" in auto.kv_dtype_reason("en")
        assert "$.kv_cache_scheme" not in bf16.kv_dtype_reason("en")

    def test_a_pool_of_nothing_holds_nothing(self) -> None:
        answer = sized(weights_bytes=80 * 10**9)
        assert answer.budget is not None
        assert answer.budget.available_bytes < 0
        assert (answer.budget.pool_bytes, answer.max_sequences_counted, answer.max_tokens) == (0, 0, 0)
        assert answer.fits == "no"


def test_glm5_defaults_to_fp8_on_data_centre_blackwell_only() -> None:
    glm = replace(m.DEEPSEEK_V32, class_name="GlmMoeDsaForCausalLM")
    chosen = {gpu: sized(glm, gpu=gpu, gpus=8).kv_dtype.name for gpu in ("h200", "b200", "rtx-pro-6000")}
    assert chosen == {"h200": "bf16", "b200": "fp8", "rtx-pro-6000": "fp8_ds_mla"}
    assert sized(glm, gpu="b200", gpus=8, kv_dtype="bf16").kv_dtype.name == "bf16"


def test_batched_tokens_set_in_flight_and_activations() -> None:
    small, large = sized(m.GEMMA3_27B, batched_tokens=2_048), sized(m.GEMMA3_27B, batched_tokens=32_768)
    assert small.plan.in_flight_tokens == 4_096
    assert small.budget.activations.value_bytes < large.budget.activations.value_bytes
    assert sized(m.GEMMA3_27B, batched_tokens=2_048, in_flight_tokens=100).plan.in_flight_tokens == 100


@given(st.sampled_from([d.id for d in devices()]), st.integers(1, 60_000), st.integers(1, 500))
def test_longer_or_more_requests_never_fit_better(gpu: str, tokens: int, sequences: int) -> None:
    answer = sized(m.GEMMA3_27B, weights_bytes=10**10, gpu=gpu, input=tokens, output=1, sequences=sequences)
    longer = sized(m.GEMMA3_27B, weights_bytes=10**10, gpu=gpu, input=tokens + 500, output=1, sequences=sequences)
    assert longer.max_sequences_counted <= answer.max_sequences_counted <= answer.max_sequences_held
    assert (answer.fits == "yes") == (sequences <= answer.max_sequences_counted) == (answer.short_bytes <= 0)
    assert answer.budget.device == device(gpu)


def test_a_cache_type_of_another_engine_has_content_and_no_reservation() -> None:
    """llama.cpp's q8_0 takes 34 bytes for 32 values; vLLM has no such cache and says so instead of a number."""
    answer = sized(kv_dtype="q8_0")
    assert answer.content_bytes == 2 * 64 * 8 * 128 * 34 // 32 * 4096
    assert answer.plan is None
    assert answer.budget is None
    assert answer.max_sequences_counted is None
    assert answer.plan_missing is not None
    assert answer.plan_missing.code == "kv-dtype-of-another-engine"
    assert "llama.cpp" in str(answer.plan_missing.message)
