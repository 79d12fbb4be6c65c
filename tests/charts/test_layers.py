"""The layer strip: one cell a layer, filled by its bytes, told apart without colour, harmless whatever it is given."""

import itertools
import re
import unicodedata
import xml.etree.ElementTree as ET
from fractions import Fraction
from typing import get_args

import pytest

from kvviz import catalogue
from kvviz.charts import layers as strip
from kvviz.charts import words
from kvviz.charts.layers import CACHE_COLOURS, cells, layer_rows, layer_strip_svg, strip_svg
from kvviz.core import cache
from kvviz.core.cache import LayerCache
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.units import format_bytes
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang, Text
from kvviz.text import charts as text
from tests.charts.examples import COMPRESSED, CROSS, EVERY, SHORT, WINDOWS

SVG = "{http://www.w3.org/2000/svg}"
BF16 = KV_DTYPES["bf16"]
EACH = pytest.mark.parametrize("sizing", EVERY.values(), ids=EVERY)
BOTH = pytest.mark.parametrize("lang", LANGUAGES)


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own drawing


def drawn_layers(svg: str) -> list[ET.Element]:
    return parsed(svg).findall(f".//{SVG}g[@class='layer']")


def _ratio(layer: cache.Layer) -> int:
    return next((one.ratio for one in layer if isinstance(one, cache.CompressedAttention)), 0)


def width_of(said: str, size: float) -> float:
    """A generous guess at the width of a line of text: full-width characters are square."""
    return sum(size if unicodedata.east_asian_width(c) in "WF" else 0.52 * size for c in said)


def test_every_kind_of_cache_has_a_colour() -> None:
    assert set(CACHE_COLOURS) == set(get_args(LayerCache))
    assert len(set(CACHE_COLOURS.values())) == len(CACHE_COLOURS)


