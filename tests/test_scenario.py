"""Every knob is checked, whatever the link allowed; links and JSON bring back exactly what was asked."""

import dataclasses
import json
import math
import random
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz import scenario as module
from kvviz import weights
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import ScenarioError
from kvviz.scenario import (
    DEFAULTS,
    FIELDS,
    MAX_TOKENS,
    MORE_SETTINGS,
    WEIGHT_DTYPES,
    Scenario,
    changed_fields,
    from_json,
    from_query,
    parse_tokens,
    parse_value,
    shown,
    to_json,
    to_query,
)

OTHER: dict[str, Any] = {
    "model": "google/gemma-3-27b-it",
    "revision": "sha256:0123456789ab",
    "config": "eJyrVkrOSCxKz0lVsgIAG1UEfw",
    "gpu": "",
    "gpus": 4,
    "input": 131_072,
    "output": 0,
    "sequences": 7,
    "kv_dtype": "fp8",
    "weight_dtype": "int4",
    "weights_gib": 30.5,
    "memory_fraction": 0.9,
    "block_tokens": 64,
    "batched_tokens": 8192,
    "in_flight_tokens": 2048,
    "max_model_len": 262_144,
    "tp": 2,
}
"""For each field a value that is not its default."""

HUGE = 10**5000
"""More digits than Python writes."""

BAD = [
    *((field, bad) for field in ("gpus", "sequences", "block_tokens", "tp") for bad in (0, -1, 10**7, 10**400)),
    *((field, bad) for field in ("input", "output") for bad in (-1, MAX_TOKENS + 1, 1.0, True, "5", None, [5])),
    *((field, bad) for field in ("batched_tokens", "in_flight_tokens", "max_model_len") for bad in (0, True, 1e308)),
    *(("memory_fraction", bad) for bad in (0.04, 1.01, math.nan, math.inf, -math.inf, 1e308, True, "0.9", None)),
    *(("weights_gib", bad) for bad in (0, -1.0, math.nan, 1e308, True, "30", 10**400)),
    *(("model", bad) for bad in ("", " ", "a\nb", "a\x00", "x" * 121, "<script>", "[a](b)", "`a`", "a b ", 5, None)),
    *(("gpu", bad) for bad in ("H100", "none", "h100\n", "x" * 65, "<b>", None, 5)),
    *(("revision", bad) for bad in ("a b", "x" * 81, "\x1b[31m", "main\n", None)),
    *(("config", bad) for bad in ("{}", "x" * 4097, "ab=", "あ", None)),
    *((field, bad) for field in ("kv_dtype", "weight_dtype", "engine") for bad in ("", "fp7", "FP8", None, ["auto"])),
    ("tp", 2),
    ("max_model_len", 4095),
]


@pytest.mark.parametrize(("field", "bad"), BAD)
def test_out_of_bounds_is_refused_and_names_the_field(field: str, bad: object) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario(**{field: bad})  # type: ignore[arg-type]
    assert caught.value.field == field
    for line in (*caught.value.lines("en"), *caught.value.lines("ja")):
        assert field in line
        assert "\n" not in line
        assert len(line) < 400
        assert not set("<>[]`\x1b") & set(line)


@pytest.mark.parametrize(
    ("field", "good"),
    [
        *OTHER.items(),
        ("input", 0),
        ("input", MAX_TOKENS - 1024),
        ("sequences", 1_000_000),
        ("memory_fraction", 1),
        ("model", "Qwen/Qwen3-32B"),
        ("model", "社内モデル 7B (draft)"),
        ("max_model_len", 4096),
    ],
)
def test_in_bounds_is_taken(field: str, good: object) -> None:
    values: dict[str, Any] = {"gpus": 4, field: good}
    assert getattr(Scenario(**values), field) == good


def test_at_least_one_token_and_not_too_many_together() -> None:
    with pytest.raises(ScenarioError, match="at least one token"):
        Scenario(input=0, output=0)
    with pytest.raises(ScenarioError, match="at most 16,777,216"):
        Scenario(input=MAX_TOKENS, output=1)
    assert Scenario(input=0, output=1).tokens == 1


