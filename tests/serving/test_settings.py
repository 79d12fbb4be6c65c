"""KVVIZ_ENGINES: what is understood, and one line for what is not, which repeats nothing of it."""

import pytest

from kvviz.serving import Address, read_addresses
from kvviz.serving.settings import MAX_ENGINES
from kvviz.text import LANGUAGES


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("", {}),
        (" , ", {}),
        ("a=http://127.0.0.1:8000", {"a": "http://127.0.0.1:8000"}),
        ("a=http://h:8000/, b = https://h.example/one", {"a": "http://h:8000", "b": "https://h.example/one"}),
        ("GPU 1=http://h:8000/metrics", {"GPU 1": "http://h:8000"}),
        ("a=http://h:8000/v1", {"a": "http://h:8000"}),
        ("a=http://[::1]:8000,エンジン=http://h", {"a": "http://[::1]:8000", "エンジン": "http://h"}),
    ],
)
def test_names_and_urls(written: str, meant: dict[str, str]) -> None:
    meant_by_name = tuple(Address(name=n, url=u) for n, u in meant.items())
    assert read_addresses({"KVVIZ_ENGINES": written}) == (meant_by_name, ())


@pytest.mark.parametrize(
    "written",
    [
        "http://h:8000",
        "=http://h:8000",
        "a=",
        "a=h:8000",
        "a=ftp://h",
        "a=file:///etc/passwd",
        "a=http://",
        "a=http://h:port",
        "a=http://h:99999",
        "a=http://user:secret@h",
        "a=http://h/?key=secret",
        "a=http://h/#secret",
        "a=http://h /x",
        "a=http://h,a=http://other",
        "x" * 41 + "=http://h",
        ",".join(f"e{n}=http://h:{n}" for n in range(1, 18)),
    ],
)
def test_anything_else_is_one_line(written: str) -> None:
    _, (problem,) = read_addresses({"KVVIZ_ENGINES": written})
    assert problem.field == "KVVIZ_ENGINES"
    for lang in LANGUAGES:
        (line,) = problem.lines(lang)
        assert line.startswith(("KVVIZ_ENGINES: ", "KVVIZ_ENGINES："))
        assert "\n" not in line
        assert "secret" not in line  # visitors read it


def test_a_bad_entry_costs_no_good_one_and_all_bad_ones_are_named_at_once() -> None:
    written = "a=http://a,b=ftp://b,c=http://c,a=http://d,e=http://user:secret@e,c=http://f"
    found, problems = read_addresses({"KVVIZ_ENGINES": written})
    assert [address.name for address in found] == ["a", "c"]
    unclear, twice = (str(problem) for problem in problems)
    assert "entries, 2, 5 cannot be used" in unclear
    assert "entries, 4, 6 cannot have the name" in twice
    many = ",".join(f"e{n}=http://h:{n}" for n in range(1, 20))
    found, (beyond,) = read_addresses({"KVVIZ_ENGINES": many})
    assert len(found) == MAX_ENGINES
    assert "3 entries beyond the first 16 are not read" in str(beyond)
