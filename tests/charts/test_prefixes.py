"""Chips, the hit-ratio curve, and requests at once by shared tokens: they hold the numbers they are drawn from."""

import xml.etree.ElementTree as ElementTree  # what is parsed is this project's own drawing
from typing import Any

import pytest
from plotly.graph_objects import Figure

from kvviz.charts.prefixes import (
    STATE_COLOURS,
    STATE_SIGNS,
    chip_rows,
    chips_alt,
    chips_svg,
    curve_alt,
    curve_figure,
    curve_rows,
    fit_with_shared,
    saves_alt,
    saves_figure,
    saves_rows,
)
from kvviz.charts.style import BACKGROUNDS, contrast
from kvviz.core.units import format_count
from kvviz.hit_ratios import PUBLISHED, blocks_of, curve, ratios
from kvviz.prompts import cached
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang
from kvviz.text import prefixes as text
from tests.charts.examples import WITH_BUDGET, WITHOUT, sized

BOTH = pytest.mark.parametrize("lang", LANGUAGES)
EACH = pytest.mark.parametrize("sizing", WITH_BUDGET.values(), ids=WITH_BUDGET)
SVG = "{http://www.w3.org/2000/svg}"
TRACE = "mooncake-synthetic"

SOME = ("a b c d e f g h i", "a b c d e f g h <&>", "a b c d x f g h", "a b c d x f g h", "")


@BOTH
@pytest.mark.parametrize("columns", [2, 6])
def test_a_chip_a_block(lang: Lang, columns: int) -> None:
    found = cached(SOME, 4)
    drawn = ElementTree.fromstring(chips_svg(found, lang, columns=columns))  # noqa: S314
    chips = [group for group in drawn.iter(f"{SVG}g") if group.get("class") in STATE_COLOURS]
    blocks = [block for prompt in found.prompts for block in prompt.blocks]
    assert {block.state for block in blocks} == set(STATE_COLOURS)
    for chip, block in zip(chips, blocks, strict=True):
        assert chip.get("class") == block.state
        said = "".join(chip.itertext())
        assert block.hash[:6] in said
        assert STATE_SIGNS[block.state] in said  # never by colour alone
        assert text.STATES[block.state](lang) in said
    assert drawn.get("aria-label") == chips_alt(found, lang)
    # Nothing stands below the edge of the picture, and no two chips on one place.
    frames = [frame for frame in drawn.iter(f"{SVG}svg") if frame is not drawn]
    assert len({(frame.get("x"), frame.get("y")) for frame in frames}) == len(frames)
    lowest = max(float(frame.get("y") or 0) + float(frame.get("height") or 0) for frame in frames)
    assert lowest <= float(drawn.get("height") or 0)


@pytest.mark.parametrize("colour", STATE_COLOURS.values(), ids=STATE_COLOURS)
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_a_chips_outline_is_seen(colour: str, background: str) -> None:
    assert contrast(colour, background) >= 3


@BOTH
def test_where_a_prompt_differs_is_outlined(lang: Lang) -> None:
    drawn = ElementTree.fromstring(chips_svg(cached(SOME[:3], 4), lang, columns=6))  # noqa: S314
    thick = [rect for rect in drawn.iter(f"{SVG}rect") if rect.get("stroke-width") == "3"]
    assert len(thick) == 2


@BOTH
def test_the_legend_says_no_state_twice(lang: Lang) -> None:
    for state, meaning in text.STATE_MEANINGS.items():
        assert not meaning(lang).startswith(text.STATES[state](lang))


@BOTH
def test_the_chips_as_a_table(lang: Lang) -> None:
    found = cached(SOME, 4)
    rows = chip_rows(found, lang)
    assert len(rows) == found.blocks
    shown = [row[text.COLUMN_HASH(lang)] for row in rows]
    assert shown == [block.hash[:6] or None for prompt in found.prompts for block in prompt.blocks]
    assert sum(row[text.COLUMN_STATE(lang)] == text.STATES["hit"](lang) for row in rows) == found.hit_blocks