def test_the_default_scenario_is_the_worked_example() -> None:
    s = Scenario()
    assert (s.model, s.gpu, s.gpus, s.tokens, s.sequences) == ("Qwen/Qwen3-32B-FP8", "h100-80gb", 1, 4096, 50)


def test_another_model_drops_the_old_config_and_revision() -> None:
    pinned = Scenario(model="mine", config="abc", revision="sha256:00")
    assert pinned.with_changes(input=1) == Scenario(model="mine", config="abc", revision="sha256:00", input=1)
    assert pinned.with_changes(model="Qwen/Qwen3-8B") == Scenario(model="Qwen/Qwen3-8B")
    assert pinned.with_changes(model="b", config="def").config == "def"
    assert pinned.with_changes(model="mine") == pinned
    with pytest.raises(ScenarioError):
        pinned.with_changes(gpus=0)


@pytest.mark.parametrize(
    ("written", "tokens"),
    [
        ("131072", 131_072),
        ("131,072", 131_072),
        ("１３１，０７２", 131_072),
        ("４０９６", 4096),
        (" 4096 ", 4096),
        ("4_096", 4096),
        ("128k", 131_072),
        ("128K", 131_072),
        ("128 k", 131_072),
        ("１２８ｋ", 131_072),
        ("1m", 1_048_576),
        ("1.5k", 1536),
        ("0.5k", 512),
        ("0", 0),
    ],
)
def test_tokens_as_people_write_them(written: str, tokens: int) -> None:
    assert parse_tokens(written) == tokens


@pytest.mark.parametrize(
    "written",
    ["", "k", "abc", "-1", "1.3k", "1e3", "1,07", "12,34,567", "0x10", "1 2", "9" * 5000, "4096 tokens", "①k2"],
)
def test_what_is_no_number_of_tokens(written: str) -> None:
    with pytest.raises(ScenarioError, match=r"131,072 or 128k"):
        parse_tokens(written)


def test_a_link_has_every_field_even_those_at_their_default() -> None:
    assert set(to_query(Scenario())) == {*FIELDS, "v"}
    assert to_query(Scenario())["v"] == "1"
    assert to_query(Scenario(input=131_072))["input"] == "131072"
    assert to_query(Scenario())["tp"] == "auto"
    assert to_query(Scenario(gpu=""))["gpu"] == "none"


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_travels(field: str) -> None:
    if field == "engine":
        return  # one engine so far: nothing else to travel
    scenario = Scenario(gpus=4, **{field: OTHER[field]}) if field != "gpus" else Scenario(gpus=4)
    link = to_query(scenario)
    assert link[field] != to_query(Scenario())[field]
    assert from_query(link) == (scenario, ())
    assert from_json(json.loads(json.dumps(to_json(scenario)))) == (scenario, ())


def test_a_link_means_the_same_after_defaults_change(monkeypatch: pytest.MonkeyPatch) -> None:
    link = to_query(Scenario())
    for field in FIELDS:
        assert link[field] or DEFAULTS[field] == "", field
    # The reader consults defaults only for what is missing or rejected.
    monkeypatch.setattr(module, "DEFAULTS", dict.fromkeys(FIELDS, "changed"))
    assert from_query(link) == (Scenario(), ())


def test_engines_that_drop_empty_parameters_change_nothing() -> None:
    scenario = Scenario(gpu="")
    assert from_query({k: v for k, v in to_query(scenario).items() if v}) == (scenario, ())


