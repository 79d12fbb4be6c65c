"""GPUs: memory as the driver reports it or the vendor names it, and bandwidth, each with its source."""

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from kvviz.core.errors import ScenarioError
from kvviz.core.units import GIB, MIB
from kvviz.estimate import Basis, Estimate
from kvviz.text import Message
from kvviz.text import devices as text
from kvviz.text import engine as engine_text

Generation = Literal[
    "volta", "turing", "ampere", "ada", "hopper", "blackwell", "blackwell-rtx",
    "cdna2", "cdna3", "cdna4", "rdna3", "rdna4", "apple",
]  # fmt: skip
Kind = Literal["data-centre", "workstation", "consumer", "mig", "apple"]
Maker = Literal["nvidia", "amd", "apple"]

_DATA: Final = Path(__file__).parent / "data"
_OFFERED: Final = _DATA / "devices.json"
_MORE: Final = _DATA / "devices_more.json"
_COMMON: Final = ("h100-80gb", "h200", "b200", "a100-80gb", "l40s", "rtx-5090", "rtx-4090", "mi300x")
TYPED: Final = "as typed"
"""Source of the memory of a GPU that is only known by its size."""
_SIZE: Final = re.compile(r"(\d{1,4}(?:\.\d{1,2})?) ?(gi?[bo]?)?")
_MOST_WITHOUT_UNIT: Final = 1024
"""GiB: a larger bare number is rather part of a GPU's name."""
_SHORTEST_NUMBER: Final = 100
"""From here on a number inside a word, as in H100, is a GPU's; below it are sizes."""
_OWN: Final = re.compile(r"own-(\d{1,4}(?:\.\d{1,2})?)gib")
_SMALL_MAC: Final = 32 * GIB
"""Up to here Metal's share is two thirds, above it three quarters (llama.cpp's recommendedMaxWorkingSetSize: 10.67 of
16 GiB, 21.33 of 32, 27 of 36, 96 of 128)."""
_H100_SEEN_GIB: Final = "79.18"
"""The device total torch reports on an H100 80GB (start-up log of vLLM 0.11)."""
_MI300X_SEEN_GIB: Final = "191.45"
"""The same on an MI300X (https://github.com/vllm-project/vllm/issues/20069)."""
_RADEON_HIDDEN: Final = GIB // 50
"""23.98 of 24 GiB (https://github.com/vllm-project/vllm/issues/15018)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One model of GPU, or a slice of one."""

    id: str
    """The name used in links and on the command line."""
    name: str
    memory_bytes: int
    """As the driver reports it (nvidia-smi, rocm-smi) where that is known; see ``hidden_bytes`` for what it keeps."""
    memory_source: str
    memory_basis: Literal["measured", "nominal"] = "measured"
    """nominal: the vendor's figure, which no driver was seen to report."""
    bandwidth_bytes_per_s: int
    """Peak memory bandwidth; 0: not known."""
    bandwidth_source: str
    generation: Generation
    """Decides which attention and state kernels an engine picks; ``blackwell-rtx`` is compute capability 12."""
    kind: Kind = "data-centre"
    unified: bool = False
    """One memory for the processor and the GPU."""

    @property
    def maker(self) -> Maker:
        """Whose it is: which engines and builds run on it."""
        if self.generation == "apple":
            return "apple"
        return "amd" if self.generation.startswith(("cdna", "rdna")) else "nvidia"


@cache
def devices() -> tuple[Device, ...]:
    """The GPUs that are offered and suggested at once, the common ones first; ``every_device`` has the rest too."""
    return _read(_OFFERED)


@cache
def every_device() -> tuple[Device, ...]:
    """Every known GPU: the common ones, then the others that are offered, then the rest."""
    known = {d.id: d for d in (*devices(), *_read(_MORE))}
    return (*common(), *(d for d in known.values() if d.id not in _COMMON))


@cache
def common() -> tuple[Device, ...]:
    """The eight asked for most."""
    known = {d.id: d for d in devices()}
    return tuple(known[name] for name in _COMMON)


def own(written: str) -> str | None:
    """The id of a GPU of which only the memory is known, as people write it (``48``, ``48 GB``, ``47.5 GiB``); None:
    that is no size, or without a unit a number in GPUs' names (``3090``, ``100``)."""
    match = _SIZE.fullmatch(written.strip().lower())
    if match is None or not float(match[1]):
        return None
    if not match[2] and (float(match[1]) > _MOST_WITHOUT_UNIT or _numbered(match[1])):
        return None
    return f"own-{match[1]}gib"


def device(device_id: str) -> Device:
    """The GPU with this id; a ScenarioError where there is none."""
    found = _by_id().get(device_id) or _own(device_id)
    if found is None:
        raise ScenarioError(Message(engine_text.UNKNOWN_GPU, {"gpu": repr(device_id)}), field="gpu")
    return found


def _own(device_id: str) -> Device | None:
    match = _OWN.fullmatch(device_id)
    memory_bytes = int(Fraction(match[1]) * GIB) if match else 0
    if match is None or not memory_bytes:
        return None
    return Device(
        id=device_id,
        name=f"{match[1]} GiB GPU",
        memory_bytes=memory_bytes,
        memory_source=TYPED,
        memory_basis="nominal",
        bandwidth_bytes_per_s=0,
        bandwidth_source="not known",
        generation="hopper",
    )


