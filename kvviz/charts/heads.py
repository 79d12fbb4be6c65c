"""Query heads as dots in boxes, one box a KV head; below, how many of MHA's KV heads are stored.

Plain SVG, readable on a light and on a dark page, and at a phone's width. Dots and squares differ in shape and fill, so
that nothing rests on the colour; each has a name, by which a page can move it to its next place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from math import ceil
from typing import Any

from kvviz.charts.style import RULE
from kvviz.core.units import format_count
from kvviz.heads import AS_MADE, Group, Heads, Sharing, kind_of
from kvviz.text import Lang
from kvviz.text import heads as text

PHONE_WIDE, DESKTOP_WIDE = 352, 640
"""Widths it is drawn for, in pixels."""
_QUERY, _KV = "#1F87C9", "#D55E00"
_GAP, _PAD, _HEAD, _MOST_IN_ROW = 5, 6, 20, 32
_MOST_PARTS = 64
"""What a fraction may have below the line."""
_FONT = "var(--st-font, sans-serif)"
_TEXT = "var(--st-text-color, #777777)"


def ratio_words(ratio: Fraction) -> str:
    """``1/8``, ``1``; a ratio that says little as it is, also as a decimal, or only so: ``11/28 (0.39)``, ``0.17``."""
    if ratio.denominator > _MOST_PARTS:
        return f"{float(ratio):.2g}"
    return str(ratio) if ratio.numerator == 1 or ratio.denominator == 1 else f"{ratio} ({float(ratio):.2g})"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """How boxes and dots are laid out."""

    columns: int
    """Boxes in a row."""
    in_row: int
    """Dots in a row of a box."""
    pitch: float
    """From dot to dot."""
    wide: float
    """A box."""
    tall: float
    rows: int


def _grid(boxes: int, dots: int, across: int) -> _Grid:
    """The flattest layout in which the boxes fill whole rows."""
    pitch = 15.0 if across < 500 else 17.0
    best: tuple[float, _Grid] | None = None
    for in_row in range(1, min(dots, _MOST_IN_ROW) + 1):
        wide = max(28.0, in_row * pitch + 2 * _PAD)
        if wide > across:
            break
        most = max(1, int((across + _GAP) // (wide + _GAP)))
        rows = ceil(boxes / most)
        columns = ceil(boxes / rows)
        tall = _HEAD + ceil(dots / in_row) * pitch + _PAD
        room = (across - (columns - 1) * _GAP) / columns
        grid = _Grid(columns=columns, in_row=in_row, pitch=pitch, wide=min(room, 1.5 * wide), tall=tall, rows=rows)
        uneven = (rows * columns - boxes) * 4 + (-dots % in_row) * 3
        cost = rows * (tall + _GAP) + uneven
        if best is None or cost < best[0]:
            best = cost, grid
    if best is None:
        raise ValueError(f"no room for {dots} dots in {across}")
    return best[1]


def heads_svg(heads: Heads, sharing: Sharing, lang: Lang, *, across: int = DESKTOP_WIDE) -> str:
    """Who shares with whom in ``sharing``; where a model's layers differ, one drawing below the other."""
    body: list[str] = []
    y = 0.0
    for kv_heads, groups in _alike(heads, sharing):
        if sharing.kv_heads == AS_MADE:
            body.append(_text(0, y + 15, layers_words(groups, lang), weight=600))
            y += 26
        drawn, y = _sharing(heads.query_heads, kv_heads, y, across, lang)
        body += [*drawn]
        y += 18
    alt = escape(heads_alt(heads, sharing, lang))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{alt}" viewBox="0 0 {across} {y:g}" '
        f'style="width:100%;max-width:{across}px;height:auto;font-family:{_FONT};display:block">{"".join(body)}</svg>'
    )


def _alike(heads: Heads, sharing: Sharing) -> list[tuple[int, list[Group]]]:
    """KV heads, and the groups of layers that have so many."""
    if sharing.kv_heads != AS_MADE:
        return [(sharing.kv_heads, list(heads.groups))]
    found: dict[int, list[Group]] = {}
    for group in heads.groups:
        found.setdefault(group.kv_heads, []).append(group)
    return list(found.items())


