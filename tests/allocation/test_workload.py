"""Traces in their three forms, what is wrong with a file, and requests made up from a seed."""

import io
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kvviz.allocation.prefix import replay_prefixes
from kvviz.allocation.simulate import Paged, summarise
from kvviz.allocation.workload import (
    BUNDLED,
    Generator,
    Request,
    TraceError,
    load_trace,
    read_trace,
)
from tests.allocation import plain

CSV = b"t_s,model,prompt_tokens,output_tokens\n0.0,a,10,5\n0.1,b,20,7\n\n0.12,c,3,1\n"
JSONL = (
    b'{"timestamp": 0, "input_length": 1030, "output_length": 4, "hash_ids": [1, 2, 3]}\n'
    b'{"timestamp": 120, "input_length": 512, "output_length": 2, "hash_ids": [1]}\n'
)
JSON = b"""{"block": 8,
 "requests": [{"arrival": 3, "prompt_len": 17, "output_len": 4, "hash_ids": [5, 6, 7]},
              {"arrival": 0, "prompt_len": 2, "output_len": 1}]}"""


def test_csv_finds_its_columns_by_name() -> None:
    trace = read_trace(io.BytesIO(b"\xef\xbb\xbf" + CSV.replace(b"\n", b"\r\n")), name="x.csv")
    assert [(r.prompt_tokens, r.output_tokens) for r in trace.requests] == [(10, 5), (20, 7), (3, 1)]
    assert trace.times == (0.0, 0.1, 0.12)
    assert [r.arrival_step for r in trace.arriving("saturated")] == [0, 0, 0]
    assert [r.arrival_step for r in trace.arriving("trace")] == [0, 2, 2]
    assert [r.arrival_step for r in trace.arriving("trace", step_s=0.01)] == [0, 10, 12]


def test_json_lines_are_mooncakes() -> None:
    trace = read_trace(io.BytesIO(JSONL), name="x.jsonl")
    assert [r.block_ids for r in trace.requests] == [(1, 2, 3), (1,)]
    assert (trace.times, trace.id_tokens, trace.whole_ids) == ((0.0, 0.12), None, True)


def test_json_counts_in_steps_and_blocks() -> None:
    for written in (JSON, JSON.replace(b"\n", b" ")):
        trace = read_trace(io.BytesIO(written), name="x.json")
        assert [r.arrival_step for r in trace.arriving("trace", block_tokens=8)] == [3, 0]
        assert (trace.unit, trace.id_tokens) == ("step", None)
        with pytest.raises(TraceError, match="3 ids for 17 prompt tokens: they cannot stand for 16"):
            trace.arriving("trace", block_tokens=16)


