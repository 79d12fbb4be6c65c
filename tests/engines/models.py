"""Hand-made layouts for tests of the engine's rules: shapes of real families, no config file read."""

from kvviz.core.architecture import Architecture
from kvviz.core.cache import FullAttention, IndexerKeys, LatentAttention, Layer, RecurrentState, SlidingWindow


def architecture(
    *layers: Layer,
    attention_heads: int | None = None,
    class_name: str = "TestForCausalLM",
    max_context_tokens: int | None = None,
    vocab_size: int | None = 151_936,
    hidden_size: int | None = 5_120,
) -> Architecture:
    return Architecture(
        model_type="test",
        class_name=class_name,
        layers=layers,
        dtype="bf16",
        dtype_where="$.torch_dtype",
        max_context_tokens=max_context_tokens,
        hidden_size=hidden_size,
        vocab_size=vocab_size,
        attention_heads=attention_heads,
        kv_scheme=None,
        facts=(),
        notes=(),
    )


QWEN3_32B = architecture(
    *((FullAttention(kv_heads=8, key_dim=128, value_dim=128),),) * 64, attention_heads=64, max_context_tokens=40_960
)
"""64 layers, 8 KV heads of 128: 256 KiB a token."""

_SLIDING = (SlidingWindow(kv_heads=16, key_dim=128, value_dim=128, window_tokens=1024),)
_GLOBAL = (FullAttention(kv_heads=16, key_dim=128, value_dim=128),)
GEMMA3_27B = architecture(
    *(_GLOBAL if (i + 1) % 6 == 0 else _SLIDING for i in range(62)), attention_heads=32, vocab_size=262_208
)
"""52 windows of 1,024 tokens and 10 full layers."""

_DELTA = (
    RecurrentState(
        mixer="gated_delta",
        conv_channels=2 * 128 * 16 + 128 * 32,
        conv_columns=3,
        heads=32,
        values_per_head=128 * 128,
    ),
)
_GATED = (FullAttention(kv_heads=2, key_dim=256, value_dim=256),)
QWEN3_NEXT = architecture(*(_GATED if (i + 1) % 4 == 0 else _DELTA for i in range(48)), attention_heads=16)
"""36 DeltaNet states and 12 full layers."""

_MAMBA = (
    RecurrentState(
        mixer="mamba2",
        conv_channels=64 * 64,
        conv_groups=8,
        conv_channels_per_group=2 * 128,
        conv_columns=3,
        heads=64,
        values_per_head=64 * 128,
        recurrent_dtype="fp32",
    ),
)
NEMOTRON3_NANO = architecture(
    *(_MAMBA,) * 23, *((FullAttention(kv_heads=2, key_dim=128, value_dim=128),),) * 6, attention_heads=32
)
"""23 Mamba-2 states and 6 full layers."""

_LATENT = LatentAttention(latent_dim=512, rope_dim=64)
DEEPSEEK_R1 = architecture(*((_LATENT,),) * 61, attention_heads=128)
DEEPSEEK_V32 = architecture(*((_LATENT, IndexerKeys(key_dim=128)),) * 61, attention_heads=128)
LLAMA31_70B = architecture(*((FullAttention(kv_heads=8, key_dim=128, value_dim=128),),) * 80, attention_heads=64)
MAMBA_ONLY = architecture(*(_MAMBA,) * 8)
