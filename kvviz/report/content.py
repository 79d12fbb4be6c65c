"""What a report says of a Sizing: the same sentences and rows as the page."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from typing import Any, Final

from kvviz import build, explain
from kvviz.advice import advice
from kvviz.budgets import Budget
from kvviz.charts.growth import growth_alt, growth_rows
from kvviz.charts.layers import layer_counts, layer_strip_svg
from kvviz.charts.ledger import ledger_alt
from kvviz.core.architecture import Fact
from kvviz.core.errors import KvvizError
from kvviz.core.units import format_bytes, format_count
from kvviz.devices import TYPED, Device, memory_note
from kvviz.dispute import Assumption, assumptions
from kvviz.export import all_notes, not_modelled, web_address
from kvviz.levers import Lever, fixes
from kvviz.planning import engine_name, name_of
from kvviz.qr import qr_svg
from kvviz.report.document import Block, Cell, Code, Figure, Heading, Lines, Number, Report, Section, Table
from kvviz.report.drawings import PAGE, PHONE, Paper, growth_svg, ledger_svg
from kvviz.sizing import Sizing
from kvviz.text import Lang, Message
from kvviz.text import charts as parts
from kvviz.text import dispute as disputed
from kvviz.text import explain as why
from kvviz.text import export as exported
from kvviz.text import report as text
from kvviz.text import sizing as labels
from kvviz.verdict import Outcome, short_name, verdict

MARKS: Final[dict[Outcome, str]] = {"yes": "✓", "held-only": "◐", "no": "✗", "asks": "?", "content": "i"}


def report(sizing: Sizing, lang: Lang, *, link: str, day: date, possible: Sequence[Lever] = ()) -> Report:
    """The report of an answer. ``day``: of the UTC calendar; ``possible``: what could be changed."""
    said = verdict(sizing, lang)
    scenario = sizing.scenario
    address = web_address(link)
    at_once = ""
    if sizing.max_sequences_counted is not None and sizing.max_sequences_held is not None:
        counts = {"counted": sizing.max_sequences_counted, "held": sizing.max_sequences_held}
        said_so, run = (
            (text.IN_MEMORY if sizing.holds_more else text.AT_ONCE),
            format_count(sizing.max_sequences_run or 0),
        )
        at_once = said_so(lang, run=run, **{n: format_count(count) for n, count in counts.items()})
    return Report(
        kind=text.KIND(lang),
        model=scenario.model,
        title=text.TITLE(lang, model=scenario.model),
        question=_question(sizing, lang),
        head=said.head,
        rest=said.rest,
        mark=MARKS[said.outcome],
        at_once=at_once,
        strip=Figure(svg=layer_strip_svg(sizing, lang, compact=True), alt=""),
        layers=layer_counts(sizing, lang),
        numbers=tuple(_numbers(sizing, lang)),
        sections=tuple(_sections(sizing, lang, possible)),
        origin_title=text.ORIGIN(lang),
        origin=_origin(sizing, lang, day=day, linked=address is not None),
        link=link if address is not None else "",
        open_link=text.OPEN(lang),
        qr=_qr(link, lang) if address is not None else "",
    )


def _question(sizing: Sizing, lang: Lang) -> str:
    scenario, budget = sizing.scenario, sizing.budget
    one = scenario.requests == 1
    asked = {
        "requests": format_count(scenario.requests),
        "tokens": format_count(sizing.tokens),
        "model": scenario.model,
        "engine": engine_name(scenario),
    }
    if budget is None:
        return (text.QUESTION_NO_GPU_ONE if one else text.QUESTION_NO_GPU)(lang, **asked)
    where = {"gpus": format_count(scenario.gpus), "gpu": short_name(budget.device.name)}
    return (text.QUESTION_ONE if one else text.QUESTION)(lang, **asked, **where)


def _numbers(sizing: Sizing, lang: Lang) -> Iterator[Number]:
    for name, count, meaning in explain.three_numbers(sizing):
        yield Number(name=name(lang), size=format_bytes(count), exact=format_count(count), meaning=meaning(lang))


def _sections(sizing: Sizing, lang: Lang, possible: Sequence[Lever]) -> Iterator[Section]:
    yield Section(name="briefly", title=text.BRIEFLY(lang), blocks=(Lines(tuple(_briefly(sizing, lang))),))
    yield Section(name="working", title=exported.WORKING(lang), blocks=tuple(_working(sizing, lang)))
    if sizing.budget is not None:
        figure = _drawn(ledger_svg, ledger_alt(sizing, lang), sizing, lang)
        blocks = (figure, _ledger(sizing, sizing.budget, lang))
        yield Section(name="ledger", title=labels.LEDGER(lang), blocks=blocks)
    figure = _drawn(growth_svg, growth_alt(sizing, lang), sizing, lang)
    blocks = (figure, _of_rows(growth_rows(sizing, lang), lang))
    yield Section(name="growth", title=labels.GROWTH(lang), blocks=blocks)
    if offered := fixes(sizing, tuple(possible)):
        rows = [
            (fix.lever.label(lang), _fit(fix.lever), fix.lever.effect(lang), fix.lever.cost(lang)) for fix in offered
        ]
        headings = (labels.WHAT_IF_CHANGE, labels.WHAT_IF_FIT, labels.WHAT_IF_EFFECT, labels.WHAT_IF_COST)
        table = Table(headings=_said(headings, lang), rows=tuple(rows), numbers=frozenset({1}))
        yield Section(name="helps", title=text.HELPS(lang), blocks=(table,))
    yield Section(name="assumptions", title=text.ASSUMPTIONS(lang), blocks=tuple(_assumptions(sizing, lang)))
    warnings = tuple(_warnings(sizing, lang))
    blocks_of = (Lines(warnings),) if warnings else (text.NO_WARNINGS(lang),)
    yield Section(name="warnings", title=text.WARNINGS(lang), blocks=blocks_of)
    left_out = Lines(tuple(line(lang) for line in not_modelled(sizing.scenario)))
    yield Section(name="left-out", title=exported.NOT_MODELLED(lang), blocks=(left_out,))


def _drawn(draw: Callable[[Sizing, Lang, Paper], str], alt: str, sizing: Sizing, lang: Lang) -> Figure:
    return Figure(svg=draw(sizing, lang, PAGE), alt=alt, narrow=draw(sizing, lang, PHONE))


def _briefly(sizing: Sizing, lang: Lang) -> Iterator[str]:
    """The whole in 30 seconds, with this answer's own numbers."""
    content, budget = sizing.content, sizing.budget
    yield text.WHAT_IT_IS(lang)
    yield text.WITHOUT_IT(lang)
    values = {"request": format_bytes(sizing.content_bytes), "tokens": format_count(sizing.tokens)}
    if content.limited or content.state_bytes or content.cross_bytes:
        yield text.GROWS_UP_TO(lang, **values)
    else:
        yield text.GROWS_WITH(lang, token=format_bytes(content.growing_bytes_per_token), **values)
    if budget is None or sizing.short_bytes is None:
        yield text.MAY_EXCEED(lang)
    else:
        need, weights = budget.usable_bytes + sizing.short_bytes, budget.weights.value_bytes
        sentence = text.EXCEEDS if need > weights else text.CAN_EXCEED
        yield sentence(lang, cache=format_bytes(need), weights=format_bytes(weights))
    yield text.LEVERS(lang)


