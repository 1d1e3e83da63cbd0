"""Learning the prior from private labels, at a cost: a noisy histogram, or randomised reports and EM."""

from __future__ import annotations

import math

import numpy as np

from hedgerow.grid import LabelGrid
from hedgerow.label.prior import LabelPrior, simplex, smooth
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.level import LaplaceNoise, LevelMechanism
from hedgerow.randomness import Randomness
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.types import FloatArray, IntArray

__all__ = ["central_prior", "decode_prior", "prior_budget", "scout"]

Bounds = tuple[float, float]


def central_prior(y: FloatArray, bounds: Bounds, epsilon: float, randomness: Randomness) -> LabelPrior:
    r"""Return a histogram of the labels with discrete Laplace noise, made a density again.

    .. math:: \tilde c_b = c_b + \mathrm{Lap}(r), \qquad r \ge e^{-\varepsilon/2}

    Proof that it is epsilon-DP: changing one label takes 1 from one count and adds 1 to another, each noisy
    count changes its likelihood by at most ``1/r <= e**(epsilon/2)``; the number of labels and of bins is
    public; projecting to a density and smoothing are post-processing.
    """
    n = y.size
    bins = _central_bins(n, epsilon)
    low, high = bounds
    position = (np.clip(y, low, high) - low) * (bins / (high - low))
    counts = np.bincount(np.minimum(position.astype(np.int64), bins - 1), minlength=bins)
    if not math.isinf(epsilon):
        counts = NoisyCounts(epsilon, 2).release(counts, randomness)
    masses = simplex(counts / max(n, 1))
    return LabelPrior(tuple(np.linspace(low, high, bins + 1)), tuple(smooth(masses) if bins >= 16 else masses))


def _central_bins(n: int, epsilon: float) -> int:
    """Return so many bins that the mean count is about twice its noise (of deviation 2.8/epsilon)."""
    return int(min(64, max(4, n * min(epsilon, 1e3) / 6)))


def scout(bounds: Bounds, epsilon: float) -> tuple[LabelGrid, LevelMechanism]:
    """Return the local mechanism whose reports tell most about the distribution: the square wave.

    An interval response over the whole range with the radius that maximises the mutual information of a flat
    prior (Li et al., 2020): ``b = (e eps - e + 1) / (2 e (e - 1 - eps))`` with ``e = exp(eps)``, of the range.
    """
    if math.isinf(epsilon):
        return LabelGrid(*bounds, 4096), LaplaceNoise(math.inf, 4096)
    steps = 128
    x = min(epsilon, 50.0)
    e = math.exp(x)
    share = 0.5 if x < 1e-3 else (x * e - e + 1) / (2 * e * (e - 1 - x))
    radius = min(steps, max(0, round(share * steps)))
    return LabelGrid(*bounds, steps), IntervalResponse(epsilon, steps, 0, steps, radius)


def decode_prior(*answers: tuple[LabelTask, IntArray], bins: int = 32) -> LabelPrior:
    """Return the smoothed maximum-likelihood density given randomised levels (EM with smoothing).

    Each answer is a task and the outputs of the holders who answered it; together they tell more than either. It is
    post-processing: the outputs and the public laws are used, and nothing else.
    """
    bounds = (answers[0][0].grid.low, answers[0][0].grid.high)
    heard = [(task, codes) for task, codes in answers if codes.size]
    if not heard:
        return LabelPrior.uniform(bounds)
    nodes = tuple(np.linspace(*bounds, bins + 1))
    if any(task.mechanism.epsilon == math.inf for task, _ in heard):
        return LabelPrior(nodes, tuple(_true_masses(*heard[0], bins)))
    channels = [_level_law(task.mechanism) @ _bins_to_levels(task.grid, bins) for task, _ in heard]
    seen = np.concatenate([_counts(task.mechanism, codes) for task, codes in heard])
    masses = np.full(bins, 1 / bins)
    channel = np.concatenate(channels)
    for _ in range(200):
        weight = channel * masses
        posterior = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
        masses = smooth(seen @ posterior / max(seen.sum(), 1.0))
    return LabelPrior(nodes, tuple(masses))


def _counts(mechanism: LevelMechanism, codes: IntArray) -> FloatArray:
    """Count outputs, from the first possible one to the last."""
    first, last = mechanism.code_range
    return np.bincount(codes - first, minlength=last - first + 1).astype(np.float64)


def _true_masses(task: LabelTask, codes: IntArray, bins: int) -> FloatArray:
    """Return the share of levels in each bin, where there is no noise to undo."""
    seen = _counts(task.mechanism, codes)
    inside = np.interp(np.linspace(0, seen.size, bins + 1), np.arange(seen.size + 1), np.r_[0, np.cumsum(seen)])
    return np.maximum(np.diff(inside), 0)


def _level_law(mechanism: LevelMechanism) -> FloatArray:
    """Return ``P(code | level)`` as floats, one column a level."""
    columns = []
    for level in range(mechanism.n_inputs):
        law = mechanism.law(level)
        total = law.total
        columns.append(np.array([weight / total for weight in law.weights]))
    return np.stack(columns, axis=1)


def _bins_to_levels(grid: LabelGrid, bins: int) -> FloatArray:
    """Return ``P(level | bin)``, one column a bin."""
    edges = np.linspace(grid.low, grid.high, bins + 1)
    parts = [LabelPrior((edges[b], edges[b + 1]), (1.0,)).on_grid(grid).pmf for b in range(bins)]
    return np.stack(parts, axis=1)


def prior_budget(epsilon: float, n: int, trust: str) -> float:
    """Return the share of epsilon for the prior when it is left to us: from public numbers only.

    Centrally a histogram of 64 bins is good once ``n epsilon_1`` is some 200; the rest is better spent on the
    labels. Locally the prior needs more: a fifth, at most.
    """
    if math.isinf(epsilon):
        return 0.5
    if trust == "local":
        return 0.2
    return min(0.8, max(0.02, 200 / max(n, 1) / epsilon))
