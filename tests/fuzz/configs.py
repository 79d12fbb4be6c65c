"""Published config.json files with something changed.

A changed field either changes the answer as the formula says, or is refused, or is one that is not read. For plain
decoders the formula stands here once more, written from their definition and not from the reader. For all others the
reader is held to itself: what it cites is what the file says, what it did not read changes nothing, more layers and
more heads are never less cache, and the reduced copy that a link carries reads the same.
"""

import json
import marshal
import random
import re
from datetime import date
from functools import cache
from typing import Any

from kvviz.core.architecture import Architecture, parse_config, read_config, used_fields
from kvviz.core.architecture.fields import json_path
from kvviz.core.cache import content
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.export import json_text
from kvviz.links import pack_config, unpack_config
from kvviz.report import as_markdown
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size
from tests.core.known import MODELS, config_of, config_text
from tests.fuzz.values import near, scrambled, strange
from tests.fuzz.watch import FaultError, Watch, hold

Path = tuple[str | int, ...]
LENGTHS = (1, 1_000, 131_072)
ANSWERED = Scenario(gpu="h100-80gb", input=3_072, output=1_024)

# --- the cases -------------------------------------------------------------------------------------------------------


def places(value: object, path: Path = ()) -> list[Path]:
    """Every place in a JSON value."""
    found: list[Path] = [path] if path else []
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        found += places(child, (*path, step))
    return found


@cache
def read_places(model: str) -> tuple[Path, ...]:
    """Those that the answer rests on."""
    return tuple(places(used_fields(config_of(model))))


@cache
def read_as_published(model: str) -> Architecture:
    """What the file says as it is."""
    return read_config(config_of(model))


def at(config: Any, path: Path) -> Any:  # noqa: ANN401 - JSON
    """What stands at ``path``; raises LookupError or TypeError where nothing does."""
    for step in path:
        config = config[step]
    return config


def change(chance: random.Random, config: Any, path: Path) -> str:  # noqa: ANN401 - JSON
    """Change what stands at ``path``, in one of many ways; says in which."""
    holder, step = at(config, path[:-1]), path[-1]
    old = holder[step]
    match chance.randrange(10):
        case 0 | 1 | 2 if isinstance(old, int) and not isinstance(old, bool):
            holder[step] = near(chance, old)
            return "number"
        case 3 if isinstance(old, int) and abs(old) < 1e15:
            holder[step] = chance.choice((float(old), old + 0.5, str(old), [old], -old))
            return "type"
        case 4 if isinstance(holder, dict):
            del holder[step]
            return "removed"
        case 5 if isinstance(holder, dict):
            holder[f"{step}_"] = holder.pop(step)
            return "renamed"
        case 6 if isinstance(old, list) and old:
            way = chance.randrange(4)
            if way == 0:
                old.pop(chance.randrange(len(old)))
            elif way == 1:
                old.insert(chance.randrange(len(old) + 1), chance.choice(old))
            elif way == 2:
                chance.shuffle(old)
            else:
                old[chance.randrange(len(old))] = strange(chance)
            return "list"
        case 7 | 8:
            other = config_of(chance.choice(MODELS))
            text = other.get("text_config", other)
            if step in text:
                holder[step] = text[step]
                return "of another model"
    holder[step] = strange(chance)
    return "strange"


def add(chance: random.Random, config: dict[str, Any]) -> None:
    """Give the file a field of another model's."""
    other = config_of(chance.choice(MODELS))
    text = other.get("text_config", other)
    name = chance.choice(list(text))
    (config.get("text_config") or config)[name] = text[name]


def one(chance: random.Random, watch: Watch) -> str:
    """One file; says what came of it."""
    model = chance.choice(MODELS)
    if chance.random() < 0.1:
        return pasted(scrambled(chance, config_text(model)), watch)
    config = config_of(model)
    path: Path | None = None
    if (many := chance.random()) < 0.65:
        path = chance.choice(read_places(model) if chance.random() < 0.8 else places(config))
        change(chance, config, path)
    elif many < 0.75:
        add(chance, config)
    else:
        for _ in range(chance.randrange(2, 6)):
            try:
                change(chance, config, chance.choice(read_places(model)))
            except (LookupError, TypeError):  # an earlier change took it away
                continue
    try:
        written = json.dumps(config)
    except (ValueError, RecursionError):  # never a text, and yet nothing to fall over
        return refusal(config, watch)
    return pasted(written.encode(errors="surrogatepass"), watch, published=model, changed=path)


def pasted(raw: bytes, watch: Watch, *, published: str = "", changed: Path | None = None) -> str:
    """A text as somebody pastes it. ``changed`` is the only place in which it differs from the published file."""
    try:
        config = watch.ask(parse_config, raw)
    except KvvizError:
        return "no JSON"
    return check(config, watch, published=published, changed=changed)


def refusal(config: dict[str, Any], watch: Watch) -> str:
    """Only that nothing else is raised."""
    try:
        watch.ask(read_config, config, name="pasted")
    except KvvizError:
        return "refused"
    return "answered"


# --- what must hold --------------------------------------------------------------------------------------------------


