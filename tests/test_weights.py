"""Weights of the bundled models: the table against published counts and measured loads, and the script that counts."""

import importlib.util
import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kvviz.catalogue import load, models
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.units import GIB
from kvviz.engines.vllm import VllmPlan
from kvviz.resolve import resolve
from kvviz.scenario import WEIGHT_DTYPES as OFFERED
from kvviz.scenario import Scenario
from kvviz.text import LANGUAGES
from kvviz.text import weights as text
from kvviz.weights import WEIGHT_DTYPES, typed_weights, weights, why_unknown

ROOT = Path(__file__).resolve().parents[1]
CONFIGS = ROOT / "kvviz" / "data" / "configs"
FILE = ROOT / "kvviz" / "data" / "weights.json"
ROWS: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["models"]


def config_of(model: str) -> dict[str, Any]:
    """The bundled config.json."""
    loaded: dict[str, Any] = json.loads((CONFIGS / f"{model.replace('/', '--')}.json").read_text(encoding="utf-8"))
    return loaded


# --- the table -------------------------------------------------------------------------------------------------------


def test_every_bundled_config_has_a_row() -> None:
    assert sorted(path.stem.replace("--", "/", 1) for path in CONFIGS.glob("*--*.json")) == sorted(ROWS)


def test_the_table_is_small() -> None:
    assert FILE.stat().st_size < 60_000


# Numbers of parameters as the Hub states them for the published safetensors files, less what some files store besides
# parameters (rotary tables, routing biases).
PARAMETERS = {
    "meta-llama/Llama-3.1-8B-Instruct": 8_030_261_248,
    "meta-llama/Llama-3.1-70B-Instruct": 70_553_706_496,
    "meta-llama/Llama-3.2-11B-Vision-Instruct": 10_670_220_835,
    "meta-llama/Llama-3.2-1B-Instruct": 1_235_814_400,
    "meta-llama/Llama-2-7b-hf": 6_738_415_616,
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": 108_641_793_536,
    "Qwen/Qwen3-0.6B": 596_049_920,
    "Qwen/Qwen3-32B": 32_762_123_264,
    "Qwen/Qwen3-32B-FP8": 32_762_123_264,
    "Qwen/Qwen3-30B-A3B": 30_532_122_624,
    "Qwen/Qwen2-VL-2B-Instruct": 2_208_985_600,
    "Qwen/Qwen2.5-7B-Instruct": 7_615_616_512,
    "mistralai/Mixtral-8x7B-v0.1": 46_702_792_704,
    "mistralai/Mamba-Codestral-7B-v0.1": 7_285_403_648,
    "openai-community/gpt2": 124_439_808,
    "openai/whisper-tiny": 37_760_640,
    "google/gemma-3-27b-it": 27_432_406_640,
    "allenai/OLMo-2-1124-7B": 7_298_617_344,
    "CohereForAI/aya-23-8B": 8_028_033_024,
    "deepseek-ai/DeepSeek-V3": 671_026_404_352,  # 671,026,419,200 stored, 14,848 of them routing biases
    "deepseek-ai/DeepSeek-V2-Lite-Chat": 15_706_484_224,  # without a compressed query, unlike the class's default
    "microsoft/phi-2": 2_779_683_840,
}


@pytest.mark.parametrize(("model", "parameters"), PARAMETERS.items())
def test_parameters_are_the_published_number(model: str, parameters: int) -> None:
    assert ROWS[model]["parameters"] == parameters


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.json")), ids=lambda path: path.stem)
def test_a_file_of_weights_that_were_quantised_afterwards_says_so_in_its_name(path: Path) -> None:
    """Publishers train in fp8, mxfp4 or int4 groups; AWQ, GPTQ and NVFP4 make another repository of a model."""
    config = json.loads(path.read_text(encoding="utf-8"))
    quantised = config.get("quantization_config") or config.get("text_config", {}).get("quantization_config") or {}
    method = quantised.get("quant_method")
    made = method if method in ("awq", "gptq") else "nvfp4" if method == "modelopt" else ""
    assert made in path.stem.lower()


