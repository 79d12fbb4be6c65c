"""Older vLLM, held against start-up logs that people posted: each number as the engine printed it."""

from typing import Any

import pytest

from kvviz.catalogue import load
from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    CrossAttention,
    FullAttention,
    LatentAttention,
    RecurrentState,
    SlidingWindow,
    content,
    state_bytes,
)
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.engines import vllm
from tests.engines import models as m

BF16, FP8 = KV_DTYPES["bf16"], KV_DTYPES["fp8"]
KIMI_K2 = load("moonshotai/Kimi-K2-Instruct").architecture
MISTRAL = load("mistralai/Mistral-7B-Instruct-v0.1").architecture
JAMBA = load("ai21labs/AI21-Jamba-1.5-Mini").architecture


def plan(architecture: Architecture, **settings: object) -> vllm.VllmPlan:
    return vllm.plan(architecture, **{"kv_dtype": BF16, **settings})


def test_defaults_by_version() -> None:
    assert {v: vllm.default_memory_fraction(v) for v in vllm.VERSIONS} == {"0.33": 0.92, "0.20": 0.9, "v0": 0.9}
    assert [vllm.concurrent_batches(pp) for pp in (1, 2, 4)] == [2, 3, 5]
    assert [vllm.concurrent_batches(4, version=v) for v in ("0.20", "v0")] == [1, 1]
    assert vllm.concurrent_batches() == vllm.CONCURRENT_BATCHES
    with pytest.raises(ScenarioError, match=r"use one of 0\.33, 0\.20, v0") as caught:
        plan(m.QWEN3_32B, version="0.99")
    assert caught.value.field == "engine_version"


_GEMMA4_31B = m.architecture(
    *((FullAttention(kv_heads=4, key_dim=512, value_dim=512),),) * 10,
    *((SlidingWindow(kv_heads=16, key_dim=256, value_dim=256, window_tokens=1_024),),) * 50,
)


@pytest.mark.parametrize(
    ("architecture", "settings", "pool_blocks", "longest", "concurrency", "tokens"),
    [
        # alvarobartt/hf-mem, pull request 61
        (_GEMMA4_31B, {}, 10_050, 32_768, None, 26_800),
        # vllm-project/vllm, issue 28228: two RTX 3090
        (
            load("moonshotai/Kimi-Linear-48B-A3B-Instruct").architecture,
            {"tp": 2, "prefix_caching": False, "gpu_generation": "ampere"},
            318,
            120_000,
            "2.48",
            75_840,
        ),
        # noonghunna/club-3090: four RTX 3090, fp8, three draft tokens
        (
            load("nvidia/Qwen3.6-27B-NVFP4").architecture,
            {"tp": 4, "draft_layers": 1, "draft_tokens": 3, "kv_dtype": FP8, "gpu_generation": "ada"},
            1_211,
            262_144,
            "6.77",
            483_200,
        ),
        # vllm-project/vllm, issue 19964: one window, shorter requests than it
        (MISTRAL, {"gpu_generation": "ampere"}, 34_236, 1_024, "526.71", 547_776),
        # vllm-project/recipes, Kimi-K2-Think: eight GPUs, without and with decode context parallelism
        (KIMI_K2, {"tp": 8}, 44_692, 131_072, None, 715_072),
        (KIMI_K2, {"tp": 8, "dcp": 8}, 44_696, 131_072, None, 5_721_088),
    ],
    ids=["Gemma 4 31B", "Kimi Linear", "Qwen 3.6 27B", "E5 Mistral", "Kimi K2", "Kimi K2, DCP 8"],
)
def test_the_start_up_log_of_0_20(
    architecture: Architecture,
    settings: dict[str, Any],
    pool_blocks: int,
    longest: int,
    concurrency: str | None,
    tokens: int,
) -> None:
    logged = plan(architecture, version="0.20", **settings).start_log(pool_blocks, longest)
    assert logged[1] == tokens
    assert concurrency is None or f"{logged[0]:.2f}" == concurrency


def test_a_draft_over_two_gpus() -> None:
    """Two RTX 5090 with fp8 and three draft tokens (noonghunna/club-3090), as 0.21 and newer print it."""
    architecture = load("nvidia/Qwen3.6-27B-NVFP4").architecture
    made = plan(
        architecture,
        kv_dtype=FP8,
        tp=2,
        draft_layers=1,
        draft_tokens=3,
        prefix_caching=False,
        gpu_generation="blackwell-rtx",
    )
    assert (made.block_tokens, made.pool_block_bytes) == (1_600, 27_852_800)
    concurrency, tokens = made.start_log(565, 262_144)
    assert (f"{concurrency:.2f}", tokens) == ("3.21", 841_541)


def test_three_stages_with_chunks_at_full_length() -> None:
    """Llama 4 Maverick on 3 x 4 GPUs, vLLM 0.8.5 (vllm-project/vllm, issue 17875): the second stage had least."""
    chunk = load("meta-llama/Llama-4-Scout-17B-16E-Instruct").architecture
    made = plan(chunk, version="0.20", tp=4, pp=3, full_windows=True)
    assert made.pool_block_bytes == 16 * 16_384
    by_stage = [tokens * 16_384 for tokens in (3_331_712, 3_315_328, 3_323_392)]
    blocks = made.blocks_of_ranks([room for room in by_stage for _ in range(4)])
    concurrency, tokens = made.start_log(blocks, 32_000)
    assert (f"{concurrency:.2f}", tokens) == ("103.60", 3_315_328)


