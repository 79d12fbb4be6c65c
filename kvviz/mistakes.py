"""Where somebody else's number comes from: known mistakes, tried on the scenario alone and in pairs.

A mistake takes what a cache is reckoned from and gives what somebody who makes it would reckon from. That way two of
them can be made one after the other, as people do.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import floor, log2, log10
from typing import Final, Literal

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
from kvviz.core.errors import KvvizError
from kvviz.core.units import format_bytes, format_count, format_exact
from kvviz.planning import engine_name
from kvviz.scenario import shown
from kvviz.sizing import Sizing
from kvviz.text import Message, Text
from kvviz.text import mistakes as text

NEAR: Final = Fraction(3, 100)
"""What two numbers may differ by, as a share, and still be taken for the same."""
MOST_FINDINGS: Final = 12
MOST_SPANS: Final = 4
_WRITTEN_CHARACTERS: Final = 400
_MOST_BYTES: Final = 10**18
_MOST_EXPONENT: Final = 2
"""Digits of a power of ten; a number is never reckoned from a longer one."""

Per = Literal["token", "request", "load"]
"""What a number can be given for: one token, one request, all requests in flight."""


# --- the number as written -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """One number as somebody printed it."""

    written: str
    """Its digits."""
    value: Fraction
    """In its unit."""
    half: Fraction
    """Half of its last digit, in its unit: how far off the number may be that was rounded to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Somebody's number: an amount or a range, its unit, and what it says it is for."""

    low: Amount
    high: Amount | None
    """The upper end of a range."""
    decimal_bytes: int
    """Bytes of the unit where it is decimal: 10**9 for GB and GiB alike."""
    binary_bytes: int
    """The same where it is binary: 2**30."""
    unit: Literal["decimal", "binary", "unknown"]
    """How the unit is written; unknown: without any."""
    unit_name: str
    """``GB``; empty where there is none."""
    other_name: str
    """What it is mixed up with: ``GiB`` for ``GB``; empty where there is nothing."""
    per: Per | None
    """None where it does not say."""


