"""Where a public model errs more than elsewhere, as far as public records tell: holders report errors in that unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.types import FloatArray

__all__ = ["ErrorScale", "error_scale"]

_TREES = 100  # each record is left out by about 37 of them
_LEAF = 15  # records at least, so that a mean size of errors is off by a quarter where they are Laplacian
_POWERS = np.arange(1, 13) / 4.0  # of the forest's mean, which is drawn towards the overall one; evidence chooses
_WORTH = 1.0  # log-likelihood by which one more parameter must be better (Akaike)


@dataclass(frozen=True, eq=False)
class ErrorScale:
    """The size of errors, relative to the usual one.

    Attributes
    ----------
    public : array
        Of public records, each by trees that have not seen it.
    """

    forest: Any
    power: float
    factor: float
    public: FloatArray

    def __call__(self, F: FloatArray) -> FloatArray:
        """Return the relative size of errors of records, within that of public ones."""
        raw = self.factor * np.asarray(self.forest.predict(F)) ** self.power
        return np.clip(raw, self.public.min(), self.public.max())


def error_scale(F: FloatArray, residuals: npt.ArrayLike) -> ErrorScale | None:
    r"""Return how the size of errors goes with public records; None where they do not tell.

    A forest of random trees predicts ``|error|``; its mean m(x) is that of neighbours, too flat by as much as they
    differ. The scale is ``m(x)**k``, with the k of the largest likelihood of public errors under Laplace's law of that
    scale, by trees that have not seen them; it must be better than one scale for all by more than chance makes it.
    The mean square of errors in units of the scale is that of the errors.

    Parameters
    ----------
    F : array
        What learners read of public records.
    residuals : array
        Errors of models that have not seen these records.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> F = rng.random((400, 1))
    >>> scale = error_scale(F, (0.1 + F[:, 0]) * rng.laplace(size=400))
    >>> low, high = scale(np.array([[0.1], [0.9]]))
    >>> bool(low < 0.6 * high)
    True
    >>> error_scale(F, rng.laplace(size=400)) is None
    True
    """
    from sklearn.ensemble import ExtraTreesRegressor

    errors = np.asarray(residuals, dtype=np.float64)
    sizes = np.abs(errors)
    if len(errors) < 4 * _LEAF or not sizes.mean() > 0:
        return None
    forest = ExtraTreesRegressor(
        _TREES, min_samples_leaf=_LEAF, max_features=0.5, bootstrap=True, oob_score=True, random_state=0
    )
    mean = forest.fit(F, sizes).oob_prediction_
    if not (mean > 0).all():
        return None
    # With scales m**k the likeliest factor is the mean of |error|/m**k, and the log-likelihood this, up to a constant.
    likely = [-len(mean) * np.log(np.mean(sizes / mean**k)) - k * np.log(mean).sum() for k in _POWERS]
    best = int(np.argmax(likely))
    if likely[best] <= -len(mean) * np.log(sizes.mean()) + _WORTH:
        return None
    power = float(_POWERS[best])
    factor = float(np.sqrt(np.mean((errors / mean**power) ** 2) / np.mean(errors**2)))
    return ErrorScale(forest, power, factor, np.asarray(factor * mean**power))
