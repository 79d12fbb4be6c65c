"""Start-up logs: excerpts of public reports are read as they were read by hand; no text makes the reader fail."""

import json
import re
import time
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB, MIB
from kvviz.engine_log import MAX_CHARACTERS, EngineLog, LogError, read_log
from kvviz.engine_log.printed import Printed, printed, rate, roundest, whole
from kvviz.text import engine_log as log_text

LOGS = Path(__file__).parent / "data" / "logs"
EXCERPTS: list[dict[str, Any]] = json.loads((LOGS / "index.json").read_text(encoding="utf-8"))


def excerpt(row: dict[str, Any]) -> str:
    """The text as its author pasted it."""
    return (LOGS / row["file"]).read_text(encoding="utf-8")


def named(row_id: str) -> str:
    """The excerpt with this id."""
    return next(excerpt(row) for row in EXCERPTS if row["row_id"] == row_id)


def said(log: EngineLog, names: dict[str, Any]) -> dict[str, Any]:
    """Of what was read, the figures with these names."""
    return {name: log.figures().get(name) for name in names}


EACH = pytest.mark.parametrize("row", EXCERPTS, ids=[row["row_id"] for row in EXCERPTS])


class TestExcerpts:
    @EACH
    def test_is_read_as_by_hand(self, row: dict[str, Any]) -> None:
        assert said(read_log(excerpt(row)), row["reading"]) == row["reading"]

    @EACH
    @pytest.mark.parametrize(
        "wrapped",
        [
            pytest.param("\x1b[0;36m{}\x1b[0;0m", id="colours"),
            pytest.param("[36m{}[0m", id="colours without their escapes"),
            pytest.param("vllm-openai-1  | {}", id="docker"),
            pytest.param("Sep 11 00:42:50 host-1 engine[3110]: {}", id="syslog"),
            pytest.param("2025-10-03T16:22:17.123456789Z stdout F {}", id="kubernetes"),
            pytest.param("[pod/server-0/main] {}", id="kubectl"),
            pytest.param("> {}", id="quote"),
            pytest.param("{}          ", id="padded"),
            pytest.param("{}\r", id="CRLF"),
        ],
    )
    def test_wrapped(self, row: dict[str, Any], wrapped: str) -> None:
        text = "\n".join(wrapped.format(line) for line in excerpt(row).splitlines())
        assert said(read_log(text), row["reading"]) == row["reading"]

    @EACH
    def test_inside_json(self, row: dict[str, Any]) -> None:
        lines = [json.dumps({"log": line + "\n", "stream": "stderr"}) for line in excerpt(row).splitlines()]
        assert said(read_log("\n".join(lines)), row["reading"]) == row["reading"]

    @EACH
    def test_every_line_twice(self, row: dict[str, Any]) -> None:
        text = "\n".join(line for line in excerpt(row).splitlines() for _ in range(2))
        assert said(read_log(text), row["reading"]) == row["reading"]

    @EACH
    def test_between_other_lines(self, row: dict[str, Any]) -> None:
        text = "\n".join(
            f'{line}\nINFO: 10.0.0.1:4242 - "GET /health HTTP/1.1" 200 OK' for line in excerpt(row).splitlines()
        )
        assert said(read_log(text), row["reading"]) == row["reading"]

    def test_broken_at_spaces(self) -> None:
        text = named("vllm-25350-fp8-221k")
        reading = next(r["reading"] for r in EXCERPTS if r["row_id"] == "vllm-25350-fp8-221k")
        head, _, sentence = text.partition("ValueError: ")
        for at in [m.start() for m in re.finditer(" ", sentence)][:40]:
            broken = head + "ValueError: " + sentence[:at] + "\n" + sentence[at + 1 :]
            assert said(read_log(broken), reading) == reading

    @pytest.mark.parametrize("row_id", ["vllm-28228-kimi-linear", "trt-doc-memory", "llamacpp-14097-gemma-3-27b-it"])
    @pytest.mark.parametrize("width", [70, 72, 76])
    def test_broken_by_a_terminal(self, row_id: str, width: int) -> None:
        row = next(row for row in EXCERPTS if row["row_id"] == row_id)
        broken = "\n".join(re.sub(rf"(.{{{width}}})(?=.)", r"\1\n", line) for line in excerpt(row).splitlines())
        assert said(read_log(broken), row["reading"]) == row["reading"]

    def test_broken_by_a_terminal_within_blanks(self) -> None:
        buffer = f"llama_kv_cache_init:{' ' * 40}CUDA0 KV buffer size =   574.22 MiB"
        whole = "llama_new_context_with_model: KV self size  =  656.25 MiB, K (f16):  328.12 MiB, V (f16):  328.13 MiB"
        width = whole.index("28.12")
        broken = "\n".join(line[at : at + width] for line in (buffer, whole) for at in range(0, len(line), width))
        assert read_log(broken).k_bytes == read_log(f"{buffer}\n{whole}").k_bytes is not None

    @EACH
    @given(data=st.data())
    def test_cut_anywhere(self, row: dict[str, Any], data: st.DataObject) -> None:
        text = excerpt(row)
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, len(text)))
        try:
            log = read_log(text[begin:end])
        except LogError:
            return
        assert log.engine
        assert log.form


