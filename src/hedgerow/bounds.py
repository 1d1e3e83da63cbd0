"""Public facts about the data: label bounds and grid, feature ranges, category lists.

Nothing here is ever computed from private data. Ranges and categories are either given or taken from
*public* records, and whatever lies outside is clipped on the holder's side, never dropped: a record that
stays silent because of its value would leak that value.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError, FormatError
from hedgerow.randomness import Randomness

__all__ = [
    "CategoricalFeature",
    "Feature",
    "FeatureSpace",
    "LabelGrid",
    "NumericFeature",
    "check_label_bounds",
    "check_labels",
]

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int64]


def check_label_bounds(label_bounds: object, *, name: str = "label_bounds") -> tuple[float, float]:
    """Return ``(low, high)`` as floats, or say what is wrong with them.

    >>> check_label_bounds((0, 80))
    (0.0, 80.0)
    """
    if label_bounds is None:
        raise BoundsError(
            f"'{name}' is required: pass {name}=(low, high), the public range of the label. "
            "It is never read from the labels, because their minimum and maximum are private."
        )
    try:
        low, high = (float(b) for b in cast("Sequence[float]", label_bounds))
    except (TypeError, ValueError):
        raise BoundsError(f"'{name}' must be a pair (low, high). Got {label_bounds!r} instead.") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BoundsError(f"'{name}' must be finite with low < high. Got {label_bounds!r} instead.")
    if not math.isfinite(high - low):
        raise BoundsError(f"'{name}' spans more than a float can hold. Got {label_bounds!r} instead.")
    return low, high


def check_labels(y: object, *, name: str = "y", n: int | None = None) -> FloatArray:
    """Return labels as a 1-d float array; refuse NaN, infinities and wrong shapes."""
    try:
        array = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise BoundsError(f"'{name}' must be numeric labels. Got {type(y).__name__} instead.") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise BoundsError(f"'{name}' must be 1-dimensional. Got shape {array.shape} instead.")
    if n is not None and array.shape[0] != n:
        raise BoundsError(f"'{name}' must have one label a record: {n}. Got {array.shape[0]} instead.")
    if not np.isfinite(array).all():
        raise BoundsError(f"'{name}' contains NaN or infinity; remove or impute such labels on the device.")
    return array


@dataclass(frozen=True)
class LabelGrid:
    """Labels as integers ``0 .. n_steps`` on ``[low, high]``.

    Parameters
    ----------
    low, high : float
        Public label bounds; labels outside are clipped.
    n_steps : int
        Number of grid steps; level ``k`` stands for ``low + k * step``.

    Notes
    -----
    ``levels`` rounds at random to one of the two neighbouring levels so that the expectation is the clipped
    label: a coarse grid then adds variance (at most ``step**2 / 4``) but no bias. Rounding happens before
    the mechanism, so a mechanism that is epsilon-DP on levels is epsilon-DP on labels (a mixture over the
    rounding cannot raise a likelihood ratio).

    Examples
    --------
    >>> grid = LabelGrid(0.0, 80.0, 8)
    >>> grid.step
    10.0
    >>> grid.values([0, 3, 8]).tolist()
    [0.0, 30.0, 80.0]
    """

    low: float
    high: float
    n_steps: int

    def __post_init__(self) -> None:
        low, high = check_label_bounds((self.low, self.high))
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if not 1 <= int(self.n_steps) <= 1 << 20:
            raise BoundsError(f"'n_steps' must be in 1 .. 2**20. Got {self.n_steps!r} instead.")
        object.__setattr__(self, "n_steps", int(self.n_steps))

    @classmethod
    def for_epsilon(cls, label_bounds: object, epsilon: float) -> LabelGrid:
        """Return the default grid for Laplace noise of this epsilon on the label.

        Random rounding adds at most ``step^2/4``; the noise has variance about ``2 (n_steps*step/eps)^2``.
        ``n_steps = 16 eps`` keeps the ratio at ``1/(8*16^2)``, below 0.05 percent, and keeps the noise about
        16 steps wide, so that few distinct noisy labels occur and simulation stays cheap.
        """
        low, high = check_label_bounds(label_bounds)
        steps = 4096 if math.isinf(epsilon) else min(4096, max(2, math.ceil(16 * epsilon)))
        return cls(low, high, steps)

    @property
    def step(self) -> float:
        """Width of one grid step."""
        return (self.high - self.low) / self.n_steps

    def levels(self, y: object, randomness: Randomness) -> IntArray:
        """Clip labels to the bounds and round them at random to levels, without bias."""
        labels = np.asarray(y, dtype=np.float64)
        position = (np.clip(labels, self.low, self.high) - self.low) * (self.n_steps / (self.high - self.low))
        floor = np.minimum(np.floor(position), self.n_steps - 1)
        # 24 bits of the fraction (a bias below 2**-24 of a step); 8 of them nearly always decide.
        fraction = ((position - floor) * (1 << 24)).astype(np.uint32).ravel()
        first = randomness.uint8(labels.size)
        head = fraction >> np.uint32(16)
        up = first < head
        unsure = np.flatnonzero(first == head)
        up[unsure] = randomness.uint16(unsure.size) < (fraction[unsure] & np.uint32(0xFFFF))
        return floor.astype(np.int64) + up.reshape(labels.shape)

    def values(self, levels: object) -> npt.NDArray[np.float64]:
        """Return the labels that (possibly noisy) levels stand for."""
        return self.low + np.asarray(levels, dtype=np.float64) * self.step

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {"low": self.low, "high": self.high, "n_steps": self.n_steps}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LabelGrid:
        """Rebuild from :meth:`to_dict`; unknown fields are refused."""
        check_fields(data, {"low", "high", "n_steps"}, "label grid")
        return cls(float(data["low"]), float(data["high"]), int(data["n_steps"]))


@dataclass(frozen=True)
class NumericFeature:
    """A numeric column with a public range; values outside are clipped."""

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise BoundsError(
                f"'feature_bounds' of {self.name!r} must be finite with low <= high. "
                f"Got ({self.low}, {self.high}) instead."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {"name": self.name, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class CategoricalFeature:
    """A column with a public list of categories (kept as strings)."""

    name: str
    categories: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.categories or len(set(self.categories)) != len(self.categories):
            raise BoundsError(f"'categories' of {self.name!r} must be a list of distinct names.")

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {"name": self.name, "categories": list(self.categories)}

    def codes(self, column: object) -> npt.NDArray[np.float64]:
        """Map values to their position in the category list."""
        index = {c: float(i) for i, c in enumerate(self.categories)}
        values = np.asarray(column, dtype=object)
        try:
            return np.array([index[_category(v)] for v in values], dtype=np.float64)
        except KeyError as missing:
            raise BoundsError(
                f"column {self.name!r} has the unknown category {missing.args[0]!r}; known are "
                f"{list(self.categories)[:10]}. Map it to one of them on the device, or design the task "
                "with categories={...} that lists it."
            ) from None


Feature = NumericFeature | CategoricalFeature


def _category(value: Any) -> str:
    """Return the canonical name of a category: 1, 1.0 and np.int64(1) are all ``"1"``."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        raise BoundsError("a categorical value is missing; impute it on the device or give it a category.")
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def check_fields(data: Mapping[str, Any], expected: set[str], what: str) -> None:
    """Refuse missing or unknown fields of a JSON object, so that versions never mix silently."""
    if not isinstance(data, Mapping):
        raise FormatError(f"{what}: expected a JSON object. Got {type(data).__name__} instead.")
    keys = set(data)
    if keys != expected:
        missing, unknown = sorted(expected - keys), sorted(keys - expected)
        raise FormatError(f"{what}: missing fields {missing}, unknown fields {unknown}; wrong version?")


