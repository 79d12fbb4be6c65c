"""config.json -> Architecture."""

import json
import re
from typing import Literal

from kvviz.core.architecture.attention import (
    HIDDEN_NAMES,
    LIST_NAMES,
    Kind,
    draft_layers,
    find_query_heads,
    listed_kinds,
)
from kvviz.core.architecture.defaults import SIZES, class_defaults
from kvviz.core.architecture.entered import ENTERED_TYPE
from kvviz.core.architecture.families import READERS, find_family
from kvviz.core.architecture.fields import (
    MAX_SHOWN,
    MAX_SIZE,
    MAX_TOKENS,
    Fields,
    Json,
    Path,
    json_path,
    kind_of,
    shown,
)
from kvviz.core.architecture.mixture import has_experts, read_mixture
from kvviz.core.architecture.model import Architecture, KvScheme, ModelDtype, Vision, WeightBlocks
from kvviz.core.cache import Layer, RecurrentState, letter
from kvviz.core.errors import ConfigError, Problem, UnknownArchitectureError
from kvviz.core.units import MIB
from kvviz.text import Message
from kvviz.text import config as texts

MAX_BYTES = MIB
MAX_DEPTH = 64
MAX_PROBLEMS = 100
"""Fields of an unknown architecture that are named."""

TEXT_PARTS = ("thinker_config", "text_config", "llm_config", "language_config", "llm_cfg", "transformer_layer_config")
"""Where a multimodal file keeps its language model; sizes at the top level may be the vision tower's. The last is where
a draft model trained with the speculators library keeps its layers."""
MEDIA_PARTS = (
    "vision_config",
    "audio_config",
    "visual",
    "vision_tower",
    "vision_tower_cfg",
    "img_processor",
    "mm_vision_tower",
)
DTYPES: dict[str, ModelDtype] = {
    "bfloat16": "bf16",
    "bf16": "bf16",
    "float16": "fp16",
    "fp16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "fp32": "fp32",
    "float": "fp32",
}
KV_WORDS: dict[str, Literal["fp8", "nvfp4"]] = {"fp8": "fp8", "fp8_e4m3": "fp8", "nvfp4": "nvfp4"}
LETTERS: dict[Kind, str] = {
    "full": "flFLbxX.",
    "indexed": "lL",
    "compressed": "Hh",
    "window": "wf.",
    "chunk": "cf.",
    "state": "s",
    "both": "b",
    "none": ".",
}
"""What a listed layer may turn out to be: a window may be no limit, a cache another layer's."""
CONTEXT_NAMES = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "model_max_length",
    "max_target_positions",
    "max_sequence_length",
    "max_seq_length",
    "seq_len",
    "n_ctx",
    "context_length",
)
"""vLLM takes the smallest of these (transformers_utils/model_arch_config_convertor.py)."""


def parse_config(text: str | bytes) -> dict[str, Json]:
    """The JSON object in ``text``. Raises ConfigError for anything that is not a config.json of sensible size."""
    if isinstance(text, bytes):
        _check_size(len(text))
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ConfigError(Message(texts.NOT_UTF8)) from None
    _check_size(len(text))
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise ConfigError(Message(texts.EMPTY))
    try:
        # Infinity and NaN pass: published files hold them ("time_step_limit": [0.0, Infinity]). A field that is used
        # may not, and says so.
        config = json.loads(text)
    except RecursionError:
        raise ConfigError(Message(texts.TOO_DEEP, {"limit": MAX_DEPTH})) from None
    except json.JSONDecodeError as error:
        raise ConfigError(_not_json(text, error)) from None
    except ValueError:  # an integer of more than 4,300 digits
        raise ConfigError(Message(texts.NUMBER_TOO_LONG)) from None
    if not isinstance(config, dict):
        raise ConfigError(Message(texts.NOT_AN_OBJECT_FILE, {"kind": kind_of(config)}))
    if _depth_exceeds(config, MAX_DEPTH):
        raise ConfigError(Message(texts.TOO_DEEP, {"limit": MAX_DEPTH}))
    return config


