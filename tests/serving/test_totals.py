"""What engines report together: of those that answer now, and nothing where a part is unknown."""

from dataclasses import replace

from kvviz.serving import Look, Rank, Reading, answering, totals
from kvviz.serving.reading import Identity
from kvviz.serving.totals import Total
from kvviz.text import Message
from kvviz.text import serving as text


def engine(*ranks: Rank, model: str = "one") -> Reading:
    return Reading(kind="vllm", identity=Identity(), models=(model,), ranks=ranks)


def rank(usage: float | None = 0.5, running: int | None = 4, capacity: int | None = 100) -> Rank:
    return Rank(name="", usage=usage, running=running, waiting=1, preemptions=0, capacity_tokens=capacity)


def by_figure(**readings: Reading) -> dict[str, Total]:
    return {total.figure: total for total in totals(readings)}


def test_engines_that_failed_are_not_counted() -> None:
    good = Look(reading=engine(rank()), read_s=99.0, problem=None)
    failed = replace(good, problem=Message(text.UNREACHABLE))
    looks = {
        "good": good,
        "failed": failed,
        "hangs": replace(good, problem=Message(text.SLOW, {"seconds": "10"})),
        "not looked at for an hour": replace(good, read_s=99.0 - 3_600),
        "never answered": Look(reading=None, read_s=0.0, problem=None),
    }
    assert list(answering(looks, now_s=100.0)) == ["good"]
    found = {total.figure: total.count for total in totals(answering(looks, now_s=100.0))}
    assert (found["running"], found["waiting"]) == (4, 1)


def test_what_all_report_is_added_up() -> None:
    found = by_figure(a=engine(rank(0.25, 3, capacity=100)), b=engine(rank(0.75, 5, capacity=300)))
    assert found["usage"] == Total(figure="usage", share=0.625)
    assert found["running"] == Total(figure="running", count=8)
    assert found["preemptions"] == Total(figure="preemptions", count=0)


def test_a_part_that_is_unknown_leaves_no_total_and_is_named() -> None:
    found = by_figure(a=engine(rank()), b=engine(rank(running=None)))
    assert found["running"] == Total(figure="running", why="not reported", of=("b",))
    assert found["waiting"].count == 2
    part = by_figure(a=engine(rank(), rank(usage=None)))
    assert part["usage"] == Total(figure="usage", why="not reported", of=("a",))


def test_shares_are_weighed_or_not_given() -> None:
    found = by_figure(a=engine(rank()), b=engine(rank(0.25, capacity=None), rank(0.35, capacity=None)))
    assert found["usage"] == Total(figure="usage", why="no capacity", of=("b",))
    unlike = by_figure(a=engine(rank()), b=engine(rank(), model="other"))
    assert unlike["usage"] == Total(figure="usage", why="unlike")
    assert unlike["running"].count == 8


def test_where_none_answers_nothing_is_added_up() -> None:
    assert {(total.share, total.count) for total in totals({})} == {(None, None)}
