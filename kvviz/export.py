"""A Sizing as plain data: the stable JSON object of ``kvviz size --json`` and of the page's export."""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil

import kvviz
from kvviz.core.architecture import Note
from kvviz.core.cache import letter
from kvviz.engines import vllm
from kvviz.estimate import Estimate
from kvviz.scenario import to_json
from kvviz.sizing import Budget, Sizing
from kvviz.text import Lang

Json = Mapping[str, object]


def sizing_json(sizing: Sizing, lang: Lang = "en") -> dict[str, object]:
    """Everything as integers of bytes; only the sentences depend on the language. Keys stay as they are."""
    content = sizing.content
    return {
        "kvviz": kvviz.__version__,
        "model": sizing.scenario.model,
        "revision": sizing.scenario.revision,
        "scenario": to_json(sizing.scenario),
        "cache": {
            "layers": "".join(letter(layer) for layer in sizing.architecture.layers),
            "growing_bytes_per_token": number(content.growing_bytes_per_token),
            "limited": [
                {
                    "kind": limit.kind,
                    "limit_tokens": limit.limit_tokens,
                    "bytes_per_token": number(limit.bytes_per_token),
                }
                for limit in content.limited
            ],
            "state_bytes_per_sequence": content.state_bytes,
            "cross_bytes_per_sequence": ceil(content.cross_bytes),
        },
        "content_bytes": sizing.content_bytes,
        "engine": _engine(sizing),
        "budget": _budget(sizing.budget, lang) if sizing.budget else None,
        "max_sequences_counted": sizing.max_sequences_counted,
        "max_sequences_held": sizing.max_sequences_held,
        "max_tokens": sizing.max_tokens,
        "fits": sizing.fits,
        "notes": [{"code": note.code, "text": note.message(lang)} for note in all_notes(sizing)],
        "max_sequences_typical": sizing.max_sequences_typical,
    }


def all_notes(sizing: Sizing) -> tuple[Note, ...]:
    """What a reader must know, each once; why there is no engine figure, where there is none, included."""
    notes = (*sizing.notes, *([sizing.plan_missing] if sizing.plan_missing else []))
    return tuple({(note.code, str(note.message)): note for note in notes}.values())


def number(exact: Fraction) -> int | float:
    """An integer where it is one: packed layouts have fractional bytes per token."""
    return int(exact) if exact.denominator == 1 else float(exact)


def _engine(sizing: Sizing) -> Json | None:
    """Bytes of one request are those of one GPU."""
    plan = sizing.plan
    if plan is None:
        return None
    return {
        "name": sizing.scenario.engine,
        "version": vllm.VERSION,
        "block_tokens": plan.block_tokens,
        "pool_block_bytes": plan.pool_block_bytes,
        "request_bytes": plan.request_bytes(sizing.tokens),
        "request_bytes_windows_ignored": plan.request_bytes_windows_ignored(sizing.tokens),
        "per_gpu_request_bytes": list(plan.per_gpu_request_bytes(sizing.tokens)),
    }


def _budget(budget: Budget, lang: Lang) -> Json:
    """One GPU's memory. ``overhead_bytes`` is CUDA graphs and what lies outside the allocator together.

    ``max_concurrency`` and ``kv_cache_size_tokens`` are what the engine logs at start, at its longest length.
    """
    terms = {
        "weights": budget.weights,
        "activations": budget.activations,
        "graphs": budget.graphs,
        "non_torch": budget.non_torch,
    }
    return {
        "device_bytes": budget.device_bytes,
        "weights_bytes": budget.weights.value_bytes,
        "activations_bytes": budget.activations.value_bytes,
        "overhead_bytes": budget.graphs.value_bytes + budget.non_torch.value_bytes,
        "pool_bytes": budget.pool_bytes,
        "pool_blocks": budget.pool_blocks,
        "max_concurrency": budget.max_concurrency,
        "kv_cache_size_tokens": budget.kv_cache_size_tokens,
        "basis": {name: _estimate(term, lang) for name, term in terms.items()},
    }


def _estimate(estimate: Estimate, lang: Lang) -> Json:
    return {"bytes": estimate.value_bytes, "basis": estimate.basis, "source": estimate.source(lang)}
