"""Randomisers of a category, and what their reports say about how many hold each."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.base import LocalMechanism
from hedgerow.types import FloatArray, IntArray

__all__ = ["CategoricalMechanism"]


class CategoricalMechanism(LocalMechanism):
    """A randomiser of a category whose report *supports* some of the categories.

    With ``p = P(v supported | v)`` and ``q = P(w supported | v)`` for ``w != v`` (both dyadic), the number of
    holders of ``w`` is estimated without bias from the number of reports that support it::

        c_hat = (support - n q) / (p - q)
        Var(c_hat) = [c p (1-p) + (n-c) q (1-q)] / (p-q)**2
    """

    @property
    def p(self) -> Fraction:
        """Return the probability that the own category is supported."""
        raise NotImplementedError

    @property
    def q(self) -> Fraction:
        """Return the probability that another given category is supported."""
        raise NotImplementedError

    def _check_informative(self) -> None:
        """Refuse an epsilon so small that rounding to 64 bits leaves nothing of the signal, or inverts it."""
        if self.p <= self.q:
            raise HedgerowError(
                f"The 'epsilon' parameter is too small for {self.n_inputs} categories. Got {self.epsilon!r} instead."
            )

    @property
    def joint(self) -> tuple[Fraction, Fraction]:
        """Return P(two given categories are both supported): one of them the own one, and neither of them.

        Bits that are drawn independently give ``(p q, q**2)``, the default.
        """
        return self.p * self.q, self.q**2

    def support(self, reports: npt.NDArray[Any]) -> IntArray:
        """Return for each category the number of reports that support it."""
        supported: IntArray = np.asarray(reports, dtype=bool).sum(axis=0, dtype=np.int64)
        return supported

    def estimate(self, support: npt.ArrayLike, n: int) -> FloatArray:
        """Return unbiased estimates of the numbers of holders in each category."""
        p = float(self.p)
        q = float(self.q)
        return (np.asarray(support, dtype=np.float64) - n * q) / (p - q)

    def variance(self, n: int, count: npt.ArrayLike = 0.0) -> FloatArray:
        """Return the variance of :meth:`estimate` for a category held by ``count`` of ``n`` holders."""
        p = float(self.p)
        q = float(self.q)
        c = np.asarray(count, dtype=np.float64)
        return (c * p * (1 - p) + (n - c) * q * (1 - q)) / (p - q) ** 2
