"""``kvviz live``: what it prints, and the one line it gives where it cannot."""

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from kvviz.cli import main
from kvviz.live import DTYPES, Sample, caches_here, loop, model
from kvviz.live.settings import DEVICES
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
        (["--batch", ""], "--batch: is empty; give a whole number from 1"),
        (["--model", "./nowhere"], "There is no folder or file ./nowhere:"),
        (["--model", "/non/exist.gguf"], "There is no folder or file /non/exist.gguf:"),
        (["--model", "/"], "/ is neither a folder with a config.json nor a .gguf file"),
        (["--cache", "static", "--reserve-tokens", "5", "--tokens", "20"], "--reserve-tokens: 5 is less than the "),
        (["--reserve-tokens", "500"], "--reserve-tokens: a dynamic cache reserves nothing"),
        (["--reserve-tokens", "1,000,000", "--cache", "static", "--batch", "1000"], "free"),
    ],
)
def test_one_line_where_it_cannot(flags: list[str], line: str, folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = flags if "--model" in flags else ["--model", folder, *flags]
    assert main(["live", *given]) == 2
    complained = capsys.readouterr().err
    assert line in complained
    assert len(complained.splitlines()) == 1


@pytest.mark.parametrize("given", ["abc", "0"])
def test_a_variable_is_called_by_its_own_name(
    given: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KVVIZ_LIVE_MAX_TOKENS", given)
    assert main(["live", "--json"]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"kvviz: KVVIZ_LIVE_MAX_TOKENS: {given} is ")
    assert json.loads(said.out)["error"]["problems"][0]["path"] == "KVVIZ_LIVE_MAX_TOKENS"


def test_an_endpoint_that_is_no_address_is_one_line(
    folder: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://[::1")
    assert main(["live", "--model", folder]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "HF_ENDPOINT" in line


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_help_lists_what_may_be_given(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["live", "--help", "--lang", lang])
    told = " ".join(capsys.readouterr().out.split())
    for choices in (DTYPES, DEVICES, caches_here()):
        assert ", ".join(choices) in told


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("as_json", [True, False])
def test_what_was_measured_before_a_signal_is_written(
    number: signal.Signals,
    code: int,
    as_json: bool,
    folder: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole_run, before = loop.run, signal.getsignal(number)

    def interrupted(*asked: Any, **limits: Any) -> Iterator[object]:  # noqa: ANN401
        for event in whole_run(*asked, **limits):
            yield event
            if isinstance(event, Sample) and event.new_tokens == 7:
                signal.raise_signal(number)

    monkeypatch.setattr(loop, "run", interrupted)
    assert main(["live", "--model", folder, "--tokens", "200", *["--json"] * as_json]) == code
    out = capsys.readouterr().out
    if as_json:
        whole = json.loads(out)
        assert (whole["summary"]["stopped"], whole["ended"]["stopped"]) == ("cancelled", "cancelled")
        assert [s["new_tokens"] for s in whole["samples"]] == [1, 2, 3, 4, 5, 6, 7]
    else:
        assert "Stopped on request after 7 of 200 tokens." in out
    assert signal.getsignal(number) is before


def test_before_anything_is_measured_a_signal_ends_it_at_once(
    folder: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "load", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    assert main(["live", "--model", folder]) == 130
    assert capsys.readouterr().out == ""


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
