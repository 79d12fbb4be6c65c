"""Prompts as rows of blocks, hit ratio against capacity, and requests at once against a shared beginning."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import log10
from typing import Any

from kvviz.allocation.prefix import HitRatios
from kvviz.charts import words
from kvviz.charts.labels import text_width
from kvviz.charts.style import COLOURS, RULE, Drawing, Figure
from kvviz.core.units import GIB, format_count
from kvviz.hit_ratios import PUBLISHED, blocks_of
from kvviz.prompts import HASH_DIGITS, CachedPrompts, PromptBlock, State
from kvviz.sizing import Sizing
from kvviz.text import Lang
from kvviz.text import prefixes as text

STATE_COLOURS: Mapping[State, str] = {
    "hit": COLOURS["activations"],
    "miss": COLOURS["kv"],
    "again": COLOURS["overhead"],
    "partial": COLOURS["free"],
}
STATE_SIGNS: Mapping[State, str] = {"hit": "✓", "miss": "✗", "again": "↻", "partial": "–"}

_CHIP, _GAP = 190, 8
"""Pixels: width a chip has at most, space between two."""
_FOOT = 32
"""Of a chip, for its state and hash."""
_HEAD = 24
_LINE = 16
_LINES = 3
"""Of a chip's tokens; what is more is told when a pointer rests on it."""
_NARROW, _WIDE, _MANY = 112, 142, 3
"""Pixels a chip has for its tokens where at least so many stand in a row, and where fewer do."""
_TEXT = "var(--st-text-color, #777777)"
_HEIGHT = 320
_POINTS = 48
"""Of the curve of requests, besides the length chosen."""


def chips_svg(found: CachedPrompts, lang: Lang, *, columns: int) -> str:
    """A row a prompt, a chip a block, so that what is found stands under what it was found in.

    The chip in which a prompt first differs from the one it begins like has a thick outline.
    """
    step = _CHIP + _GAP
    wide = columns * step
    room = _WIDE if columns < _MANY else _NARROW
    lines = [[_wrapped(block.tokens, room) for block in prompt.blocks] for prompt in found.prompts]
    tall = _FOOT + _LINE * max((len(chip) for row in lines for chip in row), default=1)
    parts: list[str] = []
    top = 0
    for number, prompt in enumerate(found.prompts, 1):
        name = text.PROMPT(lang, number=number)
        count = text.CHIPS_COUNT(lang, hits=prompt.hit_blocks, blocks=len(prompt.blocks))
        parts.append(_text("0", top + 15, name, size=13, weight=600))
        parts.append(_text(f"{text_width(name) * 1.2 + 14:g}", top + 15, count, size=12))
        top += _HEAD
        differs = prompt.common_tokens // found.block_tokens if prompt.differs else None
        for row, block in enumerate(prompt.blocks):
            left, width = (f"{100 * x / wide:.3f}%" for x in (row % columns * step, _CHIP))
            y = top + row // columns * (tall + _GAP)
            chip = _chip(block, row + 1, lines[number - 1][row], tall, thick=row == differs, lang=lang)
            parts.append(f'<svg x="{left}" y="{y}" width="{width}" height="{tall}">{chip}</svg>')
        top += -(-len(prompt.blocks) // columns) * (tall + _GAP) + _GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(chips_alt(found, lang))}" '
        f'width="100%" height="{top}" style="max-width:{wide}px;font-family:var(--st-font, sans-serif)">'
        f"{''.join(parts)}</svg>"
    )


def chips_alt(found: CachedPrompts, lang: Lang) -> str:
    """The chips in words."""
    return " ".join(
        text.CHIPS_ALT(
            lang,
            prompt=text.PROMPT(lang, number=number),
            states=", ".join(text.STATES[block.state](lang) for block in prompt.blocks) or "–",
        )
        for number, prompt in enumerate(found.prompts, 1)
    )


