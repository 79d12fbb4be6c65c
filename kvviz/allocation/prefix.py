"""How much of the prompts a cache of prefixes finds, whatever else the pool does."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal

from kvviz.allocation.workload import MOONCAKE_ID_TOKENS, Request, TraceError
from kvviz.text import Message
from kvviz.text import allocation as text

Order = Literal["fwd", "rev"]
ORDERS: Final[tuple[Order, ...]] = ("fwd", "rev")
Cached = Literal["prompt", "all"]
CACHED: Final[tuple[Cached, ...]] = ("prompt", "all")


@dataclass(frozen=True, slots=True, kw_only=True)
class HitRatios:
    """Hits as five different reports count them. Only the leading run of known blocks is a hit."""

    block: float
    """Hit blocks of all blocks, partial last ones counted."""
    full: float
    """Hit full blocks of all full blocks."""
    token: float
    """Hit prompt tokens of all prompt tokens."""
    vllm: float
    """The same as vLLM counts: full blocks only, and the last prompt token is always computed."""
    request: float
    """Mean over the requests of the part of the prompt that was hit."""
    evictions: int
    """Blocks dropped for others."""
    resident_blocks: int
    """Blocks in the cache at the end."""
    requests: int
    """Requests counted: those with a prompt."""


def replay_prefixes(
    requests: Iterable[Request],
    capacity_blocks: int | None,
    *,
    order: Order = "fwd",
    cached: Cached = "prompt",
    block_tokens: int = MOONCAKE_ID_TOKENS,
) -> HitRatios:
    """Replay prompts through a cache that drops the least recently used block; capacity None: it never does.

    A request touches the blocks that are there, then adds those that are not: from the first to the last (``fwd``, so
    that the beginning of a prefix is dropped before its end) or back to front (``rev``, as engines do). ``all`` keeps
    the blocks of the answer too.
    """
    if capacity_blocks is not None and capacity_blocks < 1:
        raise TraceError(Message(text.CAPACITY))
    resident: OrderedDict[object, None] = OrderedDict()
    touch, drop = resident.move_to_end, resident.popitem
    forward, answers, limit = order == "fwd", cached == "all", capacity_blocks or 0
    evictions = counted = blocks = hit_blocks = full = tokens = 0
    # What the counts that know a partial last block, or the last token, have less than ``hit_blocks`` whole ones.
    no_full = no_tokens = no_vllm = 0
    request_sum = 0.0
    for request in requests:
        ids, prompt = request.block_ids, request.prompt_tokens
        if not prompt:
            continue
        counted += 1
        blocks += len(ids)
        full += prompt // block_tokens
        tokens += prompt
        missing: list[object] = [one for one in ids if one not in resident]
        if len(missing) < len(ids):
            hits = ids.index(missing[0]) if missing else len(ids)
            hit_blocks += hits
            beyond = hits * block_tokens - prompt
            if beyond >= 0:
                no_full += hits - prompt // block_tokens
                no_vllm += hits - (prompt - 1) // block_tokens
                no_tokens += beyond
                request_sum += 1
            else:
                request_sum += hits * block_tokens / prompt
            if forward and limit:
                there: Sequence[object] = ids[:hits]
                if hits + len(missing) < len(ids):  # more is there, but nothing behind a gap is a hit
                    there = [one for one in ids if one in resident]
                for block in there:
                    touch(block)
        for block in missing:
            resident[block] = None
        if answers:
            end = (prompt + request.output_tokens) // block_tokens
            answer = [(counted, place) for place in range(prompt // block_tokens, end)]
            resident.update(dict.fromkeys(answer))
        if limit and not forward:  # back to front over all of them: the beginning of the prompt is dropped last
            for block in chain(reversed(answer) if answers else (), reversed(ids)):
                touch(block)
        if limit and len(resident) > limit:
            excess = len(resident) - limit
            evictions += excess
            for _ in range(excess):
                drop(False)
    if not counted or not blocks:
        raise TraceError(Message(text.NO_IDS))
    return HitRatios(
        block=hit_blocks / blocks,
        full=(hit_blocks - no_full) / full if full else 0.0,
        token=(hit_blocks * block_tokens - no_tokens) / tokens,
        vllm=(hit_blocks - no_vllm) * block_tokens / tokens,
        request=request_sum / counted,
        evictions=evictions,
        resident_blocks=len(resident),
        requests=counted,
    )


def parallel_samples_saved(requests: Iterable[Request], samples: int, *, block_tokens: int = 16) -> float:
    """Part of all blocks that is saved when ``samples`` answers to each prompt share its full blocks.

    Averaged over the time the requests run, a token a step (what the PagedAttention paper shows in its Fig. 15).
    """
    shared = held = 0
    for request in requests:
        if not request.output_tokens:
            continue
        shared += request.output_tokens * (request.prompt_tokens // block_tokens)
        held += _rounded_up(request.prompt_tokens + request.output_tokens - 1, block_tokens)
        held -= _rounded_up(request.prompt_tokens - 1, block_tokens)
    return (samples - 1) / samples * shared / held if held else 0.0


def _rounded_up(tokens: int, block_tokens: int) -> int:
    """Blocks of 1 to ``tokens`` tokens, added up."""
    whole, rest = divmod(max(tokens, 0), block_tokens)
    return block_tokens * whole * (whole + 1) // 2 + rest * (whole + 1)
