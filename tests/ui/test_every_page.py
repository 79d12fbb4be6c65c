"""What holds on every page: pictures are also words and a table, and a language changes neither numbers nor state."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from typing import Any

import pytest
from streamlit.runtime.state.common import is_element_id
from streamlit.testing.v1 import AppTest

from kvviz.links import pack_prompts
from kvviz.text import LANGUAGES, Lang, Text
from kvviz.text import compare as compare_text
from kvviz.text import heads as heads_text
from kvviz.text import sizing as text
from kvviz.ui.show import PARTED
from tests.ui.page import ROOT, folded, key_of, open_page, opened, turn_to

GPUS = {"model": "Qwen/Qwen3-32B", "gpu": "h200", "gpus": "2"}
PROMPTS = pack_prompts(("One beginning. Date", "One beginning. User", "One beginning. " * 20) * 2)
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A page in one state."""

    page: str = "sizing"
    """Its file in pages/."""
    link: dict[str, str] = field(default_factory=dict)
    opened: dict[str, Text] = field(default_factory=dict)
    """Tabs, by key."""
    pressed: tuple[str, ...] = ()
    """Buttons, by key."""


VIEWS = {
    "sizing": View(),
    "sizing: windows": View(link={"model": "google/gemma-3-27b-it", "gpu": "h200"}),
    "sizing: growth": View(opened={"tabs": text.GROWTH_TAB}),
    "sizing: why": View(
        link={"model": "deepseek-ai/DeepSeek-R1", "gpu": "h200", "gpus": "8"}, opened={"tabs": text.WHY}
    ),
    "sizing: what if": View(link=GPUS, opened={"tabs": text.WHAT_IF}),
    "sizing: launch": View(opened={"tabs": text.LAUNCH}),
    "compare": View(page="compare"),
    "compare: models": View(page="compare", opened={"compare_tabs": compare_text.TAB_MODELS}),
    "check a log": View(page="check_log", pressed=("try_llama.cpp",)),
    "review": View(page="review"),
    "review: challenged": View(page="review", link=GPUS, pressed=("challenge",)),
    "heads": View(page="heads", link=GPUS),
    "heads: layers": View(page="heads", link={"heads_tab": "layers"}),
    "blocks": View(page="blocks"),
    "prefixes": View(page="prefixes", link={"prompts": PROMPTS}),
    **{
        f"prefixes: {tried}": View(page="prefixes", link={"prefix_try": tried})
        for tried in ("date-first", "date-last", "letter", "rag-question", "rag-order")
    },
    "live": View(page="live"),
    "learn": View(page="learn"),
    **{
        f"workshop {n}": View(page="workshop", link={"step": str(n)}, pressed=("workshop_reveal",))
        for n in range(1, 11)
    },
}


@cache
def drawn(name: str, lang: Lang) -> AppTest:
    """A view with all that is folded on it opened."""
    view = VIEWS[name]
    app = open_page(view.page, {key: title(lang) for key, title in view.opened.items()}, **view.link, lang=lang)
    for key in view.pressed:
        app.button(key=key).click().run()
        if any(button.key == key for button in app.button):  # which asks for a guess first
            app.button(key=key).click().run()
    return opened(app, "expander", "popover")


# --- pictures --------------------------------------------------------------------------------------------------------

TABLES = {"growth_log": "growth_table", "heads_drawing": "heads_table"}
"""Of pictures whose table is called otherwise."""
LINKS = {"qr", "workshop_qr"}
"""Codes to scan; the link itself stands beside them."""
PLAYERS = {"race", "kept"}
"""Their canvases are named in the browser, and looked at there (tests/browser/test_accessibility.py)."""


def pictures(app: AppTest) -> Iterator[tuple[str, str]]:
    """The key of each picture and what it is in words; of a player, all the words it has."""
    for chart in app.get("plotly_chart"):
        yield key_of(chart.proto.id), chart.proto.alt
    for component in app.get("bidi_component"):
        key = key_of(component.proto.id)
        if component.proto.json and "svg" in (fed := json.loads(component.proto.json)):
            assert 'role="img"' in fed["svg"], key
            yield key, unescape(re.findall(r'aria-label="([^"]*)"', fed["svg"])[0])
        elif key in PLAYERS:
            yield key, json.dumps(json.loads(component.proto.bytes)["words"], ensure_ascii=False)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", VIEWS)
def test_every_picture_is_also_words_with_numbers_and_a_table(name: str, lang: Lang) -> None:
    app = drawn(name, lang)
    panels = {key_of(e.proto.id) for e in folded(app.main, "expander") if e.proto.id}
    for key, alt in pictures(app):
        assert (JAPANESE.search(alt) is not None) == (lang == "ja"), (key, alt)
        if key in LINKS:
            assert any("http" in code.value or "?" in code.value for code in app.code), key
            continue
        assert re.search(r"\d", alt) or key in PLAYERS, (key, alt)
        assert TABLES.get(key, f"{key}_table") in panels, key
    for image in (i for several in app.get("image") for i in several.proto.imgs):
        assert re.search(r"\d", image.alt), image.alt
        assert (JAPANESE.search(image.alt) is not None) == (lang == "ja"), image.alt


def test_there_are_pictures_on_every_page_that_draws() -> None:
    seen = {VIEWS[name].page for name in VIEWS if any(pictures(drawn(name, "en")))}
    assert seen == {view.page for view in VIEWS.values()} - {"check_log"}


def test_no_page_draws_a_chart_past_the_function_that_gives_it_words() -> None:
    sources = [*(ROOT / "pages").glob("*.py"), *(ROOT / "kvviz" / "ui").glob("*.py")]
    assert [p.name for p in sources if "st.plotly_chart" in p.read_text(encoding="utf-8")] == ["show.py"]


