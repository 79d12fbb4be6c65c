"""The line of runs and the process behind it: waiting, stopping, leaving, dying, and the run after that."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.live import runs, worker
from kvviz.live.model import Loaded
from kvviz.live.request import LiveRequest
from kvviz.live.runs import Line, Run
from kvviz.live.settings import Settings
from kvviz.text import Message
from kvviz.text import live as text
from tests.live import tiny

LONG = 100_000
"""Tokens that take longer than any of these tests."""


def allowed(folder: str, **settings: object) -> Settings:
    usual: dict[str, Any] = {"model": folder, "threads": 1, "max_tokens": 2 * LONG, "idle_s": 600, "device": "cpu"}
    return Settings(**usual | settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny.write("GQA", tmp_path_factory.mktemp("live") / "tiny")


@pytest.fixture(scope="module")
def line(folder: str) -> Iterator[Line]:
    """One line for all of them: starting its process takes seconds. It ends when the last run was long ago."""
    made = Line()
    yield made
    last = made.start(LiveRequest(new_tokens=1), allowed(folder, idle_s=0))
    assert [s.tokens for s in last.samples()]
    until(lambda: made._thread is None)


def until(is_so: Callable[[], bool], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def begin(line: Line, folder: str, **settings: object) -> Run:
    """A run without end that has begun."""
    run = line.start(LiveRequest(new_tokens=LONG), allowed(folder, max_seconds=86_000, **settings))
    until(lambda: len(run.poll().samples) > 2 or run.poll().is_over)
    assert run.poll().state == "running"
    return run


def works(line: Line, folder: str) -> None:
    """The next run gives an answer."""
    run = line.start(LiveRequest(new_tokens=4, prompt_tokens=10), allowed(folder))
    assert [s.tokens for s in run.samples()] == [10, 11, 12, 13]
    assert run.poll().state == "done"


def test_a_run_from_its_beginning_to_its_end(line: Line, folder: str) -> None:
    run = line.start(LiveRequest(new_tokens=20, prompt_tokens=7, batch=2), allowed(folder))
    samples = list(run.samples())
    assert [s.tokens for s in samples] == list(range(7, 27))
    assert {s.residual_bytes for s in samples} == {0}
    now = run.poll()
    assert now.is_over
    assert (now.state, now.position, now.failure) == ("done", 0, None)
    assert now.samples == tuple(samples)
    assert now.started is not None
    assert now.started.model == "tiny"
    assert now.started.predicted_bytes == tuple(s.measured_bytes for s in samples)
    assert now.started.versions["transformers"]
    assert now.ended is not None
    assert now.ended.stopped == "tokens"


def test_one_at_a_time_and_the_others_see_their_place(line: Line, folder: str) -> None:
    first = begin(line, folder)
    second, third = (line.start(LiveRequest(new_tokens=3), allowed(folder)) for _ in range(2))
    assert [r.poll().position for r in (first, second, third)] == [0, 1, 2]
    assert [r.poll().state for r in (first, second, third)] == ["running", "waiting", "waiting"]
    with pytest.raises(KvvizError, match="2 runs are waiting"):
        line.start(LiveRequest(new_tokens=3), allowed(folder, max_waiting=2))
    second.cancel()
    assert third.poll().position == 1
    assert second.poll().state == "cancelled"
    first.cancel()
    assert len(list(third.samples())) == 3
    stopped = first.poll()
    assert stopped.state == "cancelled"
    assert stopped.ended is not None
    assert stopped.ended.stopped == "cancelled"
    assert len(stopped.samples) > 2


def test_who_leaves_stops_the_run(line: Line, folder: str) -> None:
    gone = begin(line, folder, abandoned_s=1)
    also_gone = line.start(LiveRequest(new_tokens=LONG), allowed(folder, abandoned_s=1))
    works(line, folder)
    assert gone.poll().state == "cancelled"
    assert also_gone.poll().state == "cancelled"
    assert also_gone.poll().samples == ()


def test_time_is_up(line: Line, folder: str) -> None:
    run = line.start(LiveRequest(new_tokens=LONG), allowed(folder, max_seconds=1))
    samples = list(run.samples())
    now = run.poll()
    assert (now.state, now.ended and now.ended.stopped) == ("done", "seconds")
    assert 0 < len(samples) < LONG


def test_a_process_that_dies_costs_its_run_alone(line: Line, folder: str) -> None:
    run = begin(line, folder)
    assert line._worker is not None
    os.kill(line._worker._process.pid, signal.SIGKILL)
    until(lambda: run.poll().is_over)
    now = run.poll()
    assert now.state == "failed"
    assert now.failure is not None
    assert now.failure.code == "worker-ended"
    assert "SIGKILL" in now.failure("en")
    assert "SIGKILL" in now.failure("ja") != now.failure("en")
    assert len(now.samples) > 2
    works(line, folder)


def test_a_process_that_does_not_answer_is_ended(line: Line, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_GRACE_S", 0.5)
    run = begin(line, folder)
    assert line._worker is not None
    os.kill(line._worker._process.pid, signal.SIGSTOP)
    run.cancel()
    until(lambda: run.poll().is_over)
    assert run.poll().state == "cancelled"
    works(line, folder)


def test_what_cannot_be_run_says_why_and_the_next_run_works(line: Line, folder: str, tmp_path: Path) -> None:
    config = tiny.FAMILIES["GQA"][0] | {"num_attention_heads": 5}
    (tmp_path / "config.json").write_text(json.dumps(config))
    run = line.start(LiveRequest(new_tokens=3), allowed(str(tmp_path)))
    assert list(run.samples()) == []
    failure = run.poll().failure
    assert failure is not None
    assert failure.code == "cannot-build"
    run = line.start(
        LiveRequest(new_tokens=3, cache="static", reserve_tokens=1 << 45), allowed(folder, max_tokens=1 << 46)
    )
    assert list(run.samples()) == []
    failure = run.poll().failure
    assert failure is not None
    assert failure.code == "too-large"
    works(line, folder)


def test_a_process_that_is_not_needed_ends(folder: str) -> None:
    own = Line()
    run = own.start(LiveRequest(new_tokens=2), allowed(folder, idle_s=1))
    until(lambda: bool(run.poll().samples))
    assert own._worker is not None
    process = own._worker._process
    until(lambda: run.poll().is_over)
    assert process.poll() is None
    until(lambda: own._thread is None)
    until(lambda: process.poll() is not None)
    assert process.returncode == 0


SERVER = """
import os, sys, time
from kvviz.live import LiveRequest, Settings, runs, start
run = start(LiveRequest(new_tokens=100_000), Settings(model=sys.argv[1], threads=1, max_tokens=200_000, device="cpu"))
while not run.poll().samples:
    time.sleep(0.05)
