"""The arithmetic over layer caches, whatever the model: linear, additive, saturating, scaling with the type."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from kvviz.core.cache import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    Layer,
    RecurrentState,
    SlidingWindow,
    content,
    layer_bytes,
    letter,
    token_bytes,
)
from kvviz.core.dtypes import KV_DTYPES, KvDtype

HEADS = st.integers(1, 16)
DIMS = st.sampled_from([32, 64, 128])
TOKENS = st.integers(0, 300_000)
SIZES = {"kv_heads": HEADS, "key_dim": DIMS, "value_dim": DIMS}
CACHES = st.one_of(
    st.builds(FullAttention, **SIZES),
    st.builds(SlidingWindow, **SIZES, window_tokens=st.integers(1, 5000), limits=st.booleans()),
    st.builds(ChunkedAttention, **SIZES, chunk_tokens=st.integers(1, 5000)),
    st.builds(CrossAttention, **SIZES, encoder_tokens=st.integers(1, 5000)),
    st.builds(LatentAttention, latent_dim=DIMS, rope_dim=DIMS),
    st.builds(IndexerKeys, key_dim=DIMS, packed=st.booleans()),
    st.builds(
        RecurrentState,
        mixer=st.just("mamba2"),
        conv_channels=st.integers(0, 512),
        conv_columns=st.integers(0, 4),
        heads=HEADS,
        values_per_head=st.integers(0, 512),
        recurrent_dtype=st.sampled_from(["model", "fp32"]),
    ),
    st.builds(
        CompressedAttention,
        head_dim=st.just(512),
        rope_dim=st.just(64),
        window_tokens=st.integers(1, 500),
        ratio=st.sampled_from([0, 4, 128]),
        index_key_dim=st.sampled_from([0, 128]),
    ),
)
LAYERS = st.lists(st.lists(CACHES, max_size=2).map(tuple), max_size=8).map(tuple)
DTYPES = st.sampled_from(list(KV_DTYPES.values()))
BF16, FP8 = KV_DTYPES["bf16"], KV_DTYPES["fp8"]


@given(LAYERS, TOKENS, TOKENS, DTYPES)
def test_more_tokens_never_take_less(layers: tuple[Layer, ...], a: int, b: int, dtype: KvDtype) -> None:
    terms = content(layers, dtype)
    assert terms.bytes_at(min(a, b)) <= terms.bytes_at(max(a, b))


@given(LAYERS, LAYERS, TOKENS, DTYPES)
def test_a_model_is_the_sum_of_its_layers(
    one: tuple[Layer, ...], two: tuple[Layer, ...], tokens: int, dtype: KvDtype
) -> None:
    whole = content(one + two, dtype).bytes_at(tokens)
    parts = sum((layer_bytes(layer, tokens, dtype) for layer in one + two), Fraction(0))
    assert parts == whole
    assert layer_bytes((), tokens, dtype) == 0


@given(st.builds(SlidingWindow, **SIZES, window_tokens=st.integers(1, 5000)), TOKENS)
def test_windows_saturate(window: SlidingWindow, tokens: int) -> None:
    at_the_limit = layer_bytes((window,), window.window_tokens, BF16)
    assert layer_bytes((window,), window.window_tokens + tokens, BF16) == at_the_limit
    assert layer_bytes((window,), min(tokens, window.window_tokens), BF16) <= at_the_limit


@given(st.builds(SlidingWindow, **SIZES, window_tokens=st.integers(1, 5000), limits=st.just(False)), TOKENS)
def test_a_window_beyond_the_model_is_full_attention(window: SlidingWindow, tokens: int) -> None:
    full = FullAttention(kv_heads=window.kv_heads, key_dim=window.key_dim, value_dim=window.value_dim)
    assert layer_bytes((window,), tokens, BF16) == layer_bytes((full,), tokens, BF16)
    assert letter((window,)) == letter((full,)) == "f"


@given(st.lists(st.builds(FullAttention, **SIZES) | st.builds(ChunkedAttention, **SIZES, chunk_tokens=HEADS)), TOKENS)
def test_fp8_halves_plain_attention(caches: list[FullAttention], tokens: int) -> None:
    layers = tuple((cache,) for cache in caches)
    assert 2 * content(layers, FP8).bytes_at(tokens) == content(layers, BF16).bytes_at(tokens)


@given(LAYERS)
def test_states_do_not_follow_the_cache_type(layers: tuple[Layer, ...]) -> None:
    assert content(layers, FP8).state_bytes == content(layers, KV_DTYPES["fp32"]).state_bytes


def test_an_encoders_cache_is_not_rounded_before_the_sum() -> None:
    """Three layers of 25.5 bytes are 76.5 bytes, whatever one layer alone rounds up to."""
    cross = CrossAttention(kv_heads=1, key_dim=24, value_dim=24, encoder_tokens=1)
    terms = content(((cross,),) * 3, KvDtype(name="q", value_bytes=Fraction(17, 32)))
    assert terms.cross_bytes == terms.bytes_at(7) == Fraction(153, 2)


def test_heads_are_counted_as_told() -> None:
    window = SlidingWindow(kv_heads=8, key_dim=64, value_dim=32, window_tokens=5, limits=False)
    assert token_bytes(window, BF16) == 8 * 96 * 2
    assert token_bytes(window, BF16, heads=2) == 2 * 96 * 2
    latent = LatentAttention(latent_dim=512, rope_dim=64)
    assert token_bytes(latent, BF16, heads=2) == token_bytes(latent, BF16) == 1_152


def test_states_follow_the_models_own_type() -> None:
    state = RecurrentState(mixer="kda", conv_channels=10, conv_columns=3, heads=2, values_per_head=8)
    assert content(((state,),), BF16).state_bytes == (10 * 3 + 2 * 8) * 2
    assert content(((replace(state, recurrent_dtype="fp32"),),), BF16).state_bytes == 10 * 3 * 2 + 2 * 8 * 4


def test_limits_are_one_entry_a_kind_and_length() -> None:
    heads = {"kv_heads": 1, "key_dim": 64, "value_dim": 64}
    layers: tuple[Layer, ...] = (
        (SlidingWindow(**heads, window_tokens=512),),
        (SlidingWindow(**heads, window_tokens=128),),
        (ChunkedAttention(**heads, chunk_tokens=128),),
        (SlidingWindow(**heads, window_tokens=128),),
    )
    limited = content(layers, BF16).limited
    assert [(m.limit_tokens, m.kind, m.bytes_per_token) for m in limited] == [
        (128, "chunk", 256),
        (128, "window", 512),
        (512, "window", 256),
    ]


def test_deepseek_v4_records_and_states() -> None:
    """584 bytes: 448 fp8 values, 64 rotary ones in bf16, 7 scales padded to 8; states in fp32."""
    sizes = {"head_dim": 512, "rope_dim": 64, "window_tokens": 128}
    window = CompressedAttention(**sizes, ratio=0)
    dense = CompressedAttention(**sizes, ratio=4, index_key_dim=128)
    sparse = CompressedAttention(**sizes, ratio=128)
    assert window.packed_record_bytes == 584
    # 15 scales are padded to 16.
    assert (
        CompressedAttention(head_dim=1_024, rope_dim=64, window_tokens=128, ratio=0).packed_record_bytes
        == 960 + 128 + 16
    )
    assert (window.state_bytes, dense.state_bytes, sparse.state_bytes) == (0, 65_536 + 16_384, 524_288)
    packed = replace(FP8, packs_records=True)
    assert content(((dense,),), packed).growing_bytes_per_token == Fraction(584 + 132, 4)
    assert content(((sparse,),), packed).growing_bytes_per_token == Fraction(584, 128)
    # Elsewhere they are rows of the cache's own type (llama.cpp)
    assert content(((dense,),), BF16).growing_bytes_per_token == Fraction(1_024 + 256, 4)
    assert content(((window,),), KV_DTYPES["q8_0"]).limited[0].bytes_per_token == 544
    assert [letter((cache,)) for cache in (window, dense, sparse)] == ["w", "H", "h"]
