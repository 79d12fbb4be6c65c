"""What the Learn page states: known numbers, no number typed into a sentence, every link to a scenario that holds."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode

import pytest

from kvviz.learn import SCENES, facts, sized
from kvviz.scenario import from_query, to_query
from kvviz.text import LANGUAGES, Text
from kvviz.text import learn as text
from kvviz.text.glossary import TERMS


def texts(of: object) -> Iterator[Text]:
    """Every text in a constant, however deep."""
    if isinstance(of, Text):
        yield of
    elif isinstance(of, dict):
        yield from (found for value in of.values() for found in texts(value))
    elif isinstance(of, tuple):
        yield from (found for value in of for found in texts(value))


ALL = [found for name, value in vars(text).items() if name.isupper() for found in texts(value)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("per_token_bytes", "262,144"),
        ("one_gb", "1.07 GB"),
        ("sixteen_gb", "17.2 GB"),
        ("all_gb", "53.7 GB"),
        ("all_long_gb", "215 GB"),
        ("all_long_gib", "200 GiB"),
        ("round_weights_gb", "30 GB"),
        ("quotient", "80"),
        ("head_dim", "128"),
        ("too_small", "1.6"),
        ("differ", "49"),
        ("models", "168"),
        ("bounded", "47"),
        ("windows_or_states", "46"),
        ("seen", "79.18 GiB"),
        ("card", "79.65 GiB"),
        ("hidden_part", "0.47 GiB"),
        ("engine_share", "72.8 GiB"),
        ("card_seen", "7.53 GiB"),
        ("card_share", "5.27 GiB"),
        ("deepest_share", "32"),
        ("users_requests", "50"),
        ("rag_input", "8,192"),
        ("share", "8"),
        ("mha", "2 MiB"),
        ("mqa", "32 KiB"),
        ("latent_bytes", "70,272"),
        ("weights_change", "0"),
        ("llama_per_token", "327,680"),
        ("llama_gib", "10 GiB"),
        ("llama_gb", "10.7 GB"),
        ("llama_round_gib", "9.77 GiB"),
        ("llama_31_context", "131,072"),
        ("qwen_per_token", "57,344"),
        ("qwen_one", "168 MiB"),
        ("old_rate", "512 KiB"),
        ("new_rate", "128 KiB"),
        ("quoted_times", "4.7"),
    ],
)
def test_known_numbers(name: str, value: str) -> None:
    assert facts()[name] == value


NAMES = re.compile(
    r"Llama[ -][\d.]+(?:[ -]\d+B)?|\b3\.1\b|Qwen[\w.-]+|GPT-2|DeepSeek-V2|H[12]00|\b32K\b|7[–～]8B|30B|[248]-bit|16-bit"
    r"|\d+ (?:ビット|bits)|INT[48]|FP(?:8|16|32)|BF16|10⁹|2³⁰|（(?:2017|2019) 年）|\((?:2017|2019)\)|n[²³]/?\d?"
    r"|30 (?:秒|seconds)"
)
"""Digits of names, of units and of formulas: nothing that was worked out."""


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("said", ALL, ids=lambda said: said.en[:40])
def test_no_number_is_typed_into_a_sentence(said: Text, lang: str) -> None:
    words = re.sub(r"{[^{}]*}|`[^`]*`", " ", said.ja if lang == "ja" else said.en)
    left = re.findall(r"\d[\d,.]*", NAMES.sub(" ", words))
    # one token, one step, one request, one of two: counting words, as 2 in "2 (K and V)" is what K and V are
    assert [number for number in left if number not in {"1", "2", "3", "4", "8"}] == []


def test_every_placeholder_has_its_number_and_every_number_its_place() -> None:
    used = {name for said in ALL for name in re.findall(r"{(\w+)}", said.en)}
    shown_otherwise = {"links", "tokens", "what", "name", "count", "step", "without", "cached", "price"}
    shown_otherwise |= {"recomputed", "computed", "looked_up"}
    assert used - shown_otherwise <= facts().keys()
    in_tables = {
        f"{name}_{unit}" for name in ("one", "sixteen", "all", "all_long", "round_weights") for unit in ("gb", "gib")
    }
    in_tables |= {"layers", "value_bytes", "per_token_bytes", "tokens"}
    assert facts().keys() - used - in_tables == set()


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_is_a_link_that_opens_what_it_says(name: str) -> None:
    scene = SCENES[name]
    again, rejected = from_query(dict(parse_qsl(urlencode({**to_query(scene.scenario), **scene.more, "lang": "ja"}))))
    assert rejected == ()
    assert again == scene.scenario
    assert scene.page in text.PAGES
    assert sized(scene.scenario).budget is not None


def test_every_scene_is_used_and_every_one_used_is_there() -> None:
    named = {scene for *_, scenes in (*text.MISCONCEPTIONS, *text.FAQ) for scene in scenes}
    assert (named | set(text.LEVERS) | set(text.USES)) <= set(SCENES)


def test_the_timeline_is_in_order_and_has_its_sources() -> None:
    years = [int(year) for year, _, _ in text.TIMELINE]
    assert years == sorted(years)
    assert {source for *_, source in text.TIMELINE} <= set(text.SOURCES)
    assert all(address.startswith("https://") for _, address in text.SOURCES.values())
    assert len(TERMS) >= 25
