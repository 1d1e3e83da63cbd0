"""Public facts about the data: feature ranges and category lists, beside the label's (:mod:`hedgerow.grid`).

Nothing here is ever computed from private data. Ranges and categories are either given or taken from
*public* records. Every record is encoded, by a public rule (:mod:`hedgerow.values`): whatever lies outside is
clipped, missing values and unknown categories become what the schema says, and nothing is an error, for a record
that stays silent because of its value would leak that value.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError, FormatError
from hedgerow.fields import check_fields, read_list, read_number, read_text, read_whole
from hedgerow.grid import (
    LARGEST,
    SMALLEST,
    LabelGrid,
    check_label_bounds,
    check_labels,
    label_column,
    label_numbers,
    middle,
)
from hedgerow.ranges import Range, column_name, feature_ranges
from hedgerow.values import category, cells, number, numbers, record_values

__all__ = [
    "LARGEST",
    "SMALLEST",
    "CategoricalFeature",
    "Feature",
    "FeatureSpace",
    "LabelGrid",
    "NumericFeature",
    "category_lists",
    "category_name",
    "check_fields",
    "check_label_bounds",
    "check_labels",
    "label_column",
    "label_numbers",
    "middle",
    "read_list",
    "read_number",
    "read_text",
    "read_whole",
]

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int64]

_CLIP_VALUES = 1 << 15


@dataclass(frozen=True)
class NumericFeature:
    """A numeric column with a public range; values outside are clipped, missing ones count as ``missing``.

    >>> NumericFeature("age", 0, 99).value("150"), NumericFeature("age", 0, 99, missing=40).value("old")
    (99.0, 40.0)
    """

    name: str
    low: float
    high: float
    missing: float = cast("float", None)

    def __post_init__(self) -> None:
        # Plain floats without -0.0: equal features have equal JSON, hence equal digests.
        object.__setattr__(self, "low", float(self.low) + 0.0)
        object.__setattr__(self, "high", float(self.high) + 0.0)
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise BoundsError(
                f"'feature_bounds' of {self.name!r} must be finite with low <= high. "
                f"Got ({self.low}, {self.high}) instead."
            )
        object.__setattr__(self, "missing", middle(self.low, self.high, self.missing, repr(self.name)))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {"name": self.name, "low": self.low, "high": self.high, "missing": self.missing}

    def value(self, value: object) -> float:
        """Return the number that one value of this column counts as."""
        x = number(value)
        return self.missing if math.isnan(x) else min(max(x, self.low), self.high)

    def decode(self, code: float) -> float:
        """Undo :meth:`value`."""
        return code

    def column(self, column: object, n: int | None = None) -> FloatArray:
        """Return a column as floats, missing values as NaN; :meth:`FeatureSpace.encode` clips and fills them in."""
        return numbers(column, n)


@dataclass(frozen=True)
class CategoricalFeature:
    """A column with a public list of categories (kept as strings); all other values count as ``unknown``.

    ``unknown`` is one of the categories; by default ``"other"`` if that is listed, else the first.

    >>> CategoricalFeature("sex", ("F", "M", "other")).codes(["M", "X", None]).tolist()
    [1.0, 2.0, 2.0]
    """

    name: str
    categories: tuple[str, ...]
    unknown: str = cast("str", None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", tuple(category_name(c) for c in self.categories))
        if not self.categories or len(set(self.categories)) != len(self.categories):
            raise BoundsError(f"'categories' of {self.name!r} must be a list of distinct names.")
        if self.unknown is None:
            object.__setattr__(self, "unknown", "other" if "other" in self.categories else self.categories[0])
        object.__setattr__(self, "unknown", category_name(self.unknown))
        if self.unknown not in self.categories:
            raise BoundsError(
                f"'unknown' of {self.name!r} must be one of its categories. Got {self.unknown!r} instead."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {"name": self.name, "categories": list(self.categories), "unknown": self.unknown}

    def value(self, value: object) -> float:
        """Return the code that one value of this column counts as."""
        return float(self.codes([value])[0])

    def decode(self, code: float) -> str:
        """Undo :meth:`value`."""
        return self.categories[int(code)]

    def column(self, column: object, n: int | None = None) -> FloatArray:
        """Return the codes of a column."""
        return self.codes(column, n)

    def codes(self, column: object, n: int | None = None) -> npt.NDArray[np.float64]:
        """Map values to their position in the category list, those that are not in it to that of ``unknown``."""
        index = {c: float(i) for i, c in enumerate(self.categories)}
        other = index[self.unknown]
        values = cells(column, n)
        if set(map(type, values)) == {str}:
            return np.array([index.get(v, other) for v in values], dtype=np.float64)
        return np.array([index.get(cast("str", category(v)), other) for v in values], dtype=np.float64)


Feature = NumericFeature | CategoricalFeature


def category_name(value: Any) -> str:
    """Return the canonical name of a category of a public list: 1, 1.0 and np.int64(1) are all ``"1"``."""
    name = category(value)
    if name is None:
        raise BoundsError("a category of a public list is missing (None or NaN); leave it out, or give it a name.")
    return name


def _columns(X: object) -> tuple[list[str] | None, list[Any] | None]:
    """Return names and columns of a data frame (pandas, polars, Arrow), or ``(None, None)``."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # Arrow's ``columns`` are the data
    if names is None or not hasattr(X, "__getitem__") or not hasattr(X, "shape"):
        return None, None
    names = list(names)
    return [str(c) for c in names], [cast("Any", X)[c] for c in names]


