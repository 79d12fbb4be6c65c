"""KV cache against context length: how far each number of requests gets before the pool is full."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import plotly.graph_objects as go

from kvviz.charts.style import COLOURS, RULE, lay_out
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.sizing import Sizing
from kvviz.text import Lang
from kvviz.text import charts as text

HEIGHT = 440

_POINTS = 48
"""Evenly spaced points of a line, besides the lengths that mean something."""
_LABEL_SHARE = 0.18
"""Two lines of text, as a share of the chart's height on a phone."""
_FAR_TOKENS = 1 << 27
"""A number of requests that still fits at this length fits at any."""
_WEIGHTS_IN_SIGHT = 3
"""The weights' line is left out when it would squash everything else below a third of the chart."""


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

    bytes_at: Callable[[int], Fraction]
    """Bytes of one request on one GPU, by its length."""
    counted: bool
    """True: as the engine counts; False: content of the whole model, where the engine's count is not known."""
    lines: tuple[Line, ...]
    """Most requests first."""
    asked: Line
    """The scenario's own."""
    pool_bytes: int | None
    weights_bytes: int | None
    """On one GPU."""
    weights_tokens: int | None
    """Length from which the scenario's requests take more than the weights."""
    end_tokens: int
    """Right edge of the chart."""
    points: tuple[int, ...]
    """Lengths at which the lines are drawn."""


