"""One frozen dataclass with every knob. Field name = widget key = URL parameter = JSON key = CLI flag."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from functools import lru_cache
from math import ceil, isnan
from typing import Any, Final

from kvviz.core.dtypes import ALIASES, KV_DTYPES
from kvviz.core.errors import ScenarioError
from kvviz.core.units import format_count
from kvviz.text import Message, Text
from kvviz.text import scenario as text

LINK_VERSION: Final = 1
"""The ``v`` of a link. It goes up when a field changes its meaning."""
APP_FIELDS: Final = frozenset(
    {"v", "by", "lang", "set", "models", "devices", "counts", "pair", "claim", "embed", "embed_options"}
    | {"view", "trace", "reserve", "place", "first", "pool", "block", "longest", "seed", "prompt", "answer", "windows"}
    | {"step"}
    | {"heads_tab", "heads_kv", "heads_view", "heads_step"}
    | {"prompts", "prefix_try", "prefix_block", "prefix_trace", "prefix_capacity", "prefix_shared"}
    | {"live_model", "live_prompt", "live_prompt_tokens", "live_new_tokens", "live_batch", "live_dtype", "live_cache"}
)
"""URL parameters that belong to the app, not to the scenario."""

MAX_TOKENS: Final = 16_777_216
MAX_REQUESTS: Final = 1_000_000
WHOLE_BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "gpus": (1, 1024),
    "input": (0, MAX_TOKENS),
    "output": (0, MAX_TOKENS),
    "passages": (0, 10_000),
    "passage_tokens": (0, 1_048_576),
    "sequences": (1, MAX_REQUESTS),
    "users": (1, 100_000_000),
    "block_tokens": (1, 65_536),
    "batched_tokens": (1, MAX_TOKENS),
    "in_flight_tokens": (1, MAX_TOKENS),
    "max_model_len": (1, MAX_TOKENS),
    "tp": (1, 1024),
    "pp": (1, 1024),
    "dp": (1, 1024),
    "dcp": (1, 1024),
    "draft_layers": (0, 64),
    "draft_tokens": (1, 32),
    "shared_tokens": (0, MAX_TOKENS),
}
NUMBER_BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    "weights_gib": (0.001, 100_000.0),
    "memory_fraction": (0.05, 1.0),
    "seconds_between": (0.0, 86_400.0),
    "answer_s": (0.001, 86_400.0),
    "headroom": (0.0, 0.9),
    "typical": (0.01, 1.0),
    "activations_gib": (0.0, 1_000.0),
    "non_torch_gib": (0.0, 1_000.0),
    "graphs_gib": (0.0, 1_000.0),
}
ENGINE_VERSIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "vllm": ("0.20", "v0"),
    "sglang": (),
    "tensorrt-llm": (),
    "llama.cpp": ("expanded-mla",),
    "transformers": ("4.57",),
}
"""Engines, and the older versions of each whose other rules are known; ``auto`` is the one they were read from."""
ENGINES: Final = tuple(ENGINE_VERSIONS)
ENGINES_WITH: Final[Mapping[str, tuple[str, ...]]] = {
    "tp": ("vllm", "sglang", "tensorrt-llm", "transformers"),
    "pp": ("vllm", "sglang", "tensorrt-llm"),
    "attention_dp": ("vllm", "sglang", "tensorrt-llm"),
    "dcp": ("vllm",),
    "memory_fraction": ("vllm", "sglang", "tensorrt-llm"),
    "batched_tokens": ("vllm", "sglang", "llama.cpp"),
    "in_flight_tokens": ("vllm",),
    "block_tokens": ("vllm", "sglang", "tensorrt-llm"),
    "prefix_caching": ("vllm", "sglang"),
    "full_windows": ("vllm", "tensorrt-llm", "llama.cpp", "transformers"),
    "draft_layers": ("vllm", "sglang"),
    "draft_tokens": ("vllm",),
    "v_dtype": ("llama.cpp",),
    "unified": ("llama.cpp",),
}
"""Settings that not every engine has, and those that have them."""
_DP_INSIDE_TP: Final = frozenset({"sglang"})
"""With ``attention_dp``. vLLM's groups are engines of their own, TensorRT-LLM's the single GPUs of one."""
WEIGHT_DTYPES: Final = (
    *("auto", "bf16", "fp16", "fp32", "fp8", "int8", "int4", "nvfp4", "mxfp4"),
    *("q8_0", "q6_k", "q5_k_m", "q4_k_m"),
)
"""``kvviz.weights`` knows them; a test holds the two together."""
MORE_SETTINGS: Final = (
    "engine",
    "engine_version",
    "weight_dtype",
    "weights_gib",
    "tp",
    "pp",
    "dp",
    "attention_dp",
    "dcp",
    "memory_fraction",
    "max_model_len",
    "batched_tokens",
    "block_tokens",
    "in_flight_tokens",
    "prefix_caching",
    "full_windows",
    "draft_layers",
    "draft_tokens",
    "v_dtype",
    "unified",
    "headroom",
    "typical",
    "shared_tokens",
    "activations_gib",
    "non_torch_gib",
    "graphs_gib",
)
"""The fields the page folds away."""

MODEL_CHARACTERS: Final = 120
REVISION_CHARACTERS: Final = 80
CONFIG_CHARACTERS: Final = 4_096
_SHOWN_CHARACTERS: Final = 48
_EXACT_WHOLE: Final = 2**53
"""A float below it is written as the whole number it is."""
_WRITTEN_CHARACTERS: Final = 40  # of a number: longer is no number anyone means, and int() is quadratic

# No markup can be written with these, whatever a page does with the name.
_MODEL = re.compile(r"\w(?:[\w .+/()-]*[\w+.)])?")
_GPU = re.compile(r"[a-z0-9][a-z0-9.+-]{0,63}", re.ASCII)
_REVISION = re.compile(r"[A-Za-z0-9._:/+-]*", re.ASCII)
_CONFIG = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
_UNSAFE = re.compile(r"[<>\[\]`]")
_TOKENS = re.compile(r"(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d+))? ?([km]?)", re.ASCII)
_WHOLE = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)", re.ASCII)
_AUTO: Final = "auto"
_NO_GPU: Final = "none"

Value = str | int | float | None
"""What a setting can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """Requests in flight of people who read an answer before they ask again: Little's law for a closed loop.

    Of each round of ``answer_s + seconds_between`` a person has a request in flight for ``answer_s``, so this is what
    is in flight on average while all of them are at work.
    """

    users: int
    answer_s: Fraction
    seconds_between: Fraction
    exact: Fraction
    """users x answer_s / (answer_s + seconds_between)"""
    requests: int
    """The same, rounded up."""
    formula: str
    """Numbers, seconds and operators only, the same in every language: ``200 × 15 s ÷ (15 s + 45 s)``."""


