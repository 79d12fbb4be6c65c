"""Rounded figures of a log, and the whole numbers they can stand for."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Final

from kvviz.core.units import GIB, KIB, MIB
from kvviz.engine_log.model import LogError
from kvviz.text import Message
from kvviz.text import engine_log as text

# SGLang's GB is 2^30, llama.cpp's MB of 2023 is 2^20, and so was vLLM's GB of weights.
_UNITS: Final = {"B": 1, "KB": KIB, "KiB": KIB, "MB": MIB, "MiB": MIB, "GB": GIB, "GiB": GIB}
_DECIMAL_COMMA: Final = re.compile(r"-?\d+,\d{1,2}")
_NARROW: Final = Fraction(1, 50)
"""A range wider than this share of its value singles nothing out."""


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed amount of memory."""

    digits: Decimal
    unit: int
    """Bytes."""

    @property
    def bytes(self) -> int:
        """As printed, cut to whole bytes."""
        return int(self.digits * self.unit)

    @property
    def low(self) -> Fraction:
        """The least that is printed like this."""
        return (Fraction(self.digits) - self._half_a_step) * self.unit

    @property
    def high(self) -> Fraction:
        """The most that is printed like this."""
        return (Fraction(self.digits) + self._half_a_step) * self.unit

    @property
    def _half_a_step(self) -> Fraction:
        exponent = self.digits.as_tuple().exponent
        decimals = -exponent if isinstance(exponent, int) else 0
        return Fraction(1, 2 * 10**decimals)


def number(digits: str) -> int:
    """A count, with or without commas between thousands. LogError where it is none: ``17440.5``."""
    count = Decimal(digits.replace(",", ""))
    if count != int(count):
        raise LogError(Message(text.NOT_A_COUNT))
    return int(count)


def printed(digits: str, unit: str = "GiB") -> Printed:
    """``6.51`` and ``GiB``; shells of some countries print ``6,51``."""
    point = digits.replace(",", ".") if _DECIMAL_COMMA.fullmatch(digits) else digits.replace(",", "")
    return Printed(Decimal(point), _UNITS[unit])


def roundest(low: Fraction, high: Fraction, *, by: int = 0) -> int | None:
    """The whole number between these with most factors of two: what products of heads, sizes and bytes look like.

    ``by``: its power of two must be so many times as large as the range, so that it stands there by no accident.
    """
    if not 0 < low <= high or high - low > high * _NARROW or ceil(low) > floor(high):
        return None
    step = 1
    while floor(high / (step * 2)) * step * 2 >= low:
        step *= 2
    return floor(high / step) * step if step >= by * (high - low) else None


def rate(pool: Printed, tokens: int, slack_tokens: int, *, by: int = 0) -> int | None:
    """Bytes per token of a pool with so many tokens; what was left over is less than ``slack_tokens`` more."""
    return roundest(pool.low / (tokens + slack_tokens), pool.high / tokens, by=by) if tokens > 0 else None


def whole(amount: Printed, multiple_of: int) -> int:
    """The one number of bytes that is such a multiple and is printed like this; else as printed."""
    exact = Fraction(amount.digits) * amount.unit
    if exact.denominator == 1:
        return int(exact)
    found = floor(amount.high / multiple_of) * multiple_of if multiple_of > 1 else 0
    single = found >= amount.low and found - multiple_of < amount.low
    return found if found and single else amount.bytes


def total(amounts: Iterable[int | None]) -> int | None:
    """Their sum; None where there is none."""
    known = [a for a in amounts if a is not None]
    return sum(known) if known else None
