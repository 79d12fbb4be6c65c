"""Requests served step by step from one pool: a stream of events, or only what it comes to.

A step is one iteration of the engine: every running request gets one token; a request's whole prompt is processed in
the step that admits it. First the running requests take the blocks they need, and where none is free the one that was
admitted last is preempted: it keeps the tokens it has generated, waits at the head of the queue, and what it had in the
cache is computed again. Then, if nobody was preempted, requests are admitted in the order of
their arrival until one does not fit. The token a request emits last is never written to the cache:
in the step in which it comes the request still holds all it has, and from the next step on it is gone.

Between two steps in which something happens to a block nothing is computed: each request is looked at when it fills a
block and when it ends, not at every token.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from sys import maxsize
from typing import Final, Literal

from kvviz.allocation.blocks import BlockPool
from kvviz.allocation.contiguous import Buddy, FirstFit, Ideal, Place, Reserve, memory, requested_tokens
from kvviz.allocation.workload import Request, TraceError
from kvviz.core.errors import KvvizError
from kvviz.core.units import format_count
from kvviz.text import Message
from kvviz.text import allocation as text

MAX_POOL_TOKENS: Final = 1 << 32
MAX_BLOCK_TOKENS: Final = 1 << 20
_PROGRESS_EVERY: Final = 4096
"""Steps with something to do between two reports."""
_NEVER: Final = maxsize
NOBODY: Final = -1
"""In the place of a request, where an event is no request's."""
_NAMED: Final = 100
"""So many of the requests that can never be admitted are named; the others are counted."""


class PoolError(KvvizError):
    """A pool that cannot be built."""

    def __init__(self, message: Message) -> None:
        super().__init__(message, code="pool")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paged:
    """Memory given out in blocks as tokens come."""

    pool_tokens: int
    """Slots of the pool. What is left after the last whole block is never used."""
    block_tokens: int = 16
    """Slots of a block."""
    caching: bool = False
    """Full blocks keep their content after their request and can be used again (prefix caching)."""
    watermark_blocks: int = 0
    """Blocks that must stay free when a request is admitted."""
    unhashed_first: bool = False
    """vLLM 0.12 and later: freed blocks without a content are the next to be given away, not the last."""
    windows: tuple[int | None, ...] = (None,)
    """One entry a group of layers that has blocks of its own: tokens of its attention window, None: all."""

    def __post_init__(self) -> None:
        """Refuse what cannot be a pool."""
        _pool_slots(self.pool_tokens)
        _whole("block_tokens", self.block_tokens, 1, MAX_BLOCK_TOKENS)
        if self.block_tokens > self.pool_tokens:
            values = {"block": format_count(self.block_tokens), "pool": format_count(self.pool_tokens)}
            raise PoolError(Message(text.BLOCK_OVER_POOL, values))
        _whole("watermark_blocks", self.watermark_blocks, 0, self.blocks)
        if not self.windows:
            raise PoolError(Message(text.NO_GROUP))
        for window in self.windows:
            if window is not None:
                _whole("windows", window, 1, MAX_POOL_TOKENS)
        if self.caching and self.windows != (None,):
            raise PoolError(Message(text.CACHING_OR_WINDOWS))

    @property
    def blocks(self) -> int:
        """Whole blocks of the pool."""
        return self.pool_tokens // self.block_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Contiguous:
    """Memory given out once for all a request may need."""

    pool_tokens: int
    """Slots of the pool."""
    max_tokens: int
    """Length a request may reach; what ``max`` reserves and ``pow2`` does not exceed."""
    reserve: Reserve = "max"
    """``max``: the longest request; ``pow2``: the output rounded up to a power of two; ``oracle``: its own length."""
    place: Place = "buddy"
    """``buddy``: chunks of powers of two; ``firstfit``: the first hole; ``ideal``: no holes, compacted for free."""

    def __post_init__(self) -> None:
        """Refuse what cannot be a pool."""
        _pool_slots(self.pool_tokens)
        _whole("max_tokens", self.max_tokens, 1, MAX_POOL_TOKENS)


Pool = Paged | Contiguous


def _pool_slots(slots: int) -> None:
    _whole("pool_tokens", slots, 1, MAX_POOL_TOKENS)