# (model, bytes, basis): the published BF16 model and its AWQ copy under a name each (2,208,985,600 parameters; the AWQ
# file's 28 layers have 1,310,195,712 weights in 4 bits with a 16-bit scale and 4 bits of zero point for each 128).
# Those of a file that may not be the published one are not exact.
NAMED = [
    ("Qwen/Qwen2-VL-2B-Instruct", 2 * 2_208_985_600, "exact"),
    ("Qwen/Qwen2-VL-2B-Instruct-AWQ", 2 * (2_208_985_600 - 1_310_195_712) + 680_687_616, "exact"),
    ("Qwen/Qwen2.5-Omni-7B-AWQ", None, None),
    ("Qwen/Qwen1.5-1.8B-Chat", 2 * 1_525_663_744, "assumed"),
    ("baichuan-inc/Baichuan-7B", 2 * 7_000_559_616, "assumed"),
    ("openbmb/MiniCPM-2B-sft-bf16", 2 * 2_724_880_896, "assumed"),
]


@pytest.mark.parametrize(("model", "value_bytes", "basis"), NAMED, ids=[row[0] for row in NAMED])
def test_weights_are_those_of_the_repository_of_that_name(
    model: str, value_bytes: int | None, basis: str | None
) -> None:
    estimate = weights(model, dtype="bf16")
    assert (estimate and estimate.value_bytes, estimate and estimate.basis) == (value_bytes, basis)


def by_hand(config: dict[str, Any]) -> int:
    """Embeddings, attention and gated MLPs of a text model from the sizes in its file; no norms, no biases."""
    hidden, layers, heads = config["hidden_size"], config["num_hidden_layers"], config["num_attention_heads"]
    tied = config.get("tie_word_embeddings", config["model_type"] in ("cohere", "gemma", "gemma2"))
    head_dim, kv_heads = config.get("head_dim") or hidden // heads, config.get("num_key_value_heads") or heads
    attention = 2 * hidden * head_dim * (heads + kv_heads)
    if "kv_lora_rank" in config:
        latent, rope, rank = config["kv_lora_rank"], config["qk_rope_head_dim"], config.get("q_lora_rank")
        keys, values = config["qk_nope_head_dim"], config["v_head_dim"]
        queries = heads * (keys + rope)
        attention = rank * (hidden + queries) if rank else hidden * queries
        attention += hidden * (latent + rope) + latent * heads * (keys + values) + heads * values * hidden
    experts = config.get("num_experts") or config.get("n_routed_experts") or config.get("num_local_experts") or 0
    width = config.get("moe_intermediate_size") or config["intermediate_size"]
    shared = config.get("n_shared_experts") or config.get("num_shared_experts") or 0
    mixed = hidden * experts + 3 * hidden * width * (experts + shared)
    dense = min(layers, config.get("first_k_dense_replace") or 0) if experts else layers
    mlps = dense * 3 * hidden * config["intermediate_size"] + (layers - dense) * mixed
    indexed = 0
    if "index_n_heads" in config:
        own = config.get("indexer_types", ["full"] * layers).count("full")
        width = config["index_head_dim"]
        indexed = own * (width * (config["q_lora_rank"] * config["index_n_heads"] + hidden))
        indexed += own * hidden * config["index_n_heads"]
    return config["vocab_size"] * hidden * (1 if tied else 2) + layers * attention + mlps + indexed


PLAIN = {
    *("baichuan", "cohere", "deepseek", "deepseek_v2", "deepseek_v3", "deepseek_v32", "exaone4", "gemma", "gemma2"),
    *("glm4_moe", "glm4_moe_lite", "glm_moe_dsa", "gpt_oss", "internlm2", "kimi_k2", "llama", "mimo", "minicpm"),
    *("minimax_m2", "ministral3", "mistral", "mixtral", "olmo2", "phi3", "phimoe", "qwen2", "qwen3", "qwen3_moe"),
    "stablelm",
}
"""Model types whose models are nothing but these parts."""
COUNTED_BY_HAND = [m for m, row in ROWS.items() if row["parameters"] and config_of(m).get("model_type") in PLAIN]


def test_many_are_counted_by_hand() -> None:
    assert len(COUNTED_BY_HAND) >= 60


