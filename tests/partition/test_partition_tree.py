"""The flat tree: walking it, its cells, its JSON form and what that form refuses."""

import copy
import json
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from hedgerow.errors import BoundsError, FormatError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.partition import Partition, grow
from hedgerow.partition.walk import round_up
from hedgerow.space import FeatureSpace

MIXED = FeatureSpace(
    (
        NumericFeature("age", 0.0, 1.0),
        CategoricalFeature("colour", ("red", "green", "blue", "grey", "pink")),
        NumericFeature("size", -3.0, 5.0),
        CategoricalFeature("sex", ("F", "M")),
    )
)
NUMERIC = FeatureSpace.from_bounds([[0.0, -3.0, 0.1], [1.0, 5.0, 0.7]], ["a", "b", "c"])


def records(space: FeatureSpace, n: int, seed: int = 0) -> np.ndarray:
    """Uniform records, a third of them on dyadic points of the range, where thresholds lie."""
    rng = np.random.default_rng(seed)
    share = rng.random((n, len(space)))
    share[: n // 3] = np.round(share[: n // 3] * 16) / 16
    Z = space.low + (space.high - space.low) * share
    codes = rng.integers(0, np.maximum(space.n_categories, 1), size=Z.shape)
    return np.where(space.is_categorical, codes, Z)


def walk(tree: Partition, row: np.ndarray) -> int:
    """One record, one comparison at a time, as the docstring of Partition says it."""
    node = 0
    while tree.feature[node] >= 0:
        x = float(row[tree.feature[node]])
        if tree.subset_offset[node] >= 0:
            left = tree.subsets[tree.subset_offset[node] + int(x)]
        else:
            left = x < float(tree.threshold[node])
        node = int(tree.left[node]) + (0 if left else 1)
    return int(tree.leaf_of_node[node])


def trees() -> list[Partition]:
    made = []
    for space in (NUMERIC, MIXED):
        Z = records(space, 400, seed=1)
        y = np.random.default_rng(2).normal(size=400) + Z[:, 0]
        for rule in ("max_edge", "cart", "random", "random_max_edge"):
            for depth, leaf in ((0, 1), (3, 1), (6, 1), (6, 25)):
                made.append(grow(rule, space, Z, y, max_depth=depth, min_samples_leaf=leaf, randomness=depth + leaf))
    return made


TREES = trees()


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_apply_equals_a_walk_row_by_row(tree, dtype):
    Z = records(tree.space, 300, seed=3)
    numeric = ~tree.space.is_categorical
    on_cut = Z[-60:]
    for k, node in enumerate(np.flatnonzero((tree.feature >= 0) & (tree.subset_offset < 0))[:60]):
        on_cut[k, tree.feature[node]] = tree.threshold[node]
    Z[100:140, numeric] = Z[100:140, numeric] * 9 - 4  # outside the ranges
    Z = Z.astype(dtype)
    expected = [walk(tree, row) for row in Z]
    for layout in (Z, np.asfortranarray(Z), np.repeat(Z, 2, axis=0)[::2], np.repeat(Z, 2, axis=1)[:, ::2]):
        result = tree.apply(layout)
        assert result.dtype == np.int32
        assert result.tolist() == expected
    # The path for a few records is another piece of code.
    assert np.concatenate([tree.apply(Z[i : i + 7]) for i in range(0, 300, 7)]).tolist() == expected


@pytest.mark.parametrize("threshold", [0.1, 1 / 3, 0.5, -0.1, 1e-46, 1e300, -1e300, 0.0])
def test_float32_comparison_is_exact(threshold):
    up = round_up(np.array([threshold]), np.float32)[0]
    near = np.float32(min(max(threshold, -3e38), 3e38))
    around = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    for x in [*around, np.float32(0.0), np.float32(-0.0)]:
        assert bool(x < up) == (float(x) < threshold)


def test_blocks_join_seamlessly():
    tree = grow("max_edge", NUMERIC, None, None, max_depth=9)
    Z = records(NUMERIC, 40_000, seed=4).astype(np.float32)
    whole = tree.apply(Z)
    pieces = [tree.apply(Z[i : i + 999]) for i in range(0, len(Z), 999)]
    assert np.array_equal(whole, np.concatenate(pieces))
    assert len(np.unique(whole)) == 512


def test_infinity_and_empty_input_stay_in_range():
    tree = grow("random", NUMERIC, records(NUMERIC, 50), None, max_depth=8, min_samples_leaf=2, randomness=1)
    far = np.tile([[np.inf], [-np.inf]], (100, 3))
    assert tree.apply(far).tolist() == [walk(tree, row) for row in far]
    assert tree.apply(far[:3]).tolist() == [walk(tree, row) for row in far[:3]]
    assert tree.apply(np.empty((0, 3))).shape == (0,)
    space = FeatureSpace.from_bounds((0, 1), 1)  # the right leaf is shallower, with nodes after it
    lopsided = Partition(space, [0, 0, -1, -1, -1], [0.5, 0.2, 0, 0, 0], [1, 3, 2, 3, 4], [-1] * 5, [])
    assert lopsided.apply(np.full((50, 1), np.inf)).tolist() == [2] * 50


def test_codes_outside_the_list_count_as_its_ends():
    tree = Partition.from_dict(tampered())
    for copies in (1, 100):
        far = np.tile([[0.1, -7.0], [0.1, 99.0], [0.1, 1.0]], (copies, 1))
        assert tree.apply(far).tolist() == [0, 0, 1] * copies


def test_apply_uses_little_memory_beyond_its_result():
    tree = grow("max_edge", NUMERIC, None, None, max_depth=8)
    Z = records(NUMERIC, 300_000, seed=5)
    tree.apply(Z[:100])
    tracemalloc.start()
    out = tree.apply(Z)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < out.nbytes + 2_000_000


def test_apply_refuses_the_wrong_shape():
    with pytest.raises(BoundsError, match=r"'Z' must be a numeric matrix with 3 columns.*\(5, 2\)"):
        TREES[0].apply(np.zeros((5, 2)))
    with pytest.raises(BoundsError, match="apply_raw"):
        TREES[0].apply(np.zeros(3))


def test_apply_raw_encodes_and_clips():
    tree = next(t for t in TREES if t.space is MIXED and t.n_leaves > 10)
    raw = [[0.3, "blue", 99.0, "M"], [-5, "red", 0.0, "F"]]
    assert tree.apply_raw(raw).tolist() == tree.apply(MIXED.encode(raw)).tolist()


@pytest.mark.parametrize("tree", TREES)
def test_every_record_lies_in_exactly_one_cell_its_own(tree):
    Z, cells = records(tree.space, 200, seed=6), tree.cell_bounds()
    inside = np.ones((len(Z), tree.n_leaves), dtype=bool)
    for j in range(len(tree.space)):
        x = Z[:, j, None]
        if j in cells.categories:
            inside &= cells.categories[j][:, Z[:, j].astype(int)].T
        else:
            last = cells.high[:, j] == tree.space.high[j]
            inside &= (x >= cells.low[:, j]) & ((x < cells.high[:, j]) | last)
    assert (inside.sum(axis=1) == 1).all()
    assert np.array_equal(inside.argmax(axis=1), tree.apply(Z))


@pytest.mark.parametrize("tree", TREES)
def test_leaves_are_numbered_from_left_to_right(tree):
    leaves = list(tree.iter_leaves())
    assert [leaf.index for leaf in leaves] == list(range(tree.n_leaves))
    assert max(leaf.depth for leaf in leaves) == tree.depth
    assert [int(tree.leaf_of_node[leaf.node]) for leaf in leaves] == list(range(tree.n_leaves))
    assert (tree.leaf_of_node >= 0).sum() == tree.n_leaves == tree.n_nodes - (tree.feature >= 0).sum()


@pytest.mark.parametrize("tree", TREES)
def test_json_round_trip_is_exact(tree):
    again = Partition.from_dict(json.loads(json.dumps(tree.to_dict(), allow_nan=False)))
    assert again == tree
    assert hash(again) == hash(tree)
    assert again.to_dict() == tree.to_dict()
    assert pickle.loads(pickle.dumps(tree)) == tree


def test_a_pickle_does_not_tell_how_many_records_a_tree_was_applied_to():
    made = [next(t for t in trees() if t.n_leaves > 4) for _ in range(3)]
    for tree, n in zip(made, (0, 1, 1000), strict=True):
        tree.apply(np.zeros((n, len(tree.space))))
    assert len({pickle.dumps(tree) for tree in made}) == 1


def test_different_trees_differ():
    tree = next(t for t in TREES if t.n_leaves > 4)
    data = tree.to_dict()
    data["threshold"][0] = float(np.nextafter(data["threshold"][0], 9))
    assert Partition.from_dict(data) != tree
    assert tree != "tree"


def test_the_tree_is_immutable():
    tree = TREES[2]
    with pytest.raises(ValueError, match="read-only"):
        tree.threshold[0] = 1.0
    with pytest.raises(AttributeError):
        tree.left = tree.left
    source = np.array([0.5, 0.0, 0.0])
    mine = Partition(FeatureSpace.from_bounds((0, 1), 1), [0, -1, -1], source, [1, 1, 2], [-1] * 3, [])
    source[0] = 0.9
    assert mine.threshold[0] == 0.5


def tampered(**changes):
    """A valid tree of 5 nodes (numeric root, categorical left child) with some fields replaced."""
    space = FeatureSpace((NumericFeature("x", 0, 1), CategoricalFeature("c", ("u", "v", "w"))))
    data = {
        "version": 1,
        "space": space.to_dict(),
        "feature": [0, 1, -1, -1, -1],
        "threshold": [0.5, 0, 0, 0, 0],
        "left": [1, 3, 2, 3, 4],
        "subset_offset": [-1, 0, -1, -1, -1],
        "subsets": [1, 0, 1],
    }
    return {**copy.deepcopy(data), **changes}


def test_the_untampered_tree_is_fine():
    tree = Partition.from_dict(tampered())
    assert tree.apply(np.array([[0.1, 0], [0.1, 1], [0.1, 2], [0.5, 1]])).tolist() == [0, 1, 0, 2]
    assert tree.export_text().splitlines() == [
        "|--- x < 0.5",
        "|   |--- c in {u, w}",
        "|   |   |--- leaf 0",
        "|   |--- c not in {u, w}",
        "|   |   |--- leaf 1",
        "|--- x >= 0.5",
        "|   |--- leaf 2",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"version": True},
        {"extra": 1},
        {"space": {}},
        {"space": 3},
        {"space": {"columns": 3}},
        {"space": {"columns": [3]}},
        {"space": {"columns": [{"name": "x", "low": "?", "high": 1}]}},
        {"space": {"columns": [{"name": "x", "low": 2, "high": 1}]}},
        {"feature": [], "threshold": [], "left": [], "subset_offset": [], "subsets": []},
        {"feature": [0, 1, -1, -1]},
        {"feature": [0, 2, -1, -1, -1]},
        {"feature": [0, -2, -1, -1, -1]},
        {"feature": [0, True, -1, -1, -1]},
        {"feature": [0.0, 1, -1, -1, -1]},
        {"feature": "01"},
        {"feature": [10**30, 1, -1, -1, -1]},
        {"feature": [0, 0, -1, -1, -1]},
        {"feature": [1, 1, -1, -1, -1]},
        {"threshold": [float("nan"), 0, 0, 0, 0]},
        {"threshold": [float("inf"), 0, 0, 0, 0]},
        {"threshold": [10**400, 0, 0, 0, 0]},
        {"threshold": ["0.5", 0, 0, 0, 0]},
        {"threshold": [None, 0, 0, 0, 0]},
        {"threshold": [0.5, 0, 1, 0, 0]},
        {"threshold": [0.5, 1, 0, 0, 0]},
        {"threshold": 0.5},
        {"left": [0, 3, 2, 3, 4]},
        {"left": [1, 0, 2, 3, 4]},
        {"left": [1, 1, 2, 3, 4]},
        {"left": [1, 4, 2, 3, 4]},
        {"left": [1, 2, 2, 3, 4]},
        {"left": [2, 3, 2, 3, 4]},
        {"left": [3, 3, 2, 3, 4]},
        {"left": [1, 3, 0, 3, 4]},
        # The root is a leaf and the others go round in a circle, each reached exactly once.
        {"feature": [-1, 0, -1], "threshold": [0] * 3, "left": [0, 1, 2], "subset_offset": [-1] * 3, "subsets": []},
        {"feature": [-1, 0, -1, 0, -1], "left": [0, 3, 2, 1, 4], "subset_offset": [-1] * 5, "subsets": []},
        # Each node is reached exactly once, and two that do not exist.
        {"feature": [0, 0, 0, -1, -1], "left": [1, 3, 5, 3, 4], "subset_offset": [-1] * 5, "subsets": []},
        {"left": [1, 3, 4, 3, 4]},
        {"left": [1, -3, 2, 3, 4]},
        {"left": [1, 2**31, 2, 3, 4]},
        {"subset_offset": [-1, 1, -1, -1, -1]},
        {"subset_offset": [-1, -1, -1, -1, -1]},
        {"subset_offset": [0, 0, -1, -1, -1]},
        {"subset_offset": [-1, 0, 0, -1, -1]},
        {"subset_offset": [-1, 2**31 - 1, -1, -1, -1]},
        {"subsets": [1, 0]},
        {"subsets": [1, 0, 1, 1]},
        {"subsets": [1, 0, 2]},
        {"subsets": [True, False, True]},
        {"subsets": None},
    ],
)
def test_tampered_dicts_are_refused(changes):
    with pytest.raises(FormatError):
        Partition.from_dict(tampered(**changes))


