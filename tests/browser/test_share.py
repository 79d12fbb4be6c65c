"""Fixes, files, embedding and the Hub, as people use them in a real browser."""

import csv
import io
import json
import re
import threading
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from kvviz.levers import levers
from kvviz.report import as_html
from kvviz.resolve import resolve
from kvviz.scenario import Scenario, to_query
from tests.browser.conftest import OpenPage
from tests.browser.harness import Server, settled
from tests.browser.test_sizing import address, headline, metrics
from tests.hub.standin import GOOD_TOKEN, StandIn, commit_of


def type_model(page: Page, typed: str) -> None:
    box = page.get_by_role("combobox", name=re.compile("Model"))
    box.click()
    box.fill(typed)
    page.keyboard.press("Enter")
    settled(page)


def test_a_fix_is_one_press_and_undo_takes_it_back(open_page: OpenPage) -> None:
    page = open_page("/")
    before = headline(page)
    page.get_by_role("button", name=re.compile("✓")).first.click()
    settled(page)
    assert "All 50 fit" in headline(page)
    page.get_by_role("button", name="Undo").click()
    settled(page)
    assert headline(page) == before


def test_each_file_opens(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("/")
    page.get_by_text("Share and export").click()
    settled(page)
    saved: dict[str, bytes] = {}
    for label in ("HTML", "Markdown", "CSV", "JSON"):
        with page.expect_download() as download:
            page.get_by_role("button", name=re.compile(label)).click()
        assert download.value.suggested_filename.startswith("kvviz-Qwen3-32B-FP8.")
        saved[label] = download.value.path().read_bytes()
    assert json.loads(saved["JSON"])["max_sequences_counted"] == 34
    assert saved["CSV"].startswith(b"\xef\xbb\xbf")
    assert any("37270585344" in row for row in csv.reader(io.StringIO(saved["CSV"].decode("utf-8-sig"))))
    assert "34 of 50" in saved["Markdown"].decode()
    assert page.url.split("/?")[0] in saved["Markdown"].decode()
    the_report_opens_and_prints(page, saved["HTML"], tmp_path / "report.html")


def the_report_opens_and_prints(page: Page, content: bytes, file: Path) -> None:
    """From a disk, without the app: nothing is asked of anybody, nothing sticks out, and it is a few sheets of A4."""
    file.write_bytes(content)
    opened = page.context.browser.new_page()  # type: ignore[union-attr]
    problems: list[str] = []
    asked: list[str] = []
    opened.on("console", lambda message: problems.append(message.text))
    opened.on("request", lambda request: asked.append(request.url))
    opened.set_viewport_size({"width": 390, "height": 844})
    opened.goto(file.as_uri())
    assert asked == [file.as_uri()]
    assert problems == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    expect(opened.get_by_role("heading", level=1)).to_have_text("KV cache of Qwen/Qwen3-32B-FP8")
    expect(opened.get_by_role("img", name="One GPU's memory")).to_be_visible()
    assert 2 <= opened.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") <= 3
    opened.close()


@pytest.mark.parametrize("model", ["Qwen/Qwen3-32B-FP8", "google/gemma-3-27b-it"])
def test_a_japanese_report_is_three_sheets(browser: Browser, model: str) -> None:
    """A link in full, its code and everything that would help included."""
    scenario = Scenario(model=model)
    sizing = resolve(scenario).size()
    link = f"https://kvviz.example.org/?{urlencode({**to_query(scenario), 'lang': 'ja'})}"
    helps = levers(sizing, weigh=lambda asked: resolve(asked).weights)
    page = browser.new_page()
    page.set_content(as_html(sizing, "ja", link=link, day=date(2026, 1, 1), possible=helps))
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") <= 3
    page.close()


def test_the_link_is_also_a_qr_code(open_page: OpenPage) -> None:
    page = open_page("/")
    page.get_by_text("Share and export").click()
    settled(page)
    expect(page.get_by_role("img", name="QR code of the link to this answer")).to_be_visible()


@pytest.fixture
def elsewhere(server: Server) -> Iterator[str]:
    """A page of another origin that embeds the app's own embed code."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            frame = f'<iframe title="kvviz" width="900" height="620" src="{server.url}/?embed=true&lang=en"></iframe>'
            body = f"<!doctype html><title>elsewhere</title>{frame}".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    host = HTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=host.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{host.server_port}/"
    host.shutdown()
    host.server_close()
    thread.join()


def test_a_page_of_another_origin_can_embed_the_chart(open_page: OpenPage, elsewhere: str) -> None:
    page = open_page("/")
    other = page.context.browser.new_page()  # type: ignore[union-attr]
    other.goto(elsewhere)
    frame = other.frame_locator("iframe")
    expect(frame.locator('[role="figure"]').first).to_be_visible(timeout=20_000)
    expect(frame.get_by_text("34 of 50 fit at once")).to_be_visible()
    expect(frame.get_by_role("combobox")).to_have_count(0)
    other.wait_for_timeout(1500)  # the address is rewritten after the first run, the width is reported
    expect(frame.locator('[role="figure"]')).to_have_count(1)
    assert "embed=true" in other.frames[1].url
    other.close()


def test_a_model_of_the_hub_is_typed_and_its_commit_linked(open_page: OpenPage) -> None:
    page = open_page("/")
    type_model(page, "new-owner/renamed")
    expect(page).to_have_url(re.compile(commit_of("new-owner/renamed")))
    assert metrics(page)[1] == "448 MiB"  # 2 x 28 layers x 8 heads x 128 x 2 B x 4,096 tokens
    colleague = open_page("/?" + page.url.split("?")[1])
    assert headline(colleague) == headline(page)


def test_a_gated_model_is_read_with_a_token_that_goes_nowhere_else(open_page: OpenPage, hub: StandIn) -> None:
    page = open_page("/")
    type_model(page, "new-owner/gated")
    expect(page.get_by_role("alert").first).to_be_visible()
    page.get_by_role("textbox", name="Token for this model").fill(GOOD_TOKEN)
    page.get_by_role("button", name="Read with this token").click()
    settled(page)
    expect(page).to_have_url(re.compile("new-owner%2Fgated"))
    assert GOOD_TOKEN not in page.url
    assert "token" not in json.dumps(address(page)).lower().replace("tokens", "")
    another = open_page("/")
    type_model(another, "new-owner/gated")
    expect(another.get_by_role("alert").first).to_be_visible()
    assert any(GOOD_TOKEN in request.headers.get("authorization", "") for request in hub.requests)


@pytest.mark.parametrize("fault", ["nobody/nothing", "fault/no-config", "fault/error", "fault/html", "fault/huge"])
def test_what_the_hub_says_no_to_is_told(open_page: OpenPage, fault: str) -> None:
    page = open_page("/")
    before = headline(page)
    type_model(page, fault)
    expect(page.get_by_role("alert")).to_have_count(2)  # what is wrong beside the box, whose answer it is above it
    expect(page.get_by_role("alert").filter(has_text="is shown, not")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Paste config"))).to_be_visible()
    assert headline(page) == before
    assert address(page)["model"] == fault


def test_a_link_to_a_model_that_cannot_be_read_keeps_its_address(open_page: OpenPage) -> None:
    page = open_page("/?model=new-owner/gated&lang=en&gpu=h200")
    expect(page.get_by_text("new-owner/gated could not be read here")).to_be_visible()
    assert address(page)["model"] == "new-owner/gated"
    page.get_by_role("textbox", name="Token for this model").fill("hf_wrong")
    page.keyboard.press("Enter")
    settled(page)
    expect(page.get_by_role("alert").filter(has_text="does not accept")).to_be_visible()
    page.get_by_role("textbox", name="Token for this model").fill(GOOD_TOKEN)
    page.keyboard.press("Enter")
    settled(page)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert address(page)["model"] == "new-owner/gated"
    embedded = open_page("/?embed=true&model=new-owner/gated&lang=en")
    expect(embedded.locator('[role="figure"]')).to_have_count(0)


def test_words_are_searched_for_on_the_hub(open_page: OpenPage) -> None:
    page = open_page("/")
    type_model(page, "renamed")
    page.get_by_role("radio", name="new-owner/renamed").click()
    settled(page)
    expect(page).to_have_url(re.compile("new-owner%2Frenamed"))


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_the_list_grows_by_what_the_hub_has_while_a_name_is_typed(open_page: OpenPage, *, phone: bool) -> None:
    page = open_page("/?lang=en", phone=phone)
    if phone:
        page.get_by_text(re.compile("^Change")).click()
        settled(page)
    box = page.get_by_role("combobox", name=re.compile("Model"))
    box.click()
    box.fill("rename")
    found = page.get_by_role("option", name="new-owner/renamed")
    expect(found).to_be_visible()
    expect(box).to_be_focused()
    expect(box).to_have_value("rename")
    page.keyboard.type("d")  # goes on where it was
    expect(box).to_have_value("renamed")
    found.click()
    settled(page)
    expect(page).to_have_url(re.compile(f"new-owner%2Frenamed&revision={commit_of('new-owner/renamed')}"))
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_revision_typed_behind_the_name_is_of_that_model(open_page: OpenPage) -> None:
    page = open_page("/?model=new-owner/renamed&lang=en")
    box = page.get_by_role("combobox", name=re.compile("Model"))
    box.click()
    box.press("End")
    page.keyboard.type("@nowhere")
    page.keyboard.press("Enter")
    settled(page)
    expect(box).to_have_value("new-owner/renamed@nowhere")
    expect(page.get_by_role("alert").filter(has_text="no revision nowhere")).to_be_visible()
