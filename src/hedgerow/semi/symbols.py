r"""Corrections from symbols that name a group of private values and the level of an error. All post-processing.

By k-ary response a report names the true symbol with probability p, each other one with q. Of L levels, a group is
named with probability ``a = p + (L - 1) q`` where it is the true one, ``b = L q`` elsewhere. How often it is named
among people with public features x is seen in the reports, and with it the share :math:`\pi_c(x)` of people who are in
it, and how far a name can be believed: :math:`s = \pi a / (b + (a - b) \pi)`. With v what the level is read as, and m
the mean of that over levels, people of whom group c is named have

.. math:: E[v - m] = z\, (E[r \mid x, c] - m), \qquad z = s (p - q) / a

so that a learner finds ``E[r | x, c]`` from the targets ``(v - m)/z + m`` with weights ``z**2``. How much of it is used
is decided by sums that need no shares: with ``1[c]`` for "c is named", both of these are without bias for people of
whom the learner has not seen the report:

.. math:: A = \sum_c \frac{1[c]\, v - q L m}{p - q} f_c, \qquad B = \sum_c \frac{1[c] - q L}{p - q} f_c^2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from hedgerow.label.evidence import TWICE, signal_factor
from hedgerow.label.residual import FOLDS, learners_for, stack_weights
from hedgerow.tasks.gate import LIMITS
from hedgerow.tasks.partly_public.symbols import symbol_odds
from hedgerow.types import FloatArray, IntArray

if TYPE_CHECKING:
    from hedgerow.tasks.partly_public.residual import ResidualTask

__all__ = ["Symbols", "learn_symbols", "symbol_scale"]

_LEAST = 0.1  # of an even share: people in a group are believed to be at least so many; by hand
_SCALES = 100  # steps between nothing and all of a correction


@dataclass(frozen=True, eq=False)
class Symbols:
    """Reports as symbols, and what they are read as."""

    task: ResidualTask
    codes: IntArray

    @property
    def n_levels(self) -> int:
        """Levels of an error."""
        return self.task.grid.n_steps + 1

    @property
    def named(self) -> IntArray:
        """The group that each report names."""
        return np.asarray(self.codes // self.n_levels)

    @cached_property
    def values(self) -> FloatArray:
        """What each level is read as: right on average where private errors are public ones moved by a little."""
        residuals = self.task.assist.residuals
        levels = self.task.grid.values(np.arange(self.n_levels))
        public = np.array(residuals.quantiles)
        radius = self.task.assist.radius
        inside = float(np.mean(np.abs(public) < radius))
        if inside == 0:
            return np.full(self.n_levels, residuals.mean)
        return np.asarray((levels - np.clip(public, -radius, radius).mean()) / inside + residuals.mean)

    @property
    def read(self) -> FloatArray:
        """What the level of each report is read as."""
        return np.asarray(self.values[self.codes % self.n_levels])

    def believed(self, rates: FloatArray) -> FloatArray:
        """Return z of every report, from how often its group is named among people like it."""
        p, q = symbol_odds(self.task.mechanism)
        own = p + (self.n_levels - 1) * q
        other = self.n_levels * q
        share = np.clip((rates - other) / (own - other), _LEAST / self.task.n_cells, 1.0)
        return np.asarray(share * (p - q) / (other + (own - other) * share))

    def moments(self, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return A and B of each report, for corrections f of its record were it in each of the groups."""
        p, q = symbol_odds(self.task.mechanism)
        own = f[np.arange(len(f)), self.named]
        A = self.read * own - q * self.values.sum() * f.sum(axis=1)
        B = own**2 - q * self.n_levels * (f**2).sum(axis=1)
        return A / (p - q), B / (p - q)


