"""Running the protocol at several budgets, and measuring what comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hedgerow import Aggregate, LocalTask, Model, Partition, Reports, privatize_many
from hedgerow.protocol.estimates import LeafEstimates
from walkthrough.population import LABEL_BOUNDS, TARGET, Homes

DEPTH = 3
RESPONSES = ("unary", "k_ary", "subset")
PUBLIC, FAIR, PAPER_M, PAPER_V, OURS, OPEN = (
    "public-only tree",
    "public-only tree, had the pilot been fair",
    "LPDT-M (the paper's, max-edge)",
    "LPDT-V (the paper's, CART)",
    "ours (CART, whole epsilon)",
    "non-private tree",
)


@dataclass(frozen=True)
class Score:
    """One line of results.csv; ``epsilon`` is empty where the method does not depend on it."""

    method: str
    epsilon: float | None
    repeat: int
    response: str
    report_bytes: int
    mse: float


def design(pilot: Homes, epsilon: float, rule: str, response: str) -> LocalTask:
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
    )


def predicted_noise(task: LocalTask, n: int) -> float:
    """Return the noise expected in a prediction, from closed forms and public counts alone."""
    encoding, public = task.encoding, task.public
    share = np.array(public.count) / sum(public.count)
    high = (np.array(public.mean) - task.grid.low) / (task.grid.high - task.grid.low)
    counts = n * (share[:, None] * np.column_stack([1 - high, high])).ravel()
    p, q = float(encoding.mechanism.p), float(encoding.mechanism.q)
    expected = n * q + (p - q) * counts
    leaves = LeafEstimates(task.grid, encoding.moments(expected, n), n)
    return float(share @ leaves.mean_sd**2)


def design_ours(pilot: Homes, epsilon: float, n: int) -> LocalTask:
    """Choose the report with the least expected noise; this reads no private record, so it costs nothing."""
    tasks = [design(pilot, epsilon, "cart", response) for response in RESPONSES]
    return min(tasks, key=lambda task: predicted_noise(task, n))


def run_protocol(task: LocalTask, homes: Homes) -> Model:
    """Publish the task, let every device answer, add the answers up on two machines, and merge."""
    published = task.to_json()
    at_home = LocalTask.from_json(published)
    sent = privatize_many(at_home, homes.X, homes.y).to_bytes()
    arrived = Reports.from_bytes(task, sent)
    half = len(arrived) // 2
    parts = [Reports(task, arrived.tokens[s], arrived.payloads[s]) for s in (slice(half), slice(half, None))]
    north, south = (Aggregate(task).add(part) for part in parts)
    return (north + south).model()


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
        tasks = {
            PAPER_M: design(pilot, epsilon, "max_edge", "bits"),
            PAPER_V: design(pilot, epsilon, "cart", "bits"),
            OURS: design_ours(pilot, epsilon, len(homes)),
        }
        for name, task in tasks.items():
            for repeat in range(repeats):
                error = mse(run_protocol(task, homes).predict(test.X), test)
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
