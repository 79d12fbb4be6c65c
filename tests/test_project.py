"""Rules that hold for the whole project and that no linter knows: its texts, its pages, its promises."""

import ast
import json
import re
import shlex
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kvviz.text import Text

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "kvviz"
PAGES = sorted((ROOT / "pages").glob("*.py"))
SOURCES = [ROOT / "app.py", *PAGES, *sorted(PACKAGE.rglob("*.py"))]


def name(path: Path) -> str:
    """A file as it is spoken of."""
    return path.relative_to(ROOT).as_posix()


# --- texts -----------------------------------------------------------------------------------------------------------

SAME_IN_BOTH_LANGUAGES: set[str] = set()
"""More than one word, and yet the same in Japanese: names."""

JAPANESE = r"[\u3005\u3040-\u30ff\u3400-\u9fff]"
HALF_WIDTH_KANA = re.compile(r"[\uff61-\uff9f]")
ASCII_AFTER_JAPANESE = re.compile(rf"{JAPANESE}[,.!?;(]|[),]{JAPANESE}")
NO_SPACE_BETWEEN = re.compile(rf"{JAPANESE}[A-Za-z0-9]|[A-Za-z0-9]{JAPANESE}")
COLON_AFTER_JAPANESE = re.compile(rf"(?:{JAPANESE}|[）」])[:;]")
FULL_WIDTH_LATIN = re.compile(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff05\uff0b\uff0d\uff0f\uff1d\u3000]")
SPACE_AT_PUNCTUATION = re.compile(r"[、。（「：] | [、。）」：]")
ASCII_PARENTHESES = re.compile(rf"\([^()]*{JAPANESE}[^()]*\)")
SPACE_BEFORE_PERCENT = re.compile(r"[\d}] %")
NO_SPACE_BEFORE_UNIT = re.compile(r"[\d}](?:[KMG]i?B|tokens?|トークン)\b")
OTHER_DASH = re.compile("\u301c")
PLAIN_FORM = re.compile(r"(?:(?<!ま)(?<!で)す|[るつくむぶぐぬだ]|(?<!まし)(?<!でし)た|[なしきよ]い|(?<!しょ)う)[。！]")
"""A sentence that ends in する, だ or ない instead of します, です or ません."""
PROMPTS = ("Question: ", "Tyres: ", "Chain: ")
"""How the prompts begin that the Shared prefixes page opens with: not the app speaks there."""
CLAIMS = "kvviz/text/workshop.py"
"""Where statements to be judged and usual mistakes are quoted, in the plain form."""
PLACEHOLDER = re.compile(r"{[^{}]*}")
MARKUP = "*_` \n"


def calls_of_text(path: Path) -> Iterator[ast.Call]:
    """Every ``Text(...)`` in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Text":
            yield node


def test_what_can_be_one_has_its_singular() -> None:
    """``1 request``, not ``1 requests``: the number is a placeholder, and people ask for one.

    Learn and the workshop speak of scenarios of their own, none of which has one of anything.
    """
    many = re.compile(r"{\w+} (?:more |retrieved )?(?:requests|users|passages|slots|layers)\b")
    alone = ("kvviz/text/learn.py", "kvviz/text/workshop.py", "kvviz/text/report.py")
    assert [(where, en) for where, en, _ in texts() if many.search(en) and not where.startswith(alone)] == []


def texts() -> Iterator[tuple[str, str, str]]:
    """Where each text stands, its English and its Japanese."""
    for path in sorted((PACKAGE / "text").glob("*.py")):
        for call in calls_of_text(path):
            parts = dict(zip(("en", "ja"), call.args, strict=False)) | {k.arg: k.value for k in call.keywords}
            yield f"{name(path)}:{call.lineno}", ast.literal_eval(parts["en"]), ast.literal_eval(parts["ja"])


PAGE_TITLES = {
    f"{name(path)}:{node.lineno}"
    for path in sorted((PACKAGE / "text").glob("*.py"))
    for node in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "PAGE"
}
"""Where the titles of the pages stand."""
TEXTS = [pytest.param(en, ja, id=where) for where, en, ja in texts()]


def placeholders(text: str) -> list[str]:
    """The names in braces, as often as they stand there."""
    return sorted(field for _, field, _, _ in string.Formatter().parse(text) if field is not None)


def test_there_are_texts_and_they_are_all_in_the_text_package() -> None:
    assert len(TEXTS) > 50
    elsewhere = [path for path in SOURCES if PACKAGE / "text" not in path.parents]
    assert [f"{name(path)}:{call.lineno}" for path in elsewhere for call in calls_of_text(path)] == []


@pytest.mark.parametrize(("en", "ja"), TEXTS)
def test_both_languages_of_a_text_say_the_same(en: str, ja: str) -> None:
    assert set(placeholders(en)) == set(placeholders(ja))
    assert all(field.isidentifier() for field in placeholders(en)), "write a brace that is shown as {{ or }}"
    assert en.strip()
    assert ja.strip()
    if len(PLACEHOLDER.sub("", en).split()) > 1 and en not in SAME_IN_BOTH_LANGUAGES:
        assert ja != en, "not translated"
    assert en.rstrip(MARKUP).endswith((".", "!", "?")) == ja.rstrip(MARKUP).endswith(("。", "！", "？"))


def test_japanese_has_its_own_colons_and_one_way_to_count_a_named_gpu() -> None:
    """``{field}: `` is what the pages replace by a control's name; a colon of JSON or of a command stays."""
    narrow, counted = re.compile(r'(?<![A-Za-z"]): '), re.compile(r"\{gpu\}.{0,3}\{gpus\} 基")
    wrong = [
        (where, ja)
        for where, _, ja in texts()
        if narrow.search(re.sub(r"^\{field\}: ", "", ja).replace(". _ : ", "")) or counted.search(ja)
    ]
    assert wrong == []


