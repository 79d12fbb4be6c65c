"""The Sizing page as people use it, in a real browser."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.harness import OPPOSITES, screenshot, settled

HEADLINE = "h3"
ANSWER = '[data-testid="stMarkdownContainer"]:has(h3)'
METRICS = '[data-testid="stMetricValue"]'


def headline(page: Page) -> str:
    """The answer's sentence."""
    return page.locator(ANSWER).first.inner_text()


def metrics(page: Page) -> list[str]:
    return page.locator(METRICS).all_inner_texts()


def drawing(page: Page, index: int) -> str:
    """What a chart shows in words, as a screen reader hears it."""
    return page.locator('[role="figure"]').nth(index).get_attribute("aria-label") or ""


def address(page: Page) -> dict[str, str]:
    page.wait_for_function("() => location.search.includes('v=')")
    page.wait_for_timeout(300)  # the address follows the page's last run
    query = urlsplit(page.url).query
    return {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}


def fill(page: Page, label: str | re.Pattern[str], value: str) -> None:
    page.get_by_label(label).first.fill(value)
    page.keyboard.press("Enter")
    settled(page)


def choose(page: Page, label: str, option: str) -> None:
    """Type into a select box and take the first option, as a person would."""
    box = page.get_by_role("combobox", name=re.compile(label))
    box.click()
    box.fill(option)
    page.get_by_role("option").first.click()
    settled(page)


def test_the_first_screen_answers(open_page: OpenPage) -> None:
    page = open_page("/")
    assert re.search(r"\d+ of 50 fit at once", headline(page))
    assert "H100" in headline(page)
    assert "4,096 tokens" in headline(page)
    expect(page.locator(ANSWER).first).to_be_in_viewport()
    expect(page.locator('[role="figure"]').first).to_be_in_viewport()


def test_model_gpu_and_lengths_in_three_choices(open_page: OpenPage) -> None:
    page = open_page("/")
    seen = [(headline(page), drawing(page, 0), drawing(page, 1))]

    def changed() -> None:
        now = (headline(page), drawing(page, 0), drawing(page, 1))
        assert all(new != old for new, old in zip(now, seen[-1], strict=True))
        seen.append(now)

    choose(page, "Model", "gemma-3-27b")
    changed()
    choose(page, "GPU", "H200")
    changed()
    fill(page, re.compile("^Input tokens"), "64k")
    changed()
    assert "66,560 tokens" in headline(page)
    assert address(page)["input"] == "65536"
    assert address(page)["gpu"] == "h200"


def test_a_name_typed_in_words_finds_its_model_and_an_unknown_one_is_told(open_page: OpenPage) -> None:
    page = open_page("/")
    before = headline(page)
    box = page.get_by_role("combobox", name=re.compile("Model"))
    box.click()
    box.fill("Qwen9-900B")
    page.keyboard.press("Enter")
    settled(page)
    expect(page.get_by_role("alert").filter(has_text="Neither a bundled model nor one on the Hub")).to_be_visible()
    assert headline(page) == before
    box.click()
    box.fill("gpt-oss 120b")
    page.keyboard.press("Enter")
    settled(page)
    expect(page).to_have_url(re.compile("model=openai%2Fgpt-oss-120b"))
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_name_that_begins_as_the_one_in_the_box_arrives_whole(open_page: OpenPage) -> None:
    """The box keeps what stood in it and sends only what comes after."""
    page = open_page("/?model=Qwen/Qwen3-32B")
    page.get_by_role("combobox", name=re.compile("Model")).click()
    page.keyboard.type("Qwen/Qwen3-32B-FP8")
    page.keyboard.press("Enter")
    settled(page)
    expect(page).to_have_url(re.compile("model=Qwen%2FQwen3-32B-FP8"))
    expect(page.get_by_role("alert")).to_have_count(0)


def test_undo_leaves_what_was_changed_since(open_page: OpenPage) -> None:
    page = open_page("/")
    asked = address(page)
    page.get_by_role("button", name=re.compile("FP8 cache →")).click()
    settled(page)
    fill(page, re.compile("^Output tokens"), "55")
    page.get_by_role("button", name="Undo: FP8 cache").click()
    settled(page)
    assert address(page) == asked | {"output": "55"}


