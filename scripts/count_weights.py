"""Count the weights of the bundled models from their config.json and write kvviz/data/weights.json.

    python scripts/count_weights.py [--configs DIR] [--out FILE] [ORG--NAME ...]

Each model is built on torch's meta device (shapes, no memory) by the Transformers class its file names, and its
parameters are counted: every expert, tied embeddings once, the vision or audio tower where the class has one. Remote
code never runs. Left out: prediction (MTP) layers, which engines load for speculative decoding only and Transformers
does not build, and buffers such as routing biases (under 0.01 % of any model).

A quantised checkpoint is counted as its ``quantization_config`` says. Where the bundled copy of a file is shortened,
or the layout is published beside config.json, published_facts.json has what the publisher wrote. Where nothing says
it, the row has parameters and no bytes. A model that Transformers cannot build has the number of parameters its
publisher states, where published_facts.json has it, and else nothing. A row is marked where SOURCES.tsv doubts that
the bundled file is the published one.
"""

import argparse
import csv
import fnmatch
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from torch import nn
from transformers.pytorch_utils import Conv1D

ROOT: Final = Path(__file__).resolve().parent.parent
CONFIGS: Final = ROOT / "kvviz" / "data" / "configs"
OUT: Final = ROOT / "kvviz" / "data" / "weights.json"
PUBLISHED: Final = Path(__file__).with_name("published_facts.json")

EQUIVALENT: Final[Mapping[tuple[str, str], str]] = {
    # Kimi K2 is published with DeepSeek-V3's class and fields under a model type of its own.
    ("kimi_k2", "DeepseekV3ForCausalLM"): "DeepseekV3ForCausalLM",
    # A reference export of DeepSeek-V4: its class, and its field names throughout.
    ("deepseek_ref", "DeepseekV4ForCausalLM"): "DeepseekV4ForCausalLM",
    # MiMo's published class derives from Qwen2's and adds prediction layers only.
    ("mimo", "MiMoForCausalLM"): "Qwen2ForCausalLM",
}
"""(model_type, class) of a file whose fields mean, one by one, what they mean to the Transformers class given."""


OLDER_FIELDS: Final[Mapping[str, str]] = {"zamba2": "state_size"}
"""Model types, each with a field by which one knows files older than their Transformers class: its sizes have other
names there, so that class would fill in its own."""


PREDICTION_LAYERS: Final = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules")
"""Fields that count layers which predict further tokens."""


