"""Real models on real GPUs, one of each way an answer can turn out. The tests say what the weights are."""

from kvviz import catalogue
from kvviz.core.units import GIB
from kvviz.estimate import Estimate
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing, size
from kvviz.text import Message, Text


def sized(model: str, weights_gib: float | None, **settings: int | str | float) -> Sizing:
    """The answer for a bundled model whose weights are ``weights_gib``."""
    source = Message(Text(en="Given by the test.", ja="テストで与えた値です。"))
    weights = None
    if weights_gib is not None:
        weights = Estimate(value_bytes=int(weights_gib * GIB), basis="exact", source=source)
    return size(catalogue.load(model).architecture, Scenario(model=model, **settings), weights=weights)


SHORT = sized("Qwen/Qwen3-32B-FP8", 31.2)
SPARE = sized("meta-llama/Llama-3.1-8B-Instruct", 14.99)
WINDOWS = sized("google/gemma-3-27b-it", 51, sequences=4, input=28_000, output=4_768)
STATES = sized("Qwen/Qwen3-Next-80B-A3B-Instruct", 148.5, gpu="h200", gpus=2)
NEARLY_FULL = sized("openai/gpt-oss-120b", 61)
NO_FIT = sized("Qwen/Qwen3-32B", 61, gpu="rtx-4090")
SIDE_BY_SIDE = sized("Qwen/Qwen3-32B-FP8", 31.2, gpus=4, tp=1, sequences=150)
ONE = sized("Qwen/Qwen3-0.6B", 1.12, sequences=1)
BEYOND = sized("Qwen/Qwen3-32B-FP8", 31.2, input=60_000, output=5_536, sequences=2)
MILLION = sized("Qwen/Qwen3-32B-FP8", 31.2, sequences=1_000_000)
NO_ROOM = sized("Qwen/Qwen3-32B", 70)
TINY_SHARE = sized("Qwen/Qwen3-32B", 61, memory_fraction=0.05)
ONE_TOKEN = sized("Qwen/Qwen3-0.6B", 1.12, sequences=1, input=1, output=0)
CROSS = sized("openai/whisper-tiny", 0.07, input=200, output=200)
ONLY_STATES = sized("mistralai/Mamba-Codestral-7B-v0.1", 13.6)

KEPT_FREE = sized("meta-llama/Llama-3.1-8B-Instruct", 14.99, headroom=0.15)
KEPT_SHORT = sized("Qwen/Qwen3-32B-FP8", 31.2, headroom=0.1)
SHARED = sized("Qwen/Qwen3-32B-FP8", 31.2, shared_tokens=2_000, typical=0.6)
ALL_SETTINGS = sized(
    "google/gemma-3-27b-it",
    51,
    gpu="h200",
    gpus=2,
    tp=1,
    input=6_000,
    passages=20,
    users=300,
    headroom=0.2,
    typical=0.5,
    shared_tokens=5_000,
)

COMPRESSED = sized("nvidia/DeepSeek-V4-Pro-NVFP4", None)

WITH_BUDGET = {
    "short": SHORT,
    "spare": SPARE,
    "windows": WINDOWS,
    "states": STATES,
    "nearly-full": NEARLY_FULL,
    "no-fit": NO_FIT,
    "side-by-side": SIDE_BY_SIDE,
    "one": ONE,
    "beyond": BEYOND,
    "only-states": ONLY_STATES,
    "million": MILLION,
    "no-room": NO_ROOM,
    "tiny-share": TINY_SHARE,
    "one-token": ONE_TOKEN,
    "cross": CROSS,
    "kept-free": KEPT_FREE,
    "kept-short": KEPT_SHORT,
    "shared": SHARED,
    "all-settings": ALL_SETTINGS,
}
WITHOUT = {
    "no-weights": sized("Qwen/Qwen3-32B", None),
    "no-gpu": sized("deepseek-ai/DeepSeek-V3.2", None, gpu=""),
    "no-plan": sized("RWKV/rwkv-5-world-3b", None),
    "compressed": COMPRESSED,
}
EVERY = WITH_BUDGET | WITHOUT
