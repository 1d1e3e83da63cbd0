"""One report about a vector: an axis of a random basis, discrete and exactly auditable."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hedgerow.mechanisms.base import Law, LocalMechanism
from hedgerow.mechanisms.subset import SubsetSelection
from hedgerow.randomness import Randomness
from hedgerow.samplers import ONE, bernoulli
from hedgerow.types import FloatArray

__all__ = ["DirectionResponse", "random_signs"]


@dataclass(frozen=True)
class DirectionResponse(LocalMechanism):
    r"""Send one of ``2K`` signed axes of a random basis; the ``size`` nearest to the holder's vector weigh e**epsilon.

    Proof that it is epsilon-DP: the basis is drawn without looking at the record. Given it, the record counts only
    through the set S of the nearest axes, and each of the ``2K`` outputs has probability ``p/size`` (in S) or
    ``(1-p)/(2K-size)``, whose ratio is at most ``e**epsilon`` because the dyadic ``p`` is rounded down.

    By symmetry of the basis the mean of the output is ``kappa u`` for every unit vector u.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> mechanism = DirectionResponse(1.0, 4, 3)
    >>> u = np.tile([0.6, 0.0, 0.8, 0.0], (20_000, 1))
    >>> np.round(mechanism.total(u, SeededRandomness(0)) / (20_000 * mechanism.kappa), 1).tolist()
    [0.6, 0.0, 0.8, 0.0]
    """

    epsilon: float
    n_directions: int
    size: int
    name = "direction response"

    @classmethod
    def best(cls, epsilon: float, n_directions: int) -> DirectionResponse:
        """Return the one with the least noise."""
        return max((cls(epsilon, n_directions, s) for s in range(1, n_directions + 1)), key=lambda m: m.kappa)

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Number of sets that a vector can turn into (and more: those with both signs of an axis)."""
        return math.comb(2 * self.n_directions, self.size)

    @property
    def hold(self) -> int:
        """The probability of an axis in the set, times ``ONE``."""
        return SubsetSelection(self.epsilon, 2 * self.n_directions, self.size).hold

    @property
    def kappa(self) -> float:
        """``(p - (1-p) size/(2K-size)) E m``, m the mean of the ``size`` largest ``|<u, axis>|``."""
        K = self.n_directions
        s = self.size
        p = Fraction(self.hold, ONE)
        return float(p - (1 - p) * Fraction(s, 2 * K - s)) * _largest(K, s)

    def law(self, value: int) -> Law:
        """Return the exact law of the axis, given the basis and set number ``value``."""
        k = 2 * self.n_directions
        s = self.size
        own = next(itertools.islice(itertools.combinations(range(k), s), value, None))
        weights = tuple(self.hold * (k - s) if o in own else (ONE - self.hold) * s for o in range(k))
        return Law(tuple(range(k)), weights)

    def randomize_sets(self, sets: npt.NDArray[np.int64], source: Randomness) -> npt.NDArray[np.int64]:
        """Return axes; ``sets`` has a row of ``size`` axes a holder."""
        n = len(sets)
        k = 2 * self.n_directions
        s = self.size
        inside = bernoulli(self.hold, n, source)
        chosen = source.integers(s, n)
        other = source.integers(k - s, n)
        for axis in np.sort(sets, axis=1).T:  # the axes outside, in order: skip each one of the set
            other += other >= axis
        return np.where(inside, sets[np.arange(n), chosen], other)

    def total(self, u: FloatArray, source: Randomness) -> FloatArray:
        """Return the sum of what holders of unit vectors ``u`` send, as vectors."""
        K = self.n_directions
        out = np.zeros(self.n_directions)
        bases = np.random.default_rng(source.bits(64))  # public coins: they protect nothing
        for part in np.array_split(u, max(1, len(u) // 4096)):
            q, r = np.linalg.qr(bases.standard_normal((len(part), K, K)))
            q *= np.sign(np.einsum("nii->ni", r))[:, None, :]  # uniform over rotations and reflections
            c = np.einsum("nik,ni->nk", q, part)
            nearest = np.argsort(-np.abs(c), axis=1)[:, : self.size]
            sets = nearest + K * (np.take_along_axis(c, nearest, 1) < 0)
            axis = self.randomize_sets(sets, source)
            out += (q[np.arange(len(part)), :, axis % K] * np.where(axis < K, 1.0, -1.0)[:, None]).sum(axis=0)
        return out


def _largest(K: int, s: int) -> float:
    """Return the expected mean of the s largest absolute coordinates of a uniform unit vector in K dimensions."""
    from scipy.stats import binom, norm

    t = np.linspace(0.0, 9.0, 3001)
    above = sum(binom.sf(j, K, 2 * norm.sf(t)) for j in range(s))  # P(the j-th largest of K half-normals > t)
    return float(np.trapezoid(above, t)) / s / (math.sqrt(2) * math.exp(math.lgamma((K + 1) / 2) - math.lgamma(K / 2)))


def random_signs(t: FloatArray, source: Randomness) -> FloatArray:
    """Return 1 with probability ``floor(2**31 (1 + t)) / 2**32``, else -1: the mean is t, to 2**-31."""
    threshold = np.floor((1 + t) * 2.0**31).astype(np.int64)
    return np.where(source.uint32(len(t)).astype(np.int64) < threshold, 1.0, -1.0)
