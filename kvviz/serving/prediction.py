"""What is predicted for the served model, figure by figure beside what its engine reports."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from kvviz.core.architecture import Architecture
from kvviz.core.dtypes import ALIASES, KV_DTYPES
from kvviz.core.errors import KvvizError
from kvviz.core.units import format_count
from kvviz.engines.llama_cpp import LlamaCppPlan
from kvviz.engines.sglang import SglangPlan
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.planning import engine_name, name_of, version_of
from kvviz.scenario import Scenario, kv_dtypes, under_engine
from kvviz.serving.reading import Reading
from kvviz.sizing import Sizing, size
from kvviz.text import Message
from kvviz.text import log_check as log_text
from kvviz.text import serving as text

Unit = Literal["count", "bytes"]
_BYTES: Final = "bytes"
_ROUNDED_UP_BYTES: Final = 1
"""SGLang's GB are a float of a whole number of bytes."""
_NEWEST_OF_OLDER: Final = 20
"""Until vLLM 0.20 its own token count was another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One figure, of one engine of a data-parallel deployment."""

    name: str
    """A key of ``text.FIGURES``; in bytes where it says so, a count elsewhere."""
    reported: int | None = None
    predicted: int | None = None

    @property
    def unit(self) -> Unit:
        return "bytes" if _BYTES in self.name else "count"

    @property
    def difference(self) -> int | None:
        """Reported less predicted; None where one of them is unknown."""
        return None if self.reported is None or self.predicted is None else self.reported - self.predicted


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The figures, and what has to be known beside them."""

    model: str
    dtype: str
    """What is stored, with what it was reported as where that is another word."""
    engine: str
    """With the version whose rules are used."""
    gpus: int
    """That one engine is predicted for."""
    tokens: int
    """Of the requests that are counted."""
    lines: tuple[Line, ...]
    notes: tuple[Message, ...]

    @property
    def compared(self) -> tuple[Line, ...]:
        """Figures that are both reported and predicted."""
        return tuple(line for line in self.lines if line.difference is not None)

    @property
    def alone(self) -> tuple[Line, ...]:
        """Figures that are only reported, or only worked out."""
        return tuple(line for line in self.lines if (line.reported is None) != (line.predicted is None))


def predict(
    reading: Reading, architecture: Architecture, asked: Scenario, *, weights: Estimate | None, on_gpu: bool
) -> Prediction:
    """``asked``: the served model with the lengths of a visitor's requests; ``on_gpu``: on that scenario's GPUs too.

    An engine does not report its GPU, so without ``on_gpu`` the size of its pool is not predicted, only what it holds.
    Raises KvvizError where the engine is not known to run this model with what it reports.
    """
    notes: list[Message] = []
    limit = reading.identity.max_model_len or reading.identity.slot_tokens
    scenario = _as_reported(reading, asked, limit, on_gpu=on_gpu, notes=notes)
    sizing = _sized(architecture, scenario, weights, reading)
    _add_rules_words(reading, sizing.scenario, notes)
    fits = limit is None or asked.tokens <= limit
    if not fits:
        values = {"tokens": format_count(asked.tokens), "limit": format_count(limit or 0)}
        notes.append(Message(text.LONGER_THAN_ALLOWED, values))
    match sizing.plan:
        case VllmPlan() as plan:
            lines = _vllm(reading, plan, sizing, on_gpu=on_gpu, fits=fits, notes=notes)
        case SglangPlan() as plan:
            lines = _sglang(reading, plan, sizing, on_gpu=on_gpu, fits=fits, notes=notes)
        case LlamaCppPlan() as plan:
            lines = _llama_cpp(reading, plan, fits=fits, notes=notes)
        case _:
            if sizing.plan_missing is not None:
                raise KvvizError(sizing.plan_missing.message, code=sizing.plan_missing.code)
            raise KvvizError(Message(log_text.NOTHING_TO_PREDICT), code="serving")
    return Prediction(
        model=scenario.model,
        dtype=_dtype_shown(reading, sizing),
        engine=engine_name(sizing.scenario),
        gpus=sizing.scenario.gpus // sizing.engines,
        tokens=asked.tokens,
        lines=lines,
        notes=tuple(notes),
    )


# --- the scenario ----------------------------------------------------------------------------------------------------


def _as_reported(
    reading: Reading, asked: Scenario, limit: int | None, *, on_gpu: bool, notes: list[Message]
) -> Scenario:
    identity = reading.identity
    scenario = under_engine(asked, reading.kind)
    if not on_gpu:
        scenario = Scenario(
            model=asked.model,
            revision=asked.revision,
            config=asked.config,
            engine=reading.kind,
            gpu="",
            input=asked.input,
            output=asked.output,
            passages=asked.passages,
            passage_tokens=asked.passage_tokens,
            shared_tokens=asked.shared_tokens,
        )
    if limit is not None and scenario.tokens > limit:
        scenario = scenario.with_changes(
            input=limit, output=0, passages=0, shared_tokens=0, typical=1.0, max_model_len=None
        )
    changes: dict[str, str | int | float | None] = {
        "kv_dtype": _dtype(reading, scenario, notes),
        "engine_version": _rules(reading),
        "max_model_len": limit,
    }
    if reading.kind != "llama.cpp":
        changes["memory_fraction"] = reading.memory_fraction or scenario.memory_fraction
    if reading.prefix_caching is not None:
        changes["prefix_caching"] = "on" if reading.prefix_caching else "off"
    if reading.kind == "sglang":
        changes["block_tokens"] = reading.block_tokens
    if identity.tp is not None:  # one engine of the deployment
        pp = identity.pp or 1
        changes |= {"gpus": identity.tp * pp, "tp": identity.tp, "pp": pp, "dp": None, "attention_dp": "off"}
        if identity.attention_dp:
            changes |= {"attention_dp": "on", "dp": identity.dp}
    return scenario.with_changes(**changes)


def _dtype(reading: Reading, scenario: Scenario, notes: list[Message]) -> str:
    """The reported cache type as a setting."""
    written = reading.kv_dtype
    if reading.kind == "llama.cpp":  # which never reports it
        notes.append(Message(text.DTYPE_ASSUMED, {"dtype": KV_DTYPES["fp16"].name}))
        return "fp16"
    if written is None or written == "auto":
        return "auto"
    name = ALIASES.get(written, written)
    if name not in kv_dtypes(scenario.engine):
        notes.append(Message(text.DTYPE_UNKNOWN, {"dtype": written[:40]}))
        return "auto"
    return name


def _dtype_shown(reading: Reading, sizing: Sizing) -> str:
    stored, written = sizing.kv_dtype.name, reading.kv_dtype
    return stored if written is None or ALIASES.get(written, written) == stored else f"{stored} ({written[:40]})"


def _rules(reading: Reading) -> str:
    """Whose rules: vLLM's V0, those until 0.20, or the newest."""
    if reading.kind != "vllm":
        return "auto"
    if reading.old_rules:
        return "v0"
    number = (reading.identity.version or "").split(".")
    old = len(number) > 1 and number[0] == "0" and number[1].isdecimal() and int(number[1]) <= _NEWEST_OF_OLDER
    return "0.20" if old else "auto"


