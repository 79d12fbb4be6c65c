"""SGLang 0.5.23's pools: what engines printed in public, the terms of the budget, and what must hold for any."""

import json
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.budgets import Budget
from kvviz.catalogue import load, models
from kvviz.core.architecture import Architecture, entered_config, read_config
from kvviz.core.cache import ChunkedAttention, FullAttention, LatentAttention, RecurrentState, SlidingWindow
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import ConfigError, KvvizError, ScenarioError
from kvviz.core.units import GIB, MIB
from kvviz.engines import sglang, sglang_memory, sglang_models
from kvviz.estimate import Estimate
from kvviz.scenario import Scenario
from kvviz.sizing import size
from kvviz.text import Message, Text
from tests.engines import models as m

BF16, FP8 = KV_DTYPES["bf16"], KV_DTYPES["fp8"]
REPORTS: list[dict[str, Any]] = json.loads((Path(__file__).parent.parent / "data" / "sglang_reports.json").read_text())


def plan(architecture: Architecture | str, **settings: object) -> sglang.SglangPlan:
    known = load(architecture).architecture if isinstance(architecture, str) else architecture
    return sglang.plan(known, **{"kv_dtype": BF16, **settings})


def layers_of(report: dict[str, Any]) -> Architecture:
    if "layers" not in report:
        return load(report["model"]).architecture
    return m.architecture(
        *(
            (FullAttention(kv_heads=heads, key_dim=key, value_dim=value),)
            for count, heads, key, value in report["layers"]
            for _ in range(count)
        )
    )


@pytest.mark.parametrize("report", REPORTS, ids=[f"{r['model']} tp{r['tp']}" for r in REPORTS])
def test_bytes_per_token_are_those_that_were_printed(report: dict[str, Any]) -> None:
    made = plan(layers_of(report), tp=report["tp"])
    (stage,) = made.stages
    counted = made.cell_bytes(stage) if report["of"] == "cell" else stage.window_bytes
    assert counted == report["bytes_per_token"]
    assert abs(counted - report["reported_bytes_per_token"]) <= report["tolerance_bytes"]


def test_the_reports_are_all_there() -> None:
    assert len(REPORTS) == 16
    assert sum("layers" not in report for report in REPORTS) == 9


@pytest.mark.parametrize(
    ("model", "cell"),
    [
        ("openai/gpt-oss-120b", Fraction(331_776, 5)),  # 36,864 full and 0.8 times as much for windows
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", 49_152 + Fraction(4, 5) * 147_456),
        ("google/gemma-3-27b-it", 507_904),  # not listed: all 62 layers at full length
        ("mistralai/Mistral-7B-Instruct-v0.1", 131_072),
        ("deepseek-ai/DeepSeek-V3.2", 78_324),
        ("zai-org/GLM-5.2-FP8", 92_628),  # 21 indexers for 78 layers
        ("XiaomiMiMo/MiMo-V2-Flash", 23_040 + Fraction(4, 5) * 199_680),  # K 192 and V 128 wide, as they are
        ("google/gemma-4-E2B-it", 7 * 2_048 + Fraction(4, 5) * 28 * 1_024),  # shared layers have buffers too
        ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", 80 * 4_096),  # and layers without attention
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 24_576),
    ],
)
def test_cells(model: str, cell: Fraction | int) -> None:
    made = plan(model)
    assert made.cell_bytes(made.stages[0]) == cell


def test_states_are_fp32_beside_bf16_convolutions() -> None:
    made = plan("Qwen/Qwen3-Next-80B-A3B-Instruct")
    assert made.slot_bytes == 36 * (8_192 * 3 * 2 + 32 * 128 * 128 * 4) == 77_266_944
    in_file = replace(load("Qwen/Qwen3-Next-80B-A3B-Instruct").architecture, state_dtype="bfloat16")
    assert plan(in_file).slot_bytes == 39_518_208
    assert plan("Qwen/Qwen3-Next-80B-A3B-Instruct", tp=2).slot_bytes * 2 == made.slot_bytes


