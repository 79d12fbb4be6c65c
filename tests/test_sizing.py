"""The answer: what fits, what each engine and GPU gets, and what is said about it."""

from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz import catalogue, explain
from kvviz.catalogue import load
from kvviz.core.architecture import Architecture, KvScheme, read_config
from kvviz.core.cache import ChunkedAttention, CompressedAttention, FullAttention, LatentAttention, SlidingWindow
from kvviz.core.errors import ScenarioError
from kvviz.core.units import GIB, MIB
from kvviz.devices import device, devices
from kvviz.engines import vllm_memory
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size, usable_kv_dtypes
from kvviz.text import LANGUAGES, Lang, Message, Text
from kvviz.text import explain as explain_text
from kvviz.text.weights import FROM_HUB
from kvviz.weights import with_draft
from tests.engines import models as m

FP8_WEIGHTS = 34_300_000_000


def weights(value_bytes: int = FP8_WEIGHTS) -> Estimate:
    return Estimate(value_bytes=value_bytes, basis="exact", source=Message(Text("Counted.", "数えた値です。")))


def sized(
    architecture: Architecture = m.QWEN3_32B, *, weights_bytes: int | None = FP8_WEIGHTS, **settings: object
) -> Sizing:
    given_weights = None if weights_bytes is None else weights(weights_bytes)
    return size(architecture, Scenario(**settings), weights=given_weights)


def shared_blocks(answer: Sizing) -> int:
    """Blocks that the requests of one engine have in common."""
    assert isinstance(answer.plan, VllmPlan)
    blocks, rest = divmod(answer.shared_bytes, answer.plan.pool_block_bytes)
    assert not rest
    return blocks


NOTHING_BESIDES = {"activations_gib": 0.0, "non_torch_gib": 0.0, "graphs_gib": 0.0}


def in_pool_of(blocks: int, architecture: Architecture = m.QWEN3_32B, **settings: object) -> Sizing:
    """The answer for one H100 an engine whose weights leave room for exactly so many blocks."""
    settings = {**NOTHING_BESIDES, **settings}
    plan = sized(architecture, **{**settings, "gpu": ""}).plan
    assert plan is not None
    left = ceil(round(79.18 * GIB) * 0.92) - blocks * plan.pool_block_bytes
    answer = sized(architecture, weights_bytes=left * plan.tp, **settings)
    assert answer.budget is not None
    assert answer.budget.pool_blocks == blocks
    return answer


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
        # vLLM's share is one of what CUDA sees: 79.18 of the 79.65 GiB that the driver reports.
        assert budget.requested_bytes == ceil(round(79.18 * GIB) * 0.92)
        assert budget.hidden.value_bytes == 81_559 * MIB - round(79.18 * GIB)
        assert budget.hidden.value_bytes + budget.outside_bytes + budget.requested_bytes == budget.device_bytes
        terms = (budget.weights, budget.activations, budget.graphs, budget.non_torch)
        assert budget.available_bytes == budget.requested_bytes - sum(t.value_bytes for t in terms)
        assert budget.pool_blocks == budget.available_bytes // 4_194_304
        assert budget.pool_bytes == budget.pool_blocks * 4_194_304

    def test_fewer_than_fifty_fit(self) -> None:
        answer = self.answer
        assert answer.budget is not None
        assert answer.max_sequences_counted == answer.max_sequences_held == answer.budget.pool_bytes // GIB == 34
        assert answer.fits == "no"
        assert answer.short_bytes == 50 * GIB - (answer.budget.pool_bytes - 4 * MIB)  # less the null block

    def test_the_longest_single_request(self) -> None:
        answer = self.answer
        assert answer.budget is not None
        assert answer.max_tokens == (answer.budget.pool_blocks - 1) * 16


