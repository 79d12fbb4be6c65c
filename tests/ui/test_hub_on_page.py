"""Models of the Hub on the Sizing page, against the stand-in."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.scenario import Scenario
from kvviz.ui import models
from tests.hub.standin import GOOD_TOKEN, StandIn, commit_of
from tests.ui.test_sizing_page import errors, link, open_app, sentence

RENAMED = "new-owner/renamed"


def test_a_link_to_a_model_of_the_hub_is_read_at_its_commit(hub: StandIn) -> None:
    app = open_app(model=RENAMED)
    assert not app.error
    assert not app.warning
    offered = link(app)
    assert offered["model"] == RENAMED
    assert offered["revision"] == commit_of(RENAMED)
    assert offered["config"] == ""
    again = open_app(**offered)
    assert sentence(again) == sentence(app)
    assert any(commit_of(RENAMED) in request.path for request in hub.requests)


def test_weights_come_from_the_hub() -> None:
    app = open_app(model=RENAMED)
    assert "fit at once" in sentence(app)  # known weights give a verdict


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("nobody/nothing", "nobody/nothing"),
        ("fault/no-config", "config.json"),
        ("new-owner/gated", "token"),
        ("fault/down", ""),
        ("fault/html", ""),
        ("fault/too-large", ""),
    ],
)
def test_what_the_hub_cannot_give_is_told_and_the_page_answers(model: str, said: str) -> None:
    app = open_app(model=model)
    told = errors(app).replace("\\", "")
    assert said in told
    assert "config.json" in told  # the other ways are offered
    assert sentence(app)
    assert app.selectbox(key="model").value == model  # stays in the box
    assert any(Scenario().model in w.value.replace("\\", "") for w in app.warning)  # whose answer it is
    assert link(app)["model"] == Scenario().model


def test_what_was_read_with_a_token_is_nobody_elses(hub: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading with a token goes past the shared cache."""
    state: dict[str, object] = {"pasted": {}}
    monkeypatch.setattr(models.st, "session_state", state)
    assert models.ask_hub("new-owner/gated") is None
    assert models.asks_for_token()
    assert models.ask_hub("new-owner/gated", token=GOOD_TOKEN) == "new-owner/gated"
    assert GOOD_TOKEN not in repr(state)
    other: dict[str, object] = {"pasted": {}}
    monkeypatch.setattr(models.st, "session_state", other)
    assert models.ask_hub("new-owner/gated") is None


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The state of a session of its own, outside a script."""
    state: dict[str, object] = {"pasted": {}}
    monkeypatch.setattr(models.st, "session_state", state)
    return state


@pytest.mark.usefixtures("session")
def test_the_beginning_of_a_name_brings_what_the_hub_has_last() -> None:
    before = models.offered()
    models.suggest("Renam")
    assert models.offered() == [*before, RENAMED]


@pytest.mark.parametrize("typed", ["Qwen3-32B-F", "owner/name@v1", "https://example.com/a/b", GOOD_TOKEN, "two words"])
@pytest.mark.usefixtures("session")
def test_the_hub_is_not_asked_while_a_bundled_name_or_no_name_is_typed(hub: StandIn, typed: str) -> None:
    asked, before = len(hub.requests), models.offered()
    models.suggest(typed)
    assert models.offered() == before
    assert len(hub.requests) == asked


def test_a_hub_that_does_not_answer_is_left_alone_and_nothing_said(
    hub: StandIn, session: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_SUGGEST_S", 0.1)
    models.suggest("fault-slow")
    asked, before = len(hub.requests), models.offered()
    models.suggest("renamed-2")
    assert len(hub.requests) == asked
    assert models.offered() == before
    assert "model_problem" not in session


def typed_into(app: AppTest, model: str) -> AppTest:
    """The model box after Enter."""
    box = app.selectbox(key="model")
    box.options.append(model)  # a browser sends what is no option as well
    return box.select(model).run()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("https://github.com/vllm-project/vllm", "github.com is not the Hugging Face Hub"),
        ("https://example.com/x", "example.com is not the Hugging Face Hub"),
        ("what's this: 50%?", "“what's this: 50%?”"),
    ],
)
def test_what_is_no_model_is_said_as_it_was_typed(typed: str, said: str) -> None:
    app = open_app()
    before = sentence(app)
    typed_into(app, typed)
    told = re.sub(r"\\(.)", r"\1", errors(app))
    assert said in told
    assert "paste config.json" in told
    assert "·" not in told
    assert app.selectbox(key="model").value == typed
    assert sentence(app) == before


def test_a_revision_alone_is_one_of_the_model_chosen() -> None:
    app = open_app(model=RENAMED)
    typed_into(app, "@v1.0")
    assert not app.error
    assert app.selectbox(key="model").value == RENAMED
    typed_into(app, "@v2")
    assert "v2" in errors(app)
    assert app.selectbox(key="model").value == f"{RENAMED}@v2"
