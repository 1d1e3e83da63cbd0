"""The receipt of ``hedgerow privatize --resume``: these records have answered this task.

It lies beside the reports, as ``OUT.receipt``, from when they are whole; a later run that finds it draws nothing. It
says which task was answered and which reports came of it, and nothing about the records: a digest of private rows
would let whoever finds it test guesses of them.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from hedgerow.collect.checkpoint import write_whole
from hedgerow.content import Content
from hedgerow.errors import FormatError, HedgerowError

__all__ = ["Receipt"]

_BLOCK = 1 << 20  # bytes read at a time: 1 MB of memory for a file of any size


@dataclass(frozen=True)
class _Answer(Content, what="receipt", format="hedgerow/receipt", version=1):
    """What a receipt says: the task's id, the digest of the reports, and their number."""

    task: str
    output: str
    n_reports: int

    def __post_init__(self) -> None:
        if self.n_reports < 0:
            raise FormatError(f"a receipt cannot be of {self.n_reports} reports.")


@dataclass(frozen=True)
class Receipt:
    """What there is to know about an answer that is to be given once."""

    output: str
    task: str

    @property
    def path(self) -> str:
        """Where the receipt lies."""
        return f"{self.output}.receipt"

    def answered(self) -> int | None:
        """Return the number of reports if this very answer lies there whole; None if nothing was answered yet.

        Anything in between is an error: to draw again would spend epsilon again.
        """
        found = self._read()
        if found is None:
            return None
        if found.task != self.task:
            raise HedgerowError(
                f"{self.path} says that {self.output} holds the answer to another task; give -o another name."
            )
        if not os.path.exists(self.output) or found.output != _digest(self.output):
            raise HedgerowError(
                f"{self.path} says that this task was answered already, and {self.output} was moved or changed since. "
                "Use those reports: drawing again would spend epsilon again (--again does so)."
            )
        return found.n_reports

    def write(self, n_reports: int) -> None:
        """Leave the receipt: the reports are whole."""
        answer = _Answer(self.task, _digest(self.output), n_reports)
        write_whole(self.path, answer.to_json().encode() + b"\n")

    def _read(self) -> _Answer | None:
        try:
            with open(self.path, "rb") as file:
                return _Answer.from_json(file.read())
        except FileNotFoundError:
            return None
        except FormatError as error:
            raise FormatError(
                f"{self.path} is damaged, but it is there: these records may have answered already, and drawing again "
                "would spend epsilon again (--again does so)."
            ) from error


def _digest(path: str) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
