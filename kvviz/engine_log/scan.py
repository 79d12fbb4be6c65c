"""From a pasted text to facts: one line shape found, with its figures and what stood in front of it.

Nothing is matched on positions of columns, time stamps or source lines, which change with every release. Every shape
has a key, a word that is always in it; only where a key stands the shape itself is tried, within a bounded stretch.
The lines of a server's log are alike but for their numbers, so keys are looked for in the lines that differ: five
megabytes are read in a tenth of a second. A text that asks for more work than any log is refused, and says so.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import attrgetter
from typing import Final

from kvviz.engine_log.model import LogError
from kvviz.text import Message
from kvviz.text import engine_log as text_of

_MANY_BLANKS: Final = re.compile(" " * 16 + " *")
_ESCAPES: Final = ("\x1b", "\\u001b", "\\x1b", "\\033", "^[", "#033")
"""Ways in which the escape before a colour is written."""
_ESCAPED: Final = tuple((f"{e}[", re.compile(re.escape(e) + r"\[[0-9;?]*[A-Za-z]")) for e in _ESCAPES)
_CHARACTER_SET: Final = re.compile(r"\x1b[()][0-9A-Z]")
_BARE_COLOUR: Final = re.compile(r"\[(?:\d{1,3};){0,3}\d{1,2}m")
_MOST_COLOURS: Final = 500_000
_LONGEST_NUMBER: Final = 30
_NO_NUMBER: Final = re.compile(rf"\d{{{_LONGEST_NUMBER + 1},}}")
_MANY_DIGITS: Final = re.compile(b"0" * (_LONGEST_NUMBER + 1) + b"0*")
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_WRAPPERS: Final = re.compile(
    r"\n(?:[>▎│┃][ \t]?"  # Markdown quotes
    r"|data: "
    r"|\[pod/[\w./-]{1,300}\] "
    r"|[A-Za-z][\w.-]{0,99}+[ \t]{0,99}+\| "  # docker compose
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./@-]+(?:\[\d+\])?: "  # syslog
    r"|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] |[\w.-]+ [\w./@-]+(?:\[\d+\])?: )?"
    r")+"
)
_STARTS_A_LINE: Final = re.compile(
    r"[\[({#$]|INFO|WARN|ERROR|DEBUG|time=|level=|llama|llm_|print_info|load_|ggml|main:|srv |slot "
    r"|\d{4}-\d\d|[A-Z]\w+:"
)
AHEAD: Final = 1500
"""Characters looked at after a key, over the end of its line where the text was wrapped."""
MOST_LINES: Final = 200_000
_PREFIX: Final = 300
"""Characters looked at before a shape, on its line."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One way a line can look."""

    name: str
    key: str
    """What every such line has: one word, which no wrapping breaks."""
    pattern: str
    """The whole, with named groups. A space stands for any white space, a line's end in a wrapped text included;
    ``#`` for a number."""
    behind: int = 0
    """Characters before the key where the whole may begin; 0: it begins with the key."""


@dataclass(slots=True, eq=False)
class Fact:
    """A shape found. Most are of an earlier start and never looked at again, so nothing is taken out beforehand."""

    name: str
    at: int
    match: re.Match[str]

    @property
    def groups(self) -> Mapping[str, str | None]:
        """Its figures."""
        found = self.match.groupdict()
        del found["shape"]
        return found

    @property
    def prefix(self) -> str:
        """What stands before it on its line: time, process, rank."""
        text, least = self.match.string, max(0, self.at - _PREFIX)
        return text[text.rfind("\n", least, self.at) + 1 or least : self.at]

    def __getitem__(self, group: str) -> str:
        value: str | None = self.match[group]
        if value is None:
            raise KeyError(group)
        return value

    def get(self, group: str) -> str | None:
        """The group's text; None where the line leaves it out."""
        return self.match.groupdict().get(group)


