"""The workshop's answers against known truths, guesses of every kind, and links that are sent back."""

from datetime import date
from fractions import Fraction
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz import workshop
from kvviz.core.units import GIB, KIB, MIB
from kvviz.live import bundled
from kvviz.prompts import cached
from kvviz.scenario import Scenario, to_query
from kvviz.text import LANGUAGES, Lang, Message, Text
from kvviz.workshop import (
    ALL_MINUTES,
    MINUTES,
    Question,
    course,
    how_far_off,
    judge,
    prompts_found,
    read_guess,
    shown_guess,
    squares,
)

QUESTIONS = {question.key: question for step in course("en") for question in step.questions}


def in_words(said: Text | Message | str, lang: Lang = "en") -> str:
    return said if isinstance(said, str) else said(lang)


# --- the course ------------------------------------------------------------------------------------------------------


def test_ten_steps_fill_the_hour() -> None:
    steps = course("en")
    assert [step.number for step in steps] == list(range(1, 11))
    assert sum(step.minutes for step in steps) == ALL_MINUTES == 60
    assert [step.key for step in steps] == list(MINUTES)
    assert list(MINUTES.values()) == [5, 5, 4, 8, 6, 9, 5, 4, 9, 5]
    assert [step.begin for step in steps][1:] == [step.begin + step.minutes for step in steps][:-1]


@pytest.mark.parametrize(
    ("key", "answer", "said"),
    [
        # 1,000 tokens of 256 KiB.
        ("page", 250 * MIB, "250 MiB"),
        # 1 + 2 + … + 8.
        ("without", 36, "36"),
        ("with", 8, "8"),
        # 56.2 s / 11.9 s, as quoted.
        ("faster", Fraction("4.7"), "4.7 times"),
        ("head", 128, "128"),
        # 2 x 64 layers x 8 KV heads x 128 x 2 bytes.
        ("token", 256 * KIB, "256 KiB"),
        ("request", GIB, "1 GiB"),
        ("mha", 8 * GIB, "8 GiB"),
        ("mqa", 128 * MIB, "128 MiB"),
        ("mqa-fit", 277, "277"),
        # Three times 20 squares of 64; 14 blocks of 16.
        ("contiguous", 3, "3"),
        ("paged", 6, "6"),
        ("served", 3, "3"),
        ("date-first", "none", "nothing: 0 of 153 tokens"),
        ("date-last", "same", "as much as before: 64 of 153 tokens"),
        ("residual", "zero", "0 bytes, in all 300 steps"),
        ("fix", "kv-dtype", "FP8 cache: 69 fit"),
        ("memory", "false", "false"),
        ("weights", "false", "false"),
        ("swapped", "true", "true"),
        ("grows", "false", "false"),
        ("smaller", "false", "false"),
        ("keeps", "true", "true"),
    ],
)
def test_what_comes_out(key: str, answer: object, said: str) -> None:
    assert QUESTIONS[key].answer == answer
    assert in_words(QUESTIONS[key].said) == said


def test_every_answer_is_in_the_table_above() -> None:
    mark = next(m for m in test_what_comes_out.pytestmark if m.name == "parametrize")  # type: ignore[attr-defined]
    assert {key for key, _, _ in mark.args[1]} == QUESTIONS.keys()


def test_answers_are_the_same_in_both_languages() -> None:
    for en, ja in zip(course("en"), course("ja"), strict=True):
        assert [(q.key, q.answer) for q in en.questions] == [(q.key, q.answer) for q in ja.questions]
        assert en == ja


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_sentence_can_be_said(lang: Lang) -> None:
    for step in course(lang):
        sentences = [step.title, step.do, step.so, *(note for _, note in step.notes)]
        for table in filter(None, (step.given, step.results)):
            sentences += [cell for row in table.rows for cell in row if isinstance(cell, Message)]
            assert {len(row) for row in table.rows} == {len(table.heads)}
        said = [sentence(lang) for sentence in sentences]
        assert all(said)
        assert not any("{" in one for one in said)


