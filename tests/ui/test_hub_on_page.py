"""Models of the Hub on the Sizing page, against the stand-in."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from threading import Barrier
from time import sleep
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.catalogue import load
from kvviz.hub import HubError, HubModel, ModelReference
from kvviz.text import hub as hub_text
from kvviz.text import sizing as text
from kvviz.ui import models
from tests.hub import standin
from tests.hub.standin import GOOD_TOKEN, SMALL, StandIn, commit_of
from tests.ui.page import errors, link, open_app, sentence

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
        ("fault/error", "Try again"),
        ("fault/html", ""),
        ("fault/too-large", ""),
    ],
)
def test_what_the_hub_cannot_give_is_told_and_no_other_model_answers(model: str, said: str) -> None:
    app = open_app(model=model)
    told = errors(app).replace("\\", "")
    assert said in told or any(b.label == said for b in app.button)
    assert len(app.error) == 1
    assert text.NOT_READ("en", asked=model) in [i.value.replace("\\", "") for i in app.info]
    assert not any("fit at once" in m.value for m in app.markdown)
    assert app.selectbox(key="model").value == model  # stays in the box
    assert not any("v=1" in c.value for c in app.code)  # no link that would pass for that of the model asked for
    assert address(app)["model"] == model
    app.selectbox(key="model").select("Qwen/Qwen3-8B").run()
    assert "fit at once" in sentence(app)
    # Now there is something to go back to: the last that could be read stands in, and says so.
    typed_into(app, "nobody/other")
    assert "fit at once" in sentence(app)
    assert any("Qwen/Qwen3-8B" in w.value.replace("\\", "") for w in app.warning)


@pytest.mark.parametrize(
    "address_of",
    [
        "https://huggingface.co/{}",
        "huggingface.co/{}/",
        "https://hf.co/{}?library=vllm",
        "https://huggingface.co/{}/blob/main/config.json",
    ],
)
def test_the_address_of_a_bundled_models_page_is_that_model(address_of: str) -> None:
    """Though no Hub can be reached."""
    asked = address_of.format("Qwen/Qwen3-8B")
    app = open_app()
    typed_into(app, asked)
    assert app.selectbox(key="model").value == "Qwen/Qwen3-8B"
    assert not app.error
    assert open_app(model=asked).selectbox(key="model").value == "Qwen/Qwen3-8B"
    assert models.named("https://example.org/Qwen/Qwen3-8B") is None
    assert models.named("https://huggingface.co/Qwen/Qwen3-8B/tree/abc") is None


def test_what_was_read_with_a_token_is_nobody_elses(hub: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading with a token goes past the shared cache."""
    state: dict[str, object] = {"pasted": {}}
    monkeypatch.setattr(models, "session", lambda: state)
    assert models.ask_hub("new-owner/gated") is None
    assert models.asks_for_token()
    assert models.ask_hub("new-owner/gated", token=GOOD_TOKEN) == "new-owner/gated"
    assert GOOD_TOKEN not in repr(state)
    other: dict[str, object] = {"pasted": {}}
    monkeypatch.setattr(models, "session", lambda: other)
    assert models.ask_hub("new-owner/gated") is None


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The state of a session of its own, outside a script."""
    state: dict[str, object] = {"pasted": {}}
    monkeypatch.setattr(models, "session", lambda: state)
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


def address(app: AppTest) -> dict[str, str]:
    """What the address bar is told."""
    sent = [json.loads(c.proto.json) for c in app.get("bidi_component") if "kvviz_browser" in c.proto.component_name]
    (data,) = [d for d in sent if "query" in d]
    return {name: values[0] for name, values in parse_qs(data["query"], keep_blank_values=True).items()}


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
    assert "·" not in told
    assert app.selectbox(key="model").value == typed
    assert sentence(app) == before


def test_a_revision_alone_is_one_of_the_model_chosen() -> None:
    app = open_app(model=RENAMED)
    typed_into(app, "@v1.0")
    assert not app.error
    assert app.selectbox(key="model").value == f"{RENAMED}@{commit_of(RENAMED)[:12]}"
    assert "v1.0" in app.toast[0].value  # the same commit, which is said
    typed_into(app, "@v2")
    assert "v2" in errors(app)
    assert app.selectbox(key="model").value == f"{RENAMED}@v2"
    typed_into(app, "@v1.0")  # behind a name that failed
    assert not app.error
    assert app.selectbox(key="model").value == f"{RENAMED}@{commit_of(RENAMED)[:12]}"


@pytest.mark.parametrize(
    "query",
    [
        {"model": SMALL, "revision": commit_of(SMALL)},
        {"model": SMALL, "revision": "main"},
        {"model": f"{SMALL}@main"},
        {"model": f"{SMALL}@refs/pr/1"},
    ],
    ids=str,
)
def test_a_link_to_a_revision_of_a_bundled_model_is_read_from_the_hub(
    query: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = json.loads(standin.real_config(SMALL)) | {"num_hidden_layers": 7}
    monkeypatch.setitem(standin.MODELS, SMALL, replace(standin.MODELS[SMALL], config=json.dumps(other).encode()))
    app = open_app(**query)
    assert not app.error
    assert not app.warning
    # 2 x 7 layers x 8 heads x 128 x 2 B x 4,096 tokens
    assert next(m.value for m in app.metric) != next(m.value for m in open_app(model=SMALL).metric)
    assert app.selectbox(key="model").value == f"{SMALL}@{commit_of(SMALL)[:12]}"
    assert link(app)["model"] == SMALL
    assert link(app)["revision"] == commit_of(SMALL)
    assert any(commit_of(SMALL)[:12] in c.value for c in app.caption)


def test_where_the_hub_is_not_there_the_bundled_config_stands_in_and_says_so(
    hub: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    app = open_app(model=SMALL, revision=commit_of(SMALL), input="100")
    assert sentence(app) == sentence(open_app(model=SMALL, input="100"))
    assert len(app.error) == 1
    (warning,) = app.warning
    assert "bundled config" in warning.value
    assert "changed" not in warning.value
    assert commit_of(SMALL) in warning.value
    app.text_input(key="input").input("200").run()
    asked = address(app)
    assert (asked["model"], asked["revision"], asked["input"]) == (SMALL, commit_of(SMALL), "200")
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    app.button(key="ask_again").click().run()
    assert not app.error
    assert not app.warning
    assert link(app)["revision"] == commit_of(SMALL)


def test_the_plain_name_is_the_bundled_model_whatever_was_read_before() -> None:
    app = open_app(model=SMALL)
    bundled = link(app)
    typed_into(app, "@main")
    of_hub = app.selectbox(key="model").value
    assert of_hub != SMALL
    assert of_hub in app.selectbox(key="model").options
    assert link(app)["revision"] == commit_of(SMALL)
    app.selectbox(key="model").select(SMALL).run()
    assert link(app) == bundled
    assert link(app)["revision"] == load(SMALL).revision
    app.selectbox(key="model").select(of_hub).run()
    assert link(app)["revision"] == commit_of(SMALL)


def test_an_output_layer_that_may_be_stored_twice_is_told() -> None:
    """151,936 x 1,024 values of 2 bytes."""
    told = [c.value for c in open_app(model=SMALL, revision="main").caption if "297 MiB" in c.value]
    assert told
    assert not any("297 MiB" in c.value for c in open_app(model="Qwen/Qwen3-32B", revision="main").caption)
    assert not any("297 MiB" in c.value for c in open_app(model=SMALL).caption)


@pytest.mark.parametrize(
    ("before", "arrived", "meant"),
    [
        ("Qwen/Qwen3-32B", "-FP8", "Qwen/Qwen3-32B-FP8"),
        ("zai-org/GLM-4.5", "V", "zai-org/GLM-4.5V"),
        ("Qwen/Qwen3-32B", "openai/gpt-oss-120b", "openai/gpt-oss-120b"),
    ],
)
def test_what_the_box_takes_away_is_put_before_it_again(before: str, arrived: str, meant: str) -> None:
    app = typed_into(open_app(), before)
    assert app.selectbox(key="model").value == before
    typed_into(app, arrived)
    assert app.selectbox(key="model").value == meant
    assert link(app)["model"] == meant


def test_a_failed_id_is_what_the_next_text_continues() -> None:
    app = typed_into(open_app(), "new-owner/ren")
    assert app.error
    typed_into(app, "-amed")
    assert app.selectbox(key="model").value == "new-owner/ren-amed"
    assert "ren-amed" in errors(app).replace("\\", "")


def test_other_settings_reach_the_address_while_a_model_cannot_be_read() -> None:
    app = typed_into(open_app(), "what's this: 50%?")
    app.text_input(key="input").input("777").run()
    asked = address(app)
    assert asked["input"] == "777"
    again = open_app(**asked)
    assert again.selectbox(key="model").value == "what's this: 50%?"
    assert again.text_input(key="input").value == "777"
    typed_into(app, "hf_abcdefghijklmnop")
    assert "hf_" not in address(app)["model"]


def test_weights_that_the_hub_did_not_tell_can_be_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app(model="fault/info-error")
    assert "Hub" in errors(app) + "".join(c.value for c in app.caption)
    app.button(key="ask_again").click().run()
    assert app.toast[0].value == text.STILL_NOT("en")
    monkeypatch.setitem(standin.MODELS, "fault/info-error", standin.MODELS[RENAMED])
    monkeypatch.setattr(standin.Handler, "fault", lambda *_: False)
    app.button(key="ask_again").click().run()
    assert "fit at once" in sentence(app)
    assert not any(b.key == "ask_again" for b in app.button)


@pytest.mark.parametrize("model", ["new-owner/gated", "fault/forbidden", "nobody/nothing"])
def test_only_what_can_pass_is_to_be_tried_again(model: str) -> None:
    assert not any(b.key == "ask_again" for b in open_app(model=model).button)


def test_a_wrong_token_says_so_and_the_right_one_reads() -> None:
    app = open_app(model="new-owner/gated")
    for token, said in (("hf_wrong", "does not accept"), (standin.OTHER_TOKEN, "no access yet")):
        app.text_input(key="hub_token").input(token)
        next(b for b in app.button if b.label == text.READ_WITH_TOKEN("en")).click().run()
        assert said in errors(app)
    app.text_input(key="hub_token").input(GOOD_TOKEN)
    next(b for b in app.button if b.label == text.READ_WITH_TOKEN("en")).click().run()
    assert not app.error
    assert link(app)["model"] == "new-owner/gated"


def test_a_hub_that_stalls_for_some_keeps_nobody_else_waiting(
    session: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_TURN_S", 0.05)
    with ExitStack() as all_that_stall:
        for _ in range(8):
            all_that_stall.enter_context(models._turn())
        assert models.ask_hub(RENAMED) is None
        assert "Many are asking" in models.problem(RENAMED)("en")
        assert models.can_pass()
    assert models.ask_hub(RENAMED) == RENAMED


def test_those_who_wait_for_the_same_model_get_its_failure_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, the last of them would wait as often as long."""
    asked: list[object] = []
    several = Barrier(4)

    def stalls(reference: object, **_: object) -> HubModel:
        asked.append(reference)
        sleep(0.3)
        raise HubError(hub_text.UNREACHABLE, code="hub-timeout")

    def visitor(_: int) -> str:
        several.wait()
        with pytest.raises(HubError) as caught:
            models._public(ModelReference(repo_id="stalls/for-all"))
        return caught.value.code

    monkeypatch.setattr(models, "fetch_config", stalls)
    with ThreadPoolExecutor(4) as visitors:
        assert set(visitors.map(visitor, range(4))) == {"hub-timeout"}
    assert len(asked) == 1
    with pytest.raises(HubError):  # who comes later asks anew
        models._public(ModelReference(repo_id="stalls/for-all"))
    assert len(asked) == 2
