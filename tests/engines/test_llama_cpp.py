"""llama.cpp's cells: exact on known models and on what it printed in public, and what must hold for any."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.catalogue import load
from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    Layer,
    RecurrentState,
    SlidingWindow,
)
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.units import GIB, MIB
from kvviz.engines import llama_cpp
from tests.engines import models as m

F16, Q8, Q4 = KV_DTYPES["fp16"], KV_DTYPES["q8_0"], KV_DTYPES["q4_0"]
DATA = Path(__file__).parent.parent / "data"
ROWS: list[dict[str, Any]] = [row for row in json.loads((DATA / "known_sizes.json").read_text()) if "llama_cpp" in row]
REPORTS: list[dict[str, Any]] = json.loads((DATA / "llama_cpp_reports.json").read_text())
GEMMA = replace(m.GEMMA3_27B, model_type="gemma3_text")


def plan(architecture: Architecture, **settings: object) -> llama_cpp.LlamaCppPlan:
    return llama_cpp.plan(architecture, **{"unified": True, **settings})


@pytest.mark.parametrize("row", ROWS, ids=[row["model"] for row in ROWS])
def test_known_models(row: dict[str, Any]) -> None:
    architecture = load(row["model"]).architecture
    assert llama_cpp.not_run(architecture) is None
    assert {
        "f16_32768_1slot": plan(architecture).allocated_bytes(32_768, 1),
        "f16_32768_4slots_unified": plan(architecture).allocated_bytes(32_768, 4),
        "q8_0_32768_1slot": plan(architecture, kv_dtype=Q8).allocated_bytes(32_768, 1),
    } == row["llama_cpp"]


def test_the_known_models_are_all_there() -> None:
    assert len(ROWS) == 131


@pytest.mark.parametrize(
    ("model", "cells", "state"),
    [
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 805_306_368, 79_036_416),
        ("Qwen/Qwen3.5-27B", 2_147_483_648, 156_893_184),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 201_326_592, 49_930_240),
        ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", 402_653_184, 413_270_016),
        ("ibm-granite/granite-4.0-h-tiny", 268_435_456, 58_060_800),
        ("tiiuae/Falcon-H1-7B-Instruct", 1_476_395_008, 140_304_384),
        ("moonshotai/Kimi-Linear-48B-A3B-Instruct", 264_241_152, 44_892_160),
        ("LiquidAI/LFM2-2.6B", 536_870_912, 360_448),
    ],
)
def test_hybrids_keep_one_fp32_state_a_slot(model: str, cells: int, state: int) -> None:
    made = plan(load(model).architecture)
    for slots in (1, 4):
        assert made.allocated_state_bytes(slots) == slots * state
        assert made.allocated_bytes(32_768, slots) == cells + slots * state


def _layer(row: dict[str, Any]) -> Layer:
    match row["kind"]:
        case "full":
            heads = {name: row[name] for name in ("kv_heads", "key_dim", "value_dim")}
            return (FullAttention(**heads),)
        case "window":
            heads = {name: row[name] for name in ("kv_heads", "key_dim", "value_dim", "window_tokens")}
            return (SlidingWindow(**heads),)
        case "latent":
            return (
                LatentAttention(
                    latent_dim=row["latent_dim"],
                    rope_dim=row["rope_dim"],
                    heads=row["expanded_heads"],
                    head_key_dim=row["expanded_key_dim"],
                    head_value_dim=row["expanded_value_dim"],
                ),
            )
        case _:
            return (
                RecurrentState(
                    mixer="mamba1",
                    conv_channels=row["conv_dim"],
                    conv_columns=row["conv_columns"],
                    heads=1,
                    values_per_head=row["recurrent_values"],
                ),
            )


def _reported_architecture(report: dict[str, Any]) -> Architecture:
    if "model" in report:
        return load(report["model"]).architecture
    made = m.architecture(*(_layer(row) for row in report["layers"] for _ in range(row["count"])))
    return replace(made, model_type="gemma3_text")  # the only windows among them


@pytest.mark.parametrize("report", REPORTS, ids=[report["id"] for report in REPORTS])
def test_what_it_printed(report: dict[str, Any]) -> None:
    settings = {n: report[n] for n in ("unified", "ubatch_tokens", "pad_tokens", "latent", "swa_full") if n in report}
    made = plan(
        _reported_architecture(report),
        kv_dtype=KV_DTYPES[report["kv_dtype"]],
        v_dtype=KV_DTYPES[report["v_dtype"]],
        forks=True,
        **settings,
    )
    state = made.allocated_state_bytes(report["slots"])
    total = made.allocated_bytes(report["context_tokens"], report["slots"])
    found = {"state": state, "kv": total - state, "all": total}[report["what"]]
    assert found == report["bytes"]
    assert abs(found - report["reported"]) <= report["tolerance"]


def test_no_two_reports_are_met_by_each_others_layers() -> None:
    """A test of the tests: the layers matter."""
    llama, qwen = (next(r for r in REPORTS if r["id"].startswith(i)) for i in ("ik-562", "ik-503"))
    swapped = plan(_reported_architecture(llama), kv_dtype=KV_DTYPES[qwen["kv_dtype"]])
    assert swapped.allocated_bytes(qwen["context_tokens"], 1) != qwen["bytes"]


class TestWindows:
    def test_unified_slots_share_cells_and_windows_are_multiplied(self) -> None:
        row = 16 * 256 * 2
        made = plan(GEMMA)
        assert made.allocated_bytes(32_768, 1) == 10 * row * 32_768 + 52 * row * 1_536
        assert made.allocated_bytes(32_768, 4) == 10 * row * 32_768 + 52 * row * 4_608

    def test_split_slots_have_a_part_each(self) -> None:
        row = 16 * 256 * 2
        made = plan(GEMMA, unified=False)
        # 4,000 tokens are 4,096 cells, 1,366 a slot, which is 1,536.
        assert made.allocated_bytes(4_000, 3) == 3 * (10 + 52) * row * 1_536
        assert made.allocated_bytes(32_768, 4) == 4 * (10 * row * 8_192 + 52 * row * 1_536)

    def test_full_windows_take_the_whole_context(self) -> None:
        assert plan(GEMMA, swa_full=True).allocated_bytes(32_768, 1) == 62 * 16 * 256 * 2 * 32_768

    def test_the_cells_of_a_window_hold_a_batch_too(self) -> None:
        small, large = (plan(GEMMA, ubatch_tokens=n).allocated_bytes(32_768, 1) for n in (512, 2_048))
        assert large - small == 52 * 16 * 256 * 2 * 1_536

    @pytest.mark.parametrize("model", ["mistralai/Mistral-7B-Instruct-v0.1", "microsoft/Phi-3-mini-4k-instruct"])
    def test_windows_it_does_not_know_are_full(self, model: str) -> None:
        made = plan(load(model).architecture)
        assert made.allocated_bytes(65_536, 1) == 2 * made.allocated_bytes(32_768, 1)

    def test_the_first_builds_saved_less(self) -> None:
        """Command R7B at 31,000 tokens: 11,459 MiB with full windows, 9,115 MiB without, batch of 2,048."""
        heads = {"kv_heads": 8, "key_dim": 128, "value_dim": 128}
        layers = [(FullAttention(**heads),)] * 8 + [(SlidingWindow(**heads, window_tokens=4_096),)] * 24
        made = replace(m.architecture(*layers), model_type="cohere2")
        full, kept = (plan(made, ubatch_tokens=2_048, swa_full=f).allocated_bytes(31_000, 1) for f in (True, False))
        assert (full - kept) / MIB == pytest.approx(11_459 - 9_115, rel=0.01)


class TestLatent:
    def test_keys_only_in_either_type(self) -> None:
        made = load("deepseek-ai/DeepSeek-R1").architecture
        assert plan(made).allocated_bytes(4_096, 1) == 61 * 576 * 2 * 4_096
        assert plan(made, kv_dtype=Q8).allocated_bytes(4_096, 1) == 61 * 612 * 4_096

    def test_one_type_for_both(self) -> None:
        with pytest.raises(ScenarioError, match="set both to q8_0") as caught:
            plan(m.DEEPSEEK_R1, kv_dtype=Q8, v_dtype=F16)
        assert caught.value.field == "v_dtype"

    def test_an_unknown_expansion_is_not_guessed(self) -> None:
        with pytest.raises(ScenarioError, match="does not say how large") as caught:
            plan(m.DEEPSEEK_R1, latent="expanded")
        assert caught.value.field == "engine_version"

    def test_indexer_keys_take_the_type_of_the_keys(self) -> None:
        assert plan(m.DEEPSEEK_V32).allocated_bytes(4_096, 1) == 61 * (576 + 128) * 2 * 4_096


def test_compressed_layers_have_cells_of_their_own_for_each_slot() -> None:
    """DeepSeek-V4-Flash: 43 windows, 21 layers of ratio 4 with indexer, 20 of ratio 128."""
    made = load("deepseek-ai/DeepSeek-V4-Flash").architecture
    one = 43 * 1_024 * 768 + 21 * (1_024 + 256) * 8_192 + 20 * 1_024 * 256
    states = 21 * (65_536 + 16_384) + 20 * 524_288
    for slots in (1, 4):
        assert plan(made).allocated_bytes(32_768, slots) == slots * (one + states)
        assert plan(made, unified=False).allocated_bytes(slots * 32_768, slots) == slots * (one + states)
        assert plan(made).need_bytes(slots, 32_768) == slots * (one + states)


def test_states_have_copies_to_go_back_to() -> None:
    assert plan(m.MAMBA_ONLY, rollback_states=2).allocated_bytes(0, 4) == 4 * 3 * plan(m.MAMBA_ONLY).request_bytes(1)


def test_t5_keeps_no_cross_keys_and_a_picture_is_kept_once() -> None:
    cross = (CrossAttention(kv_heads=8, key_dim=128, value_dim=128, encoder_tokens=6_404),)
    made = m.architecture(cross)
    assert plan(made, forks=True).allocated_bytes(512, 4) == 6_404 * 8 * 256 * 4
    assert plan(replace(made, model_type="t5")).allocated_bytes(512, 4) == 0


class TestValuesWithoutFlashAttention:
    def test_are_as_wide_as_the_widest_layer(self) -> None:
        narrow = (FullAttention(kv_heads=2, key_dim=512, value_dim=512),)
        wide = (FullAttention(kv_heads=8, key_dim=256, value_dim=256),)
        made = m.architecture(narrow, wide)
        assert plan(made).allocated_bytes(256, 1) == 256 * 2 * (1_024 + 1_024 + 2_048 + 2_048)
        assert plan(made, flash_attention=False).allocated_bytes(256, 1) == 256 * 2 * (1_024 + 2_048 + 2_048 + 2_048)

    def test_are_not_quantised(self) -> None:
        assert plan(m.QWEN3_32B, kv_dtype=Q8, v_dtype=F16, flash_attention=False)
        with pytest.raises(ScenarioError, match="use one of bf16, fp16, fp32") as caught:
            plan(m.QWEN3_32B, v_dtype=Q8, flash_attention=False)
        assert caught.value.field == "v_dtype"


class TestTypes:
    def test_keys_and_values_may_differ(self) -> None:
        assert plan(m.QWEN3_32B, kv_dtype=Q8, v_dtype=Q4).allocated_bytes(256, 1) == 64 * 256 * 1_024 * 52 // 32

    def test_rows_divide_by_32(self) -> None:
        odd = m.architecture((FullAttention(kv_heads=1, key_dim=80, value_dim=64),))
        assert llama_cpp.usable_dtypes(odd) == ("bf16", "fp16", "fp32")
        with pytest.raises(ScenarioError, match="has 80") as caught:
            plan(odd, kv_dtype=Q8)
        assert caught.value.field == "kv_dtype"
        assert plan(odd, v_dtype=Q8)
        # 32 heads of 80 make a row of 2,560.
        assert plan(m.architecture((FullAttention(kv_heads=32, key_dim=80, value_dim=80),)), kv_dtype=Q8)

    def test_other_engines_types_are_refused(self) -> None:
        assert not llama_cpp.offers(KV_DTYPES["fp8"])
        with pytest.raises(ScenarioError, match="has no fp8 cache: use one of bf16, fp16"):
            plan(m.QWEN3_32B, kv_dtype=KV_DTYPES["fp8"])


class TestManyGpus:
    def test_whole_layers_with_the_output_layer_as_one_more(self) -> None:
        """32 layers and the output on two GPUs: 17 and 15 (33 / 2, rounded up)."""
        made = plan(m.architecture(*((FullAttention(kv_heads=8, key_dim=128, value_dim=128),),) * 32), gpus=2)
        assert made.per_gpu_allocated_bytes(1_024, 1) == (17 * 4 * MIB, 15 * 4 * MIB)
        assert made.request_bytes(1_024) == 17 * 4 * MIB

    def test_equal_parts_are_assumed_and_said(self) -> None:
        [note] = llama_cpp.notes(plan(m.QWEN3_32B, gpus=2))
        assert "2 GPUs in equal parts" in note.message("en")
        assert not llama_cpp.notes(plan(m.QWEN3_32B, gpus=2, split=(3, 1)))
        assert not llama_cpp.notes(plan(m.QWEN3_32B))

    def test_parts_are_as_given(self) -> None:
        made = plan(m.QWEN3_32B, gpus=2, split=(3, 1))
        first, second = made.per_gpu_allocated_bytes(1_024, 1)
        assert (first, second) == (49 * 4 * MIB, 15 * 4 * MIB)

    def test_layers_that_stay_behind_are_the_first(self) -> None:
        made = plan(m.QWEN3_32B, gpu_layers=33)
        assert made.per_gpu_allocated_bytes(1_024, 1) == (32 * 4 * MIB,)
        assert made.host_allocated_bytes(1_024, 1) == 32 * 4 * MIB
        assert plan(m.QWEN3_32B, gpu_layers=0).request_bytes(1_024) == 0

    @pytest.mark.parametrize(
        ("settings", "field", "says"),
        [
            ({"gpus": 65}, "gpus", "use 1 to 64"),
            ({"gpus": 0}, "gpus", "use 1 to 64"),
            ({"gpus": 2, "split": (1,)}, "split", "one positive number for each GPU"),
            ({"gpus": 2, "split": (0, 0)}, "split", "one positive number"),
            ({"gpu_layers": 66}, "gpu_layers", "use 0 to 65"),
        ],
    )
    def test_what_cannot_be_says_what_can(self, settings: dict[str, Any], field: str, says: str) -> None:
        with pytest.raises(ScenarioError, match=says) as caught:
            plan(m.QWEN3_32B, **settings)
        assert caught.value.field == field


class TestCapacity:
    def test_no_more_slots_than_a_server_has(self) -> None:
        assert plan(m.MAMBA_ONLY).fit(10**15, 10) == llama_cpp.MAX_SLOTS

    def test_states_alone_end_no_request(self) -> None:
        made = plan(m.MAMBA_ONLY)
        need = made.request_bytes(1)
        assert made.longest_in(need) is None
        assert made.longest_in(need - 1) == 0

    def test_longest_request_ends_at_whole_pads(self) -> None:
        made = plan(m.QWEN3_32B)
        assert made.longest_in(1_000 * 262_144) == 768
        assert made.longest_in(255 * 262_144) == 0

    @pytest.mark.parametrize(
        ("vocab", "hidden", "printed_mib"),
        [(32_000, 4_096, 70.5), (128_256, 4_096, 258.5), (152_064, 3_584, 304.0), (151_936, 5_120, 306.75)],
    )
    def test_the_compute_buffer_is_as_logs_of_dense_models_have_it(
        self, vocab: int, hidden: int, printed_mib: float
    ) -> None:
        """Llama 2 7B, Llama 3 8B, Qwen 2.5 7B and Qwen 3 32B, 512 tokens at once."""
        made = llama_cpp.pool(device_bytes=GIB, weights_bytes=0, vocab=vocab, hidden=hidden)
        assert made.compute.value_bytes == round(printed_mib * MIB)

    def test_a_pool_is_what_is_left(self) -> None:
        made = llama_cpp.pool(device_bytes=24 * GIB, weights_bytes=5 * GIB, vocab=128_256, hidden=4_096)
        assert (made.compute.basis, made.margin.basis) == ("assumed", "assumed")
        assert made.pool_bytes == 18 * GIB - made.compute.value_bytes
        assert llama_cpp.pool(device_bytes=4 * GIB, weights_bytes=5 * GIB, vocab=None, hidden=None).pool_bytes == 0

    def test_what_is_not_known_is_said(self) -> None:
        made = llama_cpp.pool(device_bytes=24 * GIB, weights_bytes=GIB, vocab=None, hidden=4_096)
        assert "not known" in made.compute.source("en")
        entered = llama_cpp.pool(
            device_bytes=24 * GIB, weights_bytes=GIB, vocab=None, hidden=None, compute_bytes=7
        ).compute
        assert (entered.value_bytes, entered.basis) == (7, "measured")


@pytest.mark.parametrize(
    ("settings", "flags"),
    [
        ({}, "-c 131072 -np 4 --kv-unified"),
        ({"unified": False}, "-c 131072 -np 4"),
        ({"kv_dtype": Q8}, "-c 131072 -np 4 --kv-unified -ctk q8_0 -ctv q8_0 -fa on"),
        (
            {"kv_dtype": KV_DTYPES["fp32"], "flash_attention": False},
            "-c 131072 -np 4 --kv-unified -ctk f32 -ctv f32 -fa off",
        ),
        (
            {"gpus": 2, "swa_full": True, "ubatch_tokens": 1_024, "gpu_layers": 50},
            "-c 131072 -np 4 --kv-unified --swa-full -ub 1024 -ngl 50 -sm layer -ts 1,1",
        ),
    ],
)
def test_launch(settings: dict[str, Any], flags: str) -> None:
    made = llama_cpp.launch(plan(m.QWEN3_32B, **settings), model="./m.gguf", requests=4, tokens=32_768)
    assert " ".join(made) == f"llama-server -m ./m.gguf {flags}"


@pytest.mark.parametrize(
    ("model", "code"),
    [
        ("openai/whisper-tiny", "llama-cpp-not-run"),
        ("facebook/bart-large-cnn", "llama-cpp-not-run"),
        ("RWKV/rwkv-5-world-3b", "llama-cpp-not-run"),
        ("Zyphra/Zamba2-7B-Instruct", "llama-cpp-not-run"),
        ("meituan-longcat/LongCat-Flash-Lite-Sparse", "llama-cpp-not-run"),
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "llama-cpp-fork"),
    ],
)
def test_what_it_does_not_run(model: str, code: str) -> None:
    architecture = load(model).architecture
    note = llama_cpp.not_run(architecture)
    assert note is not None
    assert note.code == code
    with pytest.raises(KvvizError) as caught:
        plan(architecture)
    assert caught.value.code == code


# --- What holds for any model -----------------------------------------------------------------------------------------

_HEADS = st.sampled_from([1, 2, 4, 8])
_DIMS = st.sampled_from([64, 96, 128])
_LAYERS = st.one_of(
    st.builds(FullAttention, kv_heads=_HEADS, key_dim=_DIMS, value_dim=_DIMS),
    st.builds(SlidingWindow, kv_heads=_HEADS, key_dim=_DIMS, value_dim=_DIMS, window_tokens=st.integers(1, 5_000)),
    st.builds(ChunkedAttention, kv_heads=_HEADS, key_dim=_DIMS, value_dim=_DIMS, chunk_tokens=st.just(8_192)),
    st.builds(LatentAttention, latent_dim=st.just(512), rope_dim=st.just(64)),
    st.builds(IndexerKeys, key_dim=st.just(128)),
    st.builds(RecurrentState, mixer=st.just("mamba1"), conv_channels=_DIMS, conv_columns=st.just(3)),
    st.builds(
        CompressedAttention,
        head_dim=st.just(512),
        rope_dim=st.just(64),
        window_tokens=st.just(128),
        ratio=st.sampled_from([0, 4, 128]),
    ),
).map(lambda cache: (cache,))
_PLANS = st.builds(
    lambda layers, model_type, unified, full, dtype, gpus: llama_cpp.plan(
        replace(m.architecture(*layers), model_type=model_type),
        unified=unified,
        swa_full=full,
        kv_dtype=dtype,
        gpus=min(gpus, len(layers)),
    ),
    st.lists(_LAYERS, min_size=1, max_size=8),
    st.sampled_from(["gemma3_text", "test"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([F16, Q8]),
    st.integers(1, 3),
)


@given(_PLANS, st.integers(1, 200), st.integers(1, 100_000), st.integers(0, 20), st.integers(0, 5_000))
def test_the_need_grows_and_is_the_inverse_of_what_fits(
    made: llama_cpp.LlamaCppPlan, requests: int, tokens: int, more: int, longer: int
) -> None:
    need = made.need_bytes(requests, tokens)
    assert made.need_bytes(0, tokens) == 0
    assert need <= made.need_bytes(requests + more, tokens)
    assert need <= made.need_bytes(requests, tokens + longer)
    assert made.fit(need, tokens) >= requests
    assert made.fit(need - 1, tokens) < requests
    assert need == max(made.per_gpu_allocated_bytes(made.context_tokens(requests, tokens), requests))


@given(_PLANS, st.integers(1, 100_000))
def test_a_request_holds_no_more_than_was_allocated(made: llama_cpp.LlamaCppPlan, tokens: int) -> None:
    assert made.held_bytes(tokens) <= made.request_bytes(tokens) == max(made.per_gpu_request_bytes(tokens))
    assert len(made.per_gpu_request_bytes(tokens)) == made.gpus


@given(_PLANS, st.integers(0, 10**10))
def test_the_longest_request_fits_and_one_token_more_does_not(made: llama_cpp.LlamaCppPlan, pool: int) -> None:
    longest = made.longest_in(pool)
    if longest is None:
        assert made.need_bytes(1, 10**9) <= pool
    else:
        assert longest == 0 or made.need_bytes(1, longest) <= pool
        assert made.need_bytes(1, longest + 1) > pool


@given(st.lists(_LAYERS, min_size=4, max_size=8), st.integers(1, 4), st.integers(1, 50_000))
def test_gpus_share_the_whole_without_copies(layers: list[Layer], gpus: int, tokens: int) -> None:
    architecture = m.architecture(*layers)
    split = sum(llama_cpp.plan(architecture, gpus=gpus).per_gpu_request_bytes(tokens))
    assert split == llama_cpp.plan(architecture).request_bytes(tokens)
