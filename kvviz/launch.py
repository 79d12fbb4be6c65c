"""A sizing -> the command that starts its engine so, and what to know before running it."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, assert_never

from kvviz.core.units import format_count
from kvviz.engines import llama_cpp, sglang, tensorrt_llm, transformers, vllm
from kvviz.engines.llama_cpp import LlamaCppPlan
from kvviz.engines.sglang import SglangPlan
from kvviz.engines.tensorrt_llm import TensorRtLlmPlan
from kvviz.engines.transformers import TransformersPlan
from kvviz.engines.vllm import VllmPlan
from kvviz.planning import generation_of
from kvviz.sizing import Sizing
from kvviz.text import Message
from kvviz.text import launch as text

GGUF: Final = "./your-model.gguf"
PLACEHOLDER: Final = "./your-model"
"""Stands for a model of which only the config is known."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_HUB_ID: Final = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_CACHE_FLAGS: Final[Mapping[str, str]] = {"bf16": "bfloat16", "fp16": "float16"}
"""Where vLLM's name for a cache type is not ours (``config/cache.py:44-67``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How to start it."""

    command: str
    """One line for a POSIX shell, quoted, the same for every engine side by side; of Transformers a program."""
    file: str = ""
    """Text of a file that the command reads; empty: none."""
    notes: tuple[Message, ...]
    """What to change or know first."""


def launch(sizing: Sizing) -> Launch | None:
    """None for a model that the engine does not run."""
    plan, scenario = sizing.plan, sizing.scenario
    model = PLACEHOLDER if _only_config(sizing) else scenario.model
    longest, requests = scenario.max_model_len or sizing.tokens, sizing.requests_of_one
    match plan:
        case None:
            return None
        case VllmPlan():
            return Launch(command=vllm_command(sizing), notes=(*_first_notes(sizing), *_vllm_notes(sizing)))
        case SglangPlan():
            words = sglang.launch(
                plan,
                model=model,
                context_tokens=longest,
                memory_fraction=scenario.memory_fraction,
                max_running_requests=requests if _has(sizing, "more-than-max-running-requests") else None,
                default_page=sglang.default_page_tokens(sizing.architecture, _generation(sizing)),
                says_dtype=scenario.kv_dtype != "auto",
            )
            return Launch(command=shlex.join(words), notes=_first_notes(sizing))
        case TensorRtLlmPlan():
            fraction = tensorrt_llm.DEFAULT_FRACTION if scenario.memory_fraction is None else scenario.memory_fraction
            words, file = tensorrt_llm.launch(plan, model=model, requests=requests, tokens=longest, fraction=fraction)
            return Launch(command=shlex.join(words), file=file, notes=_first_notes(sizing))
        case LlamaCppPlan():
            words = llama_cpp.launch(plan, model=GGUF, requests=requests, tokens=longest)
            first = Message(text.GGUF, {"path": GGUF})
            notes = (first, *_first_notes(sizing, config=False), *_llama_cpp_notes(sizing))
            return Launch(command=shlex.join(words), notes=notes)
        case TransformersPlan():
            program = transformers.launch(plan, model=model, max_new_tokens=scenario.output)
            return Launch(command=program, notes=_first_notes(sizing))
        case _:
            assert_never(plan)


def vllm_command(sizing: Sizing) -> str:
    """Lengths always, every other setting only where it is not what vLLM takes by itself."""
    scenario, plan = sizing.scenario, sizing.plan
    arguments = ["vllm", "serve", PLACEHOLDER if _only_config(sizing) else scenario.model]

    def flag(name: str, value: str | float) -> None:
        arguments.extend((name, f"{value}"))

    if _COMMIT.fullmatch(scenario.revision):
        flag("--revision", scenario.revision)
    flag("--max-model-len", scenario.max_model_len or sizing.tokens)
    if scenario.memory_fraction is not None:
        flag("--gpu-memory-utilization", scenario.memory_fraction)
    if isinstance(plan, VllmPlan):
        for name, ranks in (
            ("--tensor-parallel-size", plan.tp),
            ("--pipeline-parallel-size", plan.pp),
            ("--decode-context-parallel-size", plan.dcp),
        ):
            if ranks > 1:
                flag(name, ranks)
    if sizing.one_command:
        flag("--data-parallel-size", sizing.engines)
    if sizing.one_command or _has(sizing, "expert-parallel"):
        arguments.append("--enable-expert-parallel")
    if scenario.kv_dtype == "fp32":
        flag("--dtype", "float32")
    elif scenario.kv_dtype != "auto":
        flag("--kv-cache-dtype", _CACHE_FLAGS.get(scenario.kv_dtype, scenario.kv_dtype))
    if scenario.block_tokens is not None:
        flag("--block-size", scenario.block_tokens)
    if scenario.batched_tokens not in (None, _default_batched_tokens(sizing)):
        flag("--max-num-batched-tokens", scenario.batched_tokens or 0)
    if scenario.in_flight_tokens is not None and scenario.in_flight_tokens == _batched_tokens(sizing):
        arguments.append("--no-async-scheduling")
    if sequences := _max_num_seqs(sizing):
        flag("--max-num-seqs", sequences)
    if scenario.prefix_caching == "off":
        arguments.append("--no-enable-prefix-caching")
    if scenario.full_windows == "on":
        arguments.append("--disable-hybrid-kv-cache-manager")
    return shlex.join(arguments)


