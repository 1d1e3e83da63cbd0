"""Top response: k-ary randomised response on some of the levels; the others count as one of these, drawn blindly."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.forms import Budget
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.level import LevelMechanism
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.types import FloatArray, IntArray

__all__ = ["AUDITS", "TopResponse"]


@dataclass(frozen=True)
class TopResponse(LevelMechanism):
    r"""RRTop-k of Ghazi et al. (2021): randomised response on the k levels of ``top``.

    .. math:: P(o \mid v) = \begin{cases} p & v = o \\ (1-p)/(k-1) & v \in \text{top}, v \ne o \\
              1/k & v \notin \text{top} \end{cases} \qquad p \le \frac{e^\varepsilon}{e^\varepsilon + k - 1}

    With all levels in ``top`` it is k-ary randomised response.

    Proof that it is epsilon-DP: replace a level outside ``top`` by one of ``top`` drawn uniformly, without looking at
    anything, and send the result through k-ary response, which is epsilon-DP
    (:class:`~hedgerow.mechanisms.KaryResponse`). The law of an input is then a mixture of laws that are within
    ``e**epsilon`` of each other, and by symmetry it is ``1/k`` for every output.

    Parameters
    ----------
    epsilon : float
        Privacy budget of one label.
    n_steps : int
        Steps of the label grid; levels are ``0 .. n_steps``.
    top : tuple of int
        The levels that can be sent, rising; public.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> response = TopResponse(5.0, 4, top=(1, 3, 4))
    >>> codes = response.randomize(np.array([0, 1, 3, 4]), SeededRandomness(1))
    >>> response.positions(codes).tolist()
    [1.0, 3.0, 3.0, 4.0]
    """

    epsilon: Budget
    n_steps: int
    top: tuple[int, ...]
    response: KaryResponse = field(init=False, repr=False, compare=False)
    name = "top response"
    kind = "top"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "n_steps", check_positive(self.n_steps, name="n_steps"))
        top = tuple(map(int, self.top))
        rising = all(a < b for a, b in pairwise(top))
        if not top or not rising or top[0] < 0 or top[-1] > self.n_steps:
            raise HedgerowError(f"'top' must be levels that rise within 0 .. {self.n_steps}. Got {self.top!r} instead.")
        object.__setattr__(self, "top", top)
        object.__setattr__(self, "response", KaryResponse(self.epsilon, len(top)))

    @property
    def code_range(self) -> tuple[int, int]:
        """Return the first and the last place in ``top``."""
        return 0, len(self.top) - 1

    @property
    def places(self) -> IntArray:
        """Return the place of each level in ``top``, or -1."""
        table = np.full(self.n_inputs, -1, dtype=np.int64)
        table[list(self.top)] = np.arange(len(self.top))
        return table

    def positions(self, codes: npt.ArrayLike) -> FloatArray:
        """Return the levels that outputs stand for."""
        levels: FloatArray = np.asarray(self.top, dtype=np.float64)[np.asarray(codes)]
        return levels

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return one place in ``top`` for each level."""
        source = as_randomness(randomness)
        own = self.places[self._check(values)]
        if len(self.top) < self.n_inputs:
            # Drawn for everybody: what is drawn, and how much, does not depend on the level.
            blind = source.integers(len(self.top), own.size)
            own = np.where(own < 0, blind, own)
        return self.response.randomize(own, source)

    def law(self, value: int) -> Law:
        """Return the exact law over places in ``top``."""
        place = int(self.places[value])
        if place >= 0:
            return self.response.law(place)
        return Law(tuple(range(len(self.top))), (1,) * len(self.top))

    def matrix(self) -> FloatArray:
        """Return the probability of each output (column) given each level (row)."""
        laws = [self.law(level) for level in range(self.n_inputs)]
        return np.array([[weight / law.total for weight in law.weights] for law in laws])

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the level sent, for every level."""
        table = self.matrix()
        levels = np.asarray(self.top, dtype=np.float64)
        mean = table @ levels
        return mean, np.maximum(table @ levels**2 - mean**2, 0.0)

    def words(self) -> str:
        """Return the odds of the true level and of each other one."""
        told = self.response.odds("levels")
        if len(self.top) == self.n_inputs:
            return told
        return f"{told}; a level that is none of them is sent as any of them alike"


AUDITS = (
    Audit(
        "top response",
        lambda epsilon: TopResponse(epsilon, 4, (0, 2, 3)),
        (Chance(0, lambda sent: sent == 0), Chance(0, lambda sent: sent == 1)),
        pair=lambda mechanism: (0, 2),
    ),
)
