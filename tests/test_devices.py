"""GPUs: memory as drivers report it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz.core.errors import ScenarioError
from kvviz.core.units import GIB, MIB
from kvviz.devices import (
    common,
    device,
    devices,
    every_device,
    hidden_bytes,
    meant,
    memory_note,
    named,
    own,
    search,
    usable_bytes,
)
from kvviz.scenario import Scenario

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
    for gpu in every_device():
        assert gpu.memory_source
        assert gpu.bandwidth_source
        assert 68e9 <= gpu.bandwidth_bytes_per_s <= 8e12
        assert 4 * GIB < gpu.memory_bytes <= 512 * GIB


def test_one_card_two_buses() -> None:
    sxm, pcie = device("h100-80gb"), device("h100-pcie")
    assert sxm.memory_bytes == pcie.memory_bytes
    assert (sxm.bandwidth_bytes_per_s, pcie.bandwidth_bytes_per_s) == (3_350 * 10**9, 2_000 * 10**9)


def test_the_default_comes_first() -> None:
    assert devices()[0].id == "h100-80gb"


@pytest.mark.parametrize("unknown", ["", "H100", "rtx-9090", "<script>"])
def test_an_unknown_gpu_has_one_short_sentence(unknown: str) -> None:
    with pytest.raises(ScenarioError, match=r"h100-80gb.*own-48gib") as caught:
        device(unknown)
    assert caught.value.field == "gpu"
    assert len(str(caught.value)) < 120


def test_only_what_a_driver_reported_is_said_to_be() -> None:
    said = {memory_note(gpu)("en"): gpu.memory_basis for gpu in (*every_device(), device("own-48gib"))}
    assert len(said) == 4
    assert [how for how, basis in said.items() if basis == "measured"] == ["as the driver reports it"]


MORE_REPORTED_MIB = {
    "gh200-96gb": 97_871,
    "h20": 97_871,
    "a100-pcie-80gb": 81_920,
    "a40": 46_068,
    "a10": 23_028,
    "rtx-5880-ada": 46_068,
    "rtx-a6000": 49_140,
    "rtx-a5000": 24_564,
    "rtx-a4000": 16_376,
    "rtx-8000": 49_140,
    "rtx-4080": 16_376,
    "rtx-4070-ti-super": 16_376,
    "a100-40gb-mig-3g.20gb": 19_968,
}
"""nvidia-smi's own figures of those that are found by searching, in MiB."""


class TestEvery:
    def test_what_was_not_reported_is_nominal(self) -> None:
        measured = {d.id: d.memory_bytes for d in every_device() if d.memory_basis == "measured"}
        assert measured == {name: mib * MIB for name, mib in (REPORTED_MIB | MORE_REPORTED_MIB).items()}

    def test_there_are_many_and_each_once(self) -> None:
        everything = every_device()
        assert len(everything) == len({d.id for d in everything}) == len({d.name for d in everything})
        assert {d.kind for d in everything} == {"data-centre", "workstation", "consumer", "mig", "apple"}
        assert {d.maker for d in everything} == {"nvidia", "amd", "apple"}
        assert sum(d.kind not in ("mig", "apple") for d in everything) >= 30

    def test_ids_can_stand_in_an_address(self) -> None:
        for gpu in every_device():
            assert set(gpu.id) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
            assert device(gpu.id) is gpu

    def test_eight_are_common_and_come_first(self) -> None:
        assert len(common()) == 8
        assert every_device()[:8] == common()
        assert set(common()) <= set(devices())

    def test_a_nominal_figure_is_near_what_its_sister_reports(self) -> None:
        for one, other in (("gb300", "b300"), ("h800", "h100-80gb"), ("a800", "a100-80gb"), ("l40", "l40s")):
            assert device(one).memory_bytes == pytest.approx(device(other).memory_bytes, rel=0.07)

    def test_a_slice_is_part_of_its_gpu(self) -> None:
        slices = [d for d in every_device() if d.kind == "mig"]
        assert len(slices) >= 12
        for part in slices:
            whole = device(part.id.split("-mig-")[0])
            assert part.memory_bytes <= whole.memory_bytes / 2
            assert part.bandwidth_bytes_per_s <= whole.bandwidth_bytes_per_s / 2
            assert part.generation == whole.generation
            named = float(part.id.rsplit(".", 1)[1].removesuffix("gb"))
            assert named == pytest.approx(part.memory_bytes / GIB, rel=0.05)


