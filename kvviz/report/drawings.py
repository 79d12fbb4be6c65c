"""The ledger and the growth chart as plain SVG, for paper: black letters, and patterns as well as colours.

What is drawn is what the page's charts draw, from the same parts, lines and scales. Lengths are pixels of a drawing
that shrinks with the page; for a phone there is a narrow one, because letters half as large cannot be read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from kvviz.charts.growth import (
    Growth,
    Line,
    Scale,
    bytes_axis,
    capacity_name,
    growth,
    growth_alt,
    line_name,
    room_of,
    scale_of,
    tokens_axis,
    typical_name,
    weights_name,
)
from kvviz.charts.labels import LINE_HEIGHT, PLACES, Room, text_width
from kvviz.charts.ledger import (
    BREAK_FRACTION,
    INSIDE_FRACTION,
    Segment,
    drawn,
    ledger_alt,
    ledger_segments,
    short_label,
    value_label,
)
from kvviz.charts.style import COLOURS, RULE
from kvviz.charts.words import tick, ticks, tokens
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.sizing import Sizing
from kvviz.text import Lang
from kvviz.text import charts as text
from kvviz.text import sizing as titles


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """What is drawn on."""

    wide: int
    """Pixels."""
    columns: int
    """Of the growth chart's legend; the ledger's has twice as many."""
    ending: str = ""
    """Of ids, which are the only ones of their kind on the page."""

    @property
    def right(self) -> float:
        """Of the field inside the growth chart's axes."""
        return self.wide - _MARGIN

    def x(self, share: float) -> float:
        """Where a share of that field's width is."""
        return _LEFT + (self.right - _LEFT) * share


PAGE: Final = Paper(wide=720, columns=2)
PHONE: Final = Paper(wide=370, columns=1, ending="-phone")
_INK, _FAINT, _GRID = "#111111", "#444444", "#DDDDDD"
_FONT: Final = 12
_SWATCH: Final = 16


def _svg(paper: Paper, name: str, title: str, alt: str, tall: float, body: Iterable[str], defs: str) -> str:
    name += paper.ending
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{name}-title {name}-desc" '
        f'viewBox="0 0 {paper.wide} {tall:g}" width="100%" font-size="{_FONT}">'
        f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(alt)}</desc>'
        f"<defs>{defs}</defs>{''.join(body)}</svg>"
    )


def _text(x: float, y: float, said: str, *, anchor: str = "start", fill: str = _INK, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}"{weight}>{escape(said)}</text>'


def _on_white(x: float, y: float, said: str) -> str:
    """A label in the middle of a pattern."""
    wide = text_width(said) + 10
    return (
        f'<rect x="{x - wide / 2:.1f}" y="{y - 13:.1f}" width="{wide:.1f}" height="18" fill="#FFFFFF"/>'
        f"{_text(x, y, said, anchor='middle')}"
    )


def _line(x0: float, y0: float, x1: float, y1: float, colour: str, *, width: float = 1, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"{dashed}/>'
    )


# --- the ledger ------------------------------------------------------------------------------------------------------

_BAR_TOP, _BAR_TALL = 44, 46
_LEGEND_ROW: Final = 34
_ROOM_INSIDE: Final = INSIDE_FRACTION * PAGE.wide / 2
"""A part of the bar that is not as wide has its bytes in the legend only."""


