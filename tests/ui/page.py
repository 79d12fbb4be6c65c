"""A page as a script: how tests open it, and what they read from any of them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from streamlit.testing.v1 import AppTest

from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing

ROOT = Path(__file__).resolve().parents[2]


def open_page(page: str, state: Mapping[str, object] | None = None, /, **query: str | list[str]) -> AppTest:
    """As a new visitor opens it by its link, with this in the session: ``{"share": True}`` opens what is folded."""
    app = AppTest.from_file(str(ROOT / "kvviz" / "ui" / "main.py"), default_timeout=120)
    for key, value in (state or {}).items():
        app.session_state[key] = value
    app.query_params.update(query)
    if page == "check_log":
        app.run()  # AppTest finds a page by an address that is not its file's name after a run only
    if page != "sizing":
        turn_to(app, page)
    app.run()
    assert not app.exception, app.exception
    return app


def open_app(**query: str | list[str]) -> AppTest:
    """The Sizing page, its link and all settings in sight."""
    return open_page("sizing", {"share": True, "more": True}, **query)


def turn_to(app: AppTest, page: str) -> AppTest:
    """Choose another page; what is to be there is set before the next run."""
    return app.switch_page(str(ROOT / "pages" / f"{page}.py"))


def kept(app: AppTest) -> dict[str, Any]:
    """What the session keeps beside its widgets' values."""
    found: dict[str, Any] = app.session_state["kvviz"]
    return found


def link(app: AppTest) -> dict[str, str]:
    """The parameters of the link that the page offers."""
    shown = next(code.value for code in app.code if "v=1" in code.value)
    return {name: values[0] for name, values in parse_qs(urlsplit(shown).query, keep_blank_values=True).items()}


def sentence(app: AppTest) -> str:
    """The answer of the Sizing page, wherever its lines may end."""
    return next(m.value for m in app.markdown if m.value.startswith("###")).replace("\u00a0", " ")


def errors(app: AppTest) -> str:
    """What the page says is wrong."""
    return "\n".join(error.value for error in app.error)


def press(app: AppTest, key: str) -> AppTest:
    """A button."""
    app.button(key=key).click().run()
    assert not app.exception, app.exception
    return app


def sized(scenario: Scenario) -> Sizing:
    """The answer to a bundled model's scenario."""
    return resolve(scenario).size()


def key_of(widget: str) -> str:
    """What a page calls a widget: ``$$ID-hash-key``."""
    return widget.split("-", 2)[2]


def folded(node: Any, kind: str) -> Iterator[Any]:  # noqa: ANN401 - AppTest's own types
    """Every ``expander`` or ``popover``, wherever it stands."""
    for child in getattr(node, "children", {}).values():
        if child.type == kind:
            yield child
        yield from folded(child, kind)


def opened(app: AppTest, *kinds: str) -> AppTest:
    """The page with all of these ``kinds`` opened."""
    keys = [key_of(block.proto.id) for kind in kinds for block in folded(app.main, kind) if block.proto.id]
    for key in keys:
        app.session_state[key] = True
    if keys:
        app.run()
    assert not app.exception, app.exception
    return app