@lru_cache(maxsize=1024)
def requests_in_flight(users: int, *, answer_s: float, seconds_between: float) -> InFlight:
    """How many requests ``users`` people have in flight. Seconds are taken as written in decimals, not as floats."""
    answer, pause = _decimal(answer_s), _decimal(seconds_between)
    exact = users * answer / (answer + pause)
    return InFlight(
        users=users,
        answer_s=answer,
        seconds_between=pause,
        exact=exact,
        requests=ceil(exact),
        formula=f"{users:,} × {_seconds(answer)} ÷ ({_seconds(answer)} + {_seconds(pause)})",
    )


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
    """Prompt tokens of the longest request, without retrieved passages."""
    output: int = 1024
    """Generated tokens of the longest request."""
    passages: int = 0
    """Retrieved passages that the longest request's prompt holds besides."""
    passage_tokens: int = 512
    """Tokens of one passage."""
    sequences: int = 50
    """Requests in flight at peak; not used where ``users`` is given."""
    users: int | None = None
    """People at work at once, whose requests in flight are worked out; None: ``sequences`` says how many there are."""
    seconds_between: float = 45.0
    """What a person pauses for between an answer and the next question, in seconds."""
    answer_s: float = 15.0
    """How long an answer takes, in seconds."""
    kv_dtype: str = "auto"
    weight_dtype: str = "auto"
    """auto: as the checkpoint is published."""
    weights_gib: float | None = None
    """Weights of the whole model as typed by the person; None: as counted from the config."""
    engine: str = "vllm"
    engine_version: str = "auto"
    """auto: the version the engine's rules were read from; else an older one of ``ENGINE_VERSIONS``."""
    memory_fraction: float | None = None
    """Share of each GPU's memory the engine may use (vLLM --gpu-memory-utilization, SGLang --mem-fraction-static,
    TensorRT-LLM free_gpu_memory_fraction); None: the engine's default."""
    block_tokens: int | None = None
    """None: what the engine picks."""
    batched_tokens: int | None = None
    """vLLM --max-num-batched-tokens; None: the engine's default for the GPU."""
    in_flight_tokens: int | None = None
    """None: 2 x batched tokens, or 16,384 without a GPU."""
    max_model_len: int | None = None
    """None: input + output."""
    tp: int | None = None
    """Tensor-parallel size; None: all GPUs that pp and dp leave. gpus / (tp x pp) engines run side by side."""
    pp: int = 1
    """Pipeline-parallel size: the layers are shared out over so many groups of tp GPUs."""
    dp: int | None = None
    """Engines side by side, each with a pool and requests of its own; with ``attention_dp`` SGLang's groups inside an
    engine whose attention is not split among them. None: as many as the GPUs make."""
    attention_dp: str = "off"
    """on: every group of an engine's GPUs does the attention of its own requests (SGLang --enable-dp-attention)."""
    dcp: int = 1
    """Decode-context-parallel size: the tokens of a request are shared out over so many of the tp GPUs."""
    prefix_caching: str = "on"
    full_windows: str = "off"
    """on: layers with a window keep every token (vLLM --disable-hybrid-kv-cache-manager, llama.cpp --swa-full)."""
    draft_layers: int = 0
    """Layers that a draft (MTP, EAGLE) adds to the cache, of the model's own kind."""
    draft_tokens: int | None = None
    """Tokens that it proposes at once (vLLM num_speculative_tokens): a recurrent state is kept for each. None: 1."""
    v_dtype: str = "same"
    """Type of the values where an engine takes keys and values apart (llama.cpp -ctv); same: as ``kv_dtype``."""
    unified: str = "off"
    """on: slots draw on one pool of cells (llama.cpp --kv-unified), else each has its own part."""
    headroom: float = 0.0
    """Share of the pool to keep free."""
    typical: float = 1.0
    """A typical request's length as a share of the longest."""
    shared_tokens: int = 0
    """Tokens of the input that all requests begin with, such as a system prompt."""
    activations_gib: float | None = None
    """What an engine's own log says of activations, GiB per GPU; None: as estimated."""
    non_torch_gib: float | None = None
    """What it says of memory outside torch, GiB per GPU; None: as estimated."""
    graphs_gib: float | None = None
    """What it says of CUDA graphs, GiB per GPU; None: as estimated."""

    def __post_init__(self) -> None:
        for name in FIELDS:
            _check(name, getattr(self, name))
        _check_together(self)

    @property
    def input_tokens(self) -> int:
        """The longest request's whole prompt: input and its passages."""
        return self.input + self.passages * self.passage_tokens

    @property
    def tokens(self) -> int:
        """Longest sequence: input, passages and output."""
        return self.input_tokens + self.output

    @property
    def typical_tokens(self) -> int:
        """Length of a typical request, rounded up."""
        return self.tokens if self.typical == 1 else ceil(self.tokens * _decimal(self.typical))

    @property
    def proposed_tokens(self) -> int:
        """Tokens that a draft proposes at once; 0 without a draft, whatever ``draft_tokens`` says."""
        return (self.draft_tokens or 1) if self.draft_layers else 0

    @property
    def from_users(self) -> InFlight | None:
        """The working behind ``requests`` where it comes from ``users``."""
        if self.users is None:
            return None
        return requests_in_flight(self.users, answer_s=self.answer_s, seconds_between=self.seconds_between)

    @property
    def requests(self) -> int:
        """Requests in flight that the answer is about: those of ``users``, else ``sequences``."""
        from_users = self.from_users
        return self.sequences if from_users is None else from_users.requests

    @property
    def headroom_share(self) -> Fraction:
        """``headroom`` as written in decimals: a tenth of 1,000 blocks is 100, not 99."""
        return _decimal(self.headroom)

    def with_changes(self, **changes: Value) -> "Scenario":
        """The same question with some settings changed. Another model drops the old one's config and revision."""
        new: dict[str, Any] = dict(changes)
        if new.get("model", self.model) != self.model:
            new = {"revision": "", "config": "", **new}
        # As dataclasses.replace, which would check all that was checked when this one was made: a page asks hundreds.
        made = object.__new__(Scenario)
        for name in FIELDS:
            object.__setattr__(made, name, new.pop(name) if name in new else getattr(self, name))
        if new:
            raise TypeError(f"no such setting: {', '.join(new)}")
        for name in changes:
            _check(name, getattr(made, name))
        _check_together(made)
        return made


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
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "engine": ENGINES,
    "weight_dtype": WEIGHT_DTYPES,
    "kv_dtype": (_AUTO, *KV_DTYPES),
    "v_dtype": ("same", *KV_DTYPES),
    "engine_version": (_AUTO, *(version for versions in ENGINE_VERSIONS.values() for version in versions)),
    **dict.fromkeys(("attention_dp", "prefix_caching", "full_windows", "unified"), ("off", "on")),
}
_TOKEN_FIELDS: Final = frozenset(
    {
        "input",
        "output",
        "passage_tokens",
        "batched_tokens",
        "in_flight_tokens",
        "max_model_len",
        "shared_tokens",
    }
)


