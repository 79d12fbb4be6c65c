"""KV cache against context length: how far each number of requests gets before the pool is full."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log2, log10
from typing import Any

from kvviz.charts import words
from kvviz.charts.counts import first_tokens, longest
from kvviz.charts.labels import LINE_HEIGHT, PLACES, Room, text_width
from kvviz.charts.style import COLOURS, RULE, Drawing, Figure
from kvviz.core.identity import ByIdentity
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.engines.vllm import VllmPlan
from kvviz.planning import most_requests, step_tokens
from kvviz.sizing import Sizing
from kvviz.text import Lang
from kvviz.text import charts as text

HEIGHT = 440

_POINTS = 32
"""Evenly spaced points of a line, besides the lengths that mean something."""
_WEIGHTS_IN_SIGHT = 3
"""The weights' line is left out when it would squash everything else below a third of the chart."""
_HERE_IN_SIGHT = 10
"""A need that many times the pool is left above the chart: drawn to scale, the pool would lie on the axis."""


_FAR, _NEAR = 64, 32
"""Logarithmic axes reach from a 32nd of the length to 64 times that, where there is something to see so far out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The cache of a number of requests, all of one length, on one GPU."""

    requests: int
    """As asked for or compared with, over all engines side by side."""
    per_engine: int
    """Those of one engine: what one GPU sees."""
    fit_tokens: int | None
    """Longest length at which they fit into the pool: 0 at none, None without a pool or at any length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What the chart draws, in bytes and tokens."""

    need_bytes: Callable[[int, int], Fraction]
    """Bytes that so many requests of one length take on one GPU, what they share counted once."""
    first_tokens: int
    """Shortest length there is."""
    counted: bool
    """True: as the engine counts; False: content of the whole model, where the engine's count is not known."""
    lines: tuple[Line, ...]
    """Most requests first."""
    asked: Line
    """The scenario's own."""
    usable_bytes: int | None
    """The pool without what is kept free."""
    weights_bytes: int | None
    """On one GPU."""
    weights_tokens: int | None
    """Length from which the scenario's requests take more than the weights."""
    start_tokens: int
    """Left edge of the chart: 0, or with logarithmic axes a length that tells something."""
    end_tokens: int
    """Right edge of the chart."""
    points: tuple[int, ...]
    """Lengths at which the lines are drawn."""


def growth(sizing: Sizing, *, log: bool = False) -> Growth:
    """Lines, crossings and range of the chart for ``sizing``, with linear or logarithmic axes."""
    return _growth(ByIdentity(sizing), log)


