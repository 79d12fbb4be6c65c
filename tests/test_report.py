"""The report: every number in it is the sizing's, nothing in it runs or is loaded, in both languages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from html import unescape
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kvviz import build
from kvviz.charts.growth import growth, growth_alt, growth_rows
from kvviz.charts.labels import text_width
from kvviz.charts.layers import cells
from kvviz.charts.ledger import drawn, ledger_alt, ledger_rows, ledger_segments
from kvviz.charts.style import contrast
from kvviz.core.architecture import Fact, Note
from kvviz.core.units import format_bytes, format_count
from kvviz.dispute import assumptions
from kvviz.explain import lines, three_numbers
from kvviz.export import all_notes, not_modelled
from kvviz.levers import Lever, fixes, levers
from kvviz.links import pack_config
from kvviz.planning import name_of
from kvviz.report import as_html, as_markdown
from kvviz.report.drawings import PAGE, PHONE, Paper, growth_svg, ledger_svg
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang, Message, Text
from kvviz.text import charts as parts
from kvviz.text import export as exported
from kvviz.text import report as text
from kvviz.verdict import verdict
from scripts import social_image
from tests.charts.examples import EVERY, WITH_BUDGET
from tests.test_catalogue import SMALL
from tests.test_export import HOSTILE, SCENARIOS, link, sized

BOTH = pytest.mark.parametrize("lang", LANGUAGES)
EACH = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.model)
DAY = date(2026, 11, 30)
VOID = {"meta", "br", "img", "link", "input", "hr", "base"}


class Page(HTMLParser):
    """Every tag with its attributes, the words, and whether each tag is closed in its turn."""

    def __init__(self, written: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, Mapping[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[tuple[str, str]] = []
        self.feed(written)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append((self.open[-1] if self.open else "", data))

    def said(self) -> str:
        """What a reader sees, or hears of a drawing."""
        return "".join(words for tag, words in self.words if tag != "style")

    def each(self, name: str) -> list[Mapping[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]

    def of(self, name: str) -> list[str]:
        """The words directly in the tags of that name."""
        return [words for tag, words in self.words if tag == name]


def html(sizing: Sizing, lang: Lang, address: str | None = None, possible: Sequence[Lever] = ()) -> str:
    address = link(sizing.scenario) if address is None else address
    return as_html(sizing, lang, link=address, day=DAY, possible=possible)


def markdown(sizing: Sizing, lang: Lang, address: str = "") -> str:
    return as_markdown(sizing, lang, link=address, day=DAY)


def what_helps(sizing: Sizing) -> tuple[Lever, ...]:
    return levers(sizing, weigh=lambda asked: resolve(asked).weights)


# --- HTML ------------------------------------------------------------------------------------------------------------


@BOTH
@EACH
def test_every_number_of_the_page_is_the_sizings(scenario: Scenario, lang: Lang) -> None:
    sizing = sized(scenario)
    page = Page(html(sizing, lang))
    said, cell = page.said(), page.of("td")
    answer = verdict(sizing, lang)
    assert answer.head in said
    assert answer.rest.replace("**", "") in said
    assert list(zip(page.of("dt"), page.of("dd")[0::3], page.of("dd")[1::3], strict=True)) == [
        (name(lang), format_bytes(count), f"{format_count(count)} B") for name, count, _ in three_numbers(sizing)
    ]
    for line in lines(sizing):
        assert line.formula in page.of("code")
        assert format_count(line.total_bytes) in cell
    for fact in sizing.architecture.facts:
        assert (format_count(fact.value) if isinstance(fact.value, int) else fact.value) in cell
        assert any(fact.where in words for words in (*page.of("code"), *cell))
    if (budget := sizing.budget) is not None and sizing.short_bytes is not None:
        terms = (budget.weights, budget.activations, budget.graphs, budget.non_torch, budget.hidden)
        counts = {term.value_bytes for term in terms}
        counts |= {budget.device_bytes, budget.outside_bytes, budget.available_bytes}
        counts |= {budget.usable_bytes + sizing.short_bytes, abs(sizing.lacking_bytes or 0)}
        assert {format_count(count) for count in counts} <= set(cell)
    for row in growth_rows(sizing, lang):
        assert {format_count(value) for value in row.values() if isinstance(value, int)} <= set(cell)
        assert {f"{value:,.3f}" for value in row.values() if isinstance(value, float)} <= set(cell)
    for note in all_notes(sizing):
        assert note.message(lang) in said
    for line_out in not_modelled(scenario):
        assert line_out(lang) in said


@BOTH
@EACH
def test_assumptions_are_in_three_groups_and_all_of_them(scenario: Scenario, lang: Lang) -> None:
    sizing = sized(scenario)
    page = html(sizing, lang)
    titles = [text.CHANGED(lang), text.ESTIMATES(lang), text.LEFT_AS_DEFAULT(lang)]
    places = [page.index(f"<h3>{title}</h3>") for title in titles]
    assert places == sorted(places)
    parts_of = dict(
        zip(("changed", "estimate", "default"), re.split("<h3>.*?</h3>", page[places[0] :])[1:], strict=True)
    )
    parts_of["default"] = parts_of["default"].partition("</section>")[0]
    for one in assumptions(sizing):
        group = Page(parts_of[one.badge].partition("</section>")[0]).said()
        assert one.label(lang) in group
        assert (one.value(lang) if isinstance(one.value, Message) else one.value) in group
        if one.source is not None:
            assert one.source(lang) in group
        if one.badge == "estimate":
            assert one.basis is not None
            assert parts.BASIS[one.basis](lang) in group
    left = [one for one in assumptions(sizing) if one.badge == "default"]
    listed = re.findall(r"<li>", parts_of["default"].partition('<ul class="beside">')[2].partition("</ul>")[0])
    assert len(listed) == len(left)  # one by one, not a block of words


@BOTH
def test_it_says_where_it_comes_from(lang: Lang) -> None:
    for engine in ("vllm", "llama.cpp"):
        sizing = sized(Scenario(engine=engine))
        page = Page(html(sizing, lang))
        said = page.said()
        revision = sizing.scenario.revision
        for word in (f"kvviz {build.version()}", name_of(engine), revision, "2026-11-30", link(sizing.scenario)):
            assert word in said
        assert [a["href"] for a in page.each("a")] == [link(sizing.scenario)]
        assert exported.QR_TITLE(lang) in said
        assert page.each("html") == [{"lang": lang}]


@BOTH
def test_nothing_is_loaded_and_nothing_runs(lang: Lang) -> None:
    for scenario in SCENARIOS:
        sizing = sized(scenario)
        page = Page(html(sizing, lang, possible=what_helps(sizing)))
        assert {tag for tag, _ in page.tags} & {
            "script",
            "img",
            "iframe",
            "link",
            "object",
            "base",
            "form",
            "use",
        } == set()
        for tag, attributes in page.tags:
            assert not any(
                name.startswith("on") or name in ("src", "srcset", "xlink:href", "data") for name in attributes
            )
            assert tag == "a" or "href" not in attributes
            assert all(
                "http" not in (value or "") for name, value in attributes.items() if name not in ("href", "xmlns")
            )
        [policy] = [m["content"] or "" for m in page.each("meta") if m.get("http-equiv") == "Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert not re.search(r"url\((?!#)|@import", "".join(page.of("style")))
        ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        assert len(ids) == len(set(ids))
        used = (
            re.findall(r"url\(#([\w-]+)\)", html(sizing, lang))
            + " ".join(str(attributes.get("aria-labelledby", "")) for _, attributes in page.tags).split()
        )
        assert set(used) <= set(ids)


@pytest.mark.parametrize("name", [name for name in HOSTILE if name] + ['"><svg onload=alert(1)>', "</style></title>"])
def test_nothing_hostile_becomes_a_tag(name: str) -> None:
    """Names from a config stand in the title, in facts and in notes."""
    plain = sized(Scenario())
    said = Message(Text("{name}", "{name}"), {"name": name})
    fact = Fact(term=name, value=name, origin="derived", where=name)
    architecture = replace(plain.architecture, facts=(*plain.architecture.facts, fact))
    named = replace(plain, architecture=architecture, kv_dtype_reason=said, notes=(Note(code="x", message=said),))
    harmless = Message(Text("x", "x"))
    unnamed = replace(named, kv_dtype_reason=harmless, notes=(Note(code="x", message=harmless),))
    for lang in LANGUAGES:
        with_name, without = Page(html(named, lang)), Page(html(unnamed, lang))
        assert [tag for tag, _ in with_name.tags] == [tag for tag, _ in without.tags]
        assert with_name.said().count(name) >= 4


def test_a_hostile_model_is_escaped_wherever_it_stands() -> None:
    """No scenario takes such a name; were one to get through, it would still be words."""
    name = '"><script>alert(1)</script>'
    sizing = sized(Scenario(model="mine", config=pack_config(SMALL)))
    object.__setattr__(sizing.scenario, "model", name)
    for lang in LANGUAGES:
        written = html(sizing, lang)
        page = Page(written)
        assert "<script" not in written
        assert page.of("h1") == page.of("title")[:1] == [text.TITLE(lang, model=name)]
        assert exported.FROM_PASTED(lang) in page.said()


@pytest.mark.parametrize("bad", ["", "?v=1", "/?v=1", "javascript:alert(1)", "file:///etc/passwd", "http://[x"])
def test_only_a_web_address_becomes_a_link(bad: str) -> None:
    sizing = sized(Scenario())
    page = Page(html(sizing, "en", bad))
    assert page.each("a") == []
    assert text.NO_LINK("en") in page.said()
    assert [t for t in tokens(markdown(sizing, "en", bad)) if t.type == "link_open"] == []


def test_what_would_help_is_what_the_page_offers() -> None:
    sizing = sized(Scenario())
    possible = what_helps(sizing)
    offered = fixes(sizing, possible)
    assert len(offered) == 3
    for lang in LANGUAGES:
        said = Page(html(sizing, lang, possible=possible)).of("td")
        for fix in offered:
            assert {fix.lever.label(lang), fix.lever.effect(lang), fix.lever.cost(lang)} <= set(said)
        assert text.HELPS(lang) not in html(sized(Scenario(sequences=2)), lang)


@BOTH
def test_thirty_seconds_tell_of_this_answer(lang: Lang) -> None:
    sizing = sized(Scenario())
    said = Page(html(sizing, lang)).said()
    values = {"token": "256 KiB", "request": "1 GiB", "tokens": "4,096"}
    assert text.GROWS_WITH(lang, **values) in said
    assert text.EXCEEDS(lang, cache="50 GiB", weights="32 GiB") in said
    assert text.LEVERS(lang) in said
    windows = Page(html(sized(Scenario(model="google/gemma-3-27b-it", gpu="")), lang)).said()
    assert text.MAY_EXCEED(lang) in windows
    assert (
        text.GROWS_UP_TO(lang, request="736 MiB", tokens="4,096") in windows
    )  # 320 of 10 full layers, 416 of 52 windows


# --- drawings --------------------------------------------------------------------------------------------------------

ALL = pytest.mark.parametrize("sizing", EVERY.values(), ids=EVERY)
BUDGETED = pytest.mark.parametrize("sizing", WITH_BUDGET.values(), ids=WITH_BUDGET)


@BOTH
@BUDGETED
def test_the_bar_has_the_pages_parts_in_their_proportion(sizing: Sizing, lang: Lang) -> None:
    assert sizing.budget is not None
    page = Page(ledger_svg(sizing, lang))
    shown = drawn(ledger_segments(sizing))
    wide = [float(part["width"] or "") for part in page.each("rect") if part.get("class") == "part"]
    assert len(wide) == len(shown)
    assert sum(wide) == pytest.approx(720, abs=0.1)
    on_gpu = [(s.value_bytes, w) for s, w in zip(shown, wide, strict=True) if s.on_gpu]
    for count, width in on_gpu:
        assert width / sum(w for _, w in on_gpu) == pytest.approx(count / sizing.budget.device_bytes, abs=1e-4)
    said = page.of("text")
    for segment in shown:
        if segment.term != "remainder":
            assert segment.label(lang) in said
            assert any(format_bytes(segment.value_bytes) in words for words in said)
    assert page.of("desc") == [ledger_alt(sizing, lang)]
    lacking = sum(s.value_bytes for s in shown if not s.on_gpu)
    assert len(page.each("polygon")) == (lacking > sizing.budget.device_bytes)


@BOTH
@ALL
def test_the_chart_has_the_pages_lines_where_they_belong(sizing: Sizing, lang: Lang) -> None:
    page = Page(growth_svg(sizing, lang))
    g = growth(sizing)
    found = {line["class"]: line["points"] or "" for line in page.each("polyline")}
    assert set(found) == {f"requests-{one.requests}" for one in g.lines}
    foot, tall, left, across = 26 + 236, 236, 50, 652
    tops = set()
    for one in g.lines:
        points = [tuple(map(float, point.split(","))) for point in found[f"requests-{one.requests}"].split()]
        assert len(points) == len(g.points)
        for (x, y), n in zip(points, g.points, strict=True):
            assert x == pytest.approx(left + across * n / g.end_tokens, abs=0.06)
            if (count := float(g.need_bytes(one.per_engine, n))) and foot - y > 20:
                tops.add(count * tall / (foot - y))
    assert max(tops) <= 1.02 * min(tops)  # one scale for all of them
    assert page.of("desc") == [growth_alt(sizing, lang)]
    said = page.of("text")
    if g.usable_bytes is not None:
        assert any(format_bytes(g.usable_bytes) in words for words in said)
    if g.weights_bytes is not None:
        assert any(format_bytes(g.weights_bytes) in words for words in said)


@BOTH
@BUDGETED
def test_no_name_has_two_numbers(sizing: Sizing, lang: Lang) -> None:
    """A part has the same bytes in the drawing as in the table under it."""
    rows = {row[parts.PART(lang)]: row[parts.BYTES(lang)] for row in ledger_rows(sizing, lang)}
    shown = {segment.label(lang): segment.value_bytes for segment in drawn(ledger_segments(sizing))}
    assert {name: count for name, count in shown.items() if name in rows} == {
        name: count for name, count in rows.items() if name in shown
    }
    assert sizing.budget is not None
    if sizing.budget.hidden.value_bytes and sizing.budget.outside_bytes:
        both = sizing.budget.hidden.value_bytes + sizing.budget.outside_bytes
        assert shown[parts.OUT_OF_REACH(lang)] == both
        assert parts.OUTSIDE(lang) not in shown


@BOTH
@ALL
@pytest.mark.parametrize("paper", [PAGE, PHONE], ids=["page", "phone"])
def test_every_word_of_a_drawing_is_on_its_paper(sizing: Sizing, lang: Lang, paper: Paper) -> None:
    made = [growth_svg(sizing, lang, paper)]
    if sizing.budget is not None:
        made.append(ledger_svg(sizing, lang, paper))
    for svg in made:
        assert f'viewBox="0 0 {paper.wide} ' in svg
        moved = 0.0
        words = (
            r'<g transform="translate\(([\d.]+)|(</g>)|<text x="([\d.-]+)" y="[^"]*" text-anchor="(\w+)"[^>]*>([^<]*)'
        )
        assert "<text" in svg
        for start, end, x, anchor, said in re.findall(words, svg):
            moved = float(start) if start else 0.0 if end else moved
            if start or end:
                continue
            wide = text_width(unescape(said))
            left = moved + float(x) - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
            assert left >= -1, said
            assert left + wide <= 1.01 * paper.wide, said


@BOTH
def test_nothing_is_cut_on_a_phone(lang: Lang) -> None:
    """Drawings have an edition as wide as one, and nothing scrolls sideways or is kept wide."""
    written = html(sized(Scenario()), lang)
    assert written.count('<div class="on-paper"><svg') == written.count('<div class="on-phone"><svg') == 2
    assert not re.search("min-width: [0-9]{3}px; *}|overflow-x|tabindex", written)


def test_letters_are_dark_on_white() -> None:
    drawings = ledger_svg(WITH_BUDGET["no-fit"], "en") + growth_svg(WITH_BUDGET["short"], "en")
    inks = set(re.findall(r'<text [^>]*fill="(#\w+)"', drawings))
    assert inks
    assert all(contrast(ink, "#FFFFFF") >= 7 for ink in inks)


@BOTH
def test_the_models_face_has_a_cell_a_layer(lang: Lang) -> None:
    for scenario in SCENARIOS:
        sizing = sized(scenario)
        made = cells(sizing.architecture.layers, sizing.kv_dtype, sizing.tokens, lang)
        page = Page(html(sizing, lang))
        width = (17 + 4) * len(made) - 4  # of a cell, and of the gap between two
        assert f"0 0 {width} 44" in [a.get("viewbox") for a in page.each("svg")]
        assert any(words.startswith(f"{len(made)} ") for words in page.of("p"))


# --- Markdown --------------------------------------------------------------------------------------------------------


def tokens(written: str) -> list[Token]:
    """Blocks and what is in their lines, as CommonMark with tables and autolinks reads them."""
    found = []
    for token in MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(written):
        found += [token, *(token.children or [])]
    return found


def rows_of(written: str) -> list[list[str]]:
    """The text of the cells of all tables."""
    rows: list[list[str]] = []
    parsed = MarkdownIt("gfm-like", {"linkify": False}).parse(written)
    for place, block in enumerate(parsed):
        if block.type == "tr_open":
            rows.append([])
        elif block.type in ("th_open", "td_open"):
            inline = parsed[place + 1]
            rows[-1].append("".join(child.content for child in inline.children or []))
    return rows


def numbers(rows: Sequence[Sequence[str]]) -> set[int]:
    """Every whole number that fills a cell."""
    filled = [cell for row in rows for cell in row]
    return {int(cell.replace(",", "").replace("−", "-")) for cell in filled if re.fullmatch(r"−?[\d,]+", cell)}


@BOTH
@EACH
def test_markdown_opens_with_the_answer_and_has_the_sizings_numbers(scenario: Scenario, lang: Lang) -> None:
    sizing = sized(scenario)
    address = link(sizing.scenario)
    written = markdown(sizing, lang, address)
    parsed = tokens(written)
    strong = [parsed[i + 1].content for i, token in enumerate(parsed) if token.type == "strong_open"]
    assert strong[0] == verdict(sizing, lang).head
    assert [t.attrs["href"] for t in parsed if t.type == "link_open"] == [address]
    assert {t.type for t in parsed} & {"html_block", "html_inline", "image", "fence", "code_block", "hr"} == set()
    found = numbers(rows_of(written))
    assert sizing.content_bytes in found
    assert {sizing.request_bytes, sizing.held_bytes} - {None} <= found
    budget = sizing.budget
    if budget is not None and sizing.short_bytes is not None:
        terms = (budget.weights, budget.activations, budget.graphs, budget.non_torch)
        assert {term.value_bytes for term in terms} <= found
        assert {budget.device_bytes, budget.outside_bytes, budget.available_bytes, budget.pool_bytes} <= found
        assert {budget.usable_bytes + sizing.short_bytes, abs(sizing.lacking_bytes or 0)} <= found
        assert all(parts.BASIS[term.basis](lang) in written for term in terms)
    visible = "".join(t.content for t in parsed if t.type in ("text", "code_inline", "text_special"))
    made = (build.version(), sizing.scenario.revision, "2026-11-30")
    for said in (*made, *(out(lang) for out in not_modelled(scenario))):
        assert said in visible
    for note in sizing.notes:
        assert note.message(lang) in visible


@BOTH
def test_markdown_is_two_pages(lang: Lang) -> None:
    for scenario in SCENARIOS:
        written = markdown(sized(scenario), lang)
        assert len(written.splitlines()) <= 160
        assert len(written) <= 12_500


@BOTH
def test_markdown_says_what_was_changed_and_what_from(lang: Lang) -> None:
    rows = rows_of(markdown(sized(Scenario(input=8_192, sequences=8)), lang))
    changed = [row for row in rows if len(row) == 3 and row[1] in ("8,192", "8") and "3,072" in row[2] + "3,072"]
    assert [row[1] for row in changed[-2:]] == ["8,192", "8"]
    assert "3,072" in changed[-2][2]
    assert "50" in changed[-1][2]


@pytest.mark.parametrize(
    ("gpu", "basis", "source"),
    [
        ("h100-80gb", "measured", "as the driver reports it"),
        ("rtx-3090", "assumed", "the vendor's figure, taken as GiB"),
        ("own-48gib", "exact", "as you gave it"),
        ("a100-40gb-mig-1g.5gb", "assumed", "a share of what the whole GPU reports"),
    ],
)
def test_it_says_how_a_gpus_memory_is_known(gpu: str, basis: str, source: str) -> None:
    rows = rows_of(markdown(sized(Scenario(gpu=gpu)), "en"))
    [(_, _, _, said, where)] = [row for row in rows if row[0] == exported.DEVICE("en")]
    assert said == parts.BASIS[basis]("en")
    assert source in where
    [(_, _, _, _, where)] = [
        row for row in rows_of(markdown(sized(Scenario(gpu=gpu)), "ja")) if row[0] == exported.DEVICE("ja")
    ]
    assert re.search("[ぁ-ん]", where)


def test_settings_that_count_for_nothing_are_left_out() -> None:
    of_users = markdown(sized(Scenario(users=200)), "en")
    assert "Requests at peak" not in of_users
    assert "200 × 15 s ÷ (15 s + 45 s)" in of_users


@BOTH
def test_the_fraction_that_the_engine_takes_is_said(lang: Lang) -> None:
    assert exported.AUTO_IS(lang, value="0.92") in markdown(sized(Scenario()), lang)
    assert exported.AUTO_IS(lang, value="0.92") not in markdown(sized(Scenario(memory_fraction=0.8)), lang)


@pytest.mark.parametrize("name", [name for name in HOSTILE if name])
def test_nothing_hostile_becomes_markup(name: str) -> None:
    """Names from a config stand in facts and notes."""
    sizing = sized(Scenario())
    plain = markdown(sizing, "en", link(sizing.scenario))
    said = Message(Text("{name}", "{name}"), {"name": name})
    fact = Fact(term=name, value=name, origin="derived", where=name)
    architecture = replace(sizing.architecture, facts=(*sizing.architecture.facts, fact))
    hostile = replace(
        sizing, architecture=architecture, kv_dtype_reason=said, notes=(*sizing.notes, Note(code="x", message=said))
    )
    before, after = tokens(plain), tokens(markdown(hostile, "en", link(sizing.scenario)))

    def structure(of: list[Token]) -> list[str]:
        inline = {"text", "text_special", "code_inline"}
        return [t.type for t in of if t.type not in inline]

    item = ["list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close"]
    row = ["tr_open", *["td_open", "inline", "td_close"] * 3, "tr_close"]
    assert sorted(structure(after)) == sorted(structure(before) + item + row)
    visible = "".join(t.content for t in after if t.type in ("text", "code_inline", "text_special"))
    assert visible.replace("\u200b", "").count(" ".join(name.split())) >= 4
    for bare in ("http://", "www.", "@someone", "#123"):  # sites link them by themselves
        in_text = "".join(t.content for t in after if t.type in ("text", "text_special"))
        assert bare not in in_text


def test_a_link_cannot_end_early() -> None:
    address = link(Scenario(model="a (b)")) + "&x=)<y> z"
    (found,) = [t for t in tokens(markdown(sized(Scenario()), "en", address)) if t.type == "link_open"]
    assert parse_qs(urlsplit(str(found.attrs["href"])).query)["x"] == [")<y> z"]


# --- the picture of the project --------------------------------------------------------------------------------------


def test_the_readme_says_of_the_picture_what_it_shows() -> None:
    shown = [social_image.sized(model).content_bytes for model in social_image.MODELS]
    tokens, span = format_count(social_image.TOKENS), f"from {format_bytes(min(shown))} to {format_bytes(max(shown))}"
    readme = (social_image.OUT.parents[1] / "README.md").read_text(encoding="utf-8")
    assert f"![One request of {tokens} tokens in five models, layer by layer: {span}](assets/social.png)" in readme
    drawn_page = social_image.page()
    assert all(format_bytes(count) in drawn_page for count in shown)
    header = social_image.OUT.read_bytes()[:24]
    assert [int.from_bytes(header[at : at + 4], "big") for at in (16, 20)] == [social_image.WIDE, social_image.TALL]
