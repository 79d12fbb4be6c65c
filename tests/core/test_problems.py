"""What cannot be is said, one problem a wrong field: no layer left out, no quotient rounded, no other model's class."""

import json
import math
import re
from typing import Any

import pytest

from kvviz.core.architecture import parse_config, read_config, used_fields
from kvviz.core.architecture.fields import json_path
from kvviz.core.cache import letter
from kvviz.core.errors import ConfigError
from tests.core.known import MODELS, config_of
from tests.core.test_neighbours import CASES
from tests.core.test_reading_anything import parent_of, paths_in

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 4,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
}
LATENT = {**LLAMA, "model_type": "deepseek_v3", "kv_lora_rank": 512, "qk_rope_head_dim": 64}
FULL = ["full_attention"] * 4
WINDOWED = {**LLAMA, "model_type": "gemma3_text", "layer_types": ["sliding_attention"] * 4, "sliding_window": 64}
MIMO = {
    **LLAMA,
    "model_type": "mimo_v2_flash",
    "hybrid_layer_pattern": [0, 1, 1, 0],
    "sliding_window": 128,
    "swa_num_attention_heads": 64,
    "swa_num_key_value_heads": 8,
}
GEMMA_4 = {
    **WINDOWED,
    "model_type": "gemma4_text",
    "global_head_dim": 512,
    "attention_k_eq_v": True,
    "num_global_key_value_heads": 4,
}
STEP = {
    **LLAMA,
    "model_type": "step3p5",
    "layer_types": ["full_attention", "sliding_attention"] * 2,
    "sliding_window": 512,
    "attention_other_setting": {"num_attention_heads": 96, "num_attention_groups": 8, "head_dim": 128},
}
NAS = {**LLAMA, "model_type": "nemotron-nas", "block_configs": [{"attention": {"n_heads_in_group": 8}}] * 4}
JAMBA = {**LLAMA, "model_type": "jamba"}
RWKV = {"model_type": "rwkv6", "num_hidden_layers": 2, "hidden_size": 2048, "head_size": 64}
BAMBA = {**LLAMA, "model_type": "bamba", "attn_layer_indices": [1], "mamba_n_heads": 128}
DECI = {**LLAMA, "model_type": "deci", "num_key_value_heads_per_layer": [4, 4, 2, 1]}
OPENELM = {
    "model_type": "openelm",
    "num_transformer_layers": 2,
    "model_dim": 1280,
    "head_dim": 64,
    "num_query_heads": [12, 16],
    "num_kv_heads": [3, 4],
}
BART = {
    "model_type": "bart",
    "decoder_layers": 2,
    "decoder_attention_heads": 16,
    "d_model": 1024,
    "max_position_embeddings": 64,
}
GLM_10B = {
    "model_type": "glm",
    "architectures": ["GLMModel"],
    "num_layers": 48,
    "num_attention_heads": 64,
    "hidden_size": 4096,
    "max_sequence_length": 1024,
    "vocab_size": 50304,
}
NO_RULE = "kvviz has no rule for a {} layer in {} @ $.layer_types[{}]"
NOT_SHARED = "{} query heads cannot share {} KV heads evenly @ $.{}"
NOT_DIVISIBLE = "{} must be a multiple of {} @ $.{}"
NO_LENGTH = "some layers keep only a window or chunk, but its length is not given @ $.{}"


def without(config: dict[str, Any], *names: str) -> dict[str, Any]:
    """``config`` less some fields."""
    return {name: value for name, value in config.items() if name not in names}


