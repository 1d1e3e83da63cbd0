"""Counting holders by leaf and noisy label with the compiled kernels, draw for draw as the samplers do it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.kernels import native
from hedgerow.randomness import Randomness
from hedgerow.samplers import _DIGIT, _RARELY, ONE, _check_ratio, _laplace_cdf, _lengthen, discrete_laplace

__all__ = ["Counts", "count_discrete_laplace"]


class Counts:
    """A table of counts in 16 bits, which stays in the cache, with a second one for what goes beyond.

    Needs the compiled kernels.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self.low = np.zeros(shape, dtype=np.uint16)
        self.carry = np.zeros(shape, dtype=np.uint32)  # memory that is hardly ever touched

    def add(self, row: npt.NDArray[Any], column: npt.NDArray[np.int32]) -> None:
        """Add one to each of these cells."""
        rows = np.ascontiguousarray(row, dtype=np.int32)
        if not native().count(rows, column, self.low.shape[1], self.low, self.carry):
            raise _outside()

    def total(self) -> npt.NDArray[np.uint32]:
        """Return the counts (below ``2**32``)."""
        return self.low + (self.carry << np.uint32(16)) if self.carry.any() else self.low.astype(np.uint32)


def _outside() -> HedgerowError:
    return HedgerowError("a holder lies outside the table of counts; this is a bug, please report it.")


def count_discrete_laplace(
    counts: Counts,
    levels: npt.NDArray[np.int32],
    leaves: npt.NDArray[np.int32],
    numerator: int,
    low: int,
    randomness: Randomness,
) -> None:
    """Add one to the count of ``(v - low, leaf)`` for ``v = levels + noise``, clipped to the table.

    The noise is that of :func:`discrete_laplace`, draw for draw. Needs the compiled kernels.
    """
    most = counts.low.shape[0] - 1
    width = counts.low.shape[1]
    _check_ratio(numerator)
    if numerator == 0 or _DIGIT * math.log2(numerator / ONE) >= _RARELY:
        noise = discrete_laplace(numerator, levels.size, randomness)
        noise += levels
        noise -= low
        counts.add(np.clip(noise, 0, most), leaves)
        return
    law = _laplace_cdf(numerator)
    first = randomness.uint16(levels.size)
    law.drawn(levels.size)
    special = np.empty(levels.size + 1, dtype=np.int32)
    table = _noise_table(numerator)
    n = native().noisy(levels, first, table, -low, most, leaves, width, counts.low, counts.carry, special)
    if n < 0:
        raise _outside()
    if n:
        # Open prefixes and the end cells: as in _narrow_laplace, on these alone.
        at = special[:n]
        drawn = law.finish(first[at], randomness) - _DIGIT
        _lengthen(drawn, numerator, randomness)
        drawn += levels[at]
        drawn -= low
        counts.add(np.clip(drawn, 0, most), leaves[at])


@lru_cache(maxsize=64)
def _noise_table(numerator: int) -> npt.NDArray[np.int16]:
    """Return the noise for every 16-bit prefix; -32768 where it is open, or beyond the table."""
    table = _laplace_cdf(numerator).table(np.int16)
    special = (table <= 0) | (table >= 2 * _DIGIT)
    return np.where(special, np.int16(-32768), table - np.int16(_DIGIT))
