"""The pages, by group."""

from copy import copy
from functools import cache
from pathlib import Path
from typing import Final

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from kvviz.text import Lang
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

_FOLDER: Final = Path(__file__).resolve().parents[2] / "pages"


def all_of(lang: Lang) -> dict[str, list[StreamlitPage]]:
    """For ``st.navigation``, which marks one of them as the one to be run: each run has its own."""
    return {group: [copy(page) for page in pages] for group, pages in _made(lang).items()}


@cache
def _made(lang: Lang) -> dict[str, list[StreamlitPage]]:
    """Making one, Streamlit looks for its file: a twentieth of a small page's run for all of them."""
    return {
        text.GROUP_SIZE(lang): [
            st.Page(_FOLDER / "sizing.py", title=text.PAGE(lang), default=True),
            st.Page(_FOLDER / "compare.py", title=compare_text.PAGE(lang), url_path="compare"),
            st.Page(_FOLDER / "check_log.py", title=log_text.PAGE(lang), url_path="check-log"),
            # What a review link opens: in no list.
            st.Page(_FOLDER / "review.py", title=dispute_text.PAGE(lang), url_path="review", visibility="hidden"),
        ],
        text.GROUP_UNDERSTAND(lang): [
            st.Page(_FOLDER / "heads.py", title=heads_text.PAGE(lang), url_path="heads"),
            st.Page(_FOLDER / "blocks.py", title=blocks_text.PAGE(lang), url_path="blocks"),
            st.Page(_FOLDER / "prefixes.py", title=prefixes_text.PAGE(lang), url_path="prefixes"),
            st.Page(_FOLDER / "live.py", title=live_text.PAGE(lang), url_path="live"),
        ],
        learn_text.GROUP(lang): [
            st.Page(_FOLDER / "learn.py", title=learn_text.PAGE(lang), url_path="learn"),
            st.Page(_FOLDER / "workshop.py", title=workshop_text.PAGE(lang), url_path="workshop"),
        ],
    }
