"""The charts of a run hold the samples they are drawn from, and show what differs from the prediction."""

from dataclasses import replace
from typing import Any

import pytest
from plotly.graph_objects import Figure

from kvviz.charts.live import (
    cache_alt,
    cache_figure,
    cache_rows,
    memory_alt,
    memory_figure,
    memory_rows,
    speed_alt,
    speed_figure,
    speed_rows,
)
from kvviz.core.units import GIB, MIB, format_bytes, format_count
from kvviz.live import Memory, bundled, elapsed_s, ledger
from kvviz.text import LANGUAGES, Lang
from kvviz.text import live_page as text

BOTH = pytest.mark.parametrize("lang", LANGUAGES)


def trace(figure: Any, meta: str) -> Any:  # noqa: ANN401 - plotly has no types
    return next(t for t in figure.data if t.meta == meta)


@BOTH
def test_the_line_is_the_prediction_and_the_points_lie_on_it(lang: Lang) -> None:
    run = bundled()
    figure = Figure(**cache_figure(run.started, run.samples, lang))
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
    none, some = (Figure(**cache_figure(run.started, run.samples[:count], lang)) for count in (0, 7))
    assert len(trace(none, "measured").x) == 0
    assert len(trace(some, "measured").x) == 7
    assert trace(none, "predicted").x == trace(some, "predicted").x
    assert none.layout.xaxis.range == some.layout.xaxis.range
    assert cache_alt((), lang) == text.NONE_YET(lang)


@BOTH
def test_a_short_run_has_no_half_tokens(lang: Lang) -> None:
    run = bundled()
    short = replace(run.started, predicted_bytes=(run.started.predicted_bytes or ())[:5], new_tokens=5)
    assert Figure(**cache_figure(short, run.samples[:5], lang)).layout.xaxis.dtick == 1
    assert Figure(**cache_figure(run.started, run.samples, lang)).layout.xaxis.dtick is None


@BOTH
def test_one_sample_that_differs_is_never_left_out(lang: Lang) -> None:
    run = bundled()
    for place in (1, 5, 123, 298):
        odd = replace(run.samples[place], measured_bytes=run.samples[place].measured_bytes + 64)
        samples = (*run.samples[:place], odd, *run.samples[place + 1 :])
        assert odd.tokens in trace(Figure(**cache_figure(run.started, samples, lang)), "measured").x
        assert {row[text.ROW_RESIDUAL(lang)] for row in cache_rows(samples, lang)} == {0, 64}


@BOTH
def test_without_a_prediction_there_is_no_line(lang: Lang) -> None:
    run = bundled()
    figure = Figure(**cache_figure(replace(run.started, predicted_bytes=None), run.samples, lang))
    assert [t.meta for t in figure.data] == ["measured"]


def width(figure: Any, meta: str) -> float:  # noqa: ANN401 - plotly has no types
    return float(trace(figure, meta).x[0])


@BOTH
def test_the_memory_is_all_there_and_the_cache_is_seen_to_grow(lang: Lang) -> None:
    run = bundled()
    end = run.samples[-1].measured_bytes
    for count in (1, 100, 300):
        figure = Figure(**memory_figure(run.started, run.samples[:count], lang))
        held = run.samples[count - 1].measured_bytes
        parts = ledger(run.started, run.samples[:count])
        for part in parts:
            assert round(width(figure, part.holder) * GIB) == part.held_bytes
            assert format_bytes(part.held_bytes) in trace(figure, part.holder).name
            assert text.HOLDERS[part.holder](lang) in memory_alt(run.started, run.samples[:count], lang)
        assert round(width(figure, "cache") * MIB) == held
        to_come = [round(t.x[0] * MIB) for t in figure.data if t.meta == "to_come"]
        assert to_come == ([end - held] if held < end else [])
        assert figure.layout.xaxis2.range == (0, end / MIB)  # the same scale from the first token to the last
    rows = memory_rows(run.started, run.samples, lang)
    assert sum(row[text.HELD(lang)] or 0 for row in rows) == run.samples[-1].memory.total_bytes  # type: ignore[misc]
    unknown = [row[text.HOLDER(lang)] for row in rows if row[text.HELD(lang)] is None]
    assert unknown == [text.HOLDERS["activations"](lang)]  # on a CPU: said, not 0


