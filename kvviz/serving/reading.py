"""What an engine reports of its cache, as one value; None wherever it does not say."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kvviz.core.units import GIB
from kvviz.serving.ask import EngineError, ask, ask_json
from kvviz.serving.metrics import Kind, Labels, Samples, parse
from kvviz.text import serving as text

_WITHOUT_METRICS: Final = frozenset({404, 405, 501})
"""What SGLang without --enable-metrics and llama-server without --metrics answer with."""
_NO_COUNT: Final = 2**63
"""Nothing that is counted here comes near."""
_OF_FILES: Final = (".gguf", ".safetensors", ".bin")
_TRUE: Final = {"True": True, "False": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One engine of a data-parallel deployment, with a pool of its own; the only one elsewhere."""

    name: str
    """Its number as the engine writes it; empty where it has none."""
    capacity_tokens: int | None = None
    """As the engine itself counts it."""
    window_tokens: int | None = None
    """Of SGLang's second pool, for window layers."""
    pool_bytes: int | None = None
    """On one GPU."""
    usage: float | None = None
    """Share of the pool in use, 0 to 1."""
    running: int | None = None
    waiting: int | None = None
    preemptions: int | None = None
    """Since the engine started."""
    prefix_queries: int | None = None
    """Prompt tokens looked up in the prefix cache since the engine started (blocks in vLLM 0.8)."""
    prefix_hits: int | None = None
    """Of them, those found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What does not change while an engine runs, from its other addresses."""

    version: str | None = None
    models: tuple[str, ...] = ()
    """Names of the served model, the one most likely to be its published one first."""
    max_model_len: int | None = None
    """Longest request it takes, in tokens."""
    kv_dtype: str | None = None
    memory_fraction: float | None = None
    block_tokens: int | None = None
    tp: int | None = None
    pp: int | None = None
    dp: int | None = None
    attention_dp: bool = False
    """SGLang: data-parallel attention inside one engine."""
    slots: int | None = None
    """llama.cpp: requests at once."""
    slot_tokens: int | None = None
    """llama.cpp: the longest that one of them may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One sample."""

    kind: Kind
    identity: Identity
    models: tuple[str, ...]
    ranks: tuple[Rank, ...]
    """At least one."""
    blocks: int | None = None
    """Of all ranks together."""
    block_tokens: int | None = None
    kv_dtype: str | None = None
    """As the engine writes it."""
    memory_fraction: float | None = None
    """vLLM --gpu-memory-utilization, SGLang --mem-fraction-static."""
    pool_bytes: int | None = None
    """vLLM --kv-cache-memory-bytes: bytes on one GPU, in the place of a fraction."""
    prefix_caching: bool | None = None
    old_rules: bool = False
    """vLLM's V0 engine."""
    prefix_queries: int | None = None
    """Since the engine started, over all ranks."""
    prefix_hits: int | None = None
    hit_fraction: float | None = None
    """Where the engine gives a rate and no counts."""

    @property
    def capacity_tokens(self) -> int | None:
        """Over all ranks."""
        return _sum(rank.capacity_tokens for rank in self.ranks)

    @property
    def running(self) -> int | None:
        return _sum(rank.running for rank in self.ranks)

    @property
    def waiting(self) -> int | None:
        return _sum(rank.waiting for rank in self.ranks)

    @property
    def preemptions(self) -> int | None:
        """Since the engine started, over all ranks."""
        return _sum(rank.preemptions for rank in self.ranks)

    @property
    def usage(self) -> float | None:
        """Share of all pools in use."""
        return usage_of(self.ranks)


def usage_of(ranks: Sequence[Rank]) -> float | None:
    """Share in use of several pools, each weighted with its capacity; None where a part of that is unknown."""
    shares = [rank.usage for rank in ranks if rank.usage is not None]
    if len(shares) < len(ranks) or not ranks:
        return None
    if len(ranks) == 1:
        return shares[0]
    capacities = [rank.capacity_tokens for rank in ranks if rank.capacity_tokens]
    if len(capacities) < len(ranks):
        return None
    return sum(s * c for s, c in zip(shares, capacities, strict=True)) / sum(capacities)


