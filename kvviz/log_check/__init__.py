"""Checks a start-up log: what the engine reported beside what is predicted, and why they differ.

The prediction is the one behind ``kvviz size``. Where it is not what was reported, settings that the log does not name
are tried first, then what engines are known to do otherwise; the first that gives every figure is named.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice, product
from types import ModuleType
from typing import Any, Final

from kvviz.core.architecture import Architecture
from kvviz.core.cache import (
    ChunkedAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    RecurrentState,
    SlidingWindow,
)
from kvviz.core.dtypes import ALIASES, KV_DTYPES
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB
from kvviz.engine_log import EngineLog
from kvviz.engines.llama_cpp import DEFAULT_UBATCH_TOKENS
from kvviz.log_check import layers, llama_cpp, sglang, tensorrt_llm, vllm
from kvviz.log_check.known import Model, decode, encoder_model, model_of, named_in, read_model
from kvviz.log_check.model import Check, Expected, Figure, Prediction, Settings, Verdict

__all__ = [
    "Check",
    "Expected",
    "Figure",
    "Model",
    "Prediction",
    "Settings",
    "Verdict",
    "as_json",
    "check",
    "decode",
    "encoder_model",
    "model_of",
    "named_in",
    "predict",
    "read_model",
    "settings_of",
]

_ENGINES: Final[Mapping[str, ModuleType]] = {
    "vllm": vllm,
    "sglang": sglang,
    "tensorrt-llm": tensorrt_llm,
    "llama.cpp": llama_cpp,
    "ik_llama.cpp": llama_cpp,
    "ollama": llama_cpp,
}
_EXPANDED_BEFORE: Final = 5_300
"""The first build of llama.cpp that kept latents as such."""
_OTHER_KERNELS: Final = "l40s"
"""A GPU whose kernels leave no states behind at block boundaries."""
_BLACKWELL: Final = "b200"
"""A GPU on which SGLang keeps sparse latents in plain fp8."""
_DRAFT_TOKENS: Final = (1, 2, 3, 4)
_MOST_WAYS: Final = 128
"""Ways that are tried, the simplest first: no log whose cause is known needs 20 of them, and each takes its time."""
_TP: Final = (2, 4, 8, 16, 32)
_STEP_TOKENS: Final = (2_048, 16_384)
_UBATCH: Final = (256, 1_024, 2_048, 4_096)
_TYPES: Final = {"fp8": "fp8_cache", "fp32": "f32_cache"}
"""Rules by the cache type that they are about."""
_GGML: Final = ("q8_0", "q4_0", "q5_1", "q5_0", "q4_1", "bf16")

_OF_MODEL: Final = (
    "bytes_per_token",
    "gpu_blocks",
    "tokens_line",
    "kv_tokens",
    "max_concurrency",
    "needed_bytes",
    "kv_bytes_total",
    "state_bytes_total",
    "kv_bytes_per_gpu",
    "full_pool_tokens",
    "blocks",
    "context_bytes_total",
)
"""Figures that nobody can predict without the model's layers."""

Change = Mapping[str, Any]


