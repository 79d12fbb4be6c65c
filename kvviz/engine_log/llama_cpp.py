"""Lines of llama.cpp and of what embeds it (ollama, LM Studio, ik_llama.cpp): caches, states, devices, geometry."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import gcd
from typing import Any, Final

from kvviz.core.units import MIB
from kvviz.engine_log.printed import number, printed, roundest, total, whole
from kvviz.engine_log.scan import COMMAND, INITIALISED, START, Fact, Shape

_MIB: Final = r"(?P<mib>-?\d+(?:[.,]\d+)?) ?Mi?B"
_PARTS: Final = r"(?P<parts>(?:, (?:[KVRSP]|c\^KV|kv\^T)(?: \(\w+\))?: (?:\d[\d.,]* MiB|not used))*)"
_DEVICE: Final = r"(?<![A-Za-z])(?P<device>[A-Za-z][\w.:\[\]-]*)"

SHAPES: Final = (
    Shape(COMMAND, "llama-server", r"llama-server(?:\.exe)?['\"]? -"),
    Shape(COMMAND, "llama-cli", r"llama-cli(?:\.exe)?['\"]? -"),
    Shape("llama version", "version:", r"version: (?P<version>\d{3,5}) \([0-9a-f]{6,40}\)"),
    Shape(START, "build", r"\bbuild ?[:=] (?P<version>\d{3,5}) \([0-9a-f]{6,40}\)"),
    Shape("llama begins", "constructing", r"constructing llama_context"),
    Shape("llama set", "n_seq_max", r"\bn_seq_max = (?P<n_seq_max>\d+)"),
    Shape("llama set", "n_ctx", r"\bn_ctx = (?P<n_ctx>\d+)"),
    Shape("llama set", "n_ctx_", r"\bn_ctx_(?:per_seq|pre_seq|seq) = (?P<n_ctx_per_slot>\d+)"),
    Shape("llama set", "n_batch", r"\bn_batch = (?P<n_batch>\d+)"),
    Shape("llama set", "n_ubatch", r"\bn_ubatch = (?P<n_ubatch>\d+)"),
    Shape(
        "llama set",
        "kv_size",
        r"\bkv_size = (?P<kv_size>\d+)(?:, offload = \d, type_k = '(?P<type_k>\w+)', type_v = '(?P<type_v>\w+)')?",
    ),
    Shape("llama meta", "n_layer", r"\bn_layer = (?P<layers>\d+)"),
    Shape("llama meta", "n_head_kv", r"\bn_head_kv = (?P<kv_heads>\d+|\[[\d, ]+\])"),
    Shape("llama meta", "n_embd_head_k", r"\bn_embd_head_k = (?P<head_dim>\d+)"),
    Shape("llama meta", "n_embd_head_v", r"\bn_embd_head_v = (?P<value_dim>\d+)"),
    Shape("llama meta", "n_swa", r"\bn_swa = (?P<window_tokens>\d+)"),
    Shape("llama meta", "arch", r"\barch = (?P<arch>[\w.-]+)"),
    Shape("llama meta", "general.name", r"general\.name (?:str )?= (?P<name>[^\n]+)"),
    Shape("llama meta", "general.architecture", r"general\.architecture (?:str )?= (?P<arch>[\w.-]+)"),
    Shape("llama meta", "block_count", r"block_count (?:u32 )?= (?P<layers>\d+)"),
    Shape("llama meta", "mllama.", r"(?P<arch>mllama)\.\w"),
    Shape("llama meta", "cross_attention_layers", r"cross_attention_layers arr\[\w+,\d+\] = \[(?P<cross>[\d, ]+)"),
    Shape("llama self size", "self", rf"self size = {_MIB}{_PARTS}"),
    Shape("llama buffer", "buffer", rf"{_DEVICE} KV buffer size = {_MIB}", behind=60),
    Shape("llama state buffer", "buffer", rf"{_DEVICE} (?:RS|DSV4 [\w -]+? state) buffer size = {_MIB}", behind=80),
    Shape("llama creating", "creating", r"creating (?P<kind>[^\n]{0,60}?) ?KV cache(?:, size = (?P<cells>\d+) cells)?"),
    Shape(
        "llama size",
        "llama_kv_cache",
        rf"(?P<who>llama_kv_cache\w*): size = {_MIB} \( ?(?P<cells>\d+) cells, (?P<layers>\d+) layers,"
        rf" (?P<slots>\d+)(?:/(?P<streams>\d+))? seqs\){_PARTS}",
    ),
    Shape(
        "llama state size",
        "llama_memory_recurrent",
        rf"llama_memory_recurrent: size = {_MIB} \( ?(?P<cells>\d+) cells, (?P<layers>\d+) layers,"
        rf" (?P<slots>\d+)(?:/\d+)? seqs(?: (?P<copies>\d+) rs_seq)?\){_PARTS}",
    ),
    Shape("llama state size", "ratio", rf"ratio = \d+, state = \d+ x \d+[^\n]*?, size = {_MIB}(?P<parts>)"),
    Shape(
        "llama breakdown",
        "memory_breakdown_print:",
        r"memory_breakdown_print: \| ?- (?P<device>[A-Za-z][\w.-]*)[^|\n]*\|"
        r" (?:\d+ = \d+ \+ )?\(?\d+ = \d+ \+ (?P<context>\d+) \+ \d+\)?",
    ),
    # ollama
    Shape("ollama", "ollama", r"(?<![\w/.])ollama(?=[\[ /_:]|\Z)"),
    Shape(START, "msg=offload", r"msg=offload\b"),
    Shape(INITIALISED, 'msg="starting', r'msg="starting (?:llama server|runner)"'),
    Shape(
        "ollama command",
        "--ctx-size",
        r"--ctx-size (?P<n_ctx>\d+)(?:[^\n]*?--batch-size (?P<n_batch>\d+))?(?:[^\n]*?--parallel (?P<slots>\d+))?",
    ),
    Shape("ollama cache type", "--kv-cache-type", r"--kv-cache-type (?P<type>\w+)"),
    Shape("ollama load", "KvSize:",
        r"(?:Parallel:(?P<slots>\d+)[^\n]*?)?KvSize:(?P<n_ctx>\d+)(?: KvCacheType:(?P<type>\w+))?",
        behind=120),
    Shape("ollama estimate", "memory.required.kv", r'memory\.required\.kv="(?P<size>\d+\.?\d*) (?P<unit>[KMG]i?B)"'),
    Shape("ollama estimate layers", "layers.model=", r"layers\.model=(?P<layers>\d+)"),
    Shape(
        "ollama cache",
        'msg="kv',
        r'msg="kv cache" device="?(?P<device>[\w.:-]+)"? size="(?P<size>\d+\.?\d*) (?P<unit>[KMG]i?B|B)"',
    ),
)  # fmt: skip

FIGURES: Final = frozenset(
    ("llama self size", "llama buffer", "llama size", "llama state size", "llama state buffer", "llama breakdown",
     "ollama estimate", "ollama cache")
)  # fmt: skip

_PART: Final = re.compile(r"(?P<what>K|V|R|S|P|c\^KV|kv\^T) \((?P<type>\w+)\):\s+(?P<mib>\d+(?:[.,]\d+)?) MiB")
_ROUTER: Final = re.compile(r"^\s*\[(\d+)\]")
_ROUTERS: Final = re.compile(r"\n\s*\[\d+\]")
_STATES_ONLY: Final = re.compile(r"mamba|rwkv")
_BLOCK_BYTES: Final = {"f32": 128, "f16": 64, "bf16": 64, "q8_0": 34, "q5_1": 24, "q5_0": 22, "q4_1": 20, "q4_0": 18,
                       "iq4_nl": 18}  # fmt: skip
"""Bytes of 32 elements (KV-cache types of ggml)."""
_MLLAMA_VISION_TOKENS: Final = 4 * 1601
"""Four tiles of 40 x 40 patches and a class token each; cached in f32 whatever the type of the cache is."""


@dataclass(slots=True)
class _Cache:
    kind: str = ""
    """As its "creating" line calls it; empty where there is none."""
    cells: int = 0
    size: Fact | None = None
    buffers: list[Fact] = field(default_factory=list)


@dataclass(slots=True)
class _Context:
    settings: dict[str, str] = field(default_factory=dict)
    meta: dict[str, str] = field(default_factory=dict)
    caches: list[_Cache] = field(default_factory=list)
    sized: bool = False
    """Any of these has a size."""
    self_sizes: list[Fact] = field(default_factory=list)
    states: list[Fact] = field(default_factory=list)
    state_buffers: list[Fact] = field(default_factory=list)

    @property
    def has_caches(self) -> bool:
        return bool(self.self_sizes or self.states or self.state_buffers or self.sized)


def _contexts(facts: Sequence[Fact]) -> list[_Context]:
    """Contexts of one process, in order: the model's, then a draft's."""
    contexts = [_Context()]
    meta: dict[str, str] = {}
    for fact in facts:
        now = contexts[-1]
        if fact.name == "llama meta":
            meta |= {k: v for k, v in fact.groups.items() if v is not None}
            now.meta = dict(meta)
            continue
        groups = {k: v for k, v in fact.groups.items() if v is not None}
        again = fact.name == "llama set" and any(now.settings.get(k) for k in groups if k != "kv_size")
        if (again or fact.name == "llama begins") and now.has_caches:
            now = _Context(meta=dict(meta))
            contexts.append(now)
        match fact.name:
            case "llama set":
                now.settings |= groups
            case "llama creating":
                now.caches.append(_Cache(kind=fact["kind"].strip(), cells=int(fact.get("cells") or 0)))
            case "llama buffer":
                if not now.caches or now.caches[-1].size:
                    now.caches.append(_Cache())
                now.caches[-1].buffers.append(fact)
                now.sized = True
            case "llama size":
                if not now.caches or now.caches[-1].size:
                    same = now.caches and now.caches[-1].size and now.caches[-1].size.groups == fact.groups
                    if same:
                        continue
                    now.caches.append(_Cache())
                now.caches[-1].size = fact
                now.sized = True
            case "llama self size":
                now.self_sizes.append(fact)
            case "llama state size":
                now.states.append(fact)
            case "llama state buffer":
                now.state_buffers.append(fact)
            case _:
                pass
    return [c for c in contexts if c.has_caches] or contexts[-1:]


def read(facts: Sequence[Fact], given: dict[str, str]) -> dict[str, Any]:
    """The figures of one start."""
    del given  # llama.cpp prints what it settled on
    facts = _one_process(facts)
    version = next(
        (f["version"] for f in reversed(facts) if f.name in (START, "llama version") and f.get("version")), None
    )
    contexts = _contexts(facts)
    main, others = contexts[0], contexts[1:]
    out = _read(main)
    if others:
        last = _read(others[-1])
        if _alike(out, last):
            out, others = last, []
    drafts = [_read(c) for c in others]
    out["draft_bytes_total"] = total(b for d in drafts for b in (d.get("kv_bytes_total"), d.get("state_bytes_total")))
    breakdown = [f for f in facts if f.name == "llama breakdown"]
    if breakdown:
        out["context_bytes_total"] = sum({f["device"]: int(f["context"]) for f in breakdown}.values()) * MIB
    out |= _ollama(facts, out)
    engine = out.pop("engine", "llama.cpp")
    if engine == "ollama" and out.get("form", "").startswith("old,"):
        out["form"] = "old llama.cpp lines"
    if "form" not in out:
        out["form"] = "breakdown at exit" if breakdown else "settings"
    return {"engine": engine, "version": version} | out


def _one_process(facts: Sequence[Fact]) -> Sequence[Fact]:
    """Of a router's models, the one that printed most of its caches."""
    if not facts or not _ROUTERS.search(f"\n{facts[0].match.string}"):
        return facts
    by_process: dict[str, list[Fact]] = {}
    for fact in facts:
        found = _ROUTER.match(fact.prefix)
        by_process.setdefault(found[1] if found else "", []).append(fact)
    return max(by_process.values(), key=lambda fs: sum(f.name in FIGURES for f in fs))


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """The same model once more, with other settings."""
    rates = one.get("bytes_per_token"), other.get("bytes_per_token")
    layers = one.get("kv_layers"), other.get("kv_layers")
    return rates[0] is not None and rates[0] == rates[1] and layers[0] == layers[1]


