"""The layer strip: one cell a layer, filled by what it keeps, so that windows and states visibly stop growing.

Plain SVG, readable on a light and on a dark page. Across it is laid out in shares of the width, so that the cells grow
with the page and the letters do not. A cell is as wide as its cache grows: full width for one that grows
with every token, narrower for a window or chunk, narrowest for a fixed state; a letter and a colour tell the kind.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from html import escape
from itertools import groupby
from typing import Any, assert_never

from kvviz.charts import words
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
from kvviz.core.identity import ByIdentity
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

_COMPRESSED_MORE = "#3B7A2A"
"""Compressed attention at any ratio but 4, a darker tint."""

COLUMNS = 32
"""Most cells in a row where the caller does not say; 16 suit a phone."""

_CELL, _GAP, _TALL = 17, 4, 44
"""Width of a cell, space between two, and height, in units of a cell's own drawing."""
_STEP, _LEFT = 44, 56
"""Pixels a cell takes at most, with the space to the next, and the room for the numbers of the rows."""
_ROW, _LEGEND_ROW, _LEGEND_WIDE, _INDENT = 68, 40, 340, 26
_ACROSS_COLUMNS = 24
"""From that many cells in a row on, there is room for two kinds beside each other in the legend."""
_FONT = "var(--st-font, sans-serif)"
_TEXT = "var(--st-text-color, #777777)"
"""The page's text colour inside the page; as a picture of its own, a grey that can be read on both."""


Band = tuple[str, float, float, float, float]
"""Colour, inset, width, top and height within a cell."""


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
    total_bytes: Fraction
    """Bytes of the whole layer."""


def cells(layers: Sequence[Layer], dtype: KvDtype, tokens: int, lang: Lang) -> tuple[Cell, ...]:
    """The layers with what each keeps for one sequence of ``tokens`` tokens."""
    return _cells(ByIdentity(layers), dtype, tokens, lang)


@lru_cache(maxsize=16)  # a thumbnail, the strip and their words ask in turn
def _cells(of: ByIdentity[Sequence[Layer]], dtype: KvDtype, tokens: int, lang: Lang) -> tuple[Cell, ...]:
    layers = of.value
    made: dict[Layer, Cell] = {}
    for layer in layers:
        if layer not in made:
            made[layer] = Cell(
                index=0,
                layer=layer,
                letter=letter(layer),
                kind=_kind(layer, lang),
                parts=tuple((cache, layer_bytes((cache,), tokens, dtype)) for cache in layer),
                total_bytes=layer_bytes(layer, tokens, dtype),
            )
    return tuple(replace(made[layer], index=index) for index, layer in enumerate(layers))


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
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{alt}" width="200" height="28" '
            f'viewBox="0 0 {max(1, (_CELL + _GAP) * len(drawn) - _GAP)} {_TALL}" preserveAspectRatio="none">'
            f"{_thumbnail(drawn, fullest)}</svg>"
        )

    kinds = _kinds(drawn)
    across = 2 if len(kinds) > 1 and columns >= _ACROSS_COLUMNS else 1
    per_row = _per_row([cell.letter for cell in drawn], columns)
    wide = max(across * _LEGEND_WIDE, _LEFT + per_row * _STEP)
    scale = [text.STRIP_SCALE(lang, bytes=format_bytes(fullest))]
    if len({_width(cache) for cell in drawn for cache, _ in cell.parts}) > 1:
        scale.append(text.STRIP_WIDE(lang))
    if across == 2:
        scale = [("" if lang == "ja" else " ").join(scale)]
    parts = [_text("0", 14, text.STRIP_TITLE(lang, tokens=words.tokens(tokens, lang)), size=13)]
    parts += [_text("0", 32 + 16 * place, said, size=12) for place, said in enumerate(scale)]
    top = 28 + 16 * len(scale)

    def share(x: float) -> str:
        return f"{100 * x / wide:.3f}%"

    cell_wide = share(_STEP * _CELL / (_CELL + _GAP))
    letters, bands_of = [], _bands(drawn, fullest)
    for start in range(0, len(drawn), per_row):
        parts.append(_text(share(_LEFT - 7), top + _TALL, str(start), size=11, anchor="end"))
        for place, cell in enumerate(drawn[start : start + per_row]):
            x = _LEFT + place * _STEP
            parts.append(
                f'<svg x="{share(x)}" y="{top}" width="{cell_wide}" height="{_TALL}" viewBox="0 0 {_CELL} {_TALL}" '
                f'preserveAspectRatio="none">{_cell(cell, bands_of[id(cell.parts)], lang)}</svg>'
            )
            middle = share(x + _STEP * _CELL / (_CELL + _GAP) / 2)
            y = top + _TALL + 13
            letters.append(f'<text x="{middle}" y="{y:g}" font-size="11" text-anchor="middle">{cell.letter}</text>')
        top += _ROW
    parts.append(f'<g style="fill:{_TEXT}">{"".join(letters)}</g>')  # said once: the strip is sent at every change
    top += 4
    for place, same in enumerate(kinds):
        left, y = share(place % across * wide / across), top + place // across * _LEGEND_ROW
        parts.append(f'<svg x="{left}" y="{y}" overflow="visible">{_legend(same, lang)}</svg>')
    tall = top + -(-len(kinds) // across) * _LEGEND_ROW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{alt}" width="100%" height="{tall}" '
        f'style="max-width:{wide}px;font-family:{_FONT}">{"".join(parts)}</svg>'
    )


