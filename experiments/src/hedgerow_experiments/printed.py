"""The figures that the papers print, by experiment, for tables that set them beside ours.

They are kept with the results (``data/printed.csv``), so that every table can be written again from the repository.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from hedgerow.compare.scores import Summary
from hedgerow_experiments.tables import Table, tabulate

__all__ = ["Printed", "beside_the_paper", "namesake", "over", "read_printed"]

FILE = Path("data") / "printed.csv"


class Printed(NamedTuple):
    """One printed figure; ``epsilon`` and ``deviation`` (over the paper's runs) are None where there are none."""

    experiment: str
    setting: str
    dataset: str
    method: str
    epsilon: float | None
    value: float
    deviation: float | None = None


def read_printed(folder: Path) -> list[Printed]:
    """Return the figures in ``data/printed.csv``; none if it is not there."""
    path = folder / FILE
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [
            Printed(r["experiment"], r["setting"], r["dataset"], r["method"], _number(r["epsilon"]), float(r["value"]),
                    _number(r["deviation"]))
            for r in csv.DictReader(file)
        ]  # fmt: skip


def _number(text: str) -> float | None:
    return float(text) if text else None


def over(summaries: Iterable[Summary], base: Iterable[Summary]) -> list[Summary]:
    """Return errors divided by the mean error of ``base`` on the same data set, as the HistOfTree paper prints them."""
    floor = {s.dataset: s.mean for s in base}
    return [
        s._replace(values={r: v / floor[s.dataset] for r, v in s.values.items()}, metric="mse over DT")
        for s in summaries
        if s.dataset in floor
    ]


def beside_the_paper(
    summaries: Iterable[Summary], printed: Iterable[Printed], *, epsilon: float | None, **options: object
) -> Table:
    """Return a table of data sets by methods at one epsilon, with the printed figures beside ours.

    What does not depend on epsilon is in every table; a variant (``LPDT-M+blend``) has its namesake's figure.
    """
    cells = [s for s in summaries if s.epsilon in (epsilon, None)]
    known = {(p.dataset, p.method): p.value for p in printed if p.epsilon in (epsilon, None)}
    methods = dict.fromkeys(s.method for s in cells)
    paper = {(d, m): v for (d, plain), v in known.items() for m in methods if namesake(m) == plain}
    return tabulate(cells, paper=paper, **options)  # type: ignore[arg-type]


def namesake(method: str) -> str:
    """Return the method whose printed figure a variant is set beside.

    >>> namesake("LPDT-M+blend"), namesake("HistOfTree-ME (9)")
    ('LPDT-M', 'HistOfTree-ME')
    """
    return method.removesuffix(" (9)").split("+")[0]
