"""How far a descent goes: as far as makes its predicted error least.

Going further learns more of the signal, and more of the noise and of the sample. Everything here is a function of
public choices and of what was released before: post-processing, which costs nothing. Functions are taken as orthogonal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.central.anova.descent import EVEN, Steps
from hedgerow.central.anova.design import FeatureMap
from hedgerow.central.anova.outlook import Outlook, deviations
from hedgerow.central.anova.pull import energies
from hedgerow.types import FloatArray, IntArray

__all__ = ["Prospect", "first_length", "next_length", "responses"]

_REACHES: FloatArray = np.exp2(np.arange(0.0, 18.5, 0.5))  # that are tried
_KINDS = 3  # of functions, whose energies differ by less than a factor of two
_TENTHS = (np.arange(10) + 0.5) / 10  # shares that are all alike likely, before anything was seen


@dataclass(frozen=True, eq=False)
class Prospect:
    """What descents over some functions would come to, one for each of several lengths.

    Attributes
    ----------
    reaches : array of shape (c,)
        The lengths.
    squares : array of shape (k,)
        Shares of all functions' mean square ``w**2 E b**2`` that each kind of them has: functions of nearly the same
        energy are of one kind.
    kinds : array of shape (p,)
        Which kind each function is of; the constant is the first function.
    left : array of shape (c, k)
        What each length leaves of a coefficient of each kind.
    noise : array of shape (c,)
        Mean square that noise adds to predictions, if residuals are clipped at 1.
    sampled : array of shape (c,)
        What is fitted of the sample, over the variance of labels: ``sum_m (1 - left_m) / n``.
    feature_map : FeatureMap
        With the functions.
    nearly : float
        Share of the error that a longer descent must bring: rounds over many records take time.
    """

    reaches: FloatArray
    squares: FloatArray
    kinds: IntArray
    left: FloatArray
    noise: FloatArray
    sampled: FloatArray
    feature_map: FeatureMap
    nearly: float

    @classmethod
    def of(
        cls,
        feature_map: FeatureMap,
        pull: FloatArray,
        steps_of: Callable[[float], Steps],
        strength: float,
        outputs: int,
        nearly: float = 0.0,
    ) -> Prospect:
        """Return the prospect of a map whose records pull so strongly; ``strength`` is mu, infinite without noise."""
        energy = energies(feature_map)
        kinds, number = _kinds(pull)
        steps = [steps_of(float(reach)) for reach in _REACHES]
        left, noise = responses(steps, _sums(kinds, pull) / number, _sums(kinds, energy))
        squares = np.array([0.0, *(np.square(feature_map.basis.weights) * np.array(feature_map.basis.energies))])
        price = float(steps[0].share) * strength**2
        shares = _sums(kinds, squares) / max(float(squares.sum()), 1e-300)
        return cls(
            _REACHES,
            shares,
            kinds,
            left,
            outputs * noise / price,
            (1 - left) @ number / steps[0].size,
            feature_map,
            nearly,
        )

    def missed(self, prior: FloatArray) -> FloatArray:
        """Return what each length leaves of functions that would explain so much, by kind."""
        return np.asarray(self.left**2 @ prior)

    def best(self, errors: FloatArray) -> float:
        """Return the least length whose error is within ``nearly`` of the first minimum; logarithms are given.

        The first: far beyond it, predicted errors are all alike, as long descents hardly differ, and mean little.
        Between lengths, logarithms are straight lines.
        """
        rises = np.flatnonzero(np.diff(errors) >= 0)
        at = int(rises[0]) if rises.size else errors.size - 1
        enough = float(errors[at]) + self.nearly
        falling = errors[: at + 1][::-1]
        return float(np.exp2(np.interp(enough, falling, np.log2(self.reaches[: at + 1])[::-1])))


def first_length(prospect: Prospect, quantile: float) -> float:
    r"""Return how far to go where nothing is known: the least geometric mean of the error.

    Some share rho of the labels' variance can be explained, by each function in proportion to its mean square; all
    shares are alike likely. With b the part of it that is not learnt, noise v at a clip of 1, and s what is sampled,

    .. math:: \sum_\rho \log\bigl((1 - \rho) + \rho b + c^2 v + (1 - \rho) s\bigr)

    is made least. The clip c is where a quantile of the residuals is within: of labels at first, of what is left over
    in the end; the mean of both squares is taken.
    """
    missed = prospect.missed(prospect.squares)[:, None]
    after = (1 - _TENTHS) + _TENTHS * missed
    clip = deviations(quantile) ** 2 * (1 + after) / 2
    errors = after + clip * prospect.noise[:, None] + (1 - _TENTHS) * prospect.sampled[:, None]
    return prospect.best(np.log(errors).mean(axis=1))


def next_length(prospect: Prospect, outlook: Outlook, clip: float, hidden: float) -> float:
    r"""Return how far to go after a descent that has shown something: again the least geometric mean of the error.

    Functions explain what they have shown. Of what is left over, sigma**2, a share f can be explained, too, by each in
    proportion to its mean square; all shares up to ``hidden`` are alike likely:

    .. math:: \sum_f \log\bigl(\sigma^2 ((1 - f)(1 + s) + f b) + \sum_m \pi_m \operatorname{left}_m^2 + c^2 v\bigr)
    """
    shown = outlook.prior(prospect.feature_map.basis)
    prior = np.array([0.0, *(shown[function] for function in prospect.feature_map.basis.functions)])
    known = prospect.missed(_sums(prospect.kinds, prior))
    unseen = hidden * _TENTHS
    missed = prospect.missed(prospect.squares)[:, None]
    over = (1 - unseen) * (1 + prospect.sampled[:, None]) + unseen * missed
    errors = outlook.spread * over + (known + clip**2 * prospect.noise)[:, None]
    return prospect.best(np.log(errors).mean(axis=1))


def _kinds(pull: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the kind of each function by how strongly records pull at it, and how many there are of each."""
    steps = np.rint(_KINDS * np.log2(np.maximum(pull, 1e-12)))
    _, kinds, number = np.unique(steps, return_inverse=True, return_counts=True)
    return kinds.astype(np.int64), number.astype(np.float64)


