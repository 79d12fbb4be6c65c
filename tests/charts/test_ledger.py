"""The ledger: its parts add up, and what is missing is shown beyond the card."""

import re
from dataclasses import replace

import pytest

from kvviz.charts.ledger import ledger_alt, ledger_figure, ledger_rows, ledger_segments
from kvviz.core.units import GIB, format_bytes
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang
from kvviz.text import charts as text
from tests.charts.examples import NO_FIT, SHORT, SPARE, WINDOWS, WITH_BUDGET, WITHOUT

EACH = pytest.mark.parametrize("sizing", WITH_BUDGET.values(), ids=WITH_BUDGET)
BOTH = pytest.mark.parametrize("lang", LANGUAGES)


def by_term(sizing: Sizing) -> dict[str, int]:
    return {s.term: s.value_bytes for s in ledger_segments(sizing)}


@EACH
def test_what_is_on_the_gpu_adds_up_to_the_gpu(sizing: Sizing) -> None:
    assert sizing.budget is not None
    assert all(s.value_bytes > 0 for s in ledger_segments(sizing))
    assert sum(s.value_bytes for s in ledger_segments(sizing) if s.on_gpu) == sizing.budget.device_bytes


@EACH
def test_terms_are_those_of_the_sizing(sizing: Sizing) -> None:
    budget, terms = sizing.budget, by_term(sizing)
    assert budget is not None
    assert sizing.short_bytes is not None
    assert sizing.request_bytes is not None
    assert terms["weights"] + terms.get("weights_over", 0) == budget.weights.value_bytes
    assert terms["activations"] == budget.activations.value_bytes
    assert terms["graphs"] == budget.graphs.value_bytes
    assert terms["non_torch"] == budget.non_torch.value_bytes
    assert terms["outside"] == budget.outside_bytes
    per_gpu = -(-sizing.scenario.sequences // sizing.engines) * sizing.request_bytes
    assert terms.get("cache_needed", 0) + terms.get("cache_short", 0) == per_gpu
    assert terms.get("cache_short", 0) == max(0, sizing.short_bytes)
    assert terms.get("cache_spare", 0) == max(0, -sizing.short_bytes)


def test_weights_that_do_not_fit_stick_out() -> None:
    terms = by_term(NO_FIT)
    assert NO_FIT.budget is not None
    assert terms["weights_over"] == -NO_FIT.budget.available_bytes
    assert "cache_needed" not in terms
    assert [s.term for s in ledger_segments(NO_FIT) if not s.on_gpu] == ["weights_over", "cache_short"]


@EACH
@BOTH
def test_the_bar_draws_exactly_the_parts(sizing: Sizing, lang: Lang) -> None:
    assert sizing.budget is not None
    figure = ledger_figure(sizing, lang)
    drawn = {bar.meta: bar.x[0] * GIB for bar in figure.data}
    terms = by_term(sizing)
    assert drawn.pop("engine") == terms.pop("graphs") + terms.pop("non_torch")
    assert drawn == terms
    assert figure.layout.barmode == "stack"
    edge = figure.layout.shapes[0]
    assert edge.x0 == edge.x1 == sizing.budget.device_bytes / GIB
    assert figure.layout.xaxis.range == (0, pytest.approx(sum(b.x[0] for b in figure.data)))


@EACH
@BOTH
def test_no_text_in_narrow_parts(sizing: Sizing, lang: Lang) -> None:
    figure = ledger_figure(sizing, lang)
    total = sum(bar.x[0] for bar in figure.data)
    for bar in figure.data:
        assert not bar.text[0] or bar.x[0] >= 0.12 * total
        # The browser hides a value that does not fit; the legend has it in any case.
        assert bar.showlegend is False or format_bytes(round(bar.x[0] * GIB)) in bar.name
    assert figure.layout.uniformtext.mode == "hide"


@BOTH
def test_what_is_missing_is_written_above_the_bar(lang: Lang) -> None:
    def notes(sizing: Sizing) -> str:
        return " ".join(a.text for a in ledger_figure(sizing, lang).layout.annotations)

    assert SHORT.short_bytes is not None
    assert text.SHORT(lang, bytes=format_bytes(SHORT.short_bytes)) in notes(SHORT)
    assert "79.6 GiB" in notes(SPARE)
    assert "GiB" not in notes(SPARE).replace("79.6 GiB", "")


def test_spare_and_missing_look_like_nothing_else() -> None:
    look = {
        bar.meta: (bar.marker.color, bar.marker.pattern.shape, bar.marker.pattern.fillmode)
        for sizing in WITH_BUDGET.values()
        for bar in ledger_figure(sizing, "en").data
        if bar.meta != "remainder"
    }
    assert set(look) == {
        "weights", "activations", "engine", "outside", "cache_needed", "cache_spare", "cache_short", "weights_over",
    }  # fmt: skip
    lines = {"cache_short": "kv", "weights_over": "weights"}  # these two differ in the colour of their lines
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
    assert basis["activations"] == basis["cache_spare"] != "exact"
    assert {s.term: s.basis for s in ledger_segments(SHORT)}["cache_short"] != "exact"


@EACH
@BOTH
def test_the_words_hold_the_numbers(sizing: Sizing, lang: Lang) -> None:
    assert sizing.budget is not None
    alt = ledger_alt(sizing, lang)
    said = set(re.findall(r"[\d.,]*\d [KMGT]?i?B", alt))
    assert format_bytes(sizing.budget.device_bytes) in said
    terms = by_term(sizing)
    engine = terms.pop("graphs") + terms.pop("non_torch")
    terms.pop("remainder", None)
    assert {format_bytes(count) for count in (*terms.values(), engine)} <= said
    assert sizing.budget.device.name in alt
    assert "{" not in alt


@BOTH
def test_where_fewer_bytes_are_held_than_counted_both_are_said(lang: Lang) -> None:
    assert WINDOWS.held_bytes is not None
    assert format_bytes(4 * WINDOWS.held_bytes) in ledger_alt(WINDOWS, lang)
    assert text.VERDICT_HELD(lang, held="50 GiB") not in ledger_alt(SHORT, lang)


def test_without_a_budget_there_is_no_ledger() -> None:
    for sizing in WITHOUT.values():
        with pytest.raises(ValueError, match="budget"):
            ledger_figure(sizing, "en")


def test_a_card_without_a_known_need_shows_its_room() -> None:
    terms = by_term(replace(SPARE, short_bytes=None))
    assert SPARE.budget is not None
    assert terms["cache_spare"] == SPARE.budget.pool_bytes
    assert "cache_needed" not in terms