def test_back_leaves_the_page_at_once(open_page: OpenPage) -> None:
    page = open_page("/")
    entries = page.evaluate("history.length")
    fill(page, re.compile("^Input tokens"), "8000")
    fill(page, re.compile("^Output tokens"), "500")
    assert address(page)["output"] == "500"
    assert page.evaluate("history.length") == entries


def test_a_link_shows_a_colleague_the_same(open_page: OpenPage) -> None:
    page = open_page("/?model=openai/gpt-oss-120b&gpu=h200&gpus=2&input=30000&sequences=64&kv_dtype=fp8")
    page.get_by_text("Share and export").click()
    settled(page)
    offered = page.locator("code").filter(has_text="v=1").first.inner_text()
    colleague = open_page("/?" + urlsplit(offered).query, locale="ja")
    assert headline(colleague) == headline(page)  # the link carries the language too
    assert metrics(colleague) == metrics(page)
    assert address(colleague) == address(page)
    from_the_address_bar = open_page("/?" + urlsplit(page.url).query)
    assert metrics(from_the_address_bar) == metrics(page)


def test_switching_language_keeps_every_number(open_page: OpenPage) -> None:
    page = open_page("/?gpu=b200&input=20000&sequences=123")
    before, query = metrics(page), address(page)
    page.get_by_text("日本語", exact=True).click()
    settled(page)
    assert "同時" in headline(page)
    assert metrics(page) == before
    assert address(page) == query | {"lang": "ja"}
    page.get_by_text("English", exact=True).click()
    settled(page)
    assert address(page) == query


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_a_link_in_another_language_is_one_press_from_ones_own(open_page: OpenPage, *, phone: bool) -> None:
    page = open_page("/?lang=ja&sequences=20", phone=phone)
    assert "収まります" in headline(page)
    english = page.get_by_role("radio", name="English")
    expect(english).to_be_in_viewport()
    english.click()
    settled(page)
    assert "All 20 fit at once" in headline(page)
    assert address(page)["lang"] == "en"


def test_the_browser_language_is_the_first_language(open_page: OpenPage) -> None:
    assert "同時" in headline(open_page("/", locale="ja"))
    assert "fit" in headline(open_page("/?lang=en", locale="ja"))


CONFIG = {
    "model_type": "qwen3",
    "architectures": ["Qwen3ForCausalLM"],
    "num_hidden_layers": 12,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "hidden_size": 1024,
    "vocab_size": 32000,
    "torch_dtype": "bfloat16",
}


def test_paste_a_config(open_page: OpenPage) -> None:
    page = open_page("/")
    page.get_by_role("button", name=re.compile("Paste config")).click()
    box = page.get_by_label("config.json of a model")
    box.fill('{"model_type": "qwen3", "num_hidden_layers": -3}')
    page.get_by_role("button", name="Use this config").click()
    settled(page)
    expect(page.get_by_role("alert").filter(has_text="num_hidden_layers")).to_be_visible()
    box.fill(json.dumps(CONFIG))
    page.get_by_label("Name to show").fill("our model")
    page.get_by_role("button", name="Use this config").click()
    settled(page)
    # 2 x 12 layers x 4 heads x 128 x 2 B x 4,096 tokens
    assert metrics(page)[0] == "96 MiB"
    assert address(page)["model"] == "our model"
    colleague = open_page("/?" + urlsplit(page.url).query)
    assert metrics(colleague) == metrics(page)


def test_nothing_a_config_says_becomes_a_picture_or_a_link(open_page: OpenPage) -> None:
    """The fixture fails the test where a request leaves the machine."""
    page = open_page("/")
    page.get_by_role("button", name=re.compile("Paste config")).click()
    marked = (
        "![x](http://elsewhere.example/x.png) <img src=http://elsewhere.example/y.png> [z](http://elsewhere.example)"
    )
    bare = "WWW.a.example me@a.example http://a.b"
    page.get_by_label("config.json of a model").fill(json.dumps({"model_type": bare, marked: 1}))
    page.get_by_role("button", name="Use this config").click()
    settled(page)
    alert = page.get_by_role("alert").first
    expect(alert).to_be_visible()
    assert alert.locator("img, a").count() == 0
    assert bare in alert.inner_text()  # and can be copied as it is


