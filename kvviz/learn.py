"""What the Learn page states: every number worked out by the core, and the scenario that shows it.

Figures of other people are constants, each with its source, and in this one place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal

from kvviz import catalogue
from kvviz.budgets import Budget
from kvviz.computations import Computations
from kvviz.core.cache import FullAttention, content
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.units import format_bytes, format_count, format_gib, format_terms
from kvviz.levers import crossover_requests, speed_floor
from kvviz.live import QUOTED
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import Message
from kvviz.verdict import short_name

Page = Literal["", "review", "blocks", "prefixes", "live", "heads", "compare", "learn"]
"""A page by its path; the empty one is Sizing."""

# --- figures of others -----------------------------------------------------------------------------------------------

PAPER_BATCHES: Final = {"vllm": 30.4, "oracle": 13.6, "pow2": 9.8, "max": 7.0}
"""Requests in a batch on average, OPT-13B on ShareGPT: PagedAttention paper (SOSP '23), section 6.2, figure 13a."""
PAPER_THROUGHPUT: Final = (2, 4)
"""Times the throughput at the same latency: PagedAttention paper (SOSP '23), abstract."""
CLAIM_GB: Final = (20, 40)
"""GB a request of Llama 3 70B at 32K tokens is widely said to take."""
CLAIM_TOKENS: Final = 2_000
CLAIM_SECONDS: Final = (1, 60)
"""Seconds with a cache, and seconds that it takes longer than without one, in a claim about ``CLAIM_TOKENS`` tokens."""
LLAMA_3_CONTEXT: Final = 8_192
"""Longest context of Llama 3 70B: its model card on the Hub (``max_position_embeddings``)."""
ROUND_PARAMETERS: Final = 30 * 10**9
"""A model of "30B" parameters, as people round it."""

# --- the scenarios ---------------------------------------------------------------------------------------------------

_WORKED = Scenario()
_BF16 = _WORKED.with_changes(model="Qwen/Qwen3-32B")
_LLAMA = Scenario(
    model="meta-llama/Llama-3.1-70B-Instruct", gpu="h100-80gb", gpus=4, input=31_744, output=1_024, sequences=1
)
_GEMMA = Scenario(model="google/gemma-3-27b-it", gpu="h200", input=131_072 - 1_024, output=1_024, sequences=1)
_SHORT = 1_024
"""Tokens at which a model with windows is no longer than its window."""
_LATENT = Scenario(model="deepseek-ai/DeepSeek-R1", gpu="h200", gpus=8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Where a statement can be seen."""

    page: Page = ""
    scenario: Scenario
    more: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The page's own parameters in the link."""


SCENES: Final[Mapping[str, Scene]] = MappingProxyType(
    {
        "worked": Scene(scenario=_WORKED),
        "reserved": Scene(scenario=_WORKED.with_changes(sequences=5)),
        "sixteen": Scene(scenario=_WORKED.with_changes(sequences=16)),
        "long": Scene(scenario=_WORKED.with_changes(input=16_384 - 1_024, gpu="b300")),
        "windows": Scene(scenario=_GEMMA),
        "windows-short": Scene(scenario=_GEMMA.with_changes(input=_SHORT // 2, output=_SHORT // 2)),
        "users": Scene(scenario=_WORKED.with_changes(users=200, answer_s=15.0, seconds_between=45.0)),
        "rag": Scene(scenario=_WORKED.with_changes(passages=10, passage_tokens=512)),
        "fp8": Scene(scenario=_WORKED.with_changes(kv_dtype="fp8")),
        "int4": Scene(scenario=_WORKED.with_changes(weight_dtype="int4")),
        "cap": Scene(scenario=_WORKED.with_changes(input=1_024)),
        "full-card": Scene(scenario=_BF16),
        "full-card-fp8": Scene(scenario=_BF16.with_changes(weight_dtype="fp8")),
        "roomy": Scene(scenario=_BF16.with_changes(gpu="h200", gpus=2)),
        "roomy-fp8": Scene(scenario=_BF16.with_changes(gpu="h200", gpus=2, weight_dtype="fp8")),
        "heads": Scene(page="heads", scenario=_WORKED),
        "latent": Scene(scenario=_LATENT),
        "blocks": Scene(page="blocks", scenario=_WORKED),
        "prefixes": Scene(page="prefixes", scenario=_WORKED, more={"prefix_try": "date-first"}),
        "live": Scene(page="live", scenario=_WORKED),
        "claim": Scene(page="review", scenario=_LLAMA, more={"claim": f"{CLAIM_GB[0]}–{CLAIM_GB[1]} GB"}),
        "split": Scene(scenario=_BF16.with_changes(gpus=2)),
        "generation": Scene(scenario=_WORKED.with_changes(input=1_024, output=15_360)),
        "chat": Scene(scenario=_WORKED.with_changes(input=15_360, shared_tokens=2_000)),
        "serving": Scene(scenario=_WORKED.with_changes(users=200)),
        "qwen2.5": Scene(scenario=_WORKED.with_changes(model="Qwen/Qwen2.5-7B-Instruct", input=2_048)),
        "small-card": Scene(
            scenario=_WORKED.with_changes(
                model="Qwen/Qwen2.5-7B-Instruct", gpu="own-8gib", memory_fraction=0.7, weight_dtype="int4"
            )
        ),
        "llama-2": Scene(page="heads", scenario=_WORKED.with_changes(model="meta-llama/Llama-2-7b-chat-hf")),
        "llama-3": Scene(page="heads", scenario=_WORKED.with_changes(model="meta-llama/Llama-3.1-8B-Instruct")),
        "short": Scene(scenario=_WORKED.with_changes(input=256, output=256)),
        "latent-dp": Scene(scenario=_LATENT.with_changes(attention_dp="on", tp=1)),
    }
)
"""By the name that the page's statements use."""

SHORT_TEXT: Final = Computations(tokens=8)
LONG_TEXT: Final = Computations(tokens=QUOTED.tokens)

QUANTISED_CACHE: Final = """\
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(
    name, dtype="auto"
)
inputs = tokenizer("A KV cache is", return_tensors="pt")
output = model.generate(
    **inputs,
    max_new_tokens=64,
    cache_implementation="quantized",
    cache_config={"backend": "quanto", "nbits": 4},
)
print(tokenizer.decode(output[0]))
"""
"""The cache in 4 bits, in Transformers 5 with the package optimum-quanto. A test runs it."""


@lru_cache(maxsize=64)
def sized(scenario: Scenario) -> Sizing:
    """The answer to a bundled model's scenario."""
    return resolve(scenario).size()


@lru_cache(maxsize=1)
def facts() -> Mapping[str, str | Message]:
    """The numbers of all statements by the placeholder that shows them; the same in every language."""
    return MappingProxyType(
        {**_counts(), **_worked(), **_bundled(), **_load(), **_levers(), **_claims(), **_questions()}
    )


def _counts() -> dict[str, str]:
    """Computations with and without a cache."""
    short, long = SHORT_TEXT, LONG_TEXT
    return {
        "short": format_count(short.tokens),
        "short_without": format_count(short.without),
        "short_with": format_count(short.cached),
        "long": format_count(long.tokens),
        "long_without": format_count(long.without),
        "long_with": format_count(long.cached),
        "fewer": f"{long.times_fewer:,.0f}",
        "long_reads_without": format_count(long.reads_without),
        "long_reads_causal": format_count(long.reads_without_causal),
        "quoted_with": f"{QUOTED.with_s:g}",
        "quoted_without": f"{QUOTED.without_s:g}",
        "quoted_times": f"{QUOTED.times_faster:.1f}",
    }


def _worked() -> dict[str, str]:
    """The worked example, in both units."""
    one, long = sized(_WORKED), sized(SCENES["long"].scenario)
    cache = _full(one)
    heads, hidden = one.architecture.attention_heads or 0, one.architecture.hidden_size or 0
    layers, per_token = len(one.architecture.layers), int(one.content.growing_bytes_per_token)
    value_bytes = one.kv_dtype.value_bytes
    weights = _weights(one)
    budget = long.budget
    assert budget is not None  # noqa: S101 - the scene names a GPU and a model whose weights are counted
    return {
        "model": one.scenario.model.rpartition("/")[2],
        "layers": format_count(layers),
        "kv_heads": format_count(cache.kv_heads),
        "query_heads": format_count(heads),
        "head_dim": format_count(cache.key_dim),
        "value_bytes": f"{float(value_bytes):g}",
        "per_token_bytes": format_count(per_token),
        "per_token": format_bytes(per_token),
        "tokens": format_count(one.tokens),
        "long_tokens": format_count(long.tokens),
        "requests": format_count(one.scenario.requests),
        **_both("one", one.content_bytes),
        "sixteen": format_count(SCENES["sixteen"].scenario.requests),
        **_both("sixteen", SCENES["sixteen"].scenario.requests * one.content_bytes),
        **_both("all", one.scenario.requests * one.content_bytes),
        **_both("all_long", long.scenario.requests * long.content_bytes),
        **_both("round_weights", ROUND_PARAMETERS),
        "b300_fit": format_count(long.max_sequences_counted or 0),
        "b300": short_name(budget.device.name),
        "b300_weights": format_bytes(_weights(long)),
        "weights": f"{format_gib(weights)} GiB",
        "crossover": format_count(crossover_requests(one) or 0),
        "hidden": format_count(hidden),
        "quotient": format_count(hidden // heads),
        "too_small": f"{cache.key_dim / (hidden // heads):g}",
    }


def _bundled() -> dict[str, str]:
    """Counts over all bundled configs."""
    read = [catalogue.load(model).architecture for model in catalogue.models()]
    differ = bounded = windows_or_states = 0
    shares: set[int] = set()
    for one in read:
        head = next(
            (
                f.value
                for f in one.facts
                if (f.term, f.origin) == ("head_dim", "field") and f.where.endswith(".head_dim")
            ),
            0,
        )
        if head and one.hidden_size and one.attention_heads and head != one.hidden_size // one.attention_heads:
            differ += 1
        caches = {cache for layer in one.layers for cache in layer}
        whole = content((tuple(caches),), KV_DTYPES["bf16"])
        bounded += bool(whole.limited or whole.state_bytes)
        windows_or_states += bool(whole.state_bytes or any(limit.kind != "chunk" for limit in whole.limited))
        full = {cache.kv_heads for cache in caches if isinstance(cache, FullAttention)}
        shares |= {one.attention_heads // heads for heads in full if heads > 1 and one.attention_heads}
    gemma = sized(_GEMMA)
    short = gemma.content.bytes_at(_SHORT)
    return {
        "models": format_count(len(read)),
        "differ": format_count(differ),
        "bounded": format_count(bounded),
        "windows_or_states": format_count(windows_or_states),
        "deepest_share": format_count(max(shares)),
        "window_model": gemma.scenario.model.rpartition("/")[2],
        "window_short_tokens": format_count(_SHORT),
        "window_short": format_bytes(short),
        "window_long_tokens": format_count(gemma.tokens),
        "window_long": format_bytes(gemma.content_bytes),
        "window_times": f"{float(gemma.content_bytes / short):.0f}",
        "window_length_times": format_count(gemma.tokens // _SHORT),
    }


def _load() -> dict[str, str | Message]:
    """Peak, users, retrieval, what is reserved, and the floor."""
    one, rag, users = sized(_WORKED), sized(SCENES["rag"].scenario), SCENES["users"].scenario.from_users
    budget, floor = one.budget, speed_floor(one)
    assert budget is not None  # noqa: S101 - as above
    assert users is not None  # noqa: S101 - the scene has users
    assert floor is not None  # noqa: S101 - some fit
    return {
        "gpu": short_name(budget.device.name),
        "seen": _seen(budget),
        "card": f"{budget.device.memory_bytes / 2**30:.2f} GiB",
        "hidden_part": f"{budget.hidden.value_bytes / 2**30:.2f} GiB",
        "memory_fraction": f"{budget.memory_fraction:g}",
        "engine_share": format_bytes(budget.requested_bytes),
        "pool": format_bytes(budget.pool_bytes),
        "fit": format_count(one.max_sequences_counted or 0),
        "input": format_count(one.scenario.input),
        "output": format_count(one.scenario.output),
        "users_formula": users.formula,
        "users_requests": format_count(users.requests),
        "passages": format_count(rag.scenario.passages),
        "passage_tokens": format_count(rag.scenario.passage_tokens),
        "rag_input": format_count(rag.scenario.input_tokens),
        "rag_fit": format_count(rag.max_sequences_counted or 0),
        "floor": floor.sentence,
    }


def _levers() -> dict[str, str]:
    """What each lever does to the worked example."""
    one, fp8, int4, cap, latent = (
        sized(_WORKED),
        *(sized(SCENES[name].scenario) for name in ("fp8", "int4", "cap", "latent")),
    )
    heads, cache, per_token = one.architecture.attention_heads or 0, _full(one), one.content.growing_bytes_per_token
    each = per_token / cache.kv_heads
    roomy, roomy_fp8, tight, tight_fp8 = (
        sized(SCENES[name].scenario).max_sequences_counted or 0
        for name in ("roomy", "roomy-fp8", "full-card", "full-card-fp8")
    )
    bf16, as_fp8 = sized(SCENES["full-card"].scenario), sized(SCENES["full-card-fp8"].scenario)
    batches = PAPER_BATCHES
    return {
        "share": format_count(heads // cache.kv_heads),
        "mha": format_bytes(each * heads),
        "mqa": format_bytes(each),
        "latent_model": latent.scenario.model.rpartition("/")[2],
        "latent_bytes": format_count(int(latent.content.growing_bytes_per_token)),
        "fp8_one": format_bytes(fp8.content_bytes),
        "fp8_fit": format_count(fp8.max_sequences_counted or 0),
        "cap_tokens": format_count(cap.tokens),
        "cap_one": format_bytes(cap.content_bytes),
        "cap_fit": format_count(cap.max_sequences_counted or 0),
        "weights_change": format_count(int4.content_bytes - one.content_bytes),
        "int4_fit": format_count(int4.max_sequences_counted or 0),
        "roomy_fit": format_count(roomy),
        "roomy_fp8_fit": format_count(roomy_fp8),
        "roomy_more": f"{(roomy_fp8 - roomy) / roomy:.0%}",
        "tight_fit": format_count(tight),
        "tight_fp8_fit": format_count(tight_fp8),
        "tight_pool": _pool(bf16),
        "tight_fp8_pool": _pool(as_fp8),
        "tight_weights": format_bytes(_weights(bf16)),
        "paper_low": format_count(PAPER_THROUGHPUT[0]),
        "paper_high": format_count(PAPER_THROUGHPUT[1]),
        "paper_vllm": f"{batches['vllm']:.1f}",
        "paper_oracle": f"{batches['oracle']:.1f}",
        "paper_pow2": f"{batches['pow2']:.1f}",
        "paper_max": f"{batches['max']:.1f}",
        "block": "16" if one.plan is None else format_count(getattr(one.plan, "block_tokens", 16)),
    }


def _claims() -> dict[str, str]:
    """Llama 3 70B at 32K, rightly and as it may have been reckoned."""
    llama = sized(_LLAMA)
    layers, heads, cache = llama.architecture.layers, llama.architecture.attention_heads or 0, _full(llama)
    per_token = llama.content.growing_bytes_per_token
    every_head = per_token * heads / cache.kv_heads
    return {
        "claim_low": format_count(CLAIM_GB[0]),
        "claim_high": format_count(CLAIM_GB[1]),
        "llama_per_token": format_count(int(per_token)),
        "llama_heads": format_count(cache.kv_heads),
        "llama_tokens": format_count(llama.tokens),
        **_both("llama", llama.content_bytes),
        "llama_round_tokens": format_count(32_000),
        "llama_round_gib": format_bytes(llama.content.bytes_at(32_000)),
        "llama_fp32_gb": _gb(content(layers, KV_DTYPES["fp32"]).bytes_at(llama.tokens)),
        "llama_mha_short_tokens": format_count(8_192),
        "llama_mha_short_gb": _gb(every_head * 8_192),
        "llama_mha_long_tokens": format_count(16_384),
        "llama_mha_long_gb": _gb(every_head * 16_384),
        "llama_3_context": format_count(LLAMA_3_CONTEXT),
        "llama_31_context": format_count(llama.architecture.max_context_tokens or 0),
        "claim_tokens": format_count(CLAIM_TOKENS),
        "claim_times": f"{CLAIM_SECONDS[1] / CLAIM_SECONDS[0]:.0f}",
        "claim_with": format_count(CLAIM_SECONDS[0]),
    }


def _questions() -> dict[str, str]:
    """What the questions people ask come to."""
    qwen, old, new, card, short, copied, apart, split = (
        sized(SCENES[name].scenario)
        for name in ("qwen2.5", "llama-2", "llama-3", "small-card", "short", "latent", "latent-dp", "split")
    )
    cache, hidden = _full(qwen), qwen.architecture.hidden_size or 0
    layers = len(qwen.architecture.layers)
    wrong = 2 * hidden * layers * 8
    budget = card.budget
    assert budget is not None  # noqa: S101 - as above
    old_rate, new_rate = old.content.growing_bytes_per_token, new.content.growing_bytes_per_token
    return {
        "qwen_hidden": format_count(hidden),
        "qwen_layers": format_count(layers),
        "qwen_heads": format_count(cache.kv_heads),
        "qwen_dim": format_count(cache.key_dim),
        "qwen_per_token": format_count(int(qwen.content.growing_bytes_per_token)),
        "qwen_tokens": format_count(qwen.tokens),
        "qwen_one": format_bytes(qwen.content_bytes),
        "qwen_wrong": format_count(wrong),
        "qwen_times": f"{float(wrong / qwen.content.growing_bytes_per_token):.0f}",
        "old_rate": format_bytes(old_rate),
        "new_rate": format_bytes(new_rate),
        "old_times": f"{float(old_rate / new_rate):g}",
        "card_total": format_bytes(budget.device.memory_bytes),
        "card_fraction": f"{card.scenario.memory_fraction:g}",
        "card_seen": _seen(budget),
        "card_share": format_bytes(budget.requested_bytes),
        "card_weights": format_bytes(budget.weights.value_bytes),
        "short_tokens": format_count(short.tokens),
        "short_fit": format_count(short.max_sequences_counted or 0),
        "copies": format_count(copied.scenario.gpus),
        "copied_fit": format_count(copied.max_sequences_counted or 0),
        "apart_fit": format_count(apart.max_sequences_counted or 0),
        "split_gpus": format_count(split.scenario.gpus),
        "split_one": format_bytes(split.request_bytes or 0),
    }


def _full(sizing: Sizing) -> FullAttention:
    """The layer that the model repeats."""
    return next(c for layer in sizing.architecture.layers for c in layer if isinstance(c, FullAttention))


def _weights(sizing: Sizing) -> int:
    """Of the whole model."""
    estimate = resolve(sizing.scenario).weights
    return 0 if estimate is None else estimate.value_bytes


def _seen(budget: Budget) -> str:
    """What programs see of the GPU, with the digits from which the engine's share of it comes out."""
    seen, share = budget.device_bytes - budget.hidden.value_bytes, Fraction(str(budget.memory_fraction))
    return format_terms(budget.requested_bytes, seen, times=share)[0]


def _pool(sizing: Sizing) -> str:
    budget = sizing.budget
    assert budget is not None  # noqa: S101 - as above
    return format_bytes(budget.pool_bytes)


def _both(name: str, count: int) -> dict[str, str]:
    """In decimal GB, as sources write it, and in GiB."""
    return {f"{name}_gb": _gb(count), f"{name}_gib": format_bytes(count)}


def _gb(count: int | Fraction) -> str:
    """Three significant digits: ``1.07 GB``, ``215 GB``."""
    return f"{float(count) / 10**9:.3g} GB"
