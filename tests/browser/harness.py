"""Drives the real app in a real browser: start it, find a Chromium, wait until a page stands still, picture it."""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, WebSocket
from playwright.sync_api import Error as PlaywrightError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = Path(__file__).parent / "screenshots"

PATHS = ("/review", "/", "/compare", "/check-log", "/heads", "/blocks", "/prefixes", "/live", "/learn", "/workshop")
"""Every page; the first is the one that no menu leads to."""

DESKTOP = (1280, 900)
PHONE = (390, 844)

OPPOSITES = pytest.mark.parametrize(("lang", "phone"), [("en", False), ("ja", True)], ids=["en-desktop", "ja-phone"])
"""The two ends of how a page is seen, light and dark: what holds at both holds between, at a fourth of the time."""


# --- the app ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The app, running as a process of its own."""

    url: str
    """Where it answers, without a trailing slash."""
    log: Path
    """What it prints."""
    pid: int

    def get(self, path: str) -> http.client.HTTPResponse:
        """One plain request; proxies the environment may name are not asked."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=10)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            response.read()
            return response
        finally:
            connection.close()


STREAMLIT_RUN = ("streamlit", "run", "app.py", "--server.headless", "true")
"""As in the README, but without opening a browser window."""


@contextlib.contextmanager
def serve(
    log: Path, command: tuple[str, ...] = STREAMLIT_RUN, port_flag: str = "--server.port", *, port: int | None = None
) -> Iterator[Server]:
    """Start the app on a free port, or this one, wait until it is healthy, stop it and all it started at the end."""
    if port is None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STREAMLIT_")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *command, port_flag, str(port)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(url=f"http://127.0.0.1:{port}", log=log, pid=process.pid)
    try:
        _wait_until_healthy(server, process)
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_until_healthy(server: Server, process: subprocess.Popen[bytes], patience_s: float = 60) -> None:
    give_up_at = time.monotonic() + patience_s
    while time.monotonic() < give_up_at:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError, http.client.HTTPException):
            if server.get("/_stcore/health").status == 200:
                return
        time.sleep(0.1)
    pytest.fail(f"The app did not start:\n{server.log.read_text(errors='replace')}", pytrace=False)


# --- the browser -----------------------------------------------------------------------------------------------------

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # What a page asks of another machine is recorded, and goes nowhere.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
_ON_PATH = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_NO_BROWSER = (
    "The browser tests need Chrome or Chromium: install one (for example `apt-get install chromium`, or `python -m "
    "playwright install --with-deps chromium`), or name it in KVVIZ_BROWSER; `-m 'not browser'` leaves them out."
)


def find_browser(playwright: Playwright) -> Browser:
    """A running Chrome or Chromium: the one named, the system's, Playwright's own; where there is none, get one."""
    if named := os.environ.get("KVVIZ_BROWSER"):
        return playwright.chromium.launch(executable_path=named, args=_FLAGS)
    tries = [lambda: None, _install_with_playwright, _install_with_apt]
    for prepare in tries:
        prepare()
        for executable in [*filter(None, map(shutil.which, _ON_PATH)), None]:  # None: Playwright's own
            with contextlib.suppress(PlaywrightError):
                return playwright.chromium.launch(executable_path=executable, args=_FLAGS)
    pytest.fail(_NO_BROWSER, pytrace=False)


def _install_with_playwright() -> None:
    _try_to_run([sys.executable, "-m", "playwright", "install", "chromium"])


def _install_with_apt() -> None:
    """With a Japanese font, so that the pictures of Japanese pages can be read."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        _try_to_run(["apt-get", "update"])
        _try_to_run(["apt-get", "install", "--yes", "chromium", "fonts-noto-cjk"])


def _try_to_run(command: list[str]) -> None:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            command,
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=600,
            check=False,
        )


