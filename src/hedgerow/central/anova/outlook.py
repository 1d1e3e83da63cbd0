"""What a descent has shown of functions of one, two and three features, and what is left over.

Everything here is a function of what was released before: post-processing, which costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.central.anova.basis import Basis, Single
from hedgerow.central.anova.pull import energies
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.central.anova.recipe import Fitted

__all__ = ["Function", "Outlook", "deviations"]

_CHANCE = 0.5  # that there are triples at all, before any was looked for

Function = tuple[Single, ...]


def deviations(quantile: float) -> float:
    """Return how many deviations such a share of a normal law is within.

    >>> round(deviations(0.9), 3)
    1.645
    """
    return NormalDist().inv_cdf((1 + quantile) / 2)


@dataclass(frozen=True, eq=False)
class Outlook:
    """What the descent before has shown of functions of one, two and three features.

    Attributes
    ----------
    shown : array of shape (4,)
        Mean square of what functions of so many features predict, less what noise adds to it and a deviation of that.
    spread : float
        Variance of what is left over, as if it were normal: the clip is where a ``quantile`` of it is within.
    noise : float
        Mean square that noise adds to predictions.
    bound : float
        The most that labels vary by: the square of the first clip, which none of them is beyond; what a public model
        leaves over, as far as public records tell.
    functions : frozenset
        That the descent was over.
    """

    shown: FloatArray
    spread: float
    noise: float
    bound: float
    functions: frozenset[Function]

    @classmethod
    def of(cls, fitted: Fitted, clip: float, first: float, quantile: float) -> Outlook:
        """Return what a fit has shown; the first clip is public."""
        energy = energies(fitted.feature_map)
        outputs = fitted.theta.shape[1]
        noise = fitted.planned * energy * outputs
        excess = (fitted.theta**2).sum(axis=1) * energy - noise
        order = np.array([0, *map(len, fitted.feature_map.basis.functions)])
        shown = np.zeros(4)
        for k in (1, 2, 3):
            own = order == k
            doubt = math.sqrt(2 * float((noise[own] ** 2).sum()) / outputs)
            shown[k] = max(0.0, float(excess[own].sum()) - doubt)
        return cls(
            shown,
            (clip / deviations(quantile)) ** 2,
            float(noise.sum()),
            first**2,
            frozenset(fitted.feature_map.basis.functions),
        )

    @property
    def orthogonal(self) -> bool:
        """Whether functions explain no more than there is.

        If they do they overlap and cancel each other, and nothing that is predicted here holds.
        """
        return float(self.shown.sum()) <= self.bound

    @property
    def tried(self) -> bool:
        """Whether there were triples."""
        return any(len(function) == 3 for function in self.functions)

    @property
    def hoped(self) -> float:
        """What triples are expected to explain.

        As much less than pairs as these do than curves, if there are any; and no more than is left over beside noise.
        """
        if self.tried:
            return float(self.shown[3])
        if not self.shown[1]:
            return 0.0
        left = max(0.0, self.spread - self.noise)
        return _CHANCE * min(left, float(self.shown[2] ** 2 / self.shown[1]))

    def prior(self, basis: Basis) -> dict[Function, float]:
        """Return what each function is expected to explain: in proportion to its mean square ``w**2 E b**2``.

        Those that the descent before was over explain together what it has shown.
        """
        out: dict[Function, float] = {}
        for order in (1, 2, 3):
            squares = {
                function: weight**2 * energy
                for function, weight, energy in zip(basis.functions, basis.weights, basis.energies, strict=True)
                if len(function) == order
            }
            whole = float(self.shown[order])
            known = sum(square for function, square in squares.items() if function in self.functions)
            if order == 3:
                whole = self.hoped
                known = known if self.tried else sum(squares.values())
            for function, square in squares.items():
                out[function] = whole * square / known if known else 0.0
        return out
