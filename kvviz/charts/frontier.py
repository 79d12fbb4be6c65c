"""Context against concurrency: what fits on these GPUs, and the frontier up to which it does."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf, log2, log10
from typing import Any, Final

from kvviz.budgets import Budget
from kvviz.charts import words
from kvviz.charts.counts import first_tokens, longest
from kvviz.charts.labels import LINE_HEIGHT, text_width
from kvviz.charts.ledger import LEGEND_FONT
from kvviz.charts.style import LABEL, RULE, Drawing, Figure
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.sizing import Sizing
from kvviz.text import Lang
from kvviz.text import charts as text

HEIGHT: Final = 470

_COLUMNS, _ROWS = 40, 28
_FAR = 64
"""The chart reaches up to 64 times the length where anything fits so far out, and down as far on the other side."""
_ABOVE = 8
"""And up to that many times the requests asked for, or that fit."""
_POINTS = 64
"""Of the frontier, besides the lengths at which it steps."""
_STEPS = 12
"""So many of the lowest steps are drawn as steps; above them they are smaller than the line is wide."""

_LEGEND_WIDTH = 78
"""Of an entry, in pixels: two stand beside each other on a phone."""
_PHONE = (280, 215)
"""Width and height, in pixels, of the area that the chart has on a phone."""
_APART = 11
"""Pixels between a point and its label."""

BANDS: Final = (
    (0.25, "rgba(213, 94, 0, 0.22)"),
    (0.5, "rgba(213, 94, 0, 0.45)"),
    (1.0, "rgba(213, 94, 0, 0.72)"),
    (2.0, "rgba(128, 128, 128, 0.28)"),
    (4.0, "rgba(128, 128, 128, 0.5)"),
    (inf, "rgba(128, 128, 128, 0.75)"),
)
"""Upper edge of each band as a share of the room, and its colour: the cache's as long as it fits, then grey."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """What the chart draws. Requests are those over all engines side by side."""

    start_tokens: int
    end_tokens: int
    top_requests: int
    line: tuple[tuple[int, int], ...]
    """Length, and the most requests of it that fit; ends where none does."""
    usable_bytes: int
    """Room for the cache on one GPU."""


