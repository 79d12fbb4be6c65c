"""The chart of attached engines holds the samples it is drawn from."""

from itertools import pairwise
from typing import Any

import pytest
from plotly.graph_objects import Figure

from kvviz.charts.serving import usage_alt, usage_figure, usage_rows
from kvviz.charts.style import MOST_LINES
from kvviz.serving.settings import MAX_ENGINES
from kvviz.text import LANGUAGES, Lang
from kvviz.text import serving as text

BOTH = pytest.mark.parametrize("lang", LANGUAGES)
SEEN = [("one", [(6.0, 0.25), (4.0, 0.5), (2.0, 0.75)]), ("two", [])]


@BOTH
def test_lines_are_the_samples_in_percent(lang: Lang) -> None:
    figure: Any = Figure(**usage_figure(SEEN, lang))
    assert [trace.name for trace in figure.data] == ["one", "two"]
    assert (list(figure.data[0].x), list(figure.data[0].y)) == ([6, 4, 2], [25, 50, 75])
    assert figure.layout.xaxis.range[1] == 0  # the present, at the right
    assert "one 75%" in usage_alt(SEEN, lang)
    assert usage_alt([("two", [])], lang) == text.CHART_EMPTY(lang)
    assert [row[text.USAGE(lang)] for row in usage_rows(SEEN, lang)] == ["25.0%", "50.0%", "75.0%"]


def many(count: int) -> list[tuple[str, list[tuple[float, float]]]]:
    return [(f"engine {number}", [(2.0, number / 100)]) for number in range(count)]


def test_no_two_lines_are_alike() -> None:
    figure: Any = Figure(**usage_figure(many(MOST_LINES), "en"))
    assert len({(trace.line.color, trace.line.dash) for trace in figure.data}) == MOST_LINES >= MAX_ENGINES
    following = [(a.line, b.line) for a, b in pairwise(figure.data)]
    assert all(a.color != b.color and a.dash != b.dash for a, b in following)


@pytest.mark.parametrize("count", [1, 6, 16])
def test_the_legend_takes_no_height_of_the_chart_on_a_phone(count: int) -> None:
    one: Any = Figure(**usage_figure(many(1), "en"))
    figure: Any = Figure(**usage_figure(many(count), "en"))
    rows = -(-count // 2)
    assert figure.layout.height - one.layout.height >= 19 * (rows - 1)
    assert figure.layout.legend.entrywidth < 165
    long: Any = Figure(
        **usage_figure([(f"{name} that nobody would want to type", of) for name, of in many(count)], "en")
    )
    assert long.layout.height - one.layout.height >= 19 * (count - 1)


def test_a_name_is_drawn_as_it_is_written() -> None:
    figure: Any = Figure(**usage_figure([("<b>x</b> & %{y}", [(2.0, 0.5)])], "en"))
    assert figure.data[0].name == "&lt;b&gt;x&lt;/b&gt; &amp; %&#123;y}"
    assert "<b>x</b> & %{y} 50%" in usage_alt([("<b>x</b> & %{y}", [(2.0, 0.5)])], "en")  # no markup there


def test_an_engine_that_no_longer_answers_has_no_present() -> None:
    alt = usage_alt([("gone", [(100.0, 0.9)]), ("here", [(2.0, 0.5)])], "en")
    assert "here 50%" in alt
    assert "gone" not in alt


def test_no_line_is_drawn_where_nothing_was_read() -> None:
    figure: Any = Figure(**usage_figure([("one", [(100.0, 0.25), (2.0, 0.75)])], "en"))
    assert list(figure.data[0].y) == [25, None, 75]