def test_groups_that_do_not_divide_are_made_as_many_as_gpus() -> None:
    nano = replace(m.NEMOTRON3_NANO, class_name="NemotronHForCausalLM")
    assert plan(nano, tp=16).slot_bytes == 23 * ((4_096 + 16 * 256) // 16 * 3 * 2 + 64 // 16 * 64 * 128 * 4)


@pytest.mark.parametrize(
    ("class_name", "radix_cache", "counted", "held"),
    [
        ("Lfm2ForCausalLM", True, 3, 1),
        ("Qwen3NextForCausalLM", True, 5, 3),
        ("Qwen3NextForCausalLM", False, 1, 1),
    ],
)
def test_slots_a_request_is_counted_with(class_name: str, radix_cache: bool, counted: int, held: int) -> None:
    made = plan(replace(m.QWEN3_NEXT, class_name=class_name), radix_cache=radix_cache)
    assert (made.slots_per_request, made.held_slots) == (counted, held)


def test_memory_for_states_and_for_tokens_is_divided_nine_to_ten() -> None:
    made = plan("Qwen/Qwen3-Next-80B-A3B-Instruct")
    pool = 40 * GIB
    slots = made.state_slots(pool)
    assert slots == pool * 9 // 19 // 77_266_944 - 1 == 262
    assert made.pool_tokens(pool) == (pool - 263 * 77_266_944) // 24_576
    assert made.fit(pool, 1_000) == 262 // 5
    assert made.running_cap(pool, context_tokens=32_768) == 52


def test_tensor_parallel_splits_heads_and_copies_latents() -> None:
    def cells(architecture: Architecture, *tps: int) -> list[Fraction]:
        return [(made := plan(architecture, tp=tp)).cell_bytes(made.stages[0]) for tp in tps]

    assert cells(m.LLAMA31_70B, 1, 8, 16) == [327_680, 40_960, 40_960]
    assert cells(m.DEEPSEEK_V32, 1, 8) == [78_324, 78_324]
    with pytest.raises(ScenarioError, match="1, 2, 4, 8, 16, 32, 64") as caught:
        plan(m.LLAMA31_70B, tp=3)
    assert caught.value.field == "tp"


def test_data_parallel_attention_gives_each_group_a_pool_of_its_own() -> None:
    tp8, dp8 = plan(m.DEEPSEEK_R1, tp=8), plan(m.DEEPSEEK_R1, tp=8, dp_attention=8)
    pool = 40 * GIB
    assert dp8.fit(pool, 32_768) == 8 * tp8.fit(pool, 32_768)
    assert dp8.need_bytes(8, 32_768) == tp8.need_bytes(1, 32_768) == 70_272 * 32_768
    assert dp8.per_gpu_request_bytes(32_768) == (70_272 * 32_768, *(0,) * 7)
    assert plan(m.QWEN3_32B, tp=8, dp_attention=2).stages == plan(m.QWEN3_32B, tp=4).stages
    with pytest.raises(ScenarioError, match="1, 2, 4, 8"):
        plan(m.DEEPSEEK_R1, tp=8, dp_attention=3)


def test_the_last_pipeline_stages_get_the_remainder() -> None:
    made = plan(m.DEEPSEEK_R1, tp=2, pp=4)
    assert [stage.layers for stage in made.stages] == [15, 15, 15, 16]
    assert made.gpus == 8
    assert made.per_gpu_request_bytes(1_000) == (*(15 * 1_152_000,) * 6, *(16 * 1_152_000,) * 2)
    assert made.pool_tokens(16 * 1_152 * 500) == 500
    with pytest.raises(ScenarioError, match="1 to 61"):
        plan(m.DEEPSEEK_R1, pp=62)


def test_sparse_latents_in_fp8() -> None:
    def stored(generation: str) -> tuple[str, int]:
        made = plan(m.DEEPSEEK_V32, kv_dtype=FP8, generation=generation)
        return made.kv_dtype.name, made.stages[0].full_bytes // 61

    assert stored("hopper") == ("fp8_ds_mla", 656 + 132)
    assert stored("blackwell") == stored("blackwell-rtx") == ("fp8", 576 + 132)
    assert plan("zai-org/GLM-5", kv_dtype=FP8, generation="blackwell-rtx").kv_dtype.name == "fp8_ds_mla"
    assert plan(m.DEEPSEEK_V32, kv_dtype=KV_DTYPES["fp8_ds_mla"]) == plan(m.DEEPSEEK_V32, kv_dtype=FP8)
    assert plan(m.DEEPSEEK_R1, kv_dtype=FP8).stages[0].full_bytes == 61 * 576
    assert sglang.usable_dtypes(m.DEEPSEEK_V32) == ("bf16", "fp8")
    with pytest.raises(ScenarioError, match="bf16, fp8"):
        plan(m.DEEPSEEK_V32, kv_dtype=KV_DTYPES["fp16"])
    with pytest.raises(ScenarioError, match="bf16, fp16, fp8"):
        plan(m.QWEN3_32B, kv_dtype=KV_DTYPES["q8_0"])


@pytest.mark.parametrize(
    ("model", "generation", "dtype"),
    [
        ("deepseek-ai/DeepSeek-V3.2", "blackwell", "fp8"),
        ("deepseek-ai/DeepSeek-V3.2", "blackwell-rtx", "fp8"),
        ("deepseek-ai/DeepSeek-V3.2", "hopper", "bf16"),
        ("deepseek-ai/DeepSeek-V3.2", "cdna3", "bf16"),
        ("nvidia/GLM-5-NVFP4", "hopper", "bf16"),  # whatever the checkpoint asks for
        ("meituan-longcat/LongCat-Flash-Lite-Sparse", "blackwell", "fp8"),
        ("deepseek-ai/DeepSeek-R1", "blackwell", None),
        ("MiniMaxAI/MiniMax-M3", "blackwell", None),
        ("Qwen/Qwen3-32B", "blackwell", None),
    ],
)
def test_the_type_sglang_itself_sets(model: str, generation: str, dtype: str | None) -> None:
    default = sglang.default_dtype(load(model).architecture, generation)
    assert (default and default.name) == dtype


# --- what a class decides --------------------------------------------------------------------------------------------


def changed(model: str, **text: object) -> Architecture:
    """A bundled config with other fields in its language part."""
    config = json.loads(json.dumps(load(model).config))
    config.get("text_config", config).update(text)
    return read_config(config)


@pytest.mark.parametrize(
    ("model", "cell", "slots", "slot_bytes"),
    [
        ("stepfun-ai/Step-3.7-Flash", 12 * 4_096 + Fraction(4, 5) * 33 * 4_096, 0, 0),  # 157,286.4; was 184,320
        ("stepfun-ai/Step-3.7-Flash-FP8", Fraction(1_572_864, 10), 0, 0),
        ("Qwen/Qwen3.5-4B", 32_768, 5, 24 * (8_192 * 3 * 2 + 32 * 128 * 128 * 4)),  # 3 slots before
        ("Qwen/Qwen3.5-27B", 65_536, 5, 48 * (10_240 * 3 * 2 + 48 * 128 * 128 * 4)),
        ("LiquidAI/LFM2-2.6B", 16_384, 3, 22 * 2_048 * 2 * 2),
    ],
)
def test_a_class_is_told_by_the_model_type_too(model: str, cell: Fraction | int, slots: int, slot_bytes: int) -> None:
    made = plan(model)
    assert made.cell_bytes(made.stages[0]) == cell
    assert (made.slots_per_request, made.slot_bytes) == (slots, slot_bytes)


def test_every_bundled_model_is_the_same_without_its_class_name() -> None:
    """Where the rest of the file says what it is."""
    told = 0
    for model in models():
        config = {k: v for k, v in load(model).config.items() if k != "architectures"}
        try:
            nameless = read_config(config)
        except ConfigError:  # there is no model_type either
            continue
        named = load(model).architecture
        told += 1
        ours, theirs = sglang.not_run(nameless), sglang.not_run(named)
        assert (ours and ours.code) == (theirs and theirs.code), model
        if theirs:
            continue
        assert sglang_models.keeps_windows(nameless) == sglang_models.keeps_windows(named), model
        assert sglang_models.tracking_slots(nameless) == sglang_models.tracking_slots(named), model
        assert sglang_models.state_value_bytes(nameless) == sglang_models.state_value_bytes(named), model
        assert sglang_models.takes_media(nameless) == sglang_models.takes_media(named), model
        assert sglang_models.vision_size(nameless) == sglang_models.vision_size(named), model
        for generation in ("hopper", "blackwell"):
            assert sglang.default_dtype(nameless, generation) == sglang.default_dtype(named, generation), model
    assert told > 150


def test_a_class_that_sglang_has_is_taken_at_its_word() -> None:
    scout = load("meta-llama/Llama-4-Scout-17B-16E-Instruct").architecture
    assert sglang_models.keeps_windows(scout)
    assert not sglang_models.keeps_windows(replace(scout, class_name="Llama4ForCausalLM", part=""))
    assert sglang_models.keeps_windows(replace(scout, class_name="MyLlama4ForConditionalGeneration"))
    nano = load("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16").architecture
    assert plan(replace(nano, class_name="NemotronH_Nano_Omni_Reasoning_V3")).slots_per_request == 3


def test_a_file_may_ask_for_a_window_pool() -> None:
    asked = changed("google/gemma-3-27b-it", is_hybrid_swa=True)
    made = plan(asked)
    assert made.window_tokens == 1_024
    assert made.cell_bytes(made.stages[0]) == 81_920 + Fraction(4, 5) * 425_984
    assert plan(changed("google/gemma-3-27b-it", is_hybrid_swa=False)).window_tokens == 0


@pytest.mark.parametrize(
    ("model", "name", "code"),
    [
        ("stepfun-ai/Step-3.7-Flash", "Step3p7FlashForCausalLM", "sglang-class-by-type"),
        ("Qwen/Qwen3.5-4B", "", "sglang-class-by-type"),
        ("Qwen/Qwen3.5-27B", "Qwen3_5ForConditionalGeneration", None),
        ("google/gemma-2-9b-it", "Gemma2ForCausalLM", None),
        ("google/gemma-2-9b-it", "", None),  # a type that keeps windows at full length whatever its class
        ("Qwen/Qwen3-32B", "", None),
    ],
)
def test_what_a_class_was_needed_for_is_said(model: str, name: str, code: str | None) -> None:
    note = sglang.class_note(replace(load(model).architecture, class_name=name))
    assert (note and note.code) == code


def test_layers_without_any_class_say_that_it_is_not_known() -> None:
    rows = read_config(
        entered_config([{"kind": "window", "count": 2, "kv_heads": 8, "key_dim": 64, "window_tokens": 512}])
    )
    note = sglang.class_note(rows)
    assert note is not None
    assert note.code == "sglang-class-unknown"
    assert plan(rows).window_tokens == 0


@pytest.mark.parametrize(
    ("model", "written", "slot_bytes"),
    [
        ("Qwen/Qwen3.5-27B", "float32", 153_944_064),
        ("Qwen/Qwen3.5-27B", "bfloat16", 78_446_592),
        ("Qwen/Qwen3.5-27B", "float16", 78_446_592),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "int8", 77_266_944),  # warned of
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 16, 77_266_944),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "bfloat16", 39_518_208),
        ("tiiuae/Falcon-H1-7B-Instruct", "bfloat16", 70_152_192),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "bfloat16", 23 * (6_144 * 3 * 2 + 64 * 64 * 128 * 2)),
        ("moonshotai/Kimi-Linear-48B-A3B-Instruct", "bfloat16", 43_417_600),  # KDA does not look at it
        ("ibm-granite/granite-4.0-h-tiny", "bfloat16", 36 * (3_328 * 3 * 2 + 48 * 64 * 128 * 4)),
    ],
)
def test_states_are_of_the_type_in_the_file(model: str, written: object, slot_bytes: int) -> None:
    assert plan(changed(model, mamba_ssm_dtype=written)).slot_bytes == slot_bytes


