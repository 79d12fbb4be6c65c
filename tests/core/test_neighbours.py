"""Published models that are not bundled: families near the bundled ones, reduced to the fields that decide.

Expected values are arithmetic over the published sizes; the last column says where the rule was read.
"""

from typing import Any, NamedTuple

import pytest

from kvviz.core.architecture import read_config, used_fields
from kvviz.core.cache import content, letter
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import ConfigError, UnknownArchitectureError

B = 2  # bytes of bf16
F32 = 4


class Case(NamedTuple):
    """One reduced config and what it must give."""

    name: str
    config: dict[str, Any]
    letters: str
    growing: int
    source: str
    limited: tuple[tuple[int, int], ...] = ()
    """Limit in tokens, bytes per token within it."""
    state: int = 0
    cross: int = 0


def plain(
    model_type: str,
    layers: int,
    hidden: int,
    heads: int,
    kv: int | None = None,
    /,
    **more: object,
) -> dict[str, Any]:
    """The usual field names."""
    config = {
        "model_type": model_type,
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        **more,
    }
    return config if kv is None else {**config, "num_key_value_heads": kv}


def nested(model_type: str, text: dict[str, Any], /, part: str = "text_config") -> dict[str, Any]:
    """A multimodal file; the vision sizes are a trap."""
    return {
        "model_type": model_type,
        part: text,
        "vision_config": {"num_hidden_layers": 27, "hidden_size": 1152, "num_attention_heads": 16},
    }


def kv(layers: int, heads: int, dim: int) -> int:
    """Bytes per token of ``layers`` ordinary attention layers in bf16."""
    return layers * heads * 2 * dim * B


NAS_BLOCK = {"n_heads_in_group": 16, "no_op": False, "replace_with_linear": False, "window_length": None}
OPENELM_HEADS = [3] * 5 + [4] * 7 + [5] * 4
DECI_HEADS = [4] * 16 + [2] * 8 + [1] * 8
EIGHT_H = "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-"
NANO_V2 = "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-"
ZAMBA2_HYBRID = (5, 11, 17, 23, 29, 35)
GROK_TEXT = plain("git", 64, 8192, 64, 8, architectures=["Grok1ForCausalLM"], head_dim=128, sliding_window_size=-1)
QWEN2_TEXT = plain("qwen2", 28, 3584, 28, 4, use_sliding_window=False, sliding_window=32768)


def mamba2(inner: int, groups: int, heads: int, dim: int, state: int, *, wide: int = B) -> int:
    """Bytes of one Mamba-2 layer's state: three convolution columns, and the recurrent part in ``wide`` bytes."""
    return (inner + 2 * groups * state) * 3 * B + heads * dim * state * wide


