"""Write README's section "Predicted and reported": figures that engines printed in public, beside kvviz's own.

    python scripts/predicted_and_reported.py [--check]

The rows are those of tests/data/engine_logs.json, and the same functions are behind tests/test_engine_logs.py. With
``--check`` nothing is written; the exit code says whether README.md is up to date.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # a checkout need not be installed

from kvviz.catalogue import load  # noqa: E402
from kvviz.core.architecture import Architecture  # noqa: E402
from kvviz.core.cache import (  # noqa: E402
    ChunkedAttention,
    FullAttention,
    LatentAttention,
    LayerCache,
    RecurrentState,
    SlidingWindow,
)
from kvviz.core.units import GIB, MIB  # noqa: E402
from kvviz.engine_log import EngineLog  # noqa: E402
from kvviz.log_check import Settings, llama_cpp, predict  # noqa: E402
from kvviz.log_check import settings_of as said_by  # noqa: E402
from kvviz.log_check.layers import plain  # noqa: E402
from kvviz.scenario import Scenario  # noqa: E402
from kvviz.sizing import size  # noqa: E402

Row = dict[str, Any]

ROWS: Final[list[Row]] = json.loads((ROOT / "tests" / "data" / "engine_logs.json").read_text(encoding="utf-8"))
EXACT: Final = {"concurrency": 0.1}
"""How far the expected figure may be off by the roundings of the reported ones it was computed from."""
BEGIN: Final = "<!-- predicted and reported: begin (scripts/predicted_and_reported.py) -->"
END: Final = "<!-- predicted and reported: end -->"
_BY_RULE: Final[dict[str, dict[str, Any]]] = {
    "windows_ignored": {"full_windows": True},
    "mla_expanded": {"latent": "expanded"},
    "mla_latent_plus_v_copy": {"latent": "latent+values"},
    "f32_cache": {"kv_dtype": "fp32"},
    "min_over_ranks": {"smallest_rank": True},
}
"""What the engine did, as settings of the planner."""
_TITLES: Final = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt-llm": "TensorRT-LLM",
    "llama.cpp": "llama.cpp",
    "ik_llama.cpp": "ik_llama.cpp",
    "ollama": "ollama",
    "transformers": "Transformers",
}
_STATE: Final = 128 * 128
"""Values of one head's state in the models that have several."""


def architecture_of(row: Row) -> Architecture:
    """The layers of a bundled config, or those that the row states."""
    if "config" in row:
        return load(row["config"]).architecture
    layers = [(_cache(group),) for group in row["layers"] for _ in range(group["count"])]
    any_model = plain(1, kv_heads=1, key_dim=1, value_dim=1, model_type=row.get("model_type", ""))
    return replace(any_model, layers=tuple(layers))