@pytest.mark.parametrize(
    ("architecture", "gpu", "gpus", "dtype", "content_bytes", "request_bytes"),
    [
        (changed("Qwen/Qwen3.5-27B"), "h200", 1, "bf16", 2_301_427_712, 2_917_203_968),
        (changed("Qwen/Qwen3.5-27B", mamba_ssm_dtype="bfloat16"), "h200", 1, "bf16", 2_225_930_240, 2_539_716_608),
        (
            changed("stepfun-ai/Step-3.7-Flash"),
            "h200",
            1,
            "bf16",
            1_679_818_752,
            ceil(Fraction(1_572_864, 10) * 32_768),
        ),
        (changed("deepseek-ai/DeepSeek-V3.2"), "h200", 8, "bf16", 2_566_520_832, 78_324 * 32_768),
        (changed("deepseek-ai/DeepSeek-V3.2"), "b200", 8, "fp8", 43_188 * 32_768, 43_188 * 32_768),
        (changed("deepseek-ai/DeepSeek-V3.2"), "", 8, "bf16", 2_566_520_832, 78_324 * 32_768),
        (changed("nvidia/GLM-5-NVFP4"), "h200", 8, "bf16", 100_152 * 32_768, 100_152 * 32_768),
        (changed("nvidia/GLM-5-NVFP4"), "b200", 8, "fp8", 55_224 * 32_768, 55_224 * 32_768),
    ],
)
def test_requests_recomputed_by_hand(
    architecture: Architecture, gpu: str, gpus: int, dtype: str, content_bytes: int, request_bytes: int
) -> None:
    answer = size(architecture, Scenario(engine="sglang", gpu=gpu, gpus=gpus, input=32_768, output=0), weights=None)
    assert answer.kv_dtype.name == dtype
    assert (answer.content_bytes, answer.request_bytes) == (content_bytes, request_bytes)
    set_by_engine = "SGLang 0.5.23 sets this type" in answer.kv_dtype_reason("en")
    assert set_by_engine == sglang_models.is_sparse(architecture)


