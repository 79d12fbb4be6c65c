"""The answer sentence: how it ends for each kind of answer, the same words in Markdown and as plain text."""

import pytest

from kvviz.core.units import format_bytes
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang
from kvviz.verdict import Outcome, one_line, verdict


def sized(scenario: Scenario) -> Sizing:
    return resolve(scenario).size()


CASES: list[tuple[Scenario, Outcome, str]] = [
    (Scenario(sequences=10), "yes", "All 10 fit at once"),
    (Scenario(sequences=1), "yes", "It fits"),
    (Scenario(), "no", "34 of 50 fit at once"),
    (Scenario(users=200, sequences=3), "no", "34 of 50 fit at once"),
    (Scenario(input=200_000), "no", "vLLM 0.33 would not start"),
    (Scenario(model="google/gemma-3-27b-it", gpus=2), "held-only", "50 fit unless many"),
    (Scenario(model="deepseek-ai/DeepSeek-R1"), "no", "The weights alone do not fit"),
    (Scenario(gpu=""), "asks", "50 GiB of KV cache"),
    (Scenario(gpu="", shared_tokens=2048), "asks", "25.5 GiB of KV cache"),
    (Scenario(model="facebook/bart-large-cnn"), "content", "of KV cache"),
]


@pytest.mark.parametrize(("scenario", "outcome", "head"), CASES, ids=[head for *_, head in CASES])
def test_how_the_answer_ends(scenario: Scenario, outcome: Outcome, head: str) -> None:
    answer = verdict(sized(scenario), "en")
    assert answer.outcome == outcome
    assert head in answer.head


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("scenario", [scenario for scenario, *_ in CASES], ids=[head for *_, head in CASES])
def test_only_the_markdown_has_marks(scenario: Scenario, lang: Lang) -> None:
    sizing = sized(scenario)
    answer, plain, markdown = verdict(sizing, lang), one_line(sizing, lang), one_line(sizing, lang, markdown=True)
    assert markdown.startswith(f"**{answer.head}**")
    assert "*" not in plain
    assert plain == markdown.replace("**", "")
    assert plain.endswith("。" if lang == "ja" else ".")


def test_the_missing_bytes_are_the_sizings() -> None:
    sizing = sized(Scenario())
    assert f"{format_bytes(sizing.lacking_bytes or 0)} short" in one_line(sizing, "en")
    assert format_bytes(sizing.lacking_bytes or 0) in one_line(sizing, "ja")


@pytest.mark.parametrize(
    ("lang", "alone", "several"), [("en", "one request of", "every request at"), ("ja", "1 件の", "各")]
)
def test_one_request_is_not_called_every_request(lang: Lang, alone: str, several: str) -> None:
    assert alone in one_line(sized(Scenario(sequences=1)), lang)
    assert several in one_line(sized(Scenario(sequences=10)), lang)
