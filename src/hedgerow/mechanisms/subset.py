"""Subset selection: report a random set of categories that contains the true one a little too often."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, exp_below
from hedgerow.mechanisms.categorical import CategoricalMechanism
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, bernoulli
from hedgerow.types import BoolArray

__all__ = ["AUDITS", "SubsetSelection", "uniform_subsets"]


@dataclass(frozen=True)
class SubsetSelection(CategoricalMechanism):
    r"""Report ``size`` of the ``k`` categories; sets that hold the true one weigh ``e**epsilon``, others 1.

    .. math:: p = P(v \in S) \le \frac{s e^\varepsilon}{s e^\varepsilon + k - s}, \qquad
              q = \frac{p (s-1) + (1-p) s}{k-1}

    Proof that it is epsilon-DP: given (not) containing ``v`` the set is uniform, so the likelihoods of a set
    are in the ratio ``[p / C(k-1,s-1)] / [(1-p) / C(k-1,s)] = p (k-s) / ((1-p) s) <= e**epsilon``, because
    the dyadic ``p`` is rounded down.

    Parameters
    ----------
    epsilon : float
        Privacy budget of one report.
    n_inputs : int
        Number of categories, at least 2.
    size : int, optional
        Size of the set; by default the one with the least variance, ``k / (e**epsilon + 1)``, at least 1.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> mechanism = SubsetSelection(1.0, 8)
    >>> mechanism.size
    2
    >>> mechanism.randomize(np.array([3]), SeededRandomness(0)).astype(int).tolist()
    [[0, 0, 0, 0, 0, 1, 1, 0]]
    """

    epsilon: float
    n_inputs: int
    size: int = 0
    hold: int = field(init=False, repr=False)
    name = "subset selection"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        k = check_positive(self.n_inputs, name="n_inputs", least=2)
        object.__setattr__(self, "n_inputs", k)
        size = self.size or max(1, min(k - 1, round(k / (math.exp(min(self.epsilon, 700.0)) + 1))))
        if not 1 <= check_positive(size, name="size") < k:
            raise HedgerowError(f"The 'size' parameter must be in 1 .. {k - 1}. Got {self.size!r} instead.")
        object.__setattr__(self, "size", int(size))
        hold = ONE
        if not math.isinf(self.epsilon):
            low = exp_below(self.epsilon)
            hold = math.floor(ONE * size * low / (size * low + k - size))
        object.__setattr__(self, "hold", hold)
        self._check_informative()

    @property
    def p(self) -> Fraction:
        """Return the probability that the set holds the own category."""
        return Fraction(self.hold, ONE)

    @property
    def q(self) -> Fraction:
        """Return the probability that the set holds another given category."""
        return (self.size - self.p) / (self.n_inputs - 1)

    @property
    def joint(self) -> tuple[Fraction, Fraction]:
        """Return P(both in the set): the own and another category, and two others."""
        p = self.p
        s = self.size
        k = self.n_inputs
        own = p * Fraction(s - 1, k - 1)
        if k == 2:
            return own, Fraction(0)
        other = (p * (s - 1) * (s - 2) + (1 - p) * s * (s - 1)) / ((k - 1) * (k - 2))
        return own, other

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> BoolArray:
        """Return a boolean matrix, one row a report with ``size`` ones."""
        own = self._check(values)
        source = as_randomness(randomness)
        n = own.size
        k = self.n_inputs
        hold = bernoulli(self.hold, n, source)
        picked = uniform_subsets(k - 1, self.size, hold, source)
        bits = np.empty((n, k), dtype=bool)
        columns = np.arange(k - 1)
        rows = np.arange(n)[:, None]
        bits[rows, columns + (columns >= own[:, None])] = picked  # the others, with the own one skipped
        bits[np.arange(n), own] = hold
        return bits

    def law(self, value: int) -> Law:
        """Return the exact law over all ``C(k, size)`` sets (as sorted tuples)."""
        k = self.n_inputs
        s = self.size
        outputs = tuple(itertools.combinations(range(k), s))
        inside = math.comb(k - 1, s - 1)
        outside = math.comb(k - 1, s)
        weights = tuple(self.hold * outside if value in o else (ONE - self.hold) * inside for o in outputs)
        return Law(outputs, weights)

    def outcomes(self, drawn: npt.NDArray[Any]) -> list[Hashable]:
        """Return the sets."""
        return [tuple(np.flatnonzero(row).tolist()) for row in drawn]

    def words(self) -> str:
        """Return the odds of the true category and of each other one."""
        return (
            f"a set of {self.size} out of {self.n_inputs} categories is named: the true one is in it with probability "
            f"{percent(self.p)}, each other one with {percent(self.q)}"
        )


def uniform_subsets(m: int, size: int, fewer: BoolArray, source: Randomness) -> BoolArray:
    """Return a uniform subset of ``m`` for each row: of ``size - 1`` where ``fewer``, else of ``size``.

    Floyd's algorithm, all rows at once: for j = m-s .. m-1 take a uniform t <= j, or j if t is taken.
    """
    picked = np.zeros((len(fewer), m), dtype=bool)
    rows = np.arange(len(fewer))
    for step in range(size):
        # Rows that need one element fewer sit out the first step.
        active = rows if step else np.flatnonzero(~fewer)
        if active.size:
            j = m - size + step
            t = source.integers(j + 1, active.size)
            taken = picked[active, t]
            picked[active, np.where(taken, j, t)] = True
    return picked


AUDITS = (
    Audit(
        "subset selection",
        lambda epsilon: SubsetSelection(epsilon, 6),
        (Chance(0, lambda named: 0 in named), Chance(0, lambda named: 1 in named)),
    ),
)
