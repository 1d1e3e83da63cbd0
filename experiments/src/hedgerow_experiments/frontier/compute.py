"""What private reports add to the best public model: errors on one split."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from hedgerow.compare.scores import Row
from hedgerow.label import LabelPrivateRegressor
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import split, widened
from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.frontier.declared import DRAWS, EPSILONS, LABEL_EPSILONS
from hedgerow_experiments.frontier.models import assisted_models, fitted_model
from hedgerow_experiments.frontier.shift import shifted
from hedgerow_experiments.tidy import row_of

__all__ = ["compute", "label_split", "one_split", "other_shift", "shift_split", "tidy"]


def _errors(
    public: tuple[Any, Any],
    private: tuple[Any, Any],
    test: tuple[Any, Any],
    bounds: tuple[float, float],
    seed: int,
    draws: int,
    categories: Any = None,
) -> dict[str, Any]:
    """Return test errors of the public model and of the assisted forest, by epsilon and draw."""
    base = fitted_model(*public, seed, categories)
    assert base.portable_ is not None
    value: dict[str, Any] = {
        "kB": round(base.portable_.n_bytes / 1000),
        "public": math.nan,
        "assisted": {},
    }
    for epsilon in EPSILONS:
        options: dict[str, Any] = {
            "epsilon": epsilon,
            "label_bounds": bounds,
            "public_model": base,
            "random_state": seed,
        }
        models = assisted_models(public, private, [1000 * seed + draw for draw in range(draws)], **options)
        value["public"] = float(np.mean((models[0].predict_public(test[0]) - test[1]) ** 2))
        value["assisted"][f"{epsilon:g}"] = [float(np.mean((m.predict(test[0]) - test[1]) ** 2)) for m in models]
    return value


def one_split(code: str, repeat: int, draws: int) -> dict[str, Any]:
    """Return the errors on the paper's split 1:7:2 of one data set."""
    s = split(load_dataset(code), repeat)
    parts = [(p.X, p.y) for p in (s.public, s.private, s.test)]
    return _errors(*parts, s.label_bounds, repeat, draws, s.categories or None)  # type: ignore[call-arg, arg-type]


def shift_split(repeat: int, draws: int) -> dict[str, Any]:
    """Return the errors with red wines public, and white wines private and test (8:2)."""
    red = load_dataset("RED")
    white = load_dataset("WHI")
    order = np.random.default_rng(repeat).permutation(len(white.y))
    y = np.asarray(white.y, dtype=np.float64)
    cut = len(order) // 5
    labels = np.asarray(red.y, dtype=np.float64)
    private, test = ((white.X.iloc[rows], y[rows]) for rows in (order[cut:], order[:cut]))
    return _errors((red.X, labels), private, test, widened(labels), repeat, draws)


def other_shift(name: str, repeat: int, draws: int) -> dict[str, Any]:
    """Return the errors under one of the other shifts."""
    public, private, test = shifted(name, repeat)
    return _errors(public, private, test, widened(public[1]), repeat, draws)


def label_split(code: str, repeat: int) -> dict[str, Any]:
    """Return errors with 500 public records and all features public: public model, private labels, nothing private."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    data = load_dataset(code)
    order = np.random.default_rng(repeat).permutation(len(data.y))
    y = np.asarray(data.y, dtype=np.float64)
    ends = np.split(order, [500, 500 + len(order) // 5])
    (Xp, yp), (Xt, yt), (X, labels) = ((data.X.iloc[rows], y[rows]) for rows in ends)
    text = [c for c in data.X.columns if data.X[c].dtype.kind not in "fiub"]
    categories = {str(c): sorted(map(str, data.X[c].unique())) for c in text}
    base = fitted_model(Xp, yp, repeat, categories or None)
    bounds = widened(yp)
    # Not private, on everything: the floor that private labels are measured against.
    free = HistGradientBoostingRegressor(max_iter=300, random_state=0)
    free.fit(np.vstack([base._design(Xp), base._design(X)]), np.concatenate([yp, labels]))
    value: dict[str, Any] = {
        "public": float(np.mean((np.clip(base.predict(Xt), *bounds) - yt) ** 2)),
        "free": float(np.mean((free.predict(base._design(Xt)) - yt) ** 2)),
        "holders": len(labels),
        "label": {},
    }
    for epsilon in LABEL_EPSILONS:
        model = LabelPrivateRegressor(epsilon=epsilon, label_bounds=bounds, public_model=base, random_state=repeat)
        value["label"][f"{epsilon:g}"] = float(np.mean((model.fit(X, labels).predict(Xt) - yt) ** 2))
    return value


def compute(key: Key, seed: int) -> dict[str, Any]:
    """Return errors of the public model, and of what private reports or labels make of it, by epsilon."""
    if key.setting == "labels":
        return label_split(key.dataset, key.repeat)
    if key.dataset == "RED->WHI":
        return shift_split(key.repeat, DRAWS)
    if key.setting == "shift":
        return other_shift(key.dataset, key.repeat, DRAWS)
    return one_split(key.dataset, key.repeat, DRAWS)


def tidy(experiment: Experiment, key: Key, value: dict[str, Any]) -> Iterator[Row]:
    """Yield the public model's error, and those with private reports (the mean over draws, and each) or labels."""

    def row(method: str, epsilon: float | None, value: float, metric: str = experiment.metric) -> Row:
        return row_of(experiment, key, value, method=method, epsilon=epsilon, metric=metric)

    yield row("public model", None, value["public"])
    if key.setting == "labels":
        yield row("no privacy", None, value["free"])
        yield row("private labels", None, value["holders"], "holders")
    else:
        yield row("public model", None, value["kB"], "kB")
    for epsilon, errors in value.get("assisted", {}).items():
        yield row("AssistedForest", float(epsilon), sum(errors) / len(errors))
        for i, error in enumerate(errors):
            yield row(f"AssistedForest, draw {i}", float(epsilon), error)
    for epsilon, error in value.get("label", {}).items():
        yield row("private labels", float(epsilon), error)
