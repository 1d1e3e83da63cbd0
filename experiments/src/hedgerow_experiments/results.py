"""Results on disk, a line at a time: a run that is killed goes on where it stopped."""

from __future__ import annotations

import fcntl
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

__all__ = ["Results"]

Key = tuple[str | int | float, ...]


class Results:
    """An append-only file of JSON lines ``{"key": [...], "value": ..., "seed": ..., "seconds": ..., "code": ...}``.

    Each key counts once. A line cut short by a kill is skipped when reading, and computed again. Several processes may
    append to one file: before a line is written the others' lines are read, and a key that is there is left alone,
    unless it is computed ``anew`` by other code: then the later line counts. Lines ``{"run": {...}}`` say what the
    lines after them were made with.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "results.jsonl"
    >>> Results(path).add(("ABA", 0), {"DT": 5.7}, seed=3, seconds=0.1)
    True
    >>> with path.open("a") as file:
    ...     _ = file.write('{"key": ["ABA", 1], "val')
    >>> again, other = Results(path), Results(path)
    >>> ("ABA", 0) in again, ("ABA", 1) in again
    (True, False)
    >>> again.add(("ABA", 1), {"DT": 5.8}), other.add(("ABA", 1), {"DT": 5.8})
    (True, False)
    >>> [key for key, value in Results(path)]
    [('ABA', 0), ('ABA', 1)]
    >>> again.add(("ABA", 1), {"DT": 5.9}, code="b2", anew=True), Results(path)["ABA", 1], Results(path).codes
    (True, {'DT': 5.9}, {('ABA', 1): 'b2'})
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.seconds: dict[Key, float] = {}
        self.seeds: dict[Key, int] = {}
        self.codes: dict[Key, str] = {}
        self.runs: list[dict[str, Any]] = []
        self._run_of: dict[Key, int] = {}
        self._values: dict[Key, Any] = {}
        self._read_to = 0
        self.refresh()

    def refresh(self) -> None:
        """Read what was appended since the last look, by whomever."""
        if self.path.exists():
            with self.path.open("rb") as file:
                self._catch_up(file)

    def _catch_up(self, file: IO[bytes]) -> None:
        file.seek(self._read_to)
        for line in file:
            if not line.endswith(b"\n"):  # still being written, or cut short
                break
            self._read_to += len(line)
            self._read(line)

    def _read(self, line: bytes) -> None:
        try:
            item = json.loads(line)
            if "run" in item:
                self.runs.append(item["run"])
                return
            key = tuple(item["key"])
            if not self._stands(key, item.get("code", ""), anew="code" in item):
                self._keep(key, item["value"], item.get("seed"), item.get("seconds"), item.get("code"))
        except (ValueError, TypeError, KeyError):
            return

    def _stands(self, key: Key, code: str, *, anew: bool) -> bool:
        """Return whether a key keeps the value that it has, though there is one by this code."""
        return key in self._values and not (anew and self.codes.get(key, "") != code)

    def _keep(self, key: Key, value: Any, seed: int | None, seconds: float | None, code: str | None) -> None:
        self._values[key] = value
        if code is not None:
            self.codes[key] = code
        self._run_of[key] = len(self.runs) - 1
        if seed is not None:
            self.seeds[key] = seed
        if seconds is not None:
            self.seconds[key] = seconds

    def counts(self, run: int) -> tuple[int, float, int]:
        """Return how many cells a run has, given by its place, their seconds, and how many were timed.

        Cells are told apart by the run line before them: of two runs at once the later one has both's.
        """
        own = [key for key, place in self._run_of.items() if place == run]
        timed = [self.seconds[key] for key in own if key in self.seconds]
        return len(own), round(math.fsum(timed), 1), len(timed)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[tuple[Key, Any]]:
        return iter(self._values.items())

    def __getitem__(self, key: Key) -> Any:
        return self._values[key]

    def add(
        self,
        key: Key,
        value: Any,
        *,
        seed: int | None = None,
        seconds: float | None = None,
        code: str = "",
        anew: bool = False,
    ) -> bool:
        """Append one result and make sure that it is on disk; return False if the key was there.

        ``anew`` takes the place of a result that was computed by other code.
        """
        if self._stands(key, code, anew=anew):
            return False
        item: dict[str, Any] = {"key": list(key), "value": value}
        if seed is not None:
            item["seed"] = seed
        if seconds is not None:
            item["seconds"] = round(seconds, 4)
        if code:
            item["code"] = code
        return self._append(item, key, anew=anew)

    def add_run(self, facts: dict[str, Any]) -> None:
        """Append a line that says what the next ones are made with."""
        self._append({"run": facts}, None)

    def _append(self, item: dict[str, Any], key: Key | None, *, anew: bool = False) -> bool:
        line = json.dumps(item, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._catch_up(file)
            if key is not None and self._stands(key, item.get("code", ""), anew=anew):
                return False
            if file.seek(0, os.SEEK_END) > self._read_to:  # a line that a kill cut short
                line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
            self._catch_up(file)
        return True
