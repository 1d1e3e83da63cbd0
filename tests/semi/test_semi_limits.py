"""The limits of HistOfTree: the local histogram, a tree on noisy labels, LPDT; and large tasks in little memory."""

import subprocess
import sys

import numpy as np
import pytest

from hedgerow.partition import grow
from hedgerow.semi import HistOfTreeRegressor
from hedgerow.space import FeatureSpace
from hedgerow.tasks.partly_public import CellTask, SemiTask
from hedgerow.tasks.partly_public.first import FirstReports
from hedgerow.tasks.partly_public.growing import grow_masked
from hedgerow.tasks.partly_public.histogram import histogram_below
from hedgerow.tasks.tree.bits import BitsEncoding

RNG = np.random.default_rng(0)
X = RNG.random((600, 3))
Y = X[:, 0] + (X[:, 2] > 0.5)
BOUNDS = {"label_bounds": (0.0, 2.0), "feature_bounds": (0.0, 1.0)}


def test_all_private_is_the_local_histogram():
    """The same law of one report, exactly, and the same estimates from the same sums."""
    tree = HistOfTreeRegressor(2.0, **BOUNDS, n_private=3, n_bins=2, response="bits", random_state=1)
    tree.fit(X, Y, private=[True, True, True])
    cells, steps = tree.cell_task_, tree.task_.grid.n_steps
    assert cells.n_cells == 8
    space = FeatureSpace.from_bounds((0, 1), 3)
    assert cells.partition == histogram_below(grow("max_edge", space, None, None, max_depth=0), [0, 1, 2], 2)
    local = BitsEncoding(2.0, 8, steps, 0.5)
    ours = cells.cell.law((3, np.ones(8, dtype=bool)))
    assert ours.weights == local.cell.law(3).weights
    coarse = tree.task_.label.coarse
    assert coarse == local.label
    reports = answer_of(tree)
    bits = np.unpackbits(reports.answer.astype(np.uint8), axis=1, count=8, bitorder="little").astype(np.int64)
    v = reports.levels
    sums = np.concatenate([[v.sum(), (v * v).sum()], bits.sum(axis=0), v @ bits, (v * v) @ bits])
    theirs, moments = local.moments(sums, len(v)), cells.moments(cells.totals().add(reports))
    for name in ("numerator", "denominator", "var_n", "cov", "var_d"):
        assert getattr(moments, name) == pytest.approx(getattr(theirs, name), rel=1e-9)


def answer_of(tree, private=(True, True, True)):
    secrets = tree.task_.privatize(X, Y, randomness=7).kept
    return tree.cell_task_.privatize(X, kept=secrets, randomness=8)


@pytest.mark.parametrize("rule", ["max_edge", "cart"])
def test_none_private_is_a_tree_on_noisy_labels(rule):
    tree = HistOfTreeRegressor(1.0, **BOUNDS, rule=rule, max_depth=3, shrink=False, random_state=1)
    tree.fit(X, Y, private=[False, False, False])
    assert tree.task_.epsilons == (1.0, 0.0)
    leaf = tree.apply(X)
    first = tree.task_.privatize(X, Y, private=None, randomness=_source(tree))
    noisy = tree.task_.grid.values(first.levels)
    for cell in np.unique(leaf):
        mean = noisy[leaf == cell].mean()
        assert tree.model_.leaf_values[cell] == pytest.approx(np.clip(mean, 0, 2))


def _source(tree):
    from hedgerow.randomness import as_randomness

    return as_randomness(tree.random_state).child("first")


def test_personal_masks_that_are_empty_give_the_label_everything_too():
    tree = HistOfTreeRegressor(1.0, **BOUNDS, n_private=0, max_depth=2, random_state=1)
    tree.fit(X, Y, private=np.zeros((600, 3), dtype=bool))
    first = tree.task_.privatize(X, Y, private=np.zeros((600, 3), dtype=bool), randomness=3)
    secrets = first.kept
    assert (first.levels == secrets.fine).all()
    assert set(tree.aggregate_.blocks) == {1}


@pytest.mark.parametrize("rule", ["max_edge", "cart"])
def test_public_data_like_masks_are_lpdt(rule):
    """All or nothing is private: the tree is that of LPDT on the public records, and the rest hide among all leaves."""
    W = np.repeat(np.arange(600)[:, None] >= 200, 3, axis=1)
    tree = HistOfTreeRegressor(np.inf, **BOUNDS, rule=rule, n_private=0, max_depth=3, response="bits", random_state=1)
    tree.fit(X, Y, private=W)
    space = FeatureSpace.from_bounds((0, 1), 3)
    levels = tree.task_.privatize(X[:200], Y[:200], private=W[:200], randomness=1).levels  # no noise: rounding only
    public = grow(rule, space, X[:200], np.rint(Y[:200] / 2 * 4096), max_depth=3, min_samples_leaf=1)
    ours = grow_masked(
        space, X[:200], np.rint(Y[:200] / 2 * 4096).astype(np.int64), W[:200], [0, 1, 2], rule=rule, max_depth=3
    )
    assert ours == public
    assert len(levels) == 200
    kept = tree.task_.privatize(X, Y, private=W, randomness=2).kept
    sizes = np.unique(tree.cell_task_.privatize(X, kept=kept, randomness=3).sizes()).tolist()
    assert sizes == [1, tree.cell_task_.n_cells]
    private_law = tree.cell_task_.first.label.coarse.epsilon
    assert private_law == np.inf


