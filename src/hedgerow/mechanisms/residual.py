"""How wrong a public model is for one holder, as a noisy residual."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, Mechanism, as_law
from hedgerow.mechanisms.joint import JointMechanism, LevelResponse, SignedSubset
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.types import FloatArray

__all__ = ["AUDITS", "ResidualMechanism"]


@dataclass(frozen=True)
class ResidualMechanism(Mechanism):
    r"""Randomise ``clip((y - g(x))/radius, -1, 1)``, and turn the report into a noisy residual.

    With t_hat the unbiased estimate of the clipped value, ``m0`` and ``gamma`` the public mean of it and share of
    residuals within the radius, the curator uses ``(t_hat - m0) radius/gamma + mean(residual)``: its mean over records
    follows that of the residuals where these are public ones moved by a little.

    Proof that it is epsilon-DP for the label: x and g are public, so the report is a function of y through a joint
    randomiser with a single leaf, which is epsilon-DP; what the curator does with it is post-processing.

    Parameters
    ----------
    joint : JointMechanism
        The randomiser, of one leaf.
    radius : float
        Where residuals are clipped, in label units.
    clipped_mean, inside, mean : float
        ``m0``, ``gamma`` and the mean residual, of public records.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> mechanism = ResidualMechanism(LevelResponse(2.0, 1, 3), radius=3.0)
    >>> noisy = mechanism.randomize(np.full(50_000, 0.5), SeededRandomness(0))
    >>> bool(abs(noisy.mean() - 0.5) < 0.1)
    True
    """

    joint: JointMechanism
    radius: float
    clipped_mean: float = 0.0
    inside: float = 1.0
    mean: float = 0.0
    name = "residual response"
    protects = "label"
    trust = "local"
    neighbours = "label"

    @property
    def epsilon(self) -> float:  # type: ignore[override]
        """The budget of one report."""
        return self.joint.epsilon

    @property
    def _grid(self) -> LabelGrid:
        return LabelGrid(-1.0, 1.0, self.joint.n_levels - 1)

    def randomize(self, residuals: npt.ArrayLike, randomness: Randomness | None = None) -> FloatArray:
        """Return noisy residuals."""
        source = as_randomness(randomness)
        own = np.asarray(residuals, dtype=np.float64)
        if own.ndim != 1 or np.isnan(own).any():
            raise HedgerowError("'residuals' must be a 1-d array of numbers.")
        reports = self.joint.randomize(self._grid.levels(own / self.radius, source), source)
        scores = reports[:, 0] if reports.ndim == 2 else self.joint.scores[reports]  # type: ignore[attr-defined]
        return self._decode(scores)

    def _decode(self, scores: npt.NDArray[Any]) -> FloatArray:
        """Return the noisy residuals that scores of the leaf stand for."""
        t = scores / (float(self.joint.kappa) * self.joint.top)
        return np.asarray((t - self.clipped_mean) * self.radius / self.inside + self.mean)

    def sample(self, given: float, n: int, randomness: Randomness | None = None) -> FloatArray:
        """Return the noisy residuals of ``n`` holders with the same residual."""
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise HedgerowError(f"a residual must be a number. Got {type(given).__name__} instead.")
        return self.randomize(np.full(n, float(given)), randomness)

    def law(self, given: float) -> Law:
        """Return the exact law of the noisy residual: that of the randomiser, over the levels it may be rounded to."""
        chances: dict[float, Fraction] = {}
        for level, share in _rounding(self._grid, given / self.radius).items():
            law = self.joint.law(level)
            for output, weight in zip(law.outputs, law.weights, strict=True):
                noisy = float(self._decode(np.array([self._score(output)]))[0])
                chances[noisy] = chances.get(noisy, Fraction(0)) + share * Fraction(weight, law.total)
        return as_law(chances)

    def _score(self, output: Any) -> int:
        """Return the score of the only leaf in an output of the randomiser."""
        return int(output[0] if isinstance(output, tuple) else self.joint.scores[output])  # type: ignore[attr-defined]

    def words(self) -> str:
        """Return the odds of the randomiser."""
        return (
            f"how far a label is from the prediction of a public model, at most {self.radius:g} either way, is rounded "
            f"at random and reported: {self.joint.words()}"
        )


def _rounding(grid: LabelGrid, value: float) -> dict[int, Fraction]:
    """Return the exact law of :meth:`LabelGrid.levels`, which adds 24 random bits after the point and rounds down.

    >>> _rounding(LabelGrid(-1.0, 1.0, 2), 0.25)
    {1: Fraction(3, 4), 2: Fraction(1, 4)}
    """
    place = (min(max(value, grid.low), grid.high) - grid.low) * (256 * (grid.n_steps / (grid.high - grid.low)))
    place = min(place, 256.0 * grid.n_steps)
    whole = math.floor(place)
    level, rest = divmod(whole << 16 | math.floor((place - whole) * 65536), 1 << 24)
    up = Fraction(rest, 1 << 24)
    return {level: 1 - up, level + 1: up} if rest else {level: Fraction(1)}


def _residuals(mechanism: ResidualMechanism) -> tuple[float, ...]:
    """Return residuals beyond either end, and two that are rounded at random."""
    return (-2.0, -0.6, 0.3, 2.0)


_TOLD = (Chance(2.0, lambda noisy: noisy > 0), Chance(2.0, lambda noisy: noisy < 0))

AUDITS = (
    Audit(
        "residual response",
        lambda epsilon: ResidualMechanism(SignedSubset(epsilon, 1), 1.0),
        _TOLD,
        inputs=_residuals,
        outside=(math.nan, "0", True),
    ),
    Audit(
        "residual response, levels",
        lambda epsilon: ResidualMechanism(LevelResponse(epsilon, 1, 3), 1.0),
        _TOLD,
        inputs=_residuals,
        outside=(math.nan, "0", True),
    ),
)
