"""Architecture + Scenario -> Sizing: the answer, in bytes, with its working."""

from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Final, Literal

from kvviz.budgets import Budget, budget_of
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
from kvviz.core.dtypes import KvDtype
from kvviz.core.identity import ByIdentity
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.devices import TYPED, Device, device
from kvviz.engines import sglang, vllm
from kvviz.engines.sglang import SglangPlan
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.planning import (
    Plan,
    engine_name,
    generation_of,
    most_requests,
    planned,
    request_bytes_windows_ignored,
    split_of,
    usable_dtypes,
)
from kvviz.scenario import Scenario
from kvviz.text import Message, Text
from kvviz.text import config as config_text
from kvviz.text import devices as devices_text
from kvviz.text import engine as text
from kvviz.text import planning as planning_text
from kvviz.weights import with_draft

Fits = Literal["yes", "held-only", "no"]


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
    """Engines side by side, each on GPUs and with a pool of its own; requests are shared out among them."""
    plan: Plan | None
    """What the engine sets aside; None where this engine version does not run the model."""
    plan_missing: Note | None
    """Why there is no plan."""
    budget: Budget | None
    """None without a GPU or a plan, or where the weights are not known."""
    request_bytes: int | None
    """What the engine counts one request of ``tokens`` as, on the fullest GPU."""
    held_bytes: int | None
    """What such a request occupies in steady decode, on the fullest GPU."""
    shared_bytes: int
    """On one GPU, of the scenario's shared tokens, which one engine's requests have in common; 0 without any."""
    max_sequences_counted: int | None
    """Requests of ``tokens`` that fit at once by the engine's count, over all engines, what they share counted once."""
    max_sequences_held: int | None
    """The same where every one of them is in steady decode."""
    max_sequences_typical: int | None
    """By the engine's count again, where every one of them has the scenario's typical length."""
    max_sequences_run: int | None
    """Requests that run at once over all engines, whatever the memory, unless a flag of the engine says otherwise (of
    llama.cpp none does); None: only memory is known to decide."""
    max_tokens: int | None
    """Longest single request the pool holds (by the engine's count); None also where no length is too long for it."""
    starts: bool | None
    """Whether the engine would start: one longest request must fit beside the pool's null block."""
    fits: Fits | None
    """Of ``scenario.requests``: yes by the counted number, held-only by the held one, or no; no, too, where the engine
    would not start."""
    short_bytes: int | None
    """Per GPU: what the counted need exceeds the usable pool by; negative when there is room to spare. The need is that
    of no more requests than the engine has slots for."""
    notes: tuple[Note, ...]

    @property
    def one_command(self) -> bool:
        """Whether the engines side by side are data-parallel ranks of one start, which share out the experts (vLLM)."""
        return self.engines > 1 and self.scenario.attention_dp == "on" and isinstance(self.plan, VllmPlan)

    @property
    def requests_of_one(self) -> int:
        """Of the requests asked for, those that one engine has at once: its share, but no more than it has slots."""
        return _of_one(self.scenario, self.engines, self.plan)

    @property
    def at_slots_limit(self) -> bool:
        """Whether the engine's slots, and not its memory, decide how many fit."""
        most = most_requests(self.plan) if self.plan else None
        return most is not None and self.max_sequences_counted == self.engines * most

    @property
    def runs_fewer(self) -> bool:
        """Whether fewer of the requests asked for run at once than memory has room for."""
        if self.max_sequences_run is None or self.max_sequences_counted is None:
            return False
        room = self.max_sequences_counted if self.fits == "no" else self.scenario.requests
        return min(room, self.scenario.requests) > self.max_sequences_run

    @property
    def holds_more(self) -> bool:
        """Whether memory has room for more than run at once by default, asked for or not."""
        fit, run = self.max_sequences_counted, self.max_sequences_run
        return fit is not None and run is not None and fit > run

    @property
    def lacking_bytes(self) -> int | None:
        """All that one GPU lacks for the counted need, whatever the weights leave over; negative: to spare."""
        if self.budget is None or self.short_bytes is None:
            return None
        return self.short_bytes + max(0, -self.budget.available_bytes)

    def need_bytes(self, requests: int, tokens: int) -> Fraction:
        """Pool on one GPU that ``requests`` of one engine need, each of ``tokens``, what they share counted once.

        As the engine counts them; where its count is not known, the content of the whole model.
        """
        if self.plan is None:
            return requests * self.content.bytes_at(tokens)
        return Fraction(self.plan.need_bytes(requests, tokens, self.shared_tokens))

    def fit(self, tokens: int) -> int:
        """Most requests of ``tokens`` at once over all engines, as counted. ``budget`` must be there."""
        if self.plan is None or self.budget is None:
            raise ValueError("what fits needs a budget: a GPU and known weights")
        return self.engines * self.plan.fit(self.budget.usable_bytes, tokens, self.shared_tokens)

    @property
    def request_bytes_windows_ignored(self) -> int | None:
        """``request_bytes`` with every attention layer at full length, as without any rule for windows."""
        if isinstance(self.plan, VllmPlan):
            return self.plan.request_bytes_windows_ignored(self.tokens)
        gpu = device(self.scenario.gpu) if self.scenario.gpu else None
        return request_bytes_windows_ignored(self.architecture, self.scenario, gpu)

    @property
    def shared_tokens(self) -> int:
        """Tokens that one engine's requests have in common; the last one of a prompt is computed again."""
        return min(self.scenario.shared_tokens, max(0, self.scenario.input_tokens - 1))

    @property
    def held_once_tokens(self) -> int:
        """Those of them that ``shared_bytes`` are of: what more there is fills no block."""
        if self.plan is None:
            return 0
        return bisect_left(range(self.shared_tokens + 1), self.shared_bytes, key=self.plan.shared_bytes)


