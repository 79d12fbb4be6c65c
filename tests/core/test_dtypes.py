"""Bytes of each cache type, as engines store it (KV-cache layouts of vLLM 0.33, SGLang 0.5 and llama.cpp)."""

from fractions import Fraction

import pytest

from kvviz.core.architecture import Architecture, read_config
from kvviz.core.cache import content
from kvviz.core.dtypes import ALIASES, KV_DTYPES
from kvviz.core.errors import ScenarioError
from kvviz.core.kv_dtype import resolve_kv_dtype
from kvviz.scenario import ENGINES, kv_dtypes
from tests.core.known import KNOWN, MODELS, config_of

H = 128


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bf16", 4 * H),
        ("fp16", 4 * H),
        ("fp32", 8 * H),
        ("fp8", 2 * H),
        ("fp8_per_token_head", 2 * H + 8),  # an fp32 scale a side
        ("int8_per_token_head", 2 * H + 8),
        ("int4_per_token_head", H + 8),
        ("nvfp4", Fraction(1125, 1000) * H),  # half a byte, and a scale byte per 16 values
        ("q8_0", Fraction(2 * H * 34, 32)),  # not one byte
        ("q5_1", Fraction(2 * H * 24, 32)),
        ("q5_0", Fraction(2 * H * 22, 32)),
        ("q4_1", Fraction(2 * H * 20, 32)),
        ("q4_0", Fraction(2 * H * 18, 32)),  # not half a byte
        ("iq4_nl", Fraction(2 * H * 18, 32)),
    ],
)
def test_bytes_of_one_token_in_one_head(name: str, expected: int | Fraction) -> None:
    assert 2 * KV_DTYPES[name].vector_bytes(H) == expected


def test_a_shorter_latent_has_fewer_scales() -> None:
    assert KV_DTYPES["fp8_ds_mla"].latent_bytes(256, 64) == 256 + 2 * 4 + 2 * 64


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bf16", 1152),
        ("fp8", 576),
        ("fp8_ds_mla", 656),  # 512 fp8 + 4 fp32 scales + 64 rotary values in bf16: 57 %, not half
        ("nvfp4_ds_mla", 352),  # 256 + 32 scale bytes + 64 rotary values in fp8
    ],
)
def test_bytes_of_one_latent(name: str, expected: int) -> None:
    assert KV_DTYPES[name].latent_bytes(512, 64) == expected


def test_each_type_is_offered_by_some_engine_and_named_once() -> None:
    assert all(dtype.engines for dtype in KV_DTYPES.values())
    assert set(ALIASES.values()) <= set(KV_DTYPES)
    assert not set(ALIASES) & set(KV_DTYPES)


def architecture(model: str, **change: object) -> Architecture:
    """A bundled model with top-level fields replaced."""
    return read_config({**config_of(model), **change})


@pytest.mark.parametrize(
    ("model", "engine", "expected"),
    [
        ("Qwen/Qwen3-8B", "vllm", "bf16"),
        ("CohereForAI/aya-23-8B", "vllm", "fp16"),
        ("allenai/OLMo-2-1124-7B", "vllm", "bf16"),  # fp32 weights run in bf16
        ("allenai/OLMo-2-1124-7B", "transformers", "fp32"),
        ("openai-community/gpt2", "vllm", "bf16"),  # the file is silent
        ("Qwen/Qwen3-32B-FP8", "vllm", "bf16"),  # FP8 weights do not make an FP8 cache
        ("deepseek-ai/DeepSeek-R1", "vllm", "bf16"),
        ("nvidia/Qwen3.6-27B-NVFP4", "vllm", "fp8"),  # a cache scheme does
        ("nvidia/Qwen3.6-27B-NVFP4", "sglang", "bf16"),  # which follows kv_cache_quant_algo alone
        ("nvidia/Qwen3.6-27B-NVFP4", "transformers", "bf16"),
        ("Qwen/Qwen3-8B", "llama.cpp", "fp16"),
        ("nvidia/Qwen3.6-27B-NVFP4", "llama.cpp", "fp16"),
    ],
)
def test_auto_follows_the_model(model: str, engine: str, expected: str) -> None:
    dtype, reason = resolve_kv_dtype(architecture(model), "auto", engine=engine)
    assert dtype.name == expected
    assert reason("en") != reason("ja")


