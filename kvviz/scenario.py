"""One frozen dataclass with every knob. Field name = widget key = URL parameter = JSON key = CLI flag."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from kvviz.core.dtypes import ALIASES, KV_DTYPES
from kvviz.core.errors import ScenarioError
from kvviz.core.units import format_count
from kvviz.text import Message, Text
from kvviz.text import scenario as text

LINK_VERSION: Final = 1
"""The ``v`` of a link. It goes up when a field changes its meaning."""
APP_FIELDS: Final = frozenset({"v", "lang", "embed", "embed_options"})
"""URL parameters that belong to the app, not to the scenario."""

MAX_TOKENS: Final = 16_777_216
WHOLE_BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "gpus": (1, 1024),
    "input": (0, MAX_TOKENS),
    "output": (0, MAX_TOKENS),
    "sequences": (1, 1_000_000),
    "block_tokens": (1, 65_536),
    "batched_tokens": (1, MAX_TOKENS),
    "in_flight_tokens": (1, MAX_TOKENS),
    "max_model_len": (1, MAX_TOKENS),
    "tp": (1, 1024),
}
NUMBER_BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    "weights_gib": (0.001, 100_000.0),
    "memory_fraction": (0.05, 1.0),
}
ENGINES: Final = ("vllm",)
WEIGHT_DTYPES: Final = ("auto", "bf16", "fp16", "fp32", "fp8", "int8", "int4", "nvfp4", "mxfp4")
"""``kvviz.weights`` knows them; a test holds the two together."""
MORE_SETTINGS: Final = (
    "weight_dtype",
    "weights_gib",
    "memory_fraction",
    "block_tokens",
    "batched_tokens",
    "in_flight_tokens",
    "max_model_len",
    "tp",
)
"""The fields the page folds away."""

MODEL_CHARACTERS: Final = 120
REVISION_CHARACTERS: Final = 80
CONFIG_CHARACTERS: Final = 4_096
_SHOWN_CHARACTERS: Final = 48
_WRITTEN_CHARACTERS: Final = 40  # of a number: longer is no number anyone means, and int() is quadratic

# No markup can be written with these, whatever a page does with the name.
_MODEL = re.compile(r"\w(?:[\w .+/()-]*[\w+.)])?")
_GPU = re.compile(r"[a-z0-9][a-z0-9.+-]{0,63}", re.ASCII)
_REVISION = re.compile(r"[A-Za-z0-9._:-]*", re.ASCII)
_CONFIG = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
_UNSAFE = re.compile(r"[^\w .,+/%='\"-]")
_TOKENS = re.compile(r"(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d+))? ?([km]?)", re.ASCII)
_WHOLE = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)", re.ASCII)
_AUTO: Final = "auto"
_NO_GPU: Final = "none"

Value = str | int | float | None
"""What a setting can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What a person asks. Every value is checked here, whatever the widget or link allowed."""

    model: str = "Qwen/Qwen3-32B-FP8"
    """Hub id of a bundled model, or the name given to a pasted config."""
    revision: str = ""
    """Pinned revision of the config; filled in when the model is resolved."""
    config: str = ""
    """A pasted config.json, reduced to the fields the reader uses and compressed; empty for bundled models."""
    gpu: str = "h100-80gb"
    """Device id; empty: no GPU chosen (then there is no budget)."""
    gpus: int = 1
    input: int = 3072
    """Prompt tokens of the longest request."""
    output: int = 1024
    """Generated tokens of the longest request."""
    sequences: int = 50
    """Requests in flight at peak."""
    kv_dtype: str = "auto"
    weight_dtype: str = "auto"
    """auto: as the checkpoint is published."""
    weights_gib: float | None = None
    """Weights of the whole model as typed by the person; None: as counted from the config."""
    engine: str = "vllm"
    memory_fraction: float = 0.92
    """Share of each GPU's memory the engine may use (vLLM --gpu-memory-utilization)."""
    block_tokens: int | None = None
    """None: what the engine picks."""
    batched_tokens: int | None = None
    """vLLM --max-num-batched-tokens; None: the engine's default for the GPU."""
    in_flight_tokens: int | None = None
    """None: 2 x batched tokens, or 16,384 without a GPU."""
    max_model_len: int | None = None
    """None: input + output."""
    tp: int | None = None
    """Tensor-parallel size; None: all GPUs. gpus / tp engines run side by side."""

    def __post_init__(self) -> None:
        for name in FIELDS:
            _check(name, getattr(self, name))
        _check_together(self)

    @property
    def tokens(self) -> int:
        """Longest sequence: input + output."""
        return self.input + self.output

    def with_changes(self, **changes: Value) -> "Scenario":
        """The same question with some settings changed. Another model drops the old one's config and revision."""
        new: dict[str, Any] = dict(changes)
        if new.get("model", self.model) != self.model:
            new = {"revision": "", "config": "", **new}
        return replace(self, **new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A value that was not taken over from a link or a file."""

    field: str
    """Name of the setting, or of the unknown parameter; shortened and without markup like ``shown``."""
    shown: str
    """The value, shortened, every character that could be markup replaced."""
    message: Message
    """Why, and what is used instead."""


FIELDS: Final[tuple[str, ...]] = tuple(f.name for f in fields(Scenario))
DEFAULTS: Final[Mapping[str, Any]] = {f.name: f.default for f in fields(Scenario)}
OPTIONAL: Final = frozenset(name for name, default in DEFAULTS.items() if default is None)
"""Fields that may be None, written ``auto`` in links."""
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "engine": ENGINES,
    "weight_dtype": WEIGHT_DTYPES,
    "kv_dtype": (_AUTO, *KV_DTYPES),
}
_TOKEN_FIELDS: Final = frozenset({"input", "output", "batched_tokens", "in_flight_tokens", "max_model_len"})


def kv_dtypes(engine: str) -> tuple[str, ...]:
    """The KV cache types ``engine`` offers, ``auto`` first."""
    return (_AUTO, *(name for name, dtype in KV_DTYPES.items() if engine in dtype.engines))


def changed_fields(scenario: Scenario) -> tuple[str, ...]:
    """Which of the folded settings differ from their defaults."""
    return tuple(name for name in MORE_SETTINGS if getattr(scenario, name) != DEFAULTS[name])


def parse_tokens(written: str, *, field: str = "tokens") -> int:
    """Tokens as people write them: ``131072``, ``131,072``, ``128k`` (k = 1,024), full-width digits too.

    ``field`` is what a ScenarioError names.
    """
    plain = _plain(written).replace("_", "")
    match = _TOKENS.fullmatch(plain) if len(plain) <= _WRITTEN_CHARACTERS else None
    if match is None:
        raise ScenarioError(Message(text.TOKENS, {"shown": shown(written)}), field=field)
    whole, decimals, suffix = match[1].replace(",", ""), match[2] or "", match[3]
    scaled = int(whole + decimals) * {"": 1, "k": 1024, "m": 1024**2}[suffix]
    unit: int = 10 ** len(decimals)
    tokens, rest = divmod(scaled, unit)
    if rest:  # 1.3k is no whole number of tokens
        raise ScenarioError(Message(text.TOKENS, {"shown": shown(written)}), field=field)
    return tokens


def parse_total_tokens(written: str) -> int:
    """Input and output together, as ``--tokens`` gives them. Raises ScenarioError that names ``tokens``."""
    tokens = parse_tokens(written)
    if not 1 <= tokens <= MAX_TOKENS:
        raise _out_of_bounds("tokens", written)
    return tokens


def parse_value(field: str, written: str) -> Value:
    """The value of one setting as written in a link, on the command line or in a text box. Raises ScenarioError."""
    value: Value = written.strip()
    plain = _plain(written)
    if field in OPTIONAL and plain in ("", _AUTO):
        return None
    if field == "gpu":
        value = "" if plain == _NO_GPU else plain
    elif field in _CHOICES:
        value = ALIASES.get(plain, plain)
    elif field in WHOLE_BOUNDS:
        value = _parse_whole(field, written)
    elif field in NUMBER_BOUNDS:
        try:
            value = float(plain.replace(",", ""))
        except ValueError:
            raise _out_of_bounds(field, written) from None
    _check(field, value)
    return value


def to_query(scenario: Scenario) -> dict[str, str]:
    """Every field as text, and ``v``: a link means the same after defaults change."""
    written = {name: _written(name, getattr(scenario, name)) for name in FIELDS}
    return {"v": str(LINK_VERSION), **written}


def from_query(query: Mapping[str, Any]) -> tuple[Scenario, tuple[Rejected, ...]]:
    """The scenario of a link, and what was rejected. Takes anything, raises nothing.

    A value may be text or a list of texts (a repeated parameter: the last counts). Also reads ``to_json`` back.
    """
    if not isinstance(query, Mapping):
        note = Message(text.NOT_A_SCENARIO, {"shown": shown(query)})
        return Scenario(), (Rejected(field="", shown=shown(query), message=note),)
    values: dict[str, Any] = {}
    rejected: list[Rejected] = []
    unknown: list[Rejected] = []
    for key, given in query.items():
        raw = given
        if isinstance(given, list | tuple):
            raw = given[-1] if given else ""
            if len({shown(item) for item in given}) > 1:
                note = Message(text.REPEATED, {"field": shown(key), "shown": shown(raw)})
                rejected.append(Rejected(field=shown(key), shown=shown(given), message=note))
        if key == "v" and shown(raw) != str(LINK_VERSION):
            note = Message(text.NEWER, {"shown": shown(raw), "version": LINK_VERSION})
            rejected.append(Rejected(field="v", shown=shown(raw), message=note))
        if key in APP_FIELDS:
            continue
        if key not in DEFAULTS:
            note = Message(text.UNKNOWN_FIELD, {"shown": shown(key)})
            unknown.append(Rejected(field=shown(key), shown=shown(raw), message=note))
            continue
        try:
            values[key] = _taken(key, raw)
        except ScenarioError as error:
            rejected.append(_rejected(key, raw, error))
    scenario = _first_that_holds(values, rejected)
    return scenario, (*rejected, *unknown[:20])


def to_json(scenario: Scenario) -> dict[str, Any]:
    """Every field with its JSON type; None is null."""
    return asdict(scenario)


def from_json(values: Mapping[str, Any]) -> tuple[Scenario, tuple[Rejected, ...]]:
    """``to_json`` read back, as tolerant as ``from_query``."""
    return from_query(values)


def shown(value: object) -> str:
    """Any value as one short line that is safe to print and holds no markup."""
    items = value[:4] if isinstance(value, list | tuple) else (value,)
    line = ", ".join(_shown_one(item) for item in items)
    short = line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"
    return "".join(c if c == "…" or (c.isprintable() and not _UNSAFE.match(c)) else "·" for c in short)


def _shown_one(value: object) -> str:
    if isinstance(value, str):
        return value[: 2 * _SHOWN_CHARACTERS]
    if isinstance(value, int) and value.bit_length() > 128:
        return f"1e{value.bit_length() * 3 // 10}"  # str() refuses more than 4,300 digits
    return str(value) if value is None or isinstance(value, bool | int | float) else type(value).__name__


def _plain(written: str) -> str:
    """Half-width, lower case, without spaces at the ends (long texts are not numbers: cut)."""
    return unicodedata.normalize("NFKC", written[: 2 * _WRITTEN_CHARACTERS]).strip().lower()


def _parse_whole(field: str, written: str) -> int:
    try:
        if field in _TOKEN_FIELDS:
            return parse_tokens(written)
        plain = _plain(written)
        if len(plain) <= _WRITTEN_CHARACTERS and _WHOLE.fullmatch(plain):
            return int(plain.replace(",", ""))
    except ScenarioError:
        pass  # the range says more than how to write tokens
    raise _out_of_bounds(field, written)


def _out_of_bounds(field: str, value: object) -> ScenarioError:
    if field in NUMBER_BOUNDS:
        low, high = (f"{bound:,g}" for bound in NUMBER_BOUNDS[field])
        sentence = text.NUMBER
    else:
        low, high = (format_count(bound) for bound in WHOLE_BOUNDS.get(field, (1, MAX_TOKENS)))
        sentence = text.WHOLE
    return ScenarioError(
        Message(sentence, {"field": field, "low": low, "high": high, "shown": shown(value)}), field=field
    )


def _check(field: str, value: object) -> None:
    """One value on its own. bool is no number here, and NaN and infinity are in no range."""
    if value is None and field in OPTIONAL:
        return
    if field in WHOLE_BOUNDS:
        low, high = WHOLE_BOUNDS[field]
        if type(value) is not int or not low <= value <= high:
            raise _out_of_bounds(field, value)
    elif field in NUMBER_BOUNDS:
        least, most = NUMBER_BOUNDS[field]
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise _out_of_bounds(field, value)
    elif field in _CHOICES:
        if type(value) is not str or value not in _CHOICES[field]:
            choices = ", ".join(_CHOICES[field])
            raise _not_text(field, value, text.CHOICE, choices=choices)
    elif field == "model":
        if type(value) is not str or len(value) > MODEL_CHARACTERS or not _MODEL.fullmatch(value):
            raise _not_text(field, value, text.MODEL, limit=MODEL_CHARACTERS)
    elif field == "gpu":
        if type(value) is not str or (value and not _GPU.fullmatch(value)) or value == _NO_GPU:
            raise _not_text(field, value, text.GPU)
    elif field == "revision":
        if type(value) is not str or len(value) > REVISION_CHARACTERS or not _REVISION.fullmatch(value):
            raise _not_text(field, value, text.REVISION, limit=REVISION_CHARACTERS)
    elif type(value) is not str or len(value) > CONFIG_CHARACTERS or not _CONFIG.fullmatch(value):
        raise _not_text(field, value, text.CONFIG, limit=format_count(CONFIG_CHARACTERS))


def _not_text(field: str, value: object, sentence: Text, **more: object) -> ScenarioError:
    values = {"field": field, "shown": shown(value), **more}
    return ScenarioError(Message(sentence, values), field=field)


def _check_together(scenario: Scenario) -> None:
    """What settings ask of each other, as far as no model is needed to know it."""
    if scenario.tokens < 1:
        raise ScenarioError(Message(text.NO_TOKENS), field="input")
    tokens = format_count(scenario.tokens)
    if scenario.tokens > MAX_TOKENS:
        longer = "input" if scenario.input >= scenario.output else "output"
        values = {"field": longer, "tokens": tokens, "high": format_count(MAX_TOKENS)}
        raise ScenarioError(Message(text.TOO_MANY_TOKENS, values), field=longer)
    if scenario.max_model_len is not None and scenario.max_model_len < scenario.tokens:
        values = {"shown": format_count(scenario.max_model_len), "tokens": tokens}
        raise ScenarioError(Message(text.BELOW_TOKENS, values), field="max_model_len")
    if scenario.tp is not None and scenario.gpus % scenario.tp:
        divisors = ", ".join(str(n) for n in range(1, scenario.gpus + 1) if scenario.gpus % n == 0)
        values = {"gpus": str(scenario.gpus), "shown": str(scenario.tp), "choices": divisors}
        raise ScenarioError(Message(text.TP, values), field="tp")


def _written(field: str, value: Value) -> str:
    if value is None:
        return _AUTO
    if field == "gpu" and not value:
        return _NO_GPU  # an empty parameter is dropped by some readers, and the default is a GPU
    return str(float(value)) if field in NUMBER_BOUNDS else str(value)


def _taken(field: str, raw: Any) -> Value:  # noqa: ANN401 - checked here, whatever it is
    if isinstance(raw, str):
        return parse_value(field, raw)
    _check(field, raw)
    checked: Value = raw
    return checked


def _rejected(field: str, raw: object, error: ScenarioError) -> Rejected:
    used = _written(field, DEFAULTS[field]) or Message(text.EMPTY)
    return Rejected(
        field=field, shown=shown(raw), message=Message(text.USED_INSTEAD, {"why": error.message, "used": used})
    )


def _first_that_holds(values: dict[str, Any], rejected: list[Rejected]) -> Scenario:
    """Values that are fine each but not together: the one that an error names goes back to its default."""
    for _ in FIELDS:
        try:
            if "model" not in values and not values.get("config"):
                values.pop("revision", None)  # it pinned a model that is not used
            return Scenario(**values)
        except ScenarioError as error:
            rejected.append(_rejected(error.field, values.get(error.field, DEFAULTS[error.field]), error))
            values[error.field] = DEFAULTS[error.field]
    return Scenario()
