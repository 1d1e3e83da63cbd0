"""Whether the last descents go over products of three features, and over how many: by predicted error.

Everything here is a function of public choices and of what was released before: post-processing, which costs nothing.
A triple is a function like others: a record's vector is bounded with it as without it (:class:`~.products.Products`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.central.anova.basis import Basis, Single, triples
from hedgerow.central.anova.descent import allocation, noise_variance, remains
from hedgerow.central.anova.recipe import Course, Fitted, energies, map_of, steps_of
from hedgerow.central.anova.rules import Found
from hedgerow.types import FloatArray

__all__ = ["Outlook", "with_triples"]

_NUMBERS = (32, 64, 128, 256, 512)  # of triples that are tried: in the end as many as there are of singles and pairs
_NORMAL = 1.645  # deviations that 90 % of a normal law are within: residuals are clipped there
_CHANCE = 0.5  # that there are triples at all, before any was looked for

Function = tuple[Single, ...]


def with_triples(
    course: Course, basis: Basis, factor: float, share: Fraction, fitted: Fitted, found: Found, *, last: bool
) -> Basis:
    """Return the basis with as many of the heaviest triples as make the predicted error least; often none.

    The last descent but one tries some where :meth:`Outlook.hoped` says so; the last one goes on with what they showed,
    and takes none where none were tried.
    """
    outlook = Outlook.of(fitted, found.clip, course.options.clip)
    if not outlook.orthogonal or not outlook.hoped or (last and not outlook.tried):
        return basis
    extra = triples(course.data.space, basis, factor, course.least, _NUMBERS[-1])
    prior = outlook.prior(_joined(basis, extra, len(extra.functions)))
    best = basis
    least = _error(course, basis, prior, share, found, outlook.spread)
    for number in sorted({min(number, len(extra.functions)) for number in _NUMBERS} - {0}):
        wider = _joined(basis, extra, number)
        error = _error(course, wider, prior, share, found, outlook.spread)
        if error >= least:  # more only add to the noise of these
            break
        best = wider
        least = error
    return best


def _joined(basis: Basis, extra: Basis, number: int) -> Basis:
    return Basis(
        basis.functions + extra.functions[:number],
        basis.weights + extra.weights[:number],
        basis.energies + extra.energies[:number],
    )


@dataclass(frozen=True, eq=False)
class Outlook:
    """What the descent before has shown of functions of one, two and three features.

    Attributes
    ----------
    shown : array of shape (4,)
        Mean square of what functions of so many features predict, less what noise adds to it and a deviation of that.
    spread : float
        Variance of what is left over, as if it were normal: the clip is where nine tenths are within.
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
    def of(cls, fitted: Fitted, clip: float, first: float) -> Outlook:
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
            (clip / _NORMAL) ** 2,
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


def _error(
    course: Course, basis: Basis, prior: dict[Function, float], share: Fraction, found: Found, spread: float
) -> float:
    r"""Return what a descent over these functions is expected to leave over.

    .. math:: \sum_{m \text{ not used}} \pi_m + \sum_m \pi_m \operatorname{left}_m^2 + \sum_m h_m \operatorname{Var}_m
              + \frac{\sigma^2}{n} \sum_m (1 - \operatorname{left}_m)

    What is not learnt, the noise, and what is fitted of the sample (Mallows), were the functions orthogonal.
    """
    feature_map = map_of(course, basis)
    energy = energies(feature_map)
    steps = steps_of(course, share, found, None)
    left = remains(steps, energy, steps.rounds)
    own = np.array([0.0, *(prior[function] for function in basis.functions)])
    missed = sum(prior.values()) - float(own.sum())
    strength = course.data.purse.strength
    noise = np.zeros(steps.rounds)
    if math.isfinite(strength):
        parts = np.array([float(part * steps.share) for part in allocation(steps, energy)])
        noise = found.clip / (strength * np.sqrt(parts))
    outputs = course.data.rows.outputs
    added = outputs * float((noise_variance(steps, noise.tolist(), energy) * energy).sum())
    fitted = spread / course.size * float((1 - left).sum())
    return missed + float((own * left**2).sum()) + added + fitted
