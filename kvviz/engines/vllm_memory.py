"""What vLLM's start-up profiling takes besides weights: activation peak, CUDA graphs, memory outside torch.

None of it is arithmetic, and none of it was measured on the version that is sized: every term is an estimate
("assumed"), fitted on measured starts of vLLM 0.11 (``kvviz/data/vllm_starts.json``), here and at run time, so
that no coefficient can drift from its rows. What the profiled batch allocates (``v1/worker/gpu/model_runner.py:990-
1050``): hidden states of ``max_num_batched_tokens``, then the sampler over ``max_num_seqs`` rows of logits. Sorting
fp32 logits with their indices, probabilities and sums dominates by far, and every GPU of a tensor-parallel engine does
it in full.
"""

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from kvviz.core.units import GIB, format_bytes
from kvviz.devices import Device
from kvviz.estimate import Estimate
from kvviz.text import Message
from kvviz.text import engine as text

_FILE: Final = Path(__file__).parent.parent / "data" / "vllm_starts.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One measured start; bytes per GPU."""

    model: str
    tp: int
    vocab: int
    hidden: int
    batched_tokens: int
    sequences: int
    weights_bytes: float
    activation_bytes: float
    non_torch_bytes: float
    graph_bytes: float
    """Change while CUDA graphs were captured."""
    kv_available_bytes: float
    """What vLLM 0.11 left for the cache. It did not yet subtract graphs, and saw less memory than the driver says."""


@cache
def starts() -> tuple[Start, ...]:
    """The measured rows."""
    data = json.loads(_FILE.read_text(encoding="utf-8"))
    return tuple(
        Start(
            model=row["model"],
            tp=row["tp"],
            vocab=row["vocab"],
            hidden=row["hidden"],
            batched_tokens=data["batched_tokens"],
            sequences=data["sequences"],
            weights_bytes=row["weights"] * GIB,
            activation_bytes=row["activation"] * GIB,
            non_torch_bytes=row["non_torch"] * GIB,
            graph_bytes=row["graph"] * GIB,
            kv_available_bytes=row["kv_available"] * GIB,
        )
        for row in data["starts"]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationFit:
    """``per_logit · sequences · vocabulary + per_hidden · batched tokens · width``: least squares over the rows."""

    per_logit_bytes: float
    """Bytes a sampled logit takes at the peak, all buffers together."""
    per_hidden_bytes: float
    """Bytes one hidden value takes at the peak."""
    worst_error_bytes: float
    """Largest distance from a measured start."""

    def at(self, *, sequences: int, vocab: int, batched_tokens: int, hidden: int) -> float:
        """The activation peak in bytes."""
        return self.per_logit_bytes * sequences * vocab + self.per_hidden_bytes * batched_tokens * hidden


def fit_activations(rows: tuple[Start, ...]) -> ActivationFit:
    """Two coefficients by the normal equations."""
    xs = [(r.sequences * r.vocab, r.batched_tokens * r.hidden, r.activation_bytes) for r in rows]
    aa, ab, bb = sum(a * a for a, _, _ in xs), sum(a * b for a, b, _ in xs), sum(b * b for _, b, _ in xs)
    ay, by = sum(a * y for a, _, y in xs), sum(b * y for _, b, y in xs)
    det = aa * bb - ab * ab
    logit, hidden = (ay * bb - by * ab) / det, (by * aa - ay * ab) / det
    worst = max(abs(logit * a + hidden * b - y) for a, b, y in xs)
    return ActivationFit(per_logit_bytes=logit, per_hidden_bytes=hidden, worst_error_bytes=worst)


@cache
def _activation_fit() -> ActivationFit:
    return fit_activations(starts())


def as_measured(gpu: Device, *, batched_tokens: int, sequences: int) -> bool:
    """Whether the rows were measured on such a GPU, an 80 GB Hopper, with these settings; elsewhere they are
    extrapolated, and say so."""
    hopper_80 = gpu.generation == "hopper" and abs(gpu.memory_bytes - 80 * GIB) < 4 * GIB
    return hopper_80 and all((r.batched_tokens, r.sequences) == (batched_tokens, sequences) for r in starts())


@lru_cache(maxsize=1024)
def activations(
    *, vocab: int | None, hidden: int | None, batched_tokens: int, sequences: int, measured: bool
) -> Estimate:
    """Activation peak of one GPU, whatever the tensor-parallel size: logits are gathered in full on each.

    ``measured``: what ``as_measured`` says.
    """
    rows = starts()
    if vocab is None or hidden is None:
        largest = max(r.activation_bytes for r in rows)
        source = Message(text.ACTIVATIONS_LARGEST, {"count": len(rows)})
        return Estimate(value_bytes=round(largest), basis="assumed", source=source)
    fit = _activation_fit()
    sampled = min(sequences, batched_tokens)
    value = fit.at(sequences=sampled, vocab=vocab, batched_tokens=batched_tokens, hidden=hidden)
    values = {
        "count": len(rows),
        "error": format_bytes(round(fit.worst_error_bytes)),
        "sequences": f"{sampled:,}",
        "batched": f"{batched_tokens:,}",
    }
    return _estimate(value, Message(text.ACTIVATIONS_FITTED, values), measured=measured)


@cache
def graphs(*, measured: bool) -> Estimate:
    """CUDA graphs of one GPU."""
    changes = [r.graph_bytes for r in starts()]
    low, high = min(changes), max(changes)
    values = {"count": len(changes), "low": format_bytes(round(low)), "high": format_bytes(round(high))}
    return _estimate(high, Message(text.GRAPHS_LARGEST, values), measured=measured)


@lru_cache(maxsize=64)
def non_torch(tp: int, *, measured: bool) -> Estimate:
    """CUDA context and libraries, and from two GPUs on NCCL's buffers."""
    if tp == 1:
        single = [r.non_torch_bytes for r in starts() if r.tp == 1]
        mean = sum(single) / len(single)
        error = format_bytes(round(max(abs(s - mean) for s in single)))
        return _estimate(
            mean, Message(text.NON_TORCH_SINGLE, {"count": len(single), "error": error}), measured=measured
        )
    parallel = next(r for r in starts() if r.tp > 1)
    source = Message(text.NON_TORCH_PARALLEL, {"measured": parallel.tp})
    return _estimate(parallel.non_torch_bytes, source, measured=measured)


def _estimate(value_bytes: float, source: Message, *, measured: bool) -> Estimate:
    said = source if measured else Message(text.EXTRAPOLATED, {"source": source})
    return Estimate(value_bytes=round(value_bytes), basis="assumed", source=said)
