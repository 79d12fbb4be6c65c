"""What a person copies from a page is what it says: nothing invisible stands between the signs."""

import re

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenPage
from tests.browser.harness import settled

INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
NAME = "Llama-3.1-8B-Instruct"


def texts(page: Page, kind: str) -> list[str]:
    """What is rendered in all of a kind, on the page and in what is open above it."""
    return page.get_by_test_id(kind).all_inner_texts()


@pytest.mark.parametrize(
    ("path", "copied", "source"),
    [
        ("/compare?lang=en&models=meta-llama/" + NAME, (NAME, "vLLM 0.33"), "v1/kv_cache_interface.py"),
        ("/?lang=ja", (), "v1/kv_cache_interface.py"),
    ],
)
def test_tables_and_workings(open_page: OpenPage, path: str, copied: tuple[str, ...], source: str) -> None:
    page = open_page(path)
    for summary in page.locator('[data-testid="stExpander"] summary').all():
        summary.click()
        settled(page)
    said = texts(page, "stTable")
    assert said
    assert all(one in "\n".join(said) for one in copied)
    opener = page.locator('[class*="st-key-working_"]').get_by_test_id("stPopoverButton").first
    opener.click()
    settled(page)
    page.get_by_test_id("stPopoverBody").filter(has_text=source).wait_for()
    said += texts(page, "stPopoverBody")
    assert "vLLM 0.33" in said[-1]
    for text in said:
        assert INVISIBLE.search(text) is None, text.encode("unicode_escape")
