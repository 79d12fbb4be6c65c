"""What classes supply where files are silent. From transformers 5.24, ``models/<name>/configuration_<name>.py``."""

import pytest

from kvviz.core.architecture import read_config
from kvviz.core.architecture.defaults import CLASS_DEFAULTS, SIZES, class_defaults
from kvviz.core.architecture.families import READERS, find_family

SOURCES: list[tuple[str, str, dict[str, object]]] = [
    ("gemma3", "Gemma3TextConfig", {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256}),
    ("gemma3", "Gemma3TextConfig", {"sliding_window": 4096, "sliding_window_pattern": "LLLLLG"}),
    ("gemma2", "Gemma2Config", {"sliding_window": 4096, "sliding_window_pattern": "LG", "head_dim": 256}),
    ("gemma3n", "Gemma3nTextConfig", {"num_key_value_heads": 2, "sliding_window": 512, "num_kv_shared_layers": 15}),
    ("gemma4", "Gemma4TextConfig", {"global_head_dim": 512, "head_dim": 256, "sliding_window": 512}),
    ("mistral", "MistralConfig", {"num_key_value_heads": 8, "sliding_window": 4096}),
    ("llama4", "Llama4TextConfig", {"attention_chunk_size": 8192, "no_rope_layer_interval": 4}),
    ("cohere2", "Cohere2Config", {"sliding_window": 4096, "sliding_window_pattern": "LLLG"}),
    ("gpt_oss", "GptOssConfig", {"sliding_window": 128, "sliding_window_pattern": "LG"}),
    ("olmo3", "Olmo3Config", {"sliding_window_pattern": "LLLG"}),
    ("qwen2_audio", "Qwen2Config", {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32}),
    ("gpt_bigcode", "GPTBigCodeConfig", {"multi_query": True}),
    ("mamba2", "Mamba2Config", {"n_groups": 8, "state_size": 128, "expand": 2, "conv_kernel": 4}),
    ("zamba2", "Zamba2Config", {"mamba_expand": 2, "mamba_ngroups": 1, "mamba_d_state": 64, "mamba_d_conv": 4}),
    ("deepseek_v3", "DeepseekV3Config", {"kv_lora_rank": 512, "qk_rope_head_dim": 64}),
    ("glm_moe_dsa", "GlmMoeDsaConfig", {"index_head_dim": 128}),
    ("whisper", "WhisperConfig", {"max_source_positions": 1500}),
]


@pytest.mark.parametrize(("model_type", "source", "supplied"), SOURCES, ids=[row[1] for row in SOURCES])
def test_class_defaults(model_type: str, source: str, supplied: dict[str, object]) -> None:
    family = "qwen2" if model_type == "qwen2_audio" else find_family(model_type, ())
    assert family is not None
    assert supplied.items() <= CLASS_DEFAULTS[family].items()


def test_the_table_holds_families_only() -> None:
    assert set(CLASS_DEFAULTS) - set(READERS) == {"mllama_vision_model"}


def test_sizes_are_supplied_to_nested_parts_only() -> None:
    assert class_defaults("llama", nested=True)["num_hidden_layers"] == 32
    assert not SIZES & set(class_defaults("llama", nested=False))


def test_an_old_llava_leaves_its_llama_to_the_class() -> None:
    architecture = read_config({"model_type": "llava", "text_config": {"model_type": "llama"}, "vision_config": {}})
    assert len(architecture.layers) == 32
    supplied = {fact.where for fact in architecture.facts if fact.origin == "class default"}
    assert {"llama.num_hidden_layers", "llama.hidden_size", "llama.num_attention_heads"} <= supplied
    note = next(note for note in architecture.notes if note.code == "class-defaults")
    assert "llama.num_hidden_layers" in note.message("en")


def test_null_in_the_file_is_an_answer_and_beats_the_class() -> None:
    config = {"num_hidden_layers": 1, "num_attention_heads": 32, "hidden_size": 4096, "model_type": "mistral"}
    windowed, full = read_config(config), read_config({**config, "sliding_window": None})
    assert type(windowed.layers[0][0]).__name__ == "SlidingWindow"
    assert type(full.layers[0][0]).__name__ == "FullAttention"


@pytest.mark.parametrize(
    ("class_name", "family"),
    [
        ("LlamaForCausalLM", "llama"),
        ("LlamaForCausalLMEagle3", "llama"),
        ("Qwen2MoeForCausalLM", "qwen2_moe"),
        ("GPTNeoXForCausalLM", "gpt_neox"),
        ("GPT2LMHeadModel", "gpt2"),
        ("QWenLMHeadModel", "qwen"),
        ("ChatGLMModel", "chatglm"),
        ("RWForCausalLM", "falcon"),
        ("MPTForCausalLM", "mpt"),
        ("DeciLMForCausalLM", "nemotron-nas"),
        ("MiniCPM3ForCausalLM", "minicpm3"),
        ("LongcatCausalLM", "longcat_flash"),
        ("Grok1ModelForCausalLM", "grok-1"),
        ("Gemma3ForConditionalGeneration", "gemma3_text"),
        ("MllamaForConditionalGeneration", "mllama_text_model"),
        ("DeepseekV3ForCausalLMNextN", "deepseek_v3"),
        ("BertForMaskedLM", None),
        ("MysteryForCausalLM", None),
        ("Model", None),
        ("", None),
    ],
)
def test_class_names(class_name: str, family: str | None) -> None:
    assert find_family("", (class_name,)) == family
