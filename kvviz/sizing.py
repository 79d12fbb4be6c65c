"""Architecture + Scenario -> Sizing: the answer, in bytes, with its working."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Final, Literal

from kvviz.core.architecture import Architecture, Note
from kvviz.core.cache import (
    ChunkedAttention,
    Content,
    FullAttention,
    LatentAttention,
    RecurrentState,
    SlidingWindow,
    content,
)
from kvviz.core.dtypes import KV_DTYPES, KvDtype
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.identity import ByIdentity
from kvviz.core.kv_dtype import resolve_kv_dtype
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.devices import Device, device
from kvviz.engines import vllm, vllm_memory
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.scenario import Scenario
from kvviz.text import Message, Text
from kvviz.text import engine as text

Fits = Literal["yes", "held-only", "no"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """One GPU's memory, from what the driver reports to what is left for the cache. All terms in bytes, per GPU."""

    device: Device
    device_bytes: int
    """What the driver reports."""
    requested_bytes: int
    """The engine's share: ceil(device_bytes x memory_fraction)."""
    outside_bytes: int
    """device_bytes - requested_bytes: never touched by the engine."""
    weights: Estimate
    activations: Estimate
    graphs: Estimate
    non_torch: Estimate
    available_bytes: int
    """requested minus the four terms; negative when the weights alone do not fit."""
    pool_blocks: int
    """available // bytes per block, at least 0."""
    pool_bytes: int
    """pool_blocks x bytes per block."""
    kept_free_blocks: int
    """Blocks of the pool that the scenario's headroom keeps free, rounded up; what fits is counted on the others."""
    kept_free_bytes: int
    """kept_free_blocks x bytes per block."""
    longest_tokens: int
    """The longest request the engine is started for: the scenario's max_model_len, else its tokens."""
    max_concurrency: float
    """What the engine logs at start as "Maximum concurrency": blocks of the pool / blocks of a longest request."""
    kv_cache_size_tokens: int
    """What it logs as "GPU KV cache size": concurrency x length, so not a pool size where windows or states count."""

    @property
    def usable_blocks(self) -> int:
        """Blocks of the pool that requests may fill."""
        return self.pool_blocks - self.kept_free_blocks

    @property
    def usable_bytes(self) -> int:
        """Bytes of those blocks."""
        return self.pool_bytes - self.kept_free_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """Everything the page, the CLI and the exports show about one scenario."""

    scenario: Scenario
    architecture: Architecture
    kv_dtype: KvDtype
    """What ``scenario.kv_dtype`` resolved to, in the layout the engine stores."""
    kv_dtype_reason: Message
    """Why, where the scenario says ``auto``."""
    tokens: int
    """Longest sequence: input, passages and output."""
    content: Content
    """One sequence, whole model, before any split over GPUs."""
    content_bytes: int
    """content at ``tokens``, rounded up."""
    engines: int
    """Engines side by side, each on ``tp`` GPUs with a pool of its own; requests are shared out among them."""
    plan: VllmPlan | None
    """What the engine sets aside on one GPU; None where this engine version does not run the model."""
    plan_missing: Note | None
    """Why there is no plan."""
    budget: Budget | None
    """None without a GPU or a plan, or where the weights are not known."""
    request_bytes: int | None
    """What the engine counts one request of ``tokens`` as, on one GPU (whole blocks)."""
    held_bytes: int | None
    """What such a request occupies in steady decode, on one GPU (whole blocks)."""
    shared_blocks: int
    """Blocks per GPU of the scenario's shared tokens, which one engine's requests have in common; 0 without any."""
    shared_bytes: int
    """shared_blocks x bytes per block."""
    max_sequences_counted: int | None
    """Requests of ``tokens`` that fit at once by the engine's count, over all engines, what they share counted once."""
    max_sequences_held: int | None
    """The same where every one of them is in steady decode."""
    max_sequences_typical: int | None
    """By the engine's count again, where every one of them has the scenario's typical length."""
    max_tokens: int | None
    """Longest single request the pool holds (by the engine's count); None also where no length is too long for it."""
    starts: bool | None
    """Whether the engine would start: one longest request must fit beside the pool's null block."""
    fits: Fits | None
    """Of ``scenario.requests``: yes by the counted number, held-only by the held one, or no; no, too, where the engine
    would not start."""
    short_bytes: int | None
    """Per GPU: what the counted need exceeds the usable pool by; negative when there is room to spare."""
    notes: tuple[Note, ...]

    @property
    def lacking_bytes(self) -> int | None:
        """All that one GPU lacks for the counted need, whatever the weights leave over; negative: to spare."""
        if self.budget is None or self.short_bytes is None:
            return None
        return self.short_bytes + max(0, -self.budget.available_bytes)


