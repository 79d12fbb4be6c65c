"""What the weights of a bundled model take, whole, before any split over GPUs.

The table is counted from each config.json by scripts/count_weights.py. A model that it does not know gives None, never
a number made from its name.
"""

import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from kvviz.core.architecture.model import Architecture, ModelDtype
from kvviz.core.cache import ChunkedAttention, FullAttention, IndexerKeys, LatentAttention, Layer, SlidingWindow
from kvviz.core.errors import ScenarioError
from kvviz.core.identity import ByIdentity
from kvviz.core.units import GIB, format_bytes, format_count
from kvviz.estimate import Basis, Estimate, Parameters
from kvviz.text import Message, Text
from kvviz.text import weights as text

AUTO: Final = "auto"
_FILE: Final = Path(__file__).parent / "data" / "weights.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightDtype:
    """A type that linear weights could be stored in."""

    value_bytes: Fraction
    """Bytes a weight takes, its share of block scales included. Scales per matrix or row, under 0.1 %, are left out."""
    everything: bool = False
    """True: embeddings, norms and head are in this type too; else they stay at 16 bits."""
    gguf: bool = False
    """A type of llama.cpp's files."""


_DTYPES: Final = {
    "bf16": WeightDtype(value_bytes=Fraction(2), everything=True),
    "fp16": WeightDtype(value_bytes=Fraction(2), everything=True),
    "fp32": WeightDtype(value_bytes=Fraction(4), everything=True),
    "fp8": WeightDtype(value_bytes=Fraction(1)),
    "int8": WeightDtype(value_bytes=Fraction(1)),
    # 128 weights share a 16-bit scale, as AWQ and GPTQ checkpoints are made by default.
    "int4": WeightDtype(value_bytes=Fraction(1, 2) + Fraction(2, 128)),
    # 16 weights share an fp8 scale.
    "nvfp4": WeightDtype(value_bytes=Fraction(1, 2) + Fraction(1, 16)),
    # 32 weights share a scale byte.
    "mxfp4": WeightDtype(value_bytes=Fraction(1, 2) + Fraction(1, 32)),
    # 32 weights share a 16-bit scale; the others mix types: bits a weight of Llama 3.1 8B (llama.cpp
    # tools/quantize/README.md).
    "q8_0": WeightDtype(value_bytes=Fraction(34, 32), everything=True, gguf=True),
    "q6_k": WeightDtype(value_bytes=Fraction("6.5633") / 8, everything=True, gguf=True),
    "q5_k_m": WeightDtype(value_bytes=Fraction("5.7036") / 8, everything=True, gguf=True),
    "q4_k_m": WeightDtype(value_bytes=Fraction("4.8944") / 8, everything=True, gguf=True),
}
WEIGHT_DTYPES: Final[tuple[str, ...]] = (AUTO, *_DTYPES)
"""``auto``: as the checkpoint is published. The others are a what-if."""


def weights(model: str, *, weight_dtype: str = AUTO, dtype: ModelDtype) -> Estimate | None:
    """Bytes of all weights of a bundled ``model`` as an engine loads them; None where they are not known.

    ``dtype`` is the type the config names. What is not quantised counts as 16 bits even where that is fp32, since
    engines load it so (vLLM ``config/model.py``, dtype "auto").
    """
    if weight_dtype not in WEIGHT_DTYPES:
        known = ", ".join(WEIGHT_DTYPES)
        raise ScenarioError(
            Message(text.UNKNOWN_DTYPE, {"shown": weight_dtype[:40], "known": known}), field="weight_dtype"
        )
    row = _rows().get(model)
    if row is None or row["parameters"] is None:
        return None
    size: Fraction
    layout: Text | Message
    basis: Basis
    if weight_dtype == AUTO:
        if row["stored"] is None:
            return None
        packed = sum(parameters for parameters, _ in row["stored"].values())
        size = Fraction(2 * (row["parameters"] - packed) + sum(stored for _, stored in row["stored"].values()))
        layout = _as_published(row["stored"], dtype)
        basis = "exact"
    else:
        quantised = bool(row["stored"]) or row["stored"] is None
        parameters = Parameters(total=row["parameters"], linear=row["linear"], quantised=quantised)
        found = _converted(parameters, weight_dtype)
        if found is None:
            return None
        size, layout, basis = found
    linear = row["linear"]
    packed = tuple((count, stored) for count, stored in (row["stored"] or {}).values()) if weight_dtype == AUTO else ()
    if weight_dtype != AUTO and not _DTYPES[weight_dtype].everything and linear:
        packed = ((linear, math.ceil(linear * _DTYPES[weight_dtype].value_bytes)),)
    counted = row["basis"] == "counted"
    if not counted:  # somebody else did
        basis = "assumed"
    sentence = text.PUBLISHED
    if counted:
        sentence = text.COUNTED_WITHOUT_MTP if row.get("mtp") else text.COUNTED
        if row.get("doubtful"):  # exact for the file, which may not be the published one
            basis, sentence = "assumed", text.COUNTED_FROM_DOUBTFUL
    values = {"parameters": format_count(row["parameters"]), "version": _table()["transformers"], "layout": layout}
    return Estimate(
        value_bytes=math.ceil(size),
        basis=basis,
        source=Message(sentence, values),
        parameters=Parameters(total=row["parameters"], linear=linear, quantised=bool(row["stored"]), packed=packed),
    )