@pytest.mark.parametrize(
    ("query", "fields", "expected"),
    [
        ({"input": "128k", "output": "1,024"}, [], Scenario(input=131_072)),
        ({"input": ["5", "6"]}, ["input"], Scenario(input=6)),
        ({"input": ["6", "6"]}, [], Scenario(input=6)),
        ({"input": []}, ["input"], Scenario()),
        ({"input": "abc"}, ["input"], Scenario()),
        ({"input": "1e308"}, ["input"], Scenario()),
        ({"input": "9" * 100_000}, ["input"], Scenario()),
        ({"gpus": "1e308", "tp": "0x2"}, ["gpus", "tp"], Scenario()),
        ({"memory_fraction": "nan"}, ["memory_fraction"], Scenario()),
        ({"memory_fraction": "inf", "weights_gib": "-1"}, ["memory_fraction", "weights_gib"], Scenario()),
        ({"model": "<script>alert(1)</script>", "revision": "sha256:00"}, ["model"], Scenario()),
        ({"foo": "1", "__proto__": "2"}, ["foo", "__proto__"], Scenario()),
        ({"lang": "ja", "embed": "true", "embed_options": ["a", "b"], "v": "1"}, ["embed_options"], Scenario()),
        ({"v": "2", "input": "9"}, ["v"], Scenario(input=9)),
        ({"v": "<b>"}, ["v"], Scenario()),
        ({"v": HUGE}, ["v"], Scenario()),
        ({"tp": "2"}, ["tp"], Scenario()),
        ({"tp": "2", "gpus": "4"}, [], Scenario(tp=2, gpus=4)),
        ({"input": "0", "output": "0"}, ["input"], Scenario(output=0)),
        ({"input": "16777216", "output": "16777216"}, ["input", "output"], Scenario()),
        ({"max_model_len": "100"}, ["max_model_len"], Scenario()),
        ({"kv_dtype": "Q8_0"}, [], Scenario(kv_dtype="q8_0")),
        ({"kv_dtype": "FP8_E4M3"}, [], Scenario(kv_dtype="fp8")),
        ({"gpu": ""}, [], Scenario(gpu="")),
        ({"gpu": "H100-80GB"}, [], Scenario()),
        ({"tp": "", "block_tokens": "AUTO"}, [], Scenario()),
        ({"input": None, "gpus": {}, "model": b"x", 5: "x"}, ["input", "gpus", "model", "5"], Scenario()),
        ({"sequences": True}, ["sequences"], Scenario()),
        ("nonsense", [""], Scenario()),
        (None, [""], Scenario()),
    ],
    ids=shown,
)
def test_links_that_someone_edited(query: object, fields: list[str], expected: Scenario) -> None:
    scenario, rejected = from_query(query)  # type: ignore[arg-type]
    assert scenario == expected
    assert sorted(r.field for r in rejected) == sorted(fields)
    for r in rejected:
        assert not set("<>[]`\n") & set(f"{r.field} {r.shown} {r.message('en')} {r.message('ja')}")
        assert len(r.message("en")) < 400


def test_a_rejected_value_says_what_is_used_instead() -> None:
    (rejected,) = from_query({"input": "many"})[1]
    assert rejected.message("en") == "input: give a whole number from 0 to 16,777,216, not “many”. Used instead: 3072."
    assert "代わりに 3072 を使います。" in rejected.message("ja")


def test_many_unknown_parameters_are_not_all_listed() -> None:
    assert len(from_query({f"x{i}": "1" for i in range(10_000)})[1]) == 20


def test_what_differs_under_more_settings() -> None:
    assert changed_fields(Scenario()) == ()
    assert changed_fields(Scenario(input=1, gpus=4, kv_dtype="fp8")) == ()
    changed = Scenario(gpus=4, **{name: OTHER[name] for name in MORE_SETTINGS}, input=1)
    assert changed_fields(changed) == MORE_SETTINGS


@pytest.mark.parametrize(
    ("field", "written", "value"),
    [
        ("gpu", "none", ""),
        ("gpu", " h200 ", "h200"),
        ("tp", "auto", None),
        ("kv_dtype", "bfloat16", "bf16"),
        ("weights_gib", "30.5", 30.5),
        ("gpus", "８", 8),
        ("max_model_len", "32k", 32_768),
        ("model", " a/b ", "a/b"),
    ],
)
def test_one_value_as_written(field: str, written: str, value: object) -> None:
    assert parse_value(field, written) == value


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("<b>", "·b·"),
        ("a\nb\x1b", "a·b·"),
        (True, "True"),
        (None, "None"),
        (1.5, "1.5"),
        ([1, [2]], "1, list"),
        (HUGE, "1e4983"),
        ("x" * 99, "x" * 47 + "…"),
        ({"a": 1}, "dict"),
    ],
    ids=shown,
)
def test_values_are_shown_short_and_without_markup(value: object, line: str) -> None:
    assert shown(value) == line


