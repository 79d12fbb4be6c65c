"""What a model class supplies where a published config.json is silent. One table, by ``model_type``.

Read from the configuration classes of transformers 5.24 (``models/*/configuration_*.py``) and, for models with code of
their own, from that code. Patterns are written as one cycle of layers, L windowed and G full.
"""

from collections.abc import Mapping
from types import MappingProxyType

from kvviz.core.architecture.fields import Default

SIZES = ("num_hidden_layers", "num_attention_heads", "hidden_size")
"""Taken from the class only within a nested part, which files write as a difference: at the top level of a file they
are always written, so that their absence is a fault of the file."""


def _row(layers: int, hidden: int, heads: int, kv_heads: int | None = None, **more: Default) -> dict[str, Default]:
    kv = {} if kv_heads is None else {"num_key_value_heads": kv_heads}
    return {"num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads, **kv, **more}


CLASS_DEFAULTS: dict[str, dict[str, Default]] = {
    "llama": _row(32, 4096, 32),
    "mistral": _row(32, 4096, 32, 8, sliding_window=4096),
    "mixtral": _row(32, 4096, 32, 8),
    "qwen2": _row(32, 4096, 32, 32, use_sliding_window=False, max_window_layers=28),
    "gemma": _row(28, 3072, 16, 16, head_dim=256),
    "gemma2": _row(26, 2304, 8, 4, head_dim=256, sliding_window=4096, sliding_window_pattern="LG"),
    "gemma3_text": _row(26, 2304, 8, 4, head_dim=256, sliding_window=4096, sliding_window_pattern="LLLLLG"),
    "gpt_oss": {"sliding_window": 128, "sliding_window_pattern": "LG"},
    "llama4_text": _row(48, 5120, 40, 8, head_dim=128, attention_chunk_size=8192, no_rope_layer_interval=4),
    "gpt_bigcode": {"multi_query": True},
}


def class_defaults(model_type: str, *, nested: bool) -> Mapping[str, Default]:
    """The defaults of ``model_type``; sizes only for a nested part."""
    supplied = CLASS_DEFAULTS.get(model_type, {})
    return MappingProxyType({k: v for k, v in supplied.items() if nested or k not in SIZES})
