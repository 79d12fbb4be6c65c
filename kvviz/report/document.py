"""What a report is made of, before it is HTML or Markdown: plain text, nothing of which is markup."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """A name, path or formula, set as code."""

    text: str


Cell = str | Code


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under headings."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: frozenset[int] = frozenset()
    """Columns that are aligned to the right."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A list, a line each."""

    lines: tuple[str, ...]
    short: bool = False
    """Whether several stand beside each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawing, and the same in words for those who cannot see it."""

    svg: str
    alt: str
    narrow: str = ""
    """The same for a phone; empty: it does for both."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Of a part of a section."""

    text: str


Block = str | Table | Lines | Figure | Heading


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with what stands under it."""

    name: str
    """The same in every language."""
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One of the numbers in large type."""

    name: str
    size: str
    """As people read it."""
    exact: str
    """To the byte."""
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All of it, in one language."""

    kind: str
    model: str
    title: str
    question: str
    head: str
    """The answer's beginning, with the number."""
    rest: str
    """The rest of the sentence; ``**`` round what counts."""
    mark: str
    """The verdict as one sign."""
    at_once: str
    """Both counts of what fits; empty without a budget."""
    strip: Figure
    """The model's layers."""
    layers: str
    """The same in a line."""
    numbers: tuple[Number, ...]
    sections: tuple[Section, ...]
    origin: Table
    origin_title: str
    link: str
    """Empty where the page has no web address."""
    open_link: str
    """What the link is called."""
    qr: str
    """A drawing; empty where the link is too long for one or there is none."""
