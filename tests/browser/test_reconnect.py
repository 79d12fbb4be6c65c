"""What a visitor sees whose server was restarted, or whose replica was taken away."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.harness import WATCHES, Watch, serve, settled

pytestmark = pytest.mark.browser


def test_the_first_change_after_a_restart_counts(browser: Browser, tmp_path: Path) -> None:
    """The new server knows the page by its link alone, and must have read it before somebody changes something."""
    with serve(tmp_path / "log") as server:
        page = browser.new_context().new_page()
        WATCHES[page] = Watch(home=server.url)
        WATCHES[page].attach(page)
        page.goto(f"{server.url}/?lang=en&sequences=44")
        settled(page)
        port = urlsplit(server.url).port
    connection = page.locator("[data-test-connection-state]")
    expect(connection).not_to_have_attribute("data-test-connection-state", "CONNECTED")
    with serve(tmp_path / "log", port=port):
        expect(connection).to_have_attribute("data-test-connection-state", "CONNECTED", timeout=30_000)
        settled(page)
        box = page.locator(".st-key-sequences input")
        expect(box).to_have_value("44")
        box.fill("41")
        box.press("Enter")
        page.wait_for_url("**sequences=41**")
        settled(page)
        expect(box).to_have_value("41")
        page.context.close()
        del WATCHES[page]