@lru_cache(maxsize=16)  # the figure, its table and its words ask in turn
def _growth(of: ByIdentity[Sizing], log: bool) -> Growth:
    sizing = of.value
    budget, scenario = sizing.budget, sizing.scenario
    here, engines = sizing.tokens, sizing.engines
    asked = -(-scenario.requests // engines)
    usable_bytes = budget.usable_bytes if sizing.plan is not None and budget is not None else None
    weights_bytes = budget.weights.value_bytes if budget is not None else None
    first = first_tokens(sizing)
    slots = most_requests(sizing.plan) if sizing.plan is not None else None
    need = sizing.need_bytes

    def line(per_engine: int) -> Line:
        fit = None if usable_bytes is None else longest(lambda n: need(per_engine, n) <= usable_bytes, first=first)
        if usable_bytes is not None and slots is not None and per_engine > slots:
            fit = 0
        requests = scenario.requests if per_engine == asked else per_engine * engines
        return Line(requests=requests, per_engine=per_engine, fit_tokens=fit)

    most = None if sizing.max_sequences_counted is None else sizing.max_sequences_counted // engines
    lines = tuple(line(n) for n in sorted(_compared(asked, most), reverse=True))
    crossings = [one.fit_tokens for one in lines if one.fit_tokens]
    far = (_FAR if log else 4) * here
    end = min(max([2 * here, *(c + c // 8 for c in crossings)]), far)
    if log:
        end = max(end, 4 * here, min(sizing.architecture.max_context_tokens or 0, far))
    weights_tokens = None
    if weights_bytes is not None:
        below = longest(lambda n: need(asked, n) <= weights_bytes, first=first)
        weights_tokens = None if below is None else max(first, below + 1)
    return Growth(
        need_bytes=need,
        first_tokens=first,
        counted=sizing.plan is not None,
        lines=lines,
        asked=next(one for one in lines if one.per_engine == asked),
        usable_bytes=usable_bytes,
        weights_bytes=weights_bytes,
        weights_tokens=weights_tokens,
        start_tokens=max(first, here // _NEAR) if log else 0,
        end_tokens=end,
        points=_points(sizing, first, end, [here, *crossings], log=log),
    )


def growth_figure(sizing: Sizing, lang: Lang, *, log: bool = False) -> Figure:
    """The chart. Without a budget it shows growth alone, without a plan the growth of the content.

    A line that leaves through the top ends in an arrow there. ``log``: both axes are logarithmic.
    """
    g = growth(sizing, log=log)
    here_bytes = g.need_bytes(g.asked.per_engine, sizing.tokens)
    scale, weights_in_sight = scale_of(g, here_bytes, log=log)

    drawing = Drawing()
    if g.usable_bytes is not None:
        _level(drawing, g, g.usable_bytes, RULE, "solid", capacity_name(sizing, g.usable_bytes, lang), width=2)
    if g.weights_bytes is not None:
        name = weights_name(g, weights_in_sight, lang)
        _level(drawing, g, g.weights_bytes, COLOURS["weights"], "dashdot", name, width=3, drawn=weights_in_sight)
    styles = iter(("dash", "dot"))
    for one in g.lines:
        mine = one is g.asked
        line_bytes = [g.need_bytes(one.per_engine, n) for n in g.points]
        drawing.scatter(
            x=list(g.points),
            y=[float(count) / GIB for count in line_bytes],
            customdata=[format_bytes(count) for count in line_bytes],
            mode="lines",
            name=line_name(sizing, g, one, lang),
            line={
                "color": COLOURS["kv"],
                "width": 4 if mine else 2,
                "dash": "solid" if mine else next(styles),
            },
            hovertemplate=f"{words.requests(one.requests, lang)}: %{{customdata}}<extra></extra>",
            meta=f"requests-{one.requests}",
        )
    room = room_of(sizing, g, scale, weights_in_sight)
    _mark_leaving(drawing, room, scale)
    if sizing.scenario.typical_tokens != sizing.tokens:
        _mark_typical(drawing, sizing, g, room, scale, lang)
    _mark_crossings(drawing, g, room, scale)
    _mark_here(drawing, sizing, room, scale, here_bytes, lang)
    _shade_beyond(drawing, sizing, g, lang)

    vertical, unit = bytes_axis(scale)
    title = text.GROWTH_TITLE if g.counted else text.GROWTH_TITLE_CONTENT
    if unit is None:
        title = text.GROWTH_TITLE_LOG if g.counted else text.GROWTH_TITLE_CONTENT_LOG
    drawing.title(title(lang, unit=unit))
    return drawing.figure(
        height=HEIGHT,
        top=36,
        hovermode="x unified",
        legend={"entrywidth": 285},
        xaxis={
            "title": text.TOKENS_AXIS(lang),
            "unifiedhovertitle": {"text": f"%{{x:,d}} {text.HOVER_TOKENS(lang)}"},
            **tokens_axis(scale),
        },
        yaxis=vertical,
    )


def growth_rows(sizing: Sizing, lang: Lang) -> list[dict[str, Any]]:
    """The lines as a table: each at the scenario's length and at those that are marked on it."""
    g = growth(sizing)
    rows = []
    for one in g.lines:
        lengths = {sizing.tokens, one.fit_tokens}
        if one is g.asked:
            lengths |= {g.weights_tokens, sizing.scenario.typical_tokens}
        for tokens in sorted(n for n in lengths if n):
            exact = g.need_bytes(one.per_engine, tokens)
            count = -(-exact.numerator // exact.denominator)
            row: dict[str, Any] = {
                text.REQUESTS_HEADING(lang): one.requests,
                text.TOKENS_HEADING(lang): tokens,
                text.BYTES(lang): count,
                text.GIB(lang): round(count / GIB, 3),
            }
            if g.usable_bytes is not None:
                row[text.ROOM_GIB(lang)] = round(g.usable_bytes / GIB, 3)
                row[text.FITS(lang)] = (text.YES if count <= g.usable_bytes else text.NO)(lang)
            if g.weights_bytes is not None:
                row[text.WEIGHTS_GIB(lang)] = round(g.weights_bytes / GIB, 3)
            rows.append(row)
    return rows


def growth_alt(sizing: Sizing, lang: Lang) -> str:
    """The chart in words, for screen readers."""
    g = growth(sizing)
    sentence = text.GROWTH_ALT if g.counted else text.GROWTH_ALT_CONTENT
    said = [
        sentence(
            lang,
            tokens=words.tokens(sizing.tokens, lang),
            here=words.requests(g.asked.requests, lang),
            bytes=format_bytes(g.need_bytes(g.asked.per_engine, sizing.tokens)),
        )
    ]
    if g.usable_bytes is not None:
        crossings = text.PART_SEPARATOR(lang).join(line_name(sizing, g, one, lang) for one in g.lines)
        if sizing.scenario.typical_tokens != sizing.tokens:
            crossings = text.PART_SEPARATOR(lang).join((crossings, typical_name(sizing, lang)))
        said.append(text.GROWTH_ALT_CAPACITY(lang, bytes=format_bytes(g.usable_bytes), crossings=crossings))
    if g.weights_bytes is not None:
        said.append(text.GROWTH_ALT_WEIGHTS(lang, bytes=format_bytes(g.weights_bytes)))
    return ("" if lang == "ja" else " ").join(said)


def _compared(asked: int, most: int | None) -> set[int]:
    """Requests to draw: those asked for, the most that fit at this length, and a third that sets them off."""
    half = max(1, asked // 2)
    alike = most is not None and 17 * asked <= 20 * most <= 23 * asked  # within 15 %: two lines would be one
    if not most or alike:
        return {half, asked, 2 * asked} if asked > 1 else {1, 2, 4}
    if most < asked:
        return {asked, most, max(1, most // 2)}
    between = most // 2
    third = between if 2 * between >= 3 * asked else half
    return {asked, most, third if third != asked else 2 * most}


def _points(sizing: Sizing, first: int, end: int, marks: list[int], *, log: bool) -> tuple[int, ...]:
    """Lengths to draw: evenly spaced ones that fill whole blocks, and those where the slope changes.

    Between two multiples of the block the engine's count is a step that would only draw a staircase.
    """
    block = step_tokens(sizing.plan) if sizing.plan is not None else 1
    if log:
        even = [round(first * (end / first) ** (place / _POINTS)) for place in range(1, _POINTS)]
    else:
        even = list(range(0, end, max(block, -(-end // _POINTS // block) * block)))
    in_flight = sizing.plan.in_flight_tokens if isinstance(sizing.plan, VllmPlan) else 0
    limits = [limit.limit_tokens + in_flight for limit in sizing.content.limited]
    chosen = {first, end, *(-(-n // block) * block for n in even), *limits, *marks}
    return tuple(sorted(n for n in chosen if first <= n <= end))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Where lengths and bytes lie, as shares of the chart's width and height."""

    log: bool
    start_tokens: int
    end_tokens: int
    low_bytes: Fraction
    top_bytes: Fraction

    def across(self, tokens: float) -> float:
        if self.log:
            return log2(tokens / self.start_tokens) / log2(self.end_tokens / self.start_tokens)
        return tokens / self.end_tokens

    def tokens_at(self, share: float) -> float:
        if self.log:
            return float(self.start_tokens * (self.end_tokens / self.start_tokens) ** share)
        return share * self.end_tokens

    def up(self, count: Fraction | int) -> float:
        if self.log:
            return log2(count / self.low_bytes) / log2(self.top_bytes / self.low_bytes)
        return float(count) / float(self.top_bytes)


def scale_of(g: Growth, here_bytes: Fraction, *, log: bool) -> tuple[Scale, bool]:
    """The chart's edges, and whether the weights' line lies between them."""
    usable_bytes, weights_bytes = Fraction(g.usable_bytes or 0), Fraction(g.weights_bytes or 0)
    low_bytes, base = Fraction(0), max(here_bytes, usable_bytes)
    if log:
        top_bytes, in_sight = 3 * max(base, weights_bytes), bool(weights_bytes)
        shown = [g.need_bytes(g.lines[-1].per_engine, g.start_tokens), here_bytes / 2]
        shown += [level / 2 for level in (usable_bytes, weights_bytes) if level]
        low_bytes = min(shown) * Fraction(7, 10)
    else:
        if usable_bytes and here_bytes > _HERE_IN_SIGHT * usable_bytes:
            base = 2 * usable_bytes
        in_sight = g.weights_bytes is not None and weights_bytes <= _WEIGHTS_IN_SIGHT * base
        top_bytes = max(base, weights_bytes if in_sight else base) * Fraction(125, 100)
    scale = Scale(
        log=log, start_tokens=g.start_tokens, end_tokens=g.end_tokens, low_bytes=low_bytes, top_bytes=top_bytes
    )
    return scale, in_sight


def tokens_axis(scale: Scale) -> dict[str, Any]:
    """Range and ticks with their words, as Plotly takes them."""
    if scale.log:
        values = words.powers(scale.start_tokens, scale.end_tokens)
        edges = [log10(scale.start_tokens), log10(scale.end_tokens)]
        return {"type": "log", "range": edges, "tickvals": values, "ticktext": [words.short(n) for n in values]}
    marks = [value for value in words.ticks(scale.end_tokens) if value == int(value)]
    return {"range": [0, scale.end_tokens], "tickvals": marks, "ticktext": [words.tick(value) for value in marks]}


def bytes_axis(scale: Scale) -> tuple[dict[str, Any], str | None]:
    """The axis, and the unit of its numbers; None where each is written with its own."""
    low, top = float(scale.low_bytes), float(scale.top_bytes)
    if scale.log:
        values = words.powers(low, top)
        edges = [log10(low / GIB), log10(top / GIB)]
        named = [format_bytes(count) for count in values]
        return {"type": "log", "range": edges, "tickvals": [n / GIB for n in values], "ticktext": named}, None
    unit, unit_bytes = words.unit_of(top)
    marks = words.ticks(float(scale.top_bytes / unit_bytes), most=6)
    axis = {
        "range": [0, top / GIB],
        "tickvals": [value * unit_bytes / GIB for value in marks],
        "ticktext": [words.tick(value) for value in marks],
    }
    return axis, unit


def _level(
    drawing: Drawing,
    g: Growth,
    level_bytes: int,
    colour: str,
    dash: str,
    name: str,
    *,
    width: int,
    drawn: bool = True,
) -> None:
    drawing.scatter(
        x=[g.start_tokens, g.end_tokens],
        y=[level_bytes / GIB if drawn else None] * 2,
        mode="lines",
        name=name,
        line={"color": colour, "width": width, "dash": dash},
        hoverinfo="skip",
    )


def room_of(sizing: Sizing, g: Growth, scale: Scale, weights_in_sight: bool) -> Room:
    """What is drawn, as shares of the chart, for the labels to keep clear of."""
    levels = [g.usable_bytes] if g.usable_bytes or (g.usable_bytes == 0 and not scale.log) else []
    if weights_in_sight and g.weights_bytes is not None:
        levels.append(g.weights_bytes)
    return Room(
        across=[scale.across(n) for n in g.points],
        rising=[[scale.up(g.need_bytes(one.per_engine, n)) for n in g.points] for one in g.lines],
        levels=[scale.up(level) for level in levels],
        uprights=[scale.across(sizing.tokens)],
    )


def _mark_leaving(drawing: Drawing, room: Room, scale: Scale) -> None:
    """An arrow where a line leaves the chart through the top."""
    for heights in room.rising:
        share = room.leaves(heights)
        if share is None:
            continue
        room.take(share, 1.0, width=14, height=12, place="bottom center", apart=0)
        drawing.scatter(
            x=[scale.tokens_at(share)],
            y=[float(scale.top_bytes) / GIB],
            mode="markers",
            marker={"color": COLOURS["kv"], "symbol": "triangle-up", "size": 11},
            showlegend=False,
            hoverinfo="skip",
            cliponaxis=False,
            meta="goes-on",
        )


def _mark_crossings(drawing: Drawing, g: Growth, room: Room, scale: Scale) -> None:
    """A dot where a line meets the pool, with the length if there is room for the number."""
    if not g.usable_bytes:
        return
    height = scale.up(g.usable_bytes)
    inside = [one.fit_tokens for one in g.lines if one.fit_tokens and g.start_tokens <= one.fit_tokens <= g.end_tokens]
    for tokens in inside:
        room.take(scale.across(tokens), height, width=9, height=9, place="middle center", apart=0)
    for tokens in inside:
        number = format_count(tokens)
        share = scale.across(tokens)
        place = room.place(share, height, width=text_width(number), height=LINE_HEIGHT, among=PLACES, apart=7)
        drawing.scatter(
            x=[tokens],
            y=[g.usable_bytes / GIB],
            mode="markers+text" if place else "markers",
            text=[number],
            textposition=place or "top left",
            marker={"color": COLOURS["kv"], "size": 9, "line": {"width": 1.5, "color": "#FFFFFF"}},
            showlegend=False,
            hoverinfo="skip",
            cliponaxis=False,
            meta="crossing",
        )


def _mark_typical(drawing: Drawing, sizing: Sizing, g: Growth, room: Room, scale: Scale, lang: Lang) -> None:
    """A small marker on the scenario's own line, where its requests have a typical length."""
    tokens = sizing.scenario.typical_tokens
    count = g.need_bytes(g.asked.per_engine, tokens)
    if count > scale.top_bytes or tokens < g.start_tokens:
        return
    room.take(scale.across(tokens), scale.up(count), width=10, height=10, place="middle center", apart=0)
    drawing.scatter(
        x=[tokens],
        y=[float(count) / GIB],
        mode="markers",
        name=typical_name(sizing, lang),
        marker={"color": COLOURS["kv"], "symbol": "square", "size": 10, "line": {"width": 1.5, "color": "#FFFFFF"}},
        hoverinfo="skip",
        cliponaxis=False,
        meta="typical",
    )


def _mark_here(drawing: Drawing, sizing: Sizing, room: Room, scale: Scale, here_bytes: Fraction, lang: Lang) -> None:
    """The scenario's length and need; at the upper edge where the need lies above it."""
    above = here_bytes > scale.top_bytes
    share, height = scale.across(sizing.tokens), min(1.0, scale.up(here_bytes))
    room.take(share, height, width=16, height=16, place="middle center", apart=0)
    said = (text.HERE_ABOVE if above else text.HERE)(
        lang, tokens=words.tokens(sizing.tokens, lang), bytes=format_bytes(here_bytes)
    )
    lines = said.split("<br>")
    side, foot = room.beside(share, width=max(map(text_width, lines)), height=LINE_HEIGHT * len(lines), apart=7)
    drawing.line(
        x0=sizing.tokens,
        x1=sizing.tokens,
        y0=0,
        y1=1,
        yref="paper",
        line={"color": RULE, "width": 1, "dash": "dot"},
    )
    drawing.label(
        x=share,
        xref="paper",
        y=foot,
        yref="paper",
        xanchor="left" if side == "right" else "right",
        yanchor="bottom",
        align="left" if side == "right" else "right",
        xshift=6 if side == "right" else -6,
        borderpad=0,
        text=said,
    )
    drawing.scatter(
        x=[sizing.tokens],
        y=[float(min(here_bytes, scale.top_bytes)) / GIB],
        mode="markers",
        marker={
            "color": COLOURS["kv"],
            "symbol": "triangle-up" if above else "diamond",
            "size": 14,
            "line": {"width": 2, "color": "#FFFFFF"},
        },
        showlegend=False,
        hoverinfo="skip",
        cliponaxis=False,
        meta="here",
    )


def _shade_beyond(drawing: Drawing, sizing: Sizing, g: Growth, lang: Lang) -> None:
    limit = sizing.architecture.max_context_tokens
    if limit is None or limit >= g.end_tokens:
        return
    drawing.band(
        limit,
        g.end_tokens,
        fillcolor=RULE,
        opacity=0.18,
        line={"width": 0},
        layer="below",
        showlegend=True,
        name=text.BEYOND(lang, tokens=words.tokens(limit, lang)),
    )


def line_name(sizing: Sizing, g: Growth, one: Line, lang: Lang) -> str:
    """The number of requests and how long they may be: never longer than the model itself allows."""
    requests = words.requests(one.requests, lang)
    if g.usable_bytes is None:
        return requests
    limit = sizing.architecture.max_context_tokens
    if limit is not None and limit >= sizing.tokens and (one.fit_tokens is None or one.fit_tokens >= limit):
        return text.FIT_MODEL(lang, requests=requests, tokens=words.tokens(limit, lang))
    if one.fit_tokens is None:
        return text.ONE_FITS_ALWAYS(lang) if one.requests == 1 else text.FIT_ALWAYS(lang, requests=requests)
    if not one.fit_tokens:
        return text.ONE_FITS_NEVER(lang) if one.requests == 1 else text.FIT_NEVER(lang, requests=requests)
    return text.FIT_UNTIL(lang, requests=requests, tokens=words.tokens(one.fit_tokens, lang))


def capacity_name(sizing: Sizing, usable_bytes: int, lang: Lang) -> str:
    """The pool's line."""
    room = format_bytes(usable_bytes)
    if sizing.budget is None or not sizing.budget.kept_free_bytes:
        return text.CAPACITY(lang, bytes=room)
    return text.CAPACITY_KEPT(lang, bytes=room, kept=format_bytes(sizing.budget.kept_free_bytes))


def typical_name(sizing: Sizing, lang: Lang) -> str:
    """The marker of a typical request."""
    tokens = words.tokens(sizing.scenario.typical_tokens, lang)
    if sizing.max_sequences_typical is None:
        return text.TYPICAL(lang, tokens=tokens)
    fit = format_count(sizing.max_sequences_typical)
    return text.TYPICAL_FIT(lang, tokens=tokens, fit=fit)


def weights_name(g: Growth, in_sight: bool, lang: Lang) -> str:
    """The weights' line, and from where on the cache is larger."""
    weights = format_bytes(g.weights_bytes or 0)
    if not in_sight:
        return text.WEIGHTS_OFF(lang, bytes=weights)
    if g.weights_tokens is None or g.weights_tokens > g.end_tokens:
        return text.WEIGHTS_LINE(lang, bytes=weights)
    requests = words.requests(g.asked.requests, lang)
    if g.weights_tokens == g.first_tokens:
        return text.WEIGHTS_PASSED_ALWAYS(lang, bytes=weights, requests=requests)
    return text.WEIGHTS_PASSED(lang, bytes=weights, requests=requests, tokens=words.tokens(g.weights_tokens, lang))
