"""What every private estimator is: declared parameters, records read by public rules, one booking, one claim.

An estimator is a dataclass, so that its parameters, their defaults and the signature that scikit-learn reads are one
list; ``_parameters`` says what each may be. ``fit`` checks these first, then what is declared of label and records, and
only then looks at shapes. Fitted attributes end in an underscore and are set by ``fit`` alone.
"""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hedgerow.checks import EPSILON, Kind, Rule, check_parameters, declared_rules
from hedgerow.classes import check_public_classes
from hedgerow.errors import BoundsError, HedgerowError, HedgerowWarning, shown
from hedgerow.estimators.public import check_public, check_public_columns
from hedgerow.estimators.records import (
    check_table,
    column_names,
    declared_categories,
    read_described_records,
    read_private_classes,
    read_private_labels,
    read_private_records,
    tag_total,
)
from hedgerow.estimators.repeats import Told, warn_if_repeated
from hedgerow.estimators.weights import without_weights
from hedgerow.given import (
    BoundsLike,
    CategoriesLike,
    ClassesLike,
    ColumnsLike,
    LabelBoundsLike,
    LedgerLike,
    RandomStateLike,
    SchemaLike,
)
from hedgerow.grid import check_label_bounds
from hedgerow.guarantee import LARGE_DELTA, LARGE_EPSILON, Guarantee, as_if_local
from hedgerow.ledger import Ledger
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.schema import Column, Schema
from hedgerow.space import FeatureSpace
from hedgerow.spending import Booking
from hedgerow.summary import Summary
from hedgerow.tasks.models import check_level
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.card import Card
    from hedgerow.explorer import Explorer
    from hedgerow.formula import Formula
    from hedgerow.formula.anatomy import Anatomy

__all__ = ["PrivateClassifier", "PrivateEstimator", "PrivateRegressor"]

_SOURCES = (type(None), int, np.integer, Randomness, np.random.RandomState, np.random.Generator)


class _Facts(BaseEstimator):  # type: ignore[misc]
    """What may be declared of records; an estimator has those as parameters that it can use."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Let ``fit`` refuse weights by name and with the reason, where it does not take them."""
        super().__init_subclass__(**options)
        if "fit" in vars(cls):
            cls.fit = without_weights(cls.fit)

    feature_bounds: BoundsLike = None
    categorical_features: ColumnsLike = None
    categories: CategoriesLike = None


