"""The largest number for which something holds that holds for every smaller one too."""

from collections.abc import Callable
from typing import Final

_ENDLESS: Final = 1 << 40
"""Tokens beyond any window and any memory."""


def largest(holds: Callable[[int], bool], most: int) -> int:
    """The largest number from 1 to ``most`` for which ``holds``; 0 where there is none."""
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def longest(fits: Callable[[int], bool]) -> int | None:
    """The longest request that ``fits``; None where no length is too long, 0 where not one token fits."""
    return None if fits(_ENDLESS) else largest(fits, _ENDLESS)
