"""The rules that see no labels, and the common entrance ``grow``."""

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.partition import RULES, grow, grow_random
from hedgerow.partition.random import _pick, _subset
from hedgerow.randomness import as_randomness
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace((NumericFeature("x", -1, 3), CategoricalFeature("c", tuple("abcde")), NumericFeature("one", 4, 4)))


@pytest.mark.parametrize("rule", ["random", "random_max_edge"])
def test_labels_are_never_used(rule):
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.random(200) * 4 - 1, rng.integers(0, 5, 200), np.full(200, 4.0)])
    grown = [
        grow(rule, SPACE, Z, y, max_depth=4, min_samples_leaf=3, randomness=5)
        for y in (None, rng.normal(size=200), "not labels at all")
    ]
    assert grown[0] == grown[1] == grown[2]
    assert grown[0] != grow(rule, SPACE, Z, None, max_depth=4, min_samples_leaf=3, randomness=6)
    assert np.bincount(grown[0].apply(Z)).min() >= 3
    assert 2 not in grown[0].feature


def test_random_max_edge_only_cuts_longest_edges_at_midpoints():
    space = FeatureSpace.from_bounds((0, 1), 4)
    trees = [grow("random_max_edge", space, None, None, max_depth=6, randomness=s) for s in range(5)]
    for tree in trees:
        cells = tree.cell_bounds()
        cuts = -np.log2(cells.high - cells.low)
        assert (np.sort(cuts, axis=1) == [1, 1, 2, 2]).all()
    assert len(set(trees)) == 5


def test_random_cuts_are_uniform():
    space = FeatureSpace.from_bounds((-5, 3), 1)
    roots = np.array([grow_random(space, None, as_randomness(s), max_depth=1, min_samples_leaf=1).threshold[0]
                      for s in range(300)])  # fmt: skip
    share = np.sort((roots + 5) / 8)
    # Kolmogorov's distance; 1.95 / sqrt(n) is exceeded once in a thousand sets of seeds.
    assert np.abs(share - (np.arange(300) + 0.5) / 300).max() < 1.95 / np.sqrt(300)


def test_columns_are_picked_uniformly():
    mask = np.tile([False, True, True, False, True], (30_000, 1))
    counts = np.bincount(_pick(mask, as_randomness(1)), minlength=5)
    assert counts[[0, 3]].tolist() == [0, 0]
    assert np.abs(counts[[1, 2, 4]] - 10_000).max() < 5 * np.sqrt(30_000 * 2 / 9)


def test_subsets_are_uniform_and_not_trivial():
    allowed = np.tile([True, False, True, True], (30_000, 1))
    chosen = _subset(allowed, as_randomness(2))
    assert not chosen[:, 1].any()
    counts = np.bincount(chosen @ [1, 0, 2, 4], minlength=8)
    assert counts[[0, 7]].tolist() == [0, 0]
    assert np.abs(counts[1:7] - 5000).max() < 5 * np.sqrt(5000)


def test_categories_run_out():
    space = FeatureSpace((CategoricalFeature("c", tuple("abcde")),))
    for rule in ("random", "random_max_edge", "max_edge"):
        tree = grow(rule, space, None, None, max_depth=8, randomness=3)
        assert sorted(tree.apply(np.arange(5.0)[:, None]).tolist()) == [0, 1, 2, 3, 4]
        assert tree.n_leaves == 5


def test_narrow_and_huge_ranges():
    high = np.nextafter(np.nextafter(1.0, 2), 2)
    narrow = FeatureSpace.from_bounds((1.0, high), 1)
    for seed in range(20):
        tree = grow("random", narrow, None, None, max_depth=9, randomness=seed)
        assert tree.n_leaves == 2
        assert tree.threshold[0] == np.nextafter(1.0, 2)  # never an end of the range
    huge = FeatureSpace.from_bounds((-1.7e308, 1.7e308), 1)
    tree = grow("random", huge, None, None, max_depth=3, randomness=0)
    assert tree.n_leaves == 8
    assert (np.diff(tree.cell_bounds().low[:, 0]) > 0).all()


def test_without_a_seed_every_tree_is_new():
    space = FeatureSpace.from_bounds((0, 1), 2)
    assert grow("random", space, None, None, max_depth=3) != grow("random", space, None, None, max_depth=3)


def test_every_rule_grows_to_its_depth():
    rng = np.random.default_rng(1)
    Z, space = rng.random((3000, 3)), FeatureSpace.from_bounds((0, 1), 3)
    for rule in RULES:
        tree = grow(rule, space, Z, Z[:, 0] + rng.normal(size=3000), max_depth=4, min_samples_leaf=2, randomness=0)
        assert tree.depth == 4
        assert grow(rule, space, Z, Z[:, 0], max_depth=0, randomness=0).n_leaves == 1


def test_a_wrong_rule_is_named():
    space = FeatureSpace.from_bounds((0, 1), 1)
    with pytest.raises(HedgerowError, match=r"'rule' parameter must be one of max_edge, cart.*Got 'oak' instead"):
        grow("oak", space, None, None, max_depth=1)
    with pytest.raises(HedgerowError, match="'cart' rule needs public records"):
        grow("cart", space, None, None, max_depth=1)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("name", "value"),
    [("max_depth", 21), ("max_depth", -1), ("max_depth", 2.0), ("max_depth", True), ("max_depth", None),
     ("min_samples_leaf", 0), ("min_samples_leaf", 0.5), ("min_samples_leaf", "2")],
)  # fmt: skip
def test_wrong_limits_are_named(rule, name, value):
    space = FeatureSpace.from_bounds((0, 1), 1)
    limits = {"max_depth": 2, "min_samples_leaf": 1, name: value}
    with pytest.raises(HedgerowError, match=rf"'{name}' parameter must be an integer .*Got {value!r} instead"):
        grow(rule, space, np.zeros((2, 1)), np.zeros(2), randomness=0, **limits)


@pytest.mark.parametrize("rule", RULES)
def test_wrong_records_are_named(rule):
    space = FeatureSpace.from_bounds((0, 1), 2)
    with pytest.raises(HedgerowError, match=r"'Z' must be a numeric matrix with 2 columns.*\(4, 3\)"):
        grow(rule, space, np.zeros((4, 3)), np.zeros(4), max_depth=2, randomness=0)
    with pytest.raises(HedgerowError, match="NaN or infinity"):
        grow(rule, space, np.full((4, 2), np.nan), np.zeros(4), max_depth=2, randomness=0)