@pytest.mark.parametrize(
    ("model", "reserve_mib", "vision", "graphs"),
    [
        ("Qwen/Qwen3-32B", 0, None, True),
        ("Qwen/Qwen2.5-VL-7B-Instruct", 100, (32, 1_280), False),
        ("Qwen/Qwen2-VL-2B-Instruct", 100, (32, 1_536), False),
        ("Qwen/Qwen3-VL-8B-Instruct", 1_024, (27, 1_152), False),  # on an H200
        ("Qwen/Qwen3.5-27B", 100, (24, 1_152), True),  # SGLang's own class does not read the depth
        ("google/gemma-3-27b-it", 0, None, True),  # only with --enable-multimodal
        ("google/gemma-4-E2B-it", 100, (16, 768), False),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", 0, None, True),
        ("moonshotai/Kimi-K2.6", 100, (27, 1_152), True),
        ("openbmb/MiniCPM-V-2_6", 100, (27, 1_152), False),
        ("zai-org/GLM-4.1V-9B-Thinking", 100, (24, 1_536), False),
        ("XiaomiMiMo/MiMo-V2-Flash", 0, None, True),
    ],
)
def test_room_for_images(model: str, reserve_mib: int, vision: tuple[int, int] | None, graphs: bool) -> None:
    architecture = load(model).architecture
    scenario = Scenario(engine="sglang", gpu="h200")
    weights = Estimate(value_bytes=GIB, basis="measured", source=Message(Text("log", "ログ")))
    budget = size(architecture, scenario, weights=weights).budget
    assert budget is not None
    assert budget.activations.value_bytes == reserve_mib * MIB
    assert sglang_models.vision_size(architecture) == vision
    assert sglang_models.prefill_graphs(architecture) == graphs


