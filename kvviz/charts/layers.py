"""The layer strip: one cell a layer, filled by what it keeps, so that windows and states visibly stop growing.

Plain SVG, readable on a light and on a dark page. A cell is as wide as its cache grows: full width for one that grows
with every token, narrower for a window or chunk, narrowest for a fixed state; a letter and a colour tell the kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from itertools import groupby
from typing import Any, assert_never

from kvviz.charts.style import RULE
from kvviz.core.cache import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    Layer,
    LayerCache,
    RecurrentState,
    SlidingWindow,
    layer_bytes,
    letter,
)
from kvviz.core.dtypes import KvDtype
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.sizing import Sizing
from kvviz.text import Lang
from kvviz.text import charts as text

CACHE_COLOURS: dict[type, str] = {
    FullAttention: "#D55E00",
    LatentAttention: "#C0508F",
    IndexerKeys: "#8A7A1F",
    SlidingWindow: "#5B73D6",
    ChunkedAttention: "#8A63D2",
    RecurrentState: "#138A80",
    CrossAttention: "#9C6B3F",
    CompressedAttention: "#4E8C3A",
}
"""At least 3:1 on white and on dark."""

COLUMNS = 32
"""Most cells in a row where the caller does not say; 16 suit a phone."""

_CELL, _GAP, _TALL = 17, 4, 44
"""Width of a cell, space between two, and height, in the drawing's own units (pixels at natural size)."""
_LEFT, _ROW, _LEAST_WIDE = 28, 68, 364
_LEGEND_ROW, _LEGEND_WIDE = 40, 332
_FONT = "var(--st-font, sans-serif)"
_TEXT = "var(--st-text-color, #777777)"
"""The page's text colour inside the page; as a picture of its own, a grey that can be read on both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One layer of the strip."""

    index: int
    layer: Layer
    letter: str
    kind: str
    """In words, with its window or ratio."""
    parts: tuple[tuple[LayerCache, Fraction], ...]
    """What the layer keeps and the bytes of each, for one sequence, whole model."""

    @property
    def total_bytes(self) -> Fraction:
        """Bytes of the whole layer."""
        return sum((count for _, count in self.parts), Fraction(0))


def cells(layers: Sequence[Layer], dtype: KvDtype, tokens: int, lang: Lang) -> tuple[Cell, ...]:
    """The layers with what each keeps for one sequence of ``tokens`` tokens."""
    made: dict[Layer, tuple[str, tuple[tuple[LayerCache, Fraction], ...]]] = {}
    for layer in layers:
        if layer not in made:
            made[layer] = _kind(layer, lang), tuple((cache, layer_bytes((cache,), tokens, dtype)) for cache in layer)
    return tuple(
        Cell(index=index, layer=layer, letter=letter(layer), kind=made[layer][0], parts=made[layer][1])
        for index, layer in enumerate(layers)
    )


def layer_strip_svg(sizing: Sizing, lang: Lang, *, columns: int = COLUMNS, compact: bool = False) -> str:
    """The strip of a sizing's model at its length; ``columns``: most cells in a row."""
    return strip_svg(sizing.architecture.layers, sizing.kv_dtype, sizing.tokens, lang, columns=columns, compact=compact)


