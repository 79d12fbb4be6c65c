"""A report as Markdown, for a design document or an issue: nothing in a name becomes a link, a picture or a mention."""

import re
from collections.abc import Sequence
from typing import Final, assert_never
from urllib.parse import quote

from kvviz.export import single_line
from kvviz.report.document import Block, Cell, Code, Figure, Heading, Lines, Report, Section, Table
from kvviz.text import Lang, verdict
from kvviz.text import explain as why
from kvviz.text import export as exported

_IN_A_LINK: Final = "/:?#@!$&+,;=%-._~[]"


def markdown(report: Report, lang: Lang) -> str:
    """All of it but the drawings, whose numbers stand in the tables."""
    sentence = verdict.SENTENCE(lang, head=f"**{report.head}**", rest=report.rest)
    out = [f"## {_escaped(report.title)}", _escaped(report.question), f"{report.mark} {sentence}"]
    out += [said for said in (report.at_once, _escaped(report.layers)) if said]
    if report.link:
        out.append(_linked(report.open_link, report.link))
    headings = (why.COLUMN_WHAT, why.COLUMN_MEANING, why.COLUMN_SIZE, why.COLUMN_BYTES)
    numbers = Table(
        headings=tuple(heading(lang) for heading in headings),
        rows=tuple((n.name, n.meaning, n.size, n.exact) for n in report.numbers),
        numbers=frozenset({2, 3}),
    )
    out.append(_table(numbers))
    for section in report.sections:
        out += _section(section, lang)
    out += [f"### {_escaped(report.origin_title)}", _pairs(report.origin, lang)]
    return "\n\n".join(out) + "\n"


def in_sections(title: str, opens: str, link: str, sections: Sequence[Section], lang: Lang) -> str:
    """A document of a link, empty where there is none, and sections."""
    out = [f"## {_escaped(title)}", _linked(opens, link)]
    for section in sections:
        out += _section(section, lang)
    return "\n\n".join(out) + "\n"


def _linked(said: str, link: str) -> str:
    return f"[{said}]({quote(link, safe=_IN_A_LINK)})" if link else _escaped(said)


def _section(section: Section, lang: Lang) -> list[str]:
    return [f"### {_escaped(section.title)}", *(said for block in section.blocks if (said := _block(block, lang)))]


def _block(block: Block, lang: Lang) -> str:
    match block:
        case str():
            return _escaped(block)
        case Heading():
            return f"**{_escaped(block.text)}**"
        case Lines(short=True):
            return exported.SETTINGS_SEPARATOR(lang).join(map(_escaped, block.lines))
        case Lines():
            return "\n".join(f"- {_escaped(line)}" for line in block.lines)
        case Figure():
            return _escaped(block.alt)
        case Table():
            return _table(block)
        case _:
            assert_never(block)


def _table(table: Table) -> str:
    rules = ["---:" if place in table.numbers else "---" for place in range(len(table.headings))]
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in ([*map(_escaped, table.headings)], rules, *rows))


def _pairs(table: Table, lang: Lang) -> str:
    """A table without headings, which Markdown does not have."""
    pairs = (exported.ONE_SETTING(lang, name=_cell(name), value=_cell(value)) for name, value in table.rows)
    return "\n".join(f"- {pair}" for pair in pairs)


def _cell(cell: Cell) -> str:
    return _code(cell.text) if isinstance(cell, Code) else _escaped(cell)


def _escaped(said: str) -> str:
    """A sentence or name as it is: nothing in it becomes a link, a picture, a mention or a column."""
    line = single_line(said)
    # Sites link addresses, @names and #numbers even where signs are escaped: an invisible space parts them.
    line = re.sub(r"(?<=:)(?=//)|(?i:(?<=www)(?=\.))|(?<=@)(?=\w)|(?<=#)(?=\d)", "\u200b", line)
    line = re.sub(r"([\\`*_\[\]<>~$|&])", r"\\\1", line)
    # At the start of a line these begin a heading or a list.
    return re.sub(r"^(\d{0,9})(?=[#+=-]|[.)]\s)", r"\1\\", line)


def _code(said: str) -> str:
    """A name, path or formula set as code where it can be: nothing inside is read as markup."""
    line = single_line(said)
    return f"`{line}`" if line and not re.search(r"[`|\\]", line) else _escaped(line)
