"""One GPU's memory as one bar: what takes it, what is left, and what is missing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from kvviz.budgets import Budget
from kvviz.charts import words
from kvviz.charts.style import (
    LABEL,
    MODE_BAR_HEIGHT,
    MODE_BAR_WIDTH,
    RULE,
    Drawing,
    Figure,
    Role,
    fill,
    hollow,
    literal,
)
from kvviz.charts.words import tick, ticks
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.estimate import Basis, Estimate
from kvviz.sizing import Sizing
from kvviz.text import Lang, Message, Text
from kvviz.text import charts as text

HEIGHT = 250
"""Where the legend has no more than three rows of two."""
LEGEND_WIDTH, LEGEND_FONT = 124, 11
"""Of an entry, in pixels: two of them, with their swatches, stand beside each other on a phone."""

_LEGEND_ROWS, _LEGEND_ROW = 3, 32
_LABEL_ROW: Final = 18

INSIDE_FRACTION = 0.18
"""A segment narrower than this share of the bar carries no text: on a phone a value would stick out."""
BREAK_FRACTION = 0.02
"""Width of the gap in a broken bar, as a share of the card."""

LedgerBasis = Basis | Literal["estimated"]
"""``estimated``: a sum or difference of which at least one term is not exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One part of a GPU's memory."""

    term: str
    """Stable name: ``weights``, ``cache_needed`` …"""
    label: Text
    value_bytes: int
    role: Role
    basis: LedgerBasis
    source: Message
    on_gpu: bool = True
    """False for what is needed beyond the GPU's memory."""


_SPARE_SOURCES: Final = {
    (True, True): text.SPARE_SOURCE_KEPT,
    (True, False): text.SPARE_SOURCE,
    (False, True): text.SPARE_SOURCE_KEPT_BYTES,
    (False, False): text.SPARE_SOURCE_BYTES,
}
"""By whether the pool is made of blocks, and whether some of it is kept free."""


