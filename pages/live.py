"""Measured live: a small model runs, and its cache is measured beside the prediction."""

import streamlit as st

from kvviz.text import live_page as text
from kvviz.ui import attached, browser, show, state
from kvviz.ui import live as page

lang = state.lang()
allowed, why_not = page.begin()
scenario, errors = state.read()
state.publish(scenario, asked="model" not in errors, **page.query())

show.rejected(lang)
if why_not is not None:
    page.not_here(why_not, lang)
attached.section(scenario, lang)
if why_not is not None:
    page.result(lang)
elif browser.is_phone():  # the answer comes first, its settings folded above it
    page.button(allowed, lang)
    with st.expander(text.SETTINGS(lang), key="live_settings", icon=":material/tune:"):
        page.controls(allowed, lang)
    page.result(lang)
else:
    left, right = st.columns([1, 2], gap="large")
    with left:
        page.button(allowed, lang)
        page.controls(allowed, lang)
    with right:
        page.result(lang)

page.save(lang)
page.table_of_kept(lang)
page.time(lang)
page.share(scenario, lang)