LINES: list[tuple[str, dict[str, Any]]] = [
    # https://github.com/vllm-project/vllm/issues/2418
    (
        "INFO 01-11 15:51:18 llm_engine.py:275] # GPU blocks: 229, # CPU blocks: 512",
        {"engine": "vllm", "form": "V0", "gpu_blocks": 229, "cpu_blocks": 512, "bytes_per_token": 524_288},
    ),
    # https://github.com/vllm-project/vllm/issues/10517
    (
        "Loading model weights took 14.9888 GB\n"
        "Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB peak_torch_memory=17.98GiB"
        " memory_usage_post_profile=15.35GiB non_torch_memory=0.35GiB kv_cache_size=2.89GiB"
        " gpu_memory_utilization=0.90\n# GPU blocks: 1478, # CPU blocks: 2048\n"
        "Maximum concurrency for 29000 tokens per request: 0.82x\n"
        "The model's max seq len (29000) is larger than the maximum number of tokens that can be stored in KV cache"
        " (23648). Try increasing `gpu_memory_utilization` or decreasing `max_model_len`.",
        {
            "form": "V0 refusal",
            "started": False,
            "gpu_blocks": 1478,
            "cpu_blocks": 2048,
            "kv_tokens": 23_648,
            "block_tokens": 16,
            "needed_for_tokens": 29_000,
            "max_concurrency": 0.82,
            "utilization": 0.9,
            "weights_gib_per_gpu": 14.9888,
            "available_kv_bytes_per_gpu": int(2.89 * GIB),
            "total_bytes": int(23.58 * GIB),
            "non_torch_bytes_per_gpu": int(0.35 * GIB),
            "bytes_per_token": 131_072,
        },
    ),
    # The same report, as pasted with the first "# " lost
    (
        "kv_cache_size=3.81GiB gpu_memory_utilization=0.90\nGPU blocks: 1952, # CPU blocks: 2048\n"
        "Maximum concurrency for 20000 tokens per request: 1.56x",
        {"form": "V0", "gpu_blocks": 1952, "kv_tokens": 31_232, "max_model_len": 20_000, "bytes_per_token": 131_072},
    ),
    # https://github.com/vllm-project/vllm/issues/15018
    (
        "model weights take 18.91GiB; non_torch_memory takes 0.25GiB; PyTorch activation peak memory takes 1.42GiB;"
        " the rest of the memory reserved for KV Cache is 2.44GiB.",
        {
            "weights_gib_per_gpu": 18.91,
            "non_torch_bytes_per_gpu": int(0.25 * GIB),
            "activation_bytes_per_gpu": int(1.42 * GIB),
            "available_kv_bytes_per_gpu": int(2.44 * GIB),
        },
    ),
    # https://github.com/vllm-project/vllm/issues/17327
    (
        "INFO 04-29 01:09:49 [kv_cache_utils.py:634] GPU KV cache size: 198,784 tokens",
        {"form": "V1, two lines", "kv_tokens": 198_784, "tokens_line_is_capacity": True},
    ),
    # https://github.com/alvarobartt/hf-mem/issues/61
    (
        'level=INFO name=vllm.v1.worker.gpu_worker msg="Available KV cache memory: 24.54 GiB"',
        {"engine": "vllm", "available_kv_bytes_per_gpu": int(24.54 * GIB)},
    ),
    # https://github.com/vllm-project/vllm/issues/16259: one count a rank
    (
        "INFO [kv_cache_utils.py:634] GPU KV cache size: 132,464 tokens\n"
        "INFO [kv_cache_utils.py:634] GPU KV cache size: 132,560 tokens\n"
        "INFO [kv_cache_utils.py:634] GPU KV cache size: 132,400 tokens",
        {"kv_tokens": 132_400, "kv_tokens_by_rank": (132_464, 132_560, 132_400)},
    ),
    # vLLM 0.28 and later, one line
    (
        "INFO 09-06 20:23:33 [kv_cache_utils.py:2312] GPU KV cache size: 23,296 tokens, Maximum concurrency for 4,096"
        " tokens per request: 5.69x",
        {"form": "V1, 0.28 or later, one line", "kv_tokens": 23_296, "max_model_len": 4096, "max_concurrency": 5.69},
    ),
    # https://github.com/aivrar/vllm-windows-build/issues/4
    (
        "INFO 05-26 21:34:14 [gpu_worker.py:621] CUDA graph pool memory: 0.11 GiB (actual), 0.14 GiB (estimated),"
        " difference: 0.03 GiB (25.0%).\nINFO Available KV cache memory: 1.00 GiB",
        {"graph_bytes_per_gpu": int(0.11 * GIB)},
    ),
    # https://github.com/vllm-project/vllm/issues/21348
    (
        "KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB",
        {
            "engine": "sglang",
            "kv_tokens": 367_404,
            "kv_bytes_per_gpu": int(Decimal("16.46") * GIB),
            "k_bytes_per_gpu": int(Decimal("8.23") * GIB),
            "bytes_per_token": 48_128,
        },
    ),
    # https://github.com/sgl-project/sglang/issues/15464
    (
        "[2025-12-19 07:42:57 TP2] SWAKVPool mem usage: 77.63 GB, swa size: 1496958, full size: 1496958",
        {
            "window_pool_tokens": 1_496_958,
            "full_pool_tokens": 1_496_958,
            "pools_bytes_per_gpu": int(Decimal("77.63") * GIB),
        },
    ),
    # https://github.com/sgl-project/sglang/issues/29575
    (
        "max_total_num_tokens=2086558, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=33,"
        " context_len=256000, available_gpu_mem=17.22 GB",
        {"kv_tokens": 2_086_558, "max_running_requests": 33, "max_model_len": 256_000},
    ),
    # https://github.com/ggml-org/llama.cpp/issues/22673
    (
        "llama_memory_recurrent: size =  149.62 MiB (     1 cells,  64 layers,  1 seqs), R (f32):    5.62 MiB,"
        " S (f32):  144.00 MiB",
        {"engine": "llama.cpp", "form": "states", "state_bytes_total": 149 * MIB + 5 * MIB // 8, "state_slots": 1},
    ),
    # https://github.com/ggml-org/llama.cpp/issues/23269
    (
        "[53409] 0.21.124.409 I llama_memory_recurrent: size =  188.44 MiB (     1 cells,  41 layers,  1 seqs  2"
        " rs_seq), R (f32):    8.44 MiB, S (f32):  180.00 MiB",
        {"state_bytes_total": 180 * MIB + 135 * MIB // 16},
    ),
    # https://github.com/ikawrakow/ik_llama.cpp/issues/258
    (
        "llama_new_context_with_model: n_ctx = 65536\nllama_new_context_with_model: KV self size  = 2333.25 MiB,"
        " c^KV (q8_0): 2333.25 MiB, kv^T: not used",
        {
            "engine": "ik_llama.cpp",
            "kv_bytes_total": 2333 * MIB + MIB // 4,
            "element": "q8_0",
            "bytes_per_token": 61 * 576 * 34 // 32,
        },
    ),
    # The same line where the shell's locale has a decimal comma
    (
        "llama_new_context_with_model: KV self size  = 2333,25 MiB, c^KV (q8_0): 2333,25 MiB, kv^T: not used",
        {"kv_bytes_total": 2333 * MIB + MIB // 4},
    ),
    # https://github.com/ikawrakow/ik_llama.cpp/pull/616: the printed figure is not a whole number of bytes
    (
        "llm_load_print_meta: n_layer = 61\nllama_new_context_with_model: n_ctx = 2048\n"
        "llama_new_context_with_model: KV self size  =   72.91 MiB, c^KV (q8_0):   72.91 MiB, kv^T: not used",
        {"kv_bytes_total": 61 * 612 * 2048, "bytes_per_token": 37_332},
    ),
    # https://github.com/ggml-org/llama.cpp/issues/6189: states alone, in the words of a cache
    (
        "llama_new_context_with_model: KV self size  =   23.75 MiB, K (f32):    3.75 MiB, V (f32):   20.00 MiB",
        {"form": "old, states only", "state_bytes_total": 23 * MIB + 3 * MIB // 4, "kv_bytes_total": None},
    ),
    # https://github.com/ollama/ollama/issues/9685
    (
        "time=2025-03-12T14:42:26.764Z level=INFO source=server.go:138 msg=offload library=cuda layers.requested=-1"
        ' layers.model=63 layers.offload=49 memory.required.kv="992.0 MiB"',
        {"engine": "ollama", "kv_bytes_total": 992 * MIB, "kv_is_estimate": True, "layers": 62},
    ),
    (
        'time=2025-10-22T02:17:58.181Z level=DEBUG source=device.go:217 msg="kv cache" device=CUDA0 size="1.9 GiB"',
        {"kv_bytes_total": int(Decimal("1.9") * GIB), "per_device_mib": {"CUDA0": 1945.6}, "kv_is_estimate": None},
    ),
    # https://github.com/NVIDIA/TensorRT-LLM/issues/224
    ("[TensorRT-LLM][INFO] Using 10718 tokens in paged KV cache.", {"engine": "tensorrt-llm", "kv_tokens": 10_718}),
    # https://github.com/NVIDIA/TensorRT-LLM/issues/1400 (both lines as that version prints them)
    (
        "[TensorRT-LLM][INFO] Allocate 69524783104 bytes for k/v cache.\n"
        "[TensorRT-LLM][INFO] Using 132608 total tokens in paged KV cache, and 16 blocks per sequence",
        {"kv_bytes_per_gpu": 69_524_783_104, "kv_tokens": 132_608, "bytes_per_token": 524_288},
    ),
    # https://github.com/NVIDIA/TensorRT-LLM/issues/2268
    (
        "[TensorRT-LLM][INFO] Memory usage when calculating max tokens in paged kv cache: total: 39.39 GiB, available:"
        " 21.89 GiB\n[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 631",
        {"blocks": 631, "free_bytes": int(Decimal("21.89") * GIB), "kv_tokens": None},
    ),
    # https://github.com/triton-inference-server/tutorials/pull/150
    (
        "[TensorRT-LLM][INFO] Max KV cache blocks per sequence: 65 [window size=2051], tokens per block=32, primary"
        " blocks=116617, secondary blocks=0\n[TensorRT-LLM][INFO] Number of tokens per block: 32.\n"
        "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 78.30 GiB for max tokens in paged KV cache (3731744).",
        {"blocks": 116_617, "block_tokens": 32, "kv_tokens": 3_731_744, "kv_bytes_per_gpu": int(Decimal("78.3") * GIB)},
    ),
]  # fmt: skip
"""Lines of public reports, and what they say."""


@pytest.mark.parametrize(("text", "reading"), LINES)
def test_lines_that_were_printed(text: str, reading: dict[str, Any]) -> None:
    assert said(read_log(text), reading) == reading


class TestSeveral:
    """Ranks, engines and starts: what is added, what is not."""

    def test_engines_side_by_side_are_added(self) -> None:
        # https://github.com/vllm-project/vllm/issues/18466: each of two engines
        pair = (
            "(EngineCore_{0} pid=10{0}) INFO GPU KV cache size: 576,432 tokens\n"
            "(EngineCore_{0} pid=10{0}) INFO Maximum concurrency for 4,096 tokens per request: 140.73x\n"
        )
        log = read_log(pair.format(0) + pair.format(1))
        assert (log.kv_tokens, log.max_concurrency, log.dp) == (1_152_864, 281.46, 2)

    def test_the_smallest_rank_decides(self) -> None:
        # https://github.com/vllm-project/vllm/issues/10702
        ranks = "".join(
            f"(VllmWorkerProcess pid={n}) INFO kv_cache_size={gib}GiB gpu_memory_utilization=0.95\n"
            for n, gib in enumerate(("110.52", "110.99", "107.35"))
        )
        text = (
            ranks
            + "INFO # GPU blocks: 175884, # CPU blocks: 6553\nMaximum concurrency for 131072 tokens per request: 21.47x"
        )
        log = read_log(text)
        assert log.available_kv_bytes_per_gpu == int(Decimal("107.35") * GIB)
        assert (log.kv_tokens, log.bytes_per_token) == (2_814_144, 40_960)
        assert log.available_kv_bytes_by_rank is not None
        assert len(log.available_kv_bytes_by_rank) == 3

    def test_the_last_start_counts(self) -> None:
        start = "INFO vLLM API server version {}\nINFO GPU KV cache size: {} tokens\n"
        log = read_log(start.format("0.10.1", "42,656") + start.format("0.10.2", "198,784"))
        assert (log.version, log.kv_tokens, log.starts) == ("0.10.2", 198_784, 2)

    def test_a_start_without_figures_does_not(self) -> None:
        log = read_log(
            "INFO vLLM API server version 0.10.1\nINFO GPU KV cache size: 42,656 tokens\n"
            "INFO vLLM API server version 0.10.2\n"
        )
        assert (log.version, log.kv_tokens, log.starts) == ("0.10.1", 42_656, 1)

    def test_tensor_parallel_ranks_of_sglang_hold_the_same_tokens_data_parallel_ones_others(self) -> None:
        line = "[2026-01-31 13:50:39 {}] max_total_num_tokens=1000, max_running_requests=33, context_len=256000\n"
        assert read_log(line.format("TP0") + line.format("TP1")).kv_tokens == 1000
        assert read_log(line.format("DP0 TP0") + line.format("DP1 TP1")).kv_tokens == 2000

    def test_a_small_pool_for_the_trial_run_comes_first(self) -> None:
        pool = "[MemUsageChange] Allocated {} GiB for max tokens in paged KV cache ({}).\n"
        log = read_log(pool.format("0.56", "8224") + pool.format("63.44", "259840"))
        assert (log.kv_tokens, log.bytes_per_token) == (259_840, 262_144)

    def test_a_second_context_is_a_draft(self) -> None:
        draft = (
            "llama_context: n_seq_max     = 2\nllama_context: n_ctx         = 32768\n"
            "llama_kv_cache: size =  128.00 MiB ( 32768 cells,   1 layers,  2/1 seqs),"
            " K (f16): 64.00 MiB, V (f16): 64.00 MiB\n"
        )
        log = read_log(named("llamacpp-14097-gemma-3-27b-it") + draft)
        assert (log.kv_bytes_total, log.draft_bytes_total) == (2_005_401_600, 128 * MIB)

    def test_a_requests_line_of_a_running_server_changes_nothing(self) -> None:
        log = read_log(named("llamacpp-14097-gemma-3-27b-it") + "slot update: id 0 | n_ctx = 16384, n_past = 3\n" * 3)
        assert (log.n_ctx, log.draft_bytes_total) == (32_768, None)


RATES = [
    # Pool in GiB, tokens, and bytes a token as computed from the model's config: public reports of vLLM
    ("107.35", 2_814_144, 40_960),
    ("6.51", 42_656, 163_840),
    ("3.88", 65_552, 63_488),
    ("3.54", 19_312, 196_608),
    ("66.87", 547_776, 131_072),
    ("46.80", 715_072, 70_272),
    ("46.80", 5_721_088, 8_784),
    ("19.00", 553_520, 36_864),
    ("55.11", 112_864, 524_288),
    ("2.44", 10_000, 262_144),
    ("3.88", 338_976, 12_288),
    ("47.13", 720_206, 70_272),
]


class TestPrinted:
    @pytest.mark.parametrize(("gib", "tokens", "expected"), RATES)
    def test_the_roundest_rate_is_the_models(self, gib: str, tokens: int, expected: int) -> None:
        assert rate(printed(gib), tokens, 16) == expected

    @given(st.integers(1, 10**6), st.integers(0, 10**4))
    def test_the_roundest_is_within(self, low: int, more: int) -> None:
        found = roundest(Fraction(low), Fraction(low + more))
        if found is not None:
            assert low <= found <= low + more
            twos = found & -found
            assert all(n & -n <= twos for n in range(low, low + more + 1))

    def test_of_a_wide_range_none_is_singled_out(self) -> None:
        assert roundest(Fraction(90), Fraction(110)) is None

    @given(st.integers(0, 10**14))
    def test_printing_and_reading_keep_the_amount(self, count: int) -> None:
        read = printed(f"{count / GIB:.2f}")
        assert read.low - 1 <= count <= read.high + 1
        assert abs(read.bytes - count) <= GIB // 200 + 1

    @given(st.integers(1, 10**5), st.integers(11_000, 10**6))
    def test_a_multiple_wider_apart_than_the_rounding_is_found(self, times: int, step: int) -> None:
        amount = Printed(Decimal(f"{times * step / MIB:.2f}"), MIB)
        if Fraction(amount.digits) * MIB % 1:
            assert whole(amount, step) in {times * step, amount.bytes}
        assert abs(whole(amount, step) - times * step) <= MIB // 200 + 1


SECRET = "hf_abcdefghijklmnopqrstuvwxyz012345"  # noqa: S105


REFUSED = ("vllm serve " * 50, "KV cache size:", "max_model_len=8 creating ")
"""Noise with so many words of an engine that it is not searched."""


class TestBadInput:
    @given(st.text())
    def test_no_text_makes_it_fail(self, text: str) -> None:
        with suppress(KvvizError):
            assert read_log(text).engine

    @given(st.lists(st.sampled_from([line for row in EXCERPTS for line in excerpt(row).splitlines()]), min_size=1))
    def test_no_order_of_lines_does(self, lines: list[str]) -> None:
        try:
            log = read_log("\n".join(lines))
        except LogError:
            return
        assert log.form

    @EACH
    @given(numbers=st.lists(st.integers(0, 20) | st.integers(0, 10**30), min_size=1, max_size=40))
    def test_no_numbers_do(self, row: dict[str, Any], numbers: list[int]) -> None:
        others = cycle(numbers)
        try:
            log = read_log(re.sub(r"\d+(?![\w])", lambda _: str(next(others)), excerpt(row)))
        except LogError:
            return
        assert log.form

    @pytest.mark.parametrize("text", ["", " \n ", "Hello.", '{"model_type": "llama"}', "KV cache"])
    def test_what_was_looked_for_is_said(self, text: str) -> None:
        with pytest.raises(LogError, match=r"Paste the") as caught:
            read_log(text)
        assert caught.value.code == "log"

    def test_a_log_that_ends_too_early_is_named(self) -> None:
        with pytest.raises(LogError, match=r"log of llama\.cpp"):
            read_log("\n".join(named("llamacpp-14097-gemma-3-27b-it").splitlines()[:14]))

    def test_too_long(self) -> None:
        with pytest.raises(LogError, match="5,242,881 characters"):
            read_log("x" * (MAX_CHARACTERS + 1))

    def test_a_server_that_prints_peoples_prompts(self) -> None:
        """A part is read; megabytes in which every word is another are refused at once, not searched."""
        prompt = "INFO Received request: prompt: 'Why would {} and {} be no {}, asked {}?'\n"
        words = ("".join(letters) for letters in product("ghijklmnopqrstuvwxyz", repeat=5))
        lines = [prompt.format(*four) for four in zip(words, words, words, words, strict=False)]
        text = named("vllm-28228-kimi-linear") + "\n" + "".join(lines)
        assert read_log(text[:200_000]).tokens_line == read_log(named("vllm-28228-kimi-linear")).tokens_line
        began = time.process_time()
        with pytest.raises(LogError, match="takes too long to search"):
            read_log(text[:MAX_CHARACTERS])
        assert time.process_time() - began < 0.1, "a hundredth of a second on an idle machine"

    @pytest.mark.parametrize(
        "line",
        [
            f"vllm serve {SECRET}",
            f"vllm serve owner/model --hf-token {SECRET} --api-key {SECRET}",
            f"INFO non-default args: {{'model': '/home/{SECRET}/{SECRET}', 'api_key': ['{SECRET}']}}",
            f"server_args=ServerArgs(model_path='https://user:{SECRET}@host/x', api_key='{SECRET}', tp_size=2)",
            f"print_info: general.name = {SECRET}",
            f"llama-server --api-key {SECRET} -hf x",
            f"INFO --kv-cache-dtype {SECRET}",
        ],
    )
    def test_secrets_stay_where_they_are(self, line: str) -> None:
        with pytest.raises(LogError) as caught:
            read_log(line)
        assert SECRET not in "".join(caught.value.lines("en"))
        for figures in ("GPU KV cache size: 42,656 tokens", "llama_kv_cache: CUDA0 KV buffer size = 1.00 MiB"):
            assert SECRET not in repr(read_log(f"{line}\n{figures}"))

    @pytest.mark.parametrize(
        "noise",
        [
            "(APIServer pid=1) INFO 11-06 10:51:48 [loggers.py:123] Engine 000: Running: 3, GPU KV cache usage: 3%\n",
            "slot update_slots: id  0 | task 123 | n_past = 1234, n_ctx = 4096, cache_tokens.size() = 1234\n",
            "vllm serve " * 50,
            "[" * 100,
            " " * 100 + "x",
            "KV cache size:",
            "max_model_len=8 creating ",
        ],
        ids=["vllm", "llama.cpp", "commands", "brackets", "blanks", "no line", "settings"],
    )
    def test_a_long_one_takes_no_time(self, noise: str) -> None:
        """It is read as if the noise were not there, or refused with a word."""
        start = named("vllm-28228-kimi-linear")
        text = start + "\n" + noise * (5_000_000 // len(noise))
        took_s = []
        for _ in range(3):
            began = time.process_time()
            if noise in REFUSED:
                with pytest.raises(LogError) as caught:
                    read_log(text)
                assert list(caught.value.lines("en")) == [log_text.TOO_MUCH("en")]
            else:
                assert read_log(text).tokens_line == read_log(start).tokens_line
            took_s.append(time.process_time() - began)
        assert min(took_s) < 0.5, "half of it on an idle machine"