def test_the_decoy_is_near_and_does_not_do() -> None:
    asked, fits, counts = (course("en")[8].values[name] for name in ("requests", "fit", "decoy_fit"))
    assert (asked, fits, counts) == ("50", "34", "48")


def test_the_day_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = [prompts_found(lang, date_at=place).hit_tokens for lang in LANGUAGES for place in ("first", "last")]
    for day in (date(2026, 1, 9), date(2026, 2, 27), date(2026, 12, 30)):
        monkeypatch.setattr(workshop, "_A_DAY", day)
        found = [prompts_found(lang, date_at=place).hit_tokens for lang in LANGUAGES for place in ("first", "last")]
        assert found == usual


def test_the_paper_as_it_is_filled_in() -> None:
    paper = squares("contiguous")
    assert [sum(s.request == n for s in paper) for n in (1, 2, 3, None)] == [20, 20, 20, 4]
    assert [sum(s.used and s.request == n for s in paper) for n in (1, 2, 3)] == [7, 10, 6]
    paged = squares("paged")
    assert [sum(s.request == n for s in paged) for n in range(1, 7)] == [8, 12, 8, 12, 8, 8]
    assert sum(s.used for s in paged) == 48
    assert not any(s.used for s in (*paper, *paged) if s.request is None)


def test_nothing_is_shared_where_nothing_is_alike() -> None:
    """The prompts of the example are what makes the hits, not the way they are sent."""
    assert cached(("a b c d e f g h i", "z b c d e f g h i"), 8).hit_tokens == 0


def test_a_share_and_a_length_are_worked_out_in_sight() -> None:
    steps = {step.key: step for step in course("en")}
    blocks, live = ("\n".join(map(in_words, steps[key].working)) for key in ("blocks", "live"))
    assert "3 × 20 − (7 + 6 − 1) − (10 + 3 − 1) − (6 + 4 − 1) = 27; 27 ÷ 64 = 42%" in blocks
    assert ";" not in "\n".join(in_words(line, "ja") for step in course("ja") for line in step.working)
    assert 3 * 20 - (7 + 6 - 1) - (10 + 3 - 1) - (6 + 4 - 1) == 27
    assert f"{27 / 64:.0%}" == steps["blocks"].values["wasted"] == "42%"
    assert "44 of the prompt + 300 written − 1 = 343." in live
    started, last = bundled().started, bundled().samples[-1]
    assert started.prompt_tokens + started.new_tokens - 1 == last.tokens == 343


# --- guesses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "typed", "meant"),
    [
        ("page", "250", 250 * MIB),
        ("page", "250 MiB", 250 * MIB),
        ("page", "0.5 GiB", 512 * MIB),
        ("page", "250MB", 250 * 10**6),
        ("page", "２５０", 250 * MIB),
        ("page", " 1,000 KiB ", 1_000 * KIB),
        ("page", "約250", 250 * MIB),
        ("page", "約 250 MiB くらい", 250 * MIB),
        ("page", "about 1/4 GiB", 256 * MIB),
        ("page", "½ GiB", 512 * MIB),
        ("page", "1/0", None),
        ("page", "250,0", None),  # with a comma as a point it would be 250, without it 2,500
        ("page", "2,50", None),
        ("page", "1,0000", None),
        ("page", "-5", None),
        ("page", "1e99", None),
        ("page", "🙂", None),
        ("page", "250 tokens", None),
        ("page", "", None),
        ("page", "-3", None),
        ("page", "1e9", None),
        ("page", "a lot", None),
        ("page", "9" * 60, None),
        ("token", "256", 256 * KIB),
        ("request", "1", GIB),
        ("without", "36", 36),
        ("without", "36 回", 36),
        ("without", "36 KiB", None),
        ("faster", "4.7", Fraction("4.7")),
        ("faster", "500 倍", 500),
        ("faster", "5x", 5),
        ("faster", ".5", Fraction(1, 2)),
        ("fix", "kv-dtype", "kv-dtype"),
        ("fix", "something", None),
    ],
)
def test_reads_guesses(key: str, typed: str, meant: object) -> None:
    assert read_guess(QUESTIONS[key], typed) == meant


