"""A sizing -> the ``vllm serve`` command that starts it, and what to know before running it."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kvviz.core.units import format_count
from kvviz.engines import vllm
from kvviz.scenario import DEFAULTS
from kvviz.sizing import Sizing
from kvviz.text import Message
from kvviz.text import launch as text

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
    """One line for a POSIX shell, quoted; the same for every engine."""
    notes: tuple[Message, ...]
    """What to change or know first."""


def launch(sizing: Sizing) -> Launch | None:
    """None for a model that the engine does not run."""
    return None if sizing.plan is None else Launch(command=vllm_command(sizing), notes=_notes(sizing))


def vllm_command(sizing: Sizing) -> str:
    """Lengths always, every other setting only where it is not what vLLM takes by itself."""
    scenario, plan = sizing.scenario, sizing.plan
    arguments = ["vllm", "serve", PLACEHOLDER if _only_config(sizing) else scenario.model]

    def flag(name: str, value: str | float) -> None:
        arguments.extend((name, f"{value}"))

    if _COMMIT.fullmatch(scenario.revision):
        flag("--revision", scenario.revision)
    flag("--max-model-len", scenario.max_model_len or sizing.tokens)
    if scenario.memory_fraction != DEFAULTS["memory_fraction"]:
        flag("--gpu-memory-utilization", scenario.memory_fraction)
    if plan is not None and plan.tp > 1:
        flag("--tensor-parallel-size", plan.tp)
    if any(note.code == "expert-parallel" for note in sizing.notes):
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
    return shlex.join(arguments)


def _notes(sizing: Sizing) -> tuple[Message, ...]:
    """What comes first must be changed in the command; the rest is to be known."""
    scenario, plan, budget = sizing.scenario, sizing.plan, sizing.budget
    notes: list[Message] = []
    if _only_config(sizing):
        notes.append(Message(text.PLACEHOLDER, {"path": PLACEHOLDER}))
    if scenario.weights_gib is not None:
        notes.append(Message(text.TYPED_WEIGHTS))
    elif scenario.weight_dtype != "auto":
        notes.append(Message(text.OTHER_WEIGHTS, {"dtype": scenario.weight_dtype}))
    if sizing.engines > 1 and plan is not None:
        amd = budget is not None and budget.device.generation == "cdna3"
        values = {"engines": format_count(sizing.engines), "tp": plan.tp}
        notes.append(Message(text.EACH_ENGINE_AMD if amd else text.EACH_ENGINE, values))
    if sizing.starts is False:
        notes.append(Message(text.NO_START))
    longest, maximum = scenario.max_model_len or sizing.tokens, sizing.architecture.max_context_tokens
    if maximum is not None and longest > maximum:
        values = {"tokens": format_count(longest), "maximum": format_count(maximum)}
        notes.append(Message(text.BEYOND_MODEL, values))
    if _max_num_seqs(sizing) and budget is not None:
        default = format_count(vllm.default_batched_sequences(budget.device))
        notes.append(Message(text.MORE_SEQUENCES, {"default": default}))
    batched = _batched_tokens(sizing)
    if scenario.in_flight_tokens not in (None, batched, vllm.CONCURRENT_BATCHES * (batched or 0)):
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
