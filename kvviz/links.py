"""A pasted config.json in a link: just the fields the reader uses, compressed, as text that is safe in a URL."""

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from typing import Final

from kvviz.core.architecture import parse_config, used_fields
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.units import format_count
from kvviz.scenario import CONFIG_CHARACTERS
from kvviz.text import Message
from kvviz.text import catalogue as text

_UNPACKED_BYTES: Final = 1_000_000
"""A link never makes the reader inflate more than this."""


def pack_config(config: Mapping[str, object]) -> str:
    """``config`` as ``Scenario.config`` carries it. Raises ScenarioError where it does not fit into a link."""
    compact = json.dumps(used_fields(config), separators=(",", ":"), sort_keys=True)
    packed = base64.urlsafe_b64encode(zlib.compress(compact.encode(), 9)).decode().rstrip("=")
    if len(packed) > CONFIG_CHARACTERS:
        values = {"characters": format_count(len(packed)), "limit": format_count(CONFIG_CHARACTERS)}
        raise ScenarioError(Message(text.TOO_LARGE_FOR_LINK, values), field="config")
    return packed


def unpack_config(packed: str) -> dict[str, object]:
    """The fields that ``pack_config`` kept. Raises ScenarioError for anything else, and never inflates a bomb."""
    try:
        if len(packed) > CONFIG_CHARACTERS:
            raise ValueError
        compressed = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        stream = zlib.decompressobj()
        raw = stream.decompress(compressed, _UNPACKED_BYTES)
        if not stream.eof or stream.unused_data:
            raise ValueError  # cut off, too large, or followed by something else
        return parse_config(raw)
    except (ValueError, binascii.Error, zlib.error, KvvizError):
        raise ScenarioError(Message(text.NOT_A_PACKED_CONFIG), field="config") from None
