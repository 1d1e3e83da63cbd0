"""Bit-vector randomised response: the paper's (3)."""

from __future__ import annotations

import itertools
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
from hedgerow.types import BoolArray

__all__ = ["AUDITS", "BitVectorResponse", "UnaryEncoding", "bit_weights"]


def bit_weights(k: int, value: int, p: int, q: int) -> Law:
    """Return the law of ``k`` independent bits: bit ``value`` is set with ``p/2**64``, others ``q/2**64``."""
    chance = [p if j == value else q for j in range(k)]
    outputs = tuple(itertools.product((0, 1), repeat=k))
    weights = tuple(math.prod(c if b else ONE - c for b, c in zip(o, chance, strict=True)) for o in outputs)
    return Law(outputs, weights)


@dataclass(frozen=True)
class BitVectorResponse(CategoricalMechanism):
    r"""Flip every bit of a one-hot vector independently, equation (3) of the paper.

    .. math:: P(\text{flip}) = q \ge \frac{1}{1 + e^{\varepsilon/2}}

    Proof that it is epsilon-DP: two one-hot vectors differ in two bits, each of which changes a likelihood by
    at most ``(1-q)/q <= e**(epsilon/2)``, because the dyadic ``q`` is rounded up.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> BitVectorResponse(2.0, 6).randomize(np.array([3]), SeededRandomness(1)).astype(int).tolist()
    [[0, 0, 1, 1, 0, 0]]
    """

    epsilon: float
    n_inputs: int
    flip: int = field(init=False, repr=False)
    name = "bit-vector response"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "n_inputs", check_positive(self.n_inputs, name="n_inputs"))
        flip = 0
        if not math.isinf(self.epsilon):
            low = exp_below(Fraction(self.epsilon) / 2)
            flip = min(ONE // 2, math.ceil(ONE / (1 + low)))
        object.__setattr__(self, "flip", flip)
        self._check_informative()

    @property
    def p(self) -> Fraction:
        """Return the probability that the own bit stays set."""
        return 1 - Fraction(self.flip, ONE)

    @property
    def q(self) -> Fraction:
        """Return the probability that another bit is set."""
        return Fraction(self.flip, ONE)

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> BoolArray:
        """Return a boolean matrix, one row a report."""
        own = self._check(values)
        k = self.n_inputs
        bits = bernoulli(self.flip, own.size * k, as_randomness(randomness)).reshape(own.size, k)
        bits[np.arange(own.size), own] ^= True
        return bits

    def law(self, value: int) -> Law:
        """Return the exact law over all ``2**n_inputs`` vectors."""
        return bit_weights(self.n_inputs, value, ONE - self.flip, self.flip)

    def words(self) -> str:
        """Return the odds of a flip."""
        return (
            f"one bit for each of {self.n_inputs} categories says whether it is the true one; each bit is flipped with "
            f"probability {percent(self.q)}"
        )


@dataclass(frozen=True)
class UnaryEncoding(CategoricalMechanism):
    r"""Optimised unary encoding: the own bit is a fair coin, the others are rarely set.

    .. math:: p = \tfrac12, \qquad q \ge \frac{1}{1 + e^{\varepsilon}}

    Proof that it is epsilon-DP: two one-hot vectors differ in two bits; the likelihood ratio is at most
    ``p/q * (1-q)/(1-p) = (1-q)/q <= e**epsilon``, because the dyadic ``q`` is rounded up.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> UnaryEncoding(2.0, 6).randomize(np.array([3]), SeededRandomness(0)).astype(int).tolist()
    [[0, 1, 0, 1, 0, 1]]
    """

    epsilon: float
    n_inputs: int
    rare: int = field(init=False, repr=False)
    name = "unary encoding"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "n_inputs", check_positive(self.n_inputs, name="n_inputs"))
        rare = 0
        if not math.isinf(self.epsilon):
            low = exp_below(self.epsilon)
            rare = min(ONE // 2, math.ceil(ONE / (1 + low)))
        object.__setattr__(self, "rare", rare)
        self._check_informative()

    @property
    def p(self) -> Fraction:
        """Return the probability that the own bit is set (1 when epsilon is infinite)."""
        return Fraction(1, 2) if self.rare else Fraction(1)

    @property
    def q(self) -> Fraction:
        """Return the probability that another bit is set."""
        return Fraction(self.rare, ONE)

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> BoolArray:
        """Return a boolean matrix, one row a report."""
        own = self._check(values)
        source = as_randomness(randomness)
        k = self.n_inputs
        bits = bernoulli(self.rare, own.size * k, source).reshape(own.size, k)
        bits[np.arange(own.size), own] = bernoulli(int(self.p * ONE), own.size, source)
        return bits

    def law(self, value: int) -> Law:
        """Return the exact law over all ``2**n_inputs`` vectors."""
        return bit_weights(self.n_inputs, value, int(self.p * ONE), self.rare)

    def words(self) -> str:
        """Return the odds of the own bit and of each other one."""
        return (
            f"one bit for each of {self.n_inputs} categories: that of the true one is set with probability "
            f"{percent(self.p)}, each other one with {percent(self.q)}"
        )


AUDITS = (
    Audit(
        "bit-vector response",
        lambda epsilon: BitVectorResponse(epsilon, 5),
        (Chance(0, lambda bits: bits[0] == 0), Chance(0, lambda bits: bits[1] == 1)),
    ),
    Audit(
        "unary encoding",
        lambda epsilon: UnaryEncoding(epsilon, 5),
        (Chance(0, lambda bits: bits[0] == 1), Chance(0, lambda bits: bits[1] == 1)),
    ),
)
