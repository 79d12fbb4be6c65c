"""What can go wrong because of something a person entered.

KvvizError                      expected; its message is for the user and says what to do
├── ConfigError                 a config.json that cannot be read: every problem at once, each with its path
│   └── UnknownArchitectureError    readable JSON of an architecture kvviz has no rules for: no number is given
├── HubError (kvviz.hub)        a model that cannot be read from the Hub
└── ScenarioError               a setting out of bounds or a combination that cannot be run

Anything else that is raised is a bug and keeps its traceback.
"""

import re
from dataclasses import dataclass

from kvviz.text import Lang, Message
from kvviz.text import config as text


class KvvizError(Exception):
    """An expected failure. ``str(error)`` is English; ``error.message(lang)`` is in the reader's language."""

    def __init__(self, message: Message, *, code: str) -> None:
        super().__init__(str(message))
        self.message = message
        self.code = code
        """Stable identifier for scripts (``--json`` prints it)."""

    def lines(self, lang: Lang) -> tuple[str, ...]:
        """The message as one or more single lines in ``lang``."""
        return (self.message(lang),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong in a config.json."""

    message: Message
    path: str
    """Where, as a JSON path: ``$.text_config.num_hidden_layers``."""

    def line(self, lang: Lang) -> str:
        """``message @ $.path``."""
        return f"{self.message(lang)} @ {self.path}"


class ConfigError(KvvizError):
    """A config.json that cannot be read. ``problems`` lists everything found, not only the first."""

    def __init__(self, message: Message, *, problems: tuple[Problem, ...] = (), code: str = "config") -> None:
        super().__init__(message, code=code)
        self.problems = problems

    def lines(self, lang: Lang) -> tuple[str, ...]:
        """The headline, then one line a problem; the same one of several entries of a list is told once."""
        alike: dict[tuple[str, str], list[Problem]] = {}
        for problem in self.problems:
            in_any_entry = re.sub(r"\[\d+\]", "[]", problem.path)
            alike.setdefault((problem.message(lang), in_any_entry), []).append(problem)
        told = [(first.line(lang), len(others)) for first, *others in alike.values()]
        return (self.message(lang), *(text.AND_MORE(lang, where=line, more=n) if n else line for line, n in told))


class UnknownArchitectureError(ConfigError):
    """The architecture is not one kvviz has rules for. ``problems`` names the fields it did not understand."""

    def __init__(self, message: Message, *, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message, problems=problems, code="unknown-architecture")


class ScenarioError(KvvizError):
    """A setting that is out of bounds, or settings that do not go together. ``field`` names the setting."""

    def __init__(self, message: Message, *, field: str) -> None:
        super().__init__(message, code="scenario")
        self.field = field
