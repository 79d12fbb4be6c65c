"""From a pasted text to facts: one line shape found, with its figures and what stood in front of it.

Nothing is matched on positions of columns, time stamps or source lines, which change with every release. Every shape
has a key, words that are always in it; one pass over the text looks for the keys of all shapes, and only there the
shape itself is tried, within a bounded stretch: a long text without a log in it costs one pass, and no more.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_COLOURS: Final = re.compile(
    r"(?:\x1b|\\u001b|\\x1b|\\033|\^\[|#033)\[[0-9;?]*[A-Za-z]|\[(?:\d{1,3};){0,3}\d{1,2}m|\x1b[()][0-9A-Z]"
)
_WRAPPERS: Final = re.compile(
    r"^(?:[>▎│┃][ \t]?"  # Markdown quotes
    r"|data: "
    r"|\[pod/[\w./-]+\] "
    r"|[A-Za-z][\w.-]*[ \t]*\| "  # docker compose
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./@-]+(?:\[\d+\])?: "  # syslog
    r"|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] |[\w.-]+ [\w./@-]+(?:\[\d+\])?: )?"
    r")+",
    re.MULTILINE,
)
_STARTS_A_LINE: Final = re.compile(
    r"[\[({#$]|INFO|WARN|ERROR|DEBUG|time=|level=|llama|llm_|print_info|load_|ggml|main:|srv |slot |\d{4}-\d\d|[A-Z]\w+:"
)
_TRAILING: Final = re.compile(r"[ \t\r\xa0]+$", re.MULTILINE)

BEHIND: Final = 400
"""Characters looked at before a key, on its line."""
AHEAD: Final = 1500
"""Characters looked at after a key, over the end of its line where the text was wrapped."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One way a line can look."""

    name: str
    key: str
    """Words that every such line has. A space stands for any white space, a line's end in a wrapped text included."""
    pattern: str
    """The whole, with named groups; spaces as in the key. ``#`` stands for a number."""


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
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    if text.count("\\n") * 2 > text.count("\n"):  # a log inside JSON
        text = text.replace("\\r\\n", "\n").replace("\\n", "\n")
    text = text.replace('\\"', '"').replace("\\t", " ")
    if "[" in text:
        text = _COLOURS.sub("", text)
    text = _TRAILING.sub("", text)
    return _unwrapped(_WRAPPERS.sub("", text))


def _unwrapped(text: str) -> str:
    """Lines a terminal broke at its last column are joined again: the longest lines, all of one length."""
    lines = text.split("\n")
    width = max(map(len, lines))
    full = {line for line in lines if len(line) == width}
    if not (60 <= width <= 250 and len(full) >= 3):
        return text
    joined = [lines[0]]
    for before, line in zip(lines, lines[1:], strict=False):
        if len(before) == width and line and not _STARTS_A_LINE.match(line):
            joined[-1] += line
        else:
            joined.append(line)
    return "\n".join(joined)


_NUMBER: Final = r"-?\d[\d,]*(?:\.\d+)?"


def _compiled(pattern: str) -> re.Pattern[str]:
    spaced = pattern.replace(" ?", r"\s*").replace(" ", r"\s+")
    return re.compile(re.sub(r"(?<!\\)#", lambda _: _NUMBER, spaced))


def scanner(shapes: Sequence[Shape]) -> Callable[[str], list[Fact]]:
    """A function that finds all these shapes, in the order of the text."""
    by_key: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for shape in shapes:
        by_key.setdefault(shape.key, []).append((shape.name, _compiled(shape.pattern)))
    keys = sorted(by_key, key=len, reverse=True)
    any_key = re.compile("|".join(re.escape(key).replace(r"\ ", r"\s+") for key in keys))

    def scan(text: str) -> list[Fact]:
        found = []
        line_start = 0
        for hit in any_key.finditer(text):
            here = hit.start()
            line_start = text.rfind("\n", line_start, here) + 1 or line_start
            first = max(line_start, here - BEHIND)
            for name, pattern in by_key[" ".join(hit.group().split())]:
                match = pattern.search(text, first, hit.end() + AHEAD)
                if match and match.start() <= here < match.end():
                    prefix = text[first : match.start()]
                    found.append(Fact(name, match.groupdict(), prefix, match.start()))
        return found

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
    "max_model_len": r"max[-_]model[-_]len|max[-_]seq[-_]len(?=[= ])|context[-_]length",
    "utilization": r"gpu[-_]memory[-_]utilization",
    "mem_fraction_static": r"mem[-_]fraction[-_]static",
    "tp": r"tensor[-_]parallel(?:[-_]size)?|tp[-_]size|-tp",
    "pp": r"pipeline[-_]parallel(?:[-_]size)?|pp[-_]size|-pp",
    "dp": r"data[-_]parallel[-_]size|dp[-_]size|-dp",
    "dcp": r"decode[-_]context[-_]parallel[-_]size|dcp[-_]world[-_]size|dcp[-_]size|-dcp",
    "kv_cache_dtype": r"kv[-_]cache[-_](?:dtype|type)",
    "dtype": r"(?<![\w-])dtype(?==torch)",
    "block_size": r"block[-_]size|page[-_]size",
    "max_num_seqs": r"max[-_]num[-_]seqs",
    "max_num_batched_tokens": r"max[-_]num[-_]batched[-_]tokens",
    "swap_space": r"swap[-_]space",
    "model": r"model[-_]path|model[-_]tag|(?<=--)model(?=[= ])|(?<=[\s('\",])model(?=['\"]?[=:])",
    "fraction_of_free": r"kv[-_]cache[-_]free[-_]gpu[-_]mem(?:ory)?[-_]fraction|free[-_]gpu[-_]memory[-_]fraction",
}
_SETTING: Final = re.compile("|".join(f"(?P<{name}>{names})" for name, names in _SETTING_NAMES.items()), re.ASCII)
_VALUE: Final = re.compile(r"['\"]?(?:(?P<said>\s*[=:]\s*)|\s+)(?:\[?['\"])?(?P<value>[\w.+-][\w./+-]*)")
_LETTER: Final = re.compile(r"\w")


def settings(text: str) -> list[Setting]:
    """Settings by the names vLLM, SGLang and TensorRT-LLM give them; those of llama.cpp stand in lines of its own."""
    found = []
    for hit in _SETTING.finditer(text):
        before = text[hit.start() - 1 : hit.start()]
        if _LETTER.match(before) or text[max(0, hit.start() - 16) : hit.start()].endswith("equivalent to --"):
            continue
        value = _VALUE.match(text, hit.end(), hit.end() + 300)
        if value is None:
            continue
        said = value["said"] is not None and not before.startswith("-") and not hit.group().startswith("-")
        found.append(Setting(str(hit.lastgroup), value["value"].rstrip("."), said, hit.start()))
    return found


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
    for fact in facts:
        level = _LEVELS.get(fact.name)
        if level is not None:
            engine = _DP.search(fact.prefix)
            mark = (level, engine.group() if engine else "")
            highest = max((lv for lv, _ in seen), default=-1)
            printed = any(f.name not in _LEVELS for f in parts[-1])
            repeated = mark in seen and (level > 0 or printed or highest > 0)
            if parts[-1] and (repeated or (level < highest and not engine) or (level == 0 and printed)):
                parts.append([])
                seen = set()
            seen.add(mark)
        parts[-1].append(fact)
    return parts
