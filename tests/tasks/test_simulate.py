"""simulate_aggregate has exactly the law of the report path, and these tests see it when it has not."""

import itertools
import math

import numpy as np
import pytest

import hedgerow.tasks.tree.simulate as simulate
from hedgerow.errors import BoundsError
from hedgerow.grid import LabelGrid
from hedgerow.partition import Partition
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE, binomial
from hedgerow.space import FeatureSpace
from hedgerow.tasks import Aggregate, LocalTask, privatize_many
from hedgerow.tasks.tree.bits import BitsEncoding
from hedgerow.tasks.tree.cells import UnaryCellEncoding
from hedgerow.tasks.tree.simulate import simulate_aggregate

RESPONSES = ("bits", "unary", "k_ary", "subset")
N, LEAVES, REPEATS = 60, 5, 2000


def small_task(response, epsilon=2.0, steps=None):
    """Five leaves: x in [0, .1), [.1, .3), [.3, .4), [.4, .8), [.8, 1]."""
    space = FeatureSpace.from_bounds((0, 1), ["x"])
    cuts = [0.4, 0.1, 0.8, 0, 0.3, 0, 0, 0, 0]
    tree = Partition(space, [0, 0, 0, -1, 0, -1, -1, -1, -1], cuts, [1, 3, 5, 3, 7, 5, 6, 7, 8], [-1] * 9, [])
    return LocalTask(epsilon, LabelGrid(-1, 3, steps or (6 if response == "bits" else 2)), tree, response)


def sixty_holders():
    rng = np.random.default_rng(8)
    x = rng.random((N, 1)) ** 2
    return x, 4 * x[:, 0] - 1 + rng.normal(0, 0.8, N)


def reported(task, repeats=REPEATS, seed=1):
    x, y = sixty_holders()
    source = SeededRandomness(seed)
    return np.array([Aggregate(task).add(privatize_many(task, x, y, source)).sums for _ in range(repeats)])


def simulated(task, repeats=REPEATS, seed=2):
    x, y = sixty_holders()
    source = SeededRandomness(seed)
    return np.array([simulate_aggregate(task, x, y, source).sums for _ in range(repeats)])


def check_same_law(a, b):
    """Compare two samples of totals: means, variances, all covariances, and every distribution.

    z-tests: at most 300 means of at least 2,000 draws, each beyond 7 with probability 3e-12, in all below 1e-9
    (the limit law; kurtosis makes these self-normalised tests more cautious). Two-sample Kolmogorov-Smirnov at
    1e-9 each by the DKW bound, at most 20 of them. In all below 1e-7.
    """
    assert a.shape == b.shape
    scale = np.maximum(np.concatenate([a, b]).std(axis=0), 1e-9)
    centre = np.concatenate([a, b]).mean(axis=0)
    a, b = (a - centre) / scale, (b - centre) / scale
    pairs = list(itertools.combinations_with_replacement(range(a.shape[1]), 2))
    first, second = np.array(pairs).T
    for name, f, g in (("means", a, b), ("covariances", a[:, first] * a[:, second], b[:, first] * b[:, second])):
        spread = np.sqrt(f.var(axis=0) / len(f) + g.var(axis=0) / len(g))
        z = np.abs(f.mean(axis=0) - g.mean(axis=0)) / np.maximum(spread, 1e-12)
        assert z.size <= 300
        assert z.max() < 7, f"{name} differ: |z| = {z.max():.1f} at {z.argmax()}"
    # Each sample's empirical law strays from the true one by t with probability 2 exp(-2 n t^2).
    allowed = 2 * math.sqrt(math.log(4 / 1e-9) / (2 * len(a)))
    for k in range(a.shape[1]):
        at = np.sort(np.concatenate([a[:, k], b[:, k]]))
        one, two = (np.searchsorted(np.sort(s), at, side="right") / len(s) for s in (a[:, k], b[:, k]))
        assert np.abs(one - two).max() < allowed, f"the distributions of total {k} differ"


SAMPLES = {}


@pytest.fixture(params=RESPONSES)
def samples(request):
    """The task and both samples, drawn once for each response."""
    if request.param not in SAMPLES:
        task = small_task(request.param)
        SAMPLES[request.param] = task, reported(task), simulated(task)
    return SAMPLES[request.param]


def test_simulation_and_reports_have_the_same_law(samples):
    _, reports, totals = samples
    check_same_law(reports, totals)


