"""From the scenario to an answer: a setting that cannot be used is named, and stood in for until it can."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from kvviz.core.architecture import Note
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.identity import ByIdentity
from kvviz.devices import device
from kvviz.estimate import Estimate
from kvviz.export import all_notes
from kvviz.levers import Fix, Lever, fixes, in_turn, levers
from kvviz.planning import accepted
from kvviz.resolve import Given, Resolved, resolve
from kvviz.scenario import DEFAULTS, Scenario, to_json
from kvviz.sizing import Sizing
from kvviz.text import Message
from kvviz.ui import models
from kvviz.ui.session import session

_TOGETHER = {"tp": ("tp", "gpus"), "gpus": ("tp", "gpus")}
"""Settings that make sense only together: one is not replaced without the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the page shows."""

    scenario: Scenario
    """What was answered: the one asked, or with stand-ins where ``errors`` says so."""
    sizing: Sizing | None
    notes: tuple[Note, ...] = ()
    """What must be known beside it."""
    errors: Mapping[str, Message]
    """What is wrong, by setting."""
    problem: KvvizError | None = None
    """Why there is no answer at all."""

    @property
    def levers(self) -> tuple[Lever, ...]:
        """What could be changed, each with its answer: dozens of them, so only the page that shows them asks."""
        if self.sizing is None:
            return ()
        return _levers(ByIdentity(self.sizing))

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Up to three of them that solve the need; where there is none, nothing is asked."""
        if self.sizing is None or self.sizing.fits in (None, "yes"):
            return ()
        return _fixes(ByIdentity(self.sizing))


@lru_cache(maxsize=16)  # each holds dozens of answers
def _levers(of: ByIdentity[Sizing]) -> tuple[Lever, ...]:
    return levers(of.value, weigh=_weigh)


@lru_cache(maxsize=64)
def _fixes(of: ByIdentity[Sizing]) -> tuple[Fix, ...]:
    return fixes(of.value, in_turn(of.value, weigh=_weigh))


def _weigh(asked: Scenario) -> Estimate | None:
    return resolve(asked, given=models.given(asked)).weights


def ask(scenario: Scenario) -> Sizing:
    """The answer to a scenario, whichever model this session can read it is about. Raises KvvizError."""
    return _answered(scenario)[1]


def _answered(scenario: Scenario) -> tuple[Resolved, Sizing]:
    given = models.given(scenario)
    if given is None and not scenario.config:
        return _of_bundled(scenario)
    return _ask(scenario, given)


def _ask(scenario: Scenario, given: Given | None = None) -> tuple[Resolved, Sizing]:
    resolved = resolve(scenario, given=given)
    return resolved, resolved.size()


@lru_cache(maxsize=512)
def _of_bundled(scenario: Scenario) -> tuple[Resolved, Sizing]:
    """The same for everybody, and asked again and again: by links, by the cells of a comparison."""
    return _ask(scenario)


def answer(scenario: Scenario, errors: Mapping[str, Message]) -> Answer:
    """Answer ``scenario``; settings that this model or GPU cannot be run with are replaced by the last that could."""
    errors, asked = dict(errors), scenario
    good: Scenario = session().get("good", Scenario())
    while True:
        try:
            resolved, sizing = _answered(scenario)
        except KvvizError as error:
            name = error.field if isinstance(error, ScenarioError) else ""
            if name not in DEFAULTS or name in ("config", "model"):
                return Answer(scenario=scenario, sizing=None, errors=errors, problem=error)
            together = _TOGETHER.get(name, (name,))
            standing_in = {n: DEFAULTS[n] if name in errors else getattr(good, n) for n in together}
            if all(getattr(scenario, n) == value for n, value in standing_in.items()):
                standing_in = {n: DEFAULTS[n] for n in together}
            if scenario == scenario.with_changes(**standing_in):  # not even the defaults do
                return Answer(scenario=scenario, sizing=None, errors=errors, problem=error)
            errors.setdefault(name, error.message)
            scenario = scenario.with_changes(**standing_in)
        else:
            session()["good"] = resolved.scenario
            notes = (*resolved.notes, *all_notes(sizing))
            gpu = device(scenario.gpu) if scenario.gpu else None  # the one asked for may be none
            values = to_json(asked)
            told = {name: accepted(sizing.architecture, values, name, said, gpu) for name, said in errors.items()}
            return Answer(scenario=resolved.scenario, sizing=sizing, notes=notes, errors=told)
