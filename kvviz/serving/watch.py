"""One reading of each engine for all visitors: asked when somebody looks, in a thread, never by two at a time."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Condition, Thread
from time import monotonic
from typing import Final

from kvviz.core.errors import KvvizError
from kvviz.serving.reading import Identity, Reading, poll
from kvviz.serving.settings import MAX_ENGINES, Address
from kvviz.text import Message
from kvviz.text import serving as text

FRESH_S: Final = 1.5
"""However many look, an engine is not asked again so soon."""
_KNOWN_S: Final = 60.0
"""After so long the model, version and settings are asked for again."""
_HANGS_S: Final = 10.0
"""No question and its further ones take so long; a name server may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The last good sample, and what has gone wrong since."""

    reading: Reading | None
    read_s: float
    """When it was read, by the monotonic clock."""
    problem: Message | None
    """None where the last answer was good, or is still awaited."""


@dataclass(eq=False)
class Watch:
    """What is known of one engine. Pages ask ``look`` and never wait for the network."""

    url: str
    _changed: Condition = field(default_factory=Condition)
    _asking: Thread | None = None
    _asked_s: float = -FRESH_S
    _identified_s: float = -_KNOWN_S
    _identity: Identity | None = None
    _look: Look = field(default_factory=lambda: Look(reading=None, read_s=0.0, problem=None))

    def look(self, *, patience_s: float = 0.0) -> Look:
        """The latest sample; a new one is asked for where that is due. Only the very first is waited for."""
        with self._changed:
            since_s = monotonic() - self._asked_s
            asking = self._asking is not None and self._asking.is_alive()
            if asking and since_s > _HANGS_S:
                return replace(self._look, problem=Message(text.SLOW, {"seconds": f"{_HANGS_S:g}"}))
            if not asking and since_s >= FRESH_S:
                self._asked_s = monotonic()
                self._asking = Thread(target=self._ask, daemon=True)
                self._asking.start()
            self._changed.wait_for(lambda: self._look.reading is not None or self._look.problem, timeout=patience_s)
            return self._look

    def _ask(self) -> None:
        known = self._identity if monotonic() - self._identified_s < _KNOWN_S else None
        try:
            reading = poll(self.url, known)
        except KvvizError as error:
            with self._changed:
                self._identity = None  # what answers next may be another engine
                self._look = Look(reading=self._look.reading, read_s=self._look.read_s, problem=error.message)
                self._changed.notify_all()
            return
        with self._changed:
            if known is None:
                self._identity, self._identified_s = reading.identity, monotonic()
            self._look = Look(reading=reading, read_s=monotonic(), problem=None)
            self._changed.notify_all()


@lru_cache(maxsize=4 * MAX_ENGINES)
def _watch(url: str) -> Watch:
    return Watch(url)


def look(address: Address, *, patience_s: float = 0.0) -> Look:
    """What is known of an engine."""
    return _watch(address.url).look(patience_s=patience_s)
