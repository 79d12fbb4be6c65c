"""The working behind each number in large type: its formula filled in, what that takes and from where, its source."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Final

from kvviz import catalogue, explain
from kvviz.budgets import Budget
from kvviz.core.architecture import Architecture
from kvviz.core.cache import layer_bytes
from kvviz.core.dtypes import KvDtype
from kvviz.core.errors import KvvizError
from kvviz.core.kv_dtype import resolve_kv_dtype
from kvviz.core.units import format_bytes, format_count, format_factor, format_terms
from kvviz.dispute import assumptions, label
from kvviz.live.sample import Sample, Started, speed
from kvviz.log_check import Check
from kvviz.planning import name_of
from kvviz.prompts import CachedPrompts
from kvviz.race import Race
from kvviz.scenario import ENGINES
from kvviz.sizing import Sizing
from kvviz.text import Lang, Message
from kvviz.text import blocks as blocks_text
from kvviz.text import charts as parts
from kvviz.text import dispute as disputed
from kvviz.text import explain as why
from kvviz.text import sizing as labels
from kvviz.text import workings as text

_NOT_OF_THE_CACHE: Final = frozenset({"hidden_size", "vocab_size", "max_context_tokens"})
"""Facts of a config that no cache depends on."""
_LENGTH: Final = ("input", "output", "passages", "passage_tokens", "kv_dtype", "v_dtype")
_ROOM: Final = ("gpu", "gpus", "tp", "memory_fraction", "headroom")
_LOAD: Final = ("sequences", "users", "seconds_between", "answer_s", "shared_tokens")
_EVEN_BY_DEFAULT: Final = frozenset({"gpu", "gpus", "memory_fraction", "input", "output", "kv_dtype", "sequences"})
"""Shown where nobody changed them, too."""

REQUEST_FILES: Final = {
    "vllm": "v1/kv_cache_interface.py:864-1230",
    "sglang": "mem_cache/kv_cache_configurator.py:3184-3213",
    "tensorrt-llm": "resource_manager.py",
    "llama.cpp": "src/llama-context.cpp:290-305",
    "transformers": "transformers/cache_utils.py",
}
"""Where an engine counts what a request takes; the docstrings at the formulas cite the same lines."""
POOL_FILES: Final = {
    "vllm": "v1/worker/gpu_worker.py:700-757",
    "sglang": "mem_cache/kv_cache_configurator.py:2990-3060",
    "tensorrt-llm": "_util.py",
    "llama.cpp": "src/llama-kv-cache.cpp:220-234",
    "transformers": "transformers/cache_utils.py",
}
"""Where it reckons what it has for all of them."""
HITS_FILE: Final = "v1/core/kv_cache_utils.py:860-863"
"""vLLM's rule for what is found again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One thing a formula takes."""

    name: str
    value: str
    where: str
    """The config field or setting it comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """How a number comes about, in one language."""

    explained: str
    """What the number is."""
    formulas: tuple[str, ...] = ()
    given: tuple[Given, ...] = ()
    source: str = ""
    """An engine with its version and file, or a paper."""


# --- Sizing and Compare ----------------------------------------------------------------------------------------------


def at_once(sizing: Sizing, lang: Lang) -> Working:
    """Of how many requests fit: the pool, by what a request is counted as."""
    how = explain.workings(sizing)
    pool: tuple[Given, ...] = ()
    if sizing.budget is not None and sizing.budget.unit_bytes > 1:
        made = text.MADE_OF(
            lang, count=format_count(sizing.budget.pool_blocks), each=format_factor(sizing.budget.unit_bytes)
        )
        pool = (Given(name=why.POOL(lang), value=format_bytes(sizing.budget.pool_bytes), where=made),)
        if sizing.budget.null_bytes:
            null = sizing.budget.null_bytes // sizing.budget.unit_bytes
            pool += (Given(name=text.NULL_BLOCK(lang), value=format_count(null), where=text.NEVER_GIVEN(lang)),)
    counted = format_count(sizing.max_sequences_counted or 0)
    return Working(
        explained=labels.FACT_AT_ONCE_HELP(lang),
        formulas=(f"{how.at_once} = {counted}",) if how else (),
        given=(*pool, *_settings(sizing, (*_ROOM, *_LENGTH[:4], "shared_tokens"), lang)),
        source=_source(sizing, REQUEST_FILES, lang),
    )


def per_request(sizing: Sizing, lang: Lang) -> Working:
    """Of what one request takes: its layers' formulas, then what the engine makes of it."""
    how = explain.workings(sizing)
    counted = (f"{how.per_request} = {format_bytes(sizing.request_bytes or 0)}",) if how else ()
    return Working(
        explained=labels.FACT_REQUEST_HELP(lang),
        formulas=(*_layers(sizing, lang), *counted),
        given=(*_fields(sizing.architecture, lang), *_settings(sizing, _LENGTH, lang)),
        source=_source(sizing, REQUEST_FILES, lang),
    )


