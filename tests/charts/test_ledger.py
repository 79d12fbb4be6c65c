"""The ledger: its parts add up, and what is missing is shown beyond the card."""

import re
from bisect import bisect
from collections import Counter
from dataclasses import replace
from itertools import accumulate

import pytest
from plotly.graph_objects import Figure

from kvviz.charts.labels import text_width
from kvviz.charts.ledger import LEGEND_FONT, LEGEND_WIDTH, ledger_alt, ledger_figure, ledger_rows, ledger_segments
from kvviz.charts.style import contrast
from kvviz.core.units import GIB, format_bytes
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang
from kvviz.text import charts as text
from tests.charts.examples import (
    KEPT_FREE,
    KEPT_SHORT,
    NO_FIT,
    NO_ROOM,
    SHARED,
    SHORT,
    SPARE,
    TINY_SHARE,
    WINDOWS,
    WITH_BUDGET,
    WITHOUT,
)

EACH = pytest.mark.parametrize("sizing", WITH_BUDGET.values(), ids=WITH_BUDGET)
BOTH = pytest.mark.parametrize("lang", LANGUAGES)


def by_term(sizing: Sizing) -> dict[str, int]:
    return {s.term: s.value_bytes for s in ledger_segments(sizing)}


def drawn_terms(sizing: Sizing) -> dict[str, int]:
    """As the bar shows them: the engine's two parts as one, and what no program sees with what the fraction leaves."""
    terms = by_term(sizing)
    if engine := terms.pop("graphs", 0) + terms.pop("non_torch", 0):
        terms["engine"] = engine
    if "outside" in terms:
        terms["outside"] += terms.pop("hidden", 0)
    return terms


@EACH
def test_what_is_on_the_gpu_adds_up_to_the_gpu(sizing: Sizing) -> None:
    assert sizing.budget is not None
    assert all(s.value_bytes > 0 for s in ledger_segments(sizing))
    assert sum(s.value_bytes for s in ledger_segments(sizing) if s.on_gpu) == sizing.budget.device_bytes


@EACH
def test_what_is_beyond_the_gpu_adds_up_to_what_it_lacks(sizing: Sizing) -> None:
    assert sizing.lacking_bytes is not None
    beyond = sum(s.value_bytes for s in ledger_segments(sizing) if not s.on_gpu)
    assert beyond == max(0, sizing.lacking_bytes)


