"""Which kvviz it says it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import kvviz
from kvviz import build

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def asked_afresh() -> Iterator[None]:
    """The answers are kept as long as the process lives."""
    build.commit.cache_clear()
    build.version.cache_clear()
    yield
    build.commit.cache_clear()
    build.version.cache_clear()


def test_an_image_says_the_commit_it_was_built_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_COMMIT", SHA)
    assert build.commit() == SHA[:12]
    assert build.version() == f"{kvviz.__version__}+{SHA[:12]}"


def test_git_s_short_form_is_a_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVVIZ_COMMIT", SHA[:7])
    assert build.commit() == SHA[:7]
    assert not build.commit_not_taken()


@pytest.mark.parametrize("said", ["main", "<script>", "0123", "unknown", "v1.2"])
def test_what_is_no_commit_is_not_said(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("KVVIZ_COMMIT", said)
    assert build.version() == kvviz.__version__
    assert build.commit_not_taken()


def checkout(root: Path, **files: str) -> Path:
    """A folder as git leaves it; ``git_HEAD`` is .git/HEAD."""
    (root / "pyproject.toml").touch()
    for name, content in files.items():
        path = root / name.replace("git_", ".git/").replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


@pytest.mark.parametrize(
    "files",
    [
        {"git_HEAD": f"{SHA}\n"},
        {"git_HEAD": "ref: refs/heads/main\n", "git_refs__heads__main": f"{SHA}\n"},
        {"git_HEAD": "ref: refs/heads/main\n", "git_packed-refs": f"# pack-refs\n{SHA} refs/heads/main\n"},
    ],
    ids=["detached", "branch", "packed"],
)
def test_a_checkout_says_what_is_checked_out(
    tmp_path: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KVVIZ_COMMIT", raising=False)
    monkeypatch.setattr(build, "_ROOT", checkout(tmp_path, **files))
    assert build.commit() == SHA[:12]


def test_a_worktree_says_what_is_checked_out_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = tmp_path / "main" / ".git"
    (main / "worktrees" / "tree").mkdir(parents=True)
    (main / "refs" / "heads").mkdir(parents=True)
    (main / "refs" / "heads" / "topic").write_text(SHA)
    (main / "worktrees" / "tree" / "HEAD").write_text("ref: refs/heads/topic\n")
    (main / "worktrees" / "tree" / "commondir").write_text("../..\n")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text(f"gitdir: {main / 'worktrees' / 'tree'}\n")
    monkeypatch.delenv("KVVIZ_COMMIT", raising=False)
    monkeypatch.setattr(build, "_ROOT", checkout(tmp_path / "tree"))
    assert build.commit() == SHA[:12]


@pytest.mark.parametrize("files", [{}, {"git_HEAD": "ref: refs/heads/gone\n"}], ids=["installed", "broken"])
def test_where_nobody_knows_only_the_version_is_said(
    tmp_path: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KVVIZ_COMMIT", raising=False)
    monkeypatch.setattr(build, "_ROOT", checkout(tmp_path, **files))
    assert build.version() == kvviz.__version__
