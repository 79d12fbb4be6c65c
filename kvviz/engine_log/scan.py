"""From a pasted text to facts: one line shape found, with its figures and what stood in front of it.

Nothing is matched on positions of columns, time stamps or source lines, which change with every release. Every shape
has a key, a word that is always in it; the text is searched for the keys alone, and only there the shape itself is
tried, within a bounded stretch: a long text without a log in it costs hardly more than reading it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_COLOURS: Final = re.compile(
    r"(?:\x1b|\\u001b|\\x1b|\\033|\^\[|#033)\[[0-9;?]*[A-Za-z]|\[(?:\d{1,3};){0,3}\d{1,2}m|\x1b[()][0-9A-Z]"
)
_NO_NUMBER: Final = re.compile(r"\d{31,}")
_COLOUR_MARKS: Final = ("\x1b", "\\u001b", "\\x1b", "\\033", "^[[", "#033[", "[0m")
_WRAPPERS: Final = re.compile(
    r"(?:[>▎│┃][ \t]?"  # Markdown quotes
    r"|data: "
    r"|\[pod/[\w./-]+\] "
    r"|[A-Za-z][\w.-]*[ \t]*\| "  # docker compose
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
_MANY: Final = 100_000
"""Places of one word that are looked at: no log of a start has more."""
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


@dataclass(frozen=True, slots=True)
class Fact:
    """A shape found."""

    name: str
    groups: Mapping[str, str | None]
    prefix: str
    """What stands before it on its line: time, process, rank."""
    at: int

    def __getitem__(self, group: str) -> str:
        value = self.groups[group]
        if value is None:
            raise KeyError(group)
        return value

    def get(self, group: str) -> str | None:
        """The group's text; None where the line leaves it out."""
        return self.groups.get(group)


def clean(text: str) -> str:
    """The text without colours, prefixes of containers and quotes, and the padding of terminals."""
    text = _NO_NUMBER.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    if text.count("\\n") * 2 > text.count("\n"):  # a log inside JSON
        text = text.replace("\\r\\n", "\n").replace("\\n", "\n")
    text = text.replace('\\"', '"').replace("\\t", " ")
    if any(mark in text for mark in _COLOUR_MARKS):
        text = _COLOURS.sub("", text)
    return "\n".join(_unwrapped([_bare(line) for line in text.split("\n")]))


def _bare(line: str) -> str:
    line = line.rstrip()
    wrapped = _WRAPPERS.match(line)
    return line[wrapped.end() :] if wrapped else line


def _unwrapped(lines: list[str]) -> list[str]:
    """Lines a terminal broke at its last column are joined again: the longest lines, all of one length."""
    width = max(map(len, lines))
    full = {line for line in lines if len(line) == width}
    if not (60 <= width <= 250 and len(full) >= 2):
        return lines
    joined = [lines[0]]
    for before, line in pairwise(lines):
        if len(before) == width and line and not _STARTS_A_LINE.match(line):
            joined[-1] += line
        else:
            joined.append(line)
    return joined


_NUMBER: Final = r"-?\d[\d,]*(?:\.\d+)?"


def _compiled(pattern: str) -> re.Pattern[str]:
    spaced = pattern.replace(" ?", r"\s*").replace(" ", r"\s+")
    return re.compile(re.sub(r"(?<!\\)#", lambda _: _NUMBER, spaced))


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    for _ in range(_MANY):
        if at < 0:
            return
        yield at
        at = text.find(word, at + len(word))


def scanner(shapes: Sequence[Shape]) -> Callable[[str], list[Fact]]:
    """A function that finds all these shapes, in the order of the text."""
    by_key: dict[str, list[tuple[Shape, re.Pattern[str]]]] = {}
    for shape in shapes:
        by_key.setdefault(shape.key, []).append((shape, _compiled(shape.pattern)))

    def scan(text: str) -> list[Fact]:
        found = []
        for key, alike in by_key.items():
            for at in _places(text, key):
                for shape, pattern in alike:
                    match = _match(text, at, shape.behind, pattern, len(key))
                    if match:
                        begin = match.start()
                        line = text.rfind("\n", max(0, begin - _PREFIX), begin) + 1 or max(0, begin - _PREFIX)
                        found.append(Fact(shape.name, match.groupdict(), text[line:begin], begin))
        return sorted(found, key=lambda fact: fact.at)

    return scan


def _match(text: str, at: int, behind: int, pattern: re.Pattern[str], length: int) -> re.Match[str] | None:
    end = at + length + AHEAD
    if not behind:
        return pattern.match(text, at, end)
    match = pattern.search(text, max(0, at - behind), end)
    return match if match and match.start() <= at < match.end() else None


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
_WRITTEN: Final = {
    written: name
    for name, all_written in _SETTING_NAMES.items()
    for given in all_written
    for written in {given, given if given.startswith("-") else given.replace("_", "-")}
}
"""Every way to write a name, and the name it stands for."""
_VALUE: Final = re.compile(r"(?P<said>['\"]?\s*[=:]\s*)?\s*(?:\[?['\"])?(?P<value>[\w.+-][\w./+-]*)")
_BEFORE: Final = frozenset(" \t\n\r([{,'\"`-=")
_AFTER: Final = frozenset(" \t\n='\":")


def settings(text: str) -> list[Setting]:
    """Settings by the names vLLM, SGLang and TensorRT-LLM give them; those of llama.cpp stand in lines of its own."""
    found = []
    for written, name in _WRITTEN.items():
        for at in _places(text, written):
            end = at + len(written.rstrip("='").removesuffix("=torch"))
            if (at and text[at - 1] not in _BEFORE) or text[end : end + 1] not in _AFTER:
                continue
            if text[max(0, at - 16) : at].endswith("equivalent to --"):  # what another setting amounts to
                continue
            value = _VALUE.match(text, end, end + 300)
            if value is not None:
                said = value["said"] is not None and text[at - 1 : at] != "-" and not written.startswith("-")
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
    printed = False
    for fact in facts:
        level = _LEVELS.get(fact.name)
        if level is None:
            printed = True
        else:
            engine = _DP.search(fact.prefix)
            mark = (level, engine.group() if engine else "")
            highest = max((earlier for earlier, _ in seen), default=-1)
            repeated = mark in seen and (level > 0 or highest > 0)
            if parts[-1] and (repeated or (level < highest and not engine) or (level == 0 and printed)):
                parts.append([])
                seen, printed = set(), False
            seen.add(mark)
        parts[-1].append(fact)
    return parts