def _as_array(X: object) -> npt.NDArray[Any]:
    array = np.asarray(X)
    if array.ndim != 2:
        raise BoundsError(
            f"'X' must be 2-dimensional (records x features). Got shape {array.shape} instead. "
            "Reshape your data with X.reshape(1, -1) if it is a single record."
        )
    return array


def _as_rows(X: object, names: Sequence[str]) -> npt.NDArray[Any]:
    """Return private records in the order of ``names`` as an array of numbers, or of whatever they hold."""
    array = _from_rows(X, len(names)) if isinstance(X, list | tuple) else _as_array(X)
    if array.shape[1] != len(names):
        raise BoundsError(f"X has {array.shape[1]} features, but {len(names)} features are expected: {list(names)}.")
    return array


def _from_rows(X: Sequence[Any], d: int) -> npt.NDArray[Any]:
    """Return a list of rows as an array; a row of another length than the rest is one in which everything is missing.

    NumPy is not asked what it makes of them: it refuses some lists for what is in one of their rows.
    """
    rows = [cells(row) if isinstance(row, list | tuple | np.ndarray) else [] for row in X]
    widths = {len(row) for row in rows}
    if d not in widths:
        if len(widths) != 1 or widths == {0}:
            raise BoundsError("'X' must be 2-dimensional (records x features): a list of rows of values.")
        d = widths.pop()  # all alike: another number of columns, which the caller refuses
    out = np.empty((len(rows), d), dtype=object)
    for i, row in enumerate(rows):
        out[i] = row if len(row) == d else None
    return out


