"""The Compare page as people use it: by link, from the Sizing page, on a phone."""

import csv
import io
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from kvviz.links import pack_scenarios, unpack_scenarios
from kvviz.scenario import Scenario
from tests.browser.conftest import OpenPage
from tests.browser.harness import go_to, settled
from tests.browser.test_sizing import headline

SET = pack_scenarios(
    [
        Scenario(model="Qwen/Qwen-7B-Chat", gpu="a100-80gb"),
        Scenario(model="Qwen/Qwen2.5-7B-Instruct", gpu="a100-80gb"),
        Scenario(model="deepseek-ai/DeepSeek-R1", gpu="h200", gpus=8),
    ]
)


def tables(page: Page) -> list[str]:
    return page.get_by_test_id("stTable").all_inner_texts()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()
    settled(page)


def test_the_address_says_everything(open_page: OpenPage) -> None:
    page = open_page("/compare")
    press(page, "Under all five engines")
    packed = parse_qs(urlsplit(page.url).query)["set"][0]
    scenarios, _ = unpack_scenarios(packed)
    assert len(scenarios) == 5
    colleague = open_page(urlsplit(page.url).path + "?" + urlsplit(page.url).query)
    assert tables(colleague) == tables(page)
    assert colleague.url == page.url


def test_what_is_saved_is_what_is_shown(open_page: OpenPage) -> None:
    page = open_page(f"/compare?lang=en&set={SET}&models=openai/gpt-oss-120b&devices=h200&counts=2")
    page.get_by_text("Share and export").click()
    beside = cells(page, 1)
    matrix = [cell for cell in cells(page, 0) if cell[0] in "✓◐✗–"]  # a file has models in full
    assert len(matrix) == 2
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.reader(io.StringIO(saved.value.path().read_text(encoding="utf-8-sig"), newline="")))
    written = {cell.lstrip("'").replace(",", "") for row in rows for cell in row}
    assert {cell.replace(",", "") for cell in beside + matrix} <= written
    with page.expect_download() as saved:
        page.get_by_role("button", name="Markdown").click()
    assert saved.value.suggested_filename == "kvviz-compare.md"
    report = saved.value.path().read_text(encoding="utf-8").replace("\\", "")
    assert all(cell in report for cell in beside + matrix)


def cells(page: Page, number: int) -> list[str]:
    """Those of a table, spaces as in a file."""
    found = page.get_by_test_id("stTable").nth(number).locator("td").all_inner_texts()
    return [" ".join(one.split()) for one in found]


def test_a_cell_opens_its_scenario_on_the_sizing_page(open_page: OpenPage) -> None:
    page = open_page("/compare?sequences=20&models=openai/gpt-oss-120b&devices=h200&counts=2")
    cell = page.get_by_test_id("stTable").first.get_by_role("link").nth(1)
    fit = cell.inner_text().removeprefix("✓ ")
    page.goto(cell.get_attribute("href") or "")
    settled(page)
    assert urlsplit(page.url).path == "/"
    assert "All 20 fit" in headline(page)
    assert page.get_by_text(fit, exact=True).first.is_visible()


def test_one_is_edited_and_put_back(open_page: OpenPage) -> None:
    page = open_page(f"/compare?set={SET}")
    press(page, "Edit or remove")
    press(page, "Edit 3")
    assert "8 × H200" in page.get_by_test_id("stMain").inner_text().replace("\u00a0", " ")
    box = page.get_by_role("textbox", name="Input tokens")
    box.fill("100000")
    box.press("Enter")
    settled(page)
    go_to(page, "Size", "Compare")
    press(page, "Put the Sizing page's scenario in place of 3")
    page.wait_for_url(lambda url: inputs_of(url) == [3072, 3072, 100_000], timeout=10_000)


def inputs_of(url: str) -> list[int]:
    """Of the scenarios that an address holds."""
    scenarios, _ = unpack_scenarios(parse_qs(urlsplit(url).query)["set"][0])
    return [one.input for one in scenarios]


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_in_japanese(open_page: OpenPage, dark: bool) -> None:
    page = open_page(f"/compare?lang=ja&set={SET}", locale="ja", phone=True, dark=dark)
    expect(page.get_by_text("9.143 倍")).to_be_visible()
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollWidth <= main.clientWidth")
    page.get_by_role("tab", name="全モデル").click()
    settled(page)
    expect(page.locator(".js-plotly-plot")).to_be_visible()