def learn_symbols(
    symbols: Symbols, design: Callable[[IntArray], FloatArray], public: FloatArray, regressor: Any = None
) -> tuple[list[Any], FloatArray]:
    """Return fitted learners of errors over public features and groups, and their weights.

    Parameters
    ----------
    design : callable
        What learners read of the records, were they in these groups.
    public : array
        The same without groups.
    """
    residuals = np.array(symbols.task.assist.residuals.quantiles)
    named = symbols.named
    n = len(named)
    if n < 10 * FOLDS:
        return [], np.zeros(0)
    z = symbols.believed(_rates(public, named, symbols.task.n_cells))
    middle = float(symbols.values.mean())
    noisy = (symbols.read - middle) / z + middle
    heavy = z**2 / np.mean(z**2)
    signal = signal_factor(noisy * np.sqrt(heavy), residuals)
    if signal == 0:
        return [], np.zeros(0)
    square = float(np.mean(residuals**2))
    learners = [regressor]
    if regressor is None:
        learners = learners_for(n, max(1.0, float(np.average(noisy**2, weights=heavy)) / square))
    F = design(named)
    folds = np.random.default_rng(0).permutation(np.arange(n) % FOLDS)
    out = np.zeros((len(learners), n, symbols.task.n_cells))
    for fold in range(FOLDS):
        held = folds == fold
        for k, learner in enumerate(learners):
            made = _fit(learner, F[~held], noisy[~held], heavy[~held])
            for group in range(symbols.task.n_cells):
                out[k, held, group] = made.predict(design(np.full(n, group))[held])
    told = out[:, np.arange(n), named].T
    root = np.sqrt(heavy)
    weights = stack_weights(told * root[:, None], noisy * root)
    unseen = np.zeros(out.shape[1:])
    for fold in range(FOLDS):  # weights that have not seen the records either
        held = folds == fold
        own = stack_weights(told[~held] * root[~held, None], (noisy * root)[~held])
        unseen[held] = np.tensordot(own, out[:, held], axes=1)
    weights = weights * signal * symbol_scale(*symbols.moments(unseen), square)
    kept = np.flatnonzero(weights > 0)
    return [_fit(learners[k], F, noisy, heavy) for k in kept], weights[kept]


def symbol_scale(A: FloatArray, B: FloatArray, square: float) -> float:
    r"""Return by what a correction is multiplied so that it helps, and hardly ever does harm.

    The squared error falls by the mean of ``2 s A - s**2 B`` over people. Of the factors s for which its lower bounds
    are harms within all :data:`~hedgerow.tasks.gate.LIMITS`, that of the largest mean is taken. Each fold's corrections
    are of the other folds' reports, so the variance is twice that of independent people
    (:func:`~hedgerow.label.evidence.safe_scale`).

    Examples
    --------
    >>> ones = np.ones(1000)
    >>> symbol_scale(ones, ones, 1.0), symbol_scale(0.5 * ones, ones, 1.0), symbol_scale(-ones, ones, 1.0)
    (1.0, 0.5, 0.0)
    >>> symbol_scale(np.tile([50.0, -49.0], 500), ones, 1.0) < 0.1  # it may be right
    True
    """
    s = np.linspace(0.0, 1.0, _SCALES + 1)
    mean = 2 * s * A.mean() - s**2 * B.mean()
    (a, c), (_, b) = np.cov(A, B)
    variance = TWICE * np.maximum(4 * s**2 * a - 4 * s**3 * c + s**4 * b, 0.0) / len(A)
    allowed = np.ones(len(s), dtype=bool)
    for slack, chance in LIMITS:
        allowed &= mean - NormalDist().inv_cdf(1 - chance) * np.sqrt(variance) >= -slack * square
    return float(s[np.argmax(np.where(allowed, mean, -np.inf))])


def _rates(public: FloatArray, named: IntArray, n_cells: int) -> FloatArray:
    """Return how often the group that a report names is named among people like it."""
    from sklearn.ensemble import ExtraTreesClassifier

    if not public.shape[1]:
        return np.asarray((np.bincount(named, minlength=n_cells) / len(named))[named])
    # A leaf of a fiftieth of the reports tells shares within a few percent from some thousands on; by hand.
    forest = ExtraTreesClassifier(50, min_samples_leaf=max(20, len(named) // 50), max_features=0.5, random_state=0)
    chances = forest.fit(public, named).predict_proba(public)
    return np.asarray(chances[np.arange(len(named)), np.searchsorted(forest.classes_, named)])


def _fit(learner: Any, F: FloatArray, y: FloatArray, weight: FloatArray) -> Any:
    """Fit a copy with weights, which a pipeline hands to its last step."""
    name = "sample_weight"
    if hasattr(learner, "steps"):
        name = f"{learner.steps[-1][0]}__sample_weight"
    return clone(learner).fit(F, y, **{name: weight})