def test_weight_types_are_those_that_weights_are_known_in() -> None:
    assert WEIGHT_DTYPES == weights.WEIGHT_DTYPES


tokens = st.integers(0, MAX_TOKENS)
optional_tokens = st.none() | st.integers(1, MAX_TOKENS)
names = st.sampled_from(["Qwen/Qwen3-8B", "社内モデル 7B", "a", "x-y_z.v1+2 (b)"])
packed = st.text(string.ascii_letters + string.digits + "-_", max_size=4096)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Any scenario that passes its own checks."""
    asked = draw(tokens)
    answered = draw(st.integers(0 if asked else 1, MAX_TOKENS - asked)) if asked < MAX_TOKENS else 0
    tp = draw(st.none() | st.integers(1, 32))
    return Scenario(
        model=draw(names),
        revision=draw(st.sampled_from(["", "main", "sha256:0123456789ab"])),
        config=draw(packed),
        gpu=draw(st.sampled_from(["", "h100-80gb", "unknown-9.5+"])),
        gpus=draw(st.integers(1, 1024 // (tp or 1))) * (tp or 1),
        input=asked,
        output=answered,
        sequences=draw(st.integers(1, 1_000_000)),
        kv_dtype=draw(st.sampled_from(["auto", *KV_DTYPES])),
        weight_dtype=draw(st.sampled_from(WEIGHT_DTYPES)),
        weights_gib=draw(st.none() | st.floats(0.001, 100_000)),
        memory_fraction=draw(st.floats(0.05, 1)),
        block_tokens=draw(st.none() | st.integers(1, 65_536)),
        batched_tokens=draw(optional_tokens),
        in_flight_tokens=draw(optional_tokens),
        max_model_len=draw(st.none() | st.integers(max(1, asked + answered), MAX_TOKENS)),
        tp=tp,
    )


@given(scenarios())
def test_any_scenario_survives_a_link_and_json(scenario: Scenario) -> None:
    link = to_query(scenario)
    assert from_query(link) == (scenario, ())
    assert from_query({key: [value] for key, value in link.items()}) == (scenario, ())
    assert from_json(json.loads(json.dumps(to_json(scenario)))) == (scenario, ())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
near = st.sampled_from(["0", "-1", "1", "auto", "none", "1e308", "nan", "16777216", "128k", "bf16", "a/b", "２"])


@given(st.dictionaries(st.sampled_from([*FIELDS, "v", "lang"]) | st.text(), near | values))
def test_reading_a_link_never_raises(query: dict[str, Any]) -> None:
    scenario, rejected = from_query(query)
    assert isinstance(scenario, Scenario)
    for r in rejected:
        assert r.message("en")
        assert r.message("ja")
    # What was taken over is stable: writing it and reading it again rejects nothing.
    assert from_query(to_query(scenario)) == (scenario, ())


@given(values | near)
def test_reading_anything_at_all_never_raises(anything: object) -> None:
    assert isinstance(from_query(anything)[0], Scenario)  # type: ignore[arg-type]


def test_random_bytes_in_every_parameter() -> None:
    chosen = random.Random(7)  # noqa: S311 - not a secret
    for _ in range(300):
        query = {f: "".join(chr(chosen.randrange(0x110000)) for _ in range(chosen.randrange(9))) for f in FIELDS}
        assert isinstance(from_query(query)[0], Scenario)


def test_scenarios_cannot_be_changed_and_can_be_cache_keys() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Scenario().gpus = 2  # type: ignore[misc]
    assert hash(Scenario()) == hash(Scenario())