class NotCountedError(Exception):
    """Why a model, or the bytes it is stored in, cannot be counted. ``code`` is a key of kvviz.text.weights.REASONS."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code} {detail}".strip())
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Linear weights of one shape: a linear layer, or one projection of all experts of a layer."""

    module: str
    """Path in the Transformers model."""
    rows: int
    columns: int
    count: int = 1
    """Matrices: experts, twice where gate and up projections are stored as one."""
    head: bool = False
    """The output embedding, which is quantised only where a file names it."""

    @property
    def parameters(self) -> int:
        """Weights in all ``count`` matrices."""
        return self.rows * self.columns * self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How quantised linear weights are stored."""

    name: str
    bits: int
    block: tuple[int, int] | None = None
    """Rows and columns that share a scale; None: one scale a matrix."""
    scale_bytes: Fraction
    """Bytes of one scale, zero points included."""
    matrix_bytes: int = 0
    """Bytes of scalars beside each matrix."""

    def stored_bytes(self, matrix: Matrix) -> int:
        """Bytes of all weights of ``matrix`` and their scales."""
        rows, columns = self.block or (matrix.rows, matrix.columns)
        scales = -(-matrix.rows // rows) * -(-matrix.columns // columns)
        each = Fraction(matrix.rows * matrix.columns * self.bits, 8) + scales * self.scale_bytes + self.matrix_bytes
        return -(-(matrix.count * each).numerator // (matrix.count * each).denominator)


# modelopt: 4-bit values, an fp8 scale for 16 of them, two fp32 scalars (weight and input) a matrix.
NVFP4: Final = Format(name="nvfp4", bits=4, block=(1, 16), scale_bytes=Fraction(1), matrix_bytes=8)
# OCP microscaling: 4-bit values, a power-of-two scale byte for 32 of them.
MXFP4: Final = Format(name="mxfp4", bits=4, block=(1, 32), scale_bytes=Fraction(1))
FP8: Final = Format(name="fp8", bits=8, scale_bytes=Fraction(4), matrix_bytes=4)


def find_class(config: Mapping[str, Any]) -> type[transformers.PreTrainedModel]:
    """The Transformers class that builds this file's model."""
    if not config.get("architectures"):
        raise NotCountedError("no-architecture")
    name: str = config["architectures"][0]
    model_type: str | None = config.get("model_type")
    equivalent = EQUIVALENT.get((model_type or "", name))
    # Transformers spells some published names its own way: PhiMoE... is Phimoe..., KimiK25... is Kimi_K25....
    wanted = (equivalent or name).replace("_", "").lower()
    found = _class_names().get(wanted)
    if found is None:
        raise NotCountedError("no-class", name)
    cls: type[transformers.PreTrainedModel] = getattr(transformers, found)
    reader = cls.config_class
    other = model_type and not equivalent and (reader is None or model_type != reader.model_type)
    if other or OLDER_FIELDS.get(model_type or "") in config:
        raise NotCountedError("other-fields", f"{model_type}/{name}")
    for part in reader.sub_configs if reader else ():
        # The text part may stand at the top level; a tower that is left out would be built with made-up sizes.
        if part != "text_config" and part not in config:
            raise NotCountedError("incomplete", part)
    return cls


@cache
def _class_names() -> dict[str, str]:
    return {name.replace("_", "").lower(): name for name in dir(transformers)}


def build(config: Mapping[str, Any]) -> transformers.PreTrainedModel:
    """The model on the meta device: shapes without storage."""
    cls = find_class(config)
    try:
        with torch.device("meta"):
            return cls(cls.config_class.from_dict(_plain(config)))
    except Exception as error:  # whatever a library raises about a file it cannot use, the answer is "not counted"
        raise NotCountedError("refused") from error


def _plain(value: object) -> Any:  # noqa: ANN401  JSON comes out as it went in
    """Without what would run code or quantise, and with the infinities that JSON cannot write."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k not in ("auto_map", "quantization_config")}
    if isinstance(value, list):
        return [float("inf") if v == "inf" else _plain(v) for v in value]
    return value


def linear_matrices(model: nn.Module) -> Iterator[Matrix]:
    """Every linear weight once. A head tied to the input embedding is that embedding, not a linear weight."""
    parts = [m for m in model.modules() if isinstance(m, transformers.PreTrainedModel)]
    heads = {id(head) for part in parts if (head := part.get_output_embeddings()) is not None}
    seen = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    for path, module in model.named_modules():
        for name, tensor in module.named_parameters(recurse=False):
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            if isinstance(module, nn.Linear | Conv1D) and name == "weight":
                rows, columns = tensor.shape if isinstance(module, nn.Linear) else reversed(tensor.shape)
                yield Matrix(module=path, rows=rows, columns=columns, head=id(module) in heads)
            elif tensor.ndim == 3 and type(module).__name__.endswith("Experts"):  # Transformers fuses experts
                experts, rows, columns = tensor.shape
                if getattr(module, "is_transposed", False):
                    rows, columns = columns, rows
                fused = 2 if name == "gate_up_proj" else 1
                yield Matrix(module=path, rows=rows // fused, columns=columns, count=experts * fused)


def named_by(patterns: list[str], module: str) -> bool:
    """True if a list of modules in a quantization_config names ``module``.

    ``re:`` starts a regular expression, ``*`` makes a glob, anything else is a run of path components. Files name the
    parts of a model with and without the leading ``model.``.
    """
    for name in (module, module.removeprefix("model.")):
        for pattern in patterns:
            if pattern.startswith("re:"):
                if re.match(pattern[3:], name):
                    return True
            elif "*" in pattern:
                if fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, f"{pattern}.*"):
                    return True
            elif f".{pattern}." in f".{name}.":
                return True
    return False


def quantisation(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """The file's quantization_config, from the text part where it stands there."""
    found = config.get("quantization_config") or config.get("text_config", {}).get("quantization_config")
    return found or None


