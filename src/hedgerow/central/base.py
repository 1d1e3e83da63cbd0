"""What the forests share as scikit-learn estimators: checks, schema, guarantee, export."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from hedgerow.bounds import FeatureSpace
from hedgerow.central.accounting import Amount, forest_guarantee, times
from hedgerow.central.forest import Fitted, Problem, Recipe, fit_forest, planned_total
from hedgerow.central.model import ForestModel
from hedgerow.central.schema import private_ranges, public_space
from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.estimators.records import ABSORBED, column_names, declared_categories, read_private_records
from hedgerow.guarantee import Guarantee
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.spending import Booking

__all__ = ["ForestBase"]

_SELECTIONS = ("permute_and_flip", "exponential", "random")


class ForestBase(BaseEstimator):  # type: ignore[misc]
    """Checks the parameters, buys or takes the schema, fits, and states the cost."""

    epsilon: float
    delta: float
    feature_bounds: Any
    n_estimators: int
    max_depth: Any
    max_features: Any
    selection: str
    accounting: str
    split_share: float
    partition: bool
    categorical_features: Any
    categories: Any
    n_hint: int | None
    neighbours: str
    n_bins: int
    stages: Any
    bounds_share: float
    n_jobs: int | None
    verbose: int
    random_state: Any
    ledger: Any
    _splits = "private"
    _votes = False

    def _recipe(self, epsilon: Amount) -> Recipe:
        paper = self.accounting == "paper"
        return Recipe(
            epsilon=epsilon,
            delta=float(self.delta),
            n_trees=check_positive(self.n_estimators, name="n_estimators"),
            depth=None if self.max_depth == "auto" else check_positive(self.max_depth, name="max_depth", least=0),
            n_hint=None if self.n_hint is None else check_positive(self.n_hint, name="n_hint"),
            max_features=None if self.max_features is None else check_positive(self.max_features, name="max_features"),
            selection=self.selection,
            accounting=self.accounting,
            split_share=self._share("split_share"),
            partition=bool(self.partition),
            stages=None if self.stages == "auto" else check_positive(self.stages, name="stages"),
            n_bins=check_positive(self.n_bins, name="n_bins", least=2),
            shrink=None if paper or self._splits != "private" else 2.0,
            splits=self._splits,
            votes=self._votes,
            n_jobs=self.n_jobs,
            verbose=int(self.verbose),
        )

    def _share(self, name: str) -> float:
        value = float(getattr(self, name))
        if not 0 < value < 1:
            raise HedgerowError(f"The '{name}' parameter must be above 0 and below 1. Got {value!r} instead.")
        return value

    def _check(self) -> None:
        check_epsilon(self.epsilon)
        for name, allowed in (
            ("selection", _SELECTIONS),
            ("accounting", ("strict", "paper")),
            ("neighbours", ("add/remove", "replace")),
        ):
            if getattr(self, name) not in allowed:
                raise HedgerowError(
                    f"The '{name}' parameter must be one of {allowed}. Got {getattr(self, name)!r} instead."
                )
        if not 0 <= self.delta < 1:
            raise HedgerowError(f"The 'delta' parameter must be in [0, 1). Got {self.delta!r} instead.")
        if self.delta and (self.partition or self.accounting == "paper" or self.neighbours == "replace"):
            raise HedgerowError(
                "'delta' > 0 is for trees that share records: pass partition=False, accounting='strict' and "
                "neighbours='add/remove', or delta=0."
            )

    def _records(self, X: Any, *, reset: bool) -> Any:
        """Check the shape of records; whatever is in them, they are read by the public rule."""
        return read_private_records(self, X, reset=reset)

    def _schema(self, X: Any, epsilon: Amount, source: Randomness) -> tuple[FeatureSpace, Amount, list[str]]:
        """Return the schema, what it cost, and the conditions that come with it."""
        names = column_names(X)
        categorical = declared_categories(X, self.feature_bounds, self.categorical_features, self.categories)
        notes = ["provided that the feature bounds and category lists are public", ABSORBED]
        if not isinstance(self.feature_bounds, str):
            return public_space(names, categorical, self.feature_bounds), Fraction(0), notes
        if self.feature_bounds != "private":
            raise HedgerowError(f"'feature_bounds' must be bounds or 'private'. Got {self.feature_bounds!r} instead.")
        cost = times(epsilon, self._share("bounds_share"))
        numeric = [j for j, name in enumerate(names) if name not in categorical]
        bounds = np.tile([[0.0], [1.0]], len(names))
        if numeric:
            widest = public_space(names, categorical, (-(2.0**1000), 2.0**1000))
            bounds[:, numeric] = private_ranges(widest.encode(X)[:, numeric], cost, source.child("bounds"))
        bought = "provided that category lists are public; feature bounds were bought with a share of epsilon"
        return public_space(names, categorical, bounds), cost, [bought, ABSORBED]

    def _fit(self, X: Any, problem: Problem, classes: tuple[Any, ...] | None, notes: list[str]) -> None:
        source = as_randomness(self.random_state)
        whole: Amount = math.inf if math.isinf(self.epsilon) else Fraction(float(self.epsilon))
        base = times(whole, Fraction(1, 2)) if self.neighbours == "replace" else whole
        # What is public is checked before it is booked; private bounds are drawn after.
        ready = None if self._buys_bounds else self._schema(X, base, source)
        booking = self._booking(X.shape[1], base, source)
        booking.book()
        space, cost, conditions = ready or self._schema(X, base, source)
        left = base if math.isinf(base) else Fraction(base) - Fraction(cost)
        fitted = fit_forest(space, space.encode(X), problem, self._recipe(left), source)
        total = math.inf if math.isinf(base) else Fraction(fitted.total) + Fraction(cost)
        self.guarantee_: Guarantee = forest_guarantee(
            total,
            float(self.delta),
            neighbours=self.neighbours,
            simulation=source.simulation,
            notes=conditions + notes + self._remarks(fitted, whole),
        )
        booking.check(self.guarantee_)
        self.model_ = ForestModel(space, fitted.stages, problem.low, problem.high, classes, self.guarantee_)
        self.depth_ = fitted.depth

    @property
    def _buys_bounds(self) -> bool:
        return isinstance(self.feature_bounds, str) and self.feature_bounds == "private"

    def _booking(self, d: int, base: Amount, source: Randomness) -> Booking:
        """Return what a fit of ``d`` columns will cost: bounds, if they are bought, and trees."""
        bounds = times(base, self._share("bounds_share")) if self._buys_bounds else Fraction(0)
        left = base if math.isinf(base) else Fraction(base) - Fraction(bounds)
        trees = planned_total(self._recipe(left), d)
        total = math.inf if math.isinf(base) else Fraction(trees) + Fraction(bounds)
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

    def _values(self, X: Any) -> npt.NDArray[np.float64]:
        check_is_fitted(self)
        return self.model_.values(self.model_.space.encode(self._records(X, reset=False)))

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """How much each column's splits separate the released leaf values, summing to 1 (post-processing)."""
        check_is_fitted(self)
        total = sum((tree.importances() for tree in self.model_.trees), np.zeros(len(self.model_.space)))
        return np.asarray(total / total.sum() if total.sum() > 0 else np.full(len(total), 1 / len(total)))

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the leaf of each record in each tree, of shape ``(n, n_estimators)``."""
        check_is_fitted(self)
        Z = self.model_.space.encode(self._records(X, reset=False))
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
