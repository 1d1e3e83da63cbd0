"""Designs are chosen from public data and known noise alone, and the predicted error is the real one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hedgerow import HedgerowError, LocalTask, LPDTRegressor, simulate_aggregate
from hedgerow.grid import LabelGrid
from hedgerow.tasks.tree.tuning import PAPER, Message, level_shares, predict_error


def friedman(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 5))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.normal(size=n)


MESSAGES = [
    Message("bits", 0.5, 16),
    Message("unary", 0.5, 1),
    Message("k_ary", 0.5, 2),
    Message("subset", 0.5, 1),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: m.response)
def test_expected_sums_are_the_mean_of_the_exact_law(message: Message) -> None:
    encoding = Message(message.response, 0.5, min(message.n_steps, 2)).encoding(1.0, 2)
    levels = encoding.n_steps + 1
    shares = np.arange(1.0, 2 * levels + 1).reshape(2, levels)
    shares /= shares.sum()
    total = np.zeros(encoding.n_sums)
    for leaf, level in itertools.product(range(2), range(levels)):
        law = encoding.law((leaf, level))
        for output, weight in zip(law.outputs, law.weights, strict=True):
            total += shares[leaf, level] * (weight / law.total) * _sums_of(encoding, output)
    # Clamping the label changes its second moment by less than 1e-12 of itself.
    np.testing.assert_allclose(encoding.expected_sums(shares, 1), total, rtol=1e-9)


def _sums_of(encoding, output) -> np.ndarray:
    if encoding.response == "bits":
        v, bits = output[0], np.array(output[1])
        return np.concatenate([[v, v * v], bits, v * bits, v * v * bits])
    unit = np.zeros(encoding.n_cells)
    if encoding.response == "k_ary":
        unit[output] = 1
    elif encoding.response == "subset":
        unit[list(output)] = 1
    else:
        unit[:] = output
    return unit


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: m.response)
def test_predicted_excess_error_is_the_simulated_one(message: Message) -> None:
    """Mean over 200 draws of a sum over 4 leaves: a relative standard error near 5%; the bound is 25%."""
    X, y = friedman(40_000)
    steps = message.n_steps
    task = LocalTask.design(
        X[:2000], y[:2000], epsilon=3.0, label_bounds=(-5, 35), max_depth=2, response=message.response,
        cell_share=message.cell_share, n_steps=steps, rule="max_edge", min_samples_leaf=20
    )  # fmt: skip
    leaf = task.partition.apply(X)
    truth = np.bincount(leaf, y) / np.bincount(leaf)
    share = np.bincount(leaf) / len(leaf)
    errors = []
    for seed in range(200):
        model = simulate_aggregate(task, X[:8000], y[:8000], randomness=seed).model(fallback="none")
        errors.append(share @ (model.leaves.mean - truth) ** 2)
    grid = LabelGrid(-5, 35, steps)
    shares = level_shares(leaf, y, grid, task.n_leaves)
    from hedgerow.tasks.tree.tuning import leaf_errors

    predicted = share @ leaf_errors(task.encoding, shares, 8000, None) * grid.step**2
    assert predicted == pytest.approx(np.mean(errors), rel=0.25)


def test_blending_predicts_no_more_than_either_source() -> None:
    X, y = friedman(1000)
    leaf = (X[:, 0] * 4).astype(np.int64)
    grid = LabelGrid(-5, 35, 1)
    message = Message("unary", 0.5, 1)
    public = sum(np.var(y[leaf == j]) / 1000 for j in range(4))
    blended = [predict_error(message, 1.0, grid, leaf, y, 4, n) for n in (10, 1000, 100_000, 10_000_000)]
    assert all(a > b for a, b in itertools.pairwise(blended))
    assert blended[0] <= 1.1 * public and blended[-1] < 0.1 * public


def test_auto_reads_no_private_value() -> None:
    """The design is the same whatever the private labels and records are, given their number."""
    X, y = friedman(3000)
    other = np.random.default_rng(9)
    first = LPDTRegressor(2.0, label_bounds=(-5, 35), random_state=0).fit(X[500:], y[500:], X[:500], y[:500])
    second = LPDTRegressor(2.0, label_bounds=(-5, 35), random_state=0)
    second.fit(other.random((2500, 5)) * 9, other.normal(size=2500) * 100, X[:500], y[:500])
    assert first.task_.id == second.task_.id


def test_more_holders_never_get_a_coarser_tree() -> None:
    X, y = friedman(600)
    options = {"rule": "cart", "max_depth": "auto", "min_samples_leaf": "auto", "response": "auto"}
    leaves = []
    for n in (10, 10_000_000):
        task = LocalTask.design(X, y, epsilon=4.0, label_bounds=(-5, 35), n_holders=n, **{**PAPER, **options})
        leaves.append((task.n_leaves, task.grid.n_steps))
    assert leaves[0][0] <= leaves[1][0] and leaves[0][1] <= leaves[1][1]


def test_auto_is_near_the_best_of_the_grid_in_hindsight() -> None:
    """Mean over three splits; an independent grid is searched on the test records (what auto may not do)."""
    ratios = []
    for seed in range(3):
        X, y = friedman(6000, seed)
        public, private, test = slice(0, 500), slice(500, 4500), slice(4500, None)
        fit = (X[private], y[private], X[public], y[public])

        def error(fit=fit, X=X, y=y, test=test, seed=seed, **options) -> float:
            model = LPDTRegressor(4.0, label_bounds=(-5, 35), random_state=seed, **options).fit(*fit)
            return float(np.mean((model.predict(X[test]) - y[test]) ** 2))

        grid = itertools.product(("cart", "max_edge"), (2, 4, 6), (5, 20), ("unary", "k_ary"))
        best = min(error(rule=r, max_depth=d, min_samples_leaf=s, response=m) for r, d, s, m in grid)
        ratios.append(error() / best)
    assert np.mean(ratios) < 1.05


def test_without_public_data_a_depth_is_chosen_from_the_noise() -> None:
    options = {"label_bounds": (0, 1), "features": 2, "feature_bounds": (0, 1), "max_depth": "auto", "response": "auto"}
    few = LocalTask.design(epsilon=0.5, n_holders=100, **{**PAPER, **options})
    many = LocalTask.design(epsilon=4.0, n_holders=1_000_000, **{**PAPER, **options})
    assert few.n_leaves < many.n_leaves


@pytest.mark.parametrize("wrong", [{"response": "rappor"}, {"max_depth": "deep"}, {"cell_share": "half"}])
def test_wrong_names_are_refused(wrong) -> None:
    X, y = friedman(50)
    with pytest.raises(HedgerowError, match=next(iter(wrong))):
        LocalTask.design(X, y, epsilon=1.0, label_bounds=(0, 30), **{**PAPER, **wrong})


def test_the_papers_report_by_name_means_the_papers_estimator() -> None:
    X, y = friedman(2000)
    fit = (X[500:], y[500:], X[:500], y[:500])
    for response, fallback in (("bits", "none"), ("unary", "blend"), ("auto", "blend")):
        tree = LPDTRegressor(1.0, label_bounds=(-5, 35), response=response, max_depth=2, random_state=0).fit(*fit)
        assert tree.model_.fallback == fallback
    paper = LPDTRegressor(1.0, label_bounds=(-5, 35), response="bits", max_depth=2, random_state=0).fit(*fit)
    np.testing.assert_array_equal(paper.model_.leaf_values, paper.model_.leaves.mean)
    assert paper.aggregate_.model().fallback == "none"


def test_reports_alone_get_a_coarser_tree_than_a_blend() -> None:
    X, y = friedman(600)
    options = {"rule": "cart", "max_depth": "auto", "min_samples_leaf": 10, "response": "bits", "n_holders": 3000}
    alone = LocalTask.design(X, y, epsilon=1.0, label_bounds=(-5, 35), blend=False, **{**PAPER, **options})
    blended = LocalTask.design(X, y, epsilon=1.0, label_bounds=(-5, 35), blend=True, **{**PAPER, **options})
    assert alone.n_leaves < blended.n_leaves
