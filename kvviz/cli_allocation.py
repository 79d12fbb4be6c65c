"""``kvviz simulate`` and ``kvviz prefix``: requests over time."""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import chain
from typing import Any, Final

from kvviz.allocation.contiguous import PLACES, RESERVES
from kvviz.allocation.prefix import CACHED, ORDERS, HitRatios, replay_prefixes
from kvviz.allocation.replay import events_json, replay
from kvviz.allocation.simulate import (
    MAX_BLOCK_TOKENS,
    MAX_POOL_TOKENS,
    Contiguous,
    Paged,
    Pool,
    PoolError,
    Totals,
    simulate,
    summarise,
)
from kvviz.allocation.workload import ARRIVALS, BUNDLED, MOONCAKE_ID_TOKENS, TEACHING, Arrival, Trace, load_trace
from kvviz.core.units import format_count
from kvviz.text import Lang, Message, Text
from kvviz.text import allocation as text

_STEP_S: Final = 0.05
_DIGITS: Final = 5
_NAMED: Final = 10
"""So many requests that are not served are named."""

Table = Iterator[tuple[Text, str, str]]


def add_arguments(command: argparse.ArgumentParser, name: str, lang: Lang) -> None:
    """The flags of ``simulate`` or ``prefix``."""
    traces = text.TRACE(lang, names=", ".join([*BUNDLED, TEACHING.name]))
    command.add_argument("--trace", required=True, metavar="FILE", help=traces)
    if name == "prefix":
        command.add_argument("--capacity-blocks", required=True, metavar="N", help=text.CAPACITY_BLOCKS(lang))
        command.add_argument("--block-tokens", metavar="N", help=text.ID_TOKENS(lang))
        command.add_argument("--order", choices=ORDERS, default="fwd", help=text.ORDER(lang))
        command.add_argument("--cache", choices=CACHED, default="prompt", help=text.CACHE(lang))
        return
    command.add_argument("--allocator", required=True, choices=("contiguous", "paged"), help=text.ALLOCATOR(lang))
    command.add_argument("--reserve", choices=RESERVES, default="max", help=text.RESERVE(lang))
    command.add_argument("--place", choices=PLACES, default="buddy", help=text.PLACE(lang))
    command.add_argument("--block-tokens", metavar="N", help=text.BLOCK_TOKENS(lang))
    size = command.add_mutually_exclusive_group(required=True)
    size.add_argument("--pool-tokens", metavar="N", help=text.POOL_TOKENS(lang))
    size.add_argument("--pool-blocks", metavar="N", help=text.POOL_BLOCKS(lang))
    command.add_argument("--max-tokens", metavar="N", help=text.MAX_TOKENS(lang))
    command.add_argument("--arrival", choices=ARRIVALS, help=text.ARRIVAL(lang))
    command.add_argument("--step-s", metavar="S", help=text.STEP_S(lang))
    command.add_argument("--caching", action="store_true", help=text.CACHING(lang))
    command.add_argument("--watermark-blocks", metavar="N", help=text.WATERMARK(lang))
    command.add_argument("--unhashed-first", action="store_true", help=text.UNHASHED_FIRST(lang))
    command.add_argument("--windows", metavar="W,…", help=text.WINDOWS(lang))
    command.add_argument("--steps", action="store_true", help=text.STEPS(lang))


