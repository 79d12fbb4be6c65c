"""Metric texts of several engines and versions, and what is read in them; sources: tests/data/SOURCES.md."""

from collections.abc import Iterator
from typing import Any

import pytest

from kvviz.serving import EngineError, Rank, Reading, hits_in_all, poll, published_names, served_name
from kvviz.serving.reading import Identity
from tests.serving.standin import StandIn, metrics, serving

KNOWN: dict[str, dict[str, Any]] = {
    "vllm-0.33-dp2": {
        "kind": "vllm",
        "models": ("qwen3-32b",),
        "blocks": 17_160,  # of both engines together, as vLLM adds them up
        "block_tokens": 16,
        "kv_dtype": "auto",
        "memory_fraction": 0.92,
        "pool_bytes": None,
        "prefix_caching": True,
        "old_rules": False,
        "capacity_tokens": 274_560,
        "usage": 0.625,
        "running": 40,
        "waiting": 3,
        "preemptions": 5,
        "hits": 0.25,
        "ranks": [("0", 137_280, 0.75, 21, 3, 4), ("1", 137_280, 0.5, 19, 0, 1)],
    },
    "vllm-51163-deepseek-v4": {
        "kind": "vllm",
        "models": (),
        "blocks": 20_377,
        "block_tokens": 4,  # the smallest of its groups
        "kv_dtype": "fp8_ds_mla",
        "memory_fraction": 0.85,
        "capacity_tokens": 1_179_770,  # not 20,377 x 4
        "usage": None,
        "running": None,
        "hits": None,
        "ranks": [("", 1_179_770, None, None, None, None)],
    },
    "vllm-0.10.0-glm-4.5": {
        "kind": "vllm",
        "models": ("zai-org/GLM-4.5",),
        "blocks": None,
        "usage": 9.75010481363281e-06,
        "prefix_queries": 32,
        "prefix_hits": None,  # the new name's hits are cut off there; the old name's would be another count
        "hits": None,
        "ranks": [("", None, 9.75010481363281e-06, None, None, None)],
    },
    "vllm-v1-qwen2.5-coder-32b": {
        "kind": "vllm",
        "models": ("Qwen/Qwen2.5-Coder-32B-Instruct",),
        "usage": 0.0,
        "old_rules": False,
        "ranks": [("", None, 0.0, 0, 0, None)],
    },
    "vllm-v0": {
        "kind": "vllm",
        "models": ("meta-llama/Llama-3.1-8B-Instruct",),
        "blocks": 27_392,
        "block_tokens": 16,
        "old_rules": True,
        "prefix_caching": False,
        "hit_fraction": None,  # -1: switched off
        "capacity_tokens": None,
        "ranks": [("", None, 0.25, 12, 2, 7)],
    },
    "sglang-0.5.23-dp2": {
        "kind": "sglang",
        "models": ("Qwen/Qwen3-32B-FP8",),
        "blocks": 240_000,
        "block_tokens": 1,
        "capacity_tokens": 240_000,  # a second tensor-parallel rank repeats the first
        "usage": pytest.approx(0.4),
        "running": 14,  # priorities are parts of the total
        "waiting": 1,
        "preemptions": 2,
        "prefix_queries": 200_000,
        "prefix_hits": 40_000,
        "hits": 0.2,
        "ranks": [("0", 120_000, 0.6, 9, 1, 2), ("1", 120_000, 0.2, 5, 0, 0)],
    },
    "sglang-1853-llama-3.2-3b": {
        "kind": "sglang",
        "models": ("/models/meta-llama/Llama-3.2-3B/",),
        "capacity_tokens": 570_979,
        "prefix_queries": 230_794,
        "prefix_hits": None,  # not reported, so not 0
        "hits": None,
        "ranks": [("", 570_979, None, None, None, None)],
    },
    "sglang-7944-deepseek-r1": {
        "kind": "sglang",
        "models": ("/models/deepseek-ai__DeepSeek-R1",),
        "ranks": [("", None, 0.0, 0, None, None)],
    },
    "sglang-813-llama-3.1-8b": {
        "kind": "sglang",
        "prefix_queries": 55,
        "prefix_hits": 0,
        "hits": 0.0,
        "ranks": [("", None, None, None, None, None)],
    },
    "llama.cpp-13196": {
        "kind": "llama.cpp",
        "usage": None,
        "preemptions": None,
        "ranks": [("", None, None, 1, 2, None)],
    },
    "llama.cpp-before-may-2025": {"kind": "llama.cpp", "ranks": [("", None, 0.40625, 1, 0, None)]},
}


@pytest.fixture(scope="module")
def standin() -> Iterator[StandIn]:
    with serving() as running:
        yield running


