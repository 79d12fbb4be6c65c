"""The log check: public excerpts agree, what is missing is asked for, causes are named, and no log makes it fail."""

import io
import json
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvviz import cli
from kvviz.catalogue import load, models
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB, MIB
from kvviz.engine_log import EngineLog, read_log
from kvviz.log_check import Check, Model, as_json, check, decode, model_of, named_in, read_model, report
from kvviz.log_check.layers import plain
from kvviz.log_check.measured import scenario_of
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES, Lang
from kvviz.text import log_check as text

LOGS = Path(__file__).parent / "data" / "logs"
INDEX: list[dict[str, Any]] = json.loads((LOGS / "index.json").read_text(encoding="utf-8"))
Capture = pytest.CaptureFixture[str]

LLAMA_8B = model_of(load("meta-llama/Llama-3.1-8B-Instruct"))
GEMMA = model_of(load("google/gemma-3-27b-it"))
R1 = model_of(load("deepseek-ai/DeepSeek-R1"))
QWEN3_14B = Model(name="Qwen3-14B", architecture=plain(40, kv_heads=8, key_dim=128, value_dim=128))


def excerpt(row_id: str) -> str:
    return (LOGS / next(row["file"] for row in INDEX if row["row_id"] == row_id)).read_text(encoding="utf-8")


def sized(scenario: Scenario) -> Sizing:
    return resolve(scenario).size()


def checked(row_id: str, model: Model | None = None, **given: object) -> Check:
    log = read_log(excerpt(row_id))
    return check(log, model=model or named_in(log), given=given)


@pytest.mark.parametrize(
    ("element", "rate", "assumed"),
    [
        (None, 61 * (1_152 + 132), {}),
        ("fp8_e4m3", 61 * (656 + 132), {}),
        ("fp8_e4m3", 61 * (576 + 132), {"gpu": "b200"}),
        (None, 61 * (576 + 132), {"gpu": "b200"}),
    ],
)
def test_sglang_keeps_sparse_latents_by_the_gpu(element: str | None, rate: int, assumed: object) -> None:
    log = EngineLog(engine="sglang", form="pool of each rank", tp=8, kv_tokens=500_000, element=element,
                    kv_bytes_per_gpu=rate * 500_000, bytes_per_token=rate)  # fmt: skip
    answer = check(log, model=model_of(load("deepseek-ai/DeepSeek-V3.2")))
    assert answer.assumed == assumed
    assert ("Blackwell" in report.headline(answer, "en")) == bool(assumed)
    assert answer.verdict in ("agrees", "explained")
    assert [f.predicted for f in answer.figures] == [rate, rate * 500_000]


@pytest.mark.parametrize(
    ("row_id", "model", "cause", "assumed"),
    [
        ("vllm-12569-llama70b-w8a8", None, ("tokens_over_length",), {}),
        ("lmcache-1739-qwen3-14b", QWEN3_14B, (), {}),
        ("vllm-28228-kimi-linear", None, ("mla_latent", "tokens_line_is_groups"), {"prefix_caching": False}),
        ("vllm-25350-fp8-221k", "Qwen/Qwen3-30B-A3B", (), {}),
        ("mimo-v2-flash-18039", None, ("sglang_swa_pool",), {}),
        ("llamacpp-8760-mistral-large-instruct-2407", None, (), {}),
        ("llamacpp-14097-gemma-3-27b-it", None, ("iswa_cells",), {}),
        ("llamacpp-14625-ai21-jamba-mini-1-7", "ai21labs/AI21-Jamba-1.5-Mini", ("kv_plus_recurrent_f32",), {}),
        ("lmstudio-1862-qwen36-27b", "nvidia/Qwen3.6-27B-NVFP4", ("kv_plus_recurrent_f32",), {}),
        ("ollama-8310-mllama", "meta-llama/Llama-3.2-11B-Vision-Instruct", ("cross_cache_f32",), {}),
    ],
)
def test_public_excerpts_agree(row_id: str, model: Model | str | None, cause: tuple[str, ...], assumed: object) -> None:
    known = model_of(load(model)) if isinstance(model, str) else model
    answer = checked(row_id, known)
    assert (answer.verdict, answer.cause, answer.assumed, answer.asked) == ("agrees", cause, assumed, ())
    assert answer.figures
    assert all(figure.agrees for figure in answer.figures if figure.telling)


