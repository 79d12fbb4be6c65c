"""The same requests on the same memory, given out in two ways, on one clock: what the Blocks page plays.

A browser folds the events of both sides; here they are prepared, cut to what it plays smoothly, and put into words.
"""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, takewhile
from string import ascii_lowercase
from typing import Any, Final, Literal, get_args

from kvviz.allocation.contiguous import RESERVES, Reserve
from kvviz.allocation.replay import Snapshot, events_json, replay
from kvviz.allocation.simulate import Contiguous, Event, Paged, Pool, PoolError, simulate
from kvviz.allocation.workload import (
    BUNDLED,
    TEACHING,
    TEACHING_BLOCK_TOKENS,
    TEACHING_MAX_TOKENS,
    TEACHING_POOL_TOKENS,
    Generator,
    Request,
    TraceError,
)
from kvviz.core.errors import KvvizError
from kvviz.core.units import format_count
from kvviz.scenario import parse_tokens, shown
from kvviz.text import Lang, Message
from kvviz.text import blocks as text

View = Literal["race", "hybrid"]
Placed = Literal["firstfit", "buddy"]
"""Places with an address: what has none cannot be drawn."""

Cut = Literal["", "steps", "bytes"]
"""Why a clock ends early: too many steps, too many events; empty: it does not."""

GENERATED: Final = "generated"
OWN: Final = "own"
TRACES: Final = (TEACHING.name, *BUNDLED, GENERATED, OWN)
"""Where requests come from."""

MAX_STEPS: Final = 2_000
MAX_BYTES: Final = 105_000
"""Of the events of both sides: what a page may send at once."""
MAX_BLOCKS: Final = 32_768
"""More would be less than a point of the screen each."""
BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "first": (1, 1_000),
    "pool": (1, MAX_BLOCKS * 128),
    "block": (1, 128),
    "longest": (2, 1 << 20),
    "seed": (0, 999_999_999),
    "prompt": (1, 100_000),
    "answer": (1, 100_000),
}
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "view": get_args(View),
    "trace": TRACES,
    "reserve": RESERVES,
    "place": get_args(Placed),
}
FIELDS: Final = (*CHOICES, *BOUNDS, "windows")
MAX_GROUPS: Final = 8
_MOST_WINDOW: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the page was asked to play. Field name = URL parameter."""

    view: View = "race"
    """``race``: contiguous beside paged; ``hybrid``: windows ignored beside blocks freed behind them."""
    trace: str = TEACHING.name
    first: int = len(TEACHING.requests)
    """So many requests of the trace."""
    pool: int = TEACHING_POOL_TOKENS
    """Slots."""
    block: int = TEACHING_BLOCK_TOKENS
    """Slots of a block."""
    longest: int = TEACHING_MAX_TOKENS
    """Slots that contiguous memory reserves for a request; made-up requests are no longer."""
    reserve: Reserve = "max"
    place: Placed = "firstfit"
    windows: str = "full,4"
    """Groups of layers of the hybrid view: ``full`` or a window's tokens, with commas."""
    seed: int = 1
    """Of made-up requests."""
    prompt: int = 161
    """Their mean prompt; the default is that of ShareGPT's in the PagedAttention paper (SOSP'23, 6.1)."""
    answer: int = 338
    """Their mean output; likewise."""

    def __post_init__(self) -> None:
        """Refuse what cannot be played, with the setting it is about first in the sentence."""
        for name in FIELDS:
            _check(name, getattr(self, name))
        pool = Paged(pool_tokens=self.pool, block_tokens=self.block)
        if pool.blocks > MAX_BLOCKS:
            values = {"blocks": format_count(pool.blocks), "most": format_count(MAX_BLOCKS)}
            raise PoolError(Message(text.TOO_MANY_BLOCKS, values))

    def pools(self) -> tuple[Pool, Pool]:
        """The memory of both sides."""
        if self.view == "hybrid":
            windows = groups(self.windows)
            every: tuple[int | None, ...] = (None,) * len(windows)
            both = (Paged(pool_tokens=self.pool, block_tokens=self.block, windows=w) for w in (every, windows))
            left, right = both
            return left, right
        whole = Contiguous(pool_tokens=self.pool, max_tokens=self.longest, reserve=self.reserve, place=self.place)
        return whole, Paged(pool_tokens=self.pool, block_tokens=self.block)

    def made_up(self) -> Generator:
        """The generator behind ``generated``."""
        return Generator(
            seed=self.seed,
            requests=self.first,
            prompt_tokens=self.prompt,
            output_tokens=self.answer,
            max_tokens=self.longest,
        )


