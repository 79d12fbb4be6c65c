"""What a person types or pastes into the model field."""

import subprocess
import sys

import pytest
from huggingface_hub.utils import validate_repo_id
from hypothesis import given
from hypothesis import strategies as st

from kvviz import hub
from kvviz.core.errors import KvvizError
from kvviz.hub import HubError, ModelReference, parse_model_reference
from kvviz.text import LANGUAGES

MODEL = ModelReference(repo_id="Qwen/Qwen3-0.6B")


@pytest.mark.parametrize(
    ("typed", "revision"),
    [
        ("Qwen/Qwen3-0.6B", "main"),
        ("  Qwen/Qwen3-0.6B\n", "main"),
        ('"Qwen/Qwen3-0.6B"', "main"),
        ("Ｑｗｅｎ／Ｑｗｅｎ３－０．６Ｂ", "main"),
        ("Qwen/Qwen3-0.6B@v1.0", "v1.0"),
        ("Qwen/Qwen3-0.6B@refs/pr/1", "refs/pr/1"),
        ("Qwen/Qwen3-0.6B@0123456789abcdef0123456789abcdef01234567", "0123456789abcdef0123456789abcdef01234567"),
        ("https://huggingface.co/Qwen/Qwen3-0.6B", "main"),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/", "main"),
        ("HTTPS://HuggingFace.co/Qwen/Qwen3-0.6B", "main"),
        ("http://www.huggingface.co/Qwen/Qwen3-0.6B?library=vllm#usage", "main"),
        ("huggingface.co/Qwen/Qwen3-0.6B", "main"),
        ("hf.co/Qwen/Qwen3-0.6B", "main"),
        ("https://huggingface.co/Qwen/Qwen3-0.6B.git", "main"),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/blob/main/config.json", "main"),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/tree/v1.0", "v1.0"),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/tree/refs%2Fpr%2F1", "refs/pr/1"),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/blob/refs/pr/1/config.json", "refs/pr/1"),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/resolve/v1.0/config.json?download=true", "v1.0"),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/raw/v1.0/config.json", "v1.0"),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/discussions/3", "main"),
        ("https://someone:secret@huggingface.co/Qwen/Qwen3-0.6B", "main"),
    ],
)
def test_a_model_by_its_name_or_address(typed: str, revision: str) -> None:
    assert parse_model_reference(typed) == ModelReference(repo_id=MODEL.repo_id, revision=revision)


@pytest.mark.parametrize(
    "typed",
    [
        "http://127.0.0.1:8123/Qwen/Qwen3-0.6B/tree/main",
        "127.0.0.1:8123/Qwen/Qwen3-0.6B",
        "https://huggingface.co/Qwen/Qwen3-0.6B",
    ],
)
def test_addresses_of_the_hub_that_is_asked(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_model_reference(typed, endpoint="http://127.0.0.1:8123/") == MODEL
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:8123")
    assert parse_model_reference(typed) == MODEL


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("https://github.com/Qwen/Qwen3", "github.com is not the Hugging Face Hub"),
        ("github.com/Qwen/Qwen3", "github.com is not"),
        ("https://huggingface.co.evil.example/Qwen/Qwen3-0.6B", "huggingface.co.evil.example is not"),
        ("https://huggingface.co@evil.example/Qwen/Qwen3-0.6B", "evil.example is not"),
        ("http://127.0.0.1/Qwen/Qwen3-0.6B", "127.0.0.1 is not"),
        ("http://169.254.169.254/latest/meta-data/x", "169.254.169.254 is not"),
        ("https://huggingface.co/datasets/openai/gsm8k", "not a model's"),
        ("https://huggingface.co/spaces/openai/whisper", "not a model's"),
        ("datasets/openai/gsm8k", "not a model's"),
        ("spaces/openai/whisper", "not a model's"),
        ("https://huggingface.co/Qwen", "not a model's"),
        ("https://huggingface.co/", "not a model's"),
        ("https://huggingface.co/docs/transformers", "not a model's"),
        ("https://huggingface.co/models?search=qwen", "not a model's"),
        ("", "owner/name"),
        ("   ", "owner/name"),
        ("Qwen3-0.6B", "owner/name"),
        ("Qwen/", "owner/name"),
        ("/Qwen3", "owner/name"),
        ("Qwen/Qwen3-0.6B@", "owner/name"),
        ("Qwen/Qwen3-0.6B@a b", "owner/name"),
        ("Qwen/Qwen3-0.6B@../../etc", "owner/name"),
        ("Qwen/Qwen3/0.6B", "owner/name"),
        ("../../etc/passwd", "owner/name"),
        ("Qwen/..", "owner/name"),
        ("Qwen/a--b", "owner/name"),
        ("Qwen/Qwen3 0.6B", "owner/name"),
        ("Qwen/クウェン", "owner/name"),
        ("Qwen/Qwen3\x00", "owner/name"),
        ("Qwen/" + "x" * 97, "owner/name"),
        ("x" * 10_000, "owner/name"),
        ("https://", "owner/name"),
        ("http://[bad/Qwen/x", "owner/name"),
        ("https://huggingface.co:port/Qwen/x", "owner/name"),
        ("file:///etc/passwd", "owner/name"),
        ("javascript:alert(1)", "owner/name"),
    ],
)
def test_anything_else_is_answered_with_what_to_do(typed: str, says: str) -> None:
    with pytest.raises(HubError) as error:
        parse_model_reference(typed)
    assert error.value.code == "hub-reference"
    assert says in str(error.value)
    for lang in LANGUAGES:
        assert "config.json" in error.value.message(lang)
        assert "\n" not in error.value.message(lang)


def test_a_secret_in_the_wrong_field_is_not_repeated() -> None:
    for typed in ("hf_aSecretToken", "https://me:hf_aSecretToken@evil.example/a/b", "a/b@hf aSecretToken"):
        with pytest.raises(HubError) as error:
            parse_model_reference(typed)
        assert "aSecretToken" not in "".join(error.value.message(lang) for lang in LANGUAGES) + repr(error.value)


@given(st.one_of(st.text(), st.from_regex(r"(https://(huggingface\.co|hf\.co)/)?[\w.-]+/[\w.-]+(@[\w./-]+)?")))
def test_whatever_is_typed_becomes_a_name_the_client_takes_or_an_error(typed: str) -> None:
    try:
        reference = parse_model_reference(typed)
    except KvvizError:
        return
    validate_repo_id(reference.repo_id)
    assert parse_model_reference(str(reference)) == reference


def test_reading_a_reference_does_not_import_the_client() -> None:
    code = (
        "import sys; from kvviz.hub import parse_model_reference; parse_model_reference('a/b');"
        "print({'huggingface_hub', 'httpx2'} & set(sys.modules))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"


@pytest.mark.parametrize("written", ["http://[::1", "huggingface.co", "https://", "ftp://hub", "https://hub:port"])
def test_an_endpoint_that_is_no_address_is_named(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", written)
    reference = hub.ModelReference(repo_id="owner/name")
    for ask in (
        lambda: hub.parse_model_reference("owner/name"),
        lambda: hub.fetch_config(reference, token=None),
        lambda: hub.search("name"),
        hub.check_endpoint,
    ):
        with pytest.raises(hub.HubError, match="HF_ENDPOINT"):
            ask()
