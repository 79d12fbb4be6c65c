"""Runs as files, and the one that ships with the app."""

import json
from pathlib import Path
from statistics import median
from typing import Literal

import pytest

import kvviz
from kvviz.core.errors import KvvizError
from kvviz.live.loop import run
from kvviz.live.model import Loaded
from kvviz.live.recording import Recording, as_csv, bundled, read_recording, written
from kvviz.live.request import LiveRequest
from kvviz.live.sample import Ended, Sample, Started, speed, summary

DATA = Path(kvviz.__file__).parent / "data"
NAMES = {"dynamic": "live_recording.json", "none": "live_recording_no_cache.json"}


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


@pytest.mark.parametrize("cache", ["dynamic", "none"])
def test_the_recordings_that_ship(cache: Literal["dynamic", "none"]) -> None:
    shipped = bundled(cache=cache)
    assert shipped.started.cache == cache
    assert shipped.recorded >= "2026-11-29"
    assert shipped.started.versions["transformers"]
    assert shipped.started.versions["torch"]
    assert shipped.started.device.startswith("cpu")
    assert len(shipped.samples) == 300
    assert {s.residual_bytes for s in shipped.samples} == {0}
    per_token = {"dynamic": 2 * 30 * 3 * 64 * 2, "none": 0}[cache]  # K and V, layers, KV heads, head size, bytes
    assert [s.measured_bytes for s in shipped.samples] == [per_token * s.tokens for s in shipped.samples]
    assert shipped.started.why_random == ""
    assert written(shipped) + "\n" == (DATA / NAMES[cache]).read_text(encoding="utf-8")
    assert (DATA / NAMES[cache]).stat().st_size < 120_000


def test_the_recordings_tell_what_a_cache_is_for() -> None:
    """Steps without a cache take longer and longer; those with one do not."""
    kept, redone = bundled(), bundled(cache="none")
    assert kept.started.prompt_tokens == redone.started.prompt_tokens
    said, said_again = ("".join(s.text for s in r.samples) for r in (kept, redone))
    assert said[:100] == said_again[:100]  # further on, the rounding of bf16 parts them
    fast, slow = speed(kept.samples), speed(redone.samples)
    assert fast is not None
    assert slow is not None
    assert fast > 1.5 * slow

    def growth(recording: Recording) -> float:
        first, last = recording.samples[1:60], recording.samples[-59:]
        return median(s.seconds for s in last) / median(s.seconds for s in first)

    assert growth(redone) > 1.5 * growth(kept)