_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:e[+-]?\d+)?"
_UNIT = r"[kmgt]i?b(?:ytes?)?|[kmgt]i|bytes?|バイト|[bkmgt](?![a-z])"
_CLAIM = re.compile(
    rf"(?<![a-z0-9_.,])({_NUMBER})\s*({_UNIT})?(?:\s*(?:-|–|—|−|~|〜|\bto\b|から)\s*({_NUMBER})\s*({_UNIT})?)?(?![\d])"
)
_PER_TOKEN = re.compile(
    r"(?:/|\bper\b|\ba\b|\beach\b)\s*(?:1\s*)?tok|(?:/\s*トークン)|トークン\s*(?:あたり|当たり|毎|ごと|につき)"
)
_WHO = "user|request|req|seq|session|prompt|conversation|client|slot|call|chat"
_PER_REQUEST = re.compile(
    rf"(?:/|\bper\b|\ba\b|\beach\b|\bone\b)\s*(?:{_WHO})"
    r"|/\s*(?:ユーザー|リクエスト|シーケンス|人|件)|(?:ユーザー|リクエスト|シーケンス|人|件)\s*(?:あたり|当たり|毎|ごと|につき)"
)
_IN_ALL = re.compile(r"\b(?:total|in all|altogether|overall|together|all (?:users|requests))\b|合計|全体|全部|総量")
_SIGN = re.compile(r"(?:^|[\s(=:~〜])[-−]$")
_TAG = re.compile(r"<\s*[/!]?\s*[a-z]")
_CALLED = re.compile(r"[a-z]\($")
"""Before a number without a unit: an argument in a program."""
_UNIT_NAMES: Final = (("B", "B"), ("kB", "KiB"), ("MB", "MiB"), ("GB", "GiB"), ("TB", "TiB"))
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_claim(written: str) -> Claim:
    """``40 GB``, ``20–40 GB``, ``39 GiB``, ``2.5 GB per user``, ``1.2 MB/token``, also inside a sentence.

    Raises KvvizError where there is no such number, or one that no memory has.
    """
    plain = unicodedata.normalize("NFKC", written[:_WRITTEN_CHARACTERS]).lower()
    found = max(_CLAIM.finditer(plain), key=_says_bytes, default=None)
    if found is None or _TAG.search(plain):
        raise _no_number(written)
    if not (found[2] or found[4]) and _CALLED.search(plain[: found.start()]):
        raise _no_number(written)
    if _SIGN.search(plain[: found.start()]):
        raise _refused(text.NEGATIVE, written, "negative")
    if any(len(number.partition("e")[2].lstrip("+-")) > _MOST_EXPONENT for number in (found[1], found[3] or "")):
        raise _refused(text.OUT_OF_RANGE, written, "out-of-range")
    first, last = found[1], found[3]
    unit = (found[4] or found[2] or "").replace("バイト", "b")
    low, high = _amount(first), _amount(last) if last else None
    if high is not None and found[2] and found[4] and found[2][0] != found[4][0]:  # 800 MB – 2 GB
        scale = Fraction(1000) ** (_POWERS.get(found[2][0], 0) - _POWERS.get(found[4][0], 0))
        low = Amount(written=plainly(low.value * scale), value=low.value * scale, half=low.half * scale)
    if high is not None and high.value < low.value:
        low, high = high, low
    if not low.value:
        raise _no_number(written)
    bare = 3 if low.value < 10_000 else 0  # GB or GiB, unless it is far too many of them
    power = _POWERS.get(unit[0], 0) if unit else bare
    if not 1 <= (high or low).value * 1000**power <= _MOST_BYTES:
        raise _refused(text.OUT_OF_RANGE, written, "out-of-range")
    decimal, binary = _UNIT_NAMES[power]
    written_as: Literal["decimal", "binary", "unknown"]
    written_as = "unknown" if not unit else "binary" if "i" in unit and power else "decimal"
    return Claim(
        low=low,
        high=high,
        decimal_bytes=1000**power,
        binary_bytes=1024**power,
        unit=written_as,
        unit_name={"unknown": "", "binary": binary, "decimal": decimal}[written_as],
        other_name="" if not power or not unit else {"binary": decimal, "decimal": binary}[written_as],
        per=_per(plain),
    )


def _says_bytes(found: re.Match[str]) -> int:
    """How sure it is that this number is of bytes: ``20–40 GB`` rather than the ``70b`` of a name, or ``32k``."""
    unit = found[4] or found[2] or ""
    if len(unit) > 1:
        return 4
    return {"": 0, "k": 1, "b": 2}.get(unit, 3)


def _amount(written: str) -> Amount:
    plain = written.replace(",", "")
    mantissa, _, exponent = plain.partition("e")
    decimals = len(mantissa.partition(".")[2])
    scale = Fraction(10) ** int(exponent or 0)
    value = Fraction(mantissa) * scale
    return Amount(written=plainly(value) if exponent else written, value=value, half=scale / (2 * 10**decimals))


def plainly(value: Fraction) -> str:
    """Three significant digits without a power of ten: ``10,700``, ``0.328``."""
    number = float(value)
    if abs(number) >= 99.95:
        return f"{number:,.0f}"
    decimals = 2 - floor(log10(abs(number))) if number else 0
    digits = f"{number:.{max(0, decimals)}f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _per(plain: str) -> Per | None:
    if _PER_TOKEN.search(plain):
        return "token"
    if _PER_REQUEST.search(plain):
        return "request"
    return "load" if _IN_ALL.search(plain) else None


def _no_number(written: str) -> KvvizError:
    return _refused(text.NOT_A_NUMBER, written, "not-a-number")


def _refused(why: Text, written: str, code: str) -> KvvizError:
    return KvvizError(Message(why, {"shown": shown(written)}), code=code)


