"""What Transformers 5.24 holds: nothing beforehand, tensors that grow, one more copy of them while a step appends.

Lines are those of ``transformers/cache_utils.py``. Bytes are those of the storages behind the cache's tensors, as they
were measured on small random models; the allocator's own rounding is not counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import lcm
from typing import Final, Literal

from kvviz.core.architecture import Architecture, Note
from kvviz.core.cache import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    IndexerKeys,
    LatentAttention,
    Layer,
    LayerCache,
    RecurrentState,
    SlidingWindow,
)
from kvviz.core.dtypes import KV_DTYPES, KvDtype
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.identity import ByIdentity
from kvviz.core.search import longest
from kvviz.estimate import Estimate
from kvviz.text import Message
from kvviz.text import transformers as text

__all__ = [
    "VERSION",
    "Latent",
    "Pool",
    "TransformersPlan",
    "Way",
    "launch",
    "not_run",
    "offers",
    "paged_blocks",
    "paged_pool_bytes",
    "plan",
    "pool",
    "tp_sizes",
    "usable_dtypes",
]

VERSION: Final = "5.24"

Way = Literal["dynamic", "full-length", "static", "quantized", "fp8"]
"""``DynamicCache(config)``, which ``generate`` makes by itself; ``DynamicCache()`` without a config, which knows no
windows; ``StaticCache`` of the longest length; ``QuantizedCache`` of whole groups and an unquantised rest; the one of
its back ends that needs neither (fp8)."""
Latent = Literal["stored", "expanded"]
"""What is kept of latent attention: the latent itself, or full heads as version 4.57 did
(``models/deepseek_v3/modeling_deepseek_v3.py:421-424`` there)."""

_RESIDUAL_TOKENS: Final = 128
"""Tokens at which the unquantised rest is quantised too (lines 786-865)."""
_GROUP_VALUES: Final = 64
_SCALES_BYTES: Final = 2 * 4
"""fp8: one fp32 scale for all keys of a layer and one for all its values, whatever the batch (lines 1009-1066)."""
_PAGE_ALIGNMENT_BYTES: Final = 128
_SPARE_SECTORS: Final = 2
_BITS: Final = (4, 2)
_MAX_TP: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What one layer, or one part of it, keeps on one GPU."""

    key_bytes: int = 0
    """Bytes of a token's keys."""
    value_bytes: int = 0
    """Bytes of a token's values."""
    limit_tokens: int = 0
    """Tokens of a window or chunk; 0: every token is kept."""
    quantised_bytes: int = 0
    """Bytes of a token's keys and values once they are quantised; 0 where they never are."""
    fixed_bytes: int = 0
    """Whatever the length: states, keys and values of an encoder."""
    once_bytes: int = 0
    """Whatever the length and the batch: scales."""

    @property
    def token_bytes(self) -> int:
        """Keys and values of a token, not quantised."""
        return self.key_bytes + self.value_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformersPlan:
    """What requests of a batch hold, each padded to the longest."""

    kv_dtype: KvDtype
    way: Way
    tp: int
    pp: int
    """GPUs that layers are shared out to, in order."""
    bits: int
    """Bits a quantised value takes; 0 where none is."""
    prompt_tokens: int
    """Tokens of the prompt, handled in one step; 0: not counted."""
    stages: tuple[tuple[Kept, ...], ...]

    @property
    def gpus(self) -> int:
        """GPUs of one model."""
        return self.tp * self.pp

    def request_bytes(self, tokens: int) -> int:
        """Most that one request of ``tokens`` takes at any moment, on the fullest GPU."""
        return max(self._request(tokens, stage) for stage in self.stages)

    def held_bytes(self, tokens: int) -> int:
        """What it occupies between two steps, on the fullest GPU."""
        return max(sum(self._held(tokens, kept) for kept in stage) for stage in self.stages)

    def batch_bytes(self, batch: int, tokens: int, *, prompt_tokens: int) -> int:
        """What a whole batch occupies between two steps once each is ``tokens`` long, on the fullest GPU.

        The first ``prompt_tokens`` came in one step. Of a static cache, ``tokens`` is what it was made for.
        """
        return max(sum(self._batch(batch, tokens, prompt_tokens, kept) for kept in stage) for stage in self.stages)

    def append_bytes(self, tokens: int) -> int:
        """What is taken besides, for a moment, by the step that makes it ``tokens`` long: one layer's old tensors."""
        return max(max((self._second_copy(tokens, kept) for kept in stage), default=0) for stage in self.stages)

    def after_prompt_bytes(self, tokens: int) -> int:
        """What it occupies after a prompt of so many tokens in one step, until the next one.

        Windows are views of tensors that still hold the whole prompt (lines 238-247).
        """
        return max(sum(self._after_prompt(tokens, kept) for kept in stage) for stage in self.stages)

    def per_gpu_request_bytes(self, tokens: int) -> tuple[int, ...]:
        """``request_bytes`` on each GPU, pipeline-major."""
        return tuple(self._request(tokens, stage) for stage in self.stages for _ in range(self.tp))

    def shared_bytes(self, tokens: int) -> int:
        """Every row of a batch has tensors of its own, whatever it begins with."""
        return 0

    def need_bytes(self, requests: int, tokens: int, shared_tokens: int = 0) -> int:
        """Memory beside weights for a batch of so many requests of ``tokens`` tokens, on the fullest GPU."""
        return requests * self.request_bytes(tokens)

    def fit(self, pool_bytes: int, tokens: int, shared_tokens: int = 0) -> int:
        """Largest batch of such requests in so many bytes on each GPU."""
        return max(0, pool_bytes) // self.request_bytes(tokens)

    def fit_held(self, pool_bytes: int, tokens: int, shared_tokens: int = 0) -> int:
        """The same in steady decode: nothing more is counted at admission."""
        return self.fit(pool_bytes, tokens, shared_tokens)

    def longest_in(self, pool_bytes: int) -> int | None:
        """Longest single request in so many bytes; None where no length is too long, 0 where none fits."""
        return longest(lambda tokens: self.request_bytes(tokens) <= pool_bytes)

    def _batch(self, batch: int, tokens: int, prompt_tokens: int, kept: Kept) -> int:
        if tokens == prompt_tokens:
            each = self._after_prompt(tokens, kept)
        elif kept.quantised_bytes:  # the rest starts anew each time it is quantised
            rest = 0 if self.way == "fp8" else (tokens - prompt_tokens) % _RESIDUAL_TOKENS
            each = self._quantised(tokens, rest, kept)
        else:
            each = self._held(tokens, kept)
        return batch * (each - kept.once_bytes) + kept.once_bytes

    def _request(self, tokens: int, stage: tuple[Kept, ...]) -> int:
        held = sum(self._held(tokens, kept) for kept in stage)
        prompt = sum(self._after_prompt(min(self.prompt_tokens, tokens), kept) for kept in stage)
        return max(held + max((self._second_copy(tokens, kept) for kept in stage), default=0), prompt)

    def _held(self, tokens: int, kept: Kept) -> int:
        """A window of W keeps W - 1 tokens of a tensor of W; a static one has W (lines 222-247, 424-460, 539-546)."""
        if kept.quantised_bytes:  # the rest is longest just before it is quantised; the prompt is at once
            rest = 0 if self.way == "fp8" else min(tokens - 1, _RESIDUAL_TOKENS - 1)
            return self._quantised(tokens, rest, kept)
        count = min(tokens, kept.limit_tokens) if kept.limit_tokens else tokens
        return count * kept.token_bytes + kept.fixed_bytes

    def _after_prompt(self, tokens: int, kept: Kept) -> int:
        if kept.quantised_bytes:
            return self._quantised(tokens, 0, kept)
        if self.way == "static":
            return self._held(tokens, kept)
        return tokens * kept.token_bytes + kept.fixed_bytes

    def _quantised(self, tokens: int, rest_tokens: int, kept: Kept) -> int:
        return (tokens - rest_tokens) * kept.quantised_bytes + rest_tokens * kept.token_bytes + kept.once_bytes

    def _second_copy(self, tokens: int, kept: Kept) -> int:
        """Beside what is held after the step."""
        if self.way == "fp8" and kept.quantised_bytes:  # old tensors, keys read back, then values, twice in fp32
            old = (tokens - 1) * kept.quantised_bytes
            values = kept.value_bytes / self.kv_dtype.value_bytes
            return int(old + tokens * (kept.key_bytes + 2 * 4 * values))
        if kept.quantised_bytes:  # read back in full, then joined with the rest and the new token (lines 842-846)
            return (2 * tokens - 1) * kept.token_bytes
        if self.way == "static":  # a full window moves up by one through a copy (lines 572-590)
            return kept.limit_tokens * kept.token_bytes if 0 < kept.limit_tokens < tokens else 0
        before = tokens - 1
        if kept.limit_tokens:  # both are joined before the old ones are let go (lines 235-240)
            return min(before, kept.limit_tokens) * kept.token_bytes
        return before * max(kept.key_bytes, kept.value_bytes)  # keys first, then values (lines 136-137)


