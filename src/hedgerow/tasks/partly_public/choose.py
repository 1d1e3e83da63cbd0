"""Choosing s, p and t from the masks alone: the paper's criterion (15), and what it implies where it is silent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.tasks.partly_public.cells import most_protected
from hedgerow.tasks.partly_public.histogram import MAX_CELLS

__all__ = ["Choice", "choose", "criterion"]


@dataclass(frozen=True)
class Choice:
    """Number of histogram features s, depth p of the tree, bins t, and the criterion's value."""

    n_private: int
    max_depth: int
    n_bins: int
    value: float


def criterion(
    private: npt.NDArray[np.bool_], epsilon: float, s: int, p: float, t: float, *, constant: float = 1.0
) -> float:
    r"""Return the bound on the excess risk that (15) minimises.

    .. math:: \frac{t^{2s}\, 2^{p} \log n}{n \varepsilon^2}\, \delta(p)
              + \frac{c}{d} \Big( s\, t^{-2} + d_T\, 2^{-2p/d_T} + d_0 \Big), \qquad
              \delta(p) = \frac1n \sum_i 2^{\sum_{\ell \in T} W_i^\ell\, p / d_T}

    T are the ``d_T`` columns outside the histogram that at least one holder left public, and ``d_0`` is the number of
    the remaining ones: no tree can cut them. With ``d_0 = 0`` and ``t = 2**(p/(d-s))`` this is (15) itself with
    alpha = 1 and the second term times the constant of appendix C.1; the bracket is the mean squared edge of a cell.
    """
    n, d = private.shape
    chosen = most_protected(private, s)
    outside = np.setdiff1d(np.arange(d), chosen)
    tree = outside[~private[:, outside].all(axis=0)]
    if p > 0 and not tree.size:
        return math.inf
    spread = private[:, tree].sum(axis=1) * (p / max(1, tree.size))
    # In logarithms: 2**(p (d+s)/(d-s)) leaves the floats for s near d.
    log_noise = (
        math.log(math.log(max(n, 3)))
        + 2 * s * math.log(t)
        + p * math.log(2)
        - math.log(n)
        - 2 * math.log(min(epsilon, 1e6))
    )
    log_noise += math.log(float(np.exp2(np.minimum(spread, 1000)).mean()))
    noise = math.exp(min(log_noise, 700.0))
    edges = s * t**-2.0 + (tree.size * 2.0 ** (-2 * p / tree.size) if tree.size else 0.0)
    return float(noise + constant / d * (edges + len(outside) - tree.size))


def choose(
    private: npt.NDArray[np.bool_],
    epsilon: float,
    *,
    n_private: int | str = "auto",
    max_depth: int | str = "auto",
    n_bins: int | str = "auto",
    constant: float = 0.1,
) -> Choice:
    """Return the best values of whatever is ``"auto"``, by search over s = 0 .. d and p = 0 .. log2 n.

    Uses the masks, their number and epsilon: nothing private. Bins follow the depth, ``t = 2**(p/(d-s))``, rounded
    in the end, as in the paper; with nothing for a tree to cut they are searched for.

    Examples
    --------
    >>> W = np.arange(1000)[:, None] < 1000 / np.arange(1, 6) ** 4.0
    >>> choose(W, 4.0)
    Choice(n_private=1, max_depth=3, n_bins=2, value=...)
    """
    for name, given in (("n_private", n_private), ("max_depth", max_depth), ("n_bins", n_bins)):
        if isinstance(given, str) and given != "auto":
            raise HedgerowError(f"The '{name}' parameter must be an int or 'auto'. Got {given!r} instead.")
    n, d = private.shape
    best = Choice(0, 0, 1, math.inf)
    for s in range(d + 1) if isinstance(n_private, str) else [min(int(n_private), d)]:
        n_tree = _n_tree(private, s)
        deepest = 0 if not n_tree else max(1, int(math.log2(max(n, 2))))
        depths = list(range(deepest + 1))
        if not isinstance(max_depth, str):
            depths = [int(max_depth)] if n_tree else [0]
        for p in depths:
            for t in _bins(n_bins, s, p, n_tree):
                whole = max(1, round(t))
                if s * math.log2(whole) + p > math.log2(MAX_CELLS):
                    continue
                value = criterion(private, epsilon, s, p, t, constant=constant)
                if value < best.value * (1 - 1e-12):
                    best = Choice(s, p, whole if s else 1, value)
    if math.isinf(best.value):
        raise HedgerowError("no choice of n_private, n_bins and max_depth keeps the number of cells in bounds.")
    return _with_given(best, max_depth, n_bins)


def _n_tree(private: npt.NDArray[np.bool_], s: int) -> int:
    outside = np.setdiff1d(np.arange(private.shape[1]), most_protected(private, s))
    return int((~private[:, outside].all(axis=0)).sum())


def _bins(n_bins: int | str, s: int, p: int, n_tree: int) -> list[float]:
    if not isinstance(n_bins, str):
        return [float(n_bins)]
    if s == 0:
        return [1.0]
    return [2.0 ** (p / n_tree)] if n_tree else [float(t) for t in range(1, 17)]


def _with_given(best: Choice, max_depth: Any, n_bins: Any) -> Choice:
    depth = best.max_depth if isinstance(max_depth, str) else int(max_depth)
    bins = best.n_bins if isinstance(n_bins, str) else int(n_bins)
    return Choice(best.n_private, depth, bins, best.value)