print(runs._LINE._worker._process.pid, flush=True)
os._exit(1)
"""


def test_a_server_that_dies_leaves_no_process_behind(folder: str) -> None:
    server = subprocess.run([sys.executable, "-c", SERVER, folder], capture_output=True, text=True, timeout=120)
    pid = int(server.stdout)

    def is_gone() -> bool:
        status = Path(f"/proc/{pid}/status")
        return not status.exists() or "State:\tZ" in status.read_text()

    until(is_gone, seconds=30)


def test_bounds_hold_before_anything_starts(folder: str) -> None:
    own, small = Line(), allowed(folder, max_tokens=100, max_batch=2, models=("owner/other",))
    for field, request in {
        "tokens": LiveRequest(new_tokens=100),
        "prompt_tokens": LiveRequest(prompt_tokens=60, new_tokens=60),
        "batch": LiveRequest(batch=3),
        "reserve_tokens": LiveRequest(reserve_tokens=101, cache="static", new_tokens=1),
        "reserve_tokens ": LiveRequest(reserve_tokens=50, new_tokens=1),  # by a cache that reserves nothing
        "cache": LiveRequest(cache="heap"),  # type: ignore[arg-type]
        "dtype": LiveRequest(dtype="int8", new_tokens=1),
        "device": LiveRequest(device="tpu", new_tokens=1),
        "prompt": LiveRequest(prompt="x" * 30_000, new_tokens=1),
        "model": LiveRequest(model="owner/model", new_tokens=1),
    }.items():
        with pytest.raises(ScenarioError) as caught:
            own.start(request, small)
        assert caught.value.field == field.strip()
    assert own._thread is None


@pytest.mark.parametrize(
    ("model", "models", "may"),
    [
        ("owner/other", ("owner/other",), True),
        ("owner/any", ("owner/other",), False),
        ("owner/any", ("*",), True),
        ("./owner/any", ("*",), False),
        ("/etc/passwd", ("*",), False),
        ("../secrets/model.gguf", ("*",), False),
        ("owner/model.gguf", ("*",), False),
        ("./mine", ("./mine",), True),
    ],
)
def test_visitors_choose_among_the_operator_s_models(model: str, models: tuple[str, ...], may: bool) -> None:
    from kvviz.live.request import checked

    settings, request = Settings(models=models), LiveRequest(model=model)
    assert checked(request, settings, visitor=False).model == model
    if may:
        assert checked(request, settings).model == model
    else:
        with pytest.raises(ScenarioError, match="not among"):
            checked(request, settings)


def test_a_refusal_does_not_tell_where_models_lie() -> None:
    from kvviz.live.request import checked

    with pytest.raises(ScenarioError) as caught:
        checked(LiveRequest(model="a/b"), Settings(model="/srv/private/model"))
    assert "srv" not in str(caught.value)


# --- out of memory, in this process ----------------------------------------------------------------------------------


def attended(loop: Callable[..., Any], models: worker.Models, model: str) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    order = {"run": LiveRequest(model=model, device="cpu", new_tokens=3).json(), "threads": 1}
    worker.attend(order | {"max_tokens": 1_000, "max_seconds": 60}, models, said.append, lambda: False, loop)
    return said


def test_out_of_memory_is_caught_told_and_given_back(folder: str) -> None:
    import torch

    models = worker.Models()

    def full(loaded: Loaded, *_: object, **__: object) -> Iterator[Any]:
        held = loaded
        events = worker.run(held, LiveRequest(new_tokens=3, prompt_tokens=5), max_tokens=100, max_seconds=60)
        yield next(events)
        yield next(events)
        torch.empty(1 << 50, dtype=torch.uint8)

    said = attended(full, models, folder)
    assert [s["event"] for s in said] == ["loading", "started", "sample", "failed"]
    assert said[-1]["failure"]["code"] == "out-of-memory"
    assert "after 5 tokens" in said[-1]["failure"]["en"]
    assert said[-1]["memory"]["resident_bytes"]
    assert models._loaded is None
    assert [s["event"] for s in attended(worker.run, models, folder)][-1] == "ended"
    assert models._loaded is not None


def test_a_bug_keeps_its_traceback_and_the_process(folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object, **__: object) -> Iterator[Any]:
        yield from ()
        raise ZeroDivisionError

    said = attended(broken, worker.Models(), folder)
    assert said[-1]["failure"]["code"] == "bug"
    assert "ZeroDivisionError" in said[-1]["failure"]["ja"]
    assert "Traceback" in capfd.readouterr().err


def test_which_errors_are_want_of_memory() -> None:
    import torch

    assert worker.is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory."))
    assert worker.is_out_of_memory(MemoryError())
    assert worker.is_out_of_memory(torch.AcceleratorError("CUDA error: out of memory"))
    assert worker.is_out_of_memory(RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"))
    assert not worker.is_out_of_memory(RuntimeError("shapes do not match"))
    assert not worker.is_out_of_memory(ValueError("not enough memory"))


def test_the_model_of_the_last_run_stays_and_another_one_replaces_it(folder: str, tmp_path: Path) -> None:
    models, other = worker.Models(), tiny.write("MQA", tmp_path)
    first = models.get(LiveRequest(model=folder, device="cpu"))
    assert models.get(LiveRequest(model=folder, device="cpu", cache="static")) is first
    assert models.get(LiveRequest(model=other, device="cpu")).name != first.name


# --- what a server is without PyTorch --------------------------------------------------------------------------------


def test_the_server_s_side_imports_neither_torch_nor_transformers() -> None:
    program = (
        "import sys, kvviz.live, kvviz.cli_live; kvviz.live.bundled(); kvviz.live.read_settings()\n"
        "kvviz.live.unavailable(kvviz.live.Settings())\n"
        "print(sorted({'torch', 'transformers', 'huggingface_hub', 'numpy'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_without_torch_there_is_a_reason_and_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    assert runs.unavailable(Settings()) is None
    off = runs.unavailable(Settings(on=False))
    assert off is not None
    assert off.code == "switched-off"
    monkeypatch.setattr(runs, "find_spec", lambda name: None if name == "torch" else object())
    missing = runs.unavailable(Settings())
    assert missing is not None
    assert missing.code == "not-installed"
    for lang in ("en", "ja"):
        assert 'pip install -e ".[live]"' in missing.message(lang)
    with pytest.raises(KvvizError, match="not installed"):
        Line().start(LiveRequest(), Settings())


def test_caches_that_need_a_back_end_are_offered_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "find_spec", lambda _: None)
    assert runs.caches_here() == ("dynamic", "static", "paged", "fp8", "none")
    monkeypatch.setattr(runs, "find_spec", lambda _: object())
    assert {"int4", "int2"} <= set(runs.caches_here())


def test_a_bug_on_the_server_s_side_does_not_stop_the_line(
    folder: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def cannot() -> None:
        raise OSError("no more processes")

    own = Line()
    with monkeypatch.context() as patch:
        patch.setattr(runs, "_Worker", cannot)
        run = own.start(LiveRequest(new_tokens=2), allowed(folder, idle_s=0))
        until(lambda: run.poll().is_over)
    failure = run.poll().failure
    assert failure is not None
    assert failure.en == Message(text.BUG, {"why": "OSError"})("en")
    assert "no more processes" in caplog.text
    until(lambda: own._thread is None)
