"""One GPU's memory as one bar: what takes it, what is left, and what is missing."""

from dataclasses import dataclass, replace
from typing import Any

import plotly.graph_objects as go

from kvviz.charts.style import RULE, Role, fill, hollow, lay_out
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.estimate import Basis
from kvviz.sizing import Budget, Sizing
from kvviz.text import Lang, Message, Text
from kvviz.text import charts as text

HEIGHT = 250

_INSIDE_FRACTION = 0.12
"""A segment narrower than this share of the bar carries no text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One part of a GPU's memory."""

    term: str
    """Stable name: ``weights``, ``cache_needed`` …"""
    label: Text
    value_bytes: int
    role: Role
    basis: Basis
    source: Message
    on_gpu: bool = True
    """False for what is needed beyond the GPU's memory."""


def ledger_segments(sizing: Sizing) -> tuple[Segment, ...]:
    """The parts, in the order they are drawn. Those on the GPU add up to what the driver reports.

    The cache comes last so that it runs on, past the edge of the card, into what it is short by.
    """
    budget = _budget(sizing)
    device = budget.device.name
    over_bytes = max(0, -budget.available_bytes)
    basis = _weakest(budget)
    block_bytes = sizing.plan.pool_block_bytes if sizing.plan is not None else 0
    need_bytes = 0 if sizing.short_bytes is None else budget.pool_bytes + sizing.short_bytes
    held_bytes = min(need_bytes, budget.pool_bytes)
    pool = {"pool": format_bytes(budget.pool_bytes), "blocks": format_count(budget.pool_blocks)}
    needed = _needed(sizing, need_bytes)

    parts = [
        Segment(
            term="weights",
            label=text.WEIGHTS_THAT_FIT if over_bytes else text.WEIGHTS,
            value_bytes=budget.weights.value_bytes - over_bytes,
            role="weights",
            basis=budget.weights.basis,
            source=budget.weights.source,
        ),
        Segment(
            term="activations",
            label=text.ACTIVATIONS,
            value_bytes=budget.activations.value_bytes,
            role="activations",
            basis=budget.activations.basis,
            source=budget.activations.source,
        ),
        Segment(
            term="graphs",
            label=text.GRAPHS,
            value_bytes=budget.graphs.value_bytes,
            role="overhead",
            basis=budget.graphs.basis,
            source=budget.graphs.source,
        ),
        Segment(
            term="non_torch",
            label=text.NON_TORCH,
            value_bytes=budget.non_torch.value_bytes,
            role="overhead",
            basis=budget.non_torch.basis,
            source=budget.non_torch.source,
        ),
        Segment(
            term="outside",
            label=text.OUTSIDE,
            value_bytes=budget.outside_bytes,
            role="free",
            basis="exact",
            source=Message(
                text.OUTSIDE_SOURCE,
                {
                    "device": f"{device} ({format_bytes(budget.device_bytes)})",
                    "fraction": f"{sizing.scenario.memory_fraction:g}",
                },
            ),
        ),
        Segment(
            term="remainder",
            label=text.REMAINDER,
            value_bytes=max(0, budget.available_bytes) - budget.pool_bytes,
            role="free",
            basis=basis,
            source=Message(text.REMAINDER_SOURCE, {"block": format_bytes(block_bytes)}),
        ),
        Segment(
            term="cache_needed",
            label=text.CACHE_NEEDED,
            value_bytes=held_bytes,
            role="kv",
            basis="exact" if held_bytes == need_bytes else basis,
            source=Message(text.NEEDED_SOURCE if held_bytes == need_bytes else text.NEEDED_ON_CARD_SOURCE, needed),
        ),
        Segment(
            term="cache_spare",
            label=text.CACHE_SPARE,
            value_bytes=budget.pool_bytes - held_bytes,
            role="kv",
            basis=basis,
            source=Message(text.SPARE_SOURCE, pool),
        ),
        Segment(
            term="weights_over",
            label=text.WEIGHTS_OVER,
            value_bytes=over_bytes,
            role="weights",
            basis=basis,
            source=Message(text.WEIGHTS_OVER_SOURCE),
            on_gpu=False,
        ),
        Segment(
            term="cache_short",
            label=text.CACHE_SHORT,
            value_bytes=need_bytes - held_bytes,
            role="kv",
            basis=basis,
            source=Message(text.SHORT_SOURCE, needed | pool),
            on_gpu=False,
        ),
    ]
    return tuple(part for part in parts if part.value_bytes)


