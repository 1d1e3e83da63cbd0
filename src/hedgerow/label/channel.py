"""What randomised classes say: the channel from a class to what is sent, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.top import TopResponse
from hedgerow.types import FloatArray, IntArray

__all__ = ["Channel", "check_prior", "information", "most_informative"]


def information(epsilon: float, shares: npt.ArrayLike, k: int) -> float:
    r"""Return what one report tells about a class, in nats, if the first k classes can be sent.

    .. math:: I = \sum_v \pi_v \sum_o P(o \mid v) \log \frac{P(o \mid v)}{\sum_w \pi_w P(o \mid w)}

    the mutual information of class and report under public shares :math:`\pi`, with the law of
    :class:`~hedgerow.mechanisms.top.TopResponse`.

    >>> [round(information(1.0, [0.5, 0.4, 0.05, 0.05], k), 3) for k in (1, 2, 3, 4)]
    [0.0, 0.099, 0.094, 0.088]
    """
    pi = np.asarray(shares, dtype=np.float64)
    law = TopResponse(epsilon, len(pi) - 1, tuple(range(k))).matrix()
    sent = pi @ law
    told = np.where(law > 0, law * np.log(np.where(law > 0, law, 1.0) / np.maximum(sent, 1e-300)), 0.0)
    return float(pi @ told.sum(axis=1))


def most_informative(epsilon: float, shares: npt.ArrayLike) -> tuple[int, ...]:
    """Return the classes that a report should be able to name, for public shares: the k likeliest, rising.

    Ghazi et al. (2021) choose k for the best chance that the label sent is the true one, which may be k = 1: the same
    word from everybody. Whoever learns from reports wants what they tell, so k has the most :func:`information`.

    >>> most_informative(1.0, [0.05, 0.5, 0.4, 0.05]), most_informative(6.0, [0.05, 0.5, 0.4, 0.05])
    ((1, 2), (0, 1, 2, 3))
    """
    pi = np.asarray(shares, dtype=np.float64)
    order = np.argsort(-pi, kind="stable")
    told = [information(epsilon, pi[order], k) for k in range(2, len(pi) + 1)]
    k = 2 + int(np.argmax(told))
    return tuple(sorted(order[:k].tolist()))


def check_prior(prior: object, n_classes: int) -> FloatArray:
    """Return public shares of classes, which sum to 1.

    >>> check_prior([1, 3], 2).tolist()
    [0.25, 0.75]
    """
    try:
        shares = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        shares = np.empty(0)
    fits = shares.shape == (n_classes,) and bool(np.isfinite(shares).all()) and bool((shares >= 0).all())
    if not fits or not 0 < shares.sum() < math.inf:
        raise HedgerowError(
            f"'prior' must be {n_classes} public shares, one a class in the order of 'classes'. Got {prior!r} instead."
        )
    total: FloatArray = shares / shares.sum()
    return total


@dataclass(frozen=True, eq=False)
class Channel:
    r"""Which report stands for which class, record by record, and the two probabilities of randomised response.

    With m the share of the classes that can be sent, a report o has the probability

    .. math:: f_o = p\,\pi_o + q\,(m - \pi_o) + (1 - m)/k

    so that :math:`\pi_o = (f_o - q m - (1-m)/k)/(p - q)`. m itself cannot be seen, for a class that cannot be sent is
    sent as any of the others alike; it stays what was publicly known.

    Attributes
    ----------
    response : TopResponse
        The law, on places.
    places : array of shape (n, C) or (1, C)
        The place of each class among the reports that can be sent, -1 for a class that cannot; one row for all, or one
        a record.
    """

    response: TopResponse
    places: IntArray

    @property
    def k(self) -> int:
        """The number of different reports."""
        return len(self.response.top)

    @property
    def _odds(self) -> tuple[float, float]:
        return float(self.response.response.p), float(self.response.response.q)

    def _blind(self, shares: FloatArray) -> FloatArray:
        """Return the part of a report's probability that says nothing about its class, as a column."""
        q = self._odds[1]
        m = np.where(self.places >= 0, shares, 0.0).sum(axis=1, keepdims=True)
        column: FloatArray = q * m + (1 - m) / self.k
        return column

    def reports(self, shares: FloatArray) -> FloatArray:
        """Return the probability of each report for class shares, of shape (n, k)."""
        p, q = self._odds
        return np.asarray(self._blind(shares) + (p - q) * self._sorted(shares))

    def _sorted(self, shares: FloatArray) -> FloatArray:
        """Return the shares of classes by the place of their report."""
        out = np.zeros((len(shares), self.k + 1))
        places = np.broadcast_to(self.places, shares.shape)
        np.put_along_axis(out, np.where(places < 0, self.k, places), shares, axis=1)
        return out[:, : self.k]

    def shares(self, reports: FloatArray, known: FloatArray) -> FloatArray:
        """Return class shares for probabilities of reports; ``known`` are those of classes that cannot be sent.

        They are unbiased where the probabilities are, and may leave 0 .. 1.
        """
        p, q = self._odds
        if p <= q:  # one report only: it says nothing
            return known
        own = (reports - self._blind(known)) / (p - q)
        places = np.broadcast_to(self.places, known.shape)
        told = np.take_along_axis(own, np.maximum(places, 0), axis=1)
        return np.where(places >= 0, told, known)

    def residuals(self, sent: IntArray, shares: FloatArray) -> FloatArray:
        """Return unbiased estimates of (indicator of the class - share), one row a report; 0 where nothing is told."""
        return self.shares(np.eye(self.k)[sent], shares) - shares