@pytest.mark.parametrize(
    ("key", "typed", "off", "said"),
    [
        ("page", "250", "right", "Exactly right!"),
        ("page", "262144000 B", "right", "Exactly right!"),
        ("page", "260", "close", "Very close."),
        ("page", "100", "off", "The answer is 2.5 times that."),
        ("page", "500", "off", "2 times too much."),
        ("page", "1", "off", "The answer is 250 times that"),
        ("page", "1 TiB", "none", None),
        ("page", "200 GiB", "off", "819 times too much"),
        ("page", "1,000 GiB", "off", "More than 1,000 times too much."),
        ("page", "1 KiB", "off", "The answer is more than 1,000 times that."),
        ("page", "0", "off", "It is not nothing."),
        ("served", "4", "close", "Only one off."),
        ("served", "2", "close", "Only one off."),
        ("without", "64", "off", "8 × 8 would be the whole row"),
        ("faster", "500", "off", "That is how many computations"),
        ("head", "80", "off", "5,120 ÷ 64 = 80 is the trap"),
        ("token", "160", "off", "5,120 ÷ 64 = 80 is the trap"),
        ("token", "128", "off", "Half is missing"),
        ("token", "2048", "off", "That is with 64 heads."),
        ("request", "8", "off", "That is with 64 heads."),
        ("mqa-fit", "272", "close", "34 × 8: very good."),
        ("fix", "weight-dtype", "off", "Not quite."),
        ("fix", "kv-dtype", "right", "Right!"),
        ("fix", "", "none", None),
    ],
)
def test_says_how_far_off(key: str, typed: str, off: str, said: str | None) -> None:
    question = QUESTIONS[key]
    found, sentence = how_far_off(question, read_guess(question, typed))
    assert found == off
    assert (sentence is None) == (said is None)
    assert sentence is None or sentence("en").startswith(said or "")


@given(st.sampled_from(sorted(QUESTIONS)), st.text(max_size=50))
def test_anything_may_be_typed(key: str, typed: str) -> None:
    question = QUESTIONS[key]
    guess = read_guess(question, typed)
    off, said = how_far_off(question, guess)
    assert (off == "none") == (guess is None) == (said is None)
    if guess is not None:
        assert in_words(shown_guess(question, guess, typed)) or not typed.strip()


@pytest.mark.parametrize(
    ("key", "typed", "shown"),
    [
        ("page", "100", "100 MiB"),
        ("page", "0", "0 B"),
        ("page", "1" + 30 * "0", "1" + 30 * "0"),  # no TiB that nobody typed, no digits of a float
        ("page", "0.0001", "0.0001"),
        ("faster", "1" + 30 * "0" + "/3", "1" + 30 * "0" + "/3"),
        ("without", "64", "64"),
    ],
)
def test_a_guess_far_off_is_repeated_as_typed(key: str, typed: str, shown: str) -> None:
    question = QUESTIONS[key]
    guess = read_guess(question, typed)
    assert guess is not None
    assert in_words(shown_guess(question, guess, typed)) == shown


@given(st.sampled_from([q for q in QUESTIONS.values() if q.unit]), st.fractions(Fraction(1, 9), 9))
def test_words_and_mark_say_the_same(question: Question, times: Fraction) -> None:
    """Nothing is praised that is not counted as right or close."""
    assert isinstance(question.answer, Fraction)
    off, sentence = how_far_off(question, question.answer * times)
    assert sentence is not None
    praised = ("right!", "close", "only one off", "good")
    assert (off in ("right", "close")) == any(word in sentence("en").lower() for word in praised)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("-5", "more than 0"),
        ("−5 MiB", "more than 0"),
        ("－５", "more than 0"),
        ("- 5", "more than 0"),
        ("-a", "is no number"),
        ("-", "is no number"),
        ("a lot", "is no number"),
        ("250 tokens", "is no number"),
    ],
)
def test_says_why_a_guess_cannot_be_read(typed: str, says: str) -> None:
    why = workshop.unreadable(QUESTIONS["page"], typed)
    assert why is not None
    assert says in why("en")
    assert "100 MiB" in why("ja")


