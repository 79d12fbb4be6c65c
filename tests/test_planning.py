"""What engines are called: a release in sentences, a commit only where versions matter."""

import re

from kvviz.planning import engine_name, name_of
from kvviz.scenario import ENGINE_VERSIONS, ENGINES, Scenario


def test_no_commit_stands_in_a_sentence() -> None:
    for engine in ENGINES:
        assert not re.search(r"[0-9a-f]{7}", engine_name(Scenario(engine=engine)))
    assert engine_name(Scenario(engine="llama.cpp")) == "llama.cpp"
    assert engine_name(Scenario(engine="tensorrt-llm")) == "TensorRT-LLM"
    assert engine_name(Scenario()) == "vLLM 0.33"


def test_an_older_version_is_always_named() -> None:
    assert engine_name(Scenario(engine="llama.cpp", engine_version="expanded-mla")) == "llama.cpp < b5300"
    assert engine_name(Scenario(engine_version="v0")) == "vLLM V0"
    for engine, versions in ENGINE_VERSIONS.items():
        names = {name_of(engine, version) for version in ("auto", *versions)}
        assert len(names) == 1 + len(versions)


def test_a_commit_is_short_where_versions_matter() -> None:
    assert name_of("llama.cpp") == "llama.cpp 0c1e570"
    assert name_of("tensorrt-llm") == "TensorRT-LLM 0004396"