def test_missing_fields_and_other_types_are_refused():
    for name in tampered():
        data = tampered()
        del data[name]
        with pytest.raises(FormatError, match=name):
            Partition.from_dict(data)
    with pytest.raises(FormatError, match="JSON object"):
        Partition.from_dict([1, 2])


def test_a_chain_deeper_than_any_honest_tree_is_refused():
    k = 65
    feature = [0] + [-1, 0] * (k - 1) + [-1, -1]
    left = [i + 1 if i == 0 or (i % 2 == 0 and i < 2 * k) else i for i in range(2 * k + 1)]
    n = 2 * k + 1
    space = FeatureSpace.from_bounds((0, 1), 1)
    with pytest.raises(FormatError, match="deeper than 64"):
        Partition(space, feature, np.zeros(n), left, np.full(n, -1), [])
    n -= 2
    ok = Partition(space, [*feature[: n - 2], -1, -1], np.zeros(n), [*left[: n - 1], n - 1], np.full(n, -1), [])
    assert ok.depth == 64
    assert ok.apply(np.full((100, 1), 0.5)).tolist() == [64] * 100


def test_random_damage_never_crashes_or_hangs():
    """Any change of one number gives a refusal or a tree that still answers in range."""
    rng = np.random.default_rng(7)
    good = next(t for t in TREES if t.space is MIXED and 8 < t.n_leaves < 40).to_dict()
    accepted = 0
    for _ in range(1500):
        data = copy.deepcopy(good)
        name = rng.choice(["feature", "left", "subset_offset", "subsets", "threshold"])
        data[name][rng.integers(len(data[name]))] = int(rng.integers(-2, 40))
        try:
            tree = Partition.from_dict(data)
        except FormatError:
            continue
        accepted += 1
        leaves = tree.apply(records(MIXED, 40, seed=8))
        assert leaves.min() >= 0 and leaves.max() < tree.n_leaves
    assert 0 < accepted < 1500


def test_import_needs_numpy_only():
    code = (
        "import sys, hedgerow.partition, hedgerow.partition.export, hedgerow.partition.plot\n"
        "heavy = {'sklearn', 'scipy', 'matplotlib', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
