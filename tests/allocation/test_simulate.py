"""What must hold for any requests and any pool, and that the fast allocator does what the plain one does."""

import itertools
import json
import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvviz.allocation.contiguous import PLACES, RESERVES, memory, power_of_two
from kvviz.allocation.replay import LETTERS, events_json, replay
from kvviz.allocation.simulate import NOBODY, Contiguous, Event, Paged, Pool, PoolError, progress, simulate, summarise
from kvviz.allocation.workload import (
    TEACHING,
    TEACHING_BLOCK_TOKENS,
    TEACHING_MAX_TOKENS,
    TEACHING_POOL_TOKENS,
    Generator,
    Request,
    TraceError,
)
from tests.allocation import plain


def workload(seed: int) -> tuple[list[Request], Paged]:
    """Requests that share beginnings, and a pool that each of them fits into."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    size, blocks = chance.choice([1, 2, 3, 4, 8, 16]), chance.randint(3, 40)
    watermark = chance.choice([0, 0, 0, 1])
    pool = Paged(
        pool_tokens=blocks * size + chance.randint(0, size - 1),
        block_tokens=size,
        caching=chance.random() < 0.6,
        watermark_blocks=watermark,
        unhashed_first=chance.random() < 0.5,
    )
    asked = []
    for index in range(chance.randint(0, 25)):
        most = (blocks - watermark) * size
        prompt = chance.randint(1, max(1, min(most - 1, chance.choice([most, 8 * size]))))
        output = chance.randint(1, max(1, min(30, most - prompt + 1)))
        if prompt + output - 1 > most:
            continue
        shared, family = chance.randint(0, prompt // size), chance.randint(0, 2) * 1000
        own = range(10_000 + index * 100, 10_000 + index * 100 + prompt // size - shared)
        ids = (*range(family, family + shared), *own) if chance.random() < 0.8 else ()
        arrival = chance.choice([0, chance.randint(0, 40)])
        asked.append(Request(prompt_tokens=prompt, output_tokens=output, arrival_step=arrival, block_ids=ids))
    return asked, pool


def test_500_random_workloads_equal_the_plain_allocator_step_for_step() -> None:
    preemptions = hits = 0
    for seed in range(500):
        asked, pool = workload(seed)
        expected = plain.paged(
            asked,
            blocks=pool.blocks,
            size=pool.block_tokens,
            caching=pool.caching,
            watermark=pool.watermark_blocks,
            unhashed_first=pool.unhashed_first,
        )
        snapshots = list(replay(simulate(asked, pool), pool))
        assert [list(snapshot.row(pool).values()) for snapshot in snapshots] == expected.rows, seed
        tables = [{request: tuple(t[0]) for request, t in snapshot.tables.items()} for snapshot in snapshots]
        assert tables == expected.tables, seed
        totals = summarise(asked, pool)
        assert (totals.steps, totals.saturated_steps) == (expected.steps, expected.saturated), seed
        assert (totals.token_sum, totals.allocated_sum) == (expected.token_sum, expected.allocated_sum), seed
        assert (totals.running_sum, totals.peak_running) == (expected.running_sum, expected.peak_running), seed
        assert (totals.internal_sum, totals.preemptions) == (expected.internal_sum, expected.preemptions), seed
        reserved = totals.requested_sum - totals.token_sum - totals.internal_sum
        assert reserved == expected.reserved_sum, seed
        preemptions += totals.preemptions
        hits += totals.prompt_tokens_hit
    assert preemptions > 500
    assert hits > 500


# --- properties ------------------------------------------------------------------------------------------------------

REQUESTS = st.lists(
    st.builds(
        lambda prompt, output, arrival, shared: Request(
            prompt_tokens=prompt,
            output_tokens=output,
            arrival_step=arrival,
            block_ids=tuple(range(shared)),
        ),
        st.integers(0, 60),
        st.integers(0, 40),
        st.integers(0, 30),
        st.integers(0, 12),
    ),
    max_size=14,
)
PAGED = st.builds(
    Paged,
    pool_tokens=st.integers(16, 160),
    block_tokens=st.integers(1, 16),
    caching=st.booleans(),
    watermark_blocks=st.integers(0, 1),
    unhashed_first=st.booleans(),
)
WINDOWED = st.builds(
    Paged,
    pool_tokens=st.integers(16, 160),
    block_tokens=st.integers(1, 16),
    windows=st.lists(st.none() | st.integers(1, 40), min_size=1, max_size=3).map(tuple),
    unhashed_first=st.booleans(),
)
CONTIGUOUS = st.builds(
    Contiguous,
    pool_tokens=st.integers(16, 400),
    max_tokens=st.integers(1, 120),
    reserve=st.sampled_from(RESERVES),
    place=st.sampled_from(PLACES),
)
POOLS = PAGED | WINDOWED | CONTIGUOUS


@given(REQUESTS, POOLS)
def test_used_and_free_are_the_pool_at_every_step(asked: list[Request], pool: Pool) -> None:
    paged = isinstance(pool, Paged)
    whole = pool.blocks if isinstance(pool, Paged) else pool.pool_tokens
    for snapshot in replay(simulate(asked, pool), pool):
        assert snapshot.allocated_blocks + snapshot.free_blocks == whole
        assert min(snapshot.allocated_blocks, snapshot.free_blocks, snapshot.cached_blocks) >= 0
        assert min(snapshot.reserved_tokens, snapshot.internal_tokens, snapshot.external_tokens) >= 0
        assert snapshot.largest_hole_tokens <= pool.pool_tokens
        held = [block for tables in snapshot.tables.values() for table in tables for block in table]
        if not (paged and pool.caching):
            assert len(held) == len(set(held))
        if paged:
            assert len(set(held)) == snapshot.allocated_blocks
            assert all(0 <= block < whole for block in held)


@given(REQUESTS, POOLS)
def test_everybody_is_served_or_refused_and_leaves_the_pool_empty(asked: list[Request], pool: Pool) -> None:
    events = list(simulate(asked, pool))
    ended = [event.request for event in events if event.kind in ("finished", "never_admissible")]
    assert sorted(ended) == list(range(len(asked)))
    totals = summarise(asked, pool)
    assert totals.finished + totals.never_admissible + totals.nothing_to_do == len(asked)
    held: dict[tuple[int, int], int] = {}
    for event in events:
        if event.kind in ("allocated", "prefix_hit"):
            held[event.request, event.group] = held.get((event.request, event.group), 0) + len(event.blocks)
        elif event.kind == "left_window":
            held[event.request, event.group] -= len(event.blocks)
        elif event.kind in ("preempted", "finished"):
            held = {key: count for key, count in held.items() if key[0] != event.request}
    assert held == {}


@given(REQUESTS, POOLS)
def test_the_figures_are_those_of_the_steps(asked: list[Request], pool: Pool) -> None:
    snapshots = list(replay(simulate(asked, pool), pool))
    waiting = [snapshot for snapshot in snapshots if snapshot.waiting]
    totals = summarise(asked, pool)
    assert (totals.steps, totals.saturated_steps) == (len(snapshots), len(waiting))
    assert totals.preemptions == sum(len(snapshot.preempted) for snapshot in snapshots)
    assert totals.prompt_tokens_hit == sum(snapshot.hit_tokens for snapshot in snapshots)
    if waiting:
        whole = len(waiting) * pool.pool_tokens
        token, reserved, internal, external = totals.shares()
        assert reserved * whole == pytest.approx(sum(snapshot.reserved_tokens for snapshot in waiting))
        assert internal * whole == pytest.approx(sum(snapshot.internal_tokens for snapshot in waiting))
        assert external * whole == pytest.approx(sum(snapshot.external_tokens for snapshot in waiting))
        assert token + reserved + internal + external == pytest.approx(1)
    assert summarise(asked, pool) == totals
    assert list(simulate(asked, pool)) == list(simulate(asked, pool))


@given(REQUESTS, PAGED.filter(lambda pool: pool.caching))
def test_an_evicted_block_is_in_no_running_request(asked: list[Request], pool: Paged) -> None:
    tables: dict[int, list[int]] = {}
    for event in simulate(asked, pool):
        if event.kind == "evicted":
            assert not {block for table in tables.values() for block in table} & set(event.blocks)
        elif event.kind in ("allocated", "prefix_hit"):
            tables.setdefault(event.request, []).extend(event.blocks)
        elif event.kind in ("preempted", "finished"):
            del tables[event.request]


@given(REQUESTS, st.integers(1, 16))
def test_sharing_never_raises_the_peak(asked: list[Request], size: int) -> None:
    ample = Paged(pool_tokens=4096, block_tokens=size)
    shared = replace(ample, caching=True)
    peaks = [
        max((snapshot.allocated_blocks for snapshot in replay(simulate(asked, pool), pool)), default=0)
        for pool in (shared, ample)
    ]
    assert peaks[0] <= peaks[1]


@given(REQUESTS, PAGED)
def test_paged_waste_is_less_than_a_block_a_request(asked: list[Request], pool: Paged) -> None:
    for snapshot in replay(simulate(asked, pool), pool):
        waste = snapshot.reserved_tokens + snapshot.internal_tokens
        assert waste <= len(snapshot.tables) * (pool.block_tokens - 1)


@given(st.sampled_from(PLACES), st.integers(1, 300), st.data())
@settings(max_examples=50)
def test_chunks_never_overlap_and_come_back_whole(place: str, slots: int, data: st.DataObject) -> None:
    space = memory(place, slots)  # type: ignore[arg-type]
    whole = list(space.holes())
    taken: list[tuple[int, int]] = []
    for _ in range(data.draw(st.integers(0, 20))):
        if taken and data.draw(st.booleans()):
            space.give_back(*taken.pop(data.draw(st.integers(0, len(taken) - 1))))
            continue
        chunk = space.chunk(data.draw(st.integers(1, slots)))
        start = space.take(chunk)
        if start is not None:
            taken.append((start, chunk))
        if place != "ideal":
            ranges = sorted([*taken, *space.holes()])
            assert all(a + length <= b for (a, length), (b, _) in itertools.pairwise(ranges))
        assert sum(size for _, size in [*taken, *space.holes()]) == slots
    for one in taken:
        space.give_back(*one)
    assert list(space.holes()) == whole


def test_powers_of_two() -> None:
    assert [power_of_two(count) for count in (1, 2, 3, 4, 5, 1024, 1025)] == [1, 2, 4, 4, 8, 1024, 2048]


# --- the set for squared paper ---------------------------------------------------------------------------------------


def test_the_teaching_set_ends_three_to_six() -> None:
    paged = Paged(pool_tokens=TEACHING_POOL_TOKENS, block_tokens=TEACHING_BLOCK_TOKENS)
    contiguous = Contiguous(pool_tokens=TEACHING_POOL_TOKENS, max_tokens=TEACHING_MAX_TOKENS, place="firstfit")
    steps = list(replay(simulate(TEACHING.requests, paged), paged))
    assert len(steps[0].tables) == 6
    assert sum(len(step.preempted) for step in steps) == 1
    assert min(step.free_blocks for step in steps) == 0
    rows = list(replay(simulate(TEACHING.requests, contiguous), contiguous))
    assert max(len(row.tables) for row in rows) == 3
    assert sum(len(row.finished) for row in rows if row.step < len(steps)) == 3
    assert sum(len(step.finished) for step in steps) == 6


# --- bad input, bounds, streams --------------------------------------------------------------------------------------


def test_a_pool_that_cannot_be() -> None:
    with pytest.raises(PoolError, match="block of 32 tokens is larger than the pool of 16"):
        Paged(pool_tokens=16, block_tokens=32)
    for wrong in ({"pool_tokens": 0}, {"pool_tokens": 1 << 40}, {"pool_tokens": 64, "block_tokens": 0}):
        with pytest.raises(PoolError, match="whole number"):
            Paged(**wrong)
    with pytest.raises(PoolError, match="watermark_blocks"):
        Paged(pool_tokens=64, watermark_blocks=5)
    with pytest.raises(PoolError, match="full attention only"):
        Paged(pool_tokens=64, caching=True, windows=(None, 32))
    with pytest.raises(PoolError, match="at least one group"):
        Paged(pool_tokens=64, windows=())
    with pytest.raises(PoolError, match="max_tokens"):
        Contiguous(pool_tokens=64, max_tokens=0)


@pytest.mark.parametrize(
    "pool",
    [
        Paged(pool_tokens=64, block_tokens=4),
        Paged(pool_tokens=64, block_tokens=4, caching=True, watermark_blocks=2),
        *(Contiguous(pool_tokens=64, max_tokens=60, reserve=r, place=p) for r in RESERVES for p in PLACES),
    ],
    ids=str,
)
def test_what_can_never_be_admitted_is_reported_and_holds_nobody_up(pool: Pool) -> None:
    asked = [
        Request(prompt_tokens=100, output_tokens=5),
        Request(prompt_tokens=5, output_tokens=100),
        Request(prompt_tokens=5, output_tokens=5),
        Request(prompt_tokens=5, output_tokens=0),
        Request(prompt_tokens=0, output_tokens=5),
    ]
    totals = summarise(asked, pool)
    assert (totals.finished, totals.never_admissible, totals.nothing_to_do) == (1, 2, 2)
    assert totals.never_admissible_first == [0, 1]


def test_a_request_that_outgrows_the_watermark_is_given_up_not_tried_for_ever() -> None:
    pool = Paged(pool_tokens=16, block_tokens=1, watermark_blocks=6)
    asked = [Request(prompt_tokens=5, output_tokens=11), Request(prompt_tokens=3, output_tokens=13)]
    totals = summarise(asked, pool)
    assert totals.finished + totals.never_admissible == 2


def test_nothing_asked_nothing_done() -> None:
    pool = Paged(pool_tokens=64)
    assert list(simulate([], pool)) == []
    assert list(replay([], pool)) == []
    assert summarise([], pool).steps == 0


def test_requests_out_of_order_are_sorted_where_they_can_be() -> None:
    late, early = Request(prompt_tokens=4, output_tokens=2, arrival_step=5), Request(prompt_tokens=4, output_tokens=2)
    pool = Paged(pool_tokens=64)
    assert [e.request for e in simulate([late, early], pool) if e.kind == "arrived"] == [1, 0]
    with pytest.raises(TraceError, match="sort the requests"):
        summarise(iter([late, early]), pool)


def test_memory_grows_with_the_pool_and_not_with_the_trace() -> None:
    pool = Paged(pool_tokens=16_384)

    def peak_bytes(requests: int) -> int:
        made_up = Generator(seed=1, requests=requests, prompt_tokens=100, output_tokens=5, max_tokens=1000)
        tracemalloc.start()
        assert summarise(made_up, pool).finished == requests
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    peak_bytes(100)
    assert peak_bytes(30_000) < 2 * peak_bytes(3_000)


def test_a_simulation_is_lazy_shows_progress_and_can_be_left() -> None:
    endless = (Request(prompt_tokens=40, output_tokens=20) for _ in itertools.count())
    pool = Paged(pool_tokens=1024)
    assert len(list(itertools.islice(simulate(iter([Request(prompt_tokens=1, output_tokens=1)] * 9), pool), 3))) == 3
    seen = [totals.finished for totals in itertools.islice(progress(endless, pool), 3)]
    assert seen == sorted(set(seen))


def test_the_compact_events_are_small_and_lose_nothing() -> None:
    made_up = Generator(seed=7, requests=400, prompt_tokens=200, output_tokens=120, max_tokens=2048)
    pool = Paged(pool_tokens=2048 * 16)
    events = list(itertools.takewhile(lambda event: event.step < 300, simulate(made_up, pool)))
    assert events[-1].step > 290
    compact = list(events_json(events))
    assert len(json.dumps(compact, separators=(",", ":"))) < 150_000
    assert list(read_back(compact)) == [replace(event, blocks=tuple(event.blocks)) for event in events]


KINDS = {letter: kind for kind, letter in LETTERS.items()}


def read_back(compact: list[list[Any]]) -> Iterator[Event]:
    """What a browser makes of the compact form."""
    for step, *of_step in compact:
        for letter, *rest in of_step:
            kind = KINDS[letter]
            if kind == "arrived":
                yield Event(step, kind, rest[0], (), rest[1], rest[2])
                continue
            request, tokens, runs, group = (
                (NOBODY, 0, rest[0], 0) if kind == "evicted" else (*rest, *(0, [], 0)[len(rest) - 1 :])
            )
            blocks = (range(run[0], run[0] + run[1]) if isinstance(run, list) else [run] for run in runs)
            yield Event(step, kind, request, tuple(itertools.chain.from_iterable(blocks)), tokens, 0, group)


@given(REQUESTS, POOLS)
def test_a_browser_reads_the_same_events(asked: list[Request], pool: Pool) -> None:
    events = list(simulate(asked, pool))
    sent = json.loads(json.dumps(list(events_json(events))))
    assert list(read_back(sent)) == [replace(event, blocks=tuple(event.blocks)) for event in events]
