"""Latent attention (MLA): one vector a token; indexer keys of sparse attention; DeepSeek-V4's compressed records."""

from dataclasses import replace

from kvviz.core.architecture.attention import (
    draft_layers,
    find_query_heads,
    layer_count,
    query_heads,
    read_attention,
)
from kvviz.core.architecture.fields import MAX_LAYERS, MAX_TOKENS, Fields, shown
from kvviz.core.cache import CompressedAttention, IndexerKeys, LatentAttention, Layer
from kvviz.text import config as texts

LATENT_NAMES = ("kv_lora_rank", "attention_kv_lora_dim")
ROPE_NAMES = ("qk_rope_head_dim", "attention_qk_rope_dim")
COMPRESSED_TYPES = {
    "sliding_attention": 0,
    "compressed_sparse_attention": 4,
    "heavily_compressed_attention": 128,
}
"""DeepSeek-V4 in the words of transformers: tokens per compressed record."""
SPARSE_TYPE = "minimax_m3_sparse"
"""A layer of MiniMax-M3 with an indexer, in the words of transformers."""


def read_decoder(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """A decoder whose layers are all attention, plain or latent as its fields say."""
    if text.has("linear_attn_config"):  # a draft of mixed layers in the clothes of a plain model
        text.problem(texts.NOT_UNDERSTOOD, "linear_attn_config")
    if is_latent(text):
        return _read_latent(text)
    return _add_sparse_keys(text, read_attention(text))


def is_latent(text: Fields) -> bool:
    """True if the file gives a latent and does not switch it off."""
    return text.flag("use_mla", default=True) and bool(text.find(*LATENT_NAMES, term="latent_dim", low=0))


def latent_cache(text: Fields) -> LatentAttention:
    """One vector a token. ``head_dim`` and the KV heads of such files say nothing about the cache."""
    rope_dim = text.need(*ROPE_NAMES, term="rope_dim", low=0)
    plain_dim = text.find("qk_nope_head_dim", low=0)
    return LatentAttention(
        latent_dim=text.need(*LATENT_NAMES, term="latent_dim"),
        rope_dim=rope_dim,
        heads=find_query_heads(text) or 0,
        head_key_dim=plain_dim + rope_dim if plain_dim else 0,
        head_value_dim=text.find("v_head_dim", low=0) or 0,
    )


def _read_latent(text: Fields) -> tuple[Layer, ...]:
    layers = layer_count(text)
    latent = latent_cache(text)
    key = _indexer_key(text)
    if key is None:
        return ((latent,),) * layers
    owners = _indexer_owners(text, layers)
    return tuple((latent, key) if owns else (latent,) for owns in owners)


def _indexer_key(text: Fields) -> IndexerKeys | None:
    dim = text.find("index_head_dim", term="index_key_dim", low=0)
    return IndexerKeys(key_dim=dim) if dim else None


def _indexer_owners(text: Fields, layers: int) -> tuple[bool, ...]:
    """Layers with an indexer of their own; the others reuse its choice (vLLM models/deepseek_v2.py:1145-1168)."""
    more = draft_layers(text)
    for name, shares, owns in (("indexer_types", "shared", "full"), ("index_topk_pattern", "S", "F")):
        words = text.words(name, length=layers, more=more)
        if words is None:
            continue
        for index, word in enumerate(words):
            if word not in (shares, owns):
                text.problem(texts.NOT_A_KIND, name, index, value=shown(word))
        return tuple(word != shares for word in words)
    every = text.find("index_topk_freq", high=MAX_LAYERS) or 1
    if every == 1:
        return (True,) * layers
    first = text.find("index_skip_topk_offset", low=0, high=MAX_LAYERS)
    first = 2 if first is None else first
    return tuple(max(i - first + 1, 0) % every == 0 for i in range(layers))


def read_longcat(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """LongCat-Flash: two attention sublayers a block, and one indexer per ``cli_factor`` of them."""
    blocks = layer_count(text, "num_layers")
    text.derive("attention_sublayers", 2 * blocks, f"2 * num_layers = 2 * {blocks}")
    latent = latent_cache(text)
    key = _indexer_key(text)
    if key is None:
        return ((latent,),) * (2 * blocks)
    every = text.find("cli_factor", high=MAX_LAYERS) or 1
    return tuple((latent, key) if i % every == 0 else (latent,) for i in range(2 * blocks))


def read_minicpm3(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """MiniCPM3's latent, which vLLM stores as expanded heads, values padded to the key size (minicpm3.py:126-175)."""
    layers = layer_count(text)
    latent = latent_cache(text)
    key_dim = text.need("qk_nope_head_dim", low=0) + latent.rope_dim
    text.derive("expanded_key_dim", key_dim, "qk_nope_head_dim + qk_rope_head_dim")
    text.note("latent-expanded", texts.LATENT_EXPANDED)
    heads = query_heads(text)
    hidden = text.find("hidden_size")  # the file gives no value size; the heads share the width
    expanded = replace(
        latent,
        head_value_dim=latent.head_value_dim or (hidden // heads if hidden and heads else 0),
        expanded_heads=heads,
        expanded_key_dim=key_dim,
    )
    return ((expanded,),) * layers


def read_deepseek_v4(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """A packed window in every layer, and compressed records in those with a ratio."""
    layers = layer_count(text)
    ratios = _ratios(text, layers)
    head_dim = text.need("head_dim", stand_in=0)
    rope_dim = text.need("qk_rope_head_dim", term="rope_dim", low=0)
    window = text.need("sliding_window", term="window_tokens", high=MAX_TOKENS)
    key_dim = text.need("index_head_dim", term="index_key_dim") if 4 in ratios else 0
    if rope_dim >= head_dim > 0:
        text.problem(texts.OUT_OF_BOUNDS, "qk_rope_head_dim", low=0, high=head_dim - 1, value=rope_dim)
    text.note("packed-cache", texts.PACKED_CACHE)
    return tuple(
        (
            CompressedAttention(
                head_dim=head_dim,
                rope_dim=rope_dim,
                window_tokens=window,
                ratio=ratio,
                index_key_dim=key_dim if ratio == 4 else 0,
            ),
        )
        for ratio in ratios
    )


def _ratios(text: Fields, layers: int) -> tuple[int, ...]:
    """Tokens per record, one entry a layer (entries for draft layers follow, counted in the file or not)."""
    ratios = text.numbers("compress_ratios", length=layers, more=None)
    for index, ratio in enumerate(ratios or ()):
        if ratio not in COMPRESSED_TYPES.values():
            text.problem(texts.NOT_A_KIND, "compress_ratios", index, value=ratio)
    words = text.words("layer_types", length=layers, more=draft_layers(text))
    for index, word in enumerate(words or ()):
        if word not in COMPRESSED_TYPES:
            text.problem(texts.NOT_A_KIND, "layer_types", index, value=shown(word))
    if ratios is None and words is None:
        text.missing("compress_ratios", "layer_types")
    return tuple(COMPRESSED_TYPES.get(word, 0) for word in words or ()) if ratios is None else ratios


def _add_sparse_keys(text: Fields, layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """MiniMax-M3: ordinary heads, and one small key a token, in the cache's own type, on the layers that are marked."""
    sparse = text.part("sparse_attention_config")
    if sparse is None and text.has("layer_types"):  # as transformers 5 writes it
        words = text.words("layer_types", length=len(layers), more=draft_layers(text)) or ()
        if SPARSE_TYPE not in words:
            return layers
        own = IndexerKeys(key_dim=text.need("index_head_dim", term="index_key_dim"), packed=False)
        return tuple((*layer, own) if w == SPARSE_TYPE else layer for layer, w in zip(layers, words, strict=False))
    if sparse is None or not sparse.flag("use_sparse_attention", default=True):
        return layers
    key = IndexerKeys(key_dim=sparse.need("sparse_index_dim", term="index_key_dim"), packed=False)
    marked = sparse.numbers("sparse_attention_freq", length=len(layers), high=1)
    if marked is None:
        sparse.missing("sparse_attention_freq")
        return layers
    return tuple((*layer, key) if is_sparse else layer for layer, is_sparse in zip(layers, marked, strict=False))
