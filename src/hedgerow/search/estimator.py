"""Searching for the best settings on private records."""

from __future__ import annotations

import inspect
import os
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hedgerow.checks import Flag, Kind, OneOf, Real, Rule, check_parameters
from hedgerow.errors import HedgerowError
from hedgerow.estimators.public import check_public
from hedgerow.estimators.records import read_private_classes, read_private_labels, read_private_records
from hedgerow.given import LedgerLike, ProgressLike, RandomStateLike
from hedgerow.grid import check_label_bounds
from hedgerow.guarantee import Guarantee, parallel
from hedgerow.ledger import Ledger
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.search.booking import Together
from hedgerow.search.card import search_section
from hedgerow.search.groups import as_table, draw_groups, rows_of
from hedgerow.search.losses import Losses
from hedgerow.search.public import FOLDS, compare_on_public_rows
from hedgerow.search.settings import METHOD, candidate_of, check_estimator, read_settings
from hedgerow.search.validation import Verdict, choose_centrally, choose_locally
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.card import Card
    from hedgerow.explorer import Explorer
    from hedgerow.formula import Formula
    from hedgerow.summary import Summary

__all__ = ["PrivateSearchCV"]

_ONCE = "settings were compared on other records than those of the final fit: each record takes part in one of them"
_BLANK = "each group has one more record, of which all is missing, so that it is never empty"
_FREE = "settings were compared on public records alone, which costs nothing"


def _fitted_has(name: str) -> Any:
    """Say that the search has a method if its estimator has."""

    def check(self: Any) -> bool:
        return hasattr(getattr(self, "best_estimator_", self.estimator), name)

    return check


