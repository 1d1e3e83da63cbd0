"""Small tables at which a fit would give itself away, and their neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.types import IntArray

__all__ = [
    "Case",
    "Neighbour",
    "Table",
    "classes_of",
    "label_cases",
    "many_cases",
    "more_cases",
    "odd_cases",
    "record_cases",
    "replaced_cases",
    "triple_cases",
]

Array = npt.NDArray[Any]
Record = tuple[tuple[float, ...], Any]


@dataclass(frozen=True, eq=False)
class Table:
    """Private records: rows of features in [0, 1], and labels in [0, 1] (one or several columns).

    ``records`` says which record of the table that it is compared with each one is, so that coins stay with their
    records; by default they stand in the same places.
    """

    name: str
    X: Array
    y: Array
    records: IntArray | None = None

    def __len__(self) -> int:
        return len(self.X)

    def added(self, record: Record, *, first: bool = False) -> Table:
        """Return the table with one record more, at its end or at its beginning."""
        x, y = (np.array(part)[None] for part in record)
        if not first:
            return Table(f"{self.name} and {record}", np.concatenate([self.X, x]), np.concatenate([self.y, y]))
        numbers = np.roll(np.arange(len(self) + 1), 1)
        return Table(f"{record} and {self.name}", np.concatenate([x, self.X]), np.concatenate([y, self.y]), numbers)

    def replaced(self, place: int, record: Record) -> Table:
        """Return the table with another record in one place."""
        X = self.X.copy()
        y = self.y.copy()
        X[place], y[place] = record
        return Table(f"{self.name}, record {place} now {record}", X, y)


@dataclass(frozen=True, eq=False)
class Neighbour:
    """Another table; ``steps`` of add/remove (or changed labels) away, or None where there is no relation."""

    table: Table
    steps: int | None


@dataclass(frozen=True, eq=False)
class Case:
    """A table that is fitted, and tables to which the same outputs are forced."""

    table: Table
    neighbours: tuple[Neighbour, ...]


def _clusters(n_low: int = 19, n_high: int = 13) -> Table:
    """Return two clusters in opposite corners, with opposite labels: every cut between them is equally good.

    A record just below the far corner, with the label of that corner, adds nothing to the cost of all these cuts but
    one, and to that one all that a record can add. Both numbers are odd: records that are dealt in turn, by place or by
    label, change hands when one is added.
    """
    high = np.arange(n_low + n_high) >= n_low
    return Table("two clusters", np.repeat(high[:, None], 2, axis=1).astype(np.float64), high.astype(np.float64))


def _others() -> list[Table]:
    rng = np.random.default_rng(0)
    one = Table("one record", np.array([[0.3, 0.7]]), np.array([0.25]))
    few = Table("two alike and a third", np.array([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]), np.array([0.0, 0.0, 1.0]))
    return [one, few, Table("all over", rng.random((45, 2)), rng.random(45))]


def _crowd(n: int = 600) -> Table:
    """Return so many records that a depth or a number of stages that depends on them is another."""
    rng = np.random.default_rng(3)
    return Table("a crowd", rng.random((n, 2)), rng.random(n))


# Records near a corner with labels at either end: where a split or a leaf moves most.
_TELLING: list[Record] = [((0.95, 0.999), 1.0), ((0.999, 0.95), 0.0)]
_CORNERS: list[Record] = [
    ((0.0, 0.0), 0.0),
    ((1.0, 1.0), 0.0),
    ((0.0, 1.0), 1.0),
    ((0.5, 0.5), 0.5),
    ((-1e300, 1e300), 1e9),
    ((np.nextafter(1.0, 2.0), -5e-324), -7.0),
]

_ODD: list[Record] = [
    ((np.nan, 0.5), 0.5),
    ((np.inf, -np.inf), 1.0),
    ((0.2, 0.8), np.nan),
    ((0.9, np.nan), np.inf),
]
"""Records that no range holds: missing and infinite values. As a class, a missing label is one that is not listed."""


def odd_cases(*, quick: bool) -> list[Case]:
    """Return a table to which odd records are added: they are absorbed, in silence."""
    table = _others()[2]
    found = [Neighbour(table.added(record), 1) for record in _ODD]
    found += [Neighbour(table.replaced(place, record), 2) for place, record in enumerate(_ODD)]
    return [Case(table, tuple(found[2:4] if quick else found))]


def record_cases(*, quick: bool) -> list[Case]:
    """Return tables with neighbours: a record more, one less, one replaced; then tables that have no relation.

    An unrelated table says nothing about costs. It must give the same publication all the same, once the outputs of
    all releases are forced: what is not released must not matter, be it one record or all.
    """
    clusters = _clusters()
    others = _others()
    if quick:
        told = clusters.added(_TELLING[0])
        grown = [Neighbour(clusters.added(record, first=bool(k)), 1) for k, record in enumerate(_TELLING)]
        return [
            Case(clusters, (*grown, Neighbour(others[0], None), Neighbour(_crowd(), None))),
            Case(told, (Neighbour(told.replaced(-1, _TELLING[1]), 2), Neighbour(told.replaced(0, _CORNERS[4]), 2))),
        ]
    told = clusters.added(_TELLING[0])
    records = [*_TELLING, *_CORNERS]
    cases = [_case(clusters, records, records[1::2], [others[0], _crowd()]), _case(told, [], records[1::2], others[2:])]
    return cases + [_case(table, records[1:7:2], records[::4], [others[k - 1]]) for k, table in enumerate(others)]


def replaced_cases(*, quick: bool) -> list[Case]:
    """Return those of :func:`record_cases` with as many records: for fits that take their number as public."""
    out = []
    for case in record_cases(quick=quick):
        found = [other for other in case.neighbours if len(other.table) == len(case.table)]
        out.append(Case(case.table, (*found, Neighbour(_crowd(len(case.table)), None))))
    return out


def _case(table: Table, more: list[Record], instead: list[Record], unrelated: list[Table]) -> Case:
    """Return a table with records added (at the end, some in front), replaced (in the last place, and others)."""
    found = [Neighbour(table.added(record, first=k % 3 == 1), 1) for k, record in enumerate(more)]
    places = (len(table) - 1, 0, len(table) // 2)
    found += [Neighbour(table.replaced(places[k % 3], record), 2) for k, record in enumerate(instead)]
    if len(table) > 1:
        found.append(Neighbour(Table(f"{table.name} without its last", table.X[:-1], table.y[:-1]), 1))
    found += [Neighbour(other, None) for other in unrelated]
    return Case(table, tuple(found))


def many_cases(*, quick: bool, n: int = 2500) -> list[Case]:
    """Return a table that is large enough, from epsilon 0.5 on, for deep trees, two stages and pairs of features."""
    rng = np.random.default_rng(2)
    X = rng.random((n, 2))
    y = np.clip(0.5 * X[:, 0] + 0.5 * (X[:, 0] > 0.5) * (X[:, 1] > 0.5) + rng.normal(0, 0.05, n), 0.0, 1.0)
    table = Table("many", X, y)
    found = [
        Neighbour(table.added(_CORNERS[1]), 1),
        Neighbour(table.added(_CORNERS[2], first=True), 1),
        Neighbour(table.replaced(0, _TELLING[1]), 2),
        Neighbour(_others()[0], None),
    ]
    return [Case(table, tuple(found[:2] if quick else found))]


def more_cases(*, quick: bool) -> list[Case]:
    """Return a table that is large enough for steps by an eigenvalue."""
    return many_cases(quick=quick, n=12_000)


def triple_cases(*, quick: bool, n: int = 16_000) -> list[Case]:
    """Return a table that is large and clear enough for products of three features."""
    rng = np.random.default_rng(4)
    X = rng.random((n, 3))
    y = np.clip(0.5 + np.prod(2.0 * X - 0.5, axis=1) / 4, 0.0, 1.0)
    table = Table("three together", X, y)
    found = [
        Neighbour(table.added(((1.0, 1.0, 1.0), 0.0)), 1),
        Neighbour(table.added(((0.0, 0.0, 1.0), 1.0), first=True), 1),
        Neighbour(table.replaced(0, ((0.95, 0.0, 0.999), 1.0)), 2),
        Neighbour(Table("one of three features", np.array([[0.3, 0.7, 0.1]]), np.array([0.25])), None),
    ]
    return [Case(table, tuple(found[::3] if quick else found))]


def label_cases(*, quick: bool, n: int = 60) -> list[Case]:
    """Return labels of public features: one label changed at a time, then all of them."""
    rng = np.random.default_rng(1)
    X = rng.random((n, 2))
    X[0], X[-1] = 0.0, 1.0
    labels = {"a slope": X[:, 0], "all at the top": np.ones(n)}
    cases = []
    for name, y in labels.items():
        table = Table(name, X, y)
        found = list[Neighbour]()
        # Some of these holders scout for a prior, others do not.
        places = (0, 1, n - 1) if quick else (0, 1, 2, n - 1)
        for place in places:
            opposite = 0.0 if y[place] > 0.5 else 1.0
            values = (opposite,) if quick else (opposite, 0.5, -1e300, np.inf, np.nan)
            found += [Neighbour(_relabelled(table, place, value), 1) for value in values]
        found += [Neighbour(Table(other, X, labels[other]), None) for other in labels if other != name]
        found.append(Neighbour(Table("beyond the bounds", X, 1e6 * (y - 0.5)), None))
        cases.append(Case(table, tuple(found)))
    return cases[:1] if quick else cases


def _relabelled(table: Table, place: int, value: float) -> Table:
    y = table.y.copy()
    y[place] = value
    return Table(f"{table.name}, label {place} now {value}", table.X, y)


def classes_of(y: Array, k: int) -> npt.NDArray[np.int64]:
    """Return labels in [0, 1] as one of k classes; a missing one is a class that is not among them.

    >>> classes_of(np.array([0.0, 0.5, 1.0, 7.0, np.nan]), 3).tolist()
    [0, 1, 2, 2, 99]
    """
    absent = np.isnan(y)
    y = np.where(absent, 0.0, y)
    codes = np.minimum(np.floor(np.clip(y, 0.0, 1.0) * k), k - 1)
    return np.asarray(np.where(absent, 99, codes), dtype=np.int64)