def _not_json(text: str, error: json.JSONDecodeError) -> Message:
    """Where, and what to do; Python's own reasons are English, and about the reader."""
    if text.lstrip().startswith("<"):
        return Message(texts.WEB_PAGE)
    comma = text.rfind(",", 0, error.pos + 1)  # where the reader stops differs between versions of Python
    closes = comma >= 0 and re.match(r",\s*[}\]]", text[comma : error.pos + 200])
    said = texts.TRAILING_COMMA if closes else texts.NOT_JSON
    return Message(said, {"line": error.lineno, "column": error.colno})


def read_config(config: Json, *, name: str = "") -> Architecture:
    """The cache layout that ``config`` describes. ``name`` is what the person calls the model, for messages only.

    Raises ConfigError with every problem found, or UnknownArchitectureError; nothing else, whatever ``config`` is.
    """
    return _read(config, name)[0]


def understood(config: Json) -> Architecture | None:
    """What the common fields of an architecture say that there are no rules for; None where they do not say enough.

    It is read as a plain decoder, so it may be wrong: what a person starts from, never an answer.
    """
    if not isinstance(config, dict):
        return None
    try:
        return _read(_as_plain(_text_part(Fields(data=config))), "")[0]
    except ConfigError:
        return None


def _as_plain(text: Fields) -> dict[str, Json]:
    """A language part as if it were a plain decoder's."""
    return {**text.data, "model_type": "llama", "architectures": []}


def used_fields(config: Json) -> dict[str, Json]:
    """``config`` reduced to the fields that were read: it reads the same, and is small enough for a link."""
    _, root = _read(config, "")
    reduced: dict[str, Json] = {}
    for path in root.log.reads:
        _copy(root.data, reduced, path)
    return reduced


def _read(config: Json, name: str) -> tuple[Architecture, Fields]:
    if not isinstance(config, dict):
        raise ConfigError(Message(texts.NOT_AN_OBJECT_FILE, {"kind": kind_of(config)}))
    root = Fields(data=config)
    found = _text_part(root)
    _check(root, name)
    family = _family(found, root)
    if family is None:
        raise _unknown(found, root)
    defaults = class_defaults(family, nested=bool(found.path))
    text = Fields(data=found.data, log=root.log, path=found.path, model_type=family, defaults=defaults)
    architecture = _architecture(text, root, family, READERS[family](text, root))
    _check(root, name)
    return architecture, root


def _check(root: Fields, name: str) -> None:
    """Raises what was found wrong so far: one problem a field, as later ones follow from the first."""
    problems: dict[str, Problem] = {}
    for problem in root.log.problems:
        problems.setdefault(problem.path, problem)
    if problems:
        headline = Message(texts.CANNOT_READ_OF, {"name": shown(name)}) if name else Message(texts.CANNOT_READ)
        raise ConfigError(headline, problems=tuple(problems.values()))


def _architecture(text: Fields, root: Fields, family: str, layers: tuple[Layer, ...]) -> Architecture:
    dtype, dtype_where = _dtype(text, root)
    kv_scheme = _kv_scheme(text, root)
    if kv_scheme is not None:
        root.note("kv-scheme", texts.KV_SCHEME, dtype=kv_scheme.dtype, path=kv_scheme.path)
    supplied = sorted({f.where for f in root.log.facts.values() if f.origin == "class default"})
    if sizes := [where for where in supplied if where.rpartition(".")[2] in SIZES]:
        text.note("class-defaults", texts.CLASS_DEFAULTS, fields=", ".join(sizes))
    draft_layers(text)
    _check_list(text, layers)
    if _takes_media(text, root) and "encoder-tokens-assumed" not in root.log.notes:
        text.note("media-tokens", texts.MEDIA_TOKENS)
    return Architecture(
        model_type=family,
        class_name=_class_names(root)[0] if _class_names(root) else "",
        layers=layers,
        dtype=dtype,
        dtype_where=dtype_where,
        max_context_tokens=_max_context(text),
        hidden_size=text.find(*HIDDEN_NAMES, term="hidden_size"),
        vocab_size=text.find("vocab_size", "padded_vocab_size", high=2**32) or root.find("vocab_size", high=2**32),
        attention_heads=find_query_heads(text) if _has_attention(layers) else None,
        kv_scheme=kv_scheme,
        weight_blocks=_weight_blocks(text, root),
        mixture=read_mixture(text, len(layers)),
        experts=None if family == ENTERED_TYPE else has_experts(text),
        query_rank=_width(text, "q_lora_rank") or None,
        part=str(text.path[0]) if text.path else "",
        media=tuple(name for name in MEDIA_PARTS if root.has(name)),
        vision=_vision(root),
        text_only=root.value("language_model_only") is True,
        state_dtype=_plain_word(text, "mamba_ssm_dtype"),
        window_pool=text.value("is_hybrid_swa") is True,
        indexer_heads=_width(text, "index_n_heads") or None,
        facts=tuple(root.log.facts.values()),
        notes=tuple(root.log.notes.values()),
    )


