"""Which rules read which architecture: by ``model_type``, else by class name. Never by a repository's name."""

import re

from kvviz.core.architecture.attention import Reader
from kvviz.core.architecture.encoder import read_bart, read_mllama, read_t5
from kvviz.core.architecture.entered import ENTERED_TYPE, read_entered
from kvviz.core.architecture.latent import read_decoder, read_deepseek_v4, read_longcat, read_minicpm3
from kvviz.core.architecture.state import (
    read_bailing,
    read_gated_delta,
    read_granite_hybrid,
    read_jamba,
    read_kimi_linear,
    read_lfm2,
    read_mamba,
    read_mamba2,
    read_minimax,
    read_nemotron_h,
    read_phi4flash,
    read_plamo2,
    read_rwkv,
    read_rwkv4,
    read_yuan,
    read_zamba,
)

# Decoders whose every layer is attention, plain or latent: their fields alone decide.
PLAIN_TYPES = """
llama mistral mixtral ministral ministral3 mistral4 codellama yi aquila xverse arcee solar decilm deci nemotron-nas
qwen qwen2 qwen2_moe qwen3 qwen3_moe qwen2_vl_text qwen2_5_vl_text qwen2_5_omni_text qwen3_vl_text qwen3_vl_moe_text
qwen3_omni_moe_text dots1 dots_ocr internlm internlm2 internlm3 orion skywork telechat telechat2 teleflm gemma gemma2
gemma3_text gemma3n_text gemma4_text gemma4_unified_text vaultgemma gpt2 gpt_neo gpt_neox gpt_neox_japanese gptj
gpt_bigcode gpt_oss codegen starcoder2 openai-gpt ctrl xglm biogpt cpmant phi phi-msft mixformer-sequential phi3
phi3_v phi3small phi4mm phi4_multimodal phimoe opt bloom mpt dbrx persimmon fuyu stablelm stablelm_epoch falcon
RefinedWeb RefinedWebModel chatglm glm glm4 glm4_moe glm4_moe_lite glm4v_text glm4v_moe_text glm_ocr_text minicpm
minicpmv minicpmo baichuan cohere cohere2 cohere2_moe cohere_compass_text olmo olmo2 olmo3 olmoe flex_olmo granite
granitemoe granitemoeshared granite_swa granitemoe_swa granite4_vision_text granite_docling_text nemotron openelm
exaone exaone4 exaone_moe smollm3 apertus apertus1p5_text ernie4_5 ernie4_5_moe ernie4_5_vl_moe_text ernie4_5_vl_text
hunyuan hunyuan_v1_dense hunyuan_v1_moe hunyuan_vl_text hy_v3 hyperclovax seed_oss bitnet helium diffllama jais jais2
jetmoe grok-1 grok-2 arctic llama4_text mimo mimo_v2 mimo_v2_flash minimax_m2 minimax_m3 minimax_m3_vl_text step3_text
step3p5 step3p7 afmoe cwm bailing_moe bailing_moe_v2 plamo modernbert-decoder nanochat solar_open sarvam_moe
iquestcoder mellum laguna beam chameleon emu3_text_model aria_text moshi paddleocr_vl_text idefics molmo molmo2_text
doge dia_decoder kyutai_speech_to_text voxtral_realtime_text deepseek deepseek_v2 deepseek_v3 deepseek_v32
deepseek_ocr2_text kimi_k2 glm_moe_dsa axk1 pangu_ultra_moe pangu_pro_moe sarvam_mla youtu youtu_vl longcat_flash_mtp
cosmos3_edge_text muse_glimmer_text muse_spark_text flint kolibri1 exaone4_5_text plamo3 telechat3 PanguEmbedded
param2moe step1
"""

