"""Attached engines on the Measured live page, as a script, in both languages."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.text import LANGUAGES, Lang
from kvviz.text import live_page as live
from kvviz.text import serving as text
from tests.hub.standin import StandIn as HubStandIn
from tests.serving.standin import StandIn, metrics, serving

MAIN = Path(__file__).resolve().parents[2] / "kvviz" / "ui" / "main.py"
PAGE = str(Path(__file__).resolve().parents[2] / "pages" / "live.py")
BOTH = pytest.mark.parametrize("lang", LANGUAGES)


@pytest.fixture
def standin(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setenv("KVVIZ_LIVE", "off")
    with serving() as running:
        yield running


def open_page(lang: Lang) -> AppTest:
    app = AppTest.from_file(str(MAIN), default_timeout=60)
    app.query_params["lang"] = lang
    app.session_state["attached"] = True
    app.run()
    app.switch_page(PAGE).run()
    assert not app.exception
    return app


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
    return "\n".join(str(e.value) for kind in kinds for e in kind).replace("\\", "").replace("\u200b", "")


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
    app = open_page(lang)
    assert not any(text.ATTACHED_NAMED(lang, names="") in heading for heading in headings(app))


@BOTH
def test_what_cannot_be_understood_is_one_line(lang: Lang, standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_ENGINES", f"one={standin.url}/vllm,{standin.url}/sglang")
    app = open_page(lang)
    assert text.NOT_NAME_AND_URL(lang, number=2) in said(app)
    assert standin.url not in said(app)
    assert standin.asked == []


@BOTH
def test_engines_beside_their_prediction(lang: Lang, standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_ENGINES", standin.engines("vllm", "sglang", "llama", "html"))
    app = open_page(lang)
    until(app, lambda: len(figures(app)) == 2 + 3 * 5)
    told, shown = said(app), figures(app)
    assert (text.RUNNING(lang), "55") in shown[:2]
    assert (text.USAGE(lang), "62.5%") in shown[2:7]
    assert (text.PREEMPTIONS(lang), "5") in shown[2:7]
    assert (text.PREEMPTIONS(lang), "–") in shown[12:]  # llama.cpp has none
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
    app = open_page("en")
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
    app = open_page(lang)
    until(app, lambda: figures(app))
    assert text.NO_MODEL(lang, model="our-own-model") in said(app)
    of_the_run = len(app.table)
    app.checkbox("attached_stand_in_0").check().run()
    assert not app.exception
    assert len(app.table) == of_the_run + 1
    beside = tables(app)[0]
    assert [text.FIGURES["blocks"](lang), "27,392"] in [row[:2] for row in beside]


@pytest.mark.parametrize(
    ("model", "found"), [("new-owner/renamed", True), ("fault/no-config", False)], ids=["there", "not there"]
)
def test_a_model_of_the_hub_is_read_when_asked(
    model: str, found: bool, standin: StandIn, monkeypatch: pytest.MonkeyPatch, hub: HubStandIn
) -> None:
    standin.texts["own"] = metrics("vllm-v0").replace("meta-llama/Llama-3.1-8B-Instruct", model)
    monkeypatch.setenv("KVVIZ_ENGINES", standin.engines("own"))
    app = open_page("en")
    until(app, lambda: figures(app))
    of_the_run = len(app.table)
    app.button("attached_hub_0").click().run()
    assert not app.exception
    assert (len(app.table) > of_the_run) is found
    assert (text.PREDICTED_FOR("en", model=model, dtype="bf16 (auto)", engine="vLLM V0") in said(app)) is found
    assert bool(app.error) is not found


def test_closed_it_asks_nothing(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_ENGINES", standin.engines("vllm"))
    app = AppTest.from_file(str(MAIN), default_timeout=60)
    app.run()
    app.switch_page(PAGE).run()
    assert text.ATTACHED_NAMED("en", names="vllm") in headings(app)
    assert standin.asked == []
