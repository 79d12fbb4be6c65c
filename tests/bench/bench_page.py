"""What the page costs over a bare Streamlit page of as many widgets and charts, in one browser.

Both pages are served at the same time, with the same settings, and asked in turn, so that what else the machine does
meets both. Milliseconds say something about the machine; the ratio says something about kvviz.
"""

import contextlib
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.bench.twin import CHOSEN, TYPED, bare_app, counted, opened, twin
from tests.browser.harness import Server, find_browser, serve

TURNS = 20
"""Numbers typed in the browser, on each page; an option is chosen at every second."""

Pair = tuple[Server, Server]
"""kvviz and the bare page."""
Taken = tuple[list[float], list[float]]
"""Milliseconds on each."""


def main() -> None:
    """Print a table, ready for a README."""
    script = twin()
    counts = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in counted(script).items())
    rows: list[tuple[str, Taken]] = []
    with _served(script) as both:
        rows += in_browser(both)
    print(f"A bare page has as many of each: {counts}.\n")
    print("| milliseconds, median / 95 % | n | kvviz | bare Streamlit | ratio of medians | of 95 % |")
    print("|---|--:|--:|--:|--:|--:|")
    for what, (ours, bare) in rows:
        (median, late), (bare_median, bare_late) = _spread(ours), _spread(bare)
        ratios = f"**{median / bare_median:.2f}** | {late / bare_late:.2f}"
        print(f"| {what} | {len(ours)} | {median:.0f} / {late:.0f} | {bare_median:.0f} / {bare_late:.0f} | {ratios} |")


def _spread(taken: Sequence[float]) -> tuple[float, float]:
    return statistics.median(taken), statistics.quantiles(taken, n=20, method="inclusive")[-1]


@contextlib.contextmanager
def _served(script: str) -> Iterator[Pair]:
    """Both pages, each as a process of its own; both read the project's .streamlit/config.toml."""
    with tempfile.TemporaryDirectory() as folder:
        bare = bare_app(Path(folder), {"": script})
        with serve(Path(folder, "kvviz.log")) as ours, serve(Path(folder, "bare.log"), bare) as other:
            yield ours, other


# --- a browser -------------------------------------------------------------------------------------------------------

_WATCH = """() => {
    const figures = () => document.querySelectorAll('[role="figure"]');
    const last = figures().length - 1, was = figures()[last].getAttribute('aria-label');
    const seen = window.seen = { begun: null, named: null, changed: null };
    // What a person does last: Enter in a text box, a press on an option.
    const begin = (event) => { if ((event.key ?? 'Enter') === 'Enter') seen.begun ??= performance.now(); };
    const observer = new MutationObserver(() => {
        seen.changed = performance.now();
        const label = figures()[last]?.getAttribute('aria-label');
        if (label && label !== was) seen.named ??= seen.changed;
    });
    for (const type of ['keydown', 'mousedown']) document.addEventListener(type, begin, true);
    observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    seen.stop = () => {
        observer.disconnect();
        for (const type of ['keydown', 'mousedown']) document.removeEventListener(type, begin, true);
    };
}"""
_AT_REST = """() => window.seen.named && performance.now() > window.seen.changed + 150
    && document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'"""
_TIMES = """() => {
    window.seen.stop();
    return [window.seen.named - window.seen.begun, window.seen.changed - window.seen.begun];
}"""


def in_browser(both: Pair) -> list[tuple[str, Taken]]:
    """From Enter in a text box, or a press on an option, until the last chart says something else in the DOM."""
    typed: Taken = ([], [])
    rested: Taken = ([], [])
    chosen: Taken = ([], [])
    with sync_playwright() as playwright:
        browser = find_browser(playwright)
        pages = [opened(browser, server) for server in both]
        for turn in range(-1, TURNS):  # the first fills caches
            for number, page in enumerate(pages):
                named, changed = _type(page, str(6000 + 16 * turn))
                if turn >= 0:
                    typed[number].append(named)
                    rested[number].append(changed)
            for number, page in enumerate(pages if turn % 2 else ()):
                named, _ = _choose(page, ("bf16", "fp8")[turn // 2 % 2])
                if turn >= 0:
                    chosen[number].append(named)
        browser.close()
    return [
        ("text box: Enter → chart", typed),
        ("select box: press → chart", chosen),
        ("text box: Enter → nothing on the page changes any more", rested),
    ]


def _type(page: Page, value: str) -> list[float]:
    box = page.locator(f".st-key-{TYPED} input")
    box.fill(value)
    page.evaluate(_WATCH)
    box.press("Enter")
    return _times(page)


def _choose(page: Page, name: str) -> list[float]:
    page.locator(f".st-key-{CHOSEN} input").click()
    option = page.get_by_role("option", name=name, exact=True)
    option.wait_for()
    page.evaluate(_WATCH)
    option.click()
    return _times(page)


def _times(page: Page) -> list[float]:
    """Milliseconds until the chart was another, and until the page's last change."""
    page.wait_for_function(_AT_REST, polling=50)
    named, changed = page.evaluate(_TIMES)
    return [named, changed]


if __name__ == "__main__":
    main()
