"""Python's garbage collector, set for a server: most of what it would look through stays until the process ends."""

import gc
from functools import cache
from typing import Final

_OFTEN: Final = (10_000, 20, 20)
"""New objects before the first collection, and how many of one kind before one of the next. A run of a page makes some
thousands, nearly all of which go by themselves: with Python's own numbers a tenth of the server's time was collecting.
"""


@cache
def settle() -> None:
    """After a first run of a page: what was loaded for it is looked through no more. Does it once in a process."""
    gc.set_threshold(*_OFTEN)
    gc.collect()
    gc.freeze()
