"""The public schema of private records: given by the caller, or bought from the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.central.accounting import Amount
from hedgerow.errors import BoundsError
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace

__all__ = ["private_ranges", "public_space"]

_REACH = 40  # magnitudes from 2**-40 to 2**40 are told apart


def public_space(
    names: Sequence[str], categorical: Mapping[str, Sequence[object]], feature_bounds: object
) -> FeatureSpace:
    """Return the schema from public bounds and public category lists.

    >>> space = public_space(["age", "sex"], {"sex": ["F", "M"]}, [[0, 0], [99, 0]])
    >>> [type(f).__name__ for f in space.features]
    ['NumericFeature', 'CategoricalFeature']
    """
    if feature_bounds is None and not set(names) <= set(categorical):
        raise BoundsError(
            "'feature_bounds' is required: pass feature_bounds=(low, high), an array of shape (2, d), a dict "
            "{column: (low, high)}, or 'private' to spend a share of epsilon on them. Ranges are never read from "
            "private records outside a mechanism."
        )
    return FeatureSpace.from_bounds(feature_bounds, list(names), categories=categorical)


def private_ranges(Z: npt.NDArray[Any], epsilon: Amount, randomness: Randomness) -> npt.NDArray[np.float64]:
    r"""Return noisy ranges of numeric columns, to the next power of two; costs epsilon under add/remove.

    Every column's values are counted by sign and binary exponent, with noise for ``epsilon / d``; the range spans
    the cells whose count exceeds what noise reaches in any cell of any column with probability ``e**-3``.

    Proof: a record is in one cell of each of d histograms, so the counts have L1 sensitivity d. The noise is
    discrete Laplace for ``epsilon / d``, and the rest is post-processing.
    """
    d = Z.shape[1]
    each: Amount = epsilon if epsilon == float("inf") else Fraction(epsilon) / d
    counts = NoisyCounts(each, 1)
    size = 2 * (2 * _REACH + 2) + 1
    limit = 0.0 if epsilon == float("inf") else (np.log(size * d) + 3) / float(each)
    out = np.empty((2, d))
    for j in range(d):
        code = _codes(np.asarray(Z[:, j], dtype=np.float64))
        noisy = counts.release(np.bincount(code + size // 2, minlength=size), randomness)
        found = np.flatnonzero(noisy > limit) - size // 2
        first, last = (int(found[0]), int(found[-1])) if found.size else (-_REACH - 1, _REACH + 1)
        out[:, j] = -_edge(-first), _edge(last)
    return out


def _codes(x: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return ``sign * k`` with ``2**(k-2) <= 2**reach |x| < 2**(k-1)``, 0 for what is smaller."""
    _, exponent = np.frexp(np.abs(x))
    k = np.clip(exponent.astype(np.int64) + _REACH, 0, 2 * _REACH + 1)
    return np.where(x == 0, 0, np.sign(x).astype(np.int64) * k)


def _edge(code: int) -> float:
    """Return the upper edge of a cell."""
    if code >= 0:
        return float(2.0 ** (code - _REACH))
    return -float(2.0 ** (-code - 1 - _REACH))
