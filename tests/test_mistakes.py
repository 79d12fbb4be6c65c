"""Numbers that tools and people really published, and the mistake behind each."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.catalogue import models
from kvviz.core.errors import KvvizError
from kvviz.core.units import GIB
from kvviz.mistakes import MISTAKES, Explained, explained, name, parse_claim, plainly, right, why
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing
from kvviz.text import LANGUAGES

LLAMA_70B, LLAMA_8B = "meta-llama/Llama-3.1-70B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"
QWEN3_32B, QWEN3_NEXT = "Qwen/Qwen3-32B", "Qwen/Qwen3-Next-80B-A3B-Instruct"
DEEPSEEK, DEEPSEEK_32 = "deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3.2"
GEMMA3, GEMMA4 = "google/gemma-3-27b-it", "google/gemma-4-26B-A4B"
NANO = "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"


def asked(model: str, tokens: int, **settings: object) -> Sizing:
    """One request of that length, without a GPU unless ``settings`` say otherwise."""
    scenario = Scenario(**{"model": model, "input": tokens, "output": 0, "sequences": 1, "gpu": "", **settings})  # type: ignore[arg-type]
    return resolve(scenario).size()


def codes(of: Explained) -> list[frozenset[str]]:
    """The mistakes of each finding, the simplest first."""
    return [frozenset(m.code for m in f.candidate.mistakes) for f in of.low]


# Model, tokens, what was published, the mistake that must be found. The right number is another one in every row.
PUBLISHED: tuple[tuple[str, int, str, set[str]], ...] = (
    # llm-d planner e50305a, hf-mem 0.5.5 and 0.5.6, kvfit 0.3.0, aiconfigurator 0.12, vramscout 0.7, ridgepoint 0.1.2,
    # the LMCache calculator, modelinfo 1.4.4 and hf-vram-calc 1.0.9, run on the same configs
    (DEEPSEEK, 32_768, "53.4 GiB", {"hidden-width"}),
    (DEEPSEEK, 32_768, "26.7 GiB", {"hidden-width", "8-bit"}),
    (DEEPSEEK, 32_768, "1.07 GiB", {"8-bit"}),
    (DEEPSEEK_32, 32_768, "61.0 GiB", {"mla-rope-heads"}),
    (DEEPSEEK_32, 32_768, "2.62 GiB", {"indexer-wide"}),
    (DEEPSEEK_32, 32_768, "2.14 GiB", {"no-indexer"}),
    ("moonshotai/Kimi-K2.6", 131_072, "213.5 GiB", {"hidden-width"}),
    ("moonshotai/Kimi-K2.6", 131_072, "122 GiB", {"mla-rope-heads"}),
    ("zai-org/GLM-5", 131_072, "234 GiB", {"hidden-width"}),
    ("zai-org/GLM-5", 131_072, "13.4 GiB", {"indexer-wide"}),
    ("zai-org/GLM-5", 131_072, "11.0 GiB", {"no-indexer"}),
    (GEMMA3, 131_072, "62.0 GiB", {"windows-ignored"}),
    (GEMMA3, 131_072, "81.4 GiB", {"windows-ignored", "hidden-over-heads"}),
    (GEMMA3, 131_072, "0.48 GiB", {"all-windowed"}),
    (GEMMA4, 131_072, "30.0 GiB", {"textbook"}),
    (GEMMA4, 131_072, "20.6 GiB", {"textbook", "hidden-over-heads"}),
    ("openai/gpt-oss-120b", 131_072, "9.0 GiB", {"windows-ignored"}),
    ("openai/gpt-oss-120b", 131_072, "2.39 GiB", {"windows-ignored", "mxfp4"}),
    ("openai/gpt-oss-120b", 131_072, "6.33 GiB", {"windows-ignored", "hidden-over-heads"}),
    (QWEN3_32B, 32_768, "5.0 GiB", {"hidden-over-heads"}),
    (QWEN3_NEXT, 262_144, "24 GiB", {"all-layers"}),
    (QWEN3_NEXT, 262_144, "12 GiB", {"all-layers", "hidden-over-heads"}),
    (QWEN3_NEXT, 262_144, "6.0 GiB", {"states-ignored"}),
    ("Qwen/Qwen3.5-27B", 262_144, "64 GiB", {"all-layers"}),
    ("Qwen/Qwen3.5-27B", 262_144, "53.3 GiB", {"all-layers", "hidden-over-heads"}),
    ("Qwen/Qwen3.5-27B", 262_144, "32 GiB", {"all-layers", "8-bit"}),
    ("meta-llama/Llama-4-Scout-17B-16E-Instruct", 131_072, "24 GiB", {"windows-ignored"}),
    ("ai21labs/AI21-Jamba-1.5-Mini", 262_144, "32 GiB", {"all-layers"}),
    (NANO, 262_144, "13 GiB", {"all-layers"}),
    (NANO, 262_144, "8.5 GiB", {"all-layers", "hidden-over-heads"}),
    ("XiaomiMiMo/MiMo-V2-Flash", 131_072, "18 GiB", {"textbook"}),
    ("XiaomiMiMo/MiMo-V2-Flash", 131_072, "6.0 GiB", {"textbook", "hidden-over-heads"}),
    ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", 131_072, "320 GiB", {"all-layers", "mha"}),
    # vllm-project/vllm#22291: hidden size for KV heads, and Int8 taken for eight bytes
    ("Qwen/Qwen2.5-7B-Instruct", 3072, "1.53 MB/token", {"mha", "bits"}),
    ("Qwen/Qwen2.5-7B-Instruct", 3072, "4.59 GB per user", {"mha", "bits"}),
    # vllm-project/vllm pull request 29736 (four times too high), jranaraki/vllm-fit#14 (eight times)
    (LLAMA_8B, 8192, "4 GiB", {"mha"}),
    (QWEN3_32B, 8192, "16 GiB", {"mha"}),
    # abetlen/llama-cpp-python#66: the cache in f32, twice what llama.cpp itself takes
    ("meta-llama/Llama-2-7b-hf", 512, "512 MiB", {"fp32"}),
    # inference-sim#1635: 24 of 93 layers hold KV
    ("moonshotai/Kimi-K3", 32_768, "107,136 B per token", {"all-layers"}),
    # introductions to the subject: hidden size / heads for head_dim; 160 KiB a token instead of 256
    (QWEN3_32B, 4096, "160 KiB/token", {"hidden-over-heads"}),
)


@pytest.mark.parametrize(("model", "tokens", "published", "mistakes"), PUBLISHED)
def test_published_numbers_are_traced_to_their_mistake(
    model: str, tokens: int, published: str, mistakes: set[str]
) -> None:
    sizing = asked(model, tokens)
    found = explained(sizing, parse_claim(published))
    assert mistakes in codes(found)
    finding = found.low[codes(found).index(frozenset(mistakes))]
    assert finding.candidate.wrong_bytes != finding.candidate.right_bytes


def test_20_to_40_gb_for_llama_3_70b_at_32k() -> None:
    """10.0 GiB in truth; as FP32 20 GiB, and as MHA 20 to 40 GiB at 8K to 16K."""
    sizing = asked(LLAMA_70B, 32_768)
    found = explained(sizing, parse_claim("20–40 GB"))
    assert right(sizing).request_bytes() == 10 * GIB
    assert codes(found)[0] == {"fp32"}
    assert found.high[0].candidate.wrong_bytes == 40 * GIB
    spans = {(tuple(m.code for m in s.mistakes), s.low_tokens, s.high_tokens) for s in found.spans}
    assert (("mha",), 8192, 16_384) in spans
    assert (("fp32",), 32_768, 65_536) in spans
    assert ((), 65_536, 131_072) in spans  # no mistake, but other lengths


@pytest.mark.parametrize(
    ("settings", "published", "mistakes"),
    [
        ({}, "10.7 GB", set()),
        ({}, "10 GB", set()),  # GiB written as GB
        ({"kv_dtype": "fp8"}, "10 GiB", {"16-bit"}),
        ({"kv_dtype": "nvfp4"}, "2.5 GiB", {"no-scales"}),
        ({"sequences": 16}, "160 GiB per request", {"summed"}),
        ({"sequences": 16}, "10 GiB in total", {"batch-of-one"}),
        ({}, "40 GiB", {"max-length"}),
        ({}, "5 GiB", {"no-factor-2"}),
        ({"input": 28_672, "output": 4096}, "8.75 GiB", {"no-output"}),
        ({"gpu": "h100-80gb", "gpus": 4}, "40 GiB per request", {"times-gpus"}),
        ({"gpu": "h200", "gpus": 2}, "141.4 GiB", {"weights-included"}),
        ({"gpu": "h200", "gpus": 2}, "157.7 GiB", {"rule-of-thumb"}),
    ],
)
def test_every_other_mistake_is_known_by_its_number(
    settings: dict[str, object], published: str, mistakes: set[str]
) -> None:
    found = explained(asked(LLAMA_70B, 32_768, **settings), parse_claim(published))
    assert mistakes in codes(found)


def test_a_latent_divided_by_the_gpus() -> None:
    """DeepSeek-V3 on eight GPUs: each keeps all of 2.14 GiB, not an eighth."""
    sizing = asked(DEEPSEEK, 32_768, gpu="h200", gpus=8)
    assert {"divided"} in codes(explained(sizing, parse_claim("0.268 GiB per request")))
    assert {"mla-twice"} in codes(explained(sizing, parse_claim("4.29 GiB per request")))
    assert {"mla-expanded"} in codes(explained(sizing, parse_claim("152.5 GiB per request")))


def test_what_an_engine_takes_at_start_is_not_the_need() -> None:
    """People read the pool, or what nvidia-smi shows, as what the model needs."""
    sizing = asked(LLAMA_8B, 8192, gpu="h100-80gb")
    assert sizing.budget is not None
    pool = f"{sizing.budget.pool_bytes / GIB:.2f} GiB"
    (found, *_) = explained(sizing, parse_claim(pool)).low
    assert found.candidate.mistakes == ()
    assert "pool" in found.candidate.what("en")


def test_a_right_number_is_said_to_be_right() -> None:
    found = explained(asked(GEMMA3, 131_072), parse_claim("10.41 GiB"))
    assert codes(found)[0] == set()
    assert found.low[0].candidate.what("en") == "one request"
    assert found.low[0].printed


@pytest.mark.parametrize("published", ["3.3 GiB", "777 GB", "3 MB per token"])
def test_none_is_found_where_there_is_none(published: str) -> None:
    found = explained(asked(LLAMA_8B, 8192), parse_claim(published))
    assert found.low == ()
    assert found.tried > 10


def test_the_simplest_way_comes_first() -> None:
    costs = [f.cost for f in explained(asked(GEMMA4, 131_072), parse_claim("20.6 GiB")).low]
    assert costs == sorted(costs)


@pytest.mark.parametrize(
    ("written", "low", "half", "unit"),
    [
        ("40 GB", 40 * 10**9, 5 * 10**8, "decimal"),
        ("39 GiB", 39 * GIB, GIB // 2, "binary"),
        ("20–40 GB", 20 * 10**9, 5 * 10**8, "decimal"),
        ("20 to 40 gb", 20 * 10**9, 5 * 10**8, "decimal"),
        ("20GB-40GB", 20 * 10**9, 5 * 10**8, "decimal"),
        ("800 MB – 2 GB", 8 * 10**8, 5 * 10**5, "decimal"),
        ("2.5 GB per user", 25 * 10**8, 5 * 10**7, "decimal"),
        ("1.2 MB/token", 12 * 10**5, 5 * 10**4, "decimal"),
        ("～40 ＧＢ", 40 * 10**9, 5 * 10**8, "decimal"),
        ("327,680 bytes", 327_680, Fraction(1, 2), "decimal"),
        ("327680", 327_680, Fraction(1, 2), "unknown"),
        ("40", 40 * 10**9, 5 * 10**8, "unknown"),
        ("1.5e3 MB", 15 * 10**8, 5 * 10**7, "decimal"),
        ("(40 GB)", 40 * 10**9, 5 * 10**8, "decimal"),
        ("KV(40 GB)", 40 * 10**9, 5 * 10**8, "decimal"),
        ("<40 GB", 40 * 10**9, 5 * 10**8, "decimal"),
        ("40G", 40 * 10**9, 5 * 10**8, "decimal"),
        ("Llama 3 70B at 32K takes 20–40 GB", 20 * 10**9, 5 * 10**8, "decimal"),
        ("1 リクエストあたり約 2.5 GB", 25 * 10**8, 5 * 10**7, "decimal"),
    ],
)
def test_numbers_are_read_as_people_write_them(written: str, low: int, half: Fraction | int, unit: str) -> None:
    claim = parse_claim(written)
    bytes_of_unit = claim.binary_bytes if claim.unit == "binary" else claim.decimal_bytes
    assert (claim.low.value * bytes_of_unit, claim.low.half * bytes_of_unit, claim.unit) == (low, half, unit)
    assert (claim.high is not None) == any(sign in written for sign in ("–", "to 40", "-"))


@pytest.mark.parametrize(
    ("written", "per"),
    [
        ("1.2 MB/token", "token"),
        ("160 KiB per token", "token"),
        ("トークンあたり 160 KiB", "token"),
        ("2.5 GB per user", "request"),
        ("2.5 GB/リクエスト", "request"),
        ("10 GB a request", "request"),
        ("53.7 GB in total", "load"),
        ("合計 53.7 GB", "load"),
        ("10 GB", None),
        ("10 GB at 4,096 tokens", None),
    ],
)
def test_what_a_number_is_for(written: str, per: str | None) -> None:
    assert parse_claim(written).per == per


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("-5 GB", "negative"),
        ("−5 GB", "negative"),
        ("about -20 GB", "negative"),
        ("1e400 GB", "no amount"),
        ("1e-400 GB", "no amount"),
        ("1e99 GB", "no amount"),
        ("1e" + "9" * 300, "no amount"),
        ("1" * 60 + " GB", "no amount"),
        ("9" * 26 + " TB", "no amount"),
        ("20–99999999999 TB", "no amount"),
        ("0.2 B", "no amount"),
        ("<script>alert(1)</script>", "No amount"),
        ("<b>40 GB</b>", "No amount"),
        ("alert(1)", "No amount"),
        ("x40", "No amount"),
        ("abc5gb", "No amount"),
    ],
)
def test_what_no_memory_can_be_is_refused(written: str, why: str) -> None:
    with pytest.raises(KvvizError, match=why):
        parse_claim(written)


def test_what_gives_the_right_number_is_no_mistake() -> None:
    for model, published in (
        (LLAMA_70B, "320 KB per token"),
        (GEMMA3, "80 KiB per token"),
        (QWEN3_32B, "256 KB/token"),
    ):
        found = explained(asked(model, 4096, sequences=50), parse_claim(published))
        assert codes(found)[0] == set()
        for finding in found.low:
            assert not finding.candidate.mistakes or finding.candidate.wrong_bytes != finding.candidate.right_bytes
        assert len(found.low) == 1


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Fraction(10_737), "10,737"),
        (Fraction(10_737_418_240, 10**9), "10.7"),
        (Fraction(1, 3), "0.333"),
        (Fraction(4), "4"),
        (Fraction(12_345, 10**9), "0.0000123"),
        (Fraction(10**12), "1,000,000,000,000"),
    ],
)
def test_numbers_are_written_plainly(value: Fraction, written: str) -> None:
    assert plainly(value) == written


@pytest.mark.parametrize("written", ["", "a lot", "GB", "0 GB"])
def test_what_is_no_number_is_told(written: str) -> None:
    with pytest.raises(KvvizError, match="No amount of memory"):
        parse_claim(written)


@given(st.text(max_size=60))
def test_anything_is_read_or_told(written: str) -> None:
    try:
        claim = parse_claim(written)
    except KvvizError:
        return
    assert claim.low.value > 0


@given(st.sampled_from(models()), st.sampled_from((100, 4096, 131_072)), st.data())
def test_every_mistake_is_traced_by_its_own_number(model: str, tokens: int, data: st.DataObject) -> None:
    """What somebody comes to by one mistake is explained, by it or by something as simple."""
    sizing = asked(model, tokens)
    occasions = {m.code: b for m in MISTAKES if not m.alone and (b := m.wrong_bytes(sizing))}
    code = data.draw(st.sampled_from(sorted(occasions)))
    if code == "batch-of-one":
        return
    found = explained(sizing, parse_claim(f"{float(occasions[code] / GIB):.12f} GiB per request"))
    assert found.low
    assert found.low[0].cost <= 3
    assert found.low[0].off <= Fraction(3, 100)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("model", [LLAMA_8B, DEEPSEEK_32, GEMMA3, QWEN3_NEXT, "tiiuae/falcon-mamba-7b"])
def test_every_sentence_can_be_said(model: str, lang: str) -> None:
    sizing = asked(model, 4096, gpu="h200", gpus=8)
    for mistake in MISTAKES:
        said = why(mistake, sizing)("ja" if lang == "ja" else "en") + name(mistake, sizing)("en")
        assert "{" not in said


def test_codes_are_distinct() -> None:
    assert len({m.code for m in MISTAKES}) == len(MISTAKES)
