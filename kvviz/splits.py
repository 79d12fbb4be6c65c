"""The ways in which an engine can share a model out over a scenario's GPUs, each with its own answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kvviz.core.cache import ChunkedAttention, FullAttention, LatentAttention, SlidingWindow
from kvviz.core.errors import KvvizError
from kvviz.engines import vllm
from kvviz.engines.sglang import SglangPlan
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.planning import split_of
from kvviz.scenario import Scenario, Value
from kvviz.sizing import Sizing, size
from kvviz.text import Lang
from kvviz.text import splits as text

_MOST_STAGES: Final = 8
"""Longer pipelines are never suggested: each stage waits for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """One way, and what comes of it."""

    sizing: Sizing
    tp: int
    pp: int
    engines: int
    attention_dp: int
    """Groups whose attention is not shared out, inside an engine or over engines that share experts; 1: none."""
    dcp: int
    copies: int
    """How many GPUs of an engine keep the same bytes of a request."""

    @property
    def scenario(self) -> Scenario:
        """The scenario that asks for it."""
        return self.sizing.scenario

    def label(self, lang: Lang) -> str:
        """``2 × TP 4 · PP 2``."""
        sizes = {"TP": self.tp, "PP": self.pp, "DCP": self.dcp}
        parts = [f"{name} {count}" for name, count in sizes.items() if count > 1]
        if self.attention_dp > 1:
            parts.append(text.ATTENTION_DP(lang, groups=self.attention_dp))
        said = " · ".join(parts) or "TP 1"
        return f"{self.engines} × {said}" if self.engines > 1 else said


def splits(asked: Sizing, *, weights: Estimate | None) -> tuple[Split, ...]:
    """Every way that this engine allows, what holds most first; nothing where the engine does not run the model.

    ``weights`` are those of the whole model; without them it goes by how little a request takes.
    """
    if asked.plan is None:
        return ()
    found: dict[tuple[int, ...], Split] = {}
    for changes in _ways(asked):
        try:
            sizing = size(asked.architecture, asked.scenario.with_changes(**changes), weights=weights)
        except KvvizError:
            continue  # heads, blocks or stages do not divide so
        if sizing.plan is not None and (split := _split(sizing)) is not None:
            found.setdefault((split.tp, split.pp, split.engines, split.attention_dp, split.dcp), split)
    return tuple(sorted(found.values(), key=_most_first))


def _most_first(split: Split) -> tuple[float, ...]:
    """The simpler of two that hold as much comes first."""
    sizing = split.sizing
    fit = (sizing.max_sequences_counted or 0) if sizing.starts else 0
    taken = (sizing.request_bytes or 0) / split.engines
    return (-fit, taken, split.pp, split.dcp, split.attention_dp, split.engines)


def _ways(asked: Sizing) -> Iterator[dict[str, Value]]:
    """Settings to try; those that cannot be are refused later."""
    scenario, architecture = asked.scenario, asked.architecture
    gpus, engine = scenario.gpus, scenario.engine
    plain: dict[str, Value] = {"tp": None, "pp": 1, "dp": None, "attention_dp": "off", "dcp": 1}
    if engine in ("llama.cpp", "transformers"):
        for each in _divisors(gpus):
            yield {**plain, "dp": gpus // each}
        return
    for pp in _divisors(gpus):
        if pp > _MOST_STAGES:
            continue
        for tp in _divisors(gpus // pp):
            way = {**plain, "tp": tp, "pp": pp}
            yield way
            if engine == "vllm":
                if vllm.runs_on(architecture, tp):
                    yield from ({**way, "dcp": dcp} for dcp in vllm.dcp_sizes(architecture, tp)[1:])
                if architecture.mixture and gpus // (pp * tp) > 1:
                    yield {**way, "attention_dp": "on"}
            elif tp > 1:
                yield {**way, "attention_dp": "on"}


def _split(sizing: Sizing) -> Split | None:
    plan, scenario = sizing.plan, sizing.scenario
    if plan is None:
        return None
    tp, pp = getattr(plan, "tp", 1), getattr(plan, "pp", plan.gpus)
    groups, engines = 1, sizing.engines
    if scenario.attention_dp == "on":
        groups = plan.dp_attention if isinstance(plan, SglangPlan) else tp
        if isinstance(plan, VllmPlan):  # engines side by side, which are one in all but their caches
            groups, engines = engines, 1
    dcp = plan.dcp if isinstance(plan, VllmPlan) else 1
    return Split(
        sizing=sizing,
        tp=tp,
        pp=pp,
        engines=engines,
        attention_dp=groups,
        dcp=dcp,
        copies=_copies(sizing, split_of(plan), dcp),
    )


def _copies(sizing: Sizing, split: int, dcp: int) -> int:
    caches = {cache for layer in sizing.architecture.layers for cache in layer}
    if any(isinstance(cache, LatentAttention) for cache in caches):
        return split // dcp
    heads = [c.kv_heads for c in caches if isinstance(c, FullAttention | SlidingWindow | ChunkedAttention)]
    return max(1, split // min(heads) // dcp) if heads else 1


def _divisors(count: int) -> list[int]:
    return [size for size in range(1, count + 1) if count % size == 0]
