"""What a session saw of an engine, sample by sample, and what its counters did in between."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from kvviz.serving.reading import Reading
from kvviz.serving.watch import Look

MOST_SAMPLES: Final = 150
"""Five minutes of one every two seconds."""
LATELY_S: Final = 30.0
"""What is called lately."""
_OLD_S: Final = 10.0
"""An answer from before the session looked on: nobody else has looked since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A reading and when it was made, by the monotonic clock."""

    at_s: float
    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Prefix hits over some time."""

    over_s: float
    fraction: float | None
    """None where nothing was looked up, or nothing is reported."""


def with_look(samples: Sequence[Sample], look: Look, *, now_s: float) -> tuple[Sample, ...]:
    """The samples and the one just seen, unless it was seen before or is old; the oldest are forgotten."""
    is_old = look.read_s < now_s - _OLD_S
    if look.reading is None or is_old or (samples and samples[-1].at_s >= look.read_s):
        return tuple(samples)
    return (*samples, Sample(at_s=look.read_s, reading=look.reading))[-MOST_SAMPLES:]


def is_current(look: Look, *, now_s: float) -> bool:
    """Whether the engine answers: its last answer was good, and is not from before anybody looked."""
    return look.reading is not None and look.problem is None and look.read_s >= now_s - _OLD_S


def hits_lately(samples: Sequence[Sample]) -> Hits:
    """Over the last half minute, or as much of it as was seen; not across a restart."""
    if not samples:
        return Hits(over_s=0.0, fraction=None)
    last = samples[-1]
    recent = [s for s in samples if last.at_s - s.at_s <= LATELY_S]
    for place, (earlier, later) in reversed(list(enumerate(pairwise(recent), start=1))):
        if went_back(earlier.reading, later.reading):
            recent = recent[place:]
            break
    first = recent[0]
    fraction = _fraction(
        _rise(first.reading.prefix_hits, last.reading.prefix_hits),
        _rise(first.reading.prefix_queries, last.reading.prefix_queries),
    )
    return Hits(over_s=last.at_s - first.at_s, fraction=fraction)


def hits_in_all(reading: Reading) -> float | None:
    """Since the engine started; where it gives a rate and no counts, that."""
    counted = _fraction(reading.prefix_hits, reading.prefix_queries)
    return reading.hit_fraction if counted is None and reading.prefix_hits is None else counted


def restarted(samples: Sequence[Sample]) -> bool:
    """Whether the engine's counters began again while the session looked on."""
    return any(went_back(earlier.reading, later.reading) for earlier, later in pairwise(samples))


def went_back(earlier: Reading, later: Reading) -> bool:
    """Counters only rise, except across a restart."""
    counters = (
        (earlier.prefix_queries, later.prefix_queries),
        (earlier.prefix_hits, later.prefix_hits),
        (earlier.preemptions, later.preemptions),
    )
    return any(before is not None and after is not None and after < before for before, after in counters)


def _rise(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _fraction(hits: int | None, queries: int | None) -> float | None:
    return hits / queries if queries and hits is not None else None
