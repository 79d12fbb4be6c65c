"""The models of this session: bundled, pasted, and read from the Hub."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from threading import BoundedSemaphore
from time import monotonic
from typing import cast

import streamlit as st

from kvviz import catalogue
from kvviz.catalogue import Loaded
from kvviz.core.architecture import Note, read_config
from kvviz.core.errors import KvvizError, UnknownArchitectureError
from kvviz.core.units import format_bytes
from kvviz.hub import (
    FETCH_SECONDS,
    Code,
    HubError,
    HubModel,
    ModelReference,
    fetch_config,
    parse_model_reference,
    search,
)
from kvviz.hub_weights import tied_bytes
from kvviz.resolve import Given
from kvviz.scenario import Scenario
from kvviz.text import Message
from kvviz.text import hub as hub_text
from kvviz.text import sizing as text
from kvviz.ui.session import session

_AT_ONCE = BoundedSemaphore(8)
"""Questions to the Hub that this process asks at the same time."""
_TURN_S = 1.5
"""So long a question waits until it may be asked."""
_HITS = 6
_SHOWN = 120
"""Characters of what was typed that a message repeats."""
_PART_OF_NAME = re.compile(r"(?!hf_)[\w./-]{3,100}")
"""What is worth a search while it is being typed: no address, no revision, and no token that went astray."""
_SUGGESTED = 20
_SUGGEST_S = 1.5
_NO_SUGGESTIONS_S = 60.0
SHORT = 12
"""Digits of a commit that tell it from others."""
_NOTABLE = 50
"""Weights of one part in this many are worth a word."""
_PASSING = frozenset({"hub-down", "hub-timeout", "hub-rate-limited", "hub-html", "hub-redirect"})
"""Problems of the moment, a sign-in page of the network among them."""


class _NotForOthersError(Exception):
    """Carries an answer past the shared cache."""

    def __init__(self, found: HubModel) -> None:
        super().__init__()
        self.found = found


_MOST_NOT_KEPT = 256
_not_kept: dict[ModelReference, tuple[float, Callable[[], Exception]]] = {}
"""Answers that the cache does not keep, the last of each model, and when they came."""


def known(model: str) -> bool:
    """Whether this session can read ``model`` without asking anybody."""
    return model in session()["pasted"] or model in _fetched() or model in catalogue.models()


def named(asked: str) -> str | None:
    """The bundled model that this names, or whose page on the Hub has this address."""
    if found := catalogue.named(asked):
        return found
    if not re.match(r"[\w.-]+\.[\w.-]+[/:]|https?://", asked.strip(), re.IGNORECASE):
        return None
    try:
        reference = parse_model_reference(asked)
    except HubError:
        return None
    return next((m for m in catalogue.models() if m.lower() == str(reference).lower()), None)


def offered() -> list[str]:
    """What the model box lists: this session's own first."""
    suggested: list[str] = session().get("suggested", [])
    # Last: a list that is open goes by position.
    return list(dict.fromkeys([*_at_hand(), *suggested]))


def given(scenario: Scenario) -> Given | None:
    """What the Hub said of the scenario's model; None where it is bundled or carried by the scenario."""
    found = from_hub(scenario)
    if found is None:
        return None
    architecture = read_config(found.config, name=found.repo_id)
    notes: tuple[Note, ...] = ()
    if scenario.gpu and scenario.weights_gib is None and found.weights is not None:
        again = tied_bytes(architecture, found.config)
        if again * _NOTABLE >= found.weights.value_bytes:
            notes = (Note(code="tied-weights", message=Message(text.TIED, {"bytes": format_bytes(again)})),)
    loaded = Loaded(
        model=found.repo_id, config=found.config, architecture=architecture, revision=_revision(found), notes=notes
    )
    return Given(loaded=loaded, weights=found.weights, weights_unknown=found.weights_unknown)


def from_hub(scenario: Scenario) -> HubModel | None:
    """What was read from the Hub for the scenario's model at its revision; None where it is another's or nobody's."""
    if scenario.config:
        return None
    of_model = [found for found in _fetched().values() if found.repo_id == scenario.model]
    of_model.sort(key=_is_incomplete)
    for found in of_model:
        if scenario.revision in (_revision(found), found.revision):
            return found
    # Without a revision a bundled model is meant, and of another the first that was read.
    return of_model[0] if of_model and scenario.model not in catalogue.models() else None


def choice_of(scenario: Scenario) -> str:
    """What the model box calls the scenario's model."""
    found = from_hub(scenario)
    return scenario.model if found is None else _choice(found)


def meant(choice: str) -> tuple[str, str]:
    """Model and revision of what the box calls so; no revision where it is not from the Hub."""
    found = _fetched().get(choice)
    return (choice, "") if found is None else (found.repo_id, _revision(found))


def reference(choice: str) -> str:
    """What was asked of the Hub for what the box calls so."""
    found = _fetched().get(choice)
    return choice if found is None else f"{found.repo_id}@{found.revision}"


def parts(asked: str) -> tuple[str, str]:
    """``owner/name@revision`` as name and revision."""
    name, _, revision = asked.partition("@")
    return name.strip(), revision.strip()


def _choice(found: HubModel) -> str:
    """The plain name where it means nothing else; a bundled model has that for itself, and a revision says its own."""
    if found.revision == "main" and found.repo_id not in catalogue.models():
        return found.repo_id
    return f"{found.repo_id}@{found.commit_sha[:SHORT] if found.commit_sha else found.revision}"


def _revision(found: HubModel) -> str:
    return found.commit_sha or found.revision


