"""Results as rows: one number each, whatever the experiment; summaries and committed files are made from them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from hedgerow.compare.scores import Row, Summary, summarise
from hedgerow_experiments.experiment import Experiment, Key, call
from hedgerow_experiments.results import Results

__all__ = ["best_rows", "by_metric", "in_order", "kept_rows", "row_of", "rows_of", "standard"]


_STANDARD = "hedgerow_experiments.tidy:standard"


def row_of(experiment: Experiment, key: Key, value: float, **other: Any) -> Row:
    """Return a row of a cell: the group is the method, unless something else is said of any field."""
    row = Row(
        experiment.name, key.dataset, key.setting, key.group, key.epsilon or None, None, "", key.repeat,
        experiment.metric, float(value),
    )  # fmt: skip
    return row._replace(**other)


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
            yield row_of(experiment, key, score, method=method, parameter=parameter)


def by_metric(experiment: Experiment, key: Key, value: dict[str, float]) -> Iterator[Row]:
    """Yield the rows of ``{metric: number}``, of the method that the key names."""
    for metric, score in value.items():
        yield row_of(experiment, key, score, metric=metric)


def rows_of(experiment: Experiment, results: Iterable[tuple[Any, Any]]) -> list[Row]:
    """Return all results of an experiment as rows, in a fixed order; with their code, where that is known."""
    return _tidied(experiment, results, _codes(results))


def _codes(results: Iterable[tuple[Any, Any]]) -> dict[Any, str]:
    return results.codes if isinstance(results, Results) else {}


def _tidied(experiment: Experiment, results: Iterable[tuple[Any, Any]], codes: dict[Any, str]) -> list[Row]:
    tidy = call(experiment.tidy)
    found = [
        row._replace(code=codes.get(key, ""))
        for key, value in results
        for row in tidy(experiment, Key.read(key), value)
    ]
    return sorted(found, key=in_order)


def kept_rows(experiment: Experiment, results: Iterable[tuple[Any, Any]]) -> list[Row]:
    """Return the rows that are committed: those of the chosen parameters, or all if the experiment says so.

    The same as :func:`best_rows` of everything, but lists over a grid are searched before they become rows: a large
    table has millions.
    """
    if experiment.keep == "all":
        return rows_of(experiment, results)
    codes = _codes(results)
    lists: dict[tuple[Any, ...], dict[int, list[float]]] = defaultdict(dict)
    rest = []
    for raw, value in results:
        key = Key.read(raw)
        grids = experiment.tidy == _STANDARD and experiment.choose != "none"
        found = {m for m, v in value.items() if isinstance(v, list) and experiment.grid(m)} if grids else set()
        for method in found:
            lists[key.dataset, key.setting, key.epsilon, key.group, method].setdefault(key.repeat, value[method])
        rest.append((raw, {m: v for m, v in value.items() if m not in found} if found else value))
    rows = _tidied(experiment, rest, codes)
    rows = best_rows(rows, summarise(rows, experiment.choose))
    for (dataset, setting, epsilon, group, method), scores in lists.items():
        where = _best_place(experiment, method, scores)
        for repeat, values in scores.items():
            key = Key(dataset, repeat, setting, epsilon, group)
            own = standard(experiment, key, {method: {where[1]: values[where[0]]}})
            rows += (row._replace(code=codes.get(key.write(), "")) for row in own)
    return sorted(rows, key=in_order)


def _best_place(experiment: Experiment, method: str, scores: dict[int, list[float]]) -> tuple[int, str]:
    """Return the place in the grid, and the name, of the parameter that :func:`summarise` would choose."""
    grid = experiment.grid(method)
    assert grid is not None
    table = np.array(list(scores.values()))
    sign = -1.0 if experiment.choose == "highest" else 1.0
    names = sorted((name, i) for i, name in enumerate(grid.points()))
    name, i = min(names, key=lambda place: sign * math.fsum(table[:, place[1]]))
    return i, name


def in_order(row: Row) -> tuple[Any, ...]:
    """Return what rows are sorted by."""
    missing = -math.inf
    return (
        row.dataset, row.setting, row.method, missing if row.epsilon is None else row.epsilon,
        missing if row.x is None else row.x, row.metric, row.parameter, row.repeat,
    )  # fmt: skip


def best_rows(rows: Iterable[Row], summaries: Iterable[Summary]) -> list[Row]:
    """Return the rows of the chosen parameters only: what tables and tests over repeats need."""
    chosen = {(s.dataset, s.setting, s.method, s.epsilon, s.x, s.metric, s.parameter) for s in summaries}
    return [row for row in rows if (*row.cell, row.parameter) in chosen]
