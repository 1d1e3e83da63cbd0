r"""What choosing cuts by noisy labels does to the means of cells: the noise that chose them is still in them.

The tree of "cart" cuts where the two sides differ most, noise included, and the means of the cells come from the same
noisy labels. With Z the contrast of a chosen split in standard deviations, the noise in it points outward by b(Z)
deviations on average:

- If a curve goes straight through the node, contrasts near the best cut are A (1 - 2 u^2), u the distance from the
  middle in shares of the holders, and their noise moves as 2 W(u), W Brownian. The best cut is where 2 W(u) - 2 A u^2
  is largest; by scaling, the noise there is 2 A^(-1/3) W(c), c where W(c) - c^2 is largest. E c^2 = 0.2636 (Chernoff's
  law), so E max = 3 * 0.2636 and E W(c) = 4 * 0.2636: b = 2.11 Z^(-1/3). A step is found more surely and has less.
- If there is nothing to find, all of Z is noise. Over K columns with cuts between shares of a and 1 - a, contrasts are
  an Ornstein-Uhlenbeck process of length ``T = log((1-a)/a)`` for each, and the largest is about
  ``sqrt(2 log(2 K (1 + T)))``, give or take a half; m is that and a half. What is seen beyond m counts against it.

Together ``b(Z) = max(min(Z, 2 m - Z), min(Z, 2.11 Z^(-1/3)))``; tests/tasks/test_partly_public_selection.py simulates
nodes. Intervals reach that far inward in addition. Outward they need nothing: the noise is rather there already.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.partition.structure import node_levels
from hedgerow.partition.tree import Partition
from hedgerow.tasks.intervals import Ends
from hedgerow.tasks.tree.encoding import Moments
from hedgerow.types import BoolArray, FloatArray

__all__ = ["chosen_cuts", "node_sums", "outward", "reaching", "strays"]

_CHERNOFF = 8 * 0.2636  # twice E W(c), see above
_SHARE = 0.05  # least share of holders on a side that cuts are compared for; smaller ones change m by little
_MIDDLE = 1e-6  # share of an edge by which a cut may miss its middle and still halve it: rounding misses by 1e-15


def chosen_cuts(tree: Partition, fixed: BoolArray) -> BoolArray:
    """Return which nodes cut a number elsewhere than in the middle of its range there; ``fixed`` columns do not count.

    Rules that halve a cell choose among few cuts, and the histogram's are fixed.
    """
    out = np.zeros(tree.n_nodes, dtype=bool)
    boxes = {0: (tree.space.low, tree.space.high)}
    for node in range(tree.n_nodes):
        j = int(tree.feature[node])
        if j < 0:
            continue
        low, high = boxes.pop(node)
        below = high.copy()
        above = low.copy()
        if not tree.space.is_categorical[j]:
            cut = float(tree.threshold[node])
            off = abs(cut - (low[j] / 2 + high[j] / 2)) > _MIDDLE * (high[j] - low[j])
            out[node] = off and not fixed[j]
            below[j] = cut
            above[j] = cut
        child = int(tree.left[node])
        boxes[child] = (low, below)
        boxes[child + 1] = (above, high)
    return out


def node_sums(partition: Partition, levels: list[Any], values: FloatArray) -> FloatArray:
    """Return the sums over the cells below each node."""
    total = np.zeros(partition.n_nodes)
    leaf = partition.leaf_of_node
    total[leaf >= 0] = values[leaf[leaf >= 0]]
    for level in reversed(levels):
        inner = level[partition.feature[level] >= 0]
        total[inner] = total[partition.left[inner]] + total[partition.left[inner] + 1]
    return total


def outward(contrast: FloatArray, columns: int) -> FloatArray:
    """Return how much of a chosen contrast is noise on average, both in standard deviations.

    >>> outward(np.array([1.0, 2.0, 4.0, 16.0]), 2).round(2).tolist()
    [1.0, 2.0, 1.7, 0.84]
    """
    length = np.log((1 - _SHARE) / _SHARE)
    most = np.sqrt(2 * np.log(2 * max(columns, 1) * (1 + length))) + 0.5
    smooth = np.minimum(contrast, _CHERNOFF * np.maximum(contrast, 1e-9) ** (-1 / 3))
    return np.asarray(np.maximum(np.minimum(contrast, 2 * most - contrast), smooth))


def strays(partition: Partition, moments: Moments, chosen: BoolArray, columns: int, answers: float) -> FloatArray:
    """Return by how many levels the mean of each cell is too high on average, because of the cuts above it.

    ``answers`` is by how much the second round's answers multiply the spread of labels: cuts are chosen before them.
    """
    levels = node_levels(partition.feature, partition.left)
    names = ("numerator", "denominator", "var_n", "cov", "var_d")
    N, D, var_n, cov, var_d = (node_sums(partition, levels, getattr(moments, name)) for name in names)
    out = np.zeros(partition.n_nodes)
    for level in levels:
        inner = level[partition.feature[level] >= 0]
        a = partition.left[inner].astype(np.intp)
        out[a] = out[inner]
        out[a + 1] = out[inner]
        solid = chosen[inner] & (D[a] > 0) & (D[a + 1] > 0)
        a = a[solid]
        r = N[inner[solid]] / D[inner[solid]]
        noise = np.zeros(len(a))
        for side in (a, a + 1):
            spread = np.maximum(var_n[side] - 2 * r * cov[side] + r * r * var_d[side], 0.0)
            noise += spread / D[side] ** 2 / answers
        contrast = N[a] / D[a] - N[a + 1] / D[a + 1]
        deviation = np.sqrt(np.maximum(noise, 1e-300))
        too_far = np.sign(contrast) * outward(np.abs(contrast) / deviation, columns) * deviation
        whole = D[a] + D[a + 1]
        out[a] += too_far * D[a + 1] / whole
        out[a + 1] -= too_far * D[a] / whole
    leaf = partition.leaf_of_node
    by_cell = np.empty(partition.n_leaves)
    by_cell[leaf[leaf >= 0]] = out[leaf >= 0]
    return by_cell


def reaching(ends: Ends, too_high: FloatArray) -> Ends:
    """Return the interval, reaching as much further down as the mean is too high, or up.

    >>> low, high = reaching((np.zeros(2), np.ones(2)), np.array([0.5, -0.25]))
    >>> low.tolist(), high.tolist()
    ([-0.5, 0.0], [1.0, 1.25])
    """
    return ends[0] - np.maximum(too_high, 0.0), ends[1] + np.maximum(-too_high, 0.0)