def what_if(parameters: Parameters, weight_dtype: str) -> Estimate | None:
    """Bytes of weights that somebody else counted, in another type than they are stored in; None where not known."""
    found = _converted(parameters, weight_dtype)
    if found is None:
        return None
    size, layout, basis = found
    values = {"parameters": format_count(parameters.total), "layout": layout}
    return Estimate(value_bytes=math.ceil(size), basis=basis, source=Message(text.FROM_HUB, values))


def _converted(parameters: Parameters, weight_dtype: str) -> tuple[Fraction, Text | Message, Basis] | None:
    """Bytes, in words, and how sure; None where the linear layers are not known."""
    to = _DTYPES[weight_dtype]
    if to.gguf:
        bits = f"{float(to.value_bytes * 8):.4g}"
        layout_of = Message(text.GGUF, {"dtype": weight_dtype.upper(), "bits": bits})
        return parameters.total * to.value_bytes, layout_of, "assumed"
    if to.everything:
        layout = text.AT_32_BIT if weight_dtype == "fp32" else text.AT_16_BIT
        return parameters.total * to.value_bytes, layout, "assumed" if parameters.quantised else "exact"
    if parameters.linear is None:
        return None
    size = parameters.linear * to.value_bytes + 2 * (parameters.total - parameters.linear)
    return size, Message(text.WHAT_IF, {"dtype": weight_dtype}), "assumed"


