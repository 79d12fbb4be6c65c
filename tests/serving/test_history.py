"""What counters did between two samples, and across a restart."""

import pytest

from kvviz.serving import Look, Rank, Reading, Sample, hits_in_all, hits_lately, restarted, with_look
from kvviz.serving.history import LATELY_S, MOST_SAMPLES
from kvviz.serving.reading import Identity


def reading(queries: int | None, hits: int | None, *, gauge: float | None = None) -> Reading:
    return Reading(
        kind="vllm",
        identity=Identity(),
        models=(),
        ranks=(Rank(name=""),),
        prefix_queries=queries,
        prefix_hits=hits,
        hit_fraction=gauge,
    )


def samples(*counts: tuple[float, int | None, int | None]) -> tuple[Sample, ...]:
    return tuple(Sample(at_s=at, reading=reading(queries, hits)) for at, queries, hits in counts)


@pytest.mark.parametrize(
    ("seen", "over_s", "fraction"),
    [
        ((), 0, None),
        (((0.0, 100, 10),), 0, None),
        (((0.0, 100, 10), (2.0, 100, 10)), 2, None),  # nothing was looked up
        (((0.0, 100, 10), (2.0, 200, 60)), 2, 0.5),
        (((0.0, 0, 0), (10.0, 1000, 1000), (10.0 + LATELY_S, 1100, 1000)), LATELY_S, 0.0),  # lately, not ever
        (((0.0, 900, 900), (2.0, 10, 0), (4.0, 110, 25)), 2, 0.25),  # restarted in between
        (((0.0, 900, 900), (2.0, 10, 0)), 0, None),
        (((0.0, None, None), (2.0, None, None)), 2, None),
        (((0.0, 100, None), (2.0, 200, None)), 2, None),
    ],
)
def test_lately(seen: tuple[tuple[float, int | None, int | None], ...], over_s: float, fraction: float | None) -> None:
    found = hits_lately(samples(*seen))
    assert (found.over_s, found.fraction) == (over_s, fraction)


def test_in_all() -> None:
    assert hits_in_all(reading(200, 50)) == 0.25
    assert hits_in_all(reading(0, 0)) is None
    assert hits_in_all(reading(None, None, gauge=0.875)) == 0.875
    assert hits_in_all(reading(None, None)) is None
    assert hits_in_all(reading(200, None)) is None


def test_restarted() -> None:
    assert restarted(samples((0, 100, 10), (2, 50, 10)))
    assert not restarted(samples((0, 100, 10), (2, 100, 10), (4, None, None)))


def test_a_session_keeps_each_sample_once_and_forgets_the_oldest() -> None:
    kept: tuple[Sample, ...] = ()
    for at in range(2 * MOST_SAMPLES):
        look = Look(reading=reading(at, 0), read_s=float(at), problem=None)
        kept = with_look(with_look(kept, look, now_s=at), look, now_s=at + 1)
    assert [s.at_s for s in kept] == [float(at) for at in range(MOST_SAMPLES, 2 * MOST_SAMPLES)]
    assert with_look(kept, Look(reading=None, read_s=0.0, problem=None), now_s=999) == kept
    old = Look(reading=reading(1, 0), read_s=1.0, problem=None)
    assert with_look((), old, now_s=60) == ()  # from before: nobody looked for a while
