"""TensorRT-LLM's blocks: a public start, the rules as read, and what must hold for any model."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.catalogue import load
from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    Layer,
    RecurrentState,
    SlidingWindow,
    content,
)
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.units import GIB
from kvviz.engines import tensorrt_llm as trt
from tests.engines import models as m

BF16, FP8, NVFP4 = KV_DTYPES["bf16"], KV_DTYPES["fp8"], KV_DTYPES["nvfp4"]


def test_a_public_start() -> None:
    """github.com/NVIDIA/TensorRT-LLM/issues/2268: 21.89 of 39.39 GiB free, blocks of 64, "why only 631 blocks"."""
    made = trt.plan(load("Qwen/Qwen1.5-7B-Chat").architecture, kv_dtype=KV_DTYPES["fp16"], block_tokens=64)
    memory = trt.pool(device_bytes=round(39.39 * GIB), weights_bytes=0, free_bytes=round(21.89 * GIB))
    assert made.pool_blocks(memory.pool.value_bytes, rounded_up=True) == ((None, 631),)
    assert made.pool_blocks(memory.pool.value_bytes) == ((None, 630),)


class TestPool:
    def test_a_fraction_of_what_is_free(self) -> None:
        made = trt.pool(device_bytes=80 * GIB, weights_bytes=16 * GIB, free_bytes=60 * GIB)
        assert made.pool.value_bytes == 54 * GIB
        assert (made.pool.basis, made.runtime.value_bytes) == ("measured", 4 * GIB)

    def test_what_else_takes_memory_is_assumed_and_says_so(self) -> None:
        made = trt.pool(device_bytes=80 * GIB, weights_bytes=16 * GIB, fraction=0.5)
        assert made.runtime.value_bytes / GIB == pytest.approx(2.08, abs=0.01)
        assert made.pool.value_bytes == (64 * GIB - made.runtime.value_bytes) // 2
        assert made.pool.basis == "assumed"
        assert "one public start" in made.runtime.source("en")

    def test_nothing_is_left_beside_too_large_weights(self) -> None:
        assert trt.pool(device_bytes=16 * GIB, weights_bytes=16 * GIB).pool.value_bytes == 0

    @pytest.mark.parametrize("fraction", [0, 1, 1.5, -0.1])
    def test_fractions_out_of_range(self, fraction: float) -> None:
        with pytest.raises(ScenarioError, match="above 0 and below 1") as caught:
            trt.pool(device_bytes=GIB, weights_bytes=0, fraction=fraction)
        assert caught.value.field == "memory_fraction"


class TestSplit:
    def test_heads_are_rounded_up(self) -> None:
        ten = m.architecture((FullAttention(kv_heads=10, key_dim=128, value_dim=128),), attention_heads=40)
        assert trt.plan(ten, tp=4).request_bytes(32) == 32 * 3 * 256 * 2
        assert trt.plan(ten, tp=20).request_bytes(32) == 32 * 256 * 2

    @pytest.mark.parametrize(("tp", "sizes"), [(3, "1, 2, 4, 8, 16, 32, 64")])
    def test_query_heads_divide(self, tp: int, sizes: str) -> None:
        with pytest.raises(ScenarioError, match=f"use tensor parallel {sizes}") as caught:
            trt.plan(m.QWEN3_32B, tp=tp)
        assert caught.value.field == "tp"

    def test_latents_and_indexer_keys_are_whole_on_each_gpu(self) -> None:
        for architecture, row in ((m.DEEPSEEK_R1, 1_152), (m.DEEPSEEK_V32, 1_152 + 132)):
            for tp in (1, 8):
                assert trt.plan(architecture, tp=tp).per_gpu_request_bytes(32) == (61 * 32 * row,) * tp

    def test_attention_dp_puts_a_request_on_one_gpu_and_so_holds_more(self) -> None:
        shared, own = (trt.plan(m.DEEPSEEK_R1, tp=8, attention_dp=dp) for dp in (False, True))
        assert own.per_gpu_request_bytes(32) == (61 * 32 * 1_152, *(0,) * 7)
        pool = shared.need_bytes(10, 4_096)
        assert (shared.fit(pool, 4_096), own.fit(pool, 4_096)) == (10, 80)
        heads = trt.plan(m.LLAMA31_70B, tp=8, attention_dp=True)
        assert heads.request_bytes(32) == trt.plan(m.LLAMA31_70B).request_bytes(32)

    def test_the_first_stages_get_the_layers_left_over(self) -> None:
        made = trt.plan(m.DEEPSEEK_R1, pp=4, tp=2)
        assert made.gpus == 8
        assert [b // (32 * 1_152) for b in made.per_gpu_request_bytes(32)] == [16, 16, 15, 15, 15, 15, 15, 15]
        assert made.request_bytes(32) == 16 * 32 * 1_152

    @pytest.mark.parametrize("pp", [0, 65])
    def test_more_stages_than_layers(self, pp: int) -> None:
        with pytest.raises(ScenarioError, match="use 1 to 64") as caught:
            trt.plan(m.QWEN3_32B, pp=pp)
        assert caught.value.field == "pp"

    def test_states_are_divided(self) -> None:
        whole, eighth = (trt.plan(m.MAMBA_ONLY, tp=tp).request_bytes(1) for tp in (1, 8))
        assert whole == 8 * eighth


class TestTypes:
    @pytest.mark.parametrize(("dtype", "value_bytes"), [(BF16, 2), (FP8, 1), (NVFP4, Fraction(9, 16))])
    def test_bytes(self, dtype: object, value_bytes: Fraction) -> None:
        assert trt.plan(m.QWEN3_32B, kv_dtype=dtype).request_bytes(32) == 64 * 32 * 2_048 * value_bytes

    def test_usable(self) -> None:
        assert trt.usable_dtypes(m.QWEN3_32B) == ("bf16", "fp16", "fp8", "nvfp4")
        odd = m.architecture((FullAttention(kv_heads=1, key_dim=72, value_dim=72),))
        assert trt.usable_dtypes(odd) == ("bf16", "fp16", "fp8")
        with pytest.raises(ScenarioError, match="vectors of 72: use one of bf16, fp16, fp8"):
            trt.plan(odd, kv_dtype=NVFP4)
        with pytest.raises(ScenarioError, match="has no q8_0 cache: use one of bf16"):
            trt.plan(m.QWEN3_32B, kv_dtype=KV_DTYPES["q8_0"])


class TestWindows:
    def test_each_window_has_an_equal_part(self) -> None:
        made = trt.plan(m.GEMMA3_27B)
        row = 16 * 256 * 2
        assert made.request_bytes(131_072) == row * (10 * 131_072 + 52 * 33 * 32)
        assert made.need_bytes(3, 131_072) == 2 * 3 * row * 10 * 131_072  # the windows' half is mostly idle
        assert made.need_bytes(3, 1_024) == 2 * 3 * row * 52 * 1_024
        assert made.pool_blocks(2 * row * 32 * 52 * 7) == ((1_024, 7), (None, 36))

    def test_without_the_setting_everything_is_full(self) -> None:
        made = trt.plan(m.GEMMA3_27B, windows=False)
        assert made.request_bytes(131_072) == made.need_bytes(1, 131_072) == 62 * 16 * 256 * 2 * 131_072

    def test_chunks_are_full(self) -> None:
        chunk = m.architecture((ChunkedAttention(kv_heads=1, key_dim=64, value_dim=64, chunk_tokens=8_192),))
        assert trt.plan(chunk).request_bytes(100_000) == 100_000 * 256

    def test_a_single_window_has_all_of_it_and_no_end(self) -> None:
        made = trt.plan(load("mistralai/Mistral-7B-Instruct-v0.1").architecture)
        assert made.need_bytes(1, 100_000) == made.request_bytes(100_000) == 129 * 32 * 131_072
        assert made.longest_in(129 * 32 * 131_072) is None
        assert made.longest_in(128 * 32 * 131_072) == 4_096


def test_hybrids_are_a_slope_and_an_intercept() -> None:
    made = trt.plan(m.QWEN3_NEXT)
    intercept, slope = made.request_bytes(0), made.request_bytes(32) - made.request_bytes(0)
    assert (intercept, slope) == (39_518_208, 24_576 * 32)
    assert made.need_bytes(5, 32_000) == 5 * (intercept + 1_000 * slope)


@pytest.mark.parametrize("model", ["deepseek-ai/DeepSeek-V4-Flash", "openai/whisper-tiny", "RWKV/rwkv-5-world-3b"])
def test_what_is_not_worked_out_says_so(model: str) -> None:
    architecture = load(model).architecture
    note = trt.not_run(architecture)
    assert note is not None
    with pytest.raises(KvvizError, match="not worked out") as caught:
        trt.plan(architecture)
    assert caught.value.code == note.code == "tensorrt-llm-not-worked-out"


class TestLaunch:
    def test_plain(self) -> None:
        arguments, file = trt.launch(trt.plan(m.QWEN3_32B), model="Qwen/Qwen3-32B", requests=8, tokens=4_096)
        assert " ".join(arguments) == "trtllm-serve serve Qwen/Qwen3-32B --max_seq_len 4096 --max_batch_size 8"
        assert file == ""

    def test_everything(self) -> None:
        made = trt.plan(m.GEMMA3_27B, tp=2, pp=2, kv_dtype=FP8, block_tokens=64, attention_dp=True)
        arguments, file = trt.launch(made, model="m", requests=8, tokens=4_096, fraction=0.8)
        assert arguments[-8:] == (
            "--tp_size", "2", "--pp_size", "2", "--kv_cache_free_gpu_memory_fraction", "0.8",
            "--extra_llm_api_options", "./kv_cache.yaml",
        )  # fmt: skip
        assert file == (
            "enable_attention_dp: true\nkv_cache_config:\n  dtype: fp8\n  tokens_per_block: 64\n"
            "  max_attention_window: [1024, 1024, 1024, 1024, 1024, 4096]\n"
        )


# --- What holds for any model -----------------------------------------------------------------------------------------

_HEADS = st.sampled_from([1, 2, 4, 8])
_DIMS = st.sampled_from([64, 96, 128])
_LAYERS = st.one_of(
    st.builds(FullAttention, kv_heads=_HEADS, key_dim=_DIMS, value_dim=_DIMS),
    st.builds(
        SlidingWindow, kv_heads=_HEADS, key_dim=_DIMS, value_dim=_DIMS, window_tokens=st.sampled_from([128, 999])
    ),
    st.builds(LatentAttention, latent_dim=st.just(512), rope_dim=st.just(64)),
    st.builds(IndexerKeys, key_dim=st.just(128)),
    st.builds(RecurrentState, mixer=st.just("mamba1"), conv_channels=_DIMS, conv_columns=st.just(3)),
).map(lambda cache: (cache,))
_MODELS = st.lists(_LAYERS, min_size=3, max_size=8).map(lambda layers: m.architecture(*layers))


def _plan(architecture: Architecture, tp: int, pp: int, dp: bool, windows: bool, dtype: str) -> trt.TensorRtLlmPlan:
    return trt.plan(architecture, tp=tp, pp=pp, attention_dp=dp, windows=windows, kv_dtype=KV_DTYPES[dtype])


_PLANS = st.builds(
    _plan,
    _MODELS,
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["bf16", "fp8", "nvfp4"]),
)


@given(_PLANS, st.integers(1, 1_000), st.integers(1, 100_000), st.integers(0, 20), st.integers(0, 5_000))
def test_the_need_grows_and_is_the_inverse_of_what_fits(
    made: trt.TensorRtLlmPlan, requests: int, tokens: int, more: int, longer: int
) -> None:
    need = made.need_bytes(requests, tokens)
    assert need <= made.need_bytes(requests + more, tokens)
    assert need <= made.need_bytes(requests, tokens + longer)
    assert made.fit(need, tokens) >= requests
    assert made.fit(need - 1, tokens) < requests


@given(_PLANS, st.integers(0, 10**10))
def test_the_longest_request_fits_and_one_token_more_does_not(made: trt.TensorRtLlmPlan, pool: int) -> None:
    longest = made.longest_in(pool)
    if longest is None:
        assert made.need_bytes(1, 10**9) <= pool
    else:
        assert longest == 0 or made.need_bytes(1, longest) <= pool
        assert made.need_bytes(1, longest + 1) > pool


@given(_MODELS, st.sampled_from([1, 2, 4, 8]), st.integers(1, 3), st.booleans(), st.integers(1, 50_000))
def test_the_gpus_of_an_engine_keep_at_least_the_whole(
    architecture: Architecture, tp: int, pp: int, dp: bool, tokens: int
) -> None:
    made = trt.plan(architecture, tp=tp, pp=pp, attention_dp=dp)
    per_gpu = made.per_gpu_request_bytes(tokens)
    assert len(per_gpu) == made.gpus
    assert made.held_bytes(tokens) == made.request_bytes(tokens) == max(per_gpu)
    assert sum(per_gpu) >= content(architecture.layers, BF16).bytes_at(tokens)


def test_layers_of_a_pipeline_are_neither_lost_nor_doubled() -> None:
    layers: tuple[Layer, ...] = tuple((FullAttention(kv_heads=1, key_dim=2**i, value_dim=2**i),) for i in range(7))
    for pp in range(1, 8):
        made = trt.plan(m.architecture(*layers), pp=pp)
        assert sum(made.per_gpu_request_bytes(32)) == 32 * 2 * 2 * (2**7 - 1)
