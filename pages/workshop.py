"""Workshop: an hour in ten steps over the other pages, each guessed first and then looked up."""

import streamlit as st

from kvviz.ui import browser, state
from kvviz.ui import workshop as page

lang = state.lang()
phone = browser.is_phone()
scenario, errors = state.read()
page.begin()
step = page.current(lang)
state.publish(scenario, asked="model" not in errors, step=str(step.number))

page.problem(lang)
page.head(step, lang)
if phone:
    page.work(step, lang)
    page.answers(step, lang, phone=phone)
    page.turn(step, lang, phone=phone)
    page.open_here(step, lang, phone=phone)
else:
    # The QR code of the first step is for a whole room.
    left, right = st.columns([2 if step.number == 1 else 3, 1], gap="large")
    with left:
        page.work(step, lang)
        page.answers(step, lang, phone=phone)
        page.turn(step, lang, phone=phone)
    with right:
        page.open_here(step, lang, phone=phone)
page.notes(step, lang)
page.sheets(lang)
