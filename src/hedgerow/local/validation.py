"""Comparing models on private records: each validation holder scores one model with one private bit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import Real, check_parameters
from hedgerow.digits import plain
from hedgerow.errors import HedgerowError
from hedgerow.estimators.records import take_rows
from hedgerow.grid import check_label_bounds, label_numbers, middle
from hedgerow.guarantee import Guarantee, as_if_local
from hedgerow.mechanisms.one_bit import OneBit
from hedgerow.randomness import SeededRandomness, as_randomness
from hedgerow.types import FloatArray

__all__ = ["ValidationReport", "estimate_errors", "validate_privately"]


_NOTES = (
    "for the validation holders; one bit a person, every further report about it spends more",
    "the assignment of holders to models is public and does not depend on their records",
)


@dataclass(frozen=True, eq=False)
class ValidationReport:
    """Estimated errors of models, each with its standard error.

    Attributes
    ----------
    best : int
        The model with the least estimated error.
    errors : array
        Unbiased estimates of the mean squared errors (clipped at ``error_bound``); noise can make one negative.
    standard_errors : array
        Their standard errors, for the draw of the holders and the mechanism together.
    n_holders : array
        How many holders scored each model.
    guarantee : Guarantee
        What the validation holders were promised.
    """

    best: int
    errors: FloatArray
    standard_errors: FloatArray
    n_holders: npt.NDArray[np.int64]
    guarantee: Guarantee

    def __str__(self) -> str:
        """Return one line a model."""
        rows = zip(self.errors, self.standard_errors, self.n_holders, strict=True)
        lines = [f"{'model':>5} {'error':>12} {'+-':>10} {'holders':>8}"]
        lines += [f"{i:>5} {plain(e):>12} {plain(s, 3):>10} {n:>8}" for i, (e, s, n) in enumerate(rows)]
        return "\n".join([*lines, f"best: {self.best}; {self.guarantee}"])


def validate_privately(
    models: Sequence[Any],
    X: Any,
    y: Any,
    *,
    epsilon: float,
    label_bounds: Any = None,
    error_bound: float | None = None,
    assignment: int = 0,
    random_state: Any = None,
) -> ValidationReport:
    r"""Estimate the errors of models on private validation records, at exactly ``epsilon`` for each holder.

    Holder i is assigned to one model m(i) by a public hash of its number. It computes its own scaled error
    :math:`e_i = \min(1, (f_{m(i)}(x_i) - y_i)^2 / E)` and sends it as one bit (:class:`.OneBit`) with
    :math:`P(1) = (1-p) + (2p-1) e_i`. With :math:`\bar b_m` the mean bit of the :math:`n_m` holders of model m,

    .. math:: \widehat{\mathrm{MSE}}_m = E\, \frac{\bar b_m - (1-p)}{2p-1}, \qquad
              \mathrm{se}_m = \frac{E}{2p-1} \sqrt{\bar b_m (1 - \bar b_m) / n_m}

    is unbiased. (The paper's D.2 lets every holder score all k models with noise :math:`M^2\sqrt k/\varepsilon`, which
    is not epsilon-private: squared errors reach :math:`4M^2`, and the pure loss is :math:`4\sqrt k\,\varepsilon`.)

    Proof of the guarantee: a holder sends one bit about the record, through an epsilon-DP mechanism; which model it
    is about is public and depends on the holder's number only.

    Parameters
    ----------
    models : sequence
        Anything fitted with ``predict``, trained on other people's records or on public ones.
    X, y : private validation records and labels
        Only used through the mechanism.
    epsilon : float
        Budget of one validation holder; ``inf`` means no flips.
    label_bounds : (low, high), optional
        Public range of the label; by default that of the models, if they have one. Labels and predictions are clipped.
    error_bound : float, optional
        E, the largest squared error that counts, public; by default the squared width of the label bounds. A smaller
        one makes the estimates more precise and clips larger errors.
    assignment : int, default=0
        Public seed of the assignment.
    random_state : None, int or Randomness, default=None
        None draws from a secure source. Anything else is a simulation, and the guarantee says so.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> models = [DummyRegressor(strategy="constant", constant=c).fit([[0]], [0]) for c in (0.0, 0.5, 1.0)]
    >>> X = np.zeros((3000, 1)); y = np.full(3000, 0.6)
    >>> report = validate_privately(models, X, y, epsilon=2.0, label_bounds=(0, 1), random_state=0)
    >>> report.best, report.errors.round(1).tolist()
    (1, [0.3, 0.0, 0.2])
    """
    if len(models) == 0:
        raise HedgerowError("'models' must hold at least one fitted model. Got none.")
    low, high = _bounds(models, label_bounds)
    bound = (high - low) ** 2
    if error_bound is not None:
        check_parameters({"error_bound": error_bound}, {"error_bound": Real(0)})
        bound = float(error_bound)
    mechanism = OneBit(epsilon)
    source = as_randomness(random_state)
    labels = label_numbers(y, (low, high), middle(low, high, None, "the label"))
    labels = np.clip(labels, low, high)
    own = SeededRandomness(assignment, ("validation",)).integers(len(models), len(labels))
    share = np.minimum(_own_errors(models, X, labels, own, (low, high)) / bound, 1.0)
    # The grid has 2**24 steps, so rounding down moves an error by less than 1e-7 of the bound.
    bits = mechanism.randomize((share * mechanism.n_steps).astype(np.int64), source)
    n = np.bincount(own, minlength=len(models)).astype(np.int64)
    ones = np.bincount(own, weights=bits, minlength=len(models)).astype(np.float64)
    errors, spread = estimate_errors(mechanism, ones, n)
    guarantee = Guarantee(
        mechanism.epsilon,
        protects="record",
        trust="local",
        neighbours="replace",
        simulation=source.simulation,
        notes=_NOTES,
    )
    best = int(np.argmin(np.where(n > 0, errors, np.inf)))
    return ValidationReport(best, errors * bound, spread * bound, n, as_if_local(guarantee))


def _own_bounds(model: Any) -> Any:
    """Return what a model knows of its label: stated, or by its schema."""
    return getattr(model, "_label_bounds", getattr(model, "label_bounds", None))


def _bounds(models: Sequence[Any], label_bounds: Any) -> tuple[float, float]:
    if label_bounds is None:
        known = {tuple(b) for m in models if (b := _own_bounds(m)) is not None}
        label_bounds = known.pop() if len(known) == 1 else None
    return check_label_bounds(label_bounds)


def _own_errors(models: Sequence[Any], X: Any, y: Any, own: Any, bounds: tuple[float, float]) -> FloatArray:
    """Return each holder's squared error under the model assigned to it."""
    errors = np.zeros(len(y))
    for m, model in enumerate(models):
        rows = np.flatnonzero(own == m)
        if rows.size:
            prediction = np.nan_to_num(np.asarray(model.predict(take_rows(X, rows)), dtype=np.float64), nan=bounds[0])
            errors[rows] = (np.clip(prediction, *bounds) - y[rows]) ** 2
    return errors


def estimate_errors(mechanism: OneBit, ones: FloatArray, n: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Return scaled errors and standard errors; a model without holders has NaN and infinity."""
    errors = np.full(len(n), np.nan)
    spread = np.full(len(n), math.inf)
    some = n > 0
    mean = ones[some] / n[some]
    errors[some] = mechanism.estimate(ones[some], n[some])
    # At least one bit's worth: an observed mean of 0 or 1 is no proof that there is no spread.
    variance = np.maximum(mean * (1 - mean), 1 / n[some] / 4)
    spread[some] = np.sqrt(variance / n[some]) / mechanism.gain
    return errors, spread
