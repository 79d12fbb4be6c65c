"""The same rules told plainly: every request at every token, lists and dictionaries. Slow, and easy to check by eye."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kvviz.allocation.workload import Request


@dataclass(eq=False, slots=True)
class Running:
    """A request and its blocks."""

    index: int
    prompt: int
    output: int
    ids: Sequence[int]
    emitted: int = 0
    blocks: list[int] = field(default_factory=list)
    hashed: int = 0
    seen: bool = False

    def key(self, block: int, size: int) -> object:
        """What a full block of it keeps."""
        return self.ids[block] if block < min(self.prompt // size, len(self.ids)) else (self.index, block)


@dataclass
class Outcome:
    """What the steps came to."""

    rows: list[list[Any]] = field(default_factory=list)
    tables: list[dict[int, tuple[int, ...]]] = field(default_factory=list)
    steps: int = 0
    saturated: int = 0
    token_sum: int = 0
    allocated_sum: int = 0
    reserved_sum: int = 0
    internal_sum: int = 0
    running_sum: int = 0
    peak_running: int = 0
    preemptions: int = 0


def paged(
    requests: Sequence[Request],
    *,
    blocks: int,
    size: int,
    caching: bool = False,
    watermark: int = 0,
    unhashed_first: bool = False,
    record: bool = True,
) -> Outcome:
    """Serve requests that all fit into the empty pool, one token after the other."""
    free = list(range(blocks))
    references = [0] * blocks
    content: list[object] = [None] * blocks
    coming = sorted(range(len(requests)), key=lambda i: requests[i].arrival_step)
    waiting: list[Running] = []
    running: list[Running] = []
    outcome = Outcome()
    inserted: dict[object, list[int]] = {}

    def take() -> int:
        block = free.pop(0)
        if content[block] is not None:
            inserted[content[block]].remove(block)
            content[block] = None
        references[block] = 1
        return block

    def keep(one: Running, tokens: int) -> None:
        while caching and one.hashed < tokens // size:
            key = one.key(one.hashed, size)
            content[one.blocks[one.hashed]] = key
            inserted.setdefault(key, []).append(one.blocks[one.hashed])
            one.hashed += 1

    def release(one: Running) -> None:
        gone = []
        for block in reversed(one.blocks):
            references[block] -= 1
            assert references[block] >= 0
            if not references[block]:
                gone.append(block)
        if unhashed_first:
            free[:0] = [block for block in gone if content[block] is None]
            gone = [block for block in gone if content[block] is not None]
        free.extend(gone)
        one.blocks, one.hashed = [], 0

    step = 0
    while coming or waiting or running:
        while coming and requests[coming[0]].arrival_step <= step:
            i = coming.pop(0)
            waiting.append(Running(i, requests[i].prompt_tokens, requests[i].output_tokens, requests[i].block_ids))
        preempted = hit_tokens = 0
        for one in running.copy():
            if not one.blocks:  # preempted for one before it
                continue
            needed = -(-(one.prompt + one.emitted) // size)
            while len(one.blocks) < needed:
                if free:
                    one.blocks.append(take())
                    continue
                victim = running.pop()
                release(victim)
                waiting.insert(0, victim)
                preempted += 1
                if victim is one:
                    break
            if one.blocks:
                keep(one, one.prompt + one.emitted)
        while waiting and not preempted:
            one = waiting[0]
            tokens = one.prompt + one.emitted
            hits: list[int] = []
            if caching:
                for block in range((tokens - 1) // size):
                    found = inserted.get(one.key(block, size))
                    if not found:
                        break
                    hits.append(found[0])
            needed = -(-tokens // size) - len(hits)
            if needed + watermark > len(free) - sum(not references[block] for block in hits):
                break
            for block in hits:
                if not references[block]:
                    free.remove(block)
                references[block] += 1
            one.blocks = hits + [take() for _ in range(needed)]
            one.hashed = len(hits)
            keep(one, tokens)
            if not one.seen:
                hit_tokens += len(hits) * size
                one.seen = True
            running.append(waiting.pop(0))
        if running or waiting:
            outcome.steps += 1
            held = 0
            for one in running:
                held += one.prompt + one.emitted
            used = blocks - len(free)
            outcome.peak_running = max(outcome.peak_running, len(running))
            outcome.preemptions += preempted
            if waiting:
                outcome.saturated += 1
                outcome.token_sum += held
                outcome.allocated_sum += used * size
                outcome.running_sum += len(running)
                for one in running:
                    slots, final = len(one.blocks) * size, one.prompt + one.output - 1
                    outcome.internal_sum += max(0, slots - final)
                    outcome.reserved_sum += min(slots, final) - one.prompt - one.emitted
        done = []
        tables = {one.index: tuple(one.blocks) for one in running} if record else {}
        for one in list(running):
            one.emitted += 1
            if one.emitted == one.output:
                running.remove(one)
                release(one)
                done.append(one.index)
        if record and (tables or waiting):
            row = [step, len(tables), len(waiting), used, blocks - used, held, preempted, hit_tokens, sorted(done)]
            outcome.rows.append(row)
            outcome.tables.append(tables)
        step += 1
    return outcome


def prefix(requests: Iterable[Request], capacity: int | None, size: int = 512) -> dict[str, float]:
    """The five ratios and the evictions of a cache of the most recently used ids, one id at a time."""
    resident: OrderedDict[int, None] = OrderedDict()
    evictions = ids = hit = full = hit_full = tokens = hit_tokens = vllm = count = 0
    request_sum = 0.0
    for request in requests:
        n = request.prompt_tokens
        hits = 0
        for one in request.block_ids:
            if one not in resident:
                break
            hits += 1
        for one in request.block_ids:
            if one in resident:
                resident.move_to_end(one)
        for one in request.block_ids:
            if one not in resident:
                resident[one] = None
        while capacity is not None and len(resident) > capacity:
            resident.popitem(last=False)
            evictions += 1
        ids += len(request.block_ids)
        hit += hits
        full += n // size
        hit_full += min(hits, n // size)
        tokens += n
        hit_tokens += min(size * hits, n)
        vllm += size * min(hits, (n - 1) // size)
        request_sum += min(size * hits, n) / n
        count += 1
    return {
        "block": hit / ids,
        "full": hit_full / full,
        "token": hit_tokens / tokens,
        "vllm": vllm / tokens,
        "request": request_sum / count,
        "evictions": evictions,
    }
