"""A pool of equal blocks: which are free and in what order they are given away, and which keep a known content.

The order is that of vLLM's block pool (v1/core/block_pool.py of 0.11, ``free_blocks`` of 0.12 and later where
``unhashed_first``): blocks are taken from the head of one queue; what a request gives back joins the tail, its last
block first, so that a prefix is evicted from its end. A free block that keeps a content can be taken out of the queue
again until its turn comes.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence


class BlockPool:
    """Free queue, reference counts and prefix table of ``blocks`` blocks, numbered from 0."""

    __slots__ = ("_content", "_first", "_found", "_free", "_fresh", "_more", "_spare", "available", "blocks", "evicted")

    def __init__(self, blocks: int, *, unhashed_first: bool = False) -> None:
        self.blocks = blocks
        """Blocks of the pool."""
        self.available = blocks
        """Free blocks, those with a content among them."""
        self.evicted: list[int] = []
        """Blocks that lost their content, in that order; whoever reads them clears the list."""
        # The queue in three parts, the head first: blocks put in front (the next one last), blocks nobody ever had
        # (a number instead of as many entries), blocks given back.
        self._first: list[int] | None = [] if unhashed_first else None
        self._fresh = 0
        self._free: OrderedDict[int, None] = OrderedDict()
        self._more: dict[int, int] = {}
        """References beyond the first; a block that is not free has one."""
        self._content: dict[int, Hashable] = {}
        self._found: dict[Hashable, int] = {}
        self._spare: dict[Hashable, dict[int, None]] = {}
        """Further blocks with a content that is already in the table: two requests computed the same."""

    def take(self, count: int) -> list[int]:
        """``count`` free blocks from the head of the queue; what they kept is forgotten."""
        self.available -= count
        taken: list[int] = []
        if self._first:
            while self._first and count:
                taken.append(self._first.pop())
                count -= 1
        if count and self._fresh < self.blocks:
            end = min(self._fresh + count, self.blocks)
            taken += range(self._fresh, end)
            count -= end - self._fresh
            self._fresh = end
        if count:
            oldest, content = self._free.popitem, self._content
            for _ in range(count):
                block, _ = oldest(False)
                taken.append(block)
                if block in content:
                    self._forget(block)
        return taken

    def give_back(self, blocks: Sequence[int]) -> None:
        """One reference less to each of a request's blocks (in its own order); who has none left is free."""
        gone: Iterable[int] = reversed(blocks)
        if self._more:
            gone = self._unreferenced(gone)
            self.available += len(gone)
        else:
            self.available += len(blocks)
        if self._first is not None:
            kept = self._content
            ordered = list(gone)
            self._first += reversed([block for block in ordered if block not in kept])
            gone = [block for block in ordered if block in kept]
        free = self._free
        for block in gone:
            free[block] = None

    def _unreferenced(self, blocks: Iterable[int]) -> list[int]:
        more, gone = self._more, []
        for block in blocks:
            if block not in more:
                gone.append(block)
            elif more[block] == 1:
                del more[block]
            else:
                more[block] -= 1
        return gone

    def find(self, contents: Iterable[Hashable]) -> list[int]:
        """The blocks that keep the leading run of ``contents``; the first unknown one ends it."""
        hits = []
        for content in contents:
            block = self._found.get(content)
            if block is None:
                break
            hits.append(block)
        return hits

    def unreferenced(self, blocks: Iterable[int]) -> int:
        """How many of these blocks with a content are free."""
        free = self._free
        return sum(block in free for block in blocks)

    def hold(self, blocks: Iterable[int]) -> None:
        """One more reference to each of these blocks with a content; a free one leaves the queue."""
        for block in blocks:
            if block in self._free:
                del self._free[block]
                self.available -= 1
            else:
                self._more[block] = self._more.get(block, 0) + 1

    def keep(self, block: int, content: Hashable) -> None:
        """Remember what a full block keeps. The block that came first is the one that is found."""
        if block in self._content:
            return
        self._content[block] = content
        if self._found.setdefault(content, block) != block:
            self._spare.setdefault(content, {})[block] = None

    def _forget(self, block: int) -> None:
        content = self._content.pop(block)
        self.evicted.append(block)
        others = self._spare.get(content)
        if self._found[content] != block:
            others = self._spare[content]
            del others[block]
        elif others:
            self._found[content] = next(iter(others))
            del others[self._found[content]]
        else:
            del self._found[content]
        if others is not None and not others:
            del self._spare[content]

    def references(self, block: int) -> int:
        """How many requests hold a block."""
        if block in self._free or block >= self._fresh or (self._first and block in self._first):
            return 0
        return 1 + self._more.get(block, 0)

    def queue(self) -> list[int]:
        """The free blocks in the order in which they will be taken."""
        return [*reversed(self._first or ()), *range(self._fresh, self.blocks), *self._free]

    def contents(self) -> dict[int, Hashable]:
        """What each block keeps that keeps something."""
        return dict(self._content)
