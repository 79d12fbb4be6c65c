"""What could be changed: every lever's numbers are those of its scenario, and nothing is suggested that cannot run."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvviz.core.cache import FullAttention, LatentAttention
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB
from kvviz.devices import device, devices
from kvviz.engines import vllm
from kvviz.engines.vllm_kernels import has_kernel
from kvviz.estimate import Estimate
from kvviz.levers import CHEAPEST_FIRST, MOST_FIXES, Lever, crossover_requests, fixes, in_turn, levers, speed_floor
from kvviz.resolve import resolve
from kvviz.scenario import ENGINES, Scenario
from kvviz.sizing import Sizing, size, usable_kv_dtypes
from kvviz.text import LANGUAGES
from tests.engines import models as m


def weigh(scenario: Scenario) -> Estimate | None:
    return resolve(scenario).weights


def sized(**changes: object) -> Sizing:
    return resolve(Scenario(**changes)).size()  # type: ignore[arg-type]


def found(**changes: object) -> tuple[Lever, ...]:
    return levers(sized(**changes), weigh=weigh)


def of(code: str, **changes: object) -> list[Lever]:
    return [lever for lever in found(**changes) if lever.code == code]


def labels(**changes: object) -> list[str]:
    asked = sized(**changes)
    return [fix.label("en") for fix in fixes(asked, levers(asked, weigh=weigh))]


ASKED = (
    {},
    {"sequences": 10},
    {"sequences": 500},
    {"sequences": 5_000},
    {"model": "google/gemma-3-27b-it", "sequences": 40, "input": 30_000},
    {"model": "deepseek-ai/DeepSeek-V3.2", "gpu": "h200", "gpus": 8, "sequences": 40, "input": 30_000},
    {"model": "Qwen/Qwen3-Next-80B-A3B-Instruct", "gpus": 4, "tp": 2, "sequences": 500},
    {"model": "meta-llama/Llama-3.1-70B-Instruct"},
    {"model": "Qwen/Qwen3-8B", "gpu": "t4", "sequences": 10},
    {"model": "openai/gpt-oss-120b", "sequences": 300},
    {"max_model_len": 400_000},
    {"model": "HuggingFaceTB/SmolLM2-135M-Instruct", "gpu": "h200", "gpus": 8, "tp": 1},
    {"model": "microsoft/Phi-mini-MoE-instruct", "gpu": "h200", "gpus": 8, "tp": 1},
    {"users": 200, "passages": 8, "headroom": 0.1, "shared_tokens": 1_000},
)
"""Too many requests, too long ones, several engines, weights that do not fit, an engine that would not start."""


class TestWorkedExample:
    """Qwen3-32B-FP8 on one H100, 3,072 + 1,024 tokens, 50 at once, of which 34 fit."""

    asked = sized()
    found = levers(asked, weigh=weigh)

    @pytest.mark.parametrize(
        ("label", "content_bytes", "request_bytes", "more", "solves"),
        [
            ("2,048 batched tokens", 0, 0, 0, False),
            ("Memory fraction 0.95", 0, 0, 3, False),
            ("FP8 cache", -GIB // 2, -GIB // 2, 35, True),
            ("FP8 per-head cache", -GIB * 31 // 64, -GIB * 31 // 64, 33, True),
            ("INT8 cache", -GIB * 31 // 64, -GIB * 31 // 64, 33, True),
            ("INT4 cache", -GIB * 47 // 64, -GIB * 47 // 64, 96, True),
            ("NVFP4 cache", -GIB * 23 // 32, -GIB * 23 // 32, 89, True),
            ("INT4 weights", 0, 0, 14, False),
            ("2 GPUs", 0, -GIB // 2, 66, True),
            ("1 × H200", 0, 0, 56, True),
            ("At most 2,832 tokens", -1_264 * 2**18, -1_264 * 2**18, 16, True),
            ("34 at a time", 0, 0, 0, True),
            ("A model with 4 KV heads", -GIB // 2, -GIB // 2, 35, True),
            ("A model with 1 KV head", -GIB * 7 // 8, -GIB * 7 // 8, 243, True),
        ],
    )
    def test_each_lever(self, label: str, content_bytes: int, request_bytes: int, more: int, solves: bool) -> None:
        lever = next(lever for lever in self.found if lever.label("en") == label)
        assert (lever.content_change_bytes, lever.request_change_bytes) == (content_bytes, request_bytes)
        assert (lever.more_requests, lever.solves) == (more, solves)

    def test_these_are_all(self) -> None:
        assert len(self.found) == 14

    def test_fixes_carry_their_result(self) -> None:
        assert [fix.label("en") for fix in fixes(self.asked, self.found)] == [
            "FP8 cache → 69 ✓",
            "2 GPUs → 100 ✓",
            "1 × H200 → 90 ✓",
        ]
        assert fixes(self.asked, self.found)[0].label("ja") == "FP8 キャッシュ → 69 件 ✓"

    def test_a_button_says_what_a_coarser_type_costs(self) -> None:
        """80 at once are more than FP8 holds; where it holds them, nothing coarser is offered."""
        assert labels(sequences=80)[0] == "INT4 cache (quality risk) → 130 ✓"
        asked = sized(sequences=80)
        said = fixes(asked, levers(asked, weigh=weigh))[0].label("ja")
        assert said == "INT4 キャッシュ（品質に注意） → 130 件 ✓"
        assert labels(sequences=69)[0] == "FP8 cache → 69 ✓"

    def test_one_press_changes_one_thing(self) -> None:
        changed = [fix.scenario for fix in fixes(self.asked, self.found)]
        asked = self.asked.scenario
        assert changed == [
            replace(asked, kv_dtype="fp8"),
            replace(asked, gpus=2),
            replace(asked, gpu="h200"),
        ]

    def test_effects_in_words(self) -> None:
        effects = {lever.label("en"): lever.effect("en") for lever in self.found}
        assert effects["FP8 cache"] == "1 GiB → 512 MiB a request on each GPU; 34 → 69 at once."
        assert effects["INT4 weights"] == (
            "Cache unchanged by one byte; 14 more requests because the weights shrank by 14.1 GiB on each GPU."
        )

    def test_weights_of_the_same_type_are_no_lever(self) -> None:
        """Published FP8 weights differ from the what-if by their scales only."""
        assert not any(lever.label("en") == "FP8 weights" for lever in self.found)


@pytest.mark.parametrize("asked", ASKED, ids=str)
class TestEveryLever:
    def test_numbers_are_those_of_its_scenario(self, asked: dict[str, object]) -> None:
        before = sized(**asked)
        for lever in found(**asked):
            if lever.scenario is None:
                again = size(lever.sizing.architecture, before.scenario, weights=weigh(before.scenario))
            else:
                resolved = resolve(lever.scenario)
                again = size(resolved.architecture, lever.scenario, weights=resolved.weights)
            assert lever.solves == (again.fits == "yes")
            assert lever.content_change_bytes == again.content_bytes - before.content_bytes
            assert lever.request_change_bytes == (again.request_bytes or 0) - (before.request_bytes or 0)
            fit = again.max_sequences_counted if again.starts else 0
            assert lever.more_requests == (fit or 0) - ((before.max_sequences_counted or 0) if before.starts else 0)

    def test_nothing_is_suggested_that_cannot_run(self, asked: dict[str, object]) -> None:
        before = sized(**asked)
        for lever in found(**asked):
            answer, scenario = lever.sizing, lever.sizing.scenario
            assert answer.plan is not None
            assert (scenario.memory_fraction or 0.92) <= 0.95
            assert scenario.gpus >= before.scenario.gpus
            assert vllm.runs_on(answer.architecture, answer.plan.tp)
            assert scenario.gpus % answer.plan.tp == 0
            if lever.code == "kv-dtype":
                assert scenario.kv_dtype in usable_kv_dtypes(before)
                caches = vllm.stored_caches(answer.architecture)
                assert has_kernel(caches, scenario.kv_dtype, device(scenario.gpu).generation)

    def test_only_weights_and_hardware_leave_the_content_alone(self, asked: dict[str, object]) -> None:
        for lever in found(**asked):
            smaller = lever.code in ("kv-dtype", "context", "kv-heads")
            assert (lever.content_change_bytes < 0) == smaller
            if lever.code == "weight-dtype":
                assert lever.content_change_bytes == lever.request_change_bytes == 0
                assert "unchanged by one byte" in lever.effect("en")
                assert lever.more_requests is not None
                assert lever.more_requests >= 0

    def test_no_lever_makes_it_worse(self, asked: dict[str, object]) -> None:
        assert all((lever.more_requests or 0) >= 0 for lever in found(**asked))

    def test_the_cheapest_come_first(self, asked: dict[str, object]) -> None:
        order = [CHEAPEST_FIRST.index(lever.code) for lever in found(**asked)]
        assert order == sorted(order)

    def test_fixes_solve_or_come_nearer(self, asked: dict[str, object]) -> None:
        before = sized(**asked)
        chosen = fixes(before, found(**asked))
        if before.fits == "yes":
            assert chosen == ()
            return
        assert 1 <= len(chosen) <= MOST_FIXES
        assert len({fix.lever.code for fix in chosen}) == len(chosen)
        assert all(fix.lever.solves for fix in chosen) or all(fix.lever.more_requests for fix in chosen)
        assert all(fix.scenario == fix.lever.scenario != before.scenario for fix in chosen)

    def test_every_sentence_can_be_said(self, asked: dict[str, object]) -> None:
        before = sized(**asked)
        for lang in LANGUAGES:
            for lever in found(**asked):
                assert lever.label(lang)
                assert lever.effect(lang)
                assert lever.cost(lang)
            for fix in fixes(before, found(**asked)):
                said = fix.label(lang)
                assert "{" not in said
                assert "_" not in said
                # What a phone of 390 px shows on one line or two; Japanese is twice as wide.
                assert sum(2 if ord(c) > 0x2FFF else 1 for c in said) <= 48, said
            floor = speed_floor(before)
            assert floor is None or "{" not in floor.sentence(lang)


class TestContext:
    @pytest.mark.parametrize(
        "asked",
        [
            {},
            {"model": "google/gemma-3-27b-it", "sequences": 8, "input": 30_000},
            {"gpus": 4, "tp": 2, "sequences": 260},
            {"sequences": 1, "input": 300_000},
            {"headroom": 0.2},
            {"shared_tokens": 1_000, "sequences": 60},
            {"shared_tokens": 1_000, "typical": 0.5, "sequences": 60},
            {"max_model_len": 8_192},
        ],
        ids=str,
    )
    def test_one_token_more_would_not_fit(self, asked: dict[str, object]) -> None:
        (lever,) = of("context", **asked)
        assert lever.solves
        assert lever.asks_less
        assert lever.scenario is not None
        limit = lever.scenario.max_model_len
        more = lever.scenario.with_changes(input=lever.scenario.input + 1, max_model_len=limit and limit + 1)
        assert size(lever.sizing.architecture, more, weights=weigh(more)).fits != "yes"

    def test_the_longer_part_is_cut(self) -> None:
        (lever,) = of("context", input=1_024, output=3_072)
        assert lever.scenario is not None
        assert (lever.scenario.input, lever.scenario.output) == (1_024, 1_808)
        (lever,) = of("context", input=200, passages=8)
        assert lever.scenario is not None
        assert (lever.scenario.input, lever.scenario.output) == (200, 1_024)
        assert lever.cost("en") == f"{8 - lever.scenario.passages} passages fewer in each prompt."

    def test_nothing_to_cut_where_the_weights_do_not_fit(self) -> None:
        assert of("context", model="meta-llama/Llama-3.1-70B-Instruct") == []

    def test_nothing_to_cut_where_all_fit(self) -> None:
        assert of("context", sequences=34) == []


class TestGpus:
    @pytest.mark.parametrize(
        ("asked", "gpus", "engines"),
        [
            ({}, 2, 1),
            ({"sequences": 480}, 8, 1),
            ({"sequences": 5_000}, 64, 1),
            ({"gpus": 2, "tp": 1, "sequences": 102}, 3, 3),
            ({"model": "meta-llama/Llama-3.1-70B-Instruct"}, 4, 1),
        ],
        ids=str,
    )
    def test_the_smallest_count_that_fits(self, asked: dict[str, object], gpus: int, engines: int) -> None:
        (lever,) = of("gpus", **asked)
        if asked.get("sequences") != 5_000:
            assert lever.solves
            assert (lever.sizing.scenario.gpus, lever.sizing.engines) == (gpus, engines)
        before = sized(**asked).scenario
        assert lever.sizing.plan is not None
        for fewer in range(before.gpus + 1, lever.sizing.scenario.gpus):
            for tp in (None, lever.sizing.plan.tp):
                try:
                    changed = before.with_changes(gpus=fewer, tp=tp)
                    assert size(lever.sizing.architecture, changed, weights=weigh(changed)).fits != "yes"
                except KvvizError:
                    continue

    def test_latents_are_copied_so_engines_stand_side_by_side(self) -> None:
        (lever,) = of("gpus", model="deepseek-ai/DeepSeek-V2-Lite-Chat", input=60_000)
        assert lever.sizing.engines == lever.sizing.scenario.gpus > 1

    def test_engines_of_another_size(self) -> None:
        (lever,) = of("tp", model="Qwen/Qwen3-Next-80B-A3B-Instruct", gpus=4, tp=2)
        assert lever.label("en") == "One engine over 4 GPUs"
        (lever,) = of("tp", model="deepseek-ai/DeepSeek-V2-Lite-Chat", gpus=4, sequences=5_000)
        assert lever.label("en") == "4 engines of one GPU"
        assert of("tp", gpus=2, sequences=500) == []


class TestGpu:
    def test_the_next_in_memory_that_fits(self) -> None:
        (lever,) = of("gpu")
        assert lever.solves
        between = [
            d.id
            for d in devices()
            if device("h100-80gb").memory_bytes < d.memory_bytes < device("h200").memory_bytes
            and d.generation != "cdna3"
        ]
        assert between
        for gpu in between:
            assert sized(gpu=gpu).fits != "yes"

    def test_the_largest_where_none_does_and_as_many_as_do(self) -> None:
        one, several = of("gpu", sequences=500)
        assert (one.label("en"), one.solves) == ("1 × B300", False)
        assert (several.label("en"), several.solves) == ("4 × B300", True)
        assert sized(sequences=500, gpu="b300", gpus=2).fits != "yes"

    def test_weights_too_large_for_any_count_of_small_gpus(self) -> None:
        assert labels(model="zai-org/GLM-5.1", gpu="a10g", gpus=4, sequences=40) == ["8 × B300 → 300 ✓"]

    def test_none_beyond_the_largest(self) -> None:
        assert of("gpu", gpu="b300", sequences=5_000) == []
        assert of("gpu", gpu="mi300x", sequences=5_000) == []


def test_an_engine_started_for_too_long_requests_starts_for_shorter_ones() -> None:
    (lever,) = of("max-model-len", max_model_len=400_000)
    assert lever.sizing.starts
    assert lever.more_requests == 34
    assert labels(max_model_len=400_000, sequences=30)[0] == "Max model length 4,096 → 34 ✓"
    assert of("max-model-len", max_model_len=8_192) == []


def test_windows_are_reserved_with_fewer_tokens_in_flight() -> None:
    (lever,) = of("batched-tokens", model="google/gemma-3-27b-it", input=60_000)
    assert lever.content_change_bytes == 0
    assert lever.request_change_bytes < 0
    assert lever.more_requests is not None
    assert lever.more_requests > 0


def test_fewer_requests_for_people_too() -> None:
    (lever,) = of("sequences", users=400)
    assert lever.scenario is not None
    assert (lever.scenario.users, lever.scenario.sequences) == (None, 34)
    assert "66 requests wait" in lever.cost("en")


def test_the_nearest_where_nothing_fits() -> None:
    """70 GiB of weights and requests of hundreds of GiB on the largest GPU's little sister: nothing fits by itself."""
    asked = {"model": "meta-llama/Llama-3.1-70B-Instruct", "gpu": "l4", "sequences": 5_000}
    before = sized(**asked)
    chosen = fixes(before, found(**asked))
    assert chosen
    fits = [fix.lever.sizing.max_sequences_counted or 0 for fix in chosen]
    if not any(fix.lever.solves for fix in chosen):
        assert fits == sorted(fits, reverse=True)
        assert all(" of 5,000" in fix.label("en") for fix in chosen)


