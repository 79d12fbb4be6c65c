"""A number as somebody wrote it: its digits, its unit, and what it says it is for."""

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10
from typing import Final, Literal

from kvviz.core.errors import KvvizError
from kvviz.scenario import shown
from kvviz.text import Message, Text
from kvviz.text import mistakes as text

_WRITTEN_CHARACTERS: Final = 400
_MOST_BYTES: Final = 10**18
_MOST_EXPONENT: Final = 2
"""Digits of a power of ten; a number is never reckoned from a longer one."""

Per = Literal["token", "request", "load"]
"""What a number can be given for: one token, one request, all requests in flight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """One number as somebody printed it."""

    written: str
    """Its digits."""
    value: Fraction
    """In its unit."""
    half: Fraction
    """Half of its last digit, in its unit: how far off the number may be that was rounded to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Somebody's number: an amount or a range, its unit, and what it says it is for."""

    low: Amount
    high: Amount | None
    """The upper end of a range."""
    decimal_bytes: int
    """Bytes of the unit where it is decimal: 10**9 for GB and GiB alike."""
    binary_bytes: int
    """The same where it is binary: 2**30."""
    unit: Literal["decimal", "binary", "unknown"]
    """How the unit is written; unknown: without any."""
    unit_name: str
    """``GB``; empty where there is none."""
    other_name: str
    """What it is mixed up with: ``GiB`` for ``GB``; empty where there is nothing."""
    per: Per | None
    """None where it does not say."""


_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:e[+-]?\d+)?"
_UNIT = r"[kmgt]i?b(?:ytes?)?|[kmgt]i|bytes?|バイト|[bkmgt](?![a-z])"
_CLAIM = re.compile(
    rf"(?<![a-z0-9_.,])({_NUMBER})\s*({_UNIT})?(?:\s*(?:-|–|—|−|~|〜|\bto\b|から)\s*({_NUMBER})\s*({_UNIT})?)?(?![\d])"
)
_PER_TOKEN = re.compile(
    r"(?:/|\bper\b|\ba\b|\beach\b)\s*(?:1\s*)?tok|(?:/\s*トークン)|トークン\s*(?:あたり|当たり|毎|ごと|につき)"
)
_WHO = "user|request|req|seq|session|prompt|conversation|client|slot|call|chat"
_PER_REQUEST = re.compile(
    rf"(?:/|\bper\b|\ba\b|\beach\b|\bone\b)\s*(?:{_WHO})"
    r"|/\s*(?:ユーザー|リクエスト|シーケンス|人|件)|(?:ユーザー|リクエスト|シーケンス|人|件)\s*(?:あたり|当たり|毎|ごと|につき)"
)
_IN_ALL = re.compile(r"\b(?:total|in all|altogether|overall|together|all (?:users|requests))\b|合計|全体|全部|総量")
_SIGN = re.compile(r"(?:^|[\s(=:~〜])[-−]$")
_TAG = re.compile(r"<\s*[/!]?\s*[a-z]")
_CALLED = re.compile(r"[a-z]\($")
"""Before a number without a unit: an argument in a program."""
_UNIT_NAMES: Final = (("B", "B"), ("kB", "KiB"), ("MB", "MiB"), ("GB", "GiB"), ("TB", "TiB"))
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_claim(written: str) -> Claim:
    """``40 GB``, ``20–40 GB``, ``39 GiB``, ``2.5 GB per user``, ``1.2 MB/token``, also inside a sentence.

    Raises KvvizError where there is no such number, or one that no memory has.
    """
    plain = unicodedata.normalize("NFKC", written[:_WRITTEN_CHARACTERS]).lower()
    found = max(_CLAIM.finditer(plain), key=_says_bytes, default=None)
    if found is None or _TAG.search(plain):
        raise _no_number(written)
    if not (found[2] or found[4]) and _CALLED.search(plain[: found.start()]):
        raise _no_number(written)
    if _SIGN.search(plain[: found.start()]):
        raise _refused(text.NEGATIVE, written, "negative")
    if any(len(number.partition("e")[2].lstrip("+-")) > _MOST_EXPONENT for number in (found[1], found[3] or "")):
        raise _refused(text.OUT_OF_RANGE, written, "out-of-range")
    first, last = found[1], found[3]
    unit = (found[4] or found[2] or "").replace("バイト", "b")
    low, high = _amount(first), _amount(last) if last else None
    if high is not None and found[2] and found[4] and found[2][0] != found[4][0]:  # 800 MB – 2 GB
        scale = Fraction(1000) ** (_POWERS.get(found[2][0], 0) - _POWERS.get(found[4][0], 0))
        low = Amount(written=plainly(low.value * scale), value=low.value * scale, half=low.half * scale)
    if high is not None and high.value < low.value:
        low, high = high, low
    if not low.value:
        raise _no_number(written)
    bare = 3 if low.value < 10_000 else 0  # GB or GiB, unless it is far too many of them
    power = _POWERS.get(unit[0], 0) if unit else bare
    if not 1 <= (high or low).value * 1000**power <= _MOST_BYTES:
        raise _refused(text.OUT_OF_RANGE, written, "out-of-range")
    decimal, binary = _UNIT_NAMES[power]
    written_as: Literal["decimal", "binary", "unknown"]
    written_as = "unknown" if not unit else "binary" if "i" in unit and power else "decimal"
    return Claim(
        low=low,
        high=high,
        decimal_bytes=1000**power,
        binary_bytes=1024**power,
        unit=written_as,
        unit_name={"unknown": "", "binary": binary, "decimal": decimal}[written_as],
        other_name="" if not power or not unit else {"binary": decimal, "decimal": binary}[written_as],
        per=_per(plain),
    )


def _says_bytes(found: re.Match[str]) -> int:
    """How sure it is that this number is of bytes: ``20–40 GB`` rather than the ``70b`` of a name, or ``32k``."""
    unit = found[4] or found[2] or ""
    if len(unit) > 1:
        return 4
    return {"": 0, "k": 1, "b": 2}.get(unit, 3)


def _amount(written: str) -> Amount:
    plain = written.replace(",", "")
    mantissa, _, exponent = plain.partition("e")
    decimals = len(mantissa.partition(".")[2])
    scale = Fraction(10) ** int(exponent or 0)
    value = Fraction(mantissa) * scale
    return Amount(written=plainly(value) if exponent else written, value=value, half=scale / (2 * 10**decimals))


def plainly(value: Fraction) -> str:
    """Three significant digits without a power of ten: ``10,700``, ``0.328``."""
    number = float(value)
    if abs(number) >= 99.95:
        return f"{number:,.0f}"
    decimals = 2 - floor(log10(abs(number))) if number else 0
    digits = f"{number:.{max(0, decimals)}f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _per(plain: str) -> Per | None:
    if _PER_TOKEN.search(plain):
        return "token"
    if _PER_REQUEST.search(plain):
        return "request"
    return "load" if _IN_ALL.search(plain) else None


def _no_number(written: str) -> KvvizError:
    return _refused(text.NOT_A_NUMBER, written, "not-a-number")


def _refused(why: Text, written: str, code: str) -> KvvizError:
    return KvvizError(Message(why, {"shown": shown(written)}), code=code)