def _working(sizing: Sizing, lang: Lang) -> Iterator[Block]:
    """The formulas filled in, why the engine counts otherwise, and which field of the config each number is."""
    found = explain.lines(sizing)
    headings = (why.COLUMN_WHAT, why.COLUMN_FORMULA, why.COLUMN_TOKENS, why.COLUMN_SIZE, why.COLUMN_BYTES)
    yield Table(
        headings=_said(headings, lang),
        rows=tuple(
            (
                line.what(lang),
                Code(line.formula),
                why.ONCE(lang) if line.tokens is None else format_count(line.tokens),
                format_bytes(line.total_bytes),
                format_count(line.total_bytes),
            )
            for line in found
        ),
        numbers=frozenset({2, 3, 4}),
    )
    if any(line.formula.startswith("2 × ") for line in found):
        yield text.SYMBOLS(lang)
    for sentence in explain.differences(sizing):
        yield sentence(lang)
    if facts := sizing.architecture.facts:
        yield Heading(text.FIELDS(lang))
        named = _said((why.COLUMN_TERM, why.COLUMN_VALUE, why.COLUMN_ORIGIN), lang)
        yield Table(headings=named, rows=tuple(_fact(fact, lang) for fact in facts))


def _fact(fact: Fact, lang: Lang) -> tuple[Cell, ...]:
    value = format_count(fact.value) if isinstance(fact.value, int) else fact.value
    term: Cell = why.TERMS[fact.term](lang) if fact.term in why.TERMS else Code(fact.term)
    return term, value, explain.origin(fact, lang) if fact.origin != "field" else Code(fact.where)