def test_no_fix_where_nobody_knows_what_fits() -> None:
    without_gpu = sized(gpu="")
    some = levers(without_gpu, weigh=weigh)
    assert {lever.code for lever in some} == {"kv-dtype", "kv-heads"}
    assert all(lever.more_requests is None and not lever.solves for lever in some)
    assert fixes(without_gpu, some) == ()
    without_weights = size(m.QWEN3_32B, Scenario(), weights=None)
    assert fixes(without_weights, levers(without_weights, weigh=lambda _: None)) == ()


def test_no_lever_without_an_engine() -> None:
    missing = sized(kv_dtype="q8_0")
    assert missing.plan is None
    assert levers(missing, weigh=weigh) == ()


def test_weights_are_asked_for_once_a_type() -> None:
    asked: list[str] = []

    def counted(scenario: Scenario) -> Estimate | None:
        asked.append(scenario.weight_dtype)
        return weigh(scenario)

    levers(sized(), weigh=counted)
    assert sorted(asked) == ["auto", "fp8", "int4"]


def test_typed_weights_have_no_other_type() -> None:
    assert of("weight-dtype", weights_gib=30.0) == []


@pytest.mark.parametrize(
    ("dims", "dtype", "generation", "runs"),
    [
        (128, "fp8", "hopper", True),
        (128, "fp8", "ampere", True),
        (80, "fp8", "ampere", False),
        (80, "fp8", "ada", True),
        (128, "fp8", "turing", False),
        (128, "fp8", "cdna3", True),
        (128, "fp8_per_token_head", "ampere", False),
        (128, "int8_per_token_head", "turing", True),
        (128, "nvfp4", "hopper", True),
        (64, "nvfp4", "hopper", False),
        (64, "nvfp4", "blackwell", True),
        (128, "nvfp4", "turing", False),
        (128, "nvfp4", "cdna3", False),
        (128, "bf16", "turing", False),
        (128, "fp16", "turing", True),
    ],
)
def test_kernels(dims: int, dtype: str, generation: str, runs: bool) -> None:
    heads = FullAttention(kv_heads=8, key_dim=dims, value_dim=dims)
    assert has_kernel((heads,), dtype, generation) is runs