@EACH
def test_terms_are_those_of_the_sizing(sizing: Sizing) -> None:
    budget, terms = sizing.budget, by_term(sizing)
    assert budget is not None
    assert sizing.short_bytes is not None
    assert sizing.request_bytes is not None
    assert terms.get("weights", 0) + terms.get("weights_over", 0) == budget.weights.value_bytes
    run_time = ("activations", "graphs", "non_torch", "run_time_short")
    estimates = (budget.activations, budget.graphs, budget.non_torch)
    assert sum(terms.get(term, 0) for term in run_time) == sum(e.value_bytes for e in estimates)
    if "run_time_short" not in terms:
        assert [terms[term] for term in run_time[:3]] == [e.value_bytes for e in estimates]
    assert terms["outside"] == budget.outside_bytes
    assert terms["hidden"] == budget.hidden.value_bytes
    asked = -(-sizing.scenario.requests // sizing.engines)
    per_gpu = sizing.shared_bytes + asked * (sizing.request_bytes - sizing.shared_bytes)
    assert terms.get("cache_needed", 0) + terms.get("cache_short", 0) == per_gpu
    assert terms.get("cache_short", 0) == max(0, sizing.short_bytes)
    assert terms.get("cache_spare", 0) == max(0, -sizing.short_bytes)
    assert terms.get("kept_free", 0) == budget.kept_free_bytes


def test_weights_that_do_not_fit_stick_out() -> None:
    terms = by_term(NO_FIT)
    assert NO_FIT.budget is not None
    assert terms["weights_over"] == -NO_FIT.budget.available_bytes
    assert "cache_needed" not in terms
    assert [s.term for s in ledger_segments(NO_FIT) if not s.on_gpu] == ["weights_over", "cache_short"]


def test_run_time_that_does_not_fit_is_not_called_weights() -> None:
    budget, terms = NO_ROOM.budget, by_term(NO_ROOM)
    assert budget is not None
    assert budget.weights.value_bytes < budget.requested_bytes < budget.requested_bytes - budget.available_bytes
    assert terms["weights"] == budget.weights.value_bytes
    assert terms["run_time_short"] == -budget.available_bytes
    assert "weights_over" not in terms
    assert text.VERDICT_NO_ROOM("en", short="", need="")[:20] in ledger_alt(NO_ROOM, "en")
    assert text.VERDICT_WEIGHTS("en", short="", need="")[:20] in ledger_alt(NO_FIT, "en")


def test_a_share_too_small_even_for_the_run_time() -> None:
    terms = by_term(TINY_SHARE)
    assert TINY_SHARE.budget is not None
    assert terms["weights_over"] == TINY_SHARE.budget.weights.value_bytes
    assert terms["run_time_short"] > 0


@BOTH
def test_the_cache_is_called_needed_only_where_all_of_it_fits(lang: Lang) -> None:
    named = {key: {s.term: s for s in ledger_segments(sizing)} for key, sizing in WITH_BUDGET.items()}
    assert named["spare"]["cache_needed"].label == text.CACHE_NEEDED
    short = named["short"]["cache_needed"]
    assert short.label == text.CACHE_THAT_FITS
    assert "50 GiB" in short.source(lang)
    said = [one for bar in Figure(**ledger_figure(SHORT, lang)).data for one in (bar.name, bar.hovertemplate)]
    said += [row[text.PART(lang)] for row in ledger_rows(SHORT, lang)]
    assert sum(text.CACHE_THAT_FITS(lang) in one for one in said) == 3
    assert not any(text.CACHE_NEEDED(lang) in one for one in said)
    assert f"{text.CACHE_THAT_FITS(lang)} {format_bytes(short.value_bytes)}" in ledger_alt(SHORT, lang)


@EACH
@BOTH
def test_the_bar_draws_exactly_the_parts(sizing: Sizing, lang: Lang) -> None:
    assert sizing.budget is not None
    figure = Figure(**ledger_figure(sizing, lang))
    card = sizing.budget.device_bytes / GIB
    total = sum(bar.x[0] for bar in figure.data)
    drawn = Counter[str]()
    for bar in figure.data:
        drawn[bar.meta] += bar.x[0] * GIB
    terms = drawn_terms(sizing)
    gap = drawn.pop("break", 0)
    assert drawn.keys() == terms.keys()
    beyond = {s.term for s in ledger_segments(sizing) if not s.on_gpu}
    for term in terms.keys() - beyond:
        assert drawn[term] == pytest.approx(terms[term])
    lacking = sum(terms[term] for term in beyond) / GIB
    # What is short is never drawn longer than the card, so that the card's parts stay readable.
    assert total == pytest.approx(card + min(lacking, card))
    if lacking <= card:
        assert not gap
        assert all(drawn[term] == pytest.approx(terms[term]) for term in beyond)
        assert not any(text.NOT_TO_SCALE(lang) == a.text for a in figure.layout.annotations)
    else:
        assert gap > 0
        assert any(text.NOT_TO_SCALE(lang) == a.text for a in figure.layout.annotations)
        assert max(figure.layout.xaxis.tickvals) <= card
    assert figure.layout.barmode == "stack"
    edge = next(shape for shape in figure.layout.shapes if shape.y1 == 1.06)
    assert edge.x0 == edge.x1 == card
    assert figure.layout.xaxis.range == (0, pytest.approx(total))
    assert figure.layout.xaxis.ticktext[0] == "0"


@EACH
@BOTH
def test_no_text_in_narrow_parts_and_none_on_a_bare_pattern(sizing: Sizing, lang: Lang) -> None:
    figure = Figure(**ledger_figure(sizing, lang))
    total = sum(bar.x[0] for bar in figure.data)
    edges = list(accumulate((bar.x[0] for bar in figure.data), initial=0.0))
    for bar in figure.data:
        assert bar.text is None
        if bar.showlegend is not False:
            assert format_bytes(drawn_terms(sizing)[bar.meta]) in bar.name
    for label in figure.layout.annotations:
        if label.bgcolor is None:
            assert label.yref == "paper"
            continue
        assert contrast(label.bgcolor, label.font.color) >= 7
        place = bisect(edges, label.x) - 1
        assert figure.data[place].x[0] >= 0.18 * total
        assert label.x == pytest.approx((edges[place] + edges[place + 1]) / 2)


@EACH
@BOTH
def test_two_legend_entries_stand_beside_each_other_on_a_phone(sizing: Sizing, lang: Lang) -> None:
    assert 2 * (LEGEND_WIDTH + 40) <= 330
    for bar in Figure(**ledger_figure(sizing, lang)).data:
        if bar.showlegend:
            for line in bar.name.split("<br>"):
                assert text_width(line) * LEGEND_FONT / 12 <= LEGEND_WIDTH + 3  # a generous guess


@EACH
def test_the_legend_has_room_on_a_phone(sizing: Sizing) -> None:
    figure = Figure(**ledger_figure(sizing, "en"))
    rows = -(-len([bar for bar in figure.data if bar.showlegend]) // 2)
    assert figure.layout.height >= 154 + 32 * rows


@BOTH
def test_what_is_missing_is_written_above_the_bar(lang: Lang) -> None:
    def notes(sizing: Sizing) -> str:
        return " ".join(a.text for a in Figure(**ledger_figure(sizing, lang)).layout.annotations if a.bgcolor is None)

    assert SHORT.short_bytes is not None
    assert text.SHORT(lang, need="50 GiB", short=format_bytes(SHORT.short_bytes)) in notes(SHORT)
    for sizing in (NO_FIT, NO_ROOM):
        assert sizing.lacking_bytes is not None
        assert sizing.short_bytes is not None
        assert sizing.lacking_bytes > sizing.short_bytes
        lacking, short = format_bytes(sizing.lacking_bytes), format_bytes(sizing.short_bytes)
        assert text.SHORT_WITH_CACHE(lang, short=lacking, cache=short) in notes(sizing)
    assert "79.6 GiB" in notes(SPARE)
    assert "GiB" not in notes(SPARE).replace("79.6 GiB", "")


def test_spare_and_missing_look_like_nothing_else() -> None:
    look = {
        bar.meta: (bar.marker.color, bar.marker.pattern.shape, bar.marker.pattern.fillmode)
        for sizing in WITH_BUDGET.values()
        for bar in Figure(**ledger_figure(sizing, "en")).data
        if bar.meta not in {"remainder", "break"}
    }
    assert set(look) == {
        "weights", "activations", "engine", "outside", "kept_free", "cache_needed", "cache_spare", "cache_short",
        "weights_over", "run_time_short",
    }  # fmt: skip
    lines = {"cache_short": 1, "weights_over": 2, "run_time_short": 3}  # these differ in the colour of their lines
    assert len({(*value, lines.get(term)) for term, value in look.items()}) == len(look)


@EACH
@BOTH
def test_the_table_has_the_same_rows(sizing: Sizing, lang: Lang) -> None:
    rows = ledger_rows(sizing, lang)
    assert [row[text.BYTES(lang)] for row in rows] == [s.value_bytes for s in ledger_segments(sizing)]
    for row in rows:
        assert row[text.GIB(lang)] == pytest.approx(row[text.BYTES(lang)] / GIB, abs=0.0006)
        assert row[text.BASIS_HEADING(lang)] in {basis(lang) for basis in text.BASIS.values()}
        assert row[text.SOURCE(lang)]
        assert "{" not in row[text.SOURCE(lang)]


def test_what_rests_on_an_estimate_says_so() -> None:
    basis = {s.term: s.basis for s in ledger_segments(SPARE)}
    assert basis["weights"] == basis["outside"] == basis["cache_needed"] == "exact"
    assert basis["activations"] in {"measured", "assumed"}
    for sizing in WITH_BUDGET.values():
        for segment in ledger_segments(sizing):  # sums and differences are nobody's measurements
            if segment.term in {
                "remainder",
                "kept_free",
                "cache_spare",
                "cache_short",
                "weights_over",
                "run_time_short",
            }:
                assert segment.basis == "estimated"
    assert next(s for s in ledger_segments(SHORT) if s.term == "cache_needed").basis == "estimated"
    assert next(s for s in ledger_segments(NO_FIT) if s.term == "weights").basis == "estimated"


def test_what_follows_from_exact_terms_is_exact() -> None:
    assert SPARE.budget is not None
    exact = {
        term: replace(getattr(SPARE.budget, term), basis="exact")
        for term in ("hidden", "activations", "graphs", "non_torch")
    }
    sizing = replace(SPARE, budget=replace(SPARE.budget, **exact))
    assert {s.basis for s in ledger_segments(sizing)} == {"exact"}


@EACH
@BOTH
def test_sources_of_the_ledgers_own_rows_are_short(sizing: Sizing, lang: Lang) -> None:
    assert sizing.budget is not None
    given = {e.source(lang) for e in (sizing.budget.weights, sizing.budget.activations, sizing.budget.graphs)}
    for row in ledger_rows(sizing, lang):
        assert list(row)[-1] == text.SOURCE(lang)
        if row[text.PART(lang)] != text.NON_TORCH(lang) and row[text.SOURCE(lang)] not in given:
            assert len(row[text.SOURCE(lang)]) <= 72


@EACH
@BOTH
def test_the_words_hold_the_numbers(sizing: Sizing, lang: Lang) -> None:
    assert sizing.budget is not None
    alt = ledger_alt(sizing, lang)
    said = set(re.findall(r"[\d.,]*\d [KMGT]?i?B", alt))
    assert format_bytes(sizing.budget.device_bytes) in said
    terms = drawn_terms(sizing)
    terms.pop("remainder", None)
    assert {format_bytes(count) for count in terms.values()} <= said
    assert sizing.lacking_bytes is not None
    assert format_bytes(abs(sizing.lacking_bytes)) in said
    assert not re.search(r"(?<![\d,.])1 (tokens|requests)", alt)
    assert sizing.budget.device.name in alt
    assert "{" not in alt


@BOTH
def test_where_fewer_bytes_are_held_than_counted_both_are_said(lang: Lang) -> None:
    assert WINDOWS.held_bytes is not None
    assert format_bytes(4 * WINDOWS.held_bytes) in ledger_alt(WINDOWS, lang)
    assert text.VERDICT_HELD(lang, held="50 GiB") not in ledger_alt(SHORT, lang)


@BOTH
def test_what_is_kept_free_is_said_wherever_the_pool_is(lang: Lang) -> None:
    for sizing, term in ((KEPT_FREE, "cache_spare"), (KEPT_SHORT, "cache_short")):
        assert sizing.budget is not None
        kept = format_bytes(sizing.budget.kept_free_bytes)
        segments = {s.term: s for s in ledger_segments(sizing)}
        assert kept in segments[term].source(lang)
        assert f"{sizing.scenario.headroom * 100:g}%" in segments["kept_free"].source(lang)
        assert text.PART_BYTES(lang, label=text.KEPT_FREE(lang), bytes=kept) in ledger_alt(sizing, lang)
    assert KEPT_SHORT.budget is not None
    pool, kept = format_bytes(KEPT_SHORT.budget.pool_bytes), format_bytes(KEPT_SHORT.budget.kept_free_bytes)
    assert text.POOL_KEPT(lang, pool=pool, kept=kept) in ledger_alt(KEPT_SHORT, lang)


@BOTH
def test_what_requests_share_is_in_the_working(lang: Lang) -> None:
    assert SHARED.request_bytes is not None
    shared, own = format_bytes(SHARED.shared_bytes), format_bytes(SHARED.request_bytes - SHARED.shared_bytes)
    working = text.NEED_WORKING_SHARED(lang, shared=shared, requests=50, own=own)
    assert any(working in s.source(lang) for s in ledger_segments(SHARED))
    assert text.VERDICT_SHARED(lang, shared=shared) in ledger_alt(SHARED, lang)
    alone = text.NEED_WORKING(lang, requests=50, request="1 GiB")
    assert any(alone in s.source(lang) for s in ledger_segments(SHORT))


def test_without_a_budget_there_is_no_ledger() -> None:
    for sizing in WITHOUT.values():
        with pytest.raises(ValueError, match="budget"):
            Figure(**ledger_figure(sizing, "en"))


def test_a_card_without_a_known_need_shows_its_room() -> None:
    terms = by_term(replace(SPARE, short_bytes=None))
    assert SPARE.budget is not None
    assert terms["cache_spare"] == SPARE.budget.pool_bytes - SPARE.budget.null_bytes
    assert "cache_needed" not in terms


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("part", [text.OUT_OF_REACH, text.HIDDEN], ids=lambda part: part.en)
def test_what_is_in_every_legend_fits_beside_another_on_a_phone(part: text.Text, lang: Lang) -> None:
    assert text_width(part(lang)) <= text_width("Not seen by programs")