def _heads(text: str) -> tuple[int | None, int | None]:
    """KV heads where all layers with a cache have as many, and how many such layers a list names."""
    if not text.startswith("["):
        return int(text), None
    each = [int(n) for n in re.findall(r"\d+", text)]
    some = {n for n in each if n}
    return (some.pop() if len(some) == 1 else None), sum(n > 0 for n in each)


def _read(context: _Context) -> dict[str, Any]:
    out: dict[str, Any] = {}
    meta, given = context.meta, context.settings
    for name in ("layers", "head_dim", "value_dim"):
        if name in meta:
            out[name] = int(meta[name])
    if window := int(meta.get("window_tokens", 0)):
        out["window_tokens"] = window
    listed = None
    if "kv_heads" in meta:
        out["kv_heads"], listed = _heads(meta["kv_heads"])
    if "name" in meta:
        out["model"] = meta["name"]
    if "arch" in meta:
        out["model_type"] = meta["arch"]
    for name in ("n_ctx", "n_ctx_per_slot", "n_batch", "n_ubatch"):
        if name in given:
            out[name] = int(given[name])
    if "n_seq_max" in given:
        out["slots"] = int(given["n_seq_max"])
    if "type_k" in given:
        out |= _elements(given["type_k"], given["type_v"])
    _add_devices(context, out)
    if context.self_sizes:
        out |= _self_size(context, out, listed)
    elif context.caches and any(c.size or c.buffers for c in context.caches):
        out |= _caches(context, out, listed)
    if context.states or context.state_buffers:
        out |= _states(context)
        out["form"] = (
            "hybrid" if out.get("kv_bytes_total") and "shortened" not in out["form"] else out.get("form", "states")
        )
    if meta.get("arch") == "mllama":
        out["engine"] = "ollama"  # llama.cpp itself has no such architecture
    return out


