"""Public facts about the data: label bounds and grid, feature ranges, category lists.

Nothing here is ever computed from private data. Ranges and categories are either given or taken from
*public* records, and whatever lies outside is clipped on the holder's side, never dropped: a record that
stays silent because of its value would leak that value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError, FormatError
from hedgerow.randomness import Randomness
from hedgerow.ranges import Range, column_name, feature_ranges, read_pair

__all__ = [
    "CategoricalFeature",
    "Feature",
    "FeatureSpace",
    "LabelGrid",
    "NumericFeature",
    "category_lists",
    "category_name",
    "check_label_bounds",
    "check_labels",
    "read_list",
    "read_number",
    "read_text",
    "read_whole",
]

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int64]

_CLIP_VALUES = 1 << 15


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
    low, high = read_pair(label_bounds, name)
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
        # Adding 0.0 turns -0.0 into 0.0, so that equal grids have equal digests.
        object.__setattr__(self, "low", low + 0.0)
        object.__setattr__(self, "high", high + 0.0)
        whole = isinstance(self.n_steps, int | np.integer) and not isinstance(self.n_steps, bool)
        if not whole or not 1 <= self.n_steps <= 1 << 20:
            raise BoundsError(f"'n_steps' must be an integer in 1 .. 2**20. Got {self.n_steps!r} instead.")
        object.__setattr__(self, "n_steps", int(self.n_steps))
        if self.high - self.low < 1e-300:
            raise BoundsError(f"'label_bounds' are too close together. Got {(self.low, self.high)!r} instead.")

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
        """Clip labels to the bounds and round them at random to levels, without bias.

        Levels are 24-bit fixed point numbers plus 24 random bits, rounded down (a bias below ``2**-24`` of a step).
        The first 8 bits decide whether there is a carry, unless their sum is 255; only then are the rest drawn.
        """
        labels = np.asarray(y, dtype=np.float64)
        position = np.clip(labels, self.low, self.high).ravel()
        position -= self.low
        position *= 256 * (self.n_steps / (self.high - self.low))
        np.minimum(position, 256.0 * self.n_steps, out=position)
        levels = position.astype(np.int32)
        levels += randomness.uint8(levels.size)
        unsure = np.flatnonzero(levels & 255 == 255)
        rest = (position[unsure] % 1.0 * 65536).astype(np.uint32)
        levels[unsure] += randomness.uint16(unsure.size) < rest
        levels >>= 8
        return levels.reshape(labels.shape).astype(np.int64)

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
        low, high = read_number(data, "low", "label grid"), read_number(data, "high", "label grid")
        return cls(low, high, read_whole(data, "n_steps", "label grid"))


@dataclass(frozen=True)
class NumericFeature:
    """A numeric column with a public range; values outside are clipped."""

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        # Plain floats without -0.0: equal features have equal JSON, hence equal digests.
        object.__setattr__(self, "low", float(self.low) + 0.0)
        object.__setattr__(self, "high", float(self.high) + 0.0)
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
        object.__setattr__(self, "categories", tuple(category_name(c) for c in self.categories))
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
            return np.array([index[category_name(v)] for v in values], dtype=np.float64)
        except KeyError as missing:
            raise BoundsError(
                f"column {self.name!r} has the unknown category {missing.args[0]!r}; known are "
                f"{list(self.categories)[:10]}. Map it to one of them on the device, or design the task "
                "with categories={...} that lists it."
            ) from None


Feature = NumericFeature | CategoricalFeature


def category_name(value: Any) -> str:
    """Return the canonical name of a category: 1, 1.0 and np.int64(1) are all ``"1"``."""
    if isinstance(value, str):
        return value
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")  # pandas' own, without pandas
    if missing or (isinstance(value, float | np.floating) and math.isnan(value)):
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


def read_number(data: Mapping[str, Any], name: str, what: str) -> float:
    """Return a finite number of a JSON object; JavaScript writes 1.0 as 1, so integers are fine."""
    value = data[name]
    if type(value) not in (int, float) or not abs(value) <= 1.7976931348623157e308:
        raise FormatError(f"{what}: {name!r} must be a finite number. Got {value!r} instead.")
    return float(value)


def read_whole(data: Mapping[str, Any], name: str, what: str) -> int:
    """Return an integer of a JSON object; booleans and floats are not integers."""
    value = data[name]
    if type(value) is not int:
        raise FormatError(f"{what}: {name!r} must be an integer. Got {value!r} instead.")
    return value


def read_text(data: Mapping[str, Any], name: str, what: str) -> str:
    """Return a text of a JSON object."""
    value = data[name]
    if type(value) is not str:
        raise FormatError(f"{what}: {name!r} must be text. Got {value!r} instead.")
    return value


def read_list(data: Mapping[str, Any], name: str, what: str) -> list[Any]:
    """Return a list of a JSON object."""
    value = data[name]
    if type(value) is not list:
        raise FormatError(f"{what}: {name!r} must be a list. Got {type(value).__name__} instead.")
    return value


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
                values = (
                    sorted({category_name(v) for v in np.asarray(column, dtype=object)}) if listed is None else listed
                )
                features.append(CategoricalFeature(name, tuple(category_name(v) for v in values)))
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
        if isinstance(record, str | bytes) or not hasattr(record, "__len__") or getattr(record, "ndim", 1) != 1:
            raise BoundsError(f"a record must be a mapping or one row of values. Got {record!r} instead.")
        values = np.empty((1, len(record)), dtype=object)
        values[0] = list(record)
        return cast("FloatArray", self.encode(values)[0])

    def outside(self, X: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which raw numeric records lie outside the ranges (before clipping)."""
        numeric = ~self.is_categorical
        Z = np.asarray(X)[:, numeric]
        return cast("npt.NDArray[np.bool_]", ((self.low[numeric] > Z) | (self.high[numeric] < Z)).any(axis=1))

    def _clip(self, Z: FloatArray) -> FloatArray:
        """Refuse NaN and infinity, and clip; a copy is made only if something lies outside."""
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
            if not (np.isfinite(least) and np.isfinite(most)):
                raise BoundsError("Input X contains NaN or infinity; impute missing values on the device.")
            if least >= inner[0] and most <= inner[1]:
                continue
            a, b = lows[: len(part)], highs[: len(part)]
            if (part < a).any() or (part > b).any():
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
                check_fields(item, {"name", "categories"}, "categorical feature")
                categories = read_list(item, "categories", "categorical feature")
                if not all(type(c) is str for c in categories):
                    raise FormatError(f"categorical feature: categories must be text. Got {categories!r} instead.")
                features.append(CategoricalFeature(read_text(item, "name", "categorical feature"), tuple(categories)))
            else:
                what = "numeric feature"
                check_fields(item, {"name", "low", "high"}, what)
                low, high = read_number(item, "low", what), read_number(item, "high", what)
                features.append(NumericFeature(read_text(item, "name", what), low, high))
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
