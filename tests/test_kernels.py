"""Compiled kernels and their NumPy reference give the same bits from the same random bytes."""

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import kernels
from hedgerow.counting import Counts, count_discrete_laplace
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.partition.cells import Splits
from hedgerow.partition.max_edge import grow_max_edge
from hedgerow.partition.sides import Sides
from hedgerow.partition.tree import Partition
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE, binomial, discrete_laplace, dyadic_exp
from hedgerow.space import FeatureSpace
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.tree.simulate import simulate_aggregate
from hedgerow.tasks.tree.task import LocalTask

compiled = pytest.mark.skipif(kernels.native() is None, reason="there are no compiled kernels here")
few = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def both(function):
    """Return what a function gives with the compiled kernels, and with the reference."""
    with kernels.reference():
        assert kernels.native() is None
        reference = function()
    return function(), reference


def task(response="bits", depth=5, epsilon=2.0, **options):
    return LocalTask.design(
        epsilon=epsilon,
        label_bounds=(0, 2),
        features=4,
        feature_bounds=(0, 1),
        max_depth=depth,
        response=response,
        **{"rule": "max_edge", "min_samples_leaf": 20, "cell_share": 0.5, **options},
    )


def records(seed, n=3000, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 4)) * 1.4 - 0.2).astype(dtype)
    return X, X[:, 0].astype(np.float64) + 0.3


@compiled
@few
@given(seeds, st.sampled_from(["f4", "f8"]), st.integers(0, 9), st.integers(1, 40), st.integers(1, 700))
def test_leaves_are_equal(seed, dtype, depth, d, n):
    rng = np.random.default_rng(seed)
    space = FeatureSpace.from_bounds((0, 1), d)
    public = rng.random((60, d))
    tree = grow_max_edge(space, public, public[:, 0], max_depth=depth, min_samples_leaf=int(rng.integers(1, 20)))
    X = (rng.random((n, d)) * 1.2 - 0.1).astype(dtype)
    X[:: 1 + n // 9] = rng.choice(np.append(tree.threshold, [0, 1]), X[:: 1 + n // 9].shape)  # on the cuts
    for Z in (X, np.asfortranarray(X), X[::-1]):
        one, two = both(lambda Z=Z: tree.apply(Z))
        assert one.dtype == two.dtype == np.int32
        assert np.array_equal(one, two)
        assert np.array_equal(tree.apply_raw(Z), tree.apply(space.encode(Z)))


@compiled
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [33, 64, 65, 127, 128, 129, 5000])
def test_every_value_is_looked_at(n, dtype):
    """A NaN anywhere counts as missing, an infinity as the end, also in the last rows."""
    space = FeatureSpace.from_bounds((0, 1), 3)
    tree = grow_max_edge(space, None, None, max_depth=6, min_samples_leaf=1)
    X = np.random.default_rng(0).random((n, 3)).astype(dtype)
    tree.apply_raw(X)
    for row in {0, 1, 31, 32, 63, 64, n - 65, n - 64, n - 2, n - 1} & set(range(n)):
        for value in (np.nan, np.inf, -np.inf):
            bad = X.copy()
            bad[row, row % 3] = value
            good = X.copy()
            good[row, row % 3] = {np.inf: 1.0, -np.inf: 0.0}.get(value, 0.5)
            assert np.array_equal(tree.apply_raw(bad), tree.apply_raw(good))


def test_cuts_outside_the_range_are_clipped_first():
    """A tree may have cuts beyond the float32 of its bounds: then clipping matters, and is done."""
    space = FeatureSpace((NumericFeature("x", 0.0, 0.7),))  # float32(0.7) lies below 0.7
    tree = Partition(space, [0, -1, -1], [0.7, 0, 0], [1, 1, 2], [-1, -1, -1], [])
    assert not tree._walk(np.float32).clips_nothing(space)
    assert tree._walk(np.float64).clips_nothing(space)
    X = np.linspace(-1, 1, 100)[:, None]
    for Z in (X, X.astype(np.float32)):
        assert np.array_equal(tree.apply_raw(Z), tree.apply(space.encode(Z)))
    mixed = FeatureSpace((NumericFeature("x", 0.0, 1.0), CategoricalFeature("c", ("0", "1"))))
    tree = grow_max_edge(mixed, None, None, max_depth=1, min_samples_leaf=1)
    assert not tree._walk(np.float64).clips_nothing(mixed)  # unknown categories must be looked up
    assert np.array_equal(tree.apply_raw(np.full((50, 2), 7.0)), tree.apply(np.tile([1.0, 0.0], (50, 1))))


