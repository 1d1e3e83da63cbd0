"""A Gaussian process with a length-scale a column, for labels that vary smoothly with some of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from hedgerow.portable import Matern
from hedgerow.public.curves import Curves
from hedgerow.public.evidence import covariance, most_likely
from hedgerow.types import FloatArray

__all__ = ["GaussianProcess"]


MOST_ROWS = 1200  # whose covariance is factored in a tenth of a second, and takes 12 MB
TUNED_ROWS = 500  # by which its parameters are chosen, in about a second; by hand


class GaussianProcess(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A smooth function with a length-scale a column, a line, and noise; parameters by evidence with weak priors.

    Columns may be bent towards the normal law (:mod:`hedgerow.public.curves`), all by the same share, which the
    evidence chooses too. At most 1,200 rows are used and at most 500 of them for the parameters: those that come first
    in a random order by ``random_state``. Columns and labels are standardised.

    Attributes
    ----------
    smooth_ : Matern
        The smooth part.
    coef_, mean_ : array and float
        The line: ``mean_ + x @ coef_``.
    parameters_ : array
        What :func:`hedgerow.public.evidence.covariance` takes.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> model = GaussianProcess().fit(X, np.sin(6 * X[:, 0]))
    >>> bool(np.abs(model.predict(X) - np.sin(6 * X[:, 0])).max() < 0.01)
    True
    >>> int(model.smooth_.scale.argmin())  # the only column that matters
    0
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> GaussianProcess:
        """Fit."""
        X = np.asarray(X, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        rows = np.random.default_rng(self.random_state).permutation(len(y))[:MOST_ROWS]
        X = X[rows]
        y = y[rows]
        center = X.mean(axis=0)
        spread = X.std(axis=0)
        spread = np.where(spread > 1e-12 * np.maximum(1.0, np.abs(center)), spread, 1.0)
        U = (X - center) / spread
        curves = Curves.of(X, center, spread)
        added = curves(X)
        mean = float(y.mean())
        height = float(y.std()) or 1.0
        labels = (y - mean) / height
        self.parameters_ = most_likely(U[:TUNED_ROWS], added[:TUNED_ROWS], labels[:TUNED_ROWS])
        lengths = np.exp(self.parameters_[:-4])
        share = float(self.parameters_[-4])
        signal, linear, _ = np.exp(self.parameters_[-3:])
        dual = height * _solve(covariance(U, added, self.parameters_), labels)
        self.coef_ = linear * (dual @ U) / spread
        self.mean_ = mean - float(center @ self.coef_)
        points = (U + share * added) / lengths
        start = center - share * curves.start * spread
        bends = share * curves.bends / lengths
        self.smooth_ = Matern(points, signal * dual, start, spread * lengths, curves.edges, bends)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict."""
        X = np.asarray(X, dtype=np.float64)
        return np.asarray(self.mean_ + X @ self.coef_ + self.smooth_.predict(X))


def _solve(K: FloatArray, y: FloatArray) -> FloatArray:
    from scipy.linalg import cho_factor, cho_solve

    return np.asarray(cho_solve(cho_factor(K, lower=True, overwrite_a=True), y))
