"""The assisted model: the public model, corrected as far as the reports carry evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError
from hedgerow.tasks.assisted.intervals import CorrectionLaw, correction_ends, overlap_doubt
from hedgerow.tasks.assisted.mismatch import (
    decoding_bias,
    largest_square,
    leaves_scale,
    level_scale,
    size_variance,
    with_share_errors,
)
from hedgerow.tasks.assisted.pool import Pooled, overlaps, places, pool, rake, smoothed
from hedgerow.tasks.assisted.shrink import Corrections, estimate, posterior
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.intervals import Ends, cut, holding, widened
from hedgerow.tasks.models import About, Model, Node, check_level
from hedgerow.tasks.rules import reports, tree_nodes
from hedgerow.tasks.shift import ShiftReport
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow.formula import Formula, Term
    from hedgerow.formula.anatomy import Anatomy

__all__ = ["AssistedModel"]

GATE = 0.9  # posterior chance of "nothing to correct" from which nothing is; by hand, at odds of 9 to 1


@dataclass(frozen=True)
class AssistedModel(Model, what="assisted model", format="hedgerow/assisted-model", version=1):
    r"""Public model plus corrections as far as they are believed: ``clip(g(x) + s0 d0 + sum_t u_t,leaf(x))``.

    ``d0`` is the correction over all records, known far better than those of leaves; ``u`` pools the differences from
    it over all trees (:func:`~hedgerow.tasks.assisted.pool.pool`). Both are posterior means under priors that put
    weight on "nothing to correct"; where that has at least 90 % of the posterior, nothing is added, and if it has for
    both the model is the public model itself (:attr:`gate` is then closed). Of what is left so much is added that,
    whatever the truth, the squared error is above the public one by more than 1 % in about .5 % of runs or fewer, and
    by more than 5 % in about one of 50,000 or fewer, see :mod:`hedgerow.tasks.gate`.

    Attributes
    ----------
    task : AssistedTask
        The published task.
    n_reports : int
        Number of reports.
    sums : tuple of int
        The totals.
    """

    task: AssistedTask
    n_reports: int
    sums: tuple[int, ...]
    simulation: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        most = self.n_reports * self.task.encoding.largest
        counted = sum(n for n, _, _ in self.task.encoding.split(np.array(self.sums))) if len(self.sums) else -1
        if (
            len(self.sums) != self.task.encoding.n_sums
            or any(abs(s) > most for s in self.sums)
            or counted != self.n_reports
        ):
            raise FormatError(f"the model's totals do not fit its task and {self.n_reports} reports.")

    @cached_property
    def corrections(self) -> Corrections:
        """Unbiased corrections by leaf, before any is believed."""
        return estimate(self.task, np.array(self.sums, dtype=np.int64))

    @cached_property
    def overall(self) -> tuple[float, float]:
        """The correction over all records, and its variance: of the reports, and of public means that it stands on."""
        c = self.corrections
        T = len(self.corrections.d)
        res = self.task.residuals
        mean = sum(float(p @ d) for p, d in zip(c.p, c.d, strict=True)) / T
        noise = sum(float(p**2 @ V) for p, V in zip(c.p, c.V, strict=True)) / T**2
        return mean, noise + res.excess(self.task.radius) / max(res.n_public, 1)

    @property
    def mean_square(self) -> float:
        """The public model's squared error among holders: as designed for, or less where reports tell smaller errors.

        Errors that are a share c as large round to another level than 0 about c times as often.
        """
        return self.task.residuals.mean_square * min(1.0, self.corrections.busyness) ** 2

    @cached_property
    def level(self) -> float:
        """What is added for all records alike, as far as it is believed and safe."""
        d0, V0 = self.overall
        whole = posterior(np.array([d0]), np.array([V0]), self.mean_square)
        if whole.nothing >= GATE:
            return 0.0
        kept = d0 * float(whole.factor(V0)[0])
        return kept * level_scale(self.mean_square, kept, d0, V0)

    @cached_property
    def bias(self) -> float:
        """Variance between leaves of what decoding is wrong by, see :mod:`~hedgerow.tasks.assisted.mismatch`."""
        return decoding_bias(self.task)

    @cached_property
    def _told(self) -> tuple[FloatArray, FloatArray]:
        """Differences of leaves from the overall correction, tree by tree, and their variances."""
        level = self.overall[0]
        return np.concatenate(self.corrections.d) - level, with_share_errors(self.task, self.corrections, level)

    @cached_property
    def pooled(self) -> Pooled:
        """What leaves add to the overall correction, before the gate."""
        z, V = self._told
        n_trees = len(self.task.shares)
        return pool(z, V, self._overlaps[0], self.mean_square, n_trees, self.bias)

    @cached_property
    def _weights(self) -> FloatArray:
        """Weights of reference records by which they have the leaf shares of the holders."""
        return rake(self.task.reference, self.task.trees.n_leaves, np.concatenate(self.corrections.p))

    @cached_property
    def _overlaps(self) -> tuple[FloatArray, FloatArray]:
        """How leaves overlap among the holders, see :func:`~hedgerow.tasks.assisted.pool.overlaps`."""
        leaves = self.task.trees.n_leaves
        p = np.concatenate(self.corrections.p)
        M, G = overlaps(self.task.reference, leaves, self._weights)
        return smoothed(M, leaves, p, self.task.residuals.n_public * self.task.trees.value), G

    @cached_property
    def safe(self) -> float:
        """The share of what leaves add that is applied: 0 without evidence, else as much as seldom harms.

        Where holders are clearly elsewhere than public records, these do not tell how large corrections are that leaves
        of many trees add up to: they are taken to be as large as they can be.
        """
        answered = all(n > 0 for n, _, _ in self.task.encoding.split(np.array(self.sums)))
        if max(self.task.trees.n_leaves) == 1 or not answered or self.pooled.nothing >= GATE:
            return 0.0
        z, V = self._told
        M, G = self._overlaps
        covariance = np.diag(V) + self.bias / len(self.task.shares) * M @ M.T
        p = np.concatenate(self.corrections.p)
        largest = largest_square(self.pooled.u, p, len(self.task.shares)) if self.corrections.shift > 0 else 0.0
        return leaves_scale(self.mean_square, self.pooled, z, covariance, p, G, self._size_sd, largest)

    @property
    def _size_sd(self) -> float:
        """Standard deviation of the size of what leaves add."""
        at = places(self.task.reference, self.task.trees.n_leaves)
        f = self.pooled.u[at].sum(axis=1)
        return math.sqrt(size_variance(f, at, self._weights, np.concatenate(self.corrections.share_variance)))

    @cached_property
    def factors(self) -> tuple[float, float]:
        """Share of the overall correction, and of the degrees of freedom of leaves, that is kept."""
        d0 = self.overall[0]
        return self.level / d0 if d0 != 0 else 0.0, self.pooled.kept * self.safe

    @property
    def gate(self) -> bool:
        """Whether the reports carry evidence against the public model; if not, it predicts alone."""
        return any(f > 0 for f in self.factors)

    @cached_property
    def leaf_values(self) -> tuple[FloatArray, ...]:
        """The correction that each leaf of each tree contributes to the mean over trees.

        Differences from the overall correction are cut to what a mean of clipped residuals can attain: leaves that are
        far more common among holders than among public records would be corrected many times over.
        """
        low, high = self._attainable
        u = self.safe * self.pooled.u * len(self.corrections.d)
        values = self.level + np.clip(u, low, high)
        return tuple(np.split(values, np.cumsum(self.task.trees.n_leaves)[:-1]))

    @property
    def _attainable(self) -> tuple[float, float]:
        """The corrections of leaves where every residual is beyond the radius, below or above (0 is always between)."""
        res = self.task.residuals
        low, high = ((v - res.clipped_mean) * self.task.radius / res.inside + res.mean for v in (-1.0, 1.0))
        return min(low, 0.0), max(high, 0.0)

    def predict(self, X: object) -> FloatArray:
        """Predict labels."""
        return self._predict(self.task.space.encode(X))[0]

    def predict_public(self, X: object) -> FloatArray:
        """Predict with the public model alone."""
        return self.task.place(self.task.space.encode(X))[0]

    def _predict(self, Z: Any) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int64]]:
        """Return predictions, those of the public model, and the leaf of each record in each tree."""
        g, leaf = self.task.place(Z)
        delta = np.mean([values[leaf[:, t]] for t, values in enumerate(self.leaf_values)], axis=0)
        return np.clip(g + delta, *self.task.label_bounds), g, leaf

    def formula(self) -> Formula:
        """Return the public model, and the trees with what their leaves add to it."""
        from hedgerow.formula.formula import Formula
        from hedgerow.formula.terms import records

        return Formula.of(self.space, self.term(records()), self.guarantee, task=self.task.id)

    def term(self, rows: Term) -> Term:
        """Return the prediction for encoded records, as a term."""
        from hedgerow.formula.portable import design_term, portable_term, within
        from hedgerow.formula.terms import join
        from hedgerow.formula.trees import leaf_sum

        design = design_term(self.task.public_model, rows)
        g = within(portable_term(self.task.public_model, design), self.task.label_bounds)
        shares = [values / len(self.leaf_values) for values in self.leaf_values]
        added = leaf_sum(join(design, g), self.task.trees, shares)
        return (g + added).clip(*self.task.label_bounds)

    def anatomy(self, level: float = 0.9) -> Anatomy:
        """Return the public model and what reports add to it, see :mod:`hedgerow.tasks.assisted.anatomy`."""
        from hedgerow.tasks.assisted.anatomy import assisted_anatomy

        return assisted_anatomy(self, check_level(level))

    @cached_property
    def correction_law(self) -> CorrectionLaw:
        """What is known of corrections, for intervals."""
        return self.doubted_law(0.0)

    def doubted_law(self, spread: float) -> CorrectionLaw:
        """Return the same, where corrections of this variance meet overlaps that reference records tell roughly."""
        c = self.corrections
        low, high = self.task.label_bounds
        M = self._overlaps[0]
        doubt = overlap_doubt(self.task.reference, self.task.trees.n_leaves, M)
        V = np.concatenate(c.V) + spread * doubt
        return CorrectionLaw.of(np.concatenate(c.d), V, M, len(c.d), high - low)

    def predict_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the public model with its best correction by the trees, at each record.

        That is its prediction plus the sum of one value a leaf that is nearest to its error among all holders, see
        :mod:`hedgerow.tasks.assisted.intervals`. The interval holds the prediction and is cut to the label bounds.
        """
        return self._interval(X, check_level(level))

    def reports_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the same, without any belief that the public model is nearly right."""
        return self._interval(X, check_level(level), alone=True)

    def _interval(self, X: object, level: float, *, alone: bool = False) -> Ends:
        f, g, leaf = self._predict(self.task.space.encode(X))
        low, high = correction_ends(self, leaf, level, alone=alone)
        ends = cut((g + low, g + high), self.task.label_bounds)
        return ends if alone else holding(ends, f)

    def predict_label_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the *label* of each record.

        Quantiles of public out-of-fold residuals, widened by :meth:`predict_interval`, and cut to the label bounds.
        Where a pilot contradicted the public residuals, they are as the pilot found them; without a pilot a shift in
        the spread of labels is not seen.
        """
        ends = self.predict_interval(X, level)
        return cut(widened(ends, self.predict(X), *self.task.residuals.spread(level)), self.task.label_bounds)

    def about(self) -> About:
        """Return what was made, in short."""
        whole, leaves = self.factors
        kept = f"kept {whole:.0%} of the overall correction and {leaves:.0%} of those by leaf"
        nothing = "the reports carry no evidence against the public model: it predicts alone"
        facts = {"kept_overall": whole, "kept_by_leaf": leaves}
        return About(reports(self.n_reports), facts, (kept if self.gate else nothing,))

    @property
    def value_name(self) -> str:
        """What a leaf adds to the public model after shrinkage; a prediction adds the mean over trees."""
        return "kept"

    def value_words(self, level: float = 0.9) -> str:
        """Return what a leaf adds."""
        return f"added to the public model, with the {level:.0%} interval of its mean error there"

    @property
    def value_bounds(self) -> tuple[float, float]:
        """Corrections that a mean of clipped errors can attain, and the overall one."""
        low, high = self._attainable
        return low - self.task.radius, high + self.task.radius

    def table(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return one row a leaf of each tree, see :func:`hedgerow.tasks.assisted.explain.assisted_table`."""
        from hedgerow.tasks.assisted.explain import assisted_table

        return assisted_table(self, check_level(level))

    def trees(self) -> tuple[Node, ...]:
        """Return all trees; they share the rows of :meth:`table`."""
        return tree_nodes(self.task.trees, self.task.public_model, self.task.space)

    def shift(self) -> ShiftReport | None:
        """Compare where holders fall with public shares; see :func:`hedgerow.tasks.assisted.shift.assisted_shift`."""
        from hedgerow.tasks.assisted.shift import assisted_shift

        return assisted_shift(self)

    def _title(self) -> str:
        trees = f"{reports(self.n_reports)} about {len(self.task.shares)} trees"
        return f"A public model for {self.task.target!r}, corrected by {trees}."

    def _words(self, rows: list[dict[str, Any]], level: float) -> list[str]:
        from hedgerow.tasks.assisted.explain import assisted_words

        return assisted_words(self, rows)

    def _facts(self) -> dict[str, Any]:
        from hedgerow.tasks.assisted.explain import assisted_facts

        return assisted_facts(self)

    def _draw(self, rows: list[dict[str, Any]], level: float) -> Figure:
        from hedgerow.tasks.assisted.explain import draw_assisted

        return draw_assisted(self, rows)

    def __repr__(self) -> str:
        s0, s = self.factors
        return f"AssistedModel({self.n_reports} reports; keeps {s0:.0%} overall, {s:.0%} by leaf; {self.guarantee})"
