"""A planted fault: one edit of one file, and what must notice it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Fault", "MutantError", "Problem", "whole_fits"]

_REPLAY = "tests/audit/test_replay_fits.py::test_whole_fits_stay_within_their_claim_and_come_near_it"


class MutantError(Exception):
    """A fault that cannot be planted, or a check that says nothing: never a catch."""


@dataclass(frozen=True)
class Problem:
    """Why a fault is badly written."""

    fault: str
    text: str

    def __str__(self) -> str:
        return f"{self.fault}: {self.text}"


@dataclass(frozen=True)
class Fault:
    """One edit that breaks a privacy claim.

    Attributes
    ----------
    name : str
        What is wrong with the mutated program, in a few plain words; unique.
    path : str
        The file, relative to the repository.
    before : str
        Text that occurs exactly once in the file.
    after : str
        What is put in its place.
    caught_by : tuple of str
        Node ids of pytest (``tests/x.py`` or ``tests/x.py::test_y``), of which at least one must fail by an assertion;
        or ``("audit", pattern)``: ``hedgerow audit pattern`` must call a claim VIOLATED.
    kernels : {"auto", "numpy"}
        "numpy" switches the compiled kernels off: for faults of the NumPy reference that stands beside them.
        Faults in ``csrc/`` are compiled in the copy.
    """

    name: str
    path: str
    before: str
    after: str
    caught_by: tuple[str, ...]
    kernels: str = "auto"

    @property
    def is_audit(self) -> bool:
        """Whether ``hedgerow audit`` is the check."""
        return self.caught_by[:1] == ("audit",)

    def problems(self, root: Path) -> list[Problem]:
        """Return what keeps this fault from being planted in the tree at ``root``, and checked."""
        return [Problem(self.name, text) for text in (*self._edit_problems(root), *self._check_problems(root))]

    def _edit_problems(self, root: Path) -> list[str]:
        file = root / self.path
        if not file.is_file():
            return [f"{self.path} does not exist"]
        count = file.read_text(encoding="utf-8").count(self.before)
        if count != 1:
            return [f"'before' occurs {count} times in {self.path}, not once"]
        if self.before == self.after:
            return ["'after' is the same text as 'before'"]
        return []

    def _check_problems(self, root: Path) -> list[str]:
        if self.kernels not in ("auto", "numpy"):
            return [f"'kernels' must be 'auto' or 'numpy', not {self.kernels!r}"]
        if self.is_audit:
            return [] if len(self.caught_by) == 2 else ["an audit is named by ('audit', pattern)"]
        if not self.caught_by:
            return ["'caught_by' is empty"]
        return [text for node in self.caught_by for text in _node_problems(root, node)]

    def plant(self, root: Path) -> None:
        """Edit the file in the (copied) tree at ``root``, and forget its compiled form."""
        problems = self._edit_problems(root)
        if problems:
            raise MutantError("; ".join(problems))
        file = root / self.path
        text = file.read_text(encoding="utf-8").replace(self.before, self.after)
        if file.suffix == ".py":
            try:
                compile(text, self.path, "exec")
            except SyntaxError as error:
                raise MutantError(f"the mutated {self.path} is no Python: {error}") from error
        file.write_text(text, encoding="utf-8")
        # A compiled file is known by time and size alone: an edit of equal length could go unnoticed.
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            compiled.unlink()


def _node_problems(root: Path, node: str) -> list[str]:
    path, *parts = node.split("::")
    file = root / path
    if not file.exists():
        return [f"the check {path} does not exist"]
    if parts and f"{parts[-1].partition('[')[0]}" not in file.read_text(encoding="utf-8"):
        return [f"{path} has no {parts[-1]!r}"]
    return []


def whole_fits(*names: str) -> tuple[str, ...]:
    """Return the replay audits of these whole fits."""
    return tuple(f"{_REPLAY}[{name}]" for name in names)
