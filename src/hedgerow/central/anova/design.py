"""Records as vectors of bounded norm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hedgerow.central.anova.basis import Basis, Single
from hedgerow.central.anova.products import FULL, UNITS
from hedgerow.central.anova.quantiles import CELLS, Quantiles
from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.features import CategoricalFeature
from hedgerow.forms import Budget
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray, IntArray

__all__ = ["FINE", "GRID", "SHORTEN", "FeatureMap"]

Codes = npt.NDArray[np.int32]

GRID = 1 << 14
"""Grid steps of a vector of norm 1."""
FINE = 8.0
"""Parts of a grid step that a vector is rounded to before its norm is taken: that costs a 16th of a step at most."""
SHORTEN = 1 - 2.0**-40
"""What vectors are multiplied by, so that no rounding lengthens them."""


@dataclass(frozen=True, eq=False)
class FeatureMap(Content, what="feature map"):
    r"""Map a record to ``phi(x)`` in ``GRID`` ths, with Euclidean norm at most 1 and L1 norm at most ``most``.

    .. math:: \phi = \operatorname{trunc}\Bigl(G\,\frac{\psi}{R} \min\bigl(1, \frac{R}{\|\psi\|_2},
              \frac{R A}{\|\psi\|_1}\bigr)\Bigr), \qquad \psi = (1, w_m b_m(x))_m

    This is how a model predicts. Privacy does not rest on it: a fit reads the same tables and weights in whole numbers,
    and has the bound of the norm from these (:class:`~.products.Products`).

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
    def units(self) -> IntArray:
        """Weights in whole steps, that of the constant first: at least one, and not above what the scale allows."""
        exact = np.array([1.0, *self.basis.weights]) / self.scale
        return np.asarray(np.maximum(np.floor(exact * (UNITS * SHORTEN)), 1.0).astype(np.int64))

    @property
    def weights(self) -> FloatArray:
        """``w_m / R`` in these steps."""
        return np.asarray(self.units / UNITS)

    @cached_property
    def tables(self) -> tuple[list[Single], FloatArray, npt.NDArray[np.int64]]:
        """The functions of one feature, their values by cell, and the three that each function is made of."""
        used = sorted({s for f in self.basis.functions for s in f})
        sizes = {s.feature: self.size(s.feature) for s in used}
        width = max(sizes.values(), default=1)
        tables = np.zeros((len(used) + 1, width))
        tables[-1] = 1.0  # the other factors of a function of one feature
        for i, single in enumerate(used):
            exact = single.table(self.quantiles, sizes[single.feature])
            tables[i, : sizes[single.feature]] = np.rint(exact * FULL) / FULL
        place = {s: i for i, s in enumerate(used)}
        factors = [[place[s] for s in f] + [len(used)] * (3 - len(f)) for f in self.basis.functions]
        return used, tables, np.array(factors, dtype=np.int64).reshape(-1, 3)

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
        """Return ``w_m b_m(x) / scale`` for all functions, the constant first; not yet rounded or clipped.

        A function's values lie side by side.
        """
        return self._products(self._values(codes), self.weights).T

    def squares(self, codes: Codes, at_once: int) -> Iterator[FloatArray]:
        """Yield their squares, of shape (p, records), for so many records after so many."""
        values = np.square(self._values(codes))
        weights = np.square(self.weights)
        for start in range(0, len(codes), at_once):
            yield self._products(np.ascontiguousarray(values[:, start : start + at_once]), weights)

    def _values(self, codes: Codes) -> FloatArray:
        """Return the functions of one feature, and the constant 1."""
        used, tables, _ = self.tables
        values = np.ones((len(used) + 1, len(codes)))
        for i, single in enumerate(used):
            values[i] = tables[i][codes[:, single.feature]]
        return values

    def _products(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """Return all functions from those of one feature, the constant first."""
        used, _, factors = self.tables
        out = np.empty((len(self.basis), values.shape[1]))
        out[0] = 1.0
        first, second, third = factors.T
        products = out[1:]
        np.take(values, first, axis=0, out=products, mode="clip")  # in bounds; without a copy
        products *= values[second]
        if (third < len(used)).any():
            products *= values[third]
        out *= weights[:, None]
        return out

    def vectors(self, codes: Codes) -> FloatArray:
        """Return phi as whole numbers (of type float, for exact products)."""
        fine = np.rint(self.functions(codes) * (GRID * FINE))  # whole numbers: sums of them are exact
        squares = np.einsum("ij,ij->i", fine, fine)
        factor = np.minimum(1.0, GRID * FINE / np.sqrt(np.maximum(squares, 1.0)))
        if np.isfinite(self.most):
            sums = np.abs(fine).sum(axis=1)
            factor = np.minimum(factor, self.l1_bound * FINE / np.maximum(sums, 1.0))
        return np.asarray(np.trunc(fine * (factor * (SHORTEN / FINE))[:, None]))
