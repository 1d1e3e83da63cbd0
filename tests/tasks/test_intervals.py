"""Intervals of leaf models: they hold their own point, whatever the totals; with many reports they are the reports'."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.tasks.intervals import believe_leaves, sights
from hedgerow.tasks.tree.encoding import Moments
from hedgerow.tasks.tree.model import FALLBACKS, make_model
from hedgerow.tasks.tree.public import PublicLeaves
from hedgerow.tasks.tree.simulate import simulate_aggregate

ROWS = [[0.1], [0.3], [0.6], [0.9]]


def with_public(task, mean, count=30, sd=1.0):
    n = task.n_leaves
    return replace(task, public=PublicLeaves((count,) * n, tuple(np.broadcast_to(mean, n)), (sd,) * n))


def moments(N, D, var_n, cov, var_d):
    return Moments(*(np.atleast_1d(np.asarray(v, dtype=float)) for v in (N, D, var_n, cov, var_d)))


@pytest.mark.parametrize("response", ["bits", "unary", "k_ary", "subset"])
def test_a_point_is_within_its_interval_whatever_the_totals(make_task, response):
    rng = np.random.default_rng(5)
    task = make_task(response, 4, epsilon=1.0)
    for n in (0, 1, 7, 300, 10**6):
        for _ in range(12):
            mean = rng.uniform(0, 10, 4)
            known = with_public(task, mean, count=int(rng.integers(0, 100)), sd=float(rng.exponential()))
            sums = (rng.random(task.encoding.n_sums) ** 3 * n).astype(int)
            for fallback in FALLBACKS:
                model = make_model(known, n, tuple(sums.tolist()), True, fallback)
                point = model.predict(ROWS)
                ends = [model.predict_interval(ROWS, level) for level in (0.5, 0.9, 0.99)]
                for low, high in ends:
                    assert (low <= point).all() and (point <= high).all()
                    assert (low >= 0).all() and (high <= 10).all()
                nested = itertools.pairwise(ends) if fallback == "blend" else ()
                for (low, high), (lower, higher) in nested:
                    assert (lower <= low).all() and (high <= higher).all()
                label = model.predict_label_interval(ROWS, 0.9)
                assert (label[0] <= ends[1][0] + 1e-9).all() and (label[1] >= ends[1][1] - 1e-9).all()


def test_sights_are_the_ratio_where_the_number_is_known():
    mean, variance = sights(moments([30.0, 5.0], [10.0, 1.0], [4.0, 4.0], [0.0, 0.0], [0.0, 1.0]))
    assert mean[0] == pytest.approx(3) and variance[0] == pytest.approx(0.04)
    assert variance[1] == np.inf  # one holder, give or take one


def test_hidden_leaves_are_seen_together():
    # Four leaves of 10 +- 10 holders each: none is seen, yet all 40 holders stray by 2 from what was known.
    known = np.array([1.0, 2.0, 3.0, 4.0])
    totals = moments(10 * (known + 2), [10] * 4, 9 + 100 * known**2, 100 * known, [100] * 4)
    found = believe_leaves(totals, 40, known, 0 * known, 20.0)
    low, high = found.interval(0.5)
    assert (low < known + 2).all() and (known + 2 < high).all() and ((low + high) / 2 > known + 1).all()


def test_with_many_reports_both_intervals_agree(make_task):
    task = with_public(make_task("unary", 4, epsilon=4.0), [9.0, 1.0, 5.0, 0.0], count=5)
    rng = np.random.default_rng(0)
    x = rng.random((400_000, 1))
    model = simulate_aggregate(task, x, 2 + 6 * x[:, 0], randomness=1).model()
    low, high = model.predict_interval(ROWS)
    first, last = model.reports_interval(ROWS)
    np.testing.assert_allclose(low, first, atol=0.15 * (last - first).max())
    np.testing.assert_allclose(high, last, atol=0.15 * (last - first).max())


def test_without_public_records_it_is_what_the_reports_say(make_task):
    model = simulate_aggregate(make_task("unary", 4), np.linspace(0, 1, 3000)[:, None], np.full(3000, 4.0), 1).model()
    for ours, theirs in zip(model.predict_interval(ROWS), model.reports_interval(ROWS), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(HedgerowError, match="does not tell how labels spread; use predict_interval"):
        model.predict_label_interval(ROWS)


def test_fair_public_means_make_it_narrower(make_task):
    task = with_public(make_task("unary", 4, epsilon=2.0), [2.75, 4.25, 5.75, 7.25], count=200)
    x = np.random.default_rng(0).random((2000, 1))
    model = simulate_aggregate(task, x, 2 + 6 * x[:, 0], randomness=3).model()
    low, high = model.predict_interval(ROWS)
    first, last = model.reports_interval(ROWS)
    assert (high - low).mean() < 0.9 * (last - first).mean()  # four leaves tell little of how far public means stray


def test_levels_are_checked(make_task):
    model = simulate_aggregate(with_public(make_task("unary", 4), 5.0), np.ones((9, 1)), np.ones(9), 1).model()
    for name in ("predict_interval", "reports_interval", "predict_label_interval"):
        for level in (0, 1, -1, 2):
            with pytest.raises(HedgerowError, match="'level' parameter must be between 0 and 1"):
                getattr(model, name)(ROWS, level)
