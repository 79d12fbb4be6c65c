"""Known mistakes.

A mistake takes what a cache is reckoned from and gives what somebody who makes it would reckon from. That way two of
them can be made one after the other, as people do.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from kvviz.core.cache import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    LayerCache,
    RecurrentState,
    SlidingWindow,
    content,
)
from kvviz.core.dtypes import KvDtype
from kvviz.core.units import format_bytes, format_count, format_exact
from kvviz.mistakes.claim import Per
from kvviz.planning import engine_name
from kvviz.sizing import Sizing
from kvviz.text import Message, Text
from kvviz.text import mistakes as text


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoning:
    """What a cache is reckoned from. A mistake gives another one."""

    caches: tuple[tuple[LayerCache, int], ...]
    """Each kind of cache, and how many layers have it."""
    dtype: KvDtype
    tokens: int
    factor: Fraction = Fraction(1)
    """What the result is multiplied by in the end."""
    extra_bytes: Fraction = Fraction(0)
    """What is no cache and added."""

    def request_bytes(self) -> Fraction:
        """Bytes of one request."""
        each = (n * content(((cache,),), self.dtype).bytes_at(self.tokens) for cache, n in self.caches)
        return sum(each, Fraction(0)) * self.factor

    def token_bytes(self) -> Fraction:
        """Bytes that the last token of the request adds."""
        shorter = replace(self, tokens=self.tokens - 1)
        return self.request_bytes() - shorter.request_bytes()


Make = Callable[[Reckoning, Sizing], Reckoning | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One known way to a wrong number."""

    code: str
    """Stable name."""
    about: str
    """What it is about: nobody makes two mistakes about the same thing at once."""
    name: Text
    why: Text
    """Why it is wrong, with the numbers of the case."""
    make: Make
    """What somebody who makes it reckons from; None where the case gives no occasion for it."""
    cost: int = 2
    """The rarer, the higher: explanations are sorted by it."""
    only: frozenset[Per] = frozenset({"token", "request", "load"})
    """What a number must be given for to be wrong in this way."""
    said: frozenset[Per] | None = None
    """What the number must *say* it is for; None: it need not say."""
    alone: bool = False
    """It leaves nothing that another mistake could change."""

    def wrong_bytes(self, sizing: Sizing) -> Fraction | None:
        """Bytes of one request as somebody who makes it would say; None where there is no occasion for it."""
        made = self.make(right(sizing), sizing)
        return None if made is None else made.request_bytes() + made.extra_bytes


def right(sizing: Sizing) -> Reckoning:
    """What the content of one request is reckoned from."""
    counts = Counter(cache for layer in sizing.architecture.layers for cache in layer)
    return Reckoning(caches=tuple(counts.items()), dtype=sizing.kv_dtype, tokens=sizing.tokens)


_Headed = FullAttention | SlidingWindow | ChunkedAttention
_ATTENTION: Final = (FullAttention, SlidingWindow, ChunkedAttention, LatentAttention, CompressedAttention)


def _mapped(of: Reckoning, change: Callable[[LayerCache], LayerCache | None]) -> Reckoning | None:
    """``of`` with each cache changed, or dropped for None; None where that leaves all as it was."""
    made = tuple((new, n) for cache, n in of.caches if (new := change(cache)) is not None)
    return None if made == of.caches else replace(of, caches=made)


def _heads(change: Callable[[_Headed, int, int], _Headed]) -> Make:
    """A mistake about what is stored in heads, from the hidden size and the query heads."""

    def make(of: Reckoning, sizing: Sizing) -> Reckoning | None:
        hidden, heads = sizing.architecture.hidden_size, sizing.architecture.attention_heads
        if not hidden or not heads:
            return None
        return _mapped(of, lambda cache: change(cache, hidden, heads) if isinstance(cache, _Headed) else cache)

    return make


