"""Every knob is checked, whatever the link allowed; links and JSON bring back exactly what was asked."""

import dataclasses
import json
import math
import random
import string
from fractions import Fraction
from math import ceil
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
    requests_in_flight,
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
    "passages": 3,
    "passage_tokens": 256,
    "sequences": 7,
    "users": 200,
    "seconds_between": 30.5,
    "answer_s": 0.1,
    "kv_dtype": "fp8",
    "weight_dtype": "int4",
    "weights_gib": 30.5,
    "memory_fraction": 0.9,
    "block_tokens": 64,
    "batched_tokens": 8192,
    "in_flight_tokens": 2048,
    "max_model_len": 262_144,
    "engine": "vllm",
    "tp": 2,
    "pp": 2,
    "dp": 1,
    "attention_dp": "on",
    "dcp": 2,
    "engine_version": "0.20",
    "prefix_caching": "off",
    "full_windows": "on",
    "draft_layers": 1,
    "draft_tokens": 3,
    "v_dtype": "q8_0",
    "unified": "on",
    "headroom": 0.1,
    "typical": 0.5,
    "shared_tokens": 500,
    "activations_gib": 4.25,
    "non_torch_gib": 0.0,
    "graphs_gib": 0.75,
}
"""For each field a value that is not its default."""

HUGE = 10**5000
"""More digits than Python writes."""

