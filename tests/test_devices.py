"""GPUs: memory as drivers report it."""

import pytest

from kvviz.core.errors import ScenarioError
from kvviz.core.units import MIB
from kvviz.devices import device, devices

REPORTED_MIB = {
    "h100-80gb": 81_559,
    "h100-pcie": 81_559,
    "h100-nvl": 95_830,
    "h200": 143_771,
    "b200": 183_359,
    "gb200": 189_471,
    "b300": 275_040,
    "a100-80gb": 81_920,
    "a100-40gb": 40_960,
    "rtx-pro-6000": 97_887,
    "l40s": 46_068,
    "rtx-6000-ada": 49_140,
    "rtx-5090": 32_607,
    "rtx-4090": 24_564,
    "l4": 23_034,
    "a10g": 23_028,
    "t4": 15_360,
    "mi300x": 196_592,
}
"""nvidia-smi's and rocm-smi's own figures, in MiB."""


def test_memory_is_what_drivers_report() -> None:
    assert {d.id: d.memory_bytes for d in devices()} == {name: mib * MIB for name, mib in REPORTED_MIB.items()}
    assert device("mi300x").memory_bytes == 206_141_652_992


def test_every_number_has_a_source() -> None:
    for gpu in devices():
        assert gpu.memory_source
        assert gpu.bandwidth_source
        assert 300e9 <= gpu.bandwidth_bytes_per_s <= 8e12


def test_one_card_two_buses() -> None:
    sxm, pcie = device("h100-80gb"), device("h100-pcie")
    assert sxm.memory_bytes == pcie.memory_bytes
    assert (sxm.bandwidth_bytes_per_s, pcie.bandwidth_bytes_per_s) == (3_350 * 10**9, 2_000 * 10**9)


def test_the_default_comes_first() -> None:
    assert devices()[0].id == "h100-80gb"


@pytest.mark.parametrize("unknown", ["", "H100", "rtx-9090", "<script>"])
def test_an_unknown_gpu_lists_the_known_ones(unknown: str) -> None:
    with pytest.raises(ScenarioError, match=r"h100-80gb.*mi300x") as caught:
        device(unknown)
    assert caught.value.field == "gpu"