def _hidden_width(of: Reckoning, sizing: Sizing) -> Reckoning | None:
    hidden = sizing.architecture.hidden_size
    if not hidden:
        return None

    def wide(cache: LayerCache) -> LayerCache | None:
        if isinstance(cache, LatentAttention):
            return FullAttention(kv_heads=1, key_dim=hidden, value_dim=hidden)
        if isinstance(cache, IndexerKeys):
            return None
        return replace(cache, kv_heads=1, key_dim=hidden, value_dim=hidden) if isinstance(cache, _Headed) else cache

    return _mapped(of, wide)


def _latents(change: Callable[[LatentAttention], LayerCache]) -> Make:
    """A mistake about latents; who makes it does not know of indexers either."""

    def make(of: Reckoning, sizing: Sizing) -> Reckoning | None:
        if not any(isinstance(cache, LatentAttention) for cache, _ in of.caches):
            return None
        kept = replace(of, caches=tuple((c, n) for c, n in of.caches if not isinstance(c, IndexerKeys)))
        return _mapped(kept, lambda cache: change(cache) if isinstance(cache, LatentAttention) else cache)

    return make


def _latent_twice(of: Reckoning, sizing: Sizing) -> Reckoning | None:
    doubled = tuple((c, 2 * n if isinstance(c, LatentAttention) else n) for c, n in of.caches)
    return None if doubled == of.caches else replace(of, caches=doubled)


def _without(*kinds: type) -> Make:
    return lambda of, sizing: _mapped(of, lambda cache: None if isinstance(cache, kinds) else cache)


def _wide_indexer(of: Reckoning, sizing: Sizing) -> Reckoning | None:
    wide = KvDtype(name="16 bits", value_bytes=Fraction(2))
    if of.dtype.value_bytes != wide.value_bytes:
        return None
    return _mapped(of, lambda cache: replace(cache, packed=False) if isinstance(cache, IndexerKeys) else cache)


def _width(value_bytes: Fraction | int) -> Make:
    """Another size of a value than the cache's own."""

    def make(of: Reckoning, sizing: Sizing) -> Reckoning | None:
        if {of.dtype.value_bytes, of.dtype.values.value_bytes} == {value_bytes}:
            return None
        return replace(of, dtype=KvDtype(name="other", value_bytes=Fraction(value_bytes)))

    return make


def _no_scales(of: Reckoning, sizing: Sizing) -> Reckoning | None:
    value_bytes = min((Fraction(2), Fraction(1), Fraction(1, 2)), key=lambda b: abs(b - of.dtype.value_bytes))
    if value_bytes == of.dtype.value_bytes and not of.dtype.vector_scale_bytes and of.dtype.packing == "plain":
        return None
    return replace(of, dtype=KvDtype(name="plain", value_bytes=value_bytes))


def _windows_ignored(of: Reckoning, sizing: Sizing) -> Reckoning | None:
    def full(cache: LayerCache) -> LayerCache:
        if isinstance(cache, SlidingWindow | ChunkedAttention):
            return FullAttention(kv_heads=cache.kv_heads, key_dim=cache.key_dim, value_dim=cache.value_dim)
        return cache

    return _mapped(of, full)


def _compression_ignored(of: Reckoning, sizing: Sizing) -> Reckoning | None:
    return _mapped(of, lambda c: replace(c, ratio=1) if isinstance(c, CompressedAttention) and c.ratio > 1 else c)


def _all_windowed(of: Reckoning, sizing: Sizing) -> Reckoning | None:
    limits = [cache.window_tokens for cache, _ in of.caches if isinstance(cache, SlidingWindow) and cache.limits]
    if not limits:
        return None

    def windowed(cache: LayerCache) -> LayerCache:
        if not isinstance(cache, FullAttention):
            return cache
        return SlidingWindow(
            kv_heads=cache.kv_heads, key_dim=cache.key_dim, value_dim=cache.value_dim, window_tokens=min(limits)
        )

    return _mapped(of, windowed)


