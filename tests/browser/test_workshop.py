"""The workshop as a class walks through it, in a real browser."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect

from kvviz.text import LANGUAGES, Lang, together
from kvviz.workshop_sheets import answer_key, worksheet
from tests.browser.conftest import OpenPage
from tests.browser.harness import screenshot, settled


def test_open_at_a_step_guess_reveal_look_and_go_on(open_page: OpenPage) -> None:
    """By link at step 7 on a phone: a guess survives another tab, the way to the next step and back, and a language."""
    page = open_page("/workshop?step=7&lang=en", phone=True)
    main = page.get_by_test_id("stMain")
    expect(page.get_by_role("heading", name="7. Date first, date last")).to_be_visible()
    main.get_by_text("as much as before", exact=True).first.click()  # wrong
    settled(page)
    main.get_by_text("as much as before", exact=True).last.click()
    settled(page)
    for language, chosen in (("日本語", "変わらない"), ("English", "as much as before")):
        page.get_by_text(language, exact=True).click()
        settled(page)
        expect(main.get_by_role("radio", name=chosen).first).to_be_checked()
        expect(main.get_by_role("radio", name=chosen).last).to_be_checked()
    page.get_by_role("button", name="Show the answer").click()
    settled(page)
    assert "nothing: 0 of 153 tokens · your guess: as much as before\nNot quite." in main.inner_text()
    assert "as much as before: 64 of 153 tokens · Right!" in main.inner_text()
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth")
    screenshot(page, "workshop-7-phone", whole=True)

    with page.expect_popup() as opened:
        page.get_by_role("link", name="Shared prefixes: date first").click()
    opened.value.wait_for_load_state()
    expect(opened.value.locator("h3").first).to_contain_text("None of the 153 prompt tokens is found")
    opened.value.close()

    page.get_by_text("日本語", exact=True).click()
    settled(page)
    assert together("変わらない（153 トークン中 64） · 正解です。") in main.inner_text()
    page.get_by_role("button", name="答えを隠す").click()
    settled(page)
    expect(main.get_by_role("radio", name="変わらない").first).to_be_checked()
    page.get_by_role("button", name="次へ").click()
    settled(page)
    expect(page.get_by_role("heading", name="8.")).to_be_visible()
    page.wait_for_url(re.compile(r"/workshop\?.*step=8&lang=ja"))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("made", [worksheet, answer_key])
def test_a_sheet_opened_on_a_phone_is_as_wide_as_the_phone(
    browser: Browser, made: Callable[[Lang], str], lang: Lang
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.set_content(made(lang))
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    asked = page.locator(".question > :first-child").evaluate_all("all => all.map(one => one.clientWidth)")
    assert min(asked) > 150
    page.close()


def test_the_keyboard_turns_the_steps(open_page: OpenPage) -> None:
    page = open_page("/workshop?step=4&lang=en")
    box = page.get_by_test_id("stMain").get_by_role("textbox")
    box.first.fill("80")
    page.keyboard.press("Enter")
    settled(page)
    for pressed, title in (("Alt+PageDown", "5. Shared heads: 64, 8, 1"), ("Alt+PageUp", "4. The formula on paper")):
        page.keyboard.press(pressed)
        settled(page)
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(box.first).to_have_value("80")
