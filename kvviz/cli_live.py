"""``kvviz live``: one run in this process, measured beside the prediction.

The check of a GPU, in under three minutes:
``python -m kvviz live --device cuda --seconds 120 --json > recording.json``.

What runs models is imported when a run is asked for: the other commands start at once.
"""

import argparse
import os
import signal
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from kvviz.core.errors import KvvizError
from kvviz.core.units import format_bytes, format_count
from kvviz.scenario import shown as one_line
from kvviz.text import Lang, Message
from kvviz.text import cli as cli_text
from kvviz.text import live as text

if TYPE_CHECKING:
    from kvviz.live.recording import Recording
    from kvviz.live.request import LiveRequest
    from kvviz.live.sample import Sample, Started

SUMMARY: Final = text.SUMMARY_OF_COMMAND
JSON_MEANS: Final = text.JSON_MEANS
_MAX_TOKENS: Final = 1 << 20
_MAX_BATCH: Final = 1024
_MAX_SECONDS: Final = 86_400
_ROWS: Final = 8
_SIGNALLED: Final = 128


def add_flags(command: argparse.ArgumentParser, lang: Lang) -> None:
    """The flags of ``live``, with what may be given and what is taken where nothing is."""
    from kvviz.live.request import DTYPES, LiveRequest
    from kvviz.live.runs import caches_here
    from kvviz.live.settings import DEVICES

    choices = {"device": DEVICES, "dtype": DTYPES, "cache": caches_here()}
    usual = LiveRequest()
    defaults = {name: getattr(usual, name) for name in ("prompt_tokens", "device", "dtype", "batch", "cache")}
    defaults |= {"tokens": usual.new_tokens, "reserve_tokens": usual.reserve_tokens, "seconds": _MAX_SECONDS}
    for name, means in text.FLAGS.items():
        what = means(lang)
        if name in choices:
            what = cli_text.ONE_OF(lang, help=what, choices=", ".join(choices[name]))
        if name in defaults:
            what = cli_text.DEFAULT(lang, help=what, value=defaults[name])
        command.add_argument("--" + name.replace("_", "-"), dest=name, metavar="X", help=what.replace("%", "%%"))


@dataclass(slots=True)
class _Signalled:
    """A run that can be told to stop by a signal."""

    by: int = 0
    """The signal; 0: none came."""
    steps: int = 0
    """That were about to be taken when the run asked whether to stop."""

    def is_to_stop(self) -> bool:
        """Asked by the run before every step."""
        self.steps += 1
        return bool(self.by)


@contextmanager
def _signalled() -> Iterator[_Signalled]:
    """Ctrl-C, or being asked to end, stops the run after its step: what was measured is worth having. Where nothing was
    yet, and the second time, the process ends at once."""
    run = _Signalled()
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM)
        if (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }
    if threading.current_thread() is not threading.main_thread():  # only there are signals heard
        before = {}

    def stop(number: int, _: FrameType | None) -> None:
        signal.signal(number, before[signal.Signals(number)])
        if run.steps > 1:
            run.by = number
        else:
            signal.raise_signal(number)

    for number in before:
        signal.signal(number, stop)
    try:
        yield run
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def live(options: argparse.Namespace, lang: Lang, say: Callable[[str], None]) -> int:
    """Run, and say what came of it. The exit code: 0, or 128 and the signal that stopped the run. Raises KvvizError."""
    from kvviz.live.recording import written
    from kvviz.live.runs import not_installed

    if missing := not_installed():
        raise missing
    request, seconds = _request(options)
    with _signalled() as run:
        recording = record(request, seconds, stop=run.is_to_stop)
        # Also while it is written: half a file is none.
        say(written(recording) if options.json else "\n".join(_report(recording, lang)))
    return _SIGNALLED + run.by if run.by else 0


def record(request: "LiveRequest", max_seconds: int, *, stop: Callable[[], bool] = lambda: False) -> "Recording":
    """One run from its beginning to its end, or until it is told to stop. Raises KvvizError."""
    from kvviz.live.settings import NO_TOKEN
    from kvviz.live.worker import QUIET

    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    os.environ.update(NO_TOKEN)
    from kvviz.live.loop import run
    from kvviz.live.measure import is_out_of_memory
    from kvviz.live.model import load, use_threads
    from kvviz.live.recording import recording_of
    from kvviz.live.sample import Ended, Sample, Started
    from kvviz.live.settings import read_settings

    use_threads(read_settings().threads)
    samples: list[Sample] = []
    started, ended = None, None
    try:
        loaded = load(request.model, device=request.device, dtype=request.dtype)
        for event in run(loaded, request, max_tokens=_MAX_TOKENS, max_seconds=max_seconds, cancelled=stop):
            match event:
                case Started():
                    started = event
                case Sample():
                    samples.append(event)
                case Ended():
                    ended = event
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        tokens = samples[-1].tokens if samples else 0
        raise KvvizError(Message(text.OUT_OF_MEMORY, {"tokens": tokens}), code="out-of-memory") from None
    if started is None or ended is None:
        raise AssertionError("a run begins and ends")
    return recording_of(started, samples, ended)


