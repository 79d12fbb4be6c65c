"""The comparison's chart and tables, and the scatter of every model."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from plotly.graph_objects import Figure

from kvviz.charts.compare import (
    PALETTE,
    cell_label,
    comparison_alt,
    comparison_figure,
    comparison_rows,
    factor_rows,
    length_rows,
    lines,
    models_alt,
    models_figure,
    models_rows,
    names,
    ratio_label,
    reasons,
    runs_fewer,
    same_factors,
)
from kvviz.charts.style import BACKGROUNDS, contrast
from kvviz.compare import Compared, cell, compare, difference, every_model, matrix, under_engines
from kvviz.core.units import GIB, format_bytes
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang
from kvviz.text import compare as text

BOTH = pytest.mark.parametrize("lang", LANGUAGES)


def ask(scenario: Scenario) -> Sizing:
    return resolve(scenario).size()


MIXED = compare(
    [
        Scenario(),
        Scenario(model="deepseek-ai/DeepSeek-R1", gpu="h200", gpus=8, input=30_000),
        Scenario(model="google/gemma-3-27b-it", sequences=4, input=100_000),
        Scenario(model="mistralai/Mamba-Codestral-7B-v0.1", engine="sglang"),
        Scenario(model="Qwen/Qwen-7B-Chat"),
        Scenario(model="meta-llama/Llama-3.1-8B-Instruct", gpus=3),
    ],
    ask,
)
ENGINES = compare(under_engines(Scenario(model="google/gemma-3-27b-it", gpu="h200")), ask)
ALONE = compare([Scenario()], ask)
SHARED = compare([Scenario(shared_tokens=2000), Scenario(gpu="")], ask)
EACH = pytest.mark.parametrize("compared", [MIXED, ENGINES, ALONE, SHARED], ids=["mixed", "engines", "alone", "shared"])


def test_a_model_is_named_as_it_is_written() -> None:
    written, drawn = "<b>x & y", "&lt;b&gt;x &amp; y"
    point = replace(every_model()[0], model=written)
    told = str(Figure(**models_figure([point], 4096, "en", ringed=[], named=[written])).to_plotly_json())
    assert told.count(drawn) == 2  # beside its point, and under a pointer
    assert written not in told


@EACH
@BOTH
def test_each_line_is_what_its_requests_need(compared: tuple[Compared, ...], lang: Lang) -> None:
    figure = Figure(**comparison_figure(compared, lang))
    for line in lines(compared):
        number, sizing = line.compared.number, line.sizing
        each = -(-sizing.scenario.requests // sizing.engines)
        for trace in (t for t in figure.data if t.meta == f"line-{number}"):
            solid = trace.line.dash == "solid"
            for tokens, shown in zip(trace.x, trace.y, strict=True):
                need = sizing.need_bytes(each, tokens)
                assert shown == pytest.approx(float(need) / GIB)
                if sizing.budget is not None and sizing.plan is not None and tokens != line.fit_tokens:
                    assert (need <= sizing.budget.usable_bytes) == solid
        (here,) = (t for t in figure.data if t.meta == f"here-{number}")
        assert here.x[0] == sizing.tokens
        assert here.y[0] == pytest.approx(float(sizing.need_bytes(each, sizing.tokens)) / GIB)
        assert any(t.meta == f"number-{number}" and t.text == (str(number),) for t in figure.data)
    assert len({t.x[0] for t in figure.data if (t.meta or "").startswith("number-")}) == len(lines(compared))


def test_lines_are_told_apart_and_can_be_seen() -> None:
    assert len(set(PALETTE)) == 6
    assert all(contrast(colour, background) >= 3 for colour in PALETTE for background in BACKGROUNDS)


@BOTH
def test_names_say_what_differs_and_no_more(lang: Lang) -> None:
    assert names(ENGINES, lang)[1] == "vLLM 0.33"
    assert names(ALONE, lang) == {1: "Qwen3-32B-FP8"}
    types = compare([Scenario(kv_dtype="bf16"), Scenario(kv_dtype="fp8")], ask)
    assert names(types, lang) == {1: "bf16", 2: "fp8"}
    assert len(set(names(MIXED, lang).values())) == len(MIXED)


@EACH
@BOTH
def test_rows_that_differ_come_first(compared: tuple[Compared, ...], lang: Lang) -> None:
    rows, first_same = comparison_rows(compared, lang)
    heading = text.ROW(lang)
    same = [len({value for name, value in row.items() if name != heading}) == 1 for row in rows]
    if len(compared) > 1:
        assert same == sorted(same)
    mixed = any(same) and not all(same)
    assert first_same == (rows[same.index(True)][heading] if mixed else "")
    assert all(set(row) == {heading, *(str(one.number) for one in compared)} for row in rows)


def test_any_setting_that_differs_has_a_row() -> None:
    rows, _ = comparison_rows(compare([Scenario(), Scenario(memory_fraction=0.8)], ask), "en")
    (row,) = (row for row in rows if row[text.ROW("en")] == "Memory fraction")
    assert (row["1"], row["2"]) == ("auto", "0.8")


@EACH
@BOTH
def test_the_chart_in_numbers_and_words(compared: tuple[Compared, ...], lang: Lang) -> None:
    rows = length_rows(compared, lang)
    assert len(rows) >= 3
    for line in lines(compared):
        need = line.need_bytes(line.sizing.tokens)
        own = next(row for row in rows if line.sizing.tokens in row.values())
        assert round(float(need) / GIB, 3) in own.values()
        assert format_bytes(need) in comparison_alt(compared, lang)


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [
        (Fraction(8), "× 8"),
        (Fraction(1), "× 1"),
        (Fraction(1, 2), "÷ 2"),
        (Fraction(8, 7), "× 1.143 (8/7)"),
        (Fraction(4, 7), "÷ 1.75"),
        (Fraction(16, 9), "× 1.778 (16/9)"),
        (Fraction(123_456_789, 1_000_003), "× 123.5"),
        (Fraction(2048), "× 2,048"),
    ],
)
def test_a_ratio_is_exact_where_that_is_short(ratio: Fraction, shown: str) -> None:
    assert ratio_label(ratio) == shown


@BOTH
def test_factors_end_with_their_product(lang: Lang) -> None:
    found = difference(ask(Scenario(model="Qwen/Qwen-7B-Chat")), ask(Scenario(model="Qwen/Qwen2.5-7B-Instruct")))
    assert found is not None
    rows = factor_rows(found, "a", "b", lang)
    assert [row[text.TIMES_COLUMN(lang)] for row in rows] == ["× 8", "× 1.143 (8/7)", "× 9.143 (64/7)"]
    assert [row["a"] for row in rows] == ["32", "32", "2 GiB"]
    assert [row["b"] for row in rows] == ["4", "28", "224 MiB"]
    assert text.VALUE_BYTES(lang) in same_factors(found, lang)
    assert text.KV_HEADS(lang) not in same_factors(found, lang)


@BOTH
def test_cells_without_a_number_are_explained_once(lang: Lang) -> None:
    models = ["openai-community/gpt2", "deepseek-ai/DeepSeek-R1", "facebook/bart-large-cnn"]
    rows = matrix(Scenario(), partial(cell, ask=ask), models=models, gpus=["h100-80gb"], counts=[1, 2, 8])
    labels = {cell_label(cell, lang) for row in rows for cell in row if cell.fit is None}
    told = reasons(rows, lang)
    assert {label for label, _, _ in told} == labels
    assert len({(label, why) for label, why, _ in told}) == len(told)
    assert {model for _, _, about in told for model in about} == {"gpt2", "DeepSeek-R1", "bart-large-cnn"}


@BOTH
def test_room_for_more_than_run_at_once_is_not_shown_without_saying_so(lang: Lang) -> None:
    base = Scenario(engine="sglang", input=64, output=0)
    small, large = "Qwen/Qwen3-0.6B", "Qwen/Qwen3-32B"
    rows = matrix(base, partial(cell, ask=ask), models=[small], gpus=["h200"], counts=[1])
    assert "18,226" in cell_label(rows[0][0], lang)
    assert "4,096" in runs_fewer(rows, lang)
    assert "SGLang" in runs_fewer(rows, lang)
    base = base.with_changes(engine="vllm", input=3_072)
    assert not runs_fewer(matrix(base, partial(cell, ask=ask), models=[large], gpus=["h200"], counts=[1]), lang)
    several = matrix(
        base.with_changes(input=64), partial(cell, ask=ask), models=[small], gpus=["h200", "a100-80gb"], counts=[1]
    )
    assert text.FROM_TO(lang, least="256", most="1,024") in runs_fewer(several, lang)
    for scenarios, row in (([base], False), ([base, Scenario(model=small, gpu="h200", input=64, output=0)], True)):
        table, _ = comparison_rows(compare(scenarios, ask), lang)
        labels = [next(iter(line.values())) for line in table]
        assert (text.ROW_RUN(lang) in labels) is row
        assert not row or "1,024" in table[labels.index(text.ROW_RUN(lang))].values()


@BOTH
def test_every_model_is_drawn_at_its_place(lang: Lang) -> None:
    points, named = every_model(), ["deepseek-ai/DeepSeek-R1"]
    figure = Figure(**models_figure(points, 4096, lang, ringed=["Qwen/Qwen3-32B"], named=named))
    drawn = {
        shown[0]: (x, y)
        for trace in figure.data
        if trace.meta in text.KINDS
        for shown, x, y in zip(trace.customdata, trace.x, trace.y, strict=True)
    }
    assert set(drawn) == {point.model for point in points}
    assert drawn["meta-llama/Llama-3.1-8B-Instruct"] == (8_030_261_248, 0.5)
    (chosen,) = (trace for trace in figure.data if trace.meta == "chosen")
    assert len(chosen.x) == 2
    assert any(note.text == "DeepSeek-R1" for note in figure.layout.annotations)
    for trace in figure.data:  # all within the axes
        for axis, values in ((figure.layout.xaxis, trace.x), (figure.layout.yaxis, trace.y)):
            assert all(10 ** axis.range[0] <= value <= 10 ** axis.range[1] for value in values)
    rows = models_rows(points, 4096, lang)
    assert len(rows) == len(points)
    assert rows[-1][text.MODEL(lang)] in models_alt(points, 4096, lang)
