r"""Which groups of private values are worth telling together with an error, from public facts alone.

Without groups, corrections depend on public features only: what the error owes to private ones is lost, but for what
public ones tell of these. With K groups of private values, told in one symbol with the error, corrections depend on the
group as well, and noise is larger. Both are predicted, and the design of the largest gain is taken:

.. math:: gain = \frac{\tau^2}{\tau + v/m}, \qquad \tau = w S^2\, \frac{1 + \rho}{2}

w is what corrections are expected to be worth of the public squared error :math:`S^2`, v the variance of a noisy error
with the bias that a clip leaves, and m the number of reports that a learner averages over which is fine enough to find
them. :math:`\rho` is the share of errors that public features and the group tell, as far as public records show
(:mod:`hedgerow.semi.errors`). They may show too little: half of what is to be learnt is believed to be of the kind that
public features tell alone, so that groups are told where they are cheap.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.label.prior import designed_for
from hedgerow.label.response import LABELS, WORTH, ResidualResponse
from hedgerow.partition import grow
from hedgerow.partition.tree import Partition
from hedgerow.semi.errors import CrossedErrors
from hedgerow.space import FeatureSpace
from hedgerow.tasks.partly_public.histogram import Cut, product_below
from hedgerow.types import FloatArray

__all__ = ["JointDesign", "choose_joint", "predicted_gain"]

SIZES = (2, 3, 4, 6, 8)
"""Groups along a column; by hand. Every group costs noise, and few hold most of what there is to tell."""
MOST = 8
"""Groups altogether, likewise."""
_FEWEST = 50  # public records, of which halves are learnt from; by hand
_LEVELS = (2, 3, 4, 5, 7, 9)  # of the error, that are tried
_RADII = (0.7, 1.0, 1.4, 2.0, 3.0, 4.0)  # public root mean squares, likewise; 4 is the radius of the plain response
_MARGIN = 1.1  # as much as is gained without groups, and a tenth: less is not worth the symbol; by hand


@dataclass(frozen=True, eq=False)
class JointDesign:
    """Groups of private values, and how the error is rounded.

    Attributes
    ----------
    cells : Partition
        The groups.
    n_levels : int
        Levels of the error, from ``-radius`` to ``radius``.
    gain : float
        What is predicted to be gained, in squared label units.
    """

    cells: Partition
    n_levels: int
    radius: float
    gain: float


def choose_joint(
    model: Any,
    X_public: Any,
    y_public: Any,
    private: Sequence[str],
    *,
    epsilon: float,
    averaging: float,
    plain: ResidualResponse,
) -> JointDesign | None:
    """Return the groups that are worth their noise, or None.

    Parameters
    ----------
    model : PublicModel
        The public model.
    X_public, y_public : table and labels
        Public records.
    private : sequence of str
        Columns that are private for everybody.
    averaging : float
        By how much a fine learner divides noise.
    plain : ResidualResponse
        The response without groups.
    """
    space: FeatureSpace = model.space_
    hidden = space.spread(np.isin(space.inputs, list(private)))
    residuals = np.asarray(model.residuals_, dtype=np.float64)
    square = float(np.mean(residuals**2))
    if math.isinf(epsilon) or not hidden.any() or not square > 0 or len(residuals) < _FEWEST:
        return None
    Z = np.asarray(space.encode(X_public, fill=True), dtype=np.float64)
    errors = CrossedErrors.of(Z, np.asarray(y_public, dtype=np.float64), hidden)
    noise = _plain_noise(plain, residuals, averaging)
    least = _MARGIN * predicted_gain(errors.told(np.zeros(errors.n_given, dtype=np.int64)), square, noise / averaging)
    best = None
    for cells in _candidates(space, Z, np.flatnonzero(hidden)):
        n_levels, radius, noise = _response(residuals, epsilon, cells.n_leaves, averaging)
        gain = predicted_gain(errors.told(cells.apply(errors.given)), square, noise / averaging)
        if gain > least:
            best = JointDesign(cells, n_levels, radius, gain)
            least = gain
    return best


def predicted_gain(rho: float, square: float, noise: float) -> float:
    """Return by how much corrections are expected to lower the squared error.

    >>> predicted_gain(1.0, 4.0, 0.0), predicted_gain(0.0, 4.0, 0.5)
    (1.0, 0.25)
    """
    tau = WORTH * square * (1 + rho) / 2
    return tau**2 / (tau + noise)


def _plain_noise(plain: ResidualResponse, residuals: FloatArray, averaging: float) -> float:
    """Return the variance of a noisy error and its bias^2, for a response without groups."""
    if plain.slope <= 0:
        return math.inf
    places, variances = plain.task.mechanism.moments()
    grid = plain.task.grid
    at = np.linspace(grid.low, grid.high, grid.n_steps + 1)
    means = grid.values(places)
    own = np.interp(residuals, at, variances * grid.step**2 + means**2)  # rounded at random to either level
    noise = float(np.mean(own) - np.interp(residuals, at, means).mean() ** 2) / plain.slope**2
    return noise + _designed(averaging) * float((plain.expected(residuals) - residuals).var())


def _designed(averaging: float) -> float:
    """Return for how many labels bias counts, as for the plain response."""
    return max(LABELS, designed_for(averaging, WORTH))


def _response(residuals: FloatArray, epsilon: float, k: int, averaging: float) -> tuple[int, float, float]:
    """Return levels and radius of least noise + bias^2 for k groups, and that."""
    spread = float(np.sqrt(np.mean(residuals**2)))
    best = (2, spread, math.inf)
    for n_levels, share in itertools.product(_LEVELS, _RADII):
        radius = share * spread
        noise = _pair_noise(residuals, epsilon, k, n_levels, radius)
        clipped = np.clip(residuals, -radius, radius)
        inside = float(np.mean(np.abs(residuals) < radius))
        bias = float((clipped / max(inside, 1e-9) - residuals).var())
        loss = noise + _designed(averaging) * bias
        if loss < best[2]:
            best = (n_levels, radius, loss)
    return best


def _pair_noise(residuals: FloatArray, epsilon: float, k: int, n_levels: int, radius: float) -> float:
    """Return the mean square of what is read of one report, by k-ary response among groups and levels.

    An own symbol is sent with probability p, each other one with q: an answer of mean square
    ``(p - q) E clip^2 + q k sum(values^2)``, of which the error moves ``(p - q) gamma``.
    """
    symbols = k * n_levels
    q = 1 / (math.exp(min(epsilon, 500.0)) + symbols - 1)
    kappa = 1 - symbols * q
    values = np.linspace(-radius, radius, n_levels)
    step = values[1] - values[0]
    clipped = np.clip(residuals, -radius, radius)
    place = (clipped + radius) / step
    part = place - np.floor(place)
    own = float(np.mean(clipped**2 + part * (1 - part) * step**2))
    inside = float(np.mean(np.abs(residuals) < radius))
    if inside == 0 or kappa <= 0:
        return math.inf
    return (kappa * own + q * k * float((values**2).sum())) / (kappa * inside) ** 2


def _candidates(space: FeatureSpace, Z: FloatArray, columns: Any) -> list[Partition]:
    """Return groups of one private column, and of two together."""
    whole = grow("max_edge", space, None, None, max_depth=0)
    chains = {int(j): [c for k in SIZES if (c := _chain(space, Z[:, j], int(j), k))] for j in columns}
    products: list[tuple[list[Cut], ...]] = [(chain,) for found in chains.values() for chain in found]
    for one, two in itertools.combinations(chains, 2):
        products += [pair for pair in itertools.product(chains[one], chains[two]) if _size(pair) <= MOST]
    made = {cells: None for chosen in products if (cells := product_below(whole, list(chosen))).n_leaves > 1}
    return list(made)


def _size(chains: Sequence[Sequence[Cut]]) -> int:
    return math.prod(len(chain) + 1 for chain in chains)


def _chain(space: FeatureSpace, values: FloatArray, j: int, k: int) -> list[Cut]:
    """Return the cuts of a column into k groups that hold about as many public records each."""
    if space.is_categorical[j]:
        n = int(space.n_categories[j])
        held = np.cumsum(np.bincount(values.astype(np.int64), minlength=n)) / len(values)
        edges = sorted({int(np.searchsorted(held, b / k)) + 1 for b in range(1, k)} - {n})
        return [(j, 0.0, tuple(code < edge for code in range(n))) for edge in edges]
    cuts = np.unique(np.quantile(values, np.arange(1, k) / k, method="higher"))
    low = float(space.low[j])
    high = float(space.high[j])
    return [(j, float(cut), None) for cut in cuts if low < cut <= high and cut > values.min()]