def test_an_id_of_512_tokens_is_many_smaller_blocks() -> None:
    trace = read_trace(io.BytesIO(JSONL), name="x.jsonl")
    for block_tokens, hit in ((512, 0), (256, 256), (64, 448), (16, 496), (1, 511)):
        requests = trace.arriving("trace", block_tokens=block_tokens)
        totals = summarise(requests, Paged(pool_tokens=4096, block_tokens=block_tokens, caching=True))
        assert totals.prompt_tokens_hit == hit  # of 512 tokens that are known the last one is computed
    with pytest.raises(TraceError, match="stand for 512 tokens"):
        trace.arriving("saturated", block_tokens=48)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (b"", "has no column"),
        (b"prompt_tokens,output_tokens\n", "has no requests"),
        (b"prompt_tokens,answer\n1,2\n", "no column output_tokens"),
        (b"1,2\n3,4\n", "no column prompt_tokens, output_tokens"),
        (b"prompt_tokens,output_tokens\n1,2\nthree,4\n", "Line 3: prompt_tokens must be a whole number .* “three”"),
        (b"prompt_tokens,output_tokens\n1,-2\n", "Line 2: output_tokens .* “-2”"),
        (b"prompt_tokens,output_tokens\n1,2.5\n", "Line 2: output_tokens .* “2.5”"),
        (b"prompt_tokens,output_tokens\n1," + b"9" * 5000 + b"\n", "Line 2: output_tokens"),
        (b"prompt_tokens,output_tokens\n1\n", "Line 2 has fewer values"),
        (b'prompt_tokens,output_tokens\n"1,2\n', "Line 2 is not a line of CSV"),
        (b"t_s,prompt_tokens,output_tokens\n-1,1,2\n", "Line 2: t_s must be a time"),
        (b"t_s,prompt_tokens,output_tokens\nnan,1,2\n", "Line 2: t_s must be a time"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "is not UTF-8 text"),
        (b"x" * 5_000_000, "Line 1 is too long"),
        (b'{"input_length": 1, "output_length": true}\n', "Line 1: output_length"),
        (b'{"input_length": 1}\n', "Line 1: output_length"),
        (JSONL + b"[1]\n", "Line 3 is not a request"),
        (JSONL + b'{"input_length": 1, "output_length": 1, "hash_ids": [1.5]}\n', "Line 3: hash_ids"),
        (b"[" * 100_000, "Line 1 is not a request"),
        (b"[1, 2]", "no list of requests"),
        (b'{"requests": {}}', "no list of requests"),
        (b'{"requests": []}', "has no requests"),
        (b'{"requests": [7]}', "Line 1 is not a request"),
        (b'{"requests": [{"prompt_len": 1, "output_len": 1, "arrival": -1}]}', "Line 1: arrival"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(written: bytes, message: str) -> None:
    with pytest.raises(TraceError, match=message) as told:
        read_trace(io.BytesIO(written), name="x")
    assert "\n" not in str(told.value)
    assert told.value.message("ja") != told.value.message("en")


class Endless(io.RawIOBase):
    """A CSV of ten million rows that nobody wrote."""

    def __init__(self, rows: int) -> None:
        lines: Iterator[bytes] = itertools.repeat(b"10,20\n" * 1000, rows // 1000)
        self.parts = itertools.chain([b"prompt_tokens,output_tokens\n"], lines)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        part = next(self.parts, b"")
        buffer[: len(part)] = part
        return len(part)


def test_ten_million_rows_are_refused_before_they_are_read() -> None:
    start = time.process_time()
    with pytest.raises(TraceError, match="more than 20,000 requests"):
        read_trace(io.BufferedReader(Endless(10_000_000)), name="x.csv", limit=20_000)
    assert time.process_time() - start < 5


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (str(tmp_path / "none.csv"), str(tmp_path), "\0", "~nobody-of-that-name/x.csv"):
        with pytest.raises(TraceError, match="cannot be read"):
            load_trace(path)
    with pytest.raises(TraceError, match="does not say when"):
        load_trace("sharegpt").arriving("trace")


def test_the_bundled_traces() -> None:
    rows = {name: len(load_trace(name).requests) for name in BUNDLED}
    assert rows == {
        "sharegpt": 6_000,
        "sharegpt-first-turn": 5_498,
        "azure-conversation": 19_366,
        "azure-code": 8_819,
        "mooncake-conversation": 12_031,
        "mooncake-synthetic": 3_993,
    }


def test_a_seed_is_always_the_same_requests() -> None:
    made_up = Generator(
        seed=3, requests=2000, prompt_tokens=100, output_tokens=50, max_tokens=500, shared_tokens=64, per_step=0.5
    )
    requests = list(made_up)
    assert requests == list(made_up)
    assert requests != list(Generator(seed=4, requests=2000, prompt_tokens=100, output_tokens=50, max_tokens=500))
    assert all(r.prompt_tokens > 64 and r.output_tokens >= 1 for r in requests)
    assert all(r.prompt_tokens + r.output_tokens <= 500 for r in requests)
    assert [r.arrival_step for r in requests] == sorted(r.arrival_step for r in requests)
    assert 80 < sum(r.prompt_tokens for r in requests) / 2000 - 64 < 110
    assert tuple(requests[0].block_ids) == (0, 1, 2, 3)


# --- the replay of prefixes ------------------------------------------------------------------------------------------


def test_the_replay_equals_the_plain_one() -> None:
    requests = load_trace("mooncake-synthetic").requests
    for capacity in (None, 1, 7, 100, 2_000, 20_000):
        found = replay_prefixes(requests, capacity)
        expected = plain.prefix(requests, capacity)
        assert {name: getattr(found, name) for name in expected} == expected


def test_a_replay_needs_ids_and_room() -> None:
    with pytest.raises(TraceError, match="no block ids"):
        replay_prefixes(load_trace("sharegpt").requests, 10)
    with pytest.raises(TraceError, match="at least one block"):
        replay_prefixes([], 0)


def test_the_ids_of_every_mooncake_prompt_cover_it() -> None:
    for name in ("mooncake-conversation", "mooncake-synthetic"):
        for request in load_trace(name).requests:
            assert len(request.block_ids) == -(-request.prompt_tokens // 512)
            assert len(set(request.block_ids)) == len(request.block_ids)


def test_a_trace_written_out_is_read_back() -> None:
    rows = [{"arrival": 2, "prompt_len": 9, "output_len": 1, "hash_ids": []}]
    trace = read_trace(io.BytesIO(json.dumps({"requests": rows}).encode()), name="x")
    assert trace.arriving("trace", block_tokens=4) == [Request(prompt_tokens=9, output_tokens=1, arrival_step=2)]


def test_a_generator_refuses_what_cannot_be() -> None:
    fine = {"seed": 1, "requests": 5, "prompt_tokens": 10, "output_tokens": 10, "max_tokens": 100}
    assert len(list(Generator(**fine))) == 5
    for wrong in ({"requests": 0}, {"prompt_tokens": 0}, {"shared_tokens": 99}, {"per_step": -1}, {"max_tokens": 1}):
        with pytest.raises(TraceError, match=next(iter(wrong)) if "max_tokens" not in wrong else "tokens"):
            Generator(**{**fine, **wrong})
