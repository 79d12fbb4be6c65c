"""What an operator sets: the documented table, its defaults, and what cannot be understood."""

import re

import pytest

from kvviz.core.errors import ScenarioError
from kvviz.live import settings as module
from kvviz.live.settings import Settings, read_settings

ROWS = re.findall(r"^(KVVIZ_LIVE\w*) +(\S+) +\S", module.__doc__ or "", re.MULTILINE)


def test_the_table_has_every_setting_and_its_default() -> None:
    assert len(ROWS) == len(Settings.__dataclass_fields__)
    written = {name.removeprefix("KVVIZ_LIVE").removeprefix("_").lower() or "on": value for name, value in ROWS}
    for field in Settings.__dataclass_fields__:
        default = getattr(Settings(), field)
        shown = {True: "on", "": "(none)", (): "(none)"}.get(default, str(default))
        assert written[field] == shown, field
    assert read_settings({}) == Settings()


def test_all_are_read() -> None:
    given = {name: {"(none)": "owner/name, ./folder", "auto": "cpu", "on": "off"}.get(v, "7") for name, v in ROWS}
    read = read_settings(given | {"KVVIZ_LIVE_MODEL": " owner/name "})
    assert read.model == "owner/name"
    assert read.models == ("owner/name", "./folder")
    assert (read.on, read.device) == (False, "cpu")
    numbers = [getattr(read, field) for field in Settings.__dataclass_fields__]
    assert [n for n in numbers if type(n) is int] == [7] * 8


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("KVVIZ_LIVE", "perhaps"),
        ("KVVIZ_LIVE_MAX_TOKENS", "many"),
        ("KVVIZ_LIVE_MAX_TOKENS", "1"),
        ("KVVIZ_LIVE_MAX_BATCH", "0"),
        ("KVVIZ_LIVE_DEVICE", "tpu"),
    ],
)
def test_what_cannot_be_understood_is_named(name: str, given: str) -> None:
    with pytest.raises(ScenarioError, match=name):
        read_settings({name: given})


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("MAX_TOKENS", 2, 1 << 20),
        ("MAX_BATCH", 1, 1_024),
        ("MAX_SECONDS", 1, 86_400),
        ("LOAD_SECONDS", 1, 86_400),
        ("MAX_WAITING", 0, 10_000),
        ("ABANDONED_S", 1, 86_400),
        ("IDLE_S", 0, 86_400),
        ("THREADS", 0, 1_024),
    ],
)
def test_limits(name: str, low: int, high: int) -> None:
    variable = f"KVVIZ_LIVE_{name}"
    for number in (low, high):
        assert getattr(read_settings({variable: str(number)}), name.lower()) == number
    for number in (low - 1, high + 1):
        with pytest.raises(ScenarioError, match=f"{variable}: .* whole number from {low:,} to {high:,}"):
            read_settings({variable: str(number)})


def test_numbers_as_people_write_them() -> None:
    assert read_settings({"KVVIZ_LIVE_MAX_TOKENS": "4,096", "KVVIZ_LIVE_MAX_BATCH": ""}).max_tokens == 4096