def published_names(reading: Reading) -> tuple[str, ...]:
    """What the served model may be called where it was published: out of folders, the Hub's own cache among them."""
    found: list[str] = []
    for name in reading.models:
        plain = name.rstrip("/")
        found += [part.removeprefix("models--").replace("--", "/", 1) for part in plain.split("/") if "--" in part]
        found.append(plain)
    return _unique(found)


def served_name(reading: Reading) -> str:
    """The served model as a page names it, without the folders of the engine's machine; empty where none is told."""
    name = next(iter(published_names(reading)), "")
    is_id = name.count("/") == 1 and name[0] not in "/.~" and not name.endswith(_OF_FILES) and "\\" not in name
    return name if is_id else re.split(r"[/\\]", name)[-1]


def poll(url: str, known: Identity | None) -> Reading:
    """Ask an engine. ``known``: its identity from before, which is then not asked for. Raises EngineError."""
    try:
        kind, samples = parse(ask(f"{url}/metrics"))
    except EngineError as error:
        if error.status not in _WITHOUT_METRICS:
            raise
        return _without_metrics(url, known)
    if kind == "vllm":
        return _vllm(samples, known or _vllm_identity(url))
    if kind == "sglang":
        return _sglang(samples, known or _sglang_identity(_mapping(ask_json(f"{url}/server_info")), url))
    identity = known or _llama_cpp_identity(_mapping(ask_json(f"{url}/props")), url)
    # Tokens in a slot, those generated included, only in builds as new as this counter.
    slots = ask_json(f"{url}/slots") if "prompt_tokens_cached_total" in samples and identity.slots == 1 else None
    return _llama_cpp(samples, slots, identity)


def _without_metrics(url: str, known: Identity | None) -> Reading:
    """llama.cpp tells of its slots all the same, and SGLang of its pools."""
    slots = ask_json(f"{url}/slots")
    if isinstance(slots, list) and slots and all(isinstance(s, dict) and "is_processing" in s for s in slots):
        identity = known or _llama_cpp_identity(_mapping(ask_json(f"{url}/props")), url)
        rank = Rank(name="", running=sum(bool(s["is_processing"]) for s in slots), **_slots_capacity(identity))
        return Reading(kind="llama.cpp", identity=identity, models=identity.models, ranks=(rank,))
    info = _mapping(ask_json(f"{url}/server_info"))
    states = info.get("internal_states")
    if not isinstance(states, list) or "mem_fraction_static" not in info:
        raise EngineError(text.NO_METRICS, code="engine-no-metrics")
    identity = known or _sglang_identity(info, url)
    pools = [_mapping(_mapping(state).get("memory_usage")) for state in states] or [{}]
    ranks = tuple(
        Rank(
            name=str(number) if len(pools) > 1 else "",
            capacity_tokens=_whole(pool.get("token_capacity")) or _whole(info.get("max_total_num_tokens")),
            pool_bytes=_bytes_of_gib(pool.get("kvcache")),
        )
        for number, pool in enumerate(pools)
    )
    return _of_sglang(identity, ranks)


# --- vLLM ------------------------------------------------------------------------------------------------------------


