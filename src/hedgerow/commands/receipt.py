"""The receipt of ``hedgerow privatize --resume``: these records have answered this task.

It lies beside the reports, as ``OUT.receipt``, from when they are whole; a later run that finds it draws nothing. It
says which task was answered and which reports came of it, and nothing about the records: a digest of private rows
would let whoever finds it test guesses of them.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import Any

from hedgerow.collect.checkpoint import write_whole
from hedgerow.errors import FormatError, HedgerowError

__all__ = ["Receipt"]

_FORMAT = "hedgerow/receipt"
_VERSION = 1
_BLOCK = 1 << 20


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
        if found["task"] != self.task:
            raise HedgerowError(
                f"{self.path} says that {self.output} holds the answer to another task; give -o another name."
            )
        if not os.path.exists(self.output) or found["output"] != _digest(self.output):
            raise HedgerowError(
                f"{self.path} says that this task was answered already, and {self.output} was moved or changed since. "
                "Use those reports: drawing again would spend epsilon again (--again does so)."
            )
        return int(found["n_reports"])

    def write(self, n_reports: int) -> None:
        """Leave the receipt: the reports are whole."""
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "task": self.task,
            "output": _digest(self.output),
            "n_reports": n_reports,
        }
        write_whole(self.path, json.dumps(content).encode() + b"\n")

    def _read(self) -> dict[str, Any] | None:
        try:
            with open(self.path, "rb") as file:
                found = json.loads(file.read())
            whole = found["format"] == _FORMAT and found["version"] == _VERSION and found["n_reports"] >= 0
            whole = whole and all(isinstance(found[name], str) for name in ("task", "output"))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            whole = False
        if not whole:
            raise FormatError(
                f"{self.path} is damaged, but it is there: these records may have answered already, and drawing again "
                "would spend epsilon again (--again does so)."
            )
        return dict(found)


def _digest(path: str) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
