"""The max-edge rule against a slow, literal reading of section 2.3, in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import HedgerowError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.partition import grow_cart, grow_max_edge
from hedgerow.partition.growing import exact_labels
from hedgerow.partition.sides import Sides, _pattern_width
from hedgerow.space import FeatureSpace

# Small whole ranges: all midpoints down to the depths used here are exact floats.
NUMERIC_RANGES = [(0, 1), (-2, 6), (0, 3), (5, 5), (-1, 0)]


def sse(labels):
    if not labels:
        return Fraction(0)
    mean = sum(labels) / len(labels)
    return sum((v - mean) ** 2 for v in labels)


def halves(box, column, samples):
    """Return the two sub-boxes of a box along one column; None if it cannot be split."""
    edge = box[column]
    if isinstance(edge, frozenset):
        if len(edge) < 2:
            return None
        labels = [y for _, y in samples]
        average = sum(labels) / len(labels) if labels else Fraction(0)

        def mean_label(category):
            own = [y for x, y in samples if x[column] == category]
            return sum(own) / len(own) if own else average

        ranked = sorted(edge, key=lambda c: (mean_label(c), c))
        lower = frozenset(ranked[: len(ranked) // 2])
        parts = (lower, edge - lower)
    else:
        a, b = edge
        if a == b:
            return None
        parts = ((a, (a + b) / 2), ((a + b) / 2, b))
    return tuple([*box[:column], part, *box[column + 1 :]] for part in parts)


def goes_left(x, box, column):
    """Whether a sample of the parent belongs to this left half."""
    edge = box[column]
    return x[column] in edge if isinstance(edge, frozenset) else x[column] < edge[1]


def naive(space, samples, box, depth, min_leaf):
    """Return the leaf boxes, left to right, of one cell."""
    whole = [
        frozenset(range(k)) if k else (Fraction(lo), Fraction(hi))
        for k, lo, hi in zip(space.n_categories.tolist(), space.low.tolist(), space.high.tolist(), strict=True)
    ]
    box = whole if box is None else box
    lengths = {}
    for j, edge in enumerate(box):
        if halves(box, j, samples) is not None:
            is_set = isinstance(edge, frozenset)
            lengths[j] = (
                Fraction(len(edge), len(whole[j])) if is_set else (edge[1] - edge[0]) / (whole[j][1] - whole[j][0])
            )
    if depth == 0 or not lengths:
        return [box]
    best = None
    for j in (j for j, length in lengths.items() if length == max(lengths.values())):
        left_box, right_box = halves(box, j, samples)
        left = [s for s in samples if goes_left(s[0], left_box, j)]
        right = [s for s in samples if not goes_left(s[0], left_box, j)]
        error = sse([y for _, y in left]) + sse([y for _, y in right])
        if best is None or error < best[0]:
            best = (error, left_box, right_box, left, right)
    _, left_box, right_box, left, right = best
    if len(left) < min_leaf or len(right) < min_leaf:
        return [box]
    return naive(space, left, left_box, depth - 1, min_leaf) + naive(space, right, right_box, depth - 1, min_leaf)


def boxes(tree):
    cells = tree.cell_bounds()
    return [
        [
            frozenset(np.flatnonzero(cells.categories[j][leaf]).tolist())
            if j in cells.categories
            else (Fraction(cells.low[leaf, j]), Fraction(cells.high[leaf, j]))
            for j in range(len(tree.space))
        ]
        for leaf in range(tree.n_leaves)
    ]


def literal(space, Z, y, depth, min_leaf):
    samples = [([Fraction(float(v)) for v in row], Fraction(float(label))) for row, label in zip(Z, y, strict=True)]
    return naive(space, samples, None, depth, min_leaf)


@st.composite
def problems(draw):
    features = []
    for j in range(draw(st.integers(1, 4))):
        if draw(st.integers(0, 3)) == 0:
            names = "abcdefg"[: draw(st.integers(1, 7))]
            features.append(CategoricalFeature(f"c{j}", tuple(names)))
        else:
            features.append(NumericFeature(f"x{j}", *map(float, draw(st.sampled_from(NUMERIC_RANGES)))))
    space = FeatureSpace(tuple(features))
    n = draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    coarse = rng.integers(0, draw(st.sampled_from([2, 8, 1000])) + 1, size=(n, len(space)))
    Z = space.low + (space.high - space.low) * coarse / max(coarse.max(initial=1), 1)
    Z = np.where(space.is_categorical, np.round(Z), Z)
    y = rng.integers(0, draw(st.sampled_from([1, 3, 1000])) + 1, size=n).astype(float)
    return space, Z, y, draw(st.integers(0, 5)), draw(st.integers(1, 4))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(problems())
def test_cells_equal_the_literal_reading(problem):
    space, Z, y, depth, min_leaf = problem
    tree = grow_max_edge(space, Z, y, max_depth=depth, min_samples_leaf=min_leaf)
    assert boxes(tree) == literal(space, Z, y, depth, min_leaf)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e150])
def test_continuous_labels_and_many_columns(dtype, scale):
    rng = np.random.default_rng(3)
    Z = rng.random((300, 11)).astype(dtype)
    y = (Z[:, 3] + np.sin(5 * Z[:, 7]) + rng.normal(size=300) * 0.1 + 1e3) * scale
    space = FeatureSpace.from_bounds((0, 1), 11)
    tree = grow_max_edge(space, Z, y, max_depth=5, min_samples_leaf=5)
    assert tree.feature[0] == 7
    assert boxes(tree) == literal(space, Z, y, 5, 5)


def test_an_equal_column_never_beats_a_lower_one():
    """Exact sums: a copy, or a mirror image, of a column ties exactly, whatever byte it is packed in."""
    rng = np.random.default_rng(4)
    base = rng.random((500, 1)) + 1e-9
    Z = np.hstack([rng.integers(0, 2, (500, 5)), base, rng.integers(0, 2, (500, 7)), base, 1 - base])
    space = FeatureSpace.from_bounds((0, 1), Z.shape[1])
    y = base[:, 0] * 3 + rng.normal(size=500)
    assert grow_max_edge(space, Z, y, max_depth=1, min_samples_leaf=1).feature[0] == 5


@pytest.mark.parametrize("grow_tree", [grow_max_edge, grow_cart])
def test_equal_errors_that_round_differently_still_tie(grow_tree):
    """The two columns reduce the error equally in fractions, but not to the last bit in floats."""
    first = [1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1]
    second = [1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1]
    y = [4.0, 5, 4, 4, 4, 3, 3, 3, 5, 3, 0, 4]
    space = FeatureSpace.from_bounds((0, 1), 2)
    for columns in ([first, second], [second, first]):
        tree = grow_tree(space, np.array(columns, dtype=float).T, y, max_depth=1, min_samples_leaf=1)
        assert tree.feature[0] == 0


def test_pruning_does_not_try_a_second_edge():
    space = FeatureSpace.from_bounds((0, 1), 2)
    Z = np.array([[0.9, 0.1], [0.1, 0.2], [0.2, 0.9], [0.3, 0.8]])
    y = [9.0, 0.0, 0.0, 0.0]  # the first column isolates the label 9, but alone
    assert grow_max_edge(space, Z, y, max_depth=3, min_samples_leaf=1).feature[0] == 0
    assert grow_max_edge(space, Z, y, max_depth=3, min_samples_leaf=2).n_leaves == 1


@pytest.mark.parametrize("min_leaf", [1, 7, 40])
def test_both_sides_hold_enough_records(min_leaf):
    rng = np.random.default_rng(5)
    Z = rng.random((1000, 4)) ** 3
    space = FeatureSpace.from_bounds((0, 1), 4)
    tree = grow_max_edge(space, Z, rng.normal(size=1000), max_depth=8, min_samples_leaf=min_leaf)
    counts = np.bincount(tree.apply(Z), minlength=tree.n_leaves)
    assert counts.min() >= min_leaf
    assert tree.n_leaves > 1


def test_without_public_data_edges_are_cut_in_turn():
    # The second column is one point.
    space = FeatureSpace((NumericFeature("a", 0, 1), NumericFeature("b", 2, 2), NumericFeature("c", 0, 8)))
    tree = grow_max_edge(space, None, None, max_depth=4, min_samples_leaf=10)
    cells = tree.cell_bounds()
    assert tree.n_leaves == 16
    assert np.array_equal(cells.high - cells.low, np.tile([0.25, 0.0, 2.0], (16, 1)))
    assert tree.feature[:7].tolist() == [0, 2, 2, 0, 0, 0, 0]


def test_without_public_data_categories_are_halved_in_code_order():
    space = FeatureSpace((CategoricalFeature("c", ("p", "q", "r")), NumericFeature("x", 0, 1)))
    tree = grow_max_edge(space, None, None, max_depth=2, min_samples_leaf=1)
    # Left: 1/3 of the categories, so x is longer; right: 2/3, still shorter than x.
    assert tree.feature.tolist() == [0, 1, 1, -1, -1, -1, -1]
    assert tree.subset(0).tolist() == [True, False, False]


def test_edges_too_narrow_for_floats_are_left_alone():
    low = 1.0
    high = np.nextafter(np.nextafter(low, 2), 2)
    space = FeatureSpace.from_bounds((low, high), 1)
    tree = grow_max_edge(space, None, None, max_depth=10, min_samples_leaf=1)
    assert tree.n_leaves == 2
    wide = FeatureSpace.from_bounds((-1.7e308, 1.7e308), 1)
    assert grow_max_edge(wide, None, None, max_depth=2, min_samples_leaf=1).threshold[0] == 0.0


def test_no_splittable_column_gives_one_cell():
    space = FeatureSpace((NumericFeature("x", 2, 2), CategoricalFeature("c", ("only",))))
    assert grow_max_edge(space, None, None, max_depth=5, min_samples_leaf=1).n_leaves == 1
    Z = np.array([[2.0, 0.0]] * 9)
    assert grow_max_edge(space, Z, np.arange(9), max_depth=5, min_samples_leaf=1).n_leaves == 1


@pytest.mark.parametrize("n_cells", [1, 5, 700])
def test_packed_sums_equal_plain_sums(n_cells):
    """All histogram widths give the same numbers."""
    rng = np.random.default_rng(n_cells)
    Z, where = rng.random((900, 13)), rng.integers(0, n_cells + 1, 900)
    labels = exact_labels(rng.normal(size=900))
    sides = Sides(Z, np.full(13, 0.5))
    bits = Z >= 0.5
    column, middle, values = rng.integers(-1, 13, n_cells), rng.random(n_cells), rng.random(900)
    for i in range(900):
        if where[i] < n_cells and column[where[i]] >= 0:
            bits[i, column[where[i]]] = values[i] >= middle[where[i]]
    sides.move(where, values, column, middle)
    counts, totals = sides.right_sums(where, labels, n_cells)
    for c in range(0, n_cells, 7):
        assert np.array_equal(counts[c], bits[where == c].sum(axis=0))
        assert np.array_equal(totals[c], (bits[where == c] * labels[where == c, None]).sum(axis=0))


def test_histograms_stay_near_the_size_of_the_data():
    assert [_pattern_width(c, 1000) for c in (2, 20, 100, 3000, 10**6)] == [8, 8, 4, 1, 1]


def test_exact_labels_do_not_round_sums():
    y = np.random.default_rng(6).normal(size=10_000) * 1e7
    q = exact_labels(y)
    assert np.array_equal(q, np.rint(q))
    assert float(np.abs(q).sum()) < 2**53
    assert sum(int(v) for v in q) == int(np.cumsum(q)[-1]) == int(np.cumsum(q[::-1])[-1])
    assert np.allclose(np.diff(q) / np.ptp(q), np.diff(y) / np.ptp(y), rtol=0, atol=1e-9)
    assert not exact_labels(np.full(3, 7.0)).any()
    assert exact_labels(np.empty(0)).size == 0


def test_one_of_records_and_labels_is_not_enough():
    space = FeatureSpace.from_bounds((0, 1), 1)
    with pytest.raises(HedgerowError, match="'y' is None"):
        grow_max_edge(space, np.zeros((3, 1)), None, max_depth=1, min_samples_leaf=1)
    with pytest.raises(HedgerowError, match="one label a record"):
        grow_max_edge(space, np.zeros((3, 1)), [1.0], max_depth=1, min_samples_leaf=1)
