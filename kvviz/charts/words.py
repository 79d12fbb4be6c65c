"""Counts and ticks in words, as every chart says them."""

from math import ceil, floor, log2

from kvviz.core.units import GIB, KIB, MIB, TIB, format_count
from kvviz.text import Lang
from kvviz.text import charts as text


def requests(count: int, lang: Lang) -> str:
    """``50 requests``, ``1 request``."""
    return text.REQUEST(lang) if count == 1 else text.REQUESTS(lang, requests=format_count(count))


def tokens(count: int, lang: Lang) -> str:
    """``4,096 tokens``, ``1 token``."""
    return text.TOKEN(lang) if count == 1 else text.TOKENS(lang, tokens=format_count(count))


def unit_of(top_bytes: float) -> tuple[str, int]:
    """The unit for an axis that ends at ``top_bytes``, with its bytes: no tick is ``0.2M`` or ``0.001``."""
    for name, size in (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if top_bytes >= 2 * size:
            return name, size
    return "B", 1


def ticks(end: float, *, most: int = 5) -> list[float]:
    """From 0 on, at steps of 1, 2 or 5 times a power of ten, none so near ``end`` that its number would stick out."""
    if end <= 0:
        return [0]
    power = 10.0
    while power > end / most:
        power /= 10
    while power * 10 <= end / most:
        power *= 10
    step = next(power * times for times in (1, 2, 5, 10) if end / (power * times) <= most)
    return [step * place for place in range(int(end * 0.96 / step) + 1)]


def tick(value: float) -> str:
    """``1,000``, ``2.5``, ``0``."""
    return f"{value:,.10g}"


def powers(start: float, end: float, *, most: int = 6) -> list[int]:
    """Powers of two between, for a logarithmic axis: evenly spaced, none so near ``end`` that it would stick out."""
    low, high = max(0, ceil(log2(start))), floor(log2(end) - 0.02 * log2(end / start))
    step = max(1, -(-(high - low + 1) // most))
    return [2**place for place in range(low, high + 1, step)]


def short(count: int) -> str:
    """A power of two as people write lengths: ``512``, ``4k`` (k = 1,024), ``1M``."""
    for size, suffix in ((1 << 20, "M"), (1 << 10, "k")):
        if count >= size and count % size == 0:
            return f"{count // size:,}{suffix}"
    return format_count(count)
