"""The entry: ``streamlit run app.py`` (or ``uvicorn app:app``). The pages themselves start in kvviz/ui/main.py."""

import base64
import hashlib
import logging
import os
import re
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from threading import Thread
from time import monotonic
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kvviz import build

# Read once, when the Hub client is first imported.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


def own_scripts() -> str:
    """The scripts inside Streamlit's page, by their hashes: those run, and no other script in a page does."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    inside = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in inside]
    return " ".join(f"'sha256-{found}'" for found in hashes)


CONTENT_POLICY = {
    "default-src": "'self'",
    # blob: is how Streamlit loads the scripts of kvviz's own components, which come over its connection.
    "script-src": f"'self' blob: {own_scripts()}",
    # Streamlit and Plotly write their styles as they draw.
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "worker-src": "'self' blob:",
    "connect-src": "'self'",
    "frame-src": "'none'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    # Charts are embedded in other people's pages; for the same reason there is no X-Frame-Options.
    "frame-ancestors": "*",
}
SECURITY_HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in CONTENT_POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    # A link carries the whole scenario, perhaps a private config: other sites must not see it as their referrer.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def for_frames(name: bytes, value: bytes) -> bytes:
    """A header as it must be: browsers keep a frame's cookie only where it is the outer page's alone, too."""
    is_for_frames = name == b"set-cookie" and b"SameSite=None" in value and b"Partitioned" not in value
    return value + b"; Partitioned" if is_for_frames else value


class SecurityHeaders:
    """Adds the headers above to every response, Streamlit's own included."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; complete the headers of its response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
                message["headers"] = [(name, for_frames(name, value)) for name, value in message["headers"]]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class OwnOriginOnly:
    """Keeps other sites' scripts out: their websockets are refused, and their requests get no leave to be read.

    Streamlit would do the same in the end, and before that ask an outside service for this machine's own address.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if it is from a page of this server, or of one that the configuration allows."""
        headers = MutableHeaders(scope=scope) if scope["type"] in ("http", "websocket") else MutableHeaders()
        origin = headers.get("origin", "")
        if not origin or urlsplit(origin).netloc == headers.get("host") or is_allowed(origin):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            del headers["origin"]
            await self.app(scope, receive, send)


class FewUploads:
    """Refuses a session's uploads beyond what anybody needs: Streamlit keeps each in memory until the session is over.

    What it counts is a session's, whose name only its own browser knows; how many sessions one address may open is the
    proxy's to limit.
    """

    MOST, WITHIN_S, SESSIONS = 20, 600.0, 10_000

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.times: dict[str, deque[float]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, unless it is one upload too many."""
        _, found, rest = scope.get("path", "").partition("/_stcore/upload_file/")
        if found and scope.get("method") == "PUT" and self.is_too_many(rest.partition("/")[0], monotonic()):
            await Response(status_code=429)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def is_too_many(self, session: str, now: float) -> bool:
        """Whether the session has uploaded so much of late; counts this one otherwise."""
        for known, times in list(self.times.items()):
            while times and times[0] < now - self.WITHIN_S:
                times.popleft()
            if not times:
                del self.times[known]
        if len(self.times) >= self.SESSIONS:  # names that somebody makes up
            return True
        times = self.times.setdefault(session, deque())
        if len(times) >= self.MOST:
            return True
        times.append(now)
        return False


class WithoutQueries(logging.Filter):
    """Keeps links, which may carry a private config, out of uvicorn's log of requests, however it is started."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Cut the query from what is logged; log it."""
        if isinstance(record.args, tuple):
            record.args = tuple(arg.partition("?")[0] if isinstance(arg, str) else arg for arg in record.args)
        return True


logging.getLogger("uvicorn.access").addFilter(WithoutQueries())


def is_allowed(origin: str) -> bool:
    """Whether the operator of the server named it."""
    named = st.get_option("server.corsAllowedOrigins") or []
    return not st.get_option("server.enableCORS") or origin in named


async def healthz(_: Request) -> JSONResponse:
    """Whether the server answers, and which version it is."""
    return JSONResponse({"status": "ok", "kvviz": build.version()})


# pandas first, as in kvviz/ui/main.py: Plotly must not find it half loaded.
FIRST_NEEDED = (
    *("pandas", "plotly.tools", "plotly.graph_objs._figure"),
    *(f"kvviz.ui.{name}" for name in ("collector", "operator", "pages", "controls", "editor", "answer")),
)


def ahead() -> None:
    """Import what the first page needs, and tell the operator which settings are not understood."""
    for name in FIRST_NEEDED:
        import_module(name)
    import_module("kvviz.ui.operator").check_settings()


@asynccontextmanager
async def imports_begun(_: st.App) -> AsyncIterator[None]:
    """The server answers while what the first visitor's page needs is imported beside it."""
    Thread(target=ahead, name="imports", daemon=True).start()
    yield


app = st.App(
    Path(__file__).parent / "kvviz" / "ui" / "main.py",
    lifespan=imports_begun,
    routes=[Route("/healthz", healthz)],
    middleware=[Middleware(SecurityHeaders), Middleware(OwnOriginOnly), Middleware(FewUploads)],
)