def test_a_word_goes_with_its_number() -> None:
    counted = Text("{n} {n:request is|requests are} here", "{n} 件あります")
    assert [counted("en", n=n) for n in ("0", 1, "1", "11", "1,001")] == [
        "0 requests are here",
        "1 request is here",
        "1 request is here",
        "11 requests are here",
        "1,001 requests are here",
    ]
    assert counted("ja", n=1) == "1 件あります"


COUNTED = re.compile(r"\{\w+\} (?:prompt |full |whole )?(?:requests|tokens|blocks|slots|steps|evictions|entries)\b")


@pytest.mark.parametrize("module", ["allocation", "blocks", "prefixes"])
def test_one_is_not_many(module: str) -> None:
    for where, en, _ in texts():
        if where.startswith(f"kvviz/text/{module}.py:"):
            assert not COUNTED.findall(en), where


@pytest.mark.parametrize(("en", "ja"), TEXTS)
def test_japanese_is_set_as_japanese_is(en: str, ja: str) -> None:
    assert not HALF_WIDTH_KANA.search(ja)
    assert not ASCII_AFTER_JAPANESE.search(ja), ASCII_AFTER_JAPANESE.findall(ja)
    assert not NO_SPACE_BETWEEN.search(ja), NO_SPACE_BETWEEN.findall(ja)
    assert not re.search(JAPANESE, en), "Japanese in the English"
    assert not FULL_WIDTH_LATIN.search(ja), FULL_WIDTH_LATIN.findall(ja)
    assert en.startswith(PROMPTS) or not COLON_AFTER_JAPANESE.search(ja), COLON_AFTER_JAPANESE.findall(ja)
    assert not SPACE_AT_PUNCTUATION.search(ja), SPACE_AT_PUNCTUATION.findall(ja)
    # The name of a pasted config goes into links, which know no full-width signs.
    assert en == "{name} (pasted)" or not ASCII_PARENTHESES.search(ja), ASCII_PARENTHESES.findall(ja)
    for text in (en, ja):
        assert not SPACE_BEFORE_PERCENT.search(text), SPACE_BEFORE_PERCENT.findall(text)
        assert not NO_SPACE_BEFORE_UNIT.search(text), NO_SPACE_BEFORE_UNIT.findall(text)
    assert not OTHER_DASH.search(ja), "a wave dash where others have ～"


def test_japanese_sentences_are_polite() -> None:
    assert [(where, ja) for where, _, ja in texts() if PLAIN_FORM.search(ja) and not where.startswith(CLAIMS)] == []


# --- sources ---------------------------------------------------------------------------------------------------------


def test_no_source_lets_foreign_code_or_markup_in() -> None:
    forbidden = re.compile(r"unsafe_allow_html|unsafe_allow_javascript|trust_remote_code\s*=\s*True")
    assert [name(path) for path in SOURCES if forbidden.search(path.read_text(encoding="utf-8"))] == []


