"""The app opens, in both languages, on both sizes of screen."""

import pytest

from tests.browser.conftest import OpenPage
from tests.browser.harness import screenshot


@pytest.mark.parametrize("locale", ["en", "ja"])
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_the_app_opens(open_page: OpenPage, locale: str, phone: bool) -> None:
    page = open_page("/", locale=locale, phone=phone)
    assert page.get_by_test_id("stException").count() == 0
    assert page.get_by_test_id("stMain").inner_text().strip()
    # Nothing is wider than the screen.
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    screenshot(page, f"smoke-{locale}-{'phone' if phone else 'desktop'}", whole=True)
