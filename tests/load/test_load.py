"""A short slice of ``python -m tests.load``: nothing fails, memory comes back, and no picture is large.

No milliseconds: they say too much about the machine.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.twin import counted, twin
from tests.browser.harness import STREAMLIT_RUN, Server, serve
from tests.load.drive import FORGETS_S, MIB, MOST_GROWTH, Tally, act, crowd, memory_bytes, sessions, soak
from tests.load.visitor import PLACES, Visitor, visiting

pytestmark = pytest.mark.load

MOST_PICTURE_BYTES = 60_000
"""Of all charts and drawings that one run of a page sends."""
MOST_RUN_BYTES = 100_000
"""Of all that one run of a page sends."""


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """kvviz, which forgets at once who has left."""
    flags = ("--server.disconnectedSessionTTL", "1")
    with serve(tmp_path_factory.mktemp("load") / "log", (*STREAMLIT_RUN, *flags)) as server:
        yield server


@pytest.mark.parametrize("name", PLACES)
def test_a_bare_page_is_drawn_alike(name: str) -> None:
    assert counted(twin(name), name)["plotly_chart"] >= (0 if name == "blocks" else 1)


@pytest.mark.parametrize("name", PLACES)
def test_what_a_change_sends_is_small(quick: Server, name: str) -> None:
    async def changes() -> Visitor:
        async with visiting(quick.url, PLACES[name]) as visitor:
            for _ in range(2):
                ran = await visitor.change()
                assert ran.picture_bytes <= MOST_PICTURE_BYTES
                assert ran.received_bytes <= MOST_RUN_BYTES
                assert ran.received_bytes > 1_000, "what was sent was not counted"
            return visitor

    asyncio.run(changes())


def test_the_first_visitors_of_a_server_may_come_at_once(tmp_path: Path) -> None:
    async def come(server: Server, name: str) -> None:
        async with visiting(server.url, PLACES[name]) as visitor:
            await visitor.change()

    async def together(server: Server) -> None:
        await asyncio.gather(*(come(server, name) for name in (*PLACES, *PLACES)))

    with serve(tmp_path / "log") as server:
        asyncio.run(together(server))


def test_a_crowd_meets_no_error_and_leaves_nothing_behind(quick: Server) -> None:
    async def crowds() -> tuple[Tally, list[int], list[int]]:
        tally, here, held = Tally(), [], []
        for _ in range(3):
            async with contextlib.AsyncExitStack() as stack:
                room = await crowd(quick, 4, stack, tally)
                here.append(sessions(quick))
                await act(room, tally, seconds=1, thinks_s=0.4)
            await asyncio.sleep(1.5)
            here.append(sessions(quick))
            held.append(memory_bytes(quick))
        return tally, here, held

    tally, here, held = asyncio.run(crowds())
    assert not tally.faults
    assert all(tally.runs.values()), "somewhere nobody changed anything"
    assert here == [4, 0] * 3
    # The first crowds fill caches, which are bounded.
    assert held[-1] - held[-2] < 8 * MIB


def test_memory_is_flat_over_two_minutes_of_arrivals_and_departures(tmp_path: Path) -> None:
    """``python -m tests.load --soak`` with few visitors: the longest test, because caches fill for most of a minute."""
    flags = ("--server.disconnectedSessionTTL", str(FORGETS_S))
    with serve(tmp_path / "log", (*STREAMLIT_RUN, *flags)) as server:
        found = asyncio.run(soak(server, visitors=4, seconds=120))
    assert not found.tally.faults
    assert found.came > 40
    assert found.growth <= MOST_GROWTH


def test_a_page_that_fails_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.py"
    page.write_text("import streamlit as st\nst.text_input('a', key='input')\nst.selectbox('b', 'c', key='kv_dtype')\n")
    app = tmp_path / "app.py"
    app.write_text(f"import streamlit as st\napp = st.App({str(page)!r})\n")
    command = tuple(str(app) if part == "app.py" else part for part in STREAMLIT_RUN)
    with serve(tmp_path / "log", command) as server:
        for script, fault in (("", ""), ("1 / 0\n", "ZeroDivisionError")):
            page.write_text(page.read_text() + script)
            tally = Tally()

            async def once(tally: Tally = tally) -> None:
                async with contextlib.AsyncExitStack() as stack:
                    await crowd(server, 1, stack, tally)

            asyncio.run(once())
            assert [fault in said for said in tally.faults] == ([True] if fault else [])
