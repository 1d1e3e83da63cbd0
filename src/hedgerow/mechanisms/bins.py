"""Bins response: k-ary randomised response on bins of levels, each of which stands for one value."""

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
from hedgerow.randomness import Randomness
from hedgerow.types import FloatArray, IntArray

__all__ = ["AUDITS", "BinsResponse"]


@dataclass(frozen=True)
class BinsResponse(LevelMechanism):
    r"""RR-on-Bins: send the bin of the level through k-ary randomised response.

    .. math:: P(j \mid v) = \begin{cases} p & v \in \text{bin } j \\ (1-p)/(k-1) & \text{else} \end{cases}
              \qquad p \le \frac{e^\varepsilon}{e^\varepsilon + k - 1}

    Proof that it is epsilon-DP: the bin is a function of the level, the bins are public, and k-ary response
    on the bin is epsilon-DP (:class:`~hedgerow.mechanisms.KaryResponse`); what a bin stands for is
    post-processing.

    Parameters
    ----------
    epsilon : float
        Privacy budget of one label.
    n_steps : int
        Steps of the label grid.
    starts : tuple of int
        First level of each bin, rising, the first of them 0.
    values : tuple of float
        Where each bin stands, in steps from the lower bound.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> bins = BinsResponse(2.0, 9, starts=(0, 4, 7), values=(1.5, 5.0, 8.0))
    >>> codes = bins.randomize(np.array([0, 5, 9]), SeededRandomness(0))
    >>> bins.positions(codes).tolist()
    [1.5, 5.0, 8.0]
    """

    epsilon: Budget
    n_steps: int
    starts: tuple[int, ...]
    values: tuple[float, ...]
    response: KaryResponse = field(init=False, repr=False, compare=False)
    name = "bins response"
    kind = "bins"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "n_steps", check_positive(self.n_steps, name="n_steps"))
        starts = tuple(map(int, self.starts))
        values = tuple(map(float, self.values))
        rising = all(a < b for a, b in pairwise(starts))
        if not starts or starts[0] != 0 or starts[-1] > self.n_steps or not rising:
            raise HedgerowError(f"'starts' must rise from 0 to at most {self.n_steps}. Got {self.starts!r} instead.")
        if len(values) != len(starts) or not np.isfinite(values).all():
            raise HedgerowError(f"'values' must be {len(starts)} finite numbers. Got {self.values!r} instead.")
        object.__setattr__(self, "starts", starts)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "response", KaryResponse(self.epsilon, len(starts)))

    @property
    def n_bins(self) -> int:
        """Return the number of bins."""
        return len(self.starts)

    @property
    def code_range(self) -> tuple[int, int]:
        """Return the first and the last bin."""
        return 0, self.n_bins - 1

    def bins(self, levels: npt.ArrayLike) -> IntArray:
        """Return the bin of each level."""
        table = np.searchsorted(self.starts, np.arange(self.n_inputs), side="right") - 1
        own: IntArray = table.astype(np.int64)[np.asarray(levels)]
        return own

    def positions(self, codes: npt.ArrayLike) -> FloatArray:
        """Return the values that bins stand for."""
        places: FloatArray = np.asarray(self.values, dtype=np.float64)[np.asarray(codes)]
        return places

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return one bin for each level."""
        return self.response.randomize(self.bins(self._check(values)), randomness)

    def law(self, value: int) -> Law:
        """Return the exact law over bins."""
        return self.response.law(int(self.bins(value)))

    def words(self) -> str:
        """Return the odds of the true bin and of each other one."""
        return self.response.odds("bins of levels")

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the value sent, for every level."""
        p = float(self.response.p)
        q = float(self.response.q)
        v = np.asarray(self.values)
        mean = (p - q) * v + q * v.sum()
        square = (p - q) * v * v + q * (v * v).sum()
        own = self.bins(np.arange(self.n_inputs))
        return mean[own], np.maximum(square - mean**2, 0.0)[own]


AUDITS = (
    Audit(
        "bins response",
        lambda epsilon: BinsResponse(epsilon, 8, (0, 3, 6), (1.0, 4.0, 7.0)),
        (Chance(0, lambda named: named == 0), Chance(0, lambda named: named == 1)),
    ),
)
