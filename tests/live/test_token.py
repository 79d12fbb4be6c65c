"""The token of the machine that runs kvviz is nobody's: the Hub is asked for models as anybody would."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kvviz.live import runs
from kvviz.live.request import LiveRequest
from tests.hub.standin import StandIn, stand_in

MODEL = "new-owner/renamed"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A Hub, and a token in both places where its client looks for one."""
    with stand_in() as running:
        (tmp_path / "token").write_text("hf_theTokenFile")
        monkeypatch.setenv("HF_HOME", str(tmp_path))
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.setenv("HF_TOKEN", "hf_theServersOwnToken")
        monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield running


def asked_for_weights_as_anybody(hub: StandIn) -> bool:
    assert any("model.safetensors" in request.path for request in hub.requests)
    return not any("authorization" in request.headers for request in hub.requests)


def test_the_command_does_not_send_it(hub: StandIn) -> None:
    command = [sys.executable, "-m", "kvviz", "live", "--model", MODEL, "--device", "cpu"]
    subprocess.run(command, env=dict(os.environ), capture_output=True, check=False, timeout=120)
    assert asked_for_weights_as_anybody(hub)


def test_the_process_that_runs_models_does_not_send_it(hub: StandIn) -> None:
    worker = runs._Worker()
    asked = LiveRequest(model=MODEL, device="cpu").json()
    worker.send({"id": 1, "run": asked, "max_tokens": 9, "max_seconds": 9, "threads": 1})
    until, events = time.monotonic() + 120, [""]
    while events[-1] != "failed" and time.monotonic() < until:
        events += [said["event"] for said in [worker.read(0.2)] if said is not None]
    worker.end()
    assert asked_for_weights_as_anybody(hub)
