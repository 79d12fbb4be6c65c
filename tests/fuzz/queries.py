"""Query strings as no page writes them: wrong values, repeated and unknown names, packed bombs, markup, addresses.

Nothing is raised while a link is read; what was asked and is not what is used is said to be so. The values that are
plainly written are read here once more, so that a number never turns into another without a word.
"""

import base64
import contextlib
import gzip
import json
import random
import re
import zlib
from datetime import date
from html.parser import HTMLParser
from urllib.parse import parse_qs, quote, quote_plus, urlencode, urlsplit

from kvviz import catalogue, race
from kvviz.core.errors import KvvizError
from kvviz.devices import every_device, named
from kvviz.export import embed_code, json_text
from kvviz.hub import parse_model_reference
from kvviz.links import pack_config, pack_prompts, pack_scenarios, unpack_config, unpack_prompts, unpack_scenarios
from kvviz.mistakes import explained, parse_claim
from kvviz.report import as_html, as_markdown
from kvviz.resolve import resolve
from kvviz.scenario import (
    APP_FIELDS,
    CHOICES,
    DEFAULTS,
    FIELDS,
    NUMBER_BOUNDS,
    WHOLE_BOUNDS,
    Rejected,
    Scenario,
    from_query,
    parse_value,
    to_query,
)
from kvviz.sizing import size
from tests.core.known import MODELS, config_of
from tests.fuzz.values import STRANGE, scrambled
from tests.fuzz.watch import Watch, hold

_DAY = date(2026, 1, 1)
_EACH_REPORT = 20

HUB = "https://huggingface.co"
NUMBERS = (
    *(
        "0",
        "1",
        "2",
        "3",
        "4",
        "8",
        "50",
        "128k",
        "131,072",
        "1e9",
        "1.5",
        "0.9",
        "-1",
        "+5",
        " 7 ",
        "８",
        "٣",
        "1_000",
    ),
    *("9" * 30, "9" * 6_000, "16777216", "16777217", "NaN", "inf", "-inf", "auto", "", "0x10", "1k", "1.3k", "2m", "½"),
)
NAMES = (
    *("Qwen/Qwen3-32B", "qwen/qwen3-32b", "nobody/nothing", "../../etc/passwd", "a" * 4_000, "Qwen/Qwen3-32B@main"),
    *("http://169.254.169.254/latest/meta-data", "https://huggingface.co@evil.example/a/b", "file:///etc/passwd"),
    *("https://huggingface.co.evil.example/a/b", "https://huggingface.co/a/b/../../../../x", "//evil.example/a/b"),
    *(
        "hf.co/a/b?x=http://evil.example",
        "https://huggingface.co:99999/a/b",
        "https://[::1]/a/b",
        "a/b#c",
        "a/b%2f..%2fc",
    ),
    *(
        "https://huggingface.co/a/b/resolve/main/%2e%2e/%2e%2e",
        "hf_" + "a" * 34,
        "models--a--b",
        "a\x00/b",
        "a/b\r\nHost: c",
    ),
)
MARKUP = tuple(value for value in STRANGE if isinstance(value, str))

# --- the cases -------------------------------------------------------------------------------------------------------


def packed(chance: random.Random) -> str:
    """Something compressed as links carry it, whole or spoilt."""
    match chance.randrange(8):
        case 0:
            value = pack_config(
                config_of(chance.choice(("Qwen/Qwen3-8B", "google/gemma-3-27b-it", "openai/gpt-oss-120b")))
            )
        case 1:
            value = pack_scenarios([Scenario(gpus=chance.choice((1, 2, 4))) for _ in range(chance.randrange(1, 7))])
        case 2:
            value = pack_prompts(["one", "two", "three"] * chance.choice((1, 2)))
        case 3:  # unfolds to more than anybody needs
            raw = zlib.compress(chance.choice((b" ", b"[", b"1")) * chance.choice((1 << 20, 1 << 24)), 9)
            return base64.urlsafe_b64encode(raw).decode().rstrip("=")
        case 4:
            return base64.urlsafe_b64encode(zlib.compress(strange_json(chance))).decode().rstrip("=")
        case 5:
            return base64.urlsafe_b64encode(gzip.compress(b"{}")).decode()
        case 6:
            return "A" * chance.choice((1, 4_095, 4_097, 12_001, 100_000))
        case _:
            return chance.choice(MARKUP)
    if chance.random() < 0.6:
        value = scrambled(chance, value.encode()).decode("latin-1")
    return value


