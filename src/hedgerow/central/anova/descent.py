"""Noisy gradient descent on whole-number sums, with momentum and a residual clip that is chosen privately."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.central.anova.accounting import Purse
from hedgerow.central.anova.coded import LABEL
from hedgerow.central.anova.products import NORM
from hedgerow.central.anova.quantiles import project
from hedgerow.central.anova.rows import LEVELS, Clip, Sums, norms_of
from hedgerow.randomness import Randomness
from hedgerow.types import FloatArray, IntArray

__all__ = [
    "EVEN",
    "QUANTILE",
    "Descent",
    "Steps",
    "allocation",
    "descend",
    "influences",
    "look_rounds",
    "noise_variance",
]


_LONGEST = 1024.0  # norm of the coefficients, of records of norm 1 and labels in [0, 1]
_SURELY = 0.99 * _LONGEST**2  # of the squared norm, as any machine rounds it
# Of the prototype's recipe: see recipe.py for what it was chosen on.
_CELLS = 14  # of residuals: 0.7**13 is 1 % of the largest clip
_RATIO = 0.7  # of an edge to the next
QUANTILE = 0.9  # of the residuals, at which they are clipped if nothing else is said
_WIDER = _RATIO**-3  # times the first clip, up to which it may follow residuals: they are 2.9 times as large then
_ROUNDING = 1e-9  # of a clip that is an edge
_CLEARLY = 1.645  # deviations, of a one-sided test at 5 %
_COUNT = 256  # least number of levels of one count
_LOOKS = (0.1, 0.7)  # shares of the rounds after which residuals are looked at
EVEN = 0.1  # of the budget of all rounds, spread evenly: see allocation


@dataclass(frozen=True)
class Steps:
    """How to descend: functions of what was released before.

    Attributes
    ----------
    rounds : int
        T.
    rate, momentum : float
        eta and beta.
    share, look_share : Fraction
        Shares of the purse for all rounds together, and for each of two looks at the residuals (0: none).
    size : float
        The noisy number of records.
    factors : array, optional
        What eta is multiplied by, for each coefficient; at most 1.
    quantile : float
        Of the residuals, at which they are clipped.
    """

    rounds: int
    rate: float
    momentum: float
    share: Fraction
    look_share: Fraction
    size: float
    factors: FloatArray | None = field(default=None, compare=False)
    quantile: float = QUANTILE

    @property
    def rates(self) -> FloatArray:
        """Eta of each coefficient, or of all."""
        return np.asarray(self.rate if self.factors is None else self.rate * self.factors)


@dataclass(frozen=True, eq=False)
class Descent:
    """The average of the last half of the coefficients, the deviation of noise by round, and the clip at the end."""

    theta: FloatArray
    noise: tuple[float, ...]
    clip: float


def descend(
    rows: Sums,
    start: FloatArray,
    clip: float,
    steps: Steps,
    purse: Purse,
    energy: FloatArray,
    randomness: Randomness,
    progress: Callable[[int], bool] | None = None,
    *,
    follow: bool = False,
) -> Descent:
    r"""Descend on the clipped squared error of labels less the public offset.

    .. math:: v = \theta + \beta(\theta - \theta'), \quad
              g = \sum_i \operatorname{clip}_c(y_i - \langle v, \phi_i\rangle)\,\phi_i + \text{noise}, \quad
              \theta \leftarrow v + \frac{\eta}{\tilde n} F g

    with F the public factors of the steps, a diagonal matrix.

    Proof: given v and c, a record adds whole numbers of bounded norm to the sum, and no other record's numbers change
    (:class:`~.rows.Rows`), so the sum changes by at most this norm under add/remove.
    Looks at the residuals count each record in one cell; they lower the clip to the edge above the quantile, or, with
    ``follow``, let it follow the quantile itself, up too (:func:`_following`). Prices:
    :class:`~.accounting.GaussianPurse`; which round gets how much is decided beforehand (:func:`allocation`).
    """
    # Laplace noise of many prices would need as many tables, and gained nothing where it was tried.
    parts = allocation(steps, energy) if purse.order == 2 else [Fraction(1, steps.rounds)] * steps.rounds
    if progress is not None and hasattr(progress, "begin"):
        progress.begin(steps.rounds)
    theta = start.copy()
    before = start.copy()
    total = np.zeros_like(start)
    half = steps.rounds - max(1, steps.rounds // 2)
    rates = (steps.rates / steps.size).reshape(-1, 1)
    looks = look_rounds(steps.rounds) if steps.look_share else set()
    noise = []
    edge = clip
    for t in range(steps.rounds):
        at = bounded(theta + steps.momentum * (theta - before))
        if t in looks:
            if follow:
                clip = _following(clip, _count(rows, at, edge * _WIDER, steps, purse, randomness), steps.size)
            else:
                clip = min(clip, _count(rows, at, edge, steps, purse, randomness).above(steps.size))
        each = purse.release(steps.share * parts[t], rows.products.norm(purse.order), LEVELS)
        sums = rows.gradient(at, Clip(clip, each.weight, purse.order))
        unit = clip / (each.weight * NORM)
        gradient = each.noisy(sums, randomness) * unit
        noise.append(each.deviation * unit)
        before = theta
        theta = at + rates * gradient
        if t >= half:
            total += theta
        if progress is not None and progress(t) and t > half:
            return Descent(total / (t + 1 - half), tuple(noise), clip)
    return Descent(total / (steps.rounds - half), tuple(noise), clip)


def look_rounds(rounds: int) -> set[int]:
    """Return the rounds before which residuals are looked at.

    >>> [sorted(look_rounds(rounds)) for rounds in (1, 2, 120)]
    [[0], [0, 1], [12, 84]]
    """
    return {int(share * rounds) for share in _LOOKS}


def bounded(theta: FloatArray) -> FloatArray:
    """Return finite coefficients, shortened if need be (after the release: costs nothing)."""
    flat = theta.ravel()
    if float(np.dot(flat, flat)) < _SURELY:
        return theta
    finite = np.where(np.isfinite(theta), theta, 0.0)
    length = math.sqrt(math.fsum(np.square(finite).ravel().tolist()))  # the same on every machine
    return finite if length <= _LONGEST else np.asarray(finite * (_LONGEST / length))


@dataclass(frozen=True, eq=False)
class _Counted:
    """Noisy numbers of residuals in cells up to these edges, the deviation of their noise, and the quantile sought."""

    edges: FloatArray
    noisy: FloatArray
    deviation: float
    quantile: float = QUANTILE

    def shares(self, size: float) -> FloatArray:
        """Return the shares of residuals up to each edge."""
        return np.asarray(np.cumsum(project(self.noisy, size)) / size)

    def above(self, size: float) -> float:
        """Return the upper edge of the cell of the quantile."""
        return float(self.edges[min(int(np.searchsorted(self.shares(size), self.quantile)), _CELLS - 1)])

    def within(self, size: float) -> float:
        """Return the quantile, residuals spread evenly over its cell."""
        return float(np.interp(self.quantile, [0.0, *self.shares(size)], [0.0, *self.edges]))

    def beyond(self, clip: float) -> float:
        """Return how many residuals are in cells beyond the clip, at least: less 1.645 deviations (5 %)."""
        cells = self.noisy[self.edges * _RATIO > (1 - _ROUNDING) * clip]
        return float(cells.sum()) - _CLEARLY * self.deviation * math.sqrt(cells.size)


def _following(clip: float, counted: _Counted, size: float) -> float:
    """Return the clip after a look, where the one before is a guess that may be too small.

    Residuals of a public model have their size from the first round on, so the clip is the quantile and not the edge
    above it, which is up to 1.43 times as large, and noise with it. It rises only where clearly more residuals than
    should are beyond it: few public records may have been narrower than private ones.

    >>> edges = 0.7 ** np.arange(13.0, -1.0, -1.0)
    >>> def clips(*last):
    ...     noisy = np.array([0.0] * (14 - len(last)) + list(last))
    ...     return round(_following(0.343, _Counted(edges, noisy, 5.0), 1000.0), 3)
    >>> clips(850, 100, 50, 0, 0, 0), clips(100, 100, 100, 300, 300, 100)
    (0.204, 0.7)
    """
    quantile = counted.within(size)
    if counted.beyond(clip) > (1 - counted.quantile) * size:
        return quantile
    return min(clip, quantile)


def _count(rows: Sums, at: FloatArray, top: float, steps: Steps, purse: Purse, randomness: Randomness) -> _Counted:
    """Return noisy numbers of residuals in 14 geometric cells to ``top``; larger ones are in the last."""
    edges: FloatArray = np.asarray(top * _RATIO ** np.arange(_CELLS - 1, -1, -1), dtype=np.float64)

    order = purse.order

    def term(targets: Any, base: Any, predictions: FloatArray) -> IntArray:
        norms = norms_of(targets - predictions, order)
        cells = np.minimum(np.searchsorted(edges * LABEL, norms), _CELLS - 1)
        return np.asarray(np.bincount(cells, minlength=_CELLS))

    counts = rows.total(at, term) + np.zeros(_CELLS, dtype=np.int64)
    release = purse.release(steps.look_share, 1, _COUNT)
    noisy = release.noisy(release.weight * counts, randomness) / release.weight
    return _Counted(edges, noisy, release.deviation / release.weight, steps.quantile)


def influences(steps: Steps, energy: FloatArray, rounds: int) -> FloatArray:
    r"""Return what one unit of noise in each round (rows) adds to each averaged coefficient, were the basis orthogonal.

    The recursion is linear in the noise, ``theta+ = (1 - eta h)((1 + beta) theta - beta theta') + (eta/n) z``, with
    ``h`` taken as public and eta each coefficient's own; running it backwards from the average gives the factor of each
    round's noise.
    """
    contraction = 1.0 - np.clip(steps.rates * energy, 0.0, 1.0)
    averaged = rounds - max(1, rounds // 2)
    out = np.zeros((rounds + 2, energy.size))
    for t in range(rounds - 1, -1, -1):
        own = 1.0 / (rounds - averaged) if t >= averaged else 0.0
        out[t] = own + contraction * ((1 + steps.momentum) * out[t + 1] - steps.momentum * out[t + 2])
    return np.asarray(out[:rounds] * (steps.rates / steps.size))


def remains(steps: Steps, energy: FloatArray, rounds: int) -> FloatArray:
    """Return what is left of one unit of each coefficient's start in the average: the same recursion without noise.

    >>> remains(Steps(4, 1.0, 0.0, Fraction(1), Fraction(0), 100.0), np.array([1.0, 0.1]), 4).round(3).tolist()
    [0.0, 0.693]
    """
    contraction = 1.0 - np.clip(steps.rates * energy, 0.0, 1.0)
    averaged = rounds - max(1, rounds // 2)
    now = np.ones(energy.size)
    before = now
    total = np.zeros(energy.size)
    for t in range(rounds):
        now, before = contraction * ((1 + steps.momentum) * now - steps.momentum * before), now
        if t >= averaged:
            total += now
    return np.asarray(total / (rounds - averaged))


def noise_variance(steps: Steps, noise: Sequence[float], energy: FloatArray) -> FloatArray:
    """Return the variance that noise of these deviations gives each averaged coefficient."""
    return np.asarray(np.square(noise) @ influences(steps, energy, len(noise)) ** 2)


def allocation(steps: Steps, energy: FloatArray) -> list[Fraction]:
    r"""Return each round's share of the budget: larger where noise does more harm. Nothing private enters.

    With ``A_t = sum_m h_m influence_{tm}**2`` noise adds ``sum_t A_t s_t**2`` to the mean square of predictions. A
    share b buys Gaussian noise of variance ``1/b``, so shares proportional to the root of A make the least of it; a
    tenth is spread evenly, for no round is without use.

    >>> steps = Steps(4, 1.0, 0.0, Fraction(1), Fraction(0), 100.0)
    >>> parts = allocation(steps, np.array([1.0, 0.01]))
    >>> [round(float(b), 2) for b in parts], sum(parts) <= 1
    ([0.1, 0.1, 0.41, 0.4], True)
    """
    harm = influences(steps, energy, steps.rounds) ** 2 @ energy
    wanted = np.sqrt(harm)
    mixed = wanted / max(float(wanted.sum()), 1e-300) + EVEN / steps.rounds
    whole = [int(b) for b in np.floor(mixed / (1 + EVEN) * (1 << 30))]
    return [Fraction(b, max(sum(whole), 1 << 30)) for b in whole]
