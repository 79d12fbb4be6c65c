"""The Review page's own state, read once from the link, and how it shows assumptions, a dispute and a number."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import streamlit as st

from kvviz.core.errors import KvvizError
from kvviz.core.units import format_bytes, format_count
from kvviz.dispute import Assumption, Badge, Change, Dispute, Step, assumptions, bytes_of, label, pool_of, written
from kvviz.export import not_modelled
from kvviz.mistakes import (
    Amount,
    Claim,
    Explained,
    Finding,
    Mistake,
    explained,
    name,
    parse_claim,
    plainly,
    right,
    why,
)
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import Lang, Message, together
from kvviz.text import charts as parts
from kvviz.text import dispute as text
from kvviz.text import export as exported
from kvviz.text import mistakes as mistaken
from kvviz.text import sizing as labels
from kvviz.ui import models, show, state
from kvviz.ui.session import session

_BADGES: Final[dict[Badge, str]] = {"changed": "orange", "estimate": "blue", "default": "gray"}
_FIRST: Final = (labels.MODEL, labels.ENGINE, labels.GPU, text.GPUS, labels.INPUT, labels.OUTPUT, labels.SEQUENCES)
"""Assumptions in the table even where they are as by default."""
_MOST_FINDINGS: Final = 4
_CLAIM_CHARACTERS: Final = 200


def begin() -> None:
    """On the page's first run in a session, take over what the link says: A is frozen, B goes into the controls."""
    if "claim" not in st.session_state:
        st.session_state["claim"] = st.query_params.get("claim", "")[:_CLAIM_CHARACTERS]
    if "challenged" in session():
        return
    session()["challenged"] = None
    linked = state.together() if "set" in st.query_params else ()
    if len(linked) != 2:
        return
    a, b = linked
    problem = {name: session().get(name) for name in ("model_problem", "hits")}
    _read_model(a)
    session().update(problem)  # what is wrong with A is said beside A
    session()["challenged"] = a
    found = _read_model(b)
    state.put(b if found else b.with_changes(model=Scenario().model))
    state.set_shown("model", b.model)
    session()["linked_revision"] = (b.model, b.revision)
    if b.config:
        session()["pasted"][b.model] = b.config
    session()["opened"] = session()["valid"]  # what the link says wrong stays in sight


def _read_model(scenario: Scenario) -> bool:
    """Whether this session can read the scenario's model, after asking the Hub where it must."""
    if scenario.config or models.known(scenario.model):
        return True
    revision = f"@{scenario.revision}" if scenario.revision else ""
    return "/" in scenario.model and models.ask_hub(scenario.model + revision) is not None


def challenge(scenario: Scenario) -> None:
    """Callback: freeze it as A; the controls change B."""
    session()["challenged"] = scenario


def withdraw() -> None:
    """Callback: drop B, and go back to reviewing A."""
    a: Scenario = session()["challenged"]
    session()["challenged"] = None
    if a.config:
        session()["pasted"][a.model] = a.config
    session()["linked_revision"] = (a.model, a.revision)
    state.put(a)


def challenged() -> Scenario | None:
    """A; None where nothing is in dispute."""
    a: Scenario | None = session()["challenged"]
    return a


def claim_in_link() -> dict[str, str]:
    """Somebody's number travels with the scenario it is held against."""
    claim = str(st.session_state["claim"]).strip()
    return {"claim": claim} if claim else {}


# --- what an answer rests on -----------------------------------------------------------------------------------------


def rests_on(sizing: Sizing, lang: Lang, *, phone: bool) -> None:
    """Every assumption with its badge; those that nobody touched and few ask for on one line.

    On a phone there is no room for a third column: the reasons are folded.
    """
    made = assumptions(sizing)
    shown = [one for one in made if one.badge != "default" or one.label in (*_FIRST, labels.KV_DTYPE)]
    rows = []
    for one in shown:
        word = parts.BASIS[one.basis] if one.basis else text.BADGES[one.badge]
        said, badge = show.plain(_said(one.value, lang)), f":{_BADGES[one.badge]}-badge[{word(lang)}]"
        row = {text.ASSUMPTION(lang): one.label(lang), text.VALUE(lang): f"{said} {badge}"}
        basis = show.plain(one.source(lang)) if one.source else ""
        rows.append(row if phone else {**row, text.BASIS(lang): basis})
    st.table(rows, border="horizontal")
    if phone:
        reasons = [f"- **{one.label(lang)}** {show.plain(one.source(lang))}" for one in shown if one.source]
        with st.expander(text.BASIS(lang), key="basis", type="compact"):
            st.caption("\n".join(reasons))
    if rest := [one for one in made if one not in shown]:
        settings = exported.SETTINGS_SEPARATOR(lang).join(_one_setting(one, lang) for one in rest)
        st.caption(show.plain(exported.THE_REST(lang, settings=settings)))