def _whole(field: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        values = {"field": field, "low": format_count(low), "high": format_count(high), "shown": value}
        raise PoolError(Message(text.OUT_OF_BOUNDS, values))


Kind = Literal[
    "arrived",
    "never_admissible",
    "admitted",
    "prefix_hit",
    "evicted",
    "allocated",
    "left_window",
    "preempted",
    "finished",
]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. Within a step events come in the order in which they happened."""

    step: int
    """Step of the engine, from 0."""
    kind: Kind
    request: int
    """Place of the request in the trace, from 0; NOBODY for an eviction."""
    blocks: Sequence[int] = ()
    """Blocks by number, in the request's order; of contiguous memory the slots (no addresses: none)."""
    tokens: int = 0
    """Of the prompt (arrived), to be processed (admitted), found (prefix_hit), set aside (allocated, contiguous) or
    lost (preempted)."""
    output_tokens: int = 0
    """Tokens the request will generate (arrived)."""
    group: int = 0
    """Group of layers whose blocks these are."""


@dataclass(slots=True)
class Totals:
    """What a simulation has come to so far. Sums run over the saturated steps only."""

    pool: Pool
    step: int = 0
    """The step after the last one."""
    steps: int = 0
    """Steps with a running or a waiting request."""
    saturated_steps: int = 0
    """Steps after whose admissions a request was still waiting."""
    finished: int = 0
    """Requests served."""
    token_events: int = 0
    """Tokens these requests generated."""
    peak_running: int = 0
    """The most requests that ran in one step."""
    preemptions: int = 0
    recomputed_tokens: int = 0
    """Tokens whose cache was lost by preemptions."""
    evictions: int = 0
    """Blocks that lost their content to another request."""
    prompt_tokens_queried: int = 0
    """Prompt tokens of the requests that were admitted."""
    prompt_tokens_hit: int = 0
    """Prompt tokens found in the cache when their request was admitted for the first time."""
    never_admissible: int = 0
    """Requests that do not fit into the empty pool, or not any more."""
    never_admissible_first: list[int] = field(default_factory=list)
    """The first of them, by place in the trace."""
    not_resumed: int = 0
    """Those of them that ran before: once preempted, they no longer fit with what they had generated (watermark)."""
    not_resumed_first: list[int] = field(default_factory=list)
    """The first of these."""
    nothing_to_do: int = 0
    """Requests without a prompt or without a token to generate; nothing is served for them."""
    running_sum: int = 0
    """Running requests, added up."""
    token_sum: int = 0
    """KV tokens of the running requests; shared ones as often as they are used."""
    requested_sum: int = 0
    """Slots set aside: of all logical blocks; contiguous: what was asked for."""
    allocated_sum: int = 0
    """Slots taken from the pool: of the blocks in use; contiguous: chunks."""
    internal_sum: int = 0
    """Slots set aside that will never be written."""

    def shares(self) -> tuple[float, float, float, float]:
        """Token, reserved, internal and external: parts of the pool, averages over the saturated steps; sum 1.

        Without a saturated step nothing was measured: all of the pool is external.
        """
        pool = self.pool
        whole = self.saturated_steps * pool.pool_tokens
        if not whole:
            return 0.0, 0.0, 0.0, 1.0
        groups = len(pool.windows) if isinstance(pool, Paged) else 1
        unwritten = groups * (self.requested_sum - self.token_sum)
        internal = groups * self.internal_sum
        outside = whole - (self.allocated_sum if isinstance(pool, Paged) else self.requested_sum)
        reserved = unwritten - internal
        return (whole - outside - unwritten) / whole, reserved / whole, internal / whole, outside / whole

    def _written(self) -> int:
        """Slots with a token; with several groups of layers each counts for itself, shared ones as often as used."""
        if isinstance(self.pool, Paged) and self.pool.windows != (None,):
            return self.allocated_sum - len(self.pool.windows) * (self.requested_sum - self.token_sum)
        return self.token_sum

    def summary(self) -> dict[str, object]:
        """The figures under their stable names; shares to six digits."""
        pool = self.pool
        token, reserved, internal, external = self.shares()
        figures: dict[str, object] = {}
        if isinstance(pool, Paged):
            figures |= {"allocator": "paged", "block": pool.block_tokens, "pool": pool.pool_tokens}
            figures |= {"blocks": pool.blocks}
        else:
            figures |= {"allocator": "contiguous", "reserve": pool.reserve, "place": pool.place}
            figures |= {"pool": pool.pool_tokens, "max_tokens": pool.max_tokens}
        figures |= {
            "steps": self.steps,
            "saturated_steps": self.saturated_steps,
            "peak_running": self.peak_running,
            "mean_running": _ratio(self.running_sum, self.saturated_steps),
            "token": round(token, 6),
            "reserved": round(reserved, 6),
            "internal": round(internal, 6),
            "external": round(external, 6),
            "util_of_allocated": _ratio(self._written(), self.allocated_sum),
        }
        if isinstance(pool, Contiguous):
            figures["util_of_requested"] = _ratio(self.token_sum, self.requested_sum)
        figures["preemptions"] = self.preemptions
        if isinstance(pool, Paged):
            figures["recomputed_tokens"] = self.recomputed_tokens
        figures |= {
            "token_events": self.token_events,
            "requests": self.finished,
            "finish_step": self.step,
            "never_admissible": self.never_admissible,
            "never_admissible_first": list(self.never_admissible_first),
            "not_resumed": self.not_resumed,
            "nothing_to_do": self.nothing_to_do,
        }
        if isinstance(pool, Paged):
            figures["watermark_blocks"] = pool.watermark_blocks
            figures["caching"] = pool.caching
            figures["util_of_pool"] = _ratio(self.token_sum, self.saturated_steps * pool.blocks * pool.block_tokens)
            figures["prompt_tokens_queried"] = self.prompt_tokens_queried
            figures["prompt_tokens_hit"] = self.prompt_tokens_hit
            figures["evictions"] = self.evictions
        return figures


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 6) if whole else 0.0


