"""The pictures of the Learn page: so many cells as there are computations, and the same numbers in the table."""

from xml.etree import ElementTree

import pytest
from plotly.graph_objects import Figure

from kvviz.charts.learn import (
    computations_alt,
    computations_figure,
    computations_rows,
    steps_alt,
    steps_rows,
    steps_svg,
)
from kvviz.computations import steps
from kvviz.text import LANGUAGES, Lang

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("upto", "without", "cached", "looked_up"), [(1, 1, 1, 0), (5, 15, 5, 10), (8, 36, 8, 28)])
def test_a_solid_cell_is_a_computation(upto: int, without: int, cached: int, looked_up: int, lang: Lang) -> None:
    svg = ElementTree.fromstring(steps_svg(steps(8), upto, lang))  # noqa: S314 - drawn here
    cells = svg.findall(f"{SVG}rect")
    solid = [cell for cell in cells if cell.get("fill") != "none"]
    # one of each is the legend's
    assert len(solid) - 1 == without + cached
    assert len(svg.findall(f"{SVG}circle")) - 1 == looked_up
    assert len(cells) + len(svg.findall(f"{SVG}circle")) - 2 == 36 + 36
    said = [words.text or "" for words in svg.findall(f"{SVG}text")]
    assert any(str(without) in words for words in said)
    assert svg.get("aria-label") == steps_alt(steps(8), upto, lang)
    assert {f"{without}", f"{cached}"} <= set(
        steps_alt(steps(8), upto, lang).replace("、", " ").replace(",", " ").replace(".", " ").split()
    )


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_table_has_the_same(lang: Lang) -> None:
    rows = steps_rows(steps(8), lang)
    assert [list(row.values()) for row in rows][-1] == [8, 8, 36, 1, 8, 7]
    assert len(rows) == 8


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_totals_end_where_they_must(lang: Lang) -> None:
    figure = Figure(**computations_figure(1_000, lang))
    without, cached = figure.data
    assert (without.x[-1], without.y[-1]) == (1_000, 500_500)
    assert (
        figure.layout.xaxis.tickvals[-1] == 1_000 < figure.layout.xaxis.range[1]
    )  # its number would be cut at the edge
    assert (cached.x[-1], cached.y[-1]) == (1_000, 1_000)
    assert without.line.dash != cached.line.dash
    assert all("500,500" in words or "1,000" in words for words in (without.name, cached.name))
    assert list(computations_rows(1_000, lang)[0].values()) == [8, 36, 8]
    assert list(computations_rows(1_000, lang)[-1].values()) == [1_000, 500_500, 1_000]
    assert "500,500" in computations_alt(1_000, lang)