@compiled
@few
@given(seeds, st.sampled_from(["bits", "unary", "k_ary", "subset"]), st.sampled_from([0.3, 2.0, 7.0, np.inf]))
def test_simulated_totals_are_equal(seed, response, epsilon):
    if response != "bits" and np.isinf(epsilon):
        epsilon = 5.0
    t = task(response, 4, epsilon)
    X, y = records(seed, dtype=np.float32)
    one, two = both(lambda: simulate_aggregate(t, X, y, seed))
    assert one.to_bytes() == two.to_bytes()


@compiled
def test_many_simulated_totals_are_equal():
    """Enough holders for tables by hexadecimal digits, for open prefixes and for more than one block."""
    t = task(depth=8)
    X, y = records(0, n=200_001)
    one, two = both(lambda: simulate_aggregate(t, X, y, 5))
    assert one.to_bytes() == two.to_bytes()


@compiled
@few
@given(seeds, st.sampled_from(["bits", "unary", "k_ary", "subset"]), st.integers(1, 8), st.integers(0, 900))
def test_sums_of_reports_are_equal(seed, response, depth, n):
    t = task(response, depth)
    reports = privatize_many(t, *records(seed, n=n), seed)
    one, two = both(lambda: t.encoding.sums(reports.payloads))
    assert one.dtype == two.dtype
    assert np.array_equal(one, two)
    strided = np.repeat(reports.payloads, 2, axis=0)[::2]
    assert np.array_equal(t.encoding.sums(strided), two)


@compiled
def test_sums_of_equal_labels_are_equal():
    """A run of equal labels longer than the planes count, and a label of four bytes."""
    for t in (task(depth=10, epsilon=np.inf), task(depth=9, epsilon=0.01, n_steps=4096)):
        assert t.encoding._label_bytes == (2 if np.isinf(t.epsilon) else 4)
        X, _ = records(1, n=2000)
        reports = privatize_many(t, X, np.repeat([0.0, 2.0], 1000), 3)
        one, two = both(lambda t=t, r=reports: t.encoding.sums(r.payloads))
        assert np.array_equal(one, two)


@compiled
def test_a_label_out_of_reach_is_refused_by_the_kernel_too():
    t = task()
    rows = privatize_many(t, *records(0, n=5), 1).payloads.copy()
    rows[3, :2] = 255
    with pytest.raises(FormatError, match="out of reach"):
        t.encoding.sums(rows)


@compiled
@few
@given(seeds, st.integers(1, 400), st.integers(1, 40))
def test_noise_is_equal_draw_for_draw(seed, inverse, spread):
    ratio = dyadic_exp(Fraction(1, inverse))
    levels = np.random.default_rng(seed).integers(0, spread, 40_000).astype(np.int32)

    leaves = np.random.default_rng(seed + 1).integers(0, 7, 40_000).astype(np.int32)
    low, high = -3 * inverse, spread + 3 * inverse
    one, two = SeededRandomness(seed), SeededRandomness(seed)
    counts = Counts((high - low + 1, 7))
    count_discrete_laplace(counts, levels, leaves, ratio, low, one)
    draws = discrete_laplace(ratio, 20_000, one)
    with kernels.reference():
        noisy = np.clip(discrete_laplace(ratio, levels.size, two) + levels, low, high) - low
        assert np.array_equal(discrete_laplace(ratio, 20_000, two), draws)
    table = counts.total()
    assert np.array_equal(np.bincount(noisy * 7 + leaves, minlength=table.size).reshape(table.shape), table)
    assert one.bytes(8) == two.bytes(8)


@compiled
@few
@given(seeds, st.integers(1, ONE - 1), st.sampled_from([10, 100, 5000, 10**6]))
def test_binomials_are_equal_draw_for_draw(seed, numerator, most):
    rng = np.random.default_rng(seed)
    matrix, flat = rng.integers(0, most, (40, 900)), rng.integers(0, most, 40_000)

    def draw():
        source = SeededRandomness(seed)
        return binomial(matrix, numerator, source), binomial(flat, numerator, source), source.bytes(8)

    for a, b in zip(*both(draw), strict=True):
        assert np.array_equal(a, b)