def simulate(requests: Iterable[Request], pool: Pool) -> Iterator[Event]:
    """What happens, event by event. Nothing is computed before it is asked for, and the same input gives the same."""
    log: list[Event] = []
    for _ in _run(requests, pool, Totals(pool=pool), log):
        yield from log
        log.clear()


def progress(requests: Iterable[Request], pool: Pool) -> Iterator[Totals]:
    """The figures so far, again and again; the last ones are the whole. To cancel, stop asking."""
    totals = Totals(pool=pool)
    for _ in _run(requests, pool, totals, None):
        yield totals


def summarise(requests: Iterable[Request], pool: Pool) -> Totals:
    """What a simulation comes to."""
    totals = Totals(pool=pool)
    for _ in _run(requests, pool, totals, None):
        pass
    return totals


class _Sequence:
    """A request on its way through the engine."""

    __slots__ = (
        "admitted",
        "blocks_per_id",
        "chunk",
        "final",
        "finish",
        "ids",
        "index",
        "kept",
        "output",
        "prompt",
        "residues",
        "shift",
        "slack",
        "slots",
        "tables",
        "to_process",
    )

    def __init__(self, index: int, request: Request) -> None:
        self.index = index
        """Place in the trace."""
        self.prompt = request.prompt_tokens
        self.output = request.output_tokens
        self.ids = request.block_ids
        self.blocks_per_id = request.blocks_per_id
        self.final = self.prompt + self.output - 1
        """KV tokens it comes to."""
        self.to_process = self.prompt
        """Tokens that the step of its admission processes: the prompt and what was generated before a preemption."""
        self.shift = 0
        """KV tokens it has, less the step."""
        self.finish = 0
        """Step of its last token."""
        self.residues: tuple[int, ...] = ()
        """Where it stands in the calendar of steps, modulo the block."""
        self.slack = 0
        """Slots of its last block that it will never write; 0 before it has that block."""
        self.tables: list[list[int]] = []
        """Its blocks, a list for each group of layers. Contiguous memory: none."""
        self.kept = 0
        """So many of them are in the prefix table."""
        self.chunk: tuple[int, int] = (0, 0)
        """Its chunk of contiguous memory: start and slots."""
        self.slots = 0
        """What it asked for there."""
        self.admitted = False
        """It was running before."""

    def contents(self, start: int, count: int, block_tokens: int) -> Iterator[Hashable]:
        """What its blocks from ``start`` to ``count`` keep: ids of its prompt, behind them something nobody shares."""
        each = self.blocks_per_id
        shared = min(self.prompt // (block_tokens * each), len(self.ids)) * each
        shared = min(shared, count)
        if each == 1:
            yield from islice(self.ids, start, shared)
        else:
            for block in range(start, shared):
                yield self.ids[block // each] * each + block % each
        for block in range(max(start, shared), count):
            yield self.index, block


class _Arrivals:
    """Requests as they arrive; those that could never be admitted go no further."""

    __slots__ = ("_coming", "_log", "_next", "_pool", "_space", "_totals", "step")

    def __init__(self, requests: Iterable[Request], pool: Pool, totals: Totals, log: list[Event] | None) -> None:
        numbered: Iterable[tuple[int, Request]] = enumerate(requests)
        if isinstance(requests, Sequence) and any(b.arrival_step < a.arrival_step for a, b in pairwise(requests)):
            numbered = sorted(numbered, key=lambda one: one[1].arrival_step)
        self._coming = iter(numbered)
        self._pool, self._totals, self._log = pool, totals, log
        self._space = memory(pool.place, pool.pool_tokens) if isinstance(pool, Contiguous) else None
        self.step = 0
        """Step of the next arrival."""
        self._advance()

    def _advance(self) -> None:
        self._next = next(self._coming, None)
        if self._next is None:
            self.step = _NEVER
        elif self._next[1].arrival_step < self.step:
            raise TraceError(Message(text.NOT_IN_ORDER, {"index": self._next[0]}))
        else:
            self.step = self._next[1].arrival_step

    def take(self, step: int) -> _Sequence | None:
        """The next request that arrived by this step."""
        while self._next is not None and self.step <= step:
            index, request = self._next
            if self._log is not None:
                prompt, output = request.prompt_tokens, request.output_tokens
                self._log.append(Event(self.step, "arrived", index, (), prompt, output))
            self._advance()
            if not request.prompt_tokens or not request.output_tokens:
                self._totals.nothing_to_do += 1
                if self._log is not None:
                    self._log.append(Event(step, "never_admissible", index))
            elif fits_empty(request, self._pool, self._space):
                return _Sequence(index, request)
            else:
                _refuse(index, step, self._totals, self._log)
        return None


def fits_empty(request: Request, pool: Pool, empty: Ideal | FirstFit | Buddy | None = None) -> bool:
    """Whether a request can be served from this pool when it has it for itself. ``empty``: contiguous memory of it."""
    final = request.prompt_tokens + request.output_tokens - 1
    if isinstance(pool, Paged):
        # Between two new blocks a request only loses some; so it needs most when it takes its last one.
        at_last_block = (final - 1) // pool.block_tokens * pool.block_tokens + 1
        if _blocks_of(at_last_block, pool) > pool.blocks:
            return False
        return _blocks_of(request.prompt_tokens, pool) + pool.watermark_blocks <= pool.blocks
    slots = requested_tokens(pool.reserve, request.prompt_tokens, request.output_tokens, pool.max_tokens)
    space = empty or memory(pool.place, pool.pool_tokens)
    return final <= slots and space.chunk(slots) <= space.largest


def _blocks_of(tokens: int, pool: Paged) -> int:
    """Blocks a request with so many KV tokens holds, of all groups."""
    return sum(-(-tokens // pool.block_tokens) - _outside(tokens, window, pool) for window in pool.windows)


def _outside(tokens: int, window: int | None, pool: Paged) -> int:
    """Blocks no later token looks back to (vLLM v1/core/single_type_kv_cache_manager.py, remove_skipped_blocks)."""
    return 0 if window is None else max(0, tokens - window) // pool.block_tokens


def _refuse(index: int, step: int, totals: Totals, log: list[Event] | None) -> None:
    totals.never_admissible += 1
    if len(totals.never_admissible_first) < _NAMED:
        totals.never_admissible_first.append(index)
    if log is not None:
        log.append(Event(step, "never_admissible", index))


class _PagedMemory:
    """Running requests and their blocks, and a calendar of the steps in which they get or lose some."""

    __slots__ = ("_blocks", "_log", "_pool", "_totals", "_windowed", "block_tokens", "due", "internal", "requested")

    def __init__(self, pool: Paged, totals: Totals, log: list[Event] | None) -> None:
        self._pool, self._totals, self._log = pool, totals, log
        self._blocks = BlockPool(pool.blocks, unhashed_first=pool.unhashed_first)
        self._windowed = pool.windows != (None,)
        self.block_tokens = pool.block_tokens
        self.due: dict[int, dict[int, _Sequence]] = {}
        """By step modulo block: the requests to look at then, in the order of their admission."""
        self.requested = 0
        """Slots of all logical blocks, of one group."""
        self.internal = 0
        """Those of them that will never be written."""

    @property
    def allocated(self) -> int:
        """Slots of the blocks in use."""
        return (self._blocks.blocks - self._blocks.available) * self.block_tokens

    def admit(self, sequence: _Sequence, step: int) -> bool:
        """Give a request the blocks of all it has to process, if they are there."""
        pool, blocks, size, tokens = self._pool, self._blocks, self.block_tokens, sequence.to_process
        rows = -(-tokens // size)
        needed = _blocks_of(tokens, pool) if self._windowed else rows
        hits: list[int] = []
        if pool.caching:
            # The last token is always computed: the next one comes of it.
            hits = blocks.find(sequence.contents(0, (tokens - 1) // size, size))
            needed += blocks.unreferenced(hits) - len(hits)
        if needed + pool.watermark_blocks > blocks.available:
            return False
        sequence.shift = tokens - step
        if self._log is not None:
            self._log.append(Event(step, "admitted", sequence.index, tokens=tokens))
            if hits:
                self._log.append(Event(step, "prefix_hit", sequence.index, tuple(hits), len(hits) * size))
        if not sequence.admitted:
            self._totals.prompt_tokens_queried += tokens
            self._totals.prompt_tokens_hit += len(hits) * size
        if hits:
            blocks.hold(hits)
        for group, window in enumerate(pool.windows):
            count = rows - len(hits) if window is None else rows - _outside(tokens, window, pool)
            fresh = self._take(count, step)
            sequence.tables.append(hits + fresh if hits else fresh)
            if self._log is not None:
                self._log.append(Event(step, "allocated", sequence.index, tuple(fresh), group=group))
        if pool.caching:
            self._keep(sequence, len(hits), tokens // size)
        self._count_rows(sequence, rows * size, rows * size)
        look = (1 - sequence.shift) % size
        sequence.residues = (look,)
        if self._windowed:
            more = {(window - sequence.shift) % size for window in pool.windows if window is not None}
            sequence.residues = (look, *(more - {look}))
        for look in sequence.residues:
            if look in self.due:
                self.due[look][sequence.index] = sequence
            else:
                self.due[look] = {sequence.index: sequence}
        return True

    def grow(self, step: int, running: dict[int, _Sequence]) -> Sequence[_Sequence]:
        """Blocks for the requests whose last one is full. Returns who lost all for it, the last one first."""
        size, blocks = self.block_tokens, self._blocks
        there = self.due[step % size]
        if len(there) <= blocks.available and not self._windowed:  # nobody has to lose any
            sequences = there.values()
            last = step + size - 1
            for sequence, block in zip(sequences, self._take(len(sequences), step), strict=True):
                sequence.tables[0].append(block)
                unwritten = sequence.shift + last - sequence.final
                if unwritten > 0:
                    sequence.slack = unwritten
                    self.internal += unwritten
            self.requested += size * len(sequences)
            if self._log is not None:
                self._log += [Event(step, "allocated", s.index, (s.tables[0][-1],)) for s in sequences]
            return ()
        victims: list[_Sequence] = []
        for sequence in list(there.values()):
            if not sequence.tables:  # preempted for one before it, and with it all that follow
                break
            held = sequence.shift + step
            if self._windowed and not self._leave_windows(sequence, held, step):
                continue
            while blocks.available < len(sequence.tables):
                _, victim = running.popitem()
                victims.append(victim)
                if self._log is not None:
                    self._log.append(Event(step, "preempted", victim.index, tokens=victim.shift + step - 1))
                self.free(victim, victim.shift + step - 1)
                if victim is sequence:
                    return victims
            for group, table in enumerate(sequence.tables):
                table += self._take(1, step)
                if self._log is not None:
                    self._log.append(Event(step, "allocated", sequence.index, (table[-1],), group=group))
            self._count_rows(sequence, -(-held // size) * size, size)
        return victims

    def _take(self, count: int, step: int) -> list[int]:
        taken = self._blocks.take(count)
        if self._blocks.evicted:
            self._totals.evictions += len(self._blocks.evicted)
            if self._log is not None:
                self._log.append(Event(step, "evicted", NOBODY, tuple(self._blocks.evicted)))
            self._blocks.evicted.clear()
        return taken

    def _count_rows(self, sequence: _Sequence, slots: int, more: int) -> None:
        """A request has ``slots`` slots of logical blocks, ``more`` of them new."""
        self.requested += more
        if slots > sequence.final:
            sequence.slack = slots - sequence.final
            self.internal += sequence.slack

    def _keep(self, sequence: _Sequence, start: int, end: int) -> None:
        table = sequence.tables[0]
        for block, content in zip(table[start:end], sequence.contents(start, end, self.block_tokens), strict=True):
            self._blocks.keep(block, content)
        sequence.kept = end

    def _leave_windows(self, sequence: _Sequence, held: int, step: int) -> bool:
        """Free what is outside the windows of ``held`` tokens. Whether the last of them needs a new block."""
        rows = -(-(held - 1) // self.block_tokens)
        for group, (window, table) in enumerate(zip(self._pool.windows, sequence.tables, strict=True)):
            count = _outside(held, window, self._pool) - (rows - len(table))
            if count > 0:
                gone = table[:count]
                del table[:count]
                self._blocks.give_back(gone)
                if self._log is not None:
                    self._log.append(Event(step, "left_window", sequence.index, tuple(gone), group=group))
        return (held - 1) % self.block_tokens == 0

    def free(self, sequence: _Sequence, held: int) -> None:
        """Take all blocks from a request that had ``held`` KV tokens."""
        size = self.block_tokens
        if self._pool.caching:
            # Nobody but the request itself can find what it generated: remembering it now is early enough.
            self._keep(sequence, sequence.kept, held // size)
        for table in sequence.tables:
            self._blocks.give_back(table)
        sequence.tables = []
        self.requested -= -(-held // size) * size
        self.internal -= sequence.slack
        sequence.slack = 0
        for look in sequence.residues:
            there = self.due[look]
            del there[sequence.index]
            if not there:
                del self.due[look]


class _ContiguousMemory:
    """Running requests and their chunks. Nothing happens to a chunk until its request ends."""

    __slots__ = ("_log", "_pool", "_space", "allocated", "block_tokens", "due", "internal", "requested")

    def __init__(self, pool: Contiguous, log: list[Event] | None) -> None:
        self._pool, self._log = pool, log
        self._space = memory(pool.place, pool.pool_tokens)
        self.block_tokens = 1
        self.due: dict[int, dict[int, _Sequence]] = {}
        self.requested = 0
        """Slots asked for."""
        self.allocated = 0
        """Slots of the chunks."""
        self.internal = 0
        """Slots asked for that will never be written."""

    def admit(self, sequence: _Sequence, step: int) -> bool:
        """Give a request its chunk, if there is one."""
        pool = self._pool
        slots = requested_tokens(pool.reserve, sequence.prompt, sequence.output, pool.max_tokens)
        chunk = self._space.chunk(slots)
        start = self._space.take(chunk)
        if start is None:
            return False
        sequence.shift = sequence.prompt - step
        sequence.chunk = start, chunk
        sequence.slots = slots
        self.requested += slots
        self.allocated += chunk
        self.internal += slots - sequence.final
        if self._log is not None:
            self._log.append(Event(step, "admitted", sequence.index, tokens=sequence.prompt))
            where = range(start, start + chunk) if pool.place != "ideal" else ()
            self._log.append(Event(step, "allocated", sequence.index, where, slots))
        return True

    def grow(self, step: int, running: dict[int, _Sequence]) -> Sequence[_Sequence]:
        """Nobody needs more than there is already."""
        del step, running
        return ()

    def free(self, sequence: _Sequence, held: int) -> None:
        """Take the chunk from a request that had ``held`` KV tokens."""
        self._space.give_back(*sequence.chunk)
        self.requested -= sequence.slots
        self.allocated -= sequence.chunk[1]
        self.internal -= sequence.slots - held


def _run(requests: Iterable[Request], pool: Pool, totals: Totals, log: list[Event] | None) -> Iterator[None]:
    """The one loop behind all of it. With a log it builds events and stops after every step that has any."""
    arrivals = _Arrivals(requests, pool, totals, log)
    store = _PagedMemory(pool, totals, log) if isinstance(pool, Paged) else _ContiguousMemory(pool, log)
    block_tokens, due = store.block_tokens, store.due
    waiting: deque[_Sequence] = deque()
    running: dict[int, _Sequence] = {}  # in the order of admission
    finishing: dict[int, list[_Sequence]] = {}  # by step, in the order of admission
    tokens = 0  # KV tokens of the running requests
    room = True  # something may fit that did not fit when it was tried last
    end = steps = peak = saturated = running_sum = token_sum = requested_sum = allocated_sum = internal_sum = 0
    windowed = isinstance(pool, Paged) and pool.windows != (None,)
    step, until_report = arrivals.step, _PROGRESS_EVERY

    while step != _NEVER:
        # Without a log only the head of the queue is needed: memory grows with the pool, not with the trace.
        while (log is not None or not waiting) and (arrived := arrivals.take(step)) is not None:
            room = room or not waiting
            waiting.append(arrived)

        # Running requests take the blocks they need.
        preempted = False
        if step % block_tokens in due:
            for victim in store.grow(step, running):
                preempted = True
                held = victim.shift + step
                tokens -= held
                there = finishing[victim.finish]
                there.pop()  # it was admitted last
                if not there:
                    del finishing[victim.finish]
                victim.to_process = held
                victim.admitted = True
                waiting.appendleft(victim)
                totals.preemptions += 1
                totals.recomputed_tokens += held - 1
            room = room or preempted or windowed
        # If that cost nobody anything, requests are admitted in the order of the queue.
        while waiting and room and not preempted:
            if store.admit(waiting[0], step):
                sequence = waiting.popleft()
                running[sequence.index] = sequence
                tokens += sequence.to_process
                sequence.finish = step + sequence.final - sequence.to_process
                finishing.setdefault(sequence.finish, []).append(sequence)
            elif running:
                room = False
            else:  # not even now that nobody else is there
                refused = waiting.popleft()
                _refuse(refused.index, step, totals, log)
                if refused.admitted:
                    totals.not_resumed += 1
                    totals.not_resumed_first += [refused.index] * (totals.not_resumed <= _NAMED)
            if not waiting and (arrived := arrivals.take(step)) is not None:
                waiting.append(arrived)

        # The state of this step is what is measured; then requests leave.
        count = len(running)
        if count:
            steps += 1
            end = step + 1
            if count > peak:
                peak = count
            if waiting:
                saturated += 1
                running_sum += count
                token_sum += tokens
                requested_sum += store.requested
                allocated_sum += store.allocated
                internal_sum += store.internal
            for sequence in finishing.pop(step, ()):
                del running[sequence.index]
                store.free(sequence, sequence.final)
                tokens -= sequence.final
                totals.finished += 1
                totals.token_events += sequence.output
                room = True
                if log is not None:
                    log.append(Event(step, "finished", sequence.index))
            count = len(running)

        # On to the next step in which anything happens to a block; until then each request gets a token a step.
        following = step + 1
        if not count and not waiting:
            following = max(following, arrivals.step)
        elif not (room and waiting):
            horizon = arrivals.step if log is not None or not waiting else _NEVER
            if due:
                while following not in finishing and following % block_tokens not in due and following < horizon:
                    following += 1
            else:
                following = min(min(finishing), horizon)
            between = following - step - 1
            steps += between
            if waiting and between:
                saturated += between
                running_sum += count * between
                token_sum += tokens * between + count * between * (between + 1) // 2
                requested_sum += store.requested * between
                allocated_sum += store.allocated * between
                internal_sum += store.internal * between
            tokens += count * (following - step)
        else:
            tokens += count
        step = following
        until_report -= 1
        if log or not until_report or step == _NEVER:
            until_report = _PROGRESS_EVERY
            totals.step, totals.steps, totals.saturated_steps, totals.peak_running = end, steps, saturated, peak
            totals.running_sum, totals.token_sum = running_sum, token_sum
            totals.requested_sum, totals.allocated_sum = requested_sum, allocated_sum
            totals.internal_sum = internal_sum
            yield
