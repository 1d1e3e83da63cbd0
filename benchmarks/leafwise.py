"""A simulated aggregate against drawing every bit of every holder with NumPy floats, leaf by leaf."""

from __future__ import annotations

import numpy as np

from benchmarks.fit import Setting
from benchmarks.timing import Row, interleave
from hedgerow import LocalTask, simulate_aggregate


def run(quick: bool) -> list[Row]:
    """Measure both at 1,024 leaves."""
    n, rounds = (20_000, 3) if quick else (100_000, 5)
    setting = Setting(n)
    X, y = setting.rows
    task = setting.task
    cold = interleave({"first": lambda: simulate_aggregate(task, X, y)}, 1)["first"]
    rng = np.random.default_rng(0)
    median = interleave(
        {"ours": lambda: simulate_aggregate(task, X, y), "floats": lambda: every_bit(task, X, y, rng)}, rounds
    )
    name = f"every bit as a float, leaf by leaf, {n:,} holders / simulated"
    return [
        Row(f"first simulated aggregate of {n:,} holders in a process: builds tables", cold),
        Row(f"simulated aggregate of {n:,} holders, 1,024 leaves", median["ours"]),
        Row(name, median["floats"] / median["ours"], "x", None if quick else 50, at_least=True),
    ]


def every_bit(task: LocalTask, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the totals of the paper's message the plain way: counts, sums of labels and of their squares."""
    encoding, n = task.encoding, len(y)
    leaf = task.partition.apply(X)
    position = (y - task.grid.low) / task.grid.step
    noisy = position + rng.laplace(scale=task.grid.n_steps / encoding.label.epsilon, size=n)
    flip, squares = float(encoding.cell.q), noisy**2
    totals = np.empty((3, task.n_leaves))
    for j in range(task.n_leaves):
        bits = (leaf == j) ^ (rng.random(n) < flip)
        totals[:, j] = np.count_nonzero(bits), noisy[bits].sum(), squares[bits].sum()
    return totals
