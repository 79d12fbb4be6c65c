"""Pipeline stages: what each engine does with the layers that are left over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.catalogue import load
from kvviz.core.errors import ScenarioError
from kvviz.core.parallel import Remainder, pipeline, stage_layers
from tests.engines import models as m


@pytest.mark.parametrize(
    ("layers", "stages", "middle", "last"),
    [
        (61, 4, (15, 15, 16, 15), (15, 15, 15, 16)),
        (36, 8, (4, 4, 4, 5, 5, 5, 5, 4), (4, 4, 4, 4, 5, 5, 5, 5)),
        (80, 4, (20,) * 4, (20,) * 4),
        (5, 2, (3, 2), (2, 3)),
        (7, 4, (2, 2, 2, 1), (1, 2, 2, 2)),
        (3, 3, (1, 1, 1), (1, 1, 1)),
        (9, 1, (9,), (9,)),
    ],
)
def test_layers_left_over(layers: int, stages: int, middle: tuple[int, ...], last: tuple[int, ...]) -> None:
    assert stage_layers(layers, stages, remainder="middle") == middle
    assert stage_layers(layers, stages, remainder="last") == last


@given(st.integers(1, 200), st.data(), st.sampled_from(["middle", "last"]))
def test_every_layer_is_on_one_stage(layers: int, data: st.DataObject, remainder: Remainder) -> None:
    counts = stage_layers(layers, data.draw(st.integers(1, layers)), remainder=remainder)
    assert sum(counts) == layers
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("stages", [0, 65, 1_024])
def test_more_stages_than_layers(stages: int) -> None:
    with pytest.raises(ScenarioError, match="use 1 to 64") as caught:
        pipeline(m.QWEN3_32B, stages, remainder="middle")
    assert caught.value.field == "pp"


def test_a_block_of_two_sublayers_is_not_cut() -> None:
    """14 blocks on 4 stages, two attention sublayers each."""
    longcat = load("meituan-longcat/LongCat-Flash-Lite-Sparse").architecture
    assert [len(part) for part in pipeline(longcat, 4, remainder="middle")] == [6, 8, 8, 6]
    with pytest.raises(ScenarioError, match="use 1 to 14"):
        pipeline(longcat, 15, remainder="middle")
