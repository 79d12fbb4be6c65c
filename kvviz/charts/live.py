"""A run's cache as it grows, predicted as a line and measured as points; and seconds in all, run by run."""

from collections.abc import Sequence
from typing import Any, Final

from kvviz.charts import words
from kvviz.charts.labels import legend_below
from kvviz.charts.ledger import LEGEND_FONT, LEGEND_WIDTH
from kvviz.charts.style import COLOURS, GRID, RULE, Drawing, Figure, fill, hollow, line_look, literal
from kvviz.core.units import format_bytes, format_count
from kvviz.live import Part, Recording, Sample, Started, elapsed_s, ledger, most_temporary_bytes
from kvviz.live.figures import Holder
from kvviz.text import Lang
from kvviz.text import live_page as text

_POINTS: Final = 25
"""Measured points in sight; a sample that differs from its prediction is always among them."""
_LINE_POINTS: Final = 600
"""Of the line, which is drawn anew at each look at a run."""
_ROWS: Final = 12
_FEW: Final = 10
_HEIGHT: Final = 320
_SPEED_HEIGHT: Final = 270
"""Of the chart without its legend."""
_MARKERS: Final[dict[Holder, dict[str, Any]]] = {
    "weights": fill("weights"),
    "kv": fill("kv"),
    "rounding": hollow("kv", "-", 0.3),
    "tensors": fill("overhead"),
    "process": fill("overhead"),
    "activations": fill("activations"),
    "slack": hollow("overhead", "x", 0.2),
    "elsewhere": fill("free"),
    "free": hollow("free", ".", 0.12),
}
_TO_COME: Final = hollow("kv", "/", 0.2)
_UPPER, _LOWER = [0.72, 1.0], [0.05, 0.33]
"""Where the two bars lie between the legend and the title, as shares of the chart's height."""
_MEMORY_HEIGHT: Final = 320


def cache_figure(started: Started, samples: Sequence[Sample], lang: Lang) -> Figure:
    """The prediction of the whole run, and what was measured so far."""
    predicted = started.predicted_bytes or ()
    first = started.prompt_tokens
    top = max((*predicted, *(s.measured_bytes for s in samples)), default=0)
    unit, size = words.unit_of(top)
    end = first + max(len(predicted), started.new_tokens) - 1
    drawing = Drawing()
    drawing.title(text.CHART(lang, unit=unit))
    if predicted:
        drawing.scatter(
            x=[first + place for place in _places(len(predicted), _LINE_POINTS)],
            y=[predicted[place] / size for place in _places(len(predicted), _LINE_POINTS)],
            mode="lines",
            name=text.PREDICTED(lang),
            line={"color": RULE, "width": 2},
            hoverinfo="skip",
            meta="predicted",
        )
    points = _thinned(samples, _POINTS)
    drawing.scatter(
        x=[s.tokens for s in points],
        y=[s.measured_bytes / size for s in points],
        customdata=[[format_count(s.measured_bytes), format_count(s.tokens)] for s in points],
        mode="markers",
        name=text.POINTS(lang),
        marker={"color": COLOURS["kv"], "size": 8, "line": {"width": 1, "color": "#FFFFFF"}},
        hovertemplate="%{customdata[1]}: %{customdata[0]} B<extra></extra>",
        cliponaxis=False,
        meta="measured",
    )
    marks = words.ticks(top / size)
    return drawing.figure(
        height=_HEIGHT,
        top=36,
        legend={},
        xaxis=_tokens_axis(text.TOKENS_AXIS(lang), first, max(end, first + 1)),
        yaxis={
            "range": [0, max(top / size * 1.05, 1e-9)],
            "tickvals": marks,
            "ticktext": [words.tick(mark) for mark in marks],
        },
        showlegend=True,
    )


def _tokens_axis(title: str, first: int, end: int) -> dict[str, Any]:
    every = {"dtick": 1} if end - first < _FEW else {}  # there are no half tokens
    return {"title": title, "range": [first, end], "tickformat": ",d", **every}