def _add_rules_words(reading: Reading, scenario: Scenario, notes: list[Message]) -> None:
    """Why the rules are those of another release than the engine's; a commit is none to compare with."""
    version, rules = reading.identity.version, version_of(scenario)
    if reading.kind == "llama.cpp" or reading.old_rules or version is None or _release(version) == _release(rules):
        return
    running = f"{name_of(reading.kind).rpartition(' ')[0]} {version[:40]}"
    notes.append(Message(text.RULES_NEAREST, {"running": running, "rules": engine_name(scenario)}))


def _release(version: str) -> list[str]:
    return version.removeprefix("v").split(".")[:2]


def _sized(architecture: Architecture, scenario: Scenario, weights: Estimate | None, reading: Reading) -> Sizing:
    """With the reported block size where that is a setting and not what the layers of a hybrid ask for."""
    sizing = size(architecture, scenario, weights=weights)
    plan, reported = sizing.plan, reading.block_tokens
    if not isinstance(plan, VllmPlan) or reported is None or reported in _block_sizes(plan):
        return sizing
    try:
        again = size(architecture, scenario.with_changes(block_tokens=reported), weights=weights)
    except KvvizError:
        return sizing
    return again if isinstance(again.plan, VllmPlan) and reported in _block_sizes(again.plan) else sizing


def _block_sizes(plan: VllmPlan) -> tuple[int, ...]:
    return (plan.block_tokens, *(group.block_tokens for group in plan.groups))


# --- figures ---------------------------------------------------------------------------------------------------------