def _check_list(text: Fields, layers: tuple[Layer, ...]) -> None:
    """A list of layer kinds that the family's rules do not follow must at least agree with what they find."""
    kinds = listed_kinds(text, len(layers), *LETTERS)
    if kinds is None or text.log.problems:
        return
    name = text.named(*LIST_NAMES)
    for index, (kind, layer) in enumerate(zip(kinds, layers, strict=True)):
        if letter(layer) not in LETTERS[kind]:
            word = (text.words(name) or ())[index]
            text.problem(texts.NOT_THESE_RULES, name, index, value=word, architecture=text.model_type)
            return


def _takes_media(text: Fields, root: Fields) -> bool:
    """True if an object around the language part describes images or audio."""
    part: Fields | None = root
    for step in (*text.path, ""):
        if part is None or part.has(*MEDIA_PARTS):
            return part is not None
        part = part.part(str(step)) if isinstance(part.data.get(str(step)), dict) else None
    return False


def _vision(root: Fields) -> Vision | None:
    """What an engine's room for images goes by; no number of the layout rests on it."""
    part = _object(root, "vision_config")
    if part is None:
        return None
    layers = _width(part, "num_hidden_layers", "vt_num_hidden_layers")
    width = _width(part, "hidden_size", "vt_hidden_size")
    return Vision(layers=layers or None, depth=_width(part, "depth") or None, width=width or None)


def _plain_word(text: Fields, name: str) -> str:
    value = text.value(name)
    return value[:MAX_SHOWN] if isinstance(value, str) else ""


def _has_attention(layers: tuple[Layer, ...]) -> bool:
    return any(not isinstance(cache, RecurrentState) for layer in layers for cache in layer)


# --- Which part, which family --------------------------------------------------------------------------------------


def _text_part(root: Fields) -> Fields:
    """The language model's own object."""
    for name in TEXT_PARTS:
        part = root.part(name)
        if part is not None:
            return _text_part(part) if len(part.path) < 4 else part
    return root


def _family(text: Fields, root: Fields) -> str | None:
    for part in (text,) if text.path == root.path else (text, root):
        model_type = part.value("model_type")
        if family := find_family(model_type if isinstance(model_type, str) else "", _class_names(part)):
            return family
    return None


def _class_names(part: Fields) -> tuple[str, ...]:
    names = part.value("architectures")
    return tuple(n for n in names[:8] if isinstance(n, str)) if isinstance(names, list) else ()


def _unknown(text: Fields, root: Fields) -> UnknownArchitectureError:
    """Names the fields that were not understood, not even as a plain decoder's; no number is given."""
    named = [name for name in (root.value("model_type"), *_class_names(root)) if isinstance(name, str) and name]
    not_understood = Message(texts.NOT_UNDERSTOOD)
    try:
        used = {str(path[0]) for path in _read(_as_plain(text), "")[1].log.reads} - {"model_type", "architectures"}
    except ConfigError:
        used = set()
    left = [str(key) for key in text.data if key not in used]
    problems = [Problem(message=not_understood, path=json_path((*text.path, key))) for key in left]
    return UnknownArchitectureError(
        Message(texts.UNKNOWN_ARCHITECTURE, {"architecture": shown(named[0]) if named else texts.NO_ARCHITECTURE}),
        problems=tuple(problems[:MAX_PROBLEMS]),
    )


