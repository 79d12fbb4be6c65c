"""What people get wrong with a sizing like this one: a condition, a sentence and its numbers.

Nothing here says again what ``Sizing.notes`` says. A number that needs another setting is that setting's own plan.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt
from typing import Final, Literal

from kvviz.core.cache import (
    ChunkedAttention,
    CompressedAttention,
    FullAttention,
    LatentAttention,
    LayerCache,
    RecurrentState,
    SlidingWindow,
)
from kvviz.core.errors import KvvizError
from kvviz.core.units import format_bytes, format_count
from kvviz.devices import device
from kvviz.engines import vllm, vllm_memory
from kvviz.engines.llama_cpp import LlamaCppPlan
from kvviz.engines.sglang import SglangPlan
from kvviz.engines.tensorrt_llm import TensorRtLlmPlan
from kvviz.engines.transformers import TransformersPlan
from kvviz.engines.vllm import VllmPlan
from kvviz.planning import Plan, batched_tokens, engine_name, planned, split_of
from kvviz.sizing import Sizing
from kvviz.text import Message, Text
from kvviz.text import advice as text

Gravity = Literal["misleads", "costs", "aside"]
GRAVEST_FIRST: Final[tuple[Gravity, ...]] = ("misleads", "costs", "aside")
"""A number that is read wrongly, memory that could be had, what is good to know."""
MOST_IN_SIGHT: Final = 3

_NARROW_FRACTION: Final = 0.95
_FEWER_BATCHED_TOKENS: Final = 2_048
_FEWER_SEQUENCES: Final = 256
_GQA_HEADS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One pitfall that this sizing is near."""

    code: str
    sentence: Message
    gravity: Gravity


def advice(sizing: Sizing) -> tuple[Advice, ...]:
    """What to watch out for, the gravest first."""
    found = [
        Advice(code=code, sentence=sentence, gravity=gravity)
        for rule in (_rates, _windows, _copies, _memory, _requests, _types, _states, _stages)
        for code, gravity, sentence in rule(sizing)
    ]
    return tuple(sorted(found, key=lambda one: GRAVEST_FIRST.index(one.gravity)))


_Found = Iterator[tuple[str, Gravity, Message]]


def _say(sentence: Text, **values: object) -> Message:
    return Message(sentence, values)


def _rates(sizing: Sizing) -> _Found:
    """Cost = a + b x length, and what vLLM's token line means then."""
    content, plan, budget = sizing.content, sizing.plan, sizing.budget
    if not content.limited and not content.state_bytes:
        return
    growing = content.growing_bytes_per_token
    full = sum((limit.bytes_per_token * limit.limit_tokens for limit in content.limited), Fraction(0))
    fixed = format_bytes(ceil(full + content.state_bytes + content.cross_bytes))
    if not growing:
        yield "only-fixed", "misleads", _say(text.ONLY_FIXED, fixed=fixed)
    elif sizing.tokens >= max((limit.limit_tokens for limit in content.limited), default=0):
        average = format_bytes(round(Fraction(sizing.content_bytes, sizing.tokens)))
        values = {"average": average, "tokens": format_count(sizing.tokens)}
        growing_said = format_bytes(round(growing))
        yield "one-rate", "misleads", _say(text.ONE_RATE, fixed=fixed, growing=growing_said, **values)
    if not isinstance(plan, VllmPlan) or budget is None or not budget.pool_bytes or budget.max_concurrency is None:
        return
    size, concurrency = format_count(budget.kv_cache_size_tokens or 0), f"{budget.max_concurrency:.2f}"
    if plan.version == vllm.VERSION:
        longest = format_count(budget.longest_tokens)
        yield "token-line", "misleads", _say(text.TOKEN_LINE, size=size, concurrency=concurrency, longest=longest)
    elif len(plan.groups) > 1:
        values = {"version": plan.version, "groups": str(len(plan.groups))}
        yield "token-line", "misleads", _say(text.TOKEN_LINE_OLD, size=size, concurrency=concurrency, **values)


