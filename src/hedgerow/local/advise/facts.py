"""What is measured on public records once, whatever epsilon and the number of holders are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from hedgerow.arrays import listed
from hedgerow.content import Content
from hedgerow.errors import HedgerowError
from hedgerow.local.advise.learning import CurvePoints, Learner, LearningCurve, measure_curve, n_curve_fits
from hedgerow.public import PublicModel
from hedgerow.public.stack import Stack, assign_folds, fit_weights, members, out_of_fold, partitions
from hedgerow.types import FloatArray

__all__ = ["PublicFacts", "count_fits", "fresh_predictions", "measure_open_share", "measure_public"]


_SMALL = 500  # records up to which there are ten folds; by hand, they are all public


@dataclass(frozen=True, eq=False)
class PublicFacts(Content, what="public facts"):
    """What forecasts are made from.

    Attributes
    ----------
    residuals : array
        Errors on public records that neither the public model's members nor their weights have seen.
    fitted_on : float
        How many records the models were fitted on that made them: the others' share of folds.
    points : CurvePoints
        Error of a public model by number of records, as measured.
    open_share : float or None
        What features that are not private explain, as a share of what all explain; None if it was not asked for.
    spread : float
        Variance of the public labels.
    """

    residuals: Annotated[FloatArray, listed("<f8")] = field(repr=False)
    fitted_on: float
    points: CurvePoints
    open_share: float | None
    spread: float

    @cached_property
    def curve(self) -> LearningCurve:
        """The learning curve expected from these points."""
        return self.points.curve()


def fresh_predictions(
    D: FloatArray, y: FloatArray, seed: int, fitted: Callable[[int], object] = lambda fits: None
) -> FloatArray:
    """Return a prediction of each record by a stack of which no part has seen it.

    The out-of-fold predictions of the public model's own stack are too good by some percent: its weights minimise the
    error of these very predictions. Here the weights for a fold are fitted to the out-of-fold predictions of the other
    folds.
    ``fitted`` is told of the fits of each member.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((24, 1))
    >>> bool(np.mean((fresh_predictions(X, X[:, 0], 0) - X[:, 0]) ** 2) < 0.01)
    True
    """
    folds = fold_numbers(len(y), seed)
    n_folds = int(folds.max()) + 1
    outs = []
    for member in members(len(y), seed).values():
        outs.append(out_of_fold(member, D, y, folds))
        fitted(n_folds)
    P = np.column_stack(outs)
    out = np.empty(len(y))
    for fold in range(n_folds):
        held = folds == fold
        mean = float(y[~held].mean())
        weights = fit_weights([P[~held] - mean], y[~held] - mean, seed)
        out[held] = mean + (P[held] - mean) @ weights
    return out


def fold_numbers(n: int, seed: int) -> npt.NDArray[np.int64]:
    """Return a fold of each record: ten folds up to 500 records, as many as a public model has for more."""
    folds: npt.NDArray[np.int64] = np.random.default_rng(seed).permutation(np.arange(n) % 10)
    return folds if n <= _SMALL else assign_folds(n, seed)


def learner_of(model: PublicModel) -> Learner:
    """Return what fits the public model's members anew, their weights kept as they are."""
    stack = model.fitted_

    def learn(D: FloatArray, y: FloatArray, other: FloatArray) -> FloatArray:
        if not isinstance(stack, Stack):
            return np.asarray(clone(stack).fit(D, y).predict(other), dtype=np.float64)
        mean = float(y.mean())
        out = np.full(len(other), mean)
        for name, member in stack.members.items():
            out += stack.weights[name] * (deepcopy(member).fit(D, y).predict(other) - mean)
        return out

    return learn


def measure_public(
    model: PublicModel,
    X: Any,
    y: FloatArray,
    bounds: tuple[float, float],
    private: Sequence[str | int] | None,
    seed: int,
    fitted: Callable[[int], object] = lambda done: None,
) -> PublicFacts:
    """Measure a fitted public model on the records it was fitted on; ``fitted`` is told of :func:`count_fits`."""
    assert model.portable_ is not None
    done = 0

    def add(fits: int) -> None:
        nonlocal done
        done += fits
        fitted(done)

    add(_own_fits(model))
    D = model.portable_.design(model.space_.encode(X))
    # Weights that were not fitted have not seen anything: any other regressor's residuals are honest as they are.
    stacked = isinstance(model.fitted_, Stack) and not model.compact
    fresh = fresh_predictions(D, y, seed, add) if stacked else y - model.residuals_
    residuals = np.asarray(np.clip(y, *bounds) - np.clip(fresh, *bounds))
    share = None if private is None else measure_open_share(model, D, y, private, seed)
    folds = (fold_numbers if stacked else assign_folds)(len(y), seed)
    fitted_on = len(y) * (1 - 1 / (int(folds.max()) + 1))
    size = _n_members(model)
    points = measure_curve(learner_of(model), D, y, seed, lambda: add(size))
    return PublicFacts(residuals, fitted_on, points, share, float(np.var(y)))


def count_fits(model: PublicModel) -> int:
    """Return how many regressors are fitted until all is measured, the public model's own included."""
    n = len(model.residuals_)
    fresh = 0
    if isinstance(model.fitted_, Stack) and not model.compact:
        fresh = len(members(n, 0)) * (int(fold_numbers(n, 0).max()) + 1)
    return _own_fits(model) + fresh + n_curve_fits(n) * _n_members(model)


def _own_fits(model: PublicModel) -> int:
    """Return how many regressors the public model has fitted: each on all records, and once a fold."""
    n = len(model.residuals_)
    n_folds = 1 + int(assign_folds(n, 0).max(initial=0))
    if isinstance(model.fitted_, Stack):
        return (1 + n_folds * len(partitions(n, 0))) * len(members(n, 0))
    return 1 + n_folds


def _n_members(model: PublicModel) -> int:
    return len(model.fitted_.members) if isinstance(model.fitted_, Stack) else 1


def measure_open_share(
    model: PublicModel, D: FloatArray, y: FloatArray, private: Sequence[str | int], seed: int
) -> float:
    """Return what the columns that are not private explain, as a share of what all of them explain (out of fold)."""
    from sklearn.ensemble import ExtraTreesRegressor

    names = list(model.space_.inputs)
    unknown = [c for c in private if c not in names and c not in range(len(names))]
    if unknown:
        raise HedgerowError(f"'private_columns' names unknown columns {unknown}; known are {names}.")
    chosen = {names.index(c) if isinstance(c, str) else int(c) for c in private}
    mask = model.space_.spread(np.array([j in chosen for j in range(len(names))], dtype=bool))
    hidden = set(np.flatnonzero(mask).tolist())
    assert model.portable_ is not None
    kept = [i for i, column in enumerate(model.portable_.column.tolist()) if column not in hidden]
    if not kept or not hidden:
        return float(not hidden)
    trees = ExtraTreesRegressor(30, min_samples_leaf=3, random_state=seed)
    folds = assign_folds(len(y), seed)
    total = float(np.var(y)) or 1.0
    some, whole = (
        max(0.0, 1 - float(np.mean((out_of_fold(trees, A, y, folds) - y) ** 2)) / total) for A in (D[:, kept], D)
    )
    return min(1.0, some / whole) if whole > 0 else 0.0
