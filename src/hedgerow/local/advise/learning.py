"""How fast the error of a public model falls with more records, measured on public records.

Three points of a curve do not tell its decay and its floor apart, and the forecast is for several times the number of
records that were measured. So the curve is an average over shapes, weighted by how well they agree with the points.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hedgerow.content import Content
from hedgerow.types import FloatArray

__all__ = ["CurvePoints", "LearningCurve", "measure_curve", "n_curve_fits"]

Learner = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Records, labels and other records; returns predictions of these."""

SHARES = (0.2, 0.4, 0.8)  # of the public records: 0.8 is all that five folds leave to fit on, the others are halves
DECAYS = (1 / 3, 2 / 3, 1.0)  # exponents of the curve, up to that of a correct parametric model, 1
FLOORS = tuple(round(0.05 + 0.1 * k, 2) for k in range(10))
_DRAW = 0.03
"""Standard error of the logarithm of a point that comes from which records were drawn for fitting."""
_FEWEST = 10  # records that anything is fitted to
_MOST = 1600  # the same, at most: a curve of five folds then takes seconds; by hand
_FOLDS = 5  # four fifths of the records, the largest share, are then fitted on
_FEW_FOLDS = 2  # that are held out of many records, where two tell enough; by hand
_SMALL = 500  # records up to which all folds are held out: fewer tell less; by hand


@dataclass(frozen=True)
class LearningCurve:
    r"""Error after m records, over that after ``start``: a mean over shapes.

    .. math:: \sum_k w_k \left(f_k + (1 - f_k) (m/start)^{-b_k}\right)

    ``f`` is the floor, the share of the error after ``start`` records that no number of records takes away, and b the
    decay of the rest.

    Parameters
    ----------
    start : float
        Where the curve is 1.
    shapes : tuple of (weight, decay, floor)
        Weights add up to 1.

    Examples
    --------
    >>> curve = LearningCurve(400, ((0.5, 1.0, 0.0), (0.5, 1.0, 0.4)))
    >>> curve(400), curve(1600)
    (1.0, 0.4)
    """

    start: float
    shapes: tuple[tuple[float, float, float], ...]

    def __call__(self, m: float) -> float:
        """Return the error expected after m records, over that after ``start``."""
        w, decay, floor = np.array(self.shapes).T
        return float(w @ (floor + (1 - floor) * (m / self.start) ** -decay))


@dataclass(frozen=True)
class CurvePoints(Content, what="points of a learning curve"):
    """Mean squared errors after so many records, and how well they are known.

    Attributes
    ----------
    sizes, errors : tuple of float
        Records fitted on, and mean squared error on other records.
    covariance : tuple of tuples
        Covariance of the logarithms of the errors: all sizes are tested on the same records.
    start : float
        Number of public records.

    Examples
    --------
    A curve that falls by half with every doubling has hardly a floor, a flat one is all floor:

    >>> known = ((1e-4, 0.0, 0.0), (0.0, 1e-4, 0.0), (0.0, 0.0, 1e-4))
    >>> steep = CurvePoints((100, 200, 400), (4.0, 2.0, 1.0), known, 400).curve()
    >>> flat = CurvePoints((100, 200, 400), (1.0, 1.0, 1.0), known, 400).curve()
    >>> steep(3200) < 0.3 < 0.9 < flat(3200)
    True
    """

    sizes: tuple[float, ...]
    errors: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    start: float

    def curve(self) -> LearningCurve:
        r"""Return the posterior mean of the curve.

        The prior has decays of 1/3, 2/3 and 1 with equal weights, and floors f with weights ``(1 - f)**2``.

        A shape predicts the logarithms of the errors up to a constant, which has a flat prior; the rest is normal with
        the covariance of the points and ``0.03**2`` on the diagonal for the draw of the records that were fitted on.
        """
        grid = list(itertools.product(DECAYS, FLOORS))
        m = np.array(self.sizes) / self.start
        shapes = np.array([np.log(f + (1 - f) * m**-b) for b, f in grid])
        inverse = np.linalg.inv(np.array(self.covariance) + _DRAW**2 * np.eye(len(m)))
        off = np.log(np.maximum(self.errors, 1e-300)) - shapes
        off -= ((off @ inverse).sum(axis=1) / inverse.sum())[:, None]
        loss = np.einsum("ki,ij,kj->k", off, inverse, off) / 2
        w = np.exp(loss.min() - loss) * (1 - np.array(grid)[:, 1]) ** 2
        w /= w.sum()
        return LearningCurve(float(self.start), tuple((float(p), b, f) for p, (b, f) in zip(w, grid, strict=True)))


def n_curve_fits(n: int) -> int:
    """Return how often :func:`measure_curve` fits on n records."""
    return len(SHARES) * _n_held(n)


def _n_held(n: int) -> int:
    return _FOLDS if n <= _SMALL else _FEW_FOLDS


def measure_curve(
    learn: Learner, D: FloatArray, y: FloatArray, seed: int, fitted: Callable[[], object] = lambda: None
) -> CurvePoints:
    """Return points of the learning curve of ``learn`` on the design matrix of public records.

    It is fitted on 20, 40 and 80 % of the records (at most 1,600) and tested on others. All sizes are tested on the
    same records, and smaller samples are part of larger ones, so that what is particular to a record cancels.
    ``fitted`` is called after each fit.
    """
    n = len(y)
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    sizes = [min(max(_FEWEST, int(share * n)), _MOST) for share in SHARES]
    folds = np.array_split(order, _FOLDS)
    found = []
    for held in folds[: _n_held(n)]:
        rest = rng.permutation(np.setdiff1d(order, held))
        predicted = []
        for m in sizes:
            predicted.append(learn(D[rest[:m]], y[rest[:m]], D[held]))
            fitted()
        found.append((np.column_stack(predicted) - y[held, None]) ** 2)
    squares = np.vstack(found)
    errors = np.maximum(squares.mean(axis=0), 1e-300)
    # By the delta method: the logarithm of a mean moves by what the mean moves, over the mean.
    covariance = np.cov(squares / errors, rowvar=False) / len(squares)
    rows = tuple(tuple(row) for row in covariance.tolist())
    return CurvePoints(tuple(map(float, sizes)), tuple(errors.tolist()), rows, float(n))