@pytest.mark.parametrize("row", INDEX, ids=[row["row_id"] for row in INDEX])
def test_another_model_does_not_agree(row: dict[str, Any]) -> None:
    """But where figures are about tokens alone."""
    odd = Model(name="odd", architecture=plain(23, kv_heads=8, key_dim=96, value_dim=96))
    answer = check(read_log(excerpt(row["row_id"])), model=odd)
    only_tokens = {"vllm-12569-llama70b-w8a8", "vllm-49011-nvfp4"}
    assert answer.verdict == ("agrees" if row["row_id"] in only_tokens else "differs")


class TestCauses:
    @pytest.mark.parametrize(
        ("model", "said", "changed", "cause"),
        [
            pytest.param(
                LLAMA_8B,
                {"engine": "vllm", "form": "V1, three lines", "tp": 1, "max_model_len": 8_192,
                 "available_kv_bytes_per_gpu": 20 * GIB, "tokens_line": 327_680, "tokens_line_is_capacity": True,
                 "max_concurrency": 40.0},
                "max_concurrency", "fp8_cache", id="a cache in fp8",
            ),
            pytest.param(
                GEMMA,
                {"engine": "vllm", "form": "V1, 0.21 or later, two lines", "version": "0.33.0", "tp": 1,
                 "max_model_len": 131_072, "available_kv_bytes_per_gpu": 62 * GIB, "tokens_line": 131_072,
                 "max_concurrency": 1.0},
                "max_concurrency", "windows_ignored", id="no hybrid manager",
            ),
            pytest.param(
                R1,
                {"engine": "llama.cpp", "form": "newest names", "version": "9000", "n_ctx": 4_096, "slots": 1,
                 "streams": 1, "element": "f16", "kv_bytes_total": 4_096 * 61 * 128 * 320 * 2},
                "kv_bytes_total", "mla_expanded", id="latents as heads",
            ),
            pytest.param(
                GEMMA,
                {"engine": "llama.cpp", "form": "newest names, iSWA", "n_ctx": 32_768, "slots": 1, "streams": 1,
                 "element": "f16", "kv_bytes_total": 62 * 16 * 256 * 2 * 32_768, "window_cells": 32_768,
                 "full_bytes": 10 * 16 * 256 * 2 * 32_768, "window_bytes": 52 * 16 * 256 * 2 * 32_768},
                "window_cells", "swa_full", id="all of a window's context",
            ),
            pytest.param(
                LLAMA_8B,
                {"engine": "vllm", "form": "V1 refusal", "tp": 1, "pp": 2, "needed_bytes": 16 * GIB,
                 "needed_for_tokens": 131_072, "max_model_len": 131_072},
                "needed_bytes", "pp_whole_model_need", id="the need of all stages",
            ),
            pytest.param(
                LLAMA_8B,
                {"engine": "vllm", "form": "V1, three lines", "tp": 2, "max_model_len": 8_192, "element": "bf16",
                 "available_kv_bytes_per_gpu": 20 * GIB, "tokens_line": 325_600, "tokens_line_is_capacity": True,
                 "max_concurrency": 39.75},
                "tokens_line", "min_over_ranks", id="another rank's memory",
            ),
        ],
    )  # fmt: skip
    def test_is_named(self, model: Model, said: dict[str, Any], changed: str, cause: str) -> None:
        answer = check(EngineLog(**said), model=model)
        assert answer.verdict == "explained"
        assert answer.found == (cause,)
        assert cause in answer.cause
        figure = next(f for f in answer.figures if f.name == changed)
        assert figure.agrees
        assert abs(figure.plain - figure.reported) > figure.tolerance

    def test_what_the_version_did_is_no_difference(self) -> None:
        old = EngineLog(engine="llama.cpp", form="old, self size", version="3392", n_ctx=2_048, slots=1,
                        element="f16", kv_bytes_total=672 * MIB)  # fmt: skip
        answer = check(old, model=model_of(load("google/gemma-2-9b-it")))
        assert (answer.verdict, answer.cause, answer.found) == ("agrees", ("windows_ignored",), ())

    def test_every_one_has_a_sentence(self) -> None:
        for lang in LANGUAGES:
            assert all(text.CAUSES[rule](lang) for rule in text.CAUSES)