def ledger_svg(sizing: Sizing, lang: Lang, paper: Paper = PAGE) -> str:
    """One GPU's memory as a bar. ``sizing.budget`` must be there.

    What is short is drawn to scale up to the size of the card; beyond that the bar is broken, as on the page.
    """
    budget = sizing.budget
    if budget is None:
        raise ValueError("a ledger needs a budget: a GPU and known weights")
    segments = drawn(ledger_segments(sizing))
    card, beyond = budget.device_bytes, [s for s in segments if not s.on_gpu]
    lacking = sum(s.value_bytes for s in beyond)
    shrunk = min(1.0, card / lacking) if lacking else 1.0
    total = card + lacking * shrunk
    longest = max(beyond, key=lambda s: s.value_bytes, default=None)
    scale = paper.wide / total
    body, inside, x = [], [], 0.0
    for segment in segments:
        wide = segment.value_bytes * (1.0 if segment.on_gpu else shrunk) * scale
        body.append(
            f'<rect class="part" x="{x:.2f}" y="{_BAR_TOP}" width="{wide:.2f}" height="{_BAR_TALL}" '
            f'fill="{_filled(segment, paper)}" stroke="{COLOURS[segment.role]}">'
            f"<title>{escape(_said(segment, lang))}</title></rect>"
        )
        if shrunk < 1 and segment is longest:
            body.append(_break(x + wide / 2, BREAK_FRACTION * card * scale))
        elif wide >= _ROOM_INSIDE and (segment.on_gpu or shrunk == 1):
            inside.append(_on_white(x + wide / 2, _BAR_TOP + _BAR_TALL / 2 + 4, format_bytes(segment.value_bytes)))
        x += wide
    edge, foot = card * scale, _BAR_TOP + _BAR_TALL
    body += inside
    body.append(_line(edge, _BAR_TOP - 8, edge, foot + 4, _INK, width=2))
    name = text.CARD(lang, device=budget.device.name, bytes=format_bytes(card))
    body.append(_text(max(edge, text_width(name)), _BAR_TOP - 12, name, anchor="end"))
    if beyond:
        body.append(_text(paper.wide, 14, short_label(sizing, budget, lang), anchor="end", bold=True))
    for value in ticks(total / GIB) if shrunk == 1 else ticks(card / GIB, most=3):
        place = value * GIB * scale
        body.append(_line(place, foot, place, foot + 5, _FAINT))
        said = f"{tick(value)} GiB" if value else "0"
        body.append(_text(place, foot + 18, said, anchor="middle" if value else "start", fill=_FAINT))
    if shrunk < 1:
        body.append(_text((edge + paper.wide) / 2, foot + 18, text.NOT_TO_SCALE(lang), anchor="middle", fill=_FAINT))
    top = foot + 34
    listed = [s for s in segments if s.term != "remainder"]
    body += [_legend(segment, place, top, paper, lang) for place, segment in enumerate(listed)]
    tall = top + -(-len(listed) // (2 * paper.columns)) * _LEGEND_ROW
    fills = "".join(_pattern(one, paper) for one in {_fill(s): s for s in segments}.values())
    return _svg(paper, "ledger", titles.LEDGER(lang), ledger_alt(sizing, lang), tall, body, fills)


def _said(segment: Segment, lang: Lang) -> str:
    return text.PART_BYTES(lang, label=segment.label(lang), bytes=value_label(segment, lang))


def _legend(segment: Segment, place: int, top: float, paper: Paper, lang: Lang) -> str:
    columns = 2 * paper.columns
    x = place % columns * paper.wide / columns
    y = top + place // columns * _LEGEND_ROW
    return (
        f'<rect x="{x + 0.5:.1f}" y="{y + 0.5:.1f}" width="{_SWATCH}" height="{_SWATCH}" '
        f'fill="{_filled(segment, paper)}" stroke="{COLOURS[segment.role]}"/>'
        f"{_text(x + _SWATCH + 7, y + 10, segment.label(lang))}"
        f"{_text(x + _SWATCH + 7, y + 25, value_label(segment, lang), bold=True)}"
    )


def _break(middle: float, gap: float) -> str:
    """Two slanted strokes at the edges of a gap."""
    foot, lean = _BAR_TOP + _BAR_TALL, 5
    left, right = middle - gap / 2, middle + gap / 2
    corners = (
        (left + lean, _BAR_TOP - 2),
        (right + lean, _BAR_TOP - 2),
        (right - lean, foot + 2),
        (left - lean, foot + 2),
    )
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    strokes = (_line(x + lean, _BAR_TOP - 2, x - lean, foot + 2, _INK, width=1.5) for x in (left, right))
    return f'<polygon class="break" points="{points}" fill="#FFFFFF"/>{"".join(strokes)}'


def _fill(segment: Segment) -> str:
    """Which pattern: one for each role, and others for what is spare, kept free or beyond the card."""
    if not segment.on_gpu:
        return f"{segment.role}-beyond"
    return segment.term.replace("_", "-") if segment.term in ("cache_spare", "kept_free") else segment.role


def _filled(segment: Segment, paper: Paper) -> str:
    return f"url(#ledger-{_fill(segment)}{paper.ending})"


_STROKES: Final = {
    "weights": "",
    "kv": "M0 8L8 0M-2 2L2 -2M6 10L10 6",
    "activations": "M0 0L8 8M-2 6L2 10M6 -2L10 2",
    "overhead": "M0 0L8 8M0 8L8 0",
    "free": "M2 2h1.5v1.5h-1.5zM6 6h1.5v1.5h-1.5z",
    "cache-spare": "M2 2h1.5v1.5h-1.5zM6 6h1.5v1.5h-1.5z",
    "kept-free": "M0 4H8",
    "beyond": "M0 8L8 0M-2 2L2 -2M6 10L10 6",
}
"""One tile of eight by eight pixels."""


def _pattern(segment: Segment, paper: Paper) -> str:
    """White strokes on the role's colour; in the colour on white where there is nothing yet, or no more room."""
    name, colour = _fill(segment), COLOURS[segment.role]
    hollow = name not in COLOURS
    ground, ink = ("#FFFFFF", colour) if hollow else (colour, "#FFFFFF")
    strokes = _STROKES["beyond" if name.endswith("-beyond") else name]
    width = 2.2 if name.endswith("-beyond") else 1.2
    return (
        f'<pattern id="ledger-{name}{paper.ending}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect width="8" height="8" fill="{ground}"/>'
        f'<path d="{strokes}" stroke="{ink}" stroke-width="{width}" fill="none"/></pattern>'
    )


# --- growth ----------------------------------------------------------------------------------------------------------

_LEFT, _TOP, _UP, _MARGIN = 50, 26, 236, 18
"""Of the field inside the axes: its left and upper edge, its height, and what is free right of it."""
_AXIS = 44
_NAME_ROW, _SAMPLE = 17, 34
_DASHES: Final = ("9 5", "2.5 4")


def growth_svg(sizing: Sizing, lang: Lang, paper: Paper = PAGE) -> str:
    """The cache against context length, with the pool, the weights and the length asked for."""
    g = growth(sizing)
    here_bytes = g.need_bytes(g.asked.per_engine, sizing.tokens)
    scale, weights_in_sight = scale_of(g, here_bytes, log=False)
    room = room_of(sizing, g, scale, weights_in_sight)
    body = list(_axes(g, scale, paper, lang))
    named: list[tuple[str, str]] = []
    limit = sizing.architecture.max_context_tokens
    if limit is not None and limit < g.end_tokens:
        x = paper.x(scale.across(limit))
        band = f'y="{_TOP}" height="{_UP}" fill="#EEEEEE"'
        body.insert(0, f'<rect x="{x:.1f}" width="{paper.right - x:.1f}" {band}/>')
    if g.usable_bytes is not None:
        sample = _line(0, 0, _SAMPLE, 0, RULE, width=2)
        body.append(_level(scale, paper, g.usable_bytes, RULE, width=2))
        named.append((sample, capacity_name(sizing, g.usable_bytes, lang)))
    if g.weights_bytes is not None:
        if weights_in_sight:
            body.append(_level(scale, paper, g.weights_bytes, COLOURS["weights"], width=3, dash="14 4 3 4"))
        sample = _line(0, 0, _SAMPLE, 0, COLOURS["weights"], width=3, dash="14 4 3 4")
        named.append((sample, weights_name(g, weights_in_sight, lang)))
    dashes = iter(_DASHES)
    for one in g.lines:
        mine = one is g.asked
        width, dash = (4.0, "") if mine else (2.0, next(dashes))
        body.append(_growing(g, one, scale, paper, width=width, dash=dash))
        sample = _line(0, 0, _SAMPLE, 0, COLOURS["kv"], width=width, dash=dash)
        named.append((sample, line_name(sizing, g, one, lang)))
    body += _leaving(room, paper)
    body += _crossings(g, room, scale, paper)
    body += _here(sizing, room, scale, paper, float(here_bytes), lang)
    if sizing.scenario.typical_tokens != sizing.tokens:
        n = sizing.scenario.typical_tokens
        count = g.need_bytes(g.asked.per_engine, n)
        if count <= scale.top_bytes:
            body.append(_square(paper.x(scale.across(n)), _y(scale, float(count))))
        named.append((_square(_SAMPLE / 2, 0), typical_name(sizing, lang)))
    if limit is not None and limit < g.end_tokens:
        sample = f'<rect y="-6" width="{_SAMPLE}" height="12" fill="#EEEEEE" stroke="{_GRID}"/>'
        named.append((sample, text.BEYOND(lang, tokens=tokens(limit, lang))))
    top = _TOP + _UP + _AXIS + 8
    legend, tall = _names(named, top, paper)
    field = f'<rect x="{_LEFT}" y="{_TOP}" width="{paper.right - _LEFT}" height="{_UP}"/>'
    clip = f'<clipPath id="growth-field{paper.ending}">{field}</clipPath>'
    return _svg(paper, "growth", titles.GROWTH(lang), growth_alt(sizing, lang), tall, [*body, legend], clip)


def _y(scale: Scale, count: float) -> float:
    return _TOP + _UP * (1 - count / float(scale.top_bytes))


def _axes(g: Growth, scale: Scale, paper: Paper, lang: Lang) -> Iterable[str]:
    across, (up, unit) = tokens_axis(scale), bytes_axis(scale)
    foot, right = _TOP + _UP, paper.right
    title = text.GROWTH_TITLE if g.counted else text.GROWTH_TITLE_CONTENT
    yield _text(0, 14, title(lang, unit=unit), bold=True)
    for value, said in zip(up["tickvals"], up["ticktext"], strict=True):
        y = _y(scale, value * GIB)
        yield _line(_LEFT, y, right, y, _GRID)
        yield _text(_LEFT - 6, y + 4, said, anchor="end", fill=_FAINT)
    for value, said in zip(across["tickvals"], across["ticktext"], strict=True):
        x = paper.x(scale.across(value))
        yield _line(x, foot, x, foot + 5, _FAINT)
        yield _text(x, foot + 18, said, anchor="middle", fill=_FAINT)
    yield _line(_LEFT, foot, right, foot, _FAINT)
    yield _text(paper.x(0.5), foot + 36, text.TOKENS_AXIS(lang), anchor="middle")


def _level(scale: Scale, paper: Paper, count: int, colour: str, *, width: float, dash: str = "") -> str:
    y = _y(scale, count)
    return _line(_LEFT, y, paper.right, y, colour, width=width, dash=dash)


def _growing(g: Growth, one: Line, scale: Scale, paper: Paper, *, width: float, dash: str) -> str:
    points = " ".join(
        f"{paper.x(scale.across(n)):.1f},{_y(scale, float(g.need_bytes(one.per_engine, n))):.1f}" for n in g.points
    )
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<polyline class="requests-{one.requests}" points="{points}" fill="none" stroke="{COLOURS["kv"]}" '
        f'stroke-width="{width:g}"{dashed} clip-path="url(#growth-field{paper.ending})"/>'
    )