def test_means_variances_and_covariances_are_the_exact_ones(samples):
    """z-tests at 6.5 (8e-11 each, below 1e-8 in all) of supports against their closed-form law."""
    task, *both = samples
    x, y = sixty_holders()
    leaf = task.partition.apply(x)
    if task.response == "bits":
        own, p, q = np.eye(LEAVES)[leaf], float(task.encoding.cell.p), float(task.encoding.cell.q)
        columns = slice(2, 2 + LEAVES)
    else:
        # Given its rounding a holder has one cell; the law is the mixture over both roundings.
        position = np.clip((y + 1) / 4, 0, 1) * task.grid.n_steps
        low = np.minimum(np.floor(position), task.grid.n_steps - 1).astype(int)
        own = np.zeros((N, task.encoding.n_cells))
        own[np.arange(N), leaf * 3 + low] = 1 - (position - low)
        own[np.arange(N), leaf * 3 + low + 1] = position - low
        p, q = float(task.encoding.mechanism.p), float(task.encoding.mechanism.q)
        columns = slice(None)
    chance = q + (p - q) * own
    for totals in both:
        S = totals[:, columns].astype(float)
        mean, variance = chance.sum(axis=0), (chance * (1 - chance)).sum(axis=0)
        assert (np.abs(S.mean(axis=0) - mean) < 6.5 * np.sqrt(variance / len(S))).all()
        squares = (S - mean) ** 2
        assert (np.abs(squares.mean(axis=0) - variance) < 6.5 * squares.std(axis=0) / math.sqrt(len(S))).all()
        if task.response == "bits":  # bits of different leaves are independent
            for i, j in itertools.combinations(range(LEAVES), 2):
                product = (S[:, i] - mean[i]) * (S[:, j] - mean[j])
                assert abs(product.mean()) < 6.5 * product.std() / math.sqrt(len(S))


def test_moments_of_the_noisy_label(samples):
    """T1 of the bits: n mean labels, and the variance of rounding and Laplace noise; 6.5 standard errors."""
    task, *both = samples
    if task.response != "bits":
        return
    _, y = sixty_holders()
    position = np.clip((y + 1) / 4, 0, 1) * task.grid.n_steps
    fraction = position - np.floor(position)
    variance = (fraction * (1 - fraction)).sum() + N * task.encoding.label.variance
    for totals in both:
        t1 = totals[:, 0].astype(float)
        assert abs(t1.mean() - position.sum()) < 6.5 * math.sqrt(variance / len(t1))
        squares = (t1 - position.sum()) ** 2
        assert abs(squares.mean() - variance) < 6.5 * squares.std() / math.sqrt(len(t1))


