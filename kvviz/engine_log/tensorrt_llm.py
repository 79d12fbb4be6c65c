"""TensorRT-LLM's lines. All of one rank; of several pools of a start, the last is the one that is used."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from kvviz.core.units import GIB
from kvviz.engine_log.printed import number, printed, rate
from kvviz.engine_log.scan import Fact, Shape

SHAPES: Final = (
    Shape("trt version", "TensorRT-LLM", r"TensorRT-LLM version: (?P<version>\d[\w.]*)"),
    Shape(
        "trt using",
        "Using",
        r"Using (?P<tokens>#) (?:total )?tokens in paged KV cache(?:, and (?P<per>#) blocks per)?",
    ),
    Shape("trt bytes", "Allocate", r"Allocate (?P<bytes>#) bytes for k/v cache"),
    Shape(
        "trt memory",
        "calculating",
        r"calculating max tokens in paged kv cache: total: (?P<total>#) (?P<tu>[GM]iB),"
        r" available: (?P<free>#) (?P<fu>[GM]iB)",
    ),
    Shape("trt blocks", "primary", r"primary pool: (?P<n>#)"),
    Shape("trt secondary", "secondary", r"secondary pool: (?P<n>#)"),
    Shape("trt block", "tokens", r"tokens per block: (?P<n>\d+)"),
    Shape("trt per sequence", "pages", r"pages per sequence: (?P<n>#)"),
    Shape(
        "trt window",
        "Max",
        r"Max KV cache blocks per sequence: (?P<n>\d+)(?: \[window size=(?P<window>-?\d+)\])?,"
        r" tokens per block=(?P<block>\d+), primary blocks=(?P<blocks>\d+),"
        r" secondary blocks=(?P<secondary>\d+)(?:, max sequence length=(?P<len>\d+))?",
    ),
    Shape(
        "trt allocated",
        "Allocated",
        r"Allocated (?P<amount>#) (?P<unit>[GMK]i?B) for max tokens in paged KV cache \((?P<tokens>\d[\d,]*)\)",
    ),
    Shape("trt quota", "quota", r"quota is (?P<gib>#) ?GiB"),
)  # fmt: skip

FIGURES: Final = frozenset(
    ("trt using", "trt bytes", "trt memory", "trt blocks", "trt window", "trt allocated", "trt quota")
)

_RANK: Final = re.compile(r"\[RANK (\d+)\]|\[1,(\d+)\]<std|\[rank(\d+)\]|\(pid=(\d+)", re.IGNORECASE)


def _rank(fact: Fact) -> str:
    found = _RANK.search(fact.prefix)
    return found.group() if found else ""


def read(facts: Sequence[Fact], given: dict[str, str]) -> dict[str, Any]:
    """The figures of one start."""
    ranks: dict[str, list[Fact]] = {}
    for fact in facts:
        if fact.name.startswith("trt"):
            ranks.setdefault(_rank(fact), []).append(fact)
    each = [_of_rank(facts) for facts in ranks.values() if any(f.name in FIGURES for f in facts)]
    out: dict[str, Any] = min(
        each, key=lambda r: r.get("kv_tokens") or r.get("blocks") or float("inf"), default={"form": "settings"}
    )
    version = next((f["version"] for f in facts if f.name == "trt version"), None)
    if "fraction_of_free" in given:
        out["fraction_of_free"] = float(given["fraction_of_free"])
    return out | {"version": version}


def _of_rank(facts: Sequence[Fact]) -> dict[str, Any]:
    out: dict[str, Any] = {"form": "pool of blocks"}
    windows: dict[str, Fact] = {}
    pools: list[Fact] = []
    for fact in facts:
        match fact.name:
            case "trt memory":
                out["total_bytes"] = printed(fact["total"], fact["tu"]).bytes
                out["free_bytes"] = printed(fact["free"], fact["fu"]).bytes
            case "trt blocks":
                out["blocks"] = number(fact["n"])
            case "trt secondary":
                out["secondary_blocks"] = number(fact["n"])
            case "trt block":
                out["block_tokens"] = number(fact["n"])
            case "trt per sequence":
                out["blocks_per_sequence"] = number(fact["n"])
            case "trt using":
                out |= {"kv_tokens": number(fact["tokens"]), "form": "tokens"}
                if per := fact.get("per"):
                    out["blocks_per_sequence"] = number(per)
            case "trt bytes":
                out |= {"kv_bytes_per_gpu": number(fact["bytes"])}
            case "trt window":
                window = fact.get("window") or ""
                if window in windows:  # the pools of a trial run came before
                    windows.clear()
                windows[window] = fact
            case "trt allocated" if printed(fact["amount"], fact["unit"]).digits:
                pools.append(fact)
            case _:
                pass
    if windows:
        out |= _of_windows(list(windows.values()))
    if pools:
        out |= _of_pools(pools[-max(1, len(windows)) :], out)
    elif "kv_bytes_per_gpu" in out:
        out["form"] = "bytes and tokens"
        tokens, kv_bytes = out.get("kv_tokens"), out["kv_bytes_per_gpu"]
        if tokens and not kv_bytes % tokens:
            out["bytes_per_token"] = kv_bytes // tokens
    if "kv_tokens" not in out and len(windows) < 2 and "blocks" in out and "block_tokens" in out:
        out["kv_tokens"] = out["blocks"] * out["block_tokens"]
    return out


def _of_windows(windows: Sequence[Fact]) -> dict[str, Any]:
    widest = windows[-1] if len(windows) == 1 else max(windows, key=lambda f: int(f.get("window") or 0))
    out: dict[str, Any] = {
        "blocks": sum(number(f["blocks"]) for f in windows),
        "secondary_blocks": sum(number(f["secondary"]) for f in windows),
        "block_tokens": number(widest["block"]),
        "blocks_per_sequence": number(widest["n"]),
    }
    if length := widest.get("len"):
        out["max_model_len"] = number(length)
    if len(windows) > 1:
        out["form"] = "a pool of blocks for each window"
    return out


def _of_pools(pools: Sequence[Fact], so_far: dict[str, Any]) -> dict[str, Any]:
    amounts = [printed(f["amount"], f["unit"]) for f in pools]
    new: dict[str, Any] = {"kv_bytes_per_gpu": sum(p.bytes for p in amounts)}
    if len(pools) == 1:
        tokens = number(pools[0]["tokens"])
        new |= {"kv_tokens": tokens, "bytes_per_token": rate(amounts[0], tokens, 0)}
    free = so_far.get("free_bytes")
    if free:
        # Blocks are rounded up, and both figures to a hundredth of a GiB: a step of 1 % is told apart from 5 GiB on.
        share = Fraction(new["kv_bytes_per_gpu"], free)
        if abs(share - round(share, 2)) * free <= Fraction(GIB, 50) and share <= 1:
            new["fraction_of_free"] = float(round(share, 2))
    return new
