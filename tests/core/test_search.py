"""The largest that fits: against counting, and the two ends."""

from hypothesis import given
from hypothesis import strategies as st

from kvviz.core.search import largest, longest


@given(st.integers(0, 300), st.integers(0, 200))
def test_it_is_the_last_that_holds(edge: int, most: int) -> None:
    assert largest(lambda n: n <= edge, most) == max((n for n in range(1, most + 1) if n <= edge), default=0)


@given(st.integers(0, 1 << 35))
def test_the_longest_request(edge: int) -> None:
    assert longest(lambda tokens: tokens <= edge) == edge


def test_no_length_is_too_long() -> None:
    assert longest(lambda tokens: True) is None