def read(name: str, tmp: StandIn) -> Reading:
    tmp.texts["text"] = metrics(name)
    return poll(f"{tmp.url}/text", Identity())


@pytest.mark.parametrize("name", KNOWN)
def test_known_texts(name: str, standin: StandIn) -> None:
    reading = read(name, standin)
    found = {"hits": hits_in_all(reading)} | {
        key: getattr(reading, key) for key in KNOWN[name] if key not in ("hits", "ranks")
    }
    found["ranks"] = [(r.name, r.capacity_tokens, r.usage, r.running, r.waiting, r.preemptions) for r in reading.ranks]
    assert {key: found[key] for key in KNOWN[name]} == KNOWN[name]


def test_what_does_not_change_comes_from_the_other_addresses(standin: StandIn) -> None:
    vllm = poll(f"{standin.url}/vllm", None)
    assert vllm.models == ("Qwen/Qwen3-32B", "qwen3-32b")
    assert (vllm.identity.version, vllm.identity.max_model_len) == ("0.33.0", 40_960)
    sglang = poll(f"{standin.url}/sglang", None)
    assert (sglang.identity.tp, sglang.identity.dp, sglang.kv_dtype, sglang.memory_fraction) == (2, 2, "auto", 0.88)
    llama = poll(f"{standin.url}/llama", None)
    assert (llama.identity.slots, llama.capacity_tokens, llama.identity.version) == (1, 2_048, "b5000-abcdef12")


def test_known_again_it_is_not_asked_for_again(standin: StandIn) -> None:
    known = poll(f"{standin.url}/vllm", None).identity
    del standin.asked[:]
    assert poll(f"{standin.url}/vllm", known).identity is known
    assert standin.asked == ["/vllm/metrics"]


def test_new_llama_cpp_tells_what_its_slot_holds(standin: StandIn) -> None:
    reading = poll(f"{standin.url}/llama-new", None)
    assert reading.usage == 512 / 2_048
    assert (reading.prefix_queries, reading.prefix_hits) == (143 + 57, 57)  # its first counter leaves out the second
    assert (reading.running, reading.waiting, reading.preemptions) == (1, 0, None)


def test_without_metrics(standin: StandIn) -> None:
    sglang = poll(f"{standin.url}/sglang-plain", None)
    assert [(r.capacity_tokens, r.usage, r.running) for r in sglang.ranks] == [(120_000, None, None)] * 2
    llama = poll(f"{standin.url}/llama-plain", None)
    assert (llama.kind, llama.running, llama.waiting, llama.capacity_tokens) == ("llama.cpp", 1, None, 2_048)
    with pytest.raises(EngineError) as caught:
        poll(f"{standin.url}/nothing", None)
    assert caught.value.code == "engine-no-metrics"


def test_names_out_of_folders() -> None:
    def names(*models: str) -> tuple[str, ...]:
        return published_names(
            Reading(kind="vllm", identity=Identity(), models=models, ranks=())  # nothing else is asked
        )

    assert names("/cache/huggingface/hub/models--Qwen--Qwen3-32B/snapshots/abc")[0] == "Qwen/Qwen3-32B"
    assert names("/models/meta-llama/Llama-3.2-3B/", "mine") == ("/models/meta-llama/Llama-3.2-3B", "mine")


@pytest.mark.parametrize(
    ("reported", "named"),
    [
        ("Qwen/Qwen3-32B", "Qwen/Qwen3-32B"),
        ("our-own-model", "our-own-model"),
        ("/srv/models/SmolLM2-135M-Instruct-Q4_K_M.gguf", "SmolLM2-135M-Instruct-Q4_K_M.gguf"),
        ("models/SmolLM2.gguf", "SmolLM2.gguf"),
        ("C:\\models\\SmolLM2.gguf", "SmolLM2.gguf"),
        ("./out/checkpoint", "checkpoint"),
        ("/models/meta-llama/Llama-3.2-3B/", "Llama-3.2-3B"),
        ("/cache/huggingface/hub/models--Qwen--Qwen3-32B/snapshots/abc", "Qwen/Qwen3-32B"),
    ],
)
def test_a_model_is_named_without_the_folders_it_lies_in(reported: str, named: str) -> None:
    reading = Reading(kind="vllm", identity=Identity(), models=(reported,), ranks=(Rank(name=""),))
    assert served_name(reading) == named


def test_where_no_model_is_named_there_is_none() -> None:
    assert served_name(Reading(kind="vllm", identity=Identity(), models=(), ranks=(Rank(name=""),))) == ""


def test_a_rate_is_a_fraction_whatever_number_it_is_written_as(standin: StandIn) -> None:
    standin.texts["text"] = "sglang:cache_hit_rate 0\n"
    found = hits_in_all(poll(f"{standin.url}/text", Identity()))
    assert isinstance(found, float)
