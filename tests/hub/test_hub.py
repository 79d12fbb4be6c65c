"""The real Hub client against the stand-in: what is read, what each failure says, what is sent and to whom."""

import json
import pickle
import socket
import time

import pytest

from kvviz.core.architecture import read_config
from kvviz.core.errors import KvvizError
from kvviz.hub import HubError, HubModel, ModelReference, _refusal, fetch_config, search
from kvviz.text import LANGUAGES
from tests.hub.conftest import SERVERS_TOKEN
from tests.hub.standin import GOOD_TOKEN, OTHER_TOKEN, SMALL, StandIn, commit_of, real_config

BAD_TOKEN = "hf_thisIsNoTokenOfAnybody"  # noqa: S105 - nobody's
GATED = "google/gemma-3-27b-it"
SECRETS = (GOOD_TOKEN, OTHER_TOKEN, BAD_TOKEN, SERVERS_TOKEN)
SOON_S = 0.4
SLOW = ("slow", "stalled", "dripping")


def patience_s(fault: str) -> float:
    """Short where the time is what runs out, long where a busy machine must not make it so."""
    return SOON_S if fault.endswith(SLOW) else 20.0


def fetch(
    hub: StandIn, repo_id: str, revision: str = "main", *, token: str | None = None, timeout_s: float = 5.0
) -> HubModel:
    reference = ModelReference(repo_id=repo_id, revision=revision)
    return fetch_config(reference, token=token, endpoint=hub.url, timeout_s=timeout_s)


def test_a_token_that_is_none_is_said_to_be_even_of_a_gated_model() -> None:
    """Whoever the Hub knows and does not let in is told 403."""
    reference = ModelReference(repo_id=GATED)
    codes = [
        _refusal(status, {"X-Error-Code": "GatedRepo"}, reference=reference, token=token).code
        for status, token in ((401, None), (401, BAD_TOKEN), (403, OTHER_TOKEN))
    ]
    assert codes == ["hub-gated", "hub-token", "hub-gated"]


# --- What is read --------------------------------------------------------------------------------------------------


def test_a_model_comes_with_its_commit_its_config_and_its_weights_in_two_requests(hub: StandIn) -> None:
    model = fetch(hub, SMALL)
    assert model.config == json.loads(real_config(SMALL))
    assert read_config(model.config)
    assert model.commit_sha == commit_of(SMALL)
    assert model.repo_id == SMALL
    assert model.gated is False
    assert model.cacheable
    assert model.weights is not None
    assert (model.weights.value_bytes, model.weights.basis) == (2 * 751_632_384, "exact")
    assert model.weights_unknown is None
    assert [request.path for request in hub.requests] == [
        f"/{SMALL}/resolve/main/config.json",
        f"/api/models/{SMALL}/revision/{commit_of(SMALL)}?blobs=true",
    ]
    assert all("authorization" not in r.headers and "cookie" not in r.headers for r in hub.requests)
    assert all(r.headers["user-agent"].startswith("kvviz/") for r in hub.requests)


def test_a_model_can_be_kept_in_a_cache(hub: StandIn) -> None:
    model = fetch(hub, SMALL)
    assert pickle.loads(pickle.dumps(model)) == model  # noqa: S301 - what Streamlit's cache does
    assert hash(ModelReference(repo_id=SMALL)) == hash(ModelReference(repo_id=SMALL))


@pytest.mark.parametrize("revision", ["main", "v1.0", "refs/pr/1", commit_of(SMALL)])
def test_any_revision_is_resolved_to_its_commit(hub: StandIn, revision: str) -> None:
    model = fetch(hub, SMALL, revision)
    assert (model.revision, model.commit_sha) == (revision, commit_of(SMALL))


def test_a_renamed_model_comes_under_its_new_name(hub: StandIn) -> None:
    model = fetch(hub, "old-owner/old-name")
    assert model.repo_id == "new-owner/renamed"
    assert model.commit_sha == commit_of("new-owner/renamed")
    assert len(hub.requests) == 3


