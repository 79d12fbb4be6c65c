"""A number that is not pure arithmetic says so: its basis and its source travel with it."""

from dataclasses import dataclass
from typing import Literal

from kvviz.text import Message

Basis = Literal["exact", "measured", "assumed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Bytes with the basis they rest on."""

    value_bytes: int
    basis: Basis
    source: Message
    """Where it comes from, in words a reader can check; names the error of a fit."""