@pytest.mark.parametrize("model", COUNTED_BY_HAND)
def test_parameters_are_what_the_sizes_in_the_file_make(model: str) -> None:
    assert by_hand(config_of(model)) == pytest.approx(ROWS[model]["parameters"], rel=0.001)


def test_a_quantised_checkpoint_takes_the_bytes_it_is_published_with() -> None:
    estimate = weights("openai/gpt-oss-120b", dtype="bf16")
    assert estimate
    assert estimate.value_bytes == 65_248_815_744  # total_size in its model.safetensors.index.json
    assert estimate.basis == "exact"


# GiB that vLLM 0.11 reported for the loaded model (github.com/llm-d-incubation/llm-d-planner,
# docs/empirical-vllm-memory-results.md). The 70B model ran on two GPUs, as another FP8 build of the same layers.
LOADED = {
    "meta-llama/Llama-3.1-8B-Instruct": 14.99,
    "Qwen/Qwen3-0.6B": 1.12,
    "Qwen/Qwen3-32B": 61.03,
    "nvidia/Llama-3.1-70B-Instruct-FP8": 2 * 33.88,
}


@pytest.mark.parametrize(("model", "gib"), LOADED.items())
def test_weights_are_what_an_engine_loads(model: str, gib: float) -> None:
    estimate = weights(model, dtype="bf16")
    assert estimate
    assert estimate.value_bytes / GIB == pytest.approx(gib, rel=0.01)


@pytest.mark.parametrize(("model", "row"), ROWS.items())
def test_a_row_is_whole_and_consistent(model: str, row: dict[str, Any]) -> None:
    if row["basis"] == "unknown":
        assert row["parameters"] is row["linear"] is row["stored"] is row["published_bytes"] is None
    else:
        assert row["parameters"] > 1_000_000
    if row["basis"] == "counted":
        assert 0 < row["linear"] < row["parameters"]
    if row["basis"] != "counted" or row["stored"] is None:
        assert row["why"] in text.REASONS
    if row["stored"] is None:
        assert row["published_bytes"] is None
        return
    quantised = sum(parameters for parameters, _ in row["stored"].values())
    assert quantised <= row["parameters"]
    for name, (parameters, stored) in row["stored"].items():
        low = {"fp8": Fraction(1), "nvfp4": Fraction(9, 16), "mxfp4": Fraction(17, 32), "int4": Fraction(1, 2)}[name]
        assert low <= Fraction(stored, parameters) < low + Fraction(1, 15)
    if row["dtype"]:
        rest = (row["parameters"] - quantised) * {"bf16": 2, "fp16": 2, "fp32": 4}[row["dtype"]]
        assert row["published_bytes"] == rest + sum(size for _, size in row["stored"].values())
    else:
        assert row["published_bytes"] is None


@pytest.mark.parametrize("model", [m for m, row in ROWS.items() if "quantization_config" in config_of(m)])
def test_a_file_that_says_it_is_quantised_is_not_counted_as_if_it_were_not(model: str) -> None:
    assert ROWS[model]["stored"] != {}


def test_the_same_layers_count_the_same_however_they_are_stored() -> None:
    counts = {
        "Qwen/Qwen3-235B-A22B": ("Qwen/Qwen3-235B-A22B-FP8", "nvidia/Qwen3-235B-A22B-NVFP4"),
        "deepseek-ai/DeepSeek-V3": ("deepseek-ai/DeepSeek-R1", "nvidia/DeepSeek-V3.1-NVFP4"),
        "zai-org/GLM-5": ("zai-org/GLM-5-FP8", "nvidia/GLM-5.1-NVFP4"),
    }
    for plain, others in counts.items():
        for other in others:
            assert ROWS[plain]["parameters"] == ROWS[other]["parameters"]
            assert ROWS[plain]["linear"] == ROWS[other]["linear"]


