"""Sizes of what groups are asked, in one place, so that an experiment can try others."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hedgerow.mechanisms.normal import gdp_mu

__all__ = ["Rules"]

_LEAST_CHECK = 100  # fewer holders could not tell harm from noise at any epsilon
_MOST_CHECK = 5000  # by then a correction of a fiftieth of the error variance passes whole at epsilon 1
_MOST_GROUPS = 6  # the matrix of the sums of all of them then has 1,536 rows, and takes seconds


@dataclass(frozen=True)
class Rules:
    """Numbers that nothing derives; ``hedgerow bench run aggregate-rules`` tries others, each set held out in turn.

    Attributes
    ----------
    asked : tuple of int
        Leaves of the trees that holders are asked about: 512 bits, a report of 10 kB.
    forest : tuple of int
        Leaves of the trees among whose leaf values corrections are looked for.
    draws : int
        Errors that public records leave open, drawn for a tree to follow together: the more, the nearer to their mean.
    per_group : float
        Noise of holders over groups squared at which one more pays. On two splits of six sets 2,800 with ``enough``
        of 1,500 gave .9975 of the error, whichever set was left out; on five splits of CAL, GAS and MET, with their own
        holders and with 1e5, it gave less in one of twelve means and more in eleven. So it stays by hand.
    check : float
        Share of holders who check, of many.
    enough : int
        Holders, at most a quarter, who check if that share is less: derivation in :meth:`groups`.

    Examples
    --------
    >>> Rules().groups(29_000, 1.0, 1e-6, 100), Rules().groups(150, 1.0, 1e-6, 100)
    ((13050, 13050, 2900), (150,))
    """

    asked: tuple[int, ...] = (16,) * 16
    forest: tuple[int, ...] = (32, 32, 8) * 32
    draws: int = 64
    per_group: float = 1400.0
    check: float = 0.1
    enough: int = 2750

    def groups(self, n: int, epsilon: float, delta: float, least: int) -> tuple[int, ...]:
        """Return how many holders each group has, the last of which checks; one group alone if they are too few.

        A check of m holders with radius c and B bins knows ``E[r f] / E f^2`` with a deviation of
        ``c sqrt(4 B sigma^2 / m^2 + 1 / m) / sqrt(E f^2)``. At epsilon 1 (sigma = 6 for one tree, and two servers),
        with c 1.6 times the root of the error variance and f a twentieth of it, 2,750 holders make that .15, and three
        deviations are the half by which a right correction may seem wrong and still pass whole.
        """
        check = min(n // 4, max(self.enough, int(self.check * n)), _MOST_CHECK)
        if check < max(least, _LEAST_CHECK):
            return (max(n, 1),)
        groups = _MOST_GROUPS
        if math.isfinite(epsilon):
            pays = math.sqrt(n * gdp_mu(epsilon, delta) / self.per_group)
            groups = min(max(round(pays), 1), _MOST_GROUPS)
        others = n - check
        return (*(others // groups + int(i < others % groups) for i in range(groups)), check)