def _one_setting(one: Assumption, lang: Lang) -> str:
    return exported.ONE_SETTING(lang, name=one.label(lang), value=_said(one.value, lang))


def _said(value: str | Message, lang: Lang) -> str:
    return value(lang) if isinstance(value, Message) else value


def left_out(scenario: Scenario, lang: Lang) -> None:
    """What the numbers leave out."""
    st.markdown(f"**{exported.NOT_MODELLED(lang)}**")
    st.caption("\n".join(f"- {line(lang)}" for line in not_modelled(scenario)))


# --- two scenarios in dispute ----------------------------------------------------------------------------------------


def both(a: Sizing, b: Sizing, lang: Lang) -> None:
    """The two answers beside each other."""
    for place, sizing, title in zip(st.columns(2), (a, b), (text.IS_A, text.IS_B), strict=True):
        mark, head, rest = show.answer_sentence(sizing, lang)
        with place, st.container(border=True, height="stretch"):
            st.caption(title(lang))
            st.markdown(f"#### {mark} {head}\n{rest}")


def difference(of: Dispute, lang: Lang) -> None:
    """From A to B: one setting after the other, what it comes to, and what it adds."""
    if not of.steps:
        st.info(text.NOTHING_DIFFERS(lang), icon=":material/edit:")
        return
    counted = of.requests_more is not None
    told = [step for step in of.steps if step.counts]
    whole = Step(changes=(), before=of.a, after=of.b)
    rows = [_row("**A**", of.a, of.a, "", lang, counted=counted)]
    rows += [_row(_changes(s.changes, lang), s.before, s.after, _more(s, lang), lang, counted=counted) for s in told]
    rows.append(_row("**B**", of.b, of.b, f"**{_more(whole, lang)}**", lang, counted=counted))
    st.markdown(f"**{text.DIFFERENCE(lang)}**")
    st.table(rows, border="horizontal")
    notes = [text.ADDS_UP(lang)] if len(told) > 1 else []
    if any(len(step.changes) > 1 for step in told):
        notes.append(text.TOGETHER(lang))
    if not counted:
        notes.append(text.BYTES_ONLY(lang))
    if idle := [_changes(step.changes, lang) for step in of.steps if not step.counts]:
        notes.append(text.NO_EFFECT(lang, changes=text.SEPARATOR(lang).join(idle)))
    st.caption("  \n".join(notes))


def _row(what: str, before: Sizing, after: Sizing, more: str, lang: Lang, *, counted: bool) -> dict[str, str]:
    """What it comes to after a step; what the step changed is set bold."""
    was, now = _numbers(before, lang, counted=counted), _numbers(after, lang, counted=counted)
    cells = {name: value if value == was[name] else f"**{value}**" for name, value in now.items()}
    return {text.STEP(lang): what, **cells, text.DELTA(lang): more}


def _numbers(sizing: Sizing, lang: Lang, *, counted: bool) -> dict[str, str]:
    numbers = {text.EACH_REQUEST(lang): format_bytes(bytes_of(sizing))}
    pool = pool_of(sizing)
    if counted and pool is not None:
        fit, asked = format_count(sizing.max_sequences_counted or 0), format_count(sizing.scenario.requests)
        numbers |= {text.POOL(lang): format_bytes(pool), text.AT_ONCE(lang): f"{fit} / {asked}"}
    return {name: together(value) for name, value in numbers.items()}


def _changes(changes: Sequence[Change], lang: Lang) -> str:
    return text.SEPARATOR(lang).join(
        text.CHANGE(
            lang,
            name=label(change.field)(lang),
            before=show.plain(_value(change, change.before, lang)),
            after=show.plain(_value(change, change.after, lang)),
        )
        for change in changes
    )


def _value(change: Change, value: object, lang: Lang) -> str:
    if change.field == "model":
        return str(value).rpartition("/")[2]
    return _said(written(change.field, value), lang)  # type: ignore[arg-type]


def _more(step: Step, lang: Lang) -> str:
    """``+35``, ``−512 MiB``."""
    if step.requests_more is None:
        return _signed(format_bytes(abs(step.bytes_more)), step.bytes_more, lang)
    return _signed(format_count(abs(step.requests_more)), step.requests_more, lang)


def _signed(amount: str, more: int, lang: Lang) -> str:
    return text.NO_CHANGE(lang) if more == 0 else f"{'+' if more > 0 else '−'}{amount}"


# --- somebody else's number ------------------------------------------------------------------------------------------


