"""A non-negative stack of different regressors on out-of-fold predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.portable import Kernel
from hedgerow.portable.model import Part
from hedgerow.public.convert import portable_parts
from hedgerow.public.kernel_ridge import TunedKernelRidge
from hedgerow.types import FloatArray

__all__ = ["Stack", "fit_stack", "out_of_fold"]


# Public records, by hand; they bear on accuracy and time alone.
_FEW = 30  # below which only a line is fitted
_SMALL = 5000  # up to which boosting sorts all values, not 255 bins of them
_SUPPORT_ROWS = 3000  # for support vectors, whose time grows with the square


@dataclass(frozen=True)
class Stack:
    """Fitted regressors with weights: ``b + sum w_k (f_k(x) - b)``, b the mean label.

    Attributes
    ----------
    members : dict
        Fitted regressors by name, those of weight 0 left out.
    weights : dict
        Their weights, above 0.
    mean : float
        The constant b.
    out_of_fold : array
        Prediction of each public record by members that have not seen it, with the same weights.
    """

    members: dict[str, Any]
    weights: dict[str, float]
    mean: float
    out_of_fold: FloatArray

    def predict(self, D: FloatArray) -> FloatArray:
        """Predict with scikit-learn itself."""
        out = np.full(len(D), self.mean)
        for name, member in self.members.items():
            out += self.weights[name] * (member.predict(D) - self.mean)
        return out

    def portable(self, n_features: int) -> tuple[float, list[Part]]:
        """Return the same as a constant and portable parts."""
        constant = self.mean * (1 - sum(self.weights.values()))
        parts = []
        for name, member in self.members.items():
            more, new = _parts(member, n_features, self.weights[name])
            constant += more
            parts += new
        return constant, parts


def _parts(member: Any, n_features: int, weight: float) -> tuple[float, list[Part]]:
    if isinstance(member, TunedKernelRidge):
        part = Kernel(
            member.points_, weight * member.weights_, member.center_, member.scale_, np.array([member.gamma_])
        )
        return weight * member.mean_, [part]
    if isinstance(member, Scaled):
        constant, parts = portable_parts(member.model_, n_features, weight * member.spread_)
        return constant + weight * member.mean_, parts
    return portable_parts(member, n_features, weight)


class Scaled:
    """Support vector regression of standardised labels on standardised columns, at most 3,000 rows."""

    def __init__(self, C: float, random_state: int) -> None:
        self.C = C
        self.random_state = random_state

    def fit(self, D: FloatArray, y: FloatArray) -> Scaled:
        """Fit."""
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVR

        if len(y) > _SUPPORT_ROWS:
            rows = np.random.default_rng(self.random_state).choice(len(y), _SUPPORT_ROWS, replace=False)
            D = D[rows]
            y = y[rows]
        self.mean_ = float(y.mean())
        self.spread_ = float(y.std()) or 1.0
        model = make_pipeline(StandardScaler(), SVR(C=self.C, gamma=1.0 / D.shape[1], epsilon=0.1))
        self.model_ = model.fit(D, (y - self.mean_) / self.spread_)
        return self

    def predict(self, D: FloatArray) -> FloatArray:
        """Predict."""
        return np.asarray(self.mean_ + self.spread_ * self.model_.predict(D))


def members(n: int, seed: int) -> dict[str, Any]:
    """Return unfitted members for ``n`` public records."""
    from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, HistGradientBoostingRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 3, 11)))
    if n < _FEW:
        return {"ridge": ridge}
    limits = {"n_estimators": 100, "min_samples_leaf": 2, "max_features": 0.7, "max_leaf_nodes": 4096}
    if n <= _SMALL:
        boosting: Any = GradientBoostingRegressor(
            n_estimators=200, learning_rate=0.06, max_depth=4, subsample=0.7, max_features=0.7, random_state=seed,
            min_samples_leaf=5,
        )  # fmt: skip
    else:
        boosting = HistGradientBoostingRegressor(
            max_iter=300, learning_rate=0.06, max_leaf_nodes=31, l2_regularization=1.0, random_state=seed,
            early_stopping=False,
        )  # fmt: skip
    return {
        "extra trees": ExtraTreesRegressor(**limits, random_state=seed),
        "boosting": boosting,
        "ridge": ridge,
        "kernel ridge": TunedKernelRidge(random_state=seed),
        "support vectors, C=1": Scaled(1.0, seed),
        "support vectors, C=10": Scaled(10.0, seed),
    }


def _copy(member: Any) -> Any:
    from sklearn.base import clone

    return Scaled(member.C, member.random_state) if isinstance(member, Scaled) else clone(member)


def out_of_fold(member: Any, D: FloatArray, y: FloatArray, folds: npt.NDArray[np.int64]) -> FloatArray:
    """Return predictions of every record by copies of ``member`` fitted without its fold."""
    out = np.empty(len(y))
    for fold in range(int(folds.max(initial=0)) + 1):
        held = folds == fold
        out[held] = _copy(member).fit(D[~held], y[~held]).predict(D[held])
    return out


def assign_folds(n: int, seed: int) -> npt.NDArray[np.int64]:
    """Return a fold of each record: five of them, three where there are many records, fewer where there are few."""
    k = min(n, 5 if n <= _SMALL else 3)
    folds: npt.NDArray[np.int64] = np.random.default_rng(seed).permutation(np.arange(n) % k)
    return folds


def fit_stack(D: FloatArray, y: FloatArray, seed: int) -> Stack:
    """Fit all members, and weights that minimise the squared error of the out-of-fold predictions.

    Hyper-parameters of the kernel are tuned once, by leave-one-out on all records, and kept in the folds.
    """
    from scipy.optimize import nnls

    mean = float(y.mean())
    folds = assign_folds(len(y), seed)
    fitted = {}
    outs = {}
    for name, member in members(len(y), seed).items():
        fitted[name] = member.fit(D, y)
        if isinstance(member, TunedKernelRidge):
            member = TunedKernelRidge(member.gamma_, member.alpha_, member.random_state)
        outs[name] = out_of_fold(member, D, y, folds) if len(y) > 1 else np.full(len(y), mean)
    P = np.column_stack(list(outs.values())) - mean
    spread = float(y.std()) or 1.0
    weights = nnls(P / spread, (y - mean) / spread)[0]
    kept = {name: float(w) for name, w in zip(fitted, weights, strict=True) if w > 0.01}
    out = mean + sum((w * (outs[name] - mean) for name, w in kept.items()), start=np.zeros(len(y)))
    return Stack({name: fitted[name] for name in kept}, kept, mean, out)
