"""The methods of the HistOfTree paper over its parameter grids, sharing labels and trees within a repeat."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from hedgerow.baselines import KRRRegressor, PrivateHistogramRegressor
from hedgerow.baselines.label_trees import noisy_labels
from hedgerow.partition.structure import node_levels
from hedgerow.partition.tree import Partition
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.partly_public import CellTask, FirstReports, Secrets, SemiTask
from hedgerow.tasks.partly_public.cells import most_protected
from hedgerow.tasks.partly_public.choose import choose
from hedgerow.tasks.partly_public.growing import grow_masked
from hedgerow.tasks.partly_public.histogram import histogram_below
from hedgerow.types import BoolArray, FloatArray
from hedgerow_experiments.data.datasets import Dataset

__all__ = ["METHODS", "Trial", "make_trial", "mask_for", "n_sensitive", "rounds_of"]

Grid = dict[str, float]
SHARES = (0.5, 0.7, 0.9)
DEPTHS = (1, 2, 4, 6)
BINS = (1, 2, 3)
TREE_DEPTHS = (1, 2, 4, 6, 8)
LEAVES = (1, 10, 100)
KRR_BINS = (2, 3, 4, 5)
CONSTANTS = (0.01, 0.1, 1.0)
OFFSETS = (-1, 0, 1)
BALANCE = 0.2
"""Our default for HistOfTree, not one of the paper's parameters; chosen by looking at AQU, FIS, POR and RED."""


@dataclass(frozen=True, eq=False)
class Trial:
    """One split of a data set, features scaled to [0, 1], with the masks of the training records."""

    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray
    bounds: tuple[float, float]
    aligned: BoolArray
    personal: BoolArray

    def mse(self, prediction: FloatArray) -> float:
        """Return the error on the test records, predictions clipped to the label bounds."""
        return float(np.mean((np.clip(prediction, *self.bounds) - self.y_test) ** 2))


def n_sensitive(d: int) -> int:
    """Return the paper's number of protected features, ``ceil(log sqrt(d))``."""
    return max(1, math.ceil(math.log(math.sqrt(d))))


def mask_for(n: int, d: int) -> tuple[BoolArray, BoolArray]:
    """Return the aligned and the personalised mask of section 5.2; columns are in order of sensitivity."""
    s = n_sensitive(d)
    rank = (np.arange(d) + 1) // s
    return np.arange(d) < s, np.arange(1, n + 1)[:, None] <= n / 10.0**rank


