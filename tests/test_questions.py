"""Questions people asked in public about the size of a KV cache, each asked through the public functions.

The right numbers are worked out by hand in the comments, from the model's fields and the figures people quoted.
"""

from fractions import Fraction
from typing import Any

import pytest

from kvviz import cli
from kvviz.advice import advice
from kvviz.core.architecture import read_config
from kvviz.core.units import GIB, MIB
from kvviz.devices import device, usable_bytes
from kvviz.engines.llama_cpp import LlamaCppPlan
from kvviz.engines.sglang import SglangPlan
from kvviz.engines.tensorrt_llm import TensorRtLlmPlan
from kvviz.engines.vllm import VllmPlan
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size
from kvviz.weights import typed_weights

KIB = 1024


def ask(config: dict[str, Any] | None = None, **asked: Any) -> Sizing:  # noqa: ANN401 - any setting
    """A bundled model, or one given by its config."""
    if config is not None:
        scenario = Scenario(**asked)
        weights = None if scenario.weights_gib is None else typed_weights(scenario.weights_gib)
        return size(read_config(config), scenario, weights=weights)
    return resolve(Scenario(**asked)).size()


def on_vllm(config: dict[str, Any] | None = None, **asked: Any) -> VllmPlan:  # noqa: ANN401
    plan = ask(config, **asked).plan
    assert isinstance(plan, VllmPlan)
    return plan


def llama(layers: int, heads: int, kv_heads: int, head_dim: int, **more: object) -> dict[str, Any]:
    """The config of a plain decoder."""
    return {
        "model_type": "llama",
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "hidden_size": heads * head_dim,
        "vocab_size": 32_000,
        "max_position_embeddings": 1_048_576,
        "torch_dtype": "float16",
        **more,
    }


GEMMA_4_31B = {
    "model_type": "gemma4_text",
    "num_hidden_layers": 60,
    "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 10,
    "sliding_window": 1024,
    "num_attention_heads": 32,
    "num_key_value_heads": 16,
    "head_dim": 256,
    "num_global_key_value_heads": 4,
    "global_head_dim": 512,
    "attention_k_eq_v": True,
    "num_kv_shared_layers": 0,
    "hidden_size": 5376,
    "vocab_size": 262_144,
    "max_position_embeddings": 262_144,
    "torch_dtype": "bfloat16",
}


# --- "My formula per token gives the wrong number" -------------------------------------------------------------------


def test_which_part_of_my_formula_is_wrong() -> None:
    """Qwen2.5-7B, int8 weights: 2 x 3584 x 28 x 8 = 1.53 MB a token? (vllm#22291)"""
    # 28 layers x 4 KV heads x 128 x 2 x 2 B = 57,344 B; 3,072 tokens: 168 MiB, the 0.16 GB that was measured.
    sizing = cli.answer({"model": "Qwen/Qwen2.5-7B-Instruct", "tokens": "3072", "weight_dtype": "int8"})
    assert sizing.content.growing_bytes_per_token == 57_344
    assert sizing.content_bytes == 168 * MIB
    assert "weights-are-not-cache" in {note.code for note in sizing.notes}


def test_a_calculator_that_ignores_shared_heads_counts_four_times() -> None:
    """Llama 3 8B (vllm-fit#2, vllm PR #29736)."""
    # 32 x 8 x 128 x 2 x 2 = 131,072; with all 32 heads 4 times that.
    assert ask(model="meta-llama/Llama-3.1-8B-Instruct").content.growing_bytes_per_token == 131_072


def test_weights_in_4_bits_do_not_change_the_cache_but_make_room() -> None:
    """vllm#2352."""
    full, int4 = (ask(model="Qwen/Qwen3-8B", weight_dtype=dtype) for dtype in ("auto", "int4"))
    assert full.request_bytes == int4.request_bytes
    assert full.budget
    assert int4.budget
    freed = full.budget.weights.value_bytes - int4.budget.weights.value_bytes
    # 36 x (4096 x (4096 + 2 x 1024) + 4096 x 4096 + 3 x 4096 x 12288) linear weights, 2 B -> 1/2 + 2/128 B
    linear = 36 * (4096 * 6144 + 4096 * 4096 + 3 * 4096 * 12_288)
    assert freed == pytest.approx(linear * (2 - Fraction(33, 64)), rel=0.001)
    assert int4.budget.available_bytes - full.budget.available_bytes == freed


