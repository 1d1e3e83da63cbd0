"""Results on disk, a line at a time: a run that is killed goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Results"]

Key = tuple[str | int | float, ...]


class Results:
    """An append-only file of JSON lines ``{"key": [...], "value": ...}``, each key counted once.

    A line cut short by a kill is skipped when reading, and computed again; if two runs wrote the same key, the first
    line counts.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "results.jsonl"
    >>> Results(path).add(("ABA", 0), {"DT": 5.7})
    >>> with path.open("a") as file:
    ...     _ = file.write('{"key": ["ABA", 1], "val')
    >>> again = Results(path)
    >>> ("ABA", 0) in again, ("ABA", 1) in again
    (True, False)
    >>> again.add(("ABA", 1), {"DT": 5.8})
    >>> [key for key, value in Results(path)]
    [('ABA', 0), ('ABA', 1)]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._values: dict[Key, Any] = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                self._read(line)

    def _read(self, line: str) -> None:
        try:
            item = json.loads(line)
            self._values.setdefault(tuple(item["key"]), item["value"])
        except (ValueError, TypeError, KeyError):
            return

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[tuple[Key, Any]]:
        return iter(self._values.items())

    def add(self, key: Key, value: Any) -> None:
        """Append one result and make sure that it is on disk."""
        if key in self._values:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": list(key), "value": value}, allow_nan=False, separators=(",", ":")) + "\n"
        with self.path.open("ab+") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # a line that a kill cut short
                    line = "\n" + line
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        self._values[key] = value