def clean(text: str) -> str:
    """The text without colours, prefixes of containers and quotes, and the padding of terminals.

    LogError where it has more lines than any log of its length, or does not repeat itself as logs do. A character that
    is looked for costs next to nothing, two are ten times as slow, and a pattern without a fixed beginning thirty
    times.
    """
    if _differing(text) > _MOST_OF_SAMPLE:
        raise LogError(Message(text_of.TOO_MUCH))
    text = _without_long_numbers(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\x00", "")
    if "\\" in text:
        if text.count("\\n") * 2 > text.count("\n"):  # a log inside JSON
            text = text.replace("\\r\\n", "\n").replace("\\n", "\n")
        text = text.replace('\\"', '"').replace("\\t", " ")
    if (lines := text.count("\n")) > MOST_LINES:
        raise LogError(Message(text_of.TOO_MANY_LINES, {"count": f"{lines:,}", "limit": f"{MOST_LINES:,}"}))
    text = "\n".join([line.rstrip() for line in _without_colours(text).split("\n")])
    text = _unwrapped(_WRAPPERS.sub("\n", f"\n{text}")[1:].split("\n"))
    return _MANY_BLANKS.sub(" " * 8, text)  # last, as a terminal counts them in its lines' width


def _without_long_numbers(text: str) -> str:
    """No figure has so many digits, and Python converts none of thousands."""
    digits = _bytes(text, _DIGITS, unknown=b"0")
    if b"0" * (_LONGEST_NUMBER + 1) not in digits:
        return text
    kept, last = [], 0
    for run in _MANY_DIGITS.finditer(digits):
        kept += [text[last : run.start()], _NO_NUMBER.sub("", text[run.start() : run.end()])]
        last = run.end()
    return "".join([*kept, text[last:]])


def _without_colours(text: str) -> str:
    escaped = [(mark, colour) for mark, colour in _ESCAPED if mark[0] in text and mark in text]
    if "\x1b" in text:
        text = _CHARACTER_SET.sub("\x00", text)
    elif not escaped and "[0m" not in text:
        return text
    if text.count("[") > _MOST_COLOURS:
        raise LogError(Message(text_of.TOO_MUCH))
    # A mark in their place: what is left on both sides of one is no colour.
    for _, colour in escaped:
        text = colour.sub("\x00", text)
    return _BARE_COLOUR.sub("\x00", text).replace("\x00", "")


def _unwrapped(lines: list[str]) -> str:
    """Lines a terminal broke at its last column are joined again: the longest lines, all of one length."""
    lengths = list(map(len, lines))
    width = max(lengths)
    longest = [number for number, length in enumerate(lengths) if length == width]
    if not (60 <= width <= 250 and len({lines[number] for number in longest}) >= 2):
        return "\n".join(lines)
    ends = ["\n"] * (len(lines) - 1) + [""]
    for number in longest[:-1] if longest[-1] == len(lines) - 1 else longest:
        if (after := lines[number + 1]) and not _STARTS_A_LINE.match(after):
            ends[number] = ""
    return "".join(chain.from_iterable(zip(lines, ends, strict=True)))


_NUMBER: Final = r"-?\d[\d,]*(?:\.\d+)?"


def _compiled(shape: Shape) -> re.Pattern[str]:
    spaced = shape.pattern.replace(" ?", r"\s*").replace(" ", r"\s+")
    numbered = re.sub(r"(?<!\\)#", lambda _: _NUMBER, spaced)
    before = f"(?s:.{{0,{shape.behind}}}?)" if shape.behind else ""
    return re.compile(f"{before}(?P<shape>{numbered})")


_ALIKE: Final = bytes(
    ord("0")
    if chr(byte) in "0123456789abcdef"
    else byte
    if 33 <= byte < 127 or byte == ord("\n")
    else ord(" ")
    if byte < 33 or byte == 0xA0
    else ord("?")
    for byte in range(256)
)
"""Times, numbers and ids look alike: every hexadecimal digit is a nought. What no key has is a space or ``?``."""
_MOST_OF_LINES: Final = 1_000_000
"""Bytes of lines that differ; where they are more, as in a log that lost its line ends, words are compared."""
_MOST_OF_SAMPLE: Final = 40_000
"""Bytes of words that differ, in a sixteenth of the text: two megabytes of documentation or programs have as many,
five megabytes of a server's lines a twentieth."""
_MOST_OF_WORDS: Final = 900_000
"""Bytes of words that differ, in all of it."""
_MOST_WORK: Final = 40_000
"""Places of keys that are looked at; a start of an engine has some hundreds."""
_AT_REQUEST: Final = b"slot up00t0"
"""What llama.cpp's server says of a slot at every request, its context's length for one (``slot update_slots:``)."""
_MOST_PIECES: Final = 1_250_000
_MOST_DIFFERENT: Final = _MOST_PIECES // 10
_LONGEST_WORD: Final = 4096
_DATA: Final = 48
"""Letters and digits in a row that are no word: a picture in base64, a hash."""


def _bytes(text: str, table: bytes, *, unknown: bytes) -> bytes:
    """One byte a character, translated; ``unknown`` for those that Latin-1 lacks."""
    one_each = text.encode("latin-1", "replace")
    return (one_each if text.isascii() else one_each.replace(b"?", unknown)).translate(table)


@dataclass(frozen=True, slots=True)
class Key:
    """How one is looked for."""

    alike: bytes
    opening: re.Pattern[bytes]
    """The words that follow it wherever it counts, as far as they stand on the same line."""
    work: int = 1
    """How much trying its shapes costs."""


def keys_of(shapes: Sequence[Shape], others: Iterable[str]) -> dict[str, Key]:
    """Keys of shapes, and other words that are looked for."""
    openings: dict[str, list[bytes]] = {}
    work: dict[str, int] = {}
    for shape in shapes:
        openings.setdefault(shape.key, []).append(_opening(shape))
        work[shape.key] = work.get(shape.key, 0) + 1 + shape.behind // 10
    for other in others:
        openings.setdefault(other, []).append(b"")
        work.setdefault(other, 1)
    return {
        key: Key(key.encode().translate(_ALIKE), re.compile(b"|".join(all_of_it)), work[key])
        for key, all_of_it in openings.items()
    }


_LITERAL: Final = re.compile(r"(?:[\w:=/,\"' -]|\\\.)*(?![?*+{])")


def _opening(shape: Shape) -> bytes:
    """The fixed words that a shape begins with, any of them the last on its line."""
    literal = _LITERAL.match(shape.pattern.removeprefix(r"\b"))
    words = literal[0].replace("\\.", ".") if literal else ""
    if not words.startswith(shape.key):
        return b""
    *first, opening = [re.escape(word.translate(_ALIKE)) for word in words.encode().split(b" ")]
    for word in reversed(first):
        opening = word + rb"[ ?]*(?:[\n]|\Z|[ ?]" + opening + b")"
    return opening


def places(text: str, keys: Mapping[str, Key]) -> dict[str, list[int]]:
    """Where these words stand in a cleaned text, in order. LogError where that is more work than any log is."""
    alike = _bytes(text.replace("\u3000", " "), _ALIKE, unknown=b"?")
    pieces, most = alike.split(b"\n"), _MOST_WORK
    different = {piece for piece in set(pieces) if _AT_REQUEST not in piece}
    if sum(map(len, different)) > _MOST_OF_LINES:
        if len(set(b"\n".join(pieces[::8]).split())) > _MOST_DIFFERENT // 5:  # so many of all would be far too many
            raise LogError(Message(text_of.TOO_MUCH))
        pieces, most = alike.replace(b"\n", b" ").split(b" ", _MOST_PIECES), _MOST_WORK * 2 // 3
        different = set(pieces)
        if len(pieces) > _MOST_PIECES or len(different) > _MOST_DIFFERENT:
            raise LogError(Message(text_of.TOO_MUCH))
        different = set(_without_data(different))
    hits = _hits(list(different), keys)
    found: dict[str, list[int]] = {}
    if not hits:
        return found
    with_hits = [number for number, piece in enumerate(pieces) if piece in hits]
    if len(with_hits) > most:
        raise LogError(Message(text_of.TOO_MUCH))
    before, work = list(accumulate(map(len, pieces), initial=0)), 0
    for number in with_hits:
        begin = before[number] + number
        for key, within in hits[pieces[number]]:
            work += keys[key].work
            if text.startswith(key, begin + within):
                found.setdefault(key, []).append(begin + within)
        if work > most:
            raise LogError(Message(text_of.TOO_MUCH))
    return found


def _without_data(words: Iterable[bytes]) -> list[bytes]:
    return [
        word
        for word in words
        if len(word) < _DATA or not (len(word) > _LONGEST_WORD or word.translate(None, b"+/=").isalnum())
    ]


def _differing(text: str) -> int:
    """Bytes of words that differ in a sixteenth of a text."""
    sample = " ".join([text[at : at + 4096] for at in range(0, len(text), 16 * 4096)])
    return sum(map(len, _without_data(set(_bytes(sample, _ALIKE, unknown=b"?").split()))))


def _hits(pieces: Sequence[bytes], keys: Mapping[str, Key]) -> dict[bytes, list[tuple[str, int]]]:
    """Of different pieces those with a key, perhaps, and where in them."""
    joined = b"\n".join(pieces)
    words = b"\n".join(_without_data(set(joined.split())))
    if len(words) > _MOST_OF_WORDS:
        raise LogError(Message(text_of.TOO_MUCH))
    begins = list(accumulate((len(piece) + 1 for piece in pieces), initial=0))
    hits: dict[bytes, list[tuple[str, int]]] = {}
    count = 0
    for written, key in keys.items():
        at = joined.find(key.alike) if key.alike in words else -1
        while at >= 0:
            if key.opening.match(joined, at):
                number = bisect_right(begins, at) - 1
                hits.setdefault(pieces[number], []).append((written, at - begins[number]))
            count += 1
            if count > _MOST_WORK:
                raise LogError(Message(text_of.TOO_MUCH))
            at = joined.find(key.alike, at + 1)
    return hits


def scanner(shapes: Sequence[Shape]) -> Callable[[str, Mapping[str, Sequence[int]]], list[Fact]]:
    """A function that finds all these shapes, in the order of the text, given the places of their keys."""
    by_key: dict[str, list[tuple[Shape, re.Pattern[str]]]] = {}
    for shape in shapes:
        by_key.setdefault(shape.key, []).append((shape, _compiled(shape)))

    def scan(text: str, at_keys: Mapping[str, Sequence[int]]) -> list[Fact]:
        found = []
        for key, alike in by_key.items():
            for shape, pattern in alike:
                match, ahead, behind = pattern.match, len(key) + AHEAD, shape.behind
                for at in at_keys.get(key, ()):
                    one = match(text, at - behind if at > behind else 0, at + ahead)
                    if one and one.start("shape") <= at < one.end():
                        found.append(Fact(shape.name, one.start("shape"), one))
        return sorted(found, key=attrgetter("at"))

    return scan


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as a command line or an engine's own list of arguments states it."""

    name: str
    value: str
    said_by_engine: bool
    """In a list of arguments the engine printed; otherwise on a command line or in somebody's words."""
    at: int


_SETTING_NAMES: Final = {
    "max_model_len": ("max_model_len", "max_seq_len", "context_length"),
    "utilization": ("gpu_memory_utilization",),
    "mem_fraction_static": ("mem_fraction_static",),
    "tp": ("tensor_parallel_size", "tensor_parallel", "tp_size", "-tp"),
    "pp": ("pipeline_parallel_size", "pipeline_parallel", "pp_size", "-pp"),
    "dp": ("data_parallel_size", "dp_size", "-dp"),
    "dcp": ("decode_context_parallel_size", "dcp_world_size", "dcp_size", "-dcp"),
    "kv_cache_dtype": ("kv_cache_dtype",),
    "dtype": ("dtype=torch",),
    "block_size": ("block_size", "page_size"),
    "max_num_seqs": ("max_num_seqs",),
    "max_num_batched_tokens": ("max_num_batched_tokens",),
    "swap_space": ("swap_space",),
    "model": ("model_path", "model_tag", "--model", "model=", "model'"),
    "fraction_of_free": ("kv_cache_free_gpu_mem_fraction", "free_gpu_memory_fraction"),
}
SETTING_KEYS: Final = {
    written: name
    for name, all_written in _SETTING_NAMES.items()
    for given in all_written
    for written in {given, given if given.startswith("-") else given.replace("_", "-")}
}
"""Every way to write a name, and the name it stands for."""
_VALUE: Final = re.compile(r"(?P<said>['\"]?\s*[=:]\s*)?\s*(?:\[?['\"])?(?P<value>[\w.+-][\w./+-]*)")
_BEFORE: Final = frozenset(" \t\n\r([{,'\"`-=")
_AFTER: Final = frozenset(" \t\n='\":")


def settings(text: str, at_keys: Mapping[str, Sequence[int]], begin: int, end: int) -> list[Setting]:
    """Settings by the names vLLM, SGLang and TensorRT-LLM give them; those of llama.cpp stand in lines of its own.

    Of a part of the text, given the places of the names in all of it.
    """
    found = []
    for written, name in SETTING_KEYS.items():
        length = len(written.rstrip("='").removesuffix("=torch"))
        for at in at_keys.get(written, ()):
            after = at + length
            if not begin <= at <= end - len(written) or text[after : min(end, after + 1)] not in _AFTER:
                continue
            if at > begin and text[at - 1] not in _BEFORE:
                continue
            if text[max(begin, at - 16) : at].endswith("equivalent to --"):  # what another setting amounts to
                continue
            value = _VALUE.match(text, after, min(end, after + 300))
            if value is not None:
                hyphened = at > begin and text[at - 1] == "-"
                said = value["said"] is not None and not hyphened and not written.startswith("-")
                found.append(Setting(name, value["value"].rstrip("."), said, at))
    return sorted(found, key=lambda setting: setting.at)


COMMAND: Final = "command"
"""Name of shapes that are a command line."""
START: Final = "start"
INITIALISED: Final = "initialised"
_LEVELS: Final = {COMMAND: 0, START: 1, INITIALISED: 2}
_DP: Final = re.compile(r"EngineCore_(?:DP)?(\d+)|ApiServer_(\d+)|\bDP(\d+)")


def starts(facts: Iterable[Fact]) -> list[list[Fact]]:
    """The facts start by start: a log often holds a failed one, then one with other flags.

    A start begins where an engine's first line comes again from the same process, or an earlier one of them comes
    after a later one; engines side by side each print theirs.
    """
    parts: list[list[Fact]] = [[]]
    seen: set[tuple[int, str]] = set()
    printed, highest = False, -1
    for fact in facts:
        level = _LEVELS.get(fact.name)
        if level is None:
            printed = True
        else:
            engine = _DP.search(fact.prefix)
            mark = (level, engine.group() if engine else "")
            repeated = mark in seen and (level > 0 or highest > 0)
            if parts[-1] and (repeated or (level < highest and not engine) or (level == 0 and printed)):
                parts.append([])
                seen, printed, highest = set(), False, -1
            seen.add(mark)
            highest = max(highest, level)
        parts[-1].append(fact)
    return parts