def check(
    log: EngineLog,
    *,
    model: Model | None = None,
    given: Change | None = None,
) -> Check:
    """``log`` beside its prediction for a model. ``given``: settings a person adds, by the names of ``Settings``.

    Without a model the log's own description of the layers is used where it is enough. Raises KvvizError for settings
    the model cannot be run with.
    """
    known = model.architecture if model else layers.of_log(log)
    encoder_layers = model.encoder_layers if model else None
    measured = _measured(log)
    nothing = Check(
        log=log,
        model=model.name if model else log.model,
        architecture=known,
        figures=(),
        predicted={},
        verdict="unknown",
        cause=(),
        found=(),
        assumed={},
        asked=(),
        measured=measured,
        by_log=model is None and known is not None,
    )
    settings = settings_of(log, given or {})
    budget = _budget(log)
    if known is None:
        values = {name: expected.value for name, expected in budget.items()}
        figures = _compared(log, budget, budget)
        of_budget: Verdict = "agrees" if all(f.agrees for f in figures) else "differs"
        rests_on_model = any(getattr(log, name) is not None for name in _OF_MODEL)
        return replace(
            nothing,
            asked=("model", *_unsaid(log, given or {}, None)) if rests_on_model else (),
            predicted=values,
            figures=figures,
            verdict=of_budget if figures else "unknown",
            cause=("budget_only",) if figures else (),
        )
    if _type_unknown(log) and "kv_dtype" not in (given or {}):
        return replace(nothing, asked=("element",))
    if _is_llama(log) and log.kv_bytes_total is not None and settings.context_tokens is None:
        return replace(nothing, asked=("n_ctx",))
    base, known, settings = _first(log, known, settings)
    plain = {**base.figures, **budget}
    best = base
    found: tuple[str, ...] = ()
    assumed: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    best_score = _score(log, base)
    if best_score[0] < best_score[1]:
        for causes, assumptions in islice(_ways(log, known, settings, given or {}, encoder_layers), _MOST_WAYS):
            try:
                tried = predict(log, known, replace(settings, **causes, **assumptions))
            except KvvizError:
                continue
            score = _score(log, tried)
            if (score[0] - score[1], score[0]) > (best_score[0] - best_score[1], best_score[0]):
                best, best_score, assumed = tried, score, dict(assumptions)
                changes = {**causes, **assumptions}
                found = tuple(rule for rule in tried.rules if rule not in base.rules)
                if (rule := _TYPES.get(causes.get("kv_dtype", ""))) and rule not in found:
                    found = (*found, rule)
            if best_score[0] == best_score[1]:
                break
    figures = _compared(log, {**best.figures, **budget}, plain)
    telling = [f for f in figures if f.telling]
    # A figure that would agree with anything of its kind tells nothing, unless it does not agree even so.
    agrees = all(f.agrees for f in telling or figures)
    verdict: Verdict = "differs" if not agrees else "unknown" if not telling else "explained" if found else "agrees"
    rules = [*best.rules, *(rule for rule in found if rule not in best.rules)]
    if telling and all(f.name in budget for f in telling):
        rules.append("budget_only")
    asked = _unsaid(log, given or {}, verdict)
    if "tp" in assumed:
        asked = tuple(dict.fromkeys(("tp", *asked)))
    return replace(
        nothing,
        figures=figures,
        predicted={name: expected.value for name, expected in {**best.figures, **budget}.items()},
        verdict=verdict,
        cause=tuple(rules),
        found=found,
        assumed=assumed,
        asked=asked,
        settings=replace(settings, **changes),
    )


def _first(log: EngineLog, architecture: Architecture, settings: Settings) -> tuple[Prediction, Architecture, Settings]:
    """By the log's own version, else by the next one, else as any model with such layers: a log shows that it runs."""
    later = replace(settings, version="0.20", full_windows=True) if settings.version == "v0" else settings
    unnamed = replace(architecture, class_name="", model_type="")
    ways = [(architecture, settings), (architecture, later), (unnamed, settings)]
    for known, tried in ways:
        with suppress(KvvizError):
            return predict(log, known, tried), known, tried
    return predict(log, architecture, settings), architecture, settings  # says why not


def predict(log: EngineLog, architecture: Architecture, settings: Settings) -> Prediction:
    """The figures that ``log`` could have, for a model under these settings."""
    prediction: Prediction = _ENGINES[log.engine].predict(log, architecture, settings)
    return prediction


