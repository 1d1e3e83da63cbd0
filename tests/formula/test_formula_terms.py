"""Terms and walks down trees, evaluated by the NumPy runtime, against what they stand for."""

import numpy as np
import pytest

from hedgerow.export.program import program_of
from hedgerow.export.runtime import _OPERATIONS, evaluate
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.formula import Formula, TextInput, inputs_of
from hedgerow.formula.inputs import raw_inputs
from hedgerow.formula.portable import design_term, portable_term, within
from hedgerow.formula.terms import OPERATIONS, constant, join, lookup, records, where_missing, where_positive
from hedgerow.formula.trees import codes_of, leaf_sum, tree_sum
from hedgerow.partition import grow
from hedgerow.portable import Kernel, Linear, Matern, PortableModel, Trees
from hedgerow.space import FeatureSpace


def value(term, X):
    """Return what a term is for rows of numbers that are taken as they are."""
    X = np.asarray(X, dtype=np.float64)
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return evaluate(program_of(Formula(raw_inputs(names), term)), X)


def test_every_operation_is_known_to_both_evaluators():
    onnx_terms = pytest.importorskip("hedgerow.export.onnx_terms")
    known = set(OPERATIONS) - {"records"}
    assert set(_OPERATIONS) == known == set(onnx_terms.EMITTERS)


def test_arithmetic():
    x = records()
    X = [[4.0, -2.5], [1.0, 0.5]]
    assert value(((x + 1.0) * 2.0 - x) / 2.0, X).tolist() == [[3.0, -0.25], [1.5, 1.25]]
    assert value(x.pick([1]).apply("truncate"), X).tolist() == [[-2.0], [0.0]]
    assert value(x.pick([1]).apply("round"), X).tolist() == [[-2.0], [0.0]]
    assert value(x.apply("absolute").apply("row_sum"), X).tolist() == [[6.5], [1.5]]
    assert value(x.product([[1.0], [2.0]]), X).tolist() == [[-1.0], [2.0]]
    assert value(x.clip(-1.0, np.inf), X).tolist() == [[4.0, -1.0], [1.0, 0.5]]
    assert value(where_positive(x, x, 7.0), X).tolist() == [[4.0, 7.0], [1.0, 0.5]]
    assert value(join(x.pick([0]), lookup(x.pick([0]), [[0.0], [5.0], [0], [0], [9.0]])), X)[:, 1].tolist() == [9, 5]
    assert value(constant([1.0, 2.0]), X).tolist() == [[1.0, 2.0]] * 2
    assert value(where_missing(x, -1.0, x), [[np.nan], [3.0]]).tolist() == [[-1.0], [3.0]]


def test_a_shared_term_is_one_step():
    x = records()
    square = x * x
    assert [term.op for term in (square + square).steps()] == ["records", "multiply", "add"]


def next_to(cuts, X, rng):
    """Return records of which half the values are a cut, or next to one, in double and in single precision."""
    near = rng.choice(cuts, X.shape)
    side = rng.integers(4, size=X.shape)
    near = np.where(side == 1, np.nextafter(near, np.inf), near)
    near = np.where(side == 2, np.nextafter(near, -np.inf), near)
    near = np.where(side == 3, near.astype(np.float32), near)
    return np.where(rng.random(X.shape) < 0.5, near, X)


@pytest.mark.parametrize("seed", range(3))
def test_partitions_with_categories_go_to_the_same_leaves(seed):
    rng = np.random.default_rng(seed)
    features = (
        NumericFeature("a", -1, 1),
        CategoricalFeature("b", ("p", "q", "r", "s")),
        NumericFeature("c", 0, 9),
        CategoricalFeature("d", ("u", "v")),
    )
    space = FeatureSpace(features)
    Z = np.column_stack(
        [rng.uniform(-1, 1, 500), rng.integers(4, size=500), rng.uniform(0, 9, 500), rng.integers(2, size=500)]
    )
    trees = [
        grow(rule, space, Z, rng.random(500), max_depth=6, randomness=seed) for rule in ("cart", "max_edge", "random")
    ]
    assert all((tree.subset_offset >= 0).any() for tree in trees)
    values = [rng.random((tree.n_leaves, 2)) for tree in trees]
    for j in (0, 2):
        cuts = np.concatenate([tree.threshold[(tree.feature == j)] for tree in trees])
        Z[:, j] = np.clip(next_to(cuts, Z[:, [j]], rng)[:, 0], space.low[j], space.high[j])
    wanted = sum(v[tree.apply(Z)] for tree, v in zip(trees, values, strict=True))
    assert np.array_equal(value(tree_sum(records(), trees, values), Z), wanted)


