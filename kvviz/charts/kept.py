"""What the player of the Shared heads page is fed with, and the same as a table and in words."""

import hashlib
import json
from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Any, Final

from kvviz.charts.layers import CACHE_COLOURS, cells
from kvviz.core.cache import CompressedAttention, growing_bytes_per_token, limit_of
from kvviz.core.units import format_bytes, format_count
from kvviz.kept import Filling, Lane, Part
from kvviz.text import Lang
from kvviz.text import charts as charts_text
from kvviz.text import heads as text

_MOST_ROWS: Final = 8


def payload(filling: Filling, *, start: int, lang: Lang) -> bytes:
    """All the browser needs to fill it, as JSON. ``start``: the step it opens at."""
    fullest = max((_token_bytes(filling, lane) for lane in filling.lanes), default=Fraction(0)) or Fraction(1)
    said = {
        "lang": lang,
        "start": min(start, len(filling.steps) - 1),
        "tokens": list(filling.steps),
        "lanes": [_lane(filling, lane, fullest, lang) for lane in filling.lanes],
        "totals": [_bytes(filling.model_bytes(tokens)) for tokens in filling.steps] if filling.layers else [],
        "words": {name: getattr(sentence, lang) for name, sentence in text.PLAYER.items()},
    }
    packed = json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode()
    key = hashlib.sha256(packed).hexdigest()[:12]
    return b'{"id":"%s",%s' % (key.encode(), packed[1:])


def _lane(filling: Filling, lane: Lane, fullest: Fraction, lang: Lang) -> dict[str, Any]:
    return {
        "letter": lane.letter,
        "title": _kind(filling, lane, lang),
        "about": text.ABOUT[lane.letter](lang),
        "whose": _whose(lane, lang),
        "tracks": [
            {
                "kind": part.kind,
                "colour": CACHE_COLOURS[type(part.cache)],
                "tall": round(float(_part_token_bytes(filling, part) / fullest), 3),
                "fixed": _fixed(part, lang),
            }
            for part in lane.parts(1, filling.dtype)
        ],
        # By step: of every track the first token kept and the one after the last; and the bytes of the layer.
        "kept": [
            [[part.kept.start, part.kept.stop] for part in lane.parts(tokens, filling.dtype)]
            for tokens in filling.steps
        ],
        "bytes": [_bytes(lane.bytes_at(tokens, filling.dtype)) for tokens in filling.steps],
    }


def _bytes(count: Fraction) -> list[int | str]:
    whole = ceil(count)
    return [whole, format_bytes(whole)]


def _token_bytes(filling: Filling, lane: Lane) -> Fraction:
    return sum((_part_token_bytes(filling, part) for part in lane.parts(1, filling.dtype)), Fraction(0))


def _part_token_bytes(filling: Filling, part: Part) -> Fraction:
    if part.kind == "growing":
        return growing_bytes_per_token(part.cache, filling.dtype)
    limit = limit_of(part.cache, filling.dtype)
    return limit.bytes_per_token if limit and part.kind in ("window", "chunk") else Fraction(0)


def _fixed(part: Part, lang: Lang) -> str:
    if part.kind not in text.FIXED:
        return ""
    return text.KEPT_PART(lang, kind=text.FIXED[part.kind](lang), bytes=format_bytes(ceil(part.part_bytes)))


def _kind(filling: Filling, lane: Lane, lang: Lang) -> str:
    return cells((lane.layer,), filling.dtype, 1, lang)[0].kind


def _name(lane: Lane, lang: Lang) -> str:
    """The kind without the number that limits it."""
    ratio = next((cache.ratio for cache in lane.layer if isinstance(cache, CompressedAttention)), 0)
    return charts_text.KINDS[lane.letter](lang, ratio=format_count(ratio))


def _whose(lane: Lane, lang: Lang) -> str:
    if lane.layers:
        return text.IN_LAYERS(lang, layers=format_count(lane.layers))
    name = lane.like.rpartition("/")[2]
    if lane.like_tokens:
        return text.LIKE_TOKENS(lang, model=name, limit=format_count(lane.like_tokens))
    return text.LIKE(lang, model=name)


def kept_words(filling: Filling, model: str, lang: Lang) -> str:
    """What is kept at the end: of the whole model, else of one layer of each kind."""
    tokens = filling.steps[-1]
    said = []
    for lane in filling.lanes:
        of_layer = format_bytes(ceil(lane.bytes_at(tokens, filling.dtype)))
        kind = _name(lane, lang)
        if lane.layers:
            layers = format_count(lane.layers)
            said.append(text.KEPT_PART_LAYERS(lang, layers=layers, kind=kind, bytes=of_layer))
        else:
            said.append(text.KEPT_PART(lang, kind=kind, bytes=of_layer))
    parts = text.PART_SEPARATOR(lang).join(said)
    if not filling.layers:
        return text.KEPT_EXAMPLE(lang, tokens=format_count(tokens), parts=parts)
    whole = format_bytes(ceil(filling.model_bytes(tokens)))
    return text.KEPT_MODEL(lang, model=model, bytes=whole, tokens=format_count(tokens), parts=parts)


def kept_rows(filling: Filling, lang: Lang) -> list[dict[str, Any]]:
    """Which tokens and how many bytes each kind of layer keeps, at some of the steps."""
    rows = []
    for tokens in _some(filling.steps):
        row: dict[str, Any] = {text.COLUMN_TOKENS(lang): tokens}
        for lane in filling.lanes:
            row[_kind(filling, lane, lang)] = _told(filling, lane, tokens, lang)
        if filling.layers:
            row[text.COLUMN_MODEL(lang)] = format_bytes(ceil(filling.model_bytes(tokens)))
        rows.append(row)
    return rows


def _some(steps: Sequence[int]) -> list[int]:
    every = max(1, ceil((len(steps) - 1) / _MOST_ROWS))
    return sorted({*steps[::every], steps[-1]})


def _told(filling: Filling, lane: Lane, tokens: int, lang: Lang) -> str:
    """``tokens 5–12, 32 KiB``; bytes alone where no token is kept by itself."""
    parts = [part for part in lane.parts(tokens, filling.dtype) if part.kept]
    count = format_bytes(ceil(lane.bytes_at(tokens, filling.dtype)))
    if not parts:
        return count
    first, last = min(part.kept.start for part in parts) + 1, max(part.kept.stop for part in parts)
    return text.CELL(lang, first=format_count(first), last=format_count(last), bytes=count)
