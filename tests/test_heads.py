"""Shared heads: who shares with whom in real models, and what another sharing makes of them."""

from fractions import Fraction

import pytest

from kvviz import catalogue
from kvviz.core.architecture import Architecture, read_config
from kvviz.core.cache import content
from kvviz.core.dtypes import KV_DTYPES
from kvviz.heads import (
    AS_MADE,
    PRESETS,
    Heads,
    heads_of,
    kind_of,
    latent_saves,
    other_of_pair,
    shared_more,
    sharings,
    size_of_other,
    with_heads,
)
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import size

BF16 = KV_DTYPES["bf16"]

# Query heads, KV heads and bytes of a token, worked out by hand from the config: 2 x layers x KV heads x head size x 2.
MADE = {
    "Qwen/Qwen3-32B": (64, 8, "GQA", 2 * 64 * 8 * 128 * 2),
    "Qwen/Qwen-7B-Chat": (32, 32, "MHA", 2 * 32 * 32 * 128 * 2),
    "Qwen/Qwen2.5-7B-Instruct": (28, 4, "GQA", 2 * 28 * 4 * 128 * 2),
    "meta-llama/Llama-2-7b-hf": (32, 32, "MHA", 2 * 32 * 32 * 128 * 2),
    "meta-llama/Llama-3.1-8B-Instruct": (32, 8, "GQA", 2 * 32 * 8 * 128 * 2),
    "bigcode/gpt_bigcode-santacoder": (16, 1, "MQA", 2 * 24 * 1 * 128 * 2),
    "tiiuae/falcon-40b": (128, 8, "GQA", 2 * 60 * 8 * 64 * 2),
    "google/gemma-3-27b-it": (32, 16, "GQA", 2 * 62 * 16 * 128 * 2),
    "Qwen/Qwen3-Next-80B-A3B-Instruct": (16, 2, "GQA", 2 * 12 * 2 * 256 * 2),
}


def architecture(model: str) -> Architecture:
    return catalogue.load(model).architecture


def heads(model: str) -> Heads:
    found = heads_of(architecture(model))
    assert isinstance(found, Heads)
    return found


def per_token(of: Architecture) -> Fraction:
    whole = content(of.layers, BF16)
    return whole.growing_bytes_per_token + sum((limit.bytes_per_token for limit in whole.limited), Fraction(0))


@pytest.mark.parametrize(("model", "made"), MADE.items(), ids=MADE)
def test_who_shares_with_whom(model: str, made: tuple[int, int, str, int]) -> None:
    queries, kv_heads, kind, token_bytes = made
    found = heads(model)
    assert (found.query_heads, found.made) == (queries, kv_heads)
    assert kind_of(found.made, found.query_heads) == kind
    assert per_token(architecture(model)) == token_bytes


def test_nine_times_from_one_generation_to_the_next() -> None:
    older, newer = "Qwen/Qwen-7B-Chat", "Qwen/Qwen2.5-7B-Instruct"
    assert other_of_pair(older) == newer
    assert other_of_pair(newer) == older
    assert other_of_pair("Qwen/Qwen3-32B") is None
    less = size_of_other(newer, PRESETS["pair"].scenario).content.growing_bytes_per_token
    assert f"{float(per_token(architecture(older)) / less):.1f}" == "9.1"


NOT_SHARED = {
    "deepseek-ai/DeepSeek-V3": "latent",
    "moonshotai/Kimi-Linear-48B-A3B-Instruct": "latent",
    "deepseek-ai/DeepSeek-V4-Flash": "compressed",
    "RWKV/rwkv-5-world-3b": "states",
}


@pytest.mark.parametrize(("model", "why"), NOT_SHARED.items(), ids=NOT_SHARED)
def test_models_without_kv_heads(model: str, why: str) -> None:
    assert heads_of(architecture(model)) == why


def test_layers_that_a_person_described_do_not_say_their_query_heads() -> None:
    row = {"count": 4, "kind": "full", "kv_heads": 8, "key_dim": 128}
    described = {"model_type": "kvviz-layers", "layers": [row]}
    assert heads_of(read_config(described)) == "unknown"
    found = heads_of(read_config({**described, "num_attention_heads": 32}))
    assert isinstance(found, Heads)
    assert found.made == 8
    assert heads_of(read_config({**described, "num_attention_heads": 12})) == "unknown"


def test_query_heads_that_differ_from_layer_to_layer_are_said_not_guessed() -> None:
    config = {
        "model_type": "step3p5",
        "num_hidden_layers": 4,
        "hidden_size": 4_096,
        "num_attention_heads": 64,
        "num_attention_groups": 8,
        "head_dim": 128,
        "sliding_window": 512,
        "max_position_embeddings": 65_536,
        "layer_types": ["full_attention", *3 * ["sliding_attention"]],
        "attention_other_setting": {"num_attention_heads": 96, "num_attention_groups": 8, "head_dim": 128},
    }
    assert heads_of(read_config(config)) == "differing"


def test_layers_that_share_in_different_ways() -> None:
    found = heads("google/gemma-4-26B-A4B")
    assert {(group.kind, group.kv_heads, group.layers) for group in found.groups} == {("window", 8, 25), ("full", 2, 5)}
    assert found.made == AS_MADE
    scenario = Scenario(model="google/gemma-4-26B-A4B", gpu="h200", gpus=2)
    asked = size(architecture(scenario.model), scenario, weights=None)
    possible = sharings(asked, found, weights=None)
    (real,) = [one for one in possible if one.real]
    # (25 layers x 8 heads x 256 + 5 x 2 x 512) of (25 x 16 x 256 + 5 x 16 x 512).
    assert real.shared_ratio == Fraction(25 * 8 * 256 + 5 * 2 * 512, 25 * 16 * 256 + 5 * 16 * 512)
    # The windows of a request of 4,096 tokens are full at 1,024.
    assert real.ratio == Fraction(25 * 8 * 256 + 4 * 5 * 2 * 512, 25 * 16 * 256 + 4 * 5 * 16 * 512)
    assert [one.kv_heads for one in possible] == [16, 8, AS_MADE, 4, 2, 1]


