"""The path of a GPU, walked on a CPU: a stand-in for PyTorch's allocator, with the real one's names and arguments.

It proves that every name is right, and what is made of the figures. What a GPU really says, tests marked ``gpu`` ask.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import create_autospec

import pytest
import torch

from kvviz.live import ledger, loop, model, most_temporary_bytes, worker
from kvviz.live.measure import CudaProbe, Probe, probe, storages, tensors
from kvviz.live.model import Loaded
from kvviz.live.recording import Recording, read_recording, written
from kvviz.live.request import LiveRequest
from kvviz.live.sample import Ended, Sample, Started

GPU = torch.device("cuda", 0)
TOTAL, OTHERS = 8 << 30, 300 << 20
ACTIVATIONS = 3 << 20
GRANULE, SEGMENT = 512, 2 << 20


@dataclass(kw_only=True)
class Card:
    """A GPU whose allocator holds what the process really holds, rounded as PyTorch's does."""

    held: Callable[[], list[Any]] = list
    peak: int = 0
    segments: int = 0
    calls: list[str] = field(default_factory=list)

    def sizes(self) -> tuple[int, ...]:
        return storages(self.held())

    def allocated(self) -> int:
        return sum(-(-size // GRANULE) * GRANULE for size in self.sizes())

    def reserved(self) -> int:
        most = max(self.allocated(), self.peak)
        self.segments = max(self.segments, -(-most // SEGMENT) * SEGMENT)
        return self.segments

    def answer(self, name: str) -> object:
        """What a function of torch.cuda answers, and what it does."""
        self.calls.append(name)
        match name:
            case "reset_peak_memory_stats":
                self.peak = self.allocated()
            case "synchronize":
                self.peak = max(self.peak, self.allocated() + ACTIVATIONS)
            case "empty_cache":
                self.peak = self.segments = 0
            case _:
                pass
        return {
            "is_available": True,
            "current_device": 0,
            "get_device_name": "Test GPU",
            "mem_get_info": (TOTAL - OTHERS - self.reserved(), TOTAL),
            "memory_stats": {"requested_bytes.all.current": sum(self.sizes())},
            "memory_allocated": self.allocated(),
            "memory_reserved": self.reserved(),
            "max_memory_allocated": self.peak,
        }.get(name)


NAMES = [
    "is_available",
    "current_device",
    "get_device_name",
    "mem_get_info",
    "memory_stats",
    "memory_allocated",
    "memory_reserved",
    "max_memory_allocated",
    "reset_peak_memory_stats",
    "synchronize",
    "empty_cache",
]


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    """In the place of torch.cuda: a name that is not there fails, and so do arguments that it does not take."""
    made = Card()
    for name in NAMES:
        real = inspect.unwrap(getattr(torch.cuda, name))
        monkeypatch.setattr(
            torch.cuda, name, create_autospec(real, side_effect=lambda *_, name=name: made.answer(name))
        )
    return made


@pytest.fixture
def on_card(card: Card, monkeypatch: pytest.MonkeyPatch) -> Card:
    """The model computes on the CPU, and is measured as on a GPU."""

    def cuda(_: object) -> Probe:
        return CudaProbe(GPU)

    for module in (loop, model, worker):
        monkeypatch.setattr(module, "probe", cuda)
    return card


def test_the_device_and_its_name(card: Card) -> None:
    assert model.device_of("cuda") == model.device_of("auto") == GPU
    assert model.device_of("cpu") == torch.device("cpu")
    assert model.device_name(GPU) == "cuda (Test GPU)"
    assert isinstance(probe(GPU), CudaProbe)
    assert CudaProbe(GPU).memory().total_bytes == TOTAL
    assert set(card.calls) <= set(NAMES)


def test_what_was_requested_has_the_name_that_pytorch_gives_it() -> None:
    """``memory_stats`` answers with a flat dictionary, whose keys only its description names."""
    described = inspect.getdoc(torch.cuda.memory_stats) or ""
    assert re.search(r'"requested_bytes\.\{all,[^}]*\}\.\{current,', described)
    assert '"requested_bytes.all.current"' not in described  # it is read as what the braces stand for


def test_a_run_whose_memory_adds_up_to_the_byte(folder: str, on_card: Card) -> None:
    caches: list[object] = []
    loaded = model.load(folder, device="cpu", dtype="bf16")
    weights = [*loaded.model.parameters(), *loaded.model.buffers()]
    on_card.held = lambda: [*weights, *(t for cache in caches[-1:] for t in tensors(cache))]
    real = loop._cache
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_cache", lambda *given: caches.append(real(*given)) or caches[-1])
        request = LiveRequest(prompt_tokens=40, new_tokens=30, batch=3)
        started, *events, ended = loop.run(loaded, request, max_tokens=1_000, max_seconds=600)
    samples = [e for e in events if isinstance(e, Sample)]
    assert isinstance(started, Started)
    assert isinstance(ended, Ended)
    assert {s.residual_bytes for s in samples} == {0}
    for number, sample in enumerate(samples, start=1):
        memory = sample.memory
        held = {part.holder: part.held_bytes for part in ledger(started, samples[:number])}
        assert sum(held.values()) == TOTAL == memory.total_bytes
        assert (held["weights"], held["kv"]) == (started.weights_bytes, sample.measured_bytes)
        assert memory.allocated_bytes is not None
        assert memory.requested_bytes == started.weights_bytes + sample.measured_bytes
        assert held["rounding"] == memory.allocated_bytes - memory.requested_bytes > (sample.rounding_bytes or 0)
        assert (held["tensors"], held["elsewhere"]) == (0, OTHERS)
        assert held["activations"] >= ACTIVATIONS
        assert held["slack"] >= 0
    assert most_temporary_bytes(samples) == ACTIVATIONS
    assert on_card.calls[-1] != "empty_cache"
    assert on_card.calls.count("reset_peak_memory_stats") == len(samples)
    recording = Recording(recorded="2026-11-30", started=started, samples=tuple(samples), ended=ended)
    assert read_recording(written(recording), name="gpu.json") == recording


def test_a_gpu_that_is_full_is_told_with_what_is_free(folder: str, on_card: Card) -> None:
    models, said = worker.Models(), list[dict[str, Any]]()

    def full(loaded: Loaded, *_: object, **__: object) -> Iterator[Any]:
        yield from list(loop.run(loaded, LiveRequest(new_tokens=3), max_tokens=100, max_seconds=60))[:2]
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")

    order = {"run": LiveRequest(model=folder, device="cpu").json(), "threads": 1, "max_tokens": 9, "max_seconds": 9}
    worker.attend(order, models, said.append, lambda: False, full)
    assert [s["event"] for s in said] == ["loading", "started", "sample", "failed"]
    assert said[-1]["failure"]["code"] == "out-of-memory"
    assert said[-1]["memory"]["free_bytes"] == TOTAL - OTHERS
    assert "empty_cache" in on_card.calls
    assert models._loaded is None
