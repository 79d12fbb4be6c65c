"""The player of the kinds of layers: canvases in the page, fed once with all steps, that need no server to run."""

from pathlib import Path
from typing import Final

import streamlit as st

_FOLDER: Final = Path(__file__).parent
_HTML: Final = (_FOLDER / "kept.html").read_text(encoding="utf-8")
_CSS: Final = (_FOLDER / "kept.css").read_text(encoding="utf-8")
_JS: Final = (_FOLDER / "kept.js").read_text(encoding="utf-8")
_ID: Final = slice(7, 19)
"""Where a payload says which filling it is."""


def player(packed: bytes) -> None:
    """Draw it. ``packed``: what ``kvviz.charts.kept.payload`` made."""
    mount = st.components.v2.component("kvviz_kept", html=_HTML, css=_CSS, js=_JS)
    mount(key="kept", data=packed, on_at_change=lambda: None)


def step_of(packed: bytes, start: int) -> int:
    """The step that the player of this filling rests at; ``start`` until it was moved."""
    at = st.session_state.get("kept", {}).get("at")
    if isinstance(at, dict) and at.get("filling") == packed[_ID].decode() and isinstance(at.get("step"), int):
        return max(0, int(at["step"]))
    return start
