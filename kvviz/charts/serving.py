"""How full attached engines' caches were, from the first look of a session until now."""

from collections.abc import Sequence
from typing import Final

from kvviz.charts.labels import legend_below
from kvviz.charts.style import Drawing, Figure, line_look, literal
from kvviz.text import Lang
from kvviz.text import serving as text

Series = Sequence[tuple[float, float]]
"""(seconds ago, share in use), the oldest first."""

_HEIGHT: Final = 216
"""Of the chart without its legend."""
_ROWS: Final = 12
_SHORTEST_S: Final = 30
_GAP_S: Final = 15.0
"""Where nothing was read for so long, no line is drawn."""


def usage_figure(of: Sequence[tuple[str, Series]], lang: Lang) -> Figure:
    """A line for each engine, the present at the right; no two alike of ``MOST_LINES``."""
    drawing = Drawing()
    drawing.title(text.CHART(lang))
    longest = max((ago for _, series in of for ago, _ in series), default=0.0)
    for number, (name, series) in enumerate(of):
        points = _with_gaps(series)
        drawing.scatter(
            x=[ago for ago, _ in points],
            y=[None if share is None else 100 * share for _, share in points],
            mode="lines+markers" if len(points) < 3 else "lines",
            name=literal(name),
            line=line_look(number),
            hovertemplate="%{x:.0f} s: %{y:.1f}%<extra>%{fullData.name}</extra>",
            connectgaps=False,
            cliponaxis=False,
            meta="usage",
        )
    legend, below = legend_below([name for name, _ in of])
    return drawing.figure(
        height=_HEIGHT + below,
        top=36,
        legend=legend,
        xaxis={"title": text.CHART_AXIS(lang), "range": [max(longest, _SHORTEST_S), 0], "tickformat": ",d"},
        yaxis={"range": [0, 100], "tickvals": [0, 25, 50, 75, 100]},
        showlegend=True,
    )


def usage_alt(of: Sequence[tuple[str, Series]], lang: Lang) -> str:
    """The chart in a sentence: where each line ends."""
    now = [
        text.CHART_NOW(lang, name=name, fraction=f"{series[-1][1]:.0%}")
        for name, series in of
        if series and series[-1][0] <= _GAP_S  # an engine that no longer answers has no present
    ]
    if not now:
        return text.CHART_EMPTY(lang)
    return text.CHART_ALT(lang, now=("、" if lang == "ja" else ", ").join(now))


def usage_rows(of: Sequence[tuple[str, Series]], lang: Lang) -> list[dict[str, str | int | float | None]]:
    """Some of the samples, a row each, the latest last."""
    rows: list[dict[str, str | int | float | None]] = []
    for name, series in of:
        last = len(series) - 1
        chosen = sorted({number * last // (_ROWS - 1) for number in range(_ROWS)}) if series else []
        rows += [
            {
                text.RANK(lang): name,
                text.CHART_AXIS(lang): round(series[place][0]),
                text.USAGE(lang): f"{series[place][1]:.1%}",
            }
            for place in chosen
        ]
    return rows


def _with_gaps(series: Series) -> list[tuple[float, float | None]]:
    points: list[tuple[float, float | None]] = []
    for ago, share in series:
        if points and points[-1][0] - ago > _GAP_S:
            points.append((ago, None))
        points.append((ago, share))
    return points