# --- one page --------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)  # without slots: Playwright keeps a note of its own on whoever listens
class Watch:
    """What one page did: its script runs, its requests, its complaints."""

    home: str
    """The server's address; the only one a page may ask."""
    running: bool = True
    """A run was asked for and has not finished; a page that opens asks for one."""
    last_change_s: float = field(default_factory=time.monotonic)
    """When that last changed."""
    abroad: list[str] = field(default_factory=list)
    """Requests that left the machine."""
    complaints: list[str] = field(default_factory=list)
    """Errors in the console, and uncaught exceptions."""

    def attach(self, page: Page) -> None:
        """Begin to listen; before the page's first request."""
        page.context.on("request", lambda request: self._on_request(request.url))
        page.on("websocket", self._on_websocket)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))

    def _on_request(self, url: str) -> None:
        if not url.startswith((f"{self.home}/", "data:", "blob:")):
            self.abroad.append(url)

    def _on_websocket(self, socket: WebSocket) -> None:
        self._on_request(socket.url.replace("ws:", "http:", 1))
        socket.on("framesent", self._on_sent)
        socket.on("framereceived", self._on_received)

    def _on_sent(self, frame: bytes | str) -> None:
        if isinstance(frame, bytes) and BackMsg.FromString(frame).HasField("rerun_script"):
            self._set_running(True)

    def _on_received(self, frame: bytes | str) -> None:
        if not isinstance(frame, bytes):
            return
        message = ForwardMsg.FromString(frame)
        if message.HasField("new_session"):
            self._set_running(True)
        elif message.HasField("script_finished"):
            self._set_running(message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN)

    def _set_running(self, running: bool) -> None:
        self.running, self.last_change_s = running, time.monotonic()

    def _on_console(self, message: ConsoleMessage) -> None:
        # A page opened by its own address looks for the server beside itself first, and does not find it there.
        known = message.location["url"].endswith(("/_stcore/health", "/_stcore/host-config")) and "404" in message.text
        if message.type == "error" and not known:
            self.complaints.append(message.text)


WATCHES: dict[Page, Watch] = {}
"""Every page that is open."""

_STANDS_STILL = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    return app?.dataset.testScriptState === 'notRunning'
        && app.dataset.testConnectionState === 'CONNECTED'
        && !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"], [data-testid="stSpinner"]');
}"""
_QUIET_S = 0.25
"""Longer than a widget waits before it sends what was typed into it."""


def settled(page: Page, patience_s: float = 30) -> Page:
    """Wait until every run that was asked for has finished and is drawn; returns the page."""
    watch = WATCHES[page]
    asked_at = time.monotonic()
    while time.monotonic() < asked_at + patience_s:
        quiet_since = max(watch.last_change_s, asked_at)
        if not watch.running and time.monotonic() > quiet_since + _QUIET_S and page.evaluate(_STANDS_STILL):
            return page
        page.wait_for_timeout(25)  # not time.sleep: it is here that Playwright hands over what happened
    screenshot(page, "not-settled")
    raise AssertionError(f"The page was still busy after {patience_s:g} s: {page.url}")


def screenshot(page: Page, name: str, *, whole: bool = False) -> Path:
    """What is in sight (with ``whole``, also what one would scroll to), as a picture in tests/browser/screenshots."""
    path = SCREENSHOTS / f"{name}.png"
    in_sight = page.viewport_size
    if whole and in_sight:
        # Streamlit scrolls inside the window, so that Playwright's full_page would see no more than the window does.
        height = page.get_by_test_id("stMain").evaluate("main => main.scrollHeight")
        page.set_viewport_size({"width": in_sight["width"], "height": max(in_sight["height"], height)})
        settled(page)
    page.screenshot(path=path)
    if whole and in_sight:
        page.set_viewport_size(in_sight)
    return path


def go_to(page: Page, group: str, name: str) -> None:
    """Open another page by the menu at the top."""
    page.get_by_test_id("stTopNavSection").filter(has_text=group).click()
    page.get_by_test_id("stTopNavDropdownLink").filter(has_text=name).click()
    settled(page)
