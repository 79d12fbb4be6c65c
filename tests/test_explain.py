"""The working behind an answer: every formula that is shown comes to the number beside it."""

import re
from fractions import Fraction

import pytest

from kvviz import catalogue, explain
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size


def sized(model: str, **settings: object) -> Sizing:
    resolved = resolve(Scenario(model=model, **settings))  # type: ignore[arg-type]
    return size(resolved.architecture, resolved.scenario, weights=resolved.weights)


def value(written: str, tokens: int) -> Fraction:
    """A formula as shown, worked out: ``2 × (3 + 4) B × min(n, 5)``."""
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", written).replace("×", "*")
    plain = re.sub(r"(?<=[\d)]) B\b", "", plain)
    plain = re.sub(r"\d+\.\d+", lambda m: f"Fraction('{m[0]}')", plain)
    return Fraction(eval(plain, {"Fraction": Fraction, "min": min, "n": tokens}))  # noqa: S307 - our own text


@pytest.mark.parametrize("model", catalogue.models())
def test_every_formula_comes_to_the_number_beside_it(model: str) -> None:
    answer = sized(model, gpu="", input=30_000, output=7)
    shown = explain.lines(answer)
    assert sum(line.total_bytes for line in shown) == answer.content_bytes
    for line in shown:
        left, _, result = line.formula.partition(" = ")
        worked_out = value(left, answer.tokens)
        if result:
            assert worked_out == value(result, answer.tokens)
        assert abs(worked_out * (1 if line.tokens is None else line.tokens) - line.total_bytes) <= 1


@pytest.mark.parametrize("dtype", ["fp8", "int8_per_token_head", "int4_per_token_head", "nvfp4", "q8_0"])
def test_scales_are_in_the_formula(dtype: str) -> None:
    (line,) = explain.lines(sized("Qwen/Qwen3-8B", kv_dtype=dtype))
    left, _, result = line.formula.partition(" = ")
    assert value(left, 0) == value(result, 0)


def test_a_request_is_the_sum_over_groups_of_layers() -> None:
    """A hybrid's blocks: those of its attention and those of each group of states."""
    answer = sized("Qwen/Qwen3-Next-80B-A3B-Instruct", gpu="h200", gpus=2)
    rows = {str(title("en")): str(meaning) for title, _, meaning in explain.three_numbers(answer, "vLLM")}
    assert answer.plan is not None
    by_group = re.search(r"([\d+ ]+) = (\d+) pool blocks", rows["Reservation"])
    assert by_group is not None
    terms = [int(n) for n in by_group[1].split("+")]
    assert len(terms) == len(answer.plan.groups) > 1
    assert sum(terms) == int(by_group[2]) == answer.plan.request_blocks(answer.tokens)
