"""Copies of the repository to plant faults in."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["ROOT", "copy_tree"]

ROOT = Path(__file__).resolve().parent.parent
# What no check reads, or what is large.
_LEFT_OUT = {".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "site", "build", "dist"}


def copy_tree(source: Path, target: Path) -> Path:
    """Copy a repository, compiled files and times too (so that Python need not compile all of it again)."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        top = Path(folder) == source
        return {name for name in names if name in _LEFT_OUT or (top and name == "mutants")}

    shutil.copytree(source, target, ignore=left_out, symlinks=True)
    return target
