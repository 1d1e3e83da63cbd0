"""The label mechanism of least error for a learner that averages, by linear programme, made exact afterwards."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from hedgerow.checks import Rule, Whole, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.label.base import PriorMechanism
from hedgerow.mechanisms.unbiased import MatrixResponse
from hedgerow.samplers import ONE
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.types import FloatArray

__all__ = ["SOLVED", "OptimalRandomizer", "least_error_matrix"]

SOLVED = 30.0
"""Linear programmes have coefficients of e**epsilon beside 1, and their solver takes at most 1e15: e**30 is 1e13."""

_SLACK = 1.05  # outputs reach this much further than they need to
_SHARES = (0.0, 0.3, 0.6, 0.8, 0.92, 1.0)  # where the first tangents touch: shares of the label, and a little
_ASIDE = (-0.03, -0.006, 0.006, 0.03)  # beside it (of the number of levels)
_ROUNDS = 5  # of tangents, at most: by hand; the error found is known against its lower bound after each
_CLOSE = 0.005  # stop when the error is within this share of its lower bound


@dataclass(frozen=True)
class OptimalRandomizer(PriorMechanism):
    r"""Of all epsilon-DP responses on a grid, the one of least error for a learner which averages over m labels.

    .. math:: \min_W \sum_y p_y \Bigl( (M_y - y)^2 + \frac{V_y}{m} \Bigr) \quad\text{s.t.}\quad
              \sum_o W_{yo} = 1, \quad W_{yo} \le e^\varepsilon W_{y'o}

    with ``M`` and ``V`` mean and variance of the output given the label. For m = 1 the optimum is RR-on-Bins, for
    infinite m the unbiased randomiser; between them it beats both, as well as any interval. Outputs are evenly spaced,
    and the programme stops within half a percent of its bound, so a mechanism with free outputs may come out ahead by
    as little. Law, check of the claim in integers and sampler are in
    :class:`~hedgerow.mechanisms.unbiased.MatrixResponse`.

    Parameters
    ----------
    n_outputs : int
        The number of values that are offered to the programme; it uses some of them.

    Examples
    --------
    >>> from hedgerow.label import RPWithPrior, RROnBins, UnbiasedRandomizer
    >>> prior, m = ([8, 4, 2, 1, 1], [0, 10, 20, 30, 40, 50]), 30.0
    >>> classes = (OptimalRandomizer, RPWithPrior, RROnBins, UnbiasedRandomizer)
    >>> made = [c(1.0, label_bounds=(0, 50), prior=prior, averaging=m) for c in classes]
    >>> [round(mechanism.fidelity(prior).calibrated_error(m)) for mechanism in made]
    [38, 43, 55, 55]
    """

    _: KW_ONLY
    prior_share: float | str = "auto"
    n_outputs: int = 33

    _parameters: ClassVar[dict[str, Rule]] = {"n_outputs": Whole(2)}

    def _design(self) -> LabelTask:
        grid = self._grid(self.n_steps or 32)
        count = check_positive(self.n_outputs, name="n_outputs", least=2)
        pmf = self._known.on_grid(grid).pmf
        return LabelTask(grid, _remembered(tuple(pmf.tolist()), self.epsilon, self.averaging or 1.0, count))


@lru_cache(maxsize=8)
def _remembered(pmf: tuple[float, ...], epsilon: float, averaging: float, n_outputs: int) -> MatrixResponse:
    """Solve once what is asked for again and again, by "auto" and in studies of several learners."""
    return least_error_matrix(np.array(pmf), epsilon, averaging, n_outputs)


def least_error_matrix(pmf: FloatArray, epsilon: float, averaging: float, n_outputs: int) -> MatrixResponse:
    """Return the response of least error for levels of the given probabilities.

    The repair: lift every column to the exact ratio, scale rows to 1, mix in a little of an answer that does not
    depend on the label (which gives room), and round to integers. :class:`MatrixResponse` then verifies the claim
    in integers; if it fails, more is mixed in.
    """
    values = _values(pmf, epsilon, averaging, n_outputs)
    solved = _Programme(pmf, values, epsilon, averaging).solve()
    solved = np.maximum(solved, solved.max(axis=0) * math.exp(-epsilon))
    solved /= solved.sum(axis=1, keepdims=True)
    used = solved.max(axis=0) > 1e-9
    used[[0, -1]] |= used.sum() < 2
    solved = solved[:, used]
    values = values[used]
    common = np.maximum(solved.mean(axis=0), 1e-12)
    share = 1e-7
    while share < 1:
        mixed = (1 - share) * solved + share * common / common.sum()
        try:
            return MatrixResponse(epsilon, _integers(mixed), tuple(values))
        except HedgerowError:
            share *= 10
    raise HedgerowError(f"no matrix was found for epsilon={epsilon!r}; use fewer outputs.")


def _values(pmf: FloatArray, epsilon: float, averaging: float, count: int) -> FloatArray:
    """Return evenly spaced outputs that reach as far as is worth while for so much averaging.

    An unbiased answer needs ``k/2 (e+1)/(e-1)`` on either side of the middle. Two outputs do best when drawn towards
    the mean by ``t**2 / (a t**2 + 1/m)``, with ``t = (e-1)/(e+1)`` and ``a = 1 - 1/m``; several reach further, up to
    ``1 - 1/e`` in place of ``t`` for m = 1.
    """
    steps = len(pmf) - 1
    mean = float(pmf @ np.arange(steps + 1))
    t = math.tanh(min(epsilon, 200.0) / 2)
    full = steps / 2 * _SLACK / t
    drawn = min(1.0, -math.expm1(-epsilon) * t / ((1 - 1 / averaging) * t * t + 1 / averaging))
    return np.asarray(mean + (np.linspace(steps / 2 - full, steps / 2 + full, count) - mean) * drawn)


class _Programme:
    """``min sum_y p_y (a M_y**2 - 2 y M_y + E[o**2 | y]/m)``, labels and outputs centred, ``a = 1 - 1/m``.

    With ``W = t + s``, ``0 <= s <= (e**epsilon - 1) t`` it is linear but for ``M**2``, which is convex and bounded
    below by tangents: a linear programme, solved again with tangents added where it ended.
    """

    def __init__(self, pmf: FloatArray, outputs: FloatArray, epsilon: float, averaging: float) -> None:
        from scipy import sparse

        k = len(pmf)
        n = len(outputs)
        levels = np.arange(k, dtype=np.float64)
        mean = float(pmf @ levels)
        self.y = levels - mean
        self.o = outputs - mean
        self.m = averaging
        self.p = np.maximum(pmf, 1e-4 / k)  # labels that the prior rules out deserve an answer that makes sense
        one = sparse.identity(n)
        row = sparse.identity(k)
        ones = sparse.csr_matrix(np.ones((k, n)))
        self.ratio = sparse.hstack(
            [sparse.identity(k * n), -math.expm1(epsilon) * sparse.vstack([one] * k), sparse.csr_matrix((k * n, k))]
        )
        self.sums = sparse.hstack([sparse.kron(row, np.ones((1, n))), ones, sparse.csr_matrix((k, k))]).tocsr()
        self.means = sparse.hstack([sparse.kron(row, self.o[None, :]), ones.multiply(self.o)]).tocsr()

    def error(self, matrix: FloatArray) -> float:
        """Return the error of a response."""
        mean = matrix @ self.o
        square = matrix @ self.o**2
        return float(self.p @ ((1 - 1 / self.m) * mean**2 - 2 * mean * self.y + square / self.m + self.y**2))

    def solve(self) -> FloatArray:
        """Return the best of the matrices that were met on the way."""
        points = [*(self.y * share for share in _SHARES), *(self.y + aside * self.y.size for aside in _ASIDE)]
        best = None
        least = math.inf
        for _ in range(_ROUNDS):
            matrix, bound = self._solve_with(points)
            error = self.error(matrix)
            if error < least:
                best = matrix
                least = error
            if error - bound <= _CLOSE * error or self.m == 1:
                break
            points.append(matrix @ self.o)
        assert best is not None
        return best

    def _solve_with(self, points: list[FloatArray]) -> tuple[FloatArray, float]:
        from scipy import sparse
        from scipy.optimize import linprog

        k = self.y.size
        n = self.o.size
        gain = self.p[:, None] * (self.o**2 / self.m - 2 * self.y[:, None] * self.o)
        tangents = [sparse.hstack([sparse.diags(2 * c) @ self.means, -sparse.identity(k)]) for c in points]
        found: Any = linprog(
            np.concatenate([gain.ravel(), gain.sum(axis=0), (1 - 1 / self.m) * self.p]),
            A_ub=sparse.vstack([self.ratio, *tangents]).tocsr(),
            b_ub=np.concatenate([np.zeros(k * n), *(c**2 for c in points)]),
            A_eq=self.sums,
            b_eq=np.ones(k),
            method="highs",
        )
        if found.x is None:
            raise HedgerowError(f"the linear programme of the optimal randomiser was not solved: {found.message}")
        matrix = np.maximum(found.x[: k * n].reshape(k, n) + found.x[k * n : k * n + n], 0.0)
        return matrix, float(found.fun + self.p @ self.y**2)


def _integers(matrix: FloatArray) -> tuple[tuple[int, ...], ...]:
    """Round to integers over ``2**64``; the output that is likeliest overall takes up the rest."""
    heaviest = int(matrix.sum(axis=0).argmax())
    rows = []
    for probabilities in matrix.tolist():
        row = [int(p * ONE) for p in probabilities]
        row[heaviest] += ONE - sum(row)
        rows.append(tuple(row))
    return tuple(rows)
