"""The program that the Learn page shows: it runs, and what it quantises is the cache."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from kvviz.learn import QUANTISED_CACHE

MODEL = '"Qwen/Qwen3-0.6B"'


@pytest.fixture
def program(tmp_path: Path) -> str:
    """The program as it is shown, for a tiny random model with a tokenizer of its own."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["[UNK]", "A", "KV", "cache", "is", *(f"w{number}" for number in range(59))]
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=256,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=None,
        eos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(tmp_path)
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]").save_pretrained(tmp_path)  # noqa: S106
    assert MODEL in QUANTISED_CACHE
    return QUANTISED_CACHE.replace(MODEL, repr(str(tmp_path)))


def test_it_runs_up_to_the_package_it_names(program: str) -> None:
    if find_spec("optimum") is not None:
        pytest.skip("optimum-quanto is installed: the other test runs the whole program")
    with pytest.raises(ImportError, match="optimum-quanto"):
        exec(compile(program, "snippet", "exec"), {})  # noqa: S102 - our own


@pytest.mark.quanto
@pytest.mark.filterwarnings("default")  # of the package, while it is compiled
def test_it_generates_with_a_cache_of_4_bits(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    left: dict[str, object] = {}
    kept = program.replace("max_new_tokens=64,", "max_new_tokens=64, return_dict_in_generate=True,")
    exec(compile(program, "snippet", "exec"), left)  # noqa: S102 - our own
    assert capsys.readouterr().out.startswith("A KV cache is w")
    exec(compile(kept.partition("print(")[0], "snippet", "exec"), left)  # noqa: S102 - our own
    cache = left["output"].past_key_values  # type: ignore[attr-defined]
    assert type(cache).__name__ == "QuantizedCache"
    assert {layer.nbits for layer in cache.layers} == {4}
    weights = left["model"].state_dict()  # type: ignore[attr-defined]
    assert {str(tensor.dtype) for tensor in weights.values()} == {"torch.float32"}
