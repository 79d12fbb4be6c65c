"""What is asked of the pool: recorded traces, seeded generators, and a set small enough to work out on paper.

A trace is a CSV file with the columns ``prompt_tokens``, ``output_tokens`` and, if there are times, ``t_s``; or JSON
lines as Mooncake publishes them (``input_length``, ``output_length``, ``timestamp`` in ms and ``hash_ids``, of 512
tokens each unless another size is given); or one JSON object ``{"requests": [{"arrival", "prompt_len", "output_len",
"hash_ids"}]}`` with arrivals in steps and ids of one block each.
"""

import csv
import gzip
import io
import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, Literal, TextIO

from kvviz.core.errors import KvvizError
from kvviz.core.units import format_count
from kvviz.text import Message
from kvviz.text import allocation as text

Arrival = Literal["saturated", "trace"]
ARRIVALS: Final[tuple[Arrival, ...]] = ("saturated", "trace")

MAX_REQUESTS: Final = 1_000_000
MAX_TOKENS: Final = 1 << 24
"""Of one request's prompt or output: more than any model can read."""
MAX_SECONDS: Final = 1e9
MOONCAKE_ID_TOKENS: Final = 512
"""What an id of a published Mooncake trace stands for."""
VISITOR_REQUESTS: Final = 100_000
"""Of a trace that a visitor uploads."""

_FOLDER: Final = Path(__file__).parents[1] / "data" / "traces"
_MAX_LINE: Final = 1 << 22
_MAX_JSON: Final = 1 << 28
BUNDLED: Final[Mapping[str, str]] = {
    "sharegpt": "sharegpt_paperlike.csv.gz",
    "sharegpt-first-turn": "sharegpt_first_turn.csv.gz",
    "azure-conversation": "azure2023_conv.csv.gz",
    "azure-code": "azure2023_code.csv.gz",
    "mooncake-conversation": "mooncake_conversation.jsonl.gz",
    "mooncake-synthetic": "mooncake_synthetic.jsonl.gz",
}
"""Traces that come with kvviz; where they are from: kvviz/data/traces/SOURCES.md."""


