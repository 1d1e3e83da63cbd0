"""Many rounds of fresh holders, on one split.

An experiment, not an estimator. Each round asks its own group of holders for the residual of the current model along
the K functions that are least known: eigenfunctions of the posterior covariance of a Gaussian process fitted to public
records. A holder turns its clipped residual t into a unit vector ``u = +-psi(x)/|psi(x)|`` (plus with probability
``(1 + t)/2``, so that its mean is ``t psi/|psi|``), and sends one of 2K signed directions of a random basis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.compare.scores import Row
from hedgerow.label.residual import inputs
from hedgerow.local.assisted import design_assisted
from hedgerow.randomness import SeededRandomness
from hedgerow.types import FloatArray
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import widened
from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.frontier.belief import Belief, process, unit
from hedgerow_experiments.frontier.declared import HOLDERS, ROUNDS_EPSILONS, STEPS
from hedgerow_experiments.frontier.directions import random_signs
from hedgerow_experiments.frontier.models import fitted_model
from hedgerow_experiments.tidy import row_of

__all__ = ["compute", "tidy"]


@dataclass(frozen=True)
class Population:
    """Public, private and test records as the experiment needs them: functions, and what the public model misses."""

    known: FloatArray
    residuals: FloatArray
    variances: FloatArray
    features: FloatArray
    missed: FloatArray
    test: FloatArray


def correction(p: Population, epsilon: float, n_rounds: int, seed: int) -> FloatArray:
    """Return what to add to the public model on test records after so many rounds, each with its own holders."""
    radius = 1.4 * float(np.sqrt(np.mean(p.residuals**2)))
    usual, gamma = (float(x.mean()) for x in (np.clip(p.residuals / radius, -1, 1), np.abs(p.residuals) < radius))
    belief = Belief(np.zeros(len(p.variances)), np.diag(p.variances))
    source = SeededRandomness(seed)
    order = np.random.default_rng(seed).permutation(len(p.missed))
    for r, group in enumerate(np.array_split(order, n_rounds)):
        mechanism, W, M, noise = belief.query(epsilon, len(group), p.known, radius / gamma)
        t = np.clip((p.missed[group] - p.features[group] @ belief.mean) / radius, -1, 1)
        u = random_signs(t, source.child(r, "sign"))[:, None] * unit(p.features[group] @ W)
        answer = mechanism.total(u, source.child(r, "axis")) / (len(group) * mechanism.kappa)
        belief.learn((answer - usual * unit(p.known @ W).mean(axis=0)) * radius / gamma, M, noise)
    return np.asarray(p.test @ belief.mean)


def records(name: str, repeat: int) -> tuple[list[tuple[Any, FloatArray]], dict[str, list[str]] | None]:
    """Return 500 public records, HOLDERS private ones (repeated if there are fewer), test records, categories."""
    rng = np.random.default_rng(repeat)
    if name == "Friedman":
        X = rng.random((500 + HOLDERS + 5000, 10))
        mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
        y = mean + rng.normal(size=len(X))
        ends = [500, 500 + HOLDERS]
        return list(zip(np.split(X, ends), np.split(y, ends), strict=True)), None
    data = load_dataset(name)
    labels = np.asarray(data.y, dtype=np.float64)
    order = rng.permutation(len(data.y))
    public, test, rest = np.split(order, [500, 500 + len(order) // 5])
    private = rng.choice(rest, HOLDERS, replace=len(rest) < HOLDERS)
    text = [c for c in data.X.columns if data.X[c].dtype.kind not in "fiub"]
    categories = {str(c): sorted(map(str, data.X[c].unique())) for c in text}
    return [(data.X.iloc[rows], labels[rows]) for rows in (public, private, test)], categories or None


def compute(key: Key, seed: int) -> dict[str, Any]:
    """Return test errors: two public models, boosting without privacy, assisted forest and rounds by epsilon."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    repeat = key.repeat
    (public, private, (X_test, y_test)), categories = records(key.dataset, repeat)
    base = fitted_model(*public, repeat, categories)
    bounds = widened(public[1])
    # Without the last feature, the public prediction: it knows the labels of its own records.
    (Fp, _), (F, g), (Ft, gt) = ((D[:, :-1], g) for D, g in (inputs(base, X) for X in (public[0], private[0], X_test)))
    phi, variances, predict, left_out = process(Fp, public[1])
    starts = {"public model": (base.residuals_, g, gt), "process": (left_out, predict(F), predict(Ft))}
    labels = np.clip(private[1], *bounds)
    seen = [phi(D) for D in (Fp, F, Ft)]
    free = HistGradientBoostingRegressor(max_iter=300, random_state=0)
    free.fit(np.vstack([Fp, F]), np.concatenate([public[1], private[1]]))

    def error(f: FloatArray) -> float:
        return float(np.mean((np.clip(f, *bounds) - y_test) ** 2))

    value: dict[str, Any] = {name: error(prediction) for name, (*_, prediction) in starts.items()}
    value |= {"not private": error(free.predict(Ft)), "mse": {}}
    for epsilon in ROUNDS_EPSILONS:
        options: dict[str, Any] = {"epsilon": epsilon, "label_bounds": bounds, "n_holders": HOLDERS}
        task = design_assisted(*public, public_model=base, random_state=repeat, **options)
        found = {"assisted": error(task.simulate(*private, repeat).model().predict(X_test))}
        for start, (residuals, fitted, prediction) in starts.items():
            population = Population(seen[0], residuals, variances, seen[1], labels - fitted, seen[2])
            for n in STEPS:
                found[f"{n} from {start}"] = error(prediction + correction(population, epsilon, n, repeat))
        value["mse"][f"{epsilon:g}"] = found
    return value


def tidy(experiment: Experiment, key: Key, value: dict[str, Any]) -> Iterator[Row]:
    """Yield errors of public models and without privacy, and by epsilon."""
    ends = {name: error for name, error in value.items() if name != "mse"}
    for epsilon, errors in {"": ends, **value["mse"]}.items():
        for name, error in errors.items():
            yield row_of(experiment, key, error, method=name, epsilon=float(epsilon) if epsilon else None)
