"""PHIST and APHIST: locally private histogram regression without public data, in any dimension."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from hedgerow.baselines.boxed import BoxedRegressor
from hedgerow.baselines.cell_sums import CellSums, cell_keys
from hedgerow.checks import Flag, Real, Rule, Whole
from hedgerow.errors import HedgerowError
from hedgerow.estimators.intervals import FromReports
from hedgerow.grid import LabelGrid, check_label_bounds
from hedgerow.mechanisms.cell_laplace import CellLaplace, split
from hedgerow.tasks.intervals import Ends
from hedgerow.tasks.tree.encoding import Moments
from hedgerow.tasks.tree.estimates import fieller

if TYPE_CHECKING:
    from hedgerow.formula import Formula

__all__ = ["PrivateHistogramRegressor"]

_LAZY = "cells are drawn when first asked for: release predictions or a frozen estimator, never this object itself"


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateHistogramRegressor(FromReports, BoxedRegressor):
    r"""Private histogram regression (PHIST), and its adjusted form (APHIST).

    The feature space is cut into ``n_bins ** d`` equal boxes. Each holder sends the one-hot vector of its cell and
    the same vector times its label, both with Laplace noise (:class:`~hedgerow.mechanisms.cell_laplace.CellLaplace`).
    With A and B the totals of a cell over n reports and labels counted from the middle of their bounds,

    .. math:: \hat f = \text{middle} + \frac{B/n}{A/n} \ \text{ if } A/n \ge t, \qquad
              \hat f_{adj} = \text{middle} + \frac{B/n}{w} \ \text{ if } w = \tfrac12 (A/n + \text{volume}) \ge t,

    and the middle of the label bounds below the threshold. (The paper truncates to 0, which is the middle of its
    label range [-M, M].) Predictions are clipped to the label bounds.

    Intervals cover the mean label of the holders in a cell: Fieller's set for B/A, with the noise of all reports and
    the most that sampling holders can add.

    Cells are independent, so those that nobody asks about are never drawn: 105 features work in little memory.

    Parameters
    ----------
    n_bins : int, default=2
        Bins for each feature, 1 .. 254.
    threshold : float, default=0.01
        Estimated probabilities below it count as empty.
    adjusted : bool, default=False
        APHIST: divide by the average of the estimated probability and the volume of the cell.
    cell_share : float, default=0.5
        Share of epsilon for the cell; the rest is for cell times label.
    max_cells : int, default=4096
        A histogram with at most this many cells is drawn in full by ``fit``, and the fitted estimator can be
        released. A larger one is drawn lazily: see :meth:`freeze`.
    epsilon, label_bounds, feature_bounds, random_state, ledger
        As in :class:`~hedgerow.LPDTRegressor`; both bounds are required.

    Attributes
    ----------
    guarantee_ : Guarantee
        What is protected, from whom, under which condition.
    sums_ : CellSums
        The noisy totals.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import PrivateHistogramRegressor
    >>> X = np.random.default_rng(0).random((20_000, 2)); y = np.where(X[:, 0] < 0.5, 1.0, 3.0)
    >>> model = PrivateHistogramRegressor(4.0, label_bounds=(0, 4), feature_bounds=(0, 1), random_state=0)
    >>> model.fit(X, y).predict([[0.2, 0.5], [0.8, 0.5]]).round().tolist()
    [1.0, 3.0]
    """

    n_bins: int = 2
    threshold: float = 0.01
    adjusted: bool = False
    cell_share: float = 0.5
    max_cells: int = 4096

    _parameters: ClassVar[dict[str, Rule]] = {
        "n_bins": Whole(1, 254),
        "threshold": Real(0, 1),
        "adjusted": Flag(),
        "cell_share": Real(0, 1),
        "max_cells": Whole(0),
    }

    def fit(self, X: Any, y: Any) -> PrivateHistogramRegressor:
        """Draw the totals of the holders' reports on private records ``X`` and labels ``y``."""
        Z, labels = self._open_box(X, y)
        source = self._source()
        epsilon = float(self.epsilon)
        bins = int(self.n_bins)
        n_cells = bins ** Z.shape[1]
        # As fine as the noise asks for (see LabelGrid.for_epsilon), and even: the middle is on the grid.
        steps = 4096 if math.isinf(epsilon) else min(4096, 2 * math.ceil(8 * split(epsilon, self.cell_share)[1]))
        low, high = check_label_bounds(self._label_bounds)
        self.grid_ = LabelGrid(low, high, steps)
        mechanism = CellLaplace(epsilon, n_cells, steps, self.cell_share)
        lazy = n_cells > self.max_cells
        claim = self._holders_claim(source, self._NOTE, *([_LAZY] if lazy else []))
        self._book(claim, source)
        levels = self.grid_.levels(labels, source.child("levels"))
        self.sums_ = CellSums(mechanism, cell_keys(Z, bins), levels, source.child("cells"))
        if not lazy:
            self._freeze(np.array(list(itertools.product(range(bins), repeat=Z.shape[1]))) / bins)
        self.guarantee_ = claim
        return self

    def _freeze(self, corners: npt.NDArray[np.float64]) -> None:
        # The middle of a bin is in it, whatever the rounding of its corner.
        self.sums_.ask(cell_keys(corners + 0.5 / self.n_bins, self.n_bins))
        self.sums_.freeze()

    def freeze(self, X: Any) -> PrivateHistogramRegressor:
        """Draw the cells of the records ``X``, then forget everything that is private.

        Records in other cells get the middle of the label bounds from then on. ``X`` must be public: which cells
        were drawn is plain to see.
        """
        keys = cell_keys(self._unit(X), self.n_bins)
        self.sums_.ask(keys)
        self.sums_.freeze()
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict labels; a cell has the same answer however often it is asked for."""
        keys = cell_keys(self._unit(X), self.n_bins)
        return self.estimate(self.sums_.ask(keys))

    def _reports_ends(self, X: Any, level: float) -> Ends:
        A, B = self.sums_.ask(cell_keys(self._unit(X), self.n_bins)).astype(np.float64)
        steps = self.grid_.n_steps
        half = steps / 2
        cell, label = (self.sums_.n * v for v in self.sums_.mechanism.variances())
        # A holder more or less in the cell: 1 more or less in A, and at most half the range in B.
        drawn = np.maximum(A, 0.0)
        var_a = cell + drawn
        var_b = label + half**2 * drawn
        # Labels from the lower bound: B + half A.
        moments = Moments(B + half * A, A, var_b + half**2 * var_a, half * var_a, var_a)
        low, high = fieller(moments, level, steps)
        return self.grid_.values(low), self.grid_.values(high)

    def formula(self) -> Formula:
        """Return the table of cells; refuse one that is too large, or still private."""
        from hedgerow.formula.formula import Formula
        from hedgerow.formula.terms import lookup, records

        check_is_fitted(self)
        bins = int(self.n_bins)
        d = len(self.space_)
        if bins**d > self.max_cells or not self.sums_.frozen:
            raise HedgerowError(
                f"PrivateHistogramRegressor cannot be exported with {bins}**{d} cells, more than max_cells="
                f"{self.max_cells}: such a table is drawn cell by cell when it is asked for; fit with fewer bins."
            )
        corners = np.array(list(itertools.product(range(bins), repeat=d))) / bins
        table = self.estimate(self.sums_.ask(cell_keys(corners + 0.5 / bins, bins)))
        low = self.space_.low
        width = np.where(self.space_.high > low, self.space_.high - low, 1.0)
        scaled = ((records() - low) / width).clip(0.0, 1.0)
        cell = (scaled * float(bins)).apply("truncate").clip(0.0, bins - 1.0)
        places = float(bins) ** np.arange(d - 1, -1, -1)
        value = lookup(cell.product(places[:, None]), table[:, None])
        return Formula.of(self.space_, value, self.guarantee_)

    def estimate(self, totals: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the labels that totals (two rows, A and B) stand for: pure post-processing."""
        a, b = totals / max(self.sums_.n, 1)
        weight = (a + float(self.n_bins) ** -len(self.space_)) / 2 if self.adjusted else a
        full = weight >= self.threshold
        ratio = np.divide(b, weight, out=np.zeros(len(b)), where=full)
        half = self.grid_.n_steps / 2
        return self.grid_.values(np.clip(ratio + half, 0, self.grid_.n_steps))
