"""Which cache types vLLM 0.33 has an attention kernel for on a GPU; sizes play no part here."""

from collections.abc import Iterable
from typing import Final

from kvviz.core.cache import ChunkedAttention, CrossAttention, FullAttention, LatentAttention, LayerCache, SlidingWindow

_FLASHINFER_DIMS: Final = frozenset({64, 128, 256, 512})
"""Head sizes it has kernels for (``v1/attention/backends/flashinfer.py:690-694``)."""
WITHOUT_BF16: Final = frozenset({"volta", "turing"})
"""Generations below compute capability 8.0 (``platforms/cuda.py:257-265``)."""
WITHOUT_NATIVE_FP8: Final = frozenset({"volta", "turing", "ampere", "cdna2", "rdna3"})
_WITHOUT_FLASHINFER: Final = frozenset({"volta", "turing", "cdna2", "cdna3", "cdna4", "rdna3", "rdna4"})


def has_kernel(caches: Iterable[LayerCache], dtype: str, generation: str) -> bool:
    """Whether layers of these kinds run with a cache of this type on a GPU of this generation.

    Triton reads fp8 from compute capability 8.9 on only, latents included (``triton_attn.py:511-525``,
    ``mla/triton_mla.py:203-213``); before that FlashInfer does, from 8.0 on and for its head sizes. It alone reads
    nvfp4, of 64 values a head on data-centre Blackwell only (``flashinfer.py:650-690``). bf16 needs 8.0
    (``triton_attn.py:525-531``).
    """
    kinds = set(caches)
    heads = [c for c in kinds if isinstance(c, FullAttention | SlidingWindow | ChunkedAttention | CrossAttention)]
    flashinfer = (
        generation not in _WITHOUT_FLASHINFER
        and not any(isinstance(c, LatentAttention) for c in kinds)
        and all(c.key_dim == c.value_dim and c.key_dim in _FLASHINFER_DIMS for c in heads)
    )
    match dtype:
        case "fp8":
            return generation not in WITHOUT_NATIVE_FP8 or flashinfer
        case "fp8_per_token_head":
            return generation not in WITHOUT_NATIVE_FP8
        case "bf16":
            return generation not in WITHOUT_BF16
        case "nvfp4":
            return flashinfer and (generation == "blackwell" or all(c.key_dim != 64 for c in heads))
        case _:
            return True