def run_simulate(
    options: argparse.Namespace, lang: Lang, say: Callable[[str], None], table: Callable[..., Any]
) -> None:
    """Answer ``kvviz simulate``: the figures, or with ``--steps`` every step before them."""
    pool = _pool(options)
    trace = load_trace(options.trace)
    arrival: Arrival = options.arrival or ("trace" if trace.unit == "step" else "saturated")
    step_s = _seconds(options.step_s) if options.step_s is not None else _STEP_S
    block_tokens = pool.block_tokens if isinstance(pool, Paged) and pool.caching else None
    requests = trace.arriving(arrival, step_s=step_s, block_tokens=block_tokens)
    totals = summarise(requests, pool)
    figures = {**totals.summary(), "trace": trace.name, "arrival": arrival}
    if not options.steps:
        say(json.dumps(figures) if options.json else "\n".join(_report(totals, lang, table)))
        return
    rows = (snapshot.row(pool) for snapshot in replay(simulate(requests, pool), pool))
    if not options.json:
        _say_rows(rows, say)
        say("\n" + "\n".join(_report(totals, lang, table)))
        return
    # Row by row: there may be more of them than memory should hold.
    say(json.dumps(figures)[:-1] + ', "per_step": [')
    _say_list(map(json.dumps, rows), say)
    say('], "events": [')
    _say_list((json.dumps(one, separators=(",", ":")) for one in events_json(simulate(requests, pool))), say)
    say("]}")


def run_prefix(options: argparse.Namespace, lang: Lang, say: Callable[[str], None], table: Callable[..., Any]) -> None:
    """Answer ``kvviz prefix``."""
    capacity = None
    if options.capacity_blocks != "inf":
        capacity = _whole("--capacity-blocks", options.capacity_blocks, 1, MAX_POOL_TOKENS)
    trace = load_trace(options.trace)
    ratios = _prefix(trace, capacity, options)
    if options.json:
        figures = {name: round(getattr(ratios, name), _DIGITS) for name in text.RATIOS}
        more = {"evictions": ratios.evictions, "distinct": ratios.resident_blocks, "requests": ratios.requests}
        say(json.dumps({**figures, **more, "trace": trace.name}))
        return
    say("\n".join(table(_ratios(ratios), lang)))


def _prefix(trace: Trace, capacity: int | None, options: argparse.Namespace) -> HitRatios:
    size = trace.id_tokens or MOONCAKE_ID_TOKENS
    if options.block_tokens is not None:
        size = _whole("--block-tokens", options.block_tokens, 1, MAX_BLOCK_TOKENS)
    trace.check_ids(size)
    return replay_prefixes(trace.requests, capacity, order=options.order, cached=options.cache, block_tokens=size)


def _ratios(ratios: HitRatios) -> Table:
    figures = asdict(ratios)
    for name, label in text.RATIOS.items():
        yield label, f"{figures[name]:.2%}", ""
    yield text.EVICTIONS, format_count(ratios.evictions), ""


