"""What is taken away opens again: CSV, JSON, frame and QR code, in both languages, hostile names too."""

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlencode, urlsplit
from xml.etree import ElementTree

import pytest
import segno

from kvviz import build
from kvviz.charts.growth import growth_rows
from kvviz.charts.layers import layer_rows
from kvviz.charts.ledger import ledger_rows, ledger_segments
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB
from kvviz.export import (
    csv_bytes,
    csv_text,
    embed_code,
    file_name,
    json_text,
    not_modelled,
    sizing_json,
)
from kvviz.links import pack_config
from kvviz.qr import MOST_BYTES, QUIET_MODULES, qr_svg
from kvviz.resolve import resolve
from kvviz.scenario import ENGINES, Scenario, from_json, from_query, to_query
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang
from kvviz.text import charts as parts
from kvviz.text import explain as why
from kvviz.text import export as text
from kvviz.verdict import one_line
from tests.test_catalogue import SMALL

SCENARIOS = [
    Scenario(),
    Scenario(model="google/gemma-3-27b-it", gpu="h200", gpus=2, input=100_000, headroom=0.1, users=40),
    Scenario(model="Qwen/Qwen3-Next-80B-A3B-Instruct", gpu="h200", gpus=2, shared_tokens=2048, passages=3),
    Scenario(model="deepseek-ai/DeepSeek-R1", memory_fraction=0.8),
    Scenario(model="facebook/bart-large-cnn", gpu=""),
    Scenario(model="openai/gpt-oss-120b", gpu="", kv_dtype="fp8"),
    Scenario(model="mine", config=pack_config(SMALL)),
]
BOTH = pytest.mark.parametrize("lang", LANGUAGES)
EACH = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.model)


def sized(scenario: Scenario) -> Sizing:
    resolved = resolve(scenario)
    sizing = resolved.size()
    return replace(sizing, notes=(*resolved.notes, *sizing.notes))


def link(scenario: Scenario, base: str = "https://kvviz.example.org/") -> str:
    return f"{base}?{urlencode({**to_query(scenario), 'lang': 'en'})}"


HOSTILE = [
    '=HYPERLINK("http://evil.example","x")',
    "+1",
    "-2+3|cmd",
    "@SUM(A1)",
    "＝1+1",
    " \t=1",
    "\r=1",
    "# heading",
    "1. item",
    "a|b|c",
    "`code` and ``more``",
    r"\| \` \\",
    "<script>alert(1)</script>",
    "![x](http://evil.example/p.png)",
    "[x](javascript:alert(1))",
    "http://evil.example www.evil.example a@evil.example @someone #123",
    "*a* _b_ ~~c~~ $d$ &amp; &#64;",
    "line\n\n## heading\n| a | b |",
    "```",
    "",
]


# --- CSV -------------------------------------------------------------------------------------------------------------


def tables(sizing: Sizing, lang: Lang) -> dict[str, list[dict[str, object]]]:
    """What the page has under its charts."""
    ledger = {"ledger": ledger_rows(sizing, lang)} if sizing.budget is not None else {}
    return {**ledger, "layers": layer_rows(sizing, lang), "growth": growth_rows(sizing, lang)}


def read(written: bytes) -> list[dict[str, str]]:
    """The file as a spreadsheet reads it."""
    assert written.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(written.decode("utf-8-sig"), newline=""), strict=True))
    assert len({len(row) for row in rows}) == 1
    assert len(set(rows[0])) == len(rows[0])
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


@BOTH
@EACH
def test_csv_has_the_sizings_numbers_to_the_byte(scenario: Scenario, lang: Lang) -> None:
    sizing = sized(scenario)
    of_charts = tables(sizing, lang)
    rows = read(csv_bytes(sizing, lang, tables=of_charts))
    table, part, counted = text.TABLE(lang), parts.PART(lang), parts.BYTES(lang)

    def of(title: str) -> list[dict[str, str]]:
        return [row for row in rows if row[table] == title]

    three = {row[part]: int(row[counted]) for row in of(why.THREE(lang))}
    assert three[why.CONTENT(lang)] == sizing.content_bytes
    assert three.get(why.RESERVATION(lang)) == sizing.request_bytes
    assert three.get(why.HELD(lang)) == sizing.held_bytes
    assert three.get(why.POOL(lang)) == (sizing.budget.pool_bytes if sizing.budget else None)
    for row in of(why.THREE(lang)):
        assert float(row[parts.GIB(lang)]) == round(int(row[counted]) / GIB, 3)
    if sizing.budget is not None:
        assert [int(row[counted]) for row in of("ledger")] == [s.value_bytes for s in ledger_segments(sizing)]
    for title, given in of_charts.items():
        shown = [{heading: row[heading] for heading in given[0]} for row in of(title)]
        assert shown == [{heading: str(value) for heading, value in row.items()} for row in given]
    settings = {row[part]: row[text.VALUE(lang)] for row in of(text.SETTINGS(lang))}
    assert settings[text.ANSWER(lang)] == one_line(sizing, lang)
    assert settings[text.VERSION(lang)] == build.version()
    assert settings[text.MODEL_REVISION(lang)] == sizing.scenario.revision
    assert scenario.model in settings.values()


