"""A stand-in for the Hugging Face Hub on this machine: real configs, and every way in which the real one can fail.

    python -m tests.hub.standin 8123      then start the app with HF_ENDPOINT=http://127.0.0.1:8123

What it answers is chosen by name: the models in MODELS are fine, those of the owner ``fault`` fail as their names say,
and so does a search for ``fault-…``.
"""

import gzip
import hashlib
import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

CONFIGS = Path(__file__).resolve().parents[2] / "kvviz" / "data" / "configs"
# No secrets: only this stand-in knows them.
GOOD_TOKEN = "hf_aVisitorWhoAcceptedTheTerms"  # noqa: S105
OTHER_TOKEN = "hf_aVisitorWhoDidNot"  # noqa: S105
HEADER_BYTES = 35_560
"""What a safetensors file holds beside its tensors."""


def real_config(model: str) -> bytes:
    """A published config.json, from the bundled ones."""
    return (CONFIGS / f"{model.replace('/', '--')}.json").read_bytes()


def commit_of(model: str) -> str:
    """The commit that the model's main branch is at."""
    return hashlib.sha1(model.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Model:
    """A repository."""

    config: bytes | None
    files: Mapping[str, int] = field(default_factory=dict)
    """Name -> bytes."""
    tensors: Mapping[str, int] = field(default_factory=dict)
    """Type -> number, as the Hub counts them."""
    downloads: int = 1000
    gated: str | bool = False
    tags: tuple[str, ...] = ("transformers", "safetensors")


SMALL = "Qwen/Qwen3-0.6B"
FILES: Mapping[str, int] = {"model.safetensors": 2 * 751_632_384 + HEADER_BYTES}
TENSORS: Mapping[str, int] = {"BF16": 751_632_384}
MODELS: dict[str, Model] = {
    SMALL: Model(real_config(SMALL), FILES, TENSORS, 9_000_000),
    "Qwen/Qwen3-32B": Model(
        real_config("Qwen/Qwen3-32B"),
        {"model.safetensors.index.json": 60_000}
        | {f"model-{n:05}-of-00017.safetensors": 3_854_367_456 for n in range(1, 18)},
        {"BF16": 32_762_123_264},
        4_000_000,
    ),
    "google/gemma-3-27b-it": Model(
        real_config("google/gemma-3-27b-it"),
        {"model.safetensors": 2 * 27_432_406_640 + HEADER_BYTES},
        {"BF16": 27_432_406_640},
        1_500_000,
        gated="manual",
    ),
    "someone/Qwen3-0.6B-GGUF": Model(None, {"Qwen3-0.6B-Q8_0.gguf": 639_446_688}, {}, 50_000, tags=("gguf",)),
    "new-owner/renamed": Model(real_config(SMALL), FILES, TENSORS),
    "new-owner/gated": Model(real_config(SMALL), FILES, TENSORS, gated="manual"),
    "fault/private": Model(real_config(SMALL)),
    "fault/cached": Model(real_config(SMALL), FILES, TENSORS),
    "fault/no-config": Model(None),
    "fault/info-error": Model(real_config(SMALL)),
    "fault/info-slow": Model(real_config(SMALL)),
    "fault/info-html": Model(real_config(SMALL)),
    "fault/no-commit": Model(real_config(SMALL)),
}


class Handler(BaseHTTPRequestHandler):
    """Answers as the Hub does."""

    protocol_version = "HTTP/1.1"
    server: "StandIn"

    def log_message(self, format: str, *args: object) -> None:
        """Tests read ``StandIn.requests``."""

    def answer(self, status: int, body: bytes = b"", *, kind: str = "application/json", **headers: str) -> None:
        """One whole answer; ``X_Repo_Commit=…`` is the header X-Repo-Commit."""
        self.begin(status, {"Content-Type": kind, "Content-Length": str(len(body)), **named(headers)})
        if self.command != "HEAD":
            self.wfile.write(body)

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Status and headers; the cookie is one that must not come back."""
        self.send_response(status)
        self.send_header("Set-Cookie", "visitor=somebody; Path=/")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def error(self, status: int, code: str = "", message: str = "", **headers: str) -> None:
        """A failure as the Hub describes it."""
        described = {name: value for name, value in (("X-Error-Code", code), ("X-Error-Message", message)) if value}
        self.answer(status, json.dumps({"error": message or code}).encode(), **headers, **described)

    def do_HEAD(self) -> None:
        """Like GET, without the body."""
        self.do_GET()

    def do_GET(self) -> None:
        """Route by path."""
        self.server.requests.append(Request(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
        try:
            self.route(urlsplit(self.path))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def route(self, url: SplitResult) -> None:
        """``/api/models``, ``/api/models/{id}/revision/{rev}`` or ``/{id}/resolve/{rev}/config.json``."""
        parts = url.path.strip("/").split("/")
        if url.path == "/api/models":
            return self.found(parse_qs(url.query))
        if parts[:3] == ["api", "resolve-cache", "models"] and len(parts) == 7:
            return self.config("/".join(parts[3:5]), MODELS["/".join(parts[3:5])])
        if parts[:2] == ["api", "models"] and len(parts) in (4, 6):
            return self.model("/".join(parts[2:4]), "info", unquote(parts[5]) if len(parts) == 6 else "main")
        if len(parts) == 5 and parts[2] == "resolve" and parts[4] == "config.json":
            return self.model("/".join(parts[:2]), "config", unquote(parts[3]))
        return self.error(404, "", "no such page")

    def model(self, name: str, what: str, revision: str) -> None:
        """config.json or the description of one model, unless its name says otherwise."""
        owner, _, fault = name.partition("/")
        if name == "old-owner/old-name":
            return self.answer(307, Location=self.path.replace(name, "new-owner/renamed"))
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and token not in (GOOD_TOKEN, OTHER_TOKEN):
            return self.error(401, "", "Invalid credentials in Authorization header")
        if fault == "private" and token != GOOD_TOKEN:
            return self.error(401, "RepoNotFound", "Repository not found")
        if name in MODELS and MODELS[name].gated and what == "config" and token != GOOD_TOKEN:
            return self.error(403 if token else 401, "GatedRepo", "Access to this model is restricted.")
        if owner == "fault" and (what == "config" or fault.startswith("info")) and self.fault(fault, what):
            return None
        if name not in MODELS:  # strangers are not told whether it exists
            return self.error(404 if token else 401, "RepoNotFound", "Repository not found")
        model = MODELS[name]
        if revision not in ("main", "v1.0", "refs/pr/1", commit_of(name)):
            return self.error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        if what == "info":
            return self.answer(200, json.dumps(description(name, model)).encode())
        if fault == "cached":
            target = f"/api/resolve-cache/models/{name}/{commit_of(name)}/config.json?etag=1"
            return self.answer(307, Location=target, X_Repo_Commit=commit_of(name))
        return self.config(name, model)

    def config(self, name: str, model: Model) -> None:
        """config.json with the headers the Hub adds."""
        headers = {} if name == "fault/no-commit" else {"X_Repo_Commit": commit_of(name)}
        if model.config is None:
            return self.error(404, "EntryNotFound", "Entry not found", **headers)
        etag = hashlib.sha1(model.config, usedforsecurity=False).hexdigest()
        return self.answer(200, model.config, kind="text/plain; charset=utf-8", ETag=f'"{etag}"', **headers)

    def found(self, query: Mapping[str, list[str]]) -> None:
        """Search: names that hold every word, the most downloaded first."""
        wanted = query.get("search", [""])[0].lower()
        if wanted.startswith("fault-") and self.fault(wanted.removeprefix("fault-"), "search"):
            return
        hits = [
            name for name in MODELS if not name.startswith("fault/") and all(w in name.lower() for w in wanted.split())
        ]
        hits.sort(key=lambda name: -MODELS[name].downloads)
        rows = [
            {"id": name, "downloads": MODELS[name].downloads, "gated": MODELS[name].gated, "tags": MODELS[name].tags}
            for name in hits[: int(query.get("limit", ["10"])[0])]
        ]
        self.answer(200, json.dumps(rows).encode())

    def fault(self, name: str, what: str) -> bool:
        """Fail as ``name`` says; False where it is no fault (here)."""
        if name.startswith("info-"):
            if what != "info":
                return False
            name = name.removeprefix("info-")
        small = real_config(SMALL)
        match name:
            case "missing":
                self.error(404, "RepoNotFound", "Repository not found")
            case "forbidden":
                self.error(403, "", "You do not have permission")
            case "disabled":
                self.error(403, "", "Access to this resource is disabled.")
            case "teapot":
                self.answer(418, b'["not", "an object"]')
            case "rate":
                self.error(429, "", "Slow down", RateLimit='"api";r=0;t=37', RateLimit_Policy='"w";"api";q=500;w=300')
            case "rate-seconds":
                self.error(429, Retry_After="21")
            case "rate-date":
                self.error(429, Retry_After=format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True))
            case "rate-nonsense":
                self.error(429, RateLimit=f'"api";r=0;t={"9" * 5000}')
            case "rate-bare":
                self.error(429)
            case "error":
                self.error(500, "", "boom")
            case "gateway":
                self.answer(502, b"<html>Bad gateway</html>", kind="text/html")
            case "slow":
                self.server.wait()
            case "stalled":
                self.begin(200, {"Content-Type": "application/json", "Content-Length": str(len(small))})
                self.wfile.write(small[:20])
                self.server.wait()
            case "dripping":  # a byte now and then: no single read is slow
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                for _ in range(200):
                    self.wfile.write(b".")
                    time.sleep(0.05)
            case "cut":
                self.begin(200, {"Content-Type": "application/json", "Content-Length": str(len(small))})
                self.wfile.write(small[:20])
                self.close_connection = True
            case "huge":
                self.begin(200, {"Content-Type": "application/json", "Content-Length": str(6 << 20)})
                self.wfile.write(b" " * 1000)
                self.close_connection = True
            case "huge-unsaid":
                self.begin(200, {"Content-Type": "application/json", "Connection": "close"})
                self.close_connection = True
                for _ in range(400):
                    self.wfile.write(b" " * 65_536)
                    self.server.sent_bytes += 65_536
            case "bomb":
                packed = gzip.compress(b" " * (32 << 20))
                self.answer(200, packed, Content_Encoding="gzip")
            case "html":
                self.answer(200, b"<html>Sign in to this network</html>", kind="text/html; charset=utf-8")
            case "html-unsaid":
                self.answer(200, b"\n<!doctype html><title>Sign in</title>", kind="application/octet-stream")
            case "not-json":
                self.answer(200, b"{not json")
            case "not-an-object":
                self.answer(200, b'"a string"')
            case "loop":
                self.answer(302, Location=self.path)
            case "away":
                self.answer(302, Location=f"http://localhost:{self.server.server_port}/elsewhere")
            case "nowhere":
                self.answer(302, Location="http://[bad/")
            case _:
                return False
        return True


@dataclass(frozen=True)
class Request:
    """One that arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in small letters."""


class StandIn(ThreadingHTTPServer):
    """The server. ``requests`` is what arrived, in order."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.requests: list[Request] = []
        self.sent_bytes = 0
        self._closing = threading.Event()

    @property
    def url(self) -> str:
        """For HF_ENDPOINT."""
        return f"http://127.0.0.1:{self.server_port}"

    def wait(self) -> None:
        """Answer nothing for as long as anybody waits."""
        self._closing.wait(30)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what some tests are about."""

    def stop(self) -> None:
        """Let those who wait go, and close."""
        self._closing.set()
        self.shutdown()
        self.server_close()


@contextmanager
def stand_in(port: int = 0) -> Iterator[StandIn]:
    """A running stand-in."""
    hub = StandIn(port)
    thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.stop()
        thread.join()


def named(headers: Mapping[str, str]) -> dict[str, str]:
    """Header names as keyword arguments can spell them."""
    return {name.replace("_", "-"): value for name, value in headers.items()}


def description(name: str, model: Model) -> dict[str, object]:
    """What ``/api/models/{id}?blobs=true`` says."""
    files = {"README.md": 100, **({"config.json": len(model.config)} if model.config else {}), **model.files}
    return {
        "id": name,
        "sha": commit_of(name),
        "private": False,
        "gated": model.gated,
        "downloads": model.downloads,
        "tags": model.tags,
        "siblings": [{"rfilename": file, "size": size} for file, size in files.items()],
        **(
            {"safetensors": {"parameters": model.tensors, "total": sum(model.tensors.values())}}
            if model.tensors
            else {}
        ),
    }


if __name__ == "__main__":
    with stand_in(int(sys.argv[1]) if len(sys.argv) > 1 else 0) as running:
        print(running.url, flush=True)  # noqa: T201 - how the one who started it learns the port
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            pass
