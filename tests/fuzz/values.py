"""Values that nobody means."""

import math
import random
from typing import Any

STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 2**31, 2**63, 10**30, -(10**400), 10**5000),
    *(0.0, 0.5, 1.0, 8.0, -1.5, 1e308, 1e-320, math.nan, math.inf, -math.inf),
    *("", " ", "8", "0x10", "８", "auto", "none", "null", "full_attention", "sliding_attention", "NaN", "1e9"),
    *("<script>alert(1)</script>", "[x](javascript:alert(1))", "`${7*7}`", "{{7*7}}", "{x}", "%s%n", "\ud800", "\x00"),
    *("../../etc/passwd", "'; DROP TABLE models;--", "\u202egnp.exe", "a" * 5_000, "\r\nSet-Cookie: a=b"),
    *([], {}, [1], [None], [[]], {"a": 1}, ["full_attention"], list(range(50)), [10**9] * 3),
)


def nested(depth: int) -> Any:  # noqa: ANN401 - JSON
    """A list in a list, and so on."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def strange(chance: random.Random) -> Any:  # noqa: ANN401 - JSON
    """One of them."""
    if chance.random() < 0.03:
        return nested(chance.choice((3, 70, 900)))
    return chance.choice(STRANGE)


def near(chance: random.Random, number: int) -> int:
    """Another whole number of about the size: what a typing error or another model would have."""
    ways = (
        number + 1,
        number - 1,
        number * 2,
        number // 2,
        number * 3,
        number * 10,
        number + 8,
        -number,
        number * 1000,
    )
    return chance.choice(ways)


def scrambled(chance: random.Random, raw: bytes) -> bytes:
    """Bytes changed, left out, doubled or put elsewhere."""
    out = bytearray(raw)
    for _ in range(chance.choice((1, 1, 1, 2, 5, 40))):
        at, to = sorted(chance.randrange(len(out) + 1) for _ in range(2))
        match chance.randrange(6):
            case 0 if out:
                out[at % len(out)] = chance.randrange(256)
            case 1:
                del out[at : min(to, at + 200)]
            case 2:
                out[at:at] = out[at : min(to, at + 200)]
            case 3:
                out[at:at] = chance.randbytes(chance.choice((1, 3, 30)))
            case 4:
                del out[at:]
            case _:
                out[at:at] = chance.choice((b'"', b"{", b"[", b"}", b",", b"\\", b"\x00", b"\xff\xfe", b"1" * 5_000))
        if not out:
            break
    return bytes(out)