def test_latents_have_no_fp8_before_ada() -> None:
    latent = LatentAttention(latent_dim=512, rope_dim=64)
    assert not has_kernel((latent,), "fp8", "ampere")
    assert has_kernel((latent,), "fp8", "ada")


@settings(max_examples=25, deadline=None)
@given(sequences=st.integers(1, 2_000), tokens=st.integers(16, 100_000))
def test_more_is_never_answered_with_less(sequences: int, tokens: int) -> None:
    """What solves the need for more requests solves it for fewer, with no more GPUs and no shorter requests."""
    more = {lever.code: lever for lever in found(sequences=sequences + 50, input=tokens)}
    fewer = {lever.code: lever for lever in found(sequences=sequences, input=tokens)}
    for code in more.keys() & fewer.keys():
        if more[code].solves and code != "sequences":
            assert fewer[code].solves
    if "gpus" in more and more["gpus"].solves:
        assert fewer["gpus"].sizing.scenario.gpus <= more["gpus"].sizing.scenario.gpus
    if "context" in more and "context" in fewer:
        assert fewer["context"].sizing.tokens >= more["context"].sizing.tokens


class TestSpeedFloor:
    def test_the_worked_example(self) -> None:
        asked = sized()
        floor = speed_floor(asked)
        assert floor is not None
        assert asked.budget is not None
        assert floor.weights_bytes == asked.budget.weights.value_bytes
        assert (floor.cache_bytes, floor.requests) == (34 * GIB, 34)
        assert floor.step_s == (floor.weights_bytes + 34 * GIB) / 3_350_000_000_000
        said = floor.sentence("en")
        assert said.startswith("At least 21.1 ms a decode step")
        assert "A floor, not a prediction" in said
        assert "if every weight is read" in said

    def test_the_asked_requests_where_they_fit(self) -> None:
        floor = speed_floor(sized(sequences=10))
        assert floor is not None
        assert floor.cache_bytes == 10 * GIB

    @pytest.mark.parametrize(
        ("changes", "cache_bytes"),
        [
            ({"gpus": 2}, 50 * GIB // 2),
            ({"gpus": 2, "tp": 1}, 25 * GIB),
            ({"gpus": 16, "weight_dtype": "bf16"}, 50 * GIB // 8),  # 8 KV heads are copied, not split further
            ({"gpus": 2, "kv_dtype": "fp8"}, 50 * GIB // 4),
        ],
    )
    def test_one_gpu_reads_its_share(self, changes: dict[str, object], cache_bytes: int) -> None:
        floor = speed_floor(sized(**changes))
        assert floor is not None
        assert floor.cache_bytes == cache_bytes

    def test_a_latent_is_read_whole_on_every_gpu(self) -> None:
        one, four = (speed_floor(sized(model="deepseek-ai/DeepSeek-V2-Lite-Chat", gpus=n)) for n in (1, 4))
        assert one is not None
        assert four is not None
        assert one.cache_bytes == four.cache_bytes

    def test_sparse_attention_reads_a_part_only(self) -> None:
        asked = sized(model="deepseek-ai/DeepSeek-V3.2", gpu="h200", gpus=8, sequences=10)
        floor = speed_floor(asked)
        assert floor is not None
        assert floor.cache_bytes == 10 * 61 * 132 * 4_096
        assert "indexer keys" in floor.sentence("en")

    def test_no_more_is_read_than_is_held(self) -> None:
        for asked in ASKED:
            sizing = sized(**asked)
            floor = speed_floor(sizing)
            if floor is not None and sizing.held_bytes is not None:
                assert floor.cache_bytes <= floor.requests * sizing.held_bytes

    def test_what_requests_share_counts_once(self) -> None:
        """256 KiB a token: 3,072 of the 4,096 tokens are the same in all 10."""
        asked = sized(sequences=10, shared_tokens=3_072, input=3_088, output=1_008)
        floor = speed_floor(asked)
        assert floor is not None
        assert floor.cache_bytes == (3_072 + 10 * 1_024) * 256 * 1_024
        ledger = asked.shared_bytes + 10 * ((asked.request_bytes or 0) - asked.shared_bytes)
        assert floor.cache_bytes <= ledger
        assert "the 3,072 tokens they share once" in floor.sentence("en")

    def test_a_window_holds_nothing_that_all_begin_with(self) -> None:
        """Nor is a state shared: fewer bytes than if all were, more than if none."""
        alone, shared = (
            speed_floor(sized(model="google/gemma-3-27b-it", gpu="h200", sequences=4, shared_tokens=n))
            for n in (0, 2048)
        )
        assert alone is not None
        assert shared is not None
        windows = 52 * 1_024 * 2 * 16 * 128 * 2 * 4
        assert windows < shared.cache_bytes < alone.cache_bytes

    @pytest.mark.parametrize(
        ("model", "experts"),
        [
            ("Qwen/Qwen3-32B-FP8", False),
            ("meta-llama/Llama-3.1-8B-Instruct", False),
            ("google/gemma-3-27b-it", False),
            ("Qwen/Qwen3-30B-A3B", True),
            ("openai/gpt-oss-120b", True),
            ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", True),  # experts in a way of their own
        ],
    )
    def test_only_a_model_with_experts_is_said_to_have_them(self, model: str, experts: bool) -> None:
        floor = speed_floor(sized(model=model, gpu="h200", sequences=1))
        assert floor is not None
        for lang, word in (("en", "mixture-of-experts"), ("ja", "MoE")):
            assert (word in floor.sentence(lang)) == experts
        assert experts or floor.sentence("en").endswith("A floor, not a prediction.")

    def test_none_where_nothing_runs(self) -> None:
        assert speed_floor(sized(gpu="")) is None
        assert speed_floor(sized(model="meta-llama/Llama-3.1-70B-Instruct")) is None
        assert speed_floor(sized(max_model_len=400_000)) is None

    def test_it_is_rounded_down(self) -> None:
        floor = speed_floor(sized(sequences=10))
        assert floor is not None
        assert float(floor.sentence("en").split()[2]) <= floor.step_s * 1000


def test_all_levers_of_a_scenario_take_milliseconds() -> None:
    """They stand beside every slider."""
    asked = sized()
    levers(asked, weigh=weigh)
    times = []
    for _ in range(10):
        start = time.process_time()
        fixes(asked, levers(asked, weigh=weigh))
        times.append(time.process_time() - start)
    assert min(times) < 0.010


def test_weights_are_offered_in_the_types_of_the_engines_files() -> None:
    asked = {"model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "rtx-4090", "sequences": 30}
    said = {engine: [lever.label("en") for lever in of("weight-dtype", engine=engine, **asked)] for engine in ENGINES}
    assert said["llama.cpp"] == ["Q8_0 weights", "Q4_K_M weights"]
    assert said["vllm"] == ["FP8 weights", "INT4 weights"]
    for engine in ENGINES:
        assert engine == "llama.cpp" or not any("Q" in label for label in said[engine])


# --- weights and cache -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "requests"),
    [
        ({}, 32),  # 31.97 GiB of weights, 1 GiB a request
        ({"kv_dtype": "fp8"}, 64),
        ({"gpus": 2}, 32),  # halves of both
        ({"model": "Qwen/Qwen3-32B"}, None),  # 61.0 GiB: more than the 50 asked for
        ({"model": "Qwen/Qwen3-32B", "sequences": 62}, 62),
        ({"model": "Qwen/Qwen3-32B", "sequences": 61}, None),
        ({"gpus": 2, "tp": 1}, None),  # two engines, each with its own weights
        ({"gpu": ""}, None),
        ({"model": "Qwen/Qwen3-32B", "gpu": "rtx-4090"}, None),  # does not start
    ],
    ids=str,
)
def test_from_how_many_requests_on_the_cache_is_the_larger_part(
    changes: dict[str, object], requests: int | None
) -> None:
    asked = sized(**changes)
    assert crossover_requests(asked) == requests
    if requests is not None and asked.budget is not None:
        weights = asked.budget.weights.value_bytes
        assert asked.need_bytes(requests - 1, asked.tokens) <= weights < asked.need_bytes(requests, asked.tokens)


def test_levers_are_worked_out_no_further_than_the_fixes_need() -> None:
    asked, reached = sized(), []

    def each() -> Iterator[Lever]:
        for lever in in_turn(asked, weigh=weigh):
            reached.append(lever.code)
            yield lever

    found = fixes(asked, each())
    assert len(found) == MOST_FIXES
    assert reached[-1] == found[-1].lever.code
    assert found == fixes(asked, levers(asked, weigh=weigh))
    assert len(reached) < len(levers(asked, weigh=weigh))