def ledger_segments(sizing: Sizing) -> tuple[Segment, ...]:
    """The parts, in the order they are drawn. Those on the GPU add up to what the driver reports, the others to
    ``sizing.lacking_bytes``.

    The cache comes last so that it runs on, past the edge of the card, into what it is short by.
    """
    budget = _budget(sizing)
    derived = _derived(budget)
    block_bytes = budget.unit_bytes
    need_bytes = 0 if sizing.short_bytes is None else budget.usable_bytes + sizing.short_bytes
    held_bytes = min(need_bytes, budget.usable_bytes)
    all_fits = held_bytes == need_bytes
    kept_bytes = budget.kept_free_bytes
    pool = {
        "pool": format_bytes(budget.pool_bytes),
        "blocks": Message(
            text.BLOCKS_WITH_NULL if budget.null_bytes else text.BLOCKS, {"blocks": format_count(budget.pool_blocks)}
        ),
        "kept": format_bytes(kept_bytes),
        "share": f"{sizing.scenario.headroom * 100:.4g}%",
    }
    in_blocks = block_bytes > 1
    share = {"share": format_bytes(budget.requested_bytes)}
    needed = _needed(sizing, need_bytes)
    terms = {
        "weights": budget.weights,
        "activations": budget.activations,
        "graphs": budget.graphs,
        "non_torch": budget.non_torch,
    }
    on_card = _on_card(budget, terms)
    run_time_over = sum(e.value_bytes - on_card[term] for term, e in terms.items() if term != "weights")

    def part(term: str, label: Text, role: Role) -> Segment:
        whole, fits = terms[term], on_card[term]
        if fits == whole.value_bytes:
            return Segment(term=term, label=label, value_bytes=fits, role=role, basis=whole.basis, source=whole.source)
        source = Message(text.THAT_FIT_SOURCE, {"whole": format_bytes(whole.value_bytes)})
        named = text.WEIGHTS_THAT_FIT if term == "weights" else label
        return Segment(term=term, label=named, value_bytes=fits, role=role, basis=derived, source=source)

    parts = [
        part("weights", text.WEIGHTS, "weights"),
        part("activations", text.ACTIVATIONS, "activations"),
        part("graphs", text.GRAPHS, "overhead"),
        part("non_torch", text.NON_TORCH, "overhead"),
        Segment(
            term="hidden",
            label=text.HIDDEN,
            value_bytes=budget.hidden.value_bytes,
            role="free",
            basis=budget.hidden.basis,
            source=budget.hidden.source,
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
                    "total": format_bytes(budget.device_bytes - budget.hidden.value_bytes),
                    "fraction": f"{budget.memory_fraction or 1:g}",
                },
            ),
        ),
        Segment(
            term="remainder",
            label=text.REMAINDER_AND_NULL if budget.null_bytes else text.REMAINDER,
            value_bytes=max(0, budget.available_bytes) - budget.pool_bytes + budget.null_bytes,
            role="free",
            basis=derived,
            source=Message(
                text.REMAINDER_AND_NULL_SOURCE if budget.null_bytes else text.REMAINDER_SOURCE,
                {"block": format_bytes(block_bytes)},
            ),
        ),
        Segment(
            term="kept_free",
            label=text.KEPT_FREE,
            value_bytes=kept_bytes,
            role="kv",
            basis=derived,
            source=Message(text.KEPT_FREE_SOURCE if in_blocks else text.KEPT_FREE_SOURCE_BYTES, pool),
        ),
        Segment(
            term="cache_needed",
            label=text.CACHE_NEEDED if all_fits else text.CACHE_THAT_FITS,
            value_bytes=held_bytes,
            role="kv",
            basis="exact" if all_fits else derived,
            source=Message(text.NEEDED_SOURCE if all_fits else text.THAT_FITS_SOURCE, needed),
        ),
        Segment(
            term="cache_spare",
            label=text.CACHE_SPARE,
            value_bytes=budget.usable_bytes - held_bytes,
            role="kv",
            basis=derived,
            source=Message(_SPARE_SOURCES[in_blocks, kept_bytes > 0], pool),
        ),
        Segment(
            term="weights_over",
            label=text.WEIGHTS_OVER,
            value_bytes=budget.weights.value_bytes - on_card["weights"],
            role="weights",
            basis=derived,
            source=Message(text.WEIGHTS_OVER_SOURCE, share),
            on_gpu=False,
        ),
        Segment(
            term="run_time_short",
            label=text.RUN_TIME_SHORT,
            value_bytes=run_time_over,
            role="activations",
            basis=derived,
            source=Message(text.RUN_TIME_SHORT_SOURCE, share),
            on_gpu=False,
        ),
        Segment(
            term="cache_short",
            label=text.CACHE_SHORT,
            value_bytes=need_bytes - held_bytes,
            role="kv",
            basis=derived,
            source=Message(text.SHORT_SOURCE_KEPT if kept_bytes else text.SHORT_SOURCE, needed | pool),
            on_gpu=False,
        ),
    ]
    return tuple(one for one in parts if one.value_bytes)


