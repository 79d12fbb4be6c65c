"""Charts where nothing hovers: Plotly's button stands on them all the time, and covers no word."""

import pytest

from tests.browser.conftest import OpenPage
from tests.browser.harness import settled

COVERED = """() => {
    const box = one => one.getBoundingClientRect();
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return [...document.querySelectorAll(".js-plotly-plot")].map(chart => {
        const bar = chart.querySelector(".modebar-group");
        const texts = [...chart.querySelectorAll("svg text")].filter(text => text.textContent.trim());
        return [Boolean(bar), texts.filter(text => bar && meet(box(text), box(bar))).map(text => text.textContent)];
    });
}"""
"""Of each chart, whether it has the button, and what that covers."""


@pytest.mark.parametrize(
    "path",
    [
        "/?lang=en",
        "/?lang=ja&model=deepseek-ai/DeepSeek-R1",
        "/?lang=en&gpu=h200&sequences=90",
        "/?lang=ja&gpu=h200&gpus=2",
        "/compare",
        "/prefixes",
        "/live",
        "/learn",
    ],
)
def test_the_button_covers_no_word(open_page: OpenPage, path: str) -> None:
    page = open_page(path, touch=True)
    assert page.evaluate("matchMedia('(hover: none)').matches")
    for width in (1280, 910):
        page.set_viewport_size({"width": width, "height": 720})
        settled(page)
        page.wait_for_selector(".js-plotly-plot .modebar-group")
        charts = page.evaluate(COVERED)
        assert all(has for has, _ in charts)
        assert [covered for _, covered in charts if covered] == []
