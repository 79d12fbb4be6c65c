"""SGLang's lines. Everything is of one rank; tensor-parallel ranks hold the same tokens, data-parallel ones others."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from kvviz.core.units import GIB
from kvviz.engine_log.printed import number, printed, roundest, total
from kvviz.engine_log.scan import COMMAND, START, Fact, Shape

SHAPES: Final = (
    Shape(COMMAND, "sglang.launch_server", r"sglang\.launch_server\b"),
    Shape(COMMAND, "sglang", r"sglang serve\b"),
    Shape("sglang version", "sglang", r"sglang(?:: |==)(?P<version>\d[\w.]*)"),
    Shape(START, "server_args=", r"server_args=\w*"),
    Shape("sglang weights begin", "weight", r"weight begin\. avail mem=(?P<gb>#) ?GB"),
    Shape("sglang weights", "weight", r"weight end\.[^\n]*?avail mem=(?P<gb>#) ?GB(?:, mem usage=(?P<used>#) ?GB)?"),
    Shape("sglang pools end", "pool", r"pool end\. avail mem=(?P<gb>#) ?GB"),
    Shape(
        "sglang pool",
        "Cache",
        r"Cache is allocated\.(?: dtype: (?P<type>[\w.]+),)?(?: \#tokens: (?P<tokens>\d+),)?"
        r" (?:K size: (?P<k>\d+\.?\d*) ?GB, V size: (?P<v>\d+\.?\d*) ?GB|KV size: (?P<kv>\d+\.?\d*) ?GB)",
    ),
    Shape(
        "sglang post capture",
        "Post-capture",
        r"Post-capture KV sizing: KV cache allocated\. dtype: (?P<type>[\w.]+), \#tokens: (?P<tokens>\d+),"
        r" KV size: (?P<kv>\d+\.?\d*) ?GB",
    ),
    Shape(
        "sglang two pools",
        "liding",
        r"liding window memory pool\. full_layer_tokens=(?P<full>\d+), swa_layer_tokens=(?P<window>\d+)",
    ),
    Shape(
        "sglang swa usage",
        "SWAKVPool",
        r"SWAKVPool mem usage: (?P<gb>#) ?GB, swa size: (?P<window>\d+), full size: (?P<full>\d+)",
    ),
    Shape("sglang states", "max_mamba_cache_size:", r"max_mamba_cache_size: (?P<slots>\d+)(?P<sizes>[^\n]*)"),
    Shape(
        "sglang tokens",
        "max_total_num_tokens=",
        r"max_total_num_tokens=(?P<tokens>\d+)(?:[^\n]*?max_running_requests=(?P<requests>\d+))?"
        r"(?:[^\n]*?context_len=(?P<len>\d+))?",
    ),
    Shape("sglang type", "dtype:", r"Using KV cache dtype: (?P<type>[\w.]+)", behind=20),
)  # fmt: skip

FIGURES: Final = frozenset(
    ("sglang pool", "sglang post capture", "sglang two pools", "sglang swa usage", "sglang states", "sglang tokens",
     "sglang pools end")
)  # fmt: skip

_RANK: Final = re.compile(r"(?<=[\d:] )((?:(?:DP|TP|EP|PP|CP)\d+ ?)+)\]|\[gpu(?:_id)?=(\d+)\]")
_DP: Final = re.compile(r"DP(\d+)")
_TP: Final = re.compile(r"TP(\d+)|gpu(?:_id)?=(\d+)")
_SIZE: Final = re.compile(r"size: ([\d.]+) ?GB")
_PAGE: Final = 256
"""Tokens a buffer may have more than its line says: one page is added (``mem_cache/memory_pool.py``, size + page)."""


def _rank(fact: Fact) -> str:
    found = _RANK.search(fact.prefix)
    return found.group() if found else ""


def _ranks(facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    ranks: dict[str, list[Fact]] = {}
    for fact in facts:
        ranks.setdefault(_rank(fact), []).append(fact)
    return ranks


def _bytes(pool: Fact) -> tuple[int, Fraction, Fraction]:
    """Of a pool's line: bytes as printed, and the range they may stand for."""
    parts = [printed(amount) for name in ("k", "v", "kv") if (amount := pool.get(name))]
    digits = sum(p.digits for p in parts)
    return int(digits * GIB), sum((p.low for p in parts), Fraction()), sum((p.high for p in parts), Fraction())


def _rate(pool: Fact, tokens: int | None) -> int | None:
    if not tokens:
        return None
    _, low, high = _bytes(pool)
    return roundest(low / (tokens + _PAGE), high / tokens)