class TestHidden:
    def test_of_an_h100_as_its_log_says(self) -> None:
        hidden = hidden_bytes(device("h100-80gb"))
        assert hidden.basis == "measured"
        assert usable_bytes(device("h100-80gb")).value_bytes == round(79.18 * GIB)
        assert "79.18" in hidden.source("en")

    @pytest.mark.parametrize(
        ("gpu", "seen_gib"),
        # Device totals in public start-up logs
        [
            ("mi300x", 191.45),
            ("a100-40gb", 39.39),
            ("rtx-3090", 23.58),
            ("l40s", 44.55),
            ("t4", 14.56),
            ("rx-7900-xtx", 23.98),
        ],
    )
    def test_of_others_as_theirs_do_to_a_fifth_of_a_gib(self, gpu: str, seen_gib: float) -> None:
        assert usable_bytes(device(gpu)).value_bytes / GIB == pytest.approx(seen_gib, abs=0.2)

    @pytest.mark.parametrize(
        ("gpu", "gib"),
        # What Metal names as the recommended working set on such machines
        [
            ("m1-8gb", 5.33),
            ("m1-16gb", 10.67),
            ("m3-pro-18gb", 12),
            ("m1-pro-32gb", 21.33),
            ("m3-pro-36gb", 27),
            ("m4-max-128gb", 96),
        ],
    )
    def test_metal_leaves_two_thirds_or_three_quarters(self, gpu: str, gib: float) -> None:
        usable = usable_bytes(device(gpu))
        assert usable.basis == "assumed"
        assert usable.value_bytes / GIB == pytest.approx(gib, abs=0.01)

    def test_each_leaves_most_and_says_why(self) -> None:
        for gpu in every_device():
            hidden = hidden_bytes(gpu)
            assert 0 <= hidden.value_bytes <= gpu.memory_bytes * 0.34
            assert hidden.value_bytes + usable_bytes(gpu).value_bytes == gpu.memory_bytes
            assert hidden.source("en") != hidden.source("ja")
            assert (hidden.basis == "measured") == (gpu.id in ("h100-80gb", "mi300x"))


class TestSearch:
    @pytest.mark.parametrize(
        ("query", "first"),
        [
            ("h100", "h100-80gb"),
            ("RTX 4090", "rtx-4090"),
            ("rtx4090", "rtx-4090"),
            ("4090", "rtx-4090"),
            ("a100 80", "a100-80gb"),
            ("A100-40GB", "a100-40gb"),
            ("mi300", "mi300x"),
            ("m3 ultra 512", "m3-ultra-512gb"),
            ("4080 super", "rtx-4080-super"),
            ("3g.20gb a100", "a100-40gb-mig-3g.20gb"),
            ("radeon", "w7900"),
            ("A10", "a10"),
        ],
    )
    def test_finds(self, query: str, first: str) -> None:
        assert search(query)[0].id == first

    def test_nothing_asked_is_all(self) -> None:
        assert search(" ")[:8] == common()
        assert set(search("")) == set(every_device())

    def test_nothing_found(self) -> None:
        assert search("rtx 9090") == ()

    @given(st.text())
    def test_no_query_fails(self, query: str) -> None:
        assert set(search(query)) <= set(every_device())

    def test_every_name_and_id_finds_its_own(self) -> None:
        for gpu in every_device():
            assert search(gpu.id)[0] is gpu
            assert gpu in search(gpu.name)


@pytest.mark.parametrize(
    ("written", "gpu"),
    [
        ("48", "own-48gib"),
        ("48 GB", "own-48gib"),
        ("47.5GiB", "own-47.5gib"),
        (" 16 gb ", "own-16gib"),
        ("0", None),
        ("", None),
        ("h100", None),
        ("99999", None),
        ("-4", None),
    ],
)
def test_a_size_is_a_gpu_of_ones_own(written: str, gpu: str | None) -> None:
    assert own(written) == gpu
    if gpu is not None:
        found = device(gpu)
        assert found.memory_bytes == int(float(gpu.removeprefix("own-").removesuffix("gib")) * GIB)
        assert found.memory_basis == "nominal"
        assert Scenario(gpu=gpu).gpu == gpu


def test_what_nobody_knows_is_no_gpu_of_ones_own() -> None:
    for name in ("own-0gib", "own-gib", "own-1e9gib", "own-48", "own-48gib2"):
        with pytest.raises(ScenarioError):
            device(name)


@pytest.mark.parametrize(
    ("written", "gpu"),
    [
        ("H200", "h200"),
        ("nvidia h200", "h200"),
        ("h100-80gb", "h100-80gb"),
        ("48 GB", "own-48gib"),
        ("48", "own-48gib"),
        ("3090", "rtx-3090"),
        ("4090", "rtx-4090"),
        ("5090", "rtx-5090"),
        (" 4080 ", "rtx-4080"),
        ("3090 GB", "own-3090gib"),
        ("100 GiB", "own-100gib"),
        ("96 Go", "own-96gib"),
        ("9070", "rx-9070-xt"),
    ],
)
def test_what_somebody_means(written: str, gpu: str) -> None:
    assert named(written) == gpu


@pytest.mark.parametrize(
    ("written", "some"), [("100", {"h100-80gb", "a100-80gb", "v100-32gb"}), ("7900", {"rx-7900-xt"})]
)
def test_a_number_of_several_names_is_none_of_them(written: str, some: set[str]) -> None:
    assert named(written) is None
    assert own(written) is None
    assert some < {gpu.id for gpu in meant(written)}


def test_a_large_number_in_no_name_is_no_memory() -> None:
    assert named("1024") == "own-1024gib"
    for number in ("1025", "9999", "3091"):
        assert named(number) is None
        assert meant(number) == ()
    for number in map(str, range(1, 10_000)):
        if any(number in gpu.name.split() for gpu in every_device()):
            assert own(number) is None


def test_nobody_knows_what_is_meant() -> None:
    assert named("") is None
    assert named("h") is None