class TraceError(KvvizError):
    """A trace that cannot be read or is too large."""

    def __init__(self, message: Message) -> None:
        super().__init__(message, code="trace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request."""

    prompt_tokens: int
    output_tokens: int
    """Tokens to generate."""
    arrival_step: int = 0
    """Step at whose start it joins the queue."""
    block_ids: Sequence[int] = ()
    """What its prompt begins with, piece by piece: the same id stands for the same tokens after the same beginning."""
    blocks_per_id: int = 1
    """Blocks that one id stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Requests as a file tells them, all without arrival."""

    name: str
    requests: tuple[Request, ...]
    times: tuple[float, ...] = ()
    """When each arrives; empty where the file does not say."""
    unit: Literal["s", "step"] = "s"
    """Unit of ``times``."""
    id_tokens: int | None = None
    """Tokens an id of a prompt stands for, where the trace says so."""
    whole_ids: bool = False
    """Ids tell the whole of a prompt, as the published Mooncake traces do; else only what it begins with."""

    def arriving(self, arrival: Arrival, *, step_s: float = 0.05, block_tokens: int | None = None) -> Sequence[Request]:
        """The requests with their arrival, and with ids for blocks of ``block_tokens``."""
        steps: Iterable[int] = [0] * len(self.requests)
        if arrival == "trace":
            if not self.times:
                raise TraceError(Message(text.NO_TIMES, {"name": self.name}))
            steps = (math.floor(t / step_s) if self.unit == "s" else int(t) for t in self.times)
        per_id = 1
        if block_tokens is not None:
            size = self.id_tokens or block_tokens
            if self.whole_ids and not self.id_tokens and self._misfit(size) is not None:
                # One id a block it is not; then it is what such files usually have.
                size = MOONCAKE_ID_TOKENS if self._misfit(MOONCAKE_ID_TOKENS) is None else size
            self.check_ids(size)
            per_id, rest = divmod(size, block_tokens)
            if rest or not per_id:
                raise TraceError(Message(text.IDS_NOT_BLOCKS, {"ids": size, "block": block_tokens}))
        if arrival == "saturated" and per_id == 1:
            return self.requests
        pairs = zip(self.requests, steps, strict=True)
        return [replace(request, arrival_step=step, blocks_per_id=per_id) for request, step in pairs]

    def check_ids(self, id_tokens: int) -> None:
        """Refuse prompts whose ids cannot stand for so many tokens each."""
        if (place := self._misfit(id_tokens)) is not None:
            wrong = self.requests[place]
            values = {"size": format_count(id_tokens), "ids": format_count(len(wrong.block_ids))}
            values |= {"number": format_count(place + 1), "tokens": format_count(wrong.prompt_tokens)}
            raise TraceError(Message(text.IDS_DO_NOT_FIT, values))

    def _misfit(self, id_tokens: int) -> int | None:
        """Place of the first request with too many ids of so many tokens, or too few where they tell all of it."""
        for place, request in enumerate(self.requests):
            if ids := len(request.block_ids):
                full, rest = divmod(request.prompt_tokens, id_tokens)
                if ids > full + (rest > 0) or (self.whole_ids and ids < full):
                    return place
        return None


def load_trace(name_or_path: str, *, limit: int = MAX_REQUESTS) -> Trace:
    """A bundled trace by its name, or a file."""
    if name_or_path == TEACHING.name:
        return TEACHING
    if name_or_path in BUNDLED:
        with gzip.open(_FOLDER / BUNDLED[name_or_path]) as packed:
            trace = read_trace(packed, name=name_or_path, limit=limit)
        return replace(trace, id_tokens=MOONCAKE_ID_TOKENS) if trace.whole_ids else trace
    try:
        with Path(name_or_path).expanduser().open("rb") as file:
            return read_trace(file, name=Path(name_or_path).name, limit=limit)
    except (OSError, ValueError, RuntimeError) as error:  # a name with a NUL, "~" of nobody
        why = getattr(error, "strerror", None) or type(error).__name__
        values = {"path": name_or_path[:200], "why": why, "names": ", ".join([*BUNDLED, TEACHING.name])}
        raise TraceError(Message(text.UNREADABLE, values)) from None


def read_trace(file: BinaryIO | io.BufferedIOBase, *, name: str, limit: int = MAX_REQUESTS) -> Trace:
    """A trace in any of the three forms; raises ``TraceError`` with the line that is wrong."""
    lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")  # type: ignore[type-var]
    try:
        first = _line(lines, 1)
        if not first.lstrip().startswith(("{", "[")):
            return _read_csv(first, lines, name, limit)
        if _is_row(first):
            return _read_json_lines(first, lines, name, limit)
        return _read_json(first, lines, name, limit)
    except UnicodeDecodeError:
        raise TraceError(Message(text.NOT_TEXT, {"name": name})) from None
    finally:
        lines.detach()


def _line(lines: TextIO, number: int) -> str:
    line = lines.readline(_MAX_LINE)
    if len(line) == _MAX_LINE:
        raise TraceError(Message(text.LONG_LINE, {"line": number}))
    return line


def _numbered(first: str, lines: TextIO, limit: int, heads: int = 0) -> Iterator[tuple[int, str]]:
    """Lines that are not empty, with their numbers. One more than the limit, after ``heads`` of them, is an error."""
    number, line, rows = 1, first, -heads
    while line:
        if line.strip():
            rows += 1
            if rows > limit:
                raise TraceError(Message(text.TOO_MANY_ROWS, {"limit": format_count(limit)}))
            yield number, line
        number += 1
        line = _line(lines, number)


def _read_csv(first: str, lines: TextIO, name: str, limit: int) -> Trace:
    numbered = _numbered(first, lines, limit, heads=1)
    header = [column.strip() for column in next(csv.reader([next(numbered, (1, ""))[1]]), [])]
    missing = [column for column in ("prompt_tokens", "output_tokens") if column not in header]
    if missing:
        raise TraceError(Message(text.NO_COLUMN, {"columns": ", ".join(missing)}))
    prompt, output = header.index("prompt_tokens"), header.index("output_tokens")
    time = header.index("t_s") if "t_s" in header else None
    requests, times = [], []
    for number, line in numbered:
        try:
            cells = next(csv.reader([line], strict=True))
            request = Request(
                prompt_tokens=_count(cells[prompt], number, "prompt_tokens"),
                output_tokens=_count(cells[output], number, "output_tokens"),
            )
            if time is not None:
                times.append(_seconds(cells[time], number, "t_s"))
        except IndexError:
            raise TraceError(Message(text.SHORT_ROW, {"line": number, "columns": len(header)})) from None
        except csv.Error:
            raise TraceError(Message(text.NOT_CSV, {"line": number})) from None
        requests.append(request)
    return Trace(name=name, requests=_some(requests, name), times=tuple(times))


def _is_row(first: str) -> bool:
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and "requests" not in row


def _read_json_lines(first: str, lines: TextIO, name: str, limit: int) -> Trace:
    requests, times = [], []
    for number, line in _numbered(first, lines, limit):
        row = _parsed(line, number)
        if not isinstance(row, dict):
            raise TraceError(Message(text.NOT_JSON, {"line": number}))
        ids = _ids(row.get("hash_ids", []), number)
        request = Request(
            prompt_tokens=_count(row.get("input_length"), number, "input_length"),
            output_tokens=_count(row.get("output_length"), number, "output_length"),
            block_ids=ids,
        )
        if "timestamp" in row:
            times.append(_seconds(row["timestamp"], number, "timestamp") / 1000)
        requests.append(request)
    all_timed = tuple(times) if len(times) == len(requests) else ()
    return Trace(name=name, requests=_some(requests, name), times=all_timed, whole_ids=True)


def _read_json(first: str, lines: TextIO, name: str, limit: int) -> Trace:
    rest = lines.read(_MAX_JSON)
    if len(rest) == _MAX_JSON:
        raise TraceError(Message(text.TOO_MANY_ROWS, {"limit": format_count(limit)}))
    whole = _parsed(first + rest, 1)
    rows = whole.get("requests") if isinstance(whole, dict) else None
    if not isinstance(rows, list):
        raise TraceError(Message(text.NO_REQUESTS_LIST))
    if len(rows) > limit:
        raise TraceError(Message(text.TOO_MANY_ROWS, {"limit": format_count(limit)}))
    requests, times = [], []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise TraceError(Message(text.NOT_JSON, {"line": number}))
        requests.append(
            Request(
                prompt_tokens=_count(row.get("prompt_len"), number, "prompt_len"),
                output_tokens=_count(row.get("output_len"), number, "output_len"),
                block_ids=_ids(row.get("hash_ids") or [], number),
            )
        )
        times.append(_count(row.get("arrival", 0), number, "arrival"))
    return Trace(name=name, requests=_some(requests, name), times=tuple(times), unit="step")


def _some(requests: list[Request], name: str) -> tuple[Request, ...]:
    if not requests:
        raise TraceError(Message(text.EMPTY, {"name": name}))
    return tuple(requests)


def _parsed(line: str, number: int) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise TraceError(Message(text.NOT_JSON, {"line": number})) from None


def _count(value: object, line: int, field: str) -> int:
    if isinstance(value, str):
        written = value.strip()
        value = int(written) if written.removeprefix("-").isdecimal() and len(written) <= 12 else value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS:
        return value
    values = {"line": line, "field": field, "shown": _shown(value), "high": format_count(MAX_TOKENS)}
    raise TraceError(Message(text.NOT_A_COUNT, values))


def _seconds(value: object, line: int, field: str) -> float:
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if 0 <= number <= MAX_SECONDS * 1000:
        return number
    raise TraceError(Message(text.NOT_A_TIME, {"line": line, "field": field, "shown": _shown(value)}))


def _ids(value: object, line: int) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(one) is int for one in value):
        raise TraceError(Message(text.NOT_IDS, {"line": line}))
    return tuple(value)