def settings_of(log: EngineLog, given: Change) -> Settings:
    """What the log says, overridden by what a person says."""
    said: dict[str, Any] = {
        "kv_dtype": _dtype(log.element_k or log.element) or _model_dtype(log),
        "v_dtype": _dtype(log.element_v) or "same",
        "tp": log.tp or log.dcp or 1,
        "pp": log.pp or 1,
        "dcp": log.dcp or 1,
        "dp": log.dp or 1,
        "version": _version(log),
        "length_tokens": log.max_model_len or log.needed_for_tokens,
        "prefix_caching": log.prefix_caching is not False,
    }
    if log.max_num_batched_tokens:
        said["batched_tokens"] = log.max_num_batched_tokens
    if log.engine in ("vllm", "tensorrt-llm") and log.block_tokens in (8, 16, 32, 64, 128) and not log.padding_layers:
        said["block_tokens"] = None if log.block_tokens == 16 and log.engine == "vllm" else log.block_tokens
    if log.engine == "tensorrt-llm":
        said["full_windows"] = "each window" not in log.form
    if _is_llama(log):
        said |= _of_llama(log)
    return Settings(**{**said, **given})


def _is_llama(log: EngineLog) -> bool:
    return _ENGINES[log.engine] is llama_cpp


def _of_llama(log: EngineLog) -> dict[str, Any]:
    cells = log.n_ctx or log.full_cells
    rate, total = log.bytes_per_token, log.kv_bytes_total
    if rate and total and cells and not total % rate and cells <= total // rate < cells + 256:
        cells = total // rate  # what was asked for, padded
    old = log.form.partition(",")[0] in ("old", "oldest", "old llama.cpp lines")
    build = int(log.version) if log.version and log.version.isdigit() else None
    before = build < _EXPANDED_BEFORE if build is not None else old
    return {
        "context_tokens": cells,
        "slots": log.state_slots or log.slots or 1,
        "unified": old or log.streams == 1 or log.streams is None,
        "ubatch_tokens": log.n_ubatch or DEFAULT_UBATCH_TOKENS,
        "pad_tokens": next(pad for pad in (256, 32, 1) if not (cells or 0) % pad),
        "full_windows": old and log.window_bytes is None,
        "latent": "expanded" if log.engine != "ik_llama.cpp" and before else "latent",
    }


def _dtype(name: str | None) -> str | None:
    known = ALIASES.get(name or "", name)
    return known if known in KV_DTYPES else None


def _type_unknown(log: EngineLog) -> bool:
    """Whether the log names a cache type that nobody here has a size for."""
    return any(name and _dtype(name) is None for name in (log.element, log.element_k, log.element_v))


def _model_dtype(log: EngineLog) -> str:
    """Where the cache follows the model, the type the model runs in."""
    if log.engine in ("vllm", "sglang") and log.model_dtype in ("f16", "bf16", "f32"):
        return ALIASES.get(log.model_dtype, log.model_dtype)
    return "auto"


def _version(log: EngineLog) -> str:
    """Whose rules: V0, those until 0.20, or today's."""
    if log.engine != "vllm":
        return "auto"
    if log.form in ("V0", "V0 refusal", "memory profiling only"):
        return "v0"
    number = (log.version or "").split(".")
    if len(number) > 1 and number[0] == "0" and number[1].isdigit():
        return "0.20" if int(number[1]) <= 20 else "auto"
    new = "0.21 or later" in log.form or "0.28 or later" in log.form
    return "auto" if new or log.form == "V1 refusal" else "0.20"


def _ways(
    log: EngineLog, architecture: Architecture, settings: Settings, given: Change, encoder_layers: int | None
) -> list[tuple[Change, Change]]:
    """(causes, assumptions) to try, the simplest first: what the log leaves open, then what engines do otherwise."""
    assumptions = [a for a in _assumptions(log, architecture, settings, given) if not set(a) & set(given)]
    causes = [c for c in _causes(log, architecture, settings, encoder_layers) if not set(c) & set(given)]
    nothing: Change = {}
    ways = [(nothing, a) for a in assumptions] + [(c, nothing) for c in causes]
    ways += [(c, a) for c, a in product(causes, assumptions) if not set(a) & set(c)]
    pairs = [({**one, **other}, nothing) for i, one in enumerate(causes) for other in causes[i + 1 :]]
    return [*ways, *pairs]


