"""A bare Streamlit page with as many elements of the same kinds as ours: what the page costs without kvviz.

It is written from the page's own tree, so that it follows when the page changes. It calculates nothing: texts, tables
and drawings are copied; charts keep their layout and their marks, and every line moves with the input. What another
input changes on our page changes there too, by the input's value: Streamlit sends what stays the same once.
"""

import base64
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element

from kvviz.ui.player import parts
from tests.browser.harness import DESKTOP, STREAMLIT_RUN, Server
from tests.load.visitor import PLACES
from tests.ui.page import open_page

TYPED = "input"
"""Key of the text box of the Sizing page that is typed into, on both pages."""
CHOSEN = "kv_dtype"
"""Key of the select box that is changed there, on both pages."""

HEAD = """
import plotly.graph_objects as go
import streamlit as st

now = " ".join(str(st.session_state.get(key, "")) for key in KEYS)
count = sum(map(ord, now))
svg = st.components.v2.component("bare_svg", html="<div></div>", js='''
export default function ({ data, parentElement }) { parentElement.querySelector("div").innerHTML = data.svg; }
''')
"""
PLAYER = """
html, css, js = PARTS
player = st.components.v2.component("bare_player", html=html, css=css, js=js)
"""
MAIN = """
import streamlit as st

st.set_page_config(page_title="bare", layout="wide")
st.navigation([PAGES], position="top").run()
"""
APP = """
from pathlib import Path

import streamlit as st

app = st.App(Path(__file__).with_name("main.py"))
"""
"""Started as kvviz is."""
_DRAWN = """() => document.querySelectorAll('[role="figure"] .main-svg').length
    && document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'"""
WITHOUT_PICTURE = "kvviz_browser"
"""The component that keeps the address bar: kvviz's own doing, so the bare page has none."""


def bare_app(folder: Path, pages: Mapping[str, str]) -> tuple[str, ...]:
    """Write a bare app with these pages, by their addresses, each a script; returns the command that runs it."""
    named = []
    for number, (url_path, script) in enumerate(pages.items()):
        page = folder / f"bare_{url_path or 'first'}.py"
        page.write_text(script, encoding="utf-8")
        more = ", default=True" if number == 0 else f", url_path={url_path!r}"
        named.append(f"st.Page({str(page)!r}, title={url_path or 'first'!r}{more})")
    (folder / "main.py").write_text(MAIN.replace("PAGES", ", ".join(named)), encoding="utf-8")
    app = folder / "bare_app.py"
    app.write_text(APP, encoding="utf-8")
    return tuple(str(app) if part == "app.py" else part for part in STREAMLIT_RUN)


def opened(browser: Browser, server: Server) -> Page:
    """The first page, drawn and at rest, in a browser that has never been there."""
    width, height = DESKTOP
    page = browser.new_context(locale="en-US", viewport={"width": width, "height": height}).new_page()
    page.goto(server.url, wait_until="commit")
    page.wait_for_function(_DRAWN, polling=50)
    return page


def twin(name: str = "sizing") -> str:
    """The script of a bare page."""
    place = PLACES[name]
    first, second = _open(name), _open(name)
    for box in place.typed:
        second.text_input(key=box).set_value("7777")
    for box, options in place.chosen.items():
        if options:
            second.selectbox(key=box).set_value(options[0])
        else:
            several = second.multiselect(key=box)
            several.set_value(list(reversed(several.value[1:])))
    second.run()
    if second.exception or not (second.get("plotly_chart") or second.get("bidi_component")):
        raise RuntimeError("The page has nothing to be compared with.")
    lines = "\n".join(_block(first.main, second.main, itertools.count(), ""))
    head = HEAD.replace("KEYS", repr(place.keys))
    if "player(" in lines:
        head += PLAYER.replace("PARTS", repr(parts("race")))
    return f"{head}{lines}\n"


def _open(name: str) -> AppTest:
    """kvviz at this page, with what must be open there."""
    return open_page(name, dict.fromkeys(PLACES[name].opens, True))


def counted(script: str, name: str = "sizing") -> dict[str, int]:
    """How many elements of each kind our page and the one of ``script`` have, the same; raises where they are not."""
    ours = _open(name)
    bare = AppTest.from_string(script, default_timeout=60).run()
    if bare.exception:
        raise RuntimeError(bare.exception[0].value)
    kinds = ("text_input", "selectbox", "multiselect", "button", "metric", "plotly_chart", "table", "tab", "image")
    counts = [{kind: len(page.get(kind)) for kind in kinds} for page in (ours, bare)]
    if counts[0] != counts[1]:
        raise RuntimeError(f"The pages differ: {counts[0]}, {counts[1]}.")
    return counts[0]


def _block(block: Block, other: Block | None, numbers: Iterator[int], indent: str) -> Iterator[str]:
    """The lines that draw what is in ``block``; ``other`` is the same block after a change."""
    for index, child in block.children.items():
        after = other.children.get(index) if other is not None else None
        if after is not None and after.type != child.type:
            after = None
        if hasattr(child, "children"):
            yield from _container(child, after, numbers, indent)
        else:
            yield indent + _element(child, after is None or after.proto != child.proto, next(numbers))


