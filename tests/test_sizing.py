"""The answer: what fits, what each engine and GPU gets, and what is said about it."""

from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz import catalogue, explain
from kvviz.catalogue import load
from kvviz.core.architecture import Architecture, KvScheme, read_config
from kvviz.core.cache import ChunkedAttention, CompressedAttention, FullAttention, LatentAttention
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
    held = answer.max_sequences_held
    fits = [
        sized(m.GEMMA3_27B, weights_bytes=28 * 10**9, input=3_072, output=1_024, sequences=n).fits
        for n in (held, held + 1)
    ]
    assert fits == ["held-only", "no"]


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

    def test_a_share_of_the_weights_is_rounded_up(self) -> None:
        budget = sized(gpus=2, weights_bytes=FP8_WEIGHTS + 1).budget
        assert budget is not None
        assert budget.weights.value_bytes == FP8_WEIGHTS // 2 + 1

    def test_what_one_engine_leaves_over_is_no_help_to_another(self) -> None:
        """Of 2,416 tokens, 59.6 fit into one pool and 119.2 into one of twice the size."""
        one, two = sized(input=2_416, output=0), sized(input=2_416, output=0, gpus=2, tp=1)
        assert one.budget is not None
        assert 2 * one.budget.pool_blocks // 151 == 119
        assert (one.max_sequences_counted, two.max_sequences_counted, two.max_sequences_held) == (59, 118, 118)

    def test_the_fullest_of_uneven_engines_decides_what_is_short(self) -> None:
        answer = sized(gpus=2, tp=1, sequences=51)
        assert answer.budget is not None
        assert answer.short_bytes == 26 * GIB - answer.budget.pool_bytes

    def test_a_number_of_gpus_the_heads_forbid(self) -> None:
        with pytest.raises(ScenarioError, match="one of 1, 2, 4, 8, 16, 32, 64, or") as caught:
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


class TestStart:
    """vLLM stops where its longest request does not fit beside the null block (kv_cache_planning.py:1533-1560)."""

    blocks = sized().budget.pool_blocks  # type: ignore[union-attr]

    @pytest.mark.parametrize(
        ("spare_blocks", "starts", "fits"), [(1, True, "yes"), (0, False, "no"), (-1, False, "no")]
    )
    def test_the_null_block_is_not_to_be_had(self, spare_blocks: int, starts: bool, fits: str) -> None:
        answer = sized(sequences=1, max_model_len=16 * (self.blocks - spare_blocks))
        assert (answer.starts, answer.fits) == (starts, fits)
        assert ("startup-fails" in codes(answer)) is not starts
        assert answer.max_sequences_counted == self.blocks // 256  # counts stay those of the pool

    def test_the_verdict_is_no_whatever_the_counts(self) -> None:
        answer = sized(sequences=1, input=16 * self.blocks, output=0)
        assert answer.max_sequences_counted == 1
        assert (answer.starts, answer.fits) == (False, "no")
        assert answer.max_tokens == 16 * (self.blocks - 1)

    def test_a_pool_of_nothing_does_not_start(self) -> None:
        assert sized(weights_bytes=80 * 10**9).starts is False

    def test_nobody_knows_without_a_budget(self) -> None:
        assert sized(gpu="").starts is None
        assert sized(weights_bytes=None).starts is None


class TestStartUpLog:
    """What vLLM prints of its pool: blocks / blocks of a longest request, times its length."""

    @pytest.mark.parametrize("max_model_len", [4_096, 16_000, 32_768, 40_960, 131_072])
    def test_plain_models_print_the_slots_of_the_pool(self, max_model_len: int) -> None:
        budget = sized(max_model_len=max_model_len).budget
        assert budget is not None
        assert budget.longest_tokens == max_model_len
        assert budget.kv_cache_size_tokens == budget.pool_blocks * 16
        assert budget.max_concurrency == pytest.approx(budget.pool_blocks * 16 / max_model_len)

    def test_a_length_between_blocks_prints_fewer(self) -> None:
        budget = sized(max_model_len=5_001).budget
        assert budget is not None
        assert budget.kv_cache_size_tokens == int(budget.pool_blocks / 313 * 5_001)

    def test_windows_are_amortised_over_longer_requests(self) -> None:
        """gpt-oss-120b: the same pool, and more tokens the longer the longest request."""
        model = load("openai/gpt-oss-120b").architecture
        printed = []
        for length in (8_192, 32_768, 131_072):
            answer = sized(model, weights_bytes=61 * GIB, max_model_len=length)
            assert answer.budget is not None
            assert answer.plan is not None
            # One full-attention group of half the layers, and windows counted with 16,384 tokens in flight.
            blocks = length // 16 + -(-min(127 + 16_384, length) // 16) + 1
            assert answer.budget.max_concurrency == pytest.approx(answer.budget.pool_blocks / blocks)
            printed.append(answer.budget.kv_cache_size_tokens)
        assert printed == sorted(set(printed))


