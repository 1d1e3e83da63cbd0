"""What the forests share as scikit-learn estimators: checks, schema, guarantee, export."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from hedgerow.central.accounting import Amount, forest_guarantee, times
from hedgerow.central.anova.accounting import LaplacePurse
from hedgerow.central.anova.gate import GATE
from hedgerow.central.beside import fit_beside
from hedgerow.central.forest import Fitted, Problem, Recipe, fit_forest, planned_total
from hedgerow.central.model import ForestModel
from hedgerow.central.public import NOT_PROTECTED, PublicStart, start_from
from hedgerow.central.schema import private_ranges, public_space
from hedgerow.central.scores import Weights
from hedgerow.checks import Kind, OneOf, Rule, Whole
from hedgerow.classes import class_codes, class_note
from hedgerow.errors import HedgerowError
from hedgerow.estimators.base import PrivateClassifier, PrivateEstimator, PrivateRegressor
from hedgerow.estimators.records import ABSORBED, column_names
from hedgerow.given import BoundsLike, CategoriesLike, ColumnsLike, EstimatorLike
from hedgerow.grid import check_label_bounds, check_labels, check_public_range
from hedgerow.guarantee import Guarantee
from hedgerow.public.given import is_fitted, required_with
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.spending import Booking
from hedgerow.types import FloatArray, IntArray, RealArray

__all__ = ["ForestBase", "ForestClassifier", "ForestRegressor"]


class _Settings(PrivateEstimator):
    """What a forest may leave to its kind: DiPriMe forests have these as parameters, the papers' peers do not."""

    max_features: int | None = None
    selection: str = "exponential"
    accounting: str = "strict"
    split_share: float = 0.5
    partition: bool = False
    delta: float = 0.0
    n_bins: int = 5
    stages: Any = 1
    bounds_share: float = 0.1
    verbose: int = 0
    public_model: EstimatorLike = None
    _splits = "private"
    _votes = False


