"""How much of a private correction to a public model counts: one look at the private records, paid for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.central.anova.accounting import Purse, Release
from hedgerow.randomness import Randomness
from hedgerow.types import FloatArray, IntArray

__all__ = ["GATE", "Evidence", "Look", "agreement"]

# Chosen on ABA, AIR, CCP, CON, FIS and RED (two splits, epsilon .5, 1 and 10, 400 public records) among shares of .05
# to .2 and 1 to 2 deviations: `hedgerow bench run public-central` has what came of it. Privacy does not rest on them.
GATE = Fraction(1, 10)
"""Share of the budget for the look."""
_CAUTION = 1.645  # deviations, of a one-sided test at 5 %
_TINY = 1e-100  # its square is no zero
_LEVELS = 1 << 12  # least number of levels of one record's part in a sum
_QUANTILE = 0.9  # of public residuals, which is not clipped; the descent aims at the same
_REACH = 2.0  # corrections beyond so many times their root mean square are cut, in this look


@dataclass(frozen=True)
class Look:
    """What is public or was released before the look.

    Attributes
    ----------
    clip : float
        What is left over counts up to this size.
    reach : float
        Corrections count up to this size.
    freedom : float
        Degrees of freedom of the correction.
    size : float
        A noisy number of records.
    """

    clip: float
    reach: float
    freedom: float
    size: float

    @classmethod
    def of(cls, clip: float, corrections: FloatArray, residuals: FloatArray, *, freedom: float, size: float) -> Look:
        """Return the look at a correction of known values, by the sizes of public residuals.

        It clips where the fit did in the end, but not more than a tenth of public residuals: that clip is noisy.
        """
        mean = float(np.sqrt(np.mean(np.square(corrections).sum(axis=1)))) if len(corrections) else 0.0
        own = max(clip, float(np.quantile(residuals, _QUANTILE)) if len(residuals) else 0.0)
        return cls(own, _REACH * mean, freedom, size)

    def take(self, sums: Evidence) -> tuple[float, float]:
        r"""Return the factor of the correction, in [0, 1], and its standard deviation.

        With residuals r and corrections f, what is left over is ``e = r - f``. From the factor 1, one step of Newton's
        method for the loss whose derivative is ``psi(e)``, e clipped, leads to

        .. math:: t = 1 + \frac{\sum \psi(e) f - \sigma^2 \nu - 1.645\, s}{\sum \psi'(e) f^2}, \qquad
                  s^2 = \text{noise}^2 + \sigma^2 \sum \psi'(e) f^2, \qquad \sigma^2 = \sum \psi(e)^2 / n .

        The first sum is too large by ``sigma**2`` for each degree of freedom, for the correction has seen these records
        (Mallows), and is known up to noise and chance, by which it is lowered: a correction that is worth nothing
        counts with probability 5 % at most, and then little. Nothing counts if the last sum may be noise.

        >>> look = Look(1.0, 0.5, 10.0, 1000.0)
        >>> [round(float(x), 2) for x in look.take(Evidence(0.0, 400.0, 250.0, 3.0))]
        [0.89, 0.05]
        >>> look.take(Evidence(-15.0, 40.0, 250.0, 30.0))[0]
        0.0
        """
        if sums.square <= _CAUTION * sums.noise:  # nothing can be said
            return 0.0, 1.0 if sums.noise else 0.0
        squares = sums.square * self.reach**2
        spread = max(sums.left, sums.noise) * self.clip**2 / self.size
        gain = sums.agreement * self.clip * self.reach - spread * self.freedom
        noise = sums.noise / 2 * self.clip * self.reach
        deviation = float(np.sqrt(noise**2 + spread * squares))
        lacking = (gain - _CAUTION * deviation) / squares
        return float(np.clip(1 + lacking, 0.0, 1.0)), min(1.0, deviation / squares)


@dataclass(frozen=True)
class Evidence:
    """Three noisy sums over the private records, each in units of the most that a record can add to it.

    Attributes
    ----------
    agreement : float
        Sum of ``psi(e) f``.
    square : float
        Sum of ``f**2`` where e is not clipped.
    left : float
        Sum of ``psi(e)**2``.
    noise : float
        Deviation of the noise in the last two; that in the first is half of it.
    """

    agreement: float
    square: float
    left: float
    noise: float

    @staticmethod
    def release(purse: Purse) -> Release:
        """Price the look: a record adds at most (2 w, w, w), of squared norm 6 w**2 and L1 norm 4 w."""
        return purse.release(Fraction(1), 6 if purse.order == 2 else 4, _LEVELS)

    @classmethod
    def of(cls, release: Release, sums: IntArray, randomness: Randomness) -> Evidence:
        """Charge, add noise, and say how much."""
        noisy = release.noisy(sums, randomness) / release.weight
        return cls(float(noisy[0]) / 2, float(noisy[1]), float(noisy[2]), release.deviation / release.weight)


def agreement(left: FloatArray, corrections: FloatArray, clip: float, reach: float, weight: int) -> FloatArray:
    r"""Return each record's part of the sums, as whole numbers: at most ``2 w`` in size, and twice from 0 to w.

    .. math:: 2 w \frac{\langle e, f\rangle}{\max(|e|, c) \max(|f|, F)}, \qquad
              w \frac{|f|^2}{\max(|f|, F)^2} [|e| \le c], \qquad w \frac{\min(|e|, c)^2}{c^2}

    Everything is element by element, so that a record's part depends on that record alone.

    >>> agreement(np.array([[3.0], [-1.0]]), np.array([[1.0], [4.0]]), 2.0, 2.0, 100).tolist()
    [[100.0, 0.0, 100.0], [-100.0, 100.0, 25.0]]
    """
    product = np.zeros(len(left))
    before = np.zeros(len(left))
    square = np.zeros(len(left))
    for e, f in zip(left.T, corrections.T, strict=True):
        product += e * f
        before += e * e
        square += f * f
    most = max(clip, _TINY)
    length = np.maximum(np.sqrt(square), max(reach, _TINY))
    size = np.maximum(np.sqrt(before), most)
    first = np.clip(np.rint(2 * weight * (product / (size * length))), -2 * weight, 2 * weight)
    second = np.clip(np.rint(weight * (square / (length * length))), 0, weight) * (size <= most)
    third = np.clip(np.rint(weight * np.minimum(before / (most * most), 1.0)), 0, weight)
    return np.column_stack([first, second, third])