def test_csv_lines_end_as_rfc_4180_says() -> None:
    written = csv_text(sized(Scenario()), "en", tables={})
    assert written.endswith("\r\n")
    assert written.count("\n") == written.count("\r\n") == len(written.splitlines())


def test_no_cell_is_a_formula() -> None:
    given = [{"Part": name, "Bytes": -1, "GiB": -0.5} for name in HOSTILE]
    rows = read(csv_bytes(sized(Scenario()), "en", tables={"=1+1": given}))
    hostile = [row for row in rows if row["Table"].endswith("=1+1")]
    assert len(hostile) == len(HOSTILE)
    for row, name in zip(hostile, HOSTILE, strict=True):
        assert (row["Bytes"], row["GiB"]) == ("-1", "-0.5")  # a number is a number
        for heading in ("Table", "Part"):
            assert not re.match(r"[\s=+\-@＝＋－＠]", row[heading])
        assert row["Part"].removeprefix("'") == " ".join(name.split())


# --- JSON ------------------------------------------------------------------------------------------------------------


@BOTH
@EACH
def test_json_is_the_command_lines_object(scenario: Scenario, lang: Lang) -> None:
    sizing = sized(scenario)
    read_back = json.loads(json_text(sizing, lang))
    assert read_back == sizing_json(sizing, lang)
    assert from_json(read_back["scenario"]) == (sizing.scenario, ())
    assert "\\u" not in json_text(sizing, lang)


# --- Sharing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["", "?v=1", "/?v=1", "javascript:alert(1)", "file:///etc/passwd", "http://[x"])
def test_only_a_web_address_can_be_embedded(bad: str) -> None:
    with pytest.raises(KvvizError) as caught:
        embed_code(bad, "en")
    assert caught.value.code == "no-address"


class Frames(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, Mapping[str, str | None]]] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def frame(code: str) -> Mapping[str, str | None]:
    """The attributes of the one frame there is."""
    parser = Frames()
    parser.feed(code)
    parser.close()
    ((tag, attributes),) = parser.found
    assert (tag, parser.words) == ("iframe", "")
    return attributes


