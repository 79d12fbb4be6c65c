"""The bundled configs are found as people write their names; a config travels in a link and comes back the same."""

import base64
import contextlib
import json
import os
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvviz import catalogue
from kvviz.core.architecture import read_config, used_fields
from kvviz.core.errors import ConfigError, KvvizError, ScenarioError
from kvviz.links import SET_SCENARIOS, pack_config, pack_scenarios, unpack_config, unpack_scenarios
from kvviz.resolve import resolve
from kvviz.scenario import CONFIG_CHARACTERS, Scenario, from_query, to_query

QWEN = "Qwen/Qwen3-32B-FP8"
SMALL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "torch_dtype": "bfloat16",
    "vocab_size": 128_256,
    "max_position_embeddings": 131_072,
}


def test_every_file_in_the_folder_is_a_model_and_has_a_source() -> None:
    files = sorted((Path(catalogue.__file__).parent / "data" / "configs").glob("*.json"))
    assert len(catalogue.models()) == len(files) >= 168
    assert list(catalogue.models()) == sorted(catalogue.models(), key=str.lower)
    assert {file.name for file in files} <= set(catalogue._sources())
    assert all(model.count("/") == 1 for model in catalogue.models())
    for model in catalogue.models():
        assert Scenario(model=model).model == model


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("", None),
        ("Qwen/Qwen3-32B-FP8", "Qwen/Qwen3-32B-FP8"),
        ("qwen3 32b fp8", "Qwen/Qwen3-32B-FP8"),
        ("qwen3-32b", "Qwen/Qwen3-32B"),
        ("gemma3 27b", "google/gemma-3-27b-it"),
        ("llama3.1 70b", "meta-llama/Llama-3.1-70B-Instruct"),
        ("70b llama 3.1", "meta-llama/Llama-3.1-70B-Instruct"),
        ("deepseek v3.2", "deepseek-ai/DeepSeek-V3.2"),
    ],
)
def test_search_finds_what_is_meant_first(query: str, first: str | None) -> None:
    found = catalogue.search(query)
    assert found[0] == (first or catalogue.models()[0])
    assert len(found) == len(set(found))


def test_search_wants_every_word() -> None:
    assert catalogue.search("qwen nonsense") == ()
    assert catalogue.search("/// ***") == ()
    assert set(catalogue.search("gemma")) == {m for m in catalogue.models() if "gemma" in m.lower()}


@given(st.text(max_size=200))
def test_search_takes_anything(query: str) -> None:
    assert set(catalogue.search(query)) <= set(catalogue.models())


def test_a_bundled_model_is_read_once_and_in_any_case() -> None:
    loaded = catalogue.load(QWEN)
    assert loaded is catalogue.load(QWEN.lower()) is catalogue.load(f" {QWEN} ")
    assert (loaded.model, len(loaded.architecture.layers)) == (QWEN, 64)
    assert loaded.architecture == read_config(loaded.config)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("Qwen/Qwen3-32B-FP9", QWEN),
        ("qwen3-32b-fp8", QWEN),
        ("google/gemma-3-27b", "google/gemma-3-27b-it"),
        ("meta-llama/Lama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
    ],
)
def test_an_unknown_model_names_near_ones(wrong: str, near: str) -> None:
    with pytest.raises(KvvizError) as caught:
        catalogue.load(wrong)
    assert caught.value.code == "unknown-model"
    for lang in ("en", "ja"):
        (line,) = caught.value.lines(lang)  # type: ignore[arg-type]
        assert near in line
        assert "config.json" in line


@pytest.mark.parametrize(
    "wrong",
    ["", " ", "/", "../../etc/passwd", "x" * 10_000, "<script>", "a\nb", "\x00", "SOURCES", "zzqx/zzqx", "-x", "a/b"],
)
def test_any_other_name_is_unknown_in_one_line(wrong: str) -> None:
    with pytest.raises(KvvizError) as caught:
        catalogue.load(wrong)
    (line,) = caught.value.lines("en")
    assert "config.json" in line
    assert "did you mean" not in line
    assert not set("<>\n\x00") & set(line)
    assert len(line) < 400


