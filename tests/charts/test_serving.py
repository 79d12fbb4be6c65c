"""The chart of attached engines holds the samples it is drawn from."""

from typing import Any

import pytest

from kvviz.charts.serving import usage_alt, usage_figure, usage_rows
from kvviz.text import LANGUAGES, Lang
from kvviz.text import serving as text

BOTH = pytest.mark.parametrize("lang", LANGUAGES)
SEEN = [("one", [(6.0, 0.25), (4.0, 0.5), (2.0, 0.75)]), ("two", [])]


@BOTH
def test_lines_are_the_samples_in_percent(lang: Lang) -> None:
    figure: Any = usage_figure(SEEN, lang)
    assert [trace.name for trace in figure.data] == ["one", "two"]
    assert (list(figure.data[0].x), list(figure.data[0].y)) == ([6, 4, 2], [25, 50, 75])
    assert figure.layout.xaxis.range[1] == 0  # the present, at the right
    assert "one 75%" in usage_alt(SEEN, lang)
    assert usage_alt([("two", [])], lang) == text.CHART_EMPTY(lang)
    assert [row[text.USAGE(lang)] for row in usage_rows(SEEN, lang)] == ["25.0%", "50.0%", "75.0%"]


def test_no_line_is_drawn_where_nothing_was_read() -> None:
    figure: Any = usage_figure([("one", [(100.0, 0.25), (2.0, 0.75)])], "en")
    assert list(figure.data[0].y) == [25, None, 75]
