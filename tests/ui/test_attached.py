"""Attached engines on the Measured live page, as a script, in both languages."""

import json
import re
import time
from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.text import LANGUAGES, Lang
from kvviz.text import live_page as live
from kvviz.text import serving as text
from kvviz.ui import show
from kvviz.ui.show import PARTED
from tests.hub.standin import StandIn as HubStandIn
from tests.serving.standin import StandIn, metrics, serving
from tests.ui.page import open_page

OPEN = {"attached": True}
BOTH = pytest.mark.parametrize("lang", LANGUAGES)


@pytest.fixture
def standin(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setenv("KVVIZ_LIVE", "off")
    with serving() as running:
        yield running


def until(app: AppTest, met: Callable[[], object]) -> AppTest:
    """Look again and again, as the page itself does."""
    give_up_at = time.monotonic() + 20
    while not met():
        assert time.monotonic() < give_up_at, said(app)
        time.sleep(0.3)
        app.run()
        assert not app.exception
    return app


def said(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.warning, app.error, app.info)
    return "\n".join(str(e.value) for kind in kinds for e in kind).replace("\\", "").replace(PARTED, "")


def headings(app: AppTest) -> list[str]:
    return [e.label for e in app.expander]


def figures(app: AppTest) -> list[tuple[str, str]]:
    """Those of attached engines, which come before those of the run."""
    shown = [(m.label, m.value) for m in app.metric]
    end = next(place for place, (label, _) in enumerate(shown) if label in (live.PREDICTED("en"), live.PREDICTED("ja")))
    return shown[:end]


def tables(app: AppTest) -> list[list[list[str]]]:
    return [table.value.values.tolist() for table in app.table]


@BOTH
def test_nothing_is_shown_where_nothing_is_attached(lang: Lang, standin: StandIn) -> None:
    app = open_page("live", OPEN, lang=lang)
    assert not any(text.ATTACHED_NAMED(lang, names="") in heading for heading in headings(app))


@BOTH
def test_what_cannot_be_understood_is_one_line(
    lang: Lang, standin: StandIn, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    show._logged.cache_clear()
    written = f"one={standin.url}/vllm,{standin.url}/sglang,two={standin.url}/llama,three=ftp://h"
    monkeypatch.setenv("KVVIZ_ENGINES", written)
    with caplog.at_level("WARNING", logger="kvviz"):
        app = open_page("live", OPEN, lang=lang)
    line = text.NOT_NAME_AND_URL(lang, numbers="2, 4")
    assert line in said(app)
    assert text.ATTACHED_NAMED(lang, names="one、two" if lang == "ja" else "one, two") in headings(app)  # they work
    assert standin.url not in said(app)
    logged = [r.getMessage() for r in caplog.records if "KVVIZ_ENGINES" in r.getMessage()]
    assert logged == [text.NOT_NAME_AND_URL("en", numbers="2, 4")]  # for the operator, once


@pytest.mark.parametrize("broken", ["html", "slow", "huge", "elsewhere"])
def test_only_engines_that_answer_are_added_up(broken: str, standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    standin.texts["own"] = metrics("vllm-v0")
    monkeypatch.setenv("KVVIZ_ENGINES", standin.engines("vllm", "own", broken))
    app = open_page("live", OPEN, lang="en")
    until(app, lambda: text.ANSWERING("en", count=2, all=3) in said(app))
    assert (text.RUNNING("en"), "52") in figures(app)[:4]
    standin.broken = True  # the one named vllm
    until(app, lambda: text.ANSWERING("en", count=1, all=3) in said(app))
    assert (text.RUNNING("en"), "12") in figures(app)[:4]  # its last sample is shown below, and not counted


@BOTH
def test_a_total_that_is_partly_unknown_says_why(lang: Lang, standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    standin.texts["nan"] = re.sub(r"(?m)^(vllm:num_requests_running\S*) .*", r"\1 NaN", metrics("vllm-v0"))
    monkeypatch.setenv("KVVIZ_ENGINES", standin.engines("vllm", "nan"))
    app = open_page("live", OPEN, lang=lang)
    until(app, lambda: text.ALL_ANSWER(lang, all=2) in said(app))
    assert figures(app)[:4] == [
        (text.USAGE(lang), "–"),
        (text.RUNNING(lang), "–"),
        (text.WAITING(lang), "5"),
        (text.PREEMPTIONS(lang), "12"),
    ]
    assert text.NO_TOTAL(lang, label=text.RUNNING(lang), names="nan") in said(app)
    assert text.NO_TOTAL_UNLIKE(lang, label=text.USAGE(lang)) in said(app)


@BOTH
def test_engines_whose_capacity_is_not_reported_have_a_line_each(
    lang: Lang, standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    standin.texts["dp"] = re.sub(r'kv_cache_size_tokens="\d+",?', "", metrics("vllm-0.33-dp2"))
    monkeypatch.setenv("KVVIZ_ENGINES", standin.engines("dp", "sglang", "llama", "vllm", "vllm-slash"))
    app = open_page("live", OPEN, lang=lang)
    until(app, lambda: text.ALL_ANSWER(lang, all=5) in said(app))
    assert text.NO_TOTAL_SHARE(lang, label=text.USAGE(lang), names="dp") in said(app)
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    assert [line["name"] for line in drawn] == ["dp 0", "dp 1", "sglang", "llama", "vllm", "vllm-slash"]
    ranks = tables(app)[0]
    assert [row[1] for row in ranks] == ["75.0%", "50.0%", "–"]
    assert text.CAPACITY(lang) not in app.table[0].value.columns  # a column of dashes says nothing


def test_names_are_no_markup_and_paths_stay_where_they_are(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_ENGINES", f"<b>x</b>={standin.url}/llama")
    app = open_page("live", OPEN, lang="en")
    until(app, lambda: figures(app))
    (drawn,) = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    assert drawn["name"] == "&lt;b&gt;x&lt;/b&gt;"
    assert "SmolLM2-135M-Instruct-Q4_K_M.gguf" in said(app)
    assert "/models/" not in said(app)


@BOTH
def test_engines_beside_their_prediction(lang: Lang, standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_ENGINES", standin.engines("vllm", "sglang", "llama", "html"))
    app = open_page("live", OPEN, lang=lang)
    until(app, lambda: len(figures(app)) == 4 + 3 * 5)
    told, shown = said(app), figures(app)
    assert (text.RUNNING(lang), "55") in shown[:4]
    assert (text.USAGE(lang), "62.5%") in shown[4:9]
    assert (text.PREEMPTIONS(lang), "5") in shown[4:9]
    assert (text.PREEMPTIONS(lang), "–") in shown[14:]  # llama.cpp has none
    for known in ("vLLM 0.33.0", "Qwen/Qwen3-32B", "SGLang 0.5.23", "llama.cpp b5000-abcdef12"):
        assert known in told
    assert text.PROBLEM(lang, name="html", problem=text.WEB_PAGE(lang)) in told
    ranks, beside = tables(app)[0], tables(app)[1]
    assert [(row[1], row[4]) for row in ranks] == [
        ("75.0%", "137,280"),
        ("50.0%", "137,280"),
        ("62.5%", "274,560"),
    ]
    assert [text.FIGURES["tokens_from_blocks"](lang), "137,280", "137,280", text.EQUAL(lang)] in beside
    assert text.WHICH_GPU(lang, model="Qwen/Qwen3-32B") in told
    assert text.DTYPE_ASSUMED(lang, dtype="fp16") in told
    assert standin.url not in told  # visitors read it
    # The scenario is about the model that SGLang serves, so its GPU stands in for the engine's, which says how many.
    assert text.ON_GPU(lang, gpus="2 × H100 80GB SXM") in told


def test_the_last_good_sample_stays(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_ENGINES", standin.engines("vllm"))
    app = open_page("live", OPEN, lang="en")
    until(app, lambda: figures(app))
    standin.broken = True
    until(app, lambda: app.warning)
    assert text.STATUS("en", status=503) in said(app)
    assert "last sample" in said(app)
    assert figures(app)[0][1] == "62.5%"
    standin.broken, standin.factor = False, 2.0
    until(app, lambda: not app.warning)
    standin.factor = 0.5
    until(app, lambda: text.RESTARTED("en") in said(app))


@BOTH
def test_a_model_that_is_not_known(lang: Lang, standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_ENGINES", standin.engines("unknown-model"))
    app = open_page("live", OPEN, lang=lang)
    until(app, lambda: figures(app))
    assert text.NO_MODEL(lang, model="our-own-model") in said(app)
    of_the_run = len(app.table)
    app.checkbox("attached_stand_in_0").check().run()
    assert not app.exception
    compared, alone = tables(app)[: len(app.table) - of_the_run]
    assert all("–" not in row for row in (*compared, *alone))
    assert [text.FIGURES["blocks"](lang), "27,392"] in [row[:2] for row in compared]


@pytest.mark.parametrize(
    ("model", "found"), [("new-owner/renamed", True), ("fault/no-config", False)], ids=["there", "not there"]
)
def test_a_model_of_the_hub_is_read_when_asked(
    model: str, found: bool, standin: StandIn, monkeypatch: pytest.MonkeyPatch, hub: HubStandIn
) -> None:
    standin.texts["own"] = metrics("vllm-v0").replace("meta-llama/Llama-3.1-8B-Instruct", model)
    monkeypatch.setenv("KVVIZ_ENGINES", standin.engines("own"))
    app = open_page("live", OPEN, lang="en")
    until(app, lambda: figures(app))
    of_the_run = len(app.table)
    app.button("attached_hub_0").click().run()
    assert not app.exception
    assert (len(app.table) > of_the_run) is found
    assert (text.PREDICTED_FOR("en", model=model, dtype="bf16 (auto)", engine="vLLM V0") in said(app)) is found
    assert bool(app.error) is not found


def test_closed_it_asks_nothing(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_ENGINES", standin.engines("vllm"))
    app = open_page("live")
    assert text.ATTACHED_NAMED("en", names="vllm") in headings(app)
    assert standin.asked == []