def size(
    architecture: Architecture, scenario: Scenario, *, weights: Estimate | None, weights_of: Architecture | None = None
) -> Sizing:
    """Answer ``scenario`` for a model. ``weights`` are those of the whole model; None where nobody knows them.

    ``weights_of`` is the model they belong to, where ``architecture`` is a what-if that leaves them as they are.

    Raises ScenarioError, with the field, for settings that this model or GPU cannot be run with.
    """
    gpu = device(scenario.gpu) if scenario.gpu else None
    tokens = scenario.tokens
    made = planned(architecture, scenario, gpu)
    plan, stored = made.plan, made.kv_dtype
    whole = _content(ByIdentity(architecture), stored)
    drafts, real = (scenario.draft_layers if plan else 0), weights_of or architecture
    with_draft_weights = with_draft(weights, real, drafts) if weights and drafts else weights
    loaded = with_draft_weights or weights
    budget = budget_of(architecture, scenario, gpu, loaded, plan, weights_of=real) if gpu and plan and loaded else None
    engines = scenario.gpus // made.gpus
    requests = scenario.requests
    shared = min(scenario.shared_tokens, max(0, scenario.input_tokens - 1))
    counted_fit = held_fit = typical_fit = most_run = max_tokens = short = None
    starts: bool | None = None
    fits: Fits | None = None
    if plan and budget:
        usable = budget.usable_bytes
        counted_fit = engines * plan.fit(usable, tokens, shared)
        held_fit = engines * plan.fit_held(usable, tokens, shared)
        typical_fit = counted_fit
        if scenario.typical_tokens != tokens:
            typical_fit = engines * plan.fit(usable, scenario.typical_tokens, shared)
        most_run = None if (each := _runs(plan, budget)) is None else engines * each
        max_tokens = plan.longest_in(budget.pool_bytes - budget.null_bytes)
        short = plan.need_bytes(_of_one(scenario, engines, plan), tokens, shared) - usable
        starts = max_tokens is None or budget.longest_tokens <= max_tokens
        if not starts or requests > held_fit:
            fits = "no"
        elif requests <= counted_fit:
            fits = "yes"
        else:
            fits = "held-only"
    sizing = Sizing(
        scenario=scenario,
        architecture=architecture,
        kv_dtype=made.kv_dtype,
        kv_dtype_reason=made.reason,
        tokens=tokens,
        content=whole,
        content_bytes=ceil(whole.bytes_at(tokens)),
        engines=engines,
        plan=plan,
        plan_missing=made.missing,
        budget=budget,
        request_bytes=plan.request_bytes(tokens) if plan else None,
        held_bytes=plan.held_bytes(tokens) if plan else None,
        shared_bytes=plan.shared_bytes(shared) if plan else 0,
        max_sequences_counted=counted_fit,
        max_sequences_held=held_fit,
        max_sequences_typical=typical_fit,
        max_sequences_run=most_run,
        max_tokens=max_tokens,
        starts=starts,
        fits=fits,
        short_bytes=short,
        notes=(),
    )
    notes = [*_of_model(sizing, drafts), *_notes(sizing, gpu, made.chosen)]
    if budget and with_draft_weights is None:
        notes.append(Note(code="draft-weights-not-counted", message=Message(text.DRAFT_WEIGHTS)))
    if gpu and plan and weights is None:
        notes.append(Note(code="weights-unknown", message=Message(text.WEIGHTS_UNKNOWN)))
    return replace(sizing, notes=(*notes, *_asked(sizing)))


