"""The workshop: ten steps in an hour, each with questions that are guessed first and then answered by the core.

Answers, working and the usual wrong results are all computed here; nothing is typed. ``workshop_sheets`` prints them.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import parse_qs, urlsplit

from kvviz import explain
from kvviz.allocation.replay import Snapshot, replay
from kvviz.allocation.simulate import Paged, simulate
from kvviz.allocation.workload import TEACHING
from kvviz.catalogue import load
from kvviz.computations import steps
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB, KIB, MIB, format_bytes, format_count
from kvviz.devices import device
from kvviz.heads import Heads, Sharing, heads_of, sharings
from kvviz.learn import LONG_TEXT, SCENES, SHORT_TEXT, Scene, sized
from kvviz.levers import Code, Lever, fixes, levers
from kvviz.live import DEFAULT_MODEL, QUOTED, bundled, gain
from kvviz.prompts import CachedPrompts, cached, with_lines
from kvviz.race import Race, Settings, race, to_query
from kvviz.resolve import resolve
from kvviz.scenario import FIELDS, Scenario, from_query, shown
from kvviz.sizing import Sizing
from kvviz.text import Lang, Message, Text
from kvviz.text import prefixes as prompts_text
from kvviz.text import sizing as labels
from kvviz.text import workshop as text
from kvviz.verdict import short_name

Unit = Literal["KiB", "MiB", "GiB", "times", "count"]
"""What a typed guess is in, where it does not say."""
Key = Literal["hook", "why", "speed", "formula", "heads", "blocks", "prefix", "live", "fix", "quiz"]
Side = Literal["contiguous", "paged"]
SIDES: Final[tuple[Side, Side]] = ("contiguous", "paged")
"""Of the race, as ``Settings.pools`` gives them."""

MINUTES: Final[Mapping[Key, int]] = {
    "hook": 5,
    "why": 5,
    "speed": 4,
    "formula": 8,
    "heads": 6,
    "blocks": 9,
    "prefix": 5,
    "live": 4,
    "fix": 9,
    "quiz": 5,
}
"""Of each step, in the order of the course."""
KEYS: Final = tuple(MINUTES)
ALL_MINUTES: Final = sum(MINUTES.values())

_WORKED: Final = Scenario()
_PAGE_TOKENS: Final = 1_000
"""What one page of text is taken for."""
_TOKEN_NUMBER_BYTES: Final = 4
"""A token as its number in the vocabulary, in 32 bits."""
_PHONE_BYTES: Final = 8 * GIB
_FIELDS: Final = ("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "hidden_size", "head_dim")
"""What the formula takes from config.json, and what it must not."""
_PREFIX_BLOCK: Final = 8
"""What the Shared prefixes page opens with."""
_SHORT_TOKENS: Final = 1_024
"""As long as the windows of the model that is shown."""
BLOCK_SQUARES: Final = Settings().block
"""Squares of a block of paged memory."""
_A_DAY: Final = date(2026, 4, 1)
"""Any day: what is found is the same on each (a test)."""
_ONE_PERCENT: Final = 0.01
_OFFERED: Final[tuple[Code, ...]] = ("memory-fraction", "weight-dtype", "kv-dtype", "gpus", "gpu")
_BYTES: Final[Mapping[str, int]] = {
    "B": 1,
    "KIB": KIB,
    "MIB": MIB,
    "GIB": GIB,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
}

# --- what a step is made of ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One of several answers to choose from."""

    token: str
    """The same in every language."""
    label: Text | Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """A usual wrong result, and what to say to it."""

    value: Fraction
    said: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Where in the app it can be seen."""

    label: Text
    scene: Scene
    anchor: str = ""
    """The heading on that page; empty: its top."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A number to type, or one of several options."""

    key: str
    ask: Text | Message
    answer: Fraction | str
    """In bytes where ``unit`` is one of bytes; the token of the right option."""
    said: Text | Message | str
    """The answer in words."""
    unit: Unit | None = None
    """None: one of ``options``."""
    options: tuple[Option, ...] = ()
    traps: tuple[Trap, ...] = ()
    why: Message | None = None
    """A sentence of its own beside the answer."""
    proof: Scene | None = None
    """What shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of words and numbers."""

    heads: tuple[Text, ...]
    rows: tuple[tuple[Message | str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the hour."""

    key: Key
    values: Mapping[str, object] = field(default_factory=dict)
    """What its title, its sentences and its notes are filled with."""
    questions: tuple[Question, ...]
    links: tuple[Link, ...] = ()
    given: Table | None = None
    """What is needed to work out the answers."""
    working: tuple[Message | str, ...] = ()
    results: Table | None = None
    """What the answers come to, side by side."""

    @property
    def number(self) -> int:
        """From 1."""
        return KEYS.index(self.key) + 1

    @property
    def minutes(self) -> int:
        """That it is to take."""
        return MINUTES[self.key]

    @property
    def begin(self) -> int:
        """Minutes before it."""
        return sum(MINUTES[key] for key in KEYS[: self.number - 1])

    @property
    def title(self) -> Message:
        """What it is called."""
        return Message(text.TITLES[self.key], self.values)

    @property
    def do(self) -> Message:
        """What to do before the questions."""
        return Message(text.DO[self.key], self.values)

    @property
    def so(self) -> Message:
        """What to take home."""
        return Message(text.SO[self.key], self.values)

    @property
    def notes(self) -> tuple[tuple[Text, Message], ...]:
        """For the teacher: the usual wrong answer, what to say, what to show."""
        parts = {"wrong": text.WRONG, "say": text.SAY, "show": text.SHOW}
        return tuple((text.NOTES[name], Message(part[self.key], self.values)) for name, part in parts.items())


@lru_cache(maxsize=2)
def course(lang: Lang) -> tuple[Step, ...]:
    """All steps. The prompts of the example depend on the language; what is counted of them does not (a test)."""
    prefix = _prefix(lang)
    return (_hook(), _why(), _speed(), _formula(), _heads(), _blocks(), prefix, _live(), _fix(), _quiz(lang))


# --- the steps -------------------------------------------------------------------------------------------------------


def _hook() -> Step:
    # SGLang counts token by token; blocks come in step 6.
    scenario = Scenario(model="Qwen/Qwen3-32B", gpu="", input=_PAGE_TOKENS, output=0, sequences=1, engine="sglang")
    one = sized(scenario)
    plain = _PAGE_TOKENS * _TOKEN_NUMBER_BYTES
    tokens, whole = format_count(_PAGE_TOKENS), one.content_bytes
    ask = Message(text.PAGE_ASK, {"model": _name(scenario.model), "tokens": tokens})
    return Step(
        key="hook",
        values={
            "number_bytes": _TOKEN_NUMBER_BYTES,
            "text": format_bytes(plain),
            "times": format_count(whole // plain),
            "memory": format_bytes(_PHONE_BYTES),
            "pages": format_count(_PHONE_BYTES // whole),
        },
        questions=(_bytes("page", ask, whole, "MiB"),),
        working=(
            explain.lines(one)[0].formula,
            f"{tokens} × {_exact(_token_bytes(one))} = {_exact(whole)} = {format_bytes(whole)}",
        ),
        links=(Link(label=text.PAGE_LINK, scene=Scene(scenario=scenario)),),
    )


def _why() -> Step:
    few, many = SHORT_TEXT, LONG_TEXT
    tokens, square = few.tokens, few.tokens**2
    trap = Trap(value=Fraction(square), said=Message(text.WITHOUT_TRAP, {"tokens": tokens}))
    sums = " + ".join(str(step.recomputed) for step in steps(tokens))
    ones = " + ".join(str(step.computed) for step in steps(tokens))
    return Step(
        key="why",
        values={
            "tokens": tokens,
            "square": square,
            "many": format_count(many.tokens),
            "many_without": format_count(many.without),
            "many_with": format_count(many.cached),
        },
        questions=(
            _number("without", Message(text.WITHOUT_ASK, {"tokens": tokens}), few.without, trap),
            _number("with", text.WITH_ASK, few.cached),
        ),
        working=(f"{sums} = {few.without}", f"{ones} = {few.cached}"),
        links=(Link(label=text.WHY_LINK, scene=Scene(page="learn", scenario=_WORKED), anchor="why"),),
    )


def _speed() -> Step:
    ours = gain(bundled(), bundled(cache="none"))
    assert ours is not None  # noqa: S101 - both recordings ship with kvviz
    fewer, times = f"{QUOTED.times_fewer:.0f}", f"{QUOTED.times_faster:.1f}"
    tokens = format_count(QUOTED.tokens)
    quoted = {"with_cache": f"{QUOTED.with_s:g}", "without": f"{QUOTED.without_s:g}", "times": times}
    recorded = {
        "tokens": format_count(ours.tokens),
        "with_cache": f"{ours.with_s:.1f}",
        "without": f"{ours.without_s:.1f}",
        "times": f"{ours.times_faster:.1f}",
        "fewer": f"{ours.times_fewer:.0f}",
    }
    return Step(
        key="speed",
        values={
            "fewer": fewer,
            "times": times,
            "tokens": tokens,
            "without": format_count(QUOTED.computed_without),
            "with_cache": format_count(QUOTED.computed_with),
        },
        questions=(
            Question(
                key="faster",
                ask=Message(text.FASTER_ASK, {"tokens": tokens}),
                answer=Fraction(times),
                said=Message(text.TIMES, {"times": times}),
                unit="times",
                traps=(Trap(value=Fraction(fewer), said=Message(text.FASTER_TRAP)),),
            ),
        ),
        working=(Message(text.QUOTED, quoted), Message(text.OURS, recorded)),
        links=(Link(label=text.SPEED_LINK, scene=SCENES["live"]),),
    )


def _formula() -> Step:
    one = sized(_WORKED)
    config = load(_WORKED.model).config
    field_of = {fact.term: int(fact.value) for fact in one.architecture.facts if isinstance(fact.value, int)}
    head, kv_heads, heads, hidden = (field_of[name] for name in ("head_dim", "kv_heads", "heads", "hidden_size"))
    derived = hidden // heads
    token, request = _token_bytes(one), one.content_bytes
    value_bytes = f"{float(one.kv_dtype.value_bytes):g}"
    small = Message(text.HEAD_TRAP, {"hidden": format_count(hidden), "heads": heads, "derived": derived})
    every = Message(text.ALL_HEADS_TRAP, {"heads": heads, "kv_heads": kv_heads})
    half = Message(text.HALF_TRAP, {"bytes": value_bytes})

    def traps(whole: int) -> tuple[Trap, ...]:
        return (
            Trap(value=Fraction(whole * derived, head), said=small),
            Trap(value=Fraction(whole * heads, kv_heads), said=every),
            Trap(value=Fraction(whole, 2), said=half),
        )

    lengths = {
        "input": format_count(_WORKED.input),
        "output": format_count(_WORKED.output),
        "tokens": format_count(one.tokens),
    }
    return Step(
        key="formula",
        values={
            "value_bytes": value_bytes,
            "dtype": one.kv_dtype.name,
            "derived": derived,
            "too_small": f"{head / derived:g}",
            "requests": format_count(_WORKED.requests),
            "cache": format_bytes(_WORKED.requests * request),
            "weights": format_bytes(_weights(one)),
        },
        given=Table(
            heads=(text.FIELD, text.VALUE),
            rows=tuple((name, format_count(int(str(config[name])))) for name in _FIELDS),
        ),
        questions=(
            _number("head", text.HEAD_ASK, head, Trap(value=Fraction(derived), said=small)),
            _bytes("token", text.TOKEN_ASK, token, "KiB", traps(token)),
            _bytes("request", Message(text.REQUEST_ASK, lengths), request, "GiB", traps(request)),
        ),
        working=(
            f"{explain.lines(one)[0].formula} = {format_bytes(token)}",
            f"{format_count(one.tokens)} × {format_bytes(token)} = {format_bytes(request)}",
        ),
        links=(Link(label=text.WORKED_LINK, scene=SCENES["worked"]),),
    )


def _heads() -> Step:
    one = sized(_WORKED)
    heads = heads_of(one.architecture)
    assert isinstance(heads, Heads)  # noqa: S101 - every layer of the worked example has KV heads
    by_count = {s.kv_heads: s for s in sharings(one, heads, weights=resolve(_WORKED).weights)}
    mha, made, mqa = (by_count[count] for count in (heads.query_heads, heads.made, 1))
    fit, tokens = made.at_once or 0, one.tokens

    def request(of: Sharing) -> int:
        return int(of.content.bytes_at(tokens))

    trap = Message(text.MQA_FIT_TRAP, {"fit": format_count(fit), "times": heads.made})
    return Step(
        key="heads",
        values={
            "mha": heads.query_heads,
            "made": heads.made,
            "mqa": mqa.kv_heads,
            "group": heads.query_heads // heads.made,
            "bytes": format_bytes(request(made)),
        },
        questions=(
            _bytes("mha", Message(text.MHA_ASK, {"heads": heads.query_heads}), request(mha), "GiB"),
            _bytes("mqa", text.MQA_ASK, request(mqa), "MiB"),
            _number(
                "mqa-fit",
                Message(text.MQA_FIT_ASK, {"fit": format_count(fit)}),
                mqa.at_once or 0,
                Trap(value=Fraction(fit * heads.made), said=trap),
            ),
        ),
        results=Table(
            heads=(text.KV_HEADS, text.ONE_TOKEN, text.ONE_REQUEST, text.FIT_AT_ONCE),
            rows=tuple(
                (
                    format_count(s.kv_heads),
                    format_bytes(s.token_bytes),
                    format_bytes(request(s)),
                    format_count(s.at_once or 0),
                )
                for s in (mha, made, mqa)
            ),
        ),
        links=(Link(label=text.HEADS_LINK, scene=SCENES["heads"]),),
    )


def _blocks() -> Step:
    settings, played = Settings(), _played()
    left, right = played.lanes
    contiguous, paged = (_begun(side) for side in SIDES)
    taken = [len(its) // settings.block for its in _squares_of("paged").values()]
    total = " + ".join(str(blocks) for blocks in taken)
    begun = [TEACHING.requests[place] for place in contiguous.tables]
    written = " − ".join(f"({one.prompt_tokens} + {one.output_tokens} − 1)" for one in begun)
    never = contiguous.internal_tokens
    wasted = f"{len(begun)} × {settings.longest} − {written} = {never}"
    share = f"{never} ÷ {settings.pool} = {_wasted('contiguous')}"
    able = len(contiguous.tables)
    blocks = {"pool": settings.pool, "block": settings.block, "blocks": settings.pool // settings.block}
    return Step(
        key="blocks",
        values={
            "requests": len(TEACHING.requests),
            "pool": settings.pool,
            "longest": settings.longest,
            "block": settings.block,
            "wasted": _wasted("contiguous"),
            "wasted_paged": _wasted("paged"),
            "times": format_count(right.preemptions),
        },
        given=Table(
            heads=(text.REQUEST, text.INPUT, text.OUTPUT),
            rows=tuple(
                (str(number), str(request.prompt_tokens), str(request.output_tokens))
                for number, request in enumerate(TEACHING.requests, 1)
            ),
        ),
        questions=(
            _number("contiguous", text.CONTIGUOUS_ASK, able),
            _number("paged", text.PAGED_ASK, len(paged.tables)),
            _number("served", text.SERVED_ASK, left.served(right.done_step or 0)),
        ),
        working=(
            Message(text.CONTIGUOUS_WORKING, {"formula": f"⌊{settings.pool} ÷ {settings.longest}⌋ = {able}"}),
            Message(text.PAGED_WORKING, {"formula": f"{total} = {sum(taken)}", **blocks}),
            Message(text.WASTED_WORKING, {"formula": wasted, "share": share}),
            Message(text.SERVED_WORKING, {"step": right.done_step, "other": left.done_step}),
        ),
        links=(Link(label=text.BLOCKS_LINK, scene=_blocks_scene()),),
    )


def _prefix(lang: Lang) -> Step:
    base, first, last = (prompts_found(lang, date_at=where) for where in ("", "first", "last"))
    labels = {"none": text.FOUND_NONE, "less": text.FOUND_LESS, "same": text.FOUND_SAME}

    def question(key: str, ask: Text, found: CachedPrompts) -> Question:
        token = "none" if not found.hit_tokens else "less" if found.hit_tokens < base.hit_tokens else "same"
        counts = {"hit": format_count(found.hit_tokens), "tokens": format_count(found.tokens)}
        return _choice(key, ask, token, labels, Message(text.FOUND, {"choice": labels[token], **counts}))

    return Step(
        key="prefix",
        values={"hit": format_count(base.hit_tokens), "tokens": format_count(base.tokens)},
        questions=(
            question("date-first", text.DATE_FIRST_ASK, first),
            question("date-last", text.DATE_LAST_ASK, last),
        ),
        links=(
            Link(label=text.DATE_FIRST_LINK, scene=_prefixes_scene("date-first")),
            Link(label=text.DATE_LAST_LINK, scene=_prefixes_scene("date-last")),
        ),
    )


def _live() -> Step:
    recorded = bundled()
    last = recorded.samples[-1]
    compared = [s for s in recorded.samples if s.predicted_bytes and s.residual_bytes is not None]
    worst = max(abs(s.residual_bytes or 0) / (s.predicted_bytes or 1) for s in compared)
    token = "zero" if not worst else "one" if worst <= _ONE_PERCENT else "ten" if worst <= 10 * _ONE_PERCENT else "more"
    labels = {
        "zero": text.RESIDUAL_ZERO,
        "one": text.RESIDUAL_ONE,
        "ten": text.RESIDUAL_TEN,
        "more": text.RESIDUAL_MORE,
    }
    # The same model, as long as the run: the formula of the run's last step.
    small = sized(Scenario(model=DEFAULT_MODEL, gpu="", input=last.tokens, output=0, sequences=1))
    said = Message(text.RESIDUAL, {"choice": labels[token], "steps": format_count(len(compared))})
    prompt, new = recorded.started.prompt_tokens, recorded.started.new_tokens
    kept = {"prompt": format_count(prompt), "new": format_count(new), "tokens": format_count(last.tokens)}
    return Step(
        key="live",
        values={
            "model": recorded.started.model,
            "new": format_count(recorded.started.new_tokens),
            "day": recorded.recorded,
        },
        questions=(_choice("residual", text.RESIDUAL_ASK, token, labels, said),),
        working=(
            explain.lines(small)[0].formula,
            Message(text.TOKENS_KEPT, kept),
            f"{format_count(last.tokens)} × {_exact(_token_bytes(small))} = {_exact(small.content_bytes)}",
            Message(text.MEASURED, {"bytes": format_count(last.measured_bytes)}),
        ),
        links=(Link(label=text.LIVE_LINK, scene=SCENES["live"]),),
    )


def _fix() -> Step:
    one, best, offered, decoy = sized(_WORKED), best_fix(), offered_levers(), _decoy()
    requests = format_count(_WORKED.requests)
    answer = Message(text.FIX_ANSWER, {"fix": best.label, "fit": format_count(_fit(best.sizing))})
    labels = {lever.code: lever.label for lever in offered}
    return Step(
        key="fix",
        values={
            "requests": requests,
            "tokens": format_count(one.tokens),
            "fit": format_count(_fit(one)),
            "gpus": format_count(_WORKED.gpus),
            "gpu": short_name(device(_WORKED.gpu).name),
            "decoy": decoy.label,
            "saved": format_bytes(_weights(one) - _weights(decoy.sizing)),
            "decoy_fit": format_count(_fit(decoy.sizing)),
        },
        questions=(_choice("fix", text.FIX_ASK, best.code, labels, answer),),
        results=Table(
            heads=(text.FIX_CHANGE, text.FIX_FIT, text.FIX_COST),
            rows=tuple(
                (
                    lever.label,
                    Message(
                        text.FIX_ENOUGH if lever.solves else text.FIX_OF,
                        {"fit": format_count(_fit(lever.sizing)), "requests": requests},
                    ),
                    lever.cost,
                )
                for lever in offered
            ),
        ),
        links=(Link(label=text.WORKED_LINK, scene=SCENES["worked"]),),
    )


def _quiz(lang: Lang) -> Step:
    """Statements held against the core: whether one is true is what comes out, no constant."""
    one, decoy = sized(_WORKED), _decoy()
    swapped = sized(_WORKED.with_changes(input=_WORKED.output, output=_WORKED.input))
    windows = SCENES["windows"].scenario.with_changes(input=2 * _SHORT_TOKENS, output=2 * _SHORT_TOKENS)
    long, half = sized(windows), sized(windows.with_changes(input=_SHORT_TOKENS, output=_SHORT_TOKENS))
    last, no_cache = bundled().samples[-1], bundled(cache="none").samples[-1]
    contiguous, paged = (_begun(side).held_tokens for side in SIDES)
    base, first, at_end = (prompts_found(lang, date_at=where).hit_tokens for where in ("", "first", "last"))
    statements: tuple[tuple[str, Text | Message, bool, Message, Scene | None], ...] = (
        (
            "memory",
            text.MEMORY_ASK,
            last.measured_bytes < no_cache.measured_bytes,
            Message(text.MEMORY_WHY, {"bytes": format_bytes(last.measured_bytes), "tokens": format_count(last.tokens)}),
            SCENES["live"],
        ),
        (
            "weights",
            Message(text.WEIGHTS_ASK, {"decoy": decoy.label}),
            decoy.sizing.content_bytes < one.content_bytes,
            Message(
                text.WEIGHTS_WHY,
                {"before": format_bytes(one.content_bytes), "after": format_bytes(decoy.sizing.content_bytes)},
            ),
            Scene(scenario=decoy.sizing.scenario),
        ),
        (
            "swapped",
            text.SWAPPED_ASK,
            swapped.content_bytes == one.content_bytes,
            Message(
                text.SWAPPED_WHY,
                {
                    "input": format_count(_WORKED.input),
                    "output": format_count(_WORKED.output),
                    "bytes": format_bytes(one.content_bytes),
                    "other": format_bytes(swapped.content_bytes),
                },
            ),
            Scene(scenario=swapped.scenario),
        ),
        (
            "grows",
            text.GROWS_ASK,
            long.content_bytes == 2 * half.content_bytes,
            Message(
                text.GROWS_WHY,
                {
                    "model": _name(windows.model),
                    "short": format_bytes(half.content_bytes),
                    "tokens": format_count(half.tokens),
                    "long": format_bytes(long.content_bytes),
                    "double": format_count(long.tokens),
                },
            ),
            Scene(scenario=windows),
        ),
        (
            "smaller",
            text.SMALLER_ASK,
            any(paged[request] < contiguous[request] for request in contiguous),
            Message(text.SMALLER_WHY, {"before": _wasted("contiguous"), "after": _wasted("paged")}),
            _blocks_scene(),
        ),
        (
            "keeps",
            text.KEEPS_ASK,
            at_end >= base,
            Message(text.KEEPS_WHY, {"last": format_count(at_end), "first": format_count(first)}),
            _prefixes_scene("date-last"),
        ),
    )
    labels = {"true": text.TRUE, "false": text.FALSE}
    return Step(
        key="quiz",
        questions=tuple(
            _choice(key, ask, token, labels, labels[token], why=why, proof=proof)
            for key, ask, is_true, why, proof in statements
            for token in ("true" if is_true else "false",)
        ),
    )


# --- what the steps are computed from --------------------------------------------------------------------------------


def _fit(of: Sizing) -> int:
    return (of.max_sequences_counted or 0) if of.starts else 0


def _weights(of: Sizing) -> int:
    """Bytes on one GPU."""
    assert of.budget is not None  # noqa: S101 - the worked example has a GPU, and its weights are counted
    return of.budget.weights.value_bytes


@lru_cache(maxsize=1)
def _levers() -> tuple[Lever, ...]:
    return levers(sized(_WORKED), weigh=lambda scenario: resolve(scenario).weights)


def offered_levers() -> tuple[Lever, ...]:
    """What is to be chosen from: the first lever of each kind that changes a setting, a type or the hardware."""
    return tuple(next(lever for lever in _levers() if lever.code == code) for code in _OFFERED)


def best_fix() -> Lever:
    """The cheapest change after which everything fits, as the Sizing page offers it first."""
    return fixes(sized(_WORKED), _levers())[0].lever


def _decoy() -> Lever:
    return next(lever for lever in offered_levers() if lever.code == "weight-dtype")


@lru_cache(maxsize=1)
def _played() -> Race:
    return race(Settings(), TEACHING.requests)


@lru_cache(maxsize=2)
def _begun(side: Side) -> Snapshot:
    """Step 0: all who find room have begun."""
    pool = Settings().pools()[SIDES.index(side)]
    return next(iter(replay(simulate(TEACHING.requests, pool), pool)))


def _wasted(side: Side) -> str:
    """Share of the memory that is set aside in step 0 and never written."""
    return f"{_begun(side).internal_tokens / Settings().pool:.0%}"


def _squares_of(side: Side) -> dict[int, tuple[int, ...]]:
    """Squares of each running request in step 0, by its place, in the order in which it fills them."""
    pool = Settings().pools()[SIDES.index(side)]
    wide = pool.block_tokens if isinstance(pool, Paged) else 1
    return {
        request: tuple(block * wide + slot for table in tables for block in table for slot in range(wide))
        for request, tables in _begun(side).tables.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    """One square of the paper."""

    request: int | None = None
    """Number of the request that has it, from 1; None: free."""
    used: bool = False
    """Whether a token is in it."""


def squares(side: Side) -> tuple[Square, ...]:
    """The paper as it is to be filled in when the requests begin."""
    held, filled = _begun(side).held_tokens, [Square()] * Settings().pool
    for request, its in _squares_of(side).items():
        for place, square in enumerate(its):
            filled[square] = Square(request=request + 1, used=place < held[request])
    return tuple(filled)


def prompts_found(lang: Lang, *, date_at: str) -> CachedPrompts:
    """The Shared prefixes page's example, on three days, with the date ``first``, ``last`` or (empty) nowhere."""
    prompts = tuple(f"{prompts_text.SYSTEM(lang)}\n{question(lang)}" for question in prompts_text.QUESTIONS)
    if date_at:
        days = [_A_DAY + timedelta(days=day) for day in range(len(prompts))]
        lines = [prompts_text.DATE_LINE(lang, date=day.isoformat()) for day in days]
        prompts = with_lines(prompts, lines, first=date_at == "first")
    return cached(prompts, _PREFIX_BLOCK)


def _blocks_scene() -> Scene:
    return Scene(page="blocks", scenario=_WORKED, more=to_query(Settings(), 0))


def _prefixes_scene(tried: str) -> Scene:
    return Scene(page="prefixes", scenario=_WORKED, more={"prefix_try": tried, "prefix_block": str(_PREFIX_BLOCK)})


def _token_bytes(of: Sizing) -> int:
    return int(of.content.growing_bytes_per_token)


def _name(model: str) -> str:
    return model.rpartition("/")[2]


def _exact(count: int) -> str:
    return f"{format_count(count)} B"


def _number(key: str, ask: Text | Message, answer: int, *traps: Trap) -> Question:
    return Question(key=key, ask=ask, answer=Fraction(answer), said=format_count(answer), unit="count", traps=traps)


def _bytes(key: str, ask: Text | Message, answer: int, unit: Unit, traps: tuple[Trap, ...] = ()) -> Question:
    return Question(key=key, ask=ask, answer=Fraction(answer), said=format_bytes(answer), unit=unit, traps=traps)


def _choice(
    key: str,
    ask: Text | Message,
    answer: str,
    labels: Mapping[str, Text] | Mapping[Code, Message],
    said: Text | Message,
    *,
    why: Message | None = None,
    proof: Scene | None = None,
) -> Question:
    options = tuple(Option(token=token, label=label) for token, label in labels.items())
    return Question(key=key, ask=ask, answer=answer, said=said, options=options, why=why, proof=proof)


# --- guesses ---------------------------------------------------------------------------------------------------------

_GUESS: Final = re.compile(
    r"(?:(?:約|およそ|だいたい|ABOUT|CA\.?|~|≈|〜) ?)?"
    r"(\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?: ?[/⁄÷] ?(\d+))? ?"
    r"([KMG]I?B|B|X|×|TIMES|倍|回|件|個)?(?: ?(?:くらい|ぐらい|ほど|程度))?"
)
"""A comma stands between thousands only: elsewhere it may be meant as a point."""
_CLOSE: Final = Fraction(11, 10)
_FAR: Final = 1_000
"""Times off that say nothing more, so they are not counted out."""
_MINUS: Final = "-−–ー"
_MOST_CHARACTERS: Final = 40

Off = Literal["right", "close", "off", "none"]


def read_guess(question: Question, typed: str) -> Fraction | str | None:
    """What a person typed or chose; None where it cannot be understood.

    Bytes may come with a unit; without one they are in the question's.
    """
    if question.unit is None:
        return typed if any(one.token == typed for one in question.options) else None
    written = unicodedata.normalize("NFKC", typed).strip().upper()
    found = _GUESS.fullmatch(written) if len(written) <= _MOST_CHARACTERS else None
    if found is None or (found[2] and not int(found[2])):
        return None
    value, unit = Fraction(found[1].replace(",", "")) / int(found[2] or 1), found[3]
    of_bytes = question.unit.upper() in _BYTES
    if unit and (unit in _BYTES) != of_bytes:
        return None
    return value * _BYTES[unit or question.unit.upper()] if of_bytes else value


def how_far_off(question: Question, guess: Fraction | str | None) -> tuple[Off, Message | None]:
    """How far a guess is off, and that in friendly words; none where nobody guessed."""
    answer = question.answer
    if guess is None:
        return "none", None
    if guess == answer:
        return "right", Message(text.EXACT if isinstance(answer, Fraction) else text.RIGHT)
    if isinstance(answer, str) or isinstance(guess, str):
        return "off", Message(text.NOT_RIGHT)
    times = max(guess, answer) / min(guess, answer) if guess else None
    close = times is not None and times <= _CLOSE
    for trap in question.traps:
        if guess == trap.value:
            return "close" if close else "off", trap.said
    if times is None:
        return "off", Message(text.ZERO)
    if close:
        return "close", Message(text.CLOSE)
    if question.unit == "count" and abs(guess - answer) == 1:
        return "close", Message(text.ONE_OFF)
    too_much = guess > answer
    if times > _FAR:
        sentence = text.FAR_TOO_MUCH if too_much else text.FAR_TOO_LITTLE
        return "off", Message(sentence, {"times": format_count(_FAR)})
    return "off", Message(text.TOO_MUCH if too_much else text.TOO_LITTLE, {"times": _times(times)})


def unreadable(question: Question, typed: str) -> Message | None:
    """Why ``read_guess`` understands nothing of what was typed for a number; None where it does, or nothing was."""
    if question.unit is None or not typed.strip() or read_guess(question, typed) is not None:
        return None
    example = f"100 {question.unit}" if question.unit.upper() in _BYTES else "100"
    positive = unicodedata.normalize("NFKC", typed).strip().lstrip(_MINUS)
    below = positive != unicodedata.normalize("NFKC", typed).strip() and read_guess(question, positive) is not None
    sentence = text.NOT_MORE_THAN_ZERO if below else text.NOT_A_NUMBER
    return Message(sentence, {"shown": shown(typed), "example": example})


def shown_guess(question: Question, guess: Fraction | str, typed: str) -> Text | Message | str:
    """A guess as it was meant; as it was ``typed`` where it is so far off that it has no unit of its own."""
    if isinstance(guess, str):
        return next((one.label for one in question.options if one.token == guess), guess)
    answer = question.answer
    if isinstance(answer, Fraction) and guess and not answer <= guess * _FAR <= answer * _FAR**2:
        return shown(typed.strip())
    if question.unit and question.unit.upper() in _BYTES:
        return format_bytes(guess)
    return format_count(int(guess)) if guess.denominator == 1 else f"{float(guess):g}"


def _times(ratio: Fraction) -> str:
    return f"{round(float(ratio), 1):g}" if ratio < 10 else format_count(round(ratio))


# --- the answer that is sent back ------------------------------------------------------------------------------------

_ASKED: Final = frozenset({"shared_tokens", "typical", "headroom"})
"""What is asked, besides model, requests and tokens: to change it solves another question."""
_MEASURED: Final = frozenset({"weights_gib", "activations_gib", "graphs_gib", "non_torch_gib"})
"""What is so, whatever is typed: no setting."""

Judged = Literal["found", "fits", "hardware", "not-yet", "other", "no-link"]


def judge(link: str) -> tuple[Judged, Message]:
    """Whether a link of the Sizing page solves step 9, and how well. Asks nobody; takes anything, raises nothing."""
    try:
        query = parse_qs(urlsplit(link.strip()).query, keep_blank_values=True)
    except ValueError:
        query = {}
    if not {"model", "gpu", "input"} <= query.keys():
        return "no-link", Message(text.FIX_NO_LINK)
    scenario, rejected = from_query(query)
    if why := next((one.message for one in rejected if one.field in FIELDS), None):
        return "not-yet", Message(text.FIX_REJECTED, {"why": why})
    requests = format_count(_WORKED.requests)
    asked = (_WORKED.model, _WORKED.requests, _WORKED.tokens)
    if (scenario.model, scenario.requests, scenario.tokens) != asked or scenario.config:
        tokens = format_count(_WORKED.tokens)
        return "other", Message(text.FIX_OTHER, {"model": _WORKED.model, "requests": requests, "tokens": tokens})
    try:
        answer = sized(scenario)
    except KvvizError as error:
        return "other", error.message
    changed = _changed(scenario)
    for names, sentence in ((_ASKED, text.FIX_ASKED), (_MEASURED, text.FIX_MEASURED)):
        if tried := {name: value for name, value in changed.items() if name in names}:
            return "other", Message(sentence, {"changes": _listed(tried)})
    values: dict[str, object] = {"fit": format_count(_fit(answer)), "requests": requests, "changes": _listed(changed)}
    if not changed:
        return "not-yet", Message(text.FIX_UNCHANGED, values)
    if answer.max_sequences_counted is None:
        return "not-yet", Message(text.FIX_UNKNOWN, values)
    if answer.fits != "yes":
        return "not-yet", Message(text.FIX_NOT_YET, values)
    if scenario.gpus > _WORKED.gpus or scenario.gpu != _WORKED.gpu:
        return "hardware", Message(text.FIX_HARDWARE, values)
    best = best_fix().sizing
    if changed.keys() == _changed(best.scenario).keys():
        if (value_bytes := answer.kv_dtype.value_bytes) < best.kv_dtype.value_bytes:
            return "found", Message(text.FIX_FEWER_BITS, {**values, "bits": int(8 * value_bytes)})
        return "found", Message(text.FIX_FOUND, values)
    return "fits", Message(text.FIX_FITS, values)


def _changed(scenario: Scenario) -> dict[str, object]:
    """Settings that are not those of the worked example."""
    values = {name: getattr(scenario, name) for name in FIELDS if name != "revision"}
    return {name: value for name, value in values.items() if value != getattr(_WORKED, name)}


def _listed(changed: Mapping[str, object]) -> Message | str:
    """Settings with their values, as a list."""
    made: Message | str = ""
    for name, value in reversed(list(changed.items())):
        one = Message(text.FIX_SETTING, {"name": labels.LABELS.get(name, name), "value": value})
        made = Message(text.FIX_SETTINGS, {"first": one, "rest": made}) if made else one
    return made
