"""Where a model comes from, and what is said where it is not to be had."""

import json
from pathlib import Path

import pytest

from kvviz import hub
from kvviz.core.errors import KvvizError
from kvviz.live import model
from kvviz.live.model import load
from kvviz.live.request import DEFAULT_MODEL, is_id, shown
from kvviz.text import Message
from kvviz.text import hub as hub_text
from tests.live import tiny


def fails_with(code: hub.Code, patch: pytest.MonkeyPatch) -> None:
    def fetch(*_: object, **__: object) -> hub.HubModel:
        raise hub.HubError(Message(hub_text.OFFER), code=code)

    patch.setattr(hub, "fetch_config", fetch)


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model of this machine's own cache."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


@pytest.mark.parametrize("code", ["hub-down", "hub-timeout", "hub-offline"])
def test_without_a_hub_the_bundled_config_stands_in(code: hub.Code, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(code, monkeypatch)
    found = model._find(DEFAULT_MODEL)
    assert found.config is not None
    assert (found.name, found.place, found.why_random) == (DEFAULT_MODEL, "", "no-hub")
    assert found.config["num_hidden_layers"] == 30
    with pytest.raises(hub.HubError):
        model._find("nobody/has-this")


def test_offline_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(hub, "fetch_config", None)
    assert model._find(DEFAULT_MODEL).why_random == "no-hub"


@pytest.mark.parametrize("code", ["hub-not-found", "hub-gated", "hub-rate-limited"])
def test_what_the_hub_refuses_is_not_replaced(code: hub.Code, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(code, monkeypatch)
    with pytest.raises(hub.HubError) as caught:
        model._find(DEFAULT_MODEL)
    assert caught.value.code == code


def test_a_model_of_the_hub_is_pinned_to_the_commit_that_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    found = hub.HubModel(
        repo_id="owner/renamed",
        revision="main",
        commit_sha="a" * 40,
        config={"model_type": "llama"},
        weights=None,
        weights_unknown=None,
        gated=False,
        cacheable=True,
    )
    monkeypatch.setattr(hub, "fetch_config", lambda *_, **__: found)
    source = model._find("owner/name")
    assert (source.place, source.more, source.why_random) == ("owner/renamed", {"revision": "a" * 40}, "")


def test_what_lies_in_the_hub_s_cache_is_used_and_nobody_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "fetch_config", None)
    stored = tmp_path / "hub" / "models--owner--name"
    snapshot = stored / "snapshots" / ("a" * 40)
    tiny.write("GQA", snapshot)
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text("a" * 40)
    with pytest.raises(TypeError):  # a config alone is no model: the Hub would be asked
        model._find("owner/name")
    (snapshot / "model.safetensors").touch()
    found = model._find("owner/name")
    assert (found.place, found.more, found.why_random) == ("owner/name", {"local_files_only": True}, "")


def test_a_sharded_model_in_the_hub_s_cache_is_used_once_every_shard_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off half way it is fetched on: the Hub is asked (here: nobody, which is a TypeError)."""
    monkeypatch.setattr(hub, "fetch_config", None)
    stored = tmp_path / "hub" / "models--owner--name"
    snapshot = stored / "snapshots" / ("a" * 40)
    tiny.write("GQA", snapshot)
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text("a" * 40)
    shards = [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    (snapshot / shards[0]).touch()
    with pytest.raises(TypeError):  # not even the index
        model._find("owner/name")
    index = snapshot / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": shards[0], "b": shards[1]}}))
    with pytest.raises(TypeError):
        model._find("owner/name")
    (snapshot / shards[1]).touch()
    assert model._find("owner/name").more == {"local_files_only": True}
    index.write_text("cut o")
    with pytest.raises(TypeError):
        model._find("owner/name")


def test_weights_in_a_folder_are_used(tmp_path: Path) -> None:
    import torch

    random = load(tiny.write("GQA", tmp_path / "config"), device="cpu", dtype="fp32")
    assert random.why_random == "no-weights"
    with torch.no_grad():
        random.model.lm_head.weight.fill_(0.25)
    random.model.save_pretrained(tmp_path / "saved")
    saved = load(str(tmp_path / "saved"), device="cpu", dtype="bf16")
    assert saved.why_random == ""
    assert saved.tokenizer is None
    assert saved.model.lm_head.weight.unique().tolist() == [0.25]
    assert saved.parameters == random.parameters
    assert saved.name == "saved"


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/model.gguf", "nothing"])
def test_no_model_there(name: str) -> None:
    with pytest.raises(KvvizError) as caught:
        load(name, device="cpu", dtype="bf16")
    assert caught.value.code == "no-model"
    assert "/nowhere" not in str(caught.value)


@pytest.mark.parametrize("change", [{"model_type": "nobody-knows-it"}, {"num_attention_heads": 5}])
def test_what_transformers_cannot_load_is_said_in_our_words_and_logged_in_theirs(
    change: dict[str, object], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(tiny.FAMILIES["GQA"][0] | change))
    with pytest.raises(KvvizError, match="cannot load") as caught:
        load(str(tmp_path), device="cpu", dtype="bf16")
    assert caught.value.code == "cannot-build"
    (logged,) = [r.args for r in caplog.records if r.name == model.__name__]
    assert isinstance(logged, tuple)
    for raw in logged[1:]:  # the kind of error, and its words
        assert str(raw) not in str(caught.value)


def test_random_weights_of_a_giant_are_not_even_tried(tmp_path: Path) -> None:
    giant = tiny.FAMILIES["GQA"][0] | {"hidden_size": 1 << 20, "vocab_size": 1 << 20}
    (tmp_path / "config.json").write_text(json.dumps(giant))
    with pytest.raises(KvvizError, match="memory") as caught:
        load(str(tmp_path), device="cpu", dtype="bf16")
    assert caught.value.code == "too-large"


@pytest.mark.parametrize(
    ("written", "an_id"),
    [
        ("owner/name", True),
        ("owner/na.me-1", True),
        ("./owner/name", False),
        ("/a/b", False),
        ("a/b/c", False),
        ("a", False),
    ],
)
def test_ids_and_paths(written: str, *, an_id: bool) -> None:
    assert is_id(written) is an_id
    assert shown(written) == (written if an_id else written.rpartition("/")[2])
