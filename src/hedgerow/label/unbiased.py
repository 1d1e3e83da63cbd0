"""The unbiased randomiser of least variance, by linear programme, made exact afterwards."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hedgerow.checks import Rule, Whole, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.label.base import PriorMechanism
from hedgerow.mechanisms.unbiased import MatrixResponse
from hedgerow.samplers import ONE
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.types import FloatArray

__all__ = ["UnbiasedRandomizer", "optimal_matrix"]

_SLACK = 1.05  # outputs reach this much further than the least that allows an unbiased mechanism


@dataclass(frozen=True)
class UnbiasedRandomizer(PriorMechanism):
    r"""The unbiased label mechanism of least expected variance under a prior (Badanidiyuru et al., 2023).

    .. math:: \min_M \sum_{y,o} p_y M_{yo} (o - y)^2 \quad\text{s.t.}\quad
              \sum_o M_{yo} = 1, \quad \sum_o M_{yo}\, o = y, \quad M_{yo} \le e^\varepsilon M_{y'o}

    The solver's matrix is repaired into integers over ``2**64`` that satisfy the ratio exactly
    (:func:`optimal_matrix`); law and sampler are in
    :class:`~hedgerow.mechanisms.unbiased.MatrixResponse`.

    Parameters
    ----------
    n_outputs : int
        The number of values that a noisy label can take.

    Examples
    --------
    >>> mechanism = UnbiasedRandomizer(2.0, label_bounds=(0, 1), prior="uniform", n_steps=4, n_outputs=6)
    >>> mean, variance = mechanism.task.mechanism.moments()
    >>> bool(abs(mean - [0, 1, 2, 3, 4]).max() < 1e-9)
    True
    """

    _: KW_ONLY
    n_outputs: int = 32

    _parameters: ClassVar[dict[str, Rule]] = {"n_outputs": Whole(2)}

    def _design(self) -> LabelTask:
        grid = self._grid(self.n_steps or 32)
        outputs = check_positive(self.n_outputs, name="n_outputs", least=2)
        pmf = self._known.on_grid(grid).pmf
        return LabelTask(grid, optimal_matrix(pmf, self.epsilon, outputs))


def optimal_matrix(pmf: FloatArray, epsilon: float, n_outputs: int) -> MatrixResponse:
    """Return the unbiased response of least variance for levels of the given probabilities.

    Outputs are evenly spaced and reach just beyond ``k/2 +- k/2 (e+1)/(e-1)`` (``e = exp(epsilon)``), where
    the two ends alone would do. The repair: lift every column to the exact ratio; mix in a little of an
    unbiased matrix with ratios below the limit, which gives room; round to integers; and restore sum and mean
    of each row with the two end outputs, in rationals. :class:`MatrixResponse` then verifies the claim in
    integers; if it fails, more is mixed in.
    """
    steps = len(pmf) - 1
    reach = steps / 2 * _SLACK / math.tanh(min(epsilon, 200.0) / 2)
    outputs = np.linspace(steps / 2 - reach, steps / 2 + reach, n_outputs)
    levels = np.arange(steps + 1, dtype=np.float64)
    solved = _solve(np.asarray(pmf), levels, outputs, epsilon)
    floor = np.maximum(solved.min(axis=0), solved.max(axis=0) * math.exp(-epsilon))
    solved = np.maximum(solved, floor)
    room = _roomy(levels, outputs)
    share = 1e-7
    while share < 1:
        mixed = (1 - share) * solved + share * room
        try:
            return MatrixResponse(epsilon, _integers(mixed, outputs), tuple(outputs))
        except HedgerowError:
            share *= 10
    raise HedgerowError(f"no unbiased matrix was found for epsilon={epsilon!r}; use fewer outputs.")


def _solve(pmf: FloatArray, levels: FloatArray, outputs: FloatArray, epsilon: float) -> FloatArray:
    """Solve the programme with ``M = t + s``, ``0 <= s <= (e**epsilon - 1) t``: one bound an entry."""
    from scipy import sparse
    from scipy.optimize import linprog

    k = levels.size
    m = outputs.size
    weight = np.maximum(pmf, 1e-6 / k)[:, None] * (outputs - levels[:, None]) ** 2
    ones = sparse.csr_matrix(np.ones((k, m)))
    row = sparse.identity(k)
    above = sparse.hstack([sparse.identity(k * m), -math.expm1(epsilon) * sparse.vstack([sparse.identity(m)] * k)])
    sums = sparse.hstack([sparse.kron(row, np.ones((1, m))), ones])
    means = sparse.hstack([sparse.kron(row, outputs[None, :]), ones.multiply(outputs)])
    found: Any = linprog(
        np.concatenate([weight.ravel(), weight.sum(axis=0)]),
        A_ub=above.tocsr(),
        b_ub=np.zeros(k * m),
        A_eq=sparse.vstack([sums, means]).tocsr(),
        b_eq=np.concatenate([np.ones(k), levels]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        raise HedgerowError(f"the linear programme of the unbiased randomiser was not solved: {found.message}")
    least = found.x[k * m :]
    matrix: FloatArray = np.maximum(found.x[: k * m].reshape(k, m) + least, 0.0)
    return matrix


def _roomy(levels: FloatArray, outputs: FloatArray, even: float = 0.01) -> FloatArray:
    """Return an unbiased matrix with ratios below the limit: the two ends, and a little of everything."""
    k = levels.size
    m = outputs.size
    middle = outputs.mean()
    target = middle + (levels - middle) / (1 - even)
    up = (target - outputs[0]) / (outputs[-1] - outputs[0])
    matrix = np.full((k, m), even / m)
    matrix[:, 0] += (1 - even) * (1 - up)
    matrix[:, -1] += (1 - even) * up
    return matrix


def _integers(matrix: FloatArray, outputs: FloatArray) -> tuple[tuple[int, ...], ...]:
    """Round to integers over ``2**64``; the two end outputs take up sum and mean, in exact arithmetic."""
    places = [Fraction(float(o)) for o in outputs]
    rows = []
    for level, probabilities in enumerate(matrix):
        inner = [int(p * ONE) for p in probabilities[1:-1].tolist()]
        rest = ONE - sum(inner)
        moment = level * ONE - sum(w * o for w, o in zip(inner, places[1:-1], strict=True))
        last = round((moment - rest * places[0]) / (places[-1] - places[0]))
        rows.append((rest - last, *inner, last))
    return tuple(rows)
