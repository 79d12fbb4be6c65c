"""Whatever is pasted: a layout, or a KvvizError whose lines say what to correct. Nothing else, and quickly."""

import contextlib
import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.core.architecture import parse_config, read_config, used_fields
from kvviz.core.cache import content
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import ConfigError, KvvizError, UnknownArchitectureError
from tests.core.known import MODELS, config_of

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**40, max_value=2**80)
    | st.floats()
    | st.sampled_from([0, -1, 1, 10**30, -(10**400), "", "8", "auto", "full_attention", "<script>", "\ud800", "{x}"])
    | st.text(max_size=8)
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


def read(config: object) -> None:
    """Reads; a refusal must be a KvvizError with lines that a person can read in both languages."""
    try:
        architecture = read_config(config, name="model")
    except KvvizError as refused:
        error = refused
    else:
        assert content(architecture.layers, KV_DTYPES["bf16"]).bytes_at(131_072) >= 0
        assert all(note.message("en") and note.message("ja") for note in architecture.notes)
        assert read_config(used_fields(config)) == architecture
        return
    assert isinstance(error, ConfigError)
    assert all(line and "\n" not in line for line in error.lines("en") + error.lines("ja"))
    assert all(problem.path.startswith("$.") for problem in error.problems)
    assert error.problems or not isinstance(config, dict) or isinstance(error, UnknownArchitectureError)


@given(JSON)
def test_any_json_value(value: object) -> None:
    read(value)


@given(st.sampled_from(["llama", "qwen3_5", "deepseek_v32", "deepseek_v4", "nemotron_h", "t5", "mllama"]), JSON)
def test_any_json_value_under_a_known_model_type(model_type: str, value: object) -> None:
    read({**(value if isinstance(value, dict) else {"layer_types": value}), "model_type": model_type})


