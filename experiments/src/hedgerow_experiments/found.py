"""The committed results of a folder, as pages and claims read them: rows, cells, what papers print, notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hedgerow.compare.scores import Row, Summary, summarise
from hedgerow_experiments.export import committed, read_rows
from hedgerow_experiments.printed import Printed, read_printed
from hedgerow_experiments.registry import all_experiments

__all__ = ["KEPT", "Evidence"]

KEPT = "kept"
"""Folder of pages and pictures that are not made from rows."""

Wanted = str | Sequence[str] | None
"""One value, any of several, or whatever there is."""


class Evidence:
    """Results by experiment, one summary a cell, with parameters chosen as the experiment says.

    Files are read when they are asked for.

    Examples
    --------
    >>> rows = [Row("e", "A", "", m, 1.0, None, "", r, "mse", v + r) for m, v in [("x", 1), ("y", 3)] for r in (0, 1)]
    >>> found = Evidence({"e": rows})
    >>> [s.mean for s in found.cells("e", method="x")]
    [1.5]
    """

    def __init__(
        self, rows: Mapping[str, list[Row]], printed: Iterable[Printed] = (), folder: Path | None = None
    ) -> None:
        self.folder = folder
        self._rows = dict(rows)
        self._printed = list(printed)
        self._cells: dict[str, list[Summary]] = {}

    @classmethod
    def load(cls, folder: Path) -> Evidence:
        """Return what a folder holds."""
        return cls({}, read_printed(folder), folder)

    @property
    def experiments(self) -> list[str]:
        """Names of those with results."""
        return [name for name in all_experiments() if self._rows.get(name) or self._file(name) is not None]

    def _file(self, name: str) -> Path | None:
        path = None if self.folder is None else committed(name, self.folder)
        return path if path is not None and path.exists() else None

    def rows(self, name: str) -> list[Row]:
        """Return the rows of an experiment; none if it has no results."""
        if name not in self._rows:
            path = self._file(name)
            self._rows[name] = [] if path is None else read_rows(name, path)
        return self._rows[name]

    def summaries(self, name: str) -> list[Summary]:
        """Return all cells of an experiment, with what was measured beside its scores (seconds, sizes)."""
        if name not in self._cells:
            experiment = all_experiments().get(name)
            self._cells[name] = summarise(self.rows(name), experiment.choose if experiment else "lowest")
        return self._cells[name]

    def cells(
        self,
        experiment: str,
        *,
        method: Wanted = None,
        setting: Wanted = None,
        epsilon: Callable[[float | None], bool] = lambda e: True,
        dataset: Wanted = None,
        metric: Wanted = None,
    ) -> list[Summary]:
        """Return the cells that match; without a ``metric`` only scores."""
        declared = all_experiments().get(experiment)
        if metric is None and declared is not None:
            metric = (declared.metric, "accuracy")
        return [
            s
            for s in self.summaries(experiment)
            if _fits(s.method, method)
            and _fits(s.setting, setting)
            and _fits(s.dataset, dataset)
            and _fits(s.metric, metric)
            and epsilon(s.epsilon)
        ]

    def printed(self, experiment: str, setting: str | None = None) -> list[Printed]:
        """Return what a paper prints for an experiment, or for one setting of it."""
        return [p for p in self._printed if p.experiment == experiment and setting in (None, p.setting)]

    def made(self, name: str) -> dict[str, Any]:
        """Return what the rows of an experiment were made with; nothing if that is not known."""
        path = None if self.folder is None else self.folder / "data" / f"{name}.json"
        if path is None or not path.exists():
            return {}
        known: dict[str, Any] = json.loads(path.read_text())
        return known

    def makes(self, page: str, *experiments: str) -> bool:
        """Return whether a page is to be made: there are rows for it, and it is not kept as it is."""
        return not self.kept(page) and all(self.rows(name) for name in experiments)

    def kept(self, name: str) -> bool:
        """Return whether a file of the pages is kept as it is, and not made from rows."""
        return self.folder is not None and (self.folder / KEPT / name).exists()

    def notes(self, page: str) -> str:
        """Return the notes of a page: what no figure can say, such as when a rule was added."""
        path = None if self.folder is None else self.folder / f"{page}.notes.md"
        return path.read_text() if path is not None and path.exists() else ""


def _fits(value: str, wanted: Wanted) -> bool:
    return wanted is None or (value == wanted if isinstance(wanted, str) else value in wanted)
