"""Review: what a shared answer rests on, a second opinion beside it, and where somebody else's number comes from."""

from functools import partial
from pathlib import Path

import streamlit as st

from kvviz.charts.ledger import ledger_alt, ledger_figure, ledger_rows
from kvviz.core.errors import KvvizError
from kvviz.dispute import dispute
from kvviz.text import dispute as text
from kvviz.text import sizing as labels
from kvviz.ui import browser, controls, show, state
from kvviz.ui import review as page
from kvviz.ui.answer import answer, ask

SIZING = Path(__file__).with_name("sizing.py")

lang = state.lang()
page.begin()
phone = browser.is_phone()
answered = answer(*state.read())
scenario, sizing = answered.scenario, answered.sizing
stands_in = "model" in answered.errors
a = page.challenged()
disputed = None

show.rejected(lang)
if a is None:
    state.publish(scenario, asked=not stands_in, **page.claim_in_link())
    st.caption(f":material/rate_review: {text.PAGE(lang)}")
    show.out_of_sight(answered, lang, everything=True)
    if answered.problem is not None:
        show.lines(answered.problem.lines(lang))
    if stands_in:
        show.stand_in(answered, lang)
    if sizing is not None:
        show.answer(sizing, answered.notes, lang)
        with st.container(horizontal=True, vertical_alignment="center"):
            challenged = partial(page.challenge, scenario)
            st.button(text.CHALLENGE(lang), key="challenge", type=browser.foremost(), on_click=challenged)
            st.page_link(SIZING, label=text.OPEN_SIZING(lang), icon=":material/arrow_back:")
        show.facts(sizing, lang)
        if sizing.budget is not None:
            st.markdown(f"**{labels.LEDGER(lang)}**")
            rows, alt = partial(ledger_rows, sizing, lang), ledger_alt(sizing, lang)
            show.chart(ledger_figure(sizing, lang), rows, alt=alt, key="ledger", lang=lang)
        st.markdown(f"**{text.ASSUMPTIONS(lang)}**")
        page.rests_on(sizing, lang, phone=phone)
        show.notes(answered.notes, lang)
        page.left_out(scenario, lang)
else:
    st.caption(f":material/balance: {text.PAGE(lang)} · {show.plain(a.model)}")
    if phone:
        top = st.container()
        with st.expander(
            labels.CHANGE(lang, summary=show.summary(scenario, lang)), key="change", icon=":material/tune:"
        ):
            controls.all_of(answered, lang)
    else:
        left, top = st.columns([1, 2], gap="large")
        with left:
            st.markdown(f"**{text.EDIT_B(lang)}**")
            controls.all_of(answered, lang)
    with top:
        show.out_of_sight(answered, lang, everything=phone)
        if answered.problem is not None:
            show.lines(answered.problem.lines(lang))
        if sizing is not None:
            try:
                disputed = dispute(a, scenario, ask)
            except KvvizError as error:
                show.lines((text.A_FAILS(lang, why=error.message(lang)),))
            else:
                page.both(disputed.a, disputed.b, lang)
                page.difference(disputed, lang)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(text.WITHDRAW(lang), key="withdraw", icon=":material/undo:", on_click=page.withdraw)
            st.page_link(SIZING, label=text.OPEN_B(lang), icon=":material/arrow_back:")

if sizing is not None:
    with st.expander(
        text.THEIR_NUMBER(lang), key="their_number", icon=":material/help_center:", expanded=bool(page.claim_in_link())
    ):
        page.their_number(sizing, lang)

if disputed is not None and not stands_in:
    try:
        link = state.publish_set((disputed.a.scenario, disputed.b.scenario), **page.claim_in_link())
    except KvvizError as error:
        show.lines((error.message(lang),))
    else:
        with st.expander(text.SHARE(lang), key="share_dispute", icon=":material/share:"):
            st.code(link, language=None, wrap_lines=True)
