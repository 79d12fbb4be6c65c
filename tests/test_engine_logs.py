"""What engines reported in public, row by row, and the same figures computed by kvviz's own planner."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kvviz.catalogue import load
from kvviz.core.architecture import Architecture
from kvviz.core.cache import content
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import KvvizError
from kvviz.log_check import Model, check, model_of
from kvviz.log_check.layers import plain
from scripts.predicted_and_reported import EXACT, ROWS, Row, architecture_of, log_of, predicted, settings_of

ROOT = Path(__file__).parent.parent
EACH = pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
LOGGED = [row for row in ROWS if "log" in row]
"""Rows of engines whose logs kvviz reads."""


def model(row: Row, architecture: Architecture | None = None) -> Model:
    known = model_of(load(row["config"])) if "config" in row else None
    depth = next((group["encoder_layers"] for group in row.get("layers", ()) if "encoder_layers" in group), None)
    encoder_layers = known.encoder_layers if known else depth
    return Model(name=row["model"], architecture=architecture or architecture_of(row), encoder_layers=encoder_layers)


@EACH
def test_what_was_reported_is_what_is_computed(row: Row) -> None:
    value = predicted(row, architecture_of(row))
    assert value == pytest.approx(row["expected"], abs=EXACT.get(row["quantity"], 0))
    assert abs(value - row["reported"]) <= row["tolerance"] + 1e-9


@pytest.mark.parametrize("row", LOGGED, ids=[row["id"] for row in LOGGED])
def test_the_check_finds_the_rule_by_itself(row: Row) -> None:
    """From the reported figures and the model alone; inferred settings are given."""
    checked = check(log_of(row), model=model(row), given=settings_of(row))
    assert checked.verdict in ("agrees", "explained")
    same = {"split_slots": ("split_slots", "iswa_cells")}  # of one slot
    rules = same.get(row["rule"], (row["rule"],)) if row["log"].get("slots") == 1 else (row["rule"],)
    assert row["rule"] == "plain" or set(rules) & set(checked.cause)
    if row["rule"] == "plain":
        assert checked.found == ()


def test_the_rows_are_all_there() -> None:
    assert len(ROWS) == 130
    assert len({row["id"] for row in ROWS}) == 130
    assert sum("inferred" in row for row in ROWS) == 8
    assert Counter(row["engine"] for row in ROWS) == {
        "llama.cpp": 59,
        "vllm": 38,
        "sglang": 16,
        "ik_llama.cpp": 13,
        "transformers": 2,
        "ollama": 1,
        "tensorrt-llm": 1,
    }


def _swapped() -> list[Any]:
    """Neighbours of one engine whose figures are about bytes, and whose models do not take as many by chance."""
    rows = [row for row in ROWS if row["quantity"] in ("bytes", "bytes_per_token", "cpu_blocks")]
    return [
        pytest.param(row, other, id=f"{row['id']} with the layers of {other['id']}")
        for row, other in pairwise(rows)
        if row["engine"] == other["engine"] and _bytes(row) != _bytes(other)
    ]


def _bytes(row: Row) -> object:
    return content(architecture_of(row).layers, KV_DTYPES["bf16"]).bytes_at(8_192)


@pytest.mark.parametrize(("row", "other"), _swapped())
def test_the_layers_of_another_row_give_another_figure(row: Row, other: Row) -> None:
    """A test of the tests: what was reported is met by its own layers only."""
    layers = replace(architecture_of(other), model_type=architecture_of(row).model_type)
    try:
        value = predicted(row, layers)
    except (KvvizError, KeyError):  # such a model cannot be split so, or has no such figure
        return
    assert abs(value - row["reported"]) > row["tolerance"]


def test_most_neighbours_differ() -> None:
    assert len(_swapped()) > 80


def test_the_readme_shows_these_rows() -> None:
    script = ROOT / "scripts" / "predicted_and_reported.py"
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr


def test_another_model_is_told_apart() -> None:
    row = next(row for row in ROWS if row["id"] == "lmcache-1739-qwen3-14b")
    other = plain(30, kv_heads=8, key_dim=128, value_dim=128)
    checked = check(log_of(row), model=Model(name="other", architecture=other))
    assert checked.verdict == "differs"


def test_the_data_is_one_line_a_row() -> None:
    lines = (ROOT / "tests" / "data" / "engine_logs.json").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 132
    assert all(json.loads(line.rstrip(",")) for line in lines[1:-1])