@BOTH
@EACH
def test_the_frame_opens_the_same_answer(scenario: Scenario, lang: Lang) -> None:
    sizing = sized(scenario)
    attributes = frame(embed_code(link(sizing.scenario), lang))
    address = urlsplit(attributes["src"] or "")
    query = {name: values[-1] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
    assert address.netloc == "kvviz.example.org"
    assert (query.pop("embed"), query["lang"]) == ("true", lang)
    assert from_query(query) == (sizing.scenario, ())
    assert attributes["title"] == text.EMBED_TITLE(lang, model=scenario.model)
    assert set((attributes["sandbox"] or "").split()) >= {"allow-scripts", "allow-same-origin"}
    assert "allow-top-navigation" not in (attributes["sandbox"] or "")


def test_a_hostile_link_stays_inside_its_attribute() -> None:
    name = '"><script>alert(1)</script><iframe src="'
    attributes = frame(embed_code(link(Scenario()) + "&" + urlencode({"model": name}), "en"))
    assert set(attributes) == {"src", "title", "width", "height", "style", "loading", "referrerpolicy", "sandbox"}
    assert name in (attributes["title"] or "")


def matrix(drawing: str) -> list[list[int]]:
    """The modules of a drawn code, white border included."""
    svg = ElementTree.fromstring(drawing)  # noqa: S314 - drawn here
    space = "{http://www.w3.org/2000/svg}"
    wide = int(svg.attrib["viewBox"].split()[-1])
    ground, dark = svg.find(f"{space}rect"), svg.find(f"{space}path")
    assert ground is not None
    assert dark is not None
    assert (ground.attrib["fill"], dark.attrib["fill"]) == ("#FFFFFF", "#000000")
    assert int(ground.attrib["width"]) == int(ground.attrib["height"]) == wide
    modules = [[0] * wide for _ in range(wide)]
    drawn = re.findall(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z", dark.attrib["d"])
    assert "".join(f"M{x} {y}h{run}v1h-{back}z" for x, y, run, back in drawn) == dark.attrib["d"]
    for x, y, run, back in drawn:
        assert run == back
        modules[int(y)][int(x) : int(x) + int(run)] = [1] * int(run)
    return modules


@pytest.mark.parametrize("address", [link(s) for s in SCENARIOS] + ["https://例え.jp/?model=日本語", "x" * MOST_BYTES])
def test_the_qr_code_is_drawn_as_it_was_made(address: str) -> None:
    modules = matrix(qr_svg(address, "en"))
    edge = QUIET_MODULES
    assert all(not any(row[:edge]) and not any(row[-edge:]) for row in modules)
    assert not any(any(row) for row in (*modules[:edge], *modules[-edge:]))
    inside = [row[edge:-edge] for row in modules[edge:-edge]]
    expected = segno.make_qr(address, error="l", mode="byte", encoding="utf-8")
    assert inside == [list(row) for row in expected.matrix]
    finder = [[1] * 7, [1, 0, 0, 0, 0, 0, 1], *[[1, 0, 1, 1, 1, 0, 1]] * 3, [1, 0, 0, 0, 0, 0, 1], [1] * 7]
    assert [row[:7] for row in inside[:7]] == [row[-7:] for row in inside[:7]] == finder


@BOTH
def test_the_qr_code_says_what_it_is(lang: Lang) -> None:
    svg = ElementTree.fromstring(qr_svg("https://kvviz.example.org/", lang))  # noqa: S314 - drawn here
    title = svg.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert (svg.attrib["role"], svg.attrib["aria-label"], title.text) == (
        "img",
        text.QR_TITLE(lang),
        text.QR_TITLE(lang),
    )


def test_a_link_too_long_for_a_qr_code_is_refused_in_words() -> None:
    with pytest.raises(KvvizError, match=r"2,954 bytes, more than the 2,953") as caught:
        qr_svg("x" * (MOST_BYTES + 1), "en")
    assert caught.value.code == "qr-too-long"
    with pytest.raises(KvvizError):
        qr_svg("あ" * 985, "ja")


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Qwen/Qwen3-32B-FP8", "kvviz-Qwen3-32B-FP8.csv"),
        ("私のモデル", "kvviz-model.csv"),
        ("a b (c)", "kvviz-a-b-c.csv"),
        ("../..", "kvviz-model.csv"),
    ],
)
def test_file_names_are_safe_anywhere(model: str, name: str) -> None:
    sizing = sized(Scenario(model="mine", config=pack_config(SMALL)))
    if model != "../..":
        sizing = replace(sizing, scenario=sizing.scenario.with_changes(model=model))
        assert file_name(sizing, "csv") == name
    else:  # no setting can be this
        with pytest.raises(KvvizError):
            sizing.scenario.with_changes(model=model)


@BOTH
def test_what_is_left_out_is_no_setting(lang: Lang) -> None:
    """What can be set is in the numbers."""
    for engine in ENGINES:
        said = " ".join(line(lang) for line in not_modelled(Scenario(engine=engine)))
        others = [text.NOT_MODELLED_OF[other](lang) for other in ENGINES if other != engine]
        assert text.NOT_MODELLED_OF[engine](lang) in said
        assert not any(other in said for other in others)
        for settable in ("tensor parallel", "pipeline", "data parallel", "テンソル並列", "パイプライン", "データ並列"):
            assert settable not in said.lower()


@BOTH
def test_what_engines_have_besides_is_named(lang: Lang) -> None:
    for engine, names in {
        "vllm": ["turboquant", "--kv-cache-memory-bytes"],
        "sglang": ["mxfp8", "fp4", "radix cache"],
        "transformers": ["QuantizedCache"],
    }.items():
        assert all(name in text.NOT_MODELLED_OF[engine](lang) for name in names)


def test_settings_that_count_for_nothing_are_left_out() -> None:
    assert "Requests at peak,50" in csv_text(sized(Scenario()), "en", tables={})
    assert "Requests at peak" not in csv_text(sized(Scenario(users=200)), "en", tables={})