def _vllm(samples: Samples, identity: Identity) -> Reading:
    """One rank for each ``engine`` label (vLLM 0.33 ``v1/metrics/loggers.py``)."""
    usage = "kv_cache_usage_perc" if "kv_cache_usage_perc" in samples else "gpu_cache_usage_perc"
    prefix = "prefix_cache" if "prefix_cache_queries_total" in samples else "gpu_prefix_cache"
    names = _names("engine", samples, (usage, "num_requests_running", "cache_config_info"))
    infos = {labels.get("engine", ""): labels for labels, _ in samples.get("cache_config_info", ())}
    any_info: Labels = next(iter(infos.values()), {})
    ranks = tuple(
        Rank(
            name=name if len(names) > 1 else "",
            # For one engine also where they are several, as vLLM's config/cache.py says; the blocks are not.
            capacity_tokens=_said(infos.get(name, any_info), "kv_cache_size_tokens"),
            usage=value(usage),
            running=_count(value("num_requests_running")),
            waiting=_count(value("num_requests_waiting")),
            preemptions=_count(value("num_preemptions_total")),
            prefix_queries=_count(value(f"{prefix}_queries_total")),
            prefix_hits=_count(value(f"{prefix}_hits_total")),
        )
        for name in names
        for value in (_one(samples, "engine", name),)
    )
    gauge = _first(samples, "gpu_prefix_cache_hit_rate")
    old = "num_requests_swapped" in samples or gauge is not None
    return Reading(
        kind="vllm",
        identity=identity,
        models=_with_label(identity, samples, ("num_requests_running", usage)),
        ranks=ranks,
        # The sum over a deployment's engines, under the label of each (v1/engine/core_client.py).
        blocks=_said(any_info, "num_gpu_blocks"),
        # In a hybrid the smallest of several; the one of full attention where it is told apart.
        block_tokens=_said(any_info, "effective_attention_block_size") or _said(any_info, "block_size"),
        kv_dtype=any_info.get("cache_dtype"),
        memory_fraction=_share(any_info.get("gpu_memory_utilization")),
        pool_bytes=_said(any_info, "kv_cache_memory_bytes"),
        prefix_caching=_TRUE.get(any_info.get("enable_prefix_caching", "")),
        old_rules=old,
        prefix_queries=_sum(rank.prefix_queries for rank in ranks),
        prefix_hits=_sum(rank.prefix_hits for rank in ranks),
        hit_fraction=gauge if gauge is not None and gauge >= 0 else None,  # -1: switched off
    )


def _vllm_identity(url: str) -> Identity:
    version = _mapping(ask_json(f"{url}/version")).get("version")
    return replace(_served(url), version=version if isinstance(version, str) else None)


# --- SGLang ----------------------------------------------------------------------------------------------------------


def _sglang(samples: Samples, identity: Identity) -> Reading:
    """One rank for each ``dp_rank`` label; tensor-parallel ranks, where they report at all, repeat each other
    (SGLang 0.5.23 ``observability/metrics_collector.py``)."""
    plain = {name: [s for s in found if not s[0].get("priority")] for name, found in samples.items()}
    names = _names("dp_rank", plain, ("token_usage", "num_running_reqs", "max_total_num_tokens"))
    ranks = tuple(
        Rank(
            name=name if len(names) > 1 else "",
            capacity_tokens=_count(value("max_total_num_tokens")),
            window_tokens=_count(value("max_total_num_tokens_swa")) or None,
            pool_bytes=_bytes_of_gib(value("kv_cache_memory_usage_gb")),
            usage=value("token_usage"),
            running=_count(value("num_running_reqs")),
            waiting=_count(value("num_queue_reqs")),
            preemptions=_count(value("num_retracted_requests_total")),
            prefix_queries=queries,
            prefix_hits=hits,
        )
        for name in names
        for value in (_one(plain, "dp_rank", name),)
        for queries, hits in (_sglang_prefix(plain, name),)
    )
    queries, hits = _sum(rank.prefix_queries for rank in ranks), _sum(rank.prefix_hits for rank in ranks)
    if queries is None:  # counted where requests come in, over all ranks
        queries, hits = _total(plain, "prompt_tokens_total"), _total(plain, "cached_tokens_total")
    gauge = _first(plain, "cache_hit_rate")
    return replace(
        _of_sglang(identity, ranks),
        models=_with_label(identity, plain, ("num_running_reqs", "token_usage", "max_total_num_tokens")),
        blocks=_total_of_ranks(plain, "num_pages", names),
        block_tokens=_count(_first(plain, "page_size")) or identity.block_tokens,
        prefix_queries=queries,
        prefix_hits=hits,
        hit_fraction=gauge,
    )


