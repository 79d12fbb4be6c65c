"""SGLang's budget: ``mem_fraction_static`` of the memory that is free before the weights are loaded, weights included.

``mem_cache/kv_cache_configurator.py:2990-3060``; what is free then is less than the card by what CUDA itself takes.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final

from kvviz.core.errors import ScenarioError
from kvviz.core.units import GIB, MIB
from kvviz.estimate import Estimate
from kvviz.text import Message
from kvviz.text import sglang as text

MULTIMODAL_BYTES: Final = 100 * MIB
"""``SGLANG_VLM_CACHE_SIZE_MB`` (``environ.py:1598``), for what an encoder makes of images or sound
(``mem_cache/kv_cache_configurator.py:202-219, 3034-3038``)."""
IMAGES_IN_GPU_BYTES: Final = 1_024 * MIB
"""``SGLANG_MM_FEATURE_CACHE_MB`` (``environ.py:1622``), which takes its place where images travel through GPU memory
(``arg_groups/model_overrides/qwen3_vl.py:91-106``)."""
_PLAIN_VISION: Final = (24, 1_024)
"""Layers and width of the encoder that others are compared with."""
_BEFORE_LOAD_BYTES: Final = 143_771 * MIB - round((124.23 + 14.98) * GIB)
"""An H200 of 143,771 MiB had 124.23 GiB free after 14.98 GiB of weights (sgl-project/sglang issue 6753)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """One GPU's memory, from what the driver reports to what is left for the pools. In bytes."""

    device_bytes: int
    before_load: Estimate
    """Taken before anything of the model is there."""
    slack: Estimate
    """What the fraction leaves for activations and CUDA graphs."""
    weights: Estimate
    """This rank's."""
    multimodal: Estimate
    """Kept for images and sound; 0 without."""

    @property
    def available_bytes(self) -> int:
        """What is left for tokens and states; negative where the weights alone do not fit."""
        taken = (self.before_load, self.slack, self.weights, self.multimodal)
        return self.device_bytes - sum(term.value_bytes for term in taken)


def pool(
    *,
    device_bytes: int,
    weights: Estimate,
    memory_fraction: float,
    multimodal: bool,
    images_in_gpu: bool = False,
    before_load_bytes: int | None = None,
) -> Pool:
    """The terms of the budget; ``before_load_bytes``: read in a log, in place of the estimate."""
    if not 0 < memory_fraction <= 1:
        values = {"name": "mem-fraction-static", "most": 1, "value": memory_fraction}
        raise ScenarioError(Message(text.FRACTION_OUT_OF_RANGE, values), field="memory_fraction")
    if before_load_bytes is None:
        before = Estimate(value_bytes=_BEFORE_LOAD_BYTES, basis="assumed", source=Message(text.BEFORE_LOAD))
    else:
        before = Estimate(value_bytes=before_load_bytes, basis="measured", source=Message(text.ENTERED))
    left = 1 - Fraction(str(memory_fraction))
    slack = Estimate(
        value_bytes=floor((device_bytes - before.value_bytes) * left),
        basis="exact",
        source=Message(text.SLACK, {"share": f"{float(left):.1%}"}),
    )
    kept = Estimate(value_bytes=MULTIMODAL_BYTES if multimodal else 0, basis="exact", source=Message(text.MULTIMODAL))
    if images_in_gpu:
        kept = Estimate(value_bytes=IMAGES_IN_GPU_BYTES, basis="exact", source=Message(text.MULTIMODAL_IN_GPU))
    return Pool(device_bytes=device_bytes, before_load=before, slack=slack, weights=weights, multimodal=kept)


def default_chunked_prefill_tokens(device_bytes: int) -> int:
    """``--chunked-prefill-size`` where it is not given (``arg_groups/memory_hook.py:86-172``)."""
    return _defaults(device_bytes, 1)[0]


def default_memory_fraction(
    device_bytes: int,
    *,
    tp: int = 1,
    pp: int = 1,
    dp_attention: int = 1,
    latent: bool = False,
    chunked_prefill_tokens: int | None = None,
    prefill_graphs: bool = True,
    vision: tuple[int, int] | None = None,
) -> float:
    """``--mem-fraction-static`` where it is not given, on an NVIDIA GPU with CUDA graphs on.

    ``arg_groups/memory_hook.py:281-462``, in MiB: a base, the activations of a prefill chunk, libraries of many GPUs,
    graphs of decoding and prefill; at least 10 GiB on large GPUs. What is left is scaled for a model that takes images
    by the size of their encoder, ``vision``: its layers and width.
    """
    default_chunk, batch = _defaults(device_bytes, tp)
    chunk = chunked_prefill_tokens or default_chunk
    total = device_bytes / MIB
    reserved = 512 + max(chunk, 2_048) * 1.5 + tp * pp / 8 * 1_024 + batch * 2
    if dp_attention > 1:
        reserved += batch * dp_attention * (4.5 if batch > 300 else 3)
    if pp == 1 and prefill_graphs:  # they are not made with pipeline stages
        reserved += 1_536 if latent else 8 * len(_prefill_graphs(chunk))
    if total > 60 * 1_024:
        reserved = max(reserved, 10 * 1_024)
    fraction = round((total - reserved) / total, 3)
    return fraction if vision is None else fraction * _left_by_vision(*vision)


def _left_by_vision(layers: int, width: int) -> float:
    """A twentieth less, and a tenth less again for each time an encoder is larger than a plain one, within bounds."""
    plain_layers, plain_width = _PLAIN_VISION
    size = layers * width**2 / (plain_layers * plain_width**2)
    return 0.95 * max(0.8, min(1.05, 1 - 0.1 * (size - 1)))


def _defaults(device_bytes: int, tp: int) -> tuple[int, int]:
    """Tokens of a prefill chunk, and the largest batch with a decode graph, by the size of the GPU."""
    few = tp < 4
    for below_gib, chunk, batch in (
        (20, 2_048, 8),
        (35, 4_096, 48 if few else 160),
        (60, 4_096, 32 if few else 160),
        (160, 8_192, 256 if few else 512),
    ):
        if device_bytes < below_gib * GIB:
            return chunk, batch
    return 16_384, 512


def _prefill_graphs(largest: int) -> list[int]:
    """Sizes of the prefill graphs (``arg_groups/cuda_graph_hook.py:480-497``)."""
    steps = (
        (4, 33, 4),
        (48, 257, 16),
        (288, 513, 32),
        (576, 1_025, 64),
        (1_280, 4_097, 256),
        (4_608, largest + 1, 512),
    )
    return [size for step in steps for size in range(*step) if size <= largest]