def _is_text(column: Any) -> bool:
    """Whether a public column holds categories rather than numbers."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if kind == "object":  # anything can be in there: text makes it categorical, numbers alone do not
        return any(isinstance(v, str) for v in np.asarray(column, dtype=object))
    return kind in ("category", "str", "utf8") or kind.startswith(
        ("enum", "categorical", "string", "large_string", "dictionary")
    )


@dataclass(frozen=True)
class FeatureSpace:
    """The public schema of the features: what a holder needs to encode a record.

    Examples
    --------
    >>> space = FeatureSpace((NumericFeature("age", 0, 99), CategoricalFeature("sex", ("F", "M"))))
    >>> space.encode([[41, "M"], [150, "F"]]).tolist()
    [[41.0, 1.0], [99.0, 0.0]]
    >>> space.encode_record({"sex": "F", "age": 7}).tolist()
    [7.0, 0.0]
    """

    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        names = self.names
        if not names:
            raise BoundsError("'X' has 0 features; at least one feature is needed.")
        if len(set(names)) != len(names):
            raise BoundsError(f"feature names must be distinct. Got {list(names)} instead.")

    def __len__(self) -> int:
        return len(self.features)

    @property
    def names(self) -> tuple[str, ...]:
        """Feature names, in column order."""
        return tuple(f.name for f in self.features)

    @property
    def is_categorical(self) -> npt.NDArray[np.bool_]:
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
    def low(self) -> npt.NDArray[np.float64]:
        """Lower ends; 0 for categorical columns (their first code)."""
        return np.array([f.low if isinstance(f, NumericFeature) else 0.0 for f in self.features])

    @property
    def high(self) -> npt.NDArray[np.float64]:
        """Upper ends; the last code for categorical columns."""
        return np.array([f.high if isinstance(f, NumericFeature) else len(f.categories) - 1.0 for f in self.features])

    @property
    def ranges(self) -> npt.NDArray[np.float64]:
        """Lows and highs as ``feature_bounds`` takes them, of shape (2, d); a constant column is given a width of 1."""
        low, high = self.low, self.high
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
        """Describe *public* records: their columns, ranges (unless given) and categories (unless given)."""
        names, columns = _columns(X)
        if columns is None:
            array = _as_array(X)
            columns = [array[:, j] for j in range(array.shape[1])]
        names = names or [f"x{j}" for j in range(len(columns))]
        chosen = {names[c] if isinstance(c, int | np.integer) else str(c) for c in categorical_features or ()}
        given = category_lists(categories, names)
        unknown = chosen - set(names)
        if unknown:
            raise BoundsError(f"'categorical_features' names unknown columns {sorted(unknown)}; known: {names}.")
        texts = {name for name, column in zip(names, columns, strict=True) if _is_text(column)}
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

        >>> FeatureSpace.from_bounds((0, 9), ["age", "sex"], categories={"sex": ["F", "M"]}).high.tolist()
        [9.0, 1.0]
        """
        whole = isinstance(names, int | np.integer)
        labels = [f"x{j}" for j in range(int(cast("int", names)))] if whole else [str(n) for n in cast("Any", names)]
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

    def encode(self, X: object, *, fill: bool = False) -> FloatArray:
        """Return records as a float matrix: numbers clipped to their range, categories as codes.

        Whatever the values are, there is a row for every record. Only the shape of a table can be wrong: an array with
        another number of columns is refused, and so is a data frame that lacks columns; with ``fill``, these are filled
        with missing values instead, and one warning names them.
        """
        names, columns = _columns(X)
        if names is None or columns is None:
            array = _as_rows(X, self.names)
            if array.dtype.kind in "fiub" and not self.is_categorical.any():
                return self._clip(numbers(array))
            n, chosen = len(array), [array[:, j] for j in range(len(self))]
        else:
            n, chosen = self._chosen(X, names, columns, fill)
        out = np.empty((n, len(self)), dtype=np.float64)
        for j, (feature, column) in enumerate(zip(self.features, chosen, strict=True)):
            out[:, j] = feature.column(column, n)
        return self._clip(out)

    def _chosen(self, X: Any, names: list[str], columns: list[Any], fill: bool) -> tuple[int, list[Any]]:
        """Return the number of records of a data frame, and the columns that are asked for."""
        n, absent = int(X.shape[0]), [name for name in self.names if name not in names]
        if twice := [name for name in self.names if names.count(name) > 1]:
            raise BoundsError(f"'X' has two columns named {twice[0]!r}; rename one.")
        if absent and not (fill and len(absent) < len(self)):
            raise BoundsError(f"'X' lacks the columns {absent}; the task asks for {list(self.names)}.")
        if absent:
            warnings.warn(f"'X' lacks the columns {absent}: all of their values count as missing.", stacklevel=4)
        return n, [[None] * n if name in absent else columns[names.index(name)] for name in self.names]

    def encode_record(self, record: object) -> npt.NDArray[np.float64]:
        """Encode one record, given as a mapping by name or as a sequence in column order; whatever is in it.

        >>> space = FeatureSpace((NumericFeature("age", 0, 99), CategoricalFeature("sex", ("F", "M"))))
        >>> space.encode_record({"sex": "?"}).tolist()
        [49.5, 0.0]
        """
        values = record_values(record, self.names)
        return np.array([f.value(v) for f, v in zip(self.features, values, strict=True)], dtype=np.float64)

    @property
    def missing(self) -> npt.NDArray[np.float64]:
        """The record of which everything is missing, encoded."""
        return self.encode_record({})

    def outside(self, X: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which raw numeric records lie outside the ranges (before clipping)."""
        numeric = ~self.is_categorical
        Z = np.asarray(X)[:, numeric]
        return cast("npt.NDArray[np.bool_]", ((self.low[numeric] > Z) | (self.high[numeric] < Z)).any(axis=1))

    def _clip(self, Z: FloatArray) -> FloatArray:
        """Clip, and fill in missing values (NaN); a copy is made only if something lies outside."""
        with np.errstate(over="ignore"):  # a bound beyond float32 clips nothing that float32 can hold
            low, high = self.low.astype(Z.dtype), self.high.astype(Z.dtype)
        inner = low.max(), high.min()
        rows = max(1, min(len(Z), _CLIP_VALUES // len(self)))
        # Bounds repeated for a block of rows: NumPy compares equal shapes far faster than it broadcasts short rows.
        lows, highs = np.tile(low, (rows, 1)), np.tile(high, (rows, 1))
        out = Z
        for start in range(0, len(Z), rows):
            part = Z[start : start + rows]
            least, most = part.min(), part.max()  # NaN, if there is one
            if least >= inner[0] and most <= inner[1]:
                continue
            a, b = lows[: len(part)], highs[: len(part)]
            if np.isnan(least):
                part = np.where(np.isnan(part), self.missing.astype(Z.dtype), part)
            elif not ((part < a).any() or (part > b).any()):
                continue
            out = Z.copy() if out is Z else out
            np.clip(part, a, b, out=out[start : start + rows])
        return out

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {"features": [f.to_dict() for f in self.features]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FeatureSpace:
        """Rebuild from :meth:`to_dict`; unknown fields are refused."""
        check_fields(data, {"features"}, "feature space")
        features: list[Feature] = []
        for item in read_list(data, "features", "feature space"):
            if isinstance(item, Mapping) and "categories" in item:
                what = "categorical feature"
                check_fields(item, {"name", "categories", "unknown"}, what)
                categories = read_list(item, "categories", what)
                if not all(type(c) is str for c in categories):
                    raise FormatError(f"categorical feature: categories must be text. Got {categories!r} instead.")
                name, unknown = read_text(item, "name", what), read_text(item, "unknown", what)
                features.append(CategoricalFeature(name, tuple(categories), unknown))
            else:
                what = "numeric feature"
                check_fields(item, {"name", "low", "high", "missing"}, what)
                low, high, missing = (read_number(item, field, what) for field in ("low", "high", "missing"))
                features.append(NumericFeature(read_text(item, "name", what), low, high, missing))
        return cls(tuple(features))


def _floats(column: Any, name: str) -> FloatArray:
    array = np.asarray(column)
    if array.dtype in (np.float32, np.float64):
        return cast("FloatArray", array)
    if array.dtype.kind == "c":
        raise BoundsError(f"Complex data not supported in {name!r}.")
    try:
        return cast("FloatArray", array.astype(np.float64))
    except (TypeError, ValueError):
        raise BoundsError(
            f"column {name!r} is not numeric; declare it in categorical_features when designing the task."
        ) from None


def category_lists(
    categories: Mapping[Any, Sequence[object]] | None, names: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return category lists by column name, from lists by name or position; refuse columns that are not there.

    >>> category_lists({1: ["F", "M"]}, ["age", "sex"])
    {'sex': ('F', 'M')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for key, listed in (categories or {}).items():
        name = column_name(key, names)
        if name is None:
            raise BoundsError(f"'categories' names an unknown column {key!r}; known are {list(names)}.")
        if isinstance(listed, str) or not hasattr(listed, "__iter__"):
            raise BoundsError(f"'categories' of {name!r} must be a list of names. Got {listed!r} instead.")
        found[name] = tuple(category_name(value) for value in listed)
    return found


def _numeric_feature(name: str, column: Any, bounds: Range | None) -> NumericFeature:
    values = _floats(column, name)
    if not np.isfinite(values).all():
        raise BoundsError(f"public column {name!r} contains NaN or infinity; impute it first.")
    if bounds is not None:
        return NumericFeature(name, *bounds)
    if values.size == 0:
        raise BoundsError("Found array with 0 sample(s) in the public data while a minimum of 1 is required.")
    return NumericFeature(name, float(values.min()), float(values.max()))