@pytest.mark.parametrize(("sequences", "fits"), [(1, "yes"), (34, "yes"), (35, "no")])
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
        # The sum of what vLLM 0.11 printed is 0.9 x 79.18 GiB in every row; it did not subtract CUDA graphs yet.
        left = budget.available_bytes + budget.graphs.value_bytes
        assert left == pytest.approx(start.kv_available_bytes, abs=0.05 * GIB)


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
        assert two.short_bytes == 25 * GIB - two.budget.usable_bytes

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
        """Of 2,416 tokens, 58.9 fit into one pool and 117.8 into one of twice the size."""
        one, two = sized(input=2_416, output=0), sized(input=2_416, output=0, gpus=2, tp=1)
        assert one.budget is not None
        assert 2 * one.budget.pool_blocks // 151 == 117
        assert (one.max_sequences_counted, two.max_sequences_counted, two.max_sequences_held) == (58, 116, 116)

    def test_the_fullest_of_uneven_engines_decides_what_is_short(self) -> None:
        answer = sized(gpus=2, tp=1, sequences=51)
        assert answer.budget is not None
        assert answer.short_bytes == 26 * GIB - answer.budget.usable_bytes

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
        assert answer.max_sequences_counted == (self.blocks - 1) // 256

    def test_a_request_as_large_as_the_pool_does_not_fit(self) -> None:
        answer = sized(sequences=1, input=16 * self.blocks, output=0)
        assert answer.max_sequences_counted == 0
        assert (answer.starts, answer.fits) == (False, "no")
        assert answer.max_tokens == 16 * (self.blocks - 1)

    @pytest.mark.parametrize(
        ("model", "requests", "blocks", "fit"),
        [
            ("meta-llama/Llama-3.1-8B-Instruct", 4, 2_048, 3),  # 4 x 512 blocks, of which 2,047 are to be had
            ("meta-llama/Llama-3.1-8B-Instruct", 4, 2_049, 4),
            ("tiiuae/falcon-mamba-7b", 100, 100, 99),  # a block a request
            ("tiiuae/falcon-mamba-7b", 100, 101, 100),
        ],
    )
    def test_what_fits_goes_without_the_null_block(self, model: str, requests: int, blocks: int, fit: int) -> None:
        answer = in_pool_of(blocks, load(model).architecture, input=8_192, output=0, sequences=requests)
        assert answer.max_sequences_counted == answer.max_sequences_held == answer.fit(8_192) == fit
        assert answer.fits == ("yes" if fit == requests else "no")
        assert answer.budget is not None
        assert answer.short_bytes == (requests - fit) * answer.budget.unit_bytes
        # The log divides all blocks.
        assert answer.budget.max_concurrency == blocks / answer.plan.request_blocks(8_192)

    def test_v0_had_none(self) -> None:
        answer = in_pool_of(512, input=8_192, output=0, sequences=1, engine_version="v0", memory_fraction=0.92)
        assert (answer.max_sequences_counted, answer.fits, answer.budget.null_bytes) == (1, "yes", 0)

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

    def test_so_are_more_than_sglang_runs(self) -> None:
        def said(**settings: object) -> list[str]:
            answer = sized(engine="sglang", gpu="h200", input=60, output=4, **settings)
            return [n.message("en") for n in answer.notes if n.code == "more-than-max-running-requests"]

        assert said(sequences=4_096) == []
        [sentence] = said(sequences=4_097)
        assert "at most 4,096 at once here unless --max-running-requests is raised" in sentence
        assert said(sequences=8_192, gpus=2, tp=1) == []
        assert said(sequences=8_193, gpus=2, tp=1) == [sentence]
        assert said(sequences=1_000_000) == [sentence.replace("4,097", "1,000,000")]

    @pytest.mark.parametrize("lang", LANGUAGES)
    def test_what_nobody_knows_is_said_not_to_be_taken_off(self, lang: Lang) -> None:
        def said(**settings: object) -> list[str]:
            return [n.message(lang) for n in sized(**settings).notes if n.code == "not-taken-off"]

        [both] = said(engine="transformers")
        [engine] = said(engine="transformers", activations_gib=1.0)
        [activations] = said(engine="transformers", non_torch_gib=1.0)
        assert len({both, engine, activations}) == 3
        assert said(engine="transformers", activations_gib=1.0, non_torch_gib=1.0) == []
        assert said(engine="transformers", gpu="") == []
        assert [said(engine=name) for name in ("vllm", "sglang", "tensorrt-llm", "llama.cpp")] == [[]] * 4

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
    ("gpu", "settings", "extrapolated"),
    [
        ("h100-80gb", {}, False),
        ("h100-80gb", {"batched_tokens": 4_096}, True),
        ("h200", {}, True),
        ("a100-80gb", {}, True),
        ("l4", {}, True),
    ],
)
def test_a_fit_is_an_estimate_wherever_it_is_used(gpu: str, settings: dict[str, int], extrapolated: bool) -> None:
    budget = sized(gpu=gpu, weights_bytes=10**10, **settings).budget
    assert budget is not None
    for term in (budget.activations, budget.graphs, budget.non_torch):
        assert term.basis == "assumed"
        assert "used for 0.33" in term.source("en")
        assert ("Extrapolated" in term.source("en")) == extrapolated