def test_a_cache_twice_as_large_is_fp32() -> None:
    """LLaMA 30B at 512 tokens: 1560 MB in the binding, 780 MB in llama.cpp (llama-cpp-python#66)."""
    # 60 x 52 x 128 x 2 x 2 B x 512 = 780 MiB
    asked = {"engine": "llama.cpp", "input": 512, "output": 0, "gpu": ""}
    assert ask(llama(60, 52, 52, 128), **asked).request_bytes == 780 * MIB
    assert ask(llama(60, 52, 52, 128), kv_dtype="fp32", **asked).request_bytes == 1560 * MIB


def test_how_much_for_200k_of_input() -> None:
    """InternLM2 7B (lmdeploy#990)."""
    # 32 x 8 x 128 x 2 x 2 = 128 KiB a token: 8,192 tokens are 1 GiB, 204,800 are 25.
    assert cli.answer({"model": "internlm/internlm2-chat-7b", "tokens": "200k"}).content_bytes == 25 * GIB


def test_an_engine_that_expands_latents_stores_71_times_as_much() -> None:
    """DeepSeek R1 (DeepSeek-V2#83): as 128 heads against one latent."""
    # latent: 61 x 576 x 2 = 70,272; expanded: 61 x 128 x (192 + 128) x 2 = 4,997,120
    latent = ask(model="deepseek-ai/DeepSeek-R1", gpu="")
    assert latent.content.growing_bytes_per_token == 70_272
    asked = {"engine": "llama.cpp", "gpu": "", "input": 4096, "output": 0, "model": "deepseek-ai/DeepSeek-R1"}
    assert ask(engine_version="expanded-mla", **asked).request_bytes == 4_997_120 * 4096
    assert ask(**asked).request_bytes == 70_272 * 4096


def test_the_head_size_is_not_always_hidden_over_heads() -> None:
    """Qwen3-32B: 5120 / 64 = 80, and 128 in the file."""
    # 64 x 8 x 128 x 2 x 2 = 262,144; with 80: 163,840, 1.6 times too small
    sizing = ask()
    assert sizing.content.growing_bytes_per_token == 262_144
    assert any("1.6 times too small" in one.sentence("en") for one in advice(sizing))


# --- "Why is the budget so small, negative, different?" --------------------------------------------------------------


def test_two_gpus_are_not_one_large_one() -> None:
    """R1-Distill-Qwen-14B on 2 x 4090: 31.8 GiB expected, the log says 8.69 (vllm#13061)."""
    # Each GPU: 23.08 - 13.95 - 0.25 - 0.19 = 8.69 GiB. 48 x 4 heads x 128 x 2 x 2 = 98,304 B a token on each.
    sizing = ask(
        llama(48, 40, 8, 128, torch_dtype="bfloat16"),
        gpu="rtx-4090",
        gpus=2,
        memory_fraction=23.08 * GIB / usable_bytes(device("rtx-4090")).value_bytes,
        weights_gib=2 * 13.95,
        activations_gib=0.25,
        non_torch_gib=0.19,
        graphs_gib=0.0,
        input=131_072,
        output=0,
        sequences=1,
    )
    assert sizing.budget
    assert sizing.budget.available_bytes / GIB == pytest.approx(8.69, abs=0.005)
    assert sizing.request_bytes == 12 * GIB
    assert sizing.starts is False
    assert sizing.plan
    assert sizing.plan.request_bytes(81_536) / GIB == pytest.approx(7.46, abs=0.01)


