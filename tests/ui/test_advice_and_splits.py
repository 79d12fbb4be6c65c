"""On the Sizing page: pitfalls beside the notes, and ways to use several GPUs, one of which a press takes over."""

import pytest

from kvviz.advice import MOST_IN_SIGHT, advice
from kvviz.scenario import Scenario
from kvviz.text import LANGUAGES, Lang
from kvviz.text import advice as pitfalls
from kvviz.text import sizing as text
from kvviz.text import splits as splits_text
from kvviz.ui import show
from tests.ui.page import link, open_app, sized

R1 = {"model": "deepseek-ai/DeepSeek-R1", "gpu": "h200", "gpus": "8"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_gravest_pitfalls_in_sight_the_rest_folded(lang: Lang) -> None:
    app = open_app(lang=lang, **R1)
    found = advice(sized(Scenario(model=R1["model"], gpu="h200", gpus=8)))
    told = "\n".join(caption.value for caption in app.caption)
    assert all(show.plain(one.sentence(lang)) in told for one in found)
    folded = next(e for e in app.expander if e.label == pitfalls.MORE(lang, count=len(found) - MOST_IN_SIGHT))
    assert len(folded.caption) == 1
    assert show.plain(found[0].sentence(lang)) not in folded.caption[0].value


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_press_takes_a_split_over(lang: Lang) -> None:
    app = open_app(lang=lang, **R1)
    app.session_state["tabs"] = text.WHAT_IF(lang)
    app.run()
    assert not app.exception
    rows = app.table[-1].value
    assert splits_text.THIS_ONE(lang, split="TP 8") in set(rows[splits_text.SPLIT(lang)])
    assert rows[splits_text.SPLIT(lang)].iloc[0] == "TP 8 · DCP 8"
    app.button("split_0").click().run()
    assert not app.exception
    assert (link(app)["tp"], link(app)["dcp"]) == ("8", "8")


def test_one_gpu_has_nothing_to_split() -> None:
    app = open_app(lang="en")
    app.session_state["tabs"] = text.WHAT_IF("en")
    app.run()
    assert not any(button.key == "split_0" for button in app.button)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("code", "settings"),
    [
        ("not-taken-off", {"engine": "transformers"}),
        ("more-than-max-running-requests", {"engine": "sglang", "sequences": 5_000, "input": 60, "output": 4}),
    ],
)
def test_what_the_sentence_leaves_out_stands_right_under_it(
    code: str, settings: dict[str, str | int], lang: Lang
) -> None:
    asked: dict[str, str | int] = {"model": "Qwen/Qwen3-0.6B", "gpu": "h200", **settings}
    app = open_app(lang=lang, **{name: str(value) for name, value in asked.items()})
    (note,) = [note for note in sized(Scenario(**asked)).notes if note.code == code]  # type: ignore[arg-type]
    assert [warning.value for warning in app.warning] == [show.plain(note.message(lang))]