@pytest.mark.parametrize(
    ("model", "gpu", "stored", "notes"),
    [
        ("Qwen/Qwen3-8B", "t4", "fp16", ["no-bf16"]),
        ("Qwen/Qwen3-8B", "a10g", "bf16", []),
        ("openai/whisper-tiny", "t4", "fp16", []),  # stored in fp32
        ("openai/whisper-tiny", "a10g", "bf16", []),
        ("google/gemma-2-2b-it", "t4", "fp32", ["no-bf16"]),
        ("google/gemma-2-2b-it", "a10g", "bf16", []),
    ],
)
def test_a_gpu_without_bf16_runs_another_type(model: str, gpu: str, stored: str, notes: list[str]) -> None:
    answer = sized(load(model).architecture, gpu=gpu, input=100, output=100)
    assert answer.kv_dtype.name == stored
    assert [note.code for note in answer.notes if note.code == "no-bf16"] == notes
    for lang in ("en", "ja"):
        assert stored in answer.kv_dtype_reason(lang) or stored == "bf16"
    types = usable_kv_dtypes(answer)
    assert ("bf16" in types) == (gpu != "t4")
    if gpu == "t4":
        assert "fp8" not in types
        with pytest.raises(ScenarioError, match="no kernel for a bf16 cache on this GPU: use one of fp16, fp32"):
            sized(load(model).architecture, gpu=gpu, kv_dtype="bf16", input=100, output=100)


def test_chunks_are_called_chunks() -> None:
    said = {
        n.code: n.message("en")
        for n in sized(
            load("meta-llama/Llama-4-Scout-17B-16E-Instruct").architecture, gpu="h200", gpus=8, input=30_000
        ).notes
    }
    assert said["windows-reserve"].startswith("Chunks are counted")


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


class TestPassages:
    def test_they_make_the_request_longer(self) -> None:
        """3,072 + 8 x 1,024 + 1,024 tokens are 12,288, 768 blocks of 16."""
        answer = in_pool_of(10_000, passages=8, passage_tokens=1_024)
        assert (answer.tokens, answer.content_bytes, answer.request_bytes) == (12_288, 3 * GIB, 3 * GIB)
        assert answer.max_sequences_counted == 13
        assert answer.budget.longest_tokens == 12_288
        [note] = [n for n in answer.notes if n.code == "passages-in-input"]
        expected = "The longest input is 11,264 tokens: 3,072 and 8 retrieved passages of 1,024 each."
        assert note.message("en") == expected
        same = in_pool_of(10_000, input=11_264)
        assert same.max_sequences_counted == answer.max_sequences_counted
        assert same.short_bytes == answer.short_bytes

    def test_none_is_not_worth_a_word(self) -> None:
        for settings in ({}, {"passages": 5, "passage_tokens": 0}):
            assert "passages-in-input" not in codes(sized(**settings))


