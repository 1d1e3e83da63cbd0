"""What is made of noisy counts in the leaves."""

import numpy as np

from hedgerow.central.leaves import leaf_shares, plain_shares
from hedgerow.partition.tree import Partition
from hedgerow.space import FeatureSpace


def test_leaf_values_borrow_from_ancestors_when_noise_is_wide():
    space = FeatureSpace.from_bounds((0, 1), ["x"])
    tree = Partition(space, [0, -1, -1], [0.5, 0, 0], [1, 1, 2], [-1, -1, -1], [])
    prior = np.array([0.5, 0.5])
    exact, size = leaf_shares(tree, np.array([[90, 10], [10, 90]]), 1, 0.0, prior, 2.0)
    assert np.allclose(exact[:, 1], [0.1, 0.9]) and size.tolist() == [100, 100]
    pulled, _ = leaf_shares(tree, np.array([[90, 10], [10, 90]]), 1, 100.0, prior, 2.0)
    assert 0.1 < pulled[0, 1] < 0.5 < pulled[1, 1] < 0.9
    empty, size = leaf_shares(tree, np.array([[-3, -1], [0, 0]]), 1, 1.0, prior, 2.0)
    assert np.isfinite(empty).all() and size.tolist() == [0, 0]
    assert plain_shares(np.array([[-3, -1], [1, 3]]), 1)[0].tolist() == [[0.5, 0.5], [0.25, 0.75]]
