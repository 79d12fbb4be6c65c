"""Running a small model and measuring its cache beside the prediction.

A page uses ``start`` and the ``Run`` it returns; nothing of what is imported here imports torch, which lives in a
process of its own (``worker``). What an operator may set is listed in ``settings``.
"""

from kvviz.live.figures import QUOTED, Gain, Part, elapsed_s, gain, ledger, most_temporary_bytes
from kvviz.live.recording import Recording, as_csv, bundled, read_recording, recording_of, written
from kvviz.live.request import CACHES, DEFAULT_MODEL, DTYPES, PROMPT, CacheKind, LiveRequest, choices, shown
from kvviz.live.runs import ENABLE, Progress, Run, caches_here, start, unavailable
from kvviz.live.sample import Ended, Failure, Memory, Sample, Started, speed, summary
from kvviz.live.settings import VARIABLES, Settings, read_settings

__all__ = [
    "CACHES",
    "DEFAULT_MODEL",
    "DTYPES",
    "ENABLE",
    "PROMPT",
    "QUOTED",
    "VARIABLES",
    "CacheKind",
    "Ended",
    "Failure",
    "Gain",
    "LiveRequest",
    "Memory",
    "Part",
    "Progress",
    "Recording",
    "Run",
    "Sample",
    "Settings",
    "Started",
    "as_csv",
    "bundled",
    "caches_here",
    "choices",
    "elapsed_s",
    "gain",
    "ledger",
    "most_temporary_bytes",
    "read_recording",
    "read_settings",
    "recording_of",
    "shown",
    "speed",
    "start",
    "summary",
    "unavailable",
    "written",
]
