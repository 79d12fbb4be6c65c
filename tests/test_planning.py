"""What each engine runs on and is called, and what is offered in place of what it cannot have."""

import re

import pytest

from kvviz import catalogue
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import ScenarioError
from kvviz.devices import device, every_device
from kvviz.export import all_notes
from kvviz.launch import launch
from kvviz.planning import accepted, engine_name, name_of, planned
from kvviz.resolve import resolve
from kvviz.scenario import ENGINE_VERSIONS, ENGINES, Scenario, under_engine
from kvviz.sizing import Sizing
from kvviz.text import Message, Text

NAMES = {engine: name_of(engine).split(" ")[0] for engine in ENGINES}
V4 = "deepseek-ai/DeepSeek-V4-Flash"


def sized(**settings: object) -> Sizing:
    return resolve(Scenario(**settings)).size()


def test_no_commit_stands_in_a_sentence() -> None:
    for engine in ENGINES:
        assert not re.search(r"[0-9a-f]{7}", engine_name(Scenario(engine=engine)))
    assert engine_name(Scenario(engine="llama.cpp")) == "llama.cpp"
    assert engine_name(Scenario(engine="tensorrt-llm")) == "TensorRT-LLM"
    assert engine_name(Scenario()) == "vLLM 0.33"


def test_an_older_version_is_always_named() -> None:
    assert engine_name(Scenario(engine="llama.cpp", engine_version="expanded-mla")) == "llama.cpp < b5300"
    assert engine_name(Scenario(engine_version="v0")) == "vLLM V0"
    for engine, versions in ENGINE_VERSIONS.items():
        names = {name_of(engine, version) for version in ("auto", *versions)}
        assert len(names) == 1 + len(versions)


def test_a_commit_is_short_where_versions_matter() -> None:
    assert name_of("llama.cpp") == "llama.cpp 0c1e570"
    assert name_of("tensorrt-llm") == "TensorRT-LLM 0004396"


@pytest.mark.parametrize(
    ("kv_dtype", "request_bytes"),
    [
        ("auto", 947_798_016),
        ("fp16", 947_798_016),
        ("bf16", 947_798_016),
        ("fp32", 1_883_389_952),
        ("q8_0", 509_239_296),
        ("q5_1", 363_053_056),
        ("q4_0", 275_341_312),
    ],
)
def test_compressed_caches_of_llama_cpp_take_the_type_that_is_set(kv_dtype: str, request_bytes: int) -> None:
    """By hand: cells of n/4 and n/128 records, padded to 256, windows, indexer keys and states in F32."""
    sizing = sized(model=V4, engine="llama.cpp", gpu="h200", weights_gib=90, kv_dtype=kv_dtype, input=131_072, output=0)
    assert sizing.request_bytes == request_bytes
    assert sizing.kv_dtype.name == ("fp16" if kv_dtype == "auto" else kv_dtype)
    assert sizing.content_bytes <= (sizing.held_bytes or 0) < request_bytes
    assert "packed-cache" not in {note.code for note in all_notes(sizing)}
    started = launch(sizing)
    assert started is not None
    assert ("-ctk" in started.command) is (sizing.kv_dtype.name != "fp16")


def test_what_is_to_be_set_instead_can_be_set() -> None:
    with pytest.raises(ScenarioError, match="set both to q8_0") as caught:
        sized(model=V4, engine="llama.cpp", kv_dtype="q8_0", v_dtype="q4_0")
    assert caught.value.message.values["dtype"] in KV_DTYPES
    assert sized(model=V4, engine="llama.cpp", kv_dtype="q8_0", v_dtype="q8_0").plan is not None


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_answers_for_the_gpus_it_runs_on(engine: str) -> None:
    architecture = catalogue.load("Qwen/Qwen3-8B").architecture
    makers = {
        "vllm": {"nvidia", "amd"},
        "sglang": {"nvidia", "amd"},
        "tensorrt-llm": {"nvidia"},
    }.get(engine, {"nvidia", "amd", "apple"})
    for gpu in every_device():
        made = planned(architecture, under_engine(Scenario(gpu=gpu.id), engine), gpu)
        assert (made.plan is not None) is (gpu.maker in makers), gpu.id
        if made.missing is not None:
            said = str(made.missing.message)
            assert made.missing.code == "not-on-this-gpu"
            assert gpu.name in said
            others = said.partition("(")[2].partition(")")[0].split(", ")
            offered = [other for other, name in NAMES.items() if name in others]
            assert len(offered) == len(others)
            for other in offered:
                assert planned(architecture, under_engine(Scenario(gpu=gpu.id), other), gpu).plan is not None


