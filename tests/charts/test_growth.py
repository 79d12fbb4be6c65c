"""The growth chart: its lines are the engine's count, its crossings the last length that fits."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.charts.growth import _compared, _longest, growth, growth_alt, growth_figure, growth_rows
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang
from kvviz.text import charts as text
from tests.charts.examples import (
    BEYOND,
    EVERY,
    NO_FIT,
    ONE,
    ONLY_STATES,
    SHORT,
    SIDE_BY_SIDE,
    SPARE,
    WINDOWS,
    WITH_BUDGET,
    WITHOUT,
)

EACH = pytest.mark.parametrize("sizing", EVERY.values(), ids=EVERY)
BUDGETS = pytest.mark.parametrize("sizing", WITH_BUDGET.values(), ids=WITH_BUDGET)
BOTH = pytest.mark.parametrize("lang", LANGUAGES)


@EACH
@BOTH
def test_lines_are_requests_times_what_one_is_counted_as(sizing: Sizing, lang: Lang) -> None:
    figure = growth_figure(sizing, lang)
    lines = [trace for trace in figure.data if (trace.meta or "").startswith("requests-")]
    assert len(lines) == len({trace.meta for trace in lines}) >= 2
    for trace in lines:
        requests = -(-int(trace.meta.removeprefix("requests-")) // sizing.engines)
        for tokens, shown in zip(trace.x, trace.y, strict=True):
            one = sizing.plan.request_bytes(tokens) if sizing.plan else sizing.content.bytes_at(tokens)
            assert shown == pytest.approx(float(requests * one) / GIB)
    assert any(trace.meta == f"requests-{sizing.scenario.sequences}" for trace in lines)
    # Told apart without colour.
    assert len({(trace.line.dash, trace.line.width) for trace in lines}) == len(lines)


@EACH
def test_the_range_holds_this_length_and_ends_within_four_times(sizing: Sizing) -> None:
    g = growth(sizing)
    assert 2 * sizing.tokens <= g.end_tokens <= 4 * sizing.tokens
    assert sizing.tokens in g.points
    assert g.points[-1] == g.end_tokens
    assert len(g.points) < 70
    assert sorted(set(g.points)) == list(g.points)


@BUDGETS
def test_a_crossing_is_the_last_length_that_fits(sizing: Sizing) -> None:
    assert sizing.plan is not None
    assert sizing.budget is not None
    for line in growth(sizing).lines:
        if line.fit_tokens is None:
            assert line.per_engine * sizing.plan.request_bytes(10**7) <= sizing.budget.pool_bytes
            continue
        assert line.per_engine * sizing.plan.request_bytes(line.fit_tokens + 1) > sizing.budget.pool_bytes
        if line.fit_tokens:
            assert line.per_engine * sizing.plan.request_bytes(line.fit_tokens) <= sizing.budget.pool_bytes


@BUDGETS
def test_the_line_of_this_scenario_agrees_with_the_answer(sizing: Sizing) -> None:
    asked = growth(sizing).asked
    assert asked.requests == sizing.scenario.sequences
    fits = asked.fit_tokens is None or asked.fit_tokens >= sizing.tokens
    assert fits == (sizing.fits == "yes")


def test_the_most_that_fits_is_drawn_where_it_tells_something() -> None:
    assert [line.requests for line in growth(SHORT).lines] == [50, 35, 17]
    assert SPARE.max_sequences_counted in {line.requests for line in growth(SPARE).lines}
    # 150 asked, 140 fit: two lines that close would be one.
    assert [line.requests for line in growth(SIDE_BY_SIDE).lines] == [304, 150, 76]


@given(asked=st.integers(1, 5_000), most=st.none() | st.integers(0, 5_000))
def test_compared_are_two_or_three_numbers_with_the_one_asked_for(asked: int, most: int | None) -> None:
    compared = _compared(asked, most)
    assert asked in compared
    assert all(n >= 1 for n in compared)
    assert len(compared) == 3 or (len(compared) == 2 and min(asked, most or asked) == 1)


@given(last=st.integers(0, 1 << 26))
def test_longest_finds_the_edge(last: int) -> None:
    assert _longest(lambda n: n <= last) == last


def test_longest_knows_no_edge() -> None:
    assert _longest(lambda n: n > 0) is None


@EACH
@BOTH
def test_you_are_here(sizing: Sizing, lang: Lang) -> None:
    figure = growth_figure(sizing, lang)
    (here,) = (trace for trace in figure.data if trace.meta == "here")
    g = growth(sizing)
    assert here.x == (sizing.tokens,)
    assert here.y[0] == pytest.approx(float(g.asked.per_engine * g.bytes_at(sizing.tokens)) / GIB)
    assert 0 < here.y[0] < figure.layout.yaxis.range[1]
    assert any(format_count(sizing.tokens) in a.text for a in figure.layout.annotations)


@BUDGETS
@BOTH
def test_capacity_and_weights_are_levels_with_their_bytes(sizing: Sizing, lang: Lang) -> None:
    assert sizing.budget is not None
    figure = growth_figure(sizing, lang)
    names = {trace.name: trace for trace in figure.data if trace.name}
    capacity = names[text.CAPACITY(lang, bytes=format_bytes(sizing.budget.pool_bytes))]
    assert set(capacity.y) == {sizing.budget.pool_bytes / GIB}
    weights = format_bytes(sizing.budget.weights.value_bytes)
    (level,) = (trace for name, trace in names.items() if name.startswith(text.WEIGHTS(lang)) and weights in name)
    assert set(level.y) <= {sizing.budget.weights.value_bytes / GIB, None}


@EACH
@BOTH
def test_marked_crossings_lie_on_the_capacity(sizing: Sizing, lang: Lang) -> None:
    figure = growth_figure(sizing, lang)
    crossings = [trace for trace in figure.data if trace.meta == "crossing"]
    g = growth(sizing)
    inside = [line.fit_tokens for line in g.lines if line.fit_tokens and line.fit_tokens <= g.end_tokens]
    assert [trace.x[0] for trace in crossings] == inside
    for trace in crossings:
        assert g.pool_bytes is not None
        assert trace.y == (g.pool_bytes / GIB,)
        assert trace.text == (format_count(trace.x[0]),)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_numbers_at_crossings_keep_apart(lang: Lang) -> None:
    for sizing in WITH_BUDGET.values():
        shown = [t for t in growth_figure(sizing, lang).data if t.meta == "crossing" and "text" in t.mode]
        end = growth(sizing).end_tokens
        for one, other in itertools.pairwise(shown):
            assert (other.x[0] - one.x[0]) / end > 0.05
        for trace in shown:
            # A number right of its line needs room to the edge, one left of it room to the axis.
            assert trace.x[0] / end > 0.2 if "left" in trace.textposition else trace.x[0] / end < 0.82


def test_a_window_bends_the_line_where_the_engine_stops_counting() -> None:
    assert WINDOWS.plan is not None
    assert 1_024 + WINDOWS.plan.in_flight_tokens in growth(WINDOWS).points


@BOTH
def test_beyond_the_models_own_maximum_is_shaded(lang: Lang) -> None:
    figure = growth_figure(BEYOND, lang)
    (shade,) = (s for s in figure.layout.shapes if s.type == "rect")
    assert (shade.x0, shade.x1) == (40_960, growth(BEYOND).end_tokens)
    assert shade.name == text.BEYOND(lang, tokens="40,960")
    assert not [s for s in growth_figure(SHORT, lang).layout.shapes if s.type == "rect"]


@BOTH
def test_no_line_is_promised_more_than_the_model_can(lang: Lang) -> None:
    line = next(t for t in growth_figure(ONE, lang).data if t.meta == "requests-1")
    assert growth(ONE).asked.fit_tokens > 40_960  # type: ignore[operator]
    assert line.name == text.FIT_MODEL(lang, requests=text.REQUEST(lang), tokens="40,960")


@BOTH
def test_lines_that_always_or_never_fit_say_so(lang: Lang) -> None:
    assert "50" in text.REQUESTS(lang, requests="50")
    named = {t.name for t in growth_figure(NO_FIT, lang).data}
    assert text.FIT_NEVER(lang, requests=text.REQUESTS(lang, requests="50")) in named
    named = {t.name for t in growth_figure(ONLY_STATES, lang).data}
    assert text.FIT_ALWAYS(lang, requests=text.REQUESTS(lang, requests="50")) in named


@BOTH
@pytest.mark.parametrize("sizing", WITHOUT.values(), ids=WITHOUT)
def test_without_a_budget_growth_alone_is_drawn(sizing: Sizing, lang: Lang) -> None:
    figure = growth_figure(sizing, lang)
    assert {(trace.meta or "")[:8] for trace in figure.data} == {"requests", "here"}
    g = growth(sizing)
    assert g.pool_bytes is None
    assert g.weights_bytes is None
    title = text.GROWTH_TITLE if sizing.plan else text.GROWTH_TITLE_CONTENT
    assert title(lang) in {a.text for a in figure.layout.annotations}


@EACH
@BOTH
def test_the_table_holds_each_line_at_each_marked_length(sizing: Sizing, lang: Lang) -> None:
    g, rows = growth(sizing), growth_rows(sizing, lang)
    per_engine = {line.requests: line.per_engine for line in g.lines}
    assert len(rows) == len(g.lines) * len({row[text.TOKENS(lang)] for row in rows})
    assert sizing.tokens in {row[text.TOKENS(lang)] for row in rows}
    for row in rows:
        exact = per_engine[row[text.REQUESTS_HEADING(lang)]] * Fraction(g.bytes_at(row[text.TOKENS(lang)]))
        assert 0 <= row[text.BYTES(lang)] - exact < 1
        if g.pool_bytes is None:
            assert row[text.FITS(lang)] is None
        else:
            assert row[text.FITS(lang)] == (text.YES if exact <= g.pool_bytes else text.NO)(lang)


@EACH
@BOTH
def test_the_words_hold_the_numbers(sizing: Sizing, lang: Lang) -> None:
    alt, g = growth_alt(sizing, lang), growth(sizing)
    assert format_count(sizing.tokens) in alt
    assert format_bytes(g.asked.per_engine * g.bytes_at(sizing.tokens)) in alt
    assert "{" not in alt
    if sizing.budget is not None:
        assert format_bytes(sizing.budget.pool_bytes) in alt
        assert format_bytes(sizing.budget.weights.value_bytes) in alt
        assert all(format_count(line.requests) in alt for line in g.lines)
