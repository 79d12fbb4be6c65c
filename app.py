"""The entry: ``streamlit run app.py`` (or ``uvicorn app:app``). The pages themselves start in kvviz/ui/main.py."""

import os
from pathlib import Path

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import kvviz

# Read once, when the Hub client is first imported.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    # A link carries the whole scenario, perhaps a private config: other sites must not see it as their referrer.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    # No X-Frame-Options on purpose: charts are embedded in other people's pages.
}


class SecurityHeaders:
    """Adds the headers above to every response, Streamlit's own included."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; complete the headers of its response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


async def healthz(_: Request) -> JSONResponse:
    """Whether the server answers, and which version it is."""
    return JSONResponse({"status": "ok", "kvviz": kvviz.__version__})


app = st.App(
    Path(__file__).parent / "kvviz" / "ui" / "main.py",
    routes=[Route("/healthz", healthz)],
    middleware=[Middleware(SecurityHeaders)],
)