def lacking(sizing: Sizing, lang: Lang) -> Working:
    """Of what is spare or short: the need of all requests, less the room for them."""
    how = explain.workings(sizing)
    formulas: tuple[str, ...] = ()
    terms: tuple[Given, ...] = ()
    if how is not None and (budget := sizing.budget) is not None:
        named = (
            (parts.WEIGHTS, budget.weights),
            (parts.ACTIVATIONS, budget.activations),
            (parts.GRAPHS, budget.graphs),
            (parts.NON_TORCH, budget.non_torch),
        )
        taken = [(name(lang), term) for name, term in named if term.value_bytes]
        terms = tuple(
            Given(name=name, value=format_bytes(term.value_bytes), where=parts.BASIS[term.basis](lang))
            for name, term in taken
        )
        shares = " − ".join(
            format_terms(budget.available_bytes, budget.requested_bytes, *(-t.value_bytes for _, t in taken))
        )
        formulas = (
            f"{how.lacking} = {format_bytes(sizing.lacking_bytes or 0)}",
            text.POOL_IS(lang, formula=f"{shares} = {format_bytes(budget.available_bytes)}"),
            *_taken(budget, lang),
        )
    return Working(
        explained=labels.FACT_LACKING_HELP(lang),
        formulas=formulas,
        given=(*terms, *_settings(sizing, (*_LOAD, *_ROOM), lang)),
        source=_source(sizing, POOL_FILES, lang),
    )


def _taken(budget: Budget, lang: Lang) -> Iterator[str]:
    """What the engine takes, of what programs see of the GPU."""
    seen = budget.device_bytes - budget.hidden.value_bytes
    if budget.hidden.value_bytes:
        total, hidden = format_terms(seen, budget.device_bytes, -budget.hidden.value_bytes)
        yield text.SEEN_IS(lang, formula=f"{total} − {hidden} = {format_bytes(seen)}")
    share = Fraction(str(budget.memory_fraction or 0))
    if ceil(seen * share) == budget.requested_bytes:  # other engines take it of what is free once they run
        (of,) = format_terms(budget.requested_bytes, seen, times=share)
        formula = f"{of} × {budget.memory_fraction:g} = {format_bytes(budget.requested_bytes)}"
        yield text.TAKEN_IS(lang, formula=formula)


def compared(sizing: Sizing, lang: Lang) -> Working:
    """Of one scenario beside others: what fits and what a request takes."""
    fit, request = at_once(sizing, lang), per_request(sizing, lang)
    counted = sizing.max_sequences_counted is not None
    return Working(
        explained=fit.explained if counted else request.explained,
        formulas=(*(fit.formulas if counted else ()), *request.formulas),
        given=tuple(dict.fromkeys((*request.given, *(fit.given if counted else ())))),
        source=request.source,
    )


def _layers(sizing: Sizing, lang: Lang) -> Iterator[str]:
    for line in explain.lines(sizing):
        kept = "" if line.tokens is None else f"; × {format_count(line.tokens)}"
        formula = f"{line.formula}{kept} = {format_bytes(line.total_bytes)}"
        yield text.FORMULA_OF(lang, what=line.what(lang), formula=formula)


def _fields(architecture: Architecture, lang: Lang) -> Iterator[Given]:
    for fact in architecture.facts:
        if fact.term in _NOT_OF_THE_CACHE:
            continue
        name = why.TERMS[fact.term](lang) if fact.term in why.TERMS else fact.term
        value = format_count(fact.value) if isinstance(fact.value, int) else fact.value
        yield Given(name=name, value=value, where=explain.origin(fact, lang))