class TestUsers:
    """Their requests take the place of those given, everywhere."""

    @pytest.mark.parametrize(("users", "requests", "fits"), [(136, 34, "yes"), (137, 35, "no"), (200, 50, "no")])
    def test_the_verdict_is_about_their_requests(self, users: int, requests: int, fits: str) -> None:
        answer, given = sized(users=users, sequences=1), sized(sequences=requests)
        assert answer.scenario.requests == requests
        assert (answer.fits, answer.short_bytes) == (fits, given.short_bytes) == (given.fits, given.short_bytes)
        [note] = [n for n in answer.notes if n.code == "requests-from-users"]
        formula = f"{users} × 15 s ÷ (15 s + 45 s)"
        assert note.message("en").startswith(
            f"{requests} requests in flight come from the users: {formula}, rounded up"
        )
        assert "requests given, 1, is not used" in note.message("en")

    def test_more_than_an_engine_runs(self) -> None:
        assert "more-than-max-num-seqs" in codes(sized(users=4_100, sequences=1))
        assert "more-than-max-num-seqs" not in codes(sized(users=4_096, sequences=5_000))


class TestHeadroom:
    @pytest.mark.parametrize(
        ("pool", "headroom", "kept", "fit"),
        [
            (10_000, 0.0, 0, 39),
            (10_000, 0.1, 1_000, 35),
            (10_000, 0.25, 2_500, 29),
            (10_000, 0.9, 9_000, 3),  # in floats 1 - 0.9 is a little less than a tenth
            (2_560, 0.9, 2_304, 0),  # 256 less the null block
            (2_570, 0.9, 2_313, 1),
            (1_001, 0.1, 101, 3),  # 100.1: in whole blocks
            (257, 0.5, 129, 0),
            (257, 0.0, 0, 1),
            (2, 0.9, 1, 0),  # of the two, one is never anybody's
            (0, 0.5, 0, 0),
        ],
    )
    def test_what_fits_is_counted_on_the_rest(self, pool: int, headroom: float, kept: int, fit: int) -> None:
        answer = in_pool_of(pool, headroom=headroom)
        budget = answer.budget
        assert budget is not None
        assert budget.kept_free_bytes == kept * 4 * MIB
        usable = max(0, pool - 1 - kept)
        assert (budget.usable_blocks, budget.usable_bytes) == (usable, usable * 4 * MIB)
        assert answer.max_sequences_counted == answer.max_sequences_held == answer.max_sequences_typical == fit
        assert answer.short_bytes == (50 * 256 - usable) * 4 * MIB
        assert ("headroom" in codes(answer)) == (headroom > 0)

    def test_the_engine_knows_nothing_of_it(self) -> None:
        free, kept = in_pool_of(300, sequences=1), in_pool_of(300, sequences=1, headroom=0.5)
        assert (free.fits, kept.fits) == ("yes", "no")
        assert free.starts is kept.starts is True
        assert free.max_tokens == kept.max_tokens
        for figure in ("pool_blocks", "pool_bytes", "max_concurrency", "kv_cache_size_tokens"):
            assert getattr(free.budget, figure) == getattr(kept.budget, figure)

    def test_it_is_said(self) -> None:
        [note] = [n for n in in_pool_of(10_000, headroom=0.1).notes if n.code == "headroom"]
        assert note.message("en").startswith("10% of the pool is kept free (3.91 GiB of 39.1 GiB per GPU)")


