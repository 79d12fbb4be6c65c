"""The palette can be read on every background, and never by colour alone."""

import json
import re
import tomllib
from itertools import combinations
from pathlib import Path

import pytest
import streamlit as st
from plotly.graph_objects import Figure
from plotly.io import to_json
from plotly.tools import return_figure_from_figure_or_data

from kvviz.charts import style
from kvviz.charts.frontier import frontier_figure
from kvviz.charts.growth import growth_figure
from kvviz.charts.layers import _COMPRESSED_MORE, CACHE_COLOURS
from kvviz.charts.ledger import ledger_figure
from kvviz.charts.style import (
    BACKGROUNDS,
    COLOURS,
    MOST_LINES,
    PATTERNS,
    PLOTLY_CONFIG,
    RULE,
    Drawing,
    contrast,
    drawable,
    fill,
    hollow,
    line_look,
    literal,
)
from tests.charts.examples import SHORT

ROOT = Path(__file__).resolve().parents[2]


def test_contrast_is_wcags() -> None:
    assert contrast("#FFFFFF", "#000000") == pytest.approx(21)
    assert contrast("#767676", "#FFFFFF") == contrast("#FFFFFF", "#767676") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("colour", sorted({*COLOURS.values(), *CACHE_COLOURS.values(), _COMPRESSED_MORE, RULE}))
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_every_colour_stands_out_on_every_background(colour: str, background: str) -> None:
    assert contrast(colour, background) >= 3


DRAWN = sorted({*(ROOT / "kvviz" / "charts").glob("*.py"), *(ROOT / "kvviz" / "ui").glob("*.[jc]s*")})
INK = {"#FFFFFF", "#262626", "#000000", *BACKGROUNDS}
"""Text and patterns on a mark, and what is behind text: not marks."""


@pytest.mark.parametrize("source", DRAWN, ids=lambda path: path.name)
def test_every_colour_that_is_drawn_anywhere_stands_out(source: Path) -> None:
    drawn = {colour.upper() for colour in re.findall(r"#[0-9A-Fa-f]{6}\b", source.read_text(encoding="utf-8"))} - INK
    low = {(colour, behind): contrast(colour, behind) for colour in drawn for behind in BACKGROUNDS}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 3} == {}


@pytest.mark.parametrize("source", DRAWN, ids=lambda path: path.name)
def test_outlines_are_not_too_faint(source: Path) -> None:
    for faint in re.findall(r'stroke-opacity="([\d.]+)"', source.read_text(encoding="utf-8")):
        seen = [_through(RULE, behind, float(faint)) for behind in BACKGROUNDS]
        assert all(contrast(one, behind) >= 3 for one, behind in zip(seen, BACKGROUNDS, strict=True)), faint


def _through(colour: str, behind: str, opacity: float) -> str:
    """A colour that lets the background show through."""
    pairs = ((int(colour[i : i + 2], 16), int(behind[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(opacity * one + (1 - opacity) * other):02X}" for one, other in pairs)


def test_captions_can_be_read() -> None:
    """Streamlit writes them in the text colour at 60%, on the page and on its second background."""
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    for behind in ("#FFFFFF", "#F8F8F7"):
        assert contrast(_through(theme["light"]["textColor"], behind, 0.6), behind) >= 4.5
    assert contrast("#FFFFFF", theme["light"]["primaryColor"]) >= 4.5
    assert contrast(theme["dark"]["primaryColor"], "#171614") >= 4.5


def test_roles_differ_in_colour_and_in_pattern() -> None:
    assert COLOURS.keys() == PATTERNS.keys()
    for one, other in combinations(COLOURS, 2):
        assert COLOURS[one] != COLOURS[other]
        assert PATTERNS[one] != PATTERNS[other]


@pytest.mark.parametrize("role", COLOURS)
def test_patterns_lie_over_the_colour(role: str) -> None:
    assert fill(role)["pattern"]["fillmode"] == "overlay"  # type: ignore[arg-type]
    assert fill(role)["pattern"]["solidity"] == 0.15  # type: ignore[arg-type]
    assert hollow(role, "/", 0.4)["pattern"]["fgcolor"] == COLOURS[role]  # type: ignore[arg-type,index]


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("Qwen/Qwen3-32B", "Qwen/Qwen3-32B"),
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("a<br>b", "a&lt;br&gt;b"),
        ("R&amp;D", "R&amp;amp;D"),
        ("%{x}", "%&#123;x}"),
        ("100% {a}", "100% {a}"),
    ],
)
def test_a_name_is_no_markup_and_no_template(name: str, drawn: str) -> None:
    assert literal(name) == drawn


def test_no_two_lines_look_alike() -> None:
    looks = [(line_look(n)["color"], line_look(n)["dash"]) for n in range(MOST_LINES)]
    assert len(set(looks)) == MOST_LINES
    assert len({colour for colour, _ in looks[:5]}) == len({dash for _, dash in looks[:5]}) == 5


def test_the_layout_fixes_the_height_and_lets_the_page_show_through() -> None:
    layout = Figure(**Drawing().figure(height=300, legend={}, xaxis={}, yaxis={})).layout
    assert layout.height == 300
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0, 0, 0, 0)"
    assert (layout.legend.orientation, layout.legend.yref, layout.legend.yanchor) == ("h", "container", "bottom")
    assert layout.dragmode is False
    # Fonts are the theme's.
    assert layout.font.color is None
    assert layout.font.family is None


def test_an_axis_is_named_as_the_browsers_plotly_wants_it() -> None:
    layout = Drawing().figure(height=300, legend={}, xaxis={"title": "Tokens"}, yaxis={})["layout"]
    assert layout["xaxis"]["title"]["text"] == "Tokens"
    assert "title" not in layout["yaxis"]


def test_plotly_checks_what_is_drawn() -> None:
    drawing = Drawing()
    drawing.bar(x=[1], y=[""], hue="red")
    with pytest.raises(ValueError, match="hue"):
        st.plotly_chart(drawable(drawing.figure(height=300, legend={}, xaxis={}, yaxis={})))


def test_what_is_written_unchecked_is_what_plotly_would_write(monkeypatch: pytest.MonkeyPatch) -> None:
    for figure in (growth_figure(SHORT, "en"), ledger_figure(SHORT, "ja"), frontier_figure(SHORT, "en")):
        written = []
        for checked in (True, False):
            monkeypatch.setattr(style, "CHECKED", checked)
            drawn = return_figure_from_figure_or_data(drawable(figure), validate_figure=True)
            written.append(json.loads(to_json(drawn, validate=False)))
            written[-1]["layout"] = {name: value for name, value in written[-1]["layout"].items() if value != []}
        assert written[0] == written[1]
        assert written[0]["layout"]["template"]


def test_the_mode_bar_offers_the_picture_only() -> None:
    assert PLOTLY_CONFIG["modeBarButtons"] == [["toImage"]]
    assert PLOTLY_CONFIG["displaylogo"] is False
    assert PLOTLY_CONFIG["toImageButtonOptions"]["format"] == "svg"
