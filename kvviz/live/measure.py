"""Reading memory: the storages behind a cache's tensors, and what a device says of itself."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from kvviz.live.sample import Memory

if TYPE_CHECKING:
    import torch

_GRANULE_BYTES: Final = 512
"""What PyTorch's CUDA allocator rounds every request up to (kMinBlockSize of ``c10/core/AllocatorConfig.h``)."""
_LIBRARIES: Final = ("transformers", "optimum", "torch")


def tensors(held: object) -> Iterator[Any]:
    """Every tensor that a cache holds, however deep; the parts of one that is made of others (quantised ones)."""
    import torch

    seen: set[int] = set()
    open_ = [held]
    while open_:
        each = open_.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, torch.Tensor):
            parts = getattr(each, "__tensor_flatten__", None)
            if parts is None or type(each) in (torch.Tensor, torch.nn.Parameter):
                yield each
            else:
                open_ += [getattr(each, name) for name in parts()[0]]
        elif isinstance(each, Mapping):
            open_ += each.values()
        elif isinstance(each, list | tuple | set):
            open_ += each
        elif type(each).__module__.partition(".")[0] in _LIBRARIES and hasattr(each, "__dict__"):
            open_ += vars(each).values()


def storages(of: Iterable[Any]) -> tuple[int, ...]:
    """Bytes of the storages behind tensors, each storage once: a view takes no memory of its own, and keeps all."""
    found: dict[int, int] = {}
    for tensor in of:
        storage = tensor.untyped_storage()
        if size := storage.nbytes():
            found[storage.data_ptr()] = size
    return tuple(found.values())


def cache_storages(cache: object) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Storages of what a cache remembers, and of the single whole numbers it counts with."""
    found = list(tensors(cache))
    counters = [t for t in found if not t.dim() and not t.is_floating_point()]
    return storages(t for t in found if t.dim() or t.is_floating_point()), storages(counters)


class Probe(Protocol):
    """What the loop asks of a device."""

    def begin(self) -> None:
        """Wait until the device is idle; the peak starts anew."""

    def end(self) -> None:
        """Wait until the device is idle."""

    def memory(self) -> Memory:
        """Now."""

    def rounding(self, storages_bytes: Iterable[int]) -> int | None:
        """What the allocator adds to such storages; None: not to be known."""

    def give_back(self) -> None:
        """Return to the system what no tensor holds any more."""


class CpuProbe:
    """The kernel's view of this process and machine. What the C library rounds up, it does not tell."""

    def begin(self) -> None:
        """Nothing runs behind one's back."""

    def end(self) -> None:
        """Nothing runs behind one's back."""

    def memory(self) -> Memory:
        """Resident set, and what is free on the machine or in its container."""
        total, free = machine_memory()
        return Memory(total_bytes=total, free_bytes=free, resident_bytes=_resident())

    def rounding(self, storages_bytes: Iterable[int]) -> int | None:
        """Not to be known."""
        return None

    def give_back(self) -> None:
        """The C library keeps what it likes."""


class CudaProbe:
    """PyTorch's allocator and the driver."""

    def __init__(self, device: "torch.device") -> None:
        self._device = device

    def begin(self) -> None:
        """Wait, and start the peak anew."""
        import torch

        torch.cuda.synchronize(self._device)
        torch.cuda.reset_peak_memory_stats(self._device)

    def end(self) -> None:
        """Wait."""
        import torch

        torch.cuda.synchronize(self._device)

    def memory(self) -> Memory:
        """The allocator's counts, and the driver's."""
        import torch

        free, total = torch.cuda.mem_get_info(self._device)
        stats = torch.cuda.memory_stats(self._device)
        return Memory(
            total_bytes=total,
            free_bytes=free,
            allocated_bytes=torch.cuda.memory_allocated(self._device),
            requested_bytes=stats.get("requested_bytes.all.current"),
            reserved_bytes=torch.cuda.memory_reserved(self._device),
            peak_bytes=torch.cuda.max_memory_allocated(self._device),
            resident_bytes=_resident(),
        )

    def rounding(self, storages_bytes: Iterable[int]) -> int | None:
        """Up to whole granules."""
        return sum(-size % _GRANULE_BYTES for size in storages_bytes)

    def give_back(self) -> None:
        """Segments without a tensor go back to the driver."""
        import torch

        torch.cuda.synchronize(self._device)
        torch.cuda.empty_cache()


def probe(device: "torch.device") -> Probe:
    """The probe for a torch device."""
    return CudaProbe(device) if device.type == "cuda" else CpuProbe()


def is_out_of_memory(error: BaseException) -> bool:
    """PyTorch has an error of its own for its GPU allocator only; elsewhere it is a sentence in another one.

    Those of the C allocator, the CUDA driver, and cuBLAS or cuDNN.
    """
    import torch

    sentences = ("can't allocate memory", "not enough memory", "out of memory", "ALLOC_FAILED")
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and any(s in str(error) for s in sentences)
    )


def machine_memory() -> tuple[int | None, int | None]:
    """Total and free main memory; of the container where that has less."""
    known = _words("/proc/meminfo")
    total, free = (known[name] * 1024 if name in known else None for name in ("MemTotal:", "MemAvailable:"))
    limit, used = (_number(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
    if limit is not None and used is not None and total is not None and free is not None:
        return min(total, limit), min(free, max(0, limit - used))
    return total, free


def _words(path: str) -> dict[str, int]:
    try:
        lines = Path(path).read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    rows = [line.split() for line in lines]
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}


def _number(path: str) -> int | None:
    try:
        written = Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(written) if written.isdigit() else None


def _resident() -> int | None:
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
