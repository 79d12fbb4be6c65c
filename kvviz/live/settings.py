"""What the operator of an app allows, from environment variables.

===========================  ==========  ==============================================================================
variable                     default     what it sets
===========================  ==========  ==============================================================================
KVVIZ_LIVE                   on          ``off``: no live runs, the recorded one is shown
KVVIZ_LIVE_MODEL             (none)      model that is run when nobody names one: a folder, a .gguf file or a Hub id
KVVIZ_LIVE_MODELS            (none)      further ones that visitors may choose, separated by commas; ``*``: any Hub id
KVVIZ_LIVE_DEVICE            auto        ``cpu``, ``cuda``, or ``auto``: a GPU where PyTorch sees one
KVVIZ_LIVE_MAX_TOKENS        2048        prompt and answer of one sequence, and what a static cache may reserve
KVVIZ_LIVE_MAX_BATCH         8           sequences at once
KVVIZ_LIVE_MAX_SECONDS       120         a run ends after so long, with what it has
KVVIZ_LIVE_LOAD_SECONDS      300         a model must have loaded after so long (its weights may have to be fetched)
KVVIZ_LIVE_MAX_WAITING       16          runs that may wait
KVVIZ_LIVE_ABANDONED_S       15          a run nobody has asked about for so long is stopped
KVVIZ_LIVE_IDLE_S            120         the process that runs models ends after so long without a run
KVVIZ_LIVE_THREADS           0           threads of PyTorch on a CPU; 0: all cores but one, which the pages keep
===========================  ==========  ==============================================================================
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from kvviz.core.errors import ScenarioError
from kvviz.scenario import parse_tokens, shown
from kvviz.text import Message
from kvviz.text import live as text

DEVICES: Final = ("auto", "cpu", "cuda")
ANY: Final = "*"
NO_TOKEN: Final = {"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}
"""Environment in which the Hub is asked as anybody: with this machine's token a visitor would read what is not his."""
_PREFIX: Final = "KVVIZ_LIVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What runs are allowed. The defaults are those of the table."""

    on: bool = True
    model: str = ""
    """Run when nobody names one; empty: a small default."""
    models: tuple[str, ...] = ()
    """What visitors may choose besides; ``*`` among them: any Hub id."""
    device: str = "auto"
    max_tokens: int = 2048
    """Of one sequence, prompt and answer."""
    max_batch: int = 8
    max_seconds: int = 120
    load_seconds: int = 300
    max_waiting: int = 16
    abandoned_s: int = 15
    idle_s: int = 120
    threads: int = 0
    """0: all cores but one."""


VARIABLES: Final = (_PREFIX, *(f"{_PREFIX}_{field.name.upper()}" for field in fields(Settings) if field.name != "on"))
"""All that are read."""


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The operator's settings. Raises ScenarioError, named after the variable, for what cannot be understood."""
    env = os.environ if environment is None else environment
    usual = Settings()

    def number(name: str, default: int, low: int, high: int) -> int:
        return whole_number(f"{_PREFIX}_{name}", env.get(f"{_PREFIX}_{name}") or default, low, high)

    return Settings(
        on=_on(_PREFIX, env.get(_PREFIX) or "on"),
        model=env.get(f"{_PREFIX}_MODEL", "").strip(),
        models=tuple(m.strip() for m in env.get(f"{_PREFIX}_MODELS", "").split(",") if m.strip()),
        device=one_of(f"{_PREFIX}_DEVICE", env.get(f"{_PREFIX}_DEVICE") or usual.device, DEVICES),
        max_tokens=number("MAX_TOKENS", usual.max_tokens, 2, 1 << 20),
        max_batch=number("MAX_BATCH", usual.max_batch, 1, 1024),
        max_seconds=number("MAX_SECONDS", usual.max_seconds, 1, 86_400),
        load_seconds=number("LOAD_SECONDS", usual.load_seconds, 1, 86_400),
        max_waiting=number("MAX_WAITING", usual.max_waiting, 0, 10_000),
        abandoned_s=number("ABANDONED_S", usual.abandoned_s, 1, 86_400),
        idle_s=number("IDLE_S", usual.idle_s, 0, 86_400),
        threads=number("THREADS", usual.threads, 0, 1024),
    )


def whole_number(field: str, given: object, low: int, high: int) -> int:
    """``given`` as a number within bounds, as people write them (``4,096``, ``4k``). Raises ScenarioError."""
    values = {"field": field, "given": shown(given), "low": f"{low:,}", "high": f"{high:,}"}
    written = str(given).strip()
    if not written:
        raise ScenarioError(Message(text.EMPTY, values), field=field)
    try:
        number = -parse_tokens(written[1:]) if written.startswith("-") else parse_tokens(written)
    except ScenarioError:
        raise ScenarioError(Message(text.NOT_A_NUMBER, values), field=field) from None
    if not low <= number <= high:
        raise ScenarioError(Message(text.OUT_OF_BOUNDS, values), field=field)
    return number


def one_of(field: str, given: str, choices: tuple[str, ...]) -> str:
    """``given`` if it is a choice. Raises ScenarioError."""
    if given not in choices:
        values = {"field": field, "given": shown(given), "choices": ", ".join(choices)}
        raise ScenarioError(Message(text.NO_SUCH_CHOICE, values), field=field)
    return given


def _on(field: str, given: str) -> bool:
    words = {"on": True, "1": True, "true": True, "off": False, "0": False, "false": False}
    if given.lower() not in words:
        raise ScenarioError(Message(text.NOT_FALSE_OR_TRUE, {"field": field, "given": given}), field=field)
    return words[given.lower()]