def _cache(group: Row) -> LayerCache:
    heads = {name: group[name] for name in ("kv_heads", "key_dim", "value_dim") if name in group}
    match group["kind"]:
        case "full":
            return FullAttention(**heads)
        case "window":
            return SlidingWindow(**heads, window_tokens=group["window_tokens"])
        case "chunk":
            return ChunkedAttention(**heads, chunk_tokens=group["window_tokens"])
        case "latent":
            return LatentAttention(
                latent_dim=group["latent_dim"],
                rope_dim=group["rope_dim"],
                heads=group["expanded_heads"],
                head_key_dim=group["expanded_key_dim"],
                head_value_dim=group["expanded_value_dim"],
            )
    values = group["recurrent_values"]
    count = max(1, values // _STATE) if values % _STATE == 0 else 1
    return RecurrentState(
        mixer="gated_delta",
        conv_channels=group["conv_dim"],
        conv_columns=group["conv_columns"],
        heads=count,
        values_per_head=values // count,
        recurrent_dtype="fp32",
    )


def log_of(row: Row) -> EngineLog:
    """The reported figures and settings, as a log's reader gives them."""
    return EngineLog(engine=row["engine"], **row["log"])


def settings_of(row: Row) -> dict[str, Any]:
    """Settings that the report does not state."""
    given: dict[str, Any] = row.get("settings", {})
    return given


def predicted(row: Row, architecture: Architecture) -> float:
    """The row's figure from the planner, under what its rule means."""
    if row["engine"] == "transformers":
        return _transformers(row, architecture)
    if row["rule"] == "swa_full_difference":
        settings = Settings(pad_tokens=256, **row["cells"])
        saved = [_cells(architecture, replace(settings, full_windows=full)) for full in (True, False)]
        return saved[0] - saved[1]
    log = log_of(row)
    changes = {**_BY_RULE.get(row["rule"], {}), **row.get("planned", {}), **settings_of(row)}
    if row["rule"] == "encoder_depth":
        changes["depth"] = row["layers"][0]["encoder_layers"]
    figures = predict(log, architecture, replace(said_by(log, {}), **changes)).figures
    return sum(figures[name].value for name in row["figures"])


def _cells(architecture: Architecture, settings: Settings) -> int:
    return llama_cpp.plan_of(architecture, settings).allocated_bytes(settings.context_tokens or 0, settings.slots)


def _transformers(row: Row, architecture: Architecture) -> float:
    tokens = row.get("tokens", 1)
    scenario = Scenario(engine="transformers", gpu="", input=tokens, output=0, kv_dtype=row["dtype"])
    sizing = size(architecture, scenario, weights=None)
    if row["quantity"] == "bytes_per_token":
        return float(sizing.content.growing_bytes_per_token)
    return float(sizing.held_bytes or 0)


def section() -> str:
    """The section's text between its marks."""
    inferred = sum("inferred" in row for row in ROWS)
    reports = len({row["url"] for row in ROWS})
    lines = [
        f"{len(ROWS)} figures that engines printed in {reports} public reports, and the same figures from kvviz's own"
        " planner. Each is a test: predicted from the model's config (or the layers stated in the report) and the"
        " settings in the report, it must meet the printed figure within the rounding of what was printed; more only"
        " where a figure is a difference of free memory, or of another GPU. *Rule* is what the engine did besides"
        " keeping every layer at full length; `kvviz check-log` finds it by itself.",
        "",
        "Memory is printed rounded, which leaves a pool a few numbers of blocks; the one next to the report is taken. A"
        " concurrency is often computed from the printed tokens, which tells nothing of a model with equal layers.",
        "",
        f"† {inferred} rows rest on a setting that the report does not state and that was chosen because it reproduces"
        " the figure: they test arithmetic and prove nothing.",
        "",
        "| engine | figures | within rounding | largest difference |",
        "|---|---:|---:|---:|",
    ]
    by_engine = {engine: [row for row in ROWS if row["engine"] == engine] for engine in _TITLES}
    for engine, rows in by_engine.items():
        off = [abs(_residual(row)) / row["reported"] for row in rows]
        exact = sum(abs(_residual(row)) <= _least(row) for row in rows)
        lines.append(f"| {_TITLES[engine]} | {len(rows)} | {exact} | {max(off):.2%} |")
    lines += ["", "Outside it are differences of free memory, and memory of one GPU beside the tokens of another.", ""]
    for engine, rows in by_engine.items():
        lines += [f"<details><summary>{_TITLES[engine]}: {len(rows)} figure{'s' * (len(rows) > 1)}</summary>", ""]
        lines += ["| model | figure | rule | reported | predicted | difference |", "|---|---|---|---:|---:|---:|"]
        lines += list(_table(rows))
        lines += ["", "</details>"]
    return "\n".join(lines)


def _table(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        value = predicted(row, architecture_of(row))
        mark = " †" if "inferred" in row else ""
        name = row["model"].replace("|", "/")
        rule = "" if row["rule"] == "plain" else f"`{row['rule']}`"
        cells = (
            f"[{name}]({row['url']}){mark}",
            row["quantity"].replace("_", " "),
            rule,
            _shown(row, row["reported"]),
            _shown(row, value),
            _difference(row, row["reported"] - value),
        )
        yield f"| {' | '.join(cells)} |"


def _residual(row: Row) -> float:
    return float(row["reported"] - predicted(row, architecture_of(row)))


def _least(row: Row) -> float:
    """Half a step of the printed digits, as far as the tolerance is no more than that."""
    share = row["tolerance"] / row["reported"]
    return float(row["tolerance"]) if share < 0.005 or row["quantity"] == "concurrency" else 0.0


def _shown(row: Row, value: float) -> str:
    if row["quantity"] == "bytes":
        return f"{value / GIB:,.3f} GiB" if value >= GIB else f"{value / MIB:,.2f} MiB"
    if row["quantity"] == "concurrency":
        return f"{value:,.2f}x"
    return f"{value:,.0f}"


def _difference(row: Row, residual: float) -> str:
    if abs(residual) < (0.005 if row["quantity"] == "concurrency" else 0.5):
        return "0"
    return f"{residual / row['reported']:+.3%}"


def main() -> int:
    """Write or check the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether README.md is up to date")
    options = parser.parse_args()
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        print(f"README.md lacks the marks {BEGIN} and {END}.", file=sys.stderr)
        return 1
    new = f"{before}{BEGIN}\n{section()}\n{END}{after}"
    if options.check:
        if new != text:
            print("README.md is not up to date: run scripts/predicted_and_reported.py", file=sys.stderr)
        return int(new != text)
    readme.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