class TestDraft:
    """What is said and counted where a draft (MTP, EAGLE) is asked for."""

    def answer(self, model: str, **settings: object) -> Sizing:
        return resolve(Scenario(model=model, gpu="h200", **{"gpus": 8, **settings})).size()

    def test_layers_that_are_counted_are_not_said_to_be_left_out(self) -> None:
        """DeepSeek-R1 names one prediction layer, MiniMax-M2.5 three."""
        left_out = "draft-layers-not-counted"
        assert left_out in codes(self.answer("deepseek-ai/DeepSeek-R1"))
        assert left_out not in codes(self.answer("deepseek-ai/DeepSeek-R1", draft_layers=1))
        assert left_out in codes(self.answer("deepseek-ai/DeepSeek-R1", engine="transformers"))
        [note] = [n for n in self.answer("MiniMaxAI/MiniMax-M2.5", draft_layers=2).notes if n.code == left_out]
        assert note.message("en").startswith("Of 3 draft (MTP) layers in this file 2 are counted")
        assert left_out not in codes(self.answer("MiniMaxAI/MiniMax-M2.5", draft_layers=3))

    @pytest.mark.parametrize("engine", ["vllm", "sglang"])
    def test_weights_of_the_models_own_draft_are_counted(self, engine: str) -> None:
        """DeepSeek-R1's module: 256 experts, attention, a shared expert in fp8, and what joins its inputs in bf16."""
        without, with_one = (
            self.answer("deepseek-ai/DeepSeek-R1", engine=engine, draft_layers=n).budget for n in (0, 1)
        )
        assert without is not None
        assert with_one is not None
        more = 8 * (with_one.weights.value_bytes - without.weights.value_bytes)
        experts = 256 * 3 * 7_168 * 2_048
        attention = 7_168 * (1_536 + 576) + 1_536 * 128 * 192 + 512 * 128 * 256 + 128 * 128 * 7_168
        module = experts + experts // 256 + attention + 2 * 2 * 7_168**2
        assert more == pytest.approx(module, rel=0.005)
        said = with_one.weights.source("en")
        assert "for 1 prediction (MTP) layer of the draft" in said
        assert "left out" not in said
        assert with_one.weights.basis == "assumed"
        again = self.answer("deepseek-ai/DeepSeek-R1", engine=engine, draft_layers=3).budget
        assert again is not None
        assert again.weights.value_bytes == with_one.weights.value_bytes  # one module, run three times

    @pytest.mark.parametrize(
        ("model", "settings", "said"),
        [
            ("deepseek-ai/DeepSeek-R1", {}, False),
            ("deepseek-ai/DeepSeek-R1", {"draft_layers": 1}, False),
            ("deepseek-ai/DeepSeek-R1", {"draft_layers": 1, "weights_gib": 690.0}, False),  # as they were typed
            ("nvidia/DeepSeek-V3.1-NVFP4", {"draft_layers": 1}, True),  # its draft may be in another type
            ("deepseek-ai/DeepSeek-R1", {"draft_layers": 1, "weight_dtype": "int4"}, True),
            ("Qwen/Qwen3-32B", {"draft_layers": 1}, True),  # a draft of somebody else's
            ("Qwen/Qwen3-Next-80B-A3B-Instruct", {"draft_layers": 1, "gpus": 2}, True),  # its file names none
            ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", {"draft_layers": 1}, True),  # layers of many kinds
        ],
    )
    def test_weights_that_are_not_known_are_said_to_be_missing(
        self, model: str, settings: dict[str, object], said: bool
    ) -> None:
        answer = self.answer(model, **settings)
        assert ("draft-weights-not-counted" in codes(answer)) is said
        assert answer.budget is not None
        plain = self.answer(model, **{**settings, "draft_layers": 0}).budget
        assert plain is not None
        if said:
            assert answer.budget.weights == plain.weights

    def test_weights_of_a_file_on_the_hub_have_the_models_own_layers_in_them(self) -> None:
        architecture = load("deepseek-ai/DeepSeek-R1").architecture
        stored = Estimate(value_bytes=688 * 10**9, basis="exact", source=Message(FROM_HUB, {}))
        assert with_draft(stored, architecture, 1) == stored
        assert with_draft(stored, m.QWEN3_32B, 1) is None

    def test_one_token_is_assumed_and_said(self) -> None:
        asked = {"draft_layers": 1, "gpus": 1, "input": 32_768, "output": 0, "weights_gib": 54.0}
        model = "Qwen/Qwen3.5-27B"
        assumed, one, three = (self.answer(model, draft_tokens=n, **asked) for n in (None, 1, 3))
        assert [s.plan.request_blocks(s.tokens) for s in (assumed, one, three)] == [52, 52, 58]
        assert "draft-tokens-assumed" in codes(assumed)
        assert "draft-tokens-assumed" not in (*codes(one), *codes(three))
        assert "draft-tokens-assumed" not in codes(self.answer("deepseek-ai/DeepSeek-R1", draft_layers=1))

    def test_without_a_draft_its_tokens_change_nothing(self) -> None:
        plain, told = (self.answer("Qwen/Qwen3.5-27B", draft_tokens=n, gpus=1) for n in (None, 32))
        assert (told.plan, told.budget, codes(told)) == (plain.plan, plain.budget, codes(plain))

    def test_chunks_at_full_length_are_said(self) -> None:
        model = "meta-llama/Llama-4-Scout-17B-16E-Instruct"
        answer = self.answer(model, draft_layers=1, input=131_072, output=0, kv_dtype="bf16")
        assert "chunks-with-draft" in codes(answer)
        assert "windows-reserve" not in codes(answer)
        assert next(said.text for said in explain.differences(answer)) == explain_text.DIFFER_FULL_LENGTH
        plain = self.answer(model, input=131_072, output=0, kv_dtype="bf16")
        assert explain_text.DIFFER_FULL_LENGTH not in [said.text for said in explain.differences(plain)]


