"""The functions of a feature map in whole numbers: tables of bytes, products of two, a bound of every record's norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hedgerow.central.anova.coded import code_columns
from hedgerow.central.anova.quantiles import CELLS
from hedgerow.features import CategoricalFeature
from hedgerow.types import FloatArray, IntArray

if TYPE_CHECKING:
    from hedgerow.central.anova.design import FeatureMap

__all__ = ["FULL", "HALF", "NORM", "SCALE", "UNITS", "Products"]

FULL = 127
"""What a function of one feature is at most, in whole numbers."""
UNITS = 1 << 12
"""Steps of a function's weight; with it, sums over 2**28 records of whatever size stay below 2**63."""
NORM = UNITS * FULL**2
"""Steps of a vector of norm 1."""
SCALE = 15
"""Bits of the factor that a record is shortened by."""
HALF = 1 << 14
"""Added before the last bits of a product of three are cut off."""
_SHARE = 258  # of 2**15: a 127th, but for 0.006 %, so that 127 * 127 becomes 127
_ROOM = 31  # bits of all squared weights together: times 127**4, below 2**28, they stay below 2**59
_SPARE = 24  # bits that squared norms are cut by, upwards, before they are divided by


@dataclass(frozen=True, eq=False)
class Products:
    r"""Whole numbers ``b_m(x) = X_a X_b``, and how far a record's vector ``W_m b_m`` has to be shortened.

    ``X_k`` is read from a table by the record's code, or is the product of two such, divided by 127 and rounded, or
    the constant 127. With the integer weights ``W_m``, a squared norm is at most ``2**r N``, where

    .. math:: N = \sum_m \lceil W_m^2 / 2^r \rceil b_m^2 < 2^{59}, \qquad
              s = \Bigl\lfloor \sqrt{\min\bigl(2^{30}, \lfloor K / N' \rfloor\bigr)} \Bigr\rfloor, \quad
              N' = \lfloor N / 2^{24} \rfloor + 1, \quad K = 2^{30} \lfloor C^2 / 2^{24 + r} \rfloor .

    Proof that :math:`(s/2^{15})^2 \sum_m (W_m b_m)^2 \le C^2`: ``s**2 N' <= K <= 2**30 C**2 / 2**(24 + r)`` and
    ``N < 2**24 N'``, so ``s**2 2**r N <= 2**30 C**2``. All of these are whole numbers below 2**63, of which NumPy and
    C make the same; the root of a whole number up to 2**30 is rounded correctly by IEEE 754, so its floor is exact.
    With an L1 bound A, s is also at most ``floor(2**15 A / sum_m W_m |b_m|)``.

    Attributes
    ----------
    columns : array of shape (k,)
        Column of codes of each table.
    tables : array of bytes, of shape (k, 256)
        Values of functions of one feature.
    derived : array of shape (e, 2)
        Tables that are multiplied with each other, for products of three.
    factors : array of shape (p, 2)
        The two of each function: a table, a derived one (k onwards), or the constant (k + e).
    units : array of shape (p,)
        ``W_m``, whole and at least 1.
    most : int or None
        A, in steps.
    """

    columns: IntArray
    tables: npt.NDArray[np.int8]
    derived: IntArray
    factors: IntArray
    units: IntArray
    most: int | None

    @classmethod
    def of(cls, feature_map: FeatureMap) -> Products:
        """Return the functions of a map; products of three factors have the first two multiplied beforehand."""
        space = feature_map.space
        used, tables, _ = feature_map.tables
        first = {column: i for i, column in enumerate(code_columns(space))}
        columns = []
        bytes_ = np.zeros((len(used), CELLS + 1), dtype=np.int8)
        for i, single in enumerate(used):
            start = 0
            if isinstance(space.features[single.feature], CategoricalFeature):
                start = single.k // CELLS * CELLS
            part = tables[i, start : start + CELLS + 1]
            bytes_[i, : part.size] = np.rint(part * FULL)
            columns.append(first[single.feature, start])
        place = {single: i for i, single in enumerate(used)}
        triples = sorted({f[:2] for f in feature_map.basis.functions if len(f) == 3})
        made = {pair: len(used) + i for i, pair in enumerate(triples)}
        one = len(used) + len(triples)
        factors = [[one, one]]
        for function in feature_map.basis.functions:
            last = one if len(function) == 1 else place[function[-1]]
            factors.append([made[function[:2]] if len(function) == 3 else place[function[0]], last])
        return cls(
            np.array(columns, dtype=np.int64),
            bytes_,
            np.array([[place[a], place[b]] for a, b in triples], dtype=np.int64).reshape(-1, 2),
            np.array(factors, dtype=np.int64),
            feature_map.units,
            int(feature_map.most * NORM) if math.isfinite(feature_map.most) else None,
        )

    def __len__(self) -> int:
        return len(self.units)

    def norm(self, order: int) -> int:
        """Return the bound of every record's vector at one level: its square, or that of the L1 norm."""
        return NORM**2 if order == 2 or self.most is None else self.most

    @cached_property
    def _room(self) -> tuple[IntArray, int]:
        """The squared weights, cut by r bits upwards, and r."""
        squares = [int(w) ** 2 for w in self.units]
        r = max(0, sum(squares).bit_length() - _ROOM)
        while sum(-(-square >> r) for square in squares) >= 1 << _ROOM:
            r += 1
        return np.array([-(-square >> r) for square in squares], dtype=np.int64), r

    @property
    def squares(self) -> IntArray:
        """Squared weights, in steps of ``2**r``."""
        return self._room[0]

    @property
    def allowed(self) -> int:
        """K."""
        return (NORM**2 >> (_SPARE + self._room[1])) << (2 * SCALE)

    def values(self, codes: npt.NDArray[np.uint8]) -> FloatArray:
        """Return ``b_m`` of some records, of shape (p, records); whole numbers, as floats for exact products."""
        one = len(self.tables) + len(self.derived)
        single = np.empty((one + 1, codes.shape[1]))
        for i, column in enumerate(self.columns):
            single[i] = self.tables[i][codes[column]]
        a, b = self.derived.T
        single[len(self.tables) : one] = np.floor((single[a] * single[b] * _SHARE + HALF) / (1 << SCALE))
        single[one] = FULL
        return np.asarray(single[self.factors[:, 0]] * single[self.factors[:, 1]])

    def scales(self, values: FloatArray) -> npt.NDArray[np.uint16]:
        """Return s of records with these ``b_m``."""
        whole = values.astype(np.int64)
        norms = (self.squares @ (whole * whole) >> _SPARE) + 1
        ratio = np.minimum(self.allowed // norms, 1 << (2 * SCALE))
        if self.most is not None:
            sums = np.maximum(self.units @ np.abs(whole), 1)
            least = np.minimum((self.most << SCALE) // sums, 1 << SCALE)
            ratio = np.minimum(ratio, least * least)
        found: npt.NDArray[np.uint16] = np.sqrt(ratio.astype(np.float64)).astype(np.uint16)  # rounds down
        return found
