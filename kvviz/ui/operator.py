"""The settings of whoever runs the app, looked at once: what cannot be understood is a line in the server's log."""

import os
from functools import cache

from kvviz import build, serving
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.hub import check_endpoint
from kvviz.live import VARIABLES, read_settings
from kvviz.text import Message
from kvviz.text import sizing as text
from kvviz.ui import show


@cache
def check_settings() -> None:
    """At the start: nobody may open the page that a setting is about for days."""
    known = {*VARIABLES, serving.VARIABLE, build.VARIABLE, "KVVIZ_BROWSER"}
    for name in sorted(name for name in os.environ if name.startswith("KVVIZ_")):
        if name not in known:
            show.to_operator(ScenarioError(Message(text.NO_VARIABLE, {"field": name}), field=name))
        try:
            read_settings({name: os.environ[name]})
        except KvvizError as error:
            show.to_operator(error)
    try:
        check_endpoint()
    except KvvizError as error:
        show.to_operator(error)
    for problem in serving.read_addresses()[1]:
        show.to_operator(problem)
    if build.commit_not_taken():
        show.to_operator(ScenarioError(Message(text.NO_COMMIT, {"field": build.VARIABLE}), field=build.VARIABLE))
