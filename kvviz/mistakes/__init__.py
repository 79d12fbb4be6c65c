"""Where somebody else's number comes from: known mistakes, tried on the scenario alone and in pairs."""

from kvviz.mistakes.claim import Amount, Claim, parse_claim, plainly
from kvviz.mistakes.known import MISTAKES, Mistake, name, right, why
from kvviz.mistakes.search import Explained, Finding, explained

__all__ = [
    "MISTAKES",
    "Amount",
    "Claim",
    "Explained",
    "Finding",
    "Mistake",
    "explained",
    "name",
    "parse_claim",
    "plainly",
    "right",
    "why",
]
