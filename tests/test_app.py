"""The launcher: both ways to start it, what it adds to every response, and that a start asks nobody anything."""

import contextlib
import http.client
import json
import os
import re
import runpy
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.harness import ROOT, STREAMLIT_RUN, Server, serve

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
        refuses_other_sites(server)
        takes_no_upload_of_a_stranger(server)
        log = server.log.read_text()
    assert "is not a valid config option" not in log
    # Neither this machine's address asked of an outside service, nor the reader's e-mail address.
    assert "external" not in log.lower()
    assert "Email" not in log
    assert "Traceback" not in log
    # A link may carry a private config.
    assert "lang=ja" not in log
    assert start == "streamlit" or '"GET /compare HTTP/1.1" 200' in log


def test_a_cookie_for_frames_is_kept_by_browsers_that_keep_none_of_others(tmp_path: Path) -> None:
    for same_site, ends in (("none", "; SameSite=None; Secure; Partitioned"), ("lax", "; SameSite=Lax")):
        with serve(tmp_path / "log.txt", (*STREAMLIT_RUN, "--server.xsrfCookieSameSite", same_site)) as server:
            (cookie,) = server.get("/_stcore/health").headers.get_all("Set-Cookie") or [""]
            assert cookie.endswith(ends)


def test_what_is_imported_ahead_is_what_the_first_page_needs(tmp_path: Path) -> None:
    """In a process of its own, as a server does: all of it is there, and the first page then imports nothing slow."""
    program = f"""
import sys
import streamlit, app
app.ahead()
before = set(sys.modules)
from streamlit.testing.v1 import AppTest
ran = AppTest.from_file({str(ROOT / "kvviz/ui/main.py")!r}, default_timeout=60).run()
assert not ran.exception, ran.exception
print(*(name for name in sys.modules.keys() - before if name.partition(".")[0] in ("kvviz", "pandas")))
"""
    found = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def handshake(server: Server, origin: str) -> int:
    """The status that a browser on a page of ``origin`` gets when it opens the app's connection."""
    headers = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version": "13",
        "Origin": origin,
    }
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    connection.request("GET", "/_stcore/stream", headers=headers)
    with contextlib.closing(connection):
        return connection.getresponse().status


def refuses_other_sites(server: Server) -> None:
    """A page of another site gets no connection, and no leave to read what it asks for."""
    assert handshake(server, server.url) == 101
    began = time.monotonic()
    for origin in ("https://evil.example", "http://127.0.0.1:1", "null", "http://127.0.0.1.evil.example"):
        assert handshake(server, origin) == 403, origin
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", "/_stcore/host-config", headers={"Origin": "https://evil.example"})
        assert connection.getresponse().headers.get("Access-Control-Allow-Origin") in (None, "")
    # Streamlit looks for this machine's address on the network before it says no.
    assert time.monotonic() - began < 4


def takes_no_upload_of_a_stranger(server: Server) -> None:
    """Without the token that only a page of the app has, no file is taken."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    with contextlib.closing(connection):
        connection.request("PUT", "/_stcore/upload_file/session/file", body=b"x")
        assert connection.getresponse().status == 403


def test_a_session_uploads_a_bounded_number_of_files() -> None:
    few = runpy.run_path(str(ROOT / "app.py"))["FewUploads"](None)
    assert not any(few.is_too_many("one", float(n)) for n in range(few.MOST))
    assert few.is_too_many("one", 30.0)
    assert not few.is_too_many("another", 30.0)
    assert not few.is_too_many("one", few.WITHIN_S + few.MOST)
    assert len(few.times) == 2
    for name in range(few.SESSIONS):
        few.is_too_many(f"made up {name}", 700.0)
    assert few.is_too_many("one more", 700.0)
    assert not few.is_too_many("later", 2_000.0)


def test_no_other_page_gives_an_embedded_one_orders(tmp_path: Path) -> None:
    with serve(tmp_path / "log.txt") as server:
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", "/_stcore/host-config")
            assert json.loads(connection.getresponse().read())["allowedOrigins"] == []


def test_the_hub_client_is_told_to_report_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_DISABLE_TELEMETRY", raising=False)
    runpy.run_path(str(ROOT / "app.py"))
    assert os.environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
