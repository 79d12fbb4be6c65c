"""Prompts that share a beginning, block by block: what the prefix cache finds of each when they are sent in turn.

No tokenizer is at hand, so text is cut into pieces that stand in for tokens. What is found is not worked out here: the
prompts go through ``simulate`` with caching, and its events are read back.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from typing import Final, Literal

from kvviz.allocation.simulate import Event, Paged, simulate
from kvviz.allocation.workload import Request

MAX_BLOCK_TOKENS: Final = 128
MAX_PROMPT_CHARACTERS: Final = 2_000
"""Of one prompt on the page and in a link."""
HASH_DIGITS: Final = 6
"""Hexadecimal digits that are shown."""

State = Literal["hit", "miss", "again", "partial"]
"""``again``: known, but computed all the same, because the last token of a prompt always is."""

_WIDE = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
"""Japanese is written without spaces: a character is a piece."""
_PIECE = re.compile(rf" ?[{_WIDE}]| ?\d+| ?(?:(?![{_WIDE}\d])\w)+| ?[^\w\s]|\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBlock:
    """A block of one prompt."""

    tokens: tuple[str, ...]
    hash: str
    """Hexadecimal; of its tokens and the hash of the block before it. Empty where the block is not full."""
    state: State
    number: int
    """Which block of the pool it is."""

    @property
    def text(self) -> str:
        """What is written in it."""
        return "".join(self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedPrompt:
    """One prompt and what of it was found."""

    blocks: tuple[PromptBlock, ...]
    tokens: int
    hit_blocks: int
    hit_tokens: int
    like: int | None
    """Place of the earlier prompt with which it shares the longest beginning; None where it shares none."""
    common_tokens: int
    """Length of that beginning, whole blocks or not."""
    differs: str
    """The piece it differs in; empty where it ends before it differs."""

    @property
    def pairs(self) -> int:
        """Query-key pairs of its attention when nothing is found: each token looks at itself and all before it."""
        return self.tokens * (self.tokens + 1) // 2

    @property
    def hit_pairs(self) -> int:
        """Those of them that need not be computed."""
        return self.hit_tokens * (self.hit_tokens + 1) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedPrompts:
    """Prompts sent in turn through a pool in which nothing has to be evicted."""

    prompts: tuple[CachedPrompt, ...]
    block_tokens: int

    @property
    def tokens(self) -> int:
        """Of all prompts."""
        return sum(one.tokens for one in self.prompts)

    @property
    def hit_tokens(self) -> int:
        """Those that need not be computed."""
        return sum(one.hit_tokens for one in self.prompts)

    @property
    def blocks(self) -> int:
        """Blocks that the prompts take when each has its own."""
        return sum(len(one.blocks) for one in self.prompts)

    @property
    def hit_blocks(self) -> int:
        """Those that are shared instead, when the prompts are in memory together."""
        return sum(one.hit_blocks for one in self.prompts)

    @property
    def pairs(self) -> int:
        """Query-key pairs of the attention over all prompts."""
        return sum(one.pairs for one in self.prompts)

    @property
    def hit_pairs(self) -> int:
        """Those that need not be computed."""
        return sum(one.hit_pairs for one in self.prompts)


def pieces(prompt: str) -> tuple[str, ...]:
    """What stands in for tokens: words, numbers, punctuation marks, Japanese characters, each with a space before it.

    Nothing is lost: joined, the pieces are the prompt.
    """
    return tuple(_PIECE.findall(prompt))


def cached(prompts: Sequence[str], block_tokens: int) -> CachedPrompts:
    """Send ``prompts`` one after the other, all of them in memory at once, through a pool with prefix caching."""
    cut = [pieces(prompt) for prompt in prompts]
    hashes = [_hashes(tokens, block_tokens) for tokens in cut]
    requests = [
        Request(prompt_tokens=len(tokens), output_tokens=1, block_ids=[int(one, 16) for one in chain])
        for tokens, chain in zip(cut, hashes, strict=True)
    ]
    needed = sum(-(-len(tokens) // block_tokens) for tokens in cut)
    pool = Paged(pool_tokens=max(1, needed) * block_tokens, block_tokens=block_tokens, caching=True)
    events = list(simulate(requests, pool))
    known: set[str] = set()
    made = []
    for place, (tokens, chain) in enumerate(zip(cut, hashes, strict=True)):
        hits, fresh = (_blocks(events, kind, place) for kind in ("prefix_hit", "allocated"))
        blocks = []
        for row, number in enumerate((*hits, *fresh)):
            state: State = "hit" if row < len(hits) else "partial" if row >= len(chain) else "miss"
            if state == "miss" and chain[row] in known:
                state = "again"
            part = tokens[row * block_tokens : (row + 1) * block_tokens]
            of_block = chain[row] if row < len(chain) else ""
            blocks.append(PromptBlock(tokens=part, hash=of_block, state=state, number=number))
        known.update(chain)
        like, common = _most_alike(cut, place)
        made.append(
            CachedPrompt(
                blocks=tuple(blocks),
                tokens=len(tokens),
                hit_blocks=len(hits),
                hit_tokens=len(hits) * block_tokens,
                like=like,
                common_tokens=common,
                differs=tokens[common] if like is not None and common < len(tokens) else "",
            )
        )
    return CachedPrompts(prompts=tuple(made), block_tokens=block_tokens)


def with_lines(prompts: Sequence[str], lines: Sequence[str], *, first: bool) -> tuple[str, ...]:
    """Each prompt with a line of its own before it, or after it."""
    pairs = zip(prompts, lines, strict=True)
    return tuple(f"{line}\n{prompt}" if first else f"{prompt}\n{line}" for prompt, line in pairs)


def with_letter_changed(prompts: Sequence[str], place: int = 1) -> tuple[str, ...]:
    """One letter of one prompt replaced by another, near the middle of what all have in common."""
    prompt = prompts[place]
    common = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*prompts, strict=False)))
    middle = (common or len(prompt)) // 2
    letters = [index for index, letter in enumerate(prompt) if _LETTER.fullmatch(letter)]
    if not letters:
        return tuple(prompts)
    index = min(letters, key=lambda one: abs(one - middle))
    other = "a" if prompt[index] != "a" else "o"
    if "\u3040" <= prompt[index] <= "\u30ff":
        other = "か" if prompt[index] != "か" else "が"
    changed = prompt[:index] + other + prompt[index + 1 :]
    return (*prompts[:place], changed, *prompts[place + 1 :])


_LETTER = re.compile("[a-z\u3041-\u3096\u30a1-\u30fa]")


def _hashes(tokens: tuple[str, ...], block_tokens: int) -> list[str]:
    """Of the full blocks: each covers its tokens and the hash before it, as in vLLM (v1/core/kv_cache_utils.py,
    hash_block_tokens), so that the same tokens after another beginning are another block."""
    chain: list[str] = []
    for start in range(0, len(tokens) - block_tokens + 1, block_tokens):
        covered = [chain[-1] if chain else "", *tokens[start : start + block_tokens]]
        chain.append(sha256(json.dumps(covered).encode()).hexdigest()[:16])
    return chain


def _blocks(events: Sequence[Event], kind: str, place: int) -> tuple[int, ...]:
    return tuple(block for event in events if event.request == place and event.kind == kind for block in event.blocks)


def _most_alike(cut: Sequence[tuple[str, ...]], place: int) -> tuple[int | None, int]:
    """The earlier prompt with the longest beginning in common, and the pieces of that beginning."""
    tokens, like, common = cut[place], None, 0
    for earlier in range(place):
        same = sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(cut[earlier], tokens, strict=False)))
        if same > common:
            like, common = earlier, same
    return like, common
