"""What the reader returns: a model's cache layout, with the origin of every number it rests on."""

from dataclasses import dataclass
from typing import Literal

from kvviz.core.cache import Layer
from kvviz.text import Message

ModelDtype = Literal["bf16", "fp16", "fp32"]
Origin = Literal["field", "class default", "derived"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One number the layout rests on, and where it came from."""

    term: str
    """Stable name, the field's standard term: ``layers``, ``kv_heads``, ``head_dim``, ``window_tokens`` …"""
    value: int | str
    origin: Origin
    where: str
    """The JSON path (``$.text_config.head_dim``), the class and field whose default it is (``gemma3_text.head_dim``),
    or the arithmetic (``hidden_size // num_attention_heads = 5120 // 64``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something the reader of a result must know; ``code`` is stable, the text is for people."""

    code: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class KvScheme:
    """A cache type that the checkpoint itself asks for."""

    dtype: Literal["fp8", "nvfp4"]
    path: str
    """The field that says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightBlocks:
    """Weights quantised in blocks with a scale each, and the widths that are cut where a model is split over GPUs."""

    rows: int
    """Weights of a block along the output; 1 where groups along the input share a scale."""
    columns: int
    """Weights of a block along the input."""
    divisible: bool
    """Stored in the format called fp8, whose scales an engine may give to parts of a block; others are taken whole."""
    widths: tuple[int, ...]
    """Inner widths of the MLPs that every token passes: dense and shared ones."""
    expert_width: int | None
    """Inner width of an expert; None without experts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """Experts of which each token passes a few."""

    layers: tuple[int, ...]
    """Entries of ``Architecture.layers`` that have them."""
    parameters: int
    """Weights of all experts of one such layer; shared ones, which every token passes, are not counted."""
    router_parameters: int
    """Weights that choose among the experts of one such layer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """One model's cache layout and the few sizes that budgets need."""

    model_type: str
    """``model_type`` of the text part, or its class name where the file gives none."""
    class_name: str
    """First entry of ``architectures``, or empty."""
    layers: tuple[Layer, ...]
    """What each layer stores, in order; LongCat's attention sublayers count one by one."""
    dtype: ModelDtype
    """The type the model computes with (``torch_dtype`` or ``dtype``); bf16 where the file is silent."""
    dtype_where: str
    """JSON path of the dtype, or empty where the file is silent."""
    max_context_tokens: int | None
    """The model's own maximum length, where it has one."""
    hidden_size: int | None
    vocab_size: int | None
    attention_heads: int | None
    """Query heads, which must divide by tensor-parallel size; None where there are none (pure state models)."""
    kv_scheme: KvScheme | None
    weight_blocks: WeightBlocks | None = None
    """None where weights are in no such blocks, or the file does not say how wide the layers are."""
    mixture: Mixture | None = None
    """None without experts, or where they are not in the common way."""
    experts: bool | None = None
    """Whether it has experts in whatever way; None where the file says nothing of how it is made but its cache."""
    query_rank: int | None = None
    """Width that latent attention compresses queries to; None where it does not."""
    indexer_heads: int | None = None
    """Query heads of the indexers of sparse attention; None without, or where the file does not say."""
    facts: tuple[Fact, ...]
    notes: tuple[Note, ...]