def ledger_figure(sizing: Sizing, lang: Lang) -> Figure:
    """The bar. ``sizing.budget`` must be there: without a GPU or weights there is no ledger.

    What is short is drawn to scale up to the size of the card; beyond that the bar is broken and words tell.
    """
    budget = _budget(sizing)
    segments = drawn(ledger_segments(sizing))
    card = budget.device_bytes / GIB
    beyond = [s for s in segments if not s.on_gpu]
    lacking = sum(s.value_bytes for s in beyond) / GIB
    shrunk = min(1.0, card / lacking) if lacking else 1.0
    longest = max(beyond, key=lambda s: s.value_bytes, default=None)
    total = card + lacking * shrunk
    drawing = Drawing()
    start = 0.0
    for segment in segments:
        width = segment.value_bytes / GIB * (1.0 if segment.on_gpu else shrunk)
        broken = shrunk < 1 and segment is longest
        gap = BREAK_FRACTION * card if broken else 0.0
        _bar(drawing, segment, (width - gap) / (2 if broken else 1), lang)
        if broken:
            drawing.bar(
                x=[gap],
                y=[""],
                orientation="h",
                marker={"color": "rgba(0, 0, 0, 0)"},
                width=_THICK,
                hoverinfo="skip",
                showlegend=False,
                meta="break",
            )
            _bar(drawing, segment, (width - gap) / 2, lang, again=True)
            _mark_break(drawing, start + width / 2, gap)
        elif width >= INSIDE_FRACTION * total and (segment.on_gpu or shrunk == 1):
            drawing.label(x=start + width / 2, y=0, text=format_bytes(segment.value_bytes), **LABEL)
        start += width
    rows = -(-sum(bar["showlegend"] for bar in drawing.traces) // 2)  # of the legend, on a phone
    height = HEIGHT + _LEGEND_ROW * max(0, rows - _LEGEND_ROWS)
    values = ticks(total) if shrunk == 1 else ticks(card, most=3)
    drawing.line(x0=card, x1=card, y0=0, y1=1.06, yref="paper", line={"color": RULE, "width": 2})
    drawing.label(
        x=card,
        xshift=0 if beyond else -MODE_BAR_WIDTH,
        y=1,
        yref="paper",
        xanchor="right",
        yanchor="bottom",
        text=text.CARD(lang, device=literal(budget.device.name), bytes=format_bytes(budget.device_bytes)),
    )
    if beyond:
        drawing.label(
            x=1,
            xref="paper",
            xshift=-MODE_BAR_WIDTH,
            y=1,
            yref="paper",
            yshift=_LABEL_ROW,
            xanchor="right",
            yanchor="bottom",
            text=f"<b>{short_label(sizing, budget, lang)}</b>",
        )
    if shrunk < 1:
        drawing.label(
            x=(card + total) / 2,
            y=0,
            yref="paper",
            yanchor="top",
            yshift=-4,
            text=text.NOT_TO_SCALE(lang),
        )
    return drawing.figure(
        height=height,
        top=MODE_BAR_HEIGHT + _LABEL_ROW + 2 if beyond else MODE_BAR_HEIGHT,
        barmode="stack",
        bargap=0,
        legend={"entrywidth": LEGEND_WIDTH, "font": {"size": LEGEND_FONT}},
        xaxis={
            "range": [0, total],
            "tickvals": values,
            "ticktext": [f"{tick(value)} GiB" if value else "0" for value in values],
        },
        yaxis={"visible": False, "range": [-0.5, 0.5]},
    )


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
        text.PART_BYTES(lang, label=s.label(lang), bytes=value_label(s, lang))
        for s in drawn(ledger_segments(sizing))
        if s.term != "remainder"
    )
    return text.LEDGER_ALT(
        lang,
        device=budget.device.name,
        total=format_bytes(budget.device_bytes),
        parts=parts,
        verdict=_verdict(sizing, budget, lang),
    )


_THICK = 0.9
"""Of the bar, as a share of the chart's height."""
_SPARE: Final = {"cache_spare": (".", 0.12), "kept_free": ("-", 0.2)}
_BEYOND: Final = ("/", 0.4)
"""Spare cache is dotted, what is kept free has lines across, what lies beyond the card is hatched."""


def _budget(sizing: Sizing) -> Budget:
    if sizing.budget is None:
        raise ValueError("a ledger needs a budget: a GPU and known weights")
    return sizing.budget


def drawn(segments: tuple[Segment, ...]) -> list[Segment]:
    """The engine's two parts are thin, and so is what no program sees: two segments in the bar, four rows in the
    table."""
    shown: list[Segment] = []
    engine_bytes = sum(s.value_bytes for s in segments if s.role == "overhead")
    hidden_bytes = sum(s.value_bytes for s in segments if s.term == "hidden")
    outside = any(s.term == "outside" for s in segments)
    for segment in segments:
        if outside and segment.term == "hidden":
            continue
        if segment.term == "outside":
            label = text.OUT_OF_REACH if hidden_bytes else segment.label  # another number has another name
            shown.append(replace(segment, label=label, value_bytes=segment.value_bytes + hidden_bytes))
        elif segment.role != "overhead":
            shown.append(segment)
        elif engine_bytes:
            shown.append(replace(segment, term="engine", label=text.ENGINE, value_bytes=engine_bytes))
            engine_bytes = 0
    return shown


def _on_card(budget: Budget, terms: Mapping[str, Estimate]) -> dict[str, int]:
    """How much of each term the engine's share holds.

    Weights larger than the share stick out of it themselves; if they fit, it is what the engine needs to run.
    """
    order = ["weights", "non_torch", "graphs", "activations"]
    if budget.weights.value_bytes > budget.requested_bytes:
        order = [*order[1:], "weights"]
    room, fits = budget.requested_bytes, {}
    for term in order:
        fits[term] = min(terms[term].value_bytes, room)
        room -= fits[term]
    return fits