def test_no_noise_recovers_the_cell_means():
    W = RNG.random((600, 3)) < 0.5
    tree = HistOfTreeRegressor(np.inf, **BOUNDS, n_private=1, max_depth=2, shrink=False).fit(X, Y, private=W)
    leaf = tree.apply(X)
    for cell in np.unique(leaf):
        assert tree.model_.leaf_values[cell] == pytest.approx(Y[leaf == cell].mean(), abs=1e-3)


def test_masked_growth_looks_at_public_values_only():
    """Whatever stands in private places, NaN included, the tree is the same."""
    space, levels = FeatureSpace.from_bounds((0, 1), 3), np.rint(8 * Y).astype(np.int64)
    W = RNG.random((600, 3)) < 0.4
    for rule in ("max_edge", "cart"):
        trees = {
            grow_masked(space, np.where(W, fill, X), levels, W, [0, 1, 2], rule=rule, max_depth=4)
            for fill in (np.nan, 0.0, 1.0)
        }
        assert len(trees) == 1


def test_memory_of_a_large_task():
    """1e5 holders x 4,096 cells within 1 GB, in a process of its own (a few percent of them are run here).

    The peak is what NumPy and Python allocated: a child's ru_maxrss starts at the size of the process that forked it.
    """
    code = """
import sys, tracemalloc
import numpy as np
tracemalloc.start()
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks.partly_public import CellTask, SemiTask
from hedgerow.tasks.partly_public.holder import draw_second
n, d = int(sys.argv[1]), 8
rng = np.random.default_rng(0)
X = rng.random((n, d)); W = rng.random((n, d)) < np.array([.9, .8, .7, .3, .2, .1, .1, .1])
task = SemiTask.design(d, epsilon=2.0, label_bounds=(0, 2), feature_bounds=(0, 1))
first = task.privatize(X, X[:, 0] + X[:, 5], private=W, randomness=1)
secrets = first.kept
cells = CellTask.design(first, n_private=3, n_bins=2, max_depth=9)
few = slice(0, 4000)
assert cells.n_cells == 4096
total = cells.totals()
for i, rows in enumerate(draw_second(cells, X, secrets, SeededRandomness(2))):
    total.include(len(rows), cells.encoding.blocks(rows), True)
    if i == 5:
        break
print(tracemalloc.get_traced_memory()[1] / 1e9)
"""
    done = subprocess.run([sys.executable, "-c", code, "100000"], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.5


def test_reports_of_no_holders():
    task = SemiTask.design(2, epsilon=1.0, **BOUNDS)
    first = task.privatize(np.empty((0, 2)), [], private=np.empty((0, 2), dtype=bool), randomness=1)
    secrets = first.kept
    assert len(FirstReports.from_bytes(task, first.to_bytes())) == 0
    cells = CellTask.design(first, n_private=1, n_bins=2, max_depth=1)
    empty = cells.totals().add(cells.privatize(np.empty((0, 2)), kept=secrets, randomness=2)).model()
    assert empty.predict([[0.5, 0.5]]).tolist() == [1.0]


def test_shrinking_keeps_what_is_certain_and_drops_what_is_noise():
    step = 2.0 * (X[:, 2] > 0.5)
    sure = HistOfTreeRegressor(np.inf, **BOUNDS, max_depth=1, random_state=0).fit(X, step, private=[False] * 3)
    assert sure.predict([[0.5, 0.5, 0.1], [0.5, 0.5, 0.9]]) == pytest.approx([0.0, 2.0], abs=0.02)
    noise = RNG.integers(0, 2, 600) * 2.0
    unsure = HistOfTreeRegressor(0.05, **BOUNDS, n_private=1, max_depth=1, random_state=0)
    assert np.ptp(unsure.fit(X, noise, private=[True, False, False]).model_.leaf_values) < 2.0


def test_balance_keeps_both_sides_large():
    levels = np.where(X[:, 0] > 0.98, 100, 0).astype(np.int64)
    free, even = (
        grow_masked(
            FeatureSpace.from_bounds((0, 1), 3), X, levels, np.zeros((600, 3), dtype=bool), [0, 1, 2],
            rule="cart", max_depth=1, balance=balance,
        )
        for balance in (0.0, 0.2)
    )  # fmt: skip
    assert np.bincount(free.apply(X)).min() < 30
    assert np.bincount(even.apply(X)).min() >= 120


@pytest.mark.parametrize(("rule", "doubt"), [("cart", 2.0), ("max_edge", 1.0), ("random_max_edge", 1.0)])
@pytest.mark.parametrize("n_bins", [2, 3])
def test_every_door_doubts_the_cuts_of_cart_twice(rule, doubt, n_bins):
    tree = HistOfTreeRegressor(4.0, **BOUNDS, rule=rule, n_private=1, n_bins=n_bins, max_depth=2, random_state=1)
    tree.fit(X, Y, private=[0])
    assert tree.cell_task_.doubt == doubt == tree.model_.shrink
    assert tree.aggregate_.model().predict(X).tolist() == tree.predict(X).tolist()
