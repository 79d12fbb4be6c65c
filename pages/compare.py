"""Compare: models against GPUs, whole scenarios side by side, and why two of them differ."""

from functools import partial
from pathlib import Path

import streamlit as st

from kvviz.catalogue import models
from kvviz.charts.compare import (
    comparison_alt,
    length_rows,
    models_alt,
    models_figure,
    models_rows,
)
from kvviz.compare import as_types, every_model, matrix, under_engines
from kvviz.core.units import format_count
from kvviz.planning import engine_name
from kvviz.report.comparison import Matrix
from kvviz.text import compare as text
from kvviz.ui import browser, show, state
from kvviz.ui import compare as page
from kvviz.ui.answer import answer

lang = state.lang()
answered = answer(*state.read())
base, sizing = answered.scenario, answered.sizing
page.begin(base)
types = as_types(sizing) if sizing else (base,)
compared = page.compared(page.scenarios(types if len(types) > 1 else (base,)))
chosen = {name: st.session_state[f"compare_{name}"] for name in ("models", "gpus", "counts")}
rows: Matrix = ()
if all(chosen.values()):
    rows = matrix(base, page.cell_of, **chosen | {"models": [base.model, *chosen["models"]]})

show.rejected(lang)
show.out_of_sight(answered, lang, everything=True)
if "model" in answered.errors:
    show.stand_in(answered, lang)
page.unknown_in_link(lang)
scenarios, every = show.tabs((text.TAB_SCENARIOS, text.TAB_MODELS), key="compare_tabs", lang=lang)
if scenarios.open:
    with scenarios:
        st.markdown(f"#### {text.MATRIX(lang)}")
        page.context(base, engine_name(base), lang)
        page.axes(lang)
        if rows:
            page.matrix_table(rows, lang, phone=browser.is_phone())
        else:
            st.caption(text.NOTHING_CHOSEN(lang))

        st.markdown(f"#### {text.SIDE_BY_SIDE(lang)}")
        opened = page.buttons(base, compared, (under_engines(base), types), lang)
        if opened is not None:
            page.open_on_sizing(opened)
            st.switch_page(Path(__file__).with_name("sizing.py"))
        page.faces(compared, lang)
        page.table(compared, lang)
        if any(one.sizing for one in compared):
            st.markdown(f"**{text.CHART(lang)}**")
            figure, rows_of = page.figure(compared, lang), partial(length_rows, compared, lang)
            show.chart(figure, rows_of, alt=comparison_alt(compared, lang), key="comparison", lang=lang)
        st.markdown(f"#### {text.WHY(lang)}")
        page.why(compared, lang)
if every.open:
    with every:
        points, tokens = every_model(), base.tokens
        counts = {"count": len(points), "without": len(models()) - len(points)}
        st.caption(text.MODELS_INTRO(lang, tokens=format_count(tokens), **counts))
        named = {base.model, *(one.scenario.model for one in compared)}
        figure = models_figure(points, tokens, lang, ringed=st.session_state["compare_models"], named=named)
        rows_of = partial(models_rows, points, tokens, lang)
        show.chart(figure, rows_of, alt=models_alt(points, tokens, lang), key="models", lang=lang)

if "model" in answered.errors:  # the address stays: reloading tries again
    state.publish(base, asked=False)
else:
    page.share(base, compared, rows, lang)
