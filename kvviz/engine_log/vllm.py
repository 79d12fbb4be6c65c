"""vLLM's lines: V0 (blocks), V1 (tokens), and what it says where it does not start."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from kvviz.core.units import GIB
from kvviz.engine_log.printed import Printed, number, printed, rate, roundest
from kvviz.engine_log.scan import COMMAND, INITIALISED, START, Fact, Shape

SHAPES: Final = (
    Shape(COMMAND, "vllm", r"vllm serve (?P<model>[\w./-]+)"),
    Shape(COMMAND, "vllm.entrypoints", r"vllm\.entrypoints\.[\w.]*server"),
    Shape(START, "API", r"API server version v?(?P<version>\d[\w.+]*)"),
    Shape(INITIALISED, "engine", r"engine \(v(?P<version>\d[\w.+]*)\)"),
    Shape("vllm version", "vLLM", r"vLLM Version ?: v?(?P<version>\d[\w.+]*)"),
    # V0
    Shape(
        "vllm blocks",
        "blocks:",
        r"\b(?P<device>GPU|cuda|rocm|cpu|tpu|xpu|hpu|neuron) blocks: (?P<gpu>\d+)"
        r"(?:, (?:\# ?)?CPU blocks: (?P<cpu>\d+))?",
        behind=12,
    ),
    Shape("vllm profile", "profiling", r"profiling results:[^\n]*?total_gpu_memory=(?P<total>#) ?GiB(?P<more>[^\n]*)"),
    Shape("vllm rest", "kv_cache_size=", r"kv_cache_size=(?P<gib>#) ?GiB"),
    Shape(
        "vllm total",
        "total_gpu_memory",
        r"total_gpu_memory \((?P<gib>#) ?GiB\) x gpu_memory_utilization \((?P<share>\d\.?\d*)\)",
    ),
    Shape("vllm weights", "weights", r"weights (?:took|take) (?P<gib>#) ?Gi?B"),
    Shape("vllm non-torch", "non_torch_memory", r"non_torch_memory takes (?P<gib>#) ?GiB"),
    Shape("vllm activation", "activation", r"activation peak memory takes (?P<gib>#) ?GiB"),
    Shape("vllm rest", "reserved", r"reserved for KV Cache is (?P<gib>#) ?GiB"),
    Shape("vllm v0 refusal", "stored", r"stored in KV cache \((?P<tokens>#)\)"),
    # V1
    Shape("vllm concurrency", "concurrency", r"concurrency for (?P<len>#) tokens per request: (?P<x>#)x"),
    Shape("vllm tokens", "cache", r"cache size: (?P<tokens>#) tokens(?P<same>, Max)?"),
    Shape("vllm weights", "loading", r"loading took (?P<gib>#) ?Gi?B"),
    Shape("vllm available", "Available", r"Available KV cache memory: (?P<gib>#) ?GiB"),
    Shape("vllm reserved", "reserved", r"reserved (?P<gib>#) ?GiB memory for KV Cache as specified"),
    Shape("vllm padding", "padding", r"Add (?P<layers>\d+) padding layers", behind=12),
    Shape("vllm hybrid block", "attention", r"attention block size to (?P<tokens>#) tokens"),
    Shape("vllm override", "Overriding", r"Overriding num_gpu_blocks=(?P<found>\d+) with"),
    Shape("vllm need", "needed", r"(?P<gib>#) ?GiB KV cache is needed", behind=40),
    Shape("vllm need for", "seq", r"seq len \((?P<len>#)\)"),
    Shape("vllm room", "available", r"available KV cache memory \((?P<gib>#) ?GiB\)"),
    Shape("vllm longest", "maximum", r"maximum model length is (?P<len>#)"),
    Shape("vllm no room", "available", r"available memory for the cache blocks"),
    Shape("vllm not free", "less", r"less than desired GPU memory utilization"),
    Shape(
        "vllm free",
        "Free",
        r"Free memory on device (?:[\w:]+ )?\((?P<free>#)/(?P<total>#) ?GiB\) on startup"
        r"(?:\. Desired GPU memory utilization is \((?P<share>\d\.?\d*)"
        r"| is less than desired GPU memory utilization \((?P<desired>\d\.?\d*))?",
    ),
    Shape("vllm activation", "peak", r"(?P<gib>#) ?GiB for peak activation", behind=24),
    Shape("vllm non-torch", "non-torch", r"(?P<gib>#) ?GiB for non-torch memory", behind=24),
    Shape("vllm weights", "weight,", r"(?P<gib>#) ?GiB for weight,", behind=24),
    Shape("vllm in use", "Current", r"Current kv cache memory in use is (?P<gib>#) ?GiB"),
    Shape("vllm graph", "capturing", r"capturing finished in # secs?, took (?P<gib>#) ?GiB"),
    Shape("vllm graph pool", "graph", r"graph pool memory: (?P<gib>#) ?GiB \(actual\)"),
    Shape("vllm 0.21", "default", r"default since v0\.21[^\n]*?utilization=(?P<share>\d\.?\d*)"),
    Shape("vllm 0.19", "profiling", r"profiling will be enabled by default"),
    Shape("vllm max len", "Using", r"Using max model len (?P<len>#)"),
    Shape("vllm batched", "max_num_batched_tokens=", r"enabled with max_num_batched_tokens=(?P<n>\d+)", behind=16),
    Shape("vllm fp8", "store", r"Using (?P<type>fp8\w*) data type to store kv cache", behind=40),
    Shape("vllm started", "startup", r"startup complete"),
)  # fmt: skip

FIGURES: Final = frozenset(
    f"vllm {name}" for name in ("blocks", "concurrency", "tokens", "rest", "available", "reserved", "in use", "need",
                               "v0 refusal", "need for", "room", "not free", "no room")
)  # fmt: skip
"""Any of these makes a start one that says something of a cache."""

_PROCESS: Final = re.compile(r"\((?P<process>[A-Za-z]\w*)(?: rank=(?P<rank>\d+))? pid=(?P<pid>\d+)")
_ENGINE: Final = re.compile(r"EngineCore_(?:DP)?(\d+)|Worker_DP(\d+)")
_SWAP_GIB: Final = 4
"""V0's swap space of CPU blocks where it is not given (``config.py``, CacheConfig)."""
_BLOCKS: Final = (16, 32, 64, 128, 8, 256, 1, 256 * 2, 1024)


