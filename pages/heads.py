"""Shared heads (GQA): which query heads share which KV heads, what another number would make of the same model, and
what other kinds of layers keep."""

import streamlit as st

from kvviz.text import heads as text
from kvviz.ui import browser, controls, show, state
from kvviz.ui import heads as page
from kvviz.ui.answer import answer

lang = state.lang()
phone = browser.is_phone()
answered = answer(*state.read())
scenario, sizing = answered.scenario, answered.sizing
page.begin(lang)

show.rejected(lang)
page.problems(sizing, lang)
page.presets(scenario, lang)
panel = show.folded(text.SETTINGS(lang), key="heads_settings", icon=":material/tune:")
if panel.open:
    with panel:
        controls.seven(answered, lang)
else:
    st.caption(show.plain(show.summary(scenario, lang)))
if answered.problem is not None:
    show.lines(answered.problem.lines(lang))
if "model" in answered.errors:
    show.stand_in(answered, lang)

if sizing is not None:
    heads, layers = page.tabs(lang)
    if layers.open:
        with layers:
            page.layers_tab(sizing, lang)
    else:
        with heads:
            page.heads_tab(sizing, lang, phone=phone)
            page.quality(lang)

page.share(scenario, lang, asked="model" not in answered.errors)