def test_the_commit_may_stand_on_the_redirect_to_the_hubs_own_cache(hub: StandIn) -> None:
    model = fetch(hub, "fault/cached")
    assert (model.repo_id, model.commit_sha) == ("fault/cached", commit_of("fault/cached"))


def test_without_the_commits_header_the_description_has_it(hub: StandIn) -> None:
    assert fetch(hub, "fault/no-commit").commit_sha == commit_of("fault/no-commit")


def test_the_hub_is_the_one_in_the_environment(hub: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.url + "/")
    assert fetch_config(ModelReference(repo_id=SMALL), token=None).commit_sha == commit_of(SMALL)
    assert search("qwen3")
    assert len(hub.requests) == 3


@pytest.mark.parametrize("fault", ["info-error", "info-html", "info-slow"])
def test_a_failure_of_the_second_request_loses_nothing_but_the_weights(hub: StandIn, fault: str) -> None:
    begun = time.monotonic()
    model = fetch(hub, f"fault/{fault}", timeout_s=patience_s(fault))
    assert time.monotonic() - begun < 3
    assert model.config == json.loads(real_config(SMALL))
    assert model.commit_sha == commit_of(f"fault/{fault}")
    assert model.weights is None
    assert model.weights_unknown is not None
    assert "GiB" in model.weights_unknown("en")
    assert "GiB" in model.weights_unknown("ja")
    assert model.gated is None
    assert not model.cacheable, "an incomplete answer would be kept for a day"
    assert len(hub.requests) == 2


# --- Search --------------------------------------------------------------------------------------------------------


def test_search_finds_models_by_words_the_most_downloaded_first(hub: StandIn) -> None:
    hits = search("qwen3", endpoint=hub.url)
    assert [hit.repo_id for hit in hits] == [SMALL, "Qwen/Qwen3-32B"], "GGUF files alone have no config.json"
    assert [hit.downloads for hit in hits] == [9_000_000, 4_000_000]
    assert len(hub.requests) == 1
    assert "authorization" not in hub.requests[0].headers
    assert [hit.gated for hit in search("gemma", endpoint=hub.url)] == [True]
    assert search("qwen3", limit=1, endpoint=hub.url) == hits[:1]
    assert search("no such model", endpoint=hub.url) == ()


def test_an_empty_search_asks_nobody(hub: StandIn) -> None:
    assert search("  \n", endpoint=hub.url) == search("qwen", limit=0, endpoint=hub.url) == ()
    assert hub.requests == []


@pytest.mark.parametrize("query", ["a&limit=9999", "ク ウェン", "../..", "%00", "x" * 5_000, "\ud800"])
def test_any_query_is_only_a_query(hub: StandIn, query: str) -> None:
    search(query, limit=5, endpoint=hub.url)
    assert hub.requests[0].path.startswith("/api/models?search=")
    assert "&limit=10&" in hub.requests[0].path
    assert len(hub.requests[0].path) < 1_500


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("rate", "hub-rate-limited"),
        ("error", "hub-down"),
        ("slow", "hub-timeout"),
        ("html", "hub-html"),
        ("not-json", "hub-not-json"),
        ("not-an-object", "hub-not-json"),
        ("teapot", "hub-refused"),
        ("missing", "hub-refused"),
    ],
)
def test_a_search_that_fails_says_why(hub: StandIn, fault: str, code: str) -> None:
    with pytest.raises(HubError) as error:
        search(f"fault-{fault}", endpoint=hub.url, timeout_s=patience_s(fault))
    assert error.value.code == code
    assert len(hub.requests) == 1


# --- Failures ------------------------------------------------------------------------------------------------------

