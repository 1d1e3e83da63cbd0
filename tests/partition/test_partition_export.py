"""Other forms of a tree: scikit-learn, ONNX, a drawing."""

import numpy as np
import pytest
from sklearn.tree import export_text, plot_tree

from hedgerow.errors import HedgerowError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.partition import grow
from hedgerow.partition.export import node_means
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace.from_bounds([[0.0, -3.0, 0.1], [1.0, 5.0, 0.7]], ["a", "b", "c"])
COLOURS = FeatureSpace((NumericFeature("x", 0, 1), CategoricalFeature("colour", ("red", "green", "blue"))))


def example(rule="cart", depth=6):
    rng = np.random.default_rng(0)
    Z = SPACE.low + (SPACE.high - SPACE.low) * rng.random((500, 3))
    tree = grow(rule, SPACE, Z, Z[:, 0] + rng.normal(size=500), max_depth=depth, min_samples_leaf=4, randomness=0)
    return tree, rng.normal(size=tree.n_leaves)


@pytest.mark.parametrize("rule", ["cart", "max_edge", "random"])
def test_scikit_learn_predicts_the_same(rule):
    tree, values = example(rule)
    rng = np.random.default_rng(1)
    Z = (SPACE.low + (SPACE.high - SPACE.low) * rng.random((5000, 3))).astype(np.float32)
    inner = np.flatnonzero(tree.feature >= 0)
    near = np.repeat(tree.threshold[inner].astype(np.float32)[:, None], 3, axis=1)
    up, down = np.float32(np.inf), np.float32(-np.inf)
    Z = np.concatenate([Z, near, np.nextafter(near, up), np.nextafter(near, down)])
    model = tree.to_sklearn(values)
    assert np.array_equal(model.predict(Z), values[tree.apply(Z)])
    assert model.get_n_leaves() == tree.n_leaves
    assert model.get_depth() == tree.depth


def test_inner_nodes_carry_weighted_means():
    tree, values = example(depth=3)
    counts = np.arange(1.0, tree.n_leaves + 1)
    model = tree.to_sklearn(values, counts)
    mean = counts @ values / counts.sum()
    assert model.tree_.value[0, 0, 0] == pytest.approx(mean)
    assert model.tree_.impurity[0] == pytest.approx(counts @ (values - mean) ** 2 / counts.sum())
    assert model.tree_.n_node_samples[0] == counts.sum()


def test_noisy_counts_do_no_harm():
    tree, values = example(depth=3)
    mean, variance, weight = node_means(tree, values, np.full(tree.n_leaves, -2.5))
    assert np.isfinite(mean).all() and (variance >= 0).all() and not weight.any()


def test_a_single_leaf_converts():
    tree, _ = example(depth=0)
    assert tree.to_sklearn([4.5]).predict(np.zeros((2, 3))).tolist() == [4.5, 4.5]
    assert tree.export_text([4.5]) == "|--- leaf 0: 4.5"
    assert tree.export_text() == "|--- leaf 0"


def test_scikit_learns_own_tools_read_the_tree():
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    tree, values = example(depth=2)
    model = tree.to_sklearn(values)
    text = export_text(model, feature_names=list(SPACE.names))
    assert text.count("value:") == tree.n_leaves
    figure, ax = plt.subplots()
    assert len(plot_tree(model, ax=ax)) >= tree.n_nodes
    plt.close(figure)


def test_categorical_splits_are_refused_by_name():
    tree = grow("max_edge", COLOURS, None, None, max_depth=2)
    with pytest.raises(HedgerowError, match=r"categorical columns \['colour'\]"):
        tree.to_sklearn(np.zeros(tree.n_leaves))


@pytest.mark.parametrize("values", [[1.0], [np.nan] * 4, np.zeros((4, 1))])
def test_wrong_values_are_named(values):
    tree = grow("max_edge", SPACE, None, None, max_depth=2)
    for form in (tree.to_sklearn, tree.export_text, tree.plot):
        with pytest.raises(HedgerowError, match="'values' must hold one finite number for each of the 4 leaves"):
            form(values)


def test_text_names_columns_and_values():
    tree = grow("max_edge", COLOURS, None, None, max_depth=2)
    text = tree.export_text([1.5, 2.5, 3.5, 4.5])
    assert text.splitlines()[:3] == ["|--- x < 0.5", "|   |--- colour in {red}", "|   |   |--- leaf 0: 1.5"]
    assert [leaf.conditions for leaf in tree.iter_leaves()][3] == ("x >= 0.5", "colour not in {red}")


def test_plot_shows_conditions_and_values():
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    tree = grow("max_edge", COLOURS, None, None, max_depth=2)
    ax = tree.plot([1.5, 2.5, 3.5, 4.5])
    words = [t.get_text() for t in ax.texts]
    assert {"x < 0.5", "colour in {red}", "1.5", "4.5", "yes", "no"} <= set(words)
    x = {t.get_text(): t.get_position()[0] for t in ax.texts}
    assert x["1.5"] < x["2.5"] < x["x < 0.5"] < x["3.5"] < x["4.5"]
    ax.figure.canvas.draw()
    plt.close(ax.figure)
    figure, mine = plt.subplots()
    assert tree.plot(ax=mine) is mine
    assert "leaf 3" in [t.get_text() for t in mine.texts]
    plt.close(figure)
