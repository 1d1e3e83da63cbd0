"""From fitted scikit-learn regressors to the parts of a portable model."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.portable import Kernel, Linear, Trees
from hedgerow.portable.model import Part
from hedgerow.portable.trees import breadth_first
from hedgerow.types import FloatArray

__all__ = ["portable_parts"]

Parts = tuple[float, list[Part]]


def portable_parts(regressor: Any, n_features: int, weight: float = 1.0) -> Parts:
    """Return ``(constant, parts)`` whose sum is ``weight`` times the regressor's prediction.

    Supported are scikit-learn's trees, forests and boosting with squared error, linear models, Gaussian kernel ridge
    and support vector regression, and the last three behind a ``StandardScaler``.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> X, y = np.arange(6.0).reshape(3, 2), np.array([0.0, 1.0, 2.0])
    >>> model = Ridge().fit(X, y)
    >>> constant, (part,) = portable_parts(model, 2)
    >>> bool(np.allclose(constant + part.predict(X), model.predict(X)))
    True
    """
    center = np.zeros(n_features)
    scale = np.ones(n_features)
    name = type(regressor).__name__
    if name == "Pipeline":
        if [type(step).__name__ for _, step in regressor.steps[:-1]] != ["StandardScaler"]:
            raise _unsupported("a pipeline other than StandardScaler and a regressor")
        scaler, regressor = (step for _, step in regressor.steps)
        center = np.zeros(n_features) if scaler.mean_ is None else scaler.mean_
        scale = np.ones(n_features) if scaler.scale_ is None else scaler.scale_
        name = type(regressor).__name__
        if name not in ("KernelRidge", "SVR") and not hasattr(regressor, "coef_"):
            raise _unsupported(f"{name} behind a StandardScaler (trees do not need one)")
    if name in ("KernelRidge", "SVR"):
        return _kernel(regressor, center, scale, weight)
    if name in _TREES:
        return _TREES[name](regressor, weight)
    if np.shape(getattr(regressor, "coef_", ())) == (n_features,) and hasattr(regressor, "intercept_"):
        coef = weight * np.asarray(regressor.coef_, dtype=np.float64) / scale
        return weight * float(regressor.intercept_) - float(coef @ center), [Linear(coef)]
    raise _unsupported(name)


def _unsupported(what: str) -> HedgerowError:
    return HedgerowError(f"there is no portable form of {what}; pass compact=True to distil it into one.")


def _kernel(model: Any, center: FloatArray, scale: FloatArray, weight: float) -> Parts:
    if model.kernel != "rbf":
        raise _unsupported(f"kernel={model.kernel!r}")
    if type(model).__name__ == "SVR":
        points = model.support_vectors_
        dual = model.dual_coef_[0]
        gamma = model._gamma
        constant = float(model.intercept_[0])
    else:
        points = model.X_fit_
        dual = np.ravel(model.dual_coef_)
        constant = 0.0
        gamma = 1.0 / points.shape[1] if model.gamma is None else model.gamma
    return weight * constant, [Kernel(points, weight * dual, center, scale, np.array([gamma]))]


def _join(trees: list[tuple[Any, ...]], single: bool) -> Trees:
    """Join trees given as (feature, threshold, value) of nodes in breadth-first order."""
    feature = np.concatenate([t[0] for t in trees])
    inner = feature >= 0
    threshold, value = (np.concatenate([t[k] for t in trees]) for k in (1, 2))
    return Trees(np.array([len(t[0]) for t in trees]), feature, threshold[inner], value[~inner], single)


def _forest(estimators: Any, weight: float) -> Trees:
    """Join scikit-learn's trees, their values times ``weight``."""
    trees = []
    for one in estimators:
        tree = one.tree_
        order = breadth_first(tree.children_left, tree.children_right, tree.children_left < 0)
        feature = np.where(tree.children_left < 0, -1, tree.feature)
        trees.append((feature[order], tree.threshold[order], weight * tree.value[order, 0, 0]))
    return _join(trees, single=True)


def _average(model: Any, weight: float) -> Parts:
    return 0.0, [_forest(model.estimators_, weight / len(model.estimators_))]


def _single(model: Any, weight: float) -> Parts:
    return 0.0, [_forest([model], weight)]


def _boosting(model: Any, weight: float) -> Parts:
    if model.init_ == "zero":
        constant = 0.0
    elif type(model.init_).__name__ == "DummyRegressor":
        constant = float(np.ravel(model.init_.constant_)[0])
    else:
        raise _unsupported("GradientBoostingRegressor with an 'init' of its own")
    return weight * constant, [_forest(model.estimators_[:, 0], weight * model.learning_rate)]


def _histogram_boosting(model: Any, weight: float) -> Parts:
    if model.loss != "squared_error" or model.is_categorical_ is not None:
        raise _unsupported("HistGradientBoostingRegressor with another loss or with categorical splits")
    trees = []
    for (predictor,) in model._predictors:
        nodes = predictor.nodes
        leaf = nodes["is_leaf"].astype(bool)
        order = breadth_first(nodes["left"], nodes["right"], leaf)
        feature = np.where(leaf, -1, nodes["feature_idx"].astype(np.int64))
        trees.append((feature[order], nodes["num_threshold"][order], weight * nodes["value"][order]))
    parts: list[Part] = [_join(trees, single=False)] if trees else []
    return weight * float(np.ravel(model._baseline_prediction)[0]), parts


_TREES = {
    "DecisionTreeRegressor": _single,
    "ExtraTreeRegressor": _single,
    "RandomForestRegressor": _average,
    "ExtraTreesRegressor": _average,
    "GradientBoostingRegressor": _boosting,
    "HistGradientBoostingRegressor": _histogram_boosting,
}
