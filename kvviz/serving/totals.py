"""What several engines report, added up: only of those that answer now, and nothing where a part is unknown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from kvviz.serving.history import is_current
from kvviz.serving.reading import Reading, usage_of
from kvviz.serving.watch import Look

Figure = Literal["usage", "running", "waiting", "preemptions"]
Why = Literal["not reported", "no capacity", "unlike"]
FIGURES: Final[tuple[Figure, ...]] = ("usage", "running", "waiting", "preemptions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """One figure over all engines that answer."""

    figure: Figure
    share: float | None = None
    """For ``usage``."""
    count: int | None = None
    """Elsewhere; where both are None, see ``why``."""
    why: Why | None = None
    of: tuple[str, ...] = ()
    """Names of the engines for whose sake there is none."""


def answering(looks: Mapping[str, Look], *, now_s: float) -> dict[str, Reading]:
    """The latest sample of each engine whose last answer was good."""
    return {
        name: now.reading for name, now in looks.items() if now.reading is not None and is_current(now, now_s=now_s)
    }


def totals(readings: Mapping[str, Reading]) -> tuple[Total, ...]:
    """Each figure, in the order of ``FIGURES``, of engines by name."""
    return tuple(_total(figure, readings) for figure in FIGURES)


def _total(figure: Figure, readings: Mapping[str, Reading]) -> Total:
    # Of a deployment whose ranks cannot be weighed, each of them reports its share all the same.
    silent = tuple(name for name, of in readings.items() if not _is_reported(figure, of))
    if silent or not readings:
        return Total(figure=figure, why="not reported", of=silent)
    if figure != "usage":
        return Total(figure=figure, count=sum(getattr(of, figure) for of in readings.values()))
    if len({(of.kind, of.models[:1]) for of in readings.values()}) > 1:
        return Total(figure=figure, why="unlike")
    share = usage_of([rank for of in readings.values() for rank in of.ranks])
    unweighed = tuple(name for name, of in readings.items() if of.capacity_tokens is None)
    return Total(figure=figure, share=share, why=None if share is not None else "no capacity", of=unweighed)


def _is_reported(figure: Figure, of: Reading) -> bool:
    if figure == "usage":
        return all(rank.usage is not None for rank in of.ranks)
    return getattr(of, figure) is not None