def _has(sizing: Sizing, code: str) -> bool:
    return any(note.code == code for note in sizing.notes)


def _generation(sizing: Sizing) -> str:
    return generation_of(sizing.budget.device if sizing.budget else None)


def _first_notes(sizing: Sizing, *, config: bool = True) -> tuple[Message, ...]:
    """What must be changed in the command, whichever engine it starts."""
    scenario, plan, budget = sizing.scenario, sizing.plan, sizing.budget
    notes: list[Message] = []
    if config and _only_config(sizing):
        notes.append(Message(text.PLACEHOLDER, {"path": PLACEHOLDER}))
    if scenario.weights_gib is not None:
        notes.append(Message(text.TYPED_WEIGHTS))
    elif scenario.weight_dtype != "auto":
        notes.append(Message(text.OTHER_WEIGHTS, {"dtype": scenario.weight_dtype}))
    if sizing.one_command and plan is not None:
        values: dict[str, object] = {"groups": format_count(sizing.engines), "gpus": format_count(scenario.gpus)}
        notes.append(Message(text.ONE_COMMAND, values))
    elif sizing.engines > 1 and plan is not None:
        amd = budget is not None and budget.device.maker == "amd"
        gpus = Message(text.ONE_GPU if plan.gpus == 1 else text.GPUS, {"gpus": plan.gpus})
        values = {"engines": format_count(sizing.engines), "gpus": gpus}
        notes.append(Message(text.EACH_ENGINE_AMD if amd else text.EACH_ENGINE, values))
    if sizing.starts is False:
        notes.append(Message(text.NO_START))
    return tuple(notes)


def _llama_cpp_notes(sizing: Sizing) -> tuple[Message, ...]:
    """It allocates all slots at start: too many are not found out later, request by request."""
    notes = []
    asked = -(-sizing.scenario.requests // sizing.engines)
    if asked > sizing.requests_of_one:
        values = {"asked": format_count(asked), "most": format_count(sizing.requests_of_one)}
        notes.append(Message(text.SLOTS_LIMIT, values))
    if sizing.starts and sizing.short_bytes is not None and sizing.short_bytes > 0:
        fit = (sizing.max_sequences_counted or 0) // sizing.engines
        values = {"slots": format_count(sizing.requests_of_one), "fit": format_count(fit)}
        notes.append(Message(text.SLOTS_DO_NOT_FIT, values))
    return tuple(notes)


def _vllm_notes(sizing: Sizing) -> tuple[Message, ...]:
    """What is to be known."""
    scenario, budget = sizing.scenario, sizing.budget
    notes: list[Message] = []
    longest, maximum = scenario.max_model_len or sizing.tokens, sizing.architecture.max_context_tokens
    if maximum is not None and longest > maximum:
        values = {"tokens": format_count(longest), "maximum": format_count(maximum)}
        notes.append(Message(text.BEYOND_MODEL, values))
    if _max_num_seqs(sizing) and budget is not None:
        default = format_count(vllm.default_batched_sequences(budget.device))
        notes.append(Message(text.MORE_SEQUENCES, {"default": default}))
    batched = _batched_tokens(sizing)
    if scenario.in_flight_tokens not in (None, batched, vllm.concurrent_batches(scenario.pp) * (batched or 0)):
        notes.append(Message(text.IN_FLIGHT))
    if scenario.kv_dtype == "fp32":
        notes.append(Message(text.FP32_CACHE))
    return tuple(notes)


def _only_config(sizing: Sizing) -> bool:
    """Whether the model's name is one that a person gave to a config; a pinned commit is the Hub's."""
    scenario = sizing.scenario
    if _COMMIT.fullmatch(scenario.revision):
        return False
    return bool(scenario.config) or not _HUB_ID.fullmatch(scenario.model)


def _default_batched_tokens(sizing: Sizing) -> int | None:
    """What vLLM takes on this GPU; None where nobody knows which GPU."""
    return None if sizing.budget is None else vllm.default_batched_tokens(sizing.budget.device)


def _batched_tokens(sizing: Sizing) -> int | None:
    return sizing.scenario.batched_tokens or _default_batched_tokens(sizing)


def _max_num_seqs(sizing: Sizing) -> int | None:
    """Where one engine gets more requests than it runs by default; a step has a token for each, at least."""
    batched = _batched_tokens(sizing)
    if sizing.budget is None or batched is None:
        return None
    most = min(-(-sizing.scenario.requests // sizing.engines), batched)
    return most if most > vllm.default_batched_sequences(sizing.budget.device) else None