def imported_packages(path: Path) -> set[str]:
    """The top-level packages a file imports, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize(
    "source", [p for p in PACKAGE.rglob("*.py") if p.parent.name not in {"ui", "charts"}], ids=name
)
def test_all_but_charts_ui_hub_qr_live_and_metrics_is_standard_library_only(source: Path) -> None:
    known = {
        "hub.py": {"huggingface_hub", "httpx2"},
        "qr.py": {"segno"},
        "serving/metrics.py": {"prometheus_client"},
    }
    more = known.get(name(source).removeprefix("kvviz/"), set())
    if source.parent.name == "live":
        more = {"torch", "transformers", "huggingface_hub"}
    assert imported_packages(source) - sys.stdlib_module_names <= {"kvviz", *more}


# Who may import whom inside the package is import-linter's to say (pyproject.toml); pages lie outside of it.
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_is_short_and_only_shows(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 130
    assert imported_packages(page) - sys.stdlib_module_names <= {"streamlit", "kvviz"}


def test_no_rule_knows_a_repository() -> None:
    """An id such as ``owner/name`` in the code that reads configs would be a special case for one checkpoint."""
    an_id = re.compile(r"[A-Za-z0-9][\w.-]+/[A-Za-z0-9][\w.-]+")
    found = [
        f"{name(path)}:{node.lineno} {node.value}"
        for folder in ("core", "engines")
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and an_id.fullmatch(node.value)
    ]
    assert found == []


def test_no_file_names_a_place_on_the_machine_it_was_written_on() -> None:
    places = re.compile(r"/(?:home|Users|root|work|mnt)/\w|/tmp/\w|[A-Z]:\\\\?Users")
    written = [
        path
        for path in [*ROOT.glob("*.*"), *ROOT.glob(".ci/*"), *SOURCES, *(ROOT / "tests").rglob("*.py")]
        if path.suffix in {".py", ".md", ".toml", ""} and path.is_file() and path != Path(__file__)
    ]
    assert [name(path) for path in written if places.search(path.read_text(encoding="utf-8"))] == []


# --- promises --------------------------------------------------------------------------------------------------------

README = (ROOT / "README.md").read_text(encoding="utf-8")
README_JA = (ROOT / "README.ja.md").read_text(encoding="utf-8")


def test_ci_runs_what_the_readme_says() -> None:
    start = "python -m pip install -e . && streamlit run app.py"
    test = 'python -m pip install -e ".[test]" && python -m pytest'
    assert start in README
    assert test in README
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert test in ci
    for check in ["ruff format --check", "ruff check", "mypy", "lint-imports"]:
        assert check in ci
        assert check in README


def examples() -> list[tuple[str, str]]:
    """``$ kvviz`` lines of both READMEs with what stands below each; a line ``…`` leaves out the rest."""
    blocks = re.findall(r"```console\n(.*?)```", README + README_JA, flags=re.DOTALL)
    return [
        match for block in blocks for match in re.findall(r"^\$ (kvviz .*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


@pytest.mark.parametrize(("command", "output"), examples())
def test_the_readme_shows_what_the_command_line_answers(command: str, output: str, tmp_path: Path) -> None:
    arguments = shlex.split(command)[1:]
    # From another folder: nothing may depend on where one stands.
    answer = subprocess.run(
        [sys.executable, "-m", "kvviz", *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    shown, rest_left_out, _ = output.partition("…\n")
    if rest_left_out:
        assert answer.stdout.startswith(shown), answer.stdout
    else:
        assert answer.stdout.rstrip() == shown.rstrip()


def test_the_readme_has_examples_and_counts_right() -> None:
    assert len(examples()) >= 2
    bundled = len(list((PACKAGE / "data" / "configs").glob("*.json")))
    known = json.loads((ROOT / "tests" / "data" / "known_sizes.json").read_text(encoding="utf-8"))
    reserved = sum("vllm_0_33" in row for row in known)
    assert f"| {bundled} published configs |" in README
    assert f"| the {reserved} of them it runs |" in README


def prose(readme: str) -> str:
    """A README without what the command line answers."""
    return re.sub(r"```.*?```", "", readme, flags=re.DOTALL)


def test_the_japanese_readme_says_what_the_english_one_does() -> None:
    assert "[日本語](README.ja.md)" in README
    assert "[English](README.md)" in README_JA
    assert len(README_JA) < len(README)
    number = re.compile(r"(?<![\w.])\d[\d,.]*\d|(?<![\w.])\d\d")
    written_out = {"10", "60"}  # "an hour in ten steps"
    assert set(number.findall(prose(README_JA))) - set(number.findall(prose(README))) == written_out
    # What is held against what: the same rows with the same counts.
    checked = [
        re.search(r"^\|---\|---\|---\|---\|\n(.*?)\n\n", text, re.DOTALL | re.MULTILINE) for text in (README, README_JA)
    ]
    english, japanese = ([row.split("|")[3] for row in found[1].splitlines()] for found in checked if found)
    assert [re.findall(r"\d(?:[\d,]*\d)?", cell) for cell in english] == [
        re.findall(r"\d(?:[\d,]*\d)?", cell.replace("3 通り", "")) for cell in japanese
    ]


def test_the_readmes_call_the_pages_as_the_app_does() -> None:
    titles = {en.partition(" (")[0]: ja.partition("（")[0] for where, en, ja in texts() if where in PAGE_TITLES}
    assert len(titles) == 10
    assert [title for title in titles if f"**{title}**" not in README] == []
    assert [title for title in titles.values() if f"**{title}**" not in README_JA] == []


def test_the_japanese_readme_is_set_as_japanese_is() -> None:
    said = re.sub(r"`[^`]*`|\]\([^)]*\)", "", prose(README_JA))
    for rule in (HALF_WIDTH_KANA, NO_SPACE_BETWEEN, COLON_AFTER_JAPANESE, FULL_WIDTH_LATIN, PLAIN_FORM):
        assert rule.findall(said) == []


HEAVY_IMPORTS = """
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest

root = Path(sys.argv[1])
app = AppTest.from_file(str(root / "kvviz" / "ui" / "main.py"), default_timeout=60).run()
assert not app.exception, app.exception
for page in sorted((root / "pages").glob("*.py")):
    if page.stem != "live":
        app.switch_page(str(page)).run()
        assert not app.exception, (page, app.exception)
print(sorted({"torch", "transformers", "accelerate"} & set(sys.modules)))
"""


def test_only_the_live_page_may_import_torch_or_transformers() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", HEAVY_IMPORTS, str(ROOT)], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip() == "[]"