def cache_alt(samples: Sequence[Sample], lang: Lang) -> str:
    """The chart in a sentence."""
    if not samples:
        return text.NONE_YET(lang)
    last = samples[-1]
    return text.CHART_ALT(lang, tokens=format_count(last.tokens), measured=format_count(last.measured_bytes))


def cache_rows(samples: Sequence[Sample], lang: Lang) -> list[dict[str, int | float | None]]:
    """Some of the samples, the first and the last among them."""
    return [
        {
            text.ROW_TOKENS(lang): s.tokens,
            text.ROW_PREDICTED(lang): s.predicted_bytes,
            text.ROW_MEASURED(lang): s.measured_bytes,
            text.ROW_RESIDUAL(lang): s.residual_bytes,
            text.ROW_SECONDS(lang): round(s.seconds, 3),
        }
        for s in _thinned(samples, _ROWS)
    ]


def memory_figure(started: Started, samples: Sequence[Sample], lang: Lang) -> Figure:
    """Where the device's memory is after the last sample; below, so that it can be seen to grow, the cache alone."""
    parts = ledger(started, samples)
    whole = sum(part.held_bytes for part in parts)
    unit, size = words.unit_of(whole)
    drawing = Drawing()
    for part in parts:
        label = f"{text.HOLDERS[part.holder](lang)}<br>{format_bytes(part.held_bytes)}"
        _segment(drawing, part.held_bytes / size, label, part.holder, _MARKERS[part.holder])
    device = text.OF_DEVICE(lang, device=literal(started.device), bytes=format_bytes(whole))
    drawing.label(text=device, x=0, xref="paper", xanchor="left", y=1, yref="paper", yanchor="bottom", yshift=4)
    last, end = samples[-1].measured_bytes, max(started.predicted_bytes or (0,))
    more: dict[str, Any] = {}
    if end:
        small, of_unit = words.unit_of(max(last, end))
        to_come = max(0, end - last)
        grown = text.OF_CACHE(lang, held=format_bytes(last), all=format_bytes(end))
        _segment(drawing, last / of_unit, grown, "cache", _MARKERS["kv"], axis="2")
        if to_come:
            label = f"{text.TO_COME(lang)}<br>{format_bytes(to_come)}"
            _segment(drawing, to_come / of_unit, label, "to_come", _TO_COME, axis="2")
        drawing.label(
            text=grown, x=0, xref="paper", xanchor="left", y=_LOWER[1], yref="paper", yanchor="bottom", yshift=4
        )
        more = {
            "xaxis2": _axis(max(last, end) / of_unit, small) | {"anchor": "y2"},
            "yaxis2": {"visible": False, "range": [-0.5, 0.5], "domain": _LOWER, "fixedrange": True},
        }
    return drawing.figure(
        height=_MEMORY_HEIGHT,
        top=28,
        barmode="stack",
        bargap=0,
        legend={"entrywidth": LEGEND_WIDTH, "font": {"size": LEGEND_FONT}},
        xaxis=_axis(whole / size, unit),
        yaxis={"visible": False, "range": [-0.5, 0.5], "domain": _UPPER if end else [_LOWER[0], _UPPER[1]]},
        **more,
    )


def _segment(drawing: Drawing, width: float, label: str, meta: str, marker: dict[str, Any], *, axis: str = "") -> None:
    drawing.bar(
        x=[width],
        y=[""],
        orientation="h",
        name=label,
        marker=marker,
        hovertemplate=f"{label}<extra></extra>",
        width=0.9,
        showlegend=meta != "cache",
        meta=meta,
        xaxis=f"x{axis}",
        yaxis=f"y{axis}",
    )


def _axis(end: float, unit: str) -> dict[str, Any]:
    marks = words.ticks(end)
    return {
        "range": [0, max(end, 1e-9)],
        "tickvals": marks,
        "ticktext": [f"{words.tick(mark)} {unit}" if mark else "0" for mark in marks],
        "fixedrange": True,
        "automargin": True,
        "zeroline": False,
        "gridcolor": GRID,
    }