def _request(options: argparse.Namespace) -> "tuple[LiveRequest, int]":
    """Whoever types the command is the operator: bounds are those of sanity."""
    from kvviz import catalogue
    from kvviz.live.request import LiveRequest, checked, is_id
    from kvviz.live.settings import read_settings, whole_number

    def number(name: str, default: int, low: int, high: int) -> int:
        given = getattr(options, name)
        return whole_number(name, default if given is None else given, low, high)

    usual = LiveRequest()
    model = options.model or ""
    if is_id(model) and model not in catalogue.models() and Path(model).exists():
        model = f"./{model}"
    if model and not is_id(model):
        _must_be_there(options.model)
    seconds = number("seconds", _MAX_SECONDS, 1, _MAX_SECONDS)
    request = LiveRequest(
        model=model,
        cache=options.cache or usual.cache,
        dtype=options.dtype or usual.dtype,
        device=options.device or usual.device,
        batch=number("batch", usual.batch, 1, _MAX_BATCH),
        prompt=usual.prompt if options.prompt is None else options.prompt,
        prompt_tokens=number("prompt_tokens", usual.prompt_tokens, 0, _MAX_TOKENS),
        new_tokens=number("tokens", usual.new_tokens, 1, _MAX_TOKENS),
        reserve_tokens=number("reserve_tokens", usual.reserve_tokens, 0, _MAX_TOKENS),
    )
    allowed = replace(read_settings(), max_tokens=_MAX_TOKENS, max_batch=_MAX_BATCH)
    return checked(request, allowed, visitor=False), seconds


def _must_be_there(model: str) -> None:
    """Said with the path as it was typed: whoever typed it knows this machine's folders."""
    path = Path(model).expanduser()
    try:
        is_model = (path / "config.json").is_file() or (path.suffix == ".gguf" and path.is_file())
        why = None if is_model else text.NO_MODEL_THERE if path.exists() else text.NO_SUCH_PLACE
    except (OSError, ValueError):  # a name too long, or with a zero byte
        why = text.NO_SUCH_PLACE
    if why is not None:
        raise KvvizError(Message(why, {"path": one_line(model)}), code="no-model")


def _report(recording: "Recording", lang: Lang) -> Iterator[str]:
    started, last = recording.started, recording.samples[-1] if recording.samples else None
    yield text.LOADED(
        lang,
        model=started.model,
        layers=started.layers,
        dtype=started.dtype,
        device=started.device,
        cache=started.cache,
        prompt=format_count(started.prompt_tokens),
        batch=started.batch,
    )
    if started.why_random:
        yield text.WHY_RANDOM[started.why_random](lang, model=started.model)
    if said := "".join(s.text for s in recording.samples).strip():
        yield from ("", said)
    if last is None:
        return
    yield ""
    yield from _table(recording.samples, lang)
    yield ""
    yield _result(started, recording.samples, lang)
    if last.rounding_bytes is not None:
        yield text.ROUNDING(lang, bytes=format_count(last.rounding_bytes))
    if recording.ended.stopped in text.STOPPED:
        values = {"done": format_count(len(recording.samples)), "all": format_count(started.new_tokens)}
        yield text.STOPPED[recording.ended.stopped](lang, seconds=f"{recording.ended.seconds:.1f}", **values)


def _result(started: "Started", samples: "tuple[Sample, ...]", lang: Lang) -> str:
    from kvviz.live.sample import speed

    last, tokens_per_s = samples[-1], speed(samples)
    values = {
        "measured": format_bytes(last.measured_bytes),
        "speed": "-" if tokens_per_s is None else f"{tokens_per_s:.1f}",
    }
    if last.predicted_bytes is None or last.residual_bytes is None:
        why = (started.why_not_predicted or {}).get(lang, text.NOT_PREDICTED(lang))
        return text.ONLY_MEASURED(lang, why=why, **values)
    predicted = format_bytes(last.predicted_bytes)
    return text.RESIDUAL(lang, bytes=format_count(last.residual_bytes), predicted=predicted, **values)


def _table(samples: "tuple[Sample, ...]", lang: Lang) -> Iterator[str]:
    """A few rows, the first and the last among them."""
    step = max(1, (len(samples) - 1) // _ROWS)
    chosen = [*samples[:-1:step], samples[-1]]
    rows = [[column(lang) for column in text.COLUMNS]]
    for sample in chosen:
        known = (sample.predicted_bytes, sample.measured_bytes, sample.residual_bytes)
        figures = ["-" if n is None else format_count(n) for n in known]
        rows.append([format_count(sample.tokens), *figures, f"{sample.seconds * 1000:.1f}"])
    widths = [max(_columns(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(" " * (width - _columns(cell)) + cell for cell, width in zip(row, widths, strict=True))


def _columns(line: str) -> int:
    """Columns of a terminal: kanji and kana take two."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line)
