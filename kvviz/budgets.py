"""One GPU's memory, from what the driver reports to what is left for the cache, as each engine reckons."""

from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import Final, assert_never

from kvviz.core.architecture import Architecture
from kvviz.core.cache import LatentAttention
from kvviz.core.parallel import pipeline
from kvviz.core.units import GIB, format_bytes
from kvviz.devices import Device, hidden_bytes
from kvviz.engines import llama_cpp, sglang_memory, sglang_models, tensorrt_llm, vllm, vllm_memory
from kvviz.engines.llama_cpp import LlamaCppPlan
from kvviz.engines.sglang import SglangPlan
from kvviz.engines.tensorrt_llm import TensorRtLlmPlan
from kvviz.engines.transformers import TransformersPlan
from kvviz.engines.vllm import VllmPlan
from kvviz.estimate import Estimate
from kvviz.planning import Plan, batched_tokens, null_bytes, unit_bytes
from kvviz.scenario import Scenario
from kvviz.text import Message, engine
from kvviz.text import planning as text
from kvviz.weights import Shares, of_fullest_rank

_V0_SEQUENCES: Final = 256
"""``--max-num-seqs`` of vLLM's V0 engine where it is not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """All terms in bytes, on the GPU that decides: the fullest of an engine."""

    device: Device
    device_bytes: int
    """What the driver reports."""
    hidden: Estimate
    """What of it no program can use: an engine's fraction is of the rest."""
    memory_fraction: float | None
    """The share that the engine was given, of what its setting is a share of; None: it has no such setting."""
    requested_bytes: int
    """What the engine may take, weights included."""
    outside_bytes: int
    """What the fraction leaves: never the cache's."""
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
    null_bytes: int
    """What of the pool no request is ever given: vLLM's null block."""
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
    def usable_blocks(self) -> int:
        """Pieces that requests may fill."""
        return self.usable_bytes // self.unit_bytes

    @property
    def usable_bytes(self) -> int:
        """Bytes that requests may fill."""
        return self.pool_bytes - self.null_bytes - self.kept_free_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What an engine's budget is made of, before what a person's own log says."""

    memory_fraction: float | None
    requested_bytes: int
    activations: Estimate
    graphs: Estimate
    non_torch: Estimate


def budget_of(
    architecture: Architecture,
    scenario: Scenario,
    gpu: Device,
    weights: Estimate,
    plan: Plan,
    *,
    weights_of: Architecture,
) -> Budget:
    """The budget of the fullest GPU. ``weights`` are those of the whole model ``weights_of``."""
    share = _on_one_gpu(weights, weights_of, scenario, plan)
    hidden = hidden_bytes(gpu)
    terms = _terms(architecture, scenario, gpu, share, plan, hidden)
    activations = _or_entered(terms.activations, scenario.activations_gib)
    graphs = _or_entered(terms.graphs, scenario.graphs_gib)
    non_torch = _or_entered(terms.non_torch, scenario.non_torch_gib)
    available = terms.requested_bytes - sum(e.value_bytes for e in (share, activations, graphs, non_torch))
    unit = unit_bytes(plan)
    pieces = max(0, available // unit)
    null = min(pieces * unit, null_bytes(plan))
    kept_free = min(ceil(pieces * scenario.headroom_share), pieces - null // unit) if scenario.headroom else 0
    longest = scenario.max_model_len or scenario.tokens
    concurrency, size_tokens = plan.start_log(pieces, longest) if isinstance(plan, VllmPlan) else (None, None)
    return Budget(
        device=gpu,
        device_bytes=gpu.memory_bytes,
        memory_fraction=terms.memory_fraction,
        requested_bytes=terms.requested_bytes,
        hidden=hidden,
        outside_bytes=gpu.memory_bytes - hidden.value_bytes - terms.requested_bytes,
        weights=share,
        activations=activations,
        graphs=graphs,
        non_torch=non_torch,
        available_bytes=available,
        unit_bytes=unit,
        pool_bytes=pieces * unit,
        null_bytes=null,
        kept_free_bytes=kept_free * unit,
        longest_tokens=longest,
        max_concurrency=concurrency,
        kv_cache_size_tokens=size_tokens,
    )


def _on_one_gpu(weights: Estimate, architecture: Architecture, scenario: Scenario, plan: Plan) -> Estimate:
    """The fullest GPU's share of the weights."""
    return of_fullest_rank(weights, architecture, _split(architecture, scenario, plan))


