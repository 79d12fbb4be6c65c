"""Traces of requests with something changed: rows cut off, numbers that are none, the three forms mixed up.

What is read is counted here once more, by other means: no row is lost, doubled or taken for another without a word.
"""

import csv
import io
import json
import random
from typing import Any

from kvviz.allocation.simulate import Paged, simulate
from kvviz.allocation.workload import Request, Trace, read_trace
from kvviz.core.errors import KvvizError
from tests.fuzz.values import near, scrambled, strange
from tests.fuzz.watch import Watch, hold

Row = dict[str, Any]

# --- the cases -------------------------------------------------------------------------------------------------------


def rows_of(chance: random.Random, names: tuple[str, str, str], ids: bool) -> list[Row]:
    """Requests, some of them with a value that is none."""
    rows: list[Row] = []
    time = 0
    for _ in range(chance.choice((1, 2, 5, 30, 200))):
        prompt, output, when = names
        time += chance.randrange(50)
        row: Row = {when: time, prompt: chance.randrange(1, 3_000), output: chance.randrange(1, 400)}
        if ids:
            row["hash_ids"] = [chance.randrange(40) for _ in range(chance.randrange(-(-row[prompt] // 512) + 1))]
        rows.append(row)
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        row = chance.choice(rows)
        name = chance.choice(list(row))
        match chance.randrange(5):
            case 0:
                row.pop(name)
            case 1:
                row[name] = strange(chance)
            case 2 if isinstance(row[name], int):
                row[name] = near(chance, row[name])
            case 3:
                row[name] = str(row[name])
            case _:
                row[f"{name} "] = row.pop(name)
    return rows


def written(chance: random.Random) -> bytes:
    """A file in one of the three forms."""
    try:
        match chance.randrange(3):
            case 0:
                rows = rows_of(chance, ("prompt_tokens", "output_tokens", "t_s"), ids=False)
                file = io.StringIO(newline="")
                names = ["prompt_tokens", "output_tokens", *(["t_s"] if chance.random() < 0.5 else [])]
                writer = csv.DictWriter(file, chance.choice((names, names[::-1])), extrasaction="ignore", restval="")
                writer.writeheader()
                writer.writerows(rows)
                return file.getvalue().encode(errors="replace")
            case 1:
                rows = rows_of(chance, ("input_length", "output_length", "timestamp"), ids=True)
                return "\n".join(map(json.dumps, rows)).encode(errors="replace")
            case _:
                rows = rows_of(chance, ("prompt_len", "output_len", "arrival"), ids=chance.random() < 0.5)
                return json.dumps({"requests": rows}, indent=chance.choice((None, 1))).encode(errors="replace")
    except (ValueError, RecursionError):  # a number of 5,000 digits has no text
        return b'{"requests": [[' + b"9" * 5_000 + b"]]}"


def one(chance: random.Random, watch: Watch) -> str:
    """One file; says what came of it."""
    raw = written(chance)
    if chance.random() < 0.4:
        raw = scrambled(chance, raw)
    return read(raw, watch)


# --- what must hold --------------------------------------------------------------------------------------------------


def read(raw: bytes, watch: Watch) -> str:
    """As the Blocks page reads an uploaded file, and plays the start of it."""
    try:
        trace = watch.ask(lambda: read_trace(io.BytesIO(raw), name="own", limit=1_000))
    except KvvizError:
        return "refused"
    for request in trace.requests:
        hold(0 <= request.prompt_tokens <= 1 << 24 and 0 <= request.output_tokens <= 1 << 24, "a request of no size")
    hold(len(trace.times) in (0, len(trace.requests)), "some requests have a time")
    counted(raw, trace)
    few = trace.requests[:8]
    if sum(request.prompt_tokens + request.output_tokens for request in few) > 30_000:
        return "not played"
    try:
        watch.ask(play, few)
    except KvvizError:
        return "not played"
    return "played"


def play(requests: tuple[Request, ...]) -> int:
    """On a pool that is small for them."""
    return sum(1 for _ in simulate(requests, Paged(pool_tokens=8_192, block_tokens=16)))


def counted(raw: bytes, trace: Trace) -> None:
    """Requests and tokens, counted from the file itself where its form leaves no doubt."""
    text = raw.decode("utf-8-sig")
    rows: list[Row]
    names = ("prompt_tokens", "output_tokens")
    if text.lstrip()[:1] in ("{", "["):
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError):
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
            names = ("input_length", "output_length")
        else:
            one_row = "requests" not in whole
            rows = [whole] if one_row else whole["requests"]
            names = ("input_length", "output_length") if one_row else ("prompt_len", "output_len")
    else:
        if '"' in text or "\r" in text.replace("\r\n", ""):
            return  # where rows end is a matter of taste
        lines = [line for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
        heads = [head.strip() for head in lines[0].split(",")]
        if len(set(heads)) < len(heads):
            return
        rows = [dict(zip(heads, line.split(","), strict=False)) for line in lines[1:]]
    hold(len(rows) == len(trace.requests), f"{len(rows)} requests are read as {len(trace.requests)}")
    for name, attribute in zip(names, ("prompt_tokens", "output_tokens"), strict=True):
        expected = sum(int(row[name]) for row in rows)
        found = sum(getattr(request, attribute) for request in trace.requests)
        hold(expected == found, f"{name}: {expected} tokens are read as {found}")
