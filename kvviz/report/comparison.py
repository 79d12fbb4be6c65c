"""Scenarios side by side as files: the page's tables with what they rest on, as CSV and as Markdown."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from kvviz import build, export
from kvviz.charts.compare import cell_label, comparison_rows, reasons, runs_fewer, short_gpu
from kvviz.compare import Cell, Compared
from kvviz.core.units import format_count
from kvviz.dispute import assumptions, label, written
from kvviz.planning import name_of
from kvviz.report.document import Lines, Section, Table
from kvviz.report.markdown import in_sections
from kvviz.scenario import Scenario
from kvviz.text import Lang, Message
from kvviz.text import charts as parts
from kvviz.text import compare as text
from kvviz.text import export as exported
from kvviz.text import report as reported

Matrix = Sequence[Sequence[Cell]]
"""A row a model; empty where nothing is chosen."""


def csv_bytes(compared: Sequence[Compared], matrix: Matrix, lang: Lang, *, link: str, day: date) -> bytes:
    """All tables as one, which says in its first column which of them a row is of."""
    tables = {
        title: [dict(zip(table.headings, map(_number, row), strict=True)) for row in table.rows]
        for title, table in _tables(compared, matrix, lang)
    }
    tables[reported.WARNINGS(lang)] = [{text.ROW(lang): note} for note in _notes(compared, matrix, lang)]
    origin = (*_origin(lang, day=day), (reported.LINK(lang), _address(link) or reported.NO_LINK(lang)))
    tables[reported.ORIGIN(lang)] = [{text.ROW(lang): name, "1": said} for name, said in origin]
    return export.tables_text(tables, lang).encode("utf-8-sig")


def as_markdown(compared: Sequence[Compared], matrix: Matrix, lang: Lang, *, link: str, day: date) -> str:
    """The same for a design document or an issue."""
    sections = [Section(name="", title=title, blocks=(table,)) for title, table in _tables(compared, matrix, lang)]
    origin = [exported.ONE_SETTING(lang, name=name, value=said) for name, said in _origin(lang, day=day)]
    for title, lines in ((reported.WARNINGS, _notes(compared, matrix, lang)), (reported.ORIGIN, origin)):
        sections.append(Section(name="", title=title(lang), blocks=(Lines(tuple(lines)),)))
    opens = text.OPEN if _address(link) else reported.NO_LINK
    return in_sections(text.PAGE(lang), opens(lang), _address(link), sections, lang)


def _tables(compared: Sequence[Compared], matrix: Matrix, lang: Lang) -> Iterator[tuple[str, Table]]:
    rows, _ = comparison_rows(compared, lang)
    yield text.SIDE_BY_SIDE(lang), _table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    numbers = tuple(str(one.number) for one in compared)
    for title, of_each in ((exported.SETTINGS, _settings), (reported.ESTIMATES, _bases)):
        told = [of_each(one, lang) for one in compared]
        named = dict.fromkeys(name for one in told for name in one)
        if named:
            cells = [(name, *(one.get(name, "–") for one in told)) for name in named]
            yield title(lang), _table((text.ROW(lang), *numbers), cells)
    if matrix:
        heads = tuple(_column(cell.scenario, lang) for cell in matrix[0])
        cells = [(row[0].scenario.model, *(cell_label(cell, lang) for cell in row)) for row in matrix]
        yield text.MATRIX(lang), _table((text.MODEL(lang), *heads), cells)


def _table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    return Table(headings=headings, rows=tuple(rows))


def _column(scenario: Scenario, lang: Lang) -> str:
    return text.COLUMN(lang, count=format_count(scenario.gpus), gpu=short_gpu(scenario.gpu))


def _settings(one: Compared, lang: Lang) -> dict[str, str]:
    """What it is asked with, and by which rules it is answered; by name."""
    scenario = one.scenario
    engine = name_of(scenario.engine, scenario.engine_version)
    settings = {label(name)(lang): _setting(name, scenario, lang) for name in export.settings_in_use(scenario)}
    return {text.ROW_ENGINE(lang): engine, **settings, exported.MODEL_REVISION(lang): scenario.revision or "–"}


def _setting(name: str, scenario: Scenario, lang: Lang) -> str:
    if name == "gpu":  # an id that nobody knows, too
        return short_gpu(scenario.gpu) if scenario.gpu else text.NO_GPU(lang)
    return _said(written(name, getattr(scenario, name)), lang)


def _bases(one: Compared, lang: Lang) -> dict[str, str]:
    """What of one GPU's memory is measured or assumed, and from where; by name."""
    made = assumptions(one.sizing) if one.sizing else ()
    return {
        each.label(lang): text.ON_BASIS(
            lang, value=_said(each.value, lang), basis=parts.BASIS[each.basis](lang), source=_said(each.source, lang)
        )
        for each in made
        if each.basis is not None and each.source is not None
    }


def _said(value: str | Message, lang: Lang) -> str:
    return value(lang) if isinstance(value, Message) else value


def _number(cell: object) -> object:
    """For a spreadsheet, which is to reckon with it, a count without its commas."""
    return int(cell.replace(",", "")) if isinstance(cell, str) and re.fullmatch(r"\d[\d,]*", cell) else cell


def _address(link: str) -> str:
    """Empty where the page does not know its own."""
    return link if export.web_address(link) else ""


def _notes(compared: Sequence[Compared], matrix: Matrix, lang: Lang) -> Iterator[str]:
    yield text.PER_GPU(lang)
    for one in compared:
        if one.problem is not None:
            yield text.CANNOT(lang, number=one.number, why=one.problem.message(lang))
    if matrix:
        yield text.LEGEND(lang)
        if fewer := runs_fewer(matrix, lang):
            yield fewer
    for cell, why, models in reasons(matrix, lang):
        yield text.REASON_PLAIN(lang, cell=cell, models=("、" if lang == "ja" else ", ").join(models), why=why)


def _origin(lang: Lang, *, day: date) -> Iterator[tuple[str, str]]:
    yield reported.DATE(lang), reported.UTC(lang, day=day.isoformat())
    yield exported.VERSION(lang), build.version()
