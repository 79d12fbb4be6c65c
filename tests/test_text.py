"""Where a line may end, and words that go with their number."""

import pytest

from kvviz.text import levers, together


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("takes 10 GiB (10.7 GB) in 21.1 ms", "takes 10~GiB (10.7~GB) in 21.1~ms"),
        ("200 × 15 s ÷ (15 s + 45 s) = 50", "200 × 15~s ÷ (15~s + 45~s) = 50"),
        ("on 1 × H100, 5 → 34", "on 1~×~H100, 5 → 34"),
        ("2 × 64 × 8 × 128", "2 × 64 × 8 × 128"),
        ("KV ヘッド 8 個、50 件で 50 GiB、何 MiB", "KV ヘッド 8~個、50~件で 50~GiB、何~MiB"),
        ("50 requests of 4,096 tokens, 2 Bits, 3 spaces", "50 requests of 4,096 tokens, 2 Bits, 3 spaces"),
    ],
)
def test_a_line_ends_before_a_number_and_its_unit_or_after(sentence: str, kept: str) -> None:
    assert together(sentence) == kept.replace("~", "\u00a0")


def test_one_gpu_is_not_gpus() -> None:
    assert levers.GPUS_COST("en", more="1").startswith("1 more GPU to pay for")
    assert levers.GPUS_ENGINES_COST("en", more="3").startswith("3 more GPUs to pay for")
