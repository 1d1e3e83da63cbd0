"""Intervals of models with one mean a leaf: what is seen of every leaf, and what is believed of it. Post-processing.

One name has one meaning in every model and estimator:

``reports_interval``
    What the reports alone say of that quantity: public values and beliefs about how far they hold play no part.
``predict_interval``
    For the quantity that ``predict`` estimates: the model's function at the record, *given its structure* (the mean
    label of the record's leaf, say), not the record's own label. Public records count as far as the reports bear them
    out (:mod:`hedgerow.tasks.drift`). The prediction always lies within.
``predict_label_interval``
    For the label of a new record, where anything is known of how labels spread.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hedgerow.tasks.drift import Believed, believe
from hedgerow.tasks.tree.encoding import Moments
from hedgerow.types import FloatArray

__all__ = ["Ends", "believe_leaves", "cut", "holding", "sights", "widened"]

Ends = tuple[FloatArray, FloatArray]

_SURE2 = 4.0  # a number of holders below two standard deviations cannot be told from none, as in LeafModel.starved


def holding(ends: Ends, point: FloatArray) -> Ends:
    """Return the interval, stretched where it must be to hold the point: one that excludes its own point is no answer.

    >>> low, high = holding((np.array([1.0, 1.0]), np.array([2.0, 2.0])), np.array([1.5, 3.0]))
    >>> low.tolist(), high.tolist()
    ([1.0, 1.0], [2.0, 3.0])
    """
    return np.minimum(ends[0], point), np.maximum(ends[1], point)


def cut(ends: Ends, bounds: tuple[float, float]) -> Ends:
    """Return the interval within bounds."""
    return np.clip(ends[0], *bounds), np.clip(ends[1], *bounds)


def widened(ends: Ends, point: FloatArray, below: FloatArray | float, above: FloatArray | float) -> Ends:
    """Return the interval for a label that strays from the mean by so much: independent errors add up in squares.

    >>> low, high = widened((np.array([-3.0]), np.array([3.0])), np.zeros(1), 4.0, 4.0)
    >>> low.tolist(), high.tolist()
    ([-5.0], [5.0])
    """
    return point - np.hypot(point - ends[0], below), point + np.hypot(ends[1] - point, above)


def sights(moments: Moments) -> tuple[FloatArray, FloatArray]:
    r"""Return what is seen of each leaf mean, and its variance: the middle and half width of Fieller's interval.

    At z = 2 deviations that interval is :math:`(b \pm \sqrt{b^2 - ac})/a` with :math:`a = D^2 - z^2 var_D`,
    :math:`b = ND - z^2 cov`, :math:`c = N^2 - z^2 var_N`. Where a is not positive, the number of holders cannot be told
    from none, and nothing is seen: the variance is infinite.
    """
    N = moments.numerator
    D = moments.denominator
    a = D**2 - _SURE2 * moments.var_d
    b = N * D - _SURE2 * moments.cov
    c = N**2 - _SURE2 * moments.var_n
    seen = (a > 0) & (D > 0)
    safe = np.where(seen, a, 1.0)
    mean = np.where(seen, b / safe, 0.0)
    variance = np.where(seen, np.maximum(b * b - a * c, 0.0) / (_SURE2 * safe**2), np.inf)
    return mean, variance


def believe_leaves(
    moments: Moments, n_reports: int, known: FloatArray, known_var: FloatArray, width: float
) -> Believed:
    """Return what is believed of each leaf mean, in grid steps, from reports and from what was known before them.

    Leaves that are not seen one by one are seen together, as one more value whose own deviation from what was known is
    the sum of theirs: it tells what all leaves share.
    """
    mean, variance = sights(moments)
    hidden = ~np.isfinite(variance)
    together = _together(moments, n_reports, known, hidden)
    if together is not None:
        known = np.append(known, 0.0)
        known_var = np.append(known_var, known_var[hidden].mean())
        mean = np.append(mean, together[0])
        variance = np.append(variance, together[1])
    found = believe(known, known_var, mean, variance, width)
    n = len(hidden)
    return Believed(found.weights, found.mean[:, :n], found.variance[:, :n])


def _together(
    moments: Moments, n_reports: int, known: FloatArray, hidden: npt.NDArray[np.bool_]
) -> tuple[float, float] | None:
    """Return by how much the hidden leaves stray from what was known, together, and its variance; None if unseen."""
    if not hidden.any():
        return None
    stray = float((moments.numerator - known * moments.denominator)[hidden].sum())
    noise = moments.var_n - 2 * known * moments.cov + known**2 * moments.var_d
    number = float(moments.denominator[hidden].sum())
    spread = float(moments.var_d[hidden].sum())
    others = float(moments.var_d[~hidden].sum())
    if others < spread:  # they are all that are not in the other leaves, and that may be known better
        number = n_reports - float(moments.denominator[~hidden].sum())
        spread = others
    if number <= 0 or number**2 <= _SURE2 * spread:
        return None
    return stray / number, max(float(noise[hidden].sum()), 0.0) / (number**2 - spread)
