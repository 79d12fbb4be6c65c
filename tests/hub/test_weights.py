"""The size of weights from the Hub's description of a model: what is exact, what is not, and what is not known."""

from collections.abc import Mapping

import pytest

from kvviz.estimate import Estimate
from kvviz.hub_weights import stored_weights
from kvviz.text import LANGUAGES, Message

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