def test_a_config_from_a_doubtful_source_says_so() -> None:
    doubtful = ("stepfun-ai/Step-3.7-Flash", "Qwen/Qwen1.5-1.8B-Chat", "baichuan-inc/Baichuan-7B", "THUDM/chatglm2-6b")
    for model in doubtful:
        assert [note.code for note in catalogue.load(model).notes] == ["source-doubtful"]
    assert catalogue.load(QWEN).notes == ()


def test_a_name_that_a_config_had_before_leads_to_the_one_it_has() -> None:
    assert catalogue.named("Qwen/Qwen2.5-Omni") == "Qwen/Qwen2.5-Omni-7B-AWQ"
    with pytest.raises(KvvizError) as caught:
        catalogue.load("Qwen/Qwen2.5-Omni")
    assert "Qwen/Qwen2.5-Omni-7B-AWQ" in caught.value.lines("en")[0]
    resolved = resolve(Scenario(model="Qwen/Qwen2-VL-2B-Instruct", revision="sha256:0123456789ab"))
    assert "revision-differs" in [note.code for note in resolved.notes]


# (model, its maximum length): some were bundled from copies that had shortened it.
@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("Qwen/Qwen-1_8B-Chat", 8_192),
        ("Qwen/Qwen-7B-Chat", 8_192),
        ("meta-llama/Llama-2-7b-hf", 4_096),
        ("meta-llama/Llama-2-70b-hf", 4_096),
        ("openbmb/MiniCPM-2B-sft-bf16", 4_096),
        ("openbmb/MiniCPM-V-2_6", 32_768),
    ],
)
def test_the_length_is_the_published_one(model: str, tokens: int) -> None:
    assert catalogue.load(model).architecture.max_context_tokens == tokens


def test_the_revision_pins_the_content_and_not_the_layout_of_the_file() -> None:
    loaded = catalogue.load(QWEN)
    assert loaded.revision.startswith("sha256:")
    assert len(loaded.revision) == len("sha256:") + 12
    backwards = dict(reversed(list(loaded.config.items())))
    assert catalogue.revision_of(backwards) == loaded.revision
    assert catalogue.revision_of({**loaded.config, "num_hidden_layers": 63}) != loaded.revision


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_file_or_the_folder_it_lies_in(tmp_path: Path) -> None:
    folder = tmp_path / "my model (v2)!"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(SMALL), encoding="utf-8-sig")
    loaded = catalogue.load_file(folder)
    assert loaded == catalogue.load_file(folder / "config.json")
    assert loaded.model == "my model (v2)"
    assert loaded.architecture == read_config(SMALL)
    (tmp_path / "other.json").write_text(json.dumps(SMALL))
    assert catalogue.load_file(str(tmp_path / "other.json")).model == "other"


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "small.json"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(json.dumps(SMALL),))
    writer.start()
    loaded = catalogue.load_file(pipe)
    writer.join()
    assert (loaded.model, loaded.architecture) == ("small", read_config(SMALL))


@pytest.mark.parametrize("model", [QWEN, "google/gemma-3-27b-it", "openai/whisper-tiny"])
def test_a_config_has_one_revision_wherever_it_lies(model: str, tmp_path: Path) -> None:
    bundled = catalogue.load(model)
    place = tmp_path / "config.json"
    place.write_text(json.dumps(dict(bundled.config), indent=7))
    assert catalogue.load_file(place).revision == bundled.revision == catalogue.revision_of(bundled.config)
    # A link carries the fields that were read: their pin, made by the same function.
    carried = resolve(Scenario(config=pack_config(bundled.config))).scenario.revision
    assert carried == catalogue.revision_of(used_fields(bundled.config))


@pytest.mark.parametrize(
    "name",
    ["", " ", "///", "a/b", "モデル 7B", "x" * 500, "-rf", "<b>hi</b>", "a\nb", "..", "(a)", "*", "_", "a [1]: b"],
)
def test_a_name_made_from_anything_is_one_a_scenario_takes(name: str) -> None:
    assert Scenario(model=catalogue.safe_name(name))


@given(st.text())
def test_safe_names(name: str) -> None:
    assert Scenario(model=catalogue.safe_name(name))


