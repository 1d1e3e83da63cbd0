"""The smooth parts of a portable model: a linear function, and a sum of Gaussian bumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError
from hedgerow.types import FloatArray

__all__ = ["Kernel", "Linear"]


_VALUES = 1 << 20  # distances at a time: 8 MB of floats


def _floats(part: Any, **shapes: int) -> None:
    """Make the named fields finite float arrays of these dimensions."""
    for name, ndim in shapes.items():
        array = np.asarray(getattr(part, name), dtype=np.float64)
        if array.ndim != ndim or not np.isfinite(array).all():
            raise FormatError(f"portable model: {name!r} must be a finite array with {ndim} dimension(s).")
        object.__setattr__(part, name, array)


@dataclass(frozen=True, eq=False)
class Linear:
    """``x @ coef``; the intercept belongs to the model.

    Examples
    --------
    >>> Linear([2.0, -1.0]).predict(np.array([[1.0, 1.0], [0.0, 3.0]])).tolist()
    [1.0, -3.0]
    """

    coef: FloatArray
    kind: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        _floats(self, coef=1)

    @property
    def n_features(self) -> int:
        """Number of columns a record must have."""
        return len(self.coef)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the value for each row."""
        return np.asarray(X, dtype=np.float64) @ self.coef

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored."""
        return {"coef": self.coef.astype("<f8")}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> Linear:
        """Undo :meth:`arrays`."""
        return cls(**arrays)


@dataclass(frozen=True, eq=False)
class Kernel:
    r"""Gaussian bumps around points, on standardised columns.

    .. math:: f(x) = \sum_i a_i \exp(-\gamma \| (x - c)/s - p_i \|^2)

    Parameters
    ----------
    points : array of shape (m, d)
        Centres of the bumps, already standardised.
    weights : array of shape (m,)
        Heights a.
    center, scale : arrays of shape (d,)
        Standardisation of records; scales are above 0.
    gamma : array of one number > 0
        Inverse squared width.

    Examples
    --------
    >>> bump = Kernel([[0.0]], [2.0], [1.0], [0.5], [1.0])
    >>> bump.predict(np.array([[1.0], [1.5]])).round(3).tolist()
    [2.0, 0.736]
    """

    points: FloatArray
    weights: FloatArray
    center: FloatArray
    scale: FloatArray
    gamma: FloatArray
    kind: ClassVar[str] = "kernel"

    def __post_init__(self) -> None:
        _floats(self, points=2, weights=1, center=1, scale=1, gamma=1)
        shape = (len(self.weights), len(self.center))
        positive = (self.scale > 0).all() and len(self.gamma) == 1 and self.gamma[0] > 0
        if self.points.shape != shape or self.scale.shape != self.center.shape or not positive:
            raise FormatError("portable model: the arrays of a kernel part do not fit together.")

    @property
    def n_features(self) -> int:
        """Number of columns a record must have."""
        return len(self.center)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the value for each row."""
        U = (np.asarray(X, dtype=np.float64) - self.center) / self.scale
        out = np.empty(len(U))
        norms = (self.points**2).sum(axis=1)
        rows = max(1, _VALUES // max(1, len(self.weights)))
        for start in range(0, len(U), rows):
            part = U[start : start + rows]
            squares = (part**2).sum(axis=1)[:, None] + norms - 2 * part @ self.points.T
            np.maximum(squares, 0.0, out=squares)
            squares *= -self.gamma[0]
            out[start : start + rows] = np.exp(squares, out=squares) @ self.weights
        return out

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored."""
        return {name: getattr(self, name).astype("<f8") for name in ("points", "weights", "center", "scale", "gamma")}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> Kernel:
        """Undo :meth:`arrays`."""
        return cls(**arrays)