@pytest.mark.parametrize("typed", ["", "  ", "5", "0"])
def test_says_nothing_of_a_guess_that_can_be_read(typed: str) -> None:
    assert workshop.unreadable(QUESTIONS["page"], typed) is None


@given(st.sampled_from([q for q in QUESTIONS.values() if q.unit]), st.integers(1, 10**9))
def test_right_is_right_and_nothing_else_is(question: Question, parts: int) -> None:
    assert isinstance(question.answer, Fraction)
    assert how_far_off(question, question.answer)[0] == "right"
    assert how_far_off(question, question.answer * (1 + Fraction(1, parts)))[0] != "right"


# --- links that are sent back ----------------------------------------------------------------------------------------


def link(**changes: object) -> str:
    return f"https://kvviz.example.org/?{urlencode(to_query(Scenario().with_changes(**changes)))}"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sent", "outcome", "says"),
    [
        (link(), "not-yet", "Nothing is changed yet: 34 of 50 fit."),
        (link(weight_dtype="int4"), "not-yet", "48 of 50"),
        (link(memory_fraction=0.95), "not-yet", "37 of 50"),
        (link(kv_dtype="fp8"), "found", "69"),
        (link(kv_dtype="fp8", memory_fraction=0.95), "fits", "more simply"),
        (link(weight_dtype="int4", memory_fraction=0.95), "fits", "weight"),
        (link(engine="sglang"), "not-yet", "33 of 50 fit. Changed: Engine = sglang."),
        (link(max_model_len=8_192), "not-yet", "34 of 50 fit. Changed: Max model length"),
        (
            link().replace("max_model_len=auto", "max_model_len=3000"),
            "not-yet",
            "cannot be used. max_model_len: 3,000 is shorter",
        ),
        (link().replace("kv_dtype=auto", "kv_dtype=fp9"), "not-yet", "cannot be used. kv_dtype:"),
        (link().replace("engine=vllm", "engine=none"), "not-yet", "cannot be used. engine:"),
        (link(weights_gib=10.0), "other", "measured figure and no setting: Weights of the whole model (GiB) = 10.0."),
        (link(activations_gib=0.0, graphs_gib=0.0, non_torch_gib=0.0), "other", "measured figure"),
        (link(kv_dtype="fp8", weights_gib=10.0), "other", "measured figure"),
        (link(shared_tokens=2_048), "other", "changes what is asked: Shared system prompt"),
        (link(kv_dtype="fp8", headroom=0.1), "other", "changes what is asked: Headroom"),
        (link(typical=0.5), "other", "changes what is asked"),
        (link(kv_dtype="nvfp4"), "found", "4 bits a value may cost quality"),
        (link(gpus=2), "hardware", "100"),
        (link(gpu="h200"), "hardware", "90"),
        (link(sequences=34), "other", "50 requests"),
        (link(input=1_024), "other", "4,096 tokens"),
        (link(model="Qwen/Qwen3-0.6B"), "other", "Qwen/Qwen3-32B-FP8"),
        ("https://kvviz.example.org/", "no-link", "whole address"),
        ("", "no-link", "whole address"),
        ("http://[", "no-link", "whole address"),
        ("FP8", "no-link", "whole address"),
    ],
)
def test_judges_what_is_sent_back(sent: str, outcome: str, says: str) -> None:
    found, sentence = judge(sent)
    assert found == outcome
    assert says.casefold() in sentence("en").casefold()
    assert sentence("ja")


def test_the_other_order_of_input_and_output_is_the_same_question() -> None:
    assert judge(link(input=1_024, output=3_072, kv_dtype="fp8"))[0] == "fits"


@given(st.text(max_size=200))
def test_anything_may_be_sent_back(sent: str) -> None:
    judge(f"https://kvviz.example.org/?model=Qwen/Qwen3-32B-FP8&gpu=h100-80gb&input=3072&{sent}")
    judge(sent)
