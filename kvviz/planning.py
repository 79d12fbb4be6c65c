"""Which engine a scenario is about, what that engine stores, and its plan. The one place that knows all engines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar, assert_never

from kvviz.core.architecture import Architecture, Note
from kvviz.core.cache import ChunkedAttention, FullAttention, LayerCache, SlidingWindow
from kvviz.core.dtypes import KV_DTYPES, KvDtype
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.kv_dtype import resolve_kv_dtype
from kvviz.devices import Device, Maker, device
from kvviz.engines import llama_cpp, sglang, tensorrt_llm, transformers, vllm
from kvviz.engines.llama_cpp import LlamaCppPlan
from kvviz.engines.sglang import SglangPlan
from kvviz.engines.tensorrt_llm import TensorRtLlmPlan
from kvviz.engines.transformers import TransformersPlan
from kvviz.engines.vllm import VllmPlan
from kvviz.scenario import DEFAULTS, ENGINES_WITH, Scenario, parse_value
from kvviz.text import Message
from kvviz.text import engine as text
from kvviz.text import planning as own_text
from kvviz.text import sglang as sglang_text

Plan = VllmPlan | SglangPlan | TensorRtLlmPlan | LlamaCppPlan | TransformersPlan

P = TypeVar("P")

DEFAULT_GENERATION: Final = "hopper"
"""Kernels that are assumed where no GPU is chosen."""

_NAMES: Final = {
    "vllm": ("vLLM", vllm.VERSION),
    "sglang": ("SGLang", sglang.VERSION),
    "tensorrt-llm": ("TensorRT-LLM", tensorrt_llm.VERSION),
    "llama.cpp": ("llama.cpp", llama_cpp.VERSION),
    "transformers": ("Transformers", transformers.VERSION),
}
_AT_A_COMMIT: Final = frozenset({"tensorrt-llm", "llama.cpp"})
"""Engines whose rules were read at a commit rather than a release."""
_COMMIT_CHARACTERS: Final = 7
_RUNS_ON: Final[Mapping[str, frozenset[Maker]]] = {
    "vllm": frozenset({"nvidia", "amd"}),
    "sglang": frozenset({"nvidia", "amd"}),
    "tensorrt-llm": frozenset({"nvidia"}),
    "llama.cpp": frozenset({"nvidia", "amd", "apple"}),
    "transformers": frozenset({"nvidia", "amd", "apple"}),
}
"""Whose GPUs there are rules for."""
_OLDER: Final = {"v0": "V0", "expanded-mla": "< b5300"}
_FALLBACKS: Final = {"bf16": text.DTYPE_NO_BF16, "fp16": text.DTYPE_NO_FP16, "fp32": text.DTYPE_FROM_FP32}
"""Why the cache is not of the type that the file names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What the scenario's engine does with a model."""

    plan: Plan | None
    """None where this engine does not run the model."""
    missing: Note | None
    """Why there is no plan."""
    kv_dtype: KvDtype
    """What is stored."""
    chosen: KvDtype
    """The type before the engine lays it out."""
    reason: Message
    """Why that, where the scenario says ``auto``."""
    gpus: int
    """GPUs of one engine; the scenario's others hold more engines of the kind."""


def engine_name(scenario: Scenario) -> str:
    """The engine as people speak of it, with the release whose rules are used; a commit is none to speak of."""
    if scenario.engine in _AT_A_COMMIT and scenario.engine_version == "auto":
        return _NAMES[scenario.engine][0]
    return name_of(scenario.engine, scenario.engine_version)


def name_of(engine: str, version: str = "auto") -> str:
    """With the version whatever it is, where it matters: ``vLLM 0.33``, ``vLLM V0``, ``llama.cpp 0c1e570``."""
    name, newest = _NAMES[engine]
    newest = newest[:_COMMIT_CHARACTERS] if engine in _AT_A_COMMIT else newest
    return f"{name} {newest if version == 'auto' else _OLDER.get(version, version)}"


