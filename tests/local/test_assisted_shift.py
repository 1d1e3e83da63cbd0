"""Holders who crowd where public records are rare must not be corrected many times over."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow.local.assisted import design_assisted
from hedgerow.tasks.assisted.shrink import busyness, find_shift, mixed_shares, private_shares, told_shares


def test_corrections_stay_attainable_when_holders_crowd_in_rare_leaves():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = X[:, 0] + (X[:, 1] > 0.97) + rng.normal(0, 0.2, 400)
    task = design_assisted(
        X, y, epsilon=8.0, label_bounds=(-2, 5), n_holders=5000, public_model=Ridge(), random_state=0
    )
    Z = np.column_stack([rng.random(5000), rng.uniform(0.9, 1.0, 5000)])  # all of them where 10 % of the public are
    labels = Z[:, 0] + 1.0 + rng.normal(0, 0.2, 5000)
    model = task.simulate(Z, labels, 0).model()
    low, high = model._attainable
    assert model.corrections.shift > 0
    kept = [v - model.level for v in model.leaf_values]
    assert all(v.min() >= low - 1e-12 and v.max() <= high + 1e-12 for v in kept)
    raw = np.concatenate(model.corrections.d)
    assert raw.max() > 1.5 * high  # what it would have been
    assert np.mean((model.predict(Z) - labels) ** 2) < np.mean((model.predict_public(Z) - labels) ** 2)


def labelled(X, rng):
    return X, 3 * X[:, 0] + 2 * (X[:, 1] > 0.6) + 0.5 * rng.normal(size=len(X))


@pytest.fixture(scope="module", params=["subset", "levels"])
def task(request):
    public = labelled(np.random.default_rng(0).random((200, 3)), np.random.default_rng(1))
    options = {"n_holders": 300, "public_model": Ridge(), "label_bounds": (-2, 8), "feature_bounds": (0, 1)}
    task = design_assisted(*public, epsilon=4.0, **options)
    assert max(task.trees.n_leaves) >= 4
    if request.param == "levels":
        return replace(task, randomizer="levels", parameter=3)
    return replace(task, randomizer="subset", parameter=1, busy=(1.0,) * len(task.busy))


def with_new_public(task, rng, n=200):
    """The same trees with the shares of new public records: what chance alone does to them."""
    leaf = task.place(task.space.encode(rng.random((n, 3))))[1]
    counts = [np.bincount(own, minlength=k) + 0.1 for own, k in zip(leaf.T, task.trees.n_leaves, strict=True)]
    return replace(task, trees=replace(task.trees, value=np.concatenate([c / c.sum() for c in counts])))


def test_public_shares_of_the_same_records_are_no_shift(task):
    """Below 1 % of draws: more than 8 of 100 have a chance below 1e-6 then (binomial)."""
    rng, found = np.random.default_rng(2), 0
    for seed in range(100):
        drawn = with_new_public(task, rng)
        aggregate = drawn.simulate(*labelled(rng.random((10_000, 3)), rng), seed)
        found += find_shift(drawn, aggregate.sums) > 0
    assert found <= 8


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_holders_of_another_distribution_are(task, power):
    rng = np.random.default_rng(3)
    for seed in range(3):
        drawn = with_new_public(task, rng)
        aggregate = drawn.simulate(*labelled(rng.random((10_000, 3)) ** power, rng), seed)
        assert find_shift(drawn, aggregate.sums) > 0 and aggregate.model().corrections.shift > 0


@pytest.mark.parametrize("size", [0.3, 1.0, 1.6])
def test_errors_of_another_size_do_not_pass_for_other_shares(task, size):
    # All errors are so many times as large as before, and holders are where the public are not. With levels a leaf is
    # named by those whose error is not near 0: decoded as if nothing had changed, shares add up to about `size`.
    rng = np.random.default_rng(4)
    X, y = labelled(rng.random((40_000, 3)) ** 2, rng)
    g, leaf = task.place(task.space.encode(X))
    model = task.simulate(X, g + size * (y - g), 5).model()
    sums = np.array(model.sums)
    found = busyness(task, sums)
    if task.randomizer == "subset":
        assert found == 1.0
        return
    busy = np.minimum(1.0, np.abs(size * (y - g)) / task.radius).mean()
    expected = busy / np.mean([np.array(task.busy)[at] for at in (leaf + np.cumsum((0, *task.trees.n_leaves[:-1])))])
    assert found == pytest.approx(expected, rel=0.1) and (size == 1.0 or abs(found - 1) > 0.2)
    assert np.mean([share.sum() for share, _ in private_shares(task, sums)]) == pytest.approx(found, rel=0.05)
    assert np.mean([share.sum() for share, _ in told_shares(task, sums)]) == pytest.approx(1.0, rel=0.05)
    assert model.mean_square == task.residuals.mean_square * min(1.0, found) ** 2
    for (mixed, _), own in zip(mixed_shares(task, sums), leaf.T, strict=True):
        true = np.bincount(own, minlength=len(mixed)) / len(X)
        assert np.abs(mixed - true).sum() < 0.25
    # And what is added is no larger than thought: where it was twice as large it harmed.
    added = model.predict_public(X) - model.predict(X) + model.level
    weighted = model.pooled.u @ model._overlaps[1] @ model.pooled.u * model.safe**2
    assert weighted > 0.8 * np.mean(added**2)


def test_few_reports_do_not_say_how_large_errors_are(task):
    # Of 40 reports in 8 trees next to nothing is believed, and shares are never divided by nothing.
    rng = np.random.default_rng(6)
    found = [busyness(task, task.simulate(*labelled(rng.random((40, 3)), rng), seed).sums) for seed in range(20)]
    assert min(found) > 0.2 and np.median(found) == pytest.approx(1.0, abs=0.1)