def _assumptions(log: EngineLog, architecture: Architecture, settings: Settings, given: Change) -> list[Change]:
    found: list[Change] = []
    states = layers.has(architecture, RecurrentState)
    limited = layers.has(architecture, SlidingWindow, ChunkedAttention)
    if _is_llama(log):
        if limited:
            found += [{"pad_tokens": pad} for pad in (32, 1) if pad < settings.pad_tokens]
            if log.n_ubatch is None:
                found += [{"ubatch_tokens": n} for n in _UBATCH]
        if states:
            found += [{"rollback_states": n} for n in (1, 2, 3, 4)]
        if settings.slots > 1 and log.streams is None:
            found.append({"unified": not settings.unified})
            found += [{"unified": False, "pad_tokens": pad} for pad in (32, 1)]
        if log.element is None and log.element_k is None:
            found += [{"kv_dtype": name} for name in _GGML]
        return found
    if log.dp and log.dp > 1:
        found.append({"dp": 1})
    if log.engine == "vllm" and (states or limited):
        # Up to 0.20 a hybrid had none, whatever it was asked for.
        if states and settings.prefix_caching and (log.prefix_caching is None or settings.version != "auto"):
            found.append({"prefix_caching": False})
        if log.max_num_batched_tokens is None and limited:
            found += [{"batched_tokens": n} for n in _STEP_TOKENS]
        if states:
            found.append({"gpu": _OTHER_KERNELS})
            for n in _DRAFT_TOKENS:
                found += [{"draft_tokens": n, "draft_layers": d, "prefix_caching": on} for d in (1, 0)
                          for on in (True, False)]  # fmt: skip
    if log.engine == "vllm" and log.version is None and log.form.startswith("V1") and log.gpu_blocks is None:
        found += [{"version": v} for v in ("0.20", "auto") if v != settings.version]
    if log.engine == "sglang" and layers.has(architecture, IndexerKeys):
        found.append({"gpu": _BLACKWELL})
    if log.engine == "tensorrt-llm" and log.block_tokens is None:
        found.append({"block_tokens": 64})
    if log.tp is None and "tp" not in given:
        split: list[Change] = [{"tp": tp} for tp in _TP]
        found += [*split, *({**tp, **other} for tp, other in product(split, found))]
    return found


def _causes(log: EngineLog, architecture: Architecture, settings: Settings, encoder_layers: int | None) -> list[Change]:
    found: list[Change] = []
    if layers.has(architecture, SlidingWindow, ChunkedAttention):
        found.append({"full_windows": not settings.full_windows})
    if layers.has(architecture, LatentAttention):
        kept = ("latent", "latent+values", "expanded") if _is_llama(log) else ("latent", "expanded")
        found += [{"latent": latent} for latent in kept if latent != settings.latent]
    if log.engine == "vllm":
        if log.tp is None or settings.tp * settings.pp > 1:
            found.append({"smallest_rank": True})
        if settings.pp > 1:
            found.append({"stages_added": True})
        if encoder_layers and layers.has(architecture, FullAttention):
            found.append({"depth": encoder_layers})
    if log.element is None and log.element_k is None:
        found += [{"kv_dtype": "fp32"}] if _is_llama(log) else [{"kv_dtype": "fp8"}]
    return found


def _reported(log: EngineLog, name: str) -> float | None:
    value = getattr(log, name, None)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _score(log: EngineLog, prediction: Prediction) -> tuple[int, int]:
    """How many telling figures agree, of how many."""
    compared = [
        abs(value - expected.value) <= expected.tolerance
        for name, expected in prediction.figures.items()
        if expected.telling and (value := _reported(log, name)) is not None
    ]
    return sum(compared), len(compared)


