"""Bytes and counts as people read them."""

from fractions import Fraction

import pytest

from kvviz.core.units import MIB, format_bytes, format_count, format_exact


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"),
        (278_528, "278,528"),
        (Fraction(15_401, 4), "3,850.25"),
        (Fraction(1_234_567_891, 128), "9,645,061.6484375"),
        (100 * 10**15, "100,000,000,000,000,000"),
        (Fraction(9, 16), "0.5625"),
    ],
)
def test_no_digit_is_lost(value: int | Fraction, expected: str) -> None:
    assert format_exact(value) == expected


def test_what_is_less_has_a_minus_and_no_hyphen() -> None:
    assert (format_bytes(-901 * MIB), format_count(-1_525)) == ("−901 MiB", "−1,525")