class TestNotes:
    def test_only_that_the_pool_is_longer_than_the_model_on_the_worked_example(self) -> None:
        assert codes(sized()) == ["max-tokens-beyond-model"]
        assert codes(sized(replace(m.QWEN3_32B, max_context_tokens=1_000_000))) == []

    def test_the_longest_the_model_has_is_not_beyond_it(self) -> None:
        assert "context-beyond-model" not in codes(sized(input=40_000, output=960))
        assert "context-beyond-model" in codes(sized(input=40_000, output=961))
        longest = sized().max_tokens
        assert "max-tokens-beyond-model" not in codes(sized(replace(m.QWEN3_32B, max_context_tokens=longest)))
        assert "max-tokens-beyond-model" in codes(sized(replace(m.QWEN3_32B, max_context_tokens=longest - 1)))

    def test_more_requests_than_an_engine_runs_are_said(self) -> None:
        def said(**settings: object) -> bool:
            return "more-than-max-num-seqs" in codes(sized(**settings))

        assert not said(sequences=1_024)
        assert said(sequences=1_025)
        assert not said(sequences=2_048, gpus=2, tp=1)
        assert said(sequences=2_049, gpus=2, tp=1)
        assert said(sequences=257, gpu="a100-80gb")
        assert not said(sequences=1_025, gpu="")
        [note] = [n for n in sized(sequences=1_025).notes if n.code == "more-than-max-num-seqs"]
        assert "at most 1,024 at once here unless --max-num-seqs is raised" in note.message("en")

    def test_typed_weights_have_no_type_to_speak_of(self) -> None:
        assert "weights-are-not-cache" not in codes(sized(weight_dtype="fp8", weights_gib=30.0))

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


def test_glm5_is_known_by_its_type_where_the_file_names_no_class() -> None:
    glm = replace(m.DEEPSEEK_V32, class_name="", model_type="glm_moe_dsa")
    assert sized(glm, gpu="b200", gpus=8).kv_dtype.name == "fp8"


@pytest.mark.parametrize(
    ("gpu", "settings", "basis"),
    [
        ("h100-80gb", {}, "measured"),
        ("h100-80gb", {"batched_tokens": 4_096}, "assumed"),
        ("h200", {}, "assumed"),
        ("a100-80gb", {}, "assumed"),
        ("l4", {}, "assumed"),
    ],
)
def test_measured_is_what_was_measured(gpu: str, settings: dict[str, int], basis: str) -> None:
    budget = sized(gpu=gpu, weights_bytes=10**10, **settings).budget
    assert budget is not None
    for term in (budget.activations, budget.graphs, budget.non_torch):
        assert term.basis == basis
        assert ("Extrapolated" in term.source("en")) == (basis == "assumed")


def test_a_state_of_no_bytes_is_shown_and_counted_as_nothing() -> None:
    """LFM2 whose convolutions look at one token: nothing is kept of the past."""
    known = dict(load("LiquidAI/LFM2-2.6B").config)
    mixed = sized(read_config({**known, "conv_L_cache": 1}))
    assert mixed.content.state_bytes == 0
    assert mixed.fits == "yes"
    assert [line.total_bytes for line in explain.lines(mixed)] == [mixed.content_bytes, 0]
    layers = known["num_hidden_layers"]
    empty = sized(read_config({**known, "conv_L_cache": 1, "layer_types": ["conv"] * layers}))
    assert (empty.content_bytes, empty.plan, empty.fits) == (0, None, None)
    assert empty.plan_missing is not None
    assert empty.plan_missing.code == "no-cache"
    assert [line.total_bytes for line in explain.lines(empty)] == [0]
    assert sized(m.architecture(())).plan_missing.code == "no-cache"


@pytest.mark.parametrize("model", catalogue.models())
def test_the_working_adds_up_to_the_content(model: str) -> None:
    layout = load(model).architecture
    for dtype, tokens in (("auto", 4_097), ("int4_per_token_head", 333), ("q4_0", 32_771)):
        try:
            answer = sized(layout, gpu="", kv_dtype=dtype, input=tokens, output=0)
        except ScenarioError:  # this cache has no such form
            continue
        assert sum(line.total_bytes for line in explain.lines(answer)) == answer.content_bytes


def test_lines_of_fractions_are_rounded_once() -> None:
    """Two kinds of records, each some sixteenths of a byte over whole ones: their sum is rounded up, not each."""
    one, two = (CompressedAttention(head_dim=512, rope_dim=64, window_tokens=w, ratio=128) for w in (128, 256))
    for tokens in range(4_096, 4_112):
        answer = sized(m.architecture((one,), (two,)), gpu="", input=tokens, output=0)
        assert sum(line.total_bytes for line in explain.lines(answer)) == answer.content_bytes


@given(st.sampled_from([d.id for d in devices()]), st.integers(1, 60_000), st.integers(1, 500))
def test_longer_or_more_requests_never_fit_better(gpu: str, tokens: int, sequences: int) -> None:
    answer = sized(m.GEMMA3_27B, weights_bytes=10**10, gpu=gpu, input=tokens, output=1, sequences=sequences)
    longer = sized(m.GEMMA3_27B, weights_bytes=10**10, gpu=gpu, input=tokens + 500, output=1, sequences=sequences)
    assert longer.max_sequences_counted <= answer.max_sequences_counted <= answer.max_sequences_held
    assert (sequences <= answer.max_sequences_counted) == (answer.short_bytes <= 0)
    assert (answer.fits == "yes") == (answer.starts and sequences <= answer.max_sequences_counted)
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


def test_no_rule_of_vllm_is_about_another_engines_type() -> None:
    """80 values a head, and three GPUs that its heads could not be split over."""
    odd = m.architecture(*((FullAttention(kv_heads=32, key_dim=80, value_dim=80),),) * 32, attention_heads=32)
    answer = sized(odd, kv_dtype="q8_0", gpus=3, input=32_768, output=0)
    assert answer.content_bytes == 5_704_253_440
    assert (answer.kv_dtype.name, answer.engines) == ("q8_0", 1)
    with pytest.raises(ScenarioError):
        sized(odd, gpus=3)
