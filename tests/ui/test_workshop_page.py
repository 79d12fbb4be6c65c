"""The Workshop page as a script, in both languages."""

from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.scenario import Scenario, to_query
from kvviz.text import LANGUAGES, Lang
from kvviz.text import workshop as text
from kvviz.ui.show import plain
from kvviz.workshop import course
from tests.ui.page import open_page, press


def said(app: AppTest) -> str:
    said = "\n".join(m.value for m in (*app.markdown, *app.caption, *app.info, *app.success, *app.warning))
    return said.replace("\u00a0", " ")


def heading(app: AppTest) -> str:
    return next(m.value for m in app.markdown if m.value.startswith("###"))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("number", range(1, 11))
def test_every_step_opens_by_its_link_and_can_be_revealed(number: int, lang: Lang) -> None:
    step = course(lang)[number - 1]
    app = open_page("workshop", step=str(number), lang=lang)
    assert heading(app) == f"### {number}. {plain(step.title(lang))}"
    assert step.do(lang) in said(app)
    assert plain(step.so(lang)) not in said(app)
    assert all(plain(note(lang)) in said(app) for _, note in step.notes)  # folded
    press(app, "workshop_reveal")
    assert [i.value for i in app.info] == [text.GUESS_FIRST(lang)]
    press(app, "workshop_reveal")
    assert plain(step.so(lang)) in said(app)
    for question in step.questions:
        answer = question.said if isinstance(question.said, str) else question.said(lang)
        assert f"**{plain(answer)}**" in said(app)
    assert not app.warning
    assert not app.error


def test_a_guess_is_kept_compared_and_can_be_changed() -> None:
    app = open_page("workshop", step="1")
    app.text_input(key="workshop_page_en").set_value("100").run()
    press(app, "workshop_reveal")
    guessed = plain(text.GUESSED("en", guess="100 MiB"))
    assert guessed in said(app)
    assert plain(text.TOO_LITTLE("en", times="2.5")) in said(app)
    press(app, "workshop_next")
    press(app, "workshop_previous")
    assert guessed in said(app)
    press(app, "workshop_hide")
    assert app.text_input(key="workshop_page_en").value == "100"
    app.text_input(key="workshop_page_en").set_value("250").run()
    press(app, "workshop_reveal")
    assert plain(text.EXACT("en")) in said(app)


def test_a_guess_is_the_same_in_the_other_language() -> None:
    app = open_page("workshop", step="7", lang="en")
    app.radio(key="workshop_date-first_en").set_value("none").run()
    for lang in ("ja", "en", "ja"):
        app.segmented_control(key="lang").set_value(lang).run()
        assert not app.exception
        assert app.radio(key=f"workshop_date-first_{lang}").value == "none"
        assert app.radio(key=f"workshop_date-last_{lang}").value is None


def test_a_guess_that_cannot_be_read_is_named() -> None:
    app = open_page("workshop", step="1")
    app.text_input(key="workshop_page_en").set_value("a few").run()
    assert plain(text.NOT_A_NUMBER("en", shown="a few", example="100 MiB")) in said(app)


def test_the_second_press_reveals_whatever_was_typed_meanwhile() -> None:
    app = open_page("workshop", step="1")
    app.text_input(key="workshop_page_en").set_value("abc").run()
    press(app, "workshop_reveal")
    assert plain(text.NO_GUESS("en")) not in said(app)
    assert [i.value for i in app.info] == [text.GUESS_FIRST("en")]
    app.text_input(key="workshop_page_en").set_value("xyz").run()
    press(app, "workshop_reveal")
    assert plain(text.NO_GUESS("en")) in said(app)


def test_start_over_forgets_everything() -> None:
    app = open_page("workshop", step="7")
    app.radio(key="workshop_date-first_en").set_value("none").run()
    app.radio(key="workshop_date-last_en").set_value("same").run()
    press(app, "workshop_reveal")
    assert said(app).count(plain(text.RIGHT("en"))) == 2
    press(app, "workshop_reset")
    assert [w.value for w in app.warning] == [text.RESET_AGAIN("en", count=2)]
    assert heading(app).startswith("### 7.")
    press(app, "workshop_next")  # anything else: no longer asked
    assert not app.warning
    press(app, "workshop_reset")
    press(app, "workshop_reset")
    assert heading(app).startswith("### 1.")
    assert not app.warning
    app.segmented_control(key="workshop_pick").set_value(7).run()
    assert app.radio(key="workshop_date-first_en").value is None
    assert plain(text.RIGHT("en")) not in said(app)


@pytest.mark.parametrize("asked", ["0", "11", "-1", "two", "", "9999999999", "３"])
def test_a_link_to_no_step_says_so(asked: str) -> None:
    app = open_page("workshop", step=asked)
    number = 3 if asked == "３" else 1
    assert heading(app).startswith(f"### {number}.")
    assert len(app.warning) == (0 if number == 3 else 1)
    press(app, "workshop_next")
    assert not app.warning


def test_links_open_what_the_step_is_about() -> None:
    app = open_page("workshop", step="7")
    press(app, "workshop_reveal")
    press(app, "workshop_reveal")
    urls = [urlsplit(link.proto.url) for link in app.get("link_button")]
    assert [url.path for url in urls] == ["/prefixes", "/prefixes"]
    assert [parse_qs(url.query)["prefix_try"] for url in urls] == [["date-first"], ["date-last"]]
    assert all(parse_qs(url.query)["lang"] == ["en"] for url in urls)


def test_a_fix_that_is_sent_back_is_judged() -> None:
    app = open_page("workshop", step="9")
    query = to_query(Scenario().with_changes(kv_dtype="fp8"))
    sent = "https://kvviz.example.org/?" + "&".join(f"{name}={value}" for name, value in query.items())
    app.text_input(key="workshop_link_en").set_value(sent).run()
    assert len(app.success) == 1
    assert "69" in app.success[0].value
    app.text_input(key="workshop_link_en").set_value("https://kvviz.example.org/").run()
    assert [i.value for i in app.info] == [plain(text.FIX_NO_LINK("en"))]


def test_the_end_counts_what_was_right() -> None:
    app = open_page("workshop", step="10")
    for question in course("en")[9].questions:
        app.radio(key=f"workshop_{question.key}_en").set_value("false").run()
    press(app, "workshop_reveal")
    questions = sum(len(step.questions) for step in course("en"))
    assert f":material/flag: {text.SCORE('en', seen=6, all=questions, right=4)}" in said(app)
    assert app.button(key="workshop_next").disabled


@pytest.mark.parametrize("phone", [True, False])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_prices_are_a_list_on_a_phone(lang: Lang, phone: bool) -> None:
    app = open_page("workshop", {"browser": {"phone": phone}}, step="9", lang=lang)
    press(app, "workshop_reveal")
    press(app, "workshop_reveal")
    results = course(lang)[8].results
    assert results is not None
    items = [m.value for m in app.markdown if m.value.startswith("- **")]
    assert len(items) == (len(results.rows) if phone else 0)
    assert len(app.table) == (0 if phone else 1)
    for item, row in zip(items, results.rows, strict=False):
        for cell in row:
            assert plain(cell if isinstance(cell, str) else cell(lang)) in item.replace("\u00a0", " ")
