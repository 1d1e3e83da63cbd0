"""Choose rule, depth, leaf size and message from public data and the known noise: no private record is read.

The error of a design is predicted as

    within-leaf variance of the label   (five-fold on public records, corrected for the fitted means)
  + sum over leaves of share * error of the leaf's private mean,

where the second part follows from the closed-form moments of the message for ``n_holders`` holders spread like the
public records, blended with the public means as the model does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.partition import grow
from hedgerow.partition.tree import Partition
from hedgerow.randomness import SeededRandomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.tree.bits import BitsEncoding, split_epsilon
from hedgerow.tasks.tree.cells import KaryEncoding, SubsetEncoding, UnaryCellEncoding
from hedgerow.tasks.tree.encoding import Encoding
from hedgerow.types import FloatArray, IntArray, RealArray

__all__ = ["PAPER", "RESPONSES", "Choice", "Message", "choose_design", "level_shares", "predict_error", "resolve"]


# What is tried, by hand; the choice among these is by predicted error, from public records and the law of the noise.
SHARES = (0.3, 0.5, 0.7)  # of epsilon, for the cell
LEVELS: tuple[int, ...] = (1, 2, 4)  # steps of the label
LEAF_SIZES = (5, 10, 20, 40, 80)  # least numbers of public records, each twice the last
MAX_DEPTH = 8  # 256 leaves
FOLDS = 5
_NOISE_FOLDS = 2  # of them, in which noise is predicted too: it differs little, and takes most of the time
_MOST_ROWS = 4000  # public records: more take longer
_CELLS = {e.response: e for e in (UnaryCellEncoding, KaryEncoding, SubsetEncoding)}
RESPONSES = ("bits", *_CELLS)
"""Names of the messages a holder can be asked for."""


@dataclass(frozen=True)
class Message:
    """What a holder sends: the response, rho for ``"bits"`` and the number of label steps."""

    response: str
    cell_share: float
    n_steps: int

    def encoding(self, epsilon: float, n_leaves: int) -> Encoding:
        """Return the encoding for a tree with ``n_leaves`` leaves."""
        return _encoding(self, epsilon, n_leaves)


@lru_cache(maxsize=4096)
def _encoding(message: Message, epsilon: float, n_leaves: int) -> Encoding:
    if message.response == "bits":
        return BitsEncoding(epsilon, n_leaves, message.n_steps, message.cell_share)
    return _CELLS[message.response](epsilon, n_leaves, message.n_steps)


PAPER: dict[str, Any] = {
    "rule": "max_edge",
    "max_depth": 4,
    "min_samples_leaf": 20,
    "cell_share": 0.5,
    "response": "bits",
}
"""A design with nothing left to choose: LPDT-M and the report of the paper, (3)."""


@dataclass(frozen=True)
class Choice:
    """A design with its predicted mean squared error."""

    rule: str
    max_depth: int
    min_samples_leaf: int
    message: Message
    predicted_mse: float


def resolve(  # noqa: PLR0913 - what the choice depends on
    space: FeatureSpace,
    Z: RealArray | None,
    y: RealArray | None,
    *,
    epsilon: float,
    bounds: tuple[float, float],
    n_holders: int | None,
    rule: str,
    max_depth: int | str,
    min_samples_leaf: int | str,
    cell_share: float | str,
    response: str,
    n_steps: int | None,
    by_class: bool = False,
    blend: bool = True,
) -> Choice:
    """Fill in whatever is ``"auto"``; what the user has fixed stays fixed."""
    candidates = _messages(epsilon, bounds, response, cell_share, n_steps)
    if by_class:
        candidates = [m for m in candidates if m.response != "bits"]
        if not candidates:
            raise HedgerowError("The 'response' parameter must be 'auto', 'unary', 'k_ary' or 'subset' for classes.")
    if Z is None or y is None:
        return _without_data(len(space), epsilon, n_holders, rule, max_depth, min_samples_leaf, candidates)
    rules = ["max_edge", "cart"] if rule == "auto" else [rule]
    depths = range(MAX_DEPTH + 1) if max_depth == "auto" else [_whole(max_depth, "max_depth")]
    sizes = [s for s in LEAF_SIZES if 2 * s <= len(y)] or [1]
    sizes = sizes if min_samples_leaf == "auto" else [_whole(min_samples_leaf, "min_samples_leaf")]
    if len(rules) == len(depths) == len(sizes) == len(candidates) == 1 or len(y) < 2 * FOLDS:
        depth = depths[0] if len(depths) == 1 else 0
        return Choice(rules[0], depth, sizes[0], candidates[0], math.nan)
    return choose_design(
        space, Z, y, epsilon=epsilon, bounds=bounds, n_holders=n_holders or 10 * len(y), rules=rules, depths=depths,
        leaf_sizes=sizes, candidates=candidates, by_class=by_class, blend=blend,
    )  # fmt: skip


def _whole(value: int | str, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise HedgerowError(f"The '{name}' parameter must be an int or 'auto'. Got {value!r} instead.")
    return int(value)


def _messages(
    epsilon: float, bounds: tuple[float, float], response: str, cell_share: float | str, n_steps: int | None
) -> list[Message]:
    """Return the messages to choose from, given what the user has fixed."""
    if response not in (*RESPONSES, "auto"):
        names = [*RESPONSES, "auto"]
        raise HedgerowError(f"The 'response' parameter must be one of {names}. Got {response!r} instead.")
    if isinstance(cell_share, str) and cell_share != "auto":
        raise HedgerowError(f"The 'cell_share' parameter must be a number or 'auto'. Got {cell_share!r} instead.")
    fixed = 0.5 if cell_share == "auto" else float(cell_share)
    split_epsilon(epsilon, fixed)
    out = []
    if response in ("auto", "bits"):
        for share in SHARES if cell_share == "auto" else (fixed,):
            default = LabelGrid.for_epsilon(bounds, split_epsilon(epsilon, share)[1]).n_steps
            out.append(Message("bits", share, n_steps or default))
    names = list(_CELLS)
    steps = LEVELS
    if response != "auto":
        # A named response rounds the label to an end of its bounds: the fewest cells.
        names = [name for name in _CELLS if name == response]
        steps = LEVELS[:1]
    if n_steps:
        steps = (n_steps,)
    return out + [Message(name, fixed, s) for name in names for s in steps]


def _without_data(
    d: int,
    epsilon: float,
    n_holders: int | None,
    rule: str,
    max_depth: int | str,
    min_samples_leaf: int | str,
    candidates: list[Message],
) -> Choice:
    """Choose without public records: suppose a uniform label whose explained variance halves with each edge.

    A tree of depth s leaves ``2**(-2 s/d)`` of half the variance of a uniform label unexplained.
    """
    n = n_holders or 10_000
    size = 1 if min_samples_leaf == "auto" else _whole(min_samples_leaf, "min_samples_leaf")
    depths = range(MAX_DEPTH + 1) if max_depth == "auto" else [_whole(max_depth, "max_depth")]
    scores = {}
    for depth in depths:
        for m in candidates:
            leaves = 1 << min(depth, 10)
            levels = m.n_steps + 1
            shares = np.full((leaves, levels), 1 / (leaves * levels))
            noise = leaf_errors(m.encoding(epsilon, leaves), shares, n, None).mean() / m.n_steps**2
            scores[depth, m] = 2 ** (-2 * depth / d) / 24 + noise
    depth, message = min(scores, key=scores.__getitem__)
    return Choice("max_edge" if rule == "auto" else rule, depth, size, message, math.nan)


def level_shares(leaf: npt.NDArray[np.integer], y: RealArray, grid: LabelGrid, n_leaves: int) -> FloatArray:
    """Return the expected shares of (leaf, level) after random rounding of public labels."""
    position = (np.clip(y, grid.low, grid.high) - grid.low) / grid.step
    floor = np.minimum(np.floor(position), grid.n_steps - 1).astype(np.int64)
    up = position - floor
    cell = leaf.astype(np.int64) * (grid.n_steps + 1) + floor
    size = n_leaves * (grid.n_steps + 1)
    counts = np.bincount(cell, weights=1 - up, minlength=size) + np.bincount(cell + 1, weights=up, minlength=size)
    return (counts / max(len(y), 1)).reshape(n_leaves, -1)


def leaf_errors(
    encoding: Encoding,
    shares: FloatArray,
    n: int,
    public_error: FloatArray | None,
    reading: FloatArray | None = None,
) -> FloatArray:
    """Return the predicted squared error of each leaf value, in squared label steps.

    The private mean has variance ``V`` by the message's closed form, and its error never exceeds that of a guess
    within the bounds; blended by precision with a public mean of variance ``P`` the error is ``V P / (V + P)``.
    """
    m = encoding.moments(encoding.expected_sums(shares, n), n, reading)
    D = np.maximum(m.denominator, 1e-9)
    r = m.numerator / D
    variance = np.maximum(m.var_n - 2 * r * m.cov + r * r * m.var_d, 0.0) / D**2
    if public_error is not None:
        return np.asarray(variance * public_error / np.maximum(variance + public_error, 1e-300))
    return np.asarray(np.minimum(variance, encoding.n_steps**2 / 6.0))


def predict_error(
    message: Message,
    epsilon: float,
    grid: LabelGrid,
    leaf: IntArray,
    y: RealArray,
    n_leaves: int,
    n_holders: int,
    *,
    by_class: bool = False,
    blend: bool = True,
) -> float:
    """Return the predicted excess error (noise and sampling of private means) in squared label units.

    ``by_class`` reads ``y`` as class codes and adds the errors of all class probabilities.
    """
    shares = level_shares(leaf, y, grid, n_leaves)
    count = np.maximum(np.bincount(leaf, minlength=n_leaves), 1)
    encoding = message.encoding(epsilon, n_leaves)
    mass = shares.sum(axis=1)
    if not by_class:
        public = _leaf_variance(leaf, y, n_leaves) / grid.step**2 / count if blend else None
        return float(mass @ leaf_errors(encoding, shares, n_holders, public)) * grid.step**2
    total = 0.0
    for c, unit in enumerate(np.eye(grid.n_steps + 1)):
        public = _leaf_variance(leaf, (y == c).astype(float), n_leaves) / count if blend else None
        total += float(mass @ leaf_errors(encoding, shares, n_holders, public, unit))
    return total


def _leaf_variance(leaf: npt.NDArray[np.integer], y: RealArray, n_leaves: int) -> FloatArray:
    """Return label variances by leaf, shrunk towards the pooled one with the weight of two records."""
    count = np.bincount(leaf, minlength=n_leaves)
    mean = np.bincount(leaf, weights=y, minlength=n_leaves) / np.maximum(count, 1)
    square = np.bincount(leaf, weights=(y - mean[leaf]) ** 2, minlength=n_leaves)
    pooled = square.sum() / max(len(y) - (count > 0).sum(), 1)
    return np.asarray((square + 2 * pooled) / (np.maximum(count - 1, 0) + 2))


def _cuts(tree: Partition, depths: Sequence[int]) -> Iterator[tuple[int, IntArray, int]]:
    """Yield (depth, leaf of each node, number of leaves) of the tree cut at those depths that it reaches.

    The least depth of all is always among them, so that every tree has a cut.
    """
    parent = np.zeros(tree.n_nodes, dtype=np.int64)
    inner = np.flatnonzero(tree.feature >= 0)
    parent[tree.left[inner]] = parent[tree.left[inner] + 1] = inner
    level = np.zeros(tree.n_nodes, dtype=np.int64)
    for k in range(1, tree.n_nodes):  # parents come before their children
        level[k] = level[parent[k]] + 1
    for depth in [d for d in depths if d <= tree.depth or d == depths[0]]:
        home = np.arange(tree.n_nodes)
        for node in np.flatnonzero(level > depth):
            home[node] = home[parent[node]]
        ends, index = np.unique(home[tree.feature < 0], return_inverse=True)
        leaf = np.full(tree.n_nodes, -1)
        leaf[tree.feature < 0] = index
        yield depth, leaf, len(ends)


def choose_design(
    space: FeatureSpace,
    Z: RealArray,
    y: RealArray,
    *,
    epsilon: float,
    bounds: tuple[float, float],
    n_holders: int,
    rules: Sequence[str],
    depths: Iterable[int],
    leaf_sizes: Iterable[int],
    candidates: Sequence[Message],
    by_class: bool = False,
    blend: bool = True,
) -> Choice:
    """Return the design with the least predicted error over the given candidates.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 2)); y = np.where(X[:, 0] < 0.5, 0.0, 1.0)
    >>> space = FeatureSpace.from_public(X)
    >>> few = [Message("unary", 0.5, 1)]
    >>> options = dict(bounds=(0.0, 1.0), rules=["cart"], depths=range(5), leaf_sizes=[10], candidates=few)
    >>> choose_design(space, X, y, epsilon=2.0, n_holders=10_000, **options).max_depth
    1
    """
    Z, y, fold = _folds(Z, y)
    depths = sorted(set(depths))
    grids = {m: LabelGrid(*bounds, m.n_steps) for m in candidates}
    within: dict[tuple[str, int, int], list[float]] = {}
    noise: dict[tuple[str, int, int, Message], list[float]] = {}
    seen: dict[tuple[int, int, bytes], tuple[float, list[float]]] = {}  # near the root most trees of a fold are alike
    for rule, size, f in itertools.product(rules, leaf_sizes, range(FOLDS)):
        train = fold != f
        Y = np.eye(int(bounds[1]) + 1)[y.astype(np.int64)] if by_class else y[:, None]
        limits = {"max_depth": depths[-1], "min_samples_leaf": size}
        tree = grow(rule, space, Z[train], Y[train], **limits, randomness=SeededRandomness(f))
        ends = np.flatnonzero(tree.feature < 0)[np.argsort(tree.leaf_of_node[tree.feature < 0])]
        at = ends[tree.apply(Z)]
        for depth, home, n_leaves in _cuts(tree, depths):
            leaf = home[at]
            key = (f, n_leaves, leaf.tobytes())
            if key not in seen:
                options = {"by_class": by_class, "blend": blend}
                asked = candidates if f < _NOISE_FOLDS else ()
                errors = [predict_error(m, epsilon, grids[m], leaf, y, n_leaves, n_holders, **options) for m in asked]
                seen[key] = (sum(_within(leaf, column, train, n_leaves) for column in Y.T), errors)
            spread, errors = seen[key]
            within.setdefault((rule, depth, size), []).append(spread)
            for m, error in zip(candidates, errors, strict=False):
                noise.setdefault((rule, depth, size, m), []).append(error)
    # A design must be possible in every fold: a depth that some fold's tree did not reach adds nothing there.
    scores = {
        key: float(np.mean(within[key[:3]]) + np.mean(errors))
        for key, errors in noise.items()
        if len(within[key[:3]]) == FOLDS and len(errors) == _NOISE_FOLDS
    }
    best = min(scores, key=scores.__getitem__)
    return Choice(*best, scores[best])


def _folds(Z: RealArray, y: RealArray) -> tuple[RealArray, RealArray, IntArray]:
    """Shuffle public records (a fixed shuffle: they are public) into folds, at most 4,000 of them."""
    order = np.argsort(SeededRandomness(0).uint64(len(y)))[:_MOST_ROWS]
    return Z[order], y[order], np.arange(len(order)) % FOLDS


def _within(leaf: IntArray, y: RealArray, train: npt.NDArray[np.bool_], n_leaves: int) -> float:
    """Return the variance of labels within leaves, on held-out records.

    The squared error about the mean of the training records exceeds it by that mean's own variance.
    """
    count = np.bincount(leaf[train], minlength=n_leaves)
    mean = np.bincount(leaf[train], weights=y[train], minlength=n_leaves) / np.maximum(count, 1)
    mean = np.where(count > 0, mean, y[train].mean())
    own = _leaf_variance(leaf[train], y[train], n_leaves) / np.maximum(count, 1)
    held = ~train
    return float(np.mean((y[held] - mean[leaf[held]]) ** 2 - own[leaf[held]]))
