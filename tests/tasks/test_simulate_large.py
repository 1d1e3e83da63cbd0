"""simulate_aggregate on many rows and leaves: blocks of rows, and tables large enough for hexadecimal digits."""

import math

import numpy as np
import pytest

from hedgerow import samplers
from hedgerow.errors import BoundsError
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks import LocalTask
from hedgerow.tasks.tree import simulate
from hedgerow.tasks.tree.bits import BitsEncoding
from hedgerow.tasks.tree.simulate import simulate_aggregate

LEAVES = 512


def z_scores(simulate_counts, seed=0):
    """Totals S0 and S1 of a large table, as z-scores of their exact means and variances, one for each leaf."""
    encoding = BitsEncoding(2.0, LEAVES, 16)
    reach, q = encoding.label.reach, float(encoding.cell.q)
    rng = np.random.default_rng(3)
    counts = np.zeros((LEAVES, encoding.n_columns), dtype=np.int64)
    counts[:, reach - 50 : reach + 70] = rng.poisson(rng.gamma(0.3, 8.0, (LEAVES, 120)))
    assert np.count_nonzero(counts.any(axis=0)) * LEAVES > samplers._MANY
    S = simulate_counts(encoding, counts, SeededRandomness(seed))[2:].reshape(3, -1)
    n_g, v = counts.sum(axis=0), np.arange(encoding.n_columns) - reach
    mean = [(1 - 2 * q) * (counts @ v**k) + q * (n_g @ v**k) for k in (0, 1)]
    variance = [q * (1 - q) * (n_g @ v ** (2 * k)) for k in (0, 1)]
    return [(S[k] - mean[k]) / math.sqrt(variance[k]) for k in (0, 1)]


def is_standard_normal(z):
    """Mean within 6 and mean square within 7 standard errors: below 1e-8 false alarms."""
    n = len(z)
    return abs(z.mean()) < 6 / math.sqrt(n) and abs((z**2).mean() - 1) < 7 * math.sqrt(2 / n)


def test_totals_of_a_large_table_have_exact_means_and_variances():
    assert all(is_standard_normal(z) for z in z_scores(BitsEncoding.simulate))


def test_forgetting_the_own_flip_is_caught_in_a_large_table():
    def forgetful(encoding, counts, randomness):
        totals = BitsEncoding.simulate(encoding, counts, randomness)
        v = np.arange(encoding.n_columns) - encoding.label.reach
        flipped = np.stack([counts @ v**k for k in range(3)]) * float(encoding.cell.q)
        return totals + np.concatenate([[0, 0], flipped.ravel()])

    assert not all(is_standard_normal(z) for z in z_scores(forgetful))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(simulate, "_ROWS", 64)
    monkeypatch.setattr(simulate, "_TABLE_ROWS", 256)


def make_task(**options):
    return LocalTask.design(
        epsilon=2.0,
        label_bounds=(0, 1),
        features=2,
        feature_bounds=[[0, -5], [1, 5]],
        max_depth=3,
        **{"rule": "max_edge", "min_samples_leaf": 20, "response": "bits", "cell_share": 0.5, **options},
    )


def records(n):
    rng = np.random.default_rng(0)
    X = rng.normal(0.5, 4.0, (n, 2))  # many outside the ranges
    return X, rng.random(n)


@pytest.mark.parametrize("response", ["bits", "unary", "k_ary"])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_blocks_of_an_array_are_encoded_like_the_whole(small_blocks, response, n):
    task = make_task(response=response)
    X, y = records(n)
    by_block = simulate_aggregate(task, X, y, randomness=5)
    before = X.copy()
    whole = simulate_aggregate(task, task.space.encode(X), y, randomness=5)
    assert by_block == whole and by_block.n_reports == n
    assert np.array_equal(X, before), "the caller's records were changed"


def test_missing_values_in_the_last_block_are_filled_in_and_wrong_shapes_refused(small_blocks):
    task = make_task()
    X, y = records(1000)
    whole = X.copy()
    X[-1, 1], whole[-1, 1] = np.nan, task.space.missing[1]
    assert simulate_aggregate(task, X, y, 3) == simulate_aggregate(task, whole, y, 3)
    with pytest.raises(BoundsError, match="features"):
        simulate_aggregate(task, X[:, :1], y)
    with pytest.raises(BoundsError, match="features"):
        simulate_aggregate(task, np.empty((0, 3)), np.empty(0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clipping_by_blocks_equals_clipping_at_once(dtype):
    task = make_task()
    X = np.random.default_rng(1).normal(0.5, 3.0, (50_000, 2)).astype(dtype)
    low, high = task.space.low.astype(dtype), task.space.high.astype(dtype)
    assert np.array_equal(task.space.encode(X), np.clip(X, low, high))
    inside = np.clip(X, low, high)
    assert task.space.encode(inside) is inside  # no copy where none is needed