def _engine(fact: Fact) -> str:
    """Which engine of several side by side."""
    found = _ENGINE.search(fact.prefix)
    return next((g for g in found.groups() if g is not None), "0") if found else ""


def _process(fact: Fact) -> str:
    found = _PROCESS.search(fact.prefix)
    return found.group() if found else ""


def _pid(fact: Fact) -> str:
    found = _PROCESS.search(fact.prefix)
    return found["pid"] if found else ""


def _release(version: str | None) -> tuple[int, int] | None:
    found = re.match(r"(\d+)\.(\d+)", version or "")
    return (int(found[1]), int(found[2])) if found else None


def read(facts: Sequence[Fact], given: dict[str, str]) -> dict[str, Any]:
    """The figures of one start."""
    by_name: dict[str, list[Fact]] = {}
    for fact in facts:
        by_name.setdefault(fact.name, []).append(fact)

    def last(name: str) -> Fact | None:
        return by_name[name][-1] if name in by_name else None

    stated = (f for f in reversed(facts) if f.name in (START, INITIALISED, "vllm version"))
    version = next((f.get("version") for f in stated if f.get("version")), None)
    out: dict[str, Any] = {"version": version}
    out |= _one_gpu(by_name)
    concurrency = last("vllm concurrency")
    if concurrency is not None:
        out["max_model_len"] = number(concurrency["len"])
    elif used := last("vllm max len"):
        out["max_model_len"] = number(used["len"])
    if fp8 := last("vllm fp8"):
        out["element"] = "fp8" if fp8["type"].startswith("fp8") else None
    if batched := last("vllm batched"):
        out["max_num_batched_tokens"] = number(batched["n"])
    if padding := last("vllm padding"):
        out["padding_layers"] = number(padding["layers"])
    if "block_size" in given:
        out["block_tokens"] = number(given["block_size"])
    if hybrid := last("vllm hybrid block"):
        out["block_tokens"] = number(hybrid["tokens"])
    if "vllm started" in by_name:
        out["started"] = True
    if "swap_space" in given:
        out["swap_bytes"] = int(Fraction(given["swap_space"]) * GIB)

    pool = _smallest(_pools(by_name))
    if "vllm tokens" in by_name:
        return out | _tokens(by_name, pool, out, given)
    if "vllm blocks" in by_name:
        return out | _blocks(by_name, pool, out, given)
    if refusal := _refusal(by_name, out):
        return out | refusal
    return out | {
        "form": "V1, one GPU's memory only"
        if {"vllm available", "vllm in use", "vllm reserved"} & set(by_name)
        else "memory profiling only"
    }