class TestTypicalLength:
    @pytest.mark.parametrize(
        ("settings", "fit"),
        [
            ({}, 39),
            ({"typical": 0.5}, 78),  # 2,048 tokens, 128 blocks
            ({"typical": 0.3}, 129),  # 1,228.8: 1,229 tokens, 77 blocks
            ({"typical": 0.01}, 3_333),  # 40.96: 41 tokens, 3 blocks
            ({"typical": 0.5, "headroom": 0.1}, 70),
            ({"typical": 0.5, "gpus": 2, "tp": 1}, 156),
            ({"typical": 0.5, "shared_tokens": 1_024}, 155),  # 64 + n x (128 - 64)
        ],
    )
    def test_it_has_a_count_of_its_own(self, settings: dict[str, float], fit: int) -> None:
        answer = in_pool_of(10_000, **settings)
        assert answer.max_sequences_typical == fit
        notes = [n.message("en") for n in answer.notes if n.code == "typical-length"]
        assert [f"{fit:,} requests fit" in note for note in notes] == [True] * ("typical" in settings)

    def test_the_verdict_goes_by_the_longest(self) -> None:
        answer = in_pool_of(10_000, typical=0.5)
        assert (answer.max_sequences_counted, answer.fits) == (39, "no")
        assert answer.short_bytes == in_pool_of(10_000).short_bytes

    def test_nobody_knows_without_a_budget(self) -> None:
        answer = sized(gpu="", typical=0.5)
        assert answer.max_sequences_typical is None
        assert "typical-length" not in codes(answer)