def kv_dtypes(engine: str) -> tuple[str, ...]:
    """The KV cache types ``engine`` offers, ``auto`` first."""
    return (_AUTO, *(name for name, dtype in KV_DTYPES.items() if engine in dtype.engines))


def under_engine(scenario: Scenario, engine: str) -> Scenario:
    """The same question to another engine: what that has not got goes back to its default."""
    gone = [name for name, engines in ENGINES_WITH.items() if engine not in engines]
    if scenario.kv_dtype not in kv_dtypes(engine):
        gone.append("kv_dtype")
    return scenario.with_changes(engine=engine, **{name: DEFAULTS[name] for name in (*gone, "engine_version")})


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
    elif field in CHOICES:
        value = ALIASES.get(plain, plain)
    elif field in WHOLE_BOUNDS:
        value = _parse_whole(field, written)
    elif field in NUMBER_BOUNDS:
        try:
            value = float(plain.replace(",", ""))
        except ValueError:
            raise _out_of_bounds(field, written) from None
    _check(field, value, written=written)
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
    if isinstance(value, float):
        return _number(value)
    return str(value) if value is None or isinstance(value, bool | int) else type(value).__name__


def _number(value: float) -> str:
    """As a person writes it: ``-1``, ``0.92``, ``NaN``."""
    if isnan(value):
        return "NaN"
    return str(int(value)) if value.is_integer() and abs(value) < _EXACT_WHOLE else str(value)


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


