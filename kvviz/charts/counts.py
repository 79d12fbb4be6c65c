"""How long requests may be: for charts that ask it of many lengths."""

from collections.abc import Callable
from typing import Final

from kvviz.sizing import Sizing

FAR_TOKENS: Final = 1 << 27
"""A number of requests that still fits at this length fits at any."""


def first_tokens(sizing: Sizing) -> int:
    """Shortest length there is: every request begins with what all of them share, and has a token of its own."""
    return min(sizing.scenario.shared_tokens + 1, sizing.tokens) if sizing.shared_bytes else 1


def longest(fits: Callable[[int], bool], *, first: int = 1) -> int | None:
    """Largest length that fits: 0 if not even the first does, None if every length does."""
    if not fits(first):
        return 0
    low, high = first, 2 * first
    while fits(high):
        low, high = high, 2 * high
        if high > FAR_TOKENS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