def frontier(sizing: Sizing) -> Frontier:
    """Range and line of the chart, by the engine's count. ``sizing.budget`` must be there."""
    budget = _budget(sizing)
    here, first = sizing.tokens, first_tokens(sizing)

    def most_tokens(requests: int) -> int | None:
        return longest(lambda n: sizing.need_bytes(requests, n) <= budget.usable_bytes, first=first)

    steps = [most_tokens(n) for n in range(1, _STEPS + 1)]
    far = _FAR * here
    reach = far if steps[0] is None else min(steps[0] + steps[0] // 4, far)
    end = max(8 * here, min(reach, max(sizing.architecture.max_context_tokens or far, 8 * here)))
    start = max(first, here * here // end)
    even = (round(start * (end / start) ** (place / _POINTS)) for place in range(_POINTS + 1))
    edges = (edge for step in steps if step for edge in (step, step + 1))
    lengths = sorted({here, *even, *(n for n in edges if start <= n <= end)})
    line = [(n, requests_that_fit(sizing, n)) for n in lengths]
    at_here = requests_that_fit(sizing, here)
    return Frontier(
        start_tokens=start,
        end_tokens=end,
        top_requests=max(16, _ABOVE * max(sizing.scenario.requests, at_here)),
        line=tuple((n, fit) for n, fit in line if fit),
        usable_bytes=budget.usable_bytes,
    )


def requests_that_fit(sizing: Sizing, tokens: int) -> int:
    """The most requests of ``tokens`` that fit at once over all engines, as the engine counts them."""
    return sizing.fit(tokens)


def frontier_figure(sizing: Sizing, lang: Lang) -> Figure:
    """The heat map with the frontier. Read the other way round, the frontier says how long requests may be.

    ``sizing.budget`` must be there: without a GPU or weights there is no room to compare with.
    """
    f = frontier(sizing)
    drawing = Drawing()
    across = _edges(f.start_tokens, f.end_tokens, _COLUMNS)
    up = _edges(0.8, f.top_requests, _ROWS)
    needs = _needs(sizing, across, up)
    room = f.usable_bytes
    shares = [[float(need / room) if room else inf for need in row] for row in needs]
    drawing.heatmap(
        x=across,
        y=up,
        z=[[_band(share) for share in row] for row in shares],
        customdata=[
            [f"{format_bytes(need)}, {_percent(share)}" for need, share in zip(*both, strict=True)]
            for both in zip(needs, shares, strict=True)
        ],
        zmin=-0.5,
        zmax=len(BANDS) - 0.5,
        colorscale=_colours(),
        showscale=False,
        hovertemplate="%{customdata}<extra></extra>",
        meta="shares",
    )
    for place, (upper, colour) in enumerate(BANDS):
        drawing.scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=_band_name(place, upper),
            marker={"color": colour, "symbol": "square", "size": 14, "line": {"width": 1, "color": RULE}},
            hoverinfo="skip",
            meta="band",
        )
    line: list[tuple[int, float]] = [(n, min(fit, 2 * f.top_requests)) for n, fit in f.line]
    if line and line[-1][0] < f.end_tokens:
        line.append((line[-1][0], 0.5))  # down to the axis: one more token, and none fits
    # White on black in the chart, grey in the legend, which has the page behind it.
    for width, colour in () if not line else ((6, "#262626"), (3, "#FFFFFF"), (4, RULE)):
        named = colour == RULE
        drawing.scatter(
            x=[None] if named else [n for n, _ in line],
            y=[None] if named else [fit for _, fit in line],
            mode="lines",
            name=text.FRONTIER(lang),
            line={"color": colour, "width": width},
            showlegend=named,
            hoverinfo="skip",
            meta={6: "frontier-edge", 3: "frontier", 4: "named"}[width],
        )
    _mark_here(drawing, sizing, f, lang)
    limit = sizing.architecture.max_context_tokens
    if limit is not None and f.start_tokens < limit < f.end_tokens:
        drawing.line(
            x0=limit,
            x1=limit,
            y0=0,
            y1=1,
            yref="y domain",
            line={"color": RULE, "width": 2, "dash": "dash"},
            showlegend=True,
            name=text.MODEL_MAXIMUM(lang, tokens=format_count(limit)),
        )

    drawing.title(text.FRONTIER_TITLE(lang))
    marks, counts = words.powers(f.start_tokens, f.end_tokens), _decades(f.top_requests)
    return drawing.figure(
        height=HEIGHT,
        top=36,
        hovermode="closest",
        legend={
            "entrywidth": _LEGEND_WIDTH,
            "font": {"size": LEGEND_FONT},
            "title": {
                "text": text.FRONTIER_SHARES(lang, bytes=format_bytes(f.usable_bytes)),
                "side": "top",
            },
        },
        xaxis={
            "type": "log",
            "range": [log10(f.start_tokens), log10(f.end_tokens)],
            "tickvals": marks,
            "ticktext": [words.short(n) for n in marks],
            "title": text.TOKENS_AXIS(lang),
            "showgrid": False,
        },
        yaxis={
            "type": "log",
            "range": [log10(0.8), log10(f.top_requests)],
            "tickvals": counts,
            "ticktext": [format_count(n) for n in counts],
            "showgrid": False,
        },
    )


def frontier_rows(sizing: Sizing, lang: Lang) -> list[dict[str, Any]]:
    """At lengths that double, and at the scenario's: how many fit, and what those asked for take."""
    budget = _budget(sizing)
    f = frontier(sizing)
    asked = sizing.scenario.requests
    said = words.requests(asked, lang)
    rows = []
    for tokens in _lengths(sizing, f):
        need = sizing.need_bytes(-(-asked // sizing.engines), tokens)
        row: dict[str, Any] = {
            text.TOKENS_HEADING(lang): tokens,
            text.FIT_AT_ONCE(lang): requests_that_fit(sizing, tokens),
            text.NEED_GIB(lang, requests=said): round(float(need) / GIB, 3),
        }
        if budget.usable_bytes:
            row[text.SHARE_OF_ROOM(lang, requests=said)] = round(float(100 * need / budget.usable_bytes), 1)
        rows.append(row)
    return rows


def frontier_alt(sizing: Sizing, lang: Lang) -> str:
    """The chart in words, for screen readers."""
    f = frontier(sizing)
    counts = [
        text.FRONTIER_ALT_COUNT(lang, fit=format_count(requests_that_fit(sizing, n)), tokens=words.tokens(n, lang))
        for n in _lengths(sizing, f)
    ]
    asked = sizing.scenario.requests
    need = sizing.need_bytes(-(-asked // sizing.engines), sizing.tokens)
    return text.FRONTIER_ALT(
        lang,
        counts=text.PART_SEPARATOR(lang).join(counts),
        here=words.requests(asked, lang),
        tokens=words.tokens(sizing.tokens, lang),
        bytes=format_bytes(need),
        room=format_bytes(f.usable_bytes),
        fit=format_count(requests_that_fit(sizing, sizing.tokens)),
    )


def _budget(sizing: Sizing) -> Budget:
    if sizing.budget is None:
        raise ValueError("a frontier needs a budget: a GPU and known weights")
    return sizing.budget


def _edges(low: float, high: float, cells: int) -> list[float]:
    """Of cells that are equally wide on a logarithmic axis."""
    return [low * (high / low) ** (place / cells) for place in range(cells + 1)]


def _needs(sizing: Sizing, across: list[float], up: list[float]) -> list[list[Fraction]]:
    """Bytes on one GPU that each cell's middle takes; rows from the fewest requests up."""
    lengths = [round((low * high) ** 0.5) for low, high in pairwise(across)]
    each = [-(-max(1, round((low * high) ** 0.5)) // sizing.engines) for low, high in pairwise(up)]
    return [[sizing.need_bytes(requests, tokens) for tokens in lengths] for requests in each]


def _band(share: float) -> int:
    return next(place for place, (upper, _) in enumerate(BANDS) if share <= upper)


def _band_name(place: int, upper: float) -> str:
    return f"> {_percent(BANDS[place - 1][0])}" if upper == inf else f"≤ {_percent(upper)}"


def _percent(share: float) -> str:
    return "∞" if share == inf else f"{share * 100:,.3g}%" if share < 10 else f"{share * 100:,.0f}%"


def _colours() -> list[tuple[float, str]]:
    """Each band has one colour, without transitions."""
    count = len(BANDS)
    return [(edge / count, colour) for place, (_, colour) in enumerate(BANDS) for edge in (place, place + 1)]


def _decades(top: int) -> list[int]:
    """1, 10, 100 …, with 2 and 5 between them where there are few."""
    counts = [10**power for power in range(len(str(top)))]
    if len(counts) <= 3:
        counts = [n * times for n in counts for times in (1, 2, 5)]
    return [n for n in counts if log2(n) <= 0.98 * log2(top)]


def _lengths(sizing: Sizing, f: Frontier) -> list[int]:
    return sorted({sizing.tokens, *words.powers(f.start_tokens, f.end_tokens, most=8)})


def _mark_here(drawing: Drawing, sizing: Sizing, f: Frontier, lang: Lang) -> None:
    """The scenario's length and requests, and how many of that length fit."""
    requests, fit = sizing.scenario.requests, requests_that_fit(sizing, sizing.tokens)
    share = log2(sizing.tokens / f.start_tokens) / log2(f.end_tokens / f.start_tokens)
    height = log2(requests / 0.8) / log2(f.top_requests / 0.8)
    said = text.HERE_REQUESTS(
        lang, requests=format_count(requests), tokens=words.tokens(sizing.tokens, lang), fit=format_count(fit)
    )
    lines = said.split("<br>")
    wide, tall = max(map(text_width, lines)) / _PHONE[0], (LINE_HEIGHT * len(lines) + _APART) / _PHONE[1]
    # On the side away from the frontier, which falls from the left to the right, if a phone has the room there.
    fits = requests <= fit
    left = share >= wide if fits else 1 - share < wide
    below = height >= tall if fits else 1 - height < tall
    drawing.scatter(
        x=[sizing.tokens],
        y=[requests],
        mode="markers",
        marker={"color": "#FFFFFF", "symbol": "diamond", "size": 14, "line": {"width": 3, "color": "#262626"}},
        showlegend=False,
        hoverinfo="skip",
        cliponaxis=False,
        meta="here",
    )
    drawing.label(
        x=share,
        xref="paper",
        y=height,
        yref="paper",
        xanchor="right" if left else "left",
        yanchor="top" if below else "bottom",
        yshift=-_APART if below else _APART,
        align="left",
        text=said,
        **LABEL,
    )
