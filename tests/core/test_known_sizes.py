"""Every bundled model: the letters, the terms and the contents, exactly."""

from fractions import Fraction
from typing import Any

import pytest

from kvviz.core.architecture import read_config, used_fields
from kvviz.core.cache import content, letter
from kvviz.core.kv_dtype import resolve_kv_dtype
from tests.core.known import CONFIGS, KNOWN, MODELS, config_of


def test_each_bundled_file_has_a_known_answer() -> None:
    assert sorted(path.stem for path in CONFIGS.glob("*.json")) == sorted(m.replace("/", "--") for m in MODELS)


@pytest.mark.parametrize("known", KNOWN, ids=MODELS)
def test_known_sizes(known: dict[str, Any]) -> None:
    architecture = read_config(config_of(known["model"]))
    terms = content(architecture.layers, resolve_kv_dtype(architecture, "bf16")[0])
    assert "".join(letter(layer) for layer in architecture.layers) == known["layers"]
    assert terms.growing_bytes_per_token == Fraction(str(known["growing_bytes_per_token"]))
    assert [
        {"kind": limit.kind, "limit_tokens": limit.limit_tokens, "bytes_per_token": limit.bytes_per_token}
        for limit in terms.limited
    ] == known["limited"]
    assert terms.state_bytes == known["state_bytes_per_sequence"]
    assert terms.cross_bytes == known["cross_bytes_per_sequence"]
    for tokens, expected in known["content_bytes"].items():
        exact = terms.bytes_at(int(tokens))
        assert -(-exact.numerator // exact.denominator) == expected


@pytest.mark.parametrize("model", MODELS)
def test_the_used_fields_read_the_same(model: str) -> None:
    config = config_of(model)
    assert read_config(used_fields(config)) == read_config(config)


@pytest.mark.parametrize("model", MODELS)
def test_every_number_says_where_it_came_from(model: str) -> None:
    architecture = read_config(config_of(model))
    assert architecture.facts
    for fact in architecture.facts:
        assert fact.term
        assert fact.where.startswith("$.") == (fact.origin == "field")


def test_fp8_weights_do_not_make_an_fp8_cache_but_a_cache_scheme_does() -> None:
    asking = {model for model in MODELS if read_config(config_of(model)).kv_scheme}
    assert asking == {
        "nvidia/GLM-5.1-NVFP4",
        "nvidia/GLM-5.3-NVFP4",
        "nvidia/Gemma-4-26B-A4B-NVFP4",
        "nvidia/Kimi-K2.5-NVFP4",
        "nvidia/Kimi-K2.7-Code-NVFP4",
        "nvidia/MiniMax-M2.7-NVFP4",
        "nvidia/Qwen3.5-122B-A10B-NVFP4",
        "nvidia/Qwen3.5-397B-A17B-NVFP4",
        "nvidia/Qwen3.6-27B-NVFP4",
    }


def test_whether_keys_and_values_are_wide_as_hidden_over_heads_is_not_assumed() -> None:
    """49 of the bundled models give a head size that is not hidden size over heads; taking the quotient is wrong."""
    differs = 0
    for model in MODELS:
        architecture = read_config(config_of(model))
        if architecture.hidden_size is None or not architecture.attention_heads:
            continue
        explicit = {f.value for f in architecture.facts if f.term == "head_dim" and f.origin != "derived"}
        differs += bool(explicit - {architecture.hidden_size // architecture.attention_heads})
    assert differs >= 40