def usable_kv_dtypes(sizing: Sizing) -> tuple[str, ...]:
    """The cache types that this model can have with this engine on this GPU, ``auto`` first."""
    return ("auto", *usable_dtypes(sizing.architecture, sizing.scenario))


def _of_one(scenario: Scenario, engines: int, plan: Plan | None) -> int:
    each, most = -(-scenario.requests // engines), most_requests(plan) if plan else None
    return each if most is None else min(each, most)


def _runs(plan: Plan, budget: Budget, *, asked: int | None = None) -> int | None:
    """Requests that one engine runs at once, whatever the memory: by default, or where it is told to run ``asked``."""
    match plan:
        case VllmPlan():
            return asked or vllm.default_batched_sequences(budget.device)
        case SglangPlan():
            longest = budget.longest_tokens
            return max(1, plan.running_cap(budget.pool_bytes, context_tokens=longest, max_running_requests=asked))
        case _:
            return most_requests(plan)


_FULL_WEIGHTS: Final = frozenset({"auto", "bf16", "fp16", "fp32"})
"""Weight types that nobody takes for the cache's."""


@lru_cache(maxsize=1024)
def _content(key: ByIdentity[Architecture], kv_dtype: KvDtype) -> Content:
    return content(key.value.layers, kv_dtype)


_EXPANDS: Final = frozenset({"vllm", "llama.cpp"})
"""Engines that keep a latent as heads where its model is written so (MiniCPM3)."""


def _of_model(sizing: Sizing, drafts: int) -> list[Note]:
    """What the architecture's reader says of it, as far as this engine does so; of draft layers what is not counted."""
    engine, notes = sizing.scenario.engine, list[Note]()
    for note in sizing.architecture.notes:
        if note.code == "latent-expanded" and engine not in _EXPANDS:
            continue
        if note.code == "packed-cache" and not sizing.kv_dtype.packs_records:
            continue
        if note.code == "draft-layers-not-counted" and drafts:
            named = note.message.values["count"]
            if isinstance(named, int) and named > drafts:
                values = {"count": named, "counted": drafts}
                notes.append(Note(code=note.code, message=Message(text.DRAFT_LAYERS_IN_PART, values)))
            continue
        if note.code == "shared-layers" and engine == "sglang":
            said = Message(config_text.SHARED_LAYERS_ALLOCATED, note.message.values)
            notes.append(Note(code=note.code, message=said))
        else:
            notes.append(note)
    return notes


def _notes(sizing: Sizing, gpu: Device | None, chosen: KvDtype) -> list[Note]:
    """What a reader of the answer must know, the gravest first. ``chosen``: the cache type before its layout."""
    notes: list[Note] = []

    def note(code: str, sentence: Text, **values: object) -> None:
        notes.append(Note(code=code, message=Message(sentence, values)))

    architecture, scenario, plan, budget = sizing.architecture, sizing.scenario, sizing.plan, sizing.budget
    generation, stored = generation_of(gpu), sizing.kv_dtype
    tokens = scenario.tokens
    if budget and budget.pool_bytes == 0:
        requested = format_bytes(budget.requested_bytes)
        if budget.weights.value_bytes > budget.requested_bytes:
            weights = format_bytes(budget.weights.value_bytes)
            note("weights-do-not-fit", text.WEIGHTS_DO_NOT_FIT, weights=weights, requested=requested)
        else:
            need = format_bytes(budget.requested_bytes - budget.available_bytes)
            note("no-room-for-cache", text.NO_ROOM, need=need, requested=requested)
    if plan and budget and budget.pool_bytes and not sizing.starts:
        need, pool = format_bytes(plan.request_bytes(budget.longest_tokens)), format_bytes(budget.pool_bytes)
        sentence = text.STARTUP_FAILS if isinstance(plan, VllmPlan) else text.STARTUP_FAILS_ELSEWHERE
        values = {"engine": engine_name(scenario), "length": f"{budget.longest_tokens:,}", "need": need, "pool": pool}
        note("startup-fails", sentence, **values)
    if gpu and gpu.memory_basis == "nominal" and gpu.memory_source != TYPED:
        note("gpu-nominal", devices_text.NOMINAL_SLICE if gpu.kind == "mig" else devices_text.NOMINAL)
    if gpu and gpu.memory_source == TYPED:
        note("gpu-typed", devices_text.TYPED, gib=f"{gpu.memory_bytes / GIB:,g}")
    most = most_requests(plan) if plan else None
    if most is not None and scenario.requests > sizing.engines * most:
        values = {"most": format_count(most), "requests": format_count(scenario.requests)}
        together = text.SLOTS_LIMIT if sizing.engines == 1 else text.SLOTS_LIMIT_ENGINES
        fit = format_count(sizing.engines * most)
        note("slots-limit", together, engines=sizing.engines, fit=fit, **values)
    maximum = architecture.max_context_tokens
    if maximum is not None and tokens > maximum:
        sentence = text.BEYOND_MODEL if scenario.engine == "vllm" else text.BEYOND_MODEL_ELSEWHERE
        note("context-beyond-model", sentence, tokens=f"{tokens:,}", maximum=f"{maximum:,}")
    if isinstance(plan, VllmPlan) and architecture.dtype == "bf16":
        runs_in = vllm.runs_in(architecture, generation)
        if runs_in != "bf16":
            note("no-bf16", text.NO_BF16 if runs_in == "fp16" else text.ONLY_FP32)
    if stored.name != chosen.name:
        note("stored-as", text.STORED_AS, engine=engine_name(scenario), chosen=chosen.name, stored=stored.name)
    what_if = scenario.weights_gib is None and scenario.weight_dtype not in _FULL_WEIGHTS
    if what_if and not stored.quantised:
        note("weights-are-not-cache", text.WEIGHTS_ARE_NOT_CACHE, weights=scenario.weight_dtype, cache=stored.name)
    max_tokens = sizing.max_tokens
    if isinstance(plan, VllmPlan):
        notes += _vllm_notes(sizing, plan, generation)
    elif plan is not None and (tp := split_of(plan)) > 1:
        notes += _copies(_kinds(ByIdentity(architecture), False), tp)
    if isinstance(plan, SglangPlan):
        notes += [said] if (said := sglang.class_note(architecture)) else []
        notes += _sglang_notes(sizing, plan, budget) if budget else []
    if budget and (unknown := _not_taken_off(budget)):
        notes.append(Note(code="not-taken-off", message=Message(text.NOT_TAKEN_OFF, {"what": Message(unknown)})))
    if plan and maximum is not None and max_tokens is not None and max_tokens > maximum:
        values = {"tokens": f"{max_tokens:,}", "maximum": f"{maximum:,}"}
        note("max-tokens-beyond-model", text.MAX_TOKENS_BEYOND_MODEL, **values)
    return notes


def _vllm_notes(sizing: Sizing, plan: VllmPlan, generation: str) -> list[Note]:
    scenario, tokens, tp = sizing.scenario, sizing.tokens, plan.tp
    notes: list[Note] = []

    def note(code: str, sentence: Text, **values: object) -> None:
        notes.append(Note(code=code, message=Message(sentence, values)))

    if scenario.weight_dtype == "auto" and vllm.needs_expert_parallel(sizing.architecture, tp, generation):
        note("expert-parallel", text.EXPERT_PARALLEL, tp=tp)
    kinds = _kinds(ByIdentity(sizing.architecture), True)
    notes += _copies(kinds, tp, plan.dcp)
    if kinds.windows and plan.request_blocks(tokens) > plan.held_blocks(tokens):
        note(
            "windows-reserve",
            text.CHUNKS_RESERVE if kinds.chunks else text.WINDOWS_RESERVE,
            in_flight=f"{plan.in_flight_tokens:,}",
            counted=format_bytes(plan.request_bytes(tokens)),
            held=format_bytes(plan.held_bytes(tokens)),
        )
    if kinds.chunks and scenario.draft_layers and scenario.full_windows == "off":
        note("chunks-with-draft", text.CHUNKS_WITH_DRAFT)
    if kinds.states and scenario.draft_layers and scenario.draft_tokens is None:
        note("draft-tokens-assumed", text.DRAFT_TOKENS_ASSUMED)
    if kinds.states and plan.block_tokens > (scenario.block_tokens or vllm.DEFAULT_BLOCK_TOKENS):
        note("coarse-blocks", text.COARSE_BLOCKS, block=f"{plan.block_tokens:,}")
    each = -(-scenario.requests // sizing.engines)
    most = _runs(plan, sizing.budget) if sizing.budget else None
    if most is not None and each > most:
        sentence = text.MORE_THAN_RUN_GROUP if sizing.one_command else text.MORE_THAN_RUN
        note("more-than-max-num-seqs", sentence, sequences=f"{each:,}", most=f"{most:,}")
    return notes


def _sglang_notes(sizing: Sizing, plan: SglangPlan, budget: Budget) -> list[Note]:
    """Where SGLang runs fewer at once than it is given, though it may be told to run more."""
    each = -(-sizing.scenario.requests // sizing.engines)
    most, raised = (_runs(plan, budget, asked=asked) for asked in (None, max(each, plan.dp_attention)))
    if most is None or raised is None or not each > most < raised:
        return []
    values = {"sequences": f"{each:,}", "most": f"{most:,}"}
    return [Note(code="more-than-max-running-requests", message=Message(text.MORE_THAN_RUNNING, values))]


def _not_taken_off(budget: Budget) -> Text | None:
    """What of a GPU's memory is in use while nobody knows how much of it."""
    activations, engine = (
        term.source.text == planning_text.NOT_KNOWN for term in (budget.activations, budget.non_torch)
    )
    if activations and engine:
        return text.ACTIVATIONS_AND_ENGINE
    return text.ACTIVATIONS if activations else text.ENGINE_MEMORY if engine else None


def _copies(kinds: "_Kinds", tp: int, dcp: int = 1) -> list[Note]:
    """What tensor parallelism does not divide; ``dcp`` GPUs share out the tokens instead of each keeping a copy."""
    notes = []
    heads = kinds.fewest_heads
    if heads and (copies := tp // heads // dcp) > 1:
        values = {"tp": tp, "heads": heads, "copies": copies}
        notes.append(Note(code="kv-heads-copied", message=Message(text.HEADS_COPIED, values)))
    if kinds.latent and (copies := tp // dcp) > 1:
        said = text.LATENT_COPIED if dcp == 1 else text.LATENT_COPIED_DCP
        values = {"tp": tp, "dcp": dcp, "copies": copies}
        notes.append(Note(code="latent-copied", message=Message(said, values)))
    return notes


def _asked(sizing: Sizing) -> list[Note]:
    """What became of settings that others are worked out from."""
    notes: list[Note] = []

    def note(code: str, sentence: Text, **values: object) -> None:
        notes.append(Note(code=code, message=Message(sentence, values)))

    scenario, plan, budget, typical_fit = sizing.scenario, sizing.plan, sizing.budget, sizing.max_sequences_typical
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
    if plan and scenario.shared_tokens and not sizing.shared_bytes:
        note("shared-saves-nothing", text.SHARED_NOTHING, shared=format_count(scenario.shared_tokens))
    elif plan and sizing.shared_bytes:
        values = {"shared": format_count(scenario.shared_tokens), "bytes": format_bytes(sizing.shared_bytes)}
        values["held"] = format_count(sizing.held_once_tokens)
        sentence = Message(text.SHARED, values)
        if budget:
            without = sizing.engines * plan.fit(budget.usable_bytes, sizing.tokens)
            sentence = Message(text.SHARED_WITHOUT, {"said": sentence, "fit": format_count(without)})
        notes.append(Note(code="shared-tokens", message=sentence))
    return notes


def _percent(share: float) -> str:
    return f"{share * 100:.4g}%"


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
def _kinds(key: ByIdentity[Architecture], by_vllm: bool) -> _Kinds:
    caches = vllm.stored_caches(key.value) if by_vllm else [cache for layer in key.value.layers for cache in layer]
    heads = [c.kv_heads for c in caches if isinstance(c, FullAttention | SlidingWindow | ChunkedAttention)]
    return _Kinds(
        states=any(isinstance(c, RecurrentState) for c in caches),
        windows=any(isinstance(c, SlidingWindow | ChunkedAttention) for c in caches),
        chunks=any(isinstance(c, ChunkedAttention) for c in caches),
        latent=any(isinstance(c, LatentAttention) for c in caches),
        fewest_heads=min(heads, default=0),
    )
