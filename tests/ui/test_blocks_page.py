"""The Blocks page as a script, in both languages: the race first, links, bad input, research on request."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from kvviz import race
from kvviz.allocation.workload import TEACHING
from kvviz.race import PRESETS, Settings
from kvviz.sweeps import Underway, study
from kvviz.text import LANGUAGES, Lang
from kvviz.text import blocks as text
from kvviz.ui.show import plain
from tests.ui.page import errors, kept, link, open_page, turn_to

SETTINGS, RESEARCH, SHARE = ({f"blocks_{panel}": True} for panel in ("settings", "research", "share"))
"""Panels, opened."""


def fed(app: AppTest) -> Any:  # noqa: ANN401 - whatever the browser is sent
    """What the player is fed with."""
    players = [e for e in app.get("bidi_component") if e.proto.component_name.endswith("kvviz_race")]
    return json.loads(players[0].proto.bytes)


def headline(app: AppTest) -> str:
    return next(m.value for m in app.markdown if m.value.startswith("###"))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_opens_with_the_race_alone(lang: Lang) -> None:
    app = open_page("blocks", lang=lang)
    raced = race.race(Settings(), TEACHING.requests)
    assert race.headline(raced, lang) in headline(app)
    assert [lane["events"] for lane in fed(app)["lanes"]] == [lane.events for lane in raced.lanes]
    assert fed(app)["words"]["play"] == getattr(text.PLAYER["play"], lang)
    assert not app.error
    assert not app.warning
    assert not app.text_input
    assert not app.get("plotly_chart")
    # In the player: play, back, forward, the step, the speed, the request; below it the folded settings.
    assert len(app.selectbox) + len(app.button) == 0


@pytest.mark.parametrize("lang", LANGUAGES)
def test_settings_change_the_race(lang: Lang) -> None:
    app = open_page("blocks", SETTINGS, lang=lang)
    app.text_input("blocks_block").set_value("8").run()
    assert fed(app)["block"] == 8
    app.selectbox("blocks_trace").set_value("sharegpt").run()
    assert fed(app)["block"] == 16
    assert app.text_input("blocks_pool").value == "15,728"
    app.selectbox("blocks_view").set_value("hybrid").run()
    assert app.text_input("blocks_windows").value == "full,128"
    assert len(fed(app)["lanes"][1]["groups"]) == 2
    app.selectbox("blocks_trace").set_value("generated").run()
    before = fed(app)["lanes"][0]["events"]
    app.text_input("blocks_seed").set_value("2").run()
    assert fed(app)["lanes"][0]["events"] != before
    assert not app.error


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("box", "written", "said"),
    [
        ("blocks_block", "65", text.PAGE),
        ("blocks_block", "four", text.LABELS["block"]),
        ("blocks_pool", "-1", text.LABELS["pool"]),
        ("blocks_pool", "", text.LABELS["pool"]),
        ("blocks_first", "1,001", text.LABELS["first"]),
        ("blocks_longest", "1", text.LABELS["longest"]),
    ],
)
def test_bad_input_gets_one_clear_line_and_stays(lang: Lang, box: str, written: str, said: Any) -> None:  # noqa: ANN401
    app = open_page("blocks", SETTINGS, lang=lang)
    good = fed(app)["id"]
    app.text_input(box).set_value(written).run()
    assert len(app.error) == 1
    assert said is text.PAGE or said(lang).split("（")[0].split(" (")[0] in errors(app)
    assert app.text_input(box).value == written
    assert fed(app)["id"] == good


def test_a_request_longer_than_the_pool_is_said_never_waited_for() -> None:
    app = open_page("blocks", pool="16", longest="16", trace="teaching")
    assert any("never be admitted" in caption.value for caption in app.caption)


def test_links_say_which_race_and_which_step() -> None:
    asked = {
        "trace": "generated",
        "seed": "7",
        "first": "40",
        "pool": "4096",
        "block": "8",
        "longest": "512",
        "step": "12",
    }
    app = open_page("blocks", SHARE, **asked)
    assert link(app).items() >= asked.items()
    assert fed(app)["start"] == 12
    again = open_page("blocks", SHARE, **link(app))
    assert fed(again) == fed(app)
    assert link(again) == link(app)


def test_another_language_goes_on_where_it_was() -> None:
    app = open_page("blocks", step="5")
    app.session_state["lang"] = "ja"
    app.run()
    assert fed(app)["start"] == 5
    assert fed(app)["lang"] == "ja"


def test_links_that_cannot_be_used_are_told_about() -> None:
    app = open_page("blocks", trace="nobody", pool="many", block="0", step="x")
    assert len(app.warning) == 3
    assert [lane["pool"] for lane in fed(app)["lanes"]] == [64, 64]


def test_the_pool_of_the_sizing_scenario() -> None:
    app = open_page("blocks", SETTINGS, gpu="l4", model="Qwen/Qwen3-0.6B", weight_dtype="bf16", kv_dtype="bf16")
    app.button("blocks_take").click().run()
    assert not app.error
    assert fed(app)["block"] == 16
    assert fed(app)["lanes"][0]["pool"] > 15_728
    # Half the layers of a windowed model have a group with a window.
    app = open_page("blocks", SETTINGS, view="hybrid", gpu="l4", model="google/gemma-3-4b-it", trace="sharegpt")
    app.button("blocks_take").click().run()
    assert "full" in app.text_input("blocks_windows").value
    assert "1024" in app.text_input("blocks_windows").value


CSV = "prompt_tokens,output_tokens\n7,6\n10,3\n6,4\n"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_an_own_file(lang: Lang) -> None:
    app = open_page("blocks", SETTINGS, lang=lang)
    app.selectbox("blocks_trace").set_value("own").run()
    assert [i.value for i in app.info] == [text.NO_FILE(lang, megabytes="5")]
    uploader = app.get("file_uploader")[0]
    uploader.set_value(("mine.csv", CSV.encode(), "text/csv")).run()
    assert not app.error
    assert not app.info
    assert any("mine.csv" in caption.value for caption in app.caption)  # what is played, whatever is refused later
    assert sum(event[0] == "r" for group in fed(app)["lanes"][0]["events"] for event in group[1:]) == 3
    for bad in ("prompt_tokens\n5\n", "prompt_tokens,output_tokens\n-3,5\n", "prompt_tokens,output_tokens\n", "\x00"):
        app.get("file_uploader")[0].set_value(("bad.csv", bad.encode(), "text/csv")).run()
        assert len(app.error) == 1
        assert "\n" not in app.error[0].value.strip()


def test_a_file_that_asks_for_nothing() -> None:
    app = open_page("blocks", SETTINGS)
    app.selectbox("blocks_trace").set_value("own").run()
    app.get("file_uploader")[0].set_value(("zero.csv", b"prompt_tokens,output_tokens\n3,0\n", "text/csv")).run()
    assert text.NOTHING_ASKED("en") in headline(app)
    assert any(plain(text.NOTHING("en", count="1")) in caption.value for caption in app.caption)
    assert not any("never be admitted" in caption.value for caption in app.caption)


def test_what_the_hybrid_view_does_not_use_is_not_asked_for() -> None:
    app = open_page("blocks", SETTINGS, view="hybrid")
    assert "blocks_longest" not in [box.key for box in app.text_input]
    app.selectbox("blocks_trace").set_value("generated").run()
    assert "blocks_longest" in [box.key for box in app.text_input]
    app = open_page("blocks", SETTINGS)
    app.text_input("blocks_longest").set_value("none")
    app.selectbox("blocks_view").set_value("hybrid").run()
    assert not app.error  # nobody could mend it there


@pytest.mark.parametrize("lang", LANGUAGES)
def test_one_pool_has_one_size_on_every_page(lang: Lang) -> None:
    asked = {"gpu": "l4", "model": "Qwen/Qwen3-0.6B", "weight_dtype": "bf16", "kv_dtype": "bf16", "lang": lang}
    app = open_page("blocks", SETTINGS, **asked)
    app.button("blocks_take").click().run()
    slots = int(app.text_input("blocks_pool").value.replace(",", ""))
    assert any(f"{slots:,}" in caption.value and "null block" in caption.value for caption in app.caption)
    turn_to(app, "prefixes").run()
    assert any(f"{slots:,}" in caption.value for caption in app.caption)
    turn_to(app, "blocks").run()
    assert text.AT_ONCE(lang, requests="6") in headline(app)
    assert any(text.AT_ONCE_TRY(lang) in m.value for m in app.markdown)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_research_goes_on_after_whatever_stopped_the_page(lang: Lang) -> None:
    app = open_page("blocks", RESEARCH, lang=lang)
    asked = {"pool_tokens": 64, "block_tokens": 4, "max_tokens": 20, "reserve": "max", "place": "firstfit"}
    begun = study(TEACHING.requests, **asked)  # type: ignore[arg-type]
    under_way = Underway((TEACHING.name, 6, *asked.values()), begun)
    assert all(under_way.go_on() for _ in range(5))
    kept(app)["blocks_under_way"] = under_way
    app.run()
    assert len(app.get("plotly_chart")) == 4
    assert "blocks_under_way" not in kept(app)
    assert "blocks_cancel" not in [button.key for button in app.button]
    assert any(text.NOT_MEASURED(lang, sizes="1, 2") in c.value for c in app.caption)
    # That of another race is given up.
    kept(app)["blocks_under_way"] = Underway("another", study(TEACHING.requests, **asked))  # type: ignore[arg-type]
    app.run()
    assert "blocks_under_way" not in kept(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_research_runs_when_asked(lang: Lang) -> None:
    app = open_page("blocks", RESEARCH, lang=lang)
    assert not app.get("plotly_chart")
    app.button("blocks_run").click().run()
    assert len(app.get("plotly_chart")) == 4
    assert any(caption.value == text.PAPER_ELSEWHERE(lang) for caption in app.caption)
    assert not app.error


def test_the_table_says_the_race_in_words() -> None:
    app = open_page("blocks", {"race_table": True})
    said = app.table[0].value.to_string()
    assert "served" in said
    assert "Lost all its blocks" in said


def test_every_preset_opens() -> None:
    for name in PRESETS:
        app = open_page("blocks", trace=name)
        assert not app.error, name


def test_what_is_chosen_is_said_in_the_language_of_the_page() -> None:
    """A browser goes on showing the words it has, unless it is told others."""
    app = open_page("blocks", SETTINGS, lang="en", trace="azure-code")
    for lang in ("ja", "en"):
        app.segmented_control("lang").set_value(lang).run()
        box = app.selectbox("blocks_trace")
        assert box.value == "azure-code"
        assert box.proto.set_value
        assert box.proto.raw_value == box.options[box.index]
        app.run()
        assert not app.selectbox("blocks_trace").proto.set_value, "said again and again, it takes back what is chosen"


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_headroom_taken_off_the_scenarios_pool_is_said(lang: Lang) -> None:
    for headroom, said in (("0", False), ("0.1", True)):
        captions = [
            c.value for c in open_page("blocks", {"blocks_settings": True}, lang=lang, headroom=headroom).caption
        ]
        assert any(text.HEADROOM_OFF(lang, share="0.1") in caption for caption in captions) == said