def _split(architecture: Architecture, scenario: Scenario, plan: Plan) -> Shares:
    match plan:
        case VllmPlan():
            stages = tuple(range(s.first_layer, s.first_layer + s.layers) for s in plan.stages)
            experts = plan.tp
            gpus = plan.gpus
            if scenario.attention_dp == "on":  # --enable-expert-parallel over the engines side by side
                experts, gpus = scenario.gpus // plan.pp, scenario.gpus
            return Shares(gpus=gpus, stages=stages, attention=plan.tp, experts=experts, head=plan.tp, rest=plan.tp)
        case SglangPlan():
            stages = pipeline(architecture, plan.pp, remainder="last")
            attention, tp = plan.tp // plan.dp_attention, plan.tp
            # The head stays on all of them without --enable-dp-lm-head (models/deepseek_v2.py:3291-3297).
            return Shares(gpus=plan.gpus, stages=stages, attention=attention, experts=tp, head=tp, rest=tp)
        case TensorRtLlmPlan():
            stages = _equal_stages(architecture, plan.pp)
            attention, tp = 1 if plan.attention_dp else plan.tp, plan.tp
            return Shares(gpus=plan.gpus, stages=stages, attention=attention, experts=tp, head=attention, rest=tp)
        case LlamaCppPlan():
            stages = _equal_stages(architecture, plan.gpus)
            return Shares(gpus=plan.gpus, stages=stages, attention=1, experts=1, head=1, rest=1)
        case TransformersPlan():
            stages, tp = _equal_stages(architecture, plan.pp), plan.tp
            return Shares(gpus=plan.gpus, stages=stages, attention=tp, experts=tp, head=tp, rest=tp)
        case _:
            assert_never(plan)


def _equal_stages(architecture: Architecture, stages: int) -> tuple[range, ...]:
    """As equal as whole layers allow, the first ones taking one more."""
    layers = len(architecture.layers)
    bounds = [-(-layers * stage // stages) for stage in range(stages + 1)]
    return tuple(range(start, end) for start, end in pairwise(bounds))


def _terms(
    architecture: Architecture, scenario: Scenario, gpu: Device, weights: Estimate, plan: Plan, hidden: Estimate
) -> _Terms:
    none = Estimate(value_bytes=0, basis="exact", source=Message(text.NOT_APART))
    total = gpu.memory_bytes - hidden.value_bytes
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
                non_torch=_with_states(vllm_memory.non_torch(plan.gpus, measured=measured), plan),
            )
        case SglangPlan():
            fraction = scenario.memory_fraction or sglang_memory.default_memory_fraction(
                gpu.memory_bytes,
                tp=plan.tp,
                pp=plan.pp,
                dp_attention=plan.dp_attention,
                latent=any(isinstance(c, LatentAttention) for layer in architecture.layers for c in layer),
                chunked_prefill_tokens=scenario.batched_tokens,
                prefill_graphs=sglang_models.prefill_graphs(architecture),
                vision=sglang_models.vision_size(architecture),
            )
            entered = scenario.non_torch_gib  # the fraction is of what it leaves
            pool = sglang_memory.pool(
                before_load_bytes=None if entered is None else ceil(entered * GIB) + hidden.value_bytes,
                device_bytes=gpu.memory_bytes,
                weights=weights,
                memory_fraction=fraction,
                multimodal=sglang_models.takes_media(architecture),
                images_in_gpu=sglang_models.images_in_gpu(architecture, gpu.generation, gpu.memory_bytes),
            )
            before = pool.before_load  # counted from what the driver reports
            return _Terms(
                memory_fraction=fraction,
                requested_bytes=total - pool.slack.value_bytes,
                activations=pool.multimodal if pool.multimodal.value_bytes else none,
                graphs=none,
                non_torch=replace(before, value_bytes=max(0, before.value_bytes - hidden.value_bytes)),
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


def _with_states(non_torch: Estimate, plan: VllmPlan) -> Estimate:
    """V0 kept states of as many requests as may run at once in tensors of their own."""
    if not plan.state_slot_bytes:
        return non_torch
    states = _V0_SEQUENCES * plan.state_slot_bytes
    values = {"source": non_torch.source, "sequences": _V0_SEQUENCES, "states": format_bytes(states)}
    source = Message(engine.STATES_APART, values)
    return Estimate(value_bytes=non_torch.value_bytes + states, basis="assumed", source=source)


def _or_entered(estimate: Estimate, gib: float | None) -> Estimate:
    """A person's own log knows better than an estimate."""
    if gib is None:
        return estimate
    return Estimate(value_bytes=ceil(gib * GIB), basis="measured", source=Message(engine.ENTERED))
