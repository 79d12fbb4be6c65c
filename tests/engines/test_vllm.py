"""vLLM 0.33's reservation: exact on known models, and what must hold for any."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.catalogue import load
from kvviz.core.architecture import Architecture, read_config
from kvviz.core.cache import (
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    Layer,
    RecurrentState,
    SlidingWindow,
    content,
)
from kvviz.core.dtypes import KV_DTYPES, KvDtype
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.devices import device
from kvviz.engines import vllm
from kvviz.launch import launch
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from tests.engines import models as m

BF16, FP8 = KV_DTYPES["bf16"], KV_DTYPES["fp8"]
ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parent.parent / "data" / "known_sizes.json").read_text())
RUN = [row for row in ROWS if "vllm_0_33" in row]
NOT_RUN = [row["model"] for row in ROWS if "vllm_0_33" not in row]


def plan(architecture: Architecture, **settings: object) -> vllm.VllmPlan:
    return vllm.plan(architecture, **{"kv_dtype": BF16, "in_flight_tokens": 16_384, **settings})


@pytest.mark.parametrize("row", RUN, ids=[row["model"] for row in RUN])
def test_known_models(row: dict[str, Any]) -> None:
    made = plan(load(row["model"]).architecture)
    assert {
        "block_tokens": made.block_tokens,
        "pool_block_bytes": made.pool_block_bytes,
        "request_bytes": {tokens: made.request_bytes(int(tokens)) for tokens in row["vllm_0_33"]["request_bytes"]},
    } == row["vllm_0_33"]


def test_the_known_models_are_all_there() -> None:
    assert len(RUN) == 149
    assert len(NOT_RUN) == 19


@pytest.mark.parametrize("model", NOT_RUN)
def test_models_without_a_plan_say_why(model: str) -> None:
    architecture = load(model).architecture
    note = vllm.not_run(architecture)
    assert note is not None
    assert note.code in ("vllm-removed", "vllm-not-run", "vllm-not-worked-out")
    with pytest.raises(KvvizError, match=r"vLLM 0\.33") as caught:
        plan(architecture)
    assert caught.value.code == note.code


@pytest.mark.parametrize(
    ("class_name", "last"),
    [
        ("BaichuanForCausalLM", "0.23"),
        ("BaiChuanForCausalLM", "0.23"),
        ("MptForCausalLM", "0.28"),
        ("RWForCausalLM", "0.28"),
    ],
)
def test_removed_models_name_the_last_version(class_name: str, last: str) -> None:
    note = vllm.not_run(replace(m.QWEN3_32B, class_name=class_name))
    assert note is not None
    assert note.code == "vllm-removed"
    assert last in note.message("en")
    assert last in note.message("ja")


@pytest.mark.parametrize(
    ("architecture", "block", "pool", "request_32k", "request_128k"),
    [
        (m.QWEN3_32B, 16, 4_194_304, 8_589_934_592, 34_359_738_368),
        (m.GEMMA3_27B, 16, 1_310_720, 11_248_599_040, 19_301_662_720),
        (m.QWEN3_NEXT, 576, 14_155_776, 934_281_216, 3_354_918_912),
        (m.NEMOTRON3_NANO, 2_096, 12_877_824, 360_579_072, 965_836_800),
        (m.DEEPSEEK_R1, 16, 1_124_352, 2_302_672_896, 9_210_691_584),
        (m.DEEPSEEK_V32, 64, 5_012_736, 2_566_520_832, 10_266_083_328),
    ],
)
def test_rules_without_a_config(
    architecture: Architecture, block: int, pool: int, request_32k: int, request_128k: int
) -> None:
    made = plan(architecture)
    assert (made.block_tokens, made.pool_block_bytes) == (block, pool)
    assert (made.request_bytes(32_768), made.request_bytes(131_072)) == (request_32k, request_128k)


@pytest.mark.parametrize(
    ("pool_blocks", "max_model_len", "concurrency", "tokens"),
    [  # as public logs have them, of models of full attention alone
        (175_884, 131_072, "21.47", 2_814_144),  # Llama 3.1 70B, vLLM 0.6.4
        (1_381, 2_048, "10.79", 22_096),  # Llama 3.1 70B, w8a8
        (464_716, 131_072, "56.73", 7_435_456),  # Llama 3.1 8B
        (34_595, 2_048, "270.27", 553_520),  # OPT 125M, vLLM 0.8
        (625, 4_096, "2.44", 10_000),  # Qwen 32B, Q4_K_M
    ],
)
def test_the_lines_of_the_start_up_log(pool_blocks: int, max_model_len: int, concurrency: str, tokens: int) -> None:
    logged = plan(m.LLAMA31_70B).start_log(pool_blocks, max_model_len)
    assert (f"{logged[0]:.2f}", logged[1]) == (concurrency, tokens)
    assert tokens == 16 * pool_blocks


def test_windows_ignored_is_every_layer_at_full_length() -> None:
    made = plan(m.GEMMA3_27B)
    assert made.request_bytes_windows_ignored(131_072) == 62 * 16 * 256 * 2 * 131_072
    assert plan(m.QWEN3_32B).request_bytes_windows_ignored(32_768) == plan(m.QWEN3_32B).request_bytes(32_768)


def test_a_decoding_window_holds_a_block_more_than_it_needs() -> None:
    made = plan(m.GEMMA3_27B)
    # 10 full layers make one group of ceil(n / 16) blocks, 52 windows six of ceil(1,023 / 16) + 1.
    assert made.held_blocks(131_072) == 8_192 + 6 * 65
    assert made.held_blocks(100) == 7 * 7
    assert made.held_bytes(131_072) == made.held_blocks(131_072) * made.pool_block_bytes


def test_a_decoding_hybrid_holds_one_state_a_group() -> None:
    made = plan(m.QWEN3_NEXT)
    assert [g.kind for g in made.groups].count("state") == 3
    assert made.request_blocks(32_768) - made.held_blocks(32_768) == 3 * 2


def test_a_window_that_ends_a_block_holds_no_more_than_it_touches() -> None:
    """1,025 tokens: the last 1,024 before the new one fill 64 blocks, and may begin inside a 65th."""
    made = plan(m.architecture((SlidingWindow(kv_heads=1, key_dim=64, value_dim=64, window_tokens=1_025),)))
    assert made.held_blocks(100_000) == 64 + 1
    assert plan(m.GEMMA3_27B).held_blocks(131_072) == 8_192 + 6 * 65


def test_a_chunk_counts_every_token_of_it_and_of_those_in_flight() -> None:
    chunk = m.architecture((ChunkedAttention(kv_heads=1, key_dim=64, value_dim=64, chunk_tokens=8_192),))
    assert plan(chunk, in_flight_tokens=1).request_blocks(100_000) == 513
    assert plan(chunk, in_flight_tokens=0).request_blocks(100_000) == 512


def test_groups_take_the_larger_bucket_only_below_one_and_a_half_times_the_smaller() -> None:
    """Three windows beside two full layers: groups of two, so that one is half empty; not one group of three each."""
    heads = {"kv_heads": 1, "key_dim": 64, "value_dim": 64}
    window, full = (SlidingWindow(**heads, window_tokens=128),), (FullAttention(**heads),)
    made = plan(m.architecture(*(window,) * 3, *(full,) * 2))
    assert sorted((g.kind, g.layers) for g in made.groups) == [("full", 2), ("window", 1), ("window", 2)]
    four_three = plan(m.architecture(*(window,) * 4, *(full,) * 3))
    assert sorted((g.kind, g.layers) for g in four_three.groups) == [("full", 3), ("window", 4)]


def test_in_flight_zero_is_the_window_alone() -> None:
    made = plan(m.GEMMA3_27B, in_flight_tokens=0)
    assert made.request_blocks(131_072) == made.held_blocks(131_072) == 8_192 + 6 * 65


def test_without_prefix_caching_one_state_and_plain_alignment() -> None:
    made = plan(m.QWEN3_NEXT, prefix_caching=False)
    assert made.block_tokens == 544  # 1,097,728 B of state over 2,048 B a token, in sixteens
    assert [g.states_counted for g in made.groups if g.kind == "state"] == [1, 1, 1]


@pytest.mark.parametrize(
    ("generation", "block", "states"), [("hopper", 576, 3), ("ada", 544, 2), ("blackwell", 576, 3)]
)
def test_fused_delta_prefill_depends_on_the_gpu(generation: str, block: int, states: int) -> None:
    made = plan(m.QWEN3_NEXT, gpu_generation=generation)
    assert made.block_tokens == block
    assert {g.states_counted for g in made.groups if g.kind == "state"} == {states}


def test_models_of_states_only_have_no_prefix_cache() -> None:
    made = plan(m.MAMBA_ONLY)
    assert (made.block_tokens, len(made.groups), made.request_blocks(1_000_000)) == (16, 1, 1)
    assert made.longest_request(2) is None
    assert made.longest_request(1) == 0


class TestTensorParallel:
    def test_bytes_per_gpu_stop_falling_when_heads_are_copied(self) -> None:
        sizes = {tp: plan(m.LLAMA31_70B, tp=tp).request_bytes(4_096) for tp in (1, 2, 4, 8, 16, 32)}
        assert sizes[8] * 8 == sizes[1]
        assert sizes[8] == sizes[16] == sizes[32]

    def test_latents_and_indexer_keys_are_copied_whole(self) -> None:
        for architecture in (m.DEEPSEEK_R1, m.DEEPSEEK_V32):
            assert plan(architecture, tp=8).pool_block_bytes == plan(architecture).pool_block_bytes

    def test_hybrids_are_worked_out_again(self) -> None:
        # Two KV heads: at 4 GPUs the state is a quarter and the attention a half.
        assert {tp: plan(m.QWEN3_NEXT, tp=tp).block_tokens for tp in (1, 2, 4, 8)} == {1: 576, 2: 576, 4: 320, 8: 192}

    def test_mamba_groups_are_copied_up_to_one_a_gpu(self) -> None:
        # Above 8 GPUs the 8 groups are copied: conv (4,096 + 16 x 256) / 16 x 3 x 2 B + state 4 x 8,192 x 4 B.
        [state] = {g.page_bytes for g in plan(m.MAMBA_ONLY, tp=16).groups}
        assert state == 512 * 3 * 2 + 4 * 8_192 * 4

    def test_groups_that_neither_divide_nor_are_fewer_than_the_gpus_do_not_run(self) -> None:
        state = RecurrentState(
            mixer="mamba2", conv_channels=48, conv_groups=6, conv_channels_per_group=16, conv_columns=3, heads=24
        )
        assert vllm.tp_sizes(m.architecture((state,))) == (1, 2, 3, 6, 8, 12, 24)

    def test_expanded_latents_are_split_like_heads(self) -> None:
        made = {tp: plan(load("openbmb/MiniCPM3-4B").architecture, tp=tp).pool_block_bytes for tp in (1, 2, 8)}
        assert made == {1: 62 * 16 * 15_360, 2: 62 * 16 * 7_680, 8: 62 * 16 * 1_920}

    def test_each_gpu_counts_the_same(self) -> None:
        made = plan(m.QWEN3_32B, tp=4)
        assert made.per_gpu_request_bytes(4_096) == (made.request_bytes(4_096),) * 4

    @pytest.mark.parametrize(("tp", "sizes"), [(3, "1, 2, 4, 8, 16, 32, 64"), (128, "1, 2, 4, 8, 16, 32, 64")])
    def test_sizes_that_do_not_divide_the_heads(self, tp: int, sizes: str) -> None:
        with pytest.raises(ScenarioError, match=f"use tensor parallel {sizes}") as caught:
            plan(m.QWEN3_32B, tp=tp)
        assert caught.value.field == "tp"

    def test_kv_heads_divide_or_are_divided(self) -> None:
        six = m.architecture((FullAttention(kv_heads=6, key_dim=64, value_dim=64),), attention_heads=24)
        assert vllm.tp_sizes(six) == (1, 2, 3, 6, 12, 24)


class TestBlocks:
    @pytest.mark.parametrize(
        ("architecture", "dtype", "generation", "block"),
        [
            (m.QWEN3_32B, BF16, "hopper", 16),
            (m.QWEN3_32B, FP8, "hopper", 16),
            (m.DEEPSEEK_R1, BF16, "hopper", 16),
            (m.DEEPSEEK_R1, FP8, "hopper", 64),
            (m.DEEPSEEK_R1, BF16, "blackwell", 32),
            (m.DEEPSEEK_R1, BF16, "ada", 16),
            (m.DEEPSEEK_V32, BF16, "hopper", 64),
            (
                m.architecture(
                    (FullAttention(kv_heads=4, key_dim=128, value_dim=128), IndexerKeys(key_dim=128, packed=False))
                ),
                BF16,
                "hopper",
                128,
            ),
        ],
    )
    def test_by_backend(self, architecture: Architecture, dtype: KvDtype, generation: str, block: int) -> None:
        assert plan(architecture, kv_dtype=dtype, gpu_generation=generation).block_tokens == block

    def test_a_block_size_given_is_used(self) -> None:
        made = plan(m.QWEN3_32B, block_tokens=128)
        assert (made.block_tokens, made.pool_block_bytes) == (128, 8 * 4_194_304)
        assert made.request_blocks(129) == 2

    def test_a_hybrid_takes_no_smaller_block_than_its_states_need(self) -> None:
        assert plan(m.QWEN3_NEXT, block_tokens=32).block_tokens == 576
        assert plan(m.QWEN3_NEXT, block_tokens=1_024).block_tokens == 1_024
        # Five times the size asked for, where nine times 64 would do.
        assert plan(m.QWEN3_NEXT, block_tokens=128).block_tokens == 640

    def test_indexer_keys_do_not_size_the_blocks_of_a_hybrid(self) -> None:
        state = (RecurrentState(mixer="mamba1", conv_channels=4_096, conv_columns=4),)
        narrow = FullAttention(kv_heads=1, key_dim=16, value_dim=16)
        made = plan(m.architecture(state, (narrow, IndexerKeys(key_dim=128))))
        assert made.block_tokens == 4_096 * 4 * 2 // (2 * 16 * 2)

    @pytest.mark.parametrize(("architecture", "block", "kernel"), [(m.QWEN3_32B, 24, 16), (m.DEEPSEEK_V32, 16, 64)])
    def test_a_block_size_no_kernel_takes(self, architecture: Architecture, block: int, kernel: int) -> None:
        with pytest.raises(ScenarioError, match=f"multiple of {kernel}") as caught:
            plan(architecture, block_tokens=block)
        assert caught.value.field == "block_tokens"


_PLAIN = ["bf16", "fp16", "fp32", "fp8"]
_PER_HEAD = ["fp8_per_token_head", "int8_per_token_head", "int4_per_token_head"]


class TestCacheTypes:
    def test_fp8_halves_the_page(self) -> None:
        assert plan(m.QWEN3_32B, kv_dtype=FP8).pool_block_bytes * 2 == plan(m.QWEN3_32B).pool_block_bytes

    def test_fp8_of_sparse_latents_is_a_record_of_its_own(self) -> None:
        made = plan(m.DEEPSEEK_V32, kv_dtype=FP8)
        assert made.kv_dtype.name == "fp8_ds_mla"
        assert made.pool_block_bytes == 61 * 64 * (656 + 132)
        assert plan(m.DEEPSEEK_V32, kv_dtype=FP8, gpu_generation="blackwell").pool_block_bytes == 61 * 64 * (576 + 132)

    @pytest.mark.parametrize(
        ("architecture", "generation", "offered"),
        [
            (m.QWEN3_32B, "hopper", [*_PLAIN, *_PER_HEAD, "nvfp4"]),
            (m.architecture((FullAttention(kv_heads=4, key_dim=72, value_dim=72),)), "hopper", [*_PLAIN, *_PER_HEAD]),
            (m.DEEPSEEK_R1, "hopper", _PLAIN),
            (m.DEEPSEEK_R1, "blackwell", _PLAIN),
            (m.DEEPSEEK_V32, "hopper", [*_PLAIN, "fp8_ds_mla"]),
            (m.DEEPSEEK_V32, "blackwell-rtx", [*_PLAIN, "fp8_ds_mla"]),
            (m.DEEPSEEK_V32, "blackwell", [*_PLAIN, "fp8_ds_mla", "nvfp4_ds_mla"]),
            (m.DEEPSEEK_V32, "cdna3", _PLAIN),
            (m.QWEN3_32B, "turing", ["fp16", "fp32", *_PER_HEAD[1:]]),
            (m.QWEN3_32B, "ampere", [*_PLAIN, *_PER_HEAD[1:], "nvfp4"]),
            (m.DEEPSEEK_R1, "ampere", _PLAIN[:3]),
        ],
    )
    def test_types_a_cache_has_no_form_of_name_those_it_has(
        self, architecture: Architecture, generation: str, offered: list[str]
    ) -> None:
        for dtype in (d for d in KV_DTYPES.values() if vllm.offers(d)):
            if dtype.name in offered:
                assert plan(architecture, kv_dtype=dtype, gpu_generation=generation).pool_block_bytes > 0
                continue
            with pytest.raises(ScenarioError) as caught:
                plan(architecture, kv_dtype=dtype, gpu_generation=generation)
            assert caught.value.field == "kv_dtype"
            assert f"use one of {', '.join(offered)}." in str(caught.value)

    def test_packed_records_of_sparse_latents(self) -> None:
        made = plan(m.DEEPSEEK_V32, kv_dtype=KV_DTYPES["nvfp4_ds_mla"], gpu_generation="blackwell")
        assert made.pool_block_bytes == 61 * 64 * (352 + 132)
        assert plan(m.DEEPSEEK_V32, kv_dtype=FP8, gpu_generation="cdna3").kv_dtype.name == "fp8"

    def test_another_engines_type_is_refused_before_the_model(self) -> None:
        with pytest.raises(KvvizError) as caught:
            plan(load("microsoft/phi-2").architecture, kv_dtype=KV_DTYPES["q8_0"])
        assert caught.value.code == "kv-dtype-of-another-engine"


@pytest.mark.parametrize(
    ("gpu", "tokens", "sequences"),
    [
        ("h100-80gb", 8_192, 1_024),
        ("h200", 8_192, 1_024),
        ("a100-80gb", 2_048, 256),
        ("b200", 16_384, 1_024),
        ("l4", 2_048, 256),
    ],
)
def test_server_defaults(gpu: str, tokens: int, sequences: int) -> None:
    assert vllm.default_batched_tokens(device(gpu)) == tokens
    assert vllm.default_batched_sequences(device(gpu)) == sequences


def test_pages_that_cannot_be_made_equal() -> None:
    latent, narrow = (
        (LatentAttention(latent_dim=512, rope_dim=64),),
        (FullAttention(kv_heads=4, key_dim=96, value_dim=96),),
    )
    state = (RecurrentState(mixer="mamba1", conv_channels=64, conv_columns=3),)
    with pytest.raises(KvvizError, match="pages cannot be made equal"):
        plan(m.architecture(latent, narrow, state))


NO_STATE = (RecurrentState(mixer="short_conv", conv_channels=64, conv_columns=0),)
"""A convolution that looks at no past input."""


def test_a_model_that_stores_nothing_is_not_blamed_on_the_engine() -> None:
    for architecture in (m.architecture((), ()), m.architecture(NO_STATE, NO_STATE)):
        note = vllm.not_run(architecture)
        assert note is not None
        assert note.code == "no-cache"
        assert "vLLM" not in note.message("en") + note.message("ja")


def test_states_of_no_bytes_set_nothing_aside() -> None:
    full = (FullAttention(kv_heads=8, key_dim=128, value_dim=128),)
    made = plan(m.architecture(NO_STATE, full, NO_STATE, full))
    assert replace(made, stages=()) == replace(plan(m.architecture(full, full)), stages=())


def test_a_file_that_names_no_class_is_known_by_its_type() -> None:
    glm = replace(m.DEEPSEEK_V32, class_name="", model_type="glm_moe_dsa")
    assert vllm.default_dtype(glm, "blackwell") == FP8
    assert vllm.default_dtype(glm, "hopper") is None
    assert vllm.default_dtype(replace(glm, class_name="DeepseekV32ForCausalLM"), "blackwell") is None
    config = {k: v for k, v in load("openai/whisper-tiny").config.items() if k != "architectures"}
    assert vllm.not_run(read_config(config)) is None


def test_windows_beside_latents_are_kept_at_full_length() -> None:
    window = (SlidingWindow(kv_heads=4, key_dim=96, value_dim=96, window_tokens=128),)
    made = plan(m.architecture((LatentAttention(latent_dim=512, rope_dim=64),), window))
    assert made.pool_block_bytes == 16 * (1_152 + 1_536)
    assert made.request_blocks(32_000) == 2_000


# --- What holds for any model -----------------------------------------------------------------------------------------

_HEADS = st.sampled_from([1, 2, 4, 8])
_DIMS = st.sampled_from([64, 96, 128, 256])


def _attention() -> st.SearchStrategy[Layer]:
    full = st.builds(FullAttention, kv_heads=_HEADS, key_dim=_DIMS, value_dim=_DIMS)
    window = st.builds(
        SlidingWindow, kv_heads=_HEADS, key_dim=_DIMS, value_dim=_DIMS, window_tokens=st.integers(1, 5_000)
    )
    chunk = st.builds(ChunkedAttention, kv_heads=_HEADS, key_dim=_DIMS, value_dim=_DIMS, chunk_tokens=st.just(8_192))
    return st.one_of(full, window, chunk).map(lambda cache: (cache,))


def _state() -> st.SearchStrategy[Layer]:
    return st.builds(
        RecurrentState,
        mixer=st.sampled_from(["mamba1", "mamba2", "gated_delta", "kda", "short_conv"]),
        conv_channels=st.integers(1, 64).map(lambda n: 64 * n),
        conv_columns=st.integers(1, 3),
        heads=st.sampled_from([0, 8, 16, 32]),
        values_per_head=st.sampled_from([64, 4_096, 16_384]),
        recurrent_dtype=st.sampled_from(["model", "fp32"]),
    ).map(lambda cache: (cache,))


@st.composite
def _models(draw: st.DrawFn) -> Architecture:
    """A few kinds of layers, each repeated."""
    kinds = draw(st.lists(st.one_of(_attention(), _state()), min_size=1, max_size=3))
    if draw(st.booleans()):
        kinds = [(LatentAttention(latent_dim=512, rope_dim=64),)]
    layers = [layer for kind in kinds for layer in (kind,) * draw(st.integers(1, 12))]
    return m.architecture(*draw(st.permutations(layers)))


@given(_models(), st.integers(1, 200_000), st.integers(0, 5_000), st.sampled_from([0, 1, 4_096, 32_768]))
def test_counts_grow_with_the_request_and_cover_what_it_holds(
    architecture: Architecture, tokens: int, more: int, in_flight: int
) -> None:
    made = plan(architecture, in_flight_tokens=in_flight)
    assert made.request_bytes(tokens) <= made.request_bytes(tokens + more)
    assert made.held_bytes(tokens) <= made.held_bytes(tokens + more)
    assert made.held_bytes(tokens) <= made.request_bytes(tokens)
    assert content(architecture.layers, BF16).bytes_at(tokens) <= made.held_bytes(tokens)
    assert plan(architecture, in_flight_tokens=in_flight + 1_000).request_bytes(tokens) >= made.request_bytes(tokens)


@given(_models(), st.sampled_from([2, 4, 8]), st.integers(1, 100_000))
def test_the_gpus_of_an_engine_keep_at_least_the_whole(architecture: Architecture, tp: int, tokens: int) -> None:
    whole = content(architecture.layers, BF16).bytes_at(tokens)
    assert sum(plan(architecture, tp=tp).per_gpu_request_bytes(tokens)) >= whole


@given(_models(), st.integers(1, 50_000))
def test_the_longest_request_fits_and_one_token_more_does_not(architecture: Architecture, blocks: int) -> None:
    made = plan(architecture)
    longest = made.longest_request(blocks)
    if longest is None:
        assert made.request_blocks(10**9) < blocks
    else:
        assert longest == 0 or made.request_blocks(longest) <= blocks - 1
        assert made.request_blocks(longest + 1) > blocks - 1


@given(_models())
def test_no_group_is_larger_than_a_block_of_the_pool(architecture: Architecture) -> None:
    made = plan(architecture)
    assert sum(g.layers for g in made.groups) == sum(len(layer) for layer in architecture.layers)
    assert all(g.block_bytes <= made.pool_block_bytes for g in made.groups)


def test_whisper_counts_its_encoder_once() -> None:
    layer = (
        FullAttention(kv_heads=6, key_dim=64, value_dim=64),
        CrossAttention(kv_heads=6, key_dim=64, value_dim=64, encoder_tokens=1_500),
    )
    made = plan(m.architecture(*(layer,) * 4, class_name="WhisperForConditionalGeneration"))
    assert made.request_blocks(448) == 28 + 94
    assert made.held_blocks(448) == 28 + 94


class TestBlocksOfWeights:
    """Which splits vLLM 0.33 refuses for weights quantised in blocks: its own checks on the widths, worked by hand."""

    @pytest.mark.parametrize(
        ("model", "generation", "refused", "whole_experts"),
        [
            # 25,600 / 128 = 200 blocks
            ("Qwen/Qwen3-32B-FP8", "hopper", [16, 32, 64], []),
            # 768 / 16 = 48, whose blocks would be 16; 768 / 4 = 192, whose blocks of 64 need native fp8
            ("Qwen/Qwen3-30B-A3B-FP8", "hopper", [], [16, 32]),
            ("Qwen/Qwen3-30B-A3B-FP8", "ampere", [], [4, 8, 16, 32]),
            ("Qwen/Qwen3-235B-A22B-FP8", "hopper", [], [32, 64]),
            ("Qwen/Qwen3-235B-A22B-FP8", "ampere", [], [8, 16, 32, 64]),
            # the shared expert: 2,048 / 32 = 64
            ("deepseek-ai/DeepSeek-V3", "hopper", [32, 64], []),
            # no blocks
            ("Qwen/Qwen3-32B", "hopper", [], []),
            ("nvidia/Llama-3.1-70B-Instruct-FP8", "hopper", [], []),
        ],
    )
    def test_which_splits(self, model: str, generation: str, refused: list[int], whole_experts: list[int]) -> None:
        architecture = load(model).architecture
        sizes = vllm.tp_sizes(architecture)
        needed = [tp for tp in sizes if vllm.needs_expert_parallel(architecture, tp, generation)]
        assert needed == whole_experts
        for tp in sizes:
            if tp in refused:
                with pytest.raises(ScenarioError) as caught:
                    vllm.check_blocks(architecture, tp, generation)
                assert caught.value.field == "tp"
                assert str(tp) not in caught.value.message("en").rpartition("parallel")[2].split(", ")
            else:
                vllm.check_blocks(architecture, tp, generation)

    def test_compressed_tensors_are_not_divided(self) -> None:
        config = dict(load("Qwen/Qwen3-30B-A3B-FP8").config)
        weights = {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]}
        groups = {"group_0": {"targets": ["Linear"], "weights": weights}}
        config["quantization_config"] = {"quant_method": "compressed-tensors", "config_groups": groups}
        architecture = read_config(config)
        assert [tp for tp in (1, 2, 4, 8) if vllm.needs_expert_parallel(architecture, tp, "hopper")] == [4, 8]

    @pytest.mark.parametrize(
        "scheme",
        [
            {"quant_method": "awq", "bits": 4, "group_size": 128},
            {"quant_method": "awq", "w_bit": 4, "q_group_size": 128},
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 128}}},
            },
        ],
        ids=str,
    )
    def test_groups_of_integers(self, scheme: object) -> None:
        """25,600 / 8 = 25 groups of 128."""
        architecture = read_config({**load("Qwen/Qwen3-32B").config, "quantization_config": scheme})
        vllm.check_blocks(architecture, 8, "hopper")
        with pytest.raises(ScenarioError, match="blocks of 128"):
            vllm.check_blocks(architecture, 16, "hopper")

    @pytest.mark.parametrize(
        "scheme",
        [
            {"quant_method": "awq", "bits": 4, "group_size": -1},
            {"quant_method": "gptq", "bits": 4, "group_size": 128},
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}},
            },
        ],
        ids=str,
    )
    def test_what_no_split_cuts(self, scheme: object) -> None:
        assert read_config({**load("Qwen/Qwen3-32B").config, "quantization_config": scheme}).weight_blocks is None

    @pytest.mark.parametrize("block", [None, [128], [0, 128], "128", {}])
    def test_a_block_that_is_none_refuses_nothing(self, block: object) -> None:
        config = dict(load("Qwen/Qwen3-32B-FP8").config)
        config["quantization_config"] = {"quant_method": "fp8", "weight_block_size": block}
        assert read_config(config).weight_blocks is None

    def test_the_answer_says_it(self) -> None:
        with pytest.raises(ScenarioError, match="blocks of 128") as caught:
            _sized(model="Qwen/Qwen3-32B-FP8", gpus=16)
        assert caught.value.field == "gpus"
        assert _sized(model="Qwen/Qwen3-32B-FP8", gpus=16, weight_dtype="bf16").starts
        answer = _sized(model="Qwen/Qwen3-30B-A3B-FP8", gpu="a100-80gb", gpus=4)
        assert any(note.code == "expert-parallel" for note in answer.notes)
        command = launch(answer)
        assert command is not None
        assert "--enable-expert-parallel" in command.command
        answer = _sized(model="Qwen/Qwen3-30B-A3B-FP8", gpus=4)
        assert all(note.code != "expert-parallel" for note in answer.notes)


def _sized(**changes: object) -> Sizing:
    return resolve(Scenario(**changes)).size()  # type: ignore[arg-type]
