"""Matrix response: any table of probabilities of a level's outputs, verified and drawn from exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError
from hedgerow.forms import Budget, Hex
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.level import LevelMechanism
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, exp_at_least
from hedgerow.types import FloatArray, IntArray

__all__ = ["AUDITS", "MatrixResponse", "k_ary_levels", "worst_column"]

Row = tuple[Hex, ...]
_MOST = 4096  # outputs; by hand: as many levels would make a task of 270 MB


@dataclass(frozen=True)
class MatrixResponse(LevelMechanism):
    r"""Send output ``j`` with probability ``weights[v][j] / 2**64``, given level ``v``.

    .. math:: \max_v W_{vj} \le e^\varepsilon \min_v W_{vj} \quad \text{for every output } j

    Proof that it is epsilon-DP: this is the definition; it is checked in integers when the object is made, so
    that a matrix that breaks it (from a solver's rounding, or from a file) cannot exist.

    Sampler: Walker's alias method in integers. Each of ``2**b`` columns holds ``2**(64-b)`` units, cut between
    two outputs; one 64-bit word picks the column by its top bits and the side of the cut by the rest, so that
    output ``j`` gets exactly ``weights[v][j]`` of the ``2**64`` words.

    Parameters
    ----------
    epsilon : float
        The claim.
    weights : tuple of rows
        One row a level ``0 .. n_steps``, each of positive integers that sum to ``2**64``.
    outputs : tuple of float
        Where each output stands, in steps from the lower bound.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> coin = MatrixResponse(1.1, ((3 << 62, 1 << 62), (1 << 62, 3 << 62)), (-0.5, 1.5))
    >>> coin.randomize(np.array([0, 0, 1, 1]), SeededRandomness(0)).tolist()
    [0, 0, 1, 1]
    """

    epsilon: Budget
    weights: tuple[Row, ...]
    outputs: tuple[float, ...]
    name = "matrix response"
    kind = "matrix"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "weights", tuple(tuple(map(int, row)) for row in self.weights))
        object.__setattr__(self, "outputs", tuple(map(float, self.outputs)))
        if len(self.weights) < 2 or not 2 <= len(self.outputs) <= _MOST or not np.isfinite(self.outputs).all():
            raise HedgerowError(f"'weights' needs at least 2 rows, and 'outputs' 2 to {_MOST} finite numbers.")
        for row in self.weights:
            if len(row) != len(self.outputs) or min(row) < 0 or sum(row) != ONE:
                raise HedgerowError("every row of 'weights' must hold one weight an output, >= 0, with sum 2**64.")
        ratio = worst_column(self.weights)
        finite = not math.isinf(self.epsilon)
        if finite and (ratio is None or not exp_at_least(ratio, Fraction(self.epsilon))):
            raise HedgerowError(
                f"'weights' are not {self.epsilon:g}-differentially private: a column has a ratio above e**epsilon."
            )

    @property
    def n_steps(self) -> int:  # type: ignore[override]
        """Return the number of grid steps."""
        return len(self.weights) - 1

    @property
    def code_range(self) -> tuple[int, int]:
        """Return the first and the last output."""
        return 0, len(self.outputs) - 1

    def positions(self, codes: npt.ArrayLike) -> FloatArray:
        """Return where outputs stand."""
        places: FloatArray = np.asarray(self.outputs, dtype=np.float64)[np.asarray(codes)]
        return places

    @cached_property
    def _alias(self) -> tuple[int, npt.NDArray[np.uint64], IntArray]:
        """Return the number of column bits, and cut and second output of every (level, column)."""
        bits = max(1, (len(self.outputs) - 1).bit_length())
        tables = [_alias_row(row, bits) for row in self.weights]
        cuts = np.array([cut for cut, _ in tables], dtype=np.uint64).ravel()
        others = np.array([other for _, other in tables], dtype=np.int64).ravel()
        return bits, cuts, others

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return one output for each level."""
        levels = self._check(values)
        bits, cuts, others = self._alias
        word = as_randomness(randomness).uint64(levels.size)
        column = (word >> np.uint64(64 - bits)).astype(np.int64)
        place = (levels << bits) + column
        own = (word & np.uint64((1 << 64 - bits) - 1)) < cuts[place]
        return np.where(own, column, others[place])

    def law(self, value: int) -> Law:
        """Return the exact law over outputs."""
        return Law(tuple(range(len(self.outputs))), self.weights[value])

    def words(self) -> str:
        """Return the odds of the likeliest output of a level, from the least certain level to the most certain."""
        likeliest = [Fraction(max(row), ONE) for row in self.weights]
        least = percent(min(likeliest))
        most = percent(max(likeliest))
        odds = least if least == most else f"{least} to {most}"
        return (
            f"one of {len(self.outputs)} numbers is drawn by a public table of odds; the likeliest of a level has a "
            f"probability of {odds}"
        )

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the output, for every level."""
        p = np.array(self.weights, dtype=np.float64) / ONE
        o = np.asarray(self.outputs)
        mean = p @ o
        return mean, np.maximum((p * (o - mean[:, None]) ** 2).sum(axis=1), 0.0)


def worst_column(weights: tuple[Row, ...]) -> Fraction | None:
    """Return the largest ratio within a column; ``None`` if an output is possible for some levels only."""
    worst = Fraction(1)
    for column in zip(*weights, strict=True):
        most = max(column)
        least = min(column)
        if most and not least:
            return None
        if most * worst.denominator > worst.numerator * least:
            worst = Fraction(most, least)
    return worst


def _alias_row(row: Row, bits: int) -> tuple[list[int], list[int]]:
    """Cut ``2**bits`` columns of equal size between the outputs, at most two to a column."""
    size = 1 << 64 - bits
    left = list(row) + [0] * ((1 << bits) - len(row))
    cuts = [size] * len(left)
    others = list(range(len(left)))
    small = [j for j, w in enumerate(left) if w < size]
    large = [j for j, w in enumerate(left) if w > size]
    while small:
        j = small.pop()
        donor = large[-1]
        cuts[j], others[j] = left[j], donor
        left[donor] -= size - left[j]
        if left[donor] <= size:
            large.pop()
            if left[donor] < size:
                small.append(donor)
    return cuts, others


def k_ary_levels(epsilon: float, n_levels: int) -> MatrixResponse:
    """Return k-ary response among levels as a matrix, unbiased for the level where the outputs lie.

    Other levels get the same probability each, rounded up, and the true one what is left: the ratio is that of
    :class:`~hedgerow.mechanisms.k_ary.KaryResponse` or smaller.

    Examples
    --------
    >>> [round(mean, 9) for mean in k_ary_levels(1.0, 3).moments()[0].tolist()]
    [0.0, 1.0, 2.0]
    """
    k = n_levels
    other = -(-(ONE - KaryResponse(epsilon, k).truth) // (k - 1))
    own = ONE - (k - 1) * other
    if own <= other:
        raise HedgerowError(f"The 'epsilon' parameter is too small for {k} levels. Got {epsilon!r} instead.")
    weights = tuple(tuple(own if i == level else other for i in range(k)) for level in range(k))
    kappa = (own - other) / ONE
    middle = (k - 1) / 2
    return MatrixResponse(epsilon, weights, tuple(middle + (i - middle) / kappa for i in range(k)))


def _two_levels(epsilon: float) -> MatrixResponse:
    """Return randomised response of two levels."""
    return k_ary_levels(epsilon, 2)


AUDITS = (Audit("unbiased response", _two_levels, (Chance(0, lambda code: code == 0),)),)
