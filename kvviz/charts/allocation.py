"""Requests over time: where the memory goes, how many are in it, what the sizes of blocks and pools do."""

from typing import Any, Final

from kvviz.charts.ledger import LEGEND_FONT
from kvviz.charts.style import COLOURS, Drawing, Figure, fill, hollow
from kvviz.core.units import format_count
from kvviz.sweeps import PAPER, Study, System
from kvviz.text import Lang, Text
from kvviz.text import blocks as text

_MARKERS: Final = {
    "token": fill("weights"),
    "reserved": hollow("weights", "/", 0.2),
    "internal": hollow("free", "\\", 0.15),
    "external": hollow("free", "", 0.0),
}
_LINES: Final = {
    "max": (COLOURS["kv"], "dot"),
    "pow2": (COLOURS["overhead"], "dashdot"),
    "oracle": (COLOURS["activations"], "dash"),
    "paged": (COLOURS["weights"], "solid"),
    "contiguous": (COLOURS["kv"], "dot"),
}
_LEGEND: Final = {"font": {"size": LEGEND_FONT}}


def shares_figure(study: Study, lang: Lang, *, paper: bool) -> Figure:
    """One bar a system; with ``paper`` what the published figure says is marked on it."""
    drawing = Drawing()
    names = [_name(study, system.name, lang).replace(" (", "<br>(").replace("（", "<br>（") for system in study.systems]
    for share, label in text.SHARES.items():
        values = [_times_100(getattr(system, share)) for system in study.systems]
        drawing.bar(
            orientation="h",
            y=names,
            x=values,
            name=label(lang),
            marker=_MARKERS[share],
            hovertemplate="%{x:.1f}%<extra></extra>",
            meta=share,
        )
    if paper:
        drawing.scatter(
            x=[100 * PAPER[system.name] for system in study.systems],
            y=names,
            mode="markers",
            name=text.PAPER(lang),
            marker={"symbol": "diamond", "size": 11, "color": "#FFFFFF", "line": {"width": 2.5, "color": "#262626"}},
            hovertemplate="%{x:.1f}%<extra></extra>",
            meta="paper",
        )
    for name, system in zip(names, study.systems, strict=True):
        drawing.label(x=1, y=name, text=f"<b>{_percent(system.token)}</b>", **_ON_BAR)
    return drawing.figure(
        height=300,
        barmode="stack",
        legend=_LEGEND,
        margin={"l": 8, "r": 20, "t": 8, "b": 8},  # room for 100%
        xaxis={"range": [0, 100], "ticksuffix": "%"},
        yaxis={"autorange": "reversed", "showgrid": False},
    )


_ON_BAR: Final = {
    "xanchor": "left",
    "bgcolor": "#262626",
    "font": {"color": "#FFFFFF", "size": 12},
    "borderpad": 2,
}


def running_figure(study: Study, lang: Lang) -> Figure:
    """How many requests are in memory, step by step, until the last one is served."""
    drawing = Drawing()
    for system in study.systems:
        colour, dash = _LINES[system.name]
        end = system.running[-1][1] if system.running else 0
        drawing.scatter(
            x=[step for step, _ in system.running] + [system.steps],
            y=[count for _, count in system.running] + [end],
            mode="lines",
            line={"color": colour, "dash": dash, "width": 2.5, "shape": "hv"},
            name=_name(study, system.name, lang),
            hovertemplate="%{y:.1f}<extra></extra>",
            meta=system.name,
        )
    drawing.title(text.MEAN_RUNNING(lang))
    return drawing.figure(
        height=330,
        top=32,
        legend=_LEGEND,
        hovermode="x unified",
        xaxis={"title": text.STEPS_AXIS(lang), "rangemode": "tozero"},
        yaxis={"rangemode": "tozero"},
    )


def blocks_figure(study: Study, lang: Lang) -> Figure:
    """What smaller blocks save, and the tables they need for it."""
    drawing = Drawing()
    sizes = [str(point.block_tokens) for point in study.blocks]
    drawing.bar(
        x=sizes,
        y=[point.table_entries for point in study.blocks],
        yaxis="y2",
        name=text.ENTRIES_LINE(lang),
        marker=hollow("free", "/", 0.2),
        hovertemplate="%{y:,.1f}<extra></extra>",
        meta="entries",
    )
    drawing.scatter(
        x=sizes,
        y=[_times_100(point.token) for point in study.blocks],
        mode="lines+markers",
        name=text.USED_LINE(lang),
        line={"color": COLOURS["weights"], "width": 3},
        marker={"size": 9},
        hovertemplate="%{y:.1f}%<extra></extra>",
        meta="used",
    )
    return drawing.figure(
        height=330,
        legend=_LEGEND,
        xaxis={"type": "category", "title": text.BLOCK_AXIS(lang), "showgrid": False},
        yaxis={"range": [0, 102], "ticksuffix": "%"},
        yaxis2={
            "overlaying": "y",
            "side": "right",
            "rangemode": "tozero",
            "tickmode": "auto",  # else as many as on the left, at numbers nobody reads
            "nticks": 6,
            "fixedrange": True,
            "showgrid": False,
        },
    )


