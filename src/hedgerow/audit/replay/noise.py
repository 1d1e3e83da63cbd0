"""Noise of whole fits as it comes out: as wide as paid for, and no two numbers share it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np

from hedgerow.audit.replay.tables import record_cases
from hedgerow.audit.result import HOLDS, VIOLATED, AuditResult
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.types import FloatArray

__all__ = ["DrawnNoise", "drawn_noise", "moments"]

_ENOUGH = 12_000
"""Numbers: the variance of 10 % less noise is then 15 standard deviations away for a Gaussian, 9 for Laplace noise."""
_LIMIT = 6.0
"""Standard deviations. Sums of symmetric terms, divided by the root of the sum of their squares, exceed it with
probability at most ``2 e**-18`` (Efron 1969); the mean of n squares of Laplace noise (fourth moment 6, variance of the
square 5) is so far below with at most ``e**(-36 * 5 / 12)`` (Maurer 2003). An audit makes at most six tests: a false
alarm once in 2e6."""


@dataclass(frozen=True)
class DrawnNoise:
    """One line of the audit: ``fit(epsilon, source)`` fits an estimator with a source of randomness."""

    name: str
    fit: Callable[[float, Randomness], Any]
    whole: ClassVar[str] = "fit"
    tiers: ClassVar[tuple[str, ...]] = ("sampled",)

    def results(self, epsilon: float, *, n: int, randomness: Randomness | int | None = None) -> Iterator[AuditResult]:
        """Yield the result; ``n = 0`` leaves it out, as all that is sampled."""
        if n:
            yield self.drawn(epsilon, randomness)

    def drawn(self, epsilon: float, randomness: Randomness | int | None = None) -> AuditResult:
        """Fit until enough noise was seen, and test its moments against what was paid for."""
        start = time.perf_counter()
        source = as_randomness(randomness)
        seen: list[FloatArray] = []
        fits = 0
        while sum(z.size for z in seen) < _ENOUGH:
            with _listening(seen):
                self.fit(epsilon, source.child("fit", fits))
            fits += 1
        size, widest, faults = moments(seen)
        # Noise of variance v in place of 1 multiplies every loss by the root of 1/v.
        least = epsilon / math.sqrt(widest)
        verdict = VIOLATED if faults else HOLDS
        seconds = time.perf_counter() - start
        return AuditResult(
            self.name, epsilon, least, "sampled", verdict, seconds, samples=size, witness="; ".join(faults)
        )


def moments(seen: list[FloatArray]) -> tuple[int, float, list[str]]:
    """Return the number of draws, a bound of their variance (in units of what was paid for), and what is wrong.

    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(20_000, 2))
    >>> moments([noise])[2], moments([0.9 * noise])[2] != []
    ([], True)
    >>> shared = np.repeat(noise[:, :1], 2, axis=1)
    >>> [fault.split(":")[0] for fault in moments([shared])[2]]
    ['outputs 0 and 1 of a release share noise']
    """
    flat = np.concatenate([z.ravel() for z in seen])
    squares = flat**2
    width = float(np.mean(flat**2))
    deviation = math.sqrt(max(float(np.mean(squares**2)) / width**2 - 1.0, 2.0) / flat.size)
    faults = []
    if (width - 1.0) / deviation < -_LIMIT:
        faults.append(f"noise has {width:.4f} of the variance that was paid for")
    tables = [z for z in seen if z.ndim == 2 and len(z) > 1]
    for i in range(max((z.shape[1] for z in tables), default=0)):
        for j in range(i):
            products = np.concatenate([z[:, i] * z[:, j] for z in tables if z.shape[1] > i])
            faults += _correlated(products, f"outputs {j} and {i} of a release share noise")
    along = [z[1:].ravel() * z[:-1].ravel() for z in tables]
    faults += _correlated(np.concatenate([*along, np.zeros(0)]), "neighbouring numbers of a release share noise")
    later = [a.ravel() * b.ravel() for a, b in pairwise(seen) if a.shape == b.shape]
    faults += _correlated(np.concatenate([*later, np.zeros(0)]), "two releases share noise")
    return flat.size, width + _LIMIT * deviation, faults


def _correlated(products: FloatArray, words: str) -> list[str]:
    """Say so if products of independent noise have a mean that they should not have."""
    if products.size < 1000:
        return []
    score = float(products.sum()) / math.sqrt(float((products**2).sum()))
    return [f"{words}: correlation {products.mean():.3f}"] if abs(score) > _LIMIT else []


def _listening(seen: list[FloatArray]) -> Any:
    """Write down the noise of each paid release, in units of its width by price."""
    from hedgerow.central.anova.accounting import GaussianPurse, Release

    noisy = Release.noisy

    def wrapped(self: Any, sums: Any, randomness: Randomness) -> Any:
        out = noisy(self, sums, randomness)
        gaussian = isinstance(self.purse, GaussianPurse)
        # What was ordered. That it is enough for the sums at hand is what the replay finds out.
        width = 2.0**self.bits if gaussian else NoisyCounts(self.cost, self.norm).deviation * self.norm
        seen.append(np.asarray(out - sums, dtype=np.float64) / width)
        return out

    return patch.object(Release, "noisy", wrapped)


def drawn_noise() -> Iterator[DrawnNoise]:
    """Yield the fits whose noise is listened to: both purses, several outputs."""
    for words, delta in (("Gaussian", 1e-5), ("Laplace", 0.0)):
        yield DrawnNoise(f"PrivateAnovaClassifier, three classes, {words} noise", _classes(delta))
        yield DrawnNoise(f"PrivateAnovaRegressor, two labels, {words} noise", _labels(delta))


def _classes(delta: float) -> Callable[[float, Randomness], Any]:
    def fit(epsilon: float, source: Randomness) -> Any:
        from hedgerow.central.anova import PrivateAnovaClassifier

        table = record_cases(quick=True)[0].table
        model = PrivateAnovaClassifier(
            epsilon, delta=delta, feature_bounds=(0, 1), classes=[0, 1, 2], random_state=source
        )
        return model.fit(table.X, table.y.astype(int))

    return fit


def _labels(delta: float) -> Callable[[float, Randomness], Any]:
    def fit(epsilon: float, source: Randomness) -> Any:
        from hedgerow.central.anova import PrivateAnovaRegressor

        table = record_cases(quick=True)[0].table
        model = PrivateAnovaRegressor(
            epsilon, delta=delta, feature_bounds=(0, 1), label_bounds=(0, 1), random_state=source
        )
        return model.fit(table.X, np.column_stack([table.y, table.y]))

    return fit