def with_draft(weights: Estimate, architecture: Architecture, layers: int) -> Estimate | None:
    """``weights`` with those of a draft of so many ``layers``; None where nobody knows what those take.

    What a person typed is taken to be all there is. A file on the Hub has the model's own prediction (MTP) layers in it
    where its config names some. Those that were left out when a config was counted are taken to be like the model's
    last layer, besides the matrix that joins a layer's two inputs (2 x hidden, hidden), which is kept in 16 bits. Not
    so in builds of less than 8 bits, which leave these layers as they were or not, and whose files seldom say.
    """
    own = next((int(f.value) for f in architecture.facts if f.term == "draft_layers"), 0)
    if weights.source.text == text.TYPED:
        return weights
    if weights.source.text == text.FROM_HUB and own:
        return weights
    known, hidden, mixture = weights.parameters, architecture.hidden_size, architecture.mixture
    if weights.source.text != text.COUNTED_WITHOUT_MTP or not own or known is None or hidden is None:
        return None
    bytes_of, last = _parts(weights.value_bytes, known, ByIdentity(architecture), 1), len(architecture.layers) - 1
    below_8_bits = weights.value_bytes < known.total or any(size < count for count, size in known.packed)
    if bytes_of is None or below_8_bits:
        return None
    if architecture.experts and (mixture is None or last not in mixture.layers):
        return None
    each = bytes_of.attention[last] + bytes_of.rest / (last + 1)
    if mixture is not None:
        each += (bytes_of.experts + bytes_of.routers) / len(mixture.layers)
    # Where more layers run than there are, some run again, with a cache each and the same weights.
    more = math.ceil(min(layers, own) * (each + 2 * hidden * hidden * 2))
    counted = Message(text.COUNTED, weights.source.values)
    values = {"source": counted, "layers": min(layers, own), "bytes": format_bytes(more)}
    source = Message(text.WITH_DRAFT, values)
    return replace(weights, value_bytes=weights.value_bytes + more, basis="assumed", source=source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Over how many GPUs each part of a layer's weights is shared out, and which layers lie together."""

    gpus: int
    """Of one engine."""
    stages: tuple[range, ...]
    """Entries of ``Architecture.layers`` that each pipeline stage has."""
    attention: int
    """Embeddings, too."""
    experts: int
    head: int
    """The output embedding."""
    rest: int
    """All else: MLPs, shared experts, what mixes states."""


def of_fullest_rank(weights: Estimate, architecture: Architecture, split: Shares) -> Estimate:
    """What the fullest GPU keeps of the weights of the whole model.

    Experts and attention are counted from the config where it has the common fields, embeddings and head as one
    matrix each on the first and the last stage; what is left is taken to be alike in all layers. Every GPU keeps a
    whole KV head at least (vLLM ``model_executor/layers/linear.py:1066-1071``, SGLang ``layers/linear.py:1140-1145``),
    and all of the matrices that latent attention compresses with, of indexers and of what chooses experts (vLLM
    ``models/deepseek_v2.py:321, 494, 518, 702-717``, ``layers/fused_moe/router/gate_linear.py:22``; SGLang
    ``models/deepseek_v2.py:509, 2070, 2095``, ``layers/attention/dsa/dsa_indexer.py:344-374``). Copies of norms and
    of biases, under 0.1 %, are left out.
    """
    if len(split.stages) == split.attention == split.experts == split.rest == 1:
        return weights
    bytes_of = _parts(weights.value_bytes, weights.parameters, ByIdentity(architecture), split.attention)
    if bytes_of is None:
        share = Fraction(weights.value_bytes, split.rest * len(split.stages)) * _fullest_share(split.stages)
        source = Message(text.SPLIT_EVENLY, {"source": weights.source, "gpus": split.rest * len(split.stages)})
        return replace(weights, value_bytes=math.ceil(share), basis="assumed", source=source)
    layers = len(architecture.layers)
    mixed = architecture.mixture.layers if architecture.mixture else ()
    held: list[Fraction] = []
    for number, stage in enumerate(split.stages):
        own = set(stage)
        attention = sum(bytes_of.attention[i] for i in stage)
        experts = bytes_of.experts / split.experts + bytes_of.routers
        experts *= Fraction(sum(i in own for i in mixed), len(mixed) or 1)
        rest = bytes_of.rest * len(stage) / layers / split.rest
        embeddings = bytes_of.table / split.attention if number == 0 else Fraction(0)
        last = number == len(split.stages) - 1 and (number > 0 or bytes_of.tables > 1)
        head = bytes_of.table / split.head if last else Fraction(0)
        held.append(attention + experts + rest + embeddings + head)
    shares = {"attention": split.attention, "experts": split.experts, "head": split.head, "rest": split.rest}
    values: dict[str, object] = {name: f"1/{gpus}" if gpus > 1 else text.ALL for name, gpus in shares.items()}
    values |= {"source": weights.source, "gpus": split.gpus}
    sentence = text.SPLIT_COUNTED_EXPERTS if mixed else text.SPLIT_COUNTED
    return replace(weights, value_bytes=math.ceil(max(held)), basis="assumed", source=Message(sentence, values))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """Bytes of the whole model's weights, by what shares them out."""

    attention: tuple[Fraction, ...]
    """Of each layer, what one GPU keeps of it."""
    experts: Fraction
    routers: Fraction
    """Of what chooses experts, in all layers."""
    table: Fraction
    """Of the embeddings, or of the head."""
    tables: int
    """1 where the head is the embeddings."""
    rest: Fraction


@lru_cache(maxsize=1024)
def _parts(value_bytes: int, known: Parameters | None, of: ByIdentity[Architecture], gpus: int) -> _Parts | None:
    """With attention shared out over ``gpus``. None where the file does not say enough."""
    architecture = of.value
    hidden, heads = architecture.hidden_size, architecture.attention_heads
    if known is None or hidden is None or heads is None or not known.linear:
        return None
    matrices = [_attention(layer, hidden, heads, architecture) for layer in architecture.layers]
    attention = sum(count for layer in matrices for count, _ in layer)
    mixture = architecture.mixture
    experts = mixture.parameters * len(mixture.layers) if mixture else 0
    if experts + attention > known.linear:
        return None
    average = Fraction(value_bytes, known.total)
    expert_rate, rate = _rates(known, experts) if known.packed else (average, average)
    values = (architecture.vocab_size or 0) * hidden
    # Embeddings stay at 16 bits where only linear layers are quantised.
    table = values * (Fraction(2) if known.packed else rate)
    tables = max(1, min(2, round((known.total - known.linear) / values))) if values else 1
    parts = _Parts(
        attention=tuple(rate * sum(Fraction(n, min(gpus, most)) for n, most in layer) for layer in matrices),
        experts=experts * expert_rate,
        # In 16 bits where only linear layers are quantised, as embeddings.
        routers=(mixture.router_parameters * len(mixture.layers) if mixture else 0)
        * (Fraction(2) if known.packed else rate),
        table=table,
        tables=tables,
        rest=Fraction(0),
    )
    rest = value_bytes - attention * rate - parts.experts - parts.routers - tables * table
    return replace(parts, rest=rest) if rest >= 0 else None


def _rates(known: Parameters, experts: int) -> tuple[Fraction, Fraction]:
    """Bytes a weight of an expert takes, and one of attention. Experts are quantised first, and often alone."""
    of_experts = min((p for p in known.packed if p[0] >= experts), default=None)
    count, size = sum(p[0] for p in known.packed), sum(p[1] for p in known.packed)
    expert_rate = Fraction(*reversed(of_experts)) if of_experts else Fraction(size, count)
    others = count - experts
    if others * 2 < (known.linear or 0) - experts:  # most of the rest is in 16 bits
        return expert_rate, Fraction(2)
    return expert_rate, (size - experts * expert_rate) / others


def _attention(layer: Layer, hidden: int, heads: int, of: Architecture) -> list[tuple[int, int]]:
    """Weights of a layer's attention, each count with the GPUs it can be shared out over: 1 where all keep it."""
    found: list[tuple[int, int]] = []
    for stored in layer:
        match stored:
            case FullAttention() | SlidingWindow() | ChunkedAttention():
                widths = hidden * (stored.key_dim + stored.value_dim)
                found += [(widths * heads, heads), (widths * stored.kv_heads, stored.kv_heads)]
            case LatentAttention():
                keys = stored.head_key_dim - stored.rope_dim
                down = hidden * (stored.latent_dim + stored.rope_dim + (of.query_rank or 0))
                queries = (of.query_rank or hidden) * heads * stored.head_key_dim
                up = stored.latent_dim * heads * (keys + stored.head_value_dim) + queries
                found += [(up + heads * stored.head_value_dim * hidden, heads), (down, 1)]
            case IndexerKeys() if of.indexer_heads and of.query_rank:
                queries = of.query_rank * of.indexer_heads * stored.key_dim
                found.append((queries + hidden * (stored.key_dim + of.indexer_heads), 1))
            case _:
                pass
    return found


def _fullest_share(stages: tuple[range, ...]) -> Fraction:
    """Layers of the fullest stage over those of an average one."""
    counts = [len(stage) for stage in stages]
    return Fraction(max(counts) * len(counts), sum(counts))


def typed_weights(gib: float) -> Estimate:
    """The weights as a person entered them, in GiB."""
    if not (math.isfinite(gib) and gib > 0):
        raise ScenarioError(Message(text.NOT_A_SIZE), field="weights_gib")
    return Estimate(value_bytes=math.ceil(gib * GIB), basis="measured", source=Message(text.TYPED))


def parameters(model: str) -> int | None:
    """How many parameters a bundled ``model`` has; None where nobody counted them."""
    row = _rows().get(model)
    counted: int | None = row["parameters"] if row else None
    return counted


def why_unknown(model: str, *, weight_dtype: str = AUTO) -> Message:
    """Why ``weights`` has no number, and what to do; for a model and type where it has none."""
    row = _rows().get(model)
    if row is None:
        return Message(text.NOT_IN_TABLE)
    code = row["why"] if row["parameters"] is None or weight_dtype == AUTO else "linear-unknown"
    return Message(text.REASONS[code], {"version": _table()["transformers"], "detail": row["detail"]})


def _as_published(stored: dict[str, list[int]], dtype: ModelDtype) -> Text | Message:
    if stored:
        return Message(text.AS_STORED, {"stored": " + ".join(stored)})
    return text.AT_16_BIT_FROM_32 if dtype == "fp32" else text.AT_16_BIT


@cache
def _table() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return loaded


def _rows() -> dict[str, Any]:
    rows: dict[str, Any] = _table()["models"]
    return rows
