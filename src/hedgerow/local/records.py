"""What estimators share: rows of records, and, without public data, numeric records within public bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import column_or_1d, validate_data

from hedgerow.bounds import FeatureSpace, check_label_bounds, check_labels
from hedgerow.errors import HedgerowError

__all__ = ["check_number", "encode", "open_records", "take_rows"]

FloatArray = npt.NDArray[np.floating[Any]]


def open_records(estimator: Any, X: Any, y: Any) -> tuple[FeatureSpace, FloatArray, FloatArray]:
    """Check private records the scikit-learn way; return their public schema, scaled records and labels.

    Ranges come from the estimator's ``feature_bounds`` and never from ``X``. Frames keep their column names.
    """
    check_label_bounds(estimator.label_bounds)
    if y is None:
        raise HedgerowError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    array = validate_data(estimator, X, reset=True, dtype=[np.float64, np.float32])
    names = getattr(estimator, "feature_names_in_", array.shape[1])
    space = FeatureSpace.from_bounds(
        estimator.feature_bounds, names if isinstance(names, int) else [str(n) for n in names]
    )
    return space, unit(space, array), check_labels(column_or_1d(y, warn=True), n=len(array))


def encode(estimator: Any, space: FeatureSpace, X: Any) -> FloatArray:
    """Return records to predict for, scaled."""
    return unit(space, validate_data(estimator, X, reset=False, dtype=[np.float64, np.float32]))


def take_rows(X: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Return these rows of a frame or an array."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows] if hasattr(X, "columns") else np.asarray(X)[rows]


def unit(space: FeatureSpace, array: FloatArray) -> FloatArray:
    """Clip numeric records to their public ranges and scale these to [0, 1]; a constant column becomes 0."""
    low, high = space.low, space.high
    width = np.where(high > low, high - low, 1.0)
    scaled: FloatArray = np.clip((np.asarray(space.encode(array), dtype=np.float64) - low) / width, 0.0, 1.0)
    return scaled


def check_number(value: object, *, name: str, above: float = 0.0, below: float = np.inf) -> float:
    """Return a float strictly between two limits."""
    real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not real or not above < float(value) < below:  # type: ignore[arg-type]
        upper = "" if np.isinf(below) else f" and < {below:g}"
        raise HedgerowError(f"The '{name}' parameter must be a number > {above:g}{upper}. Got {value!r} instead.")
    return float(value)  # type: ignore[arg-type]
