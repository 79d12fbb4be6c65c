"""The player of a race: a canvas in the page, fed once with the events of both sides, that needs no server to run."""

from pathlib import Path
from typing import Final

import streamlit as st

_FOLDER: Final = Path(__file__).parent
_HTML: Final = (_FOLDER / "race.html").read_text(encoding="utf-8")
_CSS: Final = (_FOLDER / "race.css").read_text(encoding="utf-8")
_JS: Final = (_FOLDER / "race.js").read_text(encoding="utf-8")
_ID: Final = slice(7, 19)
"""Where a payload says which race it is."""


def player(packed: bytes) -> None:
    """Draw it. ``packed``: what ``kvviz.race.payload`` made."""
    mount = st.components.v2.component("kvviz_race", html=_HTML, css=_CSS, js=_JS)
    mount(key="race", data=packed, on_at_change=lambda: None)


def step_of(packed: bytes, start: int) -> int:
    """The step that the player of this race rests at; ``start`` until it was moved."""
    at = st.session_state.get("race", {}).get("at")
    if isinstance(at, dict) and at.get("race") == packed[_ID].decode() and isinstance(at.get("step"), int):
        return max(0, int(at["step"]))
    return start