def version_of(scenario: Scenario) -> str:
    """The version of the engine whose rules are used."""
    newest: str = _NAMES[scenario.engine][1]
    return newest if scenario.engine_version == "auto" else scenario.engine_version


def request_bytes_windows_ignored(architecture: Architecture, scenario: Scenario, gpu: Device | None) -> int | None:
    """What the engine would count one request as with every attention layer at full length."""
    full = replace(architecture, layers=tuple(tuple(map(_at_full_length, layer)) for layer in architecture.layers))
    plan = planned(full, scenario, gpu).plan
    return plan.request_bytes(scenario.tokens) if plan else None


def _at_full_length(cache: LayerCache) -> LayerCache:
    if isinstance(cache, SlidingWindow | ChunkedAttention):
        return FullAttention(kv_heads=cache.kv_heads, key_dim=cache.key_dim, value_dim=cache.value_dim)
    return cache


def generation_of(gpu: Device | None) -> str:
    """Generation of the kernels that are reckoned with."""
    return gpu.generation if gpu else DEFAULT_GENERATION


def planned(architecture: Architecture, scenario: Scenario, gpu: Device | None) -> Planned:
    """The plan for a scenario. Raises ScenarioError, with the field, for settings it cannot be run with."""
    for field, engines in ENGINES_WITH.items():
        if scenario.engine not in engines and getattr(scenario, field) != DEFAULTS[field]:
            values = {"field": field, "engine": _NAMES[scenario.engine][0]}
            raise ScenarioError(Message(own_text.NOT_OF_THIS_ENGINE, values), field=field)
    if gpu is not None and gpu.maker not in _RUNS_ON[scenario.engine]:
        others = ", ".join(_NAMES[engine][0] for engine, makers in _RUNS_ON.items() if gpu.maker in makers)
        values = {"engine": _NAMES[scenario.engine][0], "gpu": gpu.name, "engines": others}
        sentence = own_text.NVIDIA_ONLY if _RUNS_ON[scenario.engine] == {"nvidia"} else own_text.NOT_ON_GPU
        chosen, reason = resolve_kv_dtype(architecture, scenario.kv_dtype, engine=scenario.engine)
        note = Note(code="not-on-this-gpu", message=Message(sentence, values))
        return Planned(plan=None, missing=note, kv_dtype=chosen, chosen=chosen, reason=reason, gpus=scenario.gpus)
    match scenario.engine:
        case "vllm":
            return _vllm(architecture, scenario, gpu)
        case "sglang":
            return _sglang(architecture, scenario, gpu)
        case "tensorrt-llm":
            return _tensorrt_llm(architecture, scenario)
        case "llama.cpp":
            return _llama_cpp(architecture, scenario)
        case "transformers":
            return _transformers(architecture, scenario)
    raise AssertionError(scenario.engine)


def accepted(
    architecture: Architecture, values: Mapping[str, Any], field: str, said: Message, gpu: Device | None
) -> Message:
    """What is ``said`` of a ``field`` that cannot be used, offering only values with which this model is answered.

    Whoever refused a value knew a part of the question: the GPUs but not the model, the heads but not the GPUs.
    ``values``: the other settings.
    """
    key = next((name for name in ("choices", "sizes") if name in said.values), None)
    sentence, setting = said.text, field
    if key is not None:
        offered = str(said.values[key]).split(", ")
    elif field == "pp" and "layers" in said.values:
        key, sentence, offered = "sizes", own_text.PP_TOO_LARGE, _divisors(values.get("gpus", DEFAULTS["gpus"]))
    else:
        return said
    if said.text is text.GPUS_DO_NOT_DIVIDE:  # sizes of one stage of one engine
        others = (values.get("pp") or 1) * (values.get("dp") or 1)
        offered = [str(int(size) * others) for size in offered]
    elif field == "gpus":
        setting = "tp"

    def answered(value: str) -> bool:
        try:
            scenario = Scenario(**{**values, setting: parse_value(setting, value)})
            planned(architecture, scenario, gpu)
        except ScenarioError:
            return False
        return True

    found = [value for value in offered if answered(value)]
    if not found:
        return Message(own_text.NOTHING_ELSE)
    return Message(sentence, {**said.values, key: ", ".join(found)})


