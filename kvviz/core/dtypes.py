"""Element types of a KV cache, apart from weight types: what one stored vector takes, scales included.

Sizes follow KV cache layouts as the engines store them: vLLM 0.33 (``v1/attention/backends/triton_attn.py:305-318``,
``utils/torch_utils.py:542-544``, ``mla/flashmla_sparse.py:79-122``), llama.cpp (``ggml/src/ggml-common.h:194-256``).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Optional

Packing = Literal["plain", "fp8_ds_mla", "nvfp4_ds_mla"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KvDtype:
    """How cached values are stored."""

    name: str
    """The name used in links, on the command line and on screen."""
    value_bytes: Fraction
    """Bytes per value, block scales included (q8_0: 34/32)."""
    vector_scale_bytes: int = 0
    """Bytes of scale beside each key vector and each value vector of one head."""
    block_values: int = 1
    """Values quantised together: the length of a head's vector must divide by it."""
    row_values: int = 1
    """Values quantised together along a token's row of all heads, whose length must divide by it."""
    packing: Packing = "plain"
    """A layout of its own for latent (MLA) caches."""
    packs_records: bool = False
    """Compressed caches (DeepSeek-V4) are packed, in records whose size the cache spec itself knows."""
    engines: frozenset[str] = frozenset()
    """Engines that offer it."""
    quantised: bool = False
    """True if it holds fewer bits than the model computes with."""
    of_values: Optional["KvDtype"] = None
    """Type of the values where theirs is another one than that of the keys (llama.cpp ``-ctv``)."""

    @property
    def values(self) -> "KvDtype":
        """What values are stored in."""
        return self.of_values or self

    def with_values(self, values: "KvDtype | None") -> "KvDtype":
        """Keys as here, values in ``values``."""
        if values is None or values == self:
            return self
        name = f"{self.name} / {values.name}"
        return replace(self, name=name, quantised=self.quantised or values.quantised, of_values=values)

    def vector_bytes(self, dim: int) -> Fraction:
        """Bytes of one key vector of ``dim`` values in one head; of a value vector by ``values``."""
        return dim * self.value_bytes + self.vector_scale_bytes if dim else Fraction(0)

    def latent_bytes(self, latent_dim: int, rope_dim: int) -> Fraction:
        """Bytes of one token's latent (MLA) vector: ``latent_dim`` compressed values and ``rope_dim`` rotary ones."""
        if self.packing == "fp8_ds_mla":  # fp8 latent, one fp32 scale per 128 values, rotary part in bf16
            return Fraction(latent_dim + 4 * (latent_dim // 128) + 2 * rope_dim)
        if self.packing == "nvfp4_ds_mla":  # 4-bit latent, one scale byte per 16 values, rotary part in fp8
            return Fraction(latent_dim, 2) + Fraction(latent_dim, 16) + rope_dim
        return self.vector_bytes(latent_dim + rope_dim)


def _vllm(name: str, value_bytes: Fraction | int, **more: object) -> KvDtype:
    return KvDtype(name=name, value_bytes=Fraction(value_bytes), engines=frozenset({"vllm"}), **more)  # type: ignore[arg-type]


def _ggml(name: str, bytes_per_32: int) -> KvDtype:
    return KvDtype(
        name=name,
        value_bytes=Fraction(bytes_per_32, 32),
        row_values=32,
        engines=frozenset({"llama.cpp"}),
        quantised=True,
    )


_EVERY_ENGINE = frozenset({"vllm", "sglang", "tensorrt-llm", "llama.cpp", "transformers"})

KV_DTYPES: dict[str, KvDtype] = {
    d.name: d
    for d in (
        KvDtype(name="bf16", value_bytes=Fraction(2), engines=_EVERY_ENGINE),
        KvDtype(name="fp16", value_bytes=Fraction(2), engines=_EVERY_ENGINE),
        KvDtype(name="fp32", value_bytes=Fraction(4), engines=frozenset({"vllm", "llama.cpp", "transformers"})),
        KvDtype(
            name="fp8",
            value_bytes=Fraction(1),
            engines=frozenset({"vllm", "sglang", "tensorrt-llm"}),
            quantised=True,
        ),
        _vllm("fp8_per_token_head", 1, vector_scale_bytes=4, quantised=True),
        _vllm("int8_per_token_head", 1, vector_scale_bytes=4, quantised=True),
        _vllm("int4_per_token_head", Fraction(1, 2), vector_scale_bytes=4, quantised=True),
        KvDtype(
            name="nvfp4",
            value_bytes=Fraction(9, 16),
            block_values=16,
            engines=frozenset({"vllm", "tensorrt-llm"}),
            quantised=True,
        ),
        _vllm("fp8_ds_mla", 1, packing="fp8_ds_mla", quantised=True),
        _vllm("nvfp4_ds_mla", Fraction(9, 16), packing="nvfp4_ds_mla", quantised=True),
        _ggml("q8_0", 34),
        _ggml("q5_1", 24),
        _ggml("q5_0", 22),
        _ggml("q4_1", 20),
        _ggml("q4_0", 18),
        _ggml("iq4_nl", 18),
    )
}

ALIASES = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "f16": "fp16",
    "float32": "fp32",
    "float": "fp32",
    "f32": "fp32",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8",
}
"""Other spellings that are accepted, and the name they are stored under."""
