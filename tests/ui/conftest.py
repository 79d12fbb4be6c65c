"""The pages as scripts ask the stand-in Hub."""

import pytest
import streamlit as st

from tests.hub.standin import StandIn


@pytest.fixture(autouse=True)
def _hub_on_this_machine(hub: StandIn) -> None:
    """No page test asks the real Hub, nor hears what it told another test."""
    st.cache_data.clear()