def _ledger(sizing: Sizing, budget: Budget, lang: Lang) -> Table:
    """What takes one GPU's memory, what that leaves for the cache, and what the load needs of it."""
    terms = (
        (parts.WEIGHTS, budget.weights),
        (parts.ACTIVATIONS, budget.activations),
        (parts.GRAPHS, budget.graphs),
        (parts.NON_TORCH, budget.non_torch),
    )
    derived = "exact" if all(term.basis == "exact" for _, term in terms) else "estimated"
    seen = format_bytes(budget.device_bytes - budget.hidden.value_bytes)
    outside = {"total": seen, "fraction": f"{budget.memory_fraction or 1:g}"}
    listed: list[tuple[str, int, str, str]] = [
        (exported.DEVICE(lang), budget.device_bytes, *_memory(budget.device, lang)),
        (parts.HIDDEN(lang), budget.hidden.value_bytes, budget.hidden.basis, budget.hidden.source(lang)),
        (parts.OUTSIDE(lang), budget.outside_bytes, "exact", parts.OUTSIDE_SOURCE(lang, **outside)),
        *((label(lang), term.value_bytes, term.basis, term.source(lang)) for label, term in terms),
        (exported.LEFT(lang), budget.available_bytes, derived, exported.LEFT_SOURCE(lang)),
    ]
    if budget.kept_free_bytes:
        share = exported.KEPT_FREE_SOURCE(lang, share=f"{sizing.scenario.headroom:g}")
        listed.append((exported.KEPT_FREE(lang), budget.kept_free_bytes, derived, share))
    if sizing.short_bytes is not None and sizing.lacking_bytes is not None:
        short = sizing.lacking_bytes > 0
        difference = labels.FACT_SHORT if short else labels.FACT_SPARE
        listed.append((exported.NEEDED(lang), budget.usable_bytes + sizing.short_bytes, "exact", ""))
        listed.append((difference(lang), abs(sizing.lacking_bytes), derived, ""))
    told = {_why(one, lang) for one in assumptions(sizing) if one.badge == "estimate"}
    rows = [
        (
            name,
            format_bytes(count),
            format_count(count),
            parts.BASIS[basis](lang),
            text.SEE_ASSUMPTIONS(lang) if source in told else source,
        )
        for name, count, basis, source in listed
    ]
    headings = (parts.PART, why.COLUMN_SIZE, why.COLUMN_BYTES, parts.BASIS_HEADING, parts.SOURCE)
    return Table(headings=_said(headings, lang), rows=tuple(rows), numbers=frozenset({1, 2}))


def _memory(gpu: Device, lang: Lang) -> tuple[str, str]:
    """Basis and source of a GPU's memory."""
    basis = "exact" if gpu.memory_source == TYPED else "measured" if gpu.memory_basis == "measured" else "assumed"
    return basis, memory_note(gpu)(lang)


