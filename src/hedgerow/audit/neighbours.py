"""Neighbours worth trying: where clipping, cutting or an empty cell would show a mistake.

A privacy claim is about *all* pairs of neighbours. These are the pairs at which implementations break: a
record at the end of a range or just beyond it, a value on a cut point, a label at either bound, a table with
nobody in a cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from hedgerow.audit.exact import audit_laws
from hedgerow.audit.result import AuditResult
from hedgerow.errors import HedgerowError
from hedgerow.features import CategoricalFeature, Feature
from hedgerow.grid import check_label_bounds
from hedgerow.mechanisms.base import Law
from hedgerow.partition import Partition
from hedgerow.space import FeatureSpace

__all__ = ["Record", "corner_records", "neighbouring_tables", "worst_pair", "worst_tables"]


class Record(NamedTuple):
    """One person's values, as a holder would give them (categories by name), and the label."""

    features: tuple[float | str, ...]
    label: float


Table = tuple[Record, ...]


def corner_records(
    space: FeatureSpace, label_bounds: tuple[float, float], partition: Partition | None = None
) -> list[Record]:
    """Return records at the corners of the public ranges, of the cells, and just outside.

    All features low, all high, all in the middle; then each feature in turn at its ends, just beyond them, far beyond
    them, missing where that is told, on every cut of the partition and just below it, the others in the middle. Each
    with the label at both bounds; the first also with labels inside and beyond.

    Examples
    --------
    >>> space = FeatureSpace.from_bounds((0, 1), ["x"])
    >>> records = corner_records(space, (0, 80))
    >>> Record((0.0,), 80.0) in records, Record((1.0,), 0.0) in records, len(records)
    (True, True, 25)
    """
    low, high = check_label_bounds(label_bounds)
    ends = [_ends(f) for f in space.columns]
    middle = tuple(_middle(f) for f in space.columns)
    places = [tuple(e[0] for e in ends), tuple(e[1] for e in ends), middle]
    for j, feature in enumerate(space.columns):
        places += [(*middle[:j], v, *middle[j + 1 :]) for v in _telling_values(feature, j, partition)]
    width = high - low
    odd = [(low + high) / 2, *_around(low), *_around(high), low - width, high + width]
    records = [Record(places[0], y) for y in odd]
    records += [Record(p, y) for p in places for y in (low, high)]
    return list(dict.fromkeys(records))


def _ends(feature: Feature) -> tuple[float | str, float | str]:
    if isinstance(feature, CategoricalFeature):
        return feature.categories[0], feature.categories[-1]
    return float(feature.low), float(feature.high)


def _middle(feature: Feature) -> float | str:
    if isinstance(feature, CategoricalFeature):
        return feature.categories[len(feature.categories) // 2]
    return feature.low / 2 + feature.high / 2  # halved first: the sum may overflow


def _around(value: float) -> tuple[float, float]:
    return math.nextafter(value, -math.inf), math.nextafter(value, math.inf)


def _telling_values(feature: Feature, column: int, partition: Partition | None) -> list[float | str]:
    if isinstance(feature, CategoricalFeature):
        return [*feature.categories, ""]
    low = feature.low
    high = feature.high
    far = 10 * (high - low) + 1
    values: list[float | str] = [low, high, *_around(low), *_around(high), low - far, high + far]
    if feature.indicator:
        values.append("")
    if partition is not None:
        cuts = np.unique(partition.threshold[partition.feature == column])
        values += [v for cut in cuts.tolist() for v in (cut, math.nextafter(cut, -math.inf))]
    return values


def worst_pair(
    message_law: Callable[[Record], Law],
    records: Iterable[Record],
    *,
    epsilon: float,
    name: str = "local randomiser",
) -> AuditResult:
    """Audit a local randomiser exactly over all pairs of the given records.

    Examples
    --------
    >>> from hedgerow.mechanisms import KaryResponse
    >>> response = KaryResponse(1.0, 2)
    >>> records = corner_records(FeatureSpace.from_bounds((0, 1), ["x"]), (0, 80))
    >>> worst_pair(lambda r: response.law(int(r.label > 40)), records, epsilon=1.0).verdict
    'holds'
    >>> silent = Law(("nothing",), (1,))  # no report from a record that is out of range
    >>> leak = lambda r: response.law(0) if 0 <= r.label <= 80 else silent
    >>> worst_pair(leak, records, epsilon=1.0).measured
    inf
    """
    return audit_laws(name, ((r, message_law(r)) for r in records), epsilon=epsilon)


def neighbouring_tables(
    records: Sequence[Record], *, neighbours: str, sizes: Iterable[int] = (0, 1, 2)
) -> Iterator[tuple[Table, Table]]:
    """Yield pairs of small tables that differ in one record, for central mechanisms.

    Every table of the given sizes made of ``records`` (repetition allowed), against each table with one
    record more ("add/remove"), or with one record replaced ("replace"). Cells then hold 0, 1 or 2 records.

    Examples
    --------
    >>> people = [Record((0.0,), 0.0), Record((1.0,), 1.0)]
    >>> len(list(neighbouring_tables(people, neighbours="add/remove")))
    12
    """
    if neighbours not in ("add/remove", "replace"):
        raise HedgerowError(f"neighbours must be 'add/remove' or 'replace'. Got {neighbours!r} instead.")
    for size in sizes:
        for table in combinations_with_replacement(records, size):
            if neighbours == "add/remove":
                yield from ((table, (*table, r)) for r in records)
            else:
                yield from ((table, (*table[:-1], r)) for r in records if table and r != table[-1])


def worst_tables(
    table_law: Callable[[Table], Law],
    pairs: Iterable[tuple[Table, Table]],
    *,
    epsilon: float,
    name: str = "central mechanism",
) -> AuditResult:
    """Audit a central mechanism exactly on each pair of neighbouring tables; return the worst result."""
    known: dict[Hashable, Law] = {}

    def law(table: Table) -> tuple[Hashable, Law]:
        if table not in known:
            known[table] = table_law(table)
        return table, known[table]

    results = [audit_laws(name, [law(one), law(two)], epsilon=epsilon) for one, two in pairs]
    if not results:
        raise HedgerowError("'pairs' must hold at least one pair of tables. Got none.")
    return max(results, key=lambda r: (not r.holds, r.measured))