class TestAsks:
    def test_for_the_model_and_the_split(self) -> None:
        assert checked("lmcache-1739-qwen3-14b").asked == ("model", "tp")

    def test_for_nothing_that_the_log_says(self) -> None:
        assert checked("mimo-v2-flash-18039").asked == ()
        assert checked("llamacpp-8760-mistral-large-instruct-2407").asked == ()

    def test_for_the_split_where_figures_differ_without(self) -> None:
        answer = checked("lmcache-1739-qwen3-14b", LLAMA_8B)
        assert answer.asked == ("tp", "element")

    def test_for_the_split_where_one_would_agree(self) -> None:
        log = replace(read_log(excerpt("lmcache-1739-qwen3-14b")), tp=None)
        twice = Model(name="twice", architecture=plain(80, kv_heads=8, key_dim=128, value_dim=128))
        answer = check(log, model=twice)
        assert (answer.verdict, answer.assumed, answer.asked) == ("agrees", {"tp": 2}, ("tp",))
        assert check(log, model=twice, given={"tp": 2}).assumed == {}

    def test_for_the_type_where_the_log_names_an_unknown_one(self) -> None:
        log = EngineLog(engine="llama.cpp", form="newest names", element="turboquant", n_ctx=8_192, kv_bytes_total=GIB)
        assert check(log, model=LLAMA_8B).asked == ("element",)
        assert check(log, model=LLAMA_8B, given={"kv_dtype": "fp16"}).verdict == "agrees"

    def test_for_the_context(self) -> None:
        log = EngineLog(engine="ollama", form="allocation by device", kv_bytes_total=GIB)
        assert check(log, model=LLAMA_8B).asked == ("n_ctx",)
        assert check(log, model=LLAMA_8B, given={"context_tokens": 8_192}).verdict == "agrees"


class TestModels:
    @pytest.mark.parametrize(
        ("name", "model"),
        [
            ("google/gemma-3-27b-it", "google/gemma-3-27b-it"),
            ("Gemma 3 27b It", "google/gemma-3-27b-it"),
            ("cyankiwi/Kimi-Linear-48B-A3B-Instruct-AWQ-4bit", "moonshotai/Kimi-Linear-48B-A3B-Instruct"),
            ("neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8", "meta-llama/Llama-3.1-70B-Instruct"),
            ("gemma", None),
            ("Qwen/Qwen3-14B-of-somebody", None),
            (None, None),
        ],
    )
    def test_names_in_logs(self, name: str | None, model: str | None) -> None:
        found = named_in(EngineLog(engine="vllm", form="V0", model=name))
        assert (found and found.name) == model

    def test_every_bundled_model_is_found_by_its_own_name(self) -> None:
        for name in models():
            found = named_in(EngineLog(engine="vllm", form="V0", model=name))
            assert found is not None
            assert found.name == name

    def test_encoders_are_read_for_their_layers(self, tmp_path: Path) -> None:
        file = tmp_path / "bge-m3.json"
        file.write_text(
            json.dumps({"model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"], "num_hidden_layers": 24,
                        "num_attention_heads": 16, "hidden_size": 1024})
        )  # fmt: skip
        model = read_model(file)
        log = EngineLog(engine="sglang", form="pool of each rank", tp=1, kv_tokens=256_568,
                        kv_bytes_per_gpu=int(23.48 * GIB))  # fmt: skip
        answer = check(log, model=model)
        assert (answer.verdict, answer.cause) == ("agrees", ("encoder_cache_allocated",))
        assert model.name == "bge-m3"

    def test_other_unknown_architectures_stay_unknown(self, tmp_path: Path) -> None:
        file = tmp_path / "config.json"
        file.write_text(json.dumps({"model_type": "nobody_knows", "num_hidden_layers": 2}))
        with pytest.raises(KvvizError, match="no rules for"):
            read_model(file)