def _shown(value: object) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(value)[:40])


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """Requests made up from a seed: lengths that fall off exponentially, arrivals at random."""

    seed: int
    requests: int
    prompt_tokens: int
    """Mean of the prompt's own part."""
    output_tokens: int
    """Mean."""
    max_tokens: int
    """Prompt and output together never exceed it."""
    shared_tokens: int = 0
    """A beginning that all prompts have in common."""
    per_step: float = 0
    """Arrivals a step; 0: all at the start."""
    block_tokens: int = 16
    """Blocks the shared beginning is told in."""

    def __post_init__(self) -> None:
        """Refuse what no request could be made from."""
        bounds = {
            "requests": (1, 10 * MAX_REQUESTS),
            "prompt_tokens": (1, MAX_TOKENS),
            "output_tokens": (1, MAX_TOKENS),
            "max_tokens": (2, 2 * MAX_TOKENS),
            "shared_tokens": (0, self.max_tokens - 2),
            "per_step": (0, 1000),
            "block_tokens": (1, MAX_TOKENS),
        }
        for field, (low, high) in bounds.items():
            value = getattr(self, field)
            if not low <= value <= high:
                values = {"field": field, "low": format_count(low), "high": format_count(high), "shown": value}
                raise TraceError(Message(text.OUT_OF_BOUNDS, values))

    def __iter__(self) -> Iterator[Request]:
        """The requests, one at a time, always the same."""
        chance = random.Random(self.seed)  # noqa: S311 - a seed that repeats is the point
        shared = range(self.shared_tokens // self.block_tokens)
        arrival = 0.0
        for _ in range(self.requests):
            room = self.max_tokens - self.shared_tokens
            prompt = min(room - 1, 1 + int(chance.expovariate(1 / self.prompt_tokens)))
            output = min(room - prompt, 1 + int(chance.expovariate(1 / self.output_tokens)))
            if self.per_step:
                arrival += chance.expovariate(self.per_step)
            yield Request(
                prompt_tokens=self.shared_tokens + prompt,
                output_tokens=output,
                arrival_step=int(arrival),
                block_ids=shared,
            )


TEACHING: Final = Trace(
    name="teaching",
    requests=tuple(
        Request(prompt_tokens=prompt, output_tokens=output)
        for prompt, output in ((7, 6), (10, 3), (6, 4), (10, 8), (7, 6), (8, 4))
    ),
)
"""Six requests for a pool of 64 slots in blocks of 4: small enough for squared paper."""
TEACHING_POOL_TOKENS: Final = 64
TEACHING_BLOCK_TOKENS: Final = 4
TEACHING_MAX_TOKENS: Final = 20