def layout(config: Mapping[str, Any], matrices: list[Matrix], *, keep: list[str]) -> Callable[[Matrix], Format | None]:
    """How each matrix is stored, as the file says; None: in the model's own type. ``keep`` is never quantised."""
    quantised = quantisation(config)
    if quantised is None:
        return lambda matrix: None
    method = quantised.get("quant_method")
    ignore = [*keep]
    for key in ("ignore", "ignored_layers", "exclude_modules", "modules_to_not_convert"):
        ignore += _modules(quantised.get(key))
    named: list[tuple[list[str], Format]] = []
    default: Format | None = None
    if "config_groups" in quantised and method != "fp8":  # compressed-tensors, and modelopt in the same form
        for group in quantised["config_groups"].values():
            form = _group_format(group["weights"])
            targets = _modules(group["targets"])
            if "Linear" in targets:
                default = form
            else:
                named.append((targets, form))
    elif method == "fp8":
        block = quantised.get("weight_block_size")
        default = Format(name="fp8", bits=8, block=tuple(block), scale_bytes=Fraction(4)) if block else FP8
        if quantised.get("moe_quant_algo") == "NVFP4":  # here "ignore" says what stays fp8, not what stays 16-bit
            ignore = [*keep]
            named.append((_modules(quantised["quantized_layers"]), NVFP4))
        elif config.get("expert_dtype") == "fp4":
            named.append((["experts"], MXFP4))
    elif method == "mxfp4":
        default = MXFP4
    elif method in ("awq", "gptq"):
        zero_bits = quantised["bits"] if quantised.get("zero_point", method == "gptq") else 0
        default = _integers(quantised["bits"], quantised["group_size"], zero_bits)
    else:
        raise NotCountedError("layout-unknown")

    for targets, _ in named:
        # A name that finds nothing means that the file and the class name their modules differently.
        if not all(any(named_by([target], m.module) for m in matrices) for target in targets):
            raise NotCountedError("layout-unknown")

    def stored(matrix: Matrix) -> Format | None:
        if named_by(ignore, matrix.module):
            return None
        form = next((form for targets, form in named if named_by(targets, matrix.module)), None)
        return form or (None if matrix.head else default)

    return stored


def _modules(value: object) -> list[str]:
    if isinstance(value, str):  # "<283 entries removed>": the bundled file is shortened here
        raise NotCountedError("layout-unknown")
    return list(value) if isinstance(value, list) else []


def _group_format(weights: Mapping[str, Any]) -> Format:
    bits, group = weights["num_bits"], weights.get("group_size")
    if weights["type"] == "float":
        form = {(4, 16): NVFP4, (4, 32): MXFP4, (8, None): FP8}.get((bits, group))
        if form is None or weights.get("strategy") in ("channel", "block"):
            raise NotCountedError("layout-unknown")
        return form
    return _integers(bits, group, 0 if weights.get("symmetric", True) else bits)


def _integers(bits: int, group: int | None, zero_bits: int) -> Format:
    """Integers with a 16-bit scale, and perhaps a zero point, for each group along a row."""
    if group is None:
        raise NotCountedError("layout-unknown")
    return Format(name=f"int{bits}", bits=bits, block=(1, group), scale_bytes=2 + Fraction(zero_bits, 8))


