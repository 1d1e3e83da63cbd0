"""A label told twice at the price of once: coarsely first, finely later, if there is budget left for it."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, LocalMechanism, as_law
from hedgerow.mechanisms.laplace import DiscreteLaplace, exactly
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, bernoulli, discrete_laplace
from hedgerow.types import IntArray

__all__ = ["AUDITS", "GradualLaplace"]


@dataclass(frozen=True)
class GradualLaplace(LocalMechanism):
    r"""Two noisy versions of one level: ``fine`` costs epsilon, ``coarse`` costs less, both together epsilon.

    ``fine`` is the level plus discrete Laplace noise of ratio ``b``; ``coarse`` adds to ``fine``, with probability
    ``1 - w``, further discrete Laplace noise of ratio ``a > b``, where

    .. math:: w \le w_0 = \frac{b (1-a)^2}{a (1-b)^2}, \qquad
              L_a = L_b * (w_0 \delta_0 + (1 - w_0) L_a)

    (the generating functions of both sides agree), so that at ``w = w_0`` coarse noise is exactly ``L_a``.

    Proof. (1) ``coarse`` alone: for ``w < w_0`` its noise is a mixture of ``L_a`` and ``L_a * L_b``, each of which is
    ``coarse_epsilon``-DP, for the second adds independent noise to the first. (2) Both: ``coarse`` is ``fine`` plus
    noise that knows nothing of the level, hence post-processing; the pair costs what ``fine`` costs, epsilon.

    Parameters
    ----------
    epsilon : float
        Budget of both together.
    n_steps : int
        Steps of the label grid.
    coarse_epsilon : float
        Budget of ``coarse`` alone, at most epsilon.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> pair = GradualLaplace(2.0, 16, 1.0)
    >>> coarse, fine = pair.randomize_both(np.full(100_000, 8), SeededRandomness(0))
    >>> bool(abs(coarse.var() / pair.coarse.variance - 1) < 0.05), bool(coarse.var() > 3 * fine.var())
    (True, True)
    """

    epsilon: float
    n_steps: int
    coarse_epsilon: float
    coarse: DiscreteLaplace = field(init=False, repr=False)
    fine: DiscreteLaplace = field(init=False, repr=False)
    stay: int = field(init=False, repr=False)
    name = "gradual Laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "coarse_epsilon", check_epsilon(self.coarse_epsilon, name="coarse_epsilon"))
        if self.coarse_epsilon > self.epsilon:
            raise HedgerowError(
                f"The 'coarse_epsilon' parameter must be at most epsilon = {self.epsilon:g}. "
                f"Got {self.coarse_epsilon!r} instead."
            )
        object.__setattr__(self, "fine", DiscreteLaplace(self.epsilon, self.n_steps))
        object.__setattr__(self, "coarse", DiscreteLaplace(self.coarse_epsilon, self.n_steps))
        object.__setattr__(self, "stay", math.floor(self._least_stay() * ONE))

    def _least_stay(self) -> Fraction:
        """Return ``w_0``; 1 where both are the same noise."""
        a = Fraction(self.coarse.ratio, ONE)
        b = Fraction(self.fine.ratio, ONE)
        return Fraction(1) if a == b else b * (1 - a) ** 2 / (a * (1 - b) ** 2)

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Return the number of levels."""
        return self.n_steps + 1

    def randomize_both(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> tuple[IntArray, IntArray]:
        """Return the coarse and the fine levels, each clamped to its reach."""
        levels = self._check(values)
        source = as_randomness(randomness)
        fine = levels + discrete_laplace(self.fine.ratio, levels.size, source)
        coarse = fine.copy()
        move = np.flatnonzero(~bernoulli(self.stay, levels.size, source))
        coarse[move] += discrete_laplace(self.coarse.ratio, move.size, source)
        for noisy, law in ((coarse, self.coarse), (fine, self.fine)):
            np.clip(noisy, -law.reach, self.n_steps + law.reach, out=noisy)
        return coarse, fine

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return rows ``(coarse, fine)``."""
        return np.column_stack(self.randomize_both(values, randomness))

    def coarse_chance(self, k: int) -> Fraction:
        r"""Return the exact probability that ``coarse`` is ``k`` away from the level (before clamping).

        With ``l = w / w_0`` this is ``l L_a + (1 - l) L_a * L_b``, and with ``c_r = (1-r)/(1+r)``
        ``(L_a * L_b)(k) = c_a c_b [a (1-b^2) a^|k| - b (1-a^2) b^|k|] / ((a-b)(1-ab))``.
        """
        (on_a, a), (on_b, b) = self._coarse_terms
        return on_a * a ** abs(k) + on_b * b ** abs(k)

    @cached_property
    def _coarse_terms(self) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        a = Fraction(self.coarse.ratio, ONE)
        b = Fraction(self.fine.ratio, ONE)
        ca = (1 - a) / (1 + a)
        cb = (1 - b) / (1 + b)
        pure = Fraction(self.stay, ONE) / self._least_stay() if self.stay else Fraction(0)
        on_a = pure * ca
        on_b = Fraction(0)
        if pure < 1:
            scale = (1 - pure) * ca * cb / ((a - b) * (1 - a * b))
            on_a = on_a + scale * a * (1 - b * b)
            on_b = -scale * b * (1 - a * a)
        return (on_a, a), (on_b, b)

    def joint_chance(self, coarse: int, fine: int) -> Fraction:
        """Return the exact probability of both distances from the level (before clamping)."""
        a = Fraction(self.coarse.ratio, ONE)
        b = Fraction(self.fine.ratio, ONE)
        stay = Fraction(self.stay, ONE)
        extra = (1 - stay) * (1 - a) / (1 + a) * a ** abs(coarse - fine) + (stay if coarse == fine else 0)
        return (1 - b) / (1 + b) * b ** abs(fine) * extra

    def coarse_law(self, value: int, *, reach: int) -> Law:
        """Return the exact law of ``coarse`` alone, clamped to ``-reach .. n_steps + reach``."""
        ends = (-reach, self.n_steps + reach)
        chances = {}
        for output in range(ends[0], ends[1] + 1):
            k = abs(output - value)
            tail = sum((on * r**k / (1 - r) for on, r in self._coarse_terms), Fraction(0))
            chances[output] = tail if output in ends else self.coarse_chance(k)
        return as_law(chances)

    def law(self, value: int, *, reach: int = 8) -> Law:
        """Return the exact law of (fine, what coarse adds to it), which tells more than (coarse, fine) does."""
        fine = self.fine.law(value, reach=reach)
        if self.stay == ONE:
            return Law(tuple((o, 0) for o in fine.outputs), fine.weights)
        extra = DiscreteLaplace(self.coarse_epsilon, self.n_steps).law(0, reach=reach)
        rest = {o: Fraction((ONE - self.stay) * w, ONE * extra.total) for o, w in zip(*_parts(extra), strict=True)}
        rest[0] += Fraction(self.stay, ONE)
        added = as_law(rest)
        pairs = [(f, e, u * v) for f, u in zip(*_parts(fine), strict=True) for e, v in zip(*_parts(added), strict=True)]
        return Law(tuple((f, e) for f, e, _ in pairs), tuple(w for *_, w in pairs))

    def outcomes(self, drawn: npt.NDArray[Any], *, reach: int = 8) -> list[Hashable]:
        """Return (fine, what coarse adds to it), clamped as in the law."""
        pairs = np.column_stack([drawn[:, 1], drawn[:, 0] - drawn[:, 1]])
        return super().outcomes(np.clip(pairs, -reach, self.n_steps + reach))

    def words(self) -> str:
        """Return the odds that the fine level is the true one, and that the coarse one is the fine one."""
        stay = self.stay / ONE
        same = percent(stay + (1 - stay) * exactly(self.coarse.ratio))
        return (
            f"a level from 0 to {self.n_steps} gets noise in whole steps, none with probability "
            f"{percent(exactly(self.fine.ratio))}; until more may be told it gets further noise, none with {same}"
        )


def _parts(law: Law) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return law.outputs, law.weights  # type: ignore[return-value]


AUDITS = (
    Audit(
        "gradual Laplace",
        lambda epsilon: GradualLaplace(epsilon, 4, epsilon / 2),
        (Chance(2, lambda told: told[0] == 2), Chance(2, lambda told: told[1] == 0)),
        reach=4,
    ),
)
