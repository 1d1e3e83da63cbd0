"""Private and public records of a tree task, compared leaf by leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.tasks.rules import cell_rules
from hedgerow.tasks.shift import LeafShift, ShiftReport, chi_square_tail
from hedgerow.tasks.tree.public import CAUTION

if TYPE_CHECKING:
    from hedgerow.tasks.tree.model import TreeModel

__all__ = ["shift_report"]


def shift_report(model: TreeModel) -> ShiftReport | None:
    r"""Compare the private masses and means of all leaves with the public ones.

    With ``D`` and ``N`` the noisy count and label sum of a leaf, ``w`` and ``m`` its public share and mean,

    .. math:: z_{share} = \frac{D/n - w}{\sqrt{\mathrm{var}_D/n^2 + w(1-w)/n_{pub}}}, \qquad
              z_{mean} = \frac{N - mD}{\sqrt{V(m) + c\,D^2 \mathrm{var}(m)}}

    The sums of squares are compared with chi-square. A tree is fitted to the labels of its public records, so that
    their leaf means stray too far from the truth; c = 2 allows for that (and for few records in a leaf).
    None without public records: there is nothing to compare with.
    """
    task = model.task
    public = model.task.public
    if public is None:
        return None
    moments = model.leaves.moments
    n = max(model.n_reports, 1)
    count = np.array(public.count, dtype=float)
    size = max(count.sum(), 1.0)
    w = count / size
    smooth = (count + 0.5) / (size + 0.5 * len(count))
    # With few (or forged) reports the estimated variance may fall below what sampling alone gives, even below 0.
    var_d = np.maximum(moments.var_d, n * smooth * (1 - smooth))
    z_share = (moments.denominator / n - w) / np.sqrt(var_d / n**2 + smooth * (1 - smooth) / size)
    grid = task.grid
    m = (np.array(public.mean) - grid.low) / grid.step
    square = np.maximum(moments.denominator**2 - moments.var_d, 0.0)
    noise = np.maximum(moments.var_n - 2 * m * moments.cov + m * m * moments.var_d, 1e-12)
    z_mean = (moments.numerator - m * moments.denominator) / np.sqrt(
        noise + CAUTION * square * public.mean_variance / grid.step**2
    )
    spread = np.sqrt(np.maximum(moments.var_d, 0.0)) / n + np.sqrt(smooth * (1 - smooth) / size)
    rows = _rows(model, w, z_share, z_mean)
    p_share = _tail(z_share, len(count) - 1)
    p_mean = _tail(z_mean, len(count))
    return ShiftReport(rows, p_share, p_mean, float(min(1.0, 0.5 * spread.sum())))


def _tail(z: Any, freedom: int) -> float:
    return chi_square_tail(float((z * z).sum()), freedom, 2.0 * freedom)


def _rows(model: TreeModel, w: Any, z_share: Any, z_mean: Any) -> tuple[LeafShift, ...]:
    public = model.task.public
    assert public is not None
    mass = model.leaves.mass
    mean = model.leaves.mean
    return tuple(
        LeafShift(
            j,
            rule,
            float(mass[j]),
            float(w[j]),
            float(z_share[j]),
            float(mean[j]),
            float(public.mean[j]),
            float(z_mean[j]),
        )
        for j, rule in enumerate(cell_rules(model.task.partition))
    )
