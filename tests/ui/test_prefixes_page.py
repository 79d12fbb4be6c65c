"""The Shared prefixes page as a script, in both languages: it says what the pool, the replay and the sizing say."""

from datetime import date

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.core.units import format_bytes, format_count
from kvviz.hit_ratios import ratios
from kvviz.links import pack_prompts, unpack_prompts
from kvviz.prompts import MAX_PROMPT_CHARACTERS, cached
from kvviz.text import LANGUAGES, Lang, Text
from kvviz.text import catalogue as link_text
from kvviz.text import prefixes as text
from kvviz.ui.show import plain
from tests.ui.page import link, open_page


def prompts(app: AppTest) -> tuple[str, ...]:
    return tuple(str(app.text_area(key=f"prefix_prompt_{place}").value) for place in range(3))


def headline(app: AppTest) -> str:
    return next(m.value for m in app.markdown if m.value.startswith("###"))


def said(app: AppTest) -> str:
    return "\n".join(m.value for m in (*app.markdown, *app.caption, *app.error, *app.warning))


def press(app: AppTest, chosen: str | None, lang: Lang = "en") -> AppTest:
    app.pills(key=f"prefix_pill_{lang}").set_value(chosen).run()
    assert not app.exception
    return app


@pytest.mark.parametrize("lang", LANGUAGES)
def test_opens_answered(lang: Lang) -> None:
    app = open_page("prefixes", lang=lang)
    found = cached(prompts(app), 8)
    assert format_count(found.hit_tokens) in headline(app)
    assert format_count(found.tokens) in headline(app)
    assert text.WHOLE_BLOCKS(lang, block=8, hits=found.hit_blocks, blocks=found.blocks) in headline(app)
    assert [m.value for m in app.metric][:2] == [format_count(found.hit_tokens), format_count(found.hit_blocks)]
    assert text.STAND_IN(lang) in said(app)  # that no tokenizer is at work
    at = ratios("mooncake-conversation", 10_000)
    assert f"{at.full:.1%}" in said(app)
    assert format_count(at.evictions) in said(app)
    assert len(app.get("plotly_chart")) == 2
    assert not app.error
    assert not app.warning


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_button_and_back(lang: Lang) -> None:
    app = open_page("prefixes", lang=lang)
    usual = prompts(app)
    found = cached(usual, 8)
    hits = {}
    for chosen in text.TRIES:
        press(app, chosen, lang)
        assert text.TRIED[chosen](lang) in said(app)
        hits[chosen] = cached(prompts(app), 8).hit_tokens
        assert format_count(hits[chosen]) in headline(app) or not hits[chosen]
        if chosen.startswith("date"):
            assert all(str(date.today().year) in one or "20" in one for one in prompts(app))  # noqa: DTZ011
    assert hits["date-first"] == 0
    assert hits["date-last"] >= found.hit_tokens > hits["letter"] > 0
    assert hits["rag-question"] > hits["rag-order"] > 0
    press(app, None, lang)
    assert prompts(app) == usual


def test_edited_prompts_are_what_the_buttons_change() -> None:
    app = open_page("prefixes")
    for place, written in enumerate(("one two three four", "one two three five", "one two six")):
        app.text_area(key=f"prefix_prompt_{place}").set_value(written)
    app.text_input(key="prefix_block").set_value("1").run()
    assert text.TRIED["edited"]("en") in said(app)
    assert cached(prompts(app), 1).hit_tokens == 5
    assert "5 of 11" in headline(app)
    press(app, "date-last")
    assert [one.splitlines()[0] for one in prompts(app)][2] == "one two six"
    press(app, None)
    assert prompts(app)[1] == "one two three five"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_link_opens_the_same(lang: Lang) -> None:
    app = open_page("prefixes", lang=lang, sequences="7", input="9000")
    app.text_area(key="prefix_prompt_1").set_value("別の <b>prompt</b> & more").run()
    press(app, "date-first", lang)
    app.text_input(key="prefix_block").set_value("4")
    app.text_input(key="prefix_capacity").set_value("2,000")
    app.text_input(key="prefix_shared").set_value("4k")
    app.selectbox(key="prefix_trace").set_value("mooncake-synthetic").run()
    offered = link(app)
    assert (offered["sequences"], offered["input"], offered["lang"]) == ("7", "9000", lang)
    assert (offered["prefix_block"], offered["prefix_capacity"], offered["prefix_shared"]) == ("4", "2000", "4096")
    assert unpack_prompts(offered["prompts"])[:3] == prompts(app)
    again = open_page("prefixes", **offered)
    assert (said(again), prompts(again), headline(again)) == (said(app), prompts(app), headline(app))
    assert link(again) == offered
    assert not again.warning
    press(again, None, lang)
    assert prompts(again)[1] == "別の <b>prompt</b> & more"


def test_the_language_keeps_what_was_typed_and_translates_what_was_not() -> None:
    app = open_page("prefixes")
    app.segmented_control(key="lang").set_value("ja").run()
    assert prompts(app)[0] == f"{text.SYSTEM('ja')}\n{text.QUESTIONS[0]('ja')}"
    press(app, "letter", "ja")
    app.text_area(key="prefix_prompt_0").set_value("mine").run()
    kept = prompts(app)
    app.segmented_control(key="lang").set_value("en").run()
    assert not app.exception
    assert prompts(app) == kept


