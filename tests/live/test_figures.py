"""Where the memory is, and what the cache saves: sums that close, and nothing where nothing is known."""

from dataclasses import replace

import pytest

from kvviz.live import QUOTED, Memory, bundled, elapsed_s, gain, ledger, most_temporary_bytes

CUDA = Memory(
    total_bytes=80_000,
    free_bytes=50_000,
    allocated_bytes=12_000,
    requested_bytes=11_800,
    reserved_bytes=16_000,
    peak_bytes=15_000,
    resident_bytes=9_999,
)


def test_a_gpu_adds_up_to_the_byte() -> None:
    run = bundled()
    started = replace(run.started, weights_bytes=9_000)
    sample = replace(run.samples[0], measured_bytes=2_000, rounding_bytes=48, memory=CUDA)
    held = {part.holder: part.held_bytes for part in ledger(started, [sample])}
    assert held == {
        "weights": 9_000,
        "kv": 2_000,
        "rounding": 200,
        "tensors": 800,
        "activations": 3_000,
        "slack": 1_000,
        "elsewhere": 14_000,
        "free": 50_000,
    }
    assert sum(held.values()) == CUDA.total_bytes
    assert most_temporary_bytes([sample]) == 3_000
    # The prompt's step took most; what follows does not hide it, nor is there more of it than there are segments.
    for peak, activations in ((15_500, 3_500), (99_000, 4_000)):
        first = replace(sample, memory=replace(CUDA, peak_bytes=peak))
        held = {part.holder: part.held_bytes for part in ledger(started, [first, sample])}
        assert (held["activations"], held["slack"]) == (activations, 4_000 - activations)
    # An allocator that does not count what was requested: the granules of the cache alone are known.
    for requested in (None, 0):
        other = replace(sample, memory=replace(CUDA, requested_bytes=requested))
        held = {part.holder: part.held_bytes for part in ledger(started, [other])}
        assert (held["rounding"], held["tensors"]) == (48, 952)
        assert sum(held.values()) == CUDA.total_bytes


def test_a_cpu_adds_up_to_the_byte() -> None:
    run = bundled()
    for sample in run.samples:
        parts = ledger(run.started, [sample])
        assert {p.holder for p in parts} == {"weights", "kv", "process", "elsewhere", "free"}
        assert sum(p.held_bytes for p in parts) == sample.memory.total_bytes
    assert most_temporary_bytes(run.samples) is None


def test_what_is_not_known_is_left_out() -> None:
    run = bundled()
    sample = replace(run.samples[0], memory=Memory())
    assert [p.holder for p in ledger(run.started, [sample])] == ["weights", "kv"]
    # Weights that the kernel has not read in yet: the rest of the process is not a negative number.
    sample = replace(sample, memory=Memory(resident_bytes=1))
    assert [p.holder for p in ledger(run.started, [sample])] == ["weights", "kv"]


def test_the_quoted_figures() -> None:
    assert QUOTED.computed_without == sum(range(1, QUOTED.tokens + 1))
    assert round(QUOTED.times_fewer) == 500
    assert round(QUOTED.times_faster, 1) == 4.7
    assert QUOTED.each_ms(QUOTED.with_s) == pytest.approx(11.9)


def test_the_gain_of_the_recorded_runs() -> None:
    cached, uncached = bundled(), bundled(cache="none")
    found = gain(cached, uncached)
    assert found is not None
    assert found.tokens == 300
    assert found.with_s == pytest.approx(sum(s.seconds for s in cached.samples))
    assert found.without_s == elapsed_s(uncached.samples)[-1]
    assert found.computed_with == 44 + 299
    assert found.computed_without == sum(range(44, 44 + 300))
    assert found.times_faster > 1


def test_only_the_same_run_is_compared() -> None:
    cached, uncached = bundled(), bundled(cache="none")
    assert gain(cached, cached) is None
    assert gain(uncached, uncached) is None
    assert gain(uncached, cached) is None
    assert gain(cached, replace(uncached, samples=())) is None
    for change in ({"dtype": "fp32"}, {"batch": 2}, {"prompt_tokens": 9}, {"model": "other"}, {"device": "cuda"}):
        assert gain(cached, replace(uncached, started=replace(uncached.started, **change))) is None
    part = gain(cached, replace(uncached, samples=uncached.samples[:10]))
    assert part is not None
    assert part.tokens == 10
    assert part.with_s == elapsed_s(cached.samples)[9]
