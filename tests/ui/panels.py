"""What is folded on a page, and opening it: most of it is drawn only then."""

from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest


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