def _divisors(count: int) -> list[str]:
    return [str(n) for n in range(1, count + 1) if count % n == 0]


def in_flight_tokens(scenario: Scenario, gpu: Device | None) -> int:
    """Tokens that vLLM has scheduled but not settled."""
    if scenario.in_flight_tokens is not None:
        return scenario.in_flight_tokens
    return vllm.concurrent_batches(scenario.pp, version=_vllm_version(scenario)) * batched_tokens(scenario, gpu)


def batched_tokens(scenario: Scenario, gpu: Device | None) -> int:
    """Tokens of one step: the scenario's, else what vLLM takes on this GPU."""
    if scenario.batched_tokens is not None:
        return scenario.batched_tokens
    if gpu is None:
        return vllm.DEFAULT_IN_FLIGHT_TOKENS // vllm.CONCURRENT_BATCHES
    return vllm.default_batched_tokens(gpu)


def usable_dtypes(architecture: Architecture, scenario: Scenario) -> tuple[str, ...]:
    """Names of the cache types that the engine can have for this model on this GPU."""
    generation = generation_of(device(scenario.gpu) if scenario.gpu else None)
    match scenario.engine:
        case "vllm":
            return vllm.usable_dtypes(architecture, generation)
        case "sglang":
            return sglang.usable_dtypes(architecture)
        case "tensorrt-llm":
            return tensorrt_llm.usable_dtypes(architecture)
        case "llama.cpp":
            return llama_cpp.usable_dtypes(architecture)
        case "transformers":
            return transformers.usable_dtypes()
    raise AssertionError(scenario.engine)


def full_dtype(architecture: Architecture, scenario: Scenario) -> str:
    """Name of the cache type of a model that nothing is quantised of."""
    match scenario.engine:
        case "llama.cpp":
            return llama_cpp.DEFAULT_DTYPE.name
        case "vllm":
            return vllm.runs_in(architecture, generation_of(device(scenario.gpu) if scenario.gpu else None))
    return architecture.dtype


def tp_sizes(architecture: Architecture, scenario: Scenario) -> tuple[int, ...]:
    """Tensor-parallel sizes the engine can have; 1 alone where it shares out whole layers."""
    match scenario.engine:
        case "vllm":
            return vllm.tp_sizes(architecture)
        case "sglang":
            return sglang.tp_sizes(architecture)
        case "tensorrt-llm":
            return tensorrt_llm.tp_sizes(architecture)
    return (1,)


def step_tokens(plan: Plan) -> int:
    """Tokens in which a request's need grows: a block, a page, a padding."""
    match plan:
        case VllmPlan():
            return plan.block_tokens
        case SglangPlan():
            return plan.page_tokens
        case TensorRtLlmPlan():
            return plan.block_tokens
        case LlamaCppPlan():
            return plan.pad_tokens
        case TransformersPlan():
            return 1
        case _:
            assert_never(plan)


def split_of(plan: Plan) -> int:
    """GPUs that the heads of a layer are shared out over."""
    match plan:
        case VllmPlan():
            return plan.tp
        case SglangPlan():
            return plan.tp // plan.dp_attention
        case TensorRtLlmPlan():
            return 1 if plan.attention_dp else plan.tp
        case LlamaCppPlan() | TransformersPlan():
            return 1
        case _:
            assert_never(plan)


def most_requests(plan: Plan) -> int | None:
    """Requests that one engine has at once whatever the memory: llama.cpp's slots; None: only memory decides."""
    return llama_cpp.MAX_SLOTS if isinstance(plan, LlamaCppPlan) else None


def unit_bytes(plan: Plan) -> int:
    """What the pool is made of: vLLM's blocks; elsewhere bytes, as other pools are cut otherwise."""
    return plan.pool_block_bytes if isinstance(plan, VllmPlan) else 1


