"""The command line is a contract: its keys, numbers and exit codes, and one clear line for each thing that is wrong."""

import errno
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

import kvviz
from kvviz import build, catalogue, cli
from kvviz.core.architecture import used_fields
from kvviz.devices import every_device
from kvviz.estimate import Basis
from kvviz.scenario import DEFAULTS, FIELDS, Scenario, from_json, from_query, to_json, to_query
from kvviz.text import LANGUAGES
from kvviz.text import charts as parts
from kvviz.text import cli as text
from tests.test_catalogue import GOOD, SMALL, bad_files
from tests.test_scenario import OTHER

QWEN = "Qwen/Qwen3-32B-FP8"
GEMMA = "google/gemma-3-27b-it"
Capture = pytest.CaptureFixture[str]


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command, in this process."""
    code = cli.main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def sized(capsys: Capture, *arguments: str) -> dict[str, Any]:
    """The JSON object of ``kvviz size``."""
    code, out, err = run(capsys, "size", *arguments, "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    answer: dict[str, Any] = json.loads(out)
    return answer


# --- the contract ----------------------------------------------------------------------------------------------------

KEYS = {
    "kvviz": str,
    "model": str,
    "revision": str,
    "scenario": dict,
    "cache": dict,
    "content_bytes": int,
    "engine": dict,
    "budget": dict,
    "max_sequences_counted": int,
    "max_sequences_held": int,
    "max_tokens": int,
    "fits": str,
    "requests": int,
    "max_sequences_run": int,
    "notes": list,
    "max_sequences_typical": int,
    "commit": str,
}
CACHE_KEYS = {
    "layers": str,
    "growing_bytes_per_token": int,
    "limited": list,
    "state_bytes_per_sequence": int,
    "cross_bytes_per_sequence": int,
}
ENGINE_KEYS = {
    "name": str,
    "version": str,
    "block_tokens": int,
    "pool_block_bytes": int,
    "request_bytes": int,
    "request_bytes_windows_ignored": int,
    "per_gpu_request_bytes": list,
}
BUDGET_KEYS = {
    "device_bytes": int,
    "weights_bytes": int,
    "activations_bytes": int,
    "overhead_bytes": int,
    "pool_bytes": int,
    "pool_blocks": int,
    "max_concurrency": float,
    "kv_cache_size_tokens": int,
    "basis": dict,
}
BUDGET_RESULTS = (
    "budget",
    "max_sequences_counted",
    "max_sequences_held",
    "max_tokens",
    "fits",
    "max_sequences_typical",
)


def has(values: dict[str, Any], keys: dict[str, type]) -> None:
    """Exactly these keys, in this order, of these types."""
    assert {key: type(value) for key, value in values.items()} == keys
    assert list(values) == list(keys)


def test_the_json_object_has_exactly_the_contracts_keys(capsys: Capture) -> None:
    answer = sized(capsys, QWEN, "--gpu", "h100-80gb")
    has(answer, KEYS)
    has(answer["cache"], CACHE_KEYS)
    has(answer["engine"], ENGINE_KEYS)
    has(answer["budget"], BUDGET_KEYS)
    assert answer["kvviz"] == kvviz.__version__
    assert answer["model"] == QWEN
    assert answer["revision"] == catalogue.load(QWEN).revision
    assert answer["scenario"] == to_json(Scenario(revision=answer["revision"]))
    assert (answer["engine"]["name"], answer["engine"]["version"]) == ("vllm", "0.33")
    assert answer["fits"] in {"yes", "held-only", "no"}
    assert all(set(note) == {"code", "text"} for note in answer["notes"])
    for term in answer["budget"]["basis"].values():
        has(term, {"bytes": int, "basis": str, "source": str})
        assert term["basis"] in {"exact", "measured", "assumed"}
    terms = {name: term["bytes"] for name, term in answer["budget"]["basis"].items()}
    assert terms["weights"] == answer["budget"]["weights_bytes"]
    assert terms["activations"] == answer["budget"]["activations_bytes"]
    assert terms["graphs"] + terms["non_torch"] == answer["budget"]["overhead_bytes"]


def test_fits_is_of_the_requests_that_are_named(capsys: Capture) -> None:
    """Users are worked out to requests, and those, not the number in the scenario, are what the answer is about."""
    answer = sized(capsys, QWEN, "--gpu", "h100-80gb", "--users", "100")
    assert (answer["scenario"]["sequences"], answer["scenario"]["users"], answer["requests"]) == (50, 100, 25)
    assert (answer["fits"], answer["max_sequences_counted"]) == ("yes", 34)


def test_more_have_room_than_run_at_once(capsys: Capture) -> None:
    given = ["Qwen/Qwen3-0.6B", "--engine", "sglang", "--gpu", "h200", "--tokens", "64", "--sequences", "9000"]
    answer = sized(capsys, *given)
    assert (answer["fits"], answer["max_sequences_counted"], answer["max_sequences_run"]) == ("yes", 18_226, 4_096)
    out = run(capsys, "size", *given)[1]
    assert out.startswith("All 9,000 requests fit in memory on ")
    assert "SGLang 0.5.23 runs 4,096 of them at once by default." in out.splitlines()[0]
    too_many = run(capsys, "size", *given[:-1], "20000")[1]
    assert too_many.startswith("18,226 of 20,000 requests fit in memory on ")
    assert "4,096 of them at once by default" in too_many.splitlines()[0]


def test_how_a_typed_size_was_read_is_said(capsys: Capture) -> None:
    for typed in ("141GB", "141gib"):
        answer = sized(capsys, QWEN, "--gpu", typed)
        assert answer["budget"]["device_bytes"] == 141 * 2**30
        assert any("141 GiB: GB is read as GiB" in note["text"] for note in answer["notes"])
        assert "as you gave it (GB read as GiB)" in run(capsys, "size", QWEN, "--gpu", typed)[1]


def test_the_engines_own_log_lines(capsys: Capture) -> None:
    given = [QWEN, "--gpu", "h100-80gb", "--max-model-len", "32k"]
    answer = sized(capsys, *given)
    budget, engine = answer["budget"], answer["engine"]
    assert budget["pool_blocks"] * engine["pool_block_bytes"] == budget["pool_bytes"]
    assert budget["max_concurrency"] == budget["pool_blocks"] / 2_048
    assert budget["kv_cache_size_tokens"] == budget["pool_blocks"] * 16
    out = run(capsys, "size", *given)[1]
    tokens, concurrency = f"{budget['kv_cache_size_tokens']:,}", f"{budget['max_concurrency']:.2f}x"
    assert (
        f"GPU KV cache size: {tokens} tokens, Maximum concurrency for 32,768 tokens per request: {concurrency}" in out
    )
    assert f"(blocks: {budget['pool_blocks']:,})" in out


def test_where_the_engine_would_not_start_that_is_said_first(capsys: Capture) -> None:
    given = [QWEN, "--gpu", "h100-80gb", "--sequences", "1", "--max-model-len", "1m"]
    answer = sized(capsys, *given)
    assert answer["fits"] == "no"
    assert answer["max_sequences_counted"] == 34
    assert "startup-fails" in [note["code"] for note in answer["notes"]]
    first = run(capsys, "size", *given)[1].splitlines()[0]
    assert first.startswith("vLLM 0.33 would not start on 1 × NVIDIA H100 80GB SXM")
    assert "34 of 1" in first
    assert "起動しません" in run(capsys, "size", *given, "--lang", "ja")[1].splitlines()[0]


def test_one_request_is_one(capsys: Capture) -> None:
    first = run(capsys, "size", QWEN, "--gpu", "h100-80gb", "--sequences", "1")[1].splitlines()[0]
    assert first.startswith("The request fits on 1 × NVIDIA H100 80GB SXM at 4,096 tokens")


def test_the_answer_is_what_the_pool_holds(capsys: Capture) -> None:
    answer = sized(capsys, QWEN, "--gpu", "h100-80gb", "--sequences", "50")
    assert answer["max_sequences_counted"] == answer["budget"]["pool_bytes"] // answer["engine"]["request_bytes"]
    assert answer["max_sequences_held"] >= answer["max_sequences_counted"]
    assert answer["budget"]["pool_bytes"] % answer["engine"]["pool_block_bytes"] == 0
    certain = str(answer["max_sequences_counted"])
    more = str(answer["max_sequences_held"] + 1)
    assert sized(capsys, QWEN, "--gpu", "h100-80gb", "--sequences", certain)["fits"] == "yes"
    assert sized(capsys, QWEN, "--gpu", "h100-80gb", "--sequences", more)["fits"] == "no"


def test_without_a_gpu_there_is_no_budget(capsys: Capture) -> None:
    answer = sized(capsys, QWEN)
    assert [answer[key] for key in BUDGET_RESULTS] == [None] * 6
    assert answer["engine"]["request_bytes"] == 2**30
    assert answer["scenario"]["gpu"] == ""


# Counted by hand and by vLLM 0.33's own planner: bf16, one GPU, 16,384 tokens in flight, prefix caching.
KNOWN = [
    (
        GEMMA,
        131_072,
        ("wwwwwf" * 11)[:62],
        81_920,
        [{"kind": "window", "limit_tokens": 1024, "bytes_per_token": 425_984}],
        (0, 0),
        11_173_625_856,
        (16, 1_310_720, 19_301_662_720),
    ),
    (QWEN, 131_072, "f" * 64, 262_144, [], (0, 0), 34_359_738_368, (16, 4_194_304, 34_359_738_368)),
    (QWEN, 32_768, "f" * 64, 262_144, [], (0, 0), 8_589_934_592, (16, 4_194_304, 8_589_934_592)),
    (
        "deepseek-ai/DeepSeek-V3.2",
        32_768,
        "L" * 61,
        78_324,
        [],
        (0, 0),
        2_566_520_832,
        (64, 5_012_736, 2_566_520_832),
    ),
    (
        "Qwen/Qwen3-Next-80B-A3B-Instruct",
        32_768,
        "sssf" * 12,
        24_576,
        [],
        (39_518_208, 0),
        844_824_576,
        (576, 14_155_776, 934_281_216),
    ),
    ("openai/whisper-tiny", 32_768, "XXXX", 6_144, [], (0, 9_216_000), 210_542_592, (16, 98_304, 210_567_168)),
    (
        "mistralai/Mamba-Codestral-7B-v0.1",
        131_072,
        "s" * 64,
        0,
        [],
        (138_149_888, 0),
        138_149_888,
        (16, 138_149_888, 138_149_888),
    ),
    ("microsoft/phi-2", 4096, "f" * 32, 327_680, [], (0, 0), 1_342_177_280, None),
    (
        "deepseek-ai/DeepSeek-V4-Flash",
        32_768,
        "wwHhHhHhHhHhHhHhHhHhHhHhHhHhHhHhHhHhHhHhHhH",
        3850.25,
        [{"kind": "window", "limit_tokens": 128, "bytes_per_token": 25_112}],
        (12_206_080, 0),
        141_585_408,
        None,
    ),
]


@pytest.mark.parametrize(("model", "tokens", "layers", "growing", "limited", "fixed", "content", "engine"), KNOWN)
def test_known_sizes(
    capsys: Capture,
    model: str,
    tokens: int,
    layers: str,
    growing: float,
    limited: list[object],
    fixed: tuple[int, int],
    content: int,
    engine: tuple[int, int, int] | None,
) -> None:
    answer = sized(capsys, model, "--tokens", str(tokens), "--kv-dtype", "bf16")
    assert answer["cache"] == {
        "layers": layers,
        "growing_bytes_per_token": growing,
        "limited": limited,
        "state_bytes_per_sequence": fixed[0],
        "cross_bytes_per_sequence": fixed[1],
    }
    assert type(answer["cache"]["growing_bytes_per_token"]) is type(growing)
    assert answer["content_bytes"] == content
    if engine is None:  # this version does not run the model: it says why
        assert answer["engine"] is None
        assert answer["notes"]
    else:
        found = answer["engine"]
        assert (found["block_tokens"], found["pool_block_bytes"], found["request_bytes"]) == engine
        assert found["per_gpu_request_bytes"] == [engine[2]]


def test_windows_ignored_is_every_layer_at_full_length(capsys: Capture) -> None:
    answer = sized(capsys, GEMMA, "--tokens", "131072", "--kv-dtype", "bf16")
    assert answer["engine"]["request_bytes_windows_ignored"] == 66_571_993_088


def test_two_gpus_have_an_entry_each(capsys: Capture) -> None:
    answer = sized(capsys, QWEN, "--tokens", "32768", "--gpus", "2", "--kv-dtype", "bf16")
    assert answer["engine"]["per_gpu_request_bytes"] == [4_294_967_296] * 2
    assert answer["content_bytes"] == 8_589_934_592


@pytest.mark.parametrize("gpu", [[], ["--gpu", "h100-80gb"]])
def test_one_engine_on_as_many_gpus_as_it_is_parallel(capsys: Capture, gpu: list[str]) -> None:
    answer = sized(capsys, QWEN, "--tokens", "32768", "--tp", "4", *gpu)
    assert (answer["scenario"]["gpus"], answer["scenario"]["tp"]) == (4, 4)
    assert answer["engine"]["per_gpu_request_bytes"] == [2_147_483_648] * 4
    assert sized(capsys, QWEN, "--tp", "auto")["scenario"]["gpus"] == 1
    assert sized(capsys, QWEN, "--tp", "2", "--gpus", "4", *gpu)["engine"]["per_gpu_request_bytes"] == [2**29] * 2


def test_another_engines_type_is_content_alone(capsys: Capture) -> None:
    answer = sized(capsys, "microsoft/phi-2", "--tokens", "32k", "--kv-dtype", "q8_0", "--gpu", "h100-80gb")
    assert answer["content_bytes"] == 5_704_253_440
    assert [answer[key] for key in ("engine", *BUDGET_RESULTS)] == [None] * 7
    assert "kv-dtype-of-another-engine" in [note["code"] for note in answer["notes"]]


# --- one name for each setting ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
def test_a_scenario_field_is_flag_and_parameter_and_key(capsys: Capture, field: str) -> None:
    """``--gpus 4`` = ``?gpus=4`` = ``{"gpus": 4}``."""
    assert field in to_query(Scenario())
    assert field in to_json(Scenario())
    value = {**OTHER, "config": GOOD, "engine": "vllm", "gpu": "h200", "tp": 2}[field]
    if field == "model":  # the one that is needed, so it has no dashes
        answer = sized(capsys, value)
    else:
        others = {
            "tp": ["--gpus", "4"],
            "dcp": ["--tp", "16", "--weight-dtype", "bf16"],  # more GPUs than KV heads
            "v_dtype": ["--engine", "llama.cpp"],
            "unified": ["--engine", "llama.cpp"],
        }.get(field, [])
        model = "mine" if field == "config" else QWEN
        answer = sized(capsys, model, f"--{field.replace('_', '-')}", str(value), *others)
    if field == "revision":  # answered with the one that was read
        assert [note["code"] for note in answer["notes"]][:1] == ["revision-differs"]
    else:
        assert answer["scenario"][field] == value
    scenario, rejected = from_json(answer["scenario"])
    assert rejected == ()
    assert from_query(to_query(scenario)) == (scenario, ())


def test_help_speaks_of_every_flag_in_both_languages(capsys: Capture) -> None:
    for lang in ("en", "ja"):
        with pytest.raises(SystemExit) as caught:
            cli.main(["size", "--help", "--lang", lang])
        assert caught.value.code == 0
        out = capsys.readouterr().out
        for field in FIELDS:
            assert field == "model" or f"--{field.replace('_', '-')} " in out
            if type(DEFAULTS[field]) in (int, float):
                assert str(DEFAULTS[field]) in out


def test_lengths_as_people_write_them(capsys: Capture) -> None:
    tokens = sized(capsys, GEMMA, "--tokens", "128k")
    assert (tokens["scenario"]["input"], tokens["scenario"]["output"]) == (131_072, 0)
    both = sized(capsys, GEMMA, "--input", "130,048", "--output", "1k")
    assert both["content_bytes"] == tokens["content_bytes"]
    assert both["engine"] == tokens["engine"]
    assert sized(capsys, GEMMA)["scenario"]["input"] == DEFAULTS["input"]


def test_a_link_brings_back_what_the_command_line_answered(capsys: Capture) -> None:
    first = sized(capsys, GEMMA, "--gpu", "h100-80gb", "--tokens", "8k", "--kv-dtype", "fp8")
    link = to_query(from_json(first["scenario"])[0])
    flags = [part for field in FIELDS[1:] if link[field] for part in (f"--{field.replace('_', '-')}", link[field])]
    assert sized(capsys, link["model"], *flags) == first


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_file_is_sized_like_a_bundled_model(capsys: Capture, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    bundled = catalogue.load(GEMMA)
    (folder / "config.json").write_text(json.dumps(dict(bundled.config)))
    known = sized(capsys, GEMMA)
    for path in (folder, folder / "config.json"):
        answer = sized(capsys, str(path))
        assert answer["model"] == "mine"
        assert answer["scenario"]["config"]
        for key in ("cache", "content_bytes", "engine"):
            assert answer[key] == known[key]
        assert answer["revision"] == bundled.revision
        # The config travels in the scenario, as the fields that were read: it answers the same where the file is not.
        again = sized(capsys, "mine", "--config", answer["scenario"]["config"])
        assert again["revision"] == catalogue.revision_of(used_fields(bundled.config))
        assert again["scenario"] == {**answer["scenario"], "revision": again["revision"]}


def test_a_file_of_another_revision_is_answered_with_a_note(capsys: Capture, tmp_path: Path) -> None:
    place = tmp_path / "config.json"
    place.write_text(json.dumps(SMALL))
    notes = sized(capsys, str(place), "--revision", "main")["notes"]
    assert [note["code"] for note in notes][:1] == ["revision-differs"]


def test_standard_input_is_a_file_too(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SMALL).encode())))
    answer = sized(capsys, "-")
    assert (answer["model"], answer["content_bytes"]) == ("stdin", 4_096 * 131_072)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 2**20 + b"x")))
    clear(*_code_and_error(run(capsys, "size", "-")), "- is larger than 1,048,576 bytes")
    monkeypatch.setattr(sys, "stdin", None)
    clear(*_code_and_error(run(capsys, "size", "-")), "- cannot be read")


def _code_and_error(done: tuple[int, str, str]) -> tuple[int, str]:
    return done[0], done[2]


def test_a_state_of_no_bytes_is_no_error(capsys: Capture, tmp_path: Path) -> None:
    config = dict(catalogue.load("LiquidAI/LFM2-2.6B").config)
    place = tmp_path / "config.json"
    place.write_text(json.dumps({**config, "conv_L_cache": 1, "layer_types": ["conv"] * config["num_hidden_layers"]}))
    answer = sized(capsys, str(place), "--gpu", "h100-80gb", "--weights-gib", "5")
    assert (answer["content_bytes"], answer["engine"], answer["budget"]) == (0, None, None)
    assert "no-cache" in [note["code"] for note in answer["notes"]]


def test_weights_of_a_file_are_not_guessed(capsys: Capture, tmp_path: Path) -> None:
    place = tmp_path / "Qwen3-32B-FP8.json"
    place.write_text(json.dumps(SMALL))
    answer = sized(capsys, str(place), "--gpu", "h100-80gb")
    assert answer["budget"] is None
    assert any("--weights-gib" in note["text"] for note in answer["notes"])
    typed = sized(capsys, str(place), "--gpu", "h100-80gb", "--weights-gib", "15")
    assert typed["budget"]["weights_bytes"] == 15 * 2**30


# --- settings that others are worked out from ------------------------------------------------------------------------


def noted(answer: dict[str, Any], code: str) -> str:
    """The note of that code."""
    (said,) = [note["text"] for note in answer["notes"] if note["code"] == code]
    return str(said)


def test_users_stand_in_for_sequences(capsys: Capture) -> None:
    """200 people, 15 s an answer, 45 s between: a quarter of them wait for one, 50."""
    given = [QWEN, "--gpu", "h100-80gb", "--users", "200", "--sequences", "7"]
    answer = sized(capsys, *given)
    assert answer["scenario"]["sequences"] == 7
    assert noted(answer, "requests-from-users").startswith(
        "50 requests in flight come from the users: 200 × 15 s ÷ (15 s + 45 s), rounded up."
    )
    assert "34 of 50 requests" in run(capsys, "size", *given)[1].splitlines()[0]
    alone = run(capsys, "size", QWEN, "--gpu", "h100-80gb", "--users", "1")[1].splitlines()[0]
    assert alone.startswith("The request fits")


def test_passages_make_the_request_longer(capsys: Capture) -> None:
    answer = sized(capsys, QWEN, "--passages", "8", "--passage-tokens", "1k")
    assert answer["content_bytes"] == 3 * 2**30  # 3,072 + 8 x 1,024 + 1,024 tokens of 256 KiB
    assert noted(answer, "passages-in-input").startswith("The longest input is 11,264 tokens: 3,072 and 8 ")
    assert "12,288 tokens" in run(capsys, "size", QWEN, "--passages", "8", "--passage-tokens", "1k")[1].splitlines()[0]


def test_what_is_kept_free_has_its_row(capsys: Capture) -> None:
    given = ["size", QWEN, "--gpu", "h100-80gb"]
    assert not any(line.startswith("kept free") for line in run(capsys, *given)[1].splitlines())
    out = run(capsys, *given, "--headroom", "0.25")[1]
    assert [line for line in out.splitlines() if line.startswith("kept free")] != []
    assert "of the pool (headroom 0.25)" in out
    assert "空けておく量" in run(capsys, *given, "--headroom", "0.25", "--lang", "ja")[1]


def test_a_typical_length_has_a_count_of_its_own(capsys: Capture) -> None:
    plain = sized(capsys, QWEN, "--gpu", "h100-80gb")
    assert plain["max_sequences_typical"] == plain["max_sequences_counted"]
    half = sized(capsys, QWEN, "--gpu", "h100-80gb", "--typical", "0.5")
    assert half["max_sequences_counted"] == plain["max_sequences_counted"]
    assert half["max_sequences_typical"] == half["budget"]["pool_blocks"] // 128
    assert half["fits"] == plain["fits"]


def test_entered_figures_are_the_budgets(capsys: Capture) -> None:
    entered = ["--activations-gib", "1.5", "--non-torch-gib", "0", "--graphs-gib", "0.5"]
    budget = sized(capsys, QWEN, "--gpu", "h100-80gb", *entered)["budget"]
    assert (budget["activations_bytes"], budget["overhead_bytes"]) == (3 * 2**29, 2**29)
    for name in ("activations", "non_torch", "graphs"):
        assert budget["basis"][name]["basis"] == "measured"
        assert budget["basis"][name]["source"] == "As you entered it."


# --- bad input -------------------------------------------------------------------------------------------------------

BAD: list[tuple[list[str], str, str]] = [
    ([], "usage", "required"),
    (["sise"], "usage", "sise"),
    (["size"], "usage", "MODEL_OR_FILE"),
    (["size", QWEN, "--nonsense"], "usage", "--nonsense"),
    (["size", QWEN, "--gpus"], "usage", "--gpus"),
    (["size", QWEN, "--token", "5"], "usage", "--token"),
    (["size", QWEN, "--lang", "xx"], "usage", "xx"),
    (["size", QWEN, "extra"], "usage", "extra"),
    (["size", QWEN, "--tokens", "5", "--input", "5"], "usage", "--tokens"),
    (["size", QWEN, "--tokens", "5", "--output", "5"], "usage", "--tokens"),
    (["size", QWEN, "--tokens", "5", "--passages", "5"], "usage", "--tokens"),
    (["size", ""], "unknown-model", "config.json"),
    (["size", "no/such-model"], "unknown-model", "no/such-model"),
    (["size", "Qwen/Qwen3-32B-FP9"], "unknown-model", QWEN),
    (["size", "<script>alert(1)</script>"], "unknown-model", "script"),
    (["size", "./no-such-file.json"], "no-file", "no-such-file.json"),
    (["size", "/"], "no-file", "config.json"),
    (["size", "a\x00b"], "unknown-model", "config.json"),
    (["size", "x" * 100_000], "unknown-model", "config.json"),
    (["size", "~nosuchuser/config.json"], "no-file", "~nosuchuser/config.json"),
    (["size", "x" * 300], "unknown-model", "config.json"),
    (["size", f"./{'x' * 300}.json"], "unreadable-file", "too long"),
    (["size", QWEN, "--tokens", "0"], "scenario", "tokens: give a whole number from 1 to 16,777,216"),
    (["size", QWEN, "--input", "0", "--output", "0"], "scenario", "at least one token"),
    (["size", QWEN, "--tokens", "-5"], "scenario", "--tokens: "),
    (["size", QWEN, "--tokens", "1e308"], "scenario", "1e308"),
    (["size", QWEN, "--tokens", "many"], "scenario", "128k"),
    (["size", QWEN, "--tokens", "999m"], "scenario", "tokens: give a whole number from 1 to 16,777,216"),
    (["size", QWEN, "--input", "nan"], "scenario", "input"),
    (["size", QWEN, "--sequences", "0"], "scenario", "sequences"),
    (["size", QWEN, "--sequences", "9" * 5000], "scenario", "sequences"),
    (["size", QWEN, "--gpu", "rtx-9999"], "scenario", "rtx-9999"),
    (["size", QWEN, "--gpu", "<b>"], "scenario", "--gpu: "),
    (["size", QWEN, "--memory-fraction", "0"], "scenario", "not “0”."),
    (["size", QWEN, "--memory-fraction", "NaN"], "scenario", "not “NaN”."),
    (["size", QWEN, "--headroom", "-1"], "scenario", "not “-1”."),
    (["size", "<b>", "--config", "AAAA"], "scenario", "MODEL_OR_FILE: give a Hub id"),
    (["size", QWEN, "--gpus", "4", "--tp", "3"], "scenario", "1, 2, 4"),
    (
        ["size", QWEN, "--gpus", "3", "--tp", "2"],
        "scenario",
        "--tp: 2 does not divide the number of GPUs, 3; it can be 1.",
    ),
    (["size", QWEN, "--gpus", "3", "--tp", "3"], "scenario", "use tensor parallel 1."),
    (["size", QWEN, "--engine", "sglang", "--kv-dtype", "q7"], "scenario", "one of auto, bf16, fp16, fp8, not"),
    (["size", QWEN, "--gpus", "1", "--tp", "2"], "scenario", "--tp: 2 does not divide the number of GPUs, 1"),
    (["size", QWEN, "--gpus", "3", "--gpu", "h100-80gb"], "scenario", "3"),
    (["size", QWEN, "--kv-dtype", "nvfp4_ds_mla"], "scenario", "use one of bf16, fp16"),
    (["size", "deepseek-ai/DeepSeek-R1", "--kv-dtype", "nvfp4"], "scenario", "use one of bf16, fp16, fp32, fp8."),
    (["size", QWEN, "--kv-dtype", "fp7"], "scenario", "--kv-dtype: choose one of auto, bf16"),
    (["size", QWEN, "--weight-dtype", "fp7"], "scenario", "--weight-dtype: "),
    (["size", QWEN, "--engine", "ollama"], "scenario", "vllm"),
    (["size", QWEN, "--memory-fraction", "nan"], "scenario", "--memory-fraction: "),
    (["size", QWEN, "--memory-fraction", "92"], "scenario", "--memory-fraction: "),
    (["size", QWEN, "--weights-gib", "inf"], "scenario", "--weights-gib: "),
    (["size", QWEN, "--block-tokens", "7"], "scenario", "--block-tokens: Block size 7"),
    (["size", QWEN, "--block-tokens", "0"], "scenario", "--block-tokens: "),
    (["size", QWEN, "--max-model-len", "9"], "scenario", "--max-model-len: "),
    (["size", QWEN, "--passages", "10001"], "scenario", "passages: give a whole number from 0 to 10,000"),
    (["size", QWEN, "--passages", "17", "--passage-tokens", "1m"], "scenario", "passages: input (with its passages)"),
    (["size", QWEN, "--users", "0"], "scenario", "users: give a whole number from 1 to 100,000,000"),
    (["size", QWEN, "--users", "100,000,000"], "scenario", "users: these would have 25,000,000 requests in flight"),
    (["size", QWEN, "--answer-s", "0"], "scenario", "--answer-s: give a number from 0.001 to 86,400"),
    (["size", QWEN, "--seconds-between", "-1"], "scenario", "--seconds-between: give a number from 0 to 86,400"),
    (["size", QWEN, "--headroom", "1"], "scenario", "headroom: give a number from 0 to 0.9"),
    (["size", QWEN, "--typical", "0"], "scenario", "--typical: give a number from 0.01 to 1"),
    (["size", QWEN, "--shared-tokens", "3073"], "scenario", "more than the whole input of 3,072 tokens"),
    (["size", QWEN, "--shared-tokens", "2k", "--typical", "0.5"], "scenario", "typical request of 2,048 tokens"),
    (["size", QWEN, "--activations-gib", "-1"], "scenario", "--activations-gib: give a number from 0 to 1,000"),
    (["size", QWEN, "--non-torch-gib", "nan"], "scenario", "--non-torch-gib: "),
    (["size", QWEN, "--graphs-gib", "inf"], "scenario", "--graphs-gib: "),
    (["size", "mine", "--config", "AAAA"], "scenario", "config"),
    (["size", "mine", "--config", "{}"], "scenario", "config"),
]


def clear(code: int, err: str, said: str) -> None:
    """Exit code 2 and short lines that say what is wrong, no traceback."""
    assert code == 2
    assert said in err
    assert "Traceback" not in err
    for line in err.splitlines():
        assert line.startswith("kvviz: ")
        assert len(line) < 600


@pytest.mark.parametrize(("arguments", "code", "said"), BAD, ids=lambda value: str(value)[:60])
def test_bad_input_is_one_clear_line(capsys: Capture, arguments: list[str], code: str, said: str) -> None:
    exit_code, out, err = run(capsys, *arguments)
    clear(exit_code, err, said)
    assert out == ""
    assert err.count("\n") == 1
    exit_code, out, err = run(capsys, *arguments, "--json")
    if code != "usage" or arguments[:1] == ["size"]:
        clear(exit_code, err, said)
        error = json.loads(out)["error"]
        has(error, {"code": str, "message": str, "problems": list})
        assert error["code"] == code
        assert f"kvviz: {error['message']}\n" == err
        for problem in error["problems"]:
            has(problem, {"message": str, "path": str})
    japanese = [*arguments, "--lang", "ja"] if arguments[:1] == ["size"] and "--lang" not in arguments else arguments
    exit_code, out, err = run(capsys, *japanese)
    assert (exit_code, out, err.count("\n")) == (2, "", 1)


def test_after_two_dashes_nothing_is_a_flag(capsys: Capture) -> None:
    code, out, err = run(capsys, "size", "--", "--json")
    assert (code, out) == (2, "")
    assert "--json" in err
    assert run(capsys, "size", "--lang=ja", "--", "--json")[2] != err
    assert "“-x” is not one of the bundled models; give its config.json" in run(capsys, "size", "--", "-x")[2]


def test_a_basis_has_one_word_here_on_the_pages_and_in_json() -> None:
    assert get_args(Basis) == tuple(text.BASIS)
    for basis, said in text.BASIS.items():
        assert parts.BASIS[basis]("en") == basis
        for lang in LANGUAGES:
            assert said(lang, source="x") == f"{parts.BASIS[basis](lang)}{'：' if lang == 'ja' else ': '}x"


def test_estimates_are_marked_and_nothing_else_is_called_measured(capsys: Capture) -> None:
    given = ["size", "Qwen/Qwen3-32B", "--gpu", "h100-80gb", "--graphs-gib", "1"]
    out = run(capsys, *given)[1]
    for marked in ("GiB  exact: ", "GiB  assumed: Two values", "measured: As you entered it.", "outside PyTorch"):
        assert marked in out
    assert out.count("measured: ") == 2  # the GPU as programs see it, too
    for marked in (
        "計算値：",
        "推定：",
        "実測：",
        "PyTorch 以外",
        "アクティベーション",
        "実データ量",
        "確保量",
        "保持量",
    ):
        assert marked in run(capsys, *given, "--lang", "ja")[1]


def test_everything_wrong_is_said_at_once(capsys: Capture) -> None:
    code, out, err = run(capsys, "size", "no/such", "--gpus", "0", "--input", "x", "--kv-dtype", "y", "--json")
    assert code == 2
    assert len(err.splitlines()) == 4
    error = json.loads(out)["error"]
    assert {problem["path"] for problem in error["problems"]} == {"--gpus", "--input", "--kv-dtype", ""}


def test_files_that_hold_no_config_are_refused(capsys: Capture, tmp_path: Path) -> None:
    for path, said in bad_files(tmp_path):
        if "\x00" in str(path):
            continue  # no shell can say that
        code, out, err = run(capsys, "size", str(path))
        clear(code, err, said)
        assert out == ""


def test_every_problem_of_a_config_has_its_line_and_path(capsys: Capture, tmp_path: Path) -> None:
    wrong = {**SMALL, "num_hidden_layers": -1, "num_key_value_heads": "eight"}
    place = tmp_path / "config.json"
    place.write_text(json.dumps(wrong))
    code, out, err = run(capsys, "size", str(place), "--json")
    assert code == 2
    error = json.loads(out)["error"]
    assert error["code"] == "config"
    assert {p["path"] for p in error["problems"]} == {"$.num_hidden_layers", "$.num_key_value_heads"}
    for problem in error["problems"]:
        assert f"{problem['message']} @ {problem['path']}\n" in err


def test_an_unknown_architecture_gets_no_number(capsys: Capture, tmp_path: Path) -> None:
    place = tmp_path / "config.json"
    place.write_text(json.dumps({**SMALL, "model_type": "zebra", "architectures": ["ZebraForCausalLM"]}))
    code, out, err = run(capsys, "size", str(place), "--json")
    assert code == 2
    assert json.loads(out)["error"]["code"] == "unknown-architecture"
    assert "zebra" in err


# --- the answer for people -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize(
    "arguments",
    [
        [QWEN],
        [QWEN, "--gpu", "h100-80gb"],
        [QWEN, "--gpu", "h100-80gb", "--sequences", "1"],
        [GEMMA, "--gpu", "h100-80gb", "--gpus", "2", "--tokens", "32k"],
        ["meta-llama/Llama-3.1-70B-Instruct", "--gpu", "h100-80gb"],
        ["deepseek-ai/DeepSeek-V4-Flash", "--gpu", "h100-80gb"],
        ["openai/whisper-tiny"],
        ["Qwen/Qwen3-Next-80B-A3B-Instruct"],
    ],
)
def test_the_answer_comes_first_and_is_the_same_as_in_json(capsys: Capture, arguments: list[str], lang: str) -> None:
    code, out, err = run(capsys, "size", *arguments, "--lang", lang)
    assert (code, err) == (0, "")
    first, second, *rest = out.splitlines()
    assert second == ""
    answer = sized(capsys, *arguments)
    assert f"{answer['scenario']['input'] + answer['scenario']['output']:,}" in first
    if answer["max_sequences_counted"]:
        assert f"{answer['max_sequences_counted']:,}" in first
    assert any(arguments[0] in line for line in rest)
    assert all(line == line.rstrip() for line in out.splitlines())
    assert "{" not in out


def test_models_lists_and_searches(capsys: Capture) -> None:
    code, out, err = run(capsys, "models")
    assert (code, err) == (0, "")
    assert out.splitlines() == list(catalogue.models())
    assert run(capsys, "models", "gemma", "27b")[1].splitlines() == list(catalogue.search("gemma 27b"))
    found = json.loads(run(capsys, "models", "gemma 27b", "--json")[1])
    assert found == {"kvviz": kvviz.__version__, "models": list(catalogue.search("gemma 27b"))}
    code, out, err = run(capsys, "models", "nothing-of-the-sort")
    assert (code, out) == (0, "")
    assert "nothing-of-the-sort" in err
    assert json.loads(run(capsys, "models", "nothing-of-the-sort", "--json")[1])["models"] == []


def test_gpus_lists_and_searches(capsys: Capture) -> None:
    code, out, err = run(capsys, "gpus")
    assert (code, err) == (0, "")
    assert {line.split()[0] for line in out.splitlines()} == {gpu.id for gpu in every_device()}
    (line,) = run(capsys, "gpus", "rtx", "3090", "ti")[1].splitlines()
    assert line == "rtx-3090-ti  24 GiB  NVIDIA RTX 3090 Ti"
    found = json.loads(run(capsys, "gpus", "m3 ultra 96", "--json")[1])
    row = {
        "id": "m3-ultra-96gb",
        "name": "Apple M3 Ultra 96GB",
        "memory_bytes": 96 * 2**30,
        "memory_basis": "nominal",
    }
    assert found == {"kvviz": kvviz.__version__, "gpus": [row]}
    code, out, err = run(capsys, "gpus", "nothing-of-the-sort")
    assert (code, out) == (0, "")
    assert "nothing-of-the-sort" in err


@pytest.mark.parametrize(
    ("written", "gpu"),
    [
        ("RTX 3090", "rtx-3090"),
        ("4090", "rtx-4090"),
        ("NVIDIA H100 80GB SXM", "h100-80gb"),
        ("H200", "h200"),
        ("48gib", "own-48gib"),
        ("48 GB", "own-48gib"),
        ("own-48gib", "own-48gib"),
        ("none", ""),
        ("", ""),
    ],
)
def test_a_gpu_as_people_write_it(capsys: Capture, written: str, gpu: str) -> None:
    assert sized(capsys, QWEN, "--gpu", written)["scenario"]["gpu"] == gpu


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("written", "named"), [("H100", "h100-pcie"), ("M4 Max", "m4-max-48gb")])
def test_a_name_of_several_gpus_lists_those(capsys: Capture, written: str, named: str, lang: str) -> None:
    code, out, err = run(capsys, "size", QWEN, "--gpu", written, "--lang", lang)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert named in err
    assert "a100-80gb" not in err
    assert "kvviz gpus" in err


@pytest.mark.parametrize("lang", LANGUAGES)
def test_an_unknown_gpu_is_no_wall_of_ids(capsys: Capture, lang: str) -> None:
    err = run(capsys, "size", QWEN, "--gpu", "Voodoo 2", "--lang", lang)[2]
    assert "“Voodoo 2”" in err or "「Voodoo 2」" in err
    assert "kvviz gpus" in err
    assert "48gib" in err
    assert len(err) < 160


@pytest.mark.parametrize(
    ("gpu", "how"),
    [
        ("h100-80gb", "as the driver reports it"),
        ("rtx-3090", "the vendor's figure, taken as GiB"),
        ("mi300a", "the vendor's figure, taken as GiB"),
        ("48gib", "as you gave it (GB read as GiB)"),
        ("a100-40gb-mig-1g.5gb", "a share of what the whole GPU reports"),
        ("a100-40gb-mig-3g.20gb", "as the driver reports it"),
    ],
)
def test_how_a_gpus_memory_is_known(capsys: Capture, gpu: str, how: str) -> None:
    out = run(capsys, "size", QWEN, "--gpu", gpu)[1]
    (line,) = [line for line in out.splitlines() if line.startswith("GPU memory")]
    assert line.endswith(f"GiB  {how}")


# --- as a process ----------------------------------------------------------------------------------------------------


def process(*arguments: str, module: Sequence[str] = ("-m", "kvviz")) -> subprocess.CompletedProcess[str]:
    """``python -m kvviz`` as it is started outside."""
    return subprocess.run(
        [sys.executable, *module, *arguments], capture_output=True, text=True, check=False, encoding="utf-8"
    )


def test_the_module_is_the_same_program(capsys: Capture) -> None:
    outside = process("size", GEMMA, "--json")
    assert (outside.returncode, outside.stderr) == (0, "")
    assert json.loads(outside.stdout) == sized(capsys, GEMMA)
    assert process("size", "no/such").returncode == 2
    assert process("--version").stdout == f"kvviz {build.version()}\n"


def test_sizing_imports_nothing_heavy() -> None:
    program = (
        "import sys; from kvviz.cli import main; code = main(sys.argv[1:]);"
        "heavy = {'streamlit', 'plotly', 'torch', 'transformers', 'huggingface_hub', 'numpy', 'pandas', 'asyncio'};"
        "print(sorted(heavy & set(sys.modules))); sys.exit(code)"
    )
    done = process("size", QWEN, "--gpu", "h100-80gb", "--json", module=("-c", program))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_has_enough_is_no_error() -> None:
    program = (
        "import sys; from subprocess import PIPE, Popen;"
        "a = Popen([sys.executable, '-m', 'kvviz', 'models'], stdout=PIPE, stderr=PIPE);"
        "a.stdout.close(); sys.stdout.write(a.stderr.read().decode()); sys.exit(a.wait())"
    )
    done = process(module=("-c", program))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["size", QWEN], ["size", QWEN, "--json"], ["models"], ["size", "--help"]])
@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
def test_an_answer_that_cannot_be_written_is_one_line(where: str, arguments: list[str], unbuffered: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m kvviz "$@" {where}', sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )
    assert done.returncode == 74
    assert done.stderr.startswith("kvviz: The answer cannot be written: ")
    assert done.stderr.count("\n") == 1


def test_a_lost_error_message_is_no_traceback() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" -m kvviz size no/such 2>&-', sys.executable], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_ctrl_c_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "answer", interrupted)
    assert run(capsys, "size", QWEN) == (130, "", "")


def test_a_terminal_without_kanji_is_no_error() -> None:
    program = "import sys; sys.stdout.reconfigure(encoding='ascii'); from kvviz.cli import main; main(sys.argv[1:])"
    done = process("size", GEMMA, "--lang", "ja", module=("-c", program))
    assert done.stderr == ""
    assert "11 GiB" in done.stdout or "GiB" in done.stdout


# --- a report --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("ending", ["html", "md"])
def test_a_report_is_written_beside_the_answer(capsys: Capture, tmp_path: Path, ending: str, lang: str) -> None:
    file = tmp_path / f"report.{ending}"
    given = (QWEN, "--gpu", "h100-80gb", "--sequences", "50", "--input", "3072", "--output", "1024", "--lang", lang)
    plain = run(capsys, "size", *given)
    assert run(capsys, "size", *given, "--report", str(file)) == plain
    written = file.read_text(encoding="utf-8")
    assert "37,270,585,344" in written  # the pool
    assert "FP8" in written  # what would help
    assert written.startswith(f'<!doctype html>\n<html lang="{lang}">' if ending == "html" else "## ")


def test_a_report_that_cannot_be_written_is_one_line(capsys: Capture, tmp_path: Path) -> None:
    for file, exits, why in (
        (tmp_path / "report.pdf", 2, ".html or .md"),
        (tmp_path / "none" / "report.md", 74, "No such file"),
        (tmp_path / ("n" * 300 + ".md"), 74, "name too long"),
    ):
        code, out, err = run(capsys, "size", QWEN, "--report", str(file))
        assert (code, out, err.count("\n")) == (exits, "", 1)
        assert why in err


def test_the_report_before_stays_where_the_new_one_cannot_be_written(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up just before the end."""
    file = tmp_path / "report.md"
    file.write_text("the one before")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    code, out, err = run(capsys, "size", QWEN, "--report", str(file))
    assert (code, out, err.count("\n")) == (74, "", 1)
    assert "No space left" in err
    assert [(f.name, f.read_text()) for f in tmp_path.iterdir()] == [("report.md", "the one before")]


def test_a_report_keeps_the_link_it_is_written_through_and_the_rights(capsys: Capture, tmp_path: Path) -> None:
    file, link = tmp_path / "report.md", tmp_path / "latest.md"
    file.write_text("the one before")
    file.chmod(0o640)
    link.symlink_to(file)
    assert run(capsys, "size", QWEN, "--report", str(link))[0] == 0
    assert link.is_symlink()
    assert file.read_text().startswith("## ")
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(f.name for f in tmp_path.iterdir()) == ["latest.md", "report.md"]