def _check(field: str, value: object, *, written: str | None = None) -> None:
    """One value on its own. bool is no number here, and NaN and infinity are in no range.

    ``written``: what an error repeats where a person wrote the value otherwise.
    """
    said = value if written is None else written
    if value is None and field in OPTIONAL:
        return
    if field in WHOLE_BOUNDS:
        low, high = WHOLE_BOUNDS[field]
        if type(value) is not int or not low <= value <= high:
            raise _out_of_bounds(field, said)
    elif field in NUMBER_BOUNDS:
        least, most = NUMBER_BOUNDS[field]
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise _out_of_bounds(field, said)
    elif field in CHOICES:
        if type(value) is not str or value not in CHOICES[field]:
            choices = ", ".join(CHOICES[field])
            raise _not_text(field, said, text.CHOICE, choices=choices)
    elif field == "model":
        if type(value) is not str or len(value) > MODEL_CHARACTERS or not _MODEL.fullmatch(value):
            raise _not_text(field, said, text.MODEL, limit=MODEL_CHARACTERS)
    elif field == "gpu":
        if type(value) is not str or (value and not _GPU.fullmatch(value)) or value == _NO_GPU:
            raise _not_text(field, said, text.GPU)
    elif field == "revision":
        if type(value) is not str or len(value) > REVISION_CHARACTERS or not _REVISION.fullmatch(value):
            raise _not_text(field, said, text.REVISION, limit=REVISION_CHARACTERS)
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
        parts = {"input": scenario.input, "output": scenario.output}
        parts["passages"] = scenario.passages * scenario.passage_tokens
        longer = max(parts, key=parts.__getitem__)
        values = {"field": longer, "tokens": tokens, "high": format_count(MAX_TOKENS)}
        raise ScenarioError(Message(text.TOO_MANY_TOKENS, values), field=longer)
    if scenario.max_model_len is not None and scenario.max_model_len < scenario.tokens:
        values = {"shown": format_count(scenario.max_model_len), "tokens": tokens}
        raise ScenarioError(Message(text.BELOW_TOKENS, values), field="max_model_len")
    if scenario.users is not None and (requests := scenario.requests) > MAX_REQUESTS:
        values = {"requests": format_count(requests), "high": format_count(MAX_REQUESTS)}
        raise ScenarioError(Message(text.TOO_MANY_USERS, values), field="users")
    if scenario.shared_tokens:
        _check_shared(scenario)
    _check_split(scenario)
    if scenario.engine_version not in (_AUTO, *(known := ENGINE_VERSIONS[scenario.engine])):
        values = {"field": "engine_version", "shown": scenario.engine_version, "choices": ", ".join((_AUTO, *known))}
        raise ScenarioError(Message(text.CHOICE, values), field="engine_version")


