"""RR-on-Bins: the best bins for a prior by dynamic programming, with the number of bins chosen too."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hedgerow.checks import OneOf, Rule, Whole
from hedgerow.errors import HedgerowError
from hedgerow.label.base import PriorMechanism
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.types import FloatArray

__all__ = ["Bins", "RROnBins", "optimal_bins"]


class Bins(NamedTuple):
    """The first index of each bin, the value that it stands for, and the error that results."""

    starts: tuple[int, ...]
    values: tuple[float, ...]
    error: float


def optimal_bins(
    points: npt.ArrayLike,
    masses: npt.ArrayLike,
    epsilon: float,
    *,
    n_bins: int | None = None,
    averaging: float | None = None,
) -> Bins:
    r"""Return the bins of least expected squared error for k-ary response on bins.

    With ``c = e**epsilon - 1``, labels centred at their mean, ``P`` and ``S`` the mass and the first moment of
    a bin, the best value of a bin is ``c S / (c P + 1)`` and

    .. math:: E(out - y)^2 = \mathrm{Var}(y) - \frac{1}{c + k} \sum_{j=1}^{k} \frac{c^2 S_j^2}{c P_j + 1}

    With prefix sums a bin's term costs O(1), and ``G_k(j) = max_i G_{k-1}(i) + term(i, j)`` is solved for all
    ``j`` in one pass of O(n^2) array operations for each k. (The quadrangle inequality that would allow
    O(n log n) fails in the tails, where ``c P < 1``; this is exact.) As the sum never exceeds ``c Var(y)``, no
    larger ``k`` can win once ``c Var(y) / (c + k)`` is below the best found.

    Parameters
    ----------
    points, masses : array
        Distinct labels, rising, and their probabilities.
    epsilon : float
        Budget of one label.
    n_bins : int, optional
        The number of bins; by default the best.
    averaging : float, optional
        Choose number and values of the bins for a learner that averages over so many labels.

    Examples
    --------
    >>> bins = optimal_bins([0, 1, 2, 10, 11], [0.2, 0.2, 0.2, 0.2, 0.2], 3.0)
    >>> bins.starts, np.round(bins.values, 2).tolist()
    ((0, 3), [1.31, 9.84])
    """
    x = np.asarray(points, dtype=np.float64)
    p = np.asarray(masses, dtype=np.float64)
    if x.ndim != 1 or x.shape != p.shape or x.size == 0 or (np.diff(x) <= 0).any() or (p < 0).any() or p.sum() <= 0:
        raise HedgerowError("'points' must rise, with one mass >= 0 each and a positive sum.")
    kept = np.flatnonzero(p > 0)
    x = x[kept]
    p = p[kept] / p.sum()
    mean = float(p @ x)
    c = math.expm1(min(epsilon, 300.0))
    best: Bins | None = None
    for starts in _partitions(x - mean, p, c, n_bins, averaging):
        values, error = _values(x - mean, p, c, starts, averaging)
        if best is None or error < best.error:
            best = Bins(tuple(int(kept[s]) for s in starts), tuple((values + mean).tolist()), error)
    if best is None:
        raise HedgerowError(f"'n_bins' must be in 1 .. {x.size}, the number of labels. Got {n_bins!r} instead.")
    return best


def _partitions(x: FloatArray, p: FloatArray, c: float, n_bins: int | None, averaging: float | None) -> Any:
    """Yield the best partition for each number of bins worth trying, as lists of first indices."""
    n = x.size
    mass = np.concatenate([[0.0], np.cumsum(p)])
    moment = np.concatenate([[0.0], np.cumsum(p * x)])
    variance = float(p @ x**2)
    # Divided by c, so that a huge epsilon does not overflow: S**2 / (P + 1/c).
    terms = [(moment[j] - moment[:j]) ** 2 / (mass[j] - mass[:j] + 1 / c) for j in range(1, n + 1)]
    gain = np.full(n + 1, -np.inf)
    gain[0] = 0.0
    choices: list[npt.NDArray[np.int32]] = []
    best = -np.inf
    most = n if n_bins is None else min(n, n_bins)
    least = 0 if averaging is None else 64
    for k in range(1, most + 1):
        chosen = np.zeros(n + 1, dtype=np.int32)
        new = np.full(n + 1, -np.inf)
        for j in range(k, n + 1):
            total = gain[:j] + terms[j - 1]
            chosen[j] = i = int(total.argmax())
            new[j] = total[i]
        gain = new
        choices.append(chosen)
        best = max(best, gain[n] * c / (c + k))
        if n_bins is None or k == n_bins:
            yield _path(choices, n)
        if n_bins is None and k >= least and variance * c / (c + k + 1) <= best:
            return


def _path(choices: list[npt.NDArray[np.int32]], n: int) -> list[int]:
    starts = []
    j = n
    for chosen in reversed(choices):
        j = int(chosen[j])
        starts.append(j)
    return starts[::-1]


def _values(
    x: FloatArray, p: FloatArray, c: float, starts: list[int], averaging: float | None
) -> tuple[FloatArray, float]:
    r"""Return the best values of given bins, and the error.

    A learner that averages over m labels errs by ``E(M - y)**2 + E V / m``, with ``M = A v`` the mean output
    of each bin: a quadratic in the values ``v``. For m = 1 its solution is ``c S / (c P + 1)``.
    """
    k = len(starts)
    m = 1.0 if averaging is None else averaging
    mass = np.add.reduceat(p, starts)
    moment = np.add.reduceat(p * x, starts)
    q = 1 / (c + k)
    mean = q * (c * np.eye(k) + 1)
    noise = q * (c * mass + 1)  # the probability of each output
    system = (1 - 1 / m) * mean.T @ (mass[:, None] * mean) + np.diag(noise / m)
    values = np.asarray(np.linalg.solve(system, mean.T @ moment), dtype=np.float64)
    error = float(p @ x**2 - moment @ (mean @ values))  # at the minimum of the quadratic
    return values, error


@dataclass(frozen=True)
class RROnBins(PriorMechanism):
    """Randomised response on bins of labels (Ghazi et al., 2022), with the optimal bins for the prior.

    The noisy label is one of a few values, shrunk towards the centre of the prior as far as the noise makes
    best; law and proof are in :class:`~hedgerow.mechanisms.bins.BinsResponse`.

    Parameters
    ----------
    n_bins : int or "auto"
        The number of bins; "auto" takes the best.

    Examples
    --------
    >>> mechanism = RROnBins(2.0, label_bounds=(0, 50), prior=([8, 4, 2, 1, 1], [0, 10, 20, 30, 40, 50]))
    >>> np.round(mechanism.values, 1).tolist()
    [8.4, 24.2]
    """

    _: KW_ONLY
    n_bins: int | str = "auto"

    _parameters: ClassVar[dict[str, Rule]] = {"n_bins": Whole() | OneOf("auto")}

    @property
    def values(self) -> tuple[float, ...]:
        """The values that noisy labels can take."""
        core = self.task.mechanism
        return tuple(self.grid.values(getattr(core, "values", ())).tolist())

    def _design(self) -> LabelTask:
        grid = self._grid(self.n_steps or 256)
        pmf = self._known.on_grid(grid).pmf
        wanted = None if isinstance(self.n_bins, str) else self.n_bins
        levels = np.arange(grid.n_steps + 1)
        bins = optimal_bins(levels, pmf, self.epsilon, n_bins=wanted, averaging=self.averaging)
        starts = (0, *bins.starts[1:])
        return LabelTask(grid, BinsResponse(self.epsilon, grid.n_steps, starts, bins.values))
