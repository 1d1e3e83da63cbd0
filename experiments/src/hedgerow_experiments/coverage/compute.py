"""Coverage and width of intervals on made data, where the truth is known.

What is covered differs by model: the mean label of a leaf or cell; the public model with its best correction by the
trees; of label and central models, what such a fit predicts on average, which other fits estimate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hedgerow_experiments.coverage.declared import LEVELS, SHOWN
from hedgerow_experiments.experiment import Key

__all__ = ["compute", "draw"]

Array = npt.NDArray[np.float64]
_PUBLIC = 500  # public records
_TRUTH = 16  # log2 of the number of points that tell the truth: evenly spread and without noise, see _whole
_SPREAD = 0.1  # standard deviation of labels round their curve
_PRIVATE = np.array([True, True, False, False])
_DRAWS = {
    "tree": 30,
    "assisted": 10,
    "semi": 60,
    "semi with a public model": 3,
    "label": 10,
    "forest": 10,
    "ANOVA": 10,
}
"""Fits in one cell, by how long they take."""


class Fit(NamedTuple):
    """One fitted estimator and what its intervals should cover; None where other fits tell."""

    estimator: Any
    truth: Array | None


def draw(n: int, seed: Any) -> tuple[Array, Array]:
    """Return records and labels in [0, 1]: a curve in two features, a step, a slope, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    return X, np.clip(_curve(X) + _SPREAD * rng.standard_normal(n), 0, 1)


def _curve(X: Array) -> Array:
    curved = 0.25 * np.sin(4 * X[:, 0]) * X[:, 1]
    return np.asarray(0.5 + curved + 0.15 * (X[:, 2] > 0.5) - 0.1 * X[:, 3])


