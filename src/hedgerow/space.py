"""The public schema of the features: what a holder needs to encode a record."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.content import Content
from hedgerow.errors import BoundsError
from hedgerow.features import CategoricalFeature, Feature, NumericFeature, category_lists, category_name
from hedgerow.frames import columns_of, floats_of, is_text, matrix_of, rows_of, take_columns
from hedgerow.ranges import Range, feature_ranges, listed_columns
from hedgerow.types import BoolArray, FloatArray, IntArray, RealArray
from hedgerow.values import category, cells, number, numbers, record_values

__all__ = ["FeatureSpace"]

_CLIP_VALUES = 1 << 15  # clipped at a time: 256 kB, with its bounds within a second-level cache
_ANSWERS = ("no", "yes")
"""Whether a value is missing, as categories."""


@dataclass(frozen=True)
class FeatureSpace(Content, what="feature space"):
    """The public schema of the features: what a holder needs to encode a record.

    Examples
    --------
    >>> space = FeatureSpace((NumericFeature("age", 0, 99), CategoricalFeature("sex", ("F", "M"))))
    >>> space.encode([[41, "M"], [150, "F"]]).tolist()
    [[41.0, 1.0], [99.0, 0.0]]
    >>> space.encode_record({"sex": "F", "age": 7}).tolist()
    [7.0, 0.0]

    A number with an indicator has a feature more beside it, after all columns: whether its value is missing.

    >>> space = FeatureSpace((NumericFeature("age", 0, 99, indicator=True), CategoricalFeature("sex", ("F", "M"))))
    >>> space.names, space.encode([[41, "M"], [None, "F"]]).tolist()
    (('age', 'sex', 'age is missing'), [[41.0, 1.0, 0.0], [49.5, 0.0, 1.0]])
    """

    columns: tuple[Feature, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        names = self.names
        if not names:
            raise BoundsError("'X' has 0 features; at least one feature is needed.")
        if len(set(names)) != len(names):
            raise BoundsError(f"feature names must be distinct. Got {list(names)} instead.")

    def __len__(self) -> int:
        return len(self.features)

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """The columns, and after them whether the values of those with an indicator are missing."""
        return (
            *self.columns,
            *(CategoricalFeature(f"{c.name} is missing", _ANSWERS) for c in self.columns if _told(c)),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(f.name for f in self.features)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the columns that a table must have."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def told(self) -> list[int]:
        """The columns with an indicator."""
        return [j for j, column in enumerate(self.columns) if _told(column)]

    def spread(self, mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what is said of each column for each feature: an indicator goes with its column.

        >>> space = FeatureSpace((NumericFeature("a", 0, 1), NumericFeature("b", 0, 1, indicator=True)))
        >>> space.spread(np.array([False, True])).tolist()
        [False, True, True]
        """
        return mask[..., [*range(len(self.columns)), *self.told]]

    @property
    def is_categorical(self) -> BoolArray:
        """Which columns are categorical."""
        return np.array([isinstance(f, CategoricalFeature) for f in self.features], dtype=bool)

    @property
    def n_categories(self) -> IntArray:
        """Return the number of categories of each column (0 for numeric ones)."""
        return np.array(
            [len(f.categories) if isinstance(f, CategoricalFeature) else 0 for f in self.features],
            dtype=np.int64,
        )

    @property
    def low(self) -> FloatArray:
        """Lower ends; 0 for categorical columns (their first code)."""
        return np.array([f.low if isinstance(f, NumericFeature) else 0.0 for f in self.features])

    @property
    def high(self) -> FloatArray:
        """Upper ends; the last code for categorical columns."""
        return np.array([f.high if isinstance(f, NumericFeature) else len(f.categories) - 1.0 for f in self.features])

    @property
    def ranges(self) -> FloatArray:
        """Lows and highs as ``feature_bounds`` takes them, of shape (2, d); a constant column is given a width of 1."""
        low = self.low
        high = self.high
        return np.stack([low, np.where(high > low, high, low + 1.0)])

    @classmethod
    def from_public(
        cls,
        X: object,
        *,
        feature_bounds: object = None,
        categorical_features: Sequence[int | str] | None = None,
        categories: Mapping[str, Sequence[object]] | None = None,
    ) -> FeatureSpace:
        """Describe *public* records: their columns, ranges (unless given) and categories (unless given).

        A FeatureSpace as ``feature_bounds`` says all of it.
        """
        names, columns = columns_of(X)
        if columns is None:
            array = matrix_of(X)
            columns = [array[:, j] for j in range(array.shape[1])]
        names = names or [f"x{j}" for j in range(len(columns))]
        if isinstance(feature_bounds, FeatureSpace):
            return feature_bounds.among(names)
        chosen = set(listed_columns(categorical_features, names, "categorical_features"))
        given = category_lists(categories, names)
        texts = {name for name, column in zip(names, columns, strict=True) if is_text(column)}
        categorical = chosen | set(given) | texts
        ranges = feature_ranges(feature_bounds, names, categorical)
        features: list[Feature] = []
        for name, column in zip(names, columns, strict=True):
            if name in categorical:
                listed = given.get(name)
                seen = {c for v in cells(column) if (c := category(v)) is not None}
                found = sorted(seen) if listed is None else [category_name(v) for v in listed]
                features.append(CategoricalFeature(name, tuple(found)))
            else:
                features.append(_numeric_feature(name, column, ranges.get(name)))
        return cls(tuple(features))

    @classmethod
    def from_bounds(
        cls,
        feature_bounds: object,
        names: Sequence[str] | int,
        *,
        categories: Mapping[str, Sequence[object]] | None = None,
    ) -> FeatureSpace:
        """Features with given public ranges and category lists, when there is no public data.

        A FeatureSpace as ``feature_bounds`` says all of it.

        >>> FeatureSpace.from_bounds((0, 9), ["age", "sex"], categories={"sex": ["F", "M"]}).high.tolist()
        [9.0, 1.0]
        """
        whole = isinstance(names, int | np.integer)
        labels = [f"x{j}" for j in range(int(cast("int", names)))] if whole else [str(n) for n in cast("Any", names)]
        if isinstance(feature_bounds, FeatureSpace):
            return feature_bounds.among(labels)
        given = category_lists(categories, labels)
        ranges = feature_ranges(feature_bounds, labels, given)
        if lacking := [name for name in labels if name not in given and name not in ranges]:
            raise BoundsError(
                f"'feature_bounds' is required without public data, for {lacking}: pass feature_bounds=(low, high), an "
                "array of shape (2, d) or a dict {column: (low, high)}. Ranges are never read from private records."
            )
        features: list[Feature] = []
        for name in labels:
            if name in given:
                features.append(CategoricalFeature(name, given[name]))
            else:
                features.append(NumericFeature(name, *ranges[name]))
        return cls(tuple(features))

    def arranged(self, names: Sequence[str]) -> FeatureSpace:
        """Return the features of these names alone, in this order.

        >>> space = FeatureSpace((NumericFeature("age", 0, 99), CategoricalFeature("sex", ("F", "M"))))
        >>> space.arranged(["sex", "age"]).names
        ('sex', 'age')
        """
        known = {column.name: column for column in self.columns}
        if absent := [name for name in names if name not in known]:
            raise BoundsError(
                f"the schema does not describe the columns {absent}, only {list(self.inputs)}; add them to it by "
                "with_range() or with_categories(), or leave them out."
            )
        return FeatureSpace(tuple(known[name] for name in names))

    def among(self, names: Sequence[str]) -> FeatureSpace:
        """Return this schema for a table with columns of these names: it has all that are described, or is an array.

        Columns of the table that are not described are not used.
        """
        if list(names) != [f"x{j}" for j in range(len(self.columns))]:
            self._check_present(names)
        return self

    def _check_present(self, names: Sequence[str]) -> None:
        if absent := [name for name in self.inputs if name not in names]:
            raise BoundsError(f"'X' lacks the columns {absent}; needed are {list(self.inputs)}.")

    def table(self, X: object) -> Any:
        """Return the columns that are described, in this order: a data frame's by name, an array's by position.

        >>> space = FeatureSpace((NumericFeature("age", 0, 99), CategoricalFeature("sex", ("F", "M"))))
        >>> space.table([[41, "M"]]).tolist()
        [[41, 'M']]
        """
        names, _ = columns_of(X)
        if names is None:
            return rows_of(X, self.inputs)
        self._check_present(names)
        if twice := [name for name in self.inputs if names.count(name) > 1]:
            raise BoundsError(f"'X' has two columns named {twice[0]!r}; rename one.")
        return take_columns(X, self.inputs)

    def encode(self, X: object, *, fill: bool = False) -> RealArray:
        """Return records as a float matrix: numbers clipped to their range, categories as codes.

        Whatever the values are, there is a row for every record. Only the shape of a table can be wrong: an array with
        another number of columns is refused, and so is a data frame that lacks columns; with ``fill``, these are filled
        with missing values instead, and one warning names them.
        """
        names, columns = columns_of(X)
        if names is None or columns is None:
            array = rows_of(X, self.inputs)
            if array.dtype.kind in "fiub" and not self.is_categorical.any():
                return self._clip(numbers(array))
            n = len(array)
            chosen = [array[:, j] for j in range(len(self.columns))]
        else:
            n, chosen = self._chosen(X, names, columns, fill)
        out = np.empty((n, len(self)), dtype=np.float64)
        for j, (feature, column) in enumerate(zip(self.columns, chosen, strict=True)):
            out[:, j] = feature.column(column, n)
        out[:, len(self.columns) :] = np.isnan(out[:, self.told])
        return self._clip(out)

    def _chosen(self, X: Any, names: list[str], columns: list[Any], fill: bool) -> tuple[int, list[Any]]:
        """Return the number of records of a data frame, and the columns that are asked for."""
        n = int(X.shape[0])
        absent = [name for name in self.inputs if name not in names]
        if twice := [name for name in self.inputs if names.count(name) > 1]:
            raise BoundsError(f"'X' has two columns named {twice[0]!r}; rename one.")
        if not (fill and len(absent) < len(self.columns)):
            self._check_present(names)
        if absent:
            warnings.warn(f"'X' lacks the columns {absent}: all of their values count as missing.", stacklevel=4)
        return n, [[None] * n if name in absent else columns[names.index(name)] for name in self.inputs]

    def encode_record(self, record: object) -> FloatArray:
        """Encode one record, given as a mapping by name or as a sequence in column order; whatever is in it.

        >>> space = FeatureSpace((NumericFeature("age", 0, 99), CategoricalFeature("sex", ("F", "M"))))
        >>> space.encode_record({"sex": "?"}).tolist()
        [49.5, 0.0]
        """
        values = record_values(record, self.inputs)
        codes = [column.value(value) for column, value in zip(self.columns, values, strict=True)]
        missing = [float(math.isnan(number(values[j]))) for j in self.told]
        return np.array([*codes, *missing], dtype=np.float64)

    @property
    def missing(self) -> FloatArray:
        """The record of which everything is missing, encoded."""
        return self.encode_record({})

    def outside(self, X: RealArray) -> BoolArray:
        """Return which raw numeric records lie outside the ranges (before clipping)."""
        numeric = ~self.is_categorical
        Z = np.asarray(X)[:, numeric]
        return cast("BoolArray", ((self.low[numeric] > Z) | (self.high[numeric] < Z)).any(axis=1))

    def _clip(self, Z: RealArray) -> RealArray:
        """Clip, and fill in missing values (NaN); a copy is made only if something lies outside."""
        with np.errstate(over="ignore"):  # a bound beyond float32 clips nothing that float32 can hold
            low = self.low.astype(Z.dtype)
            high = self.high.astype(Z.dtype)
        inner = low.max(), high.min()
        rows = max(1, min(len(Z), _CLIP_VALUES // len(self)))
        # Bounds repeated for a block of rows: NumPy compares equal shapes far faster than it broadcasts short rows.
        lows = np.tile(low, (rows, 1))
        highs = np.tile(high, (rows, 1))
        out = Z
        for start in range(0, len(Z), rows):
            part = Z[start : start + rows]
            least, most = part.min(), part.max()  # NaN, if there is one
            if least >= inner[0] and most <= inner[1]:
                continue
            a = lows[: len(part)]
            b = highs[: len(part)]
            if np.isnan(least):
                part = np.where(np.isnan(part), self.missing.astype(Z.dtype), part)
            elif not ((part < a).any() or (part > b).any()):
                continue
            out = Z.copy() if out is Z else out
            np.clip(part, a, b, out=out[start : start + rows])
        return out


def _told(column: Feature) -> bool:
    """Whether there is a feature that says whether a value of this column is missing."""
    return isinstance(column, NumericFeature) and column.indicator


def _numeric_feature(name: str, column: Any, bounds: Range | None) -> NumericFeature:
    values = floats_of(column, name)
    if not np.isfinite(values).all():
        raise BoundsError(f"public column {name!r} contains NaN or infinity; impute it first.")
    if bounds is not None:
        return NumericFeature(name, *bounds)
    if values.size == 0:
        raise BoundsError("Found array with 0 sample(s) in the public data while a minimum of 1 is required.")
    return NumericFeature(name, float(values.min()), float(values.max()))
