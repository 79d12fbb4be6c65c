"""A check in words and rows, for the page and the command line."""

from collections.abc import Iterable, Iterator
from typing import Final

from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.engines import vllm
from kvviz.log_check.measured import Taken
from kvviz.log_check.model import FAMILIES, Check, Figure
from kvviz.text import Lang, Text
from kvviz.text import log_check as text

ENGINES: Final = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt-llm": "TensorRT-LLM",
    "llama.cpp": "llama.cpp",
    "ik_llama.cpp": "ik_llama.cpp",
    "ollama": "ollama",
}

_IN_GIB: Final = frozenset(
    {"weights_gib_per_gpu", "activation_bytes_per_gpu", "non_torch_bytes_per_gpu", "graph_bytes_per_gpu",
     "available_kv_bytes_per_gpu", "available_kv_bytes", "total_bytes", "free_bytes"}
)  # fmt: skip
"""Terms of one GPU's memory, which engines print in GiB with two decimals: here too, to be found in the log."""
_LARGE: Final = 100
"""From here on decimals of a count say nothing."""


def headline(of: Check, lang: Lang) -> str:
    """The answer in a sentence."""
    engine = ENGINES[of.log.engine]
    telling = [f for f in of.figures if f.telling]
    match of.verdict:
        case "agrees" if of.assumed:
            assumed = _list(_assumed(of, lang), lang)
            return text.AGREES_IF(lang, engine=engine, count=of.independent, assumed=assumed)
        case "agrees":
            return text.AGREES(lang, engine=engine, count=of.independent)
        case "explained":
            return text.EXPLAINED(lang, engine=engine)
        case "differs":
            compared = telling or of.figures
            differ = sum(not f.agrees for f in compared)
            if of.architecture is None:
                return text.DIFFERS_TERMS(lang, count=len(compared), differ=differ)
            model = of.model or text.THIS_MODEL(lang)
            return text.DIFFERS(lang, count=len(compared), differ=differ, model=model)
    if of.asked:
        return _sentences([text.READ(lang, engine=engine), _needs(of, text.NEEDS, lang)], lang)
    if of.architecture is None:
        return text.NOTHING_COMPARED(lang, engine=engine)
    return text.NOTHING_COMPARED_FOR(lang, engine=engine, model=of.model or text.THIS_MODEL(lang))


def _needs(of: Check, sentence: Text, lang: Lang) -> str:
    """What is needed beside the log; a model that it names is nothing it does not say."""
    named = of.log.model if "model" in of.asked else None
    unsaid = [text.ASKED[name](lang) for name in of.asked if not (named and name == "model")]
    parts = [text.NOT_BUNDLED(lang, model=named)] if named else []
    if unsaid:
        parts.append(sentence(lang, asked=_list(unsaid, lang)))
    return _sentences(parts, lang)


def more(of: Check, lang: Lang) -> str:
    """What would let more be predicted, or the prediction be certain. Only where something is asked for."""
    return _needs(of, text.NEEDS_REST if "model" in of.asked else text.UNCERTAIN, lang)


def causes(of: Check, lang: Lang) -> list[str]:
    """What the engine did besides keeping every layer at full length; what had to be found out comes first."""
    found = [*of.found, *(rule for rule in of.cause if rule not in of.found)]
    return [text.CAUSES[rule](lang) for rule in found if rule in text.CAUSES]


def compared_with(of: Check, lang: Lang) -> str:
    """Which model, as it was stored and split."""
    settings = of.settings
    if settings is None:
        return ""
    model = of.model or text.THIS_MODEL(lang)
    kv_dtype = (
        settings.kv_dtype
        if settings.v_dtype in ("same", settings.kv_dtype)
        else (f"{settings.kv_dtype} / {settings.v_dtype}")
    )
    parts = [text.PREDICTED_FOR(lang, model=model)]
    if kv_dtype != "auto":
        auto = of.log.element_is_auto and "fp8_cache" not in of.found
        parts.append((text.STORED_AUTO if auto else text.STORED_IN)(lang, type=kv_dtype))
    parts += [
        f"{name.upper()}\u00a0{size}"
        for name, size in (("tp", settings.tp), ("pp", settings.pp), ("dcp", settings.dcp))
        if size > 1
    ]
    if of.by_log:
        parts.append(text.FROM_LOG(lang))
    return " · ".join(parts)


