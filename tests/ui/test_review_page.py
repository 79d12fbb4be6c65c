"""The Review page as a script, in both languages: what a link opens, a dispute, somebody else's number."""

from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.dispute import assumptions
from kvviz.links import pack_config, pack_scenarios, unpack_scenarios
from kvviz.scenario import Scenario, to_query
from kvviz.text import LANGUAGES, Lang, export
from kvviz.text import charts as parts
from kvviz.text import dispute as text
from kvviz.text import sizing as labels
from kvviz.verdict import verdict
from tests.ui.page import kept, open_app, open_page, press, sized

A = Scenario()
B = A.with_changes(kv_dtype="fp8", output=8192)


def open_dispute(a: Scenario, b: Scenario, **query: str) -> AppTest:
    return open_page("review", set=pack_scenarios((a, b)), **query)


def shown(app: AppTest) -> str:
    return "\n".join(element.value for kind in ("markdown", "caption", "info") for element in app.get(kind))


def linked(app: AppTest) -> tuple[Scenario, ...]:
    """The two scenarios of the link that the page offers."""
    query = parse_qs(urlsplit(next(c.value for c in app.code if "set=" in c.value)).query)
    return unpack_scenarios(query["set"][0])[0]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_link_opens_the_answer_and_what_it_rests_on(lang: Lang) -> None:
    scenario = A.with_changes(gpus=2, sequences=20)
    app = open_page("review", **to_query(scenario), lang=lang)
    said = shown(app)
    assert verdict(sized(scenario), lang).head in said
    assert text.ASSUMPTIONS(lang) in said
    assert export.NOT_MODELLED_LINES[0](lang) in said
    assert export.NOT_MODELLED_OF["vllm"](lang) in said
    rests_on = app.table[0].value
    badges = " ".join(map(str, rests_on.to_numpy().ravel()))
    for badge in ("changed", "default"):
        assert text.BADGES[badge](lang) in badges
    # An estimate is called what it is everywhere else.
    of_estimates = {one.label(lang): parts.BASIS[one.basis](lang) for one in assumptions(sized(scenario)) if one.basis}
    assert {parts.BASIS[basis](lang) for basis in ("measured", "assumed")} == set(of_estimates.values())
    for name, value in zip(rests_on[text.ASSUMPTION(lang)], rests_on[text.VALUE(lang)], strict=True):
        assert of_estimates.get(name, "") in value
    assert not app.selectbox  # nothing to change before it is challenged
    assert len(app.text_input) == 1  # the box for a number, folded


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_challenge_freezes_a_and_changes_b(lang: Lang) -> None:
    app = open_page("review", **to_query(A), lang=lang)
    press(app, "challenge")
    assert text.NOTHING_DIFFERS(lang) in shown(app)
    app.selectbox(key="kv_dtype").select("fp8").run()
    app.text_input(key="output").input("8k").run()
    assert not app.exception
    table = app.table[0].value
    assert len(table) == 4  # A, two steps, B
    a, b = sized(A), sized(B)
    more = (b.max_sequences_counted or 0) - (a.max_sequences_counted or 0)
    assert table.iloc[-1, -1] == f"**{'+' if more > 0 else '−'}{abs(more):,}**"
    assert [one.with_changes(revision="") for one in linked(app)] == [A, B]
    press(app, "withdraw")
    assert verdict(a, lang).head in shown(app)
    assert kept(app)["valid"].kv_dtype == "auto"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_link_of_a_dispute_opens_the_same_dispute(lang: Lang) -> None:
    app = open_dispute(A, B, lang=lang)
    assert app.selectbox(key="kv_dtype").value == "fp8"
    assert app.text_input(key="output").value == "8,192"
    said = shown(app)
    for scenario in (A, B):
        assert verdict(sized(scenario), lang).head in said
    again = open_dispute(*linked(app), lang=lang)
    assert shown(again) == said
    assert again.table[0].value.equals(app.table[0].value)


