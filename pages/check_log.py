"""Check a log: what an engine reported at start, beside what is predicted."""

from pathlib import Path

import streamlit as st

from kvviz.core.errors import KvvizError
from kvviz.log_check import check, named_in
from kvviz.text import Message
from kvviz.text import log_check as text
from kvviz.ui import log_check as page
from kvviz.ui import show, state
from kvviz.ui.session import session

lang = state.lang()

st.caption(text.INTRO(lang))
try:
    log = page.entered(lang)
    if log is not None:
        named = named_in(log)
        if "model" in page.asked(log, named):
            chosen = page.model(lang)
        else:
            with st.expander(text.OTHERWISE(lang), key="log_otherwise", icon=":material/tune:"):
                chosen = page.model(lang)
        model = chosen or named
        checked = check(log, model=model, given=page.settings(page.asked(log, model), lang))
        page.answer(checked, lang)
        scenario = page.measured(checked, lang)
        if scenario is not None:
            state.apply(scenario, Message(text.SETTINGS_OF_LOG))
            st.switch_page(Path(__file__).with_name("sizing.py"))
except KvvizError as error:
    show.lines(error.lines(lang))
session()["rules"] = page.engine()  # for the foot of the page: not those of what Sizing was last asked
