"""Which kvviz this is: its version, and the commit it was made from where that is known."""

import os
import re
from functools import cache
from pathlib import Path
from typing import Final

import kvviz

_ROOT: Final = Path(__file__).resolve().parents[1]
VARIABLE: Final = "KVVIZ_COMMIT"
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
"""Git's short form and longer."""
_DIGITS: Final = 12
"""Of a commit: they tell it from others."""


@cache
def commit() -> str:
    """What ``KVVIZ_COMMIT`` says (an image is built with it), else what is checked out here; empty where nobody knows.

    Changes that are not committed do not show.
    """
    said = _said() or _checked_out(_ROOT)
    return said[:_DIGITS] if _COMMIT.fullmatch(said) else ""


def commit_not_taken() -> bool:
    """Whether ``KVVIZ_COMMIT`` says something that is no commit."""
    return bool(_said()) and not _COMMIT.fullmatch(_said())


def _said() -> str:
    return os.environ.get(VARIABLE, "").strip().lower()


@cache
def version() -> str:
    """``0.1.0+1a2b3c4d5e6f``; without the commit where that is not known."""
    return "+".join(filter(None, (kvviz.__version__, commit())))


def _checked_out(root: Path) -> str:
    """The commit of a checkout, read as git keeps it: the command line has no time to start a program."""
    try:
        if not (root / "pyproject.toml").is_file():  # installed: a repository around it is somebody else's
            return ""
        git = root / ".git"
        if git.is_file():  # a worktree
            git = root / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref: "):
            return head
        shared = git / "commondir"
        common = git / shared.read_text(encoding="utf-8").strip() if shared.is_file() else git
        name = head.removeprefix("ref: ")
        if (common / name).is_file():
            return (common / name).read_text(encoding="utf-8").strip()
        packed = (common / "packed-refs").read_text(encoding="utf-8")
        return next((line.split()[0] for line in packed.splitlines() if line.endswith(f" {name}")), "")
    except (OSError, ValueError):
        return ""
