"""Where the budget goes, exactly, and what it adds up to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow.guarantee import Guarantee, convert

__all__ = ["Amount", "TreeBudget", "composed_epsilon", "forest_guarantee", "round_up", "times", "tree_epsilon"]

Amount = Fraction | float
"""A budget: an exact fraction, or ``math.inf``."""


def times(epsilon: Amount, share: Amount) -> Amount:
    """Return ``share * epsilon`` without rounding; a share of infinity is infinite.

    >>> times(Fraction(1, 2), 0.5), times(math.inf, 0.1)
    (Fraction(1, 4), inf)
    """
    return math.inf if math.isinf(epsilon) else Fraction(epsilon) * Fraction(share)


def round_up(amount: Amount) -> float:
    """Return the smallest float that is not below an exact amount."""
    value = float(amount)
    return value if math.isinf(value) or Fraction(value) >= Fraction(amount) else math.nextafter(value, math.inf)


@dataclass(frozen=True)
class TreeBudget:
    """What one tree spends on a record that is in it: on each level, on medians before it, and in the leaves.

    Attributes
    ----------
    level : Amount
        One selection of a split (0: none).
    median : Amount
        One candidate median.
    n_medians : int
        Candidate medians a cell. A record is in all of them, so they cost ``n_medians * median``.
    leaves : Amount
        The leaf counts.
    depth : int
        Number of levels.
    """

    level: Amount
    median: Amount
    n_medians: int
    leaves: Amount
    depth: int

    @property
    def total(self) -> Amount:
        """The true cost of the tree: ``depth (n_medians median + level) + leaves``.

        >>> half = Fraction(5, 2)  # the paper's table 1 at depth 1: epsilon 10, rho 1/2, K = 5
        >>> TreeBudget(half, half, 5, Fraction(5), 1).total
        Fraction(20, 1)
        """
        if math.isinf(self.leaves):
            return math.inf
        return self.depth * (self.n_medians * Fraction(self.median) + Fraction(self.level)) + Fraction(self.leaves)

    @classmethod
    def strict(cls, epsilon: Amount, depth: int, split_share: float, *, medians: bool) -> TreeBudget:
        """Spend exactly epsilon: one choice a level (or one median, for a column drawn at random)."""
        share = Fraction(split_share) if depth else Fraction(0)
        each = times(epsilon, share / max(depth, 1))
        level, median = (Fraction(0), each) if medians else (each, Fraction(0))
        return cls(level, median, int(medians), times(epsilon, 1 - share), depth)

    @classmethod
    def paper(cls, epsilon: Amount, depth: int, split_share: float, *, n_medians: int, random: bool) -> TreeBudget:
        """Spend what the paper spends and calls epsilon."""
        share = Fraction(split_share) if depth else Fraction(0)
        each = times(epsilon, share / max(depth, 1) / (1 if random else 2))
        return cls(Fraction(0) if random else each, each, n_medians, times(epsilon, 1 - share), depth)


def forest_guarantee(total: Amount, delta: float, *, neighbours: str, simulation: bool, notes: list[str]) -> Guarantee:
    """State an add/remove cost as a guarantee, under the neighbours asked for."""
    claim = Guarantee(
        round_up(total),
        delta,
        protects="record",
        trust="central",
        neighbours="add/remove",
        simulation=simulation,
        notes=tuple(notes),
    )
    return convert(claim, neighbours)


def tree_epsilon(epsilon: Fraction, delta: float, n_trees: int, depth: int, split_share: float) -> Fraction:
    """Return the largest budget of each of ``n_trees`` trees on the same records that composes to (epsilon, delta).

    Every selection and every leaf release is pure-DP, hence dominated by randomised response, whose privacy-loss
    distributions ``dp-accounting`` convolves with pessimistic rounding. Needs the extra ``hedgerow[accounting]``.
    """
    low = Fraction(epsilon) / n_trees
    high = Fraction(epsilon)
    for _ in range(18):
        middle = (low + high) / 2
        fits = composed_epsilon(middle, delta, n_trees, depth, split_share) <= float(epsilon) * (1 - 1e-9)
        low, high = (middle, high) if fits else (low, middle)
    return low


def composed_epsilon(each: Fraction, delta: float, n_trees: int, depth: int, split_share: float) -> float:
    """Return the epsilon at ``delta`` of ``n_trees`` trees with a budget of ``each``, composed."""
    try:
        from dp_accounting.pld import common, privacy_loss_distribution
    except ImportError as error:
        raise HedgerowError(
            "'delta' > 0 composes trees with dp-accounting: install hedgerow[accounting], or pass delta=0."
        ) from error

    budget = TreeBudget.strict(each, depth, split_share, medians=False)
    parts = [(float(budget.leaves), n_trees)]
    if depth and budget.level:
        parts.append((float(budget.level), n_trees * depth))
    # Losses are rounded up to multiples of the interval: fine against the smallest part.
    interval = max(min(e for e, _ in parts) / 50, 1e-5)
    total: Any = None
    for epsilon, times_used in parts:
        pure = common.DifferentialPrivacyParameters(epsilon * (1 + 1e-12), 0.0)
        loss = privacy_loss_distribution.from_privacy_parameters(pure, value_discretization_interval=interval)
        loss = loss.self_compose(times_used)
        total = loss if total is None else total.compose(loss)
    return float(total.get_epsilon_for_delta(delta))
