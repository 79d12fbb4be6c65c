"""Pitfalls: which sizing is near which, with the numbers, and none where it is not."""

import pytest

from kvviz.advice import GRAVEST_FIRST, Advice, advice
from kvviz.catalogue import models
from kvviz.core.errors import KvvizError
from kvviz.resolve import resolve
from kvviz.scenario import ENGINES, Scenario
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES

GEMMA = "google/gemma-3-27b-it"
NEXT = "Qwen/Qwen3-Next-80B-A3B-Instruct"
R1 = "deepseek-ai/DeepSeek-R1"
MISTRAL = "mistralai/Mistral-7B-Instruct-v0.1"
LLAMA_70B = "meta-llama/Llama-3.1-70B-Instruct"


def sized(**asked: object) -> Sizing:
    return resolve(Scenario(**asked)).size()  # type: ignore[arg-type]


def found(**asked: object) -> dict[str, Advice]:
    return {one.code: one for one in advice(sized(**asked))}


SAID: list[tuple[str, dict[str, object], tuple[str, ...]]] = [
    # 52 window layers keep 1,024 x 8,192 B each: 416 MiB; 10 full ones 8,192 B a token.
    ("one-rate", {"model": GEMMA, "gpus": 2}, ("416 MiB", "80 KiB", "184 KiB", "4,096")),
    ("only-fixed", {"model": MISTRAL, "input": 8192}, ("512 MiB",)),
    ("token-line", {"model": GEMMA, "gpus": 2}, ("33.44 × 4,096",)),
    ("token-line", {"model": GEMMA, "gpus": 2, "engine_version": "0.20"}, ("7 groups",)),
    ("window-is-no-limit", {"model": "mistralai/Ministral-8B-Instruct-2410"}, ("32,768",)),
    ("window-not-reached", {"model": "google/gemma-2-9b-it", "input": 2000, "output": 96}, ("2,096", "4,096")),
    # 32 layers x 8 heads x 128 x 2 x 2 B = 128 KiB a token; the window keeps 4,096 of them.
    ("windows-at-full-length", {"model": MISTRAL, "input": 31_744, "engine": "llama.cpp"}, ("4 GiB", "512 MiB")),
    ("windows-at-full-length", {"model": GEMMA, "input": 31_744, "engine": "sglang"}, ("15.5 GiB", "2.91 GiB")),
    ("windows-at-full-length", {"model": GEMMA, "input": 31_744, "full_windows": "on"}, ("15.5 GiB", "2.91 GiB")),
    ("windows-at-full-length", {"model": MISTRAL, "input": 31_744, "engine_version": "v0"}, ("4 GiB", "512 MiB")),
    ("max-attention-window", {"model": GEMMA, "gpus": 2, "engine": "tensorrt-llm"}, ("992 MiB",)),
    ("dcp-instead", {"model": R1, "gpu": "h200", "gpus": 8}, ("parallel 8", "34.3 MiB", "274 MiB")),
    ("dcp-instead", {"model": LLAMA_70B, "gpus": 16}, ("parallel 2", "80 MiB", "160 MiB")),
    ("attention-dp-instead", {"model": R1, "gpu": "h200", "gpus": 8}, ("8 pools",)),
    ("activations", {"model": GEMMA, "gpus": 2}, ("--max-num-seqs 256",)),
    ("activations", {"model": GEMMA, "gpus": 2, "sequences": 300, "batched_tokens": 65536}, ("tokens 2,048",)),
    ("narrow-margin", {"memory_fraction": 0.95}, ("3.96 GiB",)),
    ("fraction-of-old", {}, ("0.92", "0.90", "1.59 GiB")),
    ("fraction-of-free", {"engine": "sglang", "memory_fraction": 0.9}, ("free before loading",)),
    ("fraction-of-free", {"engine": "tensorrt-llm", "memory_fraction": 0.9}, ("free after a trial run",)),
    ("reserved-not-needed", {"sequences": 3}, ("nvidia-smi", "need", "3 GiB")),
    ("reserved-not-needed", {"sequences": 3, "gpu": "mi300x"}, ("rocm-smi",)),
    ("per-gpu", {"gpus": 2}, ("the 2",)),
    # 120 people, a quarter of whose time is spent waiting: 30 +- 4.74.
    ("average", {"users": 120}, ("30 in flight", "120", "more than 39", "34 fit")),
    ("not-reserved", {"max_model_len": 32_768}, ("32,768", "34", "4,096")),
    ("worst-case", {}, ("4,096", "69")),
    ("weights-not-cache", {}, ("bf16", "1 GiB")),
    ("llama-cpp-f16", {"engine": "llama.cpp"}, ("544 MiB", "1 GiB")),
    ("full-precision", {"engine": "llama.cpp", "kv_dtype": "fp32"}, ("2 GiB",)),
    # 128 heads x (192 + 128) against 576 values a token
    ("expanded", {"model": R1, "engine": "llama.cpp", "engine_version": "expanded-mla", "gpus": 16}, ("71.1",)),
    ("every-head", {"model": "meta-llama/Llama-2-7b-hf"}, ("32 query heads", "1/4")),
    ("head-size", {}, ("5,120 ÷ 64 = 80", "1.6 times too small")),
    ("head-size", {"model": GEMMA}, ("5,376 ÷ 32 = 168", "1.31 times too large")),
    ("states-first", {"model": NEXT, "gpus": 4}, ("37.5 MiB", "12.8 MiB")),
    ("states-per-slot", {"model": "Qwen/Qwen3.5-27B", "engine": "llama.cpp", "sequences": 4}, ("598 MiB",)),
    ("uneven-stages", {"model": R1, "gpu": "h200", "gpus": 8, "pp": 4, "tp": 2}, ("72 MiB", "67.5 MiB")),
]