def _columns(X: object) -> tuple[list[str] | None, list[Any] | None]:
    """Return names and columns of a data frame (pandas, polars, Arrow), or ``(None, None)``."""
    names = getattr(X, "columns", None)
    if names is None or not hasattr(X, "__getitem__") or not hasattr(X, "shape"):
        return None, None
    names = list(names)
    return [str(c) for c in names], [cast("Any", X)[c] for c in names]


def _as_array(X: object) -> npt.NDArray[Any]:
    array = np.asarray(X)
    if array.dtype.kind == "O":
        with contextlib.suppress(TypeError, ValueError):
            array = array.astype(np.float64)
    if array.ndim != 2:
        raise BoundsError(
            f"'X' must be 2-dimensional (records x features). Got shape {array.shape} instead. "
            "Reshape your data with X.reshape(1, -1) if it is a single record."
        )
    return array


def _is_text(column: Any) -> bool:
    kind = str(getattr(column, "dtype", ""))
    return kind.lower() in {
        "category",
        "categorical",
        "string",
        "str",
        "object",
        "utf8",
    } or kind.lower().startswith(("enum", "categorical", "string", "large_string"))


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
        bounds = _bounds_matrix(feature_bounds, len(names))
        chosen = {names[c] if isinstance(c, int | np.integer) else str(c) for c in categorical_features or ()}
        given = {str(k): v for k, v in (categories or {}).items()}
        unknown = (chosen | set(given)) - set(names)
        if unknown:
            raise BoundsError(f"'categorical_features' names unknown columns {sorted(unknown)}; known: {names}.")
        features: list[Feature] = []
        for j, (name, column) in enumerate(zip(names, columns, strict=True)):
            if name in chosen or name in given or (not _numeric(column) and _is_text(column)):
                listed = given.get(name)
                values = (
                    listed if listed is not None else sorted({_category(v) for v in np.asarray(column, dtype=object)})
                )
                features.append(CategoricalFeature(name, tuple(_category(v) for v in values)))
            else:
                features.append(_numeric_feature(name, column, None if bounds is None else bounds[:, j]))
        return cls(tuple(features))

    @classmethod
    def from_bounds(cls, feature_bounds: object, names: Sequence[str] | int) -> FeatureSpace:
        """Numeric features with given public ranges, when there is no public data."""
        labels = [f"x{j}" for j in range(names)] if isinstance(names, int) else [str(n) for n in names]
        if feature_bounds is None:
            raise BoundsError(
                "'feature_bounds' is required without public data: pass feature_bounds=(low, high) or an "
                "array of shape (2, d). Ranges are never read from private records."
            )
        bounds = cast("npt.NDArray[np.float64]", _bounds_matrix(feature_bounds, len(labels)))
        return cls(tuple(NumericFeature(n, float(bounds[0, j]), float(bounds[1, j])) for j, n in enumerate(labels)))

    def encode(self, X: object) -> FloatArray:
        """Return records as a float matrix: numbers clipped to their range, categories as codes."""
        names, columns = _columns(X)
        if columns is not None and names is not None:
            if not self.is_categorical.any() and set(names) == set(self.names):
                columns = [_floats(columns[names.index(f)], f) for f in self.names]
            else:
                absent = [f for f in self.names if f not in names]
                if absent:
                    raise BoundsError(f"'X' lacks the columns {absent}; the task asks for {list(self.names)}.")
                columns = [columns[names.index(f)] for f in self.names]
        else:
            array = _as_array(X)
            if array.shape[1] != len(self):
                raise BoundsError(
                    f"X has {array.shape[1]} features, but {len(self)} features are expected: {list(self.names)}."
                )
            if not self.is_categorical.any():
                return self._clip(_floats(array, "X"))
            columns = [array[:, j] for j in range(len(self))]
        out = np.empty((len(columns[0]), len(self)), dtype=np.float64)
        for j, (feature, column) in enumerate(zip(self.features, columns, strict=True)):
            numeric = isinstance(feature, NumericFeature)
            out[:, j] = _floats(column, feature.name) if numeric else cast("Any", feature).codes(column)
        return self._clip(out)

    def encode_record(self, record: Mapping[str, Any] | Sequence[Any] | npt.NDArray[Any]) -> FloatArray:
        """Encode one record, given as a mapping by name or as a sequence in column order."""
        if isinstance(record, Mapping):
            absent = [f for f in self.names if f not in record]
            if absent:
                raise BoundsError(f"the record lacks {absent}; the task asks for {list(self.names)}.")
            record = [record[name] for name in self.names]
        values = np.empty((1, len(record)), dtype=object)
        values[0] = list(record)
        return cast("FloatArray", self.encode(values)[0])

    def outside(self, X: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which raw numeric records lie outside the ranges (before clipping)."""
        numeric = ~self.is_categorical
        Z = np.asarray(X)[:, numeric]
        return cast("npt.NDArray[np.bool_]", ((self.low[numeric] > Z) | (self.high[numeric] < Z)).any(axis=1))

    def _clip(self, Z: FloatArray) -> FloatArray:
        if not np.isfinite(Z).all():
            raise BoundsError("Input X contains NaN or infinity; impute missing values on the device.")
        low, high = self.low.astype(Z.dtype), self.high.astype(Z.dtype)
        if (low > Z).any() or (high < Z).any():
            return np.clip(Z, low, high)
        return Z

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {"features": [f.to_dict() for f in self.features]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FeatureSpace:
        """Rebuild from :meth:`to_dict`; unknown fields are refused."""
        check_fields(data, {"features"}, "feature space")
        features: list[Feature] = []
        for item in data["features"]:
            if "categories" in item:
                check_fields(item, {"name", "categories"}, "categorical feature")
                features.append(CategoricalFeature(str(item["name"]), tuple(map(str, item["categories"]))))
            else:
                check_fields(item, {"name", "low", "high"}, "numeric feature")
                features.append(NumericFeature(str(item["name"]), float(item["low"]), float(item["high"])))
        return cls(tuple(features))


def _numeric(column: Any) -> bool:
    return np.asarray(column).dtype.kind in "fiub"


def _floats(column: Any, name: str) -> FloatArray:
    array = np.asarray(column)
    if array.dtype.kind == "f":
        return cast("FloatArray", array)
    if array.dtype.kind == "c":
        raise BoundsError(f"Complex data not supported in {name!r}.")
    try:
        return cast("FloatArray", array.astype(np.float64))
    except (TypeError, ValueError):
        raise BoundsError(
            f"column {name!r} is not numeric; declare it in categorical_features when designing the task."
        ) from None


def _numeric_feature(name: str, column: Any, bounds: npt.NDArray[np.float64] | None) -> NumericFeature:
    values = _floats(column, name)
    if not np.isfinite(values).all():
        raise BoundsError(f"public column {name!r} contains NaN or infinity; impute it first.")
    if bounds is not None:
        return NumericFeature(name, float(bounds[0]), float(bounds[1]))
    if values.size == 0:
        raise BoundsError("Found array with 0 sample(s) in the public data while a minimum of 1 is required.")
    return NumericFeature(name, float(values.min()), float(values.max()))


def _bounds_matrix(feature_bounds: object, d: int) -> npt.NDArray[np.float64] | None:
    """Return bounds of shape ``(2, d)`` from a pair or such a matrix."""
    if feature_bounds is None:
        return None
    try:
        bounds = np.asarray(feature_bounds, dtype=np.float64)
    except (TypeError, ValueError):
        bounds = np.empty(0)
    if bounds.shape == (2,):
        bounds = np.repeat(bounds[:, None], d, axis=1)
    if bounds.shape != (2, d):
        raise BoundsError(
            f"'feature_bounds' must be a pair (low, high) or an array of shape (2, {d}). "
            f"Got {feature_bounds!r} instead."
        )
    return bounds
