"""Labels learnt as such, from public ones and noisy errors together: what a public model makes up is not kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from hedgerow.types import FloatArray

__all__ = ["WholeLabels"]

TREES = 300
"""Steps of a tenth, as boosting of errors takes where it is shrunk most (:func:`~.residual.learners_for`)."""
_RATE = 0.1  # likewise
_LEAVES = 31  # likewise
_LEAF = 300  # a leaf holds at least this part of the reports, likewise
# A leaf of m reports is shrunk by m/(m + penalty); the penalty is this part of the reports times their noise. By hand
# on split 0 of CAL and MET (500 public records) and split 1 of MET at 0.5, among 1/3, 1/10, 1/30 and 1/100: best was
# 1/10 at epsilon 0.5 (noise 16), 1/10 to 1/30 at 1 (noise 4 to 6), 1/100 at 4 (noise 1). CCP, GAS, ABA had no say.
_SHRUNK = 150


class WholeLabels(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Errors of a public model, from boosting that learns whole labels: its prediction less the public one.

    A noisy error plus the public prediction is a noisy label. Boosting that starts from a constant finds again what
    many reports bear out, and drops what the public model has made up from few records; learners of errors have to find
    that, with its sign turned, as one more function of all columns. Public labels take part: they have no noise, and
    weigh as many times more than a report as its variance is larger.

    Parameters
    ----------
    square : float
        The public model's mean squared error; noise is the variance of noisy errors over it.
    records, labels : array, optional
        Public records as learners read them, the public prediction last, and their labels.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((4000, 2))
    >>> g = 3 * X[:, 0] + np.sin(50 * X[:, 1])  # the sine is made up
    >>> noisy = 3 * X[:, 0] - g + rng.normal(size=4000)
    >>> error = WholeLabels(0.5).fit(np.column_stack([X, g]), noisy).predict(np.column_stack([X, g]))
    >>> bool(np.mean((error + np.sin(50 * X[:, 1])) ** 2) < 0.1)
    True
    """

    def __init__(self, square: float, records: FloatArray | None = None, labels: FloatArray | None = None) -> None:
        self.square = square
        self.records = records
        self.labels = labels

    def fit(self, X: Any, y: Any) -> WholeLabels:
        """Fit noisy errors ``y`` of records whose last column is the public prediction."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        n = len(y)
        noise = max(1.0, float(np.var(y)) / self.square)
        rows = X[:, :-1]
        labels = X[:, -1] + y
        weights = np.ones(n)
        if self.records is not None and self.labels is not None:
            rows = np.vstack([self.records[:, :-1], rows])
            labels = np.append(self.labels, labels)
            weights = np.append(np.full(len(self.labels), noise), weights)
        boosting = HistGradientBoostingRegressor(
            max_iter=TREES, learning_rate=_RATE, max_leaf_nodes=_LEAVES, min_samples_leaf=max(5, n // _LEAF),
            l2_regularization=n * noise / _SHRUNK, early_stopping=False, random_state=0,
        )  # fmt: skip
        self.boosting_ = boosting.fit(rows, labels, weights)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict errors."""
        return np.asarray(self.boosting_.predict(X[:, :-1]) - X[:, -1])