def null_bytes(plan: Plan) -> int:
    """What of the pool no request is ever given: vLLM's null block."""
    return plan.null_blocks * plan.pool_block_bytes if isinstance(plan, VllmPlan) else 0


def _tensor_parallel(
    scenario: Scenario, gpus: int, runs: Callable[[int], bool], sizes: Callable[[], tuple[int, ...]]
) -> int:
    """The scenario's, or all of ``gpus`` where the heads allow it."""
    if scenario.tp is not None:
        return scenario.tp
    if not runs(gpus):
        values = {"gpus": gpus, "sizes": ", ".join(str(s) for s in sizes())}
        raise ScenarioError(Message(text.GPUS_DO_NOT_DIVIDE, values), field="gpus")
    return gpus


def _vllm_version(scenario: Scenario) -> str:
    return vllm.VERSION if scenario.engine_version == "auto" else scenario.engine_version


def _vllm(architecture: Architecture, scenario: Scenario, gpu: Device | None) -> Planned:
    generation = generation_of(gpu)
    chosen, reason = resolve_kv_dtype(architecture, scenario.kv_dtype)
    if scenario.kv_dtype == "auto" and (default := vllm.default_dtype(architecture, generation)):
        chosen, reason = default, Message(text.DTYPE_ENGINE_DEFAULT, {"version": vllm.VERSION})
    runs_in = vllm.runs_in(architecture, generation)
    if scenario.kv_dtype == "auto" and not chosen.quantised and chosen.name != runs_in:
        chosen, reason = KV_DTYPES[runs_in], Message(_FALLBACKS[architecture.dtype], {"dtype": runs_in})
    dp = scenario.dp or 1
    if scenario.attention_dp == "on":  # vLLM: engines of their own, which share out the experts
        dp = scenario.dp or scenario.gpus // (scenario.pp * (scenario.tp or 1))
    gpus = scenario.gpus // (scenario.pp * dp)
    if vllm.offers(chosen):
        tp = _tensor_parallel(
            scenario, gpus, lambda n: vllm.runs_on(architecture, n), lambda: vllm.tp_sizes(architecture)
        )
        vllm.check_tp(architecture, tp)
        stored = vllm.stored_dtype(architecture, chosen, generation)
    else:  # another engine's type: none of vLLM's rules is about it
        tp, stored = scenario.tp or gpus, chosen
    made, missing = _made(
        lambda: vllm.plan(
            architecture,
            kv_dtype=stored,
            tp=tp,
            pp=scenario.pp,
            dcp=scenario.dcp,
            block_tokens=scenario.block_tokens,
            in_flight_tokens=in_flight_tokens(scenario, gpu),
            prefix_caching=scenario.prefix_caching == "on",
            full_windows=scenario.full_windows == "on",
            draft_layers=scenario.draft_layers,
            draft_tokens=scenario.proposed_tokens,
            version=_vllm_version(scenario),
            gpu_generation=generation,
        )
    )
    if made and scenario.weight_dtype == "auto":  # other weights than the published ones may be stored otherwise
        vllm.check_blocks(architecture, tp, generation, field="gpus" if scenario.tp is None else "tp")
    return Planned(plan=made, missing=missing, kv_dtype=stored, chosen=chosen, reason=reason, gpus=tp * scenario.pp)


def _made(make: Callable[[], P]) -> tuple[P | None, Note | None]:
    """The plan, or why the engine has none: what the model stores is still worth showing."""
    try:
        return make(), None
    except ScenarioError:
        raise
    except KvvizError as error:
        return None, Note(code=error.code, message=error.message)


