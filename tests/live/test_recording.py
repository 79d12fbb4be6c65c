"""Runs as files, and the one that ships with the app."""

import json
from pathlib import Path

import pytest

import kvviz
from kvviz.core.errors import KvvizError
from kvviz.live.loop import run
from kvviz.live.model import Loaded
from kvviz.live.recording import Recording, as_csv, bundled, read_recording, written
from kvviz.live.request import LiveRequest
from kvviz.live.sample import Ended, Sample, Started, speed, summary

SHIPPED = Path(kvviz.__file__).parent / "data" / "live_recording.json"


@pytest.fixture(scope="module")
def recording(gqa: Loaded) -> Recording:
    started, *samples, ended = run(gqa, LiveRequest(new_tokens=6, prompt_tokens=9), max_tokens=99, max_seconds=99)
    assert isinstance(started, Started)
    assert isinstance(ended, Ended)
    kept = tuple(s for s in samples if isinstance(s, Sample))
    return Recording(recorded="2026-11-30", started=started, samples=kept, ended=ended)


def test_written_is_read(recording: Recording) -> None:
    again = read_recording(written(recording), name="x")
    assert written(again) == written(recording)
    assert again.samples[3].tokens == 12
    assert again.samples[3].memory == recording.samples[3].memory
    assert again.started.predicted_bytes == recording.started.predicted_bytes


def test_the_contract(recording: Recording) -> None:
    whole = json.loads(written(recording))
    assert whole["kvviz"] == kvviz.__version__
    assert {"predicted_bytes", "measured_bytes", "residual_bytes", "device", "model", "versions"} <= set(
        whole["summary"]
    )
    assert whole["summary"]["measured_bytes"] == whole["summary"]["predicted_bytes"] == 14 * 192
    assert whole["summary"]["residual_bytes"] == whole["summary"]["largest_residual_bytes"] == 0
    assert [s["tokens"] for s in whole["samples"]] == [9, 10, 11, 12, 13, 14]
    assert {s["residual_bytes"] for s in whole["samples"]} == {0}


def test_a_residual_in_between_is_not_hidden(recording: Recording) -> None:
    from dataclasses import replace

    odd = replace(recording.samples[2], measured_bytes=recording.samples[2].measured_bytes - 7)
    samples = (*recording.samples[:2], odd, *recording.samples[3:])
    figures = summary(recording.started, samples, recording.ended)
    assert (figures["residual_bytes"], figures["largest_residual_bytes"]) == (0, -7)


def test_a_table(recording: Recording) -> None:
    lines = as_csv(recording.samples).splitlines()
    assert lines[0].startswith("tokens,new_tokens,predicted_bytes,measured_bytes,residual_bytes")
    assert len(lines) == 7
    assert lines[1].startswith("9,1,1728,1728,0,,0,,")


@pytest.mark.parametrize(
    "raw", ["", "[]", "{}", '{"recorded": "2026-11-30", "started": {}, "samples": [], "ended": {}}']
)
def test_what_is_no_recording_says_so(raw: str) -> None:
    with pytest.raises(KvvizError, match="not a recording"):
        read_recording(raw, name="mine.json")


def test_the_recording_that_ships() -> None:
    shipped = bundled()
    assert shipped.recorded >= "2026-11-29"
    assert shipped.started.versions["transformers"]
    assert shipped.started.versions["torch"]
    assert shipped.started.device.startswith("cpu")
    assert len(shipped.samples) == 300
    assert {s.residual_bytes for s in shipped.samples} == {0}
    per_token = shipped.samples[-1].measured_bytes / shipped.samples[-1].tokens
    assert per_token == 2 * 30 * 3 * 64 * 2  # K and V, layers, KV heads, head size, bytes of bf16
    assert "".join(s.text for s in shipped.samples).isprintable() or len(shipped.samples[0].text) >= 0
    assert speed(shipped.samples)
    assert SHIPPED.stat().st_size < 150_000
