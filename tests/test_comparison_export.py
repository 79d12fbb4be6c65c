"""A comparison as files: the page's own numbers, every setting, what is assumed; no name calculates anything."""

import csv
import io
from collections.abc import Sequence
from datetime import date
from functools import cache

import pytest

from kvviz import build
from kvviz.charts.compare import cell_label, comparison_rows, runs_fewer
from kvviz.compare import Cell, Compared, cell, compare, matrix
from kvviz.core.units import format_count
from kvviz.links import pack_config
from kvviz.report import comparison
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang
from kvviz.text import charts as parts
from kvviz.text import compare as text
from kvviz.text import export as exported
from kvviz.text import report as reported
from kvviz.text import sizing as labels
from tests.test_catalogue import SMALL

HOSTILE = "a/-2_3_+(4)"
"""A name whose second half a spreadsheet would calculate."""
SCENARIOS = (
    Scenario(input=1_000_000),
    Scenario(model="meta-llama/Llama-3.1-8B-Instruct", gpus=3),  # which does not go
    Scenario(engine="llama.cpp", gpu="", headroom=0.1),
    Scenario(model=HOSTILE, config=pack_config(SMALL)),
)
LINK = "https://kvviz.example/compare?set=a_b"
DAY = date(2026, 1, 2)
BOTH = pytest.mark.parametrize("lang", LANGUAGES)


def sized(scenario: Scenario) -> Sizing:
    return resolve(scenario).size()


@cache
def cells() -> Sequence[Sequence[Cell]]:
    models = ("meta-llama/Llama-3.1-70B-Instruct", "google/gemma-3-27b-it")
    return matrix(
        Scenario(),
        lambda base, model, gpu, gpus: cell(base, model, gpu, gpus, ask=sized),
        models=models,
        gpus=("h100-80gb", "h200"),
        counts=(1, 8),
    )


@pytest.fixture(scope="module")
def compared() -> tuple[Compared, ...]:
    return compare(SCENARIOS, sized)


def table(written: bytes, title: str) -> list[dict[str, str]]:
    """The rows of one part of the file."""
    rows = list(csv.DictReader(io.StringIO(written.decode("utf-8-sig"), newline="")))
    return [row for row in rows if next(iter(row.values())) == title]


def plain(said: str) -> str:
    """With spaces that may be broken, as in a file."""
    return said.replace("\u00a0", " ")


@BOTH
def test_csv_has_the_numbers_of_the_page(compared: tuple[Compared, ...], lang: Lang) -> None:
    written = comparison.csv_bytes(compared, cells(), lang, link=LINK, day=DAY)
    shown, _ = comparison_rows(compared, lang)
    found = table(written, text.SIDE_BY_SIDE(lang))
    assert len(found) == len(shown)
    for row, of_page in zip(found, shown, strict=True):
        for heading, said in of_page.items():
            assert row[heading].lstrip("'") in {plain(said), said.replace(",", "")}
    for row, of_matrix in zip(table(written, text.MATRIX(lang)), cells(), strict=True):
        for one in of_matrix:
            heading = text.COLUMN(
                lang, count=format_count(one.scenario.gpus), gpu=comparison.short_gpu(one.scenario.gpu)
            )
            assert row[plain(heading)] == cell_label(one, lang)


@BOTH
def test_csv_has_the_settings_and_what_is_assumed(compared: tuple[Compared, ...], lang: Lang) -> None:
    written = comparison.csv_bytes(compared, cells(), lang, link=LINK, day=DAY)
    settings = {row[text.ROW(lang)]: row for row in table(written, exported.SETTINGS(lang))}
    assert [settings[labels.LABELS["input"](lang)][n] for n in "1234"] == ["1000000", "3072", "3072", "3072"]
    assert settings[labels.LABELS["headroom"](lang)]["3"] == "0.1"
    assert settings[text.ROW_ENGINE(lang)]["3"].startswith("llama.cpp ")
    assert settings[labels.LABELS["model"](lang)]["4"] == HOSTILE
    (model,) = (row for row in table(written, text.SIDE_BY_SIDE(lang)) if row[text.ROW(lang)] == text.ROW_MODEL(lang))
    assert model["4"] == f"'{HOSTILE[2:]}"
    activations = {row[text.ROW(lang)]: row for row in table(written, reported.ESTIMATES(lang))}[
        parts.ACTIVATIONS(lang)
    ]
    assert parts.BASIS["assumed"](lang) in activations["1"]
    assert activations["3"] == "–"  # without a GPU there is none
    origin = {row[text.ROW(lang)]: row["1"] for row in table(written, reported.ORIGIN(lang))}
    assert origin[reported.LINK(lang)] == LINK
    assert origin[exported.VERSION(lang)] == build.version()
    notes = [row[text.ROW(lang)] for row in table(written, reported.WARNINGS(lang))]
    problem = compared[1].problem
    assert problem is not None
    assert text.CANNOT(lang, number=2, why=problem.message(lang)) in notes


@BOTH
def test_markdown_says_the_same(compared: tuple[Compared, ...], lang: Lang) -> None:
    written = comparison.as_markdown(compared, cells(), lang, link=LINK, day=DAY)
    assert f"[{text.OPEN(lang)}]({LINK})" in written
    lines = written.splitlines()
    shown, _ = comparison_rows(compared[:3], lang)
    assert f"| {text.ROW_FIT(lang)} | {' | '.join(shown[0][n] for n in '123')} | " in "\n".join(lines)
    for row in cells():
        assert any(line.endswith(f"{' | '.join(cell_label(one, lang) for one in row)} |") for line in lines)
    assert r"\_3\_" in written
    columns = {line.replace("\\|", "").count("|") for line in lines if line.startswith("| ")}
    assert columns == {6}  # no name makes another one


@BOTH
def test_without_a_matrix_or_an_address(compared: tuple[Compared, ...], lang: Lang) -> None:
    for made in (comparison.as_markdown, comparison.csv_bytes):
        written = made(compared, (), lang, link="compare?set=a", day=DAY)
        said = written if isinstance(written, str) else written.decode("utf-8-sig")
        assert text.MATRIX(lang) not in said
        assert text.LEGEND(lang) not in said
        assert reported.NO_LINK(lang).partition("（")[0] in said.replace("\\", "")


@BOTH
def test_that_not_all_of_a_matrix_runs_at_once_is_said_as_on_the_page(
    compared: tuple[Compared, ...], lang: Lang
) -> None:
    many = Scenario(model="Qwen/Qwen3-0.6B", gpu="h200", input=32, output=32)
    found = ((cell(many, many.model, many.gpu, 1, ask=sized),),)
    note = runs_fewer(found, lang)
    assert note
    written = comparison.csv_bytes(compared, found, lang, link="", day=date(2026, 1, 1)).decode()
    assert note in written
    assert (
        runs_fewer(found, lang) not in comparison.csv_bytes(compared, (), lang, link="", day=date(2026, 1, 1)).decode()
    )
