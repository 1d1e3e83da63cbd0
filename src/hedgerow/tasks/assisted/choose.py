"""The radius and the joint randomiser with the least noise, by closed form and from public residuals alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.mechanisms.joint import JointMechanism
from hedgerow.tasks.assisted.message import build_joint
from hedgerow.tasks.assisted.residuals import rounded_square
from hedgerow.types import FloatArray

__all__ = ["SIZES", "Choice", "randomizers", "choose_randomizer"]


RADII = (0.5, 0.7, 1.0, 1.4, 2.0, 3.0)  # tried, in public root mean squares: steps of about the root of 2
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # of subsets, tried: two to a power of 2


@dataclass(frozen=True)
class Choice:
    """A radius and a randomiser for trees of K leaves, with ``A`` and ``B`` in squared label units."""

    radius: float
    randomizer: str
    parameter: int
    A: float
    B: float


def randomizers(epsilon: float, K: int) -> list[tuple[str, int, JointMechanism]]:
    """Return the randomisers to choose from, for ``K`` leaves.

    >>> [(kind, parameter) for kind, parameter, _ in randomizers(1.0, 2)]
    [('subset', 1), ('subset', 2), ('levels', 3), ('levels', 5)]
    """
    named = [("subset", k) for k in SIZES if k <= K] + [("levels", 3), ("levels", 5)]
    return [(kind, k, build_joint(kind, k, epsilon, K)) for kind, k in named]


def choose_randomizer(residuals: FloatArray, epsilon: float, K: int) -> Choice:
    """Return the radius and the randomiser with the least noise, ``r**2 (A + (K-1) B)/gamma**2``."""
    spread = float(np.sqrt(np.mean(residuals**2))) or 1e-6
    best = None
    least = np.inf
    for radius in (c * spread for c in RADII):
        v = np.clip(residuals / radius, -1, 1)
        inside = np.mean(np.abs(residuals) < radius)
        if inside == 0:
            continue
        for kind, k, joint in randomizers(epsilon, K):
            A, B = joint.moments(rounded_square(v, joint.n_levels))
            gain = float((radius / inside) ** 2)
            if gain * (A + (K - 1) * B) < least:
                least = gain * (A + (K - 1) * B)
                best = Choice(radius, kind, k, gain * A, gain * B)
    assert best is not None
    return best