def ask_hub(typed: str, *, token: str | None = None) -> str | None:
    """Read what was typed from the Hub; returns what the box calls it.

    None with ``problem`` saying why not and ``hits`` what is near.
    """
    session()["model_problem"] = None
    session()["hits"] = []
    try:
        if "/" not in typed:
            with _turn():
                session()["hits"] = [hit.repo_id for hit in search(typed, limit=_HITS)]
            if not session()["hits"] and not catalogue.search(typed):
                raise HubError(Message(text.NOTHING_FOUND, {"words": typed[:_SHOWN]}), code="hub-not-found")
            return None
        reference = parse_model_reference(typed)
        found = _public(reference) if token is None else _private(reference, token)
        try:
            read_config(found.config, name=found.repo_id)
        except UnknownArchitectureError:
            session()["unknown"] = (found.repo_id, found.config)
            raise
    except KvvizError as error:
        session()["model_problem"] = (typed, error)
        return None
    session().pop("unknown", None)
    session()["hub"] = {**_fetched(), _choice(found): found}
    return _choice(found)


def suggest(typed: str) -> None:
    """Offer what the Hub has for the beginning of a name, where nothing at hand holds it; never more than offer.

    The page waits for it, so briefly, and after a failure not again for a while: only Enter says what is wrong.
    """
    words = typed.lower()
    if any(words in model.lower() for model in _at_hand()) or not _PART_OF_NAME.fullmatch(words):
        return
    if monotonic() < session().get("suggest_again_at", 0.0) or not _AT_ONCE.acquire(blocking=False):
        return
    try:
        session()["suggested"] = _searched(words)
    except HubError:
        session()["suggest_again_at"] = monotonic() + _NO_SUGGESTIONS_S
    finally:
        _AT_ONCE.release()


@st.cache_data(ttl=timedelta(minutes=10), max_entries=1024, show_spinner=False)
def _searched(words: str) -> list[str]:
    return [hit.repo_id for hit in search(words, limit=_SUGGESTED, timeout_s=_SUGGEST_S)]


def problem(typed: str) -> Message:
    """Why ``typed`` is not the model."""
    asked, error = session().get("model_problem") or ("", None)
    if error is not None and typed in (asked, asked.partition("@")[0]):
        # What else one can do stands right below, as buttons.
        said = error.what if isinstance(error, HubError) else error.message
        return said if isinstance(said, Message) else Message(said)
    near = ", ".join(catalogue.search(typed)[:3]) or text.NOTHING_NEAR
    return Message(text.NOT_BUNDLED, {"model": typed[:_SHOWN], "near": near})


def can_pass() -> bool:
    """Whether the last problem is one that the next try may not meet."""
    _, error = session().get("model_problem") or ("", None)
    return isinstance(error, HubError) and error.code in _PASSING


def lacks_weights(choice: str) -> bool:
    """Whether the Hub gave the config and then did not say what the weights are."""
    found = _fetched().get(choice)
    return found is not None and _is_incomplete(found)


def _is_incomplete(found: HubModel) -> bool:
    return found.weights is None and found.gated is None


def asks_for_token() -> bool:
    """Whether the last problem is one that a token can solve."""
    _, error = session().get("model_problem") or ("", None)
    return isinstance(error, HubError) and error.code in ("hub-gated", "hub-private", "hub-token")


def _at_hand() -> list[str]:
    return [*session()["pasted"], *_fetched(), *catalogue.models()]


def _fetched() -> dict[str, HubModel]:
    found: dict[str, HubModel] = session().get("hub", {})
    return found


def _public(reference: ModelReference) -> HubModel:
    try:
        return _shared(reference, monotonic())
    except _NotForOthersError as answer:
        return answer.found


@st.cache_data(ttl=timedelta(days=1), max_entries=256, show_spinner=False)
def _shared(reference: ModelReference, _since: float) -> HubModel:
    """What anybody may read, kept for everybody; nothing that was read with a token comes here.

    Those who want the same model wait for one answer; where it is none to keep it goes to all of them, for one after
    the other would wait as long again. ``_since``: when this one began to wait, no part of the cache's key.
    """
    at, made_again = _not_kept.get(reference, (0.0, None))
    if made_again is not None and at >= _since:
        raise made_again()
    try:
        with _turn() as left_s:
            found = fetch_config(reference, token=None, timeout_s=left_s)
        if not found.cacheable:
            raise _NotForOthersError(found)
    except (HubError, _NotForOthersError) as error:
        if len(_not_kept) >= _MOST_NOT_KEPT:
            _not_kept.clear()
        _not_kept[reference] = (monotonic(), _maker(error))
        raise
    return found


def _maker(error: HubError | _NotForOthersError) -> Callable[[], Exception]:
    """Makes the like of it: the error itself holds, by its traceback, the session of whoever asked."""
    if isinstance(error, _NotForOthersError):
        return partial(_NotForOthersError, error.found)
    return partial(HubError, error.what, code=cast("Code", error.code), wait_s=error.wait_s)


def _private(reference: ModelReference, token: str) -> HubModel:
    with _turn() as left_s:
        return fetch_config(reference, token=token, timeout_s=left_s)


@contextmanager
def _turn() -> Iterator[float]:
    """One of the questions at once, with the seconds left for a whole answer. Raises HubError where there is none for a
    while: a Hub that stalls for some must not keep everybody waiting."""
    begun = monotonic()
    if not _AT_ONCE.acquire(timeout=_TURN_S):
        raise HubError(hub_text.BUSY, code="hub-rate-limited")
    try:
        yield FETCH_SECONDS - (monotonic() - begun)
    finally:
        _AT_ONCE.release()