# --- names -----------------------------------------------------------------------------------------------------------

BOXES = (
    "text_input",
    "text_area",
    "selectbox",
    "multiselect",
    "radio",
    "slider",
    "checkbox",
    "toggle",
    "file_uploader",
    "button_group",
    "number_input",
)
"""Controls that are called aloud by their label, letter by letter, whatever markdown makes of it on the screen."""


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", VIEWS)
def test_no_control_is_read_out_with_its_escapes(name: str, lang: Lang) -> None:
    app = drawn(name, lang)
    labels = [element.proto.label for kind in BOXES for element in app.get(kind)]
    if VIEWS[name].page == "workshop":  # whose questions are gone once they are answered
        asked = open_page("workshop", **VIEWS[name].link, lang=lang)
        labels += [element.proto.label for kind in BOXES for element in asked.get(kind)]
    assert [label for label in labels if "\\" in label] == []


# --- numbers ---------------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"\d[\d,.]*\d|\d")
WORDS = re.compile(r"(?<![0-9a-z,.])[0-9a-f]{6}(?![0-9a-z])|(?<=prompts=)[\w-]+")
"""What stands for the words of prompts, which differ: the hash of a block, and all of them in a link."""


def said(app: AppTest) -> Iterator[str]:
    """All that can be read on a page."""
    for kind in ("markdown", "caption", "error", "warning", "info", "success", "code"):
        yield from (element.value for element in app.get(kind))
    yield from (f"{metric.label} {metric.value}" for metric in app.metric)
    yield from (button.label for button in app.button)
    yield from (expander.label for expander in folded(app.main, "expander"))
    yield from (alt for _, alt in pictures(app))
    for table in app.table:
        yield "\n".join(map(str, (*table.value.columns, *table.value.to_numpy().flatten())))


def numbers(name: str, lang: Lang) -> Counter[str]:
    """How often each number stands on a page."""
    lines = (WORDS.sub("", line.replace("\\", "").replace(PARTED, "")) for line in said(drawn(name, lang)))
    return Counter(number for line in lines for number in NUMBER.findall(line))


@pytest.mark.parametrize("name", VIEWS)
def test_numbers_are_the_same_in_both_languages(name: str) -> None:
    english, japanese = numbers(name, "en"), numbers(name, "ja")
    assert english.total() >= 10
    assert english - japanese == Counter()
    # "One request" is リクエスト 1 件: English writes what is less than ten as a word.
    assert {number for number in japanese - english if len(number) > 1} == set()


# --- state -----------------------------------------------------------------------------------------------------------

LOG = (ROOT / "kvviz" / "data" / "example_logs" / "vllm.log").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What somebody does on a page."""

    typed: dict[str, Any]
    """Typed and chosen, by key; ``{lang}`` in one is the language."""
    panels: tuple[str, ...] = ()
    """Opened, by key."""
    tabs: dict[str, Text] = field(default_factory=dict)
    """Opened, by key."""
    pressed: str = ""
    """A button that is there no more once it was pressed, by key."""


CHANGES = {
    "sizing": Change(
        typed={"input": "9,999", "sequences": "7", "kv_dtype": "fp8"},
        panels=("share", "growth_table"),
        tabs={"tabs": text.WHY},
    ),
    "compare": Change(typed={}, tabs={"compare_tabs": compare_text.TAB_MODELS}),
    "check_log": Change(typed={"log_text": LOG, "log_model": "Qwen/Qwen3-32B"}),
    "heads": Change(typed={}, panels=("heads_settings", "kept_table"), tabs={"heads_tabs": heads_text.TAB_LAYERS}),
    "blocks": Change(typed={"blocks_pool": "96", "blocks_block": "8"}, panels=("blocks_settings", "race_table")),
    "prefixes": Change(typed={"prefix_prompt_1": "My own words", "prefix_capacity": "2,000"}),
    "live": Change(typed={"live_prompt": "My own words", "live_new_tokens": "12"}),
    "learn": Change(typed={"learn_step": 3}, panels=("learn_steps_table",)),
    "workshop": Change(typed={"workshop_page_{lang}": "250"}),
    "review": Change(typed={"claim": "12 GiB"}, pressed="challenge"),
}


def test_another_language_keeps_all_that_was_done_on_every_page() -> None:
    app = open_page("sizing", lang="en")
    lang: Lang = "en"
    for page, change in CHANGES.items():
        turn_to(app, page).run()
        for panel in change.panels:
            app.session_state[panel] = True
        for key, title in change.tabs.items():
            app.session_state[key] = title(lang)
        app.run()
        for key, value in change.typed.items():
            boxes = (*app.text_input, *app.text_area, *app.selectbox, *app.multiselect, *app.slider)
            {box.key: box for box in boxes}[key.format(lang=lang)].set_value(value).run()
        if change.pressed:
            app.button(key=change.pressed).click().run()
        lang = "ja" if lang == "en" else "en"
        app.segmented_control(key="lang").set_value(lang).run()
        assert not app.exception, (page, app.exception)
        wanted = {key.format(lang=lang): value for key, value in change.typed.items()}
        wanted |= dict.fromkeys(change.panels, True) | {key: title(lang) for key, title in change.tabs.items()}
        assert {key: app.session_state[key] for key in wanted} == wanted, page
        assert change.pressed not in {button.key for button in app.button}, page


# --- what a change costs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["sizing", "compare", "blocks"])
def test_a_session_has_few_keys_beside_its_widgets(page: str) -> None:
    """Streamlit goes through all of them for every box it draws."""
    keys = open_page(page).session_state._state._state._keys()
    own = {key for key in keys if not is_element_id(key) and not key.startswith("$$STREAMLIT_INTERNAL")}
    assert {key for key in own if not key.startswith(f"{page}_")} == {"kvviz"}
