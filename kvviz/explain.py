"""The working behind an answer: which layers contribute what, by which formula. Pure; the page and exports show it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Final, assert_never

from kvviz.budgets import Budget
from kvviz.core.architecture import Architecture, Fact
from kvviz.core.cache import (
    STATE_VALUE_BYTES,
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    LayerCache,
    RecurrentState,
    SlidingWindow,
    layer_bytes,
    record_bytes,
    state_values,
    token_bytes,
)
from kvviz.core.dtypes import KvDtype
from kvviz.core.units import GIB, format_bytes, format_exact, format_factor, format_terms
from kvviz.engines import vllm
from kvviz.engines.llama_cpp import LlamaCppPlan
from kvviz.engines.sglang import SglangPlan
from kvviz.engines.tensorrt_llm import TensorRtLlmPlan
from kvviz.engines.transformers import TransformersPlan
from kvviz.engines.vllm import VllmPlan
from kvviz.planning import Plan, engine_name, split_of
from kvviz.sizing import Sizing
from kvviz.text import Lang, Message, Text
from kvviz.text import explain as text


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One kind of layer: what it is, its formula filled in, and what it comes to for one sequence."""

    what: Message
    formula: str
    """Numbers and operators only: the same in every language."""
    tokens: int | None
    """Tokens the formula's result is kept for: no more than a window, all the encoder's; None: it is per request."""
    total_bytes: int
    """Bytes of all these layers at the scenario's length, whole model; whole ones, so that lines add up to the content
    rounded up."""


def lines(sizing: Sizing) -> tuple[Line, ...]:
    """One line per distinct cache spec, largest first. Their sum is exactly the content."""
    counts = Counter(cache for layer in sizing.architecture.layers for cache in layer)
    totals = {c: n * layer_bytes((c,), sizing.tokens, sizing.kv_dtype) for c, n in counts.items()}
    made: list[Line] = []
    so_far = Fraction(0)
    for cache, total in sorted(totals.items(), key=lambda item: -item[1]):
        # The sum is rounded up, not each line: a line gets what it adds to that.
        whole_bytes = ceil(so_far + total) - ceil(so_far)
        so_far += total
        what, formula, tokens = _working(cache, counts[cache], sizing.tokens, sizing.kv_dtype)
        made.append(Line(what=what, formula=formula, tokens=tokens, total_bytes=whole_bytes))
    return tuple(made)


def each_token(architecture: Architecture, dtype: KvDtype) -> tuple[tuple[Message, str], ...]:
    """What each kind of layer keeps of a token, or at all, with its formula."""
    counts = Counter(cache for layer in architecture.layers for cache in layer)
    found = (_working(cache, layers, 1, dtype) for cache, layers in counts.most_common())
    return tuple((what, formula) for what, formula, _ in found)


def three_numbers(sizing: Sizing) -> tuple[tuple[Text, int, Message], ...]:
    """Content, reservation, held and pool, each in bytes with a sentence that says what it is."""
    values: dict[str, object] = {"engine": engine_name(sizing.scenario), "tokens": f"{sizing.tokens:,}"}
    rows = [(text.CONTENT, sizing.content_bytes, Message(text.CONTENT_WHY, values))]
    plan = sizing.plan
    if plan is not None and sizing.request_bytes is not None and sizing.held_bytes is not None:
        why = (
            _blocks_of(plan, sizing.tokens, values) if isinstance(plan, VllmPlan) else Message(_WHY[type(plan)], values)
        )
        rows.append((text.RESERVATION, sizing.request_bytes, why))
        rows.append((text.HELD, sizing.held_bytes, Message(_HELD.get(type(plan), text.HELD_WHY), values)))
    if sizing.budget is not None:
        why = Message(text.POOL_ROOM_WHY, values)
        if isinstance(plan, VllmPlan):
            why = Message(text.POOL_WHY, {**values, "blocks": f"{sizing.budget.pool_blocks:,}"})
        rows.append((text.POOL, sizing.budget.pool_bytes, why))
    return tuple(rows)


def _blocks_of(plan: VllmPlan, tokens: int, values: dict[str, object]) -> Message:
    by_group = [g.request_blocks(tokens, plan.in_flight_tokens) for g in plan.groups]
    total = f"{sum(by_group):,}"
    blocks = {
        "blocks": total if len(by_group) == 1 else f"{' + '.join(f'{n:,}' for n in by_group)} = {total}",
        "block_bytes": format_factor(plan.pool_block_bytes),
    }
    return Message(text.RESERVATION_WHY if len(by_group) == 1 else text.RESERVATION_WHY_GROUPS, {**values, **blocks})


