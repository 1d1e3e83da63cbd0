"""One fit of the DiPriMe paper's tables 1 and 2, or of a peer on the same split.

Bounds are those of the whole data set, declared public as in the paper, or those that a curator could state beforehand
(:mod:`hedgerow_experiments.data.stated_bounds`); targets are scaled to [0, 1]; 90 % train, 10 % test.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hedgerow.compare.scores import Row
from hedgerow.errors import HedgerowError
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.public_facts import FACTS
from hedgerow_experiments.data.stated_bounds import stated_for
from hedgerow_experiments.diprime.declared import TABLE_2
from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.tidy import row_of

__all__ = ["METHODS", "Prepared", "compute", "dp_ebm", "prepare", "tidy"]


class Prepared(NamedTuple):
    """Records as floats (categories as codes), labels, which columns are categorical, bounds of features and label."""

    X: npt.NDArray[np.float64]
    y: npt.NDArray[Any]
    categories: dict[int, list[int]] | None
    bounds: npt.NDArray[np.float64]
    label_bounds: tuple[float, float] = (0.0, 1.0)


@lru_cache(maxsize=32)
def prepare(code: str, stated: bool = False) -> Prepared:
    """Load a data set as the paper's notebook prepares it; with stated bounds and categories, or with its own.

    The label's own range is the unit of errors in both cases.
    """
    import pandas as pd

    data = load_dataset(code)
    frame = data.X
    y = data.y
    if code == "HAR":
        keep = np.isin(y, ["sitting", "standing"])
        frame = frame[keep]
        y = (y[keep] == "sitting").astype(np.int64)
    elif code == "ROB":
        y = (y == "Move-Forward").astype(np.int64)
    columns: list[npt.NDArray[np.float64]] = []
    categories: dict[int, list[int]] = {}
    for j, name in enumerate(frame.columns):
        column = frame[name]
        if not pd.api.types.is_numeric_dtype(column):
            known = data.categories[name] if stated else sorted(column.dropna().unique())
            column = pd.Categorical(column, categories=known).codes
            categories[j] = list(range(len(known)))
        columns.append(np.asarray(column, dtype=np.float64))
    X = np.column_stack(columns)
    high = np.where(X.max(axis=0) > X.min(axis=0), X.max(axis=0), X.min(axis=0) + 1)  # FLI is of one month
    bounds = np.stack([X.min(axis=0), high])
    label_bounds = (0.0, 1.0)
    if code not in TABLE_2:
        low = y.min()
        width = y.max() - low
        y = (y - low) / width
        if stated:
            a, b = FACTS[code].label_bounds or (0.0, 1.0)
            label_bounds = (float((a - low) / width), float((b - low) / width))
    if stated:
        bounds = _stated(code, list(frame.columns), categories)
    return Prepared(X, y, categories or None, bounds, label_bounds)


def _stated(code: str, names: list[str], categories: dict[int, list[int]]) -> npt.NDArray[np.float64]:
    """Return the bounds that are stated of each column; codes of categories have their own."""
    found = []
    for j, name in enumerate(names):
        if j in categories:
            found.append((0.0, float(len(categories[j]) - 1)))
            continue
        known = stated_for(name, FACTS[code].features)
        if known is None:
            raise HedgerowError(f"nothing is stated of column {name!r} of {code}: add it to data/stated_bounds.py.")
        found.append((known.low, known.high))
    return np.array(found, dtype=np.float64).T


def _private(name: str, **options: Any) -> Callable[..., Any]:
    def build(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
        import hedgerow

        kind = getattr(hedgerow, name + ("Classifier" if classify else "Regressor"))
        public: dict[str, Any] = {"classes": [0, 1]} if classify else {"label_bounds": data.label_bounds}
        return kind(
            epsilon, feature_bounds=data.bounds, categories=data.categories, random_state=seed, **public, **options
        )

    return build


def _median(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    from hedgerow.baselines import MedianForestClassifier, MedianForestRegressor

    kind: Any = MedianForestClassifier if classify else MedianForestRegressor
    public: dict[str, Any] = {"classes": [0, 1]} if classify else {"label_bounds": data.label_bounds}
    return kind(feature_bounds=data.bounds, categories=data.categories, random_state=seed, **public)


def _sklearn(name: str) -> Callable[..., Any]:
    def build(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
        from sklearn import ensemble

        kind = getattr(ensemble, name + ("Classifier" if classify else "Regressor"))
        depth = max(1, int(np.log2(0.9 * len(data.y) / 25)))
        return kind(n_estimators=10, max_depth=depth, random_state=seed)

    return build


def dp_ebm(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    """Return DP-EBM, of a package that may not be there: ``pip install interpret-core``."""
    privacy = importlib.import_module("interpret.privacy")
    bounds = {j: (float(a), float(b)) for j, (a, b) in enumerate(data.bounds.T)}
    kinds = ["nominal" if data.categories and j in data.categories else "continuous" for j in bounds]
    common: dict[str, Any] = {"epsilon": epsilon, "delta": 1e-5, "feature_types": kinds, "privacy_bounds": bounds}
    if classify:
        return privacy.DPExplainableBoostingClassifier(random_state=seed, **common)
    low, high = data.label_bounds
    return privacy.DPExplainableBoostingRegressor(
        random_state=seed, privacy_target_min=low, privacy_target_max=high, **common
    )


METHODS: dict[str, Callable[..., Any]] = {
    "RF": _sklearn("RandomForest"),
    "ERT": _sklearn("ExtraTrees"),
    "Median": _median,
    "DP-DF": _private("DPDecisionForest"),
    "DP-RF": _private("DPRandomForest"),
    "DP-ERT": _private("DPExtraTrees"),
    "DiPriMe": _private("DiPriMeForest", selection="random"),
    "DiPriMeExp": _private("DiPriMeForest", selection="exponential"),
    "DiPriMeFlip": _private("DiPriMeForest"),
    "paper's scheme": _private("DiPriMeForest", accounting="paper"),
    "DP-EBM": dp_ebm,
}


def compute(key: Key, seed: int) -> dict[str, float | None]:
    """Fit once and return the test score with the epsilon that the fit really costs."""
    data = prepare(key.dataset)
    classify = key.setting == "2"
    order = np.random.default_rng(key.repeat).permutation(len(data.y))
    cut = int(0.9 * len(order))
    train = order[:cut]
    test = order[cut:]
    model = METHODS[key.group](data, key.epsilon, seed, classify).fit(data.X[train], data.y[train])
    guess = model.predict(data.X[test])
    value = np.mean(guess == data.y[test]) if classify else np.mean((np.clip(guess, 0, 1) - data.y[test]) ** 2)
    claim = getattr(getattr(model, "guarantee_", None), "epsilon", None)
    return {"value": float(value), "true_epsilon": None if claim is None or np.isinf(claim) else float(claim)}


FRESH = 100
"""Splits from this number on were not looked at when defaults were chosen."""


def tidy(experiment: Experiment, key: Key, value: dict[str, float]) -> Iterator[Row]:
    """Yield the score (accuracy in table 2); fresh splits are a setting of their own."""
    setting = f"{key.setting} fresh" if key.repeat >= FRESH else key.setting
    metric = "accuracy" if key.setting == "2" else "mse"
    yield row_of(experiment, key, value["value"], setting=setting, metric=metric)
