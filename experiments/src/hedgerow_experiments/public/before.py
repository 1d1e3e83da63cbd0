"""The public model as it was before it had a Gaussian process, kept to be compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgerow.public.kernel_ridge import TunedKernelRidge
from hedgerow.public.stack import assign_folds, members, out_of_fold
from hedgerow.types import FloatArray

__all__ = ["StackBefore"]


class _Kept(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel ridge with width and penalty that were tuned elsewhere."""

    def __init__(self, gamma: float, alpha: float) -> None:
        self.gamma = gamma
        self.alpha = alpha

    def fit(self, X: Any, y: Any) -> _Kept:
        """Fit to labels less their mean."""
        self.mean_ = float(np.mean(y))
        self.model_ = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf", gamma=self.gamma, alpha=self.alpha))
        self.model_.fit(X, y - self.mean_)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict."""
        return np.asarray(self.mean_ + self.model_.predict(X))


class StackBefore(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The other members, weighted once by least squares, with kernel ridge tuned once on all records (on 600 of more).

    Examples
    --------
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> model = StackBefore(0).fit(X, X[:, 0])
    >>> "gaussian process" in model.weights_, "kernel ridge" in model.weights_
    (False, True)
    >>> bool(np.abs(model.predict(X) - X[:, 0]).max() < 0.1)
    True
    """

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> StackBefore:
        """Fit members, and weights that minimise the squared error of their out-of-fold predictions."""
        from scipy.optimize import nnls

        self.mean_ = float(np.mean(y))
        folds = assign_folds(len(y), self.random_state)
        self.members_ = members(len(y), self.random_state)
        self.members_.pop("gaussian process")
        outs = []
        for member in self.members_.values():
            member.fit(X, y)
            if isinstance(member, TunedKernelRidge):
                member = _Kept(member.gamma_, member.alpha_)
            outs.append(out_of_fold(member, X, y, folds) - self.mean_)
        spread = float(np.std(y))
        weights = nnls(np.column_stack(outs) / spread, (y - self.mean_) / spread)[0]
        self.weights_ = dict(zip(self.members_, weights.tolist(), strict=True))
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict."""
        out = np.full(len(X), self.mean_)
        for name, weight in self.weights_.items():
            if weight > 0.01:
                out += weight * (self.members_[name].predict(X) - self.mean_)
        return out
