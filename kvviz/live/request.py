"""What a run is asked for, held to what the operator allows."""

import re
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from kvviz.core.errors import ScenarioError
from kvviz.live.settings import ANY, DEVICES, Settings, one_of, whole_number
from kvviz.scenario import shown as one_line
from kvviz.text import Message
from kvviz.text import live as text

CacheKind = Literal["dynamic", "static", "paged", "fp8", "int4", "int2", "none"]
"""``DynamicCache``; ``StaticCache`` of the longest length; the pool of continuous batching; ``QuantizedCache`` of three
kinds; ``use_cache=False``."""
CACHES: Final[tuple[CacheKind, ...]] = ("dynamic", "static", "paged", "fp8", "int4", "int2", "none")
RESERVING: Final = frozenset({"static", "paged"})
"""Kinds that are made for a length."""
DTYPES: Final = ("bf16", "fp16", "fp32")
DEFAULT_MODEL: Final = "HuggingFaceTB/SmolLM2-135M-Instruct"
"""Small enough for a CPU, and its config is bundled: without a network it runs with random weights."""
PROMPT: Final = "Write a short story about a librarian who never forgets a book."
PROMPT_CHARACTERS: Final = 20_000
_ID: Final = re.compile(r"\w[\w.-]{0,95}/\w[\w.-]{0,95}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRequest:
    """One run. Values are checked by ``checked``, whoever made it."""

    model: str = ""
    """A Hub id, or a path (``./folder``, ``/folder/model.gguf``); empty: the operator's model, else a small default."""
    cache: CacheKind = "dynamic"
    dtype: str = "bf16"
    """Of weights and cache: ``bf16``, ``fp16``, ``fp32``."""
    device: str = "auto"
    batch: int = 1
    """Sequences at once, all of the same prompt."""
    prompt: str = PROMPT
    prompt_tokens: int = 0
    """The prompt is repeated or cut to so many tokens; 0: as it is."""
    new_tokens: int = 300
    """Tokens to generate. A cache holds prompt + new - 1 at the end: the last one is never fed back."""
    reserve_tokens: int = 0
    """Length that a static cache or a paged pool is made for; 0: that of the run."""

    def json(self) -> dict[str, Any]:
        """As JSON carries it."""
        return asdict(self)


def from_json(values: dict[str, Any]) -> LiveRequest:
    """The request that ``json`` wrote."""
    return LiveRequest(**values)


def checked(request: LiveRequest, allowed: Settings, *, visitor: bool = True) -> LiveRequest:
    """The request with model and device filled in. Raises ScenarioError for what is out of bounds.

    A visitor may only choose among the operator's models; a person at the command line is the operator.
    """
    one_of("cache", request.cache, CACHES)
    one_of("dtype", request.dtype, DTYPES)
    one_of("device", request.device, DEVICES)
    whole_number("batch", request.batch, 1, allowed.max_batch)
    whole_number("tokens", request.new_tokens, 1, allowed.max_tokens - 1)
    whole_number("prompt_tokens", request.prompt_tokens, 0, allowed.max_tokens - 1)
    whole_number("reserve_tokens", request.reserve_tokens, 0, allowed.max_tokens)
    if request.reserve_tokens and request.cache not in RESERVING:
        values = {"field": "reserve_tokens", "cache": request.cache}
        raise ScenarioError(Message(text.NOTHING_RESERVED, values), field="reserve_tokens")
    check_length(request.prompt_tokens + request.new_tokens, allowed.max_tokens)
    if len(request.prompt) > PROMPT_CHARACTERS:
        values = {"characters": f"{len(request.prompt):,}", "limit": f"{PROMPT_CHARACTERS:,}"}
        raise ScenarioError(Message(text.PROMPT_TOO_LONG, values), field="prompt")
    model = request.model or allowed.model or DEFAULT_MODEL
    if visitor:
        model = allowed_model(model, allowed)
    device = allowed.device if request.device == "auto" else request.device
    return replace(request, model=model, device=device)


def allowed_model(asked: str, allowed: Settings) -> str:
    """The model that a visitor asks for, by the name that it is shown under. Raises ScenarioError."""
    for model in choices(allowed):
        if asked in (model, shown(model)):
            return model
    if ANY in allowed.models and is_id(asked):
        return asked
    values = {"model": one_line(asked), "choices": ", ".join(shown(c) for c in choices(allowed))}
    raise ScenarioError(Message(text.NOT_ALLOWED, values), field="model")


def check_length(tokens: int, limit: int) -> None:
    """Raises ScenarioError where a sequence of prompt and answer is longer than allowed."""
    if tokens > limit:
        values = {"tokens": f"{tokens:,}", "limit": f"{limit:,}"}
        raise ScenarioError(Message(text.TOO_MANY_TOKENS, values), field="prompt_tokens")


def check_reserved(reserve_tokens: int, run_tokens: int) -> None:
    """Raises ScenarioError where a cache is to be made for less than the run has: nothing else is made instead."""
    if 0 < reserve_tokens < run_tokens:
        values = {"field": "reserve_tokens", "given": f"{reserve_tokens:,}", "needed": f"{run_tokens:,}"}
        raise ScenarioError(Message(text.RESERVED_TOO_SHORT, values), field="reserve_tokens")


def choices(allowed: Settings) -> tuple[str, ...]:
    """Models that a visitor may choose, the default first."""
    return tuple(dict.fromkeys((allowed.model or DEFAULT_MODEL, *(m for m in allowed.models if m != ANY))))


def is_id(model: str) -> bool:
    """A Hub id. Anything else is a path, and never the other way round: ``./owner/name`` says a path."""
    return bool(_ID.fullmatch(model)) and not model.endswith(".gguf")


def shown(model: str) -> str:
    """The model's name without the folders of this machine that it lies in."""
    return model if is_id(model) else model.rstrip("/").rpartition("/")[2]