# --- what the app reads ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("auto", 2 * 32_762_123_264),
        ("bf16", 2 * 32_762_123_264),
        ("fp32", 4 * 32_762_123_264),
        ("fp8", 31_205_621_760 + 2 * 1_556_501_504),
        ("int8", 31_205_621_760 + 2 * 1_556_501_504),
        ("int4", 31_205_621_760 * 33 // 64 + 2 * 1_556_501_504),
        ("nvfp4", 31_205_621_760 * 9 // 16 + 2 * 1_556_501_504),
        ("mxfp4", 31_205_621_760 * 17 // 32 + 2 * 1_556_501_504),
    ],
)
def test_another_type_changes_the_linear_layers(dtype: str, expected: int) -> None:
    # Embedding and head: 2 x 151,936 x 5,120; norms: 64 x (2 x 5,120 + 2 x 128) + 5,120.
    assert 2 * 151_936 * 5_120 + 64 * (2 * 5_120 + 2 * 128) + 5_120 == 1_556_501_504
    estimate = weights("Qwen/Qwen3-32B", weight_dtype=dtype, dtype="bf16")
    assert estimate
    assert estimate.value_bytes == expected
    assert estimate.basis == ("exact" if dtype in {"auto", "bf16", "fp32"} else "assumed")


@pytest.mark.parametrize(
    ("model", "dtype", "basis"),
    [
        ("Qwen/Qwen3-32B", "auto", "exact"),
        ("Qwen/Qwen3-32B", "bf16", "exact"),  # as it is published
        ("Qwen/Qwen3-32B", "fp8", "assumed"),
        ("Qwen/Qwen3-32B", "int4", "assumed"),
        ("Qwen/Qwen3-32B-FP8", "auto", "exact"),
        ("Qwen/Qwen3-32B-FP8", "bf16", "assumed"),  # nobody published that
        ("Qwen/Qwen3-32B-FP8", "fp8", "assumed"),
    ],
)
def test_what_if_is_an_assumption(model: str, dtype: str, basis: str) -> None:
    estimate = weights(model, weight_dtype=dtype, dtype="bf16")
    assert estimate is not None
    assert estimate.basis == basis


def test_a_checkpoint_in_32_bits_is_loaded_in_16() -> None:
    model = "allenai/OLMo-2-1124-7B"
    assert ROWS[model]["published_bytes"] == 4 * 7_298_617_344
    estimate = weights(model, dtype="fp32")
    assert estimate
    assert estimate.value_bytes == 2 * 7_298_617_344
    assert "32 bits" in estimate.source("en")


@pytest.mark.parametrize("model", ROWS)
def test_a_model_has_a_number_with_its_source_or_a_reason(model: str) -> None:
    for dtype in WEIGHT_DTYPES:
        estimate = weights(model, weight_dtype=dtype, dtype="bf16")
        for lang in LANGUAGES:
            message = (estimate.source if estimate else why_unknown(model, weight_dtype=dtype))(lang)
            assert message
            assert "{" not in message
        if estimate:
            assert Fraction(1, 2) < Fraction(estimate.value_bytes, ROWS[model]["parameters"]) <= 4


def test_the_settings_offer_no_type_that_has_no_size() -> None:
    assert set(OFFERED) <= set(WEIGHT_DTYPES)


def test_prediction_layers_are_said_to_be_left_out_where_there_are_some() -> None:
    with_them, without = weights("deepseek-ai/DeepSeek-V3", dtype="bf16"), weights("Qwen/Qwen3-32B", dtype="bf16")
    assert with_them
    assert without
    assert "MTP" in with_them.source("en")
    assert "MTP" not in without.source("en")


def test_a_published_number_is_not_called_exact() -> None:
    estimate = weights("microsoft/phi-2", dtype="fp16")
    assert estimate
    assert (estimate.value_bytes, estimate.basis) == (2 * 2_779_683_840, "assumed")
    assert weights("microsoft/phi-2", weight_dtype="fp8", dtype="fp16") is None


@pytest.mark.parametrize("model", ["", "nobody/nothing-70B", "tencent/Hunyuan-A13B-Instruct"])
def test_what_is_not_known_is_none(model: str) -> None:
    assert weights(model, dtype="bf16") is None
    assert "GiB" in why_unknown(model)("en")


def test_an_unknown_type_names_those_there_are() -> None:
    with pytest.raises(ScenarioError, match="auto, bf16, fp16, fp32, fp8") as caught:
        weights("Qwen/Qwen3-32B", weight_dtype="q2_k", dtype="bf16")
    assert caught.value.field == "weight_dtype"


def test_typed_weights_are_taken_as_typed() -> None:
    estimate = typed_weights(61.5)
    assert (estimate.value_bytes, estimate.basis) == (int(61.5 * GIB), "measured")
    assert estimate.source("en") == "As you entered it."


@pytest.mark.parametrize("gib", [0.0, -1.0, float("nan"), float("inf")])
def test_typed_weights_must_be_a_size(gib: float) -> None:
    with pytest.raises(ScenarioError) as caught:
        typed_weights(gib)
    assert caught.value.field == "weights_gib"


# --- the script ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """scripts/count_weights.py, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("count_weights", ROOT / "scripts" / "count_weights.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 256,
    "intermediate_size": 640,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "torch_dtype": "bfloat16",
}
LLAMA_LINEAR = 3 * (256 * 256 + 2 * 128 * 256 + 256 * 256 + 3 * 640 * 256)
LLAMA_NORMS = 3 * 2 * 256 + 256


