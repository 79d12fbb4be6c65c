"""Small models to run."""

from pathlib import Path

import pytest

from kvviz.live.model import Loaded, load
from tests.live import tiny


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