def binomial_law(n, p):
    return np.array([math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


@pytest.mark.parametrize("leaf", [0, 3])
@pytest.mark.parametrize("path", [reported, simulated])
def test_set_bits_have_the_convolved_law(leaf, path, same_law):
    """Chi-square of S0 against Bin(n - c, q) + c - Bin(c, q), 1e-7 false alarms each."""
    task = small_task("bits")
    if path is reported:
        totals = SAMPLES["bits"][1] if "bits" in SAMPLES else reported(task)
    else:
        totals = SAMPLES["bits"][2] if "bits" in SAMPLES else simulated(task)
    c = int((task.partition.apply(sixty_holders()[0]) == leaf).sum())
    assert c > 3
    q = float(task.encoding.cell.q)
    law = np.convolve(binomial_law(N - c, q), binomial_law(c, 1 - q))
    same_law(totals[:, 2 + leaf].tolist(), dict(enumerate(law)))


# Planted errors


class OwnFlipForgotten(BitsEncoding):
    """B = Bin(n_g - c, q) + c: the own bit never flips off."""

    def simulate(self, counts, randomness):
        v = np.arange(counts.shape[1]) - self.label.reach
        n_g = counts.sum(axis=0)
        bits = counts + binomial(n_g - counts, self.cell.flip, randomness)
        return np.concatenate([[n_g @ v, n_g @ v**2], *(bits @ v**k for k in range(3))])


class LabelsApart(BitsEncoding):
    """Right totals leaf by leaf, but bits are drawn afresh for the sums of labels."""

    def simulate(self, counts, randomness):
        once, again = super().simulate(counts, randomness), super().simulate(counts, randomness)
        return np.concatenate([once[: 2 + self.n_leaves], again[2 + self.n_leaves :]])


class NoisySharesOnly(BitsEncoding):
    """Bits by leaf only, spread over labels in proportion: the mean is right, the spread of S1 is not."""

    def simulate(self, counts, randomness):
        right = super().simulate(counts, randomness)
        n, S0 = counts.sum(), right[2 : 2 + self.n_leaves]
        S = [np.rint(S0 * right[k] / n).astype(np.int64) for k in (0, 1)]
        return np.concatenate([right[: 2 + self.n_leaves], *S])


class OwnBitAlwaysSet(UnaryCellEncoding):
    def simulate(self, counts, randomness):
        c = counts.ravel()
        return c + binomial(c.sum() - c, int(self.mechanism.q * ONE), randomness)


class OthersIncludeOneself(UnaryCellEncoding):
    """Bin(n, q) for the others instead of Bin(n - c, q): a few bits too many."""

    def simulate(self, counts, randomness):
        c = counts.ravel()
        p, q = int(self.mechanism.p * ONE), int(self.mechanism.q * ONE)
        return binomial(c, p, randomness) + binomial(np.full(c.shape, c.sum()), q, randomness)


def planted(task, encoding):
    object.__setattr__(task, "encoding", encoding)  # the cached property of a frozen task
    return task


@pytest.mark.parametrize("wrong", [OwnFlipForgotten, LabelsApart, NoisySharesOnly])
def test_planted_errors_in_bits_are_caught(wrong):
    task = small_task("bits")
    right = SAMPLES["bits"][1] if "bits" in SAMPLES else reported(task)
    task = planted(task, wrong(2.0, LEAVES, 6))
    with pytest.raises(AssertionError, match="differ"):
        check_same_law(right, simulated(task))


@pytest.mark.parametrize("wrong", [OwnBitAlwaysSet, OthersIncludeOneself])
def test_planted_errors_in_unary_are_caught(wrong):
    task = small_task("unary")
    right = SAMPLES["unary"][1] if "unary" in SAMPLES else reported(task)
    task = planted(task, wrong(2.0, LEAVES, 2))
    with pytest.raises(AssertionError, match="differ"):
        check_same_law(right, simulated(task))


# Blocks


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize(("rows", "table_rows"), [(1, 1), (7, 10), (64, 100), (100, 64), (1000, 1000), (999, 1001)])
def test_blocks_give_the_same_table(monkeypatch, response, rows, table_rows):
    """Without noise and with labels on the grid the table is known; every record is in it once."""
    task = small_task(response, epsilon=math.inf, steps=4)
    rng = np.random.default_rng(3)
    x, level = rng.random((1000, 1)), rng.integers(0, 5, 1000)
    monkeypatch.setattr(simulate, "_ROWS", rows)
    monkeypatch.setattr(simulate, "_TABLE_ROWS", table_rows)
    table = np.zeros((LEAVES, 5), dtype=int)
    np.add.at(table, (task.partition.apply(x), level), 1)
    total = simulate_aggregate(task, x, task.grid.values(level), randomness=1)
    assert total.n_reports == 1000
    if response == "bits":
        powers = [table @ np.arange(5) ** k for k in range(3)]
        assert total.sums.tolist() == [powers[1].sum(), powers[2].sum(), *np.concatenate(powers)]
    else:
        assert total.sums.tolist() == table.ravel().tolist()
    assert total == Aggregate(task).add(privatize_many(task, x, task.grid.values(level), randomness=2))


def test_a_table_larger_than_the_reports_is_not_made(monkeypatch):
    """Grids far finer than their noise: the reports themselves are drawn, in blocks."""
    task = small_task("bits")
    x, y = sixty_holders()
    monkeypatch.setattr(simulate, "_TABLE_CELLS", 10)
    assert simulate_aggregate(task, x, y, 3) == Aggregate(task).add(privatize_many(task, x, y, 3))
    monkeypatch.setattr(simulate, "_ROWS", 17)
    monkeypatch.setattr(simulate, "_table", None)
    blocks = simulate_aggregate(task, x, y, 3)
    assert blocks.n_reports == N and blocks.simulation
    fine = small_task("bits", epsilon=1.0, steps=1 << 18)
    monkeypatch.setattr(simulate, "_TABLE_CELLS", 1 << 26)
    assert simulate_aggregate(fine, x, y, 3).n_reports == N


# Manners


@pytest.mark.parametrize("response", RESPONSES)
def test_a_seed_repeats_and_the_secure_source_does_not(response):
    task, (x, y) = small_task(response), sixty_holders()
    assert simulate_aggregate(task, x, y, 5) == simulate_aggregate(task, x, y, 5)
    assert simulate_aggregate(task, x, y, 5) != simulate_aggregate(task, x, y, 6)
    assert simulate_aggregate(task, x, y) != simulate_aggregate(task, x, y)


def test_nobody_and_wrong_input():
    task = small_task("bits")
    assert simulate_aggregate(task, np.empty((0, 1)), [], 1) == Aggregate(task)
    with pytest.raises(BoundsError, match="one label a record"):
        simulate_aggregate(task, [[0.1]], [1, 2])
    with pytest.raises(BoundsError, match="features"):
        simulate_aggregate(task, [[0.1, 0.2]], [1])


def test_missing_values_count_as_the_task_says():
    task, rng = small_task("bits"), np.random.default_rng(0)
    X, y = rng.random((500, 1)), rng.random(500) * 4 - 1
    odd_X, odd_y = X.copy(), y.copy()
    odd_X[::7], X[::7] = math.nan, task.space.missing
    odd_y[::5], y[::5] = math.nan, task.grid.missing
    assert simulate_aggregate(task, odd_X, odd_y, 1) == simulate_aggregate(task, X, y, 1)


def test_records_and_labels_outside_clip():
    task, rng = small_task("bits"), np.random.default_rng(0)
    x, y = rng.normal(0, 3, (200, 1)), rng.normal(0, 9, 200)
    assert simulate_aggregate(task, x, y, 4) == simulate_aggregate(task, np.clip(x, 0, 1), np.clip(y, -1, 3), 4)
