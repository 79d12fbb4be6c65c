"""A typed view over one JSON object: what is read, what is wrong with it, and where every number came from.

A bad value is recorded and reading goes on with a harmless stand-in, so that a person sees every problem at once; no
layout is returned once there is a problem. What is checked against other fields takes 0 for a stand-in, and goes
unchecked there: one wrong field is one problem.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from kvviz.core.architecture.model import Fact, Note, Origin
from kvviz.core.errors import Problem
from kvviz.text import Message, Text
from kvviz.text import config as texts

Path = tuple[str | int, ...]
Default = int | bool | str
Json = object
"""Any JSON value; ``object`` because nothing about it is known before it is looked at."""

MAX_LAYERS = 4096
MAX_SIZE = 2**20
"""Bound of heads, head sizes and widths: four times the widest layer published."""
MAX_TOKENS = 2**40
MAX_KINDS = 6
MAX_SHOWN = 40
"""Characters of a person's own value that an error repeats."""


@dataclass(frozen=True, slots=True)
class Log:
    """What reading left behind; shared by the views of one file."""

    problems: list[Problem] = field(default_factory=list)
    facts: dict[tuple[str, int | str, str], Fact] = field(default_factory=dict)
    notes: dict[str, Note] = field(default_factory=dict)
    reads: dict[Path, None] = field(default_factory=dict)
    """Paths read, in order: a file reduced to these reads the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """One JSON object of a config file."""

    data: Mapping[str, Json]
    log: Log = field(default_factory=Log)
    path: Path = ()
    model_type: str = ""
    """Whose class defaults apply."""
    defaults: Mapping[str, Default] = field(default_factory=dict)
    """Values that the class supplies where the file has no such key."""

    # --- Reading --------------------------------------------------------------------------------------------------

    def value(self, name: str) -> Json:
        """The raw value; None where it is null or absent."""
        if name not in self.data:
            return None
        self.log.reads[*self.path, name] = None
        return self.data[name]

    def has(self, *names: str) -> bool:
        """True if the file gives one of ``names`` a value other than null."""
        return any(self.value(name) is not None for name in names)

    def find(self, *names: str, term: str = "", low: int = 1, high: int = MAX_SIZE, stand_in: int = 1) -> int | None:
        """The first of ``names`` with a value, else the class default. None: neither, or null in the file.

        A wrong value is a problem and ``stand_in``: no other field is asked instead of it.
        """
        silent = True
        for name in names:
            silent = silent and name not in self.data
            value = self.value(name)
            if value is None:
                continue
            number = self.checked_integer(value, (*self.path, name), low, high)
            if number is None:
                return stand_in
            self.record(term or names[0], number, "field", json_path((*self.path, name)))
            return number
        if silent:
            for name in names:
                default = self.defaults.get(name)
                if isinstance(default, int) and not isinstance(default, bool):
                    self.record(term or names[0], default, "class default", f"{self.model_type}.{name}")
                    return default
        return None

    def need(self, *names: str, term: str = "", low: int = 1, high: int = MAX_SIZE, stand_in: int = 1) -> int:
        """As ``find``, and a problem, and ``stand_in``, where nothing gives the number."""
        number = self.find(*names, term=term, low=low, high=high, stand_in=stand_in)
        if number is None:
            self.missing(*names)
            return stand_in
        return number

    def named(self, *names: str) -> str:
        """The first of ``names`` with a value, else the first: where a problem with the value stands."""
        return next((name for name in names if self.has(name)), names[0])

    def flag(self, name: str, *, default: bool = False) -> bool:
        """True or false (0 and 1 are accepted), else the class default, else ``default``."""
        value = self.value(name)
        if isinstance(value, bool):
            return value
        if isinstance(value, int) and value in (0, 1):
            return bool(value)
        if value is not None:
            self.problem(texts.NOT_A_FLAG, name, kind=kind_of(value))
            return default
        supplied = self.defaults.get(name) if name not in self.data else None
        return supplied if isinstance(supplied, bool) else default

    def word(self, name: str, *, term: str = "") -> str | None:
        """A string, else the class default; None where there is neither. With a ``term`` it is noted as a fact."""
        value = self.value(name)
        if value is None:
            supplied = self.defaults.get(name) if name not in self.data else None
            return supplied if isinstance(supplied, str) else None
        if not isinstance(value, str):
            self.problem(texts.NOT_A_STRING, name, kind=kind_of(value))
            return None
        if term:
            self.record(term, shown(value), "field", json_path((*self.path, name)))
        return value

    def items(self, name: str, *, length: int = 0, more: int | None = 0) -> tuple[Json, ...] | None:
        """A list. With ``length``, one entry a layer; ``more`` entries for draft layers (None: any number of them) may
        follow and are left off."""
        value = self.value(name)
        if value is None:
            return None
        if not isinstance(value, list):
            self.problem(texts.NOT_A_LIST, name, kind=kind_of(value))
            return None
        if length and (len(value) < length if more is None else len(value) not in (length, length + more)):
            self.problem(texts.WRONG_LENGTH, name, expected=length, found=len(value))
            return None
        if len(value) > 2 * MAX_LAYERS:
            self.problem(texts.WRONG_LENGTH, name, expected=2 * MAX_LAYERS, found=len(value))
            return None
        items = tuple(value[:length] if length else value)
        if not any(isinstance(item, dict | list) for item in items):
            self.record(name, _summary(items), "field", json_path((*self.path, name)))
        return items

    def words(self, name: str, *, length: int = 0, more: int | None = 0) -> tuple[str, ...] | None:
        """A list of strings; a string counts as the list of its letters."""
        value = self.value(name)
        if isinstance(value, str):
            letters = Fields(data={name: list(value)}, log=self.log, path=self.path)
            return letters.words(name, length=length, more=more)
        items = self.items(name, length=length, more=more)
        if items is None:
            return None
        for index, item in enumerate(items):
            if not isinstance(item, str):
                self.problem(texts.NOT_A_STRING, name, index, kind=kind_of(item))
                return None
        return tuple(item for item in items if isinstance(item, str))

    def numbers(
        self, name: str, *, length: int = 0, more: int | None = 0, low: int = 0, high: int = MAX_SIZE
    ) -> tuple[int, ...] | None:
        """A list of whole numbers."""
        items = self.items(name, length=length, more=more)
        if items is None:
            return None
        numbers = [self.checked_integer(item, (*self.path, name, i), low, high) for i, item in enumerate(items)]
        found = tuple(number for number in numbers if number is not None)
        return found if len(found) == len(numbers) else None

    def part(self, name: str, *, defaults: Mapping[str, Default] | None = None) -> "Fields | None":
        """An object within this one."""
        value = self.value(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.problem(texts.NOT_AN_OBJECT, name, kind=kind_of(value))
            return None
        path = (*self.path, name)
        return Fields(data=value, log=self.log, path=path, model_type=self.model_type, defaults=defaults or {})

    def parts(self, name: str, *, length: int = 0) -> "tuple[Fields, ...] | None":
        """A list of objects."""
        items = self.items(name, length=length)
        if items is None:
            return None
        parts = []
        for index, item in enumerate(items):
            if not isinstance(item, dict):
                self.problem(texts.NOT_AN_OBJECT, name, index, kind=kind_of(item))
                return None
            parts.append(Fields(data=item, log=self.log, path=(*self.path, name, index)))
        return tuple(parts)

    # --- Recording ------------------------------------------------------------------------------------------------

    def record(self, term: str, value: int | str, origin: Origin, where: str) -> None:
        """Note where a number came from; equal entries of a list once."""
        anywhere = re.sub(r"\[\d+\]", "[]", where)
        self.log.facts.setdefault((term, value, anywhere), Fact(term=term, value=value, origin=origin, where=where))

    def derive(self, term: str, value: int, how: str) -> int:
        """Note a number that is arithmetic over others, and return it."""
        self.record(term, value, "derived", how)
        return value

    def divide(self, term: str, value: int, divisor: int, how: str, *where: str | int) -> int:
        """Note an exact quotient, and return it; a problem at ``where`` if there is a remainder. 1 where one of the two
        is a stand-in."""
        if not value or not divisor:
            return 1
        if value % divisor:
            self.problem(texts.NOT_DIVISIBLE, *where, value=value, divisor=divisor)
            return 1
        return self.derive(term, value // divisor, f"{how} = {value} // {divisor}")

    def problem(self, text: Text, *where: str | int, **values: object) -> None:
        """Something is wrong at ``where`` below this object."""
        message = Message(text, values)
        self.log.problems.append(Problem(message=message, path=json_path((*self.path, *where))))

    def missing(self, *names: str) -> None:
        """One of ``names`` is needed and none is there. What is there and wrong has its own problem already."""
        if not self.has(*names):
            self.problem(texts.MISSING, names[0], names=", ".join(names))

    def note(self, code: str, text: Text, **values: object) -> None:
        """Something the reader of the result must know; once per code."""
        self.log.notes.setdefault(code, Note(code=code, message=Message(text, values)))

    def checked_integer(self, value: Json, path: Path, low: int, high: int) -> int | None:
        """``value`` as a whole number within bounds; a problem and None otherwise."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, float):
            message = Message(texts.NOT_WHOLE if math.isfinite(value) else texts.NOT_FINITE, {"value": shown(value)})
        elif isinstance(value, bool) or not isinstance(value, int):
            message = Message(texts.NOT_AN_INTEGER, {"kind": kind_of(value)})
        elif not low <= value <= high:
            message = Message(texts.OUT_OF_BOUNDS, {"low": low, "high": high, "value": shown(value)})
        else:
            return value
        self.log.problems.append(Problem(message=message, path=json_path(path)))
        return None


def _summary(items: tuple[Json, ...]) -> str:
    """``52 sliding_attention, 10 full_attention``; only the number of entries where all differ."""
    counts = Counter(shown(item) for item in items)
    if len(counts) > MAX_KINDS:
        return str(len(items))
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def json_path(path: Path) -> str:
    """``$.text_config.layer_types[3]``."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{shown(step)}" for step in path)


def kind_of(value: Json) -> Text:
    """What kind of JSON value this is, in words."""
    if isinstance(value, bool):
        return texts.A_BOOLEAN
    for kind, text in ((dict, texts.AN_OBJECT), (list, texts.A_LIST), (str, texts.A_STRING), (int, texts.A_NUMBER)):
        if isinstance(value, kind):
            return text
    return texts.A_NUMBER if isinstance(value, float) else texts.A_NULL


def shown(value: object) -> str:
    """A person's own value, on one line and short."""
    if isinstance(value, int) and abs(value) > 10**MAX_SHOWN:
        return f"{'-' if value < 0 else ''}10^{MAX_SHOWN}…"
    text = str(value)
    text = text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
    return "".join(c if c.isprintable() else "?" for c in text)
