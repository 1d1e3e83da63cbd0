"""What every mechanism is, local or central: a draw, its exact law, a proof, words, and instances to audit it by.

A mechanism is one file. It holds

* the *draw*: :meth:`Mechanism.sample`, and the form that its callers want (``randomize`` for the values of many
  holders, ``choose`` for rows of costs, ``release`` for tables of counts);
* the *law* of what is drawn, in integers: :meth:`Mechanism.law`;
* the *proof* of its claim, in the docstring;
* the *words*: :meth:`Mechanism.words`, one sentence that names its probabilities;
* the *audit instances*: a tuple ``AUDITS`` of :class:`~hedgerow.mechanisms.audits.Audit`, which ``hedgerow audit`` and
  ``tests/conformance/test_mechanisms.py`` find by themselves.

Its probabilities are dyadic integers (``numerator / 2**64``) rounded towards more noise, so that

    P(output | given) <= e**epsilon * P(output | given')      for all neighbours and all outputs

holds *exactly* and :mod:`hedgerow.audit` can verify it in integer arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.randomness import Randomness
from hedgerow.samplers import exp_bounds
from hedgerow.types import IntArray

__all__ = [
    "CentralMechanism",
    "Law",
    "LocalMechanism",
    "Mechanism",
    "as_law",
    "exp_below",
]


def exp_below(epsilon: Fraction | float) -> Fraction:
    """Return a rational just below ``e**epsilon``, for a finite epsilon.

    It stops at ``e**200``: 64-bit probabilities cannot tell more, and ``e**epsilon`` has as many digits as
    epsilon is large.
    """
    return exp_bounds(min(Fraction(epsilon), Fraction(200)))[0]


@dataclass(frozen=True)
class Law:
    """A finite distribution with integer weights: ``P(outputs[i]) = weights[i] / sum(weights)``."""

    outputs: tuple[Hashable, ...]
    weights: tuple[int, ...]

    @cached_property
    def total(self) -> int:
        """The common denominator."""
        return sum(self.weights)

    def probability(self, output: Hashable) -> Fraction:
        """Return the exact probability of one output."""
        return Fraction(self.weights[self.outputs.index(output)], self.total)

    def mean(self) -> Fraction:
        """Return the exact mean of numeric outputs."""
        pairs = zip(self.outputs, self.weights, strict=True)
        return Fraction(sum(int(o) * w for o, w in pairs), self.total)  # type: ignore[call-overload]

    def variance(self) -> Fraction:
        """Return the exact variance of numeric outputs."""
        pairs = zip(self.outputs, self.weights, strict=True)
        second = Fraction(sum(int(o) ** 2 * w for o, w in pairs), self.total)  # type: ignore[call-overload]
        return second - self.mean() ** 2


def as_law(chances: Mapping[Any, Fraction]) -> Law:
    """Return a law with integer weights from exact probabilities.

    >>> as_law({"heads": Fraction(2, 3), "tails": Fraction(1, 3)}).weights
    (2, 1)
    """
    common = math.lcm(*(p.denominator for p in chances.values()))
    return Law(tuple(chances), tuple(p.numerator * (common // p.denominator) for p in chances.values()))


class Mechanism:
    """What is done to private data before anybody else sees it.

    Attributes
    ----------
    name : str
        What it is called.
    epsilon, delta : float
        The claim: no event is more than ``e**epsilon`` times as likely under one input as under a neighbour, but for
        ``delta``.
    protects, trust, neighbours : str
        What is protected, from whom, and which inputs are neighbours, as in :class:`~hedgerow.guarantee.Guarantee`.
    """

    name: str
    epsilon: float | Fraction
    delta: float = 0.0
    protects: ClassVar[str]
    trust: ClassVar[str]
    neighbours: ClassVar[str]

    @property
    def guarantee(self) -> Guarantee:
        """What one output protects, and from whom."""
        return Guarantee(
            self.epsilon,  # type: ignore[arg-type]  # a fraction is rounded up there
            self.delta,
            protects=self.protects,
            trust=self.trust,
            neighbours=self.neighbours,
        )

    def sample(self, given: Any, n: int, randomness: Randomness | None = None) -> npt.NDArray[Any]:
        """Return ``n`` independent outputs for one input, by the code that ships; secure unless a source is given."""
        raise NotImplementedError

    def law(self, given: Any) -> Law:
        """Return the exact law of the output given an input (enumerated: small instances only)."""
        raise NotImplementedError

    def outcomes(self, drawn: npt.NDArray[Any]) -> list[Hashable]:
        """Return what was drawn as the law lists it: by default numbers, or rows of whole numbers."""
        if drawn.ndim == 1:
            return list(drawn.tolist())
        return [tuple(row) for row in drawn.astype(np.int64).tolist()]

    def words(self) -> str:
        """Return one sentence of what is done, with its probabilities."""
        raise NotImplementedError


class LocalMechanism(Mechanism):
    """A randomiser of one holder's value in ``range(n_inputs)``; any two values are neighbours.

    Attributes
    ----------
    n_inputs : int
        Inputs are the integers ``0 .. n_inputs - 1``.
    """

    epsilon: float
    n_inputs: int
    protects = "record"
    trust = "local"
    neighbours = "replace"

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> npt.NDArray[Any]:
        """Randomise every value independently; secure randomness unless a source is given."""
        raise NotImplementedError

    def sample(self, given: int, n: int, randomness: Randomness | None = None) -> npt.NDArray[Any]:
        """Return the reports of ``n`` holders of one value."""
        return self.randomize(np.full(n, given), randomness)

    def _check(self, values: npt.ArrayLike) -> IntArray:
        array = np.asarray(values)
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise HedgerowError(f"'values' must be a 1-d integer array. Got {array.dtype} {array.shape} instead.")
        if array.size and (array.min() < 0 or array.max() >= self.n_inputs):
            raise HedgerowError(f"'values' must be in 0 .. {self.n_inputs - 1}; clip or encode them first.")
        return array.astype(np.int64, copy=False)


class CentralMechanism(Mechanism):
    """What a curator who sees the records does before publishing; neighbours are tables of which one has a record more.

    An input is what was computed of the records; each class says how far one record moves it.
    """

    protects = "record"
    trust = "central"
    neighbours = "add/remove"
