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
class Vision:
    """The encoder of images, as a file describes it; None for what it leaves to its class."""

    layers: int | None
    """``num_hidden_layers``, or ``vt_num_hidden_layers``."""
    depth: int | None
    """The same under a name that not every class reads."""
    width: int | None


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
    part: str = ""
    """Object of the file that the language part stands in, by name; empty where it is the file itself."""
    media: tuple[str, ...] = ()
    """Objects of the file itself that describe an encoder of images or sound, by name."""
    vision: Vision | None = None
    """None where the file itself has no ``vision_config``."""
    text_only: bool = False
    """The file says ``language_model_only``: its encoders are left out."""
    state_dtype: str = ""
    """``mamba_ssm_dtype`` as the file writes it, whichever engine follows it; empty where it does not."""
    window_pool: bool = False
    """The file says ``is_hybrid_swa``: its windows are to have a pool of their own."""
    indexer_heads: int | None = None
    """Query heads of the indexers of sparse attention; None without, or where the file does not say."""
    facts: tuple[Fact, ...]
    notes: tuple[Note, ...]
