"""What a model's weights take as they are stored, from the Hub's description of the model. Pure: asks nobody."""

import re
from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Final

from kvviz.core.units import format_count
from kvviz.estimate import Estimate
from kvviz.text import Message
from kvviz.text import hub as text

_TENSOR_BITS: Final = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
    "U16": 16, "I16": 16, "F16": 16, "BF16": 16, "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64, "F64": 64,
}  # fmt: skip
_INDEX: Final = "model.safetensors.index.json"
_FILE = re.compile(r"(?P<stem>[^/]+?)(?:-\d{1,9}-of-(?P<shards>\d{1,9}))?\.safetensors", re.ASCII)
_NOT_LOADED: Final = ("consolidated", "adapter")
"""Beginnings of files that lie beside the weights: the same again in the maker's own format, and adapters."""


def stored_weights(info: Mapping[str, object], config: Mapping[str, object]) -> Estimate | Message:
    """All weights of a model whose description (with file sizes) is ``info``; a Message says why there is no number.

    Two sources check each other. The Hub counts the tensors by type, exactly; but for some packed (quantised) models it
    counts the parameters before packing, which is many times the files. Then the files are right, and off by their
    headers only.
    """
    tensors = _tensors(info)
    counted = _tensor_bytes(tensors)
    quantised = _is_quantised(config)
    sizes, clear = _loaded_files(info)
    if clear:
        in_files = sum(sizes)
        headers_at_most = in_files // 100 + 65_536 * len(sizes)
        if counted is None or not 0 <= in_files - counted <= headers_at_most:
            source = Message(text.FROM_FILES, {"count": format_count(len(sizes))})
            return Estimate(value_bytes=in_files, basis="measured", source=source)
    elif counted is None or quantised:
        return Message(text.WHICH_FILES if counted is not None or sizes else text.NO_SAFETENSORS)
    shown = " + ".join(f"{dtype} × {format_count(number)}" for dtype, number in tensors.items())
    in_32_bits = tensors.get("F32", 0)
    # Engines load a 32-bit checkpoint in 16 (vLLM config/model.py, dtype "auto"); the few 32-bit tensors of another
    # stay as they are.
    if not quantised and 2 * in_32_bits > sum(tensors.values()):
        source = Message(text.FROM_TENSORS_AT_16_BIT, {"tensors": shown})
        return Estimate(value_bytes=counted - 2 * in_32_bits, basis="exact", source=source)
    return Estimate(value_bytes=counted, basis="exact", source=Message(text.FROM_TENSORS, {"tensors": shown}))


def _tensors(info: Mapping[str, object]) -> dict[str, int]:
    """Type -> number of values."""
    safetensors = info.get("safetensors")
    parameters = safetensors.get("parameters") if isinstance(safetensors, dict) else None
    if not isinstance(parameters, dict):
        return {}
    return {str(dtype): number for dtype, number in parameters.items() if isinstance(number, int) and number > 0}


def _tensor_bytes(tensors: Mapping[str, int]) -> int | None:
    """None where there is none, or one of a type not known here."""
    if not tensors or not tensors.keys() <= _TENSOR_BITS.keys():
        return None
    return ceil(sum(Fraction(_TENSOR_BITS[dtype] * number, 8) for dtype, number in tensors.items()))


def _is_quantised(config: Mapping[str, object]) -> bool:
    inner = config.get("text_config")
    parts = [config, inner] if isinstance(inner, dict) else [config]
    return any(part.get(key) for part in parts for key in ("quantization_config", "compression_config"))


def _loaded_files(info: Mapping[str, object]) -> tuple[list[int], bool]:
    """Bytes of the files an engine loads, and whether it is clear which those are: one file, or one set of shards.

    Files in folders are other formats' or other parts'.
    """
    siblings = info.get("siblings")
    sizes = {
        str(row.get("rfilename")): row.get("size")
        for row in (siblings if isinstance(siblings, list) else [])
        if isinstance(row, dict)
    }
    sets: dict[tuple[str, int], list[object]] = {}
    for name, size in sizes.items():
        file = _FILE.fullmatch(name)
        if file and not file["stem"].startswith(_NOT_LOADED):
            sets.setdefault((file["stem"], int(file["shards"] or 0)), []).append(size)
    if _INDEX in sizes and len(sets) > 1:
        sets.pop(("model", 0), None)  # engines load what the index lists
    found = [size for group in sets.values() for size in group if isinstance(size, int) and size > 0]
    expected = next(iter(sets))[1] or 1 if len(sets) == 1 else 0
    return found, len(found) == expected > 0
