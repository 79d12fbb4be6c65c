"""The Measured live page in a real browser: the recorded run at every size, and a short run of a tiny model."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from kvviz.live import ENABLE, bundled
from kvviz.text import LANGUAGES, Lang
from kvviz.text import live as said
from kvviz.text import live_page as text
from tests.browser.conftest import OpenPage
from tests.browser.harness import OPPOSITES, Server, screenshot, serve, settled
from tests.hub.standin import StandIn

MODEL = """{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 64, "hidden_size": 32,
"intermediate_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
"max_position_embeddings": 4096, "torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": 2}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, hub: StandIn) -> Iterator[Server]:
    """An app whose operator lets a tiny model be run."""
    folder = tmp_path_factory.mktemp("live")
    (folder / "tiny").mkdir()
    (folder / "tiny" / "config.json").write_text(MODEL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KVVIZ_LIVE_MODEL", str(folder / "tiny"))
        patch.setenv("KVVIZ_LIVE_DEVICE", "cpu")
        patch.setenv("KVVIZ_LIVE_MAX_TOKENS", "200000")
        patch.setenv("KVVIZ_LIVE_ABANDONED_S", "8")
        with serve(Path(folder) / "app.log") as served:
            yield served


@OPPOSITES
def test_opens_with_the_recorded_run(open_page: OpenPage, lang: Lang, phone: bool) -> None:
    page = open_page(f"/live?lang={lang}", phone=phone, dark=phone, locale=lang)
    expect(page.get_by_role("heading", name=text.EQUAL(lang, steps="300"))).to_be_visible()
    expect(page.get_by_text(text.RECORDED(lang, day=bundled().recorded)).first).to_be_visible()
    width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0
    screenshot(page, f"live-{lang}-{'phone' if phone else 'desktop'}", whole=True)


def test_where_the_cards_wrap_none_covers_the_chart(open_page: OpenPage) -> None:
    page = open_page("/live")
    page.set_viewport_size({"width": 1024, "height": 768})
    settled(page)
    cards = [card.bounding_box() for card in page.get_by_test_id("stMetric").all()]
    tops = [card["y"] for card in cards if card]
    assert len(set(tops)) == 2  # else there is nothing to see here
    chart = page.get_by_test_id("stPlotlyChart").first.bounding_box()
    assert chart
    assert max(tops) - min(tops) < 200
    assert max(card["y"] + card["height"] for card in cards if card) < chart["y"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_short_run(open_page: OpenPage, lang: Lang) -> None:
    page = open_page(f"/live?lang={lang}", locale=lang)
    if find_spec("torch") is None:
        expect(page.get_by_text(ENABLE)).to_be_visible()
        return
    _start(page, "12", lang)
    assert "live_new_tokens=12&" in page.url
    expect(page.get_by_role("heading", name=text.EQUAL(lang, steps="12"))).to_be_visible(timeout=120_000)
    expect(page.get_by_text(said.RANDOM_NO_WEIGHTS(lang, model="tiny"))).to_be_visible()
    expect(page.get_by_role("button", name=text.START(lang))).to_be_visible()
    with page.expect_download() as saving:
        page.get_by_role("button", name=text.SAVE_CSV(lang)).click()
    rows = saving.value.path().read_text().splitlines()
    assert len(rows) == 1 + 12
    assert {row.split(",")[4] for row in rows[1:]} == {"0"}
    screenshot(settled(page), f"live-run-{lang}", whole=True)


def test_who_closes_the_browser_frees_the_line(open_page: OpenPage) -> None:
    if find_spec("torch") is None:
        return
    gone = open_page("/live")
    _start(gone, "199,000", "en")
    expect(gone.get_by_text("of 199,000 tokens")).to_be_visible(timeout=60_000)
    page = open_page("/live")
    _start(page, "5", "en")
    expect(page.get_by_text(text.STATES["waiting"]("en", position=1))).to_be_visible()
    gone.close()
    expect(page.get_by_role("heading", name=text.EQUAL("en", steps="5"))).to_be_visible(timeout=60_000)


def _start(page: Page, tokens: str, lang: Lang) -> None:
    box = page.get_by_label(text.LABELS["new_tokens"](lang), exact=True)
    box.fill(tokens)
    box.press("Enter")
    settled(page).get_by_role("button", name=text.START(lang)).click()
