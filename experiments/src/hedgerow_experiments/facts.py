"""What a run was made with: versions, machine, time."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["facts"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "hedgerow", "interpret-core")


def facts(command: str = "") -> dict[str, Any]:
    """Return versions, the commit (if there is one), the machine, the time and the command.

    >>> sorted(facts())
    ['command', 'commit', 'machine', 'python', 'started', 'versions']
    """
    return {
        "command": command,
        "started": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "python": platform.python_version(),
        "versions": {name: version for name in _PACKAGES if (version := _version(name))},
        "commit": _commit(),
        "machine": {"system": platform.platform(terse=True), "cpu": _cpu(), "cores": os.cpu_count()},
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _commit() -> str:
    """Return the commit of the source tree, with a plus sign if it was changed since; empty if it is not in git."""
    here = Path(__file__).parent
    try:
        commit = _git(here, "rev-parse", "--short=12", "HEAD")
        return commit + ("+" if commit and _git(here, "status", "--porcelain", "--", str(here.parent)) else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10)
    return done.stdout.strip() if done.returncode == 0 else ""


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or sys.platform
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
