"""``kvviz simulate`` and ``kvviz prefix``: their keys, their numbers, and one line for each thing that is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from kvviz import cli
from kvviz.allocation.replay import events_json, replay
from kvviz.allocation.simulate import Paged, simulate
from kvviz.allocation.workload import TEACHING
from kvviz.text import allocation as text

DATA = Path(__file__).parent / "data" / "alloc"
Capture = pytest.CaptureFixture[str]


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command, in this process."""
    code = cli.main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def answer(capsys: Capture, *arguments: str) -> dict[str, Any]:
    """The JSON object of a command."""
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_every_run_recorded_from_vllm(capsys: Capture, tmp_path: Path) -> None:
    for case in json.loads((DATA / "vllm_cases.json").read_text(encoding="utf-8")):
        path = tmp_path / "case.json"
        path.write_text(json.dumps({"requests": case["requests"]}), encoding="utf-8")
        flags = ["--block-tokens", str(case["block"]), "--pool-blocks", str(case["blocks"])]
        if case["caching"]:
            flags.append("--caching")
        found = answer(capsys, "simulate", "--trace", str(path), "--allocator", "paged", *flags, "--steps")
        assert [list(row.values()) for row in found["per_step"]] == case["steps"]
        assert found["prompt_tokens_hit"] == case["summary"]["prompt_tokens_hit"]


def test_the_small_example(capsys: Capture, tmp_path: Path) -> None:
    small = json.loads((DATA / "small.json").read_text(encoding="utf-8"))
    path = tmp_path / "small.json"
    path.write_text(json.dumps({"requests": small["requests"]}), encoding="utf-8")
    for recorded in small["runs"]:
        flags = ["--allocator", recorded["allocator"], "--pool-tokens", str(recorded["pool"])]
        if recorded["allocator"] == "paged":
            flags += ["--block-tokens", str(recorded["block"])]
        else:
            flags += ["--reserve", recorded["reserve"], "--place", recorded["place"]]
            flags += ["--max-tokens", str(recorded["max_len"])]
        found = answer(capsys, "simulate", "--trace", str(path), *flags, "--steps")
        assert found["per_step"] == recorded["per_step"]
        assert {name: found[name] for name in recorded["summary"]} == recorded["summary"]
        saturated = answer(capsys, "simulate", "--trace", str(path), *flags, "--arrival", "saturated", "--steps")
        first = saturated["per_step"][0]
        assert first["running"] + first["waiting"] == len(small["requests"])


def test_steps_are_the_snapshots_and_the_events_they_come_from(capsys: Capture) -> None:
    flags = ["--allocator", "paged", "--pool-tokens", "64", "--block-tokens", "4"]
    found = answer(capsys, "simulate", "--trace", "teaching", *flags, "--steps")
    pool = Paged(pool_tokens=64, block_tokens=4)
    events = list(simulate(TEACHING.requests, pool))
    assert found["per_step"] == [snapshot.row(pool) for snapshot in replay(events, pool)]
    assert found["events"] == list(events_json(events))
    code, out, _ = run(capsys, "simulate", "--trace", "teaching", *flags, "--steps")
    assert code == 0
    header, *rows = out.partition("\n\n")[0].splitlines()
    assert header.split() == [*found["per_step"][0]]
    assert [int(cell) for cell in rows[0].split()] == list(found["per_step"][0].values())[:-1]


def test_prefix(capsys: Capture) -> None:
    known = json.loads((DATA / "truth_prefix.json").read_text(encoding="utf-8"))
    for capacity, order, cache in (("10000", "fwd", "prompt"), ("inf", "rev", "prompt"), ("3000", "rev", "all")):
        given = ["--capacity-blocks", capacity, "--order", order, "--cache", cache]
        found = answer(capsys, "prefix", "--trace", "mooncake-conversation", *given)
        expected = known[f"{capacity}|{order}|{'with_output' if cache == 'all' else 'prompt_only'}"]
        assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_the_answer_for_people(capsys: Capture, lang: str) -> None:
    given = ["--trace", "sharegpt", "--pool-tokens", "15728", "--lang", lang]
    paged = run(capsys, "simulate", *given, "--allocator", "paged")[1]
    assert "96.7%" in paged
    assert "8,653" in paged
    given += ["--allocator", "contiguous", "--max-tokens", "2048"]
    assert "20.4%" in run(capsys, "simulate", *given)[1]
    hits = run(capsys, "prefix", "--trace", "mooncake-conversation", "--capacity-blocks", "10000", "--lang", lang)[1]
    assert "21.53%" in hits