# --- reckoning, right and wrong --------------------------------------------------------------------------------------


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


def _weights(sizing: Sizing) -> int:
    """Of the whole model; 0 where they are not known."""
    return sizing.budget.weights.value_bytes * _gpus(sizing) if sizing.budget else 0


def _beside(share: Fraction, *, with_cache: bool) -> Make:
    """Weights in place of a cache, or on top of it."""

    def make(of: Reckoning, sizing: Sizing) -> Reckoning | None:
        weights = _weights(sizing)
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
    return Message(mistake.why, _values(sizing))


def name(mistake: Mistake, sizing: Sizing) -> Message:
    """What the mistake is called in this case."""
    return Message(mistake.name, _values(sizing))


def _values(sizing: Sizing) -> dict[str, object]:
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
        "weights": format_bytes(_weights(sizing)),
        "dtype": sizing.kv_dtype.name,
        "stored": format_exact(sizing.kv_dtype.value_bytes),
        "engine": engine_name(scenario),
    }


def _listed(counts: set[int]) -> str:
    return " / ".join(format_count(count) for count in sorted(counts)) or "–"


# --- what reproduces a number ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A number that somebody could have come to."""

    what: Message
    """What it is a number of."""
    mistakes: tuple[Mistake, ...]
    """How; empty: it is right, of ``what``."""
    wrong_bytes: Fraction
    """What comes out."""
    right_bytes: Fraction
    """What is right for the same thing: content, or the amount itself where nothing is wrong."""
    cost: int
    """The simpler, the lower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A candidate that comes to somebody's number."""

    candidate: Candidate
    unit: Literal["as written", "binary", "decimal"]
    """As written, or the unit it really is of."""
    off: Fraction
    """How far the candidate is from the number, as a share of it."""
    printed: bool
    """It is the number, to its last digit."""

    @property
    def cost(self) -> int:
        """The simpler, the lower: a unit mixed up is a little one; a number with few digits says little."""
        mixed_up = {"as written": 0, "binary": 1, "decimal": 5}[self.unit]
        return self.candidate.cost + mixed_up + (2 if self.off > NEAR else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A whole range that one way of reckoning comes to at two lengths."""

    mistakes: tuple[Mistake, ...]
    low_tokens: int
    high_tokens: int
    unit: Literal["as written", "binary", "decimal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Where a number may come from, the simplest first; empty where no known mistake comes to it."""

    claim: Claim
    low: tuple[Finding, ...]
    high: tuple[Finding, ...]
    """Of the upper end of a range."""
    spans: tuple[Span, ...]
    tried: int
    """How many numbers were compared."""


def explained(sizing: Sizing, claim: Claim) -> Explained:
    """Compare ``claim`` with everything that could be meant, and with every known mistake and pair of them."""
    candidates = list(_distinct(sizing, claim))
    return Explained(
        claim=claim,
        low=_findings(candidates, claim.low, claim),
        high=_findings(candidates, claim.high, claim) if claim.high else (),
        spans=_spans(sizing, claim, claim.high) if claim.high else (),
        tried=len(candidates),
    )


def _findings(candidates: list[Candidate], amount: Amount, claim: Claim) -> tuple[Finding, ...]:
    found: dict[Candidate, Finding] = {}
    for unit, unit_bytes in _units(claim):
        target, half = amount.value * unit_bytes, amount.half * unit_bytes
        for candidate in candidates:
            off = abs(candidate.wrong_bytes - target)
            if off <= max(half, NEAR * target):
                finding = Finding(candidate=candidate, unit=unit, off=off / target, printed=off <= half)
                if candidate not in found or finding.cost < found[candidate].cost:
                    found[candidate] = finding
    simplest = sorted(found.values(), key=lambda f: (f.cost, not f.printed, f.off))
    # What takes a whole mistake more than the simplest way, or only comes near where something as simple is exact, is
    # chance rather than an explanation.
    to_the_digit = min((f.cost for f in simplest if f.printed), default=None)
    kept = [f for f in simplest if f.printed or to_the_digit is None or f.cost < to_the_digit]
    return tuple(f for f in kept if f.cost <= kept[0].cost + 2)[:MOST_FINDINGS]


def _units(claim: Claim) -> tuple[tuple[Literal["as written", "binary", "decimal"], int], ...]:
    """The unit as written, and the one it is mixed up with."""
    decimal, binary = claim.decimal_bytes, claim.binary_bytes
    if decimal == binary:
        return (("as written", decimal),)
    if claim.unit == "unknown":
        return ("as written", binary), ("as written", decimal)
    if claim.unit == "binary":
        return ("as written", binary), ("decimal", decimal)
    return ("as written", decimal), ("binary", binary)


_SAME: Final = {"windows": "layers"}
"""Things that one mistake can be about, and others again together."""


def _distinct(sizing: Sizing, claim: Claim) -> Iterator[Candidate]:
    """Each number by the simplest ways to it: no second mistake that changes nothing, no two that are much the same."""
    seen: set[tuple[Text, Fraction, tuple[str, ...]]] = set()
    simple: set[tuple[Text, Fraction]] = set()
    for candidate in sorted(_candidates(sizing, claim), key=lambda c: len(c.mistakes)):
        number = (candidate.what.text, candidate.wrong_bytes)
        alike = (*number, tuple(sorted(_SAME.get(m.about, m.about) for m in candidate.mistakes)))
        if candidate.wrong_bytes <= 0 or alike in seen or (len(candidate.mistakes) != 1 and number in simple):
            continue
        if candidate.mistakes and candidate.wrong_bytes == candidate.right_bytes:  # it changes nothing here
            continue
        seen.add(alike)
        if len(candidate.mistakes) < 2:
            simple.add(number)
        yield candidate


def _candidates(sizing: Sizing, claim: Claim) -> Iterator[Candidate]:
    values = _values(sizing)
    for what, right_bytes in _meant(sizing, claim):
        yield Candidate(
            what=Message(what, values), mistakes=(), wrong_bytes=right_bytes, right_bytes=right_bytes, cost=0
        )
    base = right(sizing)
    for per in _possible(sizing, claim):
        what = {"token": text.OF_TOKEN, "request": text.OF_REQUEST, "load": text.OF_LOAD}[per]
        of_right = _result(base, per, sizing)
        for made, mistakes in _wrong(base, sizing, per, claim):
            yield Candidate(
                what=Message(what, values),
                mistakes=mistakes,
                wrong_bytes=_result(made, per, sizing),
                right_bytes=of_right,
                cost=sum(m.cost for m in mistakes),
            )


def _possible(sizing: Sizing, claim: Claim) -> tuple[Per, ...]:
    """What a number can be given for where it does not say."""
    if claim.per is not None:
        return (claim.per,)
    small = claim.decimal_bytes * claim.low.value < 64 * 1024**2  # more is no number of one token
    of_token: tuple[Per, ...] = ("token",) if small and claim.unit != "unknown" else ()
    return (*of_token, "request", "load") if sizing.scenario.requests > 1 else (*of_token, "request")


def _wrong(base: Reckoning, sizing: Sizing, per: Per, claim: Claim) -> Iterator[tuple[Reckoning, tuple[Mistake, ...]]]:
    """Every mistake, then every two about different things, in the order in which they are made."""
    possible = [m for m in MISTAKES if per in m.only and (m.said is None or claim.per in m.said)]
    if per == "request" and "load" in _possible(sizing, claim):  # the same for both: told once
        possible = [m for m in possible if not m.alone]
    singles = {m.code: made for m in possible if (made := m.make(base, sizing)) is not None}
    for mistake in possible:
        if mistake.code in singles:
            yield singles[mistake.code], (mistake,)
    for first, second in combinations(possible, 2):
        if first.code not in singles or first.about == second.about or first.alone or second.alone:
            continue
        if (both := second.make(singles[first.code], sizing)) is not None:
            yield both, (first, second)


def _result(made: Reckoning, per: Per, sizing: Sizing) -> Fraction:
    if per == "token":
        return made.token_bytes()
    count = sizing.scenario.requests if per == "load" else 1
    return made.request_bytes() * count + made.extra_bytes


def _meant(sizing: Sizing, claim: Claim) -> Iterator[tuple[Text, Fraction]]:
    """What is right, of something: different things of one scenario are easily taken for each other."""
    base, scenario, plan, budget = right(sizing), sizing.scenario, sizing.plan, sizing.budget
    content_bytes, requests = base.request_bytes(), scenario.requests
    possible = _possible(sizing, claim)
    if "token" in possible:
        yield text.OF_TOKEN, base.token_bytes()
        if content_bytes != base.token_bytes() * sizing.tokens:
            yield text.OF_TOKEN_AVERAGE, content_bytes / sizing.tokens
    if "request" in possible:
        yield text.OF_REQUEST, content_bytes
        if plan is not None and sizing.request_bytes is not None and sizing.held_bytes is not None:
            yield text.OF_REQUEST_COUNTED, Fraction(sizing.request_bytes)
            yield text.OF_REQUEST_HELD, Fraction(sizing.held_bytes)
            if plan.gpus > 1:
                yield text.OF_REQUEST_ALL_GPUS, Fraction(sum(plan.per_gpu_request_bytes(sizing.tokens)))
    if "load" in possible:
        yield text.OF_LOAD, content_bytes * requests
        if plan is not None:
            each = -(-requests // sizing.engines)
            yield text.OF_LOAD_COUNTED, sizing.need_bytes(each, sizing.tokens)
    if budget is not None and claim.per in (None, "load"):
        yield text.OF_POOL, Fraction(budget.pool_bytes)
        yield text.OF_CARD, Fraction(budget.requested_bytes)
        yield text.OF_WEIGHTS, Fraction(_weights(sizing))


def _spans(sizing: Sizing, claim: Claim, high: Amount) -> tuple[Span, ...]:
    """One way of reckoning, right or with one mistake, at two lengths that are powers of two."""
    if claim.per == "token":
        return ()
    base, lengths = right(sizing), [1024 << n for n in range(11)]
    ways: list[tuple[Reckoning, tuple[Mistake, ...]]] = [(base, ())]
    ways += [w for w in _wrong(base, sizing, "request", claim) if len(w[1]) == 1 and w[1][0].about != "length"]
    found = []
    for unit, unit_bytes in _units(claim):
        for made, mistakes in ways:
            at = {n: replace(made, tokens=n).request_bytes() + made.extra_bytes for n in lengths}
            low_tokens = _length_of(at, claim.low, unit_bytes)
            high_tokens = _length_of(at, high, unit_bytes)
            if low_tokens and high_tokens and low_tokens < high_tokens:
                found.append(Span(mistakes=mistakes, low_tokens=low_tokens, high_tokens=high_tokens, unit=unit))
    middle = log2(sizing.tokens)
    far = {s: abs(log2(s.low_tokens) - middle) + abs(log2(s.high_tokens) - middle) for s in found}
    found.sort(key=lambda s: (s.unit == "decimal", sum(m.cost for m in s.mistakes), far[s]))
    distinct: dict[tuple[int, int, str], Span] = {}
    for span in found:
        about = span.mistakes[0].about if span.mistakes else ""
        distinct.setdefault((span.low_tokens, span.high_tokens, about), span)
    return tuple(distinct.values())[:MOST_SPANS]


def _length_of(at: dict[int, Fraction], amount: Amount, unit_bytes: int) -> int | None:
    target, half = amount.value * unit_bytes, amount.half * unit_bytes
    return next((n for n, b in at.items() if abs(b - target) <= max(half, NEAR * target)), None)