def basis(of: Check, lang: Lang) -> str:
    """What the prediction took from the log, and which figures then follow from one another; empty: nothing to say."""
    log, telling = of.log, [f for f in of.figures if f.telling]
    inputs = []
    pool = log.available_kv_bytes_per_gpu or log.available_kv_bytes
    of_pool = any(FAMILIES.get(f.name) == "pool" for f in telling)
    if log.engine == "vllm" and of.settings is not None and of_pool:
        if pool is not None:
            inputs.append(text.TAKES_POOL(lang, value=_in_gib(pool)))
        elif log.max_concurrency is not None:
            inputs.append(text.TAKES_TOKENS(lang))
    elif log.engine in ("sglang", "tensorrt-llm") and telling and of.settings is not None:
        inputs.append(text.TAKES_TOKENS(lang))
    parts = [text.TAKES(lang, inputs=_list(inputs, lang))] if inputs else []
    if of.independent < len(telling):
        parts.append(text.DEPENDENT(lang, count=len(telling), independent=of.independent))
    return _sentences(parts, lang)


def taken(of: Check, found: Taken, lang: Lang) -> str:
    """What Sizing would be asked in the log's place, and what of the log it would not."""
    terms = (text.MEASURED_TERMS[name](lang, value=f"{v:,.2f}") for name, v in of.measured.items())
    parts = [text.TAKEN_MEASURED(lang, terms=text.COMMA(lang).join(terms)) if of.measured else text.TAKEN(lang)]
    if found.pool_bytes is not None:
        said = of.log.available_kv_bytes_per_gpu or of.log.available_kv_bytes or found.pool_bytes
        parts.append(text.TAKEN_POOL(lang, value=_in_gib(said)))
    if found.missing:
        missing = text.COMMA(lang).join(text.MISSING[name](lang) for name in found.missing)
        parts.append(text.NOT_TAKEN(lang, missing=missing))
    return _sentences(parts, lang)


def rows(of: Check, lang: Lang, *, narrow: bool = False) -> list[dict[str, str]]:
    """Predicted beside reported; what the causes changed has a column of its own. ``narrow``: for a phone."""
    table = [_row(f, lang, changed=bool(of.found)) for f in of.figures if f.telling or not f.agrees]
    left_out = text.ROUNDING(lang) if narrow else ""
    return [{name: cell for name, cell in row.items() if name != left_out} for row in table]


def said(of: Check, lang: Lang) -> list[dict[str, str]]:
    """Figures of the log that nothing was predicted for, as they were read."""
    compared = {f.name for f in of.figures}
    return [
        {text.FIGURE(lang): label(lang), text.REPORTED(lang): shown(name, value)}
        for name, label in text.FIGURES.items()
        if name not in compared and (value := getattr(of.log, name, None)) is not None
    ]


def shown(name: str, value: object) -> str:
    """A figure as people read it: bytes in their unit, counts with commas."""
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float):
        return str(value)
    if name in _IN_GIB:
        return _in_gib(value if "bytes" in name else value * GIB)
    if "bytes" in name and "per_token" not in name:
        return format_bytes(round(value))
    if value == int(value) or value >= _LARGE:
        return format_count(round(value))
    return f"{value:.2f}" if value >= 1 else f"{value:.3f}".rstrip("0").rstrip(".")


def _in_gib(count: float) -> str:
    return f"{count / GIB:,.2f} GiB"


def _row(figure: Figure, lang: Lang, *, changed: bool) -> dict[str, str]:
    name, residual = figure.name, figure.residual
    exact = residual == 0
    off = text.NO_DIFFERENCE(lang) if exact else _signed(name, residual)
    row = {
        text.FIGURE(lang): f"{'✓' if figure.agrees else '✗'} {text.FIGURES[name](lang)}",
        text.REPORTED(lang): shown(name, figure.reported),
        text.PREDICTED(lang): shown(name, figure.predicted),
    }
    if changed:
        row[text.WITHOUT(lang)] = shown(name, figure.plain) if figure.plain != figure.predicted else "–"
    row[text.RESIDUAL(lang)] = off
    row[text.ROUNDING(lang)] = f"± {shown(name, figure.tolerance)}" if figure.tolerance else "–"
    return row


def _signed(name: str, value: float) -> str:
    return ("+" if value > 0 else "−") + shown(name, abs(value))


def _assumed(of: Check, lang: Lang) -> Iterator[str]:
    for name, value in of.assumed.items():
        switch = f"{name}_{value if isinstance(value, str) else 'on' if value else 'off'}"
        if switch in text.ASSUMED:
            yield text.ASSUMED[switch](lang)
        elif name != "draft_layers" or value:
            number = format_count(value) if isinstance(value, int) else vllm.VERSION if value == "auto" else value
            yield text.ASSUMED[name](lang, value=number)


def _list(parts: Iterable[str], lang: Lang) -> str:
    return text.AND(lang).join(parts)


def _sentences(parts: Iterable[str], lang: Lang) -> str:
    return ("" if lang == "ja" else " ").join(parts)
