"""Which half of each edge of its cell every record is in, kept as packed bits.

The max-edge rule asks, for every cell and every column, how many records lie in the upper half of the edge
and what their labels sum to. A record's bit for a column changes only when its cell is cut along that very
column, so the bits are computed once and then updated one a record and level. Eight columns share a byte:
one histogram of (cell, byte) gives the sums of eight columns at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.kernels import native
from hedgerow.partition.walk import round_up
from hedgerow.types import FloatArray, IndexArray

__all__ = ["Sides"]

_BLOCK_VALUES = 1 << 18  # values compared at a time: 2 MB, which a second-level cache holds
_MOST_BYTES = 1 << 28  # of the kernel's histogram


class Sides:
    """Bits of all records: 1 if the value is at or above the midpoint of its cell's edge.

    Examples
    --------
    >>> sides = Sides(np.array([[0.1, 0.9], [0.7, 0.8]]), np.array([0.5, 0.5]))
    >>> count, total = sides.right_sums(np.array([0, 0]), np.array([3.0, 4.0]), 1)
    >>> count.tolist(), total.tolist()
    ([[1.0, 2.0]], [[4.0, 7.0]])
    """

    def __init__(self, Z: npt.NDArray[np.floating[Any]], midpoints: FloatArray) -> None:
        n, self.d = Z.shape
        middle = round_up(midpoints, Z.dtype)
        self.packed = np.empty((-(-self.d // 8), n), dtype=np.uint8)
        step = max(1, _BLOCK_VALUES // self.d)
        for start in range(0, n, step):
            bits = Z[start : start + step] >= middle
            self.packed[:, start : start + step] = np.packbits(bits, axis=1, bitorder="little").T

    def right_sums(self, where: IndexArray, labels: FloatArray, n_cells: int) -> tuple[FloatArray, FloatArray]:
        """Return number and label sum, by cell and column, of the records with bit 1.

        Labels must be whole numbers whose sums are exact (:func:`.growing.exact_labels`), so that columns
        that split alike get bit-equal sums.
        """
        if (kernels := native()) is not None and n_cells << 12 < _MOST_BYTES:
            return self._native_sums(kernels, where, labels, n_cells)
        width = _pattern_width(n_cells + 1, len(where))
        patterns = (np.arange(1 << width)[:, None] >> np.arange(width) & 1).astype(np.float64)
        counts = np.empty((n_cells, 8 * len(self.packed)))
        totals = np.empty((n_cells, 8 * len(self.packed)))
        base = where << width
        size = n_cells << width
        for group, byte in enumerate(self.packed):
            for shift in range(0, 8, width):
                key = base + (byte >> shift & ((1 << width) - 1))
                columns = slice(8 * group + shift, 8 * group + shift + width)
                count = np.bincount(key, minlength=size)[:size].astype(np.float64)
                total = np.bincount(key, labels, minlength=size)[:size]
                counts[:, columns] = count.reshape(n_cells, -1) @ patterns
                totals[:, columns] = total.reshape(n_cells, -1) @ patterns
        return counts[:, : self.d], totals[:, : self.d]

    def _native_sums(
        self, kernels: Any, where: IndexArray, labels: FloatArray, n_cells: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return :meth:`right_sums` by the compiled kernel: one pass over the records for eight columns."""
        patterns = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.float64)
        counts = np.empty((n_cells, 8 * len(self.packed)))
        totals = np.empty((n_cells, 8 * len(self.packed)))
        where = np.ascontiguousarray(where, dtype=np.int64)
        labels = np.ascontiguousarray(labels, dtype=np.float64)
        sums = np.empty((n_cells, 256, 2))
        for group, byte in enumerate(self.packed):
            sums.fill(0)
            kernels.side_sums(where, byte, labels, n_cells, sums)
            columns = slice(8 * group, 8 * group + 8)
            counts[:, columns], totals[:, columns] = (np.ascontiguousarray(sums[:, :, k]) @ patterns for k in (0, 1))
        return counts[:, : self.d], totals[:, : self.d]

    def move(
        self, where: IndexArray, values: npt.NDArray[Any], column: npt.NDArray[np.int32], middle: FloatArray
    ) -> None:
        """Compare the records of each cell, by their ``values`` along its ``column``, with the new midpoint.

        Records beyond the last cell, and cells with the column -1, keep their bits.
        """
        if (kernels := native()) is not None:
            cells = np.ascontiguousarray(where, dtype=np.int64)
            columns = np.ascontiguousarray(column, dtype=np.int32)
            kernels.set_sides(self.packed, values, values.dtype == np.float64, cells, columns, middle)
            return
        columns = np.append(column, -1).take(where)
        rows = np.flatnonzero(columns >= 0)
        columns = columns[rows]
        bits = values[rows] >= middle[where[rows]]
        group = columns >> 3
        shift = (columns & 7).astype(np.uint8)
        byte = self.packed[group, rows] & ~(np.uint8(1) << shift)
        self.packed[group, rows] = byte | (bits.astype(np.uint8) << shift)


def _pattern_width(n_cells: int, n_rows: int) -> int:
    """Return how many bits to count together: fewer when the histogram would outgrow the records."""
    width = 8
    while width > 1 and n_cells << width > 2 * n_rows + 4096:
        width //= 2
    return width