@BOTH
def test_the_curve_holds_ours_and_the_published(lang: Lang) -> None:
    points, chosen = list(curve(TRACE)), (512_000, ratios(TRACE, 1_000))
    figure = Figure(**curve_figure(TRACE, points, chosen, 200_000, lang))
    lines = {trace.meta: trace for trace in figure.data}
    assert list(lines["ours"].y) == [100 * one.full for _, one in points]
    assert dict(zip(lines["published"].x, lines["published"].y, strict=True)) == pytest.approx(
        {tokens: 100 * said for tokens, said in PUBLISHED[TRACE].items()}
    )
    assert (lines["chosen"].x, lines["chosen"].y) == ((512_000,), (100 * chosen[1].full,))
    assert [shape.x0 for shape in figure.layout.shapes] == [200_000]
    assert not Figure(**curve_figure(TRACE, points, chosen, 1, lang)).layout.shapes
    assert max(max(trace.y) for trace in figure.data) <= figure.layout.yaxis.range[1]
    rows = curve_rows(TRACE, points, lang)
    assert [row[text.COLUMN_BLOCKS(lang)] for row in rows] == [blocks_of(tokens) for tokens, _ in points]
    assert sum(row[text.COLUMN_THEIRS(lang)] is not None for row in rows) == len(PUBLISHED[TRACE])
    alt = curve_alt(TRACE, points, lang)
    assert all(f"{one.full:.1%}" in alt for _, one in points)
    assert all(f"{said:.1%}" in alt for said in PUBLISHED[TRACE].values())


@pytest.mark.parametrize(
    ("model", "weights_gib", "settings"),
    [
        ("Qwen/Qwen3-32B-FP8", 31.2, {}),
        ("google/gemma-3-27b-it", 51, {"gpu": "h200", "gpus": 2, "tp": 1}),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 148.5, {"gpu": "h200", "gpus": 2}),
        ("meta-llama/Llama-3.1-8B-Instruct", 14.99, {"prefix_caching": "off"}),
        ("meta-llama/Llama-3.1-8B-Instruct", 14.99, {"engine": "sglang"}),
        ("meta-llama/Llama-3.1-8B-Instruct", 14.99, {"engine": "tensorrt-llm"}),
        ("meta-llama/Llama-3.1-8B-Instruct", 14.99, {"engine": "llama.cpp"}),
    ],
)
def test_what_fits_is_what_sizing_says(model: str, weights_gib: float, settings: dict[str, Any]) -> None:
    usual = sized(model, weights_gib, **settings)
    for part in range(5):
        shared = usual.scenario.input_tokens * part // 4
        asked = sized(model, weights_gib, shared_tokens=shared, **settings)
        assert fit_with_shared(usual, shared) == asked.max_sequences_counted


@EACH
@BOTH
def test_more_shared_never_means_fewer(sizing: Sizing, lang: Lang) -> None:
    most = sizing.scenario.input_tokens
    shared = most // 3
    figure = Figure(**saves_figure(sizing, shared, lang))
    lines = {trace.meta: trace for trace in figure.data}
    assert list(lines["fit"].y) == sorted(lines["fit"].y)
    assert (lines["fit"].x[0], lines["fit"].x[-1]) == (0, most)
    here = fit_with_shared(sizing, shared)
    assert (lines["here"].x, lines["here"].y) == ((shared,), (here,))
    assert here <= figure.layout.yaxis.range[1]
    rows = saves_rows(sizing, shared, lang)
    assert [row[text.COLUMN_FIT(lang)] for row in rows if row[text.COLUMN_SHARED(lang)] == shared] == [here]
    assert all(row[text.COLUMN_ONCE(lang)] >= 0 for row in rows)
    alt = saves_alt(sizing, shared, lang)
    assert format_count(here) in alt
    assert "{" not in alt


def test_without_a_budget_nothing_is_said_to_fit() -> None:
    for sizing in WITHOUT.values():
        with pytest.raises(ValueError, match="budget"):
            fit_with_shared(sizing, 0)