def growth(sizing: Sizing) -> Growth:
    """Lines, crossings and range of the chart for ``sizing``."""
    plan, budget = sizing.plan, sizing.budget
    here = sizing.tokens
    engines = sizing.engines
    asked = -(-sizing.scenario.sequences // engines)
    pool_bytes = budget.pool_bytes if plan is not None and budget is not None else None
    weights_bytes = budget.weights.value_bytes if budget is not None else None

    def bytes_at(tokens: int) -> Fraction:
        return sizing.content.bytes_at(tokens) if plan is None else Fraction(plan.request_bytes(tokens))

    def line(per_engine: int) -> Line:
        fit = None if pool_bytes is None else _longest(lambda n: per_engine * bytes_at(n) <= pool_bytes)
        requests = sizing.scenario.sequences if per_engine == asked else per_engine * engines
        return Line(requests=requests, per_engine=per_engine, fit_tokens=fit)

    most = int(pool_bytes // bytes_at(here)) if pool_bytes is not None else None
    lines = tuple(line(n) for n in sorted(_compared(asked, most), reverse=True))
    crossings = [one.fit_tokens for one in lines if one.fit_tokens]
    end = min(max([2 * here, *(c + c // 8 for c in crossings)]), 4 * here)
    weights_tokens = None
    if weights_bytes is not None:
        below = _longest(lambda n: asked * bytes_at(n) <= weights_bytes)
        weights_tokens = None if below is None else below + 1
    return Growth(
        bytes_at=bytes_at,
        counted=plan is not None,
        lines=lines,
        asked=next(one for one in lines if one.per_engine == asked),
        pool_bytes=pool_bytes,
        weights_bytes=weights_bytes,
        weights_tokens=weights_tokens,
        end_tokens=end,
        points=_points(sizing, end, [here, *crossings]),
    )


def growth_figure(sizing: Sizing, lang: Lang) -> go.Figure:
    """The chart. Without a budget it shows growth alone, without a plan the growth of the content."""
    g = growth(sizing)
    here_bytes = g.asked.per_engine * g.bytes_at(sizing.tokens)
    top_bytes = max(here_bytes, Fraction(g.pool_bytes or 0))
    weights_in_sight = g.weights_bytes is not None and g.weights_bytes <= _WEIGHTS_IN_SIGHT * top_bytes
    if weights_in_sight:
        top_bytes = max(top_bytes, Fraction(g.weights_bytes or 0))
    top_bytes *= Fraction(125, 100)

    figure = go.Figure()
    if g.pool_bytes is not None:
        _level(figure, g, g.pool_bytes, RULE, "solid", text.CAPACITY(lang, bytes=format_bytes(g.pool_bytes)))
    if g.weights_bytes is not None:
        name = _weights_name(g, weights_in_sight, lang)
        _level(figure, g, g.weights_bytes, COLOURS["weights"], "dashdot", name, drawn=weights_in_sight)
    styles = iter(("dash", "dot"))
    for one in g.lines:
        mine = one is g.asked
        figure.add_scatter(
            x=list(g.points),
            y=[float(one.per_engine * g.bytes_at(n)) / GIB for n in g.points],
            mode="lines",
            name=_line_name(sizing, g, one, lang),
            line={
                "color": COLOURS["kv"],
                "width": 4 if mine else 2,
                "dash": "solid" if mine else next(styles),
            },
            hovertemplate=f"{_requests(one.requests, lang)}: %{{y:.3~g}} GiB<extra></extra>",
            meta=f"requests-{one.requests}",
        )
    _mark_crossings(figure, g, top_bytes)
    _mark_here(figure, sizing, g, here_bytes, top_bytes, lang)
    _shade_beyond(figure, sizing, g, lang)

    lay_out(figure, height=HEIGHT, top=30)
    figure.update_layout(hovermode="x unified", legend={"entrywidth": 285})
    figure.update_xaxes(
        range=[0, g.end_tokens],
        tickformat=",d",
        nticks=6,
        title={"text": text.TOKENS_AXIS(lang), "standoff": 6},
        ticklabeloverflow="hide past domain",
        unifiedhovertitle={"text": f"%{{x:,d}} {text.HOVER_TOKENS(lang)}"},
    )
    figure.update_yaxes(range=[0, float(top_bytes) / GIB], nticks=6, rangemode="tozero")
    figure.add_annotation(
        text=(text.GROWTH_TITLE if g.counted else text.GROWTH_TITLE_CONTENT)(lang),
        x=0,
        xref="paper",
        xanchor="left",
        y=1,
        yref="paper",
        yanchor="bottom",
        yshift=6,
        showarrow=False,
    )
    return figure


def growth_rows(sizing: Sizing, lang: Lang) -> list[dict[str, Any]]:
    """The lines as a table: one row per number of requests and length that is marked in the chart."""
    g = growth(sizing)
    lengths = sorted({sizing.tokens, *(one.fit_tokens for one in g.lines if one.fit_tokens)})
    rows = []
    for one in g.lines:
        for tokens in lengths:
            exact = one.per_engine * g.bytes_at(tokens)
            count = -(-exact.numerator // exact.denominator)
            fits = None if g.pool_bytes is None else (text.YES if count <= g.pool_bytes else text.NO)(lang)
            rows.append(
                {
                    text.REQUESTS_HEADING(lang): one.requests,
                    text.TOKENS(lang): tokens,
                    text.BYTES(lang): count,
                    text.GIB(lang): round(count / GIB, 3),
                    text.FITS(lang): fits,
                }
            )
    return rows


def growth_alt(sizing: Sizing, lang: Lang) -> str:
    """The chart in words, for screen readers."""
    g = growth(sizing)
    sentence = text.GROWTH_ALT if g.counted else text.GROWTH_ALT_CONTENT
    said = [
        sentence(
            lang,
            tokens=format_count(sizing.tokens),
            here=_requests(g.asked.requests, lang),
            bytes=format_bytes(g.asked.per_engine * g.bytes_at(sizing.tokens)),
        )
    ]
    if g.pool_bytes is not None:
        crossings = text.PART_SEPARATOR(lang).join(_line_name(sizing, g, one, lang) for one in g.lines)
        said.append(text.GROWTH_ALT_CAPACITY(lang, bytes=format_bytes(g.pool_bytes), crossings=crossings))
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


def _longest(fits: Callable[[int], bool]) -> int | None:
    """Largest length that fits: 0 if not even one token does, None if every length does."""
    if not fits(1):
        return 0
    low, high = 1, 2
    while fits(high):
        low, high = high, 2 * high
        if high > _FAR_TOKENS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _points(sizing: Sizing, end: int, marks: list[int]) -> tuple[int, ...]:
    """Lengths to draw: evenly spaced ones that fill whole blocks, and those where the slope changes.

    Between two multiples of the block the engine's count is a step that would only draw a staircase.
    """
    block = sizing.plan.block_tokens if sizing.plan is not None else 1
    step = max(block, -(-end // _POINTS // block) * block)
    in_flight = sizing.plan.in_flight_tokens if sizing.plan is not None else 0
    limits = [limit.limit_tokens + in_flight for limit in sizing.content.limited]
    chosen = {1, end, *range(step, end, step), *limits, *marks}
    return tuple(sorted(n for n in chosen if 1 <= n <= end))


def _level(
    figure: go.Figure, g: Growth, level_bytes: int, colour: str, dash: str, name: str, *, drawn: bool = True
) -> None:
    figure.add_scatter(
        x=[0, g.end_tokens],
        y=[level_bytes / GIB if drawn else None] * 2,
        mode="lines",
        name=name,
        line={"color": colour, "width": 2, "dash": dash},
        hoverinfo="skip",
    )


def _mark_crossings(figure: go.Figure, g: Growth, top_bytes: Fraction) -> None:
    """A dot where a line meets the pool, with the length if there is room for the number."""
    if g.pool_bytes is None:
        return
    under = g.pool_bytes - (g.weights_bytes or 0)
    free_below = not 0 < under < top_bytes / 10  # the weights' own line may be just there
    previous = 0.0
    for one in g.lines:
        tokens = one.fit_tokens
        if not tokens or tokens > g.end_tokens:
            continue
        share = tokens / g.end_tokens
        # On a phone a number is about a sixth of the chart wide. Left of its line and above the pool's it is in
        # nobody's way if the steeper line is far enough; else it stands right of its line and below the pool's.
        left = (one is g.lines[0] and share > 0.2) or (share > 0.82 and share - previous > 0.18)
        roomy = left or (free_below and share - previous > 0.05 and share < 0.82)
        previous = share
        figure.add_scatter(
            x=[tokens],
            y=[g.pool_bytes / GIB],
            mode="markers+text" if roomy else "markers",
            text=[format_count(tokens)],
            textposition="top left" if left else "bottom right",
            marker={"color": COLOURS["kv"], "size": 9, "line": {"width": 1.5, "color": "#FFFFFF"}},
            showlegend=False,
            hoverinfo="skip",
            cliponaxis=False,
            meta="crossing",
        )


def _mark_here(
    figure: go.Figure, sizing: Sizing, g: Growth, here_bytes: Fraction, top_bytes: Fraction, lang: Lang
) -> None:
    figure.add_shape(
        type="line",
        x0=sizing.tokens,
        x1=sizing.tokens,
        y0=0,
        y1=1,
        yref="paper",
        line={"color": RULE, "width": 1, "dash": "dot"},
    )
    figure.add_annotation(
        x=sizing.tokens,
        y=_clear_share(sizing, g, top_bytes),
        yref="paper",
        xanchor="left",
        yanchor="bottom",
        align="left",
        xshift=4,
        showarrow=False,
        text=text.HERE(lang, tokens=format_count(sizing.tokens)),
    )
    figure.add_scatter(
        x=[sizing.tokens],
        y=[float(here_bytes) / GIB],
        mode="markers",
        marker={
            "color": COLOURS["kv"],
            "symbol": "diamond",
            "size": 14,
            "line": {"width": 2, "color": "#FFFFFF"},
        },
        showlegend=False,
        hoverinfo="skip",
        cliponaxis=False,
        meta="here",
    )


def _clear_share(sizing: Sizing, g: Growth, top_bytes: Fraction) -> float:
    """Height, as a share of the chart, right of "you are here" where two lines of text cross nothing."""
    here, beside = sizing.tokens, sizing.tokens + g.end_tokens * 2 // 5
    taken = [
        (one.per_engine * g.bytes_at(here) / top_bytes, one.per_engine * g.bytes_at(beside) / top_bytes)
        for one in g.lines
    ]
    taken += [(level / top_bytes, level / top_bytes) for level in (g.pool_bytes, g.weights_bytes) if level]
    if g.pool_bytes:  # lengths beside the crossings stand above and below the line
        taken.append((g.pool_bytes / top_bytes - Fraction(1, 10), g.pool_bytes / top_bytes + Fraction(1, 10)))
    best, widest, floor = 0.0, 0.0, Fraction(0)
    for low, high in sorted([*taken, (Fraction(1), Fraction(1))]):
        gap = float(min(low, Fraction(1)) - floor)
        if gap > widest + 0.001:
            best, widest = float(floor), gap
        if widest > _LABEL_SHARE:
            break
        floor = max(floor, high)
    return best + 0.02 * (best > 0)


def _shade_beyond(figure: go.Figure, sizing: Sizing, g: Growth, lang: Lang) -> None:
    limit = sizing.architecture.max_context_tokens
    if limit is None or limit >= g.end_tokens:
        return
    figure.add_vrect(
        x0=limit,
        x1=g.end_tokens,
        fillcolor=RULE,
        opacity=0.18,
        line_width=0,
        layer="below",
        showlegend=True,
        name=text.BEYOND(lang, tokens=format_count(limit)),
    )


def _requests(count: int, lang: Lang) -> str:
    return text.REQUEST(lang) if count == 1 else text.REQUESTS(lang, requests=format_count(count))


def _line_name(sizing: Sizing, g: Growth, one: Line, lang: Lang) -> str:
    """The number of requests and how long they may be: never longer than the model itself allows."""
    requests = _requests(one.requests, lang)
    if g.pool_bytes is None:
        return requests
    limit = sizing.architecture.max_context_tokens
    if limit is not None and limit >= sizing.tokens and (one.fit_tokens is None or one.fit_tokens >= limit):
        return text.FIT_MODEL(lang, requests=requests, tokens=format_count(limit))
    if one.fit_tokens is None:
        return text.FIT_ALWAYS(lang, requests=requests)
    if not one.fit_tokens:
        return text.FIT_NEVER(lang, requests=requests)
    return text.FIT_UNTIL(lang, requests=requests, tokens=format_count(one.fit_tokens))


def _weights_name(g: Growth, in_sight: bool, lang: Lang) -> str:
    weights = format_bytes(g.weights_bytes or 0)
    if not in_sight:
        return text.WEIGHTS_OFF(lang, bytes=weights)
    if g.weights_tokens is None or g.weights_tokens > g.end_tokens:
        return text.WEIGHTS_LINE(lang, bytes=weights)
    return text.WEIGHTS_PASSED(lang, bytes=weights, tokens=format_count(g.weights_tokens))
