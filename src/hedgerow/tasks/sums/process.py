"""The smooth half of what sums may correct: a Gaussian process, of which public records know a part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.forms import Form, from_base64, to_base64
from hedgerow.portable.bumps import matern, squared_distances
from hedgerow.types import FloatArray

__all__ = ["CENTRES", "JITTER", "Process", "correlation"]

CENTRES = 400
"""Rows around which there are bumps. Gaps closed at epsilon 4 on two splits of CAL and GAS, three seeds each, in a
script: .237 and .300 with 100 of them, .255 and .376 with 200, .259 and .461 with 400, .262 and .465 with 800, .263 and
.468 with all 1,600; .239 and .396 with the forest alone."""
JITTER = 1e-6  # of the variance, that keeps a matrix with equal rows positive; rounding leaves less than 1e-10


def _write(points: npt.NDArray[np.float32]) -> str:
    return to_base64(points.astype("<f4").tobytes())


Points = Annotated[npt.NDArray[np.float32], Form(_write, from_base64)]
"""Rows as a task holds them; the number of columns gives the bytes their shape."""


@dataclass(frozen=True, eq=False)
class Process(Content, what="process"):
    """Rows like the public ones, in the units of a Gaussian process; the curator needs it, holders do not.

    Attributes
    ----------
    columns : int
        Of a row.
    points : array of shape (rows, columns)
        The rows; bumps are around the first :data:`CENTRES` of them.
    n_public : int
        How many of the first rows are public records.
    noise : float
        Variance with which these know the process, over its own.
    """

    columns: int
    points: Points
    n_public: int
    noise: float

    def __post_init__(self) -> None:
        if self.columns < 1:
            raise FormatError("'columns' of a process must be 1 or more.")
        if isinstance(self.points, bytes):
            if len(self.points) % (4 * self.columns):
                raise FormatError("'points' of a process must be rows of its columns.")
            object.__setattr__(self, "points", np.frombuffer(self.points, "<f4").reshape(-1, self.columns))
        with np.errstate(over="ignore"):  # what does not fit is infinite, and refused
            object.__setattr__(self, "points", np.asarray(self.points, dtype=np.float32))
        if self.points.shape[1:] != (self.columns,) or not len(self.points) or not np.isfinite(self.points).all():
            raise FormatError("'points' of a process must be finite rows of its columns.")
        if not 1 <= self.n_public <= len(self.points) or not 0 < self.noise <= 1:
            raise FormatError("'n_public' of a process must be in 1 .. rows, and 'noise' above 0 and up to 1.")

    @property
    def centres(self) -> FloatArray:
        """The rows around which there are bumps."""
        return self.points[:CENTRES].astype(np.float64)

    def predict(self, weights: FloatArray) -> FloatArray:
        """Return the sum of bumps of these heights, at every row."""
        return correlation(self.points.astype(np.float64), self.centres) @ weights

    def features(self) -> tuple[FloatArray, FloatArray]:
        r"""Return A and B: ``A z``, z standard normal, is a process that public records leave open, at every row.

        Its covariance over the centres Z, of which the public ones P are the first, is

        .. math:: K = k(Z, Z) - k(Z, P) (k(P, P) + noise\, I)^{-1} k(P, Z) = L L',

        between them it is interpolated (Nystrom), and over rows it has a mean variance of 1. The same process is a sum
        of bumps of heights ``B z`` around the centres everywhere.

        Examples
        --------
        >>> process = Process(1, np.array([[0.0], [5.0], [2.5]]), 1, 0.01)
        >>> A, B = process.features()
        >>> variance = np.sum(A**2, axis=1)
        >>> variance.round(1).tolist(), bool(np.allclose(A, correlation(process.points, process.centres) @ B))
        ([0.0, 1.5, 1.5], True)
        """
        V = self.points.astype(np.float64)
        Z = self.centres
        P = Z[: self.n_public]
        taken = np.linalg.solve(correlation(P, P) + max(self.noise, JITTER) * np.eye(len(P)), correlation(P, Z))
        left = np.eye(len(Z))
        left[: len(P)] -= taken
        K = correlation(V, Z) @ left
        own = (K[: len(Z)] + K[: len(Z)].T) / 2
        root = np.linalg.inv(np.linalg.cholesky(own + JITTER * np.eye(len(Z)))).T
        A = K @ root
        size = float(np.sqrt(np.mean(np.sum(A**2, axis=1))))
        return A / size, left @ root / size


def correlation(A: npt.NDArray[np.floating], B: npt.NDArray[np.floating]) -> FloatArray:
    """Return Matern's correlation of all rows of two tables.

    >>> correlation(np.array([[0.0]]), np.array([[0.0], [1.0]])).round(3).tolist()
    [[1.0, 0.524]]
    """
    return matern(squared_distances(A.astype(np.float64), B.astype(np.float64)))
