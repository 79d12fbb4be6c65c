"""Runs as a page sees them: started, waiting in one line, followed, stopped. Never imports torch.

All runs of a server go through one process, one after the other: two at once would share the device and spoil each
other's figures. The process is started for the first run and ends when there was none for a while.
"""

import itertools
import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, Final, Literal

import kvviz
from kvviz.core.errors import KvvizError
from kvviz.live.request import CACHES, CacheKind, LiveRequest, checked
from kvviz.live.sample import Ended, Failure, Memory, Sample, Started, ended_from, sample_from, started_from
from kvviz.live.settings import NO_TOKEN, Settings
from kvviz.text import LANGUAGES, Message
from kvviz.text import live as text

ENABLE: Final = 'pip install -e ".[live]"'
"""The one command after which live runs work."""
_NEEDED: Final = ("torch", "transformers")
_TICK_S: Final = 0.2
_GRACE_S: Final = 5.0
"""A run that was told to stop gets so long to finish its step; then its process is ended."""
_LAST_STEP_S: Final = 30.0
"""How long the step may take during which time is up."""
_QUIET_START: Final = {"PYTHONUNBUFFERED": "1", "HF_HUB_DISABLE_TELEMETRY": "1", **NO_TOKEN}
_LOG: Final = logging.getLogger(__name__)

State = Literal["waiting", "loading", "running", "done", "cancelled", "failed"]
_OVER: Final = ("done", "cancelled", "failed")


def unavailable(allowed: Settings) -> KvvizError | None:
    """Why there are no live runs here, with the command that enables them; None where there are. Imports nothing."""
    if not allowed.on:
        return KvvizError(Message(text.SWITCHED_OFF), code="switched-off")
    return not_installed()


def not_installed() -> KvvizError | None:
    """What is missing, if anything is."""
    if all(find_spec(name) for name in _NEEDED):
        return None
    return KvvizError(Message(text.NOT_INSTALLED, {"command": ENABLE}), code="not-installed")


