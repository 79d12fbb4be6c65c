"""The log page as people use it: an example, a paste, a file, on a phone."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.harness import OPPOSITES, screenshot, settled

LOGS = Path(__file__).parent.parent / "data" / "logs"


@OPPOSITES
def test_an_example(open_page: OpenPage, lang: str, phone: bool) -> None:
    page = open_page("/check-log", locale=lang, phone=phone, dark=phone)
    if not phone:
        page.set_viewport_size({"width": 1280, "height": 720})
    page.get_by_role("button", name="vLLM").click()
    settled(page)
    expect(page.get_by_test_id("stAlert")).to_have_count(1)
    if not phone:  # the answer is seen without scrolling
        expect(page.get_by_test_id("stAlert")).to_be_in_viewport(ratio=1)
    expect(page.get_by_test_id("stTable").first).to_contain_text("75,840")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    screenshot(page, f"check-log-{lang}-{'phone' if phone else 'desktop'}", whole=True)


def test_a_paste_and_what_it_lacks(open_page: OpenPage) -> None:
    page = open_page("/check-log")
    log = (LOGS / "lmstudio-1862-qwen36-27b.log").read_text(encoding="utf-8")
    page.get_by_label("Start-up log").fill(log)
    page.keyboard.press("Control+Enter")
    settled(page)
    expect(page.get_by_test_id("stAlert")).to_contain_text("needs what the log does not say")
    page.get_by_role("combobox").first.fill("nvidia/Qwen3.6-27B-NVFP4")
    page.keyboard.press("Enter")
    settled(page)
    expect(page.get_by_test_id("stAlert")).to_contain_text("reported what is predicted")
    assert "lmstudio" not in page.url
    assert "Qwen3.6-27B" not in page.url


def test_a_file(open_page: OpenPage) -> None:
    page = open_page("/check-log")
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(LOGS / "llamacpp-14097-gemma-3-27b-it.log")
    settled(page)
    expect(page.get_by_test_id("stAlert")).to_contain_text("llama.cpp reported what is predicted")
