"""One poll for all visitors, none of whom waits; the last good sample stays."""

import time
from collections.abc import Callable
from threading import Event, Thread

import pytest

from kvviz.serving import EngineError, Look
from kvviz.serving.watch import FRESH_S, Watch
from kvviz.text import Message
from kvviz.text import serving as text
from tests.serving.standin import serving


def until(watch: Watch, met: Callable[[Look], object]) -> Look:
    give_up_at = time.monotonic() + 10
    while not met(now := watch.look()):
        assert time.monotonic() < give_up_at, now
        time.sleep(0.05)
    return now


def test_fifty_visitors_are_one_question() -> None:
    with serving() as standin:
        watch = Watch(f"{standin.url}/vllm")
        visitors = [Thread(target=watch.look, kwargs={"patience_s": 5}) for _ in range(50)]
        for visitor in visitors:
            visitor.start()
        for visitor in visitors:
            visitor.join()
        assert standin.asked.count("/vllm/metrics") == 1
        assert watch.look().reading is not None
        time.sleep(FRESH_S)
        watch.look()
        until(watch, lambda _: standin.asked.count("/vllm/metrics") == 2)
        assert standin.asked.count("/vllm/v1/models") == 1


def test_nobody_waits_for_a_slow_engine() -> None:
    with serving() as standin:
        watch = Watch(f"{standin.url}/slow")
        began = time.monotonic()
        assert watch.look(patience_s=0.2) == Look(reading=None, read_s=0.0, problem=None)
        assert time.monotonic() - began < 1
        problem = until(watch, lambda now: now.problem).problem
        assert isinstance(problem, Message)


def test_the_last_good_sample_stays_with_its_age() -> None:
    with serving() as standin:
        watch = Watch(f"{standin.url}/vllm")
        good = watch.look(patience_s=5)
        assert good.reading is not None
        standin.broken = True
        bad = until(watch, lambda now: now.problem)
        assert (bad.reading, bad.read_s) == (good.reading, good.read_s)
        standin.broken = False
        again = until(watch, lambda now: now.problem is None)
        assert again.read_s > good.read_s


def test_a_question_that_hangs_is_said_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, hanging = [], Event()

    def poll(url: str, known: object) -> None:
        asked.append(url)
        hanging.wait(10)
        raise EngineError(text.NO_METRICS, code="engine-no-metrics")

    monkeypatch.setattr("kvviz.serving.watch.poll", poll)
    monkeypatch.setattr("kvviz.serving.watch.FRESH_S", 0.05)
    monkeypatch.setattr("kvviz.serving.watch._HANGS_S", 0.1)
    watch = Watch("http://name-server-that-says-nothing")
    assert until(watch, lambda now: now.problem).reading is None
    assert len(asked) == 1
    hanging.set()
