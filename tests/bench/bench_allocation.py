"""How fast requests are simulated and prompts replayed, beside the plain ways of doing the same that the tests keep."""

import subprocess
import sys
import time
from collections.abc import Callable

from kvviz.allocation.contiguous import RESERVES
from kvviz.allocation.prefix import replay_prefixes
from kvviz.allocation.replay import replay
from kvviz.allocation.simulate import Contiguous, Paged, Pool, simulate, summarise
from kvviz.allocation.workload import load_trace
from tests.allocation import plain
from tests.bench.bench_core import milliseconds

POOL_TOKENS = 15_728
"""12 GiB at 800 KiB a token, as in the PagedAttention paper."""
MILLION = """
import re
from pathlib import Path
from kvviz.allocation.simulate import Paged, summarise
from kvviz.allocation.workload import Generator
requests = Generator(seed=1, requests=1_000_000, prompt_tokens=160, output_tokens=30, max_tokens=2048)
assert summarise(requests, Paged(pool_tokens=65_536)).finished == 1_000_000
status = Path("/proc/self/status").read_text()
print(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1])
"""
"""A process of its own, which says the most memory it had (KiB; Linux)."""


def best(work: Callable[[], object], *, rounds: int = 5) -> float:
    """The quickest of ``rounds`` runs, in milliseconds: the others waited for something else."""
    return min(milliseconds(work, rounds=1) for _ in range(rounds))


def main() -> None:
    """Print one line a measurement."""
    requests = load_trace("sharegpt").requests
    pool = Paged(pool_tokens=POOL_TOKENS)
    shown = load_trace("azure-conversation").requests[:2_000]
    large = Paged(pool_tokens=2_048 * 16)

    def compared(what: str, fast: float, slow: float, goal: float) -> None:
        print(f"{what:<52}{fast:>10.1f} ms   plain {slow:>8.1f} ms   × {slow / fast:.2f} (goal ≥ {goal})")

    def alone(what: str, taken: float, unit: str = "ms") -> None:
        print(f"{what:<52}{taken:>10.1f} {unit}")

    def served(by: Pool) -> Callable[[], object]:
        return lambda: summarise(requests, by)

    fast = best(served(pool))
    slow = best(lambda: plain.paged(requests, blocks=pool.blocks, size=16, record=False), rounds=3)
    compared("paged, figures only: ShareGPT, 6,000 requests", fast, slow, 3)
    prompts = load_trace("mooncake-conversation").requests
    for capacity in (None, 50_000, 10_000, 1_000):
        fast = best(lambda capacity=capacity: replay_prefixes(prompts, capacity))  # type: ignore[misc]
        slow = best(lambda capacity=capacity: plain.prefix(prompts, capacity))  # type: ignore[misc]
        compared(f"prefix replay: Mooncake, {capacity or 'all'} blocks", fast, slow, 1.2)
    for reserve in RESERVES:
        contiguous = Contiguous(pool_tokens=POOL_TOKENS, max_tokens=2_048, reserve=reserve)
        alone(f"contiguous, {reserve}, buddy: ShareGPT", best(served(contiguous), rounds=3))
    alone("events: Azure, 2,000 requests, 2,048 blocks", best(lambda: list(simulate(shown, large)), rounds=3))
    alone("events and steps of the same", best(lambda: list(replay(simulate(shown, large), large)), rounds=3))
    start = time.perf_counter()
    million = subprocess.run([sys.executable, "-c", MILLION], check=True, capture_output=True, text=True)
    alone("a million made-up requests, as a process", (time.perf_counter() - start) * 1000)
    alone("  the most memory it had (goal ≤ 300)", int(million.stdout) / 1024, "MiB")


if __name__ == "__main__":
    main()