READERS: dict[str, Reader] = {
    **dict.fromkeys(PLAIN_TYPES.split(), read_decoder),
    "longcat_flash": read_longcat,
    "longcat_flash_ngram": read_longcat,
    "longcat": read_longcat,
    "minicpm3": read_minicpm3,
    "deepseek_v4": read_deepseek_v4,
    "mamba": read_mamba,
    "falcon_mamba": read_mamba,
    "mamba2": read_mamba2,
    "jamba": read_jamba,
    "nemotron_h": read_nemotron_h,
    "granitemoehybrid": read_granite_hybrid,
    "bamba": read_granite_hybrid,
    "falcon_h1": read_granite_hybrid,
    "zamba": read_zamba,
    "zamba2": read_zamba,
    "plamo2": read_plamo2,
    "phi4flash": read_phi4flash,
    "qwen3_next": read_gated_delta,
    "qwen3_5_text": read_gated_delta,
    "qwen3_5_moe_text": read_gated_delta,
    "olmo_hybrid": read_gated_delta,
    "kimi_linear": read_kimi_linear,
    "minimax": read_minimax,
    "minimax_text_01": read_minimax,
    "minimax_m1": read_minimax,
    "bailing_moe_linear": read_bailing,
    "bailing_hybrid": read_bailing,
    "lfm2": read_lfm2,
    "lfm2_moe": read_lfm2,
    "rwkv": read_rwkv4,
    "rwkv5": read_rwkv,
    "rwkv6": read_rwkv,
    "rwkv7": read_rwkv,
    "yuan": read_yuan,
    "mllama_text_model": read_mllama,
    ENTERED_TYPE: read_entered,
    **dict.fromkeys(("t5", "mt5", "umt5", "longt5", "switch_transformers", "pop2piano", "udop"), read_t5),
    **dict.fromkeys(
        (
            *("whisper", "bart", "mbart", "marian", "pegasus", "pegasus_x", "bigbird_pegasus", "blenderbot"),
            *("blenderbot-small", "m2m_100", "nllb-moe", "plbart", "mvp", "led", "florence2_language"),
        ),
        read_bart,
    ),
}

ALIASES = {
    "mllama": "mllama_text_model",
    "llava": "llama",
    "llava_llama": "llama",
    "llava_mistral": "mistral",
    "llava_qwen": "qwen2",
    "emu3": "emu3_text_model",
    "kimi_k25": "deepseek_v3",
    "GPT2LMHeadCustomModel": "gpt2",
    "RW": "falcon",
    "LLaMA": "llama",
    "Longcat": "longcat_flash",
    "HunYuanMoEV1": "hunyuan_v1_moe",
    "HunYuanDenseV1": "hunyuan_v1_dense",
    "MixtralQuant": "mixtral",
    "DeciLM": "nemotron-nas",
    "StableLMEpoch": "stablelm",
    "Step3p7Flash": "step3p7",
    "Grok1Model": "grok-1",
    "Grok1": "grok-1",
    "PhiMSFT": "phi-msft",
    "BailingMoeLinearV2": "bailing_moe_linear",
    "BailingMoeV2_5": "bailing_hybrid",
    "BailingMoeV3": "bailing_hybrid",
    "MistralLarge3": "deepseek_v3",
    "MiniMaxM3Sparse": "minimax_m3",
    "MarianMT": "marian",
    "NllbMoe": "nllb-moe",
    "NemotronHPuzzle": "nemotron_h",
    "AquilaChat": "aquila",
}
"""Model types and bare class names that do not follow from the family's name."""

CLASS_ENDING = re.compile(
    r"(ForCausalLM|ForConditionalGeneration|LMHeadModel|HeadModel|CausalLM|MTModel|Model|LM)?(Eagle3?|NextN|MTP)?$"
)

DRAFT_CLASS = re.compile(r"ForCausalLMEagle3?$")

BY_CLASS = {model_type.replace("_", "").replace("-", "").lower(): model_type for model_type in reversed(READERS)}
"""``qwen2moe`` -> ``qwen2_moe``: how class names are looked up."""


def find_family(model_type: str, class_names: tuple[str, ...]) -> str | None:
    """The key of READERS for an architecture, or None where there are no rules for it."""
    if model_type and any(DRAFT_CLASS.search(name) for name in class_names):
        # Some drafts carry the model_type of their target, and layers of their own class.
        return find_family("", class_names) or find_family(model_type, ())
    for candidate in (model_type, f"{model_type}_text", ALIASES.get(model_type, "")):
        if candidate in READERS:
            return candidate
    for name in class_names:
        bare = CLASS_ENDING.sub("", name)
        squeezed = bare.replace("_", "").lower()
        known = (ALIASES.get(bare), ALIASES.get(squeezed), BY_CLASS.get(squeezed), BY_CLASS.get(f"{squeezed}text"))
        family = next((candidate for candidate in known if candidate), None)
        if family:
            return family
    return None
