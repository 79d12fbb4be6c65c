"""One GPU's memory, from what the driver reports to what is left for the cache, as each engine reckons."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import assert_never

from kvviz.core.architecture import Architecture
from kvviz.core.cache import LatentAttention
from kvviz.core.units import GIB
from kvviz.devices import Device
from kvviz.engines import llama_cpp, sglang_memory, tensorrt_llm, vllm, vllm_memory
from kvviz.engines.llama_cpp import LlamaCppPlan
from kvviz.engines.sglang import SglangPlan
from kvviz.engines.tensorrt_llm import TensorRtLlmPlan
from kvviz.engines.transformers import TransformersPlan
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.planning import Plan, batched_tokens, unit_bytes
from kvviz.scenario import Scenario
from kvviz.text import Message, engine
from kvviz.text import planning as text


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """All terms in bytes, on the GPU that decides: the fullest of an engine."""

    device: Device
    device_bytes: int
    """What the driver reports."""
    memory_fraction: float | None
    """The share that the engine was given, of what its setting is a share of; None: it has no such setting."""
    requested_bytes: int
    """What the engine may take, weights included."""
    outside_bytes: int
    """device_bytes - requested_bytes: never the cache's."""
    weights: Estimate
    activations: Estimate
    graphs: Estimate
    non_torch: Estimate
    available_bytes: int
    """requested minus the four terms; negative when the weights alone do not fit."""
    unit_bytes: int
    """The pool is made of pieces of this size: blocks, or a token's cells."""
    pool_bytes: int
    """What the cache can have: available, in whole pieces, at least 0."""
    kept_free_bytes: int
    """What of the pool the scenario's headroom keeps free, in whole pieces; what fits is counted on the rest."""
    longest_tokens: int
    """The longest request the engine is started for: the scenario's max_model_len, else its tokens."""
    max_concurrency: float | None = None
    """What vLLM logs at start as "Maximum concurrency": blocks of the pool / blocks of a longest request."""
    kv_cache_size_tokens: int | None = None
    """What it logs as "GPU KV cache size": concurrency x length, so not a pool size where windows or states count."""

    @property
    def pool_blocks(self) -> int:
        """Pieces of the pool."""
        return self.pool_bytes // self.unit_bytes

    @property
    def kept_free_blocks(self) -> int:
        """Pieces of it that headroom keeps free."""
        return self.kept_free_bytes // self.unit_bytes

    @property
    def usable_blocks(self) -> int:
        """Pieces that requests may fill."""
        return self.usable_bytes // self.unit_bytes

    @property
    def usable_bytes(self) -> int:
        """Bytes that requests may fill."""
        return self.pool_bytes - self.kept_free_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What an engine's budget is made of, before what a person's own log says."""

    memory_fraction: float | None
    requested_bytes: int
    activations: Estimate
    graphs: Estimate
    non_torch: Estimate


def budget_of(architecture: Architecture, scenario: Scenario, gpu: Device, weights: Estimate, plan: Plan) -> Budget:
    """The budget of the fullest GPU. ``weights`` are those of the whole model."""
    share = _on_one_gpu(weights, plan)
    terms = _terms(architecture, scenario, gpu, share, plan)
    activations = _or_entered(terms.activations, scenario.activations_gib)
    graphs = _or_entered(terms.graphs, scenario.graphs_gib)
    non_torch = _or_entered(terms.non_torch, scenario.non_torch_gib)
    available = terms.requested_bytes - sum(e.value_bytes for e in (share, activations, graphs, non_torch))
    unit = unit_bytes(plan)
    pieces = max(0, available // unit)
    kept_free = ceil(pieces * scenario.headroom_share) if scenario.headroom else 0
    longest = scenario.max_model_len or scenario.tokens
    concurrency, size_tokens = plan.start_log(pieces, longest) if isinstance(plan, VllmPlan) else (None, None)
    return Budget(
        device=gpu,
        device_bytes=gpu.memory_bytes,
        memory_fraction=terms.memory_fraction,
        requested_bytes=terms.requested_bytes,
        outside_bytes=gpu.memory_bytes - terms.requested_bytes,
        weights=share,
        activations=activations,
        graphs=graphs,
        non_torch=non_torch,
        available_bytes=available,
        unit_bytes=unit,
        pool_bytes=pieces * unit,
        kept_free_bytes=kept_free * unit,
        longest_tokens=longest,
        max_concurrency=concurrency,
        kv_cache_size_tokens=size_tokens,
    )


def _on_one_gpu(weights: Estimate, plan: Plan) -> Estimate:
    """A GPU's share of the weights: layers are taken to weigh the same, and to divide."""
    if plan.gpus == 1:
        return weights
    source = Message(engine.WEIGHTS_SPLIT, {"source": weights.source, "tp": plan.gpus})
    share = Fraction(weights.value_bytes, plan.gpus) * _fullest(plan)
    return Estimate(value_bytes=ceil(share), basis="assumed", source=source, parameters=weights.parameters)


