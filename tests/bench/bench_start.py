"""How long it takes until the page can be used, until the command line answers, and what an install takes on disk.

Both apps are started alike, by turns, as processes; the first page is opened over a websocket, or by a browser.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.bench.twin import bare_app, twin
from tests.browser.harness import DESKTOP, ROOT, STREAMLIT_RUN, find_browser, serve
from tests.load.visitor import PLACES, visiting

TURNS = 5
BARE = ("streamlit", "plotly", "huggingface_hub")
"""What kvviz is installed beside."""
_DRAWN = """() => document.querySelectorAll('[role="figure"] .main-svg').length
    && document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'"""


def main() -> None:
    """Print a table."""
    started: dict[str, list[list[float]]] = {"server ready": [[], []], "… and the first run": [[], []]}
    drawn = "… and drawn in a browser"
    started[drawn] = [[], []]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = find_browser(playwright)
        bare = bare_app(Path(folder), {"": twin()})
        commands = [STREAMLIT_RUN, tuple(str(bare) if part == "app.py" else part for part in STREAMLIT_RUN)]
        for turn in range(-1, TURNS):  # the first writes bytecode
            for number, command in enumerate(commands):
                taken = _start(command, Path(folder, "log"), browser)
                for name, milliseconds in zip(started, taken, strict=True):
                    if turn >= 0:
                        started[name][number].append(milliseconds)
        browser.close()
    print("| milliseconds, median | kvviz | bare Streamlit | ratio (goal ≤ 1.3) |")
    print("|---|--:|--:|--:|")
    for name, (ours, other) in started.items():
        median, floor = statistics.median(ours), statistics.median(other)
        print(f"| {name} | {median:.0f} | {floor:.0f} | {median / floor:.2f} |")


def _start(command: tuple[str, ...], log: Path, browser: Browser) -> list[float]:
    """Milliseconds from the command until the server answers, until a first run, and until a browser shows it."""
    begun = time.perf_counter()
    with serve(log, command) as server:
        taken = [1000 * (time.perf_counter() - begun)]
        asyncio.run(_visit(server.url))
        taken.append(1000 * (time.perf_counter() - begun))
    begun = time.perf_counter()
    with serve(log, command) as server:
        width, height = DESKTOP
        page = browser.new_context(locale="en-US", viewport={"width": width, "height": height}).new_page()
        page.goto(server.url, wait_until="commit")
        page.wait_for_function(_DRAWN, polling=50)
        taken.append(1000 * (time.perf_counter() - begun))
        page.context.close()
    return taken


async def _visit(url: str) -> None:
    async with visiting(url, PLACES["sizing"]):
        pass


def install() -> None:
    """Install kvviz, and what it stands on, in two environments of their own, and print what they take."""
    with tempfile.TemporaryDirectory() as folder:
        ours = _installed(Path(folder, "kvviz"), [str(ROOT)])
        bare = _installed(Path(folder, "bare"), list(BARE))
    print(f"kvviz {ours / 1e6:.0f} MB, {' + '.join(BARE)} {bare / 1e6:.0f} MB, ratio {ours / bare:.2f} (goal ≤ 1.15)")


def _installed(folder: Path, packages: list[str]) -> int:
    """Bytes of an environment with these packages, without what it had before."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    before = _bytes_in(folder)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile"]
    subprocess.run([*pip, *packages], check=True, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    return _bytes_in(folder) - before


def _bytes_in(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
