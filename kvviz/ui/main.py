"""The app: navigation, language, and what every page shares."""

from pathlib import Path

# Not used here: where Streamlit loads it at need, Plotly finds it half loaded when several visitors come first at once.
import pandas  # noqa: F401
import streamlit as st

from kvviz import build
from kvviz.planning import name_of
from kvviz.text import sizing as text
from kvviz.ui import browser, collector, operator, pages, state
from kvviz.ui.session import session

ROOT = Path(__file__).resolve().parents[2]

st.set_page_config(page_title="kvviz", page_icon=str(ROOT / "assets" / "favicon.png"), layout="wide")
operator.check_settings()
state.begin()
st.html(Path(__file__).with_name("page.css"))
lang = state.lang()

# Whoever embeds a page wants that one: a menu would lead the frame away from it.
page = st.navigation(pages.all_of(lang), position="hidden" if st.context.is_embedded else "top")
session()["page_path"] = page.url_path

if not st.context.is_embedded:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{text.APP(lang)}** · {text.TAGLINE(lang)}", width="content")
        st.segmented_control(
            text.LANGUAGE(lang),
            ["en", "ja"],
            key="lang",
            format_func={"en": "English", "ja": "日本語"}.__getitem__,
            label_visibility="collapsed",
            required=True,
            persist_state="session",
        )

page.run()

if not st.context.is_embedded:
    used = session()["valid"]
    engine = session().pop("rules", name_of(used.engine, used.engine_version))
    footer = text.FOOTER if engine else text.FOOTER_WITHOUT
    st.caption(footer(lang, version=build.version(), engine=engine))
# A model that could not be read stays in the address: reloading tries again.
browser.sync(state.published_query(), lang, on_typed=state.model_typed)
collector.settle()