def _compared(log: EngineLog, figures: Mapping[str, Expected], plain: Mapping[str, Expected]) -> tuple[Figure, ...]:
    out = []
    for name, expected in figures.items():
        value = _reported(log, name)
        if value is not None:
            out.append(
                Figure(
                    name=name,
                    reported=value,
                    predicted=expected.value,
                    tolerance=expected.tolerance,
                    telling=expected.telling,
                    plain=plain.get(name, expected).value,
                )
            )
    return tuple(out)


def _budget(log: EngineLog) -> dict[str, Expected]:
    """vLLM: what is left of its share of the GPU, by the terms it printed; since 0.21 graphs are taken off too."""
    printed = log.available_kv_bytes_per_gpu
    terms = (
        log.total_bytes,
        log.utilization,
        log.weights_gib_per_gpu,
        log.activation_bytes_per_gpu,
        log.non_torch_bytes_per_gpu,
    )
    if log.engine != "vllm" or printed is None or any(term is None for term in terms):
        return {}
    total, share, weights, activations, outside = (float(term or 0) for term in terms)
    left = total * share - weights * GIB - activations - outside
    graphs = log.graph_bytes_per_gpu or 0
    nearest = min((left, left - graphs), key=lambda rest: abs(rest - printed))
    ranks = log.available_kv_bytes_by_rank  # terms are the fullest rank's, the pool is the smallest's
    apart = max(ranks) - min(ranks) if ranks else 0
    return {"available_kv_bytes_per_gpu": Expected(nearest, 5 * vllm.HALF_A_STEP + apart)}


def _measured(log: EngineLog) -> dict[str, float]:
    """The engine's own terms, GiB a GPU; weights of the whole model."""
    out: dict[str, float] = {}
    for field, count in (
        ("activations_gib", log.activation_bytes_per_gpu),
        ("non_torch_gib", log.non_torch_bytes_per_gpu),
        ("graphs_gib", log.graph_bytes_per_gpu),
    ):
        if count is not None:
            out[field] = round(count / GIB, 4)
    if log.weights_gib_per_gpu:
        out["weights_gib"] = round(log.weights_gib_per_gpu * (log.tp or 1) * (log.pp or 1), 4)
    return out


def _unsaid(log: EngineLog, given: Change, verdict: Verdict | None) -> tuple[str, ...]:
    """Settings to ask for: those the log is silent about, unless everything agrees without them."""
    if verdict in ("agrees", "explained"):
        return ()
    asked = []
    if not _is_llama(log) and log.tp is None and "tp" not in given:
        asked.append("tp")
    if _is_llama(log) and log.n_ctx is None and log.kv_bytes_total is not None and "context_tokens" not in given:
        asked.append("n_ctx")
    says_type = log.element_is_auto or log.element is not None or log.element_k is not None
    if verdict == "differs" and not says_type and "kv_dtype" not in given:
        asked.append("element")
    return tuple(asked)


def as_json(of: Check) -> dict[str, Any]:
    """The contract of ``kvviz check-log --json``."""
    figures = of.log.figures()
    said = {name: value for name, value in figures.items() if name not in ("engine", "form")}
    return {
        "engine": of.log.engine,
        "form": of.log.form,
        "reported": {name: dict(v) if isinstance(v, Mapping) else v for name, v in said.items()},
        "predicted": {name: _whole(value) for name, value in of.predicted.items()},
        "cause": list(of.cause),
        "model": of.model,
        "asked": list(of.asked),
        "verdict": of.verdict,
        "residual": {f.name: _whole(f.residual) for f in of.figures},
        "tolerance": {f.name: _whole(f.tolerance) for f in of.figures},
        "without_cause": {f.name: _whole(f.plain) for f in of.figures if f.plain != f.predicted},
        "assumed": dict(of.assumed),
    }


def _whole(value: float) -> int | float:
    return int(value) if value == int(value) else value
