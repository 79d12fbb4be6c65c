"""What travels in a link compressed, as text that is safe in a URL: a config's fields, scenarios, prompts."""

import base64
import binascii
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Final

from kvviz.core.architecture import parse_config, used_fields
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.units import format_count
from kvviz.scenario import CONFIG_CHARACTERS, Rejected, Scenario, from_json, shown, to_json
from kvviz.text import Message
from kvviz.text import catalogue as text

SET_SCENARIOS: Final = 6
SET_CHARACTERS: Final = 12_000
PROMPTS_CHARACTERS: Final = 12_000
_UNPACKED_BYTES: Final = 1_000_000
"""A link never makes the reader inflate more than this."""


def pack_config(config: Mapping[str, object]) -> str:
    """``config`` as ``Scenario.config`` carries it. Raises ScenarioError where it does not fit into a link."""
    packed = _packed(used_fields(config))
    if len(packed) > CONFIG_CHARACTERS:
        values = {"characters": format_count(len(packed)), "limit": format_count(CONFIG_CHARACTERS)}
        raise ScenarioError(Message(text.TOO_LARGE_FOR_LINK, values), field="config")
    return packed


def unpack_config(packed: str) -> dict[str, object]:
    """The fields that ``pack_config`` kept. Raises ScenarioError for anything else, and never inflates a bomb."""
    try:
        return parse_config(_unpacked(packed, CONFIG_CHARACTERS))
    except (ValueError, binascii.Error, zlib.error, KvvizError):
        raise ScenarioError(Message(text.NOT_A_PACKED_CONFIG), field="config") from None


def pack_scenarios(scenarios: Sequence[Scenario]) -> str:
    """Every field of each, as a link carries them under ``set``. Raises ScenarioError where they do not fit."""
    packed = _packed([to_json(scenario) for scenario in scenarios[:SET_SCENARIOS]])
    if len(packed) > SET_CHARACTERS:
        values = {"characters": format_count(len(packed)), "limit": format_count(SET_CHARACTERS)}
        raise ScenarioError(Message(text.SET_TOO_LARGE, values), field="set")
    return packed


def unpack_scenarios(packed: str) -> tuple[tuple[Scenario, ...], tuple[Rejected, ...]]:
    """The scenarios of a link and what of them was rejected. Takes anything, raises nothing."""
    try:
        written = json.loads(_unpacked(packed, SET_CHARACTERS))
        if not isinstance(written, list) or not all(isinstance(one, dict) for one in written):
            raise ValueError
    except (ValueError, RecursionError, binascii.Error, zlib.error):
        refused = Rejected(field="set", shown=shown(packed), message=Message(text.NOT_A_SET))
        return (), (refused,)
    read = [from_json(one) for one in written[:SET_SCENARIOS]]
    return tuple(scenario for scenario, _ in read), tuple(one for _, rejected in read for one in rejected)


def pack_prompts(prompts: Sequence[str]) -> str:
    """Prompts as a link carries them. Raises ScenarioError where they do not fit."""
    packed = _packed(list(prompts))
    if len(packed) > PROMPTS_CHARACTERS:
        values = {"characters": format_count(len(packed)), "limit": format_count(PROMPTS_CHARACTERS)}
        raise ScenarioError(Message(text.PROMPTS_TOO_LARGE, values), field="prompts")
    return packed


def unpack_prompts(packed: str) -> tuple[str, ...]:
    """The prompts of a link. Raises ScenarioError for anything else, and never inflates a bomb."""
    try:
        written = json.loads(_unpacked(packed, PROMPTS_CHARACTERS))
        if not isinstance(written, list) or not all(isinstance(one, str) for one in written):
            raise ValueError
        "".join(written).encode()  # half a character cannot be shown
    except (ValueError, RecursionError, binascii.Error, zlib.error):
        raise ScenarioError(Message(text.NOT_PROMPTS), field="prompts") from None
    return tuple(written)


def _packed(value: object) -> str:
    compact = json.dumps(value, separators=(",", ":"), sort_keys=True)
    return base64.urlsafe_b64encode(zlib.compress(compact.encode(), 9)).decode().rstrip("=")


def _unpacked(packed: str, limit: int) -> bytes:
    """Raises ValueError, binascii.Error or zlib.error for anything else, and never inflates a bomb."""
    if len(packed) > limit:
        raise ValueError
    compressed = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
    stream = zlib.decompressobj()
    raw = stream.decompress(compressed, _UNPACKED_BYTES)
    if not stream.eof or stream.unused_data:
        raise ValueError  # cut off, too large, or followed by something else
    return raw
