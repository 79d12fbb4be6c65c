"""Transformers' caches: bytes measured on small random models, public reports, and what must hold for any."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.catalogue import load
from kvviz.core.architecture import Architecture, read_config
from kvviz.core.cache import ChunkedAttention, FullAttention, LatentAttention, RecurrentState, SlidingWindow
from kvviz.core.dtypes import KV_DTYPES
from kvviz.core.errors import KvvizError, ScenarioError
from kvviz.core.units import GIB
from kvviz.engines import transformers
from kvviz.estimate import Estimate
from kvviz.text import Message, Text
from tests.engines import models as m

BF16 = KV_DTYPES["bf16"]
MEASURED: dict[str, Any] = json.loads((Path(__file__).parent.parent / "data" / "transformers_caches.json").read_text())
CASES = [(name, way) for name, model in MEASURED["models"].items() for way in model["bytes"]]


def plan(architecture: Architecture | str, **settings: object) -> transformers.TransformersPlan:
    known = load(architecture).architecture if isinstance(architecture, str) else architecture
    return transformers.plan(known, **{"kv_dtype": BF16, **settings})


@pytest.mark.parametrize(("name", "way"), CASES)
def test_the_bytes_are_those_of_the_storages(name: str, way: str) -> None:
    model = MEASURED["models"][name]
    after_prompt, decoding = model["bytes"][way]
    made = plan(read_config(model["config"]), way=way)
    static = way == "static"  # as long as it will be, from the start
    assert made.after_prompt_bytes(MEASURED["tokens" if static else "prompt_tokens"]) == after_prompt
    assert made.held_bytes(MEASURED["tokens"]) == decoding


def test_all_measured_models_are_there() -> None:
    assert len(MEASURED["models"]) == 16
    assert len(CASES) == 35
    assert {way for _, way in CASES} == {"dynamic", "full-length", "static"}


_ONE = m.architecture((FullAttention(kv_heads=1, key_dim=8, value_dim=8),))
_WINDOW = m.architecture((SlidingWindow(kv_heads=1, key_dim=8, value_dim=8, window_tokens=100),))


@pytest.mark.parametrize(
    ("architecture", "held", "peak"),
    [  # live storages during one update in fp32, the 502nd token, without the token itself
        (_ONE, 32_128, 48_160),  # keys are joined, then values: one copy of either
        (_WINDOW, 6_400, 12_800),  # both are joined before the old ones go
    ],
)
def test_a_step_takes_a_second_copy_of_a_layer(architecture: Architecture, held: int, peak: int) -> None:
    made = plan(architecture, kv_dtype=KV_DTYPES["fp32"])
    assert made.held_bytes(502) == held
    assert held + made.append_bytes(502) == made.request_bytes(502) == peak


def test_only_the_largest_layer_is_copied() -> None:
    made = plan(m.QWEN3_32B)
    assert made.append_bytes(32_768) == 8 * 128 * 2 * 32_767
    assert made.request_bytes(32_768) == 64 * 4_096 * 32_768 + 2_048 * 32_767


def test_windows_hold_a_whole_prompt_until_the_next_step() -> None:
    gemma = load("google/gemma-3-27b-it").architecture
    made = plan(gemma)
    assert made.held_bytes(131_072) == 11_173_625_856
    assert made.after_prompt_bytes(131_072) == 62 * 8_192 * 131_072
    assert plan(gemma, prompt_tokens=131_072).request_bytes(131_072) == 62 * 8_192 * 131_072
    assert plan(gemma, way="full-length").held_bytes(131_072) == 62 * 8_192 * 131_072
    assert plan(gemma, way="static").after_prompt_bytes(131_072) == 11_173_625_856


@pytest.mark.parametrize(("bits", "row_bytes"), [(4, 144), (2, 80)])
def test_quantised_caches(bits: int, row_bytes: int) -> None:
    """256 values of bf16 make 128 bytes of 4 bits, four scales and four shifts, as quanto 0.2.7 stores them."""
    layer = (FullAttention(kv_heads=2, key_dim=128, value_dim=128),)
    made = plan(m.architecture(layer, layer), way="quantized", bits=bits)
    assert made.after_prompt_bytes(40) == 2 * 2 * 40 * row_bytes
    assert made.held_bytes(1_000) == 2 * 2 * ((1_000 - 127) * row_bytes + 127 * 512)
    assert made.append_bytes(1_000) == 1_999 * 1_024


def test_the_unquantised_rest_starts_anew() -> None:
    """256 values of bf16 are 512 bytes, and 144 in 4 bits; the prompt is quantised at once, then every 128 tokens."""
    made = plan(m.architecture((FullAttention(kv_heads=2, key_dim=128, value_dim=128),)), way="quantized")
    for tokens, rest in ((40, 0), (41, 1), (167, 127), (168, 0), (169, 1)):
        held = 2 * ((tokens - rest) * 144 + rest * 512)
        assert made.batch_bytes(3, tokens, prompt_tokens=40) == 3 * held
        assert made.held_bytes(tokens) >= held


@pytest.mark.parametrize(("dtype", "copy"), [("bf16", 385_408), ("fp32", 449_664)])
def test_fp8_caches(dtype: str, copy: int) -> None:
    """A byte a value, two fp32 scales a layer for the whole batch; the copy as live storages showed it."""
    one = plan(
        m.architecture((FullAttention(kv_heads=2, key_dim=32, value_dim=32),)), kv_dtype=KV_DTYPES[dtype], way="fp8"
    )
    assert one.held_bytes(502) == one.after_prompt_bytes(502) == 502 * 2 * 64 + 8
    assert one.append_bytes(502) == copy
    assert one.request_bytes(502) == one.held_bytes(502) + copy
    two = plan(m.architecture(*[(FullAttention(kv_heads=2, key_dim=32, value_dim=32),)] * 2), way="fp8")
    for prompt in (1, 300, 502):
        assert two.batch_bytes(5, 502, prompt_tokens=prompt) == 2 * (5 * 502 * 2 * 64 + 8)


def test_a_paged_pool_is_whole_sectors_and_two_to_spare() -> None:
    alike = m.architecture((FullAttention(kv_heads=2, key_dim=8, value_dim=8),))
    odd = m.architecture((FullAttention(kv_heads=1, key_dim=3, value_dim=3),))  # 192 bytes a block: sectors of 384
    assert transformers.paged_blocks(33, 2, block_tokens=16) == 6
    for architecture, blocks, size in ((alike, 6, 8 * 1_024), (odd, 6, 5 * 384), (odd, 7, 6 * 384)):
        made = transformers.paged_pool_bytes(architecture, kv_dtype=BF16, blocks=blocks, block_tokens=16)
        assert made == size
    for architecture in (m.GEMMA3_27B, m.QWEN3_NEXT, m.DEEPSEEK_R1):
        with pytest.raises(ScenarioError, match="full attention"):
            transformers.paged_pool_bytes(architecture, kv_dtype=BF16, blocks=1, block_tokens=16)


@pytest.mark.parametrize("way", ["quantized", "fp8"])
def test_quantised_caches_are_for_full_attention_alone(way: str) -> None:
    for architecture in (m.GEMMA3_27B, m.DEEPSEEK_V32, m.QWEN3_NEXT):
        with pytest.raises(ScenarioError, match="full attention"):
            plan(architecture, way=way)
    with pytest.raises(ScenarioError, match="80"):
        plan(m.architecture((FullAttention(kv_heads=1, key_dim=80, value_dim=80),)), way="quantized")
    with pytest.raises(ScenarioError, match="4, 2"):
        plan(m.QWEN3_32B, way="quantized", bits=8)


def test_version_4_expanded_latents() -> None:
    latent, expanded = plan("deepseek-ai/DeepSeek-R1"), plan("deepseek-ai/DeepSeek-R1", latent="expanded")
    assert latent.held_bytes(1) == 61 * 576 * 2
    assert expanded.held_bytes(1) == 61 * 128 * (192 + 128) * 2
    with pytest.raises(ScenarioError, match="how large"):
        plan(m.DEEPSEEK_R1, latent="expanded")


@pytest.mark.parametrize(
    ("model", "state"),
    [
        # k columns of the convolution in bf16, the recurrent part in fp32
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 36 * (8_192 * 4 * 2 + 32 * 128 * 128 * 4)),
        ("LiquidAI/LFM2-2.6B", 22 * 2_048 * 3 * 2),
        ("MiniMaxAI/MiniMax-M1", 146_800_640),  # lightning attention: the model's type
    ],
)
def test_states(model: str, state: int) -> None:
    made = plan(model)
    assert made.held_bytes(2) - 2 * (made.held_bytes(3) - made.held_bytes(2)) == state


def test_an_encoder_s_keys_and_values_are_kept_once() -> None:
    made = plan("openai/whisper-tiny")
    assert made.held_bytes(10) == 6_144 * 10 + 9_216_000


def test_public_reports() -> None:
    """huggingface/transformers issue 46424: StaticCache of 47 tokens; nanoVLM 69: growth of 46.3 kB a token in fp32."""
    static = plan("meta-llama/Llama-3.2-1B-Instruct", way="static")
    assert static.held_bytes(47) == 16 * 2 * (8 * 47 * 64) * 2
    grows = plan("HuggingFaceTB/SmolLM2-135M-Instruct", kv_dtype=KV_DTYPES["fp32"])
    step = grows.held_bytes(101) - grows.held_bytes(100)
    assert step == 46_080
    assert abs(step - (883.26 - 882.73) * 2**20 / 12) < 0.02 * step


def test_layers_are_shared_out_in_order() -> None:
    made = plan(m.DEEPSEEK_R1, pp=4)
    assert [len(stage) for stage in made.stages] == [16, 16, 16, 13]
    assert made.gpus == 4
    assert made.held_bytes(1_000) == 16 * 1_152 * 1_000
    with pytest.raises(ScenarioError, match="1 to 61"):
        plan(m.DEEPSEEK_R1, pp=62)


def test_tensor_parallel_splits_heads_that_divide() -> None:
    assert plan(m.QWEN3_32B, tp=8).held_bytes(1) * 8 == plan(m.QWEN3_32B).held_bytes(1)
    assert plan(m.DEEPSEEK_R1, tp=8).held_bytes(1) == plan(m.DEEPSEEK_R1).held_bytes(1)
    assert plan(m.QWEN3_32B, tp=2, pp=2).per_gpu_request_bytes(1) == (32 * 2_048,) * 4
    with pytest.raises(ScenarioError, match="1, 2, 4, 8"):
        plan(m.QWEN3_32B, tp=16)
    with pytest.raises(ScenarioError, match="tensor parallel 1"):
        plan(m.QWEN3_NEXT, tp=2)


def test_what_is_not_worked_out_says_so() -> None:
    for model in ("deepseek-ai/DeepSeek-V4-Flash", "RWKV/rwkv-5-world-3b"):
        note = transformers.not_run(load(model).architecture)
        assert note is not None
        with pytest.raises(KvvizError, match=r"Transformers 5\.24"):
            plan(model)
    assert transformers.not_run(m.architecture(())) is not None
    with pytest.raises(ScenarioError, match="bf16, fp16, fp32"):
        plan(m.QWEN3_32B, kv_dtype=KV_DTYPES["fp8"])


def test_nothing_is_set_aside_beforehand() -> None:
    weights = Estimate(value_bytes=16 * GIB, basis="measured", source=Message(Text("log", "ログ")))
    bare = transformers.pool(device_bytes=80 * GIB, weights=weights)
    assert bare.other is None
    assert bare.available_bytes == 64 * GIB
    measured = transformers.pool(device_bytes=80 * GIB, weights=weights, other_bytes=GIB)
    assert measured.available_bytes == 63 * GIB


@pytest.mark.parametrize("way", ["dynamic", "full-length", "static", "quantized", "fp8"])
@pytest.mark.parametrize("tp", [1, 2])
def test_the_program_is_python(way: str, tp: int) -> None:
    program = transformers.launch(plan(m.QWEN3_32B, way=way, tp=tp), model="owner/it's", max_new_tokens=512)
    compile(program, "program", "exec")
    assert "max_new_tokens=512" in program
    assert program.startswith("# torchrun --nproc-per-node 2") == (tp == 2)
    assert ("DynamicCache()" in program) == (way == "full-length")
    assert (f'cache_implementation="{way}"' in program) == (way in ("static", "quantized"))


_HEADS = {"kv_heads": 8, "key_dim": 64, "value_dim": 128}
PLANS = st.builds(
    lambda layers, pp, way, prompt: plan(
        m.architecture(*layers), pp=min(pp, len(layers)), way=way, prompt_tokens=prompt
    ),
    st.lists(
        st.sampled_from(
            [
                (FullAttention(**_HEADS),),
                (SlidingWindow(**_HEADS, window_tokens=512),),
                (ChunkedAttention(**_HEADS, chunk_tokens=100),),
                (LatentAttention(latent_dim=512, rope_dim=64),),
                (RecurrentState(mixer="mamba1", conv_channels=64, conv_columns=3, heads=64, values_per_head=1_000),),
                (),
            ]
        ),
        min_size=1,
        max_size=9,
    ).filter(any),
    st.integers(1, 4),
    st.sampled_from(["dynamic", "full-length", "static"]),
    st.integers(0, 5_000),
)


@given(PLANS, st.integers(1, 40), st.integers(1, 100_000))
def test_need_is_the_inverse_of_fit(made: transformers.TransformersPlan, requests: int, tokens: int) -> None:
    need = made.need_bytes(requests, tokens)
    assert made.fit(need, tokens) == requests
    assert made.fit(need - 1, tokens) == requests - 1
    assert made.need_bytes(requests, tokens + 1) >= need
    assert made.held_bytes(tokens) <= made.request_bytes(tokens)
    assert max(made.per_gpu_request_bytes(tokens)) == made.request_bytes(tokens)


@given(PLANS, st.integers(0, 10**9))
def test_the_longest_request_fits_and_no_longer_one(made: transformers.TransformersPlan, pool_bytes: int) -> None:
    longest = made.longest_in(pool_bytes)
    if longest is None:
        assert made.fit(pool_bytes, 10**12)
    else:
        assert not made.fit(pool_bytes, longest + 1)
        assert not longest or made.fit(pool_bytes, longest)
