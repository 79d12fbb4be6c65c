"""The players: canvases in the page, each fed once with all its steps, that need no server to run."""

from functools import cache
from pathlib import Path
from typing import Final, Literal

import streamlit as st

_FOLDER: Final = Path(__file__).parent
_ID: Final = slice(7, 19)
"""Where a payload says which race or which filling it is."""

Name = Literal["race", "kept"]


@cache
def parts(name: Name) -> tuple[str, str, str]:
    """A player's HTML, CSS and script. A component's script is one text: what all players do stands before its own."""
    html, css, common, own = (
        (_FOLDER / file).read_text(encoding="utf-8")
        for file in (f"{name}.html", f"{name}.css", "player.js", f"{name}.js")
    )
    return html, css, f"{common}\n{own}"


def player(name: Name, packed: bytes) -> None:
    """Draw it. ``packed``: what ``payload`` of ``kvviz.race`` or of ``kvviz.charts.kept`` made."""
    html, css, js = parts(name)
    mount = st.components.v2.component(f"kvviz_{name}", html=html, css=css, js=js)
    mount(key=name, data=packed, on_at_change=lambda: None)


def step_of(name: Name, packed: bytes, start: int) -> int:
    """The step that the player of this payload rests at; ``start`` until it was moved."""
    at = st.session_state.get(name, {}).get("at")
    if isinstance(at, dict) and at.get("of") == packed[_ID].decode() and isinstance(at.get("step"), int):
        return max(0, int(at["step"]))
    return start
