"""Scenarios on one chart and in one table; every bundled model by its size and its cache."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import log10
from typing import Any, Final

from kvviz.charts import words
from kvviz.charts.counts import first_tokens, longest
from kvviz.charts.labels import LINE_HEIGHT, PLACES, Room, text_width
from kvviz.charts.style import COLOURS, LABEL, RULE, Drawing, Figure, literal
from kvviz.compare import Cell, Compared, Difference, Factor, Point
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB, format_bytes, format_count, format_exact
from kvviz.devices import device
from kvviz.planning import engine_name
from kvviz.scenario import FIELDS, Scenario, to_query
from kvviz.sizing import Sizing
from kvviz.text import Lang
from kvviz.text import charts as chart_text
from kvviz.text import compare as text
from kvviz.text import sizing as setting_text

HEIGHT: Final = 440
PALETTE: Final = (COLOURS["kv"], COLOURS["weights"], COLOURS["activations"], COLOURS["overhead"], "#8C6BD1", "#A6761D")
"""A scenario's colour; its number stands on its line, so that it is never the colour alone."""
MARKS: Final = {"yes": "✓", "held-only": "◐", "no": "✗"}

_POINTS = 60
_RING: Final = 20
"""Pixels across the ring round a chosen model."""
_SPREAD: Final = 8
"""Needs that are further apart than this would leave the lowest lines on a linear axis's floor."""
_WIDE: Final = 4
"""The chart goes on to so many times the longest length, or half of that with linear axes."""
_SHOWN_ELSEWHERE: Final = frozenset(
    {
        "model",
        "revision",
        "config",
        "gpu",
        "gpus",
        "engine",
        "engine_version",
        "kv_dtype",
        "input",
        "output",
        "passages",
        "passage_tokens",
        "sequences",
        "users",
        "answer_s",
        "seconds_between",
    }
)
"""Settings that a row of their own speaks of."""
_KINDS: Final = {
    "full": ("circle", COLOURS["weights"]),
    "windows": ("square", COLOURS["activations"]),
    "latent": ("triangle-up", COLOURS["kv"]),
    "states": ("diamond", COLOURS["overhead"]),
    "fixed": ("x", RULE),
}
"""Sign and colour of each kind of model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What one scenario's requests need on one GPU, by their length."""

    compared: Compared
    sizing: Sizing
    need_bytes: Callable[[int], Fraction]
    fit_tokens: int | None
    """Longest length at which they fit into its pool: 0 at none, None without a pool or at any length."""