def test_0_20_keeps_no_checkpoints_of_a_prefill() -> None:
    made = plan(m.QWEN3_NEXT, version="0.20")
    assert made.block_tokens == 544
    assert {g.states_counted for g in made.groups if g.kind == "state"} == {2}


def test_0_20_pads_no_pages() -> None:
    full = (FullAttention(kv_heads=4, key_dim=96, value_dim=96),)
    window = (SlidingWindow(kv_heads=4, key_dim=128, value_dim=128, window_tokens=128),)
    mixed = m.architecture(full, window)
    assert plan(mixed).pool_block_bytes == 16 * 4 * 256 * 2
    with pytest.raises(KvvizError, match=r"vLLM 0\.20 .* pages cannot be made equal"):
        plan(mixed, version="0.20")
    beside_latents = m.architecture((LatentAttention(latent_dim=512, rope_dim=64),), full, window)
    with pytest.raises(KvvizError, match="pages cannot be made equal"):
        plan(beside_latents, version="0.20")


@pytest.mark.parametrize(
    ("class_name", "version", "runs"),
    [
        ("BaichuanForCausalLM", "0.33", False),
        ("BaichuanForCausalLM", "0.20", True),
        ("Phi4FlashForCausalLM", "0.20", False),
        ("Phi4FlashForCausalLM", "v0", True),
        ("OpenELMForCausalLM", "v0", False),
    ],
)
def test_models_that_older_versions_ran(class_name: str, version: str, runs: bool) -> None:
    full = (FullAttention(kv_heads=8, key_dim=128, value_dim=128),)
    note = vllm.not_run(m.architecture(full, class_name=class_name), version)
    assert (note is None) == runs
    if note:
        assert version.upper() in note.message("en")
        assert version.upper() in note.message("ja")


class TestV0:
    @pytest.mark.parametrize(
        ("architecture", "tp", "dtype", "swapped"),
        [  # "# CPU blocks" of public logs, 4 GiB a GPU
            (load("meta-llama/Llama-2-70b-hf").architecture, 8, BF16, 6_553),
            (load("Qwen/Qwen2-7B-Instruct").architecture, 1, BF16, 4_681),
            (load("meta-llama/Llama-3.1-8B-Instruct").architecture, 1, BF16, 2_048),
            (JAMBA, 1, FP8, 32_768),  # attention layers alone
        ],
    )
    def test_blocks_in_the_computers_memory(
        self, architecture: Architecture, tp: int, dtype: object, swapped: int
    ) -> None:
        made = plan(architecture, version="v0", tp=tp, kv_dtype=dtype, gpu_generation="ada")
        assert vllm.SWAP_BYTES // made.pool_block_bytes == swapped

    def test_windows_are_ignored(self) -> None:
        """Gemma 3 27B on eight GPUs: 4,097 blocks, 65,552 tokens, 4.00x of 16,384 (vllm-project/vllm, issue 15766)."""
        made = plan(load("google/gemma-3-27b-it").architecture, version="v0", tp=8)
        assert made.pool_block_bytes == 16 * 63_488
        concurrency, tokens = made.start_log(4_097, 16_384)
        assert (f"{concurrency:.2f}", tokens) == ("4.00", 65_552)

    def test_windows_alone_too(self) -> None:
        made = plan(MISTRAL, version="v0")
        assert made.request_bytes(32_768) == made.held_bytes(32_768) == 131_072 * 32_768

    def test_states_lie_outside_the_pool(self) -> None:
        made = plan(JAMBA, version="v0")
        assert made.request_bytes(4_096) == 16_384 * 4_096
        assert made.state_slot_bytes == content(JAMBA.layers, BF16).state_bytes
        assert plan(JAMBA).state_slot_bytes == 0
        states = [c for layer in JAMBA.layers for c in layer if isinstance(c, RecurrentState)]
        halves = plan(JAMBA, version="v0", pp=2)
        assert halves.state_slot_bytes == len(states) // 2 * state_bytes(states[0])

    def test_no_block_is_kept_back(self) -> None:
        made = plan(m.QWEN3_32B, version="v0")
        assert made.longest_request(256) == 4_096
        assert plan(m.QWEN3_32B).longest_request(256) == 4_080

    def test_blocks(self) -> None:
        assert plan(m.DEEPSEEK_R1, version="v0", kv_dtype=FP8).block_tokens == 16
        assert plan(m.QWEN3_32B, version="v0", block_tokens=8).block_tokens == 8
        with pytest.raises(ScenarioError, match="multiple of 8"):
            plan(m.QWEN3_32B, version="v0", block_tokens=12)

    def test_what_is_not_worked_out(self) -> None:
        cross = (
            FullAttention(kv_heads=6, key_dim=64, value_dim=64),
            CrossAttention(kv_heads=6, key_dim=64, value_dim=64, encoder_tokens=1_500),
        )
        for architecture in (m.architecture(cross, class_name="WhisperForConditionalGeneration"), m.MAMBA_ONLY):
            note = vllm.not_run(architecture, "v0")
            assert note is not None
            assert note.code == "vllm-not-worked-out"
            with pytest.raises(KvvizError, match="V0 engine"):
                plan(architecture, version="v0")

    def test_no_decode_context_parallelism(self) -> None:
        with pytest.raises(ScenarioError, match="V0 engine has no decode context parallelism") as caught:
            plan(m.DEEPSEEK_R1, version="v0", tp=8, dcp=8)
        assert caught.value.field == "dcp"
