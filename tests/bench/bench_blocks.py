"""The race of the Blocks page: how much is sent, how smoothly it plays, what a run of the page takes.

2,048 blocks and more than 300 steps, at sixty steps a second, in a headless browser that draws on the CPU. Frames are
counted while nothing plays, too: what else the machine does meets both.
"""

import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright
from streamlit.testing.v1 import AppTest

from tests.browser.harness import DESKTOP, find_browser, serve
from tests.ui.page import open_page

QUERY = {"trace": "sharegpt", "first": "300", "pool": str(2_048 * 16)}
BARE = """
import streamlit as st
st.markdown("a"); st.markdown("b"); st.caption("c"); st.button("d"); st.button("e")
for name in "fghi":
    st.expander(name)
"""
RUNS = 30
FRAMES = """() => new Promise((resolve) => {
    const begun = performance.now();
    let frames = 0;
    const count = (now) => {
        frames += 1;
        if (now - begun < 4000) requestAnimationFrame(count);
        else resolve((1000 * frames) / (now - begun));
    };
    requestAnimationFrame(count);
})"""


def main() -> None:
    """Print one line a measurement."""
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder, "log")) as server, sync_playwright() as playwright:
        browser = find_browser(playwright)
        width, height = DESKTOP
        page = browser.new_page(viewport={"width": width, "height": height})
        received: list[int] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
        page.goto(f"{server.url}/blocks?" + "&".join(f"{name}={value}" for name, value in QUERY.items()))
        page.locator(".play").wait_for()
        page.wait_for_timeout(2_000)
        page.locator(".speed").select_option("60")
        print(f"largest message {max(received):,} B (goal < 150,000)")
        for _ in range(3):
            idle = page.evaluate(FRAMES)
            page.locator(".play").click()
            playing = page.evaluate(FRAMES)
            page.locator(".play").click()
            page.wait_for_timeout(1_000)
            print(f"frames a second: {playing:.1f} while it plays (goal ≥ 55), {idle:.1f} while it does not")
        browser.close()
    ours = open_page("blocks", **QUERY)
    bare = AppTest.from_string(BARE).run()
    taken, floor = _median(ours), _median(bare)
    print(
        f"a run of the page {taken:.1f} ms, of a bare page {floor:.1f} ms, difference {taken - floor:.1f} (goal < 30)"
    )


def _median(app: AppTest) -> float:
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        app.run()
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times)


if __name__ == "__main__":
    main()