@dataclass(eq=False, repr=False)
class PrivateSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Choose among settings of a private estimator, on private records, at no more than its own epsilon.

    A coin of its own puts each record into one of the groups: one for each of the k settings, one that compares the k
    fitted candidates, and one for the final fit with the chosen setting. The price of the search is paid in records.

    Proof that all of it together costs what one fit costs (epsilon, delta). (1) A record's group depends on no other
    record, and a record is in one group only: neighbouring tables differ in one group. (2) Given what the other groups
    released, that group costs (epsilon, delta), be it a fit of the estimator or the comparison
    (:mod:`hedgerow.search.validation`). (3) So the whole costs their maximum. An empty group is no special case: for
    central estimators, to whom the number of records may be private, each group to fit has a blank record as well.

    With ``search="public"`` settings are compared on public records, by cross-validation of fits with noise, each on as
    many of them (drawn with replacement) as there are private records if that number is public, or as the estimator's
    ``n_hint`` says; all private records go into the final fit, and the search costs nothing. It is as good as public
    records are like private ones.

    Parameters
    ----------
    estimator : private estimator
        With its epsilon and all that is public, without ``random_state`` and ``ledger``.
    settings : dict of lists, or list of dicts
        All combinations of the lists, or each dict as it is. ``"estimator"`` names another central estimator that is
        tried, with the same promise, bounds and categories: ``[{}, {"estimator": forest}]`` compares two methods.
    search : {"private", "public"}, default="private"
        Which records compare.
    validation_share : float, default=0.2
        Share of the records that compare.
    candidate_share : float, default=0.3
        Share of the records on which candidates are fitted, all together; the rest is for the final fit.
    refit : bool, default=True
        False: there is no final fit, the candidates share all records that do not compare, and the chosen one is
        ``best_estimator_`` as it stands. Better for two or three settings.
    score_share : float, default=0.2
        Central estimators: share of the comparing group's epsilon that buys noisy scores for ``cv_results_``; the rest
        makes the choice. 0: no scores. (In local models scores come with the choice.)
    loss : {"squared", "absolute"}, default="squared"
        Error of a number, divided by its largest value within the label bounds. "absolute" tells close candidates apart
        with fewer records. Of a class it is 1 if it is wrong.
    random_state : None, int or Randomness, default=None
        None draws from a secure source. Anything else is a simulation, and the guarantee says so.
    ledger : Ledger or path, optional
        Where the whole search is booked, before it draws (rules: :mod:`hedgerow.spending`).
    callback : callable, optional
        ``callback(done, all)`` is called after each fit, with numbers of fits.

    Attributes
    ----------
    best_params_, best_index_, best_estimator_, best_score_
        The chosen setting, its number, the fitted estimator, and the score that was released for it (None: none was).
    cv_results_ : dict
        Settings and, where they were released, ``mean_test_score`` (minus the mean loss, in units of the label) and
        ``std_test_score`` (its standard error). Noisy: true scores are nowhere. Scores of public records are exact.
    guarantee_ : Guarantee
        What the whole search costs, the comparison and all candidates included.

    Examples
    --------
    >>> from hedgerow import PrivateAnovaRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((6000, 3)); y = np.sin(6 * X[:, 0])
    >>> anova = PrivateAnovaRegressor(1.0, delta=0.0, label_bounds=(-1, 1), feature_bounds=(0, 1))
    >>> search = PrivateSearchCV(anova, {"interactions": [True, False]}, random_state=0).fit(X, y)
    >>> sorted(search.best_params_), search.guarantee_.epsilon
    (['interactions'], 1.0)

    With pure epsilon neither number of records, features nor epsilon says which method is better: ask the records.

    >>> from hedgerow import DiPriMeForestRegressor
    >>> forest = DiPriMeForestRegressor(1.0, label_bounds=(-1, 1), feature_bounds=(0, 1))
    >>> search = PrivateSearchCV(anova, [{}, {"estimator": forest}], random_state=0).fit(X, y)
    >>> type(search.best_estimator_).__name__, search.guarantee_.epsilon
    ('DiPriMeForestRegressor', 1.0)
    """

    estimator: Any  # an estimator by duck type: scikit-learn has none for this
    settings: Any
    _: KW_ONLY
    search: str = "private"
    validation_share: float = 0.2
    candidate_share: float = 0.3
    refit: bool = True
    score_share: float = 0.2
    loss: str = "squared"
    random_state: RandomStateLike = None
    ledger: LedgerLike = None
    callback: ProgressLike = None

    _parameters: ClassVar[dict[str, Rule]] = {
        "search": OneOf("private", "public"),
        "validation_share": Real(0, 1),
        "candidate_share": Real(0, 1),
        "refit": Flag(),
        "score_share": Real(0, 1, ends="low"),
        "loss": OneOf("squared", "absolute"),
        "ledger": Kind("a Ledger, the path of one, or None", (Ledger, str, os.PathLike, type(None))),
    }

    def fit(
        self, X: Any, y: Any, X_public: Any = None, y_public: Any = None, *, private: Any = None
    ) -> PrivateSearchCV:
        """Compare the settings and fit the best.

        Parameters
        ----------
        X, y : private records and labels
            Used through mechanisms only.
        X_public, y_public : public records and labels, optional
            For estimators that take them, and for ``search="public"``.
        private : mask or names, optional
            For estimators that take it: which features are private.
        """
        settings = self._check()
        check_public(X_public, y_public)
        if self.search == "public" and X_public is None:
            raise HedgerowError("search='public' compares on public records: pass X_public and y_public to fit.")
        data = _Data(self, X, y, y_public)
        extra = self._taken(settings, X_public, y_public, private)
        source = as_randomness(self.random_state)
        together = Together(self.ledger, type(self).__name__)
        if self.search == "public":
            self._search_publicly(settings, data, (X_public, y_public), extra, source, together)
        else:
            self._search_privately(settings, data, extra, source, together)
        self.best_params_ = settings[self.best_index_]
        if hasattr(self, "feature_names_in_"):
            self.best_estimator_.feature_names_in_ = self.feature_names_in_
        if hasattr(self.best_estimator_, "classes_"):
            self.classes_ = self.best_estimator_.classes_
        return self

    def _check(self) -> list[dict[str, Any]]:
        owner = type(self).__name__
        check_parameters(self.get_params(deep=False), self._parameters, owner=owner)
        if self.refit and self.validation_share + self.candidate_share >= 1:
            raise HedgerowError(
                "'validation_share' and 'candidate_share' must leave records for the final fit: a sum below 1. "
                f"Got {self.validation_share!r} and {self.candidate_share!r} instead."
            )
        if self.search == "public" and not self.refit:
            raise HedgerowError("search='public' compares fits that are not private: refit must be True.")
        if self.callback is not None and not callable(self.callback):
            raise HedgerowError(f"'callback' must be a function of two whole numbers. Got {self.callback!r} instead.")
        check_estimator(self.estimator)
        return read_settings(self.settings, self.estimator)

    def _taken(self, settings: list[dict[str, Any]], X_public: Any, y_public: Any, private: Any) -> dict[str, Any]:
        """Return what else the estimator's ``fit`` is given; refuse by name what one method would not use."""
        methods = [self.estimator, *(one[METHOD] for one in settings if METHOD in one)]
        taken = set.intersection(*(set(inspect.signature(method.fit).parameters) for method in methods))
        given = {"X_public": X_public, "y_public": y_public, "private": private}
        found = {name: value for name, value in given.items() if value is not None and name in taken}
        if self.search == "public" and getattr(self.estimator, "public_model", "auto") is None:
            found = {name: value for name, value in found.items() if name == "private"}  # they are for the search alone
        for name, value in given.items():
            used = name in taken or (self.search == "public" and name != "private")
            if value is not None and not used:
                without = next(m for m in methods if name not in inspect.signature(m.fit).parameters)
                raise HedgerowError(f"{name!r} is not for {type(without).__name__}: leave it out.")
        if X_public is not None and "X_public" not in taken:
            _refuse_start(methods)
        return found

    def _search_privately(
        self, settings: list[dict[str, Any]], data: _Data, extra: dict[str, Any], source: Randomness, together: Together
    ) -> None:
        blank = hasattr(self.estimator, "neighbours")  # central estimators alone let one choose
        groups = draw_groups(
            data.n,
            len(settings),
            candidates=self.candidate_share,
            validation=self.validation_share,
            refit=self.refit,
            may_be_empty=blank,
            source=source,
        )
        fitted = []
        for i, (setting, rows) in enumerate(zip(settings, groups.training, strict=True)):
            fitted.append(self._fit_one(setting, data.part(rows, blank, extra), source.child("candidate", i), together))
            self._tell(i + 1, len(settings) + self.refit)
        claim = _dearest([model.guarantee_ for model in fitted])
        if claim.neighbours == "add/remove" and not blank:
            raise HedgerowError("the estimator protects whether a record is there, and does not say so beforehand.")
        verdict = self._compare(fitted, data, groups.validation, claim, source.child("validation"), together)
        self.best_index_ = verdict.best
        self.best_estimator_ = fitted[verdict.best]
        parts = [*(model.guarantee_ for model in fitted), verdict.guarantee]
        if groups.final is not None:
            part = data.part(groups.final, blank, extra)
            self.best_estimator_ = self._fit_one(settings[verdict.best], part, source.child("final"), together)
            parts.append(self.best_estimator_.guarantee_)
            self._tell(len(settings) + 1, len(settings) + 1)
        whole = parallel(*parts, assignment="independent")
        notes = (*whole.notes, _ONCE, *([_BLANK] if blank else []))
        self.guarantee_: Guarantee = replace(whole, notes=tuple(dict.fromkeys(notes)))
        _restate(self.best_estimator_, self.guarantee_)
        self._write_results(settings, verdict.losses, verdict.errors, data.losses)

    def _search_publicly(
        self,
        settings: list[dict[str, Any]],
        data: _Data,
        public: tuple[Any, Any],
        extra: dict[str, Any],
        source: Randomness,
        together: Together,
    ) -> None:
        candidates = [candidate_of(self.estimator, setting) for setting in settings]
        n: int | None = data.n
        if getattr(self.estimator, "neighbours", "replace") == "add/remove":  # the number of records is private
            n = getattr(self.estimator, "n_hint", None)
        losses, errors = compare_on_public_rows(candidates, *public, n, data.losses, extra, self._tell)
        self.best_index_ = int(np.argmin(losses))
        everybody = np.arange(data.n)
        part = data.part(everybody, False, extra)
        self.best_estimator_ = self._fit_one(settings[self.best_index_], part, source.child("final"), together)
        all_fits = FOLDS * len(settings) + 1
        self._tell(all_fits, all_fits)
        claim = self.best_estimator_.guarantee_
        self.guarantee_ = replace(claim, notes=(*claim.notes, _FREE))
        self._write_results(settings, losses, errors, data.losses)

    def _tell(self, done: int, all_fits: int) -> None:
        if self.callback is not None:
            self.callback(done, all_fits)

    def _fit_one(self, setting: dict[str, Any], part: tuple[Any, ...], source: Randomness, together: Together) -> Any:
        X, y, known = part
        candidate = candidate_of(self.estimator, setting).set_params(random_state=source, ledger=together)
        candidate.fit(X, y, **known)
        return candidate.set_params(random_state=None, ledger=None)  # what was searched is not a way to fit again

    def _compare(
        self,
        fitted: list[Any],
        data: _Data,
        rows: npt.NDArray[np.int64],
        claim: Guarantee,
        source: Randomness,
        together: Together,
    ) -> Verdict:
        together.spend(replace(claim, simulation=source.simulation), purpose="comparison")
        losses = np.zeros((len(rows), len(fitted)))
        if len(rows):
            X = rows_of(data.X, rows, blank=False)
            losses = np.stack([data.losses.of(model, X, data.y[rows]) for model in fitted], axis=1)
        if claim.trust == "local":
            return choose_locally(losses, claim, source)
        return choose_centrally(losses, claim, float(self.score_share), source)

    def _write_results(
        self, settings: list[dict[str, Any]], losses: FloatArray | None, errors: FloatArray | None, scale: Losses
    ) -> None:
        """Put what was released, and nothing else, where users of scikit-learn look for it."""
        self.cv_results_: dict[str, Any] = {"params": settings}
        for name in sorted({name for one in settings for name in one}):
            column = np.ma.masked_all(len(settings), dtype=object)  # type: ignore[no-untyped-call]
            for i, one in enumerate(settings):
                if name in one:
                    column[i] = one[name]
            self.cv_results_[f"param_{name}"] = column
        self.best_score_ = None
        if losses is not None and errors is not None:
            scores = -losses * scale.unit
            self.cv_results_["mean_test_score"] = scores
            self.cv_results_["std_test_score"] = errors * scale.unit
            order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")
            self.cv_results_["rank_test_score"] = np.argsort(order).astype(np.int32) + 1
            self.best_score_ = float(scores[self.best_index_])

    # What the best estimator does.

    @property
    def model_(self) -> Any:
        """The model of the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.model_

    def summary(self, level: float = 0.9) -> Summary:
        """Return what the best estimator is on one screen, under the guarantee of the whole search."""
        check_is_fitted(self)
        found: Summary = self.best_estimator_.summary(level)
        return found

    def card(self, *, purpose: str = "", intended_use: str = "", level: float = 0.9) -> Card:
        """Return one page about the best estimator, under the guarantee of the whole search, and what was compared."""
        check_is_fitted(self)
        found: Card = self.best_estimator_.card(purpose=purpose, intended_use=intended_use, level=level)
        return replace(found, sections=(*found.sections, search_section(self)))

    def explorer(self, level: float = 0.9) -> Explorer:
        """Return a page on which one record is tried with the best estimator."""
        check_is_fitted(self)
        found: Explorer = self.best_estimator_.explorer(level)
        return found

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict with the best estimator."""
        rows = self._rows(X)
        predicted: npt.NDArray[Any] = self.best_estimator_.predict(rows)
        return predicted

    @available_if(_fitted_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities of the best estimator."""
        rows = self._rows(X)
        shares: FloatArray = self.best_estimator_.predict_proba(rows)
        return shares

    @available_if(_fitted_has("predict_interval"))  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return intervals for the predictions of the best estimator."""
        rows = self._rows(X)
        low, high = self.best_estimator_.predict_interval(rows, level)
        return low, high

    @available_if(_fitted_has("predict_label_interval"))  # type: ignore[untyped-decorator]
    def predict_label_interval(self, X: Any, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return intervals of the best estimator for a new record's own label."""
        rows = self._rows(X)
        low, high = self.best_estimator_.predict_label_interval(rows, level)
        return low, high

    def formula(self) -> Formula:
        """Return what the best estimator computes, under the guarantee of the whole search."""
        from hedgerow.formula.formula import promised

        check_is_fitted(self)
        found: Formula = self.best_estimator_.formula()
        return replace(found, facts={**found.facts, **promised(self.guarantee_)})

    def score(self, X: Any, y: Any) -> float:
        """Return R squared, or the accuracy, of the best estimator; not private, so not for private records."""
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y))

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return read_private_records(self, X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.regressor_tags = inner.regressor_tags
        tags.classifier_tags = inner.classifier_tags
        tags.input_tags = inner.input_tags
        tags.target_tags = inner.target_tags
        tags.non_deterministic = True
        return tags


def _restate(estimator: Any, whole: Guarantee) -> None:
    """Let the chosen fit, and the model that is published of it, promise what the whole search does."""
    estimator.guarantee_ = whole
    model: Any = getattr(estimator, "model_", None)
    if "guarantee" in getattr(model, "__dataclass_fields__", {}):
        estimator.model_ = replace(model, guarantee=whole)


def _refuse_start(methods: list[Any]) -> None:
    """Refuse a method that would start from public records, beside one that cannot: it would be fitted without them."""
    for method in methods:
        starts = "X_public" in inspect.signature(method.fit).parameters
        if starts and getattr(method, "public_model", "auto") is not None:
            raise HedgerowError(
                f"{type(method).__name__} would start from public records, and another of the methods cannot. Pass "
                "public_model=None to it: public records are then for the search alone."
            )


def _dearest(claims: list[Guarantee]) -> Guarantee:
    """Return the claim of the largest epsilon: what the comparison may cost, too."""
    return max(claims, key=lambda claim: claim.epsilon)


class _Data:
    """Private records and labels, read by the public rule once, so that no group of them can be read otherwise."""

    def __init__(self, search: PrivateSearchCV, X: Any, y: Any, y_public: Any) -> None:
        estimator = search.estimator
        rows = read_private_records(search, X, reset=True)
        self.n = int(rows.shape[0])
        self.X = as_table(rows, estimator)
        if is_classifier(estimator):
            classes, codes = read_private_classes(estimator, y, self.n, y_public)
            self.y = classes[codes]
            self.blank_label = classes[0]
            self.losses = Losses(None, search.loss)
            return
        bounds = estimator._label_bounds
        if bounds is None:
            bounds = getattr(getattr(estimator, "mechanism", None), "label_bounds", None)
        low, high = check_label_bounds(bounds)
        self.y = read_private_labels(estimator, y, self.n, (low, high))
        self.blank_label = low + (high - low) / 2
        self.losses = Losses((low, high), search.loss)

    def part(self, rows: npt.NDArray[np.int64], blank: bool, extra: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
        """Return records, labels and what else a fit of these rows is given."""
        y = self.y[rows]
        if blank:
            y = np.append(y, np.array([self.blank_label], dtype=y.dtype))
        known = dict(extra)
        mask = np.asarray(extra.get("private"))
        if mask.ndim == 2:
            known["private"] = mask[rows]
        return rows_of(self.X, rows, blank=blank), y, known
