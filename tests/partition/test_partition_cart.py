"""CART against scikit-learn (numeric) and against all subsets (categorical)."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from hedgerow.errors import HedgerowError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.partition import grow_cart
from hedgerow.space import FeatureSpace


def leaf_means(tree, Z, y):
    leaf = tree.apply(Z)
    return (np.bincount(leaf, y, tree.n_leaves) / np.maximum(np.bincount(leaf, minlength=tree.n_leaves), 1))[leaf]


@pytest.mark.parametrize("seed", range(12))
def test_partition_equals_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(20, 600)), int(rng.integers(1, 7))
    depth, min_leaf = int(rng.integers(1, 7)), int(rng.integers(1, 15))
    Z = rng.normal(size=(n, d)).astype(np.float32)
    y = Z[:, 0] ** 2 + np.where(Z[:, -1] > 0.3, 1.0, 0.0) + rng.normal(size=n) * 0.3
    space = FeatureSpace.from_public(Z)
    tree = grow_cart(space, Z, y, max_depth=depth, min_samples_leaf=min_leaf)
    other = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=min_leaf, random_state=0).fit(Z, y)
    if d > 1:  # one tree, not two equally good ones; with one column the order of ties is the same
        assert tree.n_leaves == other.get_n_leaves()
    assert np.allclose(leaf_means(tree, Z, y), other.predict(Z), rtol=1e-12, atol=1e-12)


def test_tied_values_are_never_separated():
    rng = np.random.default_rng(1)
    Z = rng.integers(0, 4, size=(300, 3)).astype(float)
    y = Z @ [3.0, 10.0, 100.0] + rng.normal(size=300)
    tree = grow_cart(FeatureSpace.from_public(Z), Z, y, max_depth=6, min_samples_leaf=3)
    other = DecisionTreeRegressor(max_depth=6, min_samples_leaf=3, random_state=0).fit(Z, y)
    assert np.allclose(leaf_means(tree, Z, y), other.predict(Z))
    assert set(tree.threshold[tree.feature >= 0]) <= {0.5, 1.0, 1.5, 2.0, 2.5}


def test_neighbouring_floats_can_be_separated():
    a = 1.0
    Z = np.array([[a], [a], [np.nextafter(a, 2)], [np.nextafter(a, 2)]])
    tree = grow_cart(FeatureSpace.from_public(Z), Z, [0, 0, 1, 1], max_depth=3, min_samples_leaf=2)
    assert tree.apply(Z).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("seed", range(40))
def test_the_best_prefix_is_the_best_subset(seed):
    rng = np.random.default_rng(seed)
    k, n, min_leaf = 6, 60, int(rng.integers(1, 12))
    codes = rng.integers(0, k, n)
    y = rng.normal(size=k)[codes] + rng.normal(size=n)
    space = FeatureSpace((CategoricalFeature("c", tuple("abcdef")),))
    tree = grow_cart(space, codes[:, None].astype(float), y, max_depth=1, min_samples_leaf=min_leaf)
    errors = []
    for size in range(1, k):
        for subset in combinations(range(k), size):
            left = np.isin(codes, subset)
            if min(left.sum(), (~left).sum()) >= min_leaf:
                errors.append(y[left].var() * left.sum() + y[~left].var() * (~left).sum())
    found = ((y - leaf_means(tree, codes[:, None].astype(float), y)) ** 2).sum()
    assert found == pytest.approx(min(errors), rel=1e-9)


def test_absent_categories_go_to_the_larger_side():
    space = FeatureSpace((CategoricalFeature("c", ("a", "b", "never")),))
    Z = np.array([[0.0]] * 3 + [[1.0]] * 5)
    tree = grow_cart(space, Z, [0.0] * 3 + [1.0] * 5, max_depth=2, min_samples_leaf=1)
    assert tree.apply(np.array([[0.0], [1.0], [2.0]])).tolist() == [0, 1, 1]
    tree = grow_cart(space, Z, [1.0] * 3 + [0.0] * 5, max_depth=2, min_samples_leaf=1)
    assert tree.apply(np.array([[0.0], [1.0], [2.0]])).tolist() == [1, 0, 0]


def test_numeric_and_categorical_columns_compete():
    rng = np.random.default_rng(3)
    x, c = rng.random(400), rng.integers(0, 3, 400)
    space = FeatureSpace((NumericFeature("x", 0, 1), CategoricalFeature("c", ("u", "v", "w"))))
    Z = np.column_stack([x, c])
    y = np.where(c == 1, 5.0, 0.0) + (x > 0.6)
    tree = grow_cart(space, Z, y, max_depth=2, min_samples_leaf=5)
    assert tree.feature[:3].tolist() == [1, 0, 0]
    assert tree.subset(0).tolist() == [True, False, True]
    assert np.array_equal(leaf_means(tree, Z, y), y)
    deeper = grow_cart(space, Z, y, max_depth=6, min_samples_leaf=5)
    assert deeper == tree  # pure cells are not split


@pytest.mark.parametrize("shift", [0.0, 1e9])
def test_constant_labels_are_not_split(shift):
    Z = np.random.default_rng(4).random((50, 2))
    space = FeatureSpace.from_public(Z)
    assert grow_cart(space, Z, np.full(50, 0.1 + shift), max_depth=5, min_samples_leaf=1).n_leaves == 1


@pytest.mark.parametrize("min_leaf", [1, 3, 30, 60, 1000])
def test_both_sides_hold_enough_records(min_leaf):
    rng = np.random.default_rng(5)
    Z = np.column_stack([rng.random((100, 2)), rng.integers(0, 9, 100)])
    space = FeatureSpace.from_public(Z, categorical_features=[2])
    tree = grow_cart(space, Z, rng.normal(size=100), max_depth=9, min_samples_leaf=min_leaf)
    assert np.bincount(tree.apply(Z)).min() >= min(min_leaf, 100)
    assert (tree.n_leaves == 1) == (min_leaf > 50)


def test_no_records_give_one_cell():
    space = FeatureSpace.from_bounds((0, 1), 2)
    assert grow_cart(space, np.empty((0, 2)), [], max_depth=4, min_samples_leaf=1).n_leaves == 1
    assert grow_cart(space, np.zeros((1, 2)), [1.0], max_depth=4, min_samples_leaf=1).n_leaves == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, 2.0, -1.0, 0.5])
def test_records_that_are_not_encoded_are_refused(bad):
    space = FeatureSpace((CategoricalFeature("c", ("a", "b")),))
    with pytest.raises(HedgerowError, match="encode"):
        grow_cart(space, np.array([[bad], [0.0]]), [0, 1], max_depth=1, min_samples_leaf=1)