def _leaving(room: Room, paper: Paper) -> Iterable[str]:
    """An arrow where a line goes on above."""
    for heights in room.rising:
        share = room.leaves(heights)
        if share is not None:
            room.take(share, 1.0, width=14, height=12, place="bottom center", apart=0)
            x = paper.x(share)
            yield f'<path d="M{x:.1f} {_TOP - 8}l6 10h-12z" fill="{COLOURS["kv"]}"/>'


def _crossings(g: Growth, room: Room, scale: Scale, paper: Paper) -> Iterable[str]:
    """A dot where a line meets the pool, with the length where there is room for the number."""
    if not g.usable_bytes:
        return
    height = scale.up(g.usable_bytes)
    inside = [one.fit_tokens for one in g.lines if one.fit_tokens and one.fit_tokens <= g.end_tokens]
    for n in inside:
        room.take(scale.across(n), height, width=9, height=9, place="middle center", apart=0)
    for n in inside:
        x, y = paper.x(scale.across(n)), _y(scale, g.usable_bytes)
        yield f'<circle class="crossing" cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{COLOURS["kv"]}" stroke="#FFFFFF"/>'
        number = format_count(n)
        place = room.place(scale.across(n), height, width=text_width(number), height=LINE_HEIGHT, among=PLACES, apart=7)
        if place:
            vertical, horizontal = place.split()
            anchor, aside = {"left": ("end", -7), "right": ("start", 7), "center": ("middle", 0)}[horizontal]
            yield _text(x + aside, y + (-7 if vertical == "top" else 17), number, anchor=anchor)


