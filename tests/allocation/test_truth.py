"""Step for step and digit for digit what vLLM's own manager, and independent simulators, recorded."""

import json
from pathlib import Path
from typing import Any

import pytest

from kvviz.allocation.blocks import BlockPool
from kvviz.allocation.prefix import parallel_samples_saved, replay_prefixes
from kvviz.allocation.replay import Snapshot, replay
from kvviz.allocation.simulate import Contiguous, Paged, Pool, simulate, summarise
from kvviz.allocation.workload import Request, Trace, load_trace

DATA = Path(__file__).parents[1] / "data" / "alloc"


def known(name: str) -> Any:  # noqa: ANN401 - JSON
    """A file of recorded results."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def requests(rows: list[dict[str, Any]]) -> list[Request]:
    """Requests as the recorded runs write them."""
    return [
        Request(
            prompt_tokens=row["prompt_len"],
            output_tokens=row["output_len"],
            arrival_step=row["arrival"],
            block_ids=tuple(row.get("hash_ids", ())),
        )
        for row in rows
    ]


def pool_of(row: dict[str, Any], max_tokens: int) -> Pool:
    """The pool a recorded run had."""
    if row["allocator"] == "paged":
        watermark = row.get("watermark_blocks", 0)
        return Paged(pool_tokens=row["pool"], block_tokens=row["block"], watermark_blocks=watermark)
    return Contiguous(pool_tokens=row["pool"], max_tokens=max_tokens, reserve=row["reserve"], place=row["place"])


def played(asked: list[Request], pool: Pool) -> list[Snapshot]:
    """All steps."""
    return list(replay(simulate(asked, pool), pool))


SMALL = known("small.json")
CASES = known("vllm_cases.json")
SHARES = known("truth_alloc.json")["workloads"]
PREFIX = known("truth_prefix.json")
BUNDLED = {
    "sharegpt_paperlike": "sharegpt",
    "sharegpt_first_turn": "sharegpt-first-turn",
    "azure2023_conv": "azure-conversation",
}


@pytest.fixture(scope="module")
def traces() -> dict[str, Trace]:
    """The traces the recorded shares were measured on."""
    return {name: load_trace(bundled) for name, bundled in BUNDLED.items()}


def named(run: dict[str, Any]) -> str:
    """A run as a test is called."""
    return "-".join(str(run[key]) for key in ("allocator", "reserve", "place", "block") if key in run)


@pytest.mark.parametrize("run", SMALL["runs"], ids=named)
def test_every_step_of_the_small_example(run: dict[str, Any]) -> None:
    asked, pool = requests(SMALL["requests"]), pool_of(run, run.get("max_len", 0))
    assert [snapshot.row(pool) for snapshot in played(asked, pool)] == run["per_step"]
    summary = summarise(asked, pool).summary()
    assert {name: summary[name] for name in run["summary"]} == run["summary"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"block {c['block']}, caching {c['caching']}")
def test_every_step_that_vllm_recorded(case: dict[str, Any]) -> None:
    asked = requests(case["requests"])
    pool = Paged(pool_tokens=case["blocks"] * case["block"], block_tokens=case["block"], caching=case["caching"])
    assert [list(snapshot.row(pool).values()) for snapshot in played(asked, pool)] == case["steps"]
    summary = summarise(asked, pool).summary()
    assert {name: summary[name] for name in case["summary"]} == pytest.approx(case["summary"], abs=5.1e-7)


def test_shares_on_whole_traces(traces: dict[str, Trace]) -> None:
    rows = [(name, work["max_len"], row) for name, work in SHARES.items() for row in work["rows"]]
    assert len(rows) > 40
    for name, max_tokens, row in rows:
        if row.get("block", 16) == 1 and name != "sharegpt_paperlike":
            continue  # a block a token is the slowest by far
        summary = summarise(traces[name].requests, pool_of(row, max_tokens)).summary()
        assert {key: summary[key] for key in row} == row, name


def test_hit_ratios_at_every_capacity() -> None:
    asked = load_trace("mooncake-conversation").requests
    assert len(PREFIX) > 70
    for key, expected in PREFIX.items():
        capacity, order, what = key.split("|")
        found = replay_prefixes(
            asked,
            None if capacity == "inf" else int(capacity),
            order=order,
            cached="all" if what == "with_output" else "prompt",
        )
        ratios = {name: round(getattr(found, name), 5) for name in ("block", "full", "token", "vllm", "request")}
        assert ratios | {"evictions": found.evictions, "distinct": found.resident_blocks} == expected, key


def test_what_parallel_samples_save(traces: dict[str, Trace]) -> None:
    sharing = known("truth_sharing.json")
    for name, by_samples in sharing["sim"].items():
        for samples, expected in by_samples.items():
            assert round(parallel_samples_saved(traces[name].requests, int(samples)), 4) == expected
    low, high = sharing["paper_sharegpt_range"]
    assert low - 0.001 < sharing["sim"]["sharegpt_paperlike"]["2"] < high


# --- vLLM's two documented lessons -----------------------------------------------------------------------------------


def test_the_lesson_on_prefix_caching() -> None:
    """Blocks of 4, ten of them: a hit is a whole block, and what is used again leaves the free queue."""
    shared = (0, 1, 2)
    asked = [
        Request(prompt_tokens=15, output_tokens=4, block_ids=shared),
        Request(prompt_tokens=14, output_tokens=2, arrival_step=3, block_ids=(0, 1, 7)),  # 10 tokens in common
        Request(prompt_tokens=29, output_tokens=1, arrival_step=6, block_ids=(*shared, 8, 9, 10, 11)),
    ]
    pool = Paged(pool_tokens=40, block_tokens=4, caching=True)
    steps = {snapshot.step: snapshot for snapshot in played(asked, pool)}
    assert steps[0].tables == {0: ((0, 1, 2, 3),)}
    assert steps[2].tables == {0: ((0, 1, 2, 3, 4),)}  # block 3 is full, decoding goes on in the next
    assert steps[3].tables[1] == ((0, 1, 5, 6),)
    assert steps[3].hit_tokens == 8
    assert steps[6].tables == {2: ((0, 1, 2, 7, 8, 9, 4, 3),)}
    assert steps[6].hit_tokens == 12
    assert [event.blocks for event in simulate(asked, pool) if event.kind == "evicted"] == [(3,)]


def test_the_free_queue_of_that_lesson() -> None:
    pool = BlockPool(10)
    first = pool.take(5)
    for block in first[:4]:
        pool.keep(block, f"content {block}")
    hits = pool.find(["content 0", "content 1", "something else"])
    pool.hold(hits)
    second = hits + pool.take(2)
    pool.give_back(first)
    assert pool.queue() == [7, 8, 9, 4, 3, 2]
    assert [pool.references(block) for block in range(10)] == [1, 1, 0, 0, 0, 1, 1, 0, 0, 0]
    pool.give_back(second)
    assert pool.queue() == [7, 8, 9, 4, 3, 2, 6, 5, 1, 0]
    pool.hold([0, 1, 2])
    assert pool.queue() == [7, 8, 9, 4, 3, 6, 5]


def test_the_free_queue_since_vllm_0_12() -> None:
    """Blocks without a content go to the head, the last block of the request first."""
    pool = BlockPool(10, unhashed_first=True)
    blocks = pool.take(5)
    for block in blocks[:3]:
        pool.keep(block, block)
    pool.give_back(blocks)
    assert pool.queue() == [4, 3, 5, 6, 7, 8, 9, 2, 1, 0]
    assert pool.take(3) == [4, 3, 5]


def test_the_lesson_on_hybrid_models() -> None:
    """112 tokens in blocks of 16: seven blocks for full attention, two for each of two groups with a window of 32."""
    pool = Paged(pool_tokens=16 * 16, block_tokens=16, windows=(None, 32, 32))
    asked = [Request(prompt_tokens=112, output_tokens=20)]
    steps = played(asked, pool)
    assert steps[0].tables == {0: (tuple(range(7)), (7, 8), (9, 10))}
    assert steps[0].allocated_blocks == 11
    # The next token needs a block in each group, and 81 // 16 blocks are out of the window: as many as before.
    assert [len(table) for table in steps[1].tables[0]] == [8, 3, 3]
    assert [len(table) for table in steps[16].tables[0]] == [8, 2, 2]
    assert all(step.free_blocks + step.allocated_blocks == pool.blocks for step in steps)
