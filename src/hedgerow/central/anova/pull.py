"""How much of a model's predictions each function is, and how strongly records pull at its coefficient."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hedgerow.central.anova.design import FeatureMap
from hedgerow.randomness import SeededRandomness
from hedgerow.types import FloatArray

__all__ = ["energies", "pulls"]

_AT_ONCE = 128  # of these points: their functions stay in the cache
_POINTS = 2048  # for the mean square of functions: it errs by 3 %, as a root of 1/1,000


def energies(feature_map: FeatureMap) -> FloatArray:
    """Return ``E phi_m**2`` as it is publicly assumed: ``w**2 E b**2 / R**2``."""
    return np.asarray(np.square(feature_map.weights) * np.array([1.0, *feature_map.basis.energies]))


@lru_cache(maxsize=2)  # the length of a descent and the noise of what it found ask for the same
def pulls(feature_map: FeatureMap, quantile: float) -> FloatArray:
    r"""Return how strongly records pull at each coefficient: its energy, less what is cut off.

    Long vectors are shortened, which is counted for records of independent features in the released quantiles; and
    residuals beyond their ``quantile`` are clipped, which then do not pull. The weaker the pull, the more noise is
    left.
    """
    source = SeededRandomness(0)  # the same points always: nothing private, nothing secret
    columns = [source.integers(feature_map.size(j), _POINTS) for j in range(len(feature_map.space))]
    codes = np.column_stack(columns).astype(np.int32)
    whole = np.zeros(len(feature_map.basis))
    cut = np.zeros(len(feature_map.basis))
    for squares in feature_map.squares(codes, _AT_ONCE):
        shorter = 1 / np.maximum(1.0, squares.sum(axis=0))
        if np.isfinite(feature_map.most):
            sizes = np.maximum(np.sqrt(squares).sum(axis=0), 1e-300)
            shorter = np.minimum(shorter, np.square(feature_map.most / sizes))
        whole += squares.sum(axis=1)
        cut += squares @ shorter
    found: FloatArray = np.asarray(quantile * energies(feature_map) * cut / np.maximum(whole, 1e-300))
    found.flags.writeable = False  # whoever asks next gets the same
    return found