def check(config: dict[str, Any], watch: Watch, *, published: str = "", changed: Path | None = None) -> str:
    """What kvviz makes of it."""
    before = marshal.dumps(config, 2)
    try:
        read = watch.ask(read_config, config, name="pasted")
    except KvvizError:
        return "refused"
    hold(marshal.dumps(config, 2) == before, "the file itself was changed")
    bf16 = content(read.layers, KV_DTYPES["bf16"])
    counts = [bf16.bytes_at(n) for n in LENGTHS]
    hold(counts[0] >= 0 and counts == sorted(counts), f"content is not rising: {counts}")
    hold(read_config(used_fields(config)) == read, "the reduced copy reads otherwise")
    hold(read_config(dict(reversed(config.items()))).layers == read.layers, "the order of fields counts")
    for fact in read.facts:
        if fact.origin == "field" and isinstance(fact.value, int):
            hold(cited(config, fact.where) == fact.value, f"{fact.where} is cited as {fact.value}")
    as_formula(config, counts)
    if published and changed is not None:
        against_published(config, read, published, changed)
    through_a_link(config, read)
    try:
        sizing = watch.ask(size, read, ANSWERED, weights=None)
    except KvvizError:
        return "read, and not answered"
    watch.ask(shown, sizing)
    return "answered"


def shown(sizing: Sizing) -> None:
    """What a visitor can take away is whole."""
    for lang in ("en", "ja"):
        hold(not re.search(r": (?:NaN|-?Infinity)", json_text(sizing, lang)), "not a number in the JSON")
        hold(as_markdown(sizing, lang, link="https://example.org/?v=1", day=date(2026, 1, 1)), "no report")


def cited(config: Any, where: str) -> object:  # noqa: ANN401 - JSON
    """The value at a path as a fact writes it."""
    for name, index in re.findall(r"\.([^.\[\]]+)|\[(\d+)\]", where):
        config = config[int(index)] if index else config[name]
    return config


def through_a_link(config: dict[str, Any], read: Architecture) -> None:
    """What a link carries reads the same; what does not fit into one is said not to."""
    try:
        packed = pack_config(config)
    except ScenarioError:
        return
    hold(read_config(unpack_config(packed)) == read, "a link reads otherwise")


def against_published(config: dict[str, Any], read: Architecture, published: str, changed: Path) -> None:
    """One change, and what the published file answers."""
    original, old = read_as_published(published), at(config_of(published), changed)
    if not any(path == changed[: len(path)] for path in read_places(published)):
        hold(read == original, f"{changed} was not read and counts all the same")
        return
    try:
        new = at(config, changed)
    except LookupError:
        return
    if type(old) is not int or type(new) is not int:
        return
    where = json_path(changed)
    cited_before = any(fact.where == where for fact in original.facts)
    if cited_before and old != new and new:  # 0 stands for none: no window, no head size of its own
        hold(
            any(f.where == where and f.value == new for f in read.facts),
            f"{where}: {new} in place of {old} is not cited",
        )
    if cited_before and old != new and changed[-1] in ("num_hidden_layers", "num_key_value_heads"):
        less, more = (read, original) if new < old else (original, read)
        bytes_of = [content(a.layers, KV_DTYPES["bf16"]) for a in (less, more)]
        for n in LENGTHS:
            hold(bytes_of[0].bytes_at(n) <= bytes_of[1].bytes_at(n), f"{where}: {old} and {new}, more takes less")
        if changed[-1] == "num_hidden_layers":
            hold(len(less.layers) < len(more.layers), f"{where}: {old} layers are as many as {new}")


# --- plain decoders, from their definition ---------------------------------------------------------------------------

PLAIN = frozenset({"llama", "mistral", "qwen2", "qwen3", "qwen3_moe", "mixtral", "olmo2", "granite", "smollm3", "olmo"})
SIZES = ("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "hidden_size")
HARMLESS = frozenset({*SIZES, "quantization_config", "max_window_layers"})
ODD = re.compile(
    r"window|layer|lora|latent|rank|block_configs|share|hybrid|pattern|state|conv|mamba|ssm|_kv|kv_|head|multi_query"
    r"|index|linear|compress|_config|cfg|attn_type|cross|draft|mtp|nextn|hidden_size_|n_embd|d_model|is_encoder"
)
"""Names of fields that may make it anything but a plain decoder, or stand for one of the sizes."""


def plain_bytes_per_token(config: dict[str, Any]) -> int | None:
    """2 x layers x KV heads x head size x 2 bytes; 0 where the sizes are none; None where it may not be plain."""
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or model_type not in PLAIN:
        return None
    if model_type == "mistral" and "sliding_window" not in config:
        return None  # the class has one
    off = {"sliding_window"} if "qwen" in model_type and config.get("use_sliding_window") is False else set()
    for name, value in config.items():
        if name not in HARMLESS | off and ODD.search(name) and value not in (None, False, []):
            return None
    sizes: list[int | None] = []
    for name in SIZES:
        value = config.get(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not (value is None or isinstance(value, int)):
            return 0
        sizes.append(value)
    layers, heads, kv_heads, head_dim, width = sizes
    if layers is None or heads is None:
        return 0
    if kv_heads is None:
        if "num_key_value_heads" not in config and model_type != "llama":
            return None  # the class may supply a number of its own
        kv_heads = heads
    if not head_dim:  # 0 stands for none in published files
        if "head_dim" not in config and model_type.startswith("qwen3"):
            return None
        if width is None or heads < 1 or width % heads:
            return 0
        head_dim = width // heads
    return 4 * layers * kv_heads * head_dim if min(layers, heads, kv_heads, head_dim) > 0 else 0


def as_formula(config: dict[str, Any], counts: list[Any]) -> None:
    """``counts`` are the bytes at LENGTHS."""
    expected = plain_bytes_per_token(config)
    if expected is None:
        return
    hold(expected, "sizes that are none are answered")
    found = [int(count) for count in counts]
    if found != [expected * n for n in LENGTHS]:
        raise FaultError(f"{found[0]} bytes a token where the formula gives {expected}")
