"""Prometheus text -> the few samples that are about a cache. Parsed by the prometheus-client library."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Final, Literal

from kvviz.serving.ask import EngineError
from kvviz.text import serving as text

Kind = Literal["vllm", "sglang", "llama.cpp"]
Labels = Mapping[str, str]
Samples = Mapping[str, Sequence[tuple[Labels, float]]]
"""Name -> samples, each with its labels; what is no finite number is left out."""

_PREFIXES: Final[Mapping[bytes, Kind]] = {b"vllm": "vllm", b"sglang": "sglang", b"llamacpp": "llama.cpp"}
_NAME: Final = re.compile(rb"(?m)^(vllm|sglang|llamacpp)[:_](\w+)")
"""Some exporters on the way write the colon as an underscore."""
_WANTED: Final = frozenset(
    name.encode()
    for name in (
        # vLLM: vllm/v1/metrics/loggers.py of 0.33; the gpu_ ones until 0.10
        *("cache_config_info", "kv_cache_usage_perc", "gpu_cache_usage_perc", "num_requests_swapped"),
        *("num_requests_running", "num_requests_waiting", "num_preemptions_total"),
        *("prefix_cache_queries_total", "prefix_cache_hits_total"),
        *("gpu_prefix_cache_queries_total", "gpu_prefix_cache_hits_total", "gpu_prefix_cache_hit_rate"),
        # SGLang: sglang/srt/observability/metrics_collector.py of 0.5.23
        *("token_usage", "num_used_tokens", "num_running_reqs", "num_queue_reqs", "cache_hit_rate"),
        *("max_total_num_tokens", "max_total_num_tokens_swa", "page_size", "num_pages", "context_len"),
        *("kv_cache_memory_usage_gb", "num_retracted_requests_total", "prefill_effective_tokens_total"),
        *("realtime_tokens_total", "prompt_tokens_total", "cached_tokens_total"),
        # llama.cpp: tools/server; the kv_cache_ ones until May 2025
        *("kv_cache_usage_ratio", "requests_processing", "requests_deferred", "prompt_tokens_cached_total"),
    )
)


def parse(body: bytes) -> tuple[Kind, Samples]:
    """Whose metrics they are, and those wanted. Raises EngineError for other engines' and for broken lines.

    Lines about anything else are not parsed: most of the text are buckets of histograms.
    """
    # Its package takes a while to import, and only somebody with an engine needs it.
    from prometheus_client.parser import text_string_to_metric_families

    first = _NAME.search(body)
    if first is None:
        raise EngineError(text.UNKNOWN_METRICS, code="engine-unknown")
    lines = [
        line
        for line in body.splitlines()
        if (found := _NAME.match(line)) and found[1] == first[1] and found[2] in _WANTED
    ]
    samples: dict[str, list[tuple[Labels, float]]] = {}
    try:
        for family in text_string_to_metric_families("\n".join(line.decode() for line in lines) + "\n"):
            for sample in family.samples:
                if isfinite(sample.value):
                    name = sample.name[len(first[1]) + 1 :]
                    samples.setdefault(name, []).append((sample.labels, float(sample.value)))
    except (ValueError, OverflowError):  # a broken line, as is one that is no UTF-8; a number without end
        raise EngineError(text.NOT_METRICS, code="engine-broken-metrics") from None
    if not samples:
        raise EngineError(text.UNKNOWN_METRICS, code="engine-unknown")
    return _PREFIXES[first[1]], samples