def _assumptions(sizing: Sizing, lang: Lang) -> Iterator[Block]:
    """In three groups: what was changed, what rests on an estimate, what a later version may set otherwise."""
    made = assumptions(sizing)
    groups = {badge: [one for one in made if one.badge == badge] for badge in ("changed", "estimate", "default")}
    name, value = exported.SETTING, exported.VALUE
    yield Heading(text.CHANGED(lang))
    if groups["changed"]:
        rows = [(one.label(lang), _value(one.value, lang), _why(one, lang)) for one in groups["changed"]]
        yield Table(headings=_said((name, value, disputed.BASIS), lang), rows=tuple(rows))
    else:
        yield text.NOTHING_CHANGED(lang)
    yield Heading(text.ESTIMATES(lang))
    if groups["estimate"]:
        estimates = [
            (
                one.label(lang),
                _value(one.value, lang),
                parts.BASIS[one.basis](lang) if one.basis else "",
                _why(one, lang),
            )
            for one in groups["estimate"]
        ]
        headings = (parts.PART, value, parts.BASIS_HEADING, parts.SOURCE)
        yield Table(headings=_said(headings, lang), rows=tuple(estimates))
    else:
        yield text.NOTHING_ESTIMATED(lang)
    yield Heading(text.LEFT_AS_DEFAULT(lang))
    explained = [one for one in groups["default"] if one.source is not None]
    settings = (
        exported.ONE_SETTING(lang, name=one.label(lang), value=_value(one.value, lang)) for one in groups["default"]
    )
    yield Lines(tuple(settings), short=True)
    for one in explained:
        setting = exported.ONE_SETTING(lang, name=one.label(lang), value=_value(one.value, lang))
        yield text.WITH_REASON(lang, setting=setting, reason=_why(one, lang))


def _value(value: str | Message, lang: Lang) -> str:
    return value(lang) if isinstance(value, Message) else value


def _why(one: Assumption, lang: Lang) -> str:
    return one.source(lang) if one.source else ""


def _warnings(sizing: Sizing, lang: Lang) -> Iterator[str]:
    if sizing.scenario.config:
        yield exported.FROM_PASTED(lang)
    yield from (note.message(lang) for note in all_notes(sizing))
    yield from (one.sentence(lang) for one in advice(sizing))


def _origin(sizing: Sizing, lang: Lang, *, day: date, linked: bool) -> Table:
    scenario = sizing.scenario
    rows: list[tuple[Cell, ...]] = [
        (text.DATE(lang), text.UTC(lang, day=day.isoformat())),
        (text.MADE_BY(lang), f"kvviz {build.version()}"),
        (text.RULES(lang), name_of(scenario.engine, scenario.engine_version)),
        (text.CONFIG(lang), Code(scenario.revision)),
        (text.UNITS(lang), text.GIB_IS(lang)),
    ]
    if not linked:
        rows.append((text.LINK(lang), text.NO_LINK(lang)))
    return Table(headings=(), rows=tuple(rows))


def _qr(link: str, lang: Lang) -> str:
    try:
        return qr_svg(link, lang)
    except KvvizError:
        return ""  # a link too long for a code stands beside it in full


def _fit(lever: Lever) -> str:
    fit = lever.sizing.max_sequences_counted
    return "–" if fit is None else format_count(fit)


def _of_rows(rows: Sequence[dict[str, Any]], lang: Lang) -> Table:
    """A chart's table; what is not in a row is empty."""
    headings = tuple(dict.fromkeys(heading for row in rows for heading in row))
    made = tuple(tuple(_cell(row.get(heading)) for heading in headings) for row in rows)
    words = {parts.FITS(lang)}
    return Table(
        headings=headings,
        rows=made,
        numbers=frozenset(place for place, heading in enumerate(headings) if heading not in words),
    )


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):  # GiB
        return f"{value:,.3f}"
    return format_count(value) if isinstance(value, int) else str(value)


def _said(headings: Iterable[Any], lang: Lang) -> tuple[str, ...]:
    return tuple(heading(lang) for heading in headings)