@EACH
@BOTH
def test_one_cell_a_layer_with_its_bytes(sizing: Sizing, lang: Lang) -> None:
    found = drawn_layers(layer_strip_svg(sizing, lang))
    assert len(found) == len(sizing.architecture.layers)
    for index, (group, layer) in enumerate(zip(found, sizing.architecture.layers, strict=True)):
        title = group.findtext(f"{SVG}title") or ""
        exact = cache.layer_bytes(layer, sizing.tokens, sizing.kv_dtype)
        assert format_bytes(-(-exact.numerator // exact.denominator)) in title
        assert text.LAYER(lang, layer=index) in title
        assert text.KINDS[cache.letter(layer)](lang, ratio=_ratio(layer)) in title


@pytest.mark.parametrize("model", catalogue.models())
def test_every_bundled_model_can_be_drawn(model: str) -> None:
    layers = catalogue.load(model).architecture.layers
    for tokens in (1, 32_768):
        svg = strip_svg(layers, BF16, tokens, "ja")
        assert len(drawn_layers(svg)) == len(layers)
        small = parsed(strip_svg(layers, BF16, tokens, "en", compact=True))
        paths = [(path.attrib["d"], "stroke" in path.attrib) for path in small.iter(f"{SVG}path")]
        assert sum(path.count("M") for path, is_track in paths if is_track) == len(layers)
        kept = [layer_cache for layer in layers for layer_cache in layer]
        filled = sum(bool(cache.layer_bytes((one,), tokens, BF16)) for one in kept)
        assert sum(path.count("M") for path, is_track in paths if not is_track) == filled


def test_a_thumbnail_is_filled_as_the_strip_is() -> None:
    heights = {
        float(one.attrib["height"]) for group in drawn_layers(layer_strip_svg(WINDOWS, "en")) for one in group[2:]
    }
    paths = [path.attrib["d"] for path in parsed(layer_strip_svg(WINDOWS, "en", compact=True)).iter(f"{SVG}path")]
    drawn = {float(tall) for path in paths[1:] for tall in re.findall(r"v([\d.]+)h-", path)}
    assert sorted(drawn) == pytest.approx(sorted(heights), abs=0.01)
    assert len(heights) == 2


@EACH
@BOTH
@pytest.mark.parametrize(("columns", "page"), [(16, 340), (16, 736), (32, 700), (32, 1_120), (32, 1_600)])
def test_nothing_sticks_out(sizing: Sizing, lang: Lang, columns: int, page: int) -> None:
    root = parsed(layer_strip_svg(sizing, lang, columns=columns))
    most = re.search(r"max-width:(\d+)px", root.attrib["style"])
    assert most
    assert root.attrib["width"] == "100%"
    wide, tall = min(page, int(most[1])), float(root.attrib["height"])

    def across(of: ET.Element, name: str) -> float:
        given = of.attrib[name]
        return float(given[:-1]) / 100 * wide if given.endswith("%") else float(given)

    for box in root.findall(f"{SVG}svg[@viewBox]"):
        assert across(box, "x") >= 0
        assert across(box, "x") + across(box, "width") <= wide + 0.01
        assert 4 <= across(box, "width") <= 40
        assert float(box.attrib["y"]) + float(box.attrib["height"]) <= tall
    ends: dict[str, float] = {}
    legend = [
        (line, across(box, "x"), float(box.attrib["y"]))
        for box in root.findall(f"{SVG}svg")
        if "viewBox" not in box.attrib
        for line in box.iter(f"{SVG}text")
    ]
    for line, x, y in [*((line, 0.0, 0.0) for line in root.findall(f"{SVG}text")), *legend]:
        x, y = x + across(line, "x"), y + float(line.attrib["y"])
        length = width_of(line.text or "", float(line.attrib["font-size"]))
        start = x - length * {"start": 0, "middle": 0.5, "end": 1}[line.attrib["text-anchor"]]
        assert start >= -1, line.text
        assert start + length <= wide, line.text
        assert y <= tall
        if line.attrib["text-anchor"] == "start":  # what stands side by side does not meet
            assert start >= ends.get(f"{y}", 0)
            ends[f"{y}"] = start + length


@BOTH
def test_the_longest_names_fit_on_a_phone(lang: Lang) -> None:
    for letter, kind in text.KINDS.items():
        said = f"{letter}  {text.KIND_COUNT(lang, count=126, kind=kind(lang, ratio=128))}"
        assert strip._INDENT + width_of(said, 13) <= 340, said


def test_cells_grow_with_the_page_and_few_of_them_stay_small() -> None:
    def widest(svg: str) -> int:
        found = re.search(r"max-width:(\d+)px", svg)
        assert found
        return int(found[1])

    assert widest(layer_strip_svg(SHORT, "en")) >= 1_120
    assert widest(layer_strip_svg(CROSS, "en")) <= 400


@BOTH
def test_the_caption_speaks_of_wide_cells_only_beside_others(lang: Lang) -> None:
    for sizing, wide in ((SHORT, False), (COMPRESSED, False), (WINDOWS, True), (CROSS, True)):
        said = " ".join(line.text or "" for line in parsed(layer_strip_svg(sizing, lang)).iter(f"{SVG}text"))
        assert (text.STRIP_WIDE(lang) in said) == wide


@BOTH
def test_two_compressed_kinds_differ_in_name_and_tint(lang: Lang) -> None:
    root = parsed(layer_strip_svg(COMPRESSED, lang))
    kinds = root.findall(f".//{SVG}g[@class='kind']")
    names = {(kind.findtext(f"{SVG}text") or "")[3:].split(" × ")[0] for kind in kinds}
    assert len(kinds) == len(names) == len({kind[0].attrib["fill"] for kind in kinds}) == 2
    said = ET.tostring(root, encoding="unicode")
    assert "4:1" in said
    assert "128:1" in said


def test_a_layer_that_keeps_two_things_has_plain_bands_in_the_legend() -> None:
    (kind,) = parsed(layer_strip_svg(CROSS, "en")).findall(f".//{SVG}g[@class='kind']")
    bands = kind.findall(f"{SVG}rect")
    assert len(bands) == 2
    assert len({band.attrib["fill"] for band in bands}) == 2
    assert {(band.attrib["x"], band.attrib["width"]) for band in bands} == {("0", "17")}


def test_windows_saturate_and_full_layers_grow() -> None:
    def heights(tokens: int) -> dict[str, float]:
        drawn = cells(WINDOWS.architecture.layers, BF16, tokens, "en")
        fullest = max(cell.total_bytes for cell in drawn)
        return {cell.letter: float(cell.total_bytes / fullest) for cell in drawn}

    assert heights(1_024) == {"w": 1.0, "f": 1.0}
    assert heights(32_768) == {"w": 1 / 32, "f": 1.0}


def test_the_fill_is_proportional_to_the_bytes() -> None:
    svg = strip_svg(WINDOWS.architecture.layers, BF16, 4_096, "en")
    tall = {
        "w" if "Sliding" in (group.findtext(f"{SVG}title") or "") else "f": float(group[2].attrib["height"])
        for group in drawn_layers(svg)
    }
    assert tall["w"] / tall["f"] == pytest.approx(1 / 4, abs=0.01)


def test_letters_and_widths_tell_what_colours_tell() -> None:
    full = cache.FullAttention(kv_heads=1, key_dim=8, value_dim=8)
    window = cache.SlidingWindow(kv_heads=1, key_dim=8, value_dim=8, window_tokens=4)
    state = cache.RecurrentState(mixer="mamba2", heads=1, values_per_head=8)
    root = parsed(strip_svg([(full,), (window,), (state,), (state, full), ()], BF16, 16, "en"))
    widths = [
        [float(r.attrib["width"]) for r in group.findall(f"{SVG}rect")[1:]]
        for group in root.findall(f".//{SVG}g[@class='layer']")
    ]
    assert widths[0][0] > widths[1][0] > widths[2][0]
    assert widths[3] == [widths[2][0], widths[0][0]]
    assert widths[4] == []
    letters = [t.text for t in root.iter(f"{SVG}text") if t.attrib["text-anchor"] == "middle"]
    assert letters == ["f", "w", "s", "b", "."]


@BOTH
def test_the_legend_counts_the_layers(lang: Lang) -> None:
    root = parsed(layer_strip_svg(WINDOWS, lang))
    legend = [" ".join(t.text or "" for t in g.iter(f"{SVG}text")) for g in root.findall(f".//{SVG}g[@class='kind']")]
    assert len(legend) == 2
    assert text.KIND_COUNT(lang, count=52, kind=text.KINDS["w"](lang)) in legend[0]
    assert text.WINDOW_TOKENS(lang, tokens=words.tokens(1_024, lang)) in legend[0]
    assert text.KIND_COUNT(lang, count=10, kind=text.KINDS["f"](lang)) in legend[1]
    assert root.attrib["role"] == "img"
    assert "62" in root.attrib["aria-label"]
    assert format_bytes(8 * 1024**2) in root.attrib["aria-label"]


def test_a_thumbnail_has_no_text_and_stretches() -> None:
    root = parsed(layer_strip_svg(WINDOWS, "en", compact=True))
    assert not list(root.iter(f"{SVG}text"))
    assert root.attrib["preserveAspectRatio"] == "none"
    assert root.attrib["aria-label"]


@pytest.mark.parametrize(("letters", "most", "expected"), [
    ("f" * 64, 32, 32),
    ("f" * 64, 16, 16),
    ("f" * 61, 32, 31),
    ("wwwwwf" * 10 + "ww", 32, 24),
    ("wwwwwf" * 10 + "ww", 16, 12),
    ("sssf" * 12, 32, 24),
    ("wf" * 18, 16, 12),
    ("f" * 28, 32, 28),
    ("", 32, 1),
])  # fmt: skip
def test_rows_put_equal_kinds_below_each_other(letters: str, most: int, expected: int) -> None:
    assert strip._per_row(letters, most) == expected


def test_rows_carry_the_number_of_their_first_layer() -> None:
    root = parsed(layer_strip_svg(SHORT, "en", columns=16))
    assert [t.text for t in root.iter(f"{SVG}text") if t.attrib["text-anchor"] == "end"] == ["0", "16", "32", "48"]


def test_whatever_is_said_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strip, "_cells", strip._cells.__wrapped__)
    monkeypatch.setitem(text.KINDS, "f", Text(en="<script>alert('\"&')</script>", ja="<"))
    for compact in (False, True):
        svg = layer_strip_svg(SHORT, "en", compact=compact)
        assert "<script" not in svg
        if not compact:
            assert "<script>" in (drawn_layers(svg)[0].findtext(f"{SVG}title") or "")
        assert "<script>" in parsed(svg).attrib["aria-label"]


def test_the_drawing_needs_nothing_from_outside() -> None:
    svg = layer_strip_svg(SHORT, "ja")
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
    assert "href" not in svg
    assert "<script" not in svg


@EACH
@BOTH
def test_the_table_has_one_row_a_run(sizing: Sizing, lang: Lang) -> None:
    rows = layer_rows(sizing, lang)
    assert sum(row[text.COUNT(lang)] for row in rows) == len(sizing.architecture.layers)
    total = sum((Fraction(row[text.COUNT(lang)] * row[text.BYTES_EACH(lang)]) for row in rows), Fraction(0))
    assert 0 <= total - sizing.content.bytes_at(sizing.tokens) <= len(sizing.architecture.layers)
    for one, other in itertools.pairwise(rows):
        assert (one[text.KIND(lang)], one[text.BYTES_EACH(lang)]) != (
            other[text.KIND(lang)],
            other[text.BYTES_EACH(lang)],
        )


def test_a_run_names_its_first_and_last_layer() -> None:
    first, second = layer_rows(WINDOWS, "en")[:2]
    assert first[text.LAYERS("en")] == "0–4"
    assert first[text.KIND("en")] == "Sliding window, last 1,024 tokens"
    assert second[text.LAYERS("en")] == "5"
