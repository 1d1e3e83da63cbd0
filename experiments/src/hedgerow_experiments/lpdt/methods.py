"""The methods of the LPDT paper's tables on one split: test errors for every parameter of appendix D.1.

Each group gives ``{method: errors}``, one error for each point of the method's grid, in order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.grid import LabelGrid
from hedgerow.partition import Partition, grow
from hedgerow.randomness import Randomness, SeededRandomness
from hedgerow.tasks.tree.bits import split_epsilon
from hedgerow.tasks.tree.model import TreeModel
from hedgerow.tasks.tree.task import LocalTask, PublicLeaves
from hedgerow_experiments.data.datasets import Dataset, load_dataset
from hedgerow_experiments.data.splits import Split, split
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.lpdt.declared import BANDWIDTHS, BINS, DEPTHS, LEAF_SIZES, RESPONSES, SHARES, THRESHOLDS

__all__ = ["FALLBACKS", "GROUPS", "Errors", "Stream", "Tabulated", "compute", "mse", "trees"]

FALLBACKS = ("none", "public", "blend")
_RULES = {"LPDT-M": "max_edge", "LPDT-V": "cart"}

Errors = dict[str, list[float]]


class Stream(SeededRandomness):
    """One seeded stream for everything: children do not open streams of their own, which would cost time."""

    def child(self, *path: object) -> Stream:
        """Return the stream itself."""
        return self


def mse(truth: npt.NDArray[Any], prediction: npt.NDArray[Any]) -> float:
    """Return the mean squared error to five digits."""
    return float(f"{np.mean((truth - prediction) ** 2):.5g}")


class Tabulated:
    """A partition with the leaves of private and test records looked up, once for all budgets."""

    def __init__(self, partition: Partition, data: Split) -> None:
        self.partition = partition
        self.data = data
        y = np.clip(data.public.y, *data.label_bounds)
        self.public = PublicLeaves.summarise(partition.apply(data.public.Z), y, partition.n_leaves)
        self.private, self.test = (partition.apply(p.Z).astype(np.int64) for p in (data.private, data.test))

    def fit(self, task: LocalTask, column: npt.NDArray[np.int64], source: Randomness) -> TreeModel:
        """Return the model that holders with these noisy labels make (exact in law)."""
        width = task.encoding.n_columns
        counts = np.bincount(self.private * width + column, minlength=task.n_leaves * width)
        sums = task.encoding.simulate(counts.reshape(task.n_leaves, width).astype(np.int64), source)
        return TreeModel(task, len(column), tuple(sums.tolist()), True, "none")

    def errors(self, model: TreeModel, fallbacks: tuple[str, ...] = FALLBACKS) -> list[float]:
        """Return the test errors of a model under each of the fall-backs."""
        values = (TreeModel(model.task, model.n_reports, model.sums, True, f).leaf_values for f in fallbacks)
        return [mse(self.data.test.y, v[self.test]) for v in values]


@lru_cache(maxsize=2)
def trees(data: Split, rule: str) -> list[tuple[Tabulated, list[int]]]:
    """Return the different partitions of the grid, each with the places (leaf size, depth) that lead to it."""
    found: dict[Partition, list[int]] = {}
    for place, (leaf, depth) in enumerate(itertools.product(LEAF_SIZES, DEPTHS)):
        tree = grow(rule, data.space, data.public.Z, data.public.y, max_depth=depth, min_samples_leaf=leaf)
        found.setdefault(tree, []).append(place)
    return [(Tabulated(tree, data), places) for tree, places in found.items()]


def lpdt(data: Split, epsilon: float, source: Randomness) -> Errors:
    """LPDT-M and LPDT-V as printed, and with public fall-back and blending.

    All partitions share the holders' noisy labels: each alone has its exact law, and only averages over
    partitions, which nobody takes, would notice.
    """
    grown = {name: trees(data, rule) for name, rule in _RULES.items()}
    names = {name: [name, f"{name}+public", f"{name}+blend"] for name in _RULES}
    table = {m: np.empty((len(LEAF_SIZES) * len(DEPTHS), len(SHARES))) for ms in names.values() for m in ms}
    for k, share in enumerate(SHARES):
        grid = LabelGrid.for_epsilon(data.label_bounds, split_epsilon(epsilon, share)[1])
        column = None
        for name, (tree, places) in ((n, t) for n, ts in grown.items() for t in ts):
            task = LocalTask(epsilon, grid, tree.partition, "bits", share, tree.public)
            if column is None:
                column = task.encoding.column(grid.levels(data.private.y, source), source)
            for method, error in zip(names[name], tree.errors(tree.fit(task, column, source)), strict=True):
                table[method][places, k] = error
    return {method: errors.ravel().tolist() for method, errors in table.items()}


def one_report(data: Split, epsilon: float, source: Randomness) -> Errors:
    """Return errors of the same trees with one categorical report of (leaf, end of the label bounds), and blend."""
    out: Errors = {}
    grid = LabelGrid(*data.label_bounds, 1)
    for name, rule in (("CELL-M", "max_edge"), ("CELL-V", "cart")):
        table = np.empty((len(LEAF_SIZES) * len(DEPTHS), len(RESPONSES)))
        level = grid.levels(data.private.y, source)
        for (tree, places), (k, response) in itertools.product(trees(data, rule), enumerate(RESPONSES)):
            task = LocalTask(epsilon, grid, tree.partition, response, 0.5, tree.public)
            table[places, k] = tree.errors(tree.fit(task, level, source), ("blend",))
        out[name] = table.ravel().tolist()
    return out


def histogram(data: Split, epsilon: float, source: Randomness) -> Errors:
    """PHIST and APHIST; both read the same totals."""
    from hedgerow.baselines.boxed import unit
    from hedgerow.baselines.cell_sums import cell_keys
    from hedgerow.baselines.histogram import PrivateHistogramRegressor

    bounds = data.space.ranges
    numeric = type(data.space).from_bounds(bounds, len(data.space))
    out: Errors = {"PHIST": [], "APHIST": []}
    for bins in BINS:
        model = PrivateHistogramRegressor(
            epsilon, label_bounds=data.label_bounds, feature_bounds=bounds, n_bins=bins, max_cells=0,
            random_state=source,
        )  # fmt: skip
        model.fit(data.private.Z, data.private.y)
        totals = model.sums_.simulate(cell_keys(unit(numeric, data.test.Z), bins), source)
        for threshold, (name, adjusted) in itertools.product(THRESHOLDS, (("PHIST", False), ("APHIST", True))):
            model.set_params(threshold=threshold, adjusted=adjusted)
            out[name].append(mse(data.test.y, model.estimate(totals)))
    return out


def deconvolution(data: Split, epsilon: float, source: Randomness) -> Errors:
    """DECONV; all bandwidths read the same reports."""
    from hedgerow.baselines.deconvolution import DeconvolutionRegressor

    bounds = data.space.ranges
    model = DeconvolutionRegressor(
        epsilon, label_bounds=data.label_bounds, feature_bounds=bounds, random_state=source
    ).fit(data.private.Z, data.private.y)
    return {"DECONV": [mse(data.test.y, model.set_params(bandwidth=h).predict(data.test.Z)) for h in BANDWIDTHS]}


def trees_without_privacy(data: Split, epsilon: float, source: Randomness) -> Errors:
    """DT on the private records, without privacy, and DT-pub on the public ones; epsilon does not matter."""
    from sklearn.tree import DecisionTreeRegressor

    out: Errors = {}
    for name, part in (("DT", data.private), ("DT-pub", data.public)):
        fitted = [DecisionTreeRegressor(max_depth=d, random_state=0).fit(part.Z, part.y) for d in DEPTHS]
        out[name] = [mse(data.test.y, tree.predict(data.test.Z)) for tree in fitted]
    return out


def ours(data: Split, epsilon: float, source: Randomness) -> Errors:
    """Return what a user gets from ``LPDTRegressor(epsilon, label_bounds=...)`` with nothing chosen by hand."""
    from hedgerow.local.lpdt import LPDTRegressor

    tree = LPDTRegressor(
        epsilon, label_bounds=data.label_bounds, categories=data.categories or None, random_state=source
    )
    tree.fit(data.private.X, data.private.y, data.public.X, data.public.y)
    return {"ours": [mse(data.test.y, tree.predict(data.test.X))]}


GROUPS: dict[str, Callable[[Split, float, Randomness], Errors]] = {
    "lpdt": lpdt,
    "dt": trees_without_privacy,
    "ours": ours,
    "cell": one_report,
    "hist": histogram,
    "deconv": deconvolution,
}
"""What is run on a split; each group shares work between its methods."""


@lru_cache(maxsize=1)
def _split(code: str, repeat: int) -> Split:
    return split(_data(code), repeat)


@lru_cache(maxsize=4)
def _data(code: str) -> Dataset:
    return load_dataset(code)


def compute(key: Key, seed: int) -> Errors:
    """Compute one cell of the experiments."""
    return GROUPS[key.group](_split(key.dataset, key.repeat), key.epsilon, Stream(seed))
