"""Whatever an engine says, there is a reading or one line."""

from contextlib import suppress
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from kvviz.catalogue import load
from kvviz.core.errors import KvvizError
from kvviz.scenario import Scenario
from kvviz.serving import EngineError, hits_in_all, poll, predict, published_names
from kvviz.serving.metrics import _WANTED
from kvviz.text import serving as text

NUMBERS = st.sampled_from(["0", "1", "0.5", "-1", "1e308", "NaN", "+Inf", "16", "None", "", "137280.0", "9" * 400])
LABELS = st.sampled_from(
    [
        "engine",
        "dp_rank",
        "tp_rank",
        "pp_rank",
        "priority",
        "mode",
        "model_name",
        "block_size",
        "num_gpu_blocks",
        "cache_dtype",
        "kv_cache_size_tokens",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "enable_prefix_caching",
    ]
)
VALUES = st.one_of(NUMBERS, st.sampled_from(["fp8", "auto", "input", "True"]), st.text(max_size=8))
LINES = st.builds(
    lambda prefix, name, labels, number: (
        f"{prefix}:{name}{{{','.join(f'{k}={_quoted(v)}' for k, v in labels.items())}}} {number}"
    ),
    st.sampled_from(["vllm", "sglang", "llamacpp"]),
    st.sampled_from(sorted(name.decode() for name in _WANTED)),
    st.dictionaries(LABELS, VALUES, max_size=6),
    NUMBERS,
)
KEYS = st.sampled_from(
    [
        "data",
        "id",
        "root",
        "parent",
        "max_model_len",
        "version",
        "model_path",
        "tp_size",
        "dp_size",
        "pp_size",
        "page_size",
        "kv_cache_dtype",
        "mem_fraction_static",
        "internal_states",
        "memory_usage",
        "n_ctx",
        "token_capacity",
        "kvcache",
        "total_slots",
        "is_processing",
        "default_generation_settings",
        "n_prompt_tokens",
        "build_info",
        "max_total_num_tokens",
        "enable_dp_attention",
    ]
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            KEYS,
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def poll_of(body: bytes | None, answers: Any) -> None:  # noqa: ANN401 - JSON of any shape
    def ask(url: str) -> bytes:
        if body is None:
            raise EngineError(text.NO_METRICS, code="engine-status", status=404)
        return body

    with patch("kvviz.serving.reading.ask", ask), patch("kvviz.serving.reading.ask_json", lambda _: answers):
        try:
            reading = poll("http://engine", None)
        except EngineError:
            return
    assert reading.ranks
    assert all(isinstance(name, str) for name in published_names(reading))
    fraction = hits_in_all(reading)
    assert fraction is None or isinstance(fraction, float)
    _ = reading.usage, reading.running, reading.waiting, reading.preemptions
    model = "Qwen/Qwen3-0.6B"
    for on_gpu in (False, True):
        with suppress(KvvizError):
            predict(reading, load(model).architecture, Scenario(model=model), weights=None, on_gpu=on_gpu)


@given(st.lists(st.one_of(LINES, st.text(max_size=20)), max_size=12), JSON)
def test_any_metrics(lines: list[str], answers: Any) -> None:  # noqa: ANN401
    poll_of("\n".join(lines).encode(errors="replace"), answers)


@given(st.binary(max_size=200))
def test_any_bytes(body: bytes) -> None:
    poll_of(b"vllm:" + body, None)
    poll_of(body, None)


@given(JSON)
def test_any_answer_without_metrics(answers: Any) -> None:  # noqa: ANN401
    poll_of(None, answers)