_WHY: Final[Mapping[type, Text]] = {
    SglangPlan: text.RESERVATION_SGLANG,
    TensorRtLlmPlan: text.RESERVATION_TENSORRT_LLM,
    LlamaCppPlan: text.RESERVATION_LLAMA_CPP,
    TransformersPlan: text.RESERVATION_TRANSFORMERS,
}


_HELD: Final[Mapping[type, Text]] = {
    VllmPlan: text.HELD_BLOCKS,
    SglangPlan: text.HELD_PAGES,
    TensorRtLlmPlan: text.HELD_BLOCKS,
}
"""Engines whose requests hold whole pieces; elsewhere tokens count one by one."""


def origin(fact: Fact, lang: Lang) -> str:
    """The config field that a number was read from, or how else it is known."""
    match fact.origin:
        case "field":
            return fact.where
        case "class default":
            return text.ORIGIN_DEFAULT(lang, where=fact.where)
        case "derived":
            return text.ORIGIN_DERIVED(lang, where=fact.where)


def differences(sizing: Sizing) -> tuple[Message, ...]:
    """Why the reservation is not the content, as far as this model and setting go."""
    plan = sizing.plan
    if plan is None:
        return ()
    if not isinstance(plan, VllmPlan):
        if (tp := split_of(plan)) > 1:
            return _split({cache for layer in sizing.architecture.layers for cache in layer}, tp)
        return ()
    caches = set(vllm.stored_caches(sizing.architecture))
    kinds = {type(cache) for cache in caches}
    reasons = []
    in_flight = {"in_flight": f"{plan.in_flight_tokens:,}"}
    limited = {group.kind for group in plan.groups} & {"window", "chunk"}
    if kinds & {SlidingWindow, ChunkedAttention} and not limited:
        reasons.append(Message(text.DIFFER_FULL_LENGTH))
    elif SlidingWindow in kinds:
        reasons.append(Message(text.DIFFER_WINDOWS, in_flight))
    elif ChunkedAttention in kinds:
        reasons.append(Message(text.DIFFER_CHUNKS, in_flight))
    if RecurrentState in kinds and len(kinds) > 1:  # alone, states are kept once and share pages with nothing
        reasons.append(Message(text.DIFFER_STATE, {"block_tokens": f"{plan.block_tokens:,}"}))
    if plan.tp > 1:
        reasons += _split(caches, plan.tp, plan.dcp)
    return tuple(reasons) or (Message(text.DIFFER_EXACT),)