def bad_files(folder: Path) -> Iterator[tuple[Path | str, str]]:
    """Paths that hold no readable config, and a word of what is said."""
    yield folder / "none.json", "no file"
    yield folder, "no file"
    yield "\x00", "no file"
    yield folder / ("x" * 300) / "config.json", "too long"
    yield folder / f"{'x' * 300}.json", "too long"
    for name, raw, said in (
        ("empty.json", b"", ""),
        ("text.json", b"hello", ""),
        ("binary.json", b"\xff\xfe\x00\x01", "UTF-8"),
        ("list.json", b"[1]", ""),
        ("deep.json", b'{"a":' * 1000 + b"1" + b"}" * 1000, ""),
        ("ten.json", b'{"a": "' + b"x" * 10_000_000 + b'"}', "larger than 1,048,576 bytes"),
        ("nan.json", b'{"num_hidden_layers": NaN}', ""),
    ):
        (folder / name).write_bytes(raw)
        yield folder / name, said


def test_a_file_that_holds_no_config_is_refused(tmp_path: Path) -> None:
    for path, said in bad_files(tmp_path):
        with pytest.raises(KvvizError) as caught:
            catalogue.load_file(path)
        assert said in str(caught.value)
        assert all("\n" not in line for line in caught.value.lines("en"))


# --- configs in links ------------------------------------------------------------------------------------------------


def test_every_bundled_config_fits_into_a_link_and_reads_the_same() -> None:
    too_large = []
    for model in catalogue.models():
        loaded = catalogue.load(model)
        try:
            packed = pack_config(loaded.config)
        except ScenarioError:
            too_large.append(model)
            continue
        unpacked = unpack_config(packed)
        again = read_config(unpacked)
        assert again.layers == loaded.architecture.layers, model
        assert again == loaded.architecture, model
        assert pack_config(unpacked) == packed, model
    assert too_large == []


def test_only_used_fields_travel() -> None:
    secret = {**SMALL, "note": "internal project name", "_name_or_path": "/private/place"}
    unpacked = unpack_config(pack_config(secret))
    assert unpacked == used_fields(SMALL)
    assert "private" not in json.dumps(unpacked)
    assert "internal" not in json.dumps(unpacked)