def their_number(sizing: Sizing, lang: Lang) -> None:
    """A box for the number, and which mistakes come to it."""
    st.text_input(
        text.NUMBER(lang),
        key="claim",
        placeholder=text.NUMBER_PLACEHOLDER(lang),
        help=text.NUMBER_HELP(lang),
        max_chars=_CLAIM_CHARACTERS,
        persist_state="session",
    )
    scenario = sizing.scenario
    told = text.FOR_SCENARIO(
        lang,
        model=scenario.model.rpartition("/")[2],
        tokens=format_count(sizing.tokens),
        requests=format_count(scenario.requests),
        dtype=sizing.kv_dtype.name,
    )
    st.caption(show.plain(told))
    claimed = str(st.session_state["claim"]).strip()
    if not claimed:
        return
    try:
        claim = parse_claim(claimed)
    except KvvizError as error:
        show.lines(error.lines(lang))
        return
    st.caption(show.plain(_read(claim, lang)))
    _right(sizing, claim, lang)
    found = explained(sizing, claim)
    ends = [(claim.low, found.low, text.LOW_END)]
    if claim.high is not None:
        ends.append((claim.high, found.high, text.HIGH_END))
    for amount, findings, title in ends:
        if claim.high is not None:
            st.markdown(f"**{title(lang, amount=_amount(amount, claim))}**")
        if findings:
            st.markdown("\n".join(f"- {_finding(f, sizing, claim, lang)}" for f in findings[:_MOST_FINDINGS]))
        else:
            none = text.NONE(lang, amount=_amount(amount, claim), tried=format_count(found.tried))
            st.info(show.plain(none), icon=":material/help:")
    _spans(found, sizing, lang)
    if found.low or found.high:
        st.caption(text.CANDIDATES(lang, tried=format_count(found.tried)))


def _read(claim: Claim, lang: Lang) -> str:
    """What was taken from the words: the number, its unit, and what it is for where they say so."""
    amount = claim.low.written
    if claim.high is not None:
        amount = text.RANGE(lang, low=amount, high=claim.high.written)
    if claim.unit_name:
        amount = f"{amount} {claim.unit_name}"
    elif claim.decimal_bytes > 1:
        amount = text.GB_OR_GIB(lang, amount=amount)
    else:
        amount = f"{amount} B"
    return text.READ(lang, amount=amount, per=text.PER[claim.per](lang) if claim.per else "")


def _right(sizing: Sizing, claim: Claim, lang: Lang) -> None:
    content = right(sizing).request_bytes()
    if claim.per == "token":
        st.markdown(text.RIGHT_TOKEN(lang, bytes=_bytes(right(sizing).token_bytes(), claim)))
        return
    values = {"content": _bytes(content, claim)}
    if (requests := sizing.scenario.requests) > 1:
        load = _bytes(content * requests, claim)
        st.markdown(text.RIGHT_LOAD(lang, load=load, requests=format_count(requests), **values))
    else:
        st.markdown(text.RIGHT_HERE(lang, **values))


def _finding(found: Finding, sizing: Sizing, claim: Claim, lang: Lang) -> str:
    candidate = found.candidate
    what, gives = candidate.what(lang), _bytes(candidate.wrong_bytes, claim)
    reasons = [show.plain(why(mistake, sizing)(lang)) for mistake in candidate.mistakes]
    if found.unit != "as written":
        apart = abs(1 - claim.binary_bytes / claim.decimal_bytes) * 100
        values = {"real": claim.other_name, "said": claim.unit_name, "percent": f"{apart:.1f}"}
        reasons.append(mistaken.UNIT_MIXED(lang, **values))
    gap = "" if lang == "ja" else " "
    if not candidate.mistakes:
        return gap.join([text.IS_RIGHT(lang, what=show.plain(what), gives=gives), *reasons])
    return text.FINDING(
        lang,
        how=_how(candidate.mistakes, sizing, lang),
        gives=gives,
        what=show.plain(what),
        right=_bytes(candidate.right_bytes, claim),
        why=gap.join(reasons),
    )


def _how(mistakes: Sequence[Mistake], sizing: Sizing, lang: Lang) -> str:
    return text.PLUS(lang).join(show.plain(name(mistake, sizing)(lang)) for mistake in mistakes)


def _spans(found: Explained, sizing: Sizing, lang: Lang) -> None:
    if not found.spans:
        return
    st.markdown(f"**{text.SPANS(lang)}**")
    told = []
    for span in found.spans:
        how = _how(span.mistakes, sizing, lang) if span.mistakes else text.SPAN_RIGHT(lang)
        told.append(text.SPAN(lang, how=how, low=format_count(span.low_tokens), high=format_count(span.high_tokens)))
    st.markdown("\n".join(f"- {line}" for line in told))


def _amount(amount: Amount, claim: Claim) -> str:
    return f"{amount.written} {claim.unit_name}".strip()


def _bytes(count: Fraction, claim: Claim) -> str:
    """In binary units, and beside it in the decimal unit that the number is written in."""
    exact = format_bytes(count)
    if claim.unit != "decimal" or not claim.other_name:
        return exact
    return f"{exact} ({plainly(Fraction(count) / claim.decimal_bytes)} {claim.unit_name})"