REFUSED: list[tuple[str, dict[str, Any], list[str]]] = [
    # --- Layers that a family's rules do not know -------------------------------------------------------------------
    *(
        (f"{word} in a plain family", {**LLAMA, "layer_types": [word, *FULL[1:]]}, [NO_RULE.format(word, "llama", 0)])
        for word in ("mamba", "linear_attention", "conv", "hybrid", "moe", "mlp", "indexed_attention")
    ),
    (
        "every such entry",
        {**LLAMA, "layer_types": ["mamba", "full_attention", "conv", "full_attention"]},
        [NO_RULE.format("mamba", "llama", 0), NO_RULE.format("conv", "llama", 2)],
    ),
    (
        "a window in Jamba",
        {**JAMBA, "layer_types": ["sliding_attention", *FULL[1:]]},
        [
            NO_RULE.format("sliding_attention", "jamba", 0),
        ],
    ),
    (
        "a window beside a latent",
        {**LATENT, "layer_types": [*FULL[1:], "sliding_attention"]},
        [
            NO_RULE.format("sliding_attention", "deepseek_v3", 3),
        ],
    ),
    (
        "a state beside a latent",
        {**LATENT, "layer_types": ["mamba", *FULL[1:]]},
        [
            NO_RULE.format("mamba", "deepseek_v3", 0),
        ],
    ),
    (
        "a latent's list is too short",
        {**LATENT, "layer_types": FULL[:3]},
        [
            "must have one entry per layer: 4, not 3 @ $.layer_types",
        ],
    ),
    (
        "an unknown word beside a latent",
        {**LATENT, "layer_types": [*FULL[:3], "spiral"]},
        [
            "spiral is not a value that kvviz knows here @ $.layer_types[3]",
        ],
    ),
    (
        "attention in a pure state model",
        {**RWKV, "layer_types": ["linear_attention", "full_attention"]},
        [
            NO_RULE.format("full_attention", "rwkv6", 1),
        ],
    ),
    (
        "a list beside lists of heads",
        {**DECI, "layer_types": FULL[:3]},
        [
            "must have one entry per layer: 4, not 3 @ $.layer_types",
        ],
    ),
    # --- Heads and sizes that do not divide ------------------------------------------------------------------------
    ("7 KV heads", {**LLAMA, "num_key_value_heads": 7}, [NOT_SHARED.format(32, 7, "num_key_value_heads")]),
    (
        "more KV than query heads",
        {**LLAMA, "num_attention_heads": 8, "num_key_value_heads": 32},
        [
            NOT_SHARED.format(8, 32, "num_key_value_heads"),
        ],
    ),
    ("hidden size 4,097", {**LLAMA, "hidden_size": 4097}, [NOT_DIVISIBLE.format(4097, 32, "hidden_size")]),
    ("hidden size below the heads", {**LLAMA, "hidden_size": 16}, [NOT_DIVISIBLE.format(16, 32, "hidden_size")]),
    (
        "under another name",
        {"model_type": "gptj", "n_layer": 2, "n_head": 16, "n_embd": 4097},
        [
            NOT_DIVISIBLE.format(4097, 16, "n_embd"),
        ],
    ),
    (
        "KV heads of windows",
        {**MIMO, "swa_num_key_value_heads": 6},
        [
            NOT_SHARED.format(64, 6, "swa_num_key_value_heads"),
        ],
    ),
    (
        "KV heads of Gemma 4's full layers",
        {**GEMMA_4, "num_global_key_value_heads": 5},
        [
            NOT_SHARED.format(32, 5, "num_global_key_value_heads"),
        ],
    ),
    (
        "KV heads of other layers",
        {**STEP, "attention_other_setting": {"num_attention_heads": 96, "num_attention_groups": 7}},
        [NOT_SHARED.format(96, 7, "attention_other_setting.num_attention_groups")],
    ),
    (
        "KV heads of single layers",
        {**LLAMA, "per_layer_config": {"2": {"num_key_value_heads": 5}}},
        [
            NOT_SHARED.format(32, 5, "per_layer_config.2.num_key_value_heads"),
        ],
    ),
    (
        "a list of KV heads",
        {**DECI, "num_key_value_heads_per_layer": [4, 3, 2, 1]},
        [
            NOT_SHARED.format(32, 3, "num_key_value_heads_per_layer[1]"),
        ],
    ),
    ("two lists of heads", {**OPENELM, "num_kv_heads": [3, 5]}, [NOT_SHARED.format(16, 5, "num_kv_heads[1]")]),
    (
        "attn_config",
        {
            "model_type": "dbrx",
            "n_layers": 2,
            "n_heads": 48,
            "d_model": 6144,
            "attn_config": {
                "kv_n_heads": 7,
            },
        },
        [NOT_SHARED.format(48, 7, "attn_config.kv_n_heads")],
    ),
    (
        "groups",
        {
            **without(LLAMA, "num_key_value_heads"),
            "model_type": "chatglm",
            "multi_query_attention": True,
            "multi_query_group_num": 3,
        },
        [NOT_SHARED.format(32, 3, "multi_query_group_num")],
    ),
    (
        "a block's group",
        {**NAS, "block_configs": [*NAS["block_configs"][:3], {"attention": {"n_heads_in_group": 5}}]},
        [
            NOT_DIVISIBLE.format(32, 5, "block_configs[3].attention.n_heads_in_group"),
        ],
    ),
    ("heads of RWKV", {**RWKV, "head_size": 60}, [NOT_DIVISIBLE.format(2048, 60, "head_size")]),
    ("heads of Mamba-2", {**BAMBA, "mamba_n_heads": 96}, [NOT_DIVISIBLE.format(8192, 96, "mamba_n_heads")]),
    ("heads of a decoder", {**BART, "d_model": 1000}, [NOT_DIVISIBLE.format(1000, 16, "d_model")]),
    # --- Windows ----------------------------------------------------------------------------------------------------
    (
        "a window without a length",
        {**LLAMA, "layer_types": ["sliding_attention", *FULL[1:]]},
        [
            NO_LENGTH.format("sliding_window"),
        ],
    ),
    (
        "a chunk without a length",
        {**LLAMA, "layer_types": ["chunked_attention", *FULL[1:]]},
        [
            NO_LENGTH.format("attention_chunk_size"),
        ],
    ),
    (
        "window -1",
        {**WINDOWED, "sliding_window": -1},
        [
            "must be between 1 and 1099511627776, not -1 @ $.sliding_window",
        ],
    ),
    (
        "window true",
        {**WINDOWED, "sliding_window": True},
        [
            "must be a whole number, not true or false @ $.sliding_window",
        ],
    ),
    # --- Single values ----------------------------------------------------------------------------------------------
    ("hidden size 0", {**LLAMA, "hidden_size": 0}, ["must be between 1 and 1048576, not 0 @ $.hidden_size"]),
    ("hidden size in words", {**LLAMA, "hidden_size": "8"}, ["must be a whole number, not a string @ $.hidden_size"]),
    ("NaN", {**LLAMA, "hidden_size": math.nan}, ["nan is not a finite number @ $.hidden_size"]),
    ("-Infinity", {**LLAMA, "num_hidden_layers": -math.inf}, ["-inf is not a finite number @ $.num_hidden_layers"]),
    (
        "a fraction",
        {**LLAMA, "num_attention_heads": 1.5},
        [
            "must be a whole number, not 1.5 @ $.num_attention_heads",
        ],
    ),
    (
        "a text part that is none",
        {"model_type": "gemma3", "text_config": 7},
        [
            "must be an object, not a number @ $.text_config",
        ],
    ),
    (
        "draft layers in words, and a list longer by them",
        {**LLAMA, "layer_types": [*FULL, "full_attention"], "num_nextn_predict_layers": "1"},
        ["must be a whole number, not a string @ $.num_nextn_predict_layers"],
    ),
    # --- Another model of the same name -----------------------------------------------------------------------------
    (
        "GLM-10B",
        GLM_10B,
        [
            "files of glm do not count their layers here: this is another model of the same name @ $.num_layers",
        ],
    ),
]


