"""One bounded request to an engine: seconds, bytes, and no way to another server."""

import json
from http.client import HTTPException, HTTPMessage, HTTPResponse
from time import monotonic
from typing import IO, Final
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import kvviz
from kvviz.core.errors import KvvizError
from kvviz.core.units import format_count
from kvviz.text import Message, Text
from kvviz.text import serving as text

ANSWER_SECONDS: Final = 2.0
MAX_BYTES: Final = 4 * 2**20
"""Metrics of a large data-parallel deployment are some hundred kilobytes, most of them buckets of histograms."""
_PIECE: Final = 64 * 1024
_PORTS: Final = {"http": 80, "https": 443}


class EngineError(KvvizError):
    """An engine that gave no usable answer. The message begins after the engine's name."""

    def __init__(self, what: Message | Text, *, code: str, status: int | None = None) -> None:
        super().__init__(what if isinstance(what, Message) else Message(what), code=code)
        self.status = status
        """HTTP status, where that is what was wrong."""


class _SameServer(HTTPRedirectHandler):
    """``/metrics`` may be sent on to ``/metrics/``, as older vLLM does, but nowhere else."""

    max_redirections = 3

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if _origin(urlsplit(newurl)) != _origin(urlsplit(req.full_url)):
            fp.close()
            raise EngineError(text.SENT_ELSEWHERE, code="engine-redirect")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def ask(url: str, *, seconds: float = ANSWER_SECONDS, max_bytes: int = MAX_BYTES) -> bytes:
    """The body at ``url``. Raises EngineError and nothing else.

    ``seconds`` bounds each wait for the network and all of the body; a thread that waits for a name server may hang
    longer, so pages never wait for this call (``watch``). Proxies of the environment are used.
    """
    request = Request(  # noqa: S310 - http or https, as the operator's settings are checked
        url, headers={"User-Agent": f"kvviz/{kvviz.__version__}", "Accept-Encoding": "identity"}
    )
    until = monotonic() + seconds
    try:
        with build_opener(_SameServer()).open(request, timeout=seconds) as response:
            return _body(response, until=until, seconds=seconds, max_bytes=max_bytes)
    except HTTPError as error:
        error.close()
        status = error.code
    except URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise _slow(seconds) from None
        raise EngineError(text.UNREACHABLE, code="engine-unreachable") from None
    except TimeoutError:
        raise _slow(seconds) from None
    except (OSError, HTTPException, ValueError):
        raise EngineError(text.UNREACHABLE, code="engine-unreachable") from None
    raise EngineError(Message(text.STATUS, {"status": status}), code="engine-status", status=status)


def ask_json(url: str, *, seconds: float = ANSWER_SECONDS) -> object:
    """The JSON at ``url``; None where there is none: a figure that comes from there is then unknown."""
    try:
        found: object = json.loads(ask(url, seconds=seconds))
    except (EngineError, ValueError, RecursionError):
        return None
    return found


def _body(response: HTTPResponse, *, until: float, seconds: float, max_bytes: int) -> bytes:
    body = bytearray()
    while piece := response.read1(_PIECE):
        body += piece
        if len(body) > max_bytes:
            raise EngineError(Message(text.TOO_LARGE, {"limit": format_count(max_bytes)}), code="engine-too-large")
        if monotonic() > until:
            raise _slow(seconds)
    if response.length:  # fewer bytes came than were announced
        raise EngineError(text.UNREACHABLE, code="engine-unreachable")
    if body.lstrip()[:1] == b"<":
        raise EngineError(text.WEB_PAGE, code="engine-html")
    return bytes(body)


def _slow(seconds: float) -> EngineError:
    return EngineError(Message(text.SLOW, {"seconds": f"{seconds:g}"}), code="engine-slow")


def _origin(split: SplitResult) -> tuple[str, str | None, int | None]:
    return split.scheme, split.hostname, split.port or _PORTS.get(split.scheme)
