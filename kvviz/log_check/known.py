"""Which model a log is about: given, or one of the bundled ones that it names."""

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kvviz import catalogue
from kvviz.catalogue import Loaded
from kvviz.core.architecture import Architecture, parse_config
from kvviz.core.errors import UnknownArchitectureError
from kvviz.engine_log import EngineLog
from kvviz.log_check.layers import encoder_of

_BUILD: Final = re.compile(
    r"[-_. ](?:awq|gptq|gguf|bnb|fp8|fp16|bf16|f16|nvfp4|mxfp4|int[48]|[48]bit|w\d+a\d+|quantized|i?q\d\w*|hf)$",
    re.IGNORECASE,
)
"""Endings of names that say how weights are stored, which is nothing to the cache."""
_MOST_LAYERS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model that a log can be compared with."""

    name: str
    architecture: Architecture
    encoder_layers: int | None = None
    """Of an encoder-decoder, as its file says."""


def model_of(loaded: Loaded) -> Model:
    """A config that was read."""
    return Model(
        name=loaded.model,
        architecture=loaded.architecture,
        encoder_layers=_encoder_layers(loaded.config),
    )


def read_model(path: str | Path) -> Model:
    """A config.json on disk, that of an encoder too: it has no cache to size, but engines gave it one."""
    try:
        return model_of(catalogue.load_file(path))
    except UnknownArchitectureError:
        place = Path(path)
        file = place / "config.json" if place.is_dir() else place
        name = file.absolute().parent.name if file.name == "config.json" else file.stem
        encoder = encoder_model(parse_config(file.read_bytes()), name)
        if encoder is None:
            raise
        return encoder


def encoder_model(config: Mapping[str, object], name: str) -> Model | None:
    """A BERT-like model, of which kvviz sizes nothing by itself; None for any other."""
    architecture = encoder_of(config)
    return None if architecture is None else Model(name=catalogue.safe_name(name), architecture=architecture)


def decode(raw: bytes) -> str:
    """A log's bytes as text; PowerShell's ``>`` writes UTF-16."""
    utf16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if utf16 else "utf-8-sig", errors="replace")


def named_in(log: EngineLog) -> Model | None:
    """The bundled model that a log names, whatever its weights are stored in; None where it is none of them."""
    if not log.model:
        return None
    whole, short = _letters(log.model), _letters(log.model.rpartition("/")[2])
    bare = _letters(_published(log.model.rpartition("/")[2]))
    for wanted in ((whole,), (short,), (bare, bare.removeprefix("meta"))):
        found = [m for m in catalogue.models() if {_letters(m), _letters(m.rpartition("/")[2])} & set(wanted)]
        if found:
            return model_of(catalogue.load(found[0]))
    return None


def _published(name: str) -> str:
    while (shorter := _BUILD.sub("", name)) != name:
        name = shorter
    return name


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def _encoder_layers(config: Mapping[str, object]) -> int | None:
    layers = config.get("encoder_layers")
    return layers if type(layers) is int and 0 < layers < _MOST_LAYERS else None
