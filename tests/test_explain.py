"""The working behind an answer: every formula that is shown comes to the number beside it."""

import re
from fractions import Fraction

import pytest

from kvviz import catalogue, explain
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import Text
from kvviz.text import explain as text


def sized(model: str, **settings: object) -> Sizing:
    return resolve(Scenario(model=model, **settings)).size()  # type: ignore[arg-type]


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


@pytest.mark.parametrize(
    ("model", "k", "v", "content_bytes", "formula"),
    [
        # 36 layers, 8 heads, 128 + 128 values, 8,192 tokens; q8_0 has 34 bytes per 32 values, q4_0 has 18.
        ("Qwen/Qwen3-8B", "q8_0", "q4_0", 36 * 8 * (136 + 72) * 8192, "36 × 8 × (128 × 1.0625 + 128 × 0.5625) B"),
        ("Qwen/Qwen3-8B", "auto", "q8_0", 36 * 8 * (256 + 136) * 8192, "36 × 8 × (128 × 2 + 128 × 1.0625) B"),
        ("Qwen/Qwen3-8B", "q4_0", "q4_0", 36 * 8 * 144 * 8192, "2 × 36 × 8 × 128 × 0.5625 B"),
    ],
)
def test_keys_and_values_may_have_types_of_their_own(
    model: str, k: str, v: str, content_bytes: int, formula: str
) -> None:
    answer = sized(model, engine="llama.cpp", kv_dtype=k, v_dtype=v, input=8_000, output=192)
    assert answer.content_bytes == answer.request_bytes == content_bytes
    (line,) = explain.lines(answer)
    left, _, result = line.formula.partition(" = ")
    assert left == formula
    assert value(left, 0) == value(result, 0)
    assert line.total_bytes == content_bytes
    both = {"q8_0q4_0": "q8_0 / q4_0", "autoq8_0": "fp16 / q8_0"}
    assert answer.kv_dtype.name == both.get(k + v, k)
    assert {note.code for note in answer.notes}.isdisjoint({"stored-as"})


@pytest.mark.parametrize(
    ("gpu", "dtype", "latents", "indexer"),
    [
        ("h200", "fp8", "61 × (512 + 4 × 4 + 64 × 2) B = 40,016 B", "61 × (128 + 4) B = 8,052 B"),
        ("b200", "nvfp4_ds_mla", "61 × (512 × 0.5 + 32 + 64) B = 21,472 B", "61 × (128 + 4) B = 8,052 B"),
        ("h200", "bf16", "61 × (512 + 64) × 2 B = 70,272 B", "61 × (128 + 4) B = 8,052 B"),
    ],
)
def test_packed_records_are_taken_apart(gpu: str, dtype: str, latents: str, indexer: str) -> None:
    shown = explain.lines(sized("deepseek-ai/DeepSeek-V3.2-Exp", gpu=gpu, gpus=8, kv_dtype=dtype))
    assert [line.formula for line in shown] == [latents, indexer]
    for line in shown:
        left, _, result = line.formula.partition(" = ")
        assert value(left, 0) == value(result, 0)


MAMBA, MLA, LLAMA4 = "tiiuae/falcon-mamba-7b", "deepseek-ai/DeepSeek-R1", "meta-llama/Llama-4-Scout-17B-16E-Instruct"


@pytest.mark.parametrize(
    ("model", "gpus", "said"),
    [
        ("Qwen/Qwen3-8B", 1, ["DIFFER_EXACT"]),
        ("Qwen/Qwen3-8B", 2, ["DIFFER_SPLIT"]),
        ("Qwen/Qwen3-8B", 16, ["DIFFER_SPLIT_SOME"]),
        (MAMBA, 1, ["DIFFER_EXACT"]),
        (MAMBA, 2, ["DIFFER_SPLIT"]),
        (MLA, 8, ["DIFFER_COPIED"]),
        (LLAMA4, 1, ["DIFFER_CHUNKS"]),
        ("google/gemma-3-27b-it", 1, ["DIFFER_WINDOWS"]),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 2, ["DIFFER_STATE", "DIFFER_SPLIT"]),
    ],
)
def test_the_reasons_are_true_of_the_model(model: str, gpus: int, said: list[str]) -> None:
    answer = sized(model, gpu="h200", gpus=gpus)
    names = {id(sentence): name for name, sentence in vars(text).items() if isinstance(sentence, Text)}
    assert [names[id(reason.text)] for reason in explain.differences(answer)] == said
    for note in answer.notes:
        assert model != LLAMA4 or "indow" not in note.message("en") or "Windows, chunks" in note.message("en")
        assert model != MAMBA or note.code != "coarse-blocks"


def test_a_request_is_the_sum_over_groups_of_layers() -> None:
    """A hybrid's blocks: those of its attention and those of each group of states."""
    answer = sized("Qwen/Qwen3-Next-80B-A3B-Instruct", gpu="h200", gpus=2)
    rows = {str(title("en")): str(meaning) for title, _, meaning in explain.three_numbers(answer)}
    assert answer.plan is not None
    by_group = re.search(r"pool blocks by group of layers: ([\d+ ]+) = (\d+),", rows["Reservation"])
    assert by_group is not None
    terms = [int(n) for n in by_group[1].split("+")]
    assert len(terms) == len(answer.plan.groups) > 1
    assert sum(terms) == int(by_group[2]) == answer.plan.request_blocks(answer.tokens)


@pytest.mark.parametrize(
    "settings",
    [
        {"gpu": "h100-80gb"},
        {"gpu": "h200", "gpus": 4, "tp": 2, "sequences": 201},
        {"gpu": "h100-80gb", "shared_tokens": 1000, "headroom": 0.1},
        {"gpu": "rtx-4090"},
    ],
    ids=str,
)
def test_the_three_facts_are_what_their_workings_come_to(settings: dict[str, object]) -> None:
    answer = sized("Qwen/Qwen3-32B-FP8", **settings)
    shown = explain.workings(answer)
    assert shown is not None
    plain = shown.at_once.replace(",", "").replace("×", "*").replace("÷", "//").replace("−", "-")
    at_once = eval(plain.replace("⌊", "(").replace("⌋", ")"))  # noqa: S307 - our own text
    assert max(0, at_once) == answer.max_sequences_counted
    assert answer.plan is not None
    assert shown.per_request.startswith(f"{answer.plan.request_blocks(answer.tokens):,} × ")


def test_every_number_of_a_layout_has_a_name_or_goes_by_its_config_field() -> None:
    facts = [fact for model in catalogue.models() for fact in catalogue.load(model).architecture.facts]
    nameless = {fact.term for fact in facts if fact.term not in text.TERMS and not fact.where.endswith(fact.term)}
    assert nameless == set()
    assert set(text.TERMS) <= {fact.term for fact in facts}
