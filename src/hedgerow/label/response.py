"""What a holder says about a public model's error: the response of least error for whoever learns corrections."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon
from hedgerow.grid import LabelGrid
from hedgerow.label.optimal import SOLVED, least_error_matrix
from hedgerow.label.prior import designed_for
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.types import FloatArray, IntArray

__all__ = ["LABELS", "WORTH", "ResidualResponse", "residual_response"]

WORTH = 0.25
"""What a correction is expected to be worth, as a share of the public model's squared error."""
_RADIUS = 4.0  # public root mean squares: at most 1/16 of errors of any law lie beyond, by Chebyshev
LABELS = 8.0
"""Labels that are designed for at least.

For fewer the response is no more than a sign, and a sign is read as too much where errors are narrow: on CON and RED
with 400 public records corrections came out 1.5 to 1.8 times too large at 1.2 labels.
"""
_STEPS = 32  # of the grid, as OptimalRandomizer has them: a quarter of a root mean square each
_OUTPUTS = 33  # offered to the programme, likewise
_FINE = 4096  # steps where there is no noise, as in base.py
_LEAST = 1e-6  # of the label's range: the radius for a public model without errors; by hand


@dataclass(frozen=True, eq=False)
class ResidualResponse:
    r"""A task about errors of a public model, and how the curator reads an answer.

    With M(r) the mean answer to an error r, the curator uses ``(answer - E M) / E M' + E r``, the means over public
    errors: right on average where private errors are public ones moved by a little, however strongly M is drawn in.

    Parameters
    ----------
    task : LabelTask
        What holders answer: its label is the error, its grid as wide as the radius.
    usual, slope, mean : float
        ``E M``, ``E M'`` and ``E r``, of public errors.
    """

    task: LabelTask
    usual: float
    slope: float
    mean: float

    @property
    def epsilon(self) -> float:
        """The budget of one answer."""
        return self.task.mechanism.epsilon

    def codes(self, residuals: FloatArray, randomness: Randomness | None = None) -> IntArray:
        """Return what holders with these errors send."""
        return self.task.codes(residuals, as_randomness(randomness))

    def noisy(self, codes: npt.ArrayLike) -> FloatArray:
        """Return the noisy errors that answers stand for."""
        return self._read(self.task.labels(codes))

    def randomize(self, residuals: FloatArray, randomness: Randomness | None = None) -> FloatArray:
        """Return one noisy error for each error."""
        return self.noisy(self.codes(residuals, randomness))

    def expected(self, residuals: npt.ArrayLike) -> FloatArray:
        """Return the mean noisy error of holders with these errors."""
        return self._read(_mean_answers(self.task, residuals))

    def untold(self, residuals: FloatArray, units: FloatArray) -> FloatArray:
        r"""Return errors less what they are read as on average, where an error r is told in a unit s of its own.

        The curator reads ``s R(r/s)``, with R the mean noisy error. ``E R(z) = E z`` over public ``z = r/s``, but
        ``E s R(z)`` is not ``E s z`` where s has to do with what is drawn in: so the mean of what is returned,
        :math:`E[r - s R(r/s)]`, is added to whatever is read, which is then right on the public average again. A move
        of all errors by a little is read as what it is: :math:`E[s R'(z)/s] = E R'(z) = 1`.
        """
        return np.asarray(residuals - units * self.expected(residuals / units))

    def _read(self, answers: FloatArray) -> FloatArray:
        if self.slope <= 0:  # answers that depend on nothing
            return np.full(len(answers), self.mean)
        return np.asarray((answers - self.usual) / self.slope + self.mean)


def residual_response(
    residuals: npt.ArrayLike, epsilon: float, averaging: float, label_bounds: tuple[float, float]
) -> ResidualResponse:
    r"""Return the response of least error for public errors like these, and a learner that averages over m labels.

    Noise is divided by m, and bias is not. Bias that is alike everywhere is read off public errors and taken away; what
    is left is what features have to do with the curved part of M: a share :math:`w^3` of its variance, where they
    explain w of that of the errors (:class:`~hedgerow.label.prior.Fidelity`). So the response is that of least error
    for ``1 + w**3 (m - 1)`` labels, among all that are epsilon-DP (:class:`~hedgerow.label.OptimalRandomizer`): it says
    little more than a sign where noise rules, and nearly the whole error where there is hardly any.

    Everything here is public: no private label is read.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> response = residual_response(np.linspace(-3, 3, 61), 2.0, averaging=100.0, label_bounds=(0, 50))
    >>> noisy = response.randomize(np.linspace(-2.5, 3.5, 50_000), SeededRandomness(0))  # all moved by 0.5
    >>> bool(abs(noisy.mean() - 0.5) < 0.1)
    True
    """
    res = np.asarray(residuals, dtype=np.float64)
    epsilon = check_epsilon(epsilon)
    width = label_bounds[1] - label_bounds[0]
    if math.isinf(epsilon):
        task = LabelTask(LabelGrid(-width, width, _FINE), LaplaceNoise(epsilon, _FINE))
        return ResidualResponse(task, 0.0, 1.0, 0.0)
    spread = float(np.sqrt(np.mean(res**2)))
    radius = min(max(_RADIUS * spread, _LEAST * width), width)
    grid = LabelGrid(-radius, radius, _STEPS)
    designed = max(LABELS, designed_for(averaging, WORTH))
    matrix = least_error_matrix(_shares(grid, res), min(epsilon, SOLVED), designed, _OUTPUTS)
    task = LabelTask(grid, matrix)
    means = _mean_answers(task, res)
    moved = _mean_answers(task, res + grid.step) - _mean_answers(task, res - grid.step)
    return ResidualResponse(task, float(means.mean()), float(moved.mean()) / (2 * grid.step), float(res.mean()))


def _shares(grid: LabelGrid, residuals: FloatArray) -> FloatArray:
    """Return the shares of levels among public errors, as if one more were anywhere."""
    place = (np.clip(residuals, grid.low, grid.high) - grid.low) / grid.step
    level = np.minimum(place.astype(np.int64), grid.n_steps - 1)
    up = place - level
    n = grid.n_steps + 1
    counts = np.bincount(level, 1 - up, n) + np.bincount(level + 1, up, n)
    return np.asarray((counts + 1 / n) / (len(residuals) + 1))


def _mean_answers(task: LabelTask, residuals: npt.ArrayLike) -> FloatArray:
    """Return the mean answer to each error: between levels, which are rounded to at random, it is linear."""
    places, _ = task.mechanism.moments()
    grid = task.grid
    at = np.linspace(grid.low, grid.high, grid.n_steps + 1)
    return np.interp(np.asarray(residuals, dtype=np.float64), at, grid.values(places))
