"""Two pictures for the Learn page: recomputing all against reusing, step by step, and how the totals grow."""

from collections.abc import Sequence
from html import escape
from typing import Final

from kvviz.charts import words
from kvviz.charts.style import COLOURS, RULE, Drawing, Figure
from kvviz.computations import Computations, Step
from kvviz.core.units import format_count
from kvviz.text import Lang, Text
from kvviz.text import learn as text

_CELL: Final = 26
_GAP: Final = 4
_HEAD: Final = 30
_FOOT: Final = 44
_BETWEEN: Final = 40
_FONT: Final = "var(--st-font, sans-serif)"
_INK: Final = "var(--st-text-color, #777777)"
_POINTS: Final = 50
_HEIGHT: Final = 320


def steps_svg(steps: Sequence[Step], upto: int, lang: Lang) -> str:
    """Both ways side by side, a row a step: what is computed is solid, what is looked up is a ring.

    Steps after ``upto`` are outlines. The drawing is as wide as its place, up to its own size.
    """
    wide = len(steps) * (_CELL + _GAP) - _GAP
    high = _HEAD + wide + _FOOT
    width = 2 * wide + _BETWEEN
    last = steps[upto - 1]
    panels = (
        _panel(steps, upto, 0, text.RECOMPUTE, last.recomputed_so_far, False, lang),
        _panel(steps, upto, wide + _BETWEEN, text.REUSE, last.computed_so_far, True, lang),
    )
    legend = _legend(high, lang)
    alt = escape(steps_alt(steps, upto, lang))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{alt}" viewBox="0 0 {width} {high + 32}" '
        f'style="display:block;width:100%;max-width:{width}px;height:auto;font-family:{_FONT}">'
        f"{''.join(panels)}{legend}</svg>"
    )


def steps_alt(steps: Sequence[Step], upto: int, lang: Lang) -> str:
    """The drawing in a sentence."""
    last = steps[upto - 1]
    without, cached = format_count(last.recomputed_so_far), format_count(last.computed_so_far)
    return text.STEPS_ALT(lang, tokens=len(steps), step=upto, without=without, cached=cached)


def steps_rows(steps: Sequence[Step], lang: Lang) -> list[dict[str, int]]:
    """A row a step."""
    return [
        {
            text.COLUMN_STEP(lang): one.step,
            text.COLUMN_RECOMPUTED(lang): one.recomputed,
            text.COLUMN_RECOMPUTED_SUM(lang): one.recomputed_so_far,
            text.COLUMN_COMPUTED(lang): one.computed,
            text.COLUMN_COMPUTED_SUM(lang): one.computed_so_far,
            text.COLUMN_LOOKED_UP(lang): one.looked_up,
        }
        for one in steps
    ]


def _panel(steps: Sequence[Step], upto: int, left: int, name: Text, count: int, reuse: bool, lang: Lang) -> str:
    """One way: row t has a cell for each of its t tokens."""
    pitch = _CELL + _GAP
    drawn = [f'<text x="{left}" y="18" font-size="18" font-weight="600" fill="{_INK}">{escape(name(lang))}</text>']
    for one in steps:
        for token in range(1, one.step + 1):
            x, y = left + (token - 1) * pitch, _HEAD + (one.step - 1) * pitch
            computed = token == one.step or not reuse
            drawn.append(_cell(x, y, computed=computed, done=one.step <= upto))
    total = escape(text.PANEL_COUNT(lang, count=format_count(count)))
    bottom = _HEAD + len(steps) * pitch + 20
    drawn.append(f'<text x="{left}" y="{bottom}" font-size="18" fill="{_INK}">{total}</text>')
    return "".join(drawn)


def _cell(x: int, y: int, *, computed: bool, done: bool) -> str:
    if not done:
        style = f'fill="none" stroke="{RULE}" stroke-opacity="0.85" stroke-dasharray="2 3"'
        return f'<rect x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}" rx="4" {style}/>'
    if computed:
        return f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" rx="4" fill="{COLOURS["kv"]}"/>'
    style = f'fill="none" stroke="{COLOURS["weights"]}" stroke-width="2.5"'
    return f'<circle cx="{x + _CELL / 2}" cy="{y + _CELL / 2}" r="{_CELL / 2 - 4}" {style}/>'


def _legend(y: int, lang: Lang) -> str:
    """What a solid cell and a ring mean."""
    computed, looked_up = escape(text.COMPUTED(lang)), escape(text.LOOKED_UP(lang))
    return (
        f"{_cell(0, y, computed=True, done=True)}"
        f'<text x="{_CELL + 8}" y="{y + 18}" font-size="17" fill="{_INK}">{computed}</text>'
        f"{_cell(170, y, computed=False, done=True)}"
        f'<text x="{170 + _CELL + 8}" y="{y + 18}" font-size="17" fill="{_INK}">{looked_up}</text>'
    )


def computations_figure(tokens: int, lang: Lang) -> Figure:
    """Token computations up to ``tokens``: a curve without a cache, a straight line with one."""
    drawing = Drawing()
    drawing.title(text.CHART(lang))
    points = [Computations(tokens=place * tokens // _POINTS) for place in range(_POINTS + 1)]
    end = points[-1]
    for name, values, colour, dash in (
        (text.WITHOUT, [one.without for one in points], COLOURS["kv"], "solid"),
        (text.WITH, [one.cached for one in points], COLOURS["weights"], "dash"),
    ):
        drawing.scatter(
            x=[one.tokens for one in points],
            y=values,
            mode="lines",
            name=text.CHART_LABEL(lang, name=name(lang), count=format_count(values[-1])),
            line={"color": colour, "dash": dash, "width": 2.5},
            hovertemplate="%{x:,d}: %{y:,d}<extra></extra>",
        )
    marks = words.ticks(end.without)
    across = [tokens * quarter // 4 for quarter in range(5)]  # to the very end, which the text speaks of
    return drawing.figure(
        height=_HEIGHT,
        top=36,
        legend={},
        xaxis={"title": text.CHART_AXIS(lang), "range": [0, tokens * 1.04], "tickvals": across, "tickformat": ",d"},
        yaxis={"range": [0, end.without * 1.05], "tickvals": marks, "ticktext": [words.tick(m) for m in marks]},
        showlegend=True,
    )


def computations_alt(tokens: int, lang: Lang) -> str:
    """The chart in a sentence."""
    end = Computations(tokens=tokens)
    values = {"without": format_count(end.without), "cached": format_count(end.cached)}
    return text.CHART_ALT(lang, tokens=format_count(tokens), **values)


def computations_rows(tokens: int, lang: Lang) -> list[dict[str, int]]:
    """Some of the points."""
    return [
        {text.COLUMN_TOKENS(lang): one.tokens, text.WITHOUT(lang): one.without, text.WITH(lang): one.cached}
        for one in (Computations(tokens=count) for count in (8, 100, 250, 500, tokens))
    ]
