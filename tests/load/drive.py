"""Visitors on both apps by turns, what their runs took, and how much memory the servers hold.

Both are processes of their own with the same settings, open at the same time and asked one after the other, so that
what else the machine does meets both. Milliseconds say something about the machine; the ratio says something about
kvviz.
"""

import asyncio
import contextlib
import itertools
import os
import random
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from tests.bench.twin import bare_app, counted, twin
from tests.browser.harness import STREAMLIT_RUN, Server, serve
from tests.load.visitor import PLACES, FaultError, Ran, Visitor, visiting

MIB = 2**20
MOST_GROWTH = 0.1
"""Of the memory held, over a soak."""
THINKS_S = 2.0
"""Between two changes of a visitor, from one start to the next, give or take a quarter."""
FORGETS_S = 5
"""After so long the servers of a soak forget who has left; by default it takes Streamlit two minutes."""


@dataclass(slots=True)
class Tally:
    """What the visitors of one app saw."""

    runs: dict[str, list[Ran]] = field(default_factory=lambda: {name: [] for name in PLACES})
    """By page."""
    faults: list[str] = field(default_factory=list)

    def milliseconds(self, name: str = "") -> list[float]:
        """Of one page, or of all."""
        return [ran.milliseconds for place, runs in self.runs.items() if name in ("", place) for ran in runs]

    def most_bytes(self, name: str) -> int:
        """That one run of this page was answered with."""
        return max((ran.received_bytes for ran in self.runs[name]), default=0)


def late(milliseconds: Sequence[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(milliseconds, n=20, method="inclusive")[-1]


@contextlib.contextmanager
def both_apps(*flags: str) -> Iterator[tuple[Server, Server]]:
    """kvviz and the bare app, served. Raises RuntimeError where they do not show as many elements of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        scripts = {name: twin(name) for name in PLACES}
        for name, script in scripts.items():
            counted(script, name)
        bare = bare_app(Path(folder), {PLACES[name].url_path: script for name, script in scripts.items()})
        with (
            serve(Path(folder, "kvviz.log"), (*STREAMLIT_RUN, *flags)) as ours,
            serve(Path(folder, "bare.log"), (*bare, *flags)) as other,
        ):
            yield ours, other


def memory_bytes(server: Server) -> int:
    """What the server's process holds of its own (Linux)."""
    found = re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{server.pid}/status").read_text())
    return 1024 * int(found[1]) if found else 0


def sessions(server: Server) -> int:
    """How many visitors the server knows of."""
    direct = build_opener(ProxyHandler({}))  # whatever proxies the environment names
    with direct.open(f"{server.url}/_stcore/metrics") as answer:
        found = re.search(r"^active_sessions (\d+)", answer.read().decode(), re.MULTILINE)
    return int(found[1]) if found else -1


def processor_s(server: Server) -> float:
    """Seconds of a processor that the server's process has taken: what else the machine does counts little (Linux)."""
    numbers = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def places() -> Iterator[str]:
    """Where the next visitor goes."""
    return itertools.cycle(PLACES)


async def crowd(server: Server, visitors: int, stack: contextlib.AsyncExitStack, tally: Tally) -> list[Visitor]:
    """So many visitors who have opened a page, one after the other."""
    come = []
    for seed, name in zip(range(visitors), places(), strict=False):
        try:
            come.append(await stack.enter_async_context(visiting(server.url, PLACES[name], seed)))
        except (FaultError, OSError) as fault:
            tally.faults.append(f"{name}: {fault}")
    return come


async def act(visitors: Sequence[Visitor], tally: Tally, *, seconds: float, thinks_s: float = THINKS_S) -> None:
    """All of them change settings, each at its own pace, for so long."""
    await asyncio.gather(*(_act(visitor, tally, seconds, thinks_s) for visitor in visitors))


async def _act(visitor: Visitor, tally: Tally, seconds: float, thinks_s: float) -> None:
    name = next(name for name, place in PLACES.items() if place is visitor.place)
    over = time.perf_counter() + seconds
    await asyncio.sleep(visitor.random.uniform(0, min(thinks_s, seconds)))
    while (begun := time.perf_counter()) < over:
        try:
            tally.runs[name].append(await visitor.change())
        except FaultError as fault:
            tally.faults.append(f"{name}: {fault}")
        await asyncio.sleep(begun + thinks_s * visitor.random.uniform(0.75, 1.25) - time.perf_counter())


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Of one app."""

    tally: Tally
    session_bytes: float
    """What the server holds more for each visitor."""
    processor_ms: float
    """That the server took for a run."""


async def measure(both: Sequence[Server], *, visitors: int, rounds: int, round_s: float) -> list[Measured]:
    """All visitors on one app, then on the other, and again."""
    tallies = [Tally() for _ in both]
    sessions, spent = [], [0.0 for _ in both]
    async with contextlib.AsyncExitStack() as stack:
        rooms = []
        for server, tally in zip(both, tallies, strict=True):
            async with contextlib.AsyncExitStack() as first:  # who pays for what is loaded once
                await act(await crowd(server, 3, first, tally), Tally(), seconds=3, thinks_s=0.2)
                before = memory_bytes(server)
            rooms.append(await crowd(server, visitors, stack, tally))
            await act(rooms[-1], Tally(), seconds=THINKS_S)
            sessions.append((memory_bytes(server) - before) / visitors)
        for _ in range(rounds):
            for number, (server, room) in enumerate(zip(both, rooms, strict=True)):
                begun = processor_s(server)
                await act(room, tallies[number], seconds=round_s)
                spent[number] += processor_s(server) - begun
    return [
        Measured(tally=tally, session_bytes=held, processor_ms=1000 * seconds / max(1, len(tally.milliseconds())))
        for tally, held, seconds in zip(tallies, sessions, spent, strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Soaked:
    """A server through which visitors came and went."""

    came: int
    tally: Tally
    memory: tuple[int, ...]
    """Bytes held, at even intervals."""

    @property
    def growth(self) -> float:
        """How much more is held in the last fifth of the time than in the second, as a share."""
        fifth = max(1, len(self.memory) // 5)
        before, after = self.memory[fifth : 2 * fifth], self.memory[-fifth:]
        return statistics.median(after) / statistics.median(before) - 1 if before else 0.0


async def soak(server: Server, *, visitors: int, seconds: float) -> Soaked:
    """Always about so many visitors, each of whom stays for a few changes and is followed by another."""
    tally, held, came = Tally(), [], itertools.count()
    over = time.perf_counter() + seconds
    every = random.Random(0)
    names = places()

    async def one_after_another() -> None:
        while time.perf_counter() < over:
            seed = next(came)
            with _faults(tally):
                async with visiting(server.url, PLACES[next(names)], seed) as visitor:
                    await act([visitor], tally, seconds=every.uniform(2, 10), thinks_s=1.0)

    async def watch() -> None:
        while time.perf_counter() < over:
            held.append(memory_bytes(server))
            await asyncio.sleep(max(0.5, seconds / 200))

    await asyncio.gather(watch(), *(one_after_another() for _ in range(visitors)))
    return Soaked(came=next(came), tally=tally, memory=tuple(held))


@contextlib.contextmanager
def _faults(tally: Tally) -> Iterator[None]:
    try:
        yield
    except (FaultError, OSError) as fault:
        tally.faults.append(str(fault))
