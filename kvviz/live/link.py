"""A run's settings as a link carries them: ``live_`` and the setting's name. A link never starts a run."""

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote_plus

from kvviz.core.errors import ScenarioError
from kvviz.live.request import DTYPES, PROMPT_CHARACTERS, CacheKind, allowed_model, choices, shown
from kvviz.live.settings import Settings, one_of, whole_number

FIELDS: Final = ("model", "prompt", "prompt_tokens", "new_tokens", "batch", "dtype", "cache")
LINK_CHARACTERS: Final = 4_000
"""Of a prompt in a link, as an address writes it: a Japanese character takes nine."""
_TYPED: Final = 40
"""Characters of a number: what is longer is none."""


def from_query(
    query: Mapping[str, str], allowed: Settings, caches: tuple[CacheKind, ...]
) -> tuple[dict[str, str | int], tuple[ScenarioError, ...]]:
    """Settings of a link by name, and what of them there is no choice for. Takes anything, raises nothing.

    What is typed stays as it is: it gets its message where it is checked.
    """
    choose: dict[str, Callable[[str], str | int]] = {
        "model": lambda asked: allowed_model(asked or choices(allowed)[0], allowed),
        "prompt": lambda asked: asked[: PROMPT_CHARACTERS + 1],
        "prompt_tokens": lambda asked: asked[:_TYPED],
        "new_tokens": lambda asked: asked[:_TYPED],
        "batch": lambda asked: whole_number("batch", asked, 1, allowed.max_batch),
        "dtype": lambda asked: one_of("dtype", asked, DTYPES),
        "cache": lambda asked: one_of("cache", asked, caches),
    }
    found: dict[str, str | int] = {}
    refused: list[ScenarioError] = []
    for name in FIELDS:
        if (asked := query.get(f"live_{name}")) is not None:
            try:
                found[name] = choose[name](asked)
            except ScenarioError as error:
                refused.append(error)
    return found, tuple(refused)


def to_query(settings: Mapping[str, object]) -> dict[str, str]:
    """Settings by name as a link carries them; a prompt that is too long is left out.

    Of a model on the operator's machine, only its name.
    """
    said = {name: str(settings[name]) for name in FIELDS}
    said["model"] = shown(said["model"])
    if not fits(said["prompt"]):
        del said["prompt"]
    return {f"live_{name}": value for name, value in said.items()}


def fits(prompt: str) -> bool:
    """True if a link can carry it."""
    return len(quote_plus(prompt)) <= LINK_CHARACTERS
