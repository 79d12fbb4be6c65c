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
    sign = "−" if count < 0 else ""
    size = -count if count < 0 else count
    for unit, suffix in _STEPS:
        # 1023.95 MiB would print as "1,024 MiB": go up one unit when rounding to three digits gets there.
        if size * 10_000 >= unit * 9_995:
            return f"{sign}{_three_digits(size / unit)} {suffix}"
    return f"{sign}{_three_digits(size)} B"


def format_count(count: int) -> str:
    """Thousands separated by commas, in both languages: ``131,072``."""
    return f"{count:,}".replace("-", "−")


def format_exact(value: int | Fraction) -> str:
    """Every digit, thousands separated by commas: ``278,528``, ``3,850.25``."""
    exact = Fraction(value)
    return f"{Decimal(exact.numerator) / exact.denominator:,f}"


def format_gib(count: int | Fraction) -> str:
    """Always in GiB with two decimals, for columns of numbers: ``10.41``."""
    return f"{float(Fraction(count) / GIB):,.2f}"


def format_factor(count: int | Fraction) -> str:
    """All of it, for a product that is to come out as printed: ``4 MiB``, ``1,088 KiB``, ``10,250 B``."""
    for unit, suffix in _STEPS:
        if count and Fraction(count) * 100 % unit == 0:
            return f"{format_exact(Fraction(count) / unit)} {suffix}"
    return f"{format_exact(count)} B"


def format_terms(
    result: int | Fraction, *terms: int | Fraction, exact: int | Fraction = 0, times: Fraction = Fraction(1)
) -> tuple[str, ...]:
    """``terms`` whose sum with ``exact``, ``times`` a factor, is ``result``: in one unit, without signs.

    They have as many decimals as it takes to come, as printed, to what ``format_bytes`` prints of the result; ``exact``
    is printed in full.
    """
    fractions = [Fraction(term) for term in terms]
    unit, suffix = next((step for step in _STEPS if any(abs(term) >= step[0] for term in fractions)), (1, "B"))
    for decimals in range(1, 10):
        scale = Fraction(unit, 10**decimals)
        rounded = [round(term / scale) for term in fractions]
        if format_bytes((exact + sum(rounded) * scale) * times) == format_bytes(result):
            return tuple(f"{Decimal(abs(number)).scaleb(-decimals):,.{decimals}f} {suffix}" for number in rounded)
    return tuple(f"{format_exact(abs(term))} B" for term in fractions)


def _three_digits(value: float | Fraction) -> str:
    number = float(value)
    if number >= 99.95:
        return f"{number:,.0f}"
    decimals = 1 if number >= 9.995 else 2
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
