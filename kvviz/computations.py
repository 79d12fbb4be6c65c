"""What generating costs with and without a cache, counted: tokens computed, and keys read by attention.

Nothing is measured here, and no prompt is counted: the text begins with the first generated token.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Computations:
    """Of a text of ``tokens`` tokens, generated one a step."""

    tokens: int

    @property
    def without(self) -> int:
        """Tokens computed without a cache: 1 + 2 + … + n."""
        return self.tokens * (self.tokens + 1) // 2

    @property
    def cached(self) -> int:
        """Tokens computed with a cache: one a step."""
        return self.tokens

    @property
    def times_fewer(self) -> float:
        """Token computations without against with."""
        return self.without / self.cached

    @property
    def reads_without(self) -> int:
        """Keys that queries meet without a cache: step t computes the whole t x t table. About n³/3."""
        return self.tokens * (self.tokens + 1) * (2 * self.tokens + 1) // 6

    @property
    def reads_without_causal(self) -> int:
        """The same for a kernel that skips the half of each table that causality masks. About n³/6."""
        return self.tokens * (self.tokens + 1) * (self.tokens + 2) // 6

    @property
    def reads_cached(self) -> int:
        """Keys that queries meet with a cache: t in step t. About n²/2."""
        return self.tokens * (self.tokens + 1) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of both ways, side by side."""

    step: int
    """From 1; as many tokens are there after it."""
    recomputed: int
    """Tokens computed in it without a cache."""
    recomputed_so_far: int
    computed: int
    """Tokens computed in it with a cache: the new one."""
    computed_so_far: int
    looked_up: int
    """Tokens whose keys and values come from the cache."""


def steps(tokens: int) -> tuple[Step, ...]:
    """Both ways, step by step."""
    return tuple(
        Step(
            step=step,
            recomputed=step,
            recomputed_so_far=Computations(tokens=step).without,
            computed=1,
            computed_so_far=step,
            looked_up=step - 1,
        )
        for step in range(1, tokens + 1)
    )
