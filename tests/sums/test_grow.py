"""Trees of a group."""

import numpy as np

from hedgerow.sums.aims import left_open
from hedgerow.sums.grow import grow
from hedgerow.sums.rows import Pool


def told(trees, rows, root):
    """The share of the variance of an open error that means over leaves tell, averaged over trees."""
    found = []
    for leaf in trees.apply(rows).T:
        means = [root[leaf == k].mean(axis=0) for k in leaf]
        found.append(np.sum(np.square(means)) / np.sum(root**2))
    return np.mean(found)


def test_trees_that_follow_many_errors_tell_more_of_any():
    rng = np.random.default_rng(0)
    rows = rng.random((120, 6))
    rows[:, -1] = 0
    units = rows[:, :4] * (3, 1, 0.3, 0.3)
    pool = Pool(rows[:, :-1], rng.normal(size=120), left_open(units, units[:3], 0.1))
    one, many = (told(grow(rows, pool, (8,) * 16, 1, draws), rows, pool.root) for draws in (1, 16))
    assert many > one + 0.05
