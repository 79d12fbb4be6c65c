"""From the scenario to an answer: a setting that cannot be used is named, and stood in for until it can."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from kvviz.core.architecture import Note
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.export import all_notes
from kvviz.levers import Lever, levers
from kvviz.resolve import resolve
from kvviz.scenario import DEFAULTS, Scenario
from kvviz.sizing import Sizing, size
from kvviz.text import Message
from kvviz.ui import models

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
    levers: tuple[Lever, ...] = ()
    """What could be changed, each with its answer."""
    problem: KvvizError | None = None
    """Why there is no answer at all."""


def answer(scenario: Scenario, errors: Mapping[str, Message]) -> Answer:
    """Answer ``scenario``; settings that this model or GPU cannot be run with are replaced by the last that could."""
    errors = dict(errors)
    good: Scenario = st.session_state.get("good", Scenario())
    while True:
        try:
            given = models.given(scenario)
            resolved = resolve(scenario, given=given)
            sizing = size(resolved.architecture, resolved.scenario, weights=resolved.weights)
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
            st.session_state["good"] = resolved.scenario
            notes = (*resolved.notes, *all_notes(sizing))
            possible = levers(sizing, weigh=lambda asked: resolve(asked, given=models.given(asked)).weights)
            return Answer(scenario=resolved.scenario, sizing=sizing, notes=notes, errors=errors, levers=possible)
