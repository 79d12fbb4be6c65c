"""A dispute played through as two people would, by link, in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.harness import screenshot, settled


def path(page: Page) -> str:
    """The page's address without its host, as a colleague would paste it."""
    return page.url[page.url.index("/review") :]


def offered(page: Page, beginning: str) -> str:
    """The link that the page offers, from its path on."""
    code = page.locator("code").filter(has_text=beginning).first.inner_text()
    host = re.match("https?://[^/]+", page.url)
    assert host is not None
    assert code.startswith(host[0] + "/review?")
    return code.removeprefix(host[0])


def steps(page: Page) -> list[list[str]]:
    """The rows from A to B."""
    table = page.get_by_role("table").filter(has_text=re.compile("Step|変更点"))
    return [row.get_by_role("cell").all_inner_texts() for row in table.get_by_role("row").all()[1:]]


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=re.compile(label)).click()
    page.get_by_role("option", name=option, exact=True).click()
    settled(page)


def test_a_shares_b_challenges_and_a_sees_the_same(open_page: OpenPage) -> None:
    # A sizes, and shares the review link.
    a = open_page("/?lang=en&sequences=50")
    a.get_by_text("Share and export").click()
    settled(a)
    review = offered(a, "/review?")

    # B opens it, reads what it rests on, and challenges two settings.
    b = open_page(review)
    expect(b.get_by_role("heading", name=re.compile("of 50 fit at once"))).to_be_visible()
    expect(b.get_by_text("What it rests on")).to_be_visible()
    expect(b.get_by_role("combobox")).to_have_count(0)
    screenshot(b, "review", whole=True)
    b.get_by_role("button", name="Challenge this").click()
    settled(b)
    expect(b.get_by_text("B is still the same as A")).to_be_visible()
    choose(b, "KV cache type", "fp8")
    output = b.get_by_role("textbox", name="Output tokens")
    output.fill("8k")
    output.press("Enter")
    settled(b)
    rows = steps(b)
    assert [row[0] for row in rows] == ["A", "KV cache type: auto → fp8", "Output tokens: 1,024 → 8,192", "B"]
    assert sum(int(row[-1].replace("−", "-").replace(",", "")) for row in rows[1:-1]) == int(
        rows[-1][-1].replace("−", "-").replace(",", "")
    )
    screenshot(b, "dispute", whole=True)
    b.get_by_text("Link to this dispute").click()
    answer = offered(b, "/review?v=1&set=")
    assert path(b).split("set=")[1] == answer.split("set=")[1]  # the address says the same

    # A opens B's link and sees the same; so does whoever reloads.
    back = open_page(answer)
    assert steps(back) == rows
    expect(back.get_by_role("textbox", name="Output tokens")).to_have_value("8,192")
    back.reload()
    settled(back)
    assert steps(back) == rows
    back.get_by_role("button", name="Back to A").click()
    settled(back)
    expect(back.get_by_role("heading", name=re.compile("of 50 fit at once"))).to_be_visible()
    back.get_by_role("link", name="Open in Sizing").click()
    settled(back)
    expect(back.get_by_role("textbox", name="Output tokens")).to_have_value("1,024")


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_somebody_elses_number_travels_in_the_link(open_page: OpenPage, lang: str) -> None:
    asked = "model=meta-llama/Llama-3.1-70B-Instruct&input=31744&output=1024&sequences=1&gpu=none"
    page = open_page(f"/review?{asked}&lang={lang}", phone=True, dark=lang == "ja")
    page.get_by_text({"en": "Where does their number", "ja": "その数値はどこから"}[lang]).click()
    box = page.get_by_role("textbox", name=re.compile({"en": "A number from", "ja": "の数値"}[lang]))
    box.fill("20–40 GB")
    box.press("Enter")
    settled(page)
    expect(page.get_by_text("FP32").first).to_be_visible()
    expect(page.get_by_text("MHA").first).to_be_visible()
    screenshot(page, f"number-{lang}-phone", whole=True)
    colleague = open_page(path(page), phone=True)
    expect(colleague.get_by_text("FP32").first).to_be_visible()
    expect(colleague.get_by_role("textbox", name=re.compile("number|数値"))).to_have_value("20–40 GB")