def ledger_figure(sizing: Sizing, lang: Lang) -> go.Figure:
    """The bar. ``sizing.budget`` must be there: without a GPU or weights there is no ledger."""
    budget = _budget(sizing)
    segments = _drawn(ledger_segments(sizing))
    total_bytes = sum(s.value_bytes for s in segments)
    short_bytes = sum(s.value_bytes for s in segments if not s.on_gpu)
    figure = go.Figure()
    for segment in segments:
        wide = segment.value_bytes >= _INSIDE_FRACTION * total_bytes
        solid = segment.on_gpu and segment.term != "cache_spare"
        figure.add_bar(
            x=[segment.value_bytes / GIB],
            y=[""],
            orientation="h",
            name=f"{segment.label(lang)}<br>{format_bytes(segment.value_bytes)}",
            marker=fill(segment.role) if solid else hollow(segment.role, *_HOLLOW[segment.on_gpu]),
            text=[format_bytes(segment.value_bytes) if wide and solid else ""],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            insidetextfont={"color": "#FFFFFF"},
            hovertemplate=f"{segment.label(lang)}<br>{format_bytes(segment.value_bytes)}"
            f" = {format_count(segment.value_bytes)} B<extra></extra>",
            width=0.9,
            showlegend=segment.term != "remainder",
            meta=segment.term,
        )
    lay_out(figure, height=HEIGHT, top=46 if short_bytes else 28)
    # A value that does not fit into its segment is left to the legend, whatever the width of the page.
    figure.update_layout(
        barmode="stack", uniformtext={"minsize": 11, "mode": "hide"}, bargap=0, legend={"entrywidth": 128}
    )
    edge = budget.device_bytes / GIB
    figure.update_xaxes(range=[0, total_bytes / GIB], ticksuffix=" GiB", nticks=6, ticklabeloverflow="hide past domain")
    figure.update_yaxes(visible=False, range=[-0.5, 0.5])
    figure.add_shape(type="line", x0=edge, x1=edge, y0=0, y1=1.06, yref="paper", line={"color": RULE, "width": 2})
    figure.add_annotation(
        x=edge,
        y=1.02,
        yref="paper",
        xanchor="right" if edge > total_bytes / GIB / 3 else "left",
        yanchor="bottom",
        showarrow=False,
        text=text.CARD(lang, device=budget.device.name, bytes=format_bytes(budget.device_bytes)),
    )
    if short_bytes:
        figure.add_annotation(
            x=1,
            xref="paper",
            y=1.02,
            yref="paper",
            yshift=18,
            xanchor="right",
            yanchor="bottom",
            showarrow=False,
            text=f"<b>{text.SHORT(lang, bytes=format_bytes(short_bytes))}</b>",
        )
    return figure


def ledger_rows(sizing: Sizing, lang: Lang) -> list[dict[str, Any]]:
    """The same parts as a table under headings in ``lang``; what is missing comes last."""
    return [
        {
            text.PART(lang): s.label(lang),
            text.BYTES(lang): s.value_bytes,
            text.GIB(lang): round(s.value_bytes / GIB, 3),
            text.BASIS_HEADING(lang): text.BASIS[s.basis](lang),
            text.SOURCE(lang): s.source(lang),
        }
        for s in ledger_segments(sizing)
    ]


def ledger_alt(sizing: Sizing, lang: Lang) -> str:
    """The bar in words, for screen readers."""
    budget = _budget(sizing)
    parts = text.PART_SEPARATOR(lang).join(
        text.PART_BYTES(lang, label=s.label(lang), bytes=format_bytes(s.value_bytes))
        for s in _drawn(ledger_segments(sizing))
        if s.term != "remainder"
    )
    return text.LEDGER_ALT(
        lang,
        device=budget.device.name,
        total=format_bytes(budget.device_bytes),
        parts=parts,
        verdict=_verdict(sizing, budget, lang),
    )


_HOLLOW = {True: (".", 0.12), False: ("/", 0.4)}
"""Spare cache is dotted, what lies beyond the card is hatched."""


def _budget(sizing: Sizing) -> Budget:
    if sizing.budget is None:
        raise ValueError("a ledger needs a budget: a GPU and known weights")
    return sizing.budget


def _drawn(segments: tuple[Segment, ...]) -> list[Segment]:
    """The engine's two parts are thin: one segment in the bar, two rows in the table."""
    drawn: list[Segment] = []
    engine_bytes = sum(s.value_bytes for s in segments if s.role == "overhead")
    for segment in segments:
        if segment.role != "overhead":
            drawn.append(segment)
        elif engine_bytes:
            drawn.append(replace(segment, term="engine", label=text.ENGINE, value_bytes=engine_bytes))
            engine_bytes = 0
    return drawn


def _needed(sizing: Sizing, need_bytes: int) -> dict[str, str]:
    request_bytes = sizing.request_bytes or 0
    return {
        "need": format_bytes(need_bytes),
        "requests": format_count(need_bytes // request_bytes if request_bytes else 0),
        "request": format_bytes(request_bytes),
        "tokens": format_count(sizing.tokens),
    }


def _verdict(sizing: Sizing, budget: Budget, lang: Lang) -> str:
    if budget.available_bytes < 0:
        return text.VERDICT_WEIGHTS(lang, over=format_bytes(-budget.available_bytes))
    pool = format_bytes(budget.pool_bytes)
    short_bytes = sizing.short_bytes
    if short_bytes is None:
        return text.VERDICT_ROOM(lang, pool=pool)
    need_bytes = budget.pool_bytes + short_bytes
    needed = _needed(sizing, need_bytes)
    if short_bytes > 0:
        said = text.VERDICT_SHORT(lang, pool=pool, short=format_bytes(short_bytes), **needed)
    else:
        said = text.VERDICT_SPARE(lang, spare=format_bytes(-short_bytes), **needed)
    if sizing.held_bytes == sizing.request_bytes or not sizing.held_bytes or not sizing.request_bytes:
        return said
    held_bytes = need_bytes // sizing.request_bytes * sizing.held_bytes
    return said + ("" if lang == "ja" else " ") + text.VERDICT_HELD(lang, held=format_bytes(held_bytes))


def _weakest(budget: Budget) -> Basis:
    """The basis of what is left over: that of the least certain term."""
    found = {e.basis for e in (budget.weights, budget.activations, budget.graphs, budget.non_torch)}
    order: tuple[Basis, ...] = ("assumed", "measured")
    return next((basis for basis in order if basis in found), "exact")