def chips_legend(found: CachedPrompts, lang: Lang) -> str:
    """What the signs of the chips that are there mean."""
    states = {block.state for prompt in found.prompts for block in prompt.blocks}
    return " · ".join(
        text.LEGEND(lang, sign=sign, state=text.STATES[state](lang), meaning=text.STATE_MEANINGS[state](lang))
        for state, sign in STATE_SIGNS.items()
        if state in states
    )


def chip_rows(found: CachedPrompts, lang: Lang) -> list[dict[str, Any]]:
    """A line a block."""
    return [
        {
            text.COLUMN_PROMPT(lang): number,
            text.COLUMN_BLOCK(lang): row,
            text.COLUMN_TOKENS(lang): _visible(block.text),
            text.COLUMN_HASH(lang): block.hash[:HASH_DIGITS] or None,
            text.COLUMN_STATE(lang): text.STATES[block.state](lang),
            text.COLUMN_NUMBER(lang): block.number,
        }
        for number, prompt in enumerate(found.prompts, 1)
        for row, block in enumerate(prompt.blocks, 1)
    ]


def _chip(block: PromptBlock, row: int, lines: Sequence[str], tall: int, *, thick: bool, lang: Lang) -> str:
    colour, partial = STATE_COLOURS[block.state], block.state == "partial"
    said = text.CHIP_TITLE(
        lang,
        row=row,
        state=text.STATE_MEANINGS[block.state](lang),
        hash=block.hash[:HASH_DIGITS] or "–",
        number=block.number,
        tokens=_visible(block.text),
    )
    dash = ' stroke-dasharray="4 3"' if partial else ""
    written = "".join(_text("10", 19 + _LINE * place, line, size=12) for place, line in enumerate(lines))
    state = f"{STATE_SIGNS[block.state]} {text.STATES[block.state](lang)}"
    return (
        f'<g class="{block.state}"><title>{escape(said)}</title>'
        f'<rect x="1.5" y="1.5" height="{tall - 3}" rx="5" fill="{colour}" stroke="{colour}"{dash} '
        f'stroke-width="{3 if thick else 1}" fill-opacity="{0.06 if partial else 0.18}" '
        f'style="width:calc(100% - 3px)"/>'
        f'<rect x="1.5" y="1.5" width="4" height="{tall - 3}" fill="{colour}"/>{written}'
        f"{_text('10', tall - 9, state, size=11, weight=600)}"
        f"{_text('95%', tall - 9, block.hash[:HASH_DIGITS], size=11, anchor='end', mono=True)}</g>"
    )


def _wrapped(tokens: Sequence[str], width: int) -> list[str]:
    """The tokens in as many lines as a chip has; what does not fit is cut."""
    lines = [""]
    for token in map(_visible, tokens):
        if text_width(lines[-1] + token) > width and lines[-1]:
            lines.append("")
        lines[-1] += token if lines[-1] else token.lstrip() or token
    shown = [_cut(line, width) for line in lines[:_LINES]]
    if len(lines) > _LINES:
        shown[-1] = _cut(shown[-1] + "…", width)
    return shown


def _cut(line: str, width: int) -> str:
    if text_width(line) <= width:
        return line
    kept = line.rstrip("…")
    while kept and text_width(kept + "…") > width:
        kept = kept[:-1]
    return f"{kept}…"


def _visible(written: str) -> str:
    """Line ends as a sign; what no font shows as a dot."""
    return "".join("⏎" if c == "\n" else c if c == " " or c.isprintable() else "·" for c in written)


def _text(
    x: str, y: float, said: str, *, size: int, anchor: str = "start", weight: int = 400, mono: bool = False
) -> str:
    font = ";font-family:monospace" if mono else ""
    return (
        f'<text x="{x}" y="{y:g}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
        f'style="fill:{_TEXT}{font}" xml:space="preserve">{escape(said)}</text>'
    )


# --- hit ratio against capacity --------------------------------------------------------------------------------------


