"""k-ary randomised response: tell the truth, or name another category at random."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, exp_below
from hedgerow.mechanisms.categorical import CategoricalMechanism
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, bernoulli
from hedgerow.types import IntArray

__all__ = ["AUDITS", "KaryResponse"]


@dataclass(frozen=True)
class KaryResponse(CategoricalMechanism):
    r"""Report the true category with probability ``p``, else one of the other ``k - 1`` uniformly.

    .. math:: p \le \frac{e^{\varepsilon}}{e^{\varepsilon} + k - 1}, \qquad q = \frac{1-p}{k-1}

    Proof that it is epsilon-DP: every output has probability ``p`` or ``q``, and
    ``p/q = p (k-1)/(1-p) <= e**epsilon``, because the dyadic ``p`` is rounded down.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> KaryResponse(2.0, 6).randomize(np.array([3, 3, 3, 3]), SeededRandomness(0)).tolist()
    [5, 3, 3, 3]
    """

    epsilon: float
    n_inputs: int
    truth: int = field(init=False, repr=False)
    name = "k-ary response"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        k = check_positive(self.n_inputs, name="n_inputs")
        object.__setattr__(self, "n_inputs", k)
        truth = ONE
        if not math.isinf(self.epsilon) and k > 1:
            low = exp_below(self.epsilon)
            truth = math.floor(ONE * low / (low + k - 1))
        object.__setattr__(self, "truth", truth)
        self._check_informative()

    @property
    def p(self) -> Fraction:
        """Return the probability of the truth."""
        return Fraction(self.truth, ONE)

    @property
    def q(self) -> Fraction:
        """Return the probability of each other category."""
        return (1 - self.p) / max(1, self.n_inputs - 1)

    @property
    def joint(self) -> tuple[Fraction, Fraction]:
        """Return zeros: a report names one category only."""
        return Fraction(0), Fraction(0)

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return the reported categories."""
        own = self._check(values)
        source = as_randomness(randomness)
        out = own.copy()
        lie = np.flatnonzero(~bernoulli(self.truth, own.size, source))
        if lie.size:
            # Skip the own category: the others, in order, are 0 .. k-2.
            other = source.integers(self.n_inputs - 1, lie.size)
            out[lie] = other + (other >= own[lie])
        return out

    def support(self, reports: npt.NDArray[np.integer]) -> IntArray:
        """Return the number of reports of each category."""
        return np.bincount(reports, minlength=self.n_inputs).astype(np.int64)

    def law(self, value: int) -> Law:
        """Return the exact law."""
        k = self.n_inputs
        if k == 1:
            return Law((0,), (1,))
        weights = tuple(self.truth * (k - 1) if o == value else ONE - self.truth for o in range(k))
        return Law(tuple(range(k)), weights)

    def words(self) -> str:
        """Return the odds of the true category and of each other one."""
        return self.odds("categories")

    def odds(self, things: str) -> str:
        """Return the odds, with the categories called by another name."""
        return (
            f"one of {self.n_inputs} {things} is named: the true one with probability {percent(self.p)}, each other "
            f"one with {percent(self.q)}"
        )


AUDITS = (
    Audit(
        "k-ary response",
        lambda epsilon: KaryResponse(epsilon, 6),
        (Chance(0, lambda named: named == 0), Chance(0, lambda named: named == 1)),
    ),
)
