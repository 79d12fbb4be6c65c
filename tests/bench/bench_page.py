"""What the page costs over a bare Streamlit page of as many widgets and charts: by one browser, and by ten visitors.

Both pages are served at the same time, with the same settings, and asked in turn, so that what else the machine does
meets both. Milliseconds say something about the machine; the ratio says something about kvviz.
"""

import asyncio
import contextlib
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

from tests.bench.twin import CHOSEN, TYPED, counted, twin
from tests.browser.harness import DESKTOP, STREAMLIT_RUN, Server, find_browser, serve

TURNS = 20
"""Numbers typed in the browser, on each page; an option is chosen at every second."""
VISITORS = 10
THINKS_S = 2.0
"""Between two changes of a visitor, from one start to the next, give or take a quarter."""
ROUND_S = 5.0
ROUNDS = 2
"""Of all visitors, on each page."""

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
        rows.append((f"{VISITORS} visitors, send → script finished", asyncio.run(visitors(both))))
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
        bare = Path(folder, "bare.py")
        bare.write_text(script, encoding="utf-8")
        command = tuple(str(bare) if part == "app.py" else part for part in STREAMLIT_RUN)
        with serve(Path(folder, "kvviz.log")) as ours, serve(Path(folder, "bare.log"), command) as other:
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
_OPENED = """() => document.querySelectorAll('[role="figure"] .main-svg').length
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
        pages = [_open(browser, server) for server in both]
        for page in pages:
            page.wait_for_function(_OPENED, polling=100)
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


def _open(browser: Browser, server: Server) -> Page:
    width, height = DESKTOP
    page = browser.new_context(locale="en-US", viewport={"width": width, "height": height}).new_page()
    page.goto(server.url, wait_until="commit")
    return page


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


# --- ten visitors ----------------------------------------------------------------------------------------------------


async def visitors(both: Pair) -> Taken:
    """All visitors change the text box every two seconds: on one page, then on the other, and again."""
    taken: Taken = ([], [])
    values = itertools.count(10_000)
    async with contextlib.AsyncExitStack() as stack:
        rooms = [[await stack.enter_async_context(_visit(server)) for _ in range(VISITORS)] for server in both]
        for _ in range(ROUNDS):
            for number, room in enumerate(rooms):
                acts = (visitor.act(values, seed) for seed, visitor in enumerate(room))
                for milliseconds in await asyncio.gather(*acts):
                    taken[number].extend(milliseconds)
    return taken


class _Visitor:
    """Speaks Streamlit's protocol as the browser does: all widgets' states go with every change."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.states: dict[str, WidgetState] = {}
        self.typed = ""
        self.page = ""

    async def run(self) -> float:
        """Ask for a run; milliseconds until it has finished."""
        message = BackMsg(rerun_script=ClientState(query_string="lang=en", page_script_hash=self.page))
        message.rerun_script.widget_states.widgets.extend(self.states.values())
        begun = time.perf_counter()
        await self.connection.send(message.SerializeToString())
        while True:
            frame = await self.connection.recv(decode=False)
            answer = ForwardMsg.FromString(frame)
            match answer.WhichOneof("type"):
                case "script_finished":
                    if answer.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
                        raise RuntimeError("A run did not finish.")
                    return (time.perf_counter() - begun) * 1000
                case "new_session":
                    self.page = answer.new_session.page_script_hash
                case "delta" if not self.typed:
                    self._learn(answer.delta)
        raise AssertionError

    def _learn(self, delta: Delta) -> None:
        """Remember a widget and what it shows."""
        element = delta.new_element
        match element.WhichOneof("type"):
            case "text_input":
                box = element.text_input
                shown = box.value if box.set_value else box.default
                self.states[box.id] = WidgetState(id=box.id, string_value=shown)
            case "selectbox":
                choice = element.selectbox
                shown = choice.raw_value if choice.set_value else choice.options[choice.default]
                self.states[choice.id] = WidgetState(id=choice.id, string_value=shown)

    async def act(self, values: Iterator[int], seed: int) -> list[float]:
        """Type another number again and again until the round is over."""
        pause = random.Random(seed)  # noqa: S311
        over = time.perf_counter() + ROUND_S
        await asyncio.sleep(pause.uniform(0, THINKS_S))
        taken = []
        while (begun := time.perf_counter()) < over:
            self.states[self.typed].string_value = str(next(values))
            taken.append(await self.run())
            await asyncio.sleep(begun + THINKS_S * pause.uniform(0.75, 1.25) - time.perf_counter())
        return taken


@contextlib.asynccontextmanager
async def _visit(server: Server) -> AsyncIterator[_Visitor]:
    address = server.url.replace("http:", "ws:", 1) + "/_stcore/stream"
    async with connect(address, subprotocols=["streamlit"], origin=server.url, proxy=None, max_size=None) as connection:
        visitor = _Visitor(connection)
        await visitor.run()
        visitor.typed = next(name for name in visitor.states if name.endswith(f"-{TYPED}"))
        yield visitor


if __name__ == "__main__":
    main()
