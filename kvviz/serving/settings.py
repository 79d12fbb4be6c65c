"""Which engines the operator attached: ``KVVIZ_ENGINES=name=URL,name=URL``. Nobody else can name one.

A URL that a visitor could set would let anybody ask whatever this server can reach.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from kvviz.core.errors import ScenarioError
from kvviz.core.units import format_count
from kvviz.text import Message
from kvviz.text import serving as text

VARIABLE: Final = "KVVIZ_ENGINES"
MAX_ENGINES: Final = 16
_NAME_CHARACTERS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where an engine answers. Pages show its name, never its URL, which may tell of a network inside."""

    name: str
    url: str
    """Without a slash at its end."""


def read_addresses(
    environment: Mapping[str, str] | None = None,
) -> tuple[tuple[Address, ...], tuple[ScenarioError, ...]]:
    """The attached engines, none where nothing is set, and what is wrong with other entries, which costs no good one.

    What is wrong is said by the entry's number: visitors read it, and what was written may hold a password.
    """
    written = (os.environ if environment is None else environment).get(VARIABLE, "")
    entries = [entry.strip() for entry in written.split(",") if entry.strip()]
    found: dict[str, Address] = {}
    unclear: list[int] = []
    twice: list[int] = []
    beyond = 0
    for number, entry in enumerate(entries, start=1):
        name, _, url = (part.strip() for part in entry.partition("="))
        # People copy the address they tried in a browser.
        url = url.rstrip("/").removesuffix("/metrics").removesuffix("/v1").rstrip("/")
        if not 0 < len(name) <= _NAME_CHARACTERS or not name.isprintable() or not _is_plain(url):
            unclear.append(number)
        elif name in found:
            twice.append(number)
        elif len(found) == MAX_ENGINES:
            beyond += 1
        else:
            found[name] = Address(name=name, url=url)
    problems = [
        _error(Message(said, {"numbers": ", ".join(map(str, numbers))}))
        for said, numbers in ((text.NOT_NAME_AND_URL, unclear), (text.NAME_TWICE, twice))
        if numbers
    ]
    if beyond:
        problems.append(_error(Message(text.TOO_MANY, {"count": format_count(beyond), "limit": MAX_ENGINES})))
    return tuple(found.values()), tuple(problems)


def _is_plain(url: str) -> bool:
    """http or https, a host, perhaps a port and a path; no password, which would end up in logs."""
    try:
        split = urlsplit(url)
        split.port  # noqa: B018 - raises where it is no number
    except ValueError:
        return False
    plain = split.scheme in ("http", "https") and bool(split.hostname) and "@" not in split.netloc
    return plain and not split.query and not split.fragment and url.isprintable() and " " not in url


def _error(message: Message) -> ScenarioError:
    return ScenarioError(message, field=VARIABLE)