class TestBudget:
    LOG = (
        "INFO 03-18 02:51:19 worker.py:267] the current vLLM instance can use total_gpu_memory (23.98GiB) x"
        " gpu_memory_utilization (0.96) = 23.02GiB\n"
        "INFO 03-18 02:51:19 worker.py:267] model weights take 18.91GiB; non_torch_memory takes 0.25GiB; PyTorch"
        " activation peak memory takes 1.42GiB; the rest of the memory reserved for KV Cache is 2.44GiB.\n"
    )

    def test_needs_no_model(self) -> None:
        answer = check(read_log(self.LOG))
        assert (answer.verdict, answer.cause, answer.asked) == ("agrees", ("budget_only",), ())
        (figure,) = answer.figures
        assert (figure.name, figure.agrees) == ("available_kv_bytes_per_gpu", True)

    def test_measured_terms_go_to_sizing(self) -> None:
        answer = check(read_log(self.LOG))
        assert answer.measured == {"weights_gib": 18.91, "activations_gib": 1.42, "non_torch_gib": 0.25}
        taken = scenario_of(answer, Scenario(engine="sglang", gpu="rtx-4090"), ask=sized, has_model=False)
        scenario = taken.scenario
        assert (scenario.engine, scenario.memory_fraction, scenario.gpu) == ("vllm", 0.96, "rtx-4090")
        assert (scenario.weights_gib, scenario.activations_gib, scenario.non_torch_gib) == (18.91, 1.42, 0.25)

    def test_a_term_that_does_not_add_up(self) -> None:
        answer = check(read_log(self.LOG.replace("is 2.44GiB", "is 3.44GiB")))
        assert answer.verdict == "differs"


PRINTED = """\
INFO 11-28 10:01:14 [api_server.py:1755] vLLM API server version 0.11.0
INFO 11-28 10:01:29 [core.py:58] Initializing a V1 LLM engine (v0.11.0) with config: model='{model}',\
 dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1, pipeline_parallel_size=1, kv_cache_dtype={element}
INFO 11-28 10:01:45 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 4.1 seconds
INFO 11-28 10:02:01 [gpu_worker.py:298] Available KV cache memory: 54.12 GiB
INFO 11-28 10:02:01 [kv_cache_utils.py:1087] GPU KV cache size: {tokens} tokens
INFO 11-28 10:02:01 [kv_cache_utils.py:1091] Maximum concurrency for 8,192 tokens per request: {concurrency}x
INFO 11-28 10:02:10 [gpu_model_runner.py:3480] Graph capturing finished in 7 secs, took 0.55 GiB
"""
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def printed(
    element: str = "auto", tokens: str = "443,344", concurrency: str = "54.12", model: str = LLAMA
) -> EngineLog:
    return read_log(PRINTED.format(element=element, tokens=tokens, concurrency=concurrency, model=model))


NOT_NAMED = {
    "vllm-25350-fp8-221k": "Qwen/Qwen3-30B-A3B",
    "llamacpp-14625-ai21-jamba-mini-1-7": "ai21labs/AI21-Jamba-1.5-Mini",
    "lmstudio-1862-qwen36-27b": "nvidia/Qwen3.6-27B-NVFP4",
    "ollama-8310-mllama": "meta-llama/Llama-3.2-11B-Vision-Instruct",
}
"""Models of excerpts that do not name theirs as it is bundled."""