@BOTH
def test_a_gpu_s_rounding_slack_and_activations_are_parts_of_their_own(lang: Lang) -> None:
    run = bundled()
    weights = run.started.weights_bytes
    held = weights + run.samples[0].measured_bytes
    memory = Memory(
        total_bytes=80 * GIB,
        free_bytes=78 * GIB,
        requested_bytes=held + 100,
        allocated_bytes=held + 1_000,
        reserved_bytes=held + 40 * MIB,
        peak_bytes=held + 1_000 + 30 * MIB,
    )
    samples = [replace(run.samples[0], memory=memory)]
    figure = Figure(**memory_figure(run.started, samples, lang))
    drawn = {t.meta: round(t.x[0] * GIB) for t in figure.data if t.xaxis == "x"}
    assert sum(drawn.values()) == 80 * GIB
    assert (drawn["rounding"], drawn["tensors"], drawn["activations"]) == (900, 100, 30 * MIB)
    assert drawn["slack"] == 10 * MIB - 1_000
    looks = [str(t.marker.to_plotly_json()) for t in figure.data if t.xaxis == "x"]
    assert len(set(looks)) == len(looks)  # no two alike, and not by their colour alone
    patterns = [(t.marker.pattern.shape, t.marker.pattern.fillmode) for t in figure.data if t.xaxis == "x"]
    assert len(set(patterns)) == len(patterns)
    assert all(row[text.HELD(lang)] is not None for row in memory_rows(run.started, samples, lang))


@BOTH
def test_without_a_cache_or_a_rule_there_is_one_bar(lang: Lang) -> None:
    for started in (bundled(cache="none").started, replace(bundled().started, predicted_bytes=None)):
        figure = Figure(**memory_figure(started, bundled(cache="none").samples, lang))
        assert {t.xaxis for t in figure.data} == {"x"}


@BOTH
def test_seconds_add_up(lang: Lang) -> None:
    runs = [("one", bundled()), ("other", bundled(cache="none"))]
    figure = Figure(**speed_figure(runs, lang))
    for drawn, (name, run) in zip(figure.data, runs, strict=True):
        assert drawn.name == name
        assert drawn.y[-1] == pytest.approx(sum(s.seconds for s in run.samples))
        assert drawn.x[-1] == run.samples[-1].new_tokens
        assert f"{drawn.y[-1]:,.1f}" in speed_alt(runs, lang)
    assert figure.data[0].line.dash != figure.data[1].line.dash  # never by colour alone
    last = speed_rows(runs, lang)[-1]
    assert last["one"] == round(elapsed_s(runs[0][1].samples)[-1], 2)


def test_names_are_drawn_as_they_are_written() -> None:
    run, name, drawn = bundled(), "<b>x</b> & %{y}", "&lt;b&gt;x&lt;/b&gt; &amp; %&#123;y}"
    assert Figure(**speed_figure([(name, run)], "en")).data[0].name == drawn
    assert name in speed_alt([(name, run)], "en")  # no markup there
    figure: Any = Figure(**memory_figure(replace(run.started, device=name), run.samples, "en"))
    assert any(drawn in label.text for label in figure.layout.annotations)


def test_long_names_of_runs_leave_the_chart_its_height() -> None:
    run = bundled()
    one, five = (
        Figure(**speed_figure([(f"{n}: a model, bf16, a kind of cache, batch 1", run) for n in range(c)], "en"))
        for c in (1, 5)
    )
    assert five.layout.height - one.layout.height >= 4 * 19


@BOTH
def test_a_shorter_run_has_no_figure_beyond_its_end(lang: Lang) -> None:
    run = bundled()
    rows = speed_rows([("whole", run), ("part", replace(run, samples=run.samples[:10]))], lang)
    assert rows[-1]["part"] is None
    assert rows[0]["part"] is not None
