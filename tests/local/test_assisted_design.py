"""The design of an assisted task: what leaves are expected to gain."""

import numpy as np
import pytest

from hedgerow.local.assisted.design import expected_error
from hedgerow.portable import Trees
from hedgerow.tasks.assisted.choose import Choice, expected_share

S2 = 4.0


def chain(K):
    """One tree: a chain of splits with K leaves of equal shares."""
    feature = [0, -1] * (K - 1) + [-1]
    return Trees(np.array([2 * K - 1]), np.array(feature), np.arange(K - 1.0), np.full(K, 1 / K))


def choice(A, B, excess):
    return Choice(1.0, "levels", 3, A, B, excess)


def test_each_step_of_leaves_is_shrunk_by_its_own_noise():
    trees = chain(3)
    noise = 3 * (3.0 / 3 + 0.5 * 2 / 3) * 3 / 1000  # three leaves, each p A + (1-p) B over p
    gained = 0.0
    before = 0.0
    for k in (1, 2, 3):  # each adds a leaf
        share = expected_share(k) - before
        before = expected_share(k)
        gained += (share * S2) ** 2 / (share * S2 + share * 0.2 + noise / 3)
    assert expected_error(trees, choice(3.0, 0.5, 0.2), S2, 1000) == pytest.approx(-gained)


def test_leaves_that_cost_nothing_never_harm():
    free = [expected_error(chain(K), choice(0.0, 0.0, 0.0), S2, 1000) for K in (1, 2, 5, 8, 100)]
    assert free == sorted(free, reverse=True)
    np.testing.assert_allclose(free, [-expected_share(K) * S2 for K in (1, 2, 5, 8, 100)])


def test_fine_leaves_leave_what_coarse_ones_tell():
    """Whatever 64 leaves cost, more is expected of them than if all were shrunk alike."""
    trees = chain(64)
    costly = choice(3.0, 0.5, 0.2)
    noise = 64 * (3.0 + 63 * 0.5) / 1000
    tau = expected_share(64) * S2
    alike = -(tau**2) / (tau + expected_share(64) * 0.2 + noise)
    assert expected_error(trees, costly, S2, 1000) < 1.5 * alike
