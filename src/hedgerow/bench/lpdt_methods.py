"""The methods of the LPDT paper's tables on one split: test errors for every parameter of appendix D.1."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.bench.splits import Split
from hedgerow.bounds import LabelGrid
from hedgerow.partition import Partition, grow
from hedgerow.protocol.bits import split_epsilon
from hedgerow.protocol.model import Model
from hedgerow.protocol.task import LocalTask, PublicLeaves
from hedgerow.randomness import Randomness, SeededRandomness

__all__ = ["DEPTHS", "EPSILONS", "FALLBACKS", "GRIDS", "GROUPS", "LEAF_SIZES", "SHARES", "Errors", "Tabulated"]

EPSILONS = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0)
LEAF_SIZES = (2, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160)
DEPTHS = (1, 2, 3, 4)
SHARES = (0.3, 0.5, 0.7)
BINS = (1, 2, 3, 4)
THRESHOLDS = (0.01, 0.05)
BANDWIDTHS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
FALLBACKS = ("none", "public", "blend")
RESPONSES = ("unary", "k_ary", "subset")
_RULES = {"LPDT-M": "max_edge", "LPDT-V": "cart"}

Errors = dict[str, dict[str, list[float]]]
"""Test errors by method and epsilon (as text), one for each point of the method's parameter grid."""

GRIDS: dict[str, list[Any]] = {
    "LPDT": list(itertools.product(LEAF_SIZES, DEPTHS, SHARES)),
    "CELL": list(itertools.product(LEAF_SIZES, DEPTHS, RESPONSES)),
    "HIST": list(itertools.product(BINS, THRESHOLDS)),
    "DECONV": list(BANDWIDTHS),
    "DT": list(DEPTHS),
    "ours": ["auto"],
}
"""Parameter grids: (leaf size, depth, share or response), (bins, threshold), bandwidth, depth."""


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
        self.partition, self.data = partition, data
        y = np.clip(data.public.y, *data.label_bounds)
        self.public = PublicLeaves.summarise(partition.apply(data.public.Z), y, partition.n_leaves)
        self.private, self.test = (partition.apply(p.Z).astype(np.int64) for p in (data.private, data.test))

    def fit(self, task: LocalTask, column: npt.NDArray[np.int64], source: Randomness) -> Model:
        """Return the model that holders with these noisy labels make (exact in law)."""
        width = task.encoding.n_columns
        counts = np.bincount(self.private * width + column, minlength=task.n_leaves * width)
        sums = task.encoding.simulate(counts.reshape(task.n_leaves, width).astype(np.int64), source)
        return Model(task, len(column), tuple(sums.tolist()), True, "none")

    def errors(self, model: Model, fallbacks: tuple[str, ...] = FALLBACKS) -> list[float]:
        """Return the test errors of a model under each of the fall-backs."""
        values = (Model(model.task, model.n_reports, model.sums, True, f).leaf_values for f in fallbacks)
        return [mse(self.data.test.y, v[self.test]) for v in values]


def trees(data: Split, rule: str) -> list[tuple[Tabulated, list[int]]]:
    """Return the different partitions of the grid, each with the places (leaf size, depth) that lead to it."""
    found: dict[Partition, list[int]] = {}
    for place, (leaf, depth) in enumerate(itertools.product(LEAF_SIZES, DEPTHS)):
        tree = grow(rule, data.space, data.public.Z, data.public.y, max_depth=depth, min_samples_leaf=leaf)
        found.setdefault(tree, []).append(place)
    return [(Tabulated(tree, data), places) for tree, places in found.items()]


def lpdt(data: Split, source: Randomness) -> Errors:
    """LPDT-M and LPDT-V as printed, and with public fall-back and blending.

    All partitions share the holders' noisy labels: each alone has its exact law, and only averages over
    partitions, which nobody takes, would notice.
    """
    grown = {name: trees(data, rule) for name, rule in _RULES.items()}
    names = {name: [name, f"{name}+public", f"{name}+blend"] for name in _RULES}
    cells = len(LEAF_SIZES) * len(DEPTHS)
    out: Errors = {m: {} for ms in names.values() for m in ms}
    for epsilon in EPSILONS:
        table = {m: np.empty((cells, len(SHARES))) for m in out}
        for k, share in enumerate(SHARES):
            grid = LabelGrid.for_epsilon(data.label_bounds, split_epsilon(epsilon, share)[1])
            column = None
            for name, (tree, places) in ((n, t) for n, ts in grown.items() for t in ts):
                task = LocalTask(epsilon, grid, tree.partition, "bits", share, tree.public)
                if column is None:
                    column = task.encoding.column(grid.levels(data.private.y, source), source)
                for method, error in zip(names[name], tree.errors(tree.fit(task, column, source)), strict=True):
                    table[method][places, k] = error
        for method, errors in table.items():
            out[method][f"{epsilon:g}"] = errors.ravel().tolist()
    return out


