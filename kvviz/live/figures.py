"""What a run's samples say together: where the memory is, and what a cache saves in time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal

from kvviz.live.recording import Recording
from kvviz.live.sample import Memory, Sample, Started

Holder = Literal["weights", "kv", "rounding", "tensors", "process", "activations", "slack", "elsewhere", "free"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One share of the device's memory."""

    holder: Holder
    held_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The same tokens with a cache and without one."""

    tokens: int
    """Generated."""
    with_s: float
    without_s: float
    computed_with: int
    """Tokens that went through the model."""
    computed_without: int

    @property
    def times_faster(self) -> float:
        """Seconds without against seconds with."""
        return self.without_s / self.with_s

    def each_ms(self, whole_s: float) -> float:
        """Milliseconds a token, on average."""
        return whole_s * 1_000 / self.tokens

    @property
    def times_fewer(self) -> float:
        """Tokens computed without against tokens computed with."""
        return self.computed_without / self.computed_with


QUOTED: Final = Gain(tokens=1_000, with_s=11.9, without_s=56.2, computed_with=1_000, computed_without=500_500)
"""Figures quoted again and again, of a Hugging Face experiment whose conditions are not stated. The prompt is left out
of the count: 1 + 2 + … + 1,000 without a cache."""


def ledger(started: Started, samples: Sequence[Sample]) -> tuple[Part, ...]:
    """Where the device's memory is after the last sample; what is not to be known here is left out, never 0.

    On a GPU the parts add up to the whole of it, to the byte.
    """
    return tuple(Part(holder=holder, held_bytes=held) for holder, held in _held(started, samples) if held >= 0)


def _held(started: Started, samples: Sequence[Sample]) -> Iterator[tuple[Holder, int]]:
    sample = samples[-1]
    memory, known = sample.memory, started.weights_bytes + sample.measured_bytes
    yield "weights", started.weights_bytes
    yield "kv", sample.measured_bytes
    taken = memory.resident_bytes
    if memory.allocated_bytes is not None and memory.reserved_bytes is not None:
        taken, rounding = memory.reserved_bytes, _rounding_bytes(memory, known, sample.rounding_bytes or 0)
        slack = memory.reserved_bytes - memory.allocated_bytes
        # What a step gave back is kept for the next one: it is part of the segments that are not full.
        activations = min(most_temporary_bytes(samples) or 0, slack)
        yield "rounding", rounding
        yield "tensors", memory.allocated_bytes - known - rounding
        yield "activations", activations
        yield "slack", slack - activations
    elif taken is not None:
        yield "process", taken - known
    if memory.free_bytes is not None:
        if taken is not None and memory.total_bytes is not None:
            yield "elsewhere", memory.total_bytes - memory.free_bytes - taken
        yield "free", memory.free_bytes


def _rounding_bytes(memory: Memory, known_bytes: int, of_cache_bytes: int) -> int:
    """Of all tensors where the allocator tells it; else of the cache's, in whole granules."""
    if memory.allocated_bytes is None or memory.requested_bytes is None or memory.requested_bytes < known_bytes:
        return of_cache_bytes  # another allocator (cudaMallocAsync) counts no requests
    return memory.allocated_bytes - memory.requested_bytes


def most_temporary_bytes(samples: Sequence[Sample]) -> int | None:
    """Most that a step held beyond what stays at rest: activations. None: not to be known on this device."""
    known = [
        s.memory.peak_bytes - s.memory.allocated_bytes
        for s in samples
        if s.memory.peak_bytes is not None and s.memory.allocated_bytes is not None
    ]
    return max(known, default=None)


def elapsed_s(samples: Sequence[Sample]) -> tuple[float, ...]:
    """Seconds in all after each sample."""
    return tuple(accumulate(s.seconds for s in samples))


def gain(cached: Recording, uncached: Recording) -> Gain | None:
    """What the cache saved, as far as both runs went; None where they are not the same run otherwise."""
    one, other = cached.started, uncached.started
    tokens = min(len(cached.samples), len(uncached.samples))
    if one.cache == "none" or other.cache != "none" or not tokens:
        return None
    if _but_for_cache(one) != _but_for_cache(other):
        return None
    with_s, without_s = elapsed_s(cached.samples)[tokens - 1], elapsed_s(uncached.samples)[tokens - 1]
    if with_s <= 0:
        return None
    return Gain(
        tokens=tokens,
        with_s=with_s,
        without_s=without_s,
        computed_with=cached.samples[tokens - 1].tokens,
        computed_without=sum(s.tokens for s in uncached.samples[:tokens]),
    )


def _but_for_cache(of: Started) -> tuple[object, ...]:
    return of.model, of.random_weights, of.device, of.dtype, of.batch, of.prompt_tokens
