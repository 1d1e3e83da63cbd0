"""Any scikit-learn regressor, trained on labels that were randomised once."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params, check_is_fitted

from hedgerow.checks import EPSILON, Flag, Kind, OneOf, Real, Rule
from hedgerow.errors import BoundsError, HedgerowError, shown
from hedgerow.estimators.base import PrivateRegressor
from hedgerow.estimators.intervals import FromReports
from hedgerow.estimators.public import check_public
from hedgerow.estimators.records import label_columns, read_private_labels
from hedgerow.given import EstimatorLike
from hedgerow.grid import check_label_bounds, check_public_range
from hedgerow.guarantee import Guarantee, as_if_local, sequential
from hedgerow.label.auto import AutoMechanism
from hedgerow.label.base import LabelMechanism, PriorMechanism
from hedgerow.label.boosting import boosting_for
from hedgerow.label.evidence import Witness
from hedgerow.label.features import PublicFeatures, check_weights, refuse_parameters
from hedgerow.label.halves import Halves, spread
from hedgerow.label.prior import designed_for
from hedgerow.label.release import LabelRelease
from hedgerow.label.residual import inputs, learn_residuals
from hedgerow.label.response import residual_response
from hedgerow.label.scale import error_scale
from hedgerow.public.given import PUBLIC_MODEL, fit_public_model, is_fitted
from hedgerow.randomness import Randomness
from hedgerow.tasks.intervals import Ends
from hedgerow.tasks.models import check_level
from hedgerow.tasks.tree.bits import split_epsilon

if TYPE_CHECKING:
    from hedgerow.formula import Formula
    from hedgerow.formula.anatomy import Anatomy

__all__ = ["LabelPrivateRegressor", "measure_averaging"]


class _Learner(Rule):
    words = "a regressor with fit and predict (a budget goes by name: epsilon=1.0)"

    def allows(self, value: object) -> bool:
        methods = hasattr(value, "fit") and hasattr(value, "predict")
        return methods and not isinstance(value, type)


@dataclass(eq=False, repr=False)
class LabelPrivateRegressor(PublicFeatures, MetaEstimatorMixin, FromReports, PrivateRegressor):  # type: ignore[misc]
    """Randomise the labels once, then train any regressor on them.

    Only labels are protected; features are public. With a schema the regressor reads numbers within their ranges and
    an indicator for each category, without one the records as they are. Whatever it does with the noisy labels (many
    passes, tuning, early stopping) is post-processing and costs nothing more.

    Parameters
    ----------
    regressor : estimator, default=None
        Anything with ``fit`` and ``predict``; None is gradient boosting with settings for the number of labels and
        epsilon (:func:`~hedgerow.label.boosting.boosting_for`).
    mechanism : label mechanism or "auto", default="auto"
        For instance ``RPWithPrior(1.0, label_bounds=(0, 80))``. "auto" chooses by closed form under a private
        prior, with ``epsilon`` and ``label_bounds`` from here.
    epsilon, label_bounds : optional
        For ``mechanism="auto"``: the budget (1.0 by default) and the public range of the label (required).
    debias : {"shrink", "inverse", "none"}, default="shrink"
        What the curator does with noisy labels, knowing law and prior: the affine map that is best for a
        learner which averages over ``averaging`` labels; the one that undoes the mechanism's shrinkage; or
        nothing. Mechanisms without a prior are left as they are.
    averaging : float or "auto", default="auto"
        How many labels the learner averages over, that is, by how much it divides the variance of noise.
        "auto" measures it: the regressor is first trained on labels that are nothing but random, for which
        only the (public) features are needed (see :func:`measure_averaging`). A number saves that fit.
    explained : float, default=0.6
        The share of the labels' variance that features are thought to explain, in (0, 1]; a public guess. The less,
        the more does noise count against bias in the choice of a mechanism, and the more are labels shrunk.
    clip : bool, default=True
        Clip predictions to the label bounds.
    ledger : Ledger or path, optional
        Where each fit is booked before it draws: what each holder spends (rules: :mod:`hedgerow.spending`).
    random_state : None, int or Randomness, default=None
        None draws noise from a secure source. Anything else is a simulation, and the guarantee says so.
    public_model : "auto", "compact", regressor, fitted PublicModel or None, default="auto"
        A model from public records to start from; "auto" fits one if ``fit`` gets public records. Holders then report
        how wrong it is for them, by the response of least error for its public residuals
        (:func:`~hedgerow.label.response.residual_response`), in units of how wrong it is for public records like
        theirs, where ``fit`` gets the records that it was fitted to (:func:`~hedgerow.label.scale.error_scale`); and
        the regressor (None: a small stack) learns
        corrections, which are used as far as reports they have not seen speak for them
        (:func:`~hedgerow.label.evidence.safe_scale`). Needs ``mechanism="auto"`` and ``label_bounds``.

    Notes
    -----
    Intervals cover what the regressor would find on average from such noisy labels of such holders: by the spread of
    its fits on halves of the labels (:mod:`hedgerow.label.halves`; the first interval makes 20 fits). That the
    regressor may be wrong on average, too smooth say, they do not cover.

    Attributes
    ----------
    regressor_ : estimator
        The fitted regressor.
    guarantee_ : Guarantee
        What the labels were promised; with several outputs, the sum over them.
    releases_ : list of LabelRelease
        The noisy labels of each output and how they were made; empty with a public model.
    response_ : ResidualResponse
        With a public model: what each holder did to its error.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from hedgerow.label import RPWithPrior
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = 10 * X[:, 0]
    >>> mechanism = RPWithPrior(2.0, label_bounds=(0, 10))
    >>> model = LabelPrivateRegressor(LinearRegression(), mechanism, random_state=0).fit(X, y)
    >>> model.predict([[0.2, 0.5], [0.8, 0.5]]).round().tolist()
    [2.0, 8.0]
    >>> model.guarantee_.epsilon, model.guarantee_.protects
    (2.0, 'label')
    """

    _learner_name = "regressor"
    regressor: EstimatorLike = None
    mechanism: LabelMechanism | str = "auto"
    _: KW_ONLY
    epsilon: float | None = None  # type: ignore[assignment]
    debias: str = "shrink"
    averaging: float | str = "auto"
    clip: bool = True
    public_model: EstimatorLike = "auto"
    explained: float = 0.6

    _parameters: ClassVar[dict[str, Rule]] = {
        "regressor": OneOf(None) | _Learner(),
        "mechanism": OneOf("auto") | Kind("a label mechanism", (LabelMechanism,)),
        "epsilon": EPSILON | OneOf(None),
        "debias": OneOf("shrink", "inverse", "none"),
        "averaging": Real(0, ends="high") | OneOf("auto"),
        "clip": Flag(),
        "public_model": PUBLIC_MODEL,
        "explained": Real(0, 1, ends="high"),
    }

    def fit(
        self, X: Any, y: Any, X_public: Any = None, y_public: Any = None, **fit_params: Any
    ) -> LabelPrivateRegressor:
        """Randomise ``y`` and train on it; ``fit_params`` (sample weights, say) go to the regressor.

        ``y`` may have several columns: each gets an equal share of the budget, and the guarantee is the sum. Public
        records are for the public model, if it is not fitted yet.
        """
        self._check_parameters()
        check_public(X_public, y_public)
        X = self._records(X, reset=True)
        self._check_public_columns(X, X_public)
        check_weights(fit_params, X.shape[0])
        outputs = label_columns(y)
        source = self._source()
        seed = int(source.child("design").integers(2**31 - 1, 1)[0])
        known = {} if self.schema is None else {"feature_bounds": self.schema.space}
        model = fit_public_model(self.public_model, X_public, y_public, random_state=seed, **known)
        self.space_ = None
        if model is not None:
            refuse_parameters(fit_params, "the learners of a public model's corrections take none")
            columns = _labels(self, outputs, X.shape[0], [self._label_bounds] * len(outputs))
            return self._fit_residuals(X, columns, model, (X_public, y_public), source)
        self.space_ = None if self.schema is None else self.schema.space
        X = self._inputs(X)
        mechanisms = self._mechanisms(len(outputs))
        columns = _labels(self, outputs, X.shape[0], [mechanism.label_bounds for mechanism in mechanisms])
        n = columns[0].size
        m = self._averaging(X, n, fit_params)
        shaping = None if self.debias == "none" else designed_for(m, self.explained)
        booking = self._book(_joint([mechanism.guarantee for mechanism in mechanisms]), source)
        self.releases_: list[LabelRelease] = [
            mechanism.release(column, source.child("labels", j), averaging=shaping)
            for j, (mechanism, column) in enumerate(zip(mechanisms, columns, strict=True))
        ]
        self.label_bounds_ = [mechanism.label_bounds for mechanism in mechanisms]
        self.guarantee_: Guarantee = as_if_local(_joint([r.guarantee for r in self.releases_]))
        booking.check(self.guarantee_)
        noisy = np.stack([self._processed(r, m) for r in self.releases_], axis=1)
        self.one_output_ = len(columns) == 1
        targets = noisy[:, 0] if self.one_output_ else noisy
        self.regressor_ = clone(self._learner(n)).fit(X, targets, **fit_params)
        self._halves = Halves(self._learner(n), X, targets, fit_params)
        return self

    def _fit_residuals(
        self, X: Any, columns: list[npt.NDArray[np.float64]], model: Any, public: tuple[Any, Any], source: Randomness
    ) -> LabelPrivateRegressor:
        """Train on randomised residuals of the public model."""
        bounds = check_label_bounds(self._label_bounds)
        if public[1] is not None:
            check_public_range(np.asarray(public[1], dtype=np.float64).ravel(), bounds)
        if self.mechanism != "auto" or len(columns) > 1:
            raise HedgerowError(
                "'public_model' goes with mechanism='auto' and one label; pass public_model=None for anything else."
            )
        epsilon = self._budget()
        F, g = inputs(model, X)
        averaging = self.averaging
        if isinstance(averaging, str):
            averaging = measure_averaging(self._learner(len(g)), F, bounds)
        errors, told = self._public_errors(model, public[0])
        size = None if told is None or math.isinf(epsilon) else error_scale(told, errors)
        usual = np.ones(1) if size is None else size.public
        self.response_ = residual_response(errors / usual, epsilon, max(1.0, averaging), bounds)
        claim = Guarantee(
            epsilon,
            protects="label",
            trust="local",
            neighbours="label",
            simulation=source.simulation,
            notes=("features are public", "the public model was learnt from public records"),
        )
        self.guarantee_ = as_if_local(claim)
        self._book(self.guarantee_, source)
        # Records are public: each holder knows the scale of its error, and so does the curator.
        unit = np.ones(1) if size is None else size(F)
        private = (np.clip(columns[0], *bounds) - g) / unit
        untold = self.response_.untold(errors, usual)
        noisy = unit * self.response_.randomize(private, source.child("labels", 0)) + untold.mean()
        self.releases_ = []
        self.label_bounds_ = [bounds]
        self.one_output_ = True
        witness = None
        if told is not None and not is_fitted(self.public_model):
            witness = Witness(told, untold - untold.mean())
        units = None if size is None else unit
        known = None if public[0] is None else (inputs(model, public[0])[0], np.asarray(public[1], float).ravel())
        self.regressor_ = learn_residuals(model, self.regressor, F, noisy, witness, units, known)
        self._halves = Halves(self.regressor, F, noisy, public_model=model, witness=witness, units=units, told=known)
        return self

    def _public_errors(self, model: Any, X_public: Any) -> tuple[npt.NDArray[np.float64], Any]:
        """Return the public model's errors, and the public records as learners read them if these errors are theirs."""
        errors = np.asarray(model.residuals_, dtype=np.float64)
        if X_public is None:
            return errors, None
        told = inputs(model, X_public)[0]
        return errors, told if len(told) == len(errors) else None

    def _processed(self, release: LabelRelease, averaging: float) -> npt.NDArray[np.float64]:
        if self.debias == "none":
            return release.labels
        return release.calibrated() if self.debias == "inverse" else release.calibrated(averaging, self.explained)

    def _averaging(self, X: Any, n: int, fit_params: dict[str, Any]) -> float:
        if not isinstance(self.averaging, str):
            return max(1.0, float(self.averaging))
        prior_free = isinstance(self.mechanism, LabelMechanism) and not isinstance(self.mechanism, PriorMechanism)
        if prior_free or self.debias == "none":
            return 1.0  # nobody asks
        bounds = self._label_bounds if isinstance(self.mechanism, str) else self.mechanism.label_bounds
        return measure_averaging(self._learner(n), X, _bounds(bounds, 1)[0], fit_params)

    def _mechanisms(self, outputs: int) -> list[LabelMechanism]:
        """Return one mechanism an output, each with an equal share of the budget."""
        base = self.mechanism
        if isinstance(base, str):
            bounds = _bounds(self._label_bounds, outputs)
            base = AutoMechanism(self._budget(), label_bounds=bounds[0])
        elif self._label_bounds is None:
            bounds = [base.label_bounds] * outputs
        else:
            bounds = _bounds(self._label_bounds, outputs)
        if outputs == 1:
            return [replace(base, label_bounds=bounds[0])]
        shares = _equal_shares(base.epsilon, outputs)
        return [replace(base, epsilon=e, label_bounds=b) for e, b in zip(shares, bounds, strict=True)]

    def _learner(self, n: int = 1) -> Any:
        if self.regressor is not None:
            return self.regressor
        return boosting_for(n, self._budget())

    def _budget(self) -> float:
        """Return what a label may cost: the mechanism's epsilon, or our own."""
        if isinstance(self.mechanism, LabelMechanism):
            return self.mechanism.epsilon
        return 1.0 if self.epsilon is None else self.epsilon

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict labels."""
        rows = self._rows(X)
        return self._clipped(np.asarray(self.regressor_.predict(self._inputs(rows)), dtype=np.float64))

    def _clipped(self, predicted: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if self.clip:
            low, high = np.array(self.label_bounds_).T
            predicted = np.clip(predicted, *((low[0], high[0]) if predicted.ndim == 1 else (low, high)))
        return predicted

    def _reports_ends(self, X: Any, level: float) -> Ends:
        rows = self._inputs(self._rows(X))
        predicted = np.asarray(self.regressor_.predict(rows), dtype=np.float64)
        half = spread(self._halves.predict(rows), level)
        return self._clipped(predicted - half), self._clipped(predicted + half)

    def formula(self) -> Formula:
        """Return what the regressor computes; see :func:`hedgerow.label.formula.label_formula`."""
        from hedgerow.label.formula import label_formula

        check_is_fitted(self)
        return label_formula(self)

    def anatomy(self, level: float = 0.9) -> Anatomy:
        """Return what a prediction is made of; see :func:`hedgerow.label.formula.label_anatomy`."""
        from hedgerow.label.formula import label_anatomy

        check_is_fitted(self)
        return label_anatomy(self, check_level(level))


def measure_averaging(regressor: Any, X: Any, label_bounds: Any, fit_params: dict[str, Any] | None = None) -> float:
    """Return by how much a regressor divides the variance of noise in its labels; costs no privacy.

    It is trained on labels drawn at random within the bounds, and its predictions for other records should be
    constant; what they vary is noise that it let through. Only features are used, and they are public.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).random((1000, 9))
    >>> 30 < measure_averaging(LinearRegression(), X, (0, 1)) < 300  # 800 records, 10 coefficients
    True
    """
    n = X.shape[0]
    if n < 5:
        return 1.0
    rng = np.random.default_rng(0)
    order = rng.permutation(n)
    held = order[: max(1, n // 5)]
    used = order[max(1, n // 5) :]
    low, high = label_bounds[0] if np.ndim(label_bounds) == 2 else label_bounds
    noise = rng.uniform(low, high, used.size)
    params = _check_method_params(X, fit_params or {}, used)
    model = clone(regressor).fit(_safe_indexing(X, used), noise, **params)
    through = float(np.mean((np.asarray(model.predict(_safe_indexing(X, held))).ravel() - noise.mean()) ** 2))
    return float(np.clip((high - low) ** 2 / 12 / max(through, 1e-12), 1.0, n))


def _labels(estimator: Any, outputs: list[Any], n: int, bounds: list[Any]) -> list[npt.NDArray[np.float64]]:
    """Return the outputs, each within its bounds."""
    return [read_private_labels(estimator, y, n, pair) for y, pair in zip(outputs, bounds, strict=True)]


def _bounds(label_bounds: Any, outputs: int) -> list[Any]:
    """Return one pair of bounds an output, from one pair or a list of pairs."""
    if not isinstance(label_bounds, list | tuple | np.ndarray) or np.ndim(label_bounds) == 1:
        return [check_label_bounds(label_bounds)] * outputs
    if len(label_bounds) != outputs:
        raise BoundsError(f"'label_bounds' must be one pair or {outputs} of them. Got {shown(label_bounds)} instead.")
    return [tuple(pair) for pair in label_bounds]


def _equal_shares(epsilon: float, parts: int) -> list[float]:
    """Return budgets whose exact sum is at most epsilon."""
    shares = []
    rest = epsilon
    for left in range(parts, 1, -1):
        share, rest = split_epsilon(rest, 1 / left)
        shares.append(share)
    return [*shares, rest]


def _joint(claims: list[Guarantee]) -> Guarantee:
    if len(claims) == 1:
        return claims[0]
    joint = sequential(*claims)
    notes = (*dict.fromkeys(joint.notes), f"the budget is split over the {len(claims)} outputs of a label")
    return replace(joint, notes=notes)