def test_an_encoder_that_the_file_leaves_to_its_class() -> None:
    for model, size_of_class in (("Qwen/Qwen3-VL-2B-Instruct", (27, 1_152)), ("Qwen/Qwen3.5-27B", (24, 1_152))):
        for vision in ({}, None):
            architecture = read_config({**load(model).config, "vision_config": vision})
            assert sglang_models.vision_size(architecture) == size_of_class
    plain = read_config({**load("google/gemma-4-E2B-it").config, "vision_config": {}})
    assert sglang_models.vision_size(plain) == (24, 1_024)


def test_the_fraction_is_of_what_was_free_as_entered() -> None:
    weights = Estimate(value_bytes=GIB, basis="measured", source=Message(Text("log", "ログ")))

    def budget(gib: float) -> Budget:
        scenario = Scenario(engine="sglang", gpu="h200", memory_fraction=0.8, non_torch_gib=gib)
        made = size(load("Qwen/Qwen3-32B").architecture, scenario, weights=weights).budget
        assert made is not None
        return made

    assert budget(1).non_torch.value_bytes == GIB
    assert budget(1).available_bytes - budget(6).available_bytes == pytest.approx(4 * GIB, abs=2)


def test_a_file_may_leave_its_encoders_out() -> None:
    config = {**load("Qwen/Qwen3.5-27B").config, "language_model_only": True}
    assert not sglang_models.takes_media(read_config(config))


