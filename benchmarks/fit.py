"""A simulated fit against one prediction of a scikit-learn tree on the same rows, and its parts."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from benchmarks.timing import Row, fresh, interleave
from hedgerow import LocalTask, simulate_aggregate
from hedgerow.randomness import SecureRandomness
from hedgerow.simulate import _ROWS

D, DEPTH, EPSILON = 10, 10, 2.0
_CHILD = "import sys; from benchmarks.fit import child; child(int(sys.argv[1]), int(sys.argv[2]))"
_MEMORY = "import sys; from benchmarks.fit import memory_child; memory_child(int(sys.argv[1]))"


@dataclass
class Setting:
    """Holders, a task with 1,024 leaves and a scikit-learn tree with as many."""

    n: int

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """float32 records and float64 labels in [0, 2)."""
        rng = np.random.default_rng(0)
        X = rng.random((self.n, D), dtype=np.float32)
        y = X[:, 1].astype(np.float64)
        y *= X[:, 2]
        y += X[:, 0]
        return X, y

    @cached_property
    def public(self) -> tuple[np.ndarray, np.ndarray]:
        """The records that shape both trees."""
        rng = np.random.default_rng(1)
        X = rng.random((60_000, D), dtype=np.float32)
        return X, X[:, 0] + X[:, 1] * X[:, 2]

    @cached_property
    def task(self) -> LocalTask:
        """The paper's message over 1,024 leaves."""
        X, y = self.public
        options = {"label_bounds": (0, 2), "rule": "cart", "max_depth": DEPTH, "min_samples_leaf": 5}
        return LocalTask.design(X, y, epsilon=EPSILON, feature_bounds=(0, 1), **options)

    @cached_property
    def sklearn_tree(self) -> DecisionTreeRegressor:
        """The tree to compare with."""
        return DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=5).fit(*self.public)


def run(quick: bool) -> list[Row]:
    """Measure in new processes: the time of all parts, and the memory of one fit."""
    n, rounds = (10**6, 3) if quick else (10**7, 5)
    rows = [Row(**row) for row in json.loads(fresh(_CHILD, str(n), str(rounds)))]
    beyond = float(fresh(_MEMORY, str(n)))
    return [*rows, Row(f"simulated fit of {n:,} holders: peak memory beyond the input", beyond, "GB", 2.0)]


def child(n: int, rounds: int) -> None:
    """Print the rows of the table as JSON."""
    setting = Setting(n)
    X, y = setting.rows
    task, tree = setting.task, setting.sklearn_tree
    if not task.n_leaves == tree.get_n_leaves() == 1 << DEPTH:
        raise RuntimeError(f"both trees must have {1 << DEPTH} leaves: {task.n_leaves}, {tree.get_n_leaves()}")
    functions: dict[str, Any] = {
        "predict": lambda: tree.predict(X),
        "fit": lambda: simulate_aggregate(task, X, y),
        **_parts(task, X, y),
    }
    simulate_aggregate(task, X[:1000], y[:1000])  # builds the tables of the samplers
    median = interleave(functions, rounds)
    name = f"simulated fit of {n:,} holders"
    rows = [
        Row("scikit-learn predict of the same rows, 1,024 leaves: P", median["predict"]),
        Row(f"{name} / P", median["fit"] / median["predict"], "x", 1.6),
    ]
    rows += [Row(f"  {part} / P", median[part] / median["predict"], "x") for part in list(functions)[2:]]
    json.dump([asdict(row) for row in rows], sys.stdout)


def _parts(task: LocalTask, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the steps of a fit, each on its own; by blocks of rows, as a fit does them."""
    source, encoding = SecureRandomness(), task.encoding
    leaf, level = task.partition.apply(X), task.grid.levels(y, source)
    cells = leaf + np.int64(task.n_leaves) * encoding.column(level, source)
    counts = np.bincount(cells, minlength=task.n_leaves * encoding.n_columns).reshape(-1, task.n_leaves).T

    def over(step: Callable[[slice], object]) -> Callable[[], None]:
        def run_blocks() -> None:
            for i in range(0, len(y), _ROWS):
                step(slice(i, i + _ROWS))

        return run_blocks

    return {
        "encode (checks and clips)": over(lambda b: task.space.encode(X[b])),
        "apply (leaves)": over(lambda b: task.partition.apply(X[b])),
        "levels (labels to the grid)": over(lambda b: task.grid.levels(y[b], source)),
        "noise on labels": over(lambda b: encoding.column(level[b], source)),
        "table (bincount)": lambda: np.bincount(cells),
        "binomials": lambda: encoding.simulate(counts, source),
    }


def memory_child(n: int) -> None:
    """Print by how many GB one fit raises the memory of its process."""
    setting = Setting(n)
    task = setting.task
    X, y = setting.rows
    before = _resident()
    simulate_aggregate(task, X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(max(0.0, (peak - before) / 1e9))


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