class TestSharedTokens:
    @pytest.mark.parametrize(
        ("shared", "blocks", "fit"),
        [
            (0, 0, 39),
            (15, 0, 39),
            (16, 1, 39),
            (1_024, 64, 51),  # 64 + n x 192 <= 10,000
            (1_039, 64, 51),
            (1_040, 65, 52),
            (3_071, 191, 150),
            (3_072, 191, 150),  # the whole prompt: its last token is computed again, so its last block is its own
        ],
    )
    def test_shared_blocks_are_counted_once(self, shared: int, blocks: int, fit: int) -> None:
        answer, plain = in_pool_of(10_000, shared_tokens=shared), in_pool_of(10_000)
        assert (shared_blocks(answer), answer.shared_bytes) == (blocks, blocks * 4 * MIB)
        assert answer.max_sequences_counted == answer.max_sequences_held == fit
        assert answer.short_bytes == (blocks + 50 * (256 - blocks) - 9_999) * 4 * MIB
        assert answer.fits == ("yes" if fit >= 50 else "no")
        # What the engine counts and logs has no sharing in it.
        assert (answer.request_bytes, answer.held_bytes) == (plain.request_bytes, plain.held_bytes)
        assert answer.content_bytes == plain.content_bytes
        assert answer.budget.max_concurrency == plain.budget.max_concurrency

    def test_a_prompt_of_nothing_but_the_shared_one(self) -> None:
        answer = in_pool_of(101, input=160, output=0, shared_tokens=160, sequences=91)
        assert (shared_blocks(answer), answer.max_sequences_counted, answer.fits) == (9, 91, "yes")
        assert in_pool_of(101, input=1, output=0, shared_tokens=1).max_sequences_counted == 100

    def test_each_engine_has_its_own_copy(self) -> None:
        answer = in_pool_of(10_000, gpus=2, tp=1, shared_tokens=1_024, sequences=103)
        assert answer.max_sequences_counted == 2 * 51
        assert answer.short_bytes == (64 + 52 * 192 - 9_999) * 4 * MIB

    def test_windows_are_not_shared(self) -> None:
        """10 full layers are one group, 52 windows six: 256 + 6 x 257 blocks at admission, 256 + 6 x 65 held."""
        answer = in_pool_of(20_000, m.GEMMA3_27B, shared_tokens=1_024, sequences=20)
        assert answer.plan.request_blocks(4_096) == 1_798
        assert answer.plan.held_blocks(4_096) == 646
        assert shared_blocks(answer) == 64
        assert answer.max_sequences_counted == (19_999 - 64) // (1_798 - 64) == 11
        assert answer.max_sequences_held == (19_999 - 64) // (646 - 64) == 34
        assert answer.fits == "held-only"

    def test_states_are_not_shared_and_make_blocks_coarse(self) -> None:
        """Qwen3-Next: blocks of 576 tokens, one group of attention beside three of states."""
        for shared, blocks in ((575, 0), (576, 1), (1_727, 2), (1_728, 3)):
            assert shared_blocks(sized(m.QWEN3_NEXT, gpu="", shared_tokens=shared)) == blocks

    def test_latents_are_shared(self) -> None:
        answer = sized(m.DEEPSEEK_R1, gpu="", gpus=8, shared_tokens=1_000)
        assert answer.plan.block_tokens == 16
        assert shared_blocks(answer) == 62

    def test_hits_end_where_the_blocks_of_all_groups_end(self) -> None:
        """Windows of half the width have blocks of 32 tokens beside 16."""
        full = FullAttention(kv_heads=8, key_dim=128, value_dim=128)
        window = SlidingWindow(kv_heads=4, key_dim=128, value_dim=128, window_tokens=1_024)
        mixed = m.architecture((full,), (window,))
        answer = sized(mixed, gpu="", shared_tokens=63)
        assert {(g.kind, g.block_tokens) for g in answer.plan.groups} == {("full", 16), ("window", 32)}
        assert shared_blocks(answer) == 2
        assert shared_blocks(sized(mixed, gpu="", shared_tokens=64)) == 4

    @pytest.mark.parametrize("model", ["openai/whisper-tiny", "mistralai/Mamba-Codestral-7B-v0.1"])
    def test_what_has_no_prefix_cache_shares_nothing(self, model: str) -> None:
        answer = sized(load(model).architecture, gpu="", input=400, output=0, shared_tokens=400)
        assert answer.plan is not None
        assert shared_blocks(answer) == 0
        assert "shared-saves-nothing" in codes(answer)
        assert "shared-tokens" not in codes(answer)

    def test_it_is_said_that_it_relies_on_hits(self) -> None:
        def said(answer: Sizing) -> str:
            [note] = [n for n in answer.notes if n.code == "shared-tokens"]
            return note.message("en")

        with_budget = said(in_pool_of(10_000, shared_tokens=1_024))
        assert "counted once per engine (256 MiB per GPU): whole blocks" in with_budget
        assert "relies on prefix cache hits" in with_budget
        assert with_budget.endswith("Without hits 39 requests fit.")
        assert "Without hits" not in said(sized(gpu="", shared_tokens=1_024))
        assert "shared-saves-nothing" in codes(sized(shared_tokens=15))


