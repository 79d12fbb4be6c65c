"""Each family: change one field, and the answer moves as the formula says."""

from fractions import Fraction
from typing import Any

import pytest

from kvviz.core.architecture import Architecture, read_config
from kvviz.core.cache import Content, content, letter
from kvviz.core.kv_dtype import resolve_kv_dtype
from tests.core.known import config_of

Change = dict[str, Any]


def changed(model: str, change: Change) -> Architecture:
    """``model`` with fields replaced; dots go into nested objects, a value of ``...`` removes the field."""
    config = config_of(model)
    for name, value in change.items():
        *steps, last = name.split(".")
        target: Any = config
        for step in steps:
            target = target[int(step)] if isinstance(target, list) else target[step]
        if value is ...:
            del target[last]
        elif isinstance(target, list):
            target[int(last)] = value
        else:
            target[last] = value
    return read_config(config)


def terms(architecture: Architecture) -> Content:
    """The content that vLLM stores for bf16: of compressed layers, packed records."""
    return content(architecture.layers, resolve_kv_dtype(architecture, "bf16")[0])


def letters(architecture: Architecture) -> str:
    """One letter a layer."""
    return "".join(letter(layer) for layer in architecture.layers)


B = 2  # bytes of bf16

GROWING: list[tuple[str, Change, int | Fraction]] = [
    # GQA: layers x KV heads x (key + value) x bytes
    ("Qwen/Qwen3-8B", {"num_key_value_heads": 4}, 36 * 4 * 256 * B),
    ("Qwen/Qwen3-8B", {"num_hidden_layers": 18}, 18 * 8 * 256 * B),
    # an explicit head size comes before hidden size over heads; 0 and null mean it is not given
    ("Qwen/Qwen3-8B", {"head_dim": 64}, 36 * 8 * 128 * B),
    ("Qwen/Qwen3-8B", {"head_dim": 0, "hidden_size": 8192}, 36 * 8 * 2 * (8192 // 32) * B),
    ("meta-llama/Llama-2-7b-hf", {"hidden_size": 8192}, 32 * 32 * 512 * B),
    # no KV heads given: the query heads
    ("meta-llama/Llama-2-70b-hf", {"num_key_value_heads": ...}, 80 * 64 * 256 * B),
    ("mistralai/Mistral-7B-Instruct-v0.3", {"num_key_value_heads": ...}, 32 * 8 * 256 * B),  # the class says 8
    # MQA, and how it is switched off
    ("bigcode/gpt_bigcode-santacoder", {"multi_query": False}, 24 * 16 * 256 * B),
    ("bigcode/gpt_bigcode-santacoder", {"multi_query": ...}, 24 * 256 * B),
    ("openai-community/gpt2", {"attention_head_type": "multiquery"}, 12 * 128 * B),
    ("tiiuae/falcon-40b", {"new_decoder_architecture": False}, 60 * 128 * B),
    ("tiiuae/falcon-40b", {"num_kv_heads": 16}, 60 * 16 * 128 * B),
    ("THUDM/chatglm3-6b", {"multi_query_group_num": 4}, 28 * 4 * 256 * B),
    ("THUDM/chatglm3-6b", {"multi_query_attention": False}, 28 * 32 * 256 * B),
    ("mosaicml/mpt-7b", {"attn_config.kv_n_heads": 8}, 32 * 8 * 256 * B),
    ("mosaicml/mpt-7b", {"attn_config.attn_type": "multiquery_attention"}, 32 * 256 * B),
    ("Qwen/Qwen-7B-Chat", {"kv_channels": 64}, 32 * 32 * 128 * B),
    ("Zyphra/Zamba2-7B-Instruct", {"kv_channels": 7}, 13 * 32 * 448 * B),  # not a KV width here
    ("tencent/Hunyuan-A13B-Instruct", {"attention_head_dim": 64}, 32 * 8 * 128 * B),
    # per-layer heads
    (
        "nvidia/Llama-3_3-Nemotron-Super-49B-v1",
        {"block_configs.0.attention.n_heads_in_group": 16},
        48 * 8 * 256 * B + 4 * 256 * B,
    ),
    ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", {"block_configs.0.attention.no_op": True}, 48 * 8 * 256 * B),
    ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", {"block_configs.0.attention.replace_with_linear": True}, 48 * 4096),
    # sharing: the flag decides, not the factor
    ("tencent/Hunyuan-A13B-Instruct", {"use_cla": True}, 16 * 8 * 256 * B),
    ("tencent/Hunyuan-A13B-Instruct", {"cla_share_factor": 4}, 32 * 8 * 256 * B),
    ("google/gemma-4-E2B-it", {"text_config.num_kv_shared_layers": 10}, 5 * 1024 * B),
    # Gemma 4's full layers
    ("google/gemma-4-26B-A4B", {"text_config.global_head_dim": 256}, 5 * 2 * 512 * B),
    ("google/gemma-4-26B-A4B", {"text_config.attention_k_eq_v": False}, 5 * 8 * 1024 * B),
    ("google/gemma-4-26B-A4B", {"text_config.num_global_key_value_heads": 4}, 5 * 4 * 1024 * B),
    ("google/gemma-4-26B-A4B", {"text_config.per_layer_config": {"5": {"head_dim": 256}}}, (4 * 1024 + 512) * 2 * B),
    # keys and values of different width
    ("XiaomiMiMo/MiMo-V2-Flash", {"v_head_dim": 192}, 9 * 4 * 384 * B),
    ("XiaomiMiMo/MiMo-V2-Flash", {"v_head_dim": ...}, 9 * 4 * 384 * B),
    # a latent is stored once, and neither KV heads nor head_dim say anything about it
    ("deepseek-ai/DeepSeek-R1", {"kv_lora_rank": 256}, 61 * (256 + 64) * B),
    ("deepseek-ai/DeepSeek-R1", {"qk_rope_head_dim": 32}, 61 * (512 + 32) * B),
    ("deepseek-ai/DeepSeek-R1", {"num_key_value_heads": 1, "head_dim": 192}, 61 * 576 * B),
    ("deepseek-ai/DeepSeek-R1", {"use_mla": False}, 61 * 128 * 2 * 56 * B),
    ("openbmb/MiniCPM3-4B", {"kv_lora_rank": 512}, 62 * (512 + 32) * B),
    ("meituan-longcat/LongCat-Flash-Lite-Sparse", {"num_layers": 10}, 20 * 576 * B + 10 * 132),
    ("meituan-longcat/LongCat-Flash-Lite-Sparse", {"cli_factor": 4}, 28 * 576 * B + 7 * 132),
    # indexer keys: fp8 and one fp32 scale per 128 values, on the layers that own an indexer
    ("deepseek-ai/DeepSeek-V3.2", {"index_head_dim": 256}, 61 * (576 * B + 264)),
    ("deepseek-ai/DeepSeek-V3.2", {"index_head_dim": ...}, 61 * (576 * B + 132)),  # the class says 128
    ("deepseek-ai/DeepSeek-V3.2", {"index_head_dim": None}, 61 * 576 * B),
    ("deepseek-ai/DeepSeek-V3.2", {"index_topk_freq": 4}, 61 * 576 * B + 16 * 132),
    ("deepseek-ai/DeepSeek-V3.2", {"index_topk_freq": 4, "index_skip_topk_offset": 3}, 61 * 576 * B + 17 * 132),
    ("deepseek-ai/DeepSeek-V3.2", {"index_topk_pattern": "F" + 60 * "S"}, 61 * 576 * B + 132),
    ("zai-org/GLM-5.2", {"indexer_types": ["full"] * 78}, 78 * (576 * B + 132)),
    # MiniMax-M3's keys are in the cache's own type
    ("MiniMaxAI/MiniMax-M3", {"sparse_attention_config.sparse_index_dim": 64}, 60 * 4 * 256 * B + 57 * 64 * B),
    ("MiniMaxAI/MiniMax-M3", {"sparse_attention_config.use_sparse_attention": False}, 60 * 4 * 256 * B),
    # DeepSeek-V4: a record of 584 bytes per 4 or 128 tokens, and an indexer key beside the former
    (
        "deepseek-ai/DeepSeek-V4-Flash",
        {"compress_ratios.0": 128},
        Fraction(21 * (584 + 132), 4) + Fraction(21 * 584, 128),
    ),
    # attention layers of hybrids
    ("Qwen/Qwen3-Next-80B-A3B-Instruct", {"full_attention_interval": 6}, 8 * 2 * 512 * B),
    ("ai21labs/AI21-Jamba-1.5-Mini", {"attn_layer_period": 4, "attn_layer_offset": 3}, 8 * 8 * 256 * B),
    ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", {"hybrid_override_pattern": "*" + "ME" * 25 + "-"}, 2 * 256 * B),
    ("MiniMaxAI/MiniMax-M1", {"attn_type_list.0": 1}, 11 * 8 * 256 * B),
    ("ibm-granite/granite-4.0-h-tiny", {"layer_types.0": "attention"}, 5 * 4 * 256 * B),
    # encoder-decoders: the decoder's own heads
    ("openai/whisper-tiny", {"decoder_layers": 2}, 2 * 2 * 384 * B),
    ("google/byt5-large", {"d_kv": 32}, 12 * 16 * 64 * B),
    ("google/byt5-large", {"d_model": 2048}, 12 * 16 * 128 * B),
    ("meta-llama/Llama-3.2-11B-Vision-Instruct", {"text_config.cross_attention_layers": [3]}, 39 * 8 * 256 * B),
]


@pytest.mark.parametrize(("model", "change", "expected"), GROWING, ids=lambda value: str(value)[:60])
def test_bytes_per_token(model: str, change: Change, expected: int | Fraction) -> None:
    assert terms(changed(model, change)).growing_bytes_per_token == expected


STATE: list[tuple[str, Change, int]] = [
    # Mamba-1: width x (kernel - 1) and width x state size
    ("tiiuae/falcon-mamba-7b", {"state_size": 32}, 64 * 8192 * (3 + 32) * B),
    ("tiiuae/falcon-mamba-7b", {"conv_kernel": 2}, 64 * 8192 * (1 + 16) * B),
    ("tiiuae/falcon-mamba-7b", {"expand": 4}, 64 * 8192 * (3 + 16) * B),  # intermediate_size is the width
    ("tiiuae/falcon-mamba-7b", {"expand": 4, "intermediate_size": None}, 64 * 16384 * (3 + 16) * B),
    ("ai21labs/AI21-Jamba-1.5-Mini", {"mamba_expand": 4}, 28 * 16384 * (3 + 16) * B),
    ("ai21labs/AI21-Jamba-1.5-Mini", {"mamba_d_state": 64}, 28 * 8192 * (3 + 64) * B),
    # Mamba-2: (width + 2 groups x state size) x (kernel - 1) and heads x head size x state size
    (
        "mistralai/Mamba-Codestral-7B-v0.1",
        {"n_groups": 4},
        64 * ((8192 + 2 * 4 * 128) * 3 + 128 * 64 * 128) * B,
    ),
    (
        "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
        {"mamba_num_heads": 32},
        23 * ((32 * 64 + 2 * 8 * 128) * 3 * B + 32 * 64 * 128 * 4),
    ),
    (
        "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
        {"mamba_ssm_cache_dtype": "bfloat16"},
        23 * ((4096 + 2 * 8 * 128) * 3 + 64 * 64 * 128) * B,
    ),
    (
        "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
        {"mamba_ssm_cache_dtype": ...},  # fp32 then too
        23 * ((4096 + 2 * 8 * 128) * 3 * B + 64 * 64 * 128 * 4),
    ),
    ("ibm-granite/granite-4.0-h-tiny", {"mamba_d_state": 256}, 36 * ((3072 + 512) * 3 + 48 * 64 * 256) * B),
    ("tiiuae/Falcon-H1-7B-Instruct", {"mamba_d_ssm": 1536}, 44 * ((1536 + 512) * 3 + 24 * 128 * 256) * B),
    ("tiiuae/Falcon-H1-7B-Instruct", {"mamba_d_ssm": None}, 44 * ((24 * 128 + 512) * 3 + 24 * 128 * 256) * B),
    ("Zyphra/Zamba2-7B-Instruct", {"mamba_headdim": 128}, 81 * ((7168 + 256) * 3 + 56 * 128 * 64) * B),
    # gated delta rule: (2 key + value channels) x (kernel - 1) and value heads x value size x key size
    (
        "Qwen/Qwen3-Next-80B-A3B-Instruct",
        {"linear_num_value_heads": 16},
        36 * ((2 * 128 * 16 + 128 * 16) * 3 + 16 * 128 * 128) * B,
    ),
    ("Qwen/Qwen3.5-27B", {"text_config.mamba_ssm_dtype": ...}, 48 * (10240 * 3 + 48 * 128 * 128) * B),
    ("Qwen/Qwen3.5-27B", {"text_config.mamba_ssm_dtype": "bfloat16"}, 48 * (10240 * 3 + 48 * 128 * 128) * B),
    # vLLM takes that dtype for the classes it lists, not for other wrappers around the same text part
    ("Qwen/Qwen3.5-27B", {"architectures": ["OtherForConditionalGeneration"]}, 48 * (30720 + 786432) * B),
    # KDA: 3 x heads x size channels, and a matrix a head in fp32; layers count from 1
    (
        "moonshotai/Kimi-Linear-48B-A3B-Instruct",
        {"linear_attn_config.num_heads": 16},
        20 * (3 * 16 * 128 * 3 * B + 16 * 128 * 128 * 4),
    ),
    (
        "moonshotai/Kimi-Linear-48B-A3B-Instruct",
        {"linear_attn_config.full_attn_layers": [1], "linear_attn_config.kda_layers": list(range(2, 28))},
        26 * (3 * 32 * 128 * 3 * B + 32 * 128 * 128 * 4),
    ),
    # linear attention: one matrix per query head
    ("MiniMaxAI/MiniMax-M1", {"head_dim": 64}, 70 * 64 * 64 * 64 * B),
    # short convolution, RWKV
    ("LiquidAI/LFM2-2.6B", {"conv_L_cache": 4}, 22 * 2048 * 3 * B),
    ("LiquidAI/LFM2-2.6B", {"conv_dim": 1024}, 22 * 1024 * 2 * B),
    ("LiquidAI/LFM2-2.6B", {"conv_dim": ...}, 22 * 2048 * 2 * B),
    ("RWKV/rwkv-5-world-3b", {"head_size": 128}, 32 * (2 * 2560 + 2560 * 128) * 4),
    # DeepSeek-V4's compressors, in fp32
    ("deepseek-ai/DeepSeek-V4-Flash", {"compress_ratios.3": 0}, 21 * 81_920 + 19 * 524_288),
]


@pytest.mark.parametrize(("model", "change", "expected"), STATE, ids=lambda value: str(value)[:60])
def test_state_bytes(model: str, change: Change, expected: int) -> None:
    assert terms(changed(model, change)).state_bytes == expected


ZAMBA_2 = "ssssss" + "bssss" + "bsssss" * 11 + "bsss"

LETTERS: list[tuple[str, Change, str]] = [
    ("google/gemma-3-4b-it", {"text_config.sliding_window_pattern": 2}, "wf" * 17),
    ("google/gemma-3-4b-it", {"text_config.sliding_window": None}, "f" * 34),
    ("google/gemma-2-2b-it", {"sliding_window": 8192}, "f" * 26),  # not below the model's own maximum
    ("LGAI-EXAONE/EXAONE-4.0-32B", {"layer_types": ..., "sliding_window_pattern": "LG"}, "wf" * 32),
    ("openai/gpt-oss-120b", {"layer_types": ...}, "wf" * 18),
    ("mistralai/Mistral-7B-Instruct-v0.1", {"sliding_window": None}, "f" * 32),
    ("mistralai/Mistral-7B-Instruct-v0.1", {"sliding_window": 32767}, "w" * 32),
    ("Qwen/Qwen2-7B-Instruct", {"use_sliding_window": True, "sliding_window": 4096}, "f" * 28),
    (
        "Qwen/Qwen2-7B-Instruct",
        {"use_sliding_window": True, "sliding_window": 4096, "max_window_layers": 20},
        "f" * 20 + "w" * 8,
    ),
    ("HuggingFaceTB/SmolLM3-3B", {"no_rope_layers": [1, 1, 1, 0] * 9}, "f" * 36),  # no chunks without a chunk size
    ("meta-llama/Llama-4-Scout-17B-16E-Instruct", {"text_config.no_rope_layer_interval": 2}, "cf" * 24),
    ("meta-llama/Llama-4-Scout-17B-16E-Instruct", {"text_config.no_rope_layers": [1] * 47 + [0]}, "c" * 47 + "f"),
    ("meta-llama/Llama-4-Scout-17B-16E-Instruct", {"text_config.attention_chunk_size": None}, "f" * 48),
    ("XiaomiMiMo/MiMo-V2-Flash", {"hybrid_layer_pattern": [1, 0] * 24}, "wf" * 24),
    ("XiaomiMiMo/MiMo-V2-Flash", {"attention_chunk_size": 64}, "fwwwwf" + "wwwwwf" * 7),
    (
        "google/gemma-4-E2B-it",
        {"text_config.num_kv_shared_layers": 0, "text_config.layer_types.34": "sliding_attention"},
        "wwwwf" * 7,
    ),
    ("stepfun-ai/Step-3.7-Flash", {"layer_types": ["sliding_attention"] * 45 + ["full_attention"] * 3}, "w" * 45),
    (
        "Zyphra/Zamba2-7B-Instruct",
        {"layers_block_type.0": "hybrid"},
        "b" + ZAMBA_2[1:],
    ),
    # the last layer is full where the pattern ends in the middle, and where the list says otherwise
    (
        "google/gemma-4-E2B-it",
        {"text_config.layer_types": ..., "text_config.num_kv_shared_layers": 0},
        "wwwwwf" * 5 + "wwwwf",
    ),
    ("google/gemma-3-27b-it", {"text_config.sliding_window": 0}, "f" * 62),
    ("google/gemma-3-27b-it", {"text_config.sliding_window": False}, "f" * 62),
    ("mistralai/Mistral-7B-Instruct-v0.1", {"sliding_window": 0}, "f" * 32),
    ("LiquidAI/LFM2-2.6B", {"layer_types": ..., "full_attn_idxs": [0, 29]}, "f" + "s" * 28 + "f"),
    ("deepseek-ai/DeepSeek-V4-Flash", {"compress_ratios": [0] * 44}, "w" * 43),
]


@pytest.mark.parametrize(("model", "change", "expected"), LETTERS, ids=lambda value: str(value)[:60])
def test_layer_letters(model: str, change: Change, expected: str) -> None:
    assert letters(changed(model, change)) == expected


LIMITS: list[tuple[str, Change, list[tuple[str, int, int]]]] = [
    ("google/gemma-3-27b-it", {"text_config.sliding_window": 512}, [("window", 512, 52 * 16 * 256 * B)]),
    ("meta-llama/Llama-4-Scout-17B-16E-Instruct", {"text_config.attention_chunk_size": 64}, [("chunk", 64, 147_456)]),
    ("XiaomiMiMo/MiMo-V2-Flash", {"swa_num_key_value_heads": 4}, [("window", 128, 39 * 4 * 320 * B)]),
    ("XiaomiMiMo/MiMo-V2-Flash", {"swa_v_head_dim": 192}, [("window", 128, 39 * 8 * 384 * B)]),
    (
        "stepfun-ai/Step-3.7-Flash",
        {"attention_other_setting": {"num_attention_groups": 4, "head_dim": 64}},
        [("window", 512, 33 * 4 * 128 * B)],
    ),
    ("deepseek-ai/DeepSeek-V4-Flash", {"sliding_window": 256}, [("window", 256, 43 * 584)]),
    # 448 rather than 448 + 64 plain values: 448 fp8 values with 7 scales, padded to 8, and 64 rotary ones in bf16
    ("deepseek-ai/DeepSeek-V4-Flash", {"head_dim": 576}, [("window", 128, 43 * (512 + 128 + 8))]),
]


@pytest.mark.parametrize(("model", "change", "expected"), LIMITS, ids=lambda value: str(value)[:60])
def test_limits(model: str, change: Change, expected: list[tuple[str, int, int]]) -> None:
    limited = terms(changed(model, change)).limited
    assert [(limit.kind, limit.limit_tokens, limit.bytes_per_token) for limit in limited] == expected


CROSS: list[tuple[str, Change, int]] = [
    ("openai/whisper-tiny", {"max_source_positions": 750}, 750 * 4 * 2 * 384 * B),
    ("facebook/bart-large-cnn", {"max_position_embeddings": 512}, 512 * 12 * 2 * 1024 * B),
    ("google/byt5-large", {"n_positions": 1024}, 1024 * 12 * 2 * 1024 * B),
    (
        "meta-llama/Llama-3.2-11B-Vision-Instruct",
        {"vision_config.image_size": 280},
        (20**2 + 1) * 4 * 8 * 8 * 256 * B,
    ),
    (
        "meta-llama/Llama-3.2-11B-Vision-Instruct",
        {"vision_config.max_num_tiles": 2},
        (40**2 + 1) * 2 * 8 * 8 * 256 * B,
    ),
]


@pytest.mark.parametrize(("model", "change", "expected"), CROSS, ids=lambda value: str(value)[:60])
def test_cross_bytes(model: str, change: Change, expected: int) -> None:
    assert terms(changed(model, change)).cross_bytes == expected


# --- Families without a bundled file -------------------------------------------------------------------------------

FALCON_7B = {"model_type": "falcon", "multi_query": True, "n_head": 71, "n_layer": 32, "hidden_size": 4544}
GEMMA_3N = {"model_type": "gemma3n", "text_config": {"model_type": "gemma3n_text"}}
COMMAND_R7B = {
    "model_type": "cohere2",
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
    "head_dim": 128,
    "sliding_window": 4096,
    "sliding_window_pattern": 4,
    "max_position_embeddings": 132_096,
}
LONGCAT_CHAT = {
    "architectures": ["LongcatFlashForCausalLM"],
    "num_layers": 28,
    "num_attention_heads": 64,
    "hidden_size": 6144,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
}
BAMBA = {
    "model_type": "bamba",
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
    "attn_layer_indices": [9, 18, 27],
    "mamba_n_heads": 128,
    "mamba_d_head": "auto",
    "mamba_d_state": 128,
    "mamba_expand": 2,
    "mamba_d_conv": 4,
    "mamba_n_groups": 1,
}
PHI_4_FLASH = {
    "model_type": "phi4flash",
    "num_hidden_layers": 32,
    "num_attention_heads": 40,
    "num_key_value_heads": 20,
    "hidden_size": 2560,
    "sliding_window": 512,
    "mb_per_layer": 2,
    "max_position_embeddings": 262_144,
}
PLAMO_2 = {
    "model_type": "plamo2",
    "num_hidden_layers": 4,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "hidden_size": 4096,
    "hidden_size_per_head": 128,
    "mamba_num_heads": 64,
    "mamba_d_state": 64,
    "mamba_d_conv": 4,
    "mamba_step": 2,
}
RING_LINEAR = {
    "model_type": "bailing_moe_linear",
    "num_hidden_layers": 20,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "hidden_size": 2048,
    "head_dim": 128,
    "layer_group_size": 5,
}
OLMO_HYBRID = {
    "model_type": "olmo_hybrid",
    "num_hidden_layers": 4,
    "num_attention_heads": 30,
    "hidden_size": 3840,
    "layer_types": ["linear_attention"] * 3 + ["full_attention"],
}
ZAMBA = {
    "model_type": "zamba",
    "num_hidden_layers": 9,
    "num_attention_heads": 4,
    "hidden_size": 128,
    "attn_layer_period": 4,
    "attn_layer_offset": 1,
}
YUAN = {"model_type": "yuan", "num_hidden_layers": 24, "num_attention_heads": 32, "hidden_size": 2048}

ELSEWHERE: list[tuple[str, Change, str, int, list[tuple[int, int]], int]] = [
    ("Falcon 7B", FALCON_7B, "f" * 32, 8192, [], 0),
    (
        "OPT 125M",
        {"model_type": "opt", "num_hidden_layers": 12, "num_attention_heads": 12, "hidden_size": 768},
        "f" * 12,
        36_864,
        [],
        0,
    ),
    ("Gemma 3n E4B, nothing but its type", GEMMA_3N, "wwwwf" * 4 + "." * 15, 8192, [(512, 32_768)], 0),
    ("Command R7B", COMMAND_R7B, "wwwf" * 8, 32_768, [(4096, 98_304)], 0),
    ("LongCat-Flash-Chat", LONGCAT_CHAT, "l" * 56, 64_512, [], 0),
    (
        "Bamba 9B",
        BAMBA,
        "s" * 9 + "f" + ("s" * 8 + "f") * 2 + "s" * 4,
        3 * 4096,
        [],
        29 * (8448 * 3 + 128 * 64 * 128) * B,
    ),
    (
        "Phi-4-mini-flash",
        PHI_4_FLASH,
        "sw" * 8 + "sf" + "." * 14,
        20 * 128 * B,
        [(512, 8 * 20 * 128 * B)],
        9 * 5120 * 19 * B,
    ),
    ("PLaMo 2", PLAMO_2, "sfsf", 2 * 4 * 256 * B, [], 2 * (8192 * 3 + 64 * 128 * 64) * B),
    ("PLaMo 2, fewer layers than half a step", {**PLAMO_2, "mamba_step": 8}, "sssf", 4 * 256 * B, [], 3 * 548_864 * B),
    (
        "Ring linear, a last group that is not whole: softmax",
        {**RING_LINEAR, "num_hidden_layers": 8},
        "ssssffff",
        4 * 4 * 256 * B,
        [],
        4 * 16 * 128 * 128 * B,
    ),
    (
        "Ling 2.5, a last group that is not whole: linear beside latent attention",
        {**RING_LINEAR, "num_hidden_layers": 8, "kv_lora_rank": 512, "qk_rope_head_dim": 64},
        "sssslsss",
        576 * B,
        [],
        7 * 16 * 128 * 128 * B,
    ),
    (
        "Zamba, hybrid layers by period: counted from the fourth layer, after one in the third",
        ZAMBA,
        "ssbsbsssb",
        3 * 4 * 2 * 64 * B,
        [],
        9 * 256 * (3 + 16) * B,
    ),
    (
        "JetMoE, whose experts bring the query heads",
        {"model_type": "jetmoe", "num_hidden_layers": 24, "hidden_size": 2048, "kv_channels": 128},
        "f" * 24,
        24 * 16 * 256 * B,
        [],
        0,
    ),
    ("Ring linear", RING_LINEAR, "ssssf" * 4, 4 * 4 * 256 * B, [], 16 * 16 * 128 * 128 * B),
    ("OLMo hybrid", OLMO_HYBRID, "sssf", 30 * 256 * B, [], 3 * (30 * (2 * 96 + 192) * 3 + 30 * 96 * 192) * B),
    ("Yuan 2", YUAN, "b" * 24, 24 * 4096 * B, [], 24 * 2 * 2048 * B),
    ("RWKV-6", {"model_type": "rwkv6", "num_hidden_layers": 2, "hidden_size": 2048}, "ss", 0, [], 2 * 2048 * 66 * 4),
    ("RWKV-7", {"model_type": "rwkv7", "num_hidden_layers": 2, "hidden_size": 2048}, "ss", 0, [], 2 * 2048 * 66 * 4),
    (
        "OpenELM",
        {
            "model_type": "openelm",
            "num_transformer_layers": 2,
            "num_kv_heads": [3, 5],
            "head_dim": 64,
            "model_dim": 1280,
        },
        "ff",
        8 * 128 * B,
        [],
        0,
    ),
    (
        "DeciLM 7B",
        {
            "model_type": "deci",
            "num_hidden_layers": 2,
            "num_attention_heads": 32,
            "hidden_size": 4096,
            "num_key_value_heads_per_layer": [4, 1],
        },
        "ff",
        5 * 256 * B,
        [],
        0,
    ),
    (
        "DBRX",
        {"model_type": "dbrx", "n_layers": 40, "n_heads": 48, "d_model": 6144, "attn_config": {"kv_n_heads": 8}},
        "f" * 40,
        40 * 8 * 256 * B,
        [],
        0,
    ),
    ("GPT-J", {"model_type": "gptj", "n_layer": 28, "n_head": 16, "n_embd": 4096}, "f" * 28, 28 * 8192 * B, [], 0),
    (
        "BLOOM",
        {"model_type": "bloom", "n_layer": 70, "num_attention_heads": 112, "n_embed": 14336},
        "f" * 70,
        70 * 2 * 14336 * B,
        [],
        0,
    ),
    (
        "Qwen2-Audio, whose text part says nothing",
        {"model_type": "qwen2_audio", "audio_config": {}, "text_config": {"model_type": "qwen2"}},
        "f" * 32,
        32 * 8192 * B,
        [],
        0,
    ),
    (
        "InternVL",
        {
            "model_type": "internvl_chat",
            "llm_config": {
                "architectures": ["InternLM2ForCausalLM"],
                "num_hidden_layers": 32,
                "num_attention_heads": 32,
                "num_key_value_heads": 8,
                "hidden_size": 4096,
            },
        },
        "f" * 32,
        131_072,
        [],
        0,
    ),
    (
        "DeepSeek-VL2 tiny, without a latent",
        {
            "model_type": "deepseek_vl_v2",
            "hidden_size": 7,
            "language_config": {
                "model_type": "deepseek_v2",
                "use_mla": False,
                "kv_lora_rank": None,
                "num_hidden_layers": 12,
                "num_attention_heads": 10,
                "num_key_value_heads": 10,
                "hidden_size": 1280,
            },
        },
        "f" * 12,
        12 * 2560 * B,
        [],
        0,
    ),
    (
        "Step 3.5, lists longer by the draft layers",
        {
            "model_type": "step3p5",
            "num_hidden_layers": 2,
            "num_nextn_predict_layers": 1,
            "num_attention_heads": 64,
            "num_attention_groups": 8,
            "hidden_size": 4096,
            "head_dim": 128,
            "sliding_window": 512,
            "max_position_embeddings": 262_144,
            "layer_types": ["full_attention", "sliding_attention", "sliding_attention"],
            "attention_other_setting": {"num_attention_heads": 96, "num_attention_groups": 4, "head_dim": 128},
        },
        "fw",
        8 * 256 * B,
        [(512, 4 * 256 * B)],
        0,
    ),
    (
        "ModernBERT decoder",
        {"model_type": "modernbert-decoder", "num_hidden_layers": 3, "num_attention_heads": 12, "hidden_size": 768},
        "fww",
        1536 * B,
        [(64, 2 * 1536 * B)],
        0,
    ),
    (
        "a draft model reads like the layer it is",
        {
            "architectures": ["LlamaForCausalLMEagle3"],
            "num_hidden_layers": 1,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "hidden_size": 4096,
        },
        "f",
        4096,
        [],
        0,
    ),
]


@pytest.mark.parametrize(
    ("config", "expected_letters", "growing", "limits", "state"),
    [row[1:] for row in ELSEWHERE],
    ids=[row[0] for row in ELSEWHERE],
)
def test_families_without_a_bundled_file(
    config: Change, expected_letters: str, growing: int, limits: list[tuple[int, int]], state: int
) -> None:
    architecture = read_config(config)
    found = terms(architecture)
    assert letters(architecture) == expected_letters
    assert found.growing_bytes_per_token == growing
    assert [(limit.limit_tokens, limit.bytes_per_token) for limit in found.limited] == limits
    assert found.state_bytes == state


def test_encoder_decoders_without_a_bundled_file() -> None:
    marian = {"model_type": "marian", "decoder_layers": 6, "decoder_attention_heads": 8, "d_model": 512}
    found = terms(read_config({**marian, "max_position_embeddings": 512, "encoder_layers": 3}))
    assert (found.growing_bytes_per_token, found.cross_bytes) == (6 * 1024 * B, 512 * 6 * 1024 * B)
    mt5 = {"model_type": "mt5", "num_layers": 8, "num_decoder_layers": 4, "num_heads": 6, "d_kv": 64, "d_model": 512}
    found = terms(read_config(mt5))
    assert (found.growing_bytes_per_token, found.cross_bytes) == (4 * 768 * B, 512 * 4 * 768 * B)


def test_jetmoe_counts_query_heads_as_its_class_does() -> None:
    config = {"model_type": "jetmoe", "num_hidden_layers": 1, "hidden_size": 2048, "num_key_value_heads": 16}
    assert read_config(config).attention_heads == 32
    assert read_config({**config, "num_experts_per_tok": 3}).attention_heads == 48
    assert read_config({**config, "num_attention_heads": 64}).attention_heads == 64


def test_the_smallest_of_several_lengths_is_the_models_own() -> None:
    config = {"max_position_embeddings": 32_768, "seq_length": 8192, "model_max_length": 16_384}
    assert changed("Qwen/Qwen3-8B", config).max_context_tokens == 8192
    assert changed("Qwen/Qwen3-8B", {**config, "seq_length": None}).max_context_tokens == 16_384


# --- What the reader of a result must know -------------------------------------------------------------------------

NOTES: list[tuple[str, Change, str]] = [
    ("microsoft/Phi-3-mini-128k-instruct", {}, "window-not-a-limit"),
    ("Qwen/Qwen3.5-4B", {}, "state-dtype-silent"),
    ("deepseek-ai/DeepSeek-V3.2", {}, "draft-layers-not-counted"),
    ("google/gemma-4-E2B-it", {}, "shared-layers"),
    ("google/gemma-4-26B-A4B", {}, "keys-as-values-stored-twice"),
    ("openai/whisper-tiny", {}, "encoder-tokens-assumed"),
    ("Qwen/Qwen3-VL-8B-Instruct", {}, "media-tokens"),
    ("Qwen/Qwen2.5-Omni-7B-AWQ", {}, "media-tokens"),
    ("google/gemma-3-4b-it", {}, "class-defaults"),
    ("nvidia/GLM-5.1-NVFP4", {}, "kv-scheme"),
    ("openbmb/MiniCPM3-4B", {}, "latent-expanded"),
    ("deepseek-ai/DeepSeek-V4-Flash", {}, "packed-cache"),
    ("Qwen/Qwen3-8B", {"kv_cache_scheme": {"num_bits": 8, "type": "float"}}, "kv-scheme-not-read"),
]


@pytest.mark.parametrize(("model", "change", "code"), NOTES, ids=[row[2] for row in NOTES])
def test_notes(model: str, change: Change, code: str) -> None:
    assert code in {note.code for note in changed(model, change).notes}


def test_an_ordinary_model_needs_no_note() -> None:
    assert not changed("Qwen/Qwen3-32B", {}).notes


def test_pure_state_models_have_no_query_heads() -> None:
    assert changed("mistralai/Mamba-Codestral-7B-v0.1", {}).attention_heads is None
    assert changed("Qwen/Qwen3-Next-80B-A3B-Instruct", {}).attention_heads == 16


SCHEMES: list[tuple[Change, str | None]] = [
    ({"quant_method": "modelopt", "kv_cache_scheme": {"num_bits": 8, "type": "float", "dynamic": False}}, "fp8"),
    ({"quant_method": "modelopt_fp4", "kv_cache_scheme": {"num_bits": 4, "type": "float"}}, "nvfp4"),
    ({"quant_method": "modelopt", "kv_cache_quant_algo": "FP8"}, "fp8"),
    ({"quant_method": "modelopt", "quantization": {"kv_cache_quant_algo": "NVFP4"}}, "nvfp4"),
    ({"producer": {"name": "modelopt"}, "quantization": {"kv_cache_quant_algo": "FP8"}}, "fp8"),
    ({"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8, "type": "float"}}, "fp8"),
    ({"quant_method": "compressed-tensors", "kv_cache_scheme": None}, None),
    ({"quant_method": "modelopt", "kv_cache_scheme": {"num_bits": 8, "type": "int"}}, None),
    ({"quant_method": "modelopt", "kv_cache_scheme": {"num_bits": 8, "type": "float", "dynamic": True}}, None),
    ({"quant_method": "modelopt", "kv_cache_scheme": {"num_bits": 8, "type": "float"}}, None),  # not said to be static
    ({"quant_method": "modelopt", "kv_cache_quant_algo": "INT8"}, None),
    ({"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8, "type": "int"}}, None),
    ({"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 4, "type": "float"}}, None),
    # vLLM asks compressed-tensors for bits and kind only (attention.py:281-291)
    (
        {"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8, "type": "float", "dynamic": True}},
        "fp8",
    ),
    ({"quant_method": "modelopt", "kv_cache_quant_algo": None}, None),
    ({"quant_method": "fp8", "activation_scheme": "dynamic"}, None),  # FP8 weights
    ({"quant_method": "fp8", "kv_cache_scheme": {"num_bits": 8, "type": "float"}}, None),
]


@pytest.mark.parametrize(("quantization", "expected"), SCHEMES, ids=lambda value: str(value)[:60])
def test_the_cache_type_a_checkpoint_asks_for(quantization: Change, expected: str | None) -> None:
    architecture = changed("Qwen/Qwen3-8B", {"quantization_config": quantization})
    scheme = architecture.kv_scheme
    assert (scheme.dtype if scheme else None) == expected
    inner = quantization.get("quantization", quantization)
    asked = inner.get("kv_cache_scheme") or inner.get("kv_cache_quant_algo")
    codes = {note.code for note in architecture.notes}
    assert codes == ({"kv-scheme"} if scheme else {"kv-scheme-not-read"} if asked else set())
    if scheme:
        assert scheme.path.startswith("$.quantization_config.")