def curve_figure(
    trace: str, points: Sequence[tuple[int, HitRatios]], chosen: tuple[int, HitRatios], pool: int | None, lang: Lang
) -> Figure:
    """Ours as a line, the published as diamonds; ``chosen``: a capacity in tokens; ``pool``: the scenario's tokens."""
    drawing = Drawing()
    drawing.scatter(
        x=[tokens for tokens, _ in points],
        y=[100 * one.full for _, one in points],
        name=text.OURS(lang),
        mode="lines+markers",
        line={"color": COLOURS["kv"], "width": 2.5},
        marker={"size": 7},
        hovertemplate="%{x:,} · %{y:.1f}%<extra></extra>",
        meta="ours",
    )
    drawing.scatter(
        x=list(PUBLISHED[trace]),
        y=[100 * said for said in PUBLISHED[trace].values()],
        name=text.THEIRS(lang),
        mode="markers",
        marker={"color": COLOURS["weights"], "symbol": "diamond-open", "size": 10, "line": {"width": 2}},
        hovertemplate="%{x:,} · %{y:.1f}%<extra></extra>",
        meta="published",
    )
    drawing.scatter(
        x=[chosen[0]],
        y=[100 * chosen[1].full],
        name=text.CHOSEN(lang),
        mode="markers",
        marker={"color": COLOURS["activations"], "symbol": "star", "size": 16},
        hovertemplate="%{x:,} · %{y:.1f}%<extra></extra>",
        meta="chosen",
    )
    low, high = min(points[0][0], chosen[0]), max(points[-1][0], chosen[0])
    if pool is not None and low <= pool <= high:
        drawing.line(
            x0=pool,
            x1=pool,
            y0=0,
            y1=1,
            yref="y domain",
            line={"color": RULE, "width": 2, "dash": "dash"},
            showlegend=True,
            name=text.POOL(lang),
        )
    drawing.title(text.RATIO_AXIS(lang))
    decades = [10**power for power in range(3, 10) if low * 0.7 <= 10**power <= high * 1.4]
    return drawing.figure(
        height=_HEIGHT + 60,
        top=36,
        hovermode="closest",
        legend={},
        xaxis={
            "type": "log",
            "range": [log10(low * 0.7), log10(high * 1.5)],
            "tickvals": decades,
            "ticktext": [_short(n) for n in decades],
            "title": text.CAPACITY_AXIS(lang),
        },
        yaxis={
            "range": [0, 100 * max(*(one.full for _, one in points), *PUBLISHED[trace].values()) * 1.12],
            "ticksuffix": "%",
        },
    )


def curve_rows(trace: str, points: Sequence[tuple[int, HitRatios]], lang: Lang) -> list[dict[str, Any]]:
    """Each capacity with both ratios."""
    return [
        {
            text.COLUMN_CAPACITY(lang): tokens,
            text.COLUMN_BLOCKS(lang): blocks_of(tokens),
            text.COLUMN_OURS(lang): round(100 * one.full, 2),
            text.COLUMN_THEIRS(lang): round(100 * PUBLISHED[trace][tokens], 2) if tokens in PUBLISHED[trace] else None,
        }
        for tokens, one in points
    ]


def curve_alt(trace: str, points: Sequence[tuple[int, HitRatios]], lang: Lang) -> str:
    """The chart in words."""

    def said(pairs: Iterator[tuple[int, float]]) -> str:
        told = (text.CURVE_POINT(lang, tokens=format_count(n), ratio=f"{ratio:.1%}") for n, ratio in pairs)
        return "; ".join(told)

    ours = said((tokens, one.full) for tokens, one in points)
    return text.CURVE_ALT(lang, trace=trace, ours=ours, theirs=said(iter(PUBLISHED[trace].items())))


def _short(tokens: int) -> str:
    """A power of ten as people write it: 10k, 1M."""
    for size, suffix in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size:
            return f"{tokens // size:,}{suffix}"
    return str(tokens)


