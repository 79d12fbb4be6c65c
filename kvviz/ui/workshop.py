"""The Workshop page's own state, read once from the link, and how it shows a step."""

from fractions import Fraction
from functools import partial
from typing import Final
from urllib.parse import urlencode, urlsplit

import streamlit as st

from kvviz.core.errors import KvvizError
from kvviz.learn import Scene
from kvviz.qr import qr_svg
from kvviz.scenario import shown
from kvviz.text import Lang, Message, Text, together
from kvviz.text import workshop as text
from kvviz.ui import browser, show, state
from kvviz.ui.session import session
from kvviz.workshop import (
    ALL_MINUTES,
    KEYS,
    Off,
    Question,
    Step,
    Table,
    course,
    how_far_off,
    judge,
    read_guess,
    shown_guess,
    unreadable,
)
from kvviz.workshop_sheets import answer_key, worksheet

_STEPS: Final = len(KEYS)
_MOST_LINK: Final = 20_000
_QR_MODULE_PX: Final = 8
_MARKS: Final[dict[Off, str]] = {
    "right": ":green[:material/check_circle:]",
    "close": ":green[:material/check_circle:]",
    "off": ":orange[:material/change_history:]",
    "none": ":gray[:material/remove:]",
}
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 - nothing listens there

# --- state -----------------------------------------------------------------------------------------------------------


def begin() -> None:
    """On the page's first run in a session, take over what the link says of it."""
    if "workshop_step" in session():
        return
    asked = st.query_params.get("step", "1")
    number = int(asked) if asked.isdecimal() and len(asked) < 3 else 0
    wrong = not 1 <= number <= _STEPS
    session()["workshop_problem"] = asked if wrong else None
    session()["workshop_step"] = 1 if wrong else number
    session()["workshop_seen"] = ()
    session()["workshop_warned"] = ()
    session()["workshop_kept"] = {}
    session()["workshop_resetting"] = False


def current(lang: Lang) -> Step:
    """The step that is shown."""
    number: int = session()["workshop_step"]
    return course(lang)[number - 1]


def problem(lang: Lang) -> None:
    """What of the link could not be used."""
    asked = session()["workshop_problem"]
    if asked is not None:
        sentence = text.NO_SUCH_STEP(lang, shown=shown(asked), steps=_STEPS)
        st.warning(show.plain(sentence), icon=":material/link_off:")


def _go_to(number: int) -> None:
    session()["workshop_step"] = number
    session()["workshop_problem"] = None
    session()["workshop_resetting"] = False


def _picked() -> None:
    if picked := st.session_state["workshop_pick"]:
        _go_to(picked)


def _kept(name: str) -> str:
    """What was typed or chosen, in whichever language; empty where nothing was."""
    kept: dict[str, str | None] = session()["workshop_kept"]
    return kept.get(name) or ""


def _widget(name: str, lang: Lang, empty: str | None) -> str:
    """The key of the widget for it. One a language: Streamlit takes other words for other options, and forgets."""
    key = f"workshop_{name}_{lang}"
    st.session_state[key] = _kept(name) or empty
    return key


def _keep(name: str, key: str) -> None:
    """Callback of that widget."""
    session()["workshop_kept"][name] = st.session_state[key]
    session()["workshop_resetting"] = False


def _guess(question: Question) -> Fraction | str | None:
    return read_guess(question, _kept(question.key))


def _seen(step: Step) -> bool:
    return step.key in session()["workshop_seen"]


def _reveal(step: Step) -> None:
    """Callback: the answer. Where a guess is missing or cannot be read, a word about that first; once."""
    missing = any(_guess(question) is None for question in step.questions)
    if missing and step.key not in session()["workshop_warned"]:
        session()["workshop_warned"] += (step.key,)
    else:
        session()["workshop_seen"] += (step.key,)


def _hide(step: Step) -> None:
    session()["workshop_seen"] = tuple(key for key in session()["workshop_seen"] if key != step.key)


def _guesses(lang: Lang) -> int:
    """How many there are to be lost."""
    return sum(bool(_kept(question.key).strip()) for step in course(lang) for question in step.questions)


def _reset(guesses: int) -> None:
    """Callback: a new beginning; where guesses would be lost, at the second press."""
    if guesses and not session()["workshop_resetting"]:
        session()["workshop_resetting"] = True
        return
    session()["workshop_kept"] = {}
    session()["workshop_seen"] = ()
    session()["workshop_warned"] = ()
    _go_to(1)


# --- a step ----------------------------------------------------------------------------------------------------------


def head(step: Step, lang: Lang) -> None:
    """Which step of how many, when it is its turn, and what it is called."""
    end = step.begin + step.minutes
    where = text.WHERE(lang, number=step.number, steps=_STEPS)
    clock = text.CLOCK(lang, begin=step.begin, end=end, all=ALL_MINUTES)
    if step.number == 1:
        st.caption(text.INTRO(lang, minutes=ALL_MINUTES, steps=_STEPS))
    st.progress(end / ALL_MINUTES, text=f"{where} · {clock}")
    st.markdown(f"### {step.number}. {show.plain(step.title(lang))}")