def strip_svg(
    layers: Sequence[Layer],
    dtype: KvDtype,
    tokens: int,
    lang: Lang,
    *,
    columns: int = COLUMNS,
    compact: bool = False,
) -> str:
    """The strip of any layers. ``compact``: a thumbnail, one row without text that stretches to any size."""
    drawn = cells(layers, dtype, tokens, lang)
    fullest = max((cell.total_bytes for cell in drawn), default=Fraction(0))
    alt = escape(_alt(drawn, tokens, lang))
    if compact:
        step = _CELL + _GAP
        body = "".join(_cell(cell, fullest, step * place, 0, lang) for place, cell in enumerate(drawn))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{alt}" width="200" height="28" '
            f'viewBox="0 0 {max(1, step * len(drawn) - _GAP)} {_TALL}" preserveAspectRatio="none">{body}</svg>'
        )

    per_row = _per_row([cell.letter for cell in drawn], columns)
    wide = max(_LEAST_WIDE, _LEFT + per_row * (_CELL + _GAP))
    parts = [
        _text(0, 14, text.STRIP_TITLE(lang, tokens=format_count(tokens)), size=13),
        _text(0, 32, text.STRIP_SCALE(lang, bytes=format_bytes(fullest)), size=12),
    ]
    top = 44
    for start in range(0, len(drawn), per_row):
        parts.append(_text(_LEFT - 6, top + _TALL, str(start), size=11, anchor="end"))
        for place, cell in enumerate(drawn[start : start + per_row]):
            x = _LEFT + place * (_CELL + _GAP)
            parts.append(_cell(cell, fullest, x, top, lang))
            parts.append(_text(x + _CELL / 2, top + _TALL + 13, cell.letter, size=11, anchor="middle"))
        top += _ROW
    top += 4
    kinds = _kinds(drawn)
    across = max(1, wide // _LEGEND_WIDE)
    for place, same in enumerate(kinds):
        x, y = place % across * _LEGEND_WIDE, top + place // across * _LEGEND_ROW
        parts.append(_legend(same, x, y, lang))
    tall = top + -(-len(kinds) // across) * _LEGEND_ROW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{alt}" width="{wide}" height="{tall}" '
        f'viewBox="0 0 {wide} {tall}" style="max-width:100%;height:auto;font-family:{_FONT}">'
        f"{''.join(parts)}</svg>"
    )


def layer_rows(sizing: Sizing, lang: Lang) -> list[dict[str, Any]]:
    """The strip as a table: one row per run of equal layers, under headings in ``lang``."""
    rows = []
    for _, run in groupby(
        cells(sizing.architecture.layers, sizing.kv_dtype, sizing.tokens, lang), key=lambda cell: cell.layer
    ):
        same = list(run)
        first, last = same[0].index, same[-1].index
        each = _ceil(same[0].total_bytes)
        rows.append(
            {
                text.LAYERS(lang): str(first) if first == last else text.LAYER_RANGE(lang, first=first, last=last),
                text.KIND(lang): same[0].kind,
                text.COUNT(lang): len(same),
                text.BYTES_EACH(lang): each,
                text.GIB_SUM(lang): round(float(len(same) * same[0].total_bytes / GIB), 3),
            }
        )
    return rows


def _cell(cell: Cell, fullest: Fraction, x: float, y: float, lang: Lang) -> str:
    """A track with the layer's caches stacked in it."""
    title = text.LAYER_TITLE(
        lang,
        layer=text.LAYER(lang, layer=cell.index),
        kind=cell.kind,
        bytes=format_bytes(_ceil(cell.total_bytes)),
    )
    fills, foot = [], y + _TALL
    for cache, count in cell.parts:
        if not count:
            continue
        tall = max(2.5, float(count / fullest) * _TALL)
        width = _CELL * _width(cache)
        foot -= tall
        fills.append(
            f'<rect x="{x + (_CELL - width) / 2:g}" y="{max(y, foot):.2f}" width="{width:g}" height="{tall:.2f}" '
            f'fill="{CACHE_COLOURS[type(cache)]}"/>'
        )
    dash = "" if fills else ' stroke-dasharray="2 2"'
    return (
        f'<g class="layer"><title>{escape(title)}</title>'
        f'<rect x="{x:g}" y="{y:g}" width="{_CELL}" height="{_TALL}" fill="{RULE}" fill-opacity="0.12" '
        f'stroke="{RULE}" stroke-opacity="0.5"{dash}/>{"".join(fills)}</g>'
    )


def _legend(same: list[Cell], x: int, y: int, lang: Lang) -> str:
    """Swatch, letter and count of one kind, and on a second line what it keeps."""
    first = same[0]
    swatch = "".join(
        f'<rect x="{x + (_CELL - _CELL * _width(cache)) / 2:g}" y="{y + 4 + 14 / len(first.parts) * place:.2f}" '
        f'width="{_CELL * _width(cache):g}" height="{14 / len(first.parts):.2f}" fill="{CACHE_COLOURS[type(cache)]}"/>'
        for place, (cache, _) in enumerate(reversed(first.parts))
    )
    return (
        f'<g class="kind">{swatch or _hollow(x, y + 4)}'
        f"{_text(x + _LEFT, y + 14, f'{first.letter}  {_counted(same, lang)}', size=13)}"
        f"{_text(x + _LEFT, y + 30, _detail(same, lang), size=12)}</g>"
    )


def _hollow(x: int, y: int) -> str:
    return f'<rect x="{x}" y="{y}" width="{_CELL}" height="14" fill="none" stroke="{RULE}" stroke-dasharray="2 2"/>'


def _text(x: float, y: float, said: str, *, size: int, anchor: str = "start") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" style="fill:{_TEXT}" '
        f'xml:space="preserve">{escape(said)}</text>'
    )


