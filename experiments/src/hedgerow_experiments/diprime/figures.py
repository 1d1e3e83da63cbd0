"""The figures of the DiPriMe paper: curves of test scores, and how evenly trees divide the records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hedgerow.compare.scores import Row
from hedgerow.partition import Partition
from hedgerow.types import FloatArray
from hedgerow_experiments.diprime.compute import METHODS, Prepared, prepare
from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.tidy import row_of

__all__ = ["BINS", "compute", "left_shares", "tidy"]

DEPTHS = (2, 4, 6, 8, 10)
TREES = (2, 5, 10, 20)
EPSILONS = (0.5, 1.0, 2.0, 5.0, 10.0)
BINS = {"3": np.linspace(0.0, 0.2, 11), "4": np.linspace(0.0, 1.0, 11)}
"""Bins of the two histograms; what is beyond the last counts in it."""
_METRICS = {"2": "accuracy", "6": "accuracy", "3": "share of leaves", "4": "share of splits"}


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return a whole curve: values by their places on the axis."""
    data = prepare(key.dataset)
    order = np.random.default_rng(key.repeat).permutation(len(data.y))
    cut = int(0.9 * len(order))
    train, test = order[:cut], order[cut:]
    if key.setting in BINS:
        model = _build(data, key, 2.0, seed, max_depth=5).fit(data.X[train], data.y[train])
        return _histogram(model, data.X[train], key.setting)
    return {f"{x:g}": _score(data, key, train, test, x, seed) for x in _places(key.setting)}


def _places(setting: str) -> tuple[float, ...]:
    """Return the axis of a panel."""
    if setting in ("1(a)", "5(a)"):
        return DEPTHS
    if setting in ("1(b)", "5(b)", "7(b)", "7(d)", "8(b)", "8(d)"):
        return TREES
    return EPSILONS


def _score(data: Prepared, key: Key, train: Any, test: Any, x: float, seed: int) -> float:
    options: dict[str, Any] = {"max_depth": {"1": 6, "2": 5, "5": 6, "6": 5, "7": 8, "8": 8}[key.setting[0]]}
    epsilon = 10.0
    if _places(key.setting) is DEPTHS:
        options["max_depth"] = int(x)
    elif _places(key.setting) is TREES:
        options["n_estimators"] = int(x)
    else:
        epsilon = x
    model = _build(data, key, epsilon, seed, **options).fit(data.X[train], data.y[train])
    guess = model.predict(data.X[test])
    if key.setting in ("2", "6"):
        return float(np.mean(guess == data.y[test]))
    return float(np.mean((np.clip(guess, 0, 1) - data.y[test]) ** 2))


def _build(data: Prepared, key: Key, epsilon: float, seed: int, **options: Any) -> Any:
    """Return the forest that a curve is of, unfitted."""
    name, _, records = key.group.partition(", ")
    if name in ("DP-DF", "DP-RF"):
        options["max_depth"] = "auto"  # a child for each of five bins: as deep as that allows
    if records:
        options["partition"] = False
    if key.setting[0] in "78":
        parameter, _, value = name.partition("=")
        name = "DiPriMeExp" if key.setting[0] == "7" else "DiPriMeFlip"
        options["partition"] = key.setting[2] in "ab"
        options["max_features"] = int(value) if parameter == "K" else 10
        options["split_share"] = float(value) if parameter == "rho" else 0.5
    return METHODS[name](data, epsilon, seed, key.dataset != "APP").set_params(**options)


def _histogram(model: Any, X: FloatArray, setting: str) -> dict[str, float]:
    """Return the share of leaves, or of splits, in each bin, over all trees."""
    Z = model.model_.encoded(X)
    found = []
    for tree in model.model_.trees:
        counts = np.bincount(tree.partition.apply(Z), minlength=tree.partition.n_leaves)
        found.append(counts / len(Z) if setting == "3" else left_shares(tree.partition, counts))
    edges = BINS[setting]
    values = np.clip(np.concatenate(found), edges[0], edges[-1])
    shares = np.histogram(values, edges)[0] / len(values)
    middles = (edges[:-1] + edges[1:]) / 2
    return {f"{x:g}": float(v) for x, v in zip(middles, shares, strict=True)}


def left_shares(tree: Partition, leaves: Any) -> FloatArray:
    """Return which share of its records each inner node sends left, given the records of each leaf; empty ones not.

    >>> from hedgerow.space import FeatureSpace
    >>> space = FeatureSpace.from_bounds((0, 1), ["x"])
    >>> tree = Partition(space, [0, -1, 0, -1, -1], [0.5, 0, 0.7, 0, 0], [1, 1, 3, 3, 4], [-1] * 5, [])
    >>> left_shares(tree, [1, 1, 2]).round(3).tolist()
    [0.25, 0.333]
    """
    counts = np.zeros(tree.n_nodes)
    ends = tree.feature < 0
    counts[ends] = np.asarray(leaves)[tree.leaf_of_node[ends]]
    inner = np.flatnonzero(~ends)
    for node in inner[::-1]:  # children come after their parents
        counts[node] = counts[tree.left[node]] + counts[tree.left[node] + 1]
    used = inner[counts[inner] > 0]
    shares: FloatArray = counts[tree.left[used]] / counts[used]
    return shares


def tidy(experiment: Experiment, key: Key, value: dict[str, float]) -> Iterator[Row]:
    """Yield the points of a curve."""
    for x, score in value.items():
        yield row_of(experiment, key, score, x=float(x), metric=_METRICS.get(key.setting, "mse"))
