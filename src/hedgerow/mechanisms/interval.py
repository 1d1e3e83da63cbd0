"""Interval response: a uniform draw near the label, or, less often, elsewhere in a public interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.forms import Budget
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, exp_below
from hedgerow.mechanisms.level import LevelMechanism
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, bernoulli
from hedgerow.types import FloatArray, IntArray

__all__ = ["AUDITS", "OUTSIDE", "IntervalResponse"]

OUTSIDE = ("project", "uniform")
"""What a level outside the interval answers: as its nearest end, (3.6), or uniformly, (3.7)."""


@dataclass(frozen=True)
class IntervalResponse(LevelMechanism):
    r"""RPWithPrior on levels, equations (3.4), (3.6) and (3.7) of the paper.

    With ``I = low .. high``, ``w = 2 radius + 1`` and outputs ``low - radius .. high + radius``:

    .. math:: P(o \mid v) = \begin{cases} p / w & |o - v| \le radius \\ (1-p) / (high - low) & \text{else}
              \end{cases} \qquad p \le \frac{w e^\varepsilon}{w e^\varepsilon + high - low}

    for ``v`` in I. A level outside answers as the nearest end of I, or uniformly over all outputs.

    Proof that it is epsilon-DP: an output has one of the two likelihoods, whose ratio is
    ``p (high - low) / ((1-p) w) <= e**epsilon``, because the dyadic ``p`` is rounded down; or the likelihood
    of the uniform law over the same outputs, which is a mean of the two and so lies between them.

    Parameters
    ----------
    epsilon : float
        Privacy budget of one label.
    n_steps : int
        Steps of the label grid.
    low, high : int
        The public interval I within ``0 .. n_steps``.
    radius : int
        Levels on either side that count as near.
    outside : {"project", "uniform"}
        What levels outside I answer.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> response = IntervalResponse(2.0, 100, low=10, high=60, radius=5)
    >>> response.randomize(np.array([40, 40, 40, 99]), SeededRandomness(0)).tolist()
    [12, 38, 36, 55]
    """

    epsilon: Budget
    n_steps: int
    low: int
    high: int
    radius: int
    outside: str = "project"
    near: int = field(init=False, repr=False)
    name = "interval response"
    kind = "interval"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "n_steps", check_positive(self.n_steps, name="n_steps"))
        for name in ("low", "high", "radius"):
            object.__setattr__(self, name, check_positive(getattr(self, name), name=name, least=0))
        if not self.low <= self.high <= self.n_steps:
            raise HedgerowError(
                f"'low' and 'high' must satisfy 0 <= low <= high <= {self.n_steps}. "
                f"Got {self.low!r} and {self.high!r} instead."
            )
        if self.outside not in OUTSIDE:
            raise HedgerowError(f"The 'outside' parameter must be one of {OUTSIDE}. Got {self.outside!r} instead.")
        near = ONE
        if not math.isinf(self.epsilon) and self.span:
            weight = exp_below(self.epsilon) * self.width
            near = math.floor(ONE * weight / (weight + self.span))
            if near * self.span < (ONE - near) * self.width:
                raise HedgerowError(f"The 'epsilon' parameter is too small. Got {self.epsilon!r} instead.")
        object.__setattr__(self, "near", near)

    @property
    def width(self) -> int:
        """Return the number of near outputs, ``2 radius + 1``."""
        return 2 * self.radius + 1

    @property
    def span(self) -> int:
        """Return the number of far outputs, ``high - low``."""
        return self.high - self.low

    @property
    def code_range(self) -> tuple[int, int]:
        """Return the ends of the outputs."""
        return self.low - self.radius, self.high + self.radius

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return one output level for each level."""
        levels = self._check(values)
        source = as_randomness(randomness)
        inside = np.clip(levels, self.low, self.high)
        near = bernoulli(self.near, levels.size, source)
        out = inside - self.radius
        chosen = np.flatnonzero(near)
        out[chosen] += source.integers(self.width, chosen.size)
        far = np.flatnonzero(~near)
        if far.size:
            # The far outputs, in order, are 0 .. span-1; those from the near block on are shifted past it.
            t = source.integers(self.span, far.size)
            out[far] = self.low - self.radius + t + self.width * (t >= inside[far] - self.low)
        if self.outside == "uniform":
            lost = np.flatnonzero(inside != levels)
            out[lost] = self.low - self.radius + source.integers(self.span + self.width, lost.size)
        return out

    def law(self, value: int) -> Law:
        """Return the exact law over ``low - radius .. high + radius``."""
        first, last = self.code_range
        outputs = tuple(range(first, last + 1))
        inside = min(max(value, self.low), self.high)
        if self.outside == "uniform" and inside != value:
            return Law(outputs, (1,) * len(outputs))
        if not self.span:
            return Law(outputs, (1,) * len(outputs))
        near = self.near * self.span
        far = (ONE - self.near) * self.width
        return Law(outputs, tuple(near if abs(o - inside) <= self.radius else far for o in outputs))

    def words(self) -> str:
        """Return the odds of an answer near the level."""
        first, last = self.code_range
        lost = "as the nearest of them" if self.outside == "project" else "anything"
        return (
            f"a level from {self.low} to {self.high} answers within {self.radius} of itself with probability "
            f"{percent(self.near / ONE)}, else anything else from {first} to {last}; any other level answers {lost}"
        )

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the output for every level, in closed form.

        With ``m`` the middle of all outputs, the far outputs have the sum of all minus the sum of the near.
        """
        levels = np.arange(self.n_inputs, dtype=np.float64)
        v = np.clip(levels, self.low, self.high)
        p = self.near / ONE
        w = self.width
        s = self.span
        n = w + s
        middle = (self.low + self.high) / 2
        spread = (w * w - 1) / 12
        all_square = (n * n - 1) / 12 + middle**2
        square_near = v * v + spread
        if s:
            mean = p * v + (1 - p) * (n * middle - w * v) / s
            square = p * square_near + (1 - p) * (n * all_square - w * square_near) / s
        else:
            mean = v
            square = square_near
        if self.outside == "uniform":
            mean = np.where(v == levels, mean, middle)
            square = np.where(v == levels, square, all_square)
        return mean, np.maximum(square - mean**2, 0.0)


AUDITS = (
    Audit(
        "interval response",
        lambda epsilon: IntervalResponse(epsilon, 8, low=1, high=6, radius=1),
        (Chance(2, lambda sent: abs(sent - 2) <= 1),),
        pair=lambda response: (2, 5),
    ),
    Audit(
        "interval response, anything outside",
        lambda epsilon: IntervalResponse(epsilon, 8, low=1, high=6, radius=1, outside="uniform"),
        (Chance(2, lambda sent: abs(sent - 2) <= 1),),
        pair=lambda response: (2, 5),
    ),
)
