"""Models of a few thousand parameters, one for each way of keeping a cache that Transformers builds on a CPU."""

import json
from pathlib import Path
from typing import Any

WINDOW = 16
_PLAIN: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_MLA: dict[str, Any] = {
    "num_key_value_heads": 4,
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "qk_head_dim": 16,
    "v_head_dim": 8,
    "head_dim": 8,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "moe_intermediate_size": 16,
    "first_k_dense_replace": 1,
}
_MAMBA2: dict[str, Any] = {
    "mamba_d_head": 8,
    "mamba_d_state": 8,
    "mamba_n_groups": 1,
    "mamba_n_heads": 8,
    "mamba_expand": 2,
    "mamba_chunk_size": 16,
}


def _model(model_type: str, class_name: str, letters: str, **more: object) -> tuple[dict[str, Any], str]:
    return _PLAIN | {"model_type": model_type, "architectures": [class_name], **more}, letters


FAMILIES: dict[str, tuple[dict[str, Any], str]] = {
    "GQA": _model("llama", "LlamaForCausalLM", "fff"),
    "MQA": _model("llama", "LlamaForCausalLM", "fff", num_key_value_heads=1),
    "MHA": _model(
        "gpt2", "GPT2LMHeadModel", "fff", num_key_value_heads=4, n_layer=3, n_head=4, n_embd=32, n_positions=4096
    ),
    "window": _model("mistral", "MistralForCausalLM", "www", head_dim=8, sliding_window=WINDOW),
    "window and full": _model(
        "gemma3_text",
        "Gemma3ForCausalLM",
        "wwwwwf",
        head_dim=8,
        num_hidden_layers=6,
        sliding_window=WINDOW,
        layer_types=["sliding_attention"] * 5 + ["full_attention"],
    ),
    "window and sinks": _model(
        "gpt_oss",
        "GptOssForCausalLM",
        "wfw",
        head_dim=8,
        sliding_window=WINDOW,
        num_local_experts=2,
        num_experts_per_tok=1,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    ),
    "chunks": _model(
        "llama4_text",
        "Llama4ForCausalLM",
        "cccf",
        head_dim=8,
        num_hidden_layers=4,
        attention_chunk_size=WINDOW,
        layer_types=["chunked_attention"] * 3 + ["full_attention"],
        no_rope_layers=[1, 1, 1, 0],
        num_local_experts=2,
        num_experts_per_tok=1,
        intermediate_size_mlp=32,
    ),
    "latent": _model("deepseek_v3", "DeepseekV3ForCausalLM", "lll", **_MLA),
    "latent and indexer": _model(
        "deepseek_v32",
        "DeepseekV32ForCausalLM",
        "LLL",
        **_MLA,
        index_head_dim=16,
        index_n_heads=2,
        index_topk=8,
        layer_types=["indexed_attention"] * 3,
    ),
    "Mamba": _model("falcon_mamba", "FalconMambaForCausalLM", "sss", state_size=4),
    "Mamba and full": _model(
        "jamba",
        "JambaForCausalLM",
        "sfsf",
        num_hidden_layers=4,
        attn_layer_offset=1,
        attn_layer_period=2,
        mamba_d_state=4,
        mamba_dt_rank=4,
        num_experts=2,
        num_experts_per_tok=1,
    ),
    "Mamba-2 and full": _model("bamba", "BambaForCausalLM", "sfs", attn_layer_indices=[1], **_MAMBA2),
    "Mamba-2 beside full": _model("falcon_h1", "FalconH1ForCausalLM", "bbb", mamba_d_ssm=64, **_MAMBA2),
    "Gated DeltaNet": _model(
        "qwen3_next",
        "Qwen3NextForCausalLM",
        "sssf",
        head_dim=8,
        num_hidden_layers=4,
        layer_types=["linear_attention"] * 3 + ["full_attention"],
        linear_key_head_dim=8,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_value_head_dim=8,
        num_experts=2,
        num_experts_per_tok=1,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
        decoder_sparse_step=1,
    ),
    "short convolution": _model(
        "lfm2", "Lfm2ForCausalLM", "ssfs", num_hidden_layers=4, layer_types=["conv", "conv", "full_attention", "conv"]
    ),
    "cross, of a text": _model(
        "bart",
        "BartForConditionalGeneration",
        "XX",
        is_encoder_decoder=True,
        d_model=32,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=512,
        num_hidden_layers=1,
        decoder_start_token_id=2,
    ),
    "cross, of sound": _model(
        "whisper",
        "WhisperForConditionalGeneration",
        "XX",
        is_encoder_decoder=True,
        d_model=32,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_source_positions=50,
        max_target_positions=512,
        num_mel_bins=8,
        num_hidden_layers=1,
        decoder_start_token_id=1,
    ),
}
"""Name -> config and the letters of its layers."""


def write(family: str, folder: Path) -> str:
    """The family's config as a folder that ``load`` takes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(FAMILIES[family][0]), encoding="utf-8")
    return str(folder)