class TestOnSizing:
    """The log's question, asked on Sizing: what is missing of it is named, else its figures come out again."""

    OTHERWISE = Scenario(kv_dtype="fp8", weights_gib=9, activations_gib=5, graphs_gib=9, non_torch_gib=9,
                         headroom=0.3, typical=0.5, shared_tokens=512, draft_layers=1, full_windows="on",
                         prefix_caching="off", block_tokens=64, users=700)  # fmt: skip
    EXPLAINS = frozenset(text.MISSING) - {"no_gpu"}

    @pytest.mark.parametrize("base", [Scenario(), OTHERWISE], ids=["defaults", "everything else set"])
    @pytest.mark.parametrize("row", INDEX, ids=[row["row_id"] for row in INDEX])
    def test_figures_of_a_log_come_out_again(self, row: dict[str, Any], base: Scenario) -> None:
        log = read_log(excerpt(row["row_id"]))
        named = NOT_NAMED.get(row["row_id"])
        model = model_of(load(named)) if named else named_in(log)
        answer = check(log, model=model)
        if model is not None:
            base = base.with_changes(model=model.name)
        taken = scenario_of(answer, base, ask=sized, has_model=model is not None)
        for lang in LANGUAGES:
            assert report.taken(answer, taken, lang)
        if answer.verdict != "agrees" or self.EXPLAINS & set(taken.missing):
            assert taken.missing
            return
        sizing = sized(taken.scenario)
        assert sizing.plan is not None
        assert sizing.budget is not None
        if log.max_concurrency is not None:
            assert sizing.budget.max_concurrency == pytest.approx(log.max_concurrency, abs=0.00501)
            assert sizing.budget.kv_cache_size_tokens == (log.tokens_line or log.kv_tokens)
        elif log.estimated_max_len is not None:  # of 5.59 GiB, read to half a hundredth
            assert sizing.starts is False
            assert sizing.max_tokens == pytest.approx(log.estimated_max_len, rel=0.005 / 5.59)
        else:
            allocated = (log.kv_bytes_total or 0) + (log.state_bytes_total or 0)
            need = sizing.plan.need_bytes(taken.scenario.requests, sizing.tokens)
            assert need == pytest.approx(allocated, abs=2 * MIB / 200)

    def test_most_of_them_do(self) -> None:
        """The test above is about something."""
        again = 0
        for row in INDEX:
            log = read_log(excerpt(row["row_id"]))
            named = NOT_NAMED.get(row["row_id"])
            model = model_of(load(named)) if named else named_in(log)
            base = Scenario(model=model.name) if model else Scenario()
            taken = scenario_of(check(log, model=model), base, ask=sized, has_model=model is not None)
            again += not self.EXPLAINS & set(taken.missing)
        assert again >= 6

    @pytest.mark.parametrize(
        ("element", "tokens", "concurrency", "asked"),
        [
            ("auto", "443,344", "54.12", "fp8"),
            ("fp8", "886,704", "108.24", "auto"),
            ("fp8", "886,704", "108.24", "bf16"),
        ],
    )
    def test_the_cache_type_is_the_logs(self, element: str, tokens: str, concurrency: str, asked: str) -> None:
        log = printed(element, tokens, concurrency)
        answer = check(log, model=LLAMA_8B)
        assert answer.verdict == "agrees"
        base = Scenario(model=LLAMA, gpu="h100-80gb", kv_dtype=asked, sequences=100)
        taken = scenario_of(answer, base, ask=sized, has_model=True)
        assert taken.missing == ("no_gpu",)
        assert taken.scenario.kv_dtype == ("bf16" if element == "auto" else "fp8")
        sizing = sized(taken.scenario)
        assert sizing.budget is not None
        assert f"{sizing.budget.max_concurrency:.2f}" == concurrency
        assert sizing.budget.kv_cache_size_tokens == int(tokens.replace(",", ""))
        assert sizing.max_sequences_counted == int(float(concurrency))

    def test_a_pool_that_the_gpu_does_not_have_is_named(self) -> None:
        base = Scenario(model=LLAMA, gpu="rtx-4090")
        taken = scenario_of(check(printed(), model=LLAMA_8B), base, ask=sized, has_model=True)
        assert taken.missing == ("no_gpu", "pool")
        assert taken.pool_bytes is None
        no_gpu = scenario_of(check(printed(), model=LLAMA_8B), Scenario(model=LLAMA, gpu=""), ask=sized, has_model=True)
        assert "no_budget" in no_gpu.missing

    def test_the_gpus_memory_is_the_logs(self) -> None:
        log = replace(printed(), total_bytes=140 * GIB)
        answer = check(log, model=LLAMA_8B)
        base = Scenario(model=LLAMA, gpu="h100-80gb")
        taken = scenario_of(answer, base, ask=sized, has_model=True)
        assert taken.scenario.gpu.startswith("own-140.")
        assert taken.missing == ()
        assert sized(taken.scenario).max_sequences_counted == 54

    def test_what_no_setting_holds_is_named(self) -> None:
        answer = check(printed(), model=LLAMA_8B)
        assert answer.settings is not None
        answer = replace(answer, settings=replace(answer.settings, draft_tokens=2, depth=3))
        taken = scenario_of(answer, Scenario(model=LLAMA), ask=sized, has_model=True)
        assert {"draft_tokens", "depth"} <= set(taken.missing)


