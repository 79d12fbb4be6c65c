"""The frontier: on it the requests still fit, one more does not."""

import pytest
from plotly.graph_objects import Figure

from kvviz.charts import words
from kvviz.charts.frontier import BANDS, frontier, frontier_alt, frontier_figure, frontier_rows, requests_that_fit
from kvviz.charts.style import BACKGROUNDS, contrast
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.sizing import Sizing, size
from kvviz.text import LANGUAGES, Lang
from kvviz.text import charts as text
from tests.charts.examples import BEYOND, NO_FIT, SHORT, WITH_BUDGET, WITHOUT

EACH = pytest.mark.parametrize("sizing", WITH_BUDGET.values(), ids=WITH_BUDGET)
BOTH = pytest.mark.parametrize("lang", LANGUAGES)


def fits(sizing: Sizing, requests: int, tokens: int) -> bool:
    """By the pool itself: what all share, and what each request has besides, on the fullest engine."""
    assert sizing.plan is not None
    assert sizing.budget is not None
    each = -(-requests // sizing.engines)
    own = sizing.plan.request_bytes(tokens) - sizing.shared_bytes
    return sizing.shared_bytes + each * own <= sizing.budget.usable_bytes


@EACH
def test_up_to_the_frontier_it_fits_and_no_further(sizing: Sizing) -> None:
    f = frontier(sizing)
    for tokens, most in f.line:
        assert fits(sizing, most, tokens)
        assert not fits(sizing, most + 1, tokens)
    counts = [most for _, most in f.line]
    assert counts == sorted(counts, reverse=True)
    if f.line and f.line[-1][0] < f.end_tokens:
        assert not fits(sizing, 1, f.line[-1][0] + 1)


@EACH
def test_the_frontier_agrees_with_the_answer_at_this_length(sizing: Sizing) -> None:
    assert requests_that_fit(sizing, sizing.tokens) == sizing.max_sequences_counted
    assert dict(frontier(sizing).line).get(sizing.tokens, 0) == sizing.max_sequences_counted
    typical = sizing.scenario.typical_tokens
    assert requests_that_fit(sizing, typical) == sizing.max_sequences_typical


def test_the_frontier_agrees_with_answers_at_other_lengths() -> None:
    for tokens, most in frontier(SHORT).line[::9]:
        other = SHORT.scenario.with_changes(input=tokens, output=0)
        assert SHORT.budget is not None
        assert size(SHORT.architecture, other, weights=SHORT.budget.weights).max_sequences_counted == most


@EACH
def test_this_scenario_lies_inside(sizing: Sizing) -> None:
    f = frontier(sizing)
    assert f.start_tokens <= sizing.tokens <= f.end_tokens / 8
    assert sizing.scenario.requests <= f.top_requests / 8


@EACH
@BOTH
def test_cells_are_coloured_by_the_share_they_take(sizing: Sizing, lang: Lang) -> None:
    figure = Figure(**frontier_figure(sizing, lang))
    (cells,) = (trace for trace in figure.data if trace.type == "heatmap")
    assert (len(cells.z), len(cells.z[0])) == (len(cells.y) - 1, len(cells.x) - 1)
    assert len(cells.z) * len(cells.z[0]) <= 1_500
    inside = [place for place, (upper, _) in enumerate(BANDS) if upper <= 1]
    for row, said, low, high in zip(cells.z, cells.customdata, cells.y, cells.y[1:], strict=False):
        assert list(row) == sorted(row)  # longer requests take more
        requests = max(1, round((low * high) ** 0.5))
        for band, left, right, shown in zip(row, cells.x, cells.x[1:], said, strict=False):
            tokens = round((left * right) ** 0.5)
            assert (band in inside) == fits(sizing, requests, tokens)
            assert shown.endswith("%" if sizing.budget and sizing.budget.usable_bytes else "∞")
    named = [trace for trace in figure.data if trace.meta == "band"]
    assert [trace.marker.color for trace in named] == [colour for _, colour in BANDS]
    assert [trace.name for trace in named] == ["≤ 25%", "≤ 50%", "≤ 100%", "≤ 200%", "≤ 400%", "> 400%"]


@EACH
@BOTH
def test_the_line_is_the_frontier_and_here_is_marked(sizing: Sizing, lang: Lang) -> None:
    figure, f = Figure(**frontier_figure(sizing, lang)), frontier(sizing)
    lines = {trace.meta: trace for trace in figure.data if (trace.meta or "").startswith("frontier")}
    assert bool(lines) == bool(f.line)
    for line in lines.values():
        drawn = dict(zip(line.x, line.y, strict=True))
        assert all(drawn[n] in {min(most, 2 * f.top_requests), 0.5} for n, most in f.line)
    # White on black: seen on any cell, on a light page and on a dark one.
    if lines:
        assert lines["frontier"].line.color == "#FFFFFF"
        assert lines["frontier-edge"].line.width > lines["frontier"].line.width
        (named,) = (trace for trace in figure.data if trace.name == text.FRONTIER(lang) and trace.showlegend)
        assert all(contrast(named.line.color, page) >= 3 for page in BACKGROUNDS)
    (here,) = (trace for trace in figure.data if trace.meta == "here")
    assert (here.x, here.y) == ((sizing.tokens,), (sizing.scenario.requests,))
    (label,) = (a.text for a in figure.layout.annotations if words.tokens(sizing.tokens, lang) in a.text)
    assert format_count(sizing.scenario.requests) in label
    assert format_count(sizing.max_sequences_counted or 0) in label


@EACH
@BOTH
def test_both_axes_are_logarithmic_with_ticks_inside(sizing: Sizing, lang: Lang) -> None:
    layout = Figure(**frontier_figure(sizing, lang)).layout
    for axis in (layout.xaxis, layout.yaxis):
        assert axis.type == "log"
        assert axis.fixedrange
        assert 2 <= len(axis.tickvals) <= 10
        low, high = (10**edge for edge in axis.range)
        assert all(low * 0.999 <= tick <= high for tick in axis.tickvals)


@BOTH
def test_the_models_own_maximum_is_marked(lang: Lang) -> None:
    (line,) = Figure(**frontier_figure(BEYOND, lang)).layout.shapes
    assert line.x0 == line.x1 == 40_960
    assert line.name == text.MODEL_MAXIMUM(lang, tokens="40,960")


@EACH
@BOTH
def test_the_table_has_lengths_that_double_and_this_one(sizing: Sizing, lang: Lang) -> None:
    rows = frontier_rows(sizing, lang)
    lengths = [row[text.TOKENS_HEADING(lang)] for row in rows]
    assert sizing.tokens in lengths
    assert lengths == sorted(set(lengths))
    assert len(rows) <= 9
    assert sizing.plan is not None
    assert sizing.budget is not None
    said = words.requests(sizing.scenario.requests, lang)
    each = -(-sizing.scenario.requests // sizing.engines)
    for row, tokens in zip(rows, lengths, strict=True):
        most = row[text.FIT_AT_ONCE(lang)]
        assert not fits(sizing, most + 1, tokens)
        assert not most or fits(sizing, most, tokens)
        need = sizing.shared_bytes + each * (sizing.plan.request_bytes(tokens) - sizing.shared_bytes)
        assert row[text.NEED_GIB(lang, requests=said)] == round(need / GIB, 3)
        share = row.get(text.SHARE_OF_ROOM(lang, requests=said))
        assert (share is None) == (sizing.budget.usable_bytes == 0)
        if share is not None:
            assert share == round(100 * need / sizing.budget.usable_bytes, 1)


@EACH
@BOTH
def test_the_words_hold_the_numbers(sizing: Sizing, lang: Lang) -> None:
    alt = frontier_alt(sizing, lang)
    assert sizing.budget is not None
    assert sizing.short_bytes is not None
    need = format_bytes(sizing.budget.usable_bytes + sizing.short_bytes)
    room, fit = format_bytes(sizing.budget.usable_bytes), format_count(sizing.max_sequences_counted or 0)
    assert all(said in alt for said in (need, room, fit, words.tokens(sizing.tokens, lang)))
    assert "{" not in alt


@BOTH
def test_where_nothing_fits_there_is_no_line(lang: Lang) -> None:
    assert not frontier(NO_FIT).line
    assert not [t for t in Figure(**frontier_figure(NO_FIT, lang)).data if (t.meta or "").startswith("frontier")]


def test_without_a_budget_there_is_no_frontier() -> None:
    for sizing in WITHOUT.values():
        with pytest.raises(ValueError, match="budget"):
            Figure(**frontier_figure(sizing, "en"))
