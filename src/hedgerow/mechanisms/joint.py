"""Joint randomisers of a leaf and a value in [-1, 1]: the whole epsilon on both, no split.

A message gives every leaf an integer score ``O_j``. With ``h`` the score of the value 1 and ``t`` the rounded value,

    E O_j = kappa h t at the holder's own leaf, 0 at every other,

so that ``sum O_j / (kappa h n)`` estimates the mean of ``value * [leaf = j]`` without bias. Its variance a holder is at
most ``A`` for the holders of leaf j and ``B`` for all others, the second moments of ``O_j / (kappa h)``.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, LocalMechanism, exp_below
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.subset import uniform_subsets
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, bernoulli
from hedgerow.types import IntArray

__all__ = ["AUDITS", "JointMechanism", "LevelResponse", "SignedSubset"]


class JointMechanism(LocalMechanism):
    """A randomiser of ``value = leaf * n_levels + level``; level 0 stands for -1, the last level for 1."""

    n_leaves: int
    n_levels: int

    @property
    def top(self) -> int:
        """The score h of the value 1."""
        raise NotImplementedError

    @property
    def kappa(self) -> Fraction:
        """The attenuation: ``E O_j = kappa h t`` at the own leaf."""
        raise NotImplementedError

    def moments(self, mean_square: float = 1.0) -> tuple[float, float]:
        """Return ``(A, B)``; ``mean_square`` is the mean of ``t**2``, t the value after rounding to a level."""
        raise NotImplementedError

    def sums(self, reports: npt.NDArray[Any]) -> IntArray:
        """Return the sums of scores, and the number of reports that name each leaf, of shape (2, n_leaves)."""
        raise NotImplementedError

    @property
    def naming(self) -> tuple[Fraction, Fraction] | None:
        """P(a leaf is named) for its own holders and for others; None where that depends on the value."""
        return None

    def _check_kappa(self) -> None:
        if self.kappa <= 0:
            raise HedgerowError(
                f"The 'epsilon' parameter is too small for {self.n_leaves} leaves. Got {self.epsilon!r} instead."
            )


@dataclass(frozen=True)
class SignedSubset(JointMechanism):
    r"""Report ``size`` of the ``K`` leaves, each with a sign; reports that hold the true pair weigh ``e**epsilon``.

    With ``f = size/2K`` the share of all reports that hold a given (leaf, sign),

    .. math:: P_1 \le \frac{e^\varepsilon f}{e^\varepsilon f + 1 - f}, \quad P_2 = \frac{(1 - P_1) f}{1 - f}, \quad
              \kappa = P_1 - P_2, \quad A = \frac{P_1 + P_2}{\kappa^2}, \quad
              B = \frac{(P_1 + P_2)(s - 1) + (1 - P_1 - P_2) s}{(K-1) \kappa^2}

    Proof that it is epsilon-DP: given that it holds the pair (or not), a report is uniform among the ``N f`` (or
    ``N (1-f)``) such reports, so two inputs give it likelihoods in the ratio ``P1 (1-f) / ((1-P1) f)`` or 1, and that
    is at most ``e**epsilon`` because the dyadic ``P1`` is rounded down.

    Parameters
    ----------
    epsilon : float
        Privacy budget of one report.
    n_leaves : int
        Number of leaves K.
    size : int
        Leaves named in a report: 1 is k-ary response on (leaf, sign), K has the variance of Hadamard response.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> SignedSubset(1.0, 4, 2).randomize(np.array([0, 0, 7]), SeededRandomness(0)).tolist()
    [[1, 0, 0, -1], [-1, 0, -1, 0], [0, 1, 0, 1]]
    """

    epsilon: float
    n_leaves: int
    size: int = 1
    hold: int = field(init=False, repr=False)
    name = "signed subset"
    n_levels = 2
    top = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        K = check_positive(self.n_leaves, name="n_leaves")
        if not check_positive(self.size, name="size") <= K:
            raise HedgerowError(f"The 'size' parameter must be in 1 .. {K}. Got {self.size!r} instead.")
        object.__setattr__(self, "n_leaves", K)
        object.__setattr__(self, "size", int(self.size))
        hold = ONE
        if not math.isinf(self.epsilon):
            low = exp_below(self.epsilon) * self.size
            hold = math.floor(ONE * low / (low + 2 * K - self.size))
        object.__setattr__(self, "hold", hold)
        self._check_kappa()

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Leaves times signs."""
        return 2 * self.n_leaves

    @property
    def _own(self) -> tuple[Fraction, Fraction]:
        """P(the own leaf is named with the own sign), and with the other."""
        P1 = Fraction(self.hold, ONE)
        return P1, (1 - P1) * Fraction(self.size, 2 * self.n_leaves - self.size)

    @property
    def kappa(self) -> Fraction:
        """``P1 - P2``."""
        P1, P2 = self._own
        return P1 - P2

    @property
    def naming(self) -> tuple[Fraction, Fraction]:
        """``P1 + P2``, and ``kappa**2 B``."""
        own = sum(self._own, Fraction(0))
        s = self.size
        K = self.n_leaves
        return own, (own * (s - 1) + (1 - own) * s) / max(1, K - 1)

    def moments(self, mean_square: float = 1.0) -> tuple[float, float]:
        """Return ``(A, B)`` by the formula of the class; a sign has square 1 whatever the value was."""
        return self._moments

    @cached_property
    def _moments(self) -> tuple[float, float]:
        own, other = self.naming
        return float(own / self.kappa**2), float(other / self.kappa**2)

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> npt.NDArray[np.int8]:
        """Return scores -1, 0 or 1, one row a report with ``size`` scores other than 0."""
        pair = self._check(values)
        source = as_randomness(randomness)
        n = pair.size
        K = self.n_leaves
        s = self.size
        leaf = pair >> 1
        sign = (2 * (pair & 1) - 1).astype(np.int8)
        hold = bernoulli(self.hold, n, source)
        # Of the reports that do not hold the pair, s in 2K - s name the leaf with the other sign.
        turn = ~hold
        turn[turn] = source.integers(2 * K - s, int(turn.sum())) < s
        others = uniform_subsets(K - 1, s, hold | turn, source)
        signs = np.unpackbits(source.uint8((n * (K - 1) + 7) // 8), count=n * (K - 1)).reshape(n, K - 1)
        scores = np.zeros((n, K), dtype=np.int8)
        columns = np.arange(K - 1)
        # The other leaves, in order, with the own one skipped.
        scores[np.arange(n)[:, None], columns + (columns >= leaf[:, None])] = others * (2 * signs.astype(np.int8) - 1)
        scores[np.arange(n), leaf] = sign * (hold.astype(np.int8) - turn)
        return scores

    def sums(self, reports: npt.NDArray[Any]) -> IntArray:
        """Return sums of scores and of their absolute values."""
        return np.stack([reports.sum(axis=0, dtype=np.int64), np.abs(reports).sum(axis=0, dtype=np.int64)])

    def law(self, value: int) -> Law:
        """Return the exact law over all ``C(K, size) 2**size`` reports."""
        K = self.n_leaves
        s = self.size
        leaf = value >> 1
        sign = 2 * (value & 1) - 1
        inside = math.comb(K - 1, s - 1) << (s - 1)
        outside = (math.comb(K, s) << s) - inside
        outputs = []
        for named in itertools.combinations(range(K), s):
            for signs in itertools.product((-1, 1), repeat=s):
                given = dict(zip(named, signs, strict=True))
                outputs.append(tuple(given.get(j, 0) for j in range(K)))
        weights = tuple(self.hold * outside if o[leaf] == sign else (ONE - self.hold) * inside for o in outputs)
        return Law(tuple(outputs), weights)

    def words(self) -> str:
        """Return the odds of the true leaf, with either sign."""
        true, turned = map(percent, self._own)
        if self.n_leaves == 1:
            return f"one of two signs is named: the true one with probability {true}, the opposite one with {turned}"
        return (
            f"{self.size} of {self.n_leaves} leaves are named, each with a sign: the true leaf with its sign with "
            f"probability {true}, with the opposite one with {turned}"
        )


@dataclass(frozen=True)
class LevelResponse(JointMechanism):
    r"""k-ary response on (leaf, level), the level 0 of all leaves being ONE symbol.

    The value is rounded at random to one of an odd number L of levels; who gets the level 0 does not name a leaf.
    With ``M = K (L-1) + 1`` symbols, ``t = l/h`` the rounded value and ``h = (L-1)/2``,

    .. math:: p \le \frac{e^\varepsilon}{e^\varepsilon + M - 1}, \quad q = \frac{1-p}{M-1}, \quad \kappa = p - q, \quad
              A = \frac{\kappa E t^2 + q \sum_l (l/h)^2}{\kappa^2}, \quad B = \frac{q \sum_l (l/h)^2}{\kappa^2}

    Proof that it is epsilon-DP: the symbol is a function of the input, and k-ary response of it is epsilon-DP.
    Unbiased: every symbol is named with probability ``q``, the own with ``kappa`` more, and ``sum l = 0``.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> mechanism = LevelResponse(3.0, 4, 3)
    >>> mechanism.symbols(np.array([0, 1, 2, 4, 11])).tolist()
    [1, 0, 2, 0, 8]
    >>> mechanism.randomize(np.array([0, 1, 2, 4, 11]), SeededRandomness(0)).tolist()
    [3, 0, 2, 0, 8]
    """

    epsilon: float
    n_leaves: int
    n_levels: int = 3
    response: KaryResponse = field(init=False, repr=False)
    name = "level response"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "n_leaves", check_positive(self.n_leaves, name="n_leaves"))
        levels = check_positive(self.n_levels, name="n_levels", least=3)
        if levels % 2 == 0:
            raise HedgerowError(f"The 'n_levels' parameter must be odd. Got {self.n_levels!r} instead.")
        object.__setattr__(self, "n_levels", levels)
        object.__setattr__(self, "response", KaryResponse(self.epsilon, self.n_symbols))

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Leaves times levels."""
        return self.n_leaves * self.n_levels

    @property
    def n_symbols(self) -> int:
        """Number M of symbols."""
        return self.n_leaves * (self.n_levels - 1) + 1

    @property
    def top(self) -> int:
        """``(L - 1)/2``."""
        return (self.n_levels - 1) // 2

    @property
    def kappa(self) -> Fraction:
        """``p - q``."""
        return self.response.p - self.response.q

    def symbols(self, values: npt.ArrayLike) -> IntArray:
        """Return the symbol of each (leaf, level): 0 for the level 0, else 1 + its place among the others."""
        leaf, level = np.divmod(self._check(values), self.n_levels)
        place = leaf * (self.n_levels - 1) + level - (level > self.top)
        return np.where(level == self.top, 0, 1 + place)

    @property
    def scores(self) -> IntArray:
        """Return the score of each symbol at its leaf; the first, 0, belongs to no leaf."""
        levels = [k for k in range(-self.top, self.top + 1) if k]
        return np.array([0, *levels * self.n_leaves], dtype=np.int64)

    def moments(self, mean_square: float = 1.0) -> tuple[float, float]:
        """Return ``(A, B)`` by the formula of the class."""
        q = float(self.response.q)
        kappa = float(self.kappa)
        other = q * float((self.scores[: self.n_levels] ** 2).sum()) / self.top**2 / kappa**2
        return mean_square / kappa + other, other

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return symbols."""
        return self.response.randomize(self.symbols(values), randomness)

    def sums(self, reports: npt.NDArray[Any]) -> IntArray:
        """Return sums of scores, and the number of reports that name each leaf."""
        support = self.response.support(reports)
        shape = (self.n_leaves, self.n_levels - 1)
        scored = (support * self.scores)[1:].reshape(shape).sum(axis=1)
        return np.stack([scored, support[1:].reshape(shape).sum(axis=1)])

    def law(self, value: int) -> Law:
        """Return the exact law over symbols."""
        return self.response.law(int(self.symbols(np.array([value]))[0]))

    def words(self) -> str:
        """Return the odds of the true answer and of each other one."""
        leaves = " (a leaf with a level, or the level 0 of all leaves)" if self.n_leaves > 1 else ""
        return self.response.odds(f"answers{leaves}")


AUDITS = (
    Audit(
        "signed subset",
        lambda epsilon: SignedSubset(epsilon, 4, 2),
        (Chance(0, lambda scores: scores[0] == -1), Chance(0, lambda scores: scores[0] == 1)),
    ),
    Audit(
        "level response",
        lambda epsilon: LevelResponse(epsilon, 3, 3),
        (Chance(1, lambda symbol: symbol == 0), Chance(1, lambda symbol: symbol == 1)),  # input 1: leaf 0, level 0
    ),
)