def _settings(sizing: Sizing, names: Iterable[str], lang: Lang) -> Iterator[Given]:
    """Those of ``names`` that count here, and whether anybody changed them."""
    known = {one.label: one for one in assumptions(sizing) if one.badge != "estimate"}
    for name in names:
        one = known.get(label(name))
        if one is not None and (one.badge == "changed" or name in _EVEN_BY_DEFAULT):
            value = one.value(lang) if isinstance(one.value, Message) else one.value
            where = text.SETTING(lang, badge=disputed.BADGES[one.badge](lang))
            yield Given(name=one.label(lang), value=value, where=where)


def _source(sizing: Sizing, files: dict[str, str], lang: Lang) -> str:
    return _lines_of(sizing.scenario.engine, sizing.scenario.engine_version, files, lang)


def _lines_of(engine: str, version: str, files: dict[str, str], lang: Lang) -> str:
    """The lines are those of the newest version; of an older one its name must do."""
    named = name_of(engine, version)
    return named if version != "auto" else text.LINES_OF(lang, engine=named, file=files[engine])


# --- Check a log -----------------------------------------------------------------------------------------------------


def of_check(checked: Check, lang: Lang) -> Working | None:
    """Of a prediction beside a log; None where nothing was predicted."""
    settings, architecture = checked.settings, checked.architecture
    if settings is None or architecture is None or not checked.figures:
        return None
    engine = checked.log.engine if checked.log.engine in ENGINES else "llama.cpp"  # its forks and wrappers
    formulas: tuple[str, ...] = ()
    try:
        dtype, _ = resolve_kv_dtype(architecture, settings.kv_dtype, engine=engine)
    except KvvizError:
        pass  # a type that this model cannot have: the log says so, or says nothing
    else:
        if settings.v_dtype in ("same", settings.kv_dtype) and not checked.by_log:
            formulas = tuple(
                text.FORMULA_OF(lang, what=what(lang), formula=formula)
                for what, formula in explain.each_token(architecture, dtype)
            )
    sizes = (("tp", settings.tp), ("pp", settings.pp), ("dcp", settings.dcp))
    split = [
        Given(name=labels.LABELS[name](lang), value=format_count(size), where=text.FROM_LOG(lang))
        for name, size in sizes
        if size > 1
    ]
    kind = Given(name=labels.KV_DTYPE(lang), value=settings.kv_dtype, where=text.FROM_LOG(lang))
    return Working(
        explained=text.CHECKED(lang),
        formulas=formulas,
        given=(*(() if checked.by_log else _fields(architecture, lang)), kind, *split),
        source=_lines_of(engine, settings.version, REQUEST_FILES, lang),
    )


# --- Blocks ----------------------------------------------------------------------------------------------------------


def of_race(raced: Race, lang: Lang) -> Working:
    """Of the requests served on either side: what each can hold."""
    settings = raced.settings
    pool, block, longest = settings.pool, settings.block, settings.longest
    formulas = [
        text.BLOCKS_OF_POOL(lang, formula=f"⌊{pool:,} ÷ {block:,}⌋ = {pool // block:,}"),
        text.BLOCKS_OF_REQUEST(lang, block=format_count(block)),
    ]
    names = ["pool", "block"]
    if settings.view == "race":
        names += ["reserve", "longest"]
        if settings.reserve == "max":
            fit = f"⌊{pool:,} ÷ {longest:,}⌋ = {pool // longest:,}"
            formulas.insert(0, text.RESERVED_AT_ONCE(lang, formula=fit))
    else:
        names.append("windows")
    given = []
    for name in names:
        value = getattr(settings, name)
        said = blocks_text.RESERVES[value](lang) if name == "reserve" else value
        said = format_count(said) if isinstance(said, int) else said
        given.append(Given(name=blocks_text.LABELS[name](lang), value=said, where=text.A_SETTING(lang)))
    return Working(explained=text.SERVED(lang), formulas=tuple(formulas), given=tuple(given), source=text.PAPER(lang))


# --- Shared prefixes -------------------------------------------------------------------------------------------------


