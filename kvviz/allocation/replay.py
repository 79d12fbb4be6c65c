"""Events folded into what the pool looks like, step by step, and written down for a browser to do the same."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from kvviz.allocation.simulate import Event, Kind, Paged, Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The pool in one step, when all who run have their blocks and before those who are done leave."""

    step: int
    """Step of the engine, from 0."""
    tables: dict[int, tuple[Sequence[int], ...]]
    """The running requests in the order of their admission, each with its blocks in its own order, a sequence for each
    group of layers; of contiguous memory its slots, none where they have no addresses."""
    held_tokens: dict[int, int]
    """KV tokens of each running request."""
    waiting: tuple[int, ...]
    """The queue, its head first."""
    preempted: tuple[int, ...]
    """Who lost all blocks in this step."""
    finished: tuple[int, ...]
    """Who emits the last token in this step, by place in the trace."""
    hit_tokens: int
    """Prompt tokens found in the cache by those admitted for the first time."""
    allocated_blocks: int
    """Blocks in use, shared ones once; of contiguous memory the slots of all chunks."""
    free_blocks: int
    """Blocks not in use."""
    cached_blocks: int
    """Those of them that keep a content."""
    reserved_tokens: int
    """Slots that their requests will still write."""
    internal_tokens: int
    """Slots set aside that will never be written."""
    external_tokens: int
    """All other slots of the pool."""
    largest_hole_tokens: int
    """The largest request that could be placed: free blocks; of contiguous memory the longest free range."""

    @property
    def tokens(self) -> int:
        """KV tokens of all running requests, shared ones as often as they are used."""
        return sum(self.held_tokens.values())

    def row(self, pool: Pool) -> dict[str, object]:
        """The step as ``kvviz simulate --steps`` prints it."""
        row: dict[str, object] = {"step": self.step, "running": len(self.tables), "waiting": len(self.waiting)}
        if isinstance(pool, Paged):
            row |= {"alloc": self.allocated_blocks, "free": self.free_blocks, "tokens": self.tokens}
            row |= {"preempted": len(self.preempted), "hit_tokens": self.hit_tokens}
        else:
            row |= {"tokens": self.tokens, "reserved": self.reserved_tokens, "internal": self.internal_tokens}
            row |= {"external": self.external_tokens, "chunks": self.allocated_blocks}
        return row | {"finished": list(self.finished)}


