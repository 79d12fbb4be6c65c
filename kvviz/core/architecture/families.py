"""Which rules read which architecture: by ``model_type``, else by class name. Never by a repository's name."""

import re

from kvviz.core.architecture.attention import Reader, read_attention
from kvviz.core.architecture.fields import Fields
from kvviz.core.cache import Layer


def _decoder(text: Fields, root: Fields) -> tuple[Layer, ...]:
    return read_attention(text)


PLAIN_TYPES = (
    *(
        "llama",
        "mistral",
        "mixtral",
        "ministral",
        "ministral3",
        "codellama",
        "yi",
        "aquila",
        "xverse",
        "arcee",
        "solar",
    ),
    *("qwen", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen2_vl_text", "qwen2_5_vl_text", "qwen2_5_omni_text"),
    *("qwen3_vl_text", "qwen3_vl_moe_text", "qwen3_omni_moe_text", "dots1", "dots_ocr"),
    *("gemma", "gemma2", "gemma3_text", "gemma3n_text", "gemma4_text", "gemma4_unified_text", "vaultgemma"),
    *("gpt2", "gpt_neo", "gpt_neox", "gpt_neox_japanese", "gptj", "gpt_bigcode", "gpt_oss", "codegen", "starcoder2"),
    *("phi", "phi-msft", "phi3", "phi3_v", "phi3small", "phi4mm", "phi4_multimodal", "phimoe", "opt", "bloom", "mpt"),
    *("falcon", "RefinedWeb", "RefinedWebModel", "dbrx", "persimmon", "xglm", "biogpt", "ctrl", "openai-gpt"),
    *("chatglm", "glm", "glm4", "glm4_moe", "glm4v_text", "glm4v_moe_text", "glm_ocr_text", "minicpm", "minicpmv"),
    *("minicpmo", "baichuan", "internlm", "internlm2", "internlm3", "orion", "skywork", "telechat", "telechat2"),
    *("cohere", "cohere2", "cohere2_moe", "command-r", "olmo", "olmo2", "olmo3", "olmoe", "flex_olmo", "stablelm"),
    *("stablelm_epoch", "granite", "granitemoe", "granitemoeshared", "granite_swa", "granitemoe_swa", "nemotron"),
    *("nemotron-nas", "deci", "openelm", "exaone", "exaone4", "exaone_moe", "smollm3", "apertus", "ernie4_5"),
    *("ernie4_5_moe", "ernie4_5_vl_moe_text", "hunyuan", "hunyuan_v1_dense", "hunyuan_v1_moe", "hunyuan_vl_text"),
    *("hy_v3", "hyperclovax", "seed_oss", "bitnet", "helium", "diffllama", "jais", "jais2", "jetmoe", "grok-1"),
    *("arctic", "llama4_text", "mimo", "mimo_v2_flash", "mimo_v2", "minimax_m2", "step3_text", "step3p5", "step3p7"),
    *("afmoe", "cwm", "ouro", "bailing_moe", "bailing_moe_v2", "plamo", "plamo3", "cpmant", "gptsan", "decilm"),
    *("modernbert-decoder", "nanochat", "solar_open", "sarvam_moe", "iquestcoder", "mellum", "laguna", "teleflm"),
    *("chameleon", "emu3_text_model", "aria_text", "moshi", "paddleocr_vl_text", "idefics", "molmo", "youtu_vl"),
)
"""Decoders whose every layer is attention and whose fields the generic rules of ``attention`` read."""

READERS: dict[str, Reader] = dict.fromkeys(PLAIN_TYPES, _decoder)

CLASS_ALIASES: dict[str, str] = {}
"""Class names that do not follow from their model type."""

CLASS_ENDING = re.compile(r"(ForCausalLM|LMHeadModel|ForConditionalGeneration|CausalLM|Model)(Eagle3?)?$")

BY_CLASS = {model_type.replace("_", "").replace("-", ""): model_type for model_type in reversed(list(READERS))}
"""``qwen2moe`` -> ``qwen2_moe``: how class names are looked up."""


def find_family(model_type: str, class_names: tuple[str, ...]) -> str | None:
    """The key of READERS for an architecture, or None where there are no rules for it."""
    for candidate in (model_type, f"{model_type}_text"):
        if candidate in READERS:
            return candidate
    for name in class_names:
        bare = CLASS_ENDING.sub("", name)
        for candidate in (bare, bare.lower(), f"{bare.lower()}text"):
            family = CLASS_ALIASES.get(candidate) or BY_CLASS.get(candidate)
            if family:
                return family
    return None