class TestEnteredFigures:
    @pytest.mark.parametrize("gib", [0, 0.0, 0.25, 3.5])
    @pytest.mark.parametrize("term", ["activations", "graphs", "non_torch"])
    def test_a_log_knows_better_than_an_estimate(self, term: str, gib: float) -> None:
        plain, entered = sized().budget, sized(**{f"{term}_gib": gib}).budget
        assert plain is not None
        assert entered is not None
        estimate = getattr(entered, term)
        assert (estimate.value_bytes, estimate.basis) == (round(gib * GIB), "measured")
        assert (estimate.source("en"), estimate.source("ja")) == ("As you entered it.", "入力された値です。")
        less = getattr(plain, term).value_bytes - estimate.value_bytes
        assert entered.available_bytes == plain.available_bytes + less
        for other in {"activations", "graphs", "non_torch"} - {term}:
            assert getattr(entered, other) == getattr(plain, other)

    def test_they_are_of_one_gpu(self) -> None:
        budget = sized(gpus=4, activations_gib=2.0).budget
        assert budget is not None
        assert budget.activations.value_bytes == 2 * GIB


MODELS = st.sampled_from([m.QWEN3_32B, m.GEMMA3_27B, m.QWEN3_NEXT, m.DEEPSEEK_R1])
SHARES = st.floats(0, 0.9) | st.sampled_from([0.1, 0.2, 0.3, 0.7, 0.9])


@given(MODELS, st.integers(0, 12_000), st.integers(1, 20_000), st.integers(1, 300), st.tuples(SHARES, SHARES))
def test_more_headroom_never_fits_more(
    model: Architecture, pool: int, tokens: int, sequences: int, shares: tuple[float, float]
) -> None:
    settings: dict[str, object] = {"input": tokens, "output": 1, "sequences": sequences, "gpus": 1}
    less, more = (in_pool_of(pool, model, headroom=share, **settings) for share in sorted(shares))
    for count in ("max_sequences_counted", "max_sequences_held", "max_sequences_typical"):
        assert getattr(more, count) <= getattr(less, count)
    assert more.short_bytes >= less.short_bytes
    kept = more.budget.kept_free_bytes // more.budget.unit_bytes
    assert min(pool * max(shares), pool - 1) <= kept + 1e-6 <= pool * max(shares) + 1.1


@given(
    MODELS,
    st.integers(0, 12_000),
    st.integers(1, 20_000),
    st.integers(0, 20_000),
    st.floats(0.01, 1),
    st.integers(1, 3),
)
def test_sharing_never_lowers_what_fits(
    model: Architecture, pool: int, tokens: int, shared: int, typical: float, engines: int
) -> None:
    settings: dict[str, object] = {"input": tokens, "output": 100, "gpus": engines, "tp": 1}
    shared = min(shared, tokens)
    if ceil((tokens + 100) * typical) <= shared + 1:
        typical = 1.0
    plain = in_pool_of(pool, model, **settings)
    answer = in_pool_of(pool, model, shared_tokens=shared, typical=typical, **settings)
    assert answer.max_sequences_counted >= plain.max_sequences_counted
    assert answer.max_sequences_held >= plain.max_sequences_held
    assert answer.max_sequences_counted <= answer.max_sequences_held
    assert answer.max_sequences_counted <= answer.max_sequences_typical
    assert 0 <= answer.shared_bytes <= answer.request_bytes
    # The most that fits needs no more than there is, and one more would.
    most = answer.max_sequences_counted
    for requests, short in ((most, False), (most + 1, True)):
        if requests:
            asked = in_pool_of(pool, model, shared_tokens=shared, sequences=requests, **settings)
            assert (asked.short_bytes > 0) is short