def _all_layers(of: Reckoning, sizing: Sizing) -> Reckoning | None:
    layers = sizing.architecture.layers
    missing = sum(1 for layer in layers if not any(isinstance(cache, _ATTENTION) for cache in layer))
    attention = [(n, cache) for cache, n in of.caches if isinstance(cache, FullAttention | LatentAttention)]
    if not missing or not attention:
        return None
    _, usual = max(attention, key=lambda entry: entry[0])
    kept = tuple((c, n) for c, n in of.caches if not isinstance(c, RecurrentState | CrossAttention))
    return replace(of, caches=(*kept, (usual, missing)))


def _textbook(of: Reckoning, sizing: Sizing) -> Reckoning | None:
    facts = {fact.term: fact.value for fact in sizing.architecture.facts}
    heads, dim = facts.get("kv_heads"), facts.get("head_dim")
    if not isinstance(heads, int) or not isinstance(dim, int):
        return None
    alike = FullAttention(kv_heads=heads, key_dim=dim, value_dim=dim)
    made = ((alike, len(sizing.architecture.layers)),)
    return None if made == of.caches else replace(of, caches=made)


def _max_length(of: Reckoning, sizing: Sizing) -> Reckoning | None:
    maximum = sizing.architecture.max_context_tokens
    return None if maximum in (None, of.tokens) else replace(of, tokens=maximum or 1)


def _no_output(of: Reckoning, sizing: Sizing) -> Reckoning | None:
    prompt = sizing.scenario.input_tokens
    return None if prompt in (0, of.tokens) else replace(of, tokens=prompt)


def _times(factor: Callable[[Sizing], int | Fraction]) -> Make:
    """The result multiplied by something."""

    def make(of: Reckoning, sizing: Sizing) -> Reckoning | None:
        by = factor(sizing)
        return None if by == 1 else replace(of, factor=of.factor * by)

    return make


def _gpus(sizing: Sizing) -> int:
    return sizing.plan.gpus if sizing.plan else 1


def _divided(sizing: Sizing) -> Fraction:
    """1 where each GPU really holds no more than its part."""
    gpus = _gpus(sizing)
    if gpus == 1 or sizing.held_bytes is None or sizing.held_bytes * gpus * 100 <= sizing.content_bytes * 103:
        return Fraction(1)
    return Fraction(1, gpus)


def weights_bytes(sizing: Sizing) -> int:
    """Of the whole model; 0 where they are not known."""
    return sizing.budget.weights.value_bytes * _gpus(sizing) if sizing.budget else 0


def _beside(share: Fraction, *, with_cache: bool) -> Make:
    """Weights in place of a cache, or on top of it."""

    def make(of: Reckoning, sizing: Sizing) -> Reckoning | None:
        weights = weights_bytes(sizing)
        if not weights:
            return None
        return replace(of, factor=of.factor if with_cache else Fraction(0), extra_bytes=weights * share)

    return make


_REQUESTS: Final = frozenset[Per]({"request", "load"})

