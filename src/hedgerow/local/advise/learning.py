"""How fast the error of a public model falls with more records: a power law, measured on public records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["LearningCurve", "measure_curve"]

FloatArray = npt.NDArray[np.float64]

SHARES = (0.15, 0.3, 0.55, 0.8)
REPEATS = 6
_FEWEST = 10
_MOST = 1600


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


def measure_curve(D: FloatArray, y: FloatArray, seed: int) -> LearningCurve:
    """Return the learning curve on the design matrix of public records.

    Small ExtraTrees are fitted on 15 to 80 % of the records (at most 1,600), six times each, and tested on the others:
    a cheap learner whose error falls about as fast as that of the whole stack.
    """
    from sklearn.ensemble import ExtraTreesRegressor

    n, rng = len(y), np.random.default_rng(seed)
    sizes, errors = [], []
    for share in SHARES:
        m, found = min(max(_FEWEST, int(share * n)), _MOST), []
        for repeat in range(REPEATS):
            own, rest = np.split(rng.permutation(n), [m])
            trees = ExtraTreesRegressor(30, min_samples_leaf=2, max_features=0.7, random_state=seed + repeat)
            found.append(float(np.mean((trees.fit(D[own], y[own]).predict(D[rest]) - y[rest]) ** 2)))
        sizes.append(m)
        errors.append(float(np.mean(found)))
    return LearningCurve.fit(sizes, errors, n)
