"""Contiguous memory: each request gets one range of slots for all it may ever need, and keeps it to its end."""

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import Final, Literal

Reserve = Literal["max", "pow2", "oracle"]
Place = Literal["buddy", "firstfit", "ideal"]

RESERVES: Final[tuple[Reserve, ...]] = ("max", "pow2", "oracle")
PLACES: Final[tuple[Place, ...]] = ("buddy", "firstfit", "ideal")


def requested_tokens(reserve: Reserve, prompt_tokens: int, output_tokens: int, max_tokens: int) -> int:
    """Slots set aside for a request, as the systems compared by the PagedAttention paper do (SOSP'23, 6.1)."""
    if reserve == "max":
        return max_tokens
    if reserve == "pow2":
        return min(max_tokens, prompt_tokens + power_of_two(output_tokens))
    return prompt_tokens + output_tokens


def power_of_two(count: int) -> int:
    """The least power of two that is not less than ``count``."""
    return 1 << (count - 1).bit_length()


class Ideal:
    """Memory without addresses, as if it were compacted all the time at no cost."""

    __slots__ = ("_free", "largest")

    def __init__(self, slots: int) -> None:
        self.largest = slots
        """The largest chunk that the empty pool has."""
        self._free = slots

    @staticmethod
    def chunk(slots: int) -> int:
        """What is really taken for ``slots`` slots."""
        return slots

    def take(self, slots: int) -> int | None:
        """Where ``slots`` slots were placed; None where they do not fit."""
        if slots > self._free:
            return None
        self._free -= slots
        return 0

    def give_back(self, start: int, slots: int) -> None:
        """The range is free again."""
        del start
        self._free += slots

    def holes(self) -> Iterable[tuple[int, int]]:
        """Free ranges: start and slots."""
        return [(0, self._free)] if self._free else []


class FirstFit:
    """A list of holes in the order of their addresses; the first that is large enough is cut from its start."""

    __slots__ = ("_sizes", "_starts", "largest")

    def __init__(self, slots: int) -> None:
        self.largest = slots
        """The largest chunk that the empty pool has."""
        self._starts = [0]
        self._sizes = [slots]

    @staticmethod
    def chunk(slots: int) -> int:
        """What is really taken for ``slots`` slots."""
        return slots

    def take(self, slots: int) -> int | None:
        """Where ``slots`` slots were placed; None where they do not fit."""
        for hole, size in enumerate(self._sizes):
            if size >= slots:
                start = self._starts[hole]
                if size == slots:
                    del self._starts[hole], self._sizes[hole]
                else:
                    self._starts[hole] += slots
                    self._sizes[hole] -= slots
                return start
        return None

    def give_back(self, start: int, slots: int) -> None:
        """The range is free again, one hole with its neighbours."""
        starts, sizes = self._starts, self._sizes
        hole = bisect_left(starts, start)
        if hole < len(starts) and starts[hole] == start + slots:
            slots += sizes[hole]
            del starts[hole], sizes[hole]
        if hole and starts[hole - 1] + sizes[hole - 1] == start:
            sizes[hole - 1] += slots
        else:
            starts.insert(hole, start)
            sizes.insert(hole, slots)

    def holes(self) -> Iterable[tuple[int, int]]:
        """Free ranges: start and slots."""
        return list(zip(self._starts, self._sizes, strict=True))


class Buddy:
    """Chunks of powers of two that are halved to fit and merged with their other half when both are free.

    The pool need not be a power of two: it begins as the powers of two it is the sum of, the largest at address 0.
    """

    __slots__ = ("_free", "largest")

    def __init__(self, slots: int) -> None:
        self.largest = 1 << (slots.bit_length() - 1)
        """The largest chunk that the empty pool has."""
        self._free: list[list[int]] = [[] for _ in range(slots.bit_length())]
        """Addresses of the free chunks of 2^order slots, in order."""
        start = 0
        for order in reversed(range(slots.bit_length())):
            if slots >> order & 1:
                self._free[order].append(start)
                start += 1 << order

    @staticmethod
    def chunk(slots: int) -> int:
        """What is really taken for ``slots`` slots."""
        return power_of_two(slots)

    def take(self, slots: int) -> int | None:
        """Where ``slots`` slots were placed; None where they do not fit."""
        wanted = (slots - 1).bit_length()
        for order in range(wanted, len(self._free)):
            if self._free[order]:
                start = self._free[order].pop(0)
                while order > wanted:
                    order -= 1
                    insort(self._free[order], start + (1 << order))
                return start
        return None

    def give_back(self, start: int, slots: int) -> None:
        """The chunk is free again, merged as far as its other half is free too."""
        order = slots.bit_length() - 1
        while True:
            free = self._free[order]
            # A chunk the pool began with has no other half: no chunk of its size begins there.
            other = start ^ (1 << order)
            position = bisect_left(free, other)
            if position == len(free) or free[position] != other:
                insort(free, start)
                return
            del free[position]
            start = min(start, other)
            order += 1

    def holes(self) -> Iterable[tuple[int, int]]:
        """Free chunks: start and slots, neighbours apart."""
        return sorted((start, 1 << order) for order, starts in enumerate(self._free) for start in starts)


def memory(place: Place, slots: int) -> Ideal | FirstFit | Buddy:
    """An empty pool of ``slots`` slots."""
    if place == "ideal":
        return Ideal(slots)
    return FirstFit(slots) if place == "firstfit" else Buddy(slots)
