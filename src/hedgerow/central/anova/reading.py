"""How raw records and labels become what a fit reads: by public rules, batch by batch, in any process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hedgerow.central.anova.records import encode, plain
from hedgerow.central.public import PublicPart
from hedgerow.classes import class_codes
from hedgerow.estimators.records import bounded_labels
from hedgerow.features import CategoricalFeature
from hedgerow.grid import label_column
from hedgerow.sources import Batch
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray
from hedgerow.values import numbers

__all__ = ["ClassLabels", "Encoded", "LabelRule", "NumberLabels", "Reading"]


class Encoded(NamedTuple):
    """Records as numbers, labels in [0, 1] less what is predicted without a model, and that if it is not a constant."""

    Z: FloatArray
    targets: FloatArray
    base: FloatArray | None


class LabelRule(Protocol):
    """What a label counts as; all of it public."""

    @property
    def outputs(self) -> int:
        """How many numbers a label is."""

    @property
    def columns(self) -> int:
        """How many columns it is read from."""

    def scaled(self, columns: Sequence[Any], n: int) -> FloatArray:
        """Return labels in [0, 1], of shape (n, outputs)."""

    def holds(self, columns: Sequence[Any], n: int) -> list[bool]:
        """Return whether each column holds anything that can be a label."""


@dataclass(frozen=True, eq=False)
class NumberLabels:
    """Numbers within bounds, one column an output; missing ones count as ``missing``.

    Examples
    --------
    >>> NumberLabels((0.0,), (10.0,), (5.0,)).scaled([["2.5", None, 99]], 3).ravel().tolist()
    [0.25, 0.5, 1.0]
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    missing: tuple[float, ...]

    @property
    def outputs(self) -> int:
        """How many there are."""
        return len(self.low)

    columns = outputs

    def scaled(self, columns: Sequence[Any], n: int) -> FloatArray:
        """Return labels in [0, 1]."""
        out = np.empty((n, len(columns)))
        for j, (column, a, b, missing) in enumerate(zip(columns, self.low, self.high, self.missing, strict=True)):
            out[:, j] = (bounded_labels(label_column(column, "y", n), (a, b), missing) - a) / (b - a)
        return out

    def holds(self, columns: Sequence[Any], n: int) -> list[bool]:
        """Return whether there is a number in each column."""
        return [bool(np.isfinite(numbers(label_column(column, "y", n))).any()) for column in columns]


@dataclass(frozen=True, eq=False)
class ClassLabels:
    """Positions in a public list of classes, as indicators; unlisted ones count as the class at ``unknown``.

    Examples
    --------
    >>> ClassLabels(np.array(["no", "yes"]), 0).scaled([["yes", "?"]], 2).tolist()
    [[1.0], [0.0]]
    """

    classes: npt.NDArray[Any]
    unknown: int

    @property
    def outputs(self) -> int:
        """One for two classes, else one for each."""
        return 1 if len(self.classes) <= 2 else len(self.classes)

    columns = 1

    def scaled(self, columns: Sequence[Any], n: int) -> FloatArray:
        """Return the indicators of classes, but for the first of two."""
        k = len(self.classes)
        codes = class_codes(self.classes, label_column(columns[0], "y", n), self.unknown)
        return np.asarray(codes[:, None] == np.arange(k - self.outputs, k), dtype=np.float64)

    def holds(self, columns: Sequence[Any], n: int) -> list[bool]:
        """Return whether the column holds anything but missing numbers."""
        column = label_column(columns[0], "y", n)
        numeric = isinstance(column, np.ndarray) and column.dtype.kind == "f"
        return [not numeric or bool(np.isfinite(column).any())]


@dataclass(frozen=True, eq=False)
class Reading:
    """All that is public of how records are read.

    Attributes
    ----------
    columns : FeatureSpace
        The records' own columns.
    space : FeatureSpace
        What is fitted: with what a public model predicts beside them.
    missing : bool
        Whether missing values have a say of their own.
    labels : LabelRule
        What labels count as.
    offset : float
        What is predicted without a model, in [0, 1].
    public : PublicPart, optional
        The public model, whose prediction comes in the place of the offset.
    bounds : pair of tuples
        Ends of the labels, one an output.
    classes : bool
        Whether labels are classes.
    """

    columns: FeatureSpace
    space: FeatureSpace
    missing: bool
    labels: LabelRule
    offset: float
    public: PublicPart | None
    bounds: tuple[tuple[float, ...], tuple[float, ...]]
    classes: bool

    def encoded(self, batch: Batch) -> Encoded:
        """Read some records: each by itself, so that it does not matter which others are beside it."""
        Z = encode(self.columns, batch.X, self.missing)
        scaled = self.labels.scaled(batch.labels, batch.rows)
        if self.public is None:
            return Encoded(Z, scaled - self.offset, None)
        low, high = (np.array(ends) for ends in self.bounds)
        values = self.public.values(plain(self.columns, Z), self.bounds, classes=self.classes)
        base = (values - low) / (high - low)
        return Encoded(self.public.widen(Z, values, len(self.columns.columns)), scaled - base, base)

    def described(self) -> list[Any]:
        """Return all of it but the public model, as JSON can hold it."""
        rule = [repr(getattr(self.labels, name)) for name in sorted(vars(self.labels))]
        return [self.columns.to_json(), self.missing, rule, repr(self.bounds), self.classes]

    def holds_numbers(self, batch: Batch) -> npt.NDArray[np.bool_]:
        """Return which columns hold a number, of a batch whose columns have no types."""
        found = []
        for feature in self.columns.columns:
            text = isinstance(feature, CategoricalFeature)
            found.append(text or not np.isnan(numbers(batch.X[feature.name])).all())
        return np.array(found, dtype=bool)
