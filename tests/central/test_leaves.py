"""What is made of noisy counts in the leaves."""

import numpy as np

from hedgerow.central.leaves import leaf_noise, leaf_shares, plain_shares
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


def test_the_noise_of_a_share_is_what_draws_have():
    space = FeatureSpace.from_bounds((0, 1), ["x"])
    tree = Partition(space, [0, -1, -1], [0.5, 0, 0], [1, 1, 2], [-1, -1, -1], [])
    rng = np.random.default_rng(0)
    true = np.array([[300.0, 100.0], [50.0, 350.0]])
    drawn = [plain_shares(np.rint(true + rng.normal(0, 10, (2, 2))).astype(int), 1)[0][:, 1] for _ in range(4000)]
    noise = leaf_noise(tree, true.astype(int), 1, 10.0, None)
    np.testing.assert_allclose(np.std(drawn, axis=0), noise, rtol=0.1)  # 4,000 draws: 9 deviations
    pulled = leaf_noise(tree, true.astype(int), 1, 10.0, 2.0)
    prior = np.array([0.5, 0.5])
    drawn = [
        leaf_shares(tree, np.rint(true + rng.normal(0, 10, (2, 2))).astype(int), 1, 10.0, prior, 2.0)[0][:, 1]
        for _ in range(1000)
    ]
    assert (np.std(drawn, axis=0) < 1.1 * pulled).all()  # a bound, and not a wild one
    assert (pulled < 2 * np.std(drawn, axis=0)).all()
    assert (leaf_noise(tree, np.array([[-3, -1], [0, 0]]), 1, 1.0, None) == 0.5).all()
    assert (leaf_noise(tree, true.astype(int), 1, 0.0, 2.0) == 0.0).all()