# --- Types and lengths ---------------------------------------------------------------------------------------------


def _dtype(text: Fields, root: Fields) -> tuple[ModelDtype, str]:
    """The type the model computes with: the whole file's word first, then the language part's."""
    for part in (root, text):
        for name in ("torch_dtype", "dtype"):
            word = part.word(name)
            if word is None or word == "auto":
                continue
            dtype = DTYPES.get(word.removeprefix("torch."))
            if dtype is None:
                part.problem(texts.NOT_A_KIND, name, value=shown(word))
                return "bf16", ""
            return dtype, json_path((*part.path, name))
    return "bf16", ""


def _max_context(text: Fields) -> int | None:
    lengths = [text.find(name, term="max_context_tokens", high=MAX_TOKENS) for name in CONTEXT_NAMES]
    return min((length for length in lengths if length is not None), default=None)


# --- The cache type a checkpoint asks for -----------------------------------------------------------------------------


def _kv_scheme(text: Fields, root: Fields) -> KvScheme | None:
    """What vLLM's ``auto`` follows: a ModelOpt or compressed-tensors scheme for the cache. FP8 weights ask for nothing.

    vLLM ``utils/torch_utils.py:443-516``, ``model_executor/layers/attention/attention.py:281-291``.
    """
    for part in (root,) if text.path == root.path else (root, text):
        for name in ("quantization_config", "compression_config"):
            quantization = part.part(name)
            if quantization is None:
                continue
            return _scheme_in(quantization, _method(quantization))
    return _scheme_in(root, "")


def _method(quantization: Fields) -> str:
    """The quantization method, as vLLM spells it."""
    producer = quantization.part("producer") if isinstance(quantization.data.get("producer"), dict) else None
    if producer is not None and producer.value("name") == "modelopt":
        return "modelopt"
    method = quantization.value("quant_method")
    return method.lower().replace("_", "-") if isinstance(method, str) else ""


def _scheme_in(part: Fields, method: str) -> KvScheme | None:
    """The first cache scheme there is, and a note if vLLM does not follow it."""
    inner = part.part("quantization") if isinstance(part.data.get("quantization"), dict) else None
    for name in ("kv_cache_scheme", "kv_cache_quant_algo"):
        for place in (inner, part):
            if place is None or not place.has(name):
                continue
            path = json_path((*place.path, name))
            dtype = _scheme_dtype(place, name, method)
            if dtype is not None:
                return KvScheme(dtype=dtype, path=path)
            part.note("kv-scheme-not-read", texts.KV_SCHEME_NOT_READ, path=path)
            return None
    return None


def _scheme_dtype(place: Fields, name: str, method: str) -> Literal["fp8", "nvfp4"] | None:
    """ModelOpt: 8 bits only where they are said to be static. compressed-tensors: 8 bits only, static or not."""
    modelopt = method.startswith("modelopt")
    value = place.value(name)
    if isinstance(value, str):
        return KV_WORDS.get(value.lower()) if modelopt else None
    scheme = place.part(name)
    if scheme is None or scheme.word("type") != "float":
        return None
    match scheme.find("num_bits", high=64):
        case 8 if method.startswith("compressed-tensors") or (modelopt and not scheme.flag("dynamic", default=True)):
            return "fp8"
        case 4 if modelopt:
            return "nvfp4"
        case _:
            return None


# --- Blocks of quantised weights -----------------------------------------------------------------------------------