def test_drafts_scale_the_cell() -> None:
    assert plan(m.QWEN3_32B, draft_layers=1).stages[0].full_bytes == 65 * 4_096
    assert plan(m.DEEPSEEK_V32, draft_layers=1).stages[0].full_bytes == 62 * (1_152 + 132)
    assert plan("openai/gpt-oss-120b", draft_layers=1).stages[0].full_bytes == 19 * 2_048


def test_pages() -> None:
    assert [sglang.default_page_tokens(m.DEEPSEEK_V32, g) for g in ("hopper", "blackwell")] == [64, 64]
    assert [sglang.default_page_tokens(m.QWEN3_32B, g) for g in ("hopper", "blackwell")] == [1, 64]
    assert sglang.default_page_tokens(load("XiaomiMiMo/MiMo-V2-Flash").architecture, "blackwell") == 128
    assert plan(m.QWEN3_32B, page_tokens=64).request_tokens(65) == 128
    with pytest.raises(ScenarioError, match="at least one"):
        plan(m.QWEN3_32B, page_tokens=0)


def test_short_requests_run_out_of_the_window_pool_first() -> None:
    made = plan("openai/gpt-oss-120b")
    assert made.request_tokens(100) == 125
    assert made.request_tokens(32_768) == 32_768
    assert made.held_bytes(32_768) == 36_864 * (32_768 + 128 + 128 + 2)


def test_requests_at_once_are_capped_whatever_their_length() -> None:
    made = plan(m.QWEN3_32B)
    assert made.running_cap(30 * GIB, context_tokens=40_960) == 2_048
    assert made.running_cap(200 * GIB, context_tokens=131_072) == 3_200
    assert made.running_cap(200 * GIB, context_tokens=100) == 4_096
    assert made.running_cap(200 * GIB, context_tokens=40_960, max_running_requests=12) == 12
    assert made.running_cap(262_144 * 100, context_tokens=40_960) == 50
    tokenless = plan(replace(m.MAMBA_ONLY, class_name="Mamba2ForCausalLM"))
    assert tokenless.pool_tokens(GIB) is None
    assert tokenless.longest_in(GIB) is None