def _here(sizing: Sizing, room: Room, scale: Scale, paper: Paper, here_bytes: float, lang: Lang) -> Iterable[str]:
    """The length asked for; the marker lies at the upper edge where the need is above it."""
    above = here_bytes > scale.top_bytes
    share, height = scale.across(sizing.tokens), min(1.0, here_bytes / float(scale.top_bytes))
    room.take(share, height, width=16, height=16, place="middle center", apart=0)
    said = (text.HERE_ABOVE if above else text.HERE)(
        lang, tokens=tokens(sizing.tokens, lang), bytes=format_bytes(round(here_bytes))
    ).split("<br>")
    wide, tall = max(map(text_width, said)), LINE_HEIGHT * len(said)
    side, foot = room.beside(share, width=wide, height=tall, apart=7)
    x, y = paper.x(share), _TOP + _UP * (1 - height)
    yield _line(x, _TOP, x, _TOP + _UP, _FAINT, dash="2 3")
    anchor, aside = ("start", 7) if side == "right" else ("end", -7)
    lowest = _TOP + _UP * (1 - foot) - 4
    for place, line in enumerate(reversed(said)):
        yield _text(x + aside, lowest - place * LINE_HEIGHT, line, anchor=anchor)
    shape = "l8 14h-16z" if above else "l8 8l-8 8l-8 -8z"
    yield (
        f'<path class="here" d="M{x:.1f} {y - 8:.1f}{shape}" fill="{COLOURS["kv"]}" stroke="#FFFFFF" '
        f'stroke-width="1.5"/>'
    )


def _square(x: float, y: float) -> str:
    return f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" fill="{COLOURS["kv"]}" stroke="#FFFFFF"/>'


def _names(named: Sequence[tuple[str, str]], top: float, paper: Paper) -> tuple[str, float]:
    """What each line is, and where that ends."""
    drawn_rows, y = [], top
    for first in range(0, len(named), paper.columns):
        tallest = 1
        for place, (sample, name) in enumerate(named[first : first + paper.columns]):
            said = name.split("<br>")
            tallest = max(tallest, len(said))
            lines = "".join(_text(_SAMPLE + 8, 4 + _NAME_ROW * row, line) for row, line in enumerate(said))
            drawn_rows.append(
                f'<g transform="translate({place * paper.wide / paper.columns:g} {y + 8:g})">{sample}{lines}</g>'
            )
        y += _NAME_ROW * tallest + 4
    return "".join(drawn_rows), y + 4