def test_a_cache_of_minus_one_gib() -> None:
    """Qwen2.5-7B AWQ, 5.60 GiB to use (vllm#13882)."""
    # 5.60 - 5.20 - 0.03 - 1.42 = -1.05 GiB
    sizing = ask(
        model="Qwen/Qwen2.5-7B-Instruct",
        gpu="rtx-3060-12gb",
        memory_fraction=5.60 * GIB / usable_bytes(device("rtx-3060-12gb")).value_bytes,
        weights_gib=5.20,
        non_torch_gib=0.03,
        activations_gib=1.42,
        graphs_gib=0.0,
    )
    assert sizing.budget
    assert sizing.budget.available_bytes / GIB == pytest.approx(-1.05, abs=0.001)
    assert sizing.budget.pool_bytes == 0
    assert sizing.fits == "no"


def test_longer_contexts_need_more_not_fewer_bytes_a_token() -> None:
    """fp8 cache, 221,000 tokens: needs 10.12 GiB, has 5.59, estimated length 122,080 (vllm#25350)."""
    # 48 layers x 4 KV heads x 128 x 2 x 1 B = 49,152
    plan = on_vllm(model="Qwen/Qwen3-30B-A3B", kv_dtype="fp8", gpu="")
    assert plan.request_bytes(221_000) / GIB == pytest.approx(10.12, abs=0.005)
    longest = plan.longest_in(round(5.59 * GIB))
    assert longest is not None
    assert longest == pytest.approx(122_080, abs=0.005 * GIB / 49_152 + 16)


def test_a_small_model_takes_a_whole_gpu_and_needs_little() -> None:
    """OPT-125M uses 20 GB (vllm#4723)."""
    # 12 x 12 x 64 x 2 x 2 = 36,864 B a token: a request of 2,048 needs 72 MiB.
    sizing = ask(llama(12, 12, 12, 64), gpu="rtx-4090", weights_gib=0.24, sequences=4, input=1024, output=1024, gpus=1)
    assert sizing.need_bytes(4, 2048) == 288 * MIB
    assert sizing.budget
    assert sizing.budget.requested_bytes / GIB == pytest.approx(0.92 * (24564 / 1024 - 0.47), abs=0.01)
    assert any(one.code == "reserved-not-needed" for one in advice(sizing))


def test_67_gb_of_cache_in_tensorrt_llm_is_132608_tokens() -> None:
    """TensorRT-LLM#1400."""
    # 69,524,783,104 B / 524,288 B a token (Llama 2 7B) = 132,608 tokens = 4,144 blocks of 32
    plan = ask(model="meta-llama/Llama-2-7b-hf", engine="tensorrt-llm", gpu="").plan
    assert isinstance(plan, TensorRtLlmPlan)
    assert plan.pool_blocks(69_524_783_104) == ((None, 4_144),)


def test_fewer_blocks_are_the_heads_and_not_the_vision_tower() -> None:
    """LLaVA 1.5 7B gets 3,631 blocks where Llama 3 8B gets 13,078 (vllm#6623)."""
    # 32 x 32 x 128 x 2 x 2 = 524,288 against 131,072: a block holds 4 times as much.
    llava, llama3 = (on_vllm(model=f"meta-llama/{name}", gpu="") for name in ("Llama-2-7b-hf", "Meta-Llama-3.1-8B"))
    assert llava.pool_block_bytes == 4 * llama3.pool_block_bytes == 16 * 524_288


def test_a_million_tokens_of_minimax_m3_on_8_gpus() -> None:
    """44.25 GiB a GPU (vllm recipes#653)."""
    # 60 layers x 1 head (4 heads, 8 GPUs: copied) x 128 x 2 x 2 = 30,720, and 57 indexer keys of 256 B: 45,312
    sizing = ask(model="MiniMaxAI/MiniMax-M3", gpu="", gpus=8, tp=8, input=1_048_576, output=0, kv_dtype="bf16")
    assert sizing.request_bytes == 45_312 * 1_048_576 == 47_513_075_712