def size(architecture: Architecture, scenario: Scenario, *, weights: Estimate | None) -> Sizing:
    """Answer ``scenario`` for a model. ``weights`` are those of the whole model; None where nobody knows them.

    Raises ScenarioError, with the field, for settings that this model or GPU cannot be run with.
    """
    gpu = device(scenario.gpu) if scenario.gpu else None
    generation = gpu.generation if gpu else _DEFAULT_GENERATION
    tokens = scenario.tokens
    chosen, reason = resolve_kv_dtype(architecture, scenario.kv_dtype)
    if scenario.kv_dtype == "auto" and (default := vllm.default_dtype(architecture, generation)):
        chosen, reason = default, Message(text.DTYPE_ENGINE_DEFAULT, {"version": vllm.VERSION})
    runs_in = vllm.runs_in(architecture, generation)
    if scenario.kv_dtype == "auto" and not chosen.quantised and chosen.name != runs_in:
        chosen, reason = KV_DTYPES[runs_in], Message(_FALLBACKS[architecture.dtype], {"dtype": runs_in})
    if vllm.offers(chosen):
        tp = _tensor_parallel(architecture, scenario)
        stored = vllm.stored_dtype(architecture, chosen, generation)
    else:  # another engine's type: none of vLLM's rules is about it
        tp, stored = scenario.tp or scenario.gpus, chosen
    plan: VllmPlan | None = None
    missing: Note | None = None
    try:
        plan = vllm.plan(
            architecture,
            kv_dtype=stored,
            tp=tp,
            block_tokens=scenario.block_tokens,
            in_flight_tokens=_in_flight_tokens(scenario, gpu),
            gpu_generation=generation,
        )
    except ScenarioError:
        raise
    except KvvizError as error:  # this engine has no plan for the model; what it stores is still worth showing
        missing = Note(code=error.code, message=error.message)
    if plan and scenario.weight_dtype == "auto":  # other weights than the published ones may be stored otherwise
        vllm.check_blocks(architecture, tp, generation, field="gpus" if scenario.tp is None else "tp")
    whole = _content(ByIdentity(architecture), stored)
    budget = None
    if gpu and plan and weights:
        budget = _budget(architecture, scenario, gpu, weights, tp, plan)
    engines = scenario.gpus // tp
    request = plan.request_blocks(tokens) if plan else None
    held = plan.held_blocks(tokens) if plan else None
    requests = scenario.requests
    shared = 0
    if plan and scenario.shared_tokens:  # the last token of a prompt is computed again, for its logits
        shared = plan.shared_blocks(min(scenario.shared_tokens, scenario.input_tokens - 1))
    counted_fit = held_fit = typical_fit = max_tokens = short = None
    starts: bool | None = None
    fits: Fits | None = None
    if plan and budget and request is not None and held is not None:
        usable = budget.usable_blocks
        counted_fit, held_fit = engines * _fit(usable, request, shared), engines * _fit(usable, held, shared)
        typical_fit = counted_fit
        if scenario.typical_tokens != tokens:
            typical_fit = engines * _fit(usable, plan.request_blocks(scenario.typical_tokens), shared)
        max_tokens = plan.longest_request(budget.pool_blocks)
        needed_blocks = shared + -(-requests // engines) * (request - shared)
        short = needed_blocks * plan.pool_block_bytes - budget.usable_bytes
        starts = plan.request_blocks(budget.longest_tokens) < budget.pool_blocks
        if not starts or requests > held_fit:
            fits = "no"
        elif requests <= counted_fit:
            fits = "yes"
        else:
            fits = "held-only"
    return Sizing(
        scenario=scenario,
        architecture=architecture,
        kv_dtype=stored,
        kv_dtype_reason=reason,
        tokens=tokens,
        content=whole,
        content_bytes=ceil(whole.bytes_at(tokens)),
        engines=engines,
        plan=plan,
        plan_missing=missing,
        budget=budget,
        request_bytes=None if plan is None or request is None else request * plan.pool_block_bytes,
        held_bytes=None if plan is None or held is None else held * plan.pool_block_bytes,
        shared_blocks=shared,
        shared_bytes=shared * plan.pool_block_bytes if plan else 0,
        max_sequences_counted=counted_fit,
        max_sequences_held=held_fit,
        max_sequences_typical=typical_fit,
        max_tokens=max_tokens,
        starts=starts,
        fits=fits,
        short_bytes=short,
        notes=(
            *architecture.notes,
            *_notes(
                architecture,
                scenario,
                generation=generation,
                chosen=chosen,
                stored=stored,
                plan=plan,
                budget=budget,
                engines=engines,
                requests=requests,
                starts=starts,
                max_tokens=max_tokens,
            ),
            *_missing_weights(gpu, plan, weights),
            *_asked(scenario, plan, budget, engines=engines, shared=shared, typical_fit=typical_fit),
        ),
    )


def usable_kv_dtypes(sizing: Sizing) -> tuple[str, ...]:
    """The cache types that this model can have on this GPU, ``auto`` first."""
    gpu = sizing.scenario.gpu
    generation = device(gpu).generation if gpu else _DEFAULT_GENERATION
    return ("auto", *vllm.usable_dtypes(sizing.architecture, generation))


_DEFAULT_GENERATION: Final = "hopper"
"""Kernels that are assumed where no GPU is chosen."""
_FALLBACKS: Final = {"bf16": text.DTYPE_NO_BF16, "fp16": text.DTYPE_NO_FP16, "fp32": text.DTYPE_FROM_FP32}
"""Why the cache is not of the type that the file names."""
_FULL_WEIGHTS: Final = frozenset({"auto", "bf16", "fp16", "fp32"})
"""Weight types that nobody takes for the cache's."""


def _tensor_parallel(architecture: Architecture, scenario: Scenario) -> int:
    """The scenario's, or one engine over all GPUs where the heads allow it."""
    gpus = scenario.gpus
    if scenario.tp is None:
        if not vllm.runs_on(architecture, gpus):
            values = {"gpus": gpus, "sizes": ", ".join(str(s) for s in vllm.tp_sizes(architecture))}
            raise ScenarioError(Message(text.GPUS_DO_NOT_DIVIDE, values), field="gpus")
        return gpus
    vllm.check_tp(architecture, scenario.tp)
    return scenario.tp


def _batched_tokens(scenario: Scenario, gpu: Device | None) -> int:
    if scenario.batched_tokens is not None:
        return scenario.batched_tokens
    if gpu is None:
        return vllm.DEFAULT_IN_FLIGHT_TOKENS // vllm.CONCURRENT_BATCHES
    return vllm.default_batched_tokens(gpu)


def _in_flight_tokens(scenario: Scenario, gpu: Device | None) -> int:
    if scenario.in_flight_tokens is not None:
        return scenario.in_flight_tokens
    return vllm.CONCURRENT_BATCHES * _batched_tokens(scenario, gpu)


@lru_cache(maxsize=1024)
def _content(key: ByIdentity[Architecture], kv_dtype: KvDtype) -> Content:
    return content(key.value.layers, kv_dtype)


def _budget(
    architecture: Architecture, scenario: Scenario, gpu: Device, weights: Estimate, tp: int, plan: VllmPlan
) -> Budget:
    """requested - weights - activations - graphs - non-torch (vLLM ``v1/worker/gpu_worker.py:700-757``)."""
    requested = ceil(gpu.memory_bytes * scenario.memory_fraction)
    share = weights
    if tp > 1:
        source = Message(text.WEIGHTS_SPLIT, {"source": weights.source, "tp": tp})
        share = Estimate(value_bytes=-(-weights.value_bytes // tp), basis="assumed", source=source)
    batch = {"batched_tokens": _batched_tokens(scenario, gpu), "sequences": vllm.default_batched_sequences(gpu)}
    measured = vllm_memory.as_measured(gpu, **batch)
    activations = vllm_memory.activations(
        vocab=architecture.vocab_size, hidden=architecture.hidden_size, measured=measured, **batch
    )
    graphs, non_torch = vllm_memory.graphs(measured=measured), vllm_memory.non_torch(tp, measured=measured)
    activations = _or_entered(activations, scenario.activations_gib)
    graphs, non_torch = _or_entered(graphs, scenario.graphs_gib), _or_entered(non_torch, scenario.non_torch_gib)
    available = requested - sum(e.value_bytes for e in (share, activations, graphs, non_torch))
    blocks = max(0, available // plan.pool_block_bytes)
    kept_free = ceil(blocks * scenario.headroom_share) if scenario.headroom else 0
    longest = scenario.max_model_len or scenario.tokens
    concurrency, size_tokens = plan.start_log(blocks, longest)
    return Budget(
        device=gpu,
        device_bytes=gpu.memory_bytes,
        requested_bytes=requested,
        outside_bytes=gpu.memory_bytes - requested,
        weights=share,
        activations=activations,
        graphs=graphs,
        non_torch=non_torch,
        available_bytes=available,
        pool_blocks=blocks,
        pool_bytes=blocks * plan.pool_block_bytes,
        kept_free_blocks=kept_free,
        kept_free_bytes=kept_free * plan.pool_block_bytes,
        longest_tokens=longest,
        max_concurrency=concurrency,
        kv_cache_size_tokens=size_tokens,
    )


def _or_entered(estimate: Estimate, gib: float | None) -> Estimate:
    """A person's own log knows better than an estimate."""
    if gib is None:
        return estimate
    return Estimate(value_bytes=ceil(gib * GIB), basis="measured", source=Message(text.ENTERED))


def _fit(blocks: int, request: int, shared: int) -> int:
    """Requests of ``request`` blocks in ``blocks``, where ``shared`` blocks of each are the same ones."""
    return max(0, (blocks - shared) // (request - shared))


def _notes(
    architecture: Architecture,
    scenario: Scenario,
    *,
    generation: str,
    chosen: KvDtype,
    stored: KvDtype,
    plan: VllmPlan | None,
    budget: Budget | None,
    engines: int,
    requests: int,
    starts: bool | None,
    max_tokens: int | None,
) -> list[Note]:
    """What a reader of the answer must know, the gravest first."""
    notes: list[Note] = []

    def note(code: str, sentence: Text, **values: object) -> None:
        notes.append(Note(code=code, message=Message(sentence, values)))

    tokens = scenario.tokens
    if budget and budget.pool_blocks == 0:
        requested = format_bytes(budget.requested_bytes)
        if budget.weights.value_bytes > budget.requested_bytes:
            weights = format_bytes(budget.weights.value_bytes)
            note("weights-do-not-fit", text.WEIGHTS_DO_NOT_FIT, weights=weights, requested=requested)
        else:
            need = format_bytes(budget.requested_bytes - budget.available_bytes)
            note("no-room-for-cache", text.NO_ROOM, need=need, requested=requested)
    if plan and budget and budget.pool_blocks and not starts:
        need, pool = format_bytes(plan.request_bytes(budget.longest_tokens)), format_bytes(budget.pool_bytes)
        note("startup-fails", text.STARTUP_FAILS, length=f"{budget.longest_tokens:,}", need=need, pool=pool)
    maximum = architecture.max_context_tokens
    if maximum is not None and tokens > maximum:
        note("context-beyond-model", text.BEYOND_MODEL, tokens=f"{tokens:,}", maximum=f"{maximum:,}")
    if plan and architecture.dtype == "bf16" and (runs_in := vllm.runs_in(architecture, generation)) != "bf16":
        note("no-bf16", text.NO_BF16 if runs_in == "fp16" else text.ONLY_FP32)
    if stored.name != chosen.name:
        note("stored-as", text.STORED_AS, chosen=chosen.name, stored=stored.name)
    what_if = scenario.weights_gib is None and scenario.weight_dtype not in _FULL_WEIGHTS
    if what_if and not stored.quantised:
        note("weights-are-not-cache", text.WEIGHTS_ARE_NOT_CACHE, weights=scenario.weight_dtype, cache=stored.name)
    if plan is None:
        return notes
    tp = plan.tp
    if scenario.weight_dtype == "auto" and vllm.needs_expert_parallel(architecture, tp, generation):
        note("expert-parallel", text.EXPERT_PARALLEL, tp=tp)
    kinds = _kinds(ByIdentity(architecture))
    heads = kinds.fewest_heads
    if heads and tp > heads:
        note("kv-heads-copied", text.HEADS_COPIED, tp=tp, heads=heads, copies=tp // heads)
    if tp > 1 and kinds.latent:
        note("latent-copied", text.LATENT_COPIED, tp=tp)
    if kinds.windows and plan.request_blocks(tokens) > plan.held_blocks(tokens):
        note(
            "windows-reserve",
            text.CHUNKS_RESERVE if kinds.chunks else text.WINDOWS_RESERVE,
            in_flight=f"{plan.in_flight_tokens:,}",
            counted=format_bytes(plan.request_bytes(tokens)),
            held=format_bytes(plan.held_bytes(tokens)),
        )
    if kinds.states and plan.block_tokens > (scenario.block_tokens or vllm.DEFAULT_BLOCK_TOKENS):
        note("coarse-blocks", text.COARSE_BLOCKS, block=f"{plan.block_tokens:,}")
    each = -(-requests // engines)
    if budget and each > (most := vllm.default_batched_sequences(budget.device)):
        note("more-than-max-num-seqs", text.MORE_THAN_RUN, sequences=f"{each:,}", most=f"{most:,}")
    if maximum is not None and max_tokens is not None and max_tokens > maximum:
        values = {"tokens": f"{max_tokens:,}", "maximum": f"{maximum:,}"}
        note("max-tokens-beyond-model", text.MAX_TOKENS_BEYOND_MODEL, **values)
    return notes


def _asked(
    scenario: Scenario,
    plan: VllmPlan | None,
    budget: Budget | None,
    *,
    engines: int,
    shared: int,
    typical_fit: int | None,
) -> list[Note]:
    """What became of settings that others are worked out from."""
    notes: list[Note] = []

    def note(code: str, sentence: Text, **values: object) -> None:
        notes.append(Note(code=code, message=Message(sentence, values)))

    if scenario.passages and scenario.passage_tokens:
        note(
            "passages-in-input",
            text.PASSAGES,
            input=format_count(scenario.input),
            passages=format_count(scenario.passages),
            each=format_count(scenario.passage_tokens),
            total=format_count(scenario.input_tokens),
        )
    if users := scenario.from_users:
        said = Message(text.FROM_USERS, {"formula": users.formula, "requests": format_count(users.requests)})
        if scenario.sequences == users.requests:
            notes.append(Note(code="requests-from-users", message=said))
        else:
            sequences = format_count(scenario.sequences)
            note("requests-from-users", text.FROM_USERS_INSTEAD, said=said, sequences=sequences)
    if budget and scenario.headroom:
        note(
            "headroom",
            text.HEADROOM,
            share=_percent(scenario.headroom),
            kept=format_bytes(budget.kept_free_bytes),
            pool=format_bytes(budget.pool_bytes),
        )
    if scenario.typical < 1 and typical_fit is not None:
        values = {"tokens": format_count(scenario.typical_tokens), "share": _percent(scenario.typical)}
        note("typical-length", text.TYPICAL, fit=format_count(typical_fit), **values)
    if plan and scenario.shared_tokens and not shared:
        note("shared-saves-nothing", text.SHARED_NOTHING, shared=format_count(scenario.shared_tokens))
    elif plan and shared:
        values = {"blocks": format_count(shared), "bytes": format_bytes(shared * plan.pool_block_bytes)}
        sentence = Message(text.SHARED, {"shared": format_count(scenario.shared_tokens), **values})
        if budget:
            without = engines * _fit(budget.usable_blocks, plan.request_blocks(scenario.tokens), 0)
            sentence = Message(text.SHARED_WITHOUT, {"said": sentence, "fit": format_count(without)})
        notes.append(Note(code="shared-tokens", message=sentence))
    return notes


def _percent(share: float) -> str:
    return f"{share * 100:.4g}%"


def _missing_weights(gpu: Device | None, plan: VllmPlan | None, weights: Estimate | None) -> list[Note]:
    if gpu and plan and weights is None:
        return [Note(code="weights-unknown", message=Message(text.WEIGHTS_UNKNOWN))]
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kinds:
    """Which notes a model's layers can give rise to."""

    states: bool
    windows: bool
    """Windows or chunks."""
    chunks: bool
    """Those are chunks."""
    latent: bool
    """Something that tensor parallelism copies whole."""
    fewest_heads: int
    """KV heads of the layer that is copied first; 0 where no layer has any."""


@lru_cache(maxsize=1024)
def _kinds(key: ByIdentity[Architecture]) -> _Kinds:
    caches = vllm.stored_caches(key.value)
    heads = [c.kv_heads for c in caches if isinstance(c, FullAttention | SlidingWindow | ChunkedAttention)]
    return _Kinds(
        states=any(isinstance(c, RecurrentState) for c in caches),
        windows=any(isinstance(c, SlidingWindow | ChunkedAttention) for c in caches),
        chunks=any(isinstance(c, ChunkedAttention) for c in caches),
        latent=any(isinstance(c, LatentAttention) for c in caches),
        fewest_heads=min(heads, default=0),
    )
