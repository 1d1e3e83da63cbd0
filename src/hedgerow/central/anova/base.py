"""What the regressor and the classifier share: checks, schema, the fit itself, the guarantee, explanations."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from hedgerow.bounds import FeatureSpace
from hedgerow.central.anova.accounting import open_purse
from hedgerow.central.anova.explain import Explanation, explain, local_terms
from hedgerow.central.anova.model import MISSING, AnovaModel, encode
from hedgerow.central.anova.recipe import Options, fit_anova
from hedgerow.central.schema import public_space
from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError
from hedgerow.estimators.records import ABSORBED, column_names, declared_categories, read_private_records
from hedgerow.guarantee import Guarantee
from hedgerow.randomness import as_randomness
from hedgerow.spending import Booking
from hedgerow.types import FloatArray

__all__ = ["AnovaBase"]


class AnovaBase(BaseEstimator):  # type: ignore[misc]
    """Checks the parameters, takes the public schema, fits, and states the cost."""

    epsilon: float
    delta: float
    feature_bounds: Any
    categories: Any
    interactions: bool
    neighbours: str
    missing: str
    callback: Any
    random_state: Any
    ledger: Any

    def _records(self, X: Any, *, reset: bool) -> Any:
        """Check the shape of records; whatever is in them, they are read by the public rule."""
        return read_private_records(self, X, reset=reset)

    def _schema(self, X: Any) -> FeatureSpace:
        lists = declared_categories(X, self.feature_bounds, None, self.categories)
        if self.missing == "indicator":
            lists = {name: (*listed, MISSING) for name, listed in lists.items()}
        return public_space(column_names(X), lists, self.feature_bounds)

    def _fit(
        self, X: Any, targets: FloatArray, offset: float, low: Any, high: Any, classes: Any, clip: float, note: str
    ) -> None:
        """Fit on targets in [0, 1] (one column an output) around a public offset."""
        check_epsilon(self.epsilon)
        if self.missing not in ("middle", "indicator"):
            raise HedgerowError(
                f"The 'missing' parameter must be 'middle' or 'indicator'. Got {self.missing!r} instead."
            )
        purse = open_purse(float(self.epsilon), float(self.delta), self.neighbours)
        source, space = as_randomness(self.random_state), self._schema(X)
        missing = self.missing == "indicator"
        options = Options(bool(self.interactions), missing, clip, self.callback)
        claim = Guarantee(
            float(self.epsilon),
            float(self.delta) if purse.total is not None else 0.0,
            protects="record",
            trust="central",
            neighbours=self.neighbours,
            simulation=source.simulation,
            notes=("provided that the feature bounds and category lists are public", note, ABSORBED),
        )
        Booking.of(self, claim, source).book()
        fitted = fit_anova(space, encode(space, X, missing), targets - offset, purse, options, source)
        self.guarantee_ = claim
        self.model_ = AnovaModel(
            fitted.feature_map, fitted.theta, fitted.variance, offset, tuple(low), tuple(high), classes,
            missing, not self.interactions, fitted.size, self.guarantee_,
        )  # fmt: skip

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def explain(self) -> Explanation:
        """Return curves, pair surfaces and importances with their noise; all post-processing."""
        check_is_fitted(self)
        return explain(self.model_)

    def explain_local(self, X: Any) -> dict[str, FloatArray]:
        """Return for each record what each feature and pair adds; with ``"offset"`` the terms sum to the prediction.

        Values are on the scale of the (unclipped) prediction, of shape (n, outputs).
        """
        check_is_fitted(self)
        return local_terms(self.model_, self._records(X, reset=False))

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the released model's variance (pairs count half for each), less the noise's."""
        check_is_fitted(self)
        return explain(self.model_).feature_importances()
