"""Do private records look like the public ones? Read from the aggregate alone: no privacy is spent."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.tasks.rules import cell_rules
from hedgerow.tasks.tree.encoding import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow.tasks.tree.model import Model

__all__ = ["LeafShift", "ShiftReport", "shift_report"]

_ALARM = 1e-3
_CAUTION = 2.0


@dataclass(frozen=True)
class LeafShift:
    """One leaf: estimated private share and mean beside the public ones, with noise-aware z-scores."""

    leaf: int
    cell: str
    private_share: float
    public_share: float
    share_z: float
    private_mean: float
    public_mean: float
    mean_z: float


@dataclass(frozen=True)
class ShiftReport:
    """Whether private records differ from public ones, in words and by leaf.

    Attributes
    ----------
    leaves : tuple of LeafShift
        One entry a leaf.
    p_share, p_mean : float
        Chance of differences at least as large in the masses (means) of the leaves if nothing differed.
    detectable : float
        Total change of leaf masses (half the sum of absolute differences) that noise alone would look like.
    """

    leaves: tuple[LeafShift, ...]
    p_share: float
    p_mean: float
    detectable: float

    @property
    def shifted(self) -> bool:
        """True if chance can be ruled out."""
        return min(self.p_share, self.p_mean) < _ALARM / 2

    @property
    def verdict(self) -> str:
        """The finding in words."""
        if self.shifted:
            parts = [name for name, p in (("where", self.p_share), ("what", self.p_mean)) if p < _ALARM / 2]
            words = {"where": "where holders fall in the tree", "what": "the labels within its leaves"}
            what = " and ".join(words[p] for p in parts)
            return f"Private and public records differ in {what}: do not rely on public records for this population."
        if self.detectable > 0.5:
            return "The noise is too large to compare private and public records; more reports are needed."
        share = f"{100 * self.detectable:.0f} percent"
        return f"No difference between private and public records was found; one that moves less than {share} may hide."

    def __str__(self) -> str:
        head = f"{'leaf':>4}  {'share':>14}  {'z':>6}  {'mean':>21}  {'z':>6}  cell"
        rows = [
            f"{s.leaf:>4}  {s.private_share:>6.3f} / {s.public_share:<5.3f}  {s.share_z:>6.1f}  "
            f"{s.private_mean:>9.4g} / {s.public_mean:<9.4g}  {s.mean_z:>6.1f}  {s.cell}"
            for s in self.leaves
        ]
        note = f"share: p = {self.p_share:.2g}; mean: p = {self.p_mean:.2g} (private / public in each leaf)"
        return "\n".join([self.verdict, head, *rows, note])

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """Draw the z-scores of all leaves; bars beyond 3 in either direction stand out."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 0.8 + 0.3 * max(len(self.leaves), 4)), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        titles = ("share of holders", "mean label")
        scores = ([s.share_z for s in self.leaves], [s.mean_z for s in self.leaves])
        for ax, title, z in zip(panels, titles, scores, strict=True):
            colours = ["#c0392b" if abs(v) > 3 else "#7f8c8d" for v in z]
            ax.barh(range(len(z)), z, color=colours)
            ax.axvspan(-2, 2, color="#ecf0f1", zorder=0)
            ax.set(title=title, xlabel="z-score: private minus public")
        panels[0].set(ylabel="leaf", yticks=range(len(self.leaves)))
        panels[0].invert_yaxis()
        figure.suptitle(self.verdict, fontsize=9, wrap=True)
        if path is not None:
            figure.savefig(path)
        return figure


def shift_report(model: Model) -> ShiftReport:
    r"""Compare the private masses and means of all leaves with the public ones.

    With ``D`` and ``N`` the noisy count and label sum of a leaf, ``w`` and ``m`` its public share and mean,

    .. math:: z_{share} = \frac{D/n - w}{\sqrt{\mathrm{var}_D/n^2 + w(1-w)/n_{pub}}}, \qquad
              z_{mean} = \frac{N - mD}{\sqrt{V(m) + c\,D^2 \mathrm{var}(m)}}

    The sums of squares are compared with chi-square. A tree is fitted to the labels of its public records, so that
    their leaf means stray too far from the truth; c = 2 allows for that (and for few records in a leaf).
    """
    task, public = model.task, model.task.public
    if public is None:
        raise HedgerowError("this model has no public records to compare with; design the task with X_public.")
    moments, n = model.leaves.moments, max(model.n_reports, 1)
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
        noise + _CAUTION * square * public.mean_variance / grid.step**2
    )
    spread = np.sqrt(np.maximum(moments.var_d, 0.0)) / n + np.sqrt(smooth * (1 - smooth) / size)
    rows = _rows(model, w, z_share, z_mean)
    p_share, p_mean = _tail(z_share, len(count) - 1), _tail(z_mean, len(count))
    return ShiftReport(rows, p_share, p_mean, float(min(1.0, 0.5 * spread.sum())))


def _tail(z: FloatArray, freedom: int) -> float:
    """Return the upper tail of chi-square at the sum of squares."""
    if freedom < 1:
        return 1.0
    from scipy.special import chdtrc

    return float(chdtrc(freedom, float((z * z).sum())))


def _rows(model: Model, w: Any, z_share: Any, z_mean: Any) -> tuple[LeafShift, ...]:
    public = model.task.public
    assert public is not None
    mass, mean = model.leaves.mass, model.leaves.mean
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
