"""Differences between private and public records are found, and none is invented."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow import Aggregate, LocalTask, Reports, privatize_many, simulate_aggregate
from hedgerow.tasks.tree.tuning import PAPER


def sample(n: int, seed: int, lean: float = 0.0, lift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3)) ** (1 + lean)
    return X, 2 * X[:, 0] + X[:, 1] + lift * (X[:, 2] > 0.5) + rng.normal(0, 0.3, n)


def report(seed: int, epsilon: float = 2.0, rule: str = "cart", **shift):
    public, private = sample(400, seed), sample(8000, seed + 10_000, **shift)
    options = {"rule": rule, "max_depth": 3, "min_samples_leaf": 20, "response": "unary"}
    task = LocalTask.design(*public, epsilon=epsilon, label_bounds=(-1, 5), **{**PAPER, **options})
    return simulate_aggregate(task, *private, randomness=seed).model().shift()


def test_quiet_on_independent_draws_of_one_population() -> None:
    """400 reports, false alarms below 1%: more than 12 of 400 has a chance below 1e-3 at 1%, below 1e-9 at 0.2%."""
    alarms = [report(s, eps, rule).shifted for s in range(100) for eps in (1.0, 8.0) for rule in ("cart", "max_edge")]
    assert sum(alarms) <= 4


def test_finds_other_records_and_other_labels() -> None:
    moved = report(0, lean=1.0)
    assert moved.shifted and moved.p_share < 1e-6 and "where" in moved.verdict
    relabelled = report(0, epsilon=4.0, lift=1.5)
    assert relabelled.shifted and relabelled.p_mean < 1e-6 and "labels" in relabelled.verdict
    assert relabelled.p_share > 1e-3


def test_says_when_noise_hides_everything() -> None:
    assert "too large" in report(1, epsilon=0.05).verdict


def test_zscores_are_standard_normal_where_nothing_differs() -> None:
    """800 shares: the mean square of z is 1 within 0.25 (five standard deviations: 800 * 2/8)."""
    z = np.array([s.share_z for seed in range(100) for s in report(seed, rule="max_edge").leaves])
    assert np.mean(z**2) == pytest.approx(1.0, abs=0.25)


def test_text_plot_and_missing_public_data(tmp_path) -> None:
    found = report(3, lean=1.0)
    assert len(str(found).splitlines()) == len(found.leaves) + 4
    found.plot(tmp_path / "shift.png")
    assert (tmp_path / "shift.png").read_bytes().startswith(b"\x89PNG")
    task = LocalTask.design(epsilon=1.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1), **PAPER)
    assert simulate_aggregate(task, [[0.5]], [0.5]).model().shift() is None


def test_few_or_forged_reports_still_give_a_verdict():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    task = LocalTask.design(
        X,
        X[:, 0],
        epsilon=4.0,
        label_bounds=(0, 1),
        max_depth=2,
        response="unary",
        rule="max_edge",
        min_samples_leaf=20,
    )
    reports = privatize_many(task, X[:3], X[:3, 0], randomness=1)
    for payload in (reports.payloads, np.full_like(reports.payloads, 255), np.zeros_like(reports.payloads)):
        report = Aggregate(task).add(Reports(task, reports.tokens, payload, True)).model().shift()
        assert all(np.isfinite([leaf.share_z, leaf.mean_z]).all() for leaf in report.leaves)
