"""How the compiled kernel takes the functions of a feature map: grouped by a factor that they share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hedgerow.central.anova.products import Products
from hedgerow.types import IntArray

if TYPE_CHECKING:
    from hedgerow.central.anova.rows import Point

__all__ = ["Layout", "layout"]

Numbers = npt.NDArray[np.int32]
_MOST = 256  # pairs of functions in a group: 256 * 2 * 32767 * 127 is below 2**31
_RECORDS = 256  # that the kernel works on at once
_ALIGNED = 64  # bytes that memory is aligned to
_WIDE = 16  # functions of a column that are looked up at once
_VECTOR = 64  # bytes of a vector, at most
_BLOCK = 64  # functions: of 128 records 16 kB


@dataclass(frozen=True, eq=False)
class Layout:
    """The arrays of ``anova_blocks`` in ``csrc/anova.c``, and where coefficients go.

    Predictions are ``sum_a X_a (sum_b c_ab X_b)``: functions are grouped by a factor a, and the others of a group are
    taken in pairs ("slots"), for processors multiply and add pairs at once.

    Attributes
    ----------
    arrays : tuple
        Tables by column, columns, derived functions, slots, groups, entries, runs, partners, squared weights, weights.
    places : array of shape (entries, 2)
        The function of each half of an entry; -1 where there is none.
    """

    arrays: tuple[npt.NDArray[np.generic], ...]
    places: IntArray

    def scratch(self, outputs: int, chosen: int) -> int:
        """Return how many bytes of memory the kernel works in, at least; ``chosen`` functions have products summed."""
        columns, derived, slots = (len(self.arrays[i]) for i in (1, 2, 3))
        singles = int(self.arrays[1][:, 2].sum())
        by_record = 2 * (singles + derived + 1) + 2 * slots + 8 * outputs + 2 * chosen + 18 + columns + 1
        return _RECORDS * by_record + _VECTOR * len(self.arrays[7]) + _ALIGNED

    def coefficients(self, point: Point) -> Numbers:
        """Return coefficients by entry, two of 16 bits in one number, and that of the constant last."""
        padded = np.concatenate([point.whole, np.zeros((len(point.whole), 1), dtype=np.int64)], axis=1)
        pairs = np.ascontiguousarray(padded[:, self.places].astype(np.int16))
        entries = pairs.reshape(len(pairs), -1).view(np.int32)
        return np.ascontiguousarray(np.concatenate([entries, point.whole[:, :1].astype(np.int32)], axis=1))


def layout(products: Products) -> Layout:
    """Group the functions: again and again by the factor that most of those left have.

    >>> factors = np.array([[2, 2], [0, 2], [1, 2], [0, 1]])  # a constant, two functions of one feature, their product
    >>> tables = np.zeros((2, 256), dtype=np.int8)
    >>> found = layout(Products(np.array([0, 1]), tables, np.zeros((0, 2), dtype=np.int64), factors, np.ones(4), None))
    >>> found.places.tolist(), found.arrays[4].tolist()
    ([[1, 2], [-1, 3]], [[2, 0, 1], [0, 1, 1]])
    """
    one = len(products.tables) + len(products.derived)
    place, slots = _slots(products)
    groups: list[list[int]] = []
    entries: list[int] = []
    places: list[list[int]] = []
    grouped = _grouped(products.factors, one)
    for factor, members in grouped:
        by_slot: dict[int, list[int]] = {}
        for b, m in members:
            by_slot.setdefault(place[b] // 2, [-1, -1])[place[b] % 2] = m
        chosen = sorted(by_slot)
        for start in range(0, len(chosen), _MOST):
            part = chosen[start : start + _MOST]
            groups.append([factor, len(entries), len(part)])
            entries += part
            places += [by_slot[s] for s in part]
    runs, partners = _runs(grouped)
    arrays = (
        *_tables(products),
        _numbers(products.derived, 2),
        _numbers(slots, 2),
        _numbers(groups, 3),
        _numbers(entries, 1),
        _numbers(runs, 3),
        _numbers(partners, 2),
        _numbers(products.squares, 1),
        _numbers(products.units, 1),
    )
    return Layout(arrays, np.array(places, dtype=np.int64).reshape(-1, 2))


def _grouped(factors: IntArray, one: int) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return groups of functions (the other factor, place in the sums); the constant, place 0, is in none."""
    out = []
    left = np.arange(1, len(factors))
    factor = one
    while left.size:
        pairs = factors[left]
        own = (pairs == factor).any(axis=1)
        others = np.where(pairs[own, 0] == factor, pairs[own, 1], pairs[own, 0])
        if own.any():
            out.append((factor, list(zip(others.tolist(), left[own].tolist(), strict=True))))
        left = left[~own]
        if left.size:
            factor = int(np.bincount(factors[left].ravel()).argmax())  # the first, of those that are there as often
    return out


def _runs(grouped: list[tuple[int, list[tuple[int, int]]]]) -> tuple[list[list[int]], list[list[int]]]:
    """Return runs (function, first partner, partners) and partners (function, place in the sums).

    Partners are taken block by block, so that a block's values stay in the first cache while all groups use them.
    """
    by_block: dict[int, list[tuple[int, list[list[int]]]]] = {}
    for factor, members in grouped:
        own: dict[int, list[list[int]]] = {}
        for b, m in sorted(members):
            own.setdefault(b // _BLOCK, []).append([b, m])
        for block, found in own.items():
            by_block.setdefault(block, []).append((factor, found))
    runs: list[list[int]] = []
    partners: list[list[int]] = []
    for block in sorted(by_block):
        for factor, found in by_block[block]:
            runs.append([factor, len(partners), len(found)])
            partners += found
    return runs, partners


def _slots(products: Products) -> tuple[dict[int, int], list[list[int]]]:
    """Return the place of each function in the slots, and the two functions of each slot; one may be there twice.

    Functions that are factors equally often share slots: in most groups both are there, or neither.
    """
    times = Counter(products.factors[1:].ravel().tolist())
    ranked = sorted(times, key=lambda f: (-times[f], f))
    place = {f: at for at, f in enumerate(ranked)}
    slots = [[ranked[i], ranked[min(i + 1, len(ranked) - 1)]] for i in range(0, len(ranked), 2)]
    return place, slots


def _tables(products: Products) -> tuple[npt.NDArray[np.int8], Numbers]:
    """Return bytes by code, sixteen functions of a column after sixteen, and each column with these."""
    columns = []
    parts = [np.zeros(0, dtype=np.int8)]
    for column in sorted(set(products.columns.tolist())):
        members = np.flatnonzero(products.columns == column)
        for start in range(0, members.size, _WIDE):
            own = members[start : start + _WIDE]
            part = np.zeros((products.tables.shape[1], _WIDE), dtype=np.int8)
            part[:, : own.size] = products.tables[own].T
            parts.append(part.ravel())
            columns.append([column, int(own[0]), own.size])
    return np.concatenate(parts), _numbers(columns, 3)


def _numbers(values: object, width: int) -> Numbers:
    return np.ascontiguousarray(np.array(values, dtype=np.int32).reshape(-1, width))
