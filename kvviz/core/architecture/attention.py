"""Plain attention: MHA, GQA and MQA under all their field names, windows, chunks, per-layer heads, shared caches."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from kvviz.core.architecture.defaults import class_defaults
from kvviz.core.architecture.fields import MAX_LAYERS, MAX_TOKENS, Fields, shown
from kvviz.core.cache import ChunkedAttention, FullAttention, Layer, LayerCache, SlidingWindow
from kvviz.text import config as texts

Kind = Literal["full", "indexed", "compressed", "window", "chunk", "state", "both", "none"]
"""What a layer keeps: every token, the same with an indexer's keys, records of several tokens, a window, a chunk, a
state, a state and every token, or nothing."""

LAYER_TYPES: dict[str, Kind] = {
    "full_attention": "full",
    "attention": "full",
    "indexed_attention": "indexed",
    "deepseek_sparse_attention": "indexed",
    "compressed_sparse_attention": "compressed",
    "heavily_compressed_attention": "compressed",
    "minimax_m3_sparse": "full",
    "sliding_attention": "window",
    "chunked_attention": "chunk",
    "linear_attention": "state",
    "mamba": "state",
    "conv": "state",
    "hybrid": "both",
    "moe": "none",
    "mlp": "none",
}
"""Entries of such a list, and what such a layer keeps."""
LIST_NAMES = ("layer_types", "layers_block_type")

HEAD_NAMES = ("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads", "decoder_attention_heads")
HIDDEN_NAMES = ("hidden_size", "n_embd", "n_embed", "d_model", "model_dim")
LAYER_NAMES = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_transformer_layers")
# vLLM's order (transformers_utils/config.py:56-63).
KV_HEAD_NAMES = ("n_head_kv", "num_kv_heads", "num_key_value_heads", "num_attention_groups")
DRAFT_NAMES = ("num_nextn_predict_layers", "mtp_num_layers", "mtp_num_hidden_layers", "num_mtp_modules")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """The vectors one attention layer stores per token."""

    kv_heads: int
    key_dim: int
    value_dim: int

    def full(self) -> FullAttention:
        """Keys and values of every token."""
        return FullAttention(kv_heads=self.kv_heads, key_dim=self.key_dim, value_dim=self.value_dim)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """A model's attention layers by kind."""

    full: FullAttention
    window: LayerCache
    """What a windowed layer stores; the full cache where the file switches windows off."""
    chunk: LayerCache

    def layer(self, kind: Kind) -> Layer:
        """What a layer of ``kind`` stores, states left out."""
        match kind:
            case "window":
                return (self.window,)
            case "chunk":
                return (self.chunk,)
            case "full" | "both":
                return (self.full,)
            case _:
                return ()


def read_attention(text: Fields) -> tuple[Layer, ...]:
    """Every layer of a plain decoder."""
    layers = layer_count(text)
    if text.has("block_configs"):
        return _read_blocks(text, layers)
    if isinstance(text.value("num_kv_heads"), list) or text.has("num_key_value_heads_per_layer"):
        return _read_listed_heads(text, layers)
    kinds = layer_kinds(text, layers)
    attention = read_heads(text, kinds)
    plain = tuple(attention.layer(kind) for kind in kinds)
    return share(text, _override(text, plain))


def layer_count(text: Fields, *names: str) -> int:
    """Number of layers; 0 where the file does not say (then there is a problem, and lists go unchecked)."""
    own = [name for name in class_defaults(text.model_type, nested=True) if name in LAYER_NAMES]
    if not names and own and text.has(*LAYER_NAMES) and not text.has(*own, "num_hidden_layers"):
        # GLM-10B and GLM-4 share a model_type and nothing else.
        text.problem(texts.OTHER_CLASS, text.named(*LAYER_NAMES), architecture=text.model_type)
    return text.need(*(names or LAYER_NAMES), term="layers", high=MAX_LAYERS, stand_in=0)


def draft_layers(text: Fields) -> int | None:
    """Layers that only draft (MTP): present in the file, not part of the model's own cache. None: a wrong number."""
    count = text.find(*DRAFT_NAMES, term="draft_layers", low=0, high=MAX_LAYERS, stand_in=-1) or 0
    if count > 0:
        text.note("draft-layers-not-counted", texts.DRAFT_LAYERS, count=count)
    return count if count >= 0 else None


# --- Which layers --------------------------------------------------------------------------------------------------


