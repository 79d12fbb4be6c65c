"""The race in a real browser: its memories are those that `kvviz simulate --steps` prints, it needs no server to play
and no mouse, and it can be read at every size."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Page, expect

from kvviz.allocation.workload import load_trace
from kvviz.race import from_query, race, rows, taken
from kvviz.text import LANGUAGES
from kvviz.text import blocks as text
from tests.browser.conftest import OpenPage
from tests.browser.harness import OPPOSITES, ROOT, screenshot, settled

BIG = "/blocks?trace=sharegpt&first=300&pool=32768"
"""2,048 blocks, and more than 300 steps."""

FOCUSED = """() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element?.className ?? "";
}"""


def state(page: Page) -> Any:  # noqa: ANN401 - JSON
    """What the player shows, as it says itself."""
    return page.locator(".race").evaluate("race => race.state()")


def simulated(*flags: str) -> Any:  # noqa: ANN401 - JSON
    """What the command line prints."""
    command = [sys.executable, "-m", "kvviz", "simulate", *flags, "--steps", "--json"]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def few_of_sharegpt(folder: Path) -> str:
    """The first 60 requests as a file for the command line."""
    path = folder / "few.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["prompt_tokens", "output_tokens"])
        rows.writerows((r.prompt_tokens, r.output_tokens) for r in load_trace("sharegpt").requests[:60])
    return str(path)


TEACHING = ("--trace", "teaching", "--pool-tokens", "64")
PAGED = ("--allocator", "paged", "--block-tokens")
CASES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[int, int, int]]] = {
    "teaching": (
        "",
        (*TEACHING, "--allocator", "contiguous", "--place", "firstfit", "--max-tokens", "20"),
        (*TEACHING, *PAGED, "4"),
        (0, 3, 7),
    ),
    "buddy": (
        "&reserve=pow2&place=buddy",
        (*TEACHING, "--allocator", "contiguous", "--reserve", "pow2", "--max-tokens", "20"),
        (*TEACHING, *PAGED, "4"),
        (1, 4, 6),
    ),
    "hybrid": (
        "&view=hybrid&windows=full,4,6",
        (*TEACHING, *PAGED, "4", "--windows", "full,full,full"),
        (*TEACHING, *PAGED, "4", "--windows", "full,4,6"),
        (2, 5, 9),
    ),
    "sharegpt": (
        "&trace=sharegpt&first=60&pool=6144&place=firstfit",
        ("--pool-tokens", "6144", "--allocator", "contiguous", "--place", "firstfit", "--max-tokens", "2048"),
        ("--pool-tokens", "6144", *PAGED, "16"),
        (7, 150, 400),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_memories_are_those_of_the_command_line(open_page: OpenPage, case: str, tmp_path: Path) -> None:
    query, *flags, steps = CASES[case]
    trace = ("--trace", few_of_sharegpt(tmp_path)) if case == "sharegpt" else ()
    printed = [simulated(*side, *trace) for side in flags]
    page = open_page(f"/blocks?lang=en{query}")
    fed = page.locator(".race").evaluate("race => race.player.data.lanes.map((lane) => lane.events)")
    for lane, side in zip(fed, printed, strict=True):
        assert lane == side["events"][: len(lane)]
    settings = from_query(dict(parse_qsl(query)))[0]
    raced = race(settings, taken(settings, load_trace(settings.trace).requests))
    for step in (*steps, steps[1]):  # and back again
        page.locator(".scrub").fill(str(step))
        shown = state(page)
        assert shown["step"] == step
        for lane, side in zip(shown["lanes"], printed, strict=True):
            row = next(row for row in side["per_step"] if row["step"] == step)
            assert lane["row"] == row
            served = sum(len(row["finished"]) for row in side["per_step"] if row["step"] <= step)
            assert lane["served"] == served
        # The percents on the board are those of the table.
        told = rows(raced, "en")[step] if case != "sharegpt" else {}
        for place, side in enumerate(raced.lanes):
            written = page.locator(".lane").nth(place).locator(".figures .value").all_inner_texts()
            if told:
                said = str(told[text.LANES[side.name].en]).partition("Used ")[2]
                assert re.findall(r"\d+%", said) == written
            assert sum(int(percent.removesuffix("%")) for percent in written) == 100
    if case == "sharegpt":  # every row of a long block table can be reached
        reached = page.locator(".body tr td:first-child").all_inner_texts()
        assert reached == [str(n) for n in range(2048 // 16)]
        assert page.locator(".rows").evaluate("rows => rows.scrollHeight > rows.clientHeight && rows.tabIndex === 0")


def test_it_plays_without_a_server(open_page: OpenPage) -> None:
    page = open_page(BIG)
    sent: list[int] = []
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(len(frame))))
    page.reload()
    settled(page)
    assert max(received) < 150_000
    sent.clear()
    page.locator(".speed").select_option("60")
    page.locator(".play").click()
    page.wait_for_timeout(2_000)
    playing = state(page)
    assert sent == []
    assert playing["step"] > 60  # two seconds of sixty a second, on a busy machine
    page.locator(".play").click()
    page.wait_for_timeout(600)
    settled(page)
    rested = state(page)["step"]
    assert rested >= playing["step"]
    assert f"step={rested}" in page.url
    page.goto(page.url)
    settled(page)
    assert state(page)["step"] == rested


FRAMES = """() => new Promise((resolve) => {
    const begun = performance.now();
    let frames = 0;
    const count = (now) => {
        frames += 1;
        if (now - begun < 2500) requestAnimationFrame(count);
        else resolve((1000 * frames) / (now - begun));
    };
    requestAnimationFrame(count);
})"""


def test_playing_costs_no_frames(open_page: OpenPage) -> None:
    page = open_page(BIG)
    page.locator(".speed").select_option("60")
    for _ in range(5):  # whatever else this machine does comes and goes
        idle = page.evaluate(FRAMES)
        page.locator(".play").click()
        playing = page.evaluate(FRAMES)
        page.locator(".play").click()
        if playing >= 0.9 * min(idle, 60.0):
            return
    raise AssertionError(f"{playing:.0f} frames a second while it plays, {idle:.0f} before")


def test_it_plays_to_the_end_and_again(open_page: OpenPage) -> None:
    page = open_page("/blocks?lang=en")
    page.locator(".speed").select_option("10")
    page.locator(".play").click()
    expect(page.locator(".play")).to_have_text("Pause")
    expect(page.locator(".play")).to_have_text("Play again", timeout=10_000)
    assert page.locator(".score").inner_text() == "6 : 6"
    assert state(page)["step"] == 10
    page.locator(".play").click()
    expect(page.locator(".play")).to_have_text("Pause")
    page.locator(".scrub").fill("7")
    assert page.locator(".score").inner_text() == "3 : 6"
    assert page.locator(".facts").all_inner_texts() == [
        "running 3 · waiting 0",
        "running 1 (1 finishing) · waiting 0 · preemptions 1",
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_keyboard_is_enough(open_page: OpenPage, lang: str) -> None:
    page = open_page(f"/blocks?lang={lang}", locale=lang)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED) == "play":
            break
    assert page.evaluate(FOCUSED) == "play"
    page.keyboard.press("Enter")
    expect(page.locator(".play")).to_have_text(getattr(text.PLAYER["pause"], lang))
    page.keyboard.press("Enter")
    seen = []
    for _ in range(3):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(FOCUSED))
    assert seen == ["back", "forward", "scrub"]
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert state(page)["step"] == 3
    # The two memories: arrows go from block to block, Enter chooses whose it is.
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    hint = page.locator(".hint")
    assert hint.inner_text().startswith(getattr(text.PLAYER["cell"], lang).split("{")[0])
    before = hint.inner_text()
    page.keyboard.press("ArrowDown")
    assert hint.inner_text() != before
    page.keyboard.press("Enter")
    assert page.locator("select.request").input_value() != "0"
    # What is said to those who do not see it.
    settled(page)
    said = page.locator(".now")
    assert said.get_attribute("aria-live") == "polite"
    page.locator(".forward").focus()
    page.keyboard.press("Enter")
    page.wait_for_timeout(600)
    assert getattr(text.LANES["paged"], lang) in said.inner_text()
    assert "4" in said.inner_text()
    settled(page)
    assert "step=4" in page.url
    assert page.evaluate(FOCUSED) == "forward"  # a run of the page takes nobody's place away


def test_reduced_motion_is_honoured(open_page: OpenPage) -> None:
    page = open_page("/blocks?lang=en")
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    settled(page)
    assert page.locator(".calm").inner_text()
    page.locator(".speed").select_option("60")
    page.locator(".play").click()
    page.wait_for_timeout(1_500)
    assert 1 <= state(page)["step"] <= 2


def test_a_block_is_pointed_at(open_page: OpenPage) -> None:
    page = open_page("/blocks?lang=en&step=3")
    paged = page.locator("canvas").nth(1)
    box = paged.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.1)  # the third of four, first row
    assert page.locator(".hint").inner_text() == (
        "Block 2: request 6: 2 used, 1 reserved, 1 never written (logical block 2)."
    )
    page.mouse.down()
    page.mouse.up()
    rows = page.locator(".body tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["0", "–", "block 4 (4/4)"],
        ["1", "–", "block 3 (4/4)"],
        ["2", "–", "block 2 (2/4)"],
    ]
    assert state(page)["lanes"][1]["tables"]["5"] == [[4, 3, 2]]


@OPPOSITES
def test_it_fits_the_screen(open_page: OpenPage, lang: str, phone: bool) -> None:
    page = open_page(f"/blocks?lang={lang}&step=7", locale=lang, phone=phone, dark=phone)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for canvas in page.locator("canvas").all():
        box = canvas.bounding_box()
        assert box is not None
        assert box["width"] > 250
    rows = page.locator(".rows")
    assert rows.evaluate("rows => rows.scrollWidth <= rows.clientWidth")
    assert all(rows.locator("tr").evaluate_all("rows => rows.map(row => row.offsetHeight < 40)"))  # a line each
    screenshot(page, f"blocks-{lang}-{'phone-dark' if phone else 'desktop'}-7", whole=True)


def test_a_panel_stays_open_when_the_race_changes(open_page: OpenPage) -> None:
    page = open_page("/blocks?lang=en")
    page.locator(".st-key-blocks_settings summary").click()
    settled(page)
    page.locator(".st-key-blocks_trace input").click()
    page.locator(".st-key-blocks_trace input").fill("own file")
    page.get_by_role("option", name="My own file").click()
    settled(page)
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": b"prompt_tokens,output_tokens\n7,6\n10,3\n"}
    page.locator(".st-key-blocks_file input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    settled(page)
    assert page.locator("select.request option").all_inner_texts() == ["1", "2"]
    page.locator(".st-key-blocks_pool input").fill("12")
    page.locator(".st-key-blocks_pool input").press("Enter")
    settled(page)
    assert page.get_by_test_id("stAlert").count() == 1
    assert page.locator(".st-key-blocks_pool input").input_value() == "12"


def test_a_long_simulation_is_cancelled(open_page: OpenPage) -> None:
    page = open_page("/blocks?lang=en&trace=sharegpt")
    page.locator(".st-key-blocks_research summary").click()
    settled(page)
    page.locator(".st-key-blocks_run button").click()
    expect(page.get_by_test_id("stProgress")).to_contain_text("%")
    page.locator(".st-key-blocks_cancel button").click()
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=20_000)
    settled(page)
    assert page.get_by_role("figure").count() == 0