@dataclass(kw_only=True, eq=False, repr=False)
class ForestBase(_Settings):
    """Checks the parameters, buys or takes the schema, fits, and states the cost."""

    feature_bounds: BoundsLike = None
    n_estimators: int = 10
    max_depth: Any = "auto"
    categorical_features: ColumnsLike = None
    categories: CategoriesLike = None
    n_hint: int | None = None
    neighbours: str = "add/remove"
    n_jobs: int | None = None

    _parameters: ClassVar[dict[str, Rule]] = {
        "n_estimators": Whole(),
        "max_depth": Whole(0) | OneOf("auto"),
        "n_hint": Whole() | OneOf(None),
        "neighbours": OneOf("add/remove", "replace"),
        "n_jobs": Kind("an int or None", (int, np.integer, type(None))),
    }

    def _recipe(self, epsilon: Amount) -> Recipe:
        paper = self.accounting == "paper"
        return Recipe(
            epsilon=epsilon,
            delta=float(self.delta),
            n_trees=self.n_estimators,
            depth=None if self.max_depth == "auto" else self.max_depth,
            n_hint=self.n_hint,
            max_features=self.max_features,
            selection=self.selection,
            accounting=self.accounting,
            split_share=float(self.split_share),
            partition=bool(self.partition),
            stages=None if self.stages == "auto" else self.stages,
            n_bins=self.n_bins,
            shrink=None if paper or self._splits != "private" else 2.0,
            splits=self._splits,
            votes=self._votes,
            n_jobs=self.n_jobs,
            verbose=int(self.verbose),
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.delta and (self.partition or self.accounting == "paper" or self.neighbours == "replace"):
            raise HedgerowError(
                "'delta' > 0 is for trees that share records: pass partition=False, accounting='strict' and "
                "neighbours='add/remove', or delta=0."
            )

    def _start(self, X_public: Any, labels: Any, *, classes: bool = False) -> PublicStart | None:
        """Return the public model beside the forest, fitted to these labels if it is not yet; None for none."""
        if X_public is None and not is_fitted(self.public_model):
            if self.public_model is None or OneOf("auto").allows(self.public_model):
                return None
            raise HedgerowError(required_with(self.public_model))
        if self.accounting == "paper" or self._buys_bounds:
            raise HedgerowError(
                "a public model goes with accounting='strict', and gives the feature bounds: pass accounting='strict' "
                "and feature_bounds that are public, or None; or public_model=None and no public records."
            )
        known = {"feature_bounds": self._feature_bounds, "categories": self.categories}
        known["categorical_features"] = self.categorical_features
        return start_from(self.public_model, X_public, labels, random_state=0, classes=classes, **known)

    def _schema(
        self, X: Any, epsilon: Amount, source: Randomness, start: PublicStart | None
    ) -> tuple[FeatureSpace, Amount, list[str]]:
        """Return the schema, what it cost, and the conditions that come with it."""
        if start is not None:
            public = "provided that the feature bounds and category lists are public"
            return start.space, Fraction(0), [public, ABSORBED, NOT_PROTECTED]
        names = column_names(X)
        categorical = self._declared_categories(X)
        notes = ["provided that the feature bounds and category lists are public", ABSORBED]
        if not isinstance(self._feature_bounds, str):
            return public_space(names, categorical, self._feature_bounds), Fraction(0), notes
        if self._feature_bounds != "private":
            raise HedgerowError(f"'feature_bounds' must be bounds or 'private'. Got {self._feature_bounds!r} instead.")
        cost = times(epsilon, float(self.bounds_share))
        numeric = [j for j, name in enumerate(names) if name not in categorical]
        bounds = np.tile([[0.0], [1.0]], len(names))
        if numeric:
            widest = public_space(names, categorical, (-(2.0**1000), 2.0**1000))
            bounds[:, numeric] = private_ranges(widest.encode(X)[:, numeric], cost, source.child("bounds"))
        bought = "provided that category lists are public; feature bounds were bought with a share of epsilon"
        return public_space(names, categorical, bounds), cost, [bought, ABSORBED]

    def _fit(
        self,
        X: Any,
        problem: Problem,
        classes: tuple[Any, ...] | None,
        notes: list[str],
        start: PublicStart | None = None,
    ) -> None:
        source = self._source()
        whole: Amount = math.inf if math.isinf(self.epsilon) else Fraction(float(self.epsilon))
        budget = times(whole, Fraction(1, 2)) if self.neighbours == "replace" else whole
        # What is public is checked before it is booked; private bounds are drawn after.
        ready = None if self._buys_bounds else self._schema(X, budget, source, start)
        look = Fraction(0) if start is None else times(budget, GATE)
        booking = self._booking(X.shape[1] if ready is None else len(ready[0]), budget, look, source)
        booking.book()
        space, cost, conditions = ready or self._schema(X, budget, source, start)
        cost = look if start is not None else cost
        left = budget if math.isinf(budget) else Fraction(budget) - Fraction(cost)
        found = None
        if start is None:
            fitted = fit_forest(space, space.encode(X), problem, self._recipe(left), source)
        else:
            purse = LaplacePurse(None if math.isinf(look) else Fraction(look))
            Z = np.asarray(space.encode(X), dtype=np.float64)
            found = fit_beside(start, Z, problem, self._recipe(left), purse, classes is not None, source)
            fitted = found.fitted
        total = math.inf if math.isinf(budget) else Fraction(fitted.total) + Fraction(cost)
        self.guarantee_: Guarantee = forest_guarantee(
            total,
            float(self.delta),
            neighbours=self.neighbours,
            simulation=source.simulation,
            notes=conditions + notes + self._remarks(fitted, whole),
        )
        booking.check(self.guarantee_)
        beside = () if found is None else (found.part, found.radius)
        self.model_ = ForestModel(space, fitted.stages, problem.low, problem.high, classes, self.guarantee_, *beside)
        self.depth_ = fitted.depth

    @property
    def _buys_bounds(self) -> bool:
        return isinstance(self._feature_bounds, str) and self._feature_bounds == "private"

    def _booking(self, d: int, budget: Amount, look: Amount, source: Randomness) -> Booking:
        """Return what a fit of ``d`` features will cost: bounds, if they are bought, a look, if any, and trees."""
        first = times(budget, float(self.bounds_share)) if self._buys_bounds else look
        left = budget if math.isinf(budget) else Fraction(budget) - Fraction(first)
        trees = planned_total(self._recipe(left), d)
        total = math.inf if math.isinf(budget) else Fraction(trees) + Fraction(first)
        options: dict[str, Any] = {"neighbours": self.neighbours, "simulation": source.simulation, "notes": []}
        return Booking.of(self, forest_guarantee(total, float(self.delta), **options), source)

    def _remarks(self, fitted: Fitted, nominal: Amount) -> list[str]:
        notes = []
        if self.partition:
            notes.append("each record is in one tree, drawn by a coin of its own")
        if self.accounting == "paper":
            notes.append(
                f"the paper calls this epsilon = {float(nominal):g}: it counts K candidate medians of the same records "
                "once; its leaf noise, which has no finite cost, is replaced by noisy counts"
            )
        return notes

    def _encoded(self, X: Any) -> RealArray:
        rows = self._rows(X)
        encoded: RealArray = self.model_.encoded(rows)
        return encoded

    def _values(self, X: Any) -> FloatArray:
        Z = self._encoded(X)
        values: FloatArray = self.model_.values(Z)
        return values

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """How much each column's splits separate the released leaf values, summing to 1 (post-processing)."""
        check_is_fitted(self)
        shares: npt.NDArray[np.float64] = self.model_.importances()
        if self.model_.public is None:
            return shares
        own = shares[[self.model_.names.index(name) for name in self.model_.space.names]]
        return np.asarray(own / own.sum() if own.sum() > 0 else np.full(len(own), 1 / len(own)))

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the leaf of each record in each tree, of shape ``(n, n_estimators)``."""
        Z = self._encoded(X)
        return np.stack([tree.partition.apply(Z) for tree in self.model_.trees], axis=1)

    def export_text(self, tree: int = 0, column: int = -1) -> str:
        """Return one tree as text, with the released values of one column at its leaves."""
        check_is_fitted(self)
        chosen = self.model_.trees[tree]
        return chosen.partition.export_text(chosen.values[:, column])

    def plot(self, tree: int = 0, column: int = -1, ax: Any = None, **options: Any) -> Any:
        """Draw one tree with Matplotlib."""
        check_is_fitted(self)
        chosen = self.model_.trees[tree]
        return chosen.partition.plot(chosen.values[:, column], ax, **options)


@dataclass(kw_only=True, eq=False, repr=False)
class ForestRegressor(PrivateRegressor, ForestBase):
    """A forest that predicts a number."""

    def fit(self, X: Any, y: Any) -> ForestRegressor:
        """Fit on private records; they are used through mechanisms only."""
        self._learn(X, y)
        return self

    def _learn(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> None:
        rows, labels = self._open(X, y, X_public, y_public)
        low, high = check_label_bounds(self._label_bounds)
        plain = self.accounting == "paper"
        weights = Weights(squared=128) if plain else Weights(squared=90, balance=38)
        problem = Problem(labels, low, high, weights=weights)
        public = None
        if y_public is not None:
            public = [check_labels(y_public, name="y_public")]
            check_public_range(public[0], (low, high))
        start = self._start(X_public, public)
        self._fit(rows, problem, None, ["provided that the label bounds are public"], start)

    def predict(self, X: Any) -> FloatArray:
        """Predict labels, within the label bounds."""
        return self._values(X)[:, 0]


@dataclass(kw_only=True, eq=False, repr=False)
class ForestClassifier(PrivateClassifier, ForestBase):
    """A forest that predicts a class."""

    def fit(self, X: Any, y: Any) -> ForestClassifier:
        """Fit on private records; they are used through mechanisms only."""
        self._learn(X, y)
        return self

    def _learn(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> None:
        rows, codes = self._open(X, y, X_public, y_public, ordered=True)
        k = len(self.classes_)
        public = None
        if y_public is not None:
            own = class_codes(self.classes_, y_public)
            public = [(own == code).astype(np.float64) for code in range(1 if k == 2 else 0, k)]
        start = self._start(X_public, public, classes=True)
        self._fit(rows, self._problem(codes), tuple(self.classes_.tolist()), [class_note(self._classes)], start)

    def _problem(self, codes: IntArray) -> Problem:
        paper = self.accounting == "paper"
        weights = Weights(squared=128) if paper else Weights(margin=115, balance=13)
        two = len(self.classes_) == 2
        return Problem(
            codes,
            n_classes=0 if two else len(self.classes_),
            weights=weights,
            split_quantile=0.0,
            leaf_quantile=0.0,
            occupancy=(0.2, 0.4),
            rooted=True,
        )

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class; rows sum to 1."""
        Z = self._encoded(X)
        proba: FloatArray = self.model_.probabilities(Z)
        return proba
