"""What llama.cpp allocates for a cache: everything at start, in cells of one token, layer by layer.

Read in ggml-org/llama.cpp at 0c1e57098. One server holds the cells of all its slots: ``-c`` tokens shared by all of
them (unified), or divided into equal parts (``-np N`` alone).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
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
    RecurrentState,
    SlidingWindow,
    state_values,
)
from kvviz.core.dtypes import KV_DTYPES, KvDtype
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.identity import ByIdentity
from kvviz.core.search import largest, longest
from kvviz.core.units import GIB
from kvviz.engines.llama_cpp_models import keeps_cross, keeps_windows, not_run
from kvviz.estimate import Estimate
from kvviz.text import Message
from kvviz.text import llama_cpp as text

__all__ = [
    "DEFAULT_DTYPE",
    "DEFAULT_SLOTS",
    "DEFAULT_UBATCH_TOKENS",
    "MAX_SLOTS",
    "VERSION",
    "Latent",
    "LlamaCppPlan",
    "Memory",
    "Share",
    "launch",
    "not_run",
    "notes",
    "offers",
    "plan",
    "pool",
    "usable_dtypes",
]

VERSION: Final = "0c1e57098"
DEFAULT_DTYPE: Final = KV_DTYPES["fp16"]
"""Whatever the model's own type is (``common/common.h``, ``cache_type_k``)."""
DEFAULT_SLOTS: Final = 4
"""``llama-server`` without ``-np``, then with one unified cache (``tools/server/server.cpp:156-160``)."""
DEFAULT_UBATCH_TOKENS: Final = 512
CELL_PAD: Final = 256
"""Cells are rounded up to this (``src/llama-context.cpp:290-305``, ``src/llama-kv-cache-iswa.cpp:73``)."""
MAX_SLOTS: Final = 256
"""``LLAMA_MAX_SEQ`` (``src/llama-cparams.h:8``)."""
STATE_VALUE_BYTES: Final = 4
"""States are F32 for every model (``src/llama-model.cpp:2483-2484``)."""
MARGIN_BYTES: Final = GIB
"""``--fit-target`` where it is not given (``common/common.h``)."""

Latent = Literal["latent", "latent+values", "expanded"]
"""How a latent (MLA) cache is kept: today one row of keys; in builds around 5,600 (spring of 2025) values beside it;
before that, and with ``-mla 0`` of ik_llama.cpp, every head's keys and values in full."""

