"""Records as the descent reads them: one byte a feature, column by column, and labels in whole steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from hedgerow.central.anova.accounting import Purse
from hedgerow.central.anova.quantiles import CELLS, Quantiles, bin_counts
from hedgerow.features import CategoricalFeature
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray, IntArray

if TYPE_CHECKING:
    from hedgerow.central.anova.products import Products
    from hedgerow.central.anova.rows import Rows, Sums
    from hedgerow.randomness import Randomness

__all__ = ["LABEL", "Coded", "CodedRows", "Drawn", "Records", "Table", "code_columns", "code_labels", "code_records"]

Drawn = tuple[dict[int, Quantiles], float]
"""Quantiles of the numeric features, and a noisy number of records."""
LABEL = 1 << 24
"""Steps of a label scaled to [0, 1]."""
_FARTHEST = float(1 << 30)  # steps that a label may be from its offset: 64 widths, so that differences fit 32 bits
_PART = 1 << 14  # records coded at a time: with 20 features 2.6 MB of floats


@dataclass(frozen=True, eq=False)
class CodedRows:
    """All that a descent reads of the private records.

    Attributes
    ----------
    codes : array of bytes, of shape (columns, n)
        The cell of each record in each column of :func:`code_columns`; a memory map will do.
    targets : array of 32-bit integers, of shape (outputs, n)
        Labels less what is predicted without a model, in steps of :data:`LABEL`; a memory map will do.
    base : array of 32-bit integers, of shape (outputs, n), optional
        What a public model predicts, in these steps; None without one.

    Examples
    --------
    >>> rows = CodedRows(np.zeros((3, 5), dtype=np.uint8), np.zeros((1, 5), dtype=np.int32))
    >>> rows.n, rows.outputs
    (5, 1)
    """

    codes: npt.NDArray[np.uint8]
    targets: npt.NDArray[np.int32]
    base: npt.NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        base = self.targets if self.base is None else self.base
        for array, kind in ((self.codes, np.uint8), (self.targets, np.int32), (base, np.int32)):
            if array.ndim != 2 or array.dtype != kind or not array.flags.c_contiguous:
                raise TypeError(
                    f"codes and targets must be C-contiguous matrices of bytes and int32, not {array.dtype}."
                )
        if self.codes.shape[1] != self.targets.shape[1]:
            raise ValueError(f"{self.codes.shape[1]} coded records do not fit {self.targets.shape[1]} labels.")

    @property
    def n(self) -> int:
        """How many records there are (private)."""
        return int(self.codes.shape[1])

    @property
    def outputs(self) -> int:
        """How many labels a record has."""
        return int(self.targets.shape[0])

    def over(self, products: Products, jobs: int | None = None) -> Rows:
        """Return what sums over these records, in the functions of a feature map, by so many threads."""
        from hedgerow.central.anova.rows import Rows

        return Rows(products, self, jobs)


def code_columns(space: FeatureSpace) -> list[tuple[int, int]]:
    """Return the feature of each column of codes, and its first category.

    A number has one column: 255 cells, and the last code for missing values. A list of more than 255 categories is cut
    into several columns, in each of which the last code says that the category is in another one.

    >>> space = FeatureSpace.from_bounds((0, 1), ["x", "k"], categories={"k": [str(i) for i in range(300)]})
    >>> code_columns(space)
    [(0, 0), (1, 0), (1, 255)]
    """
    out: list[tuple[int, int]] = []
    for j, feature in enumerate(space.features):
        size = len(feature.categories) if isinstance(feature, CategoricalFeature) else 1
        out += [(j, start) for start in range(0, size, CELLS)]
    return out


def code_records(space: FeatureSpace, quantiles: Mapping[int, Quantiles], Z: FloatArray) -> npt.NDArray[np.uint8]:
    """Return the codes of encoded records (NaN: missing), one column a row of the result.

    Comparisons only: a record's codes depend on that record alone.
    """
    columns = code_columns(space)
    out = np.empty((len(columns), len(Z)), dtype=np.uint8)
    for row, (j, start) in zip(out, columns, strict=True):
        if j in quantiles:
            row[:] = quantiles[j].codes(Z[:, j])
        else:
            place = Z[:, j].astype(np.int64) - start
            row[:] = np.where((place >= 0) & (place < CELLS), place, CELLS)
    return out


def code_labels(targets: FloatArray) -> npt.NDArray[np.int32]:
    """Return labels less their offset in whole steps, one output a row.

    >>> code_labels(np.array([[0.5], [-1e300]])).tolist()
    [[8388608, -1073741824]]
    """
    steps = np.clip(np.rint(np.asarray(targets).T * LABEL), -_FARTHEST, _FARTHEST)
    return np.ascontiguousarray(steps.astype(np.int32))


class Coded(Protocol):
    """Records that were coded, wherever they are."""

    @property
    def outputs(self) -> int:
        """How many labels a record has."""

    def over(self, products: Products, jobs: int | None = None) -> Sums:
        """Return what sums over these records, in the functions of a feature map."""


class Records(Protocol):
    """Where private records come from: a fit counts them once and codes them once, and reads nothing else of them."""

    @property
    def outputs(self) -> int:
        """How many labels a record has."""

    def counts(self, space: FeatureSpace) -> tuple[int, IntArray]:
        """Return the number of records, and how many are in each of the finest bins (private)."""

    def once(self, draw: Callable[[], Drawn], purse: Purse, randomness: Randomness) -> Drawn:
        """Return the quantiles and a noisy number of records: drawn, or as they were before a fit was killed."""

    def coded(self, space: FeatureSpace, quantiles: Mapping[int, Quantiles]) -> Coded:
        """Return them as the descent reads them; twice the same for the same quantiles."""


@dataclass(frozen=True, eq=False)
class Table:
    """Records in memory: encoded, and labels in [0, 1] less a public offset, one column an output."""

    Z: FloatArray
    targets: FloatArray
    base: FloatArray | None = None

    @property
    def outputs(self) -> int:
        """How many labels a record has."""
        return int(self.targets.shape[1])

    def _parts(self) -> Iterator[slice]:
        for start in range(0, len(self.Z), _PART):
            yield slice(start, start + _PART)

    def counts(self, space: FeatureSpace) -> tuple[int, IntArray]:
        """Return the number of records, and how many are in each of the finest bins (private)."""
        total = bin_counts(space, self.Z[:0])
        for part in self._parts():
            total += bin_counts(space, self.Z[part])
        return len(self.Z), total

    def once(self, draw: Callable[[], Drawn], purse: Purse, randomness: Randomness) -> Drawn:
        """Draw the quantiles."""
        return draw()

    def coded(self, space: FeatureSpace, quantiles: Mapping[int, Quantiles]) -> CodedRows:
        """Return them as the descent reads them."""
        codes = np.empty((len(code_columns(space)), len(self.Z)), dtype=np.uint8)
        for part in self._parts():
            codes[:, part] = code_records(space, quantiles, self.Z[part])
        base = None if self.base is None else code_labels(self.base)
        return CodedRows(codes, code_labels(self.targets), base)