@pytest.mark.parametrize(
    ("running", "context", "size"), [(2_048, 32_768, 268_599_312), (2_048, 163_840, 1_342_865_424)]
)
def test_request_table(running: int, context: int, size: int) -> None:
    assert sglang.request_table_bytes(running, context) == size


def test_what_does_not_run_says_so() -> None:
    for model, code in (
        ("deepseek-ai/DeepSeek-V4-Flash", "sglang-not-worked-out"),
        ("openai/whisper-tiny", "sglang-not-worked-out"),
        ("ai21labs/AI21-Jamba-1.5-Mini", "sglang-not-run"),
    ):
        note = sglang.not_run(load(model).architecture)
        assert note is not None
        assert note.code == code
        with pytest.raises(KvvizError, match=r"SGLang 0\.5\.23"):
            plan(model)
    assert sglang.not_run(m.architecture(())) is not None
    uneven = m.architecture(*((FullAttention(kv_heads=h, key_dim=64, value_dim=64),) for h in (8, 4)))
    assert sglang.not_run(uneven) is None
    with pytest.raises(KvvizError, match="differ in KV heads"):
        plan(replace(uneven, model_type="nemotron-nas"))
    for ratio in ("window_ratio", "full_memory_ratio"):
        with pytest.raises(ScenarioError, match="above 0"):
            plan(m.QWEN3_32B, **{ratio: Fraction(0)})


# --- budget ----------------------------------------------------------------------------------------------------------

WEIGHTS = Estimate(value_bytes=round(14.98 * GIB), basis="measured", source=Message(Text("log", "ログ")))


def test_the_pool_of_a_public_log() -> None:
    """Llama 3 8B on an H200 with 0.872: 871,371 tokens were printed (sgl-project/sglang issue 6753)."""
    budget = sglang_memory.pool(device_bytes=143_771 * MIB, weights=WEIGHTS, memory_fraction=0.872, multimodal=False)
    tokens = plan(m.architecture(*m.QWEN3_32B.layers[:32])).pool_tokens(budget.available_bytes)
    assert tokens == pytest.approx(871_371, rel=0.001)
    assert budget.before_load.basis == "assumed"
    logged = sglang_memory.pool(
        device_bytes=143_771 * MIB, weights=WEIGHTS, memory_fraction=0.872, before_load_bytes=2 * GIB, multimodal=True
    )
    assert logged.before_load.basis == "measured"
    assert budget.available_bytes - logged.available_bytes > 100 * MIB
    with pytest.raises(ScenarioError, match="mem-fraction-static"):
        sglang_memory.pool(device_bytes=GIB, weights=WEIGHTS, memory_fraction=1.5, multimodal=False)


@pytest.mark.parametrize(
    ("memory_mib", "settings", "fraction"),
    [
        # 512 + 8,192 x 1.5 + 128 + 256 x 2 + 66 graphs x 8 = 13,968 MiB
        (81_559, {}, 0.829),
        # 512 + 8,192 x 1.5 + 1,024 + 512 x 2 + 1,536 = 16,384 MiB
        (143_771, {"tp": 8, "latent": True}, 0.886),
        (24_564, {}, 0.704),
        # no graphs of prefill: 512 + 12,288 + 128 + 512 = 13,440 MiB; Qwen3-VL-8B's encoder is 1.42 plain ones
        (143_771, {"prefill_graphs": False, "vision": (27, 1_152)}, 0.907 * 0.95 * 0.95762),
        (81_559, {"vision": (16, 768)}, 0.829 * 0.95 * 1.05),
        (81_559, {"vision": (32, 1_536)}, 0.829 * 0.95 * 0.8),
    ],
)
def test_the_default_fraction(memory_mib: int, settings: dict[str, Any], fraction: float) -> None:
    assert sglang_memory.default_memory_fraction(memory_mib * MIB, **settings) == pytest.approx(fraction, abs=0.0011)


