"""Layers described by hand: a config like any other."""

from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.catalogue import load, models
from kvviz.core.architecture import (
    ENTERED_TYPE,
    MOST_ROWS,
    ROW_FIELDS,
    entered_config,
    parse_config,
    read_config,
    rows_of,
    understood,
    used_fields,
)
from kvviz.core.cache import content
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import ConfigError
from kvviz.links import pack_config, unpack_config

BF16 = KV_DTYPES["bf16"]
ROWS: tuple[dict[str, Any], ...] = (
    {"count": 10, "kind": "full", "kv_heads": 8, "key_dim": 128},
    {"count": 30, "kind": "window", "kv_heads": 4, "key_dim": 192, "value_dim": 128, "window_tokens": 1024},
    {"count": 2, "kind": "chunk", "kv_heads": 8, "key_dim": 128, "window_tokens": 8192},
    {"count": 4, "kind": "latent", "latent_dim": 512, "rope_dim": 64},
    {"count": 3, "kind": "state", "heads": 32, "key_dim": 128, "value_dim": 64},
    {"count": 5, "kind": "none"},
)


def test_every_kind_counts_as_it_should() -> None:
    architecture = read_config(entered_config(ROWS))
    of = content(architecture.layers, BF16)
    assert len(architecture.layers) == 54
    # 10 x 8 x (128 + 128) x 2 B and 4 x 576 x 2 B
    assert of.growing_bytes_per_token == 10 * 8 * 256 * 2 + 4 * 576 * 2
    # 30 x 4 x (192 + 128) x 2 B, 2 x 8 x 256 x 2 B
    assert [(m.kind, m.limit_tokens, m.bytes_per_token) for m in of.limited] == [
        ("window", 1024, Fraction(30 * 4 * 320 * 2)),
        ("chunk", 8192, Fraction(2 * 8 * 256 * 2)),
    ]
    assert of.state_bytes == 3 * 32 * 128 * 64 * 4
    assert "layers-entered" in {note.code for note in architecture.notes}


def test_a_link_carries_it() -> None:
    config = entered_config(ROWS, like=load("Qwen/Qwen3-32B").architecture)
    again = read_config(unpack_config(pack_config(config)))
    assert again == read_config(config) == read_config(used_fields(config))
    assert (again.attention_heads, again.hidden_size, again.vocab_size) == (64, 5120, 151_936)
    assert (again.max_context_tokens, again.dtype) == (40_960, "bf16")


@pytest.mark.parametrize("model", models())
def test_rows_of_a_bundled_model_are_its_layers_again(model: str) -> None:
    architecture = load(model).architecture
    rows = rows_of(architecture)
    assert 1 <= len(rows) <= MOST_ROWS
    assert all(set(row) - {"count", "kind"} <= set(ROW_FIELDS[str(row["kind"])]) for row in rows)
    simple = {"full", "latent"}
    if {str(row["kind"]) for row in rows} <= simple and all(len(layer) == 1 for layer in architecture.layers):
        again = read_config(entered_config(rows, like=architecture))
        assert content(again.layers, BF16) == content(architecture.layers, BF16)


@pytest.mark.parametrize("nested", [False, True])
def test_what_is_understood_of_an_unknown_architecture(nested: bool) -> None:
    sizes = {"num_hidden_layers": 40, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128}
    inner = {"model_type": "quux", **sizes, "hidden_size": 5120}
    config = {"model_type": "quux", "architectures": ["QuuxForCausalLM"], "text_config": inner} if nested else inner
    found = understood(config)
    assert found is not None
    assert rows_of(found) == ({"count": 40, "kind": "full", "kv_heads": 8, "key_dim": 128, "value_dim": 128},)
    assert found.attention_heads == 64


@pytest.mark.parametrize("config", [None, [], {}, {"model_type": "quux"}, {"num_hidden_layers": "many"}])
def test_nothing_is_understood_where_there_is_nothing(config: object) -> None:
    assert understood(config) is None


@pytest.mark.parametrize(
    ("rows", "path"),
    [
        ([], "$.layers"),
        ([{"count": 1, "kind": "quux"}], "$.layers[0].kind"),
        ([{"count": 1}], "$.layers[0].kind"),
        ([{"kind": "none"}], "$.layers[0].count"),
        ([{"count": 0, "kind": "none"}], "$.layers[0].count"),
        ([{"count": 5000, "kind": "none"}], "$.layers[0].count"),
        ([{"count": 4000, "kind": "none"}, {"count": 4000, "kind": "none"}], "$.layers"),
        ([{"count": 1, "kind": "none"}] * (MOST_ROWS + 1), "$.layers"),
        ([{"count": 1, "kind": "full", "kv_heads": 8}], "$.layers[0].key_dim"),
        ([{"count": 1, "kind": "full", "kv_heads": "8", "key_dim": 128}], "$.layers[0].kv_heads"),
        ([*ROWS, {"count": 1, "kind": "window", "kv_heads": 8, "key_dim": 128}], "$.layers[6].window_tokens"),
        ([{"count": 1, "kind": "latent", "latent_dim": -1, "rope_dim": 0}], "$.layers[0].latent_dim"),
        (["full"], "$.layers[0]"),
        ("full", "$.layers"),
    ],
)
def test_a_bad_row_is_named(rows: object, path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_config({"model_type": ENTERED_TYPE, "layers": rows})
    assert path in {problem.path for problem in caught.value.problems}


values = st.none() | st.booleans() | st.integers(-2, 2**40) | st.floats() | st.text(max_size=5)


@given(rows=st.lists(st.dictionaries(st.sampled_from(["count", "kind", "kv_heads", "key_dim"]), values), max_size=4))
def test_whatever_the_rows_are_only_a_config_error_comes(rows: list[dict[str, object]]) -> None:
    with suppress(ConfigError):
        read_config(entered_config(rows))


def test_it_reads_as_a_file() -> None:
    assert read_config(parse_config('{"model_type": "kvviz-layers", "layers": [{"count": 2, "kind": "none"}]}')).layers