def _add_devices(context: _Context, out: dict[str, Any]) -> None:
    devices: dict[str, Decimal] = {}
    for cache in context.caches:
        for device, amount in _per_device(cache.buffers).items():
            devices[device] = devices.get(device, Decimal(0)) + amount
    if devices:
        out["per_device_mib"] = {device: float(amount) for device, amount in devices.items()}


def _per_device(buffers: Sequence[Fact]) -> dict[str, Decimal]:
    """One line a device and cache; an equal one is a repeat, another one a further buffer of this device."""
    devices: dict[str, dict[Decimal, None]] = {}
    for fact in buffers:
        devices.setdefault(fact["device"], {})[printed(fact["mib"], "MiB").digits] = None
    return {device: sum(amounts, Decimal(0)) for device, amounts in devices.items()}


def _elements(k: str, v: str | None) -> dict[str, Any]:
    if v is None or k == v:
        return {"element": k}
    return {"element_k": k, "element_v": v}


def _parts(fact: Fact) -> dict[str, re.Match[str]]:
    return {m["what"]: m for m in _PART.finditer(fact.get("parts") or "")}


def _bytes(fact: Fact, cells: int | None, layers: int | None) -> tuple[int, int | None, int | None]:
    """Of a cache: all of it, K, V. Every row of every layer is whole blocks of elements, which often leaves one
    number that is printed like this."""
    parts = _parts(fact)
    rows = (cells or 0) * (layers or 1)
    amounts = {
        what: whole(printed(m["mib"], "MiB"), rows * _BLOCK_BYTES.get(m["type"], 1)) for what, m in parts.items()
    }
    all_of_it = printed(fact["mib"], "MiB")
    unit = gcd(*(_BLOCK_BYTES.get(m["type"], 1) for m in parts.values())) if parts else 1
    size = whole(all_of_it, rows * unit)
    summed = sum(amounts.values())
    if amounts and all_of_it.low <= summed <= all_of_it.high and size == all_of_it.bytes:
        size = summed if all_of_it.digits * MIB % 1 else size
    return size, amounts.get("K", amounts.get("c^KV")), amounts.get("V")