def test_a_config_too_large_for_a_link_says_so() -> None:
    heads = [1 + i * i * 2654435761 // 128 % 64 for i in range(4000)]  # no pattern to compress
    lists = {"num_query_heads": heads, "num_key_value_heads_per_layer": heads}
    large = {**SMALL, **lists, "num_hidden_layers": len(heads), "head_dim": 128}
    assert len(read_config(large).layers) == len(heads)
    with pytest.raises(ScenarioError, match="too large for a link") as caught:
        pack_config(large)
    assert caught.value.field == "config"


def packed(raw: bytes) -> str:
    """Any bytes as a link would carry them."""
    return base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")


BOMB = packed(b'{"a":"' + b"x" * 2_900_000 + b'"}')
GOOD = packed(json.dumps(SMALL).encode())


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "A",
        "AAAA",
        "not base64!",
        "ｆｕｌｌ",
        BOMB,
        GOOD[:-6],
        GOOD + "AAAA",
        "x" * (CONFIG_CHARACTERS + 1),
        packed(b""),
        packed(b"[]"),
        packed(b"null"),
        packed(b"{"),
        packed(b"\xff\xff"),
        packed(b'{"a":' * 900 + b"1" + b"}" * 900),
        packed(b"9" * 5000),
    ],
)
def test_what_is_no_packed_config_is_refused(broken: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        unpack_config(broken)
    assert caught.value.field == "config"


def test_a_bomb_is_small_enough_to_be_one() -> None:
    assert len(BOMB) <= CONFIG_CHARACTERS


@given(st.text() | st.binary().map(packed))
def test_unpacking_raises_nothing_else(anything: str) -> None:
    with contextlib.suppress(ScenarioError):
        unpack_config(anything)


# --- resolving -------------------------------------------------------------------------------------------------------


def test_a_resolved_scenario_is_pinned_and_its_link_means_the_same() -> None:
    resolved = resolve(Scenario(model=QWEN.lower()))
    assert resolved.scenario.model == QWEN
    assert resolved.scenario.revision == catalogue.load(QWEN).revision
    assert resolved.architecture == catalogue.load(QWEN).architecture
    assert resolved.notes == ()
    opened, rejected = from_query(to_query(resolved.scenario))
    assert rejected == ()
    assert resolve(opened) == resolved


def test_a_link_made_from_another_file_says_so() -> None:
    resolved = resolve(Scenario(revision="sha256:000000000000"))
    assert [note.code for note in resolved.notes] == ["revision-differs"]
    assert "sha256:000000000000" in str(resolved.notes[0].message)
    assert resolved.scenario.revision == catalogue.load(QWEN).revision


@pytest.mark.parametrize("revision", ["0" * 40, "main", "refs/pr/1"])
def test_a_revision_of_the_hub_is_not_said_to_have_changed(revision: str) -> None:
    (note,) = resolve(Scenario(revision=revision)).notes
    assert note.code == "revision-differs"
    assert revision in str(note.message)
    assert "changed" not in str(note.message)


def test_a_file_of_another_revision_says_so(tmp_path: Path) -> None:
    place = tmp_path / "config.json"
    place.write_text(json.dumps(SMALL))
    given = catalogue.load_file(place)
    resolved = resolve(Scenario(revision="sha256:000000000000"), given=given)
    assert [note.code for note in resolved.notes] == ["revision-differs"]
    assert given.revision in str(resolved.notes[0].message)
    assert "link" not in str(resolved.notes[0].message)
    assert resolve(Scenario(revision=given.revision), given=given).notes == ()


def test_a_pasted_config_is_what_counts_whatever_its_name() -> None:
    scenario = Scenario(model=QWEN, config=pack_config(SMALL), revision="sha256:000000000000")
    resolved = resolve(scenario)
    assert resolved.architecture == read_config(used_fields(SMALL))
    assert resolved.scenario.config == scenario.config
    assert resolved.notes == ()
    assert resolved.weights is None  # a name says nothing about weights
    assert resolve(resolved.scenario) == resolved


def test_typed_weights_are_taken() -> None:
    estimate = resolve(Scenario(model=QWEN, config=pack_config(SMALL), weights_gib=15.0)).weights
    assert estimate is not None
    assert estimate.value_bytes == 15 * 1024**3
    bundled = resolve(Scenario(weights_gib=1.0)).weights
    assert bundled is not None
    assert bundled.value_bytes == 1024**3


@pytest.mark.parametrize("scenario", [Scenario(model="no/such"), Scenario(config="AAAA")])
def test_what_cannot_be_resolved_is_an_expected_error(scenario: Scenario) -> None:
    with pytest.raises(KvvizError):
        resolve(scenario)


def test_a_carried_config_without_what_is_needed_lists_the_problems() -> None:
    with pytest.raises(ConfigError):
        resolve(Scenario(config=packed(json.dumps({"model_type": "llama"}).encode())))


@pytest.mark.parametrize(
    ("query", "model"),
    [
        ("gpt-oss 120b", "openai/gpt-oss-120b"),  # a draft model has the words too
        ("OPENAI/GPT-OSS-120B", "openai/gpt-oss-120b"),
        ("whisper", "openai/whisper-tiny"),
        ("llama 70b", None),
        ("qwen9", None),
        ("", None),
    ],
)
def test_what_names_one_model(query: str, model: str | None) -> None:
    assert catalogue.named(query) == model


def test_scenarios_travel_together_and_nothing_else_does() -> None:
    both = (Scenario(), Scenario(model="google/gemma-3-27b-it", engine="llama.cpp", gpus=3, v_dtype="q8_0"))
    packed = pack_scenarios(both)
    assert unpack_scenarios(packed) == (both, ())
    assert len(packed) < 1_000
    assert len(unpack_scenarios(pack_scenarios([Scenario()] * 9))[0]) == SET_SCENARIOS
    for bad in ("", "x", packed[:-4], packed + "AAAA", "é" * 5, _zipped(b"{}"), _zipped(b"[1]"), _zipped(b"[" * 9_000)):
        scenarios, rejected = unpack_scenarios(bad)
        assert scenarios == ()
        assert [one.field for one in rejected] == ["set"]
    scenarios, rejected = unpack_scenarios(_zipped(b'[{"gpus": 0, "tokens": 1}]'))
    assert scenarios == (Scenario(),)
    assert [one.field for one in rejected] == ["gpus", "tokens"]


def _zipped(raw: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(raw)).decode().rstrip("=")
