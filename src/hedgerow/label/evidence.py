"""How far corrections to a public model are used: as far as reports speak for them, and not so far as to do harm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.label.response import WORTH
from hedgerow.tasks.gate import Estimate, safe_share
from hedgerow.types import FloatArray

__all__ = ["SURE", "TWICE", "Witness", "evidence_factor", "safe_scale", "signal_factor"]

_CAUTION = 1.0
"""``c`` of the factor ``max(0, 1 - c/z**2)``."""
SURE = 2.5758293035489004
"""Standard errors beyond which the normal law has a chance of 0.005: in no more runs is a correction to do harm."""
TWICE = 2.0
"""How many times the variance of a mean of products is that of independent ones, where each fold of reports is
predicted from the others; see :func:`safe_scale`."""


@dataclass(frozen=True, eq=False)
class Witness:
    """Public records by which the bias of noisy errors is seen: what a learner reads of them, and what was untold.

    Attributes
    ----------
    F : array
        What learners read.
    untold : array
        Errors of models that have not seen these records, minus what their noisy errors would be on average.
    """

    F: Any
    untold: FloatArray


def safe_scale(
    noisy: FloatArray, unseen: FloatArray, square: float, untold: npt.ArrayLike = (), moved: npt.ArrayLike = ()
) -> float:
    r"""Return by what a correction f is multiplied so that it helps, and hardly ever does harm.

    The mean squared error falls by ``2 s A - s**2 B`` with the factor s, ``A = E[error f]`` and ``B = E[f**2]``. Noisy
    errors of records that f was not fitted to estimate A without bias but for the clip, and what the clip hides is seen
    in public records:

    .. math:: \hat A = \mathrm{mean}(noisy\, f) + \mathrm{mean}_{public}(untold\, f)

    with the variance of both. The best s is A/B, and at most 1; and s is no larger than
    :func:`~hedgerow.tasks.gate.safe_share` allows for so uncertain a product. This is post-processing of reports.

    Products are not independent. Where noise rules, corrections are weighted sums of the other folds' reports,
    ``f_i = sum_j w_ij e_j`` with ``w_ij = w_ji``: records that are alike tell each other the same. So
    ``sum_i e_i f_i`` has every pair of reports twice, and the variance ``4 v**2 sum_{i<j} w_ij**2``, which is twice
    that of independent products, ``v**2 sum_ij w_ij**2``. (Errors of the estimate were 1.40 deviations of independent
    products in 34 runs on ABA, RED and CON at epsilon 0.5 and 1; a test has them for means of groups.)

    Parameters
    ----------
    noisy, unseen : array
        Noisy errors, and corrections of the same records by learners that have not seen them.
    square : float
        The public model's mean squared error.
    untold, moved : array
        Of public records, if there are any: see :class:`Witness`, and their corrections.

    Examples
    --------
    >>> f = np.tile([1.0, -1.0], 200)
    >>> safe_scale(f + 0.1, f, 1.0), safe_scale(0.5 * f, f, 1.0)
    (1.0, 0.5)
    >>> noise = np.tile([9.0, 9.0, -9.0, -9.0], 100)
    >>> round(safe_scale(0.5 * f + noise, f, 1.0), 3), round(safe_scale(noise, f, 1.0), 3)
    (0.002, 0.0)
    """
    B = float(np.mean(unseen**2))
    if B == 0:
        return 0.0
    products = noisy * unseen
    A = float(products.mean())
    variance = TWICE * float(products.var()) / len(products)
    if np.size(untold):
        hidden = np.asarray(untold) * np.asarray(moved)
        A += float(hidden.mean())
        variance += float(hidden.var()) / len(hidden)
    best = min(1.0, max(0.0, A / B))
    return min(best, safe_share(Estimate(B, A, variance**0.5), square))


def evidence_factor(gain: FloatArray, caution: float = _CAUTION) -> float:
    r"""Return how much of a correction to apply, from what it gains on each record it was not fitted to.

    .. math:: \max(0, 1 - c / z^2), \qquad z = \sqrt{n}\, \mathrm{mean}(gain) / \mathrm{std}(gain)

    the positive-part factor of James and Stein: 0 unless the gain is more than sqrt(c) standard errors, and near 1 for
    a clear one. c = 1 was chosen together with :func:`signal_factor`; with ``c = SURE**2`` noise alone passes in 0.5 %
    of runs.

    Examples
    --------
    >>> evidence_factor(np.array([-1.0, 1.2, -1.1, 1.0]))
    0.0
    >>> round(evidence_factor(np.tile([0.5, 1.5], 50)), 4)
    0.9975
    """
    error = float(gain.std() / np.sqrt(len(gain)))
    z = float(gain.mean()) / error if error > 0 else 0.0
    return max(0.0, 1.0 - caution / z**2) if z > 0 else 0.0


def signal_factor(noisy: FloatArray, residuals: npt.ArrayLike) -> float:
    r"""Return how much of a correction to apply for the number of reports, whatever they say.

    .. math:: \max\Bigl(0, 1 - \frac{4 v}{n\, S^2/4}\Bigr), \qquad v = \mathrm{mean}(noisy^2), \quad
        S^2 = \mathrm{mean}(residual^2)

    Evidence is itself a draw: with few reports the corrections that pass are mostly those that noise has made large. A
    correction whose mean square seems to be ``q v/n`` has a true one of ``lambda v/n``, with q around lambda and of a
    variance near ``4 lambda``. An exponential prior for lambda, of the mean that makes the correction worth a quarter
    of the public model's squared error, lowers the posterior mean by variance over prior mean: by this factor. Nothing
    is corrected with fewer than ``16 v/S^2`` reports: about 350 at epsilon 0.5, 30 at epsilon 2.

    Chosen on ABA, AIR, CON, RED and twelve generated sets with 200 to 400 holders (64 runs at epsilon 0.5, 32 each at 1
    and 2). Mean error over the public model's at these, and the worst run: 1.000/.984/.938 and 1.117/1.042/1.000 by
    evidence alone with c = 2, as it was before; 1.000/.976/.928 and 1.003/1.000/1.000 with this factor and c = 1.

    Examples
    --------
    >>> residuals = np.array([-1.0, 1.0])
    >>> [signal_factor(np.full(n, 5.0), residuals) for n in (300, 1000, 40_000)]
    [0.0, 0.6, 0.99]
    """
    square = float(np.mean(np.square(residuals)))
    return max(0.0, 1.0 - 4 * float(np.mean(noisy**2)) / (len(noisy) * WORTH * square)) if square > 0 else 0.0
