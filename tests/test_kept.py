"""What a layer keeps while tokens arrive adds up to what the core says it takes."""

from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz import catalogue
from kvviz.core.cache import (
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    LatentAttention,
    Layer,
    LayerCache,
    RecurrentState,
    SlidingWindow,
    content,
    layer_bytes,
)
from kvviz.core.dtypes import KV_DTYPES
from kvviz.kept import EXAMPLE_TOKENS, MOST_STEPS, Lane, breaks_even_tokens, example, of_model, parts
from kvviz.scenario import Scenario
from kvviz.sizing import size

BF16 = KV_DTYPES["bf16"]
HEADS = {"kv_heads": 8, "key_dim": 128, "value_dim": 128}
TOKEN = 8 * 256 * 2


@cache
def every_layer() -> tuple[Layer, ...]:
    """Each once, of all bundled models."""
    return tuple({layer: None for model in catalogue.models() for layer in catalogue.load(model).architecture.layers})


KEPT: list[tuple[LayerCache, int, range, int]] = [
    (FullAttention(**HEADS), 20, range(20), 20 * TOKEN),
    (FullAttention(**HEADS), 0, range(0), 0),
    (SlidingWindow(**HEADS, window_tokens=8), 5, range(5), 5 * TOKEN),
    (SlidingWindow(**HEADS, window_tokens=8), 20, range(12, 20), 8 * TOKEN),
    (SlidingWindow(**HEADS, window_tokens=8, limits=False), 20, range(20), 20 * TOKEN),
    (ChunkedAttention(**HEADS, chunk_tokens=8), 8, range(8), 8 * TOKEN),
    (ChunkedAttention(**HEADS, chunk_tokens=8), 9, range(8, 9), 8 * TOKEN),
    (ChunkedAttention(**HEADS, chunk_tokens=8), 20, range(16, 20), 8 * TOKEN),
    (LatentAttention(latent_dim=512, rope_dim=64), 20, range(20), 20 * 576 * 2),
    (CrossAttention(**HEADS, encoder_tokens=8), 20, range(0), 8 * TOKEN),
    (RecurrentState(mixer="linear", heads=2, values_per_head=100, recurrent_dtype="fp32"), 20, range(0), 2 * 100 * 4),
]


@pytest.mark.parametrize(("cache", "tokens", "kept", "count"), KEPT)
def test_which_tokens_are_kept(cache: LayerCache, tokens: int, kept: range, count: int) -> None:
    (part,) = parts(cache, tokens, BF16)
    assert part.kept == kept
    assert part.part_bytes == count


@given(layer=st.deferred(lambda: st.sampled_from(every_layer())), tokens=st.integers(0, 300_000))
def test_the_parts_of_any_layer_are_its_bytes(layer: Layer, tokens: int) -> None:
    lane = Lane(layer=layer, letter="", layers=1)
    found = lane.parts(tokens, BF16)
    assert sum((part.part_bytes for part in found), Fraction(0)) == layer_bytes(layer, tokens, BF16)
    for part in found:
        assert part.kept.stop in (0, tokens)
        if part.kind == "window":  # a chunk's bytes are those of its fullest moment
            assert part.part_bytes == len(part.kept) * layer_bytes(layer, 1, BF16) or len(found) > 1


@pytest.mark.parametrize("model", ["google/gemma-3-27b-it", "Qwen/Qwen3-Next-80B-A3B-Instruct", "tiiuae/falcon-40b"])
def test_a_model_fills_up_to_its_content(model: str) -> None:
    architecture = catalogue.load(model).architecture
    sizing = size(architecture, Scenario(model=model, input=3_000, output=1_001), weights=None)
    filling = of_model(sizing)
    assert filling.steps[0] == 0
    assert filling.steps[-1] == 4_001
    assert len(filling.steps) == MOST_STEPS + 1
    assert sum(lane.layers for lane in filling.lanes) == sum(bool(layer) for layer in architecture.layers)
    for tokens in filling.steps:
        assert filling.model_bytes(tokens) == content(architecture.layers, sizing.kv_dtype).bytes_at(tokens)
        lanes = sum((lane.layers * lane.bytes_at(tokens, filling.dtype) for lane in filling.lanes), Fraction(0))
        assert lanes == filling.model_bytes(tokens)


def test_the_example_has_every_kind_with_limits_that_a_page_can_show() -> None:
    filling = example()
    assert [lane.letter for lane in filling.lanes] == list("flwcsx")
    assert filling.steps == tuple(range(EXAMPLE_TOKENS + 1))
    assert [lane.like_tokens for lane in filling.lanes] == [0, 0, 1_024, 8_192, 0, 6_404]
    assert {lane.like for lane in filling.lanes} <= set(catalogue.models())
    full, latent, window, chunk, state, cross = (lane.bytes_at(EXAMPLE_TOKENS, BF16) for lane in filling.lanes)
    assert latent < full
    assert window == chunk == cross == full / 4
    tokens = breaks_even_tokens(filling)
    assert tokens is not None
    assert (tokens - 1) * TOKEN < state <= tokens * TOKEN
