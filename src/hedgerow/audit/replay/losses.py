"""What one release costs in truth: its exact law at the private numbers of either fit, never its declared price.

Probabilities are evaluated in floats, from the ratio or width that was drawn with; the tests hold them against the
mechanisms' laws in integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from hedgerow.audit.replay.tape import Release
from hedgerow.mechanisms.base import Law
from hedgerow.samplers import ONE
from hedgerow.types import FloatArray, IntArray

__all__ = ["Loss", "loss_of", "outcomes", "scale_of"]

Outcomes = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Loss:
    """How far apart one release is under two data sets.

    Attributes
    ----------
    worst : float
        ``max |log P(o | D) / P(o | D')|`` over all outputs o; infinite for Gaussian noise that differs.
    found : float
        ``log P(o | D) / P(o | D')`` at the output of the fit.
    squares : Fraction
        ``|sum - sum'|**2 / sigma**2``: mu**2 of Gaussian noise, exactly.
    price : Fraction
        What it was built to cost, where the two differ at all; else 0.
    """

    worst: float = 0.0
    found: float = 0.0
    squares: Fraction = Fraction(0)
    price: Fraction = Fraction(0)


def scale_of(ratio: int) -> float:
    """Return ``-log(ratio / 2**64)``, precise where the ratio is near 1."""
    return -math.log1p(-(ONE - ratio) / ONE) if 2 * ratio > ONE else math.log(ONE) - math.log(ratio)


def loss_of(one: Release, two: Release) -> Loss:
    """Return what one release tells of two data sets; they have the same kind, parameters and output."""
    if one.true.shape == two.true.shape and (one.true == two.true).all():
        return Loss()
    if one.kind == "grid":
        return Loss()
    if one.kind == "gaussian":
        return _gaussian(one, two)
    if one.kind == "laplace":
        scale = scale_of(int(str(one.public[0])))
        worst = scale * float(np.abs(one.true - two.true).sum())
        far = np.abs(one.output - two.true) - np.abs(one.output - one.true)
        return Loss(worst, scale * float(far.sum()), price=one.price)
    worst = 0.0
    found = 0.0
    for more, less, chosen in _laws(one, two):
        apart = more - less
        worst = worst + float(np.abs(apart).max())
        found = found + float(apart[chosen])
    return Loss(worst, found, price=one.price)


def _gaussian(one: Release, two: Release) -> Loss:
    shift = [int(b) - int(a) for a, b in zip(one.true.ravel(), two.true.ravel(), strict=True)]
    noise = [int(o) - int(a) for a, o in zip(one.true.ravel(), one.output.ravel(), strict=True)]
    variance = 4 ** int(str(one.public[0]))
    squares = Fraction(sum(s * s for s in shift), variance)
    inner = Fraction(sum(s * z for s, z in zip(shift, noise, strict=True)), variance)
    return Loss(math.inf, float(squares / 2 - inner), squares, one.price)


def _laws(one: Release, two: Release) -> list[tuple[FloatArray, FloatArray, int]]:
    """Return the log laws of the independent parts that differ, and the place of each part's output."""
    if one.kind == "median":
        starts, sizes = _regions(one, two)
        chosen = int(np.searchsorted(starts, one.output[0], side="right")) - 1
        return [(_median_law(one, starts, sizes), _median_law(two, starts, sizes), chosen)]
    if one.kind == "level":
        return [_level_laws(one, two, int(i)) for i in np.flatnonzero(one.true != two.true)]
    rows = np.flatnonzero((one.true != two.true).any(axis=1) & (one.output >= 0))
    return [_choice_laws(one, two, int(row)) for row in rows]


def _choice_laws(one: Release, two: Release, row: int) -> tuple[FloatArray, FloatArray, int]:
    ratio, shape, valid = one.public
    exists = np.frombuffer(valid, dtype=bool).reshape(shape)[row]  # type: ignore[call-overload]
    kept = np.flatnonzero(exists)
    law = _flips if one.kind == "permute-and-flip" else _exponential
    scale = scale_of(int(str(ratio)))
    chosen = int(np.searchsorted(kept, one.output[row]))
    return law(one.true[row][kept], scale), law(two.true[row][kept], scale), chosen


def _exponential(costs: IntArray, scale: float) -> FloatArray:
    weight = -scale * (costs - costs.min())
    return np.asarray(weight - math.log(float(np.exp(weight).sum())))


def _flips(costs: IntArray, scale: float) -> FloatArray:
    r"""Return log probabilities of permute-and-flip.

    .. math:: P(i) = p_i \int_0^1 \prod_{j \ne i} (1 - p_j t)\, dt, \qquad p_j = r^{c_j - \min c}

    as a uniform t counts the heads before i; a polynomial, for which Gauss' rule with this many nodes is exact.
    """
    log_heads = -scale * (costs - costs.min()).astype(np.float64)
    nodes, weights = _rule(len(costs) // 2 + 1)
    others = np.log1p(-np.exp(log_heads)[:, None] * nodes)
    terms = others.sum(axis=0) - others
    return np.asarray(log_heads + np.log(np.exp(terms) @ weights))


@lru_cache(maxsize=512)
def _rule(n: int) -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, weights / 2


def _regions(one: Release, two: Release) -> tuple[IntArray, IntArray]:
    """Return the first cut of each region in which all cuts are alike under either fit, and its number of cuts."""
    n_cells = int(str(one.public[1]))
    starts = np.unique(np.clip(np.concatenate([[1], one.true + 1, two.true + 1]), 1, n_cells - 1))
    return starts, np.diff(np.concatenate([starts, [n_cells]]))


def _median_law(release: Release, starts: IntArray, sizes: IntArray) -> FloatArray:
    """Return the log probability of one cut of each region: ``r**(larger side)`` over the sum for all cuts."""
    scale = scale_of(int(str(release.public[0])))
    n = release.true.size
    left = np.searchsorted(np.sort(release.true), starts, side="left")
    excess = np.maximum(left, n - left)
    excess = excess - excess.min()
    return np.asarray(-scale * excess - math.log(float((sizes * np.exp(-scale * excess)).sum())))


def _level_laws(one: Release, two: Release, i: int) -> tuple[FloatArray, FloatArray, int]:
    laws = [_mapping(release.law, int(release.true[i])) for release in (one, two)]
    outputs = sorted(laws[0].keys() | laws[1].keys(), key=repr)
    found = [np.array([law.get(o, -math.inf) for o in outputs]) for law in laws]
    output = one.output[i]
    key = tuple(output.tolist()) if np.ndim(output) else int(output)
    kept = [k for k in range(len(outputs)) if max(found[0][k], found[1][k]) > -math.inf]
    place = next(k for k, at in enumerate(kept) if outputs[at] == key)
    return found[0][kept], found[1][kept], place


@lru_cache(maxsize=4096)
def _mapping(mechanism: Any, level: int) -> dict[Any, float]:
    law: Law = mechanism.law(level)
    total = math.log(law.total)
    out: dict[Any, float] = {}
    for output, weight in zip(law.outputs, law.weights, strict=True):
        if weight:
            out[output] = math.log(weight) - total
    return out


def outcomes(one: Release, two: Release) -> list[Outcomes]:
    """Return the independent parts of a release as (loss, probability under the first fit), for composition."""
    if one.kind == "grid" or (one.true.shape == two.true.shape and (one.true == two.true).all()):
        return []
    if one.kind == "laplace":
        scale = scale_of(int(str(one.public[0])))
        shifts = (two.true - one.true).ravel()
        return [_laplace_outcomes(scale, int(abs(s))) for s in shifts[shifts != 0]]
    # The cuts of a region share one loss.
    sizes: Any = _regions(one, two)[1] if one.kind == "median" else 1
    return [(more - less, np.exp(more) * sizes) for more, less, _ in _laws(one, two)]


def _laplace_outcomes(scale: float, shift: int) -> Outcomes:
    """Return the losses of discrete Laplace noise at 0 against the same at ``shift``."""
    ratio = math.exp(-scale)
    k = np.arange(1, shift)
    inner = np.exp(-scale * k) * (1 - ratio) / (1 + ratio)
    losses = np.concatenate([[shift * scale], scale * (shift - 2 * k), [-shift * scale]])
    return losses, np.concatenate([[1 / (1 + ratio)], inner, [np.exp(-scale * shift) / (1 + ratio)]])
