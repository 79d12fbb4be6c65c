"""A machine on which nothing is as it should be: no Hub, no home, no locale, a wrong clock, a process killed at work.

kvviz itself writes no file, so none can be left broken; only Live fetches weights, through the Hub client.
"""

import os
import signal
import subprocess
import sys
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from kvviz.core.errors import KvvizError
from kvviz.hub import _wait_s
from tests.browser.harness import ROOT, STREAMLIT_RUN, serve
from tests.live.tiny import FAMILIES

NOBODY = "http://127.0.0.1:9"
"""Where no Hub answers."""
BARE = {"LC_ALL": "POSIX", "LANG": "", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "HF_ENDPOINT": NOBODY}
"""No Hub, and nothing but ASCII unless a program says otherwise itself."""

OPEN = """
import sys
from streamlit.testing.v1 import AppTest

app = AppTest.from_file(sys.argv[1] + "/kvviz/ui/main.py", default_timeout=60)
app.query_params["lang"] = "ja"
app.query_params["model"] = sys.argv[2]
app.run()
assert not app.exception, app.exception
assert chr(0x30AD) in " ".join(m.value for m in app.markdown), "not in Japanese"
print(len(app.error), len(app.warning))
"""


def open_page(model: str, home: str) -> subprocess.CompletedProcess[str]:
    """The Sizing page, in Japanese, in a process of its own on such a machine."""
    return subprocess.run(
        [sys.executable, "-c", OPEN, str(ROOT), model],
        env={**os.environ, **BARE, "HOME": home, "HF_HOME": f"{home}/hf"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_a_page_opens_without_hub_home_or_locale() -> None:
    answer = open_page("nobody/nothing", os.devnull)  # a home in which nothing can be made
    assert answer.returncode == 0, answer.stderr[-2_000:]
    assert answer.stdout.startswith("1 "), "a Hub that is not there is said to be so, once"


def test_two_servers_on_one_home_one_of_them_killed_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name, value in {**BARE, "HOME": str(home), "HF_HOME": str(home / "hf")}.items():
        monkeypatch.setenv(name, value)
    with serve(tmp_path / "one.txt") as one:
        with serve(tmp_path / "other.txt") as other:
            assert one.get("/healthz").status == other.get("/healthz").status == 200
        # As a crash or the machine's end would: without a chance to tidy up.
        killed = subprocess.Popen(
            [sys.executable, "-m", *STREAMLIT_RUN, "--server.port", "0"], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        time.sleep(1)  # in the middle of its start
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert one.get("/healthz").status == 200
    assert [path for path in home.rglob("*") if path.is_file()] == []
    assert "Traceback" not in (tmp_path / "one.txt").read_text() + (tmp_path / "other.txt").read_text()


@pytest.mark.parametrize("year_s", [0, 3_000_000_000])
def test_a_wait_is_told_by_the_hubs_clock_not_by_this_machines(year_s: int) -> None:
    headers = {"Date": formatdate(year_s, usegmt=True), "Retry-After": formatdate(year_s + 90, usegmt=True)}
    assert _wait_s(headers) == 90


# --- Live, which alone has files -------------------------------------------------------------------------------------


def folder_of(place: Path) -> Path:
    """A small model as the Hub client leaves it: its config and its weights."""
    import transformers

    config, _ = next(iter(FAMILIES.values()))
    made = transformers.AutoModelForCausalLM.from_config(transformers.CONFIG_MAPPING[config["model_type"]](**config))
    made.save_pretrained(place / "model")
    return place / "model"


def test_weights_cut_off_in_the_middle_are_said_to_be_unusable(tmp_path: Path) -> None:
    from kvviz.live.model import load

    folder = folder_of(tmp_path)
    weights = next(folder.glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    with pytest.raises(KvvizError) as caught:
        load(str(folder), device="cpu", dtype="fp32")
    assert caught.value.code == "cannot-build"


def test_a_full_disk_is_said_to_be_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    from kvviz.live.model import load

    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", full)
    with pytest.raises(KvvizError, match=r"[Nn]o space left") as caught:
        load(str(folder_of(tmp_path)), device="cpu", dtype="fp32")
    assert caught.value.code == "cannot-build"