@pytest.mark.parametrize(("tied", "embeddings"), [(True, 1), (False, 2)])
def test_a_tied_head_is_counted_once(script: ModuleType, tied: bool, embeddings: int) -> None:
    row = script.count({**LLAMA, "tie_word_embeddings": tied})
    assert row["linear"] == LLAMA_LINEAR
    assert row["parameters"] == LLAMA_LINEAR + LLAMA_NORMS + embeddings * 1000 * 256
    assert row["published_bytes"] == 2 * row["parameters"]
    assert (row["basis"], row["class"], row["stored"]) == ("counted", "LlamaForCausalLM", {})


def test_every_expert_counts_and_the_router_is_no_linear_layer(script: ModuleType) -> None:
    mixtral = LLAMA | {"architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "num_local_experts": 8}
    row = script.count(mixtral)
    attention, experts = 256 * 256 + 2 * 128 * 256 + 256 * 256, 8 * 3 * 640 * 256
    assert row["linear"] == 3 * (attention + experts)
    assert row["parameters"] == row["linear"] + 3 * 8 * 256 + LLAMA_NORMS + 2 * 1000 * 256


def quantised(row_of: dict[str, Any]) -> dict[str, Any]:
    """The small model, stored as ``row_of`` says."""
    return {**LLAMA, "tie_word_embeddings": False, "quantization_config": row_of}


# Matrices of one layer: q and o 256 x 256, k and v 128 x 256, gate and up 640 x 256, down 256 x 640.
MATRICES = 3 * 7
BLOCKS = 3 * (2 * 4 + 2 * 2 + 3 * 10)
MLP_DOWN = 3 * 640 * 256
GROUP_16 = {"num_bits": 4, "type": "float", "group_size": 16}
GROUP_32 = {"num_bits": 4, "type": "int", "group_size": 32, "symmetric": True}


@pytest.mark.parametrize(
    ("config", "stored"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, {"fp8": LLAMA_LINEAR + 4 * BLOCKS}),
        ({"quant_method": "fp8", "weight_block_size": None}, {"fp8": LLAMA_LINEAR + 8 * MATRICES}),
        (
            {"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": ["down_proj"]},
            {"fp8": LLAMA_LINEAR - MLP_DOWN + 4 * (BLOCKS - 3 * 10)},
        ),
        (
            {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True},
            {"int4": LLAMA_LINEAR // 2 + LLAMA_LINEAR // 128 * 5 // 2},
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"a": {"targets": ["Linear"], "weights": GROUP_32}},
            },
            {"int4": LLAMA_LINEAR // 2 + LLAMA_LINEAR // 32 * 2},
        ),
        (
            {
                "quant_method": "modelopt",
                "config_groups": {
                    "a": {"targets": ["Linear"], "weights": GROUP_16},
                    "b": {"targets": ["lm_head"], "weights": {"num_bits": 8, "type": "float"}},
                },
                "ignore": ["re:.*self_attn.*", "model.layers.*.mlp.gate_proj"],
            },
            {"nvfp4": 2 * MLP_DOWN * 9 // 16 + 8 * 6, "fp8": 256_000 + 8},
        ),
        (
            {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]},
            {"mxfp4": 1_474_560 * 17 // 32},
        ),
    ],
    ids=["fp8-blocks", "fp8-tensor", "fp8-list", "awq", "int4-groups", "nvfp4-and-head", "mxfp4"],
)
def test_a_layout_is_counted_as_the_file_says(
    script: ModuleType, config: dict[str, Any], stored: dict[str, int]
) -> None:
    row = script.count(quantised(config))
    assert {name: size for name, (_, size) in row["stored"].items()} == stored


@pytest.mark.parametrize(
    "config",
    [
        {"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": "<283 entries removed>"},
        {"quant_method": "something-new"},
        {"quant_method": "modelopt", "config_groups": {"a": {"targets": ["model.nowhere"], "weights": GROUP_16}}},
    ],
    ids=["shortened", "unknown-method", "unknown-module"],
)
def test_a_layout_that_is_not_understood_gives_no_bytes(script: ModuleType, config: dict[str, Any]) -> None:
    row = script.count(quantised(config))
    assert row["parameters"]
    assert (row["stored"], row["published_bytes"], row["why"]) == (None, None, "layout-unknown")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"architectures": ["NoSuchModelForCausalLM"]}, "no-class"),
        ({"architectures": None}, "no-architecture"),
        ({"model_type": "llama-of-another-kind"}, "other-fields"),
        (
            {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": {}},
            "incomplete",
        ),
        ({"num_attention_heads": "many"}, "refused"),
    ],
)
def test_what_transformers_cannot_build_is_not_counted(script: ModuleType, change: dict[str, Any], why: str) -> None:
    row = script.count(LLAMA | change)
    assert (row["basis"], row["parameters"], row["why"]) == ("unknown", None, why)


