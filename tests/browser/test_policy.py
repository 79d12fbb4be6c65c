"""An answer and its charts inside somebody else's page, on another origin; and that no page breaks its own policy."""

import http.server
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error

from kvviz.export import embed_code
from tests.browser.conftest import OpenPage
from tests.browser.harness import PATHS, ROOT, Server, settled


@pytest.fixture
def elsewhere(server: Server) -> Iterator[str]:
    """A page on another origin that holds the embed code of the default answer, and the Blocks page below it."""
    codes = [embed_code(f"{server.url}{path}?lang=en", "en") for path in ("/", "/blocks")]
    body = f"<!doctype html><title>A design document</title>{''.join(codes)}".encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing to say."""

    host = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{host.server_port}/"
    host.shutdown()
    host.server_close()


def test_an_answer_in_a_page_on_another_origin(browser: Browser, elsewhere: str) -> None:
    complaints: list[str] = []

    def complain(message: ConsoleMessage) -> None:
        if message.type == "error" and "/_stcore/" not in message.location["url"]:
            complaints.append(message.text)

    page = browser.new_context(viewport={"width": 1280, "height": 1400}).new_page()
    page.on("console", complain)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(elsewhere)
    answer, blocks = (page.frame_locator("iframe").nth(place) for place in (0, 1))
    answer.locator(".js-plotly-plot").first.wait_for(timeout=60_000)
    blocks.locator("canvas").first.wait_for(timeout=60_000)
    page.context.close()
    assert complaints == []


def test_every_page_keeps_to_the_policy(open_page: OpenPage) -> None:
    """A refused script, style, picture or connection is an error in the console, which fails any test here."""
    assert len(PATHS) == len(list((ROOT / "pages").glob("*.py")))
    page = open_page("/")
    for path in PATHS:
        page.goto(path)
        page.get_by_test_id("stMarkdown").first.wait_for(timeout=60_000)
        settled(page)


def test_a_script_from_outside_is_refused(browser: Browser, server: Server) -> None:
    page = browser.new_page()
    page.goto(f"{server.url}/healthz")
    for source in ("data:text/javascript,0", "https://example.org/x.js"):
        with pytest.raises(Error):
            page.evaluate(f"() => import('{source}')")
    page.context.close()
