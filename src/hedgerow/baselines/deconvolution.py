"""DECONV: kernel regression on records that were noised whole, the noise taken out by a deconvolution kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.baselines.boxed import BoxedRegressor
from hedgerow.checks import Real, Rule
from hedgerow.errors import HedgerowError
from hedgerow.estimators.intervals import FromReports
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.record_laplace import RecordLaplace, equal_share
from hedgerow.samplers import ONE
from hedgerow.tasks.intervals import Ends
from hedgerow.tasks.tree.encoding import Moments
from hedgerow.tasks.tree.estimates import fieller
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.formula import Formula

__all__ = ["DeconvolutionRegressor", "deconvolution_kernel"]


_RECORDS = 128
_REPORTS = 512
"""Records and reports that are looked at together: what the processor's own memory holds."""
_REACH = 39.0
"""Bandwidths beyond which the Gaussian kernel is exactly 0 in floating point: exp(-39**2 / 2) < 2**-1075."""


def deconvolution_kernel(u: npt.ArrayLike, spread: float, step: float) -> FloatArray:
    r"""Return the kernel whose average over discrete Laplace noise is the Gaussian kernel, exactly.

    .. math:: \tilde K(u) = K(u) - c\,[K(u+\delta) - 2K(u) + K(u-\delta)],
              \qquad K(u) = e^{-u^2/2}, \quad c = \frac{r}{(1-r)^2}

    for noise of ratio r in steps of width :math:`\delta` (in bandwidths). Proof: the noise has generating function
    :math:`(1-r)^2 / ((1-rz)(1-r/z))`, whose inverse is :math:`1 - c\,(z - 2 + 1/z)`: applied to K first and averaged
    over the noise after, it gives K back. For a fine grid :math:`c\,\delta^2 \to b^2` with b the Laplace scale, and
    this becomes the textbook :math:`K(u)\,(1 - b^2 (u^2 - 1))`.

    >>> k = np.arange(-400, 401); r = 0.9
    >>> noise = (1 - r) / (1 + r) * r ** abs(k)
    >>> average = noise @ deconvolution_kernel(0.7 + 0.1 * k, r / (1 - r) ** 2, 0.1)
    >>> bool(abs(average - np.exp(-0.7**2 / 2)) < 1e-12)
    True
    """
    v = np.asarray(u, dtype=np.float64)
    own, up, down = (np.exp(-0.5 * (v + shift) ** 2) for shift in (0.0, step, -step))
    kernel: FloatArray = own - spread * (up - 2 * own + down)
    return kernel


