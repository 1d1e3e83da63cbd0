"""Records on a Dask cluster: workers read, count and code their parts, and keep the codes in memory.

A round is one task for each worker, which answers with whole numbers: their sum is the same wherever the parts are, in
any order, and whoever was asked twice. Of a worker that is lost Dask makes the parts again from the source. Noise is
drawn by the client alone, once, when a sum is complete.

Workers see private records: the cluster is as trusted as whoever fits. What travels in a round are coefficients and
sums without noise, which only the client may see; connections between machines should be encrypted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from operator import add
from typing import Any, cast

import numpy as np

from hedgerow.central.anova.accounting import Purse
from hedgerow.central.anova.coded import CodedRows, Drawn, code_labels, code_records
from hedgerow.central.anova.counted import Counted, count_batches
from hedgerow.central.anova.products import Products
from hedgerow.central.anova.quantiles import Quantiles
from hedgerow.central.anova.reading import Encoded, Reading
from hedgerow.central.anova.rows import Clip, Rows, Term
from hedgerow.randomness import Randomness
from hedgerow.sources import Batch, Part, Source
from hedgerow.sources.dask import DaskPart, cut
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray, IntArray

__all__ = ["ClusterIntake", "ClusterRows", "SpreadRows"]

_PIECE = 1 << 20  # records of a part, where they can be cut: what is lost with a worker, and read again, at most
_BRANCHES = 8  # counts that one task adds
_RETRIES = 3  # of a task whose worker was lost; Dask has no retries by default


class ClusterIntake:
    """Private records of a source whose parts the workers read: once to count, once to code."""

    def __init__(self, client: Any, source: Source, reading: Reading) -> None:
        self.client = client
        self.source = source
        self.reading = reading
        self._parts = source.pieces(_PIECE)
        self.counted = self._count()
        self._coded: tuple[Mapping[int, Quantiles], SpreadRows] | None = None

    @property
    def outputs(self) -> int:
        """How many labels a record has."""
        return self.reading.labels.outputs

    def _each(self, function: Any) -> list[Any]:
        """Return futures of ``function(batches)`` of every part; a partition of a collection is computed there."""
        out = []
        for part in self._parts:
            if isinstance(part, DaskPart):
                from dask import delayed

                own = partial(_of_partition, function, part.names, part.label_columns)
                out.append(self.client.compute(delayed(own, pure=False)(part.table, part.labels), retries=_RETRIES))
            else:
                out.append(self.client.submit(_of_part, function, part, pure=False, retries=_RETRIES))
        return out

    def _count(self) -> Counted:
        """Count on the workers, and add up a few counts at a time: they have some megabytes each."""
        typed = self.source.typed
        found = self._each(partial(_count, self.reading, typed))
        while len(found) > 1:
            groups = [found[i : i + _BRANCHES] for i in range(0, len(found), _BRANCHES)]
            found = [self.client.submit(_add, group, pure=False, retries=_RETRIES) for group in groups]
        return sum(self.client.gather(found), count_batches(self.reading, [], typed=typed))

    def counts(self, space: FeatureSpace) -> tuple[int, IntArray]:
        """Return the number of records, and how many are in each of the finest bins (private)."""
        return self.counted.rows, self.counted.bins

    def once(self, draw: Callable[[], Drawn], purse: Purse, randomness: Randomness) -> Drawn:
        """Draw the quantiles."""
        return draw()

    def coded(self, space: FeatureSpace, quantiles: Mapping[int, Quantiles]) -> SpreadRows:
        """Return them as the descent reads them, each part on the worker that read it."""
        if self._coded is None or self._coded[0] is not quantiles:
            parts = self._each(partial(_code, self.reading, dict(quantiles)))
            self._coded = quantiles, SpreadRows(self.client, parts, self.outputs)
        return self._coded[1]


class SpreadRows:
    """Coded records on the workers."""

    def __init__(self, client: Any, parts: list[Any], outputs: int) -> None:
        self.client = client
        self.parts = parts
        self.outputs = outputs

    def over(self, products: Products, jobs: int | None = None) -> ClusterRows:
        """Return what sums over these records, in the functions of a feature map, by so many threads a worker."""
        return ClusterRows(self.client, products, self._groups(), self.outputs, jobs)

    def _groups(self) -> list[tuple[str, list[Any]]]:
        """Return the parts by the worker that has them."""
        from distributed import wait

        wait(self.parts)
        where = self.client.who_has(self.parts)
        groups: dict[str, list[Any]] = defaultdict(list)
        for part in self.parts:
            groups[next(iter(where.get(part.key, ())), "")].append(part)
        return list(groups.items())


class ClusterRows:
    """Sums over records on the workers: one task for each of them."""

    def __init__(
        self,
        client: Any,
        products: Products,
        groups: list[tuple[str, list[Any]]],
        outputs: int,
        jobs: int | None = None,
    ) -> None:
        self.client = client
        self.products = products
        self._shape = (len(products), outputs)
        self._rows = []
        for worker, parts in groups:
            # If that worker is lost another one takes its place.
            place = {"workers": [worker], "allow_other_workers": True} if worker else {}
            self._rows.append(client.submit(_open, products, parts, jobs, pure=False, retries=_RETRIES, **place))

    def _sum(self, function: Any, *arguments: Any) -> Any:
        tasks = [self.client.submit(function, r, *arguments, pure=False, retries=_RETRIES) for r in self._rows]
        return sum(self.client.gather(tasks))

    def gradient(self, theta: FloatArray, clip: Clip) -> IntArray:
        """Return the exact sum of ``q_i W_m b_m``, of shape (p, outputs)."""
        return np.asarray(self._sum(_gradient, theta, clip) + np.zeros(self._shape, dtype=np.int64))

    def total(self, theta: FloatArray, term: Term) -> IntArray | int:
        """Return the sum of ``term(targets, base, predictions)`` over all records."""
        total: IntArray | int = self._sum(_total, theta, term)
        return total

    def moments(self, chosen: IntArray) -> IntArray:
        """Return the exact sum of ``u_a u_b`` over all records, of shape (chosen, chosen)."""
        none = np.zeros((chosen.size, chosen.size), dtype=np.int64)
        return np.asarray(self._sum(_moments, chosen) + none)


def _of_part(function: Any, part: Part) -> Any:
    return function(part.batches())


def _of_partition(function: Any, names: list[str] | None, label_columns: list[str], table: Any, labels: Any) -> Any:
    return function([cut(table, labels, names, label_columns)])


def _count(reading: Reading, typed: bool, batches: Iterable[Batch]) -> Counted:
    return count_batches(reading, batches, typed=typed)


def _add(parts: Sequence[Counted]) -> Counted:
    return reduce(add, parts)


def _code(reading: Reading, quantiles: Mapping[int, Quantiles], batches: Iterable[Batch]) -> CodedRows:
    blocks = [_coded(reading, quantiles, batch) for batch in batches]
    if not blocks:
        blocks = [_coded_records(reading, quantiles, _nothing(reading))]
    base = None
    if reading.public is not None:
        base = np.concatenate([cast("Any", block.base) for block in blocks], axis=1)
    codes = np.concatenate([block.codes for block in blocks], axis=1)
    return CodedRows(codes, np.concatenate([block.targets for block in blocks], axis=1), base)


def _coded(reading: Reading, quantiles: Mapping[int, Quantiles], batch: Batch) -> CodedRows:
    return _coded_records(reading, quantiles, reading.encoded(batch))


def _coded_records(reading: Reading, quantiles: Mapping[int, Quantiles], found: Encoded) -> CodedRows:
    base = None if found.base is None else code_labels(found.base)
    return CodedRows(code_records(reading.space, quantiles, found.Z), code_labels(found.targets), base)


def _nothing(reading: Reading) -> Encoded:
    none = np.empty((0, reading.labels.outputs))
    return Encoded(np.empty((0, len(reading.space))), none, None if reading.public is None else none)


def _open(products: Products, parts: Sequence[CodedRows], jobs: int | None) -> list[Rows]:
    return [part.over(products, jobs) for part in parts]


def _gradient(rows: Sequence[Rows], theta: FloatArray, clip: Clip) -> IntArray:
    return sum((r.gradient(theta, clip) for r in rows), np.zeros((), dtype=np.int64))


def _total(rows: Sequence[Rows], theta: FloatArray, term: Term) -> IntArray | int:
    return sum(r.total(theta, term) for r in rows)


def _moments(rows: Sequence[Rows], chosen: IntArray) -> IntArray:
    return sum((r.moments(chosen) for r in rows), np.zeros((), dtype=np.int64))