class _State:
    """Who holds what. Every kind of event has one line in ``apply``."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.paged = isinstance(pool, Paged)
        self.groups = len(pool.windows) if isinstance(pool, Paged) else 1
        self.size: dict[int, tuple[int, int]] = {}
        """Prompt and output tokens of those waiting or running."""
        self.waiting: list[int] = []
        self.tables: dict[int, tuple[Sequence[int], ...]] = {}
        self.shift: dict[int, int] = {}
        """KV tokens, less the step."""
        self.requested: dict[int, int] = {}
        """Slots asked for, of contiguous memory."""
        self.references: Counter[int] = Counter()
        self.cached: set[int] = set()
        """Blocks, free or not, that keep a content and are full."""
        self.before: set[int] = set()
        """Waiting or running requests that were preempted before."""
        self.preempted: list[int] = []
        self.finished: list[int] = []
        self.hit_tokens = 0

    def apply(self, event: Event) -> None:
        request = event.request
        match event.kind:
            case "arrived":
                self.size[request] = event.tokens, event.output_tokens
                self.waiting.append(request)
            case "never_admissible":
                self.waiting.remove(request)
                del self.size[request]
            case "admitted":
                self.waiting.remove(request)
                self.tables[request] = ((),) * self.groups
                self.shift[request] = event.tokens - event.step
            case "prefix_hit":
                self._append(event)
                self.hit_tokens += 0 if request in self.before else event.tokens
            case "allocated":
                self._append(event)
                self.requested[request] = event.tokens
            case "left_window":
                self._replace(event.request, event.group, self.tables[request][event.group][len(event.blocks) :])
                self._release(event.blocks)
            case "evicted":
                self.cached.difference_update(event.blocks)
            case "preempted":
                self._leave(request, event.tokens)
                self.waiting.insert(0, request)
                self.preempted.append(request)
                self.before.add(request)
            case "finished":
                self._leave(request, sum(self.size.pop(request)) - 1)
                self.before.discard(request)

    def _append(self, event: Event) -> None:
        before = self.tables[event.request][event.group]
        self._replace(event.request, event.group, (*before, *event.blocks) if before else event.blocks)
        if self.paged:
            self.references.update(event.blocks)

    def _replace(self, request: int, group: int, table: Sequence[int]) -> None:
        tables = self.tables[request]
        self.tables[request] = (*tables[:group], table, *tables[group + 1 :])

    def _leave(self, request: int, held: int) -> None:
        del self.shift[request]
        tables = self.tables.pop(request)
        if isinstance(self.pool, Paged):
            if self.pool.caching:
                self.cached.update(tables[0][: held // self.pool.block_tokens])
            for table in tables:
                self._release(table)

    def _release(self, blocks: Iterable[int]) -> None:
        for block in blocks:
            self.references[block] -= 1
            if not self.references[block]:
                del self.references[block]

    def snapshot(self, step: int, finished: list[int]) -> Snapshot:
        held = {request: shift + step for request, shift in self.shift.items()}
        final = {request: sum(self.size[request]) - 1 for request in held}
        pool = self.pool
        if isinstance(pool, Paged):
            slots = {request: -(-tokens // pool.block_tokens) * pool.block_tokens for request, tokens in held.items()}
            allocated = len(self.references)
            free = pool.blocks - allocated
            external = pool.pool_tokens - allocated * pool.block_tokens
            hole = free * pool.block_tokens
        else:
            slots = {request: self.requested[request] for request in held}
            ranges = [table for (table,) in self.tables.values()]
            allocated = sum(len(table) for table in ranges) or sum(slots.values())
            free = pool.pool_tokens - allocated
            external = pool.pool_tokens - sum(slots.values())
            hole = _longest_gap(ranges, pool.pool_tokens) if any(ranges) else free
        internal = sum(max(0, slots[request] - final[request]) for request in held)
        unwritten = sum(slots.values()) - sum(held.values())
        return Snapshot(
            step=step,
            tables=dict(self.tables),
            held_tokens=held,
            waiting=tuple(self.waiting),
            preempted=tuple(self.preempted),
            finished=tuple(sorted(finished)),
            hit_tokens=self.hit_tokens,
            allocated_blocks=allocated,
            free_blocks=free,
            cached_blocks=sum(block not in self.references for block in self.cached),
            reserved_tokens=self.groups * (unwritten - internal),
            internal_tokens=self.groups * internal,
            external_tokens=external,
            largest_hole_tokens=hole,
        )


def _longest_gap(ranges: Iterable[Sequence[int]], end: int) -> int:
    longest = last = 0
    for used in sorted(ranges, key=lambda used: used[0]):
        longest = max(longest, used[0] - last)
        last = used[-1] + 1
    return max(longest, end - last)


def replay(events: Iterable[Event], pool: Pool) -> Iterator[Snapshot]:
    """One snapshot a step in which anybody runs, from events in their order."""
    state = _State(pool)
    step = 0
    for now, group in groupby(events, key=lambda event: event.step):
        while step < now and state.tables:  # nothing happened to any block meanwhile
            yield state.snapshot(step, [])
            step += 1
        step = now
        leaving: list[Event] = []
        for event in group:
            if event.kind == "finished":
                leaving.append(event)
            else:
                state.apply(event)
        if state.tables:
            yield state.snapshot(step, [event.request for event in leaving])
        for event in leaving:
            state.apply(event)
        state.hit_tokens = 0
        state.preempted = []
        step += 1


LETTERS: Final[dict[Kind, str]] = {
    "arrived": "r",
    "never_admissible": "x",
    "admitted": "a",
    "prefix_hit": "h",
    "evicted": "e",
    "allocated": "b",
    "left_window": "w",
    "preempted": "p",
    "finished": "f",
}
"""A kind as the compact form writes it."""


def events_json(events: Iterable[Event]) -> Iterator[list[Any]]:
    """Events for a browser: a list a step, its number first, then ``[letter, request, tokens, blocks, group]``.

    Arrivals have prompt and output tokens instead of tokens and blocks; evictions no request. What is 0 or empty at the
    end is left out. Blocks are numbers, and ``[first, count]`` for three or more in a row.
    """
    for step, group in groupby(events, key=lambda event: event.step):
        yield [step, *map(_compact, group)]


def _compact(event: Event) -> list[Any]:
    letter = LETTERS[event.kind]
    if event.kind == "arrived":
        return [letter, event.request, event.tokens, event.output_tokens]
    if event.kind == "evicted":
        return [letter, _runs(event.blocks)]
    compact = [letter, event.request, event.tokens, _runs(event.blocks), event.group]
    while not compact[-1] and len(compact) > 2:
        compact.pop()
    return compact


def _runs(blocks: Sequence[int]) -> list[Any]:
    runs: list[Any] = []
    if isinstance(blocks, range):
        return [[blocks.start, len(blocks)]] if blocks else []
    start = 0
    for position in range(1, len(blocks) + 1):
        if position < len(blocks) and blocks[position] == blocks[position - 1] + 1:
            continue
        count = position - start
        runs += [[blocks[start], count]] if count > 2 else blocks[start:position]
        start = position
    return runs