def make_trial(data: Dataset, repeat: int) -> Trial:
    """Return split number ``repeat``, 80:20. Ranges are those of the whole data set, as in the paper: public."""
    columns = [np.asarray(data.X[c]) for c in data.X.columns]
    numbers = [c if c.dtype.kind in "fiub" else np.unique(c.astype(str), return_inverse=True)[1] for c in columns]
    X = np.column_stack(numbers).astype(np.float64)
    y = np.asarray(data.y, dtype=np.float64)
    low = X.min(axis=0)
    width = np.ptp(X, axis=0)
    X = (X - low) / np.where(width > 0, width, 1.0)
    order = np.random.default_rng([4, repeat, *data.code.encode()]).permutation(len(y))
    test = order[: len(y) // 5]
    train = order[len(y) // 5 :]
    aligned, personal = mask_for(len(train), X.shape[1])
    bounds = (float(y.min()), float(y.max()))
    return Trial(X[train], y[train], X[test], y[test], bounds, aligned, personal)


def _cut(tree: Partition, depth: int) -> Partition:
    """Return the first levels of a tree, whose nodes are in breadth-first order."""
    levels = node_levels(tree.feature, tree.left)[: depth + 1]
    n = sum(map(len, levels))
    feature = tree.feature[:n].copy()
    left = tree.left[:n].copy()
    threshold = tree.threshold[:n].copy()
    last = levels[-1]
    if len(levels) == depth + 1:
        feature[last], left[last], threshold[last] = -1, last, 0.0
    return Partition(tree.space, feature, threshold, left, np.full(n, -1), np.empty(0, dtype=bool))


def _spent_once(secrets: Secrets) -> Secrets:
    """Return a copy: in a study each cell of the grid stands for a run of its own."""
    s = secrets
    return Secrets(s.task, s.tokens, s.coarse, s.fine, s.private, s.simulation)


@dataclass(frozen=True, eq=False)
class _Rounds:
    """One first round and its tree, grown once as deep as the grid needs."""

    trial: Trial
    secrets: Secrets
    tree: Partition
    columns: list[int]
    strength: float

    @classmethod
    def run(cls, trial: Trial, task: SemiTask, mask: Any, s: int, rule: str, depth: int, source: Randomness) -> _Rounds:
        first = FirstReports.of(task.privatize(trial.X, trial.y, private=mask, randomness=source))
        columns = most_protected(first.private, s)
        rest = np.setdiff1d(np.arange(trial.X.shape[1]), columns)
        tree = grow_masked(
            task.space,
            first.Z,
            first.levels,
            first.private,
            rest,
            rule=rule,
            max_depth=depth,
            balance=BALANCE,
            randomness=source,
        )
        return cls(trial, first.kept, tree, columns, 2.0 if rule == "cart" else 1.0)

    def errors(self, depth: int, bins: int, source: Randomness) -> tuple[float, float]:
        """Return the error with shrinking, and that of the paper's (9)."""
        task = CellTask(self.secrets.task, histogram_below(_cut(self.tree, depth), self.columns, bins))
        total = task.simulate(self.trial.X, randomness=source, kept=_spent_once(self.secrets))
        cell = task.partition.apply(self.trial.X_test)
        both = [self.trial.mse(total.model(shrink=shrink).leaf_values[cell]) for shrink in (self.strength, 0.0)]
        return both[0], both[1]


def _task(trial: Trial, epsilon: float, share: float, aligned: bool) -> SemiTask:
    space = FeatureSpace.from_bounds((0, 1), trial.X.shape[1])
    columns = np.flatnonzero(trial.aligned).tolist() if aligned else None
    return SemiTask.design(
        space, epsilon=epsilon, label_bounds=trial.bounds, label_share=share, private_columns=columns
    )


def rounds_of(
    trial: Trial, epsilon: float, share: float, mask: BoolArray, s: int, rule: str, depth: int, source: Randomness
) -> _Rounds:
    """Run the first round for any mask; one that is the same for everybody is a policy."""
    space = FeatureSpace.from_bounds((0, 1), trial.X.shape[1])
    policy = bool((mask == mask[0]).all())
    task = SemiTask.design(
        space,
        epsilon=epsilon,
        label_bounds=trial.bounds,
        label_share=share,
        private_columns=np.flatnonzero(mask[0]).tolist() if policy else None,
    )
    return _Rounds.run(trial, task, None if policy else mask, s, rule, depth, source)


def hist_of_tree(trial: Trial, epsilon: float, aligned: bool, source: Randomness, rule: str) -> Grid:
    """Return errors by "share/depth/bins/estimator" over the grid of appendix C.1, s = s*."""
    out: Grid = {}
    mask = None if aligned else trial.personal
    s = n_sensitive(trial.X.shape[1])
    # Under a policy one bin leaves every cell certain: all of epsilon is the label's, whatever the share.
    plan: list[tuple[float, tuple[int, ...]]] = [(1.0, (1,))] if aligned else []
    plan += [(share, BINS[1:] if aligned else BINS) for share in SHARES]
    for share, bins in plan:
        task = _task(trial, epsilon, share, aligned)
        rounds = _Rounds.run(trial, task, mask, s, rule, max(DEPTHS), source.child("first", share))
        for depth in DEPTHS:
            for t in bins:
                shrunk, plain = rounds.errors(depth, t, source.child("second", share, depth, t))
                out[f"{share}/{depth}/{t}/shrunk"], out[f"{share}/{depth}/{t}/plain"] = shrunk, plain
    return out


def ad_hist_of_tree(trial: Trial, epsilon: float, aligned: bool, source: Randomness, rule: str) -> Grid:
    """Return errors by "share/constant/offset/estimator": s, p and t by criterion (15), t give or take one."""
    mask = np.broadcast_to(trial.aligned, trial.X.shape) if aligned else trial.personal
    out: Grid = {}
    known: dict[tuple[float, int, int, int], tuple[float, float]] = {}
    chosen = {constant: choose(mask, epsilon, constant=constant) for constant in CONSTANTS}
    for share in SHARES:
        task = _task(trial, epsilon, share, aligned)
        for constant, c in chosen.items():
            rounds = None
            for offset in OFFSETS:
                key = (share, c.n_private, c.max_depth, max(1, c.n_bins + offset))
                if key not in known:
                    rounds = rounds or _Rounds.run(
                        trial, task, None if aligned else mask, c.n_private, rule, c.max_depth, source.child(*key[:3])
                    )
                    known[key] = rounds.errors(c.max_depth, key[3], source.child(*key))
                shrunk, plain = known[key]
                out[f"{share}/{constant}/{offset}/shrunk"], out[f"{share}/{constant}/{offset}/plain"] = shrunk, plain
    return out


def _trees(trial: Trial, Z: FloatArray, labels: FloatArray, name: str = "") -> Grid:
    """Return errors of scikit-learn's trees by "depth/leaf"; shallower trees are the tops of the deepest."""
    out: Grid = {}
    for leaf in LEAVES:
        tree = DecisionTreeRegressor(
            max_depth=max(TREE_DEPTHS), min_samples_leaf=min(leaf, len(Z)), random_state=0
        ).fit(Z, labels)
        inner = tree.tree_
        X = np.asarray(trial.X_test, dtype=np.float32)
        node = np.zeros(len(X), dtype=np.intp)
        rows = np.arange(len(X))
        for depth in range(1, max(TREE_DEPTHS) + 1):
            feature = inner.feature[node]
            left = X[rows, np.maximum(feature, 0)] <= inner.threshold[node]
            node = np.where(feature < 0, node, np.where(left, inner.children_left[node], inner.children_right[node]))
            if depth in TREE_DEPTHS:
                out[f"{name}{depth}/{leaf}"] = trial.mse(inner.value[node, 0, 0])
    return out


def dt(trial: Trial, epsilon: float, aligned: bool, source: Randomness) -> Grid:
    """Return errors of the tree without privacy."""
    return _trees(trial, trial.X, trial.y)


def label_dt(trial: Trial, epsilon: float, aligned: bool, source: Randomness) -> Grid:
    """Return errors with noise on labels only."""
    return _trees(trial, trial.X, noisy_labels(trial.y, trial.bounds, epsilon, source))


def par_dt(trial: Trial, epsilon: float, aligned: bool, source: Randomness) -> Grid:
    """Return errors of a tree on noisy labels and public values (private ones are missing)."""
    mask = np.broadcast_to(trial.aligned, trial.X.shape) if aligned else trial.personal
    Z = np.where(mask, np.nan, trial.X)
    Z[:, mask.all(axis=0)] = 0.0
    return _trees(trial, Z, noisy_labels(trial.y, trial.bounds, epsilon, source))


def krr(trial: Trial, epsilon: float, aligned: bool, source: Randomness) -> Grid:
    """Return errors of a tree on obfuscated records."""
    mask = np.broadcast_to(trial.aligned, trial.X.shape) if aligned else trial.personal
    space = FeatureSpace.from_bounds((0, 1), trial.X.shape[1])
    out = {}
    for k in KRR_BINS:
        holder = KRRRegressor(epsilon, label_bounds=trial.bounds, feature_bounds=(0, 1), n_bins=k)
        Z, noisy = holder._obfuscate(trial.X.copy(), trial.y, np.asarray(mask), space, source.child(k))
        out.update(_trees(trial, Z, noisy, f"{k}/"))
    return out


def hist(trial: Trial, epsilon: float, aligned: bool, source: Randomness) -> Grid:
    """Return errors of the local histogram, which treats everything as private."""
    out: Grid = {}
    for t in (1, 2, 3, 4):
        if t > 1 and t ** trial.X.shape[1] > 10 * len(trial.y):
            continue  # ten cells a holder: nothing but noise, and slow to draw
        for threshold in (0.01, 0.05):
            model = PrivateHistogramRegressor(
                epsilon,
                label_bounds=trial.bounds,
                feature_bounds=(0, 1),
                n_bins=t,
                threshold=threshold,
                random_state=source.child(t, threshold),
            )
            out[f"{t}/{threshold}"] = trial.mse(model.fit(trial.X, trial.y).predict(trial.X_test))
    return out


def _rule(run: Callable[..., Grid], rule: str) -> Callable[[Trial, float, bool, Randomness], Grid]:
    return lambda trial, epsilon, aligned, source: run(trial, epsilon, aligned, source, rule)


METHODS: dict[str, Callable[[Trial, float, bool, Randomness], Grid]] = {
    "HistOfTree-ME": _rule(hist_of_tree, "max_edge"),
    "HistOfTree-CART": _rule(hist_of_tree, "cart"),
    "AdHistOfTree-ME": _rule(ad_hist_of_tree, "max_edge"),
    "AdHistOfTree-CART": _rule(ad_hist_of_tree, "cart"),
    "ParDT": par_dt,
    "Hist": hist,
    "KRR": krr,
    "LabelDT": label_dt,
    "DT": dt,
}
