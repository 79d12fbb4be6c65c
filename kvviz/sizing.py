"""Architecture + Scenario -> Sizing: the answer, in bytes, with its working."""

from dataclasses import dataclass
from typing import Literal

from kvviz.core.architecture import Architecture, Note
from kvviz.core.cache import Content
from kvviz.core.dtypes import KvDtype
from kvviz.devices import Device
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.scenario import Scenario
from kvviz.text import Message

Fits = Literal["yes", "held-only", "no"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """One GPU's memory, from what the driver reports to what is left for the cache. All terms in bytes, per GPU."""

    device: Device
    device_bytes: int
    """What the driver reports."""
    requested_bytes: int
    """The engine's share: ceil(device_bytes x memory_fraction)."""
    outside_bytes: int
    """device_bytes - requested_bytes: never touched by the engine."""
    weights: Estimate
    activations: Estimate
    graphs: Estimate
    non_torch: Estimate
    available_bytes: int
    """requested minus the four terms; negative when the weights alone do not fit."""
    pool_blocks: int
    """available // bytes per block, at least 0."""
    pool_bytes: int
    """pool_blocks x bytes per block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """Everything the page, the CLI and the exports show about one scenario."""

    scenario: Scenario
    architecture: Architecture
    kv_dtype: KvDtype
    """What ``scenario.kv_dtype`` resolved to."""
    kv_dtype_reason: Message
    """Why, where the scenario says ``auto``."""
    tokens: int
    """Longest sequence: input + output."""
    content: Content
    """One sequence, whole model, before any split over GPUs."""
    content_bytes: int
    """content at ``tokens``, rounded up."""
    plan: VllmPlan | None
    """What the engine sets aside on one GPU; None where this engine version does not run the model."""
    plan_missing: Note | None
    """Why there is no plan."""
    budget: Budget | None
    """None without a GPU, or where the weights are not known."""
    request_bytes: int | None
    """What the engine counts one request of ``tokens`` as, on one GPU (whole blocks)."""
    held_bytes: int | None
    """What such a request occupies in steady decode, on one GPU (whole blocks)."""
    max_sequences_counted: int | None
    max_sequences_held: int | None
    max_tokens: int | None
    """Longest single request the pool holds (by the engine's count)."""
    fits: Fits | None
    """Of ``scenario.sequences``: yes by the counted number, held-only by the held one, or no."""
    short_bytes: int | None
    """Per GPU: what the counted need exceeds the pool by; negative when there is room to spare."""
    notes: tuple[Note, ...]
