"""What the weights of a bundled model take, whole, before any split over GPUs.

The table is counted from each config.json by scripts/count_weights.py. A model that it does not know gives None, never
a number made from its name.
"""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final

from kvviz.core.architecture.model import ModelDtype
from kvviz.core.errors import ScenarioError
from kvviz.core.units import GIB, format_count
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
    counted = row["basis"] == "counted"
    if not counted:  # somebody else did
        basis = "assumed"
    sentence = text.PUBLISHED
    if counted:
        sentence = text.COUNTED_WITHOUT_MTP if row.get("mtp") else text.COUNTED
    values = {"parameters": format_count(row["parameters"]), "version": _table()["transformers"], "layout": layout}
    return Estimate(
        value_bytes=math.ceil(size),
        basis=basis,
        source=Message(sentence, values),
        parameters=Parameters(total=row["parameters"], linear=row["linear"], quantised=bool(row["stored"])),
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
    if to.everything:
        layout = text.AT_32_BIT if weight_dtype == "fp32" else text.AT_16_BIT
        return parameters.total * to.value_bytes, layout, "assumed" if parameters.quantised else "exact"
    if parameters.linear is None:
        return None
    size = parameters.linear * to.value_bytes + 2 * (parameters.total - parameters.linear)
    return size, Message(text.WHAT_IF, {"dtype": weight_dtype}), "assumed"


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
