"""Caches that an encoder or an image fills once per request: encoder-decoders and Llama 3.2 Vision."""

from kvviz.core.architecture.attention import Heads, layer_count, read_heads
from kvviz.core.architecture.defaults import class_defaults
from kvviz.core.architecture.fields import MAX_LAYERS, MAX_TOKENS, Fields
from kvviz.core.cache import CrossAttention, Layer
from kvviz.text import config as texts

T5_ENCODER_TOKENS = 512
"""What T5 was trained with; its files give no encoder length."""


def _decoder_layer(heads: Heads, encoder_tokens: int) -> Layer:
    """Its own growing cache, and the encoder's, fixed."""
    cross = CrossAttention(
        kv_heads=heads.kv_heads, key_dim=heads.key_dim, value_dim=heads.value_dim, encoder_tokens=encoder_tokens
    )
    return (heads.full(), cross)


def read_bart(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """BART and its family, and Whisper: sizes are ``d_model`` over the decoder's heads."""
    layers = layer_count(text, "decoder_layers")
    heads = text.need("decoder_attention_heads", term="heads", stand_in=0)
    width = text.need("d_model", "hidden_size", term="hidden_size", stand_in=0)
    where = text.named("d_model", "hidden_size")
    dim = text.divide("head_dim", width, heads, "d_model // decoder_attention_heads", where)
    tokens = text.need(
        "max_source_positions",
        "max_encoder_position_embeddings",
        "max_position_embeddings",
        term="encoder_tokens",
        high=MAX_TOKENS,
    )
    text.note("encoder-tokens-assumed", texts.ENCODER_TOKENS, tokens=f"{tokens:,}")
    return (_decoder_layer(Heads(kv_heads=heads, key_dim=dim, value_dim=dim), tokens),) * layers


def read_t5(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """T5 and its family: heads times ``d_kv``, not the hidden size."""
    layers = layer_count(text, "num_decoder_layers", "num_layers")
    heads = text.need("num_heads", term="heads")
    dim = text.need("d_kv", term="head_dim")
    tokens = text.find("n_positions", term="encoder_tokens", high=MAX_TOKENS) or text.derive(
        "encoder_tokens", T5_ENCODER_TOKENS, "the length T5 was trained with"
    )
    text.note("encoder-tokens-assumed", texts.ENCODER_TOKENS, tokens=f"{tokens:,}")
    return (_decoder_layer(Heads(kv_heads=heads, key_dim=dim, value_dim=dim), tokens),) * layers


def read_mllama(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """Llama 3.2 Vision: cross layers hold the image and nothing per text token."""
    layers = layer_count(text)
    cross_layers = text.numbers("cross_attention_layers", high=MAX_LAYERS)
    if cross_layers is None:
        text.missing("cross_attention_layers")
        return ()
    for index, number in enumerate(cross_layers):
        if number >= layers > 0:
            text.problem(texts.OUTSIDE_LAYERS, "cross_attention_layers", index, value=number, layers=layers)
    full = read_heads(text, ()).full
    image = CrossAttention(
        kv_heads=full.kv_heads, key_dim=full.key_dim, value_dim=full.value_dim, encoder_tokens=_image_tokens(root)
    )
    return tuple((image,) if i in cross_layers else (full,) for i in range(layers))


def _image_tokens(root: Fields) -> int:
    """Tokens of one image: its patches and one class token, in each of the tiles."""
    vision = root.part("vision_config", defaults=class_defaults("mllama_vision_model", nested=True))
    if vision is None:
        root.missing("vision_config")
        return 1
    image, patch = vision.need("image_size", high=2**16), vision.need("patch_size", high=2**16)
    tiles = vision.need("max_num_tiles", high=MAX_LAYERS)
    tokens = ((image // patch) ** 2 + 1) * tiles
    how = f"((image_size / patch_size)² + 1) * max_num_tiles = (({image} / {patch})² + 1) * {tiles}"
    vision.note("encoder-tokens-assumed", texts.ONE_IMAGE, tokens=f"{tokens:,}")
    return vision.derive("encoder_tokens", tokens, how)