def lines(compared: Sequence[Compared]) -> tuple[Line, ...]:
    """Of the scenarios that have an answer."""
    made = []
    for one in compared:
        sizing = one.sizing
        if sizing is None:
            continue
        need = partial(sizing.need_bytes, -(-sizing.scenario.requests // sizing.engines))
        room = sizing.budget.usable_bytes if sizing.budget is not None and sizing.plan is not None else None
        fit = None
        if room is not None:
            fit = longest(_fits(need, room), first=first_tokens(sizing))
        made.append(Line(compared=one, sizing=sizing, need_bytes=need, fit_tokens=fit))
    return tuple(made)


def _fits(need: Callable[[int], Fraction], room: int) -> Callable[[int], bool]:
    return lambda tokens: need(tokens) <= room


def comparison_figure(compared: Sequence[Compared], lang: Lang) -> Figure:
    """A line a scenario, dotted where it exceeds its own pool; logarithmic where the needs lie far apart."""
    drawn, named = lines(compared), names(compared, lang)
    here = [line.need_bytes(line.sizing.tokens) for line in drawn]
    lengths = [line.sizing.tokens for line in drawn]
    log = max(here) > _SPREAD * max(Fraction(1), min(here)) or max(lengths) > _SPREAD * min(lengths)
    end = max(lengths) * (_WIDE if log else _WIDE // 2)
    start = max(1, min(lengths) // _WIDE) if log else 0
    top = max(line.need_bytes(end) for line in drawn)
    unit, unit_bytes = words.unit_of(float(top))
    drawing = Drawing()
    for place, line in enumerate(drawn):
        colour = PALETTE[(line.compared.number - 1) % len(PALETTE)]
        number = line.compared.number
        for solid, points in _stretches(line, start, end, log=log):
            counts = [line.need_bytes(n) for n in points]
            drawing.scatter(
                x=points,
                y=[float(count) / GIB for count in counts],
                customdata=[format_bytes(count) for count in counts],
                mode="lines",
                line={"color": colour, "width": 3, "dash": "solid" if solid else "dot"},
                hovertemplate=f"{text.HOVER(lang, number=number)}<extra></extra>",
                showlegend=False,
                meta=f"line-{number}",
            )
        drawing.scatter(
            x=[line.sizing.tokens],
            y=[float(here[place]) / GIB],
            mode="markers",
            name=literal(_line_name(line, named[number], lang)),
            marker={"color": colour, "symbol": "diamond", "size": 12, "line": {"width": 1.5, "color": "#FFFFFF"}},
            hoverinfo="skip",
            meta=f"here-{number}",
        )
        # The numbers stand on their lines one beside the other, so that none hides another.
        share = 0.97 - 0.055 * place
        at = max(1, round((start or 1) * (end / (start or 1)) ** share) if log else round(end * share))
        drawing.scatter(
            x=[at],
            y=[float(line.need_bytes(at)) / GIB],
            mode="markers+text",
            text=[str(number)],
            textfont={"color": "#FFFFFF", "size": 12},
            marker={"color": "#262626", "size": 18, "line": {"width": 2.5, "color": colour}},
            showlegend=False,
            hoverinfo="skip",
            cliponaxis=False,
            meta=f"number-{number}",
        )
    drawing.scatter(
        x=[None],
        y=[None],
        mode="markers",
        name=text.HERE(lang),
        marker={"color": RULE, "symbol": "diamond", "size": 12},
        meta="key",
    )
    drawing.scatter(
        x=[None],
        y=[None],
        mode="lines",
        name=text.BEYOND_POOL(lang),
        line={"color": RULE, "width": 3, "dash": "dot"},
        meta="key",
    )
    drawing.title(text.CHART_TITLE_LOG(lang) if log else text.CHART_TITLE(lang, unit=unit))
    low = min(line.need_bytes(start or 1) for line in drawn)
    return drawing.figure(
        height=HEIGHT,
        top=36,
        hovermode="x unified",
        legend={"entrywidth": 0},
        xaxis=_tokens_axis(start, end, lang, log=log),
        yaxis=_log_bytes(low, top) if log else _bytes(float(top) * 1.05, unit_bytes),
    )


def _stretches(line: Line, start: int, end: int, *, log: bool) -> list[tuple[bool, list[int]]]:
    """Lengths to draw within the pool, and beyond it."""
    first = max(start, first_tokens(line.sizing))
    if log:
        even = {round(first * (end / first) ** (place / _POINTS)) for place in range(_POINTS + 1)}
    else:
        even = {first + (end - first) * place // _POINTS for place in range(_POINTS + 1)}
    limits = {limit.limit_tokens for limit in line.sizing.content.limited}
    points = sorted(n for n in even | limits | {line.sizing.tokens} if first <= n <= end)
    fit = line.fit_tokens
    if fit is None or fit >= end:
        return [(True, points)]
    if fit < first:
        return [(False, points)]
    return [(True, [n for n in points if n < fit] + [fit]), (False, [fit] + [n for n in points if n > fit])]


def comparison_alt(compared: Sequence[Compared], lang: Lang) -> str:
    """The chart in words."""
    named = names(compared, lang)
    said = [
        text.CHART_ALT_LINE(
            lang,
            number=line.compared.number,
            name=named[line.compared.number],
            bytes=format_bytes(line.need_bytes(line.sizing.tokens)),
            requests=words.requests(line.sizing.scenario.requests, lang),
            tokens=words.tokens(line.sizing.tokens, lang),
        )
        for line in lines(compared)
    ]
    return text.CHART_ALT(lang, lines=chart_text.PART_SEPARATOR(lang).join(said))


def length_rows(compared: Sequence[Compared], lang: Lang) -> list[dict[str, Any]]:
    """What each needs on one GPU, in GiB, at lengths that double and at the scenarios' own."""
    drawn = lines(compared)
    own = {line.sizing.tokens for line in drawn}
    lengths = sorted(own | set(words.powers(max(1, min(own) // _WIDE), max(own) * _WIDE)))
    return [
        {chart_text.TOKENS_HEADING(lang): tokens}
        | {
            f"{line.compared.number} ({chart_text.GIB(lang)})": round(float(line.need_bytes(tokens)) / GIB, 3)
            for line in drawn
        }
        for tokens in lengths
        if all(tokens >= first_tokens(line.sizing) for line in drawn)
    ]


def names(compared: Sequence[Compared], lang: Lang) -> dict[int, str]:
    """What each is called beside the others, by its number: no more of model, engine, GPUs … than tells them apart."""
    told = [_told(one, lang) for one in compared]
    differing = [place for place in range(len(told[0])) if len({one[place] for one in told}) > 1] or [0]
    enough = 1
    while enough < len(differing) and len({tuple(one[n] for n in differing[:enough]) for one in told}) < len(told):
        enough += 1
    separator = "、" if lang == "ja" else ", "
    return {
        one.number: separator.join(parts[place] for place in differing[:enough])
        for one, parts in zip(compared, told, strict=True)
    }


def _told(one: Compared, lang: Lang) -> tuple[str, ...]:
    scenario = one.scenario
    return (
        scenario.model.rpartition("/")[2],
        engine_name(scenario),
        _gpu(scenario, lang),
        one.sizing.kv_dtype.name if one.sizing else scenario.kv_dtype,
        words.tokens(scenario.tokens, lang),
        words.requests(scenario.requests, lang),
    )


def short_gpu(gpu: str) -> str:
    """As people call it; an id that nobody knows as it is."""
    try:
        return device(gpu).name.removeprefix("NVIDIA ")
    except KvvizError:
        return gpu


def _gpu(scenario: Scenario, lang: Lang) -> str:
    if not scenario.gpu:
        return text.NO_GPU(lang)
    return text.COLUMN(lang, count=format_count(scenario.gpus), gpu=short_gpu(scenario.gpu))


def _line_name(line: Line, name: str, lang: Lang) -> str:
    named = text.LINE if line.sizing.plan is not None else text.LINE_CONTENT
    return named(lang, number=line.compared.number, name=name)


def comparison_rows(compared: Sequence[Compared], lang: Lang) -> tuple[list[dict[str, str]], str]:
    """The table, rows that differ first; and the first row that is the same in all, empty where all differ."""
    rows = [(label, [value(one) for one in compared]) for label, value in _rows(compared, lang)]
    differing = [row for row in rows if len(set(row[1])) > 1]
    same = [row for row in rows if len(set(row[1])) <= 1]
    heading = text.ROW(lang)
    made = [
        {heading: label, **{str(one.number): value for one, value in zip(compared, values, strict=True)}}
        for label, values in (*differing, *same)
    ]
    return made, same[0][0] if same and differing else ""


def _rows(compared: Sequence[Compared], lang: Lang) -> list[tuple[str, Callable[[Compared], str]]]:
    def of_sizing(value: Callable[[Sizing], str]) -> Callable[[Compared], str]:
        return lambda one: value(one.sizing) if one.sizing else "–"

    fewer = any(one.sizing and one.sizing.holds_more for one in compared)
    rows: list[tuple[str, Callable[[Compared], str]]] = [
        ((text.ROW_IN_MEMORY if fewer else text.ROW_FIT)(lang), of_sizing(_fit)),
        *([(text.ROW_RUN(lang), of_sizing(_run))] if fewer else []),
        (text.ROW_SPARE(lang), of_sizing(lambda s: _signed(s.lacking_bytes))),
        (text.ROW_MODEL(lang), lambda one: one.scenario.model.rpartition("/")[2]),
        (text.ROW_ENGINE(lang), lambda one: engine_name(one.scenario)),
        (text.ROW_GPU(lang), lambda one: _gpu(one.scenario, lang)),
        (text.ROW_SPLIT(lang), of_sizing(lambda s: format_count(s.plan.gpus) if s.plan else "–")),
        (text.ROW_DTYPE(lang), of_sizing(lambda s: s.kv_dtype.name)),
        (text.ROW_TOKENS(lang), lambda one: format_count(one.scenario.tokens)),
        (text.ROW_REQUESTS(lang), lambda one: format_count(one.scenario.requests)),
        (text.ROW_CONTENT(lang), of_sizing(lambda s: format_bytes(s.content_bytes))),
        (text.ROW_RESERVED(lang), of_sizing(lambda s: _bytes_or_dash(s.request_bytes))),
        (text.ROW_POOL(lang), of_sizing(lambda s: _bytes_or_dash(s.budget.usable_bytes if s.budget else None))),
        (
            text.ROW_WEIGHTS(lang),
            of_sizing(lambda s: _bytes_or_dash(s.budget.weights.value_bytes if s.budget else None)),
        ),
    ]
    for field in FIELDS:
        label = setting_text.LABELS.get(field)
        if field not in _SHOWN_ELSEWHERE and label and len({getattr(one.scenario, field) for one in compared}) > 1:
            rows.append((label(lang), partial(_setting, field)))
    return rows


def _setting(field: str, one: Compared) -> str:
    return to_query(one.scenario)[field]


def _fit(sizing: Sizing) -> str:
    if sizing.max_sequences_counted is None or sizing.fits is None:
        return "–"
    return f"{MARKS[sizing.fits]} {format_count(sizing.max_sequences_counted)}"


def _run(sizing: Sizing) -> str:
    return "–" if sizing.max_sequences_run is None else format_count(sizing.max_sequences_run)


def _signed(lacking_bytes: int | None) -> str:
    if lacking_bytes is None:
        return "–"
    return f"{'−' if lacking_bytes > 0 else '+'} {format_bytes(abs(lacking_bytes))}"


def _bytes_or_dash(count: int | None) -> str:
    return "–" if count is None else format_bytes(count)


def cell_label(cell: Cell, lang: Lang) -> str:
    """What stands in a cell of the matrix."""
    if cell.fit is not None:
        return f"{MARKS[cell.outcome]} {format_count(cell.fit)}"
    return text.SHORT_WHY[cell.outcome](lang)


def reasons(rows: Sequence[Sequence[Cell]], lang: Lang) -> list[tuple[str, str, tuple[str, ...]]]:
    """What cells without a number mean: label, reason, and the models it is about, each reason once."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for cell in (cell for row in rows for cell in row if cell.fit is None):
        if cell.why is not None:
            why = cell.why(lang)
        elif cell.outcome in text.LONG_WHY:
            why = text.LONG_WHY[cell.outcome](lang)
        else:
            continue
        found.setdefault((cell_label(cell, lang), why), {})[cell.scenario.model.rpartition("/")[2]] = None
    return [(label, why, tuple(models)) for (label, why), models in found.items()]


def runs_fewer(rows: Sequence[Sequence[Cell]], lang: Lang) -> str:
    """That not all of the numbers run at once; empty where all do."""
    found = sorted({cell.run for row in rows for cell in row if cell.run is not None})
    if not found:
        return ""
    most = format_count(found[-1])
    if len(found) > 1:
        most = text.FROM_TO(lang, least=format_count(found[0]), most=most)
    return text.RUNS_FEWER(lang, engine=engine_name(rows[0][0].scenario), most=most)


def factor_rows(why: Difference, one: str, other: str, lang: Lang) -> list[dict[str, str]]:
    """The factors that differ, largest first, and their product; ``one`` and ``other`` head the columns."""
    differing = sorted((f for f in why.factors if f.ratio != 1), key=lambda f: max(f.ratio, 1 / f.ratio), reverse=True)
    heading, times = text.FACTOR(lang), text.TIMES_COLUMN(lang)
    rows = [
        {heading: f.what(lang), one: _value(f, f.one), other: _value(f, f.other), times: ratio_label(f.ratio)}
        for f in differing
    ]
    total = {one: format_bytes(why.one_bytes), other: format_bytes(why.other_bytes), times: ratio_label(why.ratio)}
    return [*rows, {heading: text.PRODUCT(lang), **total}]


def same_factors(why: Difference, lang: Lang) -> str:
    """Names of the factors that are the same on both sides."""
    names = [f.what(lang) for f in why.factors if f.ratio == 1]
    return ("、" if lang == "ja" else "; ").join(names)


def times_label(ratio: Fraction) -> str:
    """``9.143``: four digits."""
    return _number(ratio)


def ratio_label(ratio: Fraction) -> str:
    """``× 8``, ``÷ 1.75``, ``× 9.143 (64/7)``: exact where that is short."""
    sign, times = ("×", ratio) if ratio >= 1 else ("÷", 1 / ratio)
    if times.denominator == 1 or Fraction(format(float(times), ".4g")) == times:
        return f"{sign} {_number(times)}"
    exact = f"{times.numerator}/{times.denominator}"
    return f"{sign} {_number(times)} ({exact})" if len(exact) <= 9 else f"{sign} {_number(times)}"


def _number(value: Fraction) -> str:
    """Four digits: ``9.143``, ``1,024``."""
    return f"{float(value):,.0f}" if value >= 1000 else f"{float(value):.4g}"


def _value(factor: Factor, value: Fraction) -> str:
    if factor.unit == "share":
        return f"{float(value):.4g}" if value >= 10 else f"{float(100 * value):,.4g}%"
    if value.denominator == 1 or (factor.unit == "bytes" and value.denominator in (2, 4, 8, 16, 32)):
        return format_exact(value)
    return _number(value)


def models_figure(
    points: Sequence[Point], tokens: int, lang: Lang, *, ringed: Collection[str], named: Collection[str]
) -> Figure:
    """Parameters against what one request's cache holds, both logarithmic; some models ringed, some named as well."""
    drawing = Drawing()
    for kind, (symbol, colour) in _KINDS.items():
        own = [point for point in points if point.kind == kind]
        if not own:
            continue
        counts = [point.content.bytes_at(tokens) for point in own]
        drawing.scatter(
            x=[point.parameters for point in own],
            y=[float(count) / GIB for count in counts],
            customdata=[
                [literal(point.model), f"{_billions(point.parameters)}, {format_bytes(count)}"]
                for point, count in zip(own, counts, strict=True)
            ],
            mode="markers",
            name=text.KINDS[kind](lang),
            marker={"symbol": symbol, "color": colour, "size": 10},
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
            meta=kind,
        )
    sizes = [point.parameters for point in points]
    held = [point.content.bytes_at(tokens) for point in points]
    low, high = min(sizes) * 0.7, max(sizes) * 1.4
    yaxis = _log_bytes(min(held), max(held))
    marked = [point for point in points if point.model in {*ringed, *named}]
    if marked:
        drawing.scatter(
            x=[point.parameters for point in marked],
            y=[float(point.content.bytes_at(tokens)) / GIB for point in marked],
            mode="markers",
            name=text.CHOSEN(lang),
            marker={"symbol": "circle-open", "color": RULE, "size": _RING, "line": {"width": 2.5}},
            hoverinfo="skip",
            meta="chosen",
        )
    _name_models(drawing, [p for p in marked if p.model in named], tokens, [log10(low), log10(high)], yaxis["range"])
    drawing.title(text.CONTENT_TITLE(lang))
    marks = [10**power * times for power in range(7, 13) for times in (1, 10) if low <= 10**power * times <= high]
    marks = sorted(set(marks))
    return drawing.figure(
        height=HEIGHT + 40,
        top=36,
        hovermode="closest",
        legend={},
        xaxis={
            "type": "log",
            "range": [log10(low), log10(high)],
            "tickvals": marks,
            "ticktext": [_billions(n) for n in marks],
            "title": text.PARAMETERS(lang),
        },
        yaxis=yaxis,
    )


def _name_models(
    drawing: Drawing, points: Sequence[Point], tokens: int, across: Sequence[float], up: Sequence[float]
) -> None:
    """The names of ``points`` beside them, as far as they do not cover each other."""
    places = []
    for point in points:
        held = log10(float(point.content.bytes_at(tokens)) / GIB)
        x, y = (log10(point.parameters) - across[0]) / (across[1] - across[0]), (held - up[0]) / (up[1] - up[0])
        places.append((x, y, point.model.rpartition("/")[2]))
    room = Room(across=[], rising=[], levels=[], uprights=[])
    for x, y, _ in places:
        room.take(x, y, width=_RING, height=_RING, place="middle center", apart=0)
    for x, y, name in places:
        place = room.place(x, y, width=text_width(name), height=LINE_HEIGHT, among=PLACES, apart=_RING / 2 + 3)
        if place is None:
            continue
        vertical, horizontal = place.split()
        drawing.label(
            x=x,
            xref="paper",
            y=y,
            yref="paper",
            text=literal(name),
            xanchor={"left": "right", "right": "left"}.get(horizontal, "center"),
            yanchor="bottom" if vertical == "top" else "top",
            xshift={"left": -_RING / 2, "right": _RING / 2}.get(horizontal, 0),
            yshift=_RING / 2 if vertical == "top" else -_RING / 2,
            **LABEL,
        )


def models_rows(points: Sequence[Point], tokens: int, lang: Lang) -> list[dict[str, Any]]:
    """All of them, the smallest cache first."""
    return [
        {
            text.MODEL(lang): point.model,
            text.PARAMETERS(lang): _billions(point.parameters),
            text.KIND(lang): text.KINDS[point.kind](lang),
            text.ROW_DTYPE(lang): point.dtype,
            text.CONTENT(lang): format_bytes(point.content.bytes_at(tokens)),
            text.GROWS(lang): format_exact(point.content.growing_bytes_per_token),
        }
        for point in sorted(points, key=lambda p: p.content.bytes_at(tokens))
    ]


def models_alt(points: Sequence[Point], tokens: int, lang: Lang) -> str:
    """The scatter in words."""
    ordered = sorted(points, key=lambda p: p.content.bytes_at(tokens))
    least, most = ordered[0], ordered[-1]
    return text.MODELS_ALT(
        lang,
        tokens=words.tokens(tokens, lang),
        least=least.model,
        least_bytes=format_bytes(least.content.bytes_at(tokens)),
        most=most.model,
        most_bytes=format_bytes(most.content.bytes_at(tokens)),
    )


def _billions(count: int) -> str:
    """``32.8B``, ``560M``."""
    for size, suffix in ((10**12, "T"), (10**9, "B"), (10**6, "M")):
        if count >= size:
            return f"{count / size:.3g}{suffix}"
    return format_count(count)


def _tokens_axis(start: int, end: int, lang: Lang, *, log: bool) -> dict[str, Any]:
    title = {
        "title": chart_text.TOKENS_AXIS(lang),
        "unifiedhovertitle": {"text": f"%{{x:,d}} {chart_text.HOVER_TOKENS(lang)}"},
    }
    if log:
        marks = words.powers(start, end)
        named = [words.short(n) for n in marks]
        return title | {"type": "log", "range": [log10(start), log10(end)], "tickvals": marks, "ticktext": named}
    values = [value for value in words.ticks(end) if value == int(value)]
    return title | {"range": [0, end], "tickvals": values, "ticktext": [words.tick(value) for value in values]}


def _bytes(top: float, unit_bytes: int) -> dict[str, Any]:
    marks = words.ticks(top / unit_bytes, most=6)
    return {
        "range": [0, top / GIB],
        "tickvals": [value * unit_bytes / GIB for value in marks],
        "ticktext": [words.tick(value) for value in marks],
    }


def _log_bytes(low: Fraction, top: Fraction) -> dict[str, Any]:
    least, most = max(1.0, float(low) * 0.6), float(top) * 1.7
    marks = words.powers(least, most)
    return {
        "type": "log",
        "range": [log10(least / GIB), log10(most / GIB)],
        "tickvals": [n / GIB for n in marks],
        "ticktext": [format_bytes(n) for n in marks],
    }
