"""Pictures of large trees: the important part is drawn, the rest folded, and no text lies on another."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from hedgerow.errors import HedgerowError
from hedgerow.partition import grow
from hedgerow.partition.arrange import arrange
from hedgerow.partition.fold import fold, leaves_below
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace.from_bounds((0, 1), ["a", "a name of more than 28 characters", "$x_{1", "b"])
LARGE = grow("max_edge", SPACE, None, None, max_depth=7)  # 128 leaves
RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=LARGE.n_leaves) * 1e3


def boxes(ax):
    """Return the texts, and their boxes in pixels, frames included."""
    renderer = ax.figure.canvas.get_renderer()
    ax.figure.canvas.draw()
    found = []
    for text in ax.texts:
        patch = text.get_bbox_patch()
        found.append((text.get_text(), (text if patch is None else patch).get_window_extent(renderer)))
    return found


def overlaps(found):
    pairs = [(one, two) for i, one in enumerate(found) for two in found[i + 1 :]]
    return [(a, b) for (a, p), (b, q) in pairs if p.x0 < q.x1 and q.x0 < p.x1 and p.y0 < q.y1 and q.y0 < p.y1]


@pytest.mark.parametrize(
    ("values", "shares", "size"),
    [(VALUES, None, None), (None, None, None), (VALUES, RNG.random(128) ** 4, None), (VALUES, None, (6, 4))],
)
def test_a_tree_of_128_leaves_is_folded_and_readable(values, shares, size):
    ax = None
    if size is not None:
        ax = plt.figure(figsize=size, layout="constrained").subplots()
    ax = LARGE.plot(values, ax, shares=shares)
    found = boxes(ax)
    texts = [text for text, _ in found]
    folds = [text for text in texts if "more leaves" in text]
    leaves = [t for t in texts if t not in folds and t not in ("yes", "no") and " < " not in t and "…" not in t]
    assert len(found) == 16 + 15 + 2 and len(folds) + len(leaves) == 16 and folds
    folded = sum(int(text.split()[1].replace(",", "")) for text in folds)
    assert folded + len(leaves) == 128
    assert overlaps(found) == []
    figure = ax.figure.bbox
    assert all(box.x0 >= 0 and box.x1 <= figure.x1 and box.y0 >= 0 and box.y1 <= figure.y1 for _, box in found)
    plt.close(ax.figure)


def test_small_trees_are_drawn_whole():
    tree = grow("max_edge", SPACE, None, None, max_depth=4)
    found = boxes(tree.plot(np.arange(16.0)))
    assert not any("more leaves" in text for text, _ in found) and len(found) == tree.n_nodes + 2
    assert overlaps(found) == []
    plt.close("all")


def test_what_differs_for_many_people_is_opened():
    tree = grow("max_edge", FeatureSpace.from_bounds((0, 1), ["a"]), None, None, max_depth=3)
    values = np.array([0, 9, 0, 0, 0, 0, 5, 0.0])
    assert leaves_below(tree)[0] == 8
    first = tree.left[tree.left[0]]  # above leaves 0 and 1
    last = tree.left[tree.left[0] + 1] + 1  # above leaves 6 and 7
    equal = fold(tree, 4, values)
    assert equal.sum() == 3 and equal[first] and not equal[last]
    shares = np.array([0.01, 0.01, 0.1, 0.1, 0.1, 0.1, 0.29, 0.29])
    weighted = fold(tree, 4, values, shares)
    assert weighted[last] and not weighted[first]
    noisy = fold(tree, 4, values, -shares)  # noisy counts below 0 are no weight, and no error
    assert noisy.sum() == 3


def test_a_fold_says_between_which_values_its_leaves_are():
    tree = grow("max_edge", FeatureSpace.from_bounds((0, 1), ["a"]), None, None, max_depth=3)
    arranged = arrange(tree, np.arange(8.0), most=2)
    assert [drawn.text for drawn in arranged.nodes] == ["a < 0.5", "… 4 more leaves\n0 to 3", "… 4 more leaves\n4 to 7"]
    assert [drawn.value for drawn in arranged.nodes[1:]] == [1.5, 5.5]
    (whole,) = arrange(tree, most=1).nodes
    assert whole.text == "… 8 more leaves" and whole.kind == "fold"


def test_names_are_never_formulas():
    tree = grow("max_edge", FeatureSpace.from_bounds((0, 1), ["$\\frac{$"]), None, None, max_depth=2)
    figure = Figure(layout="constrained")
    ax = figure.subplots()
    tree.plot(np.arange(4.0), ax)
    figure.canvas.draw()
    assert "$\\frac{$ < 0.5" in [text.get_text() for text in ax.texts]


def test_what_is_refused():
    with pytest.raises(HedgerowError, match="'shares' must hold one finite number"):
        LARGE.plot(VALUES, shares=[1.0])
    with pytest.raises(HedgerowError, match="'most' must be at least 1"):
        LARGE.plot(VALUES, most=0)