class TestWhatTheLogSays:
    def test_auto_is_a_cache_type(self) -> None:
        """Told to take the model's own type, in a log that says which that is."""
        log = printed(tokens="400,000", concurrency="48.83")
        answer = check(log, model=LLAMA_8B)
        assert (answer.verdict, answer.asked) == ("differs", ())
        assert log.element_is_auto
        for lang in LANGUAGES:
            assert text.STORED_AUTO(lang, type="bf16") in report.compared_with(answer, lang)
        silent = replace(log, element_is_auto=None)
        assert check(silent, model=LLAMA_8B).asked == ("element",)

    @pytest.mark.parametrize("lang", LANGUAGES)
    def test_a_model_that_is_not_bundled_is_named(self, lang: Lang) -> None:
        answer = check(printed(model="acme/private-8b"))
        sentence = report.headline(answer, lang)
        assert text.NOT_BUNDLED(lang, model="acme/private-8b") in sentence
        assert text.ASKED["model"](lang) not in sentence
        unnamed = check(replace(printed(), model=None, tp=None))
        assert text.ASKED["model"](lang) in report.headline(unnamed, lang)

    @pytest.mark.parametrize("lang", LANGUAGES)
    def test_no_model_is_no_this_model(self, lang: Lang) -> None:
        answer = check(read_log("Available KV cache memory: 54.12 GiB\nGPU KV cache size: 1e99 tokens"))
        assert text.THIS_MODEL(lang) not in report.headline(answer, lang)
        terms = check(read_log(TestBudget.LOG.replace("is 2.44GiB", "is 3.44GiB")))
        assert terms.verdict == "differs"
        assert text.THIS_MODEL(lang) not in report.headline(terms, lang)

    def test_only_what_follows_from_nothing_else_is_counted(self) -> None:
        answer = check(printed(), model=LLAMA_8B)
        assert len([f for f in answer.figures if f.telling]) == 4
        assert answer.independent == 1
        assert "(independent figures: 1)" in report.headline(answer, "en")
        assert "54.12 GiB" in report.basis(answer, "en")
        assert checked("llamacpp-14097-gemma-3-27b-it").independent == 2
        refusal = checked("vllm-25350-fp8-221k", model_of(load("Qwen/Qwen3-30B-A3B")))
        assert refusal.independent == 2

    @pytest.mark.parametrize("lang", LANGUAGES)
    def test_memory_of_a_gpu_is_in_one_unit(self, lang: Lang) -> None:
        """As it is in the log."""
        answer = check(printed(), model=LLAMA_8B)
        table = "".join(cell for row in report.said(answer, lang) for cell in row.values())
        assert "14.99 GiB" in table
        assert "0.55 GiB" in table
        assert "MiB" not in table