@compiled
def test_binomials_of_a_digit_that_is_zero_everywhere():
    trials = np.full(40_000, 0xF0F)
    one, two = both(lambda: binomial(trials, ONE // 3, SeededRandomness(1)))
    assert np.array_equal(one, two)


@compiled
@few
@given(seeds, st.sampled_from(["f4", "f8"]), st.integers(1, 20), st.integers(1, 400))
def test_sides_and_splits_are_equal(seed, dtype, d, n):
    rng = np.random.default_rng(seed)
    cells = int(rng.integers(1, 30))
    Z, where = rng.random((n, d)).astype(dtype), rng.integers(0, cells + 1, n)
    labels = np.rint(rng.normal(size=n) * 1000)
    space = FeatureSpace.from_bounds((0, 1), d)
    splits = Splits(rng.integers(-1, d, cells).astype(np.int32), rng.random(cells), np.zeros((cells, 0), dtype=bool))

    def grow():
        sides = Sides(Z, np.full(d, 0.5))
        right = splits.send_right(space, Z, where)
        sides.move(where, splits.values, splits.feature, splits.threshold / 2)
        return right, splits.values, sides.packed, *sides.right_sums(where, labels, cells)

    for a, b in zip(*both(grow), strict=True):
        assert np.array_equal(a, b)


@compiled
def test_kernels_refuse_arrays_that_are_too_short():
    k = kernels.native()
    with pytest.raises(ValueError, match="too short"):
        k.take(np.zeros(3, np.uint16), np.zeros(65536, np.int32), np.zeros(9, np.int32), np.zeros(10, np.int64))
    with pytest.raises(ValueError, match="too short"):
        k.bit_sums(np.zeros((2, 4), np.uint8), 4, 0, 32, np.zeros(3, np.int64))
    with pytest.raises(HedgerowError, match="outside the table"):
        Counts((2, 2)).add(np.array([5]), np.array([0], dtype=np.int32))


@compiled
def test_counts_beyond_sixteen_bits_are_carried():
    counts, rows = Counts((2, 3)), np.repeat([1, 0], [200_000, 65_536])
    counts.add(rows, np.full(rows.size, 2, dtype=np.int32))
    assert counts.total().tolist() == [[0, 0, 65_536], [0, 0, 200_000]]


def run(code, wish):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "HEDGEROW_KERNELS": wish},
        check=False,
    )


def test_the_reference_can_be_asked_for():
    said = run("from hedgerow import kernels; print(kernels.native(), kernels.note())", "numpy")
    assert said.stdout.startswith("None NumPy kernels")
    assert "auto, numpy or compiled" in run("import hedgerow.kernels", "fortran").stderr
    with kernels.reference():
        assert "NumPy" in kernels.note()


def test_without_the_compiled_module_nothing_is_missing():
    """As after an installation without a compiler: the module is not there, and the seeded result is the same."""
    code = """
import sys
sys.modules["hedgerow._kernels"] = None  # import fails
import numpy as np
from hedgerow import LocalTask, kernels, simulate_aggregate
from hedgerow.tasks.tree.tuning import PAPER
facts = dict(epsilon=2.0, label_bounds=(0, 2), features=4, feature_bounds=(0, 1))
task = LocalTask.design(**facts, **{**PAPER, "max_depth": 5})
X = np.random.default_rng(0).random((4000, 4))
print(kernels.note().split(":")[0], simulate_aggregate(task, X, X[:, 0], 7).to_bytes().hex())
"""
    name, total = run(code, "auto").stdout.rsplit(" ", 1)
    assert name == "NumPy kernels"
    t = task()
    X = np.random.default_rng(0).random((4000, 4))
    assert simulate_aggregate(t, X, X[:, 0], 7).to_bytes().hex() == total.strip()
    refused = run(code, "compiled")
    assert "install a C compiler" in refused.stderr


@pytest.mark.slow
def test_the_tests_of_the_hot_paths_pass_without_the_kernels():
    """The reference is what runs where there is no compiler: its own tests must pass, too."""
    here = Path(__file__).parent
    names = ["partition/test_partition_tree.py", "tasks/test_aggregate.py"]
    paths = [str(here / name) for name in names]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *paths],
        capture_output=True, text=True, env={**os.environ, "HEDGEROW_KERNELS": "numpy"}, check=False, cwd=here.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
