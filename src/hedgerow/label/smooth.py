"""A smooth learner of noisy errors: a Gaussian process as wide in each column as the public one, at few points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from hedgerow.portable import Matern
from hedgerow.portable.bumps import matern, squared_distances
from hedgerow.types import FloatArray

__all__ = ["SmoothErrors", "widths_of"]

_POINTS = 400  # bumps: as many as the fewest public records that this is measured with; by hand, for speed
_ROWS = 4096  # records at a time: 13 MB of floats
_NARROWER = (1.0, 2.0)  # times narrower than the public process: what few public records missed is no smoother
_RATIOS = 10.0 ** np.arange(-4.0, 1.25, 0.25)  # variance of errors over that of noise, among which evidence chooses
_JITTER = 1e-6  # of the variance, on the diagonal: keeps the covariance of points invertible in double precision
_REACH = 2.0  # standard deviations of the public prediction that are one width; by hand


def widths_of(public_model: Any, F: FloatArray) -> Matern | None:
    """Return the widths of the public process over its columns and its prediction; None where there is no process.

    ``F`` are records as learners read them, the public prediction last.
    """
    portable = getattr(public_model, "portable_", None)
    for part in getattr(portable, "parts", ()):
        if isinstance(part, Matern) and part.n_features == F.shape[1] - 1:
            g = F[:, -1]
            spread = float(g.std())
            if spread == 0:
                return None
            none = np.zeros((len(part.edges), 1))
            return Matern(
                np.zeros((0, F.shape[1])), np.zeros(0), np.append(part.center, g.mean()),
                np.append(part.scale, _REACH * spread), np.hstack([part.edges, none]), np.hstack([part.bends, none]),
            )  # fmt: skip
    return None


class SmoothErrors(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Errors as a Gaussian process of known widths, seen through noise; its height and the noise's by evidence.

    With K the correlations of records and points, and M those of points, predictions are ``K a`` with

    .. math:: a = q\, (M + q K^\top K)^{-1} K^\top r

    for errors r whose variance is q times that of noise (the process at as many points as there are: Nystroem). The
    evidence of q has a closed form, with the best variance of noise for each. Where reports were made in units of
    their own, noise is as large as the unit: with ``units`` s, rows of K and r are divided by s, which leaves noise of
    one variance.

    Parameters
    ----------
    widths : Matern
        How records are scaled; its points are not used.

    Attributes
    ----------
    smooth_, mean_ : Matern and float
        The prediction is their sum.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((4000, 1))
    >>> widths = Matern(np.zeros((0, 1)), np.zeros(0), [0.0], [0.3])
    >>> model = SmoothErrors(widths).fit(X, np.sin(6 * X[:, 0]) + rng.normal(0, 3, 4000))
    >>> bool(np.abs(model.predict(X) - np.sin(6 * X[:, 0])).mean() < 0.2)
    True
    """

    def __init__(self, widths: Matern) -> None:
        self.widths = widths

    def fit(self, X: Any, y: Any, units: FloatArray | None = None) -> SmoothErrors:
        """Fit errors whose noise is of one size, or of the sizes of their units."""
        U = self.widths.units(np.asarray(X, dtype=np.float64))
        y = np.asarray(y, dtype=np.float64)
        clear = np.ones(len(y)) if units is None else 1 / units
        self.mean_ = float(np.average(y, weights=clear**2))
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:_POINTS])
        best = -np.inf
        for narrower in _NARROWER:
            points = narrower * U[rows]
            evidence, weights = _most_likely(narrower * U, points, y - self.mean_, clear)
            if evidence > best:
                best = evidence
                self.smooth_ = replace(
                    self.widths, points=points, weights=weights, scale=self.widths.scale / narrower,
                    bends=self.widths.bends * narrower,
                )  # fmt: skip
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict."""
        return np.asarray(self.mean_ + self.smooth_.predict(np.asarray(X, dtype=np.float64)))


def _most_likely(U: FloatArray, points: FloatArray, r: FloatArray, clear: FloatArray) -> tuple[float, FloatArray]:
    """Return the logarithm of the largest evidence, and the heights of bumps that it speaks for.

    ``clear`` is one over the deviation of each error's noise, up to a factor.
    """
    from scipy.linalg import cholesky, eigh, solve_triangular

    m = len(points)
    r = clear * r
    gram = np.zeros((m, m))
    sums = np.zeros(m)
    for start in range(0, len(r), _ROWS):
        K = clear[start : start + _ROWS, None] * matern(squared_distances(U[start : start + _ROWS], points))
        gram += K.T @ K
        sums += K.T @ r[start : start + _ROWS]
    M = matern(squared_distances(points, points))
    root = cholesky(M + _JITTER * np.eye(m), lower=True)
    inner = solve_triangular(root, solve_triangular(root, gram, lower=True).T, lower=True)
    strength, turn = eigh((inner + inner.T) / 2)
    strength = np.maximum(strength, 0.0)
    seen = turn.T @ solve_triangular(root, sums, lower=True)
    best = -np.inf
    for q in _RATIOS:
        kept = q / (1 + q * strength)
        left = max(float(r @ r) - float(kept @ seen**2), 1e-12 * float(r @ r))
        evidence = -0.5 * len(r) * np.log(left) if left > 0 else 0.0
        evidence -= 0.5 * float(np.log1p(q * strength).sum())
        if evidence > best:
            best = evidence
            found = turn @ (kept * seen)
    return best, np.asarray(solve_triangular(root, found, lower=True, trans="T"))
