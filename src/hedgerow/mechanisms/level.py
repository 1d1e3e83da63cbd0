"""Randomisers of a label level: integers in, output codes out, and where on the grid each code stands.

A label mechanism rounds the label to a public grid *first* and randomises the level, so that the law can be
enumerated and the sampler is exact. An output is an integer *code*; ``positions`` says where it lies, in steps
of the grid (noise reaches beyond ``0 .. n_steps``; bins stand for a mean between two levels).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.content import Content
from hedgerow.forms import Budget
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, LocalMechanism
from hedgerow.mechanisms.laplace import DiscreteLaplace
from hedgerow.randomness import Randomness
from hedgerow.types import FloatArray, IntArray

__all__ = [
    "AUDITS",
    "AdditiveNoise",
    "LaplaceNoise",
    "LevelMechanism",
]


class LevelMechanism(LocalMechanism, Content, what="label mechanism", tag="kind"):
    """A randomiser of a level ``0 .. n_steps``, as part of a public task.

    Attributes
    ----------
    n_steps : int
        Steps of the label grid.
    kind : str
        Its name in JSON.
    """

    kind: ClassVar[str]
    n_steps: int
    protects = "label"
    neighbours = "label"

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Return the number of levels."""
        return self.n_steps + 1

    def __reduce__(self) -> tuple[Any, ...]:
        # Rebuilt from its parameters: sampling tables stay behind, and the claim is checked again.
        return type(self), tuple(getattr(self, f.name) for f in fields(self) if f.init)  # type: ignore[arg-type]

    @property
    def code_range(self) -> tuple[int, int]:
        """Return the least and the greatest code that can be sent."""
        raise NotImplementedError

    def positions(self, codes: npt.ArrayLike) -> FloatArray:
        """Return where codes stand, in steps from the lower label bound."""
        return np.asarray(codes, dtype=np.float64)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the output position for every level, in closed form."""
        raise NotImplementedError


class AdditiveNoise(LevelMechanism):
    """Noise that does not depend on the level: unbiased, with one variance."""

    reach: int

    @property
    def variance(self) -> float:
        """Return the noise variance in squared steps."""
        raise NotImplementedError

    @property
    def code_range(self) -> tuple[int, int]:
        """Return the ends of the clamped noisy levels."""
        return -self.reach, self.n_steps + self.reach

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return the levels themselves and the noise variance (clamping moves neither measurably)."""
        return np.arange(self.n_inputs, dtype=np.float64), np.full(self.n_inputs, self.variance)


@dataclass(frozen=True)
class LaplaceNoise(AdditiveNoise):
    """Discrete Laplace noise on a level; see :class:`~hedgerow.mechanisms.DiscreteLaplace` for law and proof.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> LaplaceNoise(1.0, 16).randomize(np.array([0, 8, 16]), SeededRandomness(0)).tolist()
    [-25, 8, -15]
    """

    epsilon: Budget
    n_steps: int
    noise: DiscreteLaplace = field(init=False, repr=False, compare=False)
    name = "Laplace noise"
    kind = "laplace"

    def __post_init__(self) -> None:
        noise = DiscreteLaplace(self.epsilon, self.n_steps)
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "epsilon", noise.epsilon)
        object.__setattr__(self, "n_steps", noise.n_steps)

    @property
    def reach(self) -> int:  # type: ignore[override]
        """Return how far beyond the grid the output is clamped."""
        return self.noise.reach

    @property
    def variance(self) -> float:
        """Return the noise variance in squared steps."""
        return self.noise.variance

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return noisy levels."""
        return self.noise.randomize(values, randomness)

    def law(self, value: int, *, reach: int | None = None) -> Law:
        """Return the exact law; ``reach`` clamps nearer without changing a ratio."""
        return self.noise.law(value, reach=reach)

    def outcomes(self, drawn: npt.NDArray[Any], *, reach: int | None = None) -> list[Hashable]:
        """Return noisy levels, clamped as in the law."""
        return self.noise.outcomes(drawn, reach=reach)

    def words(self) -> str:
        """Return the odds of the noise."""
        return self.noise.words()


AUDITS = (
    Audit(
        "Laplace noise",
        lambda epsilon: LaplaceNoise(epsilon, 4),
        (Chance(2, lambda sent: sent == 2), Chance(2, lambda sent: sent == 3)),
        reach=8,
    ),
)