def _per_cell(fact: Fact, size: int, cells: int | None) -> int | None:
    if not cells:
        return None
    if not size % cells:
        return size // cells
    amount = printed(fact["mib"], "MiB")
    return roundest(amount.low / cells, amount.high / cells)


def _self_size(context: _Context, out: dict[str, Any], listed: int | None) -> dict[str, Any]:
    """Before May 2025: one line for the whole cache. A second one of the same size is the same cache."""
    fact = context.self_sizes[0]
    parts = _parts(fact)
    kinds = {what: m["type"] for what, m in parts.items()}
    states_only = kinds.get("K") == kinds.get("V") == "f32" and (
        bool(_STATES_ONLY.match(context.meta.get("arch", "")))
        or out.get("kv_heads") == 0
        or int(context.settings.get("kv_size", 1024)) < 64
        or parts["K"]["mib"] != parts["V"]["mib"]
    )
    if states_only:
        sizes = [_state_part(printed(m["mib"], "MiB").low, printed(m["mib"], "MiB").high) for m in parts.values()]
        slots = int(context.settings.get("kv_size", 0)) or out.get("slots")
        state = sum(sizes)
        new: dict[str, Any] = {"form": "old, states only", "state_bytes_total": state, "state_slots": slots}
        return new | {"state_bytes_per_slot": state // slots if slots and not state % slots else None}
    cells = out.get("n_ctx") or int(context.settings.get("kv_size", 0)) or None
    layers = listed or out.get("layers")
    size, k, v = _bytes(fact, cells, layers)
    latent = "c^KV" in kinds
    new = {
        "form": "old, latent" if latent else "old, self size" if parts else "oldest, one figure",
        "n_ctx": cells,
        "kv_bytes_total": size,
        "bytes_per_token": _per_cell(fact, size, cells),
        "kv_layers": listed,
    }
    if latent:
        new |= {"element": kinds["c^KV"], "engine": "ik_llama.cpp"}
    elif "K" in kinds:
        new |= {"k_bytes": k, "v_bytes": v} | _elements(kinds["K"], kinds.get("V"))
    if context.meta.get("arch") == "mllama":
        new |= _mllama(context, size, cells)
    return new


def _mllama(context: _Context, size: int, cells: int | None) -> dict[str, Any]:
    """Cross-attention layers keep a fixed number of f32 rows, the others f16 rows of the context."""
    listed = context.meta.get("cross")
    out: dict[str, Any] = {"bytes_per_token": None, "element": None}
    if listed is None or cells is None:
        return out
    at = [int(n) for n in re.findall(r"\d+", listed)]
    layers = int(context.meta.get("layers", 0)) or len(at) * (at[1] - at[0] if len(at) > 1 else 0)
    cross, own = len(at) * _MLLAMA_VISION_TOKENS * 2 * 4, (layers - len(at)) * cells * 2 * 2
    if layers and not size % (cross + own):
        width = size // (cross + own)
        out |= {"self_attention_bytes": own * width, "cross_attention_bytes": cross * width}
        out |= {"bytes_per_token": own * width // cells, "layers": layers}
    return out


def _cells(cache: _Cache) -> int:
    return number(cache.size["cells"]) if cache.size else cache.cells


def _size(cache: _Cache) -> tuple[int, int | None, int | None]:
    if cache.size is None:
        return sum(int(a * MIB) for a in _per_device(cache.buffers).values()), None, None
    streams = int(cache.size.get("streams") or 1)
    return _bytes(cache.size, _cells(cache) * streams, number(cache.size["layers"]))


def _is_window(cache: _Cache) -> bool:
    return cache.kind.startswith("SWA") or "raw" in cache.kind


def _caches(context: _Context, out: dict[str, Any], listed: int | None) -> dict[str, Any]:
    """Since May 2025: a line for each cache; several belong to one model and are added."""
    caches = [c for c in context.caches if c.size or c.buffers]
    sizes = [_size(c) for c in caches]
    parts = [_parts(c.size) if c.size else {} for c in caches]
    new: dict[str, Any] = {"kv_bytes_total": sum(size for size, _, _ in sizes)}
    if all(parts):
        new |= {"k_bytes": total(k for _, k, _ in sizes), "v_bytes": total(v for _, _, v in sizes)}
    kinds = {what: {p[what]["type"] for p in parts if what in p} for what in ("K", "V")}
    if len(kinds["K"]) == 1 and len(kinds["V"]) <= 1:
        new |= _elements(next(iter(kinds["K"])), next(iter(kinds["V"]), None))
    main = max(caches, key=lambda c: (not _is_window(c), _cells(c)))
    first = main.size or next((c.size for c in caches if c.size), None)
    if first is not None:
        streams = int(first.get("streams") or 1)
        new["slots"] = out.get("slots") or number(first["slots"])
        if first.get("streams"):
            new["streams"] = streams
        if first is main.size and "DSV4" not in main.kind:
            new["n_ctx"] = out.get("n_ctx") or number(first["cells"]) * streams
    if len(caches) == 1 and first is not None:
        # Some builds count blocks here, whether they have a cache or not; the list of heads does not.
        new["kv_layers"] = min(number(first["layers"]), listed or number(first["layers"]))
        new["bytes_per_token"] = _per_cell(first, new["kv_bytes_total"], number(first["cells"]) * streams)
    elif len(caches) == 1:
        cells = out.get("n_ctx")
        if cells and not out.get("window_tokens") and not new["kv_bytes_total"] % cells:
            new["bytes_per_token"] = new["kv_bytes_total"] // cells
    else:
        new |= _apart(caches, sizes, main)
    named = first is not None and "unified" in first["who"]
    iswa = any(_is_window(c) for c in caches) or (len(caches) == 2 and "window_bytes" in new)
    name = "unified" if named else "newest names"
    if first is None:
        name = "buffers only"
    new["form"] = f"{name}, iSWA" if iswa else name
    if first is not None and not any(parts):
        new["form"] += ", shortened by the reporter"
    return new


def _apart(caches: list[_Cache], sizes: list[tuple[int, int | None, int | None]], main: _Cache) -> dict[str, Any]:
    """Full, sliding and indexer caches of one model."""
    new: dict[str, Any] = {}
    groups: dict[str, list[int]] = {"full": [], "window": [], "indexer": []}
    unnamed = not any(c.kind for c in caches)
    for at, cache in enumerate(caches):
        fewer = unnamed and _cells(cache) < _cells(main)
        name = "indexer" if "indexer" in cache.kind else "window" if fewer or _is_window(cache) else "full"
        groups[name].append(at)
    for name, members in groups.items():
        if not members:
            continue
        new[f"{name}_bytes"] = sum(sizes[at][0] for at in members)
        lines = [line for at in members if (line := caches[at].size)]
        if name != "indexer":
            new[f"{name}_cells"] = max(_cells(caches[at]) for at in members) or None
            new[f"{name}_layers"] = total(number(line["layers"]) for line in lines)
    return new


def _state_part(low: Fraction, high: Fraction) -> int:
    """States are products of widths, which are multiples of large powers of two."""
    return roundest(low, high) or int((low + high) / 2)


def _states(context: _Context) -> dict[str, Any]:
    lines = [f for f in context.states if f.get("cells")]
    new: dict[str, Any] = {}
    if context.states:
        distinct = list(
            {(f.name, tuple(sorted((k, v or "") for k, v in f.groups.items()))): f for f in context.states}.values()
        )
        new["state_bytes_total"] = sum(_state_bytes(f) for f in distinct)
    else:
        new["state_bytes_total"] = sum(int(a * MIB) for a in _per_device(context.state_buffers).values())
    if lines:
        slots = number(lines[0]["cells"])
        new["state_slots"] = slots
        if slots and not new["state_bytes_total"] % slots:
            new["state_bytes_per_slot"] = new["state_bytes_total"] // slots
    return new


def _state_bytes(fact: Fact) -> int:
    amount = printed(fact["mib"], "MiB")
    parts = [printed(m["mib"], "MiB") for m in _parts(fact).values()]
    summed = sum(_state_part(p.low, p.high) if p.digits else 0 for p in parts)
    return summed if parts and amount.low <= summed <= amount.high else amount.bytes


def _ollama(facts: Sequence[Fact], out: dict[str, Any]) -> dict[str, Any]:
    """What ollama's own lines add; its estimate counts only where nothing was allocated."""
    new: dict[str, Any] = {}
    named = any(f.name.startswith("ollama") or f.name == INITIALISED for f in facts)
    if not named:
        return new
    new["engine"] = "ollama"
    for fact in facts:
        if fact.name in ("ollama command", "ollama load"):
            for name in ("n_ctx", "n_batch", "slots"):
                if (value := fact.get(name)) and not out.get(name):
                    new[name] = int(value)
        if fact.name in ("ollama cache type", "ollama load") and (kind := fact.get("type")) and not out.get("element"):
            new["element"] = kind
    allocated = [f for f in facts if f.name == "ollama cache"]
    if allocated and not out.get("kv_bytes_total"):
        latest: dict[str, Decimal] = {}
        for fact in allocated:
            amount = printed(fact["size"], fact["unit"])
            if fact["device"] in latest:  # the runner fits again: another set begins
                latest = {}
            latest[fact["device"]] = amount.digits * amount.unit
        new["kv_bytes_total"] = sum(int(a) for a in latest.values())
        new["per_device_mib"] = {device: float(a / MIB) for device, a in latest.items()}
        new["form"] = "allocation by device"
    elif not out.get("kv_bytes_total") and not out.get("state_bytes_total"):
        estimates = [f for f in facts if f.name == "ollama estimate"]
        if estimates:
            amount = printed(estimates[-1]["size"], estimates[-1]["unit"])
            new |= {"kv_bytes_total": amount.bytes, "kv_is_estimate": True, "form": "estimate before loading"}
    counted = [f for f in facts if f.name == "ollama estimate layers"]
    if counted and not out.get("layers"):
        new["layers"] = number(counted[-1]["layers"]) - 1  # the output counts as a layer here
    return new
