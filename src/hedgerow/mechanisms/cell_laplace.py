"""Laplace noise on every cell of a histogram: the report behind PHIST, appendix D.1 of the paper."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, LocalMechanism
from hedgerow.mechanisms.laplace import exactly
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, discrete_laplace, dyadic_exp
from hedgerow.types import IntArray

__all__ = ["AUDITS", "CellLaplace", "laplace_weights", "split"]


def split(epsilon: float, share: float, *, name: str = "cell_share") -> tuple[float, float]:
    """Return ``(share * epsilon, the rest)`` as floats whose exact sum is at most ``epsilon``.

    >>> split(1.0, 0.3)
    (0.3, 0.7)
    """
    if not isinstance(share, int | float | np.number) or not 0 < share < 1:
        raise HedgerowError(f"The '{name}' parameter must be strictly between 0 and 1. Got {share!r} instead.")
    if math.isinf(epsilon):
        return math.inf, math.inf
    first = epsilon * float(share)
    rest = epsilon - first
    while Fraction(first) + Fraction(rest) > Fraction(epsilon):
        rest = math.nextafter(rest, 0.0)
    return first, rest


def laplace_weights(value: int, ratio: int, low: int, high: int) -> list[int]:
    """Return integer weights of discrete Laplace noise around ``value``, clamped to ``low .. high``.

    Over the common denominator ``(1 + r) 2**(64 (high - low + 1))``: ``(1-r) r**|k|`` inside, ``r**|k|`` at the ends.
    """
    if ratio == 0:
        return [int(o == value) for o in range(low, high + 1)]
    span = high - low
    return [
        ratio ** abs(o - value) * (ONE if o in (low, high) else ONE - ratio) << 64 * (span - abs(o - value))
        for o in range(low, high + 1)
    ]


@dataclass(frozen=True)
class CellLaplace(LocalMechanism):
    r"""Send the one-hot vector of a cell, and the same vector times the label, both with Laplace noise.

    The label is a level ``0 .. n_steps`` counted from the middle, ``v = level - n_steps/2``. The report on cell j of
    a holder in cell c is

    .. math:: A_j = 1[j = c] + \xi_j, \qquad B_j = v\,1[j = c] + \eta_j

    with discrete Laplace noise of ratio :math:`r_1 \ge e^{-\varepsilon_1/2}` and
    :math:`r_2 \ge e^{-\varepsilon_2/n_{steps}}`.

    Proof that it is epsilon-DP: one-hot vectors differ by 1 in two cells, an L1 distance of 2, so A costs
    ``2 log(1/r1) <= epsilon1``. The other part differs by at most ``|v| + |v'| <= n_steps`` in those cells, so B
    costs ``n_steps log(1/r2) <= epsilon2``. The dyadic ratios are rounded up, and ``epsilon1 + epsilon2 <= epsilon``.
    (In label units: with ``|y| <= M`` around the middle the second sensitivity is 2M. Tight: two cells, both ends.)

    Parameters
    ----------
    epsilon : float
        Budget of one report.
    n_cells : int
        Cells of the histogram; inputs are ``cell * (n_steps + 1) + level``.
    n_steps : int
        Steps of the label grid, an even number so that its middle is on it.
    cell_share : float
        Share of epsilon for the cell, the rest is for cell times label.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> mechanism = CellLaplace(4.0, n_cells=3, n_steps=2)
    >>> mechanism.randomize(np.array([1 * 3 + 2]), SeededRandomness(0)).tolist()  # cell 1, the label's upper end
    [[-1, 1, -2, 0, 1, 0]]
    """

    epsilon: float
    n_cells: int
    n_steps: int = 2
    cell_share: float = 0.5
    cell_ratio: int = field(init=False, repr=False)
    label_ratio: int = field(init=False, repr=False)
    name = "Laplace on cells"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "n_cells", check_positive(self.n_cells, name="n_cells"))
        steps = check_positive(self.n_steps, name="n_steps", least=2)
        if steps % 2:
            raise HedgerowError(f"The 'n_steps' parameter must be even. Got {steps!r} instead.")
        object.__setattr__(self, "n_steps", steps)
        cell, label = split(self.epsilon, self.cell_share)
        for field_name, epsilon, sensitivity in (("cell_ratio", cell, 2), ("label_ratio", label, steps)):
            ratio = 0 if math.isinf(epsilon) else dyadic_exp(Fraction(epsilon) / sensitivity)
            # Noise beyond 2**30 steps would leave no total that 63 bits can hold.
            if ratio > ONE - (1 << 34):
                raise HedgerowError(f"The 'epsilon' parameter is too small. Got {self.epsilon!r} instead.")
            object.__setattr__(self, field_name, ratio)

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Return the number of (cell, level) pairs."""
        return self.n_cells * (self.n_steps + 1)

    def variances(self) -> tuple[float, float]:
        """Return the noise variances ``2 r / (1-r)**2`` of one report's A_j and B_j."""
        first, second = (2 * r / (1 - r) ** 2 for r in (self.cell_ratio / ONE, self.label_ratio / ONE))
        return first, second

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return one report a row: A of every cell, then B of every cell."""
        inputs = self._check(values)
        source = as_randomness(randomness)
        n = inputs.size
        k = self.n_cells
        out = np.empty((n, 2, k), dtype=np.int64)
        out[:, 0] = discrete_laplace(self.cell_ratio, n * k, source).reshape(n, k)
        out[:, 1] = discrete_laplace(self.label_ratio, n * k, source).reshape(n, k)
        cell, level = np.divmod(inputs, self.n_steps + 1)
        out[np.arange(n), 0, cell] += 1
        out[np.arange(n), 1, cell] += level - self.n_steps // 2
        return out.reshape(n, 2 * k)

    def law(self, value: int, *, reach: int = 2) -> Law:
        """Return the exact law with every number clamped ``reach`` beyond what it can be without noise.

        Beyond the noiseless values all ratios of one side are the same, so the clamp hides no ratio.
        """
        cell, level = divmod(value, self.n_steps + 1)
        half = self.n_steps // 2
        one = [laplace_weights(int(j == cell), self.cell_ratio, -reach, 1 + reach) for j in range(self.n_cells)]
        two = [
            laplace_weights((level - half) * (j == cell), self.label_ratio, -half - reach, half + reach)
            for j in range(self.n_cells)
        ]
        spans = [range(-reach, 2 + reach)] * self.n_cells + [range(-half - reach, half + reach + 1)] * self.n_cells
        outputs = tuple(itertools.product(*spans))
        return Law(outputs, tuple(math.prod(w) for w in itertools.product(*one, *two)))

    def outcomes(self, drawn: npt.NDArray[Any], *, reach: int = 2) -> list[Hashable]:
        """Return reports, clamped as in the law."""
        half = self.n_steps // 2
        low = [-reach, -half - reach]
        high = [1 + reach, half + reach]
        near = np.clip(drawn, np.repeat(low, self.n_cells), np.repeat(high, self.n_cells))
        return super().outcomes(near)

    def words(self) -> str:
        """Return the odds that a number is told as it is."""
        one, two = (percent(exactly(ratio)) for ratio in (self.cell_ratio, self.label_ratio))
        return (
            f"for each of {self.n_cells} cells two numbers get noise in whole steps: whether the record is in it, "
            f"exact with probability {one}, and its label there, exact with {two}"
        )


AUDITS = (
    Audit(
        "Laplace on cells",
        lambda epsilon: CellLaplace(epsilon, n_cells=2),
        (Chance(0, lambda sent: sent[0] == 1), Chance(0, lambda sent: sent[2] == -1)),  # cell 0, the lowest label
    ),
)
