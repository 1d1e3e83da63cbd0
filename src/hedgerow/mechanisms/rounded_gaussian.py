"""Gaussian noise in whole steps with exactly the privacy of the continuous Gaussian: the rounded Gaussian.

The *discrete* Gaussian (weights ``e**(-k**2 / 2 sigma**2)``) is zCDP like the continuous one but not GDP. Rounding the
continuous Gaussian instead loses nothing, and can be drawn exactly, with integers only.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError
from hedgerow.kernels import native
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import CentralMechanism, Law
from hedgerow.mechanisms.gaussian import exact_delta
from hedgerow.mechanisms.normal import gdp_mu, normal_cdf
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import LazyCdf, exp_bounds
from hedgerow.types import BoolArray, IntArray

__all__ = ["AUDITS", "RoundedGaussian", "rounded_gaussian", "rounded_weights"]

Words = npt.NDArray[np.uint64]
_MOST_BITS = 56  # a draw leaves 63 bits only from 2**7 deviations on, of chance e**-8192
_LAW_BITS = 128  # of the law as a test sees it; draws do not use it


def rounded_gaussian(bits: int, n: int, randomness: Randomness) -> IntArray:
    r"""Draw ``n`` integers ``round(2**bits Z)``, Z standard normal, with exactly this law.

    .. math:: P(m) = \Phi\bigl((m + \tfrac12) 2^{-b}\bigr) - \Phi\bigl((m - \tfrac12) 2^{-b}\bigr)

    Privacy: let integer vectors u, v differ by at most B in Euclidean norm. ``u + round(2**b Z) = round(u + 2**b Z)``
    because u is whole; so the release is a function of the Gaussian mechanism with sigma = 2**b, which is
    ``B/2**b``-GDP, and post-processing keeps GDP. No approximation of the continuous Gaussian enters.

    Sampling (Karney 2016, with table look-ups): ``|Z| = k + x`` where k has weights ``e**(-k**2/2)``, x is uniform on
    [0, 1), and the pair is kept with probability ``e**(-x(2k+x)/2)``. The first bits of x decide the rounding.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> noise = rounded_gaussian(10, 10_000, SeededRandomness(1))
    >>> bool(abs(noise.std() / 1024 - 1) < 0.03), bool(abs(noise.mean()) < 40)
    (True, True)
    """
    if not 0 <= bits <= _MOST_BITS:
        raise HedgerowError(f"'bits' must be in 0 .. {_MOST_BITS}. Got {bits!r} instead.")
    out = np.empty(n, dtype=np.int64)
    done = 0
    while done < n:
        draws = _candidates(bits, (n - done) * 3 // 2 + 8, randomness)[: n - done]
        out[done : done + draws.size] = draws
        done += draws.size
    return out


def _candidates(bits: int, n: int, randomness: Randomness) -> IntArray:
    """Draw ``n`` pairs and return the rounded values of those that are kept (about 71 %)."""
    parts = _whole_part().sample(n, randomness)
    x = randomness.uint64(n)
    v = randomness.uint64(n)
    draw = getattr(native(), "gaussian", None)
    if draw is not None:
        out = np.empty(n, dtype=np.int64)
        kept = draw(parts, x, v, _tables(), bits, out)
        if kept >= 0:  # none is left open
            return out[:kept]
    k = parts.astype(np.uint64)
    keep, unsure = _decide(k, x, v)
    for i in np.flatnonzero(unsure):
        keep[i] = _resolve(int(k[i]), int(x[i]), int(v[i]) >> 1, randomness)
    k = k[keep]
    x = x[keep]
    v = v[keep]
    whole = (k << np.uint64(bits)) + (((x >> np.uint64(63 - bits)) + np.uint64(1)) >> np.uint64(1))
    magnitude = whole.astype(np.int64)
    return np.where(v & np.uint64(1), -magnitude, magnitude)  # the last bit of v is the sign


@lru_cache(maxsize=1)
def _whole_part() -> LazyCdf:
    """Thresholds ``P(K < i)``, i = 1, 2, ..., of the weights ``e**(-k**2/2)``."""

    def bounds(bits: int) -> tuple[int, list[int], list[int]]:
        context = decimal.Context(prec=math.ceil(0.302 * bits) + 40, Emin=decimal.MIN_EMIN)
        with decimal.localcontext(context):
            tiny = Decimal(2) ** -(bits + 16)
            weights = list[Decimal]()
            while not weights or weights[-1] > tiny:
                weights.append((-Decimal(len(weights) ** 2) / 2).exp())
            total = sum(weights)
            cum = Decimal(0)
            cums = []
            for weight in weights:
                cum += weight
                cums.append(cum / total)
            unit, error = Decimal(2) ** bits, 4 * tiny  # what is left out is below tiny
            lows = [max(0, math.floor((c - error) * unit)) for c in cums]
            return 0, lows, [math.ceil((c + error) * unit) for c in cums]

    return LazyCdf(bounds)


@lru_cache(maxsize=1)
def _tables() -> Words:
    """``2**31 e**-g`` for the low, middle and high ten bits of ``2**24 g``, rounded; one row each."""
    rows = []
    for shift in (24, 14, 4):
        values = (exp_bounds(-Fraction(b, 1 << shift), 64)[0] for b in range(1024))
        rows.append([round(v * (1 << 31)) for v in values])
    return np.array(rows, dtype=np.uint64)


def _decide(k: Words, x: Words, v: Words) -> tuple[BoolArray, BoolArray]:
    """Return which pairs are surely kept, and which 24 bits of x and 31 of v leave open.

    With G = floor(2**24 g) at the first 24 bits of x, ``2**24 g`` lies in ``[G, G + k + 2]``. Three look-ups and two
    products err by less than 4 units of 2**-31, and ``e**-(k+2)2**-24`` takes off less than ``128 (k + 2)`` of them.
    """
    first = x >> np.uint64(40)
    g = (first * ((k << np.uint64(25)) + first)) >> np.uint64(25)
    low, middle, high = _tables()
    ten = np.uint64(10)
    mask = np.uint64(1023)
    e = (low[g & mask] * middle[(g >> ten) & mask]) >> np.uint64(31)
    # Beyond the tables (k > 60, which happens once in e**1800) the look-up is bounded by its last entry.
    e = ((e * high[np.minimum(g >> np.uint64(20), mask)]) >> np.uint64(31)).astype(np.int64)
    place = (v >> np.uint64(33)).astype(np.int64)
    slack = 128 * (k.astype(np.int64) + 2) + 4
    keep = place + 1 <= e - slack
    return keep, ~keep & (place < e + 4)


def _resolve(k: int, x: int, v: int, randomness: Randomness) -> bool:
    """Decide ``v < e**(-x(2k+x)/2)`` exactly, for uniforms known by 64 and 63 bits, drawing more as needed."""
    x_bits = 64
    v_bits = 63
    while True:
        ends = [Fraction(x + i, 1 << x_bits) for i in (0, 1)]
        most, least = (exp_bounds(-e * (2 * k + e) / 2, x_bits + 64) for e in ends)
        if Fraction(v + 1, 1 << v_bits) <= least[0]:
            return True
        if Fraction(v, 1 << v_bits) >= most[1]:
            return False
        x = (x << 64) | randomness.bits(64)
        v = (v << 64) | randomness.bits(64)
        x_bits = x_bits + 64
        v_bits = v_bits + 64


@lru_cache(maxsize=16)
def rounded_weights(bits: int, reach: int) -> tuple[int, ...]:
    """Return the law on ``-reach .. reach`` in units of 2**-128, rounded; the tails are in the end cells."""
    with decimal.localcontext(decimal.Context(prec=60)):
        cuts = [normal_cdf(Fraction(2 * m + 1, 2 << bits)) for m in range(reach)]
        upper = [int((c * (1 << _LAW_BITS)).to_integral_value()) for c in cuts] + [1 << _LAW_BITS]
    half = [b - a for a, b in pairwise(upper)]
    return (*half[::-1], 2 * upper[0] - (1 << _LAW_BITS), *half)


@dataclass(frozen=True)
class RoundedGaussian(CentralMechanism):
    """A sum of whole numbers with rounded Gaussian noise of width ``2**bits``; :func:`rounded_gaussian` has the proof.

    A record moves the sum by at most :attr:`size`, chosen such that ``delta``, the least that holds at epsilon (from
    the law in integers), is near 0.3. Fits add this noise to many sums, and account for all of them together
    (:mod:`hedgerow.central.anova.accounting`).

    Examples
    --------
    >>> noisy = RoundedGaussian(1.0)
    >>> noisy.size, round(noisy.delta, 2)
    (12, 0.32)
    """

    epsilon: float
    bits: int = 3
    sampler: Callable[[int, int, Randomness], IntArray] = rounded_gaussian
    name = "rounded Gaussian"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))

    @cached_property
    def size(self) -> int:
        """The most that a record moves the sum."""
        if math.isinf(self.epsilon):
            return 1
        return math.ceil(gdp_mu(self.epsilon, 0.3) * (1 << self.bits))

    @property
    def reach(self) -> int:
        """Noise is clamped beyond this."""
        return 0 if math.isinf(self.epsilon) else 9 << self.bits

    @cached_property
    def delta(self) -> float:  # type: ignore[override]
        """The claim, rounded up."""
        if math.isinf(self.epsilon):
            return 0.0
        # Zeros beyond the end: weights that are shifted past it would be missed.
        exact = exact_delta(rounded_weights(self.bits, self.reach), self.size, self.epsilon)
        return math.nextafter(float(exact), 1.0)

    def _weights(self) -> tuple[int, ...]:
        return rounded_weights(self.bits, self.reach) if self.reach else (1,)

    def law(self, given: int) -> Law:
        """Return the law of a noisy sum, to 128 bits."""
        return Law(tuple(range(given - self.reach, given + self.reach + 1)), self._weights())

    def sample(self, given: int, n: int, randomness: Randomness | None = None) -> IntArray:
        """Return ``n`` noisy sums."""
        if isinstance(given, bool) or not isinstance(given, int | np.integer):
            raise HedgerowError(f"a sum must be a whole number. Got {type(given).__name__} instead.")
        if self.reach == 0:
            return np.full(n, given, dtype=np.int64)
        noise = self.sampler(self.bits, n, as_randomness(randomness))
        return given + np.clip(noise, -self.reach, self.reach)

    def words(self) -> str:
        """Return the width of the noise, and the odds that there is none."""
        weights = self._weights()
        none = percent(Fraction(weights[self.reach], sum(weights)))
        return f"a sum gets Gaussian noise of width {1 << self.bits} in whole steps: none with probability {none}"


AUDITS = (
    Audit(
        "rounded Gaussian",
        RoundedGaussian,
        (Chance(0, lambda noisy: noisy == 0),),
        inputs=lambda noisy: (0, noisy.size),
        outside=(0.5, "0", True),
    ),
)