def search(query: str) -> tuple[Device, ...]:
    """GPUs whose name has all words of the query, the best matches first: ``4090``, ``a100 80``, ``m3 ultra``, ``mig``.

    Blanks and hyphens do not matter. Nothing asked: all, the common ones first.
    """
    words = [w for word in query.lower().split() if (w := _plain(word))]
    found = [d for d in every_device() if all(word in _searched(d) for word in words)]
    asked = _plain(query)
    return tuple(sorted(found, key=lambda d: (asked != _plain(d.id), not _begins(d, words), d.kind == "mig")))


def named(written: str) -> str | None:
    """The id that somebody means: a size of one's own, a GPU's id or name with or without its maker, or the only one
    that ``search`` finds. None: nobody knows."""
    asked = _plain(written)
    for gpu in every_device():
        if asked and asked in (_plain(gpu.id), _plain(gpu.name), _plain(gpu.name.partition(" ")[2])):
            return gpu.id
    found = meant(written)
    return own(written) or (found[0].id if len(found) == 1 else None)


def meant(written: str) -> tuple[Device, ...]:
    """The GPUs that somebody may mean, none where nothing fits: what ``search`` finds, but a bare number is that of
    a name (``3090``) and no part of another number."""
    number = written.strip()
    if not _plain(number):
        return ()
    if not re.fullmatch(r"\d+", number):
        return search(number)
    found = _numbered(number)
    return tuple(d for d in found if d.name.endswith(f" {number}")) or found


@lru_cache(maxsize=256)
def _numbered(number: str) -> tuple[Device, ...]:
    """GPUs with this number in their name: as a word, else inside one (``100`` of H100), but no size (``48GB``)."""
    words = {d: [w for w in re.split(r"[ \-]", d.name.lower()) if not w.endswith("gb")] for d in every_device()}
    if alone := tuple(d for d in words if number in words[d]):
        return alone
    inside = re.compile(rf"[a-z]*{re.escape(number)}[a-z]*")
    long = number.isdecimal() and float(number) >= _SHORTEST_NUMBER  # int() refuses thousands of digits
    return tuple(d for d in words if d.kind != "mig" and any(map(inside.fullmatch, words[d]))) if long else ()


def memory_note(gpu: Device) -> Message:
    """How the memory is known."""
    if gpu.memory_basis == "measured":
        return Message(text.MEMORY_REPORTED)
    if gpu.memory_source == TYPED:
        return Message(text.MEMORY_TYPED)
    return Message(text.MEMORY_OF_SLICE if gpu.kind == "mig" else text.MEMORY_NOMINAL)


def hidden_bytes(gpu: Device) -> Estimate:
    """What of the reported memory a program cannot use: the driver's own share, or what Metal keeps back."""
    if gpu.generation == "apple":
        # Thirds rounded up: never more than Metal allows.
        kept = -(-gpu.memory_bytes // (3 if gpu.memory_bytes <= _SMALL_MAC else 4))
        percent = 67 if gpu.memory_bytes <= _SMALL_MAC else 75
        return _estimate(kept, "assumed", Message(text.METAL_SHARE, {"percent": percent}))
    if gpu.unified:
        return _estimate(0, "assumed", Message(text.SHARED))
    if gpu.maker == "amd":
        if gpu.generation.startswith("rdna"):
            return _estimate(_RADEON_HIDDEN, "assumed", Message(text.HIDDEN_RADEON))
        return _as_on(gpu, "mi300x", _MI300X_SEEN_GIB)
    return _as_on(gpu, "h100-80gb", _H100_SEEN_GIB)


def usable_bytes(gpu: Device) -> Estimate:
    """What a program can use at most: the reported memory less ``hidden_bytes``."""
    hidden = hidden_bytes(gpu)
    return Estimate(value_bytes=gpu.memory_bytes - hidden.value_bytes, basis=hidden.basis, source=hidden.source)


def _as_on(gpu: Device, like: str, seen_gib: str) -> Estimate:
    there = device(like)
    hidden = there.memory_bytes - round(float(seen_gib) * GIB)
    if gpu.id == like:
        return _estimate(hidden, "measured", Message(text.HIDDEN_MEASURED, {"seen": seen_gib}))
    return _estimate(hidden, "assumed", Message(text.HIDDEN_LIKE, {"like": there.name}))


def _estimate(count: int, basis: Basis, source: Message) -> Estimate:
    return Estimate(value_bytes=count, basis=basis, source=source)


def _read(file: Path) -> tuple[Device, ...]:
    rows: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return tuple(
        Device(
            id=row["id"],
            name=row["name"],
            memory_bytes=row["memory_mib"] * MIB,
            memory_source=row["memory_source"],
            memory_basis=row.get("memory_basis", "measured"),
            bandwidth_bytes_per_s=row["bandwidth_gb_per_s"] * 10**9,
            bandwidth_source=row["bandwidth_source"],
            generation=row["generation"],
            kind=row.get("kind", "data-centre"),
            unified=row.get("unified", False),
        )
        for row in rows
    )


@cache
def _by_id() -> dict[str, Device]:
    return {d.id: d for d in every_device()}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.lower())


def _searched(gpu: Device) -> str:
    return f"{_plain(gpu.name)} {_plain(gpu.id)} {gpu.generation} {gpu.maker} {gpu.kind}"


def _begins(gpu: Device, words: list[str]) -> bool:
    """Whether every word asked for is a whole word of the name."""
    own = {_plain(word) for word in re.split(r"[ \-]", gpu.name.lower())}
    return set(words) <= own
