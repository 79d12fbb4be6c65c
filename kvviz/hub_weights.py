"""What a model's weights take as they are stored, from the Hub's description of the model. Pure: asks nobody."""

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Final

from kvviz.core.architecture import Architecture, read_config
from kvviz.core.cache import (
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    LatentAttention,
    RecurrentState,
    SlidingWindow,
)
from kvviz.core.errors import KvvizError
from kvviz.core.units import format_bytes, format_count
from kvviz.estimate import Estimate, Parameters
from kvviz.text import Message
from kvviz.text import hub as text
from kvviz.text import weights as weights_text

_TENSOR_BITS: Final = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
    "U16": 16, "I16": 16, "F16": 16, "BF16": 16, "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64, "F64": 64,
}  # fmt: skip
_INDEX: Final = "model.safetensors.index.json"
_FILE = re.compile(r"(?P<stem>[^/]+?)(?:-\d{1,9}-of-(?P<shards>\d{1,9}))?\.safetensors", re.ASCII)
_NOT_LOADED: Final = ("consolidated", "adapter")
"""Beginnings of files that lie beside the weights: the same again in the maker's own format, and adapters."""
_PARTS: Final = ("text_config", "language_config", "llm_config", "thinker_config")
"""Where a multimodal file keeps its language model."""
_FULL: Final = frozenset({"F16", "BF16", "F32"})
_FP8: Final = frozenset({"F8_E4M3", "F8_E5M2"})
_NARROWEST_BITS: Final = {False: 8, True: 2}
"""Bits a weight takes at least, by whether the config says that the build is quantised: some are without saying so."""


def stored_weights(info: Mapping[str, object], config: Mapping[str, object]) -> Estimate | Message:
    """All weights of a model whose description (with file sizes) is ``info``; a Message says why there is no number.

    Where they are less than a model of this ``config`` can have, the files are something else, or not all there.
    """
    found = _listed(info, config)
    if isinstance(found, Message):
        return found
    try:
        architecture = read_config(dict(config))
    except KvvizError:
        return found
    least = least_parameters(architecture, config) * _NARROWEST_BITS[_is_quantised(config)] // 8
    if found.value_bytes < least:
        values = {"size": format_bytes(found.value_bytes), "least": format_bytes(least)}
        return Message(weights_text.IMPLAUSIBLE, values)
    return (
        replace(found, parameters=_parameters(_tensors(info), architecture, config))
        if found.basis == "exact"
        else found
    )


def least_parameters(architecture: Architecture, config: Mapping[str, object]) -> int:
    """Fewer than any model of such layers has: two matrices of each MLP, what attention projects, nothing else.

    Not every layer has experts, and layers beside recurrent ones need have no MLP.
    """
    hidden, heads = architecture.hidden_size or 0, architecture.attention_heads or 0
    caches = [cache for layer in architecture.layers for cache in layer]
    attention = 0
    for cache in caches:
        match cache:
            case FullAttention() | SlidingWindow() | ChunkedAttention() | CrossAttention():
                attention += hidden * (heads + cache.kv_heads) * (cache.key_dim + cache.value_dim)
            case LatentAttention():
                attention += hidden * cache.latent_dim
            case _:
                pass
    experts = _whole(config, "num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts")
    width = _whole(config, "intermediate_size")
    if experts:
        width = experts * _whole(config, "moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size") // 2
    if any(isinstance(cache, RecurrentState) for cache in caches):
        width //= 4
    return attention + 2 * hidden * width * len(architecture.layers)


def _whole(config: Mapping[str, object], *names: str) -> int:
    """The first of ``names`` that is a positive whole number, the language part's first; 0 where none is."""
    parts = [part for name in _PARTS if isinstance(part := config.get(name), dict)]
    values = (part.get(name) for part in (*parts, config) for name in names)
    return next((v for v in values if isinstance(v, int) and not isinstance(v, bool) and v > 0), 0)


def _parameters(
    tensors: Mapping[str, int], architecture: Architecture, config: Mapping[str, object]
) -> Parameters | None:
    """None where values are packed, so that their number is not that of the parameters."""
    if not tensors.keys() <= _FULL | _FP8:
        return None
    total, in_fp8 = sum(tensors.values()), sum(tensors.get(dtype, 0) for dtype in _FP8)
    if in_fp8:  # the few scales are counted with the rest
        return Parameters(total=total, linear=in_fp8, quantised=True)
    return Parameters(total=total, linear=_linear(total, architecture, config), quantised=False)


def _linear(total: int, architecture: Architecture, config: Mapping[str, object]) -> int | None:
    """All but the embeddings and the head, where the file says whether those are one; norms and the like are few.

    None, too, where a file gives every layer embeddings of its own.
    """
    inner = next((part for name in _PARTS if isinstance(part := config.get(name), dict)), config)
    tied, table = _tied(config), _table(architecture)
    if not isinstance(tied, bool) or not table or inner.get("hidden_size_per_layer_input"):
        return None
    linear = total - table * (1 if tied else 2)
    return linear if linear > 0 else None


def tied_bytes(architecture: Architecture, config: Mapping[str, object]) -> int:
    """Bytes of an output layer that is the embeddings again, at 16 bits: files may store both, and one is loaded.

    0 where the file does not say that they are one.
    """
    return 2 * _table(architecture) if _tied(config) is True else 0


def _tied(config: Mapping[str, object]) -> object:
    inner = next((part for name in _PARTS if isinstance(part := config.get(name), dict)), config)
    return config.get("tie_word_embeddings", inner.get("tie_word_embeddings"))


def _table(architecture: Architecture) -> int:
    return (architecture.vocab_size or 0) * (architecture.hidden_size or 0)


def _listed(info: Mapping[str, object], config: Mapping[str, object]) -> Estimate | Message:
    """What the Hub lists.

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
