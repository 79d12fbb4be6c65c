"""Sends kvviz what it was not made for, and says where it did what it must not.

    python -m tests.fuzz                      as many as a release is held to
    python -m tests.fuzz --seed 7 --logs 100  other cases, fewer logs
    python -m tests.fuzz --again logs:0:915   one case, with its traceback

A case is a function of its kind, the seed and its number. What was found and mended stands in
``test_fuzz.py``, where a small slice of the run is part of the tests.
"""

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable

from tests.fuzz import configs, logs, queries, traces
from tests.fuzz.watch import LIMIT_S, Watch

Case = Callable[[random.Random, Watch], str]
KINDS: dict[str, tuple[Case, int]] = {
    "configs": (configs.one, 20_000),
    "queries": (queries.one, 20_000),
    "logs": (logs.one, 5_000),
    "traces": (traces.one, 2_000),
}
"""By name: one case, and how many of them."""
SHOWN = 20
"""Faults that are told one by one."""


def again(kind: str, seed: str, number: int, watch: Watch) -> str:
    """The case of this number, as it was."""
    return KINDS[kind][0](random.Random(f"{seed}:{number}"), watch)


def run(kind: str, seed: str, count: int) -> list[str]:
    """``count`` cases; what was wrong, one line each."""
    watch, outcomes, faults, begun = Watch(), Counter[str](), [], time.perf_counter()
    for number in range(count):
        try:
            outcomes[again(kind, seed, number, watch)] += 1
        except Exception as error:  # whatever it is, it is what is looked for
            where = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {str(error)[:160]} ({where.filename.rpartition('/')[2]}:{where.lineno})"
            faults.append(f"--again {kind}:{seed}:{number}  {said}")
    told = ", ".join(f"{n:,} {outcome}" for outcome, n in outcomes.most_common())
    took = time.perf_counter() - begun
    print(f"{kind}: {count:,} in {took:.0f} s ({told}); slowest {1000 * watch.slowest_s:.0f} ms; {len(faults)} faults")
    return faults


def main() -> int:
    """1 where anything was wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=f"At most {1000 * LIMIT_S:.0f} ms a case."
    )
    parser.add_argument("--seed", default="0")
    parser.add_argument("--again", metavar="KIND:SEED:NUMBER")
    for kind, (_, count) in KINDS.items():
        parser.add_argument(f"--{kind}", type=int, default=count, metavar="N", help=f"{count:,} by default")
    options = parser.parse_args()
    if options.again:
        kind, seed, number = options.again.split(":")
        print(again(kind, seed, int(number), Watch()))
        return 0
    faults = [fault for kind in KINDS for fault in run(kind, options.seed, getattr(options, kind))]
    for fault in faults[:SHOWN]:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