def layer_kinds(text: Fields, layers: int) -> tuple[Kind, ...]:
    """What each layer is, by the first rule that the file's fields answer (KV cache reference, section C)."""
    kinds = _kinds(text, layers)
    # The class forces Gemma 4's last layer to see everything, whatever the file says.
    return (*kinds[:-1], "full") if text.model_type.startswith("gemma4") and kinds else kinds


def _kinds(text: Fields, layers: int) -> tuple[Kind, ...]:
    listed = listed_kinds(text, layers, "full", "window", "chunk")
    if listed is not None:
        return listed
    more = draft_layers(text)
    hybrid = text.numbers("hybrid_layer_pattern", length=layers, more=more, high=1)
    if hybrid is not None:
        return choose("window", (bool(sliding) for sliding in hybrid))
    windows = _listed_windows(text, layers, more=more)
    if windows is not None:
        return choose("window", (bool(tokens) for tokens in windows))
    chunked = _chunked_kinds(text, layers)
    if chunked is not None:
        return chunked
    window = window_tokens(text)
    if window is None or not text.flag("use_sliding_window", default=True):
        return choose("full", (True for _ in range(layers)))
    pattern = _pattern(text)
    if pattern:
        return choose("window", (pattern[i % len(pattern)] == "L" for i in range(layers)))
    first = text.find("max_window_layers", low=0, high=MAX_LAYERS) or 0
    return choose("window", (i >= first for i in range(layers)))


def choose(kind: Kind, chosen: Iterable[bool], other: Kind = "full") -> tuple[Kind, ...]:
    """``kind`` where chosen, the other kind elsewhere."""
    return tuple([kind if yes else other for yes in chosen])


def listed_kinds(text: Fields, layers: int, *allowed: Kind) -> tuple[Kind, ...] | None:
    """The kinds that a list of words names, one a layer; None where there is no such list.

    ``allowed``: what the family's rules know. A layer of another kind is a problem, never a layer that keeps nothing.
    """
    if not text.has(*LIST_NAMES):
        return None
    name = text.named(*LIST_NAMES)
    words = text.words(name, length=layers, more=draft_layers(text)) or ()
    kinds: list[Kind] = []
    for index, word in enumerate(words):
        kind = LAYER_TYPES.get(word)
        if kind is None:
            text.problem(texts.NOT_A_KIND, name, index, value=shown(word))
        elif kind not in allowed:
            text.problem(texts.NOT_THESE_RULES, name, index, value=word, architecture=text.model_type)
        kinds.append(kind if kind in allowed else allowed[0])
    return tuple(kinds) or (allowed[0],) * layers


def _chunked_kinds(text: Fields, layers: int) -> tuple[Kind, ...] | None:
    """Llama 4: layers with rotary embeddings see their chunk only, every fourth sees everything."""
    every = text.find("no_rope_layer_interval", high=MAX_LAYERS)
    listed = text.value("no_rope_layers")  # an empty list means the interval; SmolLM 3 has the list and no chunks
    if not (listed or every) or not text.find("attention_chunk_size", term="chunk_tokens", high=MAX_TOKENS):
        return None
    if listed:
        rope = text.numbers("no_rope_layers", length=layers, high=1)
        return None if rope is None else choose("chunk", (bool(uses_rope) for uses_rope in rope))
    return choose("chunk", ((i + 1) % (every or 1) != 0 for i in range(layers)))


def _pattern(text: Fields) -> str:
    """One cycle of layers: L windowed, G full. Empty where the file has no pattern."""
    for name in ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers"):
        value = text.value(name)
        if isinstance(value, str):
            if not value or set(value) - {"L", "G"} or len(value) > MAX_LAYERS:
                text.problem(texts.NOT_A_KIND, name, value=shown(value))
                return ""
            return value
        if value is not None:
            every = text.find(name, term="window_pattern", high=MAX_LAYERS) or 1
            return "L" * (every - 1) + "G"
    pattern = text.word("sliding_window_pattern") or ""
    if pattern:
        text.record("window_pattern", pattern, "class default", f"{text.model_type}.sliding_window_pattern")
    return pattern