FAULTS = {
    "missing": ("hub-not-found", "no model fault/missing"),
    "unheard-of": ("hub-private", "no public model fault/unheard-of"),
    "private": ("hub-private", "needs an access token"),
    "no-config": ("hub-no-config", "no config.json at main"),
    "forbidden": ("hub-forbidden", "403"),
    "disabled": ("hub-forbidden", "disabled"),
    "teapot": ("hub-refused", "418"),
    "rate": ("hub-rate-limited", "in 37 s"),
    "rate-seconds": ("hub-rate-limited", "in 21 s"),
    "rate-date": ("hub-rate-limited", " s."),
    "rate-nonsense": ("hub-rate-limited", "a few minutes"),
    "rate-bare": ("hub-rate-limited", "a few minutes"),
    "error": ("hub-down", "500"),
    "gateway": ("hub-down", "502"),
    "slow": ("hub-timeout", "within 0.4 s"),
    "stalled": ("hub-timeout", "within 0.4 s"),
    "dripping": ("hub-timeout", "within 0.4 s"),
    "cut": ("hub-down", "connection broke"),
    "huge": ("hub-too-large", "1,048,576 bytes"),
    "huge-unsaid": ("hub-too-large", "1,048,576 bytes"),
    "bomb": ("hub-not-json", "cannot be read"),
    "html": ("hub-html", "web page"),
    "html-unsaid": ("hub-html", "web page"),
    "not-json": ("hub-not-json", "line 1, column 2"),
    "not-an-object": ("hub-not-json", "cannot be read"),
    "away": ("hub-redirect", "localhost"),
    "nowhere": ("hub-redirect", "another site"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_failure_is_one_clear_line_after_one_request(
    hub: StandIn, fault: str, everything_logged: pytest.LogCaptureFixture
) -> None:
    code, says = FAULTS[fault]
    begun = time.monotonic()
    with pytest.raises(KvvizError) as raised:
        fetch(hub, f"fault/{fault}", timeout_s=patience_s(fault))
    assert time.monotonic() - begun < 2.5
    error = raised.value
    assert isinstance(error, HubError)
    assert error.code == code
    assert says in error.message("en")
    for lang in LANGUAGES:
        assert "\n" not in error.message(lang)
        assert "config.json" in error.message(lang)
        assert error.message(lang).startswith(error.what(lang))
        assert "bundled" in error.message(lang) or "同梱" in error.message(lang)
    assert error.__context__ is None, "the client's exception holds the request"
    assert [request.path for request in hub.requests] == [f"/fault/{fault}/resolve/main/config.json"]
    assert hub.sent_bytes < 20 << 20, "read on after the limit"
    assert SERVERS_TOKEN not in everything_logged.text


def test_the_wait_is_told_in_seconds(hub: StandIn) -> None:
    waits = []
    for fault in ("rate", "rate-seconds", "rate-date", "rate-bare"):
        with pytest.raises(HubError) as error:
            fetch(hub, f"fault/{fault}")
        waits.append(error.value.wait_s)
    assert waits[:2] == [37, 21]
    assert waits[2] in range(80, 92)
    assert waits[3] is None


def test_a_revision_that_does_not_exist(hub: StandIn) -> None:
    with pytest.raises(HubError, match="has no revision nope") as error:
        fetch(hub, SMALL, "nope")
    assert error.value.code == "hub-bad-revision"


def test_redirects_without_end_end(hub: StandIn) -> None:
    with pytest.raises(HubError, match="again and again") as error:
        fetch(hub, "fault/loop")
    assert error.value.code == "hub-redirect"
    assert len(hub.requests) == 6


def test_a_hub_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    begun = time.monotonic()
    for ask in (
        lambda: fetch_config(ModelReference(repo_id=SMALL), token=None, endpoint=f"http://127.0.0.1:{port}"),
        lambda: search("qwen", endpoint=f"http://127.0.0.1:{port}"),
    ):
        with pytest.raises(HubError, match="cannot reach the Hub") as error:
            ask()
        assert error.value.code == "hub-down"
    assert time.monotonic() - begun < 2


@pytest.mark.parametrize(
    "endpoint", ["localhost:8123", "ftp://127.0.0.1", "http://127.0.0.1:99999", "http://", "nonsense"]
)
def test_an_endpoint_that_is_none(endpoint: str) -> None:
    with pytest.raises(HubError):
        fetch_config(ModelReference(repo_id=SMALL), token=None, endpoint=endpoint)


def test_offline_asks_nobody(hub: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(HubError, match="HF_HUB_OFFLINE") as error:
        fetch(hub, SMALL)
    assert error.value.code == "hub-offline"
    assert hub.requests == []


# --- Tokens --------------------------------------------------------------------------------------------------------


def test_a_gated_model_asks_for_a_token(hub: StandIn) -> None:
    with pytest.raises(HubError, match="accept its terms") as error:
        fetch(hub, GATED)
    assert error.value.code == "hub-gated"


def test_with_a_token_a_gated_model_is_read_and_never_cached(hub: StandIn) -> None:
    model = fetch(hub, GATED, token=f" {GOOD_TOKEN}\n")
    assert model.config == json.loads(real_config(GATED))
    assert model.gated is True
    assert not model.cacheable
    assert {request.headers["authorization"] for request in hub.requests} == {f"Bearer {GOOD_TOKEN}"}
    assert all(GOOD_TOKEN not in request.path for request in hub.requests)
    assert GOOD_TOKEN not in repr(model)
    with pytest.raises(HubError):  # and the next visitor has none
        fetch(hub, GATED)
    assert "authorization" not in hub.requests[-1].headers
    assert "cookie" not in hub.requests[-1].headers


def test_a_private_model_is_read_with_a_token(hub: StandIn) -> None:
    assert fetch(hub, "fault/private", token=GOOD_TOKEN).config == json.loads(real_config(SMALL))


def test_an_empty_token_field_asks_as_anybody(hub: StandIn) -> None:
    assert fetch(hub, SMALL, token=" " * 2).cacheable
    assert all("authorization" not in request.headers for request in hub.requests)


@pytest.mark.parametrize(
    ("repo_id", "token", "code"),
    [
        (GATED, OTHER_TOKEN, "hub-gated"),
        (GATED, BAD_TOKEN, "hub-token"),
        (SMALL, BAD_TOKEN, "hub-token"),
        (SMALL, f"{BAD_TOKEN}\r\nX-Injected: 1", "hub-token"),
        (SMALL, f"{BAD_TOKEN}トークン", "hub-token"),
        (SMALL, BAD_TOKEN * 100, "hub-token"),
        ("fault/unheard-of", GOOD_TOKEN, "hub-not-found"),
        ("fault/slow", GOOD_TOKEN, "hub-timeout"),
        ("fault/rate", GOOD_TOKEN, "hub-rate-limited"),
        ("fault/error", GOOD_TOKEN, "hub-down"),
        ("fault/cut", GOOD_TOKEN, "hub-down"),
        ("fault/away", GOOD_TOKEN, "hub-redirect"),
        ("fault/not-json", GOOD_TOKEN, "hub-not-json"),
        ("fault/html", GOOD_TOKEN, "hub-html"),
    ],
)
def test_no_token_shows_in_any_message_representation_log_or_address(
    hub: StandIn, everything_logged: pytest.LogCaptureFixture, repo_id: str, token: str, code: str
) -> None:
    with pytest.raises(HubError) as raised:
        fetch(hub, repo_id, token=token, timeout_s=patience_s(repo_id))
    error = raised.value
    assert error.code == code
    shown = [repr(error), str(error), *map(str, error.args), everything_logged.text]
    shown += [line for lang in LANGUAGES for line in error.lines(lang)]
    shown += [request.path for request in hub.requests]
    assert not [text for text in shown if any(secret in text for secret in SECRETS)]
    assert error.__context__ is None
    assert error.__cause__ is None


def test_a_token_is_not_carried_to_another_site(hub: StandIn) -> None:
    with pytest.raises(HubError):
        fetch(hub, "fault/away", token=GOOD_TOKEN)
    assert [request.path for request in hub.requests] == ["/fault/away/resolve/main/config.json"]
