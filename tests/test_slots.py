"""llama.cpp's limit of 256 slots: what the app, the command line and the charts say of it agrees."""

import pytest

from kvviz import cli
from kvviz.charts.growth import growth, growth_alt
from kvviz.charts.ledger import ledger_alt, ledger_rows
from kvviz.engines.llama_cpp import MAX_SLOTS
from kvviz.explain import three_numbers, workings
from kvviz.launch import launch
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES
from kvviz.ui.show import GRAVE
from kvviz.verdict import one_line

SMALL = {"model": "Qwen/Qwen3-8B", "gpu": "h100-80gb", "engine": "llama.cpp", "kv_dtype": "q4_0"}


def sized(**changes: object) -> Sizing:
    return resolve(Scenario(**(SMALL | changes))).size()  # type: ignore[arg-type]


def codes(sizing: Sizing) -> set[str]:
    return {note.code for note in sizing.notes}


@pytest.mark.parametrize(
    ("changes", "fit", "limited"),
    [
        ({"sequences": 255, "input": 1_000, "output": 24}, 256, False),
        ({"sequences": 256, "input": 1_000, "output": 24}, 256, False),
        ({"sequences": 257, "input": 1_000, "output": 24}, 256, True),
        ({"sequences": 300}, 256, True),
        ({"sequences": 600, "gpus": 2, "dp": 2}, 512, True),
        ({"sequences": 300, "gpus": 2, "dp": 2}, 512, False),
    ],
)
def test_where_the_slots_decide(changes: dict[str, int], fit: int, limited: bool) -> None:
    sizing = sized(**changes)
    assert sizing.max_sequences_counted == fit
    assert sizing.at_slots_limit
    assert ("slots-limit" in codes(sizing)) is limited
    assert sizing.fits == ("no" if limited else "yes")
    assert sizing.short_bytes is not None
    assert sizing.short_bytes <= 0  # memory is enough for all slots there are
    found, how = launch(sizing), workings(sizing)
    assert found is not None
    assert how is not None
    each = min(MAX_SLOTS, -(-sizing.scenario.requests // sizing.engines))
    assert f" -np {each}" in found.command
    assert "GiB" not in how.at_once
    assert any("is the most that llama.cpp takes" in note("en") for note in found.notes) is limited
    assert not any("would stop there" in note("en") for note in found.notes)
    for lang, short in (("en", "short"), ("ja", "不足")):
        said = [one_line(sizing, lang), cli._sentence(sizing, lang), ledger_alt(sizing, lang)]
        said += [str(row) for row in ledger_rows(sizing, lang)]
        assert not [one for one in said if short in one]
    asked = growth(sizing).asked
    assert (asked.fit_tokens == 0) is limited
    assert ("300 requests: do not fit" in growth_alt(sizing, "en")) is (limited and sizing.scenario.requests == 300)


@pytest.mark.parametrize("headroom", [0, 0.1])
@pytest.mark.parametrize("engine", ["llama.cpp", "sglang", "tensorrt-llm", "transformers"])
def test_a_pool_of_bytes_has_no_blocks(engine: str, headroom: float) -> None:
    sizing = sized(kv_dtype="auto", sequences=1, engine=engine, headroom=headroom)
    assert sizing.budget is not None
    assert sizing.budget.unit_bytes == 1
    assert not [row for row in ledger_rows(sizing, "en") if "block" in str(row)]
    assert not [row for row in ledger_rows(sizing, "ja") if "ブロック" in str(row)]
    held = {title("en"): why("en") for title, _, why in three_numbers(sizing)}["Held"]
    pieces = {"sglang": "in whole pages.", "tensorrt-llm": "in whole blocks."}
    assert held.endswith(pieces.get(engine, "while it decodes."))


@pytest.mark.parametrize("engine", ["llama.cpp", "sglang", "tensorrt-llm", "transformers"])
@pytest.mark.parametrize("tokens", [32_768, 10_000_000])
def test_notes_on_vllm_are_vllms(engine: str, tokens: int) -> None:
    sizing = sized(model="CohereForAI/aya-23-8B", engine=engine, kv_dtype="auto", input=tokens)
    assert "context-beyond-model" in codes(sizing)
    found = launch(sizing)
    assert found is not None
    for lang in LANGUAGES:
        assert not [note for note in (*sizing.notes,) if "vLLM" in note.message(lang)]
        assert not [note for note in found.notes if "vLLM" in note(lang)]
    assert any("vLLM" in n.message("en") for n in sized(engine="vllm", kv_dtype="auto", input=10**5).notes)


def test_the_limit_stands_beside_the_answer() -> None:
    assert "slots-limit" in GRAVE
    for lang in LANGUAGES:
        assert "256" in one_line(sized(sequences=300), lang)
        assert any("256" in note.message(lang) for note in sized(sequences=300).notes if note.code == "slots-limit")


def test_where_memory_decides_it_says_so() -> None:
    """More are asked than there are slots, and not even those fit."""
    sizing = sized(sequences=300, kv_dtype="auto")
    assert sizing.max_sequences_counted is not None
    assert sizing.max_sequences_counted < MAX_SLOTS
    assert not sizing.at_slots_limit
    assert sizing.short_bytes is not None
    assert sizing.short_bytes > 0
    assert {"slots-limit"} <= codes(sizing)
    assert "short" in one_line(sizing, "en")
    found, how = launch(sizing), workings(sizing)
    assert found is not None
    assert how is not None
    assert f" -np {MAX_SLOTS}" in found.command
    assert f"{sizing.max_sequences_counted} slots fit" in found.notes[-1]("en")
    assert " < " in how.at_once


def test_a_start_that_does_not_fit_is_warned_of() -> None:
    """The cache of all slots is allocated at once: too many are no queue, but no start."""
    sizing = sized(model="Qwen/Qwen3-8B", kv_dtype="auto", sequences=200)
    assert sizing.fits == "no"
    found = launch(sizing)
    assert found is not None
    assert f"{sizing.max_sequences_counted} slots fit" in found.notes[-1]("en")
    enough = launch(sized(kv_dtype="auto", sequences=sizing.max_sequences_counted))
    assert enough is not None
    assert not any("would stop" in note("en") for note in enough.notes)