def _sglang(architecture: Architecture, scenario: Scenario, gpu: Device | None) -> Planned:
    generation = generation_of(gpu)
    chosen, reason = resolve_kv_dtype(architecture, scenario.kv_dtype, engine="sglang")
    if scenario.kv_dtype == "auto" and (default := sglang.default_dtype(architecture, generation)):
        chosen, reason = default, Message(sglang_text.DTYPE_DEFAULT, {"version": sglang.VERSION})
    on = scenario.attention_dp == "on"
    gpus = scenario.gpus // (scenario.pp * (1 if on else scenario.dp or 1))
    sizes = sglang.tp_sizes(architecture)
    tp = scenario.tp or gpus if on else _tensor_parallel(scenario, gpus, lambda n: n in sizes, lambda: sizes)
    made, missing = _made(
        lambda: sglang.plan(
            architecture,
            kv_dtype=chosen,
            tp=tp,
            pp=scenario.pp,
            dp_attention=(scenario.dp or tp) if on else 1,
            page_tokens=scenario.block_tokens,
            radix_cache=scenario.prefix_caching == "on",
            draft_layers=scenario.draft_layers,
            generation=generation,
        )
    )
    return Planned(
        plan=made,
        missing=missing,
        kv_dtype=made.kv_dtype if made else chosen,
        chosen=chosen,
        reason=reason,
        gpus=tp * scenario.pp,
    )


def _tensorrt_llm(architecture: Architecture, scenario: Scenario) -> Planned:
    chosen, reason = resolve_kv_dtype(architecture, scenario.kv_dtype, engine="tensorrt-llm")
    on = scenario.attention_dp == "on"
    gpus = scenario.gpus // (scenario.pp * (scenario.dp or 1))
    sizes = tensorrt_llm.tp_sizes(architecture)
    tp = scenario.tp or gpus if on else _tensor_parallel(scenario, gpus, lambda n: n in sizes, lambda: sizes)
    made, missing = _made(
        lambda: tensorrt_llm.plan(
            architecture,
            kv_dtype=chosen,
            tp=tp,
            pp=scenario.pp,
            attention_dp=on,
            block_tokens=scenario.block_tokens or tensorrt_llm.DEFAULT_BLOCK_TOKENS,
            windows=scenario.full_windows == "off",
        )
    )
    return Planned(plan=made, missing=missing, kv_dtype=chosen, chosen=chosen, reason=reason, gpus=tp * scenario.pp)


def _llama_cpp(architecture: Architecture, scenario: Scenario) -> Planned:
    gpus = scenario.gpus // (scenario.dp or 1)  # whole layers on each of them
    chosen, reason = resolve_kv_dtype(architecture, scenario.kv_dtype, engine="llama.cpp")
    values = None if scenario.v_dtype == "same" else KV_DTYPES[scenario.v_dtype]
    made, missing = _made(
        lambda: llama_cpp.plan(
            architecture,
            kv_dtype=chosen,
            v_dtype=values,
            unified=scenario.unified == "on",
            ubatch_tokens=scenario.batched_tokens or llama_cpp.DEFAULT_UBATCH_TOKENS,
            swa_full=scenario.full_windows == "on",
            latent="expanded" if scenario.engine_version == "expanded-mla" else "latent",
            gpus=gpus,
        )
    )
    stored = chosen.with_values(values)
    return Planned(plan=made, missing=missing, kv_dtype=stored, chosen=stored, reason=reason, gpus=gpus)


def _transformers(architecture: Architecture, scenario: Scenario) -> Planned:
    chosen, reason = resolve_kv_dtype(architecture, scenario.kv_dtype, engine="transformers")
    tp = scenario.tp or 1
    gpus = scenario.gpus // (scenario.dp or 1)
    made, missing = _made(
        lambda: transformers.plan(
            architecture,
            kv_dtype=chosen,
            way="full-length" if scenario.full_windows == "on" else "dynamic",
            tp=tp,
            pp=gpus // tp,
            prompt_tokens=scenario.input_tokens,
            latent="expanded" if scenario.engine_version == "4.57" else "stored",
        )
    )
    return Planned(plan=made, missing=missing, kv_dtype=chosen, chosen=chosen, reason=reason, gpus=gpus)
