"""The drawing of shared heads: every head is there once, in its place, whatever the model and the width."""

import json
import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest

from kvviz import catalogue
from kvviz.charts.heads import DESKTOP_WIDE, PHONE_WIDE, heads_alt, heads_svg, label, ratio_words, sharing_rows
from kvviz.charts.kept import kept_rows, kept_words, payload
from kvviz.core.cache import layer_bytes
from kvviz.heads import AS_MADE, Heads, Sharing, heads_of, sharings
from kvviz.kept import Filling, example, of_model
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size
from kvviz.text import LANGUAGES, Lang

SVG = "{http://www.w3.org/2000/svg}"
MODELS = ("Qwen/Qwen3-32B", "Qwen/Qwen2.5-7B-Instruct", "tiiuae/falcon-40b", "google/gemma-4-26B-A4B")


def sized(model: str) -> tuple[Sizing, Heads, tuple[Sharing, ...]]:
    sizing = size(catalogue.load(model).architecture, Scenario(model=model), weights=None)
    heads = heads_of(sizing.architecture)
    assert isinstance(heads, Heads)
    return sizing, heads, sharings(sizing, heads, weights=None)


@pytest.mark.parametrize("across", [PHONE_WIDE, DESKTOP_WIDE])
@pytest.mark.parametrize("model", MODELS)
def test_every_head_is_drawn_once_and_inside(model: str, across: int) -> None:
    _, heads, possible = sized(model)
    for sharing in possible:
        root = ET.fromstring(heads_svg(heads, sharing, "en", across=across))  # noqa: S314 - our own
        _, _, wide, tall = (float(number) for number in root.attrib["viewBox"].split())
        names = [shape.attrib["data-name"] for shape in root.iter() if "data-name" in shape.attrib]
        kv_heads = [sharing.kv_heads] if sharing.kv_heads else [group.kv_heads for group in heads.groups]
        assert len([name for name in names if name.startswith("q")]) == heads.query_heads * len(kv_heads)
        assert len([name for name in names if name.startswith("kv")]) == sum(kv_heads)
        dots = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.iter(f"{SVG}circle")]
        assert all(5 < x < wide - 4 and 5 < y < tall - 5 for x, y in dots)
        assert len(set(dots)) == len(dots)
        for rect in root.iter(f"{SVG}rect"):
            assert float(rect.attrib["x"]) + float(rect.attrib["width"]) <= wide + 0.5


def test_sixty_four_heads_on_a_phone_are_no_taller_than_it() -> None:
    _, heads, possible = sized("Qwen/Qwen3-32B")
    for sharing in possible:
        root = ET.fromstring(heads_svg(heads, sharing, "ja", across=PHONE_WIDE))  # noqa: S314 - our own
        assert float(root.attrib["viewBox"].split()[3]) < 500


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_same_in_words_and_as_a_table(lang: Lang) -> None:
    sizing, heads, possible = sized("Qwen/Qwen3-32B")
    rows = sharing_rows(heads, possible, sizing.tokens, lang)
    assert [list(row.values())[4] for row in rows] == [one.token_bytes for one in possible]
    assert len({heads_alt(heads, one, lang) for one in possible}) == len(possible)
    assert "1/8" in heads_alt(heads, possible[3], lang)
    assert label(possible[3], heads) == "8 · GQA"
    mixed = sized("google/gemma-4-26B-A4B")
    (real,) = [one for one in mixed[2] if one.kv_heads == AS_MADE]
    assert label(real, mixed[1]) == "2 + 8"
    assert sharing_rows(mixed[1], mixed[2], 10, lang)


def test_ratios() -> None:
    assert ratio_words(Fraction(1, 8)) == "1/8"
    assert ratio_words(Fraction(1)) == "1"
    assert ratio_words(Fraction(11, 28)) == "11/28 (0.39)"
    assert ratio_words(Fraction(713, 4297)) == "0.17"


def fillings() -> list[Filling]:
    models = ("google/gemma-3-27b-it", "Qwen/Qwen3-Next-80B-A3B-Instruct", "deepseek-ai/DeepSeek-V4-Flash")
    return [example(), *(of_model(sized_alone(model)) for model in models)]


def sized_alone(model: str) -> Sizing:
    return size(catalogue.load(model).architecture, Scenario(model=model), weights=None)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("place", range(4))
def test_the_player_is_fed_with_the_core_s_bytes(place: int, lang: Lang) -> None:
    filling = fillings()[place]
    fed = json.loads(payload(filling, start=3, lang=lang))
    assert fed["start"] == 3
    for lane, shown in zip(filling.lanes, fed["lanes"], strict=True):
        for step, tokens in enumerate(filling.steps):
            exact = layer_bytes(lane.layer, tokens, filling.dtype)
            assert shown["bytes"][step][0] == -(-exact.numerator // exact.denominator)
            assert len(shown["kept"][step]) == len(shown["tracks"])
        assert all(0 <= track["tall"] <= 1 for track in shown["tracks"])
        assert all(bool(track["fixed"]) == (track["kind"] in ("state", "cross")) for track in shown["tracks"])
    assert len(kept_rows(filling, lang)) >= 8
    assert kept_words(filling, "A model", lang)