def _fullest(plan: Plan) -> Fraction:
    """Layers of the fullest stage over those of an average one."""
    stages = getattr(plan, "stages", ())
    counts = [stage.layers for stage in stages if hasattr(stage, "layers")]
    return Fraction(max(counts) * len(counts), sum(counts)) if counts else Fraction(1)


def _terms(architecture: Architecture, scenario: Scenario, gpu: Device, weights: Estimate, plan: Plan) -> _Terms:
    none = Estimate(value_bytes=0, basis="exact", source=Message(text.NOT_APART))
    total = gpu.memory_bytes
    match plan:
        case VllmPlan():  # requested - weights - activations - graphs - non-torch (v1/worker/gpu_worker.py:700-757)
            fraction = scenario.memory_fraction or vllm.DEFAULT_MEMORY_FRACTION[plan.version]
            batch = {
                "batched_tokens": batched_tokens(scenario, gpu),
                "sequences": vllm.default_batched_sequences(gpu),
            }
            measured = vllm_memory.as_measured(gpu, **batch)
            activations = vllm_memory.activations(
                vocab=architecture.vocab_size, hidden=architecture.hidden_size, measured=measured, **batch
            )
            return _Terms(
                memory_fraction=fraction,
                requested_bytes=ceil(total * fraction),
                activations=activations,
                graphs=vllm_memory.graphs(measured=measured),
                non_torch=vllm_memory.non_torch(plan.gpus, measured=measured),
            )
        case SglangPlan():
            fraction = scenario.memory_fraction or sglang_memory.default_memory_fraction(
                total,
                tp=plan.tp,
                pp=plan.pp,
                dp_attention=plan.dp_attention,
                latent=any(isinstance(c, LatentAttention) for layer in architecture.layers for c in layer),
                chunked_prefill_tokens=scenario.batched_tokens,
            )
            pool = sglang_memory.pool(device_bytes=total, weights=weights, memory_fraction=fraction)
            return _Terms(
                memory_fraction=fraction,
                requested_bytes=total - pool.slack.value_bytes,
                activations=none,
                graphs=none,
                non_torch=pool.before_load,
            )
        case TensorRtLlmPlan():
            fraction = scenario.memory_fraction or float(tensorrt_llm.DEFAULT_FRACTION)
            memory = tensorrt_llm.pool(device_bytes=total, weights_bytes=weights.value_bytes, fraction=fraction)
            return _Terms(
                memory_fraction=fraction,
                requested_bytes=total - (memory.free_bytes - memory.pool.value_bytes),
                activations=none,
                graphs=none,
                non_torch=memory.runtime,
            )
        case LlamaCppPlan():
            fit = llama_cpp.pool(
                device_bytes=total,
                weights_bytes=weights.value_bytes,
                vocab=architecture.vocab_size,
                hidden=architecture.hidden_size,
                ubatch_tokens=plan.ubatch_tokens,
            )
            return _Terms(
                memory_fraction=None,
                requested_bytes=total,
                activations=fit.compute,
                graphs=none,
                non_torch=fit.margin,
            )
        case TransformersPlan():
            return _Terms(
                memory_fraction=None,
                requested_bytes=total,
                activations=Estimate(value_bytes=0, basis="assumed", source=Message(text.NOT_KNOWN)),
                graphs=none,
                non_torch=Estimate(value_bytes=0, basis="assumed", source=Message(text.NOT_KNOWN)),
            )
        case _:
            assert_never(plan)


def _or_entered(estimate: Estimate, gib: float | None) -> Estimate:
    """A person's own log knows better than an estimate."""
    if gib is None:
        return estimate
    return Estimate(value_bytes=ceil(gib * GIB), basis="measured", source=Message(engine.ENTERED))
