"""The workshop on paper: a worksheet and its answer key, each a page of HTML that needs no other file and no script."""

import re
from collections import Counter
from collections.abc import Iterable
from html import escape
from typing import Final

from kvviz import build
from kvviz.text import Lang, Message, Text, together
from kvviz.text import workshop as text
from kvviz.workshop import ALL_MINUTES, BLOCK_SQUARES, SIDES, Question, Side, Square, Step, Table, course, squares

_COLUMNS: Final = 16
_SQUARE: Final = 20
_STYLE: Final = """
@page { size: A4; margin: 12mm 15mm; }
* { box-sizing: border-box; }
body { color: #000; background: #fff; font: 10pt/1.4 "Hiragino Sans", "Noto Sans CJK JP", "Noto Sans JP", "Yu Gothic",
  Meiryo, "Source Sans 3", "Segoe UI", Arial, sans-serif; max-width: 188mm; margin: 0 auto; padding: 4mm;
  text-wrap: pretty; }
:lang(ja) { word-break: auto-phrase; }
@media print { body { max-width: none; padding: 0; } }
@media screen { table { display: block; overflow-x: auto; } }
h1 { font-size: 16pt; line-height: 1.25; margin: 0 0 3mm; }
h2 { font-size: 12pt; margin: 0 0 1mm; border-bottom: 0.4mm solid #000; display: flex; justify-content: space-between; }
h2 small { font-weight: normal; font-size: 9.5pt; }
section { break-inside: avoid; margin: 0 0 4mm; }
p { margin: 0 0 1.5mm; }
.name { display: flex; gap: 8mm; margin: 0 0 5mm; }
.name span { flex: 1; border-bottom: 0.2mm solid #000; }
.question { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: end; gap: 0 5mm;
  margin: 0 0 1.5mm; }
.question > :first-child { flex: 1 1 60mm; }
.write { display: flex; gap: 3mm; }
.write span { width: 34mm; height: 7mm; border-bottom: 0.2mm solid #000; display: flex; align-items: end;
  font-size: 9pt; }
.choose { display: flex; flex-wrap: wrap; gap: 0 5mm; }
.choose span { white-space: nowrap; }
.choose i { display: inline-block; width: 3.6mm; height: 3.6mm; border: 0.3mm solid #000; vertical-align: -0.4mm;
  margin-right: 1.5mm; }
.formula { margin: 0 0 2mm 5mm; }
.formula b { display: inline-block; width: 19mm; border-bottom: 0.2mm solid #000; }
.answer { flex: none; border: 0.3mm solid #000; padding: 0 1.5mm; font-weight: bold; }
.working { margin: 0 0 1.5mm 5mm; font-size: 9.5pt; }
table { border-collapse: collapse; margin: 1mm 0 2.5mm; font-size: 9.5pt; }
th, td { border: 0.2mm solid #000; padding: 0.4mm 2.5mm; text-align: left; vertical-align: top; }
th, .rows td:not(:last-child) { white-space: nowrap; }
.grids { display: flex; flex-wrap: wrap; gap: 2mm 6mm; margin: 0 0 2.5mm; }
figure { flex: 1 1 60mm; margin: 0; }
figcaption { font-size: 9.5pt; }
svg { display: block; width: 100%; }
footer { font-size: 8.5pt; border-top: 0.2mm solid #000; padding-top: 1mm; }
"""


def worksheet(lang: Lang) -> str:
    """What learners write on: the questions, with room for guess and answer."""
    write = "".join(f"<span>{_label(name, lang)}</span>" for name in (text.SHEET_NAME, text.SHEET_DATE))
    head = f'<div class="name">{write}</div>'
    return _page(text.WORKSHEET, head, (_step(step, lang, answers=False) for step in course(lang)), lang)


def answer_key(lang: Lang) -> str:
    """For the teacher: the same with every answer and its working, as the app computes them."""
    return _page(text.ANSWER_KEY, "", (_step(step, lang, answers=True) for step in course(lang)), lang)


def _page(sheet: Text, head: str, sections: Iterable[str], lang: Lang) -> str:
    title = escape(text.SHEET_TITLE(lang, minutes=ALL_MINUTES, sheet=sheet(lang)))
    foot = escape(text.SHEET_MADE_BY(lang, version=build.version()))
    return (
        f'<!doctype html>\n<html lang="{lang}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{_STYLE}</style></head>'
        f"<body><h1>{title}</h1>{head}\n" + "\n".join(sections) + f"\n<footer>{foot}</footer></body></html>\n"
    )


