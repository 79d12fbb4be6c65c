"""The Shared heads page as a script, in both languages: the model as it is, what-if and back, examples, links."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.heads import PRESETS
from kvviz.text import LANGUAGES, Lang, Message
from kvviz.text import heads as text
from kvviz.text import sizing as sizing_text
from tests.ui.page import link, open_page

OPEN = {"heads_share": True}
GPU = {"gpu": "h200", "gpus": "2", "model": "Qwen/Qwen3-32B"}


def component(app: AppTest, name: str) -> Any:  # noqa: ANN401 - whatever the browser is sent
    return [e.proto for e in app.get("bidi_component") if e.proto.component_name.endswith(name)]


def filled(app: AppTest) -> Any:  # noqa: ANN401 - JSON
    """What the player of the second tab is fed with."""
    return json.loads(component(app, "kvviz_kept")[0].bytes)


def headline(app: AppTest) -> str:
    return next(m.value for m in app.markdown if m.value.startswith("### ")).replace("\\", "")


def numbers(app: AppTest) -> list[str]:
    return [metric.value for metric in app.metric]


def badges(app: AppTest) -> str:
    return " ".join(m.value for m in app.markdown if "-badge[" in m.value)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_opens_with_the_model_as_it_is(lang: Lang) -> None:
    app = open_page("heads", OPEN, lang=lang, **GPU)
    assert not app.error
    assert not app.warning
    assert text.HEAD_GQA(lang, model="Qwen3-32B", queries="64", heads="8", ratio="1/8") in headline(app)
    assert numbers(app)[:3] == ["1/8", "256 KiB", "1 GiB"]
    assert text.REAL(lang) in badges(app)
    assert "heads_back" not in {button.key for button in app.button}
    assert len(component(app, "kvviz_moving")) == 1
    # Examples, folded settings, tabs, one slider.
    assert len(app.select_slider) == 1
    assert any("1/32" in m.value and "1/16" in m.value for m in app.markdown)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_everything_changes_with_the_slider_and_back(lang: Lang) -> None:
    app = open_page("heads", OPEN, lang=lang, **GPU)
    real = numbers(app)
    drawing = component(app, "kvviz_moving")[0].json
    app.select_slider("heads_kv").set_value(64).run()
    assert not app.exception
    assert numbers(app)[:3] == ["1", "2 MiB", "8 GiB"]
    assert int(numbers(app)[3]) < int(real[3])
    assert text.WHAT_IF(lang) in badges(app)
    assert "64" in headline(app)
    assert component(app, "kvviz_moving")[0].json != drawing
    assert link(app)["heads_kv"] == "64"
    app.button("heads_back").click().run()
    assert numbers(app) == real
    assert text.REAL(lang) in badges(app)
    assert "heads_kv" not in link(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("code", PRESETS)
def test_every_example_opens_its_scenario(lang: Lang, code: str) -> None:
    app = open_page("heads", OPEN, lang=lang, **GPU)
    app.button_group("heads_preset").set_value(code).run()
    assert not app.exception
    assert not app.error
    preset = PRESETS[code]
    asked = link(app)
    assert asked["model"] == preset.scenario.model
    assert asked["gpus"] == str(preset.scenario.gpus)
    assert asked["heads_tab"] == ("layers" if preset.layers else "heads")
    if preset.layers:
        assert filled(app)["totals"]
    else:
        assert numbers(app)[3] != text.UNKNOWN(lang)
        assert text.REAL(lang) in badges(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_headline_and_numbers_say_the_same_where_states_are_not_shared(lang: Lang) -> None:
    hybrid = {**GPU, "model": "Qwen/Qwen3-Next-80B-A3B-Instruct"}
    app = open_page("heads", OPEN, lang=lang, **hybrid)
    model = "Qwen3-Next-80B-A3B-Instruct"
    assert text.HEAD_GQA(
        lang, model=model, queries="16", heads="2", ratio={"en": "0.17", "ja": "0.17 倍"}[lang]
    ) in headline(app)
    assert numbers(app)[0] == "0.17"
    assert numbers(app)[2] == "134 MiB"
    states = text.NOT_SHARED_STATES(lang, states="37.7 MiB", ratio="1/8")
    assert any(states in c.value.replace("\\", "") for c in app.caption)
    app.select_slider("heads_kv").set_value(1).run()
    assert "0.64" in headline(app)  # 85.7 MiB of 134 MiB
    # A head that two GPUs cannot share is on both, so no more fit: said right there.
    copied = {"en": "no more fit than with 2", "ja": "収まる件数は 2 個のときと同じです"}[lang]
    assert any(copied in c.value for c in app.caption)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_model_that_nobody_knows_is_named_with_the_reason(lang: Lang) -> None:
    (said,) = [w.value.replace("\\", "") for w in open_page("heads", OPEN, lang=lang, model="nobody-knows").warning]
    assert "nobody-knows" in said
    assert Message(sizing_text.NOT_BUNDLED, {"model": "nobody-knows", "near": sizing_text.NOTHING_NEAR})(lang) in said


@pytest.mark.parametrize("lang", LANGUAGES)
def test_latents_have_nothing_to_share(lang: Lang) -> None:
    app = open_page("heads", OPEN, lang=lang, model="deepseek-ai/DeepSeek-V3", heads_kv="4")
    assert [i.value.replace("\\", "") for i in app.info] == [
        text.NOT_SHARED["latent"](lang, model="deepseek-ai/DeepSeek-V3")
    ]
    assert any("40,960" in m.value for m in app.markdown)
    assert not app.select_slider


def test_nine_times_is_worked_out() -> None:
    app = open_page("heads", OPEN, model="Qwen/Qwen-7B-Chat", engine_version="0.20")
    assert any(m.value.startswith("**9.1×:**") for m in app.markdown)
    app.button("heads_other").click().run()
    assert link(app)["model"] == "Qwen/Qwen2.5-7B-Instruct"
    assert any(m.value.startswith("**9.1×:**") for m in app.markdown)


def test_links_say_what_is_open() -> None:
    asked = {"heads_tab": "layers", "heads_view": "model", "heads_step": "7", "model": "google/gemma-3-27b-it"}
    app = open_page("heads", OPEN, **asked)
    assert link(app).items() >= asked.items()
    assert filled(app)["start"] == 7
    again = open_page("heads", OPEN, **link(app))
    assert filled(again) == filled(app)
    app = open_page("heads", OPEN, heads_kv="2", **GPU)
    assert numbers(app)[0] == "1/32"
    assert numbers(open_page("heads", OPEN, **link(app))) == numbers(app)


def test_links_that_cannot_be_used_are_told_about() -> None:
    app = open_page("heads", OPEN, heads_tab="tails", heads_view="x", heads_step="y", heads_kv="3", **GPU)
    assert len(app.warning) == 3
    assert numbers(app)[0] == "1/8"
    assert not app.error


@pytest.mark.parametrize(
    "query",
    [
        {"heads_kv": "7"},
        {"heads_kv": "0"},
        {"heads_kv": "7", "heads_tab": "layers"},
        {"heads_kv": "3", "model": "deepseek-ai/DeepSeek-V3"},
    ],
)
def test_kv_heads_that_cannot_be_are_told_about_on_every_tab_and_model(query: dict[str, str]) -> None:
    app = open_page("heads", OPEN, lang="en", **query)
    told = Message(text.NO_SUCH, {"name": "heads_kv", "shown": query["heads_kv"]})("en")
    assert [w.value.replace("\\", "") for w in app.warning] == [told]
    app.run()
    assert [w.value.replace("\\", "") for w in app.warning] == [told]
    assert "heads_kv" not in link(app)


def test_another_language_keeps_everything() -> None:
    app = open_page("heads", OPEN, heads_kv="2", lang="en", **GPU)
    before = numbers(app)
    app.session_state["lang"] = "ja"
    app.run()
    assert numbers(app) == before
    assert text.WHAT_IF("ja") in badges(app)
    app = open_page("heads", OPEN, heads_tab="layers", heads_step="5", lang="en")
    app.session_state["lang"] = "ja"
    app.run()
    assert filled(app)["start"] == 5
    assert filled(app)["lang"] == "ja"


def test_another_model_begins_as_it_is() -> None:
    app = open_page("heads", OPEN, heads_kv="2", **GPU)
    app.button_group("heads_preset").set_value("gqa").run()
    assert numbers(app)[0] == "1/4"
    assert text.REAL("en") in badges(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_tables(lang: Lang) -> None:
    app = open_page("heads", {"heads_table": True, "kept_table": True}, lang=lang)
    assert text.COLUMN_EACH(lang) in app.table[0].value.to_string()
    app.session_state["heads_tab"] = "layers"
    app.session_state["heads_tabs"] = text.TAB_LAYERS(lang)
    app.run()
    assert not app.exception
    assert text.COLUMN_TOKENS(lang) in app.table[0].value.to_string()
