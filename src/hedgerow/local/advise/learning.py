"""How fast the error of a public model falls with more records: a power law, measured on public records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["LearningCurve", "measure_curve"]

FloatArray = npt.NDArray[np.float64]
Learner = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Records, labels and other records; returns predictions of these."""

SHARES = (0.2, 0.4, 0.8)
_FEWEST = 10
_MOST = 1600
_SMALL = 500


@dataclass(frozen=True)
class LearningCurve:
    """Error ``(m / start)**-decay`` after m records, over that after ``start``; it never rises.

    The decay is local: it is that of the sizes that were measured. Errors that approach what no model can explain fall
    more slowly in the end, so that forecasts far beyond the public records (100 times, say) are optimistic.

    Examples
    --------
    >>> curve = LearningCurve.fit([100, 200, 400], [4.0, 2.0, 1.0], start=400)
    >>> curve.decay, curve(1600)
    (1.0, 0.25)
    """

    start: float
    decay: float

    def __call__(self, m: float) -> float:
        """Return the error expected after m records, over that after ``start``."""
        return float((m / self.start) ** -self.decay)

    @classmethod
    def fit(cls, sizes: npt.ArrayLike, errors: npt.ArrayLike, start: float) -> LearningCurve:
        """Fit a line to logarithms."""
        m, e = (np.log(np.maximum(np.asarray(v, dtype=np.float64), 1e-300)) for v in (sizes, errors))
        spread = float(np.sum((m - m.mean()) ** 2))
        slope = float(np.sum((m - m.mean()) * (e - e.mean()))) / spread if spread > 0 else 0.0
        return cls(float(start), round(max(0.0, -slope), 12))


def measure_curve(learn: Learner, D: FloatArray, y: FloatArray, seed: int) -> LearningCurve:
    """Return the learning curve of ``learn`` (fit on records, predict others) on the design matrix of public records.

    It is fitted on 20, 40 and 80 % of the records (at most 1,600) and tested on others. All sizes are tested on the
    same records, and smaller samples are part of larger ones, so that what is particular to a record cancels.
    """
    n, rng = len(y), np.random.default_rng(seed)
    order = rng.permutation(n)
    sizes = [min(max(_FEWEST, int(share * n)), _MOST) for share in SHARES]
    folds = np.array_split(order, 5)
    errors = np.zeros(len(sizes))
    for held in folds if n <= _SMALL else folds[:2]:
        rest = rng.permutation(np.setdiff1d(order, held))
        for k, m in enumerate(sizes):
            predicted = learn(D[rest[:m]], y[rest[:m]], D[held])
            errors[k] += float(np.sum((predicted - y[held]) ** 2)) / n
    return LearningCurve.fit(sizes, errors, n)