def _width(cache: LayerCache) -> float:
    """Share of the cell's width: how the cache grows."""
    match cache:
        case FullAttention() | LatentAttention() | IndexerKeys():
            return 1.0
        case SlidingWindow():
            return 0.6 if cache.limits else 1.0
        case CompressedAttention():
            return 1.0 if cache.ratio else 0.6
        case ChunkedAttention():
            return 0.6
        case RecurrentState() | CrossAttention():
            return 0.3
        case _:
            assert_never(cache)


def _kind(layer: Layer, lang: Lang) -> str:
    """Name of the kind with the number that limits it."""
    said = text.KINDS[letter(layer)](lang)
    details = [_limit(cache, lang) for cache in layer]
    for detail in details:
        if detail:
            said = text.KIND_DETAIL(lang, kind=said, detail=detail)
    return said


def _limit(cache: LayerCache, lang: Lang) -> str:
    match cache:
        case SlidingWindow() if cache.limits:
            return text.WINDOW_TOKENS(lang, tokens=format_count(cache.window_tokens))
        case ChunkedAttention():
            return text.CHUNK_TOKENS(lang, tokens=format_count(cache.chunk_tokens))
        case CrossAttention():
            return text.CROSS_TOKENS(lang, tokens=format_count(cache.encoder_tokens))
        case CompressedAttention() if cache.ratio:
            return text.RATIO(lang, tokens=format_count(cache.ratio))
        case CompressedAttention():
            return text.WINDOW_TOKENS(lang, tokens=format_count(cache.window_tokens))
        case _:
            return ""


def _kinds(drawn: Sequence[Cell]) -> list[list[Cell]]:
    """The cells by kind, the most frequent first."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for cell in drawn:
        found.setdefault((cell.letter, cell.kind), []).append(cell)
    return sorted(found.values(), key=lambda same: -len(same))


def _counted(same: list[Cell], lang: Lang) -> str:
    return text.KIND_COUNT(lang, count=len(same), kind=text.KINDS[same[0].letter](lang))


def _detail(same: list[Cell], lang: Lang) -> str:
    limits = [said for cache in same[0].layer if (said := _limit(cache, lang))]
    least, most = (format_bytes(_ceil(of(cell.total_bytes for cell in same))) for of in (min, max))
    each = text.EACH(lang, bytes=most) if least == most else text.EACH_RANGE(lang, least=least, most=most)
    return text.PART_SEPARATOR(lang).join([*limits, each])


def _alt(drawn: Sequence[Cell], tokens: int, lang: Lang) -> str:
    kinds = text.PART_SEPARATOR(lang).join(
        text.PART_IN_BRACKETS(lang, part=_counted(same, lang), more=_detail(same, lang)) for same in _kinds(drawn)
    )
    return text.STRIP_ALT(lang, count=len(drawn), tokens=format_count(tokens), kinds=kinds)


def _per_row(letters: Sequence[str], most: int) -> int:
    """Cells a row: within three quarters of ``most``, the number that puts equal kinds below each other."""
    if len(letters) <= most:
        return max(1, len(letters))

    def untidy(per_row: int) -> tuple[int, int, int]:
        rows = -(-len(letters) // per_row)
        unlike = sum(one != other for one, other in zip(letters, letters[per_row:], strict=False))
        return unlike, rows, rows * per_row - len(letters)

    return min(range(max(1, most * 3 // 4), most + 1), key=untidy)


def _ceil(count: Fraction) -> int:
    return -(-count.numerator // count.denominator)
