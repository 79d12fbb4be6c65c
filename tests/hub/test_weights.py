"""The size of weights from the Hub's description of a model: what is exact, what is not, and what is not known."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import kvviz
from kvviz.catalogue import load
from kvviz.estimate import Estimate, Parameters
from kvviz.hub_weights import least_parameters, stored_weights, tied_bytes
from kvviz.levers import levers
from kvviz.resolve import Given, resolve
from kvviz.scenario import Scenario
from kvviz.sizing import size
from kvviz.text import LANGUAGES, Message
from kvviz.weights import what_if

INDEX = "model.safetensors.index.json"
FP8 = {"quantization_config": {"quant_method": "fp8"}}
QUANTISED = {"quantization_config": {"quant_method": "awq"}}


def info(files: Mapping[str, int | None], **tensors: int) -> dict[str, object]:
    described: dict[str, object] = {"siblings": [{"rfilename": n, "size": size} for n, size in files.items()]}
    return described | ({"safetensors": {"parameters": tensors}} if tensors else {})


def shards(count: int, size: int, *, of: int | None = None) -> dict[str, int | None]:
    return {f"model-{n:05}-of-{of or count:05}.safetensors": size for n in range(1, count + 1)}


@pytest.mark.parametrize(
    ("described", "config", "value_bytes", "basis"),
    [
        # plain: tensors, and the file that holds them with its header
        (info({"model.safetensors": 16_001_000}, BF16=8_000_000), {}, 16_000_000, "exact"),
        (info({INDEX: 9} | shards(4, 4_001_000), BF16=8_000_000), {}, 16_000_000, "exact"),
        # a quantised build as it is stored: fp8 with its scales
        (info({"model.safetensors": 8_400_000}, BF16=100_000, F8_E4M3=8_000_000, F32=40_000), FP8, 8_360_000, "exact"),
        # packed 4-bit in 32-bit words, counted as stored
        (info({"model.safetensors": 5_010_000}, I32=1_000_000, F16=500_000), QUANTISED, 5_000_000, "exact"),
        # packed, but counted before packing: eight weights in each word
        (info({"model.safetensors": 5_010_000}, I32=8_000_000, F16=500_000), QUANTISED, 5_010_000, "measured"),
        # half a byte each
        (info({"model.safetensors": 501_000}, F4=1_000_001), {}, 500_001, "exact"),
        # no count, or of a type not known here: the files
        (info({"model.safetensors": 16_001_000}), {}, 16_001_000, "measured"),
        (info({"model.safetensors": 16_001_000}, F3=8_000_000), {}, 16_001_000, "measured"),
        # 32-bit checkpoints are loaded in 16; a few 32-bit tensors stay
        (info({"model.safetensors": 32_001_000}, F32=8_000_000), {}, 16_000_000, "exact"),
        (info({"model.safetensors": 16_041_000}, BF16=8_000_000, F32=10_000), {}, 16_040_000, "exact"),
        # beside the weights: the maker's own format, an adapter, other folders
        (
            info(
                {INDEX: 9, "consolidated.safetensors": 16_001_000, "adapter_model.safetensors": 7_000}
                | {"onnx/model.safetensors": 5, "original/model-00001-of-00001.safetensors": 5}
                | shards(2, 8_001_000),
                BF16=8_000_000,
            ),
            {},
            16_000_000,
            "exact",
        ),
        # one file and shards: engines load what the index lists
        (info({INDEX: 9, "model.safetensors": 5_000} | shards(2, 8_001_000)), {}, 16_002_000, "measured"),
        # files unclear, but the Hub has counted an unpacked model
        (info({"model.safetensors": 16_001_000, "half.safetensors": 80}, BF16=8_000_000), {}, 16_000_000, "exact"),
    ],
)  # fmt: skip
def test_what_the_weights_take(
    described: dict[str, object], config: dict[str, object], value_bytes: int, basis: str
) -> None:
    found = stored_weights(described, config)
    assert isinstance(found, Estimate)
    assert (found.value_bytes, found.basis) == (value_bytes, basis)
    assert all("safetensors" in found.source(lang) for lang in LANGUAGES)


@pytest.mark.parametrize(
    ("described", "config"),
    [
        ({}, {}),
        (info({"pytorch_model.bin": 16_000_000, "README.md": 1}), {}),
        (info({"model-Q4_K_M.gguf": 4_000_000}), {}),
        (info({"model.safetensors": None}), {}),
        (info({"model.safetensors": 0}), {}),
        (info({"adapter_model.safetensors": 7_000}), {}),
        (info(shards(3, 8_001_000, of=4)), {}),
        (info({"model.safetensors": 5_000} | shards(2, 8_001_000)), {}),
        (info({"model.safetensors": 5_010_000, "mtp.safetensors": 9_000}, I32=8_000_000), QUANTISED),
        ({"siblings": "no list", "safetensors": []}, {}),
        ({"siblings": [None, 3, {"rfilename": 5}], "safetensors": {"parameters": {"BF16": "many"}}}, {}),
    ],
)
def test_what_is_not_known_is_asked_for(described: dict[str, object], config: dict[str, object]) -> None:
    found = stored_weights(described, config)
    assert isinstance(found, Message)
    assert all("GiB" in found(lang) for lang in LANGUAGES)


# --- held against the config ------------------------------------------------------------------------------------------

LLAMA_70B, QWEN_FP8 = "meta-llama/Llama-3.1-70B-Instruct", "Qwen/Qwen3-32B-FP8"
TABLE = json.loads((Path(kvviz.__file__).parent / "data" / "weights.json").read_text(encoding="utf-8"))["models"]
COUNTED = sorted(model for model, row in TABLE.items() if row["parameters"])


@pytest.mark.parametrize("model", COUNTED)
def test_no_published_model_has_fewer_parameters_than_the_least(model: str) -> None:
    """By a margin: a build in 8 bits that does not say so, or in 2 bits, must not be taken for a part of one."""
    loaded = load(model)
    assert least_parameters(loaded.architecture, loaded.config) < 1.1 * TABLE[model]["parameters"]


@pytest.mark.parametrize(
    ("model", "described"),
    [
        # an adapter that goes by the name of the weights
        (LLAMA_70B, info({"model.safetensors": 4_000_000})),
        (LLAMA_70B, info({"model.safetensors": 4_000_000}, BF16=1_990_000)),
        # one file of thirty, which the Hub has counted
        (LLAMA_70B, info({INDEX: 9} | shards(1, 4_584_408_808, of=30), BF16=2_292_200_000)),
        # quantised: at least 2 bits a weight
        (QWEN_FP8, info({"model.safetensors": 4_000_000_000})),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", info({"model.safetensors": 4_000_000_000})),
        ("deepseek-ai/DeepSeek-V3", info({"model.safetensors": 4_300_000_000})),
    ],
)
def test_implausible_weights_are_not_believed(model: str, described: dict[str, object]) -> None:
    found = stored_weights(described, load(model).config)
    assert isinstance(found, Message)
    assert "config.json" in found("en")
    assert all("GiB" in found(lang) for lang in LANGUAGES)


@pytest.mark.parametrize("model", [LLAMA_70B, QWEN_FP8, "Qwen/Qwen3-Next-80B-A3B-Instruct", "openai/gpt-oss-120b"])
def test_the_published_weights_are_believed(model: str) -> None:
    size = TABLE[model]["published_bytes"] or 2 * TABLE[model]["parameters"]
    assert isinstance(stored_weights(info({"model.safetensors": size}), load(model).config), Estimate)


def test_a_config_that_cannot_be_read_holds_nothing_against_them() -> None:
    assert isinstance(stored_weights(info({"model.safetensors": 4_000}), {"model_type": "unheard-of"}), Estimate)


# --- in another type -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight_dtype", ["bf16", "fp32", "fp8", "int4"])
@pytest.mark.parametrize("model", [LLAMA_70B, "meta-llama/Llama-3.2-1B-Instruct", "Qwen/Qwen3-30B-A3B"])
def test_what_if_is_what_the_table_gives(model: str, weight_dtype: str) -> None:
    loaded, parameters = load(model), TABLE[model]["parameters"]
    stored = stored_weights(info({"model.safetensors": 2 * parameters + 9_000}, BF16=parameters), loaded.config)
    assert isinstance(stored, Estimate)
    given = Given(loaded=loaded, weights=stored, weights_unknown=None)
    ours = resolve(Scenario(model=model, weight_dtype=weight_dtype), given=given).weights
    table = resolve(Scenario(model=model, weight_dtype=weight_dtype)).weights
    assert ours is not None
    assert table is not None
    assert ours.basis == table.basis
    assert ours.value_bytes == pytest.approx(table.value_bytes, rel=0.002)
    assert all("Hub" in ours.source(lang) for lang in LANGUAGES)


def test_of_an_fp8_build_the_linear_layers_are_those_in_fp8() -> None:
    stored = stored_weights(info({"model.safetensors": 34_330_000_000}, F8_E4M3=31_205_621_760, BF16=1_558_400_000),
                            load(QWEN_FP8).config)  # fmt: skip
    assert isinstance(stored, Estimate)
    assert stored.parameters == Parameters(total=32_764_021_760, linear=31_205_621_760, quantised=True)
    half = what_if(stored.parameters, "bf16")
    assert half is not None
    assert (half.value_bytes, half.basis) == (2 * 32_764_021_760, "assumed")


@pytest.mark.parametrize(
    ("config", "tensors", "known"),
    [
        ({}, {"BF16": 70_553_706_496}, True),
        # the class decides whether head and embeddings are one
        ({"tie_word_embeddings": None}, {"BF16": 70_553_706_496}, False),
        ({"hidden_size_per_layer_input": 256}, {"BF16": 70_553_706_496}, False),
    ],
)
def test_where_linear_layers_are_not_known_only_whole_types_are(
    config: dict[str, object], tensors: dict[str, int], known: bool
) -> None:
    found = stored_weights(info({"model.safetensors": 141_110_000_000}, **tensors), load(LLAMA_70B).config | config)
    assert isinstance(found, Estimate)
    assert found.parameters is not None
    assert (what_if(found.parameters, "int4") is not None) == known
    assert what_if(found.parameters, "fp16") is not None


def test_packed_values_are_no_parameters() -> None:
    found = stored_weights(info({"model.safetensors": 5_010_000}, I32=1_000_000, F16=500_000), QUANTISED)
    assert isinstance(found, Estimate)
    assert found.parameters is None
    config = load(LLAMA_70B).config | QUANTISED
    found = stored_weights(info({"model.safetensors": 40_010_000_000}, I32=9_000_000_000, F16=2_000_000_000), config)
    assert isinstance(found, Estimate)
    assert found.parameters is None


@pytest.mark.parametrize(
    ("model", "change", "tied"),
    [
        ("Qwen/Qwen3-0.6B", {}, 2 * 151_936 * 1_024),
        ("Qwen/Qwen3-0.6B", {"tie_word_embeddings": False}, 0),
        (LLAMA_70B, {}, 0),
        ("google/gemma-3-27b-it", {"tie_word_embeddings": True}, 2 * 262_208 * 5_376),
    ],
)
def test_an_output_layer_that_is_the_embeddings_again(model: str, change: dict[str, object], tied: int) -> None:
    loaded = load(model)
    assert tied_bytes(loaded.architecture, dict(loaded.config) | change) == tied


def test_what_if_rows_of_a_model_from_the_hub() -> None:
    loaded, parameters = load(LLAMA_70B), TABLE[LLAMA_70B]["parameters"]
    stored = stored_weights(info({"model.safetensors": 2 * parameters + 9_000}, BF16=parameters), loaded.config)
    assert isinstance(stored, Estimate)
    given = Given(loaded=loaded, weights=stored, weights_unknown=None)
    asked = size(loaded.architecture, Scenario(model=LLAMA_70B, gpus=4), weights=stored)
    rows = levers(asked, weigh=lambda scenario: resolve(scenario, given=given).weights)
    assert [row.label("en") for row in rows if row.code == "weight-dtype"] == ["FP8 weights", "INT4 weights"]