def test_the_default_prefill_chunk_follows_the_gpu() -> None:
    sizes = [sglang_memory.default_chunked_prefill_tokens(gib * GIB) for gib in (16, 24, 48, 80, 141, 180)]
    assert sizes == [2_048, 4_096, 4_096, 8_192, 8_192, 16_384]


def test_the_command() -> None:
    made = plan(m.DEEPSEEK_R1, tp=8, dp_attention=8, kv_dtype=FP8)
    words = sglang.launch(made, model="deepseek-ai/DeepSeek-R1", context_tokens=32_768, memory_fraction=0.88)
    assert " ".join(words) == (
        "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --context-length 32768 --tp-size 8 "
        "--dp-size 8 --enable-dp-attention --kv-cache-dtype fp8_e4m3 --mem-fraction-static 0.88"
    )


# --- what must hold for any -------------------------------------------------------------------------------------------

_HEADS = {"kv_heads": 8, "key_dim": 64, "value_dim": 128}
LAYERS = st.lists(
    st.sampled_from(
        [
            (FullAttention(**_HEADS),),
            (SlidingWindow(**_HEADS, window_tokens=512),),
            (ChunkedAttention(**_HEADS, chunk_tokens=100),),
            (LatentAttention(latent_dim=512, rope_dim=64),),
            (RecurrentState(mixer="mamba1", conv_channels=64, conv_columns=3, heads=64, values_per_head=1_000),),
        ]
    ),
    min_size=1,
    max_size=9,
)
PLANS = st.builds(
    lambda layers, name, tp, pp, dp, page, radix: plan(
        m.architecture(*layers, class_name=name),
        tp=tp * dp,
        pp=min(pp, len(layers)),
        dp_attention=dp,
        page_tokens=page,
        radix_cache=radix,
    ),
    LAYERS,
    st.sampled_from(["MambaForCausalLM", "InklingForConditionalGeneration"]),
    st.sampled_from([1, 2, 8]),
    st.integers(1, 4),
    st.sampled_from([1, 2]),
    st.sampled_from([1, 64]),
    st.booleans(),
).filter(lambda made: any(s.full_bytes or s.window_bytes or s.state_bytes for s in made.stages))


@given(PLANS, st.integers(1, 40), st.integers(1, 100_000), st.integers(0, 10**9))
def test_need_is_the_least_from_which_on_it_fits(
    made: sglang.SglangPlan, requests: int, tokens: int, more: int
) -> None:
    need = made.need_bytes(requests, tokens)
    assert made.fit(need, tokens) >= requests
    assert made.fit(need + more, tokens) >= requests
    assert made.fit(need - 1, tokens) < requests
    assert made.need_bytes(requests + 1, tokens) >= need
    assert made.need_bytes(requests, tokens + 1) >= need


@given(PLANS, st.integers(1, 10**10))
def test_the_longest_request_fits_and_no_longer_one(made: sglang.SglangPlan, pool_bytes: int) -> None:
    longest = made.longest_in(pool_bytes)
    if longest is None:
        assert made.fit(pool_bytes, 10**12)
    else:
        assert not made.fit(pool_bytes, longest + 1)
        assert not longest or made.fit(pool_bytes, longest)


@given(PLANS, st.integers(1, 100_000))
def test_a_request_is_on_one_group_of_each_stage(made: sglang.SglangPlan, tokens: int) -> None:
    shares = made.per_gpu_request_bytes(tokens)
    assert len(shares) == made.gpus
    assert max(shares) == made.request_bytes(tokens)
    assert made.held_bytes(tokens) <= made.request_bytes(tokens)
    assert sum(1 for share in shares if share) <= made.gpus // made.dp_attention


@given(st.integers(1, 61), st.integers(1, 20_000))
def test_stages_add_up_to_the_whole(pp: int, tokens: int) -> None:
    assert sum(plan(m.DEEPSEEK_R1, pp=pp).per_gpu_request_bytes(tokens)) == 70_272 * tokens
