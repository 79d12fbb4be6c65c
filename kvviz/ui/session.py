"""What a session keeps beside its widgets' values."""

from typing import Any, Final

import streamlit as st

_KEY: Final = "kvviz"


def session() -> dict[str, Any]:
    """All of it, under one key: for each box that it draws, Streamlit goes through every key of a session."""
    kept: dict[str, Any]
    try:
        kept = st.session_state[_KEY]
    except KeyError:
        # "shown" and "drawn": what the settings' widgets show, and which of them have ever been drawn (kvviz.ui.state).
        kept = st.session_state[_KEY] = {"shown": {}, "drawn": set()}
    return kept
