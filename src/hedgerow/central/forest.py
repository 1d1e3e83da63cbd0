"""Fitting a forest: who is in which tree, what each stage predicts, and how deep the trees go."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.central.accounting import Amount, TreeBudget, times, tree_epsilon
from hedgerow.central.kary import grow_kary
from hedgerow.central.leaves import leaf_noise, leaf_shares, plain_shares
from hedgerow.central.medians import MedianSplits
from hedgerow.central.model import ForestTree, add_stages
from hedgerow.central.scores import ClassTarget, ScalarTarget, Weights
from hedgerow.central.splits import BestSplits, grow_private
from hedgerow.central.window import NoisyHistogram, release_histogram
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.mechanisms.selection import selection
from hedgerow.partition.random import grow_random
from hedgerow.partition.tree import Partition
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.types import IntArray

__all__ = ["Fitted", "Problem", "Recipe", "fit_forest", "fit_tree"]

Range = tuple[float, float]
_STEPS = 1024  # grid steps of a label: rounding adds at most 2**-22 of the squared range to a variance
_BINS = 32  # of the noisy histogram of labels that ranges are found in; by hand, paid for whatever it is
_DEEPEST = 12  # levels of a tree where the depth is found: 4096 leaves; by hand


@dataclass(frozen=True)
class Problem:
    """What is predicted: a number in ``[low, high]``, or (``n_classes`` > 0) a class code.

    ``split_quantile`` and ``leaf_quantile`` say how far the windows reach in which labels are compared and in
    which leftovers are summed. ``occupancy`` is ``(a, b)``: a leaf should hold ``a + b / epsilon`` records,
    or that many times the root of a tree's records if ``rooted``.
    """

    y: npt.NDArray[Any]
    low: float = 0.0
    high: float = 1.0
    n_classes: int = 0
    weights: Weights = field(default_factory=lambda: Weights(squared=90, balance=38))
    split_quantile: float = 0.1
    leaf_quantile: float = 0.05
    occupancy: tuple[float, float] = (8.0, 16.0)
    rooted: bool = False


@dataclass(frozen=True)
class Recipe:
    """How the forest is grown; all of it public."""

    epsilon: Amount
    delta: float = 0.0
    n_trees: int = 10
    depth: int | None = None
    n_hint: int | None = None
    max_features: int | None = 5
    selection: str = "permute_and_flip"
    accounting: str = "strict"
    split_share: float = 0.5
    histogram_share: float = 0.05
    partition: bool = True
    stages: int | None = None
    n_bins: int = 32
    shrink: float | None = 2.0
    splits: str = "private"
    votes: bool = False
    n_jobs: int | None = None
    verbose: int = 0

    @property
    def counts_first(self) -> bool:
        """Whether a histogram of the labels is released before the trees."""
        blind = self.depth is None and self.n_hint is None
        return blind or (self.accounting == "strict" and self.splits == "private")


@dataclass(frozen=True)
class Fitted:
    """Stages, the depth, and the exact add/remove cost of the release."""

    stages: tuple[tuple[ForestTree, ...], ...]
    depth: int
    total: Amount


def fit_forest(
    space: FeatureSpace, Z: npt.NDArray[Any], problem: Problem, recipe: Recipe, source: Randomness
) -> Fitted:
    r"""Fit a forest in one or two stages.

    Proof of the cost with ``partition`` under add/remove: (1) a record's tree is drawn by a coin of its own, so
    fix all coins: the neighbours differ in one tree's records; (2) that record enters its own stage's histogram and
    its own tree, and nothing else but through what these released; (3) the cost is the histogram's share and the
    tree's, which add up to epsilon. Without ``partition`` it enters everything, and all costs add up.
    """
    group = source.child("assignment").integers(recipe.n_trees, len(Z)) if recipe.partition else None
    most = 1 if problem.n_classes or not recipe.counts_first or recipe.n_trees < 2 else 2
    n_stages = min(recipe.stages or most, most)
    first = math.ceil(recipe.n_trees / n_stages)
    shares = 1 if recipe.partition else n_stages
    histogram = times(recipe.epsilon, Fraction(recipe.histogram_share) / shares) if recipe.counts_first else Fraction(0)
    rest = recipe.epsilon if math.isinf(recipe.epsilon) else Fraction(recipe.epsilon) - shares * Fraction(histogram)

    values = problem.y.astype(np.float64)
    seen = None
    cells = None
    if recipe.counts_first:
        seen = np.arange(len(Z)) if group is None else np.flatnonzero(group < first)
        cells = _histogram(problem, values[seen], histogram, source.child("histogram", 0))
    n_tree = _records_a_tree(recipe, cells, first)
    if n_stages == 2 and recipe.stages is None and not _worth_two(recipe, n_tree):
        n_stages = 1
        first = recipe.n_trees
    depth, each = _depth_and_budget(recipe, problem, rest, n_tree)
    budget = _tree_budget(recipe, each, depth, len(space))

    stages = [_stage(space, Z, problem, recipe, budget, cells, values, group, range(first), source)]
    if n_stages == 2:
        left = values - add_stages(stages, Z, problem.low, problem.high)[:, 0]
        width = problem.high - problem.low
        later = np.arange(len(Z)) if group is None else np.flatnonzero(group >= first)
        around = replace(problem, low=-width, high=width)
        cells = _histogram(around, left[later], histogram, source.child("histogram", 1))
        rest_of = range(first, recipe.n_trees)
        stages.append(_stage(space, Z, around, recipe, budget, cells, left, group, rest_of, source))
    return Fitted(tuple(stages), depth, _total(recipe, budget, histogram, shares))


def _histogram(problem: Problem, values: npt.NDArray[Any], epsilon: Amount, source: Randomness) -> NoisyHistogram:
    if problem.n_classes:
        return release_histogram(values, -0.5, problem.n_classes - 0.5, problem.n_classes, epsilon, source)
    return release_histogram(values, problem.low, problem.high, _BINS, epsilon, source)


def _records_a_tree(recipe: Recipe, cells: NoisyHistogram | None, first: int) -> float:
    if recipe.n_hint is not None:
        return recipe.n_hint / (recipe.n_trees if recipe.partition else 1)
    if cells is None:
        return math.nan  # the depth was given
    return cells.n / (first if recipe.partition else 1)


def _worth_two(recipe: Recipe, n_tree: float) -> bool:
    """Whether records are many enough, for this epsilon, that a second stage finds more than noise."""
    n = n_tree * (recipe.n_trees if recipe.partition else 1)
    return n * float(recipe.epsilon) >= 1000


def _depth_and_budget(recipe: Recipe, problem: Problem, rest: Amount, n_tree: float) -> tuple[int, Amount]:
    each = rest if recipe.partition or math.isinf(rest) else Fraction(rest) / recipe.n_trees
    a, b = problem.occupancy if recipe.accounting == "strict" and recipe.shrink is not None else (25.0, 0.0)
    if recipe.depth is not None:
        depth = recipe.depth
    else:
        branches = recipe.n_bins if recipe.splits == "kary" else 2
        unit = math.sqrt(max(n_tree, 1.0)) if problem.rooted and b else 1.0
        levels = math.log(max(n_tree, 1.0) / (unit * (a + b / float(each))), branches)
        depth = min(max(round(levels) if b else math.floor(levels), 1), _DEEPEST)
    if recipe.delta and not recipe.partition and not math.isinf(rest):
        each = tree_epsilon(Fraction(rest), recipe.delta, recipe.n_trees, depth, recipe.split_share)
    return depth, each


def _tree_budget(recipe: Recipe, each: Amount, depth: int, d: int) -> TreeBudget:
    if recipe.splits == "random":
        return TreeBudget.strict(each, depth, 0.0, medians=False)
    medians = recipe.selection == "random"
    if recipe.accounting == "paper":
        n = 1 if medians else min(recipe.max_features or d, d)
        return TreeBudget.paper(each, depth, recipe.split_share, n_medians=n, random=medians)
    return TreeBudget.strict(each, depth, recipe.split_share, medians=medians)


def _total(recipe: Recipe, budget: TreeBudget, histogram: Amount, shares: int) -> Amount:
    if math.isinf(recipe.epsilon):
        return math.inf
    if recipe.delta and not recipe.partition:
        return recipe.epsilon  # composed to this, at delta, by tree_epsilon
    trees = 1 if recipe.partition else recipe.n_trees
    return shares * Fraction(histogram) + trees * Fraction(budget.total)


def planned_total(recipe: Recipe, d: int) -> Amount:
    """Return the cost of a fit with ``d`` columns, which is known before anything is drawn.

    The depth may come out of a private count, but it cancels: levels share what splits may cost. Only a depth of 0,
    which is never chosen, costs less.

    >>> planned_total(Recipe(Fraction(2), accounting="paper", depth=3), 5)
    Fraction(4, 1)
    """
    if math.isinf(recipe.epsilon):
        return math.inf
    share = Fraction(recipe.histogram_share) if recipe.counts_first else Fraction(0)
    histogram = times(recipe.epsilon, share)
    trees = 1 if recipe.partition else recipe.n_trees
    each = (Fraction(recipe.epsilon) - Fraction(histogram)) / trees
    return _total(recipe, _tree_budget(recipe, each, 1 if recipe.depth is None else recipe.depth, d), histogram, 1)


def _stage(
    space: FeatureSpace,
    Z: npt.NDArray[Any],
    problem: Problem,
    recipe: Recipe,
    budget: TreeBudget,
    cells: NoisyHistogram | None,
    values: npt.NDArray[np.float64],
    group: IntArray | None,
    trees: range,
    source: Randomness,
) -> tuple[ForestTree, ...]:
    """Fit the trees of one stage, each on its own records, in parallel."""
    later = trees.start > 0
    split, leaf = _windows(problem, recipe, cells, later)
    # Leftovers are pulled towards 0, labels towards the middle of their public range.
    prior = float(np.clip((0.0 - leaf[0]) / (leaf[1] - leaf[0]), 0.0, 1.0)) if later else 0.5

    def jobs() -> Any:
        for t in trees:
            rows = slice(None) if group is None else np.flatnonzero(group == t)
            own = source.child("tree", t)
            target = _target(problem, values[rows], split, leaf, own)
            yield space, Z[rows], target, recipe, budget, (leaf, prior), own

    if recipe.n_jobs in (None, 1):
        fitted = []
        for t, job in zip(trees, jobs(), strict=True):
            fitted.append(fit_tree(*job))
            if recipe.verbose:
                print(f"tree {t + 1} of {recipe.n_trees}", flush=True)
        return tuple(fitted)
    from joblib import Parallel, delayed

    return tuple(Parallel(n_jobs=recipe.n_jobs, verbose=recipe.verbose)(delayed(fit_tree)(*job) for job in jobs()))


def _windows(problem: Problem, recipe: Recipe, cells: NoisyHistogram | None, later: bool) -> tuple[Range, Range]:
    """Return the label windows of the split costs and of the leaf counts (the whole range in the first stage)."""
    whole = (problem.low, problem.high)
    if cells is None or problem.n_classes or recipe.accounting == "paper" or recipe.splits != "private":
        return whole, whole
    return cells.window(problem.split_quantile), cells.window(problem.leaf_quantile) if later else whole


def _target(problem: Problem, values: npt.NDArray[Any], split: Range, leaf: Range, source: Randomness) -> Any:
    if problem.n_classes:
        return ClassTarget(values.astype(np.int64), problem.n_classes, problem.weights)
    levels = LabelGrid(split[0], split[1], _STEPS).levels(values, source)
    return ScalarTarget(levels, _STEPS, problem.weights, LabelGrid(leaf[0], leaf[1], _STEPS).levels(values, source))


def fit_tree(
    space: FeatureSpace,
    Z: npt.NDArray[Any],
    target: Any,
    recipe: Recipe,
    budget: TreeBudget,
    scale: tuple[tuple[float, float], float],
    source: Randomness,
) -> ForestTree:
    """Grow one tree and release its leaf counts; costs ``budget.total`` under add/remove."""
    tree = _grow(space, Z, target, recipe, budget, source)
    if recipe.votes:
        return _vote(tree, target.counts(tree.apply(Z), tree.n_leaves), budget.leaves, source)
    counts = NoisyCounts(budget.leaves, target.unit)
    noisy = counts.release(target.counts(tree.apply(Z), tree.n_leaves), source)
    (low, high), middle = scale
    scalar = isinstance(target, ScalarTarget)
    if recipe.shrink is None:
        shares, size = plain_shares(noisy, target.unit)
        size = np.zeros_like(size)  # all trees count alike
    else:
        prior = np.array([1 - middle, middle]) if scalar else np.full(target.width, 1 / target.width)
        shares, size = leaf_shares(tree, noisy, target.unit, counts.deviation, prior, recipe.shrink)
    values = low + (high - low) * shares[:, 1:] if scalar else shares
    noise = (high - low) * leaf_noise(tree, noisy, target.unit, counts.deviation, recipe.shrink)
    return ForestTree(tree, values, np.sqrt(size + 1), noise)


def _grow(
    space: FeatureSpace, Z: npt.NDArray[Any], target: Any, recipe: Recipe, budget: TreeBudget, source: Randomness
) -> Partition:
    if recipe.splits == "random" or budget.depth == 0:
        return grow_random(space, None, source, max_depth=budget.depth, min_samples_leaf=1)
    if budget.n_medians:
        medians = MedianSplits(space, Z, target, budget, recipe.selection, source)
        return grow_private(space, Z, medians, budget.depth)
    each = selection(recipe.selection, budget.level, target.weights.sensitivity)
    limits: dict[str, Any] = {"n_bins": recipe.n_bins, "max_features": recipe.max_features, "randomness": source}
    if recipe.splits == "kary":
        return grow_kary(space, Z, target, each, depth=budget.depth, **limits)
    rule = BestSplits(space, Z, target, [each] * budget.depth, **limits)
    return grow_private(space, Z, rule, budget.depth)


def _vote(tree: Partition, counts: IntArray, epsilon: Amount, source: Randomness) -> ForestTree:
    """Release only each leaf's winning class: a class costs the records of all others, 0 or 1 more a record."""
    costs = counts.sum(axis=1, keepdims=True) - counts
    winner = selection("exponential", epsilon, 1).choose(costs, randomness=source)
    unsure = np.ones(tree.n_leaves)  # a winner does not tell by how much it won
    return ForestTree(tree, np.eye(counts.shape[1])[winner], np.ones(tree.n_leaves), unsure)
