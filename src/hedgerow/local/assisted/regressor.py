"""AssistedForestRegressor: the best public model, corrected by what holders report under local privacy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hedgerow.checks import OneOf, Real, Rule
from hedgerow.estimators.base import PrivateRegressor
from hedgerow.estimators.records import take_rows
from hedgerow.grid import check_label_bounds
from hedgerow.guarantee import AS_IF_LOCAL
from hedgerow.local.assisted.base import AssistedForest
from hedgerow.local.assisted.design import design_assisted, design_seed, design_without_public, public_model_for
from hedgerow.local.assisted.pilot import design_pilot, pilot_group, pilot_size
from hedgerow.randomness import Randomness
from hedgerow.spending import Booking
from hedgerow.tasks.assisted import AssistedModel, PilotTask, PilotTotals

__all__ = ["AssistedForestRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class AssistedForestRegressor(PrivateRegressor, AssistedForest):
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
    public_model : "auto", "compact", regressor, fitted PublicModel or None, default="auto"
        The public model: the stack of :class:`~hedgerow.PublicModel`, the same in at most 200 kB, or your own (fitted
        again on the public records, so that its errors are honest).
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
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = 2 * X[:, 0] + (X[:, 1] > 0.5)
    >>> forest = AssistedForestRegressor(epsilon=4.0, label_bounds=(0, 3), public_model=Ridge(), random_state=0)
    >>> forest = forest.fit(X[500:], y[500:], X_public=X[:500], y_public=y[:500])
    >>> public = np.mean((forest.model_.predict_public(X) - y) ** 2)
    >>> bool(np.mean((forest.predict(X) - y) ** 2) < 0.7 * public)
    True
    """

    pilot: Any = "auto"

    _parameters: ClassVar[dict[str, Rule]] = {"pilot": OneOf("auto", None) | Real(0, 0.5, ends="both")}

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> AssistedForestRegressor:
        """Fit on private records, assisted by public ones.

        Parameters
        ----------
        X, y : private records and labels
            Only used through the mechanism.
        X_public, y_public : public records and labels
            Everything else is learnt from these.
        """
        rows, labels = self._open(X, y, X_public, y_public)
        source = self._source()
        # The curator counts the reports it gets: how many holders there are is no secret in the local model.
        size = pilot_size(self.pilot, len(labels), self.epsilon)
        self.pilot_task_: PilotTask | None = None
        self.pilot_: PilotTotals | None = None
        booking = Booking.of(self, self._holders_claim(source), source)
        if self._starts_from_public(X_public):
            rows, labels = self._design(rows, labels, X_public, y_public, size, source, booking)
        else:
            bounds = check_label_bounds(self._label_bounds)
            self.task_ = design_without_public(self._space(rows), epsilon=self.epsilon, label_bounds=bounds)
        self.task_ = self.task_.following(self.schema)
        booking.book()
        self.aggregate_ = self.task_.simulate(rows, labels, source.child("holders"))
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
        seed = design_seed(source)
        model = public_model_for(self.public_model, seed, self._schema(), X_public, y_public)
        options: dict[str, Any] = {"epsilon": self.epsilon, "label_bounds": check_label_bounds(self._label_bounds)}
        options |= {"public_model": model, "random_state": seed}
        if size:
            asked, others = pilot_group(len(y), size, source.child("pilot group"))
            self.pilot_task_ = task = design_pilot(X_public, y_public, **options).following(self.schema)
            booking.book()
            self.pilot_ = task.simulate(take_rows(X, asked), y[asked], source.child("pilot")).model()
            X = take_rows(X, others)
            y = y[others]
        self.task_ = design_assisted(
            X_public, y_public, n_holders=len(y), n_trees=self.n_trees, pilot=self.pilot_, **options
        )
        return X, y