def _container(block: Block, other: Block | None, numbers: Iterator[int], indent: str) -> Iterator[str]:
    parts = list(block.children.values())
    kind = parts[0].type if parts else ""
    if kind in ("column", "tab"):
        names = [f"part_{next(numbers)}" for _ in parts]
        if kind == "column":
            drawn = f"st.columns({[part.proto.weight for part in parts]})"
        else:
            drawn = f"st.tabs({[part.label for part in parts]})"
        yield f"{indent}{', '.join(names)}, = {drawn}"
        for name, (index, part) in zip(names, block.children.items(), strict=True):
            yield f"{indent}with {name}:"
            yield from _block(part, other and other.children.get(index), numbers, indent + "    ")
            yield f"{indent}    pass"
        return
    if block.type == "expander":
        opened = f"st.expander({block.proto.label!r})"
    elif block.type == "popover":
        opened = f"st.popover({block.proto.popover.label!r})"
    else:
        opened = f"st.container(horizontal={block.proto.flex_container.direction == 2})"
    yield f"{indent}with {opened}:"
    yield from _block(block, other, numbers, indent + "    ")
    yield f"{indent}    pass"


def _element(element: Element, changes: bool, number: int) -> str:
    """The call that draws an element of the same kind."""
    proto, kind = element.proto, element.type
    key = _key(element) or f"e{number}"
    now = " + now" if changes else ""
    match kind:
        case "markdown" | "caption":
            return f"st.{kind}({proto.body!r}{now})"
        case "code":
            return f"st.code({proto.code_text!r}{now}, language={proto.language or None!r}, wrap_lines=True)"
        case "metric":
            return f"st.metric({proto.label!r}, {proto.body!r}{now}, {proto.delta!r}, help={proto.help!r}, border=True)"
        case "text_input":
            return f"st.text_input({proto.label!r}, {element.value!r}, key={key!r}, help={proto.help or None!r})"
        case "text_area":
            return f"st.text_area({proto.label!r}, key={key!r})"
        case "selectbox":
            options = list(proto.options)
            index = options.index(proto.raw_value) if proto.raw_value in options else proto.default
            return f"st.selectbox({proto.label!r}, {options}, {index}, key={key!r}, help={proto.help or None!r})"
        case "multiselect":
            options = list(proto.options)
            chosen = list(proto.raw_values) if proto.set_value else [options[n] for n in proto.default]
            return f"st.multiselect({proto.label!r}, {options}, {chosen}, key={key!r})"
        case "button":
            return f"st.button({proto.label!r}{now}, key={key!r})"
        case "download_button":
            return f"st.download_button({proto.label!r}, data=str, key={key!r}, on_click='ignore')"
        case "button_group":
            return _segments(proto, key)
        case "table":
            return f"st.table({_rows(element.value.to_dict('list'), now)}, border='horizontal')"
        case "plotly_chart":
            return _chart(json.loads(proto.spec), key)
        case "image":
            drawing = base64.b64decode(proto.imgs[0].url.partition("base64,")[2]).decode()
            changing = " + f'<!-- {now} -->'" if changes else ""
            return f"st.image({drawing!r}{changing}, width='content')"
        case "bidi_component" if proto.component_name == WITHOUT_PICTURE:
            return "pass"
        case "bidi_component" if proto.WhichOneof("data") == "bytes":
            return f"player(key={key!r}, data=now.encode().ljust({len(proto.bytes)}, b' '))"
        case "bidi_component":
            drawing = json.loads(proto.json)["svg"]
            return f"svg(key={key!r}, data={{'svg': {drawing!r} + f'<!-- {{now}} -->'}})"
    raise RuntimeError(f"No twin of {kind}: say here how a bare page draws one.")


def _key(element: Element) -> str:
    """The key a widget was given: the end of its id."""
    key = getattr(element.proto, "id", "").split("-", 2)[-1]
    return "" if key == "None" else key


def _segments(proto: ButtonGroup, key: str) -> str:
    options = [option.content for option in proto.options]
    return f"st.segmented_control({proto.label!r}, {options}, default={options[0]!r}, key={key!r})"


def _rows(columns: dict[str, list[object]], now: str) -> str:
    """The same rows; the first cell says what is asked where the table changes."""
    named = [f"{name!r}: {[str(value) for value in values]}" for name, values in columns.items()]
    if now:
        name, values = next(iter(columns.items()))
        named[0] = f"{name!r}: [{str(values[0])!r}{now}, *{[str(value) for value in values[1:]]}]"
    return f"{{{', '.join(named)}}}"


def _chart(spec: dict[str, Any], key: str) -> str:
    """The same drawing, as a literal; every trace moves with the input."""
    traces = ", ".join(_trace(trace, number) for number, trace in enumerate(spec["data"]))
    layout = {name: value for name, value in spec["layout"].items() if name != "template"}
    return f"st.plotly_chart(go.Figure([{traces}], {layout!r}), key={key!r}, alt=f'A chart of {{now}}')"


def _trace(trace: dict[str, Any], number: int) -> str:
    values = trace.get("z") or trace.get("x") or [0]
    if isinstance(values, dict):
        raise RuntimeError("No twin of an array written as bytes: say here how long it is.")
    line = f"[count % 97 + {number} + n for n in range({{}})]"
    drawn = {name: value for name, value in trace.items() if name not in ("x", "y", "z")}
    if "z" in trace:
        return f"{{**{drawn!r}, 'z': [{line.format(len(values[0]))} for _ in range({len(values)})]}}"
    return f"{{**{drawn!r}, 'x': list(range({len(values)})), 'y': {line.format(len(values))}}}"