BAD = [
    *((field, bad) for field in ("gpus", "sequences", "block_tokens", "tp") for bad in (0, -1, 10**7, 10**400)),
    *((field, bad) for field in ("input", "output") for bad in (-1, MAX_TOKENS + 1, 1.0, True, "5", None, [5])),
    *((field, bad) for field in ("batched_tokens", "in_flight_tokens", "max_model_len") for bad in (0, True, 1e308)),
    *(("memory_fraction", bad) for bad in (0.04, 1.01, math.nan, math.inf, -math.inf, 1e308, True, "0.9")),
    *(("weights_gib", bad) for bad in (0, -1.0, math.nan, 1e308, True, "30", 10**400)),
    *(("model", bad) for bad in ("", " ", "a\nb", "a\x00", "x" * 121, "<script>", "[a](b)", "`a`", "a b ", 5, None)),
    *(("gpu", bad) for bad in ("H100", "none", "h100\n", "x" * 65, "<b>", None, 5)),
    *(("revision", bad) for bad in ("a b", "x" * 81, "\x1b[31m", "main\n", None)),
    *(("config", bad) for bad in ("{}", "x" * 4097, "ab=", "あ", None)),
    *((field, bad) for field in ("kv_dtype", "weight_dtype", "engine") for bad in ("", "fp7", "FP8", None, ["auto"])),
    *((field, bad) for field in ("passages", "shared_tokens", "passage_tokens") for bad in (-1, 1.0, True, None, "5")),
    ("passages", 10_001),
    *(("draft_tokens", bad) for bad in (0, -1, 33, 1.0, True, "3")),
    ("passage_tokens", 1_048_577),
    *(("users", bad) for bad in (0, -1, 1.5, True, 10**9, 10**400)),
    *(("seconds_between", bad) for bad in (-0.1, 86_401, math.nan, math.inf, True, None, "45")),
    *(("answer_s", bad) for bad in (0, -1.0, 86_401, math.nan, True, None)),
    *(("headroom", bad) for bad in (-0.1, 0.91, math.nan, True, None)),
    *(("typical", bad) for bad in (0, 0.009, 1.01, math.nan, True, None)),
    *((f"{term}_gib", bad) for term in ("activations", "non_torch", "graphs") for bad in (-1, 1_001, math.nan, True)),
    ("tp", 2),
    ("max_model_len", 4095),
    ("shared_tokens", 3073),
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
        ("passages", 10_000),
        ("passage_tokens", 0),
        ("seconds_between", 0),
        ("answer_s", 0.001),
        ("users", 4_000_000),
        ("headroom", 0.9),
        ("typical", 1),
        ("shared_tokens", 3072),
        ("activations_gib", 0),
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


@pytest.mark.parametrize(
    ("input_tokens", "passages", "each", "prompt", "longest"),
    [
        (3072, 0, 512, 3072, 4096),
        (3072, 10, 0, 3072, 4096),
        (3072, 8, 512, 7168, 8192),
        (0, 2, 100, 200, 1224),
        (1_000, 3, 333, 1_999, 3_023),
    ],
)
def test_retrieved_passages_are_input(input_tokens: int, passages: int, each: int, prompt: int, longest: int) -> None:
    scenario = Scenario(input=input_tokens, passages=passages, passage_tokens=each)
    assert (scenario.input_tokens, scenario.tokens) == (prompt, longest)


def test_the_longest_part_of_too_many_tokens_is_named() -> None:
    with pytest.raises(ScenarioError, match="with its passages") as caught:
        Scenario(passages=16, passage_tokens=1_048_576)
    assert caught.value.field == "passages"
    assert Scenario(passages=15, passage_tokens=1_048_576).tokens == 15 * 1_048_576 + 4096


@pytest.mark.parametrize(
    ("users", "answer_s", "pause", "exact", "requests", "formula"),
    [
        (200, 15.0, 45.0, 50, 50, "200 × 15 s ÷ (15 s + 45 s)"),
        (201, 15.0, 45.0, Fraction(201, 4), 51, "201 × 15 s ÷ (15 s + 45 s)"),
        (1, 0.001, 86_400.0, Fraction(1, 86_400_001), 1, "1 × 0.001 s ÷ (0.001 s + 86,400 s)"),
        (1_000_000, 1.0, 0, 1_000_000, 1_000_000, "1,000,000 × 1 s ÷ (1 s + 0 s)"),
        # In floats 3.0000000000000004, which would be rounded up to 4.
        (9, 0.7, 1.4, 3, 3, "9 × 0.7 s ÷ (0.7 s + 1.4 s)"),
        (30, 2.5, 12.25, Fraction(300, 59), 6, "30 × 2.5 s ÷ (2.5 s + 12.25 s)"),
    ],
)
def test_requests_in_flight_of_people(
    users: int, answer_s: float, pause: float, exact: Fraction, requests: int, formula: str
) -> None:
    scenario = Scenario(users=users, answer_s=answer_s, seconds_between=pause, sequences=7)
    working = scenario.from_users
    assert working is not None
    assert (working.exact, working.requests, working.formula) == (exact, requests, formula)
    assert (scenario.requests, scenario.sequences) == (requests, 7)


def test_without_users_the_requests_are_those_given() -> None:
    scenario = Scenario(sequences=7, answer_s=1.0)
    assert (scenario.from_users, scenario.requests) == (None, 7)


def test_users_may_not_have_more_requests_than_can_be_asked_for() -> None:
    assert Scenario(users=4_000_000).requests == 1_000_000
    with pytest.raises(ScenarioError, match="1,000,001 requests") as caught:
        Scenario(users=4_000_001)
    assert caught.value.field == "users"


@given(st.integers(1, 10**6), st.floats(0.001, 86_400), st.floats(0, 86_400), st.floats(0, 86_400))
def test_requests_are_no_more_than_people_and_fewer_with_longer_pauses(
    users: int, answer_s: float, pause: float, longer: float
) -> None:
    made = requests_in_flight(users, answer_s=answer_s, seconds_between=pause)
    assert 1 <= made.requests <= users
    assert made.requests - 1 < made.exact <= made.requests
    slower = requests_in_flight(users, answer_s=answer_s, seconds_between=max(pause, longer))
    assert slower.requests <= made.requests
    assert made.exact * (made.answer_s + made.seconds_between) == users * made.answer_s


@pytest.mark.parametrize(
    ("tokens", "share", "typical"),
    [(4096, 1.0, 4096), (4096, 0.5, 2048), (10_000, 0.07, 700), (1, 0.01, 1), (7, 0.5, 4)],
)
def test_a_typical_length_is_rounded_up(tokens: int, share: float, typical: int) -> None:
    assert Scenario(input=tokens, output=0, typical=share).typical_tokens == typical


def test_every_request_is_longer_than_what_all_share() -> None:
    assert Scenario(shared_tokens=3072).shared_tokens == 3072
    assert Scenario(input=100, passages=2, passage_tokens=50, shared_tokens=200).input_tokens == 200
    assert Scenario(shared_tokens=2047, typical=0.5).typical_tokens == 2048
    with pytest.raises(ScenarioError, match=r"2,048 tokens would be no longer than the 2,048") as caught:
        Scenario(shared_tokens=2048, typical=0.5)
    assert caught.value.field == "typical"


OLD_LINK = {
    "v": "1",
    "model": "openai/gpt-oss-120b",
    "revision": "sha256:0123456789ab",
    "config": "",
    "gpu": "h200",
    "gpus": "2",
    "input": "30000",
    "output": "500",
    "sequences": "64",
    "kv_dtype": "fp8",
    "weight_dtype": "auto",
    "weights_gib": "auto",
    "engine": "vllm",
    "memory_fraction": "0.9",
    "block_tokens": "auto",
    "batched_tokens": "auto",
    "in_flight_tokens": "auto",
    "max_model_len": "auto",
    "tp": "auto",
}
"""A link as version 1 wrote it before there were passages, users, headroom and the like."""


def test_an_old_link_means_what_it_meant() -> None:
    scenario, rejected = from_query(OLD_LINK)
    assert rejected == ()
    assert {name: value for name, value in to_query(scenario).items() if name in OLD_LINK} == OLD_LINK
    assert (scenario.input_tokens, scenario.tokens, scenario.typical_tokens) == (30_000, 30_500, 30_500)
    assert scenario.requests == 64
    new = {name: getattr(scenario, name) for name in FIELDS if name not in OLD_LINK}
    assert new == {
        "passages": 0,
        "passage_tokens": 512,
        "users": None,
        "seconds_between": 45.0,
        "answer_s": 15.0,
        "headroom": 0.0,
        "typical": 1.0,
        "shared_tokens": 0,
        "activations_gib": None,
        "non_torch_gib": None,
        "graphs_gib": None,
        "engine_version": "auto",
        "pp": 1,
        "dp": None,
        "attention_dp": "off",
        "dcp": 1,
        "prefix_caching": "on",
        "full_windows": "off",
        "draft_layers": 0,
        "draft_tokens": None,
        "v_dtype": "same",
        "unified": "off",
    }


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
    other = "sglang" if field == "engine" else OTHER[field]
    scenario = Scenario(gpus=4, **{field: other}) if field != "gpus" else Scenario(gpus=4)
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
        ({"passages": "9999", "passage_tokens": "1m"}, ["passages"], Scenario(passage_tokens=1_048_576)),
        ({"users": "100000000", "sequences": "9"}, ["users"], Scenario(sequences=9)),
        ({"shared_tokens": "4k", "input": "2k"}, ["shared_tokens"], Scenario(input=2048)),
        ({"shared_tokens": "2k", "typical": "0.3"}, ["typical"], Scenario(shared_tokens=2048)),
        ({"users": "AUTO", "headroom": "10%"}, ["headroom"], Scenario()),
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
    assert rejected.message("en") == "input: give a whole number from 0 to 16,777,216, not “many”. Used instead: 3,072."
    assert "代わりに 3,072 を使います。" in rejected.message("ja")


@pytest.mark.parametrize(
    ("field", "given", "said", "used"),
    [
        ("memory_fraction", "0", "“0”", "auto"),
        ("memory_fraction", 0.0, "“0”", "auto"),
        ("seconds_between", "-1", "“-1”", "45"),
        ("seconds_between", -1.0, "“-1”", "45"),
        ("headroom", "NaN", "“NaN”", "0"),
        ("headroom", math.nan, "“NaN”", "0"),
        ("answer_s", "1e999", "“1e999”", "15"),
        ("kv_dtype", "FP7", "“FP7”", "auto"),
        ("users", "0", "“0”", "auto"),
        ("gpu", "<B>", "“·B·”", "h100-80gb"),
    ],
)
def test_a_rejected_value_is_repeated_as_it_was_written(field: str, given: object, said: str, used: str) -> None:
    (rejected,) = from_query({field: given})[1]
    assert said in rejected.message("en")
    assert rejected.message("en").endswith(f"Used instead: {used}.")


def test_many_unknown_parameters_are_not_all_listed() -> None:
    assert len(from_query({f"x{i}": "1" for i in range(10_000)})[1]) == 20


def test_what_differs_under_more_settings() -> None:
    assert changed_fields(Scenario()) == ()
    assert changed_fields(Scenario(input=1, gpus=4, kv_dtype="fp8")) == ()
    changed = Scenario(gpus=4, **{name: OTHER[name] for name in MORE_SETTINGS}, input=501)
    assert ("engine", *changed_fields(changed)) == MORE_SETTINGS


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
    each = draw(st.integers(0, 1_048_576))
    passages = draw(st.integers(0, min(10_000, (MAX_TOKENS - asked) // each) if each else 10_000))
    prompt = asked
    asked += passages * each
    answered = draw(st.integers(0 if asked else 1, MAX_TOKENS - asked)) if asked < MAX_TOKENS else 0
    tp = draw(st.none() | st.integers(1, 32))
    shared = draw(st.integers(0, asked))
    typical = draw(st.floats(0.01, 1))
    if ceil((asked + answered) * Fraction(repr(typical))) <= shared:
        typical = 1.0
    return Scenario(
        model=draw(names),
        revision=draw(st.sampled_from(["", "main", "sha256:0123456789ab"])),
        config=draw(packed),
        gpu=draw(st.sampled_from(["", "h100-80gb", "unknown-9.5+"])),
        gpus=draw(st.integers(1, 1024 // (tp or 1))) * (tp or 1),
        input=prompt,
        output=answered,
        passages=passages,
        passage_tokens=each,
        sequences=draw(st.integers(1, 1_000_000)),
        users=draw(st.none() | st.integers(1, 1_000_000)),
        seconds_between=draw(st.floats(0, 86_400)),
        answer_s=draw(st.floats(0.001, 86_400)),
        kv_dtype=draw(st.sampled_from(["auto", *KV_DTYPES])),
        weight_dtype=draw(st.sampled_from(WEIGHT_DTYPES)),
        weights_gib=draw(st.none() | st.floats(0.001, 100_000)),
        memory_fraction=draw(st.floats(0.05, 1)),
        block_tokens=draw(st.none() | st.integers(1, 65_536)),
        batched_tokens=draw(optional_tokens),
        in_flight_tokens=draw(optional_tokens),
        max_model_len=draw(st.none() | st.integers(max(1, asked + answered), MAX_TOKENS)),
        tp=tp,
        headroom=draw(st.floats(0, 0.9)),
        typical=typical,
        shared_tokens=shared,
        activations_gib=draw(st.none() | st.floats(0, 1_000)),
        non_torch_gib=draw(st.none() | st.floats(0, 1_000)),
        graphs_gib=draw(st.none() | st.floats(0, 1_000)),
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