_ABOUT_OTHERS = frozenset({"not-on-this-gpu", "kv-dtype-of-another-engine"})
"""Notes that name the engines to choose instead."""


@pytest.mark.parametrize("engine", ENGINES)
def test_no_note_names_another_engine(engine: str) -> None:
    """Of every bundled model, on a GPU with and one without fp8, split and whole, with more than runs at once."""
    others = [name for other, name in NAMES.items() if other != engine]
    for model in catalogue.models():
        for settings in (
            {"gpu": "h200", "sequences": 100_000, "input": 10_000_000},
            {"gpu": "t4"},
            {"gpu": "b200", "gpus": 8, "kv_dtype": "fp8"},
        ):
            try:
                sizing = sized(**{"model": model, "engine": engine, "weights_gib": 20.0, **settings})
            except ScenarioError:
                continue
            said = {note.code: note.message("en") for note in all_notes(sizing) if note.code not in _ABOUT_OTHERS}
            said["kv_dtype"] = sizing.kv_dtype_reason("en")
            if sizing.budget is not None:
                for term in ("hidden", "weights", "activations", "graphs", "non_torch"):
                    said[term] = getattr(sizing.budget, term).source("en")
            wrong = {code: line for code, line in said.items() for name in others if name in line}
            if engine != "transformers":  # the weights are counted with it, whatever the engine
                wrong.pop("weights", None)
            assert not wrong, (model, wrong)


@pytest.mark.parametrize(
    ("field", "value", "others", "offered"),
    [
        ("tp", 2, {"gpus": 3}, "1"),
        ("tp", 3, {"gpus": 3}, "1"),
        ("tp", 3, {"gpus": 4}, "1, 2, 4"),
        ("dp", 4, {"gpus": 6}, "3, 6"),
        ("dp", 2, {"gpus": 4, "tp": 1}, "4"),
        ("gpus", 6, {"pp": 2}, "2, 4, 8, 16, 32, 64, 128"),
        ("pp", 128, {"gpus": 128}, "2, 4, 8, 16, 32, 64"),
        ("dcp", 3, {"gpus": 16}, "1, 2"),
        ("kv_dtype", "fp7", {"engine": "sglang"}, "auto, bf16, fp16, fp8"),
        ("engine_version", "0.1", {"engine": "sglang"}, "auto"),
        ("v_dtype", "nvfp4", {"engine": "llama.cpp", "kv_dtype": "q8_0"}, "bf16, fp16, fp32, q8_0"),
    ],
)
def test_only_what_is_then_accepted_is_offered(
    field: str, value: object, others: dict[str, object], offered: str
) -> None:
    architecture = catalogue.load("Qwen/Qwen3-32B").architecture
    gpu = device("h200")
    with pytest.raises(ScenarioError) as caught:
        planned(architecture, Scenario(gpu="h200", **{**others, field: value}), gpu)
    assert caught.value.field == field
    said = accepted(architecture, {"gpu": "h200", **others}, field, caught.value.message, gpu)
    key = "choices" if "choices" in said.values else "sizes"
    assert str(said.values[key]).startswith(offered)
    assert str(said.values[key]) in str(said)
    for one in str(said.values[key]).split(", "):
        written: object = int(one) if one.isdecimal() else one
        planned(architecture, Scenario(gpu="h200", **{**others, field: written}), gpu)


def test_where_nothing_else_goes_that_is_said() -> None:
    architecture = catalogue.load("Qwen/Qwen3-32B").architecture
    values = {"gpus": 6, "dp": 2}
    with pytest.raises(ScenarioError) as caught:
        planned(architecture, Scenario(tp=3, **values), None)
    said = accepted(architecture, values, "tp", caught.value.message, None)
    assert "change those" in said("en")
    assert "ほかの設定を変えてください" in said("ja")
    plain = Message(Text("No list.", "一覧なし。"))
    assert accepted(architecture, values, "tp", plain, None) is plain