@pytest.mark.parametrize("model", [m for m in catalogue.models() if isinstance(heads_of(architecture(m)), Heads)])
def test_every_sharing_of_every_bundled_model(model: str) -> None:
    found, of = heads(model), architecture(model)
    assert found.counts[0] == found.query_heads
    assert found.counts[-1] == 1
    assert found.other_layers + sum(group.layers for group in found.groups) >= len(of.layers)
    sizes = [per_token(with_heads(of, count)) for count in found.counts]
    assert sizes == sorted(sizes, reverse=True)
    # What does not shrink with the heads (states, indexer keys) is the same in all: the rest is proportional.
    each = (sizes[0] - sizes[-1]) / (found.query_heads - 1) if found.query_heads > 1 else Fraction(0)
    assert [size - each * count for size, count in zip(sizes, found.counts, strict=True)] == [sizes[-1] - each] * len(
        sizes
    )
    if found.made:
        assert with_heads(of, found.made).layers == of.layers


def test_the_answer_changes_with_the_heads() -> None:
    resolved = resolve(Scenario(model="Qwen/Qwen3-32B", gpu="h200", gpus=2))
    asked = resolved.size()
    possible = sharings(asked, heads("Qwen/Qwen3-32B"), weights=resolved.weights)
    assert [one.kv_heads for one in possible] == [64, 32, 16, 8, 4, 2, 1]
    assert [one.token_bytes for one in possible] == [2 * 64 * n * 128 * 2 for n in (64, 32, 16, 8, 4, 2, 1)]
    assert [str(one.ratio) for one in possible] == ["1", "1/2", "1/4", "1/8", "1/16", "1/32", "1/64"]
    assert [one.real for one in possible] == [False, False, False, True, False, False, False]
    fits = [one.at_once for one in possible]
    assert fits[3] == asked.max_sequences_counted
    assert fits == sorted(fits, key=lambda fit: fit or 0)
    # One head on two GPUs is there twice: it saves nothing more.
    assert fits[-1] == fits[-2]
    # Weights are as large as the real ones, on each GPU, too.
    assert len({one.sizing.budget.weights.value_bytes for one in possible if one.sizing and one.sizing.budget}) == 1
    (alone,) = [note.code for note in (possible[-1].sizing or asked).notes if note.code == "kv-heads-copied"]
    assert alone


def test_states_are_not_shared() -> None:
    """The ratio is that of the bytes of one request, which is what the page puts beside it."""
    scenario = Scenario(model="Qwen/Qwen3-Next-80B-A3B-Instruct", gpu="h200", gpus=2)
    asked = size(architecture(scenario.model), scenario, weights=None)
    possible = sharings(asked, heads(scenario.model), weights=None)
    whole = {one.kv_heads: one.content.bytes_at(asked.tokens) for one in possible}
    assert {one.kv_heads: one.ratio for one in possible} == {n: whole[n] / whole[16] for n in (16, 8, 4, 2, 1)}
    assert [one.shared_ratio for one in possible] == [Fraction(1, n) for n in (1, 2, 4, 8, 16)]
    # 12 layers keep K and V, 36 a state: 134 MiB of 806 MiB.
    assert f"{float(possible[3].ratio):.2g}" == "0.17"


@pytest.mark.parametrize("code", PRESETS)
def test_an_example_is_no_longer_than_its_model(code: str) -> None:
    scenario = PRESETS[code].scenario
    longest = architecture(scenario.model).max_context_tokens
    assert longest is None or scenario.input + scenario.output <= longest


def test_without_a_gpu_nobody_knows_how_many_fit() -> None:
    scenario = Scenario(model="Qwen/Qwen3-32B", gpu="")
    asked = size(architecture(scenario.model), scenario, weights=None)
    assert {one.at_once for one in sharings(asked, heads(scenario.model), weights=None)} == {None}


def test_an_eighth_is_not_the_floor() -> None:
    found = shared_more()
    assert min(found.models) > 8
    assert {"falcon-40b", "Qwen3-235B-A22B"} <= set(found.models[16])
    assert "NVIDIA-Nemotron-3-Ultra-550B-A55B" in found.models[32]
    assert found.configs < found.of_configs < len(catalogue.models())
    # The same model with weights of another type is another config and no other model.
    every = [name for names in found.models.values() for name in names]
    assert len(every) == len(set(every)) < found.configs
    assert not any(name.endswith(("-FP8", "-NVFP4", "-BF16")) for name in every)
    # From the file itself, by its own fields.
    config = catalogue.load("Qwen/Qwen3-235B-A22B").config
    assert (config["num_attention_heads"], config["num_key_value_heads"]) == (64, 4)


def test_a_latent_stands_for_all_heads() -> None:
    saves = latent_saves(architecture("deepseek-ai/DeepSeek-V3"))
    assert saves is not None
    assert saves[1:] == (512 + 64, 128 * (128 + 64 + 128))
    assert latent_saves(architecture("Qwen/Qwen3-32B")) is None


@pytest.mark.parametrize("code", PRESETS)
def test_every_example_runs(code: str) -> None:
    answer = resolve(PRESETS[code].scenario).size()
    assert answer.starts
    assert (answer.max_sequences_counted or 0) > 0
