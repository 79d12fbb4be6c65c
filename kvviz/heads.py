"""Which query heads share which KV heads, what another sharing would make of the same model, and which models share
how.

Every number is ``content`` or ``size`` of the same layers with other KV heads: nothing is scaled here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal

from kvviz import catalogue
from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    CompressedAttention,
    Content,
    CrossAttention,
    LatentAttention,
    LayerCache,
    SlidingWindow,
    content,
    kv_heads_of,
    with_kv_heads,
)
from kvviz.core.errors import KvvizError
from kvviz.core.identity import ByIdentity
from kvviz.estimate import Estimate
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size
from kvviz.text import Message

Kind = Literal["MHA", "GQA", "MQA"]
GroupKind = Literal["full", "window", "chunk", "cross"]
NotShared = Literal["latent", "compressed", "states", "unknown", "differing"]
"""Why there are no KV heads to share: latents or compressed records for all heads, states alone, query heads that the
file does not give or that do not share evenly, and query heads that differ from layer to layer."""

AS_MADE: Final = 0
"""Stands for the model's own KV heads where they differ from layer to layer."""
COMMON_QUERIES: Final = 8
"""Query heads for each KV head that people take for the most there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Layers that share alike."""

    kind: GroupKind
    kv_heads: int
    layers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """A model's heads."""

    query_heads: int
    groups: tuple[Group, ...]
    other_layers: int
    """Layers without any KV head."""

    @property
    def made(self) -> int:
        """KV heads of every layer; AS_MADE where they differ."""
        counts = {group.kv_heads for group in self.groups}
        return counts.pop() if len(counts) == 1 else AS_MADE

    @property
    def counts(self) -> tuple[int, ...]:
        """KV heads that the query heads can share evenly, from MHA to MQA."""
        return tuple(n for n in range(self.query_heads, 0, -1) if self.query_heads % n == 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """The model with a number of KV heads, its own or another."""

    kv_heads: int
    """In every layer that has any; AS_MADE for the model as it is where its layers differ."""
    real: bool
    """Whether this is the model as it is."""
    architecture: Architecture
    content: Content
    """One sequence, whole model."""
    token_bytes: Fraction
    """What one more token takes while every window and chunk still has room for it."""
    ratio: Fraction
    """One request over the same one as MHA, exact; states are in both."""
    shared_ratio: Fraction
    """``token_bytes`` over those of MHA, exact: what the heads share, and nothing of a state."""
    sizing: Sizing | None
    """The answer to the scenario; None where it cannot be run so."""
    problem: Message | None
    """Why not."""

    @property
    def at_once(self) -> int | None:
        """Requests that fit at once, as counted, an engine that would not start having none; None without a budget."""
        if self.sizing is None or self.sizing.max_sequences_counted is None:
            return None
        return self.sizing.max_sequences_counted if self.sizing.starts else 0


def kind_of(kv_heads: int, query_heads: int) -> Kind:
    """What people call so many KV heads for so many query heads."""
    if kv_heads == query_heads:
        return "MHA"
    return "MQA" if kv_heads == 1 else "GQA"


def heads_of(architecture: Architecture) -> Heads | NotShared:
    """Who shares with whom, or why there is nothing to share."""
    return _heads(ByIdentity(architecture))


@lru_cache(maxsize=256)
def _heads(key: ByIdentity[Architecture]) -> Heads | NotShared:
    layers, queries = key.value.layers, key.value.attention_heads
    caches = [cache for layer in layers for cache in layer]
    found = Counter((_group(cache), kv) for cache in caches if (kv := kv_heads_of(cache)))
    if not found:
        if any(isinstance(cache, LatentAttention) for cache in caches):
            return "latent"
        return "compressed" if any(isinstance(cache, CompressedAttention) for cache in caches) else "states"
    if any(fact.term == "layer_heads" and fact.value != queries for fact in key.value.facts):
        return "differing"
    if not queries or any(queries % kv for _, kv in found):
        return "unknown"
    return Heads(
        query_heads=queries,
        groups=tuple(Group(kind=kind, kv_heads=kv, layers=count) for (kind, kv), count in found.items()),
        other_layers=sum(not any(kv_heads_of(cache) for cache in layer) for layer in layers),
    )


def _group(cache: LayerCache) -> GroupKind:
    match cache:
        case SlidingWindow():
            return "window" if cache.limits else "full"
        case ChunkedAttention():
            return "chunk"
        case CrossAttention():
            return "cross"
        case _:
            return "full"


def with_heads(architecture: Architecture, kv_heads: int) -> Architecture:
    """The same model with ``kv_heads`` in every layer that has any; its weights are taken to be as large."""
    return _with_heads(ByIdentity(architecture), kv_heads)


@lru_cache(maxsize=256)
def _with_heads(key: ByIdentity[Architecture], kv_heads: int) -> Architecture:
    return replace(key.value, layers=with_kv_heads(key.value.layers, lambda _: kv_heads))


def sharings(asked: Sizing, heads: Heads, *, weights: Estimate | None) -> tuple[Sharing, ...]:
    """The model with every number of KV heads that its query heads can share, what takes most first.

    ``weights``: those of the whole model, as ``size`` takes them.
    """
    mha = content(with_heads(asked.architecture, heads.query_heads).layers, asked.kv_dtype)
    counts = heads.counts if heads.made else (*heads.counts, AS_MADE)
    found = [_sharing(asked, count, count == heads.made, mha, weights) for count in counts]
    return tuple(sorted(found, key=lambda sharing: (-sharing.token_bytes, -sharing.kv_heads)))


def _sharing(asked: Sizing, kv_heads: int, real: bool, mha: Content, weights: Estimate | None) -> Sharing:
    architecture = asked.architecture if real else with_heads(asked.architecture, kv_heads)
    whole = content(architecture.layers, asked.kv_dtype)
    sizing: Sizing | None = asked
    problem = None
    if not real:
        try:
            sizing = size(architecture, asked.scenario, weights=weights, weights_of=asked.architecture)
        except KvvizError as error:
            sizing, problem = None, error.message
    return Sharing(
        kv_heads=kv_heads,
        real=real,
        architecture=architecture,
        content=whole,
        token_bytes=_token_bytes(whole),
        ratio=whole.bytes_at(asked.tokens) / mha.bytes_at(asked.tokens),
        shared_ratio=_token_bytes(whole) / _token_bytes(mha),
        sizing=sizing,
        problem=problem,
    )


def _token_bytes(of: Content) -> Fraction:
    return of.growing_bytes_per_token + sum((limit.bytes_per_token for limit in of.limited), Fraction(0))


def latent_saves(architecture: Architecture) -> tuple[LatentAttention, int, int] | None:
    """A model's latent, the values that it stores a token and those that keys and values of all its heads would be.

    None without a latent, or where the file does not say how wide the heads are.
    """
    for layer in architecture.layers:
        for cache in layer:
            if isinstance(cache, LatentAttention) and cache.heads and cache.head_key_dim:
                apart = cache.heads * (cache.head_key_dim + cache.head_value_dim)
                return cache, cache.latent_dim + cache.rope_dim, apart
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMore:
    """The bundled models with more query heads for each KV head than people take for the most there is."""

    configs: int
    of_configs: int
    """Those with KV heads. Models of a single layer only draft for others."""
    models: Mapping[int, tuple[str, ...]]
    """By query heads for each KV head, the most first; the same model in another type of weights is not another."""


@lru_cache(maxsize=1)
def shared_more() -> SharedMore:
    """Who goes beyond ``COMMON_QUERIES``."""
    found: dict[int, list[str]] = {}
    every = 0
    for model in catalogue.models():
        architecture = catalogue.load(model).architecture
        heads = heads_of(architecture)
        if isinstance(heads, Heads) and len(architecture.layers) > 1:
            every += 1
            each = heads.query_heads // min(group.kv_heads for group in heads.groups)
            if each > COMMON_QUERIES:
                found.setdefault(each, []).append(model)
    return SharedMore(
        configs=sum(map(len, found.values())),
        of_configs=every,
        models={each: _once(found[each]) for each in sorted(found, reverse=True)},
    )


def _once(models: Iterable[str]) -> tuple[str, ...]:
    """Names without maker and type of weights, the shortest first: variants have longer ones."""
    plain = {re.sub(r"-(BF16|FP8|NVFP4)$", "", model.rpartition("/")[2]) for model in models}
    return tuple(sorted(plain, key=lambda name: (len(name), name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A scenario to begin with."""

    scenario: Scenario
    layers: bool = False
    """Whether it is about the kinds of layers, and opens with them."""


PRESETS: Final[Mapping[str, Preset]] = {
    # The last version of vLLM that still runs it, and what its config gives as its longest.
    "pair": Preset(scenario=Scenario(model="Qwen/Qwen-7B-Chat", engine_version="0.20", input=384, output=128)),
    "mha": Preset(scenario=Scenario(model="meta-llama/Llama-2-7b-chat-hf")),
    "gqa": Preset(scenario=Scenario(model="meta-llama/Llama-3.1-8B-Instruct")),
    "mqa": Preset(scenario=Scenario(model="bigcode/gpt_bigcode-santacoder", input=1_536, output=512)),
    "mla": Preset(scenario=Scenario(model="deepseek-ai/DeepSeek-V3", gpu="h200", gpus=8), layers=True),
    "windows": Preset(scenario=Scenario(model="google/gemma-3-27b-it", input=6_144, output=2_048), layers=True),
    "states": Preset(scenario=Scenario(model="Qwen/Qwen3-Next-80B-A3B-Instruct", gpu="h200", gpus=2), layers=True),
}
"""One model of each kind; santacoder is StarCoder's elder sister."""

_OLDER_AND_NEWER: Final = ("Qwen/Qwen-7B-Chat", "Qwen/Qwen2.5-7B-Instruct")


def other_of_pair(model: str) -> str | None:
    """The model of the same maker and size to put beside this one: MHA beside GQA."""
    older, newer = _OLDER_AND_NEWER
    return {older: newer, newer: older}.get(model)


def size_of_other(other: str, scenario: Scenario) -> Sizing:
    """What the other one needs for the same requests; what fits is not asked."""
    asked = replace(scenario, model=other, config="", revision="", gpu="", engine_version="auto")
    return size(catalogue.load(other).architecture, asked, weights=None)


# --- the page's part of a link ---------------------------------------------------------------------------------------

TABS: Final = ("heads", "layers")
VIEWS: Final = ("example", "model")