def _of_sglang(identity: Identity, ranks: tuple[Rank, ...]) -> Reading:
    return Reading(
        kind="sglang",
        identity=identity,
        models=identity.models,
        ranks=ranks,
        block_tokens=identity.block_tokens,
        kv_dtype=identity.kv_dtype,
        memory_fraction=identity.memory_fraction,
    )


def _sglang_prefix(samples: Samples, rank: str) -> tuple[int | None, int | None]:
    """(looked up, found), in tokens: newer counters leave out what was computed again after a retraction."""
    for name, all_modes, found in (
        ("prefill_effective_tokens_total", ("input", "device_hit", "host_hit", "storage_hit"), "hit"),
        ("realtime_tokens_total", ("prefill_compute", "prefill_cache"), "prefill_cache"),
    ):
        modes = {mode: _one(samples, "dp_rank", rank, mode=mode)(name) for mode in all_modes}
        told = {mode: count for mode, count in modes.items() if count is not None}
        if told:
            return _count(sum(told.values())), _count(sum(count for mode, count in told.items() if found in mode))
    return None, None


def _sglang_identity(info: Mapping[str, object], url: str) -> Identity:
    served = _served(url)
    path, version = info.get("model_path"), info.get("version")
    dtype = info.get("kv_cache_dtype")
    return replace(
        served,
        version=version if isinstance(version, str) else None,
        models=_unique((path if isinstance(path, str) else "", *served.models)),
        kv_dtype=dtype if isinstance(dtype, str) else None,
        memory_fraction=_share(info.get("mem_fraction_static")),
        block_tokens=_whole(info.get("page_size")),
        tp=_whole(info.get("tp_size")),
        pp=_whole(info.get("pp_size")),
        dp=_whole(info.get("dp_size")),
        attention_dp=info.get("enable_dp_attention") is True,
    )


# --- llama.cpp -------------------------------------------------------------------------------------------------------


def _llama_cpp(samples: Samples, slots: object, identity: Identity) -> Reading:
    """A server is one engine (``tools/server/server-task.cpp`` and ``server-context.cpp`` at 0c1e57098)."""
    usage = _first(samples, "kv_cache_usage_ratio")
    if usage is None and isinstance(slots, list) and len(slots) == 1 and identity.slot_tokens:
        held = _mapping(slots[0]).get("n_prompt_tokens", 0)  # absent before the first request
        usage = held / identity.slot_tokens if type(held) is int and 0 <= held < _NO_COUNT else None
    computed, reused = _total(samples, "prompt_tokens_total"), _total(samples, "prompt_tokens_cached_total")
    queries = None if computed is None or reused is None else computed + reused
    rank = Rank(
        name="",
        usage=usage,
        running=_count(_first(samples, "requests_processing")),
        waiting=_count(_first(samples, "requests_deferred")),
        prefix_queries=queries,
        prefix_hits=None if queries is None else reused,
        **_slots_capacity(identity),
    )
    return Reading(
        kind="llama.cpp",
        identity=identity,
        models=identity.models,
        ranks=(rank,),
        prefix_queries=rank.prefix_queries,
        prefix_hits=rank.prefix_hits,
    )


def _slots_capacity(identity: Identity) -> dict[str, int | None]:
    """Of several slots it is not told whether each has so much of its own or all share it."""
    return {"capacity_tokens": identity.slot_tokens if identity.slots == 1 else None}


def _llama_cpp_identity(props: Mapping[str, object], url: str) -> Identity:
    served = _served(url)
    path, build = props.get("model_path"), props.get("build_info")
    return replace(
        served,
        version=build if isinstance(build, str) else None,
        models=_unique((*served.models, path if isinstance(path, str) else "")),
        slots=_whole(props.get("total_slots")),
        slot_tokens=_whole(_mapping(props.get("default_generation_settings")).get("n_ctx")),
    )


