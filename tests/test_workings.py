"""Every number in large type opens a working that comes to it, from named fields, with a source that the code cites."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import kvviz
from kvviz import race
from kvviz.core.units import format_bytes, format_count
from kvviz.engine_log import read_log
from kvviz.live import bundled
from kvviz.log_check import check, named_in
from kvviz.planning import name_of
from kvviz.prompts import cached
from kvviz.scenario import ENGINES, Scenario
from kvviz.text import LANGUAGES, Lang
from kvviz.workings import (
    HITS_FILE,
    POOL_FILES,
    REQUEST_FILES,
    Working,
    at_once,
    compared,
    lacking,
    of_check,
    of_prompts,
    of_race,
    of_run,
    per_request,
)
from tests.charts.examples import EVERY
from tests.test_export import sized

BOTH = pytest.mark.parametrize("lang", LANGUAGES)
PACKAGE = Path(kvviz.__file__).parent
SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", ",": ""})


def comes_to(formula: str) -> None:
    """Both sides of a formula in plain numbers are the same."""
    for left, right in re.findall(r"([\d⌊⌈(][\d,.⌊⌋⌈⌉()×÷+− ]*) = (-?[\d,]+)(?![\d,.%])", formula):
        plain = re.sub("⌈(.*?) ÷ (.*?)⌉", r"-(-\1 // \2)", left)
        plain = re.sub("⌊(.*?) ÷ (.*?)⌋", r"(\1 // \2)", plain)
        assert eval(plain.translate(SIGNS), {}, {}) == int(right.replace(",", "")), formula  # noqa: S307 - digits alone


UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
TERM = r"-?[\d,.]+ (?:[KMGT]i)?B\b"


def bytes_in(printed: str) -> Fraction:
    number, unit = printed.split(" ")
    return Fraction(number.replace(",", "")) * UNITS[unit]


def adds_up(formula: str) -> bool:
    """Whether the terms come to the result, to the digits in which both are printed; False where nothing is to add."""
    formula = re.sub(r"^.*?[:：] ?(?=[(\d])", "", formula)
    left, equals, right = formula.rpartition(" = ")
    if not equals or re.search("[→⌊⌈^a-z]| n", re.sub("[KMGT]i?B", "", left)) or (" = " in left and ";" not in left):
        return False
    if ";" in left:  # of one token, and how many there are
        each, _, count = left.rpartition("; × ")
        assert adds_up(each), each
        left = f"{each.rpartition(' = ')[2]} × {count}"
    left = re.sub(r"\) B\b", ")", left)
    plain = re.sub(TERM, lambda m: f"Fraction({str(bytes_in(m[0]))!r})", left)
    plain = re.sub(r"(?<!['\d./])([\d,.]+)(?!['\d./])", lambda m: f"Fraction({m[1].replace(',', '')!r})", plain)
    value = eval(plain.translate(SIGNS), {"Fraction": Fraction}, {})  # noqa: S307 - digits alone
    exact = re.fullmatch(r"[\d,]+(?:\.\d+)? B", right) and value >= 1024
    assert (value == bytes_in(right)) if exact else (format_bytes(value) == right), formula
    return True


ANSWERS = {
    f"{engine}, {settings}": {"engine": engine, **settings}
    for engine in ENGINES
    for settings in (
        {},
        {"gpu": "own-8gib", "model": "Qwen/Qwen2.5-7B-Instruct", "weight_dtype": "int4"},
        {"gpus": 4, "model": "Qwen/Qwen3-32B", "sequences": 200},
        {"model": "google/gemma-3-27b-it", "gpu": "h200", "headroom": 0.1},
        {"sequences": 1, "shared_tokens": 1_000, "input": 7_333, "output": 111},
        {"gpu": "l4", "model": "Qwen/Qwen3-32B"},
    )
}


@BOTH
@pytest.mark.parametrize("settings", ANSWERS.values(), ids=ANSWERS)
def test_what_is_printed_adds_up(settings: dict[str, Any], lang: Lang) -> None:
    sizing = sized(Scenario(**settings))
    for made in (per_request(sizing, lang), lacking(sizing, lang)):
        for formula in made.formulas:
            adds_up(formula)
    for given in at_once(sizing, lang).given:
        if re.fullmatch(rf"[\d,]+ × {TERM}", given.where):
            assert adds_up(f"{given.where} = {given.value}")
    need = lacking(sizing, lang).formulas
    assert [adds_up(formula) for formula in need] == [True] * len(need)
    fit = at_once(sizing, lang).formulas[0]
    if "≤" in fit and "GiB" in fit:
        least, room, more = (bytes_in(term) for term in re.findall(TERM, fit))
        assert least <= room < more


@BOTH
@pytest.mark.parametrize("name", EVERY)
def test_what_is_printed_adds_up_however_it_turns_out(name: str, lang: Lang) -> None:
    for formula in lacking(EVERY[name], lang).formulas:
        assert adds_up(formula)
    for formula in per_request(EVERY[name], lang).formulas:
        adds_up(formula)


def test_the_hidden_part_of_a_gpu_is_in_its_working() -> None:
    need, left, seen, taken = lacking(sized(Scenario()), "en").formulas
    assert need == "50 × 256 × 4 MiB − 34.7 GiB = 15.3 GiB"
    assert left.startswith("Left for the cache: 72.8")
    assert seen == "What programs see of the GPU: 79.65 GiB − 0.47 GiB = 79.2 GiB"
    assert taken == "What the engine takes of that: 79.18 GiB × 0.92 = 72.8 GiB"


@BOTH
def test_the_three_facts_come_to_their_numbers(lang: Lang) -> None:
    for scenario in (Scenario(), Scenario(gpus=4, tp=2, shared_tokens=2_000), Scenario(model="google/gemma-3-27b-it")):
        sizing = sized(scenario)
        fit, request, short = at_once(sizing, lang), per_request(sizing, lang), lacking(sizing, lang)
        assert fit.formulas[-1].endswith(f"= {format_count(sizing.max_sequences_counted or 0)}")
        assert request.formulas[-1].endswith(f"= {format_bytes(sizing.request_bytes or 0)}")
        assert short.formulas[0].endswith(f"= {format_bytes(sizing.lacking_bytes or 0)}")
        assert sizing.budget is not None
        assert short.formulas[1].endswith(f"= {format_bytes(sizing.budget.available_bytes)}")
        comes_to(fit.formulas[-1])
        fields = {given.where: given.value for given in request.given}
        for fact in sizing.architecture.facts:
            if fact.term in ("layers", "kv_heads", "head_dim", "window_tokens"):
                assert fields[fact.where] == format_count(int(fact.value))
        assert {given.name: given.value for given in fit.given}["GPU"] == "H100 80GB SXM"


def test_what_was_changed_is_called_so() -> None:
    sizing = sized(Scenario(input=8_000, headroom=0.1))
    where = {given.name: given.where for made in (at_once(sizing, "en"),) for given in made.given}
    assert where["Input tokens"] == "setting, changed"
    assert where["Output tokens"] == "setting, default"
    assert "Headroom (share to keep free)" in where
    assert "Headroom (share to keep free)" not in {given.name for given in at_once(sized(Scenario()), "en").given}


@BOTH
@pytest.mark.parametrize("name", EVERY)
def test_every_answer_has_its_workings(name: str, lang: Lang) -> None:
    sizing = EVERY[name]
    for made in (at_once(sizing, lang), per_request(sizing, lang), lacking(sizing, lang), compared(sizing, lang)):
        assert made.explained
        assert name_of(sizing.scenario.engine) in made.source
        if sizing.budget is not None:
            assert made.formulas
            assert made.given


@pytest.mark.parametrize("engine", ENGINES)
def test_a_source_is_one_that_the_code_cites(engine: str) -> None:
    code = "\n".join(file.read_text(encoding="utf-8") for file in (PACKAGE / "engines").glob("*.py"))
    code += (PACKAGE / "budgets.py").read_text(encoding="utf-8")
    for file in (REQUEST_FILES[engine], POOL_FILES[engine], HITS_FILE):
        path, _, lines = file.partition(":")
        assert path in code
        assert not lines or f"{path.rpartition('/')[2]}:{lines}" in code
    made = at_once(sized(Scenario(engine=engine)), "en")
    assert REQUEST_FILES[engine] in made.source


def test_lines_of_the_newest_version_are_not_given_for_an_older_one() -> None:
    old = per_request(sized(Scenario(engine_version="v0")), "en")
    assert old.source == "vLLM V0"


@BOTH
def test_the_race_says_what_each_side_can_hold(lang: Lang) -> None:
    for view in ("race", "hybrid"):
        settings = race.Settings(view=view)
        raced = race.race(settings, race.TEACHING.requests)
        made = of_race(raced, lang)
        joined = " ".join(made.formulas)
        assert f"= {settings.pool // settings.block}" in joined
        assert (f"= {settings.pool // settings.longest}" in joined) == (view == "race")
        for formula in made.formulas:
            comes_to(formula)


@BOTH
def test_what_prompts_share_comes_to_its_numbers(lang: Lang) -> None:
    found = cached(("a b c d e f g h i", "a b c d e f x y", "a b c d"), 2)
    assert found.hit_tokens
    for made in of_prompts(found, lang):
        for formula in made.formulas:
            comes_to(formula)
        assert HITS_FILE in made.source
    assert of_prompts(cached(("",), 2), lang)[2].formulas == ()


@BOTH
def test_a_runs_prediction_is_worked_out(lang: Lang) -> None:
    run = bundled()
    predicted, measured, residual, fast = of_run(run.started, run.samples, lang)
    assert predicted.formulas[-1] == "23,040 B × 343 × 1 = 7,902,720 B"
    assert "2 × 30 × 3 × 64 × 2 B = 23,040 B" in predicted.formulas
    assert {given.value for given in predicted.given} >= {"30", "3", "343"}
    assert measured.formulas == ("7,902,720 B",)
    assert residual.formulas == ("7,902,720 − 7,902,720 = 0 B",)
    assert re.search(r"^299 ÷ [\d.]+ s = [\d.]+$", fast.formulas[0])
    other = of_run(replace(run.started, model="own"), run.samples, lang)[0]
    assert other.formulas == ()
    assert all(made.formulas == () for made in of_run(run.started, (), lang))


@BOTH
def test_a_log_is_predicted_from_named_fields(lang: Lang) -> None:
    text = (Path(__file__).parent / "data" / "logs" / "llamacpp-14097-gemma-3-27b-it.log").read_text(encoding="utf-8")
    log = read_log(text)
    made = of_check(check(log, model=named_in(log)), lang)
    assert isinstance(made, Working)
    assert len(made.formulas) == 2
    assert "llama.cpp" in made.source
    assert "$.text_config.num_key_value_heads" in {given.where for given in made.given}
    assert of_check(check(log), lang) is None or made.given
