"""Shared prefixes: prompts that people can break, hit ratio against capacity, and what a shared beginning saves."""

import streamlit as st

from kvviz.prompts import cached
from kvviz.text import prefixes as text
from kvviz.ui import browser, show, state
from kvviz.ui import prefixes as page
from kvviz.ui.answer import answer

lang = state.lang()
phone = browser.is_phone()
answered = answer(*state.read())
scenario, sizing = answered.scenario, answered.sizing
page.begin(scenario, lang)
found = cached(page.prompts(), page.block())

show.rejected(lang)
page.problems(lang)
page.headline(found, lang)
page.buttons(lang)
if phone:  # the answer comes first
    page.chips(found, lang, phone=phone)
    with st.expander(text.EDIT(lang, block=found.block_tokens), key="prefix_edit", icon=":material/edit:"):
        page.boxes(lang, phone=phone)
else:
    page.boxes(lang, phone=phone)
    page.chips(found, lang, phone=phone)
page.facts(found, lang)

st.markdown(f"#### {text.SAVES_TITLE(lang)}")
if sizing is not None:
    page.savings(sizing, lang)
elif answered.problem is not None:
    show.lines(answered.problem.lines(lang))

st.markdown(f"#### {text.CAPACITY_TITLE(lang)}")
page.capacity(sizing, lang)

page.share(scenario, lang, asked="model" not in answered.errors)
