"""Private functional ANOVA for regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.central.anova.base import AnovaBase, Labels
from hedgerow.central.anova.reading import NumberLabels
from hedgerow.errors import BoundsError, HedgerowError
from hedgerow.estimators.base import PrivateRegressor
from hedgerow.estimators.public import check_public
from hedgerow.estimators.records import label_columns
from hedgerow.grid import check_label_bounds, check_labels, check_public_range, middle
from hedgerow.types import FloatArray

__all__ = ["PrivateAnovaRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateAnovaRegressor(PrivateRegressor, AnovaBase):
    """Curves and pair surfaces over private quantiles, learnt by noisy gradient descent on whole-number sums.

    A tenth of the budget estimates the quantiles of each feature. A first descent finds which features and pairs carry
    signal, two or three more learn with a basis weighted towards them; residuals are clipped at a level that is lowered
    privately. How many descents there are, and how far each goes, follows from what was released before. Noise is the
    rounded Gaussian, whose Gaussian differential privacy is exact, so the whole fit is mu-GDP with mu solved from
    (epsilon, delta). One setting serves all data: nothing is tuned.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget; ``inf`` means no noise, for study.
    delta : float, default=1e-5
        Claimed with epsilon; 0 gives the pure-epsilon variant, with discrete Laplace noise.
    label_bounds : (low, high), or one such pair for each output
        Public range of the label, required: labels outside are clipped, and it is never read from ``y``.
    feature_bounds : pair, array of shape (2, d) or dict by column
        Public ranges of numeric features, required; values outside are clipped.
    categories : dict, optional
        Public category lists by column, required for categorical columns: neither the values nor the type of a private
        column count as a list. Values that are not listed count as "other", or else as the first category.
    interactions : bool, default=True
        Whether pairs of features are learnt, triples where it is predicted that they will pay, and long records
        shortened. If not, the model is exactly additive.
    neighbours : {"add/remove", "replace"}, default="add/remove"
        The neighbour relation of the guarantee; "replace" needs twice the noise, and takes the number of records as
        public.
    missing : {"middle", "indicator"}, default="middle"
        What a missing value counts as: the middle of its range (a category as an unlisted one), or something of its
        own, with an indicator in the model.
    public_model : "auto", "compact", regressor, fitted PublicModel or None, default="auto"
        A model from public records to start from; "auto" fits one if ``fit`` gets public records. What it leaves over
        is then learnt from the private ones, with its prediction as a further feature, and differences of features that
        go together in public records as others; a tenth of the budget says how much of that counts. Ranges and
        category lists that are not declared are those of the public records.
    callback : callable, optional
        ``callback(round)`` after each round, for progress; returning True ends the descent early, once it averages.
        If it has a method ``begin``, ``begin(rounds)`` says before each descent how many there will be.
    spool : path, optional
        A directory for what is made of records larger than memory, from which a fit that was killed goes on; by
        default nameless files in the directory for temporary ones.
    n_jobs : int, optional
        Threads that add up over records; None is one, -1 as many as there are processors. The result is the same.
    random_state : None, int or Randomness, default=None
        None draws from a secure source. Anything else is a simulation, and the guarantee says so.
    ledger : Ledger or path, optional
        Where each fit is booked before it draws (rules: :mod:`hedgerow.spending`).

    Attributes
    ----------
    guarantee_ : Guarantee
        What is protected, from whom, at what cost.
    model_ : AnovaModel
        The released model; ``model_.to_json()`` is all that may be published.
    feature_importances_ : array
        From the released coefficients only.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import PrivateAnovaRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((5_000, 3)); y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.1, 5_000)
    >>> model = PrivateAnovaRegressor(1.0, label_bounds=(-1, 3), feature_bounds=(0, 1), random_state=0).fit(X, y)
    >>> model.predict([[0.5, 0.9, 0.9], [0.0, 0.1, 0.9]]).round().tolist()
    [2.0, 0.0]
    >>> model.guarantee_.epsilon, model.guarantee_.delta, model.guarantee_.neighbours
    (1.0, 1e-05, 'add/remove')
    """

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> PrivateAnovaRegressor:
        """Fit on private records; they are used through mechanisms only. Public ones are for the public model.

        ``X`` may be larger than memory: a path, a pattern or a list of CSV and Parquet files, an Arrow dataset or a
        Dask data frame, each with the name of its column of labels as ``y`` (a list of names for several outputs).
        """
        self._check_parameters()
        check_public(X_public, y_public)
        bounds = self._bounds()
        given = self._given(X, y)
        self._check_public_columns(given.sample(), X_public)
        k = given.outputs
        self._several = k > 1
        if len(bounds) not in (1, k):
            raise BoundsError(f"'label_bounds' must be one pair, or {k}. Got {len(bounds)} instead.")
        low, high = zip(*(bounds * (k // len(bounds))), strict=True)
        missing = [middle(a, b, self._label_missing, "the label") for a, b in zip(low, high, strict=True)]
        clip = 0.5 * (k**0.5 if self.delta else k)
        note = "provided that the label bounds are public"
        start = self._start(X_public, self._public_labels(y_public, low, high))
        rule = NumberLabels(low, high, tuple(missing))
        self._fit(given, Labels(rule, 0.5, low, high, None, clip, note), start)
        return self

    def _label_columns(self, y: Any) -> list[Any]:
        return label_columns(y)

    def _public_labels(self, y_public: Any, low: Sequence[float], high: Sequence[float]) -> list[Any] | None:
        """Return public labels, one column an output."""
        if y_public is None:
            return None
        columns = label_columns(y_public)
        if len(columns) != len(low):
            raise HedgerowError(f"'y_public' must have {len(low)} columns, as 'y' has. Got {len(columns)} instead.")
        found = [check_labels(column, name="y_public") for column in columns]
        for column, *bounds in zip(found, low, high, strict=True):
            check_public_range(column, (bounds[0], bounds[1]))
        return found

    def _bounds(self) -> list[tuple[float, float]]:
        if self._label_bounds is not None and np.ndim(self._label_bounds) == 2:
            return [check_label_bounds(pair) for pair in self._label_bounds]
        return [check_label_bounds(self._label_bounds)]

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict labels, within the label bounds."""
        rows = self._rows(X)
        values: npt.NDArray[np.float64] = self.model_.predict(rows)
        return values if self._several else values[:, 0]

    def _ends(self, name: str, X: Any, level: float) -> tuple[FloatArray, FloatArray]:
        low, high = super()._ends(name, X, level)
        return (low, high) if self._several else (low[:, 0], high[:, 0])
