"""The charts of a whole trace show the study, all of it, in both languages."""

from collections.abc import Sequence

import pytest
from plotly.graph_objects import Figure

from kvviz.allocation.contiguous import Place
from kvviz.allocation.workload import TEACHING, Request, load_trace
from kvviz.charts import allocation as charts
from kvviz.sweeps import PAPER, PAPER_SETTING, Study, study
from kvviz.text import LANGUAGES, Lang
from kvviz.text import blocks as text

BOTH = pytest.mark.parametrize("lang", LANGUAGES)


def found(requests: Sequence[Request], pool: int, block: int, longest: int, place: Place) -> Study:
    *_, last = study(requests, pool_tokens=pool, block_tokens=block, max_tokens=longest, reserve="max", place=place)
    assert isinstance(last, Study)
    return last


PAPERS = found(load_trace("sharegpt").requests[:400], *PAPER_SETTING[1:])
SMALL = found(TEACHING.requests, 64, 4, 20, "firstfit")
EACH = pytest.mark.parametrize("of", [PAPERS, SMALL], ids=["sharegpt", "teaching"])


@EACH
@BOTH
def test_the_bars_are_the_shares_and_add_up(of: Study, lang: Lang) -> None:
    figure = Figure(**charts.shares_figure(of, lang, paper=False))
    assert figure.layout.margin.r >= 20  # Plotly leaves out a last mark, 100%, that the edge would cut
    bars = {bar.meta: bar.x for bar in figure.data}
    assert list(bars) == list(text.SHARES)
    for place, system in enumerate(of.systems):
        assert bars["token"][place] == pytest.approx(100 * (system.token or 0))
        assert sum(bars[share][place] for share in bars) == pytest.approx(100)


@BOTH
def test_the_papers_figures_stand_beside_ours(lang: Lang) -> None:
    figure = Figure(**charts.shares_figure(PAPERS, lang, paper=True))
    marks = next(trace for trace in figure.data if trace.meta == "paper")
    assert list(marks.x) == pytest.approx([20.4, 26.8, 38.2, 96.3])
    assert [row[text.PAPER_COLUMN(lang)] for row in charts.shares_rows(PAPERS, lang, paper=True)] == [
        f"{share:.1%}" for share in PAPER.values()
    ]
    assert "5" in text.PAPER_CAPTION(lang)


@EACH
@BOTH
def test_the_lines_are_the_study(of: Study, lang: Lang) -> None:
    running = Figure(**charts.running_figure(of, lang))
    for trace, system in zip(running.data, of.systems, strict=True):
        assert list(zip(trace.x, trace.y, strict=True))[:-1] == list(system.running)
    sizes = Figure(**charts.blocks_figure(of, lang))
    lines = {trace.meta: trace for trace in sizes.data}
    assert list(lines["used"].x) == [str(point.block_tokens) for point in of.blocks]
    assert list(lines["entries"].y) == [point.table_entries for point in of.blocks]
    pools = Figure(**charts.pools_figure(of, lang))
    assert not any(trace.cliponaxis for trace in pools.data)  # nothing that fits is half a mark on the axis
    assert [list(trace.y) for trace in pools.data] == [
        [point.contiguous for point in of.pools],
        [point.paged for point in of.pools],
    ]


@EACH
@BOTH
def test_tables_and_words_say_the_same(of: Study, lang: Lang) -> None:
    assert [row[text.ENTRIES(lang)] for row in charts.blocks_rows(of, lang)] == [
        round(point.table_entries, 1) for point in of.blocks
    ]
    assert len(charts.pools_rows(of, lang)) == len(of.pools)
    assert charts.running_rows(of, lang)[0][text.STEP(lang)] == 0
    for alt in (charts.shares_alt, charts.running_alt, charts.blocks_alt, charts.pools_alt):
        said = alt(of, lang)
        assert "{" not in said
        assert "None" not in said
    assert f"{PAPERS.systems[0].token:.1%}" in charts.shares_alt(PAPERS, lang)


def test_what_was_not_measured_is_no_number() -> None:
    rows = charts.blocks_rows(SMALL, "en")
    assert rows[0][text.USED_COLUMN("en")] == "–"
    figure = Figure(**charts.blocks_figure(SMALL, "en"))
    assert next(trace for trace in figure.data if trace.meta == "used").y[0] is None


@EACH
@BOTH
def test_every_line_that_can_be_drawn_is_on_the_chart(of: Study, lang: Lang) -> None:
    for figure in (Figure(**charts.pools_figure(of, lang)), Figure(**charts.blocks_figure(of, lang))):
        axes = [axis for name, axis in figure.layout.to_plotly_json().items() if name.startswith("yaxis")]
        assert all(axis.get("type") != "log" for axis in axes)  # 0 requests is a point too, one tick is no scale
    for system in of.systems:
        assert len(system.running) <= 41  # spans, not the noise of single requests
    named = [row[text.SYSTEM(lang)] for row in charts.shares_rows(of, lang, paper=False)]
    assert [text.PLACED[of.place](lang) in name for name in named] == [True, True, True, False]
