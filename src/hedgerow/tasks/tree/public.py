"""What public records say about the leaves: published with a task, and a prior for its model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.content import Content
from hedgerow.errors import FormatError

__all__ = ["CAUTION", "PublicLeaves"]

CAUTION = 2.0  # by hand
"""A tree is fitted to the labels of its public records, so their leaf means stray further from the truth than those of
fresh records would: twice the variance allows for that (and for few records in a leaf)."""


@dataclass(frozen=True)
class PublicLeaves(Content, what="public leaves"):
    """What the public records say about each leaf: count, mean label, standard deviation, counts of classes."""

    count: tuple[int, ...]
    mean: tuple[float, ...]
    sd: tuple[float, ...]
    classes: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        # Plain numbers without -0.0: equal summaries have equal JSON, hence equal digests.
        object.__setattr__(self, "count", tuple(int(c) for c in self.count))
        for name in ("mean", "sd"):
            object.__setattr__(self, name, tuple(float(v) + 0.0 for v in getattr(self, name)))
        if min(self.count, default=0) < 0:
            raise FormatError("public leaves: 'count' must be whole numbers of at least 0.")
        if self.classes is not None:
            _check_classes(self.classes, self.count)

    @classmethod
    def summarise(cls, leaf: Any, y: Any, n_leaves: int, n_classes: int = 0) -> PublicLeaves:
        """Summarise public labels by leaf (an empty leaf gets the overall mean), classes also by their counts."""
        count = np.bincount(leaf, minlength=n_leaves)
        safe = np.maximum(count, 1)
        mean = np.bincount(leaf, weights=y, minlength=n_leaves) / safe
        spread = np.bincount(leaf, weights=(y - mean[leaf]) ** 2, minlength=n_leaves) / np.maximum(count - 1, 1)
        overall = float(np.mean(y))
        overall_sd = float(np.std(y))
        mean = np.where(count > 0, mean, overall)
        sd = np.where(count > 1, np.sqrt(spread), overall_sd)
        table = None
        if n_classes:
            cells = np.bincount(leaf * n_classes + y.astype(np.int64), minlength=n_leaves * n_classes)
            table = tuple(tuple(row) for row in cells.reshape(n_leaves, n_classes).tolist())
        return cls(tuple(count.tolist()), tuple(mean.tolist()), tuple(sd.tolist()), table)

    @property
    def spread(self) -> Any:
        """Variance of labels within each leaf, shrunk towards the pooled one by two records' weight."""
        count = np.array(self.count, dtype=float)
        sd = np.array(self.sd)
        freedom = np.maximum(count - 1, 0.0)
        pooled = float((freedom * sd**2).sum() / max(freedom.sum(), 1.0))
        return (freedom * sd**2 + 2 * pooled) / (freedom + 2)

    @property
    def mean_variance(self) -> Any:
        """Variance of each public mean."""
        return self.spread / np.maximum(np.array(self.count, dtype=float), 0.5)


def _check_classes(rows: tuple[tuple[int, ...], ...], count: tuple[int, ...]) -> None:
    """Refuse class counts that do not add up to the counts of the leaves."""
    if len(rows) != len(count) or len({len(row) for row in rows}) != 1 or any(c < 0 for row in rows for c in row):
        raise FormatError("public leaves: 'classes' must hold one list of class counts for each leaf.")
    if tuple(sum(row) for row in rows) != count:
        raise FormatError("public leaves: the counts of 'classes' do not add up to 'count'.")
