"""AssistedForestRegressor: the best public model, corrected by what holders report under local privacy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hedgerow.bounds import FeatureSpace, check_label_bounds
from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.estimators.records import (
    column_names,
    declared_categories,
    read_private_labels,
    read_private_records,
    tag_total,
)
from hedgerow.guarantee import AS_IF_LOCAL
from hedgerow.local.assisted.design import design_assisted, design_without_public, public_model
from hedgerow.local.assisted.pilot import design_pilot, pilot_group, pilot_size
from hedgerow.local.records import take_rows
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.spending import Booking
from hedgerow.tasks.assisted import AssistedModel, PilotTask, PilotTotals

__all__ = ["AssistedForestRegressor"]


class AssistedForestRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A public model, and a forest of corrections from one private report a holder.

    The curator fits a model on public records and publishes it with a few small trees. Each holder draws one tree,
    and sends (its leaf, how wrong the public model is there) through one joint randomiser with the whole epsilon. The
    curator corrects the public model by as much as the reports carry evidence for; if they carry none, the public model
    predicts alone. Everything but the reports is decided from public records and the known noise.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one holder's report about the whole record; ``inf`` means no noise.
    label_bounds : (low, high)
        Public range of the label, required: labels outside are clipped, and it is never read from ``y``.
    base : "auto", "compact", regressor or fitted PublicModel, default="auto"
        The public model: the stack of :class:`~hedgerow.PublicModel`, the same in at most 200 kB, or your own.
    n_trees : int, default=8
        Trees; a holder answers about one of them.
    pilot : "auto", None or float, default="auto"
        Share of the holders, at most .5, who are drawn to say how wrong the public model is *instead* of where: if
        their errors are not like the public ones, the task for the others and the decoding of its reports are made
        for errors as they are. ``"auto"`` asks as few as can tell, at most 5 %, and nobody if 5 % could not.
        None asks nobody. Each holder sends one report either way.
    feature_bounds, categorical_features, categories : see :class:`~hedgerow.LPDTRegressor`
    random_state : None, int or Randomness, default=None
        None draws noise from a secure source. Anything else is a simulation, and the guarantee says so.
    ledger : Ledger or path, optional
        Where each fit is booked before it draws: what each holder spends (rules: :mod:`hedgerow.spending`).

    Attributes
    ----------
    task_ : AssistedTask
        What the curator published.
    aggregate_ : Totals
        Totals of the reports.
    pilot_task_ : PilotTask or None
        What the pilot group was asked.
    pilot_ : PilotTotals or None
        What it answered.
    model_ : AssistedModel
        The model; ``model_.gate`` says whether the reports had anything to add.
    guarantee_ : Guarantee
        What is promised to each holder.

    Notes
    -----
    Without public records there is nothing to start from, and the estimator predicts one private mean for everyone.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = 2 * X[:, 0] + (X[:, 1] > 0.5)
    >>> forest = AssistedForestRegressor(epsilon=4.0, label_bounds=(0, 3), base=Ridge(), random_state=0)
    >>> forest = forest.fit(X[500:], y[500:], X_public=X[:500], y_public=y[:500])
    >>> public = np.mean((forest.model_.predict_public(X) - y) ** 2)
    >>> bool(np.mean((forest.predict(X) - y) ** 2) < 0.7 * public)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        label_bounds: Any = None,
        base: Any = "auto",
        n_trees: int = 8,
        pilot: Any = "auto",
        feature_bounds: Any = None,
        categorical_features: Any = None,
        categories: Any = None,
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.label_bounds = label_bounds
        self.base = base
        self.n_trees = n_trees
        self.pilot = pilot
        self.feature_bounds = feature_bounds
        self.categorical_features = categorical_features
        self.categories = categories
        self.random_state = random_state
        self.ledger = ledger

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> AssistedForestRegressor:
        """Fit on private records, assisted by public ones.

        Parameters
        ----------
        X, y : private records and labels
            Only used through the mechanism.
        X_public, y_public : public records and labels
            Everything else is learnt from these.
        """
        bounds = check_label_bounds(self.label_bounds)
        check_epsilon(self.epsilon)
        X = self._records(X, reset=True)
        labels = read_private_labels(self, y, X.shape[0], bounds)
        source = as_randomness(self.random_state)
        if (X_public is None) != (y_public is None):
            raise HedgerowError("'X_public' and 'y_public' go together: pass both, or neither.")
        # The curator counts the reports it gets: how many holders there are is no secret in the local model.
        size = pilot_size(self.pilot, len(labels), self.epsilon)
        self.pilot_task_: PilotTask | None = None
        self.pilot_: PilotTotals | None = None
        booking = Booking.of_holders(self, source)
        if X_public is None:
            self.task_ = design_without_public(self._space(X), epsilon=self.epsilon, label_bounds=bounds)
        else:
            X, labels = self._design(X, labels, X_public, y_public, size, source, booking)
        booking.book()
        self.aggregate_ = self.task_.simulate(X, labels, source.child("holders"))
        self.model_: AssistedModel = replace(self.aggregate_.model(), notes=self._notes())
        self.guarantee_ = self.model_.guarantee
        booking.check(self.guarantee_)
        return self

    def _notes(self) -> tuple[str, ...]:
        """Return the conditions beyond those of the task."""
        if self.pilot_ is None:
            return (AS_IF_LOCAL,)
        n = self.pilot_.n_reports
        return AS_IF_LOCAL, f"{n} holders, drawn without looking at records, sent that one report to a pilot"

    def _design(
        self, X: Any, y: Any, X_public: Any, y_public: Any, size: int, source: Randomness, booking: Booking
    ) -> tuple[Any, Any]:
        """Ask the pilot group, if there is one; design the task for all others, and return their records."""
        check_positive(self.n_trees, name="n_trees")  # before the public model is fitted
        seed = int(source.child("design").integers(2**31 - 1, 1)[0])
        schema = {name: getattr(self, name) for name in ("feature_bounds", "categorical_features", "categories")}
        base = public_model(self.base, seed, schema, X_public, y_public)
        options: dict[str, Any] = {"epsilon": self.epsilon, "label_bounds": check_label_bounds(self.label_bounds)}
        options |= {"base": base, "random_state": seed}
        if size:
            asked, others = pilot_group(len(y), size, source.child("pilot group"))
            self.pilot_task_ = task = design_pilot(X_public, y_public, **options)
            booking.book()
            self.pilot_ = task.simulate(take_rows(X, asked), y[asked], source.child("pilot")).model()
            X, y = take_rows(X, others), y[others]
        self.task_ = design_assisted(
            X_public, y_public, n_holders=len(y), n_trees=self.n_trees, pilot=self.pilot_, **options
        )
        return X, y

    def _space(self, X: Any) -> FeatureSpace:
        """Return a schema for records that nothing is asked about but their label."""
        listed = declared_categories(X, self.feature_bounds, self.categorical_features, self.categories)
        widest = np.finfo(np.float64).max
        bounds = (-widest, widest) if self.feature_bounds is None else self.feature_bounds
        return FeatureSpace.from_bounds(bounds, column_names(X), categories=listed)

    def _records(self, X: Any, *, reset: bool) -> Any:
        return read_private_records(self, X, reset=reset)

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict labels."""
        check_is_fitted(self)
        return self.model_.predict(self._records(X, reset=False))

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Any, Any]:
        """Return ``(low, high)`` for the label of each record.

        By the errors of the public model: those of public records, or as a pilot group found them where it
        contradicts these. Without a pilot, a shift in the spread of labels is not seen.
        """
        check_is_fitted(self)
        return self.model_.predict_interval(self._records(X, reset=False), level)

    def __sklearn_tags__(self) -> Any:
        return tag_total(super().__sklearn_tags__())