CASES = [
    # --- One head count, many names ---------------------------------------------------------------------------------
    Case(
        "OpenELM-270M",
        {
            "model_type": "openelm",
            "num_transformer_layers": 16,
            "model_dim": 1280,
            "head_dim": 64,
            "num_kv_heads": OPENELM_HEADS,
            "num_query_heads": [12] * 5 + [16] * 7 + [20] * 4,
            "max_context_length": 2048,
        },
        "f" * 16,
        sum(OPENELM_HEADS) * 128 * B,
        "KV cache reference A: a list, one entry a layer",
    ),
    Case(
        "DeciLM-7B",
        plain("deci", 32, 4096, 32, num_key_value_heads_per_layer=DECI_HEADS),
        "f" * 32,
        sum(DECI_HEADS) * 256 * B,
        "modeling_decilm.py: one entry a layer",
    ),
    Case(
        "Nemotron Ultra 253B, four of its layers",
        plain(
            "nemotron-nas",
            4,
            16384,
            128,
            num_key_value_heads=None,
            block_configs=[{"attention": NAS_BLOCK}, {"attention": {**NAS_BLOCK, "no_op": True}}] * 2,
        ),
        "f.f.",
        kv(2, 8, 128),
        "vLLM model_arch_config_convertor.py:536-545",
    ),
    Case(
        "DBRX",
        {"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "attn_config": {"kv_n_heads": 8}},
        "f" * 40,
        kv(40, 8, 128),
        "vLLM model_arch_config_convertor.py:527-530",
    ),
    Case(
        "Falcon-7B",
        plain("falcon", 32, 4544, 71, multi_query=True, new_decoder_architecture=False),
        "f" * 32,
        8192,
        "KV cache reference I",
    ),
    Case(
        "Falcon-7B, first file",
        {"model_type": "RefinedWebModel", "n_layer": 32, "hidden_size": 4544, "n_head": 71, "multi_query": True},
        "f" * 32,
        8192,
        "KV cache reference I",
    ),
    Case(
        "Falcon-40B, first file",
        {"model_type": "RefinedWeb", "n_layer": 60, "hidden_size": 8192, "n_head": 128, "n_head_kv": 8},
        "f" * 60,
        kv(60, 8, 64),
        "KV cache reference A",
    ),
    Case(
        "Falcon-11B",
        plain("falcon", 60, 4096, 32, multi_query=True, new_decoder_architecture=True, num_kv_heads=8),
        "f" * 60,
        kv(60, 8, 128),
        "transformers: FalconAttention",
    ),
    Case(
        "Falcon-RW-1B",
        plain("falcon", 24, 2048, 32, multi_query=False, new_decoder_architecture=False),
        "f" * 24,
        kv(24, 32, 64),
        "transformers: FalconAttention",
    ),
    Case(
        "OPT-350m",
        plain("opt", 24, 1024, 16, word_embed_proj_dim=512),
        "f" * 24,
        kv(24, 16, 64),
        "transformers, built on the meta device",
    ),
    Case(
        "BLOOM",
        {"model_type": "bloom", "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112},
        "f" * 70,
        kv(70, 112, 128),
        "transformers, built on the meta device",
    ),
    Case(
        "GPT-Neo 2.7B: masks by a window, and keeps every token",
        {
            "model_type": "gpt_neo",
            "hidden_size": 2560,
            "num_layers": 32,
            "num_heads": 20,
            "attention_layers": ["global", "local"] * 16,
            "window_size": 256,
        },
        "f" * 32,
        kv(32, 20, 128),
        "transformers, built on the meta device",
    ),
    Case(
        "XGLM-1.7B",
        {"model_type": "xglm", "d_model": 2048, "attention_heads": 16, "num_layers": 24},
        "f" * 24,
        kv(24, 16, 128),
        "transformers, built on the meta device",
    ),
    Case(
        "ChatGLM-6B: no groups, no kv_channels",
        {"model_type": "chatglm", "num_layers": 28, "hidden_size": 4096, "num_attention_heads": 32},
        "f" * 28,
        kv(28, 32, 128),
        "modeling_chatglm.py of the first version",
    ),
    Case(
        "PLaMo-13B: five KV heads, whatever num_key_value_heads says",
        plain("plamo", 40, 5120, 40, 40, n_shared_head=8),
        "f" * 40,
        kv(40, 5, 128),
        "modeling_plamo.py: ceil(query heads / n_shared_head); llama.cpp's converter writes 5",
    ),
    Case(
        "OLMo-1B, first file",
        {"model_type": "hf_olmo", "architectures": ["OLMoForCausalLM"], "d_model": 2048, "n_heads": 16, "n_layers": 16},
        "f" * 16,
        kv(16, 16, 128),
        "transformers: OlmoConfig",
    ),
    Case("Grok-2", GROK_TEXT, "f" * 64, kv(64, 8, 128), "the class name decides where model_type is of another kind"),
    Case(
        "Step-1",
        plain("step1", 10, 4096, 32, num_attention_groups=4),
        "f" * 10,
        kv(10, 4, 128),
        "vLLM step1.py:95-102",
    ),
    Case(
        "TeleChat 3",
        plain("telechat3", 10, 5120, 40, 8),
        "f" * 10,
        kv(10, 8, 128),
        "vLLM registry.py:215: LlamaForCausalLM",
    ),
    # --- The language part of a file --------------------------------------------------------------------------------
    Case(
        "NVILA",
        {"model_type": "llava_llama", "hidden_size": 3584, "llm_cfg": QWEN2_TEXT},
        "f" * 28,
        kv(28, 4, 128),
        "VILA keeps its language model in llm_cfg",
    ),
    Case(
        "a draft of the speculators library",
        {
            "architectures": ["Eagle3Speculator"],
            "speculators_model_type": "eagle3",
            "transformer_layer_config": plain("llama", 1, 4096, 32, 8),
        },
        "f",
        kv(1, 8, 128),
        "vLLM transformers_utils/configs/speculators",
    ),
    Case(
        "an EAGLE-3 draft that carries its target's model_type",
        plain("deepseek_v3", 1, 7168, 64, 64, head_dim=128, architectures=["LlamaForCausalLMEagle3"]),
        "f",
        kv(1, 64, 128),
        "SpecForge: every LlamaForCausalLMEagle3 is a Llama layer",
    ),
    Case(
        "DeepSeek-VL2-tiny: latent attention switched off",
        nested(
            "deepseek_vl_v2",
            plain("deepseek_v2", 12, 1280, 10, 10, kv_lora_rank=None, qk_rope_head_dim=0, use_mla=False, v_head_dim=0),
            "language_config",
        ),
        "f" * 12,
        kv(12, 10, 128),
        "the file's use_mla",
    ),
    Case(
        "DeepSeek-VL-7B: two numbers and the class",
        nested("multi_modality", {"model_type": "llama", "num_hidden_layers": 30}, "language_config"),
        "f" * 30,
        kv(30, 32, 128),
        "transformers: LlamaConfig",
    ),
    Case(
        "Pixtral-12B: query heads left to the class",
        nested(
            "llava",
            {
                "model_type": "mistral",
                "hidden_size": 5120,
                "head_dim": 128,
                "num_hidden_layers": 40,
                "num_key_value_heads": 8,
                "sliding_window": None,
            },
        ),
        "f" * 40,
        kv(40, 8, 128),
        "transformers: MistralConfig",
    ),
    Case(
        "Qwen3-Omni: the thinker, not the talker",
        {
            "model_type": "qwen3_omni_moe",
            "talker_config": {"text_config": plain("qwen3_omni_moe_talker_text", 20, 1024, 16, 2)},
            "thinker_config": {"text_config": plain("qwen3_omni_moe_text", 48, 2048, 32, 4, head_dim=128)},
        },
        "f" * 48,
        kv(48, 4, 128),
        "KV cache reference A",
    ),
    Case(
        "ERNIE-4.5-VL-28B-A3B: the family by its class",
        {
            **plain("ernie4_5_moe_vl", 28, 2560, 20, 4),
            "architectures": ["Ernie4_5_VLMoeForConditionalGeneration"],
            "vision_config": {"hidden_size": 1280},
        },
        "f" * 28,
        kv(28, 4, 128),
        "vLLM registry.py:401",
    ),
    Case(
        "Step-3",
        nested("step3_vl", plain("step3_text", 61, 7168, 64, num_attention_groups=1, head_dim=256)),
        "f" * 61,
        kv(61, 1, 256),
        "KV cache reference A: num_attention_groups",
    ),
    # --- Windows ----------------------------------------------------------------------------------------------------
    Case(
        "Gemma 3 12B",
        nested("gemma3", plain("gemma3_text", 48, 3840, 16, 8, sliding_window=1024)),
        "wwwwwf" * 8,
        kv(8, 8, 256),
        "transformers, built on the meta device",
        ((1024, kv(40, 8, 256)),),
    ),
    Case(
        "Gemma 3n E2B",
        nested(
            "gemma3n",
            plain(
                "gemma3n_text",
                30,
                2048,
                8,
                2,
                head_dim=256,
                num_kv_shared_layers=10,
                sliding_window=512,
                layer_types=(["sliding_attention"] * 4 + ["full_attention"]) * 6,
            ),
        ),
        "wwwwf" * 4 + "." * 10,
        kv(4, 2, 256),
        "transformers, built on the meta device",
        ((512, kv(16, 2, 256)),),
    ),
    Case(
        "PaliGemma 2 3B",
        nested("paligemma", plain("gemma2", 26, 2304, 8, 4)),
        "wf" * 13,
        kv(13, 4, 256),
        "transformers: Gemma2Config",
        ((4096, kv(13, 4, 256)),),
    ),
    Case(
        "Command R7B",
        plain("cohere2", 32, 4096, 32, 8, head_dim=128, sliding_window=4096, sliding_window_pattern=4),
        "wwwf" * 8,
        32768,
        "KV cache reference I",
        ((4096, 98304),),
    ),
    Case(
        "K-EXAONE: the pattern as letters",
        plain("exaone_moe", 48, 6144, 64, 8, head_dim=128, sliding_window=128, sliding_window_pattern="LLLG"),
        "wwwf" * 12,
        kv(12, 8, 128),
        "transformers, built on the meta device",
        ((128, kv(36, 8, 128)),),
    ),
    Case(
        "EXAONE 4.0 1.2B: windows switched off",
        plain("exaone4", 30, 2048, 32, 8, sliding_window=None, sliding_window_pattern=None),
        "f" * 30,
        kv(30, 8, 64),
        "transformers: Exaone4Config",
    ),
    Case(
        "EXAONE 4.5: a model_type of its own",
        nested("exaone4_5", plain("exaone4_5_text", 64, 5120, 40, 8, max_position_embeddings=262144)),
        "wwwf" * 16,
        kv(16, 8, 128),
        "transformers: Exaone4Config",
        ((4096, kv(48, 8, 128)),),
    ),
    Case(
        "Phi-3-medium-4k",
        plain("phi3", 40, 5120, 40, 10, sliding_window=2047, max_position_embeddings=4096),
        "w" * 40,
        0,
        "KV cache reference C",
        ((2047, kv(40, 10, 128)),),
    ),
    Case(
        "Phi-3.5-MoE: a window as long as the model's own maximum",
        plain("phimoe", 32, 4096, 32, 8, sliding_window=131072, max_position_embeddings=131072),
        "f" * 32,
        kv(32, 8, 128),
        "KV cache reference C",
    ),
    Case(
        "PLaMo 3: its own names",
        plain("plamo3", 24, 2048, 16, 2, head_dim=128, window_size=2048, sliding_window_pattern=8),
        "wwwwwwwf" * 3,
        kv(3, 2, 128),
        "llama.cpp plamo3.cpp, vLLM plamo3.py",
        ((2048, kv(21, 2, 128)),),
    ),
    Case(
        "PLaMo 3: a window for each layer",
        plain("plamo3", 4, 2048, 16, 2, head_dim=128, sliding_window=[2048, 2048, 2048, None]),
        "wwwf",
        kv(1, 2, 128),
        "vLLM plamo3.py:67",
        ((2048, kv(3, 2, 128)),),
    ),
    Case(
        "Llama Guard 4: layers listed",
        nested("llama4", plain("llama4_text", 48, 5120, 40, 8, head_dim=128, no_rope_layers=[1, 1, 1, 0] * 12)),
        "cccf" * 12,
        49152,
        "transformers: Llama4TextConfig",
        ((8192, 147456),),
    ),
    Case(
        "StarCoder2-15B",
        plain("starcoder2", 40, 6144, 48, 4, sliding_window=4096, max_position_embeddings=16384),
        "w" * 40,
        0,
        "transformers, built on the meta device",
        ((4096, kv(40, 4, 128)),),
    ),
    Case(
        "MiniMax-M3 as transformers writes it",
        nested(
            "minimax_m3_vl",
            plain(
                "minimax_m3_vl_text",
                3,
                6144,
                64,
                4,
                head_dim=128,
                layer_types=["full_attention", "minimax_m3_sparse", "minimax_m3_sparse"],
            ),
        ),
        "fFF",
        kv(3, 4, 128) + 2 * 128 * B,
        "transformers: configuration_minimax_m3_vl.py:113-142",
    ),
    # --- States -----------------------------------------------------------------------------------------------------
    Case(
        "Nemotron-H-8B: fp32 where the file is silent",
        plain(
            "nemotron_h",
            52,
            4096,
            32,
            8,
            architectures=["NemotronHForCausalLM"],
            hybrid_override_pattern=EIGHT_H,
            mamba_num_heads=128,
            mamba_head_dim=64,
            n_groups=8,
            ssm_state_size=128,
            conv_kernel=4,
        ),
        EIGHT_H.replace("M", "s").replace("*", "f").replace("-", "."),
        kv(4, 8, 128),
        "KV cache reference D",
        state=24 * mamba2(8192, 8, 128, 64, 128, wide=F32),
    ),
    Case(
        "Nemotron Nano 9B v2: 4,480 is not 40 x 128; other names of two sizes",
        plain(
            "nemotron_h",
            56,
            4480,
            40,
            8,
            architectures=["NemotronHForCausalLM"],
            head_dim=128,
            hybrid_override_pattern=NANO_V2,
            mamba_num_heads=128,
            mamba_head_dim=80,
            mamba_num_groups=4,
            mamba_state_dim=64,
            conv_kernel=4,
        ),
        NANO_V2.replace("M", "s").replace("*", "f").replace("-", "."),
        kv(4, 8, 128),
        "KV cache reference D",
        state=NANO_V2.count("M") * mamba2(10240, 4, 128, 80, 64, wide=F32),
    ),
    Case(
        "Nemotron Nano Omni: a wrapper for which vLLM leaves the state in the model's type",
        {
            "model_type": "NemotronH_Nano_Omni_Reasoning_V3",
            "architectures": ["NemotronH_Nano_Omni_Reasoning_V3"],
            "llm_config": plain(
                "nemotron_h",
                2,
                2688,
                32,
                2,
                head_dim=128,
                hybrid_override_pattern="M*",
                mamba_num_heads=64,
                mamba_head_dim=64,
                n_groups=8,
                ssm_state_size=128,
                conv_kernel=4,
                mamba_ssm_cache_dtype="float32",
            ),
        },
        "sf",
        kv(1, 2, 128),
        "vLLM model_executor/models/config.py: MODELS_CONFIG_MAP",
        state=mamba2(4096, 8, 64, 64, 128),
    ),
    Case(
        "Jamba 1.5 Large",
        plain(
            "jamba",
            72,
            8192,
            64,
            8,
            attn_layer_offset=4,
            attn_layer_period=8,
            mamba_d_conv=4,
            mamba_d_state=16,
            mamba_expand=2,
        ),
        "ssssfsss" * 9,
        kv(9, 8, 128),
        "KV cache reference D",
        state=63 * 16384 * (3 + 16) * B,
    ),
    Case(
        "Mamba-130m",
        {
            "model_type": "mamba",
            "hidden_size": 768,
            "intermediate_size": 1536,
            "num_hidden_layers": 24,
            "state_size": 16,
            "conv_kernel": 4,
        },
        "s" * 24,
        0,
        "KV cache reference D",
        state=24 * 1536 * (3 + 16) * B,
    ),
    Case(
        "Mamba2-130m",
        {
            "model_type": "mamba2",
            "hidden_size": 768,
            "num_hidden_layers": 24,
            "num_heads": 24,
            "head_dim": 64,
            "n_groups": 1,
            "state_size": 128,
            "conv_kernel": 4,
            "expand": 2,
        },
        "s" * 24,
        0,
        "KV cache reference D",
        state=24 * mamba2(1536, 1, 24, 64, 128),
    ),
    Case(
        "Zamba-7B: Mamba-1 in every layer",
        plain(
            "zamba",
            76,
            3712,
            16,
            16,
            attention_head_dim=464,
            attn_layer_period=6,
            attn_layer_offset=4,
            mamba_d_conv=4,
            mamba_d_state=16,
            mamba_expand=2,
        ),
        "ssbssssb" + "sssssb" * 11 + "ss",
        kv(13, 16, 464),
        "transformers, built on the meta device",
        state=76 * 7424 * (3 + 16) * B,
    ),
    Case(
        "Zamba2-1.2B",
        plain(
            "zamba2",
            38,
            2048,
            32,
            32,
            attention_head_dim=128,
            kv_channels=64,
            mamba_d_state=64,
            mamba_expand=2,
            mamba_headdim=64,
            mamba_ngroups=1,
            layers_block_type=["hybrid" if i in ZAMBA2_HYBRID else "mamba" for i in range(38)],
        ),
        "sssssb" * 6 + "ss",
        kv(6, 32, 128),
        "KV cache reference D",
        state=38 * mamba2(4096, 1, 64, 64, 64),
    ),
    Case(
        "Bamba-9B",
        plain(
            "bamba",
            32,
            4096,
            32,
            8,
            attn_layer_indices=[9, 18, 27],
            mamba_d_conv=4,
            mamba_d_head=64,
            mamba_d_state=128,
            mamba_expand=2,
            mamba_n_groups=1,
            mamba_n_heads=128,
        ),
        "s" * 9 + "f" + "s" * 8 + "f" + "s" * 8 + "f" + "s" * 4,
        kv(3, 8, 128),
        "KV cache reference D",
        state=29 * mamba2(8192, 1, 128, 64, 128),
    ),
    Case(
        "PLaMo 2 8B",
        plain(
            "plamo2",
            32,
            4096,
            32,
            4,
            hidden_size_per_head=128,
            mamba_step=2,
            mamba_num_heads=64,
            mamba_d_state=64,
            mamba_d_conv=4,
        ),
        "sf" * 16,
        kv(16, 4, 128),
        "KV cache reference D",
        state=16 * mamba2(8192, 0, 64, 128, 64),
    ),
    Case(
        "Phi-4-mini-flash",
        plain(
            "phi4flash",
            32,
            2560,
            40,
            20,
            sliding_window=512,
            mamba_d_state=16,
            mamba_d_conv=4,
            mamba_expand=2,
            max_position_embeddings=262144,
        ),
        "sw" * 8 + "sf" + "." * 14,
        kv(1, 20, 64),
        "KV cache reference E",
        ((512, kv(8, 20, 64)),),
        state=9 * 5120 * (3 + 16) * B,
    ),
    Case(
        "Ring-mini-linear 2.0",
        plain("bailing_moe_linear", 20, 2048, 16, 4, head_dim=128, layer_group_size=5),
        "ssssf" * 4,
        kv(4, 4, 128),
        "modeling_bailing_moe_linear_v2.py",
        state=16 * 16 * 128 * 128 * B,
    ),
    Case(
        "Ling 3 with a last group that is not whole",
        plain(
            "bailing_hybrid",
            6,
            2560,
            32,
            32,
            head_dim=128,
            kv_lora_rank=512,
            qk_rope_head_dim=64,
            layer_group_size=4,
            short_conv_kernel_size=4,
        ),
        "ssslll",
        3 * 576 * B,
        "vLLM bailing_moe_v3.py:131-136",
        state=3 * 32 * (3 * 128 * 3 * B + 128 * 128 * F32),
    ),
    Case(
        "LFM2-350M, first file",
        plain("lfm2", 16, 1024, 16, 8, conv_L_cache=3, conv_dim=1024, full_attn_idxs=[2, 5, 8, 10, 12, 14]),
        "ssfssfssfsfsfsfs",
        kv(6, 8, 64),
        "transformers, built on the meta device",
        state=10 * 1024 * 2 * B,
    ),
    Case(
        "Yuan 2 M32: heads wider than hidden over heads, and two rows of local filtering",
        plain("yuan", 24, 2048, 16, attention_projection_size=4096),
        "b" * 24,
        kv(24, 16, 256),
        "KV cache reference D",
        state=24 * 2 * 2048 * B,
    ),
    Case(
        "RWKV-4 169M",
        {"model_type": "rwkv", "hidden_size": 768, "attention_hidden_size": 768, "num_hidden_layers": 12},
        "s" * 12,
        0,
        "transformers: RwkvModel.forward, five rows a layer",
        state=12 * 5 * 768 * F32,
    ),
    Case(
        "RWKV-6 1.6B",
        {
            "model_type": "rwkv6",
            "hidden_size": 2048,
            "head_size": 64,
            "num_attention_heads": 64,
            "num_hidden_layers": 24,
        },
        "s" * 24,
        0,
        "KV cache reference D",
        state=24 * (2 * 2048 + 2048 * 64) * F32,
    ),
    Case(
        "RWKV-7 191M",
        {"model_type": "rwkv7", "hidden_size": 768, "head_dim": 64, "num_heads": None, "num_hidden_layers": 12},
        "s" * 12,
        0,
        "KV cache reference D",
        state=12 * (2 * 768 + 768 * 64) * F32,
    ),
    # --- Sublayers, sharing, encoders ---------------------------------------------------------------------------------
    Case(
        "LongCat-Flash-Chat, by its class",
        {
            "architectures": ["LongcatFlashForCausalLM"],
            "num_layers": 28,
            "hidden_size": 6144,
            "num_attention_heads": 64,
            "kv_lora_rank": 512,
            "qk_rope_head_dim": 64,
        },
        "l" * 56,
        64512,
        "KV cache reference I",
    ),
    Case(
        "Hunyuan-Large: every second layer reads its neighbour's cache",
        plain("hunyuan", 64, 6400, 80, 8, attention_head_dim=128, use_cla=True, cla_share_factor=2),
        "f." * 32,
        kv(32, 8, 128),
        "KV cache reference E",
    ),
    Case(
        "Llama 3.2 90B Vision",
        {
            "model_type": "mllama",
            "text_config": plain("mllama_text_model", 100, 8192, 64, 8, cross_attention_layers=[*range(3, 100, 5)]),
            "vision_config": {"image_size": 560, "patch_size": 14, "max_num_tiles": 4},
        },
        "fffxf" * 20,
        kv(80, 8, 128),
        "KV cache reference E",
        cross=6404 * kv(20, 8, 128),
    ),
    Case(
        "Whisper large v3",
        {"model_type": "whisper", "d_model": 1280, "decoder_layers": 32, "decoder_attention_heads": 20},
        "X" * 32,
        kv(32, 20, 64),
        "KV cache reference E",
        cross=1500 * kv(32, 20, 64),
    ),
    Case(
        "Flan-UL2: 16 heads of 256",
        {"model_type": "t5", "d_model": 4096, "d_kv": 256, "num_heads": 16, "num_layers": 32, "n_positions": 512},
        "X" * 32,
        kv(32, 16, 256),
        "KV cache reference E",
        cross=512 * kv(32, 16, 256),
    ),
    Case(
        "opus-mt",
        {
            "model_type": "marian",
            "d_model": 512,
            "decoder_layers": 6,
            "decoder_attention_heads": 8,
            "max_position_embeddings": 512,
        },
        "X" * 6,
        kv(6, 8, 64),
        "transformers, built on the meta device",
        cross=512 * kv(6, 8, 64),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_neighbours(case: Case) -> None:
    architecture = read_config(case.config)
    terms = content(architecture.layers, KV_DTYPES["bf16"])
    assert "".join(letter(layer) for layer in architecture.layers) == case.letters
    assert terms.growing_bytes_per_token == case.growing
    assert tuple((limit.limit_tokens, int(limit.bytes_per_token)) for limit in terms.limited) == case.limited
    assert (terms.state_bytes, terms.cross_bytes) == (case.state, case.cross)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_used_fields_read_the_same(case: Case) -> None:
    assert read_config(used_fields(case.config)) == read_config(case.config)


@pytest.mark.parametrize(
    "model_type", ["recurrent_gemma", "moonshine", "inkling_text", "qwen4_exp_text", "zaya", "xlstm", "hymba", "bert"]
)
def test_what_has_no_rule_is_refused(model_type: str) -> None:
    with pytest.raises(UnknownArchitectureError):
        read_config(plain(model_type, 12, 768, 12, 12))


def test_window_lists_of_two_lengths_are_refused() -> None:
    config = plain("plamo3", 3, 2048, 16, 2, head_dim=128, sliding_window=[2048, 1024, None])
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(config)


def test_a_draft_of_mixed_layers_under_a_plain_name_is_refused() -> None:
    config = plain("qwen3", 5, 7168, 96, 1, kv_lora_rank=512, qk_rope_head_dim=64)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config({**config, "linear_attn_config": {"num_heads": 96, "head_dim": 128, "short_conv_kernel_size": 4}})