# --- the served model ------------------------------------------------------------------------------------------------


def _served(url: str) -> Identity:
    """``/v1/models``: the first that is no adapter. ``root`` is the path it was loaded from, ``id`` a name given."""
    listed = _mapping(ask_json(f"{url}/v1/models")).get("data")
    cards = [_mapping(card) for card in listed] if isinstance(listed, list) else []
    card = next((c for c in cards if not c.get("parent")), {})
    names = (card.get("root"), card.get("id"))
    return Identity(
        models=_unique(name for name in names if isinstance(name, str)),
        max_model_len=_whole(card.get("max_model_len")),
    )


def _with_label(identity: Identity, samples: Samples, names: Iterable[str]) -> tuple[str, ...]:
    """The names of ``/v1/models``, and the one in the metrics' labels, which needs no key."""
    labels = (labels for name in names for labels, _ in samples.get(name, ()))
    return _unique((*identity.models, *(of.get("model_name") or of.get("name", "") for of in labels)))


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


# --- samples ---------------------------------------------------------------------------------------------------------


def _names(label: str, samples: Samples, metrics: Iterable[str]) -> list[str]:
    """The values of a label, in order; an empty one where nothing has it."""
    found = {labels.get(label, "") for metric in metrics for labels, _ in samples.get(metric, ())}
    if len(found) > 1:
        found.discard("")
    return sorted(found or {""}, key=lambda name: (len(name), name))


def _one(samples: Samples, label: str, name: str, **more: str) -> Callable[[str], float | None]:
    """Reads one rank's value of a metric: that of its first GPU where several report."""

    def value(metric: str) -> float | None:
        found = [
            (_gpu(labels), value)
            for labels, value in samples.get(metric, ())
            if labels.get(label, "") == name and all(labels.get(key) == wanted for key, wanted in more.items())
        ]
        return min(found)[1] if found else None

    return value


def _gpu(labels: Labels) -> tuple[int, int]:
    """Stage and rank within it."""
    pp, tp = (labels.get(name, "0") for name in ("pp_rank", "tp_rank"))
    return (int(pp) if pp.isdecimal() else 0, int(tp) if tp.isdecimal() else 0)


def _first(samples: Samples, metric: str) -> float | None:
    return next((value for _, value in samples.get(metric, ())), None)


def _total(samples: Samples, metric: str) -> int | None:
    return _sum(_count(value) for _, value in samples.get(metric, ()))


def _total_of_ranks(samples: Samples, metric: str, names: Iterable[str]) -> int | None:
    return _sum(_count(_one(samples, "dp_rank", name)(metric)) for name in names)


def _sum(counts: Iterable[int | None]) -> int | None:
    """None where one of them is unknown."""
    known = list(counts)
    told = [count for count in known if count is not None]
    return sum(told) if told and len(told) == len(known) else None


def _count(value: float | None) -> int | None:
    return None if value is None or not 0 <= value < _NO_COUNT else round(value)


def _said(labels: Labels, name: str) -> int | None:
    """A whole number in a label: all of them are text, and what is not set is "None"."""
    return _whole(labels.get(name))


def _whole(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < _NO_COUNT.bit_length():
        value = int(value)
    return value if type(value) is int and 0 < value < _NO_COUNT else None


def _share(value: object) -> float | None:
    try:
        share = float(value) if isinstance(value, str | float | int) else 0.0
    except ValueError:
        return None
    return share if 0 < share <= 1 else None


def _bytes_of_gib(value: object) -> int | None:
    """SGLang's GB are of 2^30 bytes (``mem_cache/memory_pool.py``)."""
    return round(value * GIB) if isinstance(value, float | int) and 0 < value < _NO_COUNT else None


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
