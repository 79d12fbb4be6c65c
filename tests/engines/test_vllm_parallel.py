"""vLLM over many GPUs: stages, copies, tokens shared out; and the common questions put to a plan."""

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
    RecurrentState,
    SlidingWindow,
    content,
)
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import ScenarioError
from kvviz.core.units import GIB
from kvviz.engines import vllm
from tests.engines import models as m
from tests.engines.test_vllm import _models

BF16 = KV_DTYPES["bf16"]


def plan(architecture: Architecture, **settings: object) -> vllm.VllmPlan:
    return vllm.plan(architecture, **{"kv_dtype": BF16, "in_flight_tokens": 16_384, **settings})


def _refused(architecture: Architecture, field: str, match: str, **settings: object) -> None:
    with pytest.raises(ScenarioError, match=match) as caught:
        plan(architecture, **settings)
    assert caught.value.field == field


class TestPipeline:
    def test_61_layers_on_four_stages(self) -> None:
        made = plan(m.DEEPSEEK_R1, pp=4)
        assert [(s.first_layer, s.layers) for s in made.stages] == [(0, 15), (15, 15), (30, 16), (46, 15)]
        assert [s.pool_block_bytes for s in made.stages] == [layers * 16 * 1_152 for layers in (15, 15, 16, 15)]
        assert made.pool_block_bytes == 16 * 16 * 1_152
        assert made.request_blocks(32_768) == 2_048
        assert made.per_gpu_request_bytes(32_768) == tuple(2_048 * s.pool_block_bytes for s in made.stages)

    def test_stages_of_several_gpus_come_one_after_the_other(self) -> None:
        made = plan(m.architecture(*m.LLAMA31_70B.layers[:5], attention_heads=64), tp=2, pp=2)
        assert made.gpus == 4
        assert [s.layers for s in made.stages] == [3, 2]
        each = 4 * 256 * 2 * 4_096
        assert made.per_gpu_request_bytes(4_096) == (3 * each, 3 * each, 2 * each, 2 * each)

    def test_the_smallest_gpu_decides(self) -> None:
        made = plan(m.DEEPSEEK_R1, tp=2, pp=2)  # 31 and 30 layers
        room = 10 * GIB
        blocks = room // (31 * 16 * 1_152)
        assert made.blocks_of_ranks((room,) * 4) == blocks
        assert made.blocks_of_ranks((2 * room, 2 * room, room, room)) == room // (30 * 16 * 1_152)
        assert made.blocks_of_ranks((room, room, room, -1)) == 0

    def test_groups_are_made_over_all_stages(self) -> None:
        """Gemma 3 27B, 62 layers on 4: seven groups of 7 to 10 layers, every seventh window in the same one."""
        made = plan(m.GEMMA3_27B, pp=4)
        assert made.request_blocks(131_072) == plan(m.GEMMA3_27B).request_blocks(131_072)
        assert [s.layers for s in made.stages] == [15, 16, 16, 15]
        page = 16 * 16 * 256 * 2
        assert [s.pool_block_bytes // page for s in made.stages] == [3, 3, 3, 3]

    def test_drafts_lie_on_the_last_stage(self) -> None:
        made = plan(m.DEEPSEEK_R1, pp=2, draft_layers=1)
        assert [s.pool_block_bytes // (16 * 1_152) for s in made.stages] == [31, 30 + 1]
        assert [s.layers for s in made.stages] == [31, 30]

    def test_a_stage_that_keeps_nothing(self) -> None:
        full, mlp = (FullAttention(kv_heads=8, key_dim=64, value_dim=64),), ()
        _refused(m.architecture(full, mlp, full, full), "pp", r"use one of 1, 2, 3\.$", pp=4)
        _refused(m.architecture(mlp, mlp, full, full), "pp", r"use one of 1\.$", pp=2)

    def test_more_stages_than_layers(self) -> None:
        _refused(m.QWEN3_32B, "pp", "use 1 to 64", pp=65)

    def test_models_without(self) -> None:
        _refused(load("Zyphra/Zamba2-7B-Instruct").architecture, "pp", "no pipeline parallelism for Zamba2", pp=2)

    @given(_models(), st.integers(1, 6), st.integers(1, 100_000))
    def test_stages_add_up_to_at_least_the_whole(self, architecture: Architecture, pp: int, tokens: int) -> None:
        made = plan(architecture, pp=min(pp, len(architecture.layers)))
        one = plan(architecture)
        assert made.request_blocks(tokens) == one.request_blocks(tokens)
        assert sum(made.per_gpu_request_bytes(tokens)) >= one.request_bytes(tokens)
        assert made.request_bytes(tokens) == max(made.per_gpu_request_bytes(tokens))
        assert made.request_bytes(tokens) <= one.request_bytes(tokens)

    @given(st.integers(1, 80), st.sampled_from([1, 2, 4, 8, 16, 64]), st.integers(1, 10_000))
    def test_ranks_add_up_to_the_model_and_its_copies(self, pp: int, tp: int, blocks: int) -> None:
        tokens = 16 * blocks
        whole = content(m.LLAMA31_70B.layers, BF16).bytes_at(tokens)
        copies = max(1, tp // 8)
        assert sum(plan(m.LLAMA31_70B, tp=tp, pp=pp).per_gpu_request_bytes(tokens)) == copies * whole


class TestManyGpus:
    def test_heads_are_copied_beyond_one_a_gpu(self) -> None:
        """Llama 3.1 70B: 8 KV heads cost the same on each of 16 GPUs as on each of 8."""
        eight, sixteen = plan(m.LLAMA31_70B, tp=8), plan(m.LLAMA31_70B, tp=16)
        assert eight.request_bytes(131_072) == sixteen.request_bytes(131_072) == 131_072 * 40_960
        assert sum(sixteen.per_gpu_request_bytes(131_072)) == 2 * sum(eight.per_gpu_request_bytes(131_072))

    def test_eight_gpus_for_deepseek(self) -> None:
        """A request of 32,768 tokens is 2,302,672,896 B: on each GPU, on one of eight, or an eighth on each."""
        latent = 2_302_672_896
        tp8, dp8, dcp8 = plan(m.DEEPSEEK_R1, tp=8), plan(m.DEEPSEEK_R1), plan(m.DEEPSEEK_R1, tp=8, dcp=8)
        assert tp8.per_gpu_request_bytes(32_768) == (latent,) * 8
        assert dp8.per_gpu_request_bytes(32_768) == (latent,)
        assert dcp8.per_gpu_request_bytes(32_768) == (latent // 8,) * 8
        pool = 40 * GIB
        fit = {name: made.fit(pool, 32_768) for name, made in (("tp8", tp8), ("dp8", dp8), ("dcp8", dcp8))}
        assert fit == {"tp8": 18, "dp8": 18, "dcp8": 149}  # dp8: on each of eight engines

    def test_four_gpus_for_llama(self) -> None:
        """4 x H100 as one engine, two or four: what all GPUs keep of one request is the same without copies."""
        whole = 131_072 * 4_096
        llama = load("meta-llama/Llama-3.1-8B-Instruct").architecture
        for tp in (1, 2, 4):
            assert plan(llama, tp=tp).per_gpu_request_bytes(4_096) == (whole // tp,) * tp


class TestDecodeContextParallel:
    def test_tokens_are_shared_out_by_blocks(self) -> None:
        made = plan(m.DEEPSEEK_R1, tp=8, dcp=4)
        assert [made.request_blocks(n) for n in (1, 64, 65, 100_000)] == [1, 1, 2, -(-100_000 // 64)]
        assert made.held_blocks(65) == 2
        assert made.pool_block_bytes == plan(m.DEEPSEEK_R1).pool_block_bytes
        assert made.longest_request(101) == 6_400
        assert made.shared_blocks(127) == 1
        assert made.shared_blocks(128) == 2

    def test_in_place_of_copies(self) -> None:
        """16 GPUs keep each of 8 heads twice; with two that share tokens, once."""
        made = plan(m.LLAMA31_70B, tp=16, dcp=2)
        assert made.request_bytes(131_072) == 131_072 * 40_960 // 2
        assert sum(made.per_gpu_request_bytes(131_072)) == 131_072 * 327_680

    def test_states_are_kept_whole(self) -> None:
        linear = load("moonshotai/Kimi-Linear-48B-A3B-Instruct").architecture
        alone, shared = plan(linear, tp=4), plan(linear, tp=4, dcp=4)
        assert [g.token_ranks for g in shared.groups if g.kind != "state"] == [4]
        assert [g.token_ranks for g in shared.groups if g.kind == "state"] == [1, 1, 1]
        tokens = 4 * alone.block_tokens
        assert alone.request_blocks(tokens) - shared.request_blocks(tokens) == 4 - 1

    def test_which_sizes(self) -> None:
        assert vllm.dcp_sizes(m.DEEPSEEK_R1, 8) == (1, 2, 4, 8)
        assert vllm.dcp_sizes(m.LLAMA31_70B, 8) == (1,)
        assert vllm.dcp_sizes(m.LLAMA31_70B, 32) == (1, 2, 4)
        assert vllm.dcp_sizes(load("Qwen/Qwen2.5-7B-Instruct").architecture, 28) == (1, 7)  # 28 queries, 4 heads
        assert vllm.dcp_sizes(m.GEMMA3_27B, 32) == (1,)
        assert vllm.dcp_sizes(m.MAMBA_ONLY, 8) == (1,)

    @pytest.mark.parametrize(
        ("architecture", "tp", "dcp", "match"),
        [
            (m.DEEPSEEK_R1, 8, 3, r"must divide tensor parallel 8: use one of 1, 2, 4, 8\.$"),
            (m.DEEPSEEK_R1, 8, 16, r"use one of 1, 2, 4, 8\.$"),
            (m.LLAMA31_70B, 8, 2, r"kept 1×.* use one of 1\.$"),
            (m.LLAMA31_70B, 16, 4, r"kept 2×.* use one of 1, 2\.$"),
            (m.GEMMA3_27B, 32, 2, "windows or chunks: set it to 1"),
            (m.MAMBA_ONLY, 8, 2, "set it to 1"),
        ],
    )
    def test_sizes_that_do_not_work(self, architecture: Architecture, tp: int, dcp: int, match: str) -> None:
        _refused(architecture, "dcp", match, tp=tp, dcp=dcp)

    def test_windows_cannot_be_shared_out_even_at_full_length(self) -> None:
        _refused(m.GEMMA3_27B, "dcp", "windows or chunks", tp=32, dcp=2, full_windows=True)


class TestFullWindows:
    def test_windows_beside_full_layers(self) -> None:
        made = plan(m.GEMMA3_27B, full_windows=True)
        assert len(made.groups) == 1
        assert made.request_bytes(131_072) == 62 * 16 * 256 * 2 * 131_072
        assert made.request_bytes(131_072) == plan(m.GEMMA3_27B).request_bytes_windows_ignored(131_072)

    def test_chunks(self) -> None:
        llama4 = load("meta-llama/Llama-4-Scout-17B-16E-Instruct").architecture
        assert plan(llama4, full_windows=True).request_bytes(131_072) == 48 * 8 * 256 * 2 * 131_072

    def test_layers_of_one_kind_stay_as_they_are(self) -> None:
        """vLLM only turns windows into full attention where there is full attention beside them."""
        mistral = load("mistralai/Mistral-7B-Instruct-v0.1").architecture
        assert plan(mistral, full_windows=True).groups == plan(mistral).groups

    @pytest.mark.parametrize(
        "architecture",
        [
            m.QWEN3_NEXT,
            m.architecture(
                *((SlidingWindow(kv_heads=1, key_dim=64, value_dim=64, window_tokens=n),) for n in (128, 256)),
            ),
            m.architecture(
                (FullAttention(kv_heads=1, key_dim=64, value_dim=64),),
                *((SlidingWindow(kv_heads=1, key_dim=64, value_dim=64, window_tokens=n),) for n in (128, 256)),
            ),
        ],
        ids=["states", "two windows", "two windows beside full layers"],
    )
    def test_what_does_not_start_without_the_hybrid_manager(self, architecture: Architecture) -> None:
        _refused(architecture, "full_windows", "disable-hybrid-kv-cache-manager", full_windows=True)


class TestDrafts:
    def test_of_the_models_own_kind(self) -> None:
        assert plan(m.DEEPSEEK_R1, draft_layers=1).pool_block_bytes == 62 * 16 * 1_152
        assert plan(m.DEEPSEEK_V32, draft_layers=2).pool_block_bytes == 63 * 64 * (1_152 + 132)
        assert plan(m.QWEN3_32B, draft_layers=1).pool_block_bytes == 65 * 16 * 4_096

    def test_a_hybrids_draft_has_no_states(self) -> None:
        """36 states and 12 + 1 full layers: groups of 13."""
        made = plan(m.QWEN3_NEXT, draft_layers=1)
        assert sorted((g.kind, g.layers) for g in made.groups) == [("full", 13)] + [("state", 12)] * 3
        both = (
            FullAttention(kv_heads=8, key_dim=128, value_dim=128),
            RecurrentState(mixer="mamba2", conv_channels=64, conv_columns=3, heads=8, values_per_head=64),
        )
        assert sum(g.layers for g in plan(m.architecture(both, both), draft_layers=1).groups) == 5

    def test_windows_where_there_is_nothing_else(self) -> None:
        chunk = ChunkedAttention(kv_heads=8, key_dim=128, value_dim=128, chunk_tokens=8_192)
        assert [g.layers for g in plan(m.architecture((chunk,), (chunk,)), draft_layers=1).groups] == [3]

    def test_states_are_kept_for_every_token_proposed(self) -> None:
        made = plan(m.QWEN3_NEXT, draft_layers=1, draft_tokens=3, prefix_caching=False, gpu_generation="ada")
        page = 8_192 * (3 + 3) * 2 + 32 * 128 * 128 * 2
        assert made.block_tokens == 16 * -(-page // (16 * 2_048))
        assert [(g.states_counted, g.states_held) for g in made.groups if g.kind == "state"] == [(4, 4)] * 3
        cached = plan(m.QWEN3_NEXT, draft_layers=1, draft_tokens=3, gpu_generation="ada")
        assert {g.states_counted for g in cached.groups if g.kind == "state"} == {5}

    @pytest.mark.parametrize(
        ("model", "without", "one", "three"),
        [
            ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", 16, 20, 28),
            ("Qwen/Qwen3.5-27B", 49, 52, 58),
            ("Qwen/Qwen3-Next-80B-A3B-Instruct", 66, 69, 75),
        ],
    )
    def test_blocks_of_a_hybrids_request(self, model: str, without: int, one: int, three: int) -> None:
        """2 + s + c states in each of their groups (worked out by hand), beside the draft's own layer."""
        architecture = load(model).architecture
        for draft, blocks in ((0, without), (1, one), (3, three)):
            made = plan(architecture, draft_layers=min(draft, 1), draft_tokens=draft)
            assert made.request_blocks(32_768) == blocks

    @pytest.mark.parametrize(("layers", "counted"), [(0, 1_258_291_200), (1, 3_288_334_336), (2, 3_355_443_200)])
    def test_chunks_beside_a_draft_are_kept_at_full_length(self, layers: int, counted: int) -> None:
        """Llama-4-Scout on eight GPUs, 131,072 tokens: 48 layers and the draft's, none of them in chunks."""
        made = plan(load("meta-llama/Llama-4-Scout-17B-16E-Instruct").architecture, tp=8, draft_layers=layers)
        assert made.request_bytes(131_072) == counted
        if layers:
            assert counted == (48 + layers) * 131_072 * 2 * 128 * 2
            assert made.held_bytes(131_072) == made.request_bytes_windows_ignored(131_072) == counted

    def test_windows_beside_a_draft_stay_windows(self) -> None:
        assert {g.kind for g in plan(m.GEMMA3_27B, draft_layers=1).groups} == {"full", "window"}

    def test_nothing_to_be_like(self) -> None:
        _refused(m.MAMBA_ONLY, "draft_layers", "set draft layers to 0", draft_layers=1)


class TestBackends:
    @pytest.mark.parametrize(
        ("generation", "dtype", "names"),
        [
            ("hopper", "bf16", ("FLASH_ATTN_MLA", "FLASHMLA", "TRITON_MLA")),
            ("hopper", "fp8", ("FLASHMLA", "TRITON_MLA")),
            ("blackwell", "bf16", ("FLASHINFER_MLA", "CUTLASS_MLA", "TRITON_MLA")),
            ("ampere", "bf16", ("TRITON_MLA",)),
        ],
    )
    def test_by_gpu(self, generation: str, dtype: str, names: tuple[str, ...]) -> None:
        assert vllm.backends(m.DEEPSEEK_R1, KV_DTYPES[dtype], generation) == names
        assert vllm.backends(m.DEEPSEEK_V32, KV_DTYPES[dtype], generation) == ()
        assert vllm.backends(m.QWEN3_32B, KV_DTYPES[dtype], generation) == ()

    @pytest.mark.parametrize(
        ("generation", "backend", "block"),
        [
            ("hopper", "FLASHMLA", 64),
            ("hopper", "TRITON_MLA", 16),
            ("blackwell", "CUTLASS_MLA", 128),
            ("blackwell", None, 32),
        ],
    )
    def test_blocks(self, generation: str, backend: str | None, block: int) -> None:
        made = plan(m.DEEPSEEK_R1, gpu_generation=generation, backend=backend)
        assert (made.block_tokens, made.pool_block_bytes) == (block, 61 * block * 1_152)

    def test_heads_that_flashinfer_does_not_take(self) -> None:
        latent = LatentAttention(latent_dim=512, rope_dim=64, heads=16, head_key_dim=96 + 64, head_value_dim=128)
        assert plan(m.architecture((latent,)), gpu_generation="blackwell").block_tokens == 128

    def test_a_backend_of_another_gpu(self) -> None:
        _refused(m.DEEPSEEK_R1, "backend", "use one of FLASH_ATTN_MLA, FLASHMLA, TRITON_MLA", backend="CUTLASS_MLA")


class TestTheCommonQuestions:
    @given(_models(), st.integers(0, 50), st.integers(1, 100_000), st.integers(0, 100_000), st.booleans())
    def test_need_is_the_inverse_of_fit(
        self, architecture: Architecture, requests: int, tokens: int, shared: int, prefix_caching: bool
    ) -> None:
        made = plan(architecture, prefix_caching=prefix_caching)
        need = made.need_bytes(requests, tokens, shared)
        assert need <= made.need_bytes(requests + 1, tokens, shared)
        assert need <= made.need_bytes(requests, tokens)
        if requests:
            assert made.fit(need, tokens, shared) == requests
            assert made.fit(need - 1, tokens, shared) == requests - 1
            assert made.fit_held(need, tokens, shared) >= requests
        if not prefix_caching:
            assert need == made.need_bytes(requests, tokens)

    @given(_models(), st.integers(0, 50 * GIB))
    def test_the_longest_request_in_a_pool(self, architecture: Architecture, pool: int) -> None:
        made = plan(architecture)
        longest = made.longest_in(pool)
        if longest:
            assert made.fit(pool, longest) >= 1
            assert made.request_bytes(longest + 1) > pool - made.pool_block_bytes

    def test_shared_tokens_are_counted_once(self) -> None:
        made = plan(m.QWEN3_32B)
        block = made.pool_block_bytes
        assert made.need_bytes(3, 1_024, 512) == (32 + 3 * 32) * block
        assert made.shared_bytes(512) == 32 * block
        assert made.need_bytes(3, 1_024, 1_024) == (63 + 3) * block  # the last token is computed again
        assert made.need_bytes(0, 1_024) == 0

    def test_sparse_latents_in_stages(self) -> None:
        layers = ((LatentAttention(latent_dim=512, rope_dim=64), IndexerKeys(key_dim=128)),) * 3
        made = plan(m.architecture(*layers), pp=2)
        assert [s.pool_block_bytes for s in made.stages] == [2 * 64 * (1_152 + 132), 64 * (1_152 + 132)]