def work(step: Step, lang: Lang) -> None:
    """What to do, and the questions; each with its answer under it, when they are asked for."""
    st.markdown(_in(step.do, lang))
    if step.given:
        _table(step.given, lang, narrow=True)
    several = len(step.questions) > 1
    for number, question in enumerate(step.questions, 1):
        label = _in(question.ask, lang)
        label = text.ONE_OF_SEVERAL(lang, number=number, question=label) if several else label
        with st.container(gap="xsmall"):
            st.markdown(f"**{show.plain(label)}**")
            if _seen(step):
                _answer(question, lang)
            else:
                _asked(question, label, lang)


def _asked(question: Question, label: str, lang: Lang) -> None:
    """``label`` as it is: one that is not shown is read out, escapes and all."""
    if question.options:
        names = {one.token: one.label for one in question.options}
        key = _widget(question.key, lang, None)
        st.radio(
            label,
            list(names),
            index=None,
            key=key,
            format_func=lambda token: names[token](lang),
            horizontal=True,
            label_visibility="collapsed",
            on_change=_keep,
            args=(question.key, key),
        )
        return
    unit = question.unit if question.unit in ("KiB", "MiB", "GiB") else None
    key = _widget(question.key, lang, "")
    typed = st.text_input(
        label,
        key=key,
        placeholder=text.YOUR_GUESS(lang) if unit is None else text.GUESS_IN(lang, unit=unit),
        label_visibility="collapsed",
        width=320,
        on_change=_keep,
        args=(question.key, key),
    )
    if why := unreadable(question, typed or ""):
        st.caption(f":orange[:material/warning:] {show.plain(why(lang))}")


def _answer(question: Question, lang: Lang) -> None:
    guess = _guess(question)
    off, said = how_far_off(question, guess)
    beside, more = text.NO_GUESS(lang), [said, question.why]
    if off == "right" and said:
        beside, more = said(lang), [question.why]
    elif guess is not None:
        beside = text.GUESSED(lang, guess=_in(shown_guess(question, guess, _kept(question.key)), lang))
    lines = [f"{_MARKS[off]} **{show.plain(_in(question.said, lang))}** · {show.plain(beside)}"]
    lines += [show.plain(sentence(lang)) for sentence in more if sentence]
    if question.proof:
        lines[-1] += f" [:material/open_in_new:\u00a0{text.PROOF(lang)}]({_address(question.proof)})"
    st.markdown("  \n".join(lines))


def answers(step: Step, lang: Lang, *, phone: bool) -> None:
    """The button for the answers; then the working, what to take home, and where the app shows it."""
    if step.key == "fix":
        _links(step, lang)
        _sent_back(lang)
    if not _seen(step):
        if step.key in session()["workshop_warned"]:
            st.info(text.GUESS_FIRST(lang), icon=":material/psychology:")
        label, icon = text.REVEAL(lang), ":material/visibility:"
        st.button(label, key="workshop_reveal", type=browser.foremost(), icon=icon, on_click=_reveal, args=(step,))
        return
    with st.container(border=True):
        if step.working:
            lines = "  \n".join(show.plain(_in(line, lang)) for line in step.working)
            st.markdown(f":material/function: **{text.WORKING(lang)}**  \n{lines}")
        if step.results:
            # Only the prices of a fix are sentences, which a phone has no columns for.
            (_list if phone and step.key == "fix" else _table)(step.results, lang)
        st.markdown(f":material/lightbulb: {show.plain(_in(step.so, lang))}")
    if step.key != "fix":
        _links(step, lang)
    st.button(
        text.HIDE(lang),
        key="workshop_hide",
        type="tertiary",
        icon=":material/visibility_off:",
        on_click=_hide,
        args=(step,),
    )
    if step.number == _STEPS:
        _score(lang)


def _links(step: Step, lang: Lang) -> None:
    if step.links:
        with st.container(horizontal=True, vertical_alignment="center"):
            for link in step.links:
                st.link_button(link.label(lang), _address(link.scene, link.anchor), icon=":material/open_in_new:")
            st.caption(text.NEW_TAB(lang), width="content")


def _sent_back(lang: Lang) -> None:
    """The link of whoever found a fix, judged."""
    key = _widget("link", lang, "")
    sent = st.text_input(
        text.FIX_PASTE(lang),
        key=key,
        help=text.FIX_PASTE_HELP(lang),
        max_chars=_MOST_LINK,
        on_change=_keep,
        args=("link", key),
    )
    if sent and sent.strip():
        outcome, said = judge(sent)
        sentence = show.plain(said(lang))
        if outcome in ("found", "fits"):
            st.success(sentence, icon=":material/check_circle:")
        else:
            st.info(sentence, icon=":material/info:")