def strange_json(chance: random.Random) -> bytes:
    """JSON that is no config, no scenarios and no prompts."""
    one = chance.choice(
        (
            *(
                b"",
                b"null",
                b"[]",
                b"{}",
                b"[{}]",
                b"[[]]",
                b'["\\ud800"]',
                b"[" * 5_000,
                b"[1e999]",
                b'{"model_type":[]}',
            ),
            *(b'[{"gpus":"x"},{"model":{}}]', b'[{"gpus":1e400}]', b"[" + b"9" * 5_000 + b"]", b"\xff"),
            *(b'[{"input":{"a":1}},null]', json.dumps([{"config": "x" * 5_000, "gpus": [1], "zz": 1}] * 9).encode()),
        )
    )
    return scrambled(chance, one) if one and chance.random() < 0.3 else one


def value_for(chance: random.Random, name: str) -> str:
    """What the query says of ``name``: sometimes what it may say."""
    if chance.random() < 0.15:
        return chance.choice((*MARKUP, *NUMBERS, *NAMES))
    if name in ("config", "set", "prompts"):
        return packed(chance)
    if name in CHOICES:
        return chance.choice((*CHOICES[name], "FP8", " on "))
    if name in WHOLE_BOUNDS:
        low, high = WHOLE_BOUNDS[name]
        usual = chance.choice((low, high, low - 1, high + 1, 2, 4, 8, 100, chance.randint(low, high)))
        return str(usual) if chance.random() < 0.6 else chance.choice(NUMBERS)
    if name in NUMBER_BOUNDS:
        least, most = NUMBER_BOUNDS[name]
        usual = chance.choice((least, most, most * 2, 0.5, 1.0, round(chance.uniform(least, most), 3)))
        return str(usual) if chance.random() < 0.6 else chance.choice(NUMBERS)
    if name == "gpu":
        return chance.choice((*GPUS, "none", "48gib", "0gib", "99999999gib", "h100", "H100-80GB", "nan", "1e9gib"))
    if name in ("model", "models"):
        return chance.choice((*MODELS, *NAMES))
    if name in race.CHOICES:
        return chance.choice(race.CHOICES[name])
    return chance.choice((*NUMBERS, *MARKUP, *NAMES))


GPUS = tuple(device.id for device in every_device())
FIRST = ("model", "gpu", "gpus", "input", "output", "sequences", "kv_dtype", "engine", "tp", "pp", "config")


def query(chance: random.Random) -> str:
    """One query string."""
    pairs = []
    for _ in range(chance.choice((1, 2, 3, 5, 8, 13, 40))):
        name = chance.choice(
            (
                *(chance.choice(FIRST), chance.choice(FIELDS), chance.choice(FIELDS)),
                chance.choice(sorted(APP_FIELDS))
                if chance.random() < 0.8
                else chance.choice((*MARKUP, "utm_source", "MODEL")),
            )
        )
        pairs.append((name, value_for(chance, name)))
    written = urlencode(pairs, quote_via=chance.choice((quote, quote_plus)), errors="surrogatepass")
    if chance.random() < 0.1:
        written = scrambled(chance, written.encode()).decode("latin-1")
    return written


def one(chance: random.Random, watch: Watch) -> str:
    """One link, opened; says what came of it."""
    return opened(query(chance), watch)


# --- what must hold --------------------------------------------------------------------------------------------------


def opened(written: str, watch: Watch) -> str:
    """As the app opens a link: every part of it, on every page."""
    try:
        asked = parse_qs(written, keep_blank_values=True, errors="replace", max_num_fields=1_000)
    except ValueError:
        return "no query"
    scenario, rejected = watch.ask(from_query, {n: v[0] if len(v) == 1 else v for n, v in asked.items()})
    said_so(asked, scenario, rejected)
    again, none = from_query(to_query(scenario))
    hold(again == scenario and not none, "a link made of it reads otherwise")
    last = {name: values[-1] for name, values in asked.items()}
    settings, _, refused = watch.ask(race.from_query, last)
    hold(not race.from_query(race.to_query(settings, 0))[2], "the race's own link is not understood")
    readable([*(r.message for r in rejected), *refused])
    together, of_set = watch.ask(unpack_scenarios, last.get("set", ""))
    readable([r.message for r in of_set])
    for unpack, name in ((unpack_config, "config"), (unpack_prompts, "prompts")):
        refuses(watch, unpack, last.get(name, ""))
    for values in asked.values():
        reference(values[-1], watch)
    refuses(watch, catalogue.load, last.get("model", "")[:500])
    watch.ask(catalogue.search, last.get("model", "")[:500])
    watch.ask(named, last.get("gpu", ""))
    outcomes = [answered(one, last.get("claim", ""), watch) for one in (scenario, *together[:2])]
    return outcomes[0]