def _vllm(
    reading: Reading, plan: VllmPlan, sizing: Sizing, *, on_gpu: bool, fits: bool, notes: list[Message]
) -> tuple[Line, ...]:
    blocks, of_block = _blocks_of_one(reading, notes), plan.pool_block_bytes
    values = {"model": sizing.scenario.model}
    sizes = _block_sizes(plan)
    block_tokens = reading.block_tokens if reading.block_tokens in sizes else plan.block_tokens
    if block_tokens != plan.block_tokens:
        notes.append(Message(text.BLOCK_OF_SEVERAL))
    if len(plan.groups) > 1:
        notes.append(Message(text.SEVERAL_GROUPS, values))
    there: int | None = None
    if on_gpu and sizing.budget is not None:
        there = sizing.budget.pool_blocks if reading.pool_bytes is None else reading.pool_bytes // of_block
        _add_pool_words(blocks, there, notes)
    lines = [
        Line(name="blocks", reported=blocks, predicted=there),
        Line(name="block_tokens", reported=reading.block_tokens, predicted=block_tokens),
    ]
    reported = reading.ranks[0].capacity_tokens
    length = reading.identity.max_model_len or (plan.block_tokens if len(plan.groups) == 1 else None)
    expected = plan.start_log(blocks, length)[1] if blocks and length else None
    lines.append(Line(name="tokens_from_blocks", reported=reported, predicted=expected))
    if reported is not None and expected is not None and reported != expected:
        notes.append(Message(text.TOKENS_DIFFER, values))
    if there is not None and length:
        lines.append(Line(name="tokens_on_gpu", reported=reported, predicted=plan.start_log(there, length)[1]))
    where = "_gpu" if on_gpu else ""
    lines.append(Line(name=f"bytes_per_block{where}", predicted=of_block))
    if blocks:
        lines.append(Line(name=f"pool_bytes{where}", predicted=blocks * of_block))
        if fits:
            room = max(0, blocks - plan.null_blocks) * of_block
            each = plan.fit(room, sizing.tokens, sizing.shared_tokens)
            lines.append(Line(name="requests", predicted=each))
    if not on_gpu:
        notes.append(Message(text.SPLIT_UNKNOWN))
    return tuple(lines)


def _blocks_of_one(reading: Reading, notes: list[Message]) -> int | None:
    blocks, count = reading.blocks, len(reading.ranks)
    if blocks is None or count == 1:
        return blocks
    values = {"count": format_count(count), "blocks": format_count(blocks)}
    notes.append(Message(text.BLOCKS_UNEQUAL if blocks % count else text.BLOCKS_TOGETHER, values))
    return None if blocks % count else blocks // count


def _add_pool_words(reported: int | None, predicted: int | None, notes: list[Message]) -> None:
    if reported is not None and predicted is not None and reported != predicted:
        notes.append(Message(text.FEWER_BLOCKS if reported < predicted else text.MORE_BLOCKS))


def _sglang(
    reading: Reading, plan: SglangPlan, sizing: Sizing, *, on_gpu: bool, fits: bool, notes: list[Message]
) -> tuple[Line, ...]:
    rank = reading.ranks[0]
    full, window = (max(s.full_bytes for s in plan.stages), max(s.window_bytes for s in plan.stages))
    two = rank.window_tokens is not None and bool(window)
    where = "_gpu" if on_gpu or reading.identity.tp else ""
    lines = [Line(name="block_tokens", reported=reading.block_tokens, predicted=plan.page_tokens)]
    there = plan.pool_tokens(sizing.budget.pool_bytes) if on_gpu and sizing.budget is not None else None
    lines.append(Line(name="tokens", reported=rank.capacity_tokens, predicted=there))
    _add_pool_words(rank.capacity_tokens, there, notes)
    if two:
        lines.append(Line(name="window_tokens", reported=rank.window_tokens))
    elif where:
        lines.append(Line(name="bytes_per_token_gpu", predicted=full + window))
    if rank.capacity_tokens is not None and not plan.slots_per_request:
        # A page more than the capacity is laid out (mem_cache/memory_pool.py).
        page = plan.page_tokens
        pool = full * (rank.capacity_tokens + page)
        pool += window * ((rank.window_tokens or 0 if two else rank.capacity_tokens) + page)
        line = Line(name=f"pool_bytes{where}", reported=rank.pool_bytes if where else None, predicted=pool)
        lines.append(line)
        if line.difference is not None and abs(line.difference) > _ROUNDED_UP_BYTES:
            notes.append(Message(text.BYTES_DIFFER, {"model": sizing.scenario.model}))
        if fits:
            lines.append(Line(name="requests", predicted=rank.capacity_tokens // plan.request_tokens(sizing.tokens)))
    if not where:
        notes.append(Message(text.SPLIT_UNKNOWN))
    return tuple(lines)


def _llama_cpp(reading: Reading, plan: LlamaCppPlan, *, fits: bool, notes: list[Message]) -> tuple[Line, ...]:
    slots, tokens = reading.identity.slots, reading.identity.slot_tokens
    lines = [Line(name="tokens", reported=reading.capacity_tokens)]
    if slots is None or tokens is None:
        return tuple(lines)
    if slots == 1:
        lines.append(Line(name="pool_bytes", predicted=plan.allocated_bytes(tokens, 1)))
        if fits:
            lines.append(Line(name="requests", predicted=1))
        return tuple(lines)
    notes.append(Message(text.SLOTS_UNKNOWN, {"slots": format_count(slots), "tokens": format_count(tokens)}))
    shared, own = replace(plan, unified=True), replace(plan, unified=False)
    return (
        *lines,
        Line(name="shared_pool_bytes", predicted=shared.allocated_bytes(tokens, slots)),
        Line(name="own_pools_bytes", predicted=own.allocated_bytes(slots * tokens, slots)),
    )