def _windows(sizing: Sizing) -> _Found:
    """Windows that limit nothing, and engines that do not keep to them."""
    architecture, scenario, plan, tokens = sizing.architecture, sizing.scenario, sizing.plan, sizing.tokens
    caches = _caches(sizing)
    sliding = [c for c in caches if isinstance(c, SlidingWindow)]
    maximum = architecture.max_context_tokens
    if maximum and any(not c.limits for c in sliding):
        yield "window-is-no-limit", "aside", _say(text.WINDOW_IS_NO_LIMIT, maximum=format_count(maximum))
    lengths = {c.window_tokens for c in sliding if c.limits}
    lengths |= {c.chunk_tokens for c in caches if isinstance(c, ChunkedAttention)}
    if not lengths:
        return
    window = format_count(min(lengths))
    if tokens <= min(lengths):
        yield "window-not-reached", "aside", _say(text.WINDOW_NOT_REACHED, tokens=format_count(tokens), window=window)
        return
    if plan is None or sizing.request_bytes is None:
        return
    full, request = sizing.request_bytes_windows_ignored, format_bytes(sizing.request_bytes)
    # vLLM's own rule counts tokens in flight besides, which short requests do not outgrow: no window is ignored there.
    by_rule = isinstance(plan, VllmPlan) and plan.version != "v0" and scenario.full_windows == "off"
    if full is not None and sizing.request_bytes >= full and not by_rule:
        content = sizing.content
        each = content.growing_bytes_per_token + sum((limit.bytes_per_token for limit in content.limited), Fraction(0))
        whole = each * tokens + content.state_bytes + content.cross_bytes
        values = {"engine": engine_name(scenario), "window": window, "full": format_bytes(ceil(whole))}
        said = _say(text.WINDOWS_AT_FULL_LENGTH, content=format_bytes(sizing.content_bytes), **values)
        yield "windows-at-full-length", "misleads", said
    elif full is not None and isinstance(plan, TensorRtLlmPlan):
        said = _say(text.MAX_ATTENTION_WINDOW, full=format_bytes(full), request=request)
        yield "max-attention-window", "misleads", said


def _copies(sizing: Sizing) -> _Found:
    """What else the GPUs could do than keep copies."""
    plan, architecture, scenario = sizing.plan, sizing.architecture, sizing.scenario
    if plan is None or sizing.request_bytes is None or (split := split_of(plan)) == 1:
        return
    latent = any(isinstance(c, LatentAttention) for c in _caches(sizing))
    if isinstance(plan, VllmPlan) and plan.dcp == 1 and plan.version != "v0":
        largest = vllm.dcp_sizes(architecture, plan.tp)[-1]
        other = _plan_with(sizing, dcp=largest) if largest > 1 else None
        if other is not None and (each := other.request_bytes(sizing.tokens)) < sizing.request_bytes:
            now, less = format_bytes(sizing.request_bytes), format_bytes(each)
            said = _say(text.DCP_INSTEAD, dcp=largest, each=less, now=now)
            yield "dcp-instead", "costs", said
    copies = split // (plan.dcp if isinstance(plan, VllmPlan) else 1)
    no_groups = scenario.attention_dp == "on" or isinstance(plan, LlamaCppPlan | TransformersPlan)
    if latent and copies > 1 and not no_groups:
        yield "attention-dp-instead", "costs", _say(text.ATTENTION_DP_INSTEAD, groups=split, copies=copies)


