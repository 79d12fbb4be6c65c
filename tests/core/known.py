"""The bundled configs and what is known about their caches."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from kvviz.core.architecture import parse_config

CONFIGS = Path(__file__).parents[2] / "kvviz" / "data" / "configs"
KNOWN: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "data" / "known_sizes.json").read_text())
MODELS = [row["model"] for row in KNOWN]


def config_path(model: str) -> Path:
    """Where the config of ``model`` is bundled."""
    return CONFIGS / f"{model.replace('/', '--')}.json"


@cache
def config_text(model: str) -> bytes:
    """The file as published."""
    return config_path(model).read_bytes()


def config_of(model: str) -> dict[str, Any]:
    """A fresh copy of the config of ``model``, to be changed at will."""
    return parse_config(config_text(model))