def _pools(by_name: dict[str, list[Fact]]) -> list[Fact]:
    """Lines with the pool of a rank, of the first kind there is."""
    names = ("vllm available", "vllm rest", "vllm reserved", "vllm in use")
    return next((by_name[name] for name in names if name in by_name), [])


def _amounts(facts: Sequence[Fact]) -> list[Printed]:
    return [printed(f["gib"]) for f in facts]


def _smallest(facts: Sequence[Fact]) -> Printed | None:
    return min(_amounts(facts), key=lambda p: p.digits, default=None)


def _one_gpu(by_name: dict[str, list[Fact]]) -> dict[str, Any]:
    """What each rank prints of its GPU: the smallest pool, the fullest of everything else."""
    out: dict[str, Any] = {}
    if "vllm weights" in by_name:
        out["weights_gib_per_gpu"] = max(float(p.digits) for p in _amounts(by_name["vllm weights"]))
    for name, field in (
        ("vllm activation", "activation_bytes_per_gpu"),
        ("vllm non-torch", "non_torch_bytes_per_gpu"),
        ("vllm graph", "graph_bytes_per_gpu"),
        ("vllm graph pool", "graph_bytes_per_gpu"),
    ):
        if name in by_name:
            out[field] = max(p.bytes for p in _amounts(by_name[name]))
    if "vllm profile" in by_name:
        profile = by_name["vllm profile"][-1]
        out["total_bytes"] = printed(profile["total"]).bytes
        if non_torch := re.search(r"non_torch_memory=(\d[\d.]*) ?GiB", profile["more"]):
            out["non_torch_bytes_per_gpu"] = printed(non_torch[1]).bytes
    if "vllm total" in by_name:
        total = by_name["vllm total"][-1]
        out |= {"total_bytes": printed(total["gib"]).bytes, "utilization": float(total["share"])}
    if "vllm free" in by_name:
        free = by_name["vllm free"][-1]
        out |= {"total_bytes": printed(free["total"]).bytes, "free_bytes": printed(free["free"]).bytes}
        if share := free.get("share") or free.get("desired"):
            out["utilization"] = float(share)
    if "vllm 0.21" in by_name:
        out["utilization"] = float(by_name["vllm 0.21"][-1]["share"])
    if pools := _pools(by_name):
        amounts = sorted({p.bytes for p in _amounts(pools)})
        out["available_kv_bytes_per_gpu"] = amounts[0]
        if len(amounts) > 1:
            out["available_kv_bytes_by_rank"] = tuple(printed(f["gib"]).bytes for f in pools)
    return out


