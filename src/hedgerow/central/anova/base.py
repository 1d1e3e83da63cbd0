"""What the regressor and the classifier share: checks, schema, the fit itself, the guarantee, explanations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from hedgerow.central.anova.accounting import open_purse
from hedgerow.central.anova.coded import Table
from hedgerow.central.anova.correct import fit_correction
from hedgerow.central.anova.explain import Explanation, explain, local_terms
from hedgerow.central.anova.model import AnovaModel
from hedgerow.central.anova.recipe import Options, fit_anova
from hedgerow.central.anova.records import MISSING, encode
from hedgerow.central.public import NOT_PROTECTED, PublicPart, PublicStart, start_from
from hedgerow.central.schema import public_space
from hedgerow.checks import Flag, OneOf, Real, Rule
from hedgerow.estimators.base import PrivateEstimator
from hedgerow.estimators.records import ABSORBED, column_names
from hedgerow.features import CategoricalFeature, Feature
from hedgerow.given import BoundsLike, CategoriesLike, EstimatorLike, ProgressLike
from hedgerow.guarantee import Guarantee
from hedgerow.public.given import PUBLIC_MODEL
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = ["AnovaBase", "Labels"]


@dataclass(frozen=True, eq=False)
class Labels:
    """What is fitted: private labels scaled to [0, 1], one column an output, and what is public of them.

    ``offset`` is what is predicted before anything is learnt, ``clip`` how far labels may be from it, over all outputs.
    """

    scaled: FloatArray
    offset: float
    low: tuple[float, ...]
    high: tuple[float, ...]
    classes: tuple[Any, ...] | None
    clip: float
    note: str


@dataclass(kw_only=True, eq=False, repr=False)
class AnovaBase(PrivateEstimator):
    """Takes the public schema, fits, and states the cost."""

    delta: float = 1e-5
    feature_bounds: BoundsLike = None
    categories: CategoriesLike = None
    interactions: bool = True
    neighbours: str = "add/remove"
    missing: str = "middle"
    public_model: EstimatorLike = "auto"
    callback: ProgressLike = None

    _parameters: ClassVar[dict[str, Rule]] = {
        "delta": Real(0, 1, ends="low"),
        "interactions": Flag(),
        "neighbours": OneOf("add/remove", "replace"),
        "missing": OneOf("middle", "indicator"),
        "public_model": PUBLIC_MODEL,
    }

    def _space(self, X: Any) -> FeatureSpace:
        return public_space(column_names(X), self._declared_categories(X), self._feature_bounds)

    def _start(self, X_public: Any, labels: Any, *, classes: bool = False) -> PublicStart | None:
        """Return the public model that is corrected, fitted to these labels if it is not yet; None for none."""
        known = {"feature_bounds": self._feature_bounds, "categories": self.categories}
        return start_from(self.public_model, X_public, labels, random_state=0, classes=classes, **known)

    def _fit(self, X: Any, labels: Labels, start: PublicStart | None) -> None:
        """Fit labels in [0, 1] around a public offset, or around what a public model predicts."""
        purse = open_purse(float(self.epsilon), float(self.delta), self.neighbours)
        source = self._source()
        space = self._space(X) if start is None else start.space
        missing = self.missing == "indicator"
        if missing:
            space = FeatureSpace(tuple(map(_with_missing, space.columns)))
        options = Options(bool(self.interactions), missing, labels.clip, self.callback)
        notes = ["provided that the feature bounds and category lists are public", labels.note, ABSORBED]
        if start is not None:
            notes.append(NOT_PROTECTED)
        claim = Guarantee(
            float(self.epsilon),
            float(self.delta) if purse.total is not None else 0.0,
            protects="record",
            trust="central",
            neighbours=self.neighbours,
            simulation=source.simulation,
            notes=tuple(notes),
        )
        self._book(claim, source)
        Z = encode(space, X, missing)
        bounds = (labels.low, labels.high)
        part: PublicPart | None = None
        if start is None:
            fitted = fit_anova(space, Table(Z, labels.scaled - labels.offset), purse, options, source)
        else:
            found = fit_correction(
                space, Z, labels.scaled, start, bounds, labels.classes is not None, purse, options, source
            )
            fitted = found.fitted
            part = found.part
        self.guarantee_ = claim
        self.model_ = AnovaModel(
            fitted.feature_map, fitted.theta, fitted.variance, labels.offset, *bounds, labels.classes,
            missing, not self.interactions, fitted.size, self.guarantee_, *self._units(), part,
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
        """Share of each feature in the released model's variance (pairs count half for each), less the noise's.

        Beside a public model these are shares of the correction to it.
        """
        check_is_fitted(self)
        return explain(self.model_).feature_importances(self.model_.space.names)


def _with_missing(feature: Feature) -> Feature:
    """Return a feature in which a missing category is one of its own; of numbers, an indicator says so."""
    if not isinstance(feature, CategoricalFeature):
        return feature
    return replace(feature, categories=(*feature.categories, MISSING))