def layer_strip_alt(sizing: Sizing, lang: Lang) -> str:
    """The strip in words, for screen readers."""
    drawn = cells(sizing.architecture.layers, sizing.kv_dtype, sizing.tokens, lang)
    return _alt(drawn, sizing.tokens, lang)


def layer_counts(sizing: Sizing, lang: Lang) -> str:
    """The strip in a line: ``32 layers: 26 window, 6 full``."""
    found = Counter(text.SHORT_KINDS[letter(layer)] for layer in sizing.architecture.layers)
    kinds = text.PART_SEPARATOR(lang).join(
        text.SHORT_COUNT(lang, count=format_count(count), kind=kind(lang)) for kind, count in found.most_common()
    )
    return text.LAYER_COUNTS(lang, count=format_count(sum(found.values())), kinds=kinds)


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


def _thumbnail(drawn: Sequence[Cell], fullest: Fraction) -> str:
    """All cells at once, a path for each colour: a picture within a page has no titles, and is sent at every change."""
    paths: dict[str, list[str]] = {}
    bands_of = _bands(drawn, fullest)
    for place, cell in enumerate(drawn):
        left = (_CELL + _GAP) * place
        bands = bands_of[id(cell.parts)]
        track = f'fill="{RULE}" fill-opacity="0.12" stroke="{RULE}" stroke-opacity="0.85"'
        if not bands:
            track += ' stroke-dasharray="2 2"'
        paths.setdefault(track, []).append(f"M{left} 0h{_CELL}v{_TALL}h-{_CELL}z")
        for colour, inset, width, top, tall in bands:
            path = f"M{left + inset:g} {top:.4g}h{width:g}v{tall:.4g}h-{width:g}z"
            paths.setdefault(f'fill="{colour}"', []).append(path)
    return "".join(f'<path {style} d="{"".join(path)}"/>' for style, path in paths.items())


def _bands(drawn: Sequence[Cell], fullest: Fraction) -> dict[int, list[Band]]:
    """What equal layers keep, by the identity of their parts: they are few, and their cells many."""
    parts = {id(cell.parts): cell.parts for cell in drawn}
    return {key: _stacked(kept, fullest) for key, kept in parts.items()}


def _stacked(parts: Sequence[tuple[LayerCache, Fraction]], fullest: Fraction) -> list[Band]:
    """What a layer keeps, stacked from the foot of its cell."""
    bands, foot = [], float(_TALL)
    for cache, count in parts:
        if count:
            tall = max(2.5, float(count / fullest) * _TALL)
            width = _CELL * _width(cache)
            foot -= tall
            bands.append((_colour(cache), (_CELL - width) / 2, width, max(0.0, foot), tall))
    return bands


def _cell(cell: Cell, bands: Sequence[Band], lang: Lang) -> str:
    """A track with the layer's caches stacked in it."""
    title = text.LAYER_TITLE(
        lang,
        layer=text.LAYER(lang, layer=cell.index),
        kind=cell.kind,
        bytes=format_bytes(_ceil(cell.total_bytes)),
    )
    fills = [
        f'<rect x="{inset:g}" y="{top:.2f}" width="{width:g}" height="{tall:.2f}" fill="{colour}"/>'
        for colour, inset, width, top, tall in bands
    ]
    dash = "" if fills else ' stroke-dasharray="2 2"'
    return (
        f'<g class="layer"><title>{escape(title)}</title>'
        f'<rect width="{_CELL}" height="{_TALL}" fill="{RULE}" fill-opacity="0.12" '
        f'stroke="{RULE}" stroke-opacity="0.85"{dash}/>{"".join(fills)}</g>'
    )


