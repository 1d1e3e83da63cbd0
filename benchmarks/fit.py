"""A simulated fit against one prediction of a scikit-learn tree on the same rows, and its parts."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from benchmarks.timing import Row, fresh, interleave
from hedgerow import LocalTask, simulate_aggregate
from hedgerow.counting import Counts, count_discrete_laplace
from hedgerow.kernels import native, reference
from hedgerow.randomness import SecureRandomness
from hedgerow.tasks.tree.simulate import _ROWS, _levels
from hedgerow.tasks.tree.tuning import PAPER

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
        return LocalTask.design(X, y, epsilon=EPSILON, feature_bounds=(0, 1), **{**PAPER, **options})

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
    drawn = Drawn.of(task, X, y)
    steps: dict[str, Callable[[], object]] = {
        "fit": lambda: simulate_aggregate(task, X, y),
        "aggregate": drawn.aggregate,
        "repeat": drawn.repeat,
        **_parts(task, X, y),
    }
    simulate_aggregate(task, X[:1000], y[:1000])  # builds the tables of the samplers
    kinds = {"NumPy": reference, "compiled": nullcontext} if native() is not None else {"NumPy": reference}
    functions: dict[str, Callable[[], object]] = {"predict": lambda: tree.predict(X)}
    for kind, within in kinds.items():
        functions |= {f"{name}, {kind}": _under(within, step) for name, step in steps.items()}
    median = interleave(functions, rounds)
    rows = [Row("scikit-learn predict of the same rows, 1,024 leaves: P", median["predict"])]
    for name in steps:
        for kind in kinds:
            title, limits = TITLES.get(name, (f"  {name}", {}))
            value = median[f"{name}, {kind}"] / median["predict"]
            # Only the full size is what the promises are about: tables and draws do not grow with the holders.
            limit = limits.get(kind) if n >= 10**7 else None
            rows.append(Row(f"{title.format(n=n)} / P, {kind}", value, "x", limit))
    json.dump([asdict(row) for row in rows], sys.stdout)


TITLES = {
    "fit": ("simulated fit of {n:,} holders", {"NumPy": 1.6, "compiled": 0.20}),
    "aggregate": ("exact aggregate of {n:,} holders by leaf and label", {"NumPy": 0.30, "compiled": 0.07}),
    "repeat": ("another repeat, table kept", {"NumPy": 0.15, "compiled": 0.03}),
}


def _under(within: Callable[[], AbstractContextManager[None]], step: Callable[[], object]) -> Callable[[], object]:
    def run_step() -> object:
        with within():
            return step()

    return run_step


@dataclass
class Drawn:
    """Holders whose leaf and noisy label are known: what is left is the table and its draws."""

    task: LocalTask
    leaf: np.ndarray
    column: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, task: LocalTask, X: np.ndarray, y: np.ndarray) -> Drawn:
        """Draw noisy labels once."""
        source = SecureRandomness()
        column = task.encoding.column(task.grid.levels(y, source), source).astype(np.int32)
        drawn = cls(task, task.partition.apply(X), column, np.empty(0))
        drawn.counts = drawn.table()
        return drawn

    def table(self) -> np.ndarray:
        """Count holders by leaf and noisy label."""
        leaves, columns = self.task.n_leaves, self.task.encoding.n_columns
        if native() is None:
            cells = self.column.astype(np.int64) * leaves
            cells += self.leaf
            return np.bincount(cells, minlength=leaves * columns).reshape(columns, leaves).T
        counts = Counts((columns, leaves))
        counts.add(self.column, self.leaf)
        return counts.total().T

    def aggregate(self) -> None:
        """Count, and draw every bit."""
        self.task.encoding.simulate(self.table(), SecureRandomness())

    def repeat(self) -> None:
        """Draw every bit."""
        self.task.encoding.simulate(self.counts, SecureRandomness())


def _parts(task: LocalTask, X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], object]]:
    """Return the steps of a fit, each on its own; by blocks of rows, as a fit does them."""
    source, encoding = SecureRandomness(), task.encoding
    level = task.grid.levels(y, source)

    def over(step: Callable[[slice], object]) -> Callable[[], None]:
        def run_blocks() -> None:
            for i in range(0, len(y), _ROWS):
                step(slice(i, i + _ROWS))

        return run_blocks

    def levels(b: slice) -> object:
        return task.grid.levels(y[b], source) if native() is None else _levels(task, y[b], source, native())

    def noise(b: slice) -> object:
        if native() is None:
            return np.bincount(encoding.column(level[b], source) * task.n_leaves + leaf[b], minlength=counts.low.size)
        return count_discrete_laplace(counts, short[b], leaf[b], encoding.label.ratio, -encoding.label.reach, source)

    short, leaf = level.astype(np.int32), task.partition.apply(X)
    counts = Counts((encoding.n_columns, task.n_leaves))
    return {
        "apply (checks, leaves)": over(lambda b: task.partition.apply_raw(X[b])),
        "levels (labels to the grid)": over(levels),
        "noise on labels, and the table": over(noise),
        "random bytes alone": over(lambda b: source.bytes(3 * _ROWS)),
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