@pytest.mark.parametrize(
    ("box", "typed"), [("block", "0"), ("block", "129"), ("capacity", "many"), ("capacity", "0"), ("shared", "-1")]
)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_is_no_number_is_said_in_one_line_and_kept(lang: Lang, box: str, typed: str) -> None:
    app = open_page("prefixes", lang=lang)
    before, offered = headline(app), link(app)
    app.text_input(key=f"prefix_{box}").set_value(typed).run()
    assert not app.exception
    (line,) = (e.value for e in app.error)
    assert plain(typed) in line
    assert app.text_input(key=f"prefix_{box}").value == typed
    assert (headline(app), link(app)) == (before, offered)


def test_a_broken_link_says_so_and_opens() -> None:
    app = open_page("prefixes", prefix_try="[else](z)", prefix_trace="[x](y)", prefix_block="x", prefix_capacity="-5")
    assert len(app.warning) == 2
    assert len(app.error) == 2
    assert "[else](z)" not in said(app)
    assert "[x](y)" not in said(app)
    assert prompts(app)[0] == f"{text.SYSTEM('en')}\n{text.QUESTIONS[0]('en')}"
    for prompts_of_link in ("broken", pack_prompts(["a", "b"])):
        (told,) = open_page("prefixes", prompts=prompts_of_link, prefix_try="letter").warning
        assert plain(link_text.NOT_PROMPTS("en")) == told.value


def test_empty_prompts_and_too_long_ones() -> None:
    app = open_page("prefixes", prompts=pack_prompts([""] * 6))
    assert text.EMPTY("en") in said(app)
    long = "a " * MAX_PROMPT_CHARACTERS
    app = open_page("prefixes", prompts=pack_prompts([long, "b", "c"] * 2))
    assert text.TOO_LONG("en", number=1, limit=format_count(MAX_PROMPT_CHARACTERS)) in said(app).replace("\\", "")
    assert not app.exception


def test_what_was_typed_is_kept_and_said_to_be_too_long() -> None:
    app = open_page("prefixes")
    long = "word " * 1000
    app.text_area(key="prefix_prompt_1").set_value(long).run()
    assert app.text_area(key="prefix_prompt_1").proto.max_chars == 0  # the browser would throw it away unsaid
    assert app.text_area(key="prefix_prompt_1").value == long
    (told,) = app.error
    assert told.value == plain(text.TOO_LONG("en", number=2, limit=format_count(MAX_PROMPT_CHARACTERS)))
    assert unpack_prompts(link(app)["prompts"])[1] == long[:MAX_PROMPT_CHARACTERS]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("prompts", "block", "why"),
    [
        ("a b c d e f g h", 8, text.SHARED_BUT_LAST),
        ("a", 1, text.SHARED_BUT_LAST),
        ("a b c d e f g", 8, text.SHARED_TOO_LITTLE),
        ("a b c d e f g h i", 8, text.SHARED),
        ("a b c d e f g h", 4, text.SHARED),
    ],
)
def test_why_nothing_is_found(prompts: str, block: int, why: Text, lang: Lang) -> None:
    app = open_page("prefixes", lang=lang, prompts=pack_prompts([prompts] * 6), prefix_block=str(block))
    common, hits = len(prompts.split()), (len(prompts.split()) - 1) // block * block
    rest = {text.SHARED: text.SHARED_REST if common % block else text.SHARED_REST_LAST}.get(why)
    told = rest(lang, rest=common - hits) if rest else ""
    assert why(lang, number=2, like=1, common=common, until="", tokens=hits, rest=told) in said(app)
    again = text.STATE_MEANINGS["again"](lang)
    assert (again in said(app)) == (common % block == 0)  # the sign on the chip is explained where it is


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("shared", "held"), [(3072, 3056), (3000, 2992), (16, 16), (15, 0), (0, 0)])
def test_what_is_held_once_is_whole_blocks(shared: int, held: int, lang: Lang) -> None:
    asked = {"gpu": "l4", "model": "Qwen/Qwen3-0.6B", "kv_dtype": "bf16", "input": "3072", "prefix_shared": str(shared)}
    app = open_page("prefixes", lang=lang, **asked)
    token = 28 * 2 * 8 * 128 * 2
    if held:
        assert f"{format_count(held)} " in said(app)
        assert format_bytes(held * token) in said(app)
        assert (text.SAVES_REST(lang, left=shared - held, shared=format_count(shared)) in said(app)) == (held < shared)
    else:
        nothing = text.SAVES_NO_BLOCK if shared else text.SAVES_NONE
        assert nothing(lang, before="7", shared=shared).partition("**")[0] in said(app)
        assert nothing(lang, before="7", shared=shared).rpartition("**")[2] in said(app)


@pytest.mark.parametrize(
    "scenario",
    [
        {"gpu": ""},
        {"model": "RWKV/rwkv-5-world-3b"},
        {"model": "openai/whisper-tiny", "gpu": "l4"},
        {"model": "google/gemma-3-27b-it", "gpu": "h200"},
        {"engine": "llama.cpp"},
        {"engine": "sglang"},
        {"input": "0", "output": "10"},
        {"typical": "0.2"},
        {"prefix_caching": "off"},
    ],
    ids=str,
)
def test_any_scenario_of_the_sizing_page(scenario: dict[str, str]) -> None:
    app = open_page("prefixes", **scenario)
    assert not app.error, [e.value for e in app.error]
    app.text_input(key="prefix_shared").set_value(str(int(scenario.get("input", "3072")))).run()
    assert not app.exception
    assert not app.error