def _check_split(scenario: Scenario) -> None:
    """Every GPU belongs to one rank of one engine."""
    gpus, taken = scenario.gpus, 1
    split = {"pp": scenario.pp, "tp": scenario.tp}
    if scenario.attention_dp == "off" or scenario.engine not in _DP_INSIDE_TP:
        split["dp"] = scenario.dp
    for field, size in split.items():
        if size is None:
            continue
        if (gpus // taken) % size:
            left = gpus // taken
            choices = ", ".join(str(n) for n in range(1, left + 1) if left % n == 0)
            values = {"field": field, "gpus": str(left), "shown": str(size), "choices": choices}
            raise ScenarioError(Message(text.SPLIT, values), field=field)
        taken *= size
    if split.get("dp") is not None and None not in split.values() and taken != gpus:
        each = taken // (scenario.dp or 1)
        values = {"gpus": str(gpus), "shown": str(scenario.dp), "each": str(each), "choices": str(gpus // each)}
        raise ScenarioError(Message(text.SPLIT_LEAVES, {"field": "dp", **values}), field="dp")


def _check_shared(scenario: Scenario) -> None:
    """Every request begins with the shared tokens, so none is shorter."""
    shared = format_count(scenario.shared_tokens)
    if scenario.shared_tokens > scenario.input_tokens:
        values = {"shown": shared, "input": format_count(scenario.input_tokens)}
        raise ScenarioError(Message(text.MORE_SHARED_THAN_INPUT, values), field="shared_tokens")
    if scenario.typical < 1 and scenario.typical_tokens <= scenario.shared_tokens:
        values = {"tokens": format_count(scenario.typical_tokens), "shared": shared}
        raise ScenarioError(Message(text.TYPICAL_BELOW_SHARED, values), field="typical")


@lru_cache(maxsize=1024)
def _decimal(value: float) -> Fraction:
    """The number as a person writes it: 0.1 is a tenth."""
    return Fraction(repr(value))


def _seconds(value: Fraction) -> str:
    """``15 s``, ``1.5 s``: to the millisecond."""
    return f"{float(value):,.3f}".rstrip("0").rstrip(".") + " s"


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
    default = DEFAULTS[field]
    used: object = format_count(default) if type(default) is int else shown(default)
    if not isinstance(default, int | float):
        used = _written(field, default) or Message(text.EMPTY)
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
