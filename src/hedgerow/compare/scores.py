"""Scores as rows, one number each, and their summaries over repeats."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Row", "Summary", "number", "summarise"]


class Row(NamedTuple):
    """One number: the score of a method with one parameter in one repeat.

    ``epsilon`` is None where there is none; ``x`` is the abscissa of a curve where it is not epsilon; ``setting`` tells
    apart what shares data, method and epsilon (a table, a figure, a learner). ``code`` is a digest of the code that it
    was computed by, where that is known.
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
    code: str = ""

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


def number(value: float | None) -> str:
    """Return three significant digits, plainly where that is readable.

    >>> [number(v) for v in (0.12345, 1.0, 12345.6, 1234567.0, 0.0, 0.000012, None)]
    ['0.123', '1', '12346', '1.23e+06', '0', '1.2e-05', '-']
    """
    if value is None or math.isnan(value):
        return "-"
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) >= 999.5 else f"{value:.3g}"
