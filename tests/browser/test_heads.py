"""The Shared heads page in a real browser: what is painted is what the core says, and the keyboard is enough."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from kvviz.core.cache import layer_bytes
from kvviz.kept import example
from kvviz.text import heads as text
from tests.browser.conftest import OpenPage
from tests.browser.harness import settled

PAINTED = """root => root.player.lanes.map(({ canvas }) => {
    const { player: kept } = root, steps = kept.last, scale = devicePixelRatio, wide = canvas.width / scale;
    const cell = (wide - kept.gutter - 1) / steps, pen = canvas.getContext("2d"), y = canvas.height - 6 * scale;
    const full = (place) => pen.getImageData((kept.gutter + (place + 0.4) * cell) * scale, y, 1, 1).data[3] > 200;
    return [...Array(steps).keys()].filter(full);
})"""
"""Which cells of each lane are filled, by their pixels."""


def state(page: Page) -> Any:  # noqa: ANN401 - JSON
    return page.locator(".kept").evaluate("root => root.state()")


def test_the_layers_are_filled_as_the_core_says(open_page: OpenPage) -> None:
    page = open_page("/heads?lang=en&heads_tab=layers&heads_step=3")
    filling = example()
    for step in (3, 9, 32, 20):  # in a window, past it, to the end, and back
        page.locator(".scrub").fill(str(step))
        shown = state(page)
        assert shown["tokens"] == step
        painted = page.locator(".kept").evaluate(PAINTED)
        for lane, told, cells in zip(filling.lanes, shown["lanes"], painted, strict=True):
            assert told["bytes"] == layer_bytes(lane.layer, step, filling.dtype)
            (part,) = lane.parts(step, filling.dtype)
            assert cells == list(part.kept), (lane.letter, step)
    # Once it rests, it is said, and it is in the address.
    expect(page.locator(".now")).to_contain_text("20 of 32 tokens")
    expect(page.locator(".now")).to_contain_text("8 of 20 tokens kept (13–20), 32 KiB")
    settled(page)
    assert "heads_step=20" in page.url
    # It plays to the end without a mouse.
    page.locator(".play").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".play")).to_have_text(text.PLAYER["pause"].en)
    expect(page.locator(".play")).to_have_text(text.PLAYER["again"].en, timeout=10_000)
    page.locator(".scrub").focus()
    page.keyboard.press("ArrowLeft")
    assert state(page)["step"] == 31


def test_the_arrow_keys_change_the_sharing(open_page: OpenPage) -> None:
    page = open_page("/heads?lang=ja&model=Qwen/Qwen3-32B&gpu=h200&gpus=2", phone=True, locale="ja")
    boxes = page.locator("[data-name^=kv]")
    expect(boxes).to_have_count(8)
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    expect(boxes).to_have_count(16)
    settled(page)
    assert page.locator("[data-name^=q]").count() == 64
    expect(page).to_have_url(re.compile("heads_kv=16"))
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_text(text.BACK("ja", heads="8 · GQA")).click()
    expect(boxes).to_have_count(8)