@pytest.mark.parametrize(("code", "asked", "numbers"), SAID)
def test_a_pitfall_with_its_numbers(code: str, asked: dict[str, object], numbers: tuple[str, ...]) -> None:
    sentence = found(**asked)[code].sentence("en")
    assert [number for number in numbers if number not in sentence] == [], sentence


NOT_SAID: list[tuple[str, dict[str, object]]] = [
    ("one-rate", {}),
    ("token-line", {}),
    ("token-line", {"model": GEMMA, "gpus": 2, "engine": "sglang"}),
    ("windows-at-full-length", {"model": GEMMA, "gpus": 2, "input": 31_744}),
    ("windows-at-full-length", {"model": MISTRAL, "input": 2000, "engine": "llama.cpp"}),
    ("max-attention-window", {"model": GEMMA, "gpus": 2, "engine": "tensorrt-llm", "full_windows": "on"}),
    ("dcp-instead", {"model": R1, "gpu": "h200", "gpus": 8, "dcp": 8}),
    ("dcp-instead", {"model": LLAMA_70B, "gpus": 8}),
    ("attention-dp-instead", {"model": R1, "gpu": "h200", "gpus": 8, "attention_dp": "on"}),
    ("activations", {"model": GEMMA, "gpus": 2, "activations_gib": 10.0}),
    ("narrow-margin", {}),
    ("fraction-of-old", {"memory_fraction": 0.92}),
    ("fraction-of-free", {"engine": "sglang"}),
    ("reserved-not-needed", {}),
    ("per-gpu", {"gpus": 2, "tp": 1}),
    ("average", {"users": 20}),
    ("average", {"users": 2000}),
    ("weights-not-cache", {"kv_dtype": "fp8"}),
    ("weights-not-cache", {"model": "meta-llama/Llama-3.1-8B-Instruct"}),
    ("every-head", {}),
    ("states-first", {"model": NEXT, "gpus": 4, "prefix_caching": "off"}),
    ("expanded", {"model": R1, "engine": "llama.cpp", "gpus": 16}),
    ("full-precision", {}),
]


@pytest.mark.parametrize(("code", "asked"), NOT_SAID)
def test_no_pitfall_where_there_is_none(code: str, asked: dict[str, object]) -> None:
    assert code not in found(**asked)


def test_every_rule_has_a_case() -> None:
    assert {code for code, _, _ in SAID} >= {code for _, asked, _ in SAID for code in found(**asked)}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", models()[::9])
def test_any_model_on_any_engine_in_both_languages_the_gravest_first(model: str, engine: str) -> None:
    try:
        sizing = sized(model=model, engine=engine, gpus=2, gpu="h200")
    except KvvizError:
        return  # this split is refused
    given = advice(sizing)
    order = [GRAVEST_FIRST.index(one.gravity) for one in given]
    assert order == sorted(order)
    assert len({one.code for one in given}) == len(given)
    noted = {note.message("en") for note in sizing.notes}
    for one in given:
        assert one.sentence("en") not in noted
        assert all("{" not in one.sentence(lang) for lang in LANGUAGES)


def test_without_a_gpu_only_what_the_model_itself_is() -> None:
    assert set(found(gpu="", model=GEMMA)) == {"one-rate", "head-size"}
