"""Many rounds of fresh holders: ``python -m hedgerow_experiments.frontier.rounds --out experiments/results/rounds.md``.

An experiment, not an estimator. Each round asks its own group of holders for the residual of the current model along
the K functions that are least known: eigenfunctions of the posterior covariance of a Gaussian process fitted to public
records. A holder turns its clipped residual t into a unit vector ``u = +-psi(x)/|psi(x)|`` (plus with probability
``(1 + t)/2``, so that its mean is ``t psi/|psi|``), and sends one of 2K signed directions of a random basis.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.label.residual import inputs
from hedgerow.local.assisted import design_assisted
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks.assisted import simulate_assisted
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import widened
from hedgerow_experiments.frontier.belief import Belief, process, unit
from hedgerow_experiments.frontier.directions import random_signs
from hedgerow_experiments.frontier.models import fitted_model
from hedgerow_experiments.frontier.rounds_page import page
from hedgerow_experiments.results import Results

__all__ = ["main", "one_split"]

FloatArray = npt.NDArray[np.float64]
EPSILONS, ROUNDS, DATASETS, HOLDERS = (0.5, 1.0, 2.0, 4.0, 8.0), (1, 4, 16), ("Friedman", "MET", "GAS", "CAL"), 100_000


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
    belief, source = Belief(np.zeros(len(p.variances)), np.diag(p.variances)), SeededRandomness(seed)
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
        y, ends = mean + rng.normal(size=len(X)), [500, 500 + HOLDERS]
        return list(zip(np.split(X, ends), np.split(y, ends), strict=True)), None
    data = load_dataset(name)
    labels, order = np.asarray(data.y, dtype=np.float64), rng.permutation(len(data.y))
    public, test, rest = np.split(order, [500, 500 + len(order) // 5])
    private = rng.choice(rest, HOLDERS, replace=len(rest) < HOLDERS)
    text = [c for c in data.X.columns if data.X[c].dtype.kind not in "fiub"]
    categories = {str(c): sorted(map(str, data.X[c].unique())) for c in text}
    return [(data.X.iloc[rows], labels[rows]) for rows in (public, private, test)], categories or None


def one_split(name: str, repeat: int) -> dict[str, Any]:
    """Return test errors: two public models, boosting without privacy, assisted forest and rounds by epsilon."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    (public, private, (X_test, y_test)), categories = records(name, repeat)
    base, _ = fitted_model(*public, repeat, categories)
    bounds = widened(public[1])
    # Without the last feature, the public prediction: it knows the labels of its own records.
    (Fp, _), (F, g), (Ft, gt) = ((D[:, :-1], g) for D, g in (inputs(base, X) for X in (public[0], private[0], X_test)))
    phi, variances, predict, left_out = process(Fp, public[1])
    starts = {"public model": (base.residuals_, g, gt), "process": (left_out, predict(F), predict(Ft))}
    labels, seen = np.clip(private[1], *bounds), [phi(D) for D in (Fp, F, Ft)]
    free = HistGradientBoostingRegressor(max_iter=300, random_state=0)
    free.fit(np.vstack([Fp, F]), np.concatenate([public[1], private[1]]))

    def error(f: FloatArray) -> float:
        return float(np.mean((np.clip(f, *bounds) - y_test) ** 2))

    value: dict[str, Any] = {name: error(prediction) for name, (*_, prediction) in starts.items()}
    value |= {"not private": error(free.predict(Ft)), "mse": {}}
    for epsilon in EPSILONS:
        options: dict[str, Any] = {"epsilon": epsilon, "label_bounds": bounds, "n_holders": HOLDERS}
        task = design_assisted(*public, base=base, random_state=repeat, **options)
        found = {"assisted": error(simulate_assisted(task, *private, repeat).model().predict(X_test))}
        for start, (residuals, fitted, prediction) in starts.items():
            population = Population(seen[0], residuals, variances, seen[1], labels - fitted, seen[2])
            for n in ROUNDS:
                found[f"{n} from {start}"] = error(prediction + correction(population, epsilon, n, repeat))
        value["mse"][f"{epsilon:g}"] = found
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute what is missing, write the page."""
    parser = argparse.ArgumentParser(prog="python -m hedgerow_experiments.frontier.rounds", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="page to write, such as experiments/results/rounds.md")
    parser.add_argument("--datasets", default=",".join(DATASETS), help="codes, separated by commas")
    parser.add_argument("--repeats", type=int, default=1, help="splits of each data set")
    options = parser.parse_args(arguments)
    try:
        results = Results(options.out.with_suffix(".jsonl"))
        for repeat in range(options.repeats):
            for name in options.datasets.split(","):
                if (name, repeat) not in results:
                    results.add((name, repeat), one_split(name, repeat))
                    print(name, repeat, flush=True)
    except HedgerowError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    options.out.write_text(page(dict(results), ROUNDS, HOLDERS))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
