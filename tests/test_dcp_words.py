"""Decode context parallelism takes the place of copies: no sentence speaks of copies that are not there."""

import pytest

from kvviz.advice import advice
from kvviz.explain import differences
from kvviz.resolve import resolve
from kvviz.scenario import Scenario
from kvviz.sizing import Sizing

R1, QWEN = "deepseek-ai/DeepSeek-R1", "Qwen/Qwen3-32B"


def sized(model: str, **changes: object) -> Sizing:
    return resolve(Scenario(model=model, gpu="h200", gpus=8, **changes)).size()  # type: ignore[arg-type]


@pytest.mark.parametrize(("tp", "dcp", "copies"), [(8, 1, 8), (8, 2, 4), (8, 4, 2), (8, 8, 1)])
def test_latents(tp: int, dcp: int, copies: int) -> None:
    sizing = sized(R1, tp=tp, dcp=dcp)
    notes = {note.code: note.message("en") for note in sizing.notes}
    given = {one.code: one.sentence("en") for one in advice(sizing)}
    reasons = " ".join(one("en") for one in differences(sizing))
    assert ("latent-copied" in notes) is (copies > 1)
    assert ("attention-dp-instead" in given) is (copies > 1)
    assert ("Nothing of this cache can be split" in reasons) is (dcp == 1)
    assert (f"one in {dcp} of them" in reasons) is (dcp > 1)
    assert (f"kept {copies} times" in reasons) is (copies > 1 and dcp > 1)
    if copies > 1:
        assert f"instead of {copies} copies" in given["attention-dp-instead"]
    if copies > 1 and dcp > 1:
        assert f"keep it {copies} times" in notes["latent-copied"]


@pytest.mark.parametrize(("gpus", "dcp", "copies"), [(8, 1, 1), (16, 1, 2), (16, 2, 1), (32, 2, 2), (32, 4, 1)])
def test_heads(gpus: int, dcp: int, copies: int) -> None:
    sizing = sized(QWEN, tp=gpus, dcp=dcp) if gpus == 8 else size_of(gpus, dcp)
    notes = {note.code: note.message("en") for note in sizing.notes}
    reasons = " ".join(one("en") for one in differences(sizing))
    assert ("kv-heads-copied" in notes) is (copies > 1)
    if copies > 1:
        assert f"kept {copies} times" in notes["kv-heads-copied"]
    assert ("what cannot be split is copied" in reasons) is (copies > 1)
    assert (f"one in {dcp} of them" in reasons) is (dcp > 1)


def size_of(gpus: int, dcp: int) -> Sizing:
    return resolve(Scenario(model=QWEN, gpu="h200", gpus=gpus, dcp=dcp)).size()
