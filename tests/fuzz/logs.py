"""Start-up logs with something changed: lines lost, doubled, out of order, of two engines, figures that are none.

A figure that a line states beyond doubt is read here once more: kvviz reads the same, or says that the log does not
say. A check may not agree with a figure that it did not predict.
"""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kvviz import catalogue
from kvviz.core.errors import KvvizError
from kvviz.engine_log import MAX_CHARACTERS, EngineLog, read_log
from kvviz.log_check import as_json, check, decode, model_of, named_in, report
from tests.fuzz.values import STRANGE, near, scrambled
from tests.fuzz.watch import Watch, hold

ROOT = Path(__file__).resolve().parents[2]
LOGS = sorted(
    [*(ROOT / "tests" / "data" / "logs").glob("*.log"), *(ROOT / "kvviz" / "data" / "example_logs").glob("*.log")]
)
TEXTS = tuple(path.read_text(encoding="utf-8") for path in LOGS)
MODELS = (
    "Qwen/Qwen3-8B",
    "google/gemma-3-27b-it",
    "moonshotai/Kimi-Linear-48B-A3B-Instruct",
    "deepseek-ai/DeepSeek-V3",
)
LARGE: Final = 0.01
"""Share of logs that are as large as an upload may be."""
REQUESTS: Final = (
    "INFO 09-11 00:42:{n:02} [loggers.py:123] Engine 000: Avg prompt throughput: {n}.5 tok/s, KV cache usage: 3.{n}%",
    'INFO:     10.0.0.{n}:4{n} - "POST /v1/chat/completions HTTP/1.1" 200 OK',
    "INFO Received request chatcmpl-{id:032x}: prompt: 'model config cache size: {id}', max_tokens={n}, lora: None.",
    "[2025-09-11 00:42:{n:02} TP0] Decode batch. #running-req: {n}, #token: {id}, token usage: 0.{n}, #queue-req: 0,",
    "slot update_slots: id  {n} | task {n} | new prompt, n_ctx_slot = 4096, n_keep = 0, n_prompt_tokens = {n}",
    "slot update_slots: id  {n} | task {n} | n_past = {n}, n_ctx = 4096, cache_tokens.size() = {n}",
)
"""Lines of a server at work, once it has started."""
NUMBER: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")
NOISE = (
    *(
        "a" * 20_000,
        "1" * 20_000,
        "size = " * 3_000,
        " " * 20_000,
        "[" * 5_000,
        "\n" * 5_000,
        "=" * 5_000,
        "MiB " * 3_000,
    ),
    *(
        "llama_kv_cache: " * 500,
        "GPU KV cache size: " * 500,
        "tokens per request: " * 500,
        "\\n" * 5_000,
        "#tokens: " * 500,
    ),
    *("K (f16): , V (f16): " * 300, "num_gpu_blocks is: " * 300, "KV self size = " * 400, "# GPU blocks: 1, " * 400),
)

# --- the cases -------------------------------------------------------------------------------------------------------


def renumbered(chance: random.Random, text: str) -> str:
    """One number is another."""
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    number = chance.choice(found)
    whole = int(re.sub(r"\D", "", number[0])[:18])
    other = chance.choice(
        (str(near(chance, whole)), f"{whole * 7:,}", "0", "9" * 40, "1e9", "-1", "nan", "", f"{whole / 7:.2f}")
    )
    return text[: number.start()] + other + text[number.end() :]


def spoilt(chance: random.Random, text: str) -> str:
    """``text`` with one thing done to it."""
    lines = text.split("\n")
    at, to = sorted(chance.randrange(len(lines) + 1) for _ in range(2))
    match chance.randrange(11):
        case 0 | 1 | 2:
            return renumbered(chance, text)
        case 3:
            del lines[at : min(to, at + 5)]
        case 4:
            lines[at:at] = lines[at:to]
        case 5:
            chance.shuffle(lines)
        case 6:
            lines[at:at] = chance.choice(TEXTS).split("\n")
        case 7:
            lines.insert(at, chance.choice(NOISE))
        case 8:
            return scrambled(chance, text.encode(errors="replace")).decode("utf-8", "replace")
        case 9:
            width = chance.choice((20, 80, 120))
            return "\n".join(line[n : n + width] for line in lines for n in range(0, max(len(line), 1), width))
        case _:
            prefix = chance.choice(
                ("> ", "\x1b[31m", "app-1  | ", "(EngineCore_DP1 pid=7) ", str(chance.choice(STRANGE[22:30])))
            )
            lines = [prefix + line for line in lines]
    return "\n".join(lines)


