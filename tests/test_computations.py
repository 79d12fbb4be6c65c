"""What a cache saves, counted: against the sums themselves."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.computations import Computations, steps


@pytest.mark.parametrize(
    ("tokens", "without", "cached", "reads_without", "reads_causal", "reads_cached"),
    [
        (1, 1, 1, 1, 1, 1),
        (2, 3, 2, 5, 4, 3),
        (8, 36, 8, 204, 120, 36),
        (1_000, 500_500, 1_000, 333_833_500, 167_167_000, 500_500),
    ],
)
def test_known_counts(
    tokens: int, without: int, cached: int, reads_without: int, reads_causal: int, reads_cached: int
) -> None:
    of = Computations(tokens=tokens)
    assert (of.without, of.cached) == (without, cached)
    assert (of.reads_without, of.reads_without_causal, of.reads_cached) == (reads_without, reads_causal, reads_cached)


@given(st.integers(1, 300))
def test_they_are_the_sums_over_the_steps(tokens: int) -> None:
    of, made = Computations(tokens=tokens), steps(tokens)
    assert of.without == sum(step.recomputed for step in made)
    assert of.cached == sum(step.computed for step in made)
    assert of.reads_without == sum(step.recomputed**2 for step in made)
    assert of.reads_without_causal == sum(accumulate(step.recomputed for step in made))
    assert of.reads_cached == sum(step.looked_up + step.computed for step in made)
    assert of.times_fewer == (tokens + 1) / 2
    assert [step.recomputed_so_far for step in made] == list(accumulate(step.recomputed for step in made))
    assert made[-1].computed_so_far == tokens