# --- what a shared system prompt saves -------------------------------------------------------------------------------


def fit_with_shared(sizing: Sizing, shared_tokens: int) -> int:
    """Requests at once when they begin with so many equal tokens; ``budget`` must be there."""
    if sizing.plan is None or sizing.budget is None:
        raise ValueError("what fits needs a budget: a GPU and known weights")
    counted = min(shared_tokens, max(0, sizing.scenario.input_tokens - 1))
    return sizing.engines * sizing.plan.fit(sizing.budget.usable_bytes, sizing.tokens, counted)


def saves_figure(sizing: Sizing, shared_tokens: int, lang: Lang) -> Figure:
    """Requests at once from no shared token to the whole input."""
    most = sizing.scenario.input_tokens
    across = sorted({round(most * place / _POINTS) for place in range(_POINTS + 1)} | {shared_tokens})
    counts = [fit_with_shared(sizing, n) for n in across]
    asked = sizing.scenario.requests
    here = fit_with_shared(sizing, shared_tokens)
    # The last of the input to be shared multiplies the count: what a prompt with a question of its own reaches counts.
    top = max(2 * here, 3 * counts[0], 1)
    drawing = Drawing()
    drawing.scatter(
        x=across,
        y=counts,
        name=text.SAVES_LINE(lang),
        mode="lines",
        line={"color": COLOURS["kv"], "width": 2.5},
        hovertemplate="%{x:,} · %{y:,}<extra></extra>",
        meta="fit",
    )
    drawing.scatter(
        x=[shared_tokens],
        y=[here],
        name=text.SAVES_HERE(lang),
        mode="markers",
        marker={"color": COLOURS["activations"], "symbol": "star", "size": 16},
        hovertemplate="%{x:,} · %{y:,}<extra></extra>",
        meta="here",
    )
    if asked <= top:
        drawing.line(
            x0=0,
            x1=most,
            y0=asked,
            y1=asked,
            line={"color": RULE, "width": 2, "dash": "dash"},
            showlegend=True,
            name=text.SAVES_ASKED(lang),
        )
    drawing.title(text.SAVES_AXIS(lang))
    marks = words.ticks(most)
    return drawing.figure(
        height=_HEIGHT,
        top=36,
        hovermode="closest",
        legend={},
        xaxis={
            "range": [0, most],
            "tickvals": marks,
            "ticktext": [words.tick(n) for n in marks],
            "title": text.SAVES_X_AXIS(lang),
        },
        yaxis={"range": [0, top], "tickformat": ",d"},
    )


def saves_rows(sizing: Sizing, shared_tokens: int, lang: Lang) -> list[dict[str, Any]]:
    """At eighths of the input, and at the length chosen."""
    rows = []
    for tokens in _lengths(sizing, shared_tokens):
        once = sizing.plan.shared_bytes(min(tokens, max(0, sizing.scenario.input_tokens - 1))) if sizing.plan else 0
        rows.append(
            {
                text.COLUMN_SHARED(lang): tokens,
                text.COLUMN_FIT(lang): fit_with_shared(sizing, tokens),
                text.COLUMN_ONCE(lang): round(once / GIB, 3),
            }
        )
    return rows


def saves_alt(sizing: Sizing, shared_tokens: int, lang: Lang) -> str:
    """The chart in words."""
    points = (
        text.SAVES_POINT(lang, tokens=format_count(n), fit=format_count(fit_with_shared(sizing, n)))
        for n in _lengths(sizing, shared_tokens)
    )
    return text.SAVES_ALT(lang, points="; ".join(points), asked=format_count(sizing.scenario.requests))


def _lengths(sizing: Sizing, shared_tokens: int) -> list[int]:
    most = sizing.scenario.input_tokens
    return sorted({most * place // 8 for place in range(9)} | {shared_tokens})