@lru_cache(maxsize=1)
def _whole() -> tuple[Array, Array]:
    """Return records and the means of their labels, which tell the truth.

    Records are a Sobol sequence, and a label's mean after clipping is known. Drawn labels in the number of the holders'
    would err as much as theirs, and an interval would seem to cover too little.
    """
    from scipy.stats import norm, qmc

    X = qmc.Sobol(4, seed=9).random_base2(_TRUTH)
    mean = _curve(X)
    low = -mean / _SPREAD
    high = (1 - mean) / _SPREAD
    within = mean * (norm.cdf(high) - norm.cdf(low)) + _SPREAD * (norm.pdf(low) - norm.pdf(high))
    return X, within + norm.sf(high)


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return coverage and mean width at every level, of predictions and of reports alone, over a few fits.

    Also the standard error of each coverage, from how much fits differ, and their number.
    """
    n, bias = (float(part.split("=")[1]) for part in key.setting.split())
    make = _MAKERS[key.group]
    fits = [make(int(n), bias, key.epsilon, np.array([seed % 2**31, i])) for i in range(_DRAWS[key.group])]
    shown = _whole()[0][:SHOWN]
    points = np.array([fit.estimator.predict(shown) for fit in fits])
    found: dict[str, list[float]] = {}
    for i, fit in enumerate(fits):
        truth = fit.truth
        slack = 1.0
        if truth is None:
            truth = np.delete(points, i, axis=0).mean(axis=0)
            # The mean of k other fits has an error of its own, which is not the interval's to cover.
            slack = float(np.sqrt(1 + 1 / (len(fits) - 1)))
        for name, value in _measured(fit.estimator, shown, points[i], truth, slack):
            found.setdefault(name, []).append(value)
    out = {name: float(np.mean(values)) for name, values in found.items()}
    for level in LEVELS:
        out[f"error {level:g}"] = float(np.std(found[f"cover {level:g}"], ddof=1) / np.sqrt(len(fits)))
    return {**out, "fits": float(len(fits))}


def _measured(estimator: Any, X: Array, point: Array, truth: Array, slack: float) -> list[tuple[str, float]]:
    out = []
    for level in LEVELS:
        for prefix, method in (("", "predict_interval"), ("reports ", "reports_interval")):
            low, high = getattr(estimator, method)(X, level)
            covered = (point - slack * (point - low) <= truth) & (truth <= point + slack * (high - point))
            out += [
                (f"{prefix}cover {level:g}", float(covered.mean())),
                (f"{prefix}width {level:g}", _width(low, high)),
            ]
            if not prefix:
                out.append((f"outside {level:g}", float(np.mean((point < low) | (high < point)))))
    return out


def _width(low: Array, high: Array) -> float:
    return float((high - low).mean())


def _records(n: int, bias: float, seed: Any) -> tuple[Any, ...]:
    X, y = draw(n, [*seed, 0])
    X_public, y_public = draw(_PUBLIC, [*seed, 1])
    return X, y, X_public, np.clip(y_public + bias, 0, 1)


def _seed(seed: Any) -> int:
    return int(np.random.default_rng(seed).integers(2**31))


def _public_model() -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(10, max_depth=5, random_state=0)


def _group_means(group: npt.NDArray[Any], values: Array, n: int) -> Array:
    count = np.bincount(group, minlength=n)
    return np.asarray(np.bincount(group, values, n) / np.maximum(count, 1))


def _tree(n: int, bias: float, epsilon: float, seed: Any) -> Fit:
    from hedgerow import LPDTRegressor

    X, y, X_public, y_public = _records(n, bias, seed)
    options: dict[str, Any] = {"rule": "cart", "max_depth": 3, "response": "k_ary"}
    tree = LPDTRegressor(epsilon, label_bounds=(0, 1), random_state=_seed(seed), **options)
    tree.fit(X, y, X_public=X_public, y_public=y_public)
    whole, labels = _whole()
    leaf = tree.apply(whole)
    return Fit(tree, _group_means(leaf, labels, tree.task_.n_leaves)[leaf[:SHOWN]])


def _assisted(n: int, bias: float, epsilon: float, seed: Any) -> Fit:
    from hedgerow import AssistedForestRegressor

    X, y, X_public, y_public = _records(n, bias, seed)
    forest = AssistedForestRegressor(
        epsilon, label_bounds=(0, 1), public_model=_public_model(), random_state=_seed(seed)
    ).fit(X, y, X_public=X_public, y_public=y_public)
    whole, labels = _whole()
    task = forest.task_
    g, leaf = task.place(task.space.encode(whole))
    inside = np.zeros((len(g), sum(task.trees.n_leaves)))
    inside[np.arange(len(g))[:, None], leaf + np.cumsum((0, *task.trees.n_leaves[:-1]))] = 1.0
    best = np.linalg.lstsq(inside.T @ inside, inside.T @ (labels - g), rcond=1e-10)[0]
    return Fit(forest, np.clip(g + inside @ best, 0, 1)[:SHOWN])


def _semi(n: int, bias: float, epsilon: float, seed: Any) -> Fit:
    return _semi_fit(_records(n, bias, seed)[:2], epsilon, seed, {"feature_bounds": (0, 1)}, {})


def _semi_public(n: int, bias: float, epsilon: float, seed: Any) -> Fit:
    X, y, X_public, y_public = _records(n, bias, seed)
    public = {"X_public": X_public, "y_public": y_public}
    options = {"public_model": _public_model()}
    return _semi_fit((X, y), epsilon, seed, options, public)


def _semi_fit(records: Any, epsilon: float, seed: Any, options: dict[str, Any], public: dict[str, Any]) -> Fit:
    from hedgerow import HistOfTreeRegressor

    tree = HistOfTreeRegressor(epsilon, label_bounds=(0, 1), random_state=_seed(seed), **options)
    X, y = records
    tree.fit(X, y, private=_PRIVATE, **public)
    whole, labels = _whole()
    model: Any = tree.model_
    g = model.predict_public(whole) if public else np.zeros(len(labels))
    cell = model.apply(whole)
    means = _group_means(cell, labels - g, model.partition.n_leaves)[cell]
    return Fit(tree, np.clip(g + means, 0, 1)[:SHOWN])


def _label(n: int, bias: float, epsilon: float, seed: Any) -> Fit:
    from sklearn.ensemble import RandomForestRegressor

    from hedgerow import LabelPrivateRegressor

    learner = RandomForestRegressor(5, min_samples_leaf=20, random_state=0)
    model = LabelPrivateRegressor(
        learner, epsilon=epsilon, label_bounds=(0, 1), averaging=50.0, random_state=_seed(seed)
    )
    return Fit(model.fit(*_records(n, bias, seed)[:2]), None)


def _forest(n: int, bias: float, epsilon: float, seed: Any) -> Fit:
    from hedgerow import DiPriMeForestRegressor

    forest = DiPriMeForestRegressor(epsilon, label_bounds=(0, 1), feature_bounds=(0, 1), random_state=_seed(seed))
    return Fit(forest.fit(*_records(n, bias, seed)[:2]), None)


def _anova(n: int, bias: float, epsilon: float, seed: Any) -> Fit:
    from hedgerow import PrivateAnovaRegressor

    model = PrivateAnovaRegressor(epsilon, label_bounds=(0, 1), feature_bounds=(0, 1), random_state=_seed(seed))
    same = np.array([seed[0], 0])  # the same records for all fits of a cell: only the noise is covered
    return Fit(model.fit(*_records(n, bias, same)[:2]), None)


_MAKERS: dict[str, Callable[[int, float, float, Any], Fit]] = {
    "tree": _tree,
    "assisted": _assisted,
    "semi": _semi,
    "semi with a public model": _semi_public,
    "label": _label,
    "forest": _forest,
    "ANOVA": _anova,
}
