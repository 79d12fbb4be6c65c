"""One line for whatever an engine does, within its time, and no way to another server."""

import socket
import threading
import time
from contextlib import suppress

import pytest

from kvviz.serving import EngineError, poll
from kvviz.serving.ask import ask
from kvviz.text import LANGUAGES
from tests.serving.standin import SLOW_S, serving


@pytest.mark.parametrize(
    ("engine", "code"),
    [
        ("slow", "engine-slow"),
        ("drip", "engine-slow"),
        ("html", "engine-html"),
        ("huge", "engine-too-large"),
        ("cut", "engine-unreachable"),
        ("elsewhere", "engine-redirect"),
        ("other", "engine-unknown"),
        ("broken", "engine-broken-metrics"),
        ("nothing", "engine-no-metrics"),
    ],
)
def test_one_line_each(engine: str, code: str) -> None:
    with serving() as standin:
        began = time.monotonic()
        with pytest.raises(EngineError) as caught:
            poll(f"{standin.url}/{engine}", None)
        assert time.monotonic() - began < SLOW_S
    assert caught.value.code == code
    for lang in LANGUAGES:
        (line,) = caught.value.lines(lang)
        assert "\n" not in line
        assert standin.url not in line


def test_status() -> None:
    with serving() as standin:
        standin.broken = True
        with pytest.raises(EngineError) as caught:
            poll(f"{standin.url}/vllm", None)
    assert (caught.value.code, caught.value.status) == ("engine-status", 503)


def test_refused() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EngineError) as caught:
        ask(f"http://127.0.0.1:{port}/metrics")
    assert caught.value.code == "engine-unreachable"


@pytest.mark.parametrize(
    "said", [b"", b"\x00" * 40, b"HTTP/9 what\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx"]
)
def test_what_is_no_http(said: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(said)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        with suppress(EngineError):  # and nothing else
            ask(f"http://127.0.0.1:{port}/metrics", seconds=1)
        thread.join(2)


def test_on_the_same_server_a_redirect_is_followed() -> None:
    with serving() as standin:
        assert poll(f"{standin.url}/vllm-slash", None).kind == "vllm"