def _pool(options: argparse.Namespace) -> Pool:
    """The pool that the flags describe; a block of contiguous memory is a token unless a size is given."""
    default = 16 if options.allocator == "paged" else 1
    block = default
    if options.block_tokens is not None:
        block = _whole("--block-tokens", options.block_tokens, 1, MAX_BLOCK_TOKENS)
    if options.pool_blocks is not None:
        slots = _whole("--pool-blocks", options.pool_blocks, 1, MAX_POOL_TOKENS // block) * block
    else:
        slots = _whole("--pool-tokens", options.pool_tokens, 1, MAX_POOL_TOKENS)
    longest = None
    if options.max_tokens is not None:
        longest = _whole("--max-tokens", options.max_tokens, 1, MAX_POOL_TOKENS)
    if options.allocator == "contiguous":
        if longest is None and options.reserve != "oracle":
            raise PoolError(Message(text.NEEDS_MAX_TOKENS, {"reserve": options.reserve}))
        return Contiguous(pool_tokens=slots, max_tokens=longest or slots, reserve=options.reserve, place=options.place)
    watermark = 0
    if options.watermark_blocks is not None:
        watermark = _whole("--watermark-blocks", options.watermark_blocks, 0, MAX_POOL_TOKENS)
    return Paged(
        pool_tokens=slots,
        block_tokens=block,
        caching=options.caching,
        watermark_blocks=watermark,
        unhashed_first=options.unhashed_first,
        windows=_windows(options.windows) if options.windows is not None else (None,),
    )


def _windows(written: str) -> tuple[int | None, ...]:
    groups: list[int | None] = []
    for one in written.split(","):
        window = one.strip()
        if window != "full" and not (window.isdecimal() and len(window) < _NAMED):
            raise PoolError(Message(text.NOT_WINDOWS, {"shown": written[:40]}))
        groups.append(None if window == "full" else int(window))
    return tuple(groups)


def _whole(flag: str, written: str, low: int, high: int) -> int:
    digits = written.strip().replace(",", "")
    value = int(digits) if digits.isdecimal() and len(digits) <= len(str(high)) else -1
    if not low <= value <= high:
        values = {"flag": flag, "low": format_count(low), "high": format_count(high), "shown": written[:40]}
        raise PoolError(Message(text.NOT_WHOLE, values))
    return value


def _seconds(written: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = 0.0
    if not 1e-6 <= value <= 1e6:
        raise PoolError(Message(text.NOT_SECONDS, {"flag": "--step-s", "shown": written[:40]}))
    return value


def _say_rows(rows: Iterator[dict[str, object]], say: Callable[[str], None]) -> None:
    """Columns under their names; numbers are right under each other as long as they have no more digits than these."""
    first = next(rows, None)
    if first is None:
        return
    names = list(first)
    say("  ".join(names))
    for row in chain([first], rows):
        finished = ",".join(map(str, row["finished"])) if isinstance(row["finished"], list) else ""
        cells = [str(row[name]).rjust(len(name)) for name in names if name != "finished"]
        say("  ".join([*cells, finished]).rstrip())


def _say_list(items: Iterator[str], say: Callable[[str], None]) -> None:
    before = next(items, None)
    for item in items:
        say(f"{before},")
        before = item
    if before is not None:
        say(before)


def _report(totals: Totals, lang: Lang, table: Callable[..., Any]) -> Iterator[str]:
    mean = totals.running_sum / totals.saturated_steps if totals.saturated_steps else None
    yield (text.SERVED_AT_ONCE if mean is None else text.SERVED)(
        lang,
        requests=format_count(totals.finished),
        steps=format_count(totals.steps),
        peak=format_count(totals.peak_running),
        mean="-" if mean is None else f"{mean:.2f}",
    )
    lost = totals.not_resumed
    never = [index for index in totals.never_admissible_first if index not in totals.not_resumed_first]
    for said, count, first in (
        (text.NEVER_PAGED if isinstance(totals.pool, Paged) else text.NEVER, totals.never_admissible - lost, never),
        (text.NOT_RESUMED, lost, totals.not_resumed_first),
    ):
        if count:
            named = ", ".join(str(index + 1) for index in first[:_NAMED]) + (", …" if count > _NAMED else "")
            watermark = totals.pool.watermark_blocks if isinstance(totals.pool, Paged) else 0
            yield said(lang, count=format_count(count), first=named, watermark=format_count(watermark))
    if totals.nothing_to_do:
        yield text.NOTHING_TO_DO(lang, count=format_count(totals.nothing_to_do))
    if not totals.saturated_steps:
        yield text.NEVER_WAITED(lang)
    if shares := list(_shares(totals, lang)):
        yield ""
        yield from table(iter(shares), lang)


def _shares(totals: Totals, lang: Lang) -> Table:
    if totals.saturated_steps:
        labels = (text.TOKEN, text.RESERVED, text.INTERNAL, text.EXTERNAL)
        notes = (text.TOKEN_NOTE, text.RESERVED_NOTE, text.INTERNAL_NOTE, text.EXTERNAL_NOTE)
        for label, share, meaning in zip(labels, totals.shares(), notes, strict=True):
            yield label, f"{share:.1%}", meaning(lang)
    if isinstance(totals.pool, Contiguous):
        return
    again = text.PREEMPTIONS_NOTE(lang, tokens=format_count(totals.recomputed_tokens))
    yield text.PREEMPTIONS, format_count(totals.preemptions), again
    if totals.pool.caching:
        asked, evictions = format_count(totals.prompt_tokens_queried), format_count(totals.evictions)
        note = text.HITS_NOTE(lang, tokens=asked, evictions=evictions)
        yield text.HITS, format_count(totals.prompt_tokens_hit), note