@pytest.mark.parametrize(
    ("pattern", "module", "named"),
    [
        ("gate", "model.layers.0.mlp.gate", True),
        ("gate", "model.layers.0.mlp.gate_proj", False),
        ("visual", "model.visual.blocks.0.attn.qkv", True),
        ("model.layers.1", "model.layers.10.mlp.up_proj", False),
        ("model.layers.*.self_attn", "model.layers.3.self_attn.q_proj", True),
        ("*.mlp.experts", "model.layers.3.mlp.experts", True),
        ("*.mlp.experts", "model.layers.3.mlp.shared_experts.up_proj", False),
        (r"re:.*mlp\.(gate|up|down)_proj.*", "model.layers.0.mlp.gate_proj", True),
        (r"re:.*mlp\.(gate|up|down)_proj.*", "model.layers.0.mlp.experts", False),
        ("re:vision_tower.*", "model.vision_tower.layers.0.attn.proj", True),
    ],
)
def test_module_lists_are_read_as_they_are_meant(script: ModuleType, pattern: str, module: str, named: bool) -> None:
    assert script.named_by([pattern], module) is named


@pytest.mark.parametrize(
    "model",
    ["Qwen/Qwen3-0.6B", "Qwen/Qwen3-30B-A3B-FP8", "openai/gpt-oss-120b", "moonshotai/Kimi-K2.6", "microsoft/phi-2"],
)
def test_the_table_is_what_the_script_writes(script: ModuleType, model: str) -> None:
    facts = json.loads(script.PUBLISHED.read_text(encoding="utf-8"))
    config = script.completed(config_of(model), model, facts["layouts"])
    assert script.count(config, published=facts["parameters"].get(model)) == ROWS[model]


# --- One GPU's share -------------------------------------------------------------------------------------------------


def rank(model: str, **asked: object) -> int:
    """Bytes of weights on the fullest GPU."""
    budget = resolve(Scenario(model=model, **{"gpu": "h200", **asked})).size().budget  # type: ignore[arg-type]
    assert budget is not None
    return budget.weights.value_bytes


EXPERTS_ALONE = (
    "moonshotai/Kimi-K2.6",
    "nvidia/GLM-5.1-NVFP4",
    "nvidia/Gemma-4-26B-A4B-NVFP4",
    "nvidia/MiniMax-M2.7-NVFP4",
    "nvidia/Qwen3.5-397B-A17B-NVFP4",
    "openai/gpt-oss-120b",
)
"""Published with nothing but their experts in four bits."""