def pools_figure(study: Study, lang: Lang) -> Figure:
    """How many requests are in memory on average, on pools of other sizes."""
    drawing = Drawing()
    for name, label in (("contiguous", _name(study, study.reserve, lang)), ("paged", _name(study, "paged", lang))):
        colour, dash = _LINES[name]
        drawing.scatter(
            x=[point.pool_tokens for point in study.pools],
            y=[getattr(point, name) for point in study.pools],
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 2.5},
            marker={"size": 8, "symbol": "square" if name == "contiguous" else "circle"},
            cliponaxis=False,  # a pool that nothing fits into is a point on the axis
            name=label,
            hovertemplate="%{y:.1f}<extra></extra>",
            meta=name,
        )
    drawing.title(text.MEAN_RUNNING(lang))
    ticks = [point.pool_tokens for point in study.pools]
    return drawing.figure(
        height=310,
        top=32,
        legend=_LEGEND,
        hovermode="x unified",
        xaxis={
            "type": "log",
            "title": text.POOL_AXIS(lang),
            "tickvals": ticks,
            "ticktext": [format_count(tick) for tick in ticks],
        },
        yaxis={"rangemode": "tozero"},
    )


def shares_rows(study: Study, lang: Lang, *, paper: bool) -> list[dict[str, Any]]:
    """The systems as a table."""
    rows = []
    for system in study.systems:
        row: dict[str, Any] = {text.SYSTEM(lang): _name(study, system.name, lang)}
        row |= {label(lang): _percent(getattr(system, share)) for share, label in text.SHARES.items()}
        if paper:
            row[text.PAPER_COLUMN(lang)] = _percent(PAPER[system.name])
        row[text.MEAN_RUNNING(lang)] = round(system.mean_running, 1)
        row[text.PREEMPTIONS(lang)] = system.preemptions
        row[text.STEPS(lang)] = system.steps
        rows.append(row)
    return rows


def running_rows(study: Study, lang: Lang) -> list[dict[str, Any]]:
    """Requests in memory at some steps."""
    most = max((system.running for system in study.systems), key=lambda running: running[-1][0] if running else 0)
    rows = []
    for step, _ in most[:: max(1, len(most) // 12)]:
        row: dict[str, Any] = {text.STEP(lang): step}
        for system in study.systems:
            row[_name(study, system.name, lang)] = round(_at(system, step), 1)
        rows.append(row)
    return rows


def _at(system: System, step: int) -> float:
    if step >= system.steps:
        return 0.0
    return next((count for start, count in reversed(system.running) if start <= step), 0.0)


def blocks_rows(study: Study, lang: Lang) -> list[dict[str, Any]]:
    """Block sizes as a table, with all of the price."""
    return [
        {
            text.BLOCK_AXIS(lang): point.block_tokens,
            text.USED_COLUMN(lang): _percent(point.token),
            text.MEAN_RUNNING(lang): round(point.mean_running, 1),
            text.ENTRIES(lang): round(point.table_entries, 1),
            text.AGAIN(lang): point.computed_again_tokens,
        }
        for point in study.blocks
    ]


def pools_rows(study: Study, lang: Lang) -> list[dict[str, Any]]:
    """Pool sizes as a table."""
    return [
        {
            text.POOL_AXIS(lang): point.pool_tokens,
            _name(study, study.reserve, lang): round(point.contiguous, 1),
            _name(study, "paged", lang): round(point.paged, 1),
        }
        for point in study.pools
    ]


def shares_alt(study: Study, lang: Lang) -> str:
    """The systems in words."""
    return _told(text.SHARES_ALT, [(_name(study, s.name, lang), _percent(s.token)) for s in study.systems], lang)


def running_alt(study: Study, lang: Lang) -> str:
    """Requests in memory in words."""
    parts = [(_name(study, s.name, lang), f"{s.mean_running:.1f}") for s in study.systems]
    return _told(text.RUNNING_ALT, parts, lang)


def blocks_alt(study: Study, lang: Lang) -> str:
    """Block sizes in words."""
    return _told(text.BLOCKS_ALT, [(str(p.block_tokens), _percent(p.token)) for p in study.blocks], lang)


def pools_alt(study: Study, lang: Lang) -> str:
    """Pool sizes in words."""
    parts = [(format_count(p.pool_tokens), f"{p.contiguous:.1f} / {p.paged:.1f}") for p in study.pools]
    return _told(text.POOLS_ALT, parts, lang)


def _name(study: Study, system: str, lang: Lang) -> str:
    """A memory, and how it is placed where it has to be."""
    named = text.SYSTEMS[system](lang)
    return named if system == "paged" else text.SYSTEM_PLACED(lang, system=named, place=text.PLACED[study.place](lang))


def _told(sentence: Text, parts: list[tuple[str, str]], lang: Lang) -> str:
    told = [text.PART(lang, name=name, value=value) for name, value in parts]
    return sentence(lang, parts=("、" if lang == "ja" else ", ").join(told))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _times_100(share: float | None) -> float | None:
    return None if share is None else 100 * share
