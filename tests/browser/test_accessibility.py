"""Every page, with what is folded on it opened, as axe-core reads it: nothing serious, contrast included."""

import re
from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Page

from kvviz.text import Lang
from kvviz.text import log_check as log_text
from tests.browser.conftest import OpenPage
from tests.browser.harness import PATHS, settled

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

TABS = {"/": 5, "/compare": 2, "/heads": 2}
"""How many tabs a page has."""

STREAMLITS_OWN = {
    # The menu of a narrow window wraps each group of its list's items in a <div>.
    "list": '[data-testid="stSidebarNavItems"]',
    "listitem": '[data-testid="stSidebarNavItems"] li',
    # These frames have no tabindex; browsers let the Tab key into whatever scrolls, axe asks for more.
    "scrollable-region-focusable": '[data-testid="stTable"] > div, [data-testid="stPopoverBody"]',
    # White on the accent colour, which on a dark page must be light enough to be read as text.
    "color-contrast": '[data-testid="stMultiSelect"] [data-tag] *',
}
"""By rule of axe: what no app can change (Streamlit 1.67)."""

MOST_POPOVERS = 3
"""Of one page that are opened."""

CHECK = """async ([within, known]) => {
    const options = { resultTypes: ["violations"], elementRef: true, iframes: false, preload: false };
    const { violations } = await axe.run(within, options);
    return violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).flatMap(({ id, nodes }) =>
        nodes.filter(({ element }) => !(known[id] && element.matches(known[id]))).map(
            ({ element, failureSummary }) => `${id}: ${element.outerHTML.slice(0, 200)} ${failureSummary}`));
}"""

GO = """path => {
    history.pushState({}, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
}"""
"""To another page of the same visit, as the browser's own buttons do."""

UNFOLD = """() => {
    const folded = document.querySelectorAll('[data-testid="stExpander"] details:not([open]) > summary');
    folded.forEach(summary => summary.click());
    return folded.length;
}"""


def serious(page: Page, within: str = "html") -> list[str]:
    """What axe finds, a line each."""
    found: list[str] = page.evaluate(CHECK, [within, STREAMLITS_OWN])
    return found


def nameless(page: Page) -> list[str]:
    """Drawn pictures whose name has no number in it."""
    names = page.locator("canvas[role=img]").evaluate_all("all => all.map(one => one.ariaLabel ?? '')")
    return [f"canvas: {name!r}" for name in names if not re.search(r"\d", name)]


def walk(page: Page, lang: Lang) -> Iterator[tuple[str, list[str]]]:
    """Every page with all that is folded on it, and what axe finds there."""
    for path in PATHS:
        if path != PATHS[0]:
            page.evaluate(GO, path)
            settled(page)
        if path == "/check-log":
            page.get_by_text(log_text.EXAMPLE(lang, engine="vLLM")).click()
            settled(page)
        while page.evaluate(UNFOLD):
            settled(page)
        yield path, serious(page) + nameless(page)
        popovers = page.get_by_test_id("stPopoverButton")
        for number in range(min(popovers.count(), MOST_POPOVERS)):
            popovers.nth(number).click()
            settled(page)  # what is in it is drawn once it is open
            yield f"{path}, popover {number}", serious(page, '[data-testid="stPopoverBody"]')
            page.keyboard.press("Escape")
            settled(page)
        for number in range(TABS.get(path, 0)):
            tab = page.get_by_role("tab").nth(number)
            if tab.get_attribute("aria-selected") != "true":
                tab.click()
                settled(page)
                yield f"{path}, tab {number}", serious(page, '[role="tabpanel"]') + nameless(page)


@pytest.mark.parametrize(("lang", "phone"), [("en", False), ("ja", True)], ids=["light-desktop-en", "dark-phone-ja"])
def test_axe_finds_nothing_serious_on_any_page(open_page: OpenPage, lang: Lang, phone: bool) -> None:
    page = open_page(f"{PATHS[0]}?lang={lang}", locale=lang, phone=phone, dark=phone)
    page.evaluate(AXE)
    found = dict(walk(page, lang))
    assert len(found) > len(PATHS) + sum(TABS.values()) - len(TABS)
    lines = [f"{where}: {line}" for where, lines in found.items() for line in lines]
    assert not lines, "\n\n".join(lines)
