"""Whole scenarios side by side: a matrix of models and GPUs, one scenario under every engine, and why two differ."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal, TypeGuard, assert_never

from kvviz import catalogue
from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    CompressedAttention,
    Content,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    Layer,
    LayerCache,
    RecurrentState,
    SlidingWindow,
    content,
    growing_bytes_per_token,
    limit_of,
    record_bytes,
    state_bytes,
    token_bytes,
)
from kvviz.core.dtypes import KV_DTYPES, KvDtype
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.kv_dtype import resolve_kv_dtype
from kvviz.devices import device
from kvviz.planning import full_dtype, planned, usable_dtypes
from kvviz.scenario import DEFAULTS, ENGINES, Scenario, under_engine
from kvviz.sizing import Fits, Sizing
from kvviz.text import Message, Text
from kvviz.text import compare as text
from kvviz.weights import parameters

Ask = Callable[[Scenario], Sizing]
"""Answers a scenario. Raises KvvizError where it cannot be answered."""
Outcome = Fits | Literal["weights", "unknown-weights", "no-plan", "no-gpu", "split", "kv-type", "impossible"]

MODELS: Final = (
    "meta-llama/Llama-3.1-8B-Instruct",
    "meta-llama/Llama-3.1-70B-Instruct",
    "google/gemma-3-27b-it",
    "openai/gpt-oss-120b",
    "Qwen/Qwen3-Next-80B-A3B-Instruct",
    "deepseek-ai/DeepSeek-R1",
)
"""Rows to begin with, one of each kind: small, large, windows, windows of 128, states, latents."""
GPUS: Final = ("h100-80gb", "h200")
"""Columns to begin with."""
COUNTS: Final = (1, 2, 4, 8)
MOST_MODELS, MOST_GPUS, MOST_COUNTS = 12, 4, 5
_OF_ONE_MODEL: Final = ("weights_gib", "activations_gib", "graphs_gib", "non_torch_gib")
_OF_ONE_SPLIT: Final = ("tp", "pp", "dp", "dcp", "attention_dp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One of the scenarios side by side."""

    number: int
    """1, 2, …: what chart, table and buttons call it."""
    scenario: Scenario
    sizing: Sizing | None
    problem: KvvizError | None
    """Why there is no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One model on so many GPUs of one kind."""

    scenario: Scenario
    outcome: Outcome
    fit: int | None
    """Requests at once, as the engine counts; None where there is no such number."""
    why: Message | None
    """Why there is none."""
    run: int | None = None
    """Requests that run at once by default, where memory has room for more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One reason why a request of one scenario takes more than a request of another."""

    what: Text
    one: Fraction
    other: Fraction
    unit: Literal["count", "bytes", "share"]

    @property
    def ratio(self) -> Fraction:
        return self.one / self.other


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Why a request takes ``ratio`` times as much in one scenario as in another: the product of the factors."""

    one_bytes: Fraction
    other_bytes: Fraction
    reserved: bool
    """True: what the engines count on the fullest GPU; False: content, where one of them has no plan."""
    factors: tuple[Factor, ...]

    @property
    def ratio(self) -> Fraction:
        return self.one_bytes / self.other_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One bundled model: how large it is, and what one request's cache holds."""

    model: str
    kind: Literal["full", "windows", "latent", "states", "fixed"]
    parameters: int
    content: Content
    dtype: str


def compare(scenarios: Sequence[Scenario], ask: Ask) -> tuple[Compared, ...]:
    """Each with its answer, or with what is wrong with it."""
    made = []
    for number, scenario in enumerate(scenarios, start=1):
        sizing = problem = None
        try:
            sizing = ask(scenario)
        except KvvizError as error:
            problem = error
        answered = sizing.scenario if sizing else scenario
        made.append(Compared(number=number, scenario=answered, sizing=sizing, problem=problem))
    return tuple(made)


def under_engines(scenario: Scenario) -> tuple[Scenario, ...]:
    """The same question to every engine; settings that one has not got go back to their defaults there."""
    return (scenario, *(under_engine(scenario, name) for name in ENGINES if name != scenario.engine))


def as_types(sizing: Sizing) -> tuple[Scenario, ...]:
    """The same with a cache that nothing is quantised of, and with one of about half the size, as far as there are."""
    scenario, architecture = sizing.scenario, sizing.architecture
    small = (
        name
        for name in usable_dtypes(architecture, scenario)
        if KV_DTYPES[name].quantised and 1 <= KV_DTYPES[name].value_bytes < 2
    )
    names = dict.fromkeys((full_dtype(architecture, scenario), *list(small)[:1]))
    return tuple(scenario.with_changes(kv_dtype=name) for name in names)


