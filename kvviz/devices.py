"""GPUs: memory as the driver reports it and bandwidth as the vendor states it, each with its source."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from kvviz.core.errors import ScenarioError
from kvviz.core.units import MIB
from kvviz.text import Message
from kvviz.text import engine as text

Generation = Literal["turing", "ampere", "ada", "hopper", "blackwell", "blackwell-rtx", "cdna3"]

_FILE: Final = Path(__file__).parent / "data" / "devices.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One model of GPU."""

    id: str
    """The name used in links and on the command line."""
    name: str
    memory_bytes: int
    """As the driver reports it (nvidia-smi, rocm-smi); CUDA itself can use some hundred MiB less."""
    memory_source: str
    bandwidth_bytes_per_s: int
    """Peak memory bandwidth."""
    bandwidth_source: str
    generation: Generation
    """Decides which attention and state kernels an engine picks; ``blackwell-rtx`` is compute capability 12."""


@cache
def devices() -> tuple[Device, ...]:
    """Every known GPU, the common ones first."""
    rows = json.loads(_FILE.read_text(encoding="utf-8"))
    return tuple(
        Device(
            id=row["id"],
            name=row["name"],
            memory_bytes=row["memory_mib"] * MIB,
            memory_source=row["memory_source"],
            bandwidth_bytes_per_s=row["bandwidth_gb_per_s"] * 10**9,
            bandwidth_source=row["bandwidth_source"],
            generation=row["generation"],
        )
        for row in rows
    )


def device(device_id: str) -> Device:
    """The GPU with this id; a ScenarioError that lists them where there is none."""
    found = _by_id().get(device_id)
    if found is None:
        ids = ", ".join(_by_id())
        raise ScenarioError(Message(text.UNKNOWN_GPU, {"gpu": repr(device_id), "ids": ids}), field="gpu")
    return found


@cache
def _by_id() -> dict[str, Device]:
    return {d.id: d for d in devices()}
