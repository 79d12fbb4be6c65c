"""The growth chart: its lines are the engine's count, its crossings the last length that fits."""

import itertools
import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plotly.graph_objects import Figure

from kvviz.charts import words
from kvviz.charts.counts import longest
from kvviz.charts.growth import _compared, growth, growth_alt, growth_figure, growth_rows
from kvviz.charts.style import BACKGROUNDS, contrast
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang
from kvviz.text import charts as text
from tests.charts.examples import (
    BEYOND,
    EVERY,
    MILLION,
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


def need(sizing: Sizing, requests: int, tokens: int) -> Fraction:
    """What all share once, and for each request what only it has."""
    if sizing.plan is None:
        return requests * sizing.content.bytes_at(tokens)
    own = sizing.plan.request_bytes(tokens) - sizing.shared_bytes
    return Fraction(sizing.shared_bytes + requests * own)


@EACH
@BOTH
def test_lines_are_requests_times_what_one_is_counted_as(sizing: Sizing, lang: Lang) -> None:
    figure = Figure(**growth_figure(sizing, lang))
    lines = [trace for trace in figure.data if (trace.meta or "").startswith("requests-")]
    assert len(lines) == len({trace.meta for trace in lines}) >= 2
    for trace in lines:
        requests = -(-int(trace.meta.removeprefix("requests-")) // sizing.engines)
        for tokens, shown in zip(trace.x, trace.y, strict=True):
            assert shown == pytest.approx(float(need(sizing, requests, tokens)) / GIB)
    assert any(trace.meta == f"requests-{sizing.scenario.requests}" for trace in lines)
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
    g = growth(sizing)
    assert g.first_tokens == sizing.scenario.shared_tokens + 1
    for line in g.lines:
        if line.fit_tokens is None:
            assert need(sizing, line.per_engine, 10**7) <= sizing.budget.usable_bytes
            continue
        longer = line.fit_tokens + 1 if line.fit_tokens else g.first_tokens
        assert need(sizing, line.per_engine, longer) > sizing.budget.usable_bytes
        if line.fit_tokens:
            assert need(sizing, line.per_engine, line.fit_tokens) <= sizing.budget.usable_bytes


@BUDGETS
def test_the_line_of_this_scenario_agrees_with_the_answer(sizing: Sizing) -> None:
    asked = growth(sizing).asked
    assert asked.requests == sizing.scenario.requests
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
    assert longest(lambda n: n <= last) == last


def test_longest_knows_no_edge() -> None:
    assert longest(lambda n: n > 0) is None


@EACH
@BOTH
def test_you_are_here(sizing: Sizing, lang: Lang) -> None:
    figure = Figure(**growth_figure(sizing, lang))
    (here,) = (trace for trace in figure.data if trace.meta == "here")
    g = growth(sizing)
    assert here.x == (sizing.tokens,)
    need_bytes = g.need_bytes(g.asked.per_engine, sizing.tokens)
    need, top = float(need_bytes) / GIB, figure.layout.yaxis.range[1]
    (label,) = (a.text for a in figure.layout.annotations if words.tokens(sizing.tokens, lang) in a.text)
    if here.marker.symbol == "diamond":
        assert here.y[0] == pytest.approx(need)
        assert 0 < here.y[0] < top
    else:
        assert here.y[0] == pytest.approx(top)
        assert need > 10 * (g.usable_bytes or 0) / GIB > 0
        assert format_bytes(need_bytes) in label


def test_a_need_far_above_the_pool_leaves_the_pool_readable() -> None:
    figure = Figure(**growth_figure(MILLION, "en"))
    assert MILLION.budget is not None
    assert figure.layout.yaxis.range[1] < 4 * MILLION.budget.usable_bytes / GIB
    (here,) = (trace for trace in figure.data if trace.meta == "here")
    assert here.marker.symbol == "triangle-up"
    assert any("977 TiB,<br>above the chart" in a.text for a in figure.layout.annotations)


@EACH
@BOTH
def test_a_line_that_goes_on_ends_in_an_arrow(sizing: Sizing, lang: Lang) -> None:
    figure = Figure(**growth_figure(sizing, lang))
    top, end = figure.layout.yaxis.range[1], figure.layout.xaxis.range[1]
    leaving = [t for t in figure.data if (t.meta or "").startswith("requests-") and t.y[-1] > top]
    arrows = [t for t in figure.data if t.meta == "goes-on"]
    assert len(arrows) == len(leaving)
    for arrow, line in zip(arrows, leaving, strict=True):
        assert arrow.y[0] == pytest.approx(top)
        assert 0 <= arrow.x[0] <= end
        below = [x for x, y in zip(line.x, line.y, strict=True) if y <= top]
        assert not below or below[-1] <= arrow.x[0]


@EACH
@BOTH
def test_ticks_begin_at_zero_and_are_written_out(sizing: Sizing, lang: Lang) -> None:
    layout = Figure(**growth_figure(sizing, lang)).layout
    for axis in (layout.xaxis, layout.yaxis):
        assert axis.tickvals[0] == 0
        assert axis.ticktext[0] == "0"
        assert 2 <= len(axis.tickvals) <= 8
        assert axis.tickvals[-1] <= axis.range[1]
        assert all(re.fullmatch(r"\d{1,3}(,\d{3})*(\.\d)?", number) for number in axis.ticktext)
    assert all(float(tick.replace(",", "")) < 2_500 for tick in layout.yaxis.ticktext)


@pytest.mark.parametrize(("end", "most", "expected"), [
    (9_522, 5, ["0", "2,000", "4,000", "6,000", "8,000"]),
    (2_100, 5, ["0", "500", "1,000", "1,500", "2,000"]),
    (2, 5, ["0", "0.5", "1", "1.5"]),
    (1, 4, ["0", "0.5"]),
    (100, 5, ["0", "20", "40", "60", "80"]),
    (0, 5, ["0"]),
])  # fmt: skip
def test_ticks(end: float, most: int, expected: list[str]) -> None:
    assert [words.tick(value) for value in words.ticks(end, most=most)] == expected


@pytest.mark.parametrize(("top_bytes", "unit"), [
    (3 * 1024**4, "TiB"), (1_900 * GIB, "GiB"), (2 * GIB, "GiB"), (GIB, "MiB"), (3_000, "KiB"), (100, "B"),
])  # fmt: skip
def test_unit_of_an_axis(top_bytes: float, unit: str) -> None:
    assert words.unit_of(top_bytes)[0] == unit


@EACH
@BOTH
def test_one_is_singular_everywhere(sizing: Sizing, lang: Lang) -> None:
    figure = Figure(**growth_figure(sizing, lang))
    said = [trace.name or "" for trace in figure.data] + [a.text for a in figure.layout.annotations]
    assert not re.search(r"(?<![\d,.])1 (tokens|requests)", " ".join([*said, growth_alt(sizing, lang)]))


@BOTH
def test_the_weights_line_says_whose_cache_exceeds_it(lang: Lang) -> None:
    names, far = ({t.name for t in Figure(**growth_figure(sizing, lang)).data} for sizing in (SHORT, MILLION))
    requests = words.requests(50, lang)
    tokens = growth(SHORT).weights_tokens
    assert tokens
    assert text.WEIGHTS_PASSED(lang, bytes="31.2 GiB", requests=requests, tokens=words.tokens(tokens, lang)) in names
    assert text.WEIGHTS_PASSED_ALWAYS(lang, bytes="31.2 GiB", requests=words.requests(1_000_000, lang)) in far


def test_lines_stand_out_on_dark_pages() -> None:
    for trace in Figure(**growth_figure(SHORT, "en")).data:
        if trace.mode == "lines":
            assert trace.line.width >= 2
            assert all(contrast(trace.line.color, page) >= 3.8 for page in BACKGROUNDS)


@BUDGETS
@BOTH
def test_capacity_and_weights_are_levels_with_their_bytes(sizing: Sizing, lang: Lang) -> None:
    assert sizing.budget is not None
    figure = Figure(**growth_figure(sizing, lang))
    names = {trace.name: trace for trace in figure.data if trace.name}
    room, kept = format_bytes(sizing.budget.usable_bytes), format_bytes(sizing.budget.kept_free_bytes)
    named = text.CAPACITY_KEPT(lang, bytes=room, kept=kept)
    capacity = names[named if sizing.scenario.headroom else text.CAPACITY(lang, bytes=room)]
    assert set(capacity.y) == {sizing.budget.usable_bytes / GIB}
    weights = format_bytes(sizing.budget.weights.value_bytes)
    (level,) = (trace for name, trace in names.items() if name.startswith(text.WEIGHTS(lang)) and weights in name)
    assert set(level.y) <= {sizing.budget.weights.value_bytes / GIB, None}


@EACH
@BOTH
def test_marked_crossings_lie_on_the_capacity(sizing: Sizing, lang: Lang) -> None:
    figure = Figure(**growth_figure(sizing, lang))
    crossings = [trace for trace in figure.data if trace.meta == "crossing"]
    g = growth(sizing)
    inside = [line.fit_tokens for line in g.lines if line.fit_tokens and line.fit_tokens <= g.end_tokens]
    assert [trace.x[0] for trace in crossings] == inside
    for trace in crossings:
        assert g.usable_bytes is not None
        assert trace.y == (g.usable_bytes / GIB,)
        assert trace.text == (format_count(trace.x[0]),)


@BUDGETS
@BOTH
@pytest.mark.parametrize("log", [False, True], ids=["linear", "log"])
@pytest.mark.parametrize(("wide", "tall"), [(290, 225), (740, 280), (1_150, 280)])
def test_nothing_crosses_a_label(sizing: Sizing, lang: Lang, wide: int, tall: int, log: bool) -> None:
    """Measured here with other means than those that placed them: points along each line, in pixels."""
    figure = Figure(**growth_figure(sizing, lang, log=log))

    def pixels(edges: tuple[float, float], value: float, length: int) -> float:
        low, high = edges
        return float(((math.log10(value) if log else value) - low) / (high - low) * length)

    def point(x: float, y: float) -> tuple[float, float]:
        return pixels(figure.layout.xaxis.range, x, wide), pixels(figure.layout.yaxis.range, y, tall)

    boxes = []
    for trace in figure.data:
        if trace.meta == "crossing" and "text" in trace.mode:
            up, side = trace.textposition.split()
            (x, y), width = point(trace.x[0], trace.y[0]), 6 * len(trace.text[0])
            left = {"left": x - 7 - width, "center": x - width / 2, "right": x + 7}[side]
            boxes.append((left, left + width, *((y + 7, y + 19) if up == "top" else (y - 19, y - 7))))
    (here,) = (a for a in figure.layout.annotations if words.tokens(sizing.tokens, lang) in a.text)
    width = 6 * max(len(line) for line in here.text.split("<br>"))
    x, foot = pixels(figure.layout.xaxis.range, sizing.tokens, wide), here.y * tall
    boxes.append(
        (x + 6, x + 6 + width, foot, foot + 28) if here.xanchor == "left" else (x - 6 - width, x - 6, foot, foot + 28)
    )
    points = [(x, place) for place in range(tall + 1)]  # the upright
    for trace in figure.data:
        if trace.mode == "lines" and None not in trace.y and (trace.y[0] or not log):
            ends = [point(x, y) for x, y in zip(trace.x, trace.y, strict=True)]
            for (x0, y0), (x1, y1) in itertools.pairwise(ends):
                points += [(x0 + (x1 - x0) * k / 60, y0 + (y1 - y0) * k / 60) for k in range(61)]
    for left, right, low, high in boxes:
        assert left >= 0
        assert right <= wide
        assert not [(a, b) for a, b in points if left < a < right and low < b < high]
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(boxes, 2):
        assert b <= e or f <= a or d <= g or h <= c


@EACH
@BOTH
def test_a_typical_length_is_marked_on_the_line_of_this_scenario(sizing: Sizing, lang: Lang) -> None:
    marked = [trace for trace in Figure(**growth_figure(sizing, lang)).data if trace.meta == "typical"]
    typical = sizing.scenario.typical_tokens
    assert len(marked) == (typical != sizing.tokens)
    for trace in marked:
        g = growth(sizing)
        assert trace.x == (typical,)
        assert trace.y[0] == pytest.approx(float(need(sizing, g.asked.per_engine, typical)) / GIB)
        fit = format_count(sizing.max_sequences_typical or 0)
        assert trace.name == text.TYPICAL_FIT(lang, tokens=words.tokens(typical, lang), fit=fit)
        assert trace.name in growth_alt(sizing, lang)


def test_a_window_bends_the_line_where_the_engine_stops_counting() -> None:
    assert WINDOWS.plan is not None
    assert 1_024 + WINDOWS.plan.in_flight_tokens in growth(WINDOWS).points


@EACH
@BOTH
def test_logarithmic_axes_show_the_same_lines_farther(sizing: Sizing, lang: Lang) -> None:
    figure, g = Figure(**growth_figure(sizing, lang, log=True)), growth(sizing, log=True)
    assert [line.requests for line in g.lines] == [line.requests for line in growth(sizing).lines]
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert 0 < g.start_tokens <= sizing.tokens <= g.end_tokens / 4
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        low, high = (10**edge for edge in axis.range)
        assert 2 <= len(axis.tickvals) <= 7
        assert all(low * 0.999 <= tick <= high for tick in axis.tickvals)
    for trace in figure.data:
        if (trace.meta or "").startswith("requests-"):
            requests = -(-int(trace.meta.removeprefix("requests-")) // sizing.engines)
            for tokens, shown in zip(trace.x, trace.y, strict=True):
                assert shown == pytest.approx(float(need(sizing, requests, tokens)) / GIB)
        if trace.meta == "here":
            assert figure.layout.yaxis.range[0] < math.log10(trace.y[0]) < figure.layout.yaxis.range[1]
    title = text.GROWTH_TITLE_LOG if sizing.plan else text.GROWTH_TITLE_CONTENT_LOG
    assert title(lang) in {a.text for a in figure.layout.annotations}


@pytest.mark.parametrize(("start", "end", "expected"), [
    (128, 40_960, ["128", "512", "2k", "8k", "32k"]),
    (1, 10, ["1", "2", "4", "8"]),
    (32_768, 4_194_304, ["32k", "128k", "512k", "2M"]),
])  # fmt: skip
def test_powers_of_two(start: int, end: int, expected: list[str]) -> None:
    assert [words.short(value) for value in words.powers(start, end)] == expected


@BOTH
def test_beyond_the_models_own_maximum_is_shaded(lang: Lang) -> None:
    figure = Figure(**growth_figure(BEYOND, lang))
    (shade,) = (s for s in figure.layout.shapes if s.type == "rect")
    assert (shade.x0, shade.x1) == (40_960, growth(BEYOND).end_tokens)
    assert shade.name == text.BEYOND(lang, tokens=words.tokens(40_960, lang))
    assert not [s for s in Figure(**growth_figure(SHORT, lang)).layout.shapes if s.type == "rect"]


@BOTH
def test_no_line_is_promised_more_than_the_model_can(lang: Lang) -> None:
    line = next(t for t in Figure(**growth_figure(ONE, lang)).data if t.meta == "requests-1")
    assert growth(ONE).asked.fit_tokens > 40_960  # type: ignore[operator]
    assert line.name == text.FIT_MODEL(lang, requests=text.REQUEST(lang), tokens=words.tokens(40_960, lang))


@BOTH
def test_lines_that_always_or_never_fit_say_so(lang: Lang) -> None:
    assert "50" in text.REQUESTS(lang, requests="50")
    named = {t.name for t in Figure(**growth_figure(NO_FIT, lang)).data}
    assert text.FIT_NEVER(lang, requests=text.REQUESTS(lang, requests="50")) in named
    named = {t.name for t in Figure(**growth_figure(ONLY_STATES, lang)).data}
    assert text.FIT_ALWAYS(lang, requests=text.REQUESTS(lang, requests="50")) in named


@BOTH
@pytest.mark.parametrize("sizing", WITHOUT.values(), ids=WITHOUT)
def test_without_a_budget_growth_alone_is_drawn(sizing: Sizing, lang: Lang) -> None:
    figure = Figure(**growth_figure(sizing, lang))
    assert {(trace.meta or "")[:8] for trace in figure.data} <= {"requests", "here", "goes-on"}
    g = growth(sizing)
    assert g.usable_bytes is None
    assert g.weights_bytes is None
    title = text.GROWTH_TITLE if sizing.plan else text.GROWTH_TITLE_CONTENT
    unit, _ = words.unit_of(figure.layout.yaxis.range[1] * GIB)
    assert title(lang, unit=unit) in {a.text for a in figure.layout.annotations}


@EACH
@BOTH
def test_the_table_holds_each_line_at_each_length_marked_on_it(sizing: Sizing, lang: Lang) -> None:
    g, rows = growth(sizing), growth_rows(sizing, lang)
    shown = {(row[text.REQUESTS_HEADING(lang)], row[text.TOKENS_HEADING(lang)]): row for row in rows}
    expected = {(line.requests, n) for line in g.lines for n in (sizing.tokens, line.fit_tokens) if n}
    expected.add((g.asked.requests, sizing.scenario.typical_tokens))
    if g.weights_tokens:
        expected.add((g.asked.requests, g.weights_tokens))
    assert shown.keys() == expected
    assert len(rows) == len(shown) <= 8 + (sizing.scenario.typical < 1)  # all of them in sight
    per_engine = {line.requests: line.per_engine for line in g.lines}
    for (requests, tokens), row in shown.items():
        exact = need(sizing, per_engine[requests], tokens)
        assert 0 <= row[text.BYTES(lang)] - exact < 1
        if g.usable_bytes is None:
            assert text.FITS(lang) not in row
        else:
            assert row[text.FITS(lang)] == (text.YES if exact <= g.usable_bytes else text.NO)(lang)
            assert row[text.ROOM_GIB(lang)] == round(g.usable_bytes / GIB, 3)
        if g.weights_bytes is not None:
            assert row[text.WEIGHTS_GIB(lang)] == round(g.weights_bytes / GIB, 3)


@EACH
@BOTH
def test_the_words_hold_the_numbers(sizing: Sizing, lang: Lang) -> None:
    alt, g = growth_alt(sizing, lang), growth(sizing)
    assert format_count(sizing.tokens) in alt
    assert format_bytes(g.need_bytes(g.asked.per_engine, sizing.tokens)) in alt
    assert "{" not in alt
    if sizing.budget is not None:
        assert format_bytes(sizing.budget.usable_bytes) in alt
        assert format_bytes(sizing.budget.weights.value_bytes) in alt
        assert all(format_count(line.requests) in alt for line in g.lines)