def test_a_tree_of_one_leaf():
    tree = grow("max_edge", FeatureSpace.from_bounds((0, 1), ["x"]), None, None, max_depth=0)
    assert value(tree_sum(records(), [tree], [[2.5]]), [[0.0], [np.inf]]).tolist() == [[2.5], [2.5]]


@pytest.mark.parametrize("single", [True, False])
def test_portable_trees_go_to_the_same_leaves(single):
    rng = np.random.default_rng(0)
    feature = [0, 1, -1, -1, -1, -1]
    trees = Trees([5, 1], feature, [0.1, 1 / 3], [1.0, 2.0, 4.0, 8.0], single=single)
    X = next_to(np.array([0.1, 1 / 3]), rng.random((2000, 2)), rng)
    assert np.array_equal(value(leaf_sum(records(), trees), X)[:, 0], trees.predict(X))
    others = [np.array([5.0, 6.0, 7.0]), np.array([10.0])]
    wanted = sum(v[leaf] for v, leaf in zip(others, trees.apply(X).T, strict=True))
    assert np.array_equal(value(leaf_sum(records(), trees, others), X)[:, 0], wanted)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 8, 100])
def test_codes_count_the_cuts_at_or_below(n):
    rng = np.random.default_rng(n)
    cuts = np.sort(rng.integers(n, size=n) / 7.0)  # some of them twice
    x = next_to(cuts, rng.uniform(-1, n, (500, 1)), rng)
    assert np.array_equal(value(codes_of(records(), cuts), x)[:, 0], np.searchsorted(cuts, x[:, 0], side="right"))


def test_portable_models():
    rng = np.random.default_rng(0)
    kernel = Kernel(rng.random((5, 3)), rng.random(5), [0.1] * 3, [2.0] * 3, [0.7])
    bent = {"edges": rng.random((4, 3)), "bends": rng.normal(size=(4, 3))}
    smooth = Matern(rng.random((5, 3)), rng.random(5), [0.1] * 3, [2.0, 0.3, 5.0], **bent)
    far = Matern(rng.random((1, 3)), [1.0], [0.1] * 3, [1e-200] * 3)  # infinitely far: 0, and not 0 times infinity
    model = PortableModel(2, [0, 1, 1], [-1, 1, 0], 3.0, (Linear([0.5, 0.0, -2.0]), kernel, smooth, far))
    Z = np.column_stack([rng.random(50), rng.integers(3, size=50)])
    term = portable_term(model, design_term(model, records()))
    with np.errstate(over="ignore"):
        assert np.allclose(value(term, Z)[:, 0], model.predict(Z), rtol=1e-12, atol=0)


def test_parts_that_cancel_to_nothing_are_the_lower_end():
    model = PortableModel(1, [0], [-1], 0.0, (Linear([1e308]), Linear([-1e308])))
    term = within(portable_term(model, design_term(model, records())), (-1.0, 1.0))
    assert value(term, [[0.0], [10.0]]).tolist() == [[0.0], [-1.0]]


def test_inputs_follow_the_schema():
    space = FeatureSpace(
        (NumericFeature("age", 0, 99, missing=40), CategoricalFeature("sex", ("F", "M", "?"), unknown="?"))
    )
    age, sex = inputs_of(space)
    assert (age.low, age.high, age.missing) == (0.0, 99.0, 40.0)
    assert sex == TextInput("sex", ("F", "M", "?"), (0, 1, 2), 2, 2)
    X = [[150, "M"], ["", None], [" 7 ", "x"], [True, "F"], [None, 3.0], ["1_0", "?"], [10**400, "m"]]
    formula = Formula.of(space, records(), None)
    assert np.array_equal(evaluate(program_of(formula), X), space.encode(np.array(X, dtype=object)))