@pytest.mark.parametrize("model", EXPERTS_ALONE)
def test_experts_are_counted_from_the_config_exactly(model: str) -> None:
    mixture = load(model).architecture.mixture
    assert mixture is not None
    [(packed, _)] = ROWS[model]["stored"].values()
    assert mixture.parameters * len(mixture.layers) == packed


@pytest.mark.parametrize("model", [name for name in models() if load(name).architecture.mixture])
def test_experts_are_most_of_a_mixture_and_not_all(model: str) -> None:
    mixture, row = load(model).architecture.mixture, ROWS[model]
    if mixture and row["linear"]:
        assert 0.6 * row["linear"] < mixture.parameters * len(mixture.layers) < row["linear"]


def test_a_measured_share() -> None:
    """Llama 3.3 70B in FP8 on two H100: vLLM 0.11 printed 33.88 GiB a GPU (data/vllm_starts.json)."""
    share = rank("meta-llama/Llama-3.1-70B-Instruct", weight_dtype="fp8", gpus=2)
    assert share / GIB == pytest.approx(33.88, abs=0.06)


def test_a_measured_share_of_experts_and_latent_attention() -> None:
    """DeepSeek-R1 on eight cards: 79.41 GiB each (github.com/HabanaAI/vllm-fork/issues/809)."""
    assert rank("deepseek-ai/DeepSeek-R1", gpus=8) / GIB == pytest.approx(79.41, abs=0.15)


def test_a_plain_model_divides_evenly_by_tensor_parallelism() -> None:
    whole = rank("meta-llama/Llama-3.1-8B-Instruct", gpus=1)
    assert rank("meta-llama/Llama-3.1-8B-Instruct", gpus=2) == math.ceil(whole / 2)
    assert rank("meta-llama/Llama-3.1-8B-Instruct", gpus=2, tp=1) == whole


def test_pipeline_stages_by_their_layers_and_the_last_with_the_head() -> None:
    # 80 layers on 4: 20 each, and 128,256 x 8,192 x 2 B of embeddings or head at the ends
    table = 128_256 * 8_192 * 2
    model = "meta-llama/Llama-3.1-70B-Instruct"
    whole = rank(model, gpus=1)
    assert rank(model, gpus=4, pp=4) == math.ceil((whole - 2 * table) / 4 + table)


# What is on every GPU instead of a share of it, by hand. An fp8 weight takes a byte and its share of scales.
_R1 = 61 * 7_168 * 2_112 * Fraction(669_228_962_144, 669_065_609_216) + 58 * 256 * 7_168 * 2
"""61 layers that compress 7,168 to 1,536 + 512 + 64; 58 routers of 256 experts in 16 bits."""
_V32 = 61 * (7_168 * 2_112 + 128 * (64 * 1_536 + 7_168) + 64 * 7_168) * Fraction(670_052_688_576, 669_889_134_592)
"""The same layers with indexers: 64 heads of 128 from 1,536, a key of 128 and 64 weights from 7,168."""
COPIED = [
    ("deepseek-ai/DeepSeek-R1", _R1),
    ("deepseek-ai/DeepSeek-V3.2", _V32 + 58 * 256 * 7_168 * 2),
    ("Qwen/Qwen3-235B-A22B", 94 * 128 * 4_096 * 2),  # routers; 8 GPUs and 4 KV heads of 128: K and V twice
]


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize(("model", "copied"), COPIED, ids=[row[0] for row in COPIED])
def test_what_engines_copy_is_on_every_gpu(model: str, copied: Fraction, engine: str) -> None:
    whole = rank(model, gpus=1)
    twice = 94 * 2 * 4 * 128 * 4_096 * 2 if model.startswith("Qwen") else 0
    share = (whole - copied - twice) / 8 + copied + Fraction(twice, 4)
    assert rank(model, gpus=8, engine=engine) == math.ceil(share)


