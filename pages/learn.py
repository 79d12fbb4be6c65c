"""Learn: what a KV cache is and what it costs, on one page that is read from top to bottom."""

import streamlit as st

from kvviz.text import learn as text
from kvviz.ui import learn as page
from kvviz.ui import state

lang = state.lang()

with page.column():
    st.header(text.TITLE(lang), anchor=False)
    page.contents(lang)

    page.heading("seconds", lang)
    page.say_list(
        (
            (text.WHAT, ()),
            (text.WITHOUT_IT, ("#why",)),
            (text.GROWS_WITH, ("worked",)),
            (text.CAN_EXCEED, ("worked",)),
            (text.FOUR_LEVERS, ()),
        ),
        lang,
    )

    page.heading("notebook", lang)
    page.say(text.NOTEBOOK, lang)
    page.say(text.NOTEBOOK_IS, lang)

    page.heading("why", lang)
    page.say(text.CAUSAL, lang)
    page.say(text.QUERIES, lang)
    page.step_through(lang)
    page.counts(lang)
    page.say(text.COUNTS_NOTE, lang)
    page.computations(lang)
    page.say(text.QUOTED, lang, "live")
    page.say(text.WHY_ONLY, lang, "live")

    page.heading("formula", lang)
    page.formula(lang)
    page.both_units(lang)
    page.say(text.BOTH_UNITS, lang)
    page.say(text.NO_LONGER, lang, "long")
    page.say(text.FIELDS, lang)
    page.say(text.TRAP, lang, "worked")
    page.say(text.PROPORTIONAL, lang, "windows")

    page.heading("peak", lang)
    page.say(text.SUM, lang, "worked")
    page.say(text.PEAK, lang)
    page.say(text.USERS, lang, "users")
    page.say(text.RAG, lang, "rag")
    page.say(text.RESERVED, lang, "reserved")
    page.say(text.CROSSOVER, lang, "worked")
    page.say(text.FLOOR, lang, "worked")

    page.heading("levers", lang)
    page.levers(lang)
    page.say(text.WEIGHTS_LEVER, lang, "int4")
    page.snippet(lang)

    page.heading("misconceptions", lang)
    page.misconceptions(lang)

    page.heading("where", lang)
    page.uses(lang)
    page.say(text.NOT_NEEDED, lang)

    page.heading("faq", lang)
    page.questions(lang)

    page.heading("timeline", lang)
    page.timeline(lang)

    page.heading("glossary", lang)
    page.glossary(lang)

    page.heading("sources", lang)
    page.sources(lang)