class TestWords:
    @pytest.mark.parametrize("lang", LANGUAGES)
    @pytest.mark.parametrize("row", INDEX, ids=[row["row_id"] for row in INDEX])
    def test_every_excerpt_in_both_languages(self, row: dict[str, Any], lang: Lang) -> None:
        for model in (None, GEMMA):
            log = read_log(excerpt(row["row_id"]))
            answer = check(log, model=model or named_in(log))
            sentence = report.headline(answer, lang)
            assert sentence.count("{") == 0
            for name in (row for row in report.rows(answer, lang)):
                assert all(name.values())
            assert report.said(answer, lang) or answer.figures

    def test_all_figures_have_a_label(self) -> None:
        predicted: set[str] = set()
        for row in INDEX:
            for model in (None, GEMMA, R1):
                predicted |= set(check(read_log(excerpt(row["row_id"])), model=model).predicted)
        assert predicted <= set(text.FIGURES)


# --- the command line -------------------------------------------------------------------------------------------------


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    code = cli.main(["check-log", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def file_of(row_id: str) -> str:
    return str(LOGS / next(row["file"] for row in INDEX if row["row_id"] == row_id))


class TestCommand:
    def test_json(self, capsys: Capture) -> None:
        code, out, err = run(capsys, file_of("vllm-28228-kimi-linear"), "--json")
        assert (code, err) == (0, "")
        answer = json.loads(out)
        assert {"engine", "form", "reported", "predicted", "cause", "model", "asked"} <= set(answer)
        row = next(row for row in INDEX if row["row_id"] == "vllm-28228-kimi-linear")
        reading = {k: v for k, v in row["reading"].items() if k not in ("engine", "form")}
        assert {name: answer["reported"][name] for name in reading} == reading
        assert (answer["engine"], answer["form"]) == (row["reading"]["engine"], row["reading"]["form"])
        assert answer["predicted"]["tokens_line"] == 75_840
        assert answer["cause"] == ["mla_latent", "tokens_line_is_groups"]
        assert answer["model"] == "moonshotai/Kimi-Linear-48B-A3B-Instruct"
        assert (answer["asked"], answer["verdict"]) == ([], "agrees")

    def test_a_mismatch_is_1(self, capsys: Capture) -> None:
        code, out, _ = run(capsys, file_of("lmcache-1739-qwen3-14b"), "--model", "Qwen/Qwen3-32B")
        assert code == 1
        assert "✗ Bytes per token" in out

    def test_what_is_missing_is_asked_for(self, capsys: Capture) -> None:
        code, out, _ = run(capsys, file_of("lmcache-1739-qwen3-14b"), "--json")
        answer = json.loads(out)
        assert (code, answer["asked"], answer["predicted"]) == (0, ["model", "tp"], {})

    def test_settings_that_the_log_lacks(self, capsys: Capture, tmp_path: Path) -> None:
        log = tmp_path / "ollama.log"
        log.write_text('time=2026-02-21T14:14:46 level=INFO source=device.go:256 msg="kv cache" device=CUDA0 '
                       'size="1.0 GiB"\n')  # fmt: skip
        arguments = (str(log), "--model", "meta-llama/Llama-3.1-8B-Instruct")
        assert "Context" not in run(capsys, *arguments)[1].splitlines()[0]
        code, out, _ = run(capsys, *arguments, "--n-ctx", "8k", "--json")
        assert (code, json.loads(out)["verdict"]) == (0, "agrees")
        code, out, _ = run(capsys, *arguments, "--n-ctx", "8k", "--kv-dtype", "q8_0", "--json")
        assert (code, json.loads(out)["verdict"]) == (1, "differs")

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_from_standard_input(self, capsys: Capture, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
        raw = excerpt("mimo-v2-flash-18039").encode(encoding)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
        code, out, err = run(capsys, "-", "--lang", "ja")
        assert (code, err) == (0, "")
        assert "予測どおり" in out

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["nowhere.log"], "nowhere.log cannot be read: No such file or directory."),
            ([str(LOGS)], "cannot be read: Is a directory."),
            ([str(Path(__file__))], ""),
            ([str(LOGS / "mimo-v2-flash-18039.log"), "--model", "no/such"], "not one of the bundled models"),
            ([str(LOGS / "mimo-v2-flash-18039.log"), "--tp", "many"], "tp"),
        ],
    )
    def test_bad_input_is_2(self, capsys: Capture, arguments: list[str], says: str) -> None:
        code, out, err = run(capsys, *arguments)
        if says:
            assert (code, out) == (2, "")
            assert says in err
            assert err.count("\n") == 1
        else:
            assert code in (0, 1, 2)

    def test_nothing_recognisable(self, capsys: Capture, tmp_path: Path) -> None:
        log = tmp_path / "app.log"
        log.write_text("GET / 200\nhello\n")
        code, out, err = run(capsys, str(log), "--json")
        assert code == 2
        assert "Looked for start-up lines" in err
        assert json.loads(out)["error"]["code"] == "log"

    def test_secrets_are_not_echoed(self, capsys: Capture, tmp_path: Path) -> None:
        secret = "hf_" + "a1B2" * 9
        log = tmp_path / "server.log"
        log.write_text(f"HF_TOKEN={secret} vllm serve {secret}\n{excerpt('vllm-28228-kimi-linear')}\narch = {secret}\n")
        for arguments in ((), ("--json",)):
            code, out, err = run(capsys, str(log), *arguments)
            assert code == 0
            assert secret not in out + err