def _weight_blocks(text: Fields, root: Fields) -> WeightBlocks | None:
    """Whether single layers are left out of the quantisation is not looked at: files name hundreds of small ones."""
    places = [root] if text.path == root.path else [root, text]
    quantization = next((part for place in places if (part := _object(place, "quantization_config"))), None)
    if quantization is None:
        return None
    named = quantization.value("quant_method")
    method = named.replace("_", "-") if isinstance(named, str) else ""
    holders = [quantization]
    if method == "compressed-tensors" and (every := _object(quantization, "config_groups")):
        holders = [w for group in every.data if (g := _object(every, group)) and (w := _object(g, "weights"))]
    blocks = [_sizes(w, "weight_block_size" if w is quantization else "block_structure") for w in holders]
    rows, columns = next((block for block in blocks if len(block) == 2), (0, 0))
    experts = _width(text, "num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts")
    expert_width = _width(text, "moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size")
    shared = _width(text, "shared_expert_intermediate_size", "share_expert_dim")
    shared = shared or _width(text, "n_shared_experts") * _width(text, "moe_intermediate_size")
    # Beside experts a dense width may be there and stand for nothing.
    dense = not experts or _width(text, "first_k_dense_replace") or text.value("mlp_only_layers") not in (None, [])
    width = _width(text, "intermediate_size") if dense else 0
    if not columns and not experts:  # of mixtures some leave out all but the experts, which are cut by other rules
        rows, columns = 1, max((_group(w, method) for w in holders), default=0)
    if min(rows, columns) < 1 or rows * columns == 1:
        return None
    return WeightBlocks(
        rows=rows,
        columns=columns,
        divisible=method == "fp8",
        widths=tuple(size for size in (width, shared if experts else 0) if size),
        expert_width=expert_width if experts else None,
    )


def _object(part: Fields, name: str) -> Fields | None:
    return part.part(name) if isinstance(part.data.get(name), dict) else None


def _group(part: Fields, method: str) -> int:
    """Weights along the input that share a scale in a 4- or 8-bit integer layout; 0 where they are not grouped so."""
    name = "q_group_size" if method == "awq" and part.has("q_group_size") else "group_size"
    if not (method == "awq" or (method == "compressed-tensors" and part.value("type") == "int")) or not part.has(name):
        return 0
    return max(part.checked_integer(part.value(name), (*part.path, name), -1, MAX_SIZE) or 0, 0)


def _sizes(part: Fields, name: str) -> tuple[int, ...]:
    """A list of sizes, or nothing; not noted as a fact, as no number of the layout rests on it."""
    value = part.value(name)
    if not isinstance(value, list) or len(value) > 2:
        return ()
    found = [part.checked_integer(item, (*part.path, name, index), 0, MAX_SIZE) for index, item in enumerate(value)]
    return tuple(size for size in found if size is not None)


def _width(text: Fields, *names: str) -> int:
    """The first of ``names`` with a value; 0 where there is none. Not noted as a fact either."""
    name = next((name for name in names if text.has(name)), None)
    if name is None or isinstance(text.value(name), list):  # a width a layer
        return 0
    return text.checked_integer(text.value(name), (*text.path, name), 0, MAX_SIZE) or 0


# --- JSON ----------------------------------------------------------------------------------------------------------


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise ConfigError(Message(texts.TOO_LARGE, {"size": f"{size:,}", "limit": f"{MAX_BYTES:,}"}))


def _depth_exceeds(config: Json, limit: int) -> bool:
    level = [config]
    for _ in range(limit):
        level = [
            child
            for value in level
            if isinstance(value, dict | list)
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _copy(source: Json, target: Json, path: Path) -> None:
    """Copies the value at ``path``: scalars and plain lists whole, of objects only the frame."""
    for step in path[:-1]:
        source, target = _at(source, step), _at(target, step)
    value = _at(source, path[-1])
    if isinstance(value, dict):
        value = {}
    elif isinstance(value, list):
        value = [{} if isinstance(item, dict) else item for item in value]
    if isinstance(target, dict):
        target.setdefault(path[-1], value)


def _at(value: Json, step: str | int) -> Json:
    if isinstance(value, dict):
        return value[step]
    return value[step] if isinstance(value, list) and isinstance(step, int) else None
