"""The process that runs models: JSON lines in, JSON lines out. Ends when nobody holds its input open any more.

In:  ``{"id", "run": a request, "max_tokens", "max_seconds", "threads"}``, ``{"cancel": id}``.
Out: ``{"id", "event"}`` with ``loading``, ``started``, ``sample``, ``ended`` or ``failed``, and what belongs to it.
"""

import gc
import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from typing import Any, Final

from kvviz.core.errors import KvvizError
from kvviz.live.loop import run
from kvviz.live.measure import is_out_of_memory, probe
from kvviz.live.model import Loaded, load, use_threads
from kvviz.live.request import LiveRequest, from_json
from kvviz.live.sample import Sample, Started
from kvviz.text import LANGUAGES, Message
from kvviz.text import live as text

QUIET: Final = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_DISABLE": "1",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
}
"""Environment in which the libraries keep to themselves."""

Say = Callable[[dict[str, Any]], None]


class Models:
    """The model that was run last stays loaded: most runs are of the same one."""

    def __init__(self) -> None:
        self._key: tuple[str, str, str] | None = None
        self._loaded: Loaded | None = None

    def get(self, request: LiveRequest) -> Loaded:
        """The model of a request, loaded if it is another one than last time."""
        key = (request.model, request.device, request.dtype)
        if self._loaded is None or key != self._key:
            self.drop()
            self._loaded, self._key = load(request.model, device=request.device, dtype=request.dtype), key
        return self._loaded

    def drop(self) -> None:
        """Give its memory back."""
        held, self._loaded = self._loaded, None
        if held is not None:
            device = held.device
            del held
            gc.collect()
            probe(device).give_back()


def attend(
    order: dict[str, Any], models: Models, say: Say, cancelled: Callable[[], bool], loop: Callable[..., Any] = run
) -> None:
    """One run from its order to its last event. Raises nothing: whatever happens is told."""
    tokens = 0
    failed: dict[str, Any] | None = None
    try:
        use_threads(order["threads"])
        request = from_json(order["run"])
        say({"event": "loading"})
        loaded = models.get(request)
        limits = {"max_tokens": order["max_tokens"], "max_seconds": order["max_seconds"]}
        with closing(loop(loaded, request, **limits, cancelled=cancelled)) as events:
            for event in events:
                match event:
                    case Started():
                        say({"event": "started", "started": event.json()})
                    case Sample():
                        tokens = event.tokens
                        say({"event": "sample", "sample": event.json()})
                    case ended:
                        say({"event": "ended", "ended": asdict(ended)})
    except KvvizError as error:
        failed = _failure(error.message, error.code)
    except Exception as error:
        if is_out_of_memory(error):
            failed = _failure(Message(text.OUT_OF_MEMORY, {"tokens": tokens}), "out-of-memory")
        else:
            traceback.print_exc()
            failed = _failure(Message(text.BUG, {"why": type(error).__name__}), "bug")
    if failed is not None:  # out here no traceback holds a tensor any more
        everything = failed["code"] in ("out-of-memory", "bug")
        memory = _give_back(models, order["run"]["device"], everything=everything)
        say({"event": "failed", "failure": failed, "memory": memory})


def _give_back(models: Models, device: str, *, everything: bool) -> dict[str, int]:
    import torch

    if everything:
        models.drop()
    gc.collect()
    on_gpu = device != "cpu" and torch.cuda.is_available()
    probed = probe(torch.device("cuda", torch.cuda.current_device()) if on_gpu else torch.device("cpu"))
    probed.give_back()
    return probed.memory().json()


def _failure(message: Message, code: str) -> dict[str, Any]:
    return {"code": code} | {lang: message(lang) for lang in LANGUAGES}


def _orders(cancelled: set[int]) -> Iterator[dict[str, Any]]:
    """Orders as they come, read in a thread so that a cancellation reaches the run that is going on."""
    orders: queue.Queue[dict[str, Any]] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            said = json.loads(line)
            if "cancel" in said:
                cancelled.add(said["cancel"])
            else:
                orders.put(said)
        os._exit(0)  # whoever started this process is gone, or done with it

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield orders.get()


def main() -> None:
    """Attend to orders until the input ends."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    cancelled: set[int] = set()
    models = Models()
    for order in _orders(cancelled):
        number: int = order["id"]

        def say(event: dict[str, Any], number: int = number) -> None:
            answers.write(json.dumps({"id": number} | event) + "\n")
            answers.flush()

        attend(order, models, say, lambda number=number: number in cancelled)  # type: ignore[misc]


if __name__ == "__main__":
    main()
