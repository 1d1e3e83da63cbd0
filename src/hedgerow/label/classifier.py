"""Any scikit-learn classifier, trained on classes that were randomised once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_method_params

from hedgerow.checks import Kind, OneOf, Rule
from hedgerow.classes import OBSERVED, class_codes, class_note
from hedgerow.errors import HedgerowError
from hedgerow.estimators.base import PrivateClassifier
from hedgerow.estimators.public import check_public
from hedgerow.estimators.records import take_rows
from hedgerow.features import category_name
from hedgerow.given import EstimatorLike
from hedgerow.guarantee import Guarantee, as_if_local
from hedgerow.label.boosting import class_boosting_for
from hedgerow.label.channel import Channel, check_prior, most_informative
from hedgerow.label.class_learning import Corrected, Learnt, correct_classes, learn_reports, ranks_of
from hedgerow.label.features import PublicFeatures, check_weights, refuse_parameters
from hedgerow.label.public_classes import CLASS_MODEL, PublicClasses, as_shares, fit_public_classes
from hedgerow.mechanisms.top import TopResponse
from hedgerow.randomness import Randomness
from hedgerow.tasks.class_labels import class_grid
from hedgerow.tasks.labels.reports import LabelReports
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.types import FloatArray, IntArray

if TYPE_CHECKING:
    from hedgerow.formula.formula import Formula

__all__ = ["LabelPrivateClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class LabelPrivateClassifier(PublicFeatures, PrivateClassifier):
    """Randomise the classes once, then train any classifier on them.

    Only the class is protected; features are public. With a schema the classifier reads numbers within their ranges and
    an indicator for each category, without one the records as they are. A holder sends its class, or another one, by
    k-ary randomised response. The classifier is trained on what was sent, as it is; its probabilities are those of
    *reports*, and the public law turns them into probabilities of classes. As that divides its errors too, it is
    believed only as far as it predicts reports that it has not seen. All of that is post-processing and costs nothing
    more.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one label; ``inf`` means no noise, for study.
    estimator : classifier, default=None
        Anything with ``fit`` and ``predict``, better with ``predict_proba``. None is gradient boosting with settings
        for the number of labels and epsilon (:func:`~hedgerow.label.boosting.class_boosting_for`); on a public model,
        a small stack that learns corrections to it.
    classes : list, "public" or "observed"
        The public list of classes; None takes that of the public labels. A label that is missing, or not listed, counts
        as the first.
    prior : array of shares, optional
        Public shares of the classes. Then only the likeliest k of them can be sent, as many as tell most
        (:func:`~hedgerow.label.channel.most_informative`): rare ones are sent as any of the others alike, and keep
        their public share in all predictions. Without it every class can be sent.
    public_model : "auto", "compact", regressor, classifier or None, default="auto"
        A model from public records to start from; "auto" fits one if ``fit`` gets public records. A regressor is fitted
        to indicators of classes. Holders then send the *rank* of their class in the public model's order for their
        record, among as many ranks as tell most, and corrections are learnt from that, which are used as far as they
        predict reports they have not seen. With an ``estimator`` classes are sent, and it is weighed against the
        public model.
    schema, random_state, ledger : see :class:`~hedgerow.LPDTClassifier`

    Attributes
    ----------
    classes_ : array
        Class labels, in the order of the columns of :meth:`predict_proba`.
    mechanism_ : TopResponse
        What each holder did to its class, or to the rank of its class.
    task_ : LabelTask or None
        What was asked, as a task that can be published; None where ranks were sent.
    learner_ : Learnt or Corrected
        The fitted learner, and how far it is believed.
    guarantee_ : Guarantee
        What each label was promised.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = np.where(X[:, 0] < 0.5, "low", "high")
    >>> model = LabelPrivateClassifier(1.0, estimator=LogisticRegression(), classes=["low", "high"], random_state=0)
    >>> model.fit(X, y).predict([[0.2, 0.5], [0.8, 0.5]]).tolist()
    ['low', 'high']
    >>> model.guarantee_.epsilon, model.guarantee_.protects
    (1.0, 'label')
    """

    _learner_name = "estimator"
    estimator: EstimatorLike = None
    prior: Any = None
    public_model: EstimatorLike = "auto"

    _parameters: ClassVar[dict[str, Rule]] = {
        "estimator": OneOf(None) | Kind("a classifier with fit and predict", (BaseEstimator,)),
        "prior": OneOf(None) | Kind("public shares, one a class", (list, tuple, np.ndarray)),
        "public_model": CLASS_MODEL,
    }

    def fit(
        self, X: Any, y: Any, X_public: Any = None, y_public: Any = None, **fit_params: Any
    ) -> LabelPrivateClassifier:
        """Randomise ``y`` and train on it; ``fit_params`` go to the estimator.

        A ``sample_weight`` among them is public, above 0, and must not depend on the labels. Public records are for the
        public model.
        """
        rows, codes = self._open(X, y, X_public, y_public)
        check_weights(fit_params, len(codes))
        source = self._source()
        public = self._fit_public(X_public, y_public, source)
        ranked = public is not None and self.estimator is None
        if ranked:
            refuse_parameters(fit_params, "the learners of a public model's corrections take none")
        shares = None if public is None else public.shares(rows)
        self.mechanism_ = self._mechanism(public if ranked else None)
        self.task_ = None if ranked else self._task()
        claim = self._claim(source)
        booking = self._book(claim, source)
        if public is not None and shares is not None and ranked:
            ranks = ranks_of(shares)
            sent = self.mechanism_.randomize(ranks[np.arange(len(codes)), codes], source.child("labels", 0))
            places = np.where(ranks < len(self.mechanism_.top), ranks, -1)
            channel = Channel(self.mechanism_, places)
            self.learner_: Learnt | Corrected = correct_classes(public, rows, sent, channel, shares)
        else:
            sent = self.mechanism_.randomize(codes, source.child("labels", 0))
            self._learn(rows, sent, public, fit_params)
        self.guarantee_ = claim
        booking.check(self.guarantee_)
        return self

    def fit_reports(
        self, X: Any, reports: LabelReports, X_public: Any = None, y_public: Any = None, **fit_params: Any
    ) -> LabelPrivateClassifier:
        """Train on reports that were collected; row i of ``X`` is the record of number i.

        Classes, epsilon and guarantee are those of the reports' task. Nothing is drawn.

        >>> from hedgerow.tasks.class_labels import class_grid
        >>> names = ("no", "yes")
        >>> task = LabelTask(class_grid(names), TopResponse(2.0, 1, (0, 1)), classes=names)
        >>> X = np.linspace(0, 1, 3000)[:, None]
        >>> reports = task.privatize(np.arange(3000), np.where(X[:, 0] > 0.5, "yes", "no"), randomness=0)
        >>> model = LabelPrivateClassifier(2.0).fit_reports(X, reports)
        >>> model.predict([[0.1], [0.9]]).tolist()
        ['no', 'yes']
        """
        self._check_parameters()
        check_public(X_public, y_public)
        task = reports.task
        if task.classes is None or not isinstance(task.mechanism, TopResponse):
            raise HedgerowError("'reports' must be of a label task with classes. Got a task about numbers instead.")
        rows = self._records(X, reset=True)
        self._check_public_columns(rows, X_public)
        self.classes_ = np.array(task.classes)
        public = self._fit_public(X_public, y_public, self._source())
        self.task_ = task
        self.mechanism_ = task.mechanism
        check_weights(fit_params, rows.shape[0])
        numbers, names = reports.dataset(rows.shape[0])
        fit_params = _check_method_params(rows, fit_params, numbers)
        place_of = {task.classes[level]: place for place, level in enumerate(task.mechanism.top)}
        sent = np.array([place_of[name] for name in names.tolist()], dtype=np.int64)
        self._learn(take_rows(rows, numbers), sent, public, fit_params)
        self.guarantee_ = reports.guarantee
        return self

    def _learn(self, rows: Any, sent: IntArray, public: PublicClasses | None, fit_params: dict[str, Any]) -> None:
        """Learn from classes that were sent."""
        channel = Channel(self.mechanism_, self.mechanism_.places[None, :])
        if public is not None and self.estimator is None:
            refuse_parameters(fit_params, "the learners of a public model's corrections take none")
            self.learner_ = correct_classes(public, rows, sent, channel, public.shares(rows))
            return
        weight = fit_params.get("sample_weight")
        base = self._same_for_all(channel, sent, weight) if public is None else public
        self.learner_ = learn_reports(self._learner(len(sent)), rows, sent, channel, base, fit_params, self.space_)

    def _same_for_all(self, channel: Channel, sent: IntArray, weight: Any) -> FloatArray:
        """Return the shares of classes that the reports speak for, with a prior where they say nothing."""
        n_classes = len(self.classes_)
        known = self._prior()[None, :]
        share = np.ones(len(sent)) if weight is None else np.asarray(weight) / np.mean(weight)
        counted = (np.bincount(sent, share, minlength=channel.k) + 1) / (len(sent) + channel.k)
        shares: FloatArray = as_shares(channel.shares(counted[None, :], known))[0]
        return shares if len(sent) else np.full(n_classes, 1 / n_classes)

    def _prior(self) -> FloatArray:
        n_classes = len(self.classes_)
        return check_prior(np.ones(n_classes) if self.prior is None else self.prior, n_classes)

    def _mechanism(self, public: PublicClasses | None) -> TopResponse:
        """Return what is done to classes; with a public model, to their ranks in its order."""
        last = len(self.classes_) - 1
        prior = self._prior()
        top = tuple(range(last + 1))
        if public is not None:
            if self.prior is not None:
                raise HedgerowError("'prior' and 'public_model' both say what is likely: leave one of them out.")
            k = len(most_informative(self.epsilon, np.sort(public.ranks())[::-1]))
            top = tuple(range(k))
        elif self.prior is not None:
            top = most_informative(self.epsilon, prior)
        return TopResponse(self.epsilon, last, top)

    def _task(self) -> LabelTask:
        names = tuple(category_name(c) for c in self.classes_)
        observed = class_note(self._classes) == OBSERVED
        task = LabelTask(class_grid(names), self.mechanism_, classes=names, observed=observed)
        return task.following(self.schema)

    def _claim(self, source: Randomness) -> Guarantee:
        notes = ("the features are public: nothing about them is protected", class_note(self._classes))
        return as_if_local(replace(self.mechanism_.guarantee, simulation=source.simulation, notes=notes))

    def _fit_public(self, X_public: Any, y_public: Any, source: Randomness) -> PublicClasses | None:
        seed = int(source.child("design").integers(2**31 - 1, 1)[0])
        codes = None if y_public is None else class_codes(self.classes_, y_public)
        self.space_ = None if self.schema is None else self.schema.space
        return fit_public_classes(
            self.public_model, X_public, codes, len(self.classes_), random_state=seed, space=self.space_
        )

    def _learner(self, n: int = 1) -> Any:
        if self.estimator is not None:
            return self.estimator
        n_classes = len(getattr(self, "classes_", (0, 1)))
        return class_boosting_for(n, self.epsilon, n_classes)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return class probabilities, columns in the order of ``classes_``."""
        rows = self._rows(X)
        return self.learner_.predict_proba(rows)

    def formula(self) -> Formula:
        """Refuse: what a classifier of the caller's choice computes is not said in terms."""
        raise HedgerowError(
            "LabelPrivateClassifier cannot be exported: its classifier is of your choice, and class shares are worked "
            "out from what that says. Keep the fitted estimator, with joblib say."
        )
