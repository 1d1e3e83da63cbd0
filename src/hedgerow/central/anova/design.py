"""Records as vectors of whole numbers with a norm that is bounded in whole numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.central.anova.basis import Basis, Single
from hedgerow.central.anova.quantiles import CELLS, Quantiles
from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.features import CategoricalFeature
from hedgerow.forms import Budget
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = ["FINE", "GRID", "SHORTEN", "FeatureMap", "Rows"]

Codes = npt.NDArray[np.int32]

GRID = 1 << 14
"""Grid steps of a vector of norm 1."""
FINE = 8.0
"""Parts of a grid step that a vector is rounded to before its norm is taken: that costs a 16th of a step at most."""
SHORTEN = 1 - 2.0**-40
"""What vectors are multiplied by, so that no rounding lengthens them."""
_BLOCK = 1 << 17  # entries of a block: it stays in the cache between its two products
_IN_FLOATS = 50_000_000  # entries kept as floats; more are kept as 16-bit integers


@dataclass(frozen=True, eq=False)
class FeatureMap(Content, what="feature map"):
    r"""Map a record to ``phi(x)`` in ``GRID`` ths, with Euclidean norm at most 1 and L1 norm at most ``most``.

    .. math:: \phi = \operatorname{trunc}\Bigl(G\,\frac{\psi}{R} \min\bigl(1, \frac{R}{\|\psi\|_2},
              \frac{R A}{\|\psi\|_1}\bigr)\Bigr), \qquad \psi = (1, w_m b_m(x))_m

    Proof of the bounds: rounding towards zero never lengthens a vector; the squared norm (and the L1 norm) of the
    resulting whole numbers is then computed exactly, and a vector that exceeds ``G**2`` (``A G``) is set to zero, so
    the bound holds whatever floating point did. A record's vector depends on that record alone: cells come from
    comparisons, values from tables, the rest is products, a root and exact sums, which IEEE 754 fixes bit by bit.

    Parameters
    ----------
    space, quantiles, basis
        Public or released before.
    scale : float
        R.
    most : float
        A; infinity for none.
    """

    space: FeatureSpace
    quantiles: dict[int, Quantiles]
    basis: Basis
    scale: float
    most: Budget = np.inf

    def _check_read(self) -> None:
        numeric = np.flatnonzero(~self.space.is_categorical).tolist()
        if set(self.quantiles) != set(numeric) or not self.scale > 0:
            raise FormatError("feature map: every numeric feature needs quantiles, and 'scale' must be positive.")
        if wrong := [s for f in self.basis.functions for s in f if not s.fits(self.space)]:
            raise FormatError(f"feature map: {list(wrong[0])} is not a function of one of its features.")

    @property
    def l1_bound(self) -> int:
        """A, in grid steps."""
        return int(self.most * GRID)

    @cached_property
    def tables(self) -> tuple[list[Single], FloatArray, npt.NDArray[np.int64]]:
        """The functions of one feature, their value in each cell, and the two that each function is the product of."""
        used = sorted({s for f in self.basis.functions for s in f})
        sizes = {s.feature: self.size(s.feature) for s in used}
        width = max(sizes.values(), default=1)
        tables = np.zeros((len(used) + 1, width))
        tables[-1] = 1.0  # the other factor of a function of one feature
        for i, single in enumerate(used):
            tables[i, : sizes[single.feature]] = single.table(self.quantiles, sizes[single.feature])
        place = {s: i for i, s in enumerate(used)}
        factors = [[place[s] for s in f] + [len(used)] * (2 - len(f)) for f in self.basis.functions]
        return used, tables, np.array(factors, dtype=np.int64).reshape(-1, 2)

    def size(self, j: int) -> int:
        """Return how many cells or categories a feature has; a number's last cell is for missing values."""
        feature = self.space.features[j]
        return len(feature.categories) if isinstance(feature, CategoricalFeature) else CELLS + 1

    def codes(self, Z: FloatArray) -> Codes:
        """Return the cell of every feature of encoded records (NaN: missing)."""
        out = np.empty(Z.shape, dtype=np.int32)
        for j in range(Z.shape[1]):
            out[:, j] = self.quantiles[j].codes(Z[:, j]) if j in self.quantiles else Z[:, j]
        return out

    def functions(self, codes: Codes) -> FloatArray:
        """Return ``w_m b_m(x) / scale`` for all functions, the constant first; not yet rounded or clipped."""
        used, tables, factors = self.tables
        values = np.ones((len(used) + 1, len(codes)))
        for i, single in enumerate(used):
            values[i] = tables[i][codes[:, single.feature]]
        out = np.empty((len(codes), len(self.basis)))
        out[:, 0] = 1.0 / self.scale
        weights = np.array(self.basis.weights) / self.scale
        out[:, 1:] = (values[factors[:, 0]] * values[factors[:, 1]] * weights[:, None]).T
        return out

    def vectors(self, codes: Codes) -> FloatArray:
        """Return phi as whole numbers (of type float, for exact products)."""
        fine = np.rint(self.functions(codes) * (GRID * FINE))  # whole numbers: sums of them are exact
        squares = np.einsum("ij,ij->i", fine, fine)
        factor = np.minimum(1.0, GRID * FINE / np.sqrt(np.maximum(squares, 1.0)))
        if np.isfinite(self.most):
            sums = np.abs(fine).sum(axis=1)
            factor = np.minimum(factor, self.l1_bound * FINE / np.maximum(sums, 1.0))
        out = np.trunc(fine * (factor * (SHORTEN / FINE))[:, None])
        return self._enforce(out)

    def _enforce(self, vectors: FloatArray) -> FloatArray:
        """Set to zero what exceeds the bounds, in exact arithmetic (never needed, and never relied upon)."""
        bad = np.einsum("ij,ij->i", vectors, vectors) > GRID**2
        if np.isfinite(self.most):
            bad |= np.abs(vectors).sum(axis=1) > self.l1_bound
        vectors[bad] = 0.0
        return vectors


class Rows:
    """The vectors of all records, in blocks that fit the cache; as floats if there is room, else as integers."""

    def __init__(self, feature_map: FeatureMap, codes: Codes) -> None:
        p = len(feature_map.basis)
        self.n = len(codes)
        self.width = p
        self.step = max(16, _BLOCK // p)
        dtype: Any = np.float64 if self.n * p <= _IN_FLOATS else np.int16
        self._blocks = [feature_map.vectors(codes[slice(*at)]).astype(dtype) for at in self._bounds()]

    def _bounds(self) -> Iterator[tuple[int, int]]:
        for start in range(0, self.n, self.step):
            yield start, min(start + self.step, self.n)

    def total(self, term: Callable[[slice, FloatArray], FloatArray]) -> npt.NDArray[np.int64]:
        """Return the sum over all blocks of ``term(records, vectors)``, whole numbers below 2**53.

        Sums of integers are the same in any order, so that large data may use all cores.
        """
        whole = list(zip(self._bounds(), self._blocks, strict=True))
        workers = min(os.cpu_count() or 1, 8) if self.n * self.width > _IN_FLOATS else 1
        if workers == 1:
            return _added(whole, term)
        with ThreadPoolExecutor(workers) as pool:
            parts = pool.map(lambda i: _added(whole[i::workers], term), range(workers))
            return sum(parts, np.zeros((), dtype=np.int64))


def _added(blocks: list[Any], term: Callable[[slice, FloatArray], FloatArray]) -> npt.NDArray[np.int64]:
    parts = (term(slice(*at), block.astype(np.float64, copy=False)).astype(np.int64) for at, block in blocks)
    return sum(parts, np.zeros((), dtype=np.int64))