def paths_in(config: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in a JSON value."""
    places: list[tuple[str | int, ...]] = [path] if path else []
    children = config.items() if isinstance(config, dict) else enumerate(config) if isinstance(config, list) else ()
    for key, child in children:
        places += paths_in(child, (*path, key))
    return places


def parent_of(config: object, path: tuple[str | int, ...]) -> object:
    """What holds the last step of ``path``; None where an earlier change took it away."""
    for step in path[:-1]:
        if isinstance(config, dict):
            config = config.get(step)
        elif isinstance(config, list) and isinstance(step, int) and step < len(config):
            config = config[step]
        else:
            return None
    return config


@given(st.data())
def test_a_real_config_with_fields_changed_or_missing(data: st.DataObject) -> None:
    config: Any = config_of(data.draw(st.sampled_from(MODELS)))
    places = paths_in(used_fields(config))  # other fields are not read, so changing them shows nothing
    for path in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)):
        holder = parent_of(config, path)
        change = data.draw(st.sampled_from(["replace", "remove", "add"]))
        if isinstance(holder, dict):
            holder.pop(path[-1], None)
            if change != "remove":
                holder[path[-1]] = data.draw(JSON)
        elif isinstance(holder, list) and holder:
            if change == "add":
                holder.append(holder[0])
            elif change == "remove":
                holder.pop()
            else:
                holder[-1] = data.draw(JSON)
    read(config)


@pytest.mark.parametrize("wrong", [-1, 0, 10**9, 10**400, "32", True, math.nan, math.inf, 1.5, [], {}, [1], {"a": 1}])
@pytest.mark.parametrize("field", ["num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim"])
def test_a_wrong_number_is_named_with_its_path(field: str, wrong: object) -> None:
    if field == "head_dim" and wrong == 0:
        return  # stands for "not given" in published files
    config = config_of("Qwen/Qwen3-8B")
    config[field] = wrong
    with pytest.raises(ConfigError) as caught:
        read_config(config)
    assert [problem.path for problem in caught.value.problems] == [f"$.{field}"]


@pytest.mark.parametrize("field", ["num_hidden_layers", "num_attention_heads"])
@pytest.mark.parametrize("absence", ["missing", "null"])
def test_a_size_that_is_not_there_is_an_error_not_a_guess(field: str, absence: str) -> None:
    config = config_of("Qwen/Qwen3-8B")
    config[field] = None
    if absence == "missing":
        del config[field]
    with pytest.raises(ConfigError) as caught:
        read_config(config)
    assert [problem.path for problem in caught.value.problems] == [f"$.{field}"]


def test_all_problems_at_once() -> None:
    config = config_of("google/gemma-3-27b-it")
    config["text_config"] |= {"num_attention_heads": "32", "head_dim": -1, "sliding_window": -1, "dtype": 7}
    config["text_config"]["layer_types"][3] = "spiral_attention"
    with pytest.raises(ConfigError) as caught:
        read_config(config)
    assert {problem.path for problem in caught.value.problems} == {
        "$.text_config.num_attention_heads",
        "$.text_config.head_dim",
        "$.text_config.sliding_window",
        "$.text_config.layer_types[3]",
    }
    assert "spiral_attention is not a value that kvviz knows here @ $.text_config.layer_types[3]" in (
        caught.value.lines("en")
    )


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ("openai/gpt-oss-120b", "layer_types"),
        ("deepseek-ai/DeepSeek-V4-Flash", "compress_ratios"),
        ("XiaomiMiMo/MiMo-V2-Flash", "hybrid_layer_pattern"),
        ("zai-org/GLM-5.2", "indexer_types"),
        ("MiniMaxAI/MiniMax-M1", "attn_type_list"),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "hybrid_override_pattern"),
        ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", "block_configs"),
        ("Zyphra/Zamba2-7B-Instruct", "layers_block_type"),
    ],
)
@pytest.mark.parametrize("change", ["short", "long"])
def test_a_layer_list_of_the_wrong_length(model: str, field: str, change: str) -> None:
    config = config_of(model)
    config[field] = config[field][:-2] if change == "short" else config[field] + 3 * config[field][-1:]
    if field == "compress_ratios" and change == "long":  # entries of draft layers follow, counted in the file or not
        assert read_config(config).layers == read_config(config_of(model)).layers
        return
    with pytest.raises(ConfigError) as caught:
        read_config(config)
    assert [problem.path for problem in caught.value.problems] == [f"$.{field}"]


def test_a_number_of_five_thousand_digits() -> None:
    with pytest.raises(ConfigError) as caught:
        read_config({**config_of("Qwen/Qwen3-8B"), "num_hidden_layers": 10**5000})
    assert len(caught.value.lines("en")[1]) < 120


def test_an_architecture_without_rules_gets_no_number() -> None:
    config = {"model_type": "mystery", "architectures": ["MysteryForCausalLM"], "num_hidden_layers": 12}
    with pytest.raises(UnknownArchitectureError) as caught:
        read_config(config)
    assert "mystery" in str(caught.value)
    assert "$.num_hidden_layers" in {problem.path for problem in caught.value.problems}


def test_an_empty_object_is_an_architecture_without_rules() -> None:
    with pytest.raises(UnknownArchitectureError):
        read_config({})


# --- Text ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "null",
        "[]",
        '"llama"',
        "3",
        "NaN",
        "{",
        "{'model_type': 'llama'}",
        '{"a": 1,}',
        b"\xff\xfe{}",
        '{"a": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"a": ' + "[" * 1000 + "]" * 1000 + "}",
        '{"a": ' * 65 + "1" + "}" * 65,
        '{"a": "' + "x" * 2**20 + '"}',
        " " * (10 * 2**20),
    ],
    ids=lambda text: repr(text[:20]),
)
def test_text_that_is_no_config(text: str | bytes) -> None:
    begun = time.process_time()
    with pytest.raises(ConfigError) as caught:
        parse_config(text)
    assert caught.value.lines("en") != caught.value.lines("ja")
    assert time.process_time() - begun < 1


@given(st.text() | st.binary())
def test_any_text(text: str | bytes) -> None:
    with contextlib.suppress(ConfigError):
        assert isinstance(parse_config(text), dict)


def test_a_byte_order_mark_is_no_obstacle() -> None:
    assert parse_config(b"\xef\xbb\xbf{}") == parse_config("\ufeff{}") == {}


def test_infinity_is_accepted_where_published_files_have_it_and_refused_where_it_is_used() -> None:
    model = "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4"
    assert math.inf in config_of(model)["time_step_limit"]
    config = parse_config(json.dumps({**config_of(model), "head_dim": math.inf}))
    with pytest.raises(ConfigError) as caught:
        read_config(config)
    assert caught.value.lines("en")[1:] == ("inf is not a finite number @ $.head_dim",)


def test_reading_all_bundled_configs_is_quick() -> None:
    configs = [config_of(model) for model in MODELS]
    begun = time.process_time()
    for config in configs:
        read_config(config)
    assert time.process_time() - begun < 0.5
