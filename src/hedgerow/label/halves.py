"""How sure a learner is: refits on random halves of noisy labels that were already released. Costs no privacy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from hedgerow.label.evidence import Witness
from hedgerow.label.residual import learn_residuals
from hedgerow.randomness import as_randomness
from hedgerow.types import FloatArray, IntArray

__all__ = ["PAIRS", "Halves", "halves", "quantile", "spread"]

PAIRS = 10
"""Pairs of halves, by hand: a deviation from 10 is itself off by a fifth, which the t quantile allows for."""


def halves(n: int) -> list[IntArray]:
    """Return the rows of random halves and of the rest, the same ones every time: asked twice, the answer is the same.

    >>> [len(rows) for rows in halves(9)][:4]
    [5, 4, 5, 4]
    """
    source = as_randomness(0).child("halves")
    found = []
    for k in range(PAIRS):
        order = np.argsort(source.child(str(k)).integers(2**40, n), kind="stable")
        found += [np.sort(order[: (n + 1) // 2]), np.sort(order[(n + 1) // 2 :])]
    return found


def spread(predictions: list[FloatArray], level: float) -> FloatArray:
    r"""Return half the width of an interval for what the learner would find on average, from fits on pairs of halves.

    The two fits of a pair share no label, so that half the mean of their squared differences is the variance of a fit
    on half of the labels. One on all of them has half of that where the learner averages over all labels, and as much
    where it averages over a fixed number of near ones: the interval takes the larger.

    >>> round(float(spread([np.array([x]) for x in (-1.0, 1.0)], 0.9)[0]), 2)
    8.93
    """
    pairs = len(predictions) // 2
    differences = [predictions[2 * k] - predictions[2 * k + 1] for k in range(pairs)]
    deviation = np.sqrt(np.mean(np.square(differences), axis=0) / 2)
    return np.asarray(quantile(pairs, level) * deviation)


def quantile(pairs: int, level: float) -> float:
    """Return how many deviations an interval reaches that is from so many pairs: those of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(pairs, (1 + level) / 2))


@dataclass(eq=False)
class Halves:
    """Noisy labels with their records (public, where labels are private), and the learner's fits on halves of them.

    The fits are made when they are first asked for.
    """

    learner: Any
    X: Any
    labels: FloatArray
    params: dict[str, Any] = field(default_factory=dict)
    public_model: Any = None
    witness: Witness | None = None
    units: FloatArray | None = None
    told: tuple[FloatArray, FloatArray] | None = None
    fits: list[Any] = field(default_factory=list)

    def predict(self, X: Any) -> list[FloatArray]:
        """Return the predictions of every fit."""
        return [np.asarray(fit.predict(X), dtype=np.float64) for fit in self.fitted()]

    def fitted(self) -> list[Any]:
        """Return all fits, those of a pair one after the other."""
        if not self.fits:
            self.fits = [self._fit(rows) for rows in halves(len(self.labels))]
        return self.fits

    def _fit(self, rows: IntArray) -> Any:
        if self.public_model is not None:
            units = None if self.units is None else self.units[rows]
            given = (self.X[rows], self.labels[rows], self.witness, units, self.told)
            return learn_residuals(self.public_model, self.learner, *given)
        params = _check_method_params(self.X, self.params, rows)
        return clone(self.learner).fit(_safe_indexing(self.X, rows), self.labels[rows], **params)
