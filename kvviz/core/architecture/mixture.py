"""Where a model's experts are and how many weights they have: what engines share out otherwise than the rest."""

import re
from typing import Final

from kvviz.core.architecture.attention import HIDDEN_NAMES
from kvviz.core.architecture.fields import MAX_SIZE, Fields, Json
from kvviz.core.architecture.model import Mixture

_COUNT = ("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts")
_WIDTH = ("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size")
_OTHERWISE = (
    "hybrid_override_pattern",
    "layers_block_type",
    "routed_expert_hidden_size",
    "zero_expert_num",
    "expert_layer_period",
)
"""Fields of models whose experts lie or are shaped in ways of their own."""
_NAME: Final = re.compile(r"(?:^|_)n(?:um)?_(?:(?!shared)\w+_)?experts$")
"""How all of them call a number of experts."""
_GATED = 3
"""Matrices of an expert: gate, up and down."""


def read_mixture(text: Fields, layers: int) -> Mixture | None:
    """None where there are no experts, or not in the common way: every layer's alike, and each with a gate."""
    experts = _size(text, *_COUNT)
    if not experts or text.has(*_OTHERWISE) or _size(text, "num_hidden_layers") != layers:
        return None
    width, hidden = _size(text, *_WIDTH), _size(text, *HIDDEN_NAMES)
    if not width or not hidden:
        return None
    having = tuple(index for index in range(layers) if _has_experts(text, index, layers))
    if not having:
        return None
    return Mixture(layers=having, parameters=_GATED * experts * hidden * width, router_parameters=experts * hidden)


def has_experts(text: Fields) -> bool:
    """Whether there are several, in whatever way and wherever the file says so: some keep it one object deeper."""
    deeper = [name for name, value in text.data.items() if isinstance(value, dict) and any(map(_NAME.search, value))]
    return any(_several(text.value(name)) for name in text.data if _NAME.search(name)) or any(
        has_experts(part) for name in deeper if (part := text.part(name))
    )


def _several(count: Json) -> bool:
    return any(map(_several, count)) if isinstance(count, list) else isinstance(count, int) and count > 1


def _has_experts(text: Fields, index: int, layers: int) -> bool:
    """The rules of DeepSeek (dense layers first), Qwen (every so many) and Llama 4 (interleaved)."""
    if isinstance(text.data.get("moe_layer_freq"), list):
        listed = _sizes(text, "moe_layer_freq")
        return len(listed) == layers and bool(listed[index])
    if index < _size(text, "first_k_dense_replace"):
        return False
    if isinstance(text.data.get("mlp_only_layers"), list) and index in _sizes(text, "mlp_only_layers"):
        return False
    step = _size(text, "decoder_sparse_step", "interleave_moe_layer_step")
    return not step or (index + 1) % step == 0


def _size(text: Fields, *names: str) -> int:
    """The first of ``names`` with a value, for every layer; 0 where there is none. No fact: no layout rests on it."""
    name = next((name for name in names if text.has(name)), None)
    if name is None:
        return 0
    if isinstance(text.data[name], list):
        sizes = set(_sizes(text, name))
        return sizes.pop() if len(sizes) == 1 else 0
    return text.checked_integer(text.value(name), (*text.path, name), 0, MAX_SIZE) or 0


def _sizes(text: Fields, name: str) -> tuple[int, ...]:
    listed = text.value(name)
    items = listed if isinstance(listed, list) else []
    return tuple(text.checked_integer(item, (*text.path, name, i), 0, MAX_SIZE) or 0 for i, item in enumerate(items))
