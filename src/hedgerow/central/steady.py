"""Predictions of a public model by each record alone, whatever other records are beside it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.portable import Kernel, Linear, Matern, PortableModel, Trees
from hedgerow.portable.bumps import matern
from hedgerow.portable.model import Part
from hedgerow.types import FloatArray

__all__ = ["steady"]

_VALUES = 1 << 20  # distances at a time: 8 MB of floats


def steady(model: PortableModel, Z: npt.ArrayLike) -> FloatArray:
    """Return the prediction for each encoded record, to the last bit a function of that record.

    A matrix product may round a row otherwise when other rows come or go, and then one record would move what others
    add to a sum. Here all steps are element by element, in a fixed order.

    Examples
    --------
    >>> model = PortableModel(2, [0, 1], [-1, -1], 1.0, (Linear([0.1, 0.7]),))
    >>> Z = np.random.default_rng(0).random((50, 2))
    >>> bool((steady(model, Z)[7:8] == steady(model, Z[7:8])).all())
    True
    """
    D = model.design(Z)
    out = np.full(len(D), model.intercept)
    for part in model.parts:
        out += _part(part, D)
    return out


def _part(part: Part, D: FloatArray) -> FloatArray:
    if isinstance(part, Trees):
        return part.predict(D)
    if isinstance(part, Linear):
        return _weighted(np.ascontiguousarray(D.T), part.coef)
    if isinstance(part, Kernel | Matern):
        rows = max(1, _VALUES // max(1, len(part.weights)))
        parts = [_bumps(part, D[start : start + rows]) for start in range(0, len(D), rows)]
        return np.concatenate([np.zeros(0), *parts])
    raise HedgerowError(f"a public model with a part of kind {part.kind!r} cannot be corrected; update hedgerow.")


def _weighted(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted sum of columns (here rows of an array), one after the other."""
    out = np.zeros(columns.shape[1])
    for column, weight in zip(columns, weights, strict=True):
        out += weight * column
    return out


def _bumps(part: Kernel | Matern, D: FloatArray) -> FloatArray:
    U = part.units(D)
    squares = np.zeros((len(part.points), len(D)))
    for values, centres in zip(U.T, part.points.T, strict=True):
        squares += np.square(values[None, :] - centres[:, None])
    if isinstance(part, Matern):
        return _weighted(matern(squares), part.weights)
    return _weighted(np.exp(-part.gamma[0] * squares), part.weights)
