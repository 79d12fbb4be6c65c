"""What a check is given and what it says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from kvviz.core.architecture import Architecture
from kvviz.engine_log import EngineLog
from kvviz.engines.llama_cpp import DEFAULT_UBATCH_TOKENS, Latent

Verdict = Literal["agrees", "explained", "differs", "unknown"]
"""explained: what was reported is not what is predicted from what the log says, but what it is under ``cause``."""

FAMILIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("gpu_blocks", "tokens_line", "kv_tokens", "max_concurrency", "capacity_tokens_at_max_len"),
        "pool",
    ),
    **dict.fromkeys(("kv_bytes_per_gpu", "k_bytes_per_gpu", "v_bytes_per_gpu", "blocks"), "pool"),
    **dict.fromkeys(("kv_bytes_total", "self_attention_bytes", "k_bytes", "v_bytes"), "pool"),
    **dict.fromkeys(("full_bytes_per_token", "full_pool_bytes_per_gpu", "full_bytes", "full_cells"), "full"),
    **dict.fromkeys(("window_bytes_per_token", "window_pool_bytes_per_gpu", "window_bytes", "window_cells"), "window"),
    **dict.fromkeys(("state_bytes_total", "state_bytes_per_slot", "state_bytes_per_gpu"), "states"),
}
"""Figures that follow from one another, given the settings: agreeing, they prove one thing. Others stand alone."""
_FOLLOWS: Final[Mapping[str, tuple[str, ...]]] = {
    "bytes_per_token": (),
    "context_bytes_total": (),
    "pools_bytes_per_gpu": ("full", "window"),
    "pool": ("full", "window"),
}
"""What follows from these together, or from whatever else there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a prediction needs besides the model: from the log, else from the person, else the engine's defaults."""

    kv_dtype: str = "auto"
    """Of the keys, and of both where an engine has no two; a name of ``KV_DTYPES`` or auto."""
    v_dtype: str = "same"
    gpu: str = ""
    """Whose kernels: some keep more states; empty: Hopper's."""
    tp: int = 1
    pp: int = 1
    dcp: int = 1
    dp: int = 1
    """Engines whose figures are added up."""
    version: str = "auto"
    """An engine version of ``Scenario``."""
    block_tokens: int | None = None
    length_tokens: int | None = None
    """Longest request."""
    batched_tokens: int = 8_192
    """vLLM: tokens of one step."""
    prefix_caching: bool = True
    full_windows: bool = False
    """Windows and chunks keep every token."""
    latent: Latent = "latent"
    draft_layers: int = 0
    draft_tokens: int = 0
    stages_added: bool = False
    """The need of all pipeline stages was compared with one GPU's memory."""
    smallest_rank: bool = False
    """Memory is one rank's, tokens are the smallest rank's."""
    depth: int | None = None
    """Layers of the encoder, where the cache was made as deep as that."""
    context_tokens: int | None = None
    """llama.cpp: cells of all slots."""
    slots: int = 1
    unified: bool = True
    ubatch_tokens: int = DEFAULT_UBATCH_TOKENS
    pad_tokens: int = 1
    rollback_states: int = 0


@dataclass(frozen=True, slots=True)
class Expected:
    """One predicted figure."""

    value: float
    tolerance: float = 0.0
    """How far a report may be off by the rounding of what was printed."""
    telling: bool = True
    """False: a size of the model's own, which some builds count otherwise; no difference in memory by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """All figures under one set of settings."""

    figures: Mapping[str, Expected]
    rules: tuple[str, ...]
    """What they rest on besides keeping every layer at full length, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure that was both reported and predicted."""

    name: str
    reported: float
    predicted: float
    tolerance: float
    telling: bool
    plain: float
    """What is predicted without the causes: from what the log says and the engine's defaults."""

    @property
    def residual(self) -> float:
        """Reported less predicted."""
        return self.reported - self.predicted

    @property
    def agrees(self) -> bool:
        """Whether rounding accounts for the residual."""
        return abs(self.residual) <= self.tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A log beside its prediction."""

    log: EngineLog
    model: str | None
    """Whose layers were predicted; None where nobody says which."""
    architecture: Architecture | None
    figures: tuple[Figure, ...]
    predicted: Mapping[str, float]
    """Every figure that could be computed, reported or not."""
    verdict: Verdict
    cause: tuple[str, ...]
    """Rules that the engine's figures follow besides keeping every layer at full length."""
    found: tuple[str, ...]
    """Those of them that nothing in the log says, and that were found by trying."""
    assumed: Mapping[str, object]
    """Settings that the log does not name and under which the figures agree."""
    asked: tuple[str, ...]
    """What the log does not say and the prediction needs."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """Terms of a budget as the engine measured them, by the names of ``Scenario``."""
    settings: Settings | None = None
    """What the prediction rests on; None where there is none."""
    by_log: bool = False
    """The layers are the ones that the log itself lists."""

    @property
    def independent(self) -> int:
        """How many telling figures do not follow from others."""
        families = {FAMILIES.get(f.name, f.name) for f in self.figures if f.telling}
        alone = [name for name in families if name not in _FOLLOWS or not families.issuperset(_FOLLOWS[name])]
        return len(alone) or min(1, len(families))
