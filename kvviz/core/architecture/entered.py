"""Layers that a person describes, row by row: the model_type ``kvviz-layers`` with a list ``layers``.

For an architecture that no reader here knows, or that does not exist yet. It is a config like any other, so links, the
command line and every page take it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from kvviz.core.architecture.fields import MAX_LAYERS, MAX_TOKENS, Fields, Json
from kvviz.core.architecture.model import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    FullAttention,
    LatentAttention,
    Layer,
    LayerCache,
    RecurrentState,
    SlidingWindow,
)
from kvviz.text import config as texts

ENTERED_TYPE: Final = "kvviz-layers"
ROW_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "full": ("kv_heads", "key_dim", "value_dim"),
    "window": ("kv_heads", "key_dim", "value_dim", "window_tokens"),
    "chunk": ("kv_heads", "key_dim", "value_dim", "window_tokens"),
    "latent": ("latent_dim", "rope_dim"),
    "state": ("heads", "key_dim", "value_dim"),
    "none": (),
}
"""Kinds of layers, and the sizes that each has besides its count. A state keeps key x value values a head."""
ROW_KINDS: Final = tuple(ROW_FIELDS)
MOST_ROWS: Final = 24
_DTYPES: Final = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}

Row = Mapping[str, Json]
"""``count``, ``kind`` and the kind's sizes."""


def read_entered(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """The rows one after another, each ``count`` times."""
    rows = text.parts("layers")
    if not rows:
        if rows is not None:
            text.problem(texts.OUT_OF_BOUNDS, "layers", low=1, high=MOST_ROWS, value=0)
        text.missing("layers")
        return ()
    layers: list[Layer] = []
    for row in rows[:MOST_ROWS]:
        layers += [_layer(row)] * row.need("count", high=MAX_LAYERS)
    if len(rows) > MOST_ROWS:
        text.problem(texts.OUT_OF_BOUNDS, "layers", low=1, high=MOST_ROWS, value=len(rows))
    if len(layers) > MAX_LAYERS:
        text.problem(texts.OUT_OF_BOUNDS, "layers", low=1, high=MAX_LAYERS, value=len(layers))
        return ()
    text.find("num_attention_heads", term="heads")
    text.note("layers-entered", texts.LAYERS_ENTERED)
    return tuple(layers)


def _layer(row: Fields) -> Layer:
    kind = row.word("kind")
    match kind:
        case "full":
            return (FullAttention(**_heads(row)),)
        case "window":
            sizes, window = _heads(row), row.need("window_tokens", high=MAX_TOKENS)
            return (SlidingWindow(**sizes, window_tokens=window, limits=True),)
        case "chunk":
            return (ChunkedAttention(**_heads(row), chunk_tokens=row.need("window_tokens", high=MAX_TOKENS)),)
        case "latent":
            return (LatentAttention(latent_dim=row.need("latent_dim"), rope_dim=row.need("rope_dim", low=0)),)
        case "state":
            key, value = row.need("key_dim"), row.need("value_dim")
            heads = row.need("heads")
            return (RecurrentState(mixer="linear", heads=heads, values_per_head=key * value, recurrent_dtype="fp32"),)
        case "none":
            return ()
    row.problem(texts.NOT_A_KIND_OF_LAYER, "kind", value=kind or "", kinds=", ".join(ROW_KINDS))
    return ()


def _heads(row: Fields) -> dict[str, int]:
    key = row.need("key_dim")
    return {"kv_heads": row.need("kv_heads"), "key_dim": key, "value_dim": row.find("value_dim") or key}


def entered_config(rows: Sequence[Row], *, like: Architecture | None = None) -> dict[str, Json]:
    """The config of these rows. ``like`` gives what is not about layers: heads, widths, type, longest length."""
    config: dict[str, Json] = {"model_type": ENTERED_TYPE, "layers": [dict(row) for row in rows]}
    if like is not None:
        config |= {
            "torch_dtype": _DTYPES[like.dtype],
            "num_attention_heads": like.attention_heads,
            "hidden_size": like.hidden_size,
            "vocab_size": like.vocab_size,
            "max_position_embeddings": like.max_context_tokens,
        }
    return {name: value for name, value in config.items() if value is not None}


def rows_of(architecture: Architecture) -> tuple[Row, ...]:
    """An architecture's layers as rows, alike ones together wherever they lie; the first cache of a layer stands for
    it."""
    counts = Counter(tuple(_row(layer).items()) for layer in architecture.layers)
    return tuple({"count": count, **dict(row)} for row, count in counts.items())[:MOST_ROWS]


def _row(layer: Layer) -> dict[str, Json]:
    for cache in layer:
        if row := _row_of(cache):
            return row
    return {"kind": "none"}


def _row_of(cache: LayerCache) -> dict[str, Json]:
    match cache:
        case FullAttention():
            return {"kind": "full", **_sizes(cache)}
        case SlidingWindow():
            return {"kind": "window", **_sizes(cache), "window_tokens": cache.window_tokens}
        case ChunkedAttention():
            return {"kind": "chunk", **_sizes(cache), "window_tokens": cache.chunk_tokens}
        case LatentAttention():
            return {"kind": "latent", "latent_dim": cache.latent_dim, "rope_dim": cache.rope_dim}
        case RecurrentState(heads=heads, values_per_head=values) if heads:
            return {"kind": "state", "heads": heads, "key_dim": values, "value_dim": 1}
        case _:
            return {}


def _sizes(cache: FullAttention | SlidingWindow | ChunkedAttention) -> dict[str, Json]:
    return {"kv_heads": cache.kv_heads, "key_dim": cache.key_dim, "value_dim": cache.value_dim}