@pytest.mark.parametrize(("config", "lines"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused_in_these_words(config: dict[str, Any], lines: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        read_config(config)
    assert list(caught.value.lines("en")[1:]) == lines
    assert all(line.isprintable() for line in caught.value.lines("ja"))


ACCEPTED: list[tuple[str, dict[str, Any], str]] = [
    ("words of DeepSeek's indexer", {**LATENT, "layer_types": ["deepseek_sparse_attention"] * 4}, "llll"),
    (
        "a list longer by the draft layers",
        {**LATENT, "layer_types": [*FULL, "full_attention"], "num_nextn_predict_layers": 1},
        "llll",
    ),
    ("a window for every query head", {**MIMO, "swa_num_key_value_heads": 64}, "fwwf"),
    ("lists of heads", DECI, "ffff"),
    ("other layers' own query heads", STEP, "fwfw"),
    ("Jamba's list", {**JAMBA, "layer_types": ["linear_attention", *FULL[1:]]}, "sfff"),
    ("a pure state model's list", {**RWKV, "layer_types": ["linear_attention"] * 2}, "ss"),
    ("GLM-4", {**LLAMA, "model_type": "glm", "num_layers": 4}, "ffff"),
]


@pytest.mark.parametrize(("config", "letters"), [row[1:] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_accepted(config: dict[str, Any], letters: str) -> None:
    assert "".join(letter(layer) for layer in read_config(config).layers) == letters


def test_a_plain_family_with_a_wrong_list_gives_no_layout_in_any_of_its_names() -> None:
    for name in ("layer_types", "layers_block_type"):
        with pytest.raises(ConfigError, match="cannot be read"):
            read_config({**LLAMA, name: ["mamba", *FULL[1:]]})


FAMILIES = {
    read_config(config).model_type: config for config in (*map(config_of, MODELS), *(case.config for case in CASES))
}
OTHER_MEANING = {"head_dim", "kv_lora_rank", "sliding_window", "num_kv_heads"}
"""Where 0, or a number for a list, means something else: "not given", "no window", the heads of all layers."""


def problems_of(config: object) -> list[str]:
    """Where the problems of ``config`` are."""
    try:
        read_config(config)
    except ConfigError as error:
        return [problem.path for problem in error.problems]
    return []


@pytest.mark.parametrize("wrong", ["8", 0, -1, True, math.nan])
@pytest.mark.parametrize("family", FAMILIES)
def test_one_problem_for_one_wrong_number(family: str, wrong: object) -> None:
    """Each number that is read, made wrong alone: it is named, or it stands for a size of nothing, and nothing else."""
    given = FAMILIES[family]
    for path in paths_in(used_fields(given)):
        config = json.loads(json.dumps(given))
        holder: Any = parent_of(config, path)
        name, number = path[-1], holder[path[-1]]
        if isinstance(number, bool) or not isinstance(number, int) or (wrong == 0 and name in OTHER_MEANING):
            continue
        if wrong == -1 and name == "group_size":  # one group: the whole row
            continue
        if isinstance(name, int) and name > 0:  # entries of a list are read alike, and the last may be a draft's
            continue
        holder[name] = wrong
        found = problems_of(config)
        assert found == [json_path(path)] or (found == [] and wrong == 0), path


def test_one_wrong_word_in_many_places_is_one_line() -> None:
    with pytest.raises(ConfigError) as caught:
        read_config(
            {**LLAMA, "num_hidden_layers": 40, "layer_types": ["full_attention"] * 3 + ["spiral"] * 32 + ["x"] * 5}
        )
    assert len(caught.value.problems) == 37
    assert [line for line in caught.value.lines("en") if "@" in line] == [
        "spiral is not a value that kvviz knows here @ $.layer_types[3] and 31 more",
        "x is not a value that kvviz knows here @ $.layer_types[35] and 4 more",
    ]
    assert any(line.endswith("$.layer_types[3] ほか 31 か所") for line in caught.value.lines("ja"))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"a": 1,}', "remove the comma before the closing bracket in line 1"),
        ('{\n "a": [1, 2,\n ]\n}', "remove the comma before the closing bracket in line"),
        ('{"a": 1 "b": 2}', "check line 1, column 9"),
        ("{'a': 1}", "check line 1, column 2"),
        ("<!DOCTYPE html><html>", "This is a web page"),
        ("no", "check line 1, column 1"),
    ],
)
def test_what_is_no_json_is_told_in_both_languages(written: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(written)
    assert said in caught.value.message("en")
    assert not re.search(r"[a-z]{4,}(?<!json)(?<!config)", caught.value.message("ja").replace("raw", ""))
