"""The figures that the papers print, by experiment, for tables that set them beside ours.

They are kept with the results (``data/printed.csv``), so that every table can be written again from the repository.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from hedgerow_experiments.tables import Table, tabulate
from hedgerow_experiments.tidy import Summary

__all__ = ["Printed", "beside_the_paper", "collect", "namesake", "over", "read_printed", "write_printed"]

FILE = Path("data") / "printed.csv"

_FORESTS = {
    "Parkinsons": "PAR", "Appliances": "APP", "Traffic": "MET", "Turbine": "GAS", "Flight": "FLI", "Banknote": "BAN",
    "CreditCard": "CRE", "Robot": "ROB", "Higgs": "HIG", "PUC-Rio": "HAR",
}  # fmt: skip
_OTHER_SCALE = ("CBM",)
"""Data sets whose label the LPDT paper scales in a way that it does not print: no figure to compare with."""


class Printed(NamedTuple):
    """One printed figure; ``epsilon`` is None where there is none."""

    experiment: str
    setting: str
    dataset: str
    method: str
    epsilon: float | None
    value: float


def _rows(path: Path) -> Iterator[dict[str, str]]:
    if path.exists():
        with path.open(newline="") as file:
            yield from csv.DictReader(file)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def collect(folder: Path) -> list[Printed]:
    """Return the figures of a folder of transcribed tables, one file a paper."""
    found: list[tuple[str, str, str, str, float | None, float | None]] = []
    for r in _rows(folder / "lpdt_mse.csv"):
        if r["dataset"] not in _OTHER_SCALE:
            found.append(("lpdt-table2", "", r["dataset"], r["method"], _number(r["epsilon"]), _number(r["mse"])))
    for r in _rows(folder / "lpdt_public_only.csv"):
        if r["dataset"] not in _OTHER_SCALE:
            found.append(("lpdt-table2", "", r["dataset"], "DT-pub", None, _number(r["DT-pub"])))
    for r in _rows(folder / "histoftree_mse_ratio.csv"):
        mask = "personal" if r["preference"].startswith("person") else "aligned"
        value = _number(r["mse_over_dt"])
        found.append(("histoftree", mask, r["dataset"], r["method"], _number(r["epsilon"]), value))
    for r in _rows(folder / "rpwithprior_mse.csv"):
        found.append(("label", "network", r["dataset"], r["mechanism"], _number(r["epsilon"]), _number(r["mse"])))
    for r in _rows(folder / "diprime.csv"):
        table = "2" if r["metric"] == "accuracy" else "1"
        code = _FORESTS.get(r["dataset"], r["dataset"])
        found.append(("diprime", table, code, r["method"], _number(r["epsilon"]), _number(r["value"])))
    return [Printed(*row[:5], row[5]) for row in found if row[5] is not None]


def write_printed(figures: Iterable[Printed], folder: Path) -> Path:
    """Write ``data/printed.csv``."""
    path = folder / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(Printed._fields)
        out.writerows([*p[:4], "" if p.epsilon is None else f"{p.epsilon:g}", f"{p.value:.10g}"] for p in figures)
    return path


def read_printed(folder: Path) -> list[Printed]:
    """Return the figures in ``data/printed.csv``; none if it is not there."""
    return [
        Printed(r["experiment"], r["setting"], r["dataset"], r["method"], _number(r["epsilon"]), float(r["value"]))
        for r in _rows(folder / FILE)
    ]


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
