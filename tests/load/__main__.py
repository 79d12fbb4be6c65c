"""Drives kvviz and a bare Streamlit app drawn alike with many visitors at once, by turns.

    python -m tests.load                  fifty visitors, about two minutes
    python -m tests.load --visitors 10    fewer
    python -m tests.load --soak           visitors who come and go for two minutes: does memory stay flat?
    python -m tests.load --soak 30        the same for half an hour

Prints what it found with the goals beside it. Fails for errors and for memory that grows, not for milliseconds.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.browser.harness import STREAMLIT_RUN, serve
from tests.load.drive import FORGETS_S, MIB, MOST_GROWTH, Measured, both_apps, late, measure, soak
from tests.load.visitor import PLACES

CROWD = 50
FEW = 12


def main() -> int:
    """1 where a run failed or memory grew."""
    parser = argparse.ArgumentParser(prog="python -m tests.load", description="Visitors of kvviz and of a bare app.")
    parser.add_argument("--visitors", type=int, help=f"at once: {CROWD}, in a soak {FEW}")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10, help="of a round on one app")
    parser.add_argument("--soak", type=float, nargs="?", const=2.0, metavar="MINUTES", help="kvviz alone; 2 by default")
    asked = parser.parse_args()
    if asked.soak:
        return _soak(asked.visitors or FEW, asked.soak)
    visitors = asked.visitors or CROWD
    with both_apps() as both:
        found = asyncio.run(measure(both, visitors=visitors, rounds=asked.rounds, round_s=asked.seconds))
    return _told(found, visitors)


def _told(found: Sequence[Measured], visitors: int) -> int:
    ours, bare = found
    print(f"{visitors} visitors, each changing a setting every two seconds; milliseconds, median / 95 %\n")
    print("| page | runs | kvviz | bare Streamlit | ratio of medians | of 95 % | bytes of a run, at most |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name in ("", *PLACES):
        times, floor = ours.tally.milliseconds(name), bare.tally.milliseconds(name)
        if len(times) < 2 or len(floor) < 2:
            continue
        cells = [
            f"{len(times)}",
            f"{statistics.median(times):.0f} / {late(times):.0f}",
            f"{statistics.median(floor):.0f} / {late(floor):.0f}",
            f"{statistics.median(times) / statistics.median(floor):.2f}",
            f"{late(times) / late(floor):.2f}",
            f"{ours.tally.most_bytes(name):,}" if name else "",
        ]
        print(f"| {name or 'all'} | {' | '.join(cells)} |")
    took = [one.processor_ms for one in found]
    print(f"\nProcessor time a run: {took[0]:.1f} ms, bare {took[1]:.1f}, ratio {took[0] / took[1]:.2f}")
    each = [one.session_bytes / MIB for one in found]
    print(f"Memory a visitor: {each[0]:.2f} MiB, bare {each[1]:.2f}, difference {each[0] - each[1]:.2f} (goal ≤ 3)")
    return _faults([fault for one in found for fault in one.tally.faults])


def _soak(visitors: int, minutes: float) -> int:
    flags = ("--server.disconnectedSessionTTL", str(FORGETS_S))
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder, "log"), (*STREAMLIT_RUN, *flags)) as server:
        found = asyncio.run(soak(server, visitors=visitors, seconds=60 * minutes))
    held = [count / MIB for count in found.memory]
    print(f"{found.came:,} visitors, {len(found.tally.milliseconds()):,} runs in {minutes:g} minutes")
    print("MiB held: " + ", ".join(f"{held[len(held) * tenth // 10]:.0f}" for tenth in range(10)) + f", {held[-1]:.0f}")
    print(f"growth from the second fifth of the time to the last: {found.growth:+.1%} (goal ≤ {MOST_GROWTH:.0%})")
    return _faults(found.tally.faults) or int(found.growth > MOST_GROWTH)


def _faults(faults: Sequence[str]) -> int:
    print(f"{len(faults)} errors (goal 0)")
    for fault in faults[:20]:
        print(f"  {fault}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
