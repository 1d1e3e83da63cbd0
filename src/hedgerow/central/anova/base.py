"""What the regressor and the classifier share: checks, schema, the fit itself, the guarantee, explanations."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgerow.central.anova.accounting import open_purse
from hedgerow.central.anova.correct import fit_correction
from hedgerow.central.anova.counted import Counted
from hedgerow.central.anova.explain import Explanation, explain, local_terms
from hedgerow.central.anova.intake import open_records
from hedgerow.central.anova.model import AnovaModel
from hedgerow.central.anova.pure_plan import PURE_RULES, PureRules
from hedgerow.central.anova.reading import LabelRule, Reading
from hedgerow.central.anova.recipe import Options, fit_anova
from hedgerow.central.anova.records import MISSING
from hedgerow.central.anova.rules import RULES, Rules
from hedgerow.central.public import NOT_PROTECTED, PublicPart, PublicStart, start_from
from hedgerow.central.schema import public_space
from hedgerow.checks import Flag, Kind, OneOf, Real, Rule
from hedgerow.errors import BoundsError, HedgerowError
from hedgerow.estimators.base import PrivateEstimator
from hedgerow.estimators.records import (
    ABSORBED,
    NO_CLASS,
    NO_NUMBER,
    column_names,
    private_column,
    read_source,
    refuse_texts,
)
from hedgerow.features import CategoricalFeature, Feature
from hedgerow.given import BoundsLike, CategoriesLike, EstimatorLike, ProgressLike
from hedgerow.guarantee import NUMBER_TOLD, Guarantee
from hedgerow.public.given import PUBLIC_MODEL
from hedgerow.randomness import Randomness
from hedgerow.sources import Source, as_source
from hedgerow.sources.held import HeldSource
from hedgerow.sources.spool import Spool
from hedgerow.space import FeatureSpace
from hedgerow.spending import Booking
from hedgerow.types import FloatArray

__all__ = ["AnovaBase", "Labels"]


@dataclass(frozen=True, eq=False)
class Labels:
    """What is public of the labels: how they are read, and what is predicted of them.

    ``offset`` is what is predicted before anything is learnt, ``clip`` how far labels may be from it, over all outputs.
    """

    rule: LabelRule
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
    spool: str | os.PathLike[str] | None = None
    n_jobs: int | None = None

    _rules: ClassVar[Rules] = RULES
    _pure_rules: ClassVar[PureRules] = PURE_RULES
    _parameters: ClassVar[dict[str, Rule]] = {
        "delta": Real(0, 1, ends="low"),
        "interactions": Flag(),
        "neighbours": OneOf("add/remove", "replace"),
        "missing": OneOf("middle", "indicator"),
        "public_model": PUBLIC_MODEL,
        "spool": Kind("the path of a directory, or None", (str, os.PathLike, type(None))),
        "n_jobs": Kind("an int or None", (int, np.integer, type(None))),
    }

    def _given(self, X: Any, y: Any) -> Source:
        """Return the records as a source: files and collections as they are, a table as one batch."""
        source = as_source(X, y)
        if source is not None:
            return read_source(self, source)
        rows = self._records(X, reset=True)
        return HeldSource(rows, [private_column(self, column, rows.shape[0]) for column in self._label_columns(y)])

    def _label_columns(self, y: Any) -> list[Any]:
        """Return the columns of labels in memory."""
        return [y]

    def _space(self, X: Any) -> FeatureSpace:
        return public_space(column_names(X), self._declared_categories(X), self._feature_bounds)

    def _start(self, X_public: Any, labels: Any, *, classes: bool = False) -> PublicStart | None:
        """Return the public model that is corrected, fitted to these labels if it is not yet; None for none."""
        known = {"feature_bounds": self._feature_bounds, "categories": self.categories}
        start = start_from(self.public_model, X_public, labels, random_state=0, classes=classes, **known)
        # A contrast is of two features, and pure noise is paid by the feature.
        return start.with_contrasts() if start is not None and self.interactions and self.delta else start

    def _fit(self, given: Source, labels: Labels, start: PublicStart | None) -> None:
        """Fit labels in [0, 1] around a public offset, or around what a public model predicts."""
        purse = open_purse(float(self.epsilon), float(self.delta), self.neighbours)
        source = self._source()
        reading = self._reading(given, labels, start)
        options = Options(
            bool(self.interactions),
            reading.missing,
            labels.clip,
            self.callback,
            self._rules,
            self._pure_rules,
            self.n_jobs,
        )
        notes = ["provided that the feature bounds and category lists are public", labels.note, ABSORBED]
        if start is not None:
            notes.append(NOT_PROTECTED)
        if self.neighbours == "replace":
            notes.append(NUMBER_TOLD)
        claim = Guarantee(
            float(self.epsilon),
            float(self.delta) if purse.total is not None else 0.0,
            protects="record",
            trust="central",
            neighbours=self.neighbours,
            simulation=source.simulation,
            notes=tuple(notes),
        )
        part: PublicPart | None = None
        work = self._work(given, reading, source)
        with open_records(given, reading, work, self.spool) as (records, counted, spool):
            self._check_counted(given, reading, counted)
            self._book_once(claim, source, spool)
            if start is None:
                fitted = fit_anova(reading.space, records, purse, options, source)
            else:
                found = fit_correction(reading, records, start, purse, options, source)
                fitted = found.fitted
                part = found.part
            spool.finish()
        self.guarantee_ = claim
        self.model_ = AnovaModel(
            fitted.feature_map, fitted.theta, fitted.variance, labels.offset, *reading.bounds, labels.classes,
            reading.missing, not self.interactions, fitted.size, self.guarantee_, *self._units(), part,
        )  # fmt: skip

    def _reading(self, given: Source, labels: Labels, start: PublicStart | None) -> Reading:
        """Return how records are read, from what is public."""
        columns = self._space(given.sample()) if start is None else start.space
        missing = self.missing == "indicator"
        if missing:
            columns = FeatureSpace(tuple(map(_with_missing, columns.columns)))
        bounds = (labels.low, labels.high)
        public = None if start is None else start.part
        space = columns if public is None else public.space(columns, bounds)
        given.describe(
            {f.name for f in columns.columns if isinstance(f, CategoricalFeature)}, classes=labels.classes is not None
        )
        return Reading(columns, space, missing, labels.rule, labels.offset, public, bounds, labels.classes is not None)

    def _work(self, given: Source, reading: Reading, source: Randomness) -> list[Any]:
        """Return what tells this fit from others, for a spool; nothing without one."""
        if self.spool is None:
            return []
        stated = [type(self).__name__, self.epsilon, self.delta, self.neighbours, self.interactions, source.simulation]
        public = None if reading.public is None else reading.public.to_json()
        return [*map(repr, stated), reading.described(), public, given.names, given.fingerprint()]

    def _check_counted(self, given: Source, reading: Reading, counted: Counted) -> None:
        """Refuse a source without records or labels, or with text where there is no list of categories."""
        if not counted.rows:
            raise HedgerowError(given.without_records())
        if not all(counted.labels):
            raise BoundsError(NO_CLASS if reading.classes else NO_NUMBER)
        named = self._feature_bounds if isinstance(self._feature_bounds, Mapping | FeatureSpace) else ()
        known = set(named.inputs) if isinstance(named, FeatureSpace) else set(map(str, named))
        held = zip(reading.columns.columns, counted.columns, strict=True)
        empty = {f.name for f, number in held if not number and not isinstance(f, CategoricalFeature)}
        refuse_texts(sorted(empty - known))

    def _book_once(self, claim: Guarantee, source: Randomness, spool: Spool) -> None:
        """Book the fit; one that goes on from a spool was booked when it began."""
        booking = Booking.of(self, claim, source)
        booking.key = spool.get("booking") or booking.key
        spool.keep("booking", booking.key)
        booking.book()

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
        """Return for each record what features, pairs and triples add; with ``"offset"`` these sum to the prediction.

        Values are on the scale of the (unclipped) prediction, of shape (n, outputs).
        """
        rows = self._rows(X)
        return local_terms(self.model_, rows)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the released model's variance (pairs and triples count in parts), less the noise's.

        Beside a public model these are shares of the correction to it, without what its prediction has as a feature; a
        difference of two features counts half for each.
        """
        check_is_fitted(self)
        return explain(self.model_).feature_importances(self.model_.space.names)


def _with_missing(feature: Feature) -> Feature:
    """Return a feature in which a missing category is one of its own; of numbers, an indicator says so."""
    if not isinstance(feature, CategoricalFeature):
        return feature
    return replace(feature, categories=(*feature.categories, MISSING))
