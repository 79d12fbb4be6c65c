"""Models of the Hub on the Sizing page, against the stand-in."""

import pytest

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