def caches_here() -> tuple[CacheKind, ...]:
    """Kinds of cache that can be run: the ones of 4 and 2 bits only where their back end is installed."""
    return CACHES if find_spec("optimum") else tuple(c for c in CACHES if c not in ("int4", "int2"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A run at one moment."""

    state: State
    position: int
    """Runs before this one; 0 once it is its turn."""
    started: Started | None
    samples: tuple[Sample, ...]
    ended: Ended | None
    failure: Failure | None
    memory: Memory | None
    """After a failure: what there was once everything was given back."""

    @property
    def is_over(self) -> bool:
        """True once nothing more will come."""
        return self.state in _OVER


@dataclass(slots=True, eq=False, kw_only=True)
class Run:
    """A handle. Ask it regularly (``poll``, ``samples``): a run nobody asks about is stopped."""

    number: int
    request: LiveRequest
    allowed: Settings
    _line: "Line"
    _asked: float = field(default_factory=monotonic)
    _is_told_to_stop: bool = False
    _state: State = "waiting"
    _started: Started | None = None
    _samples: list[Sample] = field(default_factory=list)
    _ended: Ended | None = None
    _failure: Failure | None = None
    _memory: Memory | None = None

    def poll(self) -> Progress:
        """How far it is; also says that somebody is still there."""
        with self._line.changed:
            self._asked = monotonic()
            return Progress(
                state=self._state,
                position=self._line.position(self),
                started=self._started,
                samples=tuple(self._samples),
                ended=self._ended,
                failure=self._failure,
                memory=self._memory,
            )

    def samples(self) -> Iterator[Sample]:
        """Samples as they come, to the end."""
        told = 0
        while True:
            with self._line.changed:
                self._asked = monotonic()
                if told == len(self._samples) and self._state not in _OVER:
                    self._line.changed.wait(_TICK_S)
                new, is_over = self._samples[told:], self._state in _OVER
            told += len(new)
            yield from new
            if is_over and not new:
                return

    def cancel(self) -> None:
        """Stop it; what was measured stays."""
        with self._line.changed:
            self._is_told_to_stop = True
            self._line.changed.notify_all()

    def wants_to_stop(self) -> bool:
        """Told to, or nobody is there any more."""
        return self._is_told_to_stop or monotonic() - self._asked > self.allowed.abandoned_s


class Line:
    """Runs that wait, and the process they wait for."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._waiting: deque[Run] = deque()
        self._current: Run | None = None
        self._thread: threading.Thread | None = None
        self._worker: _Worker | None = None
        self._numbers = itertools.count(1)

    def start(self, request: LiveRequest, allowed: Settings) -> Run:
        """A new run at the end of the line. Raises KvvizError where it may not be, or the line is too long."""
        if missing := unavailable(allowed):
            raise missing
        asked = checked(request, allowed)
        with self.changed:
            self._forget_stopped()
            if self._current is not None and len(self._waiting) >= allowed.max_waiting:
                raise KvvizError(Message(text.QUEUE_FULL, {"waiting": len(self._waiting)}), code="queue-full")
            run = Run(number=next(self._numbers), request=asked, allowed=allowed, _line=self)
            self._waiting.append(run)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="kvviz-live", daemon=True)
                self._thread.start()
            self.changed.notify_all()
        return run

    def position(self, run: Run) -> int:
        """Runs before this one. The caller holds ``changed``."""
        self._forget_stopped()
        if run not in self._waiting:
            return 0
        return self._waiting.index(run) + (self._current is not None)

    def _forget_stopped(self) -> None:
        for run in [r for r in self._waiting if r.wants_to_stop()]:
            self._waiting.remove(run)
            run._state = "cancelled"

    def _next(self, idle_s: float) -> Run | None:
        """The next run; None after a while without one: then process and thread are done with."""
        until = monotonic() + idle_s
        with self.changed:
            self._current = None
            while True:
                self._forget_stopped()
                if self._waiting:
                    self._current = self._waiting.popleft()
                    self._current._state = "loading"
                    self.changed.notify_all()
                    return self._current
                left = until - monotonic()
                if left <= 0:  # a run that is started from here on gets a thread and a process of its own
                    self._thread = None
                    unneeded, self._worker = self._worker, None
                    break
                self.changed.wait(left)
        if unneeded is not None:
            unneeded.end()
        return None

    def _serve(self) -> None:
        idle_s = 0.0
        while run := self._next(idle_s):
            idle_s = run.allowed.idle_s
            is_of_use = False
            try:
                if self._worker is not None and not self._worker.is_alive():
                    self._end_worker()
                self._worker = self._worker or _Worker()
                is_of_use = self._attend(self._worker, run)
            except Exception as error:  # a bug, and the runs that wait shall not pay for it
                _LOG.exception("a run failed")
                with self.changed:
                    self._fail(run, Message(text.BUG, {"why": type(error).__name__}), "bug")
            if not is_of_use:
                self._end_worker()

    def _end_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def _fail(self, run: Run, message: Message, code: str) -> None:
        run._failure = Failure(code=code, **{lang: message(lang) for lang in LANGUAGES})
        run._state = "failed"
        self.changed.notify_all()

    def _attend(self, worker: "_Worker", run: Run) -> bool:
        """Follow one run to its end. False where its process is of no more use."""
        worker.send(
            {
                "id": run.number,
                "run": run.request.json(),
                "max_tokens": run.allowed.max_tokens,
                "max_seconds": run.allowed.max_seconds,
                "threads": run.allowed.threads,
            }
        )
        begun, stop_at = monotonic(), None
        while True:
            said = worker.read(_TICK_S)
            now = monotonic()
            with self.changed:
                if said is None and not worker.is_alive():
                    said = {"event": "failed", "failure": worker.ended_how()}
                if said is not None and said.get("id", run.number) == run.number:
                    was = run._state
                    self._note(run, said)
                    self.changed.notify_all()
                    if run._state in _OVER:
                        return worker.is_alive()
                    if run._state != was:
                        begun = now
                if stop_at is None and run.wants_to_stop():
                    stop_at = now + _GRACE_S
                    worker.send({"cancel": run.number})
                if stop_at is not None and now > stop_at:
                    run._state = "cancelled"
                    self.changed.notify_all()
                    return False
                limit = run.allowed.load_seconds if run._state == "loading" else run.allowed.max_seconds + _LAST_STEP_S
                if now - begun > limit:
                    self._fail(run, Message(text.TOOK_TOO_LONG, {"seconds": int(limit)}), "took-too-long")
                    return False

    def _note(self, run: Run, said: dict[str, Any]) -> None:
        match said["event"]:
            case "started":
                run._started = started_from(said["started"])
                run._state = "running"
            case "sample":
                run._samples.append(sample_from(said["sample"]))
            case "ended":
                run._ended = ended_from(said["ended"])
                run._state = "cancelled" if run._ended.stopped == "cancelled" else "done"
            case "failed":
                run._failure = Failure(**said["failure"])
                run._memory = Memory(**said["memory"]) if "memory" in said else None
                run._state = "failed"
            case _:
                pass


class _Worker:
    """The process, and a thread that reads what it says."""

    def __init__(self) -> None:
        root = str(Path(kvviz.__file__).parents[1])
        known = os.environ.get("PYTHONPATH")
        path = os.pathsep.join([root, *([known] if known else [])])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kvviz.live.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, **_QUIET_START, "PYTHONPATH": path},
        )
        self._said: queue.Queue[dict[str, Any]] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        stdout = self._process.stdout
        if stdout is not None:
            for line in stdout:
                self._said.put(json.loads(line))

    def send(self, order: dict[str, Any]) -> None:
        """One line; a process that is gone is noticed where its answer is waited for."""
        stdin = self._process.stdin
        if stdin is not None:
            try:
                stdin.write(json.dumps(order) + "\n")
                stdin.flush()
            except OSError as error:
                _LOG.warning("the process that runs models takes no orders: %s", error)

    def read(self, seconds: float) -> dict[str, Any] | None:
        """What it said next; None where it said nothing for so long."""
        try:
            return self._said.get(timeout=seconds)
        except queue.Empty:
            return None

    def is_alive(self) -> bool:
        """True while it runs, or has said something that was not read."""
        return self._process.poll() is None or self._reader.is_alive() or not self._said.empty()

    def ended_how(self) -> dict[str, str]:
        """The failure of the run that it was at."""
        code = self._process.wait()
        how = signal.Signals(-code).name if code < 0 else f"exit {code}"
        message = Message(text.WORKER_ENDED, {"how": how})
        return {"code": "worker-ended"} | {lang: message(lang) for lang in LANGUAGES}

    def end(self) -> None:
        """Close its input, upon which it ends at once; what does not is ended."""
        process = self._process
        if process.stdin is not None:
            try:
                process.stdin.close()
            except OSError as error:
                _LOG.warning("the process that runs models was gone: %s", error)
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._reader.join()
        if process.stdout is not None:
            process.stdout.close()


_LINE: Final = Line()


def start(request: LiveRequest, allowed: Settings) -> Run:
    """A new run at the end of this server's line. Raises KvvizError where it may not be."""
    return _LINE.start(request, allowed)
