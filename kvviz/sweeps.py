"""A whole trace on one memory after another: what each system makes of it, block sizes, pool sizes.

Long: every memory is a simulation of its own, which reports how far it is and stops when nobody asks on.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from time import sleep
from typing import Final

from kvviz.allocation.contiguous import RESERVES, Place, Reserve
from kvviz.allocation.simulate import Contiguous, Paged, Pool, Totals, progress, simulate
from kvviz.allocation.workload import Request

MAX_TOKENS: Final = 3_000_000
"""Of the requests that are looked at: seconds for each memory."""
BLOCK_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
POOL_SIZES: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Times the pool that was asked for."""
PAPER: Final = {"max": 0.204, "pow2": 0.268, "oracle": 0.382, "paged": 0.963}
"""Share of the memory with a token, of Orca (Max), Orca (Pow2), Orca (Oracle) and vLLM (SOSP'23, Fig. 2)."""
PAPER_SETTING: Final = ("sharegpt", 15_728, 16, 2_048, "buddy")
"""Trace, pool, block, longest request and placement with which that figure is reproduced."""
_EVENTS: Final = 20_000
"""Between two places to stop at."""
_POINTS: Final = 40
"""Of requests in memory over time: more would show the noise of single requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One memory, averaged over the steps in which a request waited; None where none ever did."""

    name: str
    token: float | None
    reserved: float | None
    internal: float | None
    external: float | None
    mean_running: float
    preemptions: int
    steps: int
    running: tuple[tuple[int, float], ...]
    """Requests in memory over time: first step of each of some equal spans, and their mean in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSize:
    """One size of block, and its price."""

    block_tokens: int
    token: float | None
    """Share of the pool with a token while requests waited; None where none ever did."""
    mean_running: float
    table_entries: float
    """Of a request's block table when it ends, on average."""
    computed_again_tokens: float
    """Of a shared beginning of any length: hits come in whole blocks, and the rest is computed again; on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSize:
    """One size of pool."""

    pool_tokens: int
    contiguous: float
    """Requests in memory on average, on contiguous memory."""
    paged: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All of it."""

    requests: int
    """Those looked at."""
    of: int
    """Those of the trace."""
    tokens: int
    reserve: Reserve
    """What contiguous memory of other pools reserves."""
    place: Place
    """How contiguous memory is placed."""
    systems: tuple[System, ...]
    blocks: tuple[BlockSize, ...]
    pools: tuple[PoolSize, ...]


def looked_at(requests: Sequence[Request]) -> Sequence[Request]:
    """As many of the trace, from its beginning, as one visitor may have simulated so often."""
    total = 0
    for place, request in enumerate(requests):
        total += request.prompt_tokens + request.output_tokens
        if total > MAX_TOKENS and place:
            return requests[:place]
    return requests


def study(
    requests: Sequence[Request],
    *,
    pool_tokens: int,
    block_tokens: int,
    max_tokens: int,
    reserve: Reserve,
    place: Place,
) -> Iterator[float | Study]:
    """How much of it is done, again and again, and at last the study itself. To cancel, stop asking."""
    of, requests = len(requests), looked_at(requests)
    named: list[tuple[str, Pool]] = [
        (name, Contiguous(pool_tokens=pool_tokens, max_tokens=max_tokens, reserve=name, place=place))
        for name in RESERVES
    ]
    named.append(("paged", Paged(pool_tokens=pool_tokens, block_tokens=block_tokens)))
    sizes = [size for size in BLOCK_SIZES if size <= pool_tokens]
    pools = [max(block_tokens, round(pool_tokens * times)) for times in POOL_SIZES]
    # Roughly what each takes: a simulation looks at each request once a block.
    costs = [1.0] * len(named) + [1 + 16 / size for size in sizes] + [1.5] * len(pools)
    whole, done = sum(costs), 0.0
    systems: list[System] = []
    blocks: list[BlockSize] = []
    counts: list[PoolSize] = []
    for number, cost in enumerate(costs):
        yield done / whole
        if number < len(named):
            systems.append((yield from _system(requests, *named[number], done / whole)))
        elif (nth := number - len(named)) < len(sizes):
            totals = yield from _totals(requests, Paged(pool_tokens=pool_tokens, block_tokens=sizes[nth]), done / whole)
            blocks.append(_block_size(requests, sizes[nth], totals))
        else:
            slots = pools[nth - len(sizes)]
            whole_request = Contiguous(pool_tokens=slots, max_tokens=max_tokens, reserve=reserve, place=place)
            one = yield from _totals(requests, whole_request, done / whole)
            other = yield from _totals(requests, Paged(pool_tokens=slots, block_tokens=block_tokens), done / whole)
            counts.append(PoolSize(pool_tokens=slots, contiguous=_mean(one), paged=_mean(other)))
        done += cost
    yield Study(
        requests=len(requests),
        of=of,
        tokens=sum(r.prompt_tokens + r.output_tokens for r in requests),
        reserve=reserve,
        place=place,
        systems=tuple(systems),
        blocks=tuple(blocks),
        pools=tuple(counts),
    )