def test_what_cannot_be_served_is_said(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("prompt_tokens,output_tokens\n500,5\n5,0\n5,5\n", encoding="utf-8")
    code, out, _ = run(capsys, "simulate", "--trace", str(path), "--allocator", "paged", "--pool-tokens", "64")
    assert code == 0
    assert "do not fit into the empty pool: 1 (in the trace, number 1)" in out
    assert "no prompt or ask for no output: 1." in out
    assert "there are no shares" in out


SIMULATE = ("simulate", "--trace", "teaching", "--allocator")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*SIMULATE, "paged", "--pool-tokens", "8", "--block-tokens", "16"), "larger than the pool"),
        ((*SIMULATE, "paged", "--pool-tokens", "0"), "--pool-tokens: give a whole number"),
        ((*SIMULATE, "paged", "--pool-tokens", "many"), "--pool-tokens: give a whole number"),
        ((*SIMULATE, "paged", "--pool-tokens", "64", "--windows", "full,x"), "--windows: give full or a number"),
        ((*SIMULATE, "paged", "--pool-tokens", "64", "--step-s", "0"), "--step-s: give a number of seconds"),
        ((*SIMULATE, "paged", "--pool-tokens", "64", "--arrival", "trace"), "does not say when requests arrive"),
        ((*SIMULATE, "contiguous", "--pool-tokens", "64"), "--max-tokens is needed"),
        ((*SIMULATE, "paged"), "--pool-tokens"),
        ((*SIMULATE, "heap", "--pool-tokens", "64"), "heap"),
        (("simulate", "--trace", "none.csv", "--allocator", "paged", "--pool-tokens", "64"), "none.csv cannot be read"),
        (("prefix", "--trace", "sharegpt", "--capacity-blocks", "inf"), "no block ids"),
        (("prefix", "--trace", "sharegpt", "--capacity-blocks", "0"), "--capacity-blocks: give a whole number"),
        (("prefix", "--trace", "sharegpt"), "--capacity-blocks"),
    ],
)
def test_one_line_says_what_is_wrong(capsys: Capture, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == 2
    assert message in json.loads(out)["error"]["message"]


def csv_of(folder: Path, *rows: tuple[int, int]) -> str:
    """A trace of prompts and outputs."""
    path = folder / "some.csv"
    lines = [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join(["prompt_tokens,output_tokens", *lines, ""]), encoding="utf-8")
    return str(path)


def ids_of(folder: Path, *rows: tuple[int, list[int]]) -> str:
    """A trace of prompts and their ids, as Mooncake publishes them."""
    path = folder / "some.jsonl"
    lines = [json.dumps({"input_length": n, "output_length": 4, "hash_ids": ids}) for n, ids in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize("steps", [[], ["--steps"]], ids=str)
@pytest.mark.parametrize("kind", ["oracle", "max", "pow2", "paged"])
@pytest.mark.parametrize("rows", [[(100, 4), (5, 2)], [(5, 2)], [(500, 2)], [(3, 0)]], ids=str)
def test_nobody_ever_waits(
    capsys: Capture, tmp_path: Path, rows: list[tuple[int, int]], kind: str, steps: list[str], lang: str
) -> None:
    how = ["paged"] if kind == "paged" else ["contiguous", "--reserve", kind, "--max-tokens", "100"]
    given = ["--trace", csv_of(tmp_path, *rows), "--pool-tokens", "64", "--lang", lang, *steps, "--allocator", *how]
    code, out, err = run(capsys, "simulate", *given)
    assert (code, err) == (0, "")
    assert text.NEVER_WAITED(lang) in out  # type: ignore[arg-type]
    assert " - " not in out


@pytest.mark.parametrize("size", [16, 512])
def test_ids_stand_for_the_tokens_that_are_given(capsys: Capture, tmp_path: Path, size: int) -> None:
    path = ids_of(tmp_path, (2 * size, [1, 2]), (2 * size, [1, 2]))
    given = [] if size == 512 else ["--block-tokens", str(size)]
    found = answer(capsys, "prefix", "--trace", path, "--capacity-blocks", "inf", *given)
    assert (found["full"], found["token"], found["vllm"]) == (0.5, 0.5, 0.25)
    pool = ["--pool-tokens", str(size * 8), "--block-tokens", "16", "--allocator", "paged", "--caching"]
    hit = answer(capsys, "simulate", "--trace", path, *pool)["prompt_tokens_hit"]
    assert hit == 2 * size - 16  # all but the block of the last token


@pytest.mark.parametrize("size", ["8", "64", None])
@pytest.mark.parametrize("command", ["prefix", "simulate"])
def test_ids_that_cannot_stand_for_it_are_refused(
    capsys: Capture, tmp_path: Path, command: str, size: str | None
) -> None:
    path = ids_of(tmp_path, (100, []), (128, [1, 2, 3, 4]))
    given = ["--block-tokens", size] if size else []
    given += ["--capacity-blocks", "9"] if command == "prefix" else ["--allocator", "paged", "--pool-tokens", "512"]
    given += ["--caching"] if command == "simulate" else []
    code, out, err = run(capsys, command, "--trace", path, *given)
    assert (code, out) == (2, "")
    assert "Request 2 has 4 ids for 128 prompt tokens" in err
    assert "--block-tokens" in err


def test_bundled_ids_say_themselves_what_they_stand_for(capsys: Capture) -> None:
    given = ["prefix", "--trace", "mooncake-synthetic", "--capacity-blocks", "100"]
    assert run(capsys, *given, "--block-tokens", "512") == run(capsys, *given)
    assert run(capsys, *given, "--block-tokens", "16")[0] == 2


def test_a_request_that_ran_and_cannot_come_back_is_not_one_that_was_never_admitted(
    capsys: Capture, tmp_path: Path
) -> None:
    path = csv_of(tmp_path, (1, 5), (4, 6), (2, 2))
    pool = ["--allocator", "paged", "--pool-tokens", "10", "--block-tokens", "1", "--watermark-blocks", "4"]
    out = run(capsys, "simulate", "--trace", path, *pool)[1]
    assert "Never admitted" not in out
    assert "beside the 4 blocks that must stay free: 1 (in the trace, number 2)" in out
    figures = answer(capsys, "simulate", "--trace", path, *pool)
    assert (figures["never_admissible"], figures["not_resumed"]) == (1, 1)
    path = csv_of(tmp_path, (1, 5), (4, 6), (2, 2), (90, 1))
    out = run(capsys, "simulate", "--trace", path, *pool)[1]
    assert "empty pool: 1 (in the trace, number 4)" in out


def test_what_is_set_aside_can_be_too_little_too(capsys: Capture, tmp_path: Path) -> None:
    path = csv_of(tmp_path, (30, 10), (5, 5))
    pool = ["--allocator", "contiguous", "--pool-tokens", "64", "--max-tokens", "20"]
    assert (
        "longer than what is set aside: 1 (in the trace, number 1)"
        in run(capsys, "simulate", "--trace", path, *pool)[1]
    )


def test_one_is_not_many(capsys: Capture, tmp_path: Path) -> None:
    path = csv_of(tmp_path, (1, 1))
    out = run(capsys, "simulate", "--trace", path, "--allocator", "paged", "--pool-tokens", "64")[1]
    assert out.startswith("1 request served in 1 step;")
    code, _, err = run(capsys, "simulate", "--trace", path, "--allocator", "paged", "--pool-tokens", "1")
    assert code == 2
    assert "block of 16 tokens" in err