def test_wrong_tokens_are_told_beside_the_box(open_page: OpenPage) -> None:
    page = open_page("/")
    before = headline(page)
    fill(page, re.compile("^Input tokens"), "a lot")
    expect(page.get_by_role("alert").first).to_be_visible()
    expect(page.get_by_label(re.compile("^Input tokens")).first).to_have_value("a lot")
    assert headline(page) == before


def test_embedded_shows_the_answer_the_chart_and_its_source_only(open_page: OpenPage) -> None:
    page = open_page("/?embed=true&model=google/gemma-3-27b-it&lang=en")
    answer = page.get_by_test_id("stMarkdown").filter(has_text=re.compile(r"\d+ of 50 fit"))
    expect(answer).to_have_count(1)
    expect(answer.locator("p")).to_have_css("font-size", "16px")
    above, below = answer.bounding_box(), page.locator('[role="figure"]').bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] < below["y"]
    # Nothing leads the frame to another page.
    assert page.locator('[data-testid^="stTopNav"], [data-testid^="stSidebarNav"]').count() == 0
    expect(page.locator('[role="figure"]')).to_have_count(1)
    expect(page.get_by_text("google/gemma-3-27b-it").first).to_be_visible()
    expect(page.locator(HEADLINE)).to_have_count(0)
    expect(page.get_by_role("combobox")).to_have_count(0)


def test_on_a_phone_the_answer_comes_before_the_controls(open_page: OpenPage) -> None:
    page = open_page("/", phone=True)
    change = page.get_by_text(re.compile("^Change"))
    expect(change).to_be_visible()
    assert page.get_by_label(re.compile("^Input tokens")).first.is_hidden()
    tops = [
        page.locator(HEADLINE).first,
        page.locator('[role="figure"]').first,
        change,
        page.locator('[role="figure"]').nth(1),
    ]
    positions = [box["y"] for box in (spot.bounding_box() for spot in tops) if box]
    assert positions == sorted(positions)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    change.click()
    fill(page, re.compile("^Input tokens"), "2048")
    assert "3,072 tokens" in headline(page)
    expect(page.get_by_label(re.compile("^Input tokens")).first).to_be_visible()


@OPPOSITES
def test_pictures(open_page: OpenPage, lang: str, phone: bool) -> None:
    """Pictures to look at; the test itself sees to it that nothing is wider than the screen."""
    page = open_page(f"/?lang={lang}", dark=phone, phone=phone)
    screenshot(page, f"sizing-{lang}-{'phone-dark' if phone else 'desktop'}", whole=True)
    assert page.get_by_test_id("stException").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_no_line_ends_inside_a_japanese_word(open_page: OpenPage) -> None:
    """Nor does a phone set what is short in a table on end, or write an open popover's name too dark to read."""
    page = open_page("/?lang=ja", phone=True, dark=True, locale="ja")
    for name, value in (("word-break", "auto-phrase"), ("text-wrap-style", "balance")):
        expect(page.locator(HEADLINE).first).to_have_css(name, value)
    page.get_by_text("表で見る").first.click()
    settled(page)
    cells = page.get_by_test_id("stTable").first.locator("td")
    short = [cell for cell in cells.all() if 0 < len(cell.inner_text()) < 5]
    assert len(short) > 5
    lines = (
        "cell => cell.querySelector('p').getBoundingClientRect().height / parseFloat(getComputedStyle(cell).lineHeight)"
    )
    assert max(cell.evaluate(lines) for cell in short) < 1.5
    opener = page.get_by_test_id("stPopoverButton").last
    opener.click()
    expect(opener).to_have_attribute("aria-expanded", "true")
    page.wait_for_timeout(500)  # it changes slowly
    expect(opener).to_have_css("color", opener.evaluate("named => getComputedStyle(named.parentElement).color"))


def test_who_types_in_a_panel_keeps_the_place(open_page: OpenPage) -> None:
    """A changed setting is named beside its panel, and the next box is one Tab away."""
    page = open_page("/?lang=en")
    page.locator(".st-key-more summary").click()
    box = page.locator(".st-key-headroom input")
    box.fill("0.1")
    box.press("Tab")
    settled(page)
    assert page.evaluate("document.activeElement.closest('.st-key-more') !== null")
    page.locator(".st-key-more summary").click()
    expect(page.get_by_text("Changed: Headroom")).to_be_visible()
