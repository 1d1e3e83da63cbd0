"""What the regressor and the classifier share: checks, schema, the fit itself, the guarantee, explanations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from hedgerow.central.anova.accounting import open_purse
from hedgerow.central.anova.explain import Explanation, explain, local_terms
from hedgerow.central.anova.model import MISSING, AnovaModel, encode
from hedgerow.central.anova.recipe import Options, fit_anova
from hedgerow.central.schema import public_space
from hedgerow.checks import Flag, OneOf, Real, Rule
from hedgerow.estimators.base import PrivateEstimator
from hedgerow.estimators.records import ABSORBED, column_names
from hedgerow.features import CategoricalFeature, Feature
from hedgerow.guarantee import Guarantee
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = ["AnovaBase"]


@dataclass(kw_only=True, eq=False, repr=False)
class AnovaBase(PrivateEstimator):
    """Takes the public schema, fits, and states the cost."""

    delta: float = 1e-5
    feature_bounds: Any = None
    categories: Any = None
    interactions: bool = True
    neighbours: str = "add/remove"
    missing: str = "middle"
    callback: Any = None

    _parameters: ClassVar[dict[str, Rule]] = {
        "delta": Real(0, 1, ends="low"),
        "interactions": Flag(),
        "neighbours": OneOf("add/remove", "replace"),
        "missing": OneOf("middle", "indicator"),
    }

    def _space(self, X: Any) -> FeatureSpace:
        space = public_space(column_names(X), self._declared_categories(X), self._feature_bounds)
        return space if self.missing != "indicator" else FeatureSpace(tuple(map(_with_missing, space.columns)))

    def _fit(
        self, X: Any, targets: FloatArray, offset: float, low: Any, high: Any, classes: Any, clip: float, note: str
    ) -> None:
        """Fit on targets in [0, 1] (one column an output) around a public offset."""
        purse = open_purse(float(self.epsilon), float(self.delta), self.neighbours)
        source = self._source()
        space = self._space(X)
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
        self._book(claim, source)
        fitted = fit_anova(space, encode(space, X, missing), targets - offset, purse, options, source)
        self.guarantee_ = claim
        self.model_ = AnovaModel(
            fitted.feature_map, fitted.theta, fitted.variance, offset, tuple(low), tuple(high), classes,
            missing, not self.interactions, fitted.size, self.guarantee_, *self._units(),
        )  # fmt: skip

    def _units(self) -> tuple[dict[str, str], str]:
        """Return the units of features and label, as far as a schema has them."""
        if self.schema is None:
            return {}, ""
        units = {column.name: column.unit for column in self.schema.columns if column.unit}
        return units, "" if self.schema.label is None else self.schema.label.unit

    def explain(self) -> Explanation:
        """Return curves, pair surfaces and importances with their noise; all post-processing."""
        check_is_fitted(self)
        return explain(self.model_)

    def explain_local(self, X: Any) -> dict[str, FloatArray]:
        """Return for each record what each feature and pair adds; with ``"offset"`` the terms sum to the prediction.

        Values are on the scale of the (unclipped) prediction, of shape (n, outputs).
        """
        rows = self._rows(X)
        return local_terms(self.model_, rows)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the released model's variance (pairs count half for each), less the noise's."""
        check_is_fitted(self)
        return explain(self.model_).feature_importances()


def _with_missing(feature: Feature) -> Feature:
    """Return a feature in which a missing category is one of its own; of numbers, an indicator says so."""
    if not isinstance(feature, CategoricalFeature):
        return feature
    return replace(feature, categories=(*feature.categories, MISSING))