def memory_alt(started: Started, samples: Sequence[Sample], lang: Lang) -> str:
    """The bar in a sentence."""
    held = [f"{text.HOLDERS[p.holder](lang)} {format_bytes(p.held_bytes)}" for p in ledger(started, samples)]
    parts = ("、" if lang == "ja" else ", ").join(held)
    return text.MEMORY_ALT(lang, device=started.device, parts=parts)


def memory_rows(started: Started, samples: Sequence[Sample], lang: Lang) -> list[dict[str, str | int | None]]:
    """The parts to the byte; of a step's activations that they are not to be known, where they are not."""
    parts: tuple[Part, ...] = ledger(started, samples)
    rows: list[dict[str, str | int | None]] = [
        {
            text.HOLDER(lang): text.HOLDERS[part.holder](lang),
            text.HELD(lang): part.held_bytes,
            text.SHORT(lang): format_bytes(part.held_bytes),
        }
        for part in parts
    ]
    if most_temporary_bytes(samples) is None:
        name = text.HOLDERS["activations"](lang)
        rows.append({text.HOLDER(lang): name, text.HELD(lang): None, text.SHORT(lang): text.UNKNOWN(lang)})
    return rows


def speed_figure(runs: Sequence[tuple[str, Recording]], lang: Lang) -> Figure:
    """Seconds in all by new tokens, a line for each run: straight with a cache, bending upwards without one."""
    drawing = Drawing()
    drawing.title(text.SPEED_CHART(lang))
    longest, slowest = 1, 0.0
    for number, (name, run) in enumerate(runs):
        seconds = elapsed_s(run.samples)
        drawing.scatter(
            x=[s.new_tokens for s in run.samples],
            y=list(seconds),
            mode="lines",
            name=literal(name),
            line=line_look(number),
            hovertemplate="%{x:,d}: %{y:.1f} s<extra></extra>",
            meta="seconds",
        )
        longest, slowest = max(longest, len(seconds)), max(slowest, seconds[-1] if seconds else 0)
    marks = words.ticks(slowest)
    legend, below = legend_below([name for name, _ in runs])
    return drawing.figure(
        height=_SPEED_HEIGHT + below,
        top=36,
        legend=legend,
        xaxis=_tokens_axis(text.NEW_TOKENS_AXIS(lang), 0, longest),
        yaxis={
            "range": [0, max(slowest * 1.05, 1e-9)],
            "tickvals": marks,
            "ticktext": [words.tick(mark) for mark in marks],
        },
        showlegend=True,
    )


def speed_alt(runs: Sequence[tuple[str, Recording]], lang: Lang) -> str:
    """The chart in a sentence: where each line ends."""
    ends = [
        text.SPEED_RUN(
            lang, name=name, seconds=f"{elapsed_s(run.samples)[-1]:,.1f}", tokens=format_count(len(run.samples))
        )
        for name, run in runs
        if run.samples
    ]
    return text.SPEED_ALT(lang, runs=("、" if lang == "ja" else ", ").join(ends))


def speed_rows(runs: Sequence[tuple[str, Recording]], lang: Lang) -> list[dict[str, str | int | float | None]]:
    """Some of the tokens, a column for each run."""
    counts = [s.new_tokens for s in _thinned(max((run.samples for _, run in runs), key=len, default=()), _ROWS)]
    seconds = [(name, elapsed_s(run.samples)) for name, run in runs]
    return [
        {text.NEW_TOKENS_AXIS(lang): count}
        | {name: round(of[count - 1], 2) if count <= len(of) else None for name, of in seconds}
        for count in counts
    ]


def _thinned(samples: Sequence[Sample], most: int) -> list[Sample]:
    chosen = set(_places(len(samples), most))
    return [s for place, s in enumerate(samples) if place in chosen or s.residual_bytes]


def _places(count: int, most: int) -> list[int]:
    """Up to ``most`` of so many, evenly spaced, the first and the last among them."""
    return sorted({number * (count - 1) // (most - 1) for number in range(most)}) if count else []