def large(chance: random.Random, text: str) -> str:
    """``text`` with megabytes of something before or after it, or of itself."""
    size = chance.choice((1, 2, 5)) << 20
    lines = chance.sample(REQUESTS, chance.randrange(1, len(REQUESTS)))
    match chance.randrange(5):
        case 0:
            more = chance.choice(NOISE) * 1_000
        case 1:
            more = f"{text}\n" * (size // (len(text) + 1))
        case 2:
            more = "".join(chance.choices("abcdefgh {}()_-=:,.KVGiB0123456789\n", k=size))
        case _:
            more = "\n".join(
                chance.choice(lines).format(n=chance.randrange(60), id=chance.getrandbits(128))
                for _ in range(size // 70)
            )
    more = more[: size - len(text) - 1]
    whole = f"{text}\n{more}" if chance.random() < 0.6 else f"{more}\n{text}"
    return whole.replace("\n", " ") if chance.random() < 0.1 else whole


def one(chance: random.Random, watch: Watch) -> str:
    """One log; says what came of it."""
    text = chance.choice(TEXTS)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        text = spoilt(chance, text)
    if chance.random() < 0.03:
        text *= 50
    if chance.random() < LARGE:
        text = large(chance, text)
    text = text[:MAX_CHARACTERS]
    given = {}
    if chance.random() < 0.3:
        given = chance.choice(
            ({"tp": 2}, {"tp": 7}, {"kv_dtype": "fp8"}, {"kv_dtype": "q8_0"}, {"context_tokens": 4_096})
        )
    return looked_at(text, chance.choice((None, None, *MODELS)), given, watch)


# --- what must hold --------------------------------------------------------------------------------------------------


def looked_at(text: str, model: str | None, given: dict[str, object], watch: Watch) -> str:
    """As the page and the command line check a log."""
    try:
        log = watch.ask(read_log, decode(text.encode(errors="replace")))
    except KvvizError:
        return "no log"
    said_plainly(text, log)
    plausible(log)
    of = named_in(log) if model is None else model_of(catalogue.load(model))
    try:
        checked = watch.ask(check, log, model=of, given=given)
    except KvvizError:
        return "not checked"
    for figure in checked.figures:
        hold(
            figure.predicted == figure.predicted and abs(figure.predicted) < 1e40,
            f"{figure.name} is predicted as no number",
        )
        hold(figure.reported == getattr(log, figure.name), f"{figure.name} is not what the log says")
    if checked.verdict in ("agrees", "explained"):
        hold(all(f.agrees for f in checked.figures if f.telling), "agrees with what differs")
    as_json(checked)
    for lang in ("en", "ja"):
        hold(report.headline(checked, lang).strip(), "no headline")
        list(report.causes(checked, lang))
        report.rows(checked, lang)
        report.said(checked, lang)
    return checked.verdict


def plausible(log: EngineLog) -> None:
    """Figures are numbers of the right sign."""
    for name, value in log.figures().items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            below_zero = re.match("available|activation|non_torch|graph|free", name)  # differences of free memory
            hold(abs(value) < 1e40 and (value >= 0 or below_zero), f"{name} is {value}")


def _whole(written: str) -> float:
    return int(written.replace(",", ""))


PLAINLY: Final[tuple[tuple[str, str, str, Callable[[str], float]], ...]] = (
    ("tokens_line", "cachesize:", r"GPU KV cache size: (\d{1,3}(?:,\d{3})*) tokens", _whole),
    (
        "max_concurrency",
        "concurrencyfor",
        r"Maximum concurrency for [\d,]+ tokens per request: (\d{1,6}\.\d\d)x",
        float,
    ),
    ("gpu_blocks", "blocks:", r"# (?:GPU|cuda) blocks: (\d{1,9}),", _whole),
    ("n_ctx_per_slot", "n_ctx_per_seq", r"n_ctx_per_seq\s+= (\d{1,9})$", _whole),
)
"""A figure, what every line of it has (white space left out), the line that states it, and how it is written there."""


def said_plainly(text: str, log: EngineLog) -> None:
    """Where only one line of a log speaks of a figure, the figure is what that line says, or it is not used at all."""
    run_together = re.sub(r"\s+", "", text)
    for name, words, line, read in PLAINLY:
        found = re.findall(line, text, re.MULTILINE)
        if len(found) == run_together.count(words) == 1:
            value = getattr(log, name)
            hold(value is None or value == read(found[0]), f"{name} is {value}, and the log says {found[0]}")
