"""``kvviz live``: what it prints, and the one line it gives where it cannot."""

import json

import pytest

from kvviz.cli import main
from tests.live import tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny.write("window and full", tmp_path_factory.mktemp("cli") / "tiny")


def test_json(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--tokens", "30", "--prompt-tokens", "10", "--batch", "2", "--dtype", "fp32", "--device", "cpu"]
    assert main(["live", "--json", "--model", folder, *flags]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert len(whole["samples"]) == 30
    figures = whole["summary"]
    assert figures["residual_bytes"] == 0
    assert figures["measured_bytes"] == figures["predicted_bytes"] > 0
    assert (figures["batch"], figures["dtype"], figures["cache"], figures["model"]) == (2, "fp32", "dynamic", "tiny")
    assert figures["random_weights"] is True
    assert figures["tokens"] == 39


@pytest.mark.parametrize("cache", ["static", "none"])
def test_words(cache: str, folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    for lang, residual in (("en", "Residual 0 B"), ("ja", "差は 0 B です。")):
        assert main(["live", "--model", folder, "--tokens", "4", "--cache", cache, "--lang", lang]) == 0
        out = capsys.readouterr().out
        assert residual in out
        assert "random weights" in out or "乱数" in out


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (["--tokens", "many"], "--tokens: many is not a number"),
        (["--cache", "heap"], "--cache: there is no heap; use one of dynamic, static, paged"),
        (["--dtype", "int8"], "--dtype: there is no int8"),
        (["--device", "tpu"], "--device: there is no tpu"),
        (["--batch", "0"], "--batch: 0 is out of bounds"),
        (["--model", "./nowhere"], "There is no model nowhere"),
        (["--reserve-tokens", "1,000,000", "--cache", "static", "--batch", "1000"], "free"),
    ],
)
def test_one_line_where_it_cannot(flags: list[str], line: str, folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = flags if "--model" in flags else ["--model", folder, *flags]
    assert main(["live", *given]) == 2
    complained = capsys.readouterr().err
    assert line in complained
    assert len(complained.splitlines()) == 1


def test_a_gpu_that_is_not_there(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main(["live", "--device", "cuda", "--json"]) == 2
    said = capsys.readouterr()
    assert "no CUDA device" in said.err
    assert json.loads(said.out)["error"]["code"] == "no-cuda"


def test_without_torch_one_line_says_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kvviz.live import runs

    monkeypatch.setattr(runs, "find_spec", lambda _: None)
    assert main(["live"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "kvviz: Live runs need PyTorch and Transformers, which are not installed: run"
        ' pip install -e ".[live]" and start again.'
    ]
