"""A number that is not pure arithmetic says so: its basis and its source travel with it."""

from dataclasses import dataclass
from typing import Literal

from kvviz.text import Message

Basis = Literal["exact", "measured", "assumed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What weights consist of, in whatever type they are stored."""

    total: int
    linear: int | None
    """Those of linear layers, which quantised builds store in fewer bits; None where that is not known."""
    quantised: bool
    """Whether they are published in such a build, so that any other type is another checkpoint."""
    packed: tuple[tuple[int, int], ...] = ()
    """(how many of them, their bytes) of each type of fewer bits they are stored in; empty, too, where not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Bytes with the basis they rest on."""

    value_bytes: int
    basis: Basis
    source: Message
    """Where it comes from, in words a reader can check; names the error of a fit."""
    parameters: Parameters | None = None
    """Of weights as stored, where it is known: what another type would take follows from it."""