def groups(windows: str) -> tuple[int | None, ...]:
    """Windows of the groups of layers, None where a layer keeps every token. Raises PoolError."""
    found: list[int | None] = []
    for one in windows.lower().split(","):
        written = one.strip()
        if written == "full":
            found.append(None)
            continue
        try:
            found.append(parse_tokens(written))
        except KvvizError:
            found.append(0)
        if not 1 <= (found[-1] or 0) <= _MOST_WINDOW:
            raise PoolError(Message(text.NOT_GROUPS, {"shown": shown(windows)}))
    if len(found) > MAX_GROUPS:
        raise PoolError(Message(text.NOT_GROUPS, {"shown": shown(windows)}))
    return tuple(found)


def parse(name: str, written: str) -> str | int:
    """A setting from a text box or a link. Raises PoolError."""
    value: str | int = written.strip()
    if name in BOUNDS:
        try:
            value = parse_tokens(written)
        except KvvizError:
            raise _out_of_bounds(name, written) from None
    _check(name, value)
    return value


def _check(name: str, value: str | int) -> None:
    """One setting on its own."""
    if isinstance(value, int):
        low, high = BOUNDS[name]
        if not low <= value <= high:
            raise _out_of_bounds(name, value)
    elif name == "windows":
        groups(value)
    elif value not in CHOICES[name]:
        values = {"field": text.LABELS[name], "names": ", ".join(CHOICES[name]), "shown": shown(value)}
        raise PoolError(Message(text.NOT_A_CHOICE, values))


def _out_of_bounds(name: str, value: object) -> PoolError:
    low, high = BOUNDS[name]
    values = {"low": format_count(low), "high": format_count(high), "shown": shown(value)}
    return PoolError(Message(text.WHOLE, {"field": text.LABELS[name], **values}))


PRESETS: Final[Mapping[str, Settings]] = {
    TEACHING.name: Settings(),
    "sharegpt": Settings(
        trace="sharegpt", first=200, pool=15_728, block=16, longest=2_048, place="buddy", windows="full,128"
    ),
    "sharegpt-first-turn": Settings(
        trace="sharegpt-first-turn", first=200, pool=15_728, block=16, longest=2_048, windows="full,128"
    ),
    "azure-conversation": Settings(
        trace="azure-conversation", first=200, pool=32_768, block=16, longest=8_192, windows="full,1024"
    ),
    "azure-code": Settings(trace="azure-code", first=200, pool=32_768, block=16, longest=8_192, windows="full,1024"),
    "mooncake-conversation": Settings(
        trace="mooncake-conversation", first=100, pool=262_144, block=128, longest=131_072, windows="full,1024"
    ),
    "mooncake-synthetic": Settings(
        trace="mooncake-synthetic", first=100, pool=262_144, block=128, longest=131_072, windows="full,1024"
    ),
    GENERATED: Settings(trace=GENERATED, first=200, pool=15_728, block=16, longest=2_048, windows="full,128"),
    OWN: Settings(trace=OWN, first=200, pool=15_728, block=16, longest=2_048, windows="full,128"),
}
"""What fits a trace: its requests meet a pool that is too small for them. The pool of ShareGPT is the paper's: 12 GiB
at 800 KiB a token, and its contiguous memory is placed in buddy chunks."""


def to_query(settings: Settings, step: int) -> dict[str, str]:
    """Every setting and the step, as text."""
    return {**{name: str(value) for name, value in asdict(settings).items()}, "step": str(step)}


