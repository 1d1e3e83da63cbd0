"""A Gaussian process with a length-scale a column, for labels that vary smoothly with some of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from hedgerow.portable.bumps import matern, squared_distances
from hedgerow.public.evidence import covariance, most_likely
from hedgerow.types import FloatArray

__all__ = ["GaussianProcess"]


MOST_ROWS = 1200  # whose covariance is factored in a tenth of a second, and takes 12 MB
TUNED_ROWS = 500  # by which its parameters are chosen, in about a second; by hand


class GaussianProcess(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A smooth function with a length-scale a column, a line, and noise; parameters by evidence with weak priors.

    At most 1,200 rows are used and at most 500 of them for the parameters: those that come first in a random order by
    ``random_state``. Columns and labels are standardised.

    Attributes
    ----------
    center_, scale_, points_, weights_ : arrays
        The smooth part, as :class:`hedgerow.portable.Matern` has it.
    coef_, mean_ : array and float
        The line.
    parameters_ : array
        What :func:`hedgerow.public.evidence.covariance` takes.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> model = GaussianProcess().fit(X, np.sin(6 * X[:, 0]))
    >>> bool(np.abs(model.predict(X) - np.sin(6 * X[:, 0])).max() < 0.01)
    True
    >>> int(model.scale_.argmin())  # the only column that matters
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
        self.center_ = X.mean(axis=0)
        spread = X.std(axis=0)
        spread = np.where(spread > 1e-12 * np.maximum(1.0, np.abs(self.center_)), spread, 1.0)
        U = (X - self.center_) / spread
        self.mean_ = float(y.mean())
        height = float(y.std()) or 1.0
        labels = (y - self.mean_) / height
        self.parameters_ = most_likely(U[:TUNED_ROWS], labels[:TUNED_ROWS])
        lengths = np.exp(self.parameters_[:-3])
        signal, linear, _ = np.exp(self.parameters_[-3:])
        dual = height * _solve(covariance(U, self.parameters_), labels)
        self.scale_ = spread * lengths
        self.points_ = U / lengths
        self.weights_ = signal * dual
        self.coef_ = linear * (dual @ U) / spread
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict."""
        away = np.asarray(X, dtype=np.float64) - self.center_
        bumps = matern(squared_distances(away / self.scale_, self.points_))
        return np.asarray(self.mean_ + away @ self.coef_ + bumps @ self.weights_)


def _solve(K: FloatArray, y: FloatArray) -> FloatArray:
    from scipy.linalg import cho_factor, cho_solve

    return np.asarray(cho_solve(cho_factor(K, lower=True, overwrite_a=True), y))
