"""The Shared prefixes page as people use it, in a real browser."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.harness import OPPOSITES, go_to, screenshot, settled

SVG = '[aria-label^="Prompt 1:"]'


def headline(page: Page) -> str:
    return page.locator("h3").first.inner_text()


def chips(page: Page, state: str) -> int:
    """Chips of a state."""
    return page.locator(f"svg g.{state}").count()


def press(page: Page, label: str) -> None:
    page.get_by_text(label, exact=True).click()
    settled(page)


def test_people_break_the_prefix_and_mend_it(open_page: OpenPage) -> None:
    page = open_page("/prefixes")
    usual, hits = headline(page), chips(page, "hit")
    assert re.match(r"\d+ of \d+ prompt tokens are found", usual)
    assert hits > 0
    expect(page.locator(SVG)).to_be_in_viewport()
    press(page, "Put today's date first")
    assert headline(page).startswith("None of the")
    assert chips(page, "hit") == 0
    press(page, "Put it last")
    assert chips(page, "hit") >= hits
    press(page, "Put it last")  # pressed again: as it was
    assert headline(page) == usual
    box = page.get_by_label("Prompt 2", exact=True)
    box.fill("Something else entirely")
    page.keyboard.press("Control+Enter")
    settled(page)
    assert chips(page, "hit") < hits
    assert "begins like none before it" in page.get_by_test_id("stMain").inner_text()
    # A colleague sees the same.
    page.wait_for_timeout(300)
    asked = urlsplit(page.url)
    assert "prompts" in parse_qs(asked.query)
    other = open_page(f"{asked.path}?{asked.query}")
    assert headline(other) == headline(page)
    expect(other.get_by_label("Prompt 2", exact=True)).to_have_value("Something else entirely")


def test_what_was_typed_outlasts_a_visit_to_another_page(open_page: OpenPage) -> None:
    page = open_page("/prefixes")
    page.get_by_label("Prompt 3", exact=True).fill("kept")
    page.keyboard.press("Control+Enter")
    settled(page)
    go_to(page, "Size", "Sizing")
    go_to(page, "Understand", "Shared prefixes")
    expect(page.get_by_label("Prompt 3", exact=True)).to_have_value("kept")


@OPPOSITES
def test_nothing_is_wider_than_the_page(open_page: OpenPage, lang: str, phone: bool) -> None:
    page = open_page("/prefixes", locale=lang, phone=phone, dark=phone)
    screenshot(page, f"prefixes-{lang}-{'phone-dark' if phone else 'desktop'}", whole=True)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth")
    assert chips(page, "hit") > 0
    if phone:  # the answer comes before what is typed
        expect(page.locator("svg g.hit").first).to_be_attached()
        assert page.get_by_role("textbox").count() == 2  # the prompts are folded
