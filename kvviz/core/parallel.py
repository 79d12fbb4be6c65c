"""How an engine cuts a model's layers into pipeline stages.

Where stages cannot be equal, each engine has its own rule for the layers that are left over. llama.cpp shares layers
out by proportions; its own module knows how.
"""

from typing import Final, Literal

from kvviz.core.architecture.model import Architecture
from kvviz.core.errors import ScenarioError
from kvviz.text import Message
from kvviz.text import engine as text

Remainder = Literal["middle", "last"]
"""Which stages take one layer more. ``middle``: those before the last, from the back, the last and then the first
spared (vLLM ``distributed/utils.py:198-241``); ``last``: the last ones (SGLang ``distributed/utils.py:110-150``)."""

_SUBLAYERS: Final = frozenset({"longcat", "longcat_flash", "longcat_flash_ngram"})
"""Model types whose blocks are two entries of ``Architecture.layers`` each."""


def stage_layers(layers: int, stages: int, *, remainder: Remainder) -> tuple[int, ...]:
    """Layers of each stage: 61 on 4 are 15, 15, 16, 15 or 15, 15, 15, 16.

    Raises ScenarioError where a stage would have none.
    """
    if not 1 <= stages <= layers:
        raise ScenarioError(Message(text.PP_TOO_LARGE, {"pp": stages, "layers": layers}), field="pp")
    each, over = divmod(layers, stages)
    end = stages - 1 if remainder == "middle" else stages
    return tuple(each + (end - over <= stage < end) for stage in range(stages))


def pipeline(architecture: Architecture, stages: int, *, remainder: Remainder) -> tuple[range, ...]:
    """The entries of ``architecture.layers`` that each stage has; a block of two attention sublayers is not cut."""
    together = 2 if architecture.model_type in _SUBLAYERS else 1
    made: list[range] = []
    start = 0
    for count in stage_layers(len(architecture.layers) // together, stages, remainder=remainder):
        made.append(range(start, start + count * together))
        start += count * together
    return tuple(made)