def plan(
    architecture: Architecture,
    *,
    kv_dtype: KvDtype,
    way: Way = "dynamic",
    tp: int = 1,
    pp: int = 1,
    bits: int = 4,
    prompt_tokens: int = 0,
    latent: Latent = "stored",
) -> TransformersPlan:
    """The plan of one model on ``tp`` x ``pp`` GPUs.

    ``pp`` stands for ``device_map="auto"``, which fills one GPU after the other by weight; here layers are taken to be
    alike. Raises ScenarioError for settings that cannot be, and KvvizError where ``not_run``.
    """
    if missing := not_run(architecture):
        raise KvvizError(missing.message, code=missing.code)
    return _plan(ByIdentity(architecture), kv_dtype, way, tp, pp, bits, prompt_tokens, latent)


@lru_cache(maxsize=1024)
def _plan(
    key: ByIdentity[Architecture],
    kv_dtype: KvDtype,
    way: Way,
    tp: int,
    pp: int,
    bits: int,
    prompt_tokens: int,
    latent: Latent,
) -> TransformersPlan:
    architecture = key.value
    if not offers(kv_dtype):
        values = {"dtype": kv_dtype.name, "choices": ", ".join(usable_dtypes())}
        raise ScenarioError(Message(text.DTYPE_OF_ANOTHER_ENGINE, values), field="kv_dtype")
    _check_tp(architecture, tp)
    layers = architecture.layers
    if not 1 <= pp <= len(layers):
        raise ScenarioError(Message(text.PP_TOO_LARGE, {"pp": pp, "layers": len(layers)}), field="pp")
    quantised = {"quantized": bits, "fp8": 8}.get(way, 0)
    if quantised:
        _check_full_attention(layers)
    if way == "quantized":
        _check_groups(layers, bits, tp)
    latents = {c for layer in layers for c in layer if isinstance(c, LatentAttention)}
    if latent == "expanded" and not all(c.heads and c.head_key_dim for c in latents):
        raise ScenarioError(Message(text.EXPANSION_UNKNOWN), field="latent")
    each = -(-len(layers) // pp)
    return TransformersPlan(
        kv_dtype=kv_dtype,
        way=way,
        tp=tp,
        pp=pp,
        bits=quantised,
        prompt_tokens=prompt_tokens,
        stages=tuple(
            tuple(_kept(layers[start : start + each], kv_dtype, way, tp, quantised, latent))
            for start in range(0, each * pp, each)
        ),
    )


def _kept(layers: tuple[Layer, ...], dtype: KvDtype, way: Way, tp: int, bits: int, latent: Latent) -> Iterable[Kept]:
    for cache in (cache for layer in layers for cache in layer):
        match cache:
            case RecurrentState():
                yield Kept(fixed_bytes=_state_bytes(cache, dtype))
            case CrossAttention():
                keys, values = _row_values(cache, tp, latent)
                yield Kept(fixed_bytes=cache.encoder_tokens * int((keys + values) * dtype.value_bytes))
            case _:
                keys, values = _row_values(cache, tp, latent)
                yield Kept(
                    key_bytes=int(keys * dtype.value_bytes),
                    value_bytes=int(values * dtype.value_bytes),
                    limit_tokens=0 if way == "full-length" else _limit(cache),
                    quantised_bytes=_quantised_bytes(keys + values, bits, way, dtype) if bits else 0,
                    once_bytes=_SCALES_BYTES if way == "fp8" else 0,
                )


def _row_values(cache: LayerCache, tp: int, latent: Latent) -> tuple[int, int]:
    """Values of a token's keys and of its values on one GPU.

    Latent and rotary part are kept in place of keys and values (``models/deepseek_v3/modeling_deepseek_v3.py:459``);
    indexer keys are in the model's type (line 316).
    """
    match cache:
        case LatentAttention() if latent == "expanded":
            return cache.heads // tp * cache.head_key_dim, cache.heads // tp * cache.head_value_dim
        case LatentAttention():
            return cache.latent_dim, cache.rope_dim
        case IndexerKeys():
            return cache.key_dim, 0
        case FullAttention() | SlidingWindow() | ChunkedAttention() | CrossAttention():
            return cache.kv_heads // tp * cache.key_dim, cache.kv_heads // tp * cache.value_dim
        case _:
            return 0, 0


def _limit(cache: LayerCache) -> int:
    match cache:
        case SlidingWindow():
            return cache.window_tokens
        case ChunkedAttention():
            return cache.chunk_tokens
        case _:
            return 0


def _state_bytes(state: RecurrentState, dtype: KvDtype) -> int:
    """All columns of the convolution's kernel, in the model's type; the recurrent part in fp32 (lines 1210-1298).

    Only lightning attention keeps its state in the model's type (``models/minimax/modeling_minimax.py``).
    """
    channels = state.conv_channels + state.conv_groups * state.conv_channels_per_group
    columns = state.conv_columns + 1 if channels else 0
    each = int(dtype.value_bytes) if state.mixer == "linear" else 4
    return channels * columns * int(dtype.value_bytes) + state.heads * state.values_per_head * each


def _quantised_bytes(values: int, bits: int, way: Way, dtype: KvDtype) -> int:
    """Packed values, and a scale and a shift in the model's type for each group (lines 786-950, quanto 0.2.7)."""
    if way == "fp8":
        return values
    return values * bits // 8 + values // _GROUP_VALUES * 2 * int(dtype.value_bytes)


def not_run(architecture: Architecture) -> Note | None:
    """Why there is no plan for a model: caches of its own kind, or none."""
    caches = [cache for layer in architecture.layers for cache in layer]
    values = {"model": architecture.class_name or architecture.model_type, "version": VERSION}
    if not caches:
        return Note(code="transformers-no-cache", message=Message(text.NO_CACHE, values))
    own = any(isinstance(c, CompressedAttention) for c in caches) or any(
        isinstance(c, RecurrentState) and c.mixer in ("rwkv", "local_filter") for c in caches
    )
    return Note(code="transformers-not-worked-out", message=Message(text.NOT_WORKED_OUT, values)) if own else None


def offers(kv_dtype: KvDtype) -> bool:
    """Whether Transformers keeps a cache in this type: those that a model computes in."""
    return "transformers" in kv_dtype.engines


def usable_dtypes() -> tuple[str, ...]:
    """Names of those types."""
    return tuple(d.name for d in KV_DTYPES.values() if offers(d))


def tp_sizes(architecture: Architecture, limit: int = _MAX_TP) -> tuple[int, ...]:
    """Tensor-parallel sizes up to ``limit`` that divide all heads; none above 1 with states."""
    return tuple(tp for tp in range(1, limit + 1) if _runs_on(architecture, tp))


def _runs_on(architecture: Architecture, tp: int) -> bool:
    if tp < 1 or (architecture.attention_heads is not None and architecture.attention_heads % tp):
        return False
    for cache in {cache for layer in architecture.layers for cache in layer}:
        match cache:
            case FullAttention() | SlidingWindow() | ChunkedAttention() | CrossAttention():
                if cache.kv_heads % tp:
                    return False
            case RecurrentState():
                if tp > 1:
                    return False
            case _:
                pass
    return True


def _check_tp(architecture: Architecture, tp: int) -> None:
    if _runs_on(architecture, tp):
        return
    if any(isinstance(c, RecurrentState) for layer in architecture.layers for c in layer):
        raise ScenarioError(Message(text.TP_WITH_STATES, {"tp": tp}), field="tp")
    sizes = ", ".join(str(s) for s in tp_sizes(architecture))
    raise ScenarioError(Message(text.TP_DOES_NOT_DIVIDE, {"tp": tp, "sizes": sizes}), field="tp")


def _check_full_attention(layers: tuple[Layer, ...]) -> None:
    """Lines 2235-2245, for the kinds of layers."""
    caches = {cache for layer in layers for cache in layer}
    if not all(layers) or not all(isinstance(c, FullAttention | LatentAttention) for c in caches):
        raise ScenarioError(Message(text.QUANTISED_ONLY_FULL), field="way")


def _check_groups(layers: tuple[Layer, ...], bits: int, tp: int) -> None:
    """A group must not end inside a token."""
    if bits not in _BITS:
        values = {"bits": bits, "choices": ", ".join(str(b) for b in _BITS)}
        raise ScenarioError(Message(text.QUANTISED_BITS, values), field="bits")
    rows = {row for layer in layers for cache in layer for row in _row_values(cache, tp, "stored")}
    if uneven := [row for row in rows if row % _GROUP_VALUES]:
        values = {"group": _GROUP_VALUES, "row": min(uneven)}
        raise ScenarioError(Message(text.QUANTISED_GROUPS, values), field="way")


def paged_blocks(tokens: int, requests: int, *, block_tokens: int) -> int:
    """Blocks of all layers that so many requests of ``tokens`` tokens take of the pool of continuous batching."""
    return requests * -(-tokens // block_tokens)


def paged_pool_bytes(architecture: Architecture, *, kv_dtype: KvDtype, blocks: int, block_tokens: int) -> int:
    """The one tensor of continuous batching: whole sectors, and two that are never handed out, for padding.

    ``generation/continuous_batching/cache.py:158-213``. Raises ScenarioError for layers that are not all alike and full
    attention, which are shared out by other rules.
    """
    kinds = set(architecture.layers)
    only = next(iter(kinds)) if len(kinds) == 1 else ()
    # Keys and values have as much room as each other.
    if len(only) != 1 or not isinstance(only[0], FullAttention) or only[0].key_dim != only[0].value_dim:
        raise ScenarioError(Message(text.PAGED_ONLY_ALIKE), field="way")
    block = block_tokens * plan(architecture, kv_dtype=kv_dtype).held_bytes(1)
    sector = lcm(block, _PAGE_ALIGNMENT_BYTES)
    return (-(-blocks * block // sector) + _SPARE_SECTORS) * sector


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """One GPU's memory beside weights. In bytes."""

    device_bytes: int
    weights: Estimate
    """This rank's."""
    other: Estimate | None
    """CUDA context, libraries, activations; None: not known, and not taken off."""

    @property
    def available_bytes(self) -> int:
        """What caches may grow to; negative where the weights alone do not fit."""
        return self.device_bytes - self.weights.value_bytes - (self.other.value_bytes if self.other else 0)


def pool(*, device_bytes: int, weights: Estimate, other_bytes: int | None = None) -> Pool:
    """Nothing is set aside beforehand. ``other_bytes``: measured, as ``torch.cuda.mem_get_info`` shows it."""
    other = None
    if other_bytes is not None:
        other = Estimate(value_bytes=other_bytes, basis="measured", source=Message(text.ENTERED))
    return Pool(device_bytes=device_bytes, weights=weights, other=other)


def launch(of: TransformersPlan, *, model: str, max_new_tokens: int) -> str:
    """A Python program of a few lines that generates with this cache."""
    lines = ["from transformers import AutoModelForCausalLM, AutoTokenizer", ""]
    if of.tp > 1:
        lines.insert(0, f"# torchrun --nproc-per-node {of.tp} FILE.py")
    cache = {
        "dynamic": "",
        "full-length": ", cache=DynamicCache()",
        "static": ', cache_implementation="static"',
        "fp8": ', cache_implementation="quantized", cache_config={"backend": "fp8"}',
        "quantized": f', cache_implementation="quantized", cache_config={{"backend": "quanto", "nbits": {of.bits}}}',
    }[of.way]
    if of.way == "full-length":
        lines[-2] += ", DynamicCache"
    spread = ', tp_plan="auto"' if of.tp > 1 else ', device_map="auto"'
    dtype = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}[of.kv_dtype.name]
    lines += [
        f"tokenizer = AutoTokenizer.from_pretrained({model!r})",
        f'model = AutoModelForCausalLM.from_pretrained({model!r}, dtype="{dtype}"{spread})',
        'inputs = tokenizer("Hello", return_tensors="pt").to(model.device)',
        f"output = model.generate(**inputs, max_new_tokens={max_new_tokens}{cache})",
        "print(tokenizer.decode(output[0]))",
    ]
    return "\n".join(lines) + "\n"
