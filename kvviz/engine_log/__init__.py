"""Reads the start-up log of an engine: vLLM, SGLang, llama.cpp (ollama, LM Studio) and TensorRT-LLM.

Only figures and names kvviz knows leave this package: no line of a log, and nothing of one in an error.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kvviz.engine_log import llama_cpp, sglang, tensorrt_llm, vllm
from kvviz.engine_log.model import Engine, EngineLog, LogError
from kvviz.engine_log.scan import (
    COMMAND,
    SETTING_KEYS,
    Fact,
    Setting,
    clean,
    keys_of,
    places,
    scanner,
    settings,
    starts,
)
from kvviz.text import Message
from kvviz.text import engine_log as text

__all__ = ["MAX_CHARACTERS", "Engine", "EngineLog", "LogError", "read_log"]

MAX_CHARACTERS: Final = 5 * 1024 * 1024

_READERS: Final = (
    ("vllm", "vLLM", vllm),
    ("sglang", "SGLang", sglang),
    ("tensorrt-llm", "TensorRT-LLM", tensorrt_llm),
    ("llama.cpp", "llama.cpp", llama_cpp),
)
_SHAPES: Final = tuple(shape for _, _, reader in _READERS for shape in reader.SHAPES)
_SCAN: Final = scanner(_SHAPES)
_PREFIX_KEYS: Final = ("enable-prefix", "enable_prefix", "disable-radix-cache")
_KEYS: Final = keys_of(_SHAPES, (*SETTING_KEYS, *_PREFIX_KEYS))
_MODEL: Final = re.compile(r"(?:[\w.-]+/)?[\w][\w.+-]*( [\w.+-]+){0,9}")
_SECRET: Final = re.compile(r"\b(?:hf|sk|gh[pousr]|nvapi|glpat|xox[a-z])[_-]\w{8,}|\w{40,}|[A-Za-z]\w*=\w{16,}")
_ELEMENTS: Final = (
    (re.compile(r"fp8|float8|e4m3|e5m2", re.IGNORECASE), "fp8"),
    (re.compile(r"bf16|bfloat16", re.IGNORECASE), "bf16"),
    (re.compile(r"^(?:torch\.)?(?:f(?:p|loat)?16|half)$", re.IGNORECASE), "f16"),
    (re.compile(r"^(?:torch\.)?f(?:p|loat)?32$", re.IGNORECASE), "f32"),
    (re.compile(r"^(?:q\d_\d|iq4_nl|nvfp4|int8|fp4\w*|turboquant\w*)$", re.IGNORECASE), None),
)
_COUNTS: Final = ("max_model_len", "tp", "pp", "dp", "dcp", "max_num_seqs", "max_num_batched_tokens")
_FRACTIONS: Final = ("utilization", "mem_fraction_static")
_DIFFERENCES: Final = frozenset(
    {"available_kv_bytes", "available_kv_bytes_per_gpu", "activation_bytes_per_gpu", "non_torch_bytes_per_gpu",
     "graph_bytes_per_gpu", "free_after_load_bytes_per_gpu", "free_after_pools_bytes_per_gpu"}
)  # fmt: skip
"""Differences of free memory, which may come out below zero; nothing else does."""
_PREFIX: Final = re.compile(r"enable[-_]prefix[-_]caching['\"]?\s*(?:[:=]\s*)?(?P<value>True|False)?")


def read_log(pasted: str) -> EngineLog:
    """What a pasted start-up log says. LogError where nothing of a cache was recognised, or the text is too long."""
    if len(pasted) > MAX_CHARACTERS:
        raise LogError(Message(text.TOO_LONG, {"count": f"{len(pasted):,}", "limit": f"{MAX_CHARACTERS:,}"}))
    if not pasted.strip():
        raise LogError(Message(text.EMPTY))
    cleaned = clean(pasted)
    at_keys = places(cleaned, _KEYS)
    parts = starts(_SCAN(cleaned, at_keys))
    figures = frozenset[str]().union(*(reader.FIGURES for _, _, reader in _READERS))
    with_figures = [at for at, part in enumerate(parts) if not figures.isdisjoint(f.name for f in part)]
    if not with_figures:
        raise _nothing(parts)
    at = with_figures[-1]
    facts = parts[at]
    begin = facts[0].at if at else 0
    end = parts[at + 1][0].at if at + 1 < len(parts) else len(cleaned)
    printed = Counter(f.name for f in facts)
    name, _, reader = max(_READERS, key=lambda r: sum(printed[figure] for figure in r[2].FIGURES))
    said = settings(cleaned, at_keys, begin, end)
    given = _given(said, facts[-1].at)
    out = {k: v for k, v in reader.read(facts, given).items() if v is not None}
    common = _common(given, facts)
    if (caching := _prefix_caching(cleaned, at_keys, begin, end)) is not None:
        common["prefix_caching"] = caching
    if "kv_cache_dtype" not in given and any(s.name == "kv_cache_dtype" and s.value == "auto" for s in said):
        common["element_is_auto"] = True
    # What the engine settled on is in lines of its own; its arguments only say what was asked for.
    values: dict[str, Any] = {"engine": name, "starts": len(with_figures)} | common | out
    values = {name: value for name, value in values.items() if name in _DIFFERENCES or not _is_negative(value)}
    for field in ("model", "model_type"):
        if field in values:
            values[field] = _safe(values[field])
    for field in ("element", "element_k", "element_v", "model_dtype"):
        if field in values:
            values[field] = _element(values[field])
    if values.get("element"):  # another line names it
        values.pop("element_is_auto", None)
    return EngineLog(**values)


def _is_negative(value: object) -> bool:
    return isinstance(value, int | float) and value < 0


def _nothing(parts: Sequence[Sequence[Fact]]) -> LogError:
    names = {f.name for part in parts for f in part}
    for _, engine, reader in _READERS:
        own = {s.name for s in reader.SHAPES} - {"command", "start", "initialised"}
        if len(names & own) >= 2 or (names & own and "start" in names):
            return LogError(Message(text.ONLY_SETTINGS, {"engine": engine}))
    return LogError(Message(text.NOTHING_FOUND))


def _given(found: Sequence[Setting], last_fact: int) -> dict[str, str]:
    """One value a setting: the engine's own list of arguments, else the last command line before the figures."""
    given: dict[str, str] = {}
    for said_by_engine in (False, True):
        for setting in found:
            if setting.said_by_engine is said_by_engine and setting.value not in ("None", "auto"):
                first_after = setting.name not in given
                if first_after or setting.at <= last_fact:
                    given[setting.name] = setting.value
    return {name: value for name, value in given.items() if _is_valid(name, value)}


