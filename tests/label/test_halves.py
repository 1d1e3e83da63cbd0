"""Fits on halves of released labels: nothing is shared within a pair, and the spread is that of a mean."""

import numpy as np
import pytest

from hedgerow.label.halves import PAIRS, halves, spread


def test_a_pair_shares_nothing_and_misses_nothing():
    rows = halves(101)
    assert len(rows) == 2 * PAIRS
    for a, b in zip(rows[::2], rows[1::2], strict=True):
        assert sorted([*a.tolist(), *b.tolist()]) == list(range(101)) and len(a) == 51
    assert all((a == b).all() for a, b in zip(rows, halves(101), strict=True))
    assert len({tuple(a.tolist()) for a in rows[::2]}) == PAIRS


def test_the_spread_of_a_mean_is_that_of_half_the_labels():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(4000, 50))  # 50 labels of each of 4,000 records, and a learner that takes their mean
    half = spread([y[rows].mean(axis=0) for rows in halves(4000)], 0.6827)
    # t quantile of 10: 1.053. A mean over 50 chi-squares of 10 differences: 4 % deviation.
    assert half.mean() == pytest.approx(1.053 / np.sqrt(2000), rel=0.2)
