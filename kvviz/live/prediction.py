"""What a Transformers cache will hold after every step of a run: ``kvviz.engines.transformers`` at each length."""

from dataclasses import dataclass
from math import lcm
from typing import Final

from kvviz.core.architecture import Architecture
from kvviz.core.cache import CrossAttention, FullAttention, LatentAttention
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import ScenarioError
from kvviz.engines import transformers
from kvviz.live.request import CacheKind
from kvviz.text import Message
from kvviz.text import live as text
from kvviz.text import transformers as transformers_text

PAGE_TOKENS: Final = 16
"""Tokens in a block of the paged pool."""
_ALIGNMENT_BYTES: Final = 128
_SPARE_SECTORS: Final = 2
"""Never handed out: padding is written there (``continuous_batching/cache.py:167-217``)."""
_FP8_SCALES_BYTES: Final = 8
"""One fp32 scale for all keys of a layer and one for all values (``cache_utils.py:1026-1031``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The cache of one run."""

    plan: transformers.TransformersPlan | None
    """None: nothing is kept."""
    cache: CacheKind
    prompt_tokens: int
    longest_tokens: int
    """That a static cache or a pool is made for."""
    batch: int

    def bytes_at(self, tokens: int) -> int:
        """Bytes of the tensors that the cache keeps once it holds so many tokens of every sequence."""
        if self.plan is None:
            return 0
        kept = [k for stage in self.plan.stages for k in stage]
        match self.cache:
            case "static":
                return self.batch * self.plan.held_bytes(self.longest_tokens)
            case "paged":
                block = PAGE_TOKENS * self.plan.held_bytes(1)
                sector = lcm(block, _ALIGNMENT_BYTES)
                sectors = -(-paged_blocks(self.longest_tokens, self.batch) * block // sector)
                return (sectors + _SPARE_SECTORS) * sector
            case "fp8":
                per_value = int(self.plan.kv_dtype.value_bytes)
                values = sum(k.token_bytes for k in kept) // per_value
                return self.batch * tokens * values + _FP8_SCALES_BYTES * len(kept)
            case "int4" | "int2":
                # The prompt is quantised at once; what follows waits until it is long enough (lines 824-865).
                rest = (tokens - self.prompt_tokens) % transformers.RESIDUAL_TOKENS
                each = sum((tokens - rest) * k.quantised_bytes + rest * k.token_bytes for k in kept)
                return self.batch * each
            case _:
                after_prompt = tokens == self.prompt_tokens
                held = self.plan.after_prompt_bytes(tokens) if after_prompt else self.plan.held_bytes(tokens)
                return self.batch * held


def predict(
    architecture: Architecture,
    *,
    cache: CacheKind,
    dtype: str,
    prompt_tokens: int,
    longest_tokens: int,
    batch: int,
) -> Prediction:
    """The prediction of one run. Raises KvvizError where the cache is not worked out, or not of this kind."""
    plan = None
    if cache != "none":
        if cache == "fp8" and not _full_attention_alone(architecture):
            raise ScenarioError(Message(transformers_text.QUANTISED_ONLY_FULL), field="cache")
        if cache == "paged" and not _alike(architecture):
            raise ScenarioError(Message(text.PAGED_ONLY_ALIKE), field="cache")
        bits = {"int4": 4, "int2": 2}.get(cache)
        plan = transformers.plan(
            architecture,
            kv_dtype=KV_DTYPES[dtype],
            way="static" if cache == "static" else "quantized" if bits else "dynamic",
            bits=bits or 4,
        )
    return Prediction(plan=plan, cache=cache, prompt_tokens=prompt_tokens, longest_tokens=longest_tokens, batch=batch)


def paged_blocks(tokens: int, batch: int) -> int:
    """Blocks of a pool for so many sequences of ``tokens`` tokens."""
    return batch * -(-tokens // PAGE_TOKENS)


def encoder_tokens(architecture: Architecture) -> int:
    """Length of the encoder's output whose keys and values a decoder keeps; 0 where there is none."""
    lengths = (c.encoder_tokens for layer in architecture.layers for c in layer if isinstance(c, CrossAttention))
    return next(lengths, 0)


def _full_attention_alone(architecture: Architecture) -> bool:
    return all(layer for layer in architecture.layers) and all(
        isinstance(cache, FullAttention | LatentAttention) for layer in architecture.layers for cache in layer
    )


def _alike(architecture: Architecture) -> bool:
    """Blocks of one size, with as much room for values as for keys."""
    kinds = set(architecture.layers)
    only = next(iter(kinds)) if len(kinds) == 1 else ()
    return len(only) == 1 and isinstance(only[0], FullAttention) and only[0].key_dim == only[0].value_dim
