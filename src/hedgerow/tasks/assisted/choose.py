"""The radius and the joint randomiser with the least noise and bias, by closed form, from public residuals alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hedgerow.mechanisms.joint import JointMechanism
from hedgerow.tasks.assisted.message import build_joint
from hedgerow.tasks.assisted.residuals import rounded_square
from hedgerow.types import FloatArray

__all__ = ["SIZES", "Choice", "choices", "choose_randomizer", "expected_share", "randomizers"]


RADII = (0.5, 0.7, 1.0, 1.4, 2.0, 3.0)  # tried, in public root mean squares: steps of about the root of 2
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # of trees and subsets, tried: two to a power of 2
_INSIDE = 0.5
"""Least public share of residuals within the radius. Decoding divides by it: where all errors of holders are within the
radius, corrections are too large by a factor of 1/.5 = 2 at most, and twice the right correction does not harm."""


def expected_share(K: int) -> float:
    """Return the share of the variance of public errors, or of what clipping adds to them, that K leaves may explain.

    The form is that of the first design, .25 (1 - K^-1/4) + .004; among holders of ABA, CAL, CCP, MET and RED (400
    public records, one split, K = 2 to 16) leaves explain .002 to .036, in GAS .08 to .13. The factor .3, by hand, lies
    above the five and below GAS. With it gains were no smaller than with .5 or 1 at epsilon 1 and 2, at 4 and 8 smaller
    by half a percent or less, with 2,500 holders of nine sets.

    >>> [round(expected_share(K), 3) for K in (1, 2, 8, 64)]
    [0.001, 0.013, 0.032, 0.05]
    """
    return float(0.3 * (0.25 * (1 - K**-0.25) + 0.004))


@dataclass(frozen=True)
class Choice:
    """A radius and a randomiser for trees of K leaves, with ``A`` and ``B`` in squared label units.

    ``excess`` is the variance of ``clip(residual)/gamma - residual`` among public residuals, gamma the share of them
    within the radius: what decoding a clipped residual is wrong by. No number of reports averages it away where it
    differs between records.
    """

    radius: float
    randomizer: str
    parameter: int
    A: float
    B: float
    excess: float


@lru_cache(maxsize=len(SIZES))
def randomizers(epsilon: float, K: int) -> tuple[tuple[str, int, JointMechanism], ...]:
    """Return the randomisers to choose from, for ``K`` leaves; kept, for a design after a pilot asks again.

    Subsets name half of the leaves at most: a report that names them all does not tell which of them holders are in,
    and then sums have to be divided by public shares, which are wrong where public records were selected.

    >>> [(kind, parameter) for kind, parameter, _ in randomizers(1.0, 4)]
    [('subset', 1), ('subset', 2), ('levels', 3), ('levels', 5)]
    """
    named = [("subset", k) for k in SIZES if k <= max(1, K // 2)] + [("levels", 3), ("levels", 5)]
    return tuple((kind, k, build_joint(kind, k, epsilon, K)) for kind, k in named)


def choices(residuals: FloatArray, epsilon: float, K: int) -> Iterator[Choice]:
    """Yield all radii and randomisers for ``K`` leaves."""
    spread = float(np.sqrt(np.mean(residuals**2))) or 1e-6
    joints = randomizers(epsilon, K)
    for radius in (c * spread for c in RADII):
        v = np.clip(residuals / radius, -1, 1)
        inside = np.mean(np.abs(residuals) < radius)
        if inside < _INSIDE:  # never so at twice the root mean square or more (Chebyshev)
            continue
        gain = float((radius / inside) ** 2)
        excess = float(np.var(v * radius / inside - residuals))
        squares = {levels: rounded_square(v, levels) for levels in {joint.n_levels for _, _, joint in joints}}
        for kind, k, joint in joints:
            A, B = joint.moments(squares[joint.n_levels])
            yield Choice(radius, kind, k, gain * A, gain * B, excess)


def choose_randomizer(residuals: FloatArray, epsilon: float, K: int, *, bias_weight: float = 0.0) -> Choice:
    r"""Return the radius and the randomiser with the least noise and bias.

    .. math:: A + (K - 1) B + w\, \mathrm{var}(\mathrm{clip}(res)/\gamma - res)

    The first is K times the noise variance that one report brings to a leaf of n reports, times n; so w is n times the
    share of the variance that differs between what is told apart (leaves, or what a learner finds), over K.

    >>> residuals = np.random.default_rng(0).standard_t(3, 1000)
    >>> [round(choose_randomizer(residuals, 2.0, 1, bias_weight=w).radius, 2) for w in (0.0, 10.0, 1000.0)]
    [0.79, 1.57, 4.72]
    """

    def cost(choice: Choice) -> float:
        return choice.A + (K - 1) * choice.B + bias_weight * choice.excess

    return min(choices(residuals, epsilon, K), key=cost)
