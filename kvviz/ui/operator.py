"""The settings of whoever runs the app, looked at once: what cannot be understood is a line in the server's log."""

from functools import cache

from kvviz import build
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.hub import check_endpoint
from kvviz.live import read_settings
from kvviz.serving import read_addresses
from kvviz.text import Message
from kvviz.text import sizing as text
from kvviz.ui import show


@cache
def check_settings() -> None:
    """Before the first page: nobody may open the one that a setting is about for days."""
    for check in (read_settings, check_endpoint):
        try:
            check()
        except KvvizError as error:
            show.to_operator(error)
    for problem in read_addresses()[1]:
        show.to_operator(problem)
    if build.commit_not_taken():
        show.to_operator(ScenarioError(Message(text.NO_COMMIT, {"field": build.VARIABLE}), field=build.VARIABLE))