def test_a_pasted_config_travels_with_its_side() -> None:
    config = {"model_type": "llama", "num_hidden_layers": 4, "num_attention_heads": 8, "hidden_size": 512}
    pasted = A.with_changes(model="ours", config=pack_config(config), gpu="")
    app = open_dispute(A.with_changes(gpu=""), pasted)
    assert not app.error
    assert linked(app)[1].config == pasted.config
    assert kept(app)["valid"].model == "ours"


def test_a_model_of_the_hub_travels_on_either_side() -> None:
    hub = A.with_changes(model="new-owner/renamed", gpu="")
    for a, b in ((hub, hub.with_changes(kv_dtype="fp8")), (A.with_changes(gpu=""), hub), (hub, A.with_changes(gpu=""))):
        app = open_dispute(a, b)
        assert not app.error
        assert [one.model for one in linked(app)] == [a.model, b.model]


def test_a_model_that_nobody_can_read_is_told() -> None:
    gone = A.with_changes(model="nobody/nothing")
    assert "nobody/nothing" in "".join(e.value for e in open_dispute(gone, A).error).replace("\\", "")
    app = open_dispute(A, gone)
    assert "nobody/nothing" in app.session_state["model"]
    assert app.error


def test_what_cannot_be_used_is_told() -> None:
    app = open_page("review", set="nonsense", lang="en")
    assert "could not be used" in app.warning[0].value


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_cut_link_says_what_is_lost_and_that_the_answer_is_another(lang: Lang) -> None:
    whole = pack_scenarios((A.with_changes(gpu="h200"), B))
    for packed in (whole[:-1], whole[: len(whole) // 2], whole[:2]):
        (told,) = (w.value for w in open_page("review", set=packed, lang=lang).warning)
        assert ("are lost" if lang == "en" else "失われました") in told
        assert labels.NOT_OF_THE_LINK(lang, model=Scenario().model) in told.replace("\\", "")
    assert not open_page("review", set=whole, lang=lang).warning


def test_what_of_a_dispute_cannot_be_run_is_told() -> None:
    app = open_dispute(A, B.with_changes(gpus=3), lang="en")
    assert app.error
    app = open_dispute(A.with_changes(gpus=3), B, lang="en")
    assert "A cannot be answered" in app.error[0].value


@pytest.mark.parametrize("lang", LANGUAGES)
def test_somebody_elses_number_is_explained_and_travels(lang: Lang) -> None:
    llama = A.with_changes(model="meta-llama/Llama-3.1-70B-Instruct", input=31_744, sequences=1, gpu="")
    app = open_page("review", **to_query(llama), lang=lang)
    app.text_input(key="claim").input("20–40 GB").run()
    assert not app.exception
    said = shown(app)
    assert "FP32" in said
    assert "MHA" in said
    assert "10 GiB (10.7 GB)" in said
    assert text.READ(lang, amount="20–40 GB" if lang == "en" else "20～40 GB", per="") in said
    assert shown(open_page("review", **to_query(llama), claim="20–40 GB", lang=lang)) == said
    app.text_input(key="claim").input("???").run()
    assert "40 GB" in app.error[0].value
    assert app.text_input(key="claim").value == "???"
    for refused in ("-5 GB", "1e400 GB", "<script>alert(1)</script>", "9" * 26 + " TB"):
        app.text_input(key="claim").input(refused).run()
        assert len(app.error) == 1
        assert text.READ(lang, amount="", per="") not in shown(app)
    app.text_input(key="claim").input("9000 MB in total").run()
    assert f"9000 MB{text.PER['load'](lang)}" in shown(app)
    assert "e+" not in shown(app)
    app.text_input(key="claim").input("3.3 GiB per request").run()
    assert "3.3 GiB" in "\n".join(i.value for i in app.info)


def test_the_sizing_page_offers_the_review_link() -> None:
    app = open_app()
    assert any("/review?v=1&" in code.value for code in app.code)
