"""Each page whose answer is a number says how that comes about, and shows whose layers it is about."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.live import bundled
from kvviz.text import LANGUAGES, Lang
from kvviz.text import log_check as log_text
from kvviz.text import workings as text
from tests.ui.page import open_page, opened

WORKINGS = {"sizing": 3, "compare": 2, "blocks": 1, "prefixes": 4, "live": 4}
"""How many numbers in large type, or scenarios, each page opens with."""


def popovers(app: AppTest, lang: Lang) -> list[Any]:
    """The folded workings."""
    found = []

    def walk(block: Any) -> None:  # noqa: ANN401 - blocks and elements alike
        for child in getattr(block, "children", {}).values():
            proto = getattr(child, "proto", None)
            if proto is not None and proto.DESCRIPTOR.name == "Block" and proto.popover.icon.endswith("/function:"):
                found.append(child)
            walk(child)

    walk(app.main)
    return found


def words(popover: Any) -> str:  # noqa: ANN401
    return "\n".join(one.value for kind in ("caption", "markdown") for one in popover.get(kind))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", WORKINGS)
def test_every_number_opens_its_working(name: str, lang: Lang) -> None:
    app = open_page(name, lang=lang)
    assert not any(words(popover) for popover in popovers(app, lang))  # drawn once it is asked for
    found = popovers(opened(app, "popover"), lang)
    assert len(found) == WORKINGS[name]
    for popover in found:
        said = words(popover)
        assert text.SOURCE(lang, source="") in said
        assert any(sign in said for sign in "=÷B")
    if name == "sizing":
        assert "num\\_key\\_value\\_heads" in words(found[1])
        assert "kv\\_cache\\_interface" in words(found[1])
    if name == "live":
        assert f"{bundled().samples[-1].measured_bytes:,}" in words(found[1])


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_logs_prediction_opens_its_working(lang: Lang) -> None:
    app = open_page("check_log", lang=lang)
    assert popovers(app, lang) == []
    button = next(b for b in app.button if b.label == log_text.EXAMPLE(lang, engine="llama.cpp"))
    button.click().run()
    (found,) = popovers(opened(app, "popover"), lang)
    assert text.CHECKED(lang) in words(found)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("name", "faces"), [("sizing", 1), ("compare", 2)])
def test_a_model_shows_its_face(name: str, faces: int, lang: Lang) -> None:
    app = open_page(name, lang=lang)
    images = app.get("image")
    assert len(images) == faces
    counts = {"en": "64 layers: 64 full", "ja": "64 レイヤー：フル 64"}[lang]
    assert [c.value for c in app.caption].count(counts) == faces