def _sums(kinds: IntArray, values: FloatArray) -> FloatArray:
    """Return the sum of the values of all functions of each kind."""
    return np.asarray(np.bincount(kinds, values), dtype=np.float64)


def responses(steps: Sequence[Steps], pull: FloatArray, energy: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return what several descents leave of each coefficient, and the mean square that their noise adds.

    :func:`~.descent.remains`, and :func:`~.descent.noise_variance` with the shares of :func:`~.descent.allocation` and
    all of the budget at strength 1, of all descents at once. ``energy`` is that of all functions of each kind.

    Noise in round t adds ``A_t`` times its variance to the mean square, and the round's share b_t buys ``1 / b_t``.
    """
    rounds = np.array([[one.rounds] for one in steps])
    momenta = np.array([[one.momentum] for one in steps])
    rates = np.array([[one.rate] for one in steps])
    contraction = 1.0 - np.clip(rates * pull, 0.0, 1.0)
    ahead = (1 + momenta) * contraction
    behind = momenta * contraction
    averaged = np.maximum(1, rounds // 2)  # rounds, the last ones
    later = np.zeros_like(contraction)
    latest = np.zeros_like(contraction)
    now = np.ones_like(contraction)
    before = np.ones_like(contraction)
    left = np.zeros_like(contraction)
    harm = np.zeros((int(rounds.max()), len(steps)))
    for t in range(len(harm)):
        later, latest = ahead * later - behind * latest + (t < averaged) / averaged, later  # from the last round on
        harm[t] = later**2 @ energy
        now, before = ahead * now - behind * before, now
        left += now * ((t >= rounds - averaged) & (t < rounds))
    harm *= np.arange(len(harm))[:, None] < rounds.T
    wanted = np.sqrt(harm)
    shares = (wanted / np.maximum(wanted.sum(axis=0), 1e-300) + EVEN / rounds.T) / (1 + EVEN)
    unit = np.array([one.rate / one.size for one in steps])
    return left / averaged, (harm / shares).sum(axis=0) * unit**2