def _split(caches: set[LayerCache], tp: int, dcp: int = 1) -> tuple[Message, ...]:
    """What ``tp`` GPUs share out among them, ``dcp`` of them the tokens, and whether they copy anything."""
    tokens = (Message(text.DIFFER_TOKENS, {"dcp": dcp}),) if dcp > 1 else ()
    heads = {
        c.kv_heads for c in caches if isinstance(c, FullAttention | SlidingWindow | ChunkedAttention | CrossAttention)
    }
    shared_out = max(heads, default=1) > 1
    states = any(isinstance(c, RecurrentState) for c in caches)
    whole = any(isinstance(c, LatentAttention | IndexerKeys) for c in caches)
    copies = max(tp // dcp if whole else 1, tp // min(heads, default=tp) // dcp)
    if not shared_out and not states:
        if dcp == 1:
            return (Message(text.DIFFER_COPIED, {"tp": tp}),)
        return (*tokens, Message(text.DIFFER_COPIES, {"tp": tp, "copies": copies})) if copies > 1 else tokens
    both = text.SHARE_BOTH if states else text.SHARE_HEADS
    what = both if shared_out else text.SHARE_STATES
    return (Message(text.DIFFER_SPLIT_SOME if copies > 1 else text.DIFFER_SPLIT, {"tp": tp, "what": what}), *tokens)


def _working(cache: LayerCache, layers: int, tokens: int, dtype: KvDtype) -> tuple[Message, str, int | None]:
    values: dict[str, object] = {"layers": layers}
    match cache:
        case FullAttention():
            return Message(text.FULL, values), _heads(layers, cache, dtype), tokens
        case SlidingWindow():
            kind = text.WINDOW if cache.limits else text.WINDOW_WIDE
            values["limit"] = f"{cache.window_tokens:,}"
            kept = min(tokens, cache.window_tokens) if cache.limits else tokens
            return Message(kind, values), _heads(layers, cache, dtype), kept
        case ChunkedAttention():
            values["limit"] = f"{cache.chunk_tokens:,}"
            return Message(text.CHUNK, values), _heads(layers, cache, dtype), min(tokens, cache.chunk_tokens)
        case LatentAttention():
            each = dtype.latent_bytes(cache.latent_dim, cache.rope_dim)
            formula = f"{layers} × {_latent(cache, dtype)} B"
            return Message(text.LATENT, values), f"{formula} = {format_exact(layers * each)} B", tokens
        case IndexerKeys():
            each = layer_bytes((cache,), 1, dtype)
            width = f"({cache.key_dim} + {each - cache.key_dim})" if cache.packed else _vector(cache.key_dim, dtype)
            return (
                Message(text.INDEXER, values),
                f"{layers} × {width} B = {format_exact(layers * each)} B",
                tokens,
            )
        case RecurrentState():
            conv, recurrent = state_values(cache)
            terms = [
                f"{count:,} × {STATE_VALUE_BYTES[kind]} B"
                for count, kind in ((conv, cache.conv_dtype), (recurrent, cache.recurrent_dtype))
                if count
            ]
            each = layer_bytes((cache,), 1, dtype)
            inner = f"({' + '.join(terms)})" if len(terms) > 1 else "".join(terms) or "0 B"
            values["mixer"] = cache.mixer.replace("_", " ")
            return (
                Message(text.STATE, values),
                f"{layers} × {inner} = {format_exact(layers * each)} B",
                None,
            )
        case CrossAttention():
            values["limit"] = f"{cache.encoder_tokens:,}"
            return Message(text.CROSS, values), _heads(layers, cache, dtype), cache.encoder_tokens
        case CompressedAttention():
            if not cache.ratio:
                values["limit"] = f"{cache.window_tokens:,}"
                each, _ = record_bytes(cache, dtype)
                formula = f"{layers} × {format_exact(each)} B = {format_exact(layers * each)} B"
                return Message(text.COMPRESSED_WINDOW, values), formula, min(tokens, cache.window_tokens)
            values["ratio"] = cache.ratio
            growing = layer_bytes((cache,), cache.window_tokens + 1, dtype) - layer_bytes(
                (cache,), cache.window_tokens, dtype
            )
            record, _ = record_bytes(cache, dtype)
            formula = (
                f"{layers} × ({format_exact(growing)} B × n + {format_exact(record)} B × min(n, {cache.window_tokens})"
                f" + {cache.state_bytes:,} B)"
            )
            return Message(text.COMPRESSED, values), formula, None
        case _:
            assert_never(cache)


def _latent(cache: LatentAttention, dtype: KvDtype) -> str:
    """Bytes of one latent: values, then scales, then the rotary part where they are stored apart."""
    latent, rope = cache.latent_dim, cache.rope_dim
    match dtype.packing:
        case "fp8_ds_mla":
            return f"({latent} + {latent // 128} × 4 + {rope} × 2)"
        case "nvfp4_ds_mla":
            return f"({latent} × 0.5 + {format_exact(Fraction(latent, 16))} + {rope})"
        case "plain":
            return _vector(latent + rope, dtype, written=f"({latent} + {rope})")
        case _:
            assert_never(dtype.packing)


def _vector(dim: int, dtype: KvDtype, *, written: str = "") -> str:
    """``128 × 2``, with the scale where it has one."""
    values = f"{written or dim} × {format_exact(dtype.value_bytes)}"
    return f"({values} + {dtype.vector_scale_bytes})" if dtype.vector_scale_bytes else values


def _heads(
    layers: int, cache: FullAttention | SlidingWindow | ChunkedAttention | CrossAttention, dtype: KvDtype
) -> str:
    """``2 × 64 × 8 × 128 × 2 B = 262,144 B``; key and value apart where they differ or carry scales."""
    total = layers * token_bytes(cache, dtype)
    width = format_exact(dtype.value_bytes)
    if dtype.vector_scale_bytes:
        scale = dtype.vector_scale_bytes
        vectors = f"({cache.key_dim} × {width} + {scale} + {cache.value_dim} × {width} + {scale}) B"
        formula = f"{layers} × {cache.kv_heads} × {vectors}"
    elif dtype.of_values:
        values = f"{cache.value_dim} × {format_exact(dtype.of_values.value_bytes)}"
        formula = f"{layers} × {cache.kv_heads} × ({cache.key_dim} × {width} + {values}) B"
    elif cache.key_dim == cache.value_dim:
        formula = f"2 × {layers} × {cache.kv_heads} × {cache.key_dim} × {width} B"
    else:
        formula = f"{layers} × {cache.kv_heads} × ({cache.key_dim} + {cache.value_dim}) × {width} B"
    return f"{formula} = {format_exact(total)} B"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workings:
    """The three numbers under the sentence, each as a formula: numbers and operators, the same in every language."""

    at_once: str
    per_request: str
    lacking: str


def workings(sizing: Sizing) -> Workings | None:
    """None where there is no budget to reckon with."""
    plan, budget = sizing.plan, sizing.budget
    if plan is None or budget is None or sizing.request_bytes is None or sizing.lacking_bytes is None:
        return None
    if not isinstance(plan, VllmPlan):
        return _workings_in_bytes(sizing, plan, budget)
    request, shared = plan.request_blocks(sizing.tokens), plan.shared_blocks(sizing.shared_tokens)
    block = plan.pool_block_bytes
    null = budget.null_bytes // block
    taken = [count for count in (null, shared) if count]
    free = " − ".join(f"{count:,}" for count in (budget.usable_blocks + null, *taken))
    free, each = f"({free})" if taken else free, f"{request:,}"
    if shared:
        each = f"({each} − {shared:,})"
    fit = f"⌊{free} ÷ {each}⌋"
    of_one = -(-sizing.scenario.requests // sizing.engines)
    need = f"{of_one:,} × {each} × {format_factor(block)}"
    if shared:
        need = f"({shared:,} + {of_one:,} × {each}) × {format_factor(block)}"
    needed = (shared + of_one * (request - shared)) * block
    room, *over = _room(sizing.lacking_bytes, budget, needed)
    return Workings(
        at_once=f"{sizing.engines:,} × {fit}" if sizing.engines > 1 else fit,
        per_request=f"{request:,} × {format_factor(block)}",
        lacking=f"{need} − {room}{''.join(f' + {one}' for one in over)}",
    )


def _room(lacking: int, budget: Budget, needed: int) -> tuple[str, ...]:
    """What is taken off a need that is printed in full, and what is missing before any request, if anything."""
    over = max(0, -budget.available_bytes)
    terms = (-budget.usable_bytes, over) if over else (-budget.usable_bytes,)
    return format_terms(lacking, *terms, exact=needed)


def _workings_in_bytes(sizing: Sizing, plan: Plan, budget: Budget) -> Workings:
    """Where the pool has no blocks: what one engine's requests need, and the most for which there is room."""
    tokens, shared = sizing.tokens, sizing.shared_tokens
    fit = (sizing.max_sequences_counted or 0) // sizing.engines

    def need(requests: int) -> int:
        return plan.need_bytes(requests, tokens, shared)

    lower, room, upper = _apart(need(fit), budget.usable_bytes, need(fit + 1))
    most = f"{fit:,} → {lower} ≤ {room} < {fit + 1:,} → {upper}"
    if sizing.at_slots_limit:  # one more is refused whatever room there is
        most = f"-np ≤ {fit:,}"
    over = max(0, -budget.available_bytes)
    terms = (need(sizing.requests_of_one), -budget.usable_bytes, *((over,) if over else ()))
    needed, room, *missing = format_terms(sizing.lacking_bytes or 0, *terms)
    return Workings(
        at_once=f"{sizing.engines:,} × {fit:,}: {most}" if sizing.engines > 1 else most,
        per_request=f"1 → {format_bytes(need(1))}",
        lacking=f"{needed} − {room}{''.join(f' + {one}' for one in missing)}",
    )


def _apart(lower: int, room: int, upper: int) -> tuple[str, str, str]:
    """The three in one unit, with as many decimals as it takes to see that the first two are below the last."""
    for decimals in range(1, 10):
        step = Fraction(GIB, 10**decimals)
        rounded = [round(Fraction(count) / step) for count in (lower, room, upper)]
        if rounded[1] < rounded[2]:
            one, two, three = (f"{float(number * step / GIB):,.{decimals}f} GiB" for number in rounded)
            return one, two, three
    return f"{lower:,} B", f"{room:,} B", f"{upper:,} B"