def from_query(query: Mapping[str, str]) -> tuple[Settings, int, tuple[Message, ...]]:
    """Settings and step of a link, and what of it cannot be used. Takes anything, raises nothing."""
    given: dict[str, Any] = {}
    rejected = []
    for name in FIELDS:
        if name in query:
            try:
                given[name] = parse(name, query[name])
            except KvvizError as error:
                rejected.append(error.message)
    settings = PRESETS[given.get("trace", TEACHING.name)]
    try:
        settings = replace(settings, **given)
    except KvvizError as error:
        rejected.append(error.message)
    step = query.get("step", "0")
    return settings, int(step) if step.isdecimal() and len(step) < 7 else 0, tuple(rejected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One step of one side."""

    step: int
    running: tuple[int, ...]
    """By place in the trace, in the order of admission."""
    waiting: tuple[int, ...]
    served: int
    """Requests whose last token was emitted up to and in this step."""
    finished: tuple[int, ...]
    """Those of them in this step."""
    preempted: tuple[int, ...]
    used_tokens: int
    """Slots with a token."""
    reserved_tokens: int
    """Slots that their requests will still write."""
    internal_tokens: int
    """Slots set aside that will never be written."""
    external_tokens: int
    """All other slots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One side."""

    name: Literal["contiguous", "paged", "ignored", "freed"]
    pool: Pool
    events: list[list[Any]]
    """As ``events_json`` writes them, up to the last step shown."""
    moments: tuple[Moment, ...]
    """One a step in which anybody runs."""
    never: int
    """Requests that need more than there is, or than is set aside for them."""
    done_step: int | None
    """The step that served the last request; None: later than what is shown."""

    def at(self, step: int) -> Moment | None:
        """This side in a step; None before the first and after the last one."""
        place = bisect_right(self.moments, step, key=lambda moment: moment.step) - 1
        return self.moments[place] if place >= 0 and self.moments[place].step == step else None

    def served(self, step: int) -> int:
        """Requests served by a step."""
        place = bisect_right(self.moments, step, key=lambda moment: moment.step)
        return self.moments[place - 1].served if place else 0

    @property
    def preemptions(self) -> int:
        """In all steps shown."""
        return sum(len(moment.preempted) for moment in self.moments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Both sides on one clock."""

    settings: Settings
    lanes: tuple[Lane, Lane]
    requests: int
    """How many there are."""
    nothing: int
    """Those of them without a prompt or without a token to generate: nothing is served for them."""
    end: int
    """The last step shown."""
    cut: Cut
    """Why the clock ends before the sides do."""

    @property
    def at_once(self) -> bool:
        """Nobody ever waits on either side: there is nothing to see of how memory is given out."""
        lanes = self.lanes
        return not any(lane.never or any(m.waiting for m in lane.moments) for lane in lanes) and bool(lanes[0].moments)

    @property
    def climax(self) -> int:
        """The step in which the first side has served all it can; the last one where neither has."""
        done = [lane.done_step for lane in self.lanes if lane.done_step is not None and lane.moments]
        return min(done, default=self.end)


def race(settings: Settings, requests: Sequence[Request]) -> Race:
    """Serve ``requests`` from both memories, as far as a page can show it."""
    pools = settings.pools()
    grown = [_events(requests, pool) for pool in pools]
    # Where both have to be cut short, the clock ends for both.
    end = max((events[-1][0] for events, _, _ in grown if events), default=0)
    ends = [(events[-1][0], why) for events, why, _ in grown if why]
    cut: Cut = ""
    if ends:
        end, cut = min(ends)
    if (within := _within(end, [events for events, _, _ in grown])) < end:
        end, cut = within, "bytes"
    nothing = sum(not request.prompt_tokens or not request.output_tokens for request in requests)
    names: tuple[Literal["ignored", "freed"], ...] | tuple[Literal["contiguous", "paged"], ...]
    names = ("ignored", "freed") if settings.view == "hybrid" else ("contiguous", "paged")
    lanes = []
    for name, pool, (events, why, happened) in zip(names, pools, grown, strict=True):
        kept = [group for group in events if group[0] <= end]
        # The compact events have none of the steps in between, in which only tokens come.
        moments = tuple(_moments(happened, pool, end))
        ended = not why and len(kept) == len(events)
        never = sum(event[0] == "x" for group in kept for event in group[1:]) - nothing
        done = (moments[-1].step if moments else 0) if ended else None
        lanes.append(Lane(name=name, pool=pool, events=kept, moments=moments, never=never, done_step=done))
    left, right = lanes
    return Race(settings=settings, lanes=(left, right), requests=len(requests), nothing=nothing, end=end, cut=cut)


def _events(requests: Sequence[Request], pool: Pool) -> tuple[list[list[Any]], Cut, list[Event]]:
    """The compact events of at most MAX_STEPS steps and MAX_BYTES, why there are no more, and the events themselves."""
    kept: list[list[Any]] = []
    happened: list[Event] = []

    def noted() -> Iterator[Event]:
        for event in simulate(requests, pool):
            happened.append(event)
            yield event

    size = 0
    for group in events_json(noted()):
        size += _length(group)
        if kept and (group[0] >= MAX_STEPS or size > MAX_BYTES):
            return kept, "steps" if group[0] >= MAX_STEPS else "bytes", happened
        kept.append(group)
    return kept, "", happened


def _within(end: int, sides: Sequence[list[list[Any]]]) -> int:
    """The last step up to which the events of both sides are not too much."""
    sizes: dict[int, int] = {}
    for group in (group for side in sides for group in side):
        sizes[group[0]] = sizes.get(group[0], 0) + _length(group)
    total = 0
    for step in sorted(sizes):
        total += sizes[step]
        if total > MAX_BYTES and step:
            return min(end, step - 1)
    return end


def _length(group: object) -> int:
    return len(json.dumps(group, separators=(",", ":"))) + 1


def _moments(happened: Iterable[Event], pool: Pool, end: int) -> Iterable[Moment]:
    served = 0
    for snapshot in takewhile(lambda s: s.step <= end, replay(happened, pool)):
        served += len(snapshot.finished)
        yield _moment(snapshot, pool, served)


def _moment(snapshot: Snapshot, pool: Pool, served: int) -> Moment:
    lost = snapshot.external_tokens + snapshot.reserved_tokens + snapshot.internal_tokens
    return Moment(
        step=snapshot.step,
        running=tuple(snapshot.tables),
        waiting=snapshot.waiting,
        served=served,
        finished=snapshot.finished,
        preempted=snapshot.preempted,
        used_tokens=pool.pool_tokens - lost,
        reserved_tokens=snapshot.reserved_tokens,
        internal_tokens=snapshot.internal_tokens,
        external_tokens=snapshot.external_tokens,
    )


# --- for the browser -------------------------------------------------------------------------------------------------


def payload(raced: Race, *, start: int, lang: Lang) -> bytes:
    """All the browser needs to play it, as JSON. ``start``: the step it opens at."""
    lanes = []
    for lane in raced.lanes:
        pool = lane.pool
        paged = isinstance(pool, Paged)
        lanes.append(
            {
                "name": lane.name,
                "title": text.LANES[lane.name](lang),
                "paged": paged,
                "pool": pool.pool_tokens,
                "groups": _groups(pool, lang),
                "done": lane.done_step,
                "events": lane.events,
            }
        )
    said = {
        "lang": lang,
        "start": min(start, raced.end),
        "end": raced.end,
        "block": raced.settings.block,
        "lanes": lanes,
        "words": {name: getattr(sentence, lang) for name, sentence in text.PLAYER.items()},
    }
    packed = json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode()
    key = hashlib.sha256(packed).hexdigest()[:12]
    return b'{"id":"%s",%s' % (key.encode(), packed[1:])


def _groups(pool: Pool, lang: Lang) -> list[str]:
    """Groups of layers by the letter their blocks have on them, and by what they keep."""
    if not isinstance(pool, Paged) or len(pool.windows) == 1:
        return [""]
    return [
        text.GROUP_FULL(lang, letter=letter)
        if window is None
        else text.GROUP_WINDOW(lang, letter=letter, tokens=format_count(window))
        for letter, window in zip(ascii_lowercase, pool.windows, strict=False)
    ]


# --- in words --------------------------------------------------------------------------------------------------------


def headline(raced: Race, lang: Lang) -> str:
    """Who has served how many when the first side is done."""
    left, right = raced.lanes
    step = raced.climax
    if raced.nothing == raced.requests:
        return text.NOTHING_ASKED(lang)
    if not left.moments and not right.moments:
        return text.NOBODY(lang)
    if raced.at_once:
        return text.AT_ONCE(lang, requests=format_count(raced.requests - raced.nothing))
    served = {"left": format_count(left.served(step)), "right": format_count(right.served(step))}
    counts = {"step": format_count(step), "requests": format_count(raced.requests), **served}
    return text.CLIMAX[raced.settings.view](lang, **counts)


def explanation(raced: Race, lang: Lang) -> str:
    """What each side does with the memory, and what it costs."""
    settings, right = raced.settings, raced.lanes[1]
    slots = format_count(settings.pool)
    whose = text.WHOSE(lang, trace=text.TRACES[settings.trace](lang), requests=format_count(raced.requests))
    if settings.view == "hybrid":
        said = text.HOW_HYBRID(lang, pool=slots, block=format_count(settings.block), windows=settings.windows)
        return _joined((whose, said, text.AT_ONCE_TRY(lang)) if raced.at_once else (whose, said), lang)
    said = text.HOW_RESERVED[settings.reserve](lang, pool=slots, longest=format_count(settings.longest))
    said = _joined((whose, said, text.HOW_PAGED(lang, block=format_count(settings.block))), lang)
    if right.preemptions:
        first = next(m for m in right.moments if m.preempted)
        values = {"times": format_count(right.preemptions), "step": format_count(first.step)}
        said = _joined((said, text.HOW_PREEMPTED(lang, **values)), lang)
    return _joined((said, text.AT_ONCE_TRY(lang)), lang) if raced.at_once else said


def remarks(raced: Race, lang: Lang) -> list[str]:
    """What must be known besides: requests that never run, and a clock that ends early."""
    said = [
        text.NEVER[lane.name](lang, side=text.LANES[lane.name](lang), count=format_count(lane.never))
        for lane in raced.lanes
        if lane.never
    ]
    if raced.nothing:
        said.append(text.NOTHING(lang, count=format_count(raced.nothing)))
    if raced.cut:
        most = {"most": format_count(MAX_STEPS), "kilobytes": format_count(MAX_BYTES // 1000)}
        said.append(text.CUT[raced.cut](lang, steps=format_count(raced.end + 1), **most))
    return said


MOST_ROWS: Final = 200
"""Of the table."""


def rows(raced: Race, lang: Lang) -> list[dict[str, Any]]:
    """The race as a table: every step; of many those in which a request begins, loses its blocks, ends or has just
    left, on either side, each with the last step until which nothing of that happens."""
    steps = list(range(raced.end + 1))
    if len(steps) > MOST_ROWS:
        changed = {0}
        for group in (group for lane in raced.lanes for group in lane.events):
            kinds = {event[0] for event in group[1:]}
            changed |= {group[0]} if kinds & set("apf") else set()
            changed |= {min(group[0] + 1, raced.end)} if "f" in kinds else set()
        steps = sorted(changed)
    found = []
    for step, following in islice(zip(steps, [*steps[1:], raced.end + 1], strict=True), MOST_ROWS):
        row: dict[str, Any] = {text.STEP(lang): step}
        if following > step + 1:
            row[text.STEP(lang)] = text.STEP_UNTIL(lang, step=format_count(step), last=format_count(following - 1))
        for lane in raced.lanes:
            row[text.LANES[lane.name](lang)] = _told(lane, step, lang)
        found.append(row)
    if len(steps) > MOST_ROWS:
        left = text.ROWS_LEFT(lang, first=format_count(steps[MOST_ROWS]), last=format_count(raced.end))
        found.append(
            {text.STEP(lang): "…"} | dict.fromkeys((text.LANES[lane.name](lang) for lane in raced.lanes), left)
        )
    return found


def _told(lane: Lane, step: int, lang: Lang) -> str:
    moment = lane.at(step)
    if moment is None:
        return text.ALL_SERVED(lang, served=format_count(lane.served(step)))
    share = [f"{n}%" for n in percents(_slots(moment))]
    parts = [
        text.TOLD(
            lang,
            served=format_count(moment.served),
            running=names(moment.running, lang),
            waiting=names(moment.waiting, lang),
        )
    ]
    if moment.preempted:
        parts.append(text.TOLD_PREEMPTED(lang, requests=names(moment.preempted, lang)))
    if moment.finished:
        parts.append(text.TOLD_FINISHED(lang, requests=names(moment.finished, lang)))
    used, reserved, internal, external = share
    parts.append(text.TOLD_SHARES(lang, used=used, reserved=reserved, internal=internal, external=external))
    return _joined(parts, lang)


def _slots(moment: Moment) -> tuple[int, int, int, int]:
    return moment.used_tokens, moment.reserved_tokens, moment.internal_tokens, moment.external_tokens


def percents(parts: Sequence[int]) -> tuple[int, ...]:
    """Whole percents of what the parts add up to; they add up to 100, as race.js rounds them too.

    All are rounded down, and what is missing goes to those that lost most, the first of equals first.
    """
    whole = sum(parts)
    down = [100 * part // whole for part in parts]
    by_loss = sorted(range(len(parts)), key=lambda place: (-(100 * parts[place] % whole), place))
    for place in by_loss[: 100 - sum(down)]:
        down[place] += 1
    return tuple(down)


_MOST_NAMES: Final = 12


def names(requests: Sequence[int], lang: Lang) -> str:
    """Requests by their number in the trace, from 1."""
    if not requests:
        return text.NONE(lang)
    named = ", ".join(str(request + 1) for request in requests[:_MOST_NAMES])
    if (more := len(requests) - _MOST_NAMES) > 0:
        named = text.AND_MORE(lang, named=named, more=format_count(more))
    return text.NAMED(lang, count=len(requests), named=named)


def _joined(sentences: Iterable[str], lang: Lang) -> str:
    return ("" if lang == "ja" else " ").join(sentences)


def taken(settings: Settings, requests: Iterable[Request]) -> tuple[Request, ...]:
    """The requests that are played, all waiting from the start."""
    some = tuple(islice(requests, settings.first))
    if not some:
        raise TraceError(Message(text.NO_REQUESTS))
    return some
