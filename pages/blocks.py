"""Blocks (PagedAttention): the same requests on the same memory, given out in two ways, on one clock."""

from functools import partial

import streamlit as st

from kvviz import race
from kvviz.core.errors import KvvizError
from kvviz.text import blocks as text
from kvviz.ui import blocks as page
from kvviz.ui import browser, show, state
from kvviz.ui.answer import answer
from kvviz.ui.player import player
from kvviz.workings import of_race

lang = state.lang()
answered = answer(*state.read())
page.begin()
settings, wrong = page.read(lang)
query, raced = {}, None

# Places that stay where they are whatever is in them: an open panel closes when it is moved.
messages, head, play, foot = (st.container() for _ in range(4))
with messages:
    show.rejected(lang)
    page.messages(wrong, settings, lang)
try:
    raced, packed, step = page.prepared(settings, lang)
except KvvizError as error:
    with messages:
        show.lines((error.message(lang),))
else:
    query = race.to_query(settings, step)
    with head:
        st.markdown(f"### {race.headline(raced, lang)}")
        show.working(partial(of_race, raced, lang), key="race", lang=lang)
    with play:
        player("race", packed)
    # On a phone the race comes before what explains it.
    with foot if browser.is_phone() else head:
        st.markdown(race.explanation(raced, lang))
    with foot:
        for remark in race.remarks(raced, lang):
            st.caption(f":orange[:material/info:] {show.plain(remark)}")
        show.table(partial(race.rows, raced, lang), key="race", lang=lang)
state.publish(answered.scenario, asked="model" not in answered.errors, **query)

panel = show.folded(text.SETTINGS(lang), key="blocks_settings", icon=":material/tune:")
if panel.open:
    with panel:
        page.controls(settings, answered, lang)
research = show.folded(text.RESEARCH(lang), key="blocks_research", icon=":material/query_stats:")
if research.open and raced is not None:
    with research:
        page.research(raced, lang)
share = show.folded(text.SHARE(lang), key="blocks_share", icon=":material/share:")
if share.open:
    with share:
        st.caption(text.LINK(lang))
        st.code(f"{state.base()}?{state.query(answered.scenario, **query)}", language=None, wrap_lines=True)