@dataclass(eq=False, repr=False)
class PrivateEstimator(_Facts):
    """An estimator that reads private records through mechanisms only.

    Parameters
    ----------
    epsilon : float, default=1.0
        The budget.
    random_state : None, int or Randomness, default=None
        None draws from a secure source. Anything else is a simulation, and the guarantee says so.
    ledger : Ledger or path, optional
        Where each fit is booked before it draws (rules: :mod:`hedgerow.spending`).
    schema : Schema, optional
        What is public of columns and label, in the place of ``label_bounds``, ``classes``, ``feature_bounds``,
        ``categories`` and ``categorical_features``.
    """

    epsilon: float = 1.0
    _: KW_ONLY
    random_state: RandomStateLike = None
    ledger: LedgerLike = None
    schema: SchemaLike = None

    _parameters: ClassVar[dict[str, Rule]] = {
        "epsilon": EPSILON,
        "random_state": Kind("None (secure), an int or a Randomness", _SOURCES),
        "ledger": Kind("a Ledger, the path of one, or None", (Ledger, str, os.PathLike, type(None))),
        "schema": Kind("a Schema (from a file: Schema.load(path)) or None", (Schema, type(None))),
    }

    def _check_parameters(self) -> None:
        """Refuse parameters that are not as declared."""
        check_parameters(self.get_params(deep=False), declared_rules(type(self)), owner=type(self).__name__)
        warn_if_repeated(self)
        self._check_schema("feature_bounds", "categories", "categorical_features")
        self._warn_if_weak()

    def _warn_if_weak(self) -> None:
        """Say so if the budget protects next to nothing; an infinite one is for study, and meant."""
        budget = self._budget()
        delta = float(getattr(self, "delta", 0.0) or 0.0)
        if math.isfinite(budget) and (budget > LARGE_EPSILON or delta >= LARGE_DELTA):
            with_delta = ""
            if delta:
                with_delta = f" with delta = {delta:g}"
            warnings.warn(
                f"'epsilon' = {budget:g}{with_delta} protects next to nothing: pass epsilon of at most "
                f"{LARGE_EPSILON:g} and delta below {LARGE_DELTA:g}, or epsilon=inf for a study without noise.",
                HedgerowWarning,
                stacklevel=5,
            )

    def summary(self, level: float = 0.9) -> Summary:
        """Return what was fitted on one screen: guarantee, people, leaves or terms with their intervals, shift.

        All of it follows from what was released, and costs no privacy.
        """
        check_is_fitted(self, "guarantee_")
        model: Any = getattr(self, "model_", None)
        if hasattr(model, "summary"):
            found: Summary = model.summary(level)
            return found
        facts = [("features", str(getattr(self, "n_features_in_", "not told")))]
        return Summary(type(self).__name__, self.guarantee_, facts)

    def card(self, *, purpose: str = "", intended_use: str = "", level: float = 0.9) -> Card:
        """Return one page about what was fitted: use, guarantee, what it says, pictures, schema, audit, making.

        It follows from what was released, and costs no privacy; ``card.save("card.html")`` writes it.
        """
        from hedgerow.card.sections import Told
        from hedgerow.tasks.card import card_of, summary_card

        summary = self.summary(level)
        told = Told(purpose, intended_use)
        model: Any = getattr(self, "model_", None)
        if hasattr(model, "card"):
            return card_of(model, told, level, claim=self.guarantee_)
        return summary_card(summary, told, type(self).__name__)

    def _budget(self) -> float:
        return float(self.epsilon)

    def __sklearn_clone__(self) -> Any:
        """Return a clone that knows whether its kin has warned already."""
        told = self.__dict__.setdefault("_told", Told())
        twin = super().__sklearn_clone__()
        twin._told = told
        return twin

    def _check_schema(self, *short_forms: str) -> None:
        """Refuse what the schema says already."""
        for name in short_forms:
            if self.schema is not None and getattr(self, name) is not None:
                raise BoundsError(
                    f"'{name}' and 'schema' say the same thing: leave '{name}' out, or edit the schema. "
                    f"Got {name}={shown(getattr(self, name))} beside a schema."
                )

    @property
    def _feature_bounds(self) -> Any:
        """What is public of the features: stated here, or the space of the schema."""
        return self.feature_bounds if self.schema is None else self.schema.space

    @property
    def _categories(self) -> Any:
        """The category lists that are stated here; those of a schema are in :attr:`_feature_bounds`."""
        return self.categories

    def _records(self, X: Any, *, reset: bool) -> Any:
        """Check the shape of records; whatever is in them, they are read by the public rule."""
        check_table(X)
        if self.schema is not None:
            return read_described_records(self, X, self.schema.space, reset=reset)
        return read_private_records(self, X, reset=reset)

    def _check_public_columns(self, X: Any, X_public: Any) -> None:
        """Refuse public records of other columns; with a schema, those that it describes are taken from either."""
        if self.schema is None:
            check_public_columns(X, X_public)

    def _rows(self, X: Any) -> Any:
        """Return records to predict for, of a fitted estimator."""
        check_is_fitted(self)
        return self._records(X, reset=False)

    def _declared_categories(self, X: Any) -> dict[str, tuple[str, ...]]:
        return declared_categories(X, self._feature_bounds, self.categorical_features, self.categories)

    def _space(self, X: Any) -> FeatureSpace:
        """Return the public schema; nothing but the names of columns is taken from X."""
        return FeatureSpace.from_bounds(self._feature_bounds, column_names(X), categories=self._declared_categories(X))

    @property
    def _known_label(self) -> Column | None:
        """The label of the schema, if there is one."""
        return None if self.schema is None else self.schema.label

    def formula(self) -> Formula:
        """Return what ``predict`` computes, for :mod:`hedgerow.export`; refuse, with the reason, what has none."""
        from hedgerow.formula.formula import promised

        check_is_fitted(self)
        found: Formula = self.model_.formula()
        return replace(found, facts={**found.facts, **promised(self.guarantee_)})

    def anatomy(self, level: float = 0.9) -> Anatomy:
        """Return what a prediction is made of and how sure it is, for :meth:`explorer`."""
        from hedgerow.formula.anatomy import Anatomy

        formula = self.formula()
        model: Any = getattr(self, "model_", None)
        if not hasattr(model, "anatomy"):
            return Anatomy(formula, level=check_level(level))
        found: Anatomy = model.anatomy(level)
        return replace(found, formula=replace(formula, value=found.formula.value))

    def explorer(self, level: float = 0.9) -> Explorer:
        """Return a page on which one record is tried: its prediction, what that is made of, how sure it is.

        It holds nothing but what was released, and costs no privacy; ``explorer().save("model.html")`` writes it.
        """
        from hedgerow.explorer import Explorer

        return Explorer(self.anatomy(level))

    def _source(self) -> Randomness:
        return as_randomness(self.random_state)

    def _holders_claim(self, source: Randomness, *notes: str, protects: str = "record") -> Guarantee:
        """Return what each holder is promised who spends epsilon, where one process drew for all of them."""
        neighbours = "label" if protects == "label" else "replace"
        claim = Guarantee(
            self.epsilon,
            protects=protects,
            trust="local",
            neighbours=neighbours,
            simulation=source.simulation,
            notes=notes,
        )
        return as_if_local(claim)

    def _book(self, claim: Guarantee, source: Randomness) -> Booking:
        """Book a claim; call it when all checks are done and nothing is drawn yet."""
        booking = Booking.of(self, claim, source)
        booking.book()
        return booking


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateRegressor(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """A private estimator of a number.

    Parameters
    ----------
    label_bounds : (low, high)
        Public range of the label, required.
    """

    label_bounds: LabelBoundsLike = None

    def _open(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> tuple[Any, FloatArray]:
        """Check everything that is public first; return private records, and labels within their bounds."""
        self._check_parameters()
        check_public(X_public, y_public)
        check_label_bounds(self._label_bounds)
        rows = self._records(X, reset=True)
        self._check_public_columns(rows, X_public)
        return rows, read_private_labels(self, y, rows.shape[0], self._label_bounds)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._known_label is None or self.schema is None:
            return
        self._check_schema("label_bounds")
        if self.schema.label_bounds is None:
            raise BoundsError(
                f"'schema' has a label of classes, and {type(self).__name__} needs one with bounds: pass "
                "schema.with_label(bounds=(low, high))."
            )

    @property
    def _label_bounds(self) -> Any:
        """The public range of the label: stated here, or by the schema."""
        if self._known_label is None or self.schema is None:
            return self.label_bounds
        return self.schema.label_bounds

    @property
    def _label_missing(self) -> float | None:
        """What a missing label counts as; None: the middle."""
        return getattr(self._known_label, "missing", None)

    def predict(self, X: Any) -> FloatArray:
        """Predict labels."""
        rows = self._rows(X)
        predicted: FloatArray = self.model_.predict(rows)
        return predicted

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return ``(low, high)`` for what :meth:`predict` estimates: the model's function at each record.

        It covers that quantity given the model's structure, holds the prediction, and is not for a record's own label.
        """
        return self._ends("predict_interval", X, level)

    def reports_interval(self, X: Any, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return ``(low, high)`` for the same quantity from what was released alone, whatever public records say."""
        return self._ends("reports_interval", X, level)

    def predict_label_interval(self, X: Any, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return ``(low, high)`` for the own label of each record, where it is known how labels spread."""
        return self._ends("predict_label_interval", X, level)

    def _ends(self, name: str, X: Any, level: float) -> tuple[FloatArray, FloatArray]:
        rows = self._rows(X)
        low, high = getattr(self.model_, name)(rows, level)
        return low, high

    def __sklearn_tags__(self) -> Any:
        return tag_total(super().__sklearn_tags__())


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """A private estimator of a class.

    Parameters
    ----------
    classes : list or "observed"
        The public list of classes, required without public labels.
    """

    classes: ClassesLike = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._known_label is None or self.schema is None:
            return
        self._check_schema("classes")
        if self.schema.classes is None:
            raise BoundsError(
                f"'schema' has a label with bounds, and {type(self).__name__} needs classes: pass "
                "schema.with_label(classes=[...])."
            )

    @property
    def _classes(self) -> Any:
        """The public list of classes: stated here, or by the schema."""
        if self._known_label is None or self.schema is None:
            return self.classes
        return list(self.schema.classes or ())

    @property
    def _label_missing(self) -> Any:
        """The class that a missing or unknown one counts as; None: the first of the list."""
        return getattr(self._known_label, "missing", None)

    def _open(
        self, X: Any, y: Any, X_public: Any = None, y_public: Any = None, *, ordered: bool = False
    ) -> tuple[Any, npt.NDArray[np.int64]]:
        """Check everything that is public first; return private records, and the codes of their classes."""
        self._check_parameters()
        check_public(X_public, y_public)
        rows = self._records(X, reset=True)
        self._check_public_columns(rows, X_public)
        self.classes_, codes = read_private_classes(self, y, rows.shape[0], y_public, ordered=ordered)
        self._check_classes(y_public)
        return rows, codes

    def _check_classes(self, y_public: Any) -> None:
        """Refuse a single class, and public labels of others."""
        if len(self.classes_) < 2:
            raise HedgerowError(
                f"'classes' must name at least 2 classes. Got 1 class instead: {shown(self.classes_.tolist())}."
            )
        if y_public is not None:
            check_public_classes(y_public, self.classes_)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities, columns in the order of ``classes_``."""
        rows = self._rows(X)
        shares: FloatArray = self.model_.predict_proba(rows)
        return shares

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most likely class."""
        best = self.predict_proba(X).argmax(axis=1)
        chosen: npt.NDArray[Any] = self.classes_[best]
        return chosen

    def formula(self) -> Formula:
        """Return what ``predict_proba`` computes, with class labels as ``classes_`` has them."""
        found = super().formula()
        return replace(found, classes=tuple(self.classes_.tolist()))

    def __sklearn_tags__(self) -> Any:
        return tag_total(super().__sklearn_tags__())
