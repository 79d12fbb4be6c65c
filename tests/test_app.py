"""The launcher: both ways to start it, what it adds to every response, and that a start asks nobody anything."""

import os
import re
import runpy
from pathlib import Path

import pytest

from tests.browser.harness import ROOT, STREAMLIT_RUN, serve

UVICORN = ("uvicorn", "app:app", "--host", "127.0.0.1")

STARTS = {"streamlit": (STREAMLIT_RUN, "--server.port"), "uvicorn": (UVICORN, "--port")}


@pytest.mark.parametrize("start", STARTS)
def test_both_starts_answer_with_the_headers(tmp_path: Path, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A fresh machine: no settings and no credentials of Streamlit's.
    monkeypatch.setenv("HOME", str(tmp_path))
    command, port_flag = STARTS[start]
    with serve(tmp_path / "log.txt", command, port_flag) as server:
        # Streamlit's own pages, a deep link, the health checks, and a path nobody knows.
        for path in ["/", "/compare?lang=ja", "/healthz", "/_stcore/health", "/_stcore/host-config", "/nowhere/at/all"]:
            response = server.get(path)
            assert response.status == 200, path
            assert response.headers["X-Content-Type-Options"] == "nosniff", path
            assert response.headers["Referrer-Policy"] == "same-origin", path
            assert "camera=()" in response.headers["Permissions-Policy"], path
            # Either would stop other sites from embedding a chart.
            assert "X-Frame-Options" not in response.headers, path
            policy = response.headers["Content-Security-Policy"]
            assert "frame-ancestors *" in policy, path
            assert "default-src 'self'" in policy, path
            assert not re.search(r"script-src[^;]*unsafe", policy), path
        log = server.log.read_text()
    assert "is not a valid config option" not in log
    # Neither this machine's address asked of an outside service, nor the reader's e-mail address.
    assert "external" not in log.lower()
    assert "Email" not in log
    assert "Traceback" not in log


def test_the_hub_client_is_told_to_report_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_DISABLE_TELEMETRY", raising=False)
    runpy.run_path(str(ROOT / "app.py"))
    assert os.environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