def _memory(sizing: Sizing) -> _Found:
    """How the budget came to be."""
    budget, plan, scenario = sizing.budget, sizing.plan, sizing.scenario
    if budget is None or plan is None:
        return
    fraction = budget.memory_fraction
    if isinstance(plan, VllmPlan):
        yield from _activations(sizing, plan)
        if fraction is not None and fraction >= _NARROW_FRACTION:
            values = {"fraction": f"{fraction:g}", "outside": format_bytes(budget.outside_bytes)}
            yield "narrow-margin", "costs", _say(text.NARROW_MARGIN, **values)
        if scenario.memory_fraction is None and plan.version == vllm.VERSION and fraction is not None:
            less = budget.device_bytes * (Fraction(str(fraction)) - Fraction(9, 10))
            values = {"fraction": f"{fraction:g}", "less": format_bytes(round(less))}
            yield "fraction-of-old", "aside", _say(text.FRACTION_OF_OLD, **values)
    elif isinstance(plan, SglangPlan | TensorRtLlmPlan) and scenario.memory_fraction is not None:
        when = text.BEFORE_LOADING if isinstance(plan, SglangPlan) else text.AFTER_TRIAL
        values = {"engine": engine_name(scenario), "fraction": f"{scenario.memory_fraction:g}"}
        yield "fraction-of-free", "misleads", _say(text.FRACTION_OF_FREE, when=when, **values)
    if fraction is not None and sizing.fits == "yes":
        need = ceil(sizing.need_bytes(-(-scenario.requests // sizing.engines), sizing.tokens))
        if 2 * need <= budget.pool_bytes and budget.device.maker != "apple":
            values = {"reserved": format_bytes(budget.requested_bytes), "need": format_bytes(need)}
            sentence = text.RESERVED_NOT_NEEDED_AMD if budget.device.maker == "amd" else text.RESERVED_NOT_NEEDED
            yield "reserved-not-needed", "aside", _say(sentence, pool=format_bytes(budget.pool_bytes), **values)
    if plan.gpus > 1:
        yield "per-gpu", "aside", _say(text.PER_GPU, gpus=plan.gpus)


def _activations(sizing: Sizing, plan: VllmPlan) -> _Found:
    """Where the profiled step is a quarter of the pool or more; the flag that gives back most is named."""
    budget, scenario, architecture = sizing.budget, sizing.scenario, sizing.architecture
    if (
        budget is None
        or scenario.activations_gib is not None
        or 4 * budget.activations.value_bytes <= budget.pool_bytes
    ):
        return
    batch = {
        "batched_tokens": batched_tokens(scenario, budget.device),
        "sequences": vllm.default_batched_sequences(budget.device),
    }

    def at(**changed: int) -> int:
        vocab, hidden = architecture.vocab_size, architecture.hidden_size
        return vllm_memory.activations(vocab=vocab, hidden=hidden, measured=True, **batch | changed).value_bytes

    options: list[tuple[int, Text, dict[str, int]]] = []
    # Blocks larger than a step, as hybrids have, would have no step that fills them.
    if batch["batched_tokens"] > _FEWER_BATCHED_TOKENS >= plan.block_tokens:
        less = at(batched_tokens=_FEWER_BATCHED_TOKENS)
        options.append((less, text.LESS_BATCHED, {"tokens": _FEWER_BATCHED_TOKENS}))
    if batch["sequences"] > _FEWER_SEQUENCES >= scenario.requests:
        less = at(sequences=_FEWER_SEQUENCES)
        options.append((less, text.FEWER_SEQUENCES, {"sequences": _FEWER_SEQUENCES}))
    options = [option for option in options if option[0] < budget.activations.value_bytes]
    if not options:
        return
    less, sentence, values = min(options, key=lambda option: option[0])
    what = Message(sentence, {"less": format_bytes(less), **{n: format_count(v) for n, v in values.items()}})
    taken = {"activations": format_bytes(budget.activations.value_bytes), "pool": format_bytes(budget.pool_bytes)}
    yield "activations", "costs", _say(text.ACTIVATIONS, what=what, **taken)


def _requests(sizing: Sizing) -> _Found:
    """How many at once, and how often more."""
    scenario, budget, fit = sizing.scenario, sizing.budget, sizing.max_sequences_counted
    if budget is None or fit is None:
        return
    if users := scenario.from_users:
        share = users.exact / users.users
        spread = isqrt(ceil(4 * users.exact * (1 - share)))  # two standard deviations of a binomial number
        burst = users.requests + spread
        if users.requests <= fit < burst:
            values = {"requests": users.requests, "users": users.users, "burst": burst, "fit": fit}
            yield "average", "misleads", _say(text.AVERAGE, **{n: format_count(v) for n, v in values.items()})
    if scenario.max_model_len and scenario.max_model_len > scenario.tokens and sizing.starts:
        values = {"longest": scenario.max_model_len, "fit": fit, "tokens": scenario.tokens}
        yield "not-reserved", "aside", _say(text.NOT_RESERVED, **{n: format_count(v) for n, v in values.items()})
    half = scenario.tokens // 2
    if sizing.fits != "yes" and sizing.starts and scenario.typical == 1 and half > sizing.shared_tokens:
        values = {"tokens": scenario.tokens, "fit": sizing.fit(half)}
        yield "worst-case", "aside", _say(text.WORST_CASE, **{n: format_count(v) for n, v in values.items()})


def _types(sizing: Sizing) -> _Found:
    """Types of weights and cache, heads and their size."""
    scenario, plan, stored, budget = sizing.scenario, sizing.plan, sizing.kv_dtype, sizing.budget
    counted = format_bytes(sizing.request_bytes if sizing.request_bytes is not None else sizing.content_bytes)
    published = budget.weights.parameters if budget else None
    if published and published.quantised and scenario.weight_dtype == "auto" and not stored.quantised:
        yield "weights-not-cache", "misleads", _say(text.PUBLISHED_QUANTISED, cache=stored.name, bytes=counted)
    if isinstance(plan, LlamaCppPlan) and scenario.kv_dtype == "auto":
        other = _plan_with(sizing, kv_dtype="q8_0")
        if other is not None:
            q8 = format_bytes(other.request_bytes(sizing.tokens))
            yield "llama-cpp-f16", "costs", _say(text.LLAMA_CPP_F16, q8=q8, now=counted)
    if stored.name in ("fp32", "f32"):
        yield "full-precision", "misleads", _say(text.FULL_PRECISION, bytes=counted)
    older = isinstance(plan, LlamaCppPlan | TransformersPlan) and scenario.engine_version != "auto"
    if older and sizing.request_bytes and any(isinstance(c, LatentAttention) for c in _caches(sizing)):
        newer = _plan_with(sizing, engine_version="auto")
        now = newer.request_bytes(sizing.tokens) if newer else sizing.request_bytes
        if sizing.request_bytes > now:
            values = {"request": counted, "times": f"{sizing.request_bytes / now:.3g}", "content": format_bytes(now)}
            yield "expanded", "misleads", _say(text.EXPANDED, **values)
    yield from _heads(sizing)


def _heads(sizing: Sizing) -> _Found:
    architecture = sizing.architecture
    heads, hidden = architecture.attention_heads, architecture.hidden_size
    attention = [c for c in _caches(sizing) if isinstance(c, FullAttention | SlidingWindow | ChunkedAttention)]
    if not heads or not attention:
        return
    if heads > _GQA_HEADS and heads % _GQA_HEADS == 0 and all(c.kv_heads == heads for c in attention):
        yield "every-head", "costs", _say(text.EVERY_HEAD, heads=heads, factor=heads // _GQA_HEADS)
    sizes = {c.key_dim for c in attention}
    if hidden and len(sizes) == 1 and hidden % heads == 0 and (derived := hidden // heads) != (head := min(sizes)):
        times = f"{max(head, derived) / min(head, derived):.3g}"
        way = text.TOO_SMALL if derived < head else text.TOO_LARGE
        values = {"head": head, "hidden": f"{hidden:,}", "heads": heads, "derived": derived}
        how = Message(way, {"times": times})
        yield "head-size", "aside", _say(text.HEAD_SIZE, how=how, **values)


def _states(sizing: Sizing) -> _Found:
    """States that a request has from its first token on."""
    plan, scenario = sizing.plan, sizing.scenario
    if plan is None or not any(isinstance(c, RecurrentState) for c in _caches(sizing)):
        return
    if isinstance(plan, VllmPlan) and plan.prefix_caching and plan.version != "v0":
        other = _plan_with(sizing, prefix_caching="off")
        first = plan.request_bytes(1)
        if other is not None and (without := other.request_bytes(1)) < first:
            yield (
                "states-first",
                "costs",
                _say(text.STATES_FIRST, first=format_bytes(first), without=format_bytes(without)),
            )
    if isinstance(plan, LlamaCppPlan):
        each = max(share.state_bytes for share in plan.shares) * (1 + plan.rollback_states)
        slots = -(-scenario.requests // sizing.engines)
        values = {"state": format_bytes(each), "slots": format_count(slots), "total": format_bytes(each * slots)}
        yield "states-per-slot", "misleads", _say(text.STATES_PER_SLOT, **values)


def _stages(sizing: Sizing) -> _Found:
    plan = sizing.plan
    if plan is None or not isinstance(plan, VllmPlan | SglangPlan | TensorRtLlmPlan) or plan.pp == 1:
        return
    each = [taken for taken in plan.per_gpu_request_bytes(sizing.tokens) if taken]
    if each and min(each) < max(each):
        values = {"most": format_bytes(max(each)), "least": format_bytes(min(each))}
        yield "uneven-stages", "costs", _say(text.UNEVEN_STAGES, **values)


def _caches(sizing: Sizing) -> set[LayerCache]:
    return {c for layer in sizing.architecture.layers for c in layer if not isinstance(c, CompressedAttention)}


def _plan_with(sizing: Sizing, **changes: str | int) -> Plan | None:
    """The plan with these settings changed; None where it cannot be."""
    scenario = sizing.scenario
    try:
        changed = scenario.with_changes(**changes)
        return planned(sizing.architecture, changed, device(scenario.gpu) if scenario.gpu else None).plan
    except KvvizError:
        return None