def window_tokens(text: Fields) -> int | None:
    """Length of the sliding window; None where the file has none, or null, 0 or false, which vLLM takes for null
    (``config/model.py:815-821``)."""
    if isinstance(text.value("sliding_window"), list):
        lengths = sorted({tokens for tokens in _listed_windows(text) or () if tokens})
        if len(lengths) > 1:
            text.problem(texts.NOT_A_KIND, "sliding_window", value=shown(lengths))
        return text.derive("window_tokens", lengths[0], "sliding_window") if lengths else None
    own = ("window_size",) if text.model_type == "plamo3" else ()  # GPT-Neo masks by it, and keeps every token
    if text.value("sliding_window") == 0:  # false equals it
        return None
    tokens = text.find("sliding_window", *own, term="window_tokens", high=MAX_TOKENS)
    if tokens is None and (around := text.find("local_attention", high=MAX_TOKENS)):  # ModernBERT: both directions
        return text.derive("window_tokens", max(1, around // 2), f"local_attention / 2 = {around} / 2")
    return tokens


def _listed_windows(text: Fields, layers: int = 0, *, more: int | None = 0) -> tuple[int, ...] | None:
    """``sliding_window`` as a list, one entry a layer: 0 for null, where the layer sees everything."""
    if not isinstance(text.value("sliding_window"), list):
        return None
    items = text.items("sliding_window", length=layers, more=more)
    if items is None:
        return None
    path = (*text.path, "sliding_window")
    return tuple(
        0 if item is None else text.checked_integer(item, (*path, i), 0, MAX_TOKENS) or 0
        for i, item in enumerate(items)
    )


# --- What a layer stores -------------------------------------------------------------------------------------------


def read_heads(text: Fields, kinds: tuple[Kind, ...]) -> Attention:
    """The vectors of full, windowed and chunked layers."""
    heads = query_heads(text)
    dim = head_dim(text, heads)
    common = Heads(kv_heads=kv_heads(text, heads), key_dim=dim, value_dim=_value_dim(text, dim))
    full = _full_heads(text, common, heads).full()
    return Attention(
        full=full,
        window=_windowed(text, _window_heads(text, common, heads)) if "window" in kinds else full,
        chunk=_chunked(text, full) if "chunk" in kinds else full,
    )


def _chunked(text: Fields, full: FullAttention) -> LayerCache:
    tokens = text.find("attention_chunk_size", term="chunk_tokens", high=MAX_TOKENS)
    if tokens is None:
        _no_length(text, "attention_chunk_size")
        return full
    return ChunkedAttention(kv_heads=full.kv_heads, key_dim=full.key_dim, value_dim=full.value_dim, chunk_tokens=tokens)


def _no_length(text: Fields, name: str) -> None:
    """A problem where the file does not switch a window off but leaves its length out."""
    if name not in text.data:
        text.problem(texts.NO_WINDOW, name)


def _windowed(text: Fields, heads: Heads) -> LayerCache:
    tokens = window_tokens(text)
    if tokens is None:
        _no_length(text, "sliding_window")
        return heads.full()
    longest = text.find("max_position_embeddings", term="max_context_tokens", high=MAX_TOKENS)
    limits = longest is None or tokens < longest
    if not limits:
        text.note("window-not-a-limit", texts.WINDOW_NOT_A_LIMIT, window=f"{tokens:,}", longest=f"{longest:,}")
    return SlidingWindow(
        kv_heads=heads.kv_heads,
        key_dim=heads.key_dim,
        value_dim=heads.value_dim,
        window_tokens=tokens,
        limits=limits,
    )


def query_heads(text: Fields) -> int:
    """Query heads; 0 where there is a problem with them."""
    heads = find_query_heads(text)
    if heads is None:
        text.missing(*HEAD_NAMES)
    return heads or 0


def find_query_heads(text: Fields) -> int | None:
    """Query heads; None where the file does not say."""
    if text.model_type == "jetmoe" and not text.has(*HEAD_NAMES):  # each expert brings its own query heads
        shared, experts = text.need("num_key_value_heads", term="kv_heads"), text.need("num_experts_per_tok")
        how = f"num_key_value_heads * num_experts_per_tok = {shared} * {experts}"
        return text.derive("heads", shared * experts, how)
    return text.find(*HEAD_NAMES, term="heads", stand_in=0)


def kv_heads(text: Fields, heads: int) -> int:
    """Heads whose keys and values are stored; the query heads where the file does not say."""
    if text.flag("multi_query") and not text.flag("new_decoder_architecture"):
        return text.derive("kv_heads", 1, "multi_query")
    if text.value("attention_head_type") == "multiquery":  # SantaCoder's first files
        return text.derive("kv_heads", 1, "attention_head_type = multiquery")
    if sharing := text.find("n_shared_head"):  # PLaMo; its num_key_value_heads are the query heads
        return text.derive("kv_heads", -(-heads // sharing), f"query heads / n_shared_head = {heads} / {sharing}")
    attention = text.part("attn_config", defaults=text.defaults)
    if attention is not None:  # MPT, DBRX
        if attention.word("attn_type") == "multiquery_attention":
            return text.derive("kv_heads", 1, "attn_type = multiquery_attention")
        if listed := shared_heads(attention, heads, "kv_n_heads"):
            return listed
    if text.flag("multi_query_attention") and (groups := shared_heads(text, heads, "multi_query_group_num")):
        return groups
    return shared_heads(text, heads, *KV_HEAD_NAMES) or text.derive("kv_heads", heads, "= query heads")


def shared_heads(part: Fields, heads: int, *names: str, term: str = "kv_heads") -> int | None:
    """KV heads under one of ``names``, each of which serves equally many of the query heads."""
    shared = part.find(*names, term=term)
    if shared and heads % shared:
        part.problem(texts.NOT_SHARED, part.named(*names), heads=heads, kv_heads=shared)
    return shared


def head_dim(text: Fields, heads: int) -> int:
    """Size of one head: explicit first, else hidden size over heads."""
    given = text.find("head_dim", low=0) if "head_dim" in text.data else None  # 0 stands for "not given" in some files
    if given:
        return given
    # kv_channels is a head size for these families only: Zamba 2 carries the field with another meaning.
    own = ("kv_channels",) if text.model_type in ("qwen", "chatglm", "jetmoe") else ()
    named = text.find("hidden_size_per_head", "attention_head_dim", "d_kv", *own, term="head_dim")
    if named or (named := text.find("head_dim", low=0)):  # what the file names comes before what the class supplies
        return named
    hidden = text.need(*HIDDEN_NAMES, term="hidden_size", stand_in=0)
    names: tuple[str, ...] = HIDDEN_NAMES
    if projected := text.find("attention_projection_size"):  # Yuan 2
        hidden, names = projected, ("attention_projection_size",)
    return text.divide("head_dim", hidden, heads, f"{names[0]} // num_attention_heads", text.named(*names))


def _value_dim(text: Fields, key_dim: int) -> int:
    """MiMo-V2's values are narrower than its keys; elsewhere ``v_head_dim`` belongs to latent attention."""
    own = text.has("hybrid_layer_pattern") or text.model_type.startswith("mimo_v2")
    return (text.find("v_head_dim", term="value_dim") if own else None) or key_dim


def _full_heads(text: Fields, common: Heads, queries: int) -> Heads:
    """Gemma 4's full layers have their own head size, and their own heads where keys double as values."""
    dim = text.find("global_head_dim", term="full_head_dim")
    if dim is None:
        return common
    heads = common.kv_heads
    if text.flag("attention_k_eq_v"):
        heads = shared_heads(text, queries, "num_global_key_value_heads", term="full_kv_heads") or heads
        text.note("keys-as-values-stored-twice", texts.KEYS_AS_VALUES)
    return Heads(kv_heads=heads, key_dim=dim, value_dim=dim)


def _window_heads(text: Fields, common: Heads, queries: int) -> Heads:
    """MiMo-V2 and Step 3.5 give windowed layers their own heads."""
    other = text.part("attention_other_setting")
    if other is not None:
        dim = other.find("head_dim", term="window_head_dim") or common.key_dim
        queries = _own_queries(other, queries, *HEAD_NAMES)
        heads = shared_heads(other, queries, *KV_HEAD_NAMES, term="window_kv_heads") or common.kv_heads
        return Heads(kv_heads=heads, key_dim=dim, value_dim=dim)
    queries = _own_queries(text, queries, "swa_num_attention_heads")
    shared = shared_heads(text, queries, "swa_num_key_value_heads", term="window_kv_heads")
    return Heads(
        kv_heads=shared or common.kv_heads,
        key_dim=text.find("swa_head_dim", term="window_head_dim") or common.key_dim,
        value_dim=text.find("swa_v_head_dim", term="window_value_dim") or common.value_dim,
    )


def _own_queries(part: Fields, queries: int, *names: str) -> int:
    """Query heads of some of the layers; those of all where the file does not say."""
    own = part.find(*names, term="layer_heads", stand_in=0)
    return queries if own is None else own


# --- Layers that store nothing, or their own number of heads -------------------------------------------------------


def share(text: Fields, layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """Empties the layers that read another layer's cache."""
    last = text.find("num_kv_shared_layers", term="shared_layers", low=0, high=MAX_LAYERS)
    if last:
        if last >= len(layers) > 0:
            text.problem(texts.OUT_OF_BOUNDS, "num_kv_shared_layers", low=0, high=len(layers) - 1, value=last)
            return layers
        text.note("shared-layers", texts.SHARED_LAYERS, count=last)
        return layers[: len(layers) - last] + ((),) * last
    if text.flag("use_cla"):  # Hunyuan: the flag decides, the factor alone means nothing
        factor = text.find("cla_share_factor", high=MAX_LAYERS) or 1
        if factor > 1:
            text.note("shared-layers", texts.SHARED_LAYERS, count=len(layers) - len(range(0, len(layers), factor)))
        return tuple(layer if i % factor == 0 else () for i, layer in enumerate(layers))
    return layers


def _override(text: Fields, layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """``per_layer_config`` of transformers 5: heads and head size of single layers, by layer number."""
    overrides = text.part("per_layer_config")
    if overrides is None:
        return layers
    changed = list(layers)
    for name in overrides.data:
        own = overrides.part(name)
        index = int(name) if name.isascii() and name.isdigit() and len(name) < 6 else len(layers)
        if index >= len(layers) > 0:
            overrides.problem(texts.OUTSIDE_LAYERS, name, value=shown(name), layers=len(layers))
        elif own is not None and layers:
            heads = shared_heads(own, _own_queries(own, query_heads(text), *HEAD_NAMES), "num_key_value_heads")
            dim = own.find("head_dim")
            changed[index] = tuple(_with_heads(cache, heads, dim) for cache in layers[index])
    return tuple(changed)


def _with_heads(cache: LayerCache, heads: int | None, dim: int | None) -> LayerCache:
    if not isinstance(cache, FullAttention | SlidingWindow | ChunkedAttention):
        return cache
    return replace(
        cache,
        kv_heads=heads or cache.kv_heads,
        key_dim=dim or cache.key_dim,
        value_dim=dim or cache.value_dim,
    )


def _read_blocks(text: Fields, layers: int) -> tuple[Layer, ...]:
    """Nemotron-NAS: each block says how many query heads share one KV head, or that it has no attention."""
    heads = query_heads(text)
    dim = head_dim(text, heads)
    blocks = text.parts("block_configs", length=layers) or ()
    return tuple(_block(text, block, heads, dim) for block in blocks)


def _block(text: Fields, block: Fields, heads: int, dim: int) -> Layer:
    attention = block.part("attention")
    if attention is None or attention.flag("no_op") or attention.flag("replace_with_linear"):
        return ()
    listed = shared_heads(attention, heads, "num_key_value_heads")
    per_head = attention.find("n_heads_in_group")
    if listed is None and per_head is not None:
        how = "num_attention_heads // n_heads_in_group"
        listed = attention.divide("kv_heads", heads, per_head, how, "n_heads_in_group")
    own = Heads(kv_heads=listed or kv_heads(text, heads), key_dim=dim, value_dim=dim)
    window = attention.find("window_length", term="window_tokens", high=MAX_TOKENS)
    if window is None:
        return (own.full(),)
    return (SlidingWindow(kv_heads=own.kv_heads, key_dim=dim, value_dim=dim, window_tokens=window),)


def _read_listed_heads(text: Fields, layers: int) -> tuple[Layer, ...]:
    """OpenELM, DeciLM 7B: KV heads are a list, one entry a layer."""
    name = text.named("num_kv_heads", "num_key_value_heads_per_layer")
    listed = text.numbers(name, length=layers, low=1) or ()
    dim = head_dim(text, 0 if text.value("head_dim") else query_heads(text))
    queries = text.numbers("num_query_heads", length=layers, low=1)
    if queries is None:
        queries = (find_query_heads(text) or 0,) * len(listed)
    for index, (heads, shared) in enumerate(zip(queries, listed, strict=False)):
        if heads % shared:
            text.problem(texts.NOT_SHARED, name, index, heads=heads, kv_heads=shared)
    return tuple((Heads(kv_heads=heads, key_dim=dim, value_dim=dim).full(),) for heads in listed)


Reader = Callable[[Fields, Fields], tuple[Layer, ...]]
"""``(text part, whole file) -> layers``."""