def test_too_low_a_memory_fraction_does_not_hold_the_weights() -> None:
    """0.2 runs out of memory, 0.4 does not (vllm-ascend#89)."""
    # 14.2 GiB of weights; 0.15 x 79.6 = 11.9 GiB
    low = ask(model="Qwen/Qwen2.5-7B-Instruct", memory_fraction=0.15)
    assert "weights-do-not-fit" in {note.code for note in low.notes}
    high = ask(model="Qwen/Qwen2.5-7B-Instruct", memory_fraction=0.95)
    assert any(one.code == "narrow-margin" for one in advice(high))


# --- "How many fit?" -------------------------------------------------------------------------------------------------


def test_concurrency_is_for_the_longest_and_short_requests_are_more() -> None:
    """4.61x at 8k is 46 requests of 800 tokens (vllm#8031)."""
    plan = on_vllm(model="meta-llama/Llama-3.1-8B-Instruct", gpu="")
    pool = round(4.61 * 8192 / 16) * plan.pool_block_bytes  # 2,360 blocks, of which 800 tokens take 50
    assert plan.start_log(pool // plan.pool_block_bytes, 8192)[0] == pytest.approx(4.61, abs=0.005)
    assert plan.fit(pool, 8192) == 4
    assert plan.fit(pool, 800) == 47


def test_max_model_len_reserves_nothing_for_a_request() -> None:
    """vllm#27017."""
    short, long = ask(), ask(max_model_len=32_768)
    assert short.max_sequences_counted == long.max_sequences_counted == 34
    assert long.starts


def test_the_pool_of_sglang_is_of_all_requests_together() -> None:
    """max_total_num_tokens=2,086,558 at 256,000 tokens each (sglang#29575)."""
    plan = ask(model="Qwen/Qwen3-32B", engine="sglang", gpu="").plan
    assert isinstance(plan, SglangPlan)
    pool = 2_086_558 * 262_144
    assert plan.pool_tokens(pool) == 2_086_558
    assert plan.fit(pool, 256_000) == 8  # 8.15


def test_sglang_and_vllm_take_the_same_per_token_out_of_different_budgets() -> None:
    """178,880 and 367,404 tokens on the same 4 x H100 (vllm#21348)."""
    # 94 layers x 1 of 4 heads x 128 x 2 x 2 = 48,128 B a token and GPU
    asked = {"model": "Qwen/Qwen3-235B-A22B-FP8", "gpus": 4, "gpu": "", "input": 4096, "output": 0}
    assert {ask(engine=engine, **asked).request_bytes for engine in ("vllm", "sglang")} == {48_128 * 4096}


def test_eight_gpus_hold_eight_times_as_many_tokens_of_a_latent_when_they_share_them_out() -> None:
    """Kimi K2 on 8 GPUs: 715,072 tokens with TP 8, 5,721,088 with DCP 8 (vllm recipes; vllm#51454)."""
    # 61 x 576 x 2 = 70,272 B a token: 46.80 GiB hold 715,090; an eighth of it a GPU: 5,720,720
    copied = on_vllm(model="moonshotai/Kimi-K2-Instruct", gpus=8, tp=8, gpu="", kv_dtype="bf16")
    shared = on_vllm(model="moonshotai/Kimi-K2-Instruct", gpus=8, tp=8, dcp=8, gpu="", kv_dtype="bf16")
    pool, printed = round(46.80 * GIB), 0.005 * GIB
    assert copied.longest_in(pool) == pytest.approx(715_072, abs=printed / 70_272 + 16)
    assert shared.longest_in(pool) == pytest.approx(5_721_088, abs=printed / 8_784 + 128)


def test_a_hybrid_holds_many_more_than_four_requests() -> None:
    """Nemotron Nano 9B v2 with 4 slots: 128k requests of 2.0 GiB, 20 in 42 GiB (video-search-and-summarization#1649)"""
    # 4 of 56 layers attend: 4 x 8 x 128 x 2 x 2 = 16,384 B a token. 27 Mamba-2 layers keep
    # (128 x 80 + 2 x 8 x 128) x 3 values of convolution and 128 x 80 x 128 of state, in bf16 here: 69.4 MiB.
    pattern = "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-"
    config = {
        "model_type": "nemotron_h",
        "hybrid_override_pattern": pattern,
        "num_hidden_layers": 56,
        "num_attention_heads": 40,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "hidden_size": 4480,
        "mamba_num_heads": 128,
        "mamba_head_dim": 80,
        "ssm_state_size": 128,
        "n_groups": 8,
        "conv_kernel": 4,
        "mamba_ssm_cache_dtype": "bfloat16",
        "torch_dtype": "bfloat16",
    }
    content = ask(config, gpu="").content
    assert content.growing_bytes_per_token == 16_384
    assert content.state_bytes == 27 * ((128 * 80 + 2 * 8 * 128) * 3 + 128 * 80 * 128) * 2
    request = content.bytes_at(131_072)
    assert request / GIB == pytest.approx(2.07, abs=0.01)
    assert 42 * GIB // request == 20


# --- "Calculators disagree with the engine" ---------------------------------------------------------------------------


def test_gemma_4_has_no_single_rate() -> None:
    """108.2 KiB a token at 262,144 tokens (configiq#112)."""
    # 10 x 4 x 512 x 2 x 2 = 81,920 B a token, and 50 x 16,384 B x (1,024 - 1 + 8,192 in whole blocks + 1): 9,232 tokens
    plan = on_vllm(GEMMA_4_31B, gpu="", engine_version="0.20", batched_tokens=8192, input=262_144, output=0)
    assert plan.request_bytes(262_144) == 81_920 * 262_144 + 50 * 16_384 * 9_232
    assert plan.request_bytes(262_144) / 262_144 / KIB == pytest.approx(108.2, abs=0.05)


def test_the_token_line_of_gemma_4_is_one_groups_share() -> None:
    """24.54 GiB, 26,800 tokens (hf-mem#60)."""
    # 6 groups of 10 layers; a block: 16 x 10 x 16,384 B; 10,051 blocks // 6 x 16 = 26,800
    plan = on_vllm(GEMMA_4_31B, gpu="", engine_version="0.20")
    assert len(plan.groups) == 6
    blocks = int(24.54 * GIB) // plan.pool_block_bytes
    assert blocks == 10_051
    assert plan.start_log(blocks, 262_144)[1] == 26_800


def test_kimi_linear_75840_tokens_but_2_48_times_120000() -> None:
    """vllm#28228."""
    # 4 groups of up to 7 layers, blocks of 960 tokens x 7 x 576 x 2 B: 318 in 2.30 GiB; 318 // 4 x 960 = 75,840;
    # 125 blocks for the tokens and a state in each of 3 groups: 128, 318 / 128 = 2.48
    asked = {"gpus": 2, "tp": 2, "gpu": "rtx-3090", "engine_version": "0.20", "prefix_caching": "off"}
    plan = on_vllm(model="moonshotai/Kimi-Linear-48B-A3B-Instruct", **asked)
    assert plan.pool_block_bytes * 318 / GIB == pytest.approx(2.30, abs=0.01)
    concurrency, tokens = plan.start_log(318, 120_000)
    assert tokens == 75_840
    assert round(concurrency, 2) == 2.48


def test_only_the_layers_that_attend_count() -> None:
    """LM Studio says 75 GB, the run time uses 47: Qwen3.6-27B at 262,144 tokens (lmstudio-bug-tracker#1862)."""
    # 16 of 64 layers x 4 x 256 x 2 x 2 x 262,144 = 16 GiB, not 64, and per slot
    # 48 x ((2 x 16 x 128 + 48 x 128) x 3 + 48 x 128 x 128) x 4 B = 149.6 MiB of states
    asked = {"model": "Qwen/Qwen3.5-27B", "engine": "llama.cpp", "gpu": "", "input": 262_144, "output": 0}
    states = 48 * ((2 * 16 * 128 + 48 * 128) * 3 + 48 * 128 * 128) * 4
    assert states / MIB == pytest.approx(149.6, abs=0.05)
    assert ask(**asked).request_bytes == 16 * GIB + states


def test_slots_multiply_the_windows_of_gemma() -> None:
    """27, 42, 72, 72 MiB for 1, 2, 4, 8 slots at 4,096 tokens (unsloth#5225, #7530)."""
    # 3 full layers x 1 x 256 x 2 x 2 B x 4,096 = 12 MiB; 15 window layers x 1 KiB x slots x (512 + 512), at most 4,096
    config = {
        "model_type": "gemma3_text",
        "num_hidden_layers": 18,
        "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 3,
        "sliding_window": 512,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 256,
        "hidden_size": 640,
        "torch_dtype": "bfloat16",
    }
    plan = ask(config, engine="llama.cpp", gpu="").plan
    assert isinstance(plan, LlamaCppPlan)
    assert [plan.allocated_bytes(4096, slots) // MIB for slots in (1, 2, 4, 8)] == [27, 42, 72, 72]


# --- What everybody quotes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("requests", "gib"), [(1, 1), (16, 16), (50, 50)])
def test_the_worked_example(requests: int, gib: int) -> None:
    # 2 x 64 layers x 8 heads x 128 x 2 B = 262,144 B a token, 4,096 tokens: 1 GiB (1.07 GB)
    sizing = cli.answer({"model": "Qwen/Qwen3-32B", "tokens": "4k"})
    assert sizing.need_bytes(requests, 4096) == gib * GIB
    assert sizing.content.growing_bytes_per_token == 262_144


def test_llama_3_70b_at_32k_is_10_gib_and_not_20_to_40() -> None:
    # 80 x 8 x 128 x 2 x 2 = 327,680: 10.0 GiB at 32,768, 9.77 at 32,000; in fp32 20; with 64 heads 40 at 16,384
    asked = {"model": "meta-llama/Llama-3.1-70B-Instruct"}
    assert cli.answer({**asked, "tokens": "32768"}).content_bytes == 10 * GIB
    assert cli.answer({**asked, "tokens": "32000"}).content_bytes / GIB == pytest.approx(9.77, abs=0.005)
    assert cli.answer({**asked, "tokens": "32768", "kv_dtype": "fp32", "engine": "llama.cpp"}).content_bytes == 20 * GIB
    assert ask(llama(80, 64, 64, 128), gpu="", input=16_384, output=0).content_bytes == 40 * GIB


def test_users_are_not_requests_in_flight() -> None:
    # 200 x 15 / (15 + 45) = 50
    sizing = cli.answer({"model": "Qwen/Qwen3-32B-FP8", "users": "200", "gpu": "h100-80gb"})
    assert sizing.scenario.requests == 50


def test_quantised_weights_make_little_or_all_the_difference() -> None:
    """Qwen3-32B: on 2 x H200 about 16 % more requests in FP8, on one H100 four to five times as many."""

    def more(gpu: str, gpus: int) -> float:
        bf16, fp8 = (ask(model=f"Qwen/Qwen3-32B{end}", gpu=gpu, gpus=gpus, sequences=50) for end in ("", "-FP8"))
        assert bf16.max_sequences_counted
        assert fp8.max_sequences_counted
        return fp8.max_sequences_counted / bf16.max_sequences_counted

    # 2 x H200: 28 GiB fewer weights, next to a pool of about 2 x 129 - 61 - activations
    assert more("h200", 2) == pytest.approx(1.16, abs=0.02)
    assert more("h100-80gb", 1) > 4


def test_prompts_that_share_a_beginning_share_its_blocks() -> None:
    # 50 requests of 4,096 tokens, 2,048 of them in common: 2,048 + 50 x 2,048 tokens of 256 KiB = 25.5 GiB
    sizing = ask(gpu="", shared_tokens=2048)
    assert sizing.need_bytes(50, 4096) == (2048 + 50 * 2048) * 262_144
