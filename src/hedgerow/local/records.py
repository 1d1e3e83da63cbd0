"""What estimators share: rows of records, and, without public data, numeric records within public bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.bounds import FeatureSpace, check_label_bounds
from hedgerow.errors import HedgerowError
from hedgerow.estimators.records import column_names, declared_categories, read_private_labels, read_private_records

__all__ = ["check_number", "encode", "open_records", "take_rows"]

FloatArray = npt.NDArray[np.floating[Any]]


def open_records(estimator: Any, X: Any, y: Any) -> tuple[FeatureSpace, FloatArray, FloatArray]:
    """Check the shape of private records; return their public schema, scaled records and labels.

    Ranges come from the estimator's ``feature_bounds`` and never from ``X``. Frames keep their column names.
    """
    check_label_bounds(estimator.label_bounds)
    rows = read_private_records(estimator, X, reset=True)
    declared_categories(rows, estimator.feature_bounds, None, None)
    space = FeatureSpace.from_bounds(estimator.feature_bounds, column_names(rows))
    return space, unit(space, rows), read_private_labels(estimator, y, rows.shape[0], estimator.label_bounds)


def encode(estimator: Any, space: FeatureSpace, X: Any) -> FloatArray:
    """Return records to predict for, scaled."""
    return unit(space, read_private_records(estimator, X, reset=False))


def take_rows(X: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Return these rows of a frame or an array."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "column_names"):  # Arrow
        return X.take(rows)
    return X[rows] if hasattr(X, "columns") else np.asarray(X)[rows]


def unit(space: FeatureSpace, array: Any) -> FloatArray:
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