_CACHE_FLAGS: Final[Mapping[str, str]] = {"fp16": "f16", "fp32": "f32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What the layers on one device store."""

    cell_bytes: int
    """Rows of layers that keep every token, a cell."""
    windows: tuple[tuple[int, int], ...]
    """(window in tokens, bytes a cell) of windows that are kept as such."""
    own_windows: tuple[tuple[int, int], ...]
    """The same of DeepSeek-V4, whose slots never share cells."""
    records: tuple[tuple[int, int], ...]
    """(tokens a record, bytes a record) of its compressed layers."""
    state_bytes: int
    """Recurrent, convolution and compressor states of one slot."""
    fixed_bytes: int
    """Cross attention: one image, whatever the slots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaCppPlan:
    """The cells of one server. ``-c`` and the slots follow from what it is asked for."""

    kv_dtype: KvDtype
    """Type of the keys, and of indexer keys."""
    v_dtype: KvDtype
    """Type of the values."""
    gpus: int
    """GPUs the layers are shared out over, whole layers each."""
    unified: bool
    """Slots draw on one pool of cells; otherwise each has its own part."""
    ubatch_tokens: int
    """Tokens computed at once, for which a window has cells besides."""
    swa_full: bool
    """Windows are kept at full length."""
    flash_attention: bool
    rollback_states: int
    """Copies of each state for taking back speculated tokens."""
    pad_tokens: int
    """What cells are rounded up to."""
    split: tuple[int, ...]
    """Parts of the layers for each GPU; empty: equal ones."""
    gpu_layers: int | None
    """Layers on the GPUs, the output layer included; None: all."""
    shares: tuple[Share, ...]
    """One a GPU."""
    host: Share
    """What stays on the CPU."""

    def context_tokens(self, requests: int, tokens: int) -> int:
        """``-c`` with which so many slots hold ``tokens`` each."""
        slot = _pad(tokens, self.pad_tokens)
        if not self.unified:
            return requests * slot
        if any(share.own_windows for share in self.shares):  # each slot has all of -c (llama-kv-cache-dsv4.cpp)
            return slot
        return _pad(requests * tokens, self.pad_tokens)

    def per_gpu_allocated_bytes(self, context_tokens: int, slots: int) -> tuple[int, ...]:
        """What a start with ``-c`` and so many slots allocates on each GPU."""
        return tuple(self._allocated(share, context_tokens, slots) for share in self.shares)

    def host_allocated_bytes(self, context_tokens: int, slots: int) -> int:
        """The same in the computer's own memory, where not all layers are on GPUs."""
        return self._allocated(self.host, context_tokens, slots)

    def allocated_bytes(self, context_tokens: int, slots: int) -> int:
        """The whole cache: what logs add up to, over all devices."""
        return sum(self.per_gpu_allocated_bytes(context_tokens, slots)) + self.host_allocated_bytes(
            context_tokens, slots
        )

    def allocated_state_bytes(self, slots: int) -> int:
        """What of it are states: logs have a line of its own for them ("RS buffer size")."""
        states = sum(share.state_bytes for share in (*self.shares, self.host))
        return max(1, slots) * (1 + self.rollback_states) * states

    def _allocated(self, share: Share, context_tokens: int, slots: int) -> int:
        slots = max(1, slots)
        streams = 1 if self.unified else slots
        sharing = slots if self.unified else 1
        cells = _pad(_pad(context_tokens, self.pad_tokens) // streams, self.pad_tokens)

        def window_cells(window: int, sharing: int) -> int:
            limited = min(cells, window * sharing + self.ubatch_tokens)
            return cells if self.swa_full else _pad(limited, self.pad_tokens)

        shared = share.cell_bytes * cells + sum(b * window_cells(w, sharing) for w, b in share.windows)
        own = sum(b * window_cells(w, 1) for w, b in share.own_windows)
        own += sum(b * _pad(-(-cells // ratio), self.pad_tokens) for ratio, b in share.records)
        states = (1 + self.rollback_states) * share.state_bytes
        return streams * shared + slots * (own + states) + share.fixed_bytes

    def request_bytes(self, tokens: int) -> int:
        """What a server for one request of ``tokens`` allocates on the fullest GPU."""
        return self.need_bytes(1, tokens)

    def per_gpu_request_bytes(self, tokens: int) -> tuple[int, ...]:
        """The same for each GPU."""
        return self.per_gpu_allocated_bytes(self.context_tokens(1, tokens), 1)

    def held_bytes(self, tokens: int) -> int:
        """What of that a request of ``tokens`` fills while it decodes, on the fullest GPU."""
        return max(self._held(share, tokens) for share in self.shares)

    def _held(self, share: Share, tokens: int) -> int:
        windows = share.windows + share.own_windows
        kept = sum(b * (tokens if self.swa_full else min(tokens, w)) for w, b in windows)
        records = sum(b * (tokens // ratio) for ratio, b in share.records)
        states = (1 + self.rollback_states) * share.state_bytes
        return share.cell_bytes * tokens + kept + records + states + share.fixed_bytes

    def shared_bytes(self, tokens: int) -> int:
        """Slots have cells of their own, whatever they begin with."""
        return 0

    def need_bytes(self, requests: int, tokens: int, shared_tokens: int = 0) -> int:
        """What so many slots of ``tokens`` take on the fullest GPU; nothing is shared."""
        if not requests:
            return 0
        return max(self.per_gpu_allocated_bytes(self.context_tokens(requests, tokens), requests))

    def fit(self, pool_bytes: int, tokens: int, shared_tokens: int = 0) -> int:
        """Most slots of ``tokens`` for which ``pool_bytes`` are enough on every GPU; a server has 256 at most."""
        return largest(lambda requests: self.need_bytes(requests, tokens) <= pool_bytes, MAX_SLOTS)

    def fit_held(self, pool_bytes: int, tokens: int, shared_tokens: int = 0) -> int:
        """The same in steady decode: nothing more is counted at admission."""
        return self.fit(pool_bytes, tokens, shared_tokens)

    def longest_in(self, pool_bytes: int) -> int | None:
        """Longest request that a server with one slot holds; None where no length is too long, 0 where not one token
        fits."""
        return longest(lambda tokens: self.need_bytes(1, tokens) <= pool_bytes)


def plan(
    architecture: Architecture,
    *,
    kv_dtype: KvDtype = DEFAULT_DTYPE,
    v_dtype: KvDtype | None = None,
    unified: bool = False,
    ubatch_tokens: int = DEFAULT_UBATCH_TOKENS,
    flash_attention: bool = True,
    swa_full: bool = False,
    rollback_states: int = 0,
    latent: Latent = "latent",
    pad_tokens: int = CELL_PAD,
    gpus: int = 1,
    split: tuple[int, ...] = (),
    gpu_layers: int | None = None,
    forks: bool = False,
) -> LlamaCppPlan:
    """The cells of a model. ``v_dtype``: as the keys where not given; ``split``: ``-ts``, equal where not given.

    ``latent`` and ``pad_tokens`` (32 in older builds) are for logs of other versions, ``forks`` for models that only
    another build runs. Raises ScenarioError for what would not start, and KvvizError for models that ``not_run`` names.
    """
    if not forks and (missing := not_run(architecture)):
        raise KvvizError(missing.message, code=missing.code)
    return _plan(
        ByIdentity(architecture),
        kv_dtype,
        v_dtype or kv_dtype,
        unified,
        ubatch_tokens,
        flash_attention,
        swa_full,
        rollback_states,
        latent,
        pad_tokens,
        gpus,
        split,
        gpu_layers,
    )


@lru_cache(maxsize=1024)
def _plan(
    key: ByIdentity[Architecture],
    kv_dtype: KvDtype,
    v_dtype: KvDtype,
    unified: bool,
    ubatch_tokens: int,
    flash_attention: bool,
    swa_full: bool,
    rollback_states: int,
    latent: Latent,
    pad_tokens: int,
    gpus: int,
    split: tuple[int, ...],
    gpu_layers: int | None,
) -> LlamaCppPlan:
    architecture = key.value
    _check_dtypes(architecture, kv_dtype, v_dtype, flash_attention, latent)
    rows = _Rows(
        k=kv_dtype,
        v=v_dtype,
        latent=latent,
        windows=keeps_windows(architecture),
        cross=keeps_cross(architecture),
        padded_value_row=0 if flash_attention else max(_value_rows(architecture, latent), default=0),
    )
    places = _places(len(architecture.layers), gpus, split, gpu_layers)

    def on(place: int | None) -> Share:
        return rows.share([layer for layer, p in zip(architecture.layers, places, strict=True) if p == place])

    return LlamaCppPlan(
        kv_dtype=kv_dtype,
        v_dtype=v_dtype,
        gpus=gpus,
        unified=unified,
        ubatch_tokens=ubatch_tokens,
        swa_full=swa_full,
        flash_attention=flash_attention,
        rollback_states=rollback_states,
        pad_tokens=pad_tokens,
        split=split,
        gpu_layers=gpu_layers,
        shares=tuple(on(gpu) for gpu in range(gpus)),
        host=on(None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Bytes of a token's rows in a layer (``src/llama-kv-cache.cpp:220-234``)."""

    k: KvDtype
    v: KvDtype
    latent: Latent
    windows: bool
    cross: bool
    padded_value_row: int
    """Without flash attention, values are stored transposed and as wide as the widest layer's (same place)."""

    def share(self, layers: list[Layer]) -> Share:
        """What these layers store together."""
        cell, state, fixed = 0, 0, 0
        windows: dict[int, int] = {}
        own_windows: dict[int, int] = {}
        records: dict[int, int] = {}
        for cache in (c for layer in layers for c in layer):
            match cache:
                case SlidingWindow(window_tokens=window) | ChunkedAttention(chunk_tokens=window) if self.windows:
                    windows[window] = windows.get(window, 0) + self._heads(cache)
                case FullAttention() | SlidingWindow() | ChunkedAttention():
                    cell += self._heads(cache)
                case LatentAttention():
                    keys, values = _latent_rows(cache, self.latent)
                    cell += self._bytes(keys, values)
                case IndexerKeys():
                    cell += _row(self.k, cache.key_dim)
                case CompressedAttention():  # keys alone, values are the same (llama-kv-cache-dsv4.cpp:883-887)
                    row = _row(self.k, cache.head_dim)
                    own_windows[cache.window_tokens] = own_windows.get(cache.window_tokens, 0) + row
                    if cache.ratio:
                        row += _row(self.k, cache.index_key_dim)
                        records[cache.ratio] = records.get(cache.ratio, 0) + row
                    state += cache.state_bytes
                case RecurrentState():
                    state += sum(state_values(cache)) * STATE_VALUE_BYTES
                case CrossAttention() if self.cross:  # F32, in Ollama's version
                    fixed += cache.encoder_tokens * cache.kv_heads * (cache.key_dim + cache.value_dim) * 4
                case _:
                    pass
        return Share(
            cell_bytes=cell,
            windows=tuple(sorted(windows.items())),
            own_windows=tuple(sorted(own_windows.items())),
            records=tuple(sorted(records.items())),
            state_bytes=state,
            fixed_bytes=fixed,
        )

    def _heads(self, cache: FullAttention | SlidingWindow | ChunkedAttention) -> int:
        return self._bytes(cache.kv_heads * cache.key_dim, cache.kv_heads * cache.value_dim)

    def _bytes(self, keys: int, values: int) -> int:
        return _row(self.k, keys) + _row(self.v, max(values, self.padded_value_row) if values else 0)


def _row(dtype: KvDtype, values: int) -> int:
    """Bytes of a row of ``values``: whole blocks, which ``_check_dtypes`` has made sure of."""
    return int(values * dtype.value_bytes)


def _latent_rows(cache: LatentAttention, latent: Latent) -> tuple[int, int]:
    """Values of a token's key row and value row (``src/llama-kv-cache.cpp:163,231``); MiniCPM3 is always expanded."""
    if latent == "expanded" or cache.expanded_heads:
        return cache.heads * cache.head_key_dim, cache.heads * cache.head_value_dim
    return cache.latent_dim + cache.rope_dim, cache.latent_dim if latent == "latent+values" else 0


def _key_rows(architecture: Architecture, latent: Latent) -> set[int]:
    rows: set[int] = set()
    for cache in {c for layer in architecture.layers for c in layer}:
        match cache:
            case FullAttention() | SlidingWindow() | ChunkedAttention():
                rows.add(cache.kv_heads * cache.key_dim)
            case LatentAttention():
                rows.add(_latent_rows(cache, latent)[0])
            case IndexerKeys():
                rows.add(cache.key_dim)
            case CompressedAttention():
                rows |= {cache.head_dim, cache.index_key_dim}
            case _:
                pass
    return rows


def _value_rows(architecture: Architecture, latent: Latent) -> set[int]:
    rows: set[int] = set()
    for cache in {c for layer in architecture.layers for c in layer}:
        match cache:
            case FullAttention() | SlidingWindow() | ChunkedAttention():
                rows.add(cache.kv_heads * cache.value_dim)
            case LatentAttention():
                rows.add(_latent_rows(cache, latent)[1])
            case _:
                pass
    return rows


def offers(kv_dtype: KvDtype) -> bool:
    """Whether ``--cache-type-k`` and ``-v`` know it (``common/arg.cpp:304-314``)."""
    return "llama.cpp" in kv_dtype.engines


def usable_dtypes(
    architecture: Architecture, *, flash_attention: bool = True, latent: Latent = "latent"
) -> tuple[str, ...]:
    """Names of the types that keys and values of this model can both have."""
    rows = _key_rows(architecture, latent) | _value_rows(architecture, latent)
    return tuple(
        dtype.name
        for dtype in KV_DTYPES.values()
        if offers(dtype)
        and not any(row % dtype.row_values for row in rows)
        and (flash_attention or not dtype.quantised or not any(_value_rows(architecture, latent)))
    )


def _check_dtypes(architecture: Architecture, k: KvDtype, v: KvDtype, flash_attention: bool, latent: Latent) -> None:
    latents = [c for layer in architecture.layers for c in layer if isinstance(c, LatentAttention)]
    expanded = [c for c in latents if latent == "expanded" or c.expanded_heads]
    if not all(c.heads and c.head_key_dim and c.head_value_dim for c in expanded):
        raise ScenarioError(Message(text.EXPANSION_UNKNOWN), field="engine_version")
    choices = ", ".join(usable_dtypes(architecture, flash_attention=flash_attention, latent=latent))
    rows = (("kv_dtype", k, _key_rows(architecture, latent)), ("v_dtype", v, _value_rows(architecture, latent)))
    for field, dtype, widths in rows:
        if not offers(dtype):
            values: dict[str, object] = {"dtype": dtype.name, "choices": choices}
            raise ScenarioError(Message(text.DTYPE_OF_ANOTHER_ENGINE, values), field=field)
        if uneven := [width for width in widths if width % dtype.row_values]:
            values = {"dtype": dtype.name, "values": dtype.row_values, "row": min(uneven), "choices": choices}
            raise ScenarioError(Message(text.ROW_DOES_NOT_DIVIDE, values), field=field)
    if v.quantised and not flash_attention and any(_value_rows(architecture, latent)):
        raise ScenarioError(Message(text.NEEDS_FLASH_ATTENTION, {"dtype": v.name, "choices": choices}), field="v_dtype")
    compressed = any(isinstance(c, CompressedAttention) for layer in architecture.layers for c in layer)
    if k != v and (compressed or (latent == "latent" and len(expanded) < len(latents))):  # llama-context.cpp:3835
        raise ScenarioError(Message(text.LATENT_NEEDS_ONE_TYPE, {"dtype": k.name}), field="v_dtype")


def _places(layers: int, gpus: int, split: tuple[int, ...], gpu_layers: int | None) -> tuple[int | None, ...]:
    """The GPU each layer goes to, None for the CPU (``src/llama-model.cpp:1580-1611``).

    The output layer counts as one more, the first layers stay behind. Without ``split`` llama.cpp goes by free memory,
    which is taken to be equal; with it, by those parts.
    """
    if not 1 <= gpus <= max(1, layers):
        raise ScenarioError(Message(text.TOO_MANY_GPUS, {"gpus": gpus, "layers": layers}), field="gpus")
    parts = split or (1,) * gpus
    if len(parts) != gpus or min(parts) < 0 or not sum(parts):
        raise ScenarioError(Message(text.SPLIT_DOES_NOT_MATCH, {"entries": len(parts), "gpus": gpus}), field="split")
    most = layers + 1
    offloaded = most if gpu_layers is None else gpu_layers
    if not 0 <= offloaded <= most:
        raise ScenarioError(Message(text.LAYERS_OUT_OF_RANGE, {"layers": offloaded, "most": most}), field="gpu_layers")
    ends = [Fraction(sum(parts[: i + 1]), sum(parts)) for i in range(gpus)]
    first = most - offloaded

    def place(layer: int) -> int | None:
        if layer < first:
            return None
        at = Fraction(layer - first, offloaded)
        return next(gpu for gpu, end in enumerate(ends) if at < end)

    return tuple(place(layer) for layer in range(layers))


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One GPU's memory, from what the driver reports to what is left for the cache. Bytes."""

    device_bytes: int
    weights_bytes: int
    """Weights of the layers on this GPU."""
    compute: Estimate
    """Scratch space of one step."""
    margin: Estimate
    """What must stay free."""

    @property
    def pool_bytes(self) -> int:
        """What is left for the cache; at least 0."""
        taken = self.weights_bytes + self.compute.value_bytes + self.margin.value_bytes
        return max(0, self.device_bytes - taken)


def pool(
    *,
    device_bytes: int,
    weights_bytes: int,
    vocab: int | None,
    hidden: int | None,
    ubatch_tokens: int = DEFAULT_UBATCH_TOKENS,
    compute_bytes: int | None = None,
) -> Memory:
    """There is no pool beforehand: the cache must fit beside weights and buffers. ``compute_bytes``: read in a log."""
    if compute_bytes is not None:
        compute = Estimate(value_bytes=compute_bytes, basis="measured", source=Message(text.ENTERED))
    elif vocab is None or hidden is None:
        compute = Estimate(value_bytes=0, basis="assumed", source=Message(text.COMPUTE_BUFFER_UNKNOWN))
    else:
        source = Message(text.COMPUTE_BUFFER, {"ubatch": f"{ubatch_tokens:,}"})
        compute = Estimate(value_bytes=ubatch_tokens * (vocab + hidden) * 4, basis="assumed", source=source)
    margin = Estimate(value_bytes=MARGIN_BYTES, basis="assumed", source=Message(text.MARGIN))
    return Memory(device_bytes=device_bytes, weights_bytes=weights_bytes, compute=compute, margin=margin)


def notes(of: LlamaCppPlan) -> tuple[Note, ...]:
    """What a plan takes for granted."""
    if of.gpus == 1 or of.split:
        return ()
    return (Note(code="llama-cpp-layer-split", message=Message(text.LAYER_SPLIT, {"gpus": of.gpus})),)


def launch(of: LlamaCppPlan, *, model: str, requests: int, tokens: int) -> tuple[str, ...]:
    """``llama-server`` for so many slots of ``tokens``; ``model`` is a path of a GGUF file."""
    arguments = ["llama-server", "-m", model, "-c", f"{of.context_tokens(requests, tokens)}", "-np", f"{requests}"]
    if of.unified:
        arguments.append("--kv-unified")
    for flag, dtype in (("-ctk", of.kv_dtype), ("-ctv", of.v_dtype)):
        if dtype != DEFAULT_DTYPE:
            arguments += [flag, _CACHE_FLAGS.get(dtype.name, dtype.name)]
    if not of.flash_attention:
        arguments += ["-fa", "off"]
    elif of.v_dtype.quantised:
        arguments += ["-fa", "on"]
    if of.swa_full:
        arguments.append("--swa-full")
    if of.ubatch_tokens != DEFAULT_UBATCH_TOKENS:
        arguments += ["-ub", f"{of.ubatch_tokens}"]
    if of.gpu_layers is not None:
        arguments += ["-ngl", f"{of.gpu_layers}"]
    if of.gpus > 1:
        arguments += ["-sm", "layer", "-ts", ",".join(str(part) for part in of.split or (1,) * of.gpus)]
    return tuple(arguments)


def _pad(tokens: int, to: int) -> int:
    return -(-tokens // to) * to
