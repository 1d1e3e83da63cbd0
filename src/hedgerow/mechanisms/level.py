"""Randomisers of a label level: integers in, output codes out, and where on the grid each code stands.

A label mechanism rounds the label to a public grid *first* and randomises the level, so that the law can be
enumerated and the sampler is exact. An output is an integer *code*; ``positions`` says where it lies, in steps
of the grid (noise reaches beyond ``0 .. n_steps``; bins stand for a mean between two levels).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.bounds import check_fields
from hedgerow.errors import FormatError
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
    "budget_from_json",
    "budget_to_json",
    "stored_pmf",
]


class LevelMechanism(LocalMechanism):
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

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form from which any device rebuilds the same law."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LevelMechanism:
        """Rebuild from :meth:`to_dict`; unknown fields are refused."""
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

    epsilon: float
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

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {"kind": self.kind, "epsilon": budget_to_json(self.epsilon), "n_steps": self.n_steps}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LaplaceNoise:
        """Rebuild from :meth:`to_dict`."""
        check_fields(data, {"kind", "epsilon", "n_steps"}, "Laplace noise")
        return cls(budget_from_json(data["epsilon"]), int(data["n_steps"]))


def budget_to_json(epsilon: float) -> float | str:
    """Return an epsilon that JSON can hold."""
    return "inf" if math.isinf(epsilon) else epsilon


def budget_from_json(value: object) -> float:
    """Undo :func:`budget_to_json`."""
    if value == "inf":
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"'epsilon' must be a number or \"inf\". Got {value!r} instead.")
    return float(value)


def stored_pmf(weights: object) -> tuple[int, ...]:
    """Return integer weights that were stored as hexadecimal text (JSON numbers have 53 bits)."""
    if not isinstance(weights, list | tuple) or not all(isinstance(w, str) for w in weights):
        raise FormatError("weights must be a list of hexadecimal strings.")
    return tuple(int(w, 16) for w in weights)


AUDITS = (
    Audit(
        "Laplace noise",
        lambda epsilon: LaplaceNoise(epsilon, 4),
        (Chance(2, lambda sent: sent == 2), Chance(2, lambda sent: sent == 3)),
        reach=8,
    ),
)