def _per_engine(facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    """Facts by the engine that printed them; of an engine started twice, the later process's."""
    engines: dict[str, list[Fact]] = {}
    for fact in facts:
        so_far = engines.setdefault(_engine(fact), [])
        core = "EngineCore" in _process(fact)
        if core and so_far and _pid(so_far[-1]) != _pid(fact):
            so_far.clear()
        so_far.append(fact)
    return engines


def _concurrency(by_name: dict[str, list[Fact]]) -> tuple[float | None, Fraction | None]:
    """Of all engines together, and of the first one."""
    each = [
        min((Fraction(f["x"].replace(",", "")) for f in facts), default=None)
        for facts in _per_engine(by_name.get("vllm concurrency", [])).values()
    ]
    known = [x for x in each if x is not None]
    return (float(sum(known)), known[0]) if known else (None, None)


def _tokens(
    by_name: dict[str, list[Fact]], pool: Printed | None, out: dict[str, Any], given: dict[str, str]
) -> dict[str, Any]:
    """V1: a line of tokens."""
    facts = by_name["vllm tokens"]
    trial = "vllm override" in by_name
    engines = _per_engine(facts)
    each = {e: [number(f["tokens"]) for f in (fs[-1:] if trial else fs)] for e, fs in engines.items()}
    smallest = {e: min(tokens) for e, tokens in each.items()}
    line = sum(smallest.values())
    one = next(iter(smallest.values()))
    all_x, one_x = _concurrency(by_name)
    if trial and "vllm concurrency" in by_name:
        one_x = Fraction(by_name["vllm concurrency"][-1]["x"].replace(",", ""))
        all_x = float(one_x)
    new: dict[str, Any] = {"tokens_line": line, "max_concurrency": all_x}
    if len(engines) > 1:
        new["dp"] = len(engines)
    by_rank = [t for tokens in each.values() for t in dict.fromkeys(tokens)]
    if len(engines) == 1 and len(by_rank) > 1:
        new["kv_tokens_by_rank"] = tuple(by_rank)

    release = _release(out["version"])
    length = out.get("max_model_len")
    several = "vllm padding" in by_name or "vllm hybrid block" in by_name
    one_line = any(f.get("same") for f in facts)
    before_0_21 = release is not None and release < (0, 21)
    after = one_line or "vllm 0.21" in by_name or (release is not None and release >= (0, 21)) or bool(one % 8)
    if one_x is not None and length:
        # A plain model's length is rounded up to blocks before it is divided by, and the quotient to two decimals.
        at_least, at_most = Fraction(one, length + 256), Fraction(one, length)
        capacity: bool | None = at_least - Fraction(1, 100) <= one_x <= at_most + Fraction(1, 100)
    elif after:
        capacity = True
    else:
        capacity = None if several else True
    new["tokens_line_is_capacity"] = capacity
    if capacity is False and one_x is not None and length:
        new["capacity_tokens_at_max_len"] = round(one_x * length) * len(engines)
    if capacity:
        new["kv_tokens"] = line
    if one_line:
        new["form"] = "V1, 0.28 or later, one line"
    elif after or (several and capacity and not before_0_21):
        new["form"] = "V1, 0.21 or later, two lines"
    elif several or capacity is False:
        new["form"] = "V1, before 0.21, several cache groups"
    else:
        new["form"] = "V1, three lines" if pool is not None and one_x is not None else "V1, two lines"
    # A windowed model's tokens line is per request since 0.21: only a plain model's has a rate. Of later versions,
    # tokens that are whole blocks are a plain model's.
    if capacity and not several and pool is not None and not one % 16:
        # Tokens are the smallest rank's; where only one of several ranks printed its pool, that may be another's.
        alone = len(by_name.get("vllm available", ())) == 1 and int(given.get("tp", 1)) * int(given.get("pp", 1)) > 1
        new["bytes_per_token"] = rate(pool, one, out.get("block_tokens") or 64, by=4 if alone else 0)
    return new


def _blocks(
    by_name: dict[str, list[Fact]], pool: Printed | None, out: dict[str, Any], given: dict[str, str]
) -> dict[str, Any]:
    """V0, and the first form of V1: lines of blocks."""
    lines = by_name["vllm blocks"]
    blocks = [number(f["gpu"]) for f in lines]
    fewest = min(blocks)
    cpu = [number(c) for f in lines if (c := f.get("cpu"))]
    x, one_x = _concurrency(by_name)
    new: dict[str, Any] = {"gpu_blocks": fewest, "max_concurrency": x, "form": "V0" if cpu else "V1, first form"}
    if cpu:
        new["cpu_blocks"] = min(cpu)
    elif any(f["device"] != "GPU" for f in lines):
        new["form"] = "V0"
    size, length = out.get("block_tokens"), out.get("max_model_len")
    if size is None and one_x is not None and length:
        near = [b for b in _BLOCKS if abs(Fraction(fewest * b, length) - one_x) <= Fraction(1, 100)]
        size = near[0] if near else None
    if size is not None:
        new |= {"block_tokens": size, "kv_tokens": fewest * size}
    new |= _refusal(by_name, out | new)
    stated = new.get("kv_tokens")
    if size is None and stated and fewest and not stated % fewest:
        size = stated // fewest
        new["block_tokens"] = size
    if pool is not None and size is not None:
        new["bytes_per_token"] = rate(pool, fewest * size, size)
    elif swapped := min(cpu, default=0):
        swap = int(Fraction(given.get("swap_space", _SWAP_GIB)) * GIB)
        low, high = Fraction(swap, (swapped + 1) * (size or 16)), Fraction(swap, swapped * (size or 16))
        new["bytes_per_token"] = roundest(low, high)
    return new


def _refusal(by_name: dict[str, list[Fact]], out: dict[str, Any]) -> dict[str, Any]:
    """The sentence with which it does not start."""
    if "vllm v0 refusal" in by_name:
        tokens = number(by_name["vllm v0 refusal"][-1]["tokens"])
        new: dict[str, Any] = {"form": "V0 refusal", "started": False, "kv_tokens": tokens, "estimated_max_len": tokens}
        if "vllm need for" in by_name:
            length = number(by_name["vllm need for"][-1]["len"])
            new |= {"needed_for_tokens": length, "max_model_len": length}
        if "vllm blocks" not in by_name and out.get("available_kv_bytes_per_gpu"):
            pool = _smallest(_pools(by_name))
            new["bytes_per_token"] = rate(pool, tokens, 16) if pool else None
        return new
    if "vllm need" in by_name or "vllm room" in by_name:
        return _v1_refusal(by_name)
    if "vllm not free" in by_name:
        return {"form": "refusal before loading", "started": False}
    if "vllm no room" in by_name:
        return {"form": "refusal, no memory left for a cache", "started": False}
    return {}


def _v1_refusal(by_name: dict[str, list[Fact]]) -> dict[str, Any]:
    new: dict[str, Any] = {"form": "V1 refusal", "started": False}
    ranges = []
    if "vllm need for" in by_name:
        new["needed_for_tokens"] = new["max_model_len"] = number(by_name["vllm need for"][-1]["len"])
    if "vllm need" in by_name:
        need = printed(by_name["vllm need"][-1]["gib"])
        new["needed_bytes"] = need.bytes
        if length := new.get("needed_for_tokens"):
            # A request takes whole blocks: up to one more than its tokens.
            ranges.append((need.low / (length + 64), need.high / length))
    if "vllm room" in by_name:
        room = min((printed(f["gib"]) for f in by_name["vllm room"]), key=lambda p: p.digits)
        new["available_kv_bytes"] = room.bytes
        if "vllm longest" in by_name:
            longest = number(by_name["vllm longest"][-1]["len"])
            new["estimated_max_len"] = longest
            if longest:
                ranges.append((room.low / (longest + 64), room.high / longest))
    if len(ranges) == 2:
        # Where the two disagree, a request's need does not grow evenly (windows, states, pipeline stages).
        low, high = max(r[0] for r in ranges), min(r[1] for r in ranges)
        new["bytes_per_token"] = roundest(low, high) if low <= high else None
    elif ranges and "vllm need" in by_name:
        new["bytes_per_token"] = roundest(*ranges[0])
    return new