def matrix(
    base: Scenario,
    answer: Callable[[Scenario, str, str, int], Cell],
    *,
    models: Iterable[str],
    gpus: Iterable[str],
    counts: Iterable[int],
) -> tuple[tuple[Cell, ...], ...]:
    """A row a model, ``base``'s own question on every kind and number of GPUs; at most so many as ``MOST_*`` say.

    ``answer``: ``cell``, or what remembers its answers.
    """
    columns = [(gpu, count) for gpu in list(gpus)[:MOST_GPUS] for count in list(counts)[:MOST_COUNTS]]
    rows = list(dict.fromkeys(models))[:MOST_MODELS]
    return tuple(tuple(answer(base, model, gpu, count) for gpu, count in columns) for model in rows)


def cell(base: Scenario, model: str, gpu: str, gpus: int, *, ask: Ask) -> Cell:
    """``base``'s question to another model on other GPUs.

    Settings that are about another model or another number of GPUs go back to their defaults.
    """
    changes: dict[str, str | int | float | None] = {"model": model, "gpu": gpu, "gpus": gpus}
    if model != base.model:
        changes |= {name: DEFAULTS[name] for name in _OF_ONE_MODEL}
    if (model, gpus) != (base.model, base.gpus):
        changes |= {name: DEFAULTS[name] for name in _OF_ONE_SPLIT}
    scenario = base.with_changes(**changes)
    outcome: Outcome
    try:
        sizing = ask(scenario)
    except KvvizError as error:
        field = error.field if isinstance(error, ScenarioError) else ""
        outcome = "split" if field in ("gpus", *_OF_ONE_SPLIT) else "kv-type" if field == "kv_dtype" else "impossible"
        return Cell(scenario=scenario, outcome=outcome, fit=None, why=error.message)
    outcome, why = _outcome(sizing)
    fit = sizing.max_sequences_counted if outcome in ("yes", "held-only", "no") else None
    run = sizing.max_sequences_run
    run = run if run is not None and fit is not None and fit > run else None
    return Cell(scenario=sizing.scenario, outcome=outcome, fit=fit, why=why, run=run)


def _outcome(sizing: Sizing) -> tuple[Outcome, Message | None]:
    if sizing.plan is None:
        return "no-plan", sizing.plan_missing.message if sizing.plan_missing else None
    if sizing.budget is None:
        return ("unknown-weights" if sizing.scenario.gpu else "no-gpu"), None
    if sizing.budget.available_bytes <= 0:
        return "weights", None
    return sizing.fits or "no", None


def difference(one: Sizing, other: Sizing) -> Difference | None:
    """Why one request takes more in ``one`` than in ``other``; None where one of them keeps nothing.

    The product of the factors is the ratio, to the last digit: each factor is a quotient of two steps of a chain that
    leads from 1 to the bytes of a request.
    """
    reserved = one.request_bytes is not None and other.request_bytes is not None
    both = _parts(one), _parts(other)
    if not all(part.content_bytes for part in both):
        return None
    first, second = both
    factors = []

    def factor(what: Text, unit: Literal["count", "bytes", "share"], step: Callable[[_Parts], Fraction | int]) -> None:
        factors.append(Factor(what=what, unit=unit, one=Fraction(step(first)), other=Fraction(step(second))))

    if first.kept_bytes and second.kept_bytes:
        factor(text.LAYERS_STORING, "count", lambda p: p.layers)
        if first.heads and second.heads:
            factor(text.KV_HEADS, "count", lambda p: p.heads)
            factor(text.HEAD_SIZE, "count", lambda p: p.values_each / p.heads)
        else:
            factor(text.VALUES, "count", lambda p: p.values_each)
        factor(text.VALUE_BYTES, "bytes", lambda p: p.token_bytes / p.layers / p.values_each)
        factor(text.CONTEXT, "count", lambda p: p.tokens)
        factor(text.KEPT, "share", lambda p: p.kept_bytes / p.token_bytes / p.tokens)
        factor(text.FIXED, "share", lambda p: p.content_bytes / p.kept_bytes)
    else:  # a model of states alone keeps nothing by the token
        factor(text.LAYERS_ANY, "count", lambda p: p.layers_any)
        factor(text.BYTES_IN_LAYER, "bytes", lambda p: p.content_bytes / p.layers_any)
    one_bytes, other_bytes = first.content_bytes, second.content_bytes
    if one.request_bytes is not None and other.request_bytes is not None:
        alone = _alone_bytes(one), _alone_bytes(other)
        if all(alone):
            factor(text.ENGINE_ADDS, "share", lambda p: Fraction(alone[p is second] or 0) / p.content_bytes)
            counted = one.request_bytes, other.request_bytes
            factor(text.GPU_SHARE, "share", lambda p: Fraction(counted[p is second], alone[p is second] or 1))
        else:
            counted = one.request_bytes, other.request_bytes
            factor(text.ENGINE_AND_SPLIT, "share", lambda p: counted[p is second] / p.content_bytes)
        one_bytes, other_bytes = Fraction(one.request_bytes), Fraction(other.request_bytes)
        if not one_bytes or not other_bytes:
            return None
    return Difference(one_bytes=one_bytes, other_bytes=other_bytes, reserved=reserved, factors=tuple(factors))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What one request's content is the product of. Averages are exact fractions."""

    tokens: int
    layers: int
    """That keep something of every token or of the last ones."""
    layers_any: int
    """That keep anything."""
    heads: int
    """KV heads of each of those layers; 0 where they differ, or where latents or records are kept instead."""
    values_each: Fraction
    """Of a token in such a layer, on average."""
    token_bytes: Fraction
    """Of a token that every layer keeps."""
    kept_bytes: Fraction
    """Of all tokens that each layer really keeps."""
    content_bytes: Fraction
    """With states and an encoder's output."""


