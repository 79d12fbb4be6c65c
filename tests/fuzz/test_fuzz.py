"""A slice of the fuzz run, what it found before, and that it finds what is wrong."""

import time

import pytest

from kvviz.core.architecture import Architecture, read_config
from kvviz.core.errors import ScenarioError
from kvviz.devices import meant
from kvviz.engine_log import EngineLog, LogError, read_log
from kvviz.planning import planned
from kvviz.resolve import resolve
from kvviz.scenario import Rejected, Scenario, from_query
from tests.core.known import config_of
from tests.fuzz import configs, logs, queries
from tests.fuzz.__main__ import KINDS, again, run
from tests.fuzz.watch import Watch

SLICE = {"configs": 300, "queries": 120, "logs": 40, "traces": 150}


@pytest.mark.parametrize("kind", KINDS)
def test_a_slice_of_the_run_is_clean(kind: str) -> None:
    assert run(kind, "slice", SLICE[kind]) == []


# --- what it found, and what was mended ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [10**5_000, ["fp8"], {"a": 1}, True], ids=type)
def test_a_quantization_method_that_is_no_word(method: object) -> None:
    read = read_config({**config_of("Qwen/Qwen3-8B"), "quantization_config": {"quant_method": method}})
    assert read.kv_scheme is None
    assert read.weight_blocks is None


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp", "transformers"])
def test_more_engines_side_by_side_than_gpus(engine: str) -> None:
    """Without groups inside an engine, dp shares out the GPUs; more of them than there are left none for each."""
    with pytest.raises(ScenarioError) as caught:
        Scenario(engine=engine, attention_dp="on", gpus=2, dp=7)
    assert caught.value.field == "dp"
    scenario, rejected = from_query({"engine": engine, "attention_dp": "on", "gpus": "8", "dp": "3"})
    assert scenario.dp is None
    assert [one.field for one in rejected] == ["dp"]


def test_groups_inside_an_engine_may_still_be_fewer_than_its_gpus() -> None:
    scenario = Scenario(engine="sglang", attention_dp="on", gpus=8, tp=8, dp=2)
    assert planned(resolve(scenario).architecture, scenario, None).gpus == 8


def test_engines_beside_one_another_share_out_the_gpus_with_attention_dp_too() -> None:
    """TensorRT-LLM's groups are single GPUs: dp is engines, and was left out without a word."""
    scenario = Scenario(engine="tensorrt-llm", attention_dp="on", gpus=8, dp=2)
    assert planned(resolve(scenario).architecture, scenario, None).gpus == 4
    for wrong in ({"dp": 3}, {"dp": 2, "tp": 8}):
        with pytest.raises(ScenarioError):
            Scenario(engine="tensorrt-llm", attention_dp="on", gpus=8, **wrong)


def test_a_context_that_is_told_at_every_request() -> None:
    start = "llama_kv_cache: CUDA0 KV buffer size = 2.00 MiB\n"
    told = "slot update_slots: id  0 | task 1 | n_past = 12, n_ctx = 4096, cache_tokens.size() = 12\n"
    assert read_log(start + told * 50_000).figures() == read_log(start + told * 3).figures()


@pytest.mark.parametrize("lines", [2_000, 10_000])
def test_lines_that_cost_by_the_square(lines: int) -> None:
    """Caches without a size before contexts, and one line that a terminal broke into many."""
    for text in (
        "creating KV cache\n" * lines + "n_ctx = 3\n" * lines + "CUDA0 KV buffer size = 2.00 MiB\n",
        "".join(f"CUDA0 KV buffer size = {n}.00 MiB\n" for n in range(lines // 10)),
        "GPU KV cache size: 16 tokens\n" + ("a" * 119 + "b\n") * lines,
    ):
        took_s = []
        for _ in range(3):
            began = time.process_time()
            read_log(text)
            took_s.append(time.process_time() - began)
        assert min(took_s) < 0.5


@pytest.mark.parametrize("digits", [4_301, 6_000, 100_000])
def test_a_gpu_of_thousands_of_digits(digits: int) -> None:
    assert meant("9" * digits) == ()


def test_a_count_in_a_log_with_decimals() -> None:
    refusal = (
        "ValueError: To serve at least one request with the models's max seq len (32768), (4.00 GiB KV cache is "
        "needed, which is larger than the available KV cache memory (2.13 GiB). Based on the available memory, the "
        "estimated maximum model length is {length}."
    )
    assert read_log(refusal.format(length="17440")).estimated_max_len == 17_440
    assert read_log(refusal.format(length="17440.00")).estimated_max_len == 17_440
    with pytest.raises(LogError):
        read_log(refusal.format(length="17440.5"))


def test_a_count_below_zero_is_none() -> None:
    log = read_log("INFO Available KV cache memory: -1.00 GiB\nINFO GPU KV cache size: -42,656 tokens\n")
    assert log.available_kv_bytes_per_gpu == -(1 << 30)
    assert log.tokens_line is None


# --- that it finds what is wrong -------------------------------------------------------------------------------------


def found(kind: str, count: int = 100) -> list[str]:
    """Faults of so many cases."""
    return run(kind, "slice", count)


def test_a_reader_that_takes_one_number_for_another_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def half_the_heads(config: dict[str, object], *, name: str = "") -> Architecture:
        heads = config.get("num_key_value_heads")
        return read_config({**config, "num_key_value_heads": 4} if heads == 8 else config, name=name)

    monkeypatch.setattr(configs, "read_config", half_the_heads)
    assert any("formula gives" in fault or "is cited as" in fault for fault in found("configs"))


def test_a_reader_that_leaves_layers_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_most_ten(config: dict[str, object], *, name: str = "") -> Architecture:
        layers = config.get("num_hidden_layers")
        return read_config({**config, "num_hidden_layers": 10} if isinstance(layers, int) and layers > 10 else config)

    monkeypatch.setattr(configs, "read_config", at_most_ten)
    assert found("configs")


def test_a_link_that_loses_a_value_without_a_word_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(query: dict[str, str]) -> tuple[Scenario, tuple[Rejected, ...]]:
        return from_query(query)[0], ()

    monkeypatch.setattr(queries, "from_query", silent)
    assert any("became" in fault for fault in found("queries"))


def test_a_log_read_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def tenfold(pasted: str) -> EngineLog:
        log = read_log(pasted)
        object.__setattr__(log, "tokens_line", 10 * (log.tokens_line or 0) or None)
        return log

    monkeypatch.setattr(logs, "read_log", tenfold)
    assert any("the log says" in fault for fault in found("logs", 60))


def test_what_is_slow_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.watch.LIMIT_S", 0.0)
    assert any(" took " in fault for fault in found("queries", 2))


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_is_the_same_again(kind: str) -> None:
    assert again(kind, "slice", 3, Watch()) == again(kind, "slice", 3, Watch())