def _step(step: Step, lang: Lang, *, answers: bool) -> str:
    minutes = escape(text.MINUTES(lang, minutes=step.minutes))
    parts = [f"<h2>{step.number}. {_in(step.title, lang)}<small>{minutes}</small></h2>"]
    if not answers:
        parts.append(f"<p>{_in(step.do, lang)}</p>")
    if step.given and not answers:
        parts.append(_table_across(step.given, lang))
    if step.key == "formula" and not answers:
        blanks = " × ".join(["2", *["<b>&nbsp;</b>"] * 4])
        parts.append(f'<p class="formula">{blanks} = <b>&nbsp;</b> B</p>')
    if step.key == "blocks":
        grids = "".join(_grid(side, lang, filled=answers) for side in SIDES)
        parts.append(f'<div class="grids">{grids}</div>')
        if answers:
            parts.append(f'<p class="working">{escape(text.SHEET_LEGEND(lang))}</p>')
    several = len(step.questions) > 1
    for number, question in enumerate(step.questions, 1):
        ask = _in(question.ask, lang)
        if several:
            ask = text.ONE_OF_SEVERAL(lang, number=number, question=ask)
        beside = f'<span class="answer">{_in(question.said, lang)}</span>' if answers else _blank(question, lang)
        parts.append(f'<div class="question"><span>{ask}</span>{beside}</div>')
        if answers and question.why:
            parts.append(f'<p class="working">{_in(question.why, lang)}</p>')
    if answers:
        parts += [f'<p class="working">{_in(line, lang)}</p>' for line in step.working]
        if step.results:
            parts.append(_table(step.results, lang))
        parts.append(f"<p>{_in(step.so, lang)}</p>")
        parts += [f'<p class="working"><b>{_label(name, lang)}</b> {_in(note, lang)}</p>' for name, note in step.notes]
    return f"<section>{''.join(parts)}</section>"


def _blank(question: Question, lang: Lang) -> str:
    if question.options:
        boxes = "".join(f"<span><i></i>{_in(one.label, lang)}</span>" for one in question.options)
        return f'<span class="choose">{boxes}</span>'
    lines = "".join(f"<span>{_label(name, lang)}</span>" for name in (text.SHEET_GUESS, text.SHEET_ANSWER))
    return f'<span class="write">{lines}</span>'


def _table(of: Table, lang: Lang) -> str:
    heads = "".join(f"<th>{_in(name, lang)}</th>" for name in of.heads)
    rows = "".join("<tr>" + "".join(f"<td>{_in(cell, lang)}</td>" for cell in row) + "</tr>" for row in of.rows)
    return f'<table class="rows"><tr>{heads}</tr>{rows}</table>'


def _table_across(of: Table, lang: Lang) -> str:
    """The same with a line for each heading, which saves paper."""
    columns = zip(*of.rows, strict=True)
    lines = (
        f"<tr><th>{_in(name, lang)}</th>" + "".join(f"<td>{_in(cell, lang)}</td>" for cell in column) + "</tr>"
        for name, column in zip(of.heads, columns, strict=True)
    )
    return f"<table>{''.join(lines)}</table>"


def _grid(side: Side, lang: Lang, *, filled: bool) -> str:
    """The squared paper of one side, empty or as it is when the requests begin."""
    paper = squares(side)
    if not filled:
        paper = (Square(),) * len(paper)
    title = (text.SHEET_CONTIGUOUS if side == "contiguous" else text.SHEET_PAGED)(lang)
    return f"<figure><figcaption>{escape(title)}</figcaption>{grid_svg(side, paper, title, lang)}</figure>"


def grid_svg(side: Side, paper: tuple[Square, ...], title: str, lang: Lang) -> str:
    """Squares row by row, black on white; a block of the paged side has a thick border."""
    rows = -(-len(paper) // _COLUMNS)
    drawn = []
    for place, square in enumerate(paper):
        x, y = place % _COLUMNS * _SQUARE, place // _COLUMNS * _SQUARE
        fill = "#d0d0d0" if square.used else "#ffffff"
        drawn.append(f'<rect x="{x}" y="{y}" width="{_SQUARE}" height="{_SQUARE}" fill="{fill}" stroke="#808080"/>')
        if square.request is not None:
            middle = f'x="{x + _SQUARE / 2:g}" y="{y + _SQUARE * 0.7:g}"'
            drawn.append(f'<text {middle} text-anchor="middle" font-size="12">{square.request}</text>')
    thick = 'fill="none" stroke="#000000" stroke-width="2.4"'
    if side == "paged":
        for first in range(0, len(paper), BLOCK_SQUARES):
            x, y = first % _COLUMNS * _SQUARE, first // _COLUMNS * _SQUARE
            drawn.append(f'<rect x="{x}" y="{y}" width="{BLOCK_SQUARES * _SQUARE}" height="{_SQUARE}" {thick}/>')
    else:
        drawn.append(f'<rect x="0" y="0" width="{_COLUMNS * _SQUARE}" height="{rows * _SQUARE}" {thick}/>')
    label = escape(_spoken(paper, title, lang), quote=True)
    box = f"-2 -2 {_COLUMNS * _SQUARE + 4} {rows * _SQUARE + 4}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" viewBox="{box}">'
    return f"{head}{''.join(drawn)}</svg>"


def _spoken(paper: tuple[Square, ...], title: str, lang: Lang) -> str:
    taken = Counter(square.request for square in paper if square.request is not None)
    counts = ", ".join(text.SHEET_REQUEST(lang, request=request, count=count) for request, count in taken.items())
    return text.SHEET_GRID(lang, title=title, requests=counts or text.SHEET_EMPTY(lang, count=len(paper)))


def _label(name: Text, lang: Lang) -> str:
    return escape(text.SHEET_LABEL(lang, name=name(lang)))


def _in(said: Text | Message | str, lang: Lang) -> str:
    """As HTML; what the page makes bold is bold."""
    plain = escape(said if isinstance(said, str) else said(lang), quote=False)
    return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", together(plain))
