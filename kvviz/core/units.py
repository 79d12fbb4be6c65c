"""Bytes and counts as people read them. GiB exists only here; everything inside is integer bytes."""

from decimal import Decimal
from fractions import Fraction

KIB = 1024
MIB = 1024**2
GIB = 1024**3
TIB = 1024**4

_STEPS: tuple[tuple[int, str], ...] = ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"))


def format_bytes(count: int | Fraction) -> str:
    """Three significant digits with a binary suffix: ``10.4 GiB``, ``256 KiB``, ``132 B``."""
    sign = "-" if count < 0 else ""
    size = -count if count < 0 else count
    for unit, suffix in _STEPS:
        # 1023.95 MiB would print as "1,024 MiB": go up one unit when rounding to three digits gets there.
        if size * 10_000 >= unit * 9_995:
            return f"{sign}{_three_digits(size / unit)} {suffix}"
    return f"{sign}{_three_digits(size)} B"


def format_count(count: int) -> str:
    """Thousands separated by commas, in both languages: ``131,072``."""
    return f"{count:,}"


def format_exact(value: int | Fraction) -> str:
    """Every digit, thousands separated by commas: ``278,528``, ``3,850.25``."""
    exact = Fraction(value)
    return f"{Decimal(exact.numerator) / exact.denominator:,f}"


def format_gib(count: int | Fraction) -> str:
    """Always in GiB with two decimals, for columns of numbers: ``10.41``."""
    return f"{float(Fraction(count) / GIB):,.2f}"


def _three_digits(value: float | Fraction) -> str:
    number = float(value)
    if number >= 99.95:
        return f"{number:,.0f}"
    decimals = 1 if number >= 9.995 else 2
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