@dataclass(kw_only=True, eq=False, repr=False)
class DeconvolutionRegressor(FromReports, BoxedRegressor):
    r"""Deconvolution kernel regression (DECONV) on locally private records.

    Every feature, scaled to [0, 1] by its public bounds, and the label are put on a grid and sent with discrete
    Laplace noise of ``epsilon / (d + 1)`` each (:class:`~hedgerow.mechanisms.record_laplace.RecordLaplace`). With
    noisy records W, noisy labels V and the kernel of :func:`deconvolution_kernel`,

    .. math:: \hat f(x) = \frac{\sum_i V_i\, w_i(x)}{\sum_i w_i(x)}, \qquad w_i(x) = \prod_j \tilde K((x_j - W_{ij})/h)

    whose numerator and denominator are unbiased for those of kernel regression without noise. Their variance grows
    like ``(1 + (b/h)**2) ** d``: this is a baseline, not a recommendation. Predictions are clipped to the label
    bounds, and are their middle where the denominator is not clearly positive.

    Intervals are Fieller's for that ratio: they cover kernel regression without noise, not its smoothing.

    Parameters
    ----------
    bandwidth : float, default=0.2
        h, in units of the public ranges.
    epsilon, label_bounds, feature_bounds, random_state, ledger
        As in :class:`~hedgerow.LPDTRegressor`; both bounds are required.

    Attributes
    ----------
    guarantee_ : Guarantee
        What is protected, from whom, under which condition.
    reports_ : int array of shape (n, d + 1)
        The holders' noisy records, label last: all that is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import DeconvolutionRegressor
    >>> X = np.random.default_rng(0).random((20_000, 1)); y = np.where(X[:, 0] < 0.5, 1.0, 3.0)
    >>> model = DeconvolutionRegressor(8.0, label_bounds=(0, 4), feature_bounds=(0, 1), random_state=0)
    >>> model.fit(X, y).predict([[0.1], [0.9]]).round().tolist()
    [1.0, 3.0]
    """

    bandwidth: float = 0.2

    _parameters: ClassVar[dict[str, Rule]] = {"bandwidth": Real(0)}

    def fit(self, X: Any, y: Any) -> DeconvolutionRegressor:
        """Draw the holders' reports on private records ``X`` and labels ``y``."""
        Z, labels = self._open_box(X, y)
        source = self._source()
        d = Z.shape[1]
        epsilon = float(self.epsilon)
        self.grid_ = LabelGrid.for_epsilon(self._label_bounds, equal_share(epsilon, d + 1))
        steps = self.grid_.n_steps
        self.mechanism_ = RecordLaplace(epsilon, (steps,) * (d + 1))
        claim = self._holders_claim(source, self._NOTE)
        self._book(claim, source)
        unit = LabelGrid(0.0, 1.0, steps)
        rounding = source.child("levels")
        columns = [unit.levels(Z[:, j], rounding) for j in range(d)]
        levels = np.stack([*columns, self.grid_.levels(labels, rounding)], axis=1)
        self.reports_ = self.mechanism_.randomize_rows(levels, source.child("noise")).astype(np.int32)
        self.guarantee_ = claim
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict labels, a block of records at a time: memory does not grow with their number."""
        Z = self._unit(X)
        columns = [_Column(self.reports_[:, j]) for j in range(Z.shape[1])]
        parts = [_ratio(self._sums(Z[i : i + _RECORDS], columns)) for i in range(0, len(Z), _RECORDS)]
        half = self.grid_.n_steps / 2
        return self.grid_.values(np.clip(np.concatenate(parts) + half, 0, self.grid_.n_steps))

    def formula(self) -> Formula:
        """Refuse: it is no tree, forest or sum of curves."""
        raise HedgerowError(
            "DeconvolutionRegressor cannot be exported: it keeps every noisy record and predicts by kernels around "
            "all of them; it is no tree, forest or sum of curves."
        )

    def _reports_ends(self, X: Any, level: float) -> Ends:
        Z = self._unit(X)
        steps = self.grid_.n_steps
        half = steps / 2
        columns = [_Column(self.reports_[:, j]) for j in range(Z.shape[1])]
        parts = [self._sums(Z[i : i + _RECORDS], columns) for i in range(0, len(Z), _RECORDS)]
        above, below, _, squares, cross, weights = np.concatenate([np.zeros((6, 0)), *parts], axis=1)
        # Reports are independent: squares of terms are variances of their sums, or more. Levels from the lower bound.
        moments = Moments(
            above + half * below, below, squares + 2 * half * cross + half**2 * weights, cross + half * weights, weights
        )
        low, high = fieller(moments, level, steps)
        return self.grid_.values(low), self.grid_.values(high)

    def _sums(self, Z: FloatArray, columns: list[_Column]) -> FloatArray:
        """Return for each record the sums over reports of v w, w, abs(w), v^2 w^2, v w^2 and w^2.

        v are label levels counted from the middle of the grid, w the kernel's weights.
        """
        steps = self.grid_.n_steps
        h = float(self.bandwidth)
        near = np.ones(len(self.reports_), dtype=bool)
        for z, column in zip(Z.T, columns, strict=True):
            near &= column.near(z, steps, h)[column.where]
        chosen = np.flatnonzero(near)
        r = self.mechanism_.parts[0].ratio / ONE
        if not len(chosen):
            return np.zeros((6, len(Z)))
        tables = [c.table(z, steps, h, r / (1 - r) ** 2) for z, c in zip(Z.T, columns, strict=True)]
        centred = self.reports_[:, -1] - steps / 2
        sums = np.zeros((6, len(Z)))
        for start in range(0, len(chosen), _REPORTS):
            rows = chosen[start : start + _REPORTS]
            weight, factor = np.ones((2, len(rows), len(Z)))
            for column, table in zip(columns, tables, strict=True):
                weight *= np.take(table, column.where[rows], axis=0, out=factor, mode="clip")
            label = centred[rows]
            sums[1] += weight.sum(axis=0)
            sums[0] += label @ weight
            sums[2] += np.abs(weight, out=weight).sum(axis=0)
            np.multiply(weight, weight, out=weight)
            sums[3] += label**2 @ weight
            sums[4] += label @ weight
            sums[5] += weight.sum(axis=0)
        return sums


def _ratio(sums: FloatArray) -> FloatArray:
    """Return label levels, counted from the middle of the grid."""
    above, below, size = sums[:3]
    # A sum that is nothing but what cancellation left over says nothing.
    ratio: FloatArray = np.divide(above, below, out=np.zeros(len(below)), where=below > 1e-9 * size)
    return ratio


class _Column:
    """One column of noisy levels: its distinct values, and which of them each report has."""

    def __init__(self, levels: npt.NDArray[np.integer]) -> None:
        values, self.where = np.unique(levels, return_inverse=True)
        self.values = values.astype(np.float64)

    def near(self, z: FloatArray, steps: int, h: float) -> npt.NDArray[np.bool_]:
        """Return which values are near enough to one of the records for a kernel that is not 0 in floating point."""
        reach = _REACH * h * steps + 1
        near: npt.NDArray[np.bool_] = (self.values > z.min() * steps - reach) & (self.values < z.max() * steps + reach)
        return near

    def table(self, z: FloatArray, steps: int, h: float, spread: float) -> FloatArray:
        """Return the kernel between values (rows) and records; rows of far values mean nothing."""
        near = self.near(z, steps, h)
        kernel = _kernel(z, self.values[near], steps, h, spread)
        # A factor for each record to predict cancels in the ratio, and keeps 105 of them from overflowing.
        kernel /= np.maximum(np.maximum(kernel.max(axis=0), -kernel.min(axis=0)), 1e-300)
        if near.all():
            return kernel
        table = np.empty((len(self.values), len(z)))
        table[near] = kernel
        return table


def _kernel(z: FloatArray, values: FloatArray, steps: int, h: float, spread: float) -> FloatArray:
    """Return the kernel between sorted values (rows) and records."""
    low = int(values[0]) - 1
    high = int(values[-1]) + 1
    if high - low > 2 * len(values):
        return deconvolution_kernel((z - values[:, None] / steps) / h, spread, 1 / (steps * h))
    # Neighbouring values are one step apart: the Gaussian kernel of each is needed once, not three times.
    gauss = (z - np.arange(low, high + 1)[:, None] / steps) / h
    np.square(gauss, out=gauss)
    gauss *= -0.5
    np.exp(gauss, out=gauss)
    at = values.astype(np.intp) - low
    kernel: FloatArray = (1 + 2 * spread) * gauss[at]
    kernel -= spread * (gauss[at - 1] + gauss[at + 1])
    return kernel
