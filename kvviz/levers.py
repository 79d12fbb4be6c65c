"""What could be changed, what each change gives in bytes and requests, and what it costs; and how fast a step can be.

Every number is ``size`` of a changed scenario: nothing is scaled or guessed here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Final, Literal

from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    CompressedAttention,
    IndexerKeys,
    LatentAttention,
    Layer,
    content,
    kv_heads_of,
    with_kv_heads,
)
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import KvvizError
from kvviz.core.identity import ByIdentity
from kvviz.core.search import largest
from kvviz.core.units import format_bytes, format_count
from kvviz.devices import device, devices
from kvviz.engines import vllm
from kvviz.engines.llama_cpp import LlamaCppPlan
from kvviz.engines.sglang import SglangPlan
from kvviz.engines.tensorrt_llm import TensorRtLlmPlan
from kvviz.engines.transformers import TransformersPlan
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.planning import full_dtype, split_of, tp_sizes
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size, usable_kv_dtypes
from kvviz.text import Message, Text
from kvviz.text import levers as text

Code = Literal[
    "max-model-len",
    "batched-tokens",
    "memory-fraction",
    "tp",
    "kv-dtype",
    "weight-dtype",
    "gpus",
    "gpu",
    "context",
    "sequences",
    "kv-heads",
]
_ASK_LESS: Final = frozenset({"context", "sequences"})
MOST_FIXES: Final = 3

_BATCHED_TOKENS: Final = 2_048
"""What vLLM itself takes on smaller GPUs."""
_MEMORY_FRACTION: Final = 0.95
_WEIGHT_DTYPES: Final = ("fp8", "int4")
_GGUF_DTYPES: Final = ("q8_0", "q4_k_m")
"""What files for llama.cpp come in."""
_SAME_WEIGHTS: Final = 50
"""Weights that shrink by less than one part in this many were of the type already: published scales differ a little."""
_NOTABLY_MORE: Final = 1.05
"""The same memory differs by a few hundred MiB from one product to the next."""
_HEAD_DIVISORS: Final = (2, 8)

Weigh = Callable[[Scenario], Estimate | None]
"""The weights of a scenario's whole model; None, or a KvvizError, where nobody knows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """One change, with its answer."""

    code: Code
    label: Message
    """What is changed, and to what."""
    scenario: Scenario | None
    """The scenario with the change; None where it takes another model (``kv-heads``)."""
    sizing: Sizing
    """The answer with the change."""
    content_change_bytes: int
    """Of one request's cache in the whole model, each at its own length."""
    request_change_bytes: int
    """Of what the engine counts one request as, on one GPU."""
    more_requests: int | None
    """Requests more at once, as counted, an engine that would not start having none; None without a budget."""
    effect: Message
    cost: Message
    solves: bool
    """Whether all requests then fit, as counted."""

    @property
    def asks_less(self) -> bool:
        """Whether it is the question that changes: shorter or fewer requests."""
        return self.code in _ASK_LESS


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A lever with the words for its button."""

    lever: Lever
    label: Message
    """What it changes and how many then fit."""
    scenario: Scenario
    """What one press asks instead."""


def levers(asked: Sizing, *, weigh: Weigh) -> tuple[Lever, ...]:
    """What could be changed, cheapest first. ``weigh`` is asked once for each weight type.

    Nothing for a model that the engine does not run; without a GPU only what changes the cache itself. A change that
    cannot be run is left out.
    """
    return tuple(in_turn(asked, weigh=weigh))


def in_turn(asked: Sizing, *, weigh: Weigh) -> Iterator[Lever]:
    """The same, each worked out when its turn comes."""
    if asked.plan is None:
        return
    bench = _Bench(asked, weigh)
    for find in _FINDS.values():
        yield from find(bench)


def fixes(asked: Sizing, of: Iterable[Lever]) -> tuple[Fix, ...]:
    """Up to three levers that solve the need, the cheapest of each kind; where none does, those that come nearest.

    Nothing where everything fits already or where nobody can say. ``of``: in turn, no further than is needed.
    """
    if asked.fits in (None, "yes"):
        return ()
    solving: dict[Code, Fix] = {}
    better: list[Lever] = []
    for lever in of:
        if lever.scenario is None:
            continue
        if lever.solves:
            solving.setdefault(lever.code, Fix(lever=lever, label=_button(lever), scenario=lever.scenario))
            if len(solving) == MOST_FIXES:
                break
        elif _fit(lever) > _fit(asked):
            better.append(lever)
    if solving:
        return tuple(solving.values())
    nearest: dict[Code, Fix] = {}
    for lever in sorted(better, key=lambda lever: -_fit(lever)):
        if lever.scenario is not None:
            nearest.setdefault(lever.code, Fix(lever=lever, label=_button(lever), scenario=lever.scenario))
    return tuple(nearest.values())[:MOST_FIXES]


class _Bench:
    """The asked scenario, and the answer to any change of it."""

    def __init__(self, asked: Sizing, weigh: Weigh) -> None:
        self.asked = asked
        self.scenario = asked.scenario
        self._weigh = weigh
        self._weights: dict[str, Estimate | None] = {}

    def weights(self, scenario: Scenario) -> Estimate | None:
        """Of the whole model. They depend on the weight type alone of all that is changed here."""
        if scenario.weight_dtype not in self._weights:
            try:
                self._weights[scenario.weight_dtype] = self._weigh(scenario)
            except KvvizError:
                self._weights[scenario.weight_dtype] = None
        return self._weights[scenario.weight_dtype]

    def answer(self, scenario: Scenario, architecture: Architecture | None = None) -> Sizing | None:
        """None where it cannot be run."""
        weights = None if self.asked.budget is None else self.weights(scenario)
        try:
            answer = size(architecture or self.asked.architecture, scenario, weights=weights)
        except KvvizError:
            return None
        lost = answer.plan is None or (answer.budget is None) != (self.asked.budget is None)
        return None if lost else answer

    def changed(self, **changes: str | int | float | None) -> Sizing | None:
        """The answer with these settings changed; None too where they do not go together."""
        try:
            return self.answer(self.scenario.with_changes(**changes))
        except KvvizError:
            return None

    def more_engines(self, gpus: int) -> Sizing | None:
        """The answer with more engines of the size asked for."""
        plan = self.asked.plan
        if isinstance(plan, VllmPlan | SglangPlan | TensorRtLlmPlan):
            return self.changed(gpus=gpus, tp=plan.tp, dp=None if self.scenario.dp is None else gpus // plan.gpus)
        return None if plan is None else self.changed(gpus=gpus, dp=gpus // plan.gpus)

    def on_gpu(self, gpu: str, **changes: int | None) -> Sizing | None:
        """The answer on another GPU."""
        return self.changed(gpu=gpu, **changes)

    def lever(
        self, code: Code, answer: Sizing | None, label: Message, cost: Message, effect: Message | None = None
    ) -> Iterator[Lever]:
        """None for no answer."""
        if answer is None:
            return
        more = _more(self.asked, answer)
        yield Lever(
            code=code,
            label=label,
            scenario=None if code == "kv-heads" else answer.scenario,
            sizing=answer,
            content_change_bytes=answer.content_bytes - self.asked.content_bytes,
            request_change_bytes=(answer.request_bytes or 0) - (self.asked.request_bytes or 0),
            more_requests=more,
            effect=effect or _effect(self.asked, answer, more),
            cost=cost,
            solves=answer.fits == "yes",
        )


def _max_model_len(bench: _Bench) -> Iterator[Lever]:
    """Where an engine started for longer requests than anyone asks for does not start."""
    if bench.asked.starts is False and bench.scenario.max_model_len not in (None, bench.scenario.tokens):
        label = Message(text.MAX_MODEL_LEN, {"tokens": format_count(bench.scenario.tokens)})
        yield from bench.lever("max-model-len", bench.changed(max_model_len=None), label, Message(text.LENGTH_COST))


def _batched_tokens(bench: _Bench) -> Iterator[Lever]:
    gpu, plan = bench.scenario.gpu, bench.asked.plan
    if not gpu or not isinstance(plan, VllmPlan):
        return
    current = bench.scenario.batched_tokens or vllm.default_batched_tokens(device(gpu))
    # Blocks larger than a step, as hybrids have, would have no step that fills them.
    if current > _BATCHED_TOKENS >= plan.block_tokens:
        label = Message(text.BATCHED_TOKENS, {"tokens": format_count(_BATCHED_TOKENS)})
        cost = Message(text.BATCHED_COST)
        yield from bench.lever("batched-tokens", bench.changed(batched_tokens=_BATCHED_TOKENS), label, cost)


def _memory_fraction(bench: _Bench) -> Iterator[Lever]:
    budget = bench.asked.budget
    if not isinstance(bench.asked.plan, VllmPlan) or budget is None:
        return
    if budget.memory_fraction is None or budget.memory_fraction >= _MEMORY_FRACTION:
        return
    answer = bench.changed(memory_fraction=_MEMORY_FRACTION)
    if answer is not None and answer.budget is not None:
        label = Message(text.MEMORY_FRACTION, {"fraction": _MEMORY_FRACTION})
        cost = Message(text.FRACTION_COST, {"outside": format_bytes(answer.budget.outside_bytes)})
        yield from bench.lever("memory-fraction", answer, label, cost)


def _split(bench: _Bench) -> Iterator[Lever]:
    """The same GPUs in engines of another size, where that holds more: heads are copied, or weights are too many."""
    asked, plan, gpus = bench.asked, bench.asked.plan, bench.scenario.gpus
    if asked.budget is None or not isinstance(plan, VllmPlan) or plan.pp > 1:
        return
    sizes = [tp for tp in vllm.tp_sizes(asked.architecture) if gpus % tp == 0 and tp != plan.tp]
    answers = [answer for answer in (bench.changed(tp=tp) for tp in sizes) if answer is not None]
    best = max(answers, key=_fit, default=None)
    if best is None or best.plan is None or _fit(best) <= _fit(asked):
        return
    values = {"engines": format_count(best.engines), "tp": format_count(best.plan.gpus)}
    if best.engines == 1:
        label, cost = Message(text.ONE_ENGINE, values), Message(text.ONE_ENGINE_COST)
    else:
        label = Message(text.ENGINES_OF_ONE if best.plan.gpus == 1 else text.ENGINES, values)
        cost = Message(text.ENGINES_COST)
    yield from bench.lever("tp", best, label, cost)


def _kv_dtypes(bench: _Bench) -> Iterator[Lever]:
    """Every smaller cache type, as the engine lists them; what ends up stored the same comes once."""
    asked = bench.asked
    stored = {asked.kv_dtype.name}
    full = full_dtype(asked.architecture, asked.scenario)
    for name in usable_kv_dtypes(asked)[1:]:
        if not (KV_DTYPES[name].quantised or name == full):
            continue
        answer = bench.changed(kv_dtype=name)
        if answer is None or answer.kv_dtype.name in stored or answer.content_bytes >= asked.content_bytes:
            continue
        stored.add(answer.kv_dtype.name)
        cost = text.KV_DTYPE_COSTS.get(name, text.KV_DTYPE_COST)
        label = Message(text.KV_DTYPE, {"dtype": _spoken(name)})
        yield from bench.lever("kv-dtype", answer, label, Message(cost))


def _weight_dtypes(bench: _Bench) -> Iterator[Lever]:
    """Smaller weights: not one byte of cache less, and yet more room for it."""
    asked = bench.asked
    if asked.budget is None or bench.scenario.weights_gib is not None:
        return
    for name in _GGUF_DTYPES if bench.scenario.engine == "llama.cpp" else _WEIGHT_DTYPES:
        answer = bench.changed(weight_dtype=name)
        if answer is None or answer.budget is None:
            continue
        before = asked.budget.weights.value_bytes
        saved = before - answer.budget.weights.value_bytes
        if saved * _SAME_WEIGHTS < before:
            continue
        more = _more(asked, answer) or 0
        label = Message(text.WEIGHT_DTYPE, {"dtype": _spoken(name)})
        values = {"more": format_count(more), "saved": format_bytes(saved)}
        effect = Message(text.WEIGHTS_EFFECT_ONE if more == 1 else text.WEIGHTS_EFFECT, values)
        yield from bench.lever("weight-dtype", answer, label, Message(text.WEIGHTS_COST), effect)


def _more_gpus(bench: _Bench) -> Iterator[Lever]:
    """The smallest count that does: one engine over more GPUs, or more engines of the size asked for."""
    asked, plan, now = bench.asked, bench.asked.plan, bench.scenario.gpus
    if asked.budget is None or plan is None:
        return
    wider = [n for n in _sizes(asked) if n > now]
    one = _first_that_fits(bench.changed(gpus=n, tp=None) for n in wider)
    each = (asked.max_sequences_counted or 0) // asked.engines
    many = None
    if each and asked.starts:
        gpus = plan.gpus
        enough = max(now + gpus, gpus * -(-bench.scenario.requests // each))
        # More GPUs than a scenario can have: one more engine then, which comes nearer.
        many = bench.more_engines(enough) or bench.more_engines(now + gpus)
    best = min(
        (a for a in (one, many) if a is not None and _fit(a) >= _fit(asked)),
        key=lambda a: (a.fits != "yes", a.scenario.gpus, a.engines),
        default=None,
    )
    if best is None:
        return
    values = {"gpus": format_count(best.scenario.gpus), "engines": format_count(best.engines)}
    one_start = best.engines == 1 or best.one_command
    label = Message(text.GPUS if one_start else text.GPUS_ENGINES, values)
    cost = Message(text.GPUS_COST if one_start else text.GPUS_ENGINES_COST, {"more": best.scenario.gpus - now})
    yield from bench.lever("gpus", best, label, cost)


def _sizes(asked: Sizing) -> tuple[int, ...]:
    """Numbers of GPUs that one engine can be made of."""
    if isinstance(asked.plan, LlamaCppPlan | TransformersPlan):
        return (2, 3, 4, 6, 8)
    return tp_sizes(asked.architecture, asked.scenario)


def _first_that_fits(answers: Iterator[Sizing | None]) -> Sizing | None:
    """The first that fits; the last of all where none does."""
    last = None
    for answer in answers:
        last = answer or last
        if answer is not None and answer.fits == "yes":
            return answer
    return last


def _bigger_gpu(bench: _Bench) -> Iterator[Lever]:
    """The next in memory of the same make that fits; where none does, the largest, and more of those."""
    asked, budget, now = bench.asked, bench.asked.budget, bench.scenario.gpus
    if budget is None:
        return
    maker = budget.device.maker
    larger = {
        d.memory_bytes: d.id
        for d in reversed(devices())
        if d.memory_bytes > budget.device_bytes * _NOTABLY_MORE and d.maker == maker
    }
    by_memory = [larger[memory] for memory in sorted(larger)]
    found = [_first_that_fits(a for a in map(bench.on_gpu, by_memory) if a and _fit(a) >= _fit(asked))]
    if by_memory and (found[0] is None or found[0].fits != "yes"):
        wider = (bench.on_gpu(by_memory[-1], gpus=n, tp=None) for n in _sizes(asked) if n > now)
        several = _first_that_fits(wider)
        found.append(several if several is not None and several.fits == "yes" else None)
    for answer in found:
        if answer is not None and answer.budget is not None:
            name = answer.budget.device.name.removeprefix("NVIDIA ")
            values = {"gpus": format_count(answer.scenario.gpus), "gpu": name}
            label = Message(text.GPU, values)
            cost = Message(text.GPU_COST if answer.scenario.gpus == 1 else text.GPUS_OTHER_COST)
            yield from bench.lever("gpu", answer, label, cost)


def _context(bench: _Bench) -> Iterator[Lever]:
    """The longest requests of which as many fit as were asked for; of prompt, passages and answer the most is cut."""
    asked, plan, budget = bench.asked, bench.asked.plan, bench.asked.budget
    if plan is None or budget is None or asked.fits in (None, "yes"):
        return
    scenario = bench.scenario
    parts = {
        "input": (scenario.input, 1, text.INPUT_COST),
        "output": (scenario.output, 1, text.OUTPUT_COST),
        "passages": (scenario.passages, scenario.passage_tokens, text.PASSAGES_COST),
    }
    name = max(parts, key=lambda part: parts[part][0] * parts[part][1])
    now, unit, cost = parts[name]
    rest = scenario.tokens - now * unit

    def at(count: int) -> Sizing | None:
        cap = None if scenario.max_model_len is None else rest + count * unit
        return bench.changed(**{name: count, "max_model_len": cap})

    def fits(count: int) -> bool:
        answer = at(count)
        return answer is not None and answer.fits == "yes"

    tokens = plan.longest_in(budget.usable_bytes // -(-scenario.requests // asked.engines)) or 0
    least = max(_least_tokens(scenario, cut=name) - rest, 0 if name == "passages" else 1)
    most = _largest(-(-least // unit), now, fits, guess=(tokens - rest) // unit) if unit else None
    if most is not None:
        label = Message(text.CONTEXT, {"tokens": format_count(rest + most * unit)})
        yield from bench.lever("context", at(most), label, Message(cost, {"cut": format_count(now - most)}))


def _least_tokens(scenario: Scenario, *, cut: str) -> int:
    """No request is shorter than the tokens that all begin with, nor is a typical one."""
    if not scenario.shared_tokens:
        return 0
    typical = 0 if scenario.typical == 1 else int(scenario.shared_tokens / Fraction(repr(scenario.typical))) + 1
    return max(typical, 0 if cut == "output" else scenario.shared_tokens + scenario.output)


def _largest(low: int, high: int, holds: Callable[[int], bool], guess: int) -> int | None:
    """The largest number from ``low`` and below ``high`` that ``holds``, found at once where ``guess`` is it."""
    if high <= low or not holds(low):
        return None
    for tried in (guess, guess + 1):
        if low < tried < high:
            low, high = (tried, high) if holds(tried) else (low, tried)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _sequences(bench: _Bench) -> Iterator[Lever]:
    """As many as fit."""
    most = _fit(bench.asked)
    if 0 < most < (asked := bench.scenario.requests):
        values = {"sequences": format_count(most), "waiting": format_count(asked - most)}
        label, cost = Message(text.SEQUENCES, values), Message(text.SEQUENCES_COST, values)
        yield from bench.lever("sequences", bench.changed(sequences=most, users=None), label, cost)


def _fewer_kv_heads(bench: _Bench) -> Iterator[Lever]:
    """The same layout with fewer KV heads: what grouped-query attention decides when a model is made."""
    for divisor in _HEAD_DIVISORS:
        sibling = _sibling(ByIdentity(bench.asked.architecture), divisor)
        if sibling is None:
            continue
        heads = max(kv_heads_of(cache) for layer in sibling.layers for cache in layer)
        label = Message(text.KV_HEADS if heads > 1 else text.KV_HEAD, {"heads": format_count(heads)})
        yield from bench.lever("kv-heads", bench.answer(bench.scenario, sibling), label, Message(text.KV_HEADS_COST))


_FINDS: Final[Mapping[Code, Callable[[_Bench], Iterator[Lever]]]] = {
    "max-model-len": _max_model_len,
    "batched-tokens": _batched_tokens,
    "memory-fraction": _memory_fraction,
    "tp": _split,
    "kv-dtype": _kv_dtypes,
    "weight-dtype": _weight_dtypes,
    "gpus": _more_gpus,
    "gpu": _bigger_gpu,
    "context": _context,
    "sequences": _sequences,
    "kv-heads": _fewer_kv_heads,
}
CHEAPEST_FIRST: Final = tuple(_FINDS)
"""A setting, then a quantisation, then hardware, then asking for less; another model last."""


@lru_cache(maxsize=256)
def _sibling(of: ByIdentity[Architecture], divisor: int) -> Architecture | None:
    """``of`` with every layer's KV heads divided; None where it has none or they do not divide."""
    heads = {kv_heads_of(cache) for layer in of.value.layers for cache in layer} - {0}
    if not heads or any(count % divisor for count in heads):
        return None
    return replace(of.value, layers=with_kv_heads(of.value.layers, lambda count: count // divisor))


def _spoken(dtype: str) -> str:
    return text.SPOKEN_DTYPES.get(dtype, dtype.upper())


def _fit(of: Lever | Sizing) -> int:
    """Requests at once, as counted; none where the engine would not start."""
    sizing = of.sizing if isinstance(of, Lever) else of
    return (sizing.max_sequences_counted or 0) if sizing.starts else 0


def _more(asked: Sizing, answer: Sizing) -> int | None:
    if asked.max_sequences_counted is None or answer.max_sequences_counted is None:
        return None
    return _fit(answer) - _fit(asked)


def _effect(asked: Sizing, answer: Sizing, more: int | None) -> Message:
    """Bytes of a request, on one GPU, and requests at once, before and after."""
    before, after = asked.request_bytes or 0, answer.request_bytes or 0
    values = {"before": format_bytes(before), "after": format_bytes(after)}
    bytes_effect = Message(text.BYTES_SAME, values) if before == after else Message(text.BYTES_CHANGE, values)
    if more is None:
        return bytes_effect
    counts = {"fit": format_count(_fit(asked)), "then": format_count(_fit(answer))}
    return Message(text.EFFECT, {"bytes": bytes_effect, **counts})


def _button(lever: Lever) -> Message:
    fit, needed = format_count(_fit(lever)), format_count(lever.sizing.scenario.requests)
    cost: Text | None = text.OTHER_CHECKPOINT if lever.code == "weight-dtype" else None
    if lever.code == "kv-dtype":
        cost = text.SHORT_COSTS.get(lever.sizing.scenario.kv_dtype)
    what = Message(text.AT_A_COST, {"what": lever.label, "cost": cost}) if cost else lever.label
    values = {"what": what, "fit": fit, "needed": needed}
    if lever.code == "sequences":
        return Message(text.SOLVES_ITSELF, values)
    return Message(text.SOLVES if lever.solves else text.NEARER, values)


# --- weights and cache ------------------------------------------------------------------------------------------------


def crossover_requests(sizing: Sizing) -> int | None:
    """From how many requests on their cache is larger than the weights, on each GPU; None where that is out of reach.

    Within reach are the requests asked for and those that fit. Of one engine: several side by side have weights each.
    """
    if sizing.budget is None or sizing.engines > 1 or not sizing.starts:
        return None
    weights, most = sizing.budget.weights.value_bytes, max(sizing.requests_of_one, sizing.max_sequences_counted or 0)
    requests = largest(lambda count: sizing.need_bytes(count, sizing.tokens) <= weights, most) + 1
    return requests if requests <= most else None


# --- speed -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedFloor:
    """No decode step is quicker than reading memory once: bytes of one GPU over its bandwidth."""

    step_s: float
    """Shortest time of one step, in which each request gets one token."""
    weights_bytes: int
    """On one GPU."""
    cache_bytes: int
    """On one GPU, of ``requests`` at full length: what their tokens take, without the rest of their blocks."""
    requests: int
    """Of one engine: the asked ones, or as many as fit."""
    bandwidth_bytes_per_s: int
    bandwidth_source: str
    sentence: Message
    """One line, which says that it is a floor and on what condition."""


def speed_floor(sizing: Sizing) -> SpeedFloor | None:
    """The floor at full length; None where nothing fits or it is not known what does.

    It holds where every weight is read in a step. A mixture of experts reads fewer for few requests, so its sentence
    carries that condition. Sparse attention reads a part of its
    latents only: of those, just the indexer keys are counted.
    """
    budget, plan = sizing.budget, sizing.plan
    if budget is None or plan is None or not sizing.max_sequences_counted or not sizing.starts:
        return None
    requests = -(-min(sizing.scenario.requests, sizing.max_sequences_counted) // sizing.engines)
    if plan.gpus != (tp := split_of(plan)):
        return None  # stages take turns: a step is as long as all of them together
    layers, sparse = _read_on_one_gpu(ByIdentity(sizing.architecture), tp)
    on_one = content(layers, sizing.kv_dtype)
    states = Fraction(on_one.state_bytes, tp) - on_one.state_bytes
    # Past a model's own length a window that never limits it would: the engine then holds less than the content.
    each = min(on_one.bytes_at(sizing.tokens) + states, Fraction(sizing.held_bytes or 0))
    # What requests share is stored once, and once is the least that it must be read.
    shared = sizing.shared_tokens if sizing.shared_bytes else 0
    own = min(on_one.bytes_at(sizing.tokens - shared) + states, each)
    cache = ceil(each + (requests - 1) * own)
    gpu = budget.device
    if not gpu.bandwidth_bytes_per_s:
        return None
    step_s = (budget.weights.value_bytes + cache) / gpu.bandwidth_bytes_per_s
    values = {
        "ms": _milliseconds(step_s),
        "weights": format_bytes(budget.weights.value_bytes),
        "cache": format_bytes(cache),
        "requests": format_count(requests),
        "bandwidth": f"{gpu.bandwidth_bytes_per_s / 10**9:,.0f}",
        "source": gpu.bandwidth_source,
        "once": Message(text.SHARED_ONCE, {"shared": format_count(shared)}) if shared and requests > 1 else "",
        "mixture": text.DENSE if sizing.architecture.experts is False else text.MIXTURE,
    }
    return SpeedFloor(
        step_s=step_s,
        weights_bytes=budget.weights.value_bytes,
        cache_bytes=cache,
        requests=requests,
        bandwidth_bytes_per_s=gpu.bandwidth_bytes_per_s,
        bandwidth_source=gpu.bandwidth_source,
        sentence=Message(text.FLOOR_SPARSE if sparse else text.FLOOR, values),
    )


@lru_cache(maxsize=256)
def _read_on_one_gpu(of: ByIdentity[Architecture], tp: int) -> tuple[tuple[Layer, ...], bool]:
    """What one of ``tp`` GPUs must read of a request in a step, and whether attention is sparse."""
    stored: Layer = vllm.stored_caches(of.value)
    sparse = any(isinstance(c, IndexerKeys) or (isinstance(c, CompressedAttention) and c.index_key_dim) for c in stored)
    if sparse:
        stored = tuple(c for c in stored if not isinstance(c, LatentAttention | CompressedAttention))
    return with_kv_heads((stored,), lambda heads: max(1, heads // tp)), sparse


def _milliseconds(seconds: float) -> str:
    """Rounded down, so that the floor stays one."""
    ms = Fraction(seconds) * 1000
    digits = 0 if ms >= 100 else 1 if ms >= 10 else 2
    return f"{float(Fraction(int(ms * 10**digits), 10**digits)):,.{digits}f}"