def of_prompts(found: CachedPrompts, lang: Lang) -> tuple[Working, Working, Working]:
    """Of the tokens found again, the blocks, and the share of the work that is saved."""
    hit, block, tokens = found.hit_tokens, found.block_tokens, found.tokens
    size = Given(name=text.BLOCK(lang), value=format_count(block), where=text.A_SETTING(lang))
    hits = Given(name=text.HIT_BLOCKS(lang), value=format_count(found.hit_blocks), where=text.FROM_PROMPTS(lang))
    every = Given(name=text.ALL_TOKENS(lang), value=format_count(tokens), where=text.FROM_PROMPTS(lang))
    alone = " + ".join(f"⌈{one.tokens:,} ÷ {block:,}⌉" for one in found.prompts)
    each = " + ".join(format_count(one.hit_blocks) for one in found.prompts)
    source = _lines_of("vllm", "auto", {"vllm": HITS_FILE}, lang)
    share = f"{hit:,} ÷ {tokens:,} = {hit / tokens:.1%}" if tokens else ""
    rule = text.HIT_RULE(lang)
    return (
        Working(
            explained=rule,
            formulas=(f"{found.hit_blocks:,} × {block:,} = {hit:,}",),
            given=(hits, size),
            source=source,
        ),
        Working(
            explained=rule,
            formulas=(
                f"{each} = {found.hit_blocks:,}",
                text.COUNTED_BLOCKS(lang, sum=alone, blocks=format_count(found.blocks)),
            ),
            given=(size,),
            source=source,
        ),
        Working(explained=rule, formulas=(share,) if share else (), given=(every, size), source=source),
    )


# --- Measured live ---------------------------------------------------------------------------------------------------


def of_run(started: Started, samples: Sequence[Sample], lang: Lang) -> tuple[Working, Working, Working, Working]:
    """Of what was predicted and measured last, of their difference, and of the speed."""
    last = samples[-1] if samples else None
    model = _run_model(started, last)
    engine = _lines_of("transformers", "auto", REQUEST_FILES, lang)
    ran = f"PyTorch {started.versions['torch']}, Transformers {started.versions['transformers']}"
    run = [Given(name=text.CACHE_TYPE(lang), value=started.dtype, where=text.FROM_RUN(lang))]
    if last is not None:
        run.append(Given(name=text.TOKENS_KEPT(lang), value=format_count(last.tokens), where=text.FROM_RUN(lang)))
    run.append(Given(name=text.BATCH(lang), value=format_count(started.batch), where=text.FROM_RUN(lang)))
    residual: tuple[str, ...] = ()
    if last is not None and last.predicted_bytes is not None and last.residual_bytes is not None:
        residual = (f"{last.measured_bytes:,} − {last.predicted_bytes:,} = {last.residual_bytes:,} B",)
    fast, seconds = speed(samples), sum(one.seconds for one in samples[1:])
    return (
        Working(
            explained=text.PREDICTED(lang),
            formulas=tuple(_run_formula(*model, started, last)) if model and last else (),
            given=(*(_fields(model[0], lang) if model else ()), *run),
            source=engine,
        ),
        Working(
            explained=text.MEASURED(lang),
            formulas=(f"{last.measured_bytes:,} B",) if last is not None else (),
            given=tuple(run),
            source=ran,
        ),
        Working(explained=text.RESIDUAL(lang), formulas=residual, source=ran),
        Working(
            explained=text.SPEED(lang),
            formulas=(f"{len(samples) - 1:,} ÷ {seconds:,.3f} s = {fast:,.1f}",) if fast is not None else (),
            source=ran,
        ),
    )


def _run_model(started: Started, last: Sample | None) -> tuple[Architecture, KvDtype] | None:
    """The bundled model that was run, where its content is all there is to the prediction."""
    name = started.model.rpartition("/")[2]
    known = next((model for model in catalogue.models() if model.rpartition("/")[2] == name), None)
    if known is None or last is None or not last.predicted_bytes:
        return None
    architecture = catalogue.load(known).architecture
    dtype, _ = resolve_kv_dtype(architecture, started.dtype, engine="transformers")
    whole = started.batch * sum(layer_bytes(layer, last.tokens, dtype) for layer in architecture.layers)
    return (architecture, dtype) if whole == last.predicted_bytes else None


def _run_formula(architecture: Architecture, dtype: KvDtype, started: Started, last: Sample) -> Iterator[str]:
    made = explain.each_token(architecture, dtype)
    yield from (formula for _, formula in made)
    if len(made) == 1 and last.predicted_bytes:
        each = last.predicted_bytes // (last.tokens * started.batch)
        yield f"{each:,} B × {last.tokens:,} × {started.batch:,} = {last.predicted_bytes:,} B"
