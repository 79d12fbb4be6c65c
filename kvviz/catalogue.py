"""The bundled config.json files: which there are, finding one by its name, reading one."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Final

from kvviz.core.architecture import Architecture, Note, parse_config, read_config
from kvviz.core.architecture.reader import MAX_BYTES
from kvviz.core.errors import ConfigError, KvvizError
from kvviz.core.units import format_count
from kvviz.text import Message
from kvviz.text import catalogue as text

_FEWEST_LETTERS: Final = 3
"""Of a name that others can be near to."""
_FOLDER: Final = Path(__file__).parent / "data" / "configs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A config that was read."""

    model: str
    """Hub id as the Hub spells it, or a name made from the file's place."""
    config: Mapping[str, object]
    """The file as it is. Shared by all callers: not to be changed."""
    architecture: Architecture
    revision: str
    """``sha256:`` and 12 digits of the content, so that a link pins what its numbers were computed from."""
    notes: tuple[Note, ...] = ()
    """What to know about where the file came from."""


def models() -> tuple[str, ...]:
    """The ids of all bundled models, in alphabetical order. Opens no file."""
    return tuple(_files())


def search(query: str) -> tuple[str, ...]:
    """Bundled models whose id holds every word of ``query``, the closest names first; all for an empty query.

    Case and punctuation are no obstacle: ``llama3.1 70b`` finds ``meta-llama/Llama-3.1-70B-Instruct``.
    """
    words = query.lower().split()[:16]
    if not words:
        return models()
    whole = _letters(query)

    def rank(model: str) -> tuple[bool, bool, int, str]:
        name = _letters(model.rpartition("/")[2])
        begins = any(name.startswith(_letters(word)) for word in words)
        return whole not in (name, _letters(model)), not begins, len(name), model.lower()

    found = [m for m in models() if all(w in m.lower() or (_letters(w) or w) in _letters(m) for w in words)]
    return tuple(sorted(found, key=rank))


def named(query: str) -> str | None:
    """The one bundled model that ``query`` names: the only one it finds, or the one of exactly this name."""
    found = search(query)
    exact = [m for m in found if _letters(query) in (_letters(m), _letters(m.rpartition("/")[2]))]
    if len(exact) == 1:
        return exact[0]
    return found[0] if len(found) == 1 else None


def load(model: str) -> Loaded:
    """One bundled model by its id, in any case. Raises KvvizError with near matches where there is none."""
    return _load(_spelled(model))


def load_file(path: str | Path) -> Loaded:
    """A config.json on disk (or a pipe), or the one in a directory. The model's name is made from where it lies."""
    place = Path(path)
    shown = _shown(str(place))
    try:
        if place.is_dir():
            place /= "config.json"
            shown = _shown(str(place))
        with place.open("rb") as file:
            name = place.absolute().parent.name if place.name == "config.json" else place.stem
            return load_stream(file, name=name, shown=shown)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a name with a zero byte
        raise KvvizError(Message(text.NO_FILE, {"path": shown}), code="no-file") from None
    except OSError as error:
        values = {"path": shown, "why": error.strerror or type(error).__name__}
        raise KvvizError(Message(text.UNREADABLE, values), code="unreadable-file") from None


def load_stream(file: BinaryIO, *, name: str, shown: str) -> Loaded:
    """A config.json read to the end from ``file``, which messages call ``shown``; OSError is the caller's."""
    raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ConfigError(Message(text.TOO_LARGE, {"path": shown, "limit": format_count(MAX_BYTES)}))
    config = parse_config(raw)
    return Loaded(model=safe_name(name), config=config, architecture=read_config(config), revision=revision_of(config))


def _shown(path: str) -> str:
    return "".join(c if c.isprintable() else "·" for c in path)[-200:]


def safe_name(name: str) -> str:
    """``name`` with only the characters a scenario's model may have, and short."""
    return re.sub(r"^\W+|[^\w.+)]+$", "", re.sub(r"[^\w .+/()-]+", "-", name)[:100]) or "config"


def revision_of(config: Mapping[str, object]) -> str:
    """A pin for a config's content, whatever its line ends, indents and order.

    Of the whole file wherever it lies, bundled or given by path. A link carries only the fields that were read, so the
    pin of a carried config is of those.
    """
    canonical = json.dumps(config, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()[:12]


@lru_cache(maxsize=1)
def _files() -> Mapping[str, Path]:
    """Id -> file. A file's name is its id with ``--`` for ``/``."""
    found = {path.stem.replace("--", "/", 1): path for path in _FOLDER.glob("*.json")}
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def _spelled(model: str) -> str:
    """The Hub's spelling of ``model``. An id is only ever looked up in the listing, never made into a path."""
    if model in _files():
        return model
    by_lower = {known.lower(): known for known in models()}
    wanted = model.strip().lower()
    if wanted in by_lower:
        return by_lower[wanted]
    near = _near(wanted, by_lower)
    values: dict[str, object] = {"model": re.sub(r"[^\w .+/-]", "·", model)[:80], "near": ", ".join(near)}
    raise KvvizError(Message(text.UNKNOWN_MODEL_NEAR if near else text.UNKNOWN_MODEL, values), code="unknown-model")


def _near(wanted: str, by_lower: Mapping[str, str]) -> tuple[str, ...]:
    if len(_letters(wanted)) < _FEWEST_LETTERS:  # a letter or two are in every other name
        return ()
    if found := search(wanted[:80])[:3]:
        return found
    from difflib import get_close_matches  # only for a mistyped id: keeps the command line's start short

    names = {low.rpartition("/")[2]: known for low, known in by_lower.items()}
    close = get_close_matches(wanted[:80], by_lower, n=3, cutoff=0.6)
    close_names = get_close_matches(wanted[:80].rpartition("/")[2], names, n=3, cutoff=0.6)
    return tuple(dict.fromkeys([*(by_lower[c] for c in close), *(names[c] for c in close_names)]))[:3]


@lru_cache(maxsize=256)
def _load(model: str) -> Loaded:
    config = parse_config(_files()[model].read_text(encoding="utf-8"))
    confidence, note = _sources().get(_files()[model].name, ("", ""))
    notes = (Note(code="source-doubtful", message=Message(text.DOUBTFUL, {"note": note})),)
    return Loaded(
        model=model,
        config=config,
        architecture=read_config(config),
        revision=revision_of(config),
        notes=notes if confidence == "low" else (),
    )


@lru_cache(maxsize=1)
def _sources() -> Mapping[str, tuple[str, str]]:
    """File name -> how far its source is to be trusted, and why."""
    rows = [line.split("\t") for line in (_FOLDER / "SOURCES.tsv").read_text(encoding="utf-8").splitlines()]
    file, confidence, note = (rows[0].index(column) for column in ("file", "confidence", "note"))
    return {row[file]: (row[confidence], row[note] if len(row) > note else "") for row in rows[1:] if len(row) > 1}


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())