# 80 layers with K and V of 8 heads of 128 from 8,192: from 8 GPUs on, each has a whole head.
@pytest.mark.parametrize("gpus", [4, 8, 16, 32])
@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_a_kv_head_is_not_cut(gpus: int, engine: str) -> None:
    model = "meta-llama/Llama-3.1-70B-Instruct"
    whole, keys_and_values = rank(model, gpus=1), 80 * 2 * 8 * 128 * 8_192 * 2
    share = Fraction(whole - keys_and_values, gpus) + Fraction(keys_and_values, min(gpus, 8))
    assert rank(model, gpus=gpus, engine=engine) == math.ceil(share)


def test_sglang_shares_the_head_out_where_attention_is_not() -> None:
    # embeddings and head 129,280 x 7,168 in 16 bits: all of the first, an eighth of the second
    embeddings = 129_280 * 7_168 * 2
    model = "deepseek-ai/DeepSeek-R1"
    vllm, sglang = (rank(model, gpus=8, attention_dp="on", engine=engine) for engine in ("vllm", "sglang"))
    # what is neither attention nor an expert lies in eighths, too: 3 dense layers and 58 shared experts
    dense = (3 * 3 * 7_168 * 18_432 + 58 * 3 * 7_168 * 2_048) * Fraction(669_228_962_144, 669_065_609_216)
    assert vllm - sglang == pytest.approx(Fraction(7, 8) * (embeddings + dense), rel=0.01)


def test_attention_data_parallelism_copies_all_but_the_experts() -> None:
    # 58 layers x 256 experts x 3 x 7,168 x 2,048
    experts = 58 * 256 * 3 * 7_168 * 2_048 * Fraction(669_228_962_144, 669_065_609_216)
    whole = rank("deepseek-ai/DeepSeek-R1", gpus=1)
    share = rank("deepseek-ai/DeepSeek-R1", gpus=8, attention_dp="on")
    assert share == math.ceil(whole - experts * Fraction(7, 8))
    # SGLang shares out the dense layers, too.
    assert share > rank("deepseek-ai/DeepSeek-R1", gpus=8, attention_dp="on", engine="sglang") > whole / 8


def test_engines_side_by_side_that_share_nothing_have_all_of_it() -> None:
    model = "meta-llama/Llama-3.1-8B-Instruct"
    assert rank(model, gpus=8, attention_dp="on") == rank(model, gpus=1)


@pytest.mark.parametrize("gpus", [2, 4])
@pytest.mark.parametrize("split", ["tp", "pp"])
@pytest.mark.parametrize("model", models()[::7])
def test_no_share_is_less_than_an_even_one_nor_more_than_all(model: str, split: str, gpus: int) -> None:
    whole = resolve(Scenario(model=model)).weights
    if whole is None:
        return
    try:
        share = rank(model, gpus=gpus, **{split: gpus})
    except (KvvizError, AssertionError):
        return  # cannot be split so, or not run
    assert math.ceil(whole.value_bytes / gpus) <= share <= whole.value_bytes


def test_states_that_v0_kept_apart_come_off_the_budget() -> None:
    sizing = resolve(Scenario(model="ai21labs/AI21-Jamba-1.5-Mini", gpu="h200", gpus=4, engine_version="v0")).size()
    assert isinstance(sizing.plan, VllmPlan)
    assert sizing.budget is not None
    assert sizing.plan.state_slot_bytes > 0
    assert sizing.budget.non_torch.value_bytes > 256 * sizing.plan.state_slot_bytes
    assert "256 requests" in sizing.budget.non_torch.source("en")


@pytest.mark.parametrize(("dtype", "gib"), [("q8_0", 7.95), ("q6_k", 6.14), ("q5_k_m", 5.33), ("q4_k_m", 4.58)])
def test_gguf_files_of_llama_3_1_8b(dtype: str, gib: float) -> None:
    """Sizes that llama.cpp's tools/quantize/README.md lists."""
    estimate = weights("meta-llama/Llama-3.1-8B-Instruct", weight_dtype=dtype, dtype="bf16")
    assert estimate is not None
    assert estimate.value_bytes / GIB == pytest.approx(gib, abs=0.01)
    assert estimate.basis == "assumed"
    shared_out = rank("meta-llama/Llama-3.1-8B-Instruct", weight_dtype=dtype, gpus=2, engine="vllm")
    assert shared_out == pytest.approx(estimate.value_bytes / 2, abs=1)
