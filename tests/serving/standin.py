"""A stand-in for inference servers on this machine: real kinds of answers, and ways in which they can fail.

    python -m tests.serving.standin 8124      then start the app with the KVVIZ_ENGINES that it prints

The first part of a path chooses what answers: ``/vllm/metrics``, ``/slow/metrics``.
"""

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

METRICS = Path(__file__).resolve().parents[1] / "data" / "metrics"
SLOW_S = 6.0


def metrics(name: str) -> str:
    """A metric text by its file's name."""
    return (METRICS / f"{name}.txt").read_text(encoding="utf-8")


def _models(served: str, root: str, length: int | None) -> dict[str, object]:
    return {"object": "list", "data": [{"id": served, "root": root, "parent": None, "max_model_len": length}]}


SGLANG_INFO = {
    "model_path": "Qwen/Qwen3-32B-FP8",
    "version": "0.5.23",
    "kv_cache_dtype": "auto",
    "mem_fraction_static": 0.88,
    "page_size": 1,
    "tp_size": 2,
    "pp_size": 1,
    "dp_size": 2,
    "max_total_num_tokens": 120_000,
    "internal_states": [{"memory_usage": {"kvcache": 14.65, "token_capacity": 120_000}}] * 2,
}
PROPS = {
    "default_generation_settings": {"n_ctx": 2_048},
    "total_slots": 1,
    "model_path": "/models/SmolLM2-135M-Instruct-Q4_K_M.gguf",
    "build_info": "b5000-abcdef12",
}
SLOTS = [{"id": 0, "n_ctx": 2_048, "is_processing": True}]


@dataclass
class StandIn:
    """A running stand-in."""

    url: str
    asked: list[str] = field(default_factory=list)
    """Paths, in order."""
    factor: float = 1.0
    """What vLLM's counters are multiplied with; less than before: it was restarted."""
    broken: bool = False
    """vLLM answers with 503."""
    texts: dict[str, str] = field(default_factory=dict)
    """Metrics of further engines, by name."""

    def engines(self, *names: str) -> str:
        """``KVVIZ_ENGINES`` for some of them."""
        return ",".join(f"{name}={self.url}/{name}" for name in names)


def _answer(of: StandIn, engine: str, path: str) -> tuple[int, str, bytes] | None:
    """Status, type and body; None: nothing that is written here."""
    text, as_json = "text/plain; version=0.0.4", "application/json"

    def ok(body: object) -> tuple[int, str, bytes]:
        return (200, text, body.encode()) if isinstance(body, str) else (200, as_json, json.dumps(body).encode())

    if path == "metrics" and engine in of.texts:
        return ok(of.texts[engine])
    match engine, path:
        case "vllm", _ if of.broken:
            return 503, text, b""
        case "vllm", "metrics":
            return ok(_scaled(metrics("vllm-0.33-dp2"), of.factor))
        case "vllm", "v1/models":
            return ok(_models("qwen3-32b", "Qwen/Qwen3-32B", 40_960))
        case "vllm", "version":
            return ok({"version": "0.33.0"})
        case "sglang", "metrics":
            return ok(metrics("sglang-0.5.23-dp2"))
        case "sglang" | "sglang-plain", "server_info":
            return ok(SGLANG_INFO)
        case "sglang" | "sglang-plain", "v1/models":
            return ok(_models("Qwen/Qwen3-32B-FP8", "Qwen/Qwen3-32B-FP8", 40_960))
        case "llama", "metrics":
            return ok(metrics("llama.cpp-before-may-2025"))
        case "llama-new", "metrics":
            return ok(metrics("llama.cpp-0c1e57098"))
        case "llama" | "llama-plain" | "llama-new", "props":
            return ok(PROPS)
        case "llama" | "llama-plain", "slots":
            return ok(SLOTS)
        case "llama-new", "slots":
            return ok([SLOTS[0] | {"id_task": 7, "n_prompt_tokens": 512}])
        case "llama-plain", "metrics":
            return 501, as_json, b'{"error": {"code": 501}}'
        case "unknown-model", "metrics":
            return ok(metrics("vllm-v0").replace("meta-llama/Llama-3.1-8B-Instruct", "our-own-model"))
        case "other", "metrics":
            return ok(metrics("other-tgi"))
        case "html", "metrics":
            return 200, "text/html", b"<!DOCTYPE html><title>Sign in</title>"
        case "broken", "metrics":
            return ok(metrics("vllm-v0").replace("} 0.25", "} a quarter"))
        case "cut", "metrics":
            return ok(metrics("vllm-v0"))
        case "huge", "metrics":
            return ok(metrics("vllm-v0") + "# more\n" * 1_000_000)
    return None


def _scaled(of: str, factor: float) -> str:
    lines = (line.rpartition(" ") for line in of.splitlines())
    return "\n".join(
        f"{name} {float(value) * factor}" if "_total{" in name and not name.startswith("#") else f"{name} {value}"
        for name, _, value in lines
    )


class _Handler(BaseHTTPRequestHandler):
    of: StandIn

    def do_GET(self) -> None:
        _, _, rest = self.path.partition("/")
        engine, _, path = rest.partition("/")
        self.of.asked.append(self.path)
        if engine == "slow":
            time.sleep(SLOW_S)
        if engine == "drip":
            self._drip()
            return
        if engine == "elsewhere":
            self.send_response(302)
            self.send_header("Location", "http://localhost:1/metrics")
            self.end_headers()
            return
        if (engine, path) == ("vllm-slash", "metrics"):
            self.send_response(307)
            self.send_header("Location", "/vllm/metrics")
            self.end_headers()
            return
        status, kind, body = _answer(self.of, engine, path) or (404, "text/plain", b"Not Found")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) + 100 * (engine == "cut")))
        self.end_headers()
        with suppress(OSError):  # who asked may have had enough
            self.wfile.write(body)

    def _drip(self) -> None:
        """Never so long without a byte that a wait for one would end."""
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):
            for _ in range(int(10 * SLOW_S)):
                self.wfile.write(b"#")
                time.sleep(0.1)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(port: int = 0) -> Iterator[StandIn]:
    """Answer until left."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    of = StandIn(url=f"http://127.0.0.1:{server.server_port}")
    handler.of = of  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield of
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    with serving(int(sys.argv[1])) as standin:
        sys.stdout.write("KVVIZ_ENGINES=" + standin.engines("vllm", "sglang", "llama", "slow") + "\n")
        while True:
            time.sleep(2)
            standin.factor += 0.01
