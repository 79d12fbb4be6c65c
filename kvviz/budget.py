"""One GPU's memory, from what the driver reports to what is left for the cache."""

from dataclasses import dataclass

from kvviz.devices import Device
from kvviz.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """All terms in bytes, on the GPU that decides: the fullest of an engine."""

    device: Device
    device_bytes: int
    """What the driver reports."""
    memory_fraction: float | None
    """The share that the engine was given, of what its setting is a share of; None: it has no such setting."""
    requested_bytes: int
    """What the engine may take, weights included."""
    outside_bytes: int
    """device_bytes - requested_bytes: never the cache's."""
    weights: Estimate
    activations: Estimate
    graphs: Estimate
    non_torch: Estimate
    available_bytes: int
    """requested minus the four terms; negative when the weights alone do not fit."""
    unit_bytes: int
    """The pool is made of pieces of this size: blocks, or a token's cells."""
    pool_bytes: int
    """What the cache can have: available, in whole pieces, at least 0."""
    kept_free_bytes: int
    """What of the pool the scenario's headroom keeps free, in whole pieces; what fits is counted on the rest."""
    longest_tokens: int
    """The longest request the engine is started for: the scenario's max_model_len, else its tokens."""
    max_concurrency: float | None = None
    """What vLLM logs at start as "Maximum concurrency": blocks of the pool / blocks of a longest request."""
    kv_cache_size_tokens: int | None = None
    """What it logs as "GPU KV cache size": concurrency x length, so not a pool size where windows or states count."""

    @property
    def pool_blocks(self) -> int:
        """Pieces of the pool."""
        return self.pool_bytes // self.unit_bytes

    @property
    def usable_blocks(self) -> int:
        """Pieces that requests may fill."""
        return self.usable_bytes // self.unit_bytes

    @property
    def usable_bytes(self) -> int:
        """Bytes that requests may fill."""
        return self.pool_bytes - self.kept_free_bytes
