"""How long the core takes: reading every bundled config, one sizing in this process and as a process."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from kvviz import catalogue
from kvviz.core.architecture import parse_config, read_config
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import size


def milliseconds(work: Callable[[], object], *, rounds: int) -> float:
    """Median of ``rounds`` runs."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


def read_all() -> None:
    """Every bundled config from disk, nothing remembered."""
    for path in catalogue._files().values():
        read_config(parse_config(path.read_bytes()))


def process(*arguments: str, bytecode: str) -> Callable[[], object]:
    """A Python process that does nothing else and keeps its bytecode in ``bytecode``; empty: it compiles each time."""
    keep = {"PYTHONPYCACHEPREFIX": bytecode or os.devnull, "PYTHONDONTWRITEBYTECODE": "" if bytecode else "1"}
    command = [sys.executable, *arguments]
    return lambda: subprocess.run(command, check=True, capture_output=True, env={**os.environ, **keep})


def main() -> None:
    """Print one line a measurement."""
    resolved = resolve(Scenario())
    other = resolve(Scenario(model="google/gemma-3-27b-it", input=130_048))
    lengths = iter(range(1, 10**9))

    def warm() -> object:
        return resolved.size()

    def another_length() -> object:
        scenario = other.scenario.with_changes(input=next(lengths))
        return size(other.architecture, scenario, weights=other.weights)

    def whole() -> object:
        again = resolve(Scenario())
        return size(again.architecture, again.scenario, weights=again.weights)

    models = len(catalogue.models())
    command = ("-m", "kvviz", "size", Scenario().model)
    with tempfile.TemporaryDirectory() as folder:
        started = milliseconds(process(*command, bytecode=folder), rounds=9)
        python = milliseconds(process("-c", "pass", bytecode=folder), rounds=9)
    first = milliseconds(process(*command, bytecode=""), rounds=5)
    rows = (
        (f"read all {models} bundled configs", milliseconds(read_all, rounds=5), "500 ms"),
        ("kvviz size, as a process", started, "150 ms"),
        ("  of that Python itself", python, ""),
        ("  where no bytecode is kept", first, ""),
        ("size(), same scenario again", milliseconds(warm, rounds=2000), "0.1 ms"),
        ("size(), another length each time (windows)", milliseconds(another_length, rounds=2000), ""),
        ("resolve() and size(), bundled model", milliseconds(whole, rounds=2000), ""),
    )
    for what, taken, goal in rows:
        print(f"{what:<46}{taken:>10.3f} ms{f'   (goal {goal})' if goal else ''}")


if __name__ == "__main__":
    main()