def one_report(data: Split, source: Randomness) -> Errors:
    """Return errors of the same trees with one categorical report of (leaf, end of the label bounds), and blend."""
    out: Errors = {"CELL-M": {}, "CELL-V": {}}
    grid = LabelGrid(*data.label_bounds, 1)
    for name, rule in (("CELL-M", "max_edge"), ("CELL-V", "cart")):
        grown = trees(data, rule)
        for epsilon in EPSILONS:
            table = np.empty((len(LEAF_SIZES) * len(DEPTHS), len(RESPONSES)))
            level = grid.levels(data.private.y, source)
            for (tree, places), (k, response) in itertools.product(grown, enumerate(RESPONSES)):
                task = LocalTask(epsilon, grid, tree.partition, response, 0.5, tree.public)
                table[places, k] = tree.errors(tree.fit(task, level, source), ("blend",))
            out[name][f"{epsilon:g}"] = table.ravel().tolist()
    return out


def histogram(data: Split, source: Randomness) -> Errors:
    """PHIST and APHIST; both read the same totals."""
    from hedgerow.local.cell_sums import cell_keys
    from hedgerow.local.histogram import PrivateHistogramRegressor
    from hedgerow.local.records import unit

    bounds = np.stack([data.space.low, data.space.high])
    numeric = type(data.space).from_bounds(bounds, len(data.space))
    out: Errors = {"PHIST": {}, "APHIST": {}}
    for epsilon in EPSILONS:
        errors: dict[str, list[float]] = {"PHIST": [], "APHIST": []}
        for bins in BINS:
            model = PrivateHistogramRegressor(
                epsilon, label_bounds=data.label_bounds, feature_bounds=bounds, n_bins=bins, max_cells=0,
                random_state=source,
            )  # fmt: skip
            model.fit(data.private.Z, data.private.y)
            totals = model.sums_.ask(cell_keys(unit(numeric, data.test.Z), bins))
            for threshold, (name, adjusted) in itertools.product(THRESHOLDS, (("PHIST", False), ("APHIST", True))):
                model.set_params(threshold=threshold, adjusted=adjusted)
                errors[name].append(mse(data.test.y, model.estimate(totals)))
        for name in out:
            out[name][f"{epsilon:g}"] = errors[name]
    return out


def deconvolution(data: Split, source: Randomness) -> Errors:
    """DECONV; all bandwidths read the same reports."""
    from hedgerow.local.deconvolution import DeconvolutionRegressor

    bounds = np.stack([data.space.low, data.space.high])
    out: Errors = {"DECONV": {}}
    for epsilon in EPSILONS:
        model = DeconvolutionRegressor(
            epsilon, label_bounds=data.label_bounds, feature_bounds=bounds, random_state=source
        ).fit(data.private.Z, data.private.y)
        errors = [mse(data.test.y, model.set_params(bandwidth=h).predict(data.test.Z)) for h in BANDWIDTHS]
        out["DECONV"][f"{epsilon:g}"] = errors
    return out


def trees_without_privacy(data: Split, source: Randomness) -> Errors:
    """DT on the private records, without privacy, and DT-pub on the public ones; epsilon does not matter."""
    from sklearn.tree import DecisionTreeRegressor

    out: Errors = {}
    for name, part in (("DT", data.private), ("DT-pub", data.public)):
        fitted = [DecisionTreeRegressor(max_depth=d, random_state=0).fit(part.Z, part.y) for d in DEPTHS]
        out[name] = {"": [mse(data.test.y, tree.predict(data.test.Z)) for tree in fitted]}
    return out


def ours(data: Split, source: Randomness) -> Errors:
    """Return what a user gets from ``LPDTRegressor(epsilon, label_bounds=...)`` with nothing chosen by hand."""
    from hedgerow.local.lpdt import LPDTRegressor

    out: Errors = {"ours": {}}
    for epsilon in EPSILONS:
        tree = LPDTRegressor(
            epsilon, label_bounds=data.label_bounds, categories=data.categories or None, random_state=source
        )
        tree.fit(data.private.X, data.private.y, data.public.X, data.public.y)
        out["ours"][f"{epsilon:g}"] = [mse(data.test.y, tree.predict(data.test.X))]
    return out


GROUPS: dict[str, Callable[[Split, Randomness], Errors]] = {
    "lpdt": lpdt,
    "dt": trees_without_privacy,
    "ours": ours,
    "cell": one_report,
    "hist": histogram,
    "deconv": deconvolution,
}
"""What is run on a split; each group shares work between its methods."""