def _bar(drawing: Drawing, segment: Segment, width: float, lang: Lang, *, again: bool = False) -> None:
    pattern = _SPARE.get(segment.term) if segment.on_gpu else _BEYOND
    drawing.bar(
        x=[width],
        y=[""],
        orientation="h",
        name=f"{segment.label(lang)}<br>{value_label(segment, lang)}",
        marker=hollow(segment.role, *pattern) if pattern else fill(segment.role),
        hovertemplate=f"{segment.label(lang)}<br>{value_label(segment, lang)}"
        f" = {format_count(segment.value_bytes)} B<extra></extra>",
        width=_THICK,
        showlegend=segment.term != "remainder" and not again,
        meta=segment.term,
    )


def _mark_break(drawing: Drawing, middle: float, gap: float) -> None:
    """Two slanted strokes at the edges of the gap."""
    for edge in (middle - gap / 2, middle + gap / 2):
        drawing.line(
            x0=edge - gap / 2,
            x1=edge + gap / 2,
            y0=-0.5,
            y1=0.5,
            line={"color": RULE, "width": 2},
        )


def value_label(segment: Segment, lang: Lang) -> str:
    """The bytes; what rests on an estimate of its own says so with them."""
    value = format_bytes(segment.value_bytes)
    assumed = segment.basis == "assumed" and segment.role in ("activations", "overhead", "weights")
    return text.ASSUMED(lang, bytes=value) if assumed else value


def short_label(sizing: Sizing, budget: Budget, lang: Lang) -> str:
    """All that is lacking, and what for."""
    lacking, short = sizing.lacking_bytes or 0, sizing.short_bytes or 0
    if lacking != short:
        return text.SHORT_WITH_CACHE(lang, short=format_bytes(lacking), cache=format_bytes(short))
    return text.SHORT(lang, need=format_bytes(budget.usable_bytes + short), short=format_bytes(lacking))


def _needed(sizing: Sizing, need_bytes: int) -> dict[str, object]:
    request_bytes, shared_bytes = sizing.request_bytes or 0, sizing.shared_bytes
    tokens = (
        Message(text.TOKEN) if sizing.tokens == 1 else Message(text.TOKENS, {"tokens": format_count(sizing.tokens)})
    )
    values: dict[str, object] = {
        "requests": format_count(sizing.requests_of_one),
        "request": format_bytes(request_bytes),
        "shared": format_bytes(shared_bytes),
        "own": format_bytes(request_bytes - shared_bytes),
    }
    working = Message(text.NEED_WORKING_SHARED if shared_bytes else text.NEED_WORKING, values)
    return {"need": format_bytes(need_bytes), "working": working, "tokens": tokens}


def _verdict(sizing: Sizing, budget: Budget, lang: Lang) -> str:
    pool, short_bytes = format_bytes(budget.pool_bytes), sizing.short_bytes
    if short_bytes is None:
        return text.VERDICT_ROOM(lang, pool=pool)
    need_bytes = budget.usable_bytes + short_bytes
    if budget.kept_free_bytes:
        pool = text.POOL_KEPT(lang, pool=pool, kept=format_bytes(budget.kept_free_bytes))
    short = format_bytes(sizing.lacking_bytes or 0)
    if budget.available_bytes < 0:
        heavy = budget.weights.value_bytes > budget.requested_bytes
        return (text.VERDICT_WEIGHTS if heavy else text.VERDICT_NO_ROOM)(
            lang, short=short, need=format_bytes(need_bytes)
        )
    asked = sizing.requests_of_one
    needed = {
        "need": format_bytes(need_bytes),
        "requests": words.requests(asked, lang),
        "tokens": words.tokens(sizing.tokens, lang),
    }
    if short_bytes > 0:
        said = text.VERDICT_SHORT(lang, pool=pool, short=short, **needed)
    else:
        said = text.VERDICT_SPARE(lang, spare=format_bytes(-short_bytes), **needed)
    sentences = [said]
    if sizing.shared_bytes:
        sentences.append(text.VERDICT_SHARED(lang, shared=format_bytes(sizing.shared_bytes)))
    if sizing.held_bytes and sizing.held_bytes != sizing.request_bytes:
        held_bytes = sizing.shared_bytes + asked * (sizing.held_bytes - sizing.shared_bytes)
        sentences.append(text.VERDICT_HELD(lang, held=format_bytes(held_bytes)))
    return ("" if lang == "ja" else " ").join(sentences)


def _derived(budget: Budget) -> LedgerBasis:
    """The basis of what is left over: exact where every term is, else an estimate."""
    found = {e.basis for e in (budget.hidden, budget.weights, budget.activations, budget.graphs, budget.non_torch)}
    return "exact" if found == {"exact"} else "estimated"
