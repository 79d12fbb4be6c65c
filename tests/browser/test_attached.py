"""Attached engines in a real browser: they are looked at again and again, for as long as they are open."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from kvviz.text import serving as text
from tests.browser.conftest import OpenPage
from tests.browser.harness import Server, screenshot, serve
from tests.hub.standin import StandIn as Hub
from tests.serving.standin import StandIn, serving


@pytest.fixture(scope="module")
def standin() -> Iterator[StandIn]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, hub: Hub, standin: StandIn) -> Iterator[Server]:
    """An app whose operator attached two engines."""
    folder: Path = tmp_path_factory.mktemp("attached")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KVVIZ_ENGINES", standin.engines("vllm", "llama"))
        patch.setenv("KVVIZ_LIVE", "off")
        with serve(folder / "app.log") as served:
            yield served


def test_they_are_looked_at_while_they_are_open(open_page: OpenPage, standin: StandIn) -> None:
    page = open_page("/live?lang=ja", locale="ja", phone=True, dark=True)
    title = page.get_by_text(text.ATTACHED_NAMED("ja", names="vllm、llama"))
    assert standin.asked == []
    title.click()
    expect(page.get_by_text("62.5%", exact=True).first).to_be_visible()
    figures = page.get_by_text(text.BESIDE("ja")).first
    expect(figures).to_be_visible()
    width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0
    standin.broken = True  # nobody touches the page: it looks by itself, and keeps what it had
    expect(page.get_by_text(text.STATUS("ja", status=503))).to_be_visible(timeout=15_000)
    expect(figures).to_be_visible()
    screenshot(page, "attached-ja-phone", whole=True)
    title.click()
    expect(figures).not_to_be_visible()
    page.wait_for_timeout(1_000)
    asked = len(standin.asked)
    page.wait_for_timeout(3_000)
    assert len(standin.asked) == asked
