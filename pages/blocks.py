"""Blocks (PagedAttention): the same requests on the same memory, given out in two ways, on one clock."""

from functools import partial

import streamlit as st

from kvviz import race
from kvviz.core.errors import KvvizError
from kvviz.text import blocks as text
from kvviz.text import sizing as labels
from kvviz.ui import blocks as page
from kvviz.ui import browser, show, state
from kvviz.ui.answer import answer
from kvviz.ui.race import player

lang = state.lang()
answered = answer(*state.read())
page.begin()
settings, wrong = page.read(lang)

show.rejected(lang)
page.messages(wrong, settings, lang)
raced = None
try:
    raced, packed, step = page.prepared(settings, lang)
except KvvizError as error:
    show.lines((error.message(lang),))
    state.publish(answered.scenario, asked="model" not in answered.errors)
else:
    more = race.to_query(settings, step)
    state.publish(answered.scenario, asked="model" not in answered.errors, **more)
    st.markdown(f"### {race.headline(raced, lang)}")
    above, below = st.container(), st.container()
    with below:
        player(packed)
    # On a phone the race comes before what explains it.
    (below if browser.is_phone() else above).markdown(race.explanation(raced, lang))
    for remark in race.remarks(raced, lang):
        st.caption(f":orange[:material/info:] {show.plain(remark)}")
    show.table(partial(race.rows, raced, lang), key="race", lang=lang)

settings_panel = st.expander(
    page.summary(settings, lang), key="blocks_settings", icon=":material/tune:", on_change="rerun"
)
if settings_panel.open:
    with settings_panel:
        page.controls(settings, answered, lang)
if raced is not None:
    research = st.expander(text.RESEARCH(lang), key="blocks_research", icon=":material/query_stats:", on_change="rerun")
    if research.open:
        with research:
            page.research(raced, lang)
    share = st.expander(labels.SHARE(lang), key="blocks_share", icon=":material/share:", on_change="rerun")
    if share.open:
        with share:
            st.caption(text.LINK(lang))
            st.code(
                f"{state.base()}?{state.query(answered.scenario, **race.to_query(settings, step))}",
                language=None,
                wrap_lines=True,
            )
