"""The answer sentence: how it ends for each kind of answer, the same words in Markdown and as plain text."""

import pytest

from kvviz.core.units import format_bytes
from kvviz.export import sizing_json
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang
from kvviz.verdict import Outcome, one_line, verdict


def sized(scenario: Scenario) -> Sizing:
    return resolve(scenario).size()


SMALL = Scenario(model="Qwen/Qwen3-0.6B", engine="sglang", gpu="h200", input=64, output=0)
"""Of which memory has room for more than any engine runs at once by default."""
WINDOWS = Scenario(model="google/gemma-3-4b-it", gpu="a100-80gb")
CASES: list[tuple[Scenario, Outcome, str]] = [
    (Scenario(sequences=10), "yes", "All 10 fit at once"),
    (Scenario(sequences=1), "yes", "It fits"),
    (Scenario(), "no", "34 of 50 fit at once"),
    (Scenario(users=200, sequences=3), "no", "34 of 50 fit at once"),
    (Scenario(input=200_000), "no", "vLLM 0.33 would not start"),
    (Scenario(model="google/gemma-3-27b-it", gpus=2), "held-only", "50 fit unless many"),
    (Scenario(model="deepseek-ai/DeepSeek-R1"), "no", "The weights alone do not fit"),
    (SMALL.with_changes(sequences=4_096), "yes", "All 4,096 fit at once"),
    (SMALL.with_changes(sequences=9_000), "yes", "All 9,000 fit in memory; 4,096 run at once by default"),
    (SMALL.with_changes(sequences=20_000), "no", "18,226 of 20,000 fit in memory; 4,096 run at once by default"),
    (SMALL.with_changes(engine="vllm", sequences=1_025), "yes", "All 1,025 fit in memory; 1,024 run at once"),
    (SMALL.with_changes(engine="vllm", gpus=2, tp=1, sequences=2_049), "yes", "2,049 fit in memory; 2,048 run at"),
    (SMALL.with_changes(engine="llama.cpp", sequences=300), "no", "256 of 300 fit at once"),
    (WINDOWS.with_changes(sequences=256), "held-only", "256 fit unless many"),
    (WINDOWS.with_changes(sequences=300), "held-only", "in memory unless many long prompts arrive together; 256 run"),
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


@pytest.mark.parametrize("scenario", [scenario for scenario, *_ in CASES], ids=[head for *_, head in CASES])
def test_nobody_promises_more_at_once_than_the_engine_runs(scenario: Scenario) -> None:
    """The sentence says "at once" of a number that runs, else names what does; JSON says the same."""
    sizing = sized(scenario)
    answer = sizing_json(sizing)
    head = {lang: verdict(sizing, lang).head for lang in LANGUAGES}
    assert answer["requests"] == scenario.requests
    run = answer["max_sequences_run"]
    if not isinstance(run, int) or sizing.fits is None:
        assert run is None
        return
    named = scenario.requests if sizing.fits != "no" else sizing.max_sequences_counted or 0
    assert sizing.runs_fewer is (named > run)
    assert ("by default" in head["en"], "既定の" in head["ja"]) == (named > run, named > run)
    if named > run:
        assert all(f"{run:,}" in said for said in head.values())
        assert "more-than-max" in " ".join(note.code for note in sizing.notes)
