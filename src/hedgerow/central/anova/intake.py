"""Records that are read in batches: counted in a first read, coded in a second one, on disk between the rounds."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.central.anova.accounting import Purse
from hedgerow.central.anova.cluster import ClusterIntake
from hedgerow.central.anova.coded import CodedRows, Drawn, Records, Table, code_columns, code_labels, code_records
from hedgerow.central.anova.counted import Counted, count_batches
from hedgerow.central.anova.quantiles import Quantiles
from hedgerow.central.anova.reading import Reading
from hedgerow.cluster import ambient_client
from hedgerow.content import canonical
from hedgerow.errors import HedgerowError
from hedgerow.randomness import Randomness
from hedgerow.sources import Source
from hedgerow.sources.dask import DaskSource
from hedgerow.sources.held import HeldSource
from hedgerow.sources.spool import Spool, open_spool
from hedgerow.space import FeatureSpace
from hedgerow.types import IntArray

__all__ = ["Intake", "open_records"]


class Intake:
    """Private records of a source: each of two reads takes them batch by batch, and what is coded goes to the spool.

    A fit that was killed finds both reads there: counts, which no noise is in, the quantiles that were released of
    them, and codes, which are used again only if the quantiles are the same, to the last bit.
    """

    def __init__(self, source: Source, reading: Reading, spool: Spool) -> None:
        self.source = source
        self.reading = reading
        self.spool = spool
        self.counted = self._count()
        self._coded: tuple[str, CodedRows] | None = None

    @property
    def outputs(self) -> int:
        """How many labels a record has."""
        return self.reading.labels.outputs

    def _count(self) -> Counted:
        kept = self.spool.get("counted")
        if kept is not None:
            bins = self.spool.written("bins", tuple(kept["shape"]), np.int64)
            return Counted(kept["rows"], np.array(bins), kept["labels"], np.array(kept["columns"], dtype=bool))
        total = count_batches(self.reading, self.source.batches(), typed=self.source.typed)
        if self.spool.folder is not None:
            matrix = self.spool.matrix("bins", (total.bins.shape[0], total.bins.shape[1]), np.int64)
            matrix.write(0, total.bins)
            matrix.read()
        facts = {"rows": total.rows, "labels": total.labels, "columns": total.columns.tolist()}
        self.spool.keep("counted", {**facts, "shape": list(total.bins.shape)})
        return total

    def counts(self, space: FeatureSpace) -> tuple[int, IntArray]:
        """Return the number of records, and how many are in each of the finest bins (private)."""
        return self.counted.rows, self.counted.bins

    def once(self, draw: Callable[[], Drawn], purse: Purse, randomness: Randomness) -> Drawn:
        """Return the quantiles: drawn, or as they were drawn before the fit was killed, at the price they had.

        Records were coded by them. Drawn again, they would be a second answer to the same question; kept, they are the
        one answer that is published. A seed draws the same again, which the noise to come is to follow.
        """
        kept = self.spool.get("released")
        if kept is not None and not randomness.simulation:
            purse.charge(Fraction(kept["spent"]))
            return {int(j): Quantiles.from_json(text) for j, text in kept["quantiles"].items()}, kept["size"]
        before = purse.spent
        quantiles, size = draw()
        texts = {str(j): quantiles[j].to_json() for j in quantiles}
        self.spool.keep("released", {"quantiles": texts, "size": size, "spent": str(purse.spent - before)})
        return quantiles, size

    def coded(self, space: FeatureSpace, quantiles: Mapping[int, Quantiles]) -> CodedRows:
        """Return them as the descent reads them, through a memory map."""
        texts = [[j, quantiles[j].to_json()] for j in sorted(quantiles)]
        digest = hashlib.sha256(canonical(texts).encode()).hexdigest()
        if self._coded is None or self._coded[0] != digest:
            rows = self._written(space) if self.spool.get("coded") == digest else self._code(space, quantiles, digest)
            self._coded = digest, rows
        return self._coded[1]

    def _shapes(self, space: FeatureSpace) -> dict[str, tuple[tuple[int, int], type[np.generic]]]:
        n = self.counted.rows
        out: dict[str, tuple[tuple[int, int], type[np.generic]]] = {
            "codes": ((len(code_columns(space)), n), np.uint8),
            "targets": ((self.outputs, n), np.int32),
        }
        if self.reading.public is not None:
            out["base"] = ((self.outputs, n), np.int32)
        return out

    def _written(self, space: FeatureSpace) -> CodedRows:
        """Return what an earlier run has coded."""
        shapes = self._shapes(space)
        return CodedRows(**{name: self.spool.written(name, *about) for name, about in shapes.items()})

    def _code(self, space: FeatureSpace, quantiles: Mapping[int, Quantiles], digest: str) -> CodedRows:
        self.spool.keep("coded", None)
        room = {name: self.spool.matrix(name, *about) for name, about in self._shapes(space).items()}
        done = 0
        for batch in self.source.batches():
            found = self.reading.encoded(batch)
            room["codes"].write(done, code_records(space, quantiles, found.Z))
            room["targets"].write(done, code_labels(found.targets))
            if found.base is not None:
                room["base"].write(done, code_labels(found.base))
            done += batch.rows
        if done != self.counted.rows:
            raise HedgerowError("the records have changed while they were read: there are fewer now. Start again.")
        rows = CodedRows(**{name: matrix.read() for name, matrix in room.items()})
        self.spool.keep("coded", digest)
        return rows


@contextmanager
def open_records(
    source: Source, reading: Reading, work: list[Any], folder: str | os.PathLike[str] | None
) -> Iterator[tuple[Records, Counted, Spool]]:
    """Yield the records of a source, what was counted of them, and the spool: in memory, on a cluster, or on disk."""
    with open_spool(folder) as spool:
        spool.begin(work)
        if isinstance(source, HeldSource):
            (batch,) = source.batches()
            held = reading.labels.holds(batch.labels, batch.rows)
            everything = np.full(len(reading.columns.inputs), True)
            none = np.empty((0, 0), dtype=np.int64)  # counted when they are asked for
            yield Table(*reading.encoded(batch)), Counted(batch.rows, none, held, everything), spool
            return
        with _cluster(source) as client:
            if client is None:
                intake = Intake(source, reading, spool)
                yield intake, intake.counted, spool
            else:
                spread = ClusterIntake(client, source, reading)
                yield spread, spread.counted, spool


@contextmanager
def _cluster(source: Source) -> Iterator[Any]:
    """Yield the client of a source's cluster: its own, or of a collection the ambient one; None without one."""
    if source.client is not None or not isinstance(source, DaskSource):
        yield source.client
        return
    with ambient_client() as client:
        yield client