def test_bytes_that_are_no_text() -> None:
    assert decode(b"\xff\xfea\x00") == "a"
    assert decode(b"\x80abc") == "\ufffdabc"


# --- nothing makes it fail -------------------------------------------------------------------------------------------

NUMBERS = [f.name for f in fields(EngineLog) if "int | None" in str(f.type) or "float | None" in str(f.type)]
FORMS = sorted({row["reading"].get("form", "") for row in INDEX} | {"V0", "V1 refusal", "V0 refusal", "settings"})


@settings(max_examples=150, deadline=None)
@given(
    engine=st.sampled_from(["vllm", "sglang", "llama.cpp", "ik_llama.cpp", "ollama", "tensorrt-llm"]),
    form=st.sampled_from(FORMS),
    model=st.sampled_from([None, LLAMA_8B, GEMMA, R1, model_of(load("Qwen/Qwen3-Next-80B-A3B-Instruct"))]),
    numbers=st.dictionaries(
        st.sampled_from(NUMBERS),
        st.one_of(st.integers(0, 4), st.integers(0, 10**6), st.integers(0, 10**13)),
        max_size=14,
    ),
    element=st.sampled_from([None, "fp8", "bf16", "f32", "q8_0", "turboquant"]),
)
def test_any_log_is_checked_or_refused(
    engine: str, form: str, model: Model | None, numbers: dict[str, int], element: str | None
) -> None:
    log = EngineLog(engine=engine, form=form, element=element, **numbers)
    with suppress(KvvizError):
        answer = check(log, model=model)
        for lang in LANGUAGES:
            report.headline(answer, lang)
            report.rows(answer, lang)
        json.dumps(as_json(answer))
        base = Scenario(model=model.name if model else Scenario().model, kv_dtype="fp8")
        taken = scenario_of(answer, base, ask=sized, has_model=model is not None)
        for lang in LANGUAGES:
            assert report.taken(answer, taken, lang)
            report.basis(answer, lang)


@pytest.mark.parametrize(
    ("tokens", "exits", "headline"),
    [(99_984, 0, "none of its figures is one that can be predicted"), (99_999, 1, "2 of 2 figures are not")],
)
def test_headline_crosses_and_exit_code_say_the_same(
    tokens: int, exits: int, headline: str, capsys: Capture, tmp_path: Path
) -> None:
    """A pool is whole blocks: alone that proves nothing, and yet no pool holds 99,999 tokens."""
    log = tmp_path / "vllm.log"
    log.write_text(f"GPU KV cache size: {tokens} tokens\n")
    assert cli.main(["check-log", str(log), "--model", "Qwen/Qwen3-8B", "--tp", "1"]) == exits
    out = capsys.readouterr().out
    assert headline in out
    assert ("✗" in out) == bool(exits)
