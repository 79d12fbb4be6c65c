"""What a start-up log says, and the error where it says nothing of a cache."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from kvviz.core.errors import KvvizError
from kvviz.text import Message

Engine = Literal["vllm", "sglang", "llama.cpp", "ik_llama.cpp", "ollama", "tensorrt-llm"]


class LogError(KvvizError):
    """A text that is not a start-up log kvviz can read. Its message never repeats what was pasted."""

    def __init__(self, message: Message) -> None:
        super().__init__(message, code="log")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLog:
    """Figures of one start. None: the log does not say. Bytes are what is printed, cut to whole bytes (MiB, GiB and
    SGLang's GB are powers of two); what is derived from printed figures says so."""

    engine: Engine
    form: str
    """Which of the engine's ways of printing this is, by name."""
    version: str | None = None
    starts: int = 1
    """Starts in the text; the figures are of the last one that printed any."""
    started: bool | None = None
    """False: the engine refused to start."""

    # Settings as the log states them
    model: str | None = None
    """owner/name, or the name in the file's metadata."""
    model_type: str | None = None
    """llama.cpp: the architecture as the file's metadata names it."""
    model_dtype: str | None = None
    element: str | None = None
    """Type of K and V where the log names one for both: f16, bf16, fp8, q8_0, ..."""
    element_is_auto: bool | None = None
    """True: the engine was told to take the model's own type (``kv_cache_dtype=auto``)."""
    element_k: str | None = None
    element_v: str | None = None
    tp: int | None = None
    pp: int | None = None
    dp: int | None = None
    """Engines side by side, each with figures of its own."""
    dcp: int | None = None
    max_model_len: int | None = None
    """Tokens."""
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    utilization: float | None = None
    """vLLM: fraction of the GPU's memory the engine may take."""
    mem_fraction_static: float | None = None
    """SGLang: fraction that weights and pools may take."""
    prefix_caching: bool | None = None
    block_tokens: int | None = None
    """Tokens of one block; derived from blocks, concurrency and length where vLLM does not print it."""

    # One GPU
    total_bytes: int | None = None
    free_bytes: int | None = None
    """Free where the engine measured it before its pool."""
    weights_gib_per_gpu: float | None = None
    """GiB as printed; of the fullest rank."""
    activation_bytes_per_gpu: int | None = None
    non_torch_bytes_per_gpu: int | None = None
    graph_bytes_per_gpu: int | None = None
    available_kv_bytes_per_gpu: int | None = None
    """Pool of the smallest rank that printed one."""
    available_kv_bytes_by_rank: tuple[int, ...] | None = None
    """Where ranks printed different ones."""
    kv_bytes_per_gpu: int | None = None
    k_bytes_per_gpu: int | None = None
    v_bytes_per_gpu: int | None = None
    free_after_load_bytes_per_gpu: int | None = None
    free_after_pools_bytes_per_gpu: int | None = None

    # One engine
    gpu_blocks: int | None = None
    cpu_blocks: int | None = None
    swap_bytes: int | None = None
    """vLLM V0: what CPU blocks were made of, where it was given."""
    kv_tokens: int | None = None
    """Tokens the pool holds: the smallest rank's; engines side by side are added."""
    kv_tokens_by_rank: tuple[int, ...] | None = None
    """Where ranks printed different ones."""
    tokens_line: int | None = None
    """The tokens vLLM V1 prints, whatever they mean."""
    tokens_line_is_capacity: bool | None = None
    """False: blocks of one of several cache groups, which is less than what fits."""
    max_concurrency: float | None = None
    capacity_tokens_at_max_len: int | None = None
    """Concurrency times length, where the tokens line is no capacity."""
    bytes_per_token: int | None = None
    """Derived: the roundest number (most factors of two) that print rounding allows; per GPU where the pool is."""
    padding_layers: int | None = None
    """vLLM pads its cache groups with so many layers: there are several groups."""
    max_running_requests: int | None = None

    # A refusal
    needed_bytes: int | None = None
    needed_for_tokens: int | None = None
    available_kv_bytes: int | None = None
    estimated_max_len: int | None = None

    # SGLang
    full_pool_tokens: int | None = None
    full_pool_bytes_per_gpu: int | None = None
    full_bytes_per_token: int | None = None
    window_pool_tokens: int | None = None
    window_pool_bytes_per_gpu: int | None = None
    window_bytes_per_token: int | None = None
    pools_bytes_per_gpu: int | None = None
    """Full and window pool together."""
    state_bytes_per_gpu: int | None = None
    draft_bytes_per_gpu: int | None = None

    # llama.cpp and ollama: all devices together
    n_ctx: int | None = None
    """Cells of all slots together."""
    n_ctx_per_slot: int | None = None
    n_batch: int | None = None
    n_ubatch: int | None = None
    slots: int | None = None
    streams: int | None = None
    """Separate caches the slots are spread over; 1: shared."""
    layers: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    value_dim: int | None = None
    window_tokens: int | None = None
    kv_bytes_total: int | None = None
    kv_is_estimate: bool | None = None
    """True: ollama's estimate before loading, nothing that was allocated."""
    kv_layers: int | None = None
    k_bytes: int | None = None
    v_bytes: int | None = None
    full_bytes: int | None = None
    full_layers: int | None = None
    full_cells: int | None = None
    window_bytes: int | None = None
    window_layers: int | None = None
    window_cells: int | None = None
    indexer_bytes: int | None = None
    self_attention_bytes: int | None = None
    cross_attention_bytes: int | None = None
    state_bytes_total: int | None = None
    state_bytes_per_slot: int | None = None
    state_slots: int | None = None
    draft_bytes_total: int | None = None
    """Cache of a second context of the same process, a draft model's or a draft layer's."""
    per_device_mib: Mapping[str, float] | None = None
    """MiB of cache on each device, as printed."""
    context_bytes_total: int | None = None
    """Caches and states together, in whole MiB, from the breakdown at exit."""

    # TensorRT-LLM
    blocks: int | None = None
    secondary_blocks: int | None = None
    """In host memory."""
    blocks_per_sequence: int | None = None
    fraction_of_free: float | None = None
    """Derived from pool and free memory, to two decimals."""

    def figures(self) -> dict[str, Any]:
        """Everything the log says, by name, without what it does not."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}
