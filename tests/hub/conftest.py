"""The stand-in Hub, and a guard that nothing else is contacted."""

import logging
import socket
from collections.abc import Iterator

import pytest

from tests.hub.standin import StandIn, stand_in

SERVERS_TOKEN = "hf_theServersOwnToken"  # noqa: S105 - nobody's


@pytest.fixture
def hub() -> Iterator[StandIn]:
    """A stand-in of its own for each test."""
    with stand_in() as running:
        yield running


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every connection goes to 127.0.0.1, no name is looked up, no proxy is in between."""
    reached: list[object] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def connect_here(self: socket.socket, address: tuple[object, ...]) -> None:
        reached.append(address[0])
        connect(self, address)

    def look_up_here(host: str | bytes, *args: object, **kwargs: object) -> object:
        reached.append(host.decode() if isinstance(host, bytes) else host)
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", connect_here)
    monkeypatch.setattr(socket, "getaddrinfo", look_up_here)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield
    assert set(reached) <= {"127.0.0.1"}


@pytest.fixture(autouse=True)
def server_with_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine that runs the app has a token of its own, which no visitor may use."""
    monkeypatch.setenv("HF_TOKEN", SERVERS_TOKEN)
    monkeypatch.delenv("HF_ENDPOINT", raising=False)


@pytest.fixture
def everything_logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """All that anybody logs, down to the last detail."""
    caplog.set_level(logging.DEBUG)
    for name in ("huggingface_hub", "httpx2", "httpcore2", "asyncio"):
        logging.getLogger(name).addHandler(caplog.handler)
        caplog.set_level(logging.DEBUG, logger=name)
    return caplog