def _legend(same: list[Cell], lang: Lang) -> str:
    """Swatch, letter and count of one kind, and on a second line what it keeps."""
    first = same[0]
    # As wide as in the cells, but where a layer keeps several things: bands can be told from a picture of one cell.
    share = _width(first.parts[0][0]) if len(first.parts) == 1 else 1.0
    tall = 14 / max(1, len(first.parts))
    swatch = "".join(
        f'<rect x="{_CELL * (1 - share) / 2:g}" y="{4 + tall * place:.2f}" width="{_CELL * share:g}" '
        f'height="{tall:.2f}" fill="{_colour(cache)}"/>'
        for place, (cache, _) in enumerate(reversed(first.parts))
    )
    hollow = f'<rect x="1" y="4" width="{_CELL - 2}" height="14" fill="none" stroke="{RULE}" stroke-dasharray="2 2"/>'
    return (
        f'<g class="kind">{swatch or hollow}'
        f"{_text(str(_INDENT), 14, f'{first.letter}  {_counted(same, lang)}', size=13)}"
        f"{_text(str(_INDENT), 30, _detail(same, lang), size=12)}</g>"
    )


def _text(x: str, y: float, said: str, *, size: int, anchor: str = "start") -> str:
    return (
        f'<text x="{x}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" style="fill:{_TEXT}" '
        f'xml:space="preserve">{escape(said)}</text>'
    )


def _colour(cache: LayerCache) -> str:
    if isinstance(cache, CompressedAttention) and letter((cache,)) == "h":
        return _COMPRESSED_MORE
    return CACHE_COLOURS[type(cache)]


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
    said = _name(layer, lang)
    details = [_limit(cache, lang) for cache in layer]
    for detail in details:
        if detail:
            said = text.KIND_DETAIL(lang, kind=said, detail=detail)
    return said


def _name(layer: Layer, lang: Lang) -> str:
    """Name of the kind; two compressed kinds differ in their ratio."""
    ratio = next((cache.ratio for cache in layer if isinstance(cache, CompressedAttention)), 0)
    return text.KINDS[letter(layer)](lang, ratio=format_count(ratio))


def _limit(cache: LayerCache, lang: Lang) -> str:
    match cache:
        case SlidingWindow() if cache.limits:
            return text.WINDOW_TOKENS(lang, tokens=words.tokens(cache.window_tokens, lang))
        case ChunkedAttention():
            return text.CHUNK_TOKENS(lang, tokens=words.tokens(cache.chunk_tokens, lang))
        case CrossAttention():
            return text.CROSS_TOKENS(lang, tokens=words.tokens(cache.encoder_tokens, lang))
        case CompressedAttention() if cache.ratio:
            return text.RATIO(lang, tokens=words.tokens(cache.ratio, lang))
        case CompressedAttention():
            return text.WINDOW_TOKENS(lang, tokens=words.tokens(cache.window_tokens, lang))
        case _:
            return ""


def _kinds(drawn: Sequence[Cell]) -> list[list[Cell]]:
    """The cells by kind, the most frequent first."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for cell in drawn:
        found.setdefault((cell.letter, cell.kind), []).append(cell)
    return sorted(found.values(), key=lambda same: -len(same))


def _counted(same: list[Cell], lang: Lang) -> str:
    return text.KIND_COUNT(lang, count=len(same), kind=_name(same[0].layer, lang))


def _detail(same: list[Cell], lang: Lang) -> str:
    limits = [said for cache in same[0].layer if (said := _limit(cache, lang))]
    least, most = (format_bytes(_ceil(of(cell.total_bytes for cell in same))) for of in (min, max))
    each = text.EACH(lang, bytes=most) if least == most else text.EACH_RANGE(lang, least=least, most=most)
    return text.PART_SEPARATOR(lang).join([*limits, each])


def _alt(drawn: Sequence[Cell], tokens: int, lang: Lang) -> str:
    kinds = text.PART_SEPARATOR(lang).join(
        text.PART_IN_BRACKETS(lang, part=_counted(same, lang), more=_detail(same, lang)) for same in _kinds(drawn)
    )
    return text.STRIP_ALT(lang, count=len(drawn), tokens=words.tokens(tokens, lang), kinds=kinds)


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
