"""The measured terms of the budget: fitted on rows in the package, and honest about their error."""

import pytest

from kvviz.core.units import GIB
from kvviz.devices import device, devices
from kvviz.engines import vllm
from kvviz.engines import vllm_memory as memory


def test_the_fit_meets_every_measured_start() -> None:
    fit = memory.fit_activations(memory.starts())
    for row in memory.starts():
        made = memory.activations(
            vocab=row.vocab,
            hidden=row.hidden,
            batched_tokens=row.batched_tokens,
            sequences=row.sequences,
            measured=True,
        )
        assert abs(made.value_bytes - row.activation_bytes) <= fit.worst_error_bytes + 1
        assert made.basis == "assumed"  # a fit, and of another version
    assert fit.worst_error_bytes < 0.01 * GIB


@pytest.mark.parametrize("left_out", range(5))
def test_a_start_left_out_of_the_fit_is_still_predicted(left_out: int) -> None:
    rows = memory.starts()
    row = rows[left_out]
    fit = memory.fit_activations(rows[:left_out] + rows[left_out + 1 :])
    predicted = fit.at(sequences=row.sequences, vocab=row.vocab, batched_tokens=row.batched_tokens, hidden=row.hidden)
    assert predicted == pytest.approx(row.activation_bytes, abs=0.02 * GIB)


@pytest.mark.parametrize(
    ("vocab", "hidden", "batched", "sequences", "measured_gib"),
    [
        # Older starts of a quarter of the sequences: facebook/opt-125m on L4; a Qwen2.5 32B on a 24 GB card.
        (50_272, 768, 2_048, 256, 0.47),
        (152_064, 5_120, 2_048, 256, 1.42),
    ],
)
def test_it_holds_on_smaller_gpus(vocab: int, hidden: int, batched: int, sequences: int, measured_gib: float) -> None:
    made = memory.activations(vocab=vocab, hidden=hidden, batched_tokens=batched, sequences=sequences, measured=False)
    assert made.value_bytes / GIB == pytest.approx(measured_gib, abs=0.05)


def test_more_batched_tokens_take_more_and_never_sample_more_rows_than_tokens() -> None:
    def at(batched: int) -> int:
        return memory.activations(
            vocab=32_000, hidden=4_096, batched_tokens=batched, sequences=1_024, measured=True
        ).value_bytes

    assert at(8) < at(1_024) < at(8_192) < at(16_384)
    assert at(8) < at(1_024) / 100


def test_the_source_states_rows_and_error() -> None:
    source = memory.activations(
        vocab=151_936, hidden=5_120, batched_tokens=8_192, sequences=1_024, measured=True
    ).source
    assert "5 measured starts" in source("en")
    assert "worst error 4.92 MiB" in source("en")
    assert "used for 0.33" in source("en")
    assert "5 件" in source("ja")


def test_unknown_shapes_take_the_largest_measured() -> None:
    made = memory.activations(vocab=None, hidden=5_120, batched_tokens=8_192, sequences=1_024, measured=True)
    assert made.basis == "assumed"
    assert made.value_bytes == round(7.38 * GIB)


def test_graphs_are_the_largest_measured_and_never_negative() -> None:
    assert memory.graphs(measured=True).value_bytes == round(0.39 * GIB)


def test_memory_outside_torch() -> None:
    one, two, eight = (memory.non_torch(tp, measured=True) for tp in (1, 2, 8))
    assert one.value_bytes == round(0.1325 * GIB)
    assert two.value_bytes == round(0.55 * GIB)
    assert (one.basis, two.basis, eight.basis) == ("assumed",) * 3


def test_only_such_gpus_and_settings_are_called_measured() -> None:
    as_default = {
        d.id
        for d in devices()
        if memory.as_measured(
            d, batched_tokens=vllm.default_batched_tokens(d), sequences=vllm.default_batched_sequences(d)
        )
    }
    assert as_default == {"h100-80gb", "h100-pcie"}
    assert not memory.as_measured(device("h100-80gb"), batched_tokens=8_193, sequences=1_024)
    assert not memory.as_measured(device("h100-80gb"), batched_tokens=8_192, sequences=256)


def test_what_was_measured_elsewhere_says_so() -> None:
    shape = {"vocab": 151_936, "hidden": 5_120, "batched_tokens": 8_192, "sequences": 1_024}
    for made in (
        memory.activations(**shape, measured=False),
        memory.graphs(measured=False),
        memory.non_torch(1, measured=False),
        memory.non_torch(2, measured=False),
        memory.non_torch(8, measured=False),
    ):
        assert made.basis == "assumed"
        assert "Extrapolated" in made.source("en")
        assert "外挿" in made.source("ja")
    assert (
        memory.activations(**shape, measured=False).value_bytes
        == memory.activations(**shape, measured=True).value_bytes
    )
