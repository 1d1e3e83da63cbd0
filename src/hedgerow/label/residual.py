"""Label privacy on top of a public model: holders report how wrong it is for them, a learner finds out where."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from hedgerow.label.boosting import boosting_for
from hedgerow.label.evidence import Witness, safe_scale, signal_factor
from hedgerow.label.smooth import SmoothErrors, widths_of
from hedgerow.label.whole import WholeLabels
from hedgerow.types import FloatArray

__all__ = ["FOLDS", "ResidualModel", "learn_corrections", "learn_residuals", "learners_for", "stack_weights"]

FOLDS = 3
"""By hand: each holds out a third of the noisy labels, and learners are fitted so many times."""
_NO_NOISE = 1 - 1e-12  # tanh of half an epsilon of 28
_MANY = 10_000  # labels from which extra trees take part: a hundredth of them fills a leaf; by hand


@dataclass(frozen=True, eq=False)
class ResidualModel:
    """The public model plus weighted corrections."""

    public_model: Any
    learners: list[Any]
    weights: FloatArray

    def predict(self, X: Any) -> FloatArray:
        """Predict labels."""
        F, g = inputs(self.public_model, X)
        return g + sum((w * m.predict(F) for w, m in zip(self.weights, self.learners, strict=True)), np.zeros(len(g)))


def inputs(public_model: Any, X: Any) -> tuple[FloatArray, FloatArray]:
    """Return features for the learner (with the public prediction as the last), and the public prediction."""
    g = np.asarray(public_model.predict(X), dtype=np.float64).ravel()
    return np.column_stack([features(public_model, X), g]), g


def features(public_model: Any, X: Any) -> FloatArray:
    """Return records as numbers: by the schema of the public model, if it has one."""
    portable = getattr(public_model, "portable_", None)
    if hasattr(public_model, "space_") and portable is not None:
        return np.asarray(portable.design(public_model.space_.encode(X)), dtype=np.float64)
    return np.asarray(X, dtype=np.float64)


def learners_for(n: int, noise: float) -> list[Any]:
    """Return learners of different smoothness; where noise is large, leaves are too.

    ``noise`` is by how much it multiplies the variance of a label: boosting whose leaves go by it takes over where
    there is little (:func:`~hedgerow.label.boosting.boosting_for`).

    With many reports there is a forest of random splits as well, whose trees average noise that boosting picks up, and
    boosting whose leaves are shrunk by ``m/(m + penalty)``, m their number of reports: many small steps, each of which
    learns little from noise. The latter were chosen at epsilon 0.5 on two draws of Friedman's function and two splits
    of FLI: the gap closed went from .33, .44, .02 and .07 to .41, .53, .03 and .08 with the last of them.
    """
    from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def boosting(iterations: int, rate: float, leaves: int, least: int, penalty: float = 0.0) -> Any:
        return HistGradientBoostingRegressor(
            max_iter=iterations, learning_rate=rate, max_leaf_nodes=leaves, min_samples_leaf=max(5, least),
            l2_regularization=penalty, early_stopping=False, random_state=0,
        )  # fmt: skip

    learners = [boosting(80, 0.05, 8, n // 50), boosting(150, 0.05, 31, n // 300)]
    learners.append(boosting_for(n, 2 * math.atanh(min(1 / math.sqrt(noise), _NO_NOISE))))
    learners.append(make_pipeline(StandardScaler(), RidgeCV(np.logspace(0, 6, 13))))
    if n > _MANY:
        learners.append(ExtraTreesRegressor(60, min_samples_leaf=n // 100, max_features=0.5, random_state=0))
        learners += [boosting(150, 0.05, 31, n // 300, n / 30), boosting(300, 0.1, 31, n // 300, n / 3)]
    return learners


def learn_residuals(
    public_model: Any,
    regressor: Any,
    F: FloatArray,
    noisy: FloatArray,
    witness: Witness | None = None,
    units: FloatArray | None = None,
    told: tuple[FloatArray, FloatArray] | None = None,
) -> ResidualModel:
    """Fit learners to noisy residuals, weighted by how well they predict noisy residuals they have not seen.

    Weights are non-negative least squares on out-of-fold predictions, so that a learner of nothing but noise gets
    (nearly) none. What is left is scaled by :func:`~hedgerow.label.evidence.safe_scale`, so that it hardly ever does
    harm, and by :func:`~hedgerow.label.evidence.signal_factor`, which counts where reports are few. It is all
    post-processing of the reports.

    Where the public model has a Gaussian process, one of its widths is among the learners: which columns matter, and
    how fast labels vary with them, is known from public records. It is a likelihood, and is told how large the noise of
    each report is, where residuals were sent in ``units``. The others go by squared error, whose largest part is
    where units are: weighted by one over their square they learnt less (boosting on MET at epsilon 0.5).

    One more learns whole labels (:class:`~hedgerow.label.whole.WholeLabels`), those of public records among them:
    ``told`` are these records as learners read them, and their labels.
    """
    widths = widths_of(public_model, F) if regressor is None else None
    more: list[Any] = [] if widths is None else [SmoothErrors(widths)]
    square = float(np.mean(np.square(public_model.residuals_)))
    if F.shape[1] > 1 and square > 0:
        more.append(WholeLabels(square, *(told or ())))
    learners, weights = learn_corrections(regressor, F, noisy, public_model.residuals_, witness, more, units)
    return ResidualModel(public_model, learners, weights)


def learn_corrections(
    regressor: Any,
    F: FloatArray,
    noisy: FloatArray,
    residuals: npt.ArrayLike,
    witness: Witness | None = None,
    more: Sequence[Any] = (),
    units: FloatArray | None = None,
) -> tuple[list[Any], FloatArray]:
    """Return fitted learners of noisy residuals and their weights; none where the reports carry no evidence.

    ``more`` are learners beside the usual ones, where no ``regressor`` is given; ``units`` are for those of them that
    take any.
    """
    signal = signal_factor(noisy, residuals)
    if len(noisy) < 10 * FOLDS or signal == 0:
        return [], np.zeros(0)
    square = float(np.mean(np.square(residuals)))
    learners = [regressor]
    if regressor is None:
        learners = [*learners_for(len(noisy), max(1.0, float(np.var(noisy)) / square)), *more]
    folds = np.random.default_rng(0).permutation(np.arange(len(noisy)) % FOLDS)
    out = np.zeros((len(noisy), len(learners)))
    for fold in range(FOLDS):
        held = folds == fold
        for k, learner in enumerate(learners):
            out[held, k] = _fit(learner, F, noisy, units, ~held).predict(F[held])
    weights = stack_weights(out, noisy)
    unseen = np.zeros(len(noisy))
    for fold in range(FOLDS):  # weights that have not seen the records either
        held = folds == fold
        unseen[held] = out[held] @ stack_weights(out[~held], noisy[~held])
    kept = np.flatnonzero(weights > 0)
    every = np.ones(len(noisy), dtype=bool)
    fitted = [_fit(learners[k], F, noisy, units, every) for k in kept]
    weights = weights[kept]
    public: tuple[Any, Any] = ((), ())
    if witness is not None:
        moved = sum((w * m.predict(witness.F) for w, m in zip(weights, fitted, strict=True)), np.zeros(1))
        public = (witness.untold, moved)
    weights = signal * safe_scale(noisy, unseen, square, *public) * weights
    if not weights.any():
        return [], np.zeros(0)
    return fitted, weights


def _fit(learner: Any, F: FloatArray, noisy: FloatArray, units: FloatArray | None, rows: npt.NDArray[np.bool_]) -> Any:
    """Return a learner fitted to some of the reports."""
    if units is None or not isinstance(learner, SmoothErrors):
        return clone(learner).fit(F[rows], noisy[rows])
    return clone(learner).fit(F[rows], noisy[rows], units[rows])


def stack_weights(out: FloatArray, noisy: FloatArray) -> FloatArray:
    """Return the non-negative weights, 1 at most, of predictions that are closest to noisy residuals together."""
    from scipy.optimize import nnls

    return np.asarray(np.minimum(nnls(out, noisy)[0], 1.0))