def _sharing(queries: int, kv_heads: int, top: float, across: int, lang: Lang) -> tuple[list[str], float]:
    """Legend, boxes and the bar, and where they end."""
    each = queries // kv_heads
    grid = _grid(kv_heads, each, across)
    legend_kv = text.LEGEND_KV_ONE if kv_heads == 1 else text.LEGEND_KV
    parts = [
        _dot(7, top + 9, ""),
        _text(28, top + 14, text.LEGEND_QUERIES(lang, count=format_count(queries))),
        _pair(0, top + 24, ""),
        _text(28, top + 34, legend_kv(lang, count=format_count(kv_heads))),
    ]
    y = top + 46
    numbered = grid.wide >= 46
    for box in range(kv_heads):
        left = (box % grid.columns) * (grid.wide + _GAP)
        above = y + (box // grid.columns) * (grid.tall + _GAP)
        parts.append(_box(box, each, left, above, grid, lang, numbered=numbered))
    y += grid.rows * (grid.tall + _GAP) + 16
    parts.append(_text(0, y, text.STORED(lang, heads=format_count(kv_heads), queries=format_count(queries))))
    y += 8
    cell = across / queries
    for place in range(queries):
        stored = place < kv_heads
        parts.append(
            f'<rect x="{place * cell + 0.5:.2f}" y="{y:g}" width="{max(1.6, cell - 1.2):.2f}" height="14" rx="1" '
            + (f'fill="{_KV}"/>' if stored else f'fill="none" stroke="{RULE}" stroke-opacity="0.85"/>')
        )
    return parts, y + 16


def _box(box: int, each: int, left: float, above: float, grid: _Grid, lang: Lang, *, numbered: bool) -> str:
    first = box * each + 1
    title = (text.GROUP if each > 1 else text.GROUP_ONE)(lang, head=box + 1, first=first, last=first + each - 1)
    inner = left + (grid.wide - grid.in_row * grid.pitch) / 2
    squares = left + (_PAD if numbered else (grid.wide - 19) / 2)
    dots = "".join(
        _dot(
            inner + (place % grid.in_row + 0.5) * grid.pitch,
            above + _HEAD + (place // grid.in_row + 0.5) * grid.pitch,
            f"q{first + place}",
        )
        for place in range(each)
    )
    number = _text(squares + 24, above + 15, str(box + 1), size=11) if numbered else ""
    return (
        f'<g><title>{escape(title)}</title><rect x="{left + 0.5:.2f}" y="{above + 0.5:.2f}" '
        f'width="{grid.wide - 1:.2f}" height="{grid.tall - 1:.2f}" rx="4" fill="{RULE}" fill-opacity="0.1" '
        f'stroke="{RULE}" stroke-opacity="0.85"/>{_pair(squares, above + 5, f"kv{box + 1}")}{number}{dots}</g>'
    )


def _dot(x: float, y: float, name: str) -> str:
    """A query head: hollow, because nothing of it is stored."""
    called = f' data-name="{name}"' if name else ""
    return f'<circle{called} cx="{x:.2f}" cy="{y:.2f}" r="4.6" fill="none" stroke="{_QUERY}" stroke-width="2"/>'


def _pair(x: float, y: float, name: str) -> str:
    """A KV head: a key and a value, filled, because they are stored."""
    called = f' data-name="{name}"' if name else ""
    squares = "".join(
        f'<rect x="{x + place * 10.5:.2f}" y="{y:.2f}" width="8.5" height="11" rx="1.5" fill="{_KV}"/>'
        for place in (0, 1)
    )
    return f"<g{called}>{squares}</g>"


def _text(x: float, y: float, said: str, *, size: int = 13, weight: int = 400) -> str:
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size}" font-weight="{weight}" style="fill:{_TEXT}">'
        f"{escape(said)}</text>"
    )


def layers_words(groups: Sequence[Group], lang: Lang) -> str:
    """``10 layers of full attention, 52 layers with a sliding window``."""
    return text.SEPARATOR(lang).join(text.LAYERS[g.kind](lang, layers=format_count(g.layers)) for g in groups)


def heads_alt(heads: Heads, sharing: Sharing, lang: Lang) -> str:
    """The drawing in words."""
    said = []
    for kv_heads, groups in _alike(heads, sharing):
        one = text.ALT(
            lang,
            queries=format_count(heads.query_heads),
            heads=count_words(kv_heads, lang),
            each=format_count(heads.query_heads // kv_heads),
            ratio=ratio_words(Fraction(kv_heads, heads.query_heads)),
        )
        mixed = sharing.kv_heads == AS_MADE
        said.append(text.ALT_LAYERS(lang, layers=layers_words(groups, lang), said=one) if mixed else one)
    return ("" if lang == "ja" else " ").join(said)


def count_words(kv_heads: int, lang: Lang) -> str:
    """``8 KV heads``, ``1 KV head``."""
    return text.COUNT_ONE(lang) if kv_heads == 1 else text.COUNT(lang, count=format_count(kv_heads))


def label(sharing: Sharing, heads: Heads) -> str:
    """A number of KV heads with what people call it, the same in every language: ``8 · GQA``."""
    if sharing.kv_heads == AS_MADE:
        return " + ".join(format_count(n) for n in sorted({group.kv_heads for group in heads.groups}))
    return f"{format_count(sharing.kv_heads)} · {kind_of(sharing.kv_heads, heads.query_heads)}"


def sharing_rows(heads: Heads, sharings: Sequence[Sharing], tokens: int, lang: Lang) -> list[dict[str, Any]]:
    """Every number of KV heads and what it comes to, a request having ``tokens``."""
    rows = []
    for one in sharings:
        mixed = one.kv_heads == AS_MADE
        called = label(one, heads) if mixed else format_count(one.kv_heads)
        rows.append(
            {
                text.COLUMN_HEADS(lang): text.THIS_MODEL(lang, heads=called) if one.real else called,
                text.COLUMN_KIND(lang): text.MIXED(lang) if mixed else kind_of(one.kv_heads, heads.query_heads),
                text.COLUMN_EACH(lang): None if mixed else heads.query_heads // one.kv_heads,
                text.COLUMN_RATIO(lang): ratio_words(one.ratio),
                text.COLUMN_TOKEN(lang): ceil(one.token_bytes),
                text.COLUMN_REQUEST(lang): ceil(one.content.bytes_at(tokens)),
                text.COLUMN_AT_ONCE(lang): one.at_once,
            }
        )
    return rows
