"""The app: navigation, language, and what every page shares."""

from pathlib import Path

import streamlit as st

from kvviz import __version__
from kvviz.engines import vllm
from kvviz.text import sizing as text
from kvviz.ui import browser, state

ROOT = Path(__file__).resolve().parents[2]

st.set_page_config(page_title="kvviz", page_icon=str(ROOT / "assets" / "favicon.png"), layout="wide")
state.begin()
lang = state.lang()

page = st.navigation([st.Page(ROOT / "pages" / "sizing.py", title=text.PAGE(lang), default=True)])

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
    st.caption(text.FOOTER(lang, version=__version__, engine=f"vLLM {vllm.VERSION}"))
shown = state.published()
# A model that could not be read stays in the address: reloading tries again.
address = state.query(shown) if shown is not None else state.query_asked()
browser.sync(address, lang, on_typed=state.model_typed)
