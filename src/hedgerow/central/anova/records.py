"""Records as the model reads them, and as a public model does that knows nothing of missing values."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.errors import BoundsError
from hedgerow.features import CategoricalFeature
from hedgerow.frames import columns_of
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray
from hedgerow.values import category, cells, numbers

__all__ = ["MISSING", "encode", "plain"]

MISSING = "(missing)"
"""The category of a missing categorical value."""


def encode(space: FeatureSpace, X: Any, missing: bool) -> FloatArray:
    """Return records as floats; with ``missing``, NaN for a missing number and a category of its own for the others."""
    if not missing:
        return np.asarray(space.encode(X), dtype=np.float64)
    names, columns = columns_of(X)
    if names is None or columns is None:
        array = np.asarray(X)
        names = list(space.inputs)
        columns = list(array.T) if array.ndim == 2 else []
    if len(columns) != len(space.columns) or not set(space.inputs) <= set(names):
        raise BoundsError(f"X has {len(columns)} features, but {len(space.columns)} features are expected.")
    out = np.empty((int(X.shape[0]), len(space)))
    for j, feature in enumerate(space.columns):
        column = columns[names.index(feature.name)]
        if isinstance(feature, CategoricalFeature):
            # An empty text is missing too, as everywhere, unless it is listed.
            gaps = (None,) if "" in feature.categories else (None, "")
            out[:, j] = feature.codes([MISSING if category(v) in gaps else v for v in cells(column)])
        else:
            out[:, j] = np.clip(numbers(column), feature.low, feature.high)
    out[:, len(space.columns) :] = np.isnan(out[:, space.told])
    return out


def plain(space: FeatureSpace, Z: FloatArray) -> FloatArray:
    """Return encoded records as a model reads them that knows nothing of missing values."""
    out = Z.copy()
    for j, feature in enumerate(space.columns):
        if isinstance(feature, CategoricalFeature):
            if feature.categories[-1] == MISSING:
                out[:, j][out[:, j] == len(feature.categories) - 1] = feature.categories.index(feature.missing)
        else:
            out[:, j][np.isnan(out[:, j])] = feature.missing
    return out