# In the order in which two of them are made. What they rest on: published answers of calculators and threads.
MISTAKES: Final[tuple[Mistake, ...]] = (
    Mistake(
        code="windows-ignored",
        about="windows",
        name=text.WINDOWS_IGNORED,
        why=text.WINDOWS_IGNORED_WHY,
        make=_windows_ignored,
    ),
    Mistake(
        code="windows-dropped",
        about="windows",
        name=text.WINDOWS_DROPPED,
        why=text.WINDOWS_DROPPED_WHY,
        make=_without(SlidingWindow, ChunkedAttention),
    ),
    Mistake(
        code="all-windowed",
        about="windows",
        name=text.ALL_WINDOWED,
        why=text.ALL_WINDOWED_WHY,
        make=_all_windowed,
    ),
    Mistake(
        code="compression-ignored",
        about="windows",
        name=text.NOT_COMPRESSED,
        why=text.NOT_COMPRESSED_WHY,
        make=_compression_ignored,
    ),
    Mistake(code="all-layers", about="layers", name=text.ALL_LAYERS, why=text.ALL_LAYERS_WHY, make=_all_layers),
    Mistake(code="textbook", about="layers", name=text.TEXTBOOK, why=text.TEXTBOOK_WHY, make=_textbook),
    Mistake(
        code="states-ignored",
        about="states",
        name=text.STATES_IGNORED,
        why=text.STATES_IGNORED_WHY,
        make=_without(RecurrentState),
    ),
    Mistake(
        code="hidden-over-heads",
        about="width",
        name=text.HIDDEN_OVER_HEADS,
        why=text.HIDDEN_OVER_HEADS_WHY,
        make=_heads(lambda c, hidden, heads: replace(c, key_dim=hidden // heads, value_dim=hidden // heads)),
    ),
    Mistake(
        code="mha",
        about="heads",
        name=text.MHA,
        why=text.MHA_WHY,
        make=_heads(lambda cache, hidden, heads: replace(cache, kv_heads=heads)),
    ),
    Mistake(code="hidden-width", about="heads", name=text.HIDDEN_WIDTH, why=text.HIDDEN_WIDTH_WHY, make=_hidden_width),
    Mistake(
        code="mla-expanded",
        about="heads",
        name=text.MLA_EXPANDED,
        why=text.MLA_EXPANDED_WHY,
        make=_latents(
            lambda c: (
                FullAttention(kv_heads=c.heads, key_dim=c.head_key_dim, value_dim=c.head_value_dim) if c.heads else c
            )
        ),
    ),
    Mistake(
        code="mla-rope-heads",
        about="heads",
        name=text.MLA_ROPE_HEADS,
        why=text.MLA_ROPE_HEADS_WHY,
        make=_latents(
            lambda c: FullAttention(kv_heads=c.heads, key_dim=c.rope_dim, value_dim=c.rope_dim) if c.heads else c
        ),
    ),
    Mistake(code="mla-twice", about="factor", name=text.MLA_TWICE, why=text.MLA_TWICE_WHY, make=_latent_twice),
    Mistake(
        code="no-indexer", about="indexer", name=text.NO_INDEXER, why=text.NO_INDEXER_WHY, make=_without(IndexerKeys)
    ),
    Mistake(
        code="indexer-wide", about="indexer", name=text.INDEXER_WIDE, why=text.INDEXER_WIDE_WHY, make=_wide_indexer
    ),
    Mistake(
        code="no-factor-2",
        about="factor",
        name=text.NO_TWO,
        why=text.NO_TWO_WHY,
        make=_heads(lambda cache, hidden, heads: replace(cache, value_dim=0)),
    ),
    Mistake(
        code="extra-factor-2",
        about="factor",
        name=text.EXTRA_TWO,
        why=text.EXTRA_TWO_WHY,
        make=_times(lambda sizing: 2),
        cost=3,
    ),
    Mistake(code="no-scales", about="dtype", name=text.NO_SCALES, why=text.NO_SCALES_WHY, make=_no_scales),
    Mistake(code="fp32", about="dtype", name=text.FP32, why=text.WIDTH_WHY, make=_width(4)),
    Mistake(code="16-bit", about="dtype", name=text.SIXTEEN, why=text.WIDTH_WHY, make=_width(2)),
    Mistake(code="8-bit", about="dtype", name=text.EIGHT, why=text.WIDTH_WHY, make=_width(1)),
    Mistake(code="4-bit", about="dtype", name=text.FOUR, why=text.WIDTH_WHY, make=_width(Fraction(1, 2))),
    Mistake(code="mxfp4", about="dtype", name=text.MXFP4, why=text.WIDTH_WHY, make=_width(Fraction(17, 32)), cost=3),
    Mistake(code="bits", about="dtype", name=text.BITS, why=text.WIDTH_WHY, make=_width(8), cost=3),
    Mistake(code="max-length", about="length", name=text.MAX_LENGTH, why=text.MAX_LENGTH_WHY, make=_max_length),
    Mistake(
        code="no-output", about="length", name=text.NO_OUTPUT, why=text.NO_OUTPUT_WHY, make=_no_output, only=_REQUESTS
    ),
    Mistake(
        code="summed",
        about="requests",
        name=text.SUMMED,
        why=text.SUMMED_WHY,
        make=_times(lambda sizing: sizing.scenario.requests),
        said=frozenset({"request"}),
    ),
    Mistake(
        code="batch-of-one",
        about="requests",
        name=text.BATCH_OF_ONE,
        why=text.BATCH_OF_ONE_WHY,
        make=_times(lambda sizing: Fraction(1, sizing.scenario.requests)),
        said=frozenset({"load"}),
    ),
    Mistake(
        code="times-gpus",
        about="gpus",
        name=text.TIMES_GPUS,
        why=text.TIMES_GPUS_WHY,
        make=_times(_gpus),
    ),
    Mistake(code="divided", about="gpus", name=text.DIVIDED, why=text.DIVIDED_WHY, make=_times(_divided)),
    Mistake(
        code="weights-included",
        about="weights",
        name=text.WEIGHTS_INCLUDED,
        why=text.WEIGHTS_INCLUDED_WHY,
        make=_beside(Fraction(1), with_cache=True),
        only=_REQUESTS,
    ),
    Mistake(
        code="rule-of-thumb",
        about="weights",
        name=text.RULE_OF_THUMB,
        why=text.RULE_OF_THUMB_WHY,
        make=_beside(Fraction(12, 10), with_cache=False),
        only=_REQUESTS,
        alone=True,
        cost=3,
    ),
    Mistake(
        code="fifth-of-weights",
        about="weights",
        name=text.FIFTH_OF_WEIGHTS,
        why=text.RULE_OF_THUMB_WHY,
        make=_beside(Fraction(2, 10), with_cache=False),
        only=_REQUESTS,
        alone=True,
        cost=3,
    ),
)


def why(mistake: Mistake, sizing: Sizing) -> Message:
    """Why it is wrong, with the numbers of this case."""
    return Message(mistake.why, values_of(sizing))


def name(mistake: Mistake, sizing: Sizing) -> Message:
    """What the mistake is called in this case."""
    return Message(mistake.name, values_of(sizing))


def values_of(sizing: Sizing) -> dict[str, object]:
    """The numbers that sentences speak of."""
    architecture, scenario = sizing.architecture, sizing.scenario
    caches = [cache for layer in architecture.layers for cache in layer]
    headed = [cache for cache in caches if isinstance(cache, _Headed)]
    limits = {c.window_tokens for c in caches if isinstance(c, SlidingWindow)}
    limits |= {c.chunk_tokens for c in caches if isinstance(c, ChunkedAttention)}
    hidden, heads = architecture.hidden_size or 0, architecture.attention_heads or 1
    storing = sum(1 for layer in architecture.layers if any(isinstance(c, _ATTENTION) for c in layer))
    return {
        "hidden": format_count(hidden),
        "heads": format_count(heads),
        "derived": format_count(hidden // heads),
        "head_dim": _listed({c.key_dim for c in headed}),
        "kv_heads": _listed({c.kv_heads for c in headed}),
        "layers": format_count(len(architecture.layers)),
        "storing": format_count(storing),
        "limit": _listed(limits),
        "tokens": format_count(sizing.tokens),
        "input": format_count(scenario.input_tokens),
        "maximum": format_count(architecture.max_context_tokens or 0),
        "requests": format_count(scenario.requests),
        "gpus": format_count(_gpus(sizing)),
        "weights": format_bytes(weights_bytes(sizing)),
        "dtype": sizing.kv_dtype.name,
        "stored": format_exact(sizing.kv_dtype.value_bytes),
        "engine": engine_name(scenario),
    }


def _listed(counts: set[int]) -> str:
    return " / ".join(format_count(count) for count in sorted(counts)) or "–"
