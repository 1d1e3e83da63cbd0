"""Do private records look like the public ones? Read from the totals alone: no privacy is spent."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from os import PathLike
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

from hedgerow.digits import plain

__all__ = ["LeafShift", "ShiftReport", "chi_square_tail"]

_STANDS_OUT = 3  # standard deviations: 1 leaf in 370 by chance
_ALARM = 1e-3  # chance of a false alarm, shared between where holders fall and what their labels are
_LEVEL = 0.9  # of the intervals that public means are looked for in: that of the examples of predict_interval
_EXCLUDED = NormalDist().inv_cdf((1 + _LEVEL) / 2)


@dataclass(frozen=True)
class LeafShift:
    """One leaf: estimated private share and mean beside the public ones, with noise-aware z-scores.

    Means are None where the reports do not tell labels, but how wrong a public model is.
    """

    leaf: int
    cell: str
    private_share: float
    public_share: float
    share_z: float
    private_mean: float | None = None
    public_mean: float | None = None
    mean_z: float | None = None


@dataclass(frozen=True)
class ShiftReport:
    """Whether private records differ from public ones, in words and by leaf.

    Attributes
    ----------
    leaves : tuple of LeafShift
        One entry a leaf.
    p_share, p_mean : float
        Chance of differences at least as large in the masses (means) of the leaves if nothing differed; 1 for means
        that are not compared.
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

    @property
    def compares_means(self) -> bool:
        """Whether labels are compared too, not only where holders fall."""
        return any(leaf.mean_z is not None for leaf in self.leaves)

    @property
    def disagreeing(self) -> tuple[int, int, float]:
        """Number of leaves whose reports exclude the public mean at 90 %, of how many, and how many chance would give.

        Both have errors, and the scores allow for both.
        """
        scores = [leaf.mean_z for leaf in self.leaves if leaf.mean_z is not None]
        return sum(abs(z) > _EXCLUDED for z in scores), len(scores), (1 - _LEVEL) * len(scores)

    @property
    def disagreement(self) -> tuple[str, ...]:
        """That in words, a sign of shift; nothing where means are not compared."""
        k, m, expected = self.disagreeing
        if m == 0:
            return ()
        leaves = "leaf disagrees" if m == 1 else "leaves disagree"
        return (f"{k} of {m} {leaves} with the public mean at {_LEVEL:.0%} where {expected:.1f} were expected.",)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready content."""
        found = {"verdict": self.verdict, "shifted": self.shifted, "p_share": self.p_share, "p_mean": self.p_mean}
        found |= dict(zip(("n_disagree", "n_compared", "n_expected"), self.disagreeing, strict=True))
        return {**found, "leaves": [asdict(leaf) for leaf in self.leaves]}

    def __str__(self) -> str:
        if not self.compares_means:
            head = f"{'leaf':>4}  {'share':>14}  {'z':>6}  cell"
            note = f"share: p = {self.p_share:.2g} (private / public in each leaf)"
            return "\n".join([self.verdict, head, *(f"{_share(s)}  {s.cell}" for s in self.leaves), note])
        head = f"{'leaf':>4}  {'share':>14}  {'z':>6}  {'mean':>21}  {'z':>6}  cell"
        rows = [f"{_share(s)}  {_means(s)}  {s.mean_z:>6.1f}  {s.cell}" for s in self.leaves]
        note = f"share: p = {self.p_share:.2g}; mean: p = {self.p_mean:.2g} (private / public in each leaf)"
        return "\n".join([self.verdict, *self.disagreement, head, *rows, note])

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """Draw the z-scores of all leaves; bars beyond 3 in either direction stand out."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 0.8 + 0.3 * max(len(self.leaves), 4)), layout="constrained")
        scores = {"share of holders": [s.share_z for s in self.leaves]}
        if self.compares_means:
            scores["mean label"] = [s.mean_z or 0.0 for s in self.leaves]
        panels = figure.subplots(1, len(scores), sharey=True, squeeze=False)[0]
        for ax, (title, z) in zip(panels, scores.items(), strict=True):
            colours = ["#c0392b" if abs(v) > _STANDS_OUT else "#7f8c8d" for v in z]
            ax.barh(range(len(z)), z, color=colours)
            ax.axvspan(-2, 2, color="#ecf0f1", zorder=0)
            ax.set(title=title, xlabel="z-score: private minus public")
        panels[0].set(ylabel="leaf", yticks=range(len(self.leaves)))
        panels[0].invert_yaxis()
        figure.suptitle(self.verdict, fontsize=9, wrap=True)
        if path is not None:
            figure.savefig(path)
        return figure


def _means(s: LeafShift) -> str:
    if s.private_mean is None or s.public_mean is None:
        return f"{'-':>9} / {'-':<9}"
    return f"{plain(s.private_mean):>9} / {plain(s.public_mean):<9}"


def _share(leaf: LeafShift) -> str:
    return f"{leaf.leaf:>4}  {leaf.private_share:>6.3f} / {leaf.public_share:<5.3f}  {leaf.share_z:>6.1f}"


def chi_square_tail(total: float, mean: float, variance: float) -> float:
    """Return the chance that a multiple of chi-square with this mean and variance is at least ``total``.

    >>> round(chi_square_tail(3.841, 1.0, 2.0), 3)
    0.05
    """
    if mean <= 0:
        return 1.0
    from scipy.special import chdtrc

    return float(chdtrc(2 * mean**2 / variance, 2 * total * mean / variance))
