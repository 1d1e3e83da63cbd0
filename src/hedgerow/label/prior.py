"""What is known beforehand about the labels: a step density, and what it says on a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid, check_label_bounds
from hedgerow.mechanisms.level import LevelMechanism
from hedgerow.types import FloatArray

__all__ = ["Fidelity", "GridPrior", "LabelPrior", "designed_for", "fidelity"]


class GridPrior(NamedTuple):
    """A prior after rounding at random to levels.

    ``pmf[k]`` is the probability of level k. ``spread[k]`` is the integral over cell ``k .. k+1`` of
    ``f (1 - f)``, with f the position within the cell: the variance that rounding adds, in squared steps.
    """

    pmf: FloatArray
    spread: FloatArray


@dataclass(frozen=True)
class LabelPrior:
    """A step density: mass ``masses[i]``, spread evenly over ``nodes[i] .. nodes[i+1]``.

    It must be public, or have been learnt with a mechanism: it shapes what is released.

    Parameters
    ----------
    nodes : sequence of float
        Rising, one more than masses.
    masses : sequence of float
        Not negative; scaled to sum to 1.

    Examples
    --------
    >>> prior = LabelPrior((0, 10, 40), (3, 1))
    >>> prior.masses, prior.mean
    ((0.75, 0.25), 10.0)
    >>> LabelPrior.of(np.histogram([1, 2, 3, 9], bins=2, range=(0, 10)), (0, 10)).masses
    (0.75, 0.25)
    """

    nodes: tuple[float, ...]
    masses: tuple[float, ...]

    def __post_init__(self) -> None:
        nodes = np.asarray(self.nodes, dtype=np.float64)
        masses = np.asarray(self.masses, dtype=np.float64)
        if nodes.ndim != 1 or masses.ndim != 1 or nodes.size != masses.size + 1 or masses.size == 0:
            raise HedgerowError("'prior' needs one more node than masses (at least one mass).")
        if not np.isfinite(nodes).all() or (np.diff(nodes) <= 0).any():
            raise HedgerowError("the nodes of 'prior' must be finite and strictly rising.")
        if not np.isfinite(masses).all() or (masses < 0).any() or masses.sum() <= 0:
            raise HedgerowError("the masses of 'prior' must be finite and not negative, with a positive sum.")
        object.__setattr__(self, "nodes", tuple(nodes.tolist()))
        object.__setattr__(self, "masses", tuple((masses / masses.sum()).tolist()))

    @classmethod
    def uniform(cls, label_bounds: object) -> LabelPrior:
        """Return the flat prior: nothing is known but the bounds."""
        return cls(check_label_bounds(label_bounds), (1.0,))

    @classmethod
    def of(cls, prior: Any, label_bounds: object) -> LabelPrior:
        """Return a prior given as one, as "uniform", as a histogram, or as masses of equal bins.

        ``(nodes, densities)`` is a step density. ``(heights, nodes)``, as of :func:`numpy.histogram`, holds
        counts, or densities if they integrate to 1; where bins have one width, that makes no difference.
        """
        if isinstance(prior, LabelPrior):
            return prior
        if isinstance(prior, str):
            if prior != "uniform":
                raise HedgerowError(f"The 'prior' parameter may be \"uniform\" or a histogram. Got {prior!r} instead.")
            return cls.uniform(label_bounds)
        if isinstance(prior, tuple | list) and len(prior) == 2 and all(np.ndim(part) == 1 for part in prior):
            return _histogram(*(np.asarray(part, dtype=np.float64) for part in prior))
        masses = np.asarray(prior, dtype=np.float64)
        if masses.ndim != 1 or masses.size == 0:
            raise HedgerowError("The 'prior' parameter must be a LabelPrior, a histogram or masses of equal bins.")
        low, high = check_label_bounds(label_bounds)
        return cls(tuple(np.linspace(low, high, masses.size + 1)), tuple(masses))

    @property
    def densities(self) -> FloatArray:
        """Return mass by width, for each step."""
        return np.asarray(self.masses) / np.diff(self.nodes)

    @property
    def mean(self) -> float:
        """Return the mean."""
        nodes = np.asarray(self.nodes)
        return float(np.dot(self.masses, (nodes[1:] + nodes[:-1]) / 2))

    def on_grid(self, grid: LabelGrid) -> GridPrior:
        """Return the law of levels, after clipping to the bounds and rounding at random; exact integrals."""
        position = (np.clip(self.nodes, grid.low, grid.high) - grid.low) / grid.step
        pmf = np.zeros(grid.n_steps + 1)
        spread = np.zeros(grid.n_steps)
        cuts = np.union1d(position, np.arange(grid.n_steps + 1, dtype=np.float64))
        left = cuts[:-1]
        right = cuts[1:]
        width = right - left
        whole = np.diff(position)
        density = np.divide(self.masses, whole, out=np.zeros(len(self.masses)), where=whole > 0)
        middle = (left + right) / 2
        step = np.searchsorted(position, middle, side="right") - 1
        inside = (middle > position[0]) & (middle < position[-1])
        mass = np.where(inside, density[np.clip(step, 0, density.size - 1)], 0.0) * width
        cell = np.minimum(middle.astype(np.int64), grid.n_steps - 1)
        first = middle - cell  # mean of f over the piece, and of f**2
        second = first**2 + width**2 / 12
        np.add.at(pmf, cell, mass * (1 - first))
        np.add.at(pmf, cell + 1, mass * first)
        np.add.at(spread, cell, mass * (first - second))
        # What lies beyond a bound is clipped to it (whole steps, and the parts of those that straddle it).
        nodes = np.asarray(self.nodes)
        masses = np.asarray(self.masses)
        below = np.clip((grid.low - nodes[:-1]) / np.diff(nodes), 0, 1)
        above = np.clip((nodes[1:] - grid.high) / np.diff(nodes), 0, 1)
        scale = np.clip(1 - below - above, 0, 1)
        if (below + above).any():
            return _clipped(self, grid, below, above, scale)
        return GridPrior(pmf / masses.sum(), spread)


def _histogram(one: FloatArray, two: FloatArray) -> LabelPrior:
    nodes_first = one.size > two.size
    nodes, heights = (one, two) if nodes_first else (two, one)
    if nodes.size != heights.size + 1:
        raise HedgerowError("'prior' needs one more node than heights.")
    masses = heights * np.diff(nodes)
    if not nodes_first and not math.isclose(float(masses.sum()), 1.0, rel_tol=1e-9):
        masses = heights  # counts
    return LabelPrior(tuple(nodes), tuple(masses))


def _clipped(prior: LabelPrior, grid: LabelGrid, below: Any, above: Any, kept: Any) -> GridPrior:
    """Return the grid law of the part inside the bounds, with the rest on the end levels."""
    masses = np.asarray(prior.masses)
    nodes = np.clip(prior.nodes, grid.low, grid.high)
    wide = np.diff(nodes) > 0
    pmf = np.zeros(grid.n_steps + 1)
    spread = np.zeros(grid.n_steps)
    inner = (masses * kept)[wide]
    if inner.sum() > 0:
        edges = np.concatenate([nodes[:-1][wide], nodes[1:][wide][-1:]])
        part = LabelPrior(tuple(edges), tuple(inner)).on_grid(grid)
        pmf = part.pmf * inner.sum()
        spread = part.spread * inner.sum()
    pmf[0] += float(np.dot(masses, below))
    pmf[-1] += float(np.dot(masses, above))
    return GridPrior(pmf, spread)


@dataclass(frozen=True)
class Fidelity:
    r"""How well a randomised label stands for the label, under a prior; all in closed form.

    With ``M(y) = E[out | y]`` and ``V(y) = Var(out | y)``, rounding to the grid included:

    .. math:: E(out - y)^2 = E(M - y)^2 + E V

    A learner that averages over ``m`` labels keeps the bias and divides the noise: ``E(M - y)**2 + E V / m``.
    After the best affine map ``a + b out`` this is ``Var y - Cov(M, y)**2 / (Var M + E V / m)``.

    That is so if features determine the label. If they explain a share r of its variance, the learner meets r of the
    part L = Cov(M, y)**2 / Var y of ``Var M`` that is linear in y, and of the rest about c = r**3 (features blur what
    is curved more than what is straight; under normal laws a cubic keeps r**3); what it does not meet is noise to it.
    Then the best slope is

    .. math:: b = \frac{r\, Cov(M, y)}{L (r-c)(1 - 1/m) + Var(M) (c + (1-c)/m) + E V / m}

    and the mechanism for which this is best is the one that is best for r = 1 and :func:`designed_for` labels.
    """

    mean_out: float
    mean_label: float
    var_mean: float
    var_label: float
    cov: float
    noise: float

    @property
    def squared_error(self) -> float:
        """Return ``E(out - y)**2``."""
        return self.learning_error(1.0)

    def learning_error(self, averaging: float) -> float:
        """Return ``E(M - y)**2 + E V / averaging``."""
        bias = self.mean_out - self.mean_label
        return bias**2 + self.var_mean - 2 * self.cov + self.var_label + self.noise / averaging

    def calibrated_error(self, averaging: float) -> float:
        """Return the same after the best affine map."""
        scale = self.var_mean + self.noise / averaging
        return self.var_label - (self.cov**2 / scale if scale > 0 else 0.0)

    def calibration(self, averaging: float = math.inf, explained: float = 1.0) -> tuple[float, float]:
        """Return the best affine map ``(a, b)``; with infinite averaging it undoes the shrinkage wholly."""
        r = explained
        c = explained**3
        linear = self.cov**2 / self.var_label if self.var_label > 0 else 0.0
        scale = linear * (r - c) * (1 - 1 / averaging)
        scale += self.var_mean * (c + (1 - c) / averaging) + self.noise / averaging
        slope = r * self.cov / scale if scale > 0 and self.cov > 0 else 0.0
        return self.mean_label - slope * self.mean_out, slope


def designed_for(averaging: float, explained: float) -> float:
    """Return how many labels to design for if features explain only a share of the labels' variance.

    Noise then counts for more against what is curved (see :class:`Fidelity`): ``1 + r**3 (m - 1)``.

    >>> designed_for(101.0, 1.0), designed_for(101.0, 0.5)
    (101.0, 13.5)
    """
    return 1 + explained**3 * (averaging - 1)


def fidelity(mechanism: LevelMechanism, grid: LabelGrid, prior: LabelPrior | GridPrior) -> Fidelity:
    """Return the moments of label and output under a prior, from the mechanism's closed-form moments."""
    known = prior.on_grid(grid) if isinstance(prior, LabelPrior) else prior
    pmf, spread = known
    mean, variance = mechanism.moments()
    level = np.arange(mean.size, dtype=np.float64)
    rise = np.diff(mean)
    # Given y between k and k+1 the level is k+1 with probability f: E[g_L | y] is linear in f, and products of
    # two such means lose f (1-f) times both rises, which is what 'spread' integrates.
    mean_out = float(pmf @ mean)
    mean_label = float(pmf @ level)
    out = mean - mean_out
    lab = level - mean_label
    loss = float(spread @ rise**2)
    var_mean = float(pmf @ out**2) - loss
    cov = float(pmf @ (out * lab)) - float(spread @ rise)
    var_label = float(pmf @ lab**2) - float(spread.sum())
    noise = float(pmf @ variance) + loss
    s = grid.step
    return Fidelity(
        grid.low + s * mean_out, grid.low + s * mean_label, s * s * max(var_mean, 0.0), s * s * max(var_label, 0.0),
        s * s * cov, s * s * noise,
    )  # fmt: skip


def simplex(masses: npt.ArrayLike) -> FloatArray:
    """Return the nearest point (least squares) with no negative mass and sum 1.

    >>> simplex([0.6, 0.6, -0.2]).tolist()
    [0.5, 0.5, 0.0]
    """
    v = np.asarray(masses, dtype=np.float64)
    falling = np.sort(v)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, v.size + 1)
    return cast("FloatArray", np.maximum(v - excess[np.flatnonzero(falling > excess)[-1]], 0.0))


def smooth(masses: Sequence[float] | FloatArray) -> FloatArray:
    """Return masses after one pass of the kernel (1, 2, 1)/4, the ends reflected; the sum stays."""
    v = np.asarray(masses, dtype=np.float64)
    if v.size < 3:
        return v
    wide = np.concatenate([v[:1], v, v[-1:]])
    return wide[:-2] / 4 + wide[1:-1] / 2 + wide[2:] / 4