def read(facts: Sequence[Fact], given: dict[str, str]) -> dict[str, Any]:
    """The figures of one start."""
    by_name: dict[str, list[Fact]] = {}
    for fact in facts:
        by_name.setdefault(fact.name, []).append(fact)
    version = next((f["version"] for f in reversed(facts) if f.name == "sglang version"), None)
    out: dict[str, Any] = {"form": "pool of each rank", "version": version}
    if "block_size" in given:
        out["block_tokens"] = number(given["block_size"])
    out |= _memory(by_name)
    ranks = _ranks([f for f in facts if f.name.startswith("sglang")])
    tensor = {int(t[1] or t[2]) for rank in ranks if (t := _TP.search(rank))}
    if len(tensor) > 1 and tensor == set(range(len(tensor))):
        out["tp"] = len(tensor)
    pools = {rank: [f for f in fs if f.name == "sglang pool"] for rank, fs in ranks.items()}
    pools = {rank: _once(fs) for rank, fs in pools.items() if fs}
    if tokens := by_name.get("sglang tokens"):
        out["kv_tokens"] = _added_over_engines(tokens)
        if requests := tokens[-1].get("requests"):
            out["max_running_requests"] = number(requests)
        if length := tokens[-1].get("len"):
            out["max_model_len"] = number(length)
    if states := by_name.get("sglang states"):
        out["state_slots"] = number(states[-1]["slots"])
        sizes = _SIZE.findall(states[-1]["sizes"])
        out["state_bytes_per_gpu"] = int(sum(printed(s).digits for s in sizes) * GIB)
        out["form"] = "pools of caches and states"
    if final := by_name.get("sglang post capture"):
        least = min(final, key=lambda f: printed(f["kv"]).digits)
        out |= _plain(least) | {"form": "sized after graph capture"}
    elif "sglang two pools" in by_name or "sglang swa usage" in by_name:
        out |= _two_pools(by_name, pools)
    elif pools:
        fewest = min(pools.values(), key=lambda fs: _bytes(fs[0])[0])
        out |= _plain(fewest[0]) | {"kv_tokens": out.get("kv_tokens") or _pool_tokens(pools)}
        if len(fewest) > 1:
            out["draft_bytes_per_gpu"] = total(_bytes(f)[0] for f in fewest[1:])
        if fewest[0].get("kv"):
            out["form"] = "one figure for K and V"
    if kind := by_name.get("sglang type"):
        out["element"] = kind[-1]["type"]
    return out


def _once(pools: list[Fact]) -> list[Fact]:
    """Without repeats of a line, which some loggers make."""
    return list({tuple(sorted((k, v or "") for k, v in f.groups.items())): f for f in pools}.values())


def _memory(by_name: dict[str, list[Fact]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if loaded := by_name.get("sglang weights"):
        used = [float(u) for f in loaded if (u := f.get("used"))]
        if used:
            out["weights_gib_per_gpu"] = max(used)
        out["free_after_load_bytes_per_gpu"] = _least(loaded)
    if began := by_name.get("sglang weights begin"):
        out["free_bytes"] = _least(began)
    if ended := by_name.get("sglang pools end"):
        out["free_after_pools_bytes_per_gpu"] = _least(ended)
    return out


def _least(facts: Sequence[Fact]) -> int:
    return min(printed(f["gb"]).bytes for f in facts)


def _added_over_engines(facts: Sequence[Fact]) -> int:
    """Ranks of one engine hold the same tokens, of which the smallest rank's count; engines hold others."""
    engines: dict[str, list[int]] = {}
    for fact in facts:
        found = _DP.search(_rank(fact))
        engines.setdefault(found.group() if found else "", []).append(number(fact["tokens"]))
    return sum(min(tokens) for tokens in engines.values())


def _pool_tokens(pools: dict[str, list[Fact]]) -> int | None:
    first = [fs[0] for fs in pools.values() if fs[0].get("tokens")]
    return _added_over_engines(first) if first else None


def _plain(pool: Fact) -> dict[str, Any]:
    tokens = number(pool["tokens"]) if pool.get("tokens") else None
    out: dict[str, Any] = {"kv_bytes_per_gpu": _bytes(pool)[0], "kv_tokens": tokens, "element": pool.get("type")}
    k, v = pool.get("k"), pool.get("v")
    if k and v:
        out |= {"k_bytes_per_gpu": printed(k).bytes, "v_bytes_per_gpu": printed(v).bytes}
    return out | {"bytes_per_token": _rate(pool, tokens)}


def _two_pools(by_name: dict[str, list[Fact]], pools: dict[str, list[Fact]]) -> dict[str, Any]:
    """Full and sliding layers apart: of a rank's lines the first is the sliding pool's, the second the full one's."""
    sizes = (by_name.get("sglang two pools") or by_name["sglang swa usage"])[-1]
    window, full = number(sizes["window"]), number(sizes["full"])
    out: dict[str, Any] = {"window_pool_tokens": window, "full_pool_tokens": full, "form": "sliding and full pool"}
    if usage := by_name.get("sglang swa usage"):
        out["pools_bytes_per_gpu"] = _least(usage)
    if not pools:
        return out
    lines = min(pools.values(), key=lambda fs: (-len(fs), _bytes(fs[0])[0]))
    out["element"] = lines[0].get("type")
    # With the tokens of both pools apart, a paste that begins late still shows which line is whose.
    of_window = [f for f in lines[:2] if f.get("tokens") == str(window)]
    of_full = [f for f in lines[:2] if f.get("tokens") == str(full)]
    if window == full:
        of_window, of_full = lines[:1], lines[1:2]
    for name, tokens, found in (("window", window, of_window), ("full", full, of_full)):
        if found:
            out[f"{name}_pool_bytes_per_gpu"] = _bytes(found[0])[0]
            out[f"{name}_bytes_per_token"] = _rate(found[0], tokens)
    if len(lines) > 2:
        out["draft_bytes_per_gpu"] = total(_bytes(f)[0] for f in lines[2:])
    return out
