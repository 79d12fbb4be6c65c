"""A report as one HTML page for screen and A4: no scripts, nothing from elsewhere, everything escaped."""

import re
from collections.abc import Iterator
from html import escape
from typing import Final, assert_never

from kvviz.report.document import Block, Cell, Code, Figure, Heading, Lines, Report, Section, Table
from kvviz.text import Lang

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_SHORT, _TINY = 26, 5
"""Characters of a cell that stay on one line, and on a phone's."""
_STYLE: Final = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #FFFFFF; color: #111111; font: 15px/1.5 "Source Sans 3", "Source Sans Pro", "Segoe UI",
  "Helvetica Neue", Arial, "Hiragino Sans", "Noto Sans JP", "Noto Sans CJK JP", "Yu Gothic UI", Meiryo, sans-serif; }
:lang(ja) body, body:lang(ja) { font-family: "Hiragino Sans", "Noto Sans JP", "Noto Sans CJK JP", "Yu Gothic UI",
  Meiryo, sans-serif; line-height: 1.6; }
body { text-wrap: pretty; }
:lang(ja) :is(h1, dd) { word-break: auto-phrase; }
main { max-width: 820px; margin: 0 auto; padding: 28px 24px 40px; }
p, ul, table, figure { margin: 0 0 10px; }
header { border-bottom: 2px solid #111111; margin-bottom: 18px; padding-bottom: 10px; }
header p { margin: 0; color: #444444; font-size: 0.87em; }
h1 { font-size: 1.5em; line-height: 1.25; margin: 2px 0 8px; overflow-wrap: anywhere; }
h2 { font-size: 1.1em; margin: 22px 0 8px; padding-top: 8px; border-top: 1px solid #BBBBBB; break-after: avoid; }
h3 { font-size: 0.95em; margin: 12px 0 4px; break-after: avoid; }
.strip svg { display: block; width: 300px; max-width: 100%; height: 26px; margin-bottom: 3px; }
.question { color: #444444; }
.answer { font-size: 1.2em; line-height: 1.4; border-left: 5px solid #111111; padding-left: 12px; }
.answer strong { white-space: nowrap; }
.mark { display: inline-block; min-width: 1.1em; font-weight: 700; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 8px; margin: 12px 0; }
.numbers div { border: 1px solid #999999; border-radius: 4px; padding: 8px 10px; break-inside: avoid; }
.numbers dt { font-size: 0.87em; color: #444444; }
.numbers dd { margin: 0; font-size: 0.8em; line-height: 1.4; }
.numbers dd.size { font-size: 1.5em; font-weight: 600; line-height: 1.25; }
.numbers dd.exact { color: #444444; margin-bottom: 4px; }
table { border-collapse: collapse; width: 100%; font-size: 0.8em; line-height: 1.35; }
th, td { text-align: left; vertical-align: top; padding: 2px 14px 2px 0; border-bottom: 1px solid #CCCCCC;
  overflow-wrap: break-word; }
th:last-child, td:last-child { padding-right: 0; }
.short { white-space: nowrap; }
th { font-weight: 600; border-bottom-color: #111111; }
thead th { vertical-align: bottom; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tr { break-inside: avoid; }
td code { overflow-wrap: anywhere; }
code { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.92em; }
ul { padding-left: 1.4em; }
li { margin-bottom: 3px; overflow-wrap: anywhere; }
.beside { columns: 3 200px; column-gap: 20px; font-size: 0.8em; line-height: 1.35; }
figure { break-inside: avoid; }
.on-phone { display: none; }
svg { display: block; max-width: 100%; }
.note { font-size: 0.87em; color: #333333; overflow-wrap: anywhere; }
.briefly ul, .left-out ul, .warnings ul { font-size: 0.87em; }
.origin { display: flex; gap: 24px; align-items: flex-start; border-top: 2px solid #111111; margin-top: 22px;
  padding-top: 12px; break-inside: avoid; }
.origin > div { flex: 1; min-width: 0; }
.origin h2 { border: 0; margin: 0 0 6px; padding: 0; }
.origin .qr { flex: 0 0 150px; }
.link { overflow-wrap: anywhere; font-size: 0.72em; line-height: 1.3; color: #444444; }
a { color: #005A9C; }
@media screen and (max-width: 640px) {
  main { padding: 20px 16px 32px; }
  .on-paper { display: none; }
  .on-phone { display: block; }
  th, td { padding-right: 6px; }
  td:last-child { overflow-wrap: anywhere; }
  .short:not(.tiny), th.number, .answer strong { white-space: normal; }
  table { font-size: 0.75em; }
  .origin { flex-direction: column; }
}
@page { size: A4; margin: 10mm 15mm; }
@media print {
  body, :lang(ja) body, body:lang(ja) { font-size: 11.6px; line-height: 1.32; print-color-adjust: exact;
    -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  h2 { margin: 9px 0 4px; padding-top: 4px; }
  .origin { margin-top: 10px; padding-top: 8px; }
  p, ul, table, figure { margin-bottom: 6px; }
  td, th { padding-top: 1px; padding-bottom: 1px; }
  li { margin-bottom: 1px; }
  .briefly, .left-out { break-inside: avoid; }
}
"""


def page(report: Report, lang: Lang) -> str:
    """The whole page."""
    e = escape
    strong = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", e(report.rest))
    at_once = f'<p class="note">{e(report.at_once)}</p>' if report.at_once else ""
    numbers = "".join(
        f'<div><dt>{e(n.name)}</dt><dd class="size">{e(n.size)}</dd><dd class="exact">{e(n.exact)} B</dd>'
        f"<dd>{e(n.meaning)}</dd></div>"
        for n in report.numbers
    )
    gap = "。" if lang == "ja" else " "
    body = (
        f'<header><p>{e(report.kind)}</p><h1>{e(report.title)}</h1><div class="strip">{report.strip.svg}</div>'
        f"<p>{e(report.layers)}</p></header>"
        f'<p class="question">{e(report.question)}</p>'
        f'<p class="answer"><span class="mark" aria-hidden="true">{e(report.mark)}</span> '
        f"<strong>{e(report.head)}</strong>{gap}{strong}</p>{at_once}"
        f'<dl class="numbers">{numbers}</dl>{"".join(_section(one) for one in report.sections)}{_origin(report)}'
    )
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{e(report.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>{body}</main>\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    blocks = "".join(_block(block) for block in section.blocks)
    return f'<section class="{section.name}"><h2>{escape(section.title)}</h2>{blocks}</section>'


def _block(block: Block) -> str:
    match block:
        case str():
            return f'<p class="note">{escape(block)}</p>'
        case Heading():
            return f"<h3>{escape(block.text)}</h3>"
        case Lines():
            beside = ' class="beside"' if block.short else ""
            return f"<ul{beside}>{''.join(f'<li>{escape(line)}</li>' for line in block.lines)}</ul>"
        case Figure():
            narrow = f'<div class="on-phone">{block.narrow}</div>' if block.narrow else ""
            return f'<figure><div class="on-paper">{block.svg}</div>{narrow}</figure>'
        case Table():
            return _table(block)
        case _:
            assert_never(block)


def _table(table: Table) -> str:
    heads = "".join(_heading(name, place in table.numbers) for place, name in enumerate(table.headings))
    rows = "".join(f"<tr>{''.join(_cells(row, table.numbers))}</tr>" for row in table.rows)
    head = f"<thead><tr>{heads}</tr></thead>" if heads else ""
    return f"<table>{head}<tbody>{rows}</tbody></table>"


def _heading(name: str, number: bool) -> str:
    return f'<th scope="col"{_class(name if len(name) <= _TINY else "", number)}>{escape(name)}</th>'


def _cells(row: tuple[Cell, ...], numbers: frozenset[int]) -> Iterator[str]:
    for place, cell in enumerate(row):
        inside = f"<code>{escape(cell.text)}</code>" if isinstance(cell, Code) else escape(cell)
        yield f"<td{_class(cell if isinstance(cell, str) else '', place in numbers)}>{inside}</td>"


def _class(said: str, number: bool) -> str:
    if number:
        return ' class="number"'
    if 0 < len(said) <= _TINY:
        return ' class="short tiny"'
    return ' class="short"' if 0 < len(said) <= _SHORT else ""


def _origin(report: Report) -> str:
    """Where it comes from, the link in full so that it can be typed from paper, and its code."""
    link = ""
    if report.link:
        address = escape(report.link)
        link = (
            f'<p><a href="{address}" rel="noreferrer">{escape(report.open_link)}</a></p><p class="link">{address}</p>'
        )
    code = f'<div class="qr">{report.qr}</div>' if report.qr else ""
    title = escape(report.origin_title)
    return f'<footer class="origin"><div><h2>{title}</h2>{_table(report.origin)}{link}</div>{code}</footer>'
