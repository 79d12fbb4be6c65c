"""Sizing: how many requests fit, in one sentence, and everything that sentence rests on."""

from functools import partial

import streamlit as st

from kvviz.charts.growth import growth_alt, growth_figure, growth_rows
from kvviz.charts.layers import layer_rows, layer_strip_svg
from kvviz.charts.ledger import ledger_alt, ledger_figure, ledger_rows
from kvviz.text import sizing as text
from kvviz.ui import browser, controls, editor, show, state
from kvviz.ui.answer import answer

lang = state.lang()
phone = browser.is_phone()
embedded = bool(st.context.is_embedded)
answered = answer(*state.read())
stands_in = "model" in answered.errors
scenario, sizing = state.publish(answered.scenario, asked=not stands_in), answered.sizing
unread = stands_in and (embedded or state.is_unread())
if unread:  # who opens a link to one model must not be shown another's answer
    sizing = None

# The answer comes first on a phone, with the controls folded under one line that says what they are set to.
if embedded:
    top = below = st.container()
elif phone:
    top = st.container()
    settings = show.plain(show.summary(scenario, lang, model=str(state.shown("model"))[:60]))
    with st.expander(text.CHANGE(lang, summary=settings), key="change", icon=":material/tune:"):
        controls.all_of(answered, lang)
    below = st.container()
else:
    left, top = st.columns([4, 7], gap="medium")
    with left:
        controls.all_of(answered, lang)
    below = top

with top:
    show.rejected(lang)
    if unread and not embedded:
        show.unread(answered, lang, why=phone)
    else:
        show.out_of_sight(answered, lang, everything=phone or embedded)
    if answered.problem is not None:
        show.lines(answered.problem.lines(lang))
    if not embedded:
        editor.layers(sizing, lang)

if sizing is not None and not embedded:
    with top:
        if stands_in and not any(note.code == "revision-differs" for note in answered.notes):  # which says it
            show.stand_in(answered, lang, why=phone)
        show.answer(sizing, answered.notes, lang)
        if not phone:
            show.facts(sizing, lang)
        if sizing.budget is not None:
            st.markdown(f"**{text.LEDGER(lang)}**")
            figure = ledger_figure(sizing, lang)
            show.chart(
                figure, partial(ledger_rows, sizing, lang), alt=ledger_alt(sizing, lang), key="ledger", lang=lang
            )

if sizing is not None:
    with below:
        if embedded:
            show.answer(sizing, answered.notes, lang, large=False)
        else:
            show.fix_buttons(answered.fixes, lang)
            st.markdown(f"**{text.GROWTH(lang)}**")
        figure = growth_figure(sizing, lang)
        show.chart(figure, partial(growth_rows, sizing, lang), alt=growth_alt(sizing, lang), key="growth", lang=lang)
        if embedded:
            st.caption(show.source_line(sizing, state.link(scenario), lang))
        else:
            if phone:
                show.facts(sizing, lang)
            show.floor(sizing, lang)
            show.notes(answered.notes, lang)
            show.watch_out(sizing, lang)

if sizing is not None and not embedded:
    # Only what is open is drawn: the page answers sooner.
    titles = (text.GROWTH_TAB, text.WHY, text.LAYERS, text.WHAT_IF, text.LAUNCH)
    growth, why, layers, what_if, launch = show.tabs(titles, key="tabs", lang=lang, first=2)
    if growth.open:
        with growth:
            show.growth_tab(sizing, lang)
    if why.open:
        with why:
            show.why_this_number(sizing, lang)
    if layers.open:
        with layers:
            browser.svg(layer_strip_svg(sizing, lang, columns=16 if phone else 32), key="layers")
            show.table(partial(layer_rows, sizing, lang), key="layers", lang=lang)
    if what_if.open:
        with what_if:
            show.what_if(answered.levers, lang)
            show.splits(sizing, lang)
    if launch.open:
        with launch:
            show.launch_command(sizing, lang)

# A link to what stands in would be taken for that of the model asked for.
if sizing is not None and not embedded and not stands_in:
    share = show.folded(text.SHARE(lang), key="share", icon=":material/share:")
    if share.open:
        with share:
            tables = {text.GROWTH(lang): growth_rows(sizing, lang), text.LAYERS(lang): layer_rows(sizing, lang)}
            if sizing.budget is not None:
                tables = {text.LEDGER(lang): ledger_rows(sizing, lang), **tables}
            show.share(sizing, answered, tables, lang)
if sizing is not None and not embedded and phone:  # whoever types sees what comes of it
    with st.bottom:
        show.verdict(sizing, lang)
