"""The Compare page as a script, in both languages: opens answered, its link opens the same, changes can be undone."""

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.compare import COUNTS, GPUS, MODELS
from kvviz.core.units import format_count
from kvviz.links import pack_scenarios, unpack_scenarios
from kvviz.scenario import ENGINES, Scenario, to_query
from kvviz.text import LANGUAGES, Lang
from kvviz.text import compare as text
from tests.ui.page import link, open_page, sentence, sized, turn_to

R1 = Scenario(model="deepseek-ai/DeepSeek-R1", gpu="h200", gpus=8)


def test_a_cut_link_says_that_what_follows_is_another_thing() -> None:
    app = open_page("compare", set=pack_scenarios([R1, Scenario()])[:-9], lang="en")
    (told,) = (w.value for w in app.warning)
    assert "are lost" in told
    assert "not what the link was about" in told


def shown(app: AppTest) -> tuple[Scenario, ...]:
    assert sum("set=" in code.value for code in app.code) == 1
    scenarios, rejected = unpack_scenarios(link(app)["set"])
    assert not rejected
    return scenarios


def tables(app: AppTest) -> list[str]:
    """Each table as text, without its escapes."""
    return [t.value.to_csv().replace("\u00a0", " ").replace("\\", "") for t in app.table]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_opens_answered(lang: Lang) -> None:
    app = open_page("compare", lang=lang)
    assert not app.error
    assert not app.warning
    matrix, beside, factors = tables(app)
    assert all(model.rpartition("/")[2] in matrix for model in MODELS)
    base = sized(Scenario())
    assert f"✗ {base.max_sequences_counted}" in matrix
    assert f"✗ {base.max_sequences_counted}" in beside
    assert text.VALUE_BYTES(lang) in factors
    assert [one.kv_dtype for one in shown(app)] == ["bf16", "fp8"]
    assert len(app.get("plotly_chart")) == 1


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_second_tab_has_every_model(lang: Lang) -> None:
    app = open_page("compare", lang=lang)
    app.session_state["compare_tabs"] = text.TAB_MODELS(lang)
    app.run()
    assert not app.exception
    assert len(app.get("plotly_chart")) == 1
    assert any(format_count(Scenario().tokens) in c.value for c in app.caption)


def test_the_link_opens_the_same() -> None:
    app = open_page(
        "compare",
        set=pack_scenarios([R1, Scenario(model="google/gemma-3-27b-it"), Scenario()]),
        models="Qwen/Qwen3-8B,openai-community/gpt2",
        devices="l40s,h100-80gb,b200",
        counts="1,8",
        pair="1,3",
        **to_query(Scenario(input=9000, sequences=7)),
    )
    assert not app.warning
    first = tables(app)
    assert "– split" in first[0]
    assert "8 × L40S" in first[0]
    again = open_page("compare", **link(app))
    assert tables(again) == first
    assert link(again) == link(app)
    assert shown(again)[0] == sized(R1).scenario


@pytest.mark.parametrize(
    "query",
    [
        {"models": "nobody/nothing,<script>"},
        {"devices": "h999"},
        {"counts": "7,x"},
        {"set": "AAAA"},
        {"pair": "9,0"},
        {"pair": "2,2"},
        {"model": "nobody/nothing"},
    ],
    ids=str,
)
def test_what_of_a_link_cannot_be_used_is_told_or_left(query: dict[str, str]) -> None:
    app = open_page("compare", **query)
    assert "pair" in query or app.warning or app.error
    assert "<script>" not in "".join(w.value for w in app.warning)
    assert len(tables(app)) == 3


def test_five_engines_types_and_undo() -> None:
    app = open_page("compare")
    before = shown(app)
    app.button(key="compare_engines").click().run()
    assert not app.exception
    assert {one.engine for one in shown(app)} == set(ENGINES)
    app.button(key="compare_types").click().run()
    assert [one.kv_dtype for one in shown(app)] == ["bf16", "fp8"]
    app.button(key="compare_undo_button").click().run()
    assert len(shown(app)) == 5
    app.button(key="compare_remove_4").click().run()
    assert len(shown(app)) == 4
    app.selectbox(key="compare_pair_box").select((2, 4)).run()
    assert not app.exception
    assert link(app)["pair"] == "2,4"
    for _ in range(2):
        app.button(key="compare_undo_button").click().run()
    assert shown(app) == before
    assert not [b for b in app.button if b.key == "compare_undo_button"]


def test_the_sizing_pages_scenario_is_added_once() -> None:
    app = open_page("compare", set=pack_scenarios([R1]))
    assert len(tables(app)) == 2  # nothing to explain
    app.button(key="compare_add").click().run()
    assert [one.model for one in shown(app)] == [R1.model, Scenario().model]
    assert app.button(key="compare_add").disabled
    assert len(tables(app)) == 3


def test_one_is_edited_on_the_sizing_page_and_put_back() -> None:
    app = open_page("compare", set=pack_scenarios([Scenario(), R1]))
    app.button(key="compare_edit_1").click().run()
    assert not app.exception
    assert "8 × H200" in sentence(app)
    app.text_input(key="input").input("30000").run()
    turn_to(app, "compare").run()
    assert not app.exception
    app.button(key="compare_replace").click().run()
    assert not app.exception
    assert [(one.model, one.input) for one in shown(app)] == [(Scenario().model, 3072), (R1.model, 30_000)]
    assert not [b for b in app.button if b.key == "compare_replace"]


def test_the_sizing_pages_settings_are_those_of_the_matrix_and_stay() -> None:
    app = open_page("sizing")
    app.text_input(key="sequences").input("5").run()
    turn_to(app, "compare").run()
    assert any("5 at once" in m.value for m in app.markdown)
    assert f"✓ {sized(Scenario(sequences=5)).max_sequences_counted}" in tables(app)[0]
    turn_to(app, "sizing").run()
    assert not app.exception
    assert app.text_input(key="sequences").value == "5"


def test_a_scenario_that_cannot_be_is_told_and_the_rest_stands() -> None:
    app = open_page(
        "compare", set=pack_scenarios([Scenario(), Scenario(model="meta-llama/Llama-3.1-8B-Instruct", gpus=3)])
    )
    assert "3" in app.error[0].value
    assert text.ONE_ONLY("en") in [c.value for c in app.caption]
    assert len(app.get("plotly_chart")) == 1


def test_an_empty_matrix_says_what_to_choose() -> None:
    app = open_page("compare")
    app.multiselect(key="compare_gpus").set_value([]).run()
    assert not app.exception
    assert text.NOTHING_CHOSEN("en") in [c.value for c in app.caption]
    app.multiselect(key="compare_gpus").set_value(list(GPUS)).run()
    assert len(tables(app)) == 3
    assert link(app)["counts"] == ",".join(map(str, COUNTS))


def test_a_model_of_the_hub_in_a_set_is_read() -> None:
    app = open_page("compare", set=pack_scenarios([Scenario(), Scenario(model="new-owner/renamed", gpu="h200")]))
    assert not app.error
    assert "renamed" in tables(app)[1]
    app = open_page("compare", set=pack_scenarios([Scenario(), Scenario(model="nobody/nothing")]))
    assert "nobody/nothing" in app.error[0].value.replace("\\", "")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_it_can_be_saved(lang: Lang) -> None:
    app = open_page("compare", lang=lang)
    assert {button.proto.label for button in app.get("download_button")} == {"CSV", "Markdown"}
    app.multiselect(key="compare_gpus").set_value([]).run()
    assert not app.exception
