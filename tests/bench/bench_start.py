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
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.bench.twin import bare_app, opened, twin
from tests.browser.harness import ROOT, STREAMLIT_RUN, find_browser, serve
from tests.load.visitor import PLACES, visiting

TURNS = 5
"""Starts of each app; each after one that is not counted."""
BARE = ("streamlit", "plotly", "huggingface_hub")
"""What kvviz is installed beside."""


def main() -> None:
    """Print a table."""
    with tempfile.TemporaryDirectory() as folder:
        bare = bare_app(Path(folder), {"": twin()})
        commands = [STREAMLIT_RUN, bare]
        log = Path(folder, "log")
        taken = _by_turns([partial(_first_run, command, log) for command in commands])
        with sync_playwright() as playwright:
            browser = find_browser(playwright)
            drawn = _by_turns([partial(_drawn, command, log, browser) for command in commands])
            browser.close()
    print("| milliseconds from the command, median | kvviz | bare Streamlit | ratio (goal ≤ 1.3) |")
    print("|---|--:|--:|--:|")
    names = ("server answers", "first page has run", "first page is drawn in a browser")
    for name, (ours, floor) in zip(names, [*taken, *drawn], strict=True):
        print(f"| {name} | {ours:.0f} | {floor:.0f} | {ours / floor:.2f} |")


def _by_turns(both: Sequence[Callable[[], list[float]]]) -> list[list[float]]:
    """Medians of each number that is measured, of one app and of the other."""
    found = [[start() for start in both] for _ in range(TURNS + 1)][1:]  # the first writes bytecode
    return [
        [statistics.median(turn[app][number] for turn in found) for app in range(len(both))]
        for number in range(len(found[0][0]))
    ]


def _first_run(command: tuple[str, ...], log: Path) -> list[float]:
    """Milliseconds until the server answers, and until a page has run for a first visitor."""
    begun = time.perf_counter()
    with serve(log, command) as server:
        ready = time.perf_counter()
        asyncio.run(_visit(server.url))
        return [1000 * (ready - begun), 1000 * (time.perf_counter() - begun)]


def _drawn(command: tuple[str, ...], log: Path, browser: Browser) -> list[float]:
    """Milliseconds until a browser that has never been there shows the page at rest."""
    begun = time.perf_counter()
    with serve(log, command) as server:
        page = opened(browser, server)
        taken = 1000 * (time.perf_counter() - begun)
        page.context.close()
        return [taken]


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