class Underway:
    """A study that whoever asks next goes on with: who asked before may have been stopped, or be about to be."""

    def __init__(self, key: object, news: Iterator[float | Study]) -> None:
        self.key = key
        """What it is a study of."""
        self.done = 0.0
        """How much of it is done, of 1."""
        self.found: Study | None = None
        """What came of it."""
        self._news = news
        self._one_at_a_time = Lock()

    def go_on(self) -> bool:
        """A little further. Whether there is more to do."""
        with self._one_at_a_time:
            if self.found is None:
                news = next(self._news)
                if isinstance(news, Study):
                    self.found = news
                else:
                    self.done = news
        sleep(0.005)  # so that what is drawn is sent, and a press on the page heard, while this one computes
        return self.found is None


def _totals(requests: Sequence[Request], pool: Pool, done: float) -> Generator[float, None, Totals]:
    """What a simulation comes to; in between a place to stop at."""
    totals = Totals(pool=pool)
    for so_far in progress(requests, pool):
        totals = so_far
        yield done
    return totals


def _shares(totals: Totals) -> tuple[float, float, float, float] | tuple[None, None, None, None]:
    return totals.shares() if totals.saturated_steps else (None, None, None, None)


def _mean(totals: Totals) -> float:
    """Requests in memory while others waited; where none ever did, the most."""
    return totals.running_sum / totals.saturated_steps if totals.saturated_steps else float(totals.peak_running)


def _block_size(requests: Sequence[Request], size: int, totals: Totals) -> BlockSize:
    ends = [r.prompt_tokens + r.output_tokens - 1 for r in requests if r.prompt_tokens and r.output_tokens]
    return BlockSize(
        block_tokens=size,
        token=_shares(totals)[0],
        mean_running=_mean(totals),
        table_entries=sum(-(-tokens // size) for tokens in ends) / len(ends) if ends else 0.0,
        computed_again_tokens=(size - 1) / 2,
    )


def _system(requests: Sequence[Request], name: str, pool: Pool, done: float) -> Generator[float, None, System]:
    totals = yield from _totals(requests, pool, done)
    running = yield from _running(requests, pool, totals.step, done)
    token, reserved, internal, external = _shares(totals)
    return System(
        name=name,
        token=token,
        reserved=reserved,
        internal=internal,
        external=external,
        mean_running=_mean(totals),
        preemptions=totals.preemptions,
        steps=totals.steps,
        running=running,
    )


def _running(
    requests: Sequence[Request], pool: Pool, end: int, done: float
) -> Generator[float, None, tuple[tuple[int, float], ...]]:
    """Mean of the requests in memory, span by span; in between a place to stop at."""
    span = max(1, -(-end // _POINTS))
    sums = [0] * (-(-end // span))
    running = last = 0
    changes = {"admitted": 1, "preempted": -1, "finished": -1}

    def fill(until: int) -> None:
        nonlocal last
        while last < until:
            stop = min(until, (last // span + 1) * span)
            sums[last // span] += running * (stop - last)
            last = stop

    for number, event in enumerate(simulate(requests, pool)):
        if not number % _EVENTS:
            yield done
        if event.kind in changes:
            # Who emits the last token in a step is there up to its end.
            fill(min(end, event.step + (event.kind == "finished")))
            running += changes[event.kind]
    fill(end)
    return tuple((place * span, total / min(span, end - place * span)) for place, total in enumerate(sums))