def count(config: Mapping[str, Any], *, published: int | None = None) -> dict[str, Any]:
    """One row of weights.json. ``published``: the publisher's number of parameters, for a model that is not counted."""
    row: dict[str, Any] = {"basis": "unknown", "parameters": None, "linear": None, "stored": None}
    row |= {"dtype": _dtype(config), "published_bytes": None}
    try:
        model = build(config)
        matrices = list(linear_matrices(model))
        row |= {
            "basis": "counted",
            "class": type(model).__name__,
            "parameters": sum(p.numel() for p in model.parameters()),
            "linear": sum(m.parameters for m in matrices if not m.head),
        }
        if any(part.get(key) for part in _parts(config) for key in PREDICTION_LAYERS):
            row["mtp"] = True
        stored_as = layout(config, matrices, keep=list(getattr(model, "_keep_in_fp32_modules", None) or ()))
        stored: dict[str, list[int]] = {}
        for matrix in matrices:
            if form := stored_as(matrix):
                total = stored.setdefault(form.name, [0, 0])
                total[0] += matrix.parameters
                total[1] += form.stored_bytes(matrix)
        row["stored"] = dict(sorted(stored.items()))
    except NotCountedError as error:
        row |= {"why": error.code, "detail": error.detail}
        if published and row["basis"] == "unknown" and quantisation(config) is None:
            row |= {"basis": "published", "parameters": published, "stored": {}}
    width = {"bf16": 2, "fp16": 2, "fp32": 4}.get(row["dtype"])
    if width and row["stored"] is not None:
        rest = row["parameters"] - sum(parameters for parameters, _ in row["stored"].values())
        row["published_bytes"] = rest * width + sum(size for _, size in row["stored"].values())
    return row


def _parts(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The file's top level, and the parts it nests."""
    return [config, *(value for value in config.values() if isinstance(value, dict))]


def _dtype(config: Mapping[str, Any]) -> str | None:
    """The type of what is not quantised, where the file says it."""
    for part in _parts(config):
        for key in ("dtype", "torch_dtype"):
            if part.get(key):
                return {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}.get(part[key])
    return None


def completed(config: dict[str, Any], model: str, layouts: Mapping[str, Any]) -> dict[str, Any]:
    """The config with its quantization_config as published, where the bundled file has less."""
    if model not in layouts:
        return config
    inner = config.get("text_config")
    text = {k: v for k, v in inner.items() if k != "quantization_config"} if isinstance(inner, dict) else None
    # A layout of null: the checkpoint is known to be quantised, and nothing at hand says how.
    as_published = layouts[model]["quantization_config"] or {"quant_method": None}
    return {**config, **({"text_config": text} if text else {}), "quantization_config": as_published}


def doubtful() -> set[str]:
    """Names of the files that are not surely the published ones."""
    with (CONFIGS / "SOURCES.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["file"] for row in rows if row["confidence"] == "low"}


def main(arguments: list[str]) -> int:
    """Write the table; return an exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="count only these files, and print their rows")
    parser.add_argument("--configs", type=Path, default=CONFIGS)
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args(arguments)
    transformers.logging.set_verbosity_error()
    facts = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    doubted = doubtful()
    rows = {}
    for path in sorted(chosen.configs.glob("*--*.json")):
        if chosen.names and path.stem not in chosen.names:
            continue
        model = path.stem.replace("--", "/", 1)
        config = completed(json.loads(path.read_text(encoding="utf-8")), model, facts["layouts"])
        rows[model] = count(config, published=facts["parameters"].get(model))
        if path.name in doubted and rows[model]["basis"] == "counted":
            rows[model]["doubtful"] = True
    lines = ",\n".join(f"{json.dumps(m)}: {json.dumps(row, separators=(',', ':'))}" for m, row in rows.items())
    if chosen.names:
        print(lines)
        return 0
    head = f'"transformers": "{transformers.__version__}",\n"models": {{\n'
    chosen.out.write_text(f"{{\n{head}{lines}\n}}\n}}\n", encoding="utf-8")
    for basis in ("counted", "published", "unknown"):
        of_basis = [row for row in rows.values() if row["basis"] == basis]
        stored = sum(row["stored"] is not None for row in of_basis)
        print(f"{basis}: {len(of_basis)} models, {stored} with the layout they are stored in")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
