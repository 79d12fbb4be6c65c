"""Hit ratio against cache capacity on the recorded traces, beside the figures that were published for them."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from kvviz.allocation.prefix import HitRatios, replay_prefixes
from kvviz.allocation.workload import MOONCAKE_ID_TOKENS, Trace, load_trace

TRACES: Final = ("mooncake-conversation", "mooncake-synthetic")
"""The bundled traces that say which blocks their prompts begin with."""
MAX_CAPACITY_BLOCKS: Final = 1_000_000
"""More than any of them has."""

# Read off Fig. 9 of "Mooncake: Trading More Storage for Less Computation" (USENIX FAST '25): tokens and ratio.
PUBLISHED: Final[Mapping[str, Mapping[int, float]]] = {
    "mooncake-conversation": {
        10_000: 0.0449,
        100_000: 0.0731,
        1_000_000: 0.0866,
        2_000_000: 0.1202,
        4_000_000: 0.2149,
        5_000_000: 0.2471,
        8_000_000: 0.2997,
        10_000_000: 0.3263,
        50_000_000: 0.3983,
        100_000_000: 0.4006,
    },
    "mooncake-synthetic": {
        10_000: 0.0003,
        100_000: 0.0117,
        1_000_000: 0.1461,
        2_000_000: 0.2345,
        4_000_000: 0.3805,
        5_000_000: 0.4352,
        8_000_000: 0.5447,
        10_000_000: 0.5886,
        50_000_000: 0.6582,
        100_000_000: 0.6582,
    },
}
CAPACITIES: Final = (*PUBLISHED["mooncake-conversation"], 20_000_000, 30_000_000)
"""Of the curve, in tokens."""


def blocks_of(tokens: int) -> int:
    """Whole blocks of a trace in so many tokens, at least one."""
    return max(1, tokens // MOONCAKE_ID_TOKENS)


def curve(trace: str) -> Iterator[tuple[int, HitRatios]]:
    """Capacity in tokens and ratios, smallest first; each takes up to a quarter of a second the first time."""
    for tokens in sorted(CAPACITIES):
        yield tokens, ratios(trace, blocks_of(tokens))


def furthest_apart(trace: str) -> tuple[float, float]:
    """How far the ratio of full blocks is from the published one: the least and the most, ours less theirs."""
    apart = [ratios(trace, blocks_of(tokens)).full - said for tokens, said in PUBLISHED[trace].items()]
    return min(apart), max(apart)


@lru_cache(maxsize=1024)
def ratios(trace: str, capacity_blocks: int) -> HitRatios:
    """What ``kvviz prefix`` answers for a bundled trace."""
    return replay_prefixes(_trace(trace).requests, capacity_blocks)


@lru_cache(maxsize=2)
def _trace(name: str) -> Trace:
    return load_trace(name)
