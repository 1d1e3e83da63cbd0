"""The budget of a whole fit: every release is priced exactly before its noise is drawn."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from hedgerow.checks import check_epsilon
from hedgerow.errors import BudgetError, HedgerowError
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.mechanisms.normal import gdp_mu
from hedgerow.mechanisms.rounded_gaussian import rounded_gaussian
from hedgerow.randomness import Randomness
from hedgerow.types import IntArray

__all__ = ["GaussianPurse", "LaplacePurse", "Purse", "Release", "open_purse"]


class Release:
    """A vector of whole numbers, to be released with noise, at a price that was fixed beforehand.

    Attributes
    ----------
    weight : int
        What the caller multiplies contributions with (counts) or cuts them into (levels of a clipped residual).
    deviation : float
        Standard deviation of the noise, in units of the weighted sum.
    cost : Fraction
        ``mu**2`` or epsilon.
    """

    def __init__(self, purse: Purse, weight: int, deviation: float, cost: Fraction, bits: int, norm: int) -> None:
        self.purse = purse
        self.weight = weight
        self.deviation = deviation
        self.cost = cost
        self._bits = bits
        self._norm = norm

    def noisy(self, sums: IntArray, randomness: Randomness) -> IntArray:
        """Charge the purse, then add noise to every entry."""
        self.purse.charge(self.cost)
        return sums + self.purse.noise(self, sums.size, randomness).reshape(sums.shape)

    @property
    def bits(self) -> int:
        """Log of the noise width (Gaussian)."""
        return self._bits

    @property
    def norm(self) -> int:
        """L1 sensitivity of the weighted sum (Laplace)."""
        return self._norm


class Purse:
    """What may be spent under add/remove, and what has been.

    ``known_size`` says that neighbours have as many records, so that their number is public and costs nothing.
    """

    order = 2

    def __init__(self, total: Fraction | None, *, known_size: bool = False) -> None:
        self.total = total
        self.known_size = known_size
        self.spent = Fraction(0)

    @property
    def strength(self) -> float:
        """Return mu, or epsilon: how much may be learnt from one record; infinite without noise."""
        raise NotImplementedError

    def release(self, share: Fraction, norm: int, least: int) -> Release:
        """Price one release: contributions of norm at most ``weight * norm`` for a share of the whole.

        ``norm`` is the *square* of the Euclidean norm for a Gaussian purse and the L1 norm for a Laplace purse;
        the weight is at least ``least``.
        """
        raise NotImplementedError

    def noise(self, release: Release, n: int, randomness: Randomness) -> IntArray:
        """Draw the noise of a release."""
        raise NotImplementedError

    def divided(self, share: Fraction) -> tuple[Purse, Purse]:
        """Return two purses, the second with a share of this one: both together hold what it holds.

        >>> [purse.total for purse in LaplacePurse(Fraction(1)).divided(Fraction(1, 4))]
        [Fraction(3, 4), Fraction(1, 4)]
        """
        parts = (None, None) if self.total is None else ((1 - share) * self.total, share * self.total)
        first, second = (type(self)(part, known_size=self.known_size) for part in parts)
        return first, second

    def left(self, planned: Fraction) -> Fraction:
        """Return the share of the whole that is unspent; without noise nothing is spent but what was planned.

        >>> purse = LaplacePurse(Fraction(2))
        >>> purse.charge(Fraction(1, 2))
        >>> purse.left(Fraction(1, 3))
        Fraction(3, 4)
        """
        return 1 - planned if self.total is None else 1 - self.spent / self.total

    def charge(self, cost: Fraction) -> None:
        """Note a cost; refuse what was not budgeted for."""
        if self.total is None:
            return
        if self.spent + cost > self.total:
            raise BudgetError(f"a release would overspend the budget: {float(self.spent + cost)!r} is too much.")
        self.spent += cost


class GaussianPurse(Purse):
    r"""Gaussian differential privacy: ``mu**2`` adds up (Dong, Roth, Su 2022, corollary 2).

    A release of whole-number sums with squared sensitivity ``w**2 S`` and rounded Gaussian noise of width ``2**b``
    costs ``w**2 S / 4**b``, a rational number; b and the whole number w are the least such that ``w >= least`` and

    .. math:: w^2 S \, 4^{-b} \le \text{share} \cdot \mu^2 .

    Proof: see :func:`~hedgerow.mechanisms.rounded_gaussian.rounded_gaussian` for one release. Adaptive composition
    of mu_i-GDP mechanisms is ``sqrt(sum mu_i**2)``-GDP, also if later mu_i depend on earlier outputs while the sum is
    bounded (Smith and Thakurta 2022). The sum is kept in fractions, and ``charge`` bounds it.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> purse = GaussianPurse(Fraction(1, 16))
    >>> release = purse.release(Fraction(1, 4), 3, 1000)
    >>> _ = release.noisy(np.zeros(5, dtype=np.int64), SeededRandomness(0))
    >>> bool(purse.spent <= Fraction(1, 64)), round(float(64 * purse.spent), 2)
    (True, 1.0)
    """

    @property
    def strength(self) -> float:
        """Return mu."""
        return math.inf if self.total is None else math.sqrt(self.total)

    def release(self, share: Fraction, norm: int, least: int) -> Release:
        """Price one release; ``norm`` is the squared Euclidean norm at weight 1."""
        if self.total is None:
            return Release(self, least, 0.0, Fraction(0), 0, 0)
        above = share.numerator * self.total.numerator  # w**2 <= above / below * 4**b
        below = share.denominator * self.total.denominator * norm
        bits = max(0, math.ceil(math.log2(least) - (math.log2(above) - math.log2(below)) / 2) - 2)
        while (weight := math.isqrt((above << 2 * bits) // below)) < least:
            bits += 1
        return Release(self, weight, float(1 << bits), Fraction(weight**2 * norm, 4**bits), bits, 0)

    def noise(self, release: Release, n: int, randomness: Randomness) -> IntArray:
        """Draw rounded Gaussian noise."""
        return np.zeros(n, dtype=np.int64) if self.total is None else rounded_gaussian(release.bits, n, randomness)


class LaplacePurse(Purse):
    """Pure differential privacy: epsilons add up.

    A release of whole-number sums with L1 sensitivity ``w S`` and discrete Laplace noise of ratio
    ``r >= e**(-cost / (w S))`` costs at most ``cost``: noise is independent by coordinate, so a likelihood ratio is
    at most ``r**-(w S)``.

    Examples
    --------
    >>> purse = LaplacePurse(Fraction(1))
    >>> release = purse.release(Fraction(1, 2), 4, 10)
    >>> release.cost, release.weight, round(release.deviation, 1)
    (Fraction(1, 2), 10, 113.1)
    """

    order = 1

    @property
    def strength(self) -> float:
        """Return epsilon."""
        return math.inf if self.total is None else float(self.total)

    def release(self, share: Fraction, norm: int, least: int) -> Release:
        """Price one release; ``norm`` is the L1 norm at weight 1."""
        if self.total is None:
            return Release(self, least, 0.0, Fraction(0), 0, 0)
        cost = share * self.total
        unit = least * norm
        return Release(self, least, NoisyCounts(cost, unit).deviation * unit, cost, 0, unit)

    def noise(self, release: Release, n: int, randomness: Randomness) -> IntArray:
        """Draw discrete Laplace noise."""
        zeros = np.zeros(n, dtype=np.int64)
        return zeros if self.total is None else NoisyCounts(release.cost, release.norm).release(zeros, randomness)


def open_purse(epsilon: float, delta: float, neighbours: str) -> Purse:
    """Return the purse whose content makes the whole fit (epsilon, delta)-DP under ``neighbours``.

    A replacement is a removal and an addition: it moves every sum by at most twice as much. So "replace" gets half
    of mu (a quarter of its square), or half of epsilon. It leaves the number of records as it was: whatever is a
    function of that number is the same for both neighbours, and is told without noise and for nothing.

    Examples
    --------
    >>> round(open_purse(1.0, 1e-5, "add/remove").strength, 4), round(open_purse(1.0, 1e-5, "replace").strength, 3)
    (0.2681, 0.134)
    >>> open_purse(1.0, 0.0, "replace").strength
    0.5
    """
    if neighbours not in ("add/remove", "replace"):
        raise HedgerowError(
            f"The 'neighbours' parameter must be 'add/remove' or 'replace'. Got {neighbours!r} instead."
        )
    if not 0 <= delta < 1:
        raise HedgerowError(f"The 'delta' parameter must be in [0, 1). Got {delta!r} instead.")
    replaced = neighbours == "replace"
    factor = 2 if neighbours == "replace" else 1
    epsilon = check_epsilon(epsilon)
    if math.isinf(epsilon):
        return GaussianPurse(None, known_size=replaced) if delta else LaplacePurse(None, known_size=replaced)
    if delta:
        return GaussianPurse((gdp_mu(epsilon, float(delta)) / factor) ** 2, known_size=replaced)
    return LaplacePurse(Fraction(epsilon) / factor, known_size=replaced)
