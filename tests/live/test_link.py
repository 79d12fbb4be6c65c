"""Settings of a run in a link: there and back, and what is made of anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.live import link
from kvviz.live.request import CACHES, PROMPT_CHARACTERS
from kvviz.live.settings import Settings
from kvviz.scenario import APP_FIELDS

OPERATOR = Settings(model="/srv/private/mine", models=("owner/other",))
USUAL = {
    "model": "owner/other",
    "prompt": "こんにちは 😀 & more = 100%",
    "prompt_tokens": "1k",
    "new_tokens": "many",
    "batch": 8,
    "dtype": "fp16",
    "cache": "static",
}


def test_there_and_back() -> None:
    written = link.to_query(USUAL)
    assert written == {f"live_{name}": str(value) for name, value in USUAL.items()}
    assert link.from_query(written, OPERATOR, CACHES) == (USUAL, ())
    assert link.from_query({}, OPERATOR, CACHES) == ({}, ())
    assert link.from_query({"live_model": ""}, OPERATOR, CACHES) == ({"model": "/srv/private/mine"}, ())


def test_every_parameter_is_the_app_s() -> None:
    assert {f"live_{name}" for name in link.FIELDS} <= APP_FIELDS


def test_a_folder_of_the_operator_is_not_told() -> None:
    written = link.to_query(USUAL | {"model": "/srv/private/mine"})
    assert written["live_model"] == "mine"
    assert link.from_query(written, OPERATOR, CACHES)[0]["model"] == "/srv/private/mine"


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("model", "/etc/passwd", "not among"),
        ("model", "owner/unasked", "not among"),
        ("batch", "99", "1 to 8"),
        ("batch", "two", "not a number"),
        ("dtype", "int8", "bf16"),
        ("cache", "int4", "dynamic"),  # not installed here
    ],
)
def test_what_there_is_no_choice_for(name: str, asked: str, told: str) -> None:
    given, (error,) = link.from_query({f"live_{name}": asked}, OPERATOR, ("dynamic", "none"))
    assert given == {}
    assert error.field == name
    assert told in error.message("en")
    assert "srv" not in error.message("en")


def test_a_long_prompt_stays_out_of_the_link_and_comes_in_no_longer_than_can_be_refused() -> None:
    assert "live_prompt" not in link.to_query(USUAL | {"prompt": "長" * 500})
    assert link.to_query(USUAL | {"prompt": "x" * link.LINK_CHARACTERS})["live_prompt"]
    given, _ = link.from_query({"live_prompt": "x" * 10 * PROMPT_CHARACTERS}, OPERATOR, CACHES)
    assert len(str(given["prompt"])) == PROMPT_CHARACTERS + 1


@given(st.dictionaries(st.sampled_from([f"live_{name}" for name in link.FIELDS]), st.text(max_size=60)))
def test_takes_anything(query: dict[str, str]) -> None:
    found, refused = link.from_query(query, OPERATOR, CACHES)
    assert len(found) + len(refused) == len(query)
    for error in refused:
        assert len(error.message("ja").splitlines()) == 1