def _score(lang: Lang) -> None:
    seen = [q for step in course(lang) if _seen(step) for q in step.questions]
    right = sum(how_far_off(q, _guess(q))[0] in ("right", "close") for q in seen)
    everything = sum(len(step.questions) for step in course(lang))
    st.caption(f":material/flag: {text.SCORE(lang, seen=len(seen), all=everything, right=right)}")


def turn(step: Step, lang: Lang, *, phone: bool) -> None:
    """To the step before and after, and to any other."""
    with st.container(horizontal=True, vertical_alignment="center"):
        before, after = step.number - 1, step.number + 1
        st.button(
            text.PREVIOUS(lang),
            key="workshop_previous",
            icon=":material/arrow_back:",
            shortcut=None if phone else "Alt+PageUp",
            disabled=before < 1,
            on_click=_go_to,
            args=(before,),
        )
        st.button(
            text.NEXT(lang),
            key="workshop_next",
            icon=":material/arrow_forward:",
            shortcut=None if phone else "Alt+PageDown",
            type=browser.foremost() if _seen(step) else "secondary",
            disabled=after > _STEPS,
            on_click=_go_to,
            args=(after,),
        )
        st.session_state["workshop_pick"] = step.number
        st.segmented_control(
            text.STEPS(lang),
            list(range(1, _STEPS + 1)),
            key="workshop_pick",
            label_visibility="collapsed",
            required=True,
            wrap=True,
            on_change=_picked,
        )


def open_here(step: Step, lang: Lang, *, phone: bool) -> None:
    """The link to this step, and its QR code: in sight where people are to come in, else folded."""
    first = step.number == 1 and not phone
    link = f"{state.base()}?{urlencode({'step': step.number, 'lang': lang})}"
    with st.expander(text.OPEN_HERE(lang), icon=":material/qr_code:", key=f"workshop_open_{first}", expanded=first):
        try:
            browser.svg(qr_svg(link, lang, module_px=_QR_MODULE_PX), key="workshop_qr")
        except KvvizError as error:
            st.caption(show.plain(error.message(lang)))
        st.code(link, language=None, wrap_lines=True)
        here = urlsplit(link).hostname in _HERE
        st.caption((text.LINK_LOCAL if here else text.LINK)(lang))


def notes(step: Step, lang: Lang) -> None:
    """For the teacher, folded."""
    with st.expander(text.TEACHER(lang), icon=":material/school:", key="workshop_notes"):
        for name, note in step.notes:
            st.markdown(f"**{name(lang)}**  \n{show.plain(note(lang))}")


def sheets(lang: Lang) -> None:
    """Both sheets as files, and a new beginning."""
    with st.expander(text.PRINT(lang), icon=":material/print:", key="workshop_print"):
        st.caption(text.PRINT_HELP(lang))
        with st.container(horizontal=True):
            for name, kind, made in (
                (text.WORKSHEET, "worksheet", worksheet),
                (text.ANSWER_KEY, "answer-key", answer_key),
            ):
                st.download_button(
                    name(lang),
                    data=partial(made, lang),
                    file_name=f"kvviz-{kind}-{lang}.html",
                    mime="text/html",
                    on_click="ignore",
                    icon=":material/download:",
                    key=f"workshop_save_{kind}",
                )
    guesses = _guesses(lang)
    if guesses and session()["workshop_resetting"]:
        st.warning(text.RESET_AGAIN(lang, count=guesses), icon=":material/restart_alt:")
    st.button(
        text.RESET(lang),
        key="workshop_reset",
        type="tertiary",
        icon=":material/restart_alt:",
        help=text.RESET_HELP(lang),
        on_click=_reset,
        args=(guesses,),
    )


def _table(of: Table, lang: Lang, *, narrow: bool = False) -> None:
    heads = [name(lang) for name in of.heads]
    st.table(
        [dict(zip(heads, (show.plain(_in(cell, lang)) for cell in row), strict=True)) for row in of.rows],
        border="horizontal",
        width="content" if narrow else "stretch",
    )


def _list(of: Table, lang: Lang) -> None:
    """The same, an item for each row, its other cells each on a line of its own."""
    names = [name(lang) for name in of.heads]
    for row in of.rows:
        first, *rest = (show.plain(_in(cell, lang)) for cell in row)
        lines = [
            f"- **{first}**",
            *(text.FIX_CELL(lang, name=name, value=cell) for name, cell in zip(names[1:], rest, strict=True)),
        ]
        st.markdown("  \n  ".join(lines))


def _in(said: Text | Message | str, lang: Lang) -> str:
    return together(said if isinstance(said, str) else said(lang))


def _address(scene: Scene, anchor: str = "") -> str:
    address = state.link_to(scene.page, scene.scenario, **scene.more)
    return f"{address}#{anchor}" if anchor else address
