"""Results as rows: one number each, whatever the experiment; summaries and committed files are made from them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from hedgerow.bench.experiment import Experiment, Key, call

__all__ = ["Row", "Summary", "best_rows", "kept_rows", "rows_of", "standard", "summarise"]


_STANDARD = "hedgerow.bench.tidy:standard"


class Row(NamedTuple):
    """One number: the score of a method with one parameter in one repeat.

    ``epsilon`` is None where there is none; ``x`` is the abscissa of a curve where it is not epsilon; ``setting`` tells
    apart what shares data, method and epsilon (a table, a figure, a learner).
    """

    experiment: str
    dataset: str
    setting: str
    method: str
    epsilon: float | None
    x: float | None
    parameter: str
    repeat: int
    metric: str
    value: float

    @property
    def cell(self) -> tuple[Any, ...]:
        """What a summary is over: everything but parameter, repeat and value."""
        return self.dataset, self.setting, self.method, self.epsilon, self.x, self.metric


class Summary(NamedTuple):
    """A cell of a table: mean over repeats of the chosen parameter, with its values repeat by repeat."""

    dataset: str
    setting: str
    method: str
    epsilon: float | None
    x: float | None
    metric: str
    parameter: str
    values: dict[int, float]

    @property
    def mean(self) -> float:
        """The mean over repeats."""
        return float(np.mean(list(self.values.values())))

    @property
    def deviation(self) -> float:
        """The standard deviation over repeats; NaN for one."""
        return float(np.std(list(self.values.values()), ddof=1)) if len(self.values) > 1 else math.nan

    @property
    def error(self) -> float:
        """The standard error of the mean; NaN for one repeat."""
        return self.deviation / math.sqrt(len(self.values))

    def quantiles(self, low: float = 0.1, high: float = 0.9) -> tuple[float, float]:
        """Two quantiles over repeats, for bands."""
        a, b = np.quantile(list(self.values.values()), [low, high])
        return float(a), float(b)


def standard(experiment: Experiment, key: Key, value: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of ``{method: number, list over the method's grid, or {parameter: number}}``."""
    for method, scores in value.items():
        if isinstance(scores, dict):
            points = scores
        elif isinstance(scores, list):
            grid = experiment.grid(method)
            names = grid.points() if grid else [str(i) for i in range(len(scores))]
            points = dict(zip(names, scores, strict=True))
        else:
            points = {"": scores}
        for parameter, score in points.items():
            yield Row(
                experiment.name, key.dataset, key.setting, method, key.epsilon or None, None, parameter, key.repeat,
                experiment.metric, float(score),
            )  # fmt: skip


def rows_of(experiment: Experiment, results: Iterable[tuple[Any, Any]]) -> list[Row]:
    """Return all results of an experiment as rows, in a fixed order."""
    tidy = call(experiment.tidy)
    found = [row for key, value in results for row in tidy(experiment, Key.read(key), value)]
    return sorted(found, key=_order)


def kept_rows(experiment: Experiment, results: Iterable[tuple[Any, Any]]) -> list[Row]:
    """Return the rows that are committed: those of the chosen parameters, or all if the experiment says so.

    The same as :func:`best_rows` of everything, but lists over a grid are searched before they become rows: a large
    table has millions.
    """
    if experiment.keep == "all":
        return rows_of(experiment, results)
    lists: dict[tuple[Any, ...], dict[int, list[float]]] = defaultdict(dict)
    rest = []
    for raw, value in results:
        key = Key.read(raw)
        grids = experiment.tidy == _STANDARD and experiment.choose != "none"
        found = {m for m, v in value.items() if isinstance(v, list) and experiment.grid(m)} if grids else set()
        for method in found:
            lists[key.dataset, key.setting, key.epsilon, key.group, method].setdefault(key.repeat, value[method])
        rest.append((raw, {m: v for m, v in value.items() if m not in found} if found else value))
    rows = rows_of(experiment, rest)
    rows = best_rows(rows, summarise(rows, experiment.choose))
    for (dataset, setting, epsilon, group, method), scores in lists.items():
        where = _best_place(experiment, method, scores)
        for repeat, values in scores.items():
            key = Key(dataset, repeat, setting, epsilon, group)
            rows += standard(experiment, key, {method: {where[1]: values[where[0]]}})
    return sorted(rows, key=_order)


def _best_place(experiment: Experiment, method: str, scores: dict[int, list[float]]) -> tuple[int, str]:
    """Return the place in the grid, and the name, of the parameter that :func:`summarise` would choose."""
    grid = experiment.grid(method)
    assert grid is not None
    table, sign = np.array(list(scores.values())), -1.0 if experiment.choose == "highest" else 1.0
    names = sorted((name, i) for i, name in enumerate(grid.points()))
    name, i = min(names, key=lambda place: sign * math.fsum(table[:, place[1]]))
    return i, name


def _order(row: Row) -> tuple[Any, ...]:
    missing = -math.inf
    return (
        row.dataset, row.setting, row.method, missing if row.epsilon is None else row.epsilon,
        missing if row.x is None else row.x, row.metric, row.parameter, row.repeat,
    )  # fmt: skip


def summarise(rows: Iterable[Row], choose: str = "lowest") -> list[Summary]:
    """Average over repeats, and choose one parameter of each cell in hindsight, as the papers do.

    Only parameters that were run in most repeats compete; of equals the first in order counts.

    >>> rows = [Row("e", "A", "", "m", 1.0, None, p, r, "mse", v) for p, r, v in
    ...         [("a", 0, 1.0), ("a", 1, 3.0), ("b", 0, 1.5), ("b", 1, 1.7), ("c", 0, 0.1)]]
    >>> [(s.parameter, s.mean) for s in summarise(rows)]
    [('b', 1.6)]
    """
    cells: dict[tuple[Any, ...], dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        cells[row.cell][row.parameter].setdefault(row.repeat, row.value)
    out = []
    for cell, grid in cells.items():
        most = max(map(len, grid.values()))
        full = {p: v for p, v in grid.items() if len(v) == most}
        sign = -1.0 if choose == "highest" else 1.0
        for parameter in full if choose == "none" else [min(full, key=lambda p: _score(full[p], sign))]:
            where = dict(zip(Summary._fields, cell, strict=False))
            out.append(Summary(**where, parameter=parameter, values=dict(sorted(full[parameter].items()))))
    return out


def _score(values: dict[int, float], sign: float) -> float:
    return sign * math.fsum(values.values()) / len(values)


def best_rows(rows: Iterable[Row], summaries: Iterable[Summary]) -> list[Row]:
    """Return the rows of the chosen parameters only: what tables and tests over repeats need."""
    chosen = {(s.dataset, s.setting, s.method, s.epsilon, s.x, s.metric, s.parameter) for s in summaries}
    return [row for row in rows if (*row.cell, row.parameter) in chosen]
