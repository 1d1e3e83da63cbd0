"""Records in a Dask collection: a data frame or an array in partitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.errors import BoundsError, HedgerowError
from hedgerow.frames import take_columns
from hedgerow.sources.base import Batch, Source, label_names

__all__ = ["DaskPart", "DaskSource", "cut"]


def cut(table: Any, labels: Any, names: list[str] | None, label_columns: list[str]) -> Batch:
    """Return a partition as a batch: features, and labels from columns of it or beside it."""
    if names is None or not label_columns:
        features = table if names is None else take_columns(table, names)
        return Batch(features, [labels] if getattr(labels, "ndim", 1) == 1 else list(labels.T))
    return Batch(take_columns(table, names), [table[name] for name in label_columns])


@dataclass(eq=False)
class DaskPart:
    """One partition, and its labels if they are a collection of their own."""

    table: Any
    labels: Any
    names: list[str] | None
    label_columns: list[str]

    def batches(self) -> Iterator[Batch]:
        """Compute it."""
        import dask

        table, labels = dask.compute(self.table, self.labels)
        yield cut(table, labels, self.names, self.label_columns)

    def share(self) -> float:
        """Return 1: it is read at once."""
        return 1.0


class DaskSource(Source):
    """Records in a Dask data frame, with the names of label columns or a series; or in a Dask array, with another."""

    def __init__(self, X: Any, y: Any) -> None:
        frame = hasattr(X, "columns") and hasattr(X, "_meta")
        if not frame and getattr(X, "ndim", 0) != 2:
            raise HedgerowError(
                f"'X' must be a Dask data frame, or a Dask array of two dimensions. Got {type(X).__name__} instead."
            )
        self.label_columns: list[str] = []
        beside = hasattr(y, "__dask_graph__")
        if frame and not beside:
            self.label_columns = label_names(y, "a Dask data frame")
        elif not beside:
            raise BoundsError(f"'y' must be a Dask array where 'X' is one. Got {type(y).__name__} instead.")
        self.names = self._feature_names(X) if frame else None
        self.width = len(X.columns) - len(self.label_columns) if frame else int(X.shape[1])
        self.outputs = len(self.label_columns) or (1 if y.ndim == 1 else int(y.shape[1]))
        self._meta = X._meta
        self.typed = not frame or not any(str(kind) == "object" for kind in X._meta.dtypes)
        self._tables = _partitions(X)
        self._labels = _partitions(y) if beside else [None] * len(self._tables)
        if len(self._labels) != len(self._tables):
            raise BoundsError(
                f"'y' must have as many partitions as 'X': {len(self._tables)}. Got {len(self._labels)} instead."
            )

    def _feature_names(self, X: Any) -> list[str]:
        known = [str(name) for name in X.columns]
        if lacking := [name for name in self.label_columns if name not in known]:
            raise HedgerowError(f"the data frame lacks the column {lacking[0]!r} that was named; it has {known}.")
        return [name for name in known if name not in self.label_columns]

    def parts(self) -> list[DaskPart]:
        """Return all partitions."""
        pairs = zip(self._tables, self._labels, strict=True)
        return [DaskPart(table, labels, self.names, self.label_columns) for table, labels in pairs]

    def sample(self) -> Any:
        """Return what Dask knows of the columns; those of mixed type may hold numbers."""
        if self.names is None:
            return np.empty((0, self.width))
        meta = take_columns(self._meta, self.names)
        return meta.astype({name: float for name, kind in meta.dtypes.items() if str(kind) == "object"})

    def fingerprint(self) -> list[Any]:
        """Refuse: a graph may stand for other records when it is made again."""
        raise HedgerowError("'spool' is for files: a fit of a Dask collection cannot be resumed. Leave it out.")


def _partitions(collection: Any) -> list[Any]:
    """Return the partitions of a collection as delayed values; those of an array have all columns."""
    if not hasattr(collection, "_meta") or not hasattr(collection, "chunks"):
        return list(collection.to_delayed())
    if collection.ndim == 1:
        return list(collection.to_delayed())
    return [row[0] for row in collection.rechunk({1: -1}).to_delayed()]
