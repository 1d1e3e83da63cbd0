"""Running the protocol at several budgets, and measuring what comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hedgerow import Aggregate, LocalTask, Model, Partition, Reports, privatize_many
from walkthrough.population import LABEL_BOUNDS, TARGET, Homes

DEPTH = 3
PUBLIC, FAIR, PAPER_M, PAPER_V, BLENDED_V, OURS, OPEN = (
    "public-only tree",
    "public-only tree, had the pilot been fair",
    "LPDT-M (the paper's, max-edge)",
    "LPDT-V (the paper's, CART)",
    "LPDT-V, leaning on public means",
    "ours (one report of the whole epsilon)",
    "non-private tree",
)
ORDER = (PUBLIC, PAPER_M, PAPER_V, BLENDED_V, OURS, OPEN, FAIR)
"""Methods in the order of the tables."""


@dataclass(frozen=True)
class Score:
    """One line of results.csv; ``epsilon`` is empty where the method does not depend on it."""

    method: str
    epsilon: float | None
    repeat: int
    response: str
    report_bytes: int
    mse: float


def design(pilot: Homes, epsilon: float, rule: str, response: str, **options: Any) -> LocalTask:
    """Design a task from public records; nothing private is in reach here."""
    return LocalTask.design(
        pilot.X,
        pilot.y,
        epsilon=epsilon,
        label_bounds=LABEL_BOUNDS,
        rule=rule,
        response=response,
        max_depth=DEPTH,
        min_samples_leaf=20,
        target=TARGET,
        title="Electricity of homes in winter",
        **{"cell_share": 0.5, **options},
    )


def design_ours(pilot: Homes, epsilon: float, n: int) -> LocalTask:
    """Choose the report with the least predicted error; this reads no private record, so it costs nothing.

    The label is rounded at random to an end of its bounds (``n_steps=1``).
    """
    return design(pilot, epsilon, "cart", "auto", n_steps=1, n_holders=n)


def run_protocol(task: LocalTask, homes: Homes, fallback: str = "blend") -> Model:
    """Publish the task, let every device answer, add the answers up on two machines, and merge."""
    published = task.to_json()
    at_home = LocalTask.from_json(published)
    sent = privatize_many(at_home, homes.X, homes.y).to_bytes()
    arrived = Reports.from_bytes(task, sent)
    half = len(arrived) // 2
    parts = [Reports(task, arrived.tokens[s], arrived.payloads[s]) for s in (slice(half), slice(half, None))]
    north, south = (Aggregate(task).add(part) for part in parts)
    return (north + south).model(fallback=fallback)


def mse(prediction: np.ndarray, test: Homes) -> float:
    """Return the mean squared error on homes that took no part."""
    return float(np.mean((test.y - prediction) ** 2))


def tree_mse(train: Homes, test: Homes) -> float:
    """Return the error of a tree that sees its training records as they are."""
    task = design(train, 1.0, "cart", "unary")
    return mse(leaf_means(task)[task.partition.apply_raw(test.X)], test)


def leaf_means(task: LocalTask) -> np.ndarray:
    """Return the public mean of each leaf."""
    return np.array(task.public.mean)


def true_means(partition: Partition, homes: Homes) -> np.ndarray:
    """Return what nobody could know outside a demonstration: the true mean of each leaf."""
    leaf = partition.apply_raw(homes.X)
    return np.bincount(leaf, weights=homes.y, minlength=partition.n_leaves) / np.bincount(
        leaf, minlength=partition.n_leaves
    )


def compare(pilot: Homes, homes: Homes, test: Homes, epsilons: Iterable[float], repeats: int) -> list[Score]:
    """Return the test error of every private method at every budget, several times over."""
    scores = []
    for epsilon in epsilons:
        paper = design(pilot, epsilon, "cart", "bits")
        methods = {
            PAPER_M: (design(pilot, epsilon, "max_edge", "bits"), "none"),
            PAPER_V: (paper, "none"),
            BLENDED_V: (paper, "blend"),
            OURS: (design_ours(pilot, epsilon, len(homes)), "blend"),
        }
        for name, (task, fallback) in methods.items():
            for repeat in range(repeats):
                error = mse(run_protocol(task, homes, fallback).predict(test.X), test)
                size = 18 + task.encoding.width
                scores.append(Score(name, epsilon, repeat, task.response, size, error))
    return scores


def references(pilot: Homes, fair: Homes, homes: Homes, test: Homes) -> dict[str, float]:
    """Return the errors that do not depend on epsilon."""
    return {PUBLIC: tree_mse(pilot, test), FAIR: tree_mse(fair, test), OPEN: tree_mse(homes, test)}


def summary(scores: list[Score]) -> pd.DataFrame:
    """Return mean and standard deviation of the error, one row a method and a budget."""
    frame = pd.DataFrame([vars(s) for s in scores])
    groups = frame.groupby(["method", "epsilon"], sort=False)
    return groups.agg(mse=("mse", "mean"), sd=("mse", "std"), response=("response", "first")).reset_index()
