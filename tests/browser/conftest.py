"""Fixtures of the browser tests, and what is shown when one fails."""

from collections.abc import Callable, Generator, Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.harness import DESKTOP, PHONE, WATCHES, Server, Watch, find_browser, screenshot, settled

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chrome or Chromium, started once."""
    with sync_playwright() as playwright:
        found = find_browser(playwright)
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Browser, server: Server) -> Iterator[OpenPage]:
    """``open_page("/compare?lang=ja", phone=True, dark=True, locale="ja")``: a new visitor, who waits for the page.

    ``touch``: on a wide screen that nothing can hover over.

    Each call is another person with a browser of their own. A test fails when a page complained in its console or
    asked any machine but this one for anything.
    """
    pages: list[Page] = []

    def open_page(
        path: str = "/", *, locale: str = "en", phone: bool = False, dark: bool = False, touch: bool = False
    ) -> Page:
        width, height = PHONE if phone else DESKTOP
        context = browser.new_context(
            locale={"en": "en-US", "ja": "ja-JP"}.get(locale, locale),
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            is_mobile=phone or touch,
            has_touch=phone or touch,
            base_url=server.url,
        )
        page = context.new_page()
        WATCHES[page] = watch = Watch(home=server.url)
        pages.append(page)
        watch.attach(page)
        page.goto(path)
        return settled(page)

    yield open_page

    complaints: list[str] = []
    for page in pages:
        page.context.close()
        watch = WATCHES.pop(page)
        complaints += [*watch.complaints, *(f"left the machine: {url}" for url in watch.abroad)]
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """After a failure: what the server printed, and where the pictures of the open pages lie."""
    report = yield
    if report.failed:
        server = getattr(item, "funcargs", {}).get("server")
        if isinstance(server, Server):
            report.sections.append(("the app's log", server.log.read_text(errors="replace")[-4000:]))
        pictures = [str(screenshot(page, f"failed-{item.name}-{n}")) for n, page in enumerate(WATCHES)]
        if pictures:
            report.sections.append(("pictures", "\n".join(pictures)))
    return report
