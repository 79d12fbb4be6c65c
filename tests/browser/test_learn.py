"""The Learn page as people read it, in a real browser."""

from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.harness import settled


def test_a_phone_reads_it_from_the_contents_to_a_scenario(open_page: OpenPage) -> None:
    page = open_page("/learn", locale="ja", phone=True)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth")
    said = page.get_by_text("ケーブイキャッシュ")
    assert said.evaluate("said => getComputedStyle(said).textWrapStyle") == "pretty"
    drawing = page.locator("svg[aria-label*='36']")
    assert len(drawing.locator("rect").all()) == 36 + 8 + 1  # and the legend's
    page.get_by_role("slider").press("ArrowLeft")
    settled(page)
    expect(page.locator("svg[aria-label*='28']")).to_have_count(1)  # 1 + 2 + … + 7
    page.get_by_role("link", name="用語集").click()
    expect(page.get_by_role("heading", name="用語集")).to_be_in_viewport()
    expect(said).to_be_visible()
    address = page.get_by_role("link", name="→ サイジング").nth(2).get_attribute("href")
    assert address is not None
    asked = urlsplit(address)
    assert asked.path == "/"
    sizing = open_page(f"/?{asked.query}", locale="en")
    assert "50 件中 34 件" in sizing.locator("h3").first.inner_text()  # the link keeps the language
