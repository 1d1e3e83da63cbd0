"""Sums of bumps around points: Gaussian ones, and those of a Gaussian process with Matern's correlation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError
from hedgerow.portable.smooth import floats
from hedgerow.types import FloatArray

__all__ = ["FARTHEST", "Kernel", "Matern", "matern", "squared_distances"]


_VALUES = 1 << 20  # distances at a time: 8 MB of floats
FARTHEST = 800.0
"""Scaled distances are cut to this: exp(-800) is 0 in floating point, and 0 times infinity would be no number."""


def squared_distances(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return all squared distances between rows.

    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[25.0, 1.0]]
    """
    out: FloatArray = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
    return np.maximum(out, 0.0, out=out)


def matern(squares: FloatArray) -> FloatArray:
    r"""Return Matern's correlation 5/2 by squared distances ``r^2``, overwriting them.

    .. math:: (1 + t + t^2/3) e^{-t}, \qquad t = \sqrt 5\, r

    >>> matern(np.array([0.0, 1.0, 1e300])).round(4).tolist()
    [1.0, 0.524, 0.0]
    """
    squares *= 5.0
    t = np.minimum(np.sqrt(squares, out=squares), FARTHEST, out=squares)
    out = t / 3.0
    out += 1.0
    out *= t
    out += 1.0
    np.negative(t, out=t)
    out *= np.exp(t, out=t)
    return out


def _check(part: Kernel | Matern, positive: bool) -> None:
    """Refuse arrays that do not fit together."""
    shape = (len(part.weights), len(part.center))
    fits = part.points.shape == shape and part.scale.shape == part.center.shape
    if not fits or not positive or not (part.scale > 0).all():
        raise FormatError(f"portable model: the arrays of a {part.kind} part do not fit together.")


def _predict(part: Kernel | Matern, X: FloatArray, bump: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return the sum of bumps for each row, many rows at a time."""
    U = part.units(np.asarray(X, dtype=np.float64))
    out = np.empty(len(U))
    rows = max(1, _VALUES // max(1, len(part.weights)))
    for start in range(0, len(U), rows):
        squares = squared_distances(U[start : start + rows], part.points)
        out[start : start + rows] = bump(squares) @ part.weights
    return out


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
        floats(self, points=2, weights=1, center=1, scale=1, gamma=1)
        _check(self, len(self.gamma) == 1 and bool(self.gamma[0] > 0))

    @property
    def n_features(self) -> int:
        """Number of columns a record must have."""
        return len(self.center)

    def units(self, X: FloatArray) -> FloatArray:
        """Return records in the units of the points."""
        return (X - self.center) / self.scale

    def _bump(self, squares: FloatArray) -> FloatArray:
        squares *= -self.gamma[0]
        return np.exp(squares, out=squares)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the value for each row."""
        return _predict(self, X, self._bump)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored."""
        return {name: getattr(self, name).astype("<f8") for name in ("points", "weights", "center", "scale", "gamma")}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> Kernel:
        """Undo :meth:`arrays`."""
        return cls(**arrays)


@dataclass(frozen=True, eq=False)
class Matern:
    r"""The smooth part of a Gaussian process: bumps of Matern's shape 5/2, with a width a column, over bent columns.

    .. math:: f(x) = \sum_i a_i m(\| u(x) - p_i \|), \qquad m(r) = (1 + \sqrt5 r + \tfrac53 r^2) e^{-\sqrt5 r}

    .. math:: u_j(x) = (x_j - c_j)/s_j + \sum_k b_{kj} \max(x_j - e_{kj}, 0)

    Parameters
    ----------
    points : array of shape (m, d)
        Centres of the bumps, in the units of u.
    weights : array of shape (m,)
        Heights a.
    center, scale : arrays of shape (d,)
        Shift of records, and the length-scale of each column, above 0.
    edges, bends : arrays of shape (k, d), optional
        Where the slope of a column changes, and by how much.

    Examples
    --------
    >>> bump = Matern([[0.0]], [2.0], [1.0], [0.5])
    >>> bump.predict(np.array([[1.0], [1.5]])).round(3).tolist()
    [2.0, 1.048]
    >>> Matern([[0.0]], [2.0], [1.0], [0.5], [[1.0]], [[-2.0]]).predict(np.array([[1.5], [9.0]])).tolist()
    [2.0, 2.0]
    """

    points: FloatArray
    weights: FloatArray
    center: FloatArray
    scale: FloatArray
    edges: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    bends: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    kind: ClassVar[str] = "matern"

    def __post_init__(self) -> None:
        floats(self, points=2, weights=1, center=1, scale=1, edges=2, bends=2)
        if self.edges.shape == (0, 0):
            object.__setattr__(self, "edges", np.zeros((0, len(self.center))))
        if self.bends.shape == (0, 0):
            object.__setattr__(self, "bends", np.zeros((0, len(self.center))))
        _check(self, self.edges.shape == self.bends.shape and self.edges.shape[1] == len(self.center))

    @property
    def n_features(self) -> int:
        """Number of columns a record must have."""
        return len(self.center)

    def units(self, X: FloatArray) -> FloatArray:
        """Return records in the units of the points."""
        out = (X - self.center) / self.scale
        for edge, bend in zip(self.edges, self.bends, strict=True):
            away = X - edge
            out += bend * np.maximum(away, 0.0, out=away)
        return out

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the value for each row."""
        return _predict(self, X, matern)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored."""
        names = ("points", "weights", "center", "scale", "edges", "bends")
        return {name: getattr(self, name).astype("<f8") for name in names}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> Matern:
        """Undo :meth:`arrays`."""
        return cls(**arrays)