def said_so(asked: dict[str, list[str]], scenario: Scenario, rejected: tuple[Rejected, ...]) -> None:
    """Every setting is what was asked, or there is a word about it."""
    about = {one.field for one in rejected}
    for name in FIELDS:
        value = getattr(scenario, name)
        if name not in asked or name in about:
            if name not in asked:
                hold(value == DEFAULTS[name] or name in about, f"nobody asked for {name}={value!r}")
            continue
        meant = plainly(name, asked[name][-1])
        if name == "revision" and scenario.model == DEFAULTS["model"] and not scenario.config:
            continue  # it pins the model that the link asked for, which is not used: that is said
        hold(meant is None or meant == value, f"{name}={asked[name][-1][:40]!r} became {value!r}")


def plainly(name: str, written: str) -> object:
    """What ``written`` says beyond doubt; None where it may be read in more than one way."""
    if name in WHOLE_BOUNDS and re.fullmatch(r"[+-]?[0-9]{1,12}", written):
        return int(written)
    if name in NUMBER_BOUNDS and re.fullmatch(r"[+-]?[0-9]{1,12}(\.[0-9]{1,6})?", written):
        return float(written)
    if name in CHOICES and written in CHOICES[name]:
        return parse_value(name, written)
    return written if name in ("model", "config", "revision") and written == written.strip() else None


def readable(messages: list[object]) -> None:
    """Of moderate length, on one line, and without what a browser or a Markdown reader would run or fetch."""
    hold(len(messages) <= 200, f"{len(messages)} messages")
    for message in messages:
        for lang in ("en", "ja"):
            line = message(lang)
            hold(line.strip() and line.isprintable() and len(line) < 1_000, f"no line to read: {line[:200]!r}")
            hold(not re.search(r"<\w|\]\(", line), f"markup: {line[:200]!r}")


def refuses(watch: Watch, read: object, value: str) -> None:
    """Reads or refuses, nothing else."""
    with contextlib.suppress(KvvizError):
        watch.ask(read, value)


def reference(typed: str, watch: Watch) -> None:
    """What is asked of the Hub is asked of the Hub: no text can name another machine or another page."""
    try:
        found = watch.ask(parse_model_reference, typed)
    except KvvizError:
        return
    asked = urlsplit(f"{HUB}/{found.repo_id}/resolve/{quote(found.revision, safe='')}/config.json")
    hold(asked.netloc == "huggingface.co", f"asks {asked.netloc!r}")
    steps = asked.path.split("/")
    hold(len(steps) == 6 and not {"", ".", ".."} & set(steps[1:]), f"asks for {asked.path!r}")
    hold(not (asked.query or asked.fragment), f"asks with {asked.geturl()!r}")


def answered(scenario: Scenario, claim: str, watch: Watch) -> str:
    """The answer, if there is one, and all that can be taken away from it."""
    try:
        resolved = watch.ask(resolve, scenario)
        sizing = watch.ask(size, resolved.architecture, resolved.scenario, weights=resolved.weights)
    except KvvizError:
        return "refused"
    hold(sizing.scenario.tokens == scenario.tokens, "another length was answered")
    link = f"http://127.0.0.1:8501/?{urlencode(to_query(sizing.scenario))}"
    for lang in ("en", "ja"):
        hold(not re.search(r": (?:NaN|-?Infinity)", watch.ask(json_text, sizing, lang)), "not a number in the JSON")
        if zlib.crc32(link.encode()) % _EACH_REPORT:  # a report takes as long as all the rest
            continue
        written = watch.ask(as_markdown, sizing, lang, link=link, day=_DAY)
        hold(not re.search(r"(?<!\\)<\w", written), "markup in the Markdown")
        printed = watch.ask(as_html, sizing, lang, link=link, day=_DAY)
        hold(not re.search(r"<(?:script|iframe|img|object|form)", printed), "markup in the report")
    page = Tags()
    page.feed(embed_code(link, "en"))
    hold(page.tags == ["iframe"] and not page.text.strip(), f"the embed code holds {page.tags} {page.text[:80]!r}")
    with contextlib.suppress(KvvizError):
        watch.ask(explained, sizing, watch.ask(parse_claim, claim))
    return "answered"


class Tags(HTMLParser):
    """What a browser would see in a piece of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Every tag, and no attribute that runs."""
        self.tags.append(tag)
        hold(not any(name.startswith("on") for name, _ in attrs), "an attribute that runs")

    def handle_data(self, data: str) -> None:
        """What stands beside the tags."""
        self.text += data
