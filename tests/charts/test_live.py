"""The charts of a run hold the samples they are drawn from, and show what differs from the prediction."""

from dataclasses import replace
from typing import Any

import pytest

from kvviz.charts.live import cache_alt, cache_figure, cache_rows, speed_alt, speed_figure, speed_rows
from kvviz.core.units import MIB, format_count
from kvviz.live import bundled, elapsed_s
from kvviz.text import LANGUAGES, Lang
from kvviz.text import live_page as text

BOTH = pytest.mark.parametrize("lang", LANGUAGES)


def trace(figure: Any, meta: str) -> Any:  # noqa: ANN401 - plotly has no types
    return next(t for t in figure.data if t.meta == meta)


@BOTH
def test_the_line_is_the_prediction_and_the_points_lie_on_it(lang: Lang) -> None:
    run = bundled()
    figure = cache_figure(run.started, run.samples, lang)
    line, points = trace(figure, "predicted"), trace(figure, "measured")
    assert run.started.predicted_bytes is not None
    assert [round(y * MIB) for y in line.y] == list(run.started.predicted_bytes)
    predicted = dict(zip(line.x, line.y, strict=True))
    assert [predicted[x] for x in points.x] == list(points.y)
    assert (points.x[0], points.x[-1]) == (run.samples[0].tokens, run.samples[-1].tokens)
    assert format_count(run.samples[-1].measured_bytes) in cache_alt(run.samples, lang)


@BOTH
def test_the_points_grow_and_the_line_is_there_from_the_start(lang: Lang) -> None:
    run = bundled()
    none, some = (cache_figure(run.started, run.samples[:count], lang) for count in (0, 7))
    assert len(trace(none, "measured").x) == 0
    assert len(trace(some, "measured").x) == 7
    assert trace(none, "predicted").x == trace(some, "predicted").x
    assert none.layout.xaxis.range == some.layout.xaxis.range
    assert cache_alt((), lang) == text.NONE_YET(lang)


@BOTH
def test_one_sample_that_differs_is_never_left_out(lang: Lang) -> None:
    run = bundled()
    for place in (1, 5, 123, 298):
        odd = replace(run.samples[place], measured_bytes=run.samples[place].measured_bytes + 64)
        samples = (*run.samples[:place], odd, *run.samples[place + 1 :])
        assert odd.tokens in trace(cache_figure(run.started, samples, lang), "measured").x
        assert {row[text.ROW_RESIDUAL(lang)] for row in cache_rows(samples, lang)} == {0, 64}


@BOTH
def test_without_a_prediction_there_is_no_line(lang: Lang) -> None:
    run = bundled()
    figure = cache_figure(replace(run.started, predicted_bytes=None), run.samples, lang)
    assert [t.meta for t in figure.data] == ["measured"]


@BOTH
def test_seconds_add_up(lang: Lang) -> None:
    runs = [("one", bundled()), ("other", bundled(cache="none"))]
    figure = speed_figure(runs, lang)
    for drawn, (name, run) in zip(figure.data, runs, strict=True):
        assert drawn.name == name
        assert drawn.y[-1] == pytest.approx(sum(s.seconds for s in run.samples))
        assert drawn.x[-1] == run.samples[-1].new_tokens
        assert f"{drawn.y[-1]:,.1f}" in speed_alt(runs, lang)
    assert figure.data[0].line.dash != figure.data[1].line.dash  # never by colour alone
    last = speed_rows(runs, lang)[-1]
    assert last["one"] == round(elapsed_s(runs[0][1].samples)[-1], 2)


@BOTH
def test_a_shorter_run_has_no_figure_beyond_its_end(lang: Lang) -> None:
    run = bundled()
    rows = speed_rows([("whole", run), ("part", replace(run, samples=run.samples[:10]))], lang)
    assert rows[-1]["part"] is None
    assert rows[0]["part"] is not None
