"""The app: navigation, language, and what every page shares."""

from pathlib import Path

# Not used here: where Streamlit loads it at need, Plotly finds it half loaded when several visitors come first at once.
import pandas  # noqa: F401
import streamlit as st

from kvviz import build
from kvviz.planning import name_of
from kvviz.text import blocks as blocks_text
from kvviz.text import compare as compare_text
from kvviz.text import dispute as dispute_text
from kvviz.text import heads as heads_text
from kvviz.text import learn as learn_text
from kvviz.text import live_page as live_text
from kvviz.text import log_check as log_text
from kvviz.text import prefixes as prefixes_text
from kvviz.text import sizing as text
from kvviz.text import workshop as workshop_text
from kvviz.ui import browser, collector, state
from kvviz.ui.session import session

ROOT = Path(__file__).resolve().parents[2]

st.set_page_config(page_title="kvviz", page_icon=str(ROOT / "assets" / "favicon.png"), layout="wide")
state.begin()
st.html(Path(__file__).with_name("page.css"))
lang = state.lang()

PAGES = {
    text.GROUP_SIZE: [
        st.Page(ROOT / "pages" / "sizing.py", title=text.PAGE(lang), default=True),
        st.Page(ROOT / "pages" / "compare.py", title=compare_text.PAGE(lang), url_path="compare"),
        st.Page(ROOT / "pages" / "check_log.py", title=log_text.PAGE(lang), url_path="check-log"),
        # What a review link opens: in no list.
        st.Page(ROOT / "pages" / "review.py", title=dispute_text.PAGE(lang), url_path="review", visibility="hidden"),
    ],
    text.GROUP_UNDERSTAND: [
        st.Page(ROOT / "pages" / "heads.py", title=heads_text.PAGE(lang), url_path="heads"),
        st.Page(ROOT / "pages" / "blocks.py", title=blocks_text.PAGE(lang), url_path="blocks"),
        st.Page(ROOT / "pages" / "prefixes.py", title=prefixes_text.PAGE(lang), url_path="prefixes"),
        st.Page(ROOT / "pages" / "live.py", title=live_text.PAGE(lang), url_path="live"),
    ],
    learn_text.GROUP: [
        st.Page(ROOT / "pages" / "learn.py", title=learn_text.PAGE(lang), url_path="learn"),
        st.Page(ROOT / "pages" / "workshop.py", title=workshop_text.PAGE(lang), url_path="workshop"),
    ],
}
page = st.navigation({group(lang): pages for group, pages in PAGES.items()}, position="top")
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

used = session()["valid"]
engine = name_of(used.engine, used.engine_version)
if not st.context.is_embedded:
    st.caption(text.FOOTER(lang, version=build.version(), engine=engine))
# A model that could not be read stays in the address: reloading tries again.
browser.sync(state.published_query(), lang, on_typed=state.model_typed)
collector.settle()
