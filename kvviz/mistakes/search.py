"""What reproduces a number: everything that could be meant, and known mistakes, alone and in pairs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import log2
from typing import Final, Literal

from kvviz.mistakes.claim import Amount, Claim, Per
from kvviz.mistakes.known import MISTAKES, Mistake, Reckoning, right, values_of, weights_bytes
from kvviz.sizing import Sizing
from kvviz.text import Message, Text
from kvviz.text import mistakes as text

NEAR: Final = Fraction(3, 100)
"""What two numbers may differ by, as a share, and still be taken for the same."""
MOST_FINDINGS: Final = 12
MOST_SPANS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A number that somebody could have come to."""

    what: Message
    """What it is a number of."""
    mistakes: tuple[Mistake, ...]
    """How; empty: it is right, of ``what``."""
    wrong_bytes: Fraction
    """What comes out."""
    right_bytes: Fraction
    """What is right for the same thing: content, or the amount itself where nothing is wrong."""
    cost: int
    """The simpler, the lower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A candidate that comes to somebody's number."""

    candidate: Candidate
    unit: Literal["as written", "binary", "decimal"]
    """As written, or the unit it really is of."""
    off: Fraction
    """How far the candidate is from the number, as a share of it."""
    printed: bool
    """It is the number, to its last digit."""

    @property
    def cost(self) -> int:
        """The simpler, the lower: a unit mixed up is a little one; a number with few digits says little."""
        mixed_up = {"as written": 0, "binary": 1, "decimal": 5}[self.unit]
        return self.candidate.cost + mixed_up + (2 if self.off > NEAR else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A whole range that one way of reckoning comes to at two lengths."""

    mistakes: tuple[Mistake, ...]
    low_tokens: int
    high_tokens: int
    unit: Literal["as written", "binary", "decimal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Where a number may come from, the simplest first; empty where no known mistake comes to it."""

    claim: Claim
    low: tuple[Finding, ...]
    high: tuple[Finding, ...]
    """Of the upper end of a range."""
    spans: tuple[Span, ...]
    tried: int
    """How many numbers were compared."""


def explained(sizing: Sizing, claim: Claim) -> Explained:
    """Compare ``claim`` with everything that could be meant, and with every known mistake and pair of them."""
    candidates = list(_distinct(sizing, claim))
    return Explained(
        claim=claim,
        low=_findings(candidates, claim.low, claim),
        high=_findings(candidates, claim.high, claim) if claim.high else (),
        spans=_spans(sizing, claim, claim.high) if claim.high else (),
        tried=len(candidates),
    )


def _findings(candidates: list[Candidate], amount: Amount, claim: Claim) -> tuple[Finding, ...]:
    found: dict[Candidate, Finding] = {}
    for unit, unit_bytes in _units(claim):
        target, half = amount.value * unit_bytes, amount.half * unit_bytes
        for candidate in candidates:
            off = abs(candidate.wrong_bytes - target)
            if off <= max(half, NEAR * target):
                finding = Finding(candidate=candidate, unit=unit, off=off / target, printed=off <= half)
                if candidate not in found or finding.cost < found[candidate].cost:
                    found[candidate] = finding
    simplest = sorted(found.values(), key=lambda f: (f.cost, not f.printed, f.off))
    # What takes a whole mistake more than the simplest way, or only comes near where something as simple is exact, is
    # chance rather than an explanation.
    to_the_digit = min((f.cost for f in simplest if f.printed), default=None)
    kept = [f for f in simplest if f.printed or to_the_digit is None or f.cost < to_the_digit]
    return tuple(f for f in kept if f.cost <= kept[0].cost + 2)[:MOST_FINDINGS]


def _units(claim: Claim) -> tuple[tuple[Literal["as written", "binary", "decimal"], int], ...]:
    """The unit as written, and the one it is mixed up with."""
    decimal, binary = claim.decimal_bytes, claim.binary_bytes
    if decimal == binary:
        return (("as written", decimal),)
    if claim.unit == "unknown":
        return ("as written", binary), ("as written", decimal)
    if claim.unit == "binary":
        return ("as written", binary), ("decimal", decimal)
    return ("as written", decimal), ("binary", binary)


_SAME: Final = {"windows": "layers"}
"""Things that one mistake can be about, and others again together."""


def _distinct(sizing: Sizing, claim: Claim) -> Iterator[Candidate]:
    """Each number by the simplest ways to it: no second mistake that changes nothing, no two that are much the same."""
    seen: set[tuple[Text, Fraction, tuple[str, ...]]] = set()
    simple: set[tuple[Text, Fraction]] = set()
    for candidate in sorted(_candidates(sizing, claim), key=lambda c: len(c.mistakes)):
        number = (candidate.what.text, candidate.wrong_bytes)
        alike = (*number, tuple(sorted(_SAME.get(m.about, m.about) for m in candidate.mistakes)))
        if candidate.wrong_bytes <= 0 or alike in seen or (len(candidate.mistakes) != 1 and number in simple):
            continue
        if candidate.mistakes and candidate.wrong_bytes == candidate.right_bytes:  # it changes nothing here
            continue
        seen.add(alike)
        if len(candidate.mistakes) < 2:
            simple.add(number)
        yield candidate


def _candidates(sizing: Sizing, claim: Claim) -> Iterator[Candidate]:
    values = values_of(sizing)
    for what, right_bytes in _meant(sizing, claim):
        yield Candidate(
            what=Message(what, values), mistakes=(), wrong_bytes=right_bytes, right_bytes=right_bytes, cost=0
        )
    base = right(sizing)
    for per in _possible(sizing, claim):
        what = {"token": text.OF_TOKEN, "request": text.OF_REQUEST, "load": text.OF_LOAD}[per]
        of_right = _result(base, per, sizing)
        for made, mistakes in _wrong(base, sizing, per, claim):
            yield Candidate(
                what=Message(what, values),
                mistakes=mistakes,
                wrong_bytes=_result(made, per, sizing),
                right_bytes=of_right,
                cost=sum(m.cost for m in mistakes),
            )


def _possible(sizing: Sizing, claim: Claim) -> tuple[Per, ...]:
    """What a number can be given for where it does not say."""
    if claim.per is not None:
        return (claim.per,)
    small = claim.decimal_bytes * claim.low.value < 64 * 1024**2  # more is no number of one token
    of_token: tuple[Per, ...] = ("token",) if small and claim.unit != "unknown" else ()
    return (*of_token, "request", "load") if sizing.scenario.requests > 1 else (*of_token, "request")


def _wrong(base: Reckoning, sizing: Sizing, per: Per, claim: Claim) -> Iterator[tuple[Reckoning, tuple[Mistake, ...]]]:
    """Every mistake, then every two about different things, in the order in which they are made."""
    possible = [m for m in MISTAKES if per in m.only and (m.said is None or claim.per in m.said)]
    if per == "request" and "load" in _possible(sizing, claim):  # the same for both: told once
        possible = [m for m in possible if not m.alone]
    singles = {m.code: made for m in possible if (made := m.make(base, sizing)) is not None}
    for mistake in possible:
        if mistake.code in singles:
            yield singles[mistake.code], (mistake,)
    for first, second in combinations(possible, 2):
        if first.code not in singles or first.about == second.about or first.alone or second.alone:
            continue
        if (both := second.make(singles[first.code], sizing)) is not None:
            yield both, (first, second)


def _result(made: Reckoning, per: Per, sizing: Sizing) -> Fraction:
    if per == "token":
        return made.token_bytes()
    count = sizing.scenario.requests if per == "load" else 1
    return made.request_bytes() * count + made.extra_bytes


def _meant(sizing: Sizing, claim: Claim) -> Iterator[tuple[Text, Fraction]]:
    """What is right, of something: different things of one scenario are easily taken for each other."""
    base, scenario, plan, budget = right(sizing), sizing.scenario, sizing.plan, sizing.budget
    content_bytes, requests = base.request_bytes(), scenario.requests
    possible = _possible(sizing, claim)
    if "token" in possible:
        yield text.OF_TOKEN, base.token_bytes()
        if content_bytes != base.token_bytes() * sizing.tokens:
            yield text.OF_TOKEN_AVERAGE, content_bytes / sizing.tokens
    if "request" in possible:
        yield text.OF_REQUEST, content_bytes
        if plan is not None and sizing.request_bytes is not None and sizing.held_bytes is not None:
            yield text.OF_REQUEST_COUNTED, Fraction(sizing.request_bytes)
            yield text.OF_REQUEST_HELD, Fraction(sizing.held_bytes)
            if plan.gpus > 1:
                yield text.OF_REQUEST_ALL_GPUS, Fraction(sum(plan.per_gpu_request_bytes(sizing.tokens)))
    if "load" in possible:
        yield text.OF_LOAD, content_bytes * requests
        if plan is not None:
            each = -(-requests // sizing.engines)
            yield text.OF_LOAD_COUNTED, sizing.need_bytes(each, sizing.tokens)
    if budget is not None and claim.per in (None, "load"):
        yield text.OF_POOL, Fraction(budget.pool_bytes)
        yield text.OF_CARD, Fraction(budget.requested_bytes)
        yield text.OF_WEIGHTS, Fraction(weights_bytes(sizing))


def _spans(sizing: Sizing, claim: Claim, high: Amount) -> tuple[Span, ...]:
    """One way of reckoning, right or with one mistake, at two lengths that are powers of two."""
    if claim.per == "token":
        return ()
    base, lengths = right(sizing), [1024 << n for n in range(11)]
    ways: list[tuple[Reckoning, tuple[Mistake, ...]]] = [(base, ())]
    ways += [w for w in _wrong(base, sizing, "request", claim) if len(w[1]) == 1 and w[1][0].about != "length"]
    found = []
    for unit, unit_bytes in _units(claim):
        for made, mistakes in ways:
            at = {n: replace(made, tokens=n).request_bytes() + made.extra_bytes for n in lengths}
            low_tokens = _length_of(at, claim.low, unit_bytes)
            high_tokens = _length_of(at, high, unit_bytes)
            if low_tokens and high_tokens and low_tokens < high_tokens:
                found.append(Span(mistakes=mistakes, low_tokens=low_tokens, high_tokens=high_tokens, unit=unit))
    middle = log2(sizing.tokens)
    far = {s: abs(log2(s.low_tokens) - middle) + abs(log2(s.high_tokens) - middle) for s in found}
    found.sort(key=lambda s: (s.unit == "decimal", sum(m.cost for m in s.mistakes), far[s]))
    distinct: dict[tuple[int, int, str], Span] = {}
    for span in found:
        about = span.mistakes[0].about if span.mistakes else ""
        distinct.setdefault((span.low_tokens, span.high_tokens, about), span)
    return tuple(distinct.values())[:MOST_SPANS]


def _length_of(at: dict[int, Fraction], amount: Amount, unit_bytes: int) -> int | None:
    target, half = amount.value * unit_bytes, amount.half * unit_bytes
    return next((n for n, b in at.items() if abs(b - target) <= max(half, NEAR * target)), None)
