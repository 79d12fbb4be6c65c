"""Sizing: how many requests fit, in one sentence, and everything that sentence rests on."""

import streamlit as st

from kvviz.charts.growth import growth_alt, growth_figure, growth_rows
from kvviz.charts.layers import layer_rows, layer_strip_svg
from kvviz.charts.ledger import ledger_alt, ledger_figure, ledger_rows
from kvviz.core.errors import KvvizError
from kvviz.resolve import resolve
from kvviz.sizing import size
from kvviz.text import sizing as text
from kvviz.ui import browser, controls, show, state

lang = state.lang()
scenario, errors = state.read()
phone = browser.is_phone()
embedded = st.context.is_embedded

sizing = problem = None
try:
    resolved = resolve(scenario)
    sizing = size(resolved.architecture, resolved.scenario, weights=resolved.weights)
except KvvizError as error:
    problem = error

if embedded and sizing is not None:
    show.chart(
        growth_figure(sizing, lang), growth_rows(sizing, lang), alt=growth_alt(sizing, lang), key="growth", lang=lang
    )
    st.caption(show.source_line(sizing, state.link(resolved.scenario), lang))
    st.stop()

for message in st.session_state["rejected"]:
    st.warning(f"{text.LINK_REJECTED(lang)}: {message(lang)}", icon=":material/link_off:")

if phone:
    answer = st.container()
    with st.expander(show.summary(scenario, lang), key="change", icon=":material/tune:"):
        controls.seven(scenario, errors, lang)
        controls.more(scenario, errors, lang)
    below = st.container()
else:
    left, right = st.columns([1, 2], gap="large")
    with left:
        controls.seven(scenario, errors, lang)
        controls.more(scenario, errors, lang)
    answer = below = right

if sizing is None:
    with answer:
        show.problem(problem, lang)
    st.stop()

with answer:
    show.answer(sizing, lang)
    show.facts(sizing, lang)
    if sizing.budget is not None:
        st.markdown(f"**{text.LEDGER(lang)}**")
        show.chart(
            ledger_figure(sizing, lang),
            ledger_rows(sizing, lang),
            alt=ledger_alt(sizing, lang),
            key="ledger",
            lang=lang,
        )

with below:
    show.notes((*resolved.notes, *sizing.notes), lang)
    st.markdown(f"**{text.GROWTH(lang)}**")
    show.chart(
        growth_figure(sizing, lang), growth_rows(sizing, lang), alt=growth_alt(sizing, lang), key="growth", lang=lang
    )

st.markdown(f"**{text.LAYERS(lang)}**")
browser.svg(layer_strip_svg(sizing, lang, columns=16 if phone else 32), key="layers")
with st.expander(text.AS_TABLE(lang), key="layers_table", type="compact"):
    st.dataframe(layer_rows(sizing, lang), hide_index=True)

with st.expander(text.WHY(lang), key=f"why_{phone}", icon=":material/function:", expanded=not phone):
    show.why_this_number(sizing, lang)

with st.popover(text.LINK(lang), icon=":material/link:"):
    st.caption(text.LINK_HELP(lang))
    if scenario.config:
        st.caption(text.LINK_CONFIG(lang))
    st.code(state.link(resolved.scenario), language=None, wrap_lines=True)