def test_the_reason_names_the_field() -> None:
    reason = resolve_kv_dtype(architecture("nvidia/GLM-5.1-NVFP4"), "auto")[1]
    assert "$.quantization_config.kv_cache_scheme" in reason("en")
    assert "$.torch_dtype" in resolve_kv_dtype(architecture("Qwen/Qwen3-8B"), "auto")[1]("en")


def test_sglang_follows_the_algorithm_field() -> None:
    quantized = architecture(
        "Qwen/Qwen3-8B", quantization_config={"quant_method": "modelopt", "kv_cache_quant_algo": "FP8"}
    )
    assert resolve_kv_dtype(quantized, "auto", engine="sglang")[0].name == "fp8"


@pytest.mark.parametrize("written", ["bfloat16", "bf16"])
def test_other_spellings(written: str) -> None:
    assert resolve_kv_dtype(architecture("Qwen/Qwen3-8B"), written)[0].name == "bf16"
    assert resolve_kv_dtype(architecture("Qwen/Qwen3-8B"), "fp8_e4m3")[0].name == "fp8"


@pytest.mark.parametrize("written", ["fp7", ""])
def test_a_type_nobody_knows(written: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        resolve_kv_dtype(architecture("Qwen/Qwen3-8B"), written)
    assert caught.value.field == "kv_dtype"
    assert "int8_per_token_head" in str(caught.value)


def test_a_packed_architecture_keeps_its_packing() -> None:
    model = architecture("deepseek-ai/DeepSeek-V4-Flash")
    sizes = {
        content(model.layers, resolve_kv_dtype(model, setting)[0]).bytes_at(131_072)
        for setting in ("auto", "bf16", "fp8")
    }
    assert len(sizes) == 1
    sizes |= {content(model.layers, resolve_kv_dtype(model, "auto", engine="sglang")[0]).bytes_at(131_072)}
    assert len(sizes) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_no_engine_chooses_a_type_that_it_has_not(engine: str) -> None:
    """Of bundled models: every type that is set or taken has a name that can be set, but for records of the engine."""
    for model in MODELS:
        layers = architecture(model)
        for setting in kv_dtypes(engine):
            try:
                dtype, _ = resolve_kv_dtype(layers, setting, engine=engine)
            except ScenarioError:
                continue  # the rows of this model do not divide
            assert engine in dtype.engines, (model, setting, dtype.name)
            assert dtype.packs_records or (dtype.name in KV_DTYPES and setting in ("auto", dtype.name))
            if engine not in ("vllm", "sglang"):
                assert not dtype.packs_records, (model, setting)


def test_changing_the_weights_changes_the_cache_by_no_byte() -> None:
    plain, quantised = architecture("Qwen/Qwen3-32B"), architecture("Qwen/Qwen3-32B-FP8")
    sizes = {content(model.layers, resolve_kv_dtype(model, "auto")[0]).bytes_at(32_768) for model in (plain, quantised)}
    assert len(sizes) == 1


PLAIN = {
    row["model"]: row["llama_cpp"]["q8_0_32768_1slot"]
    for row in KNOWN
    if set(row["layers"]) == {"f"} and "llama_cpp" in row
}
"""Models of full attention alone: what llama.cpp allocates for 32,768 cells."""


@pytest.mark.parametrize(("model", "allocated"), PLAIN.items())
def test_q8_0_of_plain_attention_is_what_llama_cpp_allocates(model: str, allocated: int) -> None:
    """Rows of all heads are cut into blocks of 32: a head of 80 values is no obstacle."""
    layout = architecture(model)
    dtype, _ = resolve_kv_dtype(layout, "q8_0")
    assert content(layout.layers, dtype).bytes_at(32_768) == allocated


def test_plain_attention_is_common_and_includes_heads_of_80() -> None:
    assert len(PLAIN) > 80
    heads_of_80 = {model for model, allocated in PLAIN.items() if allocated == 5_704_253_440}
    assert "microsoft/phi-2" in heads_of_80
    assert any("RedPajama" in model for model in heads_of_80)


def test_rows_of_llama_cpp_must_divide() -> None:
    layout = read_config({**config_of("Qwen/Qwen3-8B"), "num_key_value_heads": 1, "head_dim": 80})
    assert resolve_kv_dtype(layout, "fp8")[0].name == "fp8"
    for name in ("q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"):
        with pytest.raises(ScenarioError, match=r"32 values together.* rows of 80") as caught:
            resolve_kv_dtype(layout, name)
        assert caught.value.field == "kv_dtype"
