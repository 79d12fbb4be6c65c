"""What a Transformers cache will hold after every step of a run: ``kvviz.engines.transformers`` at each length."""

from collections.abc import Callable
from typing import Final

from kvviz.core.architecture import Architecture
from kvviz.core.cache import CrossAttention
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import ScenarioError
from kvviz.engines import transformers
from kvviz.live.request import CacheKind

PAGE_TOKENS: Final = 16
"""Tokens in a block of the paged pool that a run makes."""
_WAYS: Final[dict[CacheKind, transformers.Way]] = {
    "static": "static",
    "fp8": "fp8",
    "int4": "quantized",
    "int2": "quantized",
}


def predict(
    architecture: Architecture,
    *,
    cache: CacheKind,
    dtype: str,
    prompt_tokens: int,
    longest_tokens: int,
    batch: int,
) -> Callable[[int], int]:
    """Bytes of the tensors that the cache of one run keeps once it holds so many tokens of every sequence.

    ``longest_tokens``: what a static cache or a pool is made for. Raises KvvizError where the cache is not worked out,
    ScenarioError where it is not for such a model.
    """
    kv_dtype = KV_DTYPES[dtype]
    if cache == "none":
        return lambda _: 0
    try:
        if cache == "paged":
            blocks = transformers.paged_blocks(longest_tokens, batch, block_tokens=PAGE_TOKENS)
            pool = transformers.paged_pool_bytes(
                architecture, kv_dtype=kv_dtype, blocks=blocks, block_tokens=PAGE_TOKENS
            )
            return lambda _: pool
        bits = {"int4": 4, "int2": 2}.get(cache, 0)
        plan = transformers.plan(architecture, kv_dtype=kv_dtype, way=_WAYS.get(cache, "dynamic"), bits=bits)
    except ScenarioError as error:
        raise ScenarioError(error.message, field="cache") from None
    if cache == "static":
        reserved = plan.batch_bytes(batch, longest_tokens, prompt_tokens=longest_tokens)
        return lambda _: reserved
    return lambda tokens: plan.batch_bytes(batch, tokens, prompt_tokens=prompt_tokens)


def encoder_tokens(architecture: Architecture) -> int:
    """Length of the encoder's output whose keys and values a decoder keeps; 0 where there is none."""
    lengths = (c.encoder_tokens for layer in architecture.layers for c in layer if isinstance(c, CrossAttention))
    return next(lengths, 0)