def _parts(sizing: Sizing) -> _Parts:
    dtype, tokens = sizing.kv_dtype, sizing.tokens
    layers = Counter(sizing.architecture.layers)
    storing: Counter[Layer] = Counter()
    for layer, count in layers.items():
        if kept := tuple(cache for cache in layer if _values(cache)):
            storing[kept] += count
    caches = Counter[LayerCache]()
    for layer, count in storing.items():
        for cache in layer:
            caches[cache] += count
    shapes = {(c.kv_heads, c.key_dim, c.value_dim) if _has_heads(c) else None for c in caches}
    one_shape = len(shapes) == 1 and all(len(layer) == 1 for layer in storing)
    heads = next((c.kv_heads for c in caches if _has_heads(c)), 0) if one_shape else 0
    each, values = storing.total(), sum(_values(cache) * count for cache, count in caches.items())
    return _Parts(
        tokens=tokens,
        layers=each,
        layers_any=sum(count for layer, count in layers.items() if content((layer,), dtype).bytes_at(tokens)),
        heads=heads,
        values_each=Fraction(values, each or 1),
        token_bytes=sum((_token_bytes(cache, dtype) * count for cache, count in caches.items()), Fraction(0)),
        kept_bytes=sum((_kept_bytes(cache, dtype, tokens) * count for cache, count in caches.items()), Fraction(0)),
        content_bytes=sizing.content.bytes_at(tokens),
    )


def _has_heads(cache: LayerCache) -> TypeGuard[FullAttention | SlidingWindow | ChunkedAttention]:
    return isinstance(cache, FullAttention | SlidingWindow | ChunkedAttention)


def _values(cache: LayerCache) -> int:
    """Values of one token; 0 where nothing is kept by the token."""
    match cache:
        case FullAttention() | SlidingWindow() | ChunkedAttention():
            return cache.kv_heads * (cache.key_dim + cache.value_dim)
        case LatentAttention():
            return cache.latent_dim + cache.rope_dim
        case IndexerKeys():
            return cache.key_dim
        case CompressedAttention():
            return cache.head_dim + cache.index_key_dim
        case RecurrentState() | CrossAttention():
            return 0
        case _:
            assert_never(cache)


def _token_bytes(cache: LayerCache, dtype: KvDtype) -> Fraction:
    if isinstance(cache, CompressedAttention):  # of one record
        return sum(record_bytes(cache, dtype), Fraction(0))
    return token_bytes(cache, dtype)


def _kept_bytes(cache: LayerCache, dtype: KvDtype, tokens: int) -> Fraction:
    limit = limit_of(cache, dtype)
    limited = limit.bytes_per_token * min(tokens, limit.limit_tokens) if limit else Fraction(0)
    return growing_bytes_per_token(cache, dtype) * tokens + limited


def _alone_bytes(sizing: Sizing) -> int | None:
    """What the engine would count a request as on one GPU with the whole model; None where it has no such plan."""
    scenario = sizing.scenario
    if sizing.plan is not None and sizing.plan.gpus == 1:
        return sizing.request_bytes
    try:
        one = scenario.with_changes(gpus=1, **{name: DEFAULTS[name] for name in _OF_ONE_SPLIT})
        plan = planned(sizing.architecture, one, device(scenario.gpu) if scenario.gpu else None).plan
    except ScenarioError:
        return None
    return plan.request_bytes(sizing.tokens) if plan else None


@lru_cache(maxsize=1)
def every_model() -> tuple[Point, ...]:
    """All bundled models whose parameters are known, each in its own cache type."""
    found = []
    for model in catalogue.models():
        count = parameters(model)
        architecture = catalogue.load(model).architecture
        dtype, _ = resolve_kv_dtype(architecture, "auto")
        whole = content(architecture.layers, dtype)
        if count is not None and whole.bytes_at(1):
            kind = _kind(architecture)
            found.append(Point(model=model, kind=kind, parameters=count, content=whole, dtype=dtype.name))
    return tuple(found)


def _kind(architecture: Architecture) -> Literal["full", "windows", "latent", "states", "fixed"]:
    caches = [cache for layer in architecture.layers for cache in layer]
    states = any(state_bytes(cache) for cache in caches if isinstance(cache, RecurrentState))
    if states:
        return "states" if any(map(_values, caches)) else "fixed"
    if any(isinstance(cache, LatentAttention | CompressedAttention) for cache in caches):
        return "latent"
    windows = any(isinstance(c, ChunkedAttention) or (isinstance(c, SlidingWindow) and c.limits) for c in caches)
    return "windows" if windows else "full"