def _is_valid(name: str, value: str) -> bool:
    if name in (*_COUNTS, "block_size"):
        return value.isascii() and value.isdigit() and 0 < len(value) < 10 and int(value) > 0
    if name in (*_FRACTIONS, "fraction_of_free"):
        return bool(re.fullmatch(r"0?\.\d+|[01](?:\.\d+)?", value)) and 0 < float(value) <= 1
    if name == "swap_space":
        return bool(re.fullmatch(r"\d{1,3}(?:\.\d+)?", value)) and float(value) > 0
    return True


def _common(given: dict[str, str], facts: Sequence[Fact]) -> dict[str, Any]:
    out: dict[str, Any] = {name: int(given[name]) for name in _COUNTS if name in given}
    out |= {name: float(given[name]) for name in _FRACTIONS if name in given}
    model = given.get("model") or next((f["model"] for f in facts if f.name == COMMAND and f.get("model")), None)
    if model:
        out["model"] = model
    if "kv_cache_dtype" in given:
        out["element"] = given["kv_cache_dtype"]
    if "dtype" in given:
        out["model_dtype"] = given["dtype"]
    return out


def _prefix_caching(text: str, at_keys: Mapping[str, Sequence[int]], begin: int, end: int) -> bool | None:
    """What a flag or an argument says first; a flag that switches it off counts wherever it stands."""
    said = None
    for at in sorted(at for key in _PREFIX_KEYS for at in at_keys.get(key, ()) if begin <= at < end):
        if text.startswith("disable", at):
            if at - 2 >= begin and text.startswith("--", at - 2):
                return False
        elif flag := _PREFIX.match(text, at, end):
            if at - 5 >= begin and text.startswith("--no-", at - 5):
                return False
            if said is None:
                said = flag["value"] != "False"
    return said


def _safe(model: str) -> str | None:
    """The model's name without the folders it lies in; None where it does not look like one, or like a secret."""
    name = model.strip().strip("'\"")
    if name.count("/") > 1 or name.startswith(("/", ".", "~")):
        name = name.rstrip("/").rsplit("/", 1)[-1]
    return name if len(name) <= 120 and _MODEL.fullmatch(name) and not _SECRET.search(name) else None


def _element(name: str | None) -> str | None:
    if name is None:
        return None
    for pattern, element in _ELEMENTS:
        if pattern.search(name):
            return element or name.lower()
    return None
